# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-13
#     - table-14
#     - table-15
#     - table-16
#     - table-17
#     - table-18
#     - figure-15
#     - figure-16
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
# (sutton-7-2-1-noise-tables)=
# # 7.2.1 CIFAR-10, trained with noise: item by item
#
# *Sutton et al. {cite:p}`sutton2023`, Sections 7.1.4 and 7.2.1*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks' initialisation, of their training, of the noise and of every draw
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # what is computed at full scale: nothing here, see the page on training with noise

# %% tags=["hide-cell"]
from functools import partial

from papers.sutton import experiments, tables, training_noise
from papers.sutton.training_noise import KINDS, NUMBER
from report import reference
from report.page import start

page = start("sutton/7_2_1_noise_tables", globals())
page.names = tables.names_of("cifar10")
PAPER, FIGURES = reference.paper("sutton"), (("figure-15", "cube"), ("figure-16", "ball"))

# %% [markdown]
# Every table and figure of the section beside the printed one; {ref}`the page on training with noise <sutton-7-2-1-noise>` has what they come to.
# Here, too, the networks are trained with dropout 0.2 for 50 epochs, like those without noise.

# %%
# At full scale this page shows what the other page has computed; else it computes small networks.
page.scale(**experiments.NOISE | {"quick": experiments.NOISE["smoke"]})
noisy = page.results(experiments.training_noise)
compared = training_noise.compared(page, noisy)

# %% [markdown]
# Lines of the figures join means over the pairs that are measured at every level shown, so that their points can be compared; crosses are the
# published means of the same pairs. The statements below figures and tables rest on these pairs, too. A training failed if its network
# classifies hardly more than half of its training images correctly; lines leave its pair out, unless no other is left. Counts of runs include
# the networks without noise.

# %%
for item, kind in FIGURES:
    page.text(compared[kind], partial(training_noise.pairs_of_curves, kind),
              f"{PAPER[item].label} has means over {{pairs}}.")

# %% [markdown]
# ## Figure 15: L∞ noise
# ## Figure 16: L2 noise

# %%
for item, kind in FIGURES:
    page.figure(item, compared[kind], partial(training_noise.draw, kind),
                data=partial(training_noise.curves, kind), rests=experiments.ATTACKED,
                caption=f"Sutton et al., {PAPER[item].label}: training with uniform noise in an "
                        f"{KINDS[kind]} ball, over the radius of the ball",
                alt="Five small plots over the size of the noise, beside the printed means: accuracy, "
                    "the share of attackable images and three norms of the attacks, for both sets.")

# %% [markdown]
# A column of the tables is a class pair. The rows give the
# accuracy and the share of attackable images in percent, then the mean of three norms, with the standard deviation in brackets. The captions call
# the L∞ ball a cube and the L2 ball a ball. Failed trainings stay in the tables.
#
# The norms can be averaged in three ways: over *attacked images*, whose label a step flips; over *all images (others 0)*, with norm 0 where no
# step does; or over *attacked and zero-gradient images*, with norm 0 for a zero gradient. In the third way alone a zero gradient counts as
# attackable. Tables and figures take the way whose ratio of standard deviation to mean is nearest to the published one
# ({ref}`sutton-7-2-1-noise`).

# %%
page.text(noisy, training_noise.averaging_in_words)

# %% [markdown]
# ## Table 13: L∞ noise, smallest level
# ## Table 14: L2 noise, smallest level
# ## Table 15: L∞ noise, middle level
# ## Table 16: L2 noise, middle level
# ## Table 17: L∞ noise, largest level
# ## Table 18: L2 noise, largest level

# %% mystnb={"code_prompt_hide": "Hide Tables 13 to 18: {type}", "code_prompt_show": "Show Tables 13 to 18: {type}"} tags=["hide-output"]
for (kind, n), number in NUMBER.items():
    page.table(f"table-{number}", compared[kind], training_noise.rows_of(kind, n), rests=experiments.ATTACKED,
               hidden=("failed", "levels", "without"))

# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | why |
# |---|---|---|
# | radii of the L∞ ball | 0.1, 0.5 and 1 (parameter `sizes` of {ref}`the other page <sutton-7-2-1-noise>`) | lost in our copy of the text; round numbers, chosen with the published accuracies in sight, so that numbers which depend on them have no mark: a badge rests on statements alone |
# | largest radius | 1, the whole range of a pixel | chosen before these networks were trained, and kept whatever their accuracy |
# | radius of the L2 ball | $a\sqrt{n/3}$ ($a$: radius of the L∞ ball; $n$ = 3,072 values in an image) | both kinds have "approximately the same Euclidean norm on average" |
# | images that norms are averaged over | the way whose spread fits (above) | the text speaks of successful attacks; the printed spread is not that of Tables 6 to 8 |
# | noisy images, attacked images | not clipped; attacked without noise | no clipping is mentioned; a layer of the network adds the noise, in training only |

# %%
page.finish()
