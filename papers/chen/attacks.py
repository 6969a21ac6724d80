"""Attacks of `chen` alone: PGD beyond white, Euclidean steps in an L-inf ball, half-adversarial batches."""
from dataclasses import dataclass
from typing import ClassVar

import torch

from shared.attacks.gradient import PGD, Adversarial
from shared.attacks.threat import L2, Linf


class LinfEuclideanSteps(Linf):
    """The L-inf ball, walked in steps of Euclidean length 1 along the gradient: a reading of `chen`, IV.A."""
    norm = "Linf, L2 steps"
    steepest = L2.steepest


@dataclass(frozen=True)
class PGDBeyondWhite(PGD):
    """PGD that lets pixels become brighter than white: the authors' code of `chen` cuts digits at 255, not 1.

    `propose` alone is of use: the judge cuts every image to [0, 1].
    """
    white: ClassVar[float] = 255.0


@dataclass(frozen=True)
class HalfAdversarial(Adversarial):
    """Training hook: the first half of each batch becomes the attack's images, the rest stays clean.

    So says `chen`, Section IV.B; the authors' code trains on adversarial images alone, as `Adversarial` does.
    """

    def __call__(self, net, images, labels, generator):
        """Clean and adversarial images for float32 images [n, C, H, W] in [0, 1], in their order."""
        half = len(images) // 2
        moved = super().__call__(net, images[:half], labels[:half], generator)
        return torch.cat([moved, images[half:]])
