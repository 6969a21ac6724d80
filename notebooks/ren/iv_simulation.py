# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-3
#     - figure-2
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
# (ren-iv)=
# # IV. Robustness and separability of three architectures
#
# *Ren et al. {cite:p}`ren2025`, Section IV*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the first net and of the drawn backgrounds; net n is trained with seed + n
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing or none
dataset: str = "mnist"  # what is classified {mnist, fashion_mnist, digits}
nets: int = None  # trained nets per architecture; None takes the profile's value [1..]
images: int = None  # test images to start from; None takes the profile's value [1..]
recipe: str = None  # name of a training recipe; None takes the profile's value
threshold: float = 0.99  # stop when the SSIM of the pair is above this (0..1]
iterations: int = 9  # most mixtures per search [1..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.ren import claims, experiments
from papers.ren.experiments import ARCHITECTURES, BACKGROUNDS, LIMITS, THRESHOLDS
from papers.ren.summary import over_nets
from report import comparison, display, prose, reference
from report.page import start

run = start("ren/iv_simulation", globals())

# %% [markdown]
# ## The claim, and how it is tested
#
# Test digits are mixed with white and with black, for three networks. How much does a digit change before its label does
# (*robustness*), and how different are two images on either side of the boundary (*separability*)? The paper claims for all three
# networks that a digit may change a lot, and that the two images at the boundary cannot be told apart by eye. Both quantities are
# similarities (SSIM, 1 for equal images), so a lower number is a larger gap.
#
# {ref}`Algorithm 1 <ren-iii>` starts from every test digit. Besides white and black, the paper mixes with other test digits
# but prints no numbers for that; here they are. A run makes all searches of one network towards one background
# ({download}`experiments.py <../../papers/ren/experiments.py>`).

# %%
scale = run.scale(**experiments.SIMULATION)
searches = run.results(experiments.searches)

# %% [markdown]
# ## Table III: separability, robustness and adversarial examples
#
# Means and standard deviations (STD) over the test digits; behind each ± stands the spread over networks. AE is the adversarial
# example, compared with the digit it came from.

# %%
COLUMNS = {f"{printed}_{tail}": f"{name}_{statistic}"
           for printed, name in (("separability", "separability"), ("robustness", "robustness"),
                                 ("ae", "adversarial"))
           for tail, statistic in (("ssim", "mean"), ("std", "std"))}


def rows(runs):
    """Table III: means over nets. The third background, not in print, has a table of its own."""
    named = runs.assign(architecture=runs.architecture.map(ARCHITECTURES))
    return over_nets(named[named.background != "digit"], ("architecture", "background"), COLUMNS)


table_3 = run.table("table-3", searches, rows)


# %% [markdown]
# The spread between networks is large. A published value inside the 99% prediction interval for one further network therefore
# counts as agreeing (✓) only if that interval covers less than a quarter of the scale, and else as "cannot tell" (?).

# %%
def agreement_in_words(runs):
    """How wide the intervals are in which printed values agree, and how many of these lie among our nets."""
    nets = runs.assign(architecture=runs.architecture.map(ARCHITECTURES))
    agree = [c for c in table_3["cells"] if c["how"] == comparison.INTERVAL]
    among = 0
    for cell in agree:
        alike = (nets[list(cell["row"])] == pd.Series(cell["row"])).all(axis=1)
        ours = nets.loc[alike, COLUMNS[cell["column"]]]
        among += ours.min() <= cell["printed"] <= ours.max()
    if not agree:
        return f"Intervals take {comparison.NETS} networks a row; this run has fewer."
    widths = [comparison.half_width(c["sd"], c["nets"]) for c in agree if c["column"] == "robustness_ssim"]
    told = f", up to {max(widths):.2f} to either side for a robustness" if widths else ""
    return (f"The interval for one more network has a probability of {comparison.CONFIDENCE:.0%} and is "
            f"wide{told}. Of the {len(agree)} published values that lie in it, {among} also lie "
            f"between the lowest and the highest of our {agree[0]['nets']} networks.")


run.tell(searches, agreement_in_words)

# %% [markdown]
# The paper also mixes with test digits of another class, but publishes no numbers for them.

# %%
run.extra(
    "digit-backgrounds", searches,
    lambda runs: over_nets(
        runs[runs.background == "digit"].assign(architecture=runs.architecture.map(ARCHITECTURES)),
        ("architecture",), {k: v for k, v in COLUMNS.items() if k.endswith("ssim")}),
    "Mixing with a test digit of another class: mean SSIM over digits and networks, with the spread over "
    "networks.",
    header={"architecture": "architecture", "separability_ssim": "separability",
            "robustness_ssim": "robustness",
            "ae_ssim": "adversarial example"})

# %% [markdown]
# ## Figure 2: what the pairs look like
#
# The figure shows the first test digit of each class with its pairs, for one network of architecture A.

# %%
pictures = run.results(experiments.pairs)


def draw_pairs(runs):
    """Original, inside and outside pictures in three rows for each background."""
    figure, axes = plt.subplots(3 * len(runs), len(runs.digits[0]), figsize=(10, 11))
    for block, one in enumerate(runs.itertuples()):
        rows = axes[3 * block:3 * block + 3]
        for row, images in zip(rows, (one.original, one.inside, one.outside)):
            display.image_grid(row, images)
        for n, excluded in enumerate(one.excluded):
            if excluded:
                for ax in rows[1:, n]:
                    ax.clear()
                    ax.set(xticks=[], yticks=[])
                    ax.spines[:].set_visible(False)
                    ax.text(0.5, 0.5, "×", color="0.6", fontsize=24, ha="center", va="center")
            else:
                rows[2, n].set_xlabel(f"{one.inside_class[n]} | "
                                      f"{one.outside_class[n]}\n{one.separability[n]:.3f}", fontsize=10)
        for ax, text in zip(rows[:, 0], (f"{one.background}:\noriginal", "inside", "outside")):
            ax.set_ylabel(text, fontsize=10)
    return figure


def shown(runs):
    """Every pair in the picture: digit, two labels, likeness, whether the labels hold when asked again."""
    return {u.background: [
        {"digit": d, "inside": i, "outside": o, "ssim": s, "labels_hold": (i, o) == (ai, ao),
         "original_is_source":
         bool((original == source).all())}
        for d, x, i, o, s, ai, ao, original, source in zip(
            u.digits, u.excluded, u.inside_class, u.outside_class, u.separability,
            u.answers_inside, u.answers_outside,
            u.original, u.source) if not x] for u in runs.itertuples()}


figure_2 = run.figure(
    "figure-2", pictures, draw_pairs, data=shown,
    caption="Figure 2 of Ren et al.: for each background the original test digits (first row), the inside "
            "(second) and the outside "
            "images (third) of architecture A. Below each pair stand its two labels and their SSIM; a "
            "cross: the network gives the digit and the background one label",
    alt="Three blocks of ten digits, for white, black and digit backgrounds; in each block original, inside "
        "and outside image. The last two look alike and carry different labels.",
    contains={"row 1": lambda d: all(p["original_is_source"] for p in claims.pairs_of(d)),
              "row 2": lambda d: all(p["labels_hold"] for p in claims.pairs_of(d)),
              "row 3": lambda d: all(p["inside"] != p["outside"] for p in claims.pairs_of(d)),
              "one such block": lambda d: set(d) == set(BACKGROUNDS)})

# %% [markdown]
# ## Where it differs, and which causes were tested
#
# The paper does not say how its networks were trained, and a search ends where the label of *this* network flips. So the first
# suspects are the trainings. Beside the recipe of this page stand variants of it, one thing changed at a time. Five are of A: no
# random shifts, 30 epochs (the default of MATLAB, the paper's software), convolutions that keep the size of the image, an image that is
# not centred, and the faster recipe that this book used first. One is of C: without the ReLU that the paper prints on its ten
# outputs. B has none.

# %%
WORDS = {"a": "A, as above", "b": "B, as above", "c": "C, as above", "noshift": "A, no shifts",
         "long": "A, 30 epochs",
         "same": "A, padded", "unit": "A, not centred", "onecycle": "A, one cycle",
         "linear": "C, no last ReLU"}
variants = run.results(experiments.variants)


# %%
def every_net(searches, variants):
    """A row a network and uniform background: its training, mean and deviation of robustness over digits."""
    both = pd.concat([searches.assign(kind=searches.architecture),
                      variants.assign(kind=variants.variant)])
    both = both[both.background != "digit"]
    return both[["kind", "background", "robustness_mean", "robustness_std"]]


PRINTED = pd.DataFrame(reference.paper("ren")["table-3"].rows)
PRINTED_AS = {"A": ("a", "noshift", "long", "same", "unit", "onecycle"), "B": ("b",), "C": ("c", "linear")}


def draw_nets(searches, variants):
    """Robustness of every network, mean and spread over digits, beside the printed rows."""
    nets = every_net(searches, variants)
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 6.4), sharex=True, sharey="row")
    for row, (column, printed,
              label) in zip(axes, (("robustness_mean", "robustness_ssim", "mean over digits"),
                                                    ("robustness_std", "robustness_std",
                                                     "spread over digits"))):
        for ax, b in zip(row, ("white", "black")):
            for x, kind in enumerate(WORDS):
                mine = nets[(nets.kind == kind) & (nets.background == b)]
                ax.plot([x] * len(mine), mine[column], "o", color=display.PALETTE[0 if x < 3 else 1],
                        alpha=0.7)
                letter = next(k for k, kinds in PRINTED_AS.items() if kind in kinds)
                value = PRINTED[(PRINTED.architecture == letter) & (PRINTED.background == b)][printed].item()
                ax.plot(x, value, "kx", ms=8, mew=2)
            ax.set(title=f"towards {b}" if column == "robustness_mean" else "", xticks=range(len(WORDS)))
            ax.set_xticklabels(WORDS.values(), rotation=40, ha="right", fontsize=10)
        row[0].set_ylabel(f"robustness (SSIM)\n{label}")
    return figure


run.picture((searches, variants), draw_nets,
            caption="Robustness of every network: a dot a network, a cross the published value. Blue: the "
                    "recipe of this page; orange: "
                    "variants. Above: mean over digits; below: standard deviation over digits",
            alt="For nine trainings, towards white and towards black, dots of single networks beside the "
                "crosses of the paper.")


# %% [markdown]
# The table gives, for each training, the range of our networks and the distance of the published value from it.

# %%
def reach(searches, variants):
    """For each training and background: range of the networks' means, whether the print lies within."""
    rows = []
    for (kind, b), nets in every_net(searches, variants).groupby(["kind", "background"], sort=False):
        letter = next(k for k, kinds in PRINTED_AS.items() if kind in kinds)
        printed = PRINTED[(PRINTED.architecture == letter) & (PRINTED.background == b)].iloc[0]
        low, high = nets.robustness_mean.min(), nets.robustness_mean.max()
        beside = max(low - printed.robustness_ssim, printed.robustness_ssim - high, 0.0)
        rows.append({"training": WORDS[kind], "background": b, "networks": len(nets),
                     "lowest": low, "highest": high,
                     "printed": printed.robustness_ssim, "outside": beside,
                     "spread": nets.robustness_std.mean(),
                     "printed_spread": printed.robustness_std})
    return rows


run.extra("trainings", (searches, variants), reach,
          "Robustness of single networks by training: lowest and highest mean over digits, the published "
          "value and its distance outside; the mean standard deviation over digits beside the published one.",
          header={"training": "training", "background": "towards", "networks": "networks", "lowest": "lowest",
                  "highest": "highest", "printed": "published", "outside": "outside by",
                  "spread": "STD over digits",
                  "printed_spread": "published STD"})


# %%
def of_this_page(searches, variants):
    """The rows of `reach` with this page's recipe, by architecture; `missed` where the print is outside."""
    trainings = pd.DataFrame(reach(searches, variants))
    mine = trainings[trainings.training.str.endswith("as above")]
    return mine.assign(architecture=mine.training.str[0], missed=mine.outside > 0.02)


def what_training_does(searches, variants):
    """How far networks of one training lie apart, and which trainings come to the print."""
    trainings, mine = pd.DataFrame(reach(searches, variants)), of_this_page(searches, variants)
    missed = mine[mine.missed]
    printed_range = PRINTED.groupby("background").robustness_ssim.agg(np.ptp)
    within = mine.highest - mine.lowest
    others = trainings[~trainings.training.isin(mine.training)]
    met = [name for name, rows in others.groupby("training", sort=False) if (rows.outside <= 0.02).all()]
    untried = sorted({*missed.architecture} - {*others.training.str[0]})
    wide = (trainings.spread > trainings.printed_spread).sum()
    return (
        "Networks of one architecture, trained by the recipe of this page, differ by "
        f"{within.min():.2f} to {within.max():.2f}, the three published "
        f"rows by {printed_range['white']:.2f} towards white and {printed_range['black']:.2f} towards black"
        + (": a difference between two single networks may be chance. " if mine.networks.min() > 1
           and within.max() >= printed_range.min() else ". ") +
        f"The published value lies more than 0.02 outside all our networks in {len(missed)} of {len(mine)} "
        "rows of the recipe of this page"
        + (": " + ", ".join(f"{r.architecture} towards {r.background}" for r in missed.itertuples())
           if len(missed) else "")
        + ". Variants within 0.02 of both published values of their architecture: "
        f"{'; '.join(met) or 'none'}. "
        + (f"Of {', '.join(untried)} no variant was trained. " if untried else "")
        + f"Over digits our values spread more than the published ones in {wide} of {len(trainings)} rows.")


run.tell((searches, variants), what_training_does)

# %% [markdown]
# The second suspect is the definition of SSIM. The table measures the same pairs by scikit-image's two conventions, too.

# %%
CONVENTIONS = {"mean": "Gaussian window, whole image (as above)", "skimage": "Gaussian window, rim dropped",
               "uniform": "uniform window of 7 by 7, rim dropped"}


def by_convention(runs):
    """Mean robustness of each row of the table under each convention."""
    named = runs[runs.background != "digit"].assign(architecture=runs.architecture.map(ARCHITECTURES))
    means = named.groupby(["architecture", "background"],
                          sort=False)[[f"robustness_{c}" for c in CONVENTIONS]].mean()
    printed = PRINTED.set_index(["architecture", "background"]).robustness_ssim
    return [{"convention": "printed"} | {f"{a} {b}": printed[a, b] for a, b in means.index}] + [
        {"convention": text} | {f"{a} {b}": means.loc[(a, b), f"robustness_{c}"] for a, b in means.index}
        for c, text in CONVENTIONS.items()]


run.extra("conventions", searches, by_convention, "Robustness of the same pairs under three conventions of "
                                                  "SSIM, mean over digits and "
          "networks, beside the published values.")


# %%
def off_by_convention(runs):
    """Distance of robustness from the published values: a row a convention, a column a row of Table III."""
    conventions = pd.DataFrame(by_convention(runs)).set_index("convention")
    return (conventions.drop("printed") - conventions.loc["printed"]).abs()


def what_the_definition_does(searches, variants):
    """How near another convention of SSIM comes to the print: in all rows, in those missed, in others."""
    off, mine = off_by_convention(searches), of_this_page(searches, variants)
    if off.isna().any(axis=None) or not mine.missed.any() or mine.missed.all():
        return {}
    nearest = off.iloc[1:].mean(axis=1).idxmin()
    missed = (mine.architecture + " " + mine.background)[mine.missed]
    both = off.iloc[0], off.loc[nearest]
    (all_, all_by), (there, there_by), (rest, rest_by) = zip(*[
        (o.mean(), o[missed].mean(), o.drop(missed).mean()) for o in both])
    return {"nearest": nearest, "outside": len(missed), "rest": len(mine) - len(missed), "all": all_,
            "all_by": all_by, "there": there, "there_by": there_by, "rest_off": rest, "rest_by": rest_by}


run.say((searches, variants), what_the_definition_does,
        "The mean distance to the published values is {all:.3f} by the rule of this page and {all_by:.3f} by "
        "the nearer of the two others, *{nearest}*. In the {outside} rows where the published value lies "
        "outside our networks, that convention takes the distance from {there:.3f} to {there_by:.3f}; in the "
        "{rest} others, from {rest_off:.3f} to {rest_by:.3f}.")


def order_of_backgrounds(runs):
    """For how many architectures the rim of the images decides which background has the larger value."""
    _, whole, inner, _ = by_convention(runs)
    larger = [[at[f"{a} white"] > at[f"{a} black"] for at in (whole, inner)] for a in ARCHITECTURES.values()
              if {f"{a} white", f"{a} black"} <= {*whole}]
    return larger and {"n": len(larger), "reversed": sum(a != b for a, b in larger)}


run.say(searches, order_of_backgrounds,
        "Only a mixture with white changes the black rim of a digit. With the Gaussian window and the rim "
        "dropped, the order of white and black is reversed for {reversed} of {n} architectures.")

# %% [markdown]
# ## What separability measures
#
# The paper stops at an SSIM of 0.99 or after nine mixtures. Moving both limits shows where the high separability comes from.

# %%
sweeps = run.results(experiments.thresholds)


def draw_sweeps(runs):
    """Separability and robustness over the threshold, a line per limit on the mixtures."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.2), sharex=True)
    for row, one in zip(axes, runs.itertuples()):
        for ax, name in zip(row, ("separability", "robustness")):
            for n, limit in enumerate(LIMITS):
                ax.plot([1 - t for t in THRESHOLDS], one.by_limit[str(limit)][name],
                        marker=display.MARKERS[n],
                        ls="-" if limit == 9 else "--", lw=2.4 if limit == 9 else 1.2,
                        color=display.PALETTE[n], ms=5,
                        label=f"{limit} mixtures", zorder=3 if limit == 9 else 2)
            ax.axvline(1 - 0.99, color="0.6", lw=1)
            ax.set(xscale="log", title=f"{name}, towards {one.background}", ylabel="mean SSIM")
    for ax in axes[1]:
        ax.set_xticks([1 - t for t in THRESHOLDS], [f"{t:g}" for t in THRESHOLDS], rotation=45)
        ax.minorticks_off()
        ax.set_xlabel("stop when the pair's SSIM is above")
    axes[0, 0].invert_xaxis()
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(LIMITS))
    return figure


run.picture(sweeps, draw_sweeps,
            caption="Architecture A under other settings of Algorithm 1: separability (left) and robustness "
                    "(right) against the stopping "
                    "threshold, a line for each limit on the mixtures. Grey line: the paper's threshold; "
                    "solid: its nine mixtures",
            alt="Four panels of rising lines: separability follows the stopping threshold, robustness hardly "
                "moves.")


# %%
def what_separability_is(runs):
    """How many searches reach the threshold, and in how many mixtures."""
    reached = runs.converged.sum() / runs.searched.sum()
    limit = (run.full if searches.recorded else scale).iterations
    return (f"Separability follows the threshold, since a search stops where its pair is alike enough. "
            f"Over {runs.architecture.nunique()} architectures and {runs.background.nunique()} kinds of "
            f"background, {reached:.1%} of the searches exceed it within {limit} mixtures "
            f"({runs.iterations.mean():.1f} on average).")


run.tell(searches, what_separability_is)

# %% [markdown]
# ## What the paper leaves open
#
# | open in the paper | chosen here | why |
# | --- | --- | --- |
# | which digits, and how many | all test digits, misclassified ones too | Figure 2 shows test digits; each search stays in the class the network gives |
# | digits that share the background's label | excluded and counted | there is no boundary between them and the background |
# | the window of SSIM | Gaussian, 11 by 11, standard deviation 1.5, repeated border | the default of the paper's software |
# | STD | sample standard deviation over digits | the default of the paper's software |
# | the training | the defaults of the paper's software, with epochs and shifts chosen to meet the printed accuracies | {ref}`Section II <ren-ii>` |
# | one training or several | five networks per architecture | a single training proves little |

# %%
TOWARDS = {"digit": "another digit"}


def left_out(runs):
    """How many searches have no boundary to find."""
    excluded = runs.groupby("background", sort=False).excluded.sum()
    return ("Excluded, because the network gives digit and background one label: "
                + ", ".join(f"{n:,} searches towards {TOWARDS.get(b, b)}" for b, n in excluded.items()) + ".")


run.tell(searches, left_out)

# %% [markdown]
# ## Try it
#
# 1. *Ask for closer pairs*: `-p threshold 0.999`. Separability rises to the new threshold, robustness stays.
# 2. *Measure clothes*: `-p dataset fashion_mnist`. Is a shirt as robust towards white as a digit?
# 3. *How much is chance?* `-p nets 3` in a quick run, which has fewer, shows the spread between networks in every row of Table III.

# %%
if table_3 and figure_2:
    kept = np.array([r["robustness_ssim"] for r in table_3["rows"]])
    mine, by = (of(*run.best(searches, variants)) for of in (of_this_page, what_the_definition_does))
    first = run.best(pictures).iloc[0]
    # The largest change of a pixel in each pair.
    steps = [np.abs(np.asarray(a, float) - np.asarray(b, float)).max()
             for a, b in zip(first.inside, first.outside)]
    shown_ = min((n for n, x in enumerate(first.excluded) if not x), key=steps.__getitem__)
    figure, axes = plt.subplots(1, 3, figsize=(6, 2.4))
    display.image_grid(axes, [first.original[shown_], first.inside[shown_], first.outside[shown_]],
                       ["a test digit", f"inside: label {first.inside_class[shown_]}",
                        f"outside: label {first.outside_class[shown_]}"])
    causes = prose.fill("; another definition of SSIM brings ours nearer there (mean distance {there_by:.2f} "
                        "instead of {there:.2f}) and not elsewhere, so that the cause is open", by) if (
        by and by["there_by"] < by["there"] and by["rest_by"] > by["rest_off"]) else ""
    apart = [c for c in table_3["cells"] if c["column"] == "robustness_ssim" and c["agrees"] is False]
    beyond = (f" (in {len(apart)} also outside the 99% interval for one further network)"
              if len(apart) < mine.missed.sum() else "")
    run.minute(
        "How much can a digit be mixed with white or black before a network changes its label? Robustness "
        "is the SSIM (1 for equal images) between the digit and the last mixture with its "
        f"label; a higher value means a less robust network. Over {len(mine)} combinations of architecture "
        f"and background its mean is {kept.min():.2f} to {kept.max():.2f} (n = "
        f"{int(mine.networks.max())} networks each; paper: {PRINTED.robustness_ssim.min():.2f} to "
        f"{PRINTED.robustness_ssim.max():.2f}, one network each). In {mine.missed.sum()} of {len(mine)} "
        f"combinations the published value lies more than 0.02 outside the range of our networks{beyond}"
        f"{causes}.",
        picture=figure, alt="Three images: a test digit, and two grey images, one slightly lighter, that "
                            "are given different labels.")

# %%
run.stamp()
