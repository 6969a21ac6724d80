"""Which network (Section 7.1.1): readings of Table 2, scored by eight columns that the paper prints; and the
readings that were trained on traffic signs (Section 7.2.3).

The rule stands on the page (`network-study`) and was fixed before the runs. In the first two
sections `runs` is a DataFrame with a row a run of `experiments.network_study`, and `printed` is what
`published` gives.
"""
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.sutton import experiments, figures, tables
from papers.sutton.experiments import (
    CHOSEN,
    DELTAS,
    EPOCHS,
    HELD_OUT,
    LOOKED_AT,
    NORMALISED,
    PAIRS,
    READINGS,
    SHORT,
    TESTED,
    TESTING_CLOTHES,
    departures,
    screen,
)
from papers.sutton.tables import SPLITS
from report import display, prose
from report.comparison import mean_and_half
from shared.statistics import rank_correlations, rank_interval

FITTED = "fitted: the network was chosen by this value, among others"
NEAR = 10       # points of attackable share
FRAMES = 30     # photographs of one physical sign
MARGIN = 1.1    # within so many times the smallest score the fewer departures decide
SUMMARIES = {"fashion_mnist": ("table-20", "table-21"), "gtsrb": ("table-23", "table-24")}
WHAT = {"accuracy": "accuracy", "share": "attackable", "mean": "mean norm", "std": "spread of norms"}
COLUMNS = [(split, what) for split in SPLITS for what in WHAT]
HEADER = {"pair": "pair", "network": "network", "epochs": "epochs", "seed": "seed", "accuracy": "accuracy, %",
          "share": "attackable, %", "norm": "norm", "zero": "zero gradient, %", "score": "misfit",
          "score_zero": "misfit, zero gradient attackable"}


# ---- the rule --------------------------------------------------------------------------------------------
def measured(run, *, zero):
    """The eight `COLUMNS` of a run, a Series; norms are NaN where no image has an attack.

    zero   whether images with a gradient of exactly zero count as attackable
    """
    columns = {}
    for split in SPLITS:
        part, norms = run[split], run[split]["attack"]["l2"]
        share = tables.percent(part, "attack") if zero else tables.flipped_by_step(part)["percent"]
        columns |= {(split, "accuracy"): tables.percent(part, "accuracy"),
                    (split, "share"): share,
                    (split, "mean"): norms["mean"], (split, "std"): norms["std"]}
    return pd.Series(columns, dtype=float)


def published(paper, dataset="cifar10"):
    """The published `COLUMNS` of a data set: a DataFrame with a row a problem (class a, class b).

    paper   the reference items of `sutton` by id
    """
    if dataset == "cifar10":
        percents, norms, where = tables.cifar10_shares(paper), paper["table-6"], {}
    else:
        shares, norms = (paper[item] for item in SUMMARIES[dataset])
        percents, where = tables.printed_shares(shares), {"norm": "l2"}
    columns = {(split, what): {ab: row[split] for ab, row in percents[key].items()}
               for what, key in (("accuracy", "accuracy"), ("share", "attack")) for split in SPLITS}
    for split in SPLITS:
        rows = tables.printed(norms, split=split, **where)
        columns |= {(split, what): {ab: row[what] for ab, row in rows.items()} for what in ("mean", "std")}
    return pd.DataFrame(columns)[COLUMNS]


def deviations(columns, wanted, printed):
    """Deviations of `measured` from the published values of a problem.

    wanted    these values, a row of what `published` returns
    printed   what it returns of CIFAR-10: the units are standard deviations over its pairs
    """
    return (columns - wanted) / printed.std(ddof=0)


def score(columns, wanted, printed):
    """Sum of the squared deviations."""
    return (deviations(columns, wanted, printed) ** 2).sum(skipna=False)


def scores(runs, printed):
    """A DataFrame of all networks by both ways of counting: pair, network, epochs, seed, zero, score."""
    return pd.DataFrame([
        {"pair": u["pair"], "network": u["network"], "epochs": u["length"], "seed": u["again"], "zero": zero,
         "score": score(measured(u, zero=zero), printed.loc[PAIRS[u["pair"]]], printed)}
        for u in in_order(runs) for zero in (False, True)])


def choice(scores, wanted):
    """The reading that rule 5 chooses: (network, epochs, zero). None where there is none, or none yet.

    A missing training is one that may change the choice. Scores are not negative, so that a reading is out
    as soon as the scores of its first trainings add up to too much.

    scores   what `scores` returns
    wanted   the trainings of the study, as `study_runs` has them
    """
    by_reading = dict(list(scores.groupby(["network", "epochs", "zero"]).score))
    means, least = {}, {}   # of readings with all trainings; of others, what their mean is at least
    wanted = pd.DataFrame(wanted, columns=["pair", "network", "epochs", "seed"])
    for (network, epochs), runs in wanted.groupby(["network", "epochs"]):
        if runs["pair"].nunique() < len(PAIRS):
            continue
        for zero in (False, True):
            some = by_reading.get((network, epochs, zero), pd.Series(dtype=float))
            mean = some.sum(skipna=False) / len(runs)
            if not np.isnan(mean):      # NaN: a network without any attack
                (means if len(some) == len(runs) else least)[network, epochs, zero] = mean
    limit = MARGIN * min(means.values(), default=np.inf)
    return None if any(score <= limit for score in least.values()) else preferred(means)


def preferred(means):
    """Of `{(network, epochs, zero): score}` what rule 5 prefers: near the smallest, the fewest departures."""
    limit = MARGIN * min(means.values(), default=np.inf)
    near = [reading for reading, score in means.items() if score <= limit]
    return min(near, key=lambda r: (len(departures(*r[0], epochs=r[1])), means[r]), default=None)


# ---- what the page shows ---------------------------------------------------------------------------------
def in_order(runs):
    """The runs as dicts, each with its network of the study, in the order of the pairs and the networks."""
    networks, trained = screen(), [u | {"network": network_of(u)} for u in runs.to_dict("records")]
    return sorted(trained, key=lambda u: (list(PAIRS).index(u["pair"]), networks.index(u["network"]),
                                          u["length"], u["again"]))


def network_of(run):
    """The network of the study that a run trained: (normalisation, dropout, penalty)."""
    short = {name: key for names in (NORMALISED, SHORT) for key, name in names.items()}
    return short[run["architecture"]], run["dropout"], run["penalty"]


def compared(runs):
    """Of the screen on the first pair, what the page shows: Table 2 as printed, and the choice, by name."""
    wanted = {"printed dropout": screen()[0], "half the dropout": CHOSEN}
    ordered = in_order(runs)
    first = [u for u in ordered if u["pair"] == [*PAIRS][0]
             and u["length"] == min(v["length"] for v in ordered)]
    return {name: u for name, network in wanted.items() for u in first if u["network"] == network}


def counted_both_ways(runs, printed):
    """Of the two networks that `compared` gives, the one whose misfit hangs more on how zero gradients count.

    counted, without   its misfits, such images attackable or not
    zero, other        percent of the training images that are such, with it and with the other network
    """
    networks = []
    for name, u in compared(runs).items():
        without, counted = (score(measured(u, zero=zero), printed.loc[PAIRS[u["pair"]]], printed)
                            for zero in (False, True))
        networks.append({"name": name, "without": without, "counted": counted,
                         "zero": 100 * u["train"]["saturated"] / max(1, u["train"]["tried"])})
    less, more = sorted(networks, key=lambda of: abs(of["without"] - of["counted"])) if len(
        networks) == 2 else ({}, {})
    return more | {"other": less["zero"]} if more else {}


def in_words(network):
    """A network of the study, such as "batch normalisation, dropout 0.2"."""
    normalised, dropout, penalty = network
    return ", ".join([*(["batch normalisation"] if normalised == "bn" else []),
                      f"dropout {dropout:g}" if dropout else "no dropout",
                      *([f"penalty {penalty:g}"] if penalty else [])])


def rows(runs, printed):
    """A row a network, those of a pair behind its published values."""
    lines = []
    for u in in_order(runs):
        pair, wanted = u["pair"], printed.loc[PAIRS[u["pair"]]]
        if pair not in [line["pair"] for line in lines]:
            lines.append({"pair": pair, "network": "published", **_cells(wanted)})
        lines.append({"pair": pair, "network": in_words(u["network"]), "epochs": str(u["length"]),
                      "seed": str(u["again"]), **_line(u, wanted, printed)})
    return lines


def rows_of_test(paper, *frames):
    """A row a problem of the test, the chosen network behind the published values.

    frames   runs by data set, in the order of `TESTED`
    """
    printed, lines = published(paper), []
    for dataset, u in [(name, u) for name, runs in zip(TESTED, frames) for u in runs.to_dict("records")]:
        problem = u["class_a"], u["class_b"]
        wanted = published(paper, dataset).loc[problem]
        names = {"data set": figures.DATASETS[dataset], "problem": experiments.name_of(dataset, *problem)}
        lines += [names | {"network": "published", **_cells(wanted)},
                  names | {"network": "ours", **_line(u, wanted, printed)}]
    return lines


def test_in_words(paper, *frames):
    """The misfits on the problems of the test, and where there is none; nothing of no runs."""
    tested = pd.DataFrame([line for line in rows_of_test(paper, *frames) if "score_zero" in line],
                          columns=["data set", "problem", "accuracy", "score_zero"])
    means = ", ".join(f"{prose.short(scores.mean())} on {name} ({figures.counted(len(scores), 'problem')})"
                      for name, scores in tested.dropna().groupby("data set", sort=False).score_zero)
    failed = "".join(f" On *{line.problem}* no step flips a label, so that there are no norms and no misfit "
                     f"(accuracy: {line.accuracy}%)."
                     for line in tested[tested.score_zero.isna()].itertuples())
    return means and (f"The mean misfit, zero gradients counted as attackable, is {means}, in units "
                      f"of CIFAR-10 for all three data sets.{failed}")


HEADER_OF_CLOTHES = {name: words for name, words in HEADER.items() if name not in ("pair", "epochs", "seed")}
HEADER_OF_TEST = {"data set": "data set", "problem": "problem"} | HEADER_OF_CLOTHES


def _line(run, wanted, printed):
    """What the tables show of a run beside the published values: its columns, and both scores."""
    by_loss, by_zero = measured(run, zero=False), measured(run, zero=True)
    zero = " / ".join(f"{100 * run[s]['saturated'] / run[s]['tried']:.1f}" if run[s]["tried"] else "–"
                      for s in SPLITS)
    return {**_cells(by_loss), "zero": zero,
            "score": score(by_loss, wanted, printed), "score_zero": score(by_zero, wanted, printed)}


def _cells(columns):
    """Accuracy, share and norm of both sets as one text each."""
    both = {what: [columns[s, what] for s in SPLITS] for what in WHAT}
    texts = {what: "{:.1f} / {:.1f}".format(*both[what]) for what in ("accuracy", "share")} | {
        "norm": " / ".join(f"{m:.2f} ({s:.2f})" for m, s in zip(both["mean"], both["std"]))}
    return {what: text for what, text in texts.items() if "nan" not in text}


# ---- rule 7: clothes -------------------------------------------------------------------------------------
def rows_of_clothes(paper, runs):
    """A row a network of `experiments.clothes_study` below the published values; units of Fashion-MNIST."""
    printed = published(paper, "fashion_mnist")
    wanted = printed.loc[LOOKED_AT]
    return [{"network": "published", **_cells(wanted)}] + [
        {"network": in_words(network_of(u)), **_line(u, wanted, printed)} for u in runs.to_dict("records")]


def choice_on_clothes(runs, printed, units):
    """The reading (network, epochs, zero) that rule 7 chooses, and all misfits, the smallest first.

    printed   what `published` returns of Fashion-MNIST
    units     what it returns of the data set whose pairs give the units
    """
    wanted = printed.loc[LOOKED_AT]
    misfits = {(network_of(u), u["epochs"], zero): score(measured(u, zero=zero), wanted, units)
               for u in runs.to_dict("records") for zero in (False, True)}
    misfits = {reading: misfits[reading] for reading in sorted(misfits, key=misfits.get)
               if not np.isnan(misfits[reading])}
    return preferred(misfits), misfits


def facts_of_clothes(paper, runs, pages):
    """What rule 7 chooses on dress and coat, the next, and the choice's misfits on the pairs that test it.
    {} of another choice, which has no test.

    pages   runs of the page on Fashion-MNIST: the network of our choice
    """
    printed = published(paper, "fashion_mnist")
    chosen, misfits = choice_on_clothes(runs, printed, printed)
    others = {reading[0]: misfit for reading, misfit in reversed(misfits.items()) if reading[0] != CHOSEN}
    if chosen is None or chosen[0] != CHOSEN or not others:
        return {}
    tested = {experiments.name_of("fashion_mnist", *ab): score(
        measured(u, zero=chosen[2]), printed.loc[ab], printed)
        for ab, u in figures.by_problem(pages).items() if ab in TESTING_CLOTHES}
    second = min(others, key=others.get)
    same, _ = choice_on_clothes(runs, printed, published(paper))
    return {"networks": len(runs), "misfit": misfits[chosen], "second": in_words(second),
            "other": others[second],
            "same": "the same" if same[0] == CHOSEN else in_words(same[0]),
            "tests": " and ".join(f"{prose.short(misfit)} on *{pair}*" for pair, misfit in tested.items())}


def draw_misfits(runs, printed):
    """Misfits of all networks of the screen's epochs, a line a network, the nearest first; a marker a pair.

    Images of zero gradient count as attackable. None of no misfit.
    """
    of = scores(runs, printed).query("zero").dropna()
    by_pair = of[of.epochs == of.epochs.min()].groupby(["network", "pair"]).score.mean().unstack()
    if by_pair.empty:
        return None
    by_pair = by_pair.iloc[by_pair.min(axis=1).argsort()[::-1]]
    figure, ax = plt.subplots(figsize=(5.6, 1.4 + 0.25 * len(by_pair)))
    for pair, marker, color in zip(PAIRS, display.MARKERS, display.PALETTE):
        if pair in by_pair:
            ax.plot(by_pair[pair], range(len(by_pair)), marker, color=color, label=pair)
    ax.axvline(len(COLUMNS), color=display.GUIDE, ls="--", lw=1)
    ax.set_yticks(range(len(by_pair)), map(in_words, by_pair.index))
    ax.set(xscale="log", xlabel="misfit")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def choice_in_words(runs, printed):
    """What the rule chooses, or how many trainings are missing."""
    wanted = experiments.study_runs(int(runs["length"].min()))
    chosen, missing = choice(scores(runs, printed), wanted), len(wanted) - len(runs)
    if chosen is None:
        return f"The rule has not chosen yet: {missing} of {len(wanted)} trainings of the study are missing."
    network, epochs, zero = chosen
    return (f"The rule chose {in_words(network)}, {epochs} epochs, with images of zero gradient counted as "
            f"{'attackable' if zero else 'not attackable'}; {missing} of the {len(wanted)} trainings that it "
            "plans were not needed, since even a misfit of 0 there would not change the choice.")


def again_facts(runs, pages, printed):
    """How far another training of the chosen network, with the same seed, is from the study's; {} of none.

    pages   runs of the page on CIFAR-10, which trained the chosen network on a pair of the study once more
    """
    second = {experiments.name_of("cifar10", *ab): u for ab, u in figures.by_problem(pages).items()}
    first = {u["pair"]: u for u in in_order(runs)
             if (u["network"], u["length"], u["again"]) == (CHOSEN, EPOCHS, 0) and u["pair"] in second}
    for pair, u in first.items():
        ours, other = (score(measured(v, zero=True), printed.loc[PAIRS[pair]], printed)
                       for v in (u, second[pair]))
        if abs(ours - other) > 1e-9:   # else the page shows the study's own run
            # a tenth of the smallest mean misfit over all pairs
            means = scores(runs, printed).groupby(["network", "epochs", "zero", "pair"]).score.mean()
            margin = (MARGIN - 1) * means.unstack().dropna().mean(axis=1).min()
            return {"pair": pair, "first": ours, "again": other, "margin": margin} if (
                abs(ours - other) > margin) else {}
    return {}


def literal_facts(runs, printed):
    """The score of Table 2 as printed in the screen, and what training accuracy alone gives of it."""
    for u in in_order(runs):
        if u["network"] == screen()[0] and u["length"] == EPOCHS:
            off = deviations(measured(u, zero=True), printed.loc[PAIRS[u["pair"]]], printed) ** 2
            return {"score": off.sum(), "accuracy": off["train", "accuracy"]}
    return {}


def beside_literal(pages, as_printed, printed):
    """A row a pair of CIFAR-10 on which both networks are trained: their misfits."""
    chosen, literal = ({ab: score(measured(u, zero=True), printed.loc[ab], printed)
                        for ab, u in figures.by_problem(frame).items()} for frame in (pages, as_printed))
    return [{"pair": experiments.name_of("cifar10", *ab), "half of dropout and epochs": chosen[ab],
             "as printed": literal[ab], "used for the choice": ab in PAIRS.values()}
            for ab in chosen if ab in literal]


def nearer_than_literal(*given):
    """Facts: on how many pairs of `beside_literal` the training of our choice has the smaller misfit.

    least, most   the misfits of the text's training
    """
    rows = beside_literal(*given)
    literal = [row["as printed"] for row in rows]
    return {"nearer": sum(row["half of dropout and epochs"] < row["as printed"] for row in rows),
            "of": len(rows), "least": min(literal), "most": max(literal)} if rows else {}


def close_to_literal(runs, pages, as_printed, printed):
    """Facts: on how many pairs of `beside_literal` both misfits differ by less than two equal trainings do.

    used   how many of its pairs the choice rests on;  pair: the one of the two trainings (`again_facts`)
    """
    rows, equal = beside_literal(pages, as_printed, printed), again_facts(runs, pages, printed)
    spread = abs(equal["again"] - equal["first"]) if equal else 0
    return {"pair": equal["pair"], "used": sum(row["used for the choice"] for row in rows),
            "close": sum(abs(row["half of dropout and epochs"] - row["as printed"]) < spread
                         for row in rows)} if rows and equal else {}


def bias(paper, *frames):
    """A row a data set: how many shares lie below the published ones, and the mean difference in points.

    frames   runs by data set, in the order of `TESTED`
    """
    rows = []
    for dataset, runs in zip(TESTED, frames):
        wanted = published(paper, dataset)
        good = figures.by_problem(figures.learned(runs))
        off = [measured(u, zero=True)[split, "share"] - wanted.loc[ab][split, "share"]
               for ab, u in good.items() for split in SPLITS]
        if off:
            rows.append({"data set": figures.DATASETS[dataset], "shares": len(off),
                         "below the published one": int(sum(o < 0 for o in off)),
                         "mean difference, points": float(np.mean(off))})
    return rows


# What the columns of Tables 4, 5 and 9 to 12 show, by the keys of `tables.share`.
SHARE_NAMES = {"accuracy": "accuracy", "attack": "attackable",
               **{delta: f"flipped by noise of {delta} × the attack's norm" for delta in DELTAS}}


def bias_of_tables(paper, runs):
    """A row a column of Tables 4 to 12: ours minus published over the problems of `runs`.

    Mean difference with its 95% t interval over problems (also in words), mean absolute difference, n, and
    whether ours is 0 on every problem.
    """
    runs, columns = figures.by_problem(runs), {}
    for key, item in tables.CIFAR10.items():
        printed = tables.printed(paper[item])
        for split in SPLITS:
            columns[paper[item].label, f"{SHARE_NAMES[key]}, {figures.SETS[split]}, %"] = [
                (tables.percent(u[split], key), printed[ab][split]) for ab, u in runs.items()]
    for item, norm in (("table-6", "l2"), ("table-7", "l1"), ("table-8", "linf")):
        for split in SPLITS:
            printed = tables.printed(paper[item], split=split)
            for what, words in (("mean", "mean"), ("std", "standard deviation of the")):
                columns[paper[item].label, f"{words} {figures.NORMS[norm]}, {figures.SETS[split]}"] = [
                    (u[split]["attack"][norm][what], printed[ab][what]) for ab, u in runs.items()]
    rows = []
    for (table, column), both in sorted(columns.items(), key=lambda of: int(of[0][0].split()[1])):
        off = np.array([own - paper for own, paper in both if own is not None])
        if len(off):
            ends = [None, None]     # one problem has no interval
            if len(off) > 1:
                mean, half = mean_and_half(off)
                ends = [mean - half, mean + half]
            words = "{} ({} to {})" if len(off) > 1 else "{}"
            rows.append({"table": table, "column": column, "difference": float(off.mean()),
                         "low": ends[0], "high": ends[1], "zero": not any(own for own, _ in both),
                         "words": words.format(*map(prose.short, (off.mean(), *ends))),
                         "absolute": float(np.abs(off).mean()), "n": len(off)})
    return rows


def bias_in_words(rows):
    """Which rows of `bias_of_tables` have an interval that leaves out zero; nothing of a single problem."""
    rows = [row for row in rows if row["low"] is not None]
    zero, rows = any(row["zero"] for row in rows), [row for row in rows if not row["zero"]]
    clear = {"below": [row for row in rows if row["high"] < 0],
             "above": [row for row in rows if row["low"] > 0]}
    count = sum(map(len, clear.values()))
    parts = [f"The interval leaves out zero in {count or 'none'} of {len(rows)} rows."]
    parts += [f"Ours lie {side} the published values in these: "
              + "; ".join(row["column"].removesuffix(", %") for row in some) + "."
              for side, some in clear.items() if some]
    parts += ["Where no image of ours is flipped, the interval shows the published values alone and is not "
              "judged."] * zero
    return " ".join(parts) if rows else ""


def fewer_by_logit(shares):
    """Facts of `figures.means` where fewer images have an attack along the logit's gradient than count as
    attackable; {} elsewhere.
    """
    logit, counted = shares["logit"]["mean"], shares["attack"]["mean"]
    return {"logit": logit, "counted": counted} if logit is not None and logit < counted else {}


def rank_facts(runs, printed):
    """Rank correlations over problems of our shares with the published ones; {} of fewer than three.

    "attack" counts images of zero gradient as attackable, "outside" the problems whose published share lies
    outside the interval of ours over images; "_low" and "_high" are the ends of a 95%
    interval over problems.
    """
    shares = figures.means(runs, printed)
    both = {key: [(share, printed[key][p]["test"]) for p, share in shares[key]["percents"].items()]
            for key in ("attack", 10)}
    if min(map(len, both.values())) < 3:
        return {}
    there = figures.by_problem(runs)
    intervals = {p: tables.share(there[p]["test"], "attack") for p in shares["attack"]["percents"]}
    facts = {"n": len(intervals), "outside": sum(
        not share["low"] <= printed["attack"][p]["test"] <= share["high"] for p, share in intervals.items())}
    for name, pairs in zip(("attack", "ten"), both.values()):
        ours, published = np.array(pairs).T
        rank = float(rank_correlations(ours[None], published[None])[0])
        low, high = rank_interval(rank, len(ours)) if np.isfinite(rank) else (np.nan, np.nan)
        facts |= {name: rank, f"{name}_low": low, f"{name}_high": high}
    return facts


def shares_of_test(paper, *frames):
    """`{data set: {"ours", "published"}}`: attackable test images, percent by problem.

    Images of zero gradient count as attackable, as in the choice of the training.

    frames   runs by data set, in the order of `TESTED`; a problem whose training failed is left out
    """
    shares = {}
    for dataset, runs in zip(TESTED, frames):
        wanted, good = published(paper, dataset), figures.by_problem(figures.learned(runs))
        tried = {p: u["test"] for p, u in good.items() if u["test"]["tried"]}
        if tried:
            shares[dataset] = {
                "ours": {p: tables.percent(part, "attack") for p, part in tried.items()},
                "published": {p: wanted.loc[p]["test", "share"] for p in tried}}
    return shares


CALLED = {"cifar10": "CIFAR-10", "fashion_mnist": "clothes", "gtsrb": "traffic signs"}


def facts_of_test(shares):
    """What the box names of `shares_of_test`: means by data set, and where they are within `NEAR` points."""
    means = {key: {name: prose.mean(list(both[key].values())) for name, both in shares.items()}
             for key in ("ours", "published")}
    near = [CALLED[name] for name in CALLED
            if name in shares and abs(means["ours"][name] - means["published"][name]) <= NEAR]
    pairs = {name: len(both["ours"]) for name, both in shares.items()}
    return {"n": sum(pairs.values()), "pairs": pairs, **means["ours"], "paper": means["published"],
            "nowhere": not near, "near": " and ".join(near)} if shares else {}


def draw_test(shares):
    """Two bars a data set, ours and published: means of `shares_of_test`, a dot a class pair."""
    if not shares:
        return None
    figure, ax = plt.subplots(figsize=(4.8, 3.2))
    some = [name for name in CALLED if name in shares]
    for key, shift, color in (("ours", -0.2, display.PALETTE[0]), ("published", 0.2, display.PRINTED)):
        for place, name in enumerate(some):
            percents = list(shares[name][key].values())
            ax.bar(place + shift, prose.mean(percents), 0.38, color=color, alpha=0.55,
                   label=None if place else {"ours": "ours", "published": "paper, same pairs"}[key])
            ax.plot([place + shift] * len(percents), percents, "o", ms=4, color=display.GUIDE)
    ax.set_xticks(range(len(some)), [CALLED[name] for name in some])
    ax.set(ylabel="attackable, % of test images", ylim=(0, 112))
    ax.plot([], [], "o", ms=4, color=display.GUIDE, label="one class pair")
    figure.legend(loc="outside upper center", ncols=3, columnspacing=1, handlelength=1.2)
    return figure


# ---- the chosen network on the pages of Section 7.2 ------------------------------------------------------
def fitted(rows):
    """Rows of Tables 4 to 6; those of `PAIRS`, by whose values the network was chosen, are marked."""
    return [row | {"status": FITTED} if (row["class_a"], row["class_b"]) in PAIRS.values() else row
            for row in rows]


def facts_of_signs(runs, printed, of):
    """`figures.box_facts` of traffic signs; where noise of the attack's norm flips images of one pair alone,
    its name and accuracies, too.

    "lowest" says whether no other network whose training succeeded has a lower accuracy, "off" how far the
    attackable share of a pair is from the published one, in points.
    """
    facts, good = figures.box_facts(runs, printed, of), figures.by_problem(figures.learned(runs))
    shares = {p: tables.percent(u["test"], "attack") for p, u in good.items()}     # None: none was attacked
    off = [abs(share - printed["attack"][p]["test"])
           for p, share in shares.items() if share is not None and p in printed["attack"]]
    facts = facts and facts | {"off": {"least": min(off, default=None), "most": max(off, default=None)}}
    if len(facts.get("odd", ())) != 1:
        return facts
    accuracy = {p: tables.percent(u["test"], "accuracy") for p, u in good.items()}
    odd, = facts["odd"]
    return facts | {"odd_pair": figures.name(odd, experiments.CLASSES["gtsrb"]),
                    "lowest": accuracy[odd] == min(accuracy.values()), "odd_accuracy": accuracy[odd],
                    "likewise": [p for p, row in printed[DELTAS[0]].items() if row["test"]] == [odd],
                    "odd_paper": printed["accuracy"][odd]["test"]}


def limit_of_signs(facts):
    """The limit of the box on traffic signs: whose images noise of the attack's norm flips, what failed."""
    if "odd_pair" not in facts:
        return "One network a pair."
    words = "All {one} belong to *{odd_pair}*" + " (paper: likewise)" * facts["likewise"]
    one = facts["failed"] == 1
    if facts["lowest"]:
        words += ", whose network is the least accurate ({odd_accuracy:.0f}%; paper: {odd_paper:.0f}%)"
        failed = "; {failed} " + ("training" if one else "trainings") + " failed"
    else:
        failed = "; training failed on " + ("another pair" if one else "{failed} other pairs")
    return words + failed * bool(facts["failed"]) + "."


def as_printed_in_words(runs, plain, printed):
    """How far the attackable shares of the chosen network and of Table 2 as printed are from the published
    ones, on the problems on which both trainings succeeded; nothing of none.

    plain     runs of the network of Table 2 as printed
    printed   {"attack": {problem: published row}}
    """
    trained = [{(u["class_a"], u["class_b"]): tables.percent(u["test"], "attack")
                for u in succeeded(frame)} for frame in (runs, plain)]
    if not (both := set.intersection(*map(set, trained))):
        return ""
    ours, others = (prose.short(prose.mean([abs(shares[p] - printed["attack"][p]["test"]) for p in both]))
                    for shares in trained)
    return (f"On {figures.counted(len(both), 'pair')} the printed training and ours both succeed: the "
            f"attackable share deviates from the paper's by {others} points as printed and by {ours} with "
            "our training (mean absolute; images of zero gradient count).")


def succeeded(runs):
    """The runs, as dicts, whose network `figures.has_learned` its problem and was attacked."""
    return [u for u in runs.to_dict("records") if u["test"]["tried"] and figures.has_learned(u)]


def good_trainings(again, printed):
    """Attackable test shares over the further trainings of one problem that succeeded; {} of fewer than two.

    {"n" trainings "of" all, "low" and "high" (the ends of their shares), "paper"}
    """
    good = succeeded(figures.of_first(again))
    if len(good) < 2:
        return {}
    shares = [tables.percent(u["test"], "attack") for u in good]
    return {"n": len(good), "of": len(again), "low": min(shares), "high": max(shares),
            "paper": printed["attack"][good[0]["class_a"], good[0]["class_b"]]["test"]}


# ---- readings on traffic signs ---------------------------------------------------------------------------
def reading_rows(printed, chosen, *frames):
    """A row a reading: its networks, and how far their attackable test shares are from the published ones.

    chosen   runs of the network that Section 7.1.1 chooses; `frames` have the other readings
    The deviation is the mean over problems; seeds of a problem are averaged, failed trainings left out.
    """
    runs = [("ours: half the dropout and epochs", u) for u in chosen.to_dict("records")] + [
        (READINGS[experiments.reading(u["architecture"])], u) for f in frames for u in f.to_dict("records")]
    networks = pd.DataFrame([{
        "reading": name, "problem": problem, "found": tables.flipped_by_step(u["test"])["percent"],
        "zero": tables.percent(u["test"], "attack"), "failed": not figures.has_learned(u)}
        for name, u in runs for problem in [(u["class_a"], u["class_b"])]])
    rows = []
    for name, some in networks.groupby("reading", sort=False):
        means = some[~some.failed].groupby("problem")[["found", "zero"]].mean()
        off = means.sub([printed["attack"][p]["test"] for p in means.index], axis=0).abs()
        rows.append({"reading": name, "networks": len(some), "failed": int(some.failed.sum()),
                     "problems": len(off), "near": int((off.zero <= NEAR).sum()),
                     **{key: float(off[key].mean()) if len(off) else None for key in off}})
    return rows


def accuracies_of_splits(images, whole):
    """Mean test accuracy, single images or whole tracks held out, over problems that succeeded with both.

    "signs": how many physical signs the smallest of their test sets of whole tracks shows at full scale.
    """
    single, by_track = (figures.by_problem(figures.learned(runs)) for runs in (images, whole))
    both = single.keys() & by_track.keys()
    signs = [sum(round(HELD_OUT[sign] / FRAMES) for sign in problem) for problem in both]
    return both and {"problems": len(both), "signs": min(signs), **{
        name: prose.mean([tables.percent(nets[p]["test"], "accuracy") for p in both])
        for name, nets in (("images", single), ("tracks", by_track))}}


def nearest_in_words(rows):
    """Which of the `reading_rows` on most problems is nearest to the published shares."""
    most = max(row["problems"] for row in rows)
    points = {row["reading"]: row["zero"] for row in rows if row["problems"] == most > 0}
    if len(points) < 2:
        return ""
    nearest = sorted(points, key=points.get)
    others = "; ".join(f"*{name}* {prose.short(points[name])}" for name in nearest[1:])
    return (f"Of the networks on {figures.counted(most, 'pair')}, *{nearest[0]}* is nearest: the mean "
            f"deviation is {prose.short(points[nearest[0]])} points ({others}).")
