"""Integrals of log-concave functions in log space, many at once.

The exact probabilities of the two balls, the half-balls and the roof-shaped surface are integrals of one
function that rises and falls once (its logarithm is concave), over widths that shrink like 1/sqrt(n) and with
values far below the smallest float. So: find the peak, find where the function has become negligible, put
Gauss-Legendre panels between, and add up in logarithms, all cells of a parameter grid in a few numpy calls.
"""
import numpy as np
from scipy import special

_NEGLIGIBLE = 42.0  # exp(-42) = 6e-19: this far (in logarithm) below the peak nothing can change a float64
_GOLDEN = (np.sqrt(5) - 1) / 2


def concave_argmax(function, low, high, steps=60):
    """Where a concave function is largest on [low, high], for arrays of intervals (golden section).

    `function` maps an array of positions, shape of `low`, to values; -inf is allowed. The interval shrinks by
    0.618 a step; values are accurate to float precision, positions to about its square root.
    """
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    f_left, f_right = function(left), function(right)
    for _ in range(steps):
        go_left = f_left >= f_right
        low, high = np.where(go_left, low, left), np.where(go_left, right, high)
        probe = np.where(go_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        f_probe = function(probe)
        left, right = np.where(go_left, probe, right), np.where(go_left, left, probe)
        f_left, f_right = np.where(go_left, f_probe, f_right), np.where(go_left, f_left, f_probe)
    return np.where(f_left >= f_right, left, right)


def _support_edge(function, peak, f_peak, edge):
    """A point between `peak` and `edge` beyond which the function is negligible.

    Bisection on the logarithm of the distance; one twice too large costs accuracy that the panels can spare.
    """
    reach = edge - peak
    near, far = np.full_like(peak, -40.0), np.zeros_like(peak)
    for _ in range(12):
        half = (near + far) / 2
        negligible = function(peak + reach * np.exp(half)) < f_peak - _NEGLIGIBLE
        near, far = np.where(negligible, near, half), np.where(negligible, half, far)
    return peak + reach * np.exp(far)


def log_integral(function, low, high, breaks):
    """Logarithm of the integral of exp(function) over [low, high]; -inf where the interval is empty.

    `function(t)` must be concave in t and broadcast against `low` and `high` (any one shape) with one axis
    more in front. `breaks`, shape (b,) + low.shape, lists points where the function changes on a scale
    shorter than its own width or is not smooth; they become panel ends. Panels use t = a + (b - a) u^2 (3 -
    2u), which makes the square-root-like ends of ball densities smooth.
    """
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    empty = ~(high > low)
    low, high = np.where(empty, 0.0, low), np.where(empty, 0.0, high)
    peak = concave_argmax(function, low, high, steps=40)  # a place to start and a scale: more would not help
    f_peak = function(peak)
    start = _support_edge(function, peak, f_peak, low)
    stop = _support_edge(function, peak, f_peak, high)
    share = np.arange(1, 6).reshape((-1,) + (1,) * low.ndim) / 6
    inner = np.concatenate([start + (stop - start) * share, np.clip(breaks, start, stop)])
    ends = np.concatenate([start[None], np.sort(inner, axis=0), stop[None]])
    u, weights = special.roots_legendre(16)
    u = ((u + 1) / 2).reshape((-1, 1) + (1,) * low.ndim)
    weights = weights.reshape(u.shape) / 2 * 6 * u * (1 - u)
    width = np.diff(ends, axis=0)
    values = function(ends[:-1] + width * u**2 * (3 - 2 * u))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(np.isfinite(f_peak), np.exp(values - f_peak), 0.0)
        result = f_peak + np.log((weights * width * scaled).sum(axis=(0, 1)))
    return np.where(empty | ~np.isfinite(f_peak), -np.inf, result)
