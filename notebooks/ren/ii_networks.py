# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-1
#     - table-2
#     - equation-1
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
# (ren-ii)=
# # II. Three networks, and their labels for a white and a black image
#
# *Ren et al. {cite:p}`ren2025`, Section II*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the first net and of the random pictures; net n is trained with seed + n
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing or none
dataset: str = "mnist"  # what the nets learn {mnist, fashion_mnist, digits, *.npz}
nets: int = None  # trained nets per architecture; None takes the profile's value [1..]
recipe: str = None  # name of a training recipe; None takes the profile's value

# %% tags=["hide-cell"]
from dataclasses import replace

import numpy as np
import torch
from skimage.metrics import structural_similarity

from papers.ren import experiments, figures
from papers.ren.figures import over_nets
from report import display, reference
from report.page import start
from report.verdict import equality
from shared import similarity

page = start("ren/ii_networks", globals())
paper = reference.paper("ren")
UNIFORM = ("white", "black")

# %% [markdown]
# ## The claim, and how it is tested
#
# Three convolutional networks learn the digits of MNIST: Table I lists their layers, Table II their accuracies. Then they
# classify two images that show no digit: one all white, one all black. Each network predicts a digit for them, often with high
# probability. The paper trains one network of each kind. We train several ({download}`experiments.py <../../papers/ren/experiments.py>`),
# which shows how much of a predicted label belongs to the architecture and how much to the single training.
#
# All later results of this paper are measured by the structural similarity (SSIM) of two images. Equation 1 defines it and is
# checked at the end of this page.

# %%
scale = page.scale(**experiments.NETWORKS)
networks = page.results(experiments.networks)

# %% [markdown]
# ## Table II: accuracies, and labels of a white and a black image
#
# Accuracies are means over the networks of an architecture. For white and black the table gives the most frequent label, how many
# networks predict it, and the mean probability of the predicted labels.

# %%
FITTED = "fitted: the training recipe was chosen for accuracies near the published ones"


def by_architecture(networks, **columns):
    """Means over nets, with spread and number, of some columns: one cell for each architecture."""
    return {f"architecture_{cell.pop('architecture')}": cell
            for cell in over_nets(networks, ("architecture",), columns)}


def rows(networks):
    """Table II: means over nets with their spread, and the most frequent answers; no class where two tie."""
    table = [{"row": f"{part}ing_accuracy", **{
        column: {"value_pct": replace(cell["value_pct"], status=FITTED)}
        for column, cell in by_architecture(networks, value_pct=f"{part}_pct").items()}}
        for part in ("train", "test")]
    for name in UNIFORM:
        given = networks.groupby("architecture")[f"{name}_class"]
        most = {a: classes.mode().tolist() for a, classes in given}
        tied = {a: f" each for {' and '.join(map(str, best))}" * (len(best) > 1) for a, best in most.items()}
        votes = {a: f"{sum(classes == most[a][0])} of {len(classes)}{tied[a]}" for a, classes in given}
        table.append({"row": f"pure_{name}", **{
            column: {"predicted_class": most[column[-1]][0] if len(most[column[-1]]) == 1 else None,
                     "votes": votes[column[-1]]} | cell
            for column, cell in by_architecture(networks, probability_pct=f"{name}_pct").items()}})
    return table


page.table("table-2", networks, rows)

# %% [markdown]
# The paper trains one network of each architecture. The figure shows each of our networks by itself. Where the labels in one column
# differ, the published label is that of one training, not of the architecture.

# %%
ANSWERS_ALT = ("Two panels, for a white and a black image. In three columns, A, B and C, stand the labels "
               "of the trained networks, each at the height of its probability, beside dashed lines for the "
               "paper's three networks.")
page.picture(networks, figures.draw_labels, alt=ANSWERS_ALT,
            caption="Predicted label of each trained network for a white and a black image, at the height of "
                    "its probability. Dashed, with the label at its end: the paper's networks")


# %% [markdown]
# ## Table I: the layers
#
# We built the networks from this table; each row has the paper's layer and, below it, ours. Agreement shows only that the networks are
# built as printed, with the rectifier (ReLU) on the ten outputs of C, too.

# %%
def layer_rows(networks):
    """Table I: our layers in the printed places, and below them the accuracies that its caption prints."""
    printed = paper["table-1"].rows
    rows = [{k: row[k] for k in ("printed_row", "layer")} for row in printed]
    for architecture, nets in networks.groupby("architecture"):
        column = f"architecture_{architecture}"
        places = [row for row, there in zip(rows, printed) if there[column]]
        for row, text in zip(places, nets.layers.iloc[0], strict=True):
            row[column] = {"text": text}
    caption = by_architecture(networks, train_pct="train_pct", test_pct="test_pct")
    return [*rows, {"printed_row": "caption", **caption}]


page.table("table-1", networks, layer_rows)

# %% [markdown]
# ## Equation 1: structural similarity (SSIM)
#
# $$\mathrm{SSIM}(x, y) = \frac{(2\mu_x\mu_y + c_1)(2\sigma_{xy} + c_2)}{(\mu_x^2 + \mu_y^2 + c_1)(\sigma_x^2 + \sigma_y^2 + c_2)} \tag{1}$$
#
# SSIM is 1 for equal images and falls as brightness, contrast and structure drift apart. The formula is applied in a window
# that slides over the image, and the values are averaged. Our implementation filters whole batches at once; scikit-image,
# written by others, computes the same numbers. Every pair of random images is compared twice: where the window lies
# inside the image, and with the border repeated outwards, as MATLAB, the paper's software, does it.

# %%
PAIRS, ALLOWED = 50, 1e-5
CONSTANTS = dict(K1=0.01, K2=0.03, data_range=255, sigma=1.5)
CHANGED = [CONSTANTS | {name: factor * CONSTANTS[name]} for name in CONSTANTS for factor in (0.5, 2)]


def random_pairs(generator):
    """Pairs of noisy pictures, uint8 [N, 28, 28], dark to bright; the second of each is a disturbed first."""
    noise = torch.rand(2, PAIRS, 28, 28, generator=generator)
    brightest = torch.linspace(2, 255, PAIRS)[:, None, None]
    first = noise[0] * brightest
    return first.byte(), (0.7 * first + 0.3 * noise[1] * brightest).byte()


def deviation(x, y, **constants):
    """Largest difference between our SSIM and scikit-image's, without the border and with it repeated."""
    inside, whole = (similarity.ssim(x, y, convention=c).numpy() for c in ("skimage", "matlab"))
    worst = 0.0
    for a, b, one, other in zip(x.numpy(), y.numpy(), inside, whole):
        for margin, ours in ((0, one), (5, other)):
            reference = structural_similarity(np.pad(a, margin, "edge"), np.pad(b, margin, "edge"),
                                           gaussian_weights=True,
                                           use_sample_covariance=False, **constants)
            worst = max(worst, abs(float(ours) - reference))
    return worst


x, y = random_pairs(page.generator("pairs"))
within = deviation(x, y, **CONSTANTS) <= ALLOWED
caught = [deviation(x, y, **changed) > ALLOWED for changed in CHANGED]
page.statement("equation-1", data={"comparisons": 2 * PAIRS, "within_allowed": within,
                                  "changed": len(CHANGED), "caught": sum(caught)},
              evidence=equality(within, changed=caught))

# %%
display.say(f"In {2 * PAIRS} comparisons the two differ by {'less' if within else 'more'} than "
            f"{ALLOWED:.5f}. With one constant of scikit-image halved or doubled they differ by more than "
            f"that in {sum(caught)} of {len(CHANGED)} cases.")

# %% [markdown]
# ## What the paper leaves open
#
# | open in the paper | chosen here | why |
# | --- | --- | --- |
# | padding and strides | convolutions unpadded with stride 1, pools with stride 2 | the defaults of the paper's software for convolutions; with pools of stride 1 the flattened sizes would not suit the printed fully connected layers |
# | input of the first layer | grey values less their mean over the training images | the default of the paper's software |
# | weights before training | Glorot's, biases of zero | the default of the paper's software |
# | the window of SSIM | Gaussian, the border repeated, mean of the whole map | the default of the paper's software |
# | the training | SGD at a constant rate of 0.01, momentum 0.9, L2 term 0.0001, batches of 128, 12 epochs, random shifts by up to a pixel | the defaults of the paper's software, but for epochs and shifts |
# | how many networks | several of each kind where the paper has one | what a single training leaves to chance becomes visible |
#
# A trained network is rounded to 16-bit weights before anything is measured, so that the stored network is exactly the
# network behind the numbers. The paper describes only the result of its training. The recipe was chosen for accuracies near the
# published ones, and {ref}`Section IV <ren-iv>` measures what depends on it.
#
# ## Try it
#
# - `nets = 10`: more networks of each kind. Does white get further labels, while black keeps one?
# - `dataset = "fashion_mnist"`: networks trained on clothes. Table II then gives the garment that they predict for white and black.
# - `recipe = "quick"`: a shorter training. Accuracies fall, and the labels of white and black change with them; Equation 1 stays
#   as it is, for it depends on no network.

# %%
known = page.best(networks)
facts = figures.uniform_labels(known)
page.box(
    "Which digit do networks assign to an all-white or all-black image?",
    figures.first(
        facts, ("always", "Black is always labelled {label}, but the label of white changes from training to "
                          "training."),
        ("differ", "The label of white changes from training to training, that of black less often."),
        "White gets {white.labels} different labels from {networks} networks."),
    figures.first(
        facts, ("differ",
                "Black is labelled {label} by {black} of {networks} networks of three architectures (paper: "
                "{paper.black} of {paper.networks}). White gets {white.labels} different labels; in each "
                "architecture, networks that differ only in their seed disagree on it."),
        "Black is labelled {label} by {black} of {networks} networks (paper: {paper.black} of "
        "{paper.networks})."),
    figures.first(facts, ("differ", "So a published label of white describes one training only."), ""),
    facts=facts, picture=figures.draw_labels(known) if facts else None, alt=ANSWERS_ALT)

# %%
page.finish()
