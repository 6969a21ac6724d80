"""What the page on ImageNet (Section 7.2.4) shows of `experiments.examine`: rows, facts and drawings.

`runs` is a DataFrame with a row a block of images.
"""
import matplotlib.pyplot as plt
import numpy as np

from papers.sutton import tables
from papers.sutton.claims import PAPER, stated
from papers.sutton.experiments import DELTAS
from papers.sutton.theory.ball import log_tail
from report import display
from report.cell import Cell
from shared.attacks.line import scalings

NETWORKS = {"squeezenet": "SqueezeNet 1.1", "resnet50": "ResNet50", "vgg19": "VGG19"}
LIMIT = 0.1     # of the largest change of a value that the paper counts under
NORMS = {"l1": "sum of all changes (ℓ₁)", "l2": "Euclidean norm (ℓ₂)", "linf": "largest change (ℓ∞)"}
TITLES = ("clean", "attacked", "10 × longer noise")
VIOLINS = ("Three violins: the norms of successful attacks; the largest changes lie below a dashed line "
          "at a tenth.")


def printed():
    """The published shares that box and pictures name: {"small", "ten"}, percent."""
    ten, = (row["resnet50"] for row in PAPER["table-25"].rows if row["delta"])
    return {"small": stated(PAPER["figure-21"], "% of images")[0], "ten": ten}


def facts(runs):
    """Counts and shares of all images; {} of none, or where none is attacked."""
    f = tables.pooled(runs) if len(runs) else None
    if f is None or not (f["l2"] > 0).any():
        return {}
    small, ten = tables.share_of((f["l2"] > 0) & (f["linf"] < LIMIT)), f["shares"][DELTAS[-1]]
    return {"images": len(f["correct"]), "correct": f["shares"]["attack"]["of"],
            "attacked": f["shares"]["attack"]["hits"], "largest": f["largest"], "draws": f["draws"],
            "small": small, "every": small["hits"] == small["of"],
            "change": 100 * float(np.median(f["linf"][f["l2"] > 0])), "ten": ten["hits"],
            "ten_percent": ten["percent"], "low": ten["low"], "high": ten["high"], "missed": not ten["hits"],
            "confidence": 95,
            "papers": f["network"] != "squeezenet", "paper": printed()}


def norms(runs):
    """Medians of the norms of the attacks, the `step` of which norms are multiples, and how many images have
    no gradient; {} of no attack.
    """
    f = tables.pooled(runs)
    if not (f["l2"] > 0).any():
        return {}
    return {"saturated": f["saturated"] or "none", "correct": len(f["l2"]),
            "by_margin": int((f["margin_l2"] > 0).sum()), "step": float(scalings(largest=f["largest"])[1]),
            **{key: float(np.median(f[key][f[key] > 0])) if (f[key] > 0).any() else None
               for key in ("l2", "linf", "margin_l2")}}


def beside_plane(runs):
    """`facts`, with how rarely noise of ten times the attack's norm crosses a plane at that norm (one sample
    in ten to the `power`), and in words what the runs say of such planes; {} of no attack.
    """
    counts, power = facts(runs), -log_tail(int(runs.dimension.iloc[0]), 1 / DELTAS[-1]) / np.log(10)
    return counts and counts | {"power": float(power), "outcome": (
        "agree with a flat boundary but hardly test it" if counts["missed"] else
        "show that not every boundary is flat at the norm of the attack")}


# ---- rows and data ---------------------------------------------------------------------------------------
def status(column, network):
    """Why a value of a column is not the paper's: another net, or other weights; or why it was not run."""
    if network == column:
        return "proxy: torchvision's weights, on images of the data folder"
    if network == "squeezenet" and column == "resnet50":
        return "proxy: SqueezeNet 1.1 in place of ResNet50, on images of the data folder"
    return f"not measured: the weights of {NETWORKS[column]} are not in the data folder"


def table_25(runs):
    """The published rows: the tested network is a proxy for one column, the other is not run."""
    f, rows = tables.pooled(runs), []
    for key in ("accuracy", "attack", max(DELTAS)):
        share = f["shares"][key]
        row = {"quantity": tables.QUANTITIES[key], "delta": key if key in DELTAS else None}
        for column in ("resnet50", "vgg19"):
            why = status(column, f["network"])
            row[column] = Cell(share["percent"] if why.startswith("proxy") else None, status=why)
        rows.append(row | {"turned": {f"delta {d}": f["shares"][d]["percent"] for d in DELTAS},
                           "low": share["low"], "high": share["high"]})
    return rows


def sizes(column):
    """runs -> share of the correct images whose attack changes no value by 0.1, and medians, of a column."""
    def data(runs):
        f = tables.pooled(runs)
        why, hit = status(column, f["network"]), f["l2"] > 0
        if not why.startswith("proxy"):
            return {"share_linf_below_0": {"1_pct": None}, "status": why}
        small = tables.share_of(hit & (f["linf"] < LIMIT))
        return {"share_linf_below_0": {"1_pct": small["percent"]}, "status": why,
                "known": int(hit.size), "attacked": int(hit.sum()), "below": small["hits"],
                "low": small["low"], "high": small["high"],
                "median": {norm: float(np.median(f[norm][hit])) if hit.any() else None for norm in NORMS}}
    return data


# ---- drawings --------------------------------------------------------------------------------------------
def draw_sizes(runs):
    """Distributions of the three norms of the attacks that were found."""
    f = tables.pooled(runs)
    hit = f["l2"] > 0
    figure, axes = plt.subplots(1, 3, figsize=(8, 3.2))
    for ax, (norm, name), colour in zip(axes, NORMS.items(), display.PALETTE):
        values = f[norm][hit]
        if len(values) > 1 and values.min() < values.max():
            parts = ax.violinplot([values], showmedians=True, showextrema=True, widths=0.9)
            for body in parts["bodies"]:
                body.set(facecolor=colour, alpha=0.35)
            for key in ("cmedians", "cmins", "cmaxes", "cbars"):
                parts[key].set_color(colour)
        spread = np.linspace(0.85, 1.15, len(values)) if len(values) > 1 else [1.0] * len(values)
        ax.plot(spread, values, ".", color=display.GUIDE, ms=3 if len(values) > 60 else 6, alpha=0.7)
        if norm == "linf":
            ax.axhline(LIMIT, color="black", lw=1, ls="--")
            ax.text(0.52, LIMIT, "0.1", va="bottom")
        ax.set(title=name, xticks=[], xlim=(0.5, 1.5))
        ax.set_ylim(bottom=0)
    return figure


def bar(ax, place, share, paper=None, **how):
    """A bar of a share in percent with its interval, and the published value as a line."""
    ax.bar(place, share["percent"], 0.6, alpha=0.55, **how)
    ax.plot([place, place], [share["low"], share["high"]], color=display.GUIDE, lw=2, clip_on=False)
    if paper is not None:
        ax.plot([place - 0.4, place + 0.4], [paper, paper], color=display.PRINTED, lw=2.5)


def draw_shares(runs):
    """Share of the attackable images that noise flips, by its norm; None where none was attacked."""
    f = tables.pooled(runs)
    if not f["shares"]["attack"]["hits"]:
        return None
    figure, ax = plt.subplots(figsize=(4.8, 2.6))
    for place, delta in enumerate(DELTAS):
        paper = printed()["ten"] if delta == DELTAS[-1] else None
        bar(ax, place, f["shares"][delta], paper, color=display.PALETTE[0])
    ax.set_xticks(range(len(DELTAS)), [f"{delta} ×" for delta in DELTAS])
    top = max(f["shares"][delta]["high"] for delta in DELTAS)
    ax.set(ylim=(0, max(30, top + 2)), ylabel="label flipped, %",
           xlabel="norm of the noise, in norms of the attack")
    return figure


def draw_box(facts, images):
    """Two bars: flipped by a small attack, and by ten times longer noise; beside one image clean and changed.

    images   three, or None where the page has not computed them; None of no facts
    """
    if not facts:
        return None
    figure, axes = plt.subplots(1, 4 if images else 1, figsize=(6.4 if images else 3.2, 2.5), squeeze=False,
                                width_ratios=[1, 1, 1, 1.3] if images else [1])
    if images:
        display.image_grid(axes[0], [image.cpu().clamp(0, 1) for image in images], TITLES)
    ax, ten = axes[0, -1], {"percent": facts["ten_percent"], "low": facts["low"], "high": facts["high"]}
    bar(ax, 0, facts["small"], facts["paper"]["small"], color=display.PALETTE[1])
    bar(ax, 1, ten, facts["paper"]["ten"], color=display.PALETTE[0])
    ax.plot([], [], color=display.PRINTED, lw=2.5, label="paper")
    ax.set_xticks((0, 1), ("attack", "noise"))
    ax.set(ylim=(0, 104), ylabel="label flipped, %")
    ax.legend(loc="center right")
    return figure
