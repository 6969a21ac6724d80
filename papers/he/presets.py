"""The settings of the attacks of `he` (Section 3) on each data set."""
import dataclasses

from shared.attacks.optimised import CarliniWagner, OptMargin

# OptMargin's rates and weights are the authors' scripts'; those of OptBrittle (kappa 0) and OptStrong (kappa
# 40) are not published for MNIST and CIFAR-10: OptMargin's are taken, with the usual weight of the distance.
# On MNIST 1/255^2 is their script's; notebooks/he/3_optmargin tells what other settings of these two do.
MNIST_MARGIN = OptMargin(rate=0.2, c=0.2, noise=0.3, scale=1 / 255**2)
MNIST_BRITTLE = CarliniWagner(rate=0.2, c=0.2)
MNIST_STRONG = dataclasses.replace(MNIST_BRITTLE, confidence=40.0)
CIFAR10_MARGIN = OptMargin(rate=0.01, c=1.0, noise=8 / 255, reach=127.5001 / 255)
CIFAR10_BRITTLE = CarliniWagner(rate=0.01, c=1.0, reach=127.5001 / 255)
CIFAR10_STRONG = dataclasses.replace(CIFAR10_BRITTLE, confidence=40.0)
IMAGENET_MARGIN = OptMargin(rate=1e-3, c=0.1, noise=8 / 255)
IMAGENET_BRITTLE = CarliniWagner(rate=1e-3, c=0.1)
