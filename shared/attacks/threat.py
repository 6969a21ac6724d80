"""What an attacker may do to an image: move it by so much in a norm, to leave its class or to reach another.

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
    """How far an image may be moved in a norm; the norm is the subclass, `Linf`, `L1` or `L2`.

    size      radius of the ball around the clean image; infinite: any distance
    targeted  whether a given class is to be reached, instead of the true one to be left
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
        """Length [N] of each move [N, C, H, W] in the norm, on the scale of pixels in [0, 1]."""

    @abstractmethod
    def project(self, z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The point of the ball around x next to z, both [N, C, H, W]."""

    @abstractmethod
    def steepest(self, gradient: torch.Tensor) -> torch.Tensor:
        """The move of length 1 along which a function of this gradient [N, C, H, W] rises most."""

    @abstractmethod
    def random(self, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """A move drawn uniformly from the ball, float32 on the CPU, of the shape of `like` [N, C, H, W]."""


def checked(threat: object, bounded: bool = True) -> Threat:
    """The threat. Raises UserError where it is none, or is not `bounded` as it is to be."""
    if not isinstance(threat, Threat):
        raise UserError(f"threat={threat!r}; one such as Linf(8/255) is needed")
    if bounded and threat.size == math.inf:
        raise UserError(f"{threat.norm} threat of infinite size; a bound is needed, such as Linf(8/255)")
    return threat


class Linf(Threat):
    """No pixel moves by more than `size`, which is at most 1: pixels lie in [0, 1]."""
    norm = "Linf"

    def __post_init__(self) -> None:
        super().__post_init__()
        if 1 < self.size < math.inf:
            raise UserError(f"{self.norm} threat of size {self.size:g}: at most 1 is needed, since pixels "
                            f"lie in [0, 1]; write Linf({self.size:g} / 255) for {self.size:g} of 255")

    def length(self, delta: torch.Tensor) -> torch.Tensor:
        """Largest change of a value of each move [N, C, H, W], on the scale of pixels in [0, 1]: [N]."""
        return delta.flatten(1).abs().amax(1)

    def project(self, z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The point of the ball around x next to z."""
        return x + (z - x).clamp(-self.size, self.size)

    def steepest(self, gradient: torch.Tensor) -> torch.Tensor:
        """The move of length 1 along which a function of this gradient rises most: its signs."""
        return gradient.sign()

    def random(self, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """A move drawn uniformly from the ball, float32 on the CPU, of the shape of `like` [N, C, H, W]."""
        return (2 * torch.rand(like.shape, generator=generator, dtype=torch.float32) - 1) * self.size


class L1(Threat):
    """The sum of all changes, over pixels and channels, is at most `size`."""
    norm = "L1"

    def length(self, delta: torch.Tensor) -> torch.Tensor:
        """Sum of the absolute values of each move [N, C, H, W], on the scale of pixels in [0, 1]: [N]."""
        return delta.flatten(1).abs().sum(1)

    def project(self, z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The point of the ball around x next to z: all changes are less by one amount, none below 0."""
        delta = z - x
        sizes = delta.flatten(1).abs().sort(1, descending=True).values
        excess = (sizes.cumsum(1) - self.size) / torch.arange(1, sizes.shape[1] + 1, device=z.device)
        less = per_image(excess.amax(1).clamp(min=0), delta)
        return x + delta.sign() * (delta.abs() - less).clamp(min=0)

    def steepest(self, gradient: torch.Tensor) -> torch.Tensor:
        """The move of length 1 along which a function of this gradient rises most: in one value alone."""
        flat = gradient.flatten(1)
        most = flat.abs().argmax(1, keepdim=True)
        return torch.zeros_like(flat).scatter(1, most, flat.gather(1, most).sign()).view(gradient.shape)

    def random(self, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """A move drawn uniformly from the ball, float32 on the CPU, of the shape of `like` [N, C, H, W]."""
        shares = torch.empty(len(like), like[0].numel() + 1, dtype=torch.float32)
        shares.exponential_(generator=generator)
        shares = (shares / shares.sum(1, keepdim=True))[:, :-1].view(like.shape)
        sides = torch.randint(2, like.shape, generator=generator).to(torch.float32) * 2 - 1
        return self.size * sides * shares


class L2(Threat):
    """The Euclidean length of the move, over all pixels and channels, is at most `size`."""
    norm = "L2"

    def length(self, delta: torch.Tensor) -> torch.Tensor:
        """Euclidean length of each move [N, C, H, W], on the scale of pixels in [0, 1]: [N]."""
        return delta.flatten(1).norm(dim=1)

    def project(self, z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The point of the ball around x next to z."""
        delta = z - x
        return x + delta * per_image((self.size / self.length(delta)).clamp(max=1), delta)

    def steepest(self, gradient: torch.Tensor) -> torch.Tensor:
        """The move of length 1 along which a function of this gradient rises most: its direction."""
        return _unit(gradient)

    def random(self, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """A move drawn uniformly from the ball, float32 on the CPU, of the shape of `like` [N, C, H, W]."""
        direction = self.steepest(torch.randn(like.shape, generator=generator, dtype=torch.float32))
        share = torch.rand(len(like), generator=generator, dtype=torch.float32)
        radius = self.size * share ** (1 / like.shape[1:].numel())
        return direction * per_image(radius, direction)


def _unit(moves):
    """Moves [N, C, H, W] of Euclidean length 1 in the same directions; 0 where they are 0."""
    most = per_image(moves.flatten(1).abs().amax(1), moves)
    moves = torch.where((most > 0) & (most < 1e-6), moves / most, moves)    # squares of less may be 0
    return moves / per_image(moves.flatten(1).norm(dim=1).clamp(min=1e-12), moves)


def rms(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Root mean square difference [N] of images x and z over all pixels and channels (`he`, Section 3.3)."""
    return (z - x).flatten(1).square().mean(1).sqrt()


def per_image(values: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    """Values [N] in a shape [N, 1, 1, 1] that combines with images [N, C, H, W]."""
    return values.view(-1, *[1] * (images.ndim - 1))
