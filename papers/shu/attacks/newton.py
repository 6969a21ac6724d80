"""NewtonFool (Jang et al. 2017): steps that a linear probability would take down to chance."""
from dataclasses import dataclass
from typing import ClassVar

import torch

from shared.attacks.gradient import scored
from shared.attacks.judge import Attack, fooled, setting_of, values
from shared.attacks.threat import L2, per_image
from shared.runtime import UserError

TINY = 1e-30     # least squared length of a gradient that is divided by


@dataclass(frozen=True)
class NewtonFool(Attack):
    """Steps against the gradient g of the true class's probability p, until another of K classes has more.

    A step is g / |g|^2 times eta |x| |g|, or times p - 1/K where that is less; x is the clean image. (Norms,
    as in the paper and in Foolbox 2; Foolbox 3.3.4 has their squares.) The attack is untargeted.

    eta    length of a step as a share of |x|, at most; it may be a tuple
    steps  at most
    """
    eta: float | tuple[float, ...] = 0.01
    steps: int = 100
    threat: ClassVar[L2] = L2()
    per_image: ClassVar = ("eta",)

    def __post_init__(self):
        if self.steps < 1 or not all(0 < eta < float("inf") for eta in values(self.eta)):
            raise UserError(f"NewtonFool with steps={self.steps}, eta={self.eta}: at least 1 step, and eta "
                            "above 0, are needed")

    def propose(self, model, x, goal, draw):
        """The first images [N, C, H, W] of another class, else those after all steps, and the passes [N]."""
        z, passes, rows = x.clone(), torch.zeros_like(goal), torch.arange(len(x), device=x.device)
        lost = torch.zeros_like(goal, dtype=torch.bool)
        reach = setting_of(self.eta, x) * x.flatten(1).norm(dim=1)
        for _ in range(self.steps):
            scores, slope, no_gradient = scored(model, z[rows], goal[rows])
            lost[rows] |= no_gradient
            passes[rows] += 1
            left = ~fooled(scores, goal[rows], targeted=False)
            rows, scores, slope = rows[left], scores[left], slope[left]
            if not len(rows):
                break
            p = scores.softmax(1).gather(1, goal[rows, None]).squeeze(1)
            slope = per_image(-p, slope) * slope      # of p, from that of -log p
            square = slope.flatten(1).square().sum(1)
            delta = torch.minimum(reach[rows] * square.sqrt(), p - 1 / scores.shape[1])
            z[rows] = (z[rows] - per_image(delta / square.clamp(min=TINY), slope) * slope).clamp(0, 1)
        return z, passes, lost
