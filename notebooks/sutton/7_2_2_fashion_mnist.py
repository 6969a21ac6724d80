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
# (sutton-7-2-2)=
# # 7.2.2 Fashion-MNIST: adversarial against random perturbations
#
# *Sutton et al. {cite:p}`sutton2023`, Section 7.2.2*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks' initialisation, of their training and of every draw
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing or none
classes: int = None  # how many classes, from the first; None takes the profile's value [2..10]
architecture: str = None  # network {sutton-vgg, sutton-vgg-short, sutton-vgg-bn, sutton-vgg-short-bn}
epochs: int = None  # of training; the rate is halved after each fifth; None: the profile's [1..]
images_train: int = None  # training images of a problem; None takes the profile's value [2..]
images_test: int = None  # test images of a problem; None takes the profile's value [2..]
images_attack: int = None  # images of each set that are attacked; None takes the profile's value [1..]
images_random: int = None  # attackable images of a set, perturbed; None: the profile's [1..]
draws: int = None  # random perturbations of an image; None takes the profile's value [1..30000]

# %% tags=["hide-cell"]
from papers.sutton import experiments, figures, study, tables
from papers.sutton.experiments import ATTACKED, DELTAS, problems_of
from report import reference
from report.page import start
from shared.data.archives import SPECS

page = start("sutton/7_2_2_fashion_mnist", globals())
CLASSES = experiments.CLASSES["fashion_mnist"]
PAPER = reference.paper("sutton")
NEXT = problems_of(len(CLASSES))
SHARES = tables.printed_shares(PAPER["table-20"])

# %% [markdown]
# ## The claim, and how it is tested
#
# The paper expects the results on colour images ({ref}`sutton-7-2-1`) to hold for grey images of clothes as well. A shorter network learns
# to separate each kind of clothes from the next one in the list. Of the correctly classified images, *adversarial susceptibility* is the share
# that is attackable: a step of norm at most 5 along the gradient of the loss flips the label, or the gradient is exactly zero.
# *Random susceptibility* is the share of the images with such a step for which at least one of 2,000 random perturbations flips the label, of
# a norm up to $\delta$ times that of the image's own step ({ref}`definitions <sutton-7-1>`).
#
# The paper reports the effects of CIFAR-10 again (Tables 20 and 21, Figures 17 and 18): accurate networks, many attackable images, and random
# perturbations of the norm of the attack that flip almost no label.

# %% [markdown]
# A problem has twelve thousand training images and two thousand test images, with three equal channels as in the paper; an attack may change
# them differently. The paper attacks and perturbs every image; here some are drawn at random. Accuracies are those of all images
# ({download}`experiments.py <../../papers/sutton/experiments.py>`).

# %%
scale = page.scale(**experiments.FASHION_MNIST)
pairs = page.results(experiments.fashion_mnist)
again = page.results(experiments.fashion_mnist_retrained, beside=True)
printed = page.results(experiments.fashion_mnist_as_printed)
page.text(pairs, lambda u: figures.scale_words(u, len(pairs.published)))

# %% [markdown]
# ## Table 19: the ten classes
#
# The table compares the published names with those of the data set, without capitals. Below, T-shirts and tops are *tshirt* and ankle boots
# are *boot*.

# %% mystnb={"code_prompt_hide": "Hide Table 19: {type}", "code_prompt_show": "Show Table 19: {type}"} tags=["hide-output"]
page.table("table-19", (), lambda: tables.class_rows(PAPER["table-19"], SPECS["fashion_mnist"].classes))

# %% [markdown]
# ## Table 20: accuracy and susceptibility
#
# A column is a problem, named by the indices of Table 19. Each cell holds the share of the training images and that of the test images, in
# percent. The values of $\delta$ in the four rows of random perturbations are lost in the text and inferred.
#
# The paper states its claim in words. "Accurate" names no bound, so the claim can fail and not hold. Of "sizeable" and "tiny" the order is judged: in
# each problem and set more images are attackable than noise of the attack's norm, or of twice that norm, flips.

# %%
page.table("table-20", (pairs, again), figures.with_retraining(tables.summary_shares), behind=tables.BEHIND)

# %% [markdown]
# ## Means over the problems
#
# {ref}`A rule <network-study>` on two pairs of CIFAR-10 ({ref}`sutton-7-1-1`) chose how the networks are trained, dropout 0.2 and 50
# epochs instead of 0.4 and 100, and that an image of zero gradient counts as attackable. The problems of this page had no part in the choice.
# {ref}`Section 7.1 <sutton-7-1>` explains why a loss gradient can vanish. The gradient of the *logit*, the value before the sigmoid, does not
# vanish when the sigmoid saturates.

# %%
figures.show_means(page, "fashion-means", pairs, SHARES, CLASSES)
page.text((pairs, printed), lambda u, plain: study.as_printed_in_words(u, plain, SHARES))
page.text(again, lambda u: figures.retrained_in_words(u, CLASSES))

# %% [markdown]
# ## Table 21: norms of the attacks
#
# Each cell gives the mean of a norm over the successful attacks, and the standard deviation in brackets. The norm ℓ₁ is the sum of all
# absolute changes, ℓ₂ the Euclidean norm, ℓ∞ the largest change of one channel of one pixel.

# %% mystnb={"code_prompt_hide": "Hide Table 21: {type}", "code_prompt_show": "Show Table 21: {type}"} tags=["hide-output"]
page.table("table-21", (pairs, again), figures.with_retraining(tables.summary_sizes), rests=ATTACKED,
           behind=tables.BEHIND)

# %% [markdown]
# ## Figure 17: norms of the attacks, image by image
#
# A *violin* shows a distribution: it is wide where many images have an attack of that norm. Training images are on the left, test
# images on the right; a line marks the median.

# %%
figures.publish_violins(page, "figure-17", pairs, NEXT, CLASSES, "attack")

# %% [markdown]
# ## Figure 18: norms of the random perturbations that flip a label, image by image
#
# For each image the smallest of the random perturbations that flip its label is shown. The paper's $\delta$ is not known; the figure uses
# the largest, $\delta$ = 10.

# %%
figures.publish_violins(page, "figure-18", pairs, NEXT, CLASSES, DELTAS[-1])

# %% [markdown]
# ## What the paper leaves open
#
# {ref}`Section 7.1 <sutton-7-1>` and {ref}`Section 7.2.1 <sutton-7-2-1>` list the choices that all data sets share. These belong to this page:
#
# | choice | ours | why |
# |---|---|---|
# | size of the network | Table 2 without its last two convolutions | as the paper says; the dense layer then has 128 inputs |
# | grey to colour | three equal channels, each attacked on its own | "duplicating the channels"; the printed norms need 2,352 numbers an image, not 784 |
#
# ## Try it
#
# - `classes=3 images_train=2000 epochs=10`: two networks trained on more images, in a minute or two. Accuracy rises; more gradients should become exactly
#   zero, since the sigmoid saturates for more images.
# - `draws=200` in a quick run, which has 20: more images should have a flipped label, but far fewer than ten times as many.
# - `seed=1`: another network for every problem, and other perturbations. Accuracy moves by tenths of a percent, susceptibility by much
#   more.

# %%
facts = figures.box_facts(page.best(pairs), SHARES, len(pairs.published))
page.box(
    "Do attack and noise act on clothes as on colour photographs?",
    figures.first(
        facts, ("some", "Partly: noise of the attack's length flips few images."),
        ("most", "Yes in part: a step flips most images and noise of its length none, but ten times longer "
                 "noise flips most."),
        ("weak", "Mostly: noise of the attack's length flips none, and ten times longer noise flips fewer "
                 "than half, but fewer images can be attacked."),
        "Partly: noise of the attack's length again flips none, but fewer images can be attacked and longer "
        "noise flips most."),
    "An attack flips {step:.0f}% of the test images ({pairs} of {of} class pairs; paper, same pairs: "
    "{paper.step:.0f}%). Noise of its norm flips {one} of {perturbed} (95% interval {low:.1f} to "
    "{high:.1f}%; paper: {paper.one:.2g}%), ten times longer noise {ten:.0f}% (paper: {paper.ten:.0f}%).",
    facts=facts, picture=figures.draw_means(page.best(pairs), SHARES, CLASSES), alt=figures.MEANS)

# %%
page.finish()
