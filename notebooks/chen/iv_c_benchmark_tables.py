# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-1
#     - table-2
#     - table-3
#     - table-4
#     - figure-2
#     - figure-3
#     - figure-4
#     - equation-pearson
#     - procedure-research-questions
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
# (chen-iv-c-tables)=
# # IV.C Ten architectures: item by item
#
# *Chen et al. {cite:p}`chen2020`, Sections IV.A to IV.C*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks' first weights, of their training and of every draw
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # what is computed at full scale: nothing here, see the page on Section IV.C

# %% tags=["hide-cell"]
import numpy as np

from papers.chen import experiments, figures, ranking
from report.page import start
from report.verdict import equality

page = start("chen/iv_c_benchmark_tables", globals())

# %% [markdown]
# Every table and figure of the section beside the printed one; {ref}`the page on ten architectures <chen-iv-c>` has what they come to.

# %%
# At full scale this page shows what the page on Section IV.C has computed; else it computes small networks.
scale = page.scale(**experiments.SCALE | {"quick": experiments.SCALE["smoke"]})
networks = page.results(experiments.natural)
natural = networks.only(figures.printed)
again = page.results(experiments.natural_retrained, optional=True)

# %% [markdown]
# ## Table I: accuracy, attack success, FSA, FSD and ROBY
#
# ASR (Linf PGD) is the success of the paper's attack on correctly classified images (pixels in [0, 1]: ε = 0.3 with 40 steps of 0.01; on CIFAR-10
# we assume ε = 1/255 with 10 steps of 0.25/255). ASR (L2 PGD) is the success in the L2 ball of the same ε: the
# paper prints one ε for both norms. The range of this column is that of four ways to understand the L2 attack.
# FSA is one minus the mean width of a class, FSD the mean distance of two class centres, ROBY the mean overlap of two classes (both widths minus
# this distance). Before each mean, the widths, distances or overlaps of a network are rescaled: the smallest becomes 0, the largest 1. LeNet
# was trained with further seeds, so that most of its values have a range ({ref}`how values are compared <one-choice>`).

# %% mystnb={"code_prompt_hide": "Hide Table I: {type}", "code_prompt_show": "Show Table I: {type}"} tags=["hide-output"]
page.table("table-1", (natural, again), figures.with_lengths(figures.with_retraining(
    lambda runs: figures.as_cells(figures.table_1(runs), ("asr_inf", "asr_2", *figures.PAIRS)))),
           hidden=figures.LENGTHS)

# %% [markdown]
# ## Table II: correlation of the L∞ metrics with attack success
#
# A data set has no coefficient while one of its ten networks is missing, or if the attack succeeds equally often on all ten. In the
# published Table I all columns of a data set except accuracy have one order, up to its direction. Pearson correlations of the published
# size then add little evidence ({ref}`the audit <audit>`).

# %%
page.table("table-2", natural, ranking.correlations("inf"), hidden=figures.LENGTHS)

# %% [markdown]
# ## Table III: correlation of the L2 metrics with attack success

# %%
page.table("table-3", natural, ranking.correlations("2"), hidden=figures.LENGTHS)

# %% [markdown]
# ## Table IV: both forms of ROBY with both attacks
#
# Each cell is the mean of the coefficients of the three data sets.

# %%
page.table("table-4", natural, ranking.table_4, hidden=figures.LENGTHS)

# %% [markdown]
# ## Figure 2: attack success and metrics, L∞ forms
#
# Networks are sorted by attack success. In a perfect ranking ROBY rises, and FSA and FSD fall, from left to right.
# Networks of equal success stand in no order.

# %%
page.figure("figure-2", natural, **ranking.of_series(
    figures.SERIES["inf"], "attack success, FSA, FSD and ROBY in the L∞ form"))

# %% [markdown]
# ## Figure 3: attack success and metrics, L2 forms

# %% mystnb={"code_prompt_hide": "Hide Figure 3: {type}", "code_prompt_show": "Show Figure 3: {type}"} tags=["hide-output"]
page.figure("figure-3", natural, **ranking.of_series(
    figures.SERIES["2"], "attack success, FSA, FSD and ROBY in the L2 form"))

# %% [markdown]
# ## Figure 4: both attacks and both forms of ROBY

# %% mystnb={"code_prompt_hide": "Hide Figure 4: {type}", "code_prompt_show": "Show Figure 4: {type}"} tags=["hide-output"]
BOTH = {name: words for series in figures.SERIES.values() for name, words in series.items()
        if name.startswith(("asr", "roby"))}
page.figure("figure-4", natural, **ranking.of_series(BOTH, "success of both attacks and both forms of ROBY"))

# %% [markdown]
# ## All quantities of each network
#
# Attack success is here that of a third of the paper's ε in half of its steps, because the paper's own attack flips nearly every digit
# ({ref}`Section IV.C <chen-iv-c>`). The unscaled overlap is the mean overlap over the mean distance of centres; it is negative if this distance
# exceeds the widths of two classes together. Accuracy, the mean margin of the logits (true class minus the best other) and median distances to the
# boundary need no class centres. The distance along the gradient is that of the first label change on one straight line, so it is only an upper bound.

# %%
page.extra("rank-agreement", natural, ranking.rank_agreement,
           "Rank correlation of each quantity with the success of an attack at a third of the paper's "
           "strength, over ten networks", header=ranking.HEADER,
           fold="How each quantity orders the ten networks")
page.extra("quantities", networks, lambda runs: figures.network_rows(
    runs, ["asr_third", *ranking.QUANTITIES], sort=["dataset", "asr_third"]),
           f"Quantities by attack success on each data set; distances are medians over at most "
           f"{page.full.near} images: root mean square in random directions, L2 norm along the gradient",
           header=ranking.VALUES, fold="The quantities of each network")


# %% [markdown]
# ## Pearson correlation (equation)
#
# $$r = \frac{\sum (x - \bar x)(y - \bar y)}{\sqrt{\sum (x - \bar x)^2 \sum (y - \bar y)^2}}$$
#
# As printed, $x$ stands in place of $y$ in the denominator. As written above, the coefficients follow from the published Table I
# (the {ref}`audit <audit>` has the exception).

# %%
def pearson(x, y, twice=False):
    """Pearson's coefficient; `twice` as printed, with x in the place of y."""
    x, y = x - x.mean(), y - y.mean()
    return (x * y).sum() / np.sqrt((x**2).sum() * ((x if twice else y) ** 2).sum())


PRINTED = np.array([[row["asr_inf"], row["roby_inf"]] for row in ranking.PRINTED
                    if row["dataset"] == "MNIST"]).T
right = np.corrcoef(*PRINTED)[0, 1]
as_printed, same = pearson(*PRINTED, twice=True), abs(pearson(*PRINTED) - right) < 1e-9
page.statement("equation-pearson", data={"networks": figures.TEN, "r": right, "as_printed": as_printed},
               evidence=equality(same, changed=[abs(as_printed - right) > 1e-3]))

# %% [markdown]
# ## Research questions (procedure)
#
# | question of the paper | where |
# |---|---|
# | Q1: does ROBY match robustness as measured by attack success? | {ref}`Section IV.C <chen-iv-c>`, and this page |
# | Q2: does it judge adversarially trained networks? | {ref}`Section IV.D <chen-iv-d>` |
# | Q3: does it follow the capacity of a network? | {ref}`Section IV.E <chen-iv-e>` |

# %%
page.statement("procedure-research-questions", data={"questions": 3})

# %% [markdown]
# ## Choices that the paper leaves open
#
# :::{dropdown} Choices of this page
#
# | choice | ours | reason |
# |---|---|---|
# | training | Adam at 0.001 (AlexNet and SqueezeNet at 0.0003: at 0.001 they stay at chance), batches of 50 | the authors' later code |
# | length of training | the first of 1, 2, 4, 8, 16 epochs that reaches the published accuracy on held-out images, 16 if none does (such networks decide nothing) | the paper prints accuracies, and no length |
# | architectures | standard widths and depths, first convolution 3×3 of stride 2, no pool behind it | the only network of that code, MobileNetV1, begins so |
# | batch normalisation | running averages | the authors' later code takes the statistics of each batch of 50 |
# | PGD on CIFAR-10 | ε = 1/255, 10 steps of 0.25/255 | later code: pixels up to 255, ε = 1, 10 steps; the printed step of 2 would exceed ε; published times imply more steps ({ref}`chen-iv-f`) |
# | L2 attack | a ball of the same ε; three other ways to understand it stand on {ref}`the page on Section IV.C <chen-iv-c>` | the paper prints one ε for both norms |
# | claims on the order of networks | tested literally; a correlation or a ranking needs all networks of the published table | no bound is named |
# | images of the attack | all that are drawn (the paper states no number); success is a share of the correctly classified ones | “ACC − accuracy under attack” cannot exceed ACC, but an ASR of 1 is printed at an ACC of 0.8869 |
#
# :::
#
# A further network is one entry in `MODELS` of {download}`models.py <../../papers/chen/models.py>`; it needs no new training of the others.

# %%
page.finish()
