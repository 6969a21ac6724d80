# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-2
#     - equation-6
#     - equation-7
#     - equation-8
#     - procedure-adversarial-attack
#     - procedure-random-perturbation
#     - procedure-training-noise
#     - procedure-imagenet
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
# (sutton-7-1)=
# # 7.1 What the percentages count, and a check of our fast code
#
# *Sutton et al. {cite:p}`sutton2023`, Section 7.1*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the small networks' weights, of the images and of every draw
device: str = "auto"  # auto, cpu or cuda; this page is too small to gain from a GPU
runs: str = "missing"  # this page has no runs
images: int = None  # images of each small problem; None takes the profile's value [10..500]
draws: int = None  # random perturbations of an image; None takes the profile's value [10..]
trials: int = None  # random perturbations against each plane; None takes the profile's value [100..]

# %% tags=["hide-cell"]
from papers.sutton import definitions, tables
from papers.sutton.definitions import FLAT, PERCENTAGES, SIX, R, by_loop
from papers.sutton.noise import BallNoise, CubeNoise, matching_radius
from report import display, registry
from report.page import start

page = start("sutton/7_1_setup", globals())
checks = definitions.Checks(page)

# %% [markdown]
# ## The idea
#
# Section 7.1 states no result. It defines the percentages of Section 7.2: the share of images that are classified correctly (*accuracy*), of these
# the share whose label a step along the gradient of the loss flips (the paper's *adversarial susceptibility*), and of the images with such a step
# the share whose label at least one of many random perturbations flips, of up to several times the attack's norm (*random susceptibility*).
#
# The experiments use a fast implementation. Is it right? This page writes the paper's steps as a plain loop and compares both, image by image. As a
# test of the comparison, steps with one error built in must not agree.
#
# ## Step by step: accuracy, attack and noise of one image
#
# The steps define three sets of images: $C$, the correctly classified ones; $A$, those in $C$ with an attack; and $R^\delta$, those in $A$ whose
# label flips under at least one perturbation, uniform in a ball of $\delta$ times the norm of the attack. Change a step and run the cells up to the
# picture again.

# %% tags=["show-input"]
import torch

from papers.sutton.experiments import DELTAS
from shared.attacks.line import scalings
from shared.inference import classes

STEPS = scalings()[1:]  # of the 256 step sizes the first, 0, is the image itself


def squared_error(scores, label):
    """Between the probabilities by one image's scores and its label."""
    if len(scores) == 1:
        return (scores[0].sigmoid() - label) ** 2
    return ((scores.softmax(0) - torch.eye(len(scores))[label]) ** 2).mean()


def first(flips):
    """Place of the first success; their number if there is none."""
    return int(flips.int().argmax()) if flips.any() else len(flips)


def by_the_paper(net, image, label, points, *, loss=squared_error, towards=lambda slope: slope / slope.norm(),
                 steps=STEPS, radius=lambda delta, norm: delta * norm,
                 success=lambda scores, label: classes(scores) != label, result=first):
    """Of one image: whether it is in C, norm of its attack (0: none), first of `points` at each delta."""
    def flips(moves):
        with torch.no_grad():
            return success(net(image + moves), label)

    none = [result(torch.zeros(len(points)) > 0)] * len(DELTAS)
    x = image.clone().requires_grad_()
    scores = net(x[None])
    if classes(scores) != label:
        return False, 0, *none
    slope, = torch.autograd.grad(loss(scores[0], label), x)
    direction = towards(slope.double()).float()
    reached = flips(steps.view(-1, 1, 1, 1) * direction)
    if not slope.any() or not reached.any():  # a gradient of 0 has no direction
        return True, 0, *none
    norm = float(steps[first(reached)])
    return True, norm, *(result(flips(radius(delta, norm) * points)) for delta in DELTAS)


# %% [markdown]
# The loop is run on random images of three small problems. In the first the network is linear. The distance to its boundary, the shortest attack and the
# probability that noise crosses the boundary ($\tau_n$, {ref}`Section 4.1 <sutton-4-1>`) have closed forms. The other two networks have curved
# boundaries; one has two classes, the other six. Every fifth label is wrong, so that some images are misclassified.

# %%
scale = page.scale(smoke=dict(images=10, draws=20, trials=2_000),
                   quick=dict(images=30, draws=60, trials=6_000),
                   paper=dict(images=30, draws=60, trials=6_000))
both = definitions.Comparison(by_the_paper, scale.images, scale.draws, page)
display.picture(
    definitions.draw_shares(both.own, both.shares),
    "The percentages of two small problems, by the loop (rings) and by the fast code of the experiments "
    "(dots).",
    "Two panels of six values each; every dot lies in its ring.")

# %% [markdown]
# ## What came out
#
# ### Slow loop and fast code agree on every image

# %%
facts = both.same() | {"end": definitions.last_logit(1)}
page.text((), lambda: facts,
        "Loop and fast code agree on {same} of {images} images: on whether an image is correctly classified, "
        "on the norm of its attack, and on the first perturbation that flips its label.")

# %% [markdown]
# ### Very confident predictions have no gradient
#
# The network's output is $\sigma(z) = 1/(1 + e^{-z})$, with the logit $z$. In single precision (32 bits) $\sigma(z)$ is exactly 1 where $z$ is
# large; the error is 0 and the gradient exactly zero (picture at the top: grey is exact). Such an image of class 1 cannot be attacked along the
# gradient of the loss, however near the boundary is. For class 0 the gradient vanishes only at a much higher confidence.

# %%
page.text((), definitions.vanishing,
    "The gradient vanishes at $z$ = {one:.1f} for class 1 and at −{zero:.1f} for class 0 (at −{flushed:.1f} "
    "in software that takes the smallest, *subnormal* numbers for 0). A program that divides such a gradient "
    "by its norm gets 0/0, and the perturbed image is NaN. Its output compares as class 0. An image of class "
    "1 with such a gradient then counts as attacked, with norm {norm}; an image of class 0 counts so at "
    "{flips} of the steps. The pages on CIFAR-10, Fashion-MNIST and traffic signs "
    "count images of both classes as attackable, without a norm, and give the share without them.")

# %% [markdown]
# ## Where it differs, and why
#
# Where the text leaves a step open, the loop is our way to understand it, and both codes share it: this page cannot show that the authors' code
# does the same. The published test percentages fit the denominators of the three percentages, with one exception ({ref}`audit <audit>`). Whether an image
# with a gradient of zero counts as attackable is not said; {ref}`Section 7.1.1 <sutton-7-1-1>` chooses by the published values.
#
# ## Three things to remember
#
# 1. Each percentage has its own denominator: all images, those classified correctly, those that the attack flips.
# 2. Noise is measured in norms of the image's own attack, so an image that is easy to attack gets little noise.
# 3. A gradient that rounds to zero says nothing about robustness: count such images and say what was done with them.
#
# ## Try it
#
# 1. In the cell of the steps, `steps=STEPS.flip(0)` takes the largest step that flips the label in place of the smallest. Which rings leave their
#    dots?
# 2. `direction = -direction` attacks downhill. How many images of the linear network have an attack then?

# %%
downhill = by_loop(both.problems[FLAT], by_the_paper, towards=lambda slope: -slope / slope.norm()).norm > 0
display.show(display.folded("Answers", (
    "1. Those of noise of 1 × and 2 ×: longer steps make longer noise; the longest flip all already.\n"
    f"2. Of the linear network's images {downhill.sum()} have one: downhill leads away from the boundary.")))

# %% [markdown]
# ## Item by item

# %% [markdown]
# ### Table 2: the network
#
# The network is a shortened VGG: pairs of convolutions with 3 by 3 weights, each pair followed by a maximum over squares of 2 by 2, the last by a
# maximum over the whole image. The sizes of kernels and pools are lost in our copy of the text; the listed layers have exactly the numbers of
# parameters that 3 by 3 convolutions need. The paper trains all networks alike: 100 epochs in batches of 128, learning rate 0.1, halved four times,
# Nesterov momentum 0.9, on the squared difference between the network's output and the label, 0 or 1; ours depart in dropout and epochs
# ({ref}`sutton-7-1-1`).
#
# :::{dropdown} Padding
# *Padding*, zeros around an image by which a convolution keeps its width, is not settled by the table. Without it, the default of the authors'
# software, each convolution shortens the width by two. The paper uses the whole network for CIFAR-10 (32 by 32 pixels) and removes Conv-5 and
# Conv-6 for Fashion-MNIST (28 by 28 pixels). Without padding these two layers must be removed there, since nothing would be left of the image, and
# an image of CIFAR-10 ends as exactly one value a channel. With padding there is no reason to remove them.
# :::

# %%
page.table("table-2", (), lambda: tables.layers(registry.build("sutton-vgg")))

# %% [markdown]
# ### Equation 6: accuracy
# ### Equation 7: adversarial susceptibility
# ### Equation 8: random susceptibility
#
# $$\text{accuracy} = 100\,\frac{|C|}{|X|}, \qquad \text{adversarial susceptibility} = 100\,\frac{|A|}{|C|}, \qquad
# \text{random susceptibility at } \delta = 100\,\frac{|R^\delta|}{|A|}$$
#
# $X$ are the images of both classes. The perturbations are uniform in a ball whose radius is $\delta$ times the norm of the image's own attack (in
# Section 4, $\delta$ is the radius itself). [derived; the formulas are lost; with these, the test percentages of all but one class pair of CIFAR-10 are
# whole numbers of images ({ref}`audit <audit>`).] No image of the three problems has a gradient of zero, so this check does not cover such images. Most of
# our tables add them to $A$ in the adversarial susceptibility only. Counted in both shares, with norm 0, they would lower our random susceptibilities.

# %%
plane = both.sets[FLAT]
checks.check("equation-6", both.gives(0), lambda s: 100 * s.C.mean(), PERCENTAGES["equation-6"],
             images=scale.images, known_beside_a_plane=int(plane.C.sum()))
checks.check("equation-7", both.gives(1), lambda s: 100 * s.A.sum() / s.C.sum(), PERCENTAGES["equation-7"],
             known_beside_a_plane=int(plane.C.sum()), attacked_beside_a_plane=int(plane.A.sum()),
             nearer_than_the_largest_scaling=int((both.distances[plane.C] < float(STEPS[-1])).sum()))
checks.check("equation-8", both.gives(slice(2, None)), lambda s: 100 * s[R].sum() / s.A.sum(),
             PERCENTAGES["equation-8"], attacked_beside_a_plane=int(plane.A.sum()), draws=scale.draws,
             turned_beside_a_plane={f"delta {delta}": int(plane[delta].sum()) for delta in DELTAS})

# %% [markdown]
# ### Adversarial attack (procedure): along the gradient
#
# The direction is the gradient of the squared error at the image, scaled to norm 1. Then 256 equally spaced step sizes from 0 to 5 are tried [inferred
# from the norms in Figures 11 and 12]. The smallest step that changes the predicted label is the attack; its norm is the Euclidean norm in the tables.
# Perturbed pixels are not clipped. For the linear network the norm must exceed the known distance by less than one step.

# %%
excess = (both.loop[FLAT].norm - both.distances)[plane.A] / float(STEPS[0])
checks.check(
    "procedure-adversarial-attack", both.equals(both.shares, "norm"), {}, definitions.ATTACKS,
    exact=excess.between(-1e-3, 1 + 1e-3).all(), noticed=True, step=float(STEPS[0]), scalings=len(scalings()),
    attacks_compared=sum(int((both.loop[name].norm == both.fast[name].norm)[both.sets[name].A].sum())
                         for name in both.shares))

# %% [markdown]
# ### Random perturbation (procedure): 2,000 samples of each ball
#
# One set of random points is drawn from the unit ball and used for every $\delta$ and all images. Each point is multiplied by $\delta$ times the
# norm of the image's attack and added to the image. For a plane the probability that one perturbation crosses it is exact: the share $\tau_n$ of
# the ball that lies beyond the plane ({ref}`Section 4.1 <sutton-4-1>`). The fast code is compared with it in several dimensions $n$.

# %%
crossings = definitions.crossings(by_the_paper, scale.trials, page.generator)
inside = sum(row["low"] <= row["exact"] <= row["high"] for row in crossings)
display.say(f"{inside} of {len(crossings)} exact values lie in the 99.99% intervals of measured shares. In "
            f"{sum(r['hits'] == 0 for r in crossings)} no sample crosses: these test an upper limit only.")
checks.check(
    "procedure-random-perturbation", both.equals(both.shares, R), {},
    definitions.perturbation_errors(both.noise.points, page.generator("cube")),
    exact=inside == len(crossings), intervals=len(crossings), intervals_with_the_exact_value=inside,
    percent_of_images_beside_planes={f"n = {row['n']}, delta {row['delta']}": row["image"]
                                     for row in crossings})

# %% [markdown]
# ### Training with noise (procedure): uniform noise in L∞ and L2 balls
#
# In training, noise is added to every image, drawn anew each time. It is uniform in an L∞ ball, so that each value changes by at most $a$, or in an
# L2 ball of radius $b$. The choice $b = a\sqrt{n/3}$ gives both kinds about the same mean norm, as the text demands [derived]. The check compares
# samples with the two distributions, the two mean norms, and the samples of two images; no second program draws them.

# %%
A, N = 0.5, 300     # half-width, values of an image
checks.check("procedure-training-noise", lambda hooks: definitions.sound_noise(
    hooks, A, N, page.generator("noise")), (CubeNoise(A), BallNoise(matching_radius(A, N))),
    definitions.noise_errors(A, N), noticed=True, sides="samples and the two distributions",
    mean_lengths_agree_within_2_percent=definitions.mean_norms_agree(page.generator))

# %% [markdown]
# ### ImageNet (procedure): checked on six classes
#
# Networks for a thousand classes are taken as they are published. Any change of the predicted label counts. The loss is again the squared error
# ("the mean square error loss function"), now between the network's probabilities and the label's; sum and mean over the classes have gradients of
# one direction. The network with six classes serves as the test here.

# %%
checks.check("procedure-imagenet", both.equals([SIX], ["C", "norm", *R]), {}, definitions.MANY_CLASSES,
             noticed=True, images=scale.images, classes=6)
facts |= checks.show()

# %% [markdown]
# ### Choices that the paper leaves open
#
# :::{dropdown} Choices of all data sets
#
# | choice | ours | reason |
# |---|---|---|
# | sizes in Table 2 | 3 by 3 convolutions, 2 by 2 pools | the parameter counts allow no other size of convolution; pools have no parameters: 2 by 2 is VGG's, and the widths under *Padding* fit it |
# | dropout, epochs | 0.2 and 50; the text has 0.4 and 100 | chosen by {ref}`a rule <network-study>` that compares networks with the published accuracies, shares and norms ({ref}`sutton-7-1-1`) |
# | batch normalisation | none | Table 2 has none, and the rule chose none |
# | padding | none | the default of the authors' software; the widths under *Padding* fit it. VGG pads: {ref}`sutton-7-2-3` measures what difference it makes |
# | where dropout stands | after each pool | the paper has dropout of 0.4 “on the convolutional layers” and does not say after which of them; another is measured beside it in {ref}`sutton-7-2-3` |
# | range of the 256 steps | 0 to 5, images in [0, 1] | inferred from the norms printed with Figures 11 and 12 |
# | $\delta$ | 1, 2, 5, 10 | 5 is printed, and 10 for ImageNet, elsewhere inferred; 1 and 2 are assumed |
# | a gradient of exactly 0 | counts as attackable, has no norm and gets no noise; not so in training with noise | it has no direction; the network chosen in {ref}`Section 7.1.1 <sutton-7-1-1>` fits best so; the share without these images and the gradient of the logit stand beside it |
# | perturbed pixels outside [0, 1] | kept | the printed norms are those of unclipped perturbations |
#
# :::

# %%
alike = facts["same"] == facts["images"] and facts["caught"] == facts["mutants"]
page.box(
    "Does our fast code measure what the paper describes?",
    "Yes, as far as the text goes: a slow version of its steps gives the same results." if alike else
    "Not everywhere: a slow version of the text's steps differs, or an error goes unnoticed.",
    "Both versions agree on {same} of {images} random images of three small problems; the checks detect "
    + ("all {caught}" if alike else "{caught} of {mutants}") + " errors planted in steps, formulas or noise.",
    "The text does not say how an image counts whose gradient rounds to zero; our tables mostly count it as "
    "attackable, which fits the published values better.", facts=facts,
    picture=definitions.draw_slopes(),
    alt="The more confident the network, the smaller its gradient, until 32-bit arithmetic rounds it to "
        "zero, first for class 1.")

# %%
page.finish()
