"""The attack of `sutton`, Section 7.1.2: the smallest step along a gradient that changes the class."""
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.nn import functional as F

from .. import inference, runtime
from ..inference import Model, device_of, differentiable, frozen, label_margins, memory_format
from ..runtime import UserError
from .judge import Attack
from .search import Decide, first_flips, reaches
from .threat import L2

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]     # of logits [N, K] and labels [N]: [N]


def squared_error(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Loss of each image, float32 [N]: squared distance of the net's probabilities from the label's.

    One logit: (sigmoid - label)^2, in float32 as Tensorflow computes it by default: the sigmoid of a logit
    above about 17 is exactly 1, and the gradient of such an image exactly 0. Several: softmax, one-hot label.
    """
    if scores.shape[1] == 1:
        return (scores[:, 0].sigmoid() - labels) ** 2
    return ((scores.softmax(1) - F.one_hot(labels, scores.shape[1])) ** 2).sum(1)


def lost_margin(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Minus the margin, float32 [N]. Of one logit, its gradient has the squared error's direction, without
    saturation; of several, it points to the runner-up.
    """
    return -label_margins(scores, labels)


def gradients(model: Model, images: torch.Tensor, labels: torch.Tensor,
              objective: Loss) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradient [N, C, H, W] of `objective(logits, labels)` at each image, and the logits [N, K], K from 1 on.

    Both are on the device of the images. The model's mode and its parameters' gradients stay as they were.
    """
    inference.check_tensors(images=images, labels=labels)
    device, order = device_of(model, images), memory_format(model)
    if not len(images):
        return images, images.new_zeros(0, 1)

    def gradient(x, y):
        x = x.detach().to(device, memory_format=order).requires_grad_()
        scores = differentiable(model, x)
        inference.check_squashed(scores.detach())
        inference.check_classes(y, max(2, scores.shape[1]))
        slope, = torch.autograd.grad(objective(scores, y.to(device)).sum(), x)
        return torch.cat([slope.flatten(1), scores.detach()], 1).to(images.device)

    with inference.gradients_kept(), frozen(model):
        both = runtime.chunked(gradient, images, labels,
                               chunk=runtime.chunk_size(max(1, images[:1].numel()) * 4 * 128, device))
    size = images.shape[1:].numel()
    return both[:, :size].view(images.shape), both[:, size:]


def unit(slopes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients [N, ...] scaled to Euclidean norm 1 and their norms float64 [N]; 0 where 0 or not finite.

    Norms are taken in float64: in float32 the square of a small number, 1e-25, is 0.
    """
    norms = slopes.flatten(1).double().norm(dim=1)
    usable = norms.isfinite() & (norms > 0)
    scale = torch.where(usable, 1 / norms, 0.0).view(-1, *[1] * (slopes.ndim - 1))
    return torch.nan_to_num(slopes.double() * scale, 0.0, 0.0, 0.0).float(), torch.where(usable, norms, 0.0)


class Steps(NamedTuple):
    """The smallest step found on each of N images."""
    size: torch.Tensor        # float32 [N]: its Euclidean norm; 0 where none flips or none was tried
    success: torch.Tensor     # bool [N]: whether a step flips the label
    direction: torch.Tensor   # float32 [N, C, H, W]: its unit vector; 0 where the gradient is
    passes: int               # images classified, and of them ...
    needed: int               # ... the passes of a loop that stops at the smallest scaling
    rejudged: int
    overturned: int

    def norms(self) -> dict[str, torch.Tensor]:
        """`{"l1", "l2", "linf"}`: each float32 [N], 0 where no attack was found."""
        flat = self.direction.flatten(1).abs()
        return {"l1": self.size * flat.sum(1), "l2": self.size, "linf": self.size * flat.amax(1)}


def scalings(count: int = 256, largest: float = 5.0) -> torch.Tensor:
    """`count` equally spaced sizes from 0 to `largest`, float32 (both inferred from Figures 11 and 12)."""
    return torch.linspace(0, largest, count, dtype=torch.float32)


def smallest_steps(decide: Decide, images: torch.Tensor, labels: torch.Tensor, direction: torch.Tensor,
                   sizes: torch.Tensor, *, clip: bool = False) -> Steps:
    """The smallest of `sizes` at which image + size * direction gets another class than its label.

    decide     `decide(images, labels) -> Decision`, such as `Careful.flips`
    images     float32 [N, C, H, W] that the model classifies as labels int64 [N]
    direction  [N, C, H, W], from `unit`; where it is 0 no attack is tried
    sizes      float32 [S], increasing, beginning with 0, which is not tried: the image itself
    clip       whether images are cut to [0, 1]; in the paper they are not
    """
    tried = direction.flatten(1).abs().amax(1).nonzero()[:, 0]

    def perturbed(rows, steps):
        rows = tried[rows.to(tried.device)]
        size = sizes[1 + steps].to(images.device).view(-1, *[1] * (images.ndim - 1))
        moved = images[rows] + size * direction[rows]
        return moved.clamp(0, 1) if clip else moved

    flips = first_flips(decide, labels[tried], perturbed, len(sizes) - 1)
    flipped = torch.zeros(len(images), dtype=torch.bool, device=images.device)
    size = torch.zeros(len(images), dtype=torch.float32, device=images.device)
    done = (flips.first < len(sizes) - 1).to(images.device)
    flipped[tried] = done
    size[tried[done]] = sizes[1 + flips.first[done.cpu()]].to(images.device)
    return Steps(size, flipped, direction, flips.passes, flips.needed, flips.rejudged, flips.overturned)


LOSSES = {"squared": squared_error, "margin": lost_margin}


@dataclass(frozen=True)
class LineSearch(Attack):
    """The first of `count` equal steps, 0 (the image itself) to `largest`, along the gradient that succeeds.

    loss      "squared" as in the paper, or "margin", whose gradient does not vanish
    largest   longest step, Euclidean, on the scale of pixels in [0, 1]
    targeted  whether a given class is to be reached, instead of the true one to be left
    Images are cut to [0, 1], unlike in the paper. One gradient an image, then forward passes alone.
    """
    count: int = 256
    largest: float = 5.0
    loss: str = "squared"
    targeted: bool = False

    def __post_init__(self) -> None:
        if self.count < 2 or not 0 < self.largest < math.inf:
            raise UserError(f"LineSearch with count={self.count}, largest={self.largest}: at least 2 sizes "
                            "(0 is the first) and a largest above 0 are needed")
        if self.loss not in LOSSES:
            raise UserError(f"unknown loss {self.loss!r}; allowed: {', '.join(LOSSES)}")

    @property
    def threat(self) -> L2:
        """The L2 ball of no limited size: the search looks for the nearest example on the line."""
        return L2(targeted=self.targeted)

    def propose(self, model: Model, x: torch.Tensor, goal: torch.Tensor,
                draw: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        """The nearest examples [N, C, H, W], NaN where none was found, and the passes of each image [N]."""
        own = model.model if isinstance(model, inference.Classifier) else model     # one logit stays one
        slopes, scores = gradients(own, x, goal, LOSSES[self.loss])
        there, lost = (inference.classes(scores) == goal) == self.targeted, inference.unusable(slopes)
        direction, _ = unit(inference.mended(-slopes if self.targeted else slopes))
        direction[there] = 0
        decide = reaches(model, self.targeted)
        smallest = smallest_steps(decide, x, goal, direction, scalings(self.count, self.largest), clip=True)
        steps = (smallest.size / (self.largest / (self.count - 1))).round().long()
        tried = direction.flatten(1).any(1) * (self.count - 1)
        z = (x + smallest.size.view(-1, 1, 1, 1) * direction).clamp(0, 1)
        z = torch.where((there | smallest.success).view(-1, 1, 1, 1), z, torch.nan)
        return z, 1 + torch.where(smallest.success, steps, tried), lost
