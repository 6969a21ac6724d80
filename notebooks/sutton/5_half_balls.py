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
# (sutton-5)=
# # 5. Two half-balls: a small gap between classes hides attacks from noise of one radius
#
# *Sutton et al. {cite:p}`sutton2023`, Section 5*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the random trials
device: str = "auto"  # auto, cpu or cuda; nothing here needs more than a CPU
runs: str = "missing"  # this page has no runs
epsilon: float = 0.1  # distance of each half-ball from the plane (0..1]
n: int = 3072  # dimension of the answer and the table; 3072: 32 by 32 pixels in colour [2..]

# %% tags=["hide-cell"]
from scipy import optimize

from papers.sutton import explorer, sketches
from papers.sutton.theorem import PICTURE, by_chance, one_in
from papers.sutton.theory import models
from papers.sutton.theory.ball import tail
from papers.sutton.theory.statements import STATEMENTS
from report import display
from report.page import start

page = start("sutton/5_half_balls", globals())

# %% [markdown]
# ## The idea
#
# A unit ball is cut through its centre. One half holds class 0, its mirror image class 1, both evenly. If the flat sides touch, the plane between
# them separates the classes without a mistake. In high dimension nearly every point lies close to its flat side, so that a short attack flips it.
# Noise of one radius moves a typical point across the plane by about the point's distance from the plane, so it flips labels in every dimension.
#
# Now move each half back by $\epsilon$. An attack must be longer by $\epsilon$ only. Noise of length $\delta$ in $n$ dimensions still moves a point by only
# $\delta/\sqrt n$ or so across the plane, and this is soon much less than $\epsilon$. The paper concludes that the gap between typical points of the classes, the {term}`margin`, keeps tests with noise
# from finding that a classifier can be attacked.
#
# ## Step by step: half-balls with and without a gap
#
# Change the gap, the noise or the attack and run the cell again.

# %% tags=["show-input"]
import numpy as np

SAMPLES, HALF_GAP, NOISE, ATTACK, SHOWN = 1_000, 0.1, 1.0, 0.2, (2, 100, 3_072)
generator = np.random.default_rng(0)


def ball(n, radius=1.0):
    """Uniform points of a ball in n dimensions."""
    points = generator.standard_normal((SAMPLES, n))
    points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
    return points * generator.random((SAMPLES, 1)) ** (1 / n)


halves, counted = {}, {}
for dimension in SHOWN:
    # 1. Two classes: the halves of a ball, on both sides of the plane.
    label = np.arange(SAMPLES) % 2
    side = 2 * label - 1
    x = ball(dimension)
    x[:, 0] = side * np.abs(x[:, 0])
    # 2. Noise, if the flat sides touch, and if each half is moved back by HALF_GAP.
    noise = ball(dimension, NOISE)[:, 0]
    touching = ((x[:, 0] + noise >= 0) != label).mean()
    x[:, 0] += side * HALF_GAP
    apart = ((x[:, 0] + noise >= 0) != label).mean()
    # 3. The attack goes straight across the plane.
    safe = ((x[:, 0] - side * ATTACK >= 0) == label).mean()
    halves[dimension], counted[dimension] = [x[label == 0], x[label == 1]], [touching, apart, safe]

# %%
LONG = 10.0    # radius of the longest noise of this page
TRIES, RARE = 2000, 0.01    # noise samples around a point, and the share of points that is called rare here


def flipped(n, epsilon, delta):
    """Exact probability that noise changes the label."""
    return float(np.exp(models.log_half_balls(n, epsilon, delta)))


exact = {m: [flipped(m, 0.0, NOISE), flipped(m, HALF_GAP, NOISE), float(2 * tail(m, ATTACK - HALF_GAP))]
         for m in SHOWN}
display.picture(
    sketches.clouds({f"n = {m:,}": points for m, points in halves.items()}, names=("class 0", "class 1")),
    "Points of the two half-balls with a gap, and the plane (black).",
    "Panels for growing dimensions: two half discs with a gap, whose points draw together beside the gap.")
display.table(["dimension", "noise flips, without a gap", "noise flips, with a gap", "safe from the attack"],
              [[f"{m:,}", *(f"{one_in(share)} ({one_in(p)})" for share, p in zip(counted[m], exact[m]))]
               for m in SHOWN], f"Share of {SAMPLES:,} points, and the exact value in brackets.")
assert all(by_chance(counted[m], exact[m], SAMPLES) for m in SHOWN), \
    "the steps above and the page's exact values now differ"

# %% [markdown]
# ## What came out
#
# ### The gap stops noise of one radius, but not a short attack

# %%
reach = epsilon + 0.1
safe_from = float(np.exp(STATEMENTS["theorem-18"].log_exact(n=n, epsilon=epsilon, delta=reach)))
hiding = optimize.brentq(lambda e: models.log_half_balls(PICTURE, e, LONG, TRIES) - np.log(RARE),
                         0.0, 0.999 * LONG)    # the epsilon
display.table(["event", "exact value"], [
    ["noise as long as the radius flips a label, classes that touch", one_in(flipped(n, 0.0, 1.0))],
    [f"the same, gap of {2 * epsilon:g} radii", one_in(flipped(n, epsilon, 1.0))],
    [f"safe from every attack of {reach:g} radii, the same gap", one_in(safe_from)],
    [f"noise of {LONG:g} radii flips a label, the same gap", one_in(flipped(n, epsilon, LONG))]],
    f"Two half-balls in {n:,} dimensions")

# %% [markdown]
# ### What counts is the distance that nearly all points keep
#
# Noise hardly ever flips a label if nearly all points lie several times farther from the plane than the noise moves them. In half-balls that touch,
# most points lie about as near as the noise moves them, in every dimension. A gap keeps all points away. Balls that overlap
# ({ref}`Section 4.2 <sutton-4-2>`) have no gap, and yet keep nearly all points away, since their centres lie off the plane.

# %%
overlapping = one_in(float(np.exp(models.log_two_balls(n, epsilon, 1.0))))
display.say(f"With {epsilon:g} radii from the plane to each centre or flat side, noise as long as the radius "
            f"flips {overlapping} points of the balls that overlap, and {one_in(flipped(n, epsilon, 1.0))} "
            "of the half-balls with a gap. Half of the points of the balls lie nearer to the plane than "
            f"{epsilon:g} radii or beyond it, none of the half-balls.")

# %% [markdown]
# ### The longer the noise, the wider the gap must be
#
# A typical point is about $1/\sqrt n$ deep in its half-ball, and noise adds about $\delta/\sqrt n$ across the plane. So noise rarely flips a label
# if $\epsilon$ is a few times $\delta/\sqrt n$. Choose a model, the distance $\epsilon$ and the noise radius $\delta$ with the sliders (mouse, or Tab
# and arrow keys). Here $\epsilon$ is half the gap of the half-balls, and half the distance of the centres of the two balls. The curves run over the
# dimension: the solid one is the exact probability, the dashed and the dotted one are the bounds of the theorems. The values below are those at the
# dimension of the dotted vertical line.

# %%
display.piece(explorer.noise())
display.say(f"In {PICTURE:,} dimensions, {TRIES:,} noise samples of {LONG:g} radii flip the label of "
            f"only {RARE:.0%} of the points once each half is {hiding:.2f} radii from the plane.")

# %% [markdown]
# ## Where it differs, and why
#
# *The limit is ours.* Theorem 20 bounds from below the probability that noise flips a label if the classes touch; the bound is not the limit. Let
# $x_1$ and $s_1$ be the coordinates of the point and the noise across the plane. Over both classes, $\sqrt n\,x_1$ and $\sqrt n\,s_1$ are independent
# and, in high dimension, nearly normal variables of mean zero, the second scaled by $\delta$. The label flips if the second is the larger one in
# absolute value and has the opposite sign. The ratio of two such variables has a Cauchy distribution, so the limit is $\arctan(\delta)/\pi$ (dotted
# in Figure 6). At $\delta = 1$, where noise and data have the same size, the probability is ¼ in every dimension. For small $\delta$ the limit falls
# in proportion to $\delta$, the bound with $\delta^2$.

# %%
bound = float(np.exp(STATEMENTS["theorem-20"].log_bound(n=sketches.DIMENSIONS[-1], delta=1.0)))
display.say(f"At δ = 1 the bound of Theorem 20 is {bound:.0%} in high dimension, the limit "
            f"{models.half_balls_limit(1.0):.0%}.")

# %% [markdown]
# ## Three things to remember
#
# 1. In high dimension classes that touch are easy to attack, and noise shows it.
# 2. A gap that is short for an attack is wide for noise, because noise moves a point across the plane by only about its length over $\sqrt n$.
# 3. Passing a test with noise can mean a gap between the classes, not robustness.
#
# ## Try it
#
# 1. `HALF_GAP = 0.01` in the cell above. Which share does noise flip in the largest dimension?
# 2. `NOISE = 3.0` with `HALF_GAP = 0`: which share does noise flip, and does it depend on the dimension?
# 3. From which dimension on does noise as long as the radius flip less than one in a million, with the gap of this page?

# %%
late = sketches.around(models.log_half_balls(sketches.DIMENSIONS, epsilon, 1.0) < np.log(1e-6))
display.show(display.folded("Answers", (
    f"1. {one_in(flipped(PICTURE, 0.01, 1.0))}.\n2. {one_in(flipped(2, 0.0, 3.0))} in two dimensions, "
    f"{one_in(flipped(PICTURE, 0.0, 3.0))} in {PICTURE:,}.\n"
    f"3. From a dimension {late} on.")))

# %% [markdown]
# ## Item by item
#
# Theorems 18 to 20, Definitions 21 and 22 of Section 6.5, Equation 5 and Figures 6 and 7 stand on {ref}`a page of their own <sutton-5-tables>`,
# with the choices that the paper leaves open.

# %%
far = f"gap of {2 * epsilon:g} radii, noise ten times as long"
shares = {"classes that touch": np.exp(models.log_half_balls(sketches.DIMENSIONS, 0.0, 1.0)),
          f"gap of {2 * epsilon:g} radii": np.exp(models.log_half_balls(sketches.DIMENSIONS, epsilon, 1.0)),
          far: np.exp(models.log_half_balls(sketches.DIMENSIONS, epsilon, LONG))}
page.box(
    "Why can noise miss what an attack finds?",
    "In high dimension noise moves little towards the boundary: a small gap stops it, not a short attack.",
    "Two classes fill facing half balls of {n:,} dimensions, the boundary halfway. If they touch, noise of "
    "one radius flips {touch:.0f}%. With a gap of {gap:g} radii it flips {left}, noise of ten radii "
    "{long:.0f}%, an attack of {reach:g} radii {attack}.",
    "Calculated exactly; gaps between real classes are unknown.",
    facts={"n": n, "touch": 100 * flipped(n, 0.0, 1.0), "gap": 2 * epsilon,
           "left": one_in(flipped(n, epsilon, 1.0)), "long": 100 * flipped(n, epsilon, LONG), "reach": reach,
           "attack": "nearly all" if safe_from < RARE else f"{1 - safe_from:.0%}"},
    picture=sketches.falling(shares, "labels flipped by noise", grey=[far]),
    alt="Where the classes touch, the share of labels that noise flips is the same in every dimension; "
        "with a gap it falls to almost nothing.")

# %%
page.finish()
