"""Sutton et al. (`sutton`): the truncated VGG of Table 2, how Section 7.1.1 trains it, the nets of 7.1.5."""
import torch
from torch import nn

from report.registry import architecture
from shared import runtime
from shared.data.archives import fingerprint
from shared.inference import Normalise, pixels
from shared.training.recipe import Recipe

# Section 7.1.1: the rate is halved every 20 of 100 epochs. No weight decay is printed. As in Tensorflow, the
# authors' software, an epoch ends with a smaller batch: GTSRB's 0-vs-1 has 316 images, so three steps.
PAPER = Recipe(epochs=100, batch=128, rate=0.1, momentum=0.9, nesterov=True, weight_decay=0.0, bf16=True,
               partial=True, schedule="steps", milestones=(20, 40, 60, 80), factor=0.5, loss="squared")


def _vgg(*widths, dropout, padding=0):
    layers, channels = [], 3
    for width in widths:
        for inputs in (channels, width):
            layers += [nn.Conv2d(inputs, width, 3, padding=padding), nn.ReLU()]
        layers += [nn.MaxPool2d(2), nn.Dropout(dropout)]
        channels = width
    layers[-2] = nn.AdaptiveMaxPool2d(1)  # the last pool is global
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels, 512), nn.ReLU(), nn.Linear(512, 1))
    for layer in net:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):  # as Tensorflow does, which the authors used
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
    return net


@architecture("sutton-vgg")
def vgg(dropout=0.4):
    """The net of Table 2, for CIFAR-10: float32 images [N, 3, 32, 32] in [0, 1] to one logit [N, 1].

    Its sigmoid is the paper's output, the estimated probability of label 1.

    The paper names neither the convolutions' padding nor where dropout stands "on the convolutional layers".
    A convolution pads nothing by default in the authors' software, and the net fits that: images of 32 by 32
    end as one value a channel, while for the 28 by 28 of Fashion-MNIST the last two convolutions would find
    nothing left, and there the paper leaves them out. Dropout follows each pool. The page on GTSRB
    (Section 7.2.3) measures this beside other readings.
    """
    return _vgg(64, 128, 256, dropout=dropout)


@architecture("sutton-vgg-short")
def vgg_short(dropout=0.4):
    """The same without Conv-5 and Conv-6, for Fashion-MNIST and GTSRB (Sections 7.2.2, 7.2.3)."""
    return _vgg(64, 128, dropout=dropout)


# ---- other readings of the same net, compared on the page on GTSRB -----------------------------------------
class TrainingScale(nn.Module):
    """Pixels to mean 0 and deviation 1 over all values of the training images: one number each.

    Training begins with `adapt`. Where all values are equal, they are divided by 1.
    """

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("deviation", torch.ones(()))

    def adapt(self, images):
        """Take mean and deviation from the training images [N, C, H, W], uint8 or float in [0, 1]."""
        total, squares = 0.0, 0.0
        for part in images.split(1024):
            values = pixels(part).double()
            total, squares = total + values.sum().item(), squares + (values**2).sum().item()
        mean = total / images.numel()
        self.mean.fill_(mean)
        self.deviation.fill_(max(0.0, squares / images.numel() - mean**2)**0.5 or 1.0)

    def forward(self, x):
        return (x - self.mean) / self.deviation


def _dropout_within(net):
    """The net of Table 2 with dropout between the convolutions of each block, not behind its pool."""
    layers = []
    for layer in net:
        if isinstance(layer, nn.Dropout):
            layers.insert(-3, layer)    # before convolution, rectifier and pool
        else:
            layers.append(layer)
    return nn.Sequential(*layers)


@architecture("sutton-vgg-short-padded")
def vgg_short_padded(dropout=0.4):
    """`sutton-vgg-short` with convolutions that keep the image's size, as in VGG."""
    return _vgg(64, 128, dropout=dropout, padding=1)


@architecture("sutton-vgg-short-within")
def vgg_short_within(dropout=0.4):
    """`sutton-vgg-short` with dropout between the convolutions of each block."""
    return _dropout_within(vgg_short(dropout))


@architecture("sutton-vgg-short-standard")
def vgg_short_standard(dropout=0.4):
    """`sutton-vgg-short` on pixels of mean 0 and deviation 1."""
    return nn.Sequential(TrainingScale(), *vgg_short(dropout))


@architecture("sutton-vgg-short-together")
def vgg_short_together(dropout=0.4):
    """`sutton-vgg-short` padded, with dropout within the blocks, on pixels of mean 0 and deviation 1."""
    return nn.Sequential(TrainingScale(), *_dropout_within(vgg_short_padded(dropout)))


@architecture("sutton-vgg-short-decayed")
def vgg_short_decayed(dropout=0.4, penalty=5e-4):
    """`sutton-vgg-short` with an L2 penalty on its weights: `penalty` times the sum of their squares.

    As in Keras, where a layer carries the penalty: its gradient joins that of any loss. Biases have none.
    """
    net = vgg_short(dropout)
    for weight in net.parameters():
        if weight.ndim > 1:
            weight.register_hook(lambda slope, weight=weight: slope + 2 * penalty * weight.detach())
    return net


@architecture("sutton-vgg-short-alike")
def vgg_short_alike(dropout=0.4):
    """`sutton-vgg-short-together` whose weights decay as those of `sutton-vgg-short-decayed`."""
    net = vgg_short_decayed(dropout)
    for layer in net:
        if isinstance(layer, nn.Conv2d):
            layer.padding = (1, 1)
    return nn.Sequential(TrainingScale(), *_dropout_within(net))


# ---- with batch normalisation, which Table 2 does not list ------------------------------------------------
def _batch_normalised(net, momentum):
    """The net with batch normalisation after every rectifier, that of the dense layer included.

    Keras' epsilon, 1e-3, and its initial values (weight 1, bias 0, running mean 0, variance 1). `momentum` is
    Keras', the share of the running statistics that a step keeps.
    """
    layers = []
    for layer in net:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            width = layer.weight.shape[0]
        layers.append(layer)
        if isinstance(layer, nn.ReLU):
            kind = nn.BatchNorm1d if any(isinstance(done, nn.Flatten) for done in layers) else nn.BatchNorm2d
            layers.append(kind(width, eps=1e-3, momentum=1 - momentum))
    return nn.Sequential(*layers)


@architecture("sutton-vgg-bn")
def vgg_bn(dropout=0.4):
    """`sutton-vgg` with batch normalisation after every rectifier; running momentum 0.9."""
    return _batch_normalised(vgg(dropout), 0.9)


@architecture("sutton-vgg-short-bn")
def vgg_short_bn(dropout=0.4):
    """`sutton-vgg-short` with batch normalisation after every rectifier; running momentum 0.9."""
    return _batch_normalised(vgg_short(dropout), 0.9)


@architecture("sutton-vgg-short-bn-slow")
def vgg_short_bn_slow(dropout=0.4):
    """The same with Keras' default running momentum, 0.99: it takes some 300 steps to follow the data."""
    return _batch_normalised(vgg_short(dropout), 0.99)


@architecture("sutton-vgg-short-public")
def vgg_short_public(dropout=0.4):
    """`sutton-vgg-short-bn-slow` in all that a public VGG for CIFAR-10 in Keras has and Table 2 leaves open.

    Padded convolutions, dropout within the blocks, a penalty of 5e-4 on the weights, pixels of mean 0 and
    deviation 1, batch normalisation before each dropout.
    """
    net = vgg_short_alike(dropout)
    return nn.Sequential(net[0], *_batch_normalised(net[1:], 0.99))


# ---- ImageNet --------------------------------------------------------------------------------------------
PRETRAINED = ("resnet50", "vgg19")


def pretrained(name):
    """ResNet50 or VGG19 (Section 7.1.5) as torchvision first published them, in eval mode on the CPU.

    float32 images [N, 3, 224, 224] in [0, 1] to logits [N, 1000]; normalisation is inside. The weights are
    others than TensorFlow's, which the paper took. They are downloaded once into the cache folder. Raises
    UserError for another name, and where they cannot be had.
    """
    if name not in PRETRAINED:
        raise runtime.UserError(f"network {name!r}; allowed: {', '.join(PRETRAINED)}")
    from torchvision import models

    published = models.get_model_weights(name).IMAGENET1K_V1
    folder = runtime.cache_folder() / "torchvision"
    try:
        weights = published.get_state_dict(progress=False, check_hash=True, model_dir=folder)
    except (OSError, RuntimeError) as error:
        raise runtime.UserError(f"the weights of {name} cannot be had ({str(error).splitlines()[0]}); put "
                                f"{published.url.split('/')[-1]} into {folder}, or take the network "
                                "'squeezenet'") from None
    runtime.used("net", name, fingerprint(weights))
    net = models.get_model(name, weights=None)
    net.load_state_dict(weights)
    return nn.Sequential(Normalise((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), net).eval()
