"""Threat models: how far an attack may move an image, in which norm, and whether to a target class.

Images are float32 [N, C, H, W] in [0, 1]; sizes are on that scale (8/255 for a printed 8).
"""
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import torch

from ..runtime import UserError


@dataclass(frozen=True)
class Threat(ABC):
    """A ball around the clean image; its norm is the subclass, `Linf`, `L1` or `L2`.

    size      radius of the ball (epsilon); infinite: any distance
    targeted  whether an attack succeeds with a given class only, instead of with any wrong one
    """
    size: float = math.inf
    targeted: bool = False
    norm: ClassVar[str]

    def __post_init__(self) -> None:
        if not (isinstance(self.size, Real) and self.size > 0):
            raise UserError(f"{self.norm} threat of size {self.size!r}: a number above 0 is needed, on the "
                            "scale of pixels in [0, 1]")

    def distance(self, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        """Distance [N] between images x and z in the norm."""
        return self.length(z - x)

    @abstractmethod
    def length(self, delta: torch.Tensor) -> torch.Tensor:
        """Norm [N] of each perturbation [N, C, H, W], on the scale of pixels in [0, 1]."""

    @abstractmethod
    def project(self, z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The projection of z onto the ball around x, both [N, C, H, W]."""

    @abstractmethod
    def steepest(self, gradient: torch.Tensor) -> torch.Tensor:
        """The perturbation of norm 1 that increases a function of this gradient [N, C, H, W] most."""

    @abstractmethod
    def random(self, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Perturbations uniform in the ball, float32 on the CPU, of the shape of `like` [N, C, H, W]."""


def checked(threat: object, bounded: bool = True) -> Threat:
    """The threat. Raises UserError where it is no Threat, or is infinite although `bounded` is needed."""
    if not isinstance(threat, Threat):
        raise UserError(f"threat={threat!r}; one such as Linf(8/255) is needed")
    if bounded and threat.size == math.inf:
        raise UserError(f"{threat.norm} threat of infinite size; a bound is needed, such as Linf(8/255)")
    return threat


class Linf(Threat):
    """No value changes by more than `size`, which is at most 1: pixels lie in [0, 1]."""
    norm = "Linf"

    def __post_init__(self) -> None:
        super().__post_init__()
        if 1 < self.size < math.inf:
            raise UserError(f"{self.norm} threat of size {self.size:g}: at most 1 is needed, since pixels "
                            f"lie in [0, 1]; write Linf({self.size:g} / 255) for {self.size:g} of 255")

    def length(self, delta: torch.Tensor) -> torch.Tensor:
        """Largest absolute value of each perturbation [N, C, H, W]: [N]."""
        return delta.flatten(1).abs().amax(1)

    def project(self, z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The projection of z onto the ball around x."""
        return x + (z - x).clamp(-self.size, self.size)

    def steepest(self, gradient: torch.Tensor) -> torch.Tensor:
        """The perturbation of norm 1 that increases a function of this gradient most: its signs."""
        return gradient.sign()

    def random(self, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Perturbations uniform in the ball, float32 on the CPU, of the shape of `like` [N, C, H, W]."""
        return (2 * torch.rand(like.shape, generator=generator, dtype=torch.float32) - 1) * self.size


class L1(Threat):
    """The sum of absolute changes, over pixels and channels, is at most `size`."""
    norm = "L1"

    def length(self, delta: torch.Tensor) -> torch.Tensor:
        """Sum of the absolute values of each perturbation [N, C, H, W]: [N]."""
        return delta.flatten(1).abs().sum(1)

    def project(self, z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The projection of z onto the ball around x: one amount is subtracted from all absolute changes."""
        delta = z - x
        sizes = delta.flatten(1).abs().sort(1, descending=True).values
        excess = (sizes.cumsum(1) - self.size) / torch.arange(1, sizes.shape[1] + 1, device=z.device)
        less = per_image(excess.amax(1).clamp(min=0), delta)
        return x + delta.sign() * (delta.abs() - less).clamp(min=0)

    def steepest(self, gradient: torch.Tensor) -> torch.Tensor:
        """The perturbation of norm 1 that increases a function of this gradient most: in one value."""
        flat = gradient.flatten(1)
        most = flat.abs().argmax(1, keepdim=True)
        return torch.zeros_like(flat).scatter(1, most, flat.gather(1, most).sign()).view(gradient.shape)

    def random(self, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Perturbations uniform in the ball, float32 on the CPU, of the shape of `like` [N, C, H, W]."""
        shares = torch.empty(len(like), like.shape[1:].numel() + 1, dtype=torch.float32)
        shares.exponential_(generator=generator)
        shares = (shares / shares.sum(1, keepdim=True))[:, :-1].view(like.shape)
        sides = torch.randint(2, like.shape, generator=generator).to(torch.float32) * 2 - 1
        return self.size * sides * shares


class L2(Threat):
    """The Euclidean norm of the perturbation, over all pixels and channels, is at most `size`."""
    norm = "L2"

    def length(self, delta: torch.Tensor) -> torch.Tensor:
        """Euclidean norm of each perturbation [N, C, H, W]: [N]."""
        return delta.flatten(1).norm(dim=1)

    def project(self, z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The projection of z onto the ball around x."""
        delta = z - x
        return x + delta * per_image((self.size / self.length(delta)).clamp(max=1), delta)

    def steepest(self, gradient: torch.Tensor) -> torch.Tensor:
        """The perturbation of norm 1 that increases a function of this gradient most: its direction."""
        largest = per_image(gradient.flatten(1).abs().amax(1), gradient)
        # The squares of tiny values may be 0.
        scaled = torch.where((largest > 0) & (largest < 1e-6), gradient / largest, gradient)
        return scaled / per_image(scaled.flatten(1).norm(dim=1).clamp(min=1e-12), scaled)

    def random(self, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Perturbations uniform in the ball, float32 on the CPU, of the shape of `like` [N, C, H, W]."""
        direction = self.steepest(torch.randn(like.shape, generator=generator, dtype=torch.float32))
        share = torch.rand(len(like), generator=generator, dtype=torch.float32)
        radius = self.size * share ** (1 / like.shape[1:].numel())
        return direction * per_image(radius, direction)


def rms(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Root mean square difference [N] of images x and z over pixels and channels (`he`, Section 3.3)."""
    return (z - x).flatten(1).square().mean(1).sqrt()


def per_image(values: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    """Values [N] in the shape [N, 1, 1, 1], which broadcasts over images [N, C, H, W]."""
    return values.view(-1, *[1] * (images.ndim - 1))
