"""Theorem 7: gradient attacks on the linear model point straight across the plane, almost always.

For f = sigma(x_1), label l and loss L(|f - l|) the gradient in x is (1 - 2 l) L' sigma' e_1 (Sutton et al.,
equation 10). It has the best direction wherever L' and sigma' are positive. The proof takes this to hold
almost everywhere because sigma is increasing and continuously differentiable; with sigma' = dist(t, K), K a
`FatCantorSet`, such a function has no gradient on a set of positive measure, so that it has to be assumed.
"""
import numpy as np

from papers.sutton.theory.ball import check_positive, tail


def loss_gradient(x, label, value, slope, loss_slope):
    """Gradient of L(|sigma(x_1) - label|) at points x, (m, n), with labels 0 or 1, (m,). Returns (m, n).

    value and slope are sigma and its derivative, loss_slope the derivative of L, all vectorised.
    """
    x, label = np.asarray(x, dtype=float), np.asarray(label)
    if x.ndim != 2 or label.shape != x.shape[:1] or not np.isin(label, (0, 1)).all():
        raise ValueError(f"need x of shape (m, n) and m labels 0 or 1: got {x.shape} and {label.shape}")
    gradient = np.zeros_like(x)
    gradient[:, 0] = (1 - 2 * label) * loss_slope(np.abs(value(x[:, 0]) - label)) * slope(x[:, 0])
    return gradient


def points_across(gradient, label, tolerance=1e-6):
    """Is each gradient, a row of (m, n), a positive multiple of the best direction (1 - 2 label) e_1?

    Works for gradients from any source; Returns (m,) booleans. `tolerance` is the allowed sideways part over
    the length. A zero gradient is no direction: False.
    """
    gradient, label = np.asarray(gradient, dtype=float), np.asarray(label)
    forward = gradient[:, 0] * (1 - 2 * label)
    return (forward > 0) & (np.linalg.norm(gradient[:, 1:], axis=1) <= tolerance * forward)


class FatCantorSet:
    """A Cantor set K of positive length, where a function whose derivative is dist(t, K) has no gradient.

    K comes from [-half_width, half_width] by removing, at level k = 1, 2, ..., the middle 4^-k of the whole
    length from each of 2^(k-1) pieces (Smith-Volterra-Cantor set); half of the length is left. The integral
    of dist(t, K) is continuously differentiable and strictly increasing, since no piece is free of gaps.
    `levels` many steps are carried out: pieces not yet divided count as K, which is then longer than the true
    set by 2^-(levels+1) of the whole length.
    """

    def __init__(self, half_width=1.0, *, levels=12):
        check_positive(half_width=half_width, levels=levels)
        self.half_width = half_width
        ends = np.array([-1.0, 1.0])     # of the pieces, from left to right
        for level in range(1, levels + 1):
            pieces = ends.reshape(-1, 2)
            gaps = pieces.mean(axis=1, keepdims=True) + np.array([-1.0, 1.0]) * 4.0**-level
            ends = np.c_[pieces[:, :1], gaps, pieces[:, 1:]].ravel()
        self.pieces = half_width * ends.reshape(-1, 2)

    def distance(self, t):
        """dist(t, K): a triangle over each gap, zero on K, growing linearly beyond half_width."""
        gaps = self.pieces.ravel()[1:-1].reshape(-1, 2)
        start, stop = gaps[np.maximum(np.searchsorted(gaps[:, 0], t, side="right") - 1, 0)].T
        return np.maximum(np.maximum(np.minimum(t - start, stop - t), 0.0), np.abs(t) - self.half_width)

    def zero_gradient_probability(self, n, epsilon):
        """Pr(x_1 in K), class 0 of the two balls: how often the attack has no direction.

        n and epsilon scalars. Every point of K counts, whatever the loss; class 1 has the same value.
        """
        beyond = tail(n, self.pieces + epsilon)
        return float((beyond[:, 0] - beyond[:, 1]).sum())
