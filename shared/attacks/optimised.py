"""Attacks by optimisation in tanh space: Carlini & Wagner's L2 and OptMargin, its ensemble form (`he`, 3.2).

The adversarial image z = 1/2 + tanh(w + delta)/2 minimises

    D + c * sum_i max(0, Z(z + v_i)_y - max_{j != y} Z(z + v_i)_j + kappa),    D = scale * |z - z_0|^2

over delta, starting at 0, with Z the logits and v_i the members' noise (Carlini & Wagner: one member, v = 0).
A binary search finds c. Where the paper gives no detail this follows the authors' code, which builds on that
of Carlini & Wagner: a tanh space slightly wider than [0, 1], TensorFlow's Adam, early stopping.

Each image advances through its searches independently, and leaves the batch after the last.
"""
from dataclasses import dataclass
from typing import ClassVar

import torch

from ..inference import Model, finite_gradients, gradient, memory_format, unusable
from ..runtime import UserError, seeded
from .directions import directions
from .judge import Attack, fooled, setting_of, values
from .threat import L2, per_image
from .trials import State

BETA, BETA_SQUARE, EPSILON = 0.9, 0.999, 1e-8   # Adam's, TensorFlow's defaults
LARGEST_C = 1e10                                # upper bound of c until a search succeeds
FIRST_LOSS = 1e6                                # the loss that the first check of a search compares with
FALL = 0.9999                                   # a search ends unless its loss falls below this share
STOPS = ("image", "batch", "never")


@dataclass(frozen=True)
class CarliniWagner(Attack):
    """Carlini & Wagner's L2 attack (2017) with binary search over c.

    rate        Adam's learning rate
    c           initial weight of the classification term; may be a tuple, see `Attack.per_image`
    searches    number of values of c (binary-search steps)
    iterations  largest number of Adam's steps for each
    confidence  kappa: success needs a larger difference of logits; may be a tuple
    scale       weight of the squared distance on [0, 1] pixels; the authors' OptMargin on MNIST has 1/255^2
    reach       half-width of tanh space, slightly more than 1/2: a pixel p is arctanh((p - 1/2)/reach) in it
    stop        whether a search ends if its loss has not fallen in a tenth of the iterations: "image", judged
                for each image; "batch", by the sum over a chunk as in the authors' code, so that results
                depend on the chunk; "never"
    probability None; else success is that of `judge.fooled`, regardless of confidence, as in Foolbox 2
    targeted    as in `Threat`
    """
    rate: float
    c: float | tuple[float, ...]
    searches: int = 4
    iterations: int = 1000
    confidence: float | tuple[float, ...] = 0.0
    scale: float = 1.0
    reach: float = 0.50001
    stop: str = "image"
    targeted: bool = False
    probability: float | None = None
    per_image: ClassVar[tuple[str, ...]] = ("c", "confidence")

    def __post_init__(self) -> None:
        if self.searches < 1 or self.iterations < 1:
            raise UserError(f"searches={self.searches}, iterations={self.iterations}: both start at 1")
        if not (self.rate > 0 and all(0 < c < LARGEST_C for c in values(self.c)) and self.scale > 0
                and all(kappa >= 0 for kappa in values(self.confidence))):
            given = f"rate={self.rate}, c={self.c}, scale={self.scale}, confidence={self.confidence}"
            raise UserError(f"{given}: above 0 is needed, c below {LARGEST_C:g}; confidence may be 0")
        if not 0.5 < self.reach <= 1:
            raise UserError(f"reach={self.reach}: above 0.5 is needed, or black and white lie at infinity")
        if not 0 <= (self.probability or 0) < 1:
            raise UserError(f"probability={self.probability}: from 0 and below 1 is needed, or None")
        if self.stop not in STOPS:
            raise UserError(f"unknown stop {self.stop!r}; allowed: {', '.join(STOPS)}")

    @property
    def threat(self) -> L2:
        """The L2 ball of infinite size: the attack minimises the norm."""
        return L2(targeted=self.targeted)

    def noises(self, shape: torch.Size, generator: torch.Generator | None) -> torch.Tensor:
        """Noise v_i [members, C, H, W] of the ensemble, on the CPU; here one member without noise."""
        return torch.zeros(1, *shape, dtype=torch.float32)

    def draw(self, x: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
        """The members' noise, the same for all images: float32 [1, members, C, H, W] on the CPU."""
        return self.noises(x.shape[1:], generator)[None]

    def propose(self, model: Model, x: torch.Tensor, goal: torch.Tensor,
                draw: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The nearest examples [N, C, H, W], NaN without success, and the passes of each image [N]."""
        nearest, passes = torch.full_like(x, torch.nan), torch.zeros_like(goal)
        noise, s, without = draw[0], self._start(x, goal), torch.zeros_like(goal, dtype=torch.bool)
        while len(s.at):
            tanh = torch.tanh(s.w + s.delta)
            z = (1 + tanh) / 2
            hinge, slope, over = self._ensemble(model, z, s.goal, noise, s.confidence)
            no_gradient = unusable(slope) & ~(hinge <= 0)     # or nan, beyond [0, 1]
            without[s.at] |= no_gradient
            slope = finite_gradients(slope) if no_gradient.any() else slope
            moved = z - s.origin
            distance = self.scale * moved.flatten(1).square().sum(1)
            better = over & (distance < s.nearest)
            s.nearest = torch.where(better, distance, s.nearest)
            s.best = torch.where(per_image(better, z), z, s.best)
            s.succeeded |= over
            s.passes += len(noise)

            stalled = self._stalled(s, distance + s.c * hinge)
            s.t += 1
            _adam(s, (2 * self.scale * moved + per_image(s.c, z) * slope) * (1 - tanh * tanh) / 2, self.rate)
            ended = stalled | (s.t == self.iterations)
            if ended.any():
                self._next_search(s, ended)
                done = s.search == self.searches
                nearest[s.at[done]], passes[s.at[done]] = s.best[done], s.passes[done]
                s.keep(~done)
        return nearest, passes, without

    def _start(self, x, goal):
        """The `State` before the first step, a row an image: `at` is its place in the batch.

        w, origin, delta    tanh-space point of the image, the image as w stands for it, and the change of w
        best, nearest       the nearest adversarial image so far, and its distance
        search, c, lower, upper     number of the binary-search step, its c, and the bounds on c
        t, last, succeeded  steps in this search, loss at the last check, whether it has an example
        mean, square        Adam's two moments
        """
        def same(value, dtype=torch.float32):
            return torch.full((len(x),), value, dtype=dtype, device=x.device)

        w = torch.atanh((x - 0.5) / self.reach)
        zero = torch.zeros_like
        return State(at=torch.arange(len(x), device=x.device), goal=goal, passes=zero(goal),
                      w=w, origin=(1 + torch.tanh(w)) / 2,
                      best=torch.full_like(x, torch.nan), nearest=same(torch.inf),
                      search=zero(goal), c=setting_of(self.c, x), lower=same(0.0), upper=same(LARGEST_C),
                      confidence=setting_of(self.confidence, x),
                      t=zero(goal), last=same(self._first_loss), succeeded=same(False, torch.bool),
                      delta=zero(w), mean=zero(w), square=zero(w))

    def _ensemble(self, model, z, goal, noise, confidence):
        """Sum [n] of the members' hinge terms at images z, its gradient, and which z fool all members."""
        over, order = None, memory_format(model)

        def hinges(images):
            nonlocal over
            copies = (images[:, None] + noise).flatten(0, 1).contiguous(memory_format=order)
            scores = model(copies).float()
            goals = goal.repeat_interleave(len(noise))[:, None]
            at_goal = scores.gather(1, goals).squeeze(1)
            other = scores.scatter(1, goals, -torch.inf).amax(1)
            margins = other - at_goal if self.targeted else at_goal - other
            margins = margins.view(len(images), -1) + confidence[:, None]
            over = margins < 0
            if self.probability is not None:
                over = fooled(scores, goals[:, 0], targeted=self.targeted, probability=self.probability)
            over = over.view(len(images), -1).all(1)
            return margins.clamp(min=0).sum(1)

        return *gradient(hinges, z), over

    @property
    def _first_loss(self):
        """The loss that the first check of a search compares with; the authors' constant is for a batch."""
        return FIRST_LOSS if self.stop == "batch" else torch.inf

    def _stalled(self, s, loss):
        """Which searches have not lowered the loss since the last check, a tenth of the iterations ago."""
        if self.stop == "never":
            return torch.zeros_like(s.succeeded)
        if self.stop == "batch":
            loss = loss.sum().expand_as(loss)
        check = s.t % max(1, self.iterations // 10) == 0
        stalled = check & (loss > FALL * s.last)
        s.last = torch.where(check, loss, s.last)
        return stalled

    def _next_search(self, s, ended):
        """Where a search has ended: tighten the bounds on c, take the next c, restart from delta = 0."""
        s.upper = torch.where(ended & s.succeeded, torch.minimum(s.upper, s.c), s.upper)
        s.lower = torch.where(ended & ~s.succeeded, torch.maximum(s.lower, s.c), s.lower)
        bounded = s.upper < LARGEST_C
        s.c = torch.where(ended, torch.where(bounded, (s.lower + s.upper) / 2, 10 * s.c), s.c)
        s.search += ended
        s.succeeded &= ~ended
        s.t *= ~ended
        s.last[ended] = self._first_loss
        for moment in (s.delta, s.mean, s.square):
            moment[ended] = 0


@dataclass(frozen=True)
class OptMargin(CarliniWagner):
    """Carlini & Wagner's attack on an ensemble: the image without and with members - 1 noises (`he`, 3.2).

    noise    RMS of each noise in [0, 1] units: 0.3 for MNIST, else 8/255
    members  size of the ensemble. The noises are orthogonal, drawn once a call, and the same for all images;
             noisy images are not clipped. An example is an image that all members misclassify.
    """
    noise: float = 0.3
    members: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.members < 1 or not self.noise > 0:
            raise UserError(f"members={self.members}, noise={self.noise}: at least 1 member and an RMS above "
                            "0 are needed")

    @property
    def copies(self) -> int:
        """Forward passes of one step of one image: one a member."""
        return self.members

    def noises(self, shape: torch.Size, generator: torch.Generator | None) -> torch.Tensor:
        """Float32 [members, C, H, W] on the CPU: orthogonal, of RMS `noise`, the last zero."""
        rows = self.noise * directions(shape.numel(), self.members, generator=seeded(generator, "OptMargin"))
        rows[-1] = 0    # as in the authors' code, which replaces the last of the orthogonal columns
        return rows.view(-1, *shape)


def _adam(s, gradient, rate):
    """A step of Adam as in TensorFlow: epsilon is added to the uncorrected root."""
    t = s.t.double()
    rate = rate * (1 - BETA_SQUARE**t).sqrt() / (1 - BETA**t)
    s.mean.lerp_(gradient, 1 - BETA)
    s.square.lerp_(gradient.square(), 1 - BETA_SQUARE)
    s.delta -= per_image(rate.float(), gradient) * s.mean / (s.square.sqrt() + EPSILON)
