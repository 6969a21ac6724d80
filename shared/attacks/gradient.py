"""Attacks along the loss gradient, FGSM and PGD, and their use in adversarial training.

FGSM: Goodfellow et al. 2015. PGD: Madry et al. 2018; `he`, Sections 2.4 and 3.3. They increase the
cross-entropy of the true class, or decrease that of the target.
"""
import contextlib
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import torch
from torch.nn import functional as F

from ..inference import AttackedModel, Model, finite_gradients, frozen, gradient, label_margins, unusable
from ..runtime import UserError, seeded
from .judge import Attack
from .threat import L1, Threat, checked


@dataclass(frozen=True)
class FGSM(Attack):
    """One step of the length `threat.size` from the clean image."""
    threat: Threat

    def __post_init__(self) -> None:
        checked(self.threat)

    def propose(self, model: Model, x: torch.Tensor, goal: torch.Tensor,
                draw: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        """The images after the step [N, C, H, W], not yet clipped to [0, 1], and one pass for each [N]."""
        move, no_gradient = _ascent(model, x, goal, self.threat)
        return x + self.threat.size * move, torch.ones_like(goal), no_gradient


@dataclass(frozen=True)
class PGD(Attack):
    """`steps` steps, each projected onto the ball and clipped to [0, 1]; the last iterate is proposed.

    step          length of a step in the threat's norm, on the scale of pixels in [0, 1]
    random_start  start uniformly in the ball instead of at the clean image
    """
    threat: Threat
    steps: int
    step: float
    random_start: bool = True
    white: ClassVar[float] = 1.0     # upper bound of pixels in the steps; the judge clips to [0, 1] anyway

    def __post_init__(self) -> None:
        checked(self.threat)
        if not isinstance(self.steps, Integral) or self.steps < 1 or not self.step > 0:
            raise UserError(f"PGD with steps={self.steps!r}, step={self.step!r}: a whole number of steps "
                            "from 1, of a length above 0, is needed")

    def draw(self, x: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor | None:
        """The offset of each image's random start, float32 [N, C, H, W] on the CPU; None without one."""
        if not self.random_start:
            return None
        return self.threat.random(x, seeded(generator, "PGD, unless random_start=False,"))

    def propose(self, model: Model, x: torch.Tensor, goal: torch.Tensor,
                draw: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        """The last iterates [N, C, H, W] and `steps` passes for each [N]."""
        z = x if draw is None else (x + draw).clamp(0, self.white)
        without = torch.zeros_like(goal, dtype=torch.bool)     # a usable gradient, in some step
        for _ in range(self.steps):
            move, no_gradient = _ascent(model, z, goal, self.threat)
            z = self.threat.project(z + self.step * move, x).clamp(0, self.white)
            without = without | no_gradient
        return z, torch.full_like(goal, self.steps), without


@dataclass(frozen=True)
class Adversarial:
    """Training hook `hook(net, images, labels, generator) -> images`: replaces a batch by attacked images.

    attack      an untargeted attack of this module; training uses its last iterates, successful or not
    train_mode  whether the attack runs in training mode, as in the CIFAR-10 training that `he` builds on:
                batch normalisation then uses the batch's statistics, and each pass updates the running ones
    """
    attack: Attack
    train_mode: bool = True

    def __post_init__(self) -> None:
        if self.attack.threat.targeted:
            raise UserError("adversarial training takes an untargeted attack")

    def __call__(self, net: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor,
                 generator: torch.Generator) -> torch.Tensor:
        """Adversarial images for float32 images [n, C, H, W] in [0, 1]; the net keeps its mode."""
        draw = self.attack.draw(images, generator)
        with contextlib.nullcontext() if self.train_mode else frozen(net):
            draw = None if draw is None else draw.to(images.device)
            return self.attack.propose(AttackedModel(net), images, labels, draw)[0].clamp(0, 1)


def scored(model: Model, z: torch.Tensor,
           goal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Logits [n, K] of images z, gradients of the cross-entropy of classes `goal`, and which are unusable.

    Where the gradient is 0, because float32 probabilities of distant logits are exactly 0 and 1, the gradient
    of minus the margin replaces it. Values that are not finite are replaced (`finite_gradients`). Both count
    as unusable.
    """
    scores = z.new_empty(0)

    def loss(images):
        nonlocal scores
        scores = model(images).float()
        return F.cross_entropy(scores, goal, reduction="none")

    def minus_margin(images):
        return -label_margins(model(images).float(), goal[flat])

    _, slope = gradient(loss, z)
    no_gradient = unusable(slope)
    if no_gradient.any():
        slope = finite_gradients(slope)
        flat = unusable(slope)
        if flat.any():
            slope[flat] = finite_gradients(gradient(minus_margin, z[flat])[1])
    return scores.detach(), slope, no_gradient


def _ascent(model, z, goal, threat):
    """The best move of length 1 from images z, to first order; and which have no usable gradient."""
    _, slope, no_gradient = scored(model, z, goal)
    slope = -slope if threat.targeted else slope
    if isinstance(threat, L1):      # its step changes one value: one that clipping will not undo
        slope = slope * torch.where(slope > 0, z < 1, z > 0)
    return threat.steepest(slope), no_gradient
