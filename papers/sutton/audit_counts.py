"""Sutton et al.: percentages as whole numbers of images, which tells the denominators and the data sets."""
import numpy as np

from papers.sutton.audit import DATA_SETS, RANDOM_TABLES, SPLITS, problems
from report.finding import Checks, attainable, stated

checks = Checks("sutton")
# Images per binary problem: 5000 + 1000 a class (CIFAR-10), 6000 + 1000 (Fashion-MNIST).
IMAGES = {"cifar10": {"train": 10_000, "test": 2_000}, "fashion_mnist": {"train": 12_000, "test": 2_000}}
# Images in the public GTSRB training folders 00000, 00042, 00038, 00033, 00025, 00018: Table 22's first six.
GTSRB_FOLDERS = (210, 240, 2070, 689, 1500, 1200)


def whole_images(column, total):
    """(correct, susceptible) counts for which all percentages of one problem and split are whole numbers of
    images, in turn accuracy, susceptibility, random susceptibility; None where there are none."""
    for correct in attainable(column["accuracy"], total):
        for susceptible in attainable(column["susceptibility"], correct):
            if all(attainable(column[d], susceptible) for d in RANDOM_TABLES):
                return correct, susceptible
    return None


def smallest_total(column, limit=2500):
    """The smallest number of images below `limit` for which `whole_images` finds counts, or None.

    Below 5000 images a percentage of two decimals is at most one count, so all totals are tried at once.
    """
    def counts(percent, totals):
        nearest = np.rint(percent * totals / 100)
        with np.errstate(invalid="ignore"):
            fits = np.abs(nearest - percent * totals / 100) <= 0.005 * totals / 100 + 1e-9
        return np.where(fits, nearest, np.nan)
    totals = np.arange(1, limit, dtype=float)
    susceptible = counts(column["susceptibility"], counts(column["accuracy"], totals))
    fits = np.all([~np.isnan(counts(column[d], susceptible)) for d in RANDOM_TABLES], axis=0)
    return int(totals[fits.argmax()]) if fits.any() else None


@checks
def whole_numbers(p):
    for data, place in (("cifar10", "table-4, table-5, table-9, table-10, table-11, table-12"),
                        ("fashion_mnist", "table-20")):
        columns = problems(p, data, "test")
        bad = [f"{a}-vs-{b}" for (a, b), column in columns.items()
               if whole_images(column, IMAGES[data]["test"]) is None]
        title = f"{DATA_SETS[data]}: percentages of all, of correct, of susceptible test images in turn"
        yield p.finding(place, title,
                        quotes=[("we use to denote the cardinality of a set",
                                 "Sections 7.1.1 to 7.1.3; the formulas are lost")],
                        numbers=f"{len(columns)} columns", ours={"others": tuple(bad) or "none"},
                        holds=(len(columns) - len(bad), len(columns)),
                        use="Fits the lost denominators of Equations 6 to 8.")


@checks
def column_1_vs_9(p):
    counts, bad = {}, {}
    for split in SPLITS:
        column = problems(p, "cifar10", split)[1, 9]
        counts[f"susceptible images, {split}"] = fit = tuple(
            a for c in attainable(column["accuracy"], IMAGES["cifar10"][split])
            for a in attainable(column["susceptibility"], c))
        bad[split] = tuple(column[d] for d in RANDOM_TABLES if not any(attainable(column[d], a) for a in fit))
    return p.finding("table-4, table-5, table-11, table-12",
                     "Percentages of column 1-vs-9 that are no whole images", numbers=bad, ours=counts,
                     reading="the lost formulas count otherwise, or digits of these tables are misprinted.",
                     use="Leave the column out of comparisons cell by cell.")


@checks
def whole_numbers_with_noise(p):
    bad, n = [], 0
    for item in (f"table-{k}" for k in range(13, 19)):
        rows = {r["quantity"]: r["cells"] for r in p.rows(item)
                if r["split"] == "test" and not r["norm"]}
        for accuracy, susceptibility in zip(rows["accuracy"], rows["adversarial_susceptibility"]):
            n += 1
            if not any(attainable(susceptibility["value"], correct)
                       for correct in attainable(accuracy["value"], IMAGES["cifar10"]["test"])):
                bad.append(f"{item} {accuracy['problem']}")
    return p.finding("table-13, table-14, table-15, table-16, table-17, table-18",
                     "Tables 13 to 18 count whole test images in the same way", numbers=f"{n} columns",
                     ours={"others": tuple(bad) or "none"}, holds=(n - len(bad), n),
                     use="The networks trained with noise were judged on sets of the same size.")


@checks
def gtsrb_sizes(p):
    sizes = {}
    for split in SPLITS:
        for (a, b), column in problems(p, "gtsrb", split).items():
            sizes.setdefault(f"{a}-vs-{b}", []).append(smallest_total(column))
    sums = [None if None in v else sum(v) for v in sizes.values()]
    folders = [x + y for x, y in zip(GTSRB_FOLDERS, GTSRB_FOLDERS[1:])]
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
    rows = [c for r in p.rows("table-23") for c in r["cells"]]
    used, listed = {c[k] for c in rows for k in ("class_a", "class_b")}, len(p.rows("table-22"))
    return p.finding("table-1, table-22, table-23", "Table 22 lists the six GTSRB classes",
                     quotes=[(words, "Section 7.2.3"),
                             ("The names of these data classes is given in Table 22", "Section 7.2.3")],
                     numbers=said, ours={"listed": listed, "used": len(used)},
                     holds=said == listed == len(used),
                     reading="Table 22 names one class more than was used.",
                     use="One listed class has no result.")


@checks
def flipping_draws(p):
    words = "(4.15% for the cat and 0.2% for the aeroplane)"
    draws = p.settings("table-12")["n_random_perturbations"]
    printed = tuple(map(p.single, stated(words)))
    counts = tuple(tuple(attainable(v, draws)) for v in printed)
    return p.finding("procedure-random-perturbation", "Shares of flipping draws are whole numbers of 2000",
                     quotes=[(words, "Section 7.2.1")], numbers=printed, ours=counts, holds=all(counts),
                     use="More than one draw flips these images; one is enough to count them.")
