"""Sutton et al.: percentages as whole numbers of images, which tells the denominators and the data sets."""
from shared.audit.finding import Checks, attainable
from shared.audit.sutton import RANDOM_TABLES, SPLITS, problems

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


@checks
def whole_numbers(p):
    found = []
    for data, place in (("cifar10", "table-4, table-5, table-9, table-10, table-11, table-12"),
                        ("fashion_mnist", "table-20")):
        table = problems(p, data)
        bad = [key for key, column in table.iterrows() if whole_images(column, IMAGES[data][key[2]]) is None]
        found.append(p.finding(
            place, f"{data}: percentages are of all, of correct and of susceptible images in turn",
            printed=f"{len(table)} columns",
            recomputed={"columns of whole images": len(table) - len(bad),
                        "others": tuple(f"{a}-vs-{b} {s}" for a, b, s in bad)},
            holds=len(bad) <= 0.05 * len(table),
            consequence="This settles the lost denominators of Equations 6 to 8."))
    return found


@checks
def impossible_column(p):
    table, bad, sets = problems(p, "cifar10"), {}, {}
    for split in SPLITS:
        column, total = table.loc[(1, 9, split)], IMAGES["cifar10"][split]
        pairs = [(c, a) for c in attainable(column["accuracy"], total)
                 for a in attainable(column["susceptibility"], c)]
        sets[split] = tuple(a for _, a in pairs)
        bad[split] = {d: column[d] for d in RANDOM_TABLES
                      if not any(attainable(column[d], a) for _, a in pairs)}
    return p.finding("table-4, table-5, table-11, table-12",
                     "Column 1-vs-9 is a whole number of its susceptible images",
                     printed={s: tuple(v.values()) for s, v in bad.items()},
                     recomputed={"susceptible images": sets,
                                 "impossible at draws of": {s: tuple(v) for s, v in bad.items()}},
                     holds=not any(bad.values()),
                     consequence="The column mixes two runs; leave it out of comparisons cell by cell.")


@checks
def whole_numbers_with_noise(p):
    bad, n = [], 0
    for item in (f"table-{k}" for k in range(13, 19)):
        t = p.frame(item).dropna(subset="value")
        t = t.set_index(["problem", "split", "quantity"]).value.unstack("quantity")
        for (problem, split), row in t.iterrows():
            n += 1
            if not any(attainable(row.adversarial_susceptibility, correct)
                       for correct in attainable(row.accuracy, IMAGES["cifar10"][split])):
                bad.append(f"{item} {problem} {split}")
    return p.finding("table-13, table-14, table-15, table-16, table-17, table-18",
                     "Tables 13 to 18 count whole images in the same way", printed=f"{n} columns",
                     recomputed={"columns of whole images": n - len(bad)}, holds=not bad,
                     consequence="The networks trained with noise were judged on the same sets.")


@checks
def gtsrb_sizes(p):
    table, smallest = problems(p, "gtsrb"), {}
    for (a, b, split), column in table.iterrows():
        sizes = (n for n in range(1, 2500) if whole_images(column, n))
        smallest.setdefault(f"{a}-vs-{b}", []).append(next(sizes, None))
    sums = {k: sum(v) if None not in v else None for k, v in smallest.items()}
    folders = [x + y for x, y in zip(GTSRB_FOLDERS, GTSRB_FOLDERS[1:])]
    return p.finding("table-23",
                     "GTSRB: smallest sets that give whole images sum to the public training folders",
                     printed=tuple(folders), recomputed={**{k: tuple(v) for k, v in smallest.items()},
                                                         "sums": tuple(sums.values())},
                     holds=list(sums.values()) == folders,
                     source="table-23.rows; image counts of the GTSRB training folders",
                     consequence="The training folders were split about 70 to 30 and the official test set "
                                 "was not used, so frames of one sign stand on both sides.")


@checks
def number_of_signs(p):
    said = p.paper["table-1"].rows[-1]["gtsrb"]
    used = set(p.frame("table-23").class_a) | set(p.frame("table-23").class_b)
    listed = len(p.paper["table-22"].rows)
    return p.finding("table-1, table-22, table-23", "Table 22 lists the six GTSRB classes", printed=said,
                     recomputed={"listed": listed, "used": len(used)}, holds=said == listed == len(used),
                     consequence="One listed class has no result.")


@checks
def imagenet_counts(p):
    n, t = p.settings("table-25")["n_images"], p.frame("table-25").set_index("quantity")
    counts = {net: tuple(attainable(t.at["accuracy", net], n)) for net in ("resnet50", "vgg19")}
    return p.finding("table-25", "ImageNet accuracies are whole numbers of 20,480 images",
                     printed={net: t.at["accuracy", net] for net in counts}, recomputed=counts,
                     holds=all(counts.values()), consequence="The count of images is as stated.")


@checks
def flipping_draws(p):
    draws = p.settings("table-12")["n_random_perturbations"]
    printed = {f: p.numbers(f)["misclassifying_fraction_pct"] for f in ("figure-11", "figure-12")}
    counts = {f: tuple(attainable(v, draws)) for f, v in printed.items()}
    return p.finding("figure-11, figure-12", "Shares of flipping draws are whole numbers of 2000",
                     printed=printed,
                     recomputed=counts, holds=all(counts.values()),
                     source="figure-11.printed_numbers, figure-12.printed_numbers",
                     consequence="Two and more draws per image decide; one flip is enough to count an image.")
