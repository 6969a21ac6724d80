"""A theorem as a curve over the dimension: exact probability, bound and random trials, computed and drawn."""
import matplotlib.pyplot as plt
import numpy as np

from papers.sutton.theory.statement import verify
from papers.sutton.theory.statements import STATEMENTS
from report import display

FINE = np.unique(np.geomspace(1, 200_000, 90).astype(int))     # dimensions of the lines
COARSE = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 50_000, 200_000)   # dimensions of the random trials


def over_dimension(item, *, draws, generator, dimensions=FINE, trial_dimensions=COARSE, **fixed):
    """A small probability over n, other parameters of the statement fixed, as a dict of arrays.

    n, exact, bound over `dimensions`; n_trial, true, share, low, high over `trial_dimensions`.

    Where the statement says "at least", it is one minus the printed one. true is the exact value, share that
    of `draws` trials and low, high its 95% interval. `generator` is a numpy Generator.
    """
    fixed = {name: (value,) for name, value in fixed.items()}
    table = verify(STATEMENTS[item], {"n": dimensions, **fixed})
    trials = verify(STATEMENTS[item], {"n": trial_dimensions, **fixed}, draws=draws, generator=generator)
    return {"n": table["n"], "exact": np.exp(table["log_exact"]), "bound": np.exp(table["log_bound"]),
            "n_trial": trials["n"], "true": np.exp(trials["log_exact"]),
            **{name: trials[name] for name in ("share", "low", "high")}}


def inside(curve):
    """Share of the intervals of the trials that contain the exact value; about 0.95 is expected."""
    return float(((curve["low"] <= curve["true"]) & (curve["true"] <= curve["high"])).mean())


def draw_curve(ax, curve, color, label, *, flip=False):
    """Exact value (line), bound (dashes), random trials (dots, bars); `flip` draws one minus all.

    Trials without a hit get no mark: on a logarithmic axis it would reach down for ever.
    """
    hit = curve["share"] > 0
    turn = (lambda p: 1 - p) if flip else (lambda p: p)
    ax.plot(curve["n"], turn(curve["exact"]), color=color, label=label)
    ax.plot(curve["n"], turn(curve["bound"]), color=color, ls="--", lw=1.2)
    low, high = (turn(curve[end][hit]) for end in ("low", "high"))
    ax.vlines(curve["n_trial"][hit], low, high, color=color, lw=5, alpha=0.45)
    ax.plot(curve["n_trial"][hit], turn(curve["share"][hit]), "o", color=color, ms=4, mfc="white")


def small(curves, ylabel):
    """Small probabilities over n, `{label: curve}`, on logarithmic axes; what is below a millionth is cut."""
    figure, ax = plt.subplots(figsize=(8, 3.8))
    for color, (label, curve) in zip(display.PALETTE, curves.items()):
        draw_curve(ax, curve, color, label)
    ax.plot([], [], color=display.GUIDE, ls="--", lw=1.2, label="bound")
    ax.set(xscale="log", yscale="log", ylim=(1e-6, 1.5), xlabel="dimension n", ylabel=ylabel)
    ax.legend(fontsize=9)
    return figure
