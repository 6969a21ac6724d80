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


def kept(paper, item):
    """The rows of an item's record, or a figure's data; LookupError where there is no record."""
    from report import record
    found = record.read(paper, item)
    if found is None:
        raise LookupError(f"{paper} {item} has no record")
    return found.get("rows") or found["data"]


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
    from papers.he.experiments import TOP
    digits = kept("he", "figure-2")["mnist-normal"]["benign"]
    attack = by("examples", kept("he", "table-1"))["OptBrittle"]["mnist_normal_rms"]
    drawn = kept("he", "figure-1")["mnist-normal"]["benign"]["directions"]
    bar = share(digits["beyond"], digits["images"])
    return Finding(
        "he/4_boundary", "The boundary is near in a few directions only",
        f"For {bar[0]:.0f}% of {digits['images']} handwritten digits ({interval(bar)}), most of {drawn:,} "
        f"random directions meet no other label within an RMS distance of {TOP['mnist']}. An attack "
        f"crosses the boundary at {attack:.2g}.",
        "Distances are searched in steps, on one network.",
        "digits that most random directions leave unchanged, %", {"random directions": bar})


def noise_and_theory():
    from papers.sutton.theory.ball import tail
    from report import record
    images = kept("sutton", "figure-1")["test"]
    draws = record.read("sutton", "figure-1")["scale"]["parts"]["draws"][0]
    flat = 100 * draws * float(tail(3072, 0.1))
    bar = (images["turned_10_pct"], *images["turned_10_interval"])
    return Finding(
        "sutton/7_2_1_cifar10", "Noise crosses the boundary of a network far more often than that of a plane",
        f"Random perturbations of up to ten times the norm of an attack change the label of {bar[0]:.0f}% "
        f"of {images['perturbed']} images of aeroplanes and cats at least once in {draws:,} draws "
        f"({interval(bar)}). Across a flat boundary at the same distance the chance is below "
        f"{max(flat, 0.01):.2g}%.",
        "The paper's theorems hold for boundaries with small bends; this network's boundary need not be one.",
        "images whose label changes, %", {"network": bar, "flat boundary": (flat, flat, flat)})


def one_vote():
    column, rows = "mnist_region_normal_accuracy_pct", by("examples", kept("he", "table-2"))
    of = rows["OptMargin"][f"{column}_of"]
    bars = {name: share(round(rows[name][column] * of / 100), of) for name in ("OptBrittle", "OptMargin")}
    return Finding(
        "he/3_optmargin", "A defence that undoes one attack fails against the next",
        f"A majority vote over noisy copies of an image restores the label of {bars['OptBrittle'][0]:.0f}% "
        f"of the minimum-norm adversarial digits (OptBrittle), but of {bars['OptMargin'][0]:.0f}% of those "
        f"made to withstand noise (OptMargin; n = {of}, {interval(bars['OptMargin'], 1)}).",
        "One network on MNIST. An unpublished weight of OptBrittle was chosen by such a vote on another "
        "network.",
        "labels that the vote restores, %", bars)


def disagreement():
    data = kept("shu", "procedure-robust-classification")
    clean = tuple(data["false"][k] for k in ("percent", "low", "high"))
    adversarial, noise = (100 * data[f"alarm_{k}"] for k in ("adversarial", "random_noise"))
    return Finding(
        "shu/2_4_alarm", "Networks that differ in their seed alone expose most adversarial images",
        f"{data['networks']} networks trained from different seeds disagree on {adversarial:.0f}% of "
        f"{data['examples']:,} adversarial images made on one of them, on {noise:.0f}% of images with "
        f"random noise of the same norm, and on {clean[0]:.1f}% of {data['false']['of']:,} clean digits "
        f"({interval(clean, 1)}).",
        "The adversarial images start from one digit. An attack on all networks at once was not tested.",
        "images on which two networks disagree, %",
        {"adversarial": (adversarial,) * 3, "noise": (noise,) * 3, "clean": clean})


def roby():
    data = kept("chen", "property-1")
    free = data["arrangements"]["separation differs up to fourfold"]
    bars = {label: tuple(free[f"{name}{end}"] for end in ("", "_low", "_high"))
            for label, name in (("ROBY", "roby"), ("overlap, unscaled", "overlap"))}
    return Finding(
        "chen/iii_roby", "A metric without attacks stands or falls with its scaling",
        f"Over {data['n']:,} arrangements of classes made by hand, ROBY as its algorithm computes it does "
        f"not follow the distance to the boundary: rank correlation {bars['ROBY'][0]:.2f} "
        f"({interval(bars['ROBY'], 2)}; perfect: −1). The overlap of the classes without its scaling does: "
        f"{bars['overlap, unscaled'][0]:.2f}.".replace(
            "-0", "−0"),
        "The paper does not define its scaling; its printed equations, read literally, follow the "
        "distance, too.",
        "rank correlation with the distance", bars)


def one_threshold():
    rows = [row for row in kept("he", "extra-one-number")
            if (row["network"], row["attack"]) == ("MNIST, normal", "OptMargin")]
    kind = {"dataset": "MNIST", "model_training": "normal", "training_attack": "OptMargin"}
    of = next(row["false_pos_benign_pct_of"] for row in kept("he", "table-3") if kind.items() <= row.items())
    worst = {row["number"]: 100 - max(row["flagged"], row["margin"]) for row in rows}
    name = next(number for number in worst if number.startswith("nearest boundary"))
    bars = {label: share(round(worst[number] * of / 100), of)
            for label, number in (("one threshold", name), ("trained classifier", "the classifier"))}
    first, second = bars.values()
    return Finding(
        "he/5_classifier", "One threshold detects as well as a trained classifier",
        "A threshold on the distance to the nearest boundary tells digits from OptMargin examples with an "
        f"accuracy of {first[0]:.1f}% on the worse of the two classes (n = {of}, {interval(first)}). A "
        f"classifier trained on all distances reaches {second[0]:.1f}%.",
        "An attacker who knows the threshold was not tested.", "accuracy on the worse class, %", bars)


def sorted_lists():
    import numpy as np

    from papers.chen import audit
    pairs = audit.sorted_uniform_correlations(np.random.default_rng(0), size=10, pairs=20_000)
    low, median, high = np.quantile(pairs, (0.025, 0.5, 0.975))
    return Finding(
        "audit/printed_numbers", "Equal order makes any correlation large",
        "Two lists of ten random numbers that have nothing in common, both sorted, correlate at "
        f"{median:.3f} in the median (95% of 20,000 pairs: {low:.2f} to {high:.2f}).",
        "Where a metric ranks ten networks exactly as an attack does, the rank is the finding; the size "
        "of Pearson's coefficient adds little.",
        "Pearson's correlation", {"sorted lists": (median, low, high)})


FINDINGS = few_directions, noise_and_theory, one_vote, disagreement, roby, one_threshold, sorted_lists


# ---- the page ---------------------------------------------------------------------------------------------
def drawn(found):
    """A small figure: a bar for each value, its number behind it."""
    import matplotlib.pyplot as plt

    from report import display
    display.style()
    figure, ax = plt.subplots(figsize=(3.6, 0.75 + 0.33 * len(found.bars)))
    low = -1.15 if min(value for value, *_ in found.bars.values()) < 0 else 0
    high = 1 if low or max(value for value, *_ in found.bars.values()) <= 1 else 100
    for y, (value, least, most) in enumerate(found.bars.values()):
        ax.barh(y, value, color=display.PALETTE[y], height=0.6)
        ax.plot([least, most], [y, y], color="k", lw=1.5)
    ax.set(yticks=range(len(found.bars)), yticklabels=found.bars, xlim=(low, high))
    ax.set_xlabel(found.axis, x=1, ha="right")     # room for its words is on the left
    ax.invert_yaxis()
    ax.axvline(0, color="0.3", lw=0.8)
    return display.png_of(figure)


def home(_):
    """The findings as cards."""
    folder = runs() / "pictures" / "book"
    folder.mkdir(parents=True, exist_ok=True)
    cards = []
    for n, finding in enumerate(FINDINGS, start=1):
        try:
            found = finding()
        except LookupError:     # a record is missing
            continue
        path = folder / f"finding-{finding.__name__}.png"
        path.write_bytes(drawn(found))
        values = ", ".join(f"{label} {value:.3g}" for label, (value, *_) in found.bars.items())
        cards.append(
            f":::{{grid-item-card}} {n}. {found.title}\n{found.says}\n\n"
            f"```{{image}} {os.path.relpath(path, ROOT / 'book')}\n:alt: {found.axis}: {values}\n"
            ":class: finding\n```\n\n"
            f"*{found.caveat}* {link('How this was measured', found.page)}.\n:::")
    return "::::{grid} 1 1 2 2\n:gutter: 3\n:class-container: findings\n\n" + "\n\n".join(cards) + "\n::::"
