"""Shu, Xi and Kamhoua: the printed numbers against each other, and the published scripts against the text."""
import numpy as np
from scipy import integrate, optimize, special, stats

from shared.audit.finding import Checks, rounds_to

checks = Checks("shu")
# Bottleneck blocks of MobileNetV2 by stage (Sandler et al. 2018, Table 2), the reference the paper names.
MOBILENET_V2_BLOCKS = (1, 2, 3, 4, 3, 3, 1)
# What the scripts of the paper's repository (revision 3ffbdcd) do, read, not copied.
SCRIPTS = {"attacks": ("BIM L1", "ADef"), "scored model": "always M1"}


def distances(p):
    """Tables 4 and 10 with `sampled_d` and `attack_d`: the number of pixels the two sides may change."""
    boxes, attacks = p.frame("table-2"), p.frame("table-3")
    first = p.frame("table-4").assign(sampled_d=boxes.n_intervals, attack_d=attacks.n_perturbed_pixels)
    last = p.frame("table-10")
    pixels = [*p.frame("table-7").n_perturbed_pixels, *p.frame("table-9").n_perturbed_dims]
    return [*first.to_dict("records"),
            *last.assign(sampled_d=last.n_intervals, attack_d=pixels).to_dict("records")]


def maxima(p):
    """(place, largest printed distance, changed pixels) of every row and side of Tables 4 and 10."""
    return [(f"{row['attack']} {row['source_class']} {side}",
             max(row[f"{side}_l2_{c}"] for c in ("min", "mean", "max")), row[f"{side}_d"])
            for row in distances(p) for side in ("sampled", "attack")]


def errors(p, item):
    """Clean error rates of a table's models, M1 first; the print of Table 1 stacks two rows."""
    return p.frame(item).filter(regex=r"^M\d+$").stack().dropna().to_numpy()


def pointwise_samples(generator, *, pixels, samples):
    """Squared L2 norm of `samples` images that move `pixels` zero pixels to U(0,1), shape (samples,)."""
    return (generator.random((samples, pixels)) ** 2).sum(axis=1)


def expected_range(samples):
    """Expected max - min of `samples` standard normal draws."""
    def exceeds(x):
        return 1 - stats.norm.cdf(x) ** samples - stats.norm.sf(x) ** samples
    return integrate.quad(exceeds, -10, 10, limit=200)[0]


@checks
def plain_distance(p):
    impossible = [place for place, largest, pixels in maxima(p) if largest > np.sqrt(pixels)]
    return p.finding("table-4, table-10", "The printed L2 distances are norms of changes within [0,1]",
                     printed={place: largest for place, largest, _ in maxima(p) if place in impossible},
                     recomputed={place: float(np.sqrt(d)) for place, _, d in maxima(p)
                                 if place in impossible},
                     holds=not impossible, source="table-4.rows, table-10.rows, table-2.rows, table-3.rows",
                     consequence="k pixels in [0,1] cannot move farther than the root of k, so these are no "
                                 "L2 norms.")


@checks
def squared_distance(p):
    share = max(largest / pixels for _, largest, pixels in maxima(p))
    return p.finding("table-4, table-10",
                     "The printed L2 distances are squared norms of changes within [0,1]",
                     printed=tuple(largest for _, largest, _ in maxima(p)),
                     recomputed={"largest share of the possible": share}, holds=share <= 1,
                     source="table-4.rows, table-10.rows, table-2.rows, table-3.rows",
                     consequence="All rows are possible when read as squares; the book reports both norms.")


@checks
def pointwise_rectangle(p):
    row = next(r for r in distances(p) if r["attack"] == "PW")
    squared = pointwise_samples(p.generator, pixels=row["sampled_d"],
                                samples=p.settings("table-4")["sampled_n"])
    low, mean, high = squared.min(), squared.mean(), squared.max()
    printed = (row["sampled_l2_min"], row["sampled_l2_mean"], row["sampled_l2_max"])
    return p.finding("table-4", "Uniform pixels give the squared, not the plain, norms of the PW rectangle",
                     printed=printed, recomputed={"squared": (low, mean, high),
                                                  "plain": tuple(np.sqrt((low, mean, high)))},
                     holds=bool(abs(mean - printed[1]) < abs(np.sqrt(mean) - printed[1])),
                     consequence="The squared reading also fits in size, from zero background alone.")


@checks
def fgsm_interval(p):
    row = next(r for r in distances(p) if r["attack"] == "FGSM")
    width = p.frame("table-2").set_index("attack").at["FGSM", "smallest_interval"]
    sd = (row["sampled_l2_max"] - row["sampled_l2_min"]) / expected_range(p.settings("table-4")["sampled_n"])
    # A change uniform on a width w around m has a square of STD 2 m w / sqrt(12); the sum of d, sqrt(d) more.
    d, mean = row["sampled_d"], row["sampled_l2_mean"]
    squared = sd * np.sqrt(12) / (2 * np.sqrt(mean / d) * np.sqrt(d))
    plain = sd * 2 * mean * np.sqrt(12) / (2 * (mean / np.sqrt(d)) * np.sqrt(d))
    return p.finding("table-2, table-4", "The spread of FGSM's rectangle fits its smallest interval",
                     printed=width, recomputed={"common width, squared": squared, "plain": plain},
                     holds=bool(abs(np.log(squared / width)) < abs(np.log(plain / width))),
                     consequence="Read as squares, the spread of the samples gives the printed interval "
                                 "width.")


@checks
def fgsm_attack_range(p):
    row = next(r for r in distances(p) if r["attack"] == "FGSM")
    width = p.frame("table-2").set_index("attack").at["FGSM", "smallest_interval"]
    ends = np.array([row["attack_l2_min"], row["attack_l2_max"]])
    squared, plain = np.sqrt(ends / row["attack_d"]), ends / np.sqrt(row["attack_d"])
    return p.finding("table-2, table-4", "Interval width if every FGSM pixel moves by the same epsilon",
                     printed=width, recomputed={"epsilon, squared": tuple(squared),
                                                "width, squared": np.ptp(squared),
                                                "width, plain": np.ptp(plain)}, holds=None,
                     consequence="No reading of the norms gives the printed smallest interval from the "
                                 "attack's own range: the pixels cannot all have moved by one epsilon.")


@checks
def order_of_columns(p):
    wrong = {f"{r['attack']} {side}": (r[f"{side}_l2_min"], r[f"{side}_l2_mean"], r[f"{side}_l2_max"])
             for r in distances(p) for side in ("sampled", "attack")
             if not r[f"{side}_l2_min"] <= r[f"{side}_l2_mean"] <= r[f"{side}_l2_max"]}
    return p.finding("table-4, table-10", "Distances obey minimum <= mean <= maximum", printed=wrong,
                     recomputed={"rows out of order": len(wrong)}, holds=not wrong,
                     consequence="No reading of the row is possible; it cannot be a target.")


@checks
def midpoints(p):
    t = p.frame("table-4")
    middle = (t.sampled_l2_min + t.sampled_l2_max) / 2
    same = (middle - t.sampled_l2_mean).abs() < 0.0011  # one unit of the third decimal, as printed
    return p.finding("table-4", "The printed means of the rectangle samples are means",
                     printed=tuple(t.sampled_l2_mean),
                     recomputed={"(min + max) / 2": tuple(middle), "rows equal to it": int(same.sum())},
                     holds=bool(same.sum() <= len(t) / 2),
                     consequence="The column is the midpoint of the extremes in most rows; compare it with "
                                 "that.")


@checks
def bim_dimensions(p):
    said, = p.quote("table-9", "inconsistencies", r"says (\d+) dimensions")
    value = int(p.frame("table-9").n_perturbed_dims.item())
    d = p.settings("table-9")["input_dimension_d"]
    return p.finding("table-9", "Text and table agree on the pixels BIM L2 perturbs on CIFAR-10",
                     printed=said, recomputed={"table": value, "untouched by the text": int(d - said),
                                               "untouched by the table": d - value},
                     holds=said == value, source="table-9.inconsistencies, table-9.rows",
                     consequence="Two digits are swapped in one of the places; the text's count fits its "
                                 "own rest.")


@checks
def region_types_in_ball(p):
    delta, rates = p.settings("figure-10")["delta"], p.frame("table-2").set_index("attack")
    inside = [r["attack"] for r in distances(p) if r["attack"] in rates.index
              and r["sampled_l2_max"] <= delta]
    fooling = [a for a in inside if rates.at[a, "M1"] >= 0.5]  # "most samples", procedure-region-types
    return p.finding("figure-10, table-2, table-4", "The delta-ball of Figure 10 holds regions that fool M1",
                     printed=p.text("figure-10", "claims", "type 1 and type 2"),
                     recomputed={"rectangles inside": tuple(inside), "of them fooling M1": len(fooling),
                                 "radius if squared": float(np.sqrt(delta))}, holds=bool(fooling),
                     consequence="The figure is a sketch: its solid segments are not among the tabulated "
                                 "rectangles.")


@checks
def largest_perturbation(p):
    t = p.frame("table-4").set_index("attack").attack_l2_mean
    return p.finding("table-4", "MI's perturbation beside those of the other attacks",
                     printed=t["MI"], recomputed={"median of the others": t.drop("MI").median(),
                                                  "times": t["MI"] / t.drop("MI").median()}, holds=None,
                     consequence="MI moves far more than the rest although attacks with large changes were "
                                 "left out.")


@checks
def near_99_percent(p):
    claim, = p.quote("table-1", "claims", r"close to (\d+)% accuracy")
    accuracy = 100 * (1 - errors(p, "table-1"))
    return p.finding("table-1", "The LeNets reach nearly 99% accuracy", printed=claim,
                     recomputed={"smallest": accuracy.min(), "largest": accuracy.max(),
                                 "models that round to it": sum(rounds_to(a, claim, 0) for a in accuracy)},
                     holds=all(rounds_to(a, claim, 0) for a in accuracy),
                     source="table-1.claims, table-1.rows",
                     consequence="Only part of the ten are near it, and the attacked M1 is among the "
                                 "weakest.")


@checks
def equal_models(p):
    found = []
    for item, what in (("table-1", "LeNets"), ("table-5", "MLPs"), ("table-8", "MobileNets")):
        error = errors(p, item)
        n = 10_000  # test images of MNIST and of CIFAR-10
        wrong = error * n
        chi2, chance, *_ = stats.chi2_contingency([wrong, n - wrong])
        found.append(p.finding(item, f"The {what} perform alike on clean data", printed=tuple(error),
                               recomputed={"chi-squared": chi2, "p": chance}, holds=bool(chance > 0.01),
                               consequence="Alike means within what 10,000 test images can tell; else more "
                                           "than the seed differs."))
    return found


@checks
def errors_fall_with_index(p):
    error = errors(p, "table-1")
    tau, chance = stats.kendalltau(np.arange(error.size), error)
    return p.finding("table-1", "The ten LeNets differ by their seed alone", printed=tuple(error),
                     recomputed={"Kendall tau of error and index": tau, "p": chance},
                     holds=bool(chance > 0.01),
                     consequence="The errors fall with the model's number, as they would with training time; "
                                 "transfer between the models is then also between stages of training.",
                     source="table-1.settings.models_differ_by, table-1.rows")


@checks
def grey_levels(p):
    width, levels = p.quote("table-2", "claims", r"at most (0\.\d+), about (\d+) grey levels")
    t = p.frame("table-2")
    largest = t[t.attack != "PW"].smallest_interval.max()
    return p.finding("table-2", "Smallest intervals span at most about eight grey levels",
                     printed=(width, levels),
                     recomputed=(largest, 255 * largest),
                     holds=bool(width == largest and round(255 * largest) == levels),
                     consequence="Intervals are a few grey levels wide, so rounding to 8 bits would change "
                                 "the regions.",
                     source="table-2.claims, table-2.rows")


@checks
def rectangles_need_less(p):
    ratio = {f"{r['attack']} {r['source_class']}": r["sampled_l2_mean"] / r["attack_l2_mean"]
             for r in distances(p)}
    return p.finding("table-4, table-10",
                     "Rectangle samples lie nearer the clean image than the attack's images",
                     printed=f"{len(ratio)} rows", recomputed=ratio, holds=max(ratio.values()) < 1,
                     consequence="Holds in every row; in the FGSM and MLP rows by a few percent only.")


@checks
def ball_volume(p):
    delta, d = p.settings("figure-10")["delta"], p.settings("table-1")["input_dimension_d"]

    def log_volume(n):
        return n / 2 * np.log(np.pi) - special.gammaln(1 + n / 2) + n * np.log(delta)
    peak = optimize.minimize_scalar(lambda n: -log_volume(n), bounds=(1, d), method="bounded").x
    return p.finding("equation-ball-volume", "For fixed delta the ball's volume goes to 0 with dimension",
                     printed={"delta": delta, "dimension": d},
                     recomputed={"log10 volume": log_volume(d) / np.log(10),
                                 "dimension of largest volume": float(peak)},
                     holds=bool(peak < d and log_volume(d) < 0),
                     source="equation-ball-volume.formula, figure-10.settings",
                     consequence="True at MNIST's size, but the volume grows with dimension up to the peak "
                                 "first.")


@checks
def words(p):
    shown = sorted({r["attack"] for i in ("table-2", "table-7", "table-9") for r in p.paper[i].rows})
    notes = p.paper.about["text_notes"]
    return [
        p.finding("table-2, table-7, table-9", "Every attack that is introduced has a result", kind="text",
                  printed=notes[notes.index("Attack names"):], recomputed=tuple(shown), holds=False,
                  source="paper.text_notes, table-2.rows, table-7.rows, table-9.rows",
                  consequence="BIM L1 has no printed result, and BIM L2 none on MNIST."),
        p.finding("procedure-region-types", "Region types carry one numbering", kind="text",
                  printed=p.text("procedure-region-types", "transcription_notes", "Section 2.1"),
                  recomputed=p.text("figure-10", "claims", "Types 1 and 3"), holds=False,
                  source="procedure-region-types.transcription_notes, figure-10.claims",
                  consequence="Types 2 and 3 change places between sections; the book names regions by what "
                              "they do."),
        p.finding("table-8", "The MobileNet has the blocks of the reference it names", kind="text",
                  printed=p.settings("table-8")["model"], recomputed=sum(MOBILENET_V2_BLOCKS), holds=False,
                  source="table-8.settings.model",
                  consequence="The published MobileNetV2 has fewer bottlenecks; which variant was trained "
                              "is open."),
        p.finding("procedure-hyper-rectangle", "Attacks in the published scripts", kind="code",
                  printed=tuple(shown), recomputed=SCRIPTS["attacks"], holds=False,
                  source="table-2.rows; published scripts",
                  consequence="None of the tables can be rerun from the scripts; one attack is not in the "
                              "paper."),
        p.finding("table-2", "Every model is scored on the rectangle samples", kind="code",
                  printed="M1 to M10", recomputed=SCRIPTS["scored model"], holds=False,
                  source="table-2.rows; published scripts",
                  consequence="The published function cannot have made the columns of the other nine "
                              "models."),
    ]
