"""Sections 4 and 5: theorems as curves over the dimension, computed and drawn; Figures 2 to 7."""
import matplotlib.pyplot as plt
import numpy as np

from papers.sutton.theorem import PICTURE, one_in
from papers.sutton.theory import models, surfaces
from papers.sutton.theory.ball import density, sample_points, tail
from papers.sutton.theory.statements import STATEMENTS, verify
from report import display

# ---- a theorem over the dimension ------------------------------------------------------------------------
FINE = np.unique(np.geomspace(1, 200_000, 90).astype(int))     # dimensions of the lines
COARSE = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 50_000, 200_000)   # dimensions of the random trials


def curve(item, *, draws, generator, dimensions=FINE, trial_dimensions=COARSE, **fixed):
    """A small probability over n, other parameters of the statement fixed, as a dict of arrays.

    n, exact, bound over `dimensions`; n_trial, true, share, low, high over `trial_dimensions`.

    Where the statement says "at least", it is one minus the printed one. true is the exact value, share that
    of `draws` trials and low, high its 95% interval. `generator` is a numpy Generator.
    """
    fixed = {name: (value,) for name, value in fixed.items()}
    table = verify(STATEMENTS[item], {"n": dimensions, **fixed})
    trials = verify(STATEMENTS[item], {"n": trial_dimensions, **fixed}, draws=draws, generator=generator)
    return {"n": table["n"], "exact": np.exp(table["log_exact"]), "bound": np.exp(table["log_bound"]),
            "n_trial": trials["n"], "true": np.exp(trials["log_exact"]),
            **{name: trials[name] for name in ("share", "low", "high")}}


def inside(curve):
    """Share of the intervals of the trials that contain the exact value; about 0.95 is expected."""
    return float(((curve["low"] <= curve["true"]) & (curve["true"] <= curve["high"])).mean())


def draw_curve(ax, curve, color, label):
    """Exact value (line), bound (dashes), random trials (dots, bars).

    Trials without a hit get no mark: on a logarithmic axis it would reach down for ever.
    """
    hit = curve["share"] > 0
    n, share, low, high = (curve[name][hit] for name in ("n_trial", "share", "low", "high"))
    ax.plot(curve["n"], curve["exact"], color=color, label=label)
    ax.plot(curve["n"], curve["bound"], color=color, ls="--", lw=1.2)
    ax.vlines(n, low, high, color=color, lw=5, alpha=0.45)
    ax.plot(n, share, "o", color=color, ms=4, mfc="white")


def small(curves, ylabel):
    """Small probabilities over n, `{label: curve}`, on logarithmic axes; what is below a millionth is cut."""
    figure, ax = plt.subplots(figsize=(8, 3.8))
    for color, (label, curve) in zip(display.PALETTE, curves.items()):
        draw_curve(ax, curve, color, label)
    ax.plot([], [], color=display.GUIDE, ls="--", lw=1.2, label="bound")
    ax.set(xscale="log", yscale="log", ylim=(1e-6, 1.5), xlabel="dimension n", ylabel=ylabel)
    ax.legend()
    return figure


RARE = {"theorem-9": "a point is misclassified", "theorem-11": "no attack succeeds",
        "theorem-14": "noise flips the label", "theorem-16": "another point's attack fails"}


def four_theorems(tables):
    """Probability of the rare event of Theorems 9, 11, 14 and 16 over n, `{item: table of verify}`."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), sharex=True, sharey=True)
    for ax, (item, table) in zip(axes.flat, tables.items()):
        n = table["n"]
        ax.plot(n, np.exp(table["log_bound"]), "--", color=display.PALETTE[1], label="bound")
        if "log_exact" in table:
            ax.plot(n, np.exp(table["log_exact"]), color=display.PALETTE[0], label="exact")
        else:
            share, low, high = (table[k] for k in ("share", "low", "high"))
            hit = share > 0
            ax.vlines(n[hit], low[hit], high[hit], color="k")
            ax.plot(n[hit], share[hit], "o", ms=4, color="k", label="trials")
            ax.errorbar(n[~hit], high[~hit], 0.6 * high[~hit], uplims=True, fmt="none", color="k")
        ax.set(xscale="log", yscale="log", ylim=(1e-6, 2), xlabel="dimension n", ylabel="probability",
               title=f"{item.replace('-', ' ').capitalize()}: {RARE[item]}")
        ax.label_outer()
        ax.legend()
    return figure


# ---- Figures 2, 3, 4, 6 and 7 ----------------------------------------------------------------------------
def cap(epsilon, delta, circle, edge, dots, beyond):
    """Figure 2: the disc of noise with its cap `edge`, and the law of the component along the normal.

    `beyond` is {dimension: share of the ball beyond the plane}.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), width_ratios=(1, 1.25))
    blue, orange = display.PALETTE[:2]
    left.fill(*circle.T, facecolor=blue, alpha=0.12)
    left.fill(*edge.T, color=orange, alpha=0.55)
    left.plot(*circle.T, color=blue, lw=1)
    left.axhline(epsilon, color="k", lw=1.5)
    left.scatter(*dots.T, s=5, color=[orange if y > epsilon else blue for y in dots[:, 1]])
    left.plot(0, 0, "ko")
    left.annotate("x", (0, 0), xytext=(-12, -12), textcoords="offset points", fontsize=12)
    for end in ((0, epsilon), (delta * np.cos(-0.6), delta * np.sin(-0.6))):
        left.annotate("", end, (0, 0), arrowprops=dict(arrowstyle="<->", color="k", shrinkA=0, shrinkB=0))
    left.text(0.04 * delta, epsilon / 2, "ε", fontsize=13)
    left.text(0.45 * delta, -0.24 * delta, "δ", fontsize=13)
    left.text(delta, epsilon + 0.04 * delta, "plane", fontsize=10)
    left.set(aspect="equal", xlim=(-1.1 * delta, 1.3 * delta), ylim=(-1.1 * delta, 1.15 * delta))
    left.set_axis_off()
    t = np.linspace(-1, 1, 2001)
    for color, (n, share) in zip(("0.75", "0.55", "0.35", "0.0"), beyond.items()):
        right.plot(delta * t, density(n, t) / density(n, 0), color=color,
                   label=f"n = {n:,}: {display.number(share, digits=2)} beyond")
    right.axvline(epsilon, color=orange, lw=2)
    right.set(xlabel="component of the noise towards the plane", ylabel="density (peak = 1)", ylim=(0, 1.55))
    right.legend(loc="upper left", frameon=True, framealpha=1, edgecolor="none")
    return figure


def margins(without, margin, epsilon):
    """Figure 6: noise without a margin, and with `epsilon`; `{delta: curve over n}` each."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
    for color, (delta, level) in zip(display.PALETTE, without.items()):
        draw_curve(left, {**level, "bound": np.full(len(level["n"]), np.nan)}, color, f"δ = {delta:g}")
        left.axhline(models.half_balls_limit(delta), color=color, ls=":")
        if delta in margin:
            draw_curve(right, margin[delta], color, f"δ = {delta:g}")
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
    right.add_patch(plt.Circle(x, radius, fill=False, ls="--", color=display.GUIDE))
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


def two_balls(centres, outlines):
    """Figure 3: both balls, (2, 2) centres and (2, m, 2) outlines, and the law of the first coordinate."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), width_ratios=(1, 1.3))
    x = np.linspace(-1, 1, 4001)
    for label, color in enumerate(display.PALETTE[:2]):
        left.fill(*outlines[label].T, facecolor=color, alpha=0.15)
        left.plot(*outlines[label].T, color=color, lw=1.2)
        left.plot(*centres[label], "o", color=color, ms=5)
        left.annotate(("−ε", "+ε")[label], centres[label], xytext=((-22, 8), (6, 8))[label],
                      textcoords="offset points", color=color, fontsize=12)
        left.text(1.15 * (2 * label - 1) - 0.15, -1.1, f"class {label}", color=color)
        for style, n in zip((":", "--", "-"), (2, 100, PICTURE)):
            wrong = display.number(float(tail(n, centres[1, 0])), digits=2)
            right.plot(centres[label, 0] + x, density(n, x) / density(n, 0), color=color, ls=style, lw=1.4,
                       label=f"n = {n:,}: {wrong} on the wrong side" if label == 0 else None)
    for ax in (left, right):
        ax.axvline(0, color="k", lw=1.5)
    left.set(aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.2, 1.2))
    left.set_axis_off()
    right.set(xlabel="coordinate across the plane, radii", ylabel="density (peak = 1)", ylim=(0, 1.5))
    right.legend(loc="upper left", frameon=True, framealpha=1, edgecolor="none")
    return figure


def accuracy_and_noise(accuracy, flips, epsilon):
    """Figure 4: the error over n, drawn as accuracy; the probabilities that noise flips a label, by name."""
    accuracy = accuracy | {k: 1 - accuracy[k] for k in ("exact", "bound", "share", "low", "high")}
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2))
    draw_curve(left, accuracy, display.PALETTE[0], f"ε = {epsilon:g}")
    left.set(ylabel="accuracy", ylim=(0.45, 1.02), title="(a)")
    for color, (label, curve) in zip(display.PALETTE, flips.items()):
        draw_curve(right, curve, color, label)
    right.set(ylabel="Pr(noise misclassifies)", ylim=(-0.02, 1.35), title="(b)", yticks=np.linspace(0, 1, 6))
    for ax, place in ((left, "lower right"), (right, "upper left")):
        ax.plot([], [], color=display.GUIDE, ls="--", lw=1.2, label="bound")
        ax.set(xscale="log", xlabel="dimension n")
        ax.legend(loc=place, ncols=1 if ax is left else 2)
    return figure


# ---- Figure 5 --------------------------------------------------------------------------------------------
def in_disc(law, centre, radius, generator, points=400):
    """Points (height, p) of a law in a disc of the plane, shape (points, 2)."""
    if law == "uniform":
        return centre + sample_points(2, points, generator, radius)
    drawn = 0.45 * radius * generator.standard_normal((4 * points, 2))
    return centre + drawn[np.linalg.norm(drawn, axis=1) <= radius][:points]


def extensions(generator):
    """What Figure 5 shows: for each panel its surface, its points and the discs that must hold them."""
    disc, angle = np.array([-0.8, 0.0]), generator.uniform(-1.2, 1.2, 400)
    ring = 1.6 * np.c_[np.cos(angle), np.sin(angle)] + 0.12 * generator.standard_normal((400, 2)) - [0.5, 0]
    normal = np.array([1, -1]) / np.sqrt(2)      # of the wave of slope 1 at the origin
    return {
        "a": {"surface": surfaces.flat(), "discs": [(disc, 1.0), (-disc, 1.0)],
              "clouds": [in_disc("uniform", disc, 1, generator), in_disc("Gaussian", -disc, 1, generator)]},
        "b": {"surface": surfaces.wedge(0.3), "discs": [(disc - [0.2, 0], 1.0)],
              "clouds": [in_disc("uniform", disc - [0.2, 0], 1, generator), ring]},
        "c": {"surface": surfaces.sine(0.5, 2.0), "discs": [(-0.3 * normal, 0.28), (0.3 * normal, 0.28)],
              "clouds": [in_disc(law, side * 0.3 * normal, 0.28, generator, 120)
                         for law, side in (("uniform", -1), ("Gaussian", 1))]},
    }


def draw_extensions(panels):
    """Figure 5: the three panels of `extensions`, the normal of the plane to the right."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), sharey=True)
    p = np.linspace(-2.2, 2.2, 801)
    for ax, (name, panel) in zip(axes, panels.items()):
        ax.plot(panel["surface"].height(p), p, color="k")
        for cloud, color in zip(panel["clouds"], display.PALETTE):
            ax.scatter(*cloud.T, s=3, color=color)
        for centre, radius in panel["discs"]:
            ax.add_patch(plt.Circle(centre, radius, fill=False, color=display.GUIDE, lw=1))
        ax.set(aspect="equal", xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), xticks=[], yticks=[], title=f"({name})")
    axes[2].add_patch(plt.Circle((0, 0), 0.62, fill=False, color=display.GUIDE, ls="--"))
    return figure


# ---- points of balls, seen from the side -----------------------------------------------------------------
def clouds(panels, plane=0.0, *, names=()):
    """Points of balls before a plane: `{title: [points [m, n], ...]}`, a colour for each cloud of a panel.

    The horizontal axis is the first coordinate, across the plane; the vertical one the norm of all others.
    """
    figure, axes = plt.subplots(1, len(panels), figsize=(7, 2.6), sharex=True, sharey=True,
                                squeeze=False)
    for ax, (title, points) in zip(axes[0], panels.items()):
        for cloud, colour, name in zip(points, display.PALETTE, (*names, *[None] * len(points))):
            ax.scatter(cloud[:, 0], np.linalg.norm(cloud[:, 1:], axis=1), s=3, color=colour, label=name)
        ax.axvline(plane, color="k", lw=1.5)
        ax.set(aspect="equal", ylim=(0, 1.05), title=title, xlabel="across the plane, radii")
    axes[0, 0].set(ylabel="along the plane, radii")
    if names:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                      markerscale=4)
    return figure


# ---- pictures of the boxes -------------------------------------------------------------------------------
DIMENSIONS = np.union1d(FINE, PICTURE)
CHANCES = {1.0: "all", 1e-3: "1 in 1,000", 1e-6: "1 in a million", 1e-9: "1 in a billion"}


def around(holds):
    """Between which of `DIMENSIONS` a truth value of each, bool [n], becomes true, in words."""
    if not np.any(holds):
        return f"above {DIMENSIONS[-1]:,}"
    if not (first := int(np.argmax(holds))):
        return f"of at most {DIMENSIONS[0]:,}"
    return f"between {DIMENSIONS[first - 1]:,} and {DIMENSIONS[first]:,}"


def falling(curves, ylabel, *, grey=()):
    """Shares at `DIMENSIONS`, `{label: array}`, with the share in CIFAR-10's dimension in words.

    Both axes are logarithmic; what is below one in ten billion is cut. `grey` names curves of less interest,
    whose share is not written.
    """
    figure, ax = plt.subplots(figsize=(5.6, 4.2))
    colours = iter(display.PALETTE)
    ax.axvline(PICTURE, color=display.PALE, lw=1.5, zorder=0)
    ax.text(PICTURE, 2.5, "CIFAR-10", ha="center", va="bottom", color=display.GUIDE)
    for (label, shares), line in zip(curves.items(), display.LINES):
        colour = display.PALE if label in grey else next(colours)
        ax.plot(DIMENSIONS, shares, line, color=colour, lw=2, label=label)
        if label not in grey:
            share = float(shares[DIMENSIONS == PICTURE][0])
            ax.plot(PICTURE, share, "o", color=colour)
            ax.annotate(one_in(share), (PICTURE, share), xytext=(7, 4), textcoords="offset points",
                        color=colour, weight="bold",
                        bbox=dict(facecolor="white", edgecolor="none", alpha=0.85, pad=1))
    ax.set(xscale="log", yscale="log", xlim=(1, 2e5), ylim=(1e-10, 2), xlabel="dimension", ylabel=ylabel)
    ax.set_yticks(list(CHANCES), CHANCES.values())
    ax.minorticks_off()
    figure.legend(loc="outside upper left")
    return figure


def under_surfaces(shares):
    """A point under a plane, a roof and a cone, `{name: share of its noise that crosses}`; not to scale."""
    side = np.linspace(-1, 1, 21)
    x, y = np.meshgrid(side, side)
    heights = {"plane": 0 * x, "roof": -np.abs(x), "cone": -np.hypot(x, y)}
    figure, axes = plt.subplots(1, 3, figsize=(5.6, 2.3), subplot_kw={"projection": "3d"})
    for ax, name, colour in zip(axes, heights, display.PALETTE):
        ax.plot_surface(x, y, heights[name], color=colour, alpha=0.6, rstride=1, cstride=1, lw=0,
                        edgecolor="none", antialiased=False)
        ax.plot([0, 0], [0, 0], [-0.9, 0], "k:", lw=1.5, zorder=9)
        ax.plot(0, 0, -0.9, "ko", ms=6, zorder=10)
        ax.set(zlim=(-1.2, 0.4), title=name)
        ax.view_init(elev=14, azim=-75)
        ax.set_box_aspect((1, 1, 0.8), zoom=1.35)
        ax.set_axis_off()
        ax.text2D(0.5, -0.05, one_in(shares[name]), transform=ax.transAxes, ha="center", weight="bold")
    return figure
