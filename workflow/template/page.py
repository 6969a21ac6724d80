# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-1
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
# (doe-3-accuracy)=
# # Accuracy of the nearest mean image
#
# *Doe et al. {cite:p}`doe2026`*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of every draw
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none
images: int = None  # test images; None takes the profile's value [1..]

# %% tags=["hide-cell"]
from papers.doe import experiments
from report.cell import Cell
from report.page import start

page = start("doe/3_accuracy", globals())

# %% [markdown]
# ## The idea
#
# A test image gets the label of the class whose mean training image is nearest. Classifier A compares means of squares of seven by seven
# pixels, classifier B compares all pixels. The paper claims that B is more accurate.

# %%
scale = page.scale(**experiments.SCALE)
accuracies = page.results(experiments.accuracies)

# %% [markdown]
# ## Table 1: accuracy of the two classifiers

# %%
def rows(runs):
    """A row a run; `of` is the number of images that the share is one of, and gives it an interval."""
    return [{"classifier": run["classifier"],
             "accuracy": Cell(100 * run["correct"] / run["images"], of=run["images"], hits=run["correct"])}
            for run in runs.to_dict("records")]


page.table("table-1", accuracies, rows)

# %% [markdown]
# ## Try it
#
# - `images=50`: the intervals get wider.

# %%
page.finish()
