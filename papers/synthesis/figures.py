"""Rows, sentences and drawings of the comparison of the five instruments."""
import matplotlib.pyplot as plt
import numpy as np

from papers.synthesis import comparison
from papers.synthesis.comparison import BASELINE, INSTRUMENTS, LEVEL, measured
from papers.synthesis.experiments import GROUPS, NETWORKS
from report import display, prose, reference

PAPERS = ("ren", "shu", "he", "chen")       # of the networks
NAMES = {"ren-a": "A", "ren-b": "B", "ren-c": "C", "shu-lenet": "LeNet", "shu-mlp": "perceptron",
         "he-natural": "natural", "he-robust": "robust", "chen-natural": "LeNet, natural",
         "chen-robust-1": "LeNet, robust (0.1)", "chen-robust-2": "LeNet, robust (0.2)"}
# What an instrument measures, for those who know none of the papers.
MEANINGS = {"mixing": "how far an image is mixed with another one until its label changes",
            "transfer": "how often other trainings misclassify images between adversarial ones",
            "distance": "how far an image moves in random directions until its label changes",
            "gradient": "distance to a label change along the loss gradient",
            "roby": "how little the classes overlap"}
LEVELS = {"networks": "over networks", "images": "over images\nof one network"}
AXES = {"mixing": "1 − SSIM after mixing", "transfer": "misclassified share of the box",
        "distance": "random directions, RMS (L2 / 28)", "gradient": "L2 norm of the step",
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
    """Numbers and words of the page's sentences, of runs and what `compared` gives of them; {} of too few.

    `name` and `top` are the cheap instruments that rank networks, and the images of one network, most as the
    attack does; others with the same correlation stand behind them.
    """
    first = comparison.best(rows, runs)
    cheap = comparison.cheap(rows, runs) if first else rows
    if not first or not cheap.images.notna().any():
        return {}
    data = measured(runs)
    base = rows[rows.instrument == BASELINE].iloc[0]
    inside = cheap.loc[cheap.images.idxmax()]
    return {"whole": len(runs) == len(NETWORKS), "networks": len(runs), "groups": len(set(data.groups)),
            "images": data.values["attack"].shape[1], "level": f"{LEVEL:.0%}", "cheap": len(cheap),
            "cheap_names": ", ".join(INSTRUMENTS[name][1] for name in cheap.instrument),
            "alone_networks": int(data.natural.sum()), "meaning": MEANINGS[first["instrument"]],
            "cost": 100 * first["seconds"] / comparison.seconds_of(runs, "attack"),
            "predicting": int(cheap.networks_predicts.sum()), "alone": int((cheap.natural_low > 0).sum()),
            "name": _named(cheap, "networks"), "value": _with_interval(first, "networks"),
            "natural": _with_interval(first, "natural"), "margin": _with_interval(base, "networks"),
            "apart": {"is": first["networks"] - base["networks"], "low": first["networks_apart_low"],
                      "high": first["networks_apart_high"]},
            "margin_natural": _with_interval(base, "natural"), "top": _named(cheap, "images"),
            "within": _with_interval(inside, "images"), "margin_within": _with_interval(base, "images"),
            "predicts": bool(first["networks_predicts"]), "stays": bool(first["natural_low"] > 0),
            "better": BETTER[bool(first["networks_better"])], "sharper": BETTER[bool(inside.images_better)]}


# By the protocol's rule, whether the interval of the difference lies above 0.
BETTER = {True: "better than", False: "not reliably better than"}


def _named(cheap, level):
    """The instrument of the largest correlation, with those that tie with it."""
    largest = cheap[np.isclose(cheap[level].astype(float), cheap[level].max())].instrument
    first, *tied = (f"“{INSTRUMENTS[name][1]}”" for name in largest)
    return f"{first} (tied with {', '.join(tied)})" if tied else first


def _with_interval(row, level):
    return {"is": row[level], "low": row[f"{level}_low"], "high": row[f"{level}_high"]}


def answer(facts):
    """The answer of the box, by the rule of the protocol; how the margin compares stands on the page."""
    if not facts.get("whole"):
        return "Too few networks are measured to tell."
    which = ("none does beyond chance. The {name} comes closest: {meaning}." if not facts["predicts"] else
             "one does beyond chance: the {name} ({meaning})." if facts["predicting"] == 1 else
             "{predicting} do beyond chance. The {name} comes closest: {meaning}.")
    return "Of {cheap} measures from the papers that take at most a tenth of the attack's time, " + which


def evidence(facts):
    """The evidence of the box; the answer about all networks has named the instrument."""
    whose = "its rank correlation" if facts.get("whole") else (
        "the rank correlation of the {name} with the attack")
    return (f"Over {{networks}} networks of {{groups}} kinds {whose} is {{value.is:.2f}} "
            "({level} interval {value.low:.2f} to {value.high:.2f}; 1: same order, 0: none).")


# Of the box: the networks without adversarial training.
LIMIT = ("Over the {alone_networks} not trained on attacks it is {natural.is:.2f} ({natural.low:.2f} to "
         "{natural.high:.2f}).")


def lessons(rows, runs):
    """Three things to remember, as a list: to rank networks, to rank images, and robust networks."""
    own = facts(rows, runs)
    if not own.get("whole"):
        return ("1. An instrument ranks networks and images as an attack does only as far as its interval "
                "says.\n2. Look at naturally trained networks alone, too: adversarially trained ones can "
                "make a correlation by themselves.\n3. Compare each cheap measure with the margin of the "
                "logits, which costs one forward pass.")
    natural = ("without them it is {natural.is:.2f}, too." if own["stays"] else
               "without them it is {natural.is:.2f}; both intervals reach below zero."
               if own["value"]["low"] < 0 else
               "without them it is {natural.is:.2f}, with an interval that reaches below zero.")
    return prose.fill("1. Repeat a ranking of networks without the adversarially trained ones: they alone "
                      "can make the correlation. The {name} has {value.is:.2f} over all; " + natural
                      + "\n2. What ranks images need not rank networks: the margin of the logits has "
                      "{margin_within.is:.2f} over the images of one network, {margin.is:.2f} over networks."
                      "\n3. To rank the images of one network, the {top} follows the attack most "
                      "({within.is:.2f}), {sharper} the margin.", own)


# ---- drawings --------------------------------------------------------------------------------------------
def draw_correlations(rows, runs):
    """Rank correlations with the attack and their intervals, of what `compared` gives: networks, images."""
    if not len(rows):
        return None
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3), sharey=True)
    cheap = {*comparison.cheap(rows, runs).instrument}
    kinds = {"at most a tenth of the attack's time": display.PALETTE[0], "slower": display.PALETTE[1],
             "baseline": display.PALETTE[7]}
    for ax, (level, title) in zip(axes, LEVELS.items()):
        ax.axvline(0, color=display.GUIDE, lw=0.8)
        for y, row in enumerate(rows.to_dict("records")):
            color = [*kinds.values()][2 if row["instrument"] == BASELINE else row["instrument"] not in cheap]
            ax.plot([row[f"{level}_low"], row[f"{level}_high"]], [y, y], color=color, lw=2)
            ax.plot(row[level], y, "o", color=color)
        ax.set(xlim=(-1.05, 1.05), xlabel="rank correlation with the attack")
        ax.set_title(title)
    axes[0].set(yticks=range(len(rows)), yticklabels=[*map(comparison.label, rows.instrument)],
                ylim=(len(rows) - 0.5, -0.5))
    figure.legend([plt.Line2D([], [], marker="o", color=color) for color in kinds.values()], kinds,
                  loc="outside upper center", ncols=3)
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
