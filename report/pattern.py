"""Many like values, such as 45 pairs of classes: do ours rise and fall with the published ones?"""
import numpy as np

from report.comparison import QUANTITIES, is_number

FEWEST = 8            # values that a pattern is told of
RESAMPLES = 1_000     # of the values, with replacement: 95% intervals by their percentiles
# What like values have in common beside their column: data sets differ by more than what is compared.
WITHIN = (*QUANTITIES, "dataset", "delta_inferred", "split")


def rows(cells):
    """A row for each column of at least `FEWEST` compared values that do not all agree.

    Its rank correlation and mean difference (reproduced less published) are [value, low, high]: with the ends
    of a 95% interval. A column of one value throughout, published or reproduced, has no rank correlation.
    """
    groups = {}
    for c in cells:
        if c["measured"] is not None and c["status"] in (None, "cannot tell") and is_number(c["printed"]):
            where = [str(c["row"][k]) for k in WITHIN if c["row"].get(k) is not None]
            groups.setdefault(", ".join([c["column"], *where]).replace("_", " "), []).append(c)
    return [{"values of": name, **_compared(mine)} for name, mine in groups.items()
            if len(mine) >= FEWEST and not all(c["agrees"] for c in mine)]


def _compared(cells):
    """Number, rank correlation and mean difference of compared cells."""
    printed, measured = (np.array([c[k] for c in cells], float) for k in ("printed", "measured"))
    drawn = np.random.default_rng(0).integers(0, len(cells), (RESAMPLES, len(cells)))
    gap = measured - printed
    rank = None
    if np.ptp(printed) and np.ptp(measured):
        draws = correlations(printed[drawn], measured[drawn])
        rank = [*correlations(printed[None], measured[None]), *_interval(draws[np.isfinite(draws)])]
    return {"values": len(cells), "rank correlation": rank,
            "mean difference": [gap.mean(), *_interval(gap[drawn].mean(1))]}


def _interval(draws):
    """Ends of the 95% interval of draws."""
    return np.percentile(draws, (2.5, 97.5))


def correlations(a, b):
    """Spearman's rank correlation of the rows of a and b, float64 [n]; nan where a row has one value only."""
    from scipy import stats  # here: it takes a second to import

    a, b = (stats.rankdata(each, axis=1) for each in (a, b))
    a, b = (each - each.mean(1, keepdims=True) for each in (a, b))
    with np.errstate(invalid="ignore"):
        return (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))
