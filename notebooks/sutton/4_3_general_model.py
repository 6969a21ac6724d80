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
# (sutton-4-3)=
# # 4.3 Curved boundaries: a roof changes little, a cone lets noise through
#
# *Sutton et al. {cite:p}`sutton2023`, Section 4.3*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the random trials
device: str = "auto"  # auto, cpu or cuda; nothing here needs more than a CPU
runs: str = "missing"  # this page has no runs
draws: int = None  # random trials per case; None takes the profile's value [1..]
eta: float = 0.3  # distance of the data's centre from the plane, in the four panels (0..1)
lipschitz: float = 0.05  # how steep the roof of the comparison over dimensions is [0..)

# %% tags=["hide-cell"]
from papers.sutton import sketches
from papers.sutton.theorem import by_chance, one_in, times
from papers.sutton.theory import formulas
from papers.sutton.theory.examples import log_cone_flip, under_cone
from papers.sutton.theory.quadrature import beyond_graph, cap_share
from papers.sutton.theory.statements import STATEMENTS, verify
from report import display
from report.page import numpy_generator, start

page = start("sutton/4_3_general_model", globals())
scale = page.scale(smoke=dict(draws=2_000), quick=dict(draws=20_000), paper=dict(draws=20_000))

# %% [markdown]
# ## The idea
#
# In Section 4.2 a plane separates two balls with uniform data. According to the paper, the results need neither: the data may have almost any
# distribution, and the boundary may be a bent plane. As long as its bends are small, the classifier is accurate, an attack succeeds on nearly all
# points, random noise on hardly any, and an attack that carries one point far enough past the boundary flips most others.
#
# Which bends are small? Noise in high dimension moves a point almost its whole length sideways, spread over all directions. A *roof*, which bends
# along one of them, has come down hardly at all where the noise ends. A *cone*, which bends in all of them, has come down by its slope times the
# length of the noise.
#
# ## Step by step: noise under a plane, a roof and a cone
#
# A point lies below a plane, the ridge of a roof and the tip of a cone. Change its depth, the slope or the dimension and run the cell again.

# %% tags=["show-input"]
import numpy as np

SAMPLES, N, DEPTH, SLOPE = 10_000, 300, 0.11, 0.1
generator = np.random.default_rng(0)

# 1. Noise: uniform points of the unit ball around the point.
noise = generator.standard_normal((SAMPLES, N))
noise /= np.linalg.norm(noise, axis=1, keepdims=True)
noise *= generator.random((SAMPLES, 1)) ** (1 / N)

# 2. How far each sample goes up, in one direction sideways, and sideways in all.
up, sideways, away = noise[:, 0], np.abs(noise[:, 1]), np.linalg.norm(noise[:, 1:], axis=1)

# 3. A sample crosses where it is higher than the surface above the place to which it went.
counted = {"plane": (up > DEPTH).mean(),
           "roof": (up > DEPTH - SLOPE * sideways).mean(),
           "cone": (up > DEPTH - SLOPE * away).mean()}


# %%
def crossing_noise(n, depth, slope):
    """Exact shares of noise of radius 1 that cross a plane, a roof and a cone so far above the point."""
    return {"plane": cap_share(n, depth), "roof": beyond_graph(n, depth, lambda p: -slope * p),
            "cone": float(np.exp(log_cone_flip(n, depth, slope)))}


exact = crossing_noise(N, DEPTH, SLOPE)
display.picture(
    sketches.under_surfaces(counted),
    f"Share of {SAMPLES:,} noise samples in {N:,} dimensions that cross, counted. Exact: "
    f"{', '.join(f'{name} {one_in(share)}' for name, share in exact.items())}.",
    "A point under a plane, a roof and a cone, and the share of its noise that crosses each.")
assert all(by_chance(counted[name], exact[name], SAMPLES) for name in exact), \
    "the steps above and the page's exact values now differ"

# %% [markdown]
# ## What came out
#
# ### Under a roof the four theorems hold, as under a plane
#
# The picture shows them for one roof and uniform data in a ball. Each panel gives the probability of the event that its theorem calls rare.

# %%
DIMENSIONS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
FIXED = dict(n=DIMENSIONS, eta=(eta,), lipschitz=(lipschitz,), gamma=(0.5,))
NORMS = {"theorem-9": None, "theorem-11": 0.8, "theorem-14": 1.0, "theorem-16": 1.0}
over_n = {}
for item, norm in NORMS.items():
    grid = {name: (norm,) if name == "delta" else FIXED[name] for name in STATEMENTS[item].grid}
    over_n[item] = verify(STATEMENTS[item], grid, draws=0 if STATEMENTS[item].truth else scale.draws,
                          generator=numpy_generator(page, item, "over n"))
# powers of ten at the right end of the figure; no exact value of Theorems 14 and 16 is known
last = {item: {name: table[f"log_{name}"][-1] / np.log(10) for name in ("bound", "exact")
               if f"log_{name}" in table} for item, table in over_n.items()}
ALT = ("Four panels with falling curves over the dimension on logarithmic axes, the dashed bounds above: "
       "points misclassified, points that no attack flips, points that noise flips, and points that another "
       "point's attack spares.")
display.picture(
    sketches.four_theorems(over_n),
    f"The four theorems under a roof of slope {lipschitz:g}, over the dimension: bound (dashed), exact value "
    "(line) or random trials with 95% intervals (dots; an arrow where no trial showed the event). Points are "
    f"uniform in a unit ball whose centre lies {eta:g} from the plane. Norms: noise {NORMS['theorem-14']:g}, "
    f"attacks {NORMS['theorem-11']:g} (Theorem 11) and {NORMS['theorem-16']:g} (Theorem 16). Theorem 16 "
    "counts perturbations that carry the other point at least γ = "
    f"{FIXED['gamma'][0]:g} past the surface. Ours.",
    ALT)
display.table(["theorem", "rare event", "bound", "exact value"],
              [[item.replace("theorem-", "Theorem "), sketches.RARE[item],
                *(f"$10^{{{round(values[name])}}}$" if name in values else "not known"
                  for name in ("bound", "exact"))] for item, values in last.items()],
              f"Probabilities at the right end of the figure, n = {DIMENSIONS[-1]:,}")

# %% [markdown]
# ### Under a cone, noise crosses often where the bound of Theorem 14 promises little or nothing
#
# The worst surface of slope $L$ is a cone with the point under its apex; the probability of crossing is one integral over the angle of the noise.
# For data in one point, the bound of Theorem 14 falls below 1 only if the point's depth $\eta$ exceeds $L\sqrt{1+L^2}$ times the noise's length
# $\delta$. Below that noise does cross. Just where it begins to hold, bound and probability are close: a bound that knows the slope alone cannot be improved much there.

# %%
CONE_N, CONE_SLOPE = 3072, 0.1
cone = [{"depth": d, "probability": np.exp(log_cone_flip(CONE_N, d, CONE_SLOPE)),
         "bound": float(np.exp(formulas.theorem_14(**under_cone(CONE_N, d, CONE_SLOPE)))),
         "plane": cap_share(CONE_N, d)} for d in (0.08, 0.1, 0.11, 0.12, 0.13, 0.15, 0.2)]
display.table(["depth", "probability", "bound", "probability, plane"], [list(c.values()) for c in cone],
              f"Theorem 14, all data in one point under the apex of a cone of slope {CONE_SLOPE:g}, n = "
              f"{CONE_N:,}, noise of norm up to 1. Probabilities and bounds are computed without sampling.")
nearest = max((c for c in cone if c["bound"] < 0.5), key=lambda c: c["probability"] / c["bound"])

# %% [markdown]
# ## Where it differs, and why
#
# Under a roof the bounds of Theorems 14 and 16 are loose, often by many powers of ten. The main reason is that they split the distance between two
# parts, as in {ref}`Section 4.2 <sutton-4-2>`; they must also hold for the cone. None of the bounds estimates what noise does at an unknown boundary.

# %%
loose = [times(last[item]["bound"] - last[item]["exact"]) for item in ("theorem-9", "theorem-11")]
display.say("In the dimensions of the picture the bounds of Theorems 9 and 11 lie near the exact values. At "
            f"n = {DIMENSIONS[-1]:,} they exceed them by factors of {loose[0]} and {loose[1]}.")

# %% [markdown]
# ## Three things to remember
#
# 1. It matters in how many directions a boundary bends, not only how steeply.
# 2. With a gentle bend in one direction, noise crosses about as rarely as at a plane.
# 3. A guarantee from the slope alone needs a boundary clearly farther away than the slope times the length of the noise.
#
# ## Try it
#
# 1. `SLOPE = 0.0` in the cell above. Why are the three shares equal now, and to what?
# 2. `N = 3_072` (with fewer samples, if memory is short). Which share falls least?
# 3. `-p lipschitz 0.2` bends the roof of the four panels more. From which slope on does Theorem 14 promise nothing for its noise, if all data lie
#    in one point?

# %%
share, many = cap_share(N, DEPTH), crossing_noise(3072, DEPTH, SLOPE)
steepest = np.sqrt((np.sqrt(1 + 4 * (eta / NORMS["theorem-14"]) ** 2) - 1) / 2)    # L √(1 + L²) = η / δ
display.show(display.folded("Answers", (
    f"1. All three surfaces are the plane: {one_in(share)} exactly.\n2. That of the cone, to "
    f"{one_in(many['cone'])}; plane and roof show 0%, exactly {one_in(many['plane'])} and "
    f"{one_in(many['roof'])}.\n3. From about {steepest:.2f} on.")))

# %% [markdown]
# ## Item by item
#
# Theorems 9 to 17 and Equations 2 to 4, and the extensions of Section 4.4 (Figure 5), stand on {ref}`a page of their own <sutton-4-3-tables>`,
# with the choices that the paper leaves open.

# %%
crossed = crossing_noise(CONE_N, nearest["depth"], CONE_SLOPE)
page.box(
    "Does random noise still miss a curved decision boundary?",
    "Yes if it bends gently in one direction (roof); one that bends in all directions (cone) is crossed "
    "often when near enough.",
    "In {n:,} dimensions, with the boundary at {depth:g} of the noise's length, "
    "{plane} samples cross a plane, {roof} a roof, {cone} a cone (slopes {slope:g}). Noise goes sideways: "
    "a cone slopes towards it on all sides, a roof on two.",
    "Calculated, not measured.",
    facts={"depth": nearest["depth"], "n": CONE_N, "slope": CONE_SLOPE,
           **{name: one_in(share) for name, share in crossed.items()}},
    picture=sketches.under_surfaces(crossed),
    alt="A point under a plane, a roof and a cone; the share of its noise that crosses is written under "
        "each.")

# %%
page.finish()
