"""Numbers of a report card: shares and quantiles with their intervals, and differences of two models."""
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from ..statistics import difference_interval, share_interval

DRAWS = 1000    # resamples of the images for the interval of a difference
CHANCE = 0.05   # a difference is beyond chance where its probability is at most this
FEW = 20        # images below which the card says that they are few
LEAST = 5       # images below which it shows no number
KNOWN_IMAGES = 100      # of each known network, that the attacks took
SYMBOLS = {"Linf": "L∞", "L2": "L2"}


@dataclass
class Measure:
    """One number of a model, with its 95% interval over images."""
    name: str                   # as a condition and `card.json` call it
    label: str
    value: float | None         # None: no image allows it
    low: float | None
    high: float | None
    n: int                      # images that it rests on
    unit: str = ""              # "%" (of a share in [0, 1]), "L2", "RMS", "SSIM", or ""
    better: str = ""            # "higher", "lower", or "" where neither is
    # its value for each image, None where there is none
    images: list[float | None] = field(default_factory=list)
    draws: list[float] = field(default_factory=list)    # its values over resamples, where an image has none
    q: float = 0.5              # of a quantile

    @property
    def drawn(self) -> bool:
        """Whether it rests on enough images to be drawn beside other networks."""
        return self.n >= LEAST and None not in (self.value, self.low, self.high)

    def of(self, rows: list[bool]) -> "Measure":
        """The same measure of these of its images alone."""
        values = torch.tensor([torch.nan if v is None else v for v in self.images], dtype=torch.float64)
        kept, more = torch.tensor(rows), {"better": self.better}
        if self.unit == "%":
            return share(self.name, self.label, values == 1, kept, **more)
        return quantile(self.name, self.label, values.where(kept, torch.nan), self.unit, self.q, **more)


class Difference(NamedTuple):
    """Of two models' measure on the same images: the second minus the first."""
    value: float
    low: float | None   # ends of its 95% interval over images; None where they are too few
    high: float | None
    n: int              # images
    p: float | None     # probability of one as large by chance; None where there is no test
    least: float = 0.0  # the smallest p that the test allows for so many images


def share(name: str, label: str, hits: torch.Tensor, among: torch.Tensor | None = None,
          **more: Any) -> Measure:
    """The `Measure` of a share of images, from a bool for each; of those `among` alone, another bool."""
    hits = hits.cpu()
    among = torch.ones_like(hits) if among is None else among.cpu()
    count, n = int(hits[among].sum()), int(among.sum())
    low, high = share_interval(count, n) if n else (None, None)
    return Measure(name, label, count / n if n else None, low, high, n, "%",
                   images=[float(hit) if counts else None for hit, counts in zip(hits, among)], **more)


def quantile(name: str, label: str, values: torch.Tensor, unit: str, q: float = 0.5, **more: Any) -> Measure:
    """The `Measure` of a quantile, from a value for each image (nan: none); its interval is one of ranks."""
    from scipy.stats import quantile_test  # here: it takes a second to import
    values = values.detach().cpu().double()
    there = values[~values.isnan()]
    images = [None if np.isnan(v) else v for v in values.tolist()]
    if not len(there):
        return Measure(name, label, None, None, None, 0, unit, images=images, q=q, **more)
    ends = map(float, quantile_test(there.numpy(), p=q).confidence_interval(0.95))   # no law is assumed
    low, high = (None if np.isnan(end) else end for end in ends)
    return Measure(name, label, float(there.quantile(q)), low, high, len(there), unit, images=images, q=q,
                   **more)


def resampled(name: str, label: str, value: float, draws: np.ndarray, n: int,
              least: float = -np.inf, better: str = "") -> Measure:
    """The `Measure` of a value of n images together, from its values over resamples.

    Its interval lies around the value: a resample is narrower, or farther from a line, than all images.
    """
    low, high = value + np.nanquantile(draws, (0.025, 0.975)) - np.nanmean(draws)
    return Measure(name, label, value, max(least, float(low)), float(high), n, better=better,
                   draws=draws.tolist())


def calibration(scores: torch.Tensor, hits: torch.Tensor, generator: torch.Generator,
                bins: int = 15) -> tuple[float, np.ndarray]:
    """Expected calibration error of logits [N, K], of which some are `hits` (bool [N]), and its resamples."""
    confidence = scores.cpu().double().softmax(1).amax(1)
    places, gap = (bins * confidence).long().clamp(max=bins - 1), hits.cpu().double() - confidence

    def error(rows):
        return float(torch.zeros(bins, dtype=gap.dtype).index_add(0, places[rows], gap[rows]).abs().sum()
                     / len(rows))
    n = len(gap)
    return error(torch.arange(n)), np.array([error(torch.randint(n, (n,), generator=generator))
                                             for _ in range(200)])


def magnitude(norm: str, size: float) -> str:
    """A norm as a reader knows it: 8/255 in L∞, where a decimal number is longer."""
    of_255, short = round(255 * size, 6), abs(float(f"{size:.2g}") - size) < 1e-9
    return f"{of_255:g}/255" if norm == "Linf" and of_255.is_integer() and not short else f"{size:.3g}"


# ---- two models ------------------------------------------------------------------------------------------
def on_same_images(first: Measure, second: Measure) -> tuple[Measure, Measure]:
    """Two models' measure, each on the images that have a value of both."""
    if not first.images or len(first.images) != len(second.images):
        return first, second
    rows = [None not in pair for pair in zip(first.images, second.images)]
    return first.of(rows), second.of(rows)


def difference(first: Measure, second: Measure, generator: torch.Generator) -> Difference | None:
    """The `Difference` of two models' measure; None where they share fewer than two images.

    The interval of a quantile resamples images, the same ones for both models; there is none where one of
    the two quantiles has none. The test is an exact sign test of the images whose values differ (McNemar's,
    of shares), or one of resamples, by the normal law.
    """
    from scipy.stats import binomtest, norm
    if first.value is None or second.value is None:
        return None
    if first.draws and len(first.draws) == len(second.draws):
        moved, value = np.subtract(second.draws, first.draws), second.value - first.value
        low, high = np.nanquantile(moved, (0.025, 0.975)) - np.nanmean(moved) + value
        spread = float(np.nanstd(moved))
        chance = 2 * norm.sf(abs(value) / spread) if spread else float(value == 0)
        return Difference(value, float(low), float(high), first.n, float(chance))
    pairs = np.array([pair for pair in zip(first.images, second.images) if None not in pair])
    if len(first.images) != len(second.images) or len(pairs) < 2:
        return None
    n, (a, b) = len(pairs), pairs.T
    ups, downs = int((b > a).sum()), int((b < a).sum())
    chance = float(binomtest(ups, ups + downs).pvalue) if ups + downs and first.q == 0.5 else None
    least = 2.0 ** (1 - n) if first.q == 0.5 else 0.0
    if first.unit == "%":
        return Difference((ups - downs) / n, *difference_interval(ups, downs, n), n, chance, least)
    rows = (torch.randint(n, (n,), generator=generator).numpy() for _ in range(DRAWS))
    value, *drawn = (np.subtract(*np.quantile(some, first.q, axis=0)[::-1])
                     for some in (pairs, *(pairs[r] for r in rows)))
    ends = first.low, first.high, second.low, second.high
    low, high = (None, None) if None in ends else map(float, np.nanquantile(drawn, (0.025, 0.975)))
    return Difference(float(value), low, high, n, chance, least)


def holm(chances: dict[str, float]) -> dict[str, float]:
    """Probabilities of several tests, corrected for their number (Holm 1979): {name: in [0, 1]} of such."""
    corrected, largest = {}, 0.0
    for rank, name in enumerate(sorted(chances, key=chances.__getitem__)):
        largest = corrected[name] = max(largest, min(1.0, (len(chances) - rank) * chances[name]))
    return corrected
