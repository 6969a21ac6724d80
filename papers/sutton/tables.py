"""Rows of the tables of Section 7.2, from what `experiments.measure_pair` returns of each problem.

Everywhere `units` is a DataFrame with a row a problem: `class_a`, `class_b`, and `train` and `test`, each a
dict as `measure_pair` returns it, called `part` here.
"""
import numpy as np

from report.cell import Cell

SPLITS = ("train", "test")
NORMS = ("l1", "l2", "linf")
BEHIND = ("class_a", "class_b", "count", "below")    # columns that claims read and tables do not show


# ---- one number of a part: what is read of it ------------------------------------------------------------
def accuracy(part):
    """Share of all images that the net knows, equation (6), as `susceptibility.percentage` gives it."""
    return part["accuracy"]


def attacked(part):
    """Share of the known images that have an attack, equation (7), of the same form."""
    return part["attack"]["susceptibility"]


def with_zero(part):
    """The attackable share, in percent, if an image whose gradient is exactly zero counts as attackable."""
    return 100 * (attacked(part)["hits"] + part["saturated"]) / part["tried"]


def disturbed(delta):
    """What reads the share of attackable images that a draw `delta` times the attack turns, equation (8)."""
    def of(part):
        return random(part, delta)["susceptibility"]
    return of


def random(part, delta):
    """The entry of one size of the draws; raises ValueError where this size was not tried."""
    for entry in part["random"]:
        if entry["delta"] == delta:
            return entry
    raise ValueError(f"draws {delta} times the attack were not tried; tried: "
                     f"{', '.join(str(e['delta']) for e in part['random'])}")


# ---- a distribution of a part: (part, norm) -> `susceptibility.summary` ----------------------------------
def attack_size(part, norm):
    """The norms of the attacks found."""
    return part["attack"][norm]


def draw_size(delta):
    """What reads the norms of each image's smallest draw that turns it, of those `delta` times its attack."""
    return lambda part, norm: random(part, delta)[norm]


# ---- training with noise: one number of a part, in a reading of the mean norm (`claims.AVERAGED`) --------
def cell(part, quantity, reading):
    """`{"value"}` of "accuracy" or "susceptibility", in percent; `{"mean", "std"}` of a norm of the attacks.

    None where there is no attack, or none was tried.
    """
    if quantity == "accuracy":
        return {"value": accuracy(part)["percent"]}
    if quantity == "susceptibility":
        lost = part["tried"] and reading == "lost"
        return {"value": with_zero(part) if lost else attacked(part)["percent"]}
    facts = part["attack"][quantity]
    if reading == "all":
        return {"mean": facts.get("mean_all"), "std": facts.get("std_all")}
    if reading == "found" or facts["mean"] is None:
        return {"mean": facts["mean"], "std": facts["std"]}
    share = facts["count"] / (facts["count"] + part["saturated"])
    mean, square = share * facts["mean"], share * (facts["std"]**2 + facts["mean"]**2)
    return {"mean": mean, "std": float(np.sqrt(max(0.0, square - mean**2)))}


def value(part, quantity, reading):
    """The share or the mean of a `cell`."""
    return next(iter(cell(part, quantity, reading).values()))


# ---- rows ------------------------------------------------------------------------------------------------
def problem(row):
    """The problem of a unit or row as the paper heads its columns: "0 vs 1"."""
    return f"{row['class_a']} vs {row['class_b']}"


def consecutive(units):
    """The problems of a class and the next one, those that figures and Table 1 show."""
    return units[units.class_b == units.class_a + 1] if len(units) else units


def shares(units, of):
    """Rows of Tables 4, 5 and 9 to 12: `train` and `test` in per cent.

    of   `accuracy`, `attacked` or `disturbed(delta)`
    """
    return [{"class_a": unit["class_a"], "class_b": unit["class_b"]} | {
        split: Cell(share["percent"], **{key: share[key] for key in ("hits", "of", "low", "high")})
        for split in SPLITS for share in [of(unit[split])]} for unit in units.to_dict("records")]


def sizes(units, norm, *, limit=None):
    """Rows of Tables 6 to 8: `mean` and `std` of the attacks' size, one row a problem and `split`.

    norm     "l1", "l2" or "linf"
    limit    adds `below`, the per cent of attacks smaller than this
    """
    return [{"class_a": unit["class_a"], "split": split, "class_b": unit["class_b"],
             **{key: facts[key] for key in ("mean", "std", "count")},
             **({} if limit is None else {"below": below(facts, limit)})}
            for unit in units.to_dict("records") for split in SPLITS
            for facts in [unit[split]["attack"][norm]]]


def summary_shares(units, deltas=(1, 2, 5, 10)):
    """Rows of Tables 20 and 23: accuracy, adversarial and random susceptibility in per cent."""
    read = [("accuracy", None, accuracy), ("adversarial_susceptibility", None, attacked),
            *(("random_susceptibility", delta, disturbed(delta)) for delta in deltas)]
    return [{"quantity": quantity, "delta_inferred": delta, "problem": problem(row), **row}
            for quantity, delta, of in read for row in shares(units, of)]


def summary_sizes(units):
    """Rows of Tables 21 and 24: sizes of the attacks in three norms."""
    return [{"quantity": "adv_attack_norm", "norm": norm, "problem": problem(row), **row}
            for norm in NORMS for row in sizes(units, norm)]


def printed(item, **where):
    """`{(class_a, class_b): row}` of a reference item's rows in which every `name=value` of `where` holds."""
    return {(row["class_a"], row["class_b"]): row for row in item.rows
            if all(row.get(name) == value for name, value in where.items())}


def class_rows(item, classes, spelling=()):
    """Rows of Tables 3, 19 and 22: the data set's own name of each class.

    Names that differ in capitals, spaces and punctuation alone are given as printed.

    classes    the data set's names by index
    spelling   {own name: how the paper spells it}
    """
    def letters(name):
        return "".join(c for c in name.lower() if c.isalnum())

    rows = []
    for row in item.rows:
        own = dict(spelling).get(classes[row["index"]], classes[row["index"]])
        rows.append({"index": row["index"],
                     "name": row["name"] if letters(own) == letters(row["name"]) else own})
    return rows


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


# ---- how much was measured -------------------------------------------------------------------------------
def counted(units):
    """How many images the shares rest on: a dict of sums over problems and sets.

    images     all of them
    known      of these, classified correctly
    tried      of these, attacked
    attackable of these, with an attack
    perturbed  of these, perturbed at random
    """
    parts = [unit[split] for unit in units.to_dict("records") for split in SPLITS]
    return {name: sum(map(of, parts)) for name, of in (
        ("images", lambda part: part["accuracy"]["of"]), ("known", lambda part: part["accuracy"]["hits"]),
        ("tried", lambda part: attacked(part)["of"]), ("attackable", lambda part: attacked(part)["hits"]),
        ("perturbed", lambda part: part["random"][0]["susceptibility"]["of"]))}
