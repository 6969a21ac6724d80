"""What ROBY costs beside an attack (Section IV.F): shares of the time, pictures."""
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.chen import experiments, figures, pictures
from papers.chen.claims import PUBLISHED_SHARE as PUBLISHED
from report import display, prose

IMAGES = 10_000         # test images of ROBY, and of the attack as the paper counts them
STEPS = 40              # of the attack on digits and clothes


def expected(steps):
    """Share of ROBY in an attack's time, in percent, if a backward pass takes as long as two forward ones."""
    return 100 / (3 * steps)


def costs(runs):
    """A row a network: milliseconds for 10,000 images, ROBY's share of the attack's time in percent.

    step    what a step of the attack costs, in forward passes;  spread: of the forward passes, in percent
    """
    rows = []
    for u in runs.to_dict("records"):
        steps = experiments.attacks_on(u["dataset"])["text"].steps
        scaled = 1000 * IMAGES / u["images"]
        forward, pgd = np.median(u["forward"]) * scaled, u["pgd"] * scaled
        roby = 1000 * np.median(u["roby"]) * IMAGES / u["of_roby"]
        rows.append({"dataset": experiments.DATASETS[u["dataset"]], "model": experiments.SPELT[u["model"]],
                     "steps": steps, "forward": forward, "roby": roby, "pgd": pgd,
                     "share": 100 * (forward + roby) / pgd, "step": pgd / steps / forward,
                     "spread": 100 * np.ptp(u["forward"]) / np.median(u["forward"])})
    return rows


HEADER = {"dataset": "data set", "model": "network", "forward": "forward pass, s",
          "roby": "ROBY of the logits, ms", "pgd": "PGD, s", "steps": "steps of PGD",
          "step": "one step, forward passes", "share": "ROBY with its forward pass, % of PGD"}


def table(rows):
    """Rows of the table of costs, by data set from the fastest network to the slowest."""
    return [{"dataset": row["dataset"], "model": row["model"], "steps": row["steps"],
             **{name: prose.number(row[name] / 1000, digits=3) for name in ("forward", "pgd")},
             **{name: f"{row[name]:.1f}" for name in ("roby", "step")}, "share": f"{row['share']:.2f}"}
            for row in sorted(rows, key=lambda row: (row["steps"], row["dataset"], row["forward"]))]


def shares(rows):
    """For sentences: shares over the networks that were attacked in `STEPS` steps; {} of none."""
    rows = pd.DataFrame(rows)
    if not len(rows) or not (rows.steps == STEPS).any():
        return {}
    networks, rows = rows, rows[rows.steps == STEPS]
    implied = {data: [round(100 / share / end) for end in (networks.step.max(), networks.step.min())]
               for data, share in PUBLISHED.items()}
    colour = implied.pop(experiments.DATASETS["cifar10"])
    low, high = (end(steps[n] for steps in implied.values()) for n, end in enumerate((min, max)))
    return {"networks": len(rows), "names": " and ".join(rows.dataset.unique()), "steps": STEPS,
            "images": IMAGES, "low": rows.share.min(), "high": rows.share.max(),
            "ratio": 100 * (rows.forward + rows.roby).sum() / rows.pgd.sum(), "roby": rows.roby.max(),
            "times": {"least": round(100 / rows.share.max(), -1), "most": round(100 / rows.share.min(), -1)},
            "expected": expected(STEPS), "paper": max(PUBLISHED[data] for data in rows.dataset.unique()),
            "error": networks.spread.median(), "worst": networks.spread.max(),
            "least": networks.step.min(), "most": networks.step.max(),
            "forward": figures.between(networks.forward / 1000, unit=" s", digits=2),
            "implied": {"low": low, "high": high, "than": "fewer than" if high < STEPS else
                        "more than" if low > STEPS else "in agreement with",
                        "colour": figures.between(colour, unit="")},
            "colour": experiments.DATASETS["cifar10"],
            "assumed": experiments.attacks_on("cifar10")["text"].steps}


# ---- pictures --------------------------------------------------------------------------------------------
def draw_passes():
    """Passes over the images: one for ROBY, one forward and one backward pass a step for the attack.

    A backward pass is drawn at its longest, as two forward passes.
    """
    figure, ax = plt.subplots(figsize=(display.WIDEST, 1.5))
    ax.broken_barh([(0, 0.9)], (0.75, 0.5), color=display.PALETTE[0], label="forward pass")
    ax.broken_barh([(3 * n, 0.9) for n in range(STEPS)], (-0.25, 0.5), color=display.PALETTE[0])
    ax.broken_barh([(3 * n + 1, 1.8) for n in range(STEPS)], (-0.25, 0.5), color=display.PALETTE[1],
                   label="backward pass, at most about twice as long")
    ax.set(yticks=(1, 0), yticklabels=("ROBY", "PGD"), xlabel="time, in forward passes", ylim=(-0.5, 1.5))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_shares(rows):
    """The time of ROBY in percent of the attack's, a panel a data set; ticks at the paper's means."""
    rows = sorted(rows, key=lambda row: row["forward"])
    some = [data for data in experiments.DATASETS.values() if any(row["dataset"] == data for row in rows)]
    return pictures.dots({f"{data}, %": {
        "series": {"ours": {row["model"]: row["share"] for row in of}},
        "published": {row["model"]: PUBLISHED[data] for row in of}, "limits": (0, None),
        "guide": expected(of[0]["steps"])}
        for data in some for of in [[row for row in rows if row["dataset"] == data]]},
        list(dict.fromkeys(row["model"] for row in rows)), tick="paper, mean of ten networks")


def draw_steps(rows):
    """How many steps the published times imply at the cost of a step here; a tick at the printed number."""
    costs_of = [row["step"] for row in rows]
    stated = {data: experiments.attacks_on(name)["text"].steps for name, data in experiments.DATASETS.items()
              if name != "cifar10"}
    return pictures.dots({"steps of the attack": {
        "series": {"implied by the published times": {
            data: [100 / share / cost for cost in (np.median(costs_of), max(costs_of), min(costs_of))]
            for data, share in PUBLISHED.items()}},
        "published": stated, "limits": (0, 80)}}, tick="stated in the paper") if rows else None


def draw_bars(rows):
    """A bar a network: the time of ROBY in percent of the attack's on MNIST; a line at the paper's mean."""
    data = experiments.DATASETS["mnist"]
    rows = sorted((row for row in rows if row["dataset"] == data), key=lambda row: row["share"])
    figure, ax = plt.subplots(figsize=(4.8, 0.8 + 0.35 * len(rows)))
    ax.barh([row["model"] for row in rows], [row["share"] for row in rows], color=display.PALETTE[0])
    ax.axvline(PUBLISHED[data], color="k", ls="--", label="paper, mean of ten networks")
    ax.set(xlabel=f"time of ROBY, % of the attack's ({data})", xlim=(0, None))
    ax.legend(loc="lower right")
    return figure
