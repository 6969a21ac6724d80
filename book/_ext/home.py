"""The seven findings of the home page, from the records: a sentence, a picture, a caveat, a link each."""
import os
from typing import NamedTuple

from executed import ROOT, runs
from places import link


class Finding(NamedTuple):
    """One finding. `bars` are `{label: (value, low, high)}`: what its picture shows, with 95% intervals."""
    page: str           # where it is measured
    title: str
    says: str
    caveat: str
    axis: str
    bars: dict


class Missing(Exception):
    """An item without a record."""


def kept(paper, item):
    """The rows of an item's record, or a figure's data; Missing where there is no record."""
    from report import record
    whole = record.read(paper, item)
    if whole is None:
        raise Missing(f"{paper} {item}")
    return whole.get("rows") or whole["data"]


def by(column, rows):
    """Rows by the value that tells them apart."""
    return {row[column]: row for row in rows}


def share(hits, of):
    """`(percent, low, high)` of a share, with its 95% interval."""
    from shared.statistics import share_interval
    return 100 * hits / of, *(100 * end for end in share_interval(hits, of))


def interval(bar, digits=0):
    """The 95% interval of a bar, in words."""
    return f"95% interval {bar[1]:.{digits}f} to {bar[2]:.{digits}f}"


# ---- the findings, in the order of the page ---------------------------------------------------------------
def few_directions():
    from papers.he.experiments import STEP, TOP
    digits = kept("he", "figure-2")["mnist-normal"]["benign"]
    attack = by("examples", kept("he", "table-1"))["OptBrittle"]
    drawn = kept("he", "figure-1")["mnist-normal"]["benign"]["directions"]
    bar = share(digits["beyond"], digits["images"])
    return Finding(
        "he/4_boundary", "The boundary is far away in most directions",
        f"{bar[0]:.0f}% of {digits['images']} handwritten digits ({interval(bar)}) keep their label in "
        f"most of {drawn:,} random directions, up to a root-mean-square change of {TOP['mnist']} (pixels "
        f"from 0 to 1). A minimum-norm attack flips the label at {attack['mnist_normal_rms'].value:.2g} "
        f"(mean, n = {attack['mnist_normal_successful']}).",
        f"One network on MNIST; distances are searched in steps of {STEP['mnist']}.",
        "digits that keep their label, %", {"random directions": bar})


def noise_and_theory():
    from papers.sutton.theory.ball import tail
    from report import record
    images = kept("sutton", "figure-1")["test"]
    draws = record.read("sutton", "figure-1")["scale"]["parts"]["draws"][0]
    flat = 100 * draws * float(tail(3072, 0.1))
    bar = (images["turned_10_pct"], *images["turned_10_interval"])
    return Finding(
        "sutton/7_2_1_cifar10", "Noise crosses a network's boundary far more often than a plane",
        f"At least one of {draws:,} random perturbations of up to ten times the norm of an attack flips "
        f"the label of {bar[0]:.0f}% of {images['perturbed']} images of aeroplanes and cats "
        f"({interval(bar)}). For a flat boundary at the same distance, the probability that any of the "
        f"{draws:,} does is below {max(flat, 0.01):.2g}%.",
        "The paper's theorems hold for boundaries with small bends; a network's boundary may have larger "
        "ones.",
        "images with a flipped label, %", {"network": bar, "flat boundary": (flat, flat, flat)})


def one_vote():
    column, rows = "mnist_region_normal_accuracy_pct", by("examples", kept("he", "table-2"))
    of = rows["OptMargin"][column].of
    bars = {name: share(round(rows[name][column].value * of / 100), of)
            for name in ("OptBrittle", "OptMargin")}
    brittle, margin = bars.values()
    return Finding(
        "he/3_optmargin", "A defence that undoes one attack fails against the next",
        f"A majority vote over noisy copies of an image restores the label of {brittle[0]:.0f}% of {of} "
        f"minimum-norm adversarial digits (OptBrittle; {interval(brittle)}), but of only {margin[0]:.0f}% "
        f"of {of} digits of OptMargin, an attack made to withstand noise ({interval(margin, 1)}).",
        "One network on MNIST. One unpublished weight of OptBrittle was set so that the vote restores as "
        "many labels as in the paper, on another network.",
        "labels that the vote restores, %", bars)


def disagreement():
    data = kept("shu", "procedure-robust-classification")
    clean = tuple(data["false"][k] for k in ("percent", "low", "high"))
    adversarial, noise = (100 * data[f"alarm_{k}"] for k in ("adversarial", "random_noise"))
    return Finding(
        "shu/2_4_alarm", "Networks that differ only in their seed expose adversarial images",
        f"At least two of {data['networks']} networks from different training seeds disagree on "
        f"{adversarial:.0f}% of {data['examples']:,} adversarial images made on one of them. They disagree "
        f"on {noise:.0f}% of as many images with noise of the same norm, and on {clean[0]:.1f}% of "
        f"{data['false']['of']:,} clean digits ({interval(clean, 1)}).",
        "All adversarial and noisy images start from one digit, so that their shares have no interval. An "
        "attack on all networks at once was not tested.",
        "images on which networks disagree, %",
        {"adversarial": (adversarial,) * 3, "noise": (noise,) * 3, "clean": clean})


def roby():
    data = kept("chen", "property-1")
    free = data["arrangements"]["separation differs up to fourfold"]
    bars = {label: (free[name].value, free[name].low, free[name].high)
            for label, name in (("ROBY", "roby"), ("overlap, unscaled", "overlap"))}
    scaled, unscaled = bars.values()
    return Finding(
        "chen/iii_roby", "A score without attacks depends on its scaling",
        f"ROBY estimates robustness from how the classes overlap. Over {data['n']:,} simulated "
        f"arrangements of classes, ROBY by the paper's algorithm has rank correlation {scaled[0]:.2f} "
        f"({interval(scaled, 2)}) with the distance to the boundary; −1 is perfect. The same overlap "
        f"without the scaling has {unscaled[0]:.2f} ({interval(unscaled, 2)}).".replace("-0", "−0"),
        "The paper does not define its scaling. Its printed equations, read literally, follow the "
        "distance as well.",
        "rank correlation with the distance", bars)


def one_threshold():
    rows = [row for row in kept("he", "extra-one-number")
            if (row["network"], row["attack"]) == ("MNIST, normal", "OptMargin")]
    kind = {"dataset": "MNIST", "model_training": "normal", "training_attack": "OptMargin"}
    of = next(row["false_pos_benign_pct"].of for row in kept("he", "table-3") if kind.items() <= row.items())
    worst = {row["number"]: 100 - max(row["flagged"], row["margin"]) for row in rows}
    name = next(number for number in worst if number.startswith("nearest boundary"))
    bars = {label: share(round(worst[number] * of / 100), of)
            for label, number in (("one threshold", name), ("trained classifier", "the classifier"))}
    first, second = bars.values()
    return Finding(
        "he/5_classifier", "One threshold detects as well as a trained classifier",
        f"A threshold on the distance to the nearest boundary recognises at least {first[0]:.1f}% of {of} "
        f"clean digits and of {of} OptMargin images ({interval(first)}). A classifier trained on the "
        f"distances in all directions recognises at least {second[0]:.1f}% ({interval(second)}).",
        "An attacker who knows the threshold was not tested.",
        "lower of the two rates, %", bars)


def sorted_lists():
    import numpy as np

    from papers.chen import audit
    pairs = audit.sorted_uniform_correlations(np.random.default_rng(0), size=10, pairs=20_000)
    low, median, high = np.quantile(pairs, (0.025, 0.5, 0.975))
    return Finding(
        "audit/printed_numbers", "Equal order makes any correlation large",
        f"Two unrelated lists of ten random numbers, both sorted, correlate at {median:.3f} in the median; "
        f"95% of 20,000 pairs lie between {low:.2f} and {high:.2f}.",
        "Chen et al. report such correlations where their score ranks ten networks in the order of attack "
        "success. The equal order is the finding; the size of the correlation adds little.",
        "Pearson's correlation", {"sorted lists": (median, low, high)})


FINDINGS = few_directions, noise_and_theory, one_vote, disagreement, roby, one_threshold, sorted_lists


# ---- the page ---------------------------------------------------------------------------------------------
def drawn(finding):
    """A small figure: a bar for each value, its number behind it."""
    import matplotlib.pyplot as plt

    from report import display
    display.style()
    figure, ax = plt.subplots(figsize=(3.6, 0.75 + 0.33 * len(finding.bars)))
    low = -1.15 if min(value for value, *_ in finding.bars.values()) < 0 else 0
    high = 1 if low or max(value for value, *_ in finding.bars.values()) <= 1 else 100
    for y, (value, least, most) in enumerate(finding.bars.values()):
        ax.barh(y, value, color=display.PALETTE[y], height=0.6)
        ax.plot([least, most], [y, y], color="k", lw=1.5)
    ax.set(yticks=range(len(finding.bars)), yticklabels=finding.bars, xlim=(low, high))
    ax.set_xlabel(finding.axis, x=1, ha="right")     # room for its words is on the left
    ax.invert_yaxis()
    ax.axvline(0, color=display.GUIDE, lw=0.8)
    return display.png_of(figure)


def home(_):
    """The findings as cards."""
    folder = runs() / "pictures" / "book"
    folder.mkdir(parents=True, exist_ok=True)
    cards = []
    for n, finding in enumerate(FINDINGS, start=1):
        try:
            result = finding()
        except Missing:
            continue
        path = folder / f"finding-{finding.__name__}.png"
        path.write_bytes(drawn(result))
        values = ", ".join(f"{label} {value:.3g}" for label, (value, *_) in result.bars.items())
        cards.append(
            f":::{{grid-item-card}} {n}. {result.title}\n{result.says}\n\n"
            f"```{{image}} {os.path.relpath(path, ROOT / 'book')}\n:alt: {result.axis}: {values}\n"
            ":class: finding\n```\n\n"
            f"*{result.caveat}* {link('How this was measured', result.page)}.\n:::")
    return "::::{grid} 1 1 2 2\n:gutter: 3\n:class-container: findings\n\n" + "\n\n".join(cards) + "\n::::"
