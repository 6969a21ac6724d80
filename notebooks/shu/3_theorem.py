# ---
# jupyter:
#   boundary_book:
#     items:
#     - theorem-1
#     - remark-1
#     - remark-2
#     - conjecture-1
#     - conjecture-2
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
# (shu-3)=
# # 3. Errors on lower-dimensional regions: Theorem 1 and two conjectures
#
# *Shu et al. {cite:p}`shu2022`, Section 3*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of random draws and of the weights of the example network
device: str = "auto"  # auto, cpu or cuda; this page is too small to gain from a GPU
runs: str = "missing"  # nothing here needs runs of its own
draws: int = None  # random images; None takes the profile's value [1..]

# %% tags=["hide-cell"]
import math

import matplotlib.pyplot as plt
from torch import nn

from papers.shu import beyond, experiments, figures
from report import display, prose, registry
from report.page import start
from report.verdict import equality

page = start("shu/3_theorem", globals())
scale = page.scale(smoke=dict(draws=2_000, directions=20, steps=4),
                   quick=dict(draws=100_000, directions=200, steps=7),
                   paper=dict(draws=100_000, directions=200, steps=7))

# %% [markdown]
# ## The idea
#
# Bounds let the generalisation error (expected loss on a new image) of a network fall to 0 as $n^{-1/2}$ with $n$ training images, yet {term}`adversarial examples <adversarial example>` remain. Section 3 offers “a potential explanation”. Theorem 1 says that two networks that differ only on countably many regions of lower dimension have the same expected loss, here the probability of an error, if the distribution of images is continuous. Conjecture 1 says that the lower-dimensional uncertainty and transferable regions ({ref}`Section 2.4 <shu-2-4>`) together have probability zero, Conjecture 2 that a network is
# discontinuous at their edges. We test the theorem on two classifiers whose expected losses are exact, and ask whether trained networks disagree on such regions alone.
#
# ## Step by step: errors on sheets without thickness
#
# Images $W$ are uniform on $[0, 1]^d$, and the true class is 1 where $W_1 > 1/2$. Classifier $M_1$ predicts 1 where $W_1 > 2/5$. Classifier $M_2$ predicts the same, except on the *sheets* $\{W : W_1 = 2^{-i}\}$, $i = 2, 3, \dots$, of dimension $d - 1$, where it alone is wrong. All sets depend on $W_1$ alone, so an expected loss is the probability that $W_1$ lies where the classifier errs: under the uniform law, a length. The
# sums are fractions, without rounding. Edit the sheets and run both cells again.

# %% tags=["show-input"]
from fractions import Fraction

import torch


def probability(intervals, law=lambda v: v):
    """Probability that W_1 lies in a union of closed intervals, by its distribution function."""
    total, reached = Fraction(0), Fraction(0)
    for low, high in sorted((max(low, 0), min(high, 1)) for low, high in intervals):
        low = max(low, reached)
        if high > low:
            total, reached = total + law(high) - law(low), high
    return total


WRONG = (Fraction(2, 5), Fraction(1, 2))        # where M_1 errs


def slabs(count, thickness):
    """Intervals around 2^-i from i = 2 on; sheet i is thickness / 4^i wide."""
    return [(Fraction(1, 2**i) - thickness / 4**i / 2, Fraction(1, 2**i) + thickness / 4**i / 2)
            for i in range(2, count + 2)]


def losses(count, thickness, law=lambda v: v):
    """Expected losses of M_1 and M_2 where M_2 errs on so many sheets, too."""
    return probability([WRONG], law), probability([WRONG, *slabs(count, thickness)], law)


sheets = {t: losses(20, Fraction(t)) for t in (0, Fraction(1, 100), Fraction(1, 10), 1)}  # 0: the theorem's
wrong = [any(low < w <= high for low, high in [WRONG, *slabs(20, 1)])         # by counting random images
         for w in torch.rand(2000, generator=torch.Generator().manual_seed(0)).tolist()]

# %%
figure, ax = plt.subplots(figsize=(5.4, 2.4))
for n, (t, (_, second)) in enumerate(sheets.items()):
    for low, high in [WRONG, *slabs(20, Fraction(t))]:
        ax.fill_betweenx([n - 0.3, n + 0.3], float(low), float(high), color=display.PALETTE[3], lw=0.7)
    ax.text(1.02, n, f"error {float(second):.3f}", va="center")
ax.set(xlim=(0, 1.25), xlabel="first pixel", ylabel="thickness t", yticks=range(len(sheets)),
       yticklabels=map(str, sheets), xticks=[0, 0.5, 1])
display.picture(figure, "Where the second classifier errs, and its exact error, by thickness of the sheets",
                "Rows of an interval with one wide error region and thin further ones that widen upwards.")
display.say(prose.fill("For t = {t} the exact error is {exact:.3f}; the share of misclassified images "
                       "among {n} random ones is {counted:.3f}.", {
                           "t": 1, "exact": float(sheets[1][1]), "n": len(wrong),
                           "counted": sum(wrong) / len(wrong)}))

# %% [markdown]
# ## What came out
#
# ### Under a density, sheets without thickness leave the error as it is
#
# The losses are equal, for the uniform distribution and for one with density $2 W_1$. In three examples that violate an assumption they differ: (1) sheet $i$ has thickness $t / 4^i$ (table); (2) $W_1$ takes 256 grey levels, and another $M_2$ errs on a sheet at each; (3) all pixels of an image are equal, and a third $M_2$ errs on this diagonal of the cube. In (1) the losses differ by at most $t / 6$; in (2) and (3) $M_2$ is always wrong.

# %%
SLABS = 40
THICK = (Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**6), Fraction(0))
LAWS = {"uniform": lambda v: v, "density 2 W₁": lambda v: v * v}
rows = [{"law of $W_1$": name, "t": float(thick), "loss of M_1": float(first),
         "loss of M_2": float(second), "difference": float(second - first)}
        for name, law in LAWS.items() for thick in THICK for first, second in [losses(SLABS, thick, law)]]
within = all(0 <= second - first <= thick / 6 for law in LAWS.values() for thick in THICK
             for first, second in [losses(SLABS, thick, law)])      # density up to 2, all sheets below t / 12
LEVELS = [Fraction(k, 255) for k in range(256)]
grey = Fraction(sum(WRONG[0] < v <= WRONG[1] for v in LEVELS), len(LEVELS)), Fraction(1)
diagonal = losses(0, 0)[0], Fraction(1)         # every image is on the diagonal, where M_2 is wrong
thick = losses(SLABS, THICK[0])
same = all(first == second for law in LAWS.values() for first, second in [losses(SLABS, 0, law)])
generator = page.generator("images")
images = torch.rand(scale.draws, generator=generator, dtype=torch.float64)
hits = sum(int((images == 0.5**i).sum()) for i in range(2, SLABS + 2))
page.extra("theorem-1-slabs", (), lambda: rows,
          f"Exact expected losses of two classifiers that differ on {SLABS} sheets",
          header={k: {"t": "$t$"}.get(k, k.replace("M_1", "$M_1$").replace("M_2", "$M_2$")) for k in rows[0]})

# %% [markdown]
# ### Trained networks disagree on clean digits, too
#
# By {ref}`Definition 1 <shu-2>` the uncertainty regions together hold all images on which some two networks disagree. Conjecture 1 speaks of lower-dimensional regions alone, which have probability zero under every distribution with a density. The paper's DNN function is the label, which jumps at every decision boundary. A LeNet's outputs before the arg max are Lipschitz continuous ({ref}`proof and check <shu-3-lipschitz>`).

# %%
clean = page.results(experiments.lenet_clean, names=["seeds"], plan=lambda scale: {})
page.text(clean, figures.disagreement,
        "At least two of the {networks} LeNets of Section 2.1 disagree on {clean.percent:%} of all "
        "{clean.of} clean test digits, misclassified ones included (95% interval {clean.low:.1f} to "
        "{clean.high:.1f}%).")

# %% [markdown]
# ## Where it differs, and why
#
# “Continuous distribution” in the proof must mean one that gives each region of lower dimension probability 0, as every density on
# $[0, 1]^d$ does. Images of 256 grey levels have no such distribution: each image that occurs is a region of dimension 0 with positive probability. And
# where two networks disagree with positive margins, they disagree in a whole ball, which has a volume (Conjecture 1 below).
#
# ## Three things to remember
#
# - Errors on countably many sets of probability zero leave the expected loss as it is, even if these sets hold infinitely many images.
# - Images with finitely many grey levels are outside the theorem.
# - The regions in which trained networks disagree have a volume; the theorem does not explain them.
#
# ## Try it
#
# 1. In `slabs`, replace `2**i` by `i` in both `Fraction(1, 2**i)`. Does the error at $t = 0$ change? Does that at $t = 1$?
# 2. Let `losses` have `law=lambda v: v * v`, for the density $2 W_1$. What becomes of the error at $t = 0$? Why does the counted share at $t = 1$ no longer agree with the exact error?
# 3. `-p seed 1`: another LeNet. Does a step exceed the bound of Conjecture 2?

# %%
display.show(display.folded("Answers", (
    "1. At $t = 0$ it does not: each sheet has probability 0, wherever it lies. At $t = 1$ the error "
    "falls: half of the widest sheet, at 1/2, lies where the first classifier errs anyway.\n"
    "2. It becomes (1/2)² − (2/5)². The random images stay uniform; with `.sqrt()` before `.tolist()` "
    "they have this density, and the two agree again.\n"
    "3. No: the bound changes with the weights, and holds for all of them.")))

# %% [markdown]
# ## Item by item
#
# ### Theorem 1

# %%
theorem = {"loss_first": float(losses(SLABS, 0)[0]), "loss_second": float(losses(SLABS, 0)[1]),
           "draws_on_a_slab": hits, "draws": len(images)}
page.statement("theorem-1", data=theorem, evidence=equality(
    same and within and hits == 0, changed=[a != b for a, b in (thick, grey, diagonal)]))

# %% [markdown]
# ### Remark 1
#
# By the paper's reading of Theorem 1, a classifier may be wrong on infinitely many sheets without a larger generalisation error. Here the two
# losses are equal for each number of sheets. With a thickness their difference grows with the number.

# %%
COUNTS = (1, 5, 10, SLABS)
flat, fat = ([float(second - first) for n in COUNTS for first, second in [losses(n, width)]]
             for width in (THICK[-1], THICK[0]))
page.statement("remark-1", data={"slabs": list(COUNTS), "difference": flat, "difference_with_thickness": fat},
               evidence=equality(not any(flat), changed=[any(fat)]))

# %% [markdown]
# ### Remark 2
#
# Another definition of the generalisation error subtracts the mean loss on the training data from the expected loss. Two classifiers that fit the training data
# exactly have equal values by this definition, too, if their expected losses are equal. If a training image lies on a sheet, the values differ.

# %%
TRAINING = 1000


def excess(loss, wrong):
    """Expected loss minus the mean loss on the training images, of which so many are misclassified."""
    return loss - Fraction(wrong, TRAINING)


first, second = losses(SLABS, 0)
values = excess(first, 0), excess(second, 0), excess(second, 1)
page.statement("remark-2", data={"training_images": TRAINING, "excess_first": float(values[0]),
                                "excess_second": float(values[1]), "with_one_on_a_slab": float(values[2])},
              evidence=equality(values[0] == values[1], changed=[values[0] != values[2]]))


# %% [markdown]
# (shu-3-lipschitz)=
# ### Conjecture 2
#
# The paper's DNN function is the hard label (Section 2): it jumps at a decision boundary. Conjecture 2 is false of a LeNet's outputs before the arg max: pooling
# over disjoint windows and ReLU do not increase distances, and a linear layer increases them at most by its largest singular value. So the outputs
# are Lipschitz continuous with the product of these values, whatever the weights. Along random directions the change of a LeNet's outputs, divided by
# the step, must not exceed this product; at a jump the quotient would grow in proportion to 1/step.

# %%
def largest_singular_value(layer, shape):
    """Of a linear layer, or of a convolution on images of this shape, from its whole matrix."""
    if isinstance(layer, nn.Linear):
        return float(torch.linalg.matrix_norm(layer.weight, 2))
    size = math.prod(shape)
    columns = nn.functional.conv2d(torch.eye(size, dtype=layer.weight.dtype).view(size, *shape), layer.weight)
    rows_ = columns.flatten(1)
    return float(torch.linalg.eigvalsh(rows_ @ rows_.T)[-1]) ** 0.5


network = registry.build("shu-lenet", generator=page.generator("weights")).double().eval()
bound, x = 1.0, torch.rand(1, 1, 28, 28, generator=generator, dtype=torch.float64)
with torch.no_grad():
    z = x
    for layer in network:
        if isinstance(layer, nn.Linear | nn.Conv2d):
            bound *= largest_singular_value(layer, z.shape[1:])
        z = layer(z)
    unit = torch.randn(scale.directions, 1, 28, 28, generator=generator, dtype=torch.float64)
    unit = unit / unit.flatten(1).norm(dim=1).view(-1, 1, 1, 1)
    STEPS = [10.0**-k for k in range(scale.steps)]
    slopes = [float(((network(x + step * unit) - network(x)).norm(dim=1) / step).max()) for step in STEPS]
steepest = max(slopes)
lipschitz = {"bound": bound, "steepest": steepest, "share_of_bound": steepest / bound,
             "shortest_step": STEPS[-1], "violations": sum(slope > bound for slope in slopes)}
page.statement("conjecture-2", data=lipschitz)
display.say(prose.fill("For the LeNet with random weights the bound is $L$ = {bound}; the steepest step "
                       "reaches {share_of_bound:.1%} of it.", lipschitz))

# %% [markdown]
# ### Conjecture 1
#
# A box with fewer intervals than the image has pixels has volume 0. A set of images with one predicted label has a volume: where the largest output
# leads by a margin $m$ and the outputs have the Lipschitz constant $L$, the label is constant in the ball of radius $m / (\sqrt2\, L)$. So networks
# that disagree with positive margins disagree in a whole ball. The check draws images from its surface.

# %%
with torch.no_grad():
    scores = network(x)[0].sort(descending=True)
    margin = float(scores.values[0] - scores.values[1])
    radius = margin / (math.sqrt(2) * bound)
    moves = torch.randn(scale.draws // 100, 1, 28, 28, generator=generator, dtype=torch.float64)
    moves = radius * moves / moves.flatten(1).norm(dim=1).view(-1, 1, 1, 1)
    flips = int((network(x + moves).argmax(1) != scores.indices[0]).sum())
d = x.numel()
log_volume = d / 2 * math.log(math.pi) - math.lgamma(1 + d / 2) + d * math.log(radius)
ball = {"margin": margin, "radius": radius, "images_on_its_surface": len(moves), "other_labels": flips,
        "log10_volume": log_volume / math.log(10), "dimension": d}
page.statement("conjecture-1", data=ball)
display.say(prose.fill(
    "Around one random image with margin {margin} the radius is {radius}, and {other_labels} of "
    "{images_on_its_surface} images on the surface of that ball have another label. The ball has a volume of "
    "$10^{{{power:.0f}}}$ in {dimension} dimensions; its part inside the cube of images is smaller, and "
    "above 0, too.", ball | {"power": ball["log10_volume"]}))

# %% [markdown]
# ### Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | the pair of classifiers | one threshold on one pixel, errors on sheets | their losses are exact fractions |
# | “continuous distribution” | one with a density | a density suffices; probability 0 of each single image does not, as the diagonal shows |
# | the network of the conjectures | a LeNet with random weights | the argument holds for all weights |

# %%
best = page.best(clean)
facts = figures.disagreement(best) if len(best) else {}
page.box(
    "Can a classifier be wrong on infinitely many images without a larger error?",
    "Yes, if these images have probability zero, like the points of a sheet without thickness.",
    "In an exact example, further errors on {slabs} such sheets leave the error at {loss}. The paper "
    "conjectures the same of lower-dimensional regions of adversarial images.",
    "Yet at least two of {family} LeNets disagree on {clean.percent:.1f}% of {clean.of:,} clean test digits, "
    "misclassified ones included (95% interval {clean.low:.1f} to {clean.high:.1f}%).",
    facts=facts | {"slabs": SLABS, "loss": theorem["loss_second"]} | (
        {"family": beyond.NUMBERS[facts["networks"]]} if facts else {}),
    picture=figures.draw_sheets(facts["clean"], WRONG, [0.5**i for i in range(2, SLABS + 2)],
                                theorem["loss_second"]) if facts else None, results=(clean,),
    alt="Left an interval with the errors of a classifier and thin lines of further errors; right the "
        "probability of disagreement, zero for the sheets, above zero for LeNets on clean digits.")

# %%
page.finish()
