"""Exact probabilities of `sutton` against random trials, and a whole grid against a loop over its cells."""
import time
from functools import partial

import numpy as np

from benchmarks import median, rounds, sized, table
from papers.sutton.theory.ball import sample_coordinates, tail
from papers.sutton.theory.models import classify, half_balls, log_half_balls, log_two_balls, two_balls

# The relative standard error at which random trials are called as good as the exact value.
ERROR = sized(0.01, 1)
AT_LEAST = 1e-3       # rarer events would take trials for minutes
CHUNK = 1_000_000     # trials drawn at a time


def _noise(model):
    """Random trials of "noise of radius delta misclassifies a point" in a model of labelled points."""
    def events(n, epsilon, delta, draws, generator):
        x1, label = model(n, epsilon, draws, generator)
        return classify(x1 + delta * sample_coordinates(n, draws, generator)) != label

    return events


# What is computed: exact value and random trials, both functions of n, epsilon, delta.
PROBABILITIES = {
    "cap (Theorem 1)": (lambda n, epsilon, delta: tail(n, epsilon / delta),
                        lambda n, epsilon, delta, draws, generator:
                        delta * sample_coordinates(n, draws, generator) > epsilon),
    "two balls (Theorem 6)": (lambda *given: np.exp(log_two_balls(*given)), _noise(two_balls)),
    "half-balls (Theorem 19)": (lambda *given: np.exp(log_half_balls(*given)), _noise(half_balls)),
}
CASES = (("cap (Theorem 1)", 900, 0.1, 1.0), ("two balls (Theorem 6)", 1000, 0.1, 1.0),
         ("two balls (Theorem 6)", 1000, 0.1, 10.0), ("two balls (Theorem 6)", 90_000, 0.1, 10.0),
         ("half-balls (Theorem 19)", 200, 0.1, 1.0), ("half-balls (Theorem 19)", 650, 0.1, 1.0),
         ("half-balls (Theorem 19)", 200_000, 0.0, 0.5))
GRIDS = {
    "two balls, 1,200 cells": (log_two_balls,
                               np.array([1, 2, 3, 5, 10, 20, 50, 100, 300, 1000, 3072, 10_000, 50_000,
                                         150_528, 200_000]),
                               (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.9), np.geomspace(0.01, 50, 10)),
    "half-balls, 10,000 cells": (log_half_balls, np.geomspace(1, 200_000, 50).astype(int),
                                 np.linspace(0, 0.9, 10), np.geomspace(0.01, 50, 20)),
}
THIN = sized(1, 4)      # of so many values of an axis one is in the grid
LOOPED = sized(100, 4)  # cells of a grid that the loop goes through; its time is scaled to all


def trials_seconds(events, given, probability):
    """Seconds for as many trials as the error asks for, their number, and the estimate they give."""
    draws = int(np.ceil((1 - probability) / (probability * ERROR**2)))
    generator, hits, start = np.random.default_rng(0), 0, time.perf_counter()
    for done in range(0, draws, CHUNK):
        hits += int(np.count_nonzero(events(*given, min(CHUNK, draws - done), generator)))
    return time.perf_counter() - start, draws, hits / draws


def against_trials():
    rows = []
    for name, *given in CASES:
        exact, events = PROBABILITIES[name]
        probability = float(exact(*given))
        if probability < AT_LEAST:
            raise ValueError(f"{name}, {given}: probability {probability:.1e} is below {AT_LEAST}; "
                             "choose another case")
        seconds = median(t for t, in rounds(partial(exact, *given)))
        slow, draws, estimate = trials_seconds(events, given, probability)
        factor = slow / seconds
        rows.append((name, *(f"{v:g}" for v in given), f"{probability:.3e}",
                     f"{estimate / probability - 1:+.2%}", f"{draws:,}", f"{seconds * 1e3:.2f}",
                     f"{slow * 1e3:,.0f}", f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}"))
    table(f"One probability, exactly and by random trials to {ERROR:.0%} standard error",
          ("", "n", "epsilon", "delta", "probability", "trials off by", "trials needed", "exact ms",
           "trials ms", "x faster"), rows)


def against_loop():
    rows = []
    for name, (function, *axes) in GRIDS.items():
        grid = np.meshgrid(*(axis[::THIN] for axis in axes), indexing="ij")
        cells = np.stack([axis.ravel() for axis in grid], axis=1)
        seconds = median(t for t, in rounds(partial(function, *grid), repeats=3))
        together = seconds / len(cells)
        some = cells[:: len(cells) // LOOPED]
        start = time.perf_counter()
        values = np.array([function(*cell) for cell in some])
        alone = (time.perf_counter() - start) / len(some)
        whole = function(*grid).ravel()[:: len(cells) // LOOPED]
        finite = np.isfinite(whole)  # where noise cannot reach the plane, the logarithm is -inf
        off = np.abs(values[finite] - whole[finite]).max()
        rows.append((name, f"{together * 1e6:.1f}", f"{alone * 1e6:.0f}", f"{alone / together:.1f}",
                     f"{off:.1e}"))
    table("Exact values of a grid, all at once and in a loop over cells",
          ("", "at once, µs a cell", "loop, µs a cell", "x faster", "largest difference (log)"), rows,
          f"The loop ran over about {LOOPED} cells.")


def run():
    """Print both tables."""
    against_trials()
    against_loop()
