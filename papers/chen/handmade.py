"""ROBY in the paper's own steps, and hand-made classes, whose distance to the decision boundary is known.

The classifier is the nearest centre: the boundary of two classes is the plane half-way between their centres.
"""
from statistics import mean

import matplotlib.pyplot as plt
import pandas as pd
import torch
from torch import nn

from papers.chen import ranking
from report import display
from report.cell import Cell
from report.verdict import equality
from shared import roby

CLASSES, DIMENSIONS, SAMPLES = 10, 10, 40     # samples of each class
WIDTHS = 1, 3                                 # between which the widths of classes are drawn
SEPARATION, FEW = 1.5, 20                     # of random arrangements; samples of each class
# The measures as a table names them, with the rank correlation with the distance to the boundary if perfect.
MEASURES = {"fsa": ("FSA, Algorithm 1", 1), "fsd": ("FSD, Algorithm 1", 1), "roby": ("ROBY, Algorithm 1", -1),
            "overlap": ("relative overlap", -1), "equations": ("ROBY, Equations 5 to 10", -1)}
NAMES = {name: words for name, (words, _) in MEASURES.items()}


# ---- the paper's steps -----------------------------------------------------------------------------------
def norm(values):
    """Scaled from the smallest to the largest value."""
    return [(v - min(values)) / (max(values) - min(values)) for v in values]


def dist(a, b, p):
    """Equation 4."""
    moves = [abs(s - t) for s, t in zip(a, b)]
    return max(moves) if p == float("inf") else sum(m**p for m in moves) ** (1 / p)


def centre(samples):
    """Equation 3."""
    return [mean(column) for column in zip(*samples)]


def by_the_equations(classes, p, *, dist=dist, centre=centre, mean=mean, norm=norm, sign=1):
    """FSA, FSD and ROBY of classes [[feature vectors], ...]."""
    centres = [centre(samples) for samples in classes]
    sums = [sum(dist(f, c, p) for f in samples) for samples, c in zip(classes, centres)]
    # Equation 5
    fsa_k = [1 - total / len(samples) for total, samples in zip(norm(sums), classes)]
    pairs = [(i, j) for i in range(len(classes)) for j in range(i + 1, len(classes))]
    # Equation 7
    fsd_ij = [dist(centres[i], centres[j], p) for i, j in pairs]
    # Equation 9
    roby_ij = [fsa_k[i] + fsa_k[j] - sign * d for (i, j), d in zip(pairs, fsd_ij)]
    # Equations 6, 8 and 10
    return {"fsa": mean(fsa_k), "fsd": mean(fsd_ij), "roby": mean(roby_ij)}


def algorithm_1(classes, p, *, dist=dist, centre=centre, norm=norm, sign=1):
    """FSA, FSD and ROBY of classes [[feature vectors], ...], sample by sample."""
    # lines 2 to 8
    centre_list = [centre(samples) for samples in classes]
    # lines 9 to 15
    fsa_list = [mean([dist(f, c, p) for f in samples])
                for samples, c in zip(classes, centre_list)]
    # line 16
    fsa = 1 - mean(norm(fsa_list))
    d_list, roby_list = [], []
    # lines 17 to 29
    for i in range(len(classes) - 1):
        for j in range(i + 1, len(classes)):
            d_list.append(dist(centre_list[i], centre_list[j], p))
            roby_list.append(fsa_list[i] + fsa_list[j] - sign * d_list[-1])
    return {"fsa": fsa, "fsd": mean(norm(d_list)), "roby": mean(norm(roby_list))}


def checked(steps, fast, classes, names, **changes):
    """Data and evidence of steps that agree with `fast` {p: numbers} in `names`, and do not when changed."""
    def same(p, **change):
        numbers = steps(classes, p, **change)
        return all(abs(numbers[name] - fast[p][name]) < 1e-9 for name in names)

    agree = all(map(same, fast))
    changed = [not all(same(p, **{step: other}) for p in fast)
               for step, others in changes.items() for other in others]
    return {"data": {"samples": sum(map(len, classes)), "classes": len(classes), "same": agree},
            "evidence": equality(agree, changed=changed)}


def work(classes):
    """How many distances Algorithm 1 computes, of how many samples and classes."""
    calls = []
    algorithm_1(classes, 2, dist=lambda a, b, p: calls.append(1) or dist(a, b, p))
    return {"distances": len(calls), "samples": sum(map(len, classes)), "classes": len(classes)}


# ---- any model -------------------------------------------------------------------------------------------
def models(seed):
    """Three networks and a plain function, from images [n, 1, 2, 5] to ten logits."""
    torch.manual_seed(seed)
    return (nn.Sequential(nn.Flatten(), nn.Linear(10, 10)),
            nn.Sequential(nn.Flatten(), nn.Linear(10, 30), nn.ReLU(), nn.Linear(30, 10)),
            nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(40, 10)),
            lambda images: -torch.cdist(images.flatten(1), images.new_ones(10, 10).tril()))


def agrees(model, images, y):
    """Whether the measure of a model is Algorithm 1 on its logits, sample by sample."""
    measured = vars(roby.measure(model, images, y))
    with torch.no_grad():
        logits = model(images).double()
    numbers = algorithm_1([logits[y == k].tolist() for k in range(CLASSES)], 2)
    return all(abs(measured[name] - value) < 1e-4 for name, value in numbers.items())


def one_pass(images, y):
    """Whether the measure gives each image to the model once, and records no gradient."""
    calls = []

    def counting(images):
        calls.append((len(images), torch.is_grad_enabled()))
        return images.flatten(1) - 0.5     # logits have both signs

    roby.measure(counting, images, y)
    return sum(n for n, _ in calls) == len(images) and not any(recorded for _, recorded in calls)


# ---- hand-made classes -----------------------------------------------------------------------------------
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


def readings(generator):
    """`{name: row}` of some classes, and of the same classes changed in one respect at a time."""
    offsets, centres, y = arranged(generator)
    wider = torch.where(y == 0, 3.0, 1.0)[:, None]
    return {"base": described("as they are", offsets, centres, y),
            "ten": described("all features × 10", 10 * offsets, 10 * centres, y),
            "far": described("centres ten times as far apart", offsets, 10 * centres, y),
            "half": described("samples half as far from their centre", offsets / 2, centres, y),
            "one": described("one class three times as wide", offsets * wider, centres, y)}


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
    ranks = {name: ranking.ranked(rows[name], rows.boundary, again) for name in MEASURES}
    return {name: Cell(rank["spearman"], low=rank["low"], high=rank["high"]) for name, rank in ranks.items()}


def agreed_rows(arrangements):
    """Rows of a table of `property_1` {arrangements: its correlations}, behind those of a perfect measure."""
    perfect = {"arrangements": "a perfect measure"} | {k: f"{sign}" for k, (_, sign) in MEASURES.items()}
    return [perfect, *({"arrangements": name} | {
        measure: f"{rank.value:.3f} ({rank.low:.3f} to {rank.high:.3f})" for measure, rank in ranks.items()}
        for name, ranks in arrangements.items())]
