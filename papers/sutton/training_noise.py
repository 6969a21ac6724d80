"""Training with random noise (Sections 7.1.4 and 7.2.1): Tables 13 to 18, Figures 15 and 16, and their box.

Everywhere `runs` is a DataFrame with a row a network trained with noise, `without` one of networks trained
without; `kind` is "cube" (noise uniform in an L-infinity ball) or "ball" (in an L2 ball), and a level counts
from 1, the smallest noise, to 3; level 0 is without noise.
"""
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from papers.sutton import experiments, figures, tables
from papers.sutton.claims import AVERAGED, PAPER, average
from report import display

KINDS, LEVELS = {"cube": "L∞", "ball": "L2"}, (1, 2, 3)
STRONGEST = LEVELS[-1:]
NUMBER = {(kind, n): 11 + 2 * n + (kind == "ball") for n in LEVELS for kind in KINDS}    # of tables
QUANTITIES = {"accuracy": ("accuracy", None), "susceptibility": ("adversarial_susceptibility", None),
              **{norm: ("adv_attack_norm", norm) for norm in tables.NORMS}}     # of a panel, with its norm
PANELS = {"accuracy": "accuracy (%)", "susceptibility": "attackable (%)", "l1": "ℓ₁ norm of attacks",
          "l2": "Euclidean norm of attacks", "linf": "ℓ∞ norm of attacks"}
WITHOUT = {"accuracy": "table-4", "susceptibility": "table-5"}      # tables of the networks without noise
PROBLEMS = [f"{a} vs {b}" for a, b in experiments.problems_of(10)]
STATUS = "fitted: the noise levels are lost; ours were chosen with the published accuracies in sight"
ENOUGH = 5      # of nine class pairs, from which on the box gives their mean


def compared(page, noisy):
    """`{kind: (networks trained with this noise, networks trained without)}`: results that a page shows.

    noisy   the results of all networks trained with noise
    Those without noise are the networks of Section 7.2.1; how many images were perturbed does not count here.
    """
    plain = replace(
        page.results(experiments.cifar10, plan=experiments.plan_without_noise,
                     names=[experiments.name_of("cifar10", a, b) for a, b in experiments.problems_of(10)]),
        sizes=experiments.training_noise.sizes)
    return {kind: (noisy.only(lambda run, kind=kind: run["noise"] == kind), plain) for kind in KINDS}


def at(runs, kind, n):
    """`{class_a: run}` of a kind and level of noise, which is the last part of a run's name."""
    return {u["class_a"]: u for u in runs[runs.noise == kind].to_dict("records")
            if u["run"].endswith(f"-{n}")}


def whole(kind, runs):
    """The levels of a kind of noise that are measured on as many problems as the strongest."""
    return [n for n in LEVELS if len(at(runs, kind, n)) >= len(at(runs, kind, *STRONGEST))]


def misfit(runs, reading):
    """How far STD over mean lies from the printed one, as the mean size of the logarithm of their ratio."""
    off = []
    for (kind, n), number in NUMBER.items():
        nets = at(runs, kind, n)
        for r in PAPER[f"table-{number}"].rows:
            if r["norm"] == "l2" and r["class_a"] in nets:
                ours = tables.cell(nets[r["class_a"]][r["split"]], "l2", reading)
                if all(ours.values()):
                    off.append(abs(np.log(ours["std"] / ours["mean"]) - np.log(r["std"] / r["mean"])))
    return float(np.mean(off)) if off else float("inf")


def best(runs):
    """The reading (`claims.AVERAGED`) with the smallest misfit."""
    return min(AVERAGED, key=lambda r: misfit(runs, r))


def readings(runs):
    """The factors of the misfits in words; {} of no attacks."""
    off = {name: misfit(runs, r) for r, name in AVERAGED.items()}
    words = "; ".join(f"{name}: {np.exp(size):.3g}" for name, size in off.items())
    return {"factors": words} if np.isfinite([*off.values()]).all() else {}


def averaging_in_words(runs):
    """Over which images the norms of each kind of noise are averaged, and whether zero gradients count."""
    kinds = {}
    for kind, name in KINDS.items():
        of = runs[runs.noise == kind]
        if np.isfinite(misfit(of, reading := best(of))):
            kinds.setdefault(reading, []).append(name)
    return " ".join(
        f"With {' and '.join(names)} noise the norms are means over {AVERAGED[reading]}; an image of zero "
        + ("gradient counts as attackable, as in Table 5." if reading == "lost" else
           "gradient does not count as attackable, while in Table 5 it does.")
        for reading, names in kinds.items())


def failed(runs, kind, a):
    """Whether a training of a problem failed at any level; no where all trainings did."""
    learned = runs.run.isin(figures.learned(runs).run)
    return not learned[(runs.noise == kind) & (runs.class_a == a)].all()


def published(kind, n, panel, split, problems):
    """The published mean over problems ("0 vs 1") of what a panel shows; None of norms without noise."""
    if n == 0:
        return average([r[split] for r in PAPER[WITHOUT[panel]].rows if tables.problem(r) in problems]
                       if panel in WITHOUT else [])
    quantity, norm = QUANTITIES[panel]
    return average([r["mean"] if norm else r["value"] for r in PAPER[f"table-{NUMBER[kind, n]}"].rows
                    if (r["quantity"], r["norm"], r["split"]) == (quantity, norm, split)
                    and r["problem"] in problems])


def curves(kind, runs, without, levels=LEVELS):
    """{level: {"size", "problems", panel: {split: mean}}} of some levels, and of level 0, without noise."""
    reading, data = best(runs), {}
    groups = {0: {u["class_a"]: u for u in without.to_dict("records")},
              **{n: at(runs, kind, n) for n in levels}}
    # The same problems at every size, so that lines join what can be compared.
    common = set.intersection(*(set(nets) for nets in groups.values() if nets))
    common = {a for a in common if not failed(runs, kind, a)} or common
    for n, nets in groups.items():
        if some := [u for a, u in nets.items() if a in common]:
            data[f"level {n}"] = {
                "size": float(some[0]["noise_size"]), "problems": [tables.problem(u) for u in some],
                **{panel: {split: average([tables.value(u[split], panel, reading) for u in some])
                           for split in tables.SPLITS} for panel in QUANTITIES},
                "readings": {r: {panel: average([tables.value(u["train"], panel, r) for u in some])
                                 for panel in ("susceptibility", "l2")} for r in AVERAGED}}
    return data


def pairs_of_curves(kind, runs, without):
    """Facts: over which of the paper's problems the `curves` of a kind of noise are means, in words."""
    data = curves(kind, runs, without)
    return {"pairs": in_words(next(iter(data.values()))["problems"])} if data else {}


def rows_of(kind, n):
    """runs -> rows of a table in the reading that fits; beside each value what the claims need."""
    def value(run, split, panel, reading):
        return None if run is None else tables.value(run[split], panel, reading)

    def rows(runs, without):
        reading, nets = best(runs), {k: at(runs, kind, k) for k in LEVELS}
        free = {u["class_a"]: u for u in without.to_dict("records")}
        return [{"quantity": quantity, "norm": norm, "split": split, "problem": tables.problem(u),
                 **tables.cell(u[split], panel, reading), "status": STATUS, "failed": failed(runs, kind, a),
                 "levels": {r: [value(nets[k].get(a), split, panel, r) for k in LEVELS] for r in AVERAGED},
                 "without": {r: value(free.get(a), split, panel, r) for r in AVERAGED}}
                for a, u in nets[n].items() for split in tables.SPLITS
                for panel, (quantity, norm) in QUANTITIES.items()]
    return rows


def draw(kind, runs, without):
    """Figure 15 or 16: `PANELS` over the radius of the ball in which noise is uniform in training."""
    data = curves(kind, runs, without)
    figure, axes = plt.subplots(2, 3, figsize=(8, 5.6))
    for ax, panel in zip(axes.flat, PANELS):
        for split, color, marker in zip(tables.SPLITS, display.PALETTE, display.MARKERS):
            there = [(d["size"], d[panel][split]) for d in data.values() if d[panel][split] is not None]
            if there:
                ax.plot(*zip(*there), marker=marker, color=color, label=figures.SETS[split])
            crosses = [(d["size"], published(kind, int(n.split()[1]), panel, split, d["problems"]))
                       for n, d in data.items() if n != "level 0"]
            ax.plot(*zip(*crosses), "x", color=color, clip_on=False, label=f"published, {split}")
        ax.set(title=PANELS[panel], xlabel=f"radius {'a' if kind == 'cube' else 'b'} ({KINDS[kind]})")
        ax.set_xlim(left=-0.03 * max((d["size"] for d in data.values()), default=1))
        ax.set_ylim(bottom=None if panel in WITHOUT else 0)
    axes[-1, 2].legend(*axes[0, 0].get_legend_handles_labels(), loc="center")
    axes[-1, 2].set_axis_off()
    return figure


def rows_of_counting(runs, without):
    """Without noise and with the strongest: the attackable share in both ways to count zero gradients."""
    return [{"noise": f"{v['size']:g}" if v["size"] else "none",
             **{r: v["readings"][r]["susceptibility"] for r in ("found", "lost")},
             "published": published("cube", int(n.split()[1]), "susceptibility", "train", v["problems"])}
            for n, v in curves("cube", runs, without, STRONGEST).items()]


# ---- the box ---------------------------------------------------------------------------------------------
def box_facts(levels):
    """What the box names of the `curves` of L-infinity noise: each level, none and the strongest.

    fewer   whether the strongest lowers the attackable share, zero gradients counted or not
    mixed   whether it does while a weaker one raises it, either way
    """
    if len(levels) < 2 or None in [v["susceptibility"]["train"] for v in levels.values()]:
        return {}
    first, weakest, last = (list(levels.values())[n] for n in (0, 1, -1))
    problems, ends = first["problems"], {"none": first, "most": last}
    flipped, counted = ({name: v["readings"][reading]["susceptibility"] for name, v in ends.items()}
                        for reading in ("found", "lost"))       # without and with zero gradients
    fall = {"flipped": flipped["none"] - flipped["most"], "counted": counted["none"] - counted["most"]}
    paper = {name: published("cube", n, panel, "train", problems) for name, n, panel in (
        ("none", 0, "susceptibility"), ("most", 3, "susceptibility"), ("accuracy", 3, "accuracy"),
        ("clean", 0, "accuracy"), ("weakest", 1, "accuracy"))}
    there = [int(name.split()[1]) for name in levels]
    rows = {reading: [v["readings"][reading]["susceptibility"] for v in levels.values()]
            for reading in ("found", "lost")} | {
        "paper": [published("cube", n, "susceptibility", "train", problems) for n in there]}
    fewer = min(fall.values()) > 0
    raised = any(max(rows[reading][1:-1], default=0) > rows[reading][0] for reading in ("found", "lost"))
    return {"pairs": len(problems), "alone": len(problems) == 1, "few": len(problems) < ENOUGH,
            "where": in_words(problems), "fewer": fewer, "mixed": fewer and raised, "fall": fall, **flipped,
            "rows": {name: ", ".join(f"{share:.0f}" for share in row) for name, row in rows.items()},
            "counted": counted, "paper": paper,
            "zero": {name: counted[name] - flipped[name] for name in ends},
            "accuracy": {name: v["accuracy"]["train"] for name, v in (ends | {"weakest": weakest}).items()}}


def in_words(problems):
    """How many of the paper's problems these are: "7 of nine class pairs", "one of", or "all"."""
    count = {1: "one of", len(PROBLEMS): "all"}.get(len(problems), f"{len(problems)} of")
    return f"{count} nine class pairs"


def falls(runs, without):
    """Facts: on how many pairs the strongest L-infinity noise lowers the attackable share of training images.

    of      pairs;  found, lost: by the reading, without and with zero gradients
    """
    free = {u["class_a"]: u["train"] for u in without.to_dict("records")}
    both = [(u["train"], free[a]) for a, u in at(runs, "cube", *STRONGEST).items()
            if a in free and u["train"]["tried"] and free[a]["tried"] and not failed(runs, "cube", a)]
    return {"of": len(both), **{reading: sum(
        tables.value(noisy, "susceptibility", reading) < tables.value(plain, "susceptibility", reading)
        for noisy, plain in both) for reading in ("found", "lost")}} if both else {}


def pictures_in_words(cube, ball):
    """Of `curves` of both kinds of noise: the pairs of each picture, and what the paper prints of one."""
    if not cube or not ball:
        return ""
    top, this = (next(iter(levels.values()))["problems"] for levels in (cube, ball))
    words = (f"The picture at the top of the page has L∞ noise ({in_words(top)}); this one has L2 noise of "
             f"the same mean norm ({in_words(this)}).")
    if len(this) == 1:
        most, none, all_most, all_none = (
            figures.in_percent(published("ball", n, "susceptibility", "train", problems))
            for problems in (this, PROBLEMS) for n in (*STRONGEST, 0))
        words += (f" On this one pair the paper's attackable share is {most} with the strongest noise and "
                  f"{none} without; over all nine pairs it is {all_most} and {all_none}.")
    if min(len(top), len(this)) < len(PROBLEMS):
        words += " Grey lines are the published values of the paper's other class pairs."
    return words


def draw_box(levels, kind="cube"):
    """Accuracy and attackable share of training images over the level of noise, ours and published.

    Ours in both ways to count zero gradients: not attackable, and attackable (dotted). Grey lines are the
    published values of single class pairs that are not among ours. None of no levels.
    """
    if not levels:
        return None
    some = next(iter(levels.values()))["problems"]
    figure, axes = plt.subplots(1, 2, figsize=(5.2, 2.9), sharex=True, sharey=True)
    for ax, panel in zip(axes, WITHOUT):
        def line(problems, *style, panel=panel, ax=ax, **how):
            ax.plot([published(kind, n, panel, "train", problems) for n in (0, *LEVELS)], *style, **how)

        for problem in PROBLEMS:
            if problem not in some:
                line([problem], "-", color=display.PALE, lw=1)
        if len(some) < len(PROBLEMS):
            ax.plot([], [], "-", color=display.PALE, lw=1, label="paper, other pairs")
        line(some, "--s", color=display.PRINTED, ms=4, label="paper, same pairs")
        places, attackable = [int(n.split()[1]) for n in levels], panel == "susceptibility"
        ours = [v["readings"]["found"][panel] if attackable else v[panel]["train"] for v in levels.values()]
        ax.plot(places, ours, "-o", color=display.PALETTE[0], lw=2,
                label="ours")
        if attackable:
            ax.plot(places, [v["readings"]["lost"][panel] for v in levels.values()], ":o",
                    color=display.PALETTE[0], lw=2, mfc="white", label="ours, zero gradients counted")
        ax.set(title="attackable" if attackable else "accuracy", ylim=(40, 103))
        ax.set_xticks((0, *LEVELS), ["none", "weak", "medium", "strong"])
    axes[0].set_ylabel("% of training images")
    figure.supxlabel("noise in training", fontsize=display.SMALLEST)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside upper center", ncols=2, columnspacing=1,
                  handlelength=1.5)
    return figure
