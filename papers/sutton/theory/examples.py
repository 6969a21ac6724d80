"""Extremal examples: data and surfaces for which the truth is known exactly and comes near to a bound.

A bound that is nowhere nearly attained proves little by never being violated. Each example is solved by hand
or by one integral; nothing is drawn at random. The general theorems (9, 11, 14, 16) allow any law and any
L-Lipschitz surface, so their examples are laws of a few points and surfaces to go with them.
"""
from collections import namedtuple

import numpy as np
from scipy.special import betaln, xlogy

from papers.sutton.theory.ball import broadcast, log_tail
from papers.sutton.theory.formulas import Law, columns, log_share, splits_of_noise
from papers.sutton.theory.integral import log_integral
from papers.sutton.theory.models import log_half_balls, log_two_balls

DIMENSIONS = (1, 2, 3, 5, 10, 20, 50, 100, 300, 1000, 3072, 10_000, 50_000, 150_528, 200_000)
_N = (1, 2, 3, 10, 100, 3072)
# Arguments of a formula, `given`, where the logarithm of the truth lies between two values, equal where it is
# known; `at` is what a reader is shown of the place. All are arrays (m,), a law apart.
Case = namedtuple("Case", "name given log_low log_high at")


def cells(**axes):
    """All combinations of some values, as float arrays (m,)."""
    grid = np.meshgrid(*axes.values(), indexing="ij")
    return {name: np.asarray(axis, float).ravel() for name, axis in zip(axes, grid)}


def known(name, at, log_truth, **given):
    """A case whose truth is known; the formula takes `given`, else the place itself."""
    truth = np.broadcast_to(log_truth, len(next(iter(at.values()))))
    return Case(name, given or at, truth, truth, at)


def _levels(*parts):
    """Places for a search: simple multiples of each of `parts`, arrays (m,), as (m, 1, k)."""
    return np.concatenate([part * np.array([0, 0.25, 0.5, 1, 2, 4]) for part in columns(*parts)], axis=-1)


def _point_law(bends, alpha, *heights):
    """Law of a few points: log Pr(|g| > a) is `bends(a)`; heights are (height, share) pairs."""
    def chance(happens):
        return log_share(True, sum(share * happens(height) for height, share in heights))

    return Law(bends, lambda t: chance(lambda h: h >= t), lambda t: chance(lambda h: h < t), alpha)


# ---- caps: all the mass that Definition 3 allows beyond a plane ------------------------------------------
def full_caps(distance, **axes):
    """Theorems 4 and 5: K times the uniform density in the cap beyond `distance(cell)`."""
    at = cells(**axes, K=(1.0, 2.0, 8.0))
    return known("all mass that K allows beyond the plane", at,
                 np.minimum(0.0, np.log(at["K"]) + log_tail(at["n"], distance(at))))


def facing_half(**axes):
    """Theorem 6 and Corollary 15: the half ball of radius 1 that faces the plane, K = 2, with noise."""
    at = cells(n=_N, delta=(1e-6, 0.1, 1.0, 10.0), K=(2.0,), **axes)
    n, delta, _, far, *_ = at.values()
    whole = np.log(2) + log_two_balls(n, far, delta)
    half = log_half_balls(n, far, delta)
    return known("half ball facing the plane", at, whole + np.log1p(-np.exp(half - whole)))


def two_slices(**axes):
    """Theorem 8 and Corollary 17: half of the mass in each of two slices, gamma/2 to 3 gamma/2 away.

    Two points fail if they lie in different slices, z in the far one: once in four times, since points of one
    slice are less than gamma apart. K is the density that this takes.
    """
    at = cells(n=_N, gamma=(0.1, 0.3, 1.0), **axes)
    near, far = (log_tail(at["n"], times * at["gamma"] / (2 * at.get("r", 1.0))) for times in (1, 3))
    at["K"] = 0.5 / (np.exp(near) - np.exp(far))
    return known("two opposite slices", at, np.log(0.25))


def plane_near(**axes):
    """Theorem 1: a plane through the point, nearly."""
    at = cells(n=DIMENSIONS, epsilon=(1e-9, 1e-4), delta=(1.0,))
    return known("plane near the point", at, log_tail(at["n"], at["epsilon"]))


def endless_noise(**axes):
    """Theorems 19 and 20: noise of radius 10^9, no margin."""
    at = cells(n=DIMENSIONS, delta=(1e9,), **axes)
    return known("very long noise", at, log_half_balls(at["n"], 0.0, at["delta"]))


# ---- Theorems 9, 11, 14 ----------------------------------------------------------------------------------
def moved_plane(side):
    """The surface g = -c (side = -1, Theorem 9) or g = c (side = 1, Theorem 11, delta 0.6): attained."""
    at = cells(n=(2, 20, 300), c=(0.05, 0.2))
    n, c = columns(*at.values())
    law = Law(lambda a: log_share(a < c), lambda t: log_tail(n, t + 0.3), lambda t: log_tail(n, -t - 0.3),
              _levels(at["c"]))
    if side < 0:
        return known("plane moved down", at, log_tail(at["n"], 0.3 - at["c"]), law=law)
    return known("plane moved up", at, log_tail(at["n"], 0.6 - at["c"] - 0.3), law=law, delta=0.6)


def far_surface(height, **given):
    """All data at one height, a share of them at a surface so far away that they are misread, or safe."""
    at = cells(n=(2, 20, 3072), share=(0.01, 0.5))
    share, = columns(at["share"])
    law = _point_law(lambda a: log_share(a < 9, share), _levels(np.abs(height)), (height, 1.0))
    truth = at["share"]
    if "tau" in given:
        truth = truth + (1 - truth) * np.exp(log_tail(at["n"], -height))
        given["n"] = at["n"]
    return known("far surface over a part of the data", at, np.log(truth), law=law, **given)


def log_cone_flip(n, depth, lipschitz):
    """log Pr(s_1 >= depth - L rho), s uniform in the unit ball of R^n, rho the length of its rest.

    Random noise at a point `depth` under the apex of the cone g = -L|pi x|. With s of length R at the angle a
    above the plane the condition is R sqrt(1 + L^2) sin(a + arctan L) >= depth; R^n is uniform on
    [0, 1], the density of a proportional to cos(a)^(n-2). One integral over a; n >= 2.
    """
    n, depth, lipschitz = broadcast(n, depth, lipschitz)
    d, tilt = depth / np.sqrt(1 + lipschitz**2), np.arctan(lipschitz)
    start = np.arcsin(np.minimum(d, 1)) - tilt
    steps = np.geomspace(1e-7, 60, 60).reshape((-1,) + (1,) * n.ndim) / np.sqrt(n)

    def log_integrand(a):
        with np.errstate(divide="ignore"):
            beyond = np.log(-np.expm1(n * np.minimum(np.log(d) - np.log(np.sin(a + tilt)), 0)))
            return xlogy(n - 2, np.cos(a)) + beyond

    stop = np.full(n.shape, np.pi / 2)
    return log_integral(log_integrand, start, stop, start + steps) - betaln((n - 1) / 2, 0.5)


def under_cone(n, depth, lipschitz):
    """Arguments of Theorem 14 for all data in one point under the apex of a cone, noise of length 1; (m,).

    The cone opens in all n - 1 directions.
    """
    d, L = (np.asarray(value, float)[..., None] for value in (depth, lipschitz))
    own = np.concatenate([f * d * (1 + L**2)**power for power in (0, -0.25, -0.5, -1)
                          for f in (0.5, 1 - 1e-12, 2)], axis=-1)
    own = np.clip(own, np.minimum(L, 1), 1.0)[..., None]
    tau = np.concatenate([splits_of_noise(lipschitz, 1.0, 33), own], axis=-2)
    law = _point_law(lambda a: log_share(a < 0), _levels(depth), (-d[..., None], 1.0))
    return {"n": n, "lipschitz": lipschitz, "delta": 1.0, "law": law, "tau": tau}


def cone():
    """Theorem 14: see `under_cone`; without slope the cone is a plane."""
    at = cells(n=(2, 20, 3072), depth=(1e-6, 0.03, 0.12, 0.3, 0.6), lipschitz=(0.0, 0.1, 0.4))
    return known("point under a cone", at, log_cone_flip(*at.values()), **under_cone(**at))


def half_misread():
    """Theorem 14: half of the data misread, far beyond noise; half `depth` under a plane moved down by c."""
    at = cells(n=(2, 20, 3072), depth=(0.01, 0.03), c=(0.0, 0.1))
    depth, c = columns(at["depth"], at["c"])
    tau = np.concatenate([splits_of_noise(0.0, 1.0, 33) + 0 * depth,
                          *(f * depth for f in (0.5, 1 - 1e-12, 2))], axis=-2)
    law = _point_law(lambda a: log_share(a < c), _levels(at["c"], at["depth"]), (-depth - c, 0.5), (9.0, 0.5))
    return known("half of the data misread", at, np.log(0.5 + 0.5 * np.exp(log_tail(at["n"], at["depth"]))),
                 n=at["n"], lipschitz=0.0, delta=1.0, law=law, tau=tau)


# ---- Theorem 16: laws of two points ----------------------------------------------------------------------
def two_heights():
    """Theorem 16 under a plane: a share of the points a little more than gamma deeper than the others."""
    at = cells(share=(1e-4, 0.01, 0.5, 0.99, 0.9999), gamma=(0.2,))
    share, gamma = columns(*at.values())
    t = np.concatenate([-0.5 - part * gamma + shift
                        for part in (0, 0.5, 1.1) for shift in (-1e-9, 0.0, 1e-9)], axis=-2)
    law = _point_law(lambda a: log_share(a < 0), _levels(at["gamma"]), (-0.5 - 1.1 * gamma, share),
                     (-0.5, 1 - share))
    return known("two heights", at, np.log(at["share"] * (1 - at["share"])), law=law, t=t, gamma=at["gamma"],
                 delta=1.0, lipschitz=0.0)


def steps():
    """Theorem 16: all at one height, under a surface at +0.1 above some and -0.1 above the others, far apart.

    A push fails if it serves a point under the low part and meets one under the high part: for gamma < 0.2.
    The parts are as far apart as one likes, so the surface counts as one of no slope.
    """
    at = cells(share=(0.01, 0.5), gamma=(0.1, 0.15, 0.19, 0.21, 0.4))
    law = _point_law(lambda a: log_share(a < 0.1), _levels(0.1), (-0.5, 1.0))
    return known("steps", at, log_share(at["gamma"] < 0.2, at["share"] * (1 - at["share"])), law=law,
                 t=np.linspace(-1.2, 0.2, 561)[:, None], gamma=at["gamma"], delta=1.0, lipschitz=0.0)


def zigzag():
    """Theorem 16: points at one height, under places from which the surface rises or falls on all sides.

    Heights are +L rho and -L rho at distance rho: a push sideways takes the kinds apart by 2 L rho. It fails
    if some rho and climb u, no longer than delta together, have u + L rho >= gamma + eta and u - L rho < eta.
    Here L = 0.1, delta = 1, eta = 0.001.
    """
    at = cells(gamma=(0.05, 0.12, 0.15, 0.19, 0.21, 0.5))
    rho = np.linspace(0, 1, 4001)
    least, most = at["gamma"][:, None] + 0.001 - 0.1 * rho, 0.001 + 0.1 * rho
    climb = np.clip(0.0, least, most)
    fails = ((least < most) & (climb < most) & (rho**2 + climb**2 <= 1)).any(axis=1)
    law = _point_law(lambda a: log_share(a < 0), _levels(at["gamma"]), (-0.001, 1.0))
    return known("zigzag", at, log_share(fails, 0.25), law=law, gamma=at["gamma"], delta=1.0, lipschitz=0.1,
                 t=(-0.001 + np.linspace(-1, 1, 401))[:, None])
