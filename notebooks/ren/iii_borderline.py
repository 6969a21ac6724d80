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
seed: int = 0  # of the first network; network n is trained with seed + n
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none
dataset: str = "mnist"  # what is classified {mnist, fashion_mnist, digits, *.npz}
architecture: str = "a"  # of Table I {a, b, c}
nets: int = None  # trained networks; None takes the profile's value [1..]
images: int = None  # test images to start from; None takes the profile's value [1..]
recipe: str = None  # name of a training recipe; None takes the profile's value
digit: int = 0  # index of the test image whose path Figure 1 shows [0..]
threshold: float = 0.99  # stop when the SSIM of the pair is above this (0..1]
iterations: int = 9  # most mixtures per search [1..]

# %% tags=["hide-cell"]
from papers.ren import experiments, figures
from report import display
from report.page import start

page = start("ren/iii_borderline", globals())

# %% [markdown]
# ## The idea
#
# A network gives a digit one label and a white image another. On the straight line between the two images the label changes at least once.
# Algorithm 1 finds one such place, as a bisection does. It mixes the two images half and half and evaluates the network on the mixture. If
# the label is still that of the digit, the mixture replaces the digit; otherwise it replaces the white image. After a few mixtures the two
# images are almost equal, and their labels still differ.
#
# The paper then compares three images. On the line from the original $x_o$ to the background, $x_s$ is the last visited image with its label, $x_b$
# the first visited image without it. Its measure is the structural similarity (SSIM), 1 for equal images. *Separability* is the similarity of the two
# sides $x_s$ and $x_b$: a high value means that they can hardly be told apart. *Robustness* is the similarity of $x_o$ and $x_s$. For the
# paper **a lower number is the better one** in both: classes are better separated if the two sides are less alike, and a digit is more robust if it
# can change more before its label does (not too much: the label should change where a human no longer recognises the digit). Both numbers hold for one background, along one line.
#
# ## Step by step: one digit, mixed with white
#
# The algorithm needs nothing but labels. This small network learns, in a second, a small set of handwritten digits that is stored in the book (not MNIST).

# %% tags=["show-input"]
import torch
from torch import nn

from shared import inference
from shared.data import standins

digits = {name: torch.as_tensor(part) for name, part in standins.digits().items()}
torch.manual_seed(0)
network = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 10))
optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
for _ in range(50):
    optimiser.zero_grad()
    nn.functional.cross_entropy(network(digits["x_train"] / 255), digits["y_train"]).backward()
    optimiser.step()
classify = inference.classifier(network)    # uint8 images [N, 1, 28, 28] to labels [N]

# %% [markdown]
# Below are the steps of the paper. `uint8(a/2 + b/2)` is computed as MATLAB, the paper's software, does. Change a line, run the cell and the
# next one, and the images change.

# %% tags=["show-input"]
from shared import similarity


def mix(a, b):
    """The mean of two uint8 images: each half is rounded, .5 upwards, and the sum stops at 255."""
    return (torch.floor(a / 2 + 0.5) + torch.floor(b / 2 + 0.5)).clamp(max=255).byte()


def algorithm_1(x_o, x_b, delta_s, it):
    """The pair x_s, x_b from a digit x_o and a background x_b, [1, 1, H, W]; and [(mixture, SSIM)]."""
    x_s, steps = x_o, []
    for _ in range(it):
        x_c = mix(x_b, x_s)
        if classify(x_c) == classify(x_o):
            x_s = x_c           # the mixture keeps the label: it replaces the digit
        else:
            x_b = x_c           # it does not: it replaces the background
        steps.append((x_c, float(similarity.ssim(x_b, x_s))))
        if steps[-1][1] > delta_s:
            break
    return x_s, x_b, steps


white = torch.full_like(digits["x_test"][:1], 255)
x_o = digits["x_test"][classify(digits["x_test"]) != classify(white)][:1]     # a digit with another label
x_s, x_b, steps = algorithm_1(x_o, white, threshold, iterations)

# %%
images = torch.cat([x_o, white, *(x_c for x_c, _ in steps), x_s, x_b])
names = ["digit", "white", *(f"mix {n}" for n in range(1, len(steps) + 1)), "last with", "first without"]
titles = [f"{name}:\nlabel {label}" for name, label in zip(names, classify(images))]
display.picture(
    figures.in_rows(images, titles, classify(images) == classify(x_o)),
    "One search of the cell above. Blue frames: the label of the digit; orange frames: another one. The last "
    f"two images have a similarity of {steps[-1][1]:.3f}; that of the digit and the last image with its "
    f"label is {float(similarity.ssim(x_s, x_o)):.3f}.",
    "A digit, a white image, mixtures of the two with their labels, and the last two, which look alike.")

# %% [markdown]
# The book's fast search (the same steps for many digits at once), which the results of this page use, ends with the same two images.

# %% tags=["show-input"]
from shared import borderline

fast = borderline.search(classify, x_o, white, threshold=threshold, max_iterations=iterations)
assert torch.equal(fast.inside, x_s) and torch.equal(fast.outside, x_b), "other images than those above"

# %%
scale = page.scale(**experiments.BORDERLINE)
searches = page.results(experiments.checked)     # the fast search from all digits
compared = page.results(experiments.steps)       # the paper's steps beside it
path = page.results(experiments.path)

# %% [markdown]
# ## What came out
#
# Algorithm 1 ran from every test digit of MNIST, towards white and towards black, on networks of architecture A
# ({download}`experiments.py <../../papers/ren/experiments.py>`).
#
# ### The two sides are as alike as the search demands
#
# Each mixture about halves the difference of the two sides, and the search stops above the threshold. Where the threshold ends a search, their
# similarity describes the search, not the network. For the digit and the last image with its label there is no such rule.

# %%
page.picture(
    searches, figures.draw_similarities,
    caption="Mean SSIM of three pairs: the two sides; digit and last image with its label; digit and first "
            "image without it. A dot: one network, mean over all digits; a tick: the published value",
    alt="Six rows of dots and ticks. Those of the two sides all lie just right of the line of the stopping "
        "rule; the others are spread.")
page.text(searches, figures.search_facts,
        "Of {starts} starts {excluded:,} are left out, because the network gives digit and background one "
        "label. Of the others {converged:.1f}% reach a similarity above {above}, on average after "
        "{mixtures:.1f} mixtures; {by_limit:,} end at the limit of {most} mixtures and count in the means. "
        "The mean similarity of the two sides is {sides.low:.4f} to {sides.high:.4f}, by network and "
        "background (paper, one network: {sides.paper}); that of digit and last image with its label is "
        "{reach}.")

# %% [markdown]
# ### The final $x_b$ is nearly always the visited image without the label that is most similar to the digit
#
# Equation 2 asks for the most similar pair; Equation 3 asks for the image without the label that is most similar to the digit, which is an
# adversarial example (here: among the images that the search visits). Each new $x_b$ lies nearer to the digit than the one before, and so is mostly
# more similar.

# %%
page.text(searches, figures.search_facts,
        "The most similar visited image without the label is another one than the final $x_b$ in "
        "{another_picture:,} of {searched:,} searches.")

# %% [markdown]
# ## Where it differs, and why
#
# The similarity of digit and last image with its label differs from training to training; {ref}`Section IV <ren-iv>` measures this. The paper's
# software rounds each half of a mixture, as the code above does. Cutting the halves off (integer division) darkens a mixture of the same two images
# by up to two grey levels, and the pair can be another one.

# %%
page.text((searches, compared), figures.compared_steps,
          "Of {digits} searches that were run both ways, {halves_cut_off} end with another pair if the "
          "halves are cut off. How much the similarities change was not measured.")

# %% [markdown]
# ## Three things to remember
#
# 1. The similarity of the two sides describes the stopping rule of the search, not the network.
# 2. Robustness is a similarity: a small number means that the digit can change a lot towards this background before its label does.
# 3. A search needs few mixtures, since each one about halves the difference of the two images.
#
# ## Try it
#
# 1. In the cell of Algorithm 1, call it with `0.999` instead of `threshold`. How many more mixtures does the search take, and does the check below pass?
# 2. Let `mix` return `a // 2 + b // 2`, which cuts the halves off. Does the check pass? By how much do the similarities in the caption change?
# 3. Mix with black: `torch.full_like(digits["x_test"][:1], 0)`. How many mixtures keep the label of the digit before the first one that does not?

# %%
display.show(display.folded("Answers", (
    "1. One, since each mixture about halves the difference. The check fails, because the fast search "
    "still has the old threshold.\n"
    "2. The check fails, since the mixtures are darker by up to two grey levels. Both similarities "
    "change by less than a hundredth.\n"
    "3. Several; with white the first mixture already has another label. The first mixtures with black "
    "are darker copies of the digit, whose label this network hardly changes.")))

# %% [markdown]
# ## Item by item
#
# ### Algorithm 1: mixing towards the boundary
#
# On the trained networks the steps of the cell above ({download}`algorithm_1 <../../papers/ren/experiments.py>`) must end with the same two images and the same two labels as the fast search, pixel for pixel. They are compared under two stopping rules: the published one, and a limit of about half as many mixtures without a threshold.

# %%
page.statement("algorithm-1", (searches, compared), data=figures.promises, evidence=figures.search_evidence)
page.text((searches, compared), figures.compared_steps,
        "The paper's steps and the fast search ran from {digits} starts under each of the two rules: "
        "{as_printed} of the {both} pairs differ. Each of the {errors} errors that we built in ran from the "
        "same starts under one rule, and at least {fewest} of the {digits} pairs differ.")

# %% [markdown]
# ### Figure 1: the steps of one search
#
# The path starts from one test digit and a uniform image to which the network assigns another label. Section III says that 255 halved eight times is 1: this is arithmetic and depends on no network.

# %%
PATH_ALT = ("Two rows of images: a digit, a uniform background, each mixture of the two with its label, and "
            "the last image with the label and the first without it, which look alike.")
page.figure(
    "figure-1", path, figures.draw_path, data=figures.halvings, alt=PATH_ALT,
    caption="Figure 1 of Ren et al.: from a digit and a uniform background to a borderline pair. Above each "
            "mixture stand its predicted label, the end that it replaces, and the SSIM of the two ends after "
            "that. A dashed frame: another label than the digit's")

# %% [markdown]
# ### Robustness (definition): how far a digit may change
#
# This and the next are defined above; the means stand in the table below Equation 3.

# %%
page.statement("definition-robustness", searches,
               data=lambda runs: figures.means(runs, {"ssim": "robustness"}))

# %% [markdown]
# ### Separability (definition): similarity of the two sides of the boundary

# %%
page.statement("definition-separability", searches,
               data=lambda runs: figures.means(runs, {"ssim": "separability"}))

# %% [markdown]
# ### Equation 2: closing in on the boundary
#
# $$\text{maximise } \mathrm{SSIM}(x_b, x_s) \quad\text{such that}\quad C(x_s) = C(x_o),\; C(x_b) \neq C(x_o) \tag{2}$$

# %%
page.statement("equation-2", searches, data=lambda runs: figures.means(
    runs, {"ssim_of_the_pair": "separability",
            "ssim_of_the_outside_picture_to_the_original": "adversarial"}))

# %% [markdown]
# ### Equation 3: the image without the label that is most similar to the original
#
# $$\text{maximise } \mathrm{SSIM}(x_b, x_o) \quad\text{such that}\quad C(x_s) = C(x_o),\; C(x_b) \neq C(x_o) \tag{3}$$
#
# For Equation 3 our search keeps, of all visited images without the label, the one most similar to the original.

# %%
page.statement("equation-3", searches, data=lambda runs: figures.means(
    runs, {"ssim_of_the_outside_picture_to_the_original": "nearest_adversarial"}))
page.extra(
    "goals", searches, figures.goals,
    "Mean SSIM over digits and networks, in brackets the range of the networks' means. The published values "
    "are those of Table III, of one network",
    header={"background": "background", "robustness": "robustness", "robustness_published": "published",
            "separability": "separability", "separability_published": "published",
            "adversarial": "first image without the label to original (Equation 2)",
            "nearest_adversarial": "most similar image without the label to original (Equation 3)"})

# %% [markdown]
# ### Choices that the paper leaves open
#
# | choice | ours | reason |
# | --- | --- | --- |
# | arithmetic of `uint8(xb/2 + xs/2)` | each half is rounded half up on its own, sums stop at 255 | what the paper's software does with 8-bit operands; white and black mix to 128, two equal odd values $v$ to $v+1$ |
# | where the counter starts | at one, so that the limit is the number of mixtures | the text says the maximum number of iterations was nine; the pseudo-code never sets the counter |
# | a source that already has the background's class | excluded and counted | no boundary lies between the two |
# | the class to stay in | the predicted label of the source | as in the pseudo-code |
# | how goal (3) is searched | among all images without the label that were visited, the one most similar to the original | the text changes the goal and nothing else |

# %%
best, way = page.best(searches), page.best(path)
drawn = len(best) and len(way)
page.box(
    "How alike are the images on both sides of a boundary?",
    "As alike as one demands: a search halves their difference until they reach a chosen similarity.",
    "It mixes a digit with white or black until the last image with its label and the first without it have "
    "a similarity (SSIM; 1: equal) above {above}. Of {searched:,} searches {converged:.1f}% end so; the mean "
    "of all is {separability:.3f} (paper: {paper:.3f}).",
    "This (the paper's *separability*) describes the stopping rule, not the network.",
    facts=figures.search_facts(best) if drawn else None,
    picture=figures.draw_stop(way, best) if drawn else None,
    alt="A digit, a uniform image and their mixtures. Below, a mark a network: the similarity of the two "
        "sides lies just right of the line where a search stops; that of digit and last image is spread.")

# %%
page.finish()
