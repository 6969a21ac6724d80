"""Bounds for curved decision surfaces (Sutton et al., Section 4.3): Lemma 13 and Theorems 9, 11, 14, 16.

A point is described by its height above a plane, x.v, and its position p along one direction in that plane.
The surface is the graph height = g(p) of an L-Lipschitz g; class 0 lies strictly below it (equation 3), and
data of class 0 are uniform in the ball of radius r centred at distance eta below the plane. Two coordinates
are enough in every dimension n >= 2 because g depends on one direction only.

The theorems need only the laws of |g| and of the height. A `HeightLaw` gives these, exactly or from samples,
as logarithms of the probabilities that the theorems want small.
"""
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shared.theory.ball import broadcast, check_draws, check_positive, log_cap_bound, log_tail, slab


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


@dataclass(frozen=True)
class HeightLaw:
    """What Theorems 9, 11, 14, 16 ask of the data: three functions, vectorised over the last axis.

    log_exceeds(a) = log Pr(|g| > a); log_above(t) = log Pr(x.v >= t); log_below(t) = log Pr(x.v < t).
    `levels`, shape (..., m), are the values alpha >= 0 to optimise over: any choice gives a valid bound.
    `center` is a typical height, shape (...).
    """

    log_exceeds: Callable
    log_above: Callable
    log_below: Callable
    levels: np.ndarray
    center: np.ndarray


def uniform_law(surface, n, eta, r=1.0, *, reach=0.0, points=129):
    """Law of uniform data in the ball of radius r in R^n, n >= 2, centred eta >= 0 below the plane.

    Arrays broadcast; an array of slopes in the surface needs a last axis of length 1. The levels are spread
    evenly over [0, eta + reach].
    """
    n, eta, r, reach = broadcast(n, eta, r, reach, minimum=2)
    check_positive(r=r)
    if not np.all((eta >= 0) & (reach >= 0)):
        raise ValueError(f"eta and reach are distances of at least 0: got {eta} and {reach}")
    n_, eta_, r_ = n[..., None], eta[..., None], r[..., None]
    return HeightLaw(
        log_exceeds=lambda a: surface.log_exceeds(n_, r_, a),
        log_above=lambda t: log_tail(n_, (t + eta_) / r_),
        log_below=lambda t: log_tail(n_, -(t + eta_) / r_),
        levels=(eta + reach)[..., None] * np.linspace(0, 1, points),
        center=-eta,
    )


def sample_law(heights, surface_heights, points=257):
    """Empirical law of samples: `heights` x.v and `surface_heights` g of the same points, shape (m,) each.

    The theorems hold for every law, so they hold without sampling error for the law of the sample itself.
    """
    heights, size = np.sort(np.asarray(heights, dtype=float)), check_draws(np.size(heights))
    bends = np.sort(np.abs(np.asarray(surface_heights, dtype=float)))
    if bends.shape != heights.shape or heights.ndim != 1:
        raise ValueError(f"need two 1-d arrays of one length: got {heights.shape} and {bends.shape}")

    def log_share(count):
        with np.errstate(divide="ignore"):
            return np.log(count / size)

    return HeightLaw(
        log_exceeds=lambda a: log_share(size - np.searchsorted(bends, a, side="right")),
        log_above=lambda t: log_share(size - np.searchsorted(heights, t, side="left")),
        log_below=lambda t: log_share(np.searchsorted(heights, t, side="left")),
        levels=np.unique(np.quantile(np.append(bends, 0.0), np.linspace(0, 1, points))),
        center=np.median(heights),
    )


def _best_level(log_exceeds, log_other):
    """log inf over the levels of the sum of two probabilities, capped at log 1 where the sum says nothing."""
    return np.minimum(np.logaddexp(log_exceeds, log_other).min(axis=-1), 0.0)


def log_error_bound(law):
    """Theorem 9: log of the bound on Pr(f(x) = 1), inf over a of Pr(|g| > a) + Pr(x.v >= -a)."""
    return _best_level(law.log_exceeds(law.levels), law.log_above(-law.levels))


def log_resistance_bound(law, delta):
    """Theorem 11: log of the bound on Pr(no attack of length delta works).

    inf over a of Pr(|g| > a) + Pr(x.v < a - delta).
    """
    below = law.log_below(law.levels - np.asarray(delta, dtype=float)[..., None])
    return _best_level(law.log_exceeds(law.levels), below)


def cone_cap(tau, delta, lipschitz):
    """z(tau) of Theorem 14: how far along v noise of length delta must reach to leave the safe cone.

    For a point tau below the surface (measured along v): kappa^2 tau - sqrt(1-kappa^2) sqrt(delta^2 - kappa^2
    tau^2); not negative for tau >= L delta.
    """
    k = kappa(lipschitz)
    return k**2 * tau - np.sqrt(1 - k**2) * np.sqrt(np.maximum(np.square(delta) - (k * tau) ** 2, 0.0))


def log_random_flip_bound(law, n, delta, lipschitz, points=65):
    """Theorem 14: log of the bound on Pr(f(x + s) = 1), s uniform in the ball of radius delta.

    inf over tau in [L delta, delta] (tau = delta if L > 1) of inf_a {Pr(|g| > a) + Pr(x.v >= -a -
    tau/kappa)}, for points closer to the surface than tau, plus phi(tau) inf_a {Pr(|g| > a) + Pr(x.v < a -
    tau)} for the others; phi(tau) = (1 - z(tau)^2/delta^2)^(n/2) / 2 is Lemma 23 for the cap that leaves the
    cone, and 0 if L > 1.
    """
    n, delta, lipschitz = broadcast(n, delta, lipschitz)
    check_positive(delta=delta)
    k = kappa(lipschitz)
    exceeds, best = law.log_exceeds(law.levels), 0.0
    for step in np.linspace(0, 1, points):
        tau = delta * (1 - step * np.maximum(1 - lipschitz, 0.0))
        x = np.clip(cone_cap(tau, delta, lipschitz) / delta, 0.0, 1.0)
        log_phi = np.where(lipschitz > 1, -np.inf, log_cap_bound(n, x))
        near = _best_level(exceeds, law.log_above(-law.levels - (tau / k)[..., None]))
        far = _best_level(exceeds, law.log_below(law.levels - tau[..., None]))
        best = np.minimum(best, np.logaddexp(near, log_phi + far))
    return best


def log_not_universal_bound(law, gamma, delta, lipschitz, points=33):
    """Theorem 16: log of 1 - the bound on the probability that z's strong attacks also work on x.

    That is Pr(f(x + s) = 1 for every |s| <= delta that pushes z by gamma past the surface).

    With xi = gamma - 2 L delta, the bound is the sup over t of sup_a {G(a) - Pr(z.v > t - a)}_+ times
    sup_a {G(a) - Pr(x.v < t - xi + a)}_+. Using Pr(z.v >= .) instead of > only weakens it.
    """
    xi = np.asarray(gamma, float) - 2 * np.asarray(lipschitz, float) * np.asarray(delta, float)
    exceeds, best = law.log_exceeds(law.levels), 0.0
    for shift in np.linspace(0, 1, points):
        t = (law.center + xi * shift)[..., None]
        z_fails = _best_level(exceeds, law.log_above(t - law.levels))
        x_fails = _best_level(exceeds, law.log_below(t - xi[..., None] + law.levels))
        with np.errstate(divide="ignore"):
            z_holds = np.log(-np.expm1(z_fails))
        best = np.minimum(best, np.logaddexp(z_fails, z_holds + x_fails))
    return best
