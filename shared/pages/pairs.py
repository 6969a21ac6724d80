"""What the pages of Section 7.2 show of their problems, in words, rows, heat maps and bars.

`units` is a DataFrame with a row a problem (`shared.stability.tables`), `problems` the pairs of classes that
have a place in a picture, measured or not, and `names` the classes' names by index.
"""
import re

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from shared.attacks.line import scalings
from shared.pages import display
from shared.records.comparison import compare
from shared.stability import tables

SETS = {"train": "training images", "test": "test images"}
DELTAS = (1, 2, 5, 10)  # norms of random perturbations, in norms of the image's attack
PRINTED = "0.25"  # grey of published values
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
An attack can fail for two reasons. The other class may be farther away than the largest step tried. Or the
loss gradient vanishes: in 32-bit arithmetic, as in the paper's software, the output of a network that is
very confident of the second class is exactly 1, its error 0 and its gradient exactly zero; for the first
class this happens at a still higher confidence ({ref}`Section 7.1 <sutton-7-1>`). A program that divides
such a gradient by its norm gets NaN, which compares as the first class: it counts an image of the second
class as attacked, and one of the first class not. The column "both together" is the most that such a
program could count. The gradient of the *logit*, the value before the sigmoid, has the same direction where
both exist and never vanishes, so that it separates the two reasons."""


def name(problem, names):
    """The two classes of a problem by name: "cat – deer"."""
    return " – ".join(names[int(k)] for k in problem)


def problems_of(count):
    """The problems of a class and the next one, of so many classes: those that the paper's figures show."""
    return [(k, k + 1) for k in range(count - 1)]


def measured(units):
    """`{(class_a, class_b): unit}` of the problems that are there."""
    return {(u["class_a"], u["class_b"]): u for u in units.to_dict("records")}


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
    figure.colorbar(drawn, ax=axes, shrink=0.8, label=f"ours minus published{f', {unit}' if unit else ''}")
    return figure


# ---- how much was measured -------------------------------------------------------------------------------
def scale_words(units, of):
    """A sentence on the problems and images that the results of a page rest on."""
    total = tables.counted(units)
    return (f"{len(units)} of {counted(of, 'problem')} {'is' if len(units) == 1 else 'are'} measured, on "
            f"training and test images together: {total['known']:,} of {total['images']:,} images are "
            f"correctly classified, {total['tried']:,} of these were attacked, {total['attackable']:,} of "
            f"them with success, and {total['perturbed']:,} of the attackable images were perturbed at "
            "random.")


STEPS = {"adversarial_susceptibility": "accuracy", "random_susceptibility": "adversarial_susceptibility"}


def settled(rows):
    """Rows of `tables.summary_shares` or of accuracies, each share with whether more images can move it.

    None can where all images were tried that the share before it counts: an accuracy rests on all images of a
    network trained in full, an attack on those classified correctly, random perturbations on those attacked.
    """
    hits = {(r.get("quantity", "accuracy"), r["class_a"], r["class_b"], split): r[f"{split}_hits"]
            for r in rows for split in tables.SPLITS}
    return [r | {f"{split}_settled": before is None or hits[before, *key] == r[f"{split}_of"]
                 for split in tables.SPLITS for key in [(r["class_a"], r["class_b"], split)]
                 for before in [STEPS.get(r.get("quantity"))]} for r in rows]


def in_percent(share):
    """A share in percent as text, finer where it is small."""
    if share is None:
        return "no image"
    if 0 < share < 0.005:
        return "less than 0.01%"
    return "0%" if share == 0 else f"{share:.2f}%" if share < 1 else f"{share:.1f}%"


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
                   **{f"random_{d}": f"label flipped by noise, {d} × the norm, %" for d in DELTAS}}


# ---- where attacks fail ----------------------------------------------------------------------------------
def with_zero(part):
    """The attackable share, in percent, if an image whose gradient is exactly zero counts as attackable."""
    return 100 * (tables.attacked(part)["hits"] + part["saturated"]) / part["tried"]


def gradient_rows(units, problems, names):
    """Rows of a table of our own: why images have no attack, and what the logit's gradient finds."""
    made = []
    for problem, unit in measured(units).items():
        part = unit["test"]
        if problem in problems and part["tried"]:
            made.append({"problem": name(problem, names), "tried": part["tried"],
                         "attack": in_percent(tables.attacked(part)["percent"]),
                         "saturated": in_percent(100 * part["saturated"] / part["tried"]),
                         "counted": in_percent(with_zero(part)),
                         "logit_attack": in_percent(part["logit_attack"]["susceptibility"]["percent"]),
                         "margin": median_of(part["margin"])})
    return made


GRADIENT_HEADER = {"problem": "problem", "tried": "test images attacked",
                   "attack": "attackable along the loss gradient", "saturated": "loss gradient exactly 0",
                   "counted": "both together, at most",
                   "logit_attack": "attackable along the logit's gradient",
                   "margin": "logit of the attackable, median"}


def failures_in_words(units, problems, names, larger=None):
    """How many attacked images keep their class, and why, over the problems whose training succeeded."""
    good = measured(learned(units, larger))
    parts = [u["test"] for p, u in good.items() if p in problems]
    tried = sum(tables.attacked(p)["of"] for p in parts)
    if not tried:
        return "No test image of these problems was attacked."
    kept, logit = (tried - sum(p[way]["susceptibility"]["hits"] for p in parts)
                   for way in ("attack", "logit_attack"))
    zero = sum(p["saturated"] for p in parts)
    failed = [p for p in measured(units) if p in problems and p not in good]
    without = (f"Without {' and '.join(name(p, names) for p in failed)}, whose training failed: of" if failed
               else "Of")
    return (f"{without} {counted(tried, 'test image')} attacked, {kept:,} keep their class. {zero:,} of all "
            f"have a gradient of exactly zero. Along the gradient of the logit {logit:,} keep their class: "
            "in this direction the other class is farther than the largest norm tried, "
            f"{float(scalings()[-1]):g}.")


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


def counting_zero(units):
    """The mean of `with_zero` over the problems that are there, as text."""
    return in_percent(float(np.mean([with_zero(u["test"]) for u in measured(units).values()
                                     if u["test"]["tried"]])))


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
        return "No network is measured yet."
    ours, theirs = (" to ".join(in_percent(v) for v in sorted({min(each), max(each)}))
                    for each in zip(*known.values()))
    worst = min(known, key=lambda p: known[p][0] - known[p][1])
    here, there = known[worst]
    behind = (f" The largest gap is that of {name(worst, names)}: {in_percent(here)} (paper: "
              f"{in_percent(there)})." if here < there else "")
    failed = [name(p, names) for p in measured(units) if p not in measured(learned(units, larger))]
    lost = (f" The training on {' and '.join(failed)} failed: that network is hardly better than one that "
            "always predicts the larger class. It stays in the tables; means and sums leave it out."
            if failed else "")
    return (f"Test accuracy is {ours} over {counted(len(known), 'network')} (paper, same problems: {theirs})."
            f"{behind}{lost}")


def of_all(units, delta=10):
    """The mean over problems of the share of *all* attacked images that the attack flips and noise flips too.

    Noise was tried on some of the attackable images; the share among them counts for the others.
    """
    both = [(tables.attacked(u["test"])["percent"], tables.disturbed(delta)(u["test"])["percent"])
            for u in measured(units).values()]
    found = [a * (d or 0) / 100 for a, d in both if a is not None and (d is not None or a == 0)]
    return float(np.mean(found)) if found else None


def shares_in_words(units, printed):
    """The mean shares in three sentences."""
    if averages(units)["attack"] is None:
        return "No test image is correctly classified and attacked."
    ours, theirs = mean_shares(units, printed)
    told = (f"Means over {counted(len(units), 'problem')}, test images: the attack flips the label of "
            f"{ours['attack']} (paper: {theirs['attack']}; {counting_zero(units)} if an image whose gradient "
            "is exactly zero counts as attackable)")
    if not any(tables.disturbed(d)(u["test"])["of"] for d in DELTAS for u in measured(units).values()):
        return f"{told}, so that no image was perturbed at random."
    return (f"{told} of the correctly classified images. Of the attackable images, random perturbations of δ "
            "times the norm of the attack flip "
            + ", ".join(f"{ours[d]} (δ = {d}; paper: {theirs[d]})" for d in DELTAS)
            + f". Counting images without an attack as unflipped, this is {in_percent(of_all(units))} of all "
            "correctly classified images at δ = 10.")


def reading_in_words(units):
    """For the box: which reading of Table 2 was trained; nothing where the units do not tell."""
    if "architecture" not in units:
        return ""
    normalised = sum("-bn" in name or "public" in name for name in units.architecture)
    if 0 < normalised < len(units):
        return (f"{normalised} of {counted(len(units), 'network')} have batch normalisation, which the "
                "paper's Table 2 does not list.")
    return ("The networks have batch normalisation, which the paper's Table 2 does not list; "
            "{ref}`Section 7.2.3 <sutton-7-2-3>` compares both on traffic signs." if normalised else
            "The networks follow the paper's Table 2, which lists no batch normalisation; "
            "{ref}`Section 7.2.3 <sutton-7-2-3>` measures on traffic signs how far it changes the shares.")


def spread(shares):
    """The range of shares over pairs, in brackets' words: "2.0% to 5.0% by pair; "; nothing where equal."""
    ends = list(dict.fromkeys(in_percent(end(shares)) for end in (min, max) if shares))
    return f"{ends[0]} to {ends[1]} by pair; " if len(ends) > 1 else ""


def minute_words(units, printed, of, classes, failed=0, full=0, cause=None):
    """A page in one minute: attacked, why not, perturbed at random, the published values, why they differ.

    of       how many pairs the page has
    failed   how many more networks are measured whose training failed
    full     training images that a problem has; a network that learned from fewer is told of
    cause    a sentence on why the shares differ from the published ones; None tells the networks' reading
    """
    question = (f"How many correctly classified test images of two {classes} can be attacked, and does "
                "random noise flip the same labels?")
    if averages(units)["attack"] is None:
        return f"{question} The networks of this run classify too few images correctly to attack one."
    ours, theirs = mean_shares(units, printed)
    parts = [u["test"] for u in measured(units).values()]
    found = [tables.attacked(p) for p in parts]
    drawn = [noise for p in parts if (noise := tables.disturbed(DELTAS[-1])(p))["of"]]
    learned_from = min(tables.accuracy(u["train"])["of"] for u in measured(units).values())
    by_pair = spread([each["percent"] for each in found if each["of"]])
    small = spread([each["percent"] for p in parts if (each := tables.disturbed(1)(p))["of"]])
    tried = sum(each["of"] for each in found)
    several = len(units) > 1
    zero = sum(p["saturated"] for p in parts)
    with_zero = "" if not zero else (
        f"; with the {counted(zero, 'image')} whose loss gradient is exactly zero it is "
        f"{counting_zero(units)}")
    of_pairs = f"{'mean over ' if several else ''}{len(units)} of {counted(of, 'pair')}" + (
        f"; {counted(failed, 'failed training')} left out" if failed else "") + (
        f"; {'at least ' if several else ''}{learned_from:,} of {full:,} training images"
        if learned_from < full else "")
    attack = (f"A step along the loss gradient flips the label of {ours['attack']} ({of_pairs}; n = "
              f"{tried:,} images; {by_pair}paper, same {'pairs' if several else 'pair'}: "
              f"{theirs['attack']}){with_zero}.")
    noise = ("None was perturbed at random." if not drawn else
             f"Of {sum(each['of'] for each in drawn):,} attackable images, at least one of "
             f"{int(units.draws.max()):,} noise samples flips the label of {ours[1]} at the norm of the "
             f"image's own attack ({small}paper: {theirs[1]}), and of {ours[10]} at ten times that norm "
             f"(paper: {theirs[10]}).")
    cause = reading_in_words(units) if cause is None else cause
    return " ".join(filter(None, (question, attack, noise, cause)))


def bars(units, printed):
    """Share of images whose label flips: by the attack, and by random perturbations of growing norm.

    Published values are those of the same problems; of all where no image was attacked.
    """
    ours, theirs = (averages(units, p) for p in (None, printed))
    of = "same"
    if ours["attack"] is None:
        of, theirs = "all", {k: float(np.mean([row["test"] for row in rows.values()]))
                             for k, rows in printed.items()}
    figure, ax = plt.subplots(figsize=(8, 3.6))
    for place, (key, share) in enumerate(ours.items()):
        if share is not None:
            ax.bar(place, share, width=0.6, color=display.PALETTE[1 if key == "attack" else 0])
            over = theirs[key] if theirs[key] is not None and 0 <= theirs[key] - share < 8 else share
            ax.text(place, over + 1.5, in_percent(share), ha="center", va="bottom")  # not through the line
        if theirs[key] is not None:
            ax.plot([place - 0.38, place + 0.38], [theirs[key]] * 2, color=PRINTED, lw=2)
    ax.plot([], [], color=PRINTED, lw=2, label=f"published, {of} problems")
    ax.set_xticks(range(len(ours)), ["one step along\nthe gradient",
                                     *(f"noise of {d} ×\nits norm" for d in DELTAS)])
    ax.set(ylabel="images whose label flips, %", ylim=(0, 112))
    ax.legend(loc="upper right")
    return figure


def minute(run, units, printed, classes, *, larger=None, full=0, cause=None):
    """Show a page in one minute: the shares over the networks whose training succeeded, in words and as bars.

    larger  see `learned`; classes, full and cause: see `minute_words`
    """
    chosen = run.best(units)
    if len(chosen):
        good = learned(chosen, larger)
        run.minute(
            minute_words(good, printed, len(units.published), classes, len(chosen) - len(good), full, cause),
            picture=bars(good, printed),
            alt="Five bars: images whose label the attack flips, and those whose label noise flips, at one "
                "to ten times the norm of the attack. Lines mark the published values.")
