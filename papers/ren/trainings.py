"""Section IV of Ren et al.: what training and the form of SSIM do to robustness, and pairs of Figure 2."""
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.ren.experiments import ARCHITECTURES, UNIFORM
from papers.ren.figures import COLUMNS, PAPER, over_nets
from report import display, tidy

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
    """Facts: how far networks of a training lie apart, and where the published values lie outside them."""
    trainings = pd.DataFrame(reach(searches, variants))
    own = trainings[trainings.training.str.endswith("as above")]
    own = own.assign(architecture=own.training.str[0], outliers=own.outside > MARGIN)
    within = own.assign(width=own.highest - own.lowest).groupby("background").width
    means = towards(searches, *UNIFORM).groupby(["background", "architecture"]).robustness_mean.mean()
    return {"own": {b: f"{width.min():.2f} to {width.max():.2f}" for b, width in within},
            "between": means.groupby("background").agg(np.ptp).to_dict(),
            "outliers": own.outliers.sum(), "rows": len(own), "margin": MARGIN,
            "outside": ", ".join(f"{r.architecture} {r.background}" for r in own[own.outliers].itertuples())
            or "none",
            "relevant": "; ".join(f"{name}, outside by up to {rows.outside.max():.2f}" for name, rows in
                                  trainings.groupby("training", sort=False) if name not in {*own.training}
                                  and name[0] in {*own[own.outliers].architecture}) or "none",
            **PRINTED.robustness_ssim.groupby("background").agg(np.ptp)}


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
