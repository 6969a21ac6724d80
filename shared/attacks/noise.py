"""Random perturbations of trained models (`sutton`, Section 7.1.3), and an attack by them."""
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from ..inference import Generator, Model
from ..runtime import UserError, seeded
from .judge import Attack
from .threat import Threat, checked, per_image
from .trials import Decide, Flips, first_flips, reaches


def uniform_ball(count: int, shape: Sequence[int], generator: Generator) -> torch.Tensor:
    """`count` points uniform in the L2 unit ball of tensors of `shape`: float32 [count, *shape].

    A Gaussian vector over its norm, times the n-th root of a uniform number; drawn on the CPU.
    """
    generator = seeded(generator, "uniform_ball")
    points = torch.randn(count, math.prod(shape), generator=generator, dtype=torch.float32)
    radius = torch.rand(count, 1, generator=generator, dtype=torch.float64) ** (1 / points.shape[1])
    points *= radius.float() / points.norm(dim=1, keepdim=True)
    return points.view(count, *shape)


class Draws(NamedTuple):
    """A set of perturbations, the same for every image and every delta."""
    points: torch.Tensor   # float32 [draws, C, H, W] of the unit ball, by increasing Euclidean norm
    l1: torch.Tensor       # their norms, float32 [draws]
    l2: torch.Tensor
    linf: torch.Tensor


def draw(count: int, shape: Sequence[int], generator: Generator, *,
         device: torch.device | str = "cpu") -> Draws:
    """`count` draws from the unit ball, by increasing norm: the first that flips a label is the smallest."""
    points = uniform_ball(count, shape, generator)
    points = points[points.flatten(1).norm(dim=1).argsort()]
    flat = points.flatten(1)
    return Draws(points.to(device), flat.abs().sum(1), flat.norm(dim=1), flat.abs().amax(1))


def random_flips(decide: Decide, images: torch.Tensor, labels: torch.Tensor, sizes: torch.Tensor,
                 draws: Draws, delta: float, *, exact: bool = False, clip: bool = False) -> Flips:
    """`Flips` of the images [N, C, H, W] under image + delta * size * point, for each point of `draws`.

    sizes   float32 [N]: Euclidean norm of each image's smallest attack
    exact   evaluate all draws, instead of stopping at the first that flips the label
    clip    whether images are clipped to [0, 1]; in the paper they are not
    """
    radius = per_image((delta * sizes).to(images.device), images)

    def perturbed(rows, steps):
        rows, steps = rows.to(images.device), steps.to(images.device)
        moved = images[rows] + radius[rows] * draws.points[steps]
        return moved.clamp(0, 1) if clip else moved

    return first_flips(decide, labels, perturbed, len(draws.points), exact=exact)


@dataclass(frozen=True)
class RandomSearch(Attack):
    """The first of `draws` perturbations, uniform in the threat's ball, that changes the class.

    They are the same for all images of a call. A baseline: it needs no gradient and no search.
    """
    threat: Threat
    draws: int = 1000

    def __post_init__(self) -> None:
        checked(self.threat)
        if self.draws < 1:
            raise UserError(f"RandomSearch with draws={self.draws}: at least 1 is needed")

    def draw(self, x: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
        """The perturbations, float32 [1, draws, C, H, W] on the CPU."""
        like = x.new_empty(self.draws, *x.shape[1:], device="cpu")
        return self.threat.random(like, seeded(generator, "RandomSearch"))[None]

    def propose(self, model: Model, x: torch.Tensor, goal: torch.Tensor,
                draw: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The first successful images [N, C, H, W], NaN without success, and the passes [N]."""
        points = draw[0]

        def perturbed(rows, steps):
            return (x[rows.to(x.device)] + points[steps.to(x.device)]).clamp(0, 1)

        flips = first_flips(reaches(model, self.threat.targeted), goal, perturbed, self.draws)
        first = flips.first.to(x.device)
        flipped = first < self.draws
        z = (x + points[first.clamp(max=self.draws - 1)]).clamp(0, 1)
        return torch.where(per_image(flipped, z), z, torch.nan), (first + 1).clamp(max=self.draws)
