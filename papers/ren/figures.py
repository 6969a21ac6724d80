"""What the pages of `ren` share: rows over networks, facts and pictures of boxes, paths, the trade-off."""
import textwrap
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from papers.findings import Printed
from papers.ren import audit
from papers.ren.experiments import ARCHITECTURES, SETTINGS, UNPRUNED
from report import display, reference
from report.cell import Cell, bare
from report.comparison import LEAST
from report.verdict import equality
from shared import borderline
from shared.borderline import UNIFORM

PAPER = reference.paper("ren")
# Columns of Tables III and IV, and those of the runs.
COLUMNS = {f"{printed}_{tail}": f"{name}_{statistic}"
           for printed, name in (("separability", "separability"), ("robustness", "robustness"),
                                 ("ae", "adversarial"))
           for tail, statistic in (("ssim", "mean"), ("std", "std"))}
SIDES, REACH = "similarity of the two sides", "similarity of digit and last image with its label"
# Steps of the search with one error built in, by their columns.
CHANGED = ("threshold_twice_as_near_to_1", "threshold_half_as_near_to_1", "one_mixture_less",
           "one_mixture_more", "halves_cut_off")
# Of pruning, by its thresholds t and T.
STEPS = {step: "none" if step == UNPRUNED else f"{step[0]}, {step[1]}" for step in (UNPRUNED, *SETTINGS)}


def over_nets(runs, keys, columns):
    """One row for each combination of `keys`: a `Cell` of each column, its mean over the nets.

    runs     DataFrame, a row a run
    columns  {name in the printed table: column of the runs}
    The standard deviation is that of a sample, None for a single net; five or more nets have a range.
    """
    rows = []
    for key, nets in runs.groupby(list(keys), sort=False, dropna=False):
        row = dict(zip(keys, key))
        for name, column in columns.items():
            values = nets[column].dropna()
            row[name] = Cell(float(values.mean()) if len(values) else None, n=len(values),
                             sd=float(values.std()) if len(values) > 1 else None)
            if len(values) >= LEAST:
                row[name] = replace(row[name], low=values.min(), high=values.max(), over="trainings")
        rows.append(row)
    return rows


def in_print(architecture, background):
    """The row of Table III of an architecture, by its key: "a"."""
    return PAPER["table-3"].row(architecture=ARCHITECTURES[architecture], background=background)


# ---- Section II ------------------------------------------------------------------------------------------
def uniform_labels(networks):
    """Facts: who gives black the published label, how many labels white gets; {} of no networks."""
    if not len(networks):
        return {}
    black = PAPER["table-2"].row(row="pure_black")
    printed = [black[f"architecture_{a}"]["predicted_class"] for a in ARCHITECTURES]
    label = max(printed, key=printed.count)
    hits = int((networks.black_class == label).sum())
    differ = bool((networks.groupby("architecture").white_class.nunique() > 1).all())
    return {"label": label, "black": hits, "networks": len(networks), "differ": differ,
            "always": differ and hits == len(networks), "white": {"labels": networks.white_class.nunique()},
            "paper": {"black": printed.count(label), "networks": len(printed)}}


def as_published(networks):
    """Facts: networks that give white its published label, published probabilities outside our range.

    chance  so many would lie outside if only the seed differed
    {} where an architecture has fewer networks than a range needs.
    """
    nets = {a: networks[networks.architecture == a] for a in ARCHITECTURES}
    fewest = min(map(len, nets.values()))
    if fewest < LEAST:
        return {}
    printed = {b: PAPER["table-2"].row(row=f"pure_{b}") for b in UNIFORM}
    inside = [some[f"{b}_pct"].min() <= row[f"architecture_{a}"]["probability_pct"] <= some[f"{b}_pct"].max()
              for b, row in printed.items() for a, some in nets.items()]
    hits = {a: (some.white_class == printed["white"][f"architecture_{a}"]["predicted_class"]).sum()
            for a, some in nets.items()}
    labels = [f"{hits[a]} of the {len(nets[a])} networks of {name}" for a, name in ARCHITECTURES.items()]
    return {"labels": ", ".join(labels), "cells": len(inside), "outside": inside.count(False),
            "chance": 2 * len(inside) / (fewest + 1)}


def accuracies(networks):
    """Facts: mean test accuracy of each architecture in percent, and the published ones."""
    row = PAPER["table-2"].row(row="testing_accuracy")
    means = networks.groupby("architecture").test_pct.mean()
    return {a: means.get(a) for a in ARCHITECTURES} | {
        "paper": {a: row[f"architecture_{a}"]["value_pct"] for a in ARCHITECTURES}}


def draw_labels(networks):
    """The labels of white (large) and black (grey) at the height of their probability; dashed: published."""
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.8), sharey=True, width_ratios=(2, 1))
    for ax, name, color, size in zip(axes, UNIFORM, (display.PALETTE[0], display.PALETTE[7]), (16, 11)):
        for x, a in enumerate(ARCHITECTURES):
            nets = networks[networks.architecture == a]
            places = x + np.linspace(-0.28, 0.28, len(nets)) if len(nets) > 1 else [x]
            for place, height, label in zip(places, nets[f"{name}_pct"], nets[f"{name}_class"]):
                ax.text(place, height, label, ha="center", va="center", fontsize=size, color=color,
                        weight="bold")
            cell = PAPER["table-2"].row(row=f"pure_{name}")[f"architecture_{a}"]
            ax.hlines(cell["probability_pct"], x - 0.4, x + 0.36, ls="--", lw=1, color=display.GUIDE)
            ax.text(x + 0.38, cell["probability_pct"], cell["predicted_class"], color=display.GUIDE,
                    fontsize=11, va="center")
        ax.set(xticks=range(len(ARCHITECTURES)), xticklabels=ARCHITECTURES.values(), xlim=(-0.6, 2.7),
               ylim=(0, 108), xlabel="architecture", title=f"all-{name} image")
    axes[0].set_ylabel("probability of the label (%)")
    return figure


# ---- Section III -----------------------------------------------------------------------------------------
PROMISED = "searched", "excluded", "inside_wrong", "outside_wrong", "by_threshold", "by_limit"


def means(runs, columns):
    """Means over nets of some columns, for each background."""
    return {row.pop("background"): row for row in over_nets(runs, ("background",), columns)}


def goals(runs):
    """A row a background: mean SSIM by both definitions and both goals, and the published means of two."""
    rows = over_nets(runs, ("background",), {k: k for k in (
        "robustness", "separability", "adversarial", "nearest_adversarial")})
    return [row | {f"{k}_published": in_print(runs.architecture.iloc[0], row["background"])[f"{k}_ssim"]
                   for k in ("robustness", "separability")} for row in rows]


def search_facts(searches):
    """For sentences: counts of the searches, their means, and the goals with the published values."""
    total = {k: int(searches[k].sum()) for k in (*PROMISED, "another_picture")}
    rows = bare(goals(searches))
    return total | {
        "starts": total["searched"] + total["excluded"],
        "converged": 100 * total["by_threshold"] / total["searched"],
        "above": searches.threshold.iloc[0], "most": int(searches.iterations.iloc[0]),
        **{k: float(np.average(searches[k], weights=searches.searched))
           for k in ("separability", "mixtures")},
        "sides": {"low": searches.separability.min(), "high": searches.separability.max(),
                  "paper": " and ".join(f"{row['separability_published']:.4f}" for row in rows)},
        "paper": float(np.mean([row["separability_published"] for row in rows])),
        "reach": " and ".join(
            f"{runs.robustness.min():.2f} to {runs.robustness.max():.2f} towards {row['background']} (paper: "
            f"{row['robustness_published']:.2f})" for row in rows
            for runs in [searches[searches.background == row["background"]]])}


def halvings(_):
    """How fast halving makes 255 small, whatever the runs."""
    halved = [torch.full((1, 1, 1, 1), 255, dtype=torch.uint8)]
    for _ in range(8):
        halved.append(borderline.mix(halved[-1], torch.zeros_like(halved[-1])))
    return {"halvings_of_255": [int(h) for h in halved]}


def promises(searches, steps):
    """Sums over all searches of what they promise, and over the compared digits of what differs."""
    total = {k: int(searches[k].sum()) for k in PROMISED}
    return total | {"otherwise": total["searched"] - total["by_threshold"] - total["by_limit"],
                    "compared": {k: int(steps[k].sum()) for k in ("digits", "as_printed", *CHANGED)}}


def search_evidence(d):
    """An equality: the paper's steps against the fast search, with the promises that a search may break."""
    return equality(d["compared"]["as_printed"] == 0, changed=[d["compared"][k] > 0 for k in CHANGED],
                    violations=d["inside_wrong"] + d["outside_wrong"] + d["otherwise"])


def compared_steps(*runs):
    """Facts: how many searches were compared under both rules, and what each built-in error changes."""
    compared = promises(*runs)["compared"]
    return compared | {"both": 2 * compared["digits"], "errors": len(CHANGED),
                       "fewest": min(compared[k] for k in CHANGED)}


def draw_stop(path, searches):
    """One path in a row of images; below, both similarities of each network, and where a search stops.

    path, searches  runs of `experiments.path` and `experiments.checked`
    """
    shown, background = panels(path)[:-2], path.background.iloc[0]
    figure = plt.figure(figsize=(7.2, 4))
    above, below = figure.subfigures(2, 1, height_ratios=(1, 1.5))
    axes = above.subplots(1, len(shown), squeeze=False)[0]
    titles = [f"digit: {shown[0][2]}", f"{background}: {shown[1][2]}",
              *(f"mix {n}: {label}" for n, (_, _, label) in enumerate(shown[2:], start=1))]
    display.image_grid(axes, [image for image, _, _ in shown], titles)
    for ax, (_, _, label) in zip(axes, shown):
        ax.spines[:].set(color=display.PALETTE[int(label != shown[0][2])], linewidth=3)
    ax, stop = below.subplots(), searches.threshold.iloc[0]
    for y, name in enumerate(("separability", "robustness")):
        for n, (b, runs) in enumerate(searches.groupby("background", sort=False)):
            ax.plot(runs[name], [y + 0.14 * (2 * n - 1)] * len(runs), display.MARKERS[n], ms=7, alpha=0.7,
                    color=display.PALETTE[n], label=None if y else f"towards {b}")
    ax.axvline(stop, color="k", lw=1)
    ax.annotate(f"a search stops above {stop:g}", (stop, 0), ha="right", va="center", xytext=(-10, 0),
                textcoords="offset points")
    ax.set(yticks=(0, 1), yticklabels=("the two sides", "digit and last image\nwith its label"),
           xlim=(0, 1.03), ylim=(1.5, -0.5), xlabel="mean similarity (SSIM) of a network's searches")
    ax.legend(loc="upper left")
    return figure


def draw_dots(ax, rows):
    """A row a label, `{label: (values, published, color)}`: dots of networks, the published one as a tick."""
    for y, (values, printed, color) in enumerate(rows.values()):
        ax.plot(values, [y] * len(values), "o", ms=7, alpha=0.7, color=color)
        ax.plot(printed, y, "|", ms=18, mew=2.5, color=display.PRINTED)
    ax.set_yticks(range(len(rows)), rows)
    ax.invert_yaxis()


def draw_similarities(searches):
    """Three similarities of one architecture to both ends: a dot a network, a tick the published one."""
    architecture = searches.architecture.iloc[0]
    quantities = {"the two sides": ("separability", "separability"),
                  "digit, last image with its label": ("robustness", "robustness"),
                  "digit, first image without it": ("adversarial", "ae")}
    figure, ax = plt.subplots(figsize=(7, 3.2))
    draw_dots(ax, {f"{name}, to {b}": (searches[searches.background == b][ours],
                                       in_print(architecture, b)[f"{other}_ssim"], display.PALETTE[n])
                   for name, (ours, other) in quantities.items() for n, b in enumerate(UNIFORM)})
    ax.axvline(searches.threshold.iloc[0], color="k", lw=1, ls="--")
    ax.set(xlim=(0, 1.03), xlabel="similarity (SSIM); dashed: where a search stops")
    return figure


# ---- Section IV ------------------------------------------------------------------------------------------
def spread(searches):
    """Facts: range of the similarity to white over trainings of A, and of the means; {} of one training.

    apart          towards black the label changes "earlier" or "later" in all trainings of one architecture
                   than in any of another; or None
    widest         no architecture has a wider range than A
    more, as_much  the standard deviation of trainings is above twice, or within half and twice, that of
                   architectures (of their means, less what trainings add)
    """
    white = searches[searches.background == "white"] if len(searches) else searches
    if not len(white) or white.groupby("architecture").size().min() < 2:
        return {}
    means = white.groupby("architecture").robustness_mean.agg(["mean", "min", "max"])
    within, between = variances(white)
    black = searches[searches.background == "black"].groupby("architecture").robustness_mean
    black = black.agg(["min", "max"])
    others = {name: black.drop(name) for name in black.index} if len(black) > 1 else {}
    return {"a": {"lowest": means["min"]["a"], "highest": means["max"]["a"]},
            "trainings": (white.architecture == "a").sum(),
            "paper": in_print("a", "white")["robustness_ssim"], "least": means["mean"].min(),
            "most": means["mean"].max(), "architectures": len(means),
            "apart": next((word for name, rest in others.items() for word, alone in (
                ("earlier", black["min"][name] > rest["max"].max()),
                ("later", black["max"][name] < rest["min"].min())) if alone), None),
            "widest": bool((means["max"] - means["min"]).idxmax() == "a"),
            "more": bool(within > 4 * between), "as_much": bool(between <= 4 * within <= 16 * between)}


def variances(white, column="robustness_mean"):
    """Of a similarity to white: the variance over trainings, and that over architectures.

    The latter is of their means, less what trainings add.
    """
    means = white.groupby("architecture")[column].agg(["mean", "size", "var"])
    within = means["var"].mean()
    return within, means["mean"].var() - within / means["size"].mean()


def stopped(searches):
    """Facts: how many searches to white and black end by the rule; the two sides beside the paper's.

    above  of `rows`, published standard deviations too large for searches that all end above the threshold
    """
    own = searches[searches.background.isin(UNIFORM)]
    means = own.groupby(["architecture", "background"]).separability_mean.mean()
    return {"networks": len(own[["architecture", "net"]].drop_duplicates()), "stop": own.threshold.max(),
            "searched": int(own.searched.sum()), "converged": 100 * own.converged.sum() / own.searched.sum(),
            "rows": len(PAPER["table-3"].rows),
            "above": audit.early_stopping(Printed(PAPER)).ours["rows above it"],
            "apart": max(abs(mean - in_print(*which)["separability_ssim"]) for which, mean in means.items())}


def draw_trainings(searches):
    """A dot a training for each architecture and background, the published network as a tick."""
    figure, ax = plt.subplots(figsize=(6.4, 3.2))
    draw_dots(ax, {f"{name} to {b}": (
        searches[(searches.background == b) & (searches.architecture == a)].robustness_mean,
        in_print(a, b)["robustness_ssim"], display.PALETTE[n])
        for n, b in enumerate(UNIFORM) for a, name in ARCHITECTURES.items()})
    ax.plot([], [], "o", color=display.GUIDE, label="one training")
    ax.plot([], [], "|", ms=12, mew=2.5, color=display.PRINTED, label="published")
    ax.set(xlim=(0, 1), xlabel="similarity of digit and last image with its label (1: unchanged)")
    ax.grid(axis="y", color=display.PALE, lw=0.6)
    figure.legend(loc="outside upper right", ncols=2)
    return figure


# ---- Section V -------------------------------------------------------------------------------------------
def pruning(runs):
    """Facts: both similarities towards white, unpruned and with the strongest pruning; {} where one lacks."""
    if not len(runs):
        return {}
    white = runs[(runs.background == "white") & (runs.place == "mixed")]
    plain, strongest = (white[(white["t"] == t) & (white["T"] == T)] for t, T in (UNPRUNED, SETTINGS[-1]))
    if not len(plain) or not len(strongest):
        return {}
    t, T = SETTINGS[-1]
    printed = PAPER["table-4"].row(t=t, T=T, background="white")
    sides, digit = ({"plain": plain[f"{ours}_mean"].mean(), "pruned": strongest[f"{ours}_mean"].mean(),
                     "paper": printed[f"{ours}_ssim"]} for ours in ("separability", "robustness"))
    differ, rise = sides["pruned"] < sides["plain"], digit["pruned"] > digit["plain"]
    moves = steps_of(runs)
    return {"sides": sides, "digit": digit, "n": len(strongest), "traded": differ and rise, "differ": differ,
            "steps": len(moves), "shown": sum(moves), "always": bool(moves) and all(moves)}


def steps_of(runs, last=SETTINGS[-1]):
    """Whether, by the means over networks, the two sides differ more after a step to stronger pruning and the
    digit less from the last image with its label: a list over backgrounds and steps; `last` is the strongest.
    """
    means = runs[runs.place == "mixed"].groupby(["background", "t", "T"])[
        ["separability_mean", "robustness_mean"]].mean()
    settings = UNPRUNED, *SETTINGS[:-1], last
    kept = [[means.loc[b, t, T] for t, T in settings if (b, t, T) in means.index] for b in UNIFORM]
    return [bool(after.separability_mean < before.separability_mean
                 and after.robustness_mean > before.robustness_mean)
            for of in kept for before, after in zip(of, of[1:])]


def draw_pruning(runs):
    """Both similarities over four steps of pruning, towards white and black; lines: means, areas: ranges."""
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), sharey=True)
    mixed = runs[runs.place == "mixed"]
    for ax, b in zip(axes, UNIFORM):
        for n, (name, words) in enumerate((("separability", SIDES), ("robustness", REACH))):
            steps = {x: mixed[(mixed.background == b) & (mixed["t"] == t) & (mixed["T"] == T)][f"{name}_mean"]
                     for x, (t, T) in enumerate(STEPS)}
            at = pd.DataFrame([{"x": x, "mean": of.mean(), "low": of.min(), "high": of.max()}
                               for x, of in steps.items() if len(of)], columns=["x", "mean", "low", "high"])
            ax.fill_between(at.x, at.low, at.high, color=display.PALETTE[n], alpha=0.2, lw=0)
            ax.plot(at.x, at["mean"], display.LINES[n], marker=display.MARKERS[n], color=display.PALETTE[n],
                    label=words)
            printed = {(row.get("t", 0), row.get("T", 255)): row[f"{name}_ssim"]     # unpruned: Table III
                       for row in (*PAPER["table-3"].rows, *PAPER["table-4"].rows)
                       if row["background"] == b and row.get("architecture", "A") == "A"}
            ax.plot(range(len(STEPS)), [printed[step] for step in STEPS], "_", ms=20, mew=3,
                    color=display.PALETTE[n])
        ax.set(xticks=range(len(STEPS)), xticklabels=STEPS.values(), xlim=(-0.4, len(STEPS) - 0.6),
               ylim=(0, 1.04), xlabel="thresholds of pruning", title=f"towards {b}")
    axes[0].fill_between([], [], [], color=display.GUIDE, alpha=0.2, lw=0, label="from lowest to highest")
    axes[0].plot([], [], "_", ms=16, mew=3, color=display.GUIDE, label="published, in the same colours")
    axes[0].set_ylabel("similarity (SSIM)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center")
    return figure


def example_title(example):
    """Pruning, label and probability of an example."""
    pruning = "unpruned" if example["t"] == 0 else "t = {t}, T = {T}".format(**example)
    return f"{pruning}\nlabel {example['class']} ({example['probability']:.1%})"


def draw_examples(runs):
    """The digit and its adversarial examples, a row for each background."""
    figure, axes = plt.subplots(len(runs), 5, figsize=(10, 2.5 * len(runs)), squeeze=False)
    for row, u in zip(axes, runs.itertuples()):
        first = f"original\nlabel {u.original_class} ({u.original_probability:.1%})"
        display.image_grid(row, [u.original[0], *u.outside], [first, *map(example_title, u.shown)])
        row[0].set_ylabel(f"towards {u.background}", fontsize=11)
        for ax, e in zip(row[1:], u.shown):
            ax.set_xlabel(f"SSIM {e['ssim']:.3f}", fontsize=10)
    return figure


# ---- pictures of the items -------------------------------------------------------------------------------
def in_rows(images, titles, kept):
    """Images in rows of four, the last two in one row; blue frames where `kept`, else orange."""
    columns = 4
    before = len(images) - 2
    last = before + (before % columns == columns - 1)
    height = -(-(last + 2) // columns)
    figure, axes = plt.subplots(height, columns, figsize=(1.8 * columns, 2.3 * height), squeeze=False)
    used = [*axes.flat[:before], *axes.flat[last:last + 2]]
    display.image_grid(used, images, titles)
    for ax in set(axes.flat) - set(used):
        ax.set_axis_off()
    for ax, same in zip(used, kept):
        color, line = (display.PALETTE[0], "-") if same else (display.PALETTE[1], "--")
        ax.spines[:].set(color=color, linewidth=3, linestyle=line)
    return figure


def panels(runs):
    """The images of the path in order, as (image, title, label)."""
    u = runs.iloc[0]
    shown = [(u.source, f"Digit: label {u.source_label}", u.source_label),
            (u.flat, f"Background: label {u.background_label}", u.background_label)]
    path = zip(u.mixed, u.mixed_labels, u.replaces_digit, u.likeness)
    for n, (image, label, inside, likeness) in enumerate(path, start=1):
        end = "digit" if inside else "background"
        shown.append((image, f"Mix {n}: label {label}\nreplaces {end}; SSIM {likeness:.3f}", label))
    return [*shown, (u.inside, f"Last with the label: {u.inside_label}", u.inside_label),
            (u.outside, f"First without it: {u.outside_label}", u.outside_label)]


def draw_path(runs):
    """The images of the path in rows of four, the final pair side by side; dashed: another label."""
    images, titles, labels = zip(*panels(runs))
    titles = ["\n".join(textwrap.wrap(title.replace("\n", ", "), 22)) for title in titles]
    return in_rows(images, titles, [label == labels[0] for label in labels])


def draw_trade_off(runs):
    """Robustness over separability: a panel for each background, marks for each rule for T."""
    rules = {"T = 255": runs["T"] == 255, "T = t": runs["T"] == runs["t"]}
    quantities = "separability_ssim", "robustness_ssim"
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharex=True, sharey=True)
    for ax, b in zip(axes, UNIFORM):
        for color, marker, rule in zip(display.PALETTE, display.MARKERS, rules):
            points = runs[(runs.background == b) & rules[rule]].sort_values("t")
            x, y = (points[name.replace("ssim", "mean")] for name in quantities)
            if rule == "T = 255":  # with T = t most mixtures are pruned back: a line would show nothing
                ax.plot(x, y, color=color, lw=1.2)
                ax.scatter(x[points["t"] == 0], y[points["t"] == 0], s=140, facecolor="none", edgecolor="k",
                           label="unpruned")
            ax.scatter(x, y, s=12 + points["t"] / 3, marker=marker, color=color, label=f"measured, {rule}")
        printed = [p for p in reference.paper("ren")["table-4"].rows if p["background"] == b]
        ax.scatter(*zip(*([p[name] for name in quantities] for p in printed)), marker="x", color="k", s=60,
                   label="published: t, T")
        places = [("left", (5, 5))] * 3 if b == "white" else [  # where the curve is not
            ("right", (-7, -9)), ("left", (6, 3)), ("right", (-7, 2))]
        for p, (side, offset) in zip(printed, places):
            ax.annotate(f"{p['t']}, {p['T']}", [p[name] for name in quantities], fontsize=10, ha=side,
                        xytext=offset, textcoords="offset points")
        ax.set(xlabel="similarity of the two sides", title=f"towards {b}")
    axes[0].set_ylabel("similarity of digit and last image with its label")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=10)
    return figure
