"""A random search over squares of pixels, for models without usable gradients."""
from dataclasses import dataclass
from numbers import Integral

import torch

from ..inference import Model, label_margins
from ..runtime import UserError, seeded
from .judge import Attack
from .threat import Threat, checked

SHARE = 0.8     # of the image's pixels, which the first square covers
HALVED = 10, 50, 200, 500, 1000, 2000, 4000, 6000, 8000     # of 10,000 queries: the share halves


@dataclass(frozen=True)
class SquareSearch(Attack):
    """Random changes of squares of pixels, each kept if it lowers the margin.

    In L-infinity the Square Attack (Andriushchenko et al. 2020, Algorithms 1 and 2, with their schedule). In
    other norms the change of a pixel is that of a constant perturbation of the threat's size, and the sum of
    all changes is projected onto the ball.

    queries  largest number of forward passes of an image, which ends when its class has changed
    """
    threat: Threat
    queries: int = 300

    def __post_init__(self) -> None:
        checked(self.threat)
        if not isinstance(self.queries, Integral) or self.queries < 1:
            raise UserError(f"SquareSearch with queries={self.queries!r}: a whole number from 1 is needed")

    def draw(self, x: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
        """Uniform numbers, float32 [N, C W + (queries - 1)(2 + C)] on the CPU: stripes, then squares."""
        generator, (channels, _, width) = seeded(generator, "SquareSearch"), x.shape[1:]
        count = channels * width + (self.queries - 1) * (2 + channels)
        return torch.rand(len(x), count, generator=generator, dtype=torch.float32)

    def propose(self, model: Model, x: torch.Tensor, goal: torch.Tensor,
                draw: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The images of smallest margin [N, C, H, W] and the passes [N]."""
        (n, channels, height, width), side = x.shape, -1 if self.threat.targeted else 1
        step = 2 * self.threat.size / float(self.threat.length(torch.ones_like(x[:1])))
        stripes, squares = draw.split([channels * width, draw.shape[1] - channels * width], 1)
        squares = squares.view(n, self.queries - 1, 2 + channels)

        def margins(z, rows):
            with torch.no_grad():
                return side * label_margins(model(z).float(), goal[rows])

        def moved(z, rows, signs):
            return self.threat.project(z + step * signs, x[rows]).clamp(0, 1)

        rows = torch.arange(n, device=x.device)
        z = moved(x, rows, (2 * stripes.round() - 1).view(n, channels, 1, width))
        best, passes = margins(z, rows), torch.ones_like(goal)
        for query in range(1, self.queries):
            rows = rows[best[rows] >= 0]
            if not len(rows):
                break
            share = SHARE / 2 ** sum(query > start * self.queries / 10_000 for start in HALVED)
            length = min(height, width, max(1, round((share * height * width) ** 0.5)))
            places, signs = squares[rows, query - 1, :2], 2 * squares[rows, query - 1, 2:].round() - 1
            down, across = (_line(size, length, place) for size, place in zip((height, width), places.T))
            square = down[:, None, :, None] & across[:, None, None, :]
            tried = moved(z[rows], rows, square * signs[:, :, None, None])
            margin = margins(tried, rows)
            better = margin < best[rows]
            z[rows[better]], best[rows[better]] = tried[better], margin[better]
            passes[rows] += 1
        return z, passes


def _line(size, length, places):
    """Which of `size` pixels lie on a line of `length`, bool [n, size], at places [n] in [0, 1)."""
    first = (places * (size - length + 1)).long()[:, None]
    at = torch.arange(size, device=places.device)
    return (at >= first) & (at < first + length)
