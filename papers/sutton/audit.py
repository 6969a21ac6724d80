"""Sutton et al.: accuracies, susceptibilities; see `sutton_counts` for images, `sutton_sizes` for norms."""
import numpy as np

from papers.sutton.theory.ball import tail
from report.finding import Checks, rounds_to, stated

checks = Checks("sutton")
SPLITS = ("train", "test")
RANDOM_TABLES = {1: "table-9", 2: "table-10", 5: "table-11", 10: "table-12"}  # CIFAR-10, by size of the draw
PERCENTAGES = {"accuracy": "table-4", "susceptibility": "table-5", **RANDOM_TABLES}
DATA_SETS = {"cifar10": "CIFAR-10", "fashion_mnist": "Fashion-MNIST", "gtsrb": "GTSRB"}


def problems(p, data, split):
    """Percentages of every problem as {(class_a, class_b): {quantity: percent}}; the quantities are accuracy,
    susceptibility and the sizes of the random draw (1, 2, 5, 10)."""
    found = {}
    for name, cells in columns(p, data):
        for c in cells:
            found.setdefault((c["class_a"], c["class_b"]), {})[name] = c[split]
    return found


def columns(p, data):
    """(quantity, its cells) of a data set, from one table each (CIFAR-10) or from the lines of one table."""
    if data == "cifar10":
        return [(name, cells(p, item)) for name, item in PERCENTAGES.items()]
    short = {"accuracy": "accuracy", "adversarial_susceptibility": "susceptibility"}
    return [(short.get(r["quantity"], r["delta_inferred"]), r["cells"])
            for r in p.rows({"fashion_mnist": "table-20", "gtsrb": "table-23"}[data])]


def cells(p, item):
    """The cells of Tables 4 to 12, a dict for every pair of classes."""
    return [{**row, **cell} for row in p.rows(item) for cell in row["cells"]]


def consecutive(table):
    """The problems k-vs-(k+1) of a dict by (class_a, class_b)."""
    return {(a, b): value for (a, b), value in table.items() if b == a + 1}


def median(p, data, quantity, split):
    """Median of a quantity over the problems k-vs-(k+1)."""
    return float(np.median([column[quantity] for column in consecutive(problems(p, data, split)).values()]))


def summary(p, data):
    """Table 1's column of a data set as {(quantity, split): value} for the five percentages."""
    names = ["accuracy", "susceptibility", 2, 5, 10]
    return {(n, s): row[data][s] for n, row in zip(names, p.rows("table-1")) for s in SPLITS}


@checks
def summary_is_median(p):
    entries, off = 0, {}
    for data in DATA_SETS:
        near = {s: consecutive(problems(p, data, s)).values() for s in SPLITS}
        for (name, s), value in summary(p, data).items():
            middle = np.median([column[name] for column in near[s]])
            entries += 1
            if not rounds_to(middle, value, 2):
                off[f"{DATA_SETS[data]}, {s}, {name}"] = (value, middle)
    return p.finding("table-1, table-4, table-5, table-10, table-11, table-12, table-20, table-23",
                     "Table 1 prints medians over the problems k-vs-(k+1), row by row",
                     numbers=f"{entries} entries",
                     quotes=[("A summary of the accuracy and susceptibility of the classifiers",
                              "Section 3")], ours={"others (printed, median)": off},
                     holds=(entries - len(off), entries), reading="the one other entry is a misprint.",
                     use="The column sums up several problems; the text does not name the median. Use the "
                         "value of Table 12.")


@checks
def summary_is_no_problem(p):
    printed, equal = summary(p, "cifar10"), {}
    for s in SPLITS:
        for problem, column in problems(p, "cifar10", s).items():
            same = sum(column[name] == value for (name, split), value in printed.items() if split == s)
            equal[problem] = equal.get(problem, 0) + same
    best = max(equal, key=equal.get)
    return p.finding("table-1, figure-1", "Entries of Table 1's CIFAR-10 column that a single problem shares",
                     quotes=[("broadly representative case of the", "Section 3, of aeroplane-vs-cat")],
                     numbers=f"{len(printed)} entries",
                     ours={"equal in 0-vs-3": equal[0, 3],
                           f"equal in the best, {best[0]}-vs-{best[1]}": equal[best]},
                     use="No single network has the numbers of the column.")


def mean_std_min(p, item):
    """Mean, population STD and minimum of the train and of the test percentages of a table of 45 problems."""
    values = (np.array([c[s] for c in cells(p, item)]) for s in SPLITS)
    return tuple((v.mean(), v.std(), v.min()) for v in values)


@checks
def accuracy_prose(p):
    words = ("99.57% (standard deviation 0.24), with a minimum of 98.74%",
             "94.09% (standard deviation 3.78), with a minimum of 82.6%")
    given = mean_std_min(p, "table-4")
    return p.finding("table-4", "Mean, STD and minimum of accuracy in the prose are Table 4's",
                     quotes=[(w, "Section 7.2.1") for w in words], numbers=tuple(map(stated, words)),
                     ours=given,
                     holds=all(rounds_to(g, v, 2) for w, row in zip(words, given)
                               for g, v in zip(row, stated(w))),
                     use="Right with the population STD, which fixes that convention.")


@checks
def susceptibility_prose(p):
    mean = "85.0% of the training images were susceptible"
    deviation = "(standard deviation 9.71) with a minimum of 70.28%"
    test = "average on the test set was 79.48% (standard deviation 7.91)"
    said = ((*stated(mean), stated(deviation)[0]), stated(test))
    given = tuple(row[:2] for row in mean_std_min(p, "table-5"))
    return p.finding("table-5", "Mean and STD of susceptibility in the prose are Table 5's",
                     quotes=[(w, "Section 7.2.1") for w in (mean, deviation, test)],
                     numbers=dict(zip(("training", "test"), said)),
                     ours=dict(zip(("training", "test"), given)),
                     holds=all(rounds_to(g, v, 2) for row, s in zip(given, said) for g, v in zip(row, s)),
                     reading="it speaks of other networks than the table; its minima are the table's.",
                     use="Use the table.")


@checks
def susceptibility_minimum(p):
    words = "both minima were attained on the same task"
    minima = ("a minimum of 70.28%", "a minimum of 69.82%")
    lowest = {s: min(cells(p, "table-5"), key=lambda c: c[s]) for s in SPLITS}
    where = {s: (c["class_a"], c["class_b"]) for s, c in lowest.items()}
    return p.finding("table-5", "Susceptibility is least on frog vs ship (6 vs 8)",
                     quotes=[(words, "Section 7.2.1"), *((m, "Section 7.2.1") for m in minima)],
                     numbers=tuple(stated(m)[0] for m in minima),
                     ours={s: (lowest[s][s], *where[s]) for s in SPLITS},
                     holds=set(where.values()) == {(6, 8)}
                     and all(stated(m)[0] == lowest[s][s] for m, s in zip(minima, SPLITS)),
                     use="The minima are those of the printed table.")


@checks
def vast_majority(p):
    words = "over 80% of images in the training and test sets"
    level, = stated(words)
    t = cells(p, "table-5")
    above = {s: sum(c[s] > level for c in t) for s in SPLITS}
    return p.finding("table-5", "In the vast majority of problems more than 80% of images can be attacked",
                     quotes=[("In the vast majority of the binary classification problems", "Section 7.2.1"),
                             (words, "Section 7.2.1")], numbers=f"{len(t)} problems", ours=above,
                     holds=min(above.values()) > 0.8 * len(t),
                     use="A fair summary, if four in five are a vast majority.")


@checks
def rarely_flipped(p):
    words = "typically fewer than 5% of images were misclassified"
    rates = np.array([[c[s] for s in SPLITS] for c in cells(p, "table-11")])
    below = int((rates < stated(words)[0]).sum())
    return p.finding("table-11", "At five times the attack norm typically under 5% are flipped",
                     quotes=[(words, "Section 7.2.1")], numbers=f"{rates.size} cells", ours={"below": below},
                     holds=below > rates.size / 2, use="True of CIFAR-10, of which it is said.")


@checks(pool=True)
def monotone_in_draw(p):
    tables = [[[c[s] for s in SPLITS] for c in cells(p, item)] for item in RANDOM_TABLES.values()]
    steps = np.diff(tables, axis=0)
    return p.finding("table-9, table-10, table-11, table-12", "Larger random draws never flip fewer images",
                     quotes=[("as the scale of the random perturbations increases", "Section 7.2.1"),
                             ("so too does the probability of causing", "Section 7.2.1")],
                     numbers=f"{steps.size} steps", ours={"smallest step": steps.min()},
                     holds=bool(steps.min() >= 0),
                     use="Fits one set of directions, scaled; a good test of a reproduction.")


@checks
def imagenet_summary(p):
    nets = ("resnet50", "vgg19")
    full = [[row[net] for net in nets] for row in p.rows("table-25")]
    short = [[row[f"imagenet_{net}"]["test"] for net in nets] for row in p.rows("table-1")[:5]]
    short = [row for row in short if None not in row]
    return p.finding("table-25, table-1", "Table 1 repeats the ImageNet results of Table 25", numbers=short,
                     ours=full, holds=short == full, use="The two tables are one source.")


@checks
def small_attacks_on_imagenet(p):
    total = {r["quantity"]: r for r in p.rows("table-25")}["adversarial_susceptibility"]
    small = {net: p.figure(f)["share_linf_below_0.1_pct"]
             for net, f in (("resnet50", "figure-21"), ("vgg19", "figure-22"))}
    return p.finding("figure-21, figure-22, table-25",
                     "ImageNet attacks below 0.1 in the largest pixel change",
                     quotes=[("93.3% of images were susceptible to an adversarial attack with norm",
                              "Section 7.2.4")], numbers=small,
                     ours={"if of all correct images, share of the attackable":
                           tuple(100 * small[net] / total[net] for net in small)},
                     use="The share may be of the correct or of the attackable images.")


@checks
def planar_boundary(p):
    draws, size = p.settings("table-12")["n_random_perturbations"], 10
    dims = {"cifar10": 3072, "fashion_mnist": 28 * 28 * 3,
            "imagenet_resnet50": p.settings("table-25")["input_dimension_d"]}
    row = p.rows("table-1")[4]
    flips = {data: -np.expm1(draws * np.log1p(-tail(n, 1 / size))) for data, n in dims.items()}
    return p.finding("table-1, theorem-1",
                     "Images that 2000 draws of ten times the attack would flip at a flat boundary",
                     quotes=[("an upper bound on the minimal Euclidean distance", "Section 7.1.2")],
                     numbers={data: row[data]["test"] for data in dims},
                     ours={data: 100 * v for data, v in flips.items()},
                     reading="the boundary is nearer than the attack finds it, as the text allows.",
                     use="A flat boundary at the attack's own distance would be crossed far more rarely.")


@checks
def words(p):
    return [p.finding("theorem-7", "What Theorem 7 asks of the function that is differentiated", kind="words",
                      quotes=[("any differentiable, monotonically increasing loss function", "Theorem 7"),
                              ("are assumed to be continuously differentiable and monotonically increasing",
                               "Section B.4")], ours="a derivative that is positive almost everywhere",
                      reading="a condition stood in the formulas that our text has lost.",
                      use="A sigmoid meets every version of the condition.")]
