"""Boundary classifiers on the pages of `he`: their errors, and thresholds on single features beside them."""
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn

from papers.he import figures
from report import display
from shared.boundary import classifier
from shared.susceptibility import percentage

ERRORS = {"flagged": "benign", "brittle": "brittle", "margin": "margin"}    # of Table 3, and on what
HEADS = {"flagged": "false positives", "brittle": "false negatives, OptBrittle",
         "margin": "false negatives, OptMargin"}
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


def draw_layers(net, distances):
    """A `BoundaryNet` as a row of boxes, each with the size of its output."""
    x, boxes = torch.zeros(1, 1, distances), [f"sorted\ndistances\n{distances:,}"]
    for layer in net.convolutions:
        x = layer(x)
        if isinstance(layer, nn.Conv1d):
            boxes.append(f"convolution\nwidth {layer.kernel_size[0]}\nstride {layer.stride[0]}\n"
                         f"{x.shape[1]} × {x.shape[2]}")
    boxes += [f"flattened,\nand three\npurities\n{x.numel() + classifier.PURITIES:,}", *(
        f"linear\n{layer.out_features}" for layer in net.linears if isinstance(layer, nn.Linear))]
    figure, ax = plt.subplots(figsize=(display.WIDEST, 1.6))
    for n, words in enumerate(boxes):
        ax.text(n, 0, words, ha="center", va="center",
                bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": display.GUIDE})
        if n:
            ax.annotate("", (n - 0.38, 0), (n - 0.62, 0),
                        arrowprops={"arrowstyle": "->", "color": display.GUIDE})
    ax.set(xlim=(-0.6, len(boxes) - 0.4), ylim=(-1, 1))
    ax.set_axis_off()
    return figure


# ---- thresholds ------------------------------------------------------------------------------------------
def features(runs):
    """A row an image that counts, of blocks with all kinds of `ERRORS`: its features, its `place` among all.

    A distance is 1, a purity 0, where no other class is found.
    """
    tables = [pd.DataFrame(columns=["network", "kind", "place", *FEATURES])]
    for net, runs_of in runs[runs.kind.isin(ERRORS.values())].groupby("network", sort=False):
        whole = runs_of[runs_of.groupby("block").kind.transform("count") == len(ERRORS)]
        firsts = whole.images * (whole.block.rank(method="dense") - 1)
        for first, run in zip(firsts, whole.itertuples()):
            steps = np.asarray(run.steps, np.float32)      # in ascending order; 255 is never
            distances = np.where(steps < 255, run.step * steps, 1)
            tables.append(pd.DataFrame({
                "network": net, "kind": run.kind, "place": first + np.flatnonzero(run.counts),
                "least": distances[:, 0], "median": distances[:, (distances.shape[1] - 1) // 2],
                "purity": np.asarray(run.purities)[:, 0]}))
    return pd.concat([rows for rows in tables if len(rows)] or tables)


def one_number(surroundings, classifiers):
    """A row for each network, attack and feature: the errors of the threshold that is best on the training
    images (there its worst-case accuracy is `known`), beside those of the classifier.
    """
    rows, table = features(surroundings), []
    for run in classifiers[classifiers.attack != "fgsm"].itertuples():
        own, train = rows[rows.network == run.network], round(run.share * run.sample)
        halves = own[own.place < train], own[(own.place >= train) & (own.place < run.sample)]
        for feature, name in FEATURES.items():
            learn, test = ({kind: torch.tensor(half[feature][half.kind == kind].to_numpy(np.float32))
                            for kind in ERRORS.values()} for half in halves)
            if len(learn["benign"]) and len(learn[run.attack]):
                rule = classifier.threshold(learn[run.attack], learn["benign"])
                errors_of = {kind: rule.rates(test[kind], test["benign"]) for kind in ("brittle", "margin")}
                table.append(in_row(run) | {
                    "number": f"{name} {'below' if rule.below else 'above'} {rule.value:.3g}",
                    "known": 100 * rule.rates(learn[run.attack], learn["benign"]).accuracy,
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
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure
