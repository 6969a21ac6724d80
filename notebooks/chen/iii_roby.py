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
# # III. ROBY: the widths of classes and the distances between them
#
# *Chen et al. {cite:p}`chen2020`, Section III*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the hand-made classes
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # this page has no runs of its own
trials: int = None  # random arrangements of classes; None takes the profile's value [10..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import numpy as np
import torch

from papers.chen import handmade
from papers.chen.handmade import CLASSES, NAMES
from report import display
from report.page import numpy_generator, start
from report.verdict import equality
from shared import roby

page = start("chen/iii_roby", globals())
scale = page.scale(smoke=dict(trials=20), quick=dict(trials=1_000), paper=dict(trials=1_000))

# %% [markdown]
# ## The idea
#
# A network turns each image into a *feature vector*: here its *logits*, one number a class, as in the authors' later code; the paper's text fits these
# or the layer before. The images of one class form a cloud. It has a centre and a *width*, the mean distance of its samples to the centre.
# The paper expects that a network withstands small changes of an image if its clouds are narrow and far apart. Measuring this needs no attack.
#
# Three scores come of it. **FSA** (feature subspace aggregation) is meant to be larger for narrower classes and **FSD** (feature subspace distance)
# for classes farther apart. **ROBY** is the mean *overlap* of two classes: width plus width minus distance of the centres; smaller is claimed to be better.
#
# Before the mean is taken, the widths, the distances and the overlaps of one network are each rescaled: the smallest becomes 0, the largest 1. So does
# the authors' later code; the paper calls *norm* only “the standardized function”.

# %%
display.picture(
    handmade.draw_plane(np.random.default_rng(0)), "Three classes in a plane, and the same with centres "
    "three times as far apart (drawn smaller): the room between them grows, and ROBY hardly changes. "
    "Circles: the widths",
    "Two panels with three clouds of points, circles around their centres and lines between these.")

# %% [markdown]
# ## Step by step: ROBY of ten simulated classes
#
# The paper's Algorithm 1 in ten lines. Change the classes, for example `FACTORS` or `spreads`, and run the cell again.

# %% tags=["show-input"]
import numpy as np

FACTORS = 1, 2, 4                                   # how far the centres are moved apart
draw = np.random.default_rng(0)
y = np.repeat(range(10), 40)                        # ten classes of 40 samples
centres = draw.normal(size=(10, 10))                # in ten dimensions
spreads = draw.uniform(0.3, 1, 10)                  # standard deviation of each coordinate
noise = spreads[y, None] * draw.normal(size=(400, 10))


def norm(values):                                   # the smallest becomes 0, the largest 1
    return (values - values.min()) / (values.max() - values.min())


def algorithm_1(features):
    """The three scores of features [400, 10], and the overlap of each pair of classes."""
    centre = np.stack([features[y == k].mean(0) for k in range(10)])
    width = np.array([np.linalg.norm(features[y == k] - centre[k], axis=1).mean() for k in range(10)])
    i, j = np.triu_indices(10, 1)                   # all 45 pairs of classes
    distance = np.linalg.norm(centre[i] - centre[j], axis=1)
    overlap = width[i] + width[j] - distance
    scores = {"fsa": 1 - norm(width).mean(), "fsd": norm(distance).mean(), "roby": norm(overlap).mean()}
    return scores, overlap


apart = {factor: algorithm_1(factor * centres[y] + noise) for factor in FACTORS}

# %%
figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.4), sharey=True)
for place, (factor, (scores, overlap)) in enumerate(apart.items()):
    for ax, some, mean in ((axes[0], overlap, overlap.mean()), (axes[1], norm(overlap), scores["roby"])):
        ax.plot(some, [place] * len(some), "|", color=display.PALETTE[place], ms=14, alpha=0.6)
        ax.plot(mean, place, "ko", ms=6)
    fast = roby.roby(roby.layout(torch.from_numpy(factor * centres[y] + noise), torch.from_numpy(y)))
    assert all(abs(vars(fast)[name] - score) < 1e-9 for name, score in scores.items()), "not the fast code's"
axes[0].set(xlabel="overlap of each pair", ylim=(len(FACTORS) - 0.5, -0.5),
            yticks=range(len(FACTORS)), yticklabels=[f"centres × {factor}" for factor in FACTORS])
axes[1].set(xlabel="rescaled (dot: their mean, ROBY)")
display.picture(figure, "Each line is a pair of classes. Left: as the classes move apart, the overlaps fall "
                "far below 0. Right: rescaling maps them to 0 to 1 again, and ROBY stays",
                "Three rows of lines and a dot; on the left they move, on the right they do not.")

# %% [markdown]
# The scores equal those of the fast code ({download}`roby.py <../../shared/roby.py>`), which the results of this book use.
#
# ## What came out
#
# For simulated classes the distance to the decision boundary is known exactly. The classifier is the *nearest centre*, so that the boundary of two
# classes is the plane half-way between their centres. The paper prints no numbers on this question. The simulation measures distances between
# features; an attack moves images, and a network may stretch these distances unequally.

# %%
drawn = {name: handmade.arrangements(numpy_generator(page, "property", name), scale.trials, spread)
         for name, spread in (("separation differs up to fourfold", 2.0), ("equal separation", 1.0))}
RANKS = {name: handmade.property_1(rows) for name, rows in drawn.items()}
ARRANGED, FREE = drawn["separation differs up to fourfold"], RANKS["separation differs up to fourfold"]
ROWS = handmade.readings(numpy_generator(page, "readings"))

# %% [markdown]
# ### Rescaled, ROBY does not follow the distance to the boundary
#
# Separation is how widely the ten centres are spread: equal in all arrangements, or up to fourfold different. A perfect score orders the arrangements
# exactly by the distance: rank correlation 1 for FSA and FSD, −1 for ROBY and the unscaled overlap. *Unscaled overlap* is the mean overlap divided
# by the mean distance of two centres. Like ROBY it does not change if all features are multiplied by one number.

# %%
display.picture(handmade.draw_ranks(RANKS), "How each score orders random arrangements of classes, beside "
                "the distance to the boundary: rank correlation with its 95% interval over arrangements",
                "Five rows of dots; those of the unscaled overlap lie near the ticks of a perfect score, "
                "where separation differs.")
page.text((), lambda: FREE | {"n": scale.trials},
          "Over {n:,} arrangements whose separation differs ROBY has rank correlation {roby.value:.2f} (95% "
          "interval {roby.low:.2f} to {roby.high:.2f}), the unscaled overlap {overlap.value:.2f}.")

# %% [markdown]
# ### Classes ten times as far apart: no error is left, and ROBY gets no better
#
# Four changes of one and the same arrangement. A grey line marks the classes as they are.

# %%
display.picture(handmade.draw_changes(ROWS), "Error of the nearest centre, ROBY and the unscaled overlap of "
                "simulated classes", "Five rows of dots in three panels; ROBY's dots hardly move.")
page.text((), lambda: ROWS, "With centres ten times as far apart the error falls from {base.error:%} to "
          "{far.error:%}, and ROBY rises from {base.roby} to {far.roby}. With all features multiplied by ten "
          "the distance to the boundary grows from {base.boundary} to {ten.boundary}; ROBY and the unscaled "
          "overlap stay. One class three times as wide raises FSA from {base.fsa} to {one.fsa}, although no "
          "class is narrower: beside the new maximum all others look narrow.")

# %% [markdown]
# ## Where it differs: the equations are not the algorithm
#
# Equations 5 to 10 leave FSD and ROBY unscaled, and divide a rescaled sum of distances by the number of samples. Read that way, ROBY is nearly 2
# minus the mean distance of two centres: it does follow the distance to the boundary, but narrower classes do not lower it, and a network whose logits are ten
# times as large seems far more robust. The algorithm and the authors' later code rescale, and so does this book.

# %%
page.text((), lambda: ROWS | {"rank": FREE["equations"]},
          "ROBY by the equations has rank correlation {rank.value:.3f} with the distance. With all samples "
          "half as far from their centre this ROBY stays at {half.equations:.1f}, although the error falls "
          "from {base.error:%} to {half.error:%}; with features multiplied by ten it is {ten.equations:.1f}.")

# %% [markdown]
# ## Three things to remember
#
# 1. The unscaled overlap follows the distance to the boundary closely where separation differs, less closely at equal separation; ROBY does not.
# 2. A score that each network scales by its own smallest and largest value can mislead when networks are compared.
# 3. Where a paper leaves a scaling open, results can rest on it alone.
#
# ## Try it
#
# 1. In the cell above, let `norm` return `values / values.max()` and print `[scores["roby"] for scores, _ in apart.values()]` (the assertion below
#    then fails). Does ROBY stay?
# 2. `spreads = np.linspace(0.6, 0.61, 10)`: ROBY then comes near to $1 - \mathrm{FSD}$. Why?
# 3. `seed=1`: which rank correlation moves, that of ROBY or that of the unscaled overlap?

# %%
display.show(display.folded("Answers", (
    "1. No: ROBY falls at first. At × 4 even the largest overlap is negative, which turns the sign round.\n"
    "2. The overlap is then nearly a constant minus the distance; rescaling drops the constant, the minus "
    "leaves 1 − FSD.\n"
    "3. The one near 0, by a few hundredths. The one near −1 hardly moves.")))

# %% [markdown]
# ## Item by item
#
# A *code check* compares the equation, computed step by step ({download}`handmade.py <../../papers/chen/handmade.py>`), with the fast code, and tries
# whether it notices errors that we built in. It says that the code is right, not that the paper is.
# ### Equation 1: the predicted class
# The predicted class is $\arg\max_k \exp(z_k) / \sum_j \exp(z_j)$ of logits $z$. The softmax does not change the order of the logits, so the largest
# logit must give the same class.
# ### Equation 2: robustness
# A classifier is robust on $x$ against a set of perturbations if none of them changes its class. For a nearest centre the boundary between the class
# $i$ of $x$, with centre $c_i$, and a class $j$ is a plane, at distance $(\lVert x - c_j \rVert^2 - \lVert x - c_i \rVert^2) / (2 \lVert c_i - c_j \rVert)$.
# A step to the nearest plane must keep the class if it is 0.1% shorter, and change it if it is 0.1% longer.

# %%
features, means, labels = handmade.unequal(numpy_generator(page, "classes"))
classes = [features[labels == k].tolist() for k in range(CLASSES)]
layouts = {p: roby.layout(features, labels, p=p) for p in roby.NORMS}
page.statement("equation-1", **handmade.predicted_class(features))
page.statement("equation-2", **handmade.planes(features, means, labels))

# %% [markdown]
# ### Equation 3: the centre of a class
# $f_{c_k}$ is the mean of the feature vectors of class $k$: of the *predicted* class in the paper, of the *true* one in the later code.
# ### Equation 4: the distance
# $\mathrm{dist}(a, b) = \bigl(\sum_m |a_m - b_m|^p\bigr)^{1/p}$. The paper uses $p = 2$ and $p = \infty$, the largest difference.
# ### Equation 5: the aggregation of a class
# $\mathrm{FSA}_k = 1 - \mathrm{norm}\bigl(\sum_j \mathrm{dist}(f_j, f_{c_k})\bigr) / n_k$. The text applies *norm*, which acts on a list, to a single
# sum; we take the list of the sums of all classes.
# ### Equation 6: feature subspace aggregation
# FSA is the mean of $\mathrm{FSA}_k$ over the classes.
# ### Equation 7: the distance of two classes
# $\mathrm{FSD}_{i,j}$ is the distance of the centres. Equations 7 and 9 name classes $k$ and $k + 1$; we take all pairs, as the sums in Equations 8
# and 10 need.
# ### Equation 8: feature subspace distance
# FSD is the mean of $\mathrm{FSD}_{i,j}$ over the $K(K-1)/2$ pairs, not scaled by *norm*.
# ### Equation 9: ROBY of two classes
# $\mathrm{ROBY}_{i,j} = \mathrm{FSA}_i + \mathrm{FSA}_j - \mathrm{FSD}_{i,j}$.
# ### Equation 10: ROBY
# ROBY is the mean of $\mathrm{ROBY}_{i,j}$ over all pairs.

# %%
by_equations = {p: roby.of_equations(layout) for p, layout in layouts.items()}
for item, (score, errors) in handmade.ERRORS.items():
    page.statement(item, **handmade.checked(
        handmade.by_the_equations, by_equations, classes, [score], **errors))

# %% [markdown]
# ### Algorithm 1: FSA, FSD and ROBY
# Algorithm 1 differs from the equations in two places. Its $\mathrm{FSA}_k$ is the width of a class, small for a narrow one; FSA is 1 minus the mean of
# the rescaled widths. *norm* acts at the end on the lists of widths and overlaps, in line 23 on one number, the mean; we take the list.

# %%
algorithm = handmade.checked(
    handmade.algorithm_1, {p: vars(roby.roby(layout)) for p, layout in layouts.items()}, classes,
    ("fsa", "fsd", "roby"), **handmade.ALGORITHM)
page.statement("algorithm-1", data=algorithm["data"] | {"counts": handmade.counts(classes)},
               evidence=algorithm["evidence"])

# %% [markdown]
# ### Property 1: the smaller ROBY, the more robust
# The property says that a smaller ROBY “generally” puts samples farther from the decision boundary. It names no bound, so the page gives no verdict.
# Arrangements have 10 classes of 20 samples in 10 dimensions. The coordinates of the centres are drawn from a normal distribution, whose standard
# deviation is called *separation*: between 0.75 and 3 (“differs up to fourfold”) or 1.5 for all (“equal”). Widths are drawn uniformly from 1 to 3.
# Distances are Euclidean; that of a misclassified sample to the boundary is negative.

# %%
page.statement("property-1", data={"n": scale.trials, "arrangements": RANKS})
page.extra("property-1", (), lambda: handmade.agreed_rows(RANKS),
           f"Rank correlation with the mean distance to the decision boundary over {scale.trials:,} "
           "arrangements (95% interval over arrangements)",
           header={"arrangements": "arrangements", **NAMES}, fold="The rank correlations")
page.extra("readings", (), ROWS.values, "Simulated classes, 40 samples each", fold="The changed classes",
           header={"classes": "classes", "error": "error, %", "boundary": "distance to boundary", **NAMES})

# %% [markdown]
# ### Property 2: natural samples only
# ROBY needs one forward pass for each clean image and no gradient. A model that counts its inputs receives each image once, with gradients switched
# off.
# ### Property 3: any model
# The measure takes any callable from images to logits. Three networks and a plain function must each give the numbers of Algorithm 1.

# %%
for item, data in handmade.any_model(features, labels, seed).items():
    page.statement(item, data=data, evidence=equality(data["same"]))

# %% [markdown]
# ### Choices that the paper leaves open
# :::{dropdown} Choices of this page
#
# | choice | ours | reason |
# |---|---|---|
# | *norm* | from the smallest to the largest value of a list, inside one network | the authors' later code (journal version); the text names no formula |
# | line 23 of Algorithm 1 | *norm* of the list of distances, then the mean | *norm* of one number has no meaning |
# | feature vector | logits | the same code; {ref}`Section IV.C <chen-iv-c>` compares softmax and last hidden features |
# | class of a sample | its true label, all test images | the same code; the text names the classifier's decision, but also “samples of the k-th class in the data set” |
# | sign of the widths | Algorithm 1: wider classes raise ROBY | by Equations 5 and 9 narrower classes raise it; in our arrangements widths hardly change that ROBY |
#
# :::

# %%
page.box(
    "Does ROBY, a robustness score from class overlap, follow the distance to the boundary?",
    "Not on simulated classes: rescaling each network's overlaps to 0 to 1 hides how far apart classes are.",
    "Over {n:,} arrangements with nearer and farther centres its rank correlation with that distance is "
    "{roby.value:.2f} (95% interval {roby.low:.2f} to {roby.high:.2f}; wanted: −1). By the paper's equations "
    "(overlaps not rescaled) it is {equations.value:.3f}.",
    "The paper gives no formula for its rescaling; ours follows the authors' later code.",
    facts=FREE | {"n": scale.trials}, results=(), alt="Left a flat cloud of dots, right a falling band.",
    picture=handmade.draw_arrangements(ARRANGED))

# %%
page.finish()
