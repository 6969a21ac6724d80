"""What ROBY costs beside an attack (Section IV.F): times of the runs, shares, pictures."""
import dataclasses

import matplotlib.pyplot as plt
import pandas as pd

from papers.chen import experiments, figures, models, pictures
from papers.chen.claims import PUBLISHED_SHARE as PUBLISHED
from report import display, prose

IMAGES = 10_000         # test images of ROBY, and of the attack as the paper counts them
STEPS = 40
# Share of ROBY in PGD's time, in percent, if a backward pass takes as long as two forward passes.
EXPECTED = 100 / (3 * STEPS)


def on_a_cpu(results):
    """Of some `Results` the runs on a CPU, recorded ones on one core: a GPU measured several at a time."""
    def timed(runs):
        return {name: run for name, run in runs.items() if not run.provenance["device"].startswith("NVIDIA")
                and (run.provenance["threads"] == 1 or run is not results.recorded.get(name))}

    return dataclasses.replace(
        results, recorded=timed(results.recorded), own=timed(results.own),
        outdated={name: why for name, why in results.outdated.items() if name in timed(results.recorded)})


def in_bf16(results, row):
    """Whether a network was attacked in bfloat16: if its recipe wants that, where that is faster."""
    # A row says nothing of the processor. The run that it is made of does; it is found by its times.
    device = next(run.provenance["device"] for run in (*results.recorded.values(), *results.own.values())
                  if run.result["seconds"] == row["seconds"])
    wanted = models.OWN.get(row["architecture"], {}).get("bf16", models.NATURAL.bf16)
    return wanted and "no bf16" not in device


def costs(results, runs):
    """A row a network: milliseconds of each step for 10,000 images, and shares of the attack in percent.

    share    ROBY with its forward pass in float32, over the attack
    alike    the forward pass in the arithmetic of the attack, over the attack
    """
    rows = []
    for u in runs.to_dict("records"):
        times, scaled = u["seconds"], 1000 * IMAGES / u["images_attack"]
        forward, measure = (1000 * times[name] * IMAGES / len(u["margins"]) for name in ("forward", "roby"))
        rows.append({"dataset": experiments.DATASETS[u["dataset"]], "model": experiments.SPELT[u["model"]],
                     "steps": experiments.attacks_on(u["dataset"])["text"].steps, "forward": forward,
                     "roby": measure, "pgd": times["text"] * scaled, "bf16": in_bf16(results, u),
                     "share": 100 * (forward + measure) / (times["text"] * scaled),
                     "alike": 100 * times["forward_attacked"] / times["text"]})
    return rows


HEADER = {"dataset": "data set", "model": "network", "forward": "forward pass, float32, s",
          "roby": "ROBY of the logits, ms", "pgd": "PGD, s", "arithmetic": "number format of PGD",
          "share": "ROBY with forward pass (float32), % of PGD",
          "alike": "forward pass in PGD's number format, % of PGD"}


def table(rows):
    """Rows of the table of costs, from the fastest network to the slowest."""
    return [{"dataset": row["dataset"], "model": row["model"],
             **{name: prose.number(row[name] / 1000, digits=3) for name in ("forward", "pgd")},
             "roby": f"{row['roby']:.1f}", "arithmetic": "bfloat16" if row["bf16"] else "float32",
             **{name: f"{row[name]:.2f}" for name in ("share", "alike")}}
            for row in sorted(rows, key=lambda row: row["forward"])]


def shares(rows):
    """For sentences: shares over the networks that are there and were attacked in `STEPS` steps."""
    rows = pd.DataFrame(rows)
    rows = rows[rows.steps == STEPS] if len(rows) else rows
    if not len(rows):
        return {}
    twice, pgd = rows[~rows.bf16], rows.pgd.sum()
    ratio = 100 * (rows.forward + rows.roby).sum() / pgd
    implied = {data: [round(STEPS * end / share) for end in (rows.alike.min(), rows.alike.max())]
               for data, share in PUBLISHED.items()}
    colour = implied.pop(experiments.DATASETS["cifar10"])
    low, high = (end(steps[n] for steps in implied.values()) for n, end in enumerate((min, max)))
    return {"networks": len(rows), "names": " and ".join(rows.dataset.unique()), "steps": STEPS,
            "images": IMAGES, "fast": int(rows.bf16.sum()), "twice": len(twice),
            "low": rows.share.min(), "high": rows.share.max(), "ratio": ratio, "roby": rows.roby.max(),
            "times": {"least": round(100 / rows.share.max(), -1), "most": round(100 / rows.share.min(), -1)},
            "alike_low": rows.alike.min(), "alike_high": rows.alike.max(),
            "expected": EXPECTED, "paper": max(PUBLISHED[data] for data in rows.dataset.unique()),
            "error": 100 * (twice.share / twice.alike - 1).abs().max() if len(twice) else None,
            "least": 100 / (STEPS * rows.alike.max()), "most": 100 / (STEPS * rows.alike.min()),
            "forward": figures.between(rows.forward / 1000, unit=" s", digits=2),
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
    """The time of ROBY in percent of the attack's, two timings a network; a tick at the paper's mean."""
    rows = sorted((row for row in rows if row["steps"] == STEPS), key=lambda row: row["share"])
    return pictures.dots({"time of ROBY, % of the attack's": {
        "series": {"forward pass in float32": {row["model"]: row["share"] for row in rows},
                   "forward pass as in the attack": {row["model"]: row["alike"] for row in rows}},
        "published": {row["model"]: PUBLISHED[row["dataset"]] for row in rows}, "limits": (0, 5),
        "guide": EXPECTED}}, [row["model"] for row in rows], tick="paper, mean of ten networks")


def draw_steps(rows):
    """How many steps the published times imply at the cost of a step here; a tick at the printed number."""
    alike = [row["alike"] for row in rows if row["steps"] == STEPS]
    stated = {data: experiments.attacks_on(name)["text"].steps for name, data in experiments.DATASETS.items()
              if name != "cifar10"}
    return pictures.dots({"steps of the attack": {
        "series": {"implied by the published times": {
            data: [STEPS * end / share for end in (sum(alike) / len(alike), min(alike), max(alike))]
            for data, share in PUBLISHED.items()}},
        "published": stated, "limits": (0, 80)}}, tick="stated in the paper") if alike else None


def draw_bars(rows):
    """A bar a network: the time of ROBY in percent of the attack's; a line at the paper's mean."""
    rows = sorted((row for row in rows if row["steps"] == STEPS), key=lambda row: row["share"])
    figure, ax = plt.subplots(figsize=(4.8, 0.8 + 0.35 * len(rows)))
    ax.barh([row["model"] for row in rows], [row["share"] for row in rows], color=display.PALETTE[0])
    ax.axvline(PUBLISHED[rows[0]["dataset"]], color="k", ls="--", label="paper, mean of ten networks")
    ax.set(xlabel="time of ROBY, % of the attack's", xlim=(0, 5))
    ax.legend(loc="lower right")
    return figure
