"""What Theorems 9, 11, 14 and 16 need of data and surface: the laws of |g| and of the height x.v.

The theorems hold for any law and any L-Lipschitz surface g. A `Law` gives both, exactly or from samples, as
logarithms of the probabilities that the theorems want small.
"""
from collections import namedtuple

import numpy as np

from papers.sutton.theory.ball import log_tail

# exceeds(a) = log Pr(|g| > a), above(t) = log Pr(x.v >= t), below(t) = log Pr(x.v < t), functions of arrays
# whose last two axes are one theorem's own; alpha: the places that are tried for the theorems' alpha.
Law = namedtuple("Law", "exceeds above below alpha")


def columns(*values):
    """Numbers as float arrays with two more axes, for the tau or t and the alpha of a theorem."""
    return [np.asarray(value, dtype=float)[..., None, None] for value in values]


def log_share(condition, share=1.0):
    """log of `share` where a condition holds, -inf elsewhere."""
    with np.errstate(divide="ignore"):
        return np.log(np.where(condition, share, 0.0))


def roof_law(n, eta, lipschitz, points=129):
    """Uniform data in the unit ball of R^n, n >= 2, centred eta >= 0 below the plane, under a roof g = -L|p|.

    `points` values of alpha go up to L, beyond which |g| never is.
    """
    n, eta, slope = columns(n, eta, lipschitz)

    def exceeds(alpha):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(slope == 0, -np.inf, np.log(2) + log_tail(n, alpha / slope))

    return Law(exceeds, lambda t: log_tail(n, t + eta), lambda t: log_tail(n, -(t + eta)),
               slope * np.linspace(0, 1, points))


def splits_of_noise(lipschitz, delta, points):
    """Values of tau for Theorem 14, (..., points, 1): [L delta, delta], or delta alone for L > 1."""
    slope, delta = columns(lipschitz, delta)
    return delta * (1 - np.linspace(0, 1, points)[:, None] * np.maximum(1 - slope, 0.0))
