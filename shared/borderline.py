"""Pairs of images on either side of a decision boundary, by repeated mixing (Ren et al., `ren`, Algorithm 1).

From a source image x_s and a background x_b of another class, the mean of the two is classified in each
iteration: it replaces x_s if it has the source's class, else x_b, until x_s and x_b are similar. The inside
image x_s and the outside image x_b are then on either side of the boundary. Three similarities (SSIM)
describe them, where x_o is the source before any mixing; for all three lower is better:

    separability  SSIM(x_b, x_s)    lower: the two sides are less similar
    robustness    SSIM(x_s, x_o)    lower: the source can change more before it leaves its class
    adversarial   SSIM(x_b, x_o)    lower: the outside image is less similar to the source

Images are uint8 with integer arithmetic as in the paper's MATLAB code (`mix`), or float32 in [0, 1], whose
mean is exact; grey or colour. All unfinished images are processed together, with one classification and one
SSIM an iteration.
"""
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real

import torch

from .inference import Generator, Model, check_tensors, clipped, labels
from .runtime import UserError, seeded
from .similarity import ssim

UNIFORM = {"white": 255, "black": 0}
OBJECTIVES = ("separability", "adversarial")
PRUNING_PLACES = ("mixed", "input", "source")


def mix(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The mean of two images; of uint8 as in MATLAB: halves are rounded up, the sum saturates at 255.

    So white and black give 128, and two equal odd values v give v + 1.
    """
    check_tensors(images=a)
    if a.is_floating_point():
        return (a + b) / 2
    a, b = a - (a >> 1), b - (b >> 1)
    return a.add_(torch.minimum(b, 255 - a))      # both at most 128: only 128 + 128 would leave uint8


def backgrounds(name: str, images: torch.Tensor, labels: torch.Tensor, generator: Generator) -> torch.Tensor:
    """Backgrounds (`ren`, Section IV): white, black, or for each image one of another class.

    name       "white", "black", or "digit": a partner drawn uniformly from the images of all other classes
    images     uint8 or float32 in [0, 1], [N, C, H, W]
    labels     true classes, int64 [N]
    generator  CPU generator of the partners; unused for white and black

    Returns images of the same type, [1, C, H, W] for white and black, [N, C, H, W] for partners.
    Raises UserError for another name, labels of another length, and partners from images of a single class.
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
    first, own = (count.cumsum(0) - count)[kind], count[kind]      # place and size of the class, if sorted
    generator = seeded(generator, "background 'digit'")
    place = (torch.rand(len(kind), generator=generator, dtype=torch.float64) * (len(kind) - own)).long()
    place += own * (place >= first)                                # skips the image's own class
    return images[kind.argsort(stable=True)[place].to(images.device)]


def prune(x: torch.Tensor, t: int, T: int) -> torch.Tensor:
    """Pixel pruning (`ren`, Section V): pixels below t become black, those above T white, of 0..255.

    x is uint8, or float in [0, 1]. Pixels equal to t or T do not change: with t = T = 128 the value 128
    remains, with T = 255 no bright pixel changes. Raises UserError unless 0 <= t <= T <= 256.
    """
    if not (isinstance(t, Integral) and isinstance(T, Integral) and 0 <= t <= T <= 256):
        raise UserError(f"pruning levels t={t!r}, T={T!r}: "
                        "whole numbers with 0 <= t <= T <= 256 are needed")
    check_tensors(images=x)
    unit = _unit(x)
    return torch.where(x < t / unit, 0, torch.where(x > T / unit, 255 // unit, x))


def _unit(images):
    """The divisor that makes a grey level in 0..255 a value of these images."""
    return 255 if images.is_floating_point() else 1


@dataclass(frozen=True)
class Pruning:
    """Levels of `prune`, and where it is applied, which the paper does not specify.

    where: "mixed"   to the source, the background and every mixed image, so that all images are pruned;
           "input"   to the network's input only; the mixed images themselves are not pruned;
           "source"  to the source only, before the search starts.
    With "mixed" and "source" x_o is the pruned source. With "mixed" the mean of two images may be pruned back
    to one of them; the search then ends at the limit of iterations.
    """
    t: int
    T: int
    where: str = "mixed"

    def __post_init__(self) -> None:
        prune(torch.zeros(1, dtype=torch.uint8), self.t, self.T)
        if self.where not in PRUNING_PLACES:
            raise UserError(f"pruning where={self.where!r}; use one of {', '.join(PRUNING_PLACES)}")

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return prune(x, self.t, self.T)


@dataclass(frozen=True)
class SearchPath:
    """All iterations, at most I, of a search over N images; those of image n are the first iterations[n]."""
    mixed: torch.Tensor             # [N, I, C, H, W], zeros after an image's last iteration
    mixed_class: torch.Tensor       # int64 [N, I], -1 after the last
    moved_inside: torch.Tensor      # bool [N, I], True where x_c replaced x_s, False where it replaced x_b
    similarity: torch.Tensor        # float32 [N, I], SSIM(x_b, x_s) after the replacement; nan after the last


@dataclass(frozen=True)
class Pairs:
    """Borderline pairs of N sources. Excluded ones keep source and background, with nan similarities."""
    original: torch.Tensor          # x_o, [N, C, H, W]: the source, pruned as `Pruning` says
    inside: torch.Tensor            # x_s, [N, C, H, W]
    outside: torch.Tensor           # x_b, [N, C, H, W]
    inside_class: torch.Tensor      # int64 [N], the network's class of the source
    outside_class: torch.Tensor     # int64 [N]
    iterations: torch.Tensor        # int64 [N], images mixed
    converged: torch.Tensor         # bool [N], SSIM(x_b, x_s) exceeded the threshold
    excluded: torch.Tensor          # bool [N], source and background have the same class
    separability: torch.Tensor      # float32 [N], SSIM(x_b, x_s)
    robustness: torch.Tensor        # float32 [N], SSIM(x_s, x_o)
    adversarial: torch.Tensor       # float32 [N], SSIM(x_b, x_o)
    path: SearchPath | None = None

    def __repr__(self) -> str:
        return (f"Pairs({len(self.excluded)} sources: {int(self.converged.sum())} converged, "
                f"{int(self.excluded.sum())} excluded)")


def search(model: Model, source: torch.Tensor, background: torch.Tensor, *, threshold: float = 0.99,
           max_iterations: int = 9, prune: Pruning | None = None, ssim_convention: str = "matlab",
           objective: str = "separability", keep_path: bool = False) -> Pairs:
    """Algorithm 1 of `ren` on N images at once: pairs of similar images with different classes.

    model           any callable as in `inference`, or one that returns classes, int64 [N]
    source          uint8 or float32 in [0, 1], [N, C, H, W]; its class is the predicted one
    background      of the same type, [1, C, H, W] for all or [N, C, H, W], e.g. white, black, other digits
    threshold       the search of an image ends when SSIM(x_b, x_s) exceeds this; with 1, never early
    max_iterations  largest number of images mixed per source. The paper gives its counter no initial value,
                    so that its 9 could also mean 10; here it is the number of mixed images.
    prune           a `Pruning`, or None
    ssim_convention "matlab", "skimage" or "uniform", see `similarity.ssim`
    objective       "separability" (Equation 2): the outside image is the last x_b. "adversarial" (Equation
                    3): it is the one most similar to x_o among the background and all mixed images of another
                    class; the search and its x_s are the same, since the paper gives no other change of
                    Algorithm 1. Outside images approach x_o as they approach x_s, so this is almost always
                    the last one, too; threshold=1, which never stops early, brings it closer to x_o.
    keep_path       also return all iterations (`SearchPath`)

    Returns `Pairs`. Inputs are not modified.
    Raises UserError for images of another shape or type, a background of another size, options out of range,
    and when every source has the background's class.
    """
    source, background = _check(source, background, threshold, max_iterations, prune, objective)
    original, outside, classify, prune_mixed = _pruned(partial(labels, model), source, background, prune)
    inside_class = classify(original)
    outside_class = classify(outside).expand_as(inside_class).clone()
    excluded = inside_class == outside_class
    if excluded.all():
        raise UserError(f"all {len(source)} sources have their background's class (of classes "
                         f"{sorted(set(inside_class.tolist()))}); choose a background of another class")
    outside = outside.expand_as(source)
    path = _empty_path(source, max_iterations) if keep_path else None

    # The loop holds unfinished images only; the finished ones are put in order at the end.
    at, out = (~excluded).nonzero().squeeze(1), excluded.nonzero().squeeze(1)
    x_s, x_b, c_s, c_b = _rows(at, original, outside, inside_class, outside_class)
    nearest = None
    if objective == "adversarial":
        nearest = _Nearest(original, outside, outside_class, at, ssim_convention)
    finished: list[tuple[torch.Tensor, ...]] = [
        (out, *_rows(out, original, outside, outside_class), torch.zeros_like(out),
         torch.full(out.shape, torch.nan, dtype=torch.float32, device=out.device))]
    for i in range(max_iterations):
        x_c = prune_mixed(mix(x_b, x_s))
        c_c = classify(x_c)
        same = c_c == c_s
        x_s, x_b, c_b = _choose(same, x_c, x_s), _choose(same, x_b, x_c), torch.where(same, c_b, c_c)
        similarity = _ssim(x_b, x_s, ssim_convention)
        if nearest is not None:
            nearest.offer(*_rows((~same).nonzero().squeeze(1), at, x_c, c_c))
        if path is not None:
            path.mixed[at, i], path.mixed_class[at, i] = x_c, c_c
            path.moved_inside[at, i], path.similarity[at, i] = same, similarity
        ends = similarity > threshold if i + 1 < max_iterations else torch.ones_like(same)
        out, stay = ends.nonzero().squeeze(1), (~ends).nonzero().squeeze(1)
        finished.append((*_rows(out, at, x_s, x_b, c_b), torch.full_like(out, i + 1), similarity[out]))
        at, x_s, x_b, c_s, c_b = _rows(stay, at, x_s, x_b, c_s, c_b)
        if not len(at):
            break

    at, *columns = map(torch.cat, zip(*finished))
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
    """The rows `at` of each tensor; `index_select` is much faster than a mask."""
    return [t.index_select(0, at) for t in tensors]


def _choose(mask, a, b):
    """Row i of `a` where mask[i], else of `b`."""
    place = torch.arange(len(mask), device=mask.device) + len(mask) * ~mask
    return torch.cat([a, b]).index_select(0, place)


class _Nearest:
    """For each image, the outside image so far that is most similar to the original (Equation 3)."""

    def __init__(self, original, outside, outside_class, at, convention):
        self.original, self.convention = original, convention
        self.image, self.label = outside.clone(), outside_class.clone()
        self.similarity = torch.full((len(original),), -torch.inf, dtype=torch.float32,
                                     device=original.device)
        self.similarity[at] = _ssim(*_rows(at, outside, original), convention=convention)

    def offer(self, at, images, labels):
        """Consider further outside images [M, C, H, W], of the classes `labels`, for the images `at`."""
        if not len(at):
            return
        similarity = _ssim(images, self.original[at], self.convention)
        better = similarity > self.similarity[at]
        at = at[better]
        self.image[at], self.label[at] = images[better], labels[better]
        self.similarity[at] = similarity[better]


def _pruned(classify, source, background, prune):
    """Original, background, classifier and the function for mixed images, each with `prune` if it acts."""
    def at(*places):
        return prune if prune is not None and prune.where in places else lambda x: x

    of_input = at("input")
    return (at("source", "mixed")(source), at("mixed")(background),
            lambda images: classify(of_input(images)), at("mixed"))


def _similarity(a, b, where, convention):
    """SSIM [N] of the pairs `where`, nan elsewhere."""
    out = torch.full((len(a),), torch.nan, dtype=torch.float32, device=a.device)
    out[where] = _ssim(*_rows(where, a, b), convention=convention)
    return out


def _ssim(a, b, convention):
    return ssim(a, b, convention=convention, data_range=255 / _unit(a))


def _empty_path(source, max_iterations):
    n, i, device = len(source), max_iterations, source.device
    return SearchPath(mixed=source.new_zeros(n, i, *source.shape[1:]),
                      mixed_class=torch.full((n, i), -1, device=device),
                      moved_inside=torch.zeros(n, i, dtype=torch.bool, device=device),
                      similarity=torch.full((n, i), torch.nan, dtype=torch.float32, device=device))


def _check(source, background, threshold: float, max_iterations: int, prune, objective):
    """Source and background, `clipped`. Raises UserError as `search` documents."""
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


def summary(pairs: Pairs) -> dict[str, float | None]:
    """Means and sample standard deviations of the three similarities over the sources not excluded.

    Returns a dict: `searched`, `excluded` and `converged` (numbers of sources), `iterations` (mean), and for
    separability, robustness and adversarial `<name>_mean` and `<name>_std`, as in Tables III and IV of `ren`.
    The standard deviation of one source is None.
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
