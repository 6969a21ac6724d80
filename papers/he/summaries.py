"""The boxes and summaries of the pages of `he`: what their sentences name, and pictures of these numbers."""
import math
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

from papers.he import boundary, claims, figures, photographs
from report import display, record
from report.cell import Cell, bare
from report.tidy import unnest
from shared.attacks.region import Region
from shared.data.archives import SPECS
from shared.susceptibility import percentage

NET = "mnist-normal"    # the paper's own network, of which the boxes of Sections 3 to 5 tell
NAMES = {"benign": "clean", "margin": "OptMargin", "brittle": "OptBrittle"}
NARROW = 5.6            # inches: small enough for the text to be read on a telephone


def bars(ax, places, shares, *, published=None, width=0.38, **style):
    """Bars of shares with their intervals, as `percentage` has them; a tick at each published value."""
    heights = np.array([share["percent"] for share in shares])
    ends = np.array([[share["low"], share["high"]] for share in shares])
    whiskers = np.abs(ends - heights[:, None]).T
    drawn = ax.bar(places, heights, width, yerr=whiskers, error_kw={"elinewidth": 1, "capsize": 2}, **style)
    ax.bar_label(drawn, [f"{height:.0f}" for height in heights], padding=1)
    if published:
        ax.hlines(published, places - width / 2, places + width / 2, color=display.PRINTED, linewidth=1.8)
    ax.set(ylim=(0, 118), yticks=range(0, 101, 25))


def with_tick(ax):
    """Handles and labels of a legend: those of the axes, and the tick of the published values."""
    handles, labels = ax.get_legend_handles_labels()
    return [*handles, plt.Line2D([], [], color=display.PRINTED, linewidth=1.8)], [*labels, "published"]


# ---- Section 3: a vote over noisy copies -----------------------------------------------------------------
def vote(attacks):
    """`figures.facts`, whether the vote undoes nearly all of one attack and hardly any of the other, and how
    many times as much OptMargin changes a digit as OptBrittle, here and in the paper.

    {} where one of the two has no example.
    """
    if not len(attacks) or not (facts := figures.facts(attacks)):
        return {}
    opposite = facts["brittle"]["percent"] >= 90 and facts["margin"]["percent"] <= 10
    rows = figures.examples(attacks)
    far, near = figures.of_both(*(figures.only(rows, NET, kind) for kind in ("margin", "brittle")))
    paper = figures.published("table-1")[NET]
    return facts | {"opposite": opposite, "ratio": far.rms.sum() / near.rms.sum() if len(far) else None,
                    "paper_ratio": paper["margin"]["rms"] / paper["brittle"]["rms"]}


def cost(runs):
    """`figures.cost`; the paper's minutes an image are those of another machine."""
    return figures.cost(runs) | {"minutes_per_image_slowest": Cell(status=f"not measured: {claims.SLOWEST}")}


def draw_vote(attacks):
    """Accuracy of the network alone and of the vote: clean digits, OptBrittle and OptMargin."""
    rows, kinds = figures.examples(attacks, "region", "point"), ("benign", "brittle", "margin")
    paper = figures.published("table-2")[NET]
    figure, ax = plt.subplots(figsize=(NARROW, 3))
    for n, (how, words) in enumerate({"point": "the image alone",
                                      "region": f"vote over {Region(0.3).samples} noisy copies"}.items()):
        truths = [figures.only(rows, NET, kind)[how] for kind in kinds]
        bars(ax, np.arange(len(kinds)) + 0.4 * n - 0.2, [percentage(int(t.sum()), len(t)) for t in truths],
             published=[paper[kind][how] for kind in kinds], color=display.PALETTE[n], label=words)
    ax.set_xticks(range(len(kinds)), [NAMES[kind] for kind in kinds])
    ax.set_ylabel("classified correctly, %")
    figure.legend(*with_tick(ax), loc="outside lower center", ncols=3)
    return figure


def draw_networks(attacks):
    """Accuracy of the vote with intervals and published ticks: a panel a network, a row a kind of example."""
    rows, paper = figures.examples(attacks, "region"), figures.published("table-2")
    kinds = tuple(figures.COLOURS)
    nets = [net for net in boundary.in_order(set(rows.network)) if len(rows[rows.network == net])]
    figure, axes = plt.subplots(1, len(nets), figsize=(display.WIDEST, 2.6), sharey=True, squeeze=False)
    for net, ax in zip(nets, axes[0]):
        for place, kind in enumerate(kinds):
            truths = figures.only(rows, net, kind).region
            if len(truths):
                share = percentage(int(truths.sum()), len(truths))
                ax.hlines(place, share["low"], share["high"], color=figures.COLOURS[kind])
                ax.plot(share["percent"], place, "o", color=figures.COLOURS[kind])
            ax.plot(paper[net][kind]["region"], place, "|", color=display.PRINTED, ms=14, mew=2.5)
        ax.set(title=figures.NAMED[net].replace(", ", "\n"), xlim=(-4, 104), xticks=(0, 50, 100),
               ylim=(len(kinds) - 0.5, -0.5))
    axes[0, 0].set_yticks(range(len(kinds)), ["clean", *(figures.KINDS[kind] for kind in kinds[1:])])
    figure.supxlabel("classified correctly by the vote, %")
    return figure


# ---- Section 4: boundary distances -----------------------------------------------------------------------
def nearest(distances):
    """Medians of the nearest distances, of how many digits and directions, whether OptBrittle's is the first
    step of the search, how far OptBrittle moves and whether that is nearer than clean digits' distance, and
    what clean digits would have at a `flat` boundary that OptBrittle just reaches; {} without all.
    """
    kinds = boundary.all_data(distances).get(NET, {}) if len(distances) else {}
    if not NAMES.keys() <= kinds.keys():
        return {}
    sizes = sorted({kinds[kind]["images"] for kind in NAMES})
    run = distances[distances.network == NET].iloc[0]
    table = figures.by_network(bare(pd.DataFrame((record.read("he", "table-1") or {}).get("rows", []))))
    attack, ways = table[NET].get("brittle", {}).get("rms"), int(run.directions * (1 + run.negatives))
    factor = far_in_random_directions(int(run.directions), math.prod(SPECS["mnist"].image))
    return {kind: float(kinds[kind]["least"]) for kind in NAMES} | {
        "n": " to ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1]))),
        "pixels": f"0 to {boundary.PIXELS[NET]}", "directions": ways, "factor": factor,
        "flat": attack and factor * attack,
        "touches": bool(kinds["brittle"]["least"] <= run.step + 1e-6),
        "attack": attack, "missed": bool(attack and attack < kinds["benign"]["least"])}


def far_in_random_directions(lines, dimensions):
    """How many times as far as its nearest point the best of so many random lines, both ways, meets a plane.

    The median, where the cosines of these lines with the plane's normal count as normally distributed.
    """
    return float(dimensions**0.5 / stats.norm.ppf((1 + 0.5 ** (1 / lines)) / 2))


def by_kind(distances):
    """For sentences on the normal MNIST network: nearest distances and top-1 purities by kind, whether the
    paper's claims on them hold; {} without all kinds.
    """
    data, pure = boundary.all_data(distances).get(NET, {}), boundary.purity_data(distances).get(NET, {})
    if not figures.COLOURS.keys() <= data.keys() & pure.keys():
        return {}
    least = {kind: float(data[kind]["least"]) for kind in figures.COLOURS}
    gap = {kind: abs(pure[kind] - pure["benign"]) for kind in figures.COLOURS}
    nearer = all(least[kind] < least["benign"] for kind in least if kind != "benign")
    purer = all(some[kind] < some["brittle"] for some in (pure, gap) for kind in gap if kind != "brittle")
    words = {True: "holds", False: "does not hold"}
    step = float(distances.step[distances.network == NET].iloc[0])
    return {"least": least, "pure": pure, "step": step, "nearer": words[nearer], "purer": words[purer]}


def none_at(ax, place):
    """A tick where those stand that have no boundary within the search."""
    ax.set_xticks([*np.arange(0, place - 0.06, 0.1).round(1), place],
                  [*(f"{x:.1f}" for x in np.arange(0, place - 0.06, 0.1)), "none"])


def draw_nearest(distances, attack):
    """A dot a digit at its nearest boundary, a row a kind, a tick at the median.

    attack   mean distance that OptBrittle moves a clean digit, a line; None where it is not recorded
    """
    rows, steps = boundary.examples(distances), distances[distances.network == NET].step
    hit = rows[(rows.network == NET) & (rows.least < 1)].least
    none = hit.max() + 2 * steps.max()     # where those without any boundary stand
    figure, ax = plt.subplots(figsize=(NARROW, 2.8))
    for place, kind in enumerate(NAMES):
        own = figures.only(rows, NET, kind).least
        for value, count in Counter(own.where(own < 1, none)).items():
            spread = (np.arange(count) - (count - 1) / 2) * min(0.07, 0.7 / count)
            ax.scatter(np.full(count, value), place + spread, s=8, color=figures.COLOURS[kind], linewidths=0)
        ax.plot(min(own.median(), none), place, "|", color="black", ms=30, mew=2)
    if attack:
        ax.axvline(attack, color=display.GUIDE, linestyle="--", linewidth=1)
        ax.text(attack, -0.55, " OptBrittle's mean change", va="bottom", color=display.GUIDE)
    ax.set(yticks=range(len(NAMES)), yticklabels=NAMES.values(), ylim=(len(NAMES) - 0.5, -0.55),
           xlim=(0, None), xlabel="nearest boundary in random directions\n(root mean square, pixels 0 to 1)")
    none_at(ax, none)
    return figure


def draw_kinds(distances):
    """Median nearest distance and mean top-1 purity of the MNIST networks, a row a kind; middle half, n."""
    rows = boundary.examples(distances).assign(
        purity=[tops[0] or np.nan for tops in unnest(distances, "purity").purity])     # 0: no boundary at all
    nets = [net for net in boundary.in_order(set(rows.network)) if net.startswith("mnist")]
    if not nets:
        return None
    figure, axes = plt.subplots(1, 2, figsize=(display.WIDEST, 2.9), sharey=True)
    for n, net in enumerate(nets):
        for ax, (column, centre) in zip(axes, {"least": "median", "purity": "mean"}.items()):
            by_kind = [figures.only(rows, net, kind)[column].dropna() for kind in figures.COLOURS]
            there = [place for place, own in enumerate(by_kind) if len(own)]
            own = [by_kind[place] for place in there]
            places = np.array(there) + 0.25 * n - 0.125
            ax.hlines(places, *np.transpose([some.quantile([0.25, 0.75]) for some in own]),
                      color=display.PALETTE[n])
            ax.plot([getattr(some, centre)() for some in own], places, display.MARKERS[n],
                    color=display.PALETTE[n], label=figures.NAMED[net])
    counts = {kind: [str(len(figures.only(rows, net, kind))) for net in nets] for kind in figures.COLOURS}
    axes[0].set_yticks(range(len(counts)), [f"{figures.KINDS[kind]}\nn = {', '.join(of_nets)}"
                                            for kind, of_nets in counts.items()])
    axes[0].set(ylim=(len(figures.COLOURS) - 0.5, -0.5), xlim=(0, None),
                xlabel="nearest boundary (RMS, pixels 0 to 1)")
    axes[1].set(xlim=(0, 1.05), xlabel="top-1 purity")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


# ---- Appendix D: photographs -----------------------------------------------------------------------------
def draw_copies(examples, noises):
    """Shares of OptMargin's noisy copies that are misclassified, a dot an image; accuracies of the vote."""
    rows, copies = figures.examples(examples, "region"), unnest(noises, "counts", "own", "others")
    figure, (left, right) = plt.subplots(1, 2, figsize=(NARROW, 3), sharey=True)
    for place, kind in enumerate(("own", "others")):
        shares = (100 * copies[kind][copies.counts.astype(bool)]).tolist()
        left.bar(place, np.mean(shares), 0.6, color=display.PALETTE[4 + place])
        left.plot(place + np.linspace(-0.2, 0.2, len(shares)), sorted(shares), ".", color="black", ms=4)
        left.text(place - 0.32, np.mean(shares) + 1, f"{np.mean(shares):.0f}", ha="right")
    left.set_xticks((0, 1), ["noise that\nthe attack used", "new noise"])
    left.set(title="copies misclassified, %", xlim=(-0.6, 1.5))
    kinds = ("benign", "margin")
    truths = [figures.only(rows, "imagenet", kind).region for kind in kinds]
    bars(right, np.arange(2), [percentage(int(t.sum()), len(t)) for t in truths], width=0.6,
         published=[photographs.PRINTED[figures.KINDS[kind]] for kind in kinds],
         color=[figures.COLOURS[kind] for kind in kinds])
    right.set_xticks((0, 1), ["clean", "attacked\n(OptMargin)"])
    right.set_title("vote is right, %")
    figure.legend(*with_tick(right), loc="outside lower center")
    return figure
