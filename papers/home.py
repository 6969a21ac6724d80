"""Numbers of the home page's findings and of the papers' openings, from records and runs, and pictures.

The pages have the sentences. A finding returns the facts that its sentences name, and its picture.
"""

from collections import Counter
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

from papers.chen import audit, cost, ranking
from papers.chen.experiments import cost as timings
from papers.ren.experiments import pruned, searches
from papers.ren.figures import pruning
from papers.shu import beyond
from papers.shu.experiments import lenet_fifty, lenet_networks, mlp_sweeps
from papers.sutton import figures, tables
from papers.sutton.experiments import PAIRS, cifar10, fashion_mnist
from papers.synthesis import figures as five_instruments
from papers.synthesis.comparison import compared
from papers.synthesis.experiments import instruments
from report import display, record, reference
from report.comparison import DIFFERS
from report.experiment import recorded
from report.verdict import NOT_CONFIRMED
from shared.runtime import UserError
from shared.susceptibility import percentage

COEFFICIENTS = ("table-2", "table-3")    # of Chen et al., that sorting alone explains


# ---- records and runs ------------------------------------------------------------------------------------
def kept(paper, item):
    """The rows of an item's record, or a figure's data."""
    whole = record.read(paper, item)
    if whole is None:
        raise UserError(f"{paper} {item}: no record; `make records` makes it from the recorded runs")
    return whole.get("rows") or whole["data"]


def row(rows, **wanted):
    """The first row with these values."""
    return next(r for r in rows if wanted.items() <= r.items())


def printed(paper, item, **wanted):
    """The printed row of a table with these values."""
    return row(reference.paper(paper)[item].rows, **wanted)


def runs_of(experiment):
    """The recorded runs of an experiment, a row a run."""
    there = recorded(experiment, *experiment.planned())
    return pd.DataFrame([there.labels.get(name, {}) | run.row for name, run in there.recorded.items()])


def on_pairs(experiment, table, leave=()):
    """Means over pairs of classes of what a step and noise flip of their test images, in percent.

    table   the printed table of the share that a step flips
    leave   pairs of classes that are left out
    """
    runs = figures.learned(runs_of(experiment))
    parts = {p: u["test"] for p, u in figures.by_problem(runs).items() if p not in leave}
    steps = pd.Series([tables.flipped_by_step(part)["percent"] for part in parts.values()])
    counted = np.mean([tables.percent(part, "attack") for part in parts.values()])      # zero gradients, too
    one = [tables.share(part, 1) for part in parts.values()]
    noise = percentage(*(sum(share[name] for share in one) for name in ("hits", "of")))
    ten = [tables.percent(part, 10) for part in parts.values()]
    paper = [published["test"] for published in reference.paper("sutton")[table].rows
             if published.get("quantity") in (None, tables.QUANTITIES["attack"])
             and (published["class_a"], published["class_b"]) in parts]
    return {"pairs": len(parts), "of": [*parts], "step": steps.mean(), "counted": counted,
            "over": beyond.interval(steps), "samples": int(runs.draws.max()),
            "noise": noise, "one": noise["hits"] or "none", "perturbed": noise["of"],
            "ten": float(np.mean([share for share in ten if share is not None])), "paper": np.mean(paper)}


# ---- pictures --------------------------------------------------------------------------------------------
def bars(values, axis, *, log=False):
    """Horizontal bars {label: (value, low, high, published)}; dots on a logarithmic axis, which has no zero.

    A line is the interval, a tick the paper's value; low, high and published may be None.
    """
    figure, ax = plt.subplots(figsize=(3.8, 0.8 + 0.4 * len(values)))
    for y, (value, low, high, published) in enumerate(values.values()):
        if log:
            ax.plot(value, y, display.MARKERS[y], color=display.PALETTE[y], ms=9)
        else:
            ax.barh(y, value, color=display.PALETTE[y], height=0.6)
        if low is not None:
            ax.plot([low, high], [y, y], color="k", lw=1.5)
        if published is not None:
            ax.plot([published] * 2, [y - 0.38, y + 0.38], color=display.PRINTED, lw=2.5)
    ax.set(yticks=range(len(values)), yticklabels=values, xlabel=axis)
    if log:
        ax.set(xscale="log", xlim=(1e-8, 300), ylim=(-0.5, len(values) - 0.5))
        ax.grid(axis="y", color=display.PALE, lw=0.6)
    else:
        ax.set_xlim(0, 105)
    ax.invert_yaxis()
    return figure


# ---- the findings, in the order of the page --------------------------------------------------------------
def noise_and_attack():
    facts = on_pairs(cifar10, "table-5", PAIRS.values())
    published = np.mean([noise["test"] for noise in reference.paper("sutton")["table-9"].rows
                         if (noise["class_a"], noise["class_b"]) in facts["of"]])
    over, noise = facts["over"], facts["noise"]
    return facts, bars({
        "attack": (facts["step"], over["low"], over["high"], None),
        "attack, counting\nzero gradients": (facts["counted"], None, None, facts["paper"]),
        "noise, same norm": (noise["percent"], noise["low"], noise["high"], published)},
        "% of images")


def small_gap():
    data = kept("sutton", "theorem-20")
    touch, gap = (100 * data[f"flipped_at_picture{end}"]["1"] for end in ("_without_margin", ""))
    return {"touch": touch, "gap": gap * 1e7, "attacked": 100 * data["attackable_at_picture"]}, bars({
        "noise, no gap": (touch, None, None, None), "noise, gap": (gap, None, None, None),
        "attack, gap": (100 * data["attackable_at_picture"], None, None, None)},
        "labels flipped, % of points", log=True)


def one_vote():
    column = "mnist_region_normal_accuracy_pct"
    strong = row(kept("he", "extra-amplified"), attack="OptMargin, MNIST, normal")
    facts, drawn = {"ratio": strong["ratio of distances"]}, {}
    for name, words in (("OptBrittle", "ordinary attack"), ("OptMargin", "attack built to\nwithstand noise")):
        vote = row(kept("he", "table-2"), examples=name)[column]
        share = percentage(round(vote.of * vote.value / 100), vote.of)
        facts |= {name: share, "of": vote.of}
        drawn[words] = (share["percent"], share["low"], share["high"],
                        printed("he", "table-2", examples=name)[column])
    facts["paper"] = printed("he", "table-2", examples="OptBrittle")[column]
    return facts, bars(drawn, "labels that the vote restores, %")


@cache
def over_fifty():
    """The facts of disagreement over fifty digits: on adversarial images, on noise, on clean digits."""
    fifty, clean = runs_of(lenet_fifty), kept("shu", "procedure-robust-classification")
    networks = beyond.disagreement(fifty).loc[10]     # of ten networks
    return {"rate": beyond.over_digits(fifty), "attacked": beyond.interval(networks.attack),
            "noise": beyond.interval(networks.noise), "clean": clean["false"]}


def disagreement():
    facts = over_fifty()
    names = {"adversarial": "attacked", "noise as large\nbefore clipping": "noise", "clean": "clean"}
    return facts, bars({words: (*(facts[name][end] for end in ("percent", "low", "high")), None)
                        for words, name in names.items()}, "ten networks disagree, % of images")


def stopping_rule():
    runs = runs_of(searches)
    runs = runs[runs.background.isin(["white", "black"])]
    stop, = runs.threshold.unique()
    figure, ax = plt.subplots(figsize=(3.8, 1.7))
    for y, name in enumerate(("separability_mean", "robustness_mean")):
        ax.plot(runs[name], np.full(len(runs), y), "o", ms=5, alpha=0.6, color=display.PALETTE[y])
    ax.axvline(stop, color=display.GUIDE, ls="--")
    ax.annotate("searches stop", (stop, 0.5), (-4, 0), textcoords="offset points", ha="right", va="center")
    ax.set(yticks=[0, 1], yticklabels=["the two sides", "digit and last image\nwith its label"],
           xlim=(0, 1.05), ylim=(1.5, -0.5), xlabel="mean similarity (SSIM)")
    own = [r["separability_ssim"] for r in reference.paper("ren")["table-3"].rows]
    return {"stop": stop, "converged": 100 * runs.converged.sum() / runs.searched.sum(),
            "networks": len(runs[["architecture", "net"]].drop_duplicates()), "paper": np.mean(own),
            "low": runs.robustness_mean.min(), "high": runs.robustness_mean.max()}, figure


def moving_classes():
    near, far = (row(kept("chen", "extra-readings"), classes=name)
                 for name in ("as they are", "centres ten times as far apart"))
    figure, axes = plt.subplots(1, 2, figsize=(3.8, 1.8))
    for ax, name, words, color in zip(axes, ("error", "roby"), ("error, %", "ROBY"), display.PALETTE):
        ax.bar(["near", "far"], [near[name], far[name]], color=color, width=0.6)
        ax.set_title(words)
    axes[1].set_ylim(0, 1)
    return {"error": near["error"], "error_apart": far["error"], "roby": near["roby"],
            "roby_apart": far["roby"]}, figure


def sorted_lists():
    generator = np.random.default_rng(0)
    lists = audit.sorted_uniform_correlations(generator, size=10, pairs=200_000)
    x, y = generator.random((2, 50_000, 10))
    free = stats.pearsonr(x, y, axis=1).statistic
    published = [abs(value) for item in COEFFICIENTS for r in reference.paper("chen")[item].rows
                 for name, value in r.items() if name != "dataset"]
    figure, ax = plt.subplots(figsize=(3.8, 1.9))
    for values, words, color in ((free, "unsorted", display.PALE), (lists, "sorted", display.PALETTE[0])):
        ax.hist(values, np.linspace(-1, 1, 81), density=True, color=color, label=words)
    ax.plot(published, np.full(len(published), -0.8), "|", color=display.PRINTED, ms=8, clip_on=False)
    ax.set(xlabel="correlation (marks: size of the paper's)", yticks=[], xlim=(-1, 1.02))
    ax.legend(loc="upper left")
    return {"sorted": np.median(lists), "unsorted": abs(round(float(np.median(free)), 2)),
            "least": min(published), "most": max(published)} | {
                name: chen()[name] for name in ("rank", "low", "high")}, figure


FINDINGS = {function.__name__: function for function in (
    noise_and_attack, small_gap, one_vote, disagreement, stopping_rule, moving_classes, sorted_lists)}


# ---- the openings of the papers --------------------------------------------------------------------------
def ren():
    data, steps = kept("ren", "algorithm-1"), pruning(runs_of(pruned))
    means = [r["robustness_ssim"].value for r in kept("ren", "table-3")]
    paper = [r["robustness_ssim"] for r in reference.paper("ren")["table-3"].rows]
    return {"converged": 100 * data["by_threshold"] / data["searched"], "searches": data["searched"],
            "smallest": min(means), "largest": max(means), "paper": {"low": min(paper), "high": max(paper)},
            "shown": steps["shown"], "steps": steps["steps"]}


def shu():
    return over_fifty() | {"errors": beyond.clean_errors(runs_of(lenet_networks), "table-1"),
                           "boxes": beyond.in_boxes(runs_of(mlp_sweeps).assign(method="cw2"))}


def he():
    region, normal = "mnist_region_normal_accuracy_pct", {"dataset": "MNIST", "model_training": "normal"}
    learnt, brittle = (row(kept("he", "table-3"), **normal, training_attack=name)
                       for name in ("OptMargin", "OptBrittle"))
    fgsm = row(kept("he", "table-4"), dataset="MNIST")
    fgsm_printed = printed("he", "table-4", dataset="MNIST")
    over = [r["over_OptMargin"] for r in kept("he", "extra-optimiser-settings")]
    digits = [data["learned_from"] for name, data in kept("he", "procedure-boundary-classifier").items()
              if name.startswith("mnist_normal")]
    return {"margin": row(kept("he", "table-2"), examples="OptMargin")[region].value,
            "worst": learnt["worst_case_pct"], "missed": brittle["false_neg_optmargin_pct"].value,
            "fgsm": fgsm["false_neg_pct"].value, "flagged": fgsm["false_pos_pct"].value,
            "learned": max(digits), "tried": sum(ratio is not None for ratio in over),
            "less": sum(ratio is not None and ratio > 1 for ratio in over), "paper": {
                "margin": printed("he", "table-2", examples="OptMargin")[region],
                "missed": printed("he", "table-3", **normal, training_attack="OptBrittle")[
                    "false_neg_optmargin_pct"],
                "fgsm": fgsm_printed["false_neg_pct"], "flagged": fgsm_printed["false_pos_pct"],
                "learned": reference.paper("he")["table-3"].raw["settings"]["train_examples"]["MNIST"]}}


def sutton():
    clothes = on_pairs(fashion_mnist, "table-20")
    signs = {"quantity": "random_susceptibility", "delta_inferred": 1, "problem": "1 vs 2"}
    odd = row(kept("sutton", "table-23"), **signs)["test"].value
    paper = printed("sutton", "table-23", **signs)["test"]
    fewer = (f"on clothes fewer images can be attacked than published ({clothes['counted']:.0f}% against "
             f"{clothes['paper']:.0f}%, zero gradients counted), and "
             if clothes["paper"] - clothes["counted"] > 5 else "")
    shares = [c["mark"] for c in record.read("sutton", "table-5")["cells"] if c["mark"]]
    single = (f"on CIFAR-10 {shares.count(DIFFERS)} of {len(shares)} single attackable shares differ, though "
              "their means nearly agree; " if shares.count(DIFFERS) > len(shares) / 2 else "")
    both = (f"{single}{fewer}on one pair of traffic signs noise of the attack's norm flips {odd:.0f}% "
            f"(paper: {paper:.1f}%)")
    return on_pairs(cifar10, "table-5", PAIRS.values()) | {"differs": both[0].upper() + both[1:]}


def chen():
    times = cost.shares(cost.costs(runs_of(timings)))
    rank = next(r for r in kept("chen", "extra-rank-agreement")
                if (r["quantity"], r["data set"]) == ("ROBY, L2", ranking.MNIST))
    ends = [(r["roby_original_natural"], r["roby_original_robust"], r) for r in kept("chen", "table-5")]
    ends = [(a.value, b.value, r) for a, b, r in ends if a is not None and b is not None]
    both = [(a, b, printed("chen", "table-5", dataset=r["dataset"], model=r["model"])) for a, b, r in ends
            if a is not None and b is not None]
    there = Counter(r["dataset"] for r in kept("chen", "table-1"))
    items = reference.paper("chen").items.values()
    differ = [i.label for i in items if (record.read("chen", i.id) or {}).get("verdict") == NOT_CONFIRMED]
    return {"clothes": there["Fashion-MNIST"], "colour": there["CIFAR-10"],
            "differ": " and ".join(differ) or "none of the tables", "cost": times,
            "rank": rank["spearman"], "low": rank["low"], "high": rank["high"],
            "clean": sum(b < a for a, b, _ in both), "of": len(both),
            "paper": sum(r["roby_original_robust"] < r["roby_original_natural"] for *_, r in both)}


OPENINGS = {function.__name__: function for function in (ren, shu, he, sutton, chen)}


def five():
    """Of the instruments of all papers on one set of networks."""
    runs = runs_of(instruments)
    facts = five_instruments.facts(compared(runs), runs)
    return facts and facts | {"beyond": "" if facts["predicts"] else "none does beyond chance; "}


STATED = OPENINGS | {"five": five}
