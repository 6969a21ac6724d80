"""The bounds of Sutton et al. 2023 as plain functions: the logarithm of the bound on the event that is rare.

The numbers of a formula are arguments, `constants` and `exponents` by name: a wrong formula is the same
function with one of them changed (`statements.wrong_formulas`). A term of a sum has a coefficient, 1, under
its own name. K >= 1 is the constant of Definition 3, the density over that of the uniform law. Theorems 9,
11, 14 and 16 hold for any `law` of data and surface; without one they take uniform data under a roof.
"""
from collections import namedtuple

import numpy as np
from scipy.special import xlogy

from papers.sutton.theory.ball import log_tail

POWERS = {"2 of the square": 2.0, "n/2": 0.0}     # n/2: what is added to it
CAP = {"factor ½": 0.5, "1 before the square": 1.0, "2 of n/2": 2.0}
NEAR = {"ε": 1.0, **CAP}
REACH = {"δ": 1.0, **NEAR}
WHOLE_REACH = {**REACH, "factor ½": 1.0}
DEPTH = {"η": 1.0, **CAP}         # NEAR and REACH in the letters of Section 4.3
DEPTH_REACH = {"δ": 1.0, **DEPTH}
SUM = {**dict.fromkeys(("factor K", "1 of 1 + δ", "δ", "1 before the square"), 1.0), "2 of n/2": 2.0}
MEAN = {"½ of ½(1 + K)": 0.5, **dict.fromkeys(("1 of ½(1 + K)", "K", "r", "δ", "1 before the square"), 1.0),
        "2 of n/2": 2.0}
TWO_CAPS, TWICE = {"2 of γ/2": 2.0, **CAP}, {"2 of the two points": 2.0, **POWERS}
SEGMENT = {"factor ½": 0.5, "2 of 2r": 2.0, "h": 1.0, "2 of n/2": 2.0}
SEGMENT_POWERS = {"2 of r²": 2.0, "n/2": 0.0}
CONE = dict.fromkeys(("factor κ", "1 of 1 + L²", "L²"), 1.0)
CONE_POWERS = {"2 of L²": 2.0, "−½ of κ": -0.5}
BENT = dict.fromkeys(("1 − G(α)", "chance of the height", "α"), 1.0)
PUSHED = {**BENT, "δ": 1.0}
PAIR = {**{f"{name}, {point}": 1.0 for point in "zx" for name in BENT}, "γ": 1.0, "2 of 2Lδ": 2.0}
SPLIT = {**{f"{name}, {part}": 1.0 for part in ("near", "far") for name in (*BENT, "τ")},
         **dict.fromkeys(("1 of 1 + L²", "L²", "κ²τ", "1 of 1 − κ²", "κ²", "δ²", "κ²τ²"), 1.0), **CAP}
SPLIT_POWERS = {**CONE_POWERS, "2 of κ²τ": 2.0, "2 of 1 − κ²": 2.0, "½ of 1 − κ²": 0.5, "2 of δ²": 2.0,
                "2 of κ in κ²τ²": 2.0, "2 of τ in κ²τ²": 2.0, "½ of δ² − κ²τ²": 0.5, **POWERS}
SLAB = {**dict.fromkeys(("factor p", "1 of β", "1 of 1 − p", "p of 1 − p"), 1.0), "2 of 2/n": 2.0}
SLAB_POWERS = {"2/n": 0.0, "½ of β": 0.5}
NONE = {}
_MASSES = -np.expm1(-np.geomspace(0.01, 12, 240)**2 / 2)     # p of Theorem 20: each gives a valid bound


def _cap(n, x, K, factor, one, two, square, shift):
    """log of K/2 (1 - x^2)^(n/2), all numbers given; a negative base counts as 0, x as |x|."""
    base = np.maximum(one - np.abs(x)**square, 0.0)
    return np.log(factor * np.asarray(K)) + xlogy(np.asarray(n, float) / two + shift, base)


def theorem_1(n, epsilon, delta, constants=NEAR, exponents=POWERS):
    """log of the bound of Theorem 1, also of Theorem 19 and Lemma 23: on a cap of a ball of radius delta."""
    return corollary_10(n, epsilon, delta, 1.0, constants, exponents)


def theorem_4(n, epsilon, K=1.0, constants=NEAR, exponents=POWERS):
    return corollary_10(n, epsilon, 1.0, K, constants, exponents)


def corollary_10(n, eta, r, K=1.0, constants=DEPTH, exponents=POWERS):
    near, *cap = constants.values()
    return _cap(n, near * np.divide(eta, r), K, *cap, *exponents.values())


def theorem_5(n, epsilon, delta, K=1.0, constants=REACH, exponents=POWERS):
    return corollary_12(n, epsilon, delta, 1.0, K, constants, exponents)


def corollary_12(n, eta, delta, r, K=1.0, constants=DEPTH_REACH, exponents=POWERS):
    reach, near, *cap = constants.values()
    return _cap(n, (np.multiply(reach, delta) - np.multiply(near, eta)) / r, K, *cap, *exponents.values())


def theorem_18(n, epsilon, delta, constants=WHOLE_REACH, exponents=POWERS):
    return corollary_12(n, epsilon, delta, 1.0, 1.0, constants, exponents)


def theorem_6(n, epsilon, delta, K=1.0, constants=SUM, exponents=POWERS):
    factor, ball, noise, *cap = constants.values()
    return _cap(n, epsilon / (ball + np.multiply(noise, delta)), K, factor, *cap, *exponents.values())


def corollary_15(n, eta, delta, r, K=1.0, constants=MEAN, exponents=POWERS):
    half, one, dense, ball, noise, *cap = constants.values()
    x = eta / (np.multiply(ball, r) + np.multiply(noise, delta))
    return _cap(n, x, one + np.multiply(dense, K), half, *cap, *exponents.values())


def theorem_8(n, gamma, K=1.0, constants=TWO_CAPS, exponents=TWICE):
    return corollary_17(n, gamma, 1.0, K, constants, exponents)


def corollary_17(n, gamma, r, K=1.0, constants=TWO_CAPS, exponents=TWICE):
    two, *cap = constants.values()
    points, *powers = exponents.values()
    return _either(points, _cap(n, gamma / np.multiply(two, r), K, *cap, *powers))


def _either(times, *logs):
    """log of 1 - (product of (1 - p)_+)^times for log p in `logs`, without cancellation."""
    logs = np.broadcast_arrays(*(np.minimum(log, 0.0) for log in logs))
    with np.errstate(divide="ignore"):
        exact = np.log(-np.expm1(times * sum(np.log1p(-np.exp(log)) for log in logs)))
    small = np.logaddexp.reduce(logs) + np.log(times)
    # below 1e-200 the sum of the chances is the answer to every digit, above the exact form is
    return np.where(small < -460, small, exact)


def lemma_23(n, r, h, constants=SEGMENT, exponents=SEGMENT_POWERS):
    factor, twice, height, two = constants.values()
    square, shift = exponents.values()
    h, r = np.asarray(h, float), np.asarray(r, float)
    base = np.maximum(h * (twice * r - height * h) / r**square, 0.0)
    return np.log(factor) + xlogy(np.asarray(n, float) / two + shift, base)


def lemma_13(lipschitz, depth, offset=0.0, constants=CONE, exponents=CONE_POWERS):
    """The distance itself; it does not depend on `offset`, the place of the point along the surface."""
    factor, one, slope = constants.values()
    square, root = exponents.values()
    base = one + slope * np.asarray(lipschitz, float)**square
    return np.log(factor * np.asarray(depth)) + root * np.log(base)


# ---- Theorems 9, 11, 14 and 16: for any law of data and any L-Lipschitz surface --------------------------
# A law gives those of |g| and of the height x.v, exactly or from samples, as logarithms of the probabilities
# that the theorems want small:
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


def _least(law, share, log_wrong):
    """log of the least over alpha of Pr(|g| > alpha) + the chance that a point then is at a wrong height."""
    sums = np.logaddexp(np.log(share) + law.exceeds(law.alpha), log_wrong)
    return np.minimum(sums.min(axis=-1, keepdims=True), 0.0)


def theorem_9(law=None, constants=BENT, exponents=NONE, **cell):
    law = law or roof_law(**cell)
    bent, height, times = constants.values()
    return _least(law, bent, np.log(height) + law.above(-times * law.alpha))[..., 0, 0]


def theorem_11(delta, law=None, constants=PUSHED, exponents=NONE, **cell):
    law = law or roof_law(**cell)
    bent, height, times, reach = constants.values()
    delta, = columns(delta)
    return _least(law, bent, np.log(height) + law.below(times * law.alpha - reach * delta))[..., 0, 0]


def theorem_14(n, lipschitz, delta, law=None, tau=None, constants=SPLIT, exponents=SPLIT_POWERS, **cell):
    """49 values of alpha and 25 of tau, or those of `law` and `tau`, (..., m, 1), are tried."""
    law = law or roof_law(n=n, lipschitz=lipschitz, points=49, **cell)
    tau = splits_of_noise(lipschitz, delta, 25) if tau is None else tau
    n, L, delta = columns(n, lipschitz, delta)
    (bent_near, height_near, times_near, near, bent_far, height_far, times_far, far,
     one, slope, depth, whole, part, radius, inner, *cap) = constants.values()
    (L_power, root, depth_power, part_power, part_root, radius_power, k_power, tau_power, inner_root,
     *powers) = exponents.values()
    k = (one + slope * L**L_power)**root
    side = np.maximum(whole - part * k**part_power, 0)**part_root     # a negative base counts as 0
    along = np.maximum(radius * delta**radius_power - inner * k**k_power * tau**tau_power, 0)**inner_root
    z = depth * k**depth_power * tau - side * along
    # no noise leaves the cone for L > 1
    leaves = np.where(L > 1, -np.inf, _cap(n, z / delta, 1.0, *cap, *powers))
    close = _least(law, bent_near,
                   np.log(height_near) + law.above(-(times_near * law.alpha + near * tau / k)))
    deep = _least(law, bent_far, np.log(height_far) + law.below(times_far * law.alpha - far * tau))
    return np.minimum(np.logaddexp(close, leaves + deep).min(axis=-2), 0.0)[..., 0]


def theorem_16(gamma, delta, lipschitz, law=None, t=None, constants=PAIR, exponents=NONE, **cell):
    """49 values of alpha and 33 of t, or those of `law` and `t`, (..., m, 1), are tried."""
    law = law or roof_law(lipschitz=lipschitz, points=49, **cell)
    gamma, delta, L, eta = columns(gamma, delta, lipschitz, cell.get("eta", 0.0))
    t = -eta + gamma * np.linspace(-1, 1, 33)[:, None] if t is None else t
    *names, margin, steps = constants.values()
    bent_z, height_z, times_z, bent_x, height_x, times_x = names
    xi = margin * gamma - steps * L * delta
    z_fails = _least(law, bent_z, np.log(height_z) + law.above(t - times_z * law.alpha))
    x_fails = _least(law, bent_x, np.log(height_x) + law.below(t - xi + times_x * law.alpha))
    return np.minimum(_either(1, z_fails, x_fails).min(axis=-2), 0.0)[..., 0]


def theorem_20(n, delta, constants=SLAB, exponents=SLAB_POWERS):
    """A bound from below; (1 - p)^(2/n) is 1 - beta^2, beta the half-width of a slab of mass p or more."""
    factor, one, whole, mass, two = constants.values()
    shift, root = exponents.values()
    n, delta = (np.asarray(value, float)[..., None] for value in (n, delta))
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = xlogy(two / n + shift, np.maximum(whole - mass * _MASSES, 0))
        slab = np.maximum(one - 1 - np.expm1(rest), 0)
    log_flip = log_tail(n, np.minimum(slab**root / delta, 1.0))
    return np.minimum((np.log(factor * _MASSES) + log_flip).max(axis=-1), 0.0)
