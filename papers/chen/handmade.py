"""Hand-made classes, for which the distance to the decision boundary is known: what ROBY says of them.

The classifier is the nearest centre: the boundary of two classes is the plane half-way between their centres.
"""
import matplotlib.pyplot as plt
import pandas as pd
import torch

from papers.chen import ranking
from report import display
from report.cell import Cell
from shared import roby

CLASSES, DIMENSIONS, SAMPLES = 10, 10, 40     # samples of each class
WIDTHS = 1, 3                                 # between which the widths of classes are drawn
SEPARATION, FEW = 1.5, 20                     # of random arrangements; samples of each class
# The measures as a table names them, with the rank correlation with the distance to the boundary if perfect.
MEASURES = {"fsa": ("FSA, Algorithm 1", 1), "fsd": ("FSD, Algorithm 1", 1), "roby": ("ROBY, Algorithm 1", -1),
            "overlap": ("overlap / mean centre distance", -1), "equations": ("ROBY, Equations 5 to 10", -1)}


def arranged(generator, *, separation=1.0, widths=None, samples=SAMPLES):
    """Offsets [n, 10] of samples to their centres, the centres [10, 10] and the labels [n] of ten classes.

    separation  the standard deviation of the centres' coordinates
    widths      the mean distance of a class's samples to its centre; None draws them
    """
    centres = torch.from_numpy(generator.normal(size=(CLASSES, DIMENSIONS))) * separation
    y = torch.arange(CLASSES).repeat_interleave(samples)
    offsets = torch.from_numpy(generator.normal(size=(len(y), DIMENSIONS)))
    for k in range(CLASSES):
        offsets[y == k] -= offsets[y == k].mean(0)
        offsets[y == k] /= offsets[y == k].norm(dim=1).mean()
    widths = torch.from_numpy(generator.uniform(*WIDTHS, CLASSES)) if widths is None else widths
    return offsets * widths[y, None], centres, y


def boundary(features, centres, y):
    """Distance of each sample to the boundary of its class, below 0 if misclassified; the class behind it."""
    squares = torch.cdist(features, centres).square()
    own = squares.gather(1, y[:, None])
    gap = (squares - own) / (2 * torch.cdist(centres, centres)[y])
    gap.scatter_(1, y[:, None], torch.inf)
    return gap.min(1)


def described(name, offsets, centres, y):
    """A row of one arrangement: error in percent, mean distance to the boundary, and the measures."""
    features = centres[y] + offsets
    layout, gap = roby.layout(features, y), boundary(features, centres, y)[0]
    return {"classes": name, "error": 100 * (gap < 0).double().mean().item(), "boundary": gap.mean().item(),
            **vars(roby.roby(layout)), "equations": roby.of_equations(layout)["roby"]}


def swept(separations, offsets, centres, y):
    """A row for each separation of classes whose centres are moved apart: it, and `described`."""
    return pd.DataFrame([{"separation": s} | described("", offsets, s * centres, y) for s in separations])


def draw_sweep(sweep):
    """ROBY and the overlap over the mean centre distance, and the error, over the separation."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(display.WIDEST, 3.2))
    for n, key in enumerate(("roby", "overlap")):
        left.plot(sweep["separation"], sweep[key], display.LINES[n], marker=display.MARKERS[n], ms=4,
                  color=display.PALETTE[n], label=MEASURES[key][0])
    right.plot(sweep["separation"], sweep["error"], "-o", ms=4, color=display.PALETTE[2])
    left.set(ylabel="measure")
    right.set(ylabel="misclassified, %", ylim=(0, None))
    for ax in (left, right):
        ax.set(xscale="log", xlabel="separation of the centres")
        ax.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["¼", "½", "1", "2", "4", "8"])
        ax.minorticks_off()
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def property_1(generator, trials, spread, draws=200):
    """Spearman's correlations of the measures with the mean distance to the boundary, over arrangements.

    spread   by up to what factor, both ways, the separation of the arrangements differs
    Intervals are over resampled arrangements.
    """
    rows = pd.DataFrame([described("", *arranged(
        generator, separation=SEPARATION * spread ** generator.uniform(-1, 1), samples=FEW))
        for _ in range(trials)])
    again = generator.integers(trials, size=(draws, trials))
    ranks = {}
    for name in MEASURES:
        low, high = ranking.interval(rows[name].to_numpy()[again], rows.boundary.to_numpy()[again])
        ranks[name] = Cell(ranking.agreement(rows[name], rows.boundary)["spearman"], low=low, high=high)
    return ranks
