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
from shared.statistics import rank_interval

PRINTED = experiments.PAPER["table-1"].rows
FEWER = "fewer than {asked} networks are measured"
MNIST = experiments.DATASETS["mnist"]    # of the sentences and boxes: all ten networks are measured on it


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
            "alt": f"For each measured data set, {what} over the networks."}


# ---- intervals -------------------------------------------------------------------------------------------
# What may rank networks: its name, and the sign of its correlation with attack success if it ranks them well.
QUANTITIES = {"roby_2": ("ROBY, L2", 1), "roby_inf": ("ROBY, L∞", 1), "fsa_2": ("FSA, L2", -1),
              "fsd_2": ("FSD, L2", -1), "overlap_2": ("unscaled overlap, L2", 1),
              "acc": ("accuracy", -1), "margin": ("mean margin of the logits", -1),
              "near_random": ("boundary distance, random directions", -1),
              "near_gradient": ("boundary distance, along the gradient", -1)}
# L∞ attacks that flip unlike shares of networks.
APART = {"third": "the weaker attack", "code": "the attack of the authors' later code"}


def ranked(x, y):
    """Spearman's coefficient of two columns over networks, and its 95% interval; None where it has none."""
    rank = agreement(x, y)
    low, high = (None, None) if rank is None else rank_interval(rank, len(x))
    return {"spearman": rank, "low": low, "high": high}


def rank_agreement(runs):
    """Rows (data set, quantity): rank correlation with attack success at a third of ε, and its 95% interval.

    Data sets that lack one of the ten have no row.
    """
    rows = []
    for data, nets in figures.complete(figures.networks(runs), figures.TEN).items():
        for name, (words, sign) in QUANTITIES.items():
            rank = ranked(nets[name], nets.asr_third)
            rows.append({"data set": data, "quantity": words, "sign": sign} | rank | {
                "networks": spanned(rank)})
    return rows


HEADER = {"data set": "data set", "quantity": "quantity", "sign": "wanted sign",
          "networks": "Spearman (95% interval over networks)"}


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
           "by_paper": "rank correlation with the published success",
           "by_third": "with success at a third of the strength"}


def suspected(runs):
    """A row a reading of the text's PGD: success on each network (percent), and how far from the published.

    `deviation` is the mean absolute one in points; None where a network does not have the reading.
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
        {"reading": words, **nets, "deviation": float(np.mean([abs(nets[m] - paper[m]) for m in nets]))
         if len(nets) == len(runs) else None} for words, nets in rates.items()]


def of_suspects(runs):
    """For a sentence: the reading with the smallest deviation, and the text's; {} of fewer networks."""
    rows = {row["reading"]: row["deviation"] for row in suspected(runs)[1:] if row["deviation"] is not None}
    best = min(rows, key=rows.get, default=None)
    text = rows.get(experiments.SUSPECTS["text"])
    return {} if len(runs) < 3 else {
        "best": best, "off": rows[best], "networks": len(runs), "text": text,
        "taken": "it replaces the text's" if rows[best] <= text / 2 else "the text's stays"}


VALUES = figures.NETWORK | {"asr_third": "flipped at a third of the strength, %"} | {
    name: words for name, (words, _) in QUANTITIES.items()}


# ---- sentences -------------------------------------------------------------------------------------------
def answer(runs):
    """For sentences on the ten networks of `MNIST`: which readings and attacks rank them how; {} of fewer.

    `logits` is the row of `by_features` with true classes; `above_0` and `below_0` count the intervals of all
    its rows on either side of 0. `clear` names those of `rank_agreement`
    that exclude 0, with 1 for the right order. `apart` ranks the two of `APART` by each other.
    """
    if (nets := figures.complete(figures.networks(runs), figures.TEN).get(MNIST)) is None:
        return {}
    reading = {row["reading"]: row for row in by_features(runs) if row["data set"] == MNIST}
    ranks = [row[f"{attack}_{norm}_rank"]
             for row in reading.values() for attack in APART for norm in figures.NORMS]
    clear = [f"{row['quantity']} ({row['sign'] * row['spearman']:.2f})".replace("(-", "(−")
             for row in rank_agreement(runs) if row["data set"] == MNIST and any(_sides([row]).values())]
    return {
        "logits": reading["logits, true classes"],
        **_sides(ranks), "tried": len(ranks),
        "clear": "; ".join(clear) or "none", "quantities": len(QUANTITIES),
        "apart": spanned(ranked(nets.asr_third, nets.asr_code))}


def _sides(ranks):
    """How many intervals lie above 0 and how many below."""
    ends = [(rank["low"], rank["high"]) for rank in ranks if rank["low"] is not None]
    return {"above_0": sum(low > 0 for low, _ in ends), "below_0": sum(high < 0 for _, high in ends)}


def measured(runs):
    """For sentences: the networks on `MNIST`, what attacks flip on them, how large their training was."""
    rows = figures.networks(runs)
    nets = rows[rows.dataset == MNIST]
    return {} if not len(nets) else {
        "data": MNIST, "counts": ", ".join(
            f"{(rows.dataset == name).sum()} of {figures.TEN} on {name}"
            for name in ("MNIST", "Fashion-MNIST", "CIFAR-10")),
        **{size: figures.between(sizes, unit="", digits=9)
           for size, sizes in runs.loc[(rows.dataset == MNIST).values, [*experiments.natural.sizes]].items()},
        "reached": ", ".join(f"{int(rows.matched[rows.dataset == name].sum())} on {name}"
                             for name in ("MNIST", "Fashion-MNIST", "CIFAR-10")),
        "epochs": figures.between(nets.epochs, unit=""), "accuracy": figures.between(100 * nets.acc),
        **{name: figures.between(100 * nets[f"asr_{name}"]) for name in ("text", "third")}}


# ---- boxes -----------------------------------------------------------------------------------------------
def trainings(runs, again, data):
    """`networks` of a data set, and the trainings of one of them that differ in their seed, it included.

    Of several networks that were trained again, the first one of `again`.
    """
    nets = figures.networks(runs)
    nets = nets[nets.dataset == data]
    if not len(again) or not len(nets):
        return nets, nets[:0]
    others = figures.networks(again)
    others = others[others.dataset == data]
    others = others[others.model == others.model.iloc[0]] if len(others) else others
    return nets, pd.concat([nets[nets.model.isin(others.model)], others])


def box_facts(runs, again):
    """For the box: how ROBY ranks the ten networks of `MNIST`, and its range over them and over seeds.

    The rank correlation is that of the L2 form; "linf" has that of the L∞ form. The attack is the weaker one.
    """
    nets, seeds = trainings(runs, again, MNIST) if len(runs) else ((), ())
    if len(nets) != figures.TEN or len(seeds) < 2:
        return {}
    printed = pd.DataFrame([row for row in PRINTED if row["dataset"] == MNIST])
    return ranked(nets.roby_2, nets.asr_third) | {
        "data": MNIST, "networks": len(nets), "linf": ranked(nets.roby_inf, nets.asr_third),
        "paper": min(agreement(printed[f"roby_{norm}"], printed[f"asr_{norm}"]) for norm in figures.NORMS),
        **{f"{who}_{end}": value for who, some in (("all", nets), ("seeds", seeds))
           for end, value in (("low", some.roby_2.min()), ("high", some.roby_2.max()))}}


def draw_box(runs, again):
    """ROBY over attack success: a dot a network, small dots for further trainings of one of them."""
    nets, seeds = trainings(runs, again, MNIST)
    figure, ax = plt.subplots(figsize=(4.8, 3.6))
    x, y = 100 * nets.asr_third, nets.roby_2
    ax.plot([x.min(), x.max()], [y.min(), y.max()], "--", color=display.GUIDE, label="equal orders rise")
    ax.plot(x, y, "o", ms=7, color=display.PALETTE[0], label="ten networks")
    ax.plot(100 * seeds.asr_third, seeds.roby_2, "o", ms=4, color=display.PALETTE[1],
            label=f"{len(seeds)} trainings of {seeds.model.iloc[0]}")
    ax.set(xlabel="success of the attack, %", ylabel="ROBY, Euclidean distances")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_published():
    """The published ROBY (L2) over the published success (L2), a panel a data set."""
    figure, axes = plt.subplots(1, len(experiments.DATASETS), figsize=(display.WIDEST, 2.4), sharey=True)
    for ax, data in zip(axes, experiments.DATASETS.values()):
        rows = [row for row in PRINTED if row["dataset"] == data]
        ax.plot([100 * row["asr_2"] for row in rows], [row["roby_2"] for row in rows], "o", ms=5,
                color=display.PRINTED)
        ax.set(title=data, xlabel="labels flipped, %")
    axes[0].set_ylabel("ROBY")
    return figure


def draw_success(runs, attacks, paper=None):
    """Success of attacks {name: words} on each network on `MNIST`, and the published success (L∞).

    paper   {network: published percent}, whose order the rows take; None: those of Table I, rows by success
    """
    runs = runs[[experiments.DATASETS[name] == MNIST for name in runs.dataset]]
    names = [experiments.SPELT[model] for model in runs.model]
    series = {words: {name: figures.percent(run, attack) for name, run in zip(names, runs.to_dict("records"))}
              for attack, words in attacks.items()}
    order = paper or sorted(names, key=lambda name: [*series.values()][-1][name][0])
    return display.dots({"label flipped, % of the correctly classified images": {
        "series": series, "published": paper or published("asr_inf", MNIST), "limits": (0, 101)}},
        [name for name in order if name in names])


def draw_ranks(runs):
    """How each quantity orders the ten networks of a data set beside attack success, 1 if perfectly."""
    rows, panels = rank_agreement(runs), {}
    for data in dict.fromkeys(row["data set"] for row in rows):
        printed = pd.DataFrame([row for row in PRINTED if row["dataset"] == data])
        some = [row for row in rows if row["data set"] == data and row["spearman"] is not None]
        panels[f"rank correlation with the attack\n({data}; 1: the right order)"] = {
            "series": {"ten networks": {row["quantity"]: row["sign"] * np.array(
                [row["spearman"], row["low"], row["high"]]) for row in some}},
            "published": {words: sign * agreement(printed[name], printed[
                "asr_inf" if name.endswith("inf") else "asr_2"])
                for name, (words, sign) in QUANTITIES.items() if name in printed},
            "guide": 0, "limits": (-1.05, 1.05)}
    return display.dots(panels) if panels else None


def limit(seeds):
    """ROBY's difference that two further trainings of one network exceed with probability 5%.

    By Student's t, since few trainings, `seeds`, estimate the deviation.
    """
    return float(stats.t.ppf(0.975, len(seeds) - 1) * np.sqrt(2) * seeds.roby_2.std())


def limits(runs, again):
    """`{data set: limit}`, of those on which a network was trained again, and the networks' names."""
    seeds = {data: trainings(runs, again, data)[1] if len(runs) else ()
             for data in experiments.DATASETS.values()}
    there = {data: some for data, some in seeds.items() if len(some) > 1}
    names = {name for some in there.values() for name in some.model}
    return {data: limit(some) for data, some in there.items()}, " and ".join(sorted(names))


RETRAINED = {"network": "network", "data set": "data set", "trainings": "trainings",
             "span": "ROBY (L2), lowest to highest", "sd": "standard deviation", "interval": "95% interval"}


def retrained(*frames):
    """A row a network and data set trained with several seeds: how far ROBY (L2) moves.

    frames   runs and further trainings, in turn
    """
    rows = []
    for runs, again in zip(frames[::2], frames[1::2]):
        if not len(runs) or not len(again):
            continue
        both = pd.concat(map(figures.networks, (runs, again)))
        for (data, model), some in both.groupby(["dataset", "model"], sort=False):
            if len(some) > 2:
                sd, low, high = deviation(some.roby_2)
                rows.append({"network": model, "data set": data, "trainings": len(some),
                             "span": f"{some.roby_2.min():.3f} to {some.roby_2.max():.3f}", "sd": f"{sd:.3f}",
                             "interval": f"{low:.3f} to {high:.3f}"})
    return rows


def deviation(scores):
    """Their standard deviation and its 95% interval, for normally distributed scores."""
    free, sd = len(scores) - 1, float(scores.std())
    low, high = sd * np.sqrt(free / stats.chi2.ppf((0.975, 0.025), free))
    return sd, float(low), float(high)


def spread(runs, again, data=MNIST):
    """Facts: how ROBY (L2) spreads over trainings of one network, and over networks trained once each.

    Standard deviations with their 95% intervals, for normally distributed scores; how many pairs of networks
    lie further apart than `limit`; how ROBY ranks the trainings beside the weaker attack. {} of fewer than
    two trainings.
    """
    nets, seeds = trainings(runs, again, data) if len(runs) else ((), ())
    if len(nets) < 2 or len(seeds) < 2:
        return {}
    facts = {"data": data, "model": seeds.model.iloc[0]}
    for who, some in (("seeds", seeds.roby_2), ("all", nets.roby_2)):
        facts[who] = dict(zip(("n", "sd", "low", "high"), (len(some), *deviation(some))))
    largest = limit(seeds)
    gaps = np.abs(np.subtract.outer(nets.roby_2.values, nets.roby_2.values))[np.triu_indices(len(nets), 1)]
    return facts | {"limit": largest, "pairs": len(gaps), "apart": int((gaps > largest).sum()),
                    "rank": agreement(seeds.roby_2, seeds.asr_third),
                    "flipped": figures.between(100 * seeds.asr_third)}


def draw_spread(runs, again, words="architectures", paper=None):
    """ROBY of trainings of one network and of networks trained once, here and published; a row each.

    paper   {data set: published values}; None: those of Table I
    """
    panels = {}
    for data in experiments.DATASETS.values():
        nets, seeds = trainings(runs, again, data)
        if len(nets) > 1 and len(seeds) > 1:
            printed = paper[data] if paper else [r["roby_2"] for r in PRINTED if r["dataset"] == data]
            panels[data] = {f"{seeds.model.iloc[0]}, trained {len(seeds)} times": seeds,
                            f"{len(nets)} {words}, once each": nets,
                            f"paper: {len(printed)} {words}": printed}
    if not panels:
        return None
    figure, axes = plt.subplots(len(panels), 1, figsize=(5.6, 0.5 + 1.5 * len(panels)), squeeze=False,
                                sharex=True)
    for ax, (data, rows) in zip(axes[:, 0], panels.items()):
        for place, (some, color) in enumerate(zip(rows.values(), (*display.PALETTE[1::-1], display.PRINTED))):
            if place < 2:       # whiskers: over test images
                ax.hlines(np.linspace(place - 0.2, place + 0.2, len(some)), some.roby_low, some.roby_high,
                          color=color, alpha=0.5)
                ax.plot(some.roby_2, np.linspace(place - 0.2, place + 0.2, len(some)), "o", color=color, ms=5)
            else:
                ax.plot(some, [place] * len(some), "|", color=color, ms=12, mew=2)
        ax.set_yticks(range(len(rows)), rows)
        ax.set(title=data, ylim=(len(rows) - 0.5, -0.5))
    axes[-1, 0].set_xlabel("ROBY")
    return figure
