"""Numbers of a report card: shares and quantiles with their intervals, and differences of two models."""
from dataclasses import dataclass, field

import numpy as np
import torch

from ..statistics import share_interval

DRAWS = 1000    # resamples of the images for the interval of a difference


@dataclass
class Measure:
    """One number of a model, with its 95% interval."""
    name: str                   # as a condition and `card.json` call it
    label: str
    value: float | None         # None: no image allows it
    low: float | None
    high: float | None
    n: int                      # images that it rests on
    unit: str = ""              # "%" (of a share in [0, 1]), "L2", "RMS", "SSIM", or ""
    better: str = ""            # "higher", "lower", or "" where neither is
    images: list = field(default_factory=list)   # its value for each image, None where there is none
    draws: list = field(default_factory=list)    # its values over resamples, where an image has none


def share(name, label, hits, among=None, **more):
    """The `Measure` of a share of images, from a bool for each; of those `among` alone, another bool."""
    hits = hits.cpu()
    among = torch.ones_like(hits) if among is None else among.cpu()
    count, n = int(hits[among].sum()), int(among.sum())
    low, high = share_interval(count, n) if n else (None, None)
    return Measure(name, label, count / n if n else None, low, high, n, "%",
                   images=[float(hit) if counts else None for hit, counts in zip(hits, among)], **more)


def quantile(name, label, values, unit, q=0.5, **more):
    """The `Measure` of a quantile, from a value for each image (nan: none); its interval is one of ranks."""
    from scipy.stats import quantile_test  # here: it takes a second to import
    values = values.detach().cpu().double()
    there = values[~values.isnan()]
    if not len(there):
        return Measure(name, label, None, None, None, 0, unit, **more)
    ends = map(float, quantile_test(there.numpy(), p=q).confidence_interval(0.95))   # no law is assumed
    images = [None if np.isnan(v) else v for v in values.tolist()] if q == 0.5 else []
    return Measure(name, label, float(there.quantile(q)), *(None if np.isnan(end) else end for end in ends),
                   len(there), unit, images=images, **more)


def difference(first, second, generator):
    """`(value, low, high, n)` of second minus first on the n images that both have; None of no images.

    The interval of a median resamples images, the same ones for both models.
    """
    if first.draws and len(first.draws) == len(second.draws):
        moved, value, n = np.subtract(second.draws, first.draws), second.value - first.value, first.n
        drawn = moved - np.nanmean(moved) + value
    else:
        if len(first.images) != len(second.images):
            return None
        pairs = np.array([(a, b) for a, b in zip(first.images, second.images) if None not in (a, b)])
        if len(pairs) < 2:
            return None
        n = len(pairs)
        if first.unit == "%":
            return *_of_shares(*pairs.T), n
        rows = (torch.randint(n, (n,), generator=generator).numpy() for _ in range(DRAWS))
        value, *drawn = (np.subtract(*np.median(some, axis=0)[::-1])
                         for some in (pairs, *(pairs[r] for r in rows)))
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return float(value), float(low), float(high), n


def _of_shares(first, second):
    """Second minus first share of the same images (0 or 1), and the ends of its 95% interval.

    Newcombe 1998, method 10: from the intervals of both (Wilson) and their correlation. Resampling would take
    four images that differ, all in one direction, for a difference beyond chance.
    """
    from scipy.stats import binomtest
    n, shares = len(first), (first.mean(), second.mean())
    (low1, high1), (low2, high2) = (binomtest(int(hits.sum()), n).proportion_ci(method="wilson")
                                    for hits in (first, second))
    both, ones, twos = (first * second).sum(), first.sum(), second.sum()
    excess = n * both - ones * twos     # both times neither minus the two ways to differ
    excess = max(excess - n / 2, 0) if excess > 0 else excess
    spread = (ones * (n - ones) * twos * (n - twos)) ** 0.5
    correlation = excess / spread if spread else 0.0

    def reach(a, b):
        return (a**2 - 2 * correlation * a * b + b**2) ** 0.5

    value = shares[1] - shares[0]
    return (float(value), float(value - reach(shares[1] - low2, high1 - shares[0])),
            float(value + reach(shares[0] - low1, high2 - shares[1])))
