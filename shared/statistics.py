"""Confidence intervals of shares and of their differences, and rank correlations."""
import numpy as np
from scipy.special import betaincinv

from .runtime import UserError


def share_interval(hits: int, of: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of a share, `hits` of `of` independent cases; in [0, 1].

    Raises UserError unless 0 <= hits <= of and of >= 1.
    """
    if not 0 <= hits <= of or of < 1:
        raise UserError(f"{hits} of {of} cases: a share needs at least one case, and at most as many hits")
    tail = (1 - confidence) / 2
    low = betaincinv(hits, of - hits + 1, tail) if hits else 0.0
    high = betaincinv(hits + 1, of - hits, 1 - tail) if hits < of else 1.0
    return float(low), float(high)


def difference_interval(ups: int, downs: int, of: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a difference of two shares of the same `of` cases, (ups - downs) / of; in [-1, 1].

    ups, downs  cases that only the second, only the first share counts
    From two Clopper-Pearson intervals, of ups among the cases that differ and of these among all. It excludes
    0 just where the exact sign test of ups and downs (McNemar's) is significant.
    """
    moved = ups + downs
    few, many = share_interval(moved, of, confidence=confidence)
    turns = share_interval(ups, moved, confidence=confidence) if moved else (0.0, 1.0)
    low, high = (2 * turn - 1 for turn in turns)
    return low * (few if low > 0 else many), high * (many if high > 0 else few)


def rank_interval(rank: float, of: int) -> tuple[float, float]:
    """The 95% interval of Spearman's rank correlation over `of` independent cases; in [-1, 1].

    By Fisher's transformation with the standard error of Bonett and Wright (2000); a bootstrap of ten cases
    is too narrow. That of equal or opposite orders ends at 1 or -1, and at the other end as if two neighbours
    were swapped. Of three cases or fewer, the whole range.
    """
    if of < 4:
        return -1.0, 1.0
    swapped = 1 - 6 / (of**3 - of)
    r = np.clip(rank, -swapped, swapped)
    half = 1.96 * np.sqrt((1 + r**2 / 2) / (of - 3))
    low, high = np.tanh(np.arctanh(r) + np.array([-half, half]))
    return -1.0 if rank <= -1 else float(low), 1.0 if rank >= 1 else float(high)


def rank_correlations(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Spearman's rank correlation of the rows of a and b, float64 [n]; nan where a row is constant."""
    from scipy.stats import rankdata

    a, b = (rankdata(values, axis=1) for values in (a, b))
    a, b = (ranks - ranks.mean(1, keepdims=True) for ranks in (a, b))
    with np.errstate(invalid="ignore"):
        return (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))
