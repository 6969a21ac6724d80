"""Figures 8 to 10, 13 and 17 to 20 of Sutton et al.: how large attacks and draws are, problem by problem.

`units`, `problems` and `names` are those of `figures`.
"""
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from scipy.stats import gaussian_kde

from papers.sutton import figures, tables
from report import display

NORMS = {"l1": "ℓ₁ norm", "l2": "Euclidean norm", "linf": "ℓ∞ norm"}
FEW = 10  # fewer values than this are drawn one by one


def half(ax, place, facts, side, color):
    """Half a violin at x = `place`: the density of a `pair.summary`'s values, its median as a line.

    side   -1 to the left, 1 to the right
    The values are known by 101 quantiles; smoothing is a quarter of their spread, and ends where they end.
    """
    values = tables.points(facts)
    if not len(values):
        return
    middle = tables.quantile(facts, 0.5)
    if facts["count"] < FEW or np.ptp(values) == 0:
        few = min(facts["count"], FEW)
        each = [tables.quantile(facts, k / max(1, few - 1)) for k in range(few)]
        ax.plot(np.full(len(each), place + 0.1 * side), each, "_", color=color, ms=8)
        return
    grid = np.linspace(facts["quantiles"][0], facts["quantiles"][-1], 200)
    density = gaussian_kde(values, 0.25)(grid)
    width = side * 0.42 * density / density.max()
    ax.fill_betweenx(grid, place, place + width, color=color, alpha=0.75, lw=0)
    ax.plot([place, place + side * 0.3], [middle, middle], color="k", lw=1.2)


def draw(units, problems, names, read, *, norms=tuple(NORMS), of="attack"):
    """One panel a norm: for every problem the training images' violin on the left, the test images' right.

    read   (part, norm) -> a `pair.summary`
    of     whose size it is, for the axis
    None where no image has such a size.
    """
    there, height = figures.measured(units), 1.3 + 2.4 * len(norms)
    if not any(len(tables.points(read(there[p][split], norms[0])))
               for p in problems if p in there for split in tables.SPLITS):
        return None
    figure, axes = plt.subplots(len(norms), 1, figsize=(8, height), sharex=True, squeeze=False)
    for ax, norm in zip(axes[:, 0], norms):
        for place, problem in enumerate(problems):
            for split, side, color in zip(tables.SPLITS, (-1, 1), display.PALETTE):
                if problem in there:
                    half(ax, place, read(there[problem][split], norm), side, color)
        ax.set(ylabel=f"{of}, {NORMS[norm]}", xlim=(-0.6, len(problems) - 0.4))
        ax.set_ylim(bottom=0)
    figures.label_problems(axes[-1, 0], problems, names)
    key = [Rectangle((0, 0), 1, 1, color=c, alpha=0.75) for c in display.PALETTE[:2]]
    figure.legend(key, [f"{figures.SETS[s]} ({side})" for s, side in zip(tables.SPLITS, ("left", "right"))],
                  loc="outside upper right", ncols=2)
    return figure


def medians(units, names, read, norm):
    """What a violin shows, in numbers: `{problem: {split: {"count", "median", "low", "high"}}}`.

    low and high are the quantiles of 5 and 95%.
    """
    told = {}
    for problem, unit in figures.measured(units).items():
        facts = {split: read(unit[split], norm) for split in tables.SPLITS}
        told[figures.name(problem, names)] = {split: {"count": f["count"], "median": tables.quantile(f, 0.5),
                                              "low": tables.quantile(f, 0.05),
                                              "high": tables.quantile(f, 0.95)} for split, f in facts.items()}
    return told


def both_sets(data):
    """Whether every problem of `medians` has values of training and test images: a figure's tick."""
    return bool(data) and all(part["count"] for each in data.values() for part in each.values())


def publish(run, item, sets, problems, names, read, *, of, rests=None):
    """Publish one of Figures 17 to 20: violins of three norms; its data are `medians` by norm.

    rests   parts of a unit that the figure rests on, such as `figures.ATTACKED`; None takes all
    """
    def data(units):
        return {norm: medians(units, names, read, norm) for norm in NORMS}

    def shown(told):
        return len(told["l2"]) == len(problems)

    return run.figure(item, sets, lambda units: draw(units, problems, names, read, of=of), data=data,
                      rests=rests,
                      alt=f"Half violins for each problem in three panels, one a norm: the sizes of the "
                          f"{of}s, training images left, test images right.",
                      contains={"x: class pairs": shown, "y: norm": True, "one panel each": True,
                                "train and test": lambda told: both_sets(told["l2"])})
