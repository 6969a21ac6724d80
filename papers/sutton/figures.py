"""What the pages of Section 7.2 show of their problems, in words, rows, heat maps and bars.

`units` is a DataFrame with a row a problem (`tables`), `problems` the pairs of classes that
have a place in a picture, measured or not, and `names` the classes' names by index.
"""
import math

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from papers.sutton import tables
from papers.sutton.experiments import DELTAS, SIGNS
from report import display
from report.comparison import compare
from report.experiment import Results
from shared.attacks.line import scalings
from shared.susceptibility import percentage

DATASETS = {"cifar10": "CIFAR-10", "fashion_mnist": "Fashion-MNIST", "gtsrb": "GTSRB"}   # of Table 1
SETS = {"train": "training images", "test": "test images"}
LARGEST = float(scalings()[-1])  # norm of a step along the gradient
PRINTED = "0.25"  # grey of published values
# Percent of a problem's images that are of its larger class, where the classes are not equally large.
LARGER_SIGN = {(a, a + 1): 100 * max(SIGNS[a:a + 2]) / sum(SIGNS[a:a + 2]) for a in range(len(SIGNS) - 1)}
SATURATED = 25 * math.log(2)  # logits above it have a sigmoid of exactly 1 in 32-bit arithmetic
# Why an attack may fail, before `gradient_rows`.
WHY_NOT_ALL = f"""\
An attack can fail for two reasons. Along its direction the label may not change up to the largest norm tried,
although the boundary may be nearer in another direction. Or the loss gradient vanishes: for an image of the
second class with a logit above about {SATURATED:.0f} the output of the network is exactly 1 in 32-bit
arithmetic, which the paper's software uses. The error is then 0 and its gradient exactly zero. For the first
class the gradient vanishes only at a much higher confidence ({{ref}}`Section 7.1 <sutton-7-1>`).

A program that divides such a gradient by its norm gets NaN, which compares as the first class. Such a program
counts images of the second class as attacked and images of the first class as not attacked. The column "both
together, at most" is an upper limit of what it could count. The gradient of the *logit*, the value before the
sigmoid, has the same direction where both exist and never vanishes, so that it separates the two reasons."""


def name(problem, names):
    """The two classes of a problem by name: "cat – deer"."""
    return " – ".join(names[int(k)] for k in problem)


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
def joined(name, *some):
    """One `Results` of several with different runs, so that a page shows what is there of all of them."""
    parts = {part: {n: value for results in some for n, value in getattr(results, part).items()}
             for part in ("published", "recorded", "outdated", "labels", "own")}
    sizes = dict.fromkeys(size for results in some for size in results.sizes)
    return Results(name, sizes=tuple(sizes), **parts)


def scale_words(units, of):
    """A sentence on the problems and images that the results of a page rest on."""
    total = tables.counted(units)
    return (f"{len(units)} of {counted(of, 'problem')} {'is' if len(units) == 1 else 'are'} measured, on "
            f"training and test images together: {total['known']:,} of {total['images']:,} images are "
            f"correctly classified, {total['tried']:,} of these were attacked, {total['attackable']:,} of "
            f"them with success, and {total['perturbed']:,} of the attackable images were perturbed at "
            f"random.\n\n{marks_in_words(units)}")


def marks_in_words(units):
    """What the marks in the tables mean, and what they leave out."""
    few = min((n for u in measured(units).values() for s in tables.SPLITS
               if (n := tables.disturbed(DELTAS[0])(u[s])["of"])), default=None)
    noise = ("" if few is None else
             f" A share of labels flipped by noise rests on {few} images or more: 0 of {few} is compatible "
             f"with every share up to {in_percent(percentage(0, few)['high'])} (95% interval), so that ✓ at "
             "0.00 is weak evidence.")
    return ("In the tables, ✓ means that all published digits agree, and ? that the published value lies in "
            "the 99% interval of our share, which rests on a sample of the images. ✗ means that the value "
            "differs; for mean norms and accuracies only digits are compared. One network is trained for "
            "each problem. Networks of other seeds differ by an amount that the marks do not cover, so that "
            f"✗ alone does not contradict the paper's network.{noise}")


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
                   **{f"random_{d}": f"label flipped by noise, {d} × the norm, % (95% interval)"
                      for d in DELTAS}}


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
                   "margin": "absolute logit of the attackable, median"}


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
            f"have a loss gradient of exactly zero. Along the gradient of the logit {logit:,} keep their "
            "class: in this direction the label does not change up to the largest norm tried, "
            f"{LARGEST:g}.")


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
    """How well the nets know the test images beside the paper's, and which training failed."""
    known = {p: (tables.accuracy(u["test"])["percent"], printed[p]["test"])
             for p, u in measured(units).items() if p in printed}
    if not known:
        return "No network is measured yet."
    ours, theirs = (" to ".join(f"{v:.2f}%" for v in sorted({min(each), max(each)}))
                    for each in zip(*known.values()))
    ends = [end(here - there for here, there in known.values()) for end in (min, max)]
    behind = " to ".join(dict.fromkeys(f"{off:+.2f}" for off in ends))
    failed = [name(p, names) for p in measured(units) if p not in measured(learned(units, larger))]
    lost = (f" The training on {' and '.join(failed)} failed: that network is hardly better than one that "
            "always predicts the larger class. It stays in the tables; means and sums leave it out."
            if failed else "")
    return (f"Test accuracy is {ours} over {counted(len(known), 'network')} (paper, same problems: "
            f"{theirs}); ours minus published is {behind} points.{lost}")


def of_all(units, delta=10):
    """The mean over problems of the share of *all* attacked images that the attack flips and noise flips too.

    Noise was tried on some of the attackable images; the share among them counts for the others.
    """
    both = [(tables.attacked(u["test"])["percent"], tables.disturbed(delta)(u["test"])["percent"])
            for u in measured(units).values()]
    found = [a * (d or 0) / 100 for a, d in both if a is not None and (d is not None or a == 0)]
    return float(np.mean(found)) if found else None


def logit_share(part):
    """The share of attackable images along the gradient of the logit, in percent."""
    return part["logit_attack"]["susceptibility"]["percent"]


def mean_rows(units, printed):
    """Rows of a table of our own: means over the problems, their range, the images, the published means."""
    parts, theirs, made = [u["test"] for u in measured(units).values()], averages(units, printed), []
    tried = [p for p in parts if p["tried"]]
    drawn = [p for p in tried if tables.disturbed(DELTAS[0])(p)["of"]]
    for words, some, of, images, paper in (
            ("attackable along the loss gradient", tried, lambda p: tables.attacked(p)["percent"],
             lambda p: p["tried"], theirs["attack"]),
            ("attackable along the gradient of the logit", tried, logit_share, lambda p: p["tried"], None),
            ("attackable, if every zero gradient counts (upper limit)", tried, with_zero,
             lambda p: p["tried"], None),
            *((f"label flipped by noise, δ = {d}", drawn, lambda p, d=d: tables.disturbed(d)(p)["percent"],
               lambda p, d=d: tables.disturbed(d)(p)["of"], theirs[d]) for d in DELTAS)):
        if some:
            made.append({"share": words, "ours": in_percent(np.mean([of(p) for p in some])),
                         "ends": ends_in_words([of(p) for p in some]), "of": sum(map(images, some)),
                         "published": None if paper is None else in_percent(paper)})
    return made


def ends_in_words(shares):
    """The range of shares: "2.0% to 5.0%"; one share where all are equal."""
    return " to ".join(dict.fromkeys(in_percent(end(shares)) for end in (min, max)))


def shares_in_words(units, printed):
    """What `mean_rows` leaves out: the largest perturbations among all images, and in how many problems."""
    delta = DELTAS[-1]
    found = [share for u in measured(units).values()
             if (share := tables.disturbed(delta)(u["test"])["percent"]) is not None]
    if not found:
        return "No image was perturbed at random."
    theirs = [row["test"] for row in printed[delta].values()]
    return (f"At δ = {delta} noise flips the label of more than half of the attackable test images in "
            f"{sum(share > 50 for share in found)} of {counted(len(found), 'problem')} (published: in "
            f"{sum(share > 50 for share in theirs)} of {len(theirs)}). Counting images without an attack as "
            f"unflipped, noise flips the label of {in_percent(of_all(units))} of all correctly classified "
            "images, on average over the problems.")


def show_means(run, slug, units, printed, names, right, larger=None):
    """Show the means over the problems whose training succeeded, and how well the networks know the images.

    printed, right   the published shares and accuracies, see `averages` and `learned_in_words`
    """
    run.tell(units, lambda u: learned_in_words(u, right, names, larger))
    run.extra(slug, units, lambda u: mean_rows(learned(u, larger), printed),
              "Means over the measured problems, test images. Noise is tried on attackable images only.",
              header={"share": "share of test images", "ours": "mean", "ends": "by problem", "of": "images",
                      "published": "published, same problems"})
    run.tell(units, lambda u: shares_in_words(learned(u, larger), printed))


def norms_in_words(item, rows, norm="Euclidean"):
    """How our mean norms lie to the published ones, and how many differ by sampling error alone.

    norm  its name; of a table of several norms the Euclidean one is told of
    """
    theirs, ours = ({(r["class_a"], r["class_b"], r["split"]): r for r in some
                     if r.get("norm", "l2") == "l2" and r["mean"] is not None} for some in (item.rows, rows))
    both = [(ours[key], theirs[key]["mean"]) for key in ours if key in theirs]
    if not both:
        return "No attack was found."
    ratios = [100 * r["mean"] / paper for r, paper in both]
    near = sum(abs(r["mean"] - paper) <= 2 * r["std"] / math.sqrt(r["count"]) for r, paper in both)
    return (f"Our mean {norm} norm is {min(ratios):.0f}% to {max(ratios):.0f}% of the published one "
            f"({counted(len(both), 'cell')}, training and test images). In {near or 'none'} of these cells "
            "the published mean lies within two standard errors of ours, which the marks ignore.")


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
    told = ends_in_words(shares) if shares else ""
    return f"{told} by pair; " if " to " in told else ""


def minute_words(units, printed, of, images, failed=0, full=0, cause=None, fitted=False):
    """A page in one minute: attacked, perturbed at random, the published values, what they do not show.

    of       how many pairs the page has
    failed   how many more networks are measured whose training failed
    full     training images that a problem has; a network that learned from fewer is told of
    cause    a sentence on which networks these are; None tells their reading of Table 2
    fitted   whether the networks were chosen by their attackable share
    """
    question = (f"How many correctly classified {images} does a gradient step of norm at most {LARGEST:g} "
                "misclassify, and how many does random noise?")
    if averages(units)["attack"] is None:
        return f"{question} The networks of this run classify too few images correctly to attack one."
    ours, theirs = mean_shares(units, printed)
    parts = [u["test"] for u in measured(units).values() if u["test"]["tried"]]
    least, most = ([noise for p in parts if (noise := tables.disturbed(d)(p))["of"]]
                   for d in (DELTAS[0], DELTAS[-1]))
    learned_from = min(tables.accuracy(u["train"])["of"] for u in measured(units).values())
    several = len(units) > 1
    more = ("; the network was chosen by this share, so agreement is no evidence" if fitted else
            "; along the logit's gradient, which never vanishes, "
            f"{in_percent(np.mean([logit_share(p) for p in parts]))}" if any(p["saturated"] for p in parts)
            else "")
    of_pairs = f"{'mean of ' if several else ''}{len(units)} of {counted(of, 'pair')}" + (
        f"; {counted(failed, 'failed training')} left out" if failed else "") + (
        f"; {'at least ' if several else ''}{learned_from:,} of {full:,} training images"
        if learned_from < full else "")
    attack = (f"The step misclassifies {ours['attack']} ({of_pairs}; n = {sum(p['tried'] for p in parts):,}; "
              f"{spread([tables.attacked(p)['percent'] for p in parts])}paper, same "
              f"{'pairs' if several else 'pair'}: {theirs['attack']}){more}.")
    cause = reading_in_words(units) if cause is None else cause
    if not least:
        return " ".join(filter(None, (question, attack, "None was perturbed at random.", cause)))
    own = percentage(*(sum(each[key] for each in least) for key in ("hits", "of")))
    noise = (f"Of {own['of']:,} attackable images, {int(units.draws.max()):,} noise samples of the attack's "
             f"own norm flip {own['hits'] or 'none'} (paper, δ = {DELTAS[0]} assumed: "
             f"{theirs[DELTAS[0]]}), those of "
             f"{DELTAS[-1]} times that norm {ours[DELTAS[-1]]} ({'mean; ' if several else ''}"
             f"{spread([each['percent'] for each in most]).replace(' by pair', '')}paper: "
             f"{theirs[DELTAS[-1]]}).")
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


def minute(run, units, printed, images, *, larger=None, full=0, cause=None, fitted=False):
    """Show a page in one minute: the shares over the networks whose training succeeded, in words and as bars.

    larger  see `learned`; images, full, cause and fitted: see `minute_words`
    """
    chosen = run.best(units)
    if len(chosen):
        good = learned(chosen, larger)
        run.minute(
            minute_words(good, printed, len(units.published), images, len(chosen) - len(good), full, cause,
                         fitted),
            picture=bars(good, printed),
            alt="Five bars: images whose label the attack flips, and those whose label noise flips, at one "
                "to ten times the norm of the attack. Lines mark the published values.")
