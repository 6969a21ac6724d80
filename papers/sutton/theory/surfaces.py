"""Curved decision surfaces (Sutton et al., Section 4.3): distances, the roof exactly, random trials.

A point is described by its height above a plane, x.v, and its position p along one direction in that plane.
The surface is the graph height = g(p) of an L-Lipschitz g; class 0 lies strictly below it (equation 3), and
data of class 0 are uniform in the unit ball centred at distance eta below the plane. Two coordinates are
enough in every dimension n >= 2 because g depends on one direction only.
"""
from collections import namedtuple

import numpy as np

from papers.sutton.theory.ball import broadcast, log_density, log_tail, sample_coordinates
from papers.sutton.theory.integral import concave_argmax, log_integral

# The graph of `height`, a function of one in-plane coordinate with Lipschitz constant `lipschitz`.
Surface = namedtuple("Surface", "name lipschitz height")

_IN_CACHE = 8_000  # points whose positions along the search stay in a processor's cache


def kappa(lipschitz):
    """Lemma 13's constant (1 + L^2)^(-1/2), the sine of the half-angle of the cone free of surface.

    dist(x, S) >= kappa |height above the surface|.
    """
    return 1 / np.sqrt(1 + np.square(lipschitz))


def wedge(lipschitz):
    """A roof, g(p) = -L |p|, for which Lemma 13 is an equality. L >= 0, also an array."""
    return Surface("wedge", lipschitz, lambda p: -lipschitz * np.abs(p))


def flat():
    """The plane itself, g = 0: the wedge without slope."""
    return wedge(0.0)._replace(name="flat")


def sine(amplitude, wavenumber):
    """Waves, g(p) = a sin(w p), with Lipschitz constant a w."""
    return Surface("sine", amplitude * wavenumber, lambda p: amplitude * np.sin(wavenumber * p))


def signed_height(surface, p, height):
    """Directed distance d_S, height minus g(p): negative for class 0 (equation 3)."""
    return height - surface.height(p)


def distance_to_surface(surface, p, height):
    """Euclidean distance from points (p, height), shape (m,), to the surface: search along p, then refine.

    The nearest surface point is never farther than the one straight above or below (equation 2), which bounds
    the search. Accurate to about 1e-8 of the distance.
    """
    p, height = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(height, dtype=float))
    if p.size > _IN_CACHE:
        parts = (np.array_split(values.ravel(), p.size // _IN_CACHE + 1) for values in (p, height))
        return np.concatenate([distance_to_surface(surface, *part) for part in zip(*parts)]).reshape(p.shape)
    reach = np.abs(signed_height(surface, p, height))

    def squared(q):
        return (p - q)**2 + (height - surface.height(q))**2

    steps = np.linspace(-1, 1, 201)
    grid = p + reach * steps.reshape((-1,) + (1,) * p.ndim)
    nearest = np.take_along_axis(grid, squared(grid).argmin(axis=0)[None], axis=0)[0]
    spacing = reach * (steps[1] - steps[0])
    foot = concave_argmax(lambda q: -squared(q), nearest - spacing, nearest + spacing, steps=35)
    return np.sqrt(squared(foot))


def lipschitz_ratios(surface, draws, generator):
    """dist(x, S) / |d_S(x)| at random points with |p| <= 2, up to 1 below the surface, (draws,).

    Lemma 13 says that none is below kappa.
    """
    p = generator.uniform(-2, 2, draws)
    below = 1 - generator.random(draws)
    return distance_to_surface(surface, p, surface.height(p) - below) / below


# ---- exact values under a roof ---------------------------------------------------------------------------
def _log_beyond_roof(n, c, slope):
    """log Pr(T_1 > c + slope |T_2|) for two coordinates of a uniform point of the unit ball of R^n, n >= 2.

    Given T_2 = p, T_1 is sqrt(1 - p^2) times the coordinate in the ball of one dimension less.
    """
    n, c, slope = broadcast(n, c, slope)
    # c + slope p crosses the circle +-sqrt(1 - p^2) at these p: ends of the possible range, kinks of the tail
    half_width = np.sqrt(np.maximum(1 + slope**2 - c**2, 0.0))
    crossings = (-c * slope + np.array([-1, 1]).reshape((2,) + (1,) * n.ndim) * half_width) / (1 + slope**2)
    low = np.where(c < 1, 0.0, crossings[0])
    high = np.where(c + slope < 0, 1.0, np.minimum(crossings[1], 1.0))
    waves = np.array([1, 2.5, 4, 6]).reshape((-1,) + (1,) * n.ndim) / np.sqrt(n)

    def log_integrand(p):
        chord = np.sqrt((1 - p) * (1 + p))
        with np.errstate(divide="ignore", invalid="ignore"):
            return log_density(n, p) + np.where(chord > 0, log_tail(n - 1, (c + slope * p) / chord), -np.inf)

    breaks = np.concatenate([crossings, waves])
    return np.log(2) + log_integral(log_integrand, np.maximum(low, 0.0), high, breaks)


def log_roof_error(n, eta, lipschitz):
    """log Pr(f(x) = 1) under the roof g = -L|p| for uniform data of class 0: the exact value of Theorem 9."""
    return _log_beyond_roof(n, eta, -np.asarray(lipschitz, dtype=float))


def log_roof_resistance(n, eta, delta, lipschitz):
    """log Pr(no attack of length delta works) under the roof: the exact value of Theorem 11.

    Below a roof Lemma 13 is an equality, so the attack must cover kappa times the height.
    """
    return _log_beyond_roof(n, np.divide(delta, kappa(lipschitz)) - eta, lipschitz)


# ---- random trials of the rare events, boolean (draws,) --------------------------------------------------
def sample_class0(n, eta, draws, generator):
    """Uniform points (p, height) of class 0, the unit ball centred eta below the plane."""
    height, p = sample_coordinates(n, draws, generator, k=2).T
    return p, height - eta


def random_flip_trials(surface, n, eta, delta, draws, generator):
    """Theorem 14: f(x + s) = 1 for one uniform s of the ball of radius delta."""
    p, height = sample_class0(n, eta, draws, generator)
    s_height, s_p = delta * sample_coordinates(n, draws, generator, k=2).T
    return signed_height(surface, p + s_p, height + s_height) >= 0


def not_universal_trials(surface, n, eta, gamma, delta, draws, generator, directions=201):
    """Theorem 16: some |s| <= delta that pushes z by gamma past the surface does not move x across.

    For each in-plane part of s (a grid of `directions` values) the worst s is the lowest that is allowed, so
    only this part is discretised; a finite grid can miss a counterexample, never invent one.
    """
    (x_p, x_height), (z_p, z_height) = (sample_class0(n, eta, draws, generator) for _ in range(2))
    fails = np.zeros(draws, dtype=bool)
    for s_p in delta * np.sin(np.linspace(-np.pi / 2, np.pi / 2, directions)):
        chord = np.sqrt(max(delta**2 - s_p**2, 0.0))
        lowest = np.maximum(gamma - signed_height(surface, z_p + s_p, z_height), -chord)
        fails |= (lowest <= chord) & (signed_height(surface, x_p + s_p, x_height + lowest) < 0)
    return fails
