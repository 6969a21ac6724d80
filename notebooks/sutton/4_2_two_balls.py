# ---
# jupyter:
#   boundary_book:
#     items:
#     - definition-2
#     - definition-3
#     - equation-1
#     - figure-3
#     - figure-4
#     - theorem-4
#     - theorem-5
#     - theorem-6
#     - theorem-7
#     - theorem-8
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
# (sutton-4-2)=
# # 4.2 Two balls and a plane: error, attacks and noise over the dimension
#
# *Sutton et al. {cite:p}`sutton2023`, Section 4.2*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the random trials
device: str = "auto"  # auto, cpu or cuda; this page is too small to gain from a GPU
units: str = "missing"  # this page has no runs
draws: int = None  # random trials for each probability; None takes the profile's value [1..]
epsilon: float = 0.1  # half the distance of the centres in the figures (0..1]
deltas: list = [0.1, 1.0, 10.0]  # radii of the noise in Figure 4(b) (0..)

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy import integrate, special

from papers.sutton import curves
from papers.sutton.theorem import check
from papers.sutton.theory import gradient, statements
from papers.sutton.theory.ball import density, log_tail, sample_points, tail
from papers.sutton.theory.limits import two_balls_bound_rate, two_balls_margin_limit, two_balls_rate
from papers.sutton.theory.models import classify, log_two_balls, two_balls
from papers.sutton.theory.quadrature import cap_share, crossing
from report import display
from report.evidence import equality
from report.page import numpy_generator, start
from shared import runtime
from shared.susceptibility import percentage

run = start("sutton/4_2_two_balls", globals())
STATEMENTS = statements.STATEMENTS
if not deltas:
    raise runtime.UserError("parameter 'deltas' cannot be empty; allowed: one radius or more, each above 0")

# %%
scale = run.scale(smoke=dict(draws=2_000), quick=dict(draws=500_000), paper=dict(draws=500_000))
AGAIN = {"n": (1, 10, 1000), "epsilon": (0.01, 0.1), "delta": (0.1, 0.5, 1.0, 10.0),
         "gamma": (0.01, 0.1, 1.0)}  # where exact values are computed twice, by name of the parameter
FINE = np.unique(np.geomspace(1, 200_000, 90).astype(int))
COARSE = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 50_000, 200_000)


# %% [markdown]
# ## What the paper claims
#
# The model has two classes, one ball of data each, and a flat boundary between them. The paper proves that a classifier is accurate in
# this model (Theorem 4), that a small perturbation flips the label of nearly every point (Theorem 5), that random perturbations hardly
# ever do (Theorem 6), that the gradient points across the boundary (Theorem 7), and that one perturbation serves for nearly all points
# (Theorem 8). All of this holds with probabilities that approach one exponentially fast as the dimension grows, if the distance of the
# centres stays the same.
#
# ## Protocol, and what is open
#
# | open | chosen here | why |
# | --- | --- | --- |
# | the formulas | derived again from the words of the proofs | the text at hand has lost all of them; each statement carries its tag |
# | whether $\epsilon$ is half of the distance of the centres or all of it | half (*assumed*) | it is then the distance from a centre to the boundary; otherwise read $\epsilon/2$ for $\epsilon$ |
# | whether the density is bounded by $A^n$ or by $A$ times the uniform one | one number $K \ge 1$ stands for either (*lost*) | for uniform data $K = 1$ either way |
# | $\epsilon$, $\delta$ and $n$ of Figure 4 | $\epsilon = 0.1$; $\delta$ = 1, 10 and 100 $\epsilon$; $n$ from 1 to 200,000 | *lost*; the largest noise is 50 times the distance of the centres, as the text says |
#
# What *exact* and *bound not violated* mean for a bound, and what mutants and extremal examples are, is said on
# {doc}`the opening page </book/sutton>`. A difference of up to $10^{-8}$ counts as rounding: of an exact value beyond its bound (in
# logarithms), or between two ways to compute it (relative).
#
# Exact values are for uniform data. As on {ref}`the page before <sutton-4-1>`, $\tau_n(x)$ is the share of the unit ball beyond a
# plane at distance $x$ from its centre, and $f_n$ the density of one coordinate of a uniform point.
#
# ## Definition 3: bounded density
#
# Theorems 4 to 6 can fail if all points of a class could lie in one place of its ball. Definition 3 excludes this. It asks for a density $p$ that is zero outside a ball of radius
# $r$ around some $c$, and at most $K$ times the uniform density inside:
#
# $$\sup_x p(x) \le \frac{K}{r^n V^n}, \qquad K = A^n .$$
#
# Here $V^n$ is the volume of the unit ball; $K = 1$ is the uniform law itself. [derived; $A^n$ or $A$ is lost.] The table computes $K$ for
# four laws. If $K$ stays bounded as $n$ grows, nothing changes below. If it grows like $A^n$, a bound says something only where $A^2$ times
# its base is below 1.

# %%
def density_constants(n, sigma=0.5, shrink=0.9):
    """K of Definition 3, in the unit ball of R^n, of four laws: name -> K."""
    # u = |x|^n is uniform
    gaussian = integrate.quad(lambda u: np.exp(-u ** (2 / n) / (2 * sigma**2)), 0, 1)[0]
    return {"uniform": 1.0, "uniform on half of the ball": 2.0, f"Gaussian, sd {sigma:g}, cut off": 1
            / gaussian,
            f"uniform on a ball of radius {shrink:g}": shrink ** -float(n)}


K_AT = (2, 20, 200, 2000)
constants = {n: density_constants(n) for n in K_AT}
display.table(["law", *(f"K, n = {n:,}" for n in K_AT), f"A = ⁿ√K, n = {K_AT[-1]:,}"],
             [[law, *(constants[n][law] for n in K_AT), f"{constants[K_AT[-1]][law] ** (1 / K_AT[-1]):.4f}"]
              for law in constants[2]],
             "The constant of Definition 3 for four laws in the unit ball.")

# %%
definition_3 = run.statement(
    "definition-3",
    data={"K": {str(n): v for n, v in constants.items()}, "dimension": 50,
          "half_ball_beyond_the_plane": 2 * cap_share(50, epsilon),
          "allowed_by_K_1": float(tail(50, epsilon)),
          "allowed_by_K_2": float(2 * tail(50, epsilon))},
    note="The half ball that faces the plane has K = 2 and exactly twice the uniform mass beyond it: the "
         "constant cannot be improved.")

# %% [markdown]
# ## Definition 2: bounded density of several points
#
# This definition is about several points at once and is quoted from earlier work; no result of the paper uses it. It asks for constants
# $A > 0$, $0 < B < 1$ and $C$ such that for every $n$, every convex set $S$ of relative volume $V^n(S)/V^n \le A^n$, every point $x_i$ and
# any values of the other points,
#
# $$\Pr(x_i \in \mathbb B^n \setminus S \mid x_j = y_j,\ j \ne i) \ge 1 - C B^n .$$
#
# [derived in part: the words fix what is conditioned on what; the two formulas follow the cited work, which was not at hand.] Independent
# points that satisfy Definition 3 with $A_3$ satisfy it with any $A < 1/A_3$, $B = A A_3$ and $C = 1$. Here the sets that come
# nearest to the limit are tried: balls inside a smaller ball of data.

# %%
SHRINK, SMALL = 0.9, 0.8  # radius of the ball that holds the data, and A
allowed = {n: (SMALL / SHRINK) ** n for n in (2, 20, 200)}
hit = {}
for n in allowed:
    points = sample_points(n, scale.draws // 10, numpy_generator(run, "smeared", n), radius=SHRINK)
    hit[n] = percentage(int((np.linalg.norm(points, axis=1) <= SMALL).sum()), len(points))
definition_2 = run.statement("definition-2", data={
    "A": SMALL, "B": SMALL / SHRINK, "C": 1.0, "allowed": {str(n): v for n, v in allowed.items()},
    "found": {str(n): v["percent"] / 100 for n, v in hit.items()}},
    note="Formula in part from the cited work; not used in any result.")
display.table(["dimension n", "allowed, C Bⁿ, %", "random points, %", "95% interval"],
             [[n, 100 * allowed[n], v["percent"], f"{v['low']:.4g} to {v['high']:.4g}"]
              for n, v in hit.items()],
             f"Share of data in a ball of radius {SHRINK:g} that a ball of relative volume {SMALL:g}ⁿ inside "
             "it receives: what the definition allows, which these balls attain, and random points.")


# %% [markdown]
# ## Equation 1: two balls and a plane between
#
# Class 0 fills the unit ball around $c_0 = -\epsilon e_1$, class 1 the one around $c_1 = +\epsilon e_1$, where $e_1$ is the first unit vector;
# both classes are equally likely. For $\epsilon < 1$ the balls overlap. The classifier looks at one coordinate:
#
# $$f(x) = \begin{cases} 0 & \text{if } x_1 < 0,\\ 1 & \text{otherwise.}\end{cases}$$ (sutton-eq-1)
#
# It is held against the rule of the nearer centre, which looks at whole vectors.

# %%
def nearest_centre(points):
    """Label of the nearer centre for whole vectors (m, n)."""
    shift = np.zeros(points.shape[1])
    shift[0] = epsilon
    return (np.linalg.norm(points - shift, axis=1) <= np.linalg.norm(points + shift, axis=1)).astype(int)


cloud = sample_points(30, scale.draws // 10, numpy_generator(run, "cloud"))
differ = float((classify(cloud[:, 0]) != nearest_centre(cloud)).mean())
equation_1 = run.statement(
    "equation-1", data={"dimension": 30, "points": len(cloud), "differ_from_nearest_centre": differ},
    evidence=equality(within_allowed=differ == 0),
    note="Equation 1 is the rule of the nearer centre, which no rule can beat on uniform balls.")


# %% [markdown]
# ## Figure 3: the model
#
# In two dimensions this is a poor classifier for nearly coincident balls. The right panel shows why it becomes a perfect one:
# the balls keep overlapping, but hardly any volume is left where they do.

# %%
def two_circles(epsilon):
    """Centres (2, 2) of the balls and outlines (2, 361, 2) of a section through both."""
    angle = np.linspace(0, 2 * np.pi, 361)
    centres = epsilon * np.array([[-1.0, 0.0], [1.0, 0.0]])
    return centres, centres[:, None] + np.stack([np.cos(angle), np.sin(angle)], axis=-1)


centres, outlines = two_circles(epsilon)
PLANE = 0.0  # first coordinate where equation 1 changes its answer

# %%
CAPTION = (
    "Sutton et al., Figure 3, to scale. Left: a section through the two unit balls, their centres 2ε "
    "apart, with the decision plane between. Right: the law of the coordinate across the plane, for "
    "both classes, in three dimensions of space: the classes separate although the balls do not.")
ALT = (
    "Left: two almost coincident circles with their centres on either side of a vertical line. "
    "Right: two broad overlapping bell curves for a low dimension and two narrow separate ones for a "
    "high dimension.")


def draw_two_balls(centres, outlines):
    """The two balls beside the densities of the first coordinate."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), width_ratios=(1, 1.3))
    for label, color in enumerate(display.PALETTE[:2]):
        left.fill(*outlines[label].T, color=color, alpha=0.15)
        left.plot(*outlines[label].T, color=color, lw=1.2)
        left.plot(*centres[label], "o", color=color, ms=5)
        left.annotate(("−ε", "+ε")[label], centres[label], xytext=((-22, 8), (6, 8))[label],
                      textcoords="offset points", color=color, fontsize=12)
        left.text(1.15 * (2 * label - 1) - 0.15, -1.1, f"class {label}", color=color)
        for style, n in zip((":", "--", "-"), (2, 100, 3072)):
            x = centres[label][0] + np.linspace(-1, 1, 4001)
            curve = density(n, x - centres[label][0])
            right.plot(x, curve / curve.max(), color=color, ls=style, lw=1.4,
                       label=f"n = {n:,}: {display.number(float(tail(n, epsilon)), digits=2)} on the wrong "
                             f"side" if label == 0 else None)
    for ax in (left, right):
        ax.axvline(PLANE, color="k", lw=1.5)
    left.set(aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.2, 1.2))
    left.set_axis_off()
    right.set(xlabel="coordinate across the plane, $x_1$", ylabel="density (peak = 1)", ylim=(0, 1.5))
    right.legend(fontsize=9, loc="upper left", frameon=True, framealpha=1, edgecolor="none")
    return figure


radius = np.linalg.norm(outlines - centres[:, None], axis=-1)
departure = float(np.abs(radius - 1).max())
figure_3 = run.figure(
    "figure-3", (), lambda: draw_two_balls(centres, outlines), caption=CAPTION, alt=ALT,
    evidence=equality(within_allowed=departure <= 1e-9),
    data=lambda: {"epsilon": epsilon, "centres": centres.tolist(),
          "wrong_side": {str(n): float(tail(n, epsilon)) for n in (2, 100, 3072)}},
    contains={"two unit balls": bool(len(radius) == 2 and departure < 1e-9),
              "centres at": bool((centres == [[-epsilon, 0], [epsilon, 0]]).all()),
              "decision plane": bool(abs(PLANE - centres[:, 0].mean()) < 1e-12)},
    note="The places of the centres are lost in the text and inferred from the proofs; the right half is not "
         "in the paper.")

# %% [markdown]
# ## Theorem 4: accuracy of the classifier
#
# $$\Pr(f(x)=\ell) \ge 1-\tfrac12K(1-\epsilon^2)^{n/2}$$
#
# for $0 \le \epsilon \le 1$ [derived]. $K \ge 1$ is the density constant, 1 for uniform data.
#
# A point of class 1 is misclassified if it lies beyond the plane, in a cap of height $1 - \epsilon$. The density there is at most $K$ times the uniform
# one, and Lemma 23 bounds the cap. Exact for uniform data: accuracy $1 - \tau_n(\epsilon)$. The bound has the right rate.

# %%
log10_error = {str(n): float(log_tail(n, epsilon) / np.log(10)) for n in (3072, 150_528, 196_608)}
VANISHED = -6  # log10 of what we take "virtually 0" to mean


def gone(data, *dimensions):
    """Is the error below the limit in these dimensions?"""
    logs = {n: data["log10_error"][str(n)] for n in dimensions}
    return max(logs.values()) < VANISHED, (f"error at ε = {epsilon:g}: " + ", ".join(
        f"$10^{{{e:.1f}}}$ at n = {n:,}" for n, e in logs.items()))


theorem_4 = check(
    run, "theorem-4", again=lambda n, epsilon: cap_share(n, epsilon), grid=AGAIN,
    extra={"log10_error": log10_error},
    claims={"moderate dimension": lambda d: gone(d, 3072),
            "3072 attributes": lambda d: gone(d, 3072, 196_608)},
    note=f"'Virtually 0' is read as below $10^{{{VANISHED}}}$.")

# %% [markdown]
# ## Theorem 5: the share of points that an adversarial perturbation misclassifies
#
# $$\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge 1-\tfrac12K(1-(\delta-\epsilon)^2)^{n/2}$$
#
# for $\epsilon \ge 0\text{ and }\epsilon \le \delta \le 1 + \epsilon$ [derived]. $K \ge 1$ is the density constant, 1 for uniform data.
#
# A point of class 1 keeps its label under every perturbation of norm up to $\delta$ only if it lies more than $\delta$ from the plane, in a cap of height
# $1 - (\delta - \epsilon)$. Such a cap is as small as any other at a fixed distance from the centre: data concentrate near the plane through the centre
# of their ball, at distance $\epsilon$ from the boundary. Exact for uniform data: $1 - \tau_n(\delta - \epsilon)$.

# %%
theorem_5 = check(run, "theorem-5", again=lambda n, epsilon, delta: cap_share(n, delta - epsilon), grid=AGAIN)
steady = {f"δ = {d:g}": curves.over_dimension(
    STATEMENTS["theorem-5"], dimensions=FINE, trial_dimensions=COARSE, draws=scale.draws,
    generator=numpy_generator(run, "theorem-5 curves", d), epsilon=epsilon, delta=d)
    for d in (epsilon + 0.03, epsilon + 0.1, epsilon + 0.3)}

# %%
CAPTION = (
    "Theorem 5: the share of points that resist every perturbation of norm δ, for three lengths just above "
    "ε. Lines: exact; dashes: the bound; dots and bars: random trials with 95% intervals (none "
    "without a hit).")
ALT = (
    "Three falling curves over the dimension with dashed bounds just above; the larger its norm, the "
    "earlier the fall.")


def draw_resisting(steady):
    """Share of points that no push of the given length moves across."""
    figure, ax = plt.subplots(figsize=(8, 3.8))
    curves.draw_small(ax, steady)
    ax.set_ylabel("points that resist")
    return figure


display.picture(draw_resisting(steady), CAPTION, ALT)

# %% [markdown]
# ## Theorem 6: the probability that random noise misclassifies a point
#
# $$\Pr(f(x+s)\ne\ell) \le K\left(1-\left(\frac{\epsilon}{1+\delta}\right)^2\right)^{n/2}$$
#
# for $\delta > 0$, $0 \le \epsilon \le 1 + \delta$ [derived]. $K \ge 1$ is the density constant, 1 for uniform data.
#
# Point and noise are both random. Together they must cover the distance $\epsilon$ to the plane. Cut it in two: either the point has covered
# at least $\epsilon - \tau$ of it, or the noise covers more than $\tau$. Both are caps, and the two bounds of Lemma 23 are equal at
# $\tau = \epsilon\delta/(1 + \delta)$, which gives the theorem as reconstructed [derived; whether its factor is $A^n$ or $A$ is
# lost]. Exact for uniform data:
#
# $$\Pr(f(x+s) \ne \ell) = \int_{-1}^{1} f_n(t)\, \tau_n\!\left(\frac{\epsilon - t}{\delta}\right) dt .$$

# %%
END = int(FINE[-1])
PICTURE = 3072  # numbers in a colour picture of 32 by 32 pixels


def far_noise(deltas):
    """Exact values and bounds of Theorem 6 at the ends of the range of n, one entry a noise radius."""
    t6, found = STATEMENTS["theorem-6"], {}
    for d in deltas:
        (bound, exact), (bound_end, exact_end) = (
            [float(np.exp(log(n=n, epsilon=epsilon, delta=d))) for log in (t6.log_bound, t6.log_exact)]
            for n in (10, END))
        found[f"{d:g}"] = {"over_distance_of_centres": d / (2 * epsilon), "ratio_at_10": bound / exact,
                           "exact_at_10": exact, "bound_at_end": bound_end, "exact_at_end": exact_end,
                           "exact_at_picture": float(np.exp(
                               t6.log_exact(n=PICTURE, epsilon=epsilon, delta=d)))}
    return found


noise = far_noise(deltas)
SMALL_AT_END = 1e-3  # what we take "converged to 0" to mean at the largest n


def persists(data):
    """Is the largest noise at least 50 times the distance of the centres, and its effect gone at the end?"""
    largest = max(data["noise"].values(), key=lambda v: v["over_distance_of_centres"])
    return (largest["over_distance_of_centres"] >= 50 - 1e-9 and largest["exact_at_end"] < SMALL_AT_END,
            f"noise {largest['over_distance_of_centres']:g} times the distance of the centres: probability "
            f"{largest['exact_at_10']:.3f} at n = 10, {largest['exact_at_picture']:.3f} at n = {PICTURE:,}, "
            f"{display.number(float(largest['exact_at_end']), digits=2)} at n = {END:,}")


theorem_6 = check(run, "theorem-6", claims={"50 times larger": persists}, extra={"noise": noise},
                  again=crossing, grid=AGAIN)

# %% [markdown]
# ## Figure 4: theory against sampling

# %%
accuracy = curves.over_dimension(
    STATEMENTS["theorem-4"], dimensions=FINE, trial_dimensions=COARSE, draws=scale.draws,
    generator=numpy_generator(run, "figure-4 a"), epsilon=epsilon)
flips = {f"δ = {d:g}": curves.over_dimension(
    STATEMENTS["theorem-6"], dimensions=FINE, trial_dimensions=COARSE, draws=scale.draws,
    generator=numpy_generator(run, "figure-4 b", d), epsilon=epsilon, delta=d) for d in deltas}

# %%
CAPTION = (
    "Sutton et al., Figure 4: (a) accuracy of the linear classifier on two uniform balls and the "
    "bound of Theorem 4; (b) probability that random noise misclassifies a point, and the bound of "
    "Theorem 6, for noise of radius δ up to 50 times the distance of the centres. Lines: exact; "
    "dashes: bounds; dots and bars: random trials with 95% intervals. Accuracy and probability are "
    "drawn as the paper does, on a plain axis.")
ALT = (
    "Left: accuracy rises from about a half to one as the dimension grows, the dashed bound close "
    "below. Right: three curves fall to zero, the one for the largest noise last, with dashed bounds "
    "above them.")


def draw_figure_4(accuracy, flips):
    """Accuracy and probability of a destabilising push over the dimension."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2))
    curves.draw_curve(left, accuracy, display.PALETTE[0], f"ε = {epsilon:g}", flip=True)
    left.set(ylabel="accuracy", ylim=(0.45, 1.02), title="(a)")
    for color, (label, curve) in zip(display.PALETTE, flips.items()):
        curves.draw_curve(right, curve, color, label)
    right.set(ylabel="Pr(noise misclassifies)", ylim=(-0.02, 1.35), title="(b)",
              yticks=np.linspace(0, 1, 6))
    for ax, place in ((left, "lower right"), (right, "upper left")):
        ax.plot([], [], color="0.4", ls="--", lw=1.2, label="bound")
        ax.set(xscale="log", xlabel="dimension n")
        ax.legend(loc=place, ncols=1 if ax is left else 2)
    return figure


drawn = draw_figure_4(accuracy, flips)

# %%
t4 = STATEMENTS["theorem-4"]
data = {"epsilon": epsilon, "n": [int(FINE[0]), END], "log10_error": log10_error, "noise": noise,
        "exponent_of_bound_over_exact": float(
            t4.log_bound(n=END, epsilon=epsilon) / t4.log_exact(n=END, epsilon=epsilon)),
        "intervals_that_contain_the_exact_value": {
            k: curves.inside(c) for k, c in {"accuracy": accuracy, **flips}.items()}}
panels = drawn.axes


def sharp(data):
    """Does the bound have the exact exponent, and is the error gone?"""
    vanished, error = gone(data, 3072)
    ratio = data["exponent_of_bound_over_exact"]
    words = f"exponent of the bound over the exact one {ratio:.4f} at n = {END:,}; {error}"
    return 0.95 <= ratio <= 1 and vanished, words


def loose(data):
    """Is the bound far from the truth in ten dimensions, and small at the end?"""
    ratios = {k: v["ratio_at_10"] for k, v in data["noise"].items()}
    end = max(v["bound_at_end"] for v in data["noise"].values())
    told = ", ".join(f"{r:.1f} (δ = {k})" for k, r in ratios.items())
    return min(ratios.values()) > 1.5 and end < SMALL_AT_END, (
        f"bound over exact at n = 10: {told}; largest bound at n = {END:,}: "
        f"{display.number(float(end), digits=2)} (“loose” is read as more than 1.5 times the exact value at "
        "n = 10; the ratio grows with n, the difference falls)")


figure_4 = run.figure(
    "figure-4", (), lambda: drawn, data=lambda: data, caption=CAPTION, alt=ALT,
    contains={"x: dimension": all("dimension" in ax.get_xlabel() for ax in panels),
              "(a) accuracy": panels[0].get_ylabel() == "accuracy" and len(panels[0].lines) >= 2,
              "(b) probability": "misclassifies" in panels[1].get_ylabel()
              and len(panels[1].lines) >= 2 * len(deltas),
              "several perturbation sizes": len(deltas) >= 2 and max(deltas) >= 50 * 2 * epsilon - 1e-9},
    claims={"accuracy bound is sharp": sharp, "loose in low dimension": loose,
            "Convergence persists": persists},
    note="The paper's ε and δ are lost. 'Sharp' is read as the same exponential rate, 'converged' as below "
         f"{SMALL_AT_END:g}.")

# %% [markdown]
# ## Theorem 7: the direction of the loss gradient
#
# Let $\hat f = \sigma(x_1)$ be a smooth version of the classifier and $L$ an increasing loss. The chain rule gives (equation 10 of the
# appendix is the case $\ell = 0$)
#
# $$\nabla_x L(|\hat f(x) - \ell|) = (1 - 2\ell)\; L'(|\hat f(x) - \ell|)\; \sigma'(x_1)\; e_1 ,$$
#
# a multiple of $e_1$, the shortest way across, for every $x$. It is a positive multiple of the right direction where $L'$ and $\sigma'$ are
# positive. [derived] What the paper asks of $\sigma$ is lost in part: Section 4.2 calls it "monotonically increasing with", and the rest of the
# sentence is gone. If that asked for $\sigma' > 0$, the theorem stands as printed. Below, automatic differentiation of a sigmoid with squared error is held against this formula and against the direction.
#
# **Why some condition is needed** (*ours*). The proof calls $\sigma$ and $L$ "continuously differentiable and monotonically increasing" and
# takes from the Morse-Sard theorem that the derivative is positive almost everywhere. That theorem speaks of the values of $\sigma$ at points
# with $\sigma' = 0$, not of these points, so the two words alone are not enough. Take a Cantor set $\mathcal K$ of positive length and let $\sigma'$ be proportional to the distance from $\mathcal K$: then $\sigma$ is strictly
# increasing and continuously differentiable, yet its gradient is zero on all of $\mathcal K$. An attack that starts there has no direction.
# The theorem holds if $\sigma' > 0$ and $L' > 0$ almost everywhere, as for every loss and sigmoid in use.

# %%
STEEP, N_GRADIENT = 4.0, 30


def sigmoid(t):
    return special.expit(STEEP * t)


def autograd(points, label):
    """Gradient of (sigmoid(STEEP x_1) - label)^2 by automatic differentiation, float64 (m, n)."""
    x = torch.tensor(points, requires_grad=True)
    (torch.sigmoid(STEEP * x[:, 0]) - torch.tensor(label)).square().sum().backward()
    return x.grad.numpy()


generator = numpy_generator(run, "theorem-7")
points = sample_points(N_GRADIENT, scale.draws // 10, generator)
label = generator.integers(0, 2, scale.draws // 10)
points[:, 0] += (2 * label - 1) * epsilon
found = autograd(points, label)
formula = gradient.loss_gradient(
    points, label, sigmoid, lambda t: STEEP * sigmoid(t) * (1 - sigmoid(t)), lambda a: 2 * a)
across = gradient.points_across(found, label)

cantor = gradient.FatCantorSigmoid(half_width=3 * epsilon)
GAP_AT = (1, 10, 100, 1000)
stuck = {}
for n in GAP_AT:
    x1, _ = two_balls(n, epsilon, scale.draws, numpy_generator(run, "cantor", n))
    stuck[str(n)] = {"exact": cantor.zero_gradient_probability(n, epsilon),
                     "trials": float((cantor.slope(x1) == 0).mean())}
directions = {"points": len(points), "dimension": N_GRADIENT, "share_that_point_across": float(across.mean()),
              "within_allowed": bool(np.abs(found - formula).max() <= 1e-12 * np.abs(formula).max()),
              "no_direction": stuck}

# %%
CAPTION = (
    "Why Theorem 7 needs a condition on σ. Left: σ after finitely many steps of the construction, constant "
    "on short intervals; its limit is strictly increasing and continuously differentiable. Right: "
    "its derivative, zero on a Cantor set of positive length; the ticks below mark where it is zero.")
ALT = (
    "Left: a smooth rising curve. Right: a derivative made of many triangles of different sizes, "
    "touching zero on a dense pattern marked in orange below.")


def draw_cantor(cantor):
    """sigma, its derivative and the places without a gradient."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4))
    t = np.linspace(-1.3, 1.3, 12_001) * cantor.half_width
    left.plot(t, cantor.value(t), color=display.PALETTE[0])
    left.set(xlabel="$x_1$", ylabel="σ")
    slope = cantor.slope(t)
    right.plot(t, slope, color=display.PALETTE[0], lw=1)
    right.plot(t[slope == 0], np.full((slope == 0).sum(), -0.05 * slope.max()),
               "|", color=display.PALETTE[1], ms=6)
    right.set(xlabel="$x_1$", ylabel="σ′")
    return figure


display.picture(draw_cantor(cantor), CAPTION, ALT)

# %%
display.table(["dimension n", "exact", "random trials"],
              [[int(n), v["exact"], v["trials"]] for n, v in stuck.items()],
             f"Probability that a point has no gradient at all under the σ of the figure, at ε = "
             f"{epsilon:g}.")
theorem_7 = run.statement(
    "theorem-7", data=directions,
    evidence=equality(within_allowed=directions["within_allowed"], violations=int((~across).sum()))
    | {"kind": "bound"},
    note="The theorem is no bound. Formula and direction hold at every point tried where σ' > 0 and L' > 0. "
         "The condition on σ is lost in the text at hand; without one there is a counterexample (above).")

# %% [markdown]
# ## Theorem 8: universal adversarial perturbations
#
# $$\Pr(f(x+s)\ne\ell\ \forall s\in S_\gamma(z)) \ge \left(1-\tfrac12K\left(1-\tfrac{\gamma^2}{4}\right)^{n/2}\right)_+^2$$
#
# for $0 \le \gamma \le 2$ [derived]. $K \ge 1$ is the density constant, 1 for uniform data.
#
# Take two points $x$ and $z$ of one class, and any perturbation that carries $z$ across with a margin of at least $\gamma$. Write $d_\ell(z, s)$ for that
# margin and $S_\gamma(z)$ for the set of these perturbations. All of them carry $x$ across as soon as $x$ lies at most $\gamma$ farther from the plane
# than $z$, and this condition is not only enough but necessary. It holds if $x$ is not more than $\gamma/2$ behind the centre of the ball and $z$ not more
# than $\gamma/2$ before it; hence the square, and half of the margin for each. Exact for uniform data: $\Pr(T_z - T_x \le \gamma)$, which
# depends neither on $\epsilon$ nor on the class. In the random trials of the figure a perturbation carries $z$ just past the margin, and the
# label of $x$ is compared: they test this equivalence, not each of the perturbations.

# %%
theorem_8 = check(run, "theorem-8", again=lambda n, gamma: crossing(n, gamma, 1.0), grid=AGAIN)
spared = {f"γ = {g:g}": curves.over_dimension(
    STATEMENTS["theorem-8"], dimensions=FINE, trial_dimensions=COARSE, draws=scale.draws,
    generator=numpy_generator(run, "theorem-8 curves", g), gamma=g) for g in (0.03, 0.1, 0.3, 1.0)}

# %%
CAPTION = (
    "Theorem 8: the probability that some perturbation with margin γ at one point spares another point of "
    "the class. Lines: exact; dashes: the bound; dots and bars: random trials with 95% intervals "
    "(none without a hit).")
ALT = (
    "Four falling curves over the dimension, one a margin, with dashed bounds above that fall at "
    "half their rate.")


def draw_spared(spared):
    """Probability that a second point is spared by some push."""
    figure, ax = plt.subplots(figsize=(8, 3.8))
    curves.draw_small(ax, spared)
    ax.set_ylabel("Pr(not universal)")
    return figure


display.picture(draw_spared(spared), CAPTION, ALT)

# %% [markdown]
# ## Beyond the paper: how good are the bounds?
#
# *This part is ours.* A probability that falls exponentially has a rate, $-\frac1n \ln \Pr$ for large $n$. The bounds of Theorems 4 and 5 have the true
# rate. That of Theorem 6, as reconstructed, falls more slowly than the truth. It adds up the cases in which the point or the noise alone covers its share of the distance $\epsilon$,
# the shares being $1 : \delta$. In truth both must do their part, so the two small probabilities multiply, and the cheapest shares are
# $1 : \delta^2$. The true rate is
#
# $$\min_t \left[-\tfrac12\ln(1 - t^2) - \tfrac12\ln\left(1 - \big(\tfrac{\epsilon - t}\delta\big)^2\right)\right] \approx \frac{\epsilon^2}{2(1 + \delta^2)},$$
#
# and that of the bound about $\epsilon^2 / (2(1 + \delta)^2)$.
#
# The bound as reconstructed therefore asks for up to twice as many dimensions as needed, most of all at $\delta = 1$. Theorem 8 is that case: the
# true rate is $-\ln(1 - \gamma^2/4)$, that of the bound as reconstructed half of it.

# %%
CAPTION = (
    "How far the bound of Theorem 6, as reconstructed, is from the truth. Left: rate of the bound "
    "over the true rate, over the radius of the noise; both ends are sharp, the middle is off by "
    "two. Right: exact value and bound on a scale where an exponential is a straight line, at δ = 1.")
ALT = (
    "Left: ratio of rates dips to one half at a noise radius of one. Right: two straight falling "
    "lines, the exact one about twice as steep as the bound.")


def draw_rates():
    """Ratio of the rates, and the probabilities as straight lines."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8))
    delta = np.geomspace(0.01, 100, 200)
    for color, e in zip(display.PALETTE, (0.01, 0.4, 0.8)):
        usable = delta[e <= 1 + delta]
        left.plot(usable, two_balls_bound_rate(e, usable) / two_balls_rate(e, usable),
                  color=color, label=f"ε = {e:g}")
    left.set(xscale="log", xlabel="radius of the noise, δ", ylabel="rate of bound / true rate",
             ylim=(0.45, 1.02))
    left.legend(fontsize=9)
    n = np.arange(1, 20_001, 100)
    t6, given = STATEMENTS["theorem-6"], {"n": n, "epsilon": epsilon, "delta": 1.0}
    right.plot(n, t6.log_exact(**given) / np.log(10), color=display.PALETTE[0], label="exact")
    right.plot(n, t6.log_bound(**given) / np.log(10), color=display.PALETTE[0], ls="--", label="bound")
    right.set(xlabel="dimension n", ylabel="log10 of the probability")
    right.legend(fontsize=9)
    return figure


display.picture(draw_rates(), CAPTION, ALT)

# %%
RATES_AT = (0.1, 0.3, 1.0, 3.0, 10.0)
FAR_N = 200_000


def measured_rate(delta):
    """Slope of the exact logarithm between n = 200,000 and 400,000."""
    low, high = (float(STATEMENTS["theorem-6"].log_exact(n=n, epsilon=epsilon, delta=delta))
                 for n in (FAR_N, 2 * FAR_N))
    return (low - high) / FAR_N


rates = {d: (float(two_balls_rate(epsilon, d)), float(two_balls_bound_rate(epsilon, d))) for d in RATES_AT}
display.table(["δ", "true rate", "measured", "rate of the bound", "bound / true"],
             [[d, true, measured_rate(d), bound, f"{bound / true:.3f}"] for d,
              (true, bound) in rates.items()],
             f"Exponential rates of Theorem 6 at ε = {epsilon:g}; measured between n = {FAR_N:,} and "
             f"{2 * FAR_N:,}.")
shrinking = {n: float(np.exp(STATEMENTS["theorem-6"].log_exact(n=n, epsilon=1 / np.sqrt(n), delta=1.0)))
             for n in (10, 1000, 100_000)}
display.say("All of this needs a distance $\\epsilon$ that does not shrink. With $\\epsilon = 1/\\sqrt n$ "
            "and $\\delta = 1$ the "
           "probability of Theorem 6 is " + ", ".join(f"{p:.4f} at $n$ = {n:,}" for n, p in shrinking.items())
           + ", and tends to $\\Phi(-1/\\sqrt{1 + \\delta^2})$ = "
            + f"{float(two_balls_margin_limit(1.0, 1.0)):.4f}. "
             "In the same way noise whose radius grows like $\\sqrt n$, as that of a cube of fixed side "
             "does, is not covered.")

# %% [markdown]
# ## Reading

# %%
biggest = max(deltas)
inside = data["intervals_that_contain_the_exact_value"]
tested = [t["data"] for t in (theorem_4, theorem_5, theorem_6, theorem_8)]
push = epsilon + 0.05
turned = 100 * float(np.exp(STATEMENTS["theorem-6"].log_exact(n=PICTURE, epsilon=epsilon, delta=biggest)))
noisy = float(np.exp(STATEMENTS["theorem-6"].log_exact(n=PICTURE, epsilon=epsilon, delta=1.0)))
by_noise = display.number(noisy, digits=2)
TRIES = 2000     # samples of noise around an image, in the paper's experiments
by_many = f"{np.exp(log_two_balls(PICTURE, epsilon, 1.0, samples=TRIES)):.1%}"
misread = display.number(float(10 ** log10_error[str(PICTURE)]), digits=2)
resist = display.number(100 * float(tail(PICTURE, push - epsilon)), digits=2)
display.say(
    f"At ε = {epsilon:g} and n = {PICTURE:,}, the size of a CIFAR-10 image, {misread} of the points are "
    f"misclassified, and an adversarial perturbation of norm {push:g} flips the label of all but {resist}%. "
    f"Noise of norm up to 1 flips the label of {by_noise} of the points, noise of norm up to {biggest:g} "
    f"of {turned:.0f}%; with {TRIES:,} samples of norm up to 1, at least one flips the label of {by_many}. "
    "For the larger noise, "
    f"at n = {END:,} "
    f"the share is {display.number(float(noise[f'{biggest:g}']['exact_at_end']), digits=2)}. "
    "Theorems 4, 5, 6 and 8 were violated in "
    f"{sum(d['violations'] for d in tested)} of {sum(d['cases'] for d in tested):,} cases. In Figure 4, "
    f"{np.mean(list(inside.values())):.0%} of the 95% intervals contain the exact value.")

# %% [markdown]
# ## Try it
#
# - `-p epsilon 0.02` brings the centres together. Some claims fail, since 3,072 dimensions are no longer enough.
# - `-p deltas [0.5,5]` draws other noise in Figure 4(b). The longer the noise, the later its curve falls.
# - `-p draws 1000000` takes more random trials. The bars narrow around the exact curves.

# %%
apart = 2 * epsilon
run.minute(
    "Can a classifier be accurate, robust to random noise and vulnerable to small adversarial perturbations "
    f"at once? In a model of two unit balls in {PICTURE:,} dimensions, their centres "
    f"{apart:g} apart and a plane midway, a share of {misread} of the points is misclassified (exact value). "
    f"One noise sample of norm up to 1 flips the label of {by_noise} of the points, at least one of "
    f"{TRIES:,} samples that of {by_many}, one of norm up to {biggest:g} that of {turned:.0f}%, and an "
    f"adversarial perturbation of norm {push:g} that of all but {resist}%. The distance must not shrink as "
    "the dimension n grows: at 2/√n the first of these shares tends to "
    f"{float(two_balls_margin_limit(1.0, 1.0)):.0%} (formulas as reconstructed here).",
    picture=draw_two_balls(centres, outlines),
    alt="Two almost coincident circles with a line between their centres, and beside them the law of the "
        "coordinate across the line: two humps that separate as the dimension grows.")

# %%
run.stamp()
