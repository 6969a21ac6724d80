"""The probabilities of `ball` and `models` a second time, by scipy's law of a coordinate and its integrator.

The law of a coordinate T of a uniform point of the unit ball of R^n is scipy's `rdist` with c = n + 1. A page
that shows an exact value holds it against these, which use neither the closed forms nor the integrator of the
first evaluation. n is a scalar.
"""
import numpy as np
from scipy import integrate, stats

_REACH = 12.0  # in standard deviations 1/sqrt(n): beyond lies less than exp(-72) of the ball


def _integral(function, ends):
    """Integral over the panels between `ends`, an array."""
    return float(integrate.tanhsinh(function, ends[:-1], ends[1:], rtol=1e-10).integral.sum())


def cap_share(n, x):
    """Pr(T > x): the share of the unit ball of R^n beyond distance x of its centre, 0 <= x < 1."""
    # finer near x, where a far cap has nearly all its volume
    steps = np.array([0, 0.05, 0.2, 0.5, 1, 2, 3, 4.5, 6, 9, 12, 20]) / np.sqrt(n)
    return _integral(stats.rdist(n + 1).pdf, np.append((x + steps)[x + steps < 1], 1.0))


def crossing(n, epsilon, delta, lowest=-1.0):
    """Pr(delta S > epsilon + T | T > lowest), T, S coordinates of uniform points of the unit ball; scalars.

    The exact value of Theorem 6 and, with delta = 1 and epsilon = gamma, the complement of Theorem 8 (Sutton
    et al., Section 4.2); with lowest = 0 that of Theorem 19 (Section 5). Only T within 12/sqrt(n) counts, so
    values below 1e-20 are not to be trusted.
    """
    law, edge = stats.rdist(n + 1), min(1, _REACH / np.sqrt(n))
    low = max(-edge, lowest)
    kinks = [-epsilon, delta - epsilon, -delta - epsilon]
    ends = np.clip([*np.linspace(low, edge, 25), *kinks], low, edge)
    ends = np.unique(np.round(ends, 12))  # no panel between two ends that differ by rounding
    return _integral(lambda t: law.pdf(t) * law.sf((epsilon + t) / delta), ends) / law.sf(lowest)


def beyond_graph(n, start, threshold):
    """Pr(T_1 > start + threshold(|T_2|)), two coordinates of a uniform point of the unit ball of R^n, n >= 2.

    Given T_2 = p, T_1 is sqrt(1 - p^2) times a coordinate in one dimension less. The threshold is a function.
    """
    law, rest = stats.rdist(n + 1), stats.rdist(n)
    return _integral(lambda p: 2 * law.pdf(p) * rest.sf((start + threshold(p)) / np.sqrt(1 - p * p)),
                     np.linspace(0, min(1, _REACH / np.sqrt(n)), 25))
