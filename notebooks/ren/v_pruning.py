# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-4
#     - figure-3
#     - procedure-pixel-pruning
#     needs:
#     - ren/ii_networks
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
# (ren-v)=
# # V. Pixel pruning: separability against robustness
#
# *Ren et al. {cite:p}`ren2025`, Section V*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the first net; net n is trained with seed + n
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing or none
dataset: str = "mnist"  # what is classified {mnist, fashion_mnist, digits, *.npz}
architecture: str = "a"  # the network that is pruned; the paper prunes A only {a, b, c}
nets: int = None  # trained nets; None takes the profile's value [1..]
images: int = None  # test images to start from; None takes the profile's value [1..]
recipe: str = None  # name of a training recipe; None takes the profile's value
step: int = None  # grey levels between two thresholds; None takes the profile's value [1..255]
threshold: float = 0.99  # stop when the SSIM of the pair is above this (0..1]
iterations: int = 9  # most mixtures per search [1..]
place: str = "mixed"  # where pruning acts, for the curve and Figure 3 {mixed, input, source}
digit: int = 0  # Figure 3 shows the first test image from this index on that suits it [0..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from papers.ren import claims, experiments, figures
from papers.ren.experiments import SETTINGS, UNIFORM, UNPRUNED
from papers.ren.figures import over_nets
from report import display, reference
from report.cell import values
from report.page import start
from shared import borderline

page = start("ren/v_pruning", globals())
scale = page.scale(**experiments.PRUNING)
TABLE = reference.paper("ren")["table-4"]


# %% [markdown]
# ## What the paper claims, and how it is tested
#
# Near a decision boundary two images with an SSIM above 0.99 have two labels ({ref}`Section IV <ren-iv>`). *Pixel pruning* sets every
# pixel below $t$ to 0 and every pixel above $T$ to 255, so fewer images exist near a boundary. The paper claims that the two sides of
# the boundary then become less similar: their SSIM, called *separability*, falls. The price is *robustness*, the SSIM of the digit and
# the last image of the search with the digit's label: a higher value means a less robust network. For both a lower number is better.
#
# {ref}`Algorithm 1 <ren-iii>` starts from every test digit, towards white and towards black, with three prunings and with none. The
# paper does not state where pruning acts. We assume in Table IV that it acts on the digit, the background and every mixture
# ({download}`experiments.py <../../papers/ren/experiments.py>`).
#
# ## Pixel pruning (procedure)
#
# The code below is the rule as printed. The fast rule of this page gives the same value for every grey level.

# %% tags=["show-input"]
def prune_steps(level, t, T):
    """One grey level after pruning."""
    if level < t:
        return 0
    if level > T:
        return 255
    return level


levels = torch.arange(256, dtype=torch.uint8)
for t, T in (UNPRUNED, *SETTINGS):
    assert borderline.prune(levels, t, T).tolist() == [prune_steps(v, t, T) for v in range(256)]
assert [(s["t"], s["T"]) for s in TABLE.settings["pruning_settings"]] == list(SETTINGS)

# %%
searches = page.results(experiments.pruned)


def changed(runs):
    """Percent of the pixels of the test digits that each setting changes, before any search."""
    share = runs.groupby(["t", "T"]).changed.mean()
    return {f"t = {t}, T = {T}": 100 * float(share[t, T]) for t, T in SETTINGS if (t, T) in share.index}

page.statement("procedure-pixel-pruning", searches, data=changed)
page.text(searches, lambda runs: "Of the pixels of the test digits, the rule changes " + "; ".join(
    f"{percent:.1f}% with {setting}" for setting, percent in changed(runs).items()) + ".")

# %% [markdown]
# ## Table IV: three prunings
#
# Means and standard deviations (STD) over the test digits; ± gives the standard deviation over networks. AE is the adversarial example.

# %%
SSIM = {"separability_ssim": "separability", "robustness_ssim": "robustness", "ae_ssim": "adversarial image"}
MEANS = {name: f"{words.split()[0]}_mean" for name, words in SSIM.items()}
COLUMNS = {f"{name.removesuffix('ssim')}{tail}": column.replace("mean", statistic)
           for name, column in MEANS.items() for tail, statistic in (("ssim", "mean"), ("std", "std"))}
KEYS = "t", "T", "background"


def of(runs, place, settings):
    """The runs of some settings with pruning in one place."""
    return runs[[p == place and (t, T) in settings for p, t, T in zip(runs.place, runs["t"], runs["T"])]]


def rows(runs, place="mixed", last=SETTINGS[-1]):
    """Table IV, after the unpruned rows; `place` is where pruning acts, `last` stands for t = T = 128."""
    strongest = of(runs, place, [last]).assign(t=SETTINGS[-1][0], T=SETTINGS[-1][1])
    chosen = pd.concat([of(runs, "mixed", [UNPRUNED]), of(runs, place, SETTINGS[:-1]), strongest])
    return over_nets(chosen, KEYS, COLUMNS)

page.table(
    "table-4", searches, rows,
    note="The text calls the second setting T = 256 where the table has 255: both leave bright pixels alone.")


# %% [markdown]
# ## Where it differs: where pruning acts, and a pixel of 128
#
# A pruned mixture may equal one of the two images that it was made of. Then the search makes no progress and the two images stay
# apart, which lowers the SSIM called separability.
#
# With $t = T = 128$ an image has the grey levels 0 and 255, and 128 where a pixel is exactly 128. The mean of 0 and 255,
# rounded, is 128, which the rule leaves unchanged. With thresholds one level below or above, that mixture is pruned back to 255 or to 0. For each reading of the rule, and for
# each network alone, the next table gives which claims of the paper would hold, and the mean distance of its SSIM from the published one.

# %%
def suspects(runs):
    """The claims of Table IV under each suspect, and the mean distance of its SSIM from the printed ones."""
    tried = {"as in Table IV": rows(runs), "pruning only the input of the network": rows(runs, "input"),
             "pruning the digit only": rows(runs, "source"),
             "128 becomes 255": rows(runs, last=(127, 127)), "128 becomes 0": rows(runs, last=(129, 129))}
    if runs.seed.nunique() > 1:
        tried |= {f"network {seed} alone": rows(runs[runs.seed == seed]) for seed in runs.seed.unique()}
    return [{"reading": name, **{
        words: judge(pd.DataFrame(means))[0] for words, judge in claims.PRUNING.items()},
             "distance": float(np.mean([abs(claims.by_key(means)[p["background"], p["t"], p["T"]][k] - p[k])
                                        for p in TABLE.rows for k in SSIM]))}
            for name, means in values(tried).items()
            if len(means) == len(UNIFORM) * len((UNPRUNED, *SETTINGS))]

page.extra("pruning-suspects", searches, suspects,
           "The paper's claims on Table IV by each reading, and the mean absolute distance of its SSIM "
           "values from the published ones.", header={
               "reading": "reading", **dict(zip(claims.PRUNING, (
                   "separability SSIM falls at each step", "robustness SSIM rises at each step",
                   "robustness SSIM rises where separability SSIM falls",
                   "adversarial examples: larger change towards white than towards black"))),
               "distance": "mean distance, SSIM"})

def how_far(runs):
    """Facts: mean distances from the published SSIM, as in Table IV and with 128 pruned; {} of too few."""
    off = {row["reading"]: row["distance"] for row in suspects(runs)}
    pruned = [distance for reading, distance in off.items() if reading.startswith("128 ")]
    return {"here": off["as in Table IV"], "least": min(pruned)} if "as in Table IV" in off and pruned else {}


page.text(searches, how_far,
          "The mean distance from the published SSIM is {here:.3f} as in Table IV, and {least:.3f} or more "
          "if pixels of exactly 128 are pruned, too.")

# %% [markdown]
# ## The trade-off over all thresholds
#
# The paper measures three settings. Moving the threshold in small steps gives the whole curve, on one network: each point is one
# $t$, once with bright pixels left alone ($T = 255$) and once with every pixel but those equal to $t$ set to 0 or 255 ($T = t$). A published setting (cross) near a
# curve but far from our point with the same thresholds agrees in the trade-off, not in the thresholds. On both axes lower is better.

# %%
curve = page.results(experiments.trade_off)
page.picture(
    curve, figures.draw_trade_off,
    caption="The trade-off between separability and robustness over the threshold t (size of the marks): "
            "bright pixels left alone (T = 255, joined in the order of t) or all pixels but those equal to t "
            "set to 0 or 255 (T = t)",
    alt="Two panels, towards white and black: robustness over separability, published settings as crosses.")

# %% [markdown]
# ## Figure 3: adversarial examples of one digit
#
# The paper shows two rows of adversarial examples next to a digit and prints the mean SSIM of each row to it. Neither the settings
# nor the background of a row are stated. Here the first row is mixed with white and the second with black, unpruned and under the
# three prunings.

# %%
pictures = page.results(experiments.pruned_digits)


def title(example):
    """Pruning, label and probability of an example."""
    pruning = "unpruned" if example["t"] == 0 else "t = {t}, T = {T}".format(**example)
    return f"{pruning}\nlabel {example['class']} ({example['probability']:.1%})"


def draw_examples(runs):
    """The digit and its adversarial examples, a row for each background."""
    figure, axes = plt.subplots(len(runs), 5, figsize=(10, 2.5 * len(runs)), squeeze=False)
    for row, u in zip(axes, runs.itertuples()):
        first = f"original\nlabel {u.original_class} ({u.original_probability:.1%})"
        display.image_grid(row, [u.original[0], *u.outside], [first, *map(title, u.shown)])
        row[0].set_ylabel(f"towards {u.background}", fontsize=11)
        for ax, e in zip(row[1:], u.shown):
            ax.set_xlabel(f"SSIM {e['ssim']:.3f}", fontsize=10)
    return figure


def figure_data(runs):
    """Every adversarial example in the picture with its facts, and the mean SSIM of each row."""
    examples = {u.background: u.shown for u in runs.itertuples()}
    # Not under the names of the published means, which belong to a digit and settings that are not stated.
    means = {b: float(np.mean([e["ssim"] for e in shown])) for b, shown in examples.items()}
    # The same digit leads both rows, and is itself none of the pictures right of it.
    leads = [(u.original == runs.original.iloc[0]).all()
             and not (u.outside == u.original).all((1, 2, 3)).any() for u in runs.itertuples()]
    return {"examples": examples, "original_leads": bool(all(leads)),
            "original_class": runs.original_class.tolist(), "mean_ssim": means}


def row_there(background):
    """Data -> whether a row is there, all of it of another class than the digit, also when evaluated anew."""
    return lambda d: bool(row := d["examples"].get(background)) and all(
        e["class"] == e["answer"] and e["class"] not in d["original_class"] for e in row)

page.figure(
    "figure-3", pictures, draw_examples, data=figure_data,
    caption="Figure 3 of Ren et al.: a test digit (left) and its adversarial examples, with their labels, "
            "probabilities and the SSIM to the digit",
    alt="Two rows of five images: a digit, then its adversarial examples towards white and towards black.",
    note="The two published means belong to a digit and settings that are not stated, so they are not "
         "compared.")

# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# | --- | --- | --- |
# | where pruning acts | on the digit, the background and every mixture; the two other readings beside it | it limits "the number of available samples around the borderlines", which only pruning of the mixtures does |
# | what the original is, once pruned | the pruned digit | robustness then measures the search, not the pruning |
# | digits, threshold, iterations | all test digits, 0.99, 9 | as in Section IV; not stated for this one |
# | retraining on pruned images | none | not stated; the networks are those of Table III |
# | “drops clearly” and “changes little”, in one claim on Table IV and Figure 3 | whether the change towards white is the larger one, in SSIM and as a share of the unpruned value; not judged where the two disagree | the text names no bound |
# | a pixel of exactly 128 under $t = T = 128$ | stays 128 | the rule says what happens below and above only |
# | which digit, settings and backgrounds Figure 3 shows | the first digit that keeps its label under all prunings, a label of neither white nor black; white above, black below | the text calls the loss of similarity larger towards white |
#
# ## Exercises
#
# - `place="input"`: the network gets pruned images, the pair itself stays unpruned. All points of the trade-off curve move to the
#   right edge, since the pair can be as similar as without pruning.
# - `architecture="c"`: another network. The curves keep their direction; their places move.

# %%
best = page.best(searches)
facts = figures.pruning(best)
page.box(
    "Does turning pixels black or white (pruning) make both sides of a boundary look different?",
    figures.first(facts, ("traded", "Yes, but a digit then keeps its label under smaller changes only."),
                  ("differ", "Yes."), "Not in these networks."),
    figures.first(
        facts, ("traded",
                "On the way from a digit to white, the last image with its label and the first without it "
                "have similarity {sides.plain:.3f}; with pruning, {sides.pruned:.2f} ({n} networks; paper: "
                "{sides.paper:.2f}). That last image's similarity to the digit rises from {digit.plain:.2f} "
                "to {digit.pruned:.2f} (paper: {digit.paper:.2f})."),
        "On the way from a digit to white, the last image with its label and the first without it have "
        "similarity {sides.plain:.3f}; with pruning, {sides.pruned:.2f} (paper: {sides.paper:.2f})."),
    facts=facts, picture=figures.draw_pruning(best) if facts else None,
    alt="Two panels, towards white and black: over four steps of pruning the similarity of the two sides "
        "falls and that of digit and last image with its label rises; the lines cross.")

# %%
page.finish()
