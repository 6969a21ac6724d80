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

from papers.sutton import claims, curves
from papers.sutton.theorem import PICTURE, check
from papers.sutton.theory import gradient
from papers.sutton.theory.ball import density, log_tail, sample_points, tail
from papers.sutton.theory.limits import two_balls_margin_limit
from papers.sutton.theory.models import classify, log_two_balls, two_balls
from papers.sutton.theory.quadrature import cap_share, crossing
from papers.sutton.theory.statements import STATEMENTS
from report import display
from report.evidence import equality
from report.page import numpy_generator, start
from shared import runtime
from shared.susceptibility import percentage

run = start("sutton/4_2_two_balls", globals())
if not deltas:
    raise runtime.UserError("parameter 'deltas' cannot be empty; allowed: one radius or more, each above 0")
scale = run.scale(smoke=dict(draws=2_000), quick=dict(draws=500_000), paper=dict(draws=500_000))
END = int(curves.FINE[-1])


def over_dimension(item, *label, **fixed):
    """A statement as a curve over the dimension, with this page's random trials."""
    return curves.over_dimension(item, draws=scale.draws, generator=numpy_generator(run, *label), **fixed)


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
def density_constants(n):
    """K of Definition 3, in the unit ball of R^n, of four laws: name -> K."""
    # u = |x|^n is uniform
    gaussian = integrate.quad(lambda u: np.exp(-2 * u ** (2 / n)), 0, 1)[0]
    return {"uniform": 1.0, "uniform on half of the ball": 2.0, "Gaussian, sd 0.5, cut off": 1 / gaussian,
            "uniform on a ball of radius 0.9": 0.9 ** -float(n)}


constants = {n: density_constants(n) for n in (2, 20, 200, 2000)}
display.table(["law", *(f"K, n = {n:,}" for n in constants), "A = ⁿ√K, n = 2,000"],
              [[law, *(of[law] for of in constants.values()), f"{constants[2000][law] ** (1 / 2000):.4f}"]
               for law in constants[2]],
              "The constant of Definition 3 for four laws in the unit ball.")
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
angle = np.linspace(0, 2 * np.pi, 361)
centres = epsilon * np.array([[-1.0, 0.0], [1.0, 0.0]])
outlines = centres[:, None] + np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def draw_two_balls():
    """The two balls beside the densities of the first coordinate."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), width_ratios=(1, 1.3))
    for label, color in enumerate(display.PALETTE[:2]):
        left.fill(*outlines[label].T, facecolor=color, alpha=0.15)
        left.plot(*outlines[label].T, color=color, lw=1.2)
        left.plot(*centres[label], "o", color=color, ms=5)
        left.annotate(("−ε", "+ε")[label], centres[label], xytext=((-22, 8), (6, 8))[label],
                      textcoords="offset points", color=color, fontsize=12)
        left.text(1.15 * (2 * label - 1) - 0.15, -1.1, f"class {label}", color=color)
        x = np.linspace(-1, 1, 4001)
        for style, n in zip((":", "--", "-"), (2, 100, PICTURE)):
            curve = density(n, x)
            right.plot(centres[label][0] + x, curve / curve.max(), color=color, ls=style, lw=1.4,
                       label=f"n = {n:,}: {display.number(float(tail(n, epsilon)), digits=2)} on the wrong "
                             f"side" if label == 0 else None)
    for ax in (left, right):
        ax.axvline(0, color="k", lw=1.5)
    left.set(aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.2, 1.2))
    left.set_axis_off()
    right.set(xlabel="coordinate across the plane, $x_1$", ylabel="density (peak = 1)", ylim=(0, 1.5))
    right.legend(fontsize=9, loc="upper left", frameon=True, framealpha=1, edgecolor="none")
    return figure


departure = float(np.abs(np.linalg.norm(outlines - centres[:, None], axis=-1) - 1).max())
figure_3 = run.figure(
    "figure-3", (), draw_two_balls, evidence=equality(departure <= 1e-9),
    caption="Sutton et al., Figure 3, to scale. Left: a section through the two unit balls, their centres 2ε "
            "apart, with the decision plane between. Right: the law of the coordinate across the plane, for "
            "both classes, in three dimensions of space: the classes separate although the balls do not.",
    alt="Left: two almost coincident circles with their centres on either side of a vertical line. "
        "Right: two broad overlapping bell curves for a low dimension and two narrow separate ones for a "
        "high dimension.",
    data=lambda: {"epsilon": epsilon, "centres": centres.tolist(),
                  "wrong_side": {str(n): float(tail(n, epsilon)) for n in (2, 100, PICTURE)}},
    contains={"two unit balls": departure < 1e-9,
              "centres at": bool((centres == [[-epsilon, 0], [epsilon, 0]]).all()),
              "decision plane": bool((classify(centres[:, 0]) == [0, 1]).all())},
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
log10_error = {str(n): float(log_tail(n, epsilon) / np.log(10)) for n in (PICTURE, 150_528, 196_608)}
theorem_4 = check(run, "theorem-4", again=lambda n, epsilon: cap_share(n, epsilon),
                  extra={"epsilon": epsilon, "log10_error": log10_error},
                  note=f"'Virtually 0' is read as below $10^{{{claims.VANISHED}}}$.")

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
theorem_5 = check(run, "theorem-5", again=lambda n, epsilon, delta: cap_share(n, delta - epsilon))
display.picture(
    curves.small({f"δ = {d:g}": over_dimension("theorem-5", "theorem-5 curves", d, epsilon=epsilon, delta=d)
                  for d in (epsilon + 0.03, epsilon + 0.1, epsilon + 0.3)}, "points that resist"),
    "Theorem 5: the share of points that resist every perturbation of norm δ, for three lengths just above "
    "ε. Lines: exact; dashes: the bound; dots and bars: random trials with 95% intervals (none "
    "without a hit).",
    "Three falling curves over the dimension with dashed bounds just above; the larger its norm, the "
    "earlier the fall.")


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
def theorem_6_at(n, delta, which="log_exact"):
    """The exact probability of Theorem 6, or its bound, at this page's epsilon."""
    return float(np.exp(getattr(STATEMENTS["theorem-6"], which)(n=n, epsilon=epsilon, delta=delta)))


noise = {f"{d:g}": {"over_distance_of_centres": d / (2 * epsilon), "exact_at_10": theorem_6_at(10, d),
                    "ratio_at_10": theorem_6_at(10, d, "log_bound") / theorem_6_at(10, d),
                    "exact_at_picture": theorem_6_at(PICTURE, d), "exact_at_end": theorem_6_at(END, d),
                    "bound_at_end": theorem_6_at(END, d, "log_bound")} for d in deltas}
theorem_6 = check(run, "theorem-6", extra={"noise": noise}, again=crossing)

# %% [markdown]
# ## Figure 4: theory against sampling

# %%
accuracy = over_dimension("theorem-4", "figure-4 a", epsilon=epsilon)
flips = {f"δ = {d:g}": over_dimension("theorem-6", "figure-4 b", d, epsilon=epsilon, delta=d) for d in deltas}


def draw_figure_4():
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


drawn = draw_figure_4()
panels = drawn.axes
t4 = STATEMENTS["theorem-4"]
inside = {k: curves.inside(c) for k, c in {"accuracy": accuracy, **flips}.items()}
figure_4 = run.figure(
    "figure-4", (), lambda: drawn,
    caption="Sutton et al., Figure 4: (a) accuracy of the linear classifier on two uniform balls and the "
            "bound of Theorem 4; (b) probability that random noise misclassifies a point, and the bound of "
            "Theorem 6, for noise of radius δ up to 50 times the distance of the centres. Lines: exact; "
            "dashes: bounds; dots and bars: random trials with 95% intervals. Accuracy and probability are "
            "drawn as the paper does, on a plain axis.",
    alt="Left: accuracy rises from about a half to one as the dimension grows, the dashed bound close "
        "below. Right: three curves fall to zero, the one for the largest noise last, with dashed bounds "
        "above them.",
    data=lambda: {"epsilon": epsilon, "n": [1, END], "log10_error": log10_error, "noise": noise,
                  "exponent_of_bound_over_exact": float(
                      t4.log_bound(n=END, epsilon=epsilon) / t4.log_exact(n=END, epsilon=epsilon)),
                  "intervals_that_contain_the_exact_value": inside},
    contains={"x: dimension": all("dimension" in ax.get_xlabel() for ax in panels),
              "(a) accuracy": panels[0].get_ylabel() == "accuracy" and len(panels[0].lines) >= 2,
              "(b) probability": "misclassifies" in panels[1].get_ylabel()
              and len(panels[1].lines) >= 2 * len(deltas),
              "several perturbation sizes": len(deltas) >= 2 and max(deltas) >= 50 * 2 * epsilon - 1e-9},
    note="The paper's ε and δ are lost. 'Sharp' is read as the same exponential rate, 'converged' as below "
         f"{claims.CONVERGED:g}.")


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
def sigmoid(t):
    return special.expit(4 * t)


def autograd(points, label):
    """Gradient of (sigmoid(x_1) - label)^2 by automatic differentiation, float64 (m, n)."""
    x = torch.tensor(points, requires_grad=True)
    (torch.sigmoid(4 * x[:, 0]) - torch.tensor(label)).square().sum().backward()
    return x.grad.numpy()


generator = numpy_generator(run, "theorem-7")
points = sample_points(30, scale.draws // 10, generator)
label = generator.integers(0, 2, scale.draws // 10)
points[:, 0] += (2 * label - 1) * epsilon
by_torch = autograd(points, label)
formula = gradient.loss_gradient(
    points, label, sigmoid, lambda t: 4 * sigmoid(t) * (1 - sigmoid(t)), lambda a: 2 * a)
across = gradient.points_across(by_torch, label)
within = np.abs(by_torch - formula).max() <= 1e-12 * np.abs(formula).max()

cantor = gradient.FatCantorSet(half_width=3 * epsilon)
stuck = {}
for n in (1, 10, 100, 1000):
    x1, _ = two_balls(n, epsilon, scale.draws, numpy_generator(run, "cantor", n))
    stuck[str(n)] = {"exact": cantor.zero_gradient_probability(n, epsilon),
                     "trials": float((cantor.distance(x1) == 0).mean())}
display.table(["dimension n", "exact", "random trials"],
              [[int(n), v["exact"], v["trials"]] for n, v in stuck.items()],
              "Probability that a point has no gradient at all, σ' proportional to the distance from a "
              f"Cantor set in [−{cantor.half_width:g}, {cantor.half_width:g}], half of which it fills; ε = "
              f"{epsilon:g}.")
theorem_7 = run.statement(
    "theorem-7", evidence=equality(within, violations=int((~across).sum())) | {"kind": "bound"},
    data={"points": len(points), "dimension": points.shape[1],
          "share_that_point_across": float(across.mean()), "within_allowed": bool(within),
          "no_direction": stuck},
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
theorem_8 = check(run, "theorem-8", again=lambda n, gamma: crossing(n, gamma, 1.0))
display.picture(
    curves.small({f"γ = {g:g}": over_dimension("theorem-8", "theorem-8 curves", g, gamma=g)
                  for g in (0.03, 0.1, 0.3, 1.0)}, "Pr(not universal)"),
    "Theorem 8: the probability that some perturbation with margin γ at one point spares another point of "
    "the class. Lines: exact; dashes: the bound; dots and bars: random trials with 95% intervals "
    "(none without a hit).",
    "Four falling curves over the dimension, one a margin, with dashed bounds above that fall at "
    "half their rate.")

# %% [markdown]
# ## Beyond the paper: where Theorem 6 is loose, and where it does not help
#
# *This part is ours.* A probability that falls exponentially has a rate, $-\frac1n \ln \Pr$ for large $n$. The bounds of Theorems 4 and 5 have the true
# rate. The bound of Theorem 6, as reconstructed, adds up the cases in which the point or the noise alone covers its share of the distance $\epsilon$,
# the shares being $1 : \delta$. In truth both must do their part, so the two small probabilities multiply, and the cheapest shares are
# $1 : \delta^2$. For small $\epsilon$ the true rate is about $\epsilon^2 / (2(1 + \delta^2))$ and that of the bound about
# $\epsilon^2 / (2(1 + \delta)^2)$, half of the true one at $\delta = 1$. The bound then asks for twice as many dimensions as needed.

# %%
exponents = {d: float(STATEMENTS["theorem-6"].log_bound(n=END, epsilon=epsilon, delta=d)
                      / STATEMENTS["theorem-6"].log_exact(n=END, epsilon=epsilon, delta=d)) for d in deltas}
shrinking = {n: float(np.exp(log_two_balls(n, 1 / np.sqrt(n), 1.0))) for n in (10, 1000, 100_000)}
no_margin = float(two_balls_margin_limit(1.0, 1.0))
display.say(
    f"At n = {END:,} the exponent of the bound over the exact one is "
    + ", ".join(f"{ratio:.2f} (δ = {d:g})" for d, ratio in exponents.items())
    + ". All of this needs a distance $\\epsilon$ that does not shrink. With $\\epsilon = 1/\\sqrt n$ and "
    "$\\delta = 1$ the probability of Theorem 6 is "
    + ", ".join(f"{p:.4f} at $n$ = {n:,}" for n, p in shrinking.items())
    + f", and tends to $\\Phi(-1/\\sqrt{{1 + \\delta^2}})$ = {no_margin:.4f}. In the same way noise whose "
      "radius grows like $\\sqrt n$, as that of a cube of fixed side does, is not covered.")

# %% [markdown]
# ## Reading

# %%
biggest = max(deltas)
tried = [t["data"] for t in (theorem_4, theorem_5, theorem_6, theorem_8)]
attack = epsilon + 0.05
flipped = f"{theorem_6_at(PICTURE, biggest):.0%}"
by_noise = display.number(theorem_6_at(PICTURE, 1.0), digits=2)
TRIES = 2000     # samples of noise around an image, in the paper's experiments
by_many = f"{np.exp(log_two_balls(PICTURE, epsilon, 1.0, samples=TRIES)):.1%}"
misread = display.number(float(tail(PICTURE, epsilon)), digits=2)
resist = display.number(100 * float(tail(PICTURE, attack - epsilon)), digits=2)
display.say(
    f"At ε = {epsilon:g} and n = {PICTURE:,}, one noise sample of norm up to 1 flips the label of a share of "
    f"{by_noise} of the points, and an attack of norm {attack:g} that of all but {resist}% (exact values). "
    f"At n = {END:,}, one noise sample of norm up to {biggest:g} flips the label of a share of "
    f"{display.number(noise[f'{biggest:g}']['exact_at_end'], digits=2)}. "
    f"Theorems 4, 5, 6 and 8 were violated in {sum(d['violations'] for d in tried)} of "
    f"{sum(d['cases'] for d in tried):,} cases. In Figure 4, {np.mean(list(inside.values())):.0%} of the 95% "
    "intervals contain the exact value.")

# %% [markdown]
# ## Try it
#
# - `-p epsilon 0.02` brings the centres together. Some claims fail, since 3,072 dimensions are no longer enough.
# - `-p deltas [0.5,5]` draws other noise in Figure 4(b). The longer the noise, the later its curve falls.
# - `-p draws 1000000` takes more random trials. The bars narrow around the exact curves.

# %%
run.minute(
    "Can a classifier be accurate, robust to random noise and vulnerable to small adversarial perturbations "
    f"at once? In a model of two unit balls in {PICTURE:,} dimensions, their centres "
    f"{2 * epsilon:g} apart and a plane midway, a share of {misread} of the points is misclassified (exact "
    f"value). One noise sample of norm up to 1 flips the label of {by_noise} of the points, at least one of "
    f"{TRIES:,} samples that of {by_many}, one of norm up to {biggest:g} that of {flipped}, and an "
    f"adversarial perturbation of norm {attack:g} that of all but {resist}%. The distance must not shrink as "
    f"the dimension n grows: at 2/√n the first of these shares tends to {no_margin:.0%} (formulas as "
    "reconstructed here).",
    picture=draw_two_balls(),
    alt="Two almost coincident circles with a line between their centres, and beside them the law of the "
        "coordinate across the line: two humps that separate as the dimension grows.")

# %%
run.stamp()
