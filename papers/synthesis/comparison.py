"""How well each instrument predicts the attack: rank correlations over networks and over images, costs.

Rules and questions are those of the protocol. All values are turned so that larger means farther from the
boundary.
"""
from dataclasses import dataclass

import numpy as np
import pandas as pd

from papers.synthesis.experiments import GROUPS
from report import reference
from shared import runtime
from shared.statistics import rank_correlations

# Each instrument's paper, and what it is called.
INSTRUMENTS = {"mixing": ("ren", "mixing with another digit"), "transfer": ("shu", "boxes over re-trainings"),
               "distance": ("he", "random directions"), "gradient": ("sutton", "step along the gradient"),
               "roby": ("chen", "ROBY"), "margin": (None, "margin of the logits")}
TIMED = {"transfer": "boxes", "distance": "directions"}     # where a run's seconds have another name
BASELINE = "margin"
CHEAP = 0.1                 # of the attack's seconds an image
LEVEL = 0.99                # of the intervals: five instruments, so that all hold at 95%
ROUNDS, LEAST = 1_000, 5    # of the bootstrap; images that a rank correlation needs


def label(instrument):
    """The instrument with its paper, for a table or an axis."""
    key, words = INSTRUMENTS[instrument]
    return f"{words} ({reference.SHORT[key].split()[0] if key else 'baseline'})"


@dataclass(frozen=True, eq=False)
class Measured:
    """M networks on N images that all networks classify correctly.

    groups    the group of each network
    values    {name: float64 [M, N]}: of the instruments and of the attack; NaN where there is none
    networks  {name: float64 [M]}: their means; ROBY has no values of images
    """
    groups: np.ndarray
    values: dict
    networks: dict

    @property
    def natural(self):
        """bool [M]: networks of no adversarial training."""
        return np.array([GROUPS[name].hook is None for name in self.groups], dtype=bool)


def shared_images(runs):
    """Places of the images that every network has and classifies correctly."""
    most = min(map(len, runs.correct))
    return np.flatnonzero(np.all([row[:most] for row in runs.correct], axis=0))


def measured(runs):
    """`Measured` of the runs, a row a network."""
    places = shared_images(runs)

    def stacked(column, of=np.asarray):
        return np.array([of(row)[places] for row in column], dtype=float)

    values = {"mixing": stacked(runs.robustness, lambda row: 1 - np.asarray(row)[0])}
    values |= {name: stacked(runs[name]) for name in ("transfer", "distance", "gradient", "margin", "attack")}
    networks = {name: np.array([row[some].mean() if some.any() else np.nan for row in rows])
                for name, rows in values.items() for some in [complete(rows)]}
    networks["roby"] = -runs.roby.to_numpy(dtype=float)
    return Measured(runs.network.to_numpy(), values, networks)


def complete(rows):
    """bool [N]: images for which all networks have a value that have any."""
    there = np.isfinite(rows)
    return there[there.any(1)].all(0) if there.any() else there.any(0)


# ---- rank correlations -----------------------------------------------------------------------------------
def over_networks(data, name, rng, *, natural=False):
    """`(value, resampled)`: of the networks' means with those of the attack; groups are drawn anew."""
    a, b = data.networks[name], data.networks["attack"]
    kept = np.isfinite(a) & np.isfinite(b) & (data.natural if natural else True)
    names = np.unique(data.groups)      # all of them, so that a draw is the same for every instrument
    places = {group: np.flatnonzero(kept & (data.groups == group)) for group in names}
    draws = [np.concatenate([places[group] for group in rng.choice(names, len(names))])
             for _ in range(ROUNDS)]
    return _spearman(a, b, [np.flatnonzero(kept)])[0], _spearman(a, b, draws)


def over_images(data, name, rng):
    """The same of the images within each network, on average over the networks; images are drawn anew."""
    if name not in data.values:
        return np.nan, np.full(ROUNDS, np.nan)
    a, b = data.values[name], data.values["attack"]
    some = complete(a) & complete(b)
    rows = np.isfinite(a[:, some]).all(1) & np.isfinite(b[:, some]).all(1)
    a, b = a[rows][:, some], b[rows][:, some]
    if a.shape[1] < LEAST or not len(a):
        return np.nan, np.full(ROUNDS, np.nan)
    drawn = rng.integers(a.shape[1], size=(ROUNDS, a.shape[1]))
    often = np.stack([np.bincount(places, minlength=a.shape[1]) for places in drawn])
    return rank_correlations(a, b).mean(), np.mean([_resampled(x, z, often) for x, z in zip(a, b)], axis=0)


def _resampled(a, b, often):
    """Rank correlation of a and b [N] in each of R draws that have value n `often[r, n]` times: float64 [R].

    Ranks follow from counts; to sort every draw takes three times as long.
    """
    def ranks(values):
        _, codes = np.unique(values, return_inverse=True)
        order = np.argsort(codes, kind="stable")
        first = np.searchsorted(codes[order], np.arange(codes.max() + 1))
        count = np.add.reduceat(often[:, order], first, axis=1)
        midranks = count.cumsum(1) - (count - 1) / 2      # equal values share the mean of their ranks
        return midranks[:, codes] - (often.shape[1] + 1) / 2

    x, y = ranks(a), ranks(b)
    with np.errstate(invalid="ignore"):
        return (often * x * y).sum(1) / np.sqrt((often * x**2).sum(1) * (often * y**2).sum(1))


def _spearman(a, b, draws):
    """The rank correlation within each draw of places, float64 [draws]; draws of one length at once."""
    values, lengths = np.full(len(draws), np.nan), np.array([len(places) for places in draws])
    for length in {*lengths[lengths > 2]}:
        alike = np.flatnonzero(lengths == length)
        places = np.stack([draws[n] for n in alike])
        values[alike] = rank_correlations(a[places], b[places])
    return values


def interval(resampled):
    """The percentile interval at `LEVEL`; NaN of nothing."""
    there = resampled[np.isfinite(resampled)]
    return tuple(np.quantile(there, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])) if len(there) else (np.nan, np.nan)


def compared(runs):
    """A row an instrument: seconds an image, rank correlations with their intervals, what follows of them.

    `predicts` a network's (or an image's) place: the interval is above 0; `better`: so is that of the
    difference to the baseline's correlation, in the same draws.
    """
    if not len(runs):
        return pd.DataFrame()
    data, rows, base = measured(runs), [], {}
    for name in [BASELINE, *(n for n in INSTRUMENTS if n != BASELINE)]:
        row = {"instrument": name, "seconds": seconds_of(runs, name)}
        for level, of in (("networks", over_networks), ("images", over_images)):
            value, resampled = of(data, name, generator(level))
            base.setdefault(level, resampled)
            low, high = interval(resampled)
            row |= {level: value, f"{level}_low": low, f"{level}_high": high,
                    f"{level}_predicts": bool(low > 0),
                    **dict(zip((f"{level}_apart_low", f"{level}_apart_high"),
                               interval(resampled - base[level])))}
            row[f"{level}_better"] = bool(row[f"{level}_apart_low"] > 0)
        row["natural"], resampled = over_networks(data, name, generator("natural"), natural=True)
        row["natural_low"], row["natural_high"] = interval(resampled)
        rows.append(row)
    return pd.DataFrame([*rows[1:], rows[0]])


def generator(level):
    """The same draws for all instruments."""
    return np.random.default_rng(runtime.generator(0, "synthesis", level).initial_seed())


def seconds_of(runs, name):
    """Seconds an image, the median over networks."""
    of = runs.classes if name == "roby" else runs.images
    return float(np.median([seconds[TIMED.get(name, name)] / n for seconds, n in zip(runs.seconds, of)]))


def cheap(rows, runs):
    """The instruments of the papers that cost at most `CHEAP` of the attack."""
    return rows[(rows.seconds <= CHEAP * seconds_of(runs, "attack")) & (rows.instrument != BASELINE)]


def best(rows, runs):
    """The cheap instrument of the largest rank correlation over networks, as a dict; {} where there is none.

    rows   what `compared` gives of the runs
    """
    rows = cheap(rows, runs).dropna(subset=["networks"]) if len(rows) else rows
    return rows.loc[rows.networks.idxmax()].to_dict() if len(rows) else {}
