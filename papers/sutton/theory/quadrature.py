"""The probabilities of `ball` and `models` a second time, by plain numerical integration.

A page that shows an exact value holds it against these: they start from the cross-sections of a ball, use
neither the closed forms nor the integrator of the first evaluation, and are a thousand times slower.
"""
import numpy as np
from scipy import integrate, stats

_REACH = 12.0  # in standard deviations 1/sqrt(n): beyond lies less than exp(-72) of the ball


def _integral(function, ends):
    """Integral over the panels between `ends`, each by scipy's adaptive rule."""
    return sum(integrate.quad(function, a, b, epsabs=0, epsrel=1e-10, limit=200)[0]
               for a, b in zip(ends, ends[1:]))


def cap_share(n, x):
    """Share of the unit ball of R^n beyond distance x of its centre, 0 <= x < 1, n and x scalars.

    The cross-section at height t has volume proportional to (1 - t^2)^((n-1)/2): the area beyond x over the
    whole area. Relative error about 1e-10 while the share is above the smallest float.
    """
    width = 1 / np.sqrt(n)

    def area(t):
        return np.exp((n - 1) / 2 * np.log1p(-(t * t))) if abs(t) < 1 else float(n == 1)

    def panels(low):  # finer near `low`, where a far cap has nearly all its volume
        steps = width * np.array([0, 0.05, 0.2, 0.5, 1, 2, 3, 4.5, 6, 9, 12, 20])
        return [*(low + steps)[low + steps < 1], 1.0]

    return _integral(area, panels(x)) / (2 * _integral(area, panels(0.0)))


def crossing(n, epsilon, delta, lowest=-1.0):
    """Pr(delta S > epsilon + T | T > lowest), T, S coordinates of uniform points of the unit ball; scalars.

    The exact value of Theorem 6 and, with delta = 1 and epsilon = gamma, the complement of Theorem 8 (Sutton
    et al., Section 4.2); with lowest = 0 that of Theorem 19 (Section 5). S^2 has the law Beta(1/2, (n+1)/2),
    taken from scipy.stats. Only T within 12/sqrt(n) counts, so values below 1e-20 are not to be trusted.
    """
    law, width = stats.beta(0.5, (n + 1) / 2), 1 / np.sqrt(n)

    def integrand(angle):  # T = sin(angle): the density has no edges left
        needed = (epsilon + np.sin(angle)) / delta
        beyond = law.sf(needed**2) / 2
        return np.cos(angle) ** n * (beyond if needed > 0 else 1 - beyond)

    edge = min(np.pi / 2, _REACH * width)
    low = max(-edge, lowest * np.pi / 2)
    kinks = np.arcsin(np.clip([-epsilon, delta - epsilon, -delta - epsilon], -1, 1))
    ends = np.clip([*np.linspace(low, edge, 25), *kinks], low, edge)
    ends = np.unique(np.round(ends, 12))  # no panel between two ends that differ by rounding
    return _integral(integrand, ends) / _integral(lambda angle: np.cos(angle) ** n, ends)


def beyond_graph(n, start, threshold):
    """Pr(T_1 > start + threshold(|T_2|)), two coordinates of a uniform point of the unit ball of R^n, n >= 2.

    scipy's beta laws and adaptive integration over T_2; n and start scalars, the threshold a function.
    """
    law, rest = stats.beta(0.5, (n + 1) / 2), stats.beta(0.5, n / 2)

    def integrand(p):  # given T_2 = p, T_1 is a coordinate in one dimension less, radius sqrt(1 - p^2)
        x = (start + threshold(p)) / np.sqrt(1 - p * p)
        beyond = rest.sf(x * x) / 2
        return 2 * p * law.pdf(p * p) * (beyond if x > 0 else 1 - beyond)

    return _integral(integrand, np.linspace(0, min(1, _REACH / np.sqrt(n)), 25))
