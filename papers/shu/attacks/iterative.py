"""The basic and the momentum iterative method, as Foolbox 2 runs them: the size of the ball is searched for.

Kurakin et al. 2017; Dong et al. 2018; `shu`, Section 1.1. Sizes are means over all values of an image, so
that those of the three norms are alike: mean absolute change, root mean square change, largest change.
"""
from dataclasses import dataclass
from typing import ClassVar

import torch

from shared.attacks.gradient import scored
from shared.attacks.judge import Attack, fooled, setting_of, values
from shared.attacks.threat import L1, L2, Linf, per_image
from shared.attacks.trials import State
from shared.runtime import UserError

GROWTH = 1.5     # of a ball in which nothing was found
TINY = 1e-12     # least size that is divided by
NORMS = {"L1": L1, "L2": L2, "Linf": Linf}


@dataclass(frozen=True)
class BasicIterative(Attack):
    """Steps along the gradient inside a ball; the nearest of all the examples met is proposed.

    norm         of ball, steps and distance: "L1", "L2" or "Linf". Sizes of balls and steps are means over
                 the d values of an image, L1 / d and L2 / sqrt(d); `Result.distance` is the plain norm
    epsilon      size of the first ball; it may be a tuple
    step         length of a step in the first ball; in others its share of the size is the same
    iterations   steps in a ball, from the clean image, at most; they end at an example
    growths      balls that are tried, each 1.5 times as large as the one before, until one has an example
    halvings     of the interval from 0 to that size, each towards its end without or with an example
    targeted     whether a given class is to be reached, instead of the true one to be left
    probability  what an example is, as in `judge.fooled`
    A move that leaves the ball is made shorter (in "Linf" cut), then cut to [0, 1]. With growths=1 and
    halvings=0 there is one ball: the first example in it is proposed.
    """
    norm: str = "Linf"
    epsilon: float | tuple[float, ...] = 0.3
    step: float = 0.05
    iterations: int = 10
    growths: int = 20
    halvings: int = 20
    targeted: bool = False
    probability: float = 0.5
    decay: ClassVar[float] = 0.0
    per_image: ClassVar = ("epsilon",)

    def __post_init__(self):
        if self.norm not in NORMS:
            raise UserError(f"unknown norm {self.norm!r}; allowed: {', '.join(NORMS)}")
        if self.iterations < 1 or self.growths < 1 or self.halvings < 0:
            given = f"iterations={self.iterations}, growths={self.growths}, halvings={self.halvings}"
            raise UserError(f"{given}: 1, 1 and 0 are the least")
        if not (self.step > 0 and all(0 < size < float("inf") for size in values(self.epsilon))
                and 0 <= self.probability < 1):
            given = f"epsilon={self.epsilon}, step={self.step}, probability={self.probability}"
            raise UserError(f"{given}: sizes above 0, and a probability from 0 and below 1, are needed")

    @property
    def threat(self):
        """The ball of no limited size: the search looks for the nearest example."""
        return NORMS[self.norm](targeted=self.targeted)

    def propose(self, model, x, goal, draw):
        """The nearest examples [N, C, H, W], NaN where none was met, and the passes of each image [N]."""
        nearest, passes = torch.full_like(x, torch.nan), torch.ones_like(goal)
        scores, slope, lost = scored(model, x, goal)
        there = fooled(scores, goal, targeted=self.targeted, probability=self.probability)
        nearest[there] = x[there]
        s = self._start(x, goal, slope)
        s.keep(~there)
        self._move(s, s.first)
        while len(s.at):
            scores, slope, no_gradient = scored(model, s.z, s.goal)
            lost[s.at] |= no_gradient
            over = fooled(scores, s.goal, targeted=self.targeted, probability=self.probability)
            length = self.threat.length(s.z - s.x)
            better = over & (length < s.nearest)
            s.nearest = torch.where(better, length, s.nearest)
            s.best = torch.where(per_image(better, s.z), s.z, s.best)
            s.t += 1
            s.passes += 1
            ended = over | (s.t == self.iterations)
            if ended.any():
                done = self._next_ball(s, ended, over)
                slope = torch.where(per_image(ended, slope), s.first, slope)
                nearest[s.at[done]], passes[s.at[done]] = s.best[done], s.passes[done]
                slope = slope[~done]
                s.keep(~done)
            self._move(s, slope)
        return nearest, passes, lost

    def _start(self, x, goal, slope):
        zero = torch.zeros_like(goal)
        nothing, epsilon = x.new_full(x.shape[:1], torch.inf), setting_of(self.epsilon, x)
        return State(at=torch.arange(len(x), device=x.device), goal=goal, x=x, z=x, first=slope,
                     history=torch.zeros_like(x), epsilon=epsilon, share=self.step / epsilon,
                     without=torch.zeros_like(epsilon), having=nothing, t=zero, tried=zero, passes=zero + 1,
                     nearest=nothing, best=torch.full_like(x, torch.nan))

    def _move(self, s, slope):
        """A step from the images z along slopes of the loss, back into the ball and into [0, 1]."""
        if self.decay:
            slope = s.history = self.decay * s.history + slope / self._size(slope, "L1")
        ascent = slope.sign() if self.norm == "Linf" else slope / self._size(slope, self.norm)
        length = per_image(s.share * s.epsilon, slope)
        moved = s.z - s.x + (-length if self.targeted else length) * ascent
        bound = per_image(s.epsilon, moved)
        if self.norm == "Linf":
            moved = moved.clamp(-bound, bound)
        else:
            moved = moved * (bound / self._size(moved, self.norm)).clamp(max=1)
        s.z = (s.x + moved).clamp(0, 1)

    def _next_ball(self, s, ended, over):
        """Where a ball's steps have ended: take the next size, go back to the clean image; which are done."""
        first = ended & over & s.having.isinf()
        s.without = torch.where(ended & ~over & s.having.isfinite(), s.epsilon, s.without)
        s.having = torch.where(ended & over, s.epsilon, s.having)
        halving = s.having.isfinite()
        size = torch.where(halving, (s.without + s.having) / 2, s.epsilon * GROWTH)
        s.epsilon = torch.where(ended, size, s.epsilon)
        s.tried = torch.where(first, 0, s.tried + ended)
        s.t *= ~ended
        s.z = torch.where(per_image(ended, s.z), s.x, s.z)
        s.history *= per_image(~ended, s.z)
        return ended & (s.tried == torch.where(halving, self.halvings, self.growths))

    @staticmethod
    def _size(move, norm):
        flat = move.flatten(1)
        size = flat.abs().mean(1) if norm == "L1" else flat.square().mean(1).sqrt()
        return per_image(size.clamp(min=TINY), move)


@dataclass(frozen=True)
class MomentumIterative(BasicIterative):
    """`BasicIterative` along a running sum of a ball's gradients, each over its mean absolute value.

    decay   what is left of the sum when a gradient is added to it
    """
    step: float = 0.06
    decay: float = 1.0
