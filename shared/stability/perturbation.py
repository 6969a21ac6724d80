"""Random perturbations: on trained nets from a ball (Section 7.1.3), in training cube or ball (7.1.4)."""
import math
from dataclasses import dataclass
from typing import NamedTuple

import torch

from shared.stability.judge import first_flips


def uniform_ball(count, shape, generator):
    """`count` points of the uniform law on the unit ball of all tensors of `shape`: float32 [count, *shape].

    A normal vector over its norm, times the n-th root of a uniform number; drawn on the CPU.
    """
    points = torch.randn(count, math.prod(shape), generator=generator)
    radius = torch.rand(count, 1, generator=generator, dtype=torch.float64) ** (1 / points.shape[1])
    points *= radius.float() / points.norm(dim=1, keepdim=True)
    return points.view(count, *shape)


class Draws(NamedTuple):
    """The fixed set of perturbations that every image and every delta is tried with."""
    points: torch.Tensor   # float32 [draws, C, H, W] of the unit ball, by increasing Euclidean norm
    l1: torch.Tensor       # their norms, float32 [draws]
    l2: torch.Tensor
    linf: torch.Tensor


def draw(count, shape, generator, *, device="cpu"):
    """`count` draws from the unit ball, by increasing norm: the first to flip an image is its smallest."""
    points = uniform_ball(count, shape, generator)
    points = points[points.flatten(1).norm(dim=1).argsort()]
    flat = points.flatten(1)
    return Draws(points.to(device), flat.abs().sum(1), flat.norm(dim=1), flat.abs().amax(1))


def random_flips(judge, images, labels, sizes, draws, delta, *, exact=False):
    """`Flips` of the images [N, C, H, W] under image + delta * size * point, for each point of `draws`.

    sizes   float32 [N]: Euclidean norm of each image's smallest attack
    exact   count every flipping draw instead of stopping at the first
    """
    radius = (delta * sizes).to(images.device).view(-1, *[1] * (images.ndim - 1))

    def perturbed(rows, steps):
        rows, steps = rows.to(images.device), steps.to(images.device)
        return images[rows] + radius[rows] * draws.points[steps]

    return first_flips(judge, labels, perturbed, len(draws.points), exact=exact)


# ---- training with noise ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class CubeNoise:
    """Training hook: adds noise drawn anew from the cube [-half_width, half_width]^n to every image."""
    half_width: float

    def __call__(self, net, images, labels, generator):
        """Noisy images of `images` [B, C, H, W]; they may leave [0, 1], as with the paper's noise layer."""
        noise = torch.rand(images.shape, generator=generator).mul_(2).sub_(1).mul_(self.half_width)
        return images + noise.to(images.device)


@dataclass(frozen=True)
class BallNoise:
    """Training hook: adds noise drawn anew from the ball of this Euclidean radius to every image."""
    radius: float

    def __call__(self, net, images, labels, generator):
        """Noisy images of `images` [B, C, H, W]; they may leave [0, 1]."""
        noise = uniform_ball(len(images), images.shape[1:], generator).mul_(self.radius)
        return images + noise.to(images.device)


def matching_radius(half_width, dimension):
    """Radius b = a sqrt(n / 3) of the ball with noise as large as of the cube of half-width a (7.1.4)."""
    return half_width * math.sqrt(dimension / 3)
