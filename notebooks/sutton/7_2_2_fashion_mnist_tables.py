# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-19
#     - table-20
#     - table-21
#     - figure-17
#     - figure-18
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
# (sutton-7-2-2-tables)=
# # 7.2.2 Fashion-MNIST: item by item
#
# *Sutton et al. {cite:p}`sutton2023`, Section 7.2.2*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks' initialisation, of their training and of every draw
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # what is computed at full scale: nothing here, see the page on Fashion-MNIST

# %% tags=["hide-cell"]
from papers.sutton import experiments, figures, tables
from papers.sutton.experiments import ATTACKED, DELTAS, problems_of
from report import reference
from report.page import start
from shared.data.archives import SPECS

page = start("sutton/7_2_2_fashion_mnist_tables", globals())
page.names = tables.names_of("fashion_mnist")
CLASSES = experiments.CLASSES["fashion_mnist"]
NEXT = problems_of(len(CLASSES))

# %% [markdown]
# Every table and figure of the section beside the printed one; {ref}`the page on Fashion-MNIST <sutton-7-2-2>` has what they come to. A column of
# Tables 20 and 21 is a class pair, which the paper numbers as in Table 19. In Table 20 each cell holds the value of the training images, then that of the test images.

# %%
# At full scale this page shows what the page on Fashion-MNIST has computed; else it computes small networks.
scale = page.scale(**experiments.FASHION_MNIST | {"quick": experiments.FASHION_MNIST["smoke"]})
pairs = page.results(experiments.fashion_mnist)
again = page.results(experiments.fashion_mnist_retrained, optional=True)
page.text((pairs, again), lambda u, more: figures.scale_words(u, len(pairs.published), more))

# %% [markdown]
# ## Table 19: the ten classes
#
# The table compares the published names with those of the data set, without capitals. Below, T-shirts and tops are *tshirt* and ankle boots
# are *boot*.

# %% mystnb={"code_prompt_hide": "Hide Table 19: {type}", "code_prompt_show": "Show Table 19: {type}"} tags=["hide-output"]
page.table("table-19", (), lambda: tables.class_rows(reference.paper("sutton")["table-19"],
                                                     SPECS["fashion_mnist"].classes))

# %% [markdown]
# ## Table 20: accuracy and flipped labels
#
# *Adversarial susceptibility* is the share of correctly classified images that are attackable: a step flips the label, or the loss gradient is
# exactly zero. *Random susceptibility* is the share of the images that a step flips whose label at least one noise sample flips, too.
# $\delta$ is the norm of the noise in units of the attack's; its four values are lost in these tables and inferred ({ref}`sutton-7-2-1-tables`). Rows of
# random susceptibility stay empty for a pair without such a step.
#
# Section 3 says that the effects "are broadly consistent across all the datasets". "Broadly" names no bound, so it can be refuted but not
# confirmed. Only the order is tested: is adversarial susceptibility above random susceptibility at $\delta$ = 1 and 2 in each pair and set?

# %% mystnb={"code_prompt_hide": "Hide Table 20: {type}", "code_prompt_show": "Show Table 20: {type}"} tags=["hide-output"]
page.table("table-20", (pairs, again), figures.with_retraining(
    figures.compared_where_learned(tables.summary_shares)), hidden=tables.HIDDEN)
page.text((pairs, again), lambda u, more: figures.failed_in_words(u, CLASSES, more))

# %% [markdown]
# ## Table 21: norms of the attacks
#
# Each cell gives the mean of a norm over the steps that flip a label, and the standard deviation in brackets; it is empty for a pair without such
# a step. The norm ℓ₁ is the sum of all
# absolute changes, ℓ₂ the Euclidean norm, ℓ∞ the largest change of one channel of one pixel.

# %% mystnb={"code_prompt_hide": "Hide Table 21: {type}", "code_prompt_show": "Show Table 21: {type}"} tags=["hide-output"]
page.table("table-21", (pairs, again), figures.with_retraining(tables.summary_sizes), rests=ATTACKED,
           hidden=tables.HIDDEN)

# %% [markdown]
# ## Figure 17: norms of the attacks, image by image
#
# A *violin* shows a distribution: it is wide where many images have an attack of that norm. Training images are on the left, test
# images on the right; a line marks the median.

# %%
figures.publish_violins(page, "figure-17", (pairs, again), NEXT, CLASSES, "attack")

# %% [markdown]
# ## Figure 18: norms of the random perturbations that flip a label, image by image
#
# For each image the smallest of the random perturbations that flip its label is shown. The paper's $\delta$ is not known; the figure uses
# the largest, ten times the norm of the attack.

# %%
figures.publish_violins(page, "figure-18", (pairs, again), NEXT, CLASSES, DELTAS[-1])

# %% [markdown]
# ## Choices that the paper leaves open
#
# {ref}`Section 7.1 <sutton-7-1>` and {ref}`Section 7.2.1 <sutton-7-2-1-tables>` list the choices that all data sets share. These belong to this page:
#
# | choice | ours | why |
# |---|---|---|
# | size of the network | Table 2 without its last two convolutions | as the paper says; the dense layer then has 128 inputs |
# | grey to colour | three equal channels, each attacked on its own | "duplicating the channels"; the printed norms need 2,352 numbers an image, not 784 |

# %%
page.finish()
