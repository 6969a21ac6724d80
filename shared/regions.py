"""From a sweep of an attack to a box full of adversarial examples, for any model and its re-trainings.

    found = sweep(models[0], x, y, attack, count=100, generator=generator)
    box = intervals(x, found.of(6)).first(150)
    rates(models, box.sample(1000, generator=generator), y)

`shu`, Section 2: of all adversarial examples that one attack finds near one image and that the attacked model
puts into one class, each changed value has an interval; the box of the b widest ones is sampled uniformly,
all other values stay those of the clean image. x is one image [1, C, H, W], y its class. Of several models
the first is the attacked one.
"""
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch

from .attacks.judge import Attack
from .inference import Generator, Model, check_images, checked_logits, frozen, labels
from .runtime import UserError, seeded

LEAST = 80         # adversarial examples that the paper needs of an image
CHANGED = 1000     # a value is changed if it differs when rounded to thousandths, as in the authors' code
ALIKE = 100_000    # widths are equal if they are when rounded to so many parts: float32 tells no more


# ---- adversarial examples of one image -------------------------------------------------------------------
class Swept(NamedTuple):
    """The adversarial examples of one image, different ones alone."""
    images: torch.Tensor    # float32 [n, C, H, W]
    classes: torch.Tensor   # int64 [n]: what the attacked model calls them
    succeeded: int          # images that succeeded, equal ones counted each
    passes: int

    def of(self, label: int) -> torch.Tensor:
        """Those [k, C, H, W] that the model puts into a class."""
        return self.images[self.classes == label]

    def joined(self, other: "Swept") -> "Swept":
        """These and the examples of another sweep of the same image."""
        images = torch.cat([self.images, other.images])
        images, which = torch.unique(images, dim=0, return_inverse=True)
        classes = torch.cat([self.classes, other.classes])
        return Swept(images, torch.zeros_like(classes[:len(images)]).scatter(0, which, classes),
                     self.succeeded + other.succeeded, self.passes + other.passes)


def sweep(model: Model, x: torch.Tensor, y: torch.Tensor, attack: Attack, *, count: int = 100,
          target: torch.Tensor | None = None, generator: Generator | None = None) -> Swept:
    """Attack one image `count` times at once: under the tuples of settings of `attack`, or with other draws.

    target   the class to reach, where the attack is targeted
    Raises UserError where the image is misclassified from the start.
    """
    x = check_images(x, y, target)
    if len(x) != 1 or count < 1:
        raise UserError(f"a sweep is of one image, [1, C, H, W], one time or more; these are "
                        f"{list(x.shape)}, {count} times")
    with frozen(model):
        if (got := int(checked_logits(model, x, y, target).argmax(1))) != int(y):
            raise UserError(f"the model takes the image for class {got}, not {int(y)}, from the start; take "
                            "one that it classifies correctly")
    result = attack(model, x.repeat(count, 1, 1, 1), y.repeat(count), generator=generator,
                   target=None if target is None else target.repeat(count))
    images = torch.unique(result.x_adv[result.success], dim=0)
    return Swept(images, labels(model, images), int(result.success.sum()), int(result.passes.sum()))


# ---- boxes -----------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Box:
    """Intervals of some values of an image, widest first; the others stay as they are."""
    clean: torch.Tensor     # float32 [1, C, H, W]
    values: torch.Tensor    # int64 [b]: which, of the image's values in a row
    low: torch.Tensor       # float32 [b]
    high: torch.Tensor      # float32 [b]
    changed: torch.Tensor   # int64 [b]: in how many examples the value is not the clean one

    @property
    def widths(self) -> torch.Tensor:
        """Float32 [b], in [0, 1]."""
        return self.high - self.low

    def first(self, b: int, *, widest: float = 1.0) -> "Box":
        """The box of the b widest intervals.

        Raises UserError where there are fewer, and where one is wider than `widest`.
        """
        if b not in range(1, len(self.values) + 1):
            raise UserError(f"a box of {b!r} intervals; {len(self.values)} values are changed: allowed are 1 "
                            f"to {len(self.values)}")
        if (width := float(self.widths.amax())) > widest:
            raise UserError(f"the widest interval is {width:.3g} wide, at most {widest:g} was asked for; "
                            "allow more, or sweep over settings that are more alike")
        return replace(self, **{k: getattr(self, k)[:b] for k in ("values", "low", "high", "changed")})

    def whole(self) -> "Box":
        """The same values with [0, 1] for each, as the paper takes for the pointwise attack."""
        return replace(self, low=torch.zeros_like(self.low), high=torch.ones_like(self.high))

    def kept(self, share: float, examples: int) -> "Box":
        """The intervals of those values that are changed in this share of so many examples at least."""
        rows = self.changed >= share * examples
        return replace(self, **{k: getattr(self, k)[rows] for k in ("values", "low", "high", "changed")})

    def sample(self, count: int, *, generator: Generator) -> torch.Tensor:
        """`count` images drawn uniformly from the box, float32 [count, C, H, W]."""
        z = self.clean.flatten(1).repeat(count, 1)
        z[:, self.values] = self.points(count, generator)
        return z.view(count, *self.clean.shape[1:])

    def points(self, count: int, generator: Generator) -> torch.Tensor:
        """What `sample` puts in place of the values, float32 [count, b]; drawn on the CPU."""
        generator = seeded(generator, "a box")
        drawn = torch.rand(count, len(self.values), generator=generator, dtype=torch.float32)
        return torch.minimum(self.low + drawn.to(self.low.device) * self.widths, self.high)


def intervals(x: torch.Tensor, images: torch.Tensor, *, keep: float = 1.0, least: int = LEAST) -> Box:
    """The `Box` of all changed values, by the width of their intervals over the examples [n, C, H, W].

    keep    share of the examples that must change a value; 0: one example is enough
    least   examples that are needed
    Of equal widths the value that more examples change is first. Raises UserError for too few, or no value.
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


# ---- what the models say ---------------------------------------------------------------------------------
def answers(models: Sequence[Model], images: torch.Tensor, true: torch.Tensor | None = None) -> torch.Tensor:
    """The class that each of K models gives each of N images, int64 [K, N].

    Raises LabelOutOfRange where `true` labels are given and are no classes of the models.
    """
    if isinstance(models, torch.nn.Module):
        raise UserError("models is one network; a list of them is needed: [model, ...]")
    if not models:
        raise UserError("no network was passed; the attacked one and its re-trainings are needed")
    return torch.stack([labels(model, images, true=true) for model in models])


def rates(models: Sequence[Model], images: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Share of the images that each model does not call `y`, float64 [K]: its misclassification rate."""
    return (answers(models, images, y) != y).double().mean(1)


def agreement(answered: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """How many images of answers [K, N] have j other models that agree with the first: int64 [2, K].

    Row 0 counts where the first model says y, the class of all [1] or of each [N], row 1 where it does not;
    columns are j = 0 ... K - 1. Raises UserError for a single model.
    """
    if len(answered) < 2:
        raise UserError("one network has no other to agree with; pass its re-trainings, too")
    agree, wrong = (answered[1:] == answered[0]).sum(0), answered[0] != y
    return torch.stack([torch.bincount(agree[wrong == row], minlength=len(answered))
                        for row in (False, True)])


def alarm(agreed: torch.Tensor | Sequence[float]) -> torch.Tensor:
    """Share of images on which the first model and k - 1 others, drawn at random, disagree: float64 [K - 1].

    agreed   numbers [K] of images with 0 ... K - 1 others that agree with the first (a row of `agreement`);
             k runs from 2 to K. Nan without images; on the CPU.
    """
    agreed = torch.as_tensor(agreed).double().cpu()
    others = len(agreed) - 1
    if others < 1:
        raise UserError("one network raises no alarm; re-trainings of it are needed")
    silent, left = agreed.clone(), torch.arange(others + 1.0, dtype=torch.float64)
    shares = []
    for drawn in range(others):      # the next one is drawn from those that are left
        silent = silent * (left - drawn).clamp(min=0) / (others - drawn)
        shares.append(1 - silent.sum() / agreed.sum())
    return torch.stack(shares)


# Rates from, up to and from which models err on most, are right, and err on a significant share.
MOSTLY, RIGHT, SIGNIFICANT = 0.5, 0.05, 0.25


def kind(rates: torch.Tensor | Sequence[float], *, mostly: float = MOSTLY, right: float = RIGHT,
         significant: float = SIGNIFICANT) -> str | None:
    """What a region is, by the misclassification rates [K] in it: the three of Section 2.1, or None.

    "own"           the attacked model, the first, errs on most, another is right: on its boundary
    "foreign"       it is right, another errs on most
    "transferable"  all err on a significant share
    mostly, right, significant   rates from, up to and from which these words are meant
    """
    if len(rates) < 2:
        raise UserError("the kind of a region needs two networks or more: re-trainings of the attacked one")
    first, others = float(rates[0]), [float(rate) for rate in rates[1:]]
    if min(first, *others) >= significant:
        return "transferable"
    if first >= mostly and min(others) <= right:
        return "own"
    return "foreign" if first <= right and max(others) >= mostly else None


def lengths(x: torch.Tensor, images: torch.Tensor) -> dict[str, list[float]]:
    """Distances of images [N, C, H, W] from x: `{"squared", "plain"}`, each [smallest, mean, largest].

    The paper's columns "L2" are possible as squared L2 norms alone (notebooks/audit).
    """
    squared = (images - x).flatten(1).double().square().sum(1)
    return {name: [float(f(values)) for f in (torch.min, torch.mean, torch.max)]
            for name, values in (("squared", squared), ("plain", squared.sqrt()))}


def spaced(count: int, most: int) -> list[int]:
    """At most `count` different sizes of a box, equally spaced, the last being `most`."""
    return sorted({max(1, round(most * (i + 1) / count)) for i in range(count)})


def curve(models: Sequence[Model], y: torch.Tensor, box: Box, sizes: Sequence[int], *, samples: int,
          generator: Generator) -> dict[str, list]:
    """What the models say in boxes of growing size: a dict of lists, a row for each of `sizes`.

    The same draws serve all sizes. `rates` [K], `agreement` [2, K], `squared` and `plain` as in `lengths`,
    and `log_measure`: the natural logarithm of the box's volume within its own dimensions.
    """
    if samples < 1 or not sizes or list(sizes) != sorted(set(sizes)):
        raise UserError(f"{samples} samples of boxes of sizes {list(sizes)}: one sample or more and growing "
                        "sizes are needed")
    box.first(min(sizes))
    box.first(max(sizes))
    z, points = box.clean.flatten(1).repeat(samples, 1), box.points(samples, generator)
    lists, done = {"sizes": list(sizes)}, 0
    for size in sizes:
        z[:, box.values[done:size]], done = points[:, done:size], size
        images = z.view(samples, *box.clean.shape[1:])
        answered = answers(models, images, y)
        row = {"rates": (answered != y).double().mean(1).tolist(),
               "agreement": agreement(answered, y).tolist(),
               "log_measure": float(box.widths[:size].double().log().sum()), **lengths(box.clean, images)}
        for name, value in row.items():
            lists.setdefault(name, []).append(value)
    return lists


def noise(x: torch.Tensor, distances: torch.Tensor, *, generator: Generator) -> torch.Tensor:
    """Images at these L2 distances [N] from x in random directions, cut to [0, 1]: float32 [N, C, H, W]."""
    x, generator = check_images(x), seeded(generator, "noise")
    steps = torch.randn(len(distances), *x.shape[1:], generator=generator, dtype=torch.float32).to(x.device)
    scale = distances.to(x.device) / steps.flatten(1).norm(dim=1)
    return (x + scale.view(-1, 1, 1, 1) * steps).clamp(0, 1)


def plane(models: Sequence[Model], x: torch.Tensor, u: torch.Tensor, v: torch.Tensor, *, reach: float,
          size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """What the models say in the plane through x that u and v span: int64 [K, size, size], and its axes.

    The axes are unit vectors [2, C, H, W]: along u, and along what of v is at right angles to it. Points lie
    from -reach to reach along each (a column for u, a row for v), in L2 distance, and are cut to [0, 1].
    """
    x = check_images(x)
    first = u / u.norm()
    second = v - (v * first).sum() * first
    if not second.norm() > 1e-6 * v.norm():      # nor is it where u or v is 0
        raise UserError("u and v point the same way, or nowhere; two different directions are needed")
    second = second / second.norm()
    steps = torch.linspace(-reach, reach, size, dtype=torch.float32).to(x.device)
    points = x + steps[:, None, None, None, None] * second + steps[:, None, None, None] * first
    grid = points.clamp(0, 1).view(-1, *x.shape[1:])
    return answers(models, grid).view(len(models), size, size), torch.cat([first, second])
