"""The printed numbers of Sutton et al. against each other: shares, numbers of images, norms."""
import numpy as np
import pandas as pd
from scipy import stats

from papers.findings import Checks, rounds_to, stated
from papers.sutton.experiments import DIMENSION, SIGNS
from papers.sutton.figures import DATASETS, SETS
from papers.sutton.tables import RANDOM, SPLITS

checks = Checks()
NOISE = {"cube": ("table-13", "table-15", "table-17"), "ball": ("table-14", "table-16", "table-18")}
NOISE_TABLES = ", ".join(sorted(NOISE["cube"] + NOISE["ball"]))
PERCENTAGES = {"accuracy": "table-4", "adversarial_susceptibility": "table-5", **RANDOM}


def percentages(p, data):
    """Problems (class_a, class_b) of a data set, and {quantity: percentages [problems, sets]}.

    Quantities are named as in `PERCENTAGES`; each has one table (CIFAR-10) or one line of a table.
    """
    if data == "cifar10":
        lines = {key: p.frame(item).to_dict("records") for key, item in PERCENTAGES.items()}
    else:
        lines = {r["delta_inferred"] or r["quantity"]: r["cells"]
                 for r in p.rows({"fashion_mnist": "table-20", "gtsrb": "table-23"}[data])}
    return ([(c["class_a"], c["class_b"]) for c in lines["accuracy"]],
            {key: np.array([[c[s] for s in SPLITS] for c in line]) for key, line in lines.items()})


def summary(p, data):
    """Table 1's column of a data set: {quantity: percentages of both sets}."""
    return {(row["delta_inferred"] or row["quantity"]): np.array([row[data][s] for s in SPLITS])
            for row in p.rows("table-1")[:5]}


@checks
def summary_is_median(p):
    entries, off = 0, {}
    for data, label in DATASETS.items():
        pairs, shares = percentages(p, data)
        consecutive = [b == a + 1 for a, b in pairs]
        for name, printed in summary(p, data).items():
            for s, value, ours in zip(SPLITS, printed, np.median(shares[name][consecutive], axis=0)):
                entries += 1
                if not rounds_to(ours, value, 2):
                    what = f"noise of {name} × the attack's norm" if name in RANDOM else name
                    off[f"{label}, {SETS[s]}, {what}"] = (value, ours)
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
    printed, (pairs, shares) = summary(p, "cifar10"), percentages(p, "cifar10")
    same = sum((shares[name] == values).sum(axis=1) for name, values in printed.items())
    equal = dict(zip(pairs, same))
    best = max(equal, key=equal.get)
    return p.finding("table-1, figure-1", "Entries of Table 1's CIFAR-10 column that a single problem shares",
                     quotes=[("broadly representative case of the", "Section 3, of aeroplane-vs-cat")],
                     numbers=f"{2 * len(printed)} entries",
                     ours={"equal in 0-vs-3": equal[0, 3],
                           f"equal in the best, {best[0]}-vs-{best[1]}": equal[best]},
                     use="No single network has the numbers of the column.")


def mean_std_min(p, quantity):
    """Mean, population STD and minimum of CIFAR-10's train and of its test percentages."""
    values = percentages(p, "cifar10")[1][quantity]
    return tuple(zip(values.mean(axis=0), values.std(axis=0), values.min(axis=0)))


@checks
def accuracy_prose(p):
    words = ("99.57% (standard deviation 0.24), with a minimum of 98.74%",
             "94.09% (standard deviation 3.78), with a minimum of 82.6%")
    given = mean_std_min(p, "accuracy")
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
    given = tuple(row[:2] for row in mean_std_min(p, "adversarial_susceptibility"))
    return p.finding("table-5", "Mean and STD of susceptibility in the prose are Table 5's",
                     quotes=[(w, "Section 7.2.1") for w in (mean, deviation, test)],
                     numbers=dict(zip(("training", "test"), said)),
                     ours=dict(zip(("training", "test"), given)),
                     holds=all(rounds_to(g, v, 2) for row, s in zip(given, said) for g, v in zip(row, s)),
                     reading="it speaks of other networks than the table; its minima are the table's.",
                     use="Use the table. The book does not judge a claim on these means.")


@checks
def susceptibility_minimum(p):
    words = "both minima were attained on the same task"
    minima = ("a minimum of 70.28%", "a minimum of 69.82%")
    lowest = [min(p.frame("table-5").to_dict("records"), key=lambda c: c[s]) for s in SPLITS]
    where = [(c["class_a"], c["class_b"]) for c in lowest]
    return p.finding("table-5", "Susceptibility is least on frog vs ship (6 vs 8)",
                     quotes=[(words, "Section 7.2.1"), *((m, "Section 7.2.1") for m in minima)],
                     numbers=tuple(stated(m)[0] for m in minima),
                     ours={s: (c[s], *pair) for s, c, pair in zip(SPLITS, lowest, where)},
                     holds=set(where) == {(6, 8)}
                     and all(stated(m)[0] == c[s] for m, s, c in zip(minima, SPLITS, lowest)),
                     use="The minima are those of the printed table.")


@checks
def smallest_attacks(p):
    means = p.frame("table-6").groupby(["class_a", "class_b"])["mean"].mean()
    two = means[[(2, 3), (3, 4)]]
    others = means.drop(two.index)
    seven = others[[b == a + 1 for a, b in others.index]]
    less = others[others < two.max()]
    return p.finding("table-6, figure-9", "Bird vs cat and cat vs deer have the smallest attacks plotted",
                     quotes=[("appear to have much smaller norms", "Section 7.2.1")],
                     numbers=f"{len(two) + len(seven)} problems in the plots, {len(means)} in the table",
                     ours={"larger of the two": two.max(), "least of the others in the plots": seven.min(),
                           "smaller in the table": {f"{a}-vs-{b}": v for (a, b), v in less.items()}},
                     holds=bool(two.max() < seven.min()),
                     use="The plots show the problems k-vs-(k+1). Of all problems, cat vs dog (3-vs-5) has "
                         "the smallest attacks. The book judges the claim on the problems of the plots.")


@checks(pool=True)
def monotone_in_draw(p):
    steps = np.concatenate([np.diff([percentages(p, data)[1][d] for d in RANDOM], axis=0).ravel()
                            for data in DATASETS])
    return p.finding("table-9, table-10, table-11, table-12, table-20, table-23",
                     "Larger random draws never flip fewer images",
                     quotes=[("as the scale of the random perturbations increases", "Section 7.2.1"),
                             ("so too does the probability of causing", "Section 7.2.1")],
                     numbers=f"{steps.size} steps", ours={"smallest step": steps.min()},
                     holds=bool(steps.min() >= 0),
                     use="Fits one set of directions, scaled; a good test of a reproduction.")


@checks
def most_above_eighty(p):
    said = "over 80% of images in the training and test sets"
    (limit,), shares = stated(said), percentages(p, "cifar10")[1]["adversarial_susceptibility"]
    above = int((shares > limit).all(axis=1).sum())
    return p.finding("table-5", "In how many problems more than 80% of both sets are attackable",
                     quotes=[("In the vast majority of the binary classification problems", "Section 7.2.1"),
                             (said, "Section 7.2.1")], numbers=limit,
                     ours={"problems": above, "of": len(shares)},
                     use="A reproduction can ask for so many problems.")


@checks
def imagenet_summary(p):
    nets = ("resnet50", "vgg19")
    full = [[row[net] for net in nets] for row in p.rows("table-25")]
    short = [[row[f"imagenet_{net}"]["test"] for net in nets] for row in p.rows("table-1")[:5]]
    short = [row for row in short if None not in row]
    return p.finding("table-25, table-1", "Table 1 repeats the ImageNet results of Table 25", numbers=short,
                     ours=full, holds=short == full, use="The two tables are one source.")


@checks
def words(p):
    return [p.finding("theorem-7", "What Theorem 7 asks of the function that is differentiated", kind="words",
                      quotes=[("any differentiable, monotonically increasing loss function", "Theorem 7"),
                              ("are assumed to be continuously differentiable and monotonically increasing",
                               "Section B.4")], ours="a derivative that is positive almost everywhere",
                      reading="a condition stood in the formulas that our text has lost.",
                      use="A sigmoid meets every version of the condition.")]


# ---- shares as whole numbers of images ---------------------------------------------------------------------
TEST_IMAGES = 2_000    # of a problem of CIFAR-10 and of Fashion-MNIST: 1000 a class


def counts(percent, totals):
    """Of so many images, each total below 5000, how many print as this percentage; NaN where none does.

    There a percentage of two decimals is at most one number of images.
    """
    nearest = np.rint(percent * totals / 100)
    with np.errstate(invalid="ignore"):
        fits = np.abs(nearest - percent * totals / 100) <= 0.005 * totals / 100 + 1e-9
    return np.where(fits, nearest, np.nan)


def whole_images(shares, totals):
    """For which of some totals all percentages of a problem and set are whole numbers of images: the correct
    ones of all, the susceptible ones of these, and the randomly susceptible ones of the last."""
    susceptible = counts(shares["adversarial_susceptibility"], counts(shares["accuracy"], totals))
    return np.all([~np.isnan(counts(shares[d], susceptible)) for d in RANDOM], axis=0)


def smallest_total(shares, limit=2500):
    """The smallest number of images below `limit` that makes `whole_images`, or None."""
    totals = np.arange(1, limit, dtype=float)
    fits = whole_images(shares, totals)
    return int(totals[fits.argmax()]) if fits.any() else None


@checks
def whole_numbers(p):
    for data, place in (("cifar10", "table-4, table-5, table-9, table-10, table-11, table-12"),
                        ("fashion_mnist", "table-20")):
        pairs, shares = percentages(p, data)
        fits = whole_images({key: values[:, 1] for key, values in shares.items()}, TEST_IMAGES)
        bad = [f"{a}-vs-{b}" for (a, b), whole in zip(pairs, fits) if not whole]
        title = f"{DATASETS[data]}: percentages of all, of correct, of susceptible test images in turn"
        yield p.finding(place, title,
                        quotes=[("we use to denote the cardinality of a set",
                                 "Sections 7.1.1 to 7.1.3; the formulas are lost")],
                        numbers=f"{len(pairs)} columns", ours={"others": tuple(bad) or "none"},
                        holds=(len(pairs) - len(bad), len(pairs)),
                        use="Fits the lost denominators of Equations 6 to 8.")


@checks
def whole_numbers_with_noise(p):
    cells = pd.concat([p.frame(item).assign(item=item) for item in NOISE_TABLES.split(", ")])
    shares = cells.query("split == 'test' and norm.isna()").pivot(
        index=["item", "problem"], columns="quantity", values="value")
    whole = counts(shares.adversarial_susceptibility, counts(shares.accuracy, TEST_IMAGES))
    bad, n = [" ".join(column) for column in shares.index[np.isnan(whole)]], len(shares)
    return p.finding(NOISE_TABLES, "Tables 13 to 18 count whole test images in the same way",
                     numbers=f"{n} columns", ours={"others": tuple(bad) or "none"}, holds=(n - len(bad), n),
                     use="The networks trained with noise were judged on sets of the same size.")


@checks
def gtsrb_sizes(p):
    pairs, shares = percentages(p, "gtsrb")
    sizes = {f"{a}-vs-{b}": [smallest_total({key: values[n, s] for key, values in shares.items()})
                             for s in range(len(SPLITS))] for n, (a, b) in enumerate(pairs)}
    sums = [None if None in v else sum(v) for v in sizes.values()]
    folders = [x + y for x, y in zip(SIGNS, SIGNS[1:])]
    return p.finding("table-23",
                     "GTSRB: smallest sets that give whole images sum to the public training folders",
                     numbers={"images in the folders": tuple(folders)},
                     ours={**{k: tuple(v) for k, v in sizes.items()}, "sums": tuple(sums)},
                     holds=sums == folders,
                     use="Training and test images together are the public training folders. Whether the "
                         "frames of one sign stay on one side is not said.")


@checks
def number_of_signs(p):
    words = "six of these 40 classes"
    said = p.rows("table-1")[-1]["gtsrb"]
    pairs = p.frame("table-23")
    used, listed = {*pairs.class_a, *pairs.class_b}, len(p.rows("table-22"))
    return p.finding("table-1, table-22, table-23", "Table 22 lists the six GTSRB classes",
                     quotes=[(words, "Section 7.2.3"),
                             ("The names of these data classes is given in Table 22", "Section 7.2.3")],
                     numbers=said, ours={"listed": listed, "used": len(used)},
                     holds=said == listed == len(used),
                     reading="Table 22 names one class more than was used.",
                     use="One listed class has no result.")


# ---- norms of attacks and of random draws, training noise, size of the network -----------------------------
NORMS = {"l1": "table-7", "l2": "table-6", "linf": "table-8"}
HALF = 0.005      # half a unit of the second printed decimal


def largest_needed(mean, std):
    """Smallest maximum that a non-negative quantity of this printed mean and STD must reach, rounding in its
    favour (Bhatia and Davis, 2000: variance <= (maximum - mean) (mean - minimum))."""
    return (mean + HALF) + (std - HALF) ** 2 / (mean + HALF)


def norms(p, *items):
    """Mean and STD of the attacks' norms in Tables 13 to 18, 21 or 24: a row a problem, set and `norm`."""
    return pd.concat([p.frame(item) for item in items], ignore_index=True).dropna(subset="norm")


@checks
def averaged_otherwise(p):
    clean, noisy = p.frame("table-6"), norms(p, *NOISE_TABLES.split(", "))
    base = clean[(clean["split"] == "train") & (clean.class_b == clean.class_a + 1)]
    shape = 1 + (base["std"] / base["mean"]).mean() ** 2
    # A share s of values of mean m and relative spread v, and zeros else, has the mean s m and a relative
    # spread V with 1 + V^2 = (1 + v^2) / s.
    rescaled = {}
    for kind, items in NOISE.items():
        attacked = [norms(p, item).query("norm == 'l2' and split == 'train'") for item in items]
        rescaled[kind] = tuple((v["mean"] * (1 + (v["std"] / v["mean"]) ** 2)).mean() / shape
                               for v in attacked)
    return p.finding(f"table-6, {NOISE_TABLES}", "Norm cells whose STD exceeds the mean",
                     numbers=f"{len(noisy)} with noise, {len(clean)} without",
                     ours={"with noise": int((noisy["std"] > noisy["mean"]).sum()),
                           "without": int((clean["std"] > clean["mean"]).sum()),
                           "mean norm without noise": base["mean"].mean(),
                           "mean norms with noise, if they average zeros in": rescaled},
                     reading="the tables with noise average over more images, with zero for those not "
                             "attacked.",
                     use="The norms of Table 6 and of the tables with noise cannot be compared directly.")


@checks
def largest_attack(p):
    attacks = norms(p, *NOISE_TABLES.split(", ")).query("norm == 'l2'")
    needed = largest_needed(attacks["mean"], attacks["std"])
    top = needed.idxmax()
    return p.finding(f"{NOISE_TABLES}, procedure-adversarial-attack",
                     "How far the tested attacks reach at least",
                     quotes=[("We then tested 256 equally-spaced scalings", "Section 7.1.2")],
                     numbers={"mean, STD": tuple(attacks.loc[top, ["mean", "std"]])},
                     ours={"smallest possible maximum": needed[top]},
                     use="Bounds the largest attack, which the text has lost, from below.")


@checks
def draws_mean_change(p):
    shares = {f"{p.paper[f].label}({panel})": p.single(p.figure(f)[panel]["l1"]) / p.figure(f)[panel]["l2"]
              for f in ("figure-11", "figure-12") for panel in "cd"}
    expected, sd = np.sqrt(2 * DIMENSION / np.pi), np.sqrt(1 - 3 / np.pi)  # of l1 / l2 of a random direction
    return p.finding("figure-11, figure-12",
                     "l1 over l2 norm of the random draws is that of random directions", numbers=shares,
                     ours={"expected": expected, "STD": sd},
                     holds=all(abs(v - expected) < 3 * sd for v in shares.values()),
                     use="The draws shown are uniform in direction by this measure.")


@checks
def draws_largest_change(p):
    drawn = {f"{p.paper[f].label}({panel})": p.figure(f)[panel] for f in ("figure-11", "figure-12")
             for panel in "cd"}
    ratios = {place: p.single(norms["linf"]) / norms["l2"] for place, norms in drawn.items()}
    # Of n values of a random direction, nearly normal of variance 1 / n, the largest exceeds t this often.
    beyond = {place: -np.expm1(DIMENSION * np.log1p(-2 * stats.norm.sf(ratio * DIMENSION**0.5)))
              for place, ratio in ratios.items()}
    median = stats.norm.isf((1 - 0.5 ** (1 / DIMENSION)) / 2) / DIMENSION**0.5
    return p.finding("figure-11, figure-12",
                     "linf over l2 norm of the random draws, and of random directions",
                     numbers=ratios, ours={"median of random directions": median} | {
                         f"random directions above {place}": share for place, share in beyond.items()},
                     reading="the draws shown were picked by a rule that the text does not name.",
                     use="The largest change of a value is unusually large in each of the four draws shown.")


@checks
def fashion_channels(p):
    means = norms(p, "table-21").pivot(index=["split", "problem"], columns="norm", values="mean")
    ratio = ((means.l1 - HALF) / (means.l2 + HALF))["train"].max()
    return p.finding("table-21", "Ratio of norms of the Fashion-MNIST attacks, and the largest possible",
                     quotes=[("we converted to RGB by simply duplicating the channels", "Section 7.2.2")],
                     numbers={"values of a grey image": 28 * 28, "of a colour image": 28 * 28 * 3},
                     ours={"largest l1 / l2": ratio, "limits": (28.0, np.sqrt(3) * 28)},
                     use="No attack on 28 x 28 values reaches this ratio of norms: the dimension is 2352.")


@checks
def order_of_norms(p):
    cifar = pd.concat([p.frame(item).assign(norm=norm) for norm, item in NORMS.items()])
    worst = []
    for n, frame in ((DIMENSION, cifar), (28 * 28 * 3, norms(p, "table-21")),
                     (DIMENSION, norms(p, "table-24"))):
        t = {norm: rows["mean"].to_numpy() for norm, rows in frame.groupby("norm")}
        worst += [*((t["l2"] - HALF) / np.sqrt((t["l1"] + HALF) * (t["linf"] + HALF))),
                  *((t["l1"] - HALF) / ((t["l2"] + HALF) * np.sqrt(n)))]
    return p.finding("table-6, table-7, table-8, table-21, table-24",
                     "Mean norms obey l2^2 <= l1 linf and l1 <= sqrt(n) l2",
                     numbers=f"{len(worst)} inequalities", ours={"largest ratio of the sides": max(worst)},
                     holds=max(worst) <= 1, use="Confirms which table holds which norm, lost in the text.")


@checks
def parameters(p):
    rows = [r for r in p.rows("table-2") if r["trained_parameters"]]
    printed, expected, channels = [r["trained_parameters"] for r in rows], [], 3
    for r in rows:
        expected.append(((9 if r["layer"].startswith("Conv") else 1) * channels + 1) * r["output_channels"])
        channels = r["output_channels"]
    return p.finding("table-2", "Parameter counts are those of 3 x 3 kernels with bias and two dense layers",
                     numbers=printed, ours=(*expected, {"sum": sum(expected)}), holds=printed == expected,
                     use="The listed layers have no parameters of batch normalisation; the first takes three "
                         "channels.")


@checks
def imagenet_dimensions(p):
    words = ("the images in ImageNet have 196,608 attributes",
             "meaning that they have 150,528 individual attributes")
    sizes = tuple(p.single(int(stated(w)[0])) for w in words)
    sides = tuple(np.sqrt(n / 3) for n in sizes)
    return p.finding("procedure-imagenet", "Both ImageNet dimensions are those of square colour images",
                     quotes=[(words[0], "Section 4.2"), (words[1], "Section 7.2.4")], numbers=sizes,
                     ours={"sides": sides}, holds=all(float(s).is_integer() for s in sides),
                     use="The text has two sizes: common images, and the smaller inputs of the networks.")
