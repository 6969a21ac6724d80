"""Many like values, such as 45 pairs of classes: do ours rise and fall with the published ones?"""
import numpy as np
from scipy import stats

from shared.records.comparison import QUANTITIES, is_number

FEWEST = 8            # values that a pattern is told of
RESAMPLES = 1_000     # of the values, with replacement: 95% intervals by their percentiles
# What like values have in common beside their column: data sets differ by more than what is compared.
WITHIN = (*QUANTITIES, "dataset", "delta_inferred", "split")


def words(cells):
    """A sentence a column of at least `FEWEST` compared values; none where there are fewer."""
    groups = {}
    for c in cells:
        if c["measured"] is not None and c["status"] in (None, "cannot tell") and is_number(c["printed"]):
            where = [str(c["row"][k]) for k in WITHIN if c["row"].get(k) is not None]
            groups.setdefault(", ".join([c["column"], *where]).replace("_", " "), []).append(c)
    return [_told(name, mine) for name, mine in groups.items() if len(mine) >= FEWEST]


def _told(name, cells):
    printed, measured = (np.array([c[k] for c in cells], float) for k in ("printed", "measured"))
    drawn = np.random.default_rng(0).integers(0, len(cells), (RESAMPLES, len(cells)))
    gap = measured - printed
    low, high = np.percentile(gap[drawn].mean(1), (2.5, 97.5))
    said = f"mean difference {gap.mean():.3g} (95% interval {low:.3g} to {high:.3g})"
    if np.ptp(printed) and np.ptp(measured):
        draws = correlations(printed[drawn], measured[drawn])
        low, high = np.percentile(draws[np.isfinite(draws)], (2.5, 97.5))
        rank, = correlations(printed[None], measured[None])
        said = f"rank correlation {rank:.2f} ({low:.2f} to {high:.2f}), {said}"
    return f"{len(cells)} values of {name}: {said}"


def correlations(a, b):
    """Spearman's rank correlation of the rows of a and b, float64 [n]; nan where a row has one value only."""
    a, b = (stats.rankdata(each, axis=1) for each in (a, b))
    a, b = (each - each.mean(1, keepdims=True) for each in (a, b))
    with np.errstate(invalid="ignore"):
        return (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))
