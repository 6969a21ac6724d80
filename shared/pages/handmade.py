"""Hand-made classes, for which the distance to the decision boundary is known: what ROBY says of them.

The classifier is the nearest centre: the boundary of two classes is the plane half-way between their centres.
"""
import matplotlib.pyplot as plt
import numpy as np
import torch

from shared import roby
from shared.pages import display, ranking

CLASSES, WIDTH = 10, 10
MEASURES = ("fsa", "fsd", "roby", "overlap", "equations")


def arranged(generator, *, separation=1.0, widths=None, samples=40):
    """Offsets [n, 10] of samples to their centres, the centres [10, 10] and the labels [n] of ten classes.

    widths   the mean distance of a class's samples to its centre; None draws them from 1 to 3
    """
    centres = torch.from_numpy(generator.normal(size=(CLASSES, WIDTH))) * separation
    y = torch.arange(CLASSES).repeat_interleave(samples)
    offsets = torch.from_numpy(generator.normal(size=(len(y), WIDTH)))
    for k in range(CLASSES):
        offsets[y == k] -= offsets[y == k].mean(0)
        offsets[y == k] /= offsets[y == k].norm(dim=1).mean()
    widths = torch.from_numpy(generator.uniform(1, 3, CLASSES)) if widths is None else widths
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
    found, gap = roby.layout(features, y), boundary(features, centres, y)[0]
    return {"classes": name, "error": 100 * (gap < 0).double().mean().item(), "boundary": gap.mean().item(),
            **vars(roby.roby(found)), "equations": roby.of_equations(found)["roby"]}


def swept(separations, offsets, centres, y):
    """Separation, error, ROBY and overlap of classes whose centres are moved apart: {name: array}."""
    rows = [described("", offsets, s * centres, y) | {"separation": s} for s in separations]
    return {key: np.array([row[key] for row in rows]) for key in ("separation", "error", "roby", "overlap")}


def draw_sweep(sweep):
    """ROBY and the overlap that is not scaled, and the error, over the separation."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(display.WIDEST, 2.9))
    for n, (key, label) in enumerate({"roby": "ROBY", "overlap": "overlap, not scaled"}.items()):
        left.plot(sweep["separation"], sweep[key], display.LINES[n], marker=display.MARKERS[n], ms=4,
                  color=display.PALETTE[n], label=label)
    right.plot(sweep["separation"], sweep["error"], "-o", ms=4, color=display.PALETTE[2])
    left.set(ylabel="measure")
    right.set(ylabel="misclassified, %", ylim=(0, None))
    for ax in (left, right):
        ax.set(xscale="log", xlabel="separation of the centres")
        ax.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["¼", "½", "1", "2", "4", "8"])
        ax.minorticks_off()
    left.legend()
    return figure


def property_1(generator, trials, spread, draws=200):
    """Spearman's correlations of the measures with the mean distance to the boundary, over arrangements.

    spread   by up to what factor, both ways, the separation of the arrangements differs
    `low` and `high` end the 95% interval of ROBY's over resampled arrangements.
    """
    rows = []
    for _ in range(trials):
        separation = 1.5 * spread ** generator.uniform(-1, 1)
        rows.append(described("", *arranged(generator, separation=separation, samples=20)))
    values = {name: np.array([row[name] for row in rows]) for name in (*MEASURES, "boundary")}
    again = generator.integers(trials, size=(draws, trials))
    ends = ranking.interval(values["roby"][again], values["boundary"][again])
    return dict(zip(("low", "high"), ends)) | {
        name: ranking.agreement(values[name], values["boundary"])["spearman"] for name in MEASURES}
