"""Chen et al. (`chen`): the ten architectures of Table I, the networks of Tables VI to IX, and their recipes.

Every builder takes `channels` and `size` of the images, 1 and 28 for digits and clothes, 3 and 32 for
CIFAR-10. Of the authors' networks only MobileNetV1 is published (with the journal version). Its stem, a 3x3
convolution of stride 2 without a pool, is the stem here of every architecture that was drawn for images of
224 pixels; behind the stem widths and depths are the standard ones, and nothing is left out. torchvision's
definitions serve where it has them. Parameter counts, for 1000 classes and 3 channels with the standard stem,
and here for 10 classes and 1 channel:

    DenseNet (121)      7,978,856     6,955,274        InceptionV2        11,188,224    10,171,402
    MobileNetV1         4,231,976     3,216,650        AlexNet            61,100,840    57,022,154
    MobileNetV2         3,504,872     2,236,106        SqueezeNet (1.0)    1,248,424       727,306
    ResNet50           25,557,032    23,519,690        LeNet-5                 -           61,706
    ResNet101          44,549,160    42,511,818        InceptionV1         6,624,904     5,601,322
"""
import dataclasses

import torch
from torch import nn

from report.registry import architecture
from shared.training.recipe import Recipe

# The authors' published script: Adam at 1e-3 on batches of 50, mean cross-entropy, no augmentation, at most
# 100,000 steps (80,000 of adversarial training) on 55,000 images. The length follows from the accuracy.
NATURAL = Recipe(epochs=16, batch=50, rate=1e-3, weight_decay=0.0, bf16=True, optimiser="adam",
                 schedule="constant")
LENGTHS = (1, 2, 4, 8, 16, 32)      # epochs after which a network is looked at
# Without normalisation the first two stay at chance at that rate. A CPU computes the depthwise convolutions
# of the others half as fast in bfloat16 as in float32.
OWN = {"chen-alexnet": {"rate": 3e-4}, "chen-squeezenet": {"rate": 3e-4},
       "chen-mobilenetv1": {"bf16": False}, "chen-mobilenetv2": {"bf16": False}}
SMOKE = dataclasses.replace(NATURAL, epochs=2, images=600, batch=20)


# ---- ten architectures -----------------------------------------------------------------------------------
def _standard(name, **options):
    """torchvision's network of that name for ten classes."""
    from torchvision import models  # here: it takes seconds to import

    return getattr(models, name)(num_classes=10, **options)


def _stem(channels, width):
    """The stem of the published MobileNetV1, before a batch normalisation: 3x3, stride 2."""
    return nn.Conv2d(channels, width, 3, stride=2, padding=1, bias=False)


@architecture("chen-densenet")
def densenet(channels=1, size=28):
    """DenseNet-121 behind the stem; 6,955,274 parameters for one channel."""
    net = _standard("densenet121")
    net.features.conv0, net.features.pool0 = _stem(channels, 64), nn.Identity()
    return net


@architecture("chen-mobilenetv1")
def mobilenetv1(channels=1, size=28):
    """MobileNetV1 as published by the authors: 13 depthwise-separable blocks; 3,216,650 parameters.

    Its weights start from a normal distribution of deviation 0.01 cut at two deviations. Running averages of
    batch normalisation were never used there, so that their decay says nothing: it is torch's here.
    """
    strides = {128: 2, 256: 2, 512: 2, 1024: 2}     # the first block of each of these widths
    layers, last = [_stem(channels, 32), nn.BatchNorm2d(32), nn.ReLU()], 32
    for width in (64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024):
        layers += [nn.Conv2d(last, last, 3, strides.pop(width, 1), padding=1, groups=last, bias=False),
                   nn.BatchNorm2d(last), nn.ReLU(),
                   nn.Conv2d(last, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        last = width
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(last, 10))
    for parameter in net.parameters():
        if parameter.ndim > 1:
            nn.init.trunc_normal_(parameter, std=0.01, a=-0.02, b=0.02)
    return net


@architecture("chen-mobilenetv2")
def mobilenetv2(channels=1, size=28):
    """MobileNetV2, whose own stem is the published one; 2,236,106 parameters for one channel."""
    net = _standard("mobilenet_v2")
    net.features[0][0] = _stem(channels, 32)
    return net


def _resnet(name, channels):
    net = _standard(name)
    net.conv1, net.maxpool = _stem(channels, 64), nn.Identity()
    return net


@architecture("chen-resnet50")
def resnet50(channels=1, size=28):
    """ResNet-50 behind the stem; 23,519,690 parameters for one channel."""
    return _resnet("resnet50", channels)


@architecture("chen-resnet101")
def resnet101(channels=1, size=28):
    """ResNet-101 behind the stem; 42,511,818 parameters for one channel."""
    return _resnet("resnet101", channels)


@architecture("chen-inceptionv1")
def inceptionv1(channels=1, size=28):
    """GoogLeNet behind the stem, without auxiliary classifiers; 5,601,322 parameters for one channel.

    torchvision's has batch normalisation, and 3x3 convolutions in the place of the 5x5 ones.
    """
    net = _standard("googlenet", aux_logits=False, init_weights=True)
    net.conv1.conv, net.maxpool1, net.maxpool2 = _stem(channels, 64), nn.Identity(), nn.Identity()
    return net


# Inception V2 as TensorFlow's slim has it: 1x1; 3x3 behind 1x1; twice 3x3 behind 1x1; a projected pool. A
# block without the first and the last halves the image. (Ioffe and Szegedy 2015, Table 5, prints two pools
# of 128 that do not add up to its own 576.)
INCEPTION_V2 = (
    (64, (64, 64), (64, 96), 32), (64, (64, 96), (64, 96), 64), (None, (128, 160), (64, 96), None),
    (224, (64, 96), (96, 128), 128), (192, (96, 128), (96, 128), 128), (160, (128, 160), (128, 160), 96),
    (96, (128, 192), (160, 192), 96), (None, (128, 192), (192, 256), None),
    (352, (192, 320), (160, 224), 128), (352, (192, 320), (192, 224), 128))


class Mixed(nn.Module):
    """A block of Inception V2: branches side by side, `widths` as in `INCEPTION_V2`."""

    def __init__(self, channels, one, three, twice, pooled, pool):
        super().__init__()
        stride = 1 if one else 2
        shrink = nn.MaxPool2d(3, stride, padding=1)
        self.branches = nn.ModuleList([
            nn.Sequential(_normed(channels, three[0], 1), _normed(*three, 3, stride)),
            nn.Sequential(_normed(channels, twice[0], 1), _normed(*twice, 3),
                          _normed(twice[1], twice[1], 3, stride)),
            nn.Sequential(pool, _normed(channels, pooled, 1)) if pooled else shrink])
        if one:
            self.branches.append(_normed(channels, one, 1))
        self.width = three[1] + twice[1] + (pooled or channels) + (one or 0)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


def _normed(channels, width, kernel, stride=1):
    """Convolution, batch normalisation, ReLU."""
    return nn.Sequential(nn.Conv2d(channels, width, kernel, stride, padding=kernel // 2, bias=False),
                         nn.BatchNorm2d(width), nn.ReLU())


@architecture("chen-inceptionv2")
def inceptionv2(channels=1, size=28):
    """Inception V2 (BN-Inception) behind the stem; 10,171,402 parameters for one channel."""
    layers = [_stem(channels, 64), nn.BatchNorm2d(64), nn.ReLU(), _normed(64, 64, 1), _normed(64, 192, 3)]
    width = 192
    for k, widths in enumerate(INCEPTION_V2):
        last = k == len(INCEPTION_V2) - 1       # the only block with a maximum before its projection
        pool = nn.MaxPool2d(3, 1, padding=1) if last else nn.AvgPool2d(3, 1, padding=1)
        layers.append(Mixed(width, *widths, pool))
        width = layers[-1].width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(width, 10)]
    return nn.Sequential(*layers)


@architecture("chen-alexnet")
def alexnet(channels=1, size=28):
    """AlexNet behind the stem; 57,022,154 parameters for one channel.

    What its convolutions leave of so small an image is repeated to the 6x6 of its dense layers.
    """
    net = _standard("alexnet")
    net.features[0], net.features[2] = nn.Conv2d(channels, 64, 3, stride=2, padding=1), nn.Identity()
    return net


@architecture("chen-squeezenet")
def squeezenet(channels=1, size=28):
    """SqueezeNet 1.0 behind the stem; 727,306 parameters for one channel. Its logits are means of ReLUs."""
    net = _standard("squeezenet1_0")
    net.features[0], net.features[2] = nn.Conv2d(channels, 96, 3, stride=2, padding=1), nn.Identity()
    return net


@architecture("chen-lenet")
def lenet(channels=1, size=28):
    """LeNet-5 with ReLUs and maxima, drawn for such images; 61,706 parameters for one channel."""
    return nn.Sequential(
        nn.Conv2d(channels, 6, 5, padding=(32 - size) // 2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


MODELS = {"DenseNet": "chen-densenet", "MobileNetV1": "chen-mobilenetv1", "MobileNetV2": "chen-mobilenetv2",
          "ResNet50": "chen-resnet50", "ResNet101": "chen-resnet101", "Inception V1": "chen-inceptionv1",
          "Inception V2": "chen-inceptionv2", "AlexNet": "chen-alexnet", "SqueezeNet": "chen-squeezenet",
          "LeNet": "chen-lenet"}


# ---- capacity, Section IV.E ------------------------------------------------------------------------------
@architecture("chen-fcn")
def fcn(channels=1, size=28, *, layers, neurons):
    """Equally wide hidden layers (Tables VI and VII); neurons are those of each layer."""
    net, last = [nn.Flatten()], channels * size * size
    for _ in range(layers):
        net += [nn.Linear(last, neurons), nn.ReLU()]
        last = neurons
    return nn.Sequential(*net, nn.Linear(last, 10))


@architecture("chen-cnn")
def cnn(channels=1, size=28, *, pooling, dropout):
    """Convolutions and dense layers, with or without pools and dropout (Table VIII, which has no sizes).

    Sizes are those of LeNet in TensorFlow's slim: 5x5 of 32 and 64 channels, 1024 dense. Without pools
    strides of 2 take their place, so that the dense layer has the same weights.
    """
    step = 1 if pooling else 2
    pool, drop = [nn.MaxPool2d(2)] if pooling else [], [nn.Dropout(0.5)] if dropout else []
    return nn.Sequential(
        nn.Conv2d(channels, 32, 5, step, padding=2), nn.ReLU(), *pool,
        nn.Conv2d(32, 64, 5, step, padding=2), nn.ReLU(), *pool,
        nn.Flatten(), nn.Linear(64 * (size // 4) ** 2, 1024), nn.ReLU(), *drop, nn.Linear(1024, 10))


FCNS = {f"FCN-{k + 1}": dict(layers=layers, neurons=neurons) for k, (layers, neurons) in enumerate(
    [(2, 100), (2, 500), (2, 1000), (2, 2000), (2, 3000), (2, 4000), (3, 4000), (4, 4000), (5, 4000)])}
CNNS = {f"CNN-{k + 1}": dict(pooling=pooling, dropout=dropout) for k, (pooling, dropout) in enumerate(
    [(True, True), (False, True), (True, False), (False, False)])}
