# ---
# jupyter:
#   boundary_book:
#     items:
#     - equation-1
#     - equation-2
#     - equation-3
#     - equation-4
#     - equation-5
#     - equation-6
#     - equation-7
#     - equation-8
#     - equation-9
#     - equation-10
#     - algorithm-1
#     - property-1
#     - property-2
#     - property-3
#     - figure-1
#     needs:
#     - chen/iv_c_benchmark
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: boundary_book
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (chen-iii)=
# # III. ROBY: the widths of classes against the distances between them
#
# *Chen et al. {cite:p}`chen2020`, Section III, and Figure 1 of Section I*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the hand-made classes, and of the networks of Figure 1
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # this page has no runs of its own
trials: int = None  # random arrangements of classes; None takes the profile's value [10..]

# %% tags=["hide-cell"]
from statistics import mean, median

import numpy as np
import torch
from torch import nn

from papers.chen import experiments, figures, handmade
from papers.chen.handmade import CLASSES, MEASURES, arranged, described
from report import display, prose
from report.evidence import equality
from report.page import numpy_generator, start
from shared import roby

page = start("chen/iii_roby", globals())

# %% [markdown]
# ## What the paper claims, and how it is tested
#
# ROBY is a measure of robustness that needs no attack. The network maps each image to a *feature vector*; here these are its
# logits. Each class has a centre, a *width* (the mean distance of its samples to the centre) and a distance to every other
# centre. The paper names three numbers: **FSA** (feature subspace aggregation) is meant to be larger for narrower classes, **FSD**
# (feature subspace distance) for classes farther apart, and **ROBY** combines both; a smaller ROBY is claimed to mean a more robust
# network.
#
# The text does not define the function *norm* that scales these numbers. The authors' later code (journal version) scales each list
# from its smallest to its largest value *inside one network*. This book assumes the same, so its results on ROBY rest on that choice.
# This page checks each formula against the fast code of the book. Then it tests the idea on hand-made classes, for which the distance
# to the decision boundary is known exactly. No trained network is measured here.

# %%
scale = page.scale(**{name: settings | {"trials": trials} for (name, settings), trials
                     in zip(experiments.small("lenet").items(), (20, 1_000, 1_000))})


# %% [markdown]
# ## The equations as printed
#
# The code follows the equations line by line. Equations 4, 6, 8 and 10 are as printed. *norm* acts on a list; in Equation 5 the
# text applies it to a single sum, so the list of the sums of all classes is taken. Equations 7 and 9 name classes $k$ and $k + 1$; the
# sums in Equations 8 and 10 need all pairs.
#
# Each equation is computed by these lines and by the fast code. *Exact* under an equation means that both agree up to rounding and
# that the check detects each {term}`mutant`, a formula with one deliberate error.

# %% tags=["show-input"]
def norm(values):
    """Scaled from the smallest to the largest value."""
    return [(v - min(values)) / (max(values) - min(values)) for v in values]


# Equation 4
def dist(a, b, p):
    moves = [abs(s - t) for s, t in zip(a, b)]
    return max(moves) if p == float("inf") else sum(m**p for m in moves) ** (1 / p)


# Equation 3
def centre(samples):
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


# %%
# Each check also runs with changed formulas, which must be noticed.
offsets, centres, y = arranged(numpy_generator(page, "classes"), separation=2.0)
y = torch.cat([y, y[:7] * 0])                # classes of different sizes, so that sums and means differ
features = torch.cat([centres[y[:-7]] + offsets, centres[y[-7:]] + 2 * offsets[:7]])
classes = [features[y == k].tolist() for k in range(CLASSES)]


def same(numbers, others, names=("fsa", "fsd", "roby")):
    """Whether two results agree in these numbers up to rounding."""
    return all(abs(numbers[name] - others[name]) < 1e-9 for name in names)


def checked(names, **changes):
    """Evidence that equations and fast code agree in `names`, and that each changed equation does not."""
    right = {p: roby.of_equations(roby.layout(features, y, p=p)) for p in roby.NORMS}
    agree = all(same(by_the_equations(classes, p), right[p], names) for p in roby.NORMS)
    changed = [any(not same(by_the_equations(classes, p, **{what: other}), right[p], names)
                   for p in roby.NORMS) for what, others in changes.items() for other in others]
    return dict(data={"samples": len(y), "classes": CLASSES, "same": agree},
                evidence=equality(agree, changed=changed))


# %% [markdown]
# ## Equation 1: the predicted class
#
# The predicted class is $\arg\max_k \exp(c_k) / \sum_j \exp(c_j)$. The softmax does not change the order of the logits, so the
# largest logit must give the same class.

# %%
largest = features.argmax(1)
alike = bool((features.softmax(1).argmax(1) == largest).all())
page.statement("equation-1", data={"samples": len(features), "same": alike}, evidence=equality(
    alike, changed=[
    (features.softmax(0).argmax(1) != largest).any(), (features.argmin(1) != largest).any()]))

# %% [markdown]
# ## Equation 2: robustness
#
# A classifier is robust on $x$ against a set of perturbations if none of them changes its class. For hand-made classes the
# classifier of this page is the *nearest centre*. The boundary to class $j$ is then a plane, at distance
#
# $$\frac{\lVert x - c_j \rVert^2 - \lVert x - c_i \rVert^2}{2 \lVert c_i - c_j \rVert} .$$
#
# A step to the nearest plane must keep the class if it is 0.1% shorter, and change it if it is 0.1% longer.

# %%
gap, behind = handmade.boundary(features, centres, y)
ahead = nn.functional.normalize(centres[behind] - centres[y])
shorter, longer, away = (torch.cdist(features + s * gap[:, None] * ahead, centres).argmin(1)[gap > 0]
                         for s in (0.999, 1.001, -1.001))
own = y[gap > 0]
kept = bool((shorter == own).all() and (longer != own).all())
page.statement("equation-2", data={"samples": len(own), "same": kept},
               evidence=equality(kept, changed=[(away == own).any()]))

# %% [markdown]
# ## Equation 3: the centre of a class
#
# $f_{c_k}$ is the mean of the feature vectors of class $k$: of the *predicted* class in the paper, of the *true* one in the later code.

# %%
page.statement("equation-3", **checked(("fsd",), centre=[
    lambda samples: [median(column) for column in zip(*samples)], lambda samples: samples[0]]))

# %% [markdown]
# ## Equation 4: the distance
#
# $\mathrm{dist}(a, b) = \bigl(\sum_m |a_m - b_m|^p\bigr)^{1/p}$. The paper uses $p = 2$ and $p = \infty$, the largest difference.

# %%
page.statement("equation-4", **checked(("fsd",), dist=[
    lambda a, b, p: dist(a, b, 1), lambda a, b, p: dist(a, b, 2) ** 2]))

# %% [markdown]
# ## Equation 5: the aggregation of a class
#
# $\mathrm{FSA}_k = 1 - \mathrm{norm}\bigl(\sum_j \mathrm{dist}(f_j, f_{c_k})\bigr) / n_k$.

# %%
page.statement("equation-5", **checked(("fsa",), norm=[
    lambda values: values, lambda values: [v / max(values) for v in values]]))

# %% [markdown]
# ## Equation 6: feature subspace aggregation
#
# FSA is the mean of $\mathrm{FSA}_k$ over the classes.

# %%
page.statement("equation-6", **checked(("fsa",), mean=[median, max]))

# %% [markdown]
# ## Equation 7: the distance of two classes
#
# $\mathrm{FSD}_{i,j}$ is the distance of the centres.

# %%
page.statement("equation-7", **checked(("fsd",), dist=[lambda a, b, p: dist(a[1:], b[1:], p)]))

# %% [markdown]
# ## Equation 8: feature subspace distance
#
# FSD is the mean of $\mathrm{FSD}_{i,j}$ over the $K(K-1)/2$ pairs, not scaled by *norm*.

# %%
page.statement("equation-8", **checked(("fsd",), mean=[median, sum]))

# %% [markdown]
# ## Equation 9: the overlap of two classes
#
# $\mathrm{ROBY}_{i,j} = \mathrm{FSA}_i + \mathrm{FSA}_j - \mathrm{FSD}_{i,j}$.

# %%
page.statement("equation-9", **checked(("roby",), sign=[-1, 0]))

# %% [markdown]
# ## Equation 10: ROBY
#
# ROBY is the mean of $\mathrm{ROBY}_{i,j}$ over all pairs.

# %%
page.statement("equation-10", **checked(("roby",), mean=[median, max]))


# %% [markdown]
# ## Algorithm 1: the same three numbers
#
# Algorithm 1 differs from the equations in two places. Its $\mathrm{FSA}_k$ is the width of a class, small for a narrow one, and
# *norm* is applied to whole lists at the end. FSA is 1 minus the mean of the scaled widths.

# %% tags=["show-input"]
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


# %%
def work(classes):
    """How many distances Algorithm 1 computes, of how many samples and classes."""
    calls = []
    algorithm_1(classes, 2, dist=lambda a, b, p: calls.append(1) or dist(a, b, p))
    return {"distances": len(calls), "samples": sum(map(len, classes)), "classes": len(classes)}


fast = {p: vars(roby.roby(roby.layout(features, y, p=p))) for p in roby.NORMS}
agree = all(same(algorithm_1(classes, p), fast[p]) for p in roby.NORMS)
# Changes of the algorithm: the sign of the distance, another scaling, another distance, another centre.
CHANGES = ({"sign": -1}, {"norm": lambda values: [v / max(values) for v in values]},
           {"dist": lambda a, b, p: dist(a, b, 1)}, {"centre": lambda samples: samples[0]})
noticed = [not same(algorithm_1(classes, 2, **change), fast[2]) for change in CHANGES]
moved = [[[v + 9 for v in f] for f in samples] for samples in classes]
counts = [work(some) for some in (classes, [2 * samples for samples in classes], classes + moved)]
page.statement("algorithm-1", data={"samples": len(y), "classes": CLASSES, "same": agree, "counts": counts},
               evidence=equality(agree, changed=noticed))

# %% [markdown]
# ## Two readings: what each change of the classes does
#
# There are 10 classes of 40 samples (400 in all) in 10 dimensions. The coordinates of the centres are drawn from a normal
# distribution; its standard deviation is called *separation* and is 1 here. The widths are drawn uniformly from 1 to 3. Distances are
# Euclidean, in the unit of the features; the distance of a misclassified sample to the boundary is negative.
#
# The table changes these classes in one respect at a time. For each arrangement it gives the error of the nearest-centre classifier,
# the mean distance to its decision boundary, the three numbers of Algorithm 1, the mean overlap of two classes divided by the mean
# distance of two centres, and ROBY by Equations 5 to 10.

# %%
offsets, centres, y = arranged(numpy_generator(page, "readings"))
wider = torch.where(y == 0, 3.0, 1.0)[:, None]
NAMES = {name: words for name, (words, _) in MEASURES.items()}
ROWS = {"base": described("as they are", offsets, centres, y),
        "ten": described("all features × 10", 10 * offsets, 10 * centres, y),
        "far": described("centres ten times as far apart", offsets, 10 * centres, y),
        "half": described("samples half as far from their centre", offsets / 2, centres, y),
        "one": described("one class three times as wide", offsets * wider, centres, y)}
page.extra("readings", (), lambda: ROWS.values(), "Hand-made classes", header={
    "classes": "classes", "error": "error, %", "boundary": "distance to boundary", **NAMES})
page.text((), lambda: ROWS,
        "With all features multiplied by ten the distance to the boundary grows from {base.boundary} to "
        "{ten.boundary}, but no number of Algorithm 1 changes. Centres ten times as far apart lower the "
        "error from {base.error:%} to {far.error:%}, while ROBY rises from {base.roby} to {far.roby}. One "
        "class three times as wide raises FSA from {base.fsa} to {one.fsa}, although no class is narrower: "
        "that class sets the new maximum, and the other widths shrink relative to it.\n\nROBY by the "
        "equations changes with the scale of the features ({base.equations:.1f} becomes "
        "{ten.equations:.1f}), as the distance does. Widths hardly count in it, because a scaled sum is "
        "divided by the number of samples: with all samples half as far from their centre it stays at "
        "{half.equations:.1f}, although the error falls from {base.error:%} to {half.error:%}.")

# %% [markdown]
# ### Why the separation of the classes hardly counts
#
# If all classes are equally wide, then $\mathrm{ROBY}_{i,j} = 2w - d_{i,j}$. Scaling from the smallest to the largest value removes
# $w$ and every common factor of the distances. ROBY then equals $1 - \mathrm{FSD}$ at any separation. A list of equal widths cannot
# be scaled; here the widths differ by millionths, in equal steps, so that FSA is one half.

# %%
EQUAL = 2 + 1e-6 * torch.arange(CLASSES, dtype=torch.float64)
sweep = handmade.swept(np.geomspace(0.25, 8, 16), *arranged(numpy_generator(page, "equal"), widths=EQUAL))
ALT = "Left: ROBY is flat, the overlap falls. Right: the error falls to zero as the centres move apart."
display.picture(handmade.draw_sweep(sweep), "Equally wide hand-made classes, moved apart. Left: ROBY, and "
                "the overlap over the mean distance of two centres. Right: share of samples that the "
                "nearest-centre classifier misclassifies", ALT)

# %% [markdown]
# ## Property 1: the smaller ROBY, the more robust
#
# The property says that a smaller ROBY “generally” puts samples farther from the decision boundary. It names no bound, so the page
# gives no verdict and measures how well the two orders agree: by Spearman's rank correlation, over random arrangements of classes,
# between a measure and the mean distance to the boundary. Each arrangement has 20 samples a class; centres and widths are drawn as
# above. The separation is drawn between 0.75 and 3 in the first row of arrangements and is 1.5 in the second.

# %%
SPREADS = {"separation differs up to fourfold": 2.0, "equal separation": 1.0}
AGREED = {name: handmade.property_1(numpy_generator(page, "property", name), scale.trials, spread)
          for name, spread in SPREADS.items()}
page.statement("property-1", data={"n": scale.trials, "arrangements": AGREED})
page.extra("property-1", (), lambda: [
    {"arrangements": "a perfect measure"} | {name: f"{sign}" for name, (_, sign) in MEASURES.items()},
    *({"arrangements": name} | {
        name: f"{rank.value:.3f} ({rank.low:.3f} to {rank.high:.3f})" for name, rank in ranks.items()}
      for name, ranks in AGREED.items())],
    f"Rank correlation with the mean distance to the decision boundary over {scale.trials:,} arrangements "
    "(95% interval over resampled arrangements)", header={"arrangements": "arrangements", **NAMES})

# %% [markdown]
# ## Property 2: natural samples only
#
# ROBY needs one forward pass for each clean image and no gradient. A counting model confirms both.

# %%
calls = []


def counting(images):
    """A model that notes how many images it is given, and whether gradients are recorded."""
    calls.append((len(images), torch.is_grad_enabled()))
    return images.flatten(1)


IMAGES = ((features - features.min()) / (features.max() - features.min())).float().view(-1, 1, 2, 5)
LABELS = torch.cat([y, torch.zeros(7, dtype=torch.int64)])
roby.measure(counting, IMAGES, LABELS)
once = sum(n for n, _ in calls) == len(IMAGES) and not any(gradients for _, gradients in calls)
page.statement("property-2", data={"images": len(IMAGES), "same": once}, evidence=equality(once))

# %% [markdown]
# ## Property 3: any model
#
# The measure takes any callable from images to logits. Three networks and a plain function must each give the numbers of Algorithm 1.

# %%
torch.manual_seed(seed)
flat = nn.Flatten()
MODELS = (nn.Sequential(flat, nn.Linear(10, 10)),
          nn.Sequential(flat, nn.Linear(10, 30), nn.ReLU(), nn.Linear(30, 10)),
          nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), flat, nn.Linear(40, 10)),
          lambda images: -torch.cdist(images.flatten(1), images.new_ones(10, 10).tril()))


def agrees(model):
    """Whether the measure of a model is Algorithm 1 on its logits, sample by sample."""
    with torch.no_grad():
        logits = model(IMAGES).double()
    numbers = algorithm_1([logits[LABELS == k].tolist() for k in range(CLASSES)], 2)
    return all(abs(vars(roby.measure(model, IMAGES, LABELS))[k] - v) < 1e-4 for k, v in numbers.items())


same_everywhere = all(map(agrees, MODELS))
page.statement("property-3", data={"models": len(MODELS), "same": same_everywhere},
               evidence=equality(same_everywhere))

# %% [markdown]
# ## Figure 1: a natural and a robust network
#
# t-SNE places the logits of the attacked images in the plane, so that near neighbours stay near. Colours are true classes. Networks and
# attack are those of {ref}`Section IV.C <chen-iv-c>`, the robust network that of {ref}`Section IV.D <chen-iv-d>`.

# %%
PAIR = [page.results(experiments.natural, names=["mnist-resnet101"]),
        page.results(experiments.robust, names=["mnist-resnet101-robust"])]
PANELS = {"natural_clean": (0, "map_clean", "natural, clean images"),
          "natural_adversarial": (0, "map_text", "natural, adversarial images"),
          "robust_adversarial": (1, "map_text", "robust, adversarial images")}


def panels(*frames):
    """Of the networks that are there: {name: (title, coordinates, classes)}."""
    return {name: (title, u[key], u["labels"]) for name, (which, key, title) in PANELS.items()
            for u in frames[which].to_dict("records")}


page.figure("figure-1", PAIR, lambda *frames: figures.draw_maps(
    {title: points for title, *points in panels(*frames).values()}),
    data=lambda *frames: {
        "neighbours_pct": {name: figures.grouped(*points) for name, (_, *points) in panels(*frames).items()},
        "accuracy_on_originals_pct": 100 * min(units.test_accuracy.min() for units in frames)},
    alt="Three maps of points, coloured by class: a natural network on clean and on adversarial "
        "images, a robust one on adversarial images.",
    contains={"t-SNE scatter": lambda d: len(d["neighbours_pct"]) > 0} | {
        f"({letter})": lambda d, name=name: name in d["neighbours_pct"]
        for letter, name in zip("abc", PANELS)})

# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | *norm* | from the smallest to the largest value of a list, inside one network | the authors' later code (journal version); the text names no formula |
# | line 23 of Algorithm 1 | *norm* of the list of distances, then the mean | *norm* of one number has no meaning |
# | feature vector | logits | the same code; {ref}`Section IV.C <chen-iv-c>` compares softmax and last hidden features |
# | class of a sample | its true label, all test images | the same code; the text says the predicted class |
# | direction | Algorithm 1 | with Equation 5 in Equation 9, narrower classes would raise ROBY |
#
# ## Exercises
#
# - `trials=20`: rank correlations near 0 move by a few tenths from seed to seed, those near −1 hardly.
# - Give `EQUAL` widths of your own: ROBY departs from 1 − FSD as they differ.

# %%
page.box(prose.fill(
    "Does a smaller ROBY, the overlap of the classes among the logits, go with a larger distance to the "
    "decision boundary? Over {n} random arrangements of ten artificial classes, the rank correlation of ROBY "
    "by Algorithm 1 with that distance is {free.roby.value:.3f} (95% interval {free.roby.low:.3f} to "
    "{free.roby.high:.3f}; perfect: −1). The paper does not define its scaling: with the overlap divided by "
    "the mean distance of the centres, instead of scaled as in the authors' later code, the correlation is "
    "{free.overlap.value:.3f} ({equal.overlap.value:.3f} among arrangements of equal separation). The "
    "printed Equations 5 to 10 reach {free.equations.value:.3f} ({equal.equations.value:.3f}), but their "
    "ROBY changes with the scale of "
    "the features; trained networks follow in {section}.", {
        "n": scale.trials, "section": "{ref}`Section IV.C <chen-iv-c>`", "equal": AGREED["equal separation"],
        "free": AGREED["separation differs up to fourfold"]}),
    picture=handmade.draw_sweep(sweep), alt=ALT, sets=())

# %%
page.finish()
