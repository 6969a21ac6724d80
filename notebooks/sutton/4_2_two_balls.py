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
# (sutton-4-2)=
# # 4.2 Two balls and a plane: accurate, robust to noise, and open to attack
#
# *Sutton et al. {cite:p}`sutton2023`, Section 4.2*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the random trials
device: str = "auto"  # auto, cpu or cuda; this page is too small to gain from a GPU
runs: str = "missing"  # this page has no runs
epsilon: float = 0.1  # half the distance of the centres (0..1]

# %% tags=["hide-cell"]
from scipy import optimize

from papers.sutton import sketches
from papers.sutton.theorem import PICTURE, by_chance, one_in
from papers.sutton.theory.ball import tail
from papers.sutton.theory.models import log_two_balls
from report import display
from report.page import start

page = start("sutton/4_2_two_balls", globals())

# %% [markdown]
# ## The idea
#
# Each of two classes fills a ball of radius 1, evenly. The centres lie $2\epsilon$ apart, and the classifier is the plane midway between them. For
# small $\epsilon$ the balls nearly coincide, and in two dimensions the classifier is poor. In high dimension nearly all points lie within a few times
# $1/\sqrt n$ of the plane through the centre, parallel to the boundary. Where this is less than $\epsilon$, hardly any point lies where the balls
# overlap.
#
# The paper names four properties: the classifier is accurate, noise flips hardly any point, a small attack flips nearly every point, and the
# gradient of the loss gives its direction. The first three hold with a probability that tends to one exponentially fast as the dimension grows, if
# the distance of the centres stays the same. Beyond them, a perturbation that carries one point a margin past the plane flips nearly all others of
# its class.
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
# ### In 3,072 dimensions: accurate, robust to noise, open to attack

# %%
attack, LONG, TRIES = epsilon + 0.05, 10.0, 2000     # noise samples in the paper's experiments
error, safe = float(tail(PICTURE, epsilon)), float(tail(PICTURE, attack - epsilon))
by_noise, by_long = (float(np.exp(log_two_balls(PICTURE, epsilon, norm))) for norm in (1.0, LONG))
by_many = float(np.exp(log_two_balls(PICTURE, epsilon, 1.0, samples=TRIES)))
display.table(["event", "share of the points"], [
    ["misclassified", one_in(error)],
    ["misclassified under noise as long as the radius", one_in(by_noise)],
    [f"misclassified under at least one of {TRIES:,} such samples", one_in(by_many)],
    [f"misclassified under noise of {LONG:g} radii", one_in(by_long)],
    [f"correct in spite of an attack of {attack:g} radii", one_in(safe)]],
    f"Two balls in {PICTURE:,} dimensions, their centres {2 * epsilon:g} radii apart. Exact values.")

# %% [markdown]
# The share of misclassified points equals the share of noise that crosses in {ref}`Section 4.1 <sutton-4-1>`, for noise $1/\epsilon$ times as long as
# the distance: both are the part of a ball beyond a plane at $\epsilon$ radii from its centre. There the ball holds the noise, here the points of a
# class.

# %% [markdown]
# ### Robustness to noise ends where the noise is long, or the classes are near
#
# All of this needs a distance $\epsilon$ that does not shrink. With $\epsilon = c/\sqrt n$ the probability that noise of radius $\delta$
# misclassifies a point tends to $\Phi(-c/\sqrt{1 + \delta^2})$, a fixed value. ($\Phi$: the normal distribution function.) The paper
# adds that noise of a fixed size per pixel has a norm that grows like $\sqrt n$; for ball noise of such a radius the probability does not vanish either.
#
# ## Where it differs, and why
#
# *This part is ours.* The bound of Theorem 6 splits the distance $\epsilon$ in the ratio $1 : \delta$ between point and noise. A crossing needs at
# least one of them to cover its part, so the bound adds the probabilities of the two parts. The likeliest crossing splits the distance
# $1 : \delta^2$ between point and noise; both parts are rare, and their probabilities multiply. For small $\epsilon$ the true rate
# $-\frac1n \ln \Pr$ is about $\epsilon^2 / (2(1 + \delta^2))$ and that of the bound $\epsilon^2 / (2(1 + \delta)^2)$, half of the true one at
# $\delta = 1$: the bound asks for twice as many dimensions as needed.
#
# ## Three things to remember
#
# 1. Two balls whose centres are close overlap almost completely in two dimensions and hardly at all in thousands.
# 2. Nearly all points lie at the same small distance before the plane, so one short step flips nearly all of them.
# 3. Noise spends its length sideways; it must be many times longer than that distance to cross.
#
# ## Try it
#
# 1. `HALF = 0.02` in the cell above. Which share is misclassified in the largest dimension?
# 2. With `HALF = 0.1`, how short may the attack be to flip nine of ten points there? Change `ATTACK` and see.
# 3. From which dimension on does noise of five radii misclassify less than one point in a hundred?

# %%
short = epsilon + optimize.brentq(lambda x: float(tail(PICTURE, x)) - 0.1, 0, 1)
late = sketches.around(np.exp(log_two_balls(sketches.DIMENSIONS, epsilon, 5.0)) < 0.01)
display.show(display.folded("Answers", (
    f"1. {one_in(float(tail(PICTURE, 0.02)))}.\n2. {short:.3f} radii.\n"
    f"3. From a dimension {late} on.")))

# %% [markdown]
# ## Item by item
#
# Theorems 4 to 8, Definitions 2 and 3, Equation 1 and Figures 3 and 4 stand on {ref}`a page of their own <sutton-4-2-tables>`, with the choices
# that the paper leaves open.

# %%
shares = {"misclassified": tail(sketches.DIMENSIONS, epsilon),
          "misclassified under noise as long as the radius":
              np.exp(log_two_balls(sketches.DIMENSIONS, epsilon, 1.0)),
          f"correct in spite of an attack of {attack:g} radii": tail(sketches.DIMENSIONS, attack - epsilon)}
page.box(
    "Can a classifier be accurate, robust to noise and easy to attack?",
    "Yes: with two overlapping balls as classes, a high dimension brings all three together."
    if max(error, by_noise, safe) < 0.01 else "Not all three at once at this distance of the classes.",
    "In {n:,} dimensions nearly all points lie about {epsilon:g} radii from the boundary; {error} lies "
    "beyond it, misclassified. Noise of one radius flips {noise}, noise of ten radii "
    "{large:.0f}%; an attack of {reach:g} radii flips {attack:.1f}%.",
    "Calculated exactly; trained networks were not measured.",
    facts={"n": PICTURE, "epsilon": epsilon, "error": one_in(error),
           "noise": one_in(by_noise).replace("1 in", "1 point in"), "reach": attack,
           "attack": 100 * (1 - safe), "large": 100 * by_long},
    picture=sketches.falling(shares, "share of the points"),
    alt="Three curves fall as the dimension grows: points that are misclassified, points whose label noise "
        "flips, and points whose label an attack does not flip.")

# %%
page.finish()
