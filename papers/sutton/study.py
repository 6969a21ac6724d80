"""Which network (Section 7.1.1): readings of Table 2, scored by eight columns that the paper prints.

The rule stands in book/protocol.md (`network-study`) and was fixed before the runs. `units` is a DataFrame
with a row a run of `experiments.network_study`; `printed` and `spread` are those of `published`.
"""
import matplotlib.pyplot as plt
import numpy as np

from papers.sutton import figures
from papers.sutton.experiments import NORMALISED, PAIRS, departures, screen, study_runs
from papers.sutton.tables import SPLITS, attacked
from report import display

MARGIN = 1.1    # within so many times the smallest score the fewer departures decide
WHAT = {"accuracy": "accuracy", "share": "attackable", "mean": "mean norm", "std": "spread of norms"}
COLUMNS = [(split, what) for split in SPLITS for what in WHAT]
HEADER = {"pair": "pair", "network": "network", "epochs": "epochs", "seed": "seed", "accuracy": "accuracy, %",
          "share": "attackable, %", "norm": "norm", "zero": "zero gradient, %", "score": "score",
          "score_zero": "score, zero gradient attackable"}


# ---- the rule --------------------------------------------------------------------------------------------
def measured(unit, *, zero):
    """The eight `COLUMNS` of a run; None where no image has an attack.

    zero   whether images with a gradient of exactly zero count as attackable
    """
    columns = {}
    for split in SPLITS:
        part = unit[split]
        share, norms = attacked(part), part["attack"]["l2"]
        if not part["tried"] or norms["mean"] is None:
            return None
        hits = share["hits"] + (part["saturated"] if zero else 0)
        columns |= {(split, "accuracy"): part["accuracy"]["percent"],
                    (split, "share"): 100 * hits / share["of"],
                    (split, "mean"): norms["mean"], (split, "std"): norms["std"]}
    return columns


def published(paper):
    """`({pair of classes: its COLUMNS}, {column: standard deviation over the pairs})` of Tables 4 to 6.

    paper   the reference items of `sutton` by id
    """
    pairs = {}
    for item, what in (("table-4", "accuracy"), ("table-5", "share")):
        for row in paper[item].rows:
            for split in SPLITS:
                pairs.setdefault((row["class_a"], row["class_b"]), {})[split, what] = row[split]
    for row in paper["table-6"].rows:
        pairs[row["class_a"], row["class_b"]] |= {(row["split"], w): row[w] for w in ("mean", "std")}
    return pairs, {c: float(np.std([columns[c] for columns in pairs.values()])) for c in COLUMNS}


def score(columns, printed, spread):
    """Sum of the squared deviations of `measured` from `printed`, in units of `spread`; None of None."""
    return None if columns is None else sum(((columns[c] - printed[c]) / spread[c]) ** 2 for c in COLUMNS)


def scores(units, printed, spread):
    """`{(pair, network, epochs, seed, zero): score}` of all networks, by both ways of counting."""
    return {(p, n, u["length"], u["again"], zero): score(measured(u, zero=zero), printed[PAIRS[p]], spread)
            for u, p, n in entries(units) for zero in (False, True)}


def mean_scores(scores):
    """`{(network, epochs, zero): {pair: mean score over its seeds}}`, where all its networks have one."""
    by_pair = {}
    for (pair, network, epochs, _, zero), value in scores.items():
        by_pair.setdefault((network, epochs, zero), {}).setdefault(pair, []).append(value)
    return {reading: {pair: float(np.mean(values)) for pair, values in pairs.items()}
            for reading, pairs in by_pair.items() if None not in sum(pairs.values(), [])}


def best(scores, pairs, count):
    """The `count` networks with the smallest score, the mean over `pairs`, by the better way of counting."""
    means = {}
    for (network, _, _), by_pair in mean_scores(scores).items():
        if all(pair in by_pair for pair in pairs):
            means[network] = min(means.get(network, np.inf), np.mean([by_pair[p] for p in pairs]))
    return sorted(means, key=means.get)[:count]


def choice(scores):
    """The reading that rule 5 chooses among those on both pairs, None where there is none."""
    means = {reading: np.mean(list(by_pair.values())) for reading, by_pair in mean_scores(scores).items()
             if len(by_pair) == len(PAIRS)}
    near = [r for r, mean in means.items() if mean <= MARGIN * min(means.values())]
    return min(near, key=lambda r: (departures(*r[0], epochs=r[1]), means[r]), default=None)


# ---- what the page shows ---------------------------------------------------------------------------------
def entries(units):
    """`[(unit, pair, network)]` in the order of the pairs and of the study's networks."""
    networks, normalised = screen(), {name: short for short, name in NORMALISED.items()}
    trained = [(u, u["pair"], (normalised[u["architecture"]], u["dropout"], u["penalty"]))
               for u in units.to_dict("records")]
    return sorted(trained, key=lambda e: (list(PAIRS).index(e[1]), networks.index(e[2]), e[0]["length"],
                                          e[0]["again"]))


def in_words(network):
    """A network of the study, such as "batch normalisation, dropout 0.2"."""
    normalised, dropout, penalty = network
    return ", ".join([*(["batch normalisation"] if normalised == "bn" else []),
                      f"dropout {dropout:g}" if dropout else "no dropout",
                      *([f"penalty {penalty:g}"] if penalty else [])])


def rows(units, printed, spread):
    """A row a network, those of a pair behind its published values."""
    lines, points = [], scores(units, printed, spread)
    for u, p, n in entries(units):
        if p not in [line["pair"] for line in lines]:
            lines.append({"pair": p, "network": "published", **_cells(printed[PAIRS[p]])})
        zero = [100 * u[s]["saturated"] / u[s]["tried"] if u[s]["tried"] else np.nan for s in SPLITS]
        key = (p, n, u["length"], u["again"])
        lines.append({"pair": p, "network": in_words(n), "epochs": str(u["length"]), "seed": str(u["again"]),
                      **_cells(measured(u, zero=False)), "zero": "{:.1f} / {:.1f}".format(*zero),
                      "score": points[*key, False], "score_zero": points[*key, True]})
    return lines


def _cells(columns):
    """Accuracy, share and norm of both sets as one text each."""
    if columns is None:
        return {}
    both = {what: [columns[s, what] for s in SPLITS] for what in WHAT}
    return {what: "{:.1f} / {:.1f}".format(*both[what]) for what in ("accuracy", "share")} | {
        "norm": " / ".join(f"{m:.2f} ({s:.2f})" for m, s in zip(both["mean"], both["std"]))}


def draw(units, printed, spread):
    """Deviations of each network by column; None without networks."""
    shown = [(u, p, n, columns) for u, p, n in entries(units) if (columns := measured(u, zero=False))]
    if not shown:
        return None
    off = np.array([[(columns[c] - printed[PAIRS[p]][c]) / spread[c] for c in COLUMNS]
                    for _, p, _, columns in shown])
    figure, ax = plt.subplots(figsize=(7.5, 1.6 + 0.3 * len(shown)))
    image = ax.imshow(off, cmap=display.DEVIATIONS, vmin=-3, vmax=3, aspect="auto")
    for (y, x), value in np.ndenumerate(off):
        ax.text(x, y, f"{value:+.1f}", ha="center", va="center", fontsize=8,
                color="white" if abs(value) > 2 else "black")
    ax.set_xticks(range(len(COLUMNS)), [f"{WHAT[w]}\n{figures.SETS[s]}" for s, w in COLUMNS],
                  rotation=45, ha="right")
    ax.set_yticks(range(len(shown)), [f"{p}: {in_words(n)}, {u['length']} epochs" for u, p, n, _ in shown])
    ax.grid(False)
    figure.colorbar(image, label="standard deviations")
    return figure


def choice_in_words(units, printed, spread):
    """What the rule chooses, or how many of its trainings are missing."""
    wanted = study_runs(int(units["length"].min()))
    if missing := len(wanted) - len(units):
        return f"The rule has not chosen yet: {missing} of {len(wanted)} trainings of the study are missing."
    if (chosen := choice(scores(units, printed, spread))) is None:
        return "The rule chooses none: no network has an attack on both pairs."
    network, epochs, zero = chosen
    return (f"The rule chooses: {in_words(network)}, {epochs} epochs; images with a zero gradient count as "
            f"{counting(zero)}.")


def counting(zero):
    """How images with a gradient of exactly zero count."""
    return "attackable" if zero else "not attackable"


def box(page, trained, printed, spread):
    """The box of the page."""
    units = page.best(trained)
    points = scores(units, printed, spread) if len(units) else {}
    points = {key: value for key, value in points.items() if value is not None}
    if not points:
        return
    key = min(points, key=points.get)
    pair, network, epochs, _, zero = key
    page.box(
        "Which reading of Table 2 gives the published accuracies, attackable shares and norms? Of "
        f"{figures.counted(len(units), 'network')} measured so far, the nearest on *{pair}* has "
        f"{in_words(network)} and {figures.counted(epochs, 'epoch')}, with images of zero gradient counted "
        f"as {counting(zero)} (score {display.number(points[key], digits=3)}; 0 is the published network). "
        f"{choice_in_words(units, printed, spread)} The authors' code is not known.",
        picture=draw(units, printed, spread), alt="A heat map: rows are networks, columns are the deviations "
        "from the published values.")
