"""What the pages of Section 7.2 show of their problems, in words, rows, heat maps and bars.

`units` is a DataFrame with a row a problem (`shared.stability.tables`), `problems` the pairs of classes that
have a place in a picture, measured or not, and `names` the classes' names by index.
"""
import re
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from shared.attacks.line import scalings
from shared.pages import display
from shared.records.comparison import compare
from shared.stability import tables

SETS = {"train": "training images", "test": "test images"}
DELTAS = (1, 2, 5, 10)  # sizes of random draws, in lengths of the image's attack
PRINTED = "0.25"  # grey of what the paper prints
# How pages and units call the classes of a data set, in its order; of the traffic signs see Section 7.2.3.
CLASSES = {
    "cifar10": ("aeroplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    "fashion_mnist": ("tshirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag",
                      "boot"),
    "gtsrb": ("20 km/h", "end of no passing", "keep right", "turn right", "road work", "caution"),
}
# Sizes of a unit: what accuracies rest on, what attacks rest on, and all.
TRAINED = ("epochs", "images_train", "images_test")
ATTACKED = (*TRAINED, "images_attack")
PARTS = (*ATTACKED, "images_random", "draws")
SIGNS = (210, 240, 2070, 689, 1500, 1200)  # images of the six traffic signs in GTSRB's training folder
HELD_OUT = (65, 69, 605, 231, 469, 348)    # of these, of each sign, for testing: inferred, see Section 7.2.3
# Percent of a problem's images that are of its larger class, where the classes are not equally large.
LARGER_SIGN = {(a, a + 1): 100 * max(SIGNS[a:a + 2]) / sum(SIGNS[a:a + 2]) for a in range(len(SIGNS) - 1)}
# Why an attack may fail, before `gradient_rows`.
WHY_NOT_ALL = """\
Why is it not every image? There are two possible reasons. The other class may be farther away than the
largest step tried. Or there is no gradient to follow: in the 32-bit numbers of the paper's software the
output of a net that is very sure of the second class is exactly 1, its error 0, and its gradient exactly
zero; of the first class the same happens to a net that is surer still ({ref}`Section 7.1 <sutton-7-1>`). A
program that divides such a gradient by its length gets no number, which compares as the first class: an
image of the second class then seems attacked, one of the first does not. Our results do not part lost
gradients by class, so both together are the most that such a program could count. The gradient of the
*logit*, the number before the last squashing to the range from 0 to 1, points the same way where both exist
and is never lost. So the two reasons can be told apart."""


def name(problem, names):
    """The two classes of a problem by name: "cat – deer"."""
    return " – ".join(names[int(k)] for k in problem)


def problems_of(count):
    """The problems of a class and the next one, of so many classes: those that the paper's figures show."""
    return [(k, k + 1) for k in range(count - 1)]


def measured(units):
    """`{(class_a, class_b): unit}` of the problems that are there."""
    return {(u["class_a"], u["class_b"]): u for u in units.to_dict("records")}


def only(units, problems=None, **where):
    """The part of a `UnitSet` of some problems, or with these arguments: what a figure or table rests on."""
    names = [n for n, a in units.published.items()
             if (problems is None or (a["class_a"], a["class_b"]) in problems)
             and all(a[k] == v for k, v in where.items())]
    return replace(units, **{field: {n: each[n] for n in names if n in each}
                             for field, each in vars(units).items()
                             if field in ("published", "recorded", "mine", "stale")})


def label_problems(ax, problems, names):
    """The names of the problems under a picture."""
    ax.set_xticks(range(len(problems)), [name(p, names) for p in problems], rotation=25, ha="right",
                  rotation_mode="anchor")


# ---- ours minus printed ----------------------------------------------------------------------------------
def differences(item, rows, column=None):
    """`{split: {(class_a, class_b): measured minus printed}}` of a reference item.

    column   of a table that has its sets in rows, such as "mean"; None where they are columns
    """
    found = {split: {} for split in tables.SPLITS}
    for c in compare(item, rows):
        split = c["row"].get("split", c["column"])
        if c["measured"] is not None and split in found and column in (None, c["column"]):
            found[split][c["row"]["class_a"], c["row"]["class_b"]] = c["measured"] - c["printed"]
    return found


def heat_map(item, rows, names, *, column=None, unit="%"):
    """Ours minus printed as a triangle of classes for each set; problems not measured are hatched."""
    found, count = differences(item, rows, column), len(names)
    largest = max((abs(v) for each in found.values() for v in each.values()), default=0) or 1
    figure, axes = plt.subplots(1, 2, figsize=(8, 4.2), sharey=True)
    for ax, (split, each) in zip(axes, found.items()):
        grid = np.full((count - 1, count - 1), np.nan)
        for (a, b), value in each.items():
            grid[a, b - 1] = value
        drawn = ax.imshow(grid, cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto")
        for a in range(count - 1):
            for b in range(a + 1, count):
                if (a, b) not in each:
                    ax.add_patch(Rectangle((b - 1.5, a - 0.5), 1, 1, fill=False, hatch="///", lw=0,
                                           ec="0.75"))
        ax.set_xticks(range(count - 1), names[1:], rotation=90)
        ax.set_yticks(range(count - 1), names[:-1])
        ax.set_title(SETS[split])
        ax.spines[:].set_visible(False)
    figure.colorbar(drawn, ax=axes, shrink=0.8, label=f"ours minus printed{f', {unit}' if unit else ''}")
    return figure


def missing_words(units, of):
    """How many problems a picture shows, in words."""
    have = len(units)
    if have == of:
        return f"All {of} problems are measured"
    return f"{_measured(have)} {have} of {of} problems; the hatched ones are not"


def _measured(count):
    return f"Measured {'is' if count == 1 else 'are'}"


# ---- how much was measured -------------------------------------------------------------------------------
def scale_words(units, of):
    """A sentence on the problems and images that the results of a page rest on."""
    total = tables.counted(units)
    nets = "Its net knows" if len(units) == 1 else "Their nets know"
    return (f"{_measured(len(units))} {len(units)} of {of} problems. {nets} {total['known']:,} of "
            f"{total['images']:,} images, training and test together; {total['tried']:,} of those were "
            f"attacked, {total['attackable']:,} of them with success, and {total['perturbed']:,} of these "
            f"were perturbed at random.")


def in_percent(share):
    """A share in percent as text, finer where it is small."""
    if share is None:
        return "no image"
    if 0 < share < 0.005:
        return "less than 0.01%"
    return "0%" if share == 0 else f"{share:.2f}%" if share < 1 else f"{share:.1f}%"


def rough(number):
    """A large number to two digits, in words where it has one: "73 million"."""
    if 1e6 <= number < 1e9:
        return f"{display.number(number / 1e6, digits=2)} million"
    return display.number(number, digits=2)


def median_of(facts):
    """The median of a `pair.summary` to two decimals; None of none."""
    median = tables.quantile(facts, 0.5)
    return None if median is None else round(median, 2)


def interval(found):
    """A share with its 95% interval, as `judge.percentage` tells it: "12.3 (10.1 to 14.8)"."""
    if found["percent"] is None:
        return "no image"
    return f"{found['percent']:.2f} ({found['low']:.2f} to {found['high']:.2f})"


def interval_rows(units, problems, names):
    """Rows of a table of our own: the shares of each problem and set, with 95% intervals and the images."""
    made = []
    for problem, unit in measured(units).items():
        for split in tables.SPLITS if problem in problems else ():
            part = unit[split]
            made.append({"problem": name(problem, names), "images": SETS[split],
                         "tried": tables.attacked(part)["of"], "attack": interval(tables.attacked(part)),
                         "perturbed": part["random"][0]["susceptibility"]["of"],
                         **{f"random_{d}": interval(tables.disturbed(d)(part)) for d in DELTAS}})
    return made


INTERVAL_HEADER = {"problem": "problem", "images": "set", "tried": "images attacked",
                   "attack": "attackable, % (95% interval)", "perturbed": "images perturbed",
                   **{f"random_{d}": f"turned by draws {d} × the attack, %" for d in DELTAS}}


# ---- where attacks fail ----------------------------------------------------------------------------------
def gradient_rows(units, problems, names):
    """Rows of a table of our own: why images have no attack, and what the logit's gradient finds."""
    made = []
    for problem, unit in measured(units).items():
        part = unit["test"]
        if problem in problems and part["tried"]:
            made.append({"problem": name(problem, names), "tried": part["tried"],
                         "attack": in_percent(tables.attacked(part)["percent"]),
                         "saturated": in_percent(100 * part["saturated"] / part["tried"]),
                         "counted": in_percent(100 * (tables.attacked(part)["hits"] + part["saturated"])
                                            / part["tried"]),
                         "logit_attack": in_percent(part["logit_attack"]["susceptibility"]["percent"]),
                         "margin": median_of(part["margin"])})
    return made


GRADIENT_HEADER = {"problem": "problem", "tried": "test images attacked",
                   "attack": "attackable along the loss gradient", "saturated": "loss gradient exactly 0",
                   "counted": "both together, at most",
                   "logit_attack": "attackable along the logit's gradient",
                   "margin": "logit of the attackable, median"}


def failures_in_words(units, problems):
    """How many attacked images keep their class, and why, summed over the problems."""
    parts = [u["test"] for p, u in measured(units).items() if p in problems]
    tried = sum(tables.attacked(p)["of"] for p in parts)
    if not tried:
        return "No test image of these problems was attacked."
    kept, logit = (tried - sum(p[way]["susceptibility"]["hits"] for p in parts)
                   for way in ("attack", "logit_attack"))
    zero = sum(p["saturated"] for p in parts)
    return (f"Of {counted(tried, 'test image')} attacked, {kept:,} keep their class. {zero:,} of all have a "
            f"gradient of exactly zero. Along the gradient of the logit {logit:,} keep their class: in this "
            f"direction the other class is farther than the largest size tried, {float(scalings()[-1]):g}.")


# ---- claims ----------------------------------------------------------------------------------------------
def stated(item, phrase):
    """The numbers in the claim of a reference item that has these words."""
    claim, = (c for c in item.claims if phrase in c)
    return [float(n) for n in re.findall(r"\d+(?:\.\d+)?", claim)]


def values(rows, column):
    """The numbers of a column that are there."""
    return rows[column].dropna().astype(float)


def counted(count, word):
    """"1 problem", "2 problems"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


# ---- the page in one picture -----------------------------------------------------------------------------
def averages(units, printed=None):
    """`{"attack": percent, 1: ..., 10: ...}`: the mean share over the problems that are there.

    printed   {"attack" or delta: {(class_a, class_b): printed row}}: the printed mean over the same problems
    """
    told = {}
    for key, of in {"attack": tables.attacked, **{d: tables.disturbed(d) for d in DELTAS}}.items():
        found = {p: of(u["test"])["percent"] for p, u in measured(units).items()}
        found = {p: share for p, share in found.items() if share is not None}
        if printed is not None:
            found = {p: printed[key][p]["test"] for p in found if p in printed[key]}
        told[key] = float(np.mean(list(found.values()))) if found else None
    return told


def printed_averages(printed):
    """`{"attack": percent, 1: ..., 10: ...}`: the printed mean over all problems."""
    return {key: float(np.mean([row["test"] for row in rows.values()])) for key, rows in printed.items()}


def mean_shares(units, printed):
    """`averages`, ours and printed, as texts."""
    both = averages(units), averages(units, printed)
    return [{key: in_percent(share) for key, share in each.items()} for each in both]


def knows(problem, right, larger=None):
    """Whether a net knows two points more of its training images than answering the larger class to all.

    right    percent of the training images that it knows
    larger   {problem: percent of its images that are of the larger class}; 50 where it is not named. Among
             training images alone this share is up to 1.2 points off, by which images are held out
    """
    return right > (larger or {}).get(problem, 50) + 2


def learned(units, larger=None):
    """Those units whose net `knows` its problem; all units where none does, as in small runs."""
    kept = [knows((u["class_a"], u["class_b"]), tables.accuracy(u["train"])["percent"], larger)
            for u in units.to_dict("records")]
    return units[kept] if any(kept) else units


def learned_in_words(units, printed, names, larger=None):
    """How well the nets know the test images beside the paper's, which falls behind most, which failed."""
    known = {p: (tables.accuracy(u["test"])["percent"], printed[p]["test"])
             for p, u in measured(units).items() if p in printed}
    if not known:
        return "No net is measured yet."
    ours, theirs = (" to ".join(in_percent(v) for v in sorted({min(each), max(each)}))
                    for each in zip(*known.values()))
    worst = min(known, key=lambda p: known[p][0] - known[p][1])
    here, there = known[worst]
    behind = (f" {name(worst, names)} falls behind most: {in_percent(here)}, printed {in_percent(there)}."
              if here < there else "")
    failed = [name(p, names) for p in measured(units) if p not in measured(learned(units, larger))]
    lost = (f" The training on {' and '.join(failed)} failed: that net knows hardly more images than one "
            "that always answers the larger class. It stays in the tables; means and sums leave it out."
            if failed else "")
    return (f"Over {counted(len(known), 'net')}, {ours} of the test images are known; printed for the same "
            f"problems: {theirs}.{behind}{lost}")


def shares_in_words(units, printed):
    """The mean shares in two sentences."""
    if averages(units)["attack"] is None:
        return "The nets know no test image that was attacked."
    ours, theirs = ([each["attack"], *(each[d] for d in DELTAS)] for each in mean_shares(units, printed))
    if not any(tables.disturbed(d)(u["test"])["of"] for d in DELTAS for u in measured(units).values()):
        return (f"Mean over {counted(len(units), 'problem')}, test images: the attack changes {ours[0]}, so "
                f"that none was tried with random draws. Printed for the same problems: {theirs[0]}.")
    return (f"Means over {counted(len(units), 'problem')}, test images: the attack changes {ours[0]}; random "
            f"draws {', '.join(map(str, DELTAS))} times as long change {', '.join(ours[1:])}. Printed for "
            f"the same problems: {theirs[0]}; {', '.join(theirs[1:])}.")


def minute_words(units, printed, of, classes, failed=0, full=0):
    """A page in one minute: attacked, disturbed, what the paper prints.

    of       how many pairs the page has
    failed   how many more nets are measured whose training failed
    full     training images that a problem has; a net that learned from fewer is told of
    """
    if averages(units)["attack"] is None:
        return ("The attack, a step along the gradient, is to change a net's answer for many of the test "
                "images that it reads rightly, and random steps as long for few. The nets of this run know "
                "too few images to attack one; the picture shows what the paper prints.")
    ours, theirs = mean_shares(units, printed)
    drawn = [tables.disturbed(1)(u["test"]) for u in measured(units).values()]
    shares = [each["percent"] for each in drawn if each["of"]]
    learned_from = min(tables.accuracy(u["train"])["of"] for u in measured(units).values())
    shortened = "" if learned_from >= full else (
        f" Ours learned from {'at least ' if len(units) > 1 else ''}{learned_from:,} of {full:,} training "
        "images.")
    ends = list(dict.fromkeys(in_percent(end(shares)) for end in (min, max) if shares))
    by_pair = f" (from {ends[0]} to {ends[1]} by pair)" if len(ends) > 1 else ""
    turned = ("No image was so changed, and so none was tried with random steps." if not shares else
              f"Of the images so changed, {sum(each['of'] for each in drawn):,} were tried with "
              f"{int(units.draws.max()):,} random steps each: as long as the image's own attack, at least "
              f"one of them changes the answer for {ours[1]}{by_pair}; ten times as long, for {ours[10]}.")
    return (f"{'On average over' if len(units) > 1 else 'For'} {len(units)} of {counted(of, 'pair')} of "
            f"{classes}, the attack, a step along the gradient, changes the net's answer for "
            f"{ours['attack']} of the test images that it reads rightly. {turned} The paper prints "
            + (f"{theirs['attack']}, {theirs[1]} and {theirs[10]}" if shares else theirs["attack"])
            + f" for the same {'pairs' if len(units) > 1 else 'pair'}."
            + shortened + (f" Left out: {counted(failed, 'net')} whose training failed." if failed else ""))


def bars(units, printed):
    """Share of images whose class changes: by the attack, and by random draws of growing size.

    Printed values are those of the same problems; of all where no image was attacked.
    """
    ours, theirs = (averages(units, p) for p in (None, printed))
    of = "same"
    if ours["attack"] is None:
        theirs, of = printed_averages(printed), "all"
    figure, ax = plt.subplots(figsize=(8, 3.6))
    for place, (key, share) in enumerate(ours.items()):
        if share is not None:
            ax.bar(place, share, width=0.6, color=display.PALETTE[1 if key == "attack" else 0])
            over = theirs[key] if theirs[key] is not None and 0 <= theirs[key] - share < 8 else share
            ax.text(place, over + 1.5, in_percent(share), ha="center", va="bottom")  # not through the line
        if theirs[key] is not None:
            ax.plot([place - 0.38, place + 0.38], [theirs[key]] * 2, color=PRINTED, lw=2)
    ax.plot([], [], color=PRINTED, lw=2, label=f"printed, {of} problems")
    ax.set_xticks(range(len(ours)), ["one step along\nthe gradient",
                                     *(f"random, {d} ×\nas large" for d in DELTAS)])
    ax.set(ylabel="images whose class changes, %", ylim=(0, 112))
    ax.legend(loc="upper right")
    return figure


def minute(run, units, printed, classes, *, larger=None, full=0):
    """Show a page in one minute: the shares over the nets that learned their problem, in words and as bars.

    larger  see `learned`; classes and full: see `minute_words`
    """
    chosen = run.best(units)
    if len(chosen):
        good = learned(chosen, larger)
        run.minute(
            minute_words(good, printed, len(units.published), classes, len(chosen) - len(good), full=full),
            picture=bars(good, printed),
            alt="Five bars: images that the attack changes, and those that random draws change, from as long "
                "as the attack to ten times as long. Lines mark the printed values.")
