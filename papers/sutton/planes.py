"""What flat boundaries would have random draws do (Theorem 1), beside what was measured of Section 7.2.

`units`, `problems` and `names` are those of `figures`.
"""
import matplotlib.pyplot as plt
import numpy as np

from papers.sutton import figures, tables
from papers.sutton.theory.ball import tail
from papers.sutton.theory.limits import planar_flip_probability
from report import display

FAR = (5, 10)  # sizes of draws, in lengths of the attack, that turn more than single images in print


def turned(unit, split, delta, *, linear=False):
    """Percent of the images that draws `delta` times the attack would turn if boundaries were planes.

    At the distance of the attack; `linear`: at the distance at which the net's logit would be 0 if it were
    linear, the mean over the images' quantiles. None where no image has an attack.
    """
    stretch = tables.points(unit[split]["stretch"])
    if not len(stretch):
        return None
    nearness = delta * (stretch if linear else np.ones(1))
    return 100 * float(planar_flip_probability(unit["dimension"], 1 / nearness, unit["draws"]).mean())


def draw(units, problems, names, printed):
    """One panel a size of the draws: measured shares with their intervals, printed ones, and those of planes.

    printed   {delta: {(class_a, class_b): printed row}}, from `tables.printed`
    """
    there, height = figures.measured(units), 1.3 + 2.4 * len(FAR)
    figure, axes = plt.subplots(len(FAR), 1, figsize=(8, height), sharex=True, squeeze=False)
    for ax, delta in zip(axes[:, 0], FAR):
        for place, problem in enumerate(problems):
            if problem in printed[delta]:
                ax.plot(place - 0.15, printed[delta][problem]["test"], "x", color=figures.PRINTED, ms=7,
                        mew=2)
            if problem not in there:
                continue
            unit, found = there[problem], tables.disturbed(delta)(there[problem]["test"])
            if found["percent"] is None:
                continue
            ax.vlines(place, found["low"], found["high"], color=display.PALETTE[0], lw=4, alpha=0.5)
            ax.plot(place, found["percent"], "o", color=display.PALETTE[0])
            ax.plot(place + 0.15, turned(unit, "test", delta), "_", color=display.PALETTE[1], ms=12, mew=2.5)
            ax.plot(place + 0.15, turned(unit, "test", delta, linear=True), "^", color=display.PALETTE[2])
        ax.set(ylabel=f"label flipped by noise,\n{delta} × the norm, %", xlim=(-0.6, len(problems) - 0.4))
        ax.set_ylim(bottom=-0.04 * ax.get_ylim()[1])
    figures.label_problems(axes[-1, 0], problems, names)
    ax = axes[0, 0]
    for style in (dict(marker="o", color=display.PALETTE[0], label="measured, 95% interval"),
                  dict(marker="x", color=figures.PRINTED, mew=2, label="published"),
                  dict(marker="_", color=display.PALETTE[1], ms=12, mew=2.5, label="plane at the attack"),
                  dict(marker="^", color=display.PALETTE[2], label="plane, if the network were linear")):
        ax.plot([], [], ls="", **style)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def in_words(units, problems, names):
    """What planes predict of the largest draws beside what is measured."""
    there = {p: u for p, u in figures.measured(units).items()
             if p in problems and u["test"]["stretch"]["count"]}
    if not there:
        return "No test image of the problems shown has an attack."
    near, far = FAR
    shares = {way: {d: [of(u, d) for u in there.values()] for d in FAR} for way, of in (
        ("measured", lambda u, d: tables.disturbed(d)(u["test"])["percent"]),
        ("flat", lambda u, d: turned(u, "test", d)),
        ("linear", lambda u, d: turned(u, "test", d, linear=True)))}
    mean = {way: {d: figures.in_percent(np.mean(of[d])) for d in FAR} for way, of in shares.items()}
    samples = 1 / float(tail(next(iter(there.values()))["dimension"], 1 / far))
    once = (f"{display.number(samples / 1e6, digits=2)} million" if 1e6 <= samples < 1e9 else
            display.number(samples, digits=2))
    stretch = [tables.quantile(u["test"]["stretch"], 0.5) for u in there.values()]
    ratio = " to ".join(dict.fromkeys(f"{end(stretch):.2f}" for end in (min, max)))
    beyond = [figures.name(p, names) for p, u in there.items()
              if tables.quantile(u["test"]["linear"], 0.5) > tables.quantile(u["test"]["attack"]["l2"], 0.5)]
    farther = "" if not beyond else (
        f" On {' and '.join(beyond)} the median of this distance exceeds that of the norms of the attacks, "
        "so there it is not the distance to the boundary.")
    return (f"*The attack's norm as distance.* A random perturbation of {far} times this norm crosses such a "
            f"plane once in {once} samples: {mean['flat'][far]} of the labels flip (measured: "
            f"{mean['measured'][far]}; means over {figures.counted(len(there), 'problem')}). The boundary "
            "is not farther than the attack, so for a flat boundary this share is a lower limit.\n\n"
            "*The linear network's distance.* The norm of the attack divided by this distance has a median "
            f"of {ratio} over the images of a problem. At {near} times the norm these planes give "
            f"{mean['linear'][near]} (measured: {mean['measured'][near]}), at {far} times "
            f"{mean['linear'][far]} (measured: {mean['measured'][far]}).{farther}\n\n"
            "Prediction and measurement can differ because the attack need not find the shortest way to the "
            "boundary, because the boundary may be curved, or both. This page does not separate the two.")


INTRO = """\
Assume that the boundary between the classes is a plane near an image. Theorem 1 ({ref}`sutton-4-1`) then
gives the exact probability that a random perturbation crosses it: the share of a ball that lies beyond a
plane. The distance to the plane is at most the norm of the attack. For a linear network this distance equals
the logit divided by the norm of its gradient. Both distances predict the outcome of 2,000 random
perturbations; the second one does so image by image."""


def show(run, units, problems, names, printed, *, data_set):
    """Show what flat boundaries predict beside what was measured: a picture, and both in words."""
    display.say(INTRO)
    run.picture(units, lambda u: draw(u, problems, names, printed),
                caption=f"Test images of {data_set} whose label random perturbations of five and ten times "
                        "the norm of the attack flip: measured, published, and predicted by flat boundaries.",
                alt="Dots with bars for the measured share of every problem, crosses for the published one, "
                    "and marks near zero for flat boundaries at the distance of the attack.")
    run.tell(units, lambda u: in_words(u, problems, names))
