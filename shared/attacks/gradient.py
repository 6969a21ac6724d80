"""Attacks by the sign or direction of the loss gradient, FGSM and PGD, and their use in adversarial training.

FGSM: Goodfellow et al. 2015. PGD: Madry et al. 2018; `he`, Sections 2.4 and 3.3. Both climb the cross-entropy
of the true class, or descend that of the target.
"""
import contextlib
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from shared.attacks.judge import Attack
from shared.attacks.threat import Threat
from shared.models.inference import frozen, gradient
from shared.runtime import UserError


@dataclass(frozen=True)
class FGSM(Attack):
    """One step of the whole size of the threat from the clean image."""
    threat: Threat

    def __post_init__(self):
        _check_bounded(self.threat)

    def propose(self, model, x, goal, draw):
        """The stepped images [N, C, H, W], not yet cut to [0, 1], and one pass for each [N]."""
        z = x + self.threat.size * _ascent(model, x, goal, self.threat)
        return z, torch.ones_like(goal)


@dataclass(frozen=True)
class PGD(Attack):
    """`steps` steps, each brought back into the ball and into [0, 1]; the last iterate is proposed.

    step          length of a step in the threat's norm, on the scale of pixels in [0, 1]
    random_start  start uniformly in the ball instead of at the clean image
    """
    threat: Threat
    steps: int
    step: float
    random_start: bool = True

    def __post_init__(self):
        _check_bounded(self.threat)
        if self.steps < 1 or not self.step > 0:
            raise UserError(f"PGD with steps={self.steps}, step={self.step}: at least 1 step of a length "
                            "above 0 is needed")

    def draw(self, x, generator):
        """A start in the ball for each image, float32 [N, C, H, W] on the CPU, or None where it is clean."""
        if not self.random_start:
            return None
        if generator is None:
            raise UserError("PGD starts at random: pass generator=torch.Generator(), or random_start=False")
        return self.threat.random(x, generator)

    def propose(self, model, x, goal, draw):
        """The last iterates [N, C, H, W] and `steps` passes for each [N]; `draw` as `draw` gives it."""
        z = x if draw is None else (x + draw).clamp(0, 1)
        for _ in range(self.steps):
            z = z + self.step * _ascent(model, z, goal, self.threat)
            z = self.threat.project(z, x).clamp(0, 1)
        return z, torch.full_like(goal, self.steps)


@dataclass(frozen=True)
class Adversarial:
    """Training hook `hook(net, images, labels, generator) -> images`: each batch becomes the attack's images.

    attack      an untargeted attack of this module; its last iterates are trained on, successful or not
    train_mode  whether batch normalisation works by the batch while the attack runs, each pass moving the
                running averages too, as in the CIFAR-10 training that `he` builds on; False: the net is in
                eval mode
    """
    attack: Attack
    train_mode: bool = True

    def __post_init__(self):
        if self.attack.threat.targeted:
            raise UserError("adversarial training takes an untargeted attack: labels are what is to be left")

    def __call__(self, net, images, labels, generator):
        """Adversarial images for float32 images [n, C, H, W] in [0, 1]; the net keeps its mode."""
        draw = self.attack.draw(images, generator)
        with contextlib.nullcontext() if self.train_mode else frozen(net):
            draw = None if draw is None else draw.to(images.device)
            return self.attack.propose(net, images, labels, draw)[0].clamp(0, 1)


def _ascent(model, z, goal, threat):
    """The move of length 1 from images z that serves the attacker most, to first order."""
    def loss(images):
        return F.cross_entropy(model(images).float(), goal, reduction="none")

    direction = threat.steepest(gradient(loss, z)[1])
    return -direction if threat.targeted else direction


def _check_bounded(threat):
    if not threat.size < float("inf"):
        raise UserError(f"{threat.norm} threat of infinite size: FGSM and PGD need a bound, Linf(8/255) say")
