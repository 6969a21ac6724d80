"""Rows of the tables of Section 7.2, from what `experiments.measure_pair` returns of each problem.

Everywhere `runs` is a DataFrame with a row a problem: `class_a`, `class_b`, and `train` and `test`, each a
dict as `measure_pair` returns it, called `part` here.
"""
import numpy as np
import torch
from torch import nn

from papers.sutton.experiments import CLASSES, DELTAS, problems_of
from report.cell import Cell
from shared.susceptibility import percentage

SPLITS = ("train", "test")
NORMS = ("l1", "l2", "linf")
QUANTITIES = {"accuracy": "accuracy", "attack": "adversarial_susceptibility",
              **dict.fromkeys(DELTAS, "random_susceptibility")}     # as Tables 1, 20 and 23 call a `share`
HIDDEN = ("class_a", "class_b", "count", "below")    # columns that claims read and tables do not show


# ---- one number of a part --------------------------------------------------------------------------------
def outcome(part, key):
    """What the attacks ("attack"), or the random perturbations of a delta, came to."""
    return part["attack"] if key == "attack" else {entry["delta"]: entry for entry in part["random"]}[key]


def share(part, key):
    """The share of "accuracy", of the "attack" or of a delta, as `susceptibility.percentage` gives it.

    These are equations (6), (7) and (8). An image whose loss gradient is exactly zero counts as attackable:
    the reading that Section 7.1.1 chooses.
    """
    if key == "attack":
        return percentage(flipped_by_step(part)["hits"] + part["saturated"], flipped_by_step(part)["of"])
    return part["accuracy"] if key == "accuracy" else outcome(part, key)["susceptibility"]


def percent(part, key):
    """The same in percent; None of no images."""
    return share(part, key)["percent"]


def flipped_by_step(part):
    """The share of images whose label a step flips: `share` of the attack without those of zero gradient."""
    return part["attack"]["susceptibility"]


# ---- training with noise: one number of a part, in a reading of the mean norm (`claims.AVERAGED`) --------
def cell(part, quantity, reading):
    """`{"value"}` of "accuracy" or "susceptibility", in percent; `{"mean", "std"}` of a norm of the attacks.

    None where there is no attack, or none was tried.
    """
    if quantity == "accuracy":
        return {"value": percent(part, "accuracy")}
    if quantity == "susceptibility":
        return {"value": percent(part, "attack") if reading == "lost" else flipped_by_step(part)["percent"]}
    facts = part["attack"][quantity]
    if reading == "all":
        return {"mean": facts.get("mean_all"), "std": facts.get("std_all")}
    if reading == "found" or facts["mean"] is None:
        return {"mean": facts["mean"], "std": facts["std"]}
    weight = facts["count"] / (facts["count"] + part["saturated"])
    mean, square = weight * facts["mean"], weight * (facts["std"]**2 + facts["mean"]**2)
    return {"mean": mean, "std": float(np.sqrt(max(0.0, square - mean**2)))}


def value(part, quantity, reading):
    """The share or the mean of a `cell`."""
    return next(iter(cell(part, quantity, reading).values()))


def names_of(dataset):
    """The names of a data set's classes for `page.names`: in place of numbers and of pairs of these."""
    names = dict(enumerate(CLASSES[dataset]))
    pairs = {f"{a} vs {b}": f"{names[a]} – {names[b]}" for a, b in problems_of(len(names))}
    return {"class_a": names, "class_b": names, "problem": pairs}


# ---- rows ------------------------------------------------------------------------------------------------
def problem(row):
    """The problem of a run or row as the paper heads its columns: "0 vs 1"."""
    return f"{row['class_a']} vs {row['class_b']}"


def shares(runs, key):
    """Rows of Tables 4, 5 and 9 to 12: `train` and `test` in per cent; the key is that of `share`."""
    return [{"class_a": run["class_a"], "class_b": run["class_b"]} | {
        split: Cell(of["percent"], **{name: of[name] for name in ("hits", "of", "low", "high")})
        for split in SPLITS for of in [share(run[split], key)]} for run in runs.to_dict("records")]


def sizes(runs, norm, *, limit=None):
    """Rows of Tables 6 to 8: `mean` and `std` of the attacks' size, one row a problem and `split`.

    norm     "l1", "l2" or "linf"
    limit    adds `below`, the per cent of attacks smaller than this
    """
    return [{"class_a": run["class_a"], "split": split, "class_b": run["class_b"],
             **{key: facts[key] for key in ("mean", "std", "count")},
             **({} if limit is None else {"below": below(facts, limit)})}
            for run in runs.to_dict("records") for split in SPLITS
            for facts in [run[split]["attack"][norm]]]


def row_of(key):
    """What tells the row of a `share` from others in Tables 1, 20 and 23."""
    return {"quantity": QUANTITIES[key], "delta_inferred": key if key in DELTAS else None}


def summary_shares(runs):
    """Rows of Tables 20 and 23: accuracy, adversarial and random susceptibility in per cent."""
    return [{**row_of(key), "problem": problem(row), **row} for key in QUANTITIES
            for row in shares(runs, key)]


def summary_sizes(runs):
    """Rows of Tables 21 and 24: sizes of the attacks in three norms."""
    return [{"quantity": "adv_attack_norm", "norm": norm, "problem": problem(row), **row}
            for norm in NORMS for row in sizes(runs, norm)]


def printed(item, **where):
    """`{(class_a, class_b): row}` of a reference item's rows in which every `name=value` of `where` holds."""
    return {(row["class_a"], row["class_b"]): row for row in item.rows
            if all(row.get(name) == value for name, value in where.items())}


RANDOM = dict(zip(DELTAS, ("table-9", "table-10", "table-11", "table-12")))     # of CIFAR-10, by delta
CIFAR10 = {"accuracy": "table-4", "attack": "table-5"} | RANDOM    # by the key of the `share` that is printed


def cifar10_shares(paper):
    """`{key of a share: printed}` of Tables 4, 5 and 9 to 12; `paper` has the reference items by id."""
    return {key: printed(paper[item]) for key, item in CIFAR10.items()}


def printed_shares(item):
    """`{key of a share: printed}` of Table 20 or 23."""
    return {key: printed(item, **row_of(key)) for key in QUANTITIES}


def class_rows(item, classes, spelling=()):
    """Rows of Tables 3, 19 and 22: the data set's own name of each class.

    Names that differ in capitals, spaces and punctuation alone are given as printed.

    classes    the data set's names by index
    spelling   {own name: how the paper spells it}
    """
    def letters(name):
        return "".join(c for c in name.lower() if c.isalnum())

    names = [dict(spelling).get(name, name) for name in classes]
    return [{"index": row["index"], "name": row["name"] if letters(own) == letters(row["name"]) else own}
            for row in item.rows for own in [names[row["index"]]]]


# ---- distributions ---------------------------------------------------------------------------------------
def points(facts):
    """A hundred values of equal weight, float64 [100], from the quantiles of a `summary`; [0] of none."""
    quantiles = np.asarray(facts["quantiles"], float)
    return (quantiles[1:] + quantiles[:-1]) / 2 if len(quantiles) else quantiles


def quantile(facts, share):
    """The value below which `share` of 0 to 1 of them lie; None of none."""
    quantiles = np.asarray(facts["quantiles"], float)
    return float(np.interp(share, np.linspace(0, 1, len(quantiles)), quantiles)) if len(quantiles) else None


def below(facts, limit):
    """Per cent of the values that are smaller than `limit`; None of none."""
    values = points(facts)
    return 100 * float((values < limit).mean()) if len(values) else None


# ---- ImageNet --------------------------------------------------------------------------------------------
def pooled(runs):
    """All blocks of images of a network end to end: what `experiments.examine` returns, and its shares.

    "shares" holds a `percentage` for each key of `share`, the attack's without images of zero gradient; a
    perturbation counts that all blocks have tried.
    """
    images = {key: np.concatenate([np.asarray(values) for values in runs[key]])
              for key in ("correct", "l1", "l2", "linf", "margin_l2")}
    first = np.concatenate([np.asarray(values) for values in runs["first"]], 1).astype(int)
    draws = int(runs.draws.min())
    shares = {"accuracy": images["correct"], "attack": images["l2"] > 0, **dict(zip(DELTAS, first < draws))}
    return images | {"network": runs.network.iloc[0], "draws": draws, "largest": float(runs.largest.iloc[0]),
                     "dimension": int(runs.dimension.iloc[0]), "saturated": int(runs.saturated.sum()),
                     "shares": {key: share_of(hit) for key, hit in shares.items()}}


def share_of(truths):
    """The share of images for which something is true."""
    return percentage(int(np.sum(truths)), len(truths))


# ---- Table 2 ---------------------------------------------------------------------------------------------
WORDS = {nn.Conv2d: "Conv-{}", nn.MaxPool2d: "Max pool", nn.AdaptiveMaxPool2d: "Global max pool",
         nn.Linear: "Dense"}


def layers(network):
    """A row a layer of Table 2; the sizes of kernels and pools are lost in our copy."""
    listed = [layer for layer in network if type(layer) in WORDS]
    return [{"layer": WORDS[type(layer)].format(sum(isinstance(m, nn.Conv2d) for m in listed[:n])),
             "size": None, "trained_parameters": sum(map(torch.numel, layer.parameters())) or None,
             "output_channels": getattr(layer, "out_channels", getattr(layer, "out_features", None)),
             "printed_row": n} for n, layer in enumerate(listed, 1)]
