"""Chen et al. (ROBY): attack success against the metrics of 30 models; robust and small models are in
`chen_models`."""
import numpy as np
import pandas as pd
from scipy import stats

from shared.audit.finding import Checks, attainable, rounds_to

checks = Checks("chen")
METRICS = ("fsa", "fsd", "roby")
N_CLASSES = 10
DECIMALS = 2  # Tables II and III print four decimals of which the last two are zeros throughout



def blocks(p, item="table-1"):
    """(data set, its rows) in printed order."""
    return p.frame(item).groupby("dataset", sort=False)


def pearson(p, attack, metric):
    """Pearson's r of an attack success column with a metric column of Table I, by data set."""
    return {data: float(np.corrcoef(rows[attack], rows[metric])[0, 1]) for data, rows in blocks(p)}


def sorted_uniform_correlations(generator, *, size, pairs):
    """Pearson's r of `pairs` pairs of independent U(0,1) vectors of `size`, each sorted, shape (pairs,)."""
    x, y = (np.sort(generator.random((pairs, size)), axis=1) for _ in range(2))
    x, y = (v - v.mean(axis=1, keepdims=True) for v in (x, y))
    return (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))


@checks
def correlations(p):
    found = []
    for item, norm in (("table-2", "inf"), ("table-3", "2")):
        for row in p.paper[item].rows:
            printed = {f"{m}_{norm}": row[f"{m}_{norm}"] for m in METRICS}
            values = {column: pearson(p, f"asr_{norm}", column)[row["dataset"]] for column in printed}
            right = [rounds_to(values[c], printed[c], DECIMALS) for c in printed]
            found.append(p.finding(
                f"table-1, {item}", f"Pearson's r on {row['dataset']}, norm {norm}, follows from Table I",
                printed=printed, recomputed=values, holds=all(right),
                consequence="Table I is the data behind the coefficients." if all(right) else
                "One coefficient is rounded down; a reproduction compares with the recomputed value."))
    return found


@checks
def precision_of_correlations(p):
    cells = [(f.recomputed[c], f.printed[c]) for f in correlations(p) for c in f.printed]
    decimals = p.decimals("table-2", "fsa_inf")
    agree = {f"cells equal to {d} decimals": sum(rounds_to(v, c, d) for v, c in cells)
             for d in (DECIMALS, decimals)}
    return p.finding("table-1, table-2, table-3", "The correlations are given to the printed four decimals",
                     printed=f"{len(cells)} cells, {decimals} decimals", recomputed=agree,
                     holds=agree[f"cells equal to {decimals} decimals"] == len(cells),
                     consequence="The trailing zeros are not digits; two decimals are all there is to "
                                 "compare.")


@checks
def mean_correlations(p):
    cells = {(row["attack_success"], m): row[m] for row in p.paper["table-4"].rows
             for m in ("roby_2", "roby_inf")}
    values = {k: np.mean(list(pearson(p, *k).values())) for k in cells}
    named = {" ".join(k): v for k, v in values.items()}
    return p.finding("table-1, table-4", "Table IV prints the means of three correlations", recomputed=named,
                     printed={" ".join(k): v for k, v in cells.items()},
                     holds=all(rounds_to(values[k], cells[k], 3) for k in cells),
                     consequence="Most cells are off in the third decimal; the confirmed row on rounded coefficients says why.")


@checks
def means_of_rounded(p):
    cells = {(row["attack_success"], m): row[m] for row in p.paper["table-4"].rows
             for m in ("roby_2", "roby_inf")}
    # Whole hundredths are summed, so that cutting after three decimals is exact.
    cut = {k: sum(round(100 * r) for r in pearson(p, *k).values()) * 10 // 3 / 1000 for k in cells}
    return p.finding("table-1, table-4",
                     "Table IV averages coefficients rounded to two decimals and cuts at three",
                     printed={" ".join(k): v for k, v in cells.items()},
                     recomputed={" ".join(k): v for k, v in cut.items()},
                     holds=all(np.isclose(cut[k], cells[k]) for k in cells),
                     consequence="This explains all four cells, and why their last printed digit carries "
                                 "nothing.")


@checks
def best_metric(p):
    best = {}
    for norm in ("inf", "2"):
        r = pd.DataFrame({m: pearson(p, f"asr_{norm}", f"{m}_{norm}") for m in METRICS}).abs()
        best |= {f"{data}, norm {norm}": m for data, m in r.idxmax(axis=1).items()}
    return p.finding("table-1, table-2, table-3", "ROBY correlates best with attack success everywhere",
                     printed=p.text("table-3", "claims", "highest correlation"), recomputed=best,
                     holds=set(best.values()) == {"roby"},
                     consequence="ROBY is not the best metric in every block, although it is recommended "
                                 "for that.")


@checks
def strict_order(p):
    columns = [f"{c}_{norm}" for norm in ("inf", "2") for c in ("asr", *METRICS)]
    rho, tau = (np.array([[stat(rows[columns[0]], rows[c])[0] for c in columns[1:]] for _, rows in blocks(p)])
                for stat in (stats.spearmanr, stats.kendalltau))
    return p.finding("table-1",
                     "Every metric ranks the ten models of a data set exactly as attack success does",
                     printed=f"{len(columns)} columns, {len(rho)} data sets",
                     recomputed={"smallest |Spearman|": np.abs(rho).min(),
                                 "smallest |Kendall|": np.abs(tau).min()},
                     holds=bool(np.allclose(np.abs(rho), 1) and np.allclose(np.abs(tau), 1)),
                     consequence="Not one exchange among so many rankings of measured quantities is "
                                 "remarkable; a reproduction should report rank agreement with intervals.")


@checks
def chance_correlation(p):
    size = len(next(iter(blocks(p)))[1])
    low, median, high = np.quantile(sorted_uniform_correlations(p.generator, size=size, pairs=200_000),
                                    (.05, .5, .95))
    r = np.abs([v for norm in ("inf", "2") for m in METRICS
                for v in pearson(p, f"asr_{norm}", f"{m}_{norm}").values()])
    return p.finding("table-1, table-2, table-3",
                     "Pearson's r of two unrelated vectors that are merely sorted",
                     printed={"smallest |r|": r.min(), "largest |r|": r.max()},
                     recomputed={"median": median, "5%": low, "95%": high}, holds=None,
                     consequence="Given the equal order, coefficients of this size carry no further "
                                 "evidence.")


@checks
def pooled_correlation(p):
    t = p.frame("table-1")
    pairs = [("asr_2", "roby_2"), ("asr_2", "roby_inf"), ("asr_inf", "roby_2"), ("asr_inf", "roby_inf")]
    return p.finding("table-1, table-4", "Correlation over all 30 models at once",
                     printed={f"{row['attack_success']} {m}": row[m] for row in p.paper["table-4"].rows
                              for m in ("roby_2", "roby_inf")},
                     recomputed={" ".join(k): np.corrcoef(t[k[0]], t[k[1]])[0, 1] for k in pairs}, holds=None,
                     consequence="ROBY compares models of one data set, not models across data sets.")


@checks
def closer_than_sampling_error(p):
    n, closest = p.settings("table-1")["n_test_images_for_roby"], {}
    for data, rows in blocks(p):
        rate = np.sort(rows.asr_inf)
        i = int(np.argmin(np.diff(rate)))
        closest[data] = (rate[i + 1] - rate[i], np.sqrt(rate[i] * (1 - rate[i]) / n))
    return p.finding("table-1",
                     "Smallest difference of neighbouring attack success rates, and its standard error",
                     printed={d: c[0] for d, c in closest.items()},
                     recomputed={d: c[1] for d, c in closest.items()},
                     holds=None,
                     consequence="Models this close cannot be ranked by 10,000 images, yet all metrics "
                                 "rank them alike.")


@checks
def l2_weaker(p):
    t = p.frame("table-1")
    exceptions = t[t.asr_2 < t.asr_inf]
    return p.finding("table-1", "Models are less robust to the L2 attack than to the Linf attack",
                     printed=p.text("table-1", "claims", "weaker"),
                     recomputed={"rows with higher L2 success": int((t.asr_2 > t.asr_inf).sum()),
                                 "exceptions": tuple(exceptions.dataset + " " + exceptions.model)},
                     holds=exceptions.empty,
                     consequence="The statement has exceptions; and at one epsilon the L2 ball lies inside "
                                 "the Linf ball, so optimal attacks could not give the rows that obey it: "
                                 "the budgets differ.")


@checks
def ranking_direction(p):
    descending = [bool((np.diff(rows.asr_inf) < 0).all()) for _, rows in blocks(p)]
    return p.finding("table-1", "Table I lists models by falling attack success",
                     printed=p.text("table-1", "transcription_notes", "descending"),
                     recomputed={"first and last": tuple(p.frame("table-1").asr_inf.iloc[[0, 9]])},
                     holds=all(descending), source="table-1.transcription_notes, table-1.rows",
                     consequence="The table rises; robust models come first.")


@checks
def success_over_correct_images(p):
    n, found = p.settings("table-1")["n_test_images_for_roby"], []
    for item, columns in (("table-1", ("asr_inf", "asr_2")), ("table-9", ("asr",))):
        rows = p.frame(item)[p.frame(item).dataset == "CIFAR-10"]  # few correct images make the test sharp
        cells = [(rate, round(acc * n)) for c in columns for rate, acc in zip(rows[c], rows.acc)]
        whole = sum(bool(attainable(100 * rate, correct)) for rate, correct in cells)
        found.append(p.finding(
            item, f"{item.capitalize()}: attack success as a share of correctly classified CIFAR-10 images",
            printed=f"{len(cells)} cells", recomputed={
                "whole numbers of images": whole, "expected by chance": sum(c for _, c in cells) / n,
                "below the clean error": sum(int(rate < 1 - c / n) for rate, c in cells)},
            holds=None, source=f"{item}.rows",
            consequence="Cells that are no whole number of images rule this definition out; success counted "
                        "over all images, clean errors included, stays possible."))
    return found


@checks
def accuracy_levels(p):
    levels = p.quote("table-1", "claims", r"(\d+)% \(CIFAR-10\), (\d+)% \(MNIST\), (\d+)% \(Fashion")
    means = [100 * rows.acc.mean() for _, rows in blocks(p)]
    return p.finding("table-1", "Accuracies are around 70, 99 and 90%", printed=levels,
                     recomputed={d: (100 * r.acc.min(), 100 * r.acc.mean(), 100 * r.acc.max())
                                 for d, r in blocks(p)},
                     holds=bool(np.allclose(means, levels, atol=1.5)), source="table-1.claims, table-1.rows",
                     consequence="Fair for the means; on CIFAR-10 single models are up to five points away.")


@checks
def min_max_ranges(p):
    t, pairs = p.frame("table-1"), N_CLASSES * (N_CLASSES - 1) // 2
    # A mean of k values scaled to [0, 1] by their own minimum and maximum contains a 0 and a 1.
    limits = {"fsa": 1 / N_CLASSES, "fsd": 1 / pairs, "roby": 1 / pairs}
    ranges = {m: (t[[f"{m}_inf", f"{m}_2"]].min(axis=None), t[[f"{m}_inf", f"{m}_2"]].max(axis=None))
              for m in METRICS}
    return p.finding("table-1, algorithm-1",
                     "Metrics lie where min-max scaling inside one model must put them",
                     printed=ranges, recomputed={m: (low, 1 - low) for m, low in limits.items()},
                     holds=all(limits[m] <= min(r) and max(r) <= 1 - limits[m] for m, r in ranges.items()),
                     consequence="Compatible with min-max scaling, which makes the metrics blind to "
                                 "absolute margins.")
