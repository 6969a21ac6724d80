# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-10
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
# (chen-iv-f)=
# # IV.F The cost of ROBY beside that of an attack
#
# *Chen et al. {cite:p}`chen2020`, Section IV.F*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks' random weights
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import pandas as pd

from papers.chen import cost, experiments, figures
from report import display
from report.page import start

page = start("chen/iv_f_cost", globals())

# %% [markdown]
# ## The idea
#
# {ref}`ROBY <chen-iii>` scores robustness from the outputs of the network on clean test images. Each image needs one *forward pass*, one
# evaluation of the network. The attack, *projected gradient descent* (PGD), changes each image in small steps, 40 on MNIST and Fashion-MNIST.
# Each step needs a forward pass and a *backward pass*, which computes the gradient. A backward pass takes at most about twice as long as a
# forward pass, so that the attack takes at most about 40 × 3 = 120 times as long as ROBY.
#
# The abstract says “only 1% of time cost”; Section IV.F says that ROBY takes less than a second for each model.

# %%
display.picture(
    cost.draw_passes(), "Passes over the test images, if a backward pass takes as long as two forward ones",
    "One block for ROBY above a row of forty pairs of blocks for PGD.")

# %% [markdown]
# ## Step by step: count the passes, and time them
#
# The cell counts and times the passes of a small network with random weights on 60 digits.

# %% tags=["show-input"]
from time import perf_counter

import torch
from torch import nn

from report import registry
from shared import roby
from shared.attacks.gradient import PGD
from shared.attacks.threat import Linf
from shared.data import standins

STEPS = 5, 10, 20, 40
digits = standins.digits()
x = torch.as_tensor(digits["x_test"][:60]).float() / 255
y = torch.as_tensor(digits["y_test"][:60]).long()
network = registry.build("chen-lenet", generator=torch.Generator().manual_seed(0), channels=1, size=28)
passes = {"forward": 0, "backward": 0}


def counted(name):
    def count(*_):
        passes[name] += 1
    return count


hooks = [network.register_forward_hook(counted("forward")),
         network.register_full_backward_hook(counted("backward"))]


def timed(function, *arguments):
    """Seconds, and the passes that were counted meanwhile."""
    passes.update(forward=0, backward=0)
    begin = perf_counter()
    function(*arguments)
    return perf_counter() - begin, dict(passes)


def attack(steps):
    z = x.clone()
    for _ in range(steps):
        z = z.detach().requires_grad_()
        slope, = torch.autograd.grad(nn.functional.cross_entropy(network(z), y, reduction="sum"), z)
        z = (x + (z.detach() + 0.01 * slope.sign() - x).clamp(-0.3, 0.3)).clamp(0, 1)
    return z


def score():
    with torch.no_grad():
        logits = network(x)
    return roby.roby(roby.layout(logits, y)).roby


attack(1)                                           # warm up
seconds, once = timed(score)
by_steps = {steps: timed(attack, steps) for steps in STEPS}

# %%
_, fast = timed(PGD(Linf(0.3), steps=STEPS[-1], step=0.01, random_start=False).propose, network, x, y, None)
assert once == {"forward": 1, "backward": 0}
assert by_steps[STEPS[-1]][1] == fast == dict.fromkeys(passes, STEPS[-1])
for hook in hooks:
    hook.remove()
figure, ax = plt.subplots(figsize=(4.8, 2.4))
times = [1000 * time for time, _ in by_steps.values()]
ax.plot(by_steps.keys(), times, "o-", color=display.PALETTE[1], label="PGD")
ax.axhline(1000 * seconds, color=display.PALETTE[0], label="ROBY")
ax.set(xlabel="steps of the attack", ylabel="milliseconds", ylim=(0, None))
ax.legend()
share = 100_000 * seconds / times[-1]
display.picture(figure, f"Time on the machine that built this page. ROBY takes {share:.1f}% of the time of "
                f"{STEPS[-1]} steps here", "A line that rises with the steps, and a flat one near zero.")

# %% [markdown]
# ROBY needs one forward pass and no backward pass, the attack one of each a step. The book's own PGD needs as many.
#
# ## What came out
#
# The networks of Table I are timed with random weights, since the operations are the same. ROBY and the attack see the same images, in float32, on
# one core of a CPU. Milliseconds cannot be compared with the paper's, because the paper does not state its hardware. The share of the attack's
# time depends on hardware less, and on the number of steps directly.

# %%
scale = page.scale(**experiments.COST)
timings = page.results(experiments.cost)


def say(template):
    """A sentence with numbers of `cost.shares`."""
    page.text(timings, lambda runs: cost.shares(cost.costs(runs)), template)


say("Each of the {of} networks is given {images} images; {passes} forward passes and {attacks} attacks on "
    "them are timed in turn. Times are medians, scaled to 10,000 images.")

# %% [markdown]
# ### ROBY takes a small fraction of the time of an attack of 40 steps

# %%
page.picture(timings, lambda runs: cost.draw_shares(cost.costs(runs)), caption=(
    "Time of ROBY with its forward pass, in percent of that of the attack. Grey: if a step took three "
    "forward passes"),
    alt="A row a network, a panel a data set: dots at and right of the grey line; the paper's tick among "
        "them on MNIST and Fashion-MNIST, far to the left on CIFAR-10.")
say("Over {networks} networks on {names} the ratio of mean times is {ratio:.2f}% (paper: {paper:.2f}%). "
    "It would be {expected:.2f}% if a step took three forward passes. ROBY's own computation takes at "
    "most {roby:.1f}% of its forward pass.")

# %% [markdown]
# ### The published times fit the stated 40 steps and imply far more than ten on CIFAR-10
#
# Implied steps are the published time of PGD, over that of ROBY, over the forward passes that a step costs here.

# %%
page.picture(timings, lambda runs: cost.draw_steps(cost.costs(runs)), caption=(
    "Steps that the published times imply, by mean times; lines: at the highest and the lowest cost of a "
    "step of a network"),
    alt="A row a data set: a dot with a range, and a tick where the paper states the number of steps.")
say("A step of PGD costs {all.least:.1f} to {all.most:.1f} forward passes here. In steps, the published "
    "times then imply {implied}; the paper states {steps}.")
say("They imply {colour.implied}. The paper states no number there; the {colour.steps} that we assume are "
    "those of the authors' later code.")

# %% [markdown]
# ## Where it differs, and why

# %%
say("On {colour.name} ROBY takes {colour.share:.1f}% of the attack's time (paper: {colour.paper:.1f}%). "
    "A longer attack would explain it: the published times imply more steps than we assume.")
say("{names} need the same computation. Their shares differ by {error:.0f}% in the median network and by "
    "{worst:.0f}% at most: a share on this page is no more exact than that.")

# %% [markdown]
# ## Three things to remember
#
# 1. A score from clean images costs one forward pass; an attack costs about two for each step.
# 2. A low cost says nothing about a ranking; {ref}`Section IV.C <chen-iv-c>` compares ROBY with an attack.
# 3. A time that was taken once can be far off; a comparison needs repeated timings.
#
# ## Try it
#
# 1. In the cell above, `STEPS = 1, 2, 4, 40`. Which share of the attack's time would ROBY take if one step were enough?
# 2. Take `x[:6]` and `y[:6]`: why does ROBY refuse?
# 3. Run the cell three times. By how much does the share move?

# %%
display.show(display.folded("Answers", (
    "1. A third to a half: one forward pass stands beside a forward and a backward one.\n"
    "2. Six images cannot cover ten classes; ROBY needs an image of each.\n"
    "3. By some ten percent or more: clock, cache and other programs count too.")))

# %% [markdown]
# ## Item by item
#
# ### Table X: time of ROBY and of PGD

# %%
PROXY = "proxy: one core of a CPU; the paper does not state its hardware"
NOT_MEASURED = "not measured: not all ten networks of the data set are timed"


def table_10(runs):
    """A row a data set: mean milliseconds over its ten networks."""
    whole = figures.complete(pd.DataFrame(cost.costs(runs)), figures.TEN)
    return [{"dataset": data, "status": PROXY, "pgd_ms": float(whole[data].pgd.mean()),
             "roby_ms": float((whole[data].forward + whole[data].roby).mean())} if data in whole else
            {"dataset": data, "status": NOT_MEASURED, "roby_ms": None, "pgd_ms": None}
            for data in experiments.DATASETS.values()]


page.table("table-10", timings, table_10)
page.extra("costs", timings, lambda runs: cost.table(cost.costs(runs)),
           "Times on one core, scaled to 10,000 images, and shares of the attack", header=cost.HEADER)

# %% [markdown]
# ### Choices that the paper leaves open
#
# :::{dropdown} Choices of this page
#
# | choice | ours | reason |
# |---|---|---|
# | what is timed of ROBY | the forward pass over the test images and both norms of ROBY | not stated |
# | images | the same for both, one batch; times are scaled to 10,000 images | not stated; ROBY is measured on 10,000 |
# | the attack | PGD in the ℓ∞ norm, without the evaluation of what it found | not stated |
# | weights | random | the operations are the same |
# | number format | float32 for both | not stated |
# | steps of the attack on CIFAR-10 | 10 | not stated; the later code takes 10 ({ref}`chen-iv-c-tables`), the published times imply more |
#
# :::

# %%
rows = cost.costs(page.best(timings))
facts = cost.shares(rows)
page.box(
    "Is ROBY, a robustness score without an attack, much cheaper than one?",
    "Yes: an attack of {steps} steps takes some {times.least:.0f} to {times.most:.0f} times as long.",
    "For {networks} networks on {names} ROBY takes {ratio:.1f}% of the attack's time ({low:.1f}% to "
    "{high:.1f}% by network; paper: {paper:.1f}%): one forward pass beside {steps} steps, each of "
    "{least:.1f} to {most:.1f} passes.",
    "On {colour.name} the share is {colour.share:.1f}% with {colour.steps} assumed steps (paper: "
    "{colour.paper:.1f}%, steps not stated)." if facts and facts["colour"] else
    "Times are those of one core of a CPU.",
    facts=facts, results=[timings], picture=cost.draw_shares(
        [row for row in rows if row["steps"] == cost.STEPS], guide=False) if facts else None,
    alt="A row a network, a panel a data set: the time of ROBY in percent of the attack's, with ticks at the "
        "paper's means.")

# %%
page.finish()
