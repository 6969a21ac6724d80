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
# (sutton-4-2-tables)=
# # 4.2 Two balls and a plane: item by item
#
# *Sutton et al. {cite:p}`sutton2023`, Section 4.2*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the random trials
device: str = "auto"  # auto, cpu or cuda; this page is too small to gain from a GPU
runs: str = "missing"  # this page has no runs
draws: int = None  # random trials for each probability; None takes the profile's value [1..]
epsilon: float = 0.1  # half the distance of the centres in the figures (0..1]
deltas: list = [0.1, 1.0, 10.0]  # radii of the noise in Figure 4(b) (0..)

# %% tags=["hide-cell"]
import numpy as np
import torch
from scipy import special

from papers.sutton import sketches
from papers.sutton.theorem import PICTURE, check
from papers.sutton.theory.ball import log_tail, sample_points, tail
from papers.sutton.theory.models import classify
from papers.sutton.theory.quadrature import cap_share, crossing
from papers.sutton.theory.statements import STATEMENTS
from report.page import numpy_generator, start
from report.verdict import equality
from shared import runtime

page = start("sutton/4_2_two_balls_tables", globals())
if not deltas:
    raise runtime.UserError("parameter 'deltas' cannot be empty; allowed: one radius or more, each above 0")
scale = page.scale(smoke=dict(draws=2_000), quick=dict(draws=500_000), paper=dict(draws=500_000))
END = int(sketches.FINE[-1])


def theorem_6_at(n, delta, which="log_exact"):
    """The exact probability of Theorem 6, or its bound, at this page's epsilon."""
    return float(np.exp(getattr(STATEMENTS["theorem-6"], which)(n=n, epsilon=epsilon, delta=delta)))


# %% [markdown]
# The statements of the section, one by one; {ref}`the page on two balls <sutton-4-2>` has what they come to.
#
# {doc}`The page of this paper </book/sutton>` says how a bound is tried (*Where it stands*) and what [derived] means (*The idea in one
# inequality*); [lost] is missing in our copy, [assumed] is our choice; {ref}`How to read this book <verdict-words>` has the badges. Exact values on
# the grid are for uniform data. $\ell$ is the class of the point $x$, $\mathbb B^n_\delta$ the ball of radius $\delta$ around the origin; noise $s$
# is uniform in it. $(a)_+$ is $\max(a, 0)$. As in {ref}`Section 4.1 <sutton-4-1>`, $\tau_n(x)$ is the share of the unit ball beyond a plane at
# distance $x$ from its centre, and $f_n$ the density of one coordinate of a uniform point. Lemma 23 of that section gives
# $\tau_n(x) \le \tfrac12(1 - x^2)^{n/2}$.
#
# ## Equation 1: two balls and a plane between
#
# Class 0 fills the unit ball around $c_0 = -\epsilon e_1$, class 1 the one around $c_1 = +\epsilon e_1$, where $e_1$ is the first unit vector; both
# classes are equally likely. For $\epsilon < 1$ the balls overlap. The classifier looks at one coordinate:
#
# $$f(x) = \begin{cases} 0 & \text{if } x_1 < 0,\\ 1 & \text{otherwise.}\end{cases}$$ (sutton-eq-1)
#
# It is compared with the rule of the nearer centre, which looks at whole vectors.

# %%
cloud, centre = sample_points(30, scale.draws // 10, numpy_generator(page, "cloud")), epsilon * np.eye(1, 30)
nearer = np.linalg.norm(cloud - centre, axis=1) <= np.linalg.norm(cloud + centre, axis=1)
differ = float((classify(cloud[:, 0]) != nearer).mean())
page.statement(
    "equation-1", data={"dimension": 30, "points": len(cloud), "differ_from_nearest_centre": differ},
    evidence=equality(within_allowed=differ == 0),
    note="Equation 1 is the rule of the nearer centre, which no rule can beat on uniform balls.")

# %% [markdown]
# ## Figure 3: the model
#
# In two dimensions this is a poor classifier for nearly coincident balls. The right panel shows why its error tends to 0: the balls keep
# overlapping, but hardly any volume is left where they do.

# %%
angle = np.linspace(0, 2 * np.pi, 361)
centres = epsilon * np.array([[-1.0, 0.0], [1.0, 0.0]])
outlines = centres[:, None] + np.stack([np.cos(angle), np.sin(angle)], axis=-1)
departure = float(np.abs(np.linalg.norm(outlines - centres[:, None], axis=-1) - 1).max())
ALT = ("Left: two almost coincident circles, their centres on either side of a line. Right: the law of the "
       "coordinate across it, two humps that overlap in a low dimension and separate in a high one.")
page.figure(
    "figure-3", (), lambda: sketches.two_balls(centres, outlines), evidence=equality(departure <= 1e-9),
    caption="Sutton et al., Figure 3, to scale. Left: a section through the two unit balls, their centres 2ε "
            "apart, with the decision plane between. Right: the law of the coordinate across the plane, for "
            "both classes, in three values of the dimension n: the classes separate although the balls do "
            "not.",
    alt=ALT,
    data=lambda: {"epsilon": epsilon, "centres": centres.tolist(),
                  "wrong_side": {str(n): float(tail(n, epsilon)) for n in (2, 100, PICTURE)}},
    note="The places of the centres are lost in the text and inferred from the proofs; the right half is not "
         "in the paper.")

# %% [markdown]
# ## Theorem 4: accuracy of the classifier
#
# $$\Pr(f(x)=\ell) \ge 1-\tfrac12K(1-\epsilon^2)^{n/2}$$
#
# for $0 \le \epsilon \le 1$ [derived]. $K \ge 1$ bounds the density (Definition 3), 1 for uniform data.
#
# :::{dropdown} Proof idea
# A point of class 1 is misclassified if it lies beyond the plane, in a cap of height $1 - \epsilon$. The density there is at most $K$ times the
# uniform one, and Lemma 23 bounds the cap. Exact for uniform data: accuracy $1 - \tau_n(\epsilon)$. The bound has the right rate.
# :::

# %%
log10_error = {str(n): float(log_tail(n, epsilon) / np.log(10)) for n in (PICTURE, 150_528, 196_608)}
check(page, "theorem-4", again=lambda n, epsilon: cap_share(n, epsilon),
      extra={"epsilon": epsilon, "log10_error": log10_error})

# %% [markdown]
# ## Theorem 5: the share of points that an adversarial perturbation misclassifies
#
# $$\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge 1-\tfrac12K(1-(\delta-\epsilon)^2)^{n/2}$$
#
# for $\epsilon \ge 0\text{ and }\epsilon \le \delta \le 1 + \epsilon$ [derived]. $K \ge 1$ bounds the density (Definition 3), 1 for uniform data.
#
# :::{dropdown} Proof idea
# A point of class 1 keeps its label under every perturbation of norm up to $\delta$ only if it lies more than $\delta$ from the plane, in a cap of
# height $1 - (\delta - \epsilon)$. In high dimension such a cap holds almost nothing: data concentrate near the plane through
# the centre of their ball, at distance $\epsilon$ from the boundary. Exact for uniform data: $1 - \tau_n(\delta - \epsilon)$.
# :::

# %%
check(page, "theorem-5", again=lambda n, epsilon, delta: cap_share(n, delta - epsilon))

# %% [markdown]
# ## Theorem 6: the probability that random noise misclassifies a point
#
# $$\Pr(f(x+s)\ne\ell) \le K\left(1-\left(\frac{\epsilon}{1+\delta}\right)^2\right)^{n/2}$$
#
# for $\delta > 0$, $0 \le \epsilon \le 1 + \delta$ [derived]. $K \ge 1$ bounds the density (Definition 3), 1 for uniform data.
#
# :::{dropdown} Proof idea, and the exact value
# Point and noise are both random. Together they must cover the distance $\epsilon$ to the plane. Cut it in two: either the point has covered at
# least $\epsilon - \tau$ of it, or the noise covers more than $\tau$. Both are caps, and the two bounds of Lemma 23 are equal at
# $\tau = \epsilon\delta/(1 + \delta)$, which gives the theorem, as $\tfrac12(1 + K) \le K$ [derived; whether its factor is $A^n$ or $A$ is lost].
# Exact for uniform data:
#
# $$\Pr(f(x+s) \ne \ell) = \int_{-1}^{1} f_n(t)\, \tau_n\!\left(\frac{\epsilon - t}{\delta}\right) dt .$$
# :::

# %%
noise = {f"{d:g}": {"over_distance_of_centres": d / (2 * epsilon), "exact_at_10": theorem_6_at(10, d),
                    "ratio_at_10": theorem_6_at(10, d, "log_bound") / theorem_6_at(10, d),
                    "exact_at_picture": theorem_6_at(PICTURE, d), "exact_at_end": theorem_6_at(END, d),
                    "bound_at_end": theorem_6_at(END, d, "log_bound")} for d in deltas}
check(page, "theorem-6", extra={"noise": noise}, again=crossing)

# %% [markdown]
# ## Figure 4: theory against sampling

# %%
accuracy = sketches.curve("theorem-4", draws=scale.draws, epsilon=epsilon,
                                 generator=numpy_generator(page, "figure-4 a"))
flips = {f"δ = {d:g}": sketches.curve("theorem-6", draws=scale.draws, epsilon=epsilon, delta=d,
                                             generator=numpy_generator(page, "figure-4 b", d))
         for d in deltas}
at_end = dict(n=END, epsilon=epsilon)
page.figure(
    "figure-4", (), lambda: sketches.accuracy_and_noise(accuracy, flips, epsilon),
    caption="Sutton et al., Figure 4: (a) accuracy of the linear classifier on two uniform balls and the "
            "bound of Theorem 4; (b) probability that random noise misclassifies a point, and the bound of "
            "Theorem 6, for noise of radius δ up to 50 times the distance of the centres. Lines: exact; "
            "dashes: bounds; dots and bars: random trials with 95% intervals.",
    alt="Left: accuracy rises from about a half to one as the dimension grows, the dashed bound "
        "below it, close from n = 1,000 on. "
        "Right: three curves fall to zero, the one for the largest noise last, with dashed bounds above.",
    data=lambda: {"epsilon": epsilon, "n": [1, END], "log10_error": log10_error, "noise": noise,
                  "exponent_of_bound_over_exact": float(STATEMENTS["theorem-4"].log_bound(**at_end)
                                                        / STATEMENTS["theorem-4"].log_exact(**at_end)),
                  "intervals_that_contain_the_exact_value": {
                      k: sketches.inside(c) for k, c in {"accuracy": accuracy, **flips}.items()}},
    note="The paper's ε and δ are lost.")

# %% [markdown]
# ## Theorem 7: the direction of the loss gradient
#
# Let $\hat f = \sigma(x_1)$ be a smooth version of the classifier and $L$ a differentiable increasing loss. With probability 1 over $x$, the gradient
# of the loss is a positive multiple of the best direction of attack. For the chain rule gives (equation 10 of the appendix is the case $\ell = 0$)
#
# $$\nabla_x L(|\hat f(x) - \ell|) = (1 - 2\ell)\; L'(|\hat f(x) - \ell|)\; \sigma'(x_1)\; e_1 ,$$
#
# a multiple of $e_1$, the shortest way across, for every $x$. It is a positive multiple of the right direction where $L'$ and $\sigma'$ are
# positive. [derived] What the paper asks of $\sigma$ is lost in part: Section 4.2 calls it "monotonically increasing with", and the rest of the
# sentence is gone. If that asked for $\sigma' > 0$, the theorem stands as printed. Below, automatic differentiation of a sigmoid with squared error
# is held against this formula and against the direction.
#
# :::{dropdown} Why some condition is needed (ours)
# The proof calls $\sigma$ and $L$ "continuously differentiable and monotonically increasing" and takes from the Morse-Sard theorem that the
# derivative is positive almost everywhere. That theorem speaks of the values of $\sigma$ at points with $\sigma' = 0$, not of these points, so the
# two words alone are not enough. Take a Cantor set $\mathcal K$ of positive length and let $\sigma'$ be proportional to the distance from
# $\mathcal K$: then $\sigma$ is strictly increasing and continuously differentiable, yet its gradient is zero on all of $\mathcal K$. An attack
# that starts there has no direction. The theorem holds if $\sigma' > 0$ and $L' > 0$ almost everywhere, for example for the logistic function with
# squared error or cross-entropy.
# :::

# %%
generator = numpy_generator(page, "theorem-7")
points = sample_points(30, scale.draws // 10, generator)
label = generator.integers(0, 2, scale.draws // 10)
points[:, 0] += (2 * label - 1) * epsilon
x = torch.tensor(points, requires_grad=True)
(torch.sigmoid(4 * x[:, 0]) - torch.tensor(label)).square().sum().backward()
slopes, value = x.grad.numpy(), special.expit(4 * points[:, 0])
formula = (1 - 2 * label) * 2 * np.abs(value - label) * 4 * value * (1 - value)    # along e_1
within = np.abs(slopes - np.c_[formula, 0 * points[:, 1:]]).max() <= 1e-12 * np.abs(formula).max()
across = ((1 - 2 * label) * slopes[:, 0] > 0) & (slopes[:, 1:] == 0).all(axis=1)
page.statement(
    "theorem-7", evidence=equality(within, violations=int((~across).sum())) | {"kind": "bound"},
    data={"points": len(points), "dimension": points.shape[1],
          "share_that_point_across": float(across.mean()), "within_allowed": bool(within)},
    note="Formula and direction hold at every point tried where σ' > 0 and L' > 0. "
         "The condition on σ is lost in the text at hand.")

# %% [markdown]
# ## Theorem 8: universal adversarial perturbations
#
# $$\Pr(f(x+s)\ne\ell\ \forall s\in S_\gamma(z)) \ge \left(1-\tfrac12K\left(1-\tfrac{\gamma^2}{4}\right)^{n/2}\right)_+^2$$
#
# for $0 \le \gamma \le 2$ [derived]. $K \ge 1$ bounds the density (Definition 3), 1 for uniform data. $S_\gamma(z)$ is the set of perturbations that carry
# $z$ past the plane by at least $\gamma$.
#
# :::{dropdown} Proof idea
# Of two points $x$ and $z$ of one class, all these perturbations carry $x$ across as soon as $x$ lies at most $\gamma$ farther from the plane than
# $z$, and this condition is not only enough but necessary. It holds if $x$ is not more than $\gamma/2$ behind the centre of the ball and $z$ not
# more than $\gamma/2$ before it; hence the square, and half of $\gamma$ for each. Exact for uniform data: $\Pr(T_z - T_x \le \gamma)$, where
# $T$ is the coordinate towards the plane; it depends neither on $\epsilon$ nor on the class.
# :::

# %%
check(page, "theorem-8", again=lambda n, gamma: crossing(n, gamma, 1.0))

# %% [markdown]
# ## Definition 3: bounded density
#
# Theorems 4 to 6 and 8 can fail if the points of a class may gather in small parts of its ball. Definition 3 limits this. It asks for a density $p$
# that is zero outside a ball of radius $r$ around some $c$, and at most $K$ times the uniform density inside:
#
# $$\sup_x p(x) \le \frac{K}{r^n V^n}, \qquad K = A^n .$$
#
# Here $V^n$ is the volume of the unit ball; $K = 1$ is the uniform law itself. [derived; $A^n$ or $A$ is lost.] A Gaussian with standard deviation
# 0.5, cut off at the unit ball, has $K < 8$ in every dimension; the uniform law on a ball of radius 0.9 inside the unit ball has $K = 0.9^{-n}$ for
# $r = 1$. If $K$ stays bounded as
# $n$ grows, the order of the bounds above in $n$ does not change. If it grows like $A^n$, a bound says something only where $A^2$ times its base is
# below 1.

# %%
page.statement(
    "definition-3",
    data={"dimension": 50, "half_ball_beyond_the_plane": 2 * cap_share(50, epsilon),
          "allowed_by_K_1": float(tail(50, epsilon)), "allowed_by_K_2": float(2 * tail(50, epsilon))},
    note="The half ball that faces the plane has K = 2 and exactly twice the uniform mass beyond the plane: "
         "the factor K on this mass cannot be improved.")

# %% [markdown]
# ## Definition 2: bounded density of several points
#
# This definition is about several points at once and is quoted from earlier work; no result of the paper uses it. It asks for constants $A > 0$,
# $0 < B < 1$ and $C$ such that for every $n$, every convex set $S$ of relative volume $V^n(S)/V^n \le A^n$, every point $x_i$ and any values of the
# other points,
#
# $$\Pr(x_i \in \mathbb B^n \setminus S \mid x_j = y_j,\ j \ne i) \ge 1 - C B^n .$$
#
# [derived in part: the two formulas follow the cited work, which was not at hand.] Independent points that satisfy Definition 3 with $A_3$ satisfy
# it with any $A < 1/A_3$, $B = A A_3$ and $C = 1$.

# %%
page.statement(
    "definition-2", data={}, note="Formula in part from the cited work; not used in any result.")

# %% [markdown]
# ## Choices that the paper leaves open
#
# | open | chosen here | why |
# | --- | --- | --- |
# | whether $\epsilon$ is half of the distance of the centres or all of it | half (*assumed*) | it is then the distance from a centre to the boundary; otherwise read $\epsilon/2$ for $\epsilon$ |
# | whether the density is bounded by $A^n$ or by $A$ times the uniform one | one number $K \ge 1$ stands for either (*lost*) | for uniform data $K = 1$ either way |
# | $\epsilon$, $\delta$ and $n$ of Figure 4 | $\epsilon = 0.1$; $\delta$ = 1, 10 and 100 $\epsilon$; $n$ from 1 to 200,000 | *lost*; the largest noise is 50 times the distance of the centres, as the text says |

# %%
page.finish()
