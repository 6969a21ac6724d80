"""Region classification (Cao & Gong 2017): the majority class in a hypercube around an image (`he`, 3.1)."""
from dataclasses import dataclass

import torch

from .. import runtime
from ..inference import Generator, Model, check_images, checked_logits, classes, frozen, logits
from ..runtime import UserError


@dataclass(frozen=True)
class Region:
    """`region(model, x, generator=...)` -> classes int64 [N], of equal counts the lowest.

    radius   half the side of the hypercube, in [0, 1] units: 0.3 for MNIST, else 0.02
    samples  images drawn uniformly from it and clipped to [0, 1], without the image itself
    """
    radius: float
    samples: int = 100

    def __post_init__(self) -> None:
        if self.samples < 1 or not self.radius > 0:
            raise UserError(f"region of radius={self.radius} with samples={self.samples}: a radius above 0 "
                            "and at least 1 sample are needed")

    @property
    def expected_rms(self) -> float:
        """Expected RMS distance of a sample before clipping: the black line of `he`, Figures 1, 2 and 9."""
        return self.radius / 3**0.5

    def __call__(self, model: Model, x: torch.Tensor, *, generator: Generator,
                 chunk: int | None = None) -> torch.Tensor:
        """Classes int64 [N] of float32 images x [N, C, H, W], on their device; `chunk` images at a time.

        Raises UserError for images or a model that `shared.inference` does not allow.
        """
        return self.votes(model, x, generator=generator, chunk=chunk).argmax(1)

    def votes(self, model: Model, x: torch.Tensor, *, generator: Generator,
              chunk: int | None = None) -> torch.Tensor:
        """Number of samples in each class, int64 [N, classes]. Arguments and errors as in `__call__`."""
        x, generator = check_images(x), runtime.seeded(generator, "Region")

        def count(images, moves):
            cloud = (images[:, None] + self.radius * moves.to(x.device)).clamp(0, 1).flatten(0, 1)
            assigned = classes(logits(model, cloud)).view(len(images), self.samples)
            return torch.nn.functional.one_hot(assigned, number).sum(1)

        with frozen(model):
            number = checked_logits(model, x, chunk=chunk).shape[1]
            size = chunk or runtime.chunk_size(x[0].numel() * 4 * 4 * self.samples, x.device) if len(x) else 1
            parts = []
            for images in x.split(size):    # drawn outside `chunked`, which may call `count` again
                moves = 2 * torch.rand(len(images), self.samples, *x.shape[1:], generator=generator,
                                       dtype=torch.float32) - 1
                parts.append(runtime.chunked(count, images, moves, chunk=size))
            return torch.cat(parts)
