"""Section IV of Ren et al.: what training and the form of SSIM do to robustness, and pairs of Figure 2."""
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.ren.experiments import ARCHITECTURES, UNIFORM
from papers.ren.figures import COLUMNS, PAPER, over_nets, variances
from report import display, tidy
from report.comparison import LEAST

MARGIN = 0.02   # in SSIM: a published value farther outside the networks' range is an outlier
WORDS = {"a": "A, as above", "b": "B, as above", "c": "C, as above", "noshift": "A, no shifts",
         "long": "A, 30 epochs", "same": "A, padded", "unit": "A, not centred", "onecycle": "A, one cycle",
         "linear": "C, no last ReLU"}
PRINTED = pd.DataFrame(PAPER["table-3"].rows).set_index(["architecture", "background"])
CONVENTIONS = {"mean": "Gaussian window, whole image (as above)", "skimage": "Gaussian window, rim dropped",
               "uniform": "uniform window of 7 by 7, rim dropped"}


def towards(runs, *backgrounds):
    """The runs towards these backgrounds, with the name of their architecture in print."""
    chosen = runs[runs.background.isin(backgrounds)]
    return chosen.assign(architecture=chosen.architecture.map(ARCHITECTURES))


def table_3(runs):
    """Rows of Table III."""
    return over_nets(towards(runs, *UNIFORM), ("architecture", "background"), COLUMNS)


def reach(searches, variants):
    """For each training and background: range of the networks' means, distance of the published one."""
    both = pd.concat([searches.assign(kind=searches.architecture), variants.assign(kind=variants.variant)])
    rows = []
    for (kind, b), nets in both[both.background.isin(UNIFORM)].groupby(["kind", "background"], sort=False):
        printed = PRINTED.loc[(WORDS[kind][0], b)]
        low, high = nets.robustness_mean.min(), nets.robustness_mean.max()
        rows.append({"training": WORDS[kind], "background": b, "networks": len(nets), "lowest": low,
                     "highest": high, "printed": printed.robustness_ssim,
                     "outside": max(low - printed.robustness_ssim, printed.robustness_ssim - high, 0.0),
                     "spread": nets.robustness_std.mean(), "printed_spread": printed.robustness_std})
    return rows


def what_training_does(searches, variants):
    """Facts: how far networks of a training lie apart, and where the published values lie outside them.

    removed   of the rows outside, those that a variant brings into its range, or "none"
    ratios    towards white, standard deviation over trainings over that over architectures, by convention
    variants  each with the largest distance of a published value from its range
    """
    trainings = pd.DataFrame(reach(searches, variants))
    own = trainings[trainings.training.str.endswith("as above")]
    own = own.assign(architecture=own.training.str[0], outliers=own.outside > MARGIN)
    within = own.assign(width=own.highest - own.lowest).groupby("background").width
    means = towards(searches, *UNIFORM).groupby(["background", "architecture"]).robustness_mean.mean()
    white = towards(searches, "white")
    tried = trainings.drop(own.index)
    near = {(r.training[0], r.background) for r in tried[tried.outside <= MARGIN].itertuples()}
    outliers = [(r.architecture, r.background) for r in own[own.outliers].itertuples()]
    return {"own": {b: f"{width.min():.2f} to {width.max():.2f}" for b, width in within},
            "between": means.groupby("background").agg(np.ptp).to_dict(),
            "ratios": ", ".join(f"{np.sqrt(within / between):.2f}" if between > 0 else "–" for within, between
                                in (variances(white, f"robustness_{c}") for c in CONVENTIONS)),
            "outliers": len(outliers), "rows": len(own), "margin": MARGIN,
            "outside": ", ".join(map(" ".join, outliers)) or "none",
            "removed": sum(row in near for row in outliers) or "none",
            "variants": ", ".join(f"{rows.outside.max():.2f} ({name})"
                                  for name, rows in tried.groupby("training", sort=False)),
            **PRINTED.robustness_ssim.groupby("background").agg(np.ptp)}


def deviations(searches):
    """Facts: how many published standard deviations over digits lie outside our range, and on which side.

    smaller, larger  of those of the similarities to the `digit`, and of the two `sides`
    {} where a row has fewer networks than a range needs.
    """
    groups = towards(searches, *UNIFORM).groupby(["architecture", "background"])
    if groups.size().min() < LEAST:
        return {}
    cells = pd.DataFrame([
        {"sides": name.startswith("separability"), "low": PRINTED.loc[row, name] < nets[column].min(),
         "high": PRINTED.loc[row, name] > nets[column].max()}
        for row, nets in groups for name, column in COLUMNS.items() if name.endswith("std")])
    return {"cells": len(cells), "outside": (cells.low | cells.high).sum(),
            "digit": (~cells.sides).sum(), "smaller": cells.low[~cells.sides].sum(),
            "sides": cells.sides.sum(), "larger": cells.high[cells.sides].sum()}


def by_convention(runs):
    """Mean robustness of each row of Table III under each convention, and the published one."""
    means = towards(runs, *UNIFORM).groupby(["architecture", "background"], sort=False)[
        [f"robustness_{c}" for c in CONVENTIONS]].mean()
    lines = {"published": PRINTED.robustness_ssim} | {
        words: means[f"robustness_{c}"] for c, words in CONVENTIONS.items()}
    return [{"convention": name} | {f"{a} {b}": values[a, b] for a, b in means.index}
            for name, values in lines.items()]


def what_the_definition_does(searches):
    """Facts: mean distance from the published values by this page's convention, and by the nearest other.

    nearer   of `rows` rows, those that come nearer to the published value by that other one
    """
    table = pd.DataFrame(by_convention(searches)).set_index("convention")
    apart = (table.drop("published") - table.loc["published"]).abs()
    off = apart.mean(axis=1, skipna=False)
    if off.isna().any():
        return {}
    nearest = off.iloc[1:].idxmin()
    return {"own": off.iloc[0], "nearest": nearest, "by": off[nearest], "rows": apart.shape[1],
            "nearer": int((apart.loc[nearest] < apart.iloc[0]).sum())}


def draw_pairs(runs):
    """Digits, last images with the label and first ones without, in three rows for each background."""
    figure, axes = plt.subplots(3 * len(runs), len(runs.digits[0]), figsize=(10, 11))
    for block, one in enumerate(runs.itertuples()):
        rows = axes[3 * block:3 * block + 3]
        for row, images in zip(rows, (one.original, one.inside, one.outside)):
            display.image_grid(row, images)
        for n, excluded in enumerate(one.excluded):
            rows[2, n].set_xlabel("×" if excluded else f"{one.inside_class[n]} | {one.outside_class[n]}\n"
                                  f"{one.separability[n]:.3f}", fontsize=10)
            for ax in rows[1:, n]:
                ax.images[0].set_visible(not excluded)
        for ax, text in zip(rows[:, 0], (f"{one.background}:\ndigit", "last with", "first without")):
            ax.set_ylabel(text, fontsize=10)
    return figure


def pairs_data(runs):
    """Every pair in the picture: digit, two labels, SSIM."""
    pairs = tidy.unnest(runs, "digits", "excluded", "inside_class", "outside_class", "separability")
    return {background: [
        {"digit": u.digits, "inside": u.inside_class, "outside": u.outside_class, "ssim": u.separability}
        for u in of_background[~of_background.excluded.astype(bool)].itertuples()]
        for background, of_background in pairs.groupby("background", sort=False)}
