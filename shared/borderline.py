"""Pairs of images on either side of a decision boundary, by repeated mixing (Ren et al., `ren`, Algorithm 1).

From a source image x_s and a background x_b of another class, the mean of the two is classified again and
again: it replaces x_s where it keeps the source's class and x_b where it does not, until the two are alike.
The inside image x_s and the outside image x_b are then neighbours across the boundary. Three similarities
(SSIM) describe them, where x_o is the source before any mixing; for all three lower is better:

    separability  SSIM(x_b, x_s)    lower: the two sides look more different
    robustness    SSIM(x_s, x_o)    lower: the source can change more before it leaves its class
    adversarial   SSIM(x_b, x_o)    lower: the nearest image of another class looks less like the source

Images are uint8 as in the paper's MATLAB code, and so is the arithmetic (`mix`); or float32 in [0, 1], whose
mean is exact. They are grey or coloured. All images advance together, with one classification and one SSIM
per iteration over those that are not finished.
"""
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real

import torch

from .inference import check_tensors, clipped, labels
from .runtime import UserError, seeded
from .similarity import ssim

UNIFORM = {"white": 255, "black": 0}
OBJECTIVES = ("separability", "adversarial")
PRUNING_PLACES = ("mixed", "input", "source")


def mix(a, b):
    """The mean of two images; of uint8 ones in MATLAB's arithmetic: halves round .5 up, the sum stops at 255.

    So white on black gives 128, and two equal odd values v give v + 1.
    """
    check_tensors(images=a)
    if a.is_floating_point():
        return (a + b) / 2
    a, b = a - (a >> 1), b - (b >> 1)
    return a.add_(torch.minimum(b, 255 - a))      # both at most 128: only 128 + 128 would leave uint8


def backgrounds(name, images, labels, generator):
    """What to mix with (`ren`, Section IV): white or black, or for each image one of another class.

    name       "white", "black", or "digit": a partner drawn uniformly among the images of all other classes
    images     uint8 or float32 in [0, 1], [N, C, H, W]
    labels     true classes, int64 [N]
    generator  CPU generator that draws the partners; white and black draw nothing

    Returns images of the same type, [1, C, H, W] for white and black, [N, C, H, W] for partners.
    Raises UserError for another name, labels that do not suit the images, and partners within a single class.
    """
    check_tensors(images=images, labels=labels)
    if name in UNIFORM:
        return torch.full_like(images[:1], UNIFORM[name] / _unit(images))
    if name != "digit":
        raise UserError(f"unknown background {name!r}; use one of {', '.join(UNIFORM)}, digit")
    if labels.shape != images.shape[:1]:
        raise UserError(f"{len(images)} images need as many labels, not {list(labels.shape)}")
    _, kind, count = labels.cpu().unique(return_inverse=True, return_counts=True)
    if len(count) < 2:
        raise UserError(f"background 'digit' pairs images of different classes, but all {len(images)} "
                        "are of one; take more images, or background white or black")
    first, own = (count.cumsum(0) - count)[kind], count[kind]      # where its class lies among all, sorted
    generator = seeded(generator, "background 'digit'")
    place = (torch.rand(len(kind), generator=generator, dtype=torch.float64) * (len(kind) - own)).long()
    place += own * (place >= first)                                # steps over the image's own class
    return images[kind.argsort(stable=True)[place].to(images.device)]


def prune(x, t, T):
    """Pixel pruning (`ren`, Section V): pixels below t become black, those above T white, t and T in 0..255.

    x is uint8, or float in [0, 1]. A pixel equal to t or T stays as it is: with t = T = 128 128 survives; T =
    255 changes no bright pixel. Raises UserError unless 0 <= t <= T <= 256.
    """
    if not (isinstance(t, Integral) and isinstance(T, Integral) and 0 <= t <= T <= 256):
        raise UserError(f"pruning thresholds t={t!r}, T={T!r}: "
                        "whole numbers with 0 <= t <= T <= 256 are needed")
    check_tensors(images=x)
    unit = _unit(x)
    return torch.where(x < t / unit, 0, torch.where(x > T / unit, 255 // unit, x))


def _unit(images):
    """What a grey level in 0..255 is divided by to be a value of these images."""
    return 255 if images.is_floating_point() else 1


@dataclass(frozen=True)
class Pruning:
    """Thresholds of `prune` and where it acts, which the paper leaves open.

    where: "mixed"   on the source, the background and every mixed image: every image kept is a pruned one;
           "input"   on what the network sees only, a filter in front of it: the images kept have all values;
           "source"  on the source only, before the search starts.
    Similarities are those of the images kept: with "mixed" and "source" x_o is the pruned source.
    With "mixed" the mean of two images may be pruned back to one of them; then the iteration limit ends it.
    """
    t: int
    T: int
    where: str = "mixed"

    def __post_init__(self):
        prune(torch.zeros(1, dtype=torch.uint8), self.t, self.T)
        if self.where not in PRUNING_PLACES:
            raise UserError(f"pruning where={self.where!r}; use one of {', '.join(PRUNING_PLACES)}")

    def __call__(self, x):
        return prune(x, self.t, self.T)


@dataclass(frozen=True)
class Path:
    """Every iteration (at most I) of a search over N images; image n took the first iterations[n]."""
    mixed: torch.Tensor             # [N, I, C, H, W], zeros after an image's last iteration
    mixed_class: torch.Tensor       # int64 [N, I], -1 after the last
    moved_inside: torch.Tensor      # bool [N, I], True where x_c replaced x_s, False where it replaced x_b
    similarity: torch.Tensor        # float32 [N, I], SSIM(x_b, x_s) after the replacement, nan after the last

    def record(self, i, at, mixed, mixed_class, moved_inside, similarity):
        """Iteration i (from 0) of the images at the places `at`."""
        self.mixed[at, i], self.mixed_class[at, i] = mixed, mixed_class
        self.moved_inside[at, i], self.similarity[at, i] = moved_inside, similarity


@dataclass(frozen=True)
class Pairs:
    """Borderline pairs of N sources. Excluded ones keep source and background, with nan similarities."""
    original: torch.Tensor          # x_o, [N, C, H, W]: the source (pruned, if the images kept are)
    inside: torch.Tensor            # x_s, [N, C, H, W]
    outside: torch.Tensor           # x_b, [N, C, H, W]
    inside_class: torch.Tensor      # int64 [N], the network's class of the source
    outside_class: torch.Tensor     # int64 [N]
    iterations: torch.Tensor        # int64 [N], images mixed
    converged: torch.Tensor         # bool [N], SSIM(x_b, x_s) passed the threshold
    excluded: torch.Tensor          # bool [N], source and background have one class: no boundary lies between
    separability: torch.Tensor      # float32 [N], SSIM(x_b, x_s)
    robustness: torch.Tensor        # float32 [N], SSIM(x_s, x_o)
    adversarial: torch.Tensor       # float32 [N], SSIM(x_b, x_o)
    path: Path | None = None

    def __repr__(self):
        return (f"Pairs({len(self.excluded)} sources: {int(self.converged.sum())} converged, "
                f"{int(self.excluded.sum())} excluded)")


def search(model, source, background, *, threshold=0.99, max_iterations=9, prune=None,
           ssim_convention="matlab", objective="separability", keep_path=False):
    """Algorithm 1 of `ren` on N images at once: pairs of similar images with different classes.

    model           any callable as in `inference`, or one that returns classes, int64 [N]
    source          uint8 or float32 in [0, 1], [N, C, H, W]; the class to stay in is the model's prediction
    background      of the same type, [1, C, H, W] for all or [N, C, H, W], e.g. white, black, other digits
    threshold       an image is finished when SSIM(x_b, x_s) is above this; 1 never stops early
    max_iterations  most images mixed per source. The paper's counter has no starting value, so its 9 could
                    also mean 10 mixes; here it is the number of mixes.
    prune           a `Pruning`, or None
    ssim_convention "matlab", "skimage" or "uniform", see `similarity.ssim`
    objective       "separability" (Equation 2) keeps the last x_b. "adversarial" (Equation 3) keeps, among
                    the background and all mixed images of another class, the one most similar to x_o; the
                    search and its x_s are the same, as the paper names no other change to Algorithm 1.
                    Outside images approach x_o as they approach x_s, so this is almost always the last one
                    too; what brings it nearer to x_o is not to stop early: threshold=1.
    keep_path       also return every iteration (`Path`)

    Returns `Pairs`. Inputs are not modified.
    Raises UserError for images of another shape or type, a background of another size, options out of range,
    and when every source has the background's class.
    """
    source, background = _check(source, background, threshold, max_iterations, prune, objective)
    original, outside, see, prune_mixed = _pruned(partial(labels, model), source, background, prune)
    inside_class = see(original)
    outside_class = see(outside).expand_as(inside_class).clone()
    excluded = inside_class == outside_class
    if excluded.all():
        raise UserError(f"all {len(source)} sources have their background's class (of classes "
                         f"{sorted(set(inside_class.tolist()))}); choose a background of another class")
    outside = outside.expand_as(source)
    path = _empty_path(source, max_iterations) if keep_path else None

    # Only undecided images are kept in the loop; those that leave it are put in order at the end.
    at, out = (~excluded).nonzero().squeeze(1), excluded.nonzero().squeeze(1)
    x_s, x_b, c_s, c_b = _rows(at, original, outside, inside_class, outside_class)
    nearest = None
    if objective == "adversarial":
        nearest = _Nearest(original, outside, outside_class, at, ssim_convention)
    left = [(out, *_rows(out, original, outside, outside_class), torch.zeros_like(out),
             torch.full(out.shape, torch.nan, dtype=torch.float32, device=out.device))]
    for i in range(max_iterations):
        x_c = prune_mixed(mix(x_b, x_s))
        c_c = see(x_c)
        same = c_c == c_s
        x_s, x_b, c_b = _choose(same, x_c, x_s), _choose(same, x_b, x_c), torch.where(same, c_b, c_c)
        similarity = _ssim(x_b, x_s, ssim_convention)
        if nearest is not None:
            nearest.offer(*_rows((~same).nonzero().squeeze(1), at, x_c, c_c))
        if path is not None:
            path.record(i, at, x_c, c_c, same, similarity)
        finished = similarity > threshold if i + 1 < max_iterations else torch.ones_like(same)
        out, stay = finished.nonzero().squeeze(1), (~finished).nonzero().squeeze(1)
        left.append((*_rows(out, at, x_s, x_b, c_b), torch.full_like(out, i + 1), similarity[out]))
        at, x_s, x_b, c_s, c_b = _rows(stay, at, x_s, x_b, c_s, c_b)
        if not len(at):
            break

    at, *columns = map(torch.cat, zip(*left))
    inside, outside, outside_class, iterations, separability = _rows(at.argsort(), *columns)
    converged, searched = separability > threshold, (~excluded).nonzero().squeeze(1)
    if nearest is not None:
        outside, outside_class = nearest.image, nearest.label
        separability = _similarity(outside, inside, searched, ssim_convention)
    return Pairs(original=original, inside=inside, outside=outside, inside_class=inside_class,
                 outside_class=outside_class, iterations=iterations, converged=converged, excluded=excluded,
                 separability=separability, path=path,
                 robustness=_similarity(inside, original, searched, ssim_convention),
                 adversarial=_similarity(outside, original, searched, ssim_convention))


def _rows(at, *tensors):
    """The rows `at` of each tensor; `index_select` copies rows far faster than a mask does."""
    return [t.index_select(0, at) for t in tensors]


def _choose(mask, a, b):
    """Row i of `a` where mask[i], else of `b`."""
    place = torch.arange(len(mask), device=mask.device) + len(mask) * ~mask
    return torch.cat([a, b]).index_select(0, place)


class _Nearest:
    """For each image, the outside image most similar to the original among those offered (Equation 3)."""

    def __init__(self, original, outside, outside_class, at, convention):
        self.original, self.convention = original, convention
        self.image, self.label = outside.clone(), outside_class.clone()
        self.similarity = torch.full((len(original),), -torch.inf, dtype=torch.float32,
                                     device=original.device)
        self.similarity[at] = _ssim(*_rows(at, outside, original), convention)

    def offer(self, at, images, labels):
        """Images [M, C, H, W] of the classes `labels` for the places `at`."""
        if not len(at):
            return
        similarity = _ssim(images, self.original[at], self.convention)
        better = similarity > self.similarity[at]
        at = at[better]
        self.image[at], self.label[at] = images[better], labels[better]
        self.similarity[at] = similarity[better]


def _pruned(classify, source, background, prune):
    """Original, background, classifier, and what is done to a mixed image; pruned where `prune` says."""
    def unchanged(x):
        return x

    if prune is None:
        return source, background, classify, unchanged
    if prune.where == "input":
        return source, background, lambda images: classify(prune(images)), unchanged
    if prune.where == "source":
        return prune(source), background, classify, unchanged
    return prune(source), prune(background), classify, prune


def _similarity(a, b, where, convention):
    """SSIM [N] of the pairs at the places `where`, nan elsewhere."""
    out = torch.full((len(a),), torch.nan, dtype=torch.float32, device=a.device)
    out[where] = _ssim(*_rows(where, a, b), convention)
    return out


def _ssim(a, b, convention):
    return ssim(a, b, convention=convention, data_range=255 / _unit(a))


def _empty_path(source, max_iterations):
    n, i, device = len(source), max_iterations, source.device
    return Path(mixed=source.new_zeros(n, i, *source.shape[1:]),
                mixed_class=torch.full((n, i), -1, device=device),
                moved_inside=torch.zeros(n, i, dtype=torch.bool, device=device),
                similarity=torch.full((n, i), torch.nan, dtype=torch.float32, device=device))


def _check(source, background, threshold, max_iterations, prune, objective):
    """Source and background, clipped where rounding left [0, 1]; raises UserError where `search` says so."""
    check_tensors(source=source, background=background)
    checked = []
    for name, images in (("source", source), ("background", background)):
        if images.dtype not in (torch.uint8, torch.float32) or images.dim() != 4 or images.numel() == 0:
            raise UserError(f"{name} must be images [N, C, H, W], uint8 or float32 in [0, 1], at least "
                            f"one, not {images.dtype} {list(images.shape)}")
        checked.append(clipped(images, f"{name}: pixels") if images.is_floating_point() else images)
    if (background.shape[1:] != source.shape[1:] or len(background) not in (1, len(source))
            or background.dtype != source.dtype):
        raise UserError(f"background must be one image or one per source, {source.dtype} "
                        f"[1 or {len(source)}, {', '.join(map(str, source.shape[1:]))}], "
                        f"not {background.dtype} {list(background.shape)}")
    if not (isinstance(threshold, Real) and 0 < threshold <= 1):
        raise UserError(f"threshold={threshold!r}: an SSIM above 0 and at most 1 is needed (the paper: 0.99)")
    if not (isinstance(max_iterations, Integral) and max_iterations >= 1):
        raise UserError(f"max_iterations={max_iterations!r}: a whole number from 1 is needed (the paper: 9)")
    if prune is not None and not isinstance(prune, Pruning):
        raise UserError(f"prune={prune!r}: pass Pruning(t, T, where=...) or None")
    if objective not in OBJECTIVES:
        raise UserError(f"unknown objective {objective!r}; use one of {', '.join(OBJECTIVES)}")
    return checked


def summary(pairs):
    """Means and sample standard deviations of the three similarities over the sources that were searched.

    Returns a dict: `searched`, `excluded` and `converged` (numbers of sources), `iterations` (mean), and for
    separability, robustness and adversarial `<name>_mean` and `<name>_std`, as in Tables III and IV of `ren`.
    One source has no spread: its standard deviations are None.
    """
    where = ~pairs.excluded
    facts = {"searched": int(where.sum()), "excluded": int(pairs.excluded.sum()),
            "converged": int(pairs.converged.sum()),
            "iterations": float(pairs.iterations[where].double().mean())}
    for name in ("separability", "robustness", "adversarial"):
        values = getattr(pairs, name)[where].double()
        facts[f"{name}_mean"] = float(values.mean())
        facts[f"{name}_std"] = float(values.std()) if len(values) > 1 else None
    return facts
