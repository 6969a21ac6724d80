"""Boundary distances of `he`, as numbers and figures: of one image, of all; classifiers of them."""
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

from papers.he import classifier, figures
from papers.he.experiments import COLUMNS
from report import display
from report.tidy import unnest
from shared.attacks.region import Region
from shared.data.archives import SPECS
from shared.susceptibility import percentage

STATISTICS = {"least": "nearest", "median": "median"}       # over the directions of an image
PIXELS = {net: 1 if net.startswith("mnist") else 255 for net in COLUMNS}     # largest value of a pixel
REGIONS = {net: Region(0.3 if net.startswith("mnist") else 0.02) for net in COLUMNS}


def examples(runs, linf=False):
    """A row an example that counts: its `STATISTICS`, pixels from 0 to 1, and its share of `never` found.

    linf   distances in the L∞ norm instead of RMS, at most 1, the range of a pixel
    """
    columns = {f"{k}_linf" if linf else k: k for k in STATISTICS}
    rows = unnest(runs, "never", *columns)[["network", "kind", "never", *columns]].rename(columns=columns)
    return rows.assign(**{k: rows[k].astype(float).clip(upper=1) for k in STATISTICS})


def distances(one, linf=False):
    """The same of each direction from the one image that is drawn."""
    return np.minimum(one["linf" if linf else "distance"], 1)


def black_line(net, linf=False):
    """Expected RMS distance of a point of region classification, or its radius; pixels from 0 to 1."""
    return REGIONS[net].radius if linf else REGIONS[net].expected_rms


# ---- numbers ---------------------------------------------------------------------------------------------
def one_data(runs, linf=False):
    """Of the image shown: median distance; the share of directions that lead to its true class ("home"), of
    those with a boundary ("neighbour"), and of all within the black line ("back").
    """
    facts = {net: {} for net in runs.network}
    for u in runs.itertuples():
        if u.one:
            home, lengths = u.one["adjacent"] == u.one["label"], distances(u.one, linf)
            line, ended = black_line(u.network, linf), (u.one["adjacent"] >= 0).sum()
            facts[u.network][u.kind] = {
                "median": np.median(lengths), "scale": PIXELS[u.network], "home": home.mean(),
                "neighbour": home.sum() / max(1, ended), "line": line,
                "back": (home & (lengths <= line)).mean(), "directions": len(home)}
    return facts


def parted(near, far):
    """The larger error rate of the threshold that best parts two kinds, and of how many images it is."""
    near, far = (torch.tensor(kind.tolist()) for kind in (near, far))
    rates = classifier.best_threshold(near, far).errors(near, far)
    return max((rates.false_negative, len(near)), (rates.false_positive, len(far)))


def all_data(runs, linf=False):
    """Of each network and kind: medians over images, counts, and the best threshold against benign."""
    rows, facts_of = examples(runs, linf), {}
    for (net, kind), of_kind in rows.groupby(["network", "kind"], sort=False):
        benign, line = figures.only(rows, net, "benign"), black_line(net, linf)
        facts_of.setdefault(net, {})[kind] = facts = {
            "images": len(of_kind), "line": line, "scale": PIXELS[net], "never": of_kind.never.mean(),
            "beyond": (of_kind["median"] == 1).sum(), "above": (of_kind["median"] > line).mean(),
            **of_kind[[*STATISTICS]].median()}
        if kind != "benign" and len(benign):
            for k in STATISTICS:
                facts[f"{k}_threshold"] = dict(zip(("error", "images"), parted(of_kind[k], benign[k])))
    return facts_of


# ---- figures ---------------------------------------------------------------------------------------------
def in_order(nets):
    """Networks in the paper's order."""
    return [net for net in COLUMNS if net in nets]


def axis(net, linf):
    """The label of an axis of distances."""
    return f"{'L∞' if linf else 'RMS'} distance (0–{PIXELS[net]})"


def curve(ax, kind, places, values, marker):
    """A curve in the style of its kind of example."""
    ax.plot(places, values, figures.STYLES[kind], color=figures.COLOURS[kind], label=figures.KINDS[kind],
            marker=marker)


def draw_directions(ax, lengths, adjacent, line, colours):
    """Directions with a boundary, sorted by distance, a dot each, and the black line.

    colours  adjacent class -> colour
    """
    order = lengths.argsort(kind="stable")
    with_boundary = (adjacent[order] >= 0).nonzero()[0]
    order = order[with_boundary]
    ax.axhline(line, color="black", linewidth=1)
    ax.scatter(with_boundary, lengths[order], c=[colours[c] for c in adjacent[order].tolist()], s=4,
               linewidths=0)
    ax.set_xlim(-0.03 * len(lengths), 1.03 * len(lengths))


def draw_sorted(ax, distances, line):
    """Distances over sorted images, `{kind: distances}`, and the black line."""
    ax.axhline(line, color="black", linewidth=1)
    for kind, values in distances.items():
        curve(ax, kind, np.linspace(0, 1, len(values)), sorted(values), "." if len(values) == 1 else None)
    ax.set(xticks=[])


def legend(figure, columns):
    """One legend for all panels."""
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=columns)


def draw_one(runs, linf=False):
    """A row a network with an example, a column a kind: directions from one image, a colour a class."""
    ones = {(u.network, u.kind): u.one for u in runs[runs.block == 0].itertuples()}
    nets = in_order({net for (net, _), one in ones.items() if one})
    if not nets:
        return None
    figure, axes = plt.subplots(len(nets), len(figures.COLOURS), figsize=(10, 2.1 * len(nets) + 0.4),
                                squeeze=False, sharey="row")
    for net, row in zip(nets, axes):
        names, classes = SPECS[net.split("-")[0]].classes, set()
        for ax, kind in zip(row, figures.COLOURS):
            ax.set(xticks=[])
            if not (one := ones.get((net, kind))):
                measured = (net, kind) in ones
                ax.set_frame_on(measured)
                ax.text(0.5, 0.5, "no example" if measured else "", transform=ax.transAxes, ha="center")
                continue
            true = one["label"]
            classes |= {*one["adjacent"][one["adjacent"] >= 0].tolist(), true}
            draw_directions(ax, PIXELS[net] * distances(one, linf), one["adjacent"],
                            PIXELS[net] * black_line(net, linf), display.PALETTE)
        row[0].set_ylabel(f"{figures.NAMED[net]}\n{axis(net, linf)}")
        row[-1].legend(handles=[plt.Line2D(
            [], [], marker="o", linestyle="", markersize=4, color=display.PALETTE[c],
            label=f"{names[c]} (true class)" if c == true else names[c]) for c in sorted(classes)],
            loc="center left", bbox_to_anchor=(1.02, 0.5), labelspacing=0.2)
    for ax, kind in zip(axes[0], figures.COLOURS):
        ax.set_title(figures.KINDS[kind])
    figure.supxlabel("directions, sorted")
    return figure


def draw_all(runs, linf=False):
    """A row a network, a column a statistic: one curve a kind over sorted images; None where none counts."""
    rows = examples(runs, linf)
    if not len(rows):
        return None
    nets = in_order(set(rows.network))
    figure, axes = plt.subplots(len(nets), 2, figsize=(9, 2.3 * len(nets) + 0.6), squeeze=False)
    for net, line in zip(nets, axes):
        for ax, (statistic, name) in zip(line, STATISTICS.items()):
            draw_sorted(ax, {kind: PIXELS[net] * figures.only(rows, net, kind)[statistic]
                             for kind in figures.COLOURS}, PIXELS[net] * black_line(net, linf))
            ax.set(title=f"{figures.NAMED[net]}: {name}", ylabel=axis(net, linf),
                   xlabel="images, sorted" if net == nets[-1] else "")
    legend(figure, len(figures.COLOURS))
    return figure


def purities(runs):
    """`{network: {kind: mean purities of the top k}}` of those that have any."""
    curves = {}
    for (net, kind), images in unnest(runs, "purity").groupby(["network", "kind"], sort=False):
        if values := figures.mean_purity(images):
            curves.setdefault(net, {})[kind] = values
    return curves


def purity_data(runs):
    """Mean purity of the top class, of each network and kind."""
    return {net: {kind: values[0] for kind, values in kinds.items()} for net, kinds in purities(runs).items()}


def draw_purity(runs):
    """A panel a network: mean purity of the top k classes, a curve a kind; None where no image counts."""
    curves = purities(runs)
    if not curves:
        return None
    nets = in_order(curves)
    figure, axes = plt.subplots(1, len(nets), figsize=(10, 3.4), squeeze=False, sharey=True)
    for net, ax in zip(nets, axes[0]):
        for kind in figures.COLOURS:
            values = curves[net].get(kind, [])
            curve(ax, kind, range(1, len(values) + 1), values, ".")
        ax.set(title=figures.NAMED[net], xlabel="k", xticks=range(1, 10, 2))
    axes[0][0].set_ylabel("purity of the top k")
    legend(figure, len(figures.COLOURS))
    return figure


# ---- classifiers -----------------------------------------------------------------------------------------
ERRORS = {"flagged": "benign", "brittle": "brittle", "margin": "margin"}    # of Table 3, and on what
FEATURES = {"least": "nearest boundary", "median": "median distance", "purity": "purity of the top 1"}


def by_name(classifiers):
    """`{(network, training attack): run}`."""
    return {(run.network, run.attack): run for run in classifiers.itertuples()}


def errors(run):
    """`{kind: a classifier's errors in percent, of how many, 95% interval}`: benign images, examples.

    Of None, where there is no classifier, no kind.
    """
    return {} if run is None else {"benign": percentage(run.flagged, run.benign)} | {
        kind: percentage(run.missed[kind], of) for kind, of in run.adversarial.items()}


def worst(run):
    """Worst-case accuracy of a classifier in percent, 100 minus the largest of `ERRORS`, with interval."""
    rates = [errors(run).get(kind, {"of": 0}) for kind in ERRORS.values()]
    if not all(rate["of"] for rate in rates):
        return dict.fromkeys(("percent", "low", "high"))
    most = max(rates, key=lambda rate: rate["percent"])
    return {"percent": 100 - most["percent"], "low": 100 - most["high"], "high": 100 - most["low"]}


def in_row(run):
    """Network, training attack and `ERRORS` of a classifier, in percent with two decimals, for a table."""
    percents = {name: errors(run).get(kind, {"percent": None})["percent"] for name, kind in ERRORS.items()}
    return {"network": figures.NAMED[run.network], "attack": figures.KINDS[run.attack],
            **{name: value if value is None else round(value, 2) for name, value in percents.items()}}


# ---- thresholds ------------------------------------------------------------------------------------------
def features(runs):
    """A row an image that counts, of blocks with all kinds of `ERRORS`: its features, its `place` among all.

    A distance is 1, a purity 0, where no other class is found.
    """
    tables = [pd.DataFrame(columns=["network", "kind", "place", *FEATURES])]
    rows = runs[runs.kind.isin(ERRORS.values())]
    whole = rows[rows.groupby(["network", "block"]).kind.transform("count") == len(ERRORS)]
    firsts = whole.images * (whole.groupby("network").block.rank(method="dense") - 1)
    for first, run in zip(firsts, whole.itertuples()):
        steps = np.asarray(run.steps, np.float32)      # in ascending order; 255 is never
        distances = np.where(steps < 255, run.step * steps, 1)
        tables.append(pd.DataFrame({
            "network": run.network, "kind": run.kind, "place": first + np.flatnonzero(run.counts),
            "least": distances[:, 0], "median": distances[:, (distances.shape[1] - 1) // 2],
            "purity": np.asarray(run.purities)[:, 0]}))
    return pd.concat([rows for rows in tables if len(rows)] or tables)


def halves(rows, run, feature):
    """One of `FEATURES` by kind of image: of those that a classifier (a run) learned from, of its test."""
    own, train = rows[rows.network == run.network], round(run.share * run.sample)
    return [{kind: torch.tensor(half[feature][half.kind == kind].to_numpy(np.float32))
             for kind in ERRORS.values()}
            for half in (own[own.place < train], own[(own.place >= train) & (own.place < run.sample)])]


def one_number(surroundings, classifiers):
    """A row for each network, attack and feature: the errors of the threshold that is best on the training
    images (there its worst-case accuracy is `known`), beside those of the classifier.
    """
    rows, table = features(surroundings), []
    for run in classifiers[classifiers.attack != "fgsm"].itertuples():
        for feature, name in FEATURES.items():
            learn, test = halves(rows, run, feature)
            if len(learn["benign"]) and len(learn[run.attack]):
                rule = classifier.best_threshold(learn[run.attack], learn["benign"])
                errors_of = {kind: rule.errors(test[kind], test["benign"]) for kind in ("brittle", "margin")}
                table.append(in_row(run) | {
                    "number": f"{name} {'below' if rule.below else 'above'} {rule.value:.3g}",
                    "known": 100 * rule.errors(learn[run.attack], learn["benign"]).accuracy,
                    "flagged": 100 * errors_of[run.attack].false_positive,
                    **{kind: 100 * rates.false_negative for kind, rates in errors_of.items()}})
        table.append(in_row(run) | {"number": "the classifier"})
    return table


def draw_features(runs):
    """A row of panels a network: how many images of each kind lie at or below a number; None without any."""
    rows = features(runs)
    if not len(rows):
        return None
    nets = rows.network.unique()
    figure, axes = plt.subplots(len(nets), len(FEATURES), squeeze=False, sharey=True,
                                figsize=(display.WIDEST, 2.3 * len(nets) + 0.5))
    for (row, net), kind in product(zip(axes, nets), ("benign", "margin", "brittle")):
        values = rows[(rows.network == net) & (rows.kind == kind)]
        for ax, (feature, name) in zip(row, FEATURES.items()):
            if len(values):
                ax.ecdf(values[feature].astype(float), color=figures.COLOURS[kind],
                        linestyle=figures.STYLES[kind], label=figures.KINDS[kind])
            ax.set(xlabel=name)
        row[0].set_ylabel(f"{figures.NAMED[net]}\nshare of images")
    legend(figure, 3)
    return figure
