"""How well quantities rank the networks of `chen`: coefficients with attack success, intervals.

No coefficient is given of fewer networks than the published table has.
"""
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

from papers.chen import experiments, figures
from report import display
from report.cell import Cell, bare
from shared.statistics import rank_correlations

PRINTED = experiments.PAPER["table-1"].rows
FEWER = "fewer than {asked} networks are measured"


def published(column, data):
    """A success rate of Table I on a data set, in percent: `{network: value}`."""
    return {row["model"]: 100 * row[column] for row in PRINTED if row["dataset"] == data}


# ---- coefficients ----------------------------------------------------------------------------------------
def agreement(x, y, measure=stats.spearmanr):
    """A coefficient of two columns, Spearman's or another; None where one is constant or has a gap."""
    x, y = (np.asarray(column, float) for column in (x, y))
    if len(x) < 2 or not np.isfinite(x + y).all() or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(measure(x, y)[0])


def coefficients(rows, pairs, *, asked=figures.TEN, measure=stats.pearsonr):
    """`{data set: {name: coefficient, or a `Cell` with why it is none, "status": of all}}`.

    The status says why there are none, or that networks among them are not trained to an accuracy.

    pairs  {name: (one column, another)}
    """
    whole, result = figures.complete(rows, asked), {}
    for data in experiments.DATASETS.values():
        if data not in whole:
            result[data] = dict.fromkeys(pairs) | {"status": f"not measured: {FEWER.format(asked=asked)}"}
            continue
        cells = {name: agreement(whole[data][x], whole[data][y], measure) for name, (x, y) in pairs.items()}
        result[data] = cells | {name: Cell(status=f"not measured: {_gap(whole[data], pairs[name])}")
                                for name, value in cells.items() if value is None} | {
            "status": figures.shortest(whole[data].status)}
    return result


def _gap(rows, columns):
    """Why two columns of networks have no coefficient."""
    if any(rows[name].isna().any() for name in columns):
        return "a measure has no value on one of the networks"
    flat = next(name for name in columns if rows[name].nunique() == 1)
    return f"{'attack success' if flat.startswith('asr') else 'a measure'} is the same on all networks"


def correlations(norm):
    """Runs -> rows of Table II or III."""
    pairs = {name: columns for name, columns in figures.PAIRS.items() if name.endswith(f"_{norm}")}
    return figures.with_lengths(lambda runs: [
        {"dataset": data, **cells} for data, cells in coefficients(figures.table_1(runs), pairs).items()])


@figures.with_lengths
def table_4(runs):
    """A row an attack: means over the data sets, none where one of them has no coefficient."""
    result = []
    for attack in ("asr_2", "asr_inf"):
        pairs = {name: (attack, name) for name in ("roby_2", "roby_inf")}
        by_data = pd.DataFrame(bare([*coefficients(figures.table_1(runs), pairs).values()]))
        means = by_data[list(pairs)].astype(float).mean(skipna=False)
        result.append({"attack_success": attack, "status": figures.shortest(by_data.status)} | {
            name: Cell(status="not measured: a data set has no coefficient") if np.isnan(mean) else mean
            for name, mean in means.items()})
    return result


def ranks(rows):
    """Rank correlations of Table I in each data set whose ten networks are there."""
    return coefficients(rows, figures.PAIRS | {"attacks": ("asr_inf", "asr_2")}, measure=stats.spearmanr)


def of_cnns(rows):
    """Data sets with their four CNNs: coefficients of attack success and ROBY.

    None of fewer, and where attack success is the same on all.
    """
    asked = len(figures.CNNS)
    ranks = coefficients(rows, {"spearman": ("asr", "roby")}, asked=asked, measure=stats.spearmanr)
    pearson = coefficients(rows, {"pearson": ("asr", "roby")}, asked=asked)
    return {data: ranks[data] | pearson[data] for data in ranks}


def of_series(columns, what):
    """What `page.figure` takes for Figures 2 to 4: columns of Table I, a panel a data set.

    Its data are how many panels and series are drawn, and rank correlations of the series.
    """
    pairs, first = {f"{a}_{b}": (a, b) for a in columns for b in columns if a < b}, next(iter(columns))
    return {"draw": lambda runs: figures.draw_networks(figures.table_1(runs), columns, sort=first),
            "data": figures.with_lengths(lambda runs: {
                "panels": figures.table_1(runs).dataset.nunique(), "series": len(columns),
                "ranks": coefficients(figures.table_1(runs), pairs, measure=stats.spearmanr)}),
            "alt": f"For each data set, {what} over the networks."}


# ---- intervals -------------------------------------------------------------------------------------------
# What may rank networks: its name, and the sign of its correlation with attack success if it ranks them well.
QUANTITIES = {"roby_2": ("ROBY, L2", 1), "roby_inf": ("ROBY, L∞", 1), "fsa_2": ("FSA, L2", -1),
              "fsd_2": ("FSD, L2", -1), "overlap_2": ("overlap / mean centre distance, L2", 1),
              "acc": ("accuracy", -1), "margin": ("mean margin of the logits", -1),
              "near_random": ("boundary distance in random directions, RMS", -1),
              "near_gradient": ("boundary distance along the gradient, L2", -1)}
APART = {"third": "PGD at ε/3", "code": "10 L∞ steps of 2"}   # L∞ attacks that flip unlike shares of networks


def ranked(x, y, chosen=None):
    """Spearman's coefficient of two columns over networks, and its 95% interval over resampled networks.

    chosen  rows of each resample; None: 1,000 resamples, the same for every pair of columns of this length
    """
    x, y = (np.asarray(column, float) for column in (x, y))
    if chosen is None:
        chosen = np.random.default_rng(0).integers(len(x), size=(1_000, len(x)))
    low, high = interval(x[chosen], y[chosen])
    return {"spearman": agreement(x, y), "low": low, "high": high}


def rank_agreement(runs):
    """Rows (data set, quantity): rank correlation with the success of PGD at ε/3, and its 95% interval.

    The networks of a data set are drawn with replacement. Data sets that lack one of the ten have no row.
    """
    rows = []
    for data, nets in figures.complete(figures.networks(runs), figures.TEN).items():
        for name, (words, sign) in QUANTITIES.items():
            rank = ranked(nets[name], nets.asr_third)
            rows.append({"data set": data, "quantity": words, "sign": sign} | rank | {
                "networks": spanned(rank)})
    return rows


HEADER = {"data set": "data set", "quantity": "quantity", "sign": "sign of a good measure",
          "networks": "Spearman (95% interval over resampled networks)"}


OVER_SEEDS = (      # with the facts of `over_seeds`
    "Over {seeds} trainings of {model} on {data} by the same rule with other seeds, ROBY (L2) goes from "
    "{roby_2_seeds} and the success at ε/3 from {asr_third_seeds}; over the {all} networks, each trained "
    "once, from {roby_2_all} and from {asr_third_all}.")


def over_seeds(runs, again):
    """`{data set: facts}`: ROBY and attack success of trainings of one network that differ in their seed.

    again   further trainings of one network on each data set; of fewer than two there are no facts
    """
    if not len(again):
        return {}
    networks, facts = figures.networks(runs), {}
    for data, trained in figures.networks(again).groupby("dataset", sort=False):
        others = networks[networks.dataset == data]
        same = pd.concat([trained, others[others.model == trained.model.iloc[0]]])
        if len(trained) > 1:
            facts[data] = {"data": data, "seeds": len(same), "all": len(others),
                           "model": trained.model.iloc[0]} | {
                f"{name}_{who}": figures.between(unit * nets[name], "%" * (unit > 1), 2)
                for name, unit in (("roby_2", 1), ("asr_third", 100))
                for who, nets in (("seeds", same), ("all", others))}
    return facts


def by_features(runs):
    """Rows (data set, features and classes): how ROBY ranks the networks by each reading of the text.

    For both norms and each attack of `APART`, Spearman's coefficient with its interval over networks.
    """
    rows = []
    for data, nets in figures.complete(figures.networks(runs), figures.TEN).items():
        for reading, how in figures.VARIANTS.items():
            values = pd.DataFrame([figures.metrics(runs.iloc[n]["classes_test"], *how) for n in nets.index])
            rows.append({"data set": data, "reading": reading})
            for name, attack, norm in ((f"{a}_{n}", a, n) for n in figures.NORMS for a in APART):
                rank = ranked(values[f"roby_{norm}"], nets[f"asr_{attack}"])
                rows[-1] |= {name: spanned(rank), f"{name}_rank": rank}
    return rows


READINGS = {"data set": "data set", "reading": "features, classes"} | {
    f"{attack}_{norm}": f"ROBY, {figures.NORMS[norm]}: {words}"
    for norm in reversed(figures.NORMS) for attack, words in APART.items()}


def spanned(rank):
    """Spearman's coefficient with its interval: "0.75 (0.21 to 0.96)"; nothing of none."""
    return "" if None in rank.values() else "{spearman:.2f} ({low:.2f} to {high:.2f})".format(**rank)


def interval(x, y):
    """2.5 and 97.5% quantiles of Spearman's coefficient of the rows of x and y [draws, n]; None of none.

    Rows that are constant or have a gap have no coefficient.
    """
    ranks = rank_correlations(np.asarray(x, float), np.asarray(y, float))
    ranks = ranks[np.isfinite(ranks)]
    return tuple(map(float, np.quantile(ranks, (0.025, 0.975)))) if len(ranks) else (None, None)


def attacks(runs):
    """Rows (data set, attack): success on the ten networks, the published one, and rank correlations.

    An attack that was not made on all ten has no row.
    """
    rows = []
    for data, nets in figures.complete(figures.networks(runs), figures.TEN).items():
        for name, words in figures.ATTACKS.items():
            rate = 100 * nets[f"asr_{name}"]
            if rate.isna().any():
                continue
            linf = name in ("text", "signed", "third", "code")    # the others are readings of the L2 form
            paper = nets.model.map(published("asr_inf" if linf else "asr_2", data))
            rows.append({"data set": data, "attack": words, "n": len(nets),
                         "ours": figures.between(rate), "paper": figures.between(paper),
                         "off": f"{(rate - paper).abs().mean():.0f}",
                         "by_paper": spanned(ranked(rate, paper)),
                         "by_third": "" if name == "third" else spanned(ranked(rate, nets.asr_third))})
    return rows


ATTACKS = {"data set": "data set", "attack": "attack", "n": "networks", "ours": "success",
           "paper": "published", "off": "mean absolute difference, points",
           "by_paper": "rank correlation with the published success", "by_third": "with success at ε/3"}


def suspected(runs):
    """A row a reading of the text's PGD: success on each network (percent), and how far from the published.

    `deviation` is the mean absolute one in points, over the networks that have the reading.
    """
    paper, rates = published("asr_inf", "MNIST"), {}
    for u in runs.to_dict("records"):
        shares = {words: figures.success(u, name) for name, words in experiments.SUSPECTS.items()}
        shares["share of all images"] = float(np.mean(
            np.asarray(u["attacks"]["text"]["predicted"]) != np.asarray(u["labels"])))
        if batch := u["batch_statistics"]:
            shares["batch normalisation by the batch"] = batch["flipped"] / max(1, batch["correct"])
        for words, share in shares.items():
            rates.setdefault(words, {})[experiments.SPELT[u["model"]]] = 100 * share
    return [{"reading": "published", **{m: paper[m] for m in next(iter(rates.values()))}}] + [
        {"reading": words, **nets, "deviation": float(np.mean([abs(nets[m] - paper[m]) for m in nets]))}
        for words, nets in rates.items()]


def of_suspects(runs):
    """For a sentence: the reading with the smallest deviation, and the text's; {} of fewer networks."""
    rows = {row["reading"]: row["deviation"] for row in suspected(runs)[1:]}
    best = min(rows, key=rows.get, default=None)
    text = rows.get(experiments.SUSPECTS["text"])
    return {} if len(runs) < 3 else {
        "best": best, "off": rows[best], "networks": len(runs), "text": text, "most": text / 2,
        "taken": "it is the main one" if rows[best] <= text / 2 else "the text's PGD stays"}


VALUES = figures.NETWORK | {"asr_third": "ASR at ε/3, %"} | {
    name: words for name, (words, _) in QUANTITIES.items()}


# ---- sentences -------------------------------------------------------------------------------------------
def answer(runs, data="MNIST"):
    """For sentences on the ten networks of a data set: which readings and attacks rank them how; {} of fewer.

    Beside `measured`: `logits`, `hidden` (as in the text) and `softmax` are rows of `by_features`, of which
    `above_0` and `below_0` count the intervals on either side of 0. `clear` names those of `rank_agreement`
    that exclude 0. `apart` ranks the two of `APART` by each other.
    """
    if (nets := figures.complete(figures.networks(runs), figures.TEN).get(data)) is None:
        return {}
    reading = {row["reading"]: row for row in by_features(runs) if row["data set"] == data}
    ranks = [row[f"{attack}_{norm}_rank"]
             for row in reading.values() for attack in APART for norm in figures.NORMS]
    clear = [f"{row['quantity']} ({row['spearman']:.2f}, a good measure has the "
             f"{'same' if row['spearman'] * row['sign'] > 0 else 'opposite'} sign)"
             for row in rank_agreement(runs) if row["data set"] == data and any(_sides([row]).values())]
    return measured(runs, data) | {
        "logits": reading["logits, true classes"],
        "hidden": reading["last hidden layer, predicted classes"],
        "softmax": reading["softmax outputs, true classes"],
        **_sides(ranks), "tried": len(ranks), "chance": 0.05 * len(ranks),
        "clear": " and ".join(clear) or "none", "quantities": len(QUANTITIES),
        "apart": spanned(ranked(nets.asr_third, nets.asr_code))}


def _sides(ranks):
    """How many intervals lie above 0 and how many below."""
    ends = [(rank["low"], rank["high"]) for rank in ranks if rank["low"] is not None]
    return {"above_0": sum(low > 0 for low, _ in ends), "below_0": sum(high < 0 for _, high in ends)}


def measured(runs, data="MNIST"):
    """For sentences: the networks on a data set, what attacks flip on them, how large their training was."""
    rows = figures.networks(runs)
    nets = rows[rows.dataset == data]
    return {} if not len(nets) else {
        "networks": len(nets), "all": figures.TEN, "data": data,
        **{size: figures.between(sizes, unit="", digits=9)
           for size, sizes in runs.loc[(rows.dataset == data).values, [*experiments.natural.sizes]].items()},
        "epochs": figures.between(nets.epochs, unit=""), "accuracy": figures.between(100 * nets.acc),
        **{name: figures.between(100 * nets[f"asr_{name}"]) for name in figures.ATTACKS}}


# ---- boxes -----------------------------------------------------------------------------------------------
def _trainings(runs, again, data):
    """`networks` of a data set, and the trainings of one of them that differ in their seed, it included."""
    nets = figures.networks(runs)
    nets = nets[nets.dataset == data]
    if not len(again) or not len(nets):
        return nets, nets[:0]
    others = figures.networks(again)
    others = others[others.dataset == data]
    return nets, pd.concat([nets[nets.model.isin(others.model)], others])


def box_facts(runs, again, data="MNIST"):
    """For the box: how ROBY ranks the ten networks of a data set, and its range over them and over seeds."""
    nets, seeds = _trainings(runs, again, data) if len(runs) else ((), ())
    if len(nets) != figures.TEN or len(seeds) < 2:
        return {}
    printed = pd.DataFrame([row for row in PRINTED if row["dataset"] == data])
    return ranked(nets.roby_2, nets.asr_third) | {
        "data": data, "networks": len(nets), "seeds": len(seeds),
        "paper": abs(agreement(printed.roby_2, printed.asr_2)),
        **{f"{who}_{end}": value for who, some in (("all", nets), ("seeds", seeds))
           for end, value in (("low", some.roby_2.min()), ("high", some.roby_2.max()))}}


def draw_box(runs, again, data="MNIST"):
    """ROBY over attack success: a dot a network, small dots for further trainings of one of them."""
    nets, seeds = _trainings(runs, again, data)
    figure, ax = plt.subplots(figsize=(4.8, 3.4))
    x, y = 100 * nets.asr_third, nets.roby_2
    ax.plot([x.min(), x.max()], [y.min(), y.max()], "--", color=display.GUIDE, label="as the paper claims")
    ax.plot(x, y, "o", ms=7, color=display.PALETTE[0], label="ten networks")
    ax.plot(100 * seeds.asr_third, seeds.roby_2, "o", ms=4, color=display.PALETTE[1],
            label=f"{len(seeds)} trainings of {seeds.model.iloc[0]}")
    ax.set(xlabel="success of the attack, %", ylabel="ROBY")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def capacity_facts(runs, again, published, data="MNIST"):
    """For the box on size: ROBY over the networks, over trainings of one, and published; attack success.

    `unlike` says whether the networks were trained by different rules.
    """
    nets, seeds = _trainings(runs, again, data)
    if not len(nets) or len(seeds) < 2:
        return {}
    wide = nets.set_index("model").loc[list(figures.WIDER)].asr_third * 100
    printed = [row["roby"] for row in published.values()]
    return {"sizes": len(nets), "seeds": len(seeds), "first": wide.iloc[0], "last": wide.iloc[-1],
            "unlike": nets.status.notna().any(),
            "sizes_low": nets.roby_2.min(), "sizes_high": nets.roby_2.max(),
            "seeds_low": seeds.roby_2.min(), "seeds_high": seeds.roby_2.max(),
            "paper_low": min(printed), "paper_high": max(printed)}


def draw_sizes(runs, again, published, data="MNIST"):
    """ROBY of each network, the published value as a cross, and further trainings of one as small dots."""
    nets, seeds = _trainings(runs, again, data)
    figure, ax = plt.subplots(figsize=(4.8, 3.4))
    place = {model: n for n, model in enumerate(published)}
    ax.plot(nets.model.map(place), nets.roby_2, "o", ms=7, color=display.PALETTE[0], label="ours")
    ax.plot(seeds.model.map(place), seeds.roby_2, "o", ms=4, color=display.PALETTE[1],
            label=f"{len(seeds)} trainings of {seeds.model.iloc[0]}")
    ax.plot(place.values(), [row["roby"] for row in published.values()], "x", color="k", label="paper")
    ax.set_xticks(list(place.values()), place, rotation=25, ha="right")
    ax.set(ylabel="ROBY")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
