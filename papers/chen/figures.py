"""What the pages of `chen` share: which networks, rows a network, maps, figures."""
import contextlib
import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from scipy.spatial.distance import cdist

from papers.chen.experiments import DATASETS, PAPER, PRINTED, SPELT
from report import display
from report.cell import Cell
from report.comparison import over_alike, wider
from shared import roby
from shared.runtime import UserError
from shared.statistics import share_interval

TEN = len({row["model"] for row in PAPER["table-1"].rows})
WIDER, DEEPER = ([row["model"] for row in PAPER[item].rows] for item in ("table-6", "table-7"))
CNNS = sorted({row["model"] for row in PAPER["table-9"].rows})
METRICS = {"fsa": "FSA", "fsd": "FSD", "roby": "ROBY"}
NORMS = {"inf": "L∞", "2": "L2"}
ATTACKS = {"text": "PGD as in the text", "signed": "half of its ε (pixels in [−1, 1])",
           "third": "a third of its ε, half of its steps",
           "code": "10 L∞ steps of length 2 (the authors' later code)", "ball": "L2 ball of the same ε",
           "steps": "short L2 steps in the L∞ ball", "code_steps": "10 L2 steps of length 2 in the L∞ ball",
           "wide": "L2 ball of 2"}
L2_READINGS = "2", "steps", "code_steps", "wide"    # of the L2 attack, whose size is not printed
LIMITS = {"near_random": 0.5, "near_gradient": 10.0}    # where the searches of the experiment end


# ---- which networks --------------------------------------------------------------------------------------
def printed(run):
    """Whether the network of a run, given by its arguments and labels, stands in the paper's tables."""
    return SPELT[run["model"]] in PRINTED


def those(results, models):
    """Of some `Results` the recorded runs of these networks, by their printed names.

    The page's own small ones stay: it may have none of them, and then shows others or that none is measured.
    """
    chosen = results.only(lambda run: SPELT[run["model"]] in models)
    small = {name: run for name, run in results.own.items() if run is not results.recorded.get(name)}
    return dataclasses.replace(chosen, own=chosen.own | small)


def resampled(run, images="test"):
    """ROBY (L2) of a run over resamples of its images: "test", or "text" for those of the text's PGD."""
    columns = ("fsa", "fsd", "roby", "width", "overlap")
    return np.asarray(run[f"resampled_{images}"]["2"])[:, columns.index("roby")]


# ---- other lengths of training ---------------------------------------------------------------------------
LENGTHS = {"half": "half", "double": "twice"}      # of the cheapest networks' epochs, in words


def with_lengths(rows):
    """`rows` (runs -> rows or data) that also gives what the cheapest networks' other lengths give.

    Rows have it under "half" and "double", data (a dict) under "other_lengths": see `at_lengths`.
    """
    def at_all(*frames):
        matched = rows(*frames)
        others = {length: rows(*(_at(runs, length) for runs in frames)) for length in LENGTHS
                  if any(length in runs and runs[length].notna().any() for runs in frames)}
        if isinstance(matched, dict):
            return matched | ({"other_lengths": others} if others else {})
        columns = {length: pd.DataFrame(other).to_dict("records") for length, other in others.items()}
        return [row | {length: column[n] for length, column in columns.items()}
                for n, row in enumerate(pd.DataFrame(matched).to_dict("records"))]
    return at_all


def _at(runs, length):
    """Runs with the states of another length in place of the matched one, where a network has it."""
    return pd.DataFrame([u | u[length] if isinstance(u.get(length), dict) else u
                         for u in runs.to_dict("records")])


def at_lengths(rows):
    """`(rows or data of the matched length, {length: the same at that length})` of `with_lengths`."""
    if isinstance(rows, dict):
        matched = dict(rows)
        return matched, matched.pop("other_lengths", {})
    there = [length for length in LENGTHS if length in rows]
    others = {length: pd.DataFrame(list(rows[length])) for length in there
              if rows[length].map(lambda row: isinstance(row, dict)).all()}     # none in published rows
    return rows.drop(columns=there), others


# ---- rows a network --------------------------------------------------------------------------------------
def metrics(classes, features="logits", by="true"):
    """`{"fsa_2": ..., "roby_inf": ...}` of classes as a run has them; None where they give no number.

    The overlap is not scaled inside the network.
    """
    values = {}
    for norm in NORMS:
        layout, result = classes[features][by][norm], {}
        if layout is not None:
            with contextlib.suppress(UserError):    # a network that tells no classes apart
                result = vars(roby.roby(roby.Layout(p=float(norm), **{
                    k: torch.as_tensor(v).double() for k, v in layout.items()})))
        values |= {f"{name}_{norm}": result.get(name) for name in (*METRICS, "overlap")}
    return values


def success(run, attack):
    """Of the correctly classified images of a run, the share that an attack flips; nan of none tried."""
    correct = np.asarray(run["correct"], bool)
    if attack not in run["attacks"] or not correct.any():
        return np.nan
    wrong = np.asarray(run["attacks"][attack]["predicted"]) != np.asarray(run["labels"])
    return float(wrong[correct].mean())


def percent(run, attack):
    """`(percent, low, high)`: the share of a run's correct images that an attack flips, its 95% interval."""
    count, share = int(np.sum(run["correct"])), success(run, attack)
    if np.isnan(share):
        return np.full(3, np.nan)
    return 100 * np.array([share, *share_interval(round(share * count), count)])


SHORT = "proxy: trained for"     # how the status of a network begins that was not trained to an accuracy


def below(run):
    """Why a network is a proxy for the published one: its training, or its accuracy; None of the others."""
    if pd.isna(run.get("asked")):
        return f"{SHORT} {run['epochs']} epochs on {run['images_train']:,} images, whatever its accuracy"
    return None if run["reached"] else (
        f"proxy: even after {run['epochs']} epochs the network is below the published accuracy on images "
        "held out of training")


def shortest(statuses):
    """Why a coefficient or a series over networks is a proxy: the status of one not trained to an accuracy.

    One that the rule leaves below its published accuracy counts among the others.
    """
    return next((why for why in statuses if str(why).startswith(SHORT)), None)


def networks(runs):
    """A row a network of the runs: its printed names, accuracy, success of each attack, metrics, distances.

    asr_<attack> counts correctly classified images. Where no boundary is found around an image, its distance
    is that at which the search ended. Length of training may be `matched` on accuracy; a network that was not
    trained to its published accuracy has a `status`.
    """
    return pd.DataFrame([{
        "dataset": DATASETS[u["dataset"]], "model": SPELT[u["model"]], "acc": u["test_accuracy"],
        "epochs": u["epochs"], "matched": not pd.isna(u.get("asked")) and u["reached"],
        "status": below(u),
        "n": int(np.sum(u["correct"])), "margin": float(np.mean(u["margins"])),
        **{name: float(np.median(np.where(np.isnan(u[name]), end, u[name]))) for name, end in LIMITS.items()},
        **{f"asr_{name}": success(u, name) for name in ATTACKS},
        **dict(zip(("roby_low", "roby_high"), map(float, np.quantile(resampled(u), (0.025, 0.975))))),
        **metrics(u["classes_test"])} for u in runs.to_dict("records")])


# Of Tables I to III: a metric's column, with the column of the attack in the same norm.
PAIRS = {f"{metric}_{norm}": (f"asr_{norm}", f"{metric}_{norm}") for norm in NORMS for metric in METRICS}
SERIES = {norm: {f"asr_{norm}": f"ASR, {words}"} | {f"{name}_{norm}": f"{metric}, {words}"
                                                  for name, metric in METRICS.items()}
          for norm, words in NORMS.items()}      # of Figures 2 and 3


def table_1(runs):
    """`networks` with success named as in Table I."""
    return networks(runs).rename(columns={"asr_text": "asr_inf", "asr_ball": "asr_2"})


def as_cells(rows, columns):
    """Rows of a table from `networks`: success with its number of images, an accuracy that is fitted.

    Success of the L2 attack has the range over its `L2_READINGS`.
    """
    def cell(name, row):
        if not name.startswith("asr"):
            return row[name]
        share = Cell(row[name], of=row["n"])
        if name != "asr_2":
            return share
        tried = [row[f"asr_{key}"] for key in L2_READINGS]
        return wider(share, np.nanmin(tried), np.nanmax(tried), "settings", whole=1)

    return [{name: row[name] for name in ("dataset", "model", "status")} | {
        "acc": Cell(row["acc"], status="fitted: the length of training was chosen by it"
                    if row["matched"] else None)} | {
        name: cell(name, row) for name in columns} for row in rows.to_dict("records")]


def with_retraining(rows):
    """`(runs, ..., further trainings) -> rows` whose values have the range over five or more trainings.

    rows  runs -> rows with data set and network
    """
    keys = "dataset", "model"

    def both(*frames):
        *frames, again = frames
        trained = [row for k in range(len(again)) for row in rows(again[k:k + 1])]      # one a training
        measured = rows(*frames)
        columns = dict.fromkeys(name for row in measured for name in row if name not in (*keys, "status"))
        return over_alike(measured, trained, keys, columns)
    return both


NETWORK = {"data set": "data set", "network": "network"}    # how a table of ours names a network


def network_rows(runs, columns, sort=None):
    """Rows of a table of ours, a network each: its names, and columns of `networks`; rates in percent."""
    rows = networks(runs)
    rows = rows.sort_values(sort, kind="stable") if sort else rows
    return [{"data set": row["dataset"], "network": row["model"]} | {
        name: 100 * row[name] if name.startswith("asr") else row[name] for name in columns}
        for row in rows.to_dict("records")]


FEATURES = {"logits": "logits", "hidden": "last hidden layer", "softmax": "softmax outputs"}
VARIANTS = {f"{words}, {by} classes": (features, by) for features, words in FEATURES.items()
            for by in ("true", "predicted")}


def complete(rows, asked):
    """`{data set: its rows}` of a table, of those data sets of which all `asked` networks are there."""
    return {data: nets for data in DATASETS.values() if len(nets := rows[rows.dataset == data]) == asked}


def between(numbers, unit="%", digits=3):
    """Numbers as words, from the smallest to the largest: "36.4% to 87.1%"."""
    numbers = list(numbers)
    ends = [f"{display.number(float(end(numbers)), digits=digits)}{unit}" for end in (min, max)]
    return " to ".join(dict.fromkeys(ends))


# ---- maps ------------------------------------------------------------------------------------------------
def grouped(points, labels):
    """Of points [n, 2] of a map, the share (percent) whose nearest other point has their label."""
    apart = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(apart, np.inf)
    labels = np.asarray(labels)
    return float(100 * (labels[apart.argmin(1)] == labels).mean())


def draw_maps(panels):
    """Maps `{title: (points [n, 2], labels [n])}`, a colour and a number a class."""
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, squeeze=False,
                                figsize=(display.WIDEST / 3 * columns, 2.6 * rows))
    for ax, (title, (points, labels)) in zip(axes.flat, panels.items()):
        points, labels = np.asarray(points, float), np.asarray(labels)
        for k in np.unique(labels):
            of_class = points[labels == k]
            ax.scatter(*of_class.T, s=4, lw=0, color=display.PALETTE[k % len(display.PALETTE)])
            ax.text(*np.median(of_class, 0), str(k), ha="center", va="center",
                    bbox={"boxstyle": "circle,pad=0.1", "fc": "white", "ec": display.GUIDE, "lw": 0.5})
        ax.set(xticks=[], yticks=[], title=title)
    for ax in axes.flat[len(panels):]:
        ax.set_axis_off()
    return figure


def of_maps(key, words):
    """What `page.figure` takes for Figures 7 to 9: maps of MNIST, with shares of neighbours of one class."""
    def maps(runs):
        return {SPELT[u["model"]]: (u[key], u["labels"]) for u in runs.to_dict("records")}

    return {"draw": lambda runs: draw_maps({f"{name} ({grouped(*points):.0f}%)": points
                                             for name, points in maps(runs).items()}),
            "data": lambda runs: {
                "neighbours_pct": {name: grouped(*points) for name, points in maps(runs).items()},
                "status": {SPELT[u["model"]]: below(u) for u in runs.to_dict("records")},
                "images": max(len(labels) for _, labels in maps(runs).values())},
            "alt": f"Maps of {words} digits, a panel a network, coloured by class."}


# The panels of Figure 1: of the natural (0) or the robust network, which map, and its title.
PANELS = {"natural_clean": (0, "map_clean", "natural, clean images"),
          "natural_adversarial": (0, "map_text", "natural, adversarial images"),
          "robust_adversarial": (1, "map_text", "robust, adversarial images")}


def panels(*frames):
    """Of the networks that are there: {name of a panel: (coordinates, classes)}."""
    return {name: (u[key], u["labels"]) for name, (which, key, _) in PANELS.items()
            for u in frames[which].to_dict("records")}


def accuracies(natural, robust):
    """For sentences: accuracy on clean images of the natural and of the robust network of Figure 1."""
    return {"natural": 100 * natural.test_accuracy.min(), "robust": 100 * robust.test_accuracy.min()}


def proxy(*frames):
    """Why the networks are proxies, the natural and the robust one; None where none is."""
    whys = [f"{kind} network: {why.removeprefix('proxy: ')}"
            for kind, runs in zip(("natural", "robust"), frames)
            for u in runs.to_dict("records") if (why := below(u))]
    return f"proxy: {'; '.join(whys)}" if whys else None


FIGURE_1 = {      # what `page.figure` takes
    "draw": lambda *frames: draw_maps({PANELS[name][2]: points for name, points in panels(*frames).items()}),
    "data": lambda *frames: {
        "neighbours_pct": dict.fromkeys(PANELS) | {
            name: grouped(*points) for name, points in panels(*frames).items()},
        "status": proxy(*frames),
        "accuracy_on_originals_pct": min(accuracies(*frames).values())},
    "alt": "Three maps of points, coloured by class: a natural network on clean and on adversarial images, a "
           "robust one on adversarial images."}


# ---- figures ---------------------------------------------------------------------------------------------
def draw_networks(rows, series, *, sort=None, axis="success rate or measure"):
    """A panel a data set: columns of a table, a dot a network.

    series  {column: label};  sort: the column that orders networks, None keeps the order of the rows
    axis    the label of the vertical axis
    """
    there = [data for data in DATASETS.values() if (rows.dataset == data).any()]
    size = display.WIDEST, 0.9 + 2.3 * len(there)
    figure, axes = plt.subplots(len(there), 1, squeeze=False, figsize=size)
    for ax, data in zip(axes[:, 0], there):
        nets = rows[rows.dataset == data]
        nets = nets.sort_values(sort, kind="stable") if sort else nets
        for n, (column, label) in enumerate(series.items()):
            ax.plot(range(len(nets)), nets[column].astype(float), display.MARKERS[n], ms=6,
                    color=display.PALETTE[n], label=label)
        ax.set_xticks(range(len(nets)), nets.model, rotation=25, ha="right")
        ax.set(title=data, ylim=(-0.03, 1.05), ylabel=axis)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(series))
    return figure
