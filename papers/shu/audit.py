"""Shu, Xi and Kamhoua: the printed numbers against each other, and the published scripts beside the text."""
import matplotlib.pyplot as plt
import numpy as np
from scipy import integrate, stats

from papers.findings import Checks, stated
from report import display

checks = Checks()


def distances(p):
    """Tables 4 and 10 with `sampled_d` and `attack_d`: how many pixel values the two sides may change."""
    sampled = [r["n_intervals"] for i in ("table-2", "table-10") for r in p.rows(i)]
    attacked = [r.get("n_perturbed_pixels", r.get("n_perturbed_dims"))
                for i in ("table-3", "table-7", "table-9") for r in p.rows(i)]
    rows = [r for i in ("table-4", "table-10") for r in p.rows(i)]
    return [{**row, "sampled_d": s, "attack_d": a} for row, s, a in zip(rows, sampled, attacked)]


def maxima(p):
    """(place, largest printed distance, changed pixel values) of every row and side of Tables 4 and 10."""
    return [(f"{row['attack']} {row['source_class']} {side}",
             max(row[f"{side}_l2_{c}"] for c in ("min", "mean", "max")), row[f"{side}_d"])
            for row in distances(p) for side in ("sampled", "attack")]


def expected_range(samples):
    """Expected max - min of `samples` standard normal draws."""
    def exceeds(x):
        return 1 - stats.norm.cdf(x) ** samples - stats.norm.sf(x) ** samples
    return integrate.quad(exceeds, -10, 10, limit=200)[0]


@checks
def plain_distance(p):
    printed = maxima(p)
    impossible = {place: (largest, d) for place, largest, d in printed if largest > np.sqrt(d)}
    return p.finding("table-4, table-10, table-2, table-3, table-7, table-9",
                     "The printed L2 distances are norms of changes within [0,1]",
                     quotes=[("the minimum amount of perturbations",
                              "Section 2.1, with the formula of a norm"),
                             ("pixels rescaled to [0, 1]", "Section 2.1")],
                     numbers={place: largest for place, (largest, _) in impossible.items()},
                     ours={"root of the changed values": {k: d**0.5 for k, (_, d) in impossible.items()},
                           "impossible as norms": f"{len(impossible)} of {len(printed)} triples",
                           "largest share of the possible as squared norms": max(
                               v / d for _, v, d in printed)},
                     holds=not impossible,
                     reading="the columns hold squared norms: then every row is possible.",
                     use="k pixel values in [0,1] move at most the root of k; the book compares squared "
                         "norms.")


@checks
def order_of_columns(p):
    wrong = {f"{r['attack']} {side}": tuple(r[f"{side}_l2_{c}"] for c in ("min", "mean", "max"))
             for r in distances(p) for side in ("sampled", "attack")
             if not r[f"{side}_l2_min"] <= r[f"{side}_l2_mean"] <= r[f"{side}_l2_max"]}
    return p.finding("table-4, table-10", "Distances obey minimum ≤ mean ≤ maximum",
                     quotes=[("the minimum amount of perturbations", "Section 2.1"),
                             ("the average amount of perturbations", "Section 2.1")], numbers=wrong,
                     ours={"rows out of order": len(wrong)}, holds=not wrong,
                     reading="one digit of the minimum is misprinted.",
                     use="The minimum of this row is no target; its mean and maximum may be right.")


def middle_is_mean(samples, spread, unit):
    """Probability that the middle of the extremes of `samples` normal draws that span `spread` lies within
    `unit` of their mean (the middle varies by pi / sqrt(24 ln n) standard deviations; Cramer, 1946)."""
    deviation = spread / expected_range(samples) * np.pi / np.sqrt(24 * np.log(samples))
    return 2 * stats.norm.cdf(unit / deviation) - 1


@checks
def midpoints(p):
    rows, unit = p.rows("table-4"), 0.0011  # one unit of the third decimal, as printed
    ends = np.array([(r["sampled_l2_min"], r["sampled_l2_max"]) for r in rows])
    printed = np.array([r["sampled_l2_mean"] for r in rows])
    same = int((np.abs(ends.mean(axis=1) - printed) < unit).sum())
    luck = [1.0]  # probabilities of 0, 1, ... rows that agree by chance
    samples = p.settings("table-4")["sampled_n"]
    for chance in middle_is_mean(samples, np.ptp(ends, axis=1), unit):
        luck = np.convolve(luck, [1 - chance, chance])
    return p.finding("table-4", "The printed averages differ from the middle of the extremes",
                     quotes=[("the average amount of perturbations", "Section 2.1")], numbers=printed,
                     ours={"(min + max) / 2": ends.mean(axis=1), "rows equal to it": f"{same} of {len(rows)}",
                           "chance of as many for normal samples": luck[same:].sum()},
                     holds=same <= len(rows) / 2, reading="the average is the middle of the range.",
                     use="Compare this column with the middle of the extremes as well as with the mean.")


@checks
def bim_dimensions(p):
    said, again = "attack perturbed 3071 dimensions and left 1 dimension untouched", "2000d vs. 3017d"
    value = p.rows("table-9")[0]["n_perturbed_dims"]
    d = p.settings("table-9")["input_dimension_d"]
    return p.finding("table-9", "Text and table agree on the pixel values that BIM L2 perturbs on CIFAR-10",
                     quotes=[(said, "Section 2.3"), (again, "Section 2.4")],
                     numbers=(int(stated(said)[0]), int(stated(again)[1])),
                     ours={"Table 9": value, "left untouched then": d - value},
                     holds=stated(said)[0] == value, reading="two digits are swapped in one of the places.",
                     use="The sentence of Section 2.3 is consistent in itself: the two counts add up to the "
                         "image.")


@checks
def spread_of_errors(p):
    error = p.frame("table-1").filter(regex=r"^M\d+$").stack().dropna().to_numpy()
    n = p.settings("table-1")["test_images"]
    chi2, chance, *_ = stats.chi2_contingency([error * n, n - error * n])
    tau, order = stats.kendalltau(np.arange(error.size), error)
    return p.finding("table-1", "Errors of the ten LeNets on clean test data",
                     quotes=[("have similar performance on clean test data", "Section 2.1"),
                             ("using different initial seeds", "Section 2.1")], numbers=tuple(error),
                     ours={"smallest": error.min(), "largest": error.max(), "chi-squared": chi2, "p": chance,
                           "Kendall tau of error and number": tau, "its p": order},
                     reading="similar means good; and the models are numbered by their error.",
                     use="A reproduction compares the size of the errors, not their order.")


@checks
def grey_levels(p):
    said, levels = "the maximum value 0.032", "This translates to 8 consecutive integer values"
    largest = max(r["smallest_interval"] for r in p.rows("table-2") if r["attack"] != "PW")
    return p.finding("table-2", "Smallest intervals span at most about eight grey levels",
                     quotes=[(said, "Section 2.1"), (levels, "Section 2.1")],
                     numbers=(*stated(said), *stated(levels)), ours=(largest, 255 * largest),
                     holds=bool(stated(said)[0] == largest and round(255 * largest) == stated(levels)[0]),
                     use="Intervals are a few grey levels wide, so rounding to 8 bits would change the "
                         "regions.")


@checks
def rectangles_need_less(p):
    ratio = {f"{r['attack']} {r['source_class']}": r["sampled_l2_mean"] / r["attack_l2_mean"]
             for r in distances(p)}
    return p.finding("table-4, table-10",
                     "Rectangle samples lie nearer the clean image than the attack's images",
                     quotes=[("that leads to smaller perturbations to create adversarial examples",
                              "Section 2.1")], numbers=f"{len(ratio)} rows", ours=ratio,
                     holds=(sum(v < 1 for v in ratio.values()), len(ratio)),
                     use="In the FGSM and MLP rows by a few percent only.")


@checks
def inside_the_ball(p):
    said = r"Let $\delta = 6$"
    (delta,), rows = stated(said), [r for r in p.rows("table-4") if r["source_class"] == 1]
    reach = {f"{r['attack']}": (r["sampled_l2_min"], r["sampled_l2_max"]) for r in rows}
    whole = [name for name, (_, far) in reach.items() if far <= delta]
    return p.finding("table-4, figure-10", "Which rectangles around the digit 1 lie within 6 of it",
                     quotes=[("the hyper-rectangles with larger perturbations are excluded", "Section 2.4")],
                     numbers={"delta": delta}, ours={"wholly": tuple(whole) or "none", "in part": tuple(
                         name for name, (near, far) in reach.items() if near <= delta < far) or "none"},
                     reading="Figure 10 is “a conceptual plot”, as Section 2.4 says.",
                     use="The figure's regions are not those of a table.")


@checks
def large_perturbations(p):
    largest = {name: max(r["attack_l2_mean"] for r in p.rows("table-4") if r["attack"] == name)
               for name in dict.fromkeys(r["attack"] for r in p.rows("table-4"))}
    nearest = min(largest.values())
    return p.finding("table-4", "How far the examples of the attacks lie that were chosen for small changes",
                     quotes=[("We also exclude attack algorithms that need large perturbations",
                              "Section 1.1")], numbers=largest,
                     ours={f"{name}, times the nearest": size / nearest for name, size in largest.items()},
                     reading="“large” is meant against the attacks that were left out.",
                     use="Sizes of the attacks differ too much to be compared as one group.")


@checks
def words(p):
    shown = sorted({r["attack"] for i in ("table-2", "table-7", "table-9") for r in p.rows(i)})
    return [
        p.finding("table-2, table-7, table-9", "Attacks named and attacks with a printed result",
                  kind="words",
                  quotes=[("Here are the attack algorithms that are used in our experiments", "Section 1.1")],
                  ours=tuple(shown),
                  reading="results were chosen for the limited space, as Section 2.1 says.",
                  use="BIM L1 has no printed result, and BIM L2 none on MNIST."),
        p.finding("procedure-region-types, figure-10", "Region types carry one numbering", kind="words",
                  quotes=[("The target model correctly classifies the adversarial examples",
                           "type 2 in Section 2.1"),
                          ("Type 1 and 3 are the uncertainty regions", "Section 2.4")], holds=False,
                  reading="each section is taken with its own list.",
                  use="Types 2 and 3 change places between the sections; the book names regions by what they "
                      "do."),
        # What the scripts of the paper's repository (revision 3ffbdcd) do, read, not copied.
        p.finding("procedure-hyper-rectangle", "Attacks in the published scripts", kind="scripts",
                  numbers=tuple(shown), ours=("BIM L1", "ADef"),
                  use="None of the tables can be rerun from the scripts alone."),
        p.finding("table-2", "Models scored on the rectangle samples", kind="scripts", numbers="M1 to M10",
                  ours="always M1",
                  use="The published function scores one model; the others need a line of their own."),
    ]


# ---- picture ---------------------------------------------------------------------------------------------
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)  # ticks of the figure's logarithmic axis


def draw_distances(distances):
    """Share of the possible, a row per printed distance, as a norm and as a squared norm."""
    rows = distances.sort_values("as_norm").reset_index(drop=True)
    figure, ax = plt.subplots(figsize=(8.5, 5))
    ax.hlines(rows.index, rows.as_square, rows.as_norm, color=display.PALE, lw=1, zorder=0)
    ax.plot(rows.as_norm, rows.index, "o", color=display.PALETTE[3], label="as a norm: published / √k")
    ax.plot(rows.as_square, rows.index, "s", color=display.PALETTE[0],
            label="as a square: published / k")
    ax.axvline(1, color="k", lw=1)
    ax.set(xscale="log", xlabel="share of the largest possible", yticks=rows.index)
    ax.set_xticks(SHARES, [f"{share:g}" for share in SHARES])
    ax.minorticks_off()
    ax.set_yticklabels([f"{r.place}, k = {r.pixels}" for r in rows.itertuples()])
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, columnspacing=1)
    return figure
