# ---
# jupyter:
#   boundary_book:
#     items:
#     - definition-1
#     - equation-ball-volume
#     - figure-1
#     - figure-2
#     needs:
#     - shu/2_1_lenet
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
# (shu-2)=
# # 2. Where re-trained networks disagree: ten LeNets in planes through one digit
#
# *Shu et al. {cite:p}`shu2022`, Sections 1 and 2*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks and of samples of small runs
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # nothing here needs runs of its own: those of Section 2.1 are shown
size: int = None  # points along each side of a plane; None takes the profile's value [3..]

# %% tags=["hide-cell"]
import math

import numpy as np
from scipy import ndimage

from papers.shu import beyond, experiments, figures
from papers.shu.planes import GROUPS, counts, draw_joined, draw_popular, draw_regions
from report import display
from report.page import start
from report.verdict import equality

page = start("shu/2_regions", globals())

# %% [markdown]
# ## The idea
#
# Networks of one structure that are trained on the same data from different seeds assign some images to different classes. The paper
# calls a connected set of such images an *uncertainty region* and claims that several of them can lie in a small ball around one clean
# image. It contrasts them with drawings of the {term}`decision boundary` as a single curve. Figures 1, 2 and 10 of the paper are sketches;
# ours are measured. Ten LeNets classify the points of slices of image space through one digit: planes, clipped to pixel values from 0 to 1.
#
# ## Step by step: where networks disagree, piece by piece
#
# Images of two pixels fill one plane, so that nothing lies outside it. A grid that is coarser than a narrow band cuts it into more pieces. Edit a step and run both cells again.

# %% tags=["show-input"]
from papers.shu import toy


def disagree(answers):
    """Whether some two of K networks give an image different classes, by the definition: [K, N] -> [N]."""
    networks = range(len(answers))
    return [any(answers[i][n] != answers[j][n] for i in networks for j in networks)
            for n in range(len(answers[0]))]


def connected(mask, side):
    """The number of each point's piece, 1, 2 ..., 0 where `mask` is False; neighbours are of one piece."""
    piece, number = [0] * len(mask), 0
    for seed in range(len(mask)):
        if not mask[seed] or piece[seed]:
            continue
        number, todo = number + 1, [seed]       # a new piece: it spreads from neighbour to neighbour
        while todo:
            n = todo.pop()
            if mask[n] and not piece[n]:
                piece[n], column = number, n % side
                todo += [m for m in (n - side, n + side) if 0 <= m < len(mask)]
                todo += [n - 1] * (column > 0) + [n + 1] * (column < side - 1)
    return piece


models, x, y = toy.two_pixels(networks=5)       # they differ in their seed alone
answers = [model(toy.plane()).argmax(1).tolist() for model in models]
areas = connected(disagree(answers), toy.SIDE)

# %%
ax = toy.draw_plane(areas, ["white", *(display.PALETTE[n % 10] for n in range(max(1, *areas)))], x=x, y=y)
display.picture(ax.figure, "Images of two pixels: pieces of disagreement of five networks (colours repeat)",
                "A plane with narrow bands between two classes of images, in several colours.")
fast = (np.array(answers) != answers[0]).any(0).reshape(toy.SIDE, toy.SIDE)
toy.compare(max(areas) == ndimage.label(fast)[1] and ((np.array(areas) > 0) == fast.ravel()).all(), "pieces")

# %% [markdown]
# The networks of all results below are the ten LeNets of {ref}`Section 2.1 <shu-2-1>`, the digit is that section's. An attack's adversarial
# examples span a *box*: an interval for each pixel that all of them change or, where they share none, that any changes. Each pair of eight
# attacks gives a plane through the digit and the centres of two boxes. The plane of Figure 1 contains two clean digits of other classes.

# %%
scale = page.scale(**experiments.ONE_DIGIT)
networks = page.results(experiments.lenet_networks)
page.results(experiments.lenet_sweeps)       # the planes rest on it
planes = page.results(experiments.planes)

# %% [markdown]
# ## What came out

# %%
page.text(networks, lambda runs: beyond.clean_errors(runs, "table-1"), beyond.CLEAN)

# %% [markdown]
# ### Pieces of disagreement near the digit belong to one area farther out

# %%
page.text(planes, lambda runs: counts(runs) | {"radius": figures.DELTA},
        "In {with_any} of {planes} planes at least two of the {networks} networks disagree within the "
        "paper's radius (6, read as a square: L2 norm {radius}). In {with_several} the area is in pieces, "
        "at most {most}. In {joined} of these all pieces join in the plane, outside the circle. The circle "
        "uses distances before clipping to [0, 1]; clipping can bring a point into the ball.")
page.text(planes, lambda runs: counts(runs, stride=2),
        "How many pieces there are depends on the grid: with every second of its points, the area is in "
        "pieces in {with_several} planes, at most {most}, and in {joined} of these all join.")

# %% [markdown]
# ## Where it differs, and why
#
# Figure 2 draws one region (a) and two (b); the text reports several. In our planes the ball may cut one area into pieces. Areas that are
# separate in a plane may be connected outside it, and other planes may have separate ones, so that planes alone do not decide the claim.
#
# ## Three things to remember
#
# - In planes towards adversarial images, networks that differ in their seed alone disagree close to a clean image.
# - Whether a region looks separate depends on where one stops looking.
# - A plane is a thin slice: it can show that pieces join, not that they never do.
#
# ## Try it
#
# 1. Use `networks=2` in the first cell of the steps, and print `max(areas)`, the number of pieces. Has the area of disagreement of two networks more pieces than that of five?
# 2. Replace `any(` by `all(` in `disagree`. How many images are left?
# 3. Add a line `toy.SIDE = 241` above the line that begins with `models`, for a grid of about four times as many points. Does the number of pieces change?

# %%
display.show(display.folded("Answers", (
    "1. Yes. The area is smaller, a part of that of five networks, and has more pieces: the further "
    "networks fill the gaps between them.\n"
    "2. No image, since a network never disagrees with itself ($i = j$).\n"
    "3. It falls by more than a third, while the area stays about as large: the coarse grid cuts narrow "
    "bands into pieces.")))

# %% [markdown]
# ## Item by item
#
# ### Definition 1
#
# An uncertainty region is a connected set of images on each of which some two networks $M_i$, $M_j$ of a family disagree; the pair may
# change from image to image. The fast code compares each network with the first one, which must give the same set. Two versions
# with an error built in must give another one.

# %%
said = np.random.default_rng(3).integers(0, 3, (4, 200))
said[:, :60] = said[0, :60]
fast = (said != said[0]).any(0)
wrong = ((said != said[0]).all(0), said[0] != said[1])
page.statement("definition-1", data={"networks": len(said), "images": said.shape[1],
                                    "disagree": int(fast.sum())},
              evidence=equality(disagree(said.tolist()) == fast.tolist(),
                                changed=[bool((other != fast).any()) for other in wrong]))


# %% [markdown]
# ### Ball volume (equation)
#
# $$|B(\delta, W)| = \frac{\pi^{d/2}}{\Gamma(1 + d/2)}\, \delta^d$$
#
# The same volume follows from a recursion that needs no Gamma function: $V_0 = 1$, $V_1 = 2\delta$, $V_d = V_{d-2} \cdot 2\pi\delta^2 / d$.

# %%
def log_volume(d, delta, *, power=0.5, shift=1):
    """Natural logarithm of the volume of a ball in d dimensions, as printed."""
    return d * power * math.log(math.pi) - math.lgamma(shift + d / 2) + d * math.log(delta)


def by_recursion(d, delta):
    """The same from two dimensions fewer, again and again."""
    log = 0.0 if d % 2 == 0 else math.log(2 * delta)
    return log + sum(math.log(2 * math.pi * delta**2 / n) for n in range(2 + d % 2, d + 1, 2))


DIMENSIONS = (1, 2, 10, 100, 784, 3072, 150_528)
apart, *wrong = (max(abs(log_volume(d, figures.DELTA, **change) - by_recursion(d, figures.DELTA)) / (1 + d)
                       for d in DIMENSIONS) for change in ({}, {"power": 1}, {"shift": 0}, {"shift": 2}))
volumes = {"dimensions": list(DIMENSIONS),
           "log10_volume": [log_volume(d, figures.DELTA) / math.log(10) for d in DIMENSIONS]}

page.statement("equation-ball-volume", data=volumes,
               evidence=equality(apart < 1e-12, changed=[error > 1e-9 for error in wrong]))

# %% [markdown]
# The second half of the claim, that images of higher resolution leave room for more clean images, holds for images whose balls are disjoint. The
# cube $[0, 1]^d$ has room for at least $1 / |B(2\delta, W)|$ of them, because balls of radius $2\delta$ around a largest such set cover the cube; this
# bound grows without limit. How many clean images a data set has does not follow from the volume.

# %% [markdown]
# ### Figure 1: one curve between two classes
#
# The left panel shows the popular view: two groups of points and one smooth curve, computed as the boundary between two Gaussian
# densities. The right panel shows the classes that $M_1$ assigns in the plane through three clean digits.

# %%
page.figure(
    "figure-1", planes, draw_popular,
    data=lambda runs: {"groups": len(GROUPS), "planes": len(figures.of_runs(runs))},
    alt="Left two groups of points with a curve between; right coloured areas of classes.")

# %% [markdown]
# ### Figure 2: one region, or several
#
# At shaded points some of the ten networks disagree. Left is a plane with fewest pieces in the ball, at least one, right one with most (BIM: basic
# iterative method, NF: NewtonFool). The circle is the ball of radius $\delta$ with
# $\delta^2 = 6$.

# %%
page.figure("figure-2", planes, draw_regions, data=counts,
    alt="Two planes around the digit with a circle; areas where networks disagree are shaded.")

# %% [markdown]
# ### Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | radius | $\delta^2 = 6$ | some printed distances are possible only as squared norms ({ref}`audit`); the paper's 6 lies slightly above the smallest distance of its own digit, ours is nearer |
# | planes | through the centres of two attacks' boxes; pixel values below 0 or above 1 are clipped, distances are those before clipping | the paper's figures are conceptual |
# | connected | neighbouring points of a grid of the plane: above, below, left, right | the definition speaks of sets that cannot be separated |

# %%
best = page.best(planes)
facts = counts(best) if len(best) else {}
together = facts.get("with_several") == facts.get("joined")
page.box(
    "Do re-trained networks disagree in separate pockets around an image?",
    "We found no separate pockets: pieces that look separate near the image join farther out." if together
    else "In some slices of image space they do: pieces of the area stay separate in the whole slice.",
    "In {with_any} of {planes} slices of image space through one digit, {family} networks disagree "
    "somewhere within the paper's radius. In {with_several} of these slices the area "
    "is in pieces there, which join farther out in " + (
        "all {joined}." if together else "{joined} of these."),
    "One digit and slices cannot exclude separate pockets elsewhere.",
    facts=facts and facts | {"family": beyond.NUMBERS[facts["networks"]], "radius": figures.DELTA},
    picture=draw_joined(best) if facts.get("joined") else None, results=(planes,),
    alt="A slice of image space: coloured pieces of disagreement inside a circle, joined by a grey area.")

# %%
page.finish()
