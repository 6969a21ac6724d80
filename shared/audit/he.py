"""He, Li and Song: the printed numbers against each other, and the published scripts against the text."""
import numpy as np

from shared.audit.finding import Checks, attainable, rounds_to

checks = Checks("he")
NETS = ("mnist_normal", "mnist_adv", "cifar10_normal", "cifar10_adv")
RATES = ("false_pos_benign_pct", "false_neg_optbrittle_pct", "false_neg_optmargin_pct")
# What the scripts at github.com/sunblaze-ucb/decision-boundaries (revision db373b7) do, read, not copied.
SCRIPTS = {"boundary step, MNIST": 0.01, "batch size, CIFAR-10": 150, "images, CIFAR-10": (100, 100),
           "divisor of squared distance, MNIST": 255**2}


def success(p, attack, net):
    """Table 1: attack success in percent."""
    return p.frame("table-1").set_index("examples").at[attack, f"{net}_success_pct"]


def accuracy(p, examples, net, classifier="point"):
    """Table 2: accuracy in percent of point or region classification."""
    data, training = net.split("_")
    column = f"{data}_{classifier}_{training}_accuracy_pct"
    return p.frame("table-2").set_index("examples").at[examples, column]


@checks
def optmargin_success(p):
    left = {n: int(accuracy(p, "OptMargin", n)) for n in NETS}
    printed = {n: int(success(p, "OptMargin", n)) for n in NETS}
    return p.finding("table-1, table-2",
                     "Where OptMargin always succeeds, point classification is always wrong",
                     printed=printed, recomputed=left,
                     holds=all(left[n] == 0 for n in NETS if printed[n] == 100),
                     consequence="On the adversarially trained CIFAR-10 net success and accuracy cannot "
                                 "both be of the same images; failures returned as black images would "
                                 "explain the difference.")


@checks
def fgsm_over_all_images(p):
    total = {n: int(success(p, "FGSM", n) + accuracy(p, "FGSM", n)) for n in NETS}
    repaired = {n: int(accuracy(p, "FGSM", n) - accuracy(p, "Benign", n) + success(p, "FGSM", n))
                for n in NETS}
    return p.finding("table-1, table-2", "FGSM success plus point accuracy, both taken over all images",
                     printed=(100,) * len(NETS),
                     recomputed={"sum": tuple(total.values()),
                                 "wrong images to be repaired": tuple(repaired.values())},
                     holds=None,
                     consequence="Where the sum is not 100, success is no share of all images; the confirmed "
                                 "row on correctly classified images fits.")


@checks
def fgsm_over_correct_images(p):
    printed = {n: int(success(p, "FGSM", n)) for n in NETS}
    flipped = {n: float(100 * (1 - accuracy(p, "FGSM", n) / accuracy(p, "Benign", n))) for n in NETS}
    return p.finding("table-1, table-2", "FGSM success is the share of correctly classified images that flip",
                     printed=printed, recomputed=flipped,
                     holds=all(rounds_to(flipped[n], printed[n], 0) for n in NETS),
                     consequence="Count success over correctly classified images: all four columns then "
                                 "agree to the printed digit.")


@checks
def optmargin_between(p):
    t = p.frame("table-1").set_index("examples")
    brittle, margin, strong = (t.loc[a, [f"{n}_rms" for n in NETS]].to_numpy(float)
                               for a in ("OptBrittle", "OptMargin", "OptStrong"))
    return p.finding("table-1", "OptMargin's distortion lies between OptBrittle's and OptStrong's",
                     printed=tuple(margin),
                     recomputed={"times OptBrittle": tuple(margin / brittle),
                                 "share of OptStrong": tuple(margin / strong)},
                     holds=bool(np.all((brittle < margin) & (margin < strong))),
                     consequence="The order holds in all four columns, by a narrow margin over OptBrittle "
                                 "in the last.")


@checks
def optmargin_fools_regions(p):
    t = p.frame("table-2").set_index("examples")[[f"{n.split('_')[0]}_region_{n.split('_')[1]}_accuracy_pct"
                                                   for n in NETS]]
    return p.finding("table-2", "OptMargin leaves region classification the lowest accuracy of all attacks",
                     printed=tuple(t.loc["OptMargin"]),
                     recomputed={"next lowest": tuple(t.drop("OptMargin").min())},
                     holds=bool((t.loc["OptMargin"] < t.drop("OptMargin").min()).all()),
                     consequence="The paper's main claim holds in all four columns.")


@checks
def boundary_denominators(p):
    t, found = p.frame("table-3"), {}
    limit = p.settings("table-3")["test_examples"]["CIFAR-10"]
    for training in ("normal", "pgd_adversarial"):
        rates = t[(t.dataset == "CIFAR-10") & (t.model_training == training)][list(RATES)].to_numpy().ravel()
        found[training] = tuple(n for n in range(1, limit + 1)
                                if all(len(attainable(r, n, 1)) for r in rates))
    return p.finding("table-3", "CIFAR-10 error rates are whole numbers of test pairs",
                     printed=f"at most {limit} pairs", recomputed=found, holds=all(found.values()),
                     consequence="Error rates rest on this many pairs, so one pair is more than a "
                                 "percentage point.",
                     source="table-3.rows, table-3.settings.test_examples")


@checks
def boundary_images(p):
    kept = [n for sizes in boundary_denominators(p).recomputed.values() for n in sizes]
    benign = [accuracy(p, "Benign", n) for n in ("cifar10_normal", "cifar10_adv")]
    return p.finding("table-2, table-3", "CIFAR-10 test images that stay after filtering, in two tables",
                     printed={"correct of 100, Table 2": tuple(map(int, benign))},
                     recomputed={"pairs kept, Table 3": tuple(kept)},
                     holds=None,
                     consequence="The two tables use different images of the test set, or drop a few pairs "
                                 "unsaid.")


@checks
def worst_case_accuracy(p):
    t = p.frame("table-3")
    worst = 100 - t[list(RATES)].max(axis=1)
    found = []
    for cell in p.paper["table-3"].raw["spanning_cells"]:
        data = cell["dataset"]
        best = worst[t.dataset == data].max()
        region = max(accuracy(p, "OptMargin", n, "region") for n in NETS
                     if n.startswith(data.lower().replace("-", "")))
        printed = (cell["accuracy_ours_pct"], cell["accuracy_cao_gong_pct"])
        found.append(p.finding(
            "table-3, table-2", f"{data}: best worst-case accuracy, boundary against region classification",
            printed=printed, recomputed=(float(best), int(region)),
            holds=rounds_to(best, printed[0], 1) and rounds_to(region, printed[1], 0),
            consequence="Worst case means the larger of all three error rates of a row, best over the rows.",
            source="table-3.spanning_cells, table-3.rows, table-2.rows"))
    return found


@checks
def transfer_between_attacks(p):
    claim = p.quote("table-3", "claims",
                    r"negatives (\d+\.\d)% to (\d+\.\d)%\).*\((\d+\.\d)% to (\d+\.\d)%\)")
    t = p.frame("table-3").set_index("training_attack")
    on_brittle = t.loc["OptMargin", "false_neg_optbrittle_pct"]
    on_margin = t.loc["OptBrittle", "false_neg_optmargin_pct"]
    values = tuple(map(float, (on_brittle.min(), on_brittle.max(), on_margin.min(), on_margin.max())))
    return p.finding("table-3", "Ranges of the cross-attack false negative rates", printed=claim,
                     recomputed=values,
                     holds=claim == values, source="table-3.claims, table-3.rows",
                     consequence="Training on OptMargin transfers to OptBrittle, not the other way round.")


@checks
def epochs(p):
    s, printed, steps, exact = p.settings("table-3"), {}, {}, []
    for data in ("MNIST", "CIFAR-10"):
        printed[data] = s["epochs"][data]
        per_epoch = s["train_examples"][data] / s["batch_size"]
        steps[data] = printed[data] * per_epoch
        exact.append(int(round(steps[data], -3) / per_epoch) == printed[data])
    return p.finding("table-3", "The odd numbers of epochs are round numbers of optimiser steps",
                     printed=printed, recomputed=steps, holds=all(exact),
                     consequence="Train by steps (whole thousands); the epochs follow from the batch size.",
                     source="table-3.settings")


@checks
def radii(p):
    region = p.settings("procedure-region-classification")["region_radius"]["CIFAR-10"]
    imagenet = p.settings("table-5")["region_radius"]
    return p.finding("procedure-region-classification, table-5",
                     "CIFAR-10 and ImageNet use one region radius",
                     printed={"CIFAR-10, of 255": region, "ImageNet, of 1": imagenet},
                     recomputed=imagenet * 255, holds=rounds_to(imagenet * 255, region, 1),
                     consequence="Convert once: pixel scales differ between the data sets, the radius does "
                                 "not.",
                     source="procedure-region-classification.settings, table-5.settings")


@checks
def attack_effort(p):
    s = p.settings("procedure-cost-optmargin")
    evaluations = s["binary_search_steps"] * s["max_iterations_per_step"] * s["ensemble_models"]
    return p.finding("procedure-cost-optmargin",
                     "Model evaluations of an OptMargin attack against those of the defence",
                     printed={"attack": s["ensemble_models"], "defence": s["region_classification_samples"]},
                     recomputed={"attack, all iterations (at most)": evaluations,
                                 "times the defence": evaluations / s["region_classification_samples"]},
                     holds=None,
                     consequence="The comparison is per iteration; a whole attack costs far more than a "
                                 "defence.",
                     source="procedure-cost-optmargin.settings")


@checks
def scripts(p):
    s, objective = p.settings("table-3"), p.paper["equation-optmargin-objective"].raw["formula"]
    rows = [("procedure-boundary-distance", "Boundary step on MNIST", s["boundary_step_rms"]["MNIST"],
             SCRIPTS["boundary step, MNIST"], "Half the step changes every distance; the book reports both."),
            ("table-3", "Batch size of the CIFAR-10 boundary classifier", s["batch_size"],
             SCRIPTS["batch size, CIFAR-10"], "Only the printed batch size gives the printed epochs."),
            ("table-3", "CIFAR-10 images for training and test of the boundary classifier",
             (s["train_examples"]["CIFAR-10"], s["test_examples"]["CIFAR-10"]), SCRIPTS["images, CIFAR-10"],
             "The published script cannot be the one behind the table."),
            ("equation-optmargin-objective", "Scale of the distance term on MNIST", objective,
             SCRIPTS["divisor of squared distance, MNIST"],
             "The divisor belongs to pixels of 0-255; on pixels of 0-1 it all but removes the distance "
             "term.")]
    return [p.finding(item, title, kind="code", printed=printed, recomputed=script, holds=False,
                      consequence=consequence, source=f"{item}; published scripts")
            for item, title, printed, script, consequence in rows]
