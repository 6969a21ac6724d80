"""Section 5 of `he`: the boundary classifier as drawn, its tables, its costs, and a threshold beside it."""
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from papers.he import boundary, classifier, figures, summaries
from report import display
from report.cell import Cell
from shared.susceptibility import percentage

PRINTED = figures.PAPER["table-3"]
PAIRS = PRINTED.raw["settings"]["train_examples"]["MNIST"]
SLOWEST = "not measured: seconds an image, in the paper for a CIFAR-10 network (w32-10) on a GeForce GTX 1080"


# ---- the classifier: its layers, tables and costs ---------------------------------------------------------
DISTANCES = 1568    # of an MNIST image: along 784 directions and their opposites


def draw_layers():
    """The classifier as a row of boxes, each with the size of its output."""
    net, x = classifier.BoundaryNet(DISTANCES), torch.zeros(1, 1, DISTANCES)
    boxes = [f"sorted\ndistances\n{DISTANCES:,}"]
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


def cells(net, trained, columns):
    """Cells of the row of a classifier, or of none, in Table 3 or 4: `columns` {name: whose errors}."""
    errors = {name: boundary.errors(trained).get(kind, {}) for name, kind in columns.items()}
    return {name: Cell(error.get("percent"), of=error.get("of"),
                       status=figures.status(net, error.get("percent"))) for name, error in errors.items()}


def table_3(classifiers, surroundings):
    """False positives and negatives of each classifier, and its worst-case accuracy."""
    trained_nets, rows = boundary.by_name(classifiers), []
    for (net, (data, training)), attack in product(figures.NETWORKS.items(), ("brittle", "margin")):
        trained = trained_nets.get((net, attack))
        rows.append({"dataset": data, "model_training": training, "training_attack": figures.KINDS[attack],
                     **cells(net, trained, {"false_pos_benign_pct": "benign", "false_neg_optbrittle_pct":
                                         "brittle", "false_neg_optmargin_pct": "margin"}),
                     "worst_case_pct": boundary.worst(trained)["percent"]})
    return rows


def published(net, attack):
    """The row of Table 3 of a network and an attack of the training."""
    data, training = figures.NETWORKS[net]
    return PRINTED.row(dataset=data, model_training=training, training_attack=figures.KINDS[attack])


def missed(classifiers):
    """Facts: OptMargin's examples on the normal MNIST network that the classifier of OptBrittle's misses.

    `known` are the errors of the classifier of OptMargin's.
    """
    trained = boundary.by_name(classifiers).get((summaries.NET, "brittle"))
    return boundary.errors(trained).get("margin", {}) | {
        "paper": published(summaries.NET, "brittle")["false_neg_optmargin_pct"],
        "known": boundary.errors(boundary.by_name(classifiers).get((summaries.NET, "margin"))) or None}


def on_fgsm(classifiers):
    """Facts: errors of the classifier of the normal MNIST network that learned from FGSM; {} of none."""
    errors = boundary.errors(boundary.by_name(classifiers).get((summaries.NET, "fgsm")))
    printed = figures.PAPER["table-4"].row(dataset="MNIST")
    return errors and {"missed": errors["fgsm"], "flagged": errors["benign"], "paper": {
        "missed": printed["false_neg_pct"], "flagged": printed["false_pos_pct"]}}


def table_4(classifiers):
    """Errors of the classifier trained and tested on FGSM, normal networks."""
    by_name, columns = boundary.by_name(classifiers), {"false_pos_pct": "benign", "false_neg_pct": "fgsm"}
    return [{"dataset": data, **cells(net, by_name.get((net, "fgsm")), columns)}
            for net, (data, training) in figures.NETWORKS.items() if training == "normal"]


def cost(runs):
    """Mean forward passes of the line searches around an image; what the paper prints and is not run."""
    sums = runs.assign(n=runs.counts.map(sum)).groupby(["network", "kind"])[["evaluations", "n"]].sum()
    printed = ("seconds_per_image_slowest", "classifier_training_minutes")
    return dict.fromkeys(printed, Cell(status=SLOWEST)) | {
        "looks": {f"{net}_{kind}".replace("-", "_"): total.evaluations / total.n
                  for (net, kind), total in sums[sums.n > 0].iterrows()}}


def arithmetic(runs):
    """How often 16-bit numbers were not enough, in percent, and what an audit found."""
    audited = runs[runs.audited > 0]
    again = (audited.again.astype(float) * audited.evaluations).sum() / audited.evaluations.sum()
    return {"again": 100 * again, **audited[["audited", "otherwise"]].sum()} if len(audited) else {}


# ---- beside a threshold ----------------------------------------------------------------------------------
def compared(classifiers, surroundings):
    """The classifier of the normal MNIST network trained on OptMargin, and the best threshold on the nearest
    distance: errors, and what sentences name. {} where either is missing.
    """
    run = boundary.by_name(classifiers).get((summaries.NET, "margin")) if len(classifiers) else None
    worst = boundary.worst(run) if run else {"percent": None}
    if worst["percent"] is None or not len(surroundings):
        return {}
    halves = boundary.halves(boundary.features(surroundings), run, "least")
    (benign, attacked), (others, hidden) = ((half["benign"], half["margin"]) for half in halves)
    if not all(map(len, (benign, others, attacked, hidden))):
        return {}
    rule, errors = classifier.best_threshold(attacked, benign), boundary.errors(run)
    other = rule.errors(hidden, others)
    known, alone = 100 * rule.errors(attacked, benign).accuracy, 100 * other.accuracy
    threshold = [percentage(other.flagged, len(others)), percentage(other.missed, len(hidden))]
    worse, row = max(threshold, key=lambda share: share["percent"]), published(summaries.NET, "margin")
    return {"worst": worst, "n": run.benign, "of": worse["of"], "known": known, "alone": alone,
            "limit": 100 - alone, "learned": run.trained_on, "printed": PAIRS,
            "better": worst["low"] > max(known, alone),
            "errors": {kind: errors[kind]["percent"] for kind in ("benign", "margin")},
            "print": {"benign": row["false_pos_benign_pct"], "margin": row["false_neg_optmargin_pct"]},
            "missed": missed(classifiers).get("percent"),
            "printed_missed": published(summaries.NET, "brittle")["false_neg_optmargin_pct"],
            "paper": PRINTED.raw["spanning_cells"][0]["accuracy_ours_pct"],
            "value": rule.value, "distances": {"benign": others, "margin": hidden},
            "step": float(surroundings.step[surroundings.network == summaries.NET].max()),
            "classifier": [errors["benign"], errors["margin"]],
            "threshold": threshold, "span": {"low": 100 - worse["high"], "high": 100 - worse["low"]}}


def thresholds(surroundings, classifiers):
    """For sentences on the normal MNIST network: accuracies on the worse kind of thresholds for OptMargin,
    where they were set (`known`) and on other images (`alone`); {} where either is missing.

    `unknown` is the share of OptMargin's examples that the nearest distance misses if set on OptBrittle.
    """
    rows = {(row["attack"], row["number"].split()[0]): row
            for row in boundary.one_number(surroundings, classifiers)
            if row["network"] == figures.NAMED[summaries.NET]}
    unknown, median, purity = (rows.get(key) for key in (
        ("OptBrittle", "nearest"), ("OptMargin", "median"), ("OptMargin", "purity")))
    if None in (unknown, median, purity):
        return {}
    both = {"median": median, "purity": purity}
    return {"unknown": unknown["margin"], "known": {name: row["known"] for name, row in both.items()},
            "alone": {name: 100 - max(row["flagged"], row["margin"]) for name, row in both.items()}}


def draw_compared(facts):
    """Nearest distances of clean and of OptMargin digits with the threshold; errors of both rules."""
    step, lengths = facts["step"], facts["distances"]
    none = max(float(some[some < 1].max()) for some in lengths.values()) + 2 * step
    figure, (left, right) = plt.subplots(2, figsize=(summaries.NARROW, 4.6))
    for kind, some in lengths.items():
        left.hist(some.where(some < 1, none), np.arange(0.5 * step, none + step, step), alpha=0.6,
                  label=summaries.NAMES[kind], color=figures.COLOURS[kind])
    between = facts["value"] - step / 2     # the threshold is a value of the grid
    left.axvline(between, color="black", linestyle="--", linewidth=1)
    left.text(between, left.get_ylim()[1], " threshold", va="top")
    left.set(xlabel="nearest boundary (root mean square, pixels 0 to 1)", ylabel="digits")
    summaries.none_at(left, none)
    left.legend()
    places = np.arange(2)
    other = {"classifier": [*facts["print"].values()]}
    for n, who in enumerate(("classifier", "threshold")):
        summaries.bars(right, places + 0.4 * n - 0.2, facts[who], color=display.PALETTE[4 + n], label=who,
             published=other.get(who))
    right.set_xticks(places, ["clean, called attacked", "attacked, called clean"])
    ends = [share["high"] for who in ("classifier", "threshold") for share in facts[who]]
    right.set(ylabel="errors, %", ylim=(0, 1.6 * max(ends)), yticks=range(0, int(1.6 * max(ends)), 10))
    right.legend(*summaries.with_tick(right), ncols=3, loc="upper center")
    return figure


def draw_errors(classifiers):
    """Errors of Table 3 on MNIST with intervals and published ticks; a panel a network, a row an error."""
    by_name = boundary.by_name(classifiers)
    columns = {"benign": "false_pos_benign_pct", "brittle": "false_neg_optbrittle_pct",
               "margin": "false_neg_optmargin_pct"}
    nets = [net for net in boundary.in_order({net for net, _ in by_name}) if net.startswith("mnist")]
    if not nets:
        return None
    figure, axes = plt.subplots(1, len(nets), figsize=(display.WIDEST, 3), sharey=True, squeeze=False)
    for net, ax in zip(nets, axes[0]):
        for n, attack in enumerate(("brittle", "margin")):
            errors = boundary.errors(by_name.get((net, attack)))
            for place, (kind, column) in enumerate(columns.items()):
                if errors.get(kind, {}).get("percent") is not None:
                    at, share = place + 0.3 * n - 0.15, errors[kind]
                    ax.hlines(at, share["low"], share["high"], color=display.PALETTE[n])
                    ax.plot(share["percent"], at, display.MARKERS[n], color=display.PALETTE[n])
                    ax.plot(published(net, attack)[column], at, "|", color=display.PRINTED, ms=14,
                            mew=2.5)
        ax.set(title=figures.NAMED[net], xlabel="errors, %", xlim=(-3, 103), ylim=(2.5, -0.5))
    axes[0, 0].set_yticks(range(3), ["clean digits", "OptBrittle", "OptMargin"])
    marks = [*((f"trained on {figures.KINDS[attack]}", {"marker": marker, "color": colour})
               for attack, marker, colour in zip(("brittle", "margin"), display.MARKERS, display.PALETTE)),
             ("published", {"marker": "|", "color": display.PRINTED, "ms": 14, "mew": 2.5})]
    figure.legend(handles=[plt.Line2D([], [], linestyle="", label=words, **look) for words, look in marks],
                  loc="outside lower center", ncols=3)
    return figure
