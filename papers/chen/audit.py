"""Chen et al. (ROBY): attack success against the metrics of 30 models; for others see `chen_models`."""
import numpy as np
from scipy import stats

from report.finding import Checks, attainable, rounds_to, stated

checks = Checks("chen")
METRICS = ("fsa", "fsd", "roby")
NORMS = {"inf": "table-2", "2": "table-3"}  # attack and metric in one norm, and where its correlations stand
DECIMALS = 2  # Tables II and III print four decimals of which the last two are zeros throughout


def blocks(p, item="table-1"):
    """{data set: {column: values of its models}}, in printed order."""
    found = {}
    for row in p.rows(item):
        columns = found.setdefault(row["dataset"], {})
        for key, value in row.items():
            columns.setdefault(key, []).append(value)
    return {data: {k: np.array(v) for k, v in columns.items()} for data, columns in found.items()}


def pearson(p, attack, metric):
    """Pearson's r of an attack success column with a metric column of Table I, by data set."""
    return {data: float(np.corrcoef(rows[attack], rows[metric])[0, 1]) for data, rows in blocks(p).items()}


def coefficients(p):
    """Tables II and III recomputed: {(data set, metric, norm): (printed, recomputed)}."""
    found = {}
    for norm, item in NORMS.items():
        values = {m: pearson(p, f"asr_{norm}", f"{m}_{norm}") for m in METRICS}
        for row in p.rows(item):
            for m in METRICS:
                found[row["dataset"], m, norm] = row[f"{m}_{norm}"], values[m][row["dataset"]]
    return found


def sorted_uniform_correlations(generator, *, size, pairs):
    """Pearson's r of `pairs` pairs of independent U(0,1) vectors of `size`, each sorted, shape (pairs,)."""
    x, y = (np.sort(generator.random((pairs, size)), axis=1) for _ in range(2))
    x, y = (v - v.mean(axis=1, keepdims=True) for v in (x, y))
    return (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))


@checks
def correlations(p):
    cells = coefficients(p)
    off = {f"{d} {m.upper()}, norm {n}": cell for (d, m, n), cell in cells.items()
           if not rounds_to(*cell[::-1], DECIMALS)}
    return p.finding("table-1, table-2, table-3",
                     "The correlations of Tables II and III follow from Table I, to two decimals",
                     quotes=[("present the Pearson correlation coefficient of the ROBY metrics and ASR",
                              "Section IV.C")], numbers=f"{len(cells)} cells",
                     ours={"others (printed, recomputed)": off}, holds=(len(cells) - len(off), len(cells)),
                     reading="the last digit of the other one is rounded down.",
                     use="Two decimals are all there is to compare: the last two are zeros throughout.")


@checks
def means_of_rounded(p):
    cells = {(row["attack_success"], m): row[m] for row in p.rows("table-4") for m in ("roby_2", "roby_inf")}
    # Whole hundredths are summed, so that cutting after three decimals is exact.
    cut = {k: sum(round(100 * r) for r in pearson(p, *k).values()) * 10 // 3 / 1000 for k in cells}
    mean = {k: np.mean(list(pearson(p, *k).values())) for k in cells}
    return p.finding("table-1, table-4",
                     "Table IV averages coefficients rounded to two decimals and cuts at three",
                     quotes=[("the average Pearson correlation coefficient", "Section IV.C")],
                     numbers={" ".join(k): v for k, v in cells.items()},
                     ours={" ".join(k): (cut[k], mean[k]) for k in cells},
                     holds=all(np.isclose(cut[k], cells[k]) for k in cells),
                     use="The second number is the mean of the unrounded ones; the last printed digit is "
                         "rounding.")


@checks
def best_metric(p):
    best, signed = {}, {}
    for norm in NORMS:
        r = {m: pearson(p, f"asr_{norm}", f"{m}_{norm}") for m in METRICS}
        for data in r["roby"]:
            best[f"{data}, norm {norm}"] = max(METRICS, key=lambda m: abs(r[m][data]))
            signed[f"{data}, norm {norm}"] = max(METRICS, key=lambda m: r[m][data])
    return p.finding("table-1, table-2, table-3",
                     "ROBY has the correlation of largest size with attack success",
                     quotes=[("obtain the highest Pearson correlation coefficient value among all three "
                              "datasets", "Section IV.C")], numbers=f"{len(best)} blocks",
                     ours={"others": {k: v.upper() for k, v in best.items() if v != "roby"},
                           "highest with its sign": f"ROBY in {list(signed.values()).count('roby')}"},
                     holds=(list(best.values()).count("roby"), len(best)),
                     reading="highest is meant with the sign; FSA and FSD correlate negatively.")


@checks
def strict_order(p):
    columns = [f"{c}_{norm}" for norm in NORMS for c in ("asr", *METRICS)]
    ranks = [stats.rankdata([rows[c] for c in columns], axis=1) for rows in blocks(p).values()]
    rho = np.abs([np.corrcoef(r)[0] for r in ranks])
    return p.finding("table-1",
                     "Every metric ranks the ten models of a data set exactly as attack success does",
                     quotes=[("each model's ROBY metrics well match the attack success rates",
                              "Section IV.C")], numbers=f"{len(columns)} columns, {len(rho)} data sets",
                     ours={"smallest |Spearman|": rho.min()}, holds=bool(np.allclose(rho, 1)),
                     use="The match is in rank as well; a reproduction reports rank agreement with "
                         "intervals.")


@checks
def chance_correlation(p):
    size = len(next(iter(blocks(p).values()))["model"])
    low, median, high = np.quantile(sorted_uniform_correlations(p.generator, size=size, pairs=20_000),
                                    (.05, .5, .95))
    r = np.abs([v for _, v in coefficients(p).values()])
    return p.finding("table-1, table-2, table-3",
                     "Pearson's r of two unrelated vectors that are merely sorted",
                     numbers={"smallest |r|": r.min(), "largest |r|": r.max()},
                     ours={"median": median, "5%": low, "95%": high},
                     use="Given the equal order, coefficients of this size carry no further evidence.")


@checks
def pooled_correlation(p):
    t = p.frame("table-1")
    pairs = [("asr_2", "roby_2"), ("asr_2", "roby_inf"), ("asr_inf", "roby_2"), ("asr_inf", "roby_inf")]
    return p.finding("table-1, table-4", "Correlation over all 30 models at once",
                     quotes=[("the average Pearson correlation coefficient", "Section IV.C")],
                     numbers={f"{row['attack_success']} {m}": row[m] for row in p.rows("table-4")
                              for m in ("roby_2", "roby_inf")},
                     ours={" ".join(k): np.corrcoef(t[k[0]], t[k[1]])[0, 1] for k in pairs},
                     use="ROBY compares models of one data set, as the paper does, not models across data "
                         "sets.")


@checks
def closer_than_sampling_error(p):
    n, closest = p.settings("table-1")["n_test_images_for_roby"], {}
    for data, rows in blocks(p).items():
        rate = np.sort(rows["asr_inf"])
        i = int(np.argmin(np.diff(rate)))
        closest[data] = (rate[i + 1] - rate[i], np.sqrt(rate[i] * (1 - rate[i]) / n))
    return p.finding("table-1",
                     "Smallest difference of neighbouring attack success rates, and its standard error",
                     numbers={d: c[0] for d, c in closest.items()},
                     ours={d: c[1] for d, c in closest.items()},
                     use="Some neighbours cannot be ranked by 10,000 images.")


@checks
def l2_weaker(p):
    rows = p.rows("table-1")
    others = tuple(f"{r['dataset']} {r['model']}" for r in rows if r["asr_2"] <= r["asr_inf"])
    return p.finding("table-1", "Models are less robust to the L2 attack than to the Linf attack",
                     quotes=[("robustness against l_2 attack is weaker than of", "Section IV.C")],
                     numbers=f"{len(rows)} rows", ours={"others": others},
                     holds=(len(rows) - len(others), len(rows)),
                     reading="the sentence sums up a trend. The budgets of the two attacks need not be "
                             "equal: with one epsilon the L2 ball would lie inside the other.")


@checks
def ranking_direction(p):
    ends = {data: (rows["asr_inf"][0], rows["asr_inf"][-1]) for data, rows in blocks(p).items()}
    return p.finding("table-1", "The direction in which Table I ranks", numbers=ends,
                     ours="attack success rises",
                     quotes=[("in descending order of attack success rate", "Section IV.C")],
                     reading="descending is meant of robustness: robust models come first.")


@checks
def success_over_correct_images(p):
    n, found = p.settings("table-1")["n_test_images_for_roby"], {}
    for item, columns in (("table-1", ("asr_inf", "asr_2")), ("table-9", ("asr",))):
        rows = blocks(p, item)["CIFAR-10"]  # few correct images make the test sharp
        cells = [(rate, round(acc * n)) for c in columns for rate, acc in zip(rows[c], rows["acc"])]
        found[p.paper[item].label] = {
            "cells": len(cells),
            "whole numbers of images": sum(bool(attainable(100 * r, c)) for r, c in cells),
            "expected by chance": sum(c for _, c in cells) / n}
    return p.finding("table-1, table-9", "Attack success as a share of correctly classified CIFAR-10 images",
                     numbers=f"{n} test images", ours=found,
                     use="Success is counted over other images, such as all.")


@checks
def accuracy_levels(p):
    words = "reaches approximately 70%, 99%, and 90%"
    means = [100 * rows["acc"].mean() for rows in blocks(p).values()]
    return p.finding("table-1", "Accuracies are around 70, 99 and 90%", quotes=[(words, "Section IV.C")],
                     numbers=stated(words),
                     ours={d: (100 * r["acc"].min(), 100 * r["acc"].mean(), 100 * r["acc"].max())
                           for d, r in blocks(p).items()},
                     holds=bool(np.allclose(means, stated(words), atol=1.5)),
                     use="Fair for the means; single models on CIFAR-10 lie further off.")
