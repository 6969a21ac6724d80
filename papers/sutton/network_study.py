"""Tables, picture and sentences of the study of networks (Sutton et al., Section 7.1.1)."""
import matplotlib.pyplot as plt
import numpy as np

from papers.sutton import figures, study
from report import display

HEADER = {"pair": "pair", "network": "network", "epochs": "epochs", "seed": "seed", "accuracy": "accuracy, %",
          "share": "attackable, %", "norm": "norm", "zero": "zero gradient, %", "score": "score",
          "score_zero": "score, zero gradient attackable"}
SHORT = {"accuracy": "accuracy", "share": "attackable", "mean": "mean norm", "std": "spread of norms"}


def entries(units):
    """`[(unit, pair, network)]` in the order of the pairs and of the study's networks."""
    places = {each: n for n, each in enumerate(study.networks())}
    normalised = {name: short for short, name in study.NORMALISED.items()}
    found = [(u, u["pair"], (normalised[u["architecture"]], u["dropout"], u["penalty"]))
             for u in units.to_dict("records")]
    return sorted(found, key=lambda e: (list(study.PAIRS).index(e[1]), places[e[2]], e[0]["length"],
                                        e[0]["again"]))


def in_words(network):
    """A network of the study, such as "batch normalisation, dropout 0.2"."""
    normalised, dropout, penalty = network
    return ", ".join([*(["batch normalisation"] if normalised == "bn" else []),
                      f"dropout {dropout:g}" if dropout else "no dropout",
                      *([f"penalty {penalty:g}"] if penalty else [])])


def scores(units, printed, unit):
    """`{(pair, network, epochs, seed, zero): score}` of all networks, by both ways of counting."""
    return {(p, n, u["length"], u["again"], zero):
            study.score(study.measured(u, zero=zero), printed[study.PAIRS[p]], unit)
            for u, p, n in entries(units) for zero in (False, True)}


def rows(units, printed, unit):
    """A row a network, those of a pair behind its published values."""
    made, told = [], scores(units, printed, unit)
    for u, p, n in entries(units):
        if p not in [row["pair"] for row in made]:
            made.append({"pair": p, "network": "published", **_cells(printed[study.PAIRS[p]])})
        lost = [100 * u[s]["saturated"] / u[s]["tried"] if u[s]["tried"] else np.nan
                for s in ("train", "test")]
        key = (p, n, u["length"], u["again"])
        made.append({"pair": p, "network": in_words(n), "epochs": str(u["length"]), "seed": str(u["again"]),
                     **_cells(study.measured(u, zero=False)), "zero": "{:.1f} / {:.1f}".format(*lost),
                     "score": told[*key, False], "score_zero": told[*key, True]})
    return made


def _cells(found):
    """Accuracy, share and norm of both sets as one text each."""
    if found is None:
        return {}
    both = {what: [found[s, what] for s in ("train", "test")] for what in SHORT}
    return {what: "{:.1f} / {:.1f}".format(*both[what]) for what in ("accuracy", "share")} | {
        "norm": " / ".join(f"{m:.2f} ({s:.2f})" for m, s in zip(both["mean"], both["std"]))}


def draw(units, printed, unit):
    """Deviations of each network by column; None without networks."""
    there = [(u, p, n, found) for u, p, n in entries(units)
             if (found := study.measured(u, zero=False)) is not None]
    if not there:
        return None
    off = np.array([[(found[c] - printed[study.PAIRS[p]][c]) / unit[c] for c in study.COLUMNS]
                    for _, p, _, found in there])
    figure, ax = plt.subplots(figsize=(7.5, 1.6 + 0.3 * len(there)))
    image = ax.imshow(off, cmap="RdBu_r", vmin=-3, vmax=3, aspect="auto")
    for (y, x), value in np.ndenumerate(off):
        ax.text(x, y, f"{value:+.1f}", ha="center", va="center", fontsize=8,
                color="white" if abs(value) > 2 else "black")
    ax.set_xticks(range(len(study.COLUMNS)), [f"{SHORT[w]}\n{figures.SETS[s]}" for s, w in study.COLUMNS],
                  rotation=45, ha="right")
    ax.set_yticks(range(len(there)), [f"{p}: {in_words(n)}, {u['length']} epochs" for u, p, n, _ in there])
    ax.grid(False)
    figure.colorbar(image, label="standard deviations")
    return figure


def choice_in_words(units, printed, unit):
    """What the rule chooses, or what it waits for."""
    told = scores(units, printed, unit)
    of_screen = {n for p, n, *_ in told if p == "deer-horse"}
    waits = len(study.networks()) - len(of_screen)
    if waits:
        return (f"The screen has {figures.counted(len(of_screen), 'network')} of {len(study.networks())}; "
                "the rule chooses once it is complete.")
    epochs = min(length for _, _, length, _, _ in told)
    left = [wanted for wanted in study.runs(epochs) if (*wanted, False) not in told]
    if left:
        best = "; ".join(in_words(n) for n in study.best(told, list(study.PAIRS), 2))
        return (f"The screen and the second pair are complete; the best on both are: {best}. "
                f"{figures.counted(len(left), 'longer training')} of these (rule 4) are not there yet; the "
                "rule chooses then.")
    chosen = study.choice(told)
    if chosen is None:
        return "No network has an attack on both pairs, so that the rule chooses none."
    network, epochs, zero = chosen
    return (f"The rule chooses: {in_words(network)}, {epochs} epochs; images with a zero gradient count as "
            f"{'attackable' if zero else 'not attackable'}.")


def minute(run, trained, printed, unit):
    """The box of the page."""
    units = run.best(trained)
    told = scores(units, printed, unit) if len(units) else {}
    told = {key: value for key, value in told.items() if value is not None}
    question = "Which reading of Table 2 gives the published accuracies, attackable shares and norms?"
    if not told:
        return run.minute(f"{question} No network is measured yet.")
    key = min(told, key=told.get)
    pair, network, epochs, _, zero = key
    text = (f"{question} Of {figures.counted(len(units), 'network')} measured so far, the nearest on "
            f"*{pair}* has {in_words(network)} and {figures.counted(epochs, 'epoch')}, with images of "
            f"zero gradient counted as {'attackable' if zero else 'not attackable'} (score "
            f"{display.number(told[key], digits=3)}; 0 is the published network). "
            f"{choice_in_words(units, printed, unit)} The authors' code is not known.")
    return run.minute(text, picture=draw(units, printed, unit), alt="A heat map: rows are networks, columns "
                      "are the deviations from the published values.")
