"""Noise while training (`sutton`, Section 7.1.4): hooks of `shared.training`, and balls as large as cubes."""
import math
from dataclasses import dataclass

import torch

from shared.attacks.noise import uniform_ball


@dataclass(frozen=True)
class CubeNoise:
    """Training hook: adds noise drawn anew from the cube [-half_width, half_width]^n to every image."""
    half_width: float

    def __call__(self, net, images, labels, generator):
        """Noisy images of `images` [B, C, H, W]; they may leave [0, 1], as with the paper's noise layer."""
        noise = torch.rand(images.shape, generator=generator, dtype=torch.float32).mul_(2).sub_(1)
        return images + noise.mul_(self.half_width).to(images.device)


@dataclass(frozen=True)
class BallNoise:
    """Training hook: adds noise drawn anew from the ball of this Euclidean radius to every image."""
    radius: float

    def __call__(self, net, images, labels, generator):
        """Noisy images of `images` [B, C, H, W]; they may leave [0, 1]."""
        noise = uniform_ball(len(images), images.shape[1:], generator).mul_(self.radius)
        return images + noise.to(images.device)


def matching_radius(half_width, dimension):
    """Radius a sqrt(n / 3) of the L2 ball whose uniform noise is about as long as in an L-infinity ball.

    half_width   the latter's radius a (Section 7.1.4)
    """
    return half_width * math.sqrt(dimension / 3)
