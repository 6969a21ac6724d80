"""Published numbers against reproduced ones, drawn."""
import math

import matplotlib.pyplot as plt
import numpy as np

from report import display
from report.comparison import MARKS

FEWEST = 4          # numbers that are worth a picture
SPREAD = 2.0        # the ratios shown reach from 10^-SPREAD to 10^SPREAD; what lies beyond stands at the ends
FADED = 0.35        # opacity of numbers without a mark


def draw(numbers, group, *, urls=None):
    """Figure: reproduced against published on logarithmic axes, and the distribution of their ratios.

    numbers  `Number`s; those that were not measured are left out. A zero stands at the edge of the axes
    group    {label: numbers of it}: a colour and marker each
    urls     `Number` -> where its point leads, in an SVG
    None where fewer than `FEWEST` were measured.
    """
    there = [n for n in numbers if n.reproduced is not None]
    if len(there) < FEWEST:
        return None
    sizes = [abs(v) for n in there for v in (n.published, n.reproduced) if v]
    low, high = (10 ** edge(math.log10(pick(sizes, default=1))) for edge, pick in ((math.floor, min),
                                                                                  (math.ceil, max)))
    low, high = low / 1.5, high * 1.5
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.9), width_ratios=(3, 2))
    left.plot([low, high], [low, high], color=display.GUIDE, lw=1, zorder=0)
    left.fill_between([low, high], [low / 2, high / 2], [2 * low, 2 * high], color=display.PALE, zorder=-1)
    edges = np.linspace(-SPREAD, SPREAD, 41)
    bars = []
    for k, (label, measured) in enumerate(group.items()):
        measured = [n for n in measured if n.reproduced is not None]
        compared = any(n.state in MARKS for n in measured)
        for own, opacity in ((True, 0.8), (False, FADED)):
            some = [n for n in measured if (n.state in MARKS) == own]
            if some:
                points = left.scatter(*([max(abs(v), low) for v in values] for values in
                                        zip(*((n.published, n.reproduced) for n in some))),
                                      s=14, color=display.PALETTE[k], marker=display.MARKERS[k], lw=0,
                                      alpha=opacity, label=label if own or not compared else None,
                                      clip_on=False)
                if urls:
                    points.set_urls([urls(n) for n in some])
        ratios = [abs(n.reproduced / n.published) for n in measured if n.state in MARKS and n.published]
        bars.append([math.log10(min(max(ratio, 10**-SPREAD), 10**SPREAD)) for ratio in ratios])
    left.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), xlabel="published",
             ylabel="reproduced", aspect="equal")
    right.hist(bars, edges, stacked=True, color=display.PALETTE[:len(bars)])
    right.set(xlabel="reproduced / published", ylabel="numbers", xticks=[-2, -1, 0, 1, 2],
              xticklabels=["≤ 0.01", "0.1", "1", "10", "≥ 100"])
    if len(group) > 1:
        left.legend(handletextpad=0.1, loc="upper left")
    return figure
