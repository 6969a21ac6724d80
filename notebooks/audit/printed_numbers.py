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
# (audit)=
# # The printed numbers, checked against each other
#
# No network is trained on this page and no picture is loaded. A paper prints many numbers that are not
# free: a mean follows from its table, a percentage of 2,000 images has to be a whole number of images, a
# distance has a largest possible value. This page takes the printed numbers of all five papers
# {cite:p}`ren2025,shu2022,he2018,sutton2023,chen2020`, works out again whatever follows from something
# else, and says where the two agree and where they do not.
#
# It matters for the rest of the book: a reproduction should not chase a number that its own paper
# contradicts, and some of the agreements settle questions that the texts leave open.

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the simulated draws
device: str = "auto"  # auto, cpu or cuda; nothing here needs a GPU
pairs: int = None  # simulated pairs of sorted lists; None takes the profile's value
models: int = 10  # length of each of those lists: the models that Chen et al. rank on a data set

# %%
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shared import reference
from shared.audit import chapters, chen, shu, sutton, sutton_counts, sutton_sizes
from shared.audit.finding import Printed, attainable, rounds_to
from shared.pages import notebook, report

run = notebook.start("audit/printed_numbers", globals())

# %%
scale = run.scale(
    smoke=dict(pairs=10_000),
    quick=dict(pairs=1_000_000),
    paper=dict(pairs=1_000_000),
)
if models < 3:
    raise ValueError(f"parameter 'models' is 3 or more, not {models}: two points always correlate perfectly")

# %% [markdown]
# ## The count
#
# Every row of this page is made by a function that reads the book's copy of the printed numbers
# (`book/reference`) and nothing else. It **contradicts** where the paper says one thing and its numbers
# another, **confirms** where they agree, and is a **note** where the paper says nothing that could be wrong
# but the number is worth knowing.

# %%
found = chapters.findings(generator=np.random.default_rng(seed))
numeric = [f for f in found if f.kind == "numeric"]
counts = Counter((f.paper, f.verdict) for f in numeric)
totals = Counter(f.verdict for f in numeric)
words = Counter(f.verdict for f in found if f.kind == "text")
report.say(
    f"Of **{len(numeric)} numeric checks**, {totals['confirms']} confirm what is printed, "
    f"**{totals['contradicts']} contradict it** and {totals['note']} are notes. Beside them stand "
    f"{words['contradicts']} places where two passages of one paper disagree in words. "
    f"Another {sum(f.kind == 'code' for f in found)} differences, between a paper and its authors' scripts, "
    "are listed last and counted nowhere.")
report.table(["paper", "contradicts", "confirms", "note", "checks"],
             [[short, *(str(counts[key, v]) for v in ("contradicts", "confirms", "note")),
               str(sum(f.paper == key for f in numeric))] for key, short in reference.SHORT.items()],
             "Numeric checks of each paper by outcome.", "audit-counts")

# %%
paper = {key: Printed(reference.paper(key), np.random.default_rng(seed)) for key in reference.KEYS}


def one(name):
    """The finding of the check `name`, for checks that make one."""
    finding, = (f for f in found if f.name == name)
    return finding


# %% [markdown]
# ## The findings that matter most
#
# ### Rankings without one exchange
#
# Chen et al. propose to read a model's robustness from how its classes cluster (ROBY and its parts FSA and
# FSD), and support it by Pearson correlations with the success of an attack over ten models on each of
# three data sets. Table I prints the values, Tables II and III the correlations, so the second follows from
# the first.

# %%
coefficients = pd.DataFrame([
    {"data": row["dataset"], "metric": m, "norm": norm, "printed": row[f"{m}_{norm}"],
     "recomputed": chen.pearson(paper["chen"], f"asr_{norm}", f"{m}_{norm}")[row["dataset"]]}
    for item, norm in (("table-2", "inf"), ("table-3", "2")) for row in paper["chen"].paper[item].rows
    for m in chen.METRICS])
coefficients["agrees"] = [rounds_to(r, p, chen.DECIMALS)
                          for r, p in zip(coefficients.recomputed, coefficients.printed)]
by_chance = chen.sorted_uniform_correlations(np.random.default_rng(seed), size=models,
                                                   pairs=scale.pairs)


# %% mystnb={"figure": {"caption": "Chen et al., Tables II and III. Left: size of each correlation as recomputed from Table I, minus the printed one; the band is what rounding to two decimals allows. Right: correlation of two lists of random numbers that have nothing in common except that both were sorted; marks below: the printed sizes.", "name": "audit-correlations"}, "image": {"alt": "Left: eighteen dots within a narrow band, one outside it. Right: a histogram of correlations heaped up between 0.8 and 1, with the printed coefficients spread over the same range."}}
def draw_correlations(coefficients, by_chance):
    """Recomputed against printed coefficients, and the printed ones against those of sorted noise."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
    half = 0.5 * 10.0**-chen.DECIMALS
    left.axhspan(-half, half, color="0.92")
    left.axhline(0, color="0.6", lw=0.8)
    for n, (metric, rows) in enumerate(coefficients.groupby("metric", sort=False)):
        size = rows.printed.abs()
        left.plot(size, rows.recomputed.abs() - size, "o", color=report.PALETTE[n], label=metric.upper())
        right.plot(size, [-0.6 - 0.6 * n] * len(rows), "|", ms=11, mew=2, color=report.PALETTE[n])
    for r in coefficients[~coefficients.agrees].itertuples():
        left.annotate(f"{r.data}, {r.metric.upper()}", (abs(r.printed), abs(r.recomputed) - abs(r.printed)),
                      fontsize=9, xytext=(-8, -1), textcoords="offset points", ha="right", va="center")
    left.set(xlabel="printed size of the correlation", ylabel="recomputed minus printed",
             ylim=(-1.6 * half, None))
    left.legend(fontsize=9, loc="lower left", ncols=3)
    right.hist(by_chance, bins=np.linspace(0.6, 1, 81), density=True, color="0.75")
    right.axhline(0, color="0.6", lw=0.8)
    right.set(xlabel="correlation of two sorted lists", xlim=(0.6, 1), ylim=(-2.2, None), yticks=[])
    right.spines["left"].set_visible(False)
    return figure


report.picture(draw_correlations(coefficients, by_chance));

# %%
order, pooled = one("strict_order").recomputed, one("pooled_correlation").recomputed
close = one("closer_than_sampling_error")
low, median, high = np.quantile(by_chance, (.05, .5, .95))
size = coefficients.recomputed.abs()
inside = int(((size >= low) & (size <= high)).sum())
report.say(
    f"{coefficients.agrees.sum()} of {len(coefficients)} coefficients follow from Table I; the finding "
    "lies elsewhere. In every column of Table I the models of a data set stand in exactly the order of "
    "attack success, or exactly in its reverse: the smallest rank correlation has the size "
    f"{order['smallest |Spearman|']:g}. Once two lists are in one order, a large Pearson correlation is "
    "nearly certain. Two sorted lists of "
    f"{models} random numbers correlate at {median:.3f} in the middle and between {low:.3f} and "
    f"{high:.3f} in nine cases of ten. The table's coefficients have sizes from {size.min():.3f} to "
    f"{size.max():.3f}, and {inside} of {len(size)} lie in that range. So they say no more than the order "
    "does.")
report.say(
    "And an order without a single exchange is hard to square with chance: on CIFAR-10 the attack "
    f"success of two neighbours differs by {close.printed['CIFAR-10']:g}, while each is known to about "
    f"{close.recomputed['CIFAR-10']:.3f} (one standard error of "
    f"{paper['chen'].settings('table-1')['n_test_images_for_roby']:,} images). Over all models of the three "
    f"data sets at once the correlations of ROBY fall to between {min(pooled.values()):.2f} and "
    f"{max(pooled.values()):.2f}.")

# %% [markdown]
# ### A column that is no network
#
# Sutton et al. sum up their experiments in Table 1. Its CIFAR-10 column reads like one network: so
# accurate, so easy to attack, so rarely disturbed by noise. The long tables of the appendix show what it
# is.

# %%
DATA_SETS = {"cifar10": "CIFAR-10", "fashion_mnist": "Fashion-MNIST", "gtsrb": "GTSRB"}
summary = pd.DataFrame([
    {"data": data, "quantity": quantity, "split": split, "printed": value,
     "median": sutton.consecutive(sutton.problems(paper["sutton"], data))[quantity]
     .xs(split, level="split").median()}
    for data in DATA_SETS
    for (quantity, split), value in sutton.summary(paper["sutton"], data).items()])


# %% mystnb={"figure": {"caption": "Sutton et al., Table 1. Left: the CIFAR-10 entries (bars) among the values of the problems k against k + 1 (grey) and of aeroplane against cat (crosses), for training and test images. Right: every entry of the three data sets minus the median over those problems.", "name": "audit-medians"}, "image": {"alt": "Left: ten columns of grey dots with a black bar at the median of each. Right: thirty dots, all at zero but one."}}
def draw_medians(summary):
    """Printed summary entries beside the problems they summarise, and their distance to the medians."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.9), width_ratios=(1.4, 1))
    table = sutton.problems(paper["sutton"], "cifar10")
    near = sutton.consecutive(table)
    cat = table.xs((0, 3), level=("class_a", "class_b"))
    entries = summary[summary.data == "cifar10"]
    for x, r in enumerate(entries.itertuples()):
        values = near[r.quantity].xs(r.split, level="split")
        left.plot(x + np.linspace(-0.2, 0.2, len(values)), values, "o", ms=4, color="0.7")
        left.plot(x, cat.at[r.split, r.quantity], "x", ms=8, mew=2, color=report.PALETTE[3])
        left.hlines(r.printed, x - 0.35, x + 0.35, color="k", lw=2)
    names = [q if isinstance(q, str) else f"random ×{q}" for q in entries.quantity.unique()]
    left.set(xticks=np.arange(len(names)) * 2 + 0.5, ylabel="% of images")
    left.set_xticklabels(names, fontsize=9, rotation=20)
    off = summary.printed - summary["median"]
    for n, (data, rows) in enumerate(summary.groupby("data", sort=False)):
        right.plot(rows.index, off[rows.index], "o", color=report.PALETTE[n], label=DATA_SETS[data])
    for i in off.index[off.abs() > 0.0051]:
        right.annotate(f"{summary.printed[i]} for {summary['median'][i]:.2f}", (i, off[i]), fontsize=9,
                       xytext=(8, 0), textcoords="offset points", va="center")
    right.set(xlabel="entry of Table 1", xticks=[], ylabel="printed minus median (points)")
    right.legend(fontsize=9, loc="center right")
    return figure


report.picture(draw_medians(summary));

# %%
medians, problem, misprint = one("summary_is_median"), one("summary_is_no_problem"), one("summary_misprint")
best = next(k for k in problem.recomputed if k.startswith("equal in the best"))
report.say(
    "It is a column of medians over the problems k against k + 1, taken row by row: "
    f"{medians.recomputed['equal']} of {len(summary)} entries of the three data sets are equal to them. "
    f"No single network has these numbers. The problem of Figure 1, {problem.printed}, shares "
    f"{problem.recomputed['equal in 0-vs-3']} of the column's {problem.recomputed['entries']} entries, "
    f"and the best of all, {best.split()[-1]}, shares {problem.recomputed[best]}. The one odd entry is a "
    f"misprint: {misprint.printed} for {misprint.recomputed['median']:g}, and {misprint.printed} "
    f"{'occurs' if misprint.recomputed['occurs in Table 12'] else 'occurs nowhere'} in the table it comes "
    "from.")

# %% [markdown]
# ### Percentages that count images
#
# Which images are the 100 percent? The formulas that say so are lost from the text of Sutton et al., but
# percentages with two decimals give it away. Of 2,000 test images, a share must be a multiple of 0.05%. Of
# the correctly classified ones some whole number can be attacked, and of those some whole number is flipped
# by random noise. A guess about what is counted can therefore be tested, image by image.

# %%
ROUNDING = 0.005 / 100  # half a unit of a percentage's second decimal, as a share of the images


def images_flipped():
    """A row per random susceptibility on CIFAR-10: how far its flipped images are from a whole number."""
    rows = []
    for (a, b, split), column in sutton.problems(paper["sutton"], "cifar10").iterrows():
        everything = sutton_counts.IMAGES["cifar10"][split]
        correct = attainable(column["accuracy"], everything)
        susceptible = [n for c in correct for n in attainable(column["susceptibility"], c)]
        counted = sutton_counts.whole_images(column, everything)
        total = counted[1] if counted else susceptible[0]
        for draw in sutton.RANDOM_TABLES:
            percent = column[draw]
            images = percent / 100 * total
            rows.append({
                "problem": f"{a}-vs-{b}", "split": split, "draw": draw, "percent": percent, "total": total,
                "images": images, "distance": abs(images - round(images)), "allowed": ROUNDING * total,
                "of all": any(attainable(percent, n) for n in [everything]),
                "of correct": any(attainable(percent, n) for n in correct),
                "of susceptible": any(attainable(percent, n) for n in susceptible)})
    return pd.DataFrame(rows)


flipped = images_flipped()
impossible = flipped[flipped.distance > flipped.allowed + 1e-6]


# %% mystnb={"figure": {"caption": "Sutton et al., Tables 9 to 12: every percentage of flipped images on CIFAR-10, turned into a number of images. Height: how far that is from a whole number. Below the line the distance is no more than the rounding of the percentage explains.", "name": "audit-whole-images"}, "image": {"alt": "Two clouds of dots below a rising line, for test and training images; three dots of one problem lie above it."}}
def draw_whole_images(flipped, impossible):
    """Distance to the nearest whole number of images over the number of susceptible images."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4))
    for ax, split in zip(axes, ("test", "train")):
        rows, above = flipped[flipped.split == split], impossible[impossible.split == split]
        ends = np.array([rows.total.min(), rows.total.max()])
        ax.plot(ends, ROUNDING * ends, color="0.5", lw=1)
        ax.plot(rows.total, rows.distance, "o", ms=4, color=report.PALETTE[0], alpha=0.5)
        ax.plot(above.total, above.distance, "o", ms=7, color=report.PALETTE[3])
        for r in above.itertuples():
            ax.annotate(f"{r.problem}: {r.percent}% of {r.total}", (r.total, r.distance), fontsize=9,
                        xytext=(-8, 0), textcoords="offset points", ha="right", va="center")
        ax.set(title=f"{split} images", xlabel="images that can be attacked", ylim=(-0.02, 0.55))
    axes[0].set_ylabel("distance to a whole number")
    return figure


report.picture(draw_whole_images(flipped, impossible));

# %%
whole = next(f for f in found if f.name == "whole_numbers" and f.title.startswith("cifar10")).recomputed
tested = flipped[(flipped.split == "test") & (flipped.percent > 0)]
signs = one("gtsrb_sizes")
report.say(
    f"Take the {len(tested)} test percentages that are not zero. As shares of all test images "
    f"{tested['of all'].sum()} of them are possible, as shares of the correctly classified ones "
    f"{tested['of correct'].sum()}, as shares of those that can be attacked "
    f"{tested['of susceptible'].sum()}. "
    f"All in all {whole['columns of whole images']} of {len(flipped) // len(sutton.RANDOM_TABLES)} "
    "columns count whole images throughout, which settles the question. The exceptions are of one problem, "
    f"{' and '.join(impossible.problem.unique())}: "
    + "; ".join(f"{r.percent}% of {r.total} would be {r.images:.2f} images ({r.split}, draw ×{r.draw})"
                for r in impossible.itertuples())
    + ". It seems to mix two runs.")
report.say(
    "The same arithmetic finds the lost sizes of the traffic-sign sets: the smallest numbers of images that "
    f"make all percentages whole add up to {', '.join(map(str, signs.recomputed['sums']))}. These are "
    f"{'exactly' if signs.verdict == 'confirms' else 'not'} the sizes of the public *training* folders of "
    "those signs. The official test set was not used, and frames of one and the same sign stand on both "
    "sides of the split.")

# %% [markdown]
# ### Farther than possible
#
# Shu et al. print how far adversarial images lie from the clean one, as an $L_2$ distance. If an attack
# changes $k$ pixels and every pixel stays between 0 and 1, the distance is at most $\sqrt{k}$.

# %%
distances = pd.DataFrame(shu.maxima(paper["shu"]), columns=["place", "largest", "pixels"])
distances["as_norm"] = distances.largest / np.sqrt(distances.pixels)
distances["as_square"] = distances.largest / distances.pixels
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)  # ticks of the figure's logarithmic axis


# %% mystnb={"figure": {"caption": "Shu et al., Tables 4 and 10: the largest printed distance of every row, as a share of the largest possible one for its number of changed pixels k, read as a norm and as a squared norm. Beyond the line is impossible.", "name": "audit-distances"}, "image": {"alt": "Eighteen rows of two dots; read as norms, several lie right of the line at one, read as squares none does."}}
def draw_distances(distances):
    """Share of the possible, a row per printed distance, under both readings."""
    rows = distances.sort_values("as_norm").reset_index(drop=True)
    figure, ax = plt.subplots(figsize=(8.5, 5))
    ax.hlines(rows.index, rows.as_square, rows.as_norm, color="0.85", lw=1, zorder=0)
    ax.plot(rows.as_norm, rows.index, "o", color=report.PALETTE[3], label="read as a norm: printed / √k")
    ax.plot(rows.as_square, rows.index, "s", color=report.PALETTE[0], label="read as a square: printed / k")
    ax.axvline(1, color="k", lw=1)
    ax.set(xscale="log", xlabel="share of the largest possible", yticks=rows.index)
    ax.set_xticks(SHARES, [f"{share:g}" for share in SHARES])
    ax.minorticks_off()
    ax.set_yticklabels([f"{r.place}, k = {r.pixels}" for r in rows.itertuples()], fontsize=9)
    ax.legend(fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


report.picture(draw_distances(distances));

# %%
worst = distances.loc[distances.as_norm.idxmax()]
interval, lenets = one("fgsm_interval"), one("errors_fall_with_index")
report.say(
    f"{(distances.as_norm > 1).sum()} of {len(distances)} printed distances are impossible. The worst, "
    f"{worst.place}, is {worst.largest:g} where {worst.pixels} pixels allow {np.sqrt(worst.pixels):.1f}. "
    f"Read as *squared* distances all are possible, the largest at {distances.as_square.max():.0%} of the "
    "limit. A second test agrees: the spread of the FGSM samples implies intervals "
    f"{interval.recomputed['common width, squared']:.4f} wide if the numbers are squares and "
    f"{interval.recomputed['plain']:.4f} if they are not; the paper prints {interval.printed}. This book "
    "therefore compares with squares and shows both.")


# %% [markdown]
# ### A little noise makes attacks easier
#
# Sutton et al. train networks with random noise of three sizes and say that the norm of a successful attack
# rises with the noise.

# %% mystnb={"figure": {"caption": "Sutton et al., Tables 5, 6 and 13 to 18: mean norm of successful attacks and mean share of training images that can be attacked, for nets trained without noise and with three sizes of it, drawn from a cube or a ball.", "name": "audit-noise"}, "image": {"alt": "Two panels over noise size; the mean norm falls by almost half at the smallest noise and then rises, the share of attackable images rises and then falls back."}}
def draw_noise(panels):
    """A panel per quantity, a line per kind of noise."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2))
    for ax, (label, means) in zip(axes, panels.items()):
        for kind, color in zip(("cube", "ball"), report.PALETTE):
            ax.plot([means["none"], *means[kind]], "o-", color=color, label=f"noise from a {kind}")
        ax.set(xticks=range(4), xticklabels=["none", "small", "middle", "large"], xlabel="training noise",
               ylabel=label)
    axes[0].set_ylim(0, None)
    axes[0].legend(fontsize=9, loc="lower right")
    return figure


norms, shares = one("noise_and_norms").recomputed, one("noise_and_susceptibility").recomputed
report.picture(draw_noise({"mean attack norm": norms, "images that can be attacked (%)": shares}));

# %%
fewer = norms["problems below noise-free, least noise"]
total = len(sutton_sizes.noise_free(paper["sutton"], "l2"))
report.say(
    f"It rises from one noise to the next, but the first step leads down: from {norms['none']:.3f} without "
    f"noise to {norms['cube'][0]:.3f} (cube) and {norms['ball'][0]:.3f} (ball), in {fewer[0]} and "
    f"{fewer[1]} of {total} problems. More images can be attacked, too: {shares['none']:.1f}% without noise, "
    f"{shares['cube'][0]:.1f}% and {shares['ball'][0]:.1f}% with the smallest. The largest noise brings both "
    f"back to about where they started: {norms['cube'][-1]:.3f} and {norms['ball'][-1]:.3f}, "
    f"{shares['cube'][-1]:.1f}% and {shares['ball'][-1]:.1f}%.")

# %% [markdown]
# ### And five more

# %%
optmargin, fgsm = one("optmargin_success"), one("fgsm_over_correct_images")
rank, prose = one("order_of_architectures").recomputed, one("susceptibility_prose")
step, weaker = one("step_and_epsilon").recomputed, one("l2_weaker").recomputed
report.say("\n".join([
    "- **He et al.: always successful, sometimes right.** OptMargin succeeds on "
    f"{optmargin.printed['cifar10_adv']}% of images of the adversarially trained CIFAR-10 net, yet that "
    f"net classifies {optmargin.recomputed['cifar10_adv']}% of the results correctly. For FGSM the two "
    "tables fit once success is counted over correctly classified images (printed "
    f"{chapters.show(tuple(fgsm.printed.values()))}; recomputed "
    f"{chapters.show(tuple(fgsm.recomputed.values()))}).",
    "- **Ren et al.: the ranking depends on the background.** The three networks ranked by mixing with "
    f"white and by mixing with black correlate at {rank['white with black']:g}: one ranking is the "
    "reverse of the other.",
    "- **Shu et al.: ten networks in order.** Networks that are said to differ by their seed alone have "
    "errors that fall with their number (Kendall's tau "
    f"{lenets.recomputed['Kendall tau of error and index']:.2f}, p = {lenets.recomputed['p']:.5f}), as if "
    "they had been stopped at different times.",
    "- **Sutton et al.: easier to attack than said.** The text gives a mean susceptibility of "
    f"{prose.printed['training'][0]:g}% (training) and {prose.printed['test'][0]:g}% (test); the table it "
    f"speaks of has {prose.recomputed['training'][0]:.2f}% and {prose.recomputed['test'][0]:.2f}%.",
    "- **Chen et al.: two budgets under one name.** The $L_2$ attack succeeds more often than the "
    f"$L_\\infty$ attack in {weaker['rows with higher L2 success']} of "
    f"{len(paper['chen'].frame('table-1'))} rows, but with one epsilon its ball lies inside the other. "
    f"And on CIFAR-10 a single step is {step['CIFAR-10']:g} times as long as the radius of the ball it "
    "moves in.",
]))


# %% [markdown]
# ## All numeric contradictions
#
# None of the statements below holds. Beside each stand what is printed, what the paper's own numbers give,
# and what a reader should do about it. Text in the printed column that begins with an item and a field, such
# as `table-4.claims`, is how the reference file puts a statement of the paper.

# %%
def place(finding):
    """Where the finding is, in the paper's names: `Tables III, IV; Figure 3`."""
    numbers = {}
    for item in finding.place.split(", "):
        kind, _, number = reference.paper(finding.paper)[item].label.partition(" ")
        numbers.setdefault(kind, []).append(number)
    return "; ".join(f"{kind}{'s' * (len(n) > 1)} {', '.join(n)}" for kind, n in numbers.items())


def cell(value, digits=4, between=";<br>"):
    """Text of a value: labelled values on lines of their own, numbers to so many significant digits."""
    if isinstance(value, dict):
        return between.join(f"{label}: {cell(v, digits, ', ')}" for label, v in value.items())
    if isinstance(value, tuple):
        return ", ".join(cell(v, digits) for v in value)
    return f"{value:.{digits}g}" if isinstance(value, float) else report.number(value)


def printed_cell(finding):
    """Printed numbers with all their digits: no paper prints more than six."""
    return cell(finding.printed, digits=6)


def show_findings(verdict, what):
    """A table for each paper of its numeric findings with this verdict."""
    for key, short in reference.SHORT.items():
        report.table(["place", "statement", "printed", "recomputed", "consequence"],
                     [[place(f), f.title, printed_cell(f), cell(f.recomputed), f.consequence]
                      for f in numeric if (f.paper, f.verdict) == (key, verdict)], f"{short}: {what}.",
                     f"audit-{verdict}-{key}", sentences=True)


show_findings("contradicts", "printed numbers that contradict each other")

# %% [markdown]
# ## What the numbers confirm
#
# The other side of the account, one click away: statements that their own numbers bear out. Several of them
# settle what a text leaves open, such as denominators, data splits and dimensions.

# %% mystnb={"code_prompt_hide": "Hide the confirmed statements: {type}", "code_prompt_show": "Show the confirmed statements: {type}"} tags=["hide-output"]
show_findings("confirms", "statements that the printed numbers confirm")

# %% [markdown]
# ## Notes
#
# Nothing is wrong here; these numbers are simply worth knowing when the tables are read or reproduced.

# %% mystnb={"code_prompt_hide": "Hide the notes: {type}", "code_prompt_show": "Show the notes: {type}"} tags=["hide-output"]
show_findings("note", "notes on printed numbers")


# %% [markdown]
# ## Words against words
#
# Places where two passages of one paper do not fit together, or where a statement needs a condition.
# Nothing is recomputed here; each row quotes the item and the field of the reference file that records it.

# %%
def quoted(finding):
    """What the reference says, led by item and field, and the other passage where there is one."""
    text = chapters.show(finding.printed)
    led = text if text.startswith(finding.source.split(".")[0]) else f"{finding.source}: {text}"
    return f"{led} **Against:** {chapters.show(finding.recomputed)}" if finding.recomputed else led


report.table(["paper", "statement", "item, field and text of the reference", "consequence"],
             [[reference.SHORT[f.paper], f.title, quoted(f), f.consequence] for f in found if f.kind == "text"],
             "Text against text, with the reference item and field.", "audit-text", sentences=True)

# %% [markdown]
# ## The authors' scripts against the papers
#
# Where authors published scripts, these sometimes do something else than the paper says. That is no
# inconsistency of the printed numbers, so none of these rows is counted above.

# %%
report.table(["paper", "about", "the paper", "the scripts", "consequence"],
             [[reference.SHORT[f.paper], f.title, printed_cell(f), cell(f.recomputed), f.consequence]
              for f in found if f.kind == "code"],
             "Published scripts against the text; not counted.", "audit-scripts", sentences=True)

# %% [markdown]
# ## Things to try
#
# `-p models 30` correlates longer sorted lists · `-p pairs 1000000` smooths the histogram · change a cell
# of `book/reference/chen.json` and run again: the rows that depend on it change their verdict.

# %%
run.stamp()
