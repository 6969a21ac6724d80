"""Rows, sentences and drawings of the comparison of the five instruments."""
import matplotlib.pyplot as plt
import numpy as np

from papers.synthesis import comparison
from papers.synthesis.comparison import BASELINE, INSTRUMENTS, LEVEL, measured, seconds_of
from papers.synthesis.experiments import GROUPS
from report import display, reference

PAPERS = ("ren", "shu", "he", "chen")       # of the networks
NAMES = {"ren-a": "A", "ren-b": "B", "ren-c": "C", "shu-lenet": "LeNet", "shu-mlp": "perceptron",
         "he-natural": "natural", "he-robust": "robust", "chen-natural": "LeNet, natural",
         "chen-robust-1": "LeNet, robust (0.1)", "chen-robust-2": "LeNet, robust (0.2)"}
LEVELS = {"networks": "over networks", "images": "over images\nof one network"}
AXES = {"mixing": "1 − SSIM after mixing", "transfer": "misclassified share of the box",
        "distance": "random directions, RMS", "gradient": "L2 norm of the step",
        "roby": "−ROBY", "margin": "margin of the logits"}


def network(run):
    """A network's paper and name, for a table."""
    short = reference.SHORT[GROUPS[run["network"]].paper].split()[0]
    return f"{short}: {NAMES[run['network']]}, seed {run['number']}"


def network_rows(runs):
    """For a table: a row a network with its accuracy, the attacks, and the instruments' means."""
    if not len(runs):
        return []
    data, places = measured(runs), comparison.shared_images(runs)
    return [[network(run), 100 * run["accuracy"], float(data.networks["attack"][n]),
             100 * float(np.mean([run["survives"][k] for k in places])) if len(places) else None,
             *(float(data.networks[name][n]) for name in INSTRUMENTS)]
            for n, run in enumerate(runs.to_dict("records"))]


def correlation_rows(rows):
    """For a table, of what `compared` gives: an instrument's milliseconds, correlations and intervals."""
    return [[comparison.label(row["instrument"]), 1_000 * row["seconds"], *(
        f"{row[level]:.2f} ({row[f'{level}_low']:.2f} to {row[f'{level}_high']:.2f})"
        if np.isfinite(row[level]) else "–" for level in ("networks", "natural", "images"))]
        for row in rows.to_dict("records")]


def facts(rows, runs):
    """Numbers of the page's sentences, of the runs and what `compared` gives of them; {} of too few."""
    first = comparison.best(rows, runs)
    if not first or not rows.images.notna().any():
        return {}
    data, rows = measured(runs), rows.set_index("instrument")
    place = rows.images.dropna()
    which = INSTRUMENTS[first["instrument"]][1]
    predicts = "predicts" if first["networks_predicts"] else "does not reliably predict"
    better = "is better than" if first["networks_better"] else "is no better, within the interval, than"
    top = place.idxmax()
    return {"networks": len(runs), "groups": len(set(data.groups)), "images": data.values["attack"].shape[1],
            "name": which, "predicts": predicts, "better": better, "value": first["networks"],
            "low": first["networks_low"], "high": first["networks_high"], "level": f"{LEVEL:.0%}",
            "margin": rows.networks[BASELINE], "within": place[top], "top": INSTRUMENTS[top][1],
            "ms": 1_000 * first["seconds"], "attack_ms": 1_000 * seconds_of(runs, "attack"),
            "natural": first["natural"], "natural_low": first["natural_low"],
            "natural_high": first["natural_high"]}


# ---- drawings --------------------------------------------------------------------------------------------
def draw_correlations(rows):
    """Rank correlations with the attack and their intervals, of what `compared` gives: networks, images."""
    if not len(rows):
        return None
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.6), sharey=True)
    for ax, (level, title) in zip(axes, LEVELS.items()):
        ax.axvline(0, color=display.GUIDE, lw=0.8)
        for y, row in enumerate(rows.to_dict("records")):
            color = display.PALETTE[7] if row["instrument"] == BASELINE else display.PALETTE[0]
            ax.plot([row[f"{level}_low"], row[f"{level}_high"]], [y, y], color=color, lw=2)
            ax.plot(row[level], y, "o", color=color)
        ax.set(xlim=(-1.05, 1.05), xlabel="rank correlation with the attack")
        ax.set_title(title)
    axes[0].set(yticks=range(len(rows)), yticklabels=[*map(comparison.label, rows.instrument)],
                ylim=(len(rows) - 0.5, -0.5))
    return figure


def draw_networks(runs):
    """The networks: the attack's mean norm over the mean of each instrument, a panel an instrument."""
    if not len(runs):
        return None
    data = measured(runs)
    figure, axes = plt.subplots(2, 3, figsize=(7.2, 4.6), sharey=True)
    for ax, name in zip(axes.flat, INSTRUMENTS):
        for key, marker, color in zip(PAPERS, display.MARKERS, display.PALETTE):
            of = np.array([GROUPS[group].paper == key for group in data.groups])
            for natural in (True, False):
                some = of & (data.natural == natural)
                ax.plot(data.networks[name][some], data.networks["attack"][some], marker, ls="", ms=6,
                        color=color, mfc=color if natural else "white", mew=1.5,
                        label=f"{reference.SHORT[key].split()[0]}{'' if natural else ', robust'}"
                        if some.any() else None)
        ax.set(xlabel=AXES[name])
    for ax in axes[:, 0]:
        ax.set_ylabel("attack, mean L2 norm")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(handles))
    return figure
