"""Boxes of adversarial examples around an image, sampled with a model and re-trained ones (`shu`, Section 2).

    examples = sweep(models[0], x, y, attack, count=100, generator=generator)
    box = intervals(x, examples.of(6)).first(150)
    error_rates(models, box.sample(1000, generator=generator), y)

The adversarial examples of one image by one attack that the attacked model assigns to one class span an
interval of each changed value. The box of the b widest intervals is sampled uniformly; all other values are
those of the clean image. x is one image [1, C, H, W], y its class. Of several models the first is the
attacked one.
"""
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch

from .attacks.judge import Attack
from .attacks.threat import per_image
from .inference import Generator, Model, check_images, checked_logits, frozen, labels
from .runtime import UserError, seeded

LEAST = 80         # number of adversarial examples of an image that the paper requires
CHANGED = 1000     # a value is changed if it differs in thousandths, as in the authors' code
ALIKE = 100_000    # widths are equal if they do not differ in such parts, the precision of float32


# ---- adversarial examples of one image -------------------------------------------------------------------
class Swept(NamedTuple):
    """The distinct adversarial examples of one image."""
    images: torch.Tensor    # float32 [n, C, H, W]
    classes: torch.Tensor   # int64 [n]: the attacked model's predicted classes
    succeeded: int          # successful attacks, those with equal images included
    passes: int             # forward passes of all attacks

    def of(self, label: int) -> torch.Tensor:
        """The examples [k, C, H, W] of a predicted class."""
        return self.images[self.classes == label]

    def joined(self, other: "Swept") -> "Swept":
        """The union with another sweep of the same image."""
        images = torch.cat([self.images, other.images])
        images, which = torch.unique(images, dim=0, return_inverse=True)
        classes = torch.cat([self.classes, other.classes])
        return Swept(images, torch.zeros_like(classes[:len(images)]).scatter(0, which, classes),
                     self.succeeded + other.succeeded, self.passes + other.passes)


def sweep(model: Model, x: torch.Tensor, y: torch.Tensor, attack: Attack, *, count: int = 100,
          target: torch.Tensor | None = None, generator: Generator | None = None) -> Swept:
    """Attack one image `count` times at once, with the attack's tuples of settings or with different draws.

    target   the target class, int64 [1], where the attack is targeted
    Raises UserError if the image is misclassified without an attack.
    """
    x = check_images(x, y, target)
    if len(x) != 1 or count < 1:
        raise UserError(f"a sweep is of one image, [1, C, H, W], one time or more; these are "
                        f"{list(x.shape)}, {count} times")
    with frozen(model):
        if (predicted := int(checked_logits(model, x, y, target).argmax(1))) != int(y):
            raise UserError(f"the clean image is classified as {predicted}, not {int(y)}; take one that is "
                            "classified correctly")
    result = attack(model, x.repeat(count, 1, 1, 1), y.repeat(count), generator=generator,
                   target=None if target is None else target.repeat(count))
    images = torch.unique(result.x_adv[result.success], dim=0)
    return Swept(images, labels(model, images), int(result.success.sum()), int(result.passes.sum()))


# ---- boxes -----------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Box:
    """Intervals of some values of an image, widest first; the other values are fixed."""
    clean: torch.Tensor     # float32 [1, C, H, W]
    values: torch.Tensor    # int64 [b]: indices into the flattened image
    low: torch.Tensor       # float32 [b]
    high: torch.Tensor      # float32 [b]
    changed: torch.Tensor   # int64 [b]: number of examples in which the value differs from the clean one

    @property
    def widths(self) -> torch.Tensor:
        """Float32 [b], in [0, 1]."""
        return self.high - self.low

    def first(self, b: int) -> "Box":
        """The box of the b widest intervals. Raises UserError if there are fewer."""
        if b not in range(1, len(self.values) + 1):
            raise UserError(f"a box of {b!r} intervals; {len(self.values)} values are changed: allowed are 1 "
                            f"to {len(self.values)}")
        return replace(self, **{k: getattr(self, k)[:b] for k in ("values", "low", "high", "changed")})

    def whole(self) -> "Box":
        """The same values, each with the interval [0, 1], as in the paper for the pointwise attack."""
        return replace(self, low=torch.zeros_like(self.low), high=torch.ones_like(self.high))

    def kept(self, share: float, examples: int) -> "Box":
        """The intervals of values that are changed in at least this share of so many examples."""
        rows = self.changed >= share * examples
        return replace(self, **{k: getattr(self, k)[rows] for k in ("values", "low", "high", "changed")})

    def sample(self, count: int, *, generator: Generator) -> torch.Tensor:
        """`count` images drawn uniformly from the box, float32 [count, C, H, W]."""
        z = self.clean.flatten(1).repeat(count, 1)
        z[:, self.values] = self.points(count, generator=generator)
        return z.view(count, *self.clean.shape[1:])

    def points(self, count: int, *, generator: Generator) -> torch.Tensor:
        """The drawn values of `sample`, float32 [count, b]; drawn on the CPU."""
        generator = seeded(generator, "a box")
        drawn = torch.rand(count, len(self.values), generator=generator, dtype=torch.float32)
        return torch.minimum(self.low + drawn.to(self.low.device) * self.widths, self.high)


def intervals(x: torch.Tensor, images: torch.Tensor, *, keep: float = 1.0, least: int = LEAST) -> Box:
    """The `Box` of all changed values of examples [n, C, H, W], ordered by the width of their intervals.

    keep    least share of the examples that change a value; 0: one example is enough
    least   least number of distinct examples
    Equal widths are ordered by the number of examples that change the value. Raises UserError for too few
    examples, and if no value is changed.
    """
    x, images = check_images(x), check_images(images)
    if x.shape != (1, *images.shape[1:]):
        raise UserError(f"the clean image is {list(x.shape)}, the examples are {list(images.shape)}; one "
                        "image [1, C, H, W] and examples [n, C, H, W] of it are needed")
    images = torch.unique(images, dim=0)
    if len(images) < max(1, least):
        raise UserError(f"{len(images)} different adversarial examples; {least} are needed: sweep over more "
                        "settings or starts, or join the untargeted sweep to the targeted one")
    flat, clean = images.flatten(1), x.flatten(1)
    changed = (((flat - clean) * CHANGED).round() != 0).sum(0)
    low, high = flat.amin(0), flat.amax(0)
    kept = ((changed > 0) & (changed >= keep * len(images))).nonzero()[:, 0]
    if not len(kept):
        raise UserError(f"no value is changed in {keep:.0%} of the examples; lower keep")
    kept = kept[changed[kept].argsort(descending=True, stable=True)]
    kept = kept[((high - low)[kept] * ALIKE).round().argsort(descending=True, stable=True)]
    return Box(x, kept, low[kept], high[kept], changed[kept])


# ---- several models --------------------------------------------------------------------------------------
def answers(models: Sequence[Model], images: torch.Tensor, true: torch.Tensor | None = None) -> torch.Tensor:
    """Predicted classes of N images by each of K models, int64 [K, N].

    Raises LabelOutOfRange if `true` labels are given and are no classes of the models.
    """
    if isinstance(models, torch.nn.Module):
        raise UserError("models is one network; a list of them is needed: [model, ...]")
    if not models:
        raise UserError("no network was passed; the attacked one and re-trained ones are needed")
    return torch.stack([labels(model, images, true=true) for model in models])


def error_rates(models: Sequence[Model], images: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Misclassification rate of each model, float64 [K]: share of the images not classified as `y`."""
    return (answers(models, images, y) != y).double().mean(1)


def agreement(predicted: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Number of images on which j other models agree with the first, int64 [2, K], from `answers` [K, N].

    Row 0 counts images whose class by the first model is y ([1] or [N]), row 1 the others; columns are
    j = 0 ... K - 1. Raises UserError for a single model.
    """
    if len(predicted) < 2:
        raise UserError("one network has no other to agree with; pass re-trained ones, too")
    agree, wrong = (predicted[1:] == predicted[0]).sum(0), predicted[0] != y
    return torch.stack([torch.bincount(agree[wrong == row], minlength=len(predicted))
                        for row in (False, True)])


def alarm(agreed: torch.Tensor | Sequence[float]) -> torch.Tensor:
    """Share of images on which the first model and k - 1 others, at random, disagree, for k from 2 to K.

    agreed   numbers [K] of images with 0 ... K - 1 others that agree with the first, a row of `agreement`
    Returns float64 [K - 1] on the CPU, nan without images.
    """
    agreed = torch.as_tensor(agreed).double().cpu()
    others = len(agreed) - 1
    if others < 1:
        raise UserError("one network raises no alarm; re-trained ones are needed")
    silent, left = agreed.clone(), torch.arange(others + 1.0, dtype=torch.float64)
    shares = []
    for drawn in range(others):      # without replacement
        silent = silent * (left - drawn).clamp(min=0) / (others - drawn)
        shares.append(1 - silent.sum() / agreed.sum())
    return torch.stack(shares)


# Misclassification rates: at least MOSTLY, at most RIGHT, at least SIGNIFICANT.
MOSTLY, RIGHT, SIGNIFICANT = 0.5, 0.05, 0.25


def kind(rates: torch.Tensor | Sequence[float], *, mostly: float = MOSTLY, right: float = RIGHT,
         significant: float = SIGNIFICANT) -> str | None:
    """The kind of a region by the models' misclassification rates [K] (shu, Section 2.1), or None.

    Only the attacked model errs, only another one, or all; the names are ours.
    "own"           the rate of the first model, the attacked one, is at least `mostly`, another at most
                    `right`
    "foreign"       the rate of the first is at most `right`, another at least `mostly`
    "transferable"  all rates are at least `significant`
    """
    if len(rates) < 2:
        raise UserError("the kind of a region needs at least two networks: the attacked and re-trained ones")
    first, others = float(rates[0]), [float(rate) for rate in rates[1:]]
    if min(first, *others) >= significant:
        return "transferable"
    if first >= mostly and min(others) <= right:
        return "own"
    return "foreign" if first <= right and max(others) >= mostly else None


def lengths(x: torch.Tensor, images: torch.Tensor) -> dict[str, list[float]]:
    """L2 distances of images [N, C, H, W] from x: `{"squared", "plain"}`, each [smallest, mean, largest].

    The paper's columns "L2" are possible only as squared norms (notebooks/audit).
    """
    squared = (images - x).flatten(1).double().square().sum(1)
    return {name: [float(f(values)) for f in (torch.min, torch.mean, torch.max)]
            for name, values in (("squared", squared), ("plain", squared.sqrt()))}


def spaced(count: int, most: int) -> list[int]:
    """At most `count` distinct sizes of a box, equally spaced up to `most`."""
    return sorted({max(1, round(most * (i + 1) / count)) for i in range(count)})


def curve(models: Sequence[Model], y: torch.Tensor, box: Box, sizes: Sequence[int], *, samples: int,
          generator: Generator) -> dict[str, list]:
    """Predicted classes in boxes of increasing size: a dict of lists, an entry for each of `sizes`.

    The draws are the same for all sizes. `rates` [K], `agreement` [2, K], `squared` and `plain` as in
    `lengths`, and `log_measure`: the natural logarithm of the box's volume in its own dimensions.
    """
    if samples < 1 or not sizes or list(sizes) != sorted(set(sizes)):
        raise UserError(f"{samples} samples of boxes of sizes {list(sizes)}: one sample or more and "
                        "increasing sizes are needed")
    box.first(min(sizes))
    box.first(max(sizes))
    z, points = box.clean.flatten(1).repeat(samples, 1), box.points(samples, generator=generator)
    lists, done = {"sizes": list(sizes)}, 0
    for size in sizes:
        z[:, box.values[done:size]], done = points[:, done:size], size
        images = z.view(samples, *box.clean.shape[1:])
        predicted = answers(models, images, y)
        row = {"rates": (predicted != y).double().mean(1).tolist(),
               "agreement": agreement(predicted, y).tolist(),
               "log_measure": float(box.widths[:size].double().log().sum()), **lengths(box.clean, images)}
        for name, value in row.items():
            lists.setdefault(name, []).append(value)
    return lists


def noise(x: torch.Tensor, distances: torch.Tensor, *, generator: Generator) -> torch.Tensor:
    """Images at L2 distances [N] from x in random directions, clipped to [0, 1]: float32 [N, C, H, W]."""
    x, generator = check_images(x), seeded(generator, "noise")
    steps = torch.randn(len(distances), *x.shape[1:], generator=generator, dtype=torch.float32).to(x.device)
    scale = distances.to(x.device) / steps.flatten(1).norm(dim=1)
    return (x + per_image(scale, x) * steps).clamp(0, 1)


def plane(models: Sequence[Model], x: torch.Tensor, u: torch.Tensor, v: torch.Tensor, *, reach: float,
          size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Predicted classes on a grid in the plane x + span(u, v): int64 [K, size, size], and its axes.

    The axes are unit vectors [2, C, H, W]: along u, and along the component of v orthogonal to u. The grid
    extends from -reach to reach along each (columns: u, rows: v), in L2 distance, and is clipped to [0, 1].
    """
    x = check_images(x)
    first = u / u.norm()
    second = v - (v * first).sum() * first
    if not second.norm() > 1e-6 * v.norm():      # nor if u or v is 0
        raise UserError("u and v are parallel or 0; two different directions are needed")
    second = second / second.norm()
    steps = torch.linspace(-reach, reach, size, dtype=torch.float32).to(x.device)
    points = x + steps[:, None, None, None, None] * second + steps[:, None, None, None] * first
    grid = points.clamp(0, 1).view(-1, *x.shape[1:])
    return answers(models, grid).view(len(models), size, size), torch.cat([first, second])
