"""The fast gradient sign method (Goodfellow et al. 2015), as Foolbox 2 runs it: its size is searched for."""
from dataclasses import dataclass
from typing import ClassVar

import torch

from shared.attacks.gradient import scored
from shared.attacks.judge import Attack, setting_of, values
from shared.attacks.threat import Linf, per_image
from shared.attacks.trials import first_flips, reaches
from shared.runtime import UserError


@dataclass(frozen=True)
class FGSMSearch(Attack):
    """FGSM at the first of `count` equally spaced sizes up to 1 that succeeds, as in Foolbox 2.

    Where that is one of the first `fine`, at the first of `fine` sizes up to it.

    beyond    how much further the proposed image lies, on the scale of pixels in [0, 1]; it may be a tuple
    targeted  whether a given class is to be reached, instead of the true one to be left
    """
    count: int = 1000
    fine: int = 20
    beyond: float | tuple[float, ...] = 0.0
    targeted: bool = False
    per_image: ClassVar = ("beyond",)

    def __post_init__(self):
        if self.count < 1 or self.fine < 1 or not all(0 <= more < 1 for more in values(self.beyond)):
            raise UserError(f"FGSMSearch with count={self.count}, fine={self.fine}, beyond={self.beyond}: at "
                            "least 1 size each, and from 0 and below 1 beyond it, are needed")

    @property
    def threat(self):
        """The largest change of a value, without a bound: the search looks for a small one."""
        return Linf(targeted=self.targeted)

    def propose(self, model, x, goal, draw):
        """The images [N, C, H, W], not yet cut to [0, 1], NaN where no size succeeds, and the passes [N]."""
        _, slope, lost = scored(model, x, goal)
        direction = self.threat.steepest(-slope if self.targeted else slope)
        decide = reaches(model, self.targeted)

        def first(images, largest, count):
            """The first of `count` equally spaced sizes up to `largest` [n] that succeeds, and its number."""
            def moved(rows, steps):
                at = images[rows.to(x.device)]
                size = largest[rows.to(x.device)] * (steps.to(x.device) + 1) / count
                return (x[at] + per_image(size, x) * direction[at]).clamp(0, 1)

            number = 1 + first_flips(decide, goal[images], moved, count).first.to(x.device)
            return torch.where(number <= count, largest * number / count, torch.nan), number

        size, number = first(torch.arange(len(x), device=x.device), x.new_ones(len(x)),
                             self.count)
        passes = 1 + number.clamp(max=self.count)
        near = (number <= self.fine).nonzero()[:, 0]
        if len(near):
            size[near], number = first(near, size[near], self.fine)
            passes[near] += number
        return x + per_image(size + setting_of(self.beyond, x), x) * direction, passes, lost
