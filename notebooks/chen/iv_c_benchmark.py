# ---
# jupyter:
#   boundary_book:
#     items:
#     - procedure-pgd-and-training
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
# (chen-iv-c)=
# # IV.C ROBY beside attack success on ten architectures
#
# *Chen et al. {cite:p}`chen2020`, Sections IV.A to IV.C*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks' first weights, of their training and of every draw
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none
dataset: str = "all"  # whose networks are wanted {all, mnist, fashion_mnist, cifar10}
images_train: int = None  # training images of a network; None takes the profile's value [10..]
longest: int = None  # epochs after which training ends at the latest; None: the profile's [1..16]
images_attack: int = None  # test images that are attacked; None takes the profile's value [10..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt

from papers.chen import experiments, figures, ranking
from report import display
from report.page import start
from report.verdict import equality
from shared.attacks.gradient import PGD
from shared.attacks.threat import Linf

page = start("chen/iv_c_benchmark", globals())

# %% [markdown]
# ## The idea
#
# An attack is the usual test of robustness. *Projected gradient descent* (PGD) {cite:p}`madry2018` changes an image in small steps, so that the
# network's error grows, and never by more than $\epsilon$ in any pixel. The share of flipped labels is the *attack success rate* (ASR). That costs
# time.
#
# {ref}`ROBY <chen-iii>` needs clean images alone. It measures how much the classes overlap in the network's last values: the *logits* in the
# authors' later code and here; the paper's text fits the logits or the layer before. The paper trains ten architectures on each of
# three data sets, attacks them, and finds that ROBY orders them exactly as the attack does. If that holds, one forward pass replaces an attack.

# %%
display.picture(
    ranking.draw_published(), "The published claim, from the paper's Table I: each dot is one of ten "
    "networks; the larger ROBY, the more labels the attack (L2 form) flips, without an exception",
    "Three panels, one a data set; in each, ten dots rise from left to right.")

# %% [markdown]
# ## Step by step: one network, attacked and scored
#
# A small network learns the digits that scikit-learn brings along, 64 pixels each. PGD then attacks the test digits that the network classifies
# correctly. ROBY here takes the same digits, in the results below all test images.

# %% tags=["show-input"]
import torch
from sklearn.datasets import load_digits
from torch import nn

from shared import roby

digits = load_digits()
x, y = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None], torch.tensor(digits.target)
torch.manual_seed(0)
network = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
for _ in range(100):
    optimiser.zero_grad()
    nn.functional.cross_entropy(network(x[:1000]), y[:1000]).backward()
    optimiser.step()


def pgd(x, y, start, *, size, step, steps, direction=torch.sign, low=0.0):
    """The last images of PGD in the ball of this size around images x [N, 1, 8, 8] of classes y [N]."""
    z = start.clamp(0, 1)
    for _ in range(steps):
        z = z.detach().requires_grad_()
        loss = nn.functional.cross_entropy(network(z), y, reduction="sum")
        slope, = torch.autograd.grad(loss, z)                   # 1. where does the error grow?
        z = z.detach() + step * direction(slope)                # 2. one step there
        z = torch.max(torch.min(z, x + size), x - size)         # 3. back into the ball
        z = z.clamp(low, 1)                                     # 4. and into the range of pixels
    return z


x, y = x[1000:], y[1000:]
right = network(x).argmax(1) == y
x, y = x[right], y[right]
noise = 2 * torch.rand(x.shape, generator=torch.Generator().manual_seed(0)) - 1
flipped = {}
for size in (0.03, 0.1, 0.2, 0.3):
    attacked = pgd(x, y, x + size * noise, size=size, step=size / 10, steps=20)
    flipped[size] = 100 * (network(attacked).argmax(1) != y).float().mean().item()
score = roby.measure(network, x, y).roby                        # the same digits, not attacked

# %%
fast = PGD(Linf(0.3), steps=20, step=0.03).propose(network, x, y, 0.3 * noise)[0]
assert torch.allclose(attacked, fast, atol=1e-5), "other images than the fast code's"
figure, axes = plt.subplots(1, 3, figsize=(6, 2.2), width_ratios=(1, 1, 1.8))
labels = network(torch.stack([x[0], attacked[0]])).argmax(1).tolist()
display.image_grid(axes, (x[0], attacked[0]), [f"predicted: {label}" for label in labels])
axes[2].plot(flipped.keys(), flipped.values(), "o-")
axes[2].set(xlabel="ε, for pixels from 0 to 1", ylabel="labels flipped, %", ylim=(0, 103), xlim=(0, None))
display.picture(figure, f"A digit, the same after the attack (ε = 0.3), and the share of {len(x)} digits "
                f"whose label flips. The network's ROBY is {score:.2f}, whatever ε is",
                "A digit, the same with grey patches, and a rising curve.")

# %% [markdown]
# ## What came out

# %%
scale = page.scale(**experiments.SCALE)
# The experiments of this page and of the others of this paper; `natural` are the paper's networks among all.
networks, robust, dense, convolutional, suspects = map(page.results, (
    experiments.natural, experiments.robust, experiments.dense, experiments.convolutional,
    experiments.suspects))
natural = networks.only(figures.printed)
again = page.results(experiments.natural_retrained, optional=True)
dense_again, convolutional_again = (page.results(kind, plan=lambda scale: {}, optional=True) for kind in (
    experiments.dense_retrained, experiments.convolutional_retrained))      # of IV.E
page.text(natural, ranking.measured,
          "Networks measured so far: {counts}; a ranking needs all ten. Those of {data} were trained once "
          "each, for {epochs} epochs on {images_train} images; their test accuracy is {accuracy}. The "
          "published accuracy is reached by {reached}; the cells of the others decide no verdict. Each is "
          "attacked on {images_attack} test images; success is the share of flipped labels among those that "
          "the network classifies correctly.")

# %% [markdown]
# ### At the paper's strength the attack flips nearly every digit of our networks

# %%
page.text(natural, ranking.measured,
          "The paper's PGD, ε = 0.3 and 40 steps of 0.01, flips {text} of the digits: too many to order our "
          "networks. We therefore order them by a third of its strength, a third of ε and half of the steps, "
          "which flips {third}. This attack was chosen because it tells these networks apart, not because it "
          "comes near the published success.")
page.picture(
    natural, lambda runs: ranking.draw_success(runs, {"text": "the paper's attack",
                                                      "third": "a third of its strength"}),
    caption="MNIST: images whose label the attack flips, with 95% intervals over images, beside the "
            "published success of the paper's attack (L∞ form)",
    alt="A row a network: dots of the paper's attack near 100%, those of the weaker attack spread widely.")

# %% [markdown]
# ### ROBY does not order ten MNIST networks as the attack does
#
# ROBY adds the widths of two classes and subtracts their distance. *FSA* scores the widths alone, *FSD* the distances alone. Distances are Euclidean
# (L2) or the largest difference of a coordinate (L∞). The *unscaled overlap* is the mean overlap over the mean distance of centres
# ({ref}`Section III <chen-iii>`). The other
# quantities need no centre of a class: accuracy, mean margin (logit of the class minus the largest other), and distances to the boundary in random directions and along the gradient, itself a
# small attack. What should be larger for a robust network, such as accuracy or a distance, is turned round. So a dot at 1 means the order of the
# weaker attack, at −1 the opposite one. An interval that contains 0 does not show that two orders are related. Intervals are of single coefficients: all
# quantities are measured on the same ten networks, and among many intervals some exclude 0 by chance.

# %%
page.picture(natural, ranking.draw_ranks, caption=(
    "How ten MNIST networks are ordered, with 95% intervals over networks; the paper's tick is computed "
    "from its Table I"), alt="A row a quantity: ROBY's dots lie below 0, the paper's ticks at 1.")
page.text(natural, ranking.answer,
          "Of {quantities} quantities, these have an interval without 0: {clear}.")

# %% [markdown]
# ### Single trainings cannot rank the MNIST architectures by ROBY
#
# One network, trained again with other seeds, shows how much of a difference between architectures is chance. Lines show how far ROBY moves with
# other test images.

# %%
page.picture((natural, again), ranking.draw_spread, caption=(
    "ROBY of one network trained several times, and of different architectures trained once (lines: 95% "
    "intervals over test images)"), alt="For each data set, rows of dots: trainings of one network, "
                                        "architectures trained once, the paper's.")
page.text((natural, again), ranking.spread,
          "On {data} the standard deviation of ROBY is {seeds.sd:.3f} over {seeds.n} trainings of {model} "
          "(95% interval {seeds.low:.3f} to {seeds.high:.3f}) and {all.sd:.3f} over {all.n} architectures "
          "({all.low:.3f} to {all.high:.3f}). If other architectures vary as {model} does, two trainings of "
          "one network are expected to differ by up to about {limit:.2f} (95%, by Student's t of {seeds.n} "
          "trainings). The difference is larger for {apart} of the {pairs} pairs of architectures. Whether "
          "ROBY follows the attack from training to training, these few cannot say: over the {seeds.n} "
          "trainings their rank correlation is {rank:.2f}, and the weaker attack flips {flipped}.")
for other in ("Fashion-MNIST", "CIFAR-10"):
    page.text((natural, again), lambda *frames, data=other: ranking.spread(*frames, data=data),
              "On {data} this limit is {limit:.2f}, and {apart} of {pairs} pairs differ by more.")
page.extra("retrained", (natural, again, dense, dense_again, convolutional, convolutional_again),
           ranking.retrained, "ROBY over trainings of one network that differ in the seed alone",
           header=ranking.RETRAINED, fold="How far another training moves ROBY, by network")

# %% [markdown]
# ## Where it differs, and why
#
# - *Features and classes.* The text fits the logits or the layer before, and names the predicted class (“classification result”). The authors' later code takes logits and the true
#   class, as we do. Neither these nor softmax outputs give the paper's order on MNIST.

# %%
page.text(natural, ranking.answer,
          "Of {tried} combinations of features, classes, norms and attacks, {above_0} give an interval above "
          "0 and {below_0} one below; all use the same ten networks, so that chance moves many of them "
          "together.")
page.extra("by-features", natural, ranking.by_features,
           "Rank correlation of ROBY with attack success, by features and classes, over ten MNIST "
           "networks (95% interval over networks; perfect: 1)", header=ranking.READINGS,
           fold="ROBY by features and classes")

# %% [markdown]
# - *The attack.* The later code takes 10 steps of length 2, far longer than ε, so that each ends at the edge of the same ball. It also lets a digit
#   become brighter than white.

# %%
page.text(natural, ranking.answer,
          "The rank correlation of its success with that of our weaker attack is {apart}: even two attacks "
          "need not order these networks alike. ROBY (L2) has {logits.code_2} with the later code's attack "
          "and {logits.third_2} with ours.")
page.extra("attacks", natural, ranking.attacks,
           "Success of each attack, lowest to highest, beside the published success of its norm (L∞ or L2); "
           "rank correlations with 95% intervals over networks", header=ranking.ATTACKS,
           fold="Success of each attack")
page.extra("suspects", suspects, ranking.suspected,
           "Ways to understand the text's attack on MNIST: share of the correctly classified images that are "
           "flipped, in percent, and the mean absolute deviation from the published success, in points",
           header={"reading": "attack"} | {name: name for name in ("LeNet", "MobileNetV2", "SqueezeNet")} | {
               "deviation": "mean deviation"}, fold="Other ways to understand the text, on three networks")
page.text(suspects, ranking.of_suspects,
          "We tried other ways to understand the text's attack on {networks} networks. The best, *{best}*, "
          "is {off:.1f} points off the published success on average, the text's own {text:.1f}. By {{ref}}`a "
          "rule fixed beforehand <which-pgd>` {taken} in our tables. Why the attack flips more digits here "
          "than in the paper is not known.")

# %% [markdown]
# ## Three things to remember
#
# 1. An attack that flips everything says nothing about which network is more robust.
# 2. Before architectures are ranked by a score, each should be trained several times: one training again can move the score as far as another
#    architecture.
# 3. On ten MNIST networks, measured distances to the boundary have the highest rank correlations with the attack; the one along the gradient is
#    itself a small attack.
#
# ## Try it
#
# 1. In the cell above, train for 20 and for 1,000 steps. Does ROBY still change after 100 steps? Does the share at ε = 0.03?
# 2. `torch.manual_seed(1)` to `5`: by how much does ROBY of the same network move?
# 3. `low=-1.0` in the call of `pgd`: why does the assertion below the cell fail?

# %%
display.show(display.folded("Answers", (
    "1. Both still rise after 100 steps, more slowly than before.\n"
    "2. By a few hundredths; the share of flipped labels at ε = 0.03 moves by about two points.\n"
    "3. Pixels then leave the range, which the fast code does not allow.")))

# %% [markdown]
# ## Item by item
#
# Tables I to IV, Figures 2 to 4 and the equation of the correlation stand on {ref}`a page of their own <chen-iv-c-tables>`, with the choices that
# the paper leaves open.
#
# ### PGD and training (procedure)
#
# PGD climbs the cross-entropy in steps of fixed length and returns to the ball of size $\epsilon$ after each step. Its L∞ form steps
# along the sign of the gradient. For its L2 form the paper says only that steps follow the gradient. The check attacks one digit by `pgd` of the
# step-by-step cell, with the paper's 40 steps of 0.01, and with three errors that we built in. The check covers the L∞ attack on one digit, but
# neither the L2 form nor the training.

# %%
paper = experiments.attacks_on("mnist")["text"]       # 40 steps of 0.01 in a ball of 0.3
chance = paper.draw(x[:1], torch.Generator().manual_seed(2))
ERRORS = ({"direction": lambda slope: slope / slope.norm()},
          {"direction": lambda slope: -slope.sign()}, {"low": -1.0})
same, *changed = [(pgd(x[:1], y[:1], x[:1] + chance, **{"size": 0.3, "step": 0.01, "steps": 40} | change)
                   - paper.propose(network, x[:1], y[:1], chance)[0]).abs().max().item()
                  for change in ({}, *ERRORS)]
page.statement("procedure-pgd-and-training", data={"steps": 40, "same_image": same < 1e-5},
               evidence=equality(same < 1e-5, changed=[difference > 1e-3 for difference in changed]))

# %%
best = page.best(natural, again)
facts = ranking.box_facts(*best)
page.box(
    "Does ROBY, a robustness score without an attack, rank networks as an attack does?",
    "It did not on our {networks} {data} networks; so few cannot exclude moderate agreement."
    if facts and facts["low"] <= 0 < facts["high"] else
    "Not our {networks} {data} networks: the two orders are not shown to agree."
    if not facts or facts["low"] <= 0 else
    "On our {networks} {data} networks, yes, in part: the orders are alike.",
    "ROBY's rank correlation with attack success (paper: {paper:.0f}) is {spearman:.2f} (95% "
    "interval {low:.2f} to {high:.2f}) with Euclidean distances, {linf.spearman:.2f} ({linf.low:.2f} to "
    "{linf.high:.2f}) with the largest difference of a coordinate. One network retrained has ROBY "
    "{seeds_low:.2f} to {seeds_high:.2f}, the ten {all_low:.2f} to {all_high:.2f}.",
    "We attacked at a third of the paper's strength; full strength flips nearly all.",
    facts=facts, results=[natural], picture=ranking.draw_box(*best) if facts else None,
    alt="Attack success and ROBY: a dot a network, small dots for further trainings of one of them; the "
        "dashed line joins the ends as equal orders would.")

# %%
page.finish()
