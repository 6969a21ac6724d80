"""High dimension: limits of the exact probabilities, which the paper does not give, and a planar boundary."""
import numpy as np
from scipy import special

from papers.sutton.theory.ball import tail


def half_balls_limit(delta):
    """Limit of P_n(delta), half-balls without margin: arctan(delta) / pi (ratio of two normals)."""
    return np.arctan(delta) / np.pi


def two_balls_margin_limit(c, delta):
    """Limit of Theorem 6's probability when epsilon = c / sqrt(n), c >= 0: Phi(-c / sqrt(1 + delta^2))."""
    return special.ndtr(-np.asarray(c, dtype=float) / np.sqrt(1 + np.square(delta)))


def planar_flip_probability(n, distance_ratio=0.1, draws=2000):
    """Chance that one of `draws` uniform perturbations crosses a plane, 1 - (1 - tail(n, ratio))^draws.

    `distance_ratio` is the distance of the plane over the radius of the noise: 1/10 for noise ten times
    larger than the smallest attack, the largest in the paper's experiments (Section 7.1.3). This is the share
    of images that would be randomly susceptible if decision boundaries were planes.
    """
    return -np.expm1(draws * np.log1p(-tail(n, distance_ratio)))
