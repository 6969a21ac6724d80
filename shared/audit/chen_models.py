"""Chen et al. (ROBY): robust models, small models, cost; and the published code against the text."""
from collections import Counter

import numpy as np

from shared.audit.chen import blocks
from shared.audit.finding import Checks, rounds_to

checks = Checks("chen")
# What github.com/Allen-piexl/ROBY (revision 4d161b3, code of the journal version) does, read, not copied.
CODE = {"PGD steps x size": (10, 2.0), "adversarial share of a batch": 1.0, "features": "the ten logits",
        "grouping": "true labels", "batch normalisation": "statistics of the current batch"}


@checks
def natural_column(p):
    same = p.frame("table-5").roby_original_natural.to_numpy() == p.frame("table-1").roby_2.to_numpy()
    return p.finding("table-1, table-5", "Table V repeats the L2 ROBY of Table I for natural models",
                     printed=f"{len(same)} rows", recomputed={"equal": int(same.sum())},
                     holds=bool(same.all()),
                     consequence="One set of natural models serves both tables.")


@checks
def robust_below_natural(p):
    t, found = p.frame("table-5"), []
    for samples in ("original", "adversarial"):
        worse = t[t[f"roby_{samples}_robust"] >= t[f"roby_{samples}_natural"]]
        found.append(p.finding(
            "table-5", f"Robust models have smaller ROBY than natural ones on {samples} samples",
            printed=f"{len(t)} rows", recomputed={"rows that agree": len(t) - len(worse),
                                                  "exceptions": tuple(worse.dataset + " " + worse.model)},
            holds=worse.empty, consequence="Holds throughout." if worse.empty else "Not on every model."))
    return found


@checks
def decline(p):
    t = p.frame("table-5")
    t["original"] = t.roby_original_natural - t.roby_original_robust
    t["adversarial"] = t.roby_adversarial_natural - t.roby_adversarial_robust
    mean = t.groupby("dataset", sort=False)[["original", "adversarial"]].mean()
    smaller = int((t.adversarial < t.original).sum())
    return p.finding("table-5", "ROBY falls more on adversarial than on original samples",
                     printed=p.text("table-5", "claims", "decline is larger"),
                     recomputed={**{d: tuple(row) for d, row in mean.iterrows()},
                                 "rows with smaller fall": smaller},
                     holds=bool((mean.adversarial > mean.original).all()),
                     consequence="On Fashion-MNIST the mean fall is smaller, not larger.")


@checks
def adversarial_samples_lower_roby(p):
    t = p.frame("table-5")
    lower = t.roby_adversarial_natural < t.roby_original_natural
    return p.finding("table-5", "Natural models whose ROBY is lower on adversarial samples",
                     printed=f"{len(t)} rows", recomputed=int(lower.sum()), holds=None,
                     consequence="By ROBY's own reading these models look more robust on the samples that "
                                 "fool them.")


@checks
def repeated_values(p):
    t = p.frame("table-5").set_index(["dataset", "model"])
    pairs = Counter(zip(t.roby_adversarial_natural, t.roby_adversarial_robust))
    within = {f"{d} {v}": n for d, rows in t.groupby(level=0, sort=False)
              for v, n in Counter(rows.to_numpy().ravel()).items() if n > 1}
    return p.finding("table-5", "Values of four decimals that occur more than once",
                     printed={f"pair {a}/{b}": n for (a, b), n in pairs.items() if n > 1}, recomputed=within,
                     holds=None,
                     consequence="Two equal values in neighbouring cells of two models cannot be chance; "
                                 "expect slips of copying.")


@checks
def network_accuracy(p):
    found = []
    for item, field in (("table-6", "widths"), ("table-7", "depths")):
        level, = p.quote(item, "claims", rf"about (\d+)% for all {field}")
        accuracy = 100 * p.frame(item).acc
        right = int((accuracy.round() == level).sum())
        found.append(p.finding(item, f"Accuracy is about the same stated level for all {field}",
                               printed=level,
                               recomputed={"from": accuracy.min(), "to": accuracy.max(),
                                           "rows that round to it": right},
                               holds=right == len(accuracy), source=f"{item}.claims, {item}.rows",
                               consequence="Accuracy varies by more than the sentence says."))
    return found


@checks
def capacity(p):
    steps = {f"{item} {c}": np.diff(p.frame(item)[c]) for item in ("table-6", "table-7")
             for c in ("asr", "roby")}
    return p.finding("table-6, table-7", "Attack success and ROBY fall with every added width and layer",
                     printed=f"{sum(map(len, steps.values()))} steps", recomputed=steps,
                     holds=all((s < 0).all() for s in steps.values()),
                     consequence="Both trends are strict, though the first steps in width are tiny.")


@checks
def shared_network(p):
    last, first = p.paper["table-6"].rows[-1], p.paper["table-7"].rows[0]
    return p.finding("table-6, table-7", "FCN-6 is the same network in both tables", printed=last["model"],
                     recomputed={k: (last[k], first[k]) for k in ("acc", "asr", "roby")}, holds=last == first,
                     consequence="The two series share one trained network.")


@checks
def dropout(p):
    without = {row["model"] for row in p.paper["table-8"].rows if not row["dropout"]}
    order = {data: tuple(rows.sort_values("asr").model) for data, rows in blocks(p, "table-9")}
    return p.finding("table-8, table-9", "CNNs without dropout are more robust, alike on all data sets",
                     printed=p.text("table-9", "claims", "without dropout"), recomputed=order,
                     holds=all(set(models[:len(without)]) == without for models in order.values()),
                     consequence="Only one of the nets without dropout leads; pooling separates the four at "
                                 "least as well.")


@checks
def linear_over_model_types(p):
    t = p.frame("table-9")
    r = {d: np.corrcoef(rows.asr, rows.roby)[0, 1] for d, rows in blocks(p, "table-9")}
    return p.finding("figure-11, table-9", "Correlation behind the linear relation over model types",
                     printed=p.text("figure-11", "claims", "linearly"),
                     source="figure-11.claims, table-9.rows",
                     recomputed={**r, "all twelve": np.corrcoef(t.asr, t.roby)[0, 1]}, holds=None,
                     consequence="The relation exists inside a data set; over all twelve networks it is "
                                 "weak.")


@checks
def running_time(p):
    percent, = p.quote("table-10", "claims", r"about (\d+)% of the attack")
    ratio = {row["dataset"]: 100 * row["roby_ms"] / row["pgd_ms"] for row in p.paper["table-10"].rows}
    return p.finding("table-10", "ROBY costs about 1% of the attack-based evaluation", printed=percent,
                     recomputed=ratio,
                     holds=all(round(v) == percent for v in ratio.values()),
                     source="table-10.claims, table-10.rows",
                     consequence="Right on the printed times; a forward pass is set against an iterated "
                                 "attack.")


@checks
def step_and_epsilon(p):
    pgd = p.settings("table-1")["pgd"]
    ratio = {data: s["step_size"] / s["epsilon"] for data, s in pgd.items()}
    return p.finding("table-1, procedure-pgd-and-training", "A PGD step is smaller than the ball it moves in",
                     printed={d: (s["step_size"], s["epsilon"]) for d, s in pgd.items()},
                     recomputed=ratio, holds=all(v < 1 for v in ratio.values()),
                     source="table-1.settings.pgd, procedure-pgd-and-training.inconsistencies",
                     consequence="On CIFAR-10 each step crosses the whole ball: the attack is a repeated "
                                 "one-step attack.")


@checks
def figure_1_accuracy(p):
    printed = p.numbers("figure-1")["accuracy_on_originals_pct"]
    t = p.frame("table-1")
    value = 100 * t[(t.dataset == "MNIST") & (t.model == "ResNet101")].acc.item()
    return p.finding("figure-1, table-1", "Accuracy in Figure 1 is that of MNIST's ResNet101",
                     printed=printed,
                     recomputed=value, holds=rounds_to(value, printed, 0),
                     source="figure-1.printed_numbers, table-1.rows",
                     consequence="Figure and table may share a network.")


@checks
def words(p):
    pgd = p.settings("table-1")["pgd"]["MNIST"]
    return [
        p.finding("equation-pearson", "The printed formula is Pearson's", kind="text", holds=False,
                  recomputed="",
                  printed=p.text("equation-pearson", "inconsistencies", "denominator"),
                  source="equation-pearson.inconsistencies",
                  consequence="A slip of print; the tables use the right one."),
        p.finding("algorithm-1, equation-5, equation-9", "Algorithm 1 computes Equations 5 and 9",
                  kind="text",
                  printed=p.text("algorithm-1", "inconsistencies", "mean distance"), recomputed="",
                  holds=False,
                  source="algorithm-1.inconsistencies",
                  consequence="With Equation 5 the compactness term of ROBY has the wrong sign; use the "
                              "algorithm."),
        p.finding("algorithm-1", "norm(.) is defined", kind="text", holds=False, recomputed="",
                  printed=p.text("algorithm-1", "inconsistencies", "without formula"),
                  source="algorithm-1.inconsistencies",
                  consequence="The book scales lists inside a model by min-max."),
        p.finding("algorithm-1", "ROBY's cost is quadratic", kind="text", holds=False,
                  printed=p.text("algorithm-1", "claims", "O(n^2)"),
                  recomputed="linear in samples, quadratic in classes",
                  source="algorithm-1.claims, algorithm-1.steps", consequence="It is cheaper than claimed."),
        p.finding("procedure-pgd-and-training", "PGD steps times step size on MNIST", kind="code",
                  holds=False,
                  printed=(pgd["iterations"], pgd["step_size"]), recomputed=CODE["PGD steps x size"],
                  source="table-1.settings.pgd; published code",
                  consequence="Two different attacks; both are run."),
        p.finding("procedure-pgd-and-training", "Adversarial share of a training batch", kind="code",
                  holds=False,
                  printed=p.text("procedure-pgd-and-training", "steps", "same number"),
                  recomputed=CODE["adversarial share of a batch"],
                  source="procedure-pgd-and-training.steps; published code",
                  consequence="Robust nets differ in recipe."),
        p.finding("algorithm-1", "What enters the metric", kind="code", holds=None,
                  printed="embedding, grouped by predicted class",
                  recomputed=(CODE["features"], CODE["grouping"], CODE["batch normalisation"]),
                  source="property-3.about; published code",
                  consequence="Each choice is a parameter of the book."),
    ]
