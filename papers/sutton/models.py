"""Sutton et al. (`sutton`): the truncated VGG of Table 2, how Section 7.1.1 trains it, the nets of 7.1.5."""
import torch
from torch import nn

from report import inputs
from report.registry import architecture
from shared import runtime
from shared.data.archives import fingerprint
from shared.inference import Normalise, pixels
from shared.training.recipe import Recipe

# Section 7.1.1: the rate is halved every 20 of 100 epochs. No weight decay is printed. As in Tensorflow, the
# authors' software, an epoch ends with a smaller batch: GTSRB's 0-vs-1 has 316 images, so three steps.
PAPER = Recipe(epochs=100, batch=128, rate=0.1, momentum=0.9, nesterov=True, weight_decay=0.0, bf16=True,
               partial=True, schedule="steps", milestones=(20, 40, 60, 80), factor=0.5, loss="squared")


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
        deviation, mean = torch.std_mean(pixels(images).double(), correction=0)
        self.mean.fill_(mean)
        self.deviation.fill_(deviation or 1.0)

    def forward(self, x):
        return (x - self.mean) / self.deviation


# The network of Table 2, for CIFAR-10; without Conv-5 and Conv-6 for Fashion-MNIST and GTSRB (Sections 7.2.2,
# 7.2.3); other readings of the short one, compared on the page on GTSRB; batch normalisation, which Table 2
# does not list, with the running momentum 0.9 or Keras' default 0.99, which takes some 300 steps to follow
# the data. "public" has all that a public VGG for CIFAR-10 in Keras has and Table 2 leaves open.
@architecture("sutton-vgg", widths=(64, 128, 256))
@architecture("sutton-vgg-short")
@architecture("sutton-vgg-short-padded", padding=1)
@architecture("sutton-vgg-short-within", within=True)
@architecture("sutton-vgg-short-standard", standard=True)
@architecture("sutton-vgg-short-together", padding=1, within=True, standard=True)
@architecture("sutton-vgg-short-decayed", penalty=5e-4)
@architecture("sutton-vgg-short-alike", padding=1, within=True, standard=True, penalty=5e-4)
@architecture("sutton-vgg-bn", widths=(64, 128, 256), momentum=0.9)
@architecture("sutton-vgg-short-bn", momentum=0.9)
@architecture("sutton-vgg-short-bn-slow", momentum=0.99)
@architecture("sutton-vgg-short-public", padding=1, within=True, standard=True, penalty=5e-4, momentum=0.99)
def vgg(*, widths=(64, 128), dropout=0.4, padding=0, within=False, standard=False, penalty=0.0,
        momentum=None):
    """Two convolutions for each width, a pool and dropout; then two dense layers: one logit [N, 1].

    Its sigmoid is the paper's output, the estimated probability of label 1.

    The paper names neither the convolutions' padding nor where dropout stands "on the convolutional layers".
    A convolution pads nothing by default in the authors' software, and the net fits that: images of 32 by 32
    end as one value a channel, while for the 28 by 28 of Fashion-MNIST the last two convolutions would find
    nothing left, and there the paper leaves them out. Dropout follows each pool. The page on GTSRB
    (Section 7.2.3) measures this beside other readings.

    padding    of the convolutions; 1 keeps an image's size
    within     dropout between the convolutions of each block, not behind its pool
    standard   pixels of mean 0 and deviation 1
    penalty    L2, times the sum of the squared weights. As in Keras, where a layer carries the penalty, its
               gradient joins that of any loss. Biases have none
    momentum   of batch normalisation after every rectifier, that of the dense layer included: the share of
               the running statistics that a step keeps. Epsilon, 1e-3, and initial values (weight 1, bias 0,
               running mean 0, variance 1) are Keras', too. None: no batch normalisation
    """
    def rectified(layer, normalisation):
        keep = [] if momentum is None else [normalisation(len(layer.bias), eps=1e-3, momentum=1 - momentum)]
        return [layer, nn.ReLU(), *keep]

    layers, channels = [TrainingScale()] if standard else [], 3
    for width in widths:
        first, second = (rectified(nn.Conv2d(inputs, width, 3, padding=padding), nn.BatchNorm2d)
                         for inputs in (channels, width))
        pool = nn.AdaptiveMaxPool2d(1) if width == widths[-1] else nn.MaxPool2d(2)   # the last pool is global
        drop = nn.Dropout(dropout)
        layers += [*first, drop, *second, pool] if within else [*first, *second, pool, drop]
        channels = width
    net = nn.Sequential(*layers, nn.Flatten(), *rectified(nn.Linear(channels, 512), nn.BatchNorm1d),
                        nn.Linear(512, 1))
    for layer in net:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.xavier_uniform_(layer.weight)   # as Tensorflow does, which the authors used
            nn.init.zeros_(layer.bias)
            if penalty:
                layer.weight.register_hook(
                    lambda slope, weight=layer.weight: slope + 2 * penalty * weight.detach())
    return net


@architecture("sutton-vgg-tiny")
def vgg_tiny(**options):
    """The same with an eighth of the filters, to try pages with: a forward pass takes a fiftieth."""
    return vgg(widths=(8, 16), **options)


# ---- ImageNet --------------------------------------------------------------------------------------------
def pretrained(name):
    """"resnet50" or "vgg19" (Section 7.1.5) as torchvision first published them, in eval mode on the CPU.

    float32 images [N, 3, 224, 224] in [0, 1] to logits [N, 1000]; normalisation is inside. The weights are
    others than TensorFlow's, which the paper took. They are downloaded once into the cache folder. Raises
    UserError where they cannot be had.
    """
    from torchvision import models

    published = models.get_model_weights(name).IMAGENET1K_V1
    folder = runtime.cache_folder() / "torchvision"
    try:
        weights = published.get_state_dict(progress=False, check_hash=True, model_dir=folder)
    except (OSError, RuntimeError) as error:
        raise runtime.UserError(f"the weights of {name} cannot be had ({str(error).splitlines()[0]}); put "
                                f"{published.url.split('/')[-1]} into {folder}, or take the network "
                                "'squeezenet'") from None
    inputs.used("inputs", f"weights/{name}", {"weights": fingerprint(weights)})
    net = models.get_model(name, weights=None)
    net.load_state_dict(weights)
    return nn.Sequential(Normalise((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), net).eval()
