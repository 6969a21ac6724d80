"""Confidence intervals of shares, and rank correlations."""
import numpy as np

from .runtime import UserError


def share_interval(hits: int, of: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of a share, `hits` of `of` independent cases; in [0, 1].

    Raises UserError unless 0 <= hits <= of and of >= 1.
    """
    if not 0 <= hits <= of or of < 1:
        raise UserError(f"{hits} of {of} cases: a share needs at least one case, and at most as many hits")
    from scipy.stats import binomtest  # here: the import takes a second

    low, high = binomtest(hits, of).proportion_ci(confidence, method="exact")
    return float(low), float(high)


def rank_correlations(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Spearman's rank correlation of the rows of a and b, float64 [n]; nan where a row is constant."""
    from scipy.stats import rankdata

    a, b = (rankdata(values, axis=1) for values in (a, b))
    a, b = (ranks - ranks.mean(1, keepdims=True) for ranks in (a, b))
    with np.errstate(invalid="ignore"):
        return (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))
