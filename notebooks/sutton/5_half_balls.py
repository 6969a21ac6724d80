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
epsilon: float = 0.1  # distance of each half-ball from the plane; in Section 6.5, of the centres (0..1]
n: int = 3072  # dimension of the box, the table and Figure 7; 3072: 32 by 32 pixels in colour [2..]

# %%
import itertools

import numpy as np
from scipy import optimize

from papers.sutton import explorer, sketches
from papers.sutton.theorem import PICTURE, check, one_in
from papers.sutton.theory import models, surfaces
from papers.sutton.theory.ball import sample_points, tail
from papers.sutton.theory.quadrature import cap_share, crossing
from papers.sutton.theory.statements import STATEMENTS
from report import display
from report.page import numpy_generator, start
from report.verdict import equality

page = start("sutton/5_half_balls", globals())
scale = page.scale(smoke=dict(draws=5_000), quick=dict(draws=100_000), paper=dict(draws=100_000))
DIMENSIONS = np.unique(np.geomspace(1, 200_000, 60).round().astype(int))
LAST = int(DIMENSIONS[-1])
TRIED = (1, 2, 5, 10, 30, 100, 300, 1000, 3072, 10_000, 50_000, 200_000)  # dimensions with random trials
DELTAS = (0.5, 1.0, 2.0, 5.0, 10.0)
TRIES, RARE = 2000, 0.01    # noise samples around a point, and the share of points that is called rare here


def flipped(n, epsilon, delta):
    """Exact probability that noise changes the label."""
    return float(np.exp(models.log_half_balls(n, epsilon, delta)))


# %% [markdown]
# ## The model, and what the paper leaves open
#
# Two classes may touch. In high dimension nearly every point is then still easy to attack, but random noise flips labels as well, in every dimension.
# The paper shows this with two half-balls. It concludes that the margin between classes is what keeps random tests from finding that a classifier can
# be attacked. This page computes the probabilities exactly, finds their limit, and ends with the two notions of stability of Section 6.5.
#
# A unit ball of $\mathbb R^n$ is cut through its centre. One half, moved back by $\epsilon$ from the plane $x_1 = 0$, holds class 0, its mirror image
# class 1; both are filled evenly. The classes are $2\epsilon$ apart, and the plane between them separates them without a mistake. $\tau_n(x)$ is the
# share of the $n$-dimensional unit ball beyond a plane at distance $x$ from its centre; $\Phi$ is the standard normal distribution function.
#
# The formulas of this section are missing in the text at hand. [derived] means proved again from the words of the appendix, [assumed] a harmless
# choice, [lost] not to be recovered.
#
# :::{dropdown} What the paper leaves open, and what is chosen here
#
# | open | here | tag |
# | --- | --- | --- |
# | what $\epsilon$ is | the distance of each flat face from the plane | [assumed] |
# | Theorems 18 to 20 | proved again along the lines of Appendix C, then checked | [derived] |
# | auxiliary constants in the proof of Theorem 20 | not needed: the bound is shown in a form that holds for each $n$ | [lost] |
# | parameters of Figure 6 | $\epsilon = 0$, and the parameter `epsilon` of this page beside it; $\delta$ = 0.1, 1, 10, where it exceeds $\epsilon$ (smaller noise flips no label); $n$ from 1 to 200,000 | [lost], ours |
#
# :::
#
# How a bound is checked, and what the verdicts mean, is said on {doc}`the opening page </book/sutton>`.
#
# ## Equation 5: the classifier
#
# The classifier assigns the side of the plane on which a point lies. It must classify every random point of the half-balls correctly:
#
# $$f(x) = \begin{cases} 0 & \text{if } x_1 < 0, \\ 1 & \text{otherwise.} \end{cases}$$ (sutton-eq-5)

# %%
cases = [(d, e) for d in (1, 30, 3072) for e in (0.0, epsilon)]
labelled = (models.half_balls(d, e, scale.draws, numpy_generator(page, "labels", d, e)) for d, e in cases)
wrong = sum(int((models.classify(x1) != label).sum()) for x1, label in labelled)
equation_5 = page.statement(
    "equation-5", data={"points_per_case": scale.draws, "cases": len(cases), "mislabelled": wrong},
    evidence=equality(within_allowed=True, violations=wrong))

# %% [markdown]
# ## Theorem 18: the share of attackable points
#
# $$\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge 1-(1-(\delta-\epsilon)^2)^{n/2}$$
#
# for $\epsilon \ge 0\text{ and }\epsilon \le \delta \le 1 + \epsilon$ [derived].
#
# The bound depends on $\delta - \epsilon$ only.
#
# :::{dropdown} Proof idea
# A point is out of reach of all attacks of norm $\delta$ only if it is deeper than $\delta - \epsilon$ in its half-ball. These points form a cap,
# and the cap fits into a half ball of radius $\sqrt{1-(\delta-\epsilon)^2}$ (Lemma 23). In high dimension a cap at any fixed depth holds almost
# nothing.
# :::

# %%
theorem_18 = check(page, "theorem-18", again=lambda n, epsilon, delta: 2 * cap_share(n, delta - epsilon))

# %% [markdown]
# ## Theorem 19: noise with a margin
#
# $$\Pr(f(x+s)\ne\ell) \le \tfrac12\left(1-\frac{\epsilon^2}{\delta^2}\right)^{n/2}$$
#
# for $\delta > 0$, $0 \le \epsilon \le \delta$ [derived].
#
# At $\epsilon = 0$ the bound is ½ in every dimension.
#
# :::{dropdown} Proof idea
# Every point is at least $\epsilon$ from the plane, so noise must cover at least $\epsilon$ along the normal. Whatever the point, the chance is no
# larger than the cap of the noise ball beyond distance $\epsilon$, and Lemma 23 bounds that cap.
# :::

# %%
theorem_19 = check(
    page, "theorem-19", again=lambda n, epsilon, delta: crossing(n, epsilon, delta, 0.0),
    extra={"dimensions": list(TRIED), "bound_without_margin": np.exp(STATEMENTS["theorem-19"].log_bound(
        n=np.array(TRIED), epsilon=0, delta=1)).tolist()})

# %% [markdown]
# ## Figure 6: with and without a margin

# %%
families = [
    {delta: sketches.curve("theorem-19", dimensions=DIMENSIONS, trial_dimensions=TRIED, draws=scale.draws,
                           generator=numpy_generator(page, "figure-6", delta, gap), epsilon=gap, delta=delta)
     for delta in (0.1, 1.0, 10.0) if delta > gap} for gap in (0.0, epsilon)]
without, margin = families
# of every sixth exact value, to another integration where that holds
off = max(abs(value / crossing(dimension, gap, delta, 0.0) - 1)
          for family, gap in zip(families, (0.0, epsilon)) for delta, c in family.items()
          for dimension, value in zip(c["n"][::6], c["exact"][::6]) if value > 1e-12)
ALT = ("Left: without a gap the chance that noise changes the label stays nearly level over the dimension. "
       "Right: with a gap it falls to almost nothing.")
figure_6 = page.figure(
    "figure-6", (), lambda: sketches.margins(without, margin, epsilon), evidence=equality(off <= 1e-8),
    caption="Sutton et al., Figure 6: probability that random noise changes the label, over the dimension, "
            "for half-balls that touch (left) and with a margin (right). Lines: exact; dashed: bound of "
            "Theorem 19; circles: random trials with their 95% intervals; dotted: the limit arctan(δ)/π.",
    alt=ALT,
    data=lambda: {"dimensions": list(TRIED),
                  "trials_without_margin": {f"{d:g}": ((c["low"] + c["high"]) / 2).tolist()
                                            for d, c in without.items()},
                  "exact_without_margin": {f"{d:g}": [float(c["exact"].min()), float(c["exact"].max())]
                                           for d, c in without.items()},
                  "exact_with_margin_at_largest_n": {f"{d:g}": float(c["exact"][-1])
                                                     for d, c in margin.items()},
                  "intervals_that_contain_the_exact_value": sketches.inside(without[1.0])},
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
# for $\delta > 0$ [derived]. The first formula holds for each $n$; the second is its limit and, as far as the surviving words tell, the form of the
# paper's statement.
#
# :::{dropdown} Proof idea
# In high dimension nearly all points lie within about $1/\sqrt n$ of the plane: a slab of half-width $\beta_p$ holds at least the share
# $p$ of them, with $\beta_p^2 = 1-(1-p)^{2/n}$. Noise moves a point by about $\delta/\sqrt n$ along the normal, which is the same order. So a point
# of the slab crosses with a chance that does not shrink, at least the cap beyond $\beta_p/\delta$. For large $n$ the cap becomes a tail of the normal
# law $\Phi$, and $p$ is chosen to make the product large.
# :::

# %%
flips = {f"flipped_{where}": {f"{d:g}": flipped(dimension, e, d) for d in DELTAS}
         for where, dimension, e in (
             ("without_margin", LAST, 0.0), ("with_margin", LAST, epsilon), ("at_picture", PICTURE, epsilon),
             ("at_picture_without_margin", PICTURE, 0.0))}
attackable, at_picture = (1 - float(np.exp(STATEMENTS["theorem-18"].log_exact(
    n=dimension, epsilon=epsilon, delta=epsilon + 0.1))) for dimension in (LAST, PICTURE))
theorem_20 = check(page, "theorem-20", again=lambda n, delta: crossing(n, 0.0, delta, 0.0), extra={
    "n": LAST, "epsilon": epsilon, **flips, "attackable_with_margin": attackable,
    "attackable_at_picture": at_picture})

# %% [markdown]
# ## Beyond the paper: the limit itself, and how small a margin is enough
#
# The bound of Theorem 20 is not the limit. In high dimension $\sqrt n\,x_1$ and $\sqrt n\,s_1$ are two independent normal variables, the second scaled
# by $\delta$. The label flips if the second is the larger one in absolute value and has the opposite sign. The ratio of two normal variables has a
# Cauchy distribution, so the limit is $\arctan(\delta)/\pi$ (dotted in Figure 6). At $\delta = 1$, where noise and data have the same size, the probability
# is ¼ in every dimension. For small $\delta$ the limit falls in proportion to $\delta$, the bound with $\delta^2$.
#
# With a margin, the depth of a typical point in its half-ball is still of the order $1/\sqrt n$, and what noise adds along the normal of the order
# $\delta/\sqrt n$. So noise rarely flips a label if $\epsilon$ is a few times $\delta/\sqrt n$. The experiments of the paper try 2,000 noise samples around each image; the table gives the $\epsilon$ at
# which at least one of them flips the label of only 1% of the points. All of this is ours [derived].

# %%
reach = epsilon + 0.1
withstand = display.number(
    float(np.exp(STATEMENTS["theorem-18"].log_exact(n=n, epsilon=epsilon, delta=reach))), digits=2)
kept = display.number(flipped(n, epsilon, 1.0), digits=2)
hiding = optimize.brentq(lambda e: models.log_half_balls(PICTURE, e, DELTAS[-1], TRIES) - np.log(RARE),
                         0.0, 0.999 * DELTAS[-1])    # the epsilon
display.table(["quantity", "exact value"], [
    [f"share flipped by noise of norm up to 1, ε = 0, n = {n:,}", f"{flipped(n, 0.0, 1.0):.0%}"],
    [f"the same, ε = {epsilon:g}", kept],
    [f"share that withstands every attack of norm {reach:g}, ε = {epsilon:g}, n = {n:,}", withstand],
    [f"ε at which one of {TRIES:,} samples of norm up to {DELTAS[-1]:g} flips {RARE:.0%}, n = {PICTURE:,}",
     f"{hiding:.2f}"]], "Two half-balls: what a margin changes")

# %% [markdown]
# ## Move it yourself
#
# Choose a model, a margin and a noise size with the sliders (mouse, or Tab and arrow keys). The curves run over the dimension; the values below are
# those at the dimension of the dotted line. All values are exact and computed in advance; nothing is drawn at random.

# %%
display.piece(explorer.noise())

# %% [markdown]
# (sutton-6-5)=
# ## 6.5 Two notions of stability
#
# The first notion is about the worst perturbation, the second about a typical one: where some perturbation flips the label, a point is
# {term}`unstable`, and yet it can be {term}`stable` with confidence. For a plane at distance $a$ from $x$ both are solved by hand: stable means
# $a > \delta$, and the confidence is one minus the cap of the noise ball beyond $a$. Below, both definitions [derived] are evaluated at points of the
# {ref}`two balls of Section 4.2 <sutton-4-2>`; ε is then the distance of each centre from the plane.
#
# ## Definition 21: stable against every perturbation
#
# A classifier is $\delta$-*stable* at $x$ if no perturbation of norm up to $\delta$ changes the label:
#
# $$f(x+s) = f(x) \quad\text{for all } s\in\mathbb B^n_\delta .$$ (sutton-def-21)
#
# It is tried by measuring the distance to the surface and, independently, by making the strongest attack.

# %%
NORMS = (0.5, 0.9, 1.0, 1.1, 1.5)  # of epsilon
disagree = 0    # points of the two balls where the distance to the plane and the strongest attack disagree
for d, f in itertools.product((30, 3072, 200_000), NORMS):
    x1, _ = models.two_balls(d, epsilon, scale.draws, numpy_generator(page, "stable", d, f))
    label = models.classify(x1)
    stays = models.classify(models.strongest_attack(x1, label, f * epsilon)) == label
    disagree += int(((surfaces.distance_to_surface(surfaces.flat(), 0.0, x1) > f * epsilon) != stays).sum())
definition_21 = page.statement(
    "definition-21", data={"epsilon": epsilon, "pushes": list(NORMS), "disagreements": disagree},
    evidence=equality(within_allowed=True, violations=disagree),
    note="A violation would be a point where the distance to the surface and the strongest attack disagree.")

# %% [markdown]
# ## Definition 22: stable with confidence
#
# A classifier is $\delta$-*stable with confidence* $\upsilon$ at $x$, for noise drawn from a law $\mu$ on $\mathbb B^n_\delta$, if
#
# $$\Pr_{s\sim\mu}\big(f(x+s) = f(x)\big) \ge \upsilon .$$ (sutton-def-22)
#
# It is tried with random noise in all $n$ coordinates.

# %%
points = off = 0
for d, f in itertools.product((3, 30, 300), (2, 5, 10)):
    generator = numpy_generator(page, "confidence", d, f)
    x = sample_points(d, 40, generator)[:, :1] - epsilon
    noise = sample_points(d, 1000, generator, radius=f * epsilon)[:, 0]
    measured = (models.classify(x + noise) == models.classify(x)).mean(axis=1)
    exact = 1 - tail(d, np.minimum(np.abs(x[:, 0]) / (f * epsilon), 1.0))
    # With this many points some deviate by chance: what counts is a distance that chance does not explain.
    off += int((np.abs(measured - exact) > 5 * np.sqrt(exact * (1 - exact) / 1000) + 5 / 1000).sum())
    points += len(exact)
definition_22 = page.statement(
    "definition-22", data={"points": points, "beyond_five_standard_errors": off},
    evidence=equality(within_allowed=True, violations=off),
    note="A violation would be a point whose confidence, measured with 1,000 noise samples in all "
         "coordinates, is more than five standard errors from one minus a cap.")

# %% [markdown]
# ## Figure 7: a typical point
#
# The figure shows points of the two balls in many dimensions: the horizontal axis is the first coordinate, the vertical axis the norm of all the
# others. Nearly all points sit at the equator of their ball, a little more or less than $\epsilon$ from the plane. The strongest attack is the short
# way to the plane. Random noise is much longer, but almost all of it is sideways: it lengthens the other coordinates and leaves the first one nearly
# where it was.

# %%
NOISE = 3 * epsilon
generator = numpy_generator(page, "figure-7")
cloud = sample_points(n, 300, generator)
x = cloud[np.argsort(cloud[:, 0])[len(cloud) // 2]] - epsilon * np.eye(1, n)[0]  # the point of median depth
# first coordinate, and length of the other ones, (m, 2)
flat_cloud, flat_noisy, (flat_x,) = (
    np.c_[points[:, 0], np.linalg.norm(points[:, 1:], axis=1)]
    for points in (cloud, x + sample_points(n, 1000, generator, radius=NOISE), x[None]))
flat_cloud -= [epsilon, 0]
distance = surfaces.distance_to_surface(surfaces.flat(), 0.0, flat_noisy[:, 0])
crossed = float((models.classify(flat_noisy[:, 0]) != models.classify(flat_x[0])).mean())
figure_7 = page.figure(
    "figure-7", (), lambda: sketches.typical(flat_cloud, flat_noisy, flat_x, n, epsilon, NOISE),
    evidence=equality(np.abs(distance - np.abs(flat_noisy[:, 0])).max() <= 1e-9),
    caption="Sutton et al., Figure 7: typical points of the two balls in n dimensions. Left: both balls. "
            "Right: a typical point x, the attack (arrow), the ball of perturbations up to 3ε (dashed) and "
            "1,000 random ones (dots).",
    alt="Left: two overlapping half discs with all points near their tops. Right: a point close to the "
        "decision line; a short arrow reaches the line, the cloud of noisy copies above the point does not.",
    data=lambda: {"distance_of_x": float(abs(flat_x[0])), "epsilon": epsilon,
                  "noise": NOISE, "noise_that_crosses": crossed,
                  "expected_to_cross": float(tail(n, abs(flat_x[0]) / NOISE))},
    note="A drawing from random points in all coordinates; the check is that drawn and computed distances to "
         "the plane agree.")

# %% [markdown]
# ## Try it
#
# - `-p epsilon 0.01` narrows the margin. Noise flips labels again in thousands of dimensions.
# - `-p n 30` draws Figure 7 where noise is not yet sideways. The cloud of noisy copies widens.
# - `-p draws 1000000` takes more random trials. Their intervals narrow around the exact curves.

# %%
far = f"gap of {2 * epsilon:g} radii, noise ten times as long"
shares = {"classes that touch": np.exp(models.log_half_balls(sketches.DIMENSIONS, 0.0, 1.0)),
          f"gap of {2 * epsilon:g} radii": np.exp(models.log_half_balls(sketches.DIMENSIONS, epsilon, 1.0)),
          far: np.exp(models.log_half_balls(sketches.DIMENSIONS, epsilon, DELTAS[-1]))}
page.box(
    "Why can noise miss what an attack finds?",
    "In a model (two half balls), a small gap hides attacks from noise.",
    "In {n:,} dimensions most points lie near the flat sides. If these touch, noise as long as the radius "
    "flips {touch:.0f}% of the points; a gap of {gap:g} radii leaves {left}, but an attack of that length "
    "flips nearly all.",
    "Trained networks' gaps are unknown.",
    facts={"n": n, "touch": 100 * flipped(n, 0.0, 1.0), "gap": 2 * epsilon,
           "left": one_in(flipped(n, epsilon, 1.0))},
    picture=sketches.falling(shares, "labels flipped by noise", grey=[far]),
    alt="Where the classes touch, the share of labels that noise flips is the same in every dimension; "
        "with a gap it falls to almost nothing.")

# %%
page.finish()
