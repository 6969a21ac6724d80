"""Bounds for curved decision surfaces (Sutton et al., Section 4.3): Lemma 13 and Theorems 9, 11, 14, 16.

A point is described by its height above a plane, x.v, and its position p along one direction in that plane.
The surface is the graph height = g(p) of an L-Lipschitz g; class 0 lies strictly below it (equation 3), and
data of class 0 are uniform in the ball of radius r centred at distance eta below the plane. Two coordinates
are enough in every dimension n >= 2 because g depends on one direction only.

The theorems need only the laws of |g| and of the height. `uniform_law` and `sample_law` give these, exactly
or from samples, as logarithms of the probabilities that the theorems want small.
"""
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from papers.sutton.theory.ball import broadcast, check_draws, check_positive, log_tail, slab


@dataclass(frozen=True)
class Surface:
    """Graph of an L-Lipschitz function of one in-plane coordinate p.

    height(p): g. log_exceeds(n, r, alpha): log Pr(|g(p)| > alpha) for p the coordinate of a uniform point of
    the ball of radius r in R^n, that is 1 - G(alpha) in the notation of the theorems.
    """

    name: str
    lipschitz: float
    height: Callable
    log_exceeds: Callable


def kappa(lipschitz):
    """Lemma 13's constant (1 + L^2)^(-1/2), the sine of the half-angle of the cone free of surface.

    dist(x, S) >= kappa |height above the surface|. Raises ValueError for a negative L.
    """
    if not np.all(np.asarray(lipschitz) >= 0):
        raise ValueError(f"lipschitz = {lipschitz} is out of range: a Lipschitz constant is at least 0")
    return 1 / np.sqrt(1 + np.square(lipschitz))


def wedge(lipschitz):
    """A roof, g(p) = -L |p|, for which Lemma 13 is an equality. L >= 0, also an array."""
    kappa(lipschitz)

    def log_exceeds(n, r, alpha):
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = np.divide(alpha, np.multiply(lipschitz, r))
            return np.where(np.equal(lipschitz, 0), -np.inf, np.log(2) + log_tail(n, beyond))

    return Surface("wedge", lipschitz, lambda p: -lipschitz * np.abs(p), log_exceeds)


def flat():
    """The plane itself, g = 0: the wedge without slope."""
    return replace(wedge(0.0), name="flat")


def sine(amplitude, wavenumber):
    """Waves, g(p) = a sin(w p), with Lipschitz constant a w."""
    check_positive(amplitude=amplitude, wavenumber=wavenumber)

    def log_exceeds(n, r, alpha):
        n, r, alpha = broadcast(n, r, alpha)
        # |sin(w p)| <= alpha / a on bands of half-width asin(alpha / a) / w around the multiples of pi / w
        half = np.arcsin(np.minimum(alpha / amplitude, 1.0)) / wavenumber / r
        spacing = np.pi / wavenumber / r
        inside = slab(n, half)
        for k in range(1, int(1 / np.min(spacing)) + 2):
            inside = inside + slab(n, k * spacing + half) - slab(n, k * spacing - half)
        with np.errstate(divide="ignore"):
            return np.where(alpha >= amplitude, -np.inf, np.log(np.maximum(1 - inside, 0.0)))

    return Surface("sine", amplitude * wavenumber, lambda p: amplitude * np.sin(wavenumber * p), log_exceeds)


def uniform_law(surface=None, *, points=129, splits=65):
    """Laws and levels for uniform data in the unit ball of R^n, n >= 2, centred eta >= 0 below the plane.

    For the trees of Theorems 9, 11, 14, 16: functions of (argument, values), values holding n, eta and what
    the theorem names. exceeds(a) = log Pr(|g| > a), above(t) = log Pr(x.v >= t), below(t) = log Pr(x.v < t).
    Without a surface: the roof of slope values["lipschitz"]. alpha goes up to eta and the push or margin.
    """
    def reach(v):
        return np.asarray(v["eta"] + v.get("gamma", v.get("delta", 0.0)), dtype=float)

    return {
        "exceeds": lambda a, v: (surface or wedge(v["lipschitz"])).log_exceeds(v["n"], 1.0, a),
        "above": lambda t, v: log_tail(v["n"], t + v["eta"]),
        "below": lambda t, v: log_tail(v["n"], -(t + v["eta"])),
        "gentle": _log_gentle,
        "levels": {"alpha": lambda v: reach(v)[..., None] * np.linspace(0, 1, points),
                   "tau": lambda v: splits_of_noise(v, splits),
                   "t": lambda v: -v["eta"][..., None] + v["gamma"][..., None] * np.linspace(-1, 1, splits)},
    }


def splits_of_noise(values, points):
    """Values of tau for Theorem 14, (..., points): [L delta, delta], or delta alone for L > 1."""
    slope, delta = values["lipschitz"][..., None], values["delta"][..., None]
    return delta * (1 - np.linspace(0, 1, points) * np.maximum(1 - slope, 0.0))


def _log_gentle(slope, values):
    """log of 1 for L <= 1 and of 0 beyond, where no noise of Theorem 14 leaves the cone."""
    return np.where(np.asarray(slope) > 1, -np.inf, 0.0)


def sample_law(heights, surface_heights, points=257):
    """The same for the law of samples: `heights` x.v and `surface_heights` g of the same points, shape (m,).

    The theorems hold for every law, so they hold without sampling error for the law of the sample itself.
    """
    heights, size = np.sort(np.asarray(heights, dtype=float)), check_draws(np.size(heights))
    bends = np.sort(np.abs(np.asarray(surface_heights, dtype=float)))
    if bends.shape != heights.shape or heights.ndim != 1:
        raise ValueError(f"need two 1-d arrays of one length: got {heights.shape} and {bends.shape}")
    levels = np.unique(np.quantile(np.append(bends, 0.0), np.linspace(0, 1, points)))

    def log_share(count):
        with np.errstate(divide="ignore"):
            return np.log(count / size)

    return {
        "exceeds": lambda a, v: log_share(size - np.searchsorted(bends, a, side="right")),
        "above": lambda t, v: log_share(size - np.searchsorted(heights, t, side="left")),
        "below": lambda t, v: log_share(np.searchsorted(heights, t, side="left")),
        "gentle": _log_gentle,
        "levels": {"alpha": lambda v: levels, "tau": lambda v: splits_of_noise(v, 65)},
    }


def cone_cap(tau, delta, kappa):
    """z(tau) of Theorem 14: how far along v noise of length delta must reach to leave the safe cone.

    For a point tau below the surface (measured along v): kappa^2 tau - sqrt(1-kappa^2) sqrt(delta^2 - kappa^2
    tau^2); not negative for tau >= L delta. All three numbers or expressions.
    """
    return kappa**2 * tau - (1 - kappa**2) ** 0.5 * (delta**2 - kappa**2 * tau**2) ** 0.5
