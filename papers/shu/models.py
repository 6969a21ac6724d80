"""Shu et al. (`shu`): LeNet and a perceptron for MNIST, MobileNetV2 for CIFAR-10, and their recipes.

Pixels enter as they are, in [0, 1]: the authors' code normalises nothing.
"""
import dataclasses

from torch import nn

from report.registry import architecture
from shared.training.recipe import Recipe

# Printed: SGD at 0.01; for the MobileNets momentum 0.9 and weight decay 5e-4, too. All else is open.
# Batch and epochs are those of PyTorch's example for MNIST, from which the tutorial has its network.
LENET = Recipe(epochs=10, batch=64, partial=True, rate=0.01, momentum=0.0, nesterov=False, weight_decay=0.0,
               schedule="constant")
# A variant: that example has momentum, too, and the printed errors may be those of other lengths.
LENGTHS = tuple(dataclasses.replace(LENET, epochs=n, momentum=0.5) for n in range(3, 13))
# At this rate a perceptron learns slowly: with a seed that no page uses, its error fell until about epoch 70.
MLP = dataclasses.replace(LENET, epochs=80)
# Augmentation, schedule and epochs are ours, these as many as a core trains in two hours.
MOBILENET = Recipe(epochs=20, batch=64, rate=0.01, nesterov=False, weight_decay=5e-4, shift=4, flip=True)
# At a rate of 0.1 and with augmentation, so short a training may end at chance.
QUICK_MOBILENET = dataclasses.replace(MOBILENET, epochs=2, images=4_000, batch=32, rate=0.03, shift=0,
                                      flip=False)
# On embedded images, one recipe for all of these networks.
SMOKE = Recipe(epochs=6, batch=20, images=600, rate=0.05, weight_decay=0.0)


@architecture("shu-lenet")
def lenet():
    """PyTorch's tutorial on FGSM: 10 and 20 filters of 5x5, fully connected 50 and 10; 21,840 parameters.

    Its log-softmax is left out: classes, probabilities and margins are the same without.
    """
    return nn.Sequential(
        nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Conv2d(10, 20, 5), nn.Dropout2d(), nn.MaxPool2d(2), nn.ReLU(),
        nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Dropout(), nn.Linear(50, 10))


@architecture("shu-mlp")
def mlp():
    """Three hidden layers of 512 rectified units; 932,362 parameters."""
    layers = [nn.Flatten()]
    for inputs in (784, 512, 512):
        layers += [nn.Linear(inputs, 512), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(512, 10))


@architecture("shu-mobilenet")
def mobilenet():
    """MobileNetV2 (Sandler et al. 2018, their Table 2) for 32x32: 17 bottlenecks; 2,236,682 parameters.

    The paper's text has 19 bottlenecks, as that of Sandler et al.; their table lists 17. Of their strides
    that of the stem is 1 here, since images are a seventh as wide as theirs.
    """
    from torchvision.models import mobilenet_v2  # here: it takes seconds to import

    net = mobilenet_v2(num_classes=10)
    net.features[0][0].stride = (1, 1)
    return net


@architecture("shu-mobilenet-tiny")
def mobilenet_tiny():
    """A quarter as wide, with three bottlenecks, for tests and quick looks."""
    from torchvision.models import mobilenet_v2

    return mobilenet_v2(num_classes=10, width_mult=0.25,
                        inverted_residual_setting=[[1, 16, 1, 2], [6, 24, 1, 2], [6, 32, 1, 1]])
