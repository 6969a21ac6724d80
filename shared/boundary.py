"""Distance of the decision boundary in many directions, and the classes beyond it (`he`, Section 4).

    dirs = directions(784, 784, negatives=True, generator=generator)
    result = survey(model, x, dirs, step=0.02, top=0.48)
    result.distance, result.adjacent, purity(result)

Along each direction the image is moved in steps, clipped to [0, 1] and classified, until the predicted
label differs from that of the image itself. All pairs of image and direction are evaluated together.
"""
from dataclasses import dataclass

import torch

from . import runtime
from .inference import Model, check_images, checked_logits, chunk_for, classes, frozen, logits
from .runtime import UserError

NEVER = -1            # adjacent class of a direction that reaches no other class
BEYOND = 1.0          # ... and its distance, the top of the pixel range, as in the authors' code
TOLERANCE = 1e-3      # by which directions may deviate from RMS 1 and orthogonality


@dataclass(frozen=True, eq=False)
class Survey:
    """First crossings for N images and K directions, on the device of the images.

    distance     float32 [N, K]: RMS distance of the first step in another class; 1 (BEYOND) if there is none
                 up to `top`, see `reached`
    adjacent     int64 [N, K]: that class; -1 (NEVER) where there is none
    reference    int64 [N]: predicted class of the image
    stretch      float32 [K]: L-inf norm of each direction, whose RMS is 1: converts RMS into L-inf distances
    step         distance of two neighbouring steps
    evaluations  images classified
    top          largest distance tried
    """
    distance: torch.Tensor
    adjacent: torch.Tensor
    reference: torch.Tensor
    stretch: torch.Tensor
    step: float
    evaluations: int
    top: float = BEYOND

    def __repr__(self) -> str:
        images, directions = self.distance.shape
        return (f"Survey({images} images in {directions} directions: {int(self.reached.sum())} of "
                f"{self.distance.numel()} reach another class up to {self.top:g})")

    @property
    def reached(self) -> torch.Tensor:
        """bool [N, K]: whether a direction reaches another class."""
        return self.adjacent != NEVER

    @property
    def nearest(self) -> torch.Tensor:
        """RMS distance of the nearest crossing of each image, float32 [N]; `top` if it is censored."""
        return torch.where(self.censored, self.top, self.distance.amin(1))

    @property
    def censored(self) -> torch.Tensor:
        """bool [N]: no direction reaches another class up to `top`, so that the distance is larger."""
        return ~self.reached.any(1)

    @property
    def linf(self) -> torch.Tensor:
        """The distances in the L-inf norm, float32 [N, K], before clipping; BEYOND if none is reached."""
        return torch.where(self.reached, self.distance * self.stretch, BEYOND)


def survey(model: Model, x: torch.Tensor, dirs: torch.Tensor, *, step: float, top: float,
           chunk: int | None = None) -> Survey:
    """Distance to the first other class from each image along each direction: a `Survey`.

    model   any callable as in `inference`
    x       float32 [N, C, H, W] in [0, 1]
    dirs    float32 [K, C*H*W], as `directions` returns them
    step    RMS distance between neighbouring steps; the paper's 0.02 on MNIST, the authors' code 0.01
    top     largest distance tried
    chunk   pairs at a time, default by memory
    Raises UserError for other images, directions or models.
    """
    x = check_images(x)
    dirs = _checked(dirs, x)
    grid = _grid(step, top).to(x.device)
    with frozen(model):
        reference = torch.zeros(0, dtype=torch.int64, device=x.device)
        if len(x):
            reference = checked_logits(model, x, chunk=chunk).argmax(1)
        distance = x.new_full((len(x) * len(dirs),), BEYOND)
        adjacent = torch.full_like(distance, NEVER, dtype=torch.int64)
        active = torch.arange(len(distance), device=x.device)      # pairs, as image * K + direction
        evaluations = len(x)
        for magnitude in grid:
            if not len(active):
                break
            image = active // len(dirs)
            predicted = _classes(model, x, dirs, image, active % len(dirs), magnitude, chunk)
            evaluations += len(active)
            crossed = predicted != reference[image]
            distance[active[crossed]], adjacent[active[crossed]] = magnitude, predicted[crossed]
            active = active[~crossed]
    distance, adjacent = (per_pair.view(len(x), len(dirs)) for per_pair in (distance, adjacent))
    last = step * len(grid)         # less than `top` if that is no multiple of the step
    return Survey(distance=distance, adjacent=adjacent, reference=reference, stretch=dirs.abs().amax(1),
                  step=step, evaluations=evaluations, top=last if last < top - 1e-9 else float(top))


def purity(around: Survey, top: int | None = None) -> torch.Tensor:
    """Share [N, top] of directions whose adjacent class is among the k most frequent ones, k = 1..top.

    Shares are of the directions that reach another class, as in the authors' code; 0 of none. `he`, Section
    4.2, Figure 3; the boundary classifier uses the first three. top None: the largest class reached.
    """
    classes = int(around.adjacent.max()) + 1 if around.adjacent.numel() else 0
    top = top or max(1, classes - 1)
    counts = around.distance.new_zeros(len(around.adjacent), max(top, classes) + 1)
    counts.scatter_add_(1, around.adjacent + 1, torch.ones_like(around.distance))
    shares = counts[:, 1:].sort(1, descending=True).values.cumsum(1)
    return (shares / around.reached.sum(1, keepdim=True).clamp(min=1))[:, :top]


def _classes(model, x, dirs, image, direction, distance, chunk):
    """Predicted classes int64 [P] at `distance` from images x[image] along dirs[direction]."""
    def classify(image, direction):
        points = (x[image] + (distance * dirs[direction]).view(-1, *x.shape[1:])).clamp_(0, 1)
        return classes(logits(model, points, chunk=len(points)))

    return runtime.chunked(classify, image, direction, chunk=chunk or chunk_for(model, x))


def _grid(step, top):
    """The distances to try, float32: multiples of `step` up to `top`."""
    if not 0 < step <= top <= 1:
        raise UserError(f"step={step}, top={top}: 0 < step <= top <= 1 is needed, on pixels in [0, 1]")
    return (torch.arange(1, int(top / step + 1e-6) + 1, dtype=torch.float64) * step).float()


def _checked(dirs, x):
    """The directions on the images' device. Raises UserError unless of RMS 1 and orthogonal or opposite."""
    d = x.shape[1:].numel()
    if dirs.ndim != 2 or dirs.shape[1] != d or not len(dirs) or dirs.dtype != torch.float32:
        raise UserError(f"directions are {dirs.dtype} {list(dirs.shape)}; float32 [K, {d}] is needed for "
                        f"images {list(x.shape[1:])}")
    gram = dirs @ dirs.T / d
    off = (gram - torch.eye(len(dirs), dtype=dirs.dtype, device=dirs.device)).abs()
    opposite = (gram + 1).abs()
    if not (off.diagonal() < TOLERANCE).all() or not (torch.minimum(off, opposite) < TOLERANCE).all():
        raise UserError("directions must have RMS 1 and be orthogonal or opposite to each other, as those of "
                        "shared.attacks.directions")
    return dirs.to(x.device)
