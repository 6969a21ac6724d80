# ---
# jupyter:
#   boundary_book:
#     items:
#     - figure-2
#     - lemma-23
#     - theorem-1
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
# (sutton-4-1)=
# # 4.1 One point, one plane: the probability that noise crosses a flat boundary
#
# *Sutton et al. {cite:p}`sutton2023`, Section 4.1*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the random trials
device: str = "auto"  # auto, cpu or cuda; this page is too small to gain from a GPU
units: str = "missing"  # this page has no runs
draws: int = None  # random trials for each probability; None takes the profile's value [1..]
epsilon: float = 0.5  # distance of the point to the plane in Figure 2 (0..)
delta: float = 1.0  # radius of the noise in Figure 2, larger than epsilon (0..)

# %%
import numpy as np
import pandas as pd
from scipy import optimize

from papers.sutton import experiments, figures, sketches
from papers.sutton.theorem import PICTURE, TENTH, check, count_in_words, power
from papers.sutton.theory import statements
from papers.sutton.theory.ball import log_tail, sample_coordinates, tail
from papers.sutton.theory.models import planar_flip_probability
from papers.sutton.theory.quadrature import cap_share
from report import display, reference
from report.page import numpy_generator, start
from report.verdict import equality

page = start("sutton/4_1_one_point", globals())
# a clear refusal now, not in a picture
statements.STATEMENTS["theorem-1"].check({"n": 1, "epsilon": epsilon, "delta": delta})
scale = page.scale(smoke=dict(draws=2_000), quick=dict(draws=500_000), paper=dict(draws=500_000))

# %% [markdown]
# ## What the paper says, and what it leaves open
#
# An image lies at distance $\epsilon$ from a decision boundary that is flat near it. An adversarial perturbation of norm $\epsilon$ flips its label.
# How many random perturbations, each of norm up to $\delta > \epsilon$, must be tried before one of them does the same? According to the paper, their
# number grows exponentially with the dimension $n$. Every probability on this page is computed exactly and bounded as in the paper; the dots in the
# figures are random trials.
#
# Theorem 1 bounds the probability that a uniform point of a ball of radius $\delta$ lies beyond a plane at distance $\epsilon$ from the centre. Its
# proof needs the volume of a spherical cap, which Lemma 23 of Appendix A bounds. The paper adds that uniform noise in an L∞ ball or a Gaussian has
# almost constant norm in high dimensions and behaves alike; this is not tested here.
#
# | open | chosen here | why |
# | --- | --- | --- |
# | the formulas | derived again from the words of the proofs | our copy of the paper contains no formulas (marked *derived*) |
# | dimensions | 15 values from 1 to 200,000 | from a line to more than the 150,528 inputs of an ImageNet network |
# | random trials | all follow the exact law of one coordinate | only the direction across the plane matters, so no vector with 200,000 entries is drawn |
#
# How a bound is checked, and what the verdicts mean, is said on {doc}`the opening page </book/sutton>`.
#
# All probabilities come from one number: the share of a ball that lies beyond a plane,
#
# $$\tau_n(x) = \Pr(T > x) = \tfrac12\, I_{1-x^2}\!\left(\tfrac{n+1}2, \tfrac12\right),$$
#
# where $T$ is the first coordinate of a uniform point of the unit ball in $n$ dimensions, $x$ the distance of the plane from the centre, and $I$ the
# regularised incomplete beta function. Since $\sqrt n\,T$ is close to a standard normal variable, typical points of a high-dimensional ball lie
# within a few times $1/\sqrt n$ of any given plane through its centre.
#
# ## Figure 2: noise at a plane, in two and in many dimensions
#
# In two dimensions a large share of the noise crosses the plane (left; the legend on the right gives it). The right half, which the paper's figure
# does not have, shows how the share shrinks with the dimension.

# %%
half = np.arccos(epsilon / delta)
circle, cap = (delta * np.c_[np.cos(a), np.sin(a)] for a in (
    np.linspace(0, 2 * np.pi, 721), np.linspace(np.pi / 2 - half, np.pi / 2 + half, 181)))
dots = delta * sample_coordinates(2, 300, numpy_generator(page, "dots"), k=2)
beyond = {n: float(tail(n, epsilon / delta)) for n in (2, 20, 200, 2000)}
round_x = float(np.abs(np.hypot(*circle.T) - delta).max())
on_plane = float(np.abs(cap[[0, -1], 1] - epsilon).max())
figure_2 = page.figure(
    "figure-2", (), lambda: sketches.cap(epsilon, delta, circle, cap, dots, beyond),
    evidence=equality(max(round_x, on_plane) <= 1e-9),
    caption=f"Sutton et al., Figure 2, to scale. Left: a point x at distance ε = {epsilon:g} from a plane, "
            f"with uniform noise in a ball of radius δ = {delta:g} in two dimensions; the cap beyond the "
            "plane is orange. Right: the same seen along the normal of the plane. The distribution of the "
            "component of the noise along the normal has a width that shrinks as 1/√n; the cap is the part "
            "beyond the orange line.",
    alt="Left: a disc around a point, cut by a line; dots beyond the line are orange. Right: four bell-"
        "shaped densities that narrow as the dimension grows; only the widest reaches past the line.",
    data=lambda: {"epsilon": epsilon, "delta": delta, "share_beyond": {str(n): v for n, v in beyond.items()},
                  "dots_beyond": int((dots[:, 1] > epsilon).sum()), "dots": len(dots)},
    note="It is a drawing: what is checked is that the cap drawn is the part of the ball beyond the plane. "
         "Values of ε and δ are ours; the paper gives none.")

# %% [markdown]
# ## Lemma 23: a cap fits into a small half ball
#
# $$\frac{V^n_{\rm cap}(r,h)}{r^nV^n} \le \tfrac12\left(\frac{h(2r-h)}{r^2}\right)^{n/2}$$
#
# for $r > 0\text{ and }0 \le h \le r$ [derived].
#
# The cap of height $h$ of a ball of radius $r$ stands on a disc of radius $\rho = \sqrt{h(2r-h)}$. A half ball on the same disc contains it, as long
# as the cap is no larger than half of the ball. The half ball has volume $\tfrac12 V^n \rho^n$, and $\rho < r$ raised to the power $n$ is the whole
# effect of high dimension. Equality holds for $h = 0$ and $h = r$ only.

# %%
lemma_23 = check(page, "lemma-23", again=lambda n, r, h: cap_share(n, 1 - h / r))

# %% [markdown]
# ## Theorem 1: the probability that one random perturbation crosses the plane
#
# $$\Pr(s \text{ crosses}) \le \tfrac12\left(1-\frac{\epsilon^2}{\delta^2}\right)^{n/2}$$
#
# for $\delta \ge \epsilon > 0$ [derived].
#
# The perturbations that cross the plane are a cap of height $\delta - \epsilon$. Its share of the ball is exactly $\tau_n(\epsilon/\delta)$; Lemma 23
# with $r = \delta$ gives the bound. Both fall at the same exponential rate, $-\tfrac12\ln(1-\epsilon^2/\delta^2)$ per dimension: for a fixed ratio
# $\epsilon/\delta$ the bound loses a factor of order $\sqrt n$. The factor also grows as $\epsilon$ approaches $\delta$. For
# $\delta > \epsilon$ the bound is attained only in the limit of a plane through the point, where both sides equal ½.

# %%
NEEDED_AT = (10, 100, 1000, PICTURE, 10_000, 150_528)
log_least = statements.STATEMENTS["theorem-1"].log_bound(n=np.array(NEEDED_AT), epsilon=TENTH, delta=1.0)
needed = {n: {"exact": float(-log_tail(n, TENTH) / np.log(10)), "least": float(-least / np.log(10))}
          for n, least in zip(NEEDED_AT, log_least)}
theorem_1 = check(page, "theorem-1", again=lambda n, epsilon, delta: cap_share(n, epsilon / delta),
                  extra={"log10_draws_needed": {str(n): e["exact"] for n, e in needed.items()}})
crossing = {f"δ = {1 / ratio:g} ε": sketches.curve(
    "theorem-1", draws=scale.draws, generator=numpy_generator(page, "curves", ratio), epsilon=ratio,
    delta=1.0)
    for ratio in (0.5, TENTH, 0.02)}


def draw_theorem_1():
    """Probability of crossing over the dimension."""
    figure = sketches.small(crossing, "Pr(noise crosses the plane)")
    for n, name in ((PICTURE, "CIFAR-10"), (150_528, "ImageNet")):
        figure.axes[0].axvline(n, color=display.PALE, lw=1, zorder=0)
        figure.axes[0].text(n, 1.6, name, fontsize=8, ha="center", va="bottom", color=display.GUIDE)
    return figure


display.picture(
    draw_theorem_1(),
    "Theorem 1: the probability that one random perturbation crosses the plane, for noise of 2, 10 and "
    "50 times the norm of the attack. Lines: exact; dashes: the bound; dots and bars: "
    f"{scale.draws:,} random trials each, with 95% intervals (none where no trial crossed).",
    "Three curves fall from near one half to zero with growing dimension, the one for the largest "
    "noise last; dashed bounds run just above them.")


# %% [markdown]
# How many perturbations are needed to find one that crosses? The average is $1/\tau_n(\epsilon/\delta)$; Theorem 1 bounds this average from
# below by $2(1-\epsilon^2/\delta^2)^{-n/2}$.

# %%
def in_millions(exponent):
    """10^exponent as a text; from a million to a thousand millions in whole millions."""
    return f"{10**exponent / 1e6:,.0f} million" if 6 <= exponent < 9 else power(exponent)


display.table(["dimension n", "average number needed", "lower bound on it (Theorem 1)"],
              [[f"{n:,}", *map(in_millions, e.values())] for n, e in needed.items()],
              f"Random perturbations needed to find one that crosses a plane, noise of {1 / TENTH:g} times "
              f"the norm of the attack.")

# %% [markdown]
# ## Beyond the paper: what a flat boundary predicts for the experiments
#
# *This part is ours.* In its experiments the paper attacks each image along the gradient, then tries 2,000 random perturbations of a ball whose
# radius is 1, 2, 5 or 10 times the norm $\alpha$ of the attack. It counts the share of the attackable images whose label at least one of them flips. If
# the boundary near an image were a plane at distance $\alpha$, that would happen with probability
#
# $$1 - \left(1 - \tau_n(1/\text{factor})\right)^{2000} .$$
#
# The dimensions are 3,072 for CIFAR-10 and 150,528 for ImageNet (*found* in the text), 2,352 for Fashion-MNIST (28 × 28 pixels in three channels,
# *inferred* from the printed norms) and 3,072 for GTSRB (*assumed*). Of the factors above 1, 5 is *found* in the text, 10 is *inferred* and 2 is
# *assumed*. Except for ImageNet, a value of Table 1 is a median over the pairs of one class and the next one; the paper does not say so, but the
# medians of Tables 9 to 12, 20 and 23 equal the printed test values.

# %%
DIMENSIONS = {"cifar10": PICTURE, "fashion_mnist": 2352, "gtsrb": 3072, "imagenet_resnet50": 150_528}
table_1 = reference.paper("sutton")["table-1"]
label = {k: c["label"] for k, c in table_1.columns.items()}
predictions = []
for row in table_1.rows:
    for name, n in DIMENSIONS.items():
        if row["quantity"] == "random_susceptibility" and row[name]["test"] is not None:
            factor, percent = row["delta_inferred"], row[name]["test"]
            # the distance at which 2,000 draws would flip this share of the labels
            distance = factor * optimize.brentq(
                lambda ratio, n=n, share=percent / 100: planar_flip_probability(n, ratio) - share, 0.0, 1.0)
            predictions.append({"data": label[name], "n": n, "factor": factor, "printed": percent,
                                "planar": 100 * float(planar_flip_probability(n, 1 / factor)),
                                "distance": distance})
display.table(["data", "dimension n", "noise radius / attack norm", "published (test), %",
               "flat boundary, %", "distance needed / attack norm"],
              [[p["data"], f"{p['n']:,}", p["factor"], p["printed"],
                display.number(p["planar"], digits=2) if p["planar"] > 0 else "below 10⁻³⁰⁰",
                f"{p['distance']:.2f}"] for p in predictions],
              "Share of the attackable images whose label at least one of 2,000 random perturbations flips: "
              "published in Table 1, and predicted by a flat boundary. Last column: the distance at which a "
              "flat boundary would give the published share.")

# %%
cifar = {p["factor"]: p for p in predictions if p["data"] == label["cifar10"]}
ten = cifar[max(cifar)]
share = display.number(ten["planar"], digits=2)
pairs = reference.paper("sutton")["table-12"].rows
consecutive = [row for row in pairs if row["class_b"] == row["class_a"] + 1]
draws_needed = in_millions(needed[ten["n"]]["exact"])
ratios = ", ".join(f"{p['distance']:.2f} (noise of {factor} times the norm)" for factor, p in cifar.items())
SEVERAL = ("Attacks along the gradient may be longer than the shortest perturbation, the boundaries may be "
           "curved, or both; this page does not separate the two.")
display.say(
    f"A flat boundary would flip the label of {share}% of the attackable CIFAR-10 images at ten times the "
    f"norm of the attack; Table 1 prints {ten['printed']:g}%, the median over {len(consecutive)} class pairs "
    f"of Table 12 (mean over its {len(pairs)} pairs: {np.mean([row['test'] for row in pairs]):.1f}%). If the "
    "ratio of boundary distance to attack norm were the same for all images, it would have to be "
    f"{ratios} for CIFAR-10. One ratio for all images therefore does not explain the published values. "
    f"{SEVERAL}")

# %% [markdown]
# The flat prediction above assumes that the boundary is as far as the step along the gradient is long. On our own networks another attack
# (Carlini and Wagner's) looks for a nearer adversarial example of some of the attackable test images; the smaller of both norms takes the
# place of the step's.

# %%
measured = [page.results(experiment, plan=lambda scale: {})
            for experiment in (experiments.cifar10, experiments.cifar10_retrained)]
page.text(measured, lambda *frames: figures.distance_facts(pd.concat(frames), experiments.CIFAR10["paper"]["draws"]),
          "On {runs} networks for two classes of CIFAR-10 ({images} images) the nearest adversarial example that "
          "was found lies at {ratio} times the norm of the step (median). A flat boundary there predicts that "
          "noise of ten times the step flips {flat:.1f}% of the images ({at_step:.2g}% if it were as far as the "
          "step is long); measured are {flipped:.1f}% of {perturbed}. Distance explains the difference between "
          "the two predictions; what remains is the shape of the boundary, or examples that are nearer still.")

# %% [markdown]
# ## Try it
#
# - `-p epsilon 0.2` moves the plane of Figure 2 nearer to the point. More of the ball lies beyond it.
# - `-p delta 3` enlarges the noise of Figure 2. The plane then cuts off a larger share in every dimension.
# - `-p draws 1000000` takes more random trials. The bars narrow, and rarer crossings get a mark.

# %%
shares = {f"noise {1 / ratio:g} times as long": tail(sketches.DIMENSIONS, ratio) for ratio in (0.5, TENTH, 0.02)}
page.box(
    "How often does random noise cross a flat decision boundary?",
    "Practically never in thousands of dimensions, even at ten times the length of the shortest way across.",
    "In {n:,} dimensions (CIFAR-10), {needed} crosses (in {low} dimensions {hundred}). "
    "Yet at least one of {draws:,} samples flips {paper:.0f}% of the paper's attackable CIFAR-10 images.",
    "So real boundaries are curved or nearer than the attack suggests.",
    facts={"n": PICTURE, "low": 100, "draws": experiments.CIFAR10["paper"]["draws"],
           "needed": f"1 noise sample in {count_in_words(10**needed[PICTURE]['exact'])}",
           "hundred": f"1 in {count_in_words(10**needed[100]['exact'])}",
           "paper": float(np.mean([row["test"] for row in pairs]))},
    picture=sketches.falling(shares, "noise samples that cross"), sets=(),
    alt="The share of noise that crosses a plane falls to almost nothing as the dimension grows, for noise of "
        "three lengths; in the dimension of CIFAR-10 the shares are written at the curves.")

# %%
page.finish()
