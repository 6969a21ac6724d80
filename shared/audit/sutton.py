"""Sutton et al.: accuracies and susceptibilities; `sutton_counts` has the counts of images,
`sutton_sizes` the sizes of attacks."""
import numpy as np
import pandas as pd

from shared.audit.finding import Checks, rounds_to
from shared.theory.ball import tail

checks = Checks("sutton")
SPLITS = ("train", "test")
RANDOM_TABLES = {1: "table-9", 2: "table-10", 5: "table-11", 10: "table-12"}  # CIFAR-10, by size of the draw


def problems(p, data):
    """Percentages of every problem: DataFrame indexed by (class_a, class_b, split), columns accuracy,
    susceptibility and one per size of the random draw (1, 2, 5, 10)."""
    def column(item, name, keep=lambda t: slice(None)):
        t = p.frame(item)
        t = t.loc[keep(t)].set_index(["class_a", "class_b"])[list(SPLITS)]
        return t.rename_axis(columns="split").stack().rename(name)
    if data == "cifar10":
        sources = {"accuracy": "table-4", "susceptibility": "table-5", **RANDOM_TABLES}
        return pd.concat([column(item, name) for name, item in sources.items()], axis=1)
    item = {"fashion_mnist": "table-20", "gtsrb": "table-23"}[data]
    parts = [column(item, "accuracy", lambda t: t.quantity == "accuracy"),
             column(item, "susceptibility", lambda t: t.quantity == "adversarial_susceptibility")]
    return pd.concat(parts + [column(item, d, lambda t, d=d: t.delta_inferred == d) for d in RANDOM_TABLES],
                     axis=1)


def consecutive(table):
    """The problems k-vs-(k+1)."""
    a, b = (table.index.get_level_values(k) for k in ("class_a", "class_b"))
    return table[b == a + 1]


def summary(p, data):
    """Table 1's column of a data set as {(quantity, split): value} for the five percentages."""
    names = ["accuracy", "susceptibility", 2, 5, 10]
    return {(n, s): row[data][s] for n, row in zip(names, p.paper["table-1"].rows) for s in SPLITS}


@checks
def summary_is_median(p):
    entries, off = 0, {}
    for data in ("cifar10", "fashion_mnist", "gtsrb"):
        median = consecutive(problems(p, data)).groupby(level="split").median()
        for (name, split), value in summary(p, data).items():
            entries += 1
            if not rounds_to(median.at[split, name], value, 2):
                off[f"{data} {name} {split}"] = (value, median.at[split, name])
    return p.finding("table-1, table-4, table-5, table-10, table-11, table-12, table-20, table-23",
                     "Table 1 prints medians over the problems k-vs-(k+1), row by row",
                     printed=f"{entries} entries",
                     recomputed={"equal": entries - len(off), "others (printed, median)": off},
                     holds=len(off) <= 1,
                     consequence="The column mixes different problems, which the paper does not say.")


@checks
def summary_misprint(p):
    printed = summary(p, "cifar10")[10, "train"]
    rates = consecutive(problems(p, "cifar10"))[10].xs("train", level="split")
    return p.finding("table-1, table-12", "CIFAR-10 train entry of the largest random draw in Table 1",
                     printed=printed, recomputed={"median": rates.median(), "occurs in Table 12": bool(
                         (p.frame("table-12").train == printed).any())},
                     holds=bool(rates.median() == printed),
                     consequence="One digit is misprinted; use the value of Table 12.")


@checks
def summary_is_no_problem(p):
    printed = pd.Series(summary(p, "cifar10"))
    table = problems(p, "cifar10").unstack("split")
    equal = (table[printed.index] == printed).sum(axis=1)
    best = equal.idxmax()
    return p.finding("table-1, figure-1",
                     "Table 1's CIFAR-10 column is one problem, such as aeroplane-vs-cat",
                     printed=p.paper["figure-1"].raw["settings"]["problem"],
                     recomputed={"entries": len(printed), "equal in 0-vs-3": int(equal[0, 3]),
                                 f"equal in the best, {best[0]}-vs-{best[1]}": int(equal.max()),
                                 "0-vs-3": tuple(table.loc[(0, 3), printed.index])}, holds=None,
                     consequence="No single network has the numbers of the column.",
                     source="figure-1.settings.problem, table-1.rows, table-4.rows, table-5.rows")


def prose_of(p, item, what):
    """(mean, STD, minimum) of a 45-problem table as the prose states and as the table gives, by split."""
    stated = {s: p.quote(item, "claims", rf"{s}\w* {what} is ([\d.]+)% \(std ([\d.]+)\), minimum ([\d.]+)%")
              for s in ("training", "test")}
    t = p.frame(item)
    return stated, {long: (t[s].mean(), t[s].std(ddof=0), t[s].min()) for long, s in zip(stated, SPLITS)}


@checks
def accuracy_prose(p):
    stated, given = prose_of(p, "table-4", "accuracy")
    holds = all(rounds_to(g, v, 2) for s in stated for g, v in zip(given[s], stated[s]))
    return p.finding("table-4", "Mean, STD and minimum of accuracy in the prose are Table 4's",
                     printed=stated,
                     recomputed=given, holds=holds, source="table-4.claims, table-4.rows",
                     consequence="Right with the population STD, which fixes that convention.")


@checks
def susceptibility_prose(p):
    stated, given = prose_of(p, "table-5", "susceptibility")
    holds = all(rounds_to(g, v, 2) for s in stated for g, v in zip(given[s][:2], stated[s][:2]))
    return p.finding("table-5", "Mean and STD of susceptibility in the prose are Table 5's",
                     printed={s: v[:2] for s, v in stated.items()},
                     recomputed={s: v[:2] for s, v in given.items()},
                     holds=holds, source="table-5.claims, table-5.rows",
                     consequence="The networks are easier to attack than the prose says; use the table.")


@checks
def susceptibility_minimum(p):
    stated, given = prose_of(p, "table-5", "susceptibility")
    t = p.frame("table-5").set_index(["class_a", "class_b"])
    where = {s: t[s].idxmin() for s in SPLITS}
    return p.finding("table-5", "Susceptibility is least on frog vs ship (6 vs 8)",
                     printed={s: v[2] for s, v in stated.items()},
                     recomputed={s: (t[s].min(), *where[s]) for s in SPLITS},
                     holds=set(where.values()) == {(6, 8)}
                     and all(stated[s][2] == given[s][2] for s in stated),
                     source="table-5.claims, table-5.rows",
                     consequence="The minima were taken from the printed table.")


@checks
def vast_majority(p):
    level, = p.quote("table-5", "claims", r"more than (\d+)% of images")
    t = p.frame("table-5")
    above = {s: int((t[s] > level).sum()) for s in SPLITS}
    return p.finding("table-5", "In the vast majority of problems more than 80% of images can be attacked",
                     printed=level, recomputed={**above, "problems": len(t)},
                     holds=min(above.values()) > 0.8 * len(t), source="table-5.claims, table-5.rows",
                     consequence="A fair summary of the table.")


@checks
def rarely_flipped(p):
    level, = p.quote("table-11", "claims", r"fewer than (\d+)% of images")
    share = {}
    for data in ("cifar10", "fashion_mnist", "gtsrb"):
        rates = problems(p, data)[5]
        share[data] = (int((rates < level).sum()), len(rates))
    return p.finding("table-11, table-20, table-23",
                     "At five times the attack norm typically under 5% are flipped",
                     printed=level, recomputed=share, holds=share["cifar10"][0] > share["cifar10"][1] / 2,
                     source="table-11.claims, table-11.rows, table-20.rows, table-23.rows",
                     consequence="True of CIFAR-10, of which it is said, but not of Fashion-MNIST.")


@checks
def monotone_in_draw(p):
    steps = np.concatenate([np.diff(problems(p, d)[list(RANDOM_TABLES)].to_numpy(float), axis=1).ravel()
                            for d in ("cifar10", "fashion_mnist", "gtsrb")])
    return p.finding("table-9, table-10, table-11, table-12, table-20, table-23",
                     "Larger random draws never flip fewer images", printed=f"{steps.size} steps",
                     recomputed={"smallest step": steps.min()}, holds=bool(steps.min() >= 0),
                     consequence="Fits one set of directions, scaled; a good test of a reproduction.")


@checks
def imagenet_summary(p):
    nets = ("resnet50", "vgg19")
    full = [[row[net] for net in nets] for row in p.paper["table-25"].rows]
    short = [[row[f"imagenet_{net}"]["test"] for net in nets] for row in p.paper["table-1"].rows[:5]]
    short = [row for row in short if None not in row]
    return p.finding("table-1, table-25", "Table 1 repeats the ImageNet results of Table 25", printed=short,
                     recomputed=full, holds=short == full, consequence="The two tables are one source.")


@checks
def small_attacks_on_imagenet(p):
    total = p.frame("table-25").set_index("quantity").loc["adversarial_susceptibility"]
    small = {net: p.numbers(f)["share_linf_below_0.1_pct"]
             for net, f in (("resnet50", "figure-21"), ("vgg19", "figure-22"))}
    return p.finding("figure-21, figure-22, table-25",
                     "Share of ImageNet attacks below 0.1 in the largest pixel change",
                     printed=small,
                     source="figure-21.printed_numbers, figure-22.printed_numbers, table-25.rows",
                     recomputed={"if of all correct images, share of the attackable":
                                 tuple(100 * small[net] / total[net] for net in small)}, holds=None,
                     consequence="The denominator is unstated; either nearly all successful attacks are "
                                 "small, or the share is of the attackable images and says less.")


@checks
def planar_boundary(p):
    draws, size = p.settings("table-12")["n_random_perturbations"], 10
    dims = {"cifar10": 3072, "fashion_mnist": 28 * 28 * 3,
            "imagenet_resnet50": p.settings("table-25")["input_dimension_d"]}
    row = p.paper["table-1"].rows[4]
    flips = {data: -np.expm1(draws * np.log1p(-tail(n, 1 / size))) for data, n in dims.items()}
    return p.finding("table-1, theorem-1",
                     "Images that 2000 draws of ten times the attack would flip at a flat boundary",
                     printed={data: row[data]["test"] for data in dims},
                     recomputed={data: 100 * v for data, v in flips.items()}, holds=None,
                     source="table-1.rows, table-12.settings.n_random_perturbations",
                     consequence="A flat boundary at the attack's distance explains almost none of the "
                                 "observed flips.")


@checks
def words(p):
    formula = p.paper["theorem-6"].raw["formula_reconstructed"]
    condition = p.paper["corollary-15"].raw["about"]
    return [
        p.finding("theorem-7", "Theorem 7 holds for every increasing differentiable squashing function",
                  kind="text",
                  printed=p.paper["theorem-7"].raw["about"], holds=False, source="theorem-7.about",
                  recomputed="needs a derivative that is positive almost everywhere",
                  consequence="The Morse-Sard argument bounds critical values, not critical points; sigmoid "
                              "is safe."),
        p.finding("theorem-6, corollary-15", "Theorem 6 is Corollary 15 specialised", kind="text", holds=None,
                  printed=f"{formula}; {condition}", recomputed="(1 + A^d) / 2 in place of A^d",
                  source="theorem-6, corollary-15",
                  consequence="The general statement has the slightly smaller factor; they are equal for "
                              "uniform data."),
        p.finding("theorem-20", "Theorem 20 is proved in every dimension", kind="text", holds=None,
                  printed=p.paper["theorem-20"].raw["about"], recomputed="proved as a limit",
                  source="theorem-20.about",
                  consequence="The closed form of the theory pages closes the gap: it holds for every "
                              "dimension."),
    ]
