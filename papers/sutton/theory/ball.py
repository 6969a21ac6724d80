"""The uniform law on a ball, seen along one direction: density, tail, caps, samplers.

Every probability of the theory part of Sutton et al. 2023 is about a hyperplane and points drawn uniformly
from balls, so only one coordinate matters: T, the first coordinate of a uniform point of the unit ball of R^n
(T^2 ~ Beta(1/2, (n+1)/2), and sqrt(n) T is close to a standard normal). Working with T instead of n-vectors
makes dimension 200,000 as cheap as dimension 2, and logarithms keep probabilities such as exp(-40000) usable.

Arguments broadcast against each other like numpy arrays.
"""
import numpy as np
from scipy import special

# 20 nodes integrate exp(-v) times a function that is smooth on the scale of hundreds to machine precision.
_LAGUERRE_NODES, _LAGUERRE_WEIGHTS = special.roots_laguerre(20)
_SMALLEST_SAFE = 1e-280


def broadcast(*values):
    """Numbers as float arrays of one shape."""
    return np.broadcast_arrays(*(np.asarray(value, float) for value in values))


def log_density(n, t):
    """Natural logarithm of the density f_n(t) of T; -inf outside [-1, 1].

    f_n(t) = Gamma(n/2+1) / (sqrt(pi) Gamma((n+1)/2)) (1-t^2)^((n-1)/2).
    """
    n, t = broadcast(n, t)
    inside = np.abs(t) <= 1
    t, power = np.where(inside, t, 0.0), (n - 1) / 2
    # poch is the ratio of Gammas; subtracting two values of gammaln would lose five digits at n = 200,000
    constant = np.log(special.poch((n + 1) / 2, 0.5)) - 0.5 * np.log(np.pi)
    return np.where(inside, constant + special.xlog1py(power, t) + special.xlog1py(power, -t), -np.inf)


def density(n, t):
    """Density f_n(t) of T."""
    return np.exp(log_density(n, t))


def tail(n, x):
    """Share of the unit ball's volume, in n dimensions, beyond a plane at distance x from its centre.

    Pr(T > x) = I_{1-x^2}((n+1)/2, 1/2) / 2 for x >= 0, and 1 - tail(n, -x) for x < 0. Underflows to 0 where
    `log_tail` does not.
    """
    n, x = broadcast(n, x)
    beyond = _smaller_side(n, x)
    return np.where(x >= 0, beyond, 1 - beyond)


def log_tail(n, x):
    """Natural logarithm of Pr(T > x), accurate also where the probability underflows; -inf for x >= 1."""
    n, x = broadcast(n, x)
    beyond = _smaller_side(n, x)
    with np.errstate(divide="ignore"):
        result = np.where(x >= 0, np.log(beyond), np.log1p(-beyond))
    tiny = (beyond < _SMALLEST_SAFE) & (x >= 0) & (x < 1)
    if tiny.any():
        result[tiny] = _log_far_tail(n[tiny], x[tiny])
    return result


def _smaller_side(n, x):
    """Pr(T > |x|), at most 1/2. For small x, which 1 - x^2 rounds away, it is 1/2 less the share up to x."""
    a = np.minimum(np.abs(x), 1.0)
    near = n * a**2 < 0.1
    if not near.any():
        return special.betainc((n + 1) / 2, 0.5, (1 - a) * (1 + a)) / 2
    half = special.betainc(np.where(near, 0.5, (n + 1) / 2), np.where(near, (n + 1) / 2, 0.5),
                           np.where(near, a**2, (1 - a) * (1 + a))) / 2
    return np.where(near, 0.5 - half, half)


def _log_far_tail(n, x):
    """log Pr(T > x) for 1-d arrays with n x^2 >> 1.

    The substitution 1-t^2 = (1-x^2) exp(-2v/(n+1)) turns the integral of f_n over [x, 1] into the closed
    factor (1-x^2)^((n+1)/2) times an integral of exp(-v) against a slowly varying function: Gauss-Laguerre.
    """
    log_edge = np.log1p(-x) + np.log1p(x)
    v = _LAGUERRE_NODES * (2 / (n[:, None] + 1))
    slow = 1 / np.sqrt(-np.expm1(log_edge[:, None] - v))
    return log_density(n, 0.0) + (n + 1) / 2 * log_edge - np.log(n + 1) + np.log(slow @ _LAGUERRE_WEIGHTS)


def sample_coordinates(n, draws, generator, k=1):
    """First k coordinates of uniform points of the unit ball of R^n: (draws,) for k = 1, else (draws, k).

    A direction is a normal vector over its length, the radius is U^(1/n); the n - k coordinates that nobody
    looks at enter only through their squared length, a chi-square number, so no n-vector is drawn.
    `generator` is a numpy Generator. n is a scalar, at least k.
    """
    seen = generator.standard_normal((draws, k))
    squared = (seen**2).sum(axis=1)
    if n > k:
        squared += generator.chisquare(n - k, size=draws)
    points = seen * (generator.random(draws) ** (1 / n) / np.sqrt(squared))[:, None]
    return points[:, 0] if k == 1 else points


def sample_points(n, draws, generator, radius=1.0):
    """Uniform points of the ball of R^n, whole vectors of shape (draws, n), for n small enough for memory."""
    return radius * sample_coordinates(n, draws, generator, k=n).reshape(draws, -1)
