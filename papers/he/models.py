"""He et al. (`he`): the nets of MadryLab's MNIST and CIFAR-10 challenges, as TensorFlow computes them.

`he-mnist` (`he-small` takes its place on embedded digits), `he-w32-10` (the wide ResNet of the paper),
`he-resnet` (a small one of the same units, its substitute on a laptop; `he-tiny` a smaller one yet),
`he-squeezenet` (SqueezeNet 1.1, the substitute for Appendix D's Inception-ResNet).
"""
import dataclasses
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from report import zoo
from report.pretrained import pretrained_squeezenet, squeezenet
from report.registry import architecture
from shared import runtime
from shared.attacks.gradient import PGD, Adversarial
from shared.attacks.threat import Linf
from shared.data import sets
from shared.training.recipe import Recipe

# MNIST. The published adversarial training: Adam at 1e-4 on batches of 50, the sum of their cross-entropies,
# 100,000 steps. The natural one is unpublished: the same, for 25,000 steps (its checkpoint is that of step
# 24,900). An epoch has 1,200 steps.
NATURAL = Recipe(epochs=21, batch=50, rate=1e-4, weight_decay=0.0, bf16=True, optimiser="adam",
                 schedule="constant", reduction="sum")
# Other trainings of the same network: fewer epochs; these in larger steps.
NATURAL_SHORT = dataclasses.replace(NATURAL, epochs=2)
NATURAL_FAST = dataclasses.replace(NATURAL_SHORT, rate=1e-3, schedule="one-cycle", reduction="mean")
# For a CPU: a twelfth of the adversarial steps, at a larger rate that rises and falls.
ADVERSARIAL_SHORT = dataclasses.replace(NATURAL, epochs=7, rate=1e-3, schedule="one-cycle")
QUICK = dataclasses.replace(NATURAL, epochs=1, images=1_500, rate=1e-3, schedule="one-cycle")
# For the embedded digits and shapes. One recipe for all of these nets, so: few images in small batches, the
# mean of their losses (he-tiny does not begin on the sum), and a rate that adversarial training bears, too.
SMOKE = dataclasses.replace(NATURAL, epochs=2, images=600, batch=20, rate=2e-3, schedule="one-cycle",
                            reduction="mean")
# CIFAR-10's small ResNet, ours throughout: the published 80,000 steps of the wide one are days on a CPU.
RESNET = Recipe(epochs=15, batch=128, rate=0.1, weight_decay=5e-4, bf16=True, shift=2, flip=True)
RESNET_ADVERSARIAL = dataclasses.replace(RESNET, epochs=10)
TINY = Recipe(epochs=4, images=800, batch=50, rate=0.1)     # of `he-tiny`
# Under the perturbations of full scale so few images teach `he-mnist` nothing.
SMOKE_TRAINING = Adversarial(PGD(Linf(0.1), steps=1, step=0.1))

SLOPE = 0.1                # of the leaky ReLUs


# ---- MNIST -----------------------------------------------------------------------------------------------
@architecture("he-mnist")
def mnist():
    """Two 5x5 convolutions with SAME padding, each pooled, then 1024 and 10; 3,274,634 parameters.

    Weights start from a normal distribution of deviation 0.1 cut at two deviations, biases from 0.1.
    """
    net = nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, 10))
    for parameter in net.parameters():
        if parameter.ndim == 1:
            nn.init.constant_(parameter, 0.1)
        else:
            nn.init.trunc_normal_(parameter, std=0.1, a=-0.2, b=0.2)
    return net


@architecture("he-small")
def small():
    """For a quick trial on embedded digits: one convolution, pooled, and a layer of 10."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(6272, 10))


# ---- CIFAR-10 --------------------------------------------------------------------------------------------
@architecture("he-w32-10")
def w32_10():
    """The wide ResNet of the paper: 5 units in each of 3 stages of 160, 320, 640 channels.

    It has 45.9 million parameters.
    """
    return _wide_resnet(units=5, widths=(160, 320, 640))


@architecture("he-resnet")
def resnet():
    """A small wide ResNet, for machines without a GPU: 2 units in stages of 48, 96, 192 channels."""
    return _wide_resnet(units=2, widths=(48, 96, 192))


@architecture("he-tiny")
def tiny():
    """The smallest of these, for tests and quick looks: one unit in stages of 8, 16, 32 channels."""
    return _wide_resnet(units=1, widths=(8, 16, 32), stem=8)


def _wide_resnet(units, widths, *, stem=16, classes=10):
    layers, channels = [Standardise(), _conv(3, stem)], stem
    for stage, width in enumerate(widths):
        for unit in range(units):
            stride = 2 if stage > 0 and unit == 0 else 1
            layers.append(Unit(channels, width, stride, activate_first=stage == unit == 0))
            channels = width
    tail = nn.Linear(channels, classes)
    bound = (3 / channels)**0.5
    nn.init.uniform_(tail.weight, -bound, bound)
    nn.init.zeros_(tail.bias)
    return nn.Sequential(*layers, _norm(channels), nn.LeakyReLU(SLOPE),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), tail)


class Standardise(nn.Module):
    """Each image to mean 0 and deviation 1 over all its values, as TensorFlow does it."""

    def forward(self, x):
        # The deviation's bound is for pixels in 0..255. It acts before the root, which is steep at 0.
        values = 255 * x
        variance, mean = torch.var_mean(values, (1, 2, 3), correction=0, keepdim=True)
        return (values - mean) / variance.clamp(min=1 / x[0].numel()).sqrt()


class Unit(nn.Module):
    """Pre-activation residual unit: twice normalise, leaky ReLU, convolve; plus the shortcut.

    activate_first  the first unit of all takes its shortcut behind normalisation and ReLU, the others before
    """

    def __init__(self, channels, width, stride, *, activate_first):
        super().__init__()
        self.norm1, self.conv1 = _norm(channels), _conv(channels, width, stride)
        self.norm2, self.conv2 = _norm(width), _conv(width, width)
        self.activate_first, self.stride, self.more = activate_first, stride, width - channels

    def forward(self, x):
        active = F.leaky_relu(self.norm1(x), SLOPE)
        shortcut = active if self.activate_first else x
        if self.stride > 1:
            shortcut = F.avg_pool2d(shortcut, self.stride)
        if self.more:     # new channels are zero, half of them before and half behind
            shortcut = F.pad(shortcut, (0, 0, 0, 0, self.more // 2, self.more - self.more // 2))
        return self.conv2(F.leaky_relu(self.norm2(self.conv1(active)), SLOPE)) + shortcut


def _norm(channels):
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.1)


def _conv(channels, width, stride=1):
    """3x3, no bias. TensorFlow's SAME at stride 2 on even sides pads below and on the right only."""
    conv = nn.Conv2d(channels, width, 3, stride, padding=1 if stride == 1 else 0, bias=False)
    nn.init.normal_(conv.weight, std=(2 / (9 * width))**0.5)
    return conv if stride == 1 else nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), conv)


# ---- ImageNet --------------------------------------------------------------------------------------------
architecture("he-squeezenet")(squeezenet)


@dataclass(frozen=True)
class Subject:
    """A network, and the data set it is trained and tested on.

    recipe  how it is trained; None for SqueezeNet with the weights that it is published with (on embedded
            images a small network trained on these)
    hook    the attack on which it is trained (`attacks.gradient.Adversarial`), or None
    """
    dataset: str
    architecture: str
    recipe: Recipe | None
    hook: object = None

    def trained(self, seed):
        """The `zoo.Trained` network of that seed, on the run's device."""
        return zoo.net(self.architecture, self.recipe, sets.load(self.dataset), seed, device=runtime.device(),
                       hook=self.hook)

    def model(self, seed):
        """The network of that seed, in eval mode, on the run's device."""
        if self.recipe is None and sets.load(self.dataset).source in ("embedded", "stand-in"):
            small = dataclasses.replace(self, architecture="he-tiny", recipe=TINY)   # learns in seconds
            return small.trained(seed).net
        if self.recipe is None:
            return pretrained_squeezenet().to(runtime.device(), memory_format=torch.channels_last)
        return self.trained(seed).net

    def images(self, first, count):
        """`count` test images from number `first` on, float32 [count, C, H, W] in [0, 1], and their labels.

        In a small embedded set, counting goes on at its beginning where the set ends.
        """
        data = sets.load(self.dataset)
        rows = (first + torch.arange(count)) % len(data.x_test)
        x, y = data.x_test[rows].float() / 255, data.y_test[rows]
        return x.to(runtime.device()), y.to(runtime.device())
