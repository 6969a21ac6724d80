"""What the pages of Section 7.2 show of their problems, in words, rows and bars.

`units` is a DataFrame with a row a problem (`tables`), `problems` the pairs of classes that
have a place in a picture, measured or not, and `names` the classes' names by index.
"""
import math

import matplotlib.pyplot as plt
import numpy as np

from papers.sutton import tables
from papers.sutton.experiments import DELTAS, SIGNS
from report import display
from shared.attacks.line import scalings
from shared.susceptibility import percentage

DATASETS = {"cifar10": "CIFAR-10", "fashion_mnist": "Fashion-MNIST", "gtsrb": "GTSRB"}   # of Table 1
SETS = {"train": "training images", "test": "test images"}
LARGEST = float(scalings()[-1])  # norm of a step along the gradient
PRINTED = "0.25"  # grey of published values
# Percent of a problem's images that are of its larger class, where the classes are not equally large.
LARGER_SIGN = {(a, a + 1): 100 * max(SIGNS[a:a + 2]) / sum(SIGNS[a:a + 2]) for a in range(len(SIGNS) - 1)}
SATURATED = 25 * math.log(2)  # logits above it have a sigmoid of exactly 1 in 32-bit arithmetic
# Why an attack may fail.
WHY_NOT_ALL = f"""\
An attack can fail for two reasons. Along its direction the label may not change up to the largest norm tried,
although the boundary may be nearer in another direction. Or the loss gradient vanishes: for an image of the
second class with a logit above about {SATURATED:.0f} the output of the network is exactly 1 in 32-bit
arithmetic, which the paper's software uses. The error is then 0 and its gradient exactly zero. For the first
class the gradient vanishes only at a much higher confidence ({{ref}}`Section 7.1 <sutton-7-1>`).

A program that divides such a gradient by its norm gets NaN, which compares as the first class. Such a program
counts images of the second class as attacked and images of the first class as not attacked. The row "if
every zero gradient counts" is an upper limit of what it could count. The gradient of the *logit*, the value
before the sigmoid, has the same direction where both exist and never vanishes, so that it separates the two
reasons."""


def name(problem, names):
    """The two classes of a problem by name: "cat – deer"."""
    return " – ".join(names[int(k)] for k in problem)


def measured(units):
    """`{(class_a, class_b): unit}` of the problems that are there."""
    return {(u["class_a"], u["class_b"]): u for u in units.to_dict("records")}


def example(units, label):
    """What the run of Figures 1, 11 and 12 keeps of one image of class 0 or 1; None where none was found."""
    return next((panel for panels in units.panels for panel in panels if panel["label"] == label), None)


def label_problems(ax, problems, names):
    """The names of the problems under a picture."""
    ax.set_xticks(range(len(problems)), [name(p, names) for p in problems], rotation=25, ha="right",
                  rotation_mode="anchor")


# ---- how much was measured -------------------------------------------------------------------------------
def scale_words(units, of):
    """On how many problems and images the results of a page rest, and what the marks in its tables mean."""
    total, parts = tables.counted(units), [u[s] for u in units.to_dict("records") for s in tables.SPLITS]
    few = min((n for part in parts if (n := tables.disturbed(DELTAS[0])(part)["of"])), default=None)
    noise = ("" if few is None else
             f" A share of labels flipped by noise rests on {few} images or more: 0 of {few} is compatible "
             f"with every share up to {in_percent(percentage(0, few)['high'])} (95% interval), so that ✓ at "
             "0.00 is weak evidence.")
    return (f"{len(units)} of {counted(of, 'problem')} {'is' if len(units) == 1 else 'are'} measured, on "
            f"training and test images together: {total['known']:,} of {total['images']:,} images are "
            f"correctly classified, {total['tried']:,} of these were attacked, {total['attackable']:,} of "
            f"them with success, and {total['perturbed']:,} of the attackable images were perturbed at "
            "random.\n\nIn the tables, ✓ means that all published digits agree, and ? that the published "
            "value lies in the 99% interval of our share, which rests on a sample of the images. ✗ means "
            "that the value differs; for mean norms and accuracies only digits are compared. One network is "
            "trained for each problem. Networks of other seeds differ by an amount that the marks do not "
            f"cover, so that ✗ alone does not contradict the paper's network.{noise}")


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


def interval(share):
    """A share with its 95% interval: "12.3 (10.1 to 14.8)"."""
    if share["percent"] is None:
        return "no image"
    return f"{share['percent']:.2f} ({share['low']:.2f} to {share['high']:.2f})"


def interval_rows(units, problems, names):
    """Rows of a table of our own: the shares of each problem and set, with 95% intervals and the images."""
    return [{"problem": name(problem, names), "images": SETS[split],
             "tried": tables.attacked(unit[split])["of"], "attack": interval(tables.attacked(unit[split])),
             "perturbed": unit[split]["random"][0]["susceptibility"]["of"],
             **{f"random_{d}": interval(tables.disturbed(d)(unit[split])) for d in DELTAS}}
            for problem, unit in measured(units).items() if problem in problems for split in tables.SPLITS]


def show_intervals(run, slug, units, problems, names):
    """Show `interval_rows`."""
    run.extra(slug, units, lambda u: interval_rows(u, problems, names),
              "Shares with exact 95% intervals (Clopper and Pearson) and the images they rest on, for one "
              "trained network: they do not cover the difference between networks",
              header={"problem": "problem", "images": "set", "tried": "images attacked",
                      "attack": "attackable, % (95% interval)", "perturbed": "images perturbed",
                      **{f"random_{d}": f"label flipped by noise, {d} × the norm, % (95% interval)"
                         for d in DELTAS}})


# ---- where attacks fail ----------------------------------------------------------------------------------
def with_zero(part):
    """The attackable share, in percent, if an image whose gradient is exactly zero counts as attackable."""
    return 100 * (tables.attacked(part)["hits"] + part["saturated"]) / part["tried"]


def failures_in_words(units, names, larger=None):
    """Why an attack can fail; how many attacked images keep their class where the training succeeded."""
    good = measured(learned(units, larger))
    parts = [u["test"] for u in good.values()]
    tried = sum(tables.attacked(p)["of"] for p in parts)
    if not tried:
        return f"{WHY_NOT_ALL}\n\nNo test image was attacked."
    kept, logit = (tried - sum(p[way]["susceptibility"]["hits"] for p in parts)
                   for way in ("attack", "logit_attack"))
    failed = " and ".join(name(p, names) for p in measured(units) if p not in good)
    without = f"Without {failed}, whose training failed: of" if failed else "Of"
    return (f"{WHY_NOT_ALL}\n\n{without} {counted(tried, 'test image')} attacked, {kept:,} keep their class. "
            f"{sum(p['saturated'] for p in parts):,} of all have a loss gradient of exactly zero. Along the "
            f"gradient of the logit {logit:,} keep their class: in this direction the label does not change "
            f"up to the largest norm tried, {LARGEST:g}.")


def counted(count, word):
    """"1 problem", "2 problems"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


# ---- the page in one picture -----------------------------------------------------------------------------
def averages(units, printed=None):
    """`{"attack": percent, 1: ..., 10: ...}`: the mean share over the problems that are there.

    printed   {"attack" or delta: {(class_a, class_b): printed row}}: the printed mean over the same problems
    """
    means = {}
    for key, of in {"attack": tables.attacked, **{d: tables.disturbed(d) for d in DELTAS}}.items():
        shares = {p: of(u["test"])["percent"] for p, u in measured(units).items()}
        shares = {p: share for p, share in shares.items() if share is not None}
        if printed is not None:
            shares = {p: printed[key][p]["test"] for p in shares if p in printed[key]}
        means[key] = float(np.mean(list(shares.values()))) if shares else None
    return means


def mean_shares(units, printed):
    """`averages`, ours and printed, as texts."""
    both = averages(units), averages(units, printed)
    return [{key: in_percent(share) for key, share in each.items()} for each in both]


def has_learned(problem, right, larger=None):
    """Whether a network is two points better on its training images than predicting the larger class for all.

    right    percent of the training images that it classifies correctly
    larger   {problem: percent of its images that are of the larger class}; 50 where it is not named. Among
             training images alone this share is up to 1.2 points off, by which images are held out
    """
    return right > (larger or {}).get(problem, 50) + 2


def learned(units, larger=None):
    """Those units whose network `has_learned` its problem; all units where none has, as in small runs."""
    kept = [has_learned((u["class_a"], u["class_b"]), tables.accuracy(u["train"])["percent"], larger)
            for u in units.to_dict("records")]
    return units[kept] if any(kept) else units


def learned_in_words(units, printed, names, larger=None):
    """The test accuracies beside the paper's, and which training failed."""
    pairs = [(tables.accuracy(u["test"])["percent"], printed[p]["test"]) for p, u in measured(units).items()]
    ours, published = (" to ".join(f"{v:.2f}%" for v in sorted({min(right), max(right)}))
                       for right in zip(*pairs))
    differences = [here - there for here, there in pairs]
    behind = " to ".join(dict.fromkeys(f"{end(differences):+.2f}" for end in (min, max)))
    failed = [name(p, names) for p in measured(units) if p not in measured(learned(units, larger))]
    lost = (f" The training on {' and '.join(failed)} failed: that network is hardly better than one that "
            "always predicts the larger class. It stays in the tables; means and sums leave it out."
            if failed else "")
    return (f"Test accuracy is {ours} over {counted(len(pairs), 'network')} (paper, same problems: "
            f"{published}); ours minus published is {behind} points.{lost}")


def logit_share(part):
    """The share of attackable images along the gradient of the logit, in percent."""
    return part["logit_attack"]["susceptibility"]["percent"]


def mean_rows(units, printed):
    """Rows of a table of our own: means over the problems, their range, the images, the published means."""
    parts, published, rows = [u["test"] for u in units.to_dict("records")], averages(units, printed), []
    tried = [p for p in parts if p["tried"]]
    drawn = [p for p in tried if tables.disturbed(DELTAS[0])(p)["of"]]
    attack = [("attackable along the loss gradient", lambda p: tables.attacked(p)["percent"], "attack"),
              ("attackable along the gradient of the logit", logit_share, None),
              ("attackable, if every zero gradient counts (upper limit)", with_zero, None)]
    noise = [(f"label flipped by noise, δ = {d}", lambda p, d=d: tables.disturbed(d)(p)["percent"], d)
             for d in DELTAS]
    for measures, over, images in ((attack, tried, lambda p: p["tried"]),
                                   (noise, drawn, lambda p: tables.disturbed(DELTAS[0])(p)["of"])):
        for words, of, key in measures if over else ():
            shares = [of(p) for p in over]
            rows.append({"share": words, "ours": in_percent(np.mean(shares)), "ends": ends_in_words(shares),
                         "of": sum(map(images, over)),
                         "published": in_percent(published[key]) if key else None})
    return rows


def ends_in_words(shares):
    """The range of shares: "2.0% to 5.0%"; one share where all are equal."""
    return " to ".join(dict.fromkeys(in_percent(end(shares)) for end in (min, max)))


def show_means(run, slug, units, printed, names, right, larger=None):
    """Show the means over the problems whose training succeeded, and how accurate the networks are.

    printed, right   the published shares and accuracies, see `averages` and `learned_in_words`
    """
    run.tell(units, lambda u: learned_in_words(u, right, names, larger))
    run.extra(slug, units, lambda u: mean_rows(learned(u, larger), printed),
              "Means over the measured problems, test images. Noise is tried on attackable images only.",
              header={"share": "share of test images", "ours": "mean", "ends": "by problem", "of": "images",
                      "published": "published, same problems"})
    run.tell(units, lambda u: failures_in_words(u, names, larger))


def norms_in_words(item, rows, norm="Euclidean"):
    """How our mean norms lie to the published ones, and how many differ by sampling error alone.

    norm  its name; of a table of several norms the Euclidean one counts
    """
    published, ours = ({(r["class_a"], r["class_b"], r["split"]): r for r in some if r["mean"] is not None
                        and r.get("norm", "l2") == "l2"} for some in (item.rows, rows))
    both = [(ours[key], published[key]["mean"]) for key in ours if key in published]
    if not both:
        return "No attack was found."
    ratios = [100 * r["mean"] / paper for r, paper in both]
    near = sum(abs(r["mean"] - paper) <= 2 * r["std"] / math.sqrt(r["count"]) for r, paper in both)
    return (f"Our mean {norm} norm is {min(ratios):.0f}% to {max(ratios):.0f}% of the published one "
            f"({counted(len(both), 'cell')}, training and test images). In {near or 'none'} of these cells "
            "the published mean lies within two standard errors of ours, which the marks ignore.")


def minute_words(units, printed, of, images, failed=0, full=0, cause="", fitted=False):
    """A page in one minute: attacked, perturbed at random, the published values, what they do not show.

    of       how many pairs the page has
    failed   how many more networks are measured whose training failed
    full     training images that a problem has; a network that learned from fewer is named
    cause    a sentence on which networks these are
    fitted   whether the networks were chosen by their attackable share
    """
    question = (f"How many correctly classified {images} does a gradient step of norm at most {LARGEST:g} "
                "misclassify, and how many does random noise?")
    ours, published = mean_shares(units, printed)
    parts = [u["test"] for u in units.to_dict("records") if u["test"]["tried"]]
    if not parts:
        return f"{question} The networks of this run classify too few images correctly to attack one."
    images_train = min(tables.accuracy(u["train"])["of"] for u in units.to_dict("records"))
    about = "; ".join(filter(None, (
        f"mean of {len(units)} of {counted(of, 'pair')}",
        f"{counted(failed, 'failed training')} left out" if failed else "",
        f"at least {images_train:,} of {full:,} training images" if images_train < full else "",
        f"n = {sum(p['tried'] for p in parts):,}",
        f"{ends_in_words([tables.attacked(p)['percent'] for p in parts])} by pair",
        f"paper, same pairs: {published['attack']}")))
    more = ("; the network was chosen by this share, so agreement is no evidence" if fitted else
            "; along the logit's gradient, which never vanishes, "
            f"{in_percent(np.mean([logit_share(p) for p in parts]))}" if any(p["saturated"] for p in parts)
            else "")
    least, most = ([share for p in parts if (share := tables.disturbed(d)(p))["of"]]
                   for d in (DELTAS[0], DELTAS[-1]))
    noise = "None was perturbed at random."
    if least:
        own = percentage(*(sum(share[key] for share in least) for key in ("hits", "of")))
        noise = (f"Of {own['of']:,} attackable images, {int(units.draws.max()):,} noise samples of the "
                 f"attack's own norm flip {own['hits'] or 'none'} (paper, δ = {DELTAS[0]} assumed: "
                 f"{published[DELTAS[0]]}), those of {DELTAS[-1]} times that norm {ours[DELTAS[-1]]} (mean; "
                 f"{ends_in_words([share['percent'] for share in most])}; paper: {published[DELTAS[-1]]}).")
    return f"{question} The step misclassifies {ours['attack']} ({about}){more}. {noise} {cause}".rstrip()


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


def minute(run, units, printed, images, *, larger=None, full=0, cause="", fitted=False):
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
