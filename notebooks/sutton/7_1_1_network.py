# ---
# jupyter:
#   boundary_book:
#     items: []
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
# (sutton-7-1-1)=
# # 7.1.1 Which training gives networks like the paper's
#
# *Sutton et al. {cite:p}`sutton2023`, Section 7.1.1*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # added to the seed of every network
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none
networks: int = None  # how many of the twelve networks, from the first; None: the profile's [1..12]
epochs: int = None  # of training; the rate is halved after each fifth; None: the profile's [1..]
images_train: int = None  # training images of a pair; None takes the profile's value [2..]
images_test: int = None  # test images of a pair; None takes the profile's value [2..]
images_attack: int = None  # images of each set that are attacked; None takes the profile's value [1..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt

from papers.sutton import experiments, study
from report import display, prose, reference
from report.page import start

page = start("sutton/7_1_1_network", globals())
PAPER = reference.paper("sutton")
PRINTED = study.published(PAPER)

# %% [markdown]
# ## The idea
#
# The paper gives the layers of its network (Table 2) and how it is trained: squared loss, batches of 128, 100 epochs, Nesterov momentum 0.9, a learning rate of 0.1 that is halved every 20 epochs, and dropout of 0.4 "on the convolutional layers". Networks trained in this way have fewer images that an attack flips than the published ones. What does the text leave out?
#
# Twelve networks vary the training: *batch normalisation* yes or no, *dropout* of 0.4, 0.2 or 0, a *weight penalty* yes or no. Each is trained for 50 epochs on one class pair, the nearest also on a second pair and for 100 epochs. Each training is compared with eight published numbers at once. The pages on CIFAR-10, Fashion-MNIST and traffic signs use the training that comes nearest.
#
# ## Step by step: the misfit of one network
#
# The eight numbers are the accuracy, the attackable share, the mean norm of the attacks and its standard deviation, on training and on test
# images. The misfit adds up their squared deviations from the published ones, each in units of the standard deviation of that number over the
# 45 published class pairs.

# %% tags=["show-input"]
import numpy as np


def eight_numbers(run):
    """What the paper prints of a network; an image of zero loss gradient counts as attackable."""
    numbers = []
    for part in (run["train"], run["test"]):
        attack = part["attack"]
        attackable = attack["susceptibility"]["hits"] + part["saturated"]
        numbers += [part["accuracy"]["percent"], 100 * attackable / max(1, part["tried"]),
                    attack["l2"]["mean"], attack["l2"]["std"]]
    return np.array(numbers, dtype=float)


def deviations(run, published, spread):
    """How far each number is from the published one, in standard deviations over the class pairs."""
    return (eight_numbers(run) - published) / spread


def misfit(run, published, spread):
    """Eight, if each number is one standard deviation off."""
    return (deviations(run, published, spread) ** 2).sum()


# %%
scale = page.scale(**experiments.STUDY)
trained = page.results(experiments.network_study)
# The problems of the test are runs of the pages on their data sets; a small run shows the recorded ones.
tested = [page.results(getattr(experiments, data), plan=lambda scale: {},
                       names=[experiments.name_of(data, *problem) for problem in problems])
          for data, problems in experiments.TESTED.items()]
# Networks of the page on CIFAR-10: the chosen one, trained there once more, and Table 2 as printed.
pages = page.results(experiments.cifar10, plan=lambda scale: {})
as_printed = page.results(experiments.cifar10_as_printed, plan=lambda scale: {})
# The four nearest on clothes (rule 7), and the network of our choice on all pairs of them.
clothes = page.results(experiments.clothes_study)
on_clothes = page.results(experiments.fashion_mnist, plan=lambda scale: {})


def draw_deviations(runs):
    """Deviations of two networks, by the cell above; its misfit must be that of the tables."""
    figure, ax = plt.subplots(figsize=(5.6, 3))
    for (name, run), marker in zip(study.compared(runs).items(), display.MARKERS):
        published, spread = PRINTED.loc[experiments.PAIRS[run["pair"]]], PRINTED.std(ddof=0)
        own = misfit(run, published.to_numpy(), spread.to_numpy())
        fast = study.score(study.measured(run, zero=True), published, PRINTED)
        assert np.isclose(own, fast, equal_nan=True)
        ax.plot(deviations(run, published.to_numpy(), spread.to_numpy()), range(8), marker,
                label=f"{name}: misfit {own:.1f}")
    ax.axvline(0, color=display.PRINTED, lw=2, label="published")
    ax.set_yticks(range(8), [f"{study.WHAT[what]}, {split}" for split, what in study.COLUMNS])
    ax.set(xlabel="deviation, in standard deviations")
    ax.invert_yaxis()
    figure.legend(loc="outside upper center")
    return figure


page.picture(trained, draw_deviations,
             caption="Two networks for deer and horse after 50 epochs: deviations from the published numbers",
             alt="Eight rows of dots, one for each number, around a line at zero.")

# %% [markdown]
# The cell gives the same misfit as the code behind the tables ({download}`experiments.py <../../papers/sutton/experiments.py>` has the trainings).

# %%
page.text((), lambda: {"sd": PRINTED["train", "accuracy"].std(ddof=0),
                       "least": PRINTED["train", "accuracy"].std(ddof=0) ** -2},
          "The published training accuracies hardly vary (standard deviation over the pairs: {sd:.2f} "
          "points), so this number weighs most: a network that misses it by one point gets a misfit of "
          "{least:.0f} from it alone, whatever its attacks are like.")

# %% [markdown]
# ## What came out
#
# ### Less dropout and fewer epochs come nearest on CIFAR-10
#
# All twelve networks are compared on deer and horse, the four nearest on aeroplane and cat, too. {ref}`The rule <network-study>` scores each training
# twice: zero gradients count as attackable, or not. It takes the smallest misfit over both pairs; within 10% of it, the training with fewer departures
# from the paper's description.

# %%
page.picture(trained, lambda runs: study.draw_misfits(runs, PRINTED),
             caption="Misfit of each training (dashed: one standard deviation in each number)",
             alt="A line for each training, a marker for each class pair; a dashed line at eight.")
page.text(trained, lambda u: study.choice_in_words(u, PRINTED))

# %% [markdown]
# ### The text's own training is farther away
#
# The training as the text has it (dropout 0.4, 100 epochs) left the study after 50 epochs. On some pairs the page on CIFAR-10 trains it at
# full length.

# %%
page.text(trained, lambda u: study.literal_facts(u, PRINTED),
          "After 50 epochs its misfit on deer and horse was {score:.0f}, of which {accuracy:.0f} come from "
          "the training accuracy.")
page.extra("network-literal", (pages, as_printed), lambda u, v: study.beside_literal(u, v, PRINTED),
           "Misfit at full length, zero gradients counted as attackable")
page.text((pages, as_printed), lambda u, v: study.nearer_than_literal(u, v, PRINTED),
          "On {nearer} of these {of} pairs the training of our choice is nearer to the paper than the "
          "text's, which has misfits of {least:.2f} to {most:.2f} (eight: one standard deviation in each "
          "number).")
page.text((trained, pages, as_printed), lambda *frames: study.close_to_literal(*frames, PRINTED),
          "On {close} of them the difference is smaller than that between two equal trainings on *{pair}*; "
          "{used} of them had a part in the choice.")

# %% [markdown]
# ### On clothes and traffic signs our choice fits less well
#
# The misfits on deer – horse and aeroplane – cat made the choice, so they do not test it; trial runs had trained the chosen network on two further
# pairs. The test has class pairs that were used for neither: five of CIFAR-10, drawn at random, two of traffic signs and two of Fashion-MNIST. Of
# one pair of signs the training failed; {ref}`sutton-7-2-3` trains it five times more.

# %%
page.extra("network-bias", tested, lambda *frames: study.bias(PAPER, *frames),
           "Attackable share of our networks minus the published one, training and test images of the pairs "
           "of the test")
page.text(tested, lambda *frames: study.test_in_words(PAPER, *frames))
page.text((clothes, on_clothes), lambda *frames: study.facts_of_clothes(PAPER, *frames),
          "Among the {networks} nearest of the twelve, the same rule on dress and coat alone chooses our "
          "training again: its misfit there is {misfit:.1f}, in units of Fashion-MNIST (the next, {second}: "
          "{other:.1f}; in units of CIFAR-10 the rule chooses {same}). On the pairs that test it, its misfit "
          "is {tests}.")

# %% [markdown]
# ## Where it differs, and why
#
# - *Not blind.* The rule was written down before the runs of the study, but trial runs outside the records had trained the network that it
#   later chose.
# - *Within the spread of trainings.* A training varies with the processor, even with the same seed.

# %%
page.text((trained, pages), lambda u, v: study.again_facts(u, v, PRINTED),
          "On *{pair}* the network of our choice, trained again for {{ref}}`sutton-7-2-1`, has a misfit of "
          "{again:.2f} in place of {first:.2f}. The margin of the rule is {margin:.2f}, less than this "
          "difference: it cannot tell two near trainings apart.")

# %% [markdown]
# - *Other data.* On clothes four of the twelve are measured on one pair, our choice on all nine, the text's on some. On traffic signs batch normalisation is nearer
#   ({ref}`sutton-7-2-3`). So the choice is not the nearest on all data sets; whether another of the twelve fits all three is not measured. The
#   authors' code is not known.
#
# ## Three things to remember
#
# 1. A network may fit seven published numbers and miss the eighth: compare them all.
# 2. What made a choice cannot test it. Keep some problems aside.
# 3. A difference that is smaller than the spread of two equal trainings decides nothing.
#
# ## Try it
#
# 1. In the cell above, leave `+ part["saturated"]` out, and set `zero=False` in the cell below it: which of the two misfits in the picture changes more, and why?
# 2. In `misfit`, `deviations(run, published, spread)[1:]` leaves out the training accuracy (drop the assertion in the cell below it). Which network is then nearer to the paper?

# %%
both_ways, spread = study.counted_both_ways(page.best(trained), PRINTED), PRINTED.std(ddof=0)
rest = sorted(((deviations(run, PRINTED.loc[experiments.PAIRS[run["pair"]]], spread)[1:] ** 2).sum(), name)
              for name, run in study.compared(page.best(trained)).items())
answers = ("1. That of *{name}*: {without:.1f} in place of {counted:.1f}, since {zero:.0f}% of its training "
           "images have a zero gradient ({other:.0f}% with the other network).\n"
           "2. That with *{nearer}*: its misfit is {least:.1f}, the other's {most:.1f}.")
both_ways = both_ways and both_ways | {"nearer": rest[0][1], "least": rest[0][0], "most": rest[1][0]}
if prose.complete(answers, both_ways):
    display.show(display.folded("Answers", prose.fill(answers, both_ways)))

# %% [markdown]
# ## Item by item
#
# This section has no table of the paper. The pages on CIFAR-10, Fashion-MNIST, traffic signs and {ref}`training with noise
# <sutton-7-2-1-noise>` use the training of our choice; all but the last count images of zero gradient as attackable.
#
# (network-study)=
# ### The rule: a study on CIFAR-10
#
# :::{dropdown} As it was fixed
#
# Networks trained as in the text differ from the published ones: fewer images can be attacked. An earlier rule judged networks and ways of counting by
# one column, the attackable share, on traffic signs, and chose batch normalisation. The paper prints more: accuracy, share, mean norm and spread of
# the norms, of both sets. Exploratory runs outside the records suggested that batch normalisation has the effect of shorter or less regularised
# training. The rule below replaces the earlier one. It was written down on 26 November 2026, before the runs of the study, but it was not blind:
# exploratory runs of 25 November had trained the network that it then chose, on both pairs of its score and on two other ones.
#
# 1. *Screen*: twelve networks for deer and horse. Batch normalisation yes or no; dropout 0.4, 0.2 or 0; weight penalty 0 or 0.0005. The learning
#    rate is halved after each fifth of 50 epochs; seed 0; 1,000 images of each set are attacked.
# 2. *Score*: the sum of the squared deviations from the published values over eight columns: accuracy, attackable share, mean and standard
#    deviation of the L2 norms of the attacks, each of training and test images. A deviation is measured in units of the column's standard deviation
#    over the 45 published pairs (Tables 4 to 6). Norms are those of the attacks found. Each network is scored twice: images with a gradient of
#    exactly zero count as not attackable, or as attackable. A network without any attack has no score and is out.
# 3. *Second pair*: the four networks with the smallest of both scores are trained for aeroplane and cat, too. A candidate is now a network together
#    with a way of counting; its score is the mean over its pairs.
# 4. *Length*: the networks of the two candidates with the smallest scores (two different networks) are trained with 100 epochs, too, on both pairs,
#    with the seeds 0 and 1.
# 5. *Choice*: among the candidates on both pairs, of 50 and of 100 epochs, the one with the smallest score, the mean over pairs and seeds. Within 10%
#    of the smallest score, the candidate that departs from fewer of the paper's words is chosen: Table 2 lists no batch normalisation, and the text
#    has a dropout of 0.4, 100 epochs and no weight penalty. The paper does not state how a zero gradient counts. If both are equal, the smaller
#    score decides. Scores are not negative. So a candidate is out as soon as the scores of its first trainings add up to a mean that cannot be
#    chosen; its other trainings are not needed. (Added on 26 November 2026, before any training of 100 epochs had ended.)
# 6. *Test*: the chosen candidate is tested on five pairs of CIFAR-10 that nobody had trained: Python's `random.Random(2026).sample` of the pairs in
#    the order of Table 4, without 0-1, 0-3, 1-2, 2-3, 4-7 and 6-8. Two problems of the traffic signs (s0-s1, s3-s4) and two of Fashion-MNIST
#    (dress-coat, sneaker-bag) are added. The result is reported whatever it is.
#
# 7. *Clothes* (added on 30 November 2026, before its trainings, when the results of the chosen network on clothes were known): the four networks of
#    step 3 are trained on dress and coat, 50 epochs, seed 0. The score is that of step 2, with the nine
#    published pairs of Fashion-MNIST (Tables 20 and 21) for the units. Step 5 chooses among the eight candidates. Its network is tested on two pairs,
#    `random.Random(2026).sample` of the other eight. The result is reported whatever it is.
#
# The authors' code is not known. A candidate that fits all columns may be it; this does not prove it.
#
# The pages on CIFAR-10, Fashion-MNIST and traffic signs have the chosen network, beside networks of Table 2 as printed. As the rule chose, an image
# whose loss gradient is exactly zero counts as attackable, in all their tables. It has no norm and is not perturbed at random. The pages also give
# the shares without these images. On the two pairs of the choice, accuracies, shares and Euclidean norms have no mark, and the means on
# {ref}`sutton-7-2-1` leave these pairs out. A training failed if the network is hardly better on its training images than predicting the larger
# class for all; its shares are shown and not compared. (Added on 27 November 2026, after the training on s3-s4 had failed.) Since 30 November 2026,
# with results in sight, Tables 20, 21, 23 and 24 and Figures 17 to 20 show and compare the first further training of such a pair that succeeded; so do
# the statements below tables. Means leave the pair out.
#
# {ref}`Training with noise <sutton-7-2-1-noise>` followed the text until 29 November 2026. Since then it has the chosen dropout and epochs, so
# that its networks differ from those without noise in the noise alone. The rule did not foresee this. The six networks trained until then, all
# of the pair 0-1, were replaced, and no radius of the noise was changed.
# :::
#
# ### All networks beside the published values

# %%
page.extra("network-study", trained, lambda u: study.rows(u, PRINTED),
           "Training and test images. Norms are L2 norms of the attacks, with their standard deviation in "
           "brackets.",
           header=study.HEADER, fold="The networks one by one")

# %% [markdown]
# ### The pairs of the test

# %%
page.extra("network-test", tested, lambda *frames: study.rows_of_test(PAPER, *frames),
           "Our networks beside the published values; the units of the misfit are those of CIFAR-10 "
           "throughout.",
           header=study.HEADER_OF_TEST, fold="The pairs one by one")
page.extra("network-clothes", clothes, lambda u: study.rows_of_clothes(PAPER, u),
           "Dress and coat alone; the units of the misfit are those of Fashion-MNIST.",
           header=study.HEADER_OF_CLOTHES, fold="Four of the twelve on clothes")

# %%
shares = study.shares_of_test(PAPER, *page.best(*tested))
facts = study.facts_of_test(shares)
page.box(
    "Which training gives networks like the paper's?",
    prose.first(
        facts, ("nowhere", "None so far: not even the best of twelve comes near."),
        "None so far: the best of twelve (half the paper's dropout and epochs) comes near on {near} only."),
    "On {n} class pairs not used for choosing, {cifar10:.0f}% of the correctly classified test images are "
    "attackable on CIFAR-10 ({pairs.cifar10} pairs; paper: {paper.cifar10:.0f}%), {fashion_mnist:.0f}% on "
    "clothes ({pairs.fashion_mnist}; paper: {paper.fashion_mnist:.0f}%), {gtsrb:.0f}% on traffic signs "
    "({pairs.gtsrb}; paper: {paper.gtsrb:.0f}%).",
    "Images of zero gradient count as attackable, which fits the paper better on the pairs used "
    "for choosing.",
    facts=facts, picture=study.draw_test(shares),
    alt="Bars for three data sets: the share of attackable test images, ours and the paper's.")

# %%
page.finish()
