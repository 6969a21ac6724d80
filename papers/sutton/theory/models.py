"""The two balls and the half-balls model (Sutton et al., Sections 4.2, 5): exact values and random points.

Both models look along the normal of the decision plane. Two balls: class 0 is uniform in the unit ball
centred at distance epsilon below the plane, class 1 its mirror image; the balls overlap for epsilon < 1.
Half-balls: only the half of each ball that faces away from the plane, so the classes are 2 epsilon apart. The
classifier says 0 below the plane, else 1 (equations 1 and 5). Noise is uniform in the ball of radius delta.
"""
import numpy as np

from papers.sutton.theory.ball import broadcast, log_density, log_tail, sample_coordinates, tail
from papers.sutton.theory.integral import log_integral


def _log_crossing(n, epsilon, delta, lowest, samples):
    """log Pr(T >= lowest and delta S > epsilon + T for one of `samples` S, copies of T); lowest is -1 or 0.

    T is the depth below the equator in the ball or its far half, p(t) = Pr(S > (epsilon + t) / delta): the
    integral of f_n(t) (1 - (1 - p(t))^samples).
    """
    n, epsilon, delta = broadcast(n, epsilon, delta)
    spread = np.array([-5, -2.5, 0, 2.5, 5]).reshape((-1,) + (1,) * n.ndim) * delta / np.sqrt(n)
    breaks = np.concatenate([-epsilon + spread, (delta - epsilon)[None], (-delta - epsilon)[None]])

    def log_integrand(t):
        return log_density(n, t) + _log_any(log_tail(n, (epsilon + t) / delta), samples)

    return log_integral(log_integrand, np.full(n.shape, lowest), np.minimum(1.0, delta - epsilon), breaks)


def _log_any(log_p, samples):
    """log Pr(at least one of `samples` independent events), each of the probability exp(log_p)."""
    if samples == 1:
        return log_p
    with np.errstate(divide="ignore"):
        log_any = np.log(-np.expm1(samples * np.log1p(-np.exp(log_p))))
    return np.where(log_p > -30, log_any, log_p + np.log(samples))    # by then they exclude each other


def log_two_balls(n, epsilon, delta, samples=1):
    """log Pr(noise of radius delta misclassifies a point of the two balls): the exact value of Theorem 6.

    epsilon >= 0, delta > 0; -inf where epsilon >= 1 + delta (out of reach). Also the exact complement of
    Theorem 8: Pr(T_z - T_x > gamma) is log_two_balls(n, gamma, 1), by symmetry. With several `samples` of
    noise around each point: that at least one of them is misclassified.
    """
    return _log_crossing(n, epsilon, delta, -1.0, samples)


def log_half_balls(n, epsilon, delta, samples=1):
    """log Pr(noise of radius delta misclassifies a point of the half-balls): the exact value of Theorem 19.

    epsilon >= 0, delta > 0; -inf where epsilon >= delta. With epsilon = 0 it is P_n(delta) of Theorem 20.
    `samples` as for the two balls.
    """
    return np.log(2) + _log_crossing(n, epsilon, delta, 0.0, samples)


# ---- limits in high dimension, which the paper does not give, and a planar boundary -----------------------
def half_balls_limit(delta):
    """Limit of P_n(delta), half-balls without margin: arctan(delta) / pi (ratio of two normals)."""
    return np.arctan(delta) / np.pi


def planar_flip_probability(n, distance_ratio=0.1, draws=2000):
    """Chance that at least one of `draws` perturbations crosses a plane: 1 - (1 - tail(n, ratio))^draws.

    `distance_ratio` is the distance of the plane over the radius of the noise: 1/10 for noise ten times
    larger than the smallest attack, the largest in the paper's experiments (Section 7.1.3). This is the share
    of images that would be randomly susceptible if decision boundaries were planes.
    """
    return -np.expm1(draws * np.log1p(-tail(n, distance_ratio)))


# ---- random points ---------------------------------------------------------------------------------------
def two_balls(n, epsilon, draws, generator):
    """Draw labelled points of the two balls: (first coordinate, label 0 or 1), arrays of shape (draws,)."""
    label = generator.integers(0, 2, size=draws)
    return (2 * label - 1) * epsilon + sample_coordinates(n, draws, generator), label


def half_balls(n, epsilon, draws, generator):
    """Draw labelled points of the half-balls: (first coordinate, label 0 or 1), arrays of shape (draws,)."""
    label = generator.integers(0, 2, size=draws)
    return (2 * label - 1) * (epsilon + np.abs(sample_coordinates(n, draws, generator))), label


def classify(x1):
    """Linear classifier of equations (1) and (5): 0 where the first coordinate is negative, else 1."""
    return (np.asarray(x1) >= 0).astype(int)


def strongest_attack(x1, label, delta):
    """First coordinate after the best perturbation of length delta, +delta for class 0 and -delta for 1."""
    return x1 + (1 - 2 * label) * delta
