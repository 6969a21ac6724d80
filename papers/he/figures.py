"""What the pages of `he` share: names, colours, rows an image, cells of its tables."""
from itertools import product

import pandas as pd

from papers.he.experiments import ASKED, COLUMNS, SCRIPT, SETTINGS
from report import display, reference
from report.cell import Cell
from report.comparison import wider
from report.prose import mean, percent, share
from report.tidy import unnest
from shared.attacks.region import Region
from shared.susceptibility import percentage

PAPER = reference.paper("he")
NOT_MEASURED = "not measured: no run yet"
SMALL = "proxy: a small ResNet of the same residual blocks in place of w32-10"
PROXIES = {"mnist-adv": "proxy: adversarially trained for a twelfth of the steps, on shorter attacks",
             "cifar10-normal": SMALL, "cifar10-adv": SMALL}
FITTED = {("mnist", "brittle", "region"): "fitted: a weight of OptBrittle was chosen by this accuracy, on "
                                          "another network"}
NAMED = {"mnist-normal": "MNIST, normal", "mnist-adv": "MNIST, adv.", "cifar10-normal": "CIFAR-10, normal",
         "cifar10-adv": "CIFAR-10, adv."}
# The data set and the training of a network, as Tables 3 and 4 name them.
NETWORKS = dict(zip(COLUMNS, product(("MNIST", "CIFAR-10"), ("normal", "pgd_adversarial"))))
KINDS = {"benign": "Benign", "brittle": "OptBrittle", "margin": "OptMargin", "strong": "OptStrong",
         "fgsm": "FGSM"}
# Of the kinds of example, as the paper colours them.
COLOURS = dict(zip(("benign", "brittle", "margin", "fgsm"), display.PALETTE))
STYLES = dict(zip(COLOURS, display.LINES))


# ---- rows an image ---------------------------------------------------------------------------------------
def examples(runs, *lists):
    """A row an image, of runs with a network and a kind of example: the lists, and what follows from them.

    `image` is its number in the test set; it `counts` if it is classified correctly and its example is not;
    `distance` is the RMS distance on the paper's scale of pixels: 0 to 1 for MNIST, 0 to 255 for CIFAR-10.
    """
    rows = unnest(runs, "correct", "success", "rms", *lists)
    scale = rows.network.map(lambda net: 1 if net.startswith("mnist") else 255)
    networks = list(dict.fromkeys([*COLUMNS, *rows.network]))     # ImageNet's is none of Tables 1 and 2
    return rows.assign(image=rows["first"] + rows.place, counts=rows.correct & rows.success,
                       distance=scale * rows.rms, network=pd.Categorical(rows.network, networks),
                       kind=pd.Categorical(rows.kind, KINDS))


def success(rows):
    """Percent of the correctly classified images that have an example; None of none."""
    return percent(rows.counts.sum(), rows.correct.sum())


def mean_distance(rows):
    """Mean distance of the examples that count; None of none."""
    return mean(rows.distance[rows.counts])


def facts(runs):
    """For sentences on the normal MNIST network: accuracy of region classification with its interval, mean
    distance, the paper's values. Empty where OptBrittle or OptMargin has no example.
    """
    rows, of_kind = examples(runs, "region"), {}
    once, twice = (published(item)["mnist-normal"] for item in ("table-1", "table-2"))
    for kind in KINDS:
        images = only(rows, "mnist-normal", kind)
        of_kind[kind] = percentage(int(images.region.sum()), len(images)) | {
            "rms": mean_distance(images), "paper": once.get(kind, {}) | twice.get(kind, {})}
    return of_kind if of_kind["brittle"]["rms"] and of_kind["margin"]["rms"] else {}


def cost(runs):
    """Passes an image of OptMargin and OptBrittle on the normal MNIST network, and their ratio."""
    near, far = (mean(unnest(only(runs, "mnist-normal", kind), "passes").passes)
                 for kind in ("brittle", "margin"))
    return {"members": SCRIPT.members, "samples": Region(0.3).samples, "brittle_passes": near,
            "margin_passes": far, "slowdown": far / near if near and far else None}


def pictures(runs):
    """A row an image, {column: picture}: itself and its examples, black where an attack has or needs none."""
    run_of, rows = {(u.network, u.kind): u for u in runs[runs.block == 0].itertuples()}, []
    for data in ("mnist", "cifar10"):
        columns = {f"{KINDS[kind]}\n{training}": run_of.get((f"{data}-{training}", kind))
                for training, kind in product(("normal", "adv"), ("brittle", "margin", "strong", "fgsm"))}
        if clean := run_of.get((f"{data}-normal", "benign")):
            rows += [{"image": image} | {column: u.pictures[n] * (u.success[n] and u.correct[n])
                                         for column, u in columns.items() if u and n < len(u.pictures)}
                     for n, image in enumerate(clean.pictures)]
    return rows


def only(rows, net, kind):
    """The rows (or runs) of one network and kind of example."""
    return rows[(rows.network == net) & (rows.kind == kind)]


def of_both(one, other):
    """Two kinds of example of one network, cut down to the images that count with both, in one order."""
    one, other = (rows[rows.counts].set_index("image") for rows in (one, other))
    common = one.index.intersection(other.index)
    return one.loc[common], other.loc[common]


# ---- tables with the networks across ---------------------------------------------------------------------
COUNTS = ("images", "correct", "successful")      # behind the cells of a network and kind; not printed
CELLS = {"images": "{0}_{1}_images", "correct": "{0}_{1}_correct",
         "successful": "{0}_{1}_successful",
         "success_pct": "{0}_{1}_success_pct", "rms": "{0}_{1}_rms",
         "region": "{0}_region_{1}_accuracy_pct", "point": "{0}_point_{1}_accuracy_pct"}


def column(net, quantity):
    """The printed column of a quantity of a network, such as `mnist_region_adv_accuracy_pct`."""
    return CELLS[quantity].format(*net.split("-"))


HIDDEN = tuple(column(net, quantity) for net in COLUMNS for quantity in COUNTS)


def status(net, value, of=()):
    """The status of a cell of a network's column: not measured, measured on a proxy, fitted, or None.

    of   (kind of example, quantity)
    """
    return NOT_MEASURED if value is None else PROXIES.get(net, FITTED.get((net.split("-")[0], *of)))


def across(rows, kinds, quantities):
    """Rows of Tables 1 and 2: one for each kind of example, a cell for each network and quantity.

    quantities  {one of `CELLS`: rows of the images of one network and kind -> value}
    """
    table = []
    for kind in kinds:
        table.append({"examples": KINDS[kind]})
        for net in COLUMNS:
            own = only(rows, net, kind)
            for name, of in quantities.items():
                table[-1][column(net, name)] = Cell(
                    of(own) if len(own) else None, status=status(net, len(own) or None, (kind, name)),
                    of=None if name == "rms" else own.correct.sum() if name == "success_pct" else len(own))
            table[-1] |= {column(net, "images"): len(own), column(net, "correct"): own.correct.sum(),
                          column(net, "successful"): own.counts.sum()}
    return table


def by_network(table):
    """`{network: {kind: {quantity: value}}}` of the rows of Table 1 or 2, for claims."""
    kinds = {words: kind for kind, words in KINDS.items()}
    return {net: {kinds[row["examples"]]: {name: row.get(column(net, name)) for name in CELLS
                                           if name in COUNTS or column(net, name) in row}
                  for row in table.to_dict("records")} for net in COLUMNS}


def published(item):
    """`by_network` of what the paper prints in Table 1 or 2."""
    return by_network(pd.DataFrame(PAPER[item].rows))


# A column of `by_setting`, with the network and the attack of Table 1 whose distances it has.
TRIED = {("mnist-normal", "brittle"): "OptBrittle", ("mnist-normal", "strong"): "OptStrong",
         ("mnist-adv", "brittle"): "OptBrittle, adv."}
# Rows of `by_setting` with Table 1's attack on other networks.
RETRAINED = {SETTINGS[name][0] for name in ("short", "quick")}


def table_1(runs, settings):
    """Rows of Table 1: success in percent; mean distances, with their range over unpublished `settings`."""
    table = across(examples(runs), ("brittle", "margin", "strong", "fgsm"),
                   {"success_pct": success, "rms": mean_distance})
    tried = by_setting(settings, runs) if len(settings) else []
    tried = [one for one in tried if one["settings"] not in RETRAINED]
    for (net, kind), name in TRIED.items():
        row, at = next(row for row in table if row["examples"] == KINDS[kind]), column(net, "rms")
        distances = [d for d in (row[at].value, *(one[name] for one in tried)) if d is not None]
        if len(distances) > 1 and row[at].value is not None:
            row[at] = wider(row[at], min(distances), max(distances), "settings")
    return table


def table_2(runs):
    """Rows of Table 2: accuracies of both classifications in percent."""
    return across(examples(runs, "region", "point"), ("benign", "fgsm", "brittle", "margin"),
                  {how: lambda rows, how=how: share(rows[how]) for how in ("region", "point")})


# What the paper quotes of attacks by Cao and Gong, in the columns of `amplification`.
QUOTED = [{"attack": f"{row['attack']}, {row['dataset']} (quoted)", "success, %": row["success_pct"],
           "ratio of distances": row["amplification"]}
          for row in PAPER["remark-cao-gong-amplified"].raw["rows"]]


def amplification(runs):
    """A row a network: OptMargin's mean distance over OptBrittle's on images of both, and its success."""
    table = []
    for net, rows in examples(runs, "region").groupby("network", observed=True):
        far, near = of_both(only(rows, net, "margin"), only(rows, net, "brittle"))
        if len(far):
            table.append({"attack": f"OptMargin, {NAMED[net]}", "success, %": 100 - share(far.region),
                         "ratio of distances": far.rms.sum() / near.rms.sum(), "n": len(far)})
    return table


def by_setting(runs, attacks):
    """A row a setting: mean distances, region classification, OptStrong's distance over OptMargin's."""
    table, margin = [], only(examples(attacks), "mnist-normal", "margin")
    for name, own in examples(runs, "region").groupby("setting", sort=False):
        brittle, strong, adv, adv_strong = (only(own, *which) for which in ASKED)
        far, near = of_both(strong, margin)
        table.append({"settings": SETTINGS[name][0], "learning rate": own.rate.iloc[0],
                     "ratio": own.ratio.iloc[0], "n": len(brittle),
                     "OptBrittle": mean_distance(brittle),
                     "region, %": share(brittle.region), "OptStrong": mean_distance(strong),
                     "over_OptMargin": far.rms.sum() / near.rms.sum() if len(far) else None,
                     "OptBrittle, adv.": mean_distance(adv),
                     "success, adv., %": success(adv_strong)})
    return table


def network_rows(networks):
    """A row a network: accuracy on test images and under PGD, in percent."""
    return [{"network": NAMED[u.network], "test accuracy, %": 100 * u.test_accuracy,
             "under PGD, %": 100 * u.robust / u.images, "n under PGD": u.images}
            for u in networks.itertuples()]


def attack_row(runs):
    """The one row of an attack: its success, mean distance, and accuracy of region classification."""
    rows = examples(runs, "region")
    return [{"images": len(rows), "success, %": success(rows), "mean distance": mean_distance(rows),
             "region classification, %": share(rows.region)}]


def setting_ranges(others, attacks):
    """Facts: OptBrittle's mean distances over the settings, accuracies of region classification, and what
    OptStrong finds on the adversarially trained network, in words.
    """
    rows = by_setting(others, attacks)
    tried = [row for row in rows if row["settings"] not in RETRAINED]
    distances, restored, strong = ([row[name] for row in tried if row[name] is not None]
                                   for name in ("OptBrittle", "region, %", "success, adv., %"))
    most = max(strong, default=None)
    return {"least": min(distances, default=None), "most": max(distances, default=None),
            "low": min(restored, default=None), "high": max(restored, default=None), "n": rows[0]["n"],
            "strong": "no example under any of these settings" if most == 0 else
                      most and f"examples of at most {most:.0f}% of the digits",
            "paper": published("table-1")["mnist-adv"]["strong"]["success_pct"]}


# ---- results ---------------------------------------------------------------------------------------------
def mean_purity(survey):
    """Mean purities of the top k classes over the images around which another class was found; [] of none.

    Where no direction ends in another class there is nothing to be pure.
    """
    return [mean(column) for column in zip(*(row for row in survey["purity"] if row[0] > 0))]


# What `experiments.under_noise` counts, as the heads of a table.
NOISES = {"own": "the attack's own vectors, %", "others": "new vectors of the same norm, %",
          "cube": "noise of region classification (uniform, L∞ ball), %",
          "clean": "benign images, new vectors, %"}


def misclassified_under_noise(runs):
    """Mean shares of `experiments.under_noise` in percent over the examples, and how many these are."""
    rows = unnest(runs, "counts", *NOISES)
    own = rows[rows.counts.astype(bool)]
    return {"network": "SqueezeNet 1.1", "images": len(own)} | {
        kind: percent(own[kind].sum(), len(own)) for kind in NOISES}
