"""Cases that come near to a bound: data and surfaces for which the truth is known exactly.

A bound that is nowhere nearly attained proves little by never being violated. Each witness here is solved by
hand or by one integral; nothing is drawn at random. The general theorems (9, 11, 14, 16) allow any law and
any L-Lipschitz surface, so their witnesses are laws of a few points and surfaces made for them.
"""
import numpy as np
from scipy.special import betaln, logsumexp, roots_legendre

from papers.sutton.theory.ball import log_tail
from papers.sutton.theory.models import log_half_balls, log_two_balls
from papers.sutton.theory.quadrature import beyond_graph
from papers.sutton.theory.statement import Witness
from papers.sutton.theory.surfaces import kappa, splits_of_noise

_N = (1, 2, 3, 10, 100, 3072)


def _log(condition):
    """log of 1 where a condition holds, of 0 elsewhere."""
    return np.where(condition, 0.0, -np.inf)


def _multiples(*parts):
    """Levels for a search: simple multiples of each of `parts`, arrays of one shape, on a new last axis."""
    levels = np.array([0, 0.25, 0.5, 1, 2, 4])
    return np.concatenate([np.asarray(p, float)[..., None] * levels for p in parts], axis=-1)


# ---- caps: all the mass that Definition 3 allows beyond a plane ----------
def full_caps(names, distance):
    """Theorems 4, 5, Corollaries 10, 12: K times the uniform density in the cap beyond `distance(cell)`."""
    return Witness("all mass that K allows beyond the plane", names | {"K": (1.0, 2.0, 8.0)},
                   lambda n, K, **cell: np.minimum(0.0, np.log(K) + log_tail(n, distance(**cell))))


def facing_half(**names):
    """Theorem 6 and Corollary 15: the half ball that faces the plane, K = 2, with noise."""
    def log_truth(n, K, delta, epsilon=None, eta=None, r=1.0):
        far = (epsilon if eta is None else eta) / r
        whole = np.log(2) + log_two_balls(n, far, delta / r)
        return whole + np.log1p(-np.exp(log_half_balls(n, far, delta / r) - whole))

    grid = {"n": _N, "delta": (1e-6, 0.1, 1.0, 10.0), "K": (2.0,), **names}
    return Witness("half ball facing the plane", grid, log_truth)


def half_ball(**names):
    """Theorem 8 and Corollary 17: both points from one half of the ball, K = 2."""
    return Witness("half of the ball", {"n": _N, "gamma": (0.0, 0.01, 0.1, 0.3), "K": (2.0,), **names},
                   lambda n, gamma, K, r=1.0: np.log(2) + log_half_balls(n, gamma / r, 1.0))


def two_slices(**names):
    """Theorem 8 and Corollary 17: half of the mass in each of two slices, gamma/2 to 3 gamma/2 away.

    Two points fail if they lie in different slices, z in the far one: once in four times, since points of one
    slice are less than gamma apart. K is the density that this takes.
    """
    def density(n, gamma, r=1.0):
        near, far = (log_tail(n, times * gamma / (2 * r)) for times in (1, 3))
        return 0.5 / (np.exp(near) * -np.expm1(far - near))

    return Witness("two opposite slices", {"n": _N, "gamma": (0.1, 0.3, 1.0), **names},
                   lambda **cell: np.log(0.25), follows={"K": density})


# ---- Theorems 9 and 11: surfaces that are the plane, moved ----------
def moved_plane(side):
    """The surface g = -c (side = -1, Theorem 9) or g = +c (side = 1, Theorem 11): the bound is attained."""
    def log_truth(n, eta, c, delta=None, lipschitz=None):
        return log_tail(n, eta - c) if delta is None else log_tail(n, delta - c - eta)

    grid = {"n": (2, 20, 300), "eta": (0.3,), "c": (0.05, 0.2), "lipschitz": (0.0,)}
    if side > 0:
        grid["delta"] = (0.6,)
    return Witness(f"plane moved {'up' if side > 0 else 'down'}", grid, log_truth, {
        "exceeds": lambda a, v: _log(a < v["c"]),
        "levels": {"alpha": lambda v: _multiples(v["c"])}})


def valley():
    """Theorem 11: the valley g = +L|p|, whose sides move away from the data faster than its floor.

    Safe points lie below a curve: two lines, rounded to a circle of radius delta around the floor.
    """
    def log_truth(n, eta, lipschitz, delta):
        k = float(kappa(lipschitz[0]))

        def depth(p):
            floor = delta[0] * lipschitz[0] * k
            return np.sqrt(delta[0]**2 - p * p) if p < floor else delta[0] / k - lipschitz[0] * p

        return np.log(beyond_graph(n[0], -eta[0], depth, kinks=[delta[0] * lipschitz[0] * k]))

    return Witness("valley", {"n": (20,), "eta": (0.1,), "lipschitz": (0.5,), "delta": (0.2,)}, log_truth)


# ---- Theorem 14: one point under the apex of a cone ----------
def log_cone_flip(n, depth, lipschitz, delta, nodes=24):
    """log Pr(s_1 >= depth - L rho), s uniform in the ball of R^n of radius delta, rho the length of its rest.

    Random noise at a point `depth` under the apex of the cone g = -L|pi x|. With s of length R at the angle a
    above the plane the condition is R sqrt(1 + L^2) sin(a + arctan L) >= depth; R^n is uniform on
    [0, delta^n], the density of a proportional to cos(a)^(n-2). One integral over a; scalars, n >= 2.
    """
    d, tilt = depth / delta / np.sqrt(1 + lipschitz**2), np.arctan(lipschitz)
    if d >= 1:
        return -np.inf
    x, weights = roots_legendre(nodes)
    start = np.arcsin(d) - tilt
    steps = np.concatenate([[0], np.geomspace(1e-7, 60, 60)]) / np.sqrt(n)
    ends = np.unique(np.clip([*(start + steps), np.pi / 2], start, np.pi / 2))
    a = (ends[:-1, None] + np.diff(ends)[:, None] * (x + 1) / 2).ravel()
    log_weight = np.log((np.diff(ends)[:, None] * weights / 2).ravel()) + (n - 2) * np.log(np.cos(a))
    with np.errstate(divide="ignore"):
        beyond = np.log(-np.expm1(n * np.minimum(np.log(d) - np.log(np.sin(a + tilt)), 0)))
    return float(logsumexp(log_weight + beyond) - betaln((n - 1) / 2, 0.5))


def cone(name, slopes):
    """Theorem 14: all data in one point under the apex of a cone that opens in all n - 1 directions."""
    def log_truth(n, depth, lipschitz, delta):
        return np.array([log_cone_flip(*cell) for cell in zip(n, depth, lipschitz, delta)])

    def splits(v):
        d, L = v["depth"], v["lipschitz"]
        own = np.stack([f * d * (1 + L**2) ** power for power in (0, -0.25, -0.5, -1)
                        for f in (0.5, 1 - 1e-12, 2)], -1)
        ends = splits_of_noise(v, 2)
        inside = np.clip(own, ends.min(-1, keepdims=True), v["delta"][..., None])
        return np.concatenate([splits_of_noise(v, 33), inside], axis=-1)

    grid = {"n": (2, 20, 3072), "depth": (1e-6, 0.03, 0.12, 0.3, 0.6), "lipschitz": slopes, "delta": (1.0,)}
    return Witness(name, grid, log_truth, {
        "exceeds": lambda a, v: _log(a < 0),
        "above": lambda t, v: _log(-v["depth"] >= t),
        "below": lambda t, v: _log(-v["depth"] < t),
        "levels": {"alpha": lambda v: _multiples(v["depth"]), "tau": splits}})


def half_misread():
    """Theorem 14: half of the data misread, far beyond noise; half `depth` under a plane moved down by c."""
    def log_truth(n, depth, c, lipschitz, delta):
        return np.log(0.5 + 0.5 * np.exp(log_tail(n, depth / delta)))

    def splits(v):
        own = np.stack([f * v["depth"] for f in (0.5, 1 - 1e-12, 2)], -1)
        return np.concatenate([splits_of_noise(v, 33), own], axis=-1)

    laws = _two_heights(lambda v: -v["depth"] - v["c"], lambda v: 9 + 0 * v["c"], lambda v: 0.5)
    grid = {"n": (2, 20, 3072), "depth": (0.01, 0.03), "c": (0.0, 0.1), "lipschitz": (0.0,),
            "delta": (1.0,)}
    return Witness("half of the data misread", grid, log_truth, laws | {
        "exceeds": lambda a, v: _log(a < v["c"]),
        "levels": {"alpha": lambda v: _multiples(v["c"], v["depth"]), "tau": splits}})


# ---- Theorem 16: laws of two points ----------
def _two_heights(low, high, share):
    """above and below for heights low(v) with probability share(v), else high(v)."""
    def log_share(first, second, v):
        with np.errstate(divide="ignore"):
            return np.log(np.where(first, share(v), 0.0) + np.where(second, 1 - share(v), 0.0))

    return {"above": lambda t, v: log_share(low(v) >= t, high(v) >= t, v),
            "below": lambda t, v: log_share(low(v) < t, high(v) < t, v)}


def two_heights():
    """Theorem 16 under a plane: few points (share v) a little more than gamma deeper than the others."""
    laws = _two_heights(lambda v: -0.5 - 1.1 * v["gamma"], lambda v: -0.5, lambda v: v["share"])
    grid = {"share": (1e-4, 0.01, 0.5), "gamma": (0.2,), "delta": (1.0,), "lipschitz": (0.0,)}
    return Witness("two heights", grid, lambda share, **_: np.log(share * (1 - share)), laws | {
        "exceeds": lambda a, v: _log(a < 0), "levels": {
            "alpha": lambda v: _multiples(v["gamma"]),
            "t": lambda v: np.stack([-0.5 - share * v["gamma"] + shift for share in (0, 0.5, 1.1)
                                     for shift in (-1e-9, 0.0, 1e-9)], axis=-1)}})


def steps():
    """Theorem 16: all at one height, under a surface at +c above some and -c above the others, far apart.

    A push fails if it serves a point under the low part and meets one under the high part: for gamma < 2 c.
    """
    laws = _two_heights(lambda v: -0.5 + 0 * v["c"], lambda v: -0.5 + 0 * v["c"], lambda v: v["share"])
    grid = {"share": (0.01, 0.5), "gamma": (0.1, 0.15, 0.19, 0.21, 0.4), "c": (0.1,), "delta": (1.0,),
            "lipschitz": (0.0,)}  # of no slope: the parts are as far apart as one likes
    return Witness("steps", grid,
                   lambda share, gamma, c, **_: np.where(gamma < 2 * c, np.log(share * (1 - share)), -np.inf),
                   laws | {"exceeds": lambda a, v: _log(a < v["c"]), "levels": {
                       "alpha": lambda v: _multiples(v["c"]),
                       "t": lambda v: np.linspace(-1.2, 0.2, 561)}})


def zigzag():
    """Theorem 16: points at one height, under places from which the surface rises or falls on all sides.

    Heights are +L rho and -L rho at distance rho: a push sideways takes the kinds apart by 2 L rho. It fails
    if some rho and climb u, no longer than delta together, have u + L rho >= gamma + eta and u - L rho < eta.
    """
    def fails(gamma, eta, lipschitz, delta):
        rho = np.linspace(0, 1, 4001) * delta[:, None]
        least = (gamma + eta)[:, None] - lipschitz[:, None] * rho
        most = eta[:, None] + lipschitz[:, None] * rho
        climb = np.clip(0.0, least, most)
        return ((least < most) & (climb < most) & (rho**2 + climb**2 <= delta[:, None]**2)).any(axis=1)

    laws = _two_heights(lambda v: -v["eta"], lambda v: -v["eta"], lambda v: 0.5)
    grid = {"gamma": (0.05, 0.12, 0.15, 0.19, 0.21, 0.5), "eta": (0.001,), "lipschitz": (0.1,),
            "delta": (1.0,)}
    return Witness("zigzag", grid,
                   lambda **cell: np.where(fails(**cell), np.log(0.25), -np.inf),
                   laws | {"exceeds": lambda a, v: _log(a < 0), "levels": {
                       "alpha": lambda v: _multiples(v["gamma"]),
                       "t": lambda v: -0.001 + np.linspace(-1, 1, 401)}})
