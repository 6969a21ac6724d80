"""Rows of the tables of Section 7.2, from what `pair.measure_pair` found of each problem.

Everywhere `units` is a DataFrame with a row a problem: `class_a`, `class_b`, and `train` and `test`, each a
dict as `measure_pair` returns it, called `part` here.
"""
import numpy as np

SPLITS = ("train", "test")
NORMS = ("l1", "l2", "linf")
BEHIND = ("class_a", "class_b", "count", "below")    # columns that claims read and tables do not show


# ---- one number of a part: what is read of it ------------------------------------------------------------
def accuracy(part):
    """Share of all images that the net knows, equation (6), as `judge.percentage` tells it."""
    return part["accuracy"]


def attacked(part):
    """Share of the known images that have an attack, equation (7), as `judge.percentage` tells it."""
    return part["attack"]["susceptibility"]


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


# ---- a distribution of a part: (part, norm) -> `pair.summary` --------------------------------------------
def attack_size(part, norm):
    """The norms of the attacks found."""
    return part["attack"][norm]


def draw_size(delta):
    """What reads the norms of each image's smallest draw that turns it, of those `delta` times its attack."""
    return lambda part, norm: random(part, delta)[norm]


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
    Beside a share `train` stand `train_hits`, `train_of` (images), `train_low` and `train_high` (95%).
    """
    made = []
    for row in units.to_dict("records"):
        told = {"class_a": row["class_a"], "class_b": row["class_b"]}
        for split in SPLITS:
            found = of(row[split])
            told[split] = found["percent"]
            told |= {f"{split}_{key}": found[key] for key in ("hits", "of", "low", "high")}
        made.append(told)
    return made


def sizes(units, norm, *, attack="attack", limit=None):
    """Rows of Tables 6 to 8: `mean` and `std` of the attacks' size, one row a problem and `split`.

    norm     "l1", "l2" or "linf"
    attack   "attack", or "logit_attack" along the gradient that does not saturate
    limit    adds `below`, the per cent of attacks smaller than this
    """
    made = []
    for row in units.to_dict("records"):
        for split in SPLITS:
            facts = row[split][attack][norm]
            told = {"class_a": row["class_a"], "split": split, "class_b": row["class_b"],
                    "mean": facts["mean"], "std": facts["std"], "count": facts["count"]}
            made.append(told if limit is None else told | {"below": below(facts, limit)})
    return made


def summary_shares(units, deltas=(1, 2, 5, 10)):
    """Rows of Tables 20 and 23: accuracy, adversarial and random susceptibility in per cent."""
    read = [("accuracy", None, accuracy), ("adversarial_susceptibility", None, attacked),
            *(("random_susceptibility", delta, disturbed(delta)) for delta in deltas)]
    return [{"quantity": quantity, "delta_inferred": delta, "problem": problem(row), **row}
            for quantity, delta, of in read for row in shares(units, of)]


def summary_sizes(units, *, attack="attack"):
    """Rows of Tables 21 and 24, and the lower part of 13 to 18: sizes of the attacks in three norms."""
    return [{"quantity": "adv_attack_norm", "norm": norm, "problem": problem(row), **row}
            for norm in NORMS for row in sizes(units, norm, attack=attack)]


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

    made = []
    for row in item.rows:
        own = dict(spelling).get(classes[row["index"]], classes[row["index"]])
        made.append({"index": row["index"],
                     "name": row["name"] if letters(own) == letters(row["name"]) else own})
    return made


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

    images     all of them; each is told right or wrong
    known      of these, classified correctly
    tried      of these, attacked
    attackable of these, with an attack
    perturbed  of these, perturbed at random
    """
    total = dict.fromkeys(("images", "known", "tried", "attackable", "perturbed"), 0)
    for row in units.to_dict("records"):
        for part in (row[split] for split in SPLITS):
            total["images"] += part["accuracy"]["of"]
            total["known"] += part["accuracy"]["hits"]
            total["tried"] += attacked(part)["of"]
            total["attackable"] += attacked(part)["hits"]
            total["perturbed"] += part["random"][0]["susceptibility"]["of"]
    return total
