"""ROBY in the paper's own steps, and hand-made classes, whose distance to the decision boundary is known.

The classifier is the nearest centre: the boundary of two classes is the plane half-way between their centres.
"""
from statistics import mean, median

import matplotlib.pyplot as plt
import numpy as np
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
            "overlap": ("unscaled overlap", -1), "equations": ("ROBY, Equations 5 to 10", -1)}
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


def first_sample(samples):
    """The first sample instead of the centre."""
    return samples[0]


def by_largest(values):
    """Scaled by the largest value alone."""
    return [v / max(values) for v in values]


def medians(samples):
    """The median instead of the mean of each coordinate."""
    return [median(column) for column in zip(*samples)]


# Errors that the check of an equation or of the algorithm has to notice, and the numbers that it compares.
ERRORS = {
    "equation-3": ("fsd", {"centre": (medians, first_sample)}),
    "equation-4": ("fsd", {"dist": (lambda a, b, p: dist(a, b, 1), lambda a, b, p: dist(a, b, 2) ** 2)}),
    "equation-5": ("fsa", {"norm": (list, by_largest)}),
    "equation-6": ("fsa", {"mean": (median, max)}),
    "equation-7": ("fsd", {"dist": (lambda a, b, p: dist(a[1:], b[1:], p),)}),
    "equation-8": ("fsd", {"mean": (median, sum)}),
    "equation-9": ("roby", {"sign": (-1, 0)}),
    "equation-10": ("roby", {"mean": (median, max)})}
ALGORITHM = {"sign": (-1,), "norm": (by_largest,), "dist": (lambda a, b, p: dist(a, b, 1),),
             "centre": (first_sample,)}


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


def counts(classes):
    """`work` on classes, on twice as many samples of each, and on twice as many classes."""
    moved = [[[v + 9 for v in f] for f in samples] for samples in classes]
    return [work(some) for some in (classes, [2 * samples for samples in classes], classes + moved)]


def predicted_class(features):
    """Data and evidence of Equation 1: the largest softmax output is of the class of the largest logit."""
    largest = features.argmax(1)
    same = bool((features.softmax(1).argmax(1) == largest).all())
    changed = [(other != largest).any() for other in (features.softmax(0).argmax(1), features.argmin(1))]
    return {"data": {"samples": len(features), "same": same}, "evidence": equality(same, changed=changed)}


def planes(features, centres, y):
    """Data and evidence of Equation 2: the class changes just behind the nearest plane, and not before."""
    gap, behind = boundary(features, centres, y)
    ahead = gap[:, None] * nn.functional.normalize(centres[behind] - centres[y])
    stays, left, away = ((torch.cdist(features + step * ahead, centres).argmin(1) == y)[gap > 0]
                         for step in (0.999, 1.001, -1.001))
    same = bool(stays.all() and not left.any())
    return {"data": {"samples": len(stays), "same": same}, "evidence": equality(same, changed=[away.any()])}


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


def any_model(features, y, seed):
    """Data of Properties 2 and 3: each image is seen once; models of any kind give Algorithm 1's numbers."""
    images = ((features - features.min()) / (features.max() - features.min())).float().view(-1, 1, 2, 5)
    agree = [agrees(model, images, y) for model in models(seed)]
    return {"property-2": {"images": len(images), "same": one_pass(images, y)},
            "property-3": {"models": len(agree), "same": all(agree)}}


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


def unequal(generator):
    """Features, centres and labels of classes of different sizes, so that sums and means differ."""
    offsets, centres, y = arranged(generator, separation=2.0)
    features = torch.cat([centres[y] + offsets, centres[[0] * 7] + 2 * offsets[:7]])
    return features, centres, torch.cat([y, y[:7] * 0])


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


def arrangements(generator, trials, spread):
    """A row for each of so many random arrangements: `described`.

    spread   by up to what factor, both ways, the separation of the arrangements differs
    """
    return pd.DataFrame([described("", *arranged(
        generator, separation=SEPARATION * spread ** generator.uniform(-1, 1), samples=FEW))
        for _ in range(trials)])


def property_1(rows):
    """Spearman's correlations of the measures with the mean distance to the boundary, over `arrangements`."""
    ranks = {name: ranking.ranked(rows[name], rows.boundary) for name in MEASURES}
    return {name: Cell(rank["spearman"], low=rank["low"], high=rank["high"]) for name, rank in ranks.items()}


def agreed_rows(arrangements):
    """Rows of a table of `property_1` {arrangements: its correlations}, behind those of a perfect measure."""
    perfect = {"arrangements": "a perfect measure"} | {k: f"{sign}" for k, (_, sign) in MEASURES.items()}
    return [perfect, *({"arrangements": name} | {
        measure: f"{rank.value:.3f} ({rank.low:.3f} to {rank.high:.3f})" for measure, rank in ranks.items()}
        for name, ranks in arrangements.items())]


# ---- pictures --------------------------------------------------------------------------------------------
def draw_arrangements(rows):
    """ROBY and the unscaled overlap over the distance to the boundary, a dot an arrangement."""
    figure, axes = plt.subplots(1, 2, figsize=(6, 2.8))
    for n, (ax, (key, words)) in enumerate(zip(axes, (("roby", "ROBY"), ("overlap", "unscaled overlap")))):
        ax.plot(rows.boundary, rows[key], ".", ms=3, color=display.PALETTE[n])
        ax.set(xlabel="mean distance to the boundary", ylabel=words)
    return figure


def draw_ranks(arrangements):
    """Rank correlations of `property_1` {arrangements: its correlations}, and those of a perfect score."""
    series = {name: {MEASURES[key][0]: (rank.value, rank.low, rank.high) for key, rank in ranks.items()}
              for name, ranks in arrangements.items()}
    return display.dots({"rank correlation with the distance to the boundary": {
        "series": series, "published": {words: sign for words, sign in MEASURES.values()}, "guide": 0,
        "limits": (-1.05, 1.05)}}, tick="a perfect score")


def draw_changes(rows):
    """What a change of the classes does to error, ROBY and the unscaled overlap; from `readings`."""
    panels = {"misclassified, %": "error", "ROBY": "roby", "unscaled overlap": "overlap"}
    return display.dots({axis: {"series": {"classes": {row["classes"]: row[key] for row in rows.values()}},
                                 "guide": rows["base"][key], "limits": (0, 1) if key == "roby" else None}
                          for axis, key in panels.items()})


def draw_plane(generator):
    """Three classes in a plane, moved apart: their centres, widths and distances, and the scores of both."""
    centres, noise = np.array([[0, 0], [1.2, 0], [-0.2, 2.1]]), generator.normal(size=(3, 50, 2))
    widths = np.array([0.3, 0.32, 0.34])
    figure, axes = plt.subplots(1, 2, figsize=(6.2, 2.8))
    for ax, factor in zip(axes, (1, 3)):
        features = factor * centres[:, None] + widths[:, None, None] * noise
        layout = roby.layout(torch.from_numpy(features.reshape(-1, 2)), torch.arange(3).repeat_interleave(50))
        numbers = roby.roby(layout)
        means = features.mean(1)
        ax.plot(*np.vstack([means, means[:1]]).T, "--", color=display.GUIDE, lw=1)
        for k, (samples, width) in enumerate(zip(features, layout.width)):
            ax.plot(*samples.T, ".", color=display.PALETTE[k], ms=4)
            ax.add_patch(plt.Circle(means[k], float(width), fill=False, color=display.PALETTE[k], lw=1.5))
        ax.set(aspect="equal", xticks=[], yticks=[],
               title=f"ROBY {numbers.roby:.2f}, unscaled overlap {numbers.overlap:.2f}")
    return figure
