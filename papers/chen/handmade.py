"""Hand-made classes, for which the distance to the decision boundary is known: what ROBY says of them.

The classifier is the nearest centre: the boundary of two classes is the plane half-way between their centres.
"""
import matplotlib.pyplot as plt
import numpy as np
import torch

from papers.chen import ranking
from report import display, prose
from shared import roby

CLASSES, DIMENSIONS, SAMPLES = 10, 10, 40     # samples of each class
WIDTHS = 1, 3                                 # between which the widths of classes are drawn
MIDDLE, FEW = 1.5, 20                         # random arrangements: middle separation, samples of each class
# The measures as a table names them, with the rank correlation with the distance to the boundary if perfect.
MEASURES = {"fsa": ("FSA, Algorithm 1", 1), "fsd": ("FSD, Algorithm 1", 1), "roby": ("ROBY, Algorithm 1", -1),
            "overlap": ("overlap / mean centre distance", -1), "equations": ("ROBY, Equations 5 to 10", -1)}

PERFECT = {name: f"{sign}" for name, (_, sign) in MEASURES.items()}
ARRANGED = prose.fill(
    "There are {classes} classes of {samples} samples ({in_all} in all) in {dimensions} "
    "dimensions. The coordinates of the centres are drawn from a normal distribution; its standard deviation "
    "is called *separation* and is 1 here. The widths are drawn uniformly from {low} to {high}. Distances "
    "are Euclidean, in the unit of the features; the distance of a misclassified sample to the boundary is "
    "negative.", {"classes": CLASSES, "samples": SAMPLES, "in_all": CLASSES * SAMPLES,
                  "dimensions": DIMENSIONS, "low": min(WIDTHS), "high": max(WIDTHS)})


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
    found, gap = roby.layout(features, y), boundary(features, centres, y)[0]
    return {"classes": name, "error": 100 * (gap < 0).double().mean().item(), "boundary": gap.mean().item(),
            **vars(roby.roby(found)), "equations": roby.of_equations(found)["roby"]}


def swept(separations, offsets, centres, y):
    """Separation, error, ROBY and overlap of classes whose centres are moved apart: {name: array}."""
    rows = [described("", offsets, s * centres, y) | {"separation": s} for s in separations]
    return {key: np.array([row[key] for row in rows]) for key in ("separation", "error", "roby", "overlap")}


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
    `<measure>_low` and `<measure>_high` end the 95% interval over resampled arrangements.
    """
    rows = []
    for _ in range(trials):
        separation = MIDDLE * spread ** generator.uniform(-1, 1)
        rows.append(described("", *arranged(generator, separation=separation, samples=FEW)))
    values = {name: np.array([row[name] for row in rows]) for name in (*MEASURES, "boundary")}
    again = generator.integers(trials, size=(draws, trials))
    found = {}
    for name in MEASURES:
        found[name] = ranking.agreement(values[name], values["boundary"])["spearman"]
        found |= dict(zip((f"{name}_low", f"{name}_high"),
                          ranking.interval(values[name][again], values["boundary"][again])))
    return found


def spanned(found):
    """The correlations of `property_1` as words: "-0.983 (-0.985 to -0.981)"."""
    return {name: f"{found[name]:.3f} ({found[f'{name}_low']:.3f} to {found[f'{name}_high']:.3f})"
            for name in MEASURES}


def varied(trials, spreads):
    """How the arrangements of `property_1` differ, in words; spreads {name: factor}, the widest first."""
    return prose.fill(
        "Each of {trials} arrangements has {samples} samples a class; centres and widths are drawn as above. "
        "The separation is drawn between {low} and {high} in the first row of arrangements and is {middle} "
        "in the second.", {"trials": trials, "samples": FEW, "middle": MIDDLE,
                           "low": MIDDLE / max(spreads.values()), "high": MIDDLE * max(spreads.values())})
