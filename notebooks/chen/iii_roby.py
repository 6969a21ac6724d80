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
# # III. ROBY: the widths of classes against the distances between them
#
# *Chen et al. {cite:p}`chen2020`, Section III*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the hand-made classes
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # this page has no runs of its own
trials: int = None  # random arrangements of classes; None takes the profile's value [10..]

# %% tags=["hide-cell"]
import inspect
from statistics import median

import numpy as np
import torch
from torch import nn

from papers.chen import handmade
from papers.chen.handmade import CLASSES, NAMES, arranged, dist
from report import display
from report.page import numpy_generator, start
from report.verdict import equality
from shared import roby

page = start("chen/iii_roby", globals())
scale = page.scale(smoke=dict(trials=20), quick=dict(trials=1_000), paper=dict(trials=1_000))

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
# This page checks each formula. Then it tests the idea on hand-made classes, for which the distance to the decision boundary is known
# exactly. No trained network is measured here.
#
# ## The equations, as we read them
#
# The folded code follows the equations line by line except in three places, named below. The fast code of the book is compared with it. *Exact* under an equation means
# that both agree on this reading up to rounding and that the check detects each {term}`mutant`, a formula with one deliberate error. In Equation 5 the
# text applies *norm*, which acts on a list, to a single sum; the code takes the list of the sums of all classes. Equations 7 and 9 name
# classes $k$ and $k + 1$; the code takes all pairs, as the sums in Equations 8 and 10 need.

# %%
steps = handmade.norm, handmade.dist, handmade.centre, handmade.by_the_equations
code = "\n\n".join(map(inspect.getsource, steps))
display.say(display.folded("The equations as code", f"```python\nfrom statistics import mean\n\n\n{code}```"))
offsets, centres, y = arranged(numpy_generator(page, "classes"), separation=2.0)
y = torch.cat([y, y[:7] * 0])                # classes of different sizes, so that sums and means differ
features = torch.cat([centres[y[:-7]] + offsets, centres[y[-7:]] + 2 * offsets[:7]])
classes = [features[y == k].tolist() for k in range(CLASSES)]
layouts = {p: roby.layout(features, y, p=p) for p in roby.NORMS}


def check(item, name, **changes):
    """Show an equation by its effect on one of the three numbers, beside changed forms of it."""
    fast = {p: roby.of_equations(layout) for p, layout in layouts.items()}
    page.statement(item, **handmade.checked(handmade.by_the_equations, fast, classes, [name], **changes))


# %% [markdown]
# ## Equation 1: the predicted class
#
# The predicted class is $\arg\max_k \exp(z_k) / \sum_j \exp(z_j)$ of logits $z$. The softmax does not change the order of the logits, so the
# largest logit must give the same class.
#
# ## Equation 2: robustness
#
# A classifier is robust on $x$ against a set of perturbations if none of them changes its class. For hand-made classes the
# classifier of this page is the *nearest centre*. The boundary between the class $i$ of $x$, with centre $c_i$, and a class
# $j$ is then a plane, at distance
#
# $$\frac{\lVert x - c_j \rVert^2 - \lVert x - c_i \rVert^2}{2 \lVert c_i - c_j \rVert} .$$
#
# A step to the nearest plane must keep the class if it is 0.1% shorter, and change it if it is 0.1% longer.

# %%
largest = features.argmax(1)
same = bool((features.softmax(1).argmax(1) == largest).all())
changed = [(other != largest).any() for other in (features.softmax(0).argmax(1), features.argmin(1))]
page.statement("equation-1", data={"samples": len(y), "same": same}, evidence=equality(same, changed=changed))
gap, behind = handmade.boundary(features, centres, y)
ahead = gap[:, None] * nn.functional.normalize(centres[behind] - centres[y])
kept, left, away = ((torch.cdist(features + step * ahead, centres).argmin(1) == y)[gap > 0]
                    for step in (0.999, 1.001, -1.001))
same = bool(kept.all() and not left.any())
page.statement("equation-2", data={"samples": len(kept), "same": same},
               evidence=equality(same, changed=[away.any()]))

# %% [markdown]
# ## Equation 3: the centre of a class
#
# $f_{c_k}$ is the mean of the feature vectors of class $k$: of the *predicted* class in the paper, of the *true* one in the later code.
#
# ## Equation 4: the distance
#
# $\mathrm{dist}(a, b) = \bigl(\sum_m |a_m - b_m|^p\bigr)^{1/p}$. The paper uses $p = 2$ and $p = \infty$, the largest difference.
#
# ## Equation 5: the aggregation of a class
#
# $\mathrm{FSA}_k = 1 - \mathrm{norm}\bigl(\sum_j \mathrm{dist}(f_j, f_{c_k})\bigr) / n_k$.
#
# ## Equation 6: feature subspace aggregation
#
# FSA is the mean of $\mathrm{FSA}_k$ over the classes.

# %%
check("equation-3", "fsd", centre=[
    lambda samples: [median(column) for column in zip(*samples)], lambda samples: samples[0]])
check("equation-4", "fsd", dist=[lambda a, b, p: dist(a, b, 1), lambda a, b, p: dist(a, b, 2) ** 2])
check("equation-5", "fsa", norm=[lambda values: values, lambda values: [v / max(values) for v in values]])
check("equation-6", "fsa", mean=[median, max])

# %% [markdown]
# ## Equation 7: the distance of two classes
#
# $\mathrm{FSD}_{i,j}$ is the distance of the centres.
#
# ## Equation 8: feature subspace distance
#
# FSD is the mean of $\mathrm{FSD}_{i,j}$ over the $K(K-1)/2$ pairs, not scaled by *norm*.
#
# ## Equation 9: ROBY of two classes
#
# $\mathrm{ROBY}_{i,j} = \mathrm{FSA}_i + \mathrm{FSA}_j - \mathrm{FSD}_{i,j}$.
#
# ## Equation 10: ROBY
#
# ROBY is the mean of $\mathrm{ROBY}_{i,j}$ over all pairs.

# %%
check("equation-7", "fsd", dist=[lambda a, b, p: dist(a[1:], b[1:], p)])
check("equation-8", "fsd", mean=[median, sum])
check("equation-9", "roby", sign=[-1, 0])
check("equation-10", "roby", mean=[median, max])

# %% [markdown]
# ## Algorithm 1: FSA, FSD and ROBY
#
# Algorithm 1 differs from the equations in two places. Its $\mathrm{FSA}_k$ is the width of a class, small for a narrow one, and
# *norm* is applied to whole lists at the end. FSA is 1 minus the mean of the scaled widths.

# %%
display.say(f"```python\n{inspect.getsource(handmade.algorithm_1)}```")
algorithm = handmade.checked(
    handmade.algorithm_1, {p: vars(roby.roby(layout)) for p, layout in layouts.items()}, classes,
    ("fsa", "fsd", "roby"), sign=[-1], norm=[lambda values: [v / max(values) for v in values]],
    dist=[lambda a, b, p: dist(a, b, 1)], centre=[lambda samples: samples[0]])
moved = [[[v + 9 for v in f] for f in samples] for samples in classes]
counts = [handmade.work(some) for some in (classes, [2 * samples for samples in classes], classes + moved)]
page.statement("algorithm-1", data=algorithm["data"] | {"counts": counts}, evidence=algorithm["evidence"])

# %% [markdown]
# ## What each change of the classes does to ROBY
#
# There are 10 classes of 40 samples (400 in all) in 10 dimensions. The coordinates of the centres are drawn from a normal
# distribution; its standard deviation is called *separation* and is 1 here. The widths are drawn uniformly from 1 to 3. Distances are
# Euclidean, in the unit of the features; the distance of a misclassified sample to the boundary is negative.
#
# The table changes these classes in one respect at a time. For each arrangement it gives the error of the nearest-centre classifier,
# the mean distance to its decision boundary, the three numbers of Algorithm 1, the *relative overlap*, which is the mean of
# $w_i + w_j - d_{i,j}$ over the pairs of classes ($w$: widths, $d$: distance of their centres) divided by the mean $d_{i,j}$, and ROBY by
# Equations 5 to 10.

# %%
ROWS = handmade.readings(numpy_generator(page, "readings"))
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
# be scaled, so the widths of the figure differ by millionths.

# %%
EQUAL = 2 + 1e-6 * torch.arange(CLASSES, dtype=torch.float64)
sweep = handmade.swept(np.geomspace(0.25, 8, 16), *arranged(numpy_generator(page, "equal"), widths=EQUAL))
ALT = "Left: ROBY is flat, the overlap falls. Right: the error falls to zero as the centres move apart."
display.picture(handmade.draw_sweep(sweep), "Equally wide hand-made classes, moved apart. Left: ROBY, and "
                "the relative overlap. Right: share of samples that the "
                "nearest-centre classifier misclassifies", ALT)

# %% [markdown]
# ## Property 1: the smaller ROBY, the more robust
#
# The property says that a smaller ROBY “generally” puts samples farther from the decision boundary. It names no bound, so the page
# gives no verdict. It measures Spearman's rank correlation between each measure and the mean distance to the boundary, over random
# arrangements of classes. Each arrangement has 20 samples a class; centres and widths are drawn as above. The separation is drawn between 0.75 and 3
# (“differs up to fourfold”) or is 1.5 for all (“equal”).

# %%
AGREED = {name: handmade.property_1(numpy_generator(page, "property", name), scale.trials, spread)
          for name, spread in (("separation differs up to fourfold", 2.0), ("equal separation", 1.0))}
page.statement("property-1", data={"n": scale.trials, "arrangements": AGREED})
page.extra("property-1", (), lambda: handmade.agreed_rows(AGREED),
    f"Rank correlation with the mean distance to the decision boundary over {scale.trials:,} arrangements "
    "(95% interval over resampled arrangements)", header={"arrangements": "arrangements", **NAMES})

# %% [markdown]
# ## Property 2: natural samples only
#
# ROBY needs one forward pass for each clean image and no gradient. A model that counts its inputs
# receives each image once, with gradients switched off.
#
# ## Property 3: any model
#
# The measure takes any callable from images to logits. Three networks and a plain function must each give the numbers of Algorithm 1.

# %%
IMAGES = ((features - features.min()) / (features.max() - features.min())).float().view(-1, 1, 2, 5)
agree = [handmade.agrees(model, IMAGES, y) for model in handmade.models(seed)]
once = handmade.one_pass(IMAGES, y)
page.statement("property-2", data={"images": len(IMAGES), "same": once}, evidence=equality(once))
page.statement("property-3", data={"models": len(agree), "same": all(agree)}, evidence=equality(all(agree)))

# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | *norm* | from the smallest to the largest value of a list, inside one network | the authors' later code (journal version); the text names no formula |
# | line 23 of Algorithm 1 | *norm* of the list of distances, then the mean | *norm* of one number has no meaning |
# | feature vector | logits | the same code; {ref}`Section IV.C <chen-iv-c>` compares softmax and last hidden features |
# | class of a sample | its true label, all test images | the same code; the text says the predicted class |
# | sign of the widths | Algorithm 1: wider classes raise ROBY | by Equations 5 and 9 narrower classes raise it; in our arrangements widths hardly change that ROBY |
#
# ## Exercises
#
# - `seed=1`: rank correlations near 0 move by a few tenths from seed to seed, those near −1 hardly.
# - Give `EQUAL` widths of your own: ROBY departs from 1 − FSD as they differ.

# %%
FREE = AGREED["separation differs up to fourfold"]
page.box(
    "Does ROBY, a robustness score from class overlap, follow the distance to the boundary?",
    "Not on simulated classes: rescaling each network's overlaps to 0 to 1 hides how far apart its "
    "classes are.",
    "Over {n:,} arrangements of classes ROBY has rank correlation {roby.value:.2f} with the distance "
    "(95% interval "
    "{roby.low:.2f} to {roby.high:.2f}; −1 is perfect), the unscaled overlap has {overlap.value:.2f}.",
    "The paper defines no rescaling; ours follows the authors' later code.",
    facts={"n": scale.trials, "roby": FREE["roby"], "overlap": FREE["overlap"]},
    picture=handmade.draw_sweep(sweep), alt=ALT, results=())

# %%
page.finish()
