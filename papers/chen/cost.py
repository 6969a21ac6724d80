"""What ROBY costs beside an attack (Section IV.F): shares of the time, pictures."""
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.chen import experiments
from papers.chen.claims import PUBLISHED_SHARE as PUBLISHED
from papers.chen.experiments import PAPER
from report import display, prose

IMAGES = 10_000         # test images of ROBY, and of the attack as the paper counts them
STEPS = 40              # of the attack on digits and clothes


def expected(steps):
    """Share of ROBY in an attack's time, in percent, if a backward pass takes as long as two forward ones."""
    return 100 / (3 * steps)


def costs(runs):
    """A row a network: milliseconds for 10,000 images, ROBY's share of the attack's time in percent.

    step    what a step of the attack costs, in forward passes
    Times are medians of repeated ones, "passes" and "attacks" in number, on "images".
    """
    rows = []
    for u in runs.to_dict("records"):
        steps = experiments.attacks_on(u["dataset"])["text"].steps
        forward, roby, pgd = (1000 * IMAGES * np.median(u[name]) / u[of] for name, of in (
            ("forward", "images"), ("roby", "of_roby"), ("pgd", "images")))
        rows.append({"dataset": experiments.DATASETS[u["dataset"]], "model": experiments.SPELT[u["model"]],
                     "steps": steps, "forward": forward, "roby": roby, "pgd": pgd,
                     "share": 100 * (forward + roby) / pgd, "step": pgd / steps / forward,
                     "images": u["images"], "passes": len(u["forward"]), "attacks": len(u["pgd"])})
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


def pooled(rows):
    """The time of ROBY in percent of the attack's, of mean times over some networks, as Table X has it."""
    return 100 * (rows.forward + rows.roby).sum() / rows.pgd.sum()


def implied(rows):
    """`{data set: (steps, fewest, most)}` of the attack that the published times imply.

    By the cost of a step here: that of mean times, the highest and the lowest of a network.
    """
    return {data: tuple(100 / PUBLISHED[data] / cost for cost in (
        of.pgd.sum() / (of.steps * of.forward).sum(), of.step.max(), of.step.min()))
        for data, of in pd.DataFrame(rows).groupby("dataset", sort=False)}


def shares(rows):
    """For sentences: shares over the networks that were attacked in `STEPS` steps; {} of none.

    colour   those of CIFAR-10, whose number of steps is assumed
    error    by how much the shares of the same computation on two data sets differ, in percent
    """
    all_networks = pd.DataFrame(rows)
    if not len(all_networks) or not (all_networks.steps == STEPS).any():
        return {}
    rows, colour = all_networks[all_networks.steps == STEPS], all_networks[all_networks.steps != STEPS]
    names = list(rows.dataset.unique())
    printed = [row for row in PAPER["table-10"].rows if row["dataset"] in names]
    twice = rows.pivot_table(index="model", columns="dataset", values="share").dropna()
    apart = 100 * (twice.max(axis=1) / twice.min(axis=1) - 1)
    words = {data: f"{mean:.0f} on {data} ({fewest:.0f} to {most:.0f} by network)"
             for data, (mean, fewest, most) in implied(all_networks).items()}
    return {"networks": len(rows), "of": len(all_networks), "names": " and ".join(names), "steps": STEPS,
            **{name: int(all_networks[name].max()) for name in ("images", "passes", "attacks")},
            "low": rows.share.min(), "high": rows.share.max(), "ratio": pooled(rows),
            "paper": 100 * sum(row["roby_ms"] for row in printed) / sum(row["pgd_ms"] for row in printed),
            "roby": 100 * (all_networks.roby / all_networks.forward).max(), "expected": expected(STEPS),
            "times": {"least": round(100 / rows.share.max(), -1), "most": round(100 / rows.share.min(), -1)},
            "least": rows.step.min(), "most": rows.step.max(), "all": {
                "least": all_networks.step.min(), "most": all_networks.step.max()},
            "implied": " and ".join(words[data] for data in names),
            "error": apart.median() if len(names) > 1 else None, "worst": apart.max(),
            "colour": {"name": colour.dataset.iloc[0], "share": pooled(colour),
                       "paper": PUBLISHED[colour.dataset.iloc[0]], "steps": int(colour.steps.iloc[0]),
                       "implied": words[colour.dataset.iloc[0]]} if len(colour) else None}


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


def draw_shares(rows, *, guide=True):
    """The time of ROBY in percent of the attack's, a panel a data set; ticks at the paper's means.

    guide   whether a line stands where three forward passes a step would have it
    """
    rows = sorted(rows, key=lambda row: row["forward"])
    by_set = {data: [row for row in rows if row["dataset"] == data] for data in experiments.DATASETS.values()}
    return display.dots({f"% of the attack's time,\n{data}, {of[0]['steps']} steps": {
        "series": {"ours": {row["model"]: row["share"] for row in of}},
        "published": {row["model"]: PUBLISHED[data] for row in of},
        "limits": (0, 1.1 * max(PUBLISHED[data], *(row["share"] for row in of))),
        **({"guide": expected(of[0]["steps"])} if guide else {})} for data, of in by_set.items() if of},
        list(dict.fromkeys(row["model"] for row in rows)), tick="paper, mean of ten networks")


def draw_steps(rows):
    """How many steps the published times imply at the cost of a step here; a tick at the printed number."""
    stated = {data: experiments.attacks_on(name)["text"].steps for name, data in experiments.DATASETS.items()
              if name != "cifar10"}
    return display.dots({"steps of the attack": {
        "series": {"implied by the published times": implied(rows)}, "published": stated,
        "limits": (0, None)}}, tick="stated in the paper") if rows else None
