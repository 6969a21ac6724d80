# ---
# jupyter:
#   boundary_book:
#     items:
#     - algorithm-1
#     - figure-1
#     - equation-2
#     - equation-3
#     - definition-robustness
#     - definition-separability
#     needs:
#     - ren/ii_networks
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
# (ren-iii)=
# # III. Borderline pairs by repeated mixing
#
# *Ren et al. {cite:p}`ren2025`, Section III*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the first net; net n is trained with seed + n
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing or none
dataset: str = "mnist"  # what is classified {mnist, fashion_mnist, digits, *.npz}
architecture: str = "a"  # of Table I {a, b, c}
nets: int = None  # trained nets; None takes the profile's value [1..]
images: int = None  # test images to start from; None takes the profile's value [1..]
recipe: str = None  # name of a training recipe; None takes the profile's value
digit: int = 0  # index of the test image whose path Figure 1 shows [0..]
threshold: float = 0.99  # stop when the SSIM of the pair is above this (0..1]
iterations: int = 9  # most mixtures per search [1..]

# %% tags=["hide-cell"]
import inspect

import numpy as np
import torch

from papers.ren import experiments, figures
from papers.ren.figures import over_nets
from report import display, reference
from report.cell import values
from report.page import start
from report.verdict import equality
from shared import borderline

page = start("ren/iii_borderline", globals())

# %% [markdown]
# ## What the paper claims, and how it is tested
#
# Algorithm 1 mixes a digit half and half with an image of another class and evaluates the network on the mixture. If the predicted label
# is still that of the digit, the mixture replaces the digit; otherwise it replaces the other image. After a few mixtures the two images
# are almost equal, and their predicted labels still differ. The paper measures the pair at the end of the search: $x_s$, the last image
# inside the class of the original $x_o$, and $x_b$, the last one outside.
#
# Here the algorithm runs in the paper's own steps, one digit at a time, and as a fast search over all digits at once. Both must find the
# same pairs. Then each search is checked for two statements of the paper: the labels of its two ends, and when it stops
# ({download}`experiments.py <../../papers/ren/experiments.py>`).

# %%
scale = page.scale(**experiments.BORDERLINE)
steps = page.results(experiments.steps)          # the paper's steps beside the fast search
searches = page.results(experiments.checked)     # the fast search from all digits

# %% [markdown]
# ## Algorithm 1: mixing towards the boundary
#
# The code follows the paper's steps; the runs call it as shown. `uint8(a/2 + b/2)` is computed as MATLAB, the paper's software, does: each half is rounded, .5 upwards,
# and the sum stops at 255.

# %%
code = map(inspect.getsource, (experiments.half_and_half, experiments.algorithm_1))
display.say("```python\n" + "\n\n".join(code) + "```")

# %% [markdown]
# The fast search must find the same two images with the same two labels, pixel for pixel, under two stopping rules: the published
# one, and a limit of half as many mixtures without a threshold.

# %%
CHANGED = ("threshold_twice_as_near_to_1", "threshold_half_as_near_to_1", "one_mixture_less",
           "one_mixture_more", "halves_cut_off")
PROMISED = "searched", "excluded", "inside_wrong", "outside_wrong", "by_threshold", "by_limit"


def promises(searches, steps):
    """Sums over all searches of what they promise, and over the compared digits of what differs."""
    total = {k: int(searches[k].sum()) for k in PROMISED}
    return total | {"otherwise": total["searched"] - total["by_threshold"] - total["by_limit"],
                    "compared": {k: int(steps[k].sum()) for k in ("digits", "as_printed", *CHANGED)}}


def evidence(d):
    """An equality: the paper's steps beside the fast search, with the promises that a search may break."""
    return equality(d["compared"]["as_printed"] == 0, changed=[d["compared"][k] > 0 for k in CHANGED],
                    violations=d["inside_wrong"] + d["outside_wrong"] + d["otherwise"])

page.statement("algorithm-1", (searches, steps), data=promises, evidence=evidence)


def in_words(*runs):
    """Facts: how many searches were compared under both rules, and what each mutant changes."""
    compared = promises(*runs)["compared"]
    return compared | {"both": 2 * compared["digits"], "mutants": len(CHANGED),
                       "fewest": min(compared[k] for k in CHANGED)}

page.text((searches, steps), in_words,
        "In {both} searches ({digits} starts, two stopping rules) the paper's steps and the fast search "
        "end with different pairs in {as_printed} cases. Each of {mutants} *mutants*, copies of the steps "
        "with one error built in, ends with another pair in {fewest} or more of {digits} searches, each "
        "under one rule.")

# %% [markdown]
# ## Figure 1: the steps of one search
#
# The path below starts from one test digit and a uniform image to which the network assigns another label. Each mixture replaces one of
# the two ends: that of the digit if it keeps the digit's label, that of the background if it does not.

# %%
path = page.results(experiments.path)


def followed(runs):
    """The path in words and numbers, and how fast halving makes 255 small."""
    u = runs.iloc[0]
    halved = [torch.full((1, 1, 1, 1), 255, dtype=torch.uint8)]
    for _ in range(8):
        halved.append(borderline.mix(halved[-1], torch.zeros_like(halved[-1])))
    return {"background": u.background, "largest_difference": int(
                np.abs(u.inside.astype(int) - u.outside.astype(int)).max()),
            "titles": [title.replace("\n", ", ") for _, title, _ in figures.panels(runs)],
            "labels": u.mixed_labels, "labels_hold": u.mixed_labels == u.asked_again,
            "inside": u.inside_label, "outside": u.outside_label, "robustness": u.robustness,
             "separability": u.separability,
            "halvings_of_255": [int(h) for h in halved]}

PATH_ALT = ("A row of images: a digit, a uniform background, each mixture of the two with its label, and the "
            "final inside and outside images, which look alike and have different labels.")
page.figure(
    "figure-1", path, figures.draw_path, data=followed, alt=PATH_ALT,
    caption="Figure 1 of Ren et al.: from a digit and a uniform background to a borderline pair. Above each "
            "mixture stand its predicted label, the end that it replaces, and the SSIM of the two ends after "
            "that. A dashed frame: another label than the digit's")


# %% [markdown]
# ## Robustness (definition): how far a digit may change
#
# Robustness is the gap between $x_o$ and $x_s$: how far the image can be distorted and keep its label. The paper reports the gap as an
# SSIM, so **a small number is a large gap**: lower means more robust.

# %%
def means(runs, columns):
    """Means over nets of some columns, for each background."""
    return {row.pop("background"): row for row in over_nets(runs, ("background",), columns)}

page.statement("definition-robustness", searches, data=lambda runs: means(runs, {"ssim": "robustness"}))

# %% [markdown]
# ## Separability (definition): similarity of the two sides of the boundary
#
# Separability is the SSIM of $x_s$ and $x_b$ at the end of the search. The paper reads a lower value as better separated classes. The
# search makes this SSIM as large as it can and stops above the threshold, so the value mostly reflects the threshold.

# %%
page.statement("definition-separability", searches, data=lambda runs: means(runs, {"ssim": "separability"}))

# %% [markdown]
# ## Equation 2: closing in on the boundary
#
# $$\text{maximise } \mathrm{SSIM}(x_b, x_s) \quad\text{such that}\quad C(x_s) = C(x_o),\; C(x_b) \neq C(x_o) \tag{2}$$
#
# Algorithm 1 follows this goal: its $x_b$ is the last image outside the class.

# %%
page.statement("equation-2", searches, data=lambda runs: means(
    runs, {"ssim_of_the_pair": "separability",
            "ssim_of_the_outside_picture_to_the_original": "adversarial"}))

# %% [markdown]
# ## Equation 3: the outside image most similar to the original
#
# $$\text{maximise } \mathrm{SSIM}(x_b, x_o) \quad\text{such that}\quad C(x_s) = C(x_o),\; C(x_b) \neq C(x_o) \tag{3}$$
#
# The same search with another goal, an adversarial example: of all outside images that it visits, it keeps the one most similar to
# the original. The table gives the mean SSIM of both definitions and of both goals.

# %%
page.statement("equation-3", searches, data=lambda runs: means(
    runs, {"ssim_of_the_outside_picture_to_the_original": "nearest_adversarial"}))

TABLE_3 = {row["background"]: row for row in reference.paper("ren")["table-3"].rows
           if row["architecture"] == architecture.upper()}


def goals(runs):
    """A row a background: mean SSIM by both definitions and both goals, and the published means of two."""
    rows = over_nets(runs, ("background",), {k: k for k in (
        "robustness", "separability", "adversarial", "nearest_adversarial")})
    return [row | {f"{k}_published": TABLE_3[row["background"]][f"{k}_ssim"]
                   for k in ("robustness", "separability")} for row in rows]

page.extra(
    "goals", searches, goals,
    "Mean SSIM over digits and networks, with their standard deviation over networks. The published values "
    "are those of "
    "Table III",
    header={"background": "background", "robustness": "robustness", "robustness_published": "published",
            "separability": "separability", "separability_published": "published",
            "adversarial": "last outside image to original (Equation 2)",
            "nearest_adversarial": "most similar outside image to original (Equation 3)"})


# %%
def facts_of(searches):
    """For sentences: counts of the searches, their means, and the goals beside the published values."""
    total = {k: int(searches[k].sum()) for k in (*PROMISED, "another_picture")}
    rows, networks = values(goals(searches)), searches.net.nunique()
    return total | {
        "starts": total["searched"] + total["excluded"], "networks": networks, "s": "s" * (networks > 1),
        "architecture": searches.architecture.iloc[0].upper(),
        "converged": 100 * total["by_threshold"] / total["searched"],
        "above": searches.threshold.iloc[0], "most": int(searches.iterations.iloc[0]),
        **{k: float(np.average(searches[k], weights=searches.searched))
           for k in ("separability", "mixtures")},
        **{k: " and ".join(f"{row[k]:.3f} towards {row['background']}" for row in rows)
           for k in ("robustness", "robustness_published")},
        "paper": float(np.mean([row["separability_published"] for row in rows]))}

page.text(searches, facts_of,
        "Of {starts} starts {excluded:,} are excluded, because the network gives digit and background one "
        "label. Of the others {converged:.1f}% reach an SSIM above {above} within {most} mixtures; the mean "
        "is {mixtures:.1f} mixtures. The outside image most similar to the original is another than the "
        "last one in {another_picture:,} of {searched:,} searches; in all others the two goals give the same "
        "image.")

# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# | --- | --- | --- |
# | arithmetic of `uint8(xb/2 + xs/2)` | each half is rounded half up on its own, sums stop at 255 | what the paper's software does with 8-bit operands; white and black mix to 128, two equal odd values $v$ to $v+1$ |
# | where the counter starts | at one, so that the limit is the number of mixtures | the text says the maximum number of iterations was nine; the pseudo-code never sets the counter |
# | a source that already has the background's class | excluded and counted | no boundary lies between the two |
# | the class to stay in | the predicted label of the source | as in the pseudo-code |
# | how goal (3) is searched | among all outside images visited, the one most similar to the original | the text changes the goal and nothing else |
#
# ## Exercises
#
# - `digit=7`: start from another digit, the test image of that index. The path stays as short, though the labels on its way may pass
#   through third classes.
# - `architecture="c"`: another network. Robustness moves; separability stays near one, where the search stops.
# - `dataset="fashion_mnist"`: start from a shirt or a boot. The search again stops at two nearly equal images.

# %%
best, way = page.best(searches), page.best(path)
drawn = len(best) and len(way)
page.box(
    "How alike are the images on both sides of a boundary?",
    "Almost equal, but only because the search stops once they are.",
    "It mixes a digit with white or black until the last image with the digit's label and the first to lose "
    "it have a similarity (SSIM) above {above}. Of {searched:,} searches {converged:.1f}% end so, on average "
    "at {separability:.3f} (paper: {paper:.3f}).",
    "So the number describes the stopping rule.",
    facts=facts_of(best) if drawn else None,
    picture=figures.draw_stop(way, best) if drawn else None,
    alt="A digit, a uniform image and their mixtures. Below, a mark a network: the similarity of the two "
        "sides lies just right of the line where a search stops; that of digit and last image is spread.")

# %%
page.finish()
