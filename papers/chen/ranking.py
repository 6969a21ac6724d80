"""How well quantities rank the networks of `chen`: coefficients with attack success, intervals.

No coefficient is given of fewer networks than the published table has.
"""
import numpy as np
import pandas as pd
from scipy import stats

from papers.chen import experiments, figures
from shared.statistics import rank_correlations

COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
PRINTED = experiments.PAPER["table-1"].rows
FEWER = "fewer than {asked} networks are measured"


# ---- coefficients ----------------------------------------------------------------------------------------
def agreement(x, y):
    """Coefficients of two columns; None of a column that is constant or has a gap."""
    x, y = (np.asarray(column, float) for column in (x, y))
    if len(x) < 2 or not np.isfinite(x + y).all() or np.ptp(x) == 0 or np.ptp(y) == 0:
        return dict.fromkeys(COEFFICIENTS)
    return {"pearson": float(stats.pearsonr(x, y)[0]), "spearman": float(stats.spearmanr(x, y)[0]),
            "kendall": float(stats.kendalltau(x, y)[0])}


def coefficients(rows, pairs, *, asked=figures.TEN, kind="pearson"):
    """`{data set: {name: coefficient, "status": why there is none, or "<name>_status": why one is none}}`.

    pairs  {name: (one column, another)}
    """
    there, made = figures.complete(rows, asked), {}
    for data in experiments.DATASETS.values():
        if (mine := there.get(data)) is None:
            made[data] = dict.fromkeys(pairs) | {"status": f"not run: {FEWER.format(asked=asked)}"}
            continue
        made[data] = {name: agreement(mine[x], mine[y])[kind] for name, (x, y) in pairs.items()}
        made[data] |= {f"{name}_status": f"not run: {_gap(mine, pairs[name])}"
                       for name, value in made[data].items() if value is None}
    return made


def _gap(rows, columns):
    """Why two columns of networks have no coefficient."""
    if any(rows[name].isna().any() for name in columns):
        return "a measure has no value on one of the networks"
    flat = next(name for name in columns if rows[name].nunique() == 1)
    return f"{'attack success' if flat.startswith('asr') else 'a measure'} is the same on all networks"


def correlations(norm):
    """Units -> rows of Table II or III."""
    pairs = {name: columns for name, columns in figures.PAIRS.items() if name.endswith(f"_{norm}")}
    return figures.with_lengths(lambda units: [
        {"dataset": data, **found} for data, found in coefficients(figures.table_1(units), pairs).items()])


@figures.with_lengths
def table_4(units):
    """A row an attack: means over the data sets, none where one of them has no coefficient."""
    made = []
    for attack in ("asr_2", "asr_inf"):
        pairs = {name: (attack, name) for name in ("roby_2", "roby_inf")}
        found = pd.DataFrame(coefficients(figures.table_1(units), pairs).values())[list(pairs)].astype(float)
        means = dict(found.mean(skipna=False))
        made.append({"attack_success": attack, **means, **{
            f"{name}_status": "not run: one of the data sets has no coefficient"
            for name, value in means.items() if np.isnan(value)}})
    return made


def ranks(rows):
    """Rank correlations of Table I in each data set whose ten networks are there."""
    return coefficients(rows, figures.PAIRS | {"attacks": ("asr_inf", "asr_2")}, kind="spearman")


def of_cnns(rows):
    """Data sets with their four CNNs: attack success by network, and coefficients.

    None of fewer, and where attack success is the same on all.
    """
    made, there = {}, figures.complete(rows, len(figures.CNNS))
    ranks = coefficients(rows, {"spearman": ("asr", "roby")}, asked=len(figures.CNNS), kind="spearman")
    pearson = coefficients(rows, {"pearson": ("asr", "roby")}, asked=len(figures.CNNS))
    for data in experiments.DATASETS.values():
        mine = there[data].set_index("model") if data in there and there[data].asr.nunique() > 1 else None
        made[data] = ranks[data] | pearson[data] | {
            name.replace("-", "").lower(): None if mine is None else 100 * float(mine.asr[name])
            for name in figures.CNNS}
    return made


# ---- figures ---------------------------------------------------------------------------------------------
def drawn(columns):
    """Units -> a panel a data set with these columns of Table I, sorted by the first."""
    return lambda units: figures.draw_networks(figures.table_1(units), columns, sort=next(iter(columns)))


def of_figure(columns):
    """Units -> how many panels and series of Table I are drawn, and rank correlations of the series."""
    pairs = {f"{a}_{b}": (a, b) for a in columns for b in columns if a < b}
    return figures.with_lengths(lambda units: {
        "panels": len({*figures.table_1(units).get("dataset", ())}), "series": len(columns),
        "ranks": coefficients(figures.table_1(units), pairs, kind="spearman")})


def of_series(norm):
    """What `run.figure` takes for Figure 2 or 3."""
    series = figures.SERIES[norm]
    return {"draw": drawn(series), "data": of_figure(series),
            "alt": "For each data set, attack success, FSA, FSD and ROBY in the "
                   f"{figures.NORMS[norm]} form over the networks.",
            "contains": {"one panel per dataset": lambda d: d["panels"] == len(experiments.DATASETS),
                         "of ten models": lambda d: d["series"] == 1 + len(figures.METRICS)}}


def picture(units, attack):
    """For a box: the success of an attack and ROBY over the networks, and its alternative text."""
    success = f"asr_{attack}"
    series = {success: f"ASR, {figures.ATTACKS[attack]}", "roby_2": "ROBY, L2"}
    return {"picture": figures.draw_networks(figures.networks(units), series, sort=success),
            "alt": "Attack success and ROBY over the networks, in the order of attack success."}


# ---- intervals -------------------------------------------------------------------------------------------
# What may rank networks: its name, and the sign of its correlation with attack success if it ranks them well.
QUANTITIES = {"roby_2": ("ROBY, L2", 1), "roby_inf": ("ROBY, L∞", 1), "fsa_2": ("FSA, L2", -1),
              "fsd_2": ("FSD, L2", -1), "overlap_2": ("overlap / mean centre distance, L2", 1),
              "acc": ("accuracy", -1), "margin": ("mean margin of the logits", -1),
              "near_random": ("boundary distance in random directions, RMS", -1),
              "near_gradient": ("boundary distance along the gradient, L2", -1)}
APART = {"third": "PGD at ε/3", "code": "10 steps of 2"}   # L∞ attacks that flip unlike shares of networks


def ranked(x, y, *, draws=1_000):
    """`agreement` of two columns over networks, with Spearman's 95% interval over resampled networks."""
    x, y = (np.asarray(column, float) for column in (x, y))
    chosen = np.random.default_rng(0).integers(len(x), size=(draws, len(x)))
    low, high = interval(x[chosen], y[chosen])
    return agreement(x, y) | {"low": low, "high": high}


def rank_agreement(units, attack="third", *, draws=1_000):
    """Rows (data set, quantity): coefficients with the success of an attack, and 95% intervals of Spearman's.

    over networks: the networks of a data set are drawn with replacement; over images: the images of metrics
    and attacks are, alike for all networks. Data sets that lack one of the ten have no row.
    """
    rows, made = figures.networks(units), []
    for data, mine in figures.complete(rows, figures.TEN).items():
        drawn = [units.iloc[n] for n in mine.index]
        rates = _rates(drawn, attack, draws)
        for name, (words, sign) in QUANTITIES.items():
            told = {"data set": data, "quantity": words, "sign": sign,
                    **ranked(mine[name], mine[f"asr_{attack}"], draws=draws)}
            metric, norm = name.rsplit("_", 1) if "_" in name else (name, "")
            if metric in figures.RESAMPLED:
                column = figures.RESAMPLED.index(metric)
                again = np.stack([np.asarray(u["resampled_test"][norm])[:draws, column] for u in drawn], 1)
                told |= dict(zip(("low, images", "high, images"), interval(again, rates[:len(again)])))
            made.append(told | {"networks": spanned(told), "images": spanned(told, ", images"),
                                "r": _two(told["pearson"])})
    return made


HEADER = {"data set": "data set", "quantity": "quantity", "sign": "sign of a good measure",
          "networks": "Spearman (95% interval, other networks)",
          "images": "Spearman's 95% interval, other test images of the same networks", "r": "Pearson"}


def by_features(units):
    """Rows (data set, features and classes): how ROBY ranks the networks by each reading of the text.

    For both norms and each attack of `APART`, Spearman's coefficient with its interval over networks.
    """
    rows, made = figures.networks(units), []
    for data, mine in figures.complete(rows, figures.TEN).items():
        for reading, how in figures.VARIANTS.items():
            found = pd.DataFrame([figures.metrics(units.iloc[n]["classes_test"], *how) for n in mine.index])
            told = {"data set": data, "reading": reading}
            for norm in figures.NORMS:
                for attack in APART:
                    name = f"{attack}_{norm}"
                    rank = ranked(found[f"roby_{norm}"], mine[f"asr_{attack}"])
                    told |= {name: spanned(rank)} | {f"{name}_{k}": rank[k]
                                                     for k in ("spearman", "low", "high")}
            made.append(told)
    return made


READINGS = {"data set": "data set", "reading": "features, classes"} | {
    f"{attack}_{norm}": f"ROBY, {figures.NORMS[norm]}: {words}"
    for norm in reversed(figures.NORMS) for attack, words in APART.items()}


def _two(value):
    return "" if value is None or np.isnan(value) else f"{value:.2f}"


def spanned(told, which=""):
    """Spearman's coefficient with its interval: "0.75 (0.21 to 0.96)"; of `which` the interval alone."""
    low, high = (told.get(f"{end}{which}") for end in ("low", "high"))
    if low is None or told["spearman"] is None:
        return ""
    span = f"{low:.2f} to {high:.2f}"
    return span if which else f"{_two(told['spearman'])} ({span})"


def interval(x, y):
    """2.5 and 97.5% quantiles of Spearman's coefficient of the rows of x and y [draws, n]; None of none.

    Rows that are constant or have a gap have no coefficient.
    """
    found = rank_correlations(np.asarray(x, float), np.asarray(y, float))
    found = found[np.isfinite(found)]
    return tuple(map(float, np.quantile(found, (0.025, 0.975)))) if len(found) else (None, None)


def _rates(units, attack, draws):
    """Attack success of each unit over `draws` resamples of its images, the same for all: [draws, units]."""
    count = min(len(u["labels"]) for u in units)
    times = np.random.default_rng(1).multinomial(count, np.full(count, 1 / count), draws)
    correct = np.stack([np.asarray(u["correct"], bool)[:count] for u in units], 1)
    wrong = np.stack([(np.asarray(u["attacks"][attack]["predicted"]) != np.asarray(u["labels"]))[:count]
                      for u in units], 1)
    return (times @ (correct & wrong)) / np.maximum(times @ correct, 1)


def attacks(units):
    """Rows (data set, attack): success on the ten networks, the published one, and rank correlations."""
    rows, made = figures.networks(units), []
    for data, mine in figures.complete(rows, figures.TEN).items():
        printed = pd.DataFrame([row for row in PRINTED if row["dataset"] == data]).set_index("model")
        for name, words in figures.ATTACKS.items():
            theirs = 100 * mine.model.map(printed[f"asr_{'inf' if name in LINF else '2'}"])
            rate = 100 * mine[f"asr_{name}"]
            made.append({"data set": data, "attack": words, "n": len(mine),
                         "ours": figures.between(rate), "paper": figures.between(theirs),
                         "off": f"{(rate - theirs).abs().mean():.0f}",
                         "by_paper": spanned(ranked(rate, theirs)),
                         "by_third": "" if name == "third" else spanned(ranked(rate, mine.asr_third))})
    return made


LINF = "text", "third", "code"    # attacks of the L∞ form; the others are readings of the L2 form
ATTACKS = {"data set": "data set", "attack": "attack", "n": "networks", "ours": "success",
           "paper": "published", "off": "mean absolute difference, points",
           "by_paper": "rank correlation with the published success", "by_third": "with success at ε/3"}


def suspected(units):
    """A row a reading of the text's PGD: success on each network (percent), and how far from the published.

    `deviation` is the mean absolute one in points, over the networks that have the reading.
    """
    printed = {row["model"]: 100 * row["asr_inf"] for row in PRINTED if row["dataset"] == "MNIST"}
    rates = {}
    for u in units.to_dict("records"):
        model, labels = experiments.SPELT[u["model"]], np.asarray(u["labels"])
        found = {words: figures.success(u, name) for name, words in experiments.SUSPECTS.items()}
        found["share of all images"] = float((np.asarray(u["attacks"]["text"]["predicted"]) != labels).mean())
        if batch := u["batch_statistics"]:
            found["batch normalisation by the batch"] = batch["flipped"] / max(1, batch["correct"])
        for words, rate in found.items():
            rates.setdefault(words, {})[model] = 100 * rate
    return [{"reading": "published", **{m: printed[m] for m in next(iter(rates.values()), {})}}] + [
        {"reading": words, **mine, "deviation": float(np.mean([abs(mine[m] - printed[m]) for m in mine]))}
        for words, mine in rates.items()] if rates else []


def of_suspects(units):
    """For a sentence: the reading with the smallest deviation, and the text's; {} of fewer networks."""
    rows = {row["reading"]: row["deviation"] for row in suspected(units)[1:]}
    if len(units) < 3:
        return {}
    best, text = min(rows, key=rows.get), rows[experiments.SUSPECTS["text"]]
    return {"best": best, "off": rows[best], "text": text, "networks": len(units),
            "verdict": "It becomes the main reading" if rows[best] <= text / 2 else
                       "The text's reading stays the main one"}


def readings(units):
    """A row a network: the success of each attack, in percent of its n images."""
    success = [f"asr_{name}" for name in figures.ATTACKS]
    return figures.named(units, ["n", *success], percent=success)


EACH = figures.NAMED | {"n": "n"} | {f"asr_{name}": words for name, words in figures.ATTACKS.items()}
VALUES = figures.NAMED | {"asr_third": "ASR at ε/3, %"} | {
    name: words for name, (words, _) in QUANTITIES.items()}


# ---- sentences -------------------------------------------------------------------------------------------
def answer(units, data="MNIST"):
    """For sentences on the ten networks of a data set: which readings and attacks rank them how; {} of fewer.

    Beside `measured`: `logits`, `hidden` (as in the text) and `softmax` are rows of `by_features`, of which
    `clear_of_0` counts the intervals that exclude 0, as `clear` does for `rank_agreement`. `apart` ranks the
    two of `APART` by each other, `by_paper` the success in the L2 ball by the published one.
    """
    if (mine := figures.complete(figures.networks(units), figures.TEN).get(data)) is None:
        return {}
    reading = {row["reading"]: row for row in by_features(units) if row["data set"] == data}
    printed = {row["model"]: row["asr_2"] for row in PRINTED if row["dataset"] == data}
    ends = [(row[f"{attack}_{norm}_low"], row[f"{attack}_{norm}_high"])
            for row in reading.values() for attack in APART for norm in figures.NORMS]
    clear = {attack: _clear((row["low"], row["high"]) for row in rank_agreement(units, attack)
                            if row["data set"] == data) for attack in APART}
    return measured(units, data) | {
        "logits": reading["logits, true classes"],
        "hidden": reading["last hidden layer, predicted classes"],
        "softmax": reading["softmax outputs, true classes"],
        "clear_of_0": _clear(ends), "tried": len(ends), "chance": 0.05 * len(ends), "clear": clear,
        "quantities": len(QUANTITIES), "apart": spanned(ranked(mine.asr_third, mine.asr_code)),
        "by_paper": spanned(ranked(mine.asr_ball, mine.model.map(printed)))}


def _clear(ends):
    """How many intervals exclude 0."""
    return sum(low is not None and low * high > 0 for low, high in ends)


def measured(units, data="MNIST"):
    """For sentences: the networks on a data set, what attacks flip on them, how large their training was."""
    rows = figures.networks(units)
    left = [name for name in experiments.DATASETS.values() if not len(rows) or name not in {*rows.dataset}]
    rows = rows[rows.dataset == data] if len(rows) else rows
    return {} if not len(rows) else {
        "networks": len(rows), "all": figures.TEN, "names": ", ".join(rows.model), "data": data,
        "left": ", ".join(left) or "none",
        **{size: int(units[size].max()) for size in experiments.natural.sizes},
        "epochs": figures.spans(rows.epochs),
        **{name: figures.between(100 * rows[f"asr_{name}"]) for name in figures.ATTACKS}}
