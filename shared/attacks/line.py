"""The attack of `sutton`, Section 7.1.2: the shortest step along a gradient that changes the class."""
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
from .threat import L2, per_image
from .trials import Decide, first_flips, reaches

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]     # of logits [N, K] and labels [N]: [N]


def squared_error(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Loss of each image, float32 [N]: squared distance of the probabilities from the one-hot label.

    One logit: (sigmoid - label)^2, in float32 as in TensorFlow by default: for a logit above about 17 the
    sigmoid is exactly 1 and the gradient exactly 0. Several: softmax.
    """
    if scores.shape[1] == 1:
        return (scores[:, 0].sigmoid() - labels) ** 2
    return ((scores.softmax(1) - F.one_hot(labels, scores.shape[1])) ** 2).sum(1)


def lost_margin(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Minus the margin, float32 [N]. For one logit its gradient has the direction of the squared error's
    without saturation; for several it points to the second-largest logit.
    """
    return -label_margins(scores, labels)


def gradients(model: Model, images: torch.Tensor, labels: torch.Tensor,
              objective: Loss) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradient [N, C, H, W] of `objective(logits, labels)` at each image, and the logits [N, K].

    Both are on the device of the images. The model's mode and its parameters' gradients are left unchanged.
    """
    inference.check_tensors(images=images, labels=labels)
    device, order = device_of(model, images), memory_format(model)
    if not len(images):
        return images, images.new_zeros(0, 1)

    def gradient(x, y):
        x = x.detach().to(device, memory_format=order).requires_grad_()
        scores = differentiable(model, x)
        inference.refuse_probabilities(scores.detach())
        inference.check_classes(y, max(2, scores.shape[1]))
        slope, = torch.autograd.grad(objective(scores, y.to(device)).sum(), x)
        return torch.cat([slope.flatten(1), scores.detach()], 1).to(images.device)

    with inference.gradients_enabled(), frozen(model):
        both = runtime.chunked(gradient, images, labels, chunk=inference.chunk_for(model, images, 2))
    size = images.shape[1:].numel()
    return both[:, :size].view(images.shape), both[:, size:]


def unit(slopes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients [N, ...] scaled to Euclidean norm 1 and their norms float64 [N]; 0 where 0 or not finite.

    Norms are computed in float64: in float32 the square of 1e-25 is 0.
    """
    norms = slopes.flatten(1).double().norm(dim=1)
    usable = norms.isfinite() & (norms > 0)
    scale = per_image(torch.where(usable, 1 / norms, 0.0), slopes)
    return torch.nan_to_num(slopes.double() * scale, 0.0, 0.0, 0.0).float(), torch.where(usable, norms, 0.0)


class Steps(NamedTuple):
    """The shortest successful step on each of N images."""
    size: torch.Tensor        # float32 [N]: its Euclidean norm; 0 where no step flips the label
    success: torch.Tensor     # bool [N]: whether a step flips the label
    direction: torch.Tensor   # float32 [N, C, H, W]: its unit vector; 0 where the gradient is 0
    passes: int               # these four as in `Flips`
    needed: int
    rejudged: int
    overturned: int

    def norms(self) -> dict[str, torch.Tensor]:
        """`{"l1", "l2", "linf"}`: each float32 [N], 0 without success."""
        flat = self.direction.flatten(1).abs()
        return {"l1": self.size * flat.sum(1), "l2": self.size, "linf": self.size * flat.amax(1)}


def scalings(steps: int = 256, largest: float = 5.0) -> torch.Tensor:
    """`steps` equally spaced step sizes, 0 to `largest`, float32 (both inferred from Figures 11 and 12)."""
    return torch.linspace(0, largest, steps, dtype=torch.float32)


def smallest_steps(decide: Decide, images: torch.Tensor, labels: torch.Tensor, direction: torch.Tensor,
                   sizes: torch.Tensor, *, clip: bool = False) -> Steps:
    """The smallest of `sizes` at which image + size * direction is not classified as its label.

    decide     `decide(images, labels) -> Decision`, such as `Careful.flips`
    images     float32 [N, C, H, W], classified as their labels int64 [N]
    direction  [N, C, H, W], from `unit`; images whose direction is 0 are skipped
    sizes      float32 [S], increasing from 0; the first, the image itself, is not evaluated
    clip       whether images are clipped to [0, 1]; in the paper they are not
    """
    tried = direction.flatten(1).abs().amax(1).nonzero()[:, 0]

    def perturbed(rows, steps):
        rows = tried[rows.to(tried.device)]
        size = sizes[1 + steps].to(images.device)
        moved = images[rows] + per_image(size, images) * direction[rows]
        return moved.clamp(0, 1) if clip else moved

    flips = first_flips(decide, labels[tried], perturbed, len(sizes) - 1)
    flipped = torch.zeros(len(images), dtype=torch.bool, device=images.device)
    size = torch.zeros(len(images), dtype=torch.float32, device=images.device)
    done = (flips.first < len(sizes) - 1).to(images.device)
    flipped[tried] = done
    size[tried[done]] = sizes[1 + flips.first[done.cpu()]].to(images.device)
    return Steps(size, flipped, direction, *flips[2:])


LOSSES = {"squared": squared_error, "margin": lost_margin}


@dataclass(frozen=True)
class LineSearch(Attack):
    """The shortest successful step along the gradient, one backward pass an image.

    steps     number of step sizes, equally spaced from 0 (the image itself) to `largest`
    largest   Euclidean norm of the longest step, on the scale of pixels in [0, 1]
    loss      "squared" as in the paper, or "margin", whose gradient does not vanish
    targeted  as in `Threat`
    Images are clipped to [0, 1], unlike in the paper.
    """
    steps: int = 256
    largest: float = 5.0
    loss: str = "squared"
    targeted: bool = False

    def __post_init__(self) -> None:
        if self.steps < 2 or not 0 < self.largest < math.inf:
            raise UserError(f"LineSearch with steps={self.steps}, largest={self.largest}: at least 2 step "
                            "sizes (0 is the first) and a largest above 0 are needed")
        if self.loss not in LOSSES:
            raise UserError(f"unknown loss {self.loss!r}; allowed: {', '.join(LOSSES)}")

    @property
    def threat(self) -> L2:
        """The L2 ball of infinite size: the attack minimises the norm."""
        return L2(targeted=self.targeted)

    def propose(self, model: Model, x: torch.Tensor, goal: torch.Tensor,
                draw: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        """The nearest examples [N, C, H, W], NaN without success, and the passes of each image [N]."""
        own = model.model if isinstance(model, inference.AttackedModel) else model     # one logit stays one
        slopes, scores = gradients(own, x, goal, LOSSES[self.loss])
        already = (inference.classes(scores) == goal) == self.targeted
        direction, _ = unit(inference.finite_gradients(-slopes if self.targeted else slopes))
        direction[already] = 0
        decide = reaches(model, self.targeted)
        smallest = smallest_steps(decide, x, goal, direction, scalings(self.steps, self.largest), clip=True)
        first = (smallest.size / (self.largest / (self.steps - 1))).round().long()
        evaluated = direction.flatten(1).any(1) * (self.steps - 1)
        z = (x + per_image(smallest.size, x) * direction).clamp(0, 1)
        z = torch.where(per_image(already | smallest.success, x), z, torch.nan)
        return z, 1 + torch.where(smallest.success, first, evaluated), inference.unusable(slopes)
