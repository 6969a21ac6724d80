"""Networks of other sizes (Section IV.E): rows of the tables, facts, pictures."""
import math

import matplotlib.pyplot as plt
import pandas as pd
from torch import nn

from papers.chen import experiments, figures, models, ranking
from report import display, prose, registry

SIDES = {"neurons": figures.WIDER, "layers": figures.DEEPER}
AXES = {"neurons": ("neurons in each of two layers", range(0, 4001, 1000)),
        "layers": ("layers of 4,000 neurons", range(2, 6))}
LINES = {"asr_text": "the paper's attack", "asr_third": "a third of its strength", "roby_2": "ROBY, L2"}
KINDS = {"conv": nn.Conv2d, "pool": nn.MaxPool2d, "dropout": nn.Dropout, "fc": nn.Linear}


# ---- rows ------------------------------------------------------------------------------------------------
def printed_names(runs):
    """The networks with attack success and ROBY named as printed."""
    return figures.networks(runs).rename(columns={"asr_text": "asr", "roby_2": "roby"})


def table_rows(runs):
    """Rows of Tables VI, VII and IX."""
    return figures.as_cells(printed_names(runs), ("asr", "roby"))


def table_8():
    """A row a CNN: which kinds of layers it has."""
    built = {name: list(registry.build("chen-cnn", channels=1, size=28, **options).modules())
             for name, options in models.CNNS.items()}
    return [{"model": name, **{kind: any(isinstance(m, of) for m in modules) for kind, of in KINDS.items()}}
            for name, modules in built.items()]


def by_size(runs):
    """`{side: its networks by size, with their number of neurons or layers}`."""
    rows, panels = figures.networks(runs), {}
    for side, asked in SIDES.items():
        nets = rows[rows.model.isin(asked)]
        panels[side] = nets.assign(size=[models.FCNS[m][side] for m in nets.model]).sort_values("size")
    return panels


def figure_10(runs):
    """Networks in each panel, and rank correlations of the size with attack success and ROBY."""
    return {side: {"networks": len(nets), "status": figures.shortest(nets.status)} | {
        name: ranking.agreement(nets["size"], nets[name]) if len(nets) == len(SIDES[side]) else None
        for name in ("asr_text", "asr_third", "roby_2", "overlap_2", "near_random")}
        for side, nets in by_size(runs).items()}


def figure_11(runs):
    """Panels, networks, and Pearson's correlation of attack success and ROBY in each data set."""
    rows = printed_names(runs)
    return {"panels": rows.dataset.nunique(), "networks": len(rows),
            "pearson": {data: {key: value for key, value in numbers.items() if key in ("status", "pearson")}
                        for data, numbers in ranking.of_cnns(rows).items()}}


def compared(runs):
    """The runs whose networks were trained to the published accuracy, or for as long as any."""
    return runs[[not pd.isna(u.get("asked")) for u in runs.to_dict("records")]]


# ---- sentences -------------------------------------------------------------------------------------------
def lengths(runs):
    """For sentences: how many dense networks there are, how long they were trained, what attacks flip.

    `unreached` stay below their published accuracy; `short`, of all `runs`, are not `compared`.
    """
    short = [experiments.SPELT[name] for name in runs.model if name not in {*compared(runs).model}]
    runs = compared(runs)
    if not len(runs):
        return {}
    nets = figures.networks(runs)
    weaker = nets.set_index("model").asr_third.sort_values()
    parts = [f"{figures.between(some.epochs, unit='')} epochs on {images:,} images"
             for images, some in runs.groupby("images_train", sort=False)]
    return {"networks": len(runs), "all": len(models.FCNS), "lengths": ", ".join(parts),
            "accuracy": figures.between(100 * runs.test_accuracy),
            "longest": runs.longest.max(), "short": ", ".join(short) or None,
            "unreached": ", ".join(nets.model[~nets.matched.astype(bool)]) or "none",
            "text": figures.between(100 * figures.success(u, "text") for u in runs.to_dict("records")),
            "third": figures.between(100 * weaker), "most": weaker.index[-1], "fewest": weaker.index[0]}


def ends(runs):
    """For sentences: narrowest and widest network, rank correlations over all `compared`; {} without a width.

    `steps` counts from one width to the next, `fewer` those at which the attack flips fewer labels, `falls`
    those at which ROBY is smaller; `follows`: whether the interval of the rank correlation with attack
    success lies above 0.
    """
    runs = compared(runs)
    nets, widths = figures.networks(runs), by_size(runs)["neurons"]
    if len(widths) < len(figures.WIDER):
        return {}
    ranks = {name: ranking.ranked(nets[name], nets.asr_third) for name in ("roby_2", "overlap_2")}
    return {"n": len(nets), "steps": len(widths) - 1, "fewer": int((widths.asr_third.diff() < 0).sum()),
            "falls": int((widths.roby_2.diff() < 0).sum()),
            "first": dict(widths.iloc[0]), "last": dict(widths.iloc[-1]),
            "follows": {name: (rank["low"] or 0) > 0 for name, rank in ranks.items()}} | {
        name: rank["spearman"] for name, rank in ranks.items()}


def lessons(runs):
    """Three things to remember, as a list; the second one by the rank correlations over all sizes."""
    facts = ends(runs)
    verbs = {name: "follows" if does else "does not reliably follow"
             for name, does in facts.get("follows", {}).items()}
    second = prose.fill(
        f"On {{n}} fully connected networks the unscaled overlap of classes {verbs['overlap_2']} the attack "
        f"(rank correlation {{overlap_2:.2f}}); ROBY {verbs['roby_2']} it ({{roby_2:.2f}}). "
        "Four CNNs a data set are too few to judge either.", facts) if verbs else (
        "A width that is missing leaves open what ROBY follows.")
    return ("1. A trend over sizes needs several trainings of each size, trained to the same point.\n"
            f"2. {second}\n3. An attack that flips all, or hardly any, cannot order networks.")


def retrained(runs, again):
    """Facts of `ranking.spread` over sizes and over trainings of one, and in words how the two compare."""
    facts = ranking.spread(compared(runs), again)
    if not facts:
        return facts
    seeds, sizes = facts["seeds"], facts["all"]
    return facts | {"compared": (
        "The intervals do not overlap: ROBY varies more over sizes" if sizes["low"] > seeds["high"] else
        "The intervals do not overlap: ROBY varies less over sizes" if sizes["high"] < seeds["low"] else
        "The intervals overlap: that ROBY varies more over sizes than over trainings is not shown")}


def of_four(runs):
    """Facts: rank correlations of ROBY and of the overlap with attack success over the CNNs, by data set."""
    whole, n = figures.complete(figures.networks(runs), len(figures.CNNS)), len(figures.CNNS)
    ranks = {name: {data: ranking.agreement(nets.asr_third, nets[name]) for data, nets in whole.items()}
             for name in ("roby_2", "overlap_2")}
    return whole and {"n": n, "chance": 2 / math.factorial(n)} | {name: ", ".join(
        f"{'none' if rank is None else format(rank, '.2f')} on {data}" for data, rank in of.items())
        for name, of in ranks.items()}


def on_colour(runs, printed):
    """Facts: attack success on the CNNs of CIFAR-10 by attack, published and ours, in words."""
    rows, colour = figures.networks(runs), experiments.DATASETS["cifar10"]
    nets = rows[rows.dataset == colour]
    return {} if not len(nets) else {
        name: figures.between(100 * nets[f"asr_{name}"]) for name in ("text", "code", "wide")} | {
        "paper": figures.between(100 * row["asr"] for row in printed if row["dataset"] == colour)}


def box_facts(runs, again, published):
    """For the box on width: `ends`, ROBY over trainings of the narrowest network, and published.

    `resists` says whether the weaker attack flips the fewest labels of the widest network, `apart` from how
    many of the others its 95% interval over images is apart, `unclear` that some are not; `text` is the
    success of the paper's attack, `printed` what the paper prints of it.
    """
    facts = ends(runs) if len(runs) else {}
    _, seeds = ranking.trainings(runs, again, ranking.MNIST) if facts else ((), ())
    if len(seeds) < 2:
        return {}
    widths, printed = by_size(runs)["neurons"], [published[model] for model in figures.WIDER]
    ends_of = {experiments.SPELT[run["model"]]: figures.percent(run, "third")[1:]
               for run in runs.to_dict("records")}
    *others, last = (ends_of[model] for model in figures.WIDER)
    apart = sum(low > last[1] or high < last[0] for low, high in others)
    resists = widths.asr_third.iloc[-1] == widths.asr_third.min()
    return facts | {"apart": apart, "resists": resists, "unclear": resists and apart < len(others),
                    "seeds": len(seeds),
                    "flipped": {end: 100 * facts[end]["asr_third"] for end in ("first", "last")},
                    "falling": f"falls in {facts['falls']} of {facts['steps']} steps of width",
                    "text": figures.between(100 * widths.asr_text),
                    "printed": figures.between(100 * row["asr"] for row in printed),
                    "seeds_low": seeds.roby_2.min(), "seeds_high": seeds.roby_2.max(),
                    "paper": {"first": printed[0], "last": printed[-1]}}


# ---- pictures --------------------------------------------------------------------------------------------
def draw_sizes(runs, again, published):
    """ROBY of each network `compared`, published values as crosses, trainings of one as small dots."""
    nets, seeds = ranking.trainings(compared(runs), again, ranking.MNIST)
    figure, ax = plt.subplots(figsize=(4.8, 3.4))
    place = {model: n for n, model in enumerate(published)}
    ax.plot(nets.model.map(place), nets.roby_2, "o", ms=7, color=display.PALETTE[0], label="ours")
    ax.plot(seeds.model.map(place), seeds.roby_2, "o", ms=4, color=display.PALETTE[1],
            label=f"{len(seeds)} trainings of {seeds.model.iloc[0]}")
    ax.plot(place.values(), [row["roby"] for row in published.values()], "x", color="k", label="paper")
    ax.set_xticks(list(place.values()), place, rotation=25, ha="right")
    ax.set(ylabel="ROBY")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_scores(runs):
    """Attack success at a third of the strength over ROBY and over the unscaled overlap, a dot a network."""
    nets = figures.networks(compared(runs))
    if len(nets) < 2:
        return None
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3), sharey=True)
    for n, (ax, key, words) in enumerate(zip(axes, ("roby_2", "overlap_2"), ("ROBY", "unscaled overlap"))):
        ax.plot(nets[key], 100 * nets.asr_third, "o", color=display.PALETTE[n])
        for x, y, model in zip(nets[key], 100 * nets.asr_third, nets.model):
            ax.annotate(model.rpartition("-")[2], (x, y), xytext=(4, 3), textcoords="offset points")
        ax.set(xlabel=words)
        ax.locator_params(axis="x", nbins=4)
    axes[0].set_ylabel("label flipped, %, by the attack\nat a third of its strength")
    return figure


def draw_cnns(runs, printed):
    """Attack success and ROBY of the four CNNs on each data set beside the published values."""
    nets = figures.networks(runs)
    names = nets.model + ", " + nets.dataset
    paper = {f"{row['model']}, {row['dataset']}": row for row in printed}
    paper = {name: row for name, row in paper.items() if name in {*names}}
    flipped = dict(zip(names, (figures.percent(u, "text") for u in runs.to_dict("records"))))
    scores = dict(zip(names, nets[["roby_2", "roby_low", "roby_high"]].to_numpy(float)))
    return display.dots({
        "label flipped, %": {"series": {"ours": flipped}, "limits": (0, 101),
                             "published": {name: 100 * row["asr"] for name, row in paper.items()}},
        "ROBY": {"series": {"ours": scores}, "published": {
            name: row["roby"] for name, row in paper.items()}}}, [*paper])


def draw_sides(runs):
    """Attack success and ROBY over the number of neurons and of layers."""
    figure, axes = plt.subplots(1, 2, figsize=(display.WIDEST, 3.2), sharey=True)
    for ax, (side, nets) in zip(axes, by_size(runs).items()):
        for n, (name, words) in enumerate(LINES.items()):
            ax.plot(nets["size"], nets[name], display.LINES[n], marker=display.MARKERS[n], label=words,
                    color=display.PALETTE[n])
            short = nets[nets.status.fillna("").str.startswith(figures.SHORT)]
            ax.plot(short["size"], short[name], display.MARKERS[n], color=display.PALETTE[n], mfc="white",
                    label="hollow: trained for less" if len(short) and not n else None)
        ax.set(xlabel=AXES[side][0], ylim=(-0.03, 1.05), xticks=AXES[side][1])
    axes[0].set_ylabel("rate or ROBY")
    legend = {words: line for ax in axes for line, words in zip(*ax.get_legend_handles_labels())}
    figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=2)
    return figure
