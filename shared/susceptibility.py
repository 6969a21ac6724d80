"""Susceptibility of a model to an attack along the gradient, and to random perturbations of like norm.

Sutton et al. (`sutton`), Sections 7.1.2 and 7.1.3, equations (6) to (8).
"""
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from . import inference
from .attacks.line import Loss, gradients, scalings, smallest_steps, squared_error, unit
from .attacks.noise import draw, random_flips
from .attacks.threat import L2, per_image
from .inference import Careful, Generator, Model, check_images, checked_logits, frozen, label_margins
from .runtime import UserError, seeded
from .statistics import share_interval


@dataclass(frozen=True, eq=False)
class Susceptibility:
    """Results of an attack and of random perturbations on N images."""
    correct: torch.Tensor   # bool [N]: margin above 0; only these are attacked
    attack: torch.Tensor    # float32 [N]: Euclidean norm of the smallest successful attack, else nan
    vanished: torch.Tensor  # bool [N]: correct, and not attacked: the gradient is exactly 0 or not finite
    random: torch.Tensor    # float32 [D, N]: norm of the smallest random perturbation that flips the label
    deltas: tuple[float, ...]           # D radii of random perturbations, over the norm of the image's attack
    draws: int              # random perturbations of each radius
    passes: int             # images classified in the searches, without gradients and second evaluations

    @property
    def adversarial_share(self) -> dict[str, float | None]:
        """`percentage` of correct images with a successful attack, equation (7)."""
        return percentage(int(self.attack.isfinite().sum()), int(self.correct.sum()))

    @property
    def random_shares(self) -> list[dict[str, float | None]]:
        """List of `percentage` of those that random perturbations of each radius flip, equation (8)."""
        of = int(self.attack.isfinite().sum())
        return [percentage(int(row.isfinite().sum()), of) for row in self.random]


def susceptibility(model: Model, x: torch.Tensor, y: torch.Tensor, *, generator: Generator, draws: int = 2000,
                   deltas: Sequence[float] = (1, 2, 5, 10), steps: int = 256, largest: float = 5.0,
                   loss: Loss = squared_error,
                   bf16: bool = False, clip: bool = False) -> Susceptibility:
    """Attack each correctly classified image along its gradient, then perturb it at random: `Susceptibility`.

    model      any callable as described in `shared.inference`
    x, y       float32 images [N, C, H, W] in [0, 1]; their classes, int64 [N]
    generator  CPU generator of the random perturbations, the same for every image and delta
    draws, deltas    perturbations of each radius, uniform in a ball of delta times the attack's norm
    steps, largest   step sizes along the gradient, equally spaced from 0 to `largest`, as in `LineSearch`
    loss       loss that the attack increases: `squared_error` as in the paper, or `lost_margin`, whose
               gradient does not vanish
    bf16       decide in bfloat16 where that is safe (`Careful`) and faster on the device
    clip       clip attacked and perturbed images to [0, 1], unlike the paper; norms are those after clipping
    Raises UserError for other images, labels or models, and NotFinite for logits that are not finite outside
    [0, 1] without `clip`.
    """
    if draws < 1 or steps < 2 or not deltas or not all(0 < size < math.inf for size in (largest, *deltas)):
        raise UserError(f"draws={draws}, steps={steps}, largest={largest}, deltas={deltas}: draws from 1, "
                        "steps from 2, sizes above 0 are needed")
    generator = seeded(generator, "susceptibility")
    x = check_images(x, y)
    with frozen(model):
        correct = label_margins(checked_logits(model, x, y), y) > 0
        images, labels = x[correct], y[correct]
        points = draw(draws, x.shape[1:], generator, device=x.device)
        careful = Careful.measured(model, images, labels) if bf16 and len(images) else Careful(model)
        slopes, _ = gradients(model, images, labels, loss)
        direction, norms = unit(slopes)
        try:
            smallest = smallest_steps(careful.flips, images, labels, direction, scalings(steps, largest),
                                      clip=clip)
            hit = smallest.success
            size = smallest.size[hit]
            if clip:
                moved = images[hit] + per_image(size, x) * direction[hit]
                size = L2().distance(images[hit], moved.clamp(0, 1))
            by_size = [random_flips(careful.flips, images[hit], labels[hit], size, points, delta, clip=clip)
                       for delta in deltas]
        except inference.NotFinite as error:    # finite in [0, 1], not outside
            if clip:
                raise
            raise inference.NotFinite(
                "the model returns nan or infinite logits for images that attack or noise moved out of "
                "[0, 1], as in the paper; clip=True cuts them") from error

    def placed(rows, values):
        """Float32 [N]: the values at these rows, nan elsewhere."""
        whole = x.new_full((len(x),), torch.nan)
        whole[rows] = values.to(whole)
        return whole

    attacked = correct.nonzero()[:, 0][hit]
    random = []
    for delta, flips in zip(deltas, by_size):
        flipped, first = (flips.first < draws).to(x.device), flips.first[flips.first < draws].to(x.device)
        norm = delta * size[flipped] * points.l2.to(x.device)[first]
        if clip:
            start, radius = images[hit][flipped], per_image(delta * size[flipped], x)
            norm = L2().distance(start, (start + radius * points.points[first]).clamp(0, 1))
        random.append(placed(attacked[flipped], norm))
    vanished = torch.zeros_like(correct)
    vanished[correct] = (norms == 0).to(x.device)
    inference.warn_of(inference.NoUsableGradient, "susceptibility", vanished)
    return Susceptibility(correct, placed(attacked, size), vanished, torch.stack(random), tuple(deltas),
                          draws, smallest.passes + sum(flips.passes for flips in by_size))


def percentage(hits: int, of: int, *, confidence: float = 0.95) -> dict[str, float | None]:
    """The percentage that `hits` are of `of` images, with its Clopper-Pearson interval; None of no images."""
    if of == 0:
        return {"hits": 0, "of": 0, "percent": None, "low": None, "high": None}
    low, high = share_interval(hits, of, confidence=confidence)
    return {"hits": hits, "of": of, "percent": 100 * hits / of, "low": 100 * low, "high": 100 * high}
