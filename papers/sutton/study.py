"""Which network: readings of Table 2 and Section 7.1.1, scored by all columns that the paper prints.

The rule stands in book/protocol.md (`network-study`) and was fixed before the runs.
"""
import numpy as np

PAIRS = {"deer-horse": (4, 7), "aeroplane-cat": (0, 3)}     # the screen's, and the second
NORMALISED = {"plain": "sutton-vgg", "bn": "sutton-vgg-bn"}
DROPOUTS, PENALTIES = (0.4, 0.2, 0.0), (0.0, 5e-4)
# Rule 3: the four networks of the screen with the smallest scores. Rule 4: the two best on both pairs.
SECOND = [("bn", 0.0, 0.0), ("plain", 0.2, 0.0), ("plain", 0.2, 5e-4), ("bn", 0.2, 0.0)]
LONGER = [("plain", 0.2, 0.0), ("bn", 0.2, 0.0)]
MARGIN = 1.1    # within so many times the smallest score the fewer departures decide

COLUMNS = [(split, what) for split in ("train", "test") for what in ("accuracy", "share", "mean", "std")]


def networks():
    """All twelve of the screen: (normalisation, dropout, penalty), the nearest to the paper's words first."""
    return sorted(((n, d, p) for n in NORMALISED for d in DROPOUTS for p in PENALTIES),
                  key=lambda network: departures(*network, epochs=100))


def departures(normalisation, dropout, penalty, *, epochs):
    """How many of the paper's words a network departs from: Table 2, dropout 0.4, 100 epochs, no penalty."""
    return (normalisation != "plain") + (dropout != 0.4) + (penalty != 0) + (epochs != 100)


def runs(epochs):
    """`[(pair, network, epochs, seed)]` of the whole study; `epochs` of the screen, twice of the longer."""
    return [("deer-horse", n, epochs, 0) for n in networks()] + \
           [("aeroplane-cat", n, epochs, 0) for n in SECOND] + \
           [(pair, n, 2 * epochs, seed) for n in LONGER for pair in PAIRS for seed in (0, 1)]


def measured(unit, *, zero):
    """The eight `COLUMNS` of a unit of `measure_pair`; None where no image has an attack.

    zero   whether images with a gradient of exactly zero count as attackable
    """
    found = {}
    for split in ("train", "test"):
        part = unit[split]
        share, norms = part["attack"]["susceptibility"], part["attack"]["l2"]
        if not part["tried"] or norms["mean"] is None:
            return None
        hits = share["hits"] + (part["saturated"] if zero else 0)
        found |= {(split, "accuracy"): part["accuracy"]["percent"],
                  (split, "share"): 100 * hits / share["of"],
                  (split, "mean"): norms["mean"], (split, "std"): norms["std"]}
    return found


def published(paper):
    """`({pair of classes: its COLUMNS}, {column: standard deviation over the pairs})` of Tables 4 to 6.

    paper   the reference items of `sutton` by id
    """
    pairs = {}
    for item, what in (("table-4", "accuracy"), ("table-5", "share")):
        for row in paper[item].rows:
            for split in ("train", "test"):
                pairs.setdefault((row["class_a"], row["class_b"]), {})[split, what] = row[split]
    for row in paper["table-6"].rows:
        pairs[row["class_a"], row["class_b"]] |= {(row["split"], w): row[w] for w in ("mean", "std")}
    return pairs, {c: float(np.std([each[c] for each in pairs.values()])) for c in COLUMNS}


def score(found, printed, unit):
    """Sum of the squared deviations of `measured` from `printed`, in each column's `unit`; None of None."""
    return None if found is None else sum(((found[c] - printed[c]) / unit[c]) ** 2 for c in COLUMNS)


def readings(scores):
    """`{(network, epochs, zero): {pair: mean score over its seeds}}`, of readings whose networks have scores.

    scores   {(pair, network, epochs, seed, zero): score or None}
    """
    found = {}
    for (pair, network, epochs, _, zero), value in scores.items():
        found.setdefault((network, epochs, zero), {}).setdefault(pair, []).append(value)
    return {reading: {pair: float(np.mean(values)) for pair, values in pairs.items()}
            for reading, pairs in found.items() if None not in sum(pairs.values(), [])}


def best(scores, pairs, count):
    """The `count` networks with the smallest score, the mean over `pairs`, by the better way of counting."""
    means = {}
    for (network, _, _), each in readings(scores).items():
        if all(pair in each for pair in pairs):
            means[network] = min(means.get(network, np.inf), np.mean([each[p] for p in pairs]))
    return sorted(means, key=means.get)[:count]


def choice(scores):
    """The reading that rule 5 chooses among those on both pairs, None where there is none."""
    means = {r: np.mean(list(each.values())) for r, each in readings(scores).items()
             if len(each) == len(PAIRS)}
    near = [r for r, mean in means.items() if mean <= MARGIN * min(means.values())]
    return min(near, key=lambda r: (departures(*r[0], epochs=r[1]), means[r]), default=None)
