# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-4
#     - figure-3
#     - procedure-pixel-pruning
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
# (ren-v)=
# # V. Pixel pruning: the two sides become different, the last image with the label more like the digit
#
# *Ren et al. {cite:p}`ren2025`, Section V*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the first network; network n is trained with seed + n
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none
dataset: str = "mnist"  # what is classified {mnist, fashion_mnist, digits, *.npz}
architecture: str = "a"  # the network that is pruned; the paper prunes A only {a, b, c}
nets: int = None  # trained networks; None takes the profile's value [1..]
images: int = None  # test images to start from; None takes the profile's value [1..]
recipe: str = None  # name of a training recipe; None takes the profile's value
step: int = None  # grey levels between two thresholds; None takes the profile's value [1..255]
threshold: float = 0.99  # stop when the SSIM of the pair is above this (0..1]
iterations: int = 9  # most mixtures per search [1..]
place: str = "mixed"  # where pruning acts, for Figure 3 and a curve of this run {mixed, input, source}
digit: int = 0  # Figure 3 shows the first test image from this index on that suits it [0..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt

from papers.ren import claims, experiments, figures
from report import display, prose
from report.page import start

page = start("ren/v_pruning", globals())
scale = page.scale(**experiments.PRUNING)

# %% [markdown]
# ## The idea
#
# Near a decision boundary two images that look alike have two labels ({ref}`Section IV <ren-iv>`). *Pixel pruning* sets every pixel below
# $t$ to 0 and every pixel above $T$ to 255, so that fewer images exist near a boundary. The paper claims that the two sides of the boundary
# then look different: their similarity (SSIM, 1 for equal images), called *separability*, falls. The price: the similarity of the digit and
# the last image with its label rises. The paper measures *robustness* by it: a low value means that the digit can change much.
# It wants both to be low, robustness not “too small”.
#
# ## Step by step: one digit under four prunings
#
# A small network learns, in a second, a small set of handwritten digits that is stored in the book (not MNIST). {ref}`Algorithm 1 <ren-iii>` then mixes
# one digit with white. Where pruning acts is not clear: “for all MNIST digits, pixel values below 64 are replaced with black” names the digits, “when
# mixed” the mixtures. Here, as in our Table IV, it acts on the digit, the background and every mixture.

# %% tags=["show-input"]
import torch
from torch import nn

from papers.ren import pruned
from papers.ren.experiments import SETTINGS, UNPRUNED
from shared import borderline, inference, similarity
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


def prune(image, t, T):
    """The rule as printed: pixels below t become 0, pixels above T become 255."""
    pruned = image.clone()
    pruned[image < t] = 0
    pruned[image > T] = 255
    return pruned


def pruned_search(x_o, x_b, t, T):
    """Algorithm 1 on pruned images: the digit, the last image with its label, the first one without it."""
    x_o, x_b = prune(x_o, t, T), prune(x_b, t, T)
    x_s = x_o
    for _ in range(iterations):
        x_c = prune(borderline.mix(x_b, x_s), t, T)
        if classify(x_c) == classify(x_o):
            x_s = x_c
        else:
            x_b = x_c
        if similarity.ssim(x_b, x_s) > threshold:
            break
    return x_o, x_s, x_b


# A digit that keeps its label under all prunings, and has neither that of white nor that of black.
x_o = next(x for x in digits["x_test"].split(1) if experiments.stands_apart(classify, x))
white = torch.full_like(x_o, 255)
hit = {(t, T): pruned_search(x_o, white, t, T) for t, T in (UNPRUNED, *SETTINGS)}

# %%
figure, axes = plt.subplots(len(hit), 3, figsize=(5, 7.6))
for row, ((t, T), (digit_, last, first)) in zip(axes, hit.items()):
    labels = classify(torch.cat([digit_, last, first])).tolist()
    display.image_grid(row, [digit_[0], last[0], first[0]], [
        f"digit: {labels[0]}", f"last with: {labels[1]}", f"first without: {labels[2]}"])
    row[0].set_ylabel("unpruned" if (t, T) == UNPRUNED else f"t = {t}, T = {T}")
    row[1].set_xlabel(f"SSIM to digit {float(similarity.ssim(last, digit_)):.2f}")
    row[2].set_xlabel(f"of the two sides {float(similarity.ssim(first, last)):.2f}")
display.picture(figure, "Four searches of the cell above: a digit, the last image with its label, the first "
                "without it.",
                "Four rows of three digits; in the last two rows the last two images look different.")

# %% [markdown]
# With the strongest pruning, the last image with the label is least similar to this digit, because a mixture whose black pixels have become grey keeps
# the label. The mean over digits rises, as the results below show.
#
# The fast search, which the results of this page use, ends with the same images, and its rule agrees with `prune` at every grey level.

# %% tags=["show-input"]
levels = torch.arange(256, dtype=torch.uint8)
for (t, T), (_, last, first) in hit.items():
    fast = borderline.search(classify, x_o, white, threshold=threshold, max_iterations=iterations,
                             prune=borderline.Pruning(t, T))
    assert torch.equal(fast.inside, last) and torch.equal(fast.outside, first), "other images than above"
    assert torch.equal(borderline.prune(levels, t, T), prune(levels, t, T)), "another rule than above"

# %%
searches, curve = page.results(experiments.pruned), page.results(experiments.trade_off)

# %% [markdown]
# ## What came out
#
# The networks of {ref}`Section II <ren-ii>` were searched from every test digit, towards white and towards black
# ({download}`experiments.py <../../papers/ren/experiments.py>`).
#
# ### Under the strongest pruning hardly any search reaches its goal
#
# The strongest pruning, $t = T = 128$, leaves black, white and pixels of exactly 128. A mixture is then soon pruned back to one of its two
# images, and the two sides stay apart until the limit of mixtures ends the search.

# %%
page.text(searches, pruned.reached,
          "Without pruning {plain:.1f}% of the searches reach a similarity of {threshold}, under the "
          "strongest pruning {pruned:.2g}%. Towards {background}, the similarity of the digit to the last "
          "image with its label goes from {last.plain:.2f} to {last.pruned:.2f}, that to the first one "
          "without it from {first.plain:.2f} to {first.pruned:.2f}.")

# %% [markdown]
# ### One network over all thresholds
#
# The paper measures three settings, towards white and towards black. Moving the threshold in small steps gives the whole curve of one network:
# each point is one $t$, once with bright pixels left alone ($T = 255$) and once with every pixel but those equal to $t$ set to 0 or 255
# ($T = t$). A cross near a mark: the paper's pair of similarities occurs here, too. The line between two marks was not measured.
#
# Towards white the marks with $T = 255$ form three groups: black pixels become 128, 64, … in the mixtures, and the threshold leaves such a value or
# sets it back to 0. Of the networks of Table IV this one is farthest from the published values.

# %%
page.picture(
    curve, figures.draw_trade_off,
    caption="The trade-off between separability and robustness over the threshold t (size of the marks): "
            "bright pixels left alone (T = 255, joined in the order of t) or all pixels but those equal to t "
            "set to 0 or 255 (T = t)",
    alt="Two panels, towards white and black: robustness over separability, published settings as crosses.")

# %% [markdown]
# ### One network by itself need not show the trade-off at every step
#
# The paper says of every step to a stronger pruning: where the two sides become less similar, digit and last image become more similar. The
# means over networks follow this rule.

# %%
page.text(searches, pruned.single,
          "The rule holds at every step for {hold} of {n} networks; {ties} of the others miss it by less "
          "than {margin} in SSIM.")

# %% [markdown]
# ## Where it differs, and why
#
# The paper leaves three points of the rule open. The first is where pruning acts: on all images, on the input of the network only, or on the digit
# only; we measured all three. The second is a pixel equal to a threshold, which the printed rule leaves unchanged. We varied it only for
# $t = T = 128$, where the mean of 0 and 255, rounded, is 128: with thresholds one level below or above it becomes 255 or 0. The
# third is the original with which the pair is compared: pruned, as here, or not (not measured).
#
# The paper makes four claims on Table IV: the trade-off above, each of its two changes at every step, and that the first images without the
# label change more towards white than towards black.

# %%
page.text(searches, pruned.how_far,
          "By the printed rule {held} of these {claims} claims came out here{unjudged}; if pixels of exactly "
          "128 are pruned, too, {fewest} did. Nearly every mixture then becomes the digit or the background "
          "again, and the pair is these two images (mean SSIM of digit and last image with its label: "
          "{back:.4f} or more). So the two similarities move as claimed at the last step almost by "
          "construction. The published SSIM values {favour}: their mean distance from ours is {here:.3f} by "
          "the printed rule, and {least:.3f} or more with these pixels pruned.")
page.text(searches, pruned.how_far,
          "With pruning of the network's input or of the digit only, {elsewhere} of the {claims} claims came "
          "out, at mean distances of {apart}. At $t = T = 128$ towards white, the published STD of "
          "robustness is {std.paper:.4f}. Ours is {std.here:.2f}, and at most {std.back:.4f} if pixels of "
          "exactly 128 are pruned; the paper's search may follow another rule.")

# %% [markdown]
# ## Three things to remember
#
# 1. Pruning makes the two images at the end of a search different, because mixing can no longer reach the images between them.
# 2. The last image with the label is then more like the digit, the first one without it less.
# 3. From no pruning to the strongest, the two similarities of the paper move in these directions in every network. From step to step they need
#    not, and towards white their sizes depend much on the single training.
#
# ## Try it
#
# 1. In the cell above, add `(192, 255)` to the prunings: `for t, T in (UNPRUNED, (192, 255), *SETTINGS)`. Which two images are the sides of the boundary in the new row?
# 2. Prune pixels of exactly $t$, too: `pruned[image <= t] = 0`. Which two images are the sides in the last row, and does the check below pass?
# 3. Leave the mixtures unpruned: `x_c = borderline.mix(x_b, x_s)` (the check then fails). Do the two sides become different?

# %%
display.show(display.folded("Answers", (
    "1. The last image with the label is nearly the pruned digit, the first one without it is white: a "
    "black pixel mixed with white is 128, and the rule sets it back to 0.\n"
    "2. The pruned digit and white: 128 becomes 0 as well. The check fails, because the fast search "
    "leaves pixels of exactly $t$ as they are.\n"
    "3. No: their similarity is as high in each row as without pruning. Only the pruning of mixtures "
    "keeps the two sides apart.")))

# %% [markdown]
# ## Item by item
#
# ### Pixel pruning (procedure): what the rule changes

# %%
page.statement("procedure-pixel-pruning", searches, data=pruned.changed)
page.text(searches, lambda runs: "Of the pixels of the test digits, the rule changes " + "; ".join(
    f"{percent:.1f}% with {setting}" for setting, percent in pruned.changed(runs).items()) + ".")

# %% [markdown]
# ### Table IV: three prunings
#
# Means and standard deviations (STD) over the test digits, averaged over networks; in brackets stands the range of the networks. AE is the
# adversarial example.

# %%
page.table(
    "table-4", searches, pruned.rows,
    note="The text calls the second setting T = 256 where the table has 255: both leave bright pixels alone.")
page.extra("pruning-suspects", searches, pruned.suspects,
           "The paper's claims on Table IV by each way to understand the rule, and the mean absolute "
           "distance of its SSIM values from the published ones.", header={
               "reading": "rule, or network", **dict(zip(claims.PRUNING, (
                   "separability SSIM falls at each step", "robustness SSIM rises at each step",
                   "robustness SSIM rises where separability SSIM falls",
                   "adversarial examples: larger change towards white than towards black"))),
               "distance": "mean distance, SSIM"})

# %% [markdown]
# ### Figure 3: adversarial examples of one digit
#
# The paper shows two rows of adversarial examples next to a digit and prints the mean SSIM of each row to it. Neither the settings nor the
# background of a row are stated; the text cites the figure for increased luminosity. Here the first row is mixed with white and the second with black.

# %%
pictures = page.results(experiments.pruned_digits)
page.figure(
    "figure-3", pictures, figures.draw_examples, data=lambda runs: dict(zip(runs.background, runs.shown)),
    caption="Figure 3 of Ren et al.: a test digit (left) and its adversarial examples, with their labels, "
            "probabilities and the SSIM to the pruned digit",
    alt="Two rows of five images: a digit, then its adversarial examples towards white and towards black.",
    note="The two published means belong to a digit and settings that are not stated, so they are not "
         "compared.")

# %% [markdown]
# ### Choices that the paper leaves open
#
# | choice | ours | reason |
# | --- | --- | --- |
# | where pruning acts | on the digit, the background and every mixture; the two other ways beside it | it limits "the number of available samples around the borderlines", which only pruning of the mixtures does |
# | what the original is, once pruned | the pruned digit | robustness then measures the search, not the pruning |
# | digits, threshold, iterations | all test digits, 0.99, 9 | as in Section IV; not stated for this one |
# | retraining on pruned images | none | not stated; the networks are those of Table III |
# | “drops clearly” and “changes little”, in one claim on Table IV and Figure 3 | whether the change towards white is the larger one, in SSIM and as a share of the unpruned value; not judged where the two disagree | the text names no bound |
# | a pixel of exactly 128 under $t = T = 128$ | stays 128 | the rule says what happens below and above only |
# | which digit, settings and backgrounds Figure 3 shows | the first digit that keeps its label under all prunings, a label of neither white nor black; white above, black below | the text calls the loss of similarity larger towards white |

# %%
best = page.best(searches)
facts = figures.pruning(best)
GROWTH = "{n} networks; both effects grow at {shown} of {steps} increases of pruning (paper: all)"
PRICE = "but the last image with the digit's label is then more like the digit."
page.box(
    "Does turning pixels black or white (pruning) make both sides of a boundary look different?",
    prose.first(facts, ("always", f"Yes, {PRICE}"), ("traded", f"Mostly, {PRICE}"),
                ("differ", "With the strongest pruning they do."), "Not in these networks."),
    "In mixtures with white the strongest pruning lowers the similarity across the label change from "
    "{sides.plain:.3f} to {sides.pruned:.2f} (paper: {sides.paper:.2f}) and raises that of digit and this "
    "image from {digit.plain:.2f} to {digit.pruned:.2f} (paper: {digit.paper:.2f}).",
    prose.first(facts, ("traded", f"{GROWTH}."), ""),
    facts=facts, picture=figures.draw_pruning(best) if facts else None,
    alt="Two panels, towards white and black, without pruning and at three strengths of it: the similarity "
        "of the two sides mostly falls, that of digit and last image with its label mostly rises.")

# %%
page.finish()
