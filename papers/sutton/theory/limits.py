"""High dimension: limits of the exact probabilities, which the paper does not give, and a planar boundary."""
import numpy as np
from scipy import special

from papers.sutton.theory.ball import check_dimension, check_positive, tail


def half_balls_limit(delta):
    """Limit of P_n(delta), half-balls without margin: arctan(delta) / pi (ratio of two normals)."""
    check_positive(delta=delta)
    return np.arctan(delta) / np.pi


def half_balls_expansion(n, delta):
    """P_n(delta) up to O(1/n^2): its limit - delta (1 - delta^2) / (2 pi n (1 + delta^2)^2)."""
    n, delta = check_dimension(n), np.asarray(delta, dtype=float)
    return half_balls_limit(delta) - delta * (1 - delta**2) / (2 * np.pi * n * (1 + delta**2) ** 2)


def two_balls_margin_limit(c, delta):
    """Limit of Theorem 6's probability when epsilon = c / sqrt(n), c >= 0: Phi(-c / sqrt(1 + delta^2))."""
    check_positive(delta=delta)
    return special.ndtr(-np.asarray(c, dtype=float) / np.sqrt(1 + np.square(delta)))


def planar_flip_probability(n, distance_ratio=0.1, draws=2000):
    """Chance that one of `draws` uniform perturbations crosses a plane, 1 - (1 - tail(n, ratio))^draws.

    `distance_ratio` is the distance of the plane over the radius of the noise: 1/10 for noise ten times
    larger than the smallest attack, the largest in the paper's experiments (Section 7.1.3). This is the share
    of images that would be randomly susceptible if decision boundaries were planes.
    """
    if not np.all((np.asarray(distance_ratio) >= 0) & (np.asarray(draws) >= 1)):
        raise ValueError(f"need distance_ratio >= 0 and draws >= 1: got {distance_ratio} and {draws}")
    return -np.expm1(draws * np.log1p(-tail(n, distance_ratio)))
