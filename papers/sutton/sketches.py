"""Drawings of Sections 4 and 5: models and typical points to scale, and the half-balls over the dimension."""
import matplotlib.pyplot as plt
import numpy as np

from papers.sutton import curves
from papers.sutton.theory import limits
from report import display


def margins(without, margin, epsilon):
    """Figure 6: noise without a margin, and with `epsilon`; `{delta: curve over n}` each."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
    for color, (delta, level) in zip(display.PALETTE, without.items()):
        curves.draw_curve(left, {**level, "bound": np.full(len(level["n"]), np.nan)}, color, f"δ = {delta:g}")
        left.axhline(limits.half_balls_limit(delta), color=color, ls=":")
        if delta in margin:
            curves.draw_curve(right, margin[delta], color, f"δ = {delta:g}")
    left.set(xscale="log", ylim=(0, 0.55), xlabel="dimension n",
             ylabel="probability that noise changes the label", title="no margin (ε = 0)")
    right.set(xscale="log", yscale="log", ylim=(1e-6, 1.5), xlabel="dimension n",
              title=f"margin ε = {epsilon:g}")
    right.legend(loc="lower left")
    left.legend(loc="upper right", bbox_to_anchor=(1, 0.85))
    return figure


def typical(cloud, noisy, x, n, epsilon, radius):
    """Figure 7: points of both balls, and noise of a radius at one of them.

    Points are pairs (first coordinate, length of the other ones), `cloud` those of class 0.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), width_ratios=(1.3, 1))
    angle = np.linspace(0, np.pi, 200)
    for sign, color in ((1, display.PALETTE[0]), (-1, display.PALETTE[1])):
        left.plot(np.cos(angle) - sign * epsilon, np.sin(angle), color=color, lw=1)
        left.scatter(sign * cloud[:, 0], cloud[:, 1], s=4, color=color)
    right.scatter(*noisy.T, s=3, color=display.PALETTE[2])
    right.add_patch(plt.Circle(x, radius, fill=False, ls="--", color="0.5"))
    right.annotate("", (0, x[1]), x, arrowprops=dict(arrowstyle="->", color=display.PALETTE[3], lw=2))
    right.plot(*x, "o", color="k")
    right.annotate("x", x, xytext=(-14, -4), textcoords="offset points")
    for ax in (left, right):
        ax.axvline(0, color="k", lw=1)
        ax.set(aspect="equal", xlabel="first coordinate")
    left.set(ylabel="length of the other coordinates", title=f"two balls, n = {n:,}, ε = {epsilon:g}")
    window = 1.1 * radius * np.array([-1, 1])
    right.set(xlim=x[0] + window, ylim=x[1] + window, title="a typical point")
    return figure
