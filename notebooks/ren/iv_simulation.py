# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-3
#     - figure-2
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
# (ren-iv)=
# # IV. Mixing digits with white or black: three architectures, five trainings each
#
# *Ren et al. {cite:p}`ren2025`, Section IV*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the first network and of the drawn backgrounds; network n is trained with seed + n
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none
dataset: str = "mnist"  # what is classified {mnist, fashion_mnist, digits, *.npz}
nets: int = None  # trained networks per architecture; None takes the profile's value [1..]
images: int = None  # test images to start from; None takes the profile's value [1..]
recipe: str = None  # name of a training recipe; None takes the profile's value
threshold: float = 0.99  # stop when the SSIM of the pair is above this (0..1]
iterations: int = 9  # most mixtures per search [1..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt

from papers.ren import experiments, figures, trainings
from report import display, prose
from report.page import start

page = start("ren/iv_simulation", globals())

# %% [markdown]
# ## The idea
#
# {ref}`Algorithm 1 <ren-iii>` mixes a digit with white or black until its label changes. Two similarities (SSIM, 1 for equal images) describe
# where it ends. *Robustness* compares the digit and the last image with its label: a lower number is a larger change. *Separability*
# compares the two sides of the boundary, the last image with the label and the first without it.
#
# The paper averages both over digits (which and how many is not said), apparently of one network for each architecture, since it prints one accuracy for each. It claims that digits may
# change a lot, and that the two sides cannot be told apart by eye, whatever the architecture. We train five networks of each architecture, so that
# the range over trainings stands beside the difference of architectures.
#
# ## Step by step: one architecture, five trainings
#
# Five small networks learn a small set of handwritten digits that is stored in the book (not MNIST), from different seeds. The mean similarity of
# digit and last image is taken over a hundred digits for each.

# %% tags=["show-input"]
import torch
from torch import nn

from papers.ren.experiments import UNIFORM
from shared import borderline, inference, similarity
from shared.data import standins

digits = {name: torch.as_tensor(part) for name, part in standins.digits().items()}
x, y, sources = digits["x_train"] / 255, digits["y_train"], digits["x_test"][:100]


def trained(seed):
    """Labels by a network of one hidden layer that has seen 200 batches of 50 digits."""
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 32), nn.ReLU(), nn.Linear(32, 10))
    optimiser = torch.optim.Adam(network.parameters(), lr=0.005)
    for rows in torch.randint(len(x), (200, 50)):
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(x[rows]), y[rows]).backward()
        optimiser.step()
    return inference.classifier(network)


means = {b: [] for b in UNIFORM}
for seed_ in range(5):
    classify = trained(seed_)
    for b, grey in UNIFORM.items():
        flat = torch.full_like(sources[:1], grey)
        x_s, x_b = sources, flat.expand_as(sources)
        label = classify(sources)
        active = label != classify(flat)                        # else there is no boundary between the two
        searched = active.clone()
        for _ in range(iterations):
            x_c = borderline.mix(x_b, x_s)
            same = (classify(x_c) == label)[:, None, None, None]
            step = active[:, None, None, None]
            x_s, x_b = torch.where(step & same, x_c, x_s), torch.where(step & ~same, x_c, x_b)
            active = active & ~(similarity.ssim(x_b, x_s) > threshold)
        means[b].append(float(similarity.ssim(x_s, sources)[searched].mean()))
        fast = borderline.search(classify, sources, flat, threshold=threshold, max_iterations=iterations)
        assert abs(borderline.summary(fast)["robustness_mean"] - means[b][-1]) < 0.01, "another mean"

# %%
figure, ax = plt.subplots(figsize=(5.6, 1.9))
for n, of in enumerate(means.values()):
    ax.plot(of, [n] * len(of), "o", ms=8, alpha=0.7, color=display.PALETTE[n])
ax.set(yticks=range(len(means)), yticklabels=[f"to {b}" for b in means], xlim=(0, 1), ylim=(1.5, -0.5),
       xlabel="mean similarity of digit and last image with its label")
display.picture(figure, "The five networks of the cell above: a dot each. Towards white they differ by "
                f"{max(means['white']) - min(means['white']):.2f}, less than the networks of Section II "
                "below.", "Two rows of five dots.")

# %%
scale = page.scale(**experiments.SIMULATION)
searches, variants = page.results(experiments.searches), page.results(experiments.variants)



# %% [markdown]
# ## What came out
#
# The networks of {ref}`Section II <ren-ii>`, with all test digits of MNIST ({download}`experiments.py <../../papers/ren/experiments.py>`):
#
# ### Towards white, trainings of one architecture differ about as much as three architectures

# %%
page.picture(searches, figures.draw_trainings,
             caption="Similarity of digit and last image with its label (lower: more robust): a dot for each "
                     "training (mean over digits), a tick for the published network",
             alt="Six rows of five dots and a tick; three ticks lie outside the dots of their row.")
page.text((searches, variants), trainings.what_training_does,
          "Between trainings of one architecture the mean similarity differs by {own.white} towards white "
          "(by architecture) and by {own.black} towards black; between the averages of the three "
          "architectures by {between.white:.2f} and {between.black:.2f}, between the three published "
          "networks by {white:.2f} and {black:.2f}. *About as much* means: the standard deviation over "
          "trainings, divided by that of the architectures' means (corrected for the part that trainings "
          "add), lies between 0.5 and 2. It is {ratios}, with this page's form of SSIM and two others.")

# %% [markdown]
# ### The two sides are as alike as the search demands
#
# Nearly all of our searches end above the threshold ({ref}`ren-iii`), and separability is near the published value in every row of Table III.

# %%
page.text(searches, figures.stopped,
          "Over {networks} networks {converged:.1f}% of the {searched:,} searches end above {stop}. In every "
          "row of Table III the mean similarity of the two sides lies within {apart:.4f} of the published "
          "one. In {above} of {rows} rows the published standard deviation of this similarity would be too "
          "large if all of the paper's searches had ended above the threshold; some probably ended below it.")

# %% [markdown]
# ## Where it differs, and why
#
# The paper does not say how its networks were trained, and a search ends where the label of *this* network flips. So the first possible cause
# is the training. Variants of the training or the network were tried for A and C, none for B. Three change the training of A: no random shifts; the
# default training of MATLAB, the paper's software (30 epochs, no shifts); 6 epochs with one cycle of the learning rate, no shifts. Two change the network of
# A: convolutions that keep the size of the image; images in [0, 1] without subtraction of the mean. One changes the network of C: no ReLU on its ten
# outputs, where the paper prints one.

# %%
page.text((searches, variants), trainings.what_training_does,
          "In {outliers} of {rows} rows of our recipe the published value lies more than {margin} outside "
          "the range of our networks: {outside}. The variants of A and C (none of B was tried) bring "
          "{removed} of these into their range. The largest distances of a published value "
          "from the range of each variant are "
          "{variants}. Trainings that were not tried may be the cause.")
page.text(searches, trainings.deviations,
          "Of the {cells} published standard deviations over digits {outside} lie outside the range of our "
          "networks. Those of the similarities to the digit are smaller than ours in {smaller} of {digit} "
          "cells, those of the two sides larger in {larger} of {sides}. No cause of the smaller ones was "
          "found; which digits the paper averaged over was not varied.")

# %% [markdown]
# The second possible cause is SSIM. The printed formula takes means and variances of the whole image; MATLAB's default takes them in a sliding
# window. Three forms with a window were compared; the whole image was not tried.

# %%
page.text(searches, trainings.what_the_definition_does,
        "The nearer of the two other conventions is *{nearest}*. With it {nearer} of {rows} rows come nearer "
        "to the published value and the others move away: over all rows, the mean distance from the "
        "published values is {by:.3f}, with the convention of this page {own:.3f}.")

# %% [markdown]
# ## Two things to remember
#
# 1. How far a digit can be mixed with white depends on the training run about as much as on the architecture.
# 2. Towards black, every training of C has a higher similarity than every training of A and B. The published value of C is below that of A.
#
# ## Try it
#
# 1. In the cell above, let `range(5)` be `range(10)`. Towards which background do the dots spread further?
# 2. In the same cell, put `0.999` in the two places of `threshold`. Do the dots move by much?
# 3. Train longer: `(1000, 50)` in place of `(200, 50)`. Towards which background do the dots move?

# %%
display.show(display.folded("Answers", (
    "1. Towards white, by a few hundredths; towards black hardly. The mean of the dots moves by less "
    "than a hundredth.\n"
    "2. No, by less than a hundredth: beyond a similarity of 0.99, further mixtures change the last "
    "image with the label little.\n"
    "3. Towards white, to a mean similarity that is larger by several hundredths; towards black hardly. "
    "So the length of the training matters, as the seed does.")))

# %% [markdown]
# ## Item by item
#
# ### Table III: separability, robustness and adversarial examples
#
# Means and standard deviations (STD) over the test digits, averaged over networks; in brackets stands the range of the networks. AE is the
# adversarial example, compared with the digit it came from.

# %%
page.table("table-3", searches, trainings.table_3)

# %% [markdown]
# ### Figure 2: what the pairs look like
#
# The first test digit of each class and its pairs, for one network of architecture A.

# %%
pictures = page.results(experiments.shown_pairs)

page.figure(
    "figure-2", pictures, trainings.draw_pairs, data=trainings.pairs_data,
    caption="Figure 2 of Ren et al.: for each background (white, black, another digit) the test digits "
            "(first row), the last images with their label (second) and the first without it (third), of "
            "architecture A. Below each pair stand "
            "its two labels and their SSIM; a cross: the network gives digit and background one label",
    alt="Three blocks of ten digits, for white, black and digit backgrounds; in each block the digit, the "
        "last image with its label and the first without it, which look alike.")

# %% [markdown]
# ### Other trainings, other forms of SSIM

# %%
page.extra("trainings", (searches, variants), trainings.reach,
          "Robustness of single networks by training: lowest and highest mean over digits, the published "
          "value and its distance outside; the mean standard deviation over digits beside the published one "
          "(variants: fewer digits).",
          header={"training": "training", "background": "towards", "networks": "networks", "lowest": "lowest",
                  "highest": "highest", "printed": "published", "outside": "outside by",
                  "spread": "STD over digits", "printed_spread": "published STD"})
page.extra("conventions", searches, trainings.by_convention,
           "Robustness of the same pairs under three conventions of SSIM, mean over digits and networks, "
           "beside the published values.")

# %% [markdown]
# ### Choices that the paper leaves open
#
# | open in the paper | chosen here | why |
# | --- | --- | --- |
# | which digits, and how many | all test digits, misclassified ones too | Figure 2 shows test digits; each search stays in the class the network gives |
# | digits that share the background's label | excluded and counted | there is no boundary between them and the background |
# | the window of SSIM | Gaussian, 11 by 11, standard deviation 1.5, repeated border | the default of the paper's software |
# | STD | sample standard deviation over digits | the default of the paper's software |
# | the training | the defaults of the paper's software but for the order of images, new in each epoch; epochs and shifts chosen to meet the printed accuracies | {ref}`Section II <ren-ii>` |
# | one training or several | five networks per architecture | a single training proves little |

# %%
page.text(searches, lambda runs: (
    "Searches excluded, because the network gives digit and background one label: "
    + ", ".join(f"{n:,} ({b})" for b, n in runs.groupby("background", sort=False).excluded.sum().items())
    + ". Towards white, other trainings exclude other digits, since the label of white changes; the effect "
    "on the means was not measured."))

# %%
best = page.best(searches)
facts = figures.spread(best)
page.box(
    "How far can a digit be mixed with white before its label changes?",
    prose.first(facts, ("as_much", "That depends on the training run about as much as on the "
                                   "architecture."),
                ("more", "That depends more on the training run than on the architecture."),
                "That depends on the architecture and on the training run."),
    "The last mixture that keeps the label has a mean similarity to its digit (SSIM; lower: mixed farther) "
    "of {a.lowest:.2f} to {a.highest:.2f} in {trainings} trainings of "
    + prose.first(facts, ("widest", "the most variable"), "one") + " architecture (paper: "
    "{paper:.2f}); the means of {architectures} architectures span {least:.2f} to {most:.2f}.",
    prose.first(facts, ("apart", "With black, one architecture's labels change {apart} than the "
                          "others' in every training."), ""),
    facts=facts, picture=figures.draw_trainings(best) if facts else None,
    alt="Six rows, three architectures towards white and towards black: a dot for each training, a tick for "
        "the published network. The dots of one row are as far apart as the rows towards white.")

# %%
page.finish()
