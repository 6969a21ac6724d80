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
# # 4.2 Two balls and a plane: accurate, robust to noise, and open to attack
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
import torch
from scipy import optimize, special

from papers.sutton import sketches
from papers.sutton.theorem import PICTURE, by_chance, check, one_in
from papers.sutton.theory.ball import log_tail, sample_points, tail
from papers.sutton.theory.models import classify, log_two_balls
from papers.sutton.theory.quadrature import cap_share, crossing
from papers.sutton.theory.statements import STATEMENTS
from report import display
from report.page import numpy_generator, start
from report.verdict import equality
from shared import runtime

page = start("sutton/4_2_two_balls", globals())
if not deltas:
    raise runtime.UserError("parameter 'deltas' cannot be empty; allowed: one radius or more, each above 0")
scale = page.scale(smoke=dict(draws=2_000), quick=dict(draws=500_000), paper=dict(draws=500_000))
END = int(sketches.FINE[-1])

# %% [markdown]
# ## The idea
#
# Each of two classes fills a ball of radius 1, evenly. The centres lie $2\epsilon$ apart, and the classifier is the plane midway between them. For
# small $\epsilon$ the balls nearly coincide, and in two dimensions the classifier is poor. In high dimension nearly all points of a ball lie close
# to the plane through its centre, so that hardly any is left where the balls overlap.
#
# The paper proves that five things hold together, each with a probability that tends to one exponentially fast as the dimension grows, if the
# distance of the centres stays the same: the classifier is accurate, a small perturbation flips nearly every point, random noise hardly any, the
# gradient points straight across the plane, and one perturbation serves for nearly all points.
#
# ## Step by step: points, noise and an attack
#
# Change the distance of the centres, the noise or the attack and run the cell again.

# %% tags=["show-input"]
import numpy as np

SAMPLES, HALF, NOISE, ATTACK, TRIED = 1_000, 0.1, 1.0, 0.15, (2, 100, 3_072)
generator = np.random.default_rng(0)


def ball(n, radius=1.0):
    """Uniform points of a ball in n dimensions."""
    points = generator.standard_normal((SAMPLES, n))
    points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
    return points * generator.random((SAMPLES, 1)) ** (1 / n)


balls, counted = {}, {}
for n in TRIED:
    # 1. Two classes: balls of radius 1, their centres HALF before and behind the plane.
    label = np.arange(SAMPLES) % 2
    x = ball(n)
    x[:, 0] += HALF * (2 * label - 1)
    # 2. The classifier looks at the first coordinate.
    wrong = (x[:, 0] >= 0) != label
    # 3. Noise is uniform in a ball.
    noisy = ((x + ball(n, NOISE))[:, 0] >= 0) != label
    # 4. The attack goes straight across the plane.
    safe = (x[:, 0] + ATTACK * (1 - 2 * label) >= 0) == label
    balls[n] = [x[label == 0], x[label == 1]]
    counted[n] = [wrong.mean(), noisy.mean(), safe.mean()]

# %%
exact = {n: [float(p) for p in (tail(n, HALF), np.exp(log_two_balls(n, HALF, NOISE)), tail(n, ATTACK - HALF))]
         for n in TRIED}
display.picture(
    sketches.clouds({f"n = {n:,}": points for n, points in balls.items()}, names=("class 0", "class 1")),
    "Points of the two balls and the plane (black).",
    "Panels for growing dimensions: two overlapping half discs, then two caps, then two dots beside the "
    "plane.")
display.table(["dimension", "misclassified", "misclassified under noise", "safe from the attack"],
              [[f"{n:,}", *(f"{one_in(share)} ({one_in(p)})" for share, p in zip(counted[n], exact[n]))]
               for n in TRIED], f"Share of {SAMPLES:,} points, and the exact value in brackets.")
assert all(by_chance(counted[n], exact[n], SAMPLES) for n in TRIED), \
    "the steps above and the page's exact values now differ"


# %% [markdown]
# ## What came out
#
# ### In the dimension of an image, all three hold together

# %%
def theorem_6_at(n, delta, which="log_exact"):
    """The exact probability of Theorem 6, or its bound, at this page's epsilon."""
    return float(np.exp(getattr(STATEMENTS["theorem-6"], which)(n=n, epsilon=epsilon, delta=delta)))


attack, biggest, TRIES = epsilon + 0.05, max(deltas), 2000     # noise samples in the paper's experiments
error, safe = float(tail(PICTURE, epsilon)), float(tail(PICTURE, attack - epsilon))
by_noise, flipped = theorem_6_at(PICTURE, 1.0), theorem_6_at(PICTURE, biggest)
by_many = float(np.exp(log_two_balls(PICTURE, epsilon, 1.0, samples=TRIES)))
display.table(["event", "share of the points"], [
    ["misclassified", one_in(error)],
    ["flipped by one noise sample as long as the radius", one_in(by_noise)],
    [f"flipped by at least one of {TRIES:,} such samples", one_in(by_many)],
    [f"flipped by one noise sample of {biggest:g} radii", one_in(flipped)],
    [f"not flipped by an attack of {attack:g} radii", one_in(safe)]],
    f"Two balls in {PICTURE:,} dimensions, their centres {2 * epsilon:g} radii apart. Exact values.")

# %% [markdown]
# ### Robustness to noise ends where the noise is long, or the classes are near
#
# All of this needs a distance $\epsilon$ that does not shrink. With $\epsilon = c/\sqrt n$ the probability that noise of radius $\delta$
# misclassifies a point tends to $\Phi(-c/\sqrt{1 + \delta^2})$, a fixed value. In the same way noise whose radius grows like $\sqrt n$, as that of
# a cube of fixed side does, is not covered. Figure 4 below shows noise far longer than the distance of the centres.
#
# ## Where it differs, and why
#
# *This part is ours.* The bound of Theorem 6 adds up the cases in which the point or the noise alone covers its share of the distance $\epsilon$,
# the shares being $1 : \delta$. In truth both must do their part, so the two small probabilities multiply. For small $\epsilon$ the true rate
# $-\frac1n \ln \Pr$ is about $\epsilon^2 / (2(1 + \delta^2))$ and that of the bound $\epsilon^2 / (2(1 + \delta)^2)$, half of the true one at
# $\delta = 1$: the bound asks for twice as many dimensions as needed.
#
# ## Three things to remember
#
# 1. Two classes can overlap almost completely and still be told apart: high dimension empties the overlap.
# 2. Nearly all points lie at the same small distance before the plane, so one short step flips them all.
# 3. Noise spends its length sideways; it must be many times longer than that distance to cross.
#
# ## Try it
#
# 1. `HALF = 0.02` in the cell above. Which share is misclassified in the largest dimension?
# 2. With `HALF = 0.1`, how short may the attack be to flip nine of ten points there? Change `ATTACK` and see.
# 3. `-p deltas [0.5,5]` draws other noise in Figure 4. From which dimension on does noise of five radii misclassify less than one point in a
#    hundred?

# %%
short = epsilon + optimize.brentq(lambda x: float(tail(PICTURE, x)) - 0.1, 0, 1)
late = sketches.DIMENSIONS[np.exp(log_two_balls(sketches.DIMENSIONS, epsilon, 5.0)) < 0.01][0]
display.show(display.folded("Answers", (
    f"1. {one_in(float(tail(PICTURE, 0.02)))}.\n2. {short:.3f} radii.\n3. From about {late:,} on.")))

# %% [markdown]
# ## Item by item
#
# How a bound is tried, where the formulas come from ([derived]), and what the badges mean, is said on {doc}`the opening page </book/sutton>`. Exact
# values are for uniform data. As in {ref}`Section 4.1 <sutton-4-1>`, $\tau_n(x)$ is the share of the unit ball beyond a plane at distance $x$ from
# its centre, and $f_n$ the density of one coordinate of a uniform point.
#
# ### Equation 1: two balls and a plane between
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
equation_1 = page.statement(
    "equation-1", data={"dimension": 30, "points": len(cloud), "differ_from_nearest_centre": differ},
    evidence=equality(within_allowed=differ == 0),
    note="Equation 1 is the rule of the nearer centre, which no rule can beat on uniform balls.")

# %% [markdown]
# ### Figure 3: the model
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
figure_3 = page.figure(
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
# ### Theorem 4: accuracy of the classifier
#
# $$\Pr(f(x)=\ell) \ge 1-\tfrac12K(1-\epsilon^2)^{n/2}$$
#
# for $0 \le \epsilon \le 1$ [derived]. $K \ge 1$ is the density constant, 1 for uniform data.
#
# :::{dropdown} Proof idea
# A point of class 1 is misclassified if it lies beyond the plane, in a cap of height $1 - \epsilon$. The density there is at most $K$ times the
# uniform one, and Lemma 23 bounds the cap. Exact for uniform data: accuracy $1 - \tau_n(\epsilon)$. The bound has the right rate.
# :::

# %%
log10_error = {str(n): float(log_tail(n, epsilon) / np.log(10)) for n in (PICTURE, 150_528, 196_608)}
theorem_4 = check(page, "theorem-4", again=lambda n, epsilon: cap_share(n, epsilon),
                  extra={"epsilon": epsilon, "log10_error": log10_error})

# %% [markdown]
# ### Theorem 5: the share of points that an adversarial perturbation misclassifies
#
# $$\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge 1-\tfrac12K(1-(\delta-\epsilon)^2)^{n/2}$$
#
# for $\epsilon \ge 0\text{ and }\epsilon \le \delta \le 1 + \epsilon$ [derived]. $K \ge 1$ is the density constant, 1 for uniform data.
#
# :::{dropdown} Proof idea
# A point of class 1 keeps its label under every perturbation of norm up to $\delta$ only if it lies more than $\delta$ from the plane, in a cap of
# height $1 - (\delta - \epsilon)$. Such a cap is as small as any other at a fixed distance from the centre: data concentrate near the plane through
# the centre of their ball, at distance $\epsilon$ from the boundary. Exact for uniform data: $1 - \tau_n(\delta - \epsilon)$.
# :::

# %%
theorem_5 = check(page, "theorem-5", again=lambda n, epsilon, delta: cap_share(n, delta - epsilon))

# %% [markdown]
# ### Theorem 6: the probability that random noise misclassifies a point
#
# $$\Pr(f(x+s)\ne\ell) \le K\left(1-\left(\frac{\epsilon}{1+\delta}\right)^2\right)^{n/2}$$
#
# for $\delta > 0$, $0 \le \epsilon \le 1 + \delta$ [derived]. $K \ge 1$ is the density constant, 1 for uniform data.
#
# :::{dropdown} Proof idea, and the exact value
# Point and noise are both random. Together they must cover the distance $\epsilon$ to the plane. Cut it in two: either the point has covered at
# least $\epsilon - \tau$ of it, or the noise covers more than $\tau$. Both are caps, and the two bounds of Lemma 23 are equal at
# $\tau = \epsilon\delta/(1 + \delta)$, which gives the theorem [derived; whether its factor is $A^n$ or $A$ is lost]. Exact for
# uniform data:
#
# $$\Pr(f(x+s) \ne \ell) = \int_{-1}^{1} f_n(t)\, \tau_n\!\left(\frac{\epsilon - t}{\delta}\right) dt .$$
# :::

# %%
noise = {f"{d:g}": {"over_distance_of_centres": d / (2 * epsilon), "exact_at_10": theorem_6_at(10, d),
                    "ratio_at_10": theorem_6_at(10, d, "log_bound") / theorem_6_at(10, d),
                    "exact_at_picture": theorem_6_at(PICTURE, d), "exact_at_end": theorem_6_at(END, d),
                    "bound_at_end": theorem_6_at(END, d, "log_bound")} for d in deltas}
theorem_6 = check(page, "theorem-6", extra={"noise": noise}, again=crossing)

# %% [markdown]
# ### Figure 4: theory against sampling

# %%
accuracy = sketches.curve("theorem-4", draws=scale.draws, epsilon=epsilon,
                                 generator=numpy_generator(page, "figure-4 a"))
flips = {f"δ = {d:g}": sketches.curve("theorem-6", draws=scale.draws, epsilon=epsilon, delta=d,
                                             generator=numpy_generator(page, "figure-4 b", d))
         for d in deltas}
at_end = dict(n=END, epsilon=epsilon)
figure_4 = page.figure(
    "figure-4", (), lambda: sketches.accuracy_and_noise(accuracy, flips, epsilon),
    caption="Sutton et al., Figure 4: (a) accuracy of the linear classifier on two uniform balls and the "
            "bound of Theorem 4; (b) probability that random noise misclassifies a point, and the bound of "
            "Theorem 6, for noise of radius δ up to 50 times the distance of the centres. Lines: exact; "
            "dashes: bounds; dots and bars: random trials with 95% intervals.",
    alt="Left: accuracy rises from about a half to one as the dimension grows, the dashed bound close below. "
        "Right: three curves fall to zero, the one for the largest noise last, with dashed bounds above.",
    data=lambda: {"epsilon": epsilon, "n": [1, END], "log10_error": log10_error, "noise": noise,
                  "exponent_of_bound_over_exact": float(STATEMENTS["theorem-4"].log_bound(**at_end)
                                                        / STATEMENTS["theorem-4"].log_exact(**at_end)),
                  "intervals_that_contain_the_exact_value": {
                      k: sketches.inside(c) for k, c in {"accuracy": accuracy, **flips}.items()}},
    note="The paper's ε and δ are lost.")

# %% [markdown]
# ### Theorem 7: the direction of the loss gradient
#
# Let $\hat f = \sigma(x_1)$ be a smooth version of the classifier and $L$ an increasing loss. The chain rule gives (equation 10 of the appendix is
# the case $\ell = 0$)
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
# that starts there has no direction. The theorem holds if $\sigma' > 0$ and $L' > 0$ almost everywhere, as for every loss and sigmoid in use.
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
theorem_7 = page.statement(
    "theorem-7", evidence=equality(within, violations=int((~across).sum())) | {"kind": "bound"},
    data={"points": len(points), "dimension": points.shape[1],
          "share_that_point_across": float(across.mean()), "within_allowed": bool(within)},
    note="Formula and direction hold at every point tried where σ' > 0 and L' > 0. "
         "The condition on σ is lost in the text at hand; without one there is a counterexample (above).")

# %% [markdown]
# ### Theorem 8: universal adversarial perturbations
#
# $$\Pr(f(x+s)\ne\ell\ \forall s\in S_\gamma(z)) \ge \left(1-\tfrac12K\left(1-\tfrac{\gamma^2}{4}\right)^{n/2}\right)_+^2$$
#
# for $0 \le \gamma \le 2$ [derived]. $K \ge 1$ is the density constant, 1 for uniform data. $S_\gamma(z)$ is the set of perturbations that carry
# $z$ past the plane by at least $\gamma$.
#
# :::{dropdown} Proof idea
# Of two points $x$ and $z$ of one class, all these perturbations carry $x$ across as soon as $x$ lies at most $\gamma$ farther from the plane than
# $z$, and this condition is not only enough but necessary. It holds if $x$ is not more than $\gamma/2$ behind the centre of the ball and $z$ not
# more than $\gamma/2$ before it; hence the square, and half of the margin for each. Exact for uniform data: $\Pr(T_z - T_x \le \gamma)$, which
# depends neither on $\epsilon$ nor on the class.
# :::

# %%
theorem_8 = check(page, "theorem-8", again=lambda n, gamma: crossing(n, gamma, 1.0))

# %% [markdown]
# ### Definition 3: bounded density
#
# Theorems 4 to 6 can fail if all points of a class could lie in one place of its ball. Definition 3 excludes this. It asks for a density $p$ that
# is zero outside a ball of radius $r$ around some $c$, and at most $K$ times the uniform density inside:
#
# $$\sup_x p(x) \le \frac{K}{r^n V^n}, \qquad K = A^n .$$
#
# Here $V^n$ is the volume of the unit ball; $K = 1$ is the uniform law itself. [derived; $A^n$ or $A$ is lost.] A Gaussian with standard deviation
# 0.5, cut off at the unit ball, has $K < 8$ in every dimension; the uniform law on a ball of radius 0.9 has $K = 0.9^{-n}$. If $K$ stays bounded as
# $n$ grows, the order of the bounds below in $n$ does not change. If it grows like $A^n$, a bound says something only where $A^2$ times its base is
# below 1.

# %%
definition_3 = page.statement(
    "definition-3",
    data={"dimension": 50, "half_ball_beyond_the_plane": 2 * cap_share(50, epsilon),
          "allowed_by_K_1": float(tail(50, epsilon)), "allowed_by_K_2": float(2 * tail(50, epsilon))},
    note="The half ball that faces the plane has K = 2 and exactly twice the uniform mass beyond it: the "
         "constant cannot be improved.")

# %% [markdown]
# ### Definition 2: bounded density of several points
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
definition_2 = page.statement(
    "definition-2", data={}, note="Formula in part from the cited work; not used in any result.")

# %% [markdown]
# ### Choices that the paper leaves open
#
# | open | chosen here | why |
# | --- | --- | --- |
# | whether $\epsilon$ is half of the distance of the centres or all of it | half (*assumed*) | it is then the distance from a centre to the boundary; otherwise read $\epsilon/2$ for $\epsilon$ |
# | whether the density is bounded by $A^n$ or by $A$ times the uniform one | one number $K \ge 1$ stands for either (*lost*) | for uniform data $K = 1$ either way |
# | $\epsilon$, $\delta$ and $n$ of Figure 4 | $\epsilon = 0.1$; $\delta$ = 1, 10 and 100 $\epsilon$; $n$ from 1 to 200,000 | *lost*; the largest noise is 50 times the distance of the centres, as the text says |

# %%
shares = {"misclassified": tail(sketches.DIMENSIONS, epsilon),
          "flipped by noise as long as the radius": np.exp(log_two_balls(sketches.DIMENSIONS, epsilon, 1.0)),
          f"not flipped by an attack of {attack:g} radii": tail(sketches.DIMENSIONS, attack - epsilon)}
page.box(
    "Can a classifier be accurate, robust to noise and easy to attack?",
    "Yes: with two overlapping balls as classes, a high dimension brings all three together."
    if max(error, by_noise, safe) < 0.01 else "Not all three at once at this distance of the classes.",
    "In {n:,} dimensions nearly all points lie about {epsilon:g} radii before the boundary. {error} lies "
    "beyond it, misclassified; noise as long as the radius flips {noise}, an attack of {reach:g} radii "
    "{attack:.1f}%.",
    "Noise of ten radii flips {large:.0f}%.",
    facts={"n": PICTURE, "epsilon": epsilon, "error": one_in(error).replace(" ", " point ", 1),
           "noise": one_in(by_noise), "reach": attack, "attack": 100 * (1 - safe),
           "large": 100 * theorem_6_at(PICTURE, 10.0)},
    picture=sketches.falling(shares, "share of the points"),
    alt="Three curves fall as the dimension grows: points that are misclassified, points whose label noise "
        "flips, and points whose label an attack does not flip.")

# %%
page.finish()
