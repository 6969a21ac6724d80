"""Chen et al. (ROBY): robust models, small models, cost; and the published code beside the text."""
from collections import Counter

import numpy as np

from papers.chen.audit import blocks
from report.finding import Checks, stated

checks = Checks("chen")
# What github.com/Allen-piexl/ROBY (revision 4d161b3) does, the code of the journal version of 2022; read,
# not copied.
CODE = {"PGD steps x size": (10, 2.0), "adversarial share of a batch": 1.0, "features": "the ten logits",
        "grouping": "true labels", "batch normalisation": "statistics of the current batch"}
JOURNAL = "The code is that of the journal version of 2022, which may differ from this one."


@checks
def natural_column(p):
    pairs = list(zip(p.rows("table-5"), p.rows("table-1")))
    same = sum(a["roby_original_natural"] == b["roby_2"] for a, b in pairs)
    return p.finding("table-1, table-5", "Table V repeats the L2 ROBY of Table I for natural models",
                     quotes=[("we calculated the ROBY_2 on both natural and robust models", "Section IV.D")],
                     numbers=f"{len(pairs)} rows", ours={"equal": same}, holds=(same, len(pairs)),
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
                        reading=reading, use="The order is a test for a reproduction.")


@checks
def decline(p):
    samples = ("original", "adversarial")
    falls = {data: {s: rows[f"roby_{s}_natural"] - rows[f"roby_{s}_robust"] for s in samples}
             for data, rows in blocks(p, "table-5").items()}
    falls["all"] = {s: np.concatenate([fall[s] for fall in falls.values()]) for s in samples}
    return p.finding("table-5",
                     "Fall of ROBY from natural to robust models, on original and on adversarial samples",
                     quotes=[("obtain a more significant decline than general ROBY", "Section IV.D")],
                     numbers="ten models a data set",
                     ours={f"{data}, {name}": tuple(f(v) for v in fall.values())
                           for data, fall in falls.items()
                           for name, f in (("mean", np.mean), ("median", np.median))},
                     reading="it is read as medians, or as means over all models.",
                     use="By means within a data set it holds on some data sets only.")


@checks
def adversarial_samples_lower_roby(p):
    rows = p.rows("table-5")
    lower = sum(r["roby_adversarial_natural"] < r["roby_original_natural"] for r in rows)
    return p.finding("table-5", "Natural models whose ROBY is lower on adversarial than on original samples",
                     numbers=f"{len(rows)} rows", ours=lower,
                     use="Values on the two kinds of samples are not on one scale of robustness.")


@checks
def repeated_values(p):
    rows = p.rows("table-5")
    pairs = Counter((r["roby_adversarial_natural"], r["roby_adversarial_robust"]) for r in rows)
    within, expected = {}, 0
    for data, block in blocks(p, "table-5").items():
        values = np.concatenate([v for k, v in block.items() if k.startswith("roby")])
        within |= {f"{data} {v}": n for v, n in Counter(values.tolist()).items() if n > 1}
        expected += len(values) * (len(values) - 1) / 2 / (1e4 * np.ptp(values) + 1)
    return p.finding("table-5", "Values of four decimals that occur more than once",
                     numbers={f"pair {a}/{b}": n for (a, b), n in pairs.items() if n > 1},
                     ours={**within, "equal values expected within data sets, if spread evenly": expected},
                     use="Check these cells before they serve as targets.")


@checks
def network_accuracy(p):
    for item, words in (("table-6", "classification success rate reaches approximately 97%"),
                        ("table-7", "classification accuracy (ACC) reaches approximately 96%")):
        accuracy = [100 * r["acc"] for r in p.rows(item)]
        yield p.finding(item, f"Accuracies of {p.paper[item].label} beside their round number",
                        quotes=[(words, "Section IV.E")], numbers=stated(words)[0],
                        ours={"from": min(accuracy), "to": max(accuracy)},
                        reading="approximately means at least, cut to whole percents.")


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
    nets = p.rows("table-8")
    pairs = [(a["model"], b["model"]) for a in nets for b in nets
             if a["dropout"] and not b["dropout"] and all(a[k] == b[k] for k in ("conv", "pool", "fc"))]
    compared = {}
    for data, rows in blocks(p, "table-9").items():
        asr = dict(zip(rows["model"], rows["asr"]))
        compared |= {f"{data} {a}, {b}": (asr[a], asr[b]) for a, b in pairs}
    better = sum(without < with_ for with_, without in compared.values())
    return p.finding("table-9, table-8",
                     "Without dropout, attacks succeed less on the otherwise equal network",
                     quotes=[("The model without the dropout layer has better robustness", "Section IV.E")],
                     numbers="success with dropout, without", ours=compared, holds=(better, len(compared)),
                     reading="the sentence sums up a trend.")


@checks
def linear_over_model_types(p):
    t = p.frame("table-9")
    r = {d: np.corrcoef(rows["asr"], rows["roby"])[0, 1] for d, rows in blocks(p, "table-9").items()}
    return p.finding("figure-11, table-9", "Correlation behind the linear relation over model types",
                     quotes=[("has a linear relationship with the model layer type", "Section IV.E")],
                     numbers="four models a data set",
                     ours={**r, "all twelve": np.corrcoef(t.asr, t.roby)[0, 1]},
                     reading="it is meant inside a data set.")


@checks
def running_time(p):
    words = "With only 1% of time cost"
    ratio = {row["dataset"]: 100 * row["roby_ms"] / row["pgd_ms"] for row in p.rows("table-10")}
    return p.finding("table-10", "Cost of ROBY in percent of the attack-based evaluation",
                     quotes=[(words, "Abstract")], numbers=stated(words)[0], ours=ratio,
                     use="Right on the printed times; a forward pass is set against an iterated attack.")


@checks
def step_and_epsilon(p):
    pgd = p.settings("table-1")["pgd"]
    return p.finding("procedure-pgd-and-training", "Step size over radius of the attacks",
                     quotes=[("with step size 2 and perturbation size", "Section IV.A")],
                     numbers={d: (s["step_size"], s["epsilon"]) for d, s in pgd.items()},
                     ours={d: s["step_size"] / s["epsilon"] for d, s in pgd.items()},
                     reading="the two are on different scales, such as 0-255 and 0-1.",
                     use="Taken on one scale, each step crosses the ball; the book runs both readings.")


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
        p.finding("equation-5", "The function norm", kind="words",
                  quotes=[("denotes the standardized function", "below Equation 6")],
                  reading="a formula was lost.", use="The book scales lists inside a model by min-max."),
        p.finding("algorithm-1", "What n counts in the cost", kind="words",
                  quotes=[("the ROBY metrics have a time complexity of O(n^2)", "Section III.B")],
                  reading="n counts classes.", use="In samples the algorithm is linear."),
        p.finding("procedure-pgd-and-training", "PGD steps and step size on MNIST", kind="scripts",
                  numbers=(pgd["iterations"], pgd["step_size"]), ours=CODE["PGD steps x size"],
                  use=f"{JOURNAL} Both attacks are run."),
        p.finding("procedure-pgd-and-training", "Adversarial share of a training batch", kind="scripts",
                  quotes=[("the same number of original samples and adversarial samples", "Section IV.B")],
                  numbers=0.5, ours=CODE["adversarial share of a batch"], use=JOURNAL),
        p.finding("algorithm-1", "What enters the metric", kind="scripts",
                  quotes=[("we use its M-dimensional embedding", "Section III.A")],
                  ours=(CODE["features"], CODE["grouping"], CODE["batch normalisation"]),
                  use=f"{JOURNAL} Each choice is a parameter of the book."),
    ]
