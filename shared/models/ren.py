"""Ren et al. (`ren`): the architectures of Table I and the recipes they are trained by."""
from torch import nn

from shared.models.recipe import Recipe
from shared.models.registry import architecture

# Ren et al. print accuracies only. Six epochs and this rate were picked after trial runs of A and B, because
# they bring test accuracy into the printed range: accuracies are fitted by this choice and earn no verdict.
SMOKE = Recipe(epochs=6)
QUICK = Recipe(epochs=1, images=20_000)
PAPER = Recipe(epochs=6, bf16=True)
GENTLE = Recipe(epochs=4, rate=0.01)  # to see whether the training explains a difference


# Convolutions are unpadded with stride 1, as MATLAB's convolution2dLayer is by default; pools have stride 2
# (with MATLAB's default stride of 1 the flattened sizes would not suit the printed fully connected layers).
# A dropout or any other layer the table does not print is not here.
def _two_convolutions(c1, c2, h1):
    return nn.Sequential(
        nn.Conv2d(1, c1, 3), nn.ReLU(), nn.BatchNorm2d(c1), nn.MaxPool2d(2),
        nn.Conv2d(c1, c2, 3), nn.ReLU(), nn.BatchNorm2d(c2), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(c2 * 25, h1), nn.ReLU(), nn.Linear(h1, 84), nn.ReLU(), nn.Linear(84, 10))


@architecture("ren-a")
def ren_a():
    """Architecture A: 6 and 16 filters, fully connected 120, 84, 10 (LeNet-5-like)."""
    return _two_convolutions(6, 16, 120)


@architecture("ren-b")
def ren_b():
    """Architecture B: 20 and 50 filters, fully connected 500, 84, 10."""
    return _two_convolutions(20, 50, 500)


@architecture("ren-c")
def ren_c(last_relu=True):
    """Architecture C: 32 and 64 filters, one pool, batch normalisation of the flattened features, 128, 10.

    last_relu  the ReLU that Table I prints on the ten outputs
    """
    layers = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
              nn.Flatten(), nn.BatchNorm1d(64 * 144), nn.Linear(64 * 144, 128), nn.ReLU(), nn.Linear(128, 10)]
    return nn.Sequential(*layers, *([nn.ReLU()] if last_relu else []))


@architecture("ren-c-linear")
def ren_c_linear():
    """Architecture C without the printed ReLU on its ten outputs: a variant, to see what that ReLU does."""
    return ren_c(last_relu=False)
