"""Appendix D of He et al.: attacks on photographs, the vote over noisy copies, and boundary distances.

`runs` or `examples` are those of `experiments.imagenet_examples`, `noises` of `experiments.imagenet_noise`.
"""
from collections import Counter

import matplotlib.pyplot as plt

from papers.he import boundary, experiments, figures
from report import display, tidy
from report.cell import Cell
from report.prose import mean, share
from shared.attacks.region import Region
from shared.susceptibility import percentage

NAMES = {kind: figures.KINDS[kind] for kind in figures.COLOURS}
PRINTED = {row["attack"]: row["region_accuracy_pct"] for row in figures.PAPER["table-5"].rows}
PROXY = "proxy: SqueezeNet 1.1 in place of Inception-ResNet"
TOO_FEW = f"not measured: the classifier needs at least {experiments.LEAST} images"
RADIUS = 0.02
BLACK = Region(RADIUS).expected_rms, RADIUS     # the black lines, RMS and L∞


def votes(runs):
    """Facts: accuracy of region classification by kind, and which attack lowers it most; {} of fewer.

    `attacked` is its accuracy after OptMargin on the images that the network classifies correctly, `before`
    how many of them it classifies correctly without an attack.
    """
    rows = figures.examples(runs, "region")
    if not set(NAMES) <= {*rows.kind}:
        return {}
    facts = {kind: percentage(int(of_kind.region.sum()), len(of_kind)) | {"paper": PRINTED[NAMES[kind]]}
             for kind in NAMES for of_kind in [rows[rows.kind == kind]]}
    lowest = min((kind for kind in facts if kind != "benign"), key=lambda kind: facts[kind]["percent"])
    attacked = rows[(rows.kind == "margin") & rows.correct]
    before = rows[(rows.kind == "benign") & rows.image.isin(attacked.image)]
    return facts | {"attacked": percentage(int(attacked.region.sum()), len(attacked)),
                    "before": int(before.region.sum()), "lowest": NAMES[lowest], "least": facts[lowest],
                    "theirs": min(PRINTED, key=PRINTED.get)}


def sizes(runs):
    """Facts: the most iterations for each c of the two searches, and the directions; {} without both."""
    most = runs.groupby("kind").iterations.max()
    if not {"margin", "brittle"} <= {*most.index}:
        return {}
    return {"margin": most["margin"], "brittle": most["brittle"], "directions": runs.directions.max()}


def fitted(noises, examples):
    """Facts: how far the examples' success under their own noise carries over to other noise; {} of none."""
    by_noise = figures.misclassified_under_noise(noises)
    if by_noise["own"] is None:
        return {}
    rows = tidy.unnest(noises, "counts", "others")
    shares = 100 * rows.others[rows.counts]
    return by_noise | {"noises": noises.noises.max(), "low": shares.min(), "high": shares.max(),
                       "blocks": len(noises), "all_blocks": (examples.kind == "margin").sum(),
                       "fits": "overfits" if 2 * by_noise["others"] < by_noise["own"] else "does not overfit"}


def table_5(examples, classifiers=None):
    """A row a kind of example; distances over successful examples, accuracies over all images."""
    rows, table = figures.examples(examples, "point", "region"), []
    trained = {} if classifiers is None else {u.attack: u for u in classifiers.itertuples()}
    for kind, name in NAMES.items():
        of_kind, errors = rows[rows.kind == kind], boundary.errors(trained.get(kind))
        cells = {"distortion_rms": mean(of_kind.rms[of_kind.counts]),     # of benign images none counts
                 "point_accuracy_pct": share(of_kind.point), "region_accuracy_pct": share(of_kind.region),
                 "false_pos_pct": errors.get("benign", {}).get("percent"),
                 "false_neg_pct": errors.get(kind, {}).get("percent") if kind != "benign" else None}
        table.append({"attack": name})
        for column, value in cells.items():
            none = TOO_FEW if column.startswith("false") and kind not in trained else figures.NOT_MEASURED
            table[-1][column] = Cell(value, status=none if value is None else PROXY)
    return table


def draw_one(runs):
    """The image and its examples; below them the line searches in both norms, a colour an adjacent class."""
    first = {u["kind"]: u for u in runs[runs.block == 0].to_dict("records")}
    searches = {kind: u["one"] for kind, u in first.items() if u["one"]}
    figure, axes = plt.subplots(3 if searches else 1, 4, figsize=(10, 7 if searches else 2.8), squeeze=False)
    classes = Counter(c for one in searches.values() for c in one["adjacent"].tolist())
    colours = {c: display.PALETTE[n % 10] for n, (c, _) in enumerate(classes.most_common())}
    for column, (kind, name) in zip(axes.T, NAMES.items()):
        if kind in first:
            display.image_grid(column[:1], first[kind]["pictures"][:1])
        column[0].set_title(name)
        for ax, key, norm, line in zip(column[1:], ("distance", "linf"), ("RMS", "L∞"), BLACK):
            ax.set(xticks=[], ylabel=f"{norm} distance" if kind == "benign" else "")
            if one := searches.get(kind):
                boundary.draw_directions(ax, one[key], one["adjacent"], line, colours)
            else:
                ax.text(0.5, 0.5, "no example", transform=ax.transAxes, ha="center")
    for row in axes[1:]:
        top = max(ax.get_ylim()[1] for ax in row if ax.collections)
        for ax in row:
            ax.set_ylim(0, top)
    return figure


def one_data(runs):
    """Of each kind: the share of its images that regions restore."""
    return {kind: {"restored": share(of_kind.region)}
            for kind, of_kind in figures.examples(runs, "region").groupby("kind", observed=True)}


def surveys(runs):
    """`{kind: a row an image that counts}`: boundary distances in both norms, and purities."""
    rows = tidy.unnest(runs, "least", "median", "least_linf", "median_linf", "purity")
    return dict(tuple(rows.groupby("kind", sort=False)))


def draw_all(runs):
    """Nearest and median distances in both norms, and the mean purity; None where no image counts."""
    together = surveys(runs)
    if not together:
        return None
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.4))
    for row, tail, line, norm in zip(axes, ("", "_linf"), BLACK, ("RMS", "L∞")):
        for ax, (statistic, name) in zip(row, boundary.STATISTICS.items()):
            boundary.draw_sorted(ax, {kind: f[statistic + tail] for kind, f in together.items()}, line)
            ax.set(title=name, xlabel="images, sorted", ylabel=f"{norm} distance")
    for kind, f in together.items():
        values = figures.mean_purity(f)
        boundary.curve(axes[0, 2], kind, range(1, len(values) + 1), values, ".")
    axes[0, 2].set(title="purity", xlabel="k", ylabel="purity of the top k", xticks=range(1, 11, 3))
    axes[1, 2].set_axis_off()
    axes[1, 2].legend(*axes[0, 2].get_legend_handles_labels(), loc="center")
    return figure


def all_data(runs):
    """Of each kind: the median over images, and the mean purity of the commonest class."""
    return dict.fromkeys(NAMES, dict.fromkeys(("median", "purity"))) | {
        kind: {"median": images["median"].median(), "purity": next(iter(figures.mean_purity(images)), None)}
        for kind, images in surveys(runs).items()}
