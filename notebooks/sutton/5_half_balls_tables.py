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
# (sutton-5-tables)=
# # 5. Two half-balls: item by item
#
# *Sutton et al. {cite:p}`sutton2023`, Sections 5 and 6.5*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the random trials
device: str = "auto"  # auto, cpu or cuda; nothing here needs more than a CPU
runs: str = "missing"  # this page has no runs
draws: int = None  # random trials per case; None takes the profile's value [1..]
epsilon: float = 0.1  # distance of each half-ball from the plane; in Section 6.5, of the centres (0..1]
n: int = 3072  # dimension of Figure 7; 3072: 32 by 32 pixels in colour [2..]

# %% tags=["hide-cell"]
import itertools

import numpy as np

from papers.sutton import sketches
from papers.sutton.theorem import PICTURE, check
from papers.sutton.theory import models, surfaces
from papers.sutton.theory.ball import sample_points, tail
from papers.sutton.theory.quadrature import cap_share, crossing
from papers.sutton.theory.statements import STATEMENTS
from report.page import numpy_generator, start
from report.verdict import equality

page = start("sutton/5_half_balls_tables", globals())
scale = page.scale(smoke=dict(draws=5_000), quick=dict(draws=100_000), paper=dict(draws=100_000))
DIMENSIONS = np.unique(np.geomspace(1, 200_000, 60).round().astype(int))
LAST = int(DIMENSIONS[-1])
TRIED = (1, 2, 5, 10, 30, 100, 300, 1000, 3072, 10_000, 50_000, 200_000)  # dimensions with random trials
DELTAS = (0.5, 1.0, 2.0, 5.0, 10.0)


def flipped(dimension, gap, delta):
    """Exact probability that noise changes the label."""
    return float(np.exp(models.log_half_balls(dimension, gap, delta)))


# %% [markdown]
# The statements of the section, one by one; {ref}`the page on half-balls <sutton-5>` has what they come to.
#
# {doc}`The page of this paper </book/sutton>` says how a bound is tried (*Where it stands*) and what [derived] means (*The idea in one
# inequality*); [lost] is missing in our copy, [assumed] is our choice; {ref}`How to read this book <verdict-words>` has the badges.
# Each class fills half of a unit ball evenly; its flat side lies $\epsilon$ from the plane $x_1 = 0$, so that the margin, the gap between the classes,
# is $2\epsilon$ wide. $\ell$ is the class of the point $x$, $\mathbb B^n_\delta$ the ball of radius $\delta$ around the origin; noise $s$ is uniform in
# it. $\tau_n(x)$ is the share of the $n$-dimensional unit ball beyond a plane at distance $x$ from its centre, at most
# $\tfrac12(1 - x^2)^{n/2}$ by Lemma 23 of {ref}`Section 4.1 <sutton-4-1>`; $\Phi$ is the standard normal distribution function.

# %% [markdown]
# ## Equation 5: the classifier
#
# The classifier assigns the side of the plane on which a point lies. It must classify every random point of the half-balls correctly:
#
# $$f(x) = \begin{cases} 0 & \text{if } x_1 < 0, \\ 1 & \text{otherwise.} \end{cases}$$ (sutton-eq-5)

# %%
cases = [(d, e) for d in (1, 30, 3072) for e in (0.0, epsilon)]
labelled = (models.half_balls(d, e, scale.draws, numpy_generator(page, "labels", d, e)) for d, e in cases)
wrong = sum(int((models.classify(x1) != label).sum()) for x1, label in labelled)
page.statement(
    "equation-5", data={"points_per_case": scale.draws, "cases": len(cases), "mislabelled": wrong},
    evidence=equality(within_allowed=True, violations=wrong))

# %% [markdown]
# ## Theorem 18: the share of attackable points
#
# $$\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge 1-(1-(\delta-\epsilon)^2)^{n/2}$$
#
# for $\epsilon \ge 0\text{ and }\epsilon \le \delta \le 1 + \epsilon$ [derived].
#
# :::{dropdown} Proof idea
# A point is out of reach of all attacks of norm $\delta$ only if it is deeper than $\delta - \epsilon$ in its half-ball. These points form a cap,
# and the cap fits into a half ball of radius $\sqrt{1-(\delta-\epsilon)^2}$ (Lemma 23). In high dimension a cap at any fixed depth holds almost
# nothing.
# :::

# %%
check(page, "theorem-18", again=lambda n, epsilon, delta: 2 * cap_share(n, delta - epsilon))

# %% [markdown]
# ## Theorem 19: noise with a margin
#
# $$\Pr(f(x+s)\ne\ell) \le \tfrac12\left(1-\frac{\epsilon^2}{\delta^2}\right)^{n/2}$$
#
# for $\delta > 0$, $0 \le \epsilon \le \delta$ [derived].
#
# :::{dropdown} Proof idea
# Every point is at least $\epsilon$ from the plane, so noise must cover at least $\epsilon$ along the normal. Whatever the point, the chance is no
# larger than the cap of the noise ball beyond distance $\epsilon$, and Lemma 23 bounds that cap.
# :::

# %%
check(
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
page.figure(
    "figure-6", (), lambda: sketches.margins(without, margin, epsilon), evidence=equality(off <= 1e-8),
    caption="Sutton et al., Figure 6: probability that random noise changes the label, over the dimension, "
            "for half-balls that touch (left) and with a margin (right). Lines: exact; dashed (right): bound "
            "of Theorem 19; circles: random trials with their 95% intervals; dotted (left): the limit "
            "arctan(δ)/π.",
    alt=ALT,
    data=lambda: {"dimensions": list(TRIED),
                  "trials_without_margin": {f"{d:g}": ((c["low"] + c["high"]) / 2).tolist()
                                            for d, c in without.items()},
                  "exact_without_margin": {f"{d:g}": [float(c["exact"].min()), float(c["exact"].max())]
                                           for d, c in without.items()},
                  "exact_with_margin_at_largest_n": {f"{d:g}": float(c["exact"][-1])
                                                     for d, c in margin.items()},
                  "intervals_that_contain_the_exact_value": sketches.inside(without[1.0])},
    note="The paper's parameters are lost.")

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
# In high dimension nearly all points lie within a few times $1/\sqrt n$ of the plane: the slab of half-width $\beta_p$ holds at least the share $p$
# of the points. Noise moves a point by about $\delta/\sqrt n$ along the normal, which is the same order. So a point of the
# slab crosses with a chance that does not shrink, at least the cap beyond $\beta_p/\delta$. For large $n$ the cap becomes a tail of the normal law
# $\Phi$, and $p$ is chosen to make the product large.
# :::

# %%
flips = {f"flipped_{where}": {f"{d:g}": flipped(dimension, e, d) for d in DELTAS}
         for where, dimension, e in (
             ("without_margin", LAST, 0.0), ("with_margin", LAST, epsilon), ("at_picture", PICTURE, epsilon),
             ("at_picture_without_margin", PICTURE, 0.0))}
attackable, at_picture = (1 - float(np.exp(STATEMENTS["theorem-18"].log_exact(
    n=dimension, epsilon=epsilon, delta=epsilon + 0.1))) for dimension in (LAST, PICTURE))
check(page, "theorem-20", again=lambda n, delta: crossing(n, 0.0, delta, 0.0), extra={
    "n": LAST, "epsilon": epsilon, **flips, "attackable_with_margin": attackable,
    "attackable_at_picture": at_picture})

# %% [markdown]
# (sutton-6-5)=
# ## Definition 21: stable against every perturbation
#
# Section 6.5 distinguishes two notions, of the worst perturbation and of a typical one. A point is {term}`unstable` if some perturbation flips its
# label; it can still be {term}`stable` with confidence, if random noise rarely does. Both notions are tried on points of the
# {ref}`two balls of Section 4.2 <sutton-4-2>`, where ε is the distance of each centre from the plane.
#
# A classifier is $\delta$-*stable* at $x$ if no perturbation of norm up to $\delta$ changes the label:
#
# $$f(x+s) = f(x) \quad\text{for all } s\in\mathbb B^n_\delta .$$ (sutton-def-21)
#
# It is tried by measuring the distance to the plane and, independently, by making the strongest attack.

# %%
NORMS = (0.5, 0.9, 1.0, 1.1, 1.5)  # of epsilon
disagree = 0    # points of the two balls where the distance to the plane and the strongest attack disagree
for d, f in itertools.product((30, 3072, 200_000), NORMS):
    x1, _ = models.two_balls(d, epsilon, scale.draws, numpy_generator(page, "stable", d, f))
    label = models.classify(x1)
    stays = models.classify(models.strongest_attack(x1, label, f * epsilon)) == label
    disagree += int(((surfaces.distance_to_surface(surfaces.flat(), 0.0, x1) > f * epsilon) != stays).sum())
page.statement(
    "definition-21", data={"epsilon": epsilon, "pushes": list(NORMS), "disagreements": disagree},
    evidence=equality(within_allowed=True, violations=disagree))

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
page.statement(
    "definition-22", data={"points": points, "beyond_five_standard_errors": off},
    evidence=equality(within_allowed=True, violations=off),
    note="A violation would be a point whose confidence, measured with 1,000 noise samples in all "
         "coordinates, differs by more than five standard errors plus 0.005 from the exact value.")

# %% [markdown]
# ## Figure 7: a typical point
#
# The figure shows points of the two balls in many dimensions: the horizontal axis is the first coordinate, the vertical axis the norm of all the
# others. Nearly all points lie close to the plane $x_1 = \pm\epsilon$ through the centre of their ball, so a little more or less than $\epsilon$
# from the boundary. The strongest attack goes the short way to the boundary. Random noise is here up to $3\epsilon$ long, but almost all of it goes
# sideways: it lengthens the vector of the other coordinates and leaves the first one nearly where it was.

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
page.figure(
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
# ## Choices that the paper leaves open
#
# | open | here | tag |
# | --- | --- | --- |
# | what $\epsilon$ is | the distance of each flat face from the plane | [assumed] |
# | auxiliary constants in the proof of Theorem 20 | not needed: the bound is shown in a form that holds for each $n$ | [lost] |
# | parameters of Figure 6 | $\epsilon = 0$, and the parameter `epsilon` of this page beside it; $\delta$ = 0.1, 1, 10, where it exceeds $\epsilon$ (smaller noise flips no label); $n$ from 1 to 200,000 | [lost], ours |

# %%
page.finish()
