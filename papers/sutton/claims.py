"""How each printed claim of Sutton et al. is judged; see `report.claims`."""
import operator
import re
from statistics import NormalDist

import numpy as np

from papers.sutton import experiments, figures, tables
from papers.sutton.experiments import DELTAS, PAIRS
from papers.sutton.figures import DATASETS, LARGER_SIGN, counted, in_percent
from papers.sutton.sketches import FINE
from papers.sutton.theorem import PICTURE, TENTH, power
from report import reference
from report.claims import FEW_IMAGES, Claims, NoValue
from report.display import number
from report.prose import mean, median, words

PAPER = reference.paper("sutton")
CLASSES = experiments.CLASSES["cifar10"]
NONE = "no problem has a value"


claim = Claims()


def needed(numbers, why=NONE):
    """The numbers, all of which have a value; else NoValue."""
    numbers = list(numbers)
    if not numbers or None in numbers:
        raise NoValue(why)
    return numbers


def values(rows, column):
    """The numbers of a column that are there; NoValue if none is."""
    numbers = rows[column].dropna().astype(float)
    if numbers.empty:
        raise NoValue(NONE)
    return numbers


def stated(item, phrase):
    """The numbers in the claim of a reference item that has these words."""
    text, = (c for c in item.claims if phrase in c)
    return [float(n) for n in re.findall(r"\d+(?:\.\d+)?", text)]


# ---- Section 3: the paradox ------------------------------------------------------------------------------
@claim("figure-1", "Most images in train")
def most_fall(data):
    """Not judged: the network of this pair was chosen by the published share, among others."""
    needed((v[k] for v in data.values() for k in ("attacked_pct", "median_linf")), "no attack")
    text = "; ".join(f"{figures.SETS[s]}: {words(v['attacked_pct'])}, median largest change "
                     f"{words(v['median_linf'], '')}" for s, v in data.items())
    return None, f"{text}; the network was chosen by the published share, so that this is not judged"


@claim("figure-1", "order of magnitude larger")
def mostly_stay(data):
    """Noise of ten times the norm of the attack flips less than half of the images, or surely more."""
    alone = needed((v["single_10_pct"] for v in data.values()), "no image was perturbed")
    flipped = ", ".join(f"{words(v['turned_10_pct'])} of the {figures.SETS[s]} (95% interval "
                        f"{words(v['turned_10_interval'][0])} to {words(v['turned_10_interval'][1])})"
                        for s, v in data.items())
    text = (f"label flipped by at least one perturbation of up to ten times the norm: {flipped}; the first "
            "one alone flips the label of " + " and ".join(
                f"{words(v['single_10_pct'])} of the {figures.SETS[s]}" for s, v in data.items()))
    intervals = [v["turned_10_interval"] for v in data.values()]
    if max(alone) < 50 < max(low for low, _ in intervals):
        return None, f"{text}: whether it holds depends on which of the two is meant"
    if any(low <= 50 <= high for low, high in intervals):
        return None, f"{FEW_IMAGES}; {text}"
    return all(v["turned_10_pct"] < 50 for v in data.values()), text


def of_datasets(row):
    """{data set: {"train", "test"}} of a row of Table 1, all of which are there."""
    pairs = {d: {s: row[d].get(s) for s in tables.SPLITS} for d in DATASETS}
    needed((v for pair in pairs.values() for v in pair.values()), "not all data sets are there")
    return pairs


@claim("table-1", "Networks are accurate", own=True)
def paradox(rows):
    """Everywhere: accuracy above 90%, more than half attackable, less than half flipped at five times."""
    right, attacked, flipped = (
        of_datasets(rows[(rows.quantity == quantity) & (rows.delta_inferred.fillna(0) == delta)].iloc[0])
        for quantity, delta in (("accuracy", 0), ("adversarial_susceptibility", 0),
                                ("random_susceptibility", 5)))
    text = "; ".join(f"{name}: accuracy {words(right[d]['test'])}, {words(attacked[d]['test'])} "
                     f"attackable, {words(flipped[d]['test'])} flipped at random"
                     for d, name in DATASETS.items())
    return all(right[d][s] > 90 and attacked[d][s] > 50 and flipped[d][s] < 50
               for d in DATASETS for s in tables.SPLITS), (
        f"test images, {text} (“accurate” is read as above 90%, “highly” and “mostly” as more than half)")


@claim("table-1", "Train and test data", own=True)
def sets_differ_little(rows):
    """Training and test entries less than ten points apart in every row.

    A difference of random susceptibilities beyond that decides nothing: some hundred images have an interval
    that is as wide.
    """
    apart, certain = dict.fromkeys(DATASETS, 0.0), 0.0
    for row in rows[~rows.quantity.isin(("input_dimension", "number_of_classes"))].to_dict("records"):
        for d, pair in of_datasets(row).items():
            gap = abs(pair["train"] - pair["test"])
            apart[d] = max(apart[d], gap)
            if row["quantity"] != "random_susceptibility":
                certain = max(certain, gap)
    text = ", ".join(f"{DATASETS[d]} {number(gap, digits=2)} points" for d, gap in apart.items())
    text = f"largest difference: {text} (“nearly alike” is read as less than ten)"
    if certain < 10 <= max(apart.values()):
        return None, f"{FEW_IMAGES}: random susceptibilities alone reach ten points; {text}"
    return max(apart.values()) < 10, text


claim("table-1", "ImageNet random susceptibility")(
    "measured on a proxy only, which decides nothing on ResNet50 and VGG19; its values stand above")


# ---- Sections 4 and 5: the theorems ----------------------------------------------------------------------
VANISHED = -6       # log10 of what we take "virtually 0" to mean
CONVERGED = 1e-3    # what we take "converged to 0" to mean at the largest n


@claim("theorem-1", "Exponentially many")
def exponentially_many(data):
    """Does the logarithm of the draws needed grow at least at the rate of Theorem 1 with the dimension?"""
    rate = -0.5 * np.log10(1 - TENTH**2)
    needed = {int(n): e for n, e in data["log10_draws_needed"].items()}
    (least, first), *_, (most, last) = needed.items()
    return min(e - np.log10(2) - n * rate for n, e in needed.items()) >= 0, (
        f"for a flat boundary and noise of {1 / TENTH:g} times the norm of the attack, the number of samples "
        f"needed (table below) rises from {power(first)} (n = {least:,}) to {power(last)} "
        f"(n = {most:,}); it is never below $2 \\cdot 10^{{{rate:.5f} n}}$, the bound of Theorem 1")


def gone(data, *dimensions):
    """Is the error below the limit in these dimensions?"""
    logs = {n: data["log10_error"][str(n)] for n in dimensions}
    return max(logs.values()) < VANISHED, f"error at ε = {data['epsilon']:g}: " + ", ".join(
        f"$10^{{{e:.1f}}}$ at n = {n:,}" for n, e in logs.items())


claim("theorem-4", "moderate dimension")(lambda data: gone(data, PICTURE))
claim("theorem-4", "3072 attributes")(lambda data: gone(data, PICTURE, 196_608))


@claim("theorem-6", "50 times larger")
@claim("figure-4", "Convergence persists")
def persists(data):
    """Is the largest noise at least 50 times the distance of the centres, and its effect gone at the end?"""
    largest = max(data["noise"].values(), key=lambda v: v["over_distance_of_centres"])
    return (largest["over_distance_of_centres"] >= 50 - 1e-9 and largest["exact_at_end"] < CONVERGED,
            f"noise {largest['over_distance_of_centres']:g} times the distance of the centres: probability "
            f"{largest['exact_at_10']:.3f} at n = 10, {largest['exact_at_picture']:.3f} at n = {PICTURE:,}, "
            f"{number(float(largest['exact_at_end']), digits=2)} at n = {FINE[-1]:,}")


@claim("figure-4", "accuracy bound is sharp")
def sharp(data):
    """Does the bound have the exact exponent, and is the error gone?"""
    vanished, error = gone(data, PICTURE)
    ratio = data["exponent_of_bound_over_exact"]
    return 0.95 <= ratio <= 1 and vanished, (
        f"exponent of the bound over the exact one {ratio:.4f} at n = {FINE[-1]:,}; {error}")


@claim("figure-4", "loose in low dimension")
def loose(data):
    """Is the bound far from the truth in ten dimensions, and small at the end?"""
    ratios = {k: v["ratio_at_10"] for k, v in data["noise"].items()}
    end = max(v["bound_at_end"] for v in data["noise"].values())
    text = ", ".join(f"{r:.1f} (δ = {k})" for k, r in ratios.items())
    return min(ratios.values()) > 1.5 and end < CONVERGED, (
        f"bound over exact at n = 10: {text}; largest bound at n = {FINE[-1]:,}: "
        f"{number(float(end), digits=2)} (“loose” is read as more than 1.5 times the exact value at "
        "n = 10; the ratio grows with n, the difference falls)")


@claim("theorem-19", "zero margin")
def stays(data):
    """Does the bound without a margin keep its size over the dimensions?"""
    least, tried = min(data["bound_without_margin"]), data["dimensions"]
    return least > 0.1, (f"the bound at ε = 0 is {least:.4g} or more for n from {tried[0]} to {tried[-1]:,}")


@claim("figure-6", "roughly constant")
def roughly_constant(data):
    """Do random trials without a margin vary by less than half of the largest value over the dimensions?"""
    trials, tried = data["trials_without_margin"], data["dimensions"]
    text = "; ".join(f"δ = {k}: {min(p):.4f} to {max(p):.4f} (exact: "
                     + " to ".join(f"{end:.4f}" for end in data["exact_without_margin"][k]) + ")"
                     for k, p in trials.items())
    return all(min(p) > 0.01 and max(p) - min(p) < 0.5 * max(p) for p in trials.values()), (
        f"random trials: {text} over n from {tried[0]} to {tried[-1]:,}")


@claim("theorem-20", "what hides")
def margin_hides(data):
    """Does a margin alone decide whether noise flips labels, while attacks work with it, too?"""
    without, margin = (data[f"flipped_{k}_margin"] for k in ("without", "with"))
    low, *_, high = sorted(without, key=float)
    return (min(without.values()) > 0.1 and max(margin.values()) < 1e-3
            and data["attackable_with_margin"] > 0.999,
            f"n = {data['n']:,}, δ from {low} to {high}: noise flips at least {min(without.values()):.3f} of "
            f"the points without a margin and at most {number(float(max(margin.values())), digits=2)} with "
            f"ε = {data['epsilon']:g}, where an attack 0.1 longer than ε still works on "
            f"{data['attackable_with_margin']:.4f} of them (at n = {PICTURE:,} noise of δ = {high} still "
            f"flips {data['flipped_at_picture'][high]:.3f})")


# ---- Section 7.2.1: CIFAR-10 -----------------------------------------------------------------------------
def of_classes(row):
    """The two classes of a row, in words."""
    return f"{CLASSES[int(row.class_a)]} and {CLASSES[int(row.class_b)]}"


def near_quoted(item, phrase, split):
    """A predicate: our mean over the problems lies within the quoted standard deviation of the quoted one.

    The problems by which the network was chosen do not count.
    """
    quoted, spread = stated(PAPER[item], phrase)[:2]

    def judged(rows):
        chosen_by = [pair in PAIRS.values() for pair in zip(rows.class_a, rows.class_b)]
        ours = values(rows[np.logical_not(chosen_by)], split)
        cells = np.mean([r[split] for r in PAPER[item].rows])
        text = (f"mean {ours.mean():.2f}%, standard deviation {ours.std(ddof=0):.2f}, smallest "
                f"{ours.min():.2f}% ({of_classes(rows.loc[ours.idxmin()])}), over "
                f"{counted(len(ours), 'problem')} that had no part in the choice of the network; the mean of "
                f"the published cells is {cells:.2f}%")
        if abs(cells - quoted) > spread:
            return None, (f"{text}, farther from the quoted {quoted:g}% than its standard deviation: "
                          "networks that give the published table would fail, so this is not judged")
        return abs(ours.mean() - quoted) <= spread, text
    return judged


for _quoted in (("table-4", "Mean training accuracy", "train"), ("table-4", "Mean test accuracy", "test"),
                ("table-5", "Mean training susceptibility", "train"),
                ("table-5", "Mean test susceptibility", "test")):
    claim(*_quoted[:2])(near_quoted(*_quoted))


@claim("table-5", "Both minima")
def both_minima(rows):
    """Whether frog and ship have the fewest attackable images, in both sets."""
    a, b = stated(PAPER["table-5"], "Both minima")
    least = [rows.loc[values(rows, split).idxmin()] for split in tables.SPLITS]
    text = " and ".join(f"{of_classes(r)} ({r[s]:.2f}%, {figures.SETS[s]})"
                        for r, s in zip(least, tables.SPLITS))
    return all((r.class_a, r.class_b) == (a, b) for r in least), f"fewest attackable images: {text}"


def in_most_problems(item, phrase, beyond, least, words):
    """A predicate: in both sets `least` holds for the share of problems beyond the level that is stated."""
    level, = stated(PAPER[item], phrase)

    def judged(rows):
        shares = {s: beyond(values(rows, s), level).mean() for s in tables.SPLITS}
        text = " and ".join(f"{100 * share:.0f}% of the problems ({figures.SETS[s]})"
                            for s, share in shares.items())
        return least(min(shares.values())), words.format(level=f"{level:g}%", text=text)
    return judged


claim("table-5", "vast majority")(in_most_problems(
    "table-5", "vast majority", operator.gt, lambda share: share >= 0.8,
    "more than {level} of the images can be attacked in {text} (“vast majority” is read as four of five)"))
claim("table-11", "five times")(in_most_problems(
    "table-11", "five times", operator.lt, lambda share: share > 0.5,
    "fewer than {level} of the labels are flipped in {text} (“typically” is read as in more than half)"))


CATS = [(2, 3), (3, 4)]     # problems of a cat


def of_cats(norms, cats):
    """(whether those of cats are the smallest, below half of the others' median; the norms of the others).

    norms   {problem: norm}
    cats    the problems of a cat among them
    """
    others = [norm for problem, norm in norms.items() if problem not in cats]
    if not others or not all(c in norms for c in cats):
        raise NoValue("not all of these problems are measured")
    return max(norms[c] for c in cats) < min(*others, np.median(others) / 2), others


@claim("table-6", "Smallest attacks", "table-5")
def smallest_of_birds(rows, shares):
    """Whether attacks on 2 vs 3 and 3 vs 4 are much smaller than on the other seven, their share typical."""
    near = tables.consecutive(rows).dropna(subset=["mean"])
    norm = near.groupby(["class_a", "class_b"])["mean"].mean().to_dict()
    common = tables.consecutive(shares).set_index(["class_a", "class_b"])[["train", "test"]].mean(axis=1)
    smaller, others = of_cats(norm, CATS)
    centre, spread = common.mean(), common.std(ddof=0)
    text = ", ".join(f"{figures.name(c, CLASSES)} {norm[c]:.2f} ({common[c]:.1f}% attackable)" for c in CATS)
    return smaller and bool((common[CATS] - centre).abs().max() <= spread), (
        f"means {text}; of the {len(others)} other problems {min(others):.2f} at least, "
        f"{np.median(others):.2f} in the middle; attackable in the mean of all {centre:.1f}%, standard "
        f"deviation {spread:.1f} (“much” is read as less than half of the middle, “typical” as within one "
        "standard deviation)")


@claim("table-6", "Train and test norms")
def norms_differ_little(rows):
    """Whether the means of training and test images differ by less than a tenth in the median problem."""
    means = rows.set_index(["class_a", "class_b", "split"])["mean"].astype(float).unstack()
    off = 100 * (means.test / means.train - 1).abs().dropna()
    needed(off)
    return off.median() < 10, (f"the means of test and training images differ by {off.median():.1f}% in the "
                               f"median problem, by {off.max():.1f}% at most (“hardly” is read as less "
                               "than 10% in the median)")


@claim("table-7", "representative")
def representative(rows):
    """Whether the quoted sum is a common maximum: the mean and two standard deviations, in most problems."""
    total, change, channels = stated(PAPER["table-7"], "representative")[1:]
    ends = values(rows, "mean") + 2 * values(rows, "std")
    below = (ends <= total).mean()
    return round(total / channels, 2) == change and below > 0.5, (
        f"{total:g} over {channels:,.0f} channels is {total / channels:.3f}; the mean plus two standard "
        f"deviations is below {total:g} in {100 * below:.0f}% of the problems and sets "
        f"(median {ends.median():.0f}; “representative maximum”, the paper's words, is read so)")


LIMIT = stated(PAPER["table-8"], "below 0.2")[-1]   # of the largest change of a channel, on CIFAR-10
CHANNELS = PAPER["table-4"].settings["input_dimension_d"]


@claim("table-8", "below 0.2")
def mostly_below(rows):
    """Whether more than half of the attacks of every problem stay below 0.2 in every channel."""
    share = values(rows, "below")
    return share.min() > 50, (f"{share.mean():.0f}% of the attacks stay below {LIMIT:g} on average over "
                              f"problems and sets, {share.min():.0f}% in the least of them")


def random_peak(n):
    """Largest change over mean change of a random direction in n dimensions (its median)."""
    return NormalDist().inv_cdf((1 + 0.5 ** (1 / n)) / 2) * np.sqrt(np.pi / 2)


@claim("table-8", "localised", "table-7")
def localised(rows, sums):
    """Whether the largest change over the mean change exceeds that of a random direction everywhere."""
    values(rows, "mean")
    both = rows.merge(sums, on=["class_a", "class_b", "split"], suffixes=("", "_sum")).dropna(
        subset=["mean", "mean_sum"])
    ratio = both["mean"] / (both.mean_sum / CHANNELS)
    usual = random_peak(CHANNELS)
    return ratio.min() > usual, (f"the largest change is {ratio.min():.1f} to {ratio.max():.1f} times the "
                                 f"mean change; that of a random direction is {usual:.1f} times")


@claim("figure-8", "bird vs cat")
@claim("figure-9", "bird vs cat")
@claim("figure-10", "bird vs cat")
def medians_of_birds(data):
    """Whether the two problems with cats have the smallest medians, below half of the others' middle."""
    cats = [figures.name(p, CLASSES) for p in CATS]
    medians = {p: [m for part in parts.values() if (m := part["median"]) is not None]
               for p, parts in data.items()}
    means = {p: np.mean(ms) for p, ms in medians.items() if ms}
    smaller, others = of_cats(means, cats)
    text = " and ".join(f"{number(means[c], digits=3)} ({c})" for c in cats)
    return smaller, (
        f"medians {text}; of the {len(others)} other problems {number(np.median(others), digits=3)} in the "
        f"middle, {number(min(others), digits=3)} at least (“much” is read as less than half of the middle)")


@claim("figure-10", "below 0.2")
def medians_below(data):
    """Whether the median of every problem and set lies below 0.2."""
    medians = needed(m for parts in data.values() for part in parts.values()
                     if (m := part["median"]) is not None)
    return max(medians) < LIMIT, f"the medians are {min(medians):.3f} to {max(medians):.3f}"


for _item in ("figure-11", "figure-12"):
    claim(_item, "one pixel channel")("said of an image that the paper does not name")
    claim(_item, "2000 random perturbations")("said of that image, too; the share of ours stands above")
    claim(_item, "To the eye")("judged by eye: the images stand above")


@claim("table-9", "almost insensitive")
@claim("table-10", "Still almost")
def insensitive(rows):
    """Whether fewer than one label in a hundred is flipped, on average over the problems."""
    shares = {s: values(rows, s) for s in tables.SPLITS}
    text = " and ".join(f"{v.mean():.2f}% on average and {v.max():.2f}% at most ({figures.SETS[s]})"
                        for s, v in shares.items())
    return max(v.mean() for v in shares.values()) < 1, f"label flipped: {text}"


@claim("table-12", "grows with the size", "table-9", "table-10", "table-11")
def susceptibility_grows(rows, *smaller):
    """Whether the mean share never falls from one size of the draws to the next, and rises in all."""
    shares = [table.set_index(["class_a", "class_b"])[list(tables.SPLITS)].astype(float)
              for table in (*smaller, rows)]
    steps = [(b - a).stack() for a, b in zip(shares, shares[1:])]
    if not all(table.notna().any(axis=None) for table in shares):
        raise NoValue(NONE)
    means = [float(np.nanmean(table)) for table in shares]
    falls = sum(int((s < 0).sum()) for s in steps)
    return bool((np.diff(means) >= 0).all()) and means[-1] > means[0], (
        f"means over problems and sets, from the smallest draws to the largest: "
        f"{', '.join(map(in_percent, means))}; from one table to the next {counted(falls, 'cell')} of "
        f"{sum(map(len, steps)):,} fall")


@claim("figure-13", "much larger")
def noise_is_larger(data):
    """Whether draws twice as long as the attack turn less than one image in twenty, in every problem."""
    flipped = needed((v for shares in data["twice"].values() for v in shares.values() if v is not None),
                     "no image was perturbed")
    return max(flipped) < 5, (f"perturbations of twice the norm of the attack flip {min(flipped):.1f} to "
                              f"{max(flipped):.1f}% of the labels (“much larger” is read as fewer than one "
                              "label in twenty flipped at twice the norm)")


def paired(data, what):
    """(random, attack) of a number over the problems and sets that have both."""
    pairs = [(data["random"][p][s][what], data["attack"][p][s][what])
             for p in data["random"] for s in tables.SPLITS]
    return np.array([pair for pair in pairs if None not in pair], float).reshape(-1, 2)


@claim("figure-13", "thicker")
def alike_but_thicker(data):
    """Whether medians rise and fall together with the attacks', and upper tails reach farther."""
    both, ends = paired(data, "median"), paired(data, "high")
    if len(both) < 3 or not (np.ptp(both, axis=0) > 0).all():
        raise NoValue("too few problems to compare shapes")
    together = np.corrcoef(both.T)[0, 1]
    farther = (ends[:, 0] / both[:, 0] > ends[:, 1] / both[:, 1]).mean()
    return together > 0.5 and farther > 0.5, (
        f"the correlation of the medians over problems and sets is {together:.2f}; the 95th percentile over "
        f"the median is larger than that of the attacks in {100 * farther:.0f}% of them")


@claim("figure-14", "thicker tail")
def tail_is_thicker(data):
    """Whether the tail of the draws that work reaches farther, in units of the median, beyond chance."""
    if "reach" not in data["draws"]:
        raise NoValue("no perturbation has flipped a label")
    a, d = data["attacks"], data["draws"]
    text = "95th percentile over median: " + "; ".join(
        f"{name} {of['reach']:.2f} (n = {of['count']:,}; 95% interval {of['low']:.2f} to {of['high']:.2f})"
        for name, of in (("attacks on the images that were also perturbed", a),
                         ("perturbations that flip a label", d)))
    thick = d["reach"] > a["reach"]
    if max(a["low"], d["low"]) <= min(a["high"], d["high"]):
        return None, (f"{text}; the order is {'that' if thick else 'opposite to that'} of the claim, but the "
                      "intervals overlap, so this is not judged")
    return thick, text


# ---- Section 7.2.1: training with noise ------------------------------------------------------------------
LITTLE = 10     # points of susceptibility below which a change is read as little
# Over which images a mean norm may be taken.
AVERAGED = {"found": "attacked images", "all": "all images (others 0)",
            "lost": "attacked and zero-gradient images"}


def average(numbers):
    """Mean of what is there; None of nothing."""
    return mean([v for v in numbers if v is not None])


def in_a_row(numbers, unit=""):
    """Numbers in a row, in words."""
    return ", ".join(words(v, unit) for v in numbers)


def trend(rows, reading, quantity, norm=None):
    """Means over problems of one quantity on training images: without noise, and at the three levels.

    Over the problems that were learned at all levels, and without noise where any is there.
    """
    of_norm = rows.norm.isna() if norm is None else rows.norm == norm
    chosen = rows[(rows.quantity == quantity) & (rows.split == "train") & of_norm]
    whole = [r | {k: r[k][reading] for k in ("levels", "without")} for r in chosen.to_dict("records")]
    whole = [r for r in whole if None not in r["levels"]]
    whole = [r for r in whole if not r["failed"]] or whole
    whole = [r for r in whole if r["without"] is not None] or whole
    return (average([r["without"] for r in whole]),
            [average([r["levels"][k] for r in whole]) for k in range(3)])


def in_every_reading(judge):
    """The predicate of a claim on attacks: judged only where all readings of their mean norm agree."""
    def predicate(data):
        names, verdicts = {}, set()
        for reading, name in AVERAGED.items():
            holds, text = judge(data, reading)
            names.setdefault(text, []).append(name)
            verdicts.add(holds)
        evidence = "; ".join(f"{', or '.join(of)}: {text}" for text, of in names.items())
        evidence = evidence if len(names) > 1 else next(iter(names))
        return (None, f"{evidence}; the readings disagree, so this is not judged") if len(verdicts) > 1 else (
            verdicts.pop(), evidence)
    return predicate


@in_every_reading
def little_effect(rows, reading):
    """Susceptibility with noise within ten points of that without, at every level."""
    free, levels = trend(rows, reading, "adversarial_susceptibility")
    text = f"attackable {in_a_row(levels, '%')} at levels 1 to 3, {words(free)} without noise"
    needed([free, *levels], text)
    return max(abs(v - free) for v in levels) < LITTLE, f"{text} (“little”: less than {LITTLE} points)"


def large_drop(rows):
    """Accuracy at the largest level more than five points below that without noise."""
    free, levels = trend(rows, "found", "accuracy")
    text = f"accuracy {in_a_row(levels, '%')} at levels 1 to 3, {words(free)} without noise"
    needed([free, *levels], text)
    return free - levels[-1] > 5, f"{text} (“large” is read as more than five points)"


def rising(levels_of):
    """Whether the mean norm of "successful attacks" grows; `levels_of` reads its levels in each reading."""
    levels, *others = (levels_of(reading) for reading in AVERAGED)
    text = [f"mean Euclidean norm {in_a_row(means)} at levels 1 to 3" for means in (levels, *others)]
    beside = "; ".join(f"{name}: {norms}" for name, norms in zip([*AVERAGED.values()][1:], text[1:]))
    text = f"{text[0]}, over successful attacks, of which the claim speaks ({beside})"
    if len(levels) < 3:
        raise NoValue(text)
    needed(levels, text)
    return levels[0] < levels[1] < levels[2], text


def norm_rises(rows):
    """Whether the mean norm of the attacks grows from level to level."""
    return rising(lambda reading: trend(rows, reading, "adv_attack_norm", "l2")[1])


for _n in range(13, 19):
    claim(f"table-{_n}", "little effect")(little_effect)
    claim(f"table-{_n}", "large drop")(large_drop)
    claim(f"table-{_n}", "rises with")(norm_rises)


@claim("figure-15", "Noise has little effect")
@claim("figure-16", "Noise has little effect")
@in_every_reading
def harmless(data, reading):
    """Susceptibility within ten points of that without noise; accuracy lower in the end."""
    if len(data) < 4:
        raise NoValue(f"{len(data)} of 4 sizes, that without noise included")
    levels = [data[f"level {n}"] for n in range(4)]
    attacked = [v["readings"][reading]["susceptibility"] for v in levels]
    right = [v["accuracy"]["train"] for v in levels]
    text = (f"attackable {in_a_row(attacked, '%')}; accuracy {in_a_row(right, '%')}, from no noise to the "
            "largest")
    needed(attacked, text)
    return max(abs(v - attacked[0]) for v in attacked) < LITTLE and right[0] > right[-1], (
        f"{text} (“little effect”: less than {LITTLE} points)")


@claim("figure-15", "Attack norms grow")
@claim("figure-16", "Attack norms grow")
def norm_grows(data):
    """Whether the mean norm of the attacks grows from level to level."""
    return rising(lambda reading: [
        data[f"level {n}"]["readings"][reading]["l2"] for n in (1, 2, 3) if f"level {n}" in data])


# ---- Sections 7.2.2 and 7.2.3: Fashion-MNIST and traffic signs -------------------------------------------
def of_sets(rows):
    """The shares of both sets in one list."""
    return [v for split in tables.SPLITS for v in values(rows, split)]


@claim("table-20", "broadly those of CIFAR-10")
def as_on_cifar10(rows):
    """Whether networks are accurate and small noise flips few labels; "sizeable" is not judged."""
    def medians(quantity):
        return median(of_sets(rows[(rows.quantity == quantity) & (
            rows.delta_inferred.isna() | rows.delta_inferred.isin(DELTAS[:2]))]))

    right, attacked, flipped = map(medians, (
        "accuracy", "adversarial_susceptibility", "random_susceptibility"))
    needed((right, attacked, flipped), "no problem has all values")
    noise = " and ".join(f"{in_percent(median(v))} at δ = {d} ({figures.ends_in_words(v)})"
                         for d in DELTAS[:2] for v in [of_sets(rows[rows.delta_inferred == d])])
    problems = {(row.class_a, row.class_b) for row in rows.dropna(subset=["test"]).itertuples()}
    shares = tables.printed(PAPER["table-20"], quantity="adversarial_susceptibility")
    printed = median([shares[p][s] for p in sorted(problems) for s in tables.SPLITS])
    return None if right > 95 and flipped < 1 else False, (
        f"in the median {in_percent(right)} of the images are classified correctly and "
        f"{in_percent(attacked)} of these can be attacked (published, same problems: {in_percent(printed)}; "
        f"“sizeable” names no least share); noise flips the label of {noise} of the images "
        f"with a step that does, {in_percent(flipped)} over both")


@claim("table-23", "chosen to look different")
def still_attackable(rows):
    """The range of the shares that can be attacked: the claim names no least one."""
    failed = [r.problem for r in rows[rows.quantity == "accuracy"].itertuples()
              if not figures.has_learned((r.class_a, r.class_b), r.train, LARGER_SIGN)]
    shares = rows[(rows.quantity == "adversarial_susceptibility") & ~rows.problem.isin(failed)]
    both = of_sets(shares)
    return None, ("“still attackable” names no least share; the attackable share of a problem and set is "
                  f"{in_percent(min(both))} to {in_percent(max(both))} (n = "
                  f"{counted(len(shares), 'problem')})"
                  + (f"; the training on {', '.join(failed)} failed" if failed else ""))


# ---- Section 7.2.4: ImageNet -----------------------------------------------------------------------------
def by_delta(rows):
    """Random susceptibilities of the tested network."""
    shares = rows.turned.iloc[0]
    return dict(zip([int(d.split()[1]) for d in shares], needed(shares.values(), "no image with an attack")))


@claim("table-25", "At smaller delta")
def nearly_none(rows):
    """Below one in a hundred at each smaller delta."""
    shares = by_delta(rows)
    text = ", ".join(f"{number(float(shares[d]), digits=3)}% at δ = {d}" for d in DELTAS[:-1])
    return max(shares[d] for d in DELTAS[:-1]) < 1, (
        f"label flipped: {text} (“virtually zero”: we ask for less than 1%)")


@claim("table-25", "Only 2.5% and 1.4%", "table-12", "table-20", "table-23")
def rarer(rows, cifar10, fashion, signs):
    """Far less often than on any other data set: below half of its median problem."""
    share = by_delta(rows)[max(DELTAS)]
    medians = {"CIFAR-10": cifar10} | {
        name: table[(table.quantity == "random_susceptibility") & (table.delta_inferred == max(DELTAS))]
        for name, table in (("Fashion-MNIST", fashion), ("GTSRB", signs))}
    medians = {name: float(table.test.median()) for name, table in medians.items()}
    text = ", ".join(f"{name} {number(v, digits=3)}%" for name, v in medians.items())
    return share < min(medians.values()) / 2, (
        f"ImageNet {number(float(share), digits=3)}%; medians over problems: {text} (“only”: we ask "
        f"for less than half of the smallest of these, {words(min(medians.values()) / 2)})")


@claim("figure-21", "93.3% of images")
def mostly_small(data):
    """At least nine in ten of the correctly classified images."""
    share = data["share_linf_below_0"]["1_pct"]
    needed([share], "no image is classified correctly" if "known" in data else data["status"])
    return share > 90, (f"{number(share, digits=3)}% of {data['known']:,} correctly classified images have "
                        "an attack that changes every value by less than a tenth of its range (we ask for "
                        "more than 90%)")


claim("figure-22", "94.3% of images", counts=lambda labels: labels["run"].startswith("vgg19"))(
    lambda data: mostly_small(data))    # waits for no other network
