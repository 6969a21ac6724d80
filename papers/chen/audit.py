"""Chen et al. (ROBY): the printed numbers against each other, and the published code beside the text."""
from collections import Counter

import numpy as np
import pandas as pd
from scipy import stats

from papers.findings import Checks, attainable, rounds_to

checks = Checks()
METRICS = ("fsa", "fsd", "roby")
NORMS = {"inf": "table-2", "2": "table-3"}  # attack and metric in one norm, and where its correlations stand
# github.com/Allen-piexl/ROBY (revision 4d161b3), read, not copied.
STRENGTH = "The book judges the claim in the strength of these numbers."
JOURNAL = "The code is that of the journal version of 2022, which may differ from this one."


def blocks(p, item="table-1"):
    """{data set: the rows of its models}, in printed order."""
    return dict(tuple(p.frame(item).groupby("dataset", sort=False)))


def pearson(p, attack, metric):
    """Pearson's r of an attack success column with a metric column of Table I, by data set."""
    return {data: rows[attack].corr(rows[metric]) for data, rows in blocks(p).items()}


def coefficients(p):
    """Tables II and III recomputed: {(data set, metric, norm): (printed, recomputed)}."""
    return {(row["dataset"], m, norm):
            (row[f"{m}_{norm}"], pearson(p, f"asr_{norm}", f"{m}_{norm}")[row["dataset"]])
            for norm, item in NORMS.items() for row in p.rows(item) for m in METRICS}


def sorted_uniform_correlations(generator, *, size, pairs):
    """Pearson's r of `pairs` pairs of independent U(0,1) vectors of `size`, each sorted, shape (pairs,)."""
    x, y = (np.sort(generator.random((pairs, size)), axis=1) for _ in range(2))
    return stats.pearsonr(x, y, axis=1).statistic


@checks
def correlations(p):
    cells = coefficients(p)
    off = {f"{d} {m.upper()}, norm {n}": cell for (d, m, n), cell in cells.items()
           if not rounds_to(*cell[::-1], 2)}     # of the four that are printed two are zeros throughout
    return p.finding("table-1, table-2, table-3",
                     "The correlations of Tables II and III follow from Table I, to two decimals",
                     quotes=[("present the Pearson correlation coefficient of the ROBY metrics and ASR",
                              "Section IV.C")], numbers=f"{len(cells)} cells",
                     ours={"others (printed, recomputed)": off}, holds=(len(cells) - len(off), len(cells)),
                     reading="the last digit of the exception is cut, not rounded.",
                     use="Two decimals are all there is to compare: the last two are zeros throughout.")


@checks
def pooled_correlations(p):
    rows, columns = p.frame("table-1"), [(norm, metric) for norm in NORMS for metric in METRICS]
    return p.finding("table-1", "Correlations over the models of all three data sets together",
                     quotes=[("present the Pearson correlation coefficient of the ROBY metrics and ASR",
                              "Section IV.C")], numbers=f"{len(rows)} models",
                     ours={f"{m.upper()}, norm {n}": rows[f"asr_{n}"].corr(rows[f"{m}_{n}"])
                           for n, m in columns},
                     reading="ROBY compares models of one data set, as Tables II and III do.",
                     use="ROBY ranks models of one data set; across data sets it says less.")


@checks
def limits_of_the_metrics(p):
    rows, k = p.frame("table-1"), 10
    pairs = k * (k - 1) // 2
    limits = {metric: (1 / of, 1 - 1 / of) for metric, of in (("fsa", k), ("fsd", pairs), ("roby", pairs))}
    columns = {f"{m}_{n}": limits[m] for m in METRICS for n in NORMS}
    inside = sum(rows[c].between(low - 5e-5, high + 5e-5).sum() for c, (low, high) in columns.items())
    return p.finding("table-1, algorithm-1", "The metrics lie where means of values scaled to [0, 1] can lie",
                     numbers=f"{rows[list(columns)].size} values",
                     ours={"FSA, of ten classes": limits["fsa"], "FSD and ROBY, of 45 pairs": limits["fsd"],
                           "inside": inside},
                     use="The smallest class or pair counts as 0 and the largest as 1, whatever the units: a "
                         "metric says nothing of the size of a network's features.")


@checks
def means_of_rounded(p):
    cells, ours = {}, {}
    for row in p.rows("table-4"):
        for m in ("roby_2", "roby_inf"):
            cell, r = f"{row['attack_success']} {m}", [*pearson(p, row["attack_success"], m).values()]
            # Whole hundredths are summed, so that cutting after three decimals is exact.
            cells[cell], ours[cell] = row[m], (sum(round(100 * v) for v in r) * 10 // 3 / 1000, np.mean(r))
    return p.finding("table-1, table-4",
                     "Table IV averages coefficients rounded to two decimals and cuts at three",
                     quotes=[("the average Pearson correlation coefficient", "Section IV.C")],
                     numbers=cells, ours=ours,
                     holds=all(np.isclose(ours[cell][0], cells[cell]) for cell in cells),
                     use="The second number is the mean of the unrounded ones; the last printed digit is "
                         "rounding.")


@checks
def best_metric(p):
    r = pd.Series({cell: recomputed for cell, (_, recomputed) in coefficients(p).items()}).unstack(1)
    best, signed = r.abs().idxmax(axis=1), r.idxmax(axis=1)
    rows = p.rows("table-3")
    sizes = [(abs(row["roby_2"]), max(abs(row["fsa_2"]), abs(row["fsd_2"]))) for row in rows]
    alone, tied = sum(roby > others for roby, others in sizes), sum(roby == others for roby, others in sizes)
    return p.finding("table-1, table-2, table-3",
                     "ROBY has the correlation of largest size with attack success",
                     quotes=[("obtain the highest Pearson correlation coefficient value among all three "
                              "datasets", "Section IV.C")], numbers=f"{len(best)} blocks",
                     ours={"others": {f"{data}, norm {norm}": metric.upper()
                                      for (data, norm), metric in best.items() if metric != "roby"},
                           "highest with its sign": f"ROBY in {(signed == 'roby').sum()}"},
                     holds=((best == "roby").sum(), len(best)),
                     reading="highest is meant with the sign; FSA and FSD correlate negatively.",
                     use=f"In Table III as printed, ROBY alone is largest on {alone} of {len(rows)} data "
                         f"sets (on {tied} more the printed values tie). {STRENGTH}")


@checks
def strict_order(p):
    columns = [f"{c}_{norm}" for norm in NORMS for c in ("asr", *METRICS)]
    rho = np.abs([rows[columns].corr("spearman").iloc[0] for rows in blocks(p).values()])
    return p.finding("table-1",
                     "Every metric ranks the ten models of a data set exactly as attack success does, or in "
                     "reverse",
                     quotes=[("each model's ROBY metrics well match the attack success rates",
                              "Section IV.C")], numbers=f"{len(columns)} columns, {len(rho)} data sets",
                     ours={"smallest |Spearman|": rho.min()}, holds=bool(np.allclose(rho, 1)),
                     use="The match is in rank as well; a reproduction reports rank agreement with "
                         "intervals.")


@checks
def closer_than_sampling_error(p):
    n, closest = p.settings("table-1")["n_test_images_for_roby"], {}
    for data, rows in blocks(p).items():
        rate = np.sort(rows["asr_inf"])
        i = int(np.argmin(np.diff(rate)))
        closest[data] = (rate[i + 1] - rate[i], np.sqrt(rate[i] * (1 - rate[i]) / n))
    return p.finding("table-1",
                     "Smallest difference of neighbouring attack success rates (L∞), and the standard error "
                     "of one rate",
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
                             "equal: with one epsilon the L2 ball would lie inside the other.", use=STRENGTH)


@checks
def ranking_direction(p):
    ends = {data: tuple(rows["asr_inf"].iloc[[0, -1]]) for data, rows in blocks(p).items()}
    return p.finding("table-1", "The direction in which Table I ranks", numbers=ends,
                     ours="attack success rises",
                     quotes=[("in descending order of attack success rate", "Section IV.C")],
                     reading="descending is meant of robustness: robust models come first.")


@checks
def success_over_correct_images(p):
    n, counts = p.settings("table-1")["n_test_images_for_roby"], {}
    for item, columns in (("table-1", ("asr_inf", "asr_2")), ("table-9", ("asr",))):
        rows = blocks(p, item)["CIFAR-10"]  # few correct images make the test sharp
        cells = [(rate, round(acc * n)) for c in columns for rate, acc in zip(rows[c], rows["acc"])]
        counts[p.paper[item].label] = {
            "cells": len(cells),
            "whole numbers of images": sum(bool(attainable(100 * r, c)) for r, c in cells),
            "expected by chance": sum(c for _, c in cells) / n}
    return p.finding("table-1, table-9", "Attack success as a share of correctly classified CIFAR-10 images",
                     numbers=f"{n} test images", ours=counts,
                     use="Success may be counted over other images, such as all.")


@checks
def natural_column(p):
    same = p.frame("table-5")["roby_original_natural"] == p.frame("table-1")["roby_2"]
    return p.finding("table-1, table-5", "Table V repeats the L2 ROBY of Table I for natural models",
                     quotes=[("we calculated the ROBY_2 on both natural and robust models", "Section IV.D")],
                     numbers=f"{len(same)} rows", ours={"equal": same.sum()}, holds=(same.sum(), len(same)),
                     use="One set of natural models serves both tables.")


@checks
def robust_below_natural(p):
    rows = p.rows("table-5")
    for samples in ("original", "adversarial"):
        others = {f"{r['dataset']} {r['model']} (natural, robust)":
                  (r[f"roby_{samples}_natural"], r[f"roby_{samples}_robust"]) for r in rows
                  if r[f"roby_{samples}_robust"] >= r[f"roby_{samples}_natural"]}
        reading = "the sentence sums up the data sets, or a digit is misprinted." if others else ""
        yield p.finding("table-5", f"Robust models have smaller ROBY than natural ones on {samples} samples",
                        quotes=[("the robust models have a smaller ROBY value than the natural models",
                                 "Section IV.D")], numbers=f"{len(rows)} rows",
                        ours={"others": others or "none"}, holds=(len(rows) - len(others), len(rows)),
                        reading=reading,
                        use=STRENGTH if others else "The order is a test for a reproduction.")


@checks
def decline(p):
    rows = p.frame("table-5")
    original, adversarial = (rows[f"roby_{samples}_natural"] - rows[f"roby_{samples}_robust"]
                             for samples in ("original", "adversarial"))
    more = (adversarial > original).sum()
    means = {f"mean decline, {data}": (adversarial[block].mean(), original[block].mean())
             for data, block in rows.groupby("dataset", sort=False).groups.items()}
    return p.finding("table-5", "The decline of ROBY by robust training is larger on adversarial samples",
                     quotes=[("obtain a more significant decline than general ROBY", "Section IV.D")],
                     numbers=f"{len(rows)} rows",
                     ours={"mean decline": (adversarial.mean(), original.mean())} | means,
                     holds=(more, len(rows)),
                     reading="the sentence speaks of the mean decline over all models.", use=STRENGTH)


@checks
def repeated_values(p):
    rows = p.rows("table-5")
    pairs = Counter((r["roby_adversarial_natural"], r["roby_adversarial_robust"]) for r in rows)
    within, expected = {}, 0
    for data, block in blocks(p, "table-5").items():
        values = block.filter(like="roby").to_numpy().T.ravel()
        within |= {f"{data} {v}": n for v, n in Counter(values.tolist()).items() if n > 1}
        expected += len(values) * (len(values) - 1) / 2 / (1e4 * np.ptp(values) + 1)
    return p.finding("table-5", "Values of four decimals that occur more than once",
                     numbers={f"pair {a}/{b}": n for (a, b), n in pairs.items() if n > 1},
                     ours={**within, "equal values expected within data sets, if spread evenly": expected},
                     use="Check these cells before they serve as targets.")


@checks
def capacity(p):
    steps = {f"{p.paper[item].label} {c}": np.diff([r[c] for r in p.rows(item)])
             for item in ("table-6", "table-7") for c in ("asr", "roby")}
    return p.finding("table-6, table-7", "Attack success and ROBY fall with every added width and layer",
                     quotes=[("Both ASR and ROBY drop as the number of layers increase", "Section IV.E")],
                     numbers=f"{sum(map(len, steps.values()))} steps", ours=steps,
                     holds=all((s < 0).all() for s in steps.values()),
                     use="Both trends are strict, though the first steps in width are tiny.")


@checks
def shared_network(p):
    last, first = p.rows("table-6")[-1], p.rows("table-7")[0]
    return p.finding("table-6, table-7", "FCN-6 is the same network in both tables", numbers=last["model"],
                     ours={k: (last[k], first[k]) for k in ("acc", "asr", "roby")}, holds=last == first,
                     use="The two series share one trained network.")


@checks
def dropout(p):
    nets = p.frame("table-9").merge(p.frame("table-8"), on="model")
    pairs = nets[nets.dropout].merge(nets[~nets.dropout], on=["dataset", "conv", "pool", "fc"])
    compared = {f"{r.dataset} {r.model_x}, {r.model_y}": (r.asr_x, r.asr_y) for r in pairs.itertuples()}
    better = (pairs.asr_y < pairs.asr_x).sum()
    return p.finding("table-9, table-8",
                     "Without dropout, attacks succeed less on the otherwise equal network",
                     quotes=[("The model without the dropout layer has better robustness", "Section IV.E")],
                     numbers="success with dropout, without", ours=compared, holds=(better, len(compared)),
                     reading="the sentence sums up a trend.", use=STRENGTH)


@checks
def linear_over_model_types(p):
    groups = blocks(p, "table-9") | {"all twelve": p.frame("table-9")}
    return p.finding("figure-11, table-9", "Correlation behind the linear relation over model types",
                     quotes=[("has a linear relationship with the model layer type", "Section IV.E")],
                     numbers="four models a data set",
                     ours={name: rows["asr"].corr(rows["roby"]) for name, rows in groups.items()},
                     reading="it is meant inside a data set.")


@checks
def words(p):
    pgd = p.settings("table-1")["pgd"]["MNIST"]
    return [
        p.finding("equation-pearson", "The printed formula beside Pearson's", kind="words",
                  quotes=[("use the Pearson correlation coefficient", "Section IV.C")],
                  ours=p.paper["equation-pearson"].raw["formula"],
                  reading="the second squared term, of x where y belongs, is a slip of print or extraction.",
                  use="The tables use Pearson's formula."),
        p.finding("equation-5, equation-9, algorithm-1",
                  "Equations 5 and 9 give ROBY the direction it is said to have", kind="words",
                  quotes=[("The smaller the distance within the same class of samples", "above Equation 5"),
                          ("The smaller the ROBY value is, the lower the overlap", "above Equation 9")],
                  numbers=(p.paper["equation-5"].raw["formula"], p.paper["equation-9"].raw["formula"]),
                  ours="a smaller distance makes FSA of Equation 5 larger, and with it ROBY of Equation 9",
                  holds=False, reading="Algorithm 1 is meant, whose FSA inside ROBY is the mean distance.",
                  use="The book follows the algorithm."),
        p.finding("procedure-pgd-and-training", "PGD steps and step size on MNIST", kind="scripts",
                  numbers=(pgd["iterations"], pgd["step_size"]), ours=(10, 2.0),
                  use=f"{JOURNAL} Both attacks are run."),
        p.finding("procedure-pgd-and-training", "Adversarial share of a training batch", kind="scripts",
                  quotes=[("the same number of original samples and adversarial samples", "Section IV.B")],
                  numbers=0.5, ours=1.0, use=JOURNAL),
        p.finding("algorithm-1", "What enters the metric", kind="scripts",
                  quotes=[("we use its M-dimensional embedding", "Section III.A")],
                  ours=("the ten logits", "true labels", "batch normalisation by the current batch"),
                  use=f"{JOURNAL} The book measures other layers and predicted labels, too; of normalisation "
                      "by batches it measures the attack's success alone."),
    ]
