"""Planes through the digit of Section 2.1: pieces of disagreement, types of points, and their pictures.

`runs` are those of `experiments.planes`; `figures.of_runs` has what they hold.
"""
from bisect import bisect_left

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from scipy import ndimage

from papers.shu import figures
from report import display

POINTS = {1: "1: attacked network wrong, another right", 2: "2: all networks wrong",
          3: "3: attacked network right, another wrong"}     # types of a point
COLOURS = {0: "white", 1: display.PALETTE[1], 2: display.PALETTE[3], 3: display.PALETTE[0]}


def of_boxes(runs):
    """`{plane: (answers, axis)}` of the planes that two boxes span."""
    return {name: plane[:2] for name, plane in figures.of_runs(runs).items() if name != "classes"}


def _show(ax, points, axis, **look):
    """An array over the points of a plane, with the digit and the ball around it."""
    ax.imshow(points, origin="lower", extent=(axis[0], axis[-1]) * 2, interpolation="nearest", **look)
    ax.add_patch(plt.Circle((0, 0), figures.DELTA, fill=False, color="k"))
    ax.plot(0, 0, "o", color="k", ms=5)


def _spanned(name):
    """The two attacks whose boxes span a plane: "CW2 and MI"."""
    return " and ".join(map(figures.called, name.split()))


# ---- pieces of disagreement --------------------------------------------------------------------------------
def pieces(runs, stride=1):
    """`{plane: (connected pieces of disagreement inside the ball, areas of the plane that they belong to)}`.

    Of the planes through two boxes; `stride` is 2 for every second point of both axes, the digit among them.
    """
    counts = {}
    for name, (answers, axis) in of_boxes(runs).items():
        taken = slice(len(axis) // 2 % stride, None, stride)
        apart, inside = (answers != answers[0]).any(0)[taken, taken], figures.near(axis[taken])
        areas = ndimage.label(apart)[0][apart & inside]
        counts[name] = int(ndimage.label(apart & inside)[1]), len(np.unique(areas))
    return counts


def counts(runs, stride=1):
    """Of the planes through two boxes: how many there are, and the disagreement inside the ball."""
    both = list(pieces(runs, stride).values())
    numbers = [count for count, _ in both]
    return {"networks": max(len(answers) for answers, *_ in figures.of_runs(runs).values()),
            "planes": len(numbers), "with_any": sum(c > 0 for c in numbers),
            "fewest": min(filter(None, numbers), default=0), "most": max(numbers, default=0),
            "with_several": sum(c > 1 for c in numbers),
            "joined": sum(c > 1 and areas == 1 for c, areas in both)}


def draw_regions(runs):
    """The plane with fewest pieces of disagreement around the digit, one at least, and that with most."""
    counted = {name: count for name, (count, _) in pieces(runs).items() if count}
    if not counted:
        return None
    figure, axes = plt.subplots(1, 2, figsize=(display.WIDEST, 3.6), sharey=True)
    for letter, ax, pick in zip("ab", axes, (min, max)):
        name = pick(counted, key=counted.get)
        answers, axis = of_boxes(runs)[name]
        _show(ax, np.where((answers != answers[0]).any(0), 0.55, 1.0), axis, vmin=0, vmax=1)
        ax.set(title=f"({letter}) {_spanned(name)}: {counted[name]} piece{'s' * (counted[name] > 1)} inside",
               xlabel="L2 distance")
    axes[0].set_ylabel("L2 distance")
    return figure


def _largest(apart, axis):
    """The two largest pieces of an area inside the ball, and the area elsewhere: 2 and 3, 1, 0 outside."""
    labels = ndimage.label(apart & figures.near(axis))[0]
    second, first = np.argsort(np.bincount(labels[labels > 0]))[-2:]
    return np.where(labels == first, 2, np.where(labels == second, 3, apart))


def _junction(points, axis):
    """Where the two pieces join, as one goes away from the digit: (x, y)."""
    distance = np.hypot(*np.meshgrid(axis, axis))
    reached = np.unique(distance[points > 0])

    def joined(step):
        labels = ndimage.label((points > 0) & (distance <= reached[step]))[0]
        return len(np.unique(labels[points > 1])) == 1

    step = bisect_left(range(len(reached)), True, key=joined)
    apart = sum(ndimage.distance_transform_edt(points != piece) for piece in (2, 3))
    apart[(points == 0) | (distance != reached[step])] = np.inf     # of points as far, one between
    row, column = np.unravel_index(apart.argmin(), apart.shape)
    return axis[[column, row]]


def draw_joined(runs):
    """Of the planes whose pieces join, that of the largest second piece: the pieces, and where they join."""
    counted = pieces(runs)
    planes = [(_largest((answers != answers[0]).any(0), axis), axis)
              for name, (answers, axis) in of_boxes(runs).items() if counted[name][0] > 1 == counted[name][1]]
    points, axis = max(planes, key=lambda plane: (plane[0] == 3).sum())
    place = _junction(points, axis)
    figure, ax = plt.subplots(figsize=(4.6, 4.2))
    _show(ax, points, axis,
          cmap=ListedColormap(["white", display.PALE, display.PALETTE[0], display.PALETTE[1]]))
    ax.annotate("they join here", place, 4.5 * place / np.hypot(*place), ha="center", va="center",
                arrowprops={"arrowstyle": "->", "color": "k"})
    ax.text(0.15, 0.15, "digit")
    ax.set(xlabel="L2 distance from the digit", ylabel="L2 distance from the digit")
    return figure


# ---- types of points ---------------------------------------------------------------------------------------
def shares(runs):
    """Of points inside the ball, over all planes of two boxes: how many there are, shares of the types."""
    inside = [figures.types(answers, 1)[figures.near(axis)] for answers, axis in of_boxes(runs).values()]
    points = np.concatenate(inside) if inside else np.zeros(0)
    return {"planes": len(inside), "points": len(points)} | {
        f"type_{kind}": float((points == kind).mean()) if len(points) else None for kind in (1, 2, 3)}


def draw_types(runs):
    """The two planes with most points of types 1 to 3 inside the ball."""
    planes = of_boxes(runs)
    if not planes:
        return None
    marked = {name: (figures.types(answers, 1)[figures.near(axis)] > 0).sum()
              for name, (answers, axis) in planes.items()}
    busy = sorted(planes, key=marked.get, reverse=True)[:2]
    figure, axes = plt.subplots(1, 2, figsize=(display.WIDEST, 4.2), sharey=True)
    for ax, name in zip(axes, busy):
        answers, axis = planes[name]
        points = figures.types(answers, 1)
        _show(ax, points, axis, vmin=-0.5, vmax=3.5, cmap=ListedColormap(list(COLOURS.values())))
        ax.contour(axis, axis, points == 3, levels=[0.5], colors="k", linestyles="dashed", linewidths=0.7)
        ax.contour(axis, axis, (points == 1) | (points == 2), levels=[0.5], colors="k", linewidths=0.9)
        ax.set(title=_spanned(name), xlabel="L2 distance")
    axes[0].set_ylabel("L2 distance")
    figure.legend(loc="outside lower center", handles=[
        Patch(facecolor=COLOURS[k], edgecolor="k", ls="--" if k == 3 else "-", label=words)
        for k, words in POINTS.items()])
    return figure


# ---- the popular view --------------------------------------------------------------------------------------
_DRAWN = np.random.default_rng(0)
GROUPS = [_DRAWN.normal(centre, spread, (60, 2))
          for centre, spread in (((-2, 0), (1.1, 0.7)), ((2, 0.4), (0.7, 1.2)))]


def _log_ratio(x, y):
    """Difference of the log densities of the two groups, Gaussian with their own mean and spread."""
    means, spreads = ([f(g, 0) for g in GROUPS] for f in (np.mean, np.std))
    first, second = (-((x - m[0]) / s[0])**2 / 2 - ((y - m[1]) / s[1])**2 / 2 - np.log(s).sum()
                     for m, s in zip(means, spreads))
    return first - second


def _draw_labels(ax, labels, axis):
    """The classes that one network assigns in a plane, each with its colour and its number."""
    ax.imshow(labels, origin="lower", extent=(axis[0], axis[-1]) * 2, interpolation="nearest",
              cmap=ListedColormap(display.PALETTE[:10]), vmin=-0.5, vmax=9.5, alpha=0.6)
    for label in np.unique(labels):
        rows, columns = np.nonzero(labels == label)
        if len(rows) > labels.size / 100:
            ax.text(axis[int(np.median(columns))], axis[int(np.median(rows))], str(label), ha="center")


def draw_popular(runs):
    """Two groups of points and one curve, beside the classes of one network in the plane of three digits."""
    answers, axis, at = figures.of_runs(runs)["classes"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(display.WIDEST, 3.4))
    for group, marker, colour in zip(GROUPS, display.MARKERS, display.PALETTE):
        left.scatter(*group.T, s=14, marker=marker, color=colour)
    grid = np.meshgrid(np.linspace(-6, 6, 200), np.linspace(-4, 4, 200))
    left.contour(*grid, _log_ratio(*grid), levels=[0], colors="k")
    left.set(xlim=(-6, 6), ylim=(-4, 4), title="popular view", xticks=[], yticks=[])
    _draw_labels(right, answers[0], axis)
    right.plot([0, *(p[0] for p in at)], [0, *(p[1] for p in at)], "ko", ms=5)
    right.set(title="$M_1$ in a plane through three digits", xlabel="L2 distance")
    return figure
