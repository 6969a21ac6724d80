"""He, Li and Song: the printed numbers against each other, and the published scripts beside the text."""
import numpy as np

from papers.findings import Checks, attainable, rounds_to, stated

checks = Checks()
NETS = ("mnist_normal", "mnist_adv", "cifar10_normal", "cifar10_adv")
RATES = ("false_pos_benign_pct", "false_neg_optbrittle_pct", "false_neg_optmargin_pct")

def line(p, item, examples):
    """The row of Table 1 or 2 for one attack."""
    return next(r for r in p.rows(item) if r["examples"] == examples)


def accuracy(p, examples, net, classifier="point"):
    """Table 2: accuracy in percent of point or region classification."""
    data, training = net.split("_")
    return line(p, "table-2", examples)[f"{data}_{classifier}_{training}_accuracy_pct"]


@checks
def fgsm_over_correct_images(p):
    printed = {n: line(p, "table-1", "FGSM")[f"{n}_success_pct"] for n in NETS}
    correct = {n: accuracy(p, "Benign", n) or np.nan for n in NETS}
    flipped = {n: float(100 * (1 - accuracy(p, "FGSM", n) / correct[n])) for n in NETS}
    return p.finding("table-1, table-2", "FGSM success is the share of correctly classified images that flip",
                     numbers=printed, ours=flipped,
                     holds=all(rounds_to(flipped[n], printed[n], 0) for n in NETS),
                     use="Success counts correctly classified images: all four columns then agree to the "
                         "last digit.")


@checks
def optmargin_between(p):
    brittle, margin, strong = (np.array([line(p, "table-1", a)[f"{n}_rms"] for n in NETS])
                               for a in ("OptBrittle", "OptMargin", "OptStrong"))
    return p.finding("table-1", "OptMargin's distortion lies between OptBrittle's and OptStrong's",
                     quotes=[("have higher distortion than OptBrittle examples", "Section 3.3"),
                             ("much lower distortion than OptStrong examples", "Section 3.3")],
                     numbers=tuple(margin),
                     ours={"times OptBrittle": tuple(margin / brittle),
                           "share of OptStrong": tuple(margin / strong)},
                     holds=bool(np.all((brittle < margin) & (margin < strong))),
                     use="The order holds in all four columns, by a narrow margin over OptBrittle in the "
                         "last.")


@checks
def optmargin_fools_regions(p):
    lowest = {n: min(accuracy(p, e, n, "region") for e in ("Benign", "FGSM", "OptBrittle")) for n in NETS}
    own = {n: accuracy(p, "OptMargin", n, "region") for n in NETS}
    return p.finding("table-2", "OptMargin leaves region classification the lowest accuracy of all attacks",
                     quotes=[("OptMargin attack successfully evades region classification and point "
                              "classification", "Section 3.4")], numbers=own, ours={"next lowest": lowest},
                     holds=all(own[n] < lowest[n] for n in NETS),
                     use="The paper's main claim holds in all four columns.")


@checks
def success_and_accuracy(p):
    success = {n: line(p, "table-1", "OptMargin")[f"{n}_success_pct"] for n in NETS}
    left = {n: accuracy(p, "OptMargin", n) for n in NETS if success[n] == 100}
    return p.finding("table-1, table-2", "Accuracy on OptMargin examples where its success is 100%",
                     quotes=[("we test with a sample of 100 images from the test set", "Section 3.2")],
                     numbers=left, ours={"accuracy on the images that the attack flips": 0},
                     reading="the tables rest on different images; or an image without an example counts as "
                             "found in Table 1 and is, as the program returns it, black in Table 2, where "
                             "black may be classified as the image's own class.",
                     use="The success of OptMargin is no target to a percent.")


@checks
def boundary_denominators(p):
    counts, limit = {}, p.settings("table-3")["test_examples"]["CIFAR-10"]
    for training in ("normal", "pgd_adversarial"):
        rates = [row[r] for row in p.rows("table-3") for r in RATES
                 if (row["dataset"], row["model_training"]) == ("CIFAR-10", training)]
        counts[training] = tuple(n for n in range(1, limit + 1) if all(attainable(r, n, 1) for r in rates))
    return p.finding("table-3", "CIFAR-10 error rates are whole numbers of test pairs",
                     quotes=[("we test on 100 other examples", "Section 5.2"),
                             ("We filtered these sets", "Section 5.2")], numbers=f"at most {limit} pairs",
                     ours=counts, holds=all(counts.values()),
                     use="Error rates rest on this many pairs, so one pair is more than a percentage point.")


@checks
def worst_case_accuracy(p):
    for cell in p.paper["table-3"].raw["spanning_cells"]:
        data = cell["dataset"]
        best = max(100 - max(r[k] for k in RATES) for r in p.rows("table-3") if r["dataset"] == data)
        region = max(accuracy(p, "OptMargin", n, "region") for n in NETS
                     if n.startswith(data.lower().replace("-", "")))
        printed = (cell["accuracy_ours_pct"], cell["accuracy_cao_gong_pct"])
        yield p.finding("table-3, table-2",
                        f"{data}: best worst-case accuracy, boundary against region classification",
                        quotes=[("the best choice of base model and training set", "caption of Table 3")],
                        numbers=printed, ours=(float(best), region),
                        holds=rounds_to(best, printed[0], 1) and rounds_to(region, printed[1], 0),
                        use="Worst case means the largest of the three error rates of a row, best over the "
                            "rows.")


@checks
def epochs(p):
    s, printed, steps, exact = p.settings("table-3"), {}, {}, []
    for data in ("MNIST", "CIFAR-10"):
        printed[data] = p.single(s["epochs"][data])
        per_epoch = s["train_examples"][data] / s["batch_size"]
        steps[data] = printed[data] * per_epoch
        exact.append(int(round(steps[data], -3) / per_epoch) == printed[data])
    return p.finding("procedure-boundary-classifier",
                     "The numbers of epochs are round numbers of optimiser steps",
                     quotes=[("for 32 epochs, and we test on 2,000 other examples", "Section 5.2"),
                             ("for 1,462 epochs", "Section 5.2")], numbers=printed, ours=steps,
                     holds=all(exact),
                     use="Train by steps (whole thousands); the epochs follow from the batch size.")


@checks
def radii(p):
    words = "5.1 (0.02 of 255) for a ResNet CIFAR-10 classifier"
    radius, share, levels, *_ = map(p.single, stated(words))
    return p.finding("procedure-region-classification", "The two ways to print the region radius agree",
                     quotes=[(words, "Section 3.4"),
                             ("the same relative size as for CIFAR-10", "Appendix D")],
                     numbers=(radius, share, levels), ours=share * levels,
                     holds=rounds_to(share * levels, radius, 1),
                     use="Convert once: pixel scales differ between the data sets, the radius does not.")


@checks
def scripts(p):
    s, objective = p.settings("table-3"), p.paper["equation-optmargin-objective"].raw["formula"]
    # What the scripts at github.com/sunblaze-ucb/decision-boundaries (revision db373b7) do, read, not copied.
    rows = [("procedure-boundary-distance", "Boundary step on MNIST", s["boundary_step_rms"]["MNIST"], 0.01,
             "Half the step changes every distance; the book reports both."),
            ("table-3", "Batch size of the CIFAR-10 boundary classifier", s["batch_size"], 150,
             "Only the printed batch size gives the printed epochs."),
            ("table-3", "CIFAR-10 images for training and test of the boundary classifier",
             (s["train_examples"]["CIFAR-10"], s["test_examples"]["CIFAR-10"]), (100, 100),
             "The published script is another setting than the table's."),
            ("equation-optmargin-objective", "Scale of the distance term on MNIST", objective, 255**2,
             "The divisor belongs to pixels of 0-255; on pixels of 0-1 the distance term nearly vanishes.")]
    return [p.finding(item, title, kind="scripts", numbers=printed, ours=script, use=use)
            for item, title, printed, script, use in rows]
