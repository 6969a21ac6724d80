# ---
# jupyter:
#   boundary_book:
#     items:
#     - figure-6
#     - figure-7
#     - theorem-18
#     - theorem-19
#     - theorem-20
#     - definition-21
#     - definition-22
#     - equation-5
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
# # 5. Two half-balls: random noise with and without a margin
#
# *Sutton et al. {cite:p}`sutton2023`, Section 5*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the random trials
device: str = "auto"  # auto, cpu or cuda; nothing here needs more than a CPU
units: str = "missing"  # this page has no runs
draws: int = None  # random trials per case; None takes the profile's value [1..]
epsilon: float = 0.1  # half of the margin: the distance of each class from the plane, in the pictures (0..1]
n: int = 3072  # dimension of Figure 7; 3072 numbers make a colour picture of 32 by 32 pixels [2..]

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy import optimize

from papers.sutton import curves, explorer
from papers.sutton.theorem import PICTURE, check
from papers.sutton.theory import limits, models, surfaces
from papers.sutton.theory.ball import sample_points, tail
from papers.sutton.theory.quadrature import cap_share, crossing
from papers.sutton.theory.statements import STATEMENTS
from report import display
from report.evidence import equality
from report.page import numpy_generator, start

run = start("sutton/5_half_balls", globals())
scale = run.scale(smoke=dict(draws=5_000), quick=dict(draws=100_000), paper=dict(draws=100_000))
DIMENSIONS = np.unique(np.geomspace(1, 200_000, 60).round().astype(int))
LAST = int(DIMENSIONS[-1])
TRIED = (1, 2, 5, 10, 30, 100, 300, 1000, 3072, 10_000, 50_000, 200_000)  # dimensions with random trials
DELTAS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


def flipped(n, epsilon, delta, samples=1):
    """Exact probability that at least one of these samples of noise changes the label."""
    return float(np.exp(models.log_half_balls(n, epsilon, delta, samples)))


# %% [markdown]
# ## The model
#
# Two classes may touch. In high dimension nearly every point is then still easy to attack, but random noise flips labels as well, in
# every dimension. The paper
# shows this with two half-balls. It concludes that the margin between classes is what keeps random tests from finding that a classifier
# can be attacked. This page computes the probabilities exactly, finds their limit, and ends with the two notions of stability of
# Section 6.5.
#
# A unit ball of $\mathbb R^n$ is cut through its centre. One half, moved back by $\epsilon$ from the plane
# $x_1 = 0$, holds class 0, its mirror image class 1; both are filled evenly. The classes are $2\epsilon$
# apart, and the plane between them separates them without a mistake.
#
# ## Protocol, and what the paper leaves open
#
# The formulas of this section are missing in the text at hand. [derived] means proved again from the words
# of the appendix, [inferred] forced by what is printed, [assumed] a harmless choice, [lost] not to be
# recovered.
#
# | open | here | tag |
# | --- | --- | --- |
# | what $\epsilon$ is | the distance of each flat face from the plane | [assumed] |
# | Theorems 18 to 20 | proved again along the lines of Appendix C, then checked | [derived] |
# | auxiliary constants in the proof of Theorem 20 | not needed: the bound is shown in a form that holds for each $n$ | [lost] |
# | parameters of Figure 6 | $\epsilon = 0$, and the parameter `epsilon` of this page beside it; $\delta$ = 0.1, 1, 10; $n$ from 1 to 200,000 | [lost], ours |
# | Definitions 21 and 22 | stable: no perturbation up to $\delta$ changes the label; stable with confidence $\upsilon$: noise keeps it with probability at least $\upsilon$ | [derived] |
#
# What *exact* and *bound not violated* mean for a bound, and what mutants and extremal examples are, is said on
# {doc}`the opening page </book/sutton>`. A difference of up to $10^{-8}$ counts as rounding: of an exact value beyond its bound (in
# logarithms), or between two ways to compute it (relative).
# For Figure 6 and the definitions the page says what was compared. $\tau_n(x)$ is the share of the $n$-dimensional unit ball beyond a
# plane at distance $x$ from its centre; $\Phi$ and $\phi$ are the standard normal distribution function and density.
#
# ## Equation 5: the classifier
#
# The classifier assigns the side of the plane on which a point lies. It must classify every random point of the half-balls correctly:
#
# $$f(x) = \begin{cases} 0 & \text{if } x_1 < 0, \\ 1 & \text{otherwise.} \end{cases}$$ (sutton-eq-5)

# %%
def mislabelled(n, epsilon):
    """Points of the half-balls that the classifier of equation 5 gets wrong."""
    x1, label = models.half_balls(n, epsilon, scale.draws, numpy_generator(run, "labels", n, epsilon))
    return int((models.classify(x1) != label).sum())


wrong = {f"n = {d}, epsilon = {e:g}": mislabelled(d, e) for d in (1, 30, 3072) for e in (0.0, epsilon)}
equation_5 = run.statement("equation-5", data={"points_per_case": scale.draws, "cases": len(wrong),
                                               "mislabelled": sum(wrong.values())},
                           evidence=equality(within_allowed=True, violations=sum(wrong.values())))

# %% [markdown]
# ## Theorem 18: the share of attackable points
#
# $$\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge 1-(1-(\delta-\epsilon)^2)^{n/2}$$
#
# for $\epsilon \ge 0\text{ and }\epsilon \le \delta \le 1 + \epsilon$ [derived].
#
# *Proof idea.* A point is out of reach of all attacks of length $\delta$ only if it is deeper than
# $\delta - \epsilon$ in its half-ball. These points form a cap, and the cap fits into a half ball of radius
# $\sqrt{1-(\delta-\epsilon)^2}$ (Lemma 23). In high dimension a cap at any fixed depth holds almost
# nothing. Only the norm of the attack beyond $\epsilon$ matters, not the margin.

# %%
theorem_18 = check(run, "theorem-18", again=lambda n, epsilon, delta: 2 * cap_share(n, delta - epsilon))

# %% [markdown]
# ## Theorem 19: noise with a margin
#
# $$\Pr(f(x+s)\ne\ell) \le \tfrac12\left(1-\frac{\epsilon^2}{\delta^2}\right)^{n/2}$$
#
# for $\delta > 0$, $0 \le \epsilon \le \delta$ [derived].
#
# *Proof idea.* Every point is at least $\epsilon$ from the plane, so noise must cover at least $\epsilon$
# along the normal. Whatever the point, the chance is no larger than the cap of the noise ball beyond
# distance $\epsilon$, and Lemma 23 bounds that cap. Half-balls far from the plane only help. At
# $\epsilon = 0$ the bound is ½ in every dimension and says nothing.

# %%
theorem_19 = check(
    run, "theorem-19", again=lambda n, epsilon, delta: crossing(n, epsilon, delta, 0.0),
    extra={"dimensions": list(TRIED), "bound_without_margin": np.exp(STATEMENTS["theorem-19"].log_bound(
        n=np.array(TRIED), epsilon=0, delta=1)).tolist()})


# %% [markdown]
# ## Figure 6: with and without a margin
#
# How often does noise change the label when the classes touch, and when a margin lies between them?

# %%
def curve(delta, epsilon):
    """Probability over n that noise of length up to delta changes the label, with bound and random trials."""
    return curves.over_dimension(
        "theorem-19", dimensions=DIMENSIONS, trial_dimensions=TRIED, draws=scale.draws,
        generator=numpy_generator(run, "figure-6", delta, epsilon), epsilon=epsilon, delta=delta)


SHOWN = (0.1, 1.0, 10.0)
without = {delta: curve(delta, 0.0) for delta in SHOWN}
margin = {delta: curve(delta, epsilon) for delta in SHOWN if delta > epsilon}


def draw_figure_6():
    """Figure 6 with its counterpart for a positive margin."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
    for color, (delta, level) in zip(display.PALETTE, without.items()):
        curves.draw_curve(left, {**level, "bound": np.full(len(level["n"]), np.nan)}, color, f"δ = {delta:g}")
        left.axhline(limits.half_balls_limit(delta), color=color, ls=":")
        if delta in margin:
            curves.draw_curve(right, margin[delta], color, f"δ = {delta:g}")
    left.set(xscale="log", ylim=(0, 0.55), xlabel="dimension n",
             ylabel="probability that noise changes the label", title="no margin (ε = 0)")
    right.set(xscale="log", yscale="log", ylim=(1e-6, 1.5), xlabel="dimension n",
              title=f"margin ε = {epsilon:g}")
    right.legend(loc="lower left")
    left.legend(loc="upper right", bbox_to_anchor=(1, 0.85))
    return figure


# of every sixth exact value, to another integration where that holds (above 1e-12)
twice = [(value, crossing(n, margin_, delta, 0.0))
         for family, margin_ in ((without, 0.0), (margin, epsilon)) for delta, c in family.items()
         for n, value in zip(c["n"][::6], c["exact"][::6])]
off = max(abs(a / b - 1) for a, b in twice if b > 1e-12)
figure = draw_figure_6()
axis = figure.axes[0]
levels = [line.get_ydata() for line in axis.lines if len(line.get_xdata()) == len(DIMENSIONS)]
levels = [y for y in levels if not np.isnan(y).any()]    # without the places of the bounds, not drawn here
figure_6 = run.figure(
    "figure-6", (), lambda: figure, evidence=equality(off <= 1e-8),
    caption="Sutton et al., Figure 6: probability that random noise changes the label, over the dimension, "
            "for half-balls that touch (left) and with a margin (right). Lines: exact; dashed: bound of "
            "Theorem 19; circles: random trials with their 95% intervals; dotted: the limit arctan(δ)/π.",
    alt="Left: three nearly level curves over the dimension, at their limits. Right: curves that start "
        "level and then fall steeply.",
    data=lambda: {"dimensions": list(TRIED),
                  "trials_without_margin": {f"{d:g}": ((c["low"] + c["high"]) / 2).tolist()
                                            for d, c in without.items()},
                  "exact_without_margin": {f"{d:g}": [float(c["exact"].min()), float(c["exact"].max())]
                                           for d, c in without.items()},
                  "exact_with_margin_at_largest_n": {f"{d:g}": float(c["exact"][-1])
                                                     for d, c in margin.items()},
                  "intervals_that_contain_the_exact_value": curves.inside(without[1.0])},
    contains={"x: dimension": axis.get_xlabel() == "dimension n" and axis.get_xscale() == "log",
              "y: probability": axis.get_ylabel() == "probability that noise changes the label",
              "zero-margin curve": len(levels) == len(SHOWN)
              and all(np.ptp(y) < 0.5 * np.max(y) for y in levels)},
    note="The paper's parameters are lost; the curves are exact, the circles random trials.")

# %% [markdown]
# ## Theorem 20: noise without a margin
#
# $$
# \begin{aligned}
# &\Pr(f(x+s)\ne\ell) \ge \sup_{p\in(0,1)} p\,\tau_n(\beta_p/\delta),\\
# &\quad \beta_p=\sqrt{1-(1-p)^{2/n}};\\
# &\quad n\to\infty: \sup_p p\left(1-\Phi\left(\tfrac1\delta\sqrt{-2\ln(1-p)}\right)\right)
# \end{aligned}
# $$
#
# for $\delta > 0$ [derived].
#
# *Proof idea.* In high dimension nearly all points lie within about $1/\sqrt n$ of the plane: a slab of
# half-width $\beta_p$ holds at least the share $p$ of them, with $\beta_p^2 = 1-(1-p)^{2/n}$. Noise moves a
# point by about $\delta/\sqrt n$ along the normal, which is the same order. So a point of the slab crosses
# with a chance that does not shrink, at least the cap beyond $\beta_p/\delta$. For large $n$ the cap
# becomes a tail of the normal law $\Phi$, and $p$ is chosen to make the product large.
#
# The first formula holds for each $n$; the second is its limit and, as far as the surviving words tell, the form of the paper's
# statement.

# %%
flips = {f"flipped_{where}": {f"{d:g}": flipped(dimension, e, d) for d in DELTAS[1:]}
         for where, dimension, e in (("without_margin", LAST, 0.0), ("with_margin", LAST, epsilon),
                                     ("at_picture", PICTURE, epsilon))}
attackable = 1 - float(np.exp(STATEMENTS["theorem-18"].log_exact(
    n=LAST, epsilon=epsilon, delta=epsilon + 0.1)))
theorem_20 = check(run, "theorem-20", again=lambda n, delta: crossing(n, 0.0, delta, 0.0), extra={
    "n": LAST, "epsilon": epsilon, **flips, "attackable_with_margin": attackable})

# %% [markdown]
# ## Beyond the paper: the limit itself
#
# The bound of Theorem 20 need not be the end. In high dimension $\sqrt n\,x_1$ and $\sqrt n\,s_1$ are two
# independent normal numbers, the second scaled by $\delta$. The label flips if the second is the larger one in absolute value and has
# the opposite sign. The ratio of two normal numbers is a Cauchy number, so the limit is
# $\arctan(\delta)/\pi$. With the next term:
#
# $$\Pr(f(x+s)\ne\ell) = \frac{\arctan\delta}{\pi} - \frac{\delta(1-\delta^2)}{2\pi n(1+\delta^2)^2} + O(n^{-2}) .$$ (sutton-arctan)
#
# At $\delta = 1$, where noise and data have the same size, the probability is ¼ in every dimension. The
# same line of proof gives a sharper bound than that of Theorem 20 as reconstructed: the share of points in the slab
# $|x_1|\le q/\sqrt n$ tends to $2\Phi(q)-1$, and using this number instead of its bound $1 - e^{-q^2/2}$
# gives
#
# $$\liminf_{n\to\infty} \Pr(f(x+s)\ne\ell) \ge \sup_{q>0}\,(2\Phi(q)-1)\,\Phi(-q/\delta) ,$$ (sutton-sharper)
#
# which for small $\delta$ falls in proportion to it, as the limit does, whereas the bound of Theorem 20 as reconstructed falls with $\delta^2$. All
# of this is ours [derived].

# %%
ORDERS = (10, 100, 1000)
delta = np.array(DELTAS)
limit = limits.half_balls_limit(delta)
paper_bound, sharper = limits.no_hiding_place(delta), limits.no_hiding_place(delta, sharper=True)
exact = np.exp(models.log_half_balls(np.array([[1], *([k] for k in ORDERS)]), 0.0, delta))
display.table(["δ", "Theorem 20", "sharper", "limit", "n = 1", *(f"n = {k:,}" for k in ORDERS)],
              [[f"{row[0]:g}", *(f"{v:.5f}" for v in row[1:])]
               for row in zip(delta, paper_bound, sharper, limit, *exact)],
              "Half-balls without a margin: the bound of Theorem 20 as reconstructed, for large n, the "
              "sharper one, the limit, and exact probabilities.")
left_over = np.abs(exact[-1] - limits.half_balls_expansion(ORDERS[-1], delta)).max()
display.say(f"The two terms predict the exact values at n = {ORDERS[-1]:,} to within "
            f"{display.number(float(left_over), digits=2)}.")

# %% [markdown]
# ## Beyond the paper: how small a margin is enough?
#
# The distance of a typical point, and what noise adds along the normal, are of the order $1/\sqrt n$. So noise rarely flips a label if
# $\epsilon$ is a few times that. The experiments of the paper try 2,000 noise samples around each image; the table has the $\epsilon$ at
# which at least one of them flips the label of only 1% of the points.

# %%
TRIES, RARE = 2000, 0.01    # samples around a point, and the share of points that is called rare here
SIZES = {"28 × 28 grey": 784, "32 × 32 colour": PICTURE, "224 × 224 colour": 150_528}


def hiding_margin(n, delta):
    """The epsilon at which one of these samples of noise changes the label of just this share of points."""
    return optimize.brentq(lambda e: models.log_half_balls(n, e, delta, TRIES) - np.log(RARE),
                           0.0, 0.999 * delta)


display.table(["δ", *(f"{name}, n = {k:,}" for name, k in SIZES.items())],
              [[f"{d:g}", *(f"{hiding_margin(k, d):.4f}" for k in SIZES.values())] for d in DELTAS[1:]],
              f"Half of the margin, ε, at which at least one of {TRIES:,} noise samples of size δ (in radii "
              f"of the class) flips the label of {RARE:.0%} of the points.")


# %% [markdown]
# ## Move it yourself
#
# Choose a model, a margin and a noise size with the sliders (mouse, or Tab and arrow keys). The curves run
# over the dimension; the values below are those at the dimension of the dotted line. All values are exact
# and computed in advance; nothing is drawn at random.

# %%
def noise_explorer():
    """Exact values and bounds of Theorems 6, 19 and 20 on a grid, as a figure with sliders."""
    ns = sorted({*np.geomspace(1, 200_000, 34).round().astype(int).tolist(), 784, 3072, 150_528})
    epsilons, deltas = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5], [0.05, 0.1, 0.2,
                                                                0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    grid = np.ix_(np.array(ns, float), epsilons, deltas)
    n, e, d = grid
    reach, touch = e <= d, np.broadcast_to(e == 0, np.broadcast_shapes(n.shape, e.shape, d.shape))
    halves = STATEMENTS["theorem-19"].log_bound(n=n, epsilon=np.minimum(e, d), delta=d)
    upper = {"two balls": STATEMENTS["theorem-6"].log_bound(n=n, epsilon=e, delta=d),
             "half-balls": np.where(reach, halves, -np.inf)}
    truth = {"two balls": models.log_two_balls(n, e, d), "half-balls": models.log_half_balls(n, e, d)}
    lower = {"two balls": np.full(touch.shape, np.nan),
             "half-balls": np.where(touch, STATEMENTS["theorem-20"].log_bound(n=n, delta=d), np.nan)}
    return explorer.Explorer(
        "noise", "Does noise change the label?",
        {"dimension n": ns, "margin ε": epsilons, "noise δ": deltas, "model": list(truth)},
        {label: np.stack([np.broadcast_to(v, touch.shape) for v in values.values()], axis=-1) / np.log(10)
         for label, values in (("exact probability", truth), ("upper bound (Theorem 6 or 19)", upper),
                               ("lower bound (Theorem 20, ε = 0)", lower))})


display.piece(noise_explorer())

# %% [markdown]
# (sutton-6-5)=
# ## 6.5 Two notions of stability
#
# The first notion is about the worst perturbation, the second about a typical one: where some perturbation flips the label, a point
# is {term}`unstable`, and yet it can be {term}`stable` with confidence. For a plane at distance $a$ from
# $x$ both are solved by hand: stable means $a > \delta$, and the confidence is one minus the cap of the
# noise ball beyond $a$. Below, both definitions are evaluated at points of the two-ball model.
#
# ## Definition 21: stable against every perturbation
#
# A classifier is $\delta$-*stable* at $x$ if no perturbation of norm up to $\delta$ changes the label:
#
# $$f(x+s) = f(x) \quad\text{for all } s\in\mathbb B^n_\delta .$$ (sutton-def-21)
#
# It is tried by measuring the distance to the surface and, independently, by making the strongest attack.

# %%
PUSHES = (0.5, 0.9, 1.0, 1.1, 1.5)  # of epsilon


def stable_share(n, push, generator):
    """Share of points of the two balls stable against pushes up to `push`: measured, exact, disagreements."""
    x1, _ = models.two_balls(n, epsilon, scale.draws, generator)
    stable = surfaces.is_stable(surfaces.flat(), 0.0, x1, push)
    answer = models.classify(x1)
    attacked = models.classify(models.strongest_attack(x1, answer, push))
    exact = 1 - tail(n, epsilon - push) + tail(n, epsilon + push)
    return float(stable.mean()), float(exact), int((stable != (attacked == answer)).sum())


shares = {d: [stable_share(d, f * epsilon, numpy_generator(run, "stable", d, f)) for f in PUSHES]
          for d in (30, 3072, 200_000)}
display.table(["n", *(f"{f:g} ε" for f in PUSHES)],
             [[f"{d:,}", *(f"{exact:.4f}" for _, exact, _ in row)] for d, row in shares.items()],
             f"Definition 21: exact share of the points of two balls (ε = {epsilon:g}) that are stable "
             f"against every perturbation up to this norm.")
disagree = sum(bad for row in shares.values() for _, _, bad in row)
definition_21 = run.statement(
    "definition-21", evidence=equality(within_allowed=True, violations=disagree),
    data={"epsilon": epsilon, "pushes": list(PUSHES), "disagreements": disagree,
          "share_measured": {str(d): [m for m, _, _ in row] for d, row in shares.items()},
          "share_exact": {str(d): [e for _, e, _ in row] for d, row in shares.items()}},
    note="A violation would be a point where the distance to the surface and the strongest attack disagree.")


# %% [markdown]
# ## Definition 22: stable with confidence
#
# A classifier is $\delta$-*stable with confidence* $\upsilon$ at $x$, for noise drawn from a law $\mu$ on
# $\mathbb B^n_\delta$, if
#
# $$\Pr_{s\sim\mu}\big(f(x+s) = f(x)\big) \ge \upsilon .$$ (sutton-def-22)
#
# It is tried with random noise in all $n$ coordinates.

# %%
def confidences(n, factor, generator, points=40, samples=1000):
    """Confidence of points against noise of `factor` epsilon: measured, its interval, and the exact one."""
    x = sample_points(n, points, generator)
    x[:, 0] -= epsilon
    noise = sample_points(n, samples, generator, radius=factor * epsilon)
    found = [surfaces.stability_confidence(lambda y: models.classify(y[:, 0]), point, noise) for point in x]
    exact = 1 - tail(n, np.minimum(np.abs(x[:, 0]) / (factor * epsilon), 1.0))
    return [{"measured": f.value, "low": f.low, "high": f.high, "exact": float(e)} for f,
            e in zip(found, exact)]


tested = [row for d in (3, 30, 300) for factor in (2, 5, 10)
          for row in confidences(d, factor, numpy_generator(run, "confidence", d, factor))]
# With this many intervals some miss by chance: what counts is a distance that chance does not explain.
missed = [r for r in tested
          if abs(r["measured"] - r["exact"]) > 5 * np.sqrt(r["exact"] * (1 - r["exact"]) / 1000) + 5 / 1000]
definition_22 = run.statement(
    "definition-22", evidence=equality(within_allowed=True, violations=len(missed)),
    data={"points": len(tested), "beyond_five_standard_errors": len(missed),
          "intervals_that_contain_the_exact_value": float(np.mean([r["low"] <= r["exact"] <= r["high"]
                                                                   for r in tested])),
          "confidence_at_distance_epsilon": {f"n = {d}, delta = {f} epsilon": float(1 - tail(d, 1 / f))
                                             for d in (30, 3072, 150_528) for f in (2, 10)}},
    note="A violation would be a point whose confidence, measured with 1,000 noise samples in all "
         "coordinates, is more than five standard errors from one minus a cap.")


# %% [markdown]
# ## Figure 7: a typical point
#
# The figure shows points of the two balls in many dimensions: the horizontal axis is the first coordinate, the
# vertical axis the norm of all the others. In these two numbers nothing is distorted that matters here. Nearly
# all points sit at the equator of their ball, a little more or less than $\epsilon$ from the plane. The
# strongest attack is the short way to the plane. Random noise is much longer, but almost all of it is
# sideways: it lengthens the other coordinates and leaves the first one nearly where it was.

# %%
def shadow(points):
    """First coordinate, and length of the other ones, (m, 2)."""
    return np.c_[points[:, 0], np.linalg.norm(points[:, 1:], axis=1)]


NOISE = 3 * epsilon
generator = numpy_generator(run, "figure-7")
cloud = sample_points(n, 300, generator)
x = cloud[np.argsort(cloud[:, 0])[len(cloud) // 2]] - epsilon * np.eye(1, n)[0]  # the point of median depth
flat_noisy = shadow(x + sample_points(n, 1000, generator, radius=NOISE))
flat_cloud, flat_x = shadow(cloud) - [epsilon, 0], shadow(x[None])[0]


def draw_typical():
    """Both balls with their points, and the surroundings of one typical point."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), width_ratios=(1.3, 1))
    angle = np.linspace(0, np.pi, 200)
    for sign, color in ((1, display.PALETTE[0]), (-1, display.PALETTE[1])):
        left.plot(np.cos(angle) - sign * epsilon, np.sin(angle), color=color, lw=1)
        left.scatter(sign * flat_cloud[:, 0], flat_cloud[:, 1], s=4, color=color)
    right.scatter(*flat_noisy.T, s=3, color=display.PALETTE[2], label="noise")
    right.add_patch(plt.Circle(flat_x, NOISE, fill=False, ls="--", color="0.5"))
    right.annotate("", (0, flat_x[1]), flat_x,
                   arrowprops=dict(arrowstyle="->", color=display.PALETTE[3], lw=2))
    right.plot(*flat_x, "o", color="k")
    right.annotate("x", flat_x, xytext=(-14, -4), textcoords="offset points")
    for ax in (left, right):
        ax.axvline(0, color="k", lw=1)
        ax.set(aspect="equal", xlabel="first coordinate")
    left.set(ylabel="length of the other coordinates", title=f"two balls, n = {n:,}, ε = {epsilon:g}")
    window = 1.1 * NOISE * np.array([-1, 1])
    right.set(xlim=flat_x[0] + window, ylim=flat_x[1] + window, title="a typical point")
    return figure


drawn = np.concatenate([flat_cloud[:, 0], flat_noisy[:, 0], flat_x[:1]])
distance = surfaces.distance_to_surface(surfaces.flat(), 0.0, drawn)
crossed = float((models.classify(flat_noisy[:, 0]) != models.classify(flat_x[0])).mean())
figure_7 = run.figure(
    "figure-7", (), draw_typical, evidence=equality(np.abs(distance - np.abs(drawn)).max() <= 1e-9),
    caption="Sutton et al., Figure 7: typical points of the two balls and what noise does to one of them, "
            "drawn from random points in n dimensions (across: first coordinate; upwards: length of the "
            "others). Left: both balls. Right: a typical point x, the attack (arrow), the ball of "
            "perturbations up to 3ε (dashed) and 1,000 random ones (dots).",
    alt="Left: two overlapping half discs with all points near their tops. Right: a point close to the "
        "vertical decision line; a short arrow reaches the line, while the cloud of noisy copies lies "
        "above the point and does not.",
    data=lambda: {"distance_of_x": float(abs(flat_x[0])), "epsilon": epsilon,
                  "noise": NOISE, "noise_that_crosses": crossed,
                  "expected_to_cross": float(tail(n, abs(flat_x[0]) / NOISE))},
    contains={"typical point": bool(abs(abs(flat_x[0]) - epsilon) < 1 / np.sqrt(n)),
              "small distance": bool(abs(flat_x[0]) < NOISE / 2), "avoiding the surface": crossed == 0},
    note="A drawing from random points in all coordinates; checked is that drawn and computed distances to "
         "the plane agree.")

# %% [markdown]
# ## Reading

# %%
touching, apart = f"{flipped(n, 0.0, 1.0):.0%}", display.number(flipped(n, epsilon, 1.0), digits=2)
reach = epsilon + 0.1
withstand = display.number(
    float(np.exp(STATEMENTS["theorem-18"].log_exact(n=n, epsilon=epsilon, delta=reach))), digits=2)
display.say(
    f"Without a margin the probability keeps its size: over {len(DIMENSIONS)} dimensions up to {LAST:,} it "
    f"stays within "
    + ", ".join(f"{c['exact'].min():.4f} to {c['exact'].max():.4f} (δ = {d:g})" for d, c in without.items())
    + f". With ε = {epsilon:g} it falls to "
    + ", ".join((display.number(float(c["exact"][-1]), digits=2) if c["exact"][-1] > 0 else "below 10⁻³⁰⁰")
                + f" (δ = {d:g})" for d, c in margin.items())
    + f" at n = {LAST:,}, while the share of points that an attack of length ε + 0.1 can move rises to "
      f"{attackable:.4f}; at n = {n:,}, a share of {withstand} withstands it.")
display.say(
    f"In the dimension of a 32 × 32 colour image and for noise as large as the class itself (δ = 1), ε = "
    f"{hiding_margin(PICTURE, 1.0):.3f} is enough that {TRIES:,} samples flip the label of only {RARE:.0%} "
    f"of the points. Noise of norm up to 10 ε keeps the label of a point at distance ε with probability "
    f"{1 - tail(PICTURE, 0.1):.9f}. Still the point is not stable: an adversarial perturbation of norm ε "
    "flips the label.")

# %% [markdown]
# ## Try it
#
# - `-p epsilon 0.01` narrows the margin. Noise flips labels again in thousands of dimensions.
# - `-p n 30` draws Figure 7 where noise is not yet sideways. The cloud of noisy copies widens.
# - `-p draws 1000000` takes more random trials. Their intervals narrow around the exact curves.

# %%
run.minute(
    "Does the margin between two classes decide whether random noise finds adversarial perturbations? In "
    "a model of two half-balls of radius 1 with a plane between them, noise of norm up to 1 flips the label "
    f"of {touching} of the points, in every dimension. If each class is moved away from the plane by "
    f"{epsilon:g}, the same noise flips the label of {apart} of the points in {n:,} dimensions, but an "
    f"adversarial perturbation of norm {reach:g} still that of all but {withstand} (exact values; formulas "
    f"as reconstructed here). A margin that leaves {RARE:.0%} of the points with a flipped label after "
    f"{TRIES:,} samples of norm up to {DELTAS[-1]:g} is {hiding_margin(PICTURE, DELTAS[-1]):.2f}; the "
    "margins of trained networks are not known.",
    picture=draw_figure_6(),
    alt="Left: without a gap the chance that noise changes the label stays level over the dimension. Right: "
        "with a gap it falls to almost nothing.")

# %%
run.stamp()
