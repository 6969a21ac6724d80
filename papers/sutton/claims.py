"""How each printed claim of Sutton et al. is judged; see `report.claims`."""
import operator
import re
from statistics import NormalDist

import numpy as np

from papers.sutton import experiments, figures, tables
from papers.sutton.experiments import DELTAS, PAIRS
from papers.sutton.figures import BETTER, DATASETS, LARGER_SIGN, counted, in_percent
from papers.sutton.sketches import FINE
from papers.sutton.theorem import PICTURE, TENTH, power
from report import reference
from report.claims import FEW_IMAGES, Claims, NoValue
from report.comparison import LEAST, mean_and_half, near
from report.prose import mean, median, number, words

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


def numbers_in(rows, column):
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
@claim("figure-1", "Most images in train", open="the network was chosen by the published share, among others")
def most_fall(data):
    """Shares and largest changes of both sets."""
    needed((v[k] for v in data.values() for k in ("attacked_pct", "median_linf")), "no attack")
    return "; ".join(f"{figures.SETS[s]}: {words(v['attacked_pct'])}, median largest change "
                     f"{words(v['median_linf'], '')}" for s, v in data.items())


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


def of_datasets(rows, quantity, delta=0):
    """{data set: {"train", "test"}} of a row of Table 1, all of which are there."""
    row, = rows[(rows.quantity == quantity) & (rows.delta_inferred.fillna(0) == delta)].to_dict("records")
    pairs = {d: {s: row[d][s] for s in tables.SPLITS} for d in DATASETS}
    needed((v for pair in pairs.values() for v in pair.values()), "not all data sets are there")
    return pairs


@claim("table-1", "Networks are accurate", own=True, leaves="“accurate” and “highly” name no bound")
def paradox(rows):
    """Everywhere: more images attackable than flipped at five times the norm, and these less than half."""
    right, attacked, flipped = (of_datasets(rows, *row) for row in (
        ("accuracy",), ("adversarial_susceptibility",), ("random_susceptibility", 5)))
    text = "; ".join(f"{name}: accuracy {words(right[d]['test'])}, {words(attacked[d]['test'])} "
                     f"attackable, {words(flipped[d]['test'])} flipped at random"
                     for d, name in DATASETS.items())
    return all(flipped[d][s] < min(50, attacked[d][s]) for d in DATASETS for s in tables.SPLITS), (
        f"test images, {text} (tested: the attack flips more labels than the noise does, and the noise fewer "
        "than half)")


@claim("table-1", "Train and test data", own=True, open="“negligible” names no bound")
def sets_differ_little(rows):
    """The largest difference of a training and a test entry."""
    apart = dict.fromkeys(DATASETS, 0.0)
    for quantity, delta in (("accuracy", 0), ("adversarial_susceptibility", 0),
                            *(("random_susceptibility", d) for d in DELTAS[1:])):
        for d, pair in of_datasets(rows, quantity, delta).items():
            apart[d] = max(apart[d], abs(pair["train"] - pair["test"]))
    return "largest difference: " + ", ".join(
        f"{DATASETS[d]} {number(gap, digits=2)} points" for d, gap in apart.items())


claim("table-1", "ImageNet random susceptibility")(
    "its numbers are compared as values of this table")


# ---- Sections 4 and 5: the theorems ----------------------------------------------------------------------
@claim("theorem-1", "Exponentially many")
def exponentially_many(data):
    """Does the logarithm of the draws needed grow at least at the rate of Theorem 1 with the dimension?"""
    rate = -0.5 * np.log10(1 - TENTH**2)
    needed = {int(n): e for n, e in data["log10_draws_needed"].items()}
    (least, first), *_, (most, last) = needed.items()
    return min(e - np.log10(2) - n * rate for n, e in needed.items()) >= 0, (
        f"for a flat boundary and noise of {1 / TENTH:g} times the norm of the attack, the number of samples "
        f"needed rises from {power(first)} (n = {least:,}) to {power(last)} "
        f"(n = {most:,}); it is never below $2 \\cdot 10^{{{rate:.5f} n}}$, the bound of Theorem 1")


def above_zero(value):
    """A probability in words, also one that a float cannot hold."""
    return words(value, "", 2) if value else "less than $10^{-300}$"


@claim("theorem-4", "virtually 0", open="the dimension is lost in our copy; “virtually 0” names no bound")
@claim("theorem-4", "3072 attributes", open="“active” names no bound")
def errors(data):
    """The error in the dimensions of images."""
    return f"error at ε = {data['epsilon']:g}: " + ", ".join(
        f"$10^{{{e:.1f}}}$ at n = {int(n):,}" for n, e in data["log10_error"].items())


@claim("theorem-6", "50 times larger")
@claim("figure-4", "Convergence persists")
def persists(data):
    """Whether the effect of noise of 50 times the distance of the centres falls with the dimension."""
    largest = max(data["noise"].values(), key=lambda v: v["over_distance_of_centres"])
    text = (f"noise {largest['over_distance_of_centres']:g} times the distance of the centres: probability "
            f"{largest['exact_at_10']:.3f} at n = 10, {largest['exact_at_picture']:.3f} at n = {PICTURE:,}, "
            f"{number(float(largest['exact_at_end']), digits=2)} at n = {FINE[-1]:,}")
    if largest["over_distance_of_centres"] < 50 - 1e-9:
        return None, f"{text}; noise of 50 times the distance is not tried"
    return largest["exact_at_10"] > largest["exact_at_picture"] > largest["exact_at_end"], text


@claim("figure-4", "accuracy bound is sharp", open="the dimension is lost in our copy; “sharp” and "
                                                   "“virtually” name no bound")
def sharp(data):
    """The exponent of the bound beside the exact one, and the error."""
    return (f"exponent of the bound over the exact one {data['exponent_of_bound_over_exact']:.4f} at "
            f"n = {FINE[-1]:,}; {errors(data)}")


@claim("figure-4", "not particularly sharp", leaves="“sharp” names no bound")
def loose(data):
    """Whether the bound falls from ten dimensions to the end, above the truth."""
    at_10 = {k: v["exact_at_10"] * v["ratio_at_10"] for k, v in data["noise"].items()}
    text = "; ".join(
        f"δ = {k}: bound {words(at_10[k], '')} and exact value {words(v['exact_at_10'], '')} at n = 10, "
        f"{above_zero(v['bound_at_end'])} and {above_zero(v['exact_at_end'])} at n = {FINE[-1]:,}"
        for k, v in data["noise"].items())
    return all(at_10[k] > v["bound_at_end"] >= v["exact_at_end"] for k, v in data["noise"].items()), (
        f"{text} (tested: the bound falls, above the exact value)")


@claim("theorem-19", "zero margin")
def stays(data):
    """Whether the bound without a margin never falls below its value in the smallest dimension."""
    bounds, tried = data["bound_without_margin"], data["dimensions"]
    return min(bounds) >= bounds[0] * (1 - 1e-9), (     # where it is constant, but for rounding
        f"the bound at ε = 0 is {bounds[0]:.4g} at n = {tried[0]} and at least {min(bounds):.4g} for n up to "
        f"{tried[-1]:,}")


@claim("figure-6", "approximately constant", open="“approximately” names no bound; that the probability does "
       "not go to zero is Theorem 20")
def approximately_constant(data):
    """The range of random trials without a margin over the dimensions."""
    trials, tried = data["trials_without_margin"], data["dimensions"]
    text = "; ".join(f"δ = {k}: {min(p):.4f} to {max(p):.4f} (exact: "
                     + " to ".join(f"{end:.4f}" for end in data["exact_without_margin"][k]) + ")"
                     for k, p in trials.items())
    return f"random trials: {text} over n from {tried[0]} to {tried[-1]:,}"


@claim("theorem-20", "what hides")
def margin_hides(data):
    """With a margin, does each noise flip fewer points than without, and fewer than an attack does?

    In the dimension of an image and in the largest one.
    """
    holds, texts = [], []
    for n, without, margin, attackable in (
            (PICTURE, "flipped_at_picture_without_margin", "flipped_at_picture", "attackable_at_picture"),
            (data["n"], "flipped_without_margin", "flipped_with_margin", "attackable_with_margin")):
        without, margin, attackable = data[without], data[margin], data[attackable]
        holds += [margin[d] < min(without[d], attackable) for d in without]
        low, *_, high = sorted(without, key=float)
        texts.append(
            f"n = {n:,}: noise of δ = {low} to {high} flips {without[low]:.3f} to {without[high]:.3f} of the "
            f"points without a margin, {above_zero(margin[low])} to {above_zero(margin[high])} with "
            f"ε = {data['epsilon']:g}, where an attack of norm ε + 0.1 flips {attackable:.4f}")
    return all(holds), "; ".join(texts)


# ---- Section 7.2.1: CIFAR-10 -----------------------------------------------------------------------------
def of_classes(row):
    """The two classes of a row, in words."""
    return f"{CLASSES[int(row.class_a)]} and {CLASSES[int(row.class_b)]}"


def not_chosen_by(rows, split):
    """The values of the problems by which the network was not chosen; what they come to, in words."""
    ours = numbers_in(rows[[pair not in PAIRS.values() for pair in zip(rows.class_a, rows.class_b)]], split)
    return ours, (f"mean {ours.mean():.2f}%, smallest {ours.min():.2f}% "
                  f"({of_classes(rows.loc[ours.idxmin()])}), over {counted(len(ours), 'problem')} that had "
                  "no part in the choice of the network")


def near_quoted(item, phrase, split):
    """Register the claim of a mean over the problems, which is judged as the bias over rows is.

    By the mean difference from the published cells of the same problems, so that problems which are harder
    than others do not widen its interval (Student). Open where the published cells themselves have another
    mean than the text.
    """
    printed = tables.printed(PAPER[item])
    quoted, cells = stated(PAPER[item], phrase)[0], np.mean([row[split] for row in printed.values()])
    if round(cells, 2) != quoted:
        claim(item, phrase, open=f"the mean of the published cells is {cells:.2f}%, not {quoted:g}%")(
            lambda rows: not_chosen_by(rows, split)[1])
        return

    @claim(item, phrase)
    def judged(rows):
        ours, text = not_chosen_by(rows, split)
        if len(ours) < LEAST:
            raise NoValue(f"{text}; fewer than {LEAST} problems give no interval")
        off = ours - [printed[row.class_a, row.class_b][split] for row in rows.loc[ours.index].itertuples()]
        mean, half = mean_and_half(off)
        close = near(ours.mean(), ours.mean() - mean, split, PAPER[item].columns.get(split))
        return close or abs(mean) <= half, (
            f"{text}; the mean difference from the published cells of the same problems is "
            f"{mean:.2f} points (95% interval {mean - half:.2f} to {mean + half:.2f})")


for _quoted in (("table-4", "Mean training accuracy", "train"), ("table-4", "Mean test accuracy", "test"),
                ("table-5", "Mean training susceptibility", "train"),
                ("table-5", "Mean test susceptibility", "test")):
    near_quoted(*_quoted)


@claim("table-5", "Both minima")
def both_minima(rows):
    """Whether frog and ship have the fewest attackable images, in both sets."""
    a, b = stated(PAPER["table-5"], "Both minima")
    least = [rows.loc[numbers_in(rows, split).idxmin()] for split in tables.SPLITS]
    text = " and ".join(f"{of_classes(r)} ({r[s]:.2f}%, {figures.SETS[s]})"
                        for r, s in zip(least, tables.SPLITS))
    return all((r.class_a, r.class_b) == (a, b) for r in least), f"fewest attackable images: {text}"


def in_most_problems(item, phrase, beyond, words):
    """A predicate: in both sets more than half of the problems lie beyond the level that is stated."""
    level, = stated(PAPER[item], phrase)

    def judged(rows):
        shares = {s: beyond(numbers_in(rows, s), level).mean() for s in tables.SPLITS}
        text = " and ".join(f"{100 * share:.0f}% of the problems ({figures.SETS[s]})"
                            for s, share in shares.items())
        return min(shares.values()) > 0.5, words.format(level=f"{level:g}%", text=text)
    return judged


claim("table-5", "vast majority")(in_most_problems(
    "table-5", "vast majority", operator.gt,
    "more than {level} of the images can be attacked in {text} (a majority is more than half; “vast” names "
    "no bound)"))
claim("table-11", "five times")(in_most_problems(
    "table-11", "five times", operator.lt,
    "fewer than {level} of the labels are flipped in {text} (“typically” is read as in most problems)"))


CATS = [(2, 3), (3, 4)]     # problems of a cat


def of_cats(norms, cats):
    """(whether those of cats are the smallest; the norms of the others).

    norms   {problem in words: norm}
    cats    the problems of a cat, in words
    """
    others = [norm for problem, norm in norms.items() if problem not in cats]
    if lacking := [c for c in cats if c not in norms]:
        raise NoValue(f"{' and '.join(lacking)}: no attack is measured")
    if not others:
        raise NoValue(f"no other problem than {' and '.join(cats)} is measured")
    return max(norms[c] for c in cats) < min(others), others


@claim("table-6", "much smaller norms", "table-5", leaves="“typical” names no bound")
def smallest_of_birds(rows, shares):
    """Whether attacks on 2 vs 3 and 3 vs 4 are smaller than on the other seven; their shares beside them.

    Of the nine problems of Figures 8 to 10, of which the paper says so.
    """
    def means(rows, columns):
        near = rows[rows.class_b == rows.class_a + 1]
        near = near[columns].astype(float).assign(
            name=[figures.name(p, CLASSES) for p in zip(near.class_a, near.class_b)])
        return near.groupby("name").mean().mean(axis=1).dropna().to_dict()

    cats = [figures.name(c, CLASSES) for c in CATS]
    norm, common = means(rows, ["mean"]), means(shares, list(tables.SPLITS))
    smaller, others = of_cats(norm, cats)
    needed(map(common.get, cats), "not both problems have an attackable share")
    ends = min(common.values()), max(common.values())
    text = ", ".join(f"{c} {norm[c]:.2f} ({common[c]:.1f}% attackable)" for c in cats)
    return smaller, (
        f"means {text}; of the {len(others)} other problems {min(others):.2f} at least, "
        f"{np.median(others):.2f} in the middle; attackable {ends[0]:.1f}% to {ends[1]:.1f}% (tested: "
        "smaller than all others)")


_total, _, _channels = stated(PAPER["table-7"], "representative")[1:]
claim("table-7", "representative")(
    f"{_total:g} over {_channels:,.0f} channels is {_total / _channels:.3f}, whatever is measured; "
    "“representative” names no bound")


LIMIT = stated(PAPER["table-8"], "below 0.2")[-1]   # of the largest change of a channel, on CIFAR-10
CHANNELS = PAPER["table-4"].settings["input_dimension_d"]


@claim("table-8", "below 0.2")
def mostly_below(rows):
    """Whether more than half of the attacks of every problem stay below 0.2 in every channel."""
    share = numbers_in(rows, "below")
    return share.min() > 50, (f"{share.mean():.0f}% of the attacks stay below {LIMIT:g} on average over "
                              f"problems and sets, {share.min():.0f}% in the least of them")


def random_peak(n):
    """Largest change over mean change of a random direction in n dimensions (its median)."""
    return NormalDist().inv_cdf((1 + 0.5 ** (1 / n)) / 2) * np.sqrt(np.pi / 2)


@claim("table-8", "localised", "table-7")
def localised(rows, sums):
    """Whether the largest change over the mean change exceeds that of a random direction everywhere."""
    both = rows.merge(sums, on=["class_a", "class_b", "split"], suffixes=("", "_sum"))
    ratio = CHANNELS * numbers_in(both, "mean") / numbers_in(both, "mean_sum")
    needed(ratio.dropna())
    usual = random_peak(CHANNELS)
    return ratio.min() > usual, (f"the largest change is {ratio.min():.1f} to {ratio.max():.1f} times the "
                                 f"mean change; that of a random direction is {usual:.1f} times")


@claim("figure-8", "bird vs cat")
@claim("figure-9", "bird vs cat")
@claim("figure-10", "bird vs cat")
def medians_of_birds(data):
    """Whether the two problems with cats have the smallest medians."""
    cats = [figures.name(p, CLASSES) for p in CATS]
    medians = {p: [m for part in parts.values() if (m := part["median"]) is not None]
               for p, parts in data.items()}
    means = {p: np.mean(ms) for p, ms in medians.items() if ms}
    smaller, others = of_cats(means, cats)
    text = " and ".join(f"{number(means[c], digits=3)} ({c})" for c in cats)
    return smaller, (
        f"medians {text}; of the {len(others)} other problems {number(np.median(others), digits=3)} in the "
        f"middle, {number(min(others), digits=3)} at least (tested: smaller than all others; “much” names no "
        "bound)")


@claim("figure-10", "below 0.2")
def medians_below(data):
    """Whether the median of every problem and set lies below 0.2."""
    medians = needed(m for parts in data.values() for part in parts.values()
                     if (m := part["median"]) is not None)
    return max(medians) < LIMIT, f"the medians are {min(medians):.3f} to {max(medians):.3f}"


for _item in ("figure-11", "figure-12"):
    claim(_item, "one pixel channel")("said of an image that the paper does not name")
    claim(_item, "2000 random perturbations")("said of that image, too")
    claim(_item, "To the eye")("left to the eye: see the images")


@claim("table-9", "almost universally insensitive", open="“almost” names no bound")
def insensitive(rows):
    """The share of labels flipped, over the problems."""
    shares = {s: numbers_in(rows, s) for s in tables.SPLITS}
    return "label flipped: " + " and ".join(
        f"{v.mean():.2f}% on average and {v.max():.2f}% at most ({figures.SETS[s]})"
        for s, v in shares.items())


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


@claim("figure-13", "significantly larger", open="“significantly” names no bound, and noise shorter than the "
       "attack is not tried, so that what flips a label is larger by construction")
def noise_is_larger(data):
    """What noise of twice the norm of the attack flips."""
    flipped = needed((v for shares in data["twice"].values() for v in shares.values() if v is not None),
                     "no image was perturbed")
    return (f"perturbations of twice the norm of the attack flip {min(flipped):.1f} to "
            f"{max(flipped):.1f}% of the labels")


def paired(data, what):
    """(random, attack) of a number over the problems and sets that have both."""
    pairs = [(data["random"][p][s][what], data["attack"][p][s][what])
             for p in data["random"] for s in tables.SPLITS]
    return np.array([pair for pair in pairs if None not in pair], float).reshape(-1, 2)


@claim("figure-13", "thicker", open="“resemble” names no bound, and few perturbed images of a problem change "
                                     "their label")
def alike_but_thicker(data):
    """How many upper tails reach farther than those of the attacks; how their medians correlate."""
    both, ends = paired(data, "median"), paired(data, "high")
    if len(both) < 3 or not (np.ptp(both, axis=0) > 0).all():
        raise NoValue("too few problems to compare shapes")
    together = np.corrcoef(both.T)[0, 1]
    farther = (ends[:, 0] / both[:, 0] > ends[:, 1] / both[:, 1]).mean()
    return (
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
                      "intervals overlap, so this is not tested")
    return thick, text


# ---- Section 7.2.1: training with noise ------------------------------------------------------------------
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
    chosen = rows[(rows.quantity == quantity) & (rows.split == "train") & of_norm & rows.levels.notna()]
    whole = [r | {k: r[k][reading] for k in ("levels", "without")} for r in chosen.to_dict("records")]
    whole = [r for r in whole if None not in r["levels"]]
    whole = [r for r in whole if not r["failed"]] or whole
    whole = [r for r in whole if r["without"] is not None] or whole
    return (average([r["without"] for r in whole]),
            [average([r["levels"][k] for r in whole]) for k in range(3)])


def in_readings(words_of):
    """What each reading of the mean norm shows, in words, those together that show the same."""
    names = {}
    for reading, name in AVERAGED.items():
        names.setdefault(words_of(reading), []).append(name)
    return "; ".join(f"{', or '.join(of)}: {text}" if len(names) > 1 else text for text, of in names.items())


def little_effect(rows):
    """Susceptibility without noise and at every level."""
    def shown(reading):
        free, levels = trend(rows, reading, "adversarial_susceptibility")
        return f"attackable {in_a_row(levels, '%')} at levels 1 to 3, {words(free)} without noise"
    return in_readings(shown)


def large_drop(rows):
    """Accuracy with noise and without."""
    free, levels = trend(rows, "found", "accuracy")
    text = f"accuracy {in_a_row(levels, '%')} at levels 1 to 3, {words(free)} without noise"
    needed([free, *levels], text)
    return text


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


LEVELS = "the levels of noise were chosen with the published accuracy in sight"

for _n in range(13, 19):
    claim(f"table-{_n}", "little effect", open="“little” names no bound")(little_effect)
    claim(f"table-{_n}", "large drop", open=LEVELS)(large_drop)
    claim(f"table-{_n}", "rises with")(norm_rises)


@claim("figure-15", "Noise has little effect", open=f"“little” names no bound, and {LEVELS}")
@claim("figure-16", "Noise has little effect", open=f"“little” names no bound, and {LEVELS}")
def harmless(data):
    """Accuracy and the share of attackable images, from no noise to the largest."""
    if len(data) < 4:
        raise NoValue(f"{len(data)} of 4 sizes, that without noise included")
    levels = [data[f"level {n}"] for n in range(4)]
    right = [v["accuracy"]["train"] for v in levels]
    attacked = in_readings(lambda reading: "attackable " + in_a_row(
        [v["readings"][reading]["susceptibility"] for v in levels], "%"))
    text = f"{attacked}; accuracy {in_a_row(right, '%')}, from no noise to the largest"
    needed(right, text)
    return text


@claim("figure-15", "Attack norms grow")
@claim("figure-16", "Attack norms grow")
def norm_grows(data):
    """Whether the mean norm of the attacks grows from level to level."""
    return rising(lambda reading: [
        data[f"level {n}"]["readings"][reading]["l2"] for n in (1, 2, 3) if f"level {n}" in data])


# ---- Sections 7.2.2 and 7.2.3: Fashion-MNIST and traffic signs -------------------------------------------
def of_sets(rows):
    """The shares of both sets in one list."""
    return [v for split in tables.SPLITS for v in numbers_in(rows, split)]


@claim("table-20", "broadly consistent", leaves="“broadly” names no bound")
def as_on_cifar10(rows):
    """Whether in every problem and set more images can be attacked than small noise flips."""
    def of(quantity, *deltas):
        chosen = rows[(rows.quantity == quantity) & (rows.delta_inferred.isin(deltas) if deltas else True)]
        shares = chosen.set_index("problem")[list(tables.SPLITS)].astype(float)
        return shares.groupby("problem").max().stack().dropna()

    right, attacked, flipped = of("accuracy"), of("adversarial_susceptibility"), of(
        "random_susceptibility", *DELTAS[:2])
    both = attacked.index.intersection(flipped.index)
    needed(attacked[both], "no problem has all values")
    noise = " and ".join(f"{in_percent(median(v))} at δ = {d} ({figures.ends_in_words(v)})"
                         for d in DELTAS[:2] for v in [of_sets(rows[rows.delta_inferred == d])])
    shares = tables.printed(PAPER["table-20"], quantity="adversarial_susceptibility")
    printed = median([row[s] for row in shares.values() for s in tables.SPLITS
                      if (row["problem"], s) in both])
    more = attacked[both] > flipped[both]
    return bool(more.all()), (
        f"in the median {in_percent(median(right[both]))} of the images are classified correctly and "
        f"{in_percent(median(attacked[both]))} of these can be attacked (published, same problems: "
        f"{in_percent(printed)}); noise flips the label of {noise} of the images with a step that does; more "
        f"images can be attacked than noise flips in {more.sum()} of {len(more)} problems and sets (tested: "
        "in all)")


@claim("table-23", "chosen to look different", open="“more robust” than what is not said")
def still_attackable(rows):
    """The range of the shares that can be attacked."""
    failed = [r.problem for r in rows[rows.quantity == "accuracy"].itertuples()
              if not r.train > LARGER_SIGN[r.class_a, r.class_b] + BETTER]
    shares = rows[(rows.quantity == "adversarial_susceptibility") & ~rows.problem.isin(failed)]
    both = of_sets(shares)
    return (f"the attackable share of a problem and set is {in_percent(min(both))} to "
            f"{in_percent(max(both))} (n = {counted(len(shares), 'problem')})"
            + (f"; the training on {', '.join(failed)} failed" if failed else ""))


# ---- Section 7.2.4: ImageNet -----------------------------------------------------------------------------
def by_delta(rows, *deltas):
    """`{delta: random susceptibility}` of the tested network."""
    shares = next(iter(rows.turned.dropna()), {})
    return dict(zip(deltas, needed((shares.get(f"delta {d}") for d in deltas), "no image with an attack")))


@claim("table-25", "At smaller delta", open="“virtually” names no bound")
def nearly_none(rows):
    """The shares at each smaller delta."""
    return "label flipped: " + ", ".join(f"{number(float(share), digits=3)}% at δ = {d}"
                                         for d, share in by_delta(rows, *DELTAS[:-1]).items())


@claim("table-25", "Only 2.5% and 1.4%", "table-12", "table-20", "table-23")
def rarer(rows, cifar10, fashion, signs):
    """Less often than in the median problem of any other data set."""
    share = by_delta(rows, max(DELTAS))[max(DELTAS)]
    medians = {"CIFAR-10": cifar10} | {
        name: table[(table.quantity == "random_susceptibility") & (table.delta_inferred == max(DELTAS))]
        for name, table in (("Fashion-MNIST", fashion), ("GTSRB", signs))}
    medians = {name: float(numbers_in(table, "test").median()) for name, table in medians.items()}
    text = ", ".join(f"{name} {number(v, digits=3)}%" for name, v in medians.items())
    return share < min(medians.values()), (
        f"ImageNet {number(float(share), digits=3)}%; medians over all pairs measured: {text} (tested: less "
        "than each of these; “significantly” names no bound)")


for _item in ("figure-21", "figure-22"):
    claim(_item, "of images")("its number is compared as a value of this figure")
