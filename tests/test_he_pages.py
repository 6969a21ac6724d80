"""papers.he: plans, rows an image, cells of the tables, facts for sentences, images."""
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch

from papers.he import boundary, claims, detection, experiments, figures, summaries
from papers.he import models as recipes
from papers.small_network import small_network
from report import display
from report.cell import Cell, bare
from report.experiment import labelled

SCALE = dict(nets=experiments.subjects("paper"), rate=None, sample=10, whole=10, margin=5, blocks=20,
             iterations=9, shown=4, tried=3, asked=4, tested=8, seed=0, subject="all",
             trained=(recipes.NATURAL_SHORT, recipes.NATURAL_FAST))


def a_run(network, kind, block=0, correct=(True, True), success=(True, False), rms=(0.1, 0.2), **more):
    return {"network": network, "kind": kind, "block": block, "first": 10 + 2 * block, "images": 2,
            "iterations": 9, "correct": list(correct), "success": list(success), "rms": list(rms),
            "region": [True, False], "point": [False, False]} | more


def runs(*rows):
    return pd.DataFrame(rows)


# ---- plans -------------------------------------------------------------------------------------------------
def test_blocks_cover_the_sample_and_the_slowest_attack_has_the_smallest():
    plan = experiments.plan_attacks(SimpleNamespace(**SCALE))
    margin = [given for key, given in plan.items() if key[:2] == ("mnist-adv", "margin")]
    assert [(g["first"], g["images"], g["shown"]) for g in margin] == [(3152, 5, 4), (3157, 5, 0)]
    cifar = plan["cifar10-normal", "margin", 9]
    assert (cifar["first"], cifar["images"], cifar["radius"], cifar["iterations"]) == (5424, 1, 0.02, 9)
    assert plan["cifar10-normal", "fgsm", 0]["iterations"] == 1
    few = experiments.plan_attacks(SimpleNamespace(**SCALE | {"subject": "mnist", "blocks": 1}))
    assert {key[0] for key in few} == {"mnist-normal", "mnist-adv"} and {key[2] for key in few} == {0}


def test_settings_change_what_they_name_and_nothing_else():
    scale = SimpleNamespace(**SCALE)
    attacks, plan = experiments.plan_attacks(scale), experiments.plan_settings(scale)
    names, _ = labelled("{setting}-{network}-{kind}", plan)
    assert len(names) == 6 * 4 + 3 and "short-mnist-normal-brittle" in names
    ours, slow = (plan[name, "mnist-normal", "strong"] for name in ("ours", "slow"))
    assert ours == attacks["mnist-normal", "strong", 0] | {"images": 3, "shown": 0}
    assert (slow["attack"].rate, slow["attack"].scale) == (0.01, experiments.SCRIPT.scale)
    assert slow["attack"].c == ours["attack"].c
    assert plan["short", "mnist-normal", "brittle"]["subject"].recipe.epochs == 2
    assert experiments.plan_settings(SimpleNamespace(**SCALE | {"subject": "cifar10"})) == {}


# ---- rows --------------------------------------------------------------------------------------------------
def test_rows_an_image_have_their_number_and_the_papers_scale():
    rows = figures.examples(runs(a_run("mnist-normal", "margin", 1),
                                 a_run("cifar10-adv", "fgsm", correct=(False, True))))
    assert rows.image.tolist() == [12, 13, 10, 11] and rows.counts.tolist() == [True, False, False, False]
    assert rows.distance.tolist() == pytest.approx([0.1, 0.2, 25.5, 51.0])
    assert figures.mean_distance(rows[:2]) == 0.1 and figures.mean_distance(rows[2:]) is None
    assert [figures.success(some) for some in (rows[:2], rows[2:], rows[:0])] == [50, 0, None]


def test_two_kinds_are_compared_on_the_images_of_both():
    both = figures.examples(runs(a_run("mnist-normal", "brittle", success=(True, True)),
                                 a_run("mnist-normal", "margin", 0)))
    one, other = figures.of_both(*(figures.only(both, "mnist-normal", k) for k in ("brittle", "margin")))
    assert one.index.tolist() == other.index.tolist() == [10]


def test_a_table_across_networks_is_found_again_by_network():
    table = figures.across(figures.examples(runs(a_run("mnist-adv", "margin")), "region"),
                           ("brittle", "margin"),
                           {"success_pct": figures.success, "region": lambda rows: 7.0})
    brittle, margin = table
    assert brittle["mnist_adv_success_pct"] == Cell(status=figures.NOT_MEASURED, of=0)
    assert margin["mnist_region_adv_accuracy_pct"].value == 7.0 and margin["mnist_normal_images"] == 0
    assert margin["mnist_adv_success_pct"].status == figures.PROXIES["mnist-adv"]
    cells = figures.by_network(bare(pd.DataFrame(table)))
    assert cells["mnist-adv"]["margin"] == {"images": 2, "correct": 2, "successful": 1,
                                            "success_pct": 50.0, "region": 7.0}
    assert claims.adversarial(cells)["mnist-adv"]["normal"] == cells["mnist-normal"]


def test_what_the_paper_prints_has_the_same_form():
    once, twice = figures.published("table-1"), figures.published("table-2")
    assert once["mnist-adv"]["strong"] == {"images": None, "correct": None, "successful": None,
                                           "success_pct": 28, "rms": 0.391}
    assert (twice["cifar10-adv"]["margin"]["region"], twice["cifar10-adv"]["margin"]["point"]) == (5, 6)


def test_a_claim_on_every_network_is_judged_on_the_papers_own():
    table = figures.across(
        figures.examples(runs(a_run("mnist-normal", "margin"), a_run("mnist-adv", "margin"))),
        ("margin",), {"success_pct": figures.success})
    cells = figures.by_network(bare(pd.DataFrame(table)))
    judge = claims.over_networks(lambda c: (c.margin.success_pct > 40, "seen"))
    holds, evidence = judge(cells)
    assert holds is None and evidence.startswith("MNIST, normal: seen; MNIST, adv.: seen; CIFAR-10, ")
    assert "it holds on “MNIST, normal”; the other networks are not like the paper's" in evidence


# ---- facts and images --------------------------------------------------------------------------------------
def test_facts_have_intervals_and_the_papers_values():
    both = [a_run("mnist-normal", kind) for kind in ("brittle", "margin")]
    facts = figures.facts(runs(*both))
    assert (facts["margin"]["hits"], facts["margin"]["of"], facts["margin"]["rms"]) == (1, 2, 0.1)
    assert facts["margin"]["low"] == pytest.approx(1.258, abs=1e-3)
    paper = {"success_pct": 100, "rms": 0.0732, "region": 95, "point": 0}
    assert facts["brittle"]["paper"] == paper | {"images": None, "correct": None, "successful": None}
    assert figures.facts(runs(both[0])) == {}


def test_a_failed_attack_is_black_and_one_not_measured_is_a_gap():
    grey = np.full((2, 1, 4, 4), 90, np.uint8)
    shown = runs(a_run("mnist-normal", "benign", pictures=grey),
                 a_run("mnist-normal", "margin", pictures=grey),
                 a_run("mnist-normal", "margin", 1, pictures=grey[:0]))
    rows = figures.pictures(shown)
    assert [list(row) for row in rows] == [["image", "OptMargin\nnormal"]] * 2
    assert rows[0]["OptMargin\nnormal"].max() == 90 and rows[1]["OptMargin\nnormal"].max() == 0
    assert display.image_table(figures.pictures(shown[1:])) is None


def test_a_table_of_images_leaves_gaps():
    image = np.full((1, 4, 4), 90, np.uint8)
    figure = display.image_table([{"a": image}, {"a": image, "b": image}])
    axes = np.array(figure.axes).reshape(2, 2)
    assert [ax.get_title() for ax in axes.flat] == ["a", "b", "", ""]
    assert [ax.axison for ax in axes.flat] == [True, False, True, True]
    plt.close(figure)


def test_the_small_network_is_the_same_for_a_seed():
    (network, image), (again, _) = (small_network(4, hidden=12, classes=5) for _ in range(2))
    assert network(image).shape == (1, 5) and torch.equal(network(image), again(image))
    assert 0.2 <= image.min() and image.max() <= 0.8


# ---- boundary classifiers ----------------------------------------------------------------------------------
def classifier_of(**more):
    return pd.DataFrame([{"network": "mnist-normal", "attack": "margin", "sample": 4, "share": 0.5,
                          "flagged": 1, "benign": 2, "missed": {"margin": 0, "brittle": 2},
                          "adversarial": {"margin": 2, "brittle": 3}} | more])


def test_the_worst_case_is_the_largest_error():
    trained = next(classifier_of().itertuples())
    assert boundary.worst(trained)["percent"] == pytest.approx(100 / 3)
    assert boundary.in_row(trained) == {"network": "MNIST, normal", "attack": "OptMargin", "flagged": 50.0,
                                         "brittle": 66.67, "margin": 0.0}
    assert boundary.errors(None) == {} and boundary.worst(None)["low"] is None
    fgsm = next(classifier_of(attack="fgsm", missed={"fgsm": 0}, adversarial={"fgsm": 2}).itertuples())
    assert boundary.worst(fgsm)["percent"] is None and boundary.in_row(fgsm)["margin"] is None


def around(kind, block, steps, counts=(True, True)):
    return {"network": "mnist-normal", "kind": kind, "block": block, "images": 2, "step": 0.02,
            "counts": list(counts), "steps": np.array(steps, np.uint8),
            "purities": np.full((len(steps), 3), 0.5, np.float32)}


def test_features_are_of_images_that_count_in_blocks_of_all_kinds():
    near, far = [[1, 2, 3, 255]] * 2, [[9, 9, 255, 255]]
    blocks = [around(kind, block, near if kind != "benign" else far,
                     (True, True) if kind != "benign" else (False, True))
              for block in (3, 5) for kind in ("benign", "margin", "brittle")]
    rows = boundary.features(runs(*blocks, around("benign", 4, far, (True, False))))
    assert rows[rows.kind == "benign"].place.tolist() == [1, 3] and len(rows) == 10
    benign, margin = (rows[rows.kind == kind].iloc[0] for kind in ("benign", "margin"))
    assert (benign["least"], benign["median"]) == pytest.approx((0.18, 0.18))
    assert (margin["least"], margin["median"], margin["purity"]) == pytest.approx((0.02, 0.04, 0.5))
    rule, = [row for row in boundary.one_number(runs(*blocks), classifier_of())
             if row["number"].startswith("nearest")]
    assert (rule["known"], rule["flagged"], rule["brittle"], rule["margin"]) == (100, 0, 0, 0)
    assert boundary.draw_features(runs(*blocks[:2])) is None


def test_the_classifier_is_compared_with_the_threshold_on_the_same_images():
    near, far = [[1, 2, 3, 255]] * 2, [[9, 9, 255, 255]] * 2
    around_all = runs(*(around(kind, block, far if kind == "benign" else near)
                        for block in (0, 1) for kind in ("benign", "margin", "brittle")))
    facts = detection.compared(classifier_of(trained_on=2), around_all)
    assert (facts["learned"], facts["n"], facts["missed"]) == (2, 2, None)
    assert (facts["known"], facts["alone"], facts["limit"], facts["better"]) == (100, 100, 0, False)
    assert facts["errors"] == {"benign": 50, "margin": 0} and facts["print"] == {"benign": 9.6, "margin": 7.2}
    assert [share["percent"] for share in facts["classifier"] + facts["threshold"]] == [50, 0, 0, 0]
    assert facts["span"]["high"] == 100 > facts["span"]["low"]
    figure = detection.draw_compared(facts)
    assert figure.axes[0].lines[0].get_xdata()[0] == pytest.approx(0.17)    # between the steps 8 and 9
    plt.close(figure)
    assert detection.compared(classifier_of(missed={}, adversarial={}), around_all) == {}
    both = pd.concat([classifier_of(), classifier_of(attack="brittle")])
    assert detection.thresholds(around_all, both) == {
        "unknown": 0, "known": {"median": 100, "purity": 0}, "alone": {"median": 100, "purity": 0}}
    assert detection.thresholds(around_all, classifier_of()) == {}
    assert detection.missed(both)["known"]["margin"]["percent"] == 0
    assert detection.compared(runs(), runs()) == {}


# ---- boundary distances ------------------------------------------------------------------------------------
def searched(kind, least, median, one=None, network="mnist-normal"):
    return {"network": network, "kind": kind, "block": 0, "least": least, "median": median, "one": one,
            "never": [0.5] * len(least), "purity": [[0.5, 1.0]] * len(least),
            "least_linf": [3 * v for v in least], "median_linf": [3 * v for v in median]}


def test_boundary_distances_are_capped_and_counted():
    rows = runs(searched("benign", [0.3, 0.4], [1.0, 1.0]), searched("brittle", [0.02], [0.4]),
                searched("margin", [], []))
    data = boundary.all_data(rows)["mnist-normal"]
    assert data.keys() == {"benign", "brittle"} and boundary.all_data(rows[2:]) == {}
    assert (data["benign"]["least"], data["benign"]["beyond"], data["benign"]["scale"]) == (0.35, 2, 1)
    assert (data["brittle"]["above"], data["brittle"]["least_threshold"]["error"]) == (1, 0)
    assert data["brittle"]["line"] == pytest.approx(0.3 / 3**0.5)
    linf = boundary.all_data(rows, linf=True)["mnist-normal"]["brittle"]
    assert (linf["least"], linf["median"], linf["beyond"], linf["line"]) == (0.06, 1, 1, 0.3)
    assert boundary.draw_all(rows[2:]) is None


def test_a_plane_is_far_in_random_directions():
    turned = torch.linalg.qr(torch.randn(200, 100, 100, generator=torch.Generator().manual_seed(0))).Q
    nearest = (1 / turned[:, 0, :40].abs()).amin(1)      # along 40 of 100 axes, both ways, to a plane at 1
    assert summaries.far_in_random_directions(40, 100) == pytest.approx(nearest.median().item(), rel=0.05)


def test_the_claims_on_distances_and_purities_are_judged_by_kind():
    kinds = {"benign": (0.4, 0.6), "margin": (0.1, 0.5), "fgsm": (0.2, 0.6), "brittle": (0.02, 1.0)}
    rows = runs(*(searched(kind, [least], [1.0]) | {"purity": [[pure]], "step": 0.02}
                  for kind, (least, pure) in kinds.items()))
    facts = summaries.by_kind(rows)
    assert (facts["nearer"], facts["purer"], facts["pure"]["brittle"]) == ("holds", "holds", 1)
    rows.at[1, "least"], rows.at[2, "purity"] = [0.5], [[1.0]]
    facts = summaries.by_kind(rows)
    assert facts["nearer"] == facts["purer"] == "does not hold" and facts["least"]["margin"] == 0.5
    assert summaries.by_kind(rows[:3]) == {}


def test_images_without_a_boundary_have_no_purity():
    assert figures.mean_purity({"purity": [[0.5, 1.0], [0.0, 0.0], [0.7, 0.8]]}) == [0.6, 0.9]
    assert figures.mean_purity({"purity": [[0.0, 0.0]]}) == []


def test_directions_of_one_image_lead_to_its_class_or_nowhere():
    one = {"distance": np.array([0.1, 0.2, 1.0]), "linf": np.array([0.3, 1.4, 1.0]),
           "adjacent": np.array([7, 7, -1]), "label": 7}
    rows = runs(searched("brittle", [0.1], [0.2], one), searched("fgsm", [], [], network="mnist-adv"))
    data = boundary.one_data(rows)
    assert data["mnist-adv"] == {} and data["mnist-normal"]["brittle"] == {
        "median": 0.2, "scale": 1, "home": 2 / 3, "neighbour": 1, "back": 1 / 3, "directions": 3,
        "line": pytest.approx(0.1732, abs=1e-4)}
    assert boundary.one_data(rows, linf=True)["mnist-normal"]["brittle"]["median"] == 1
    figure = boundary.draw_one(rows)
    assert [ax.get_title() for ax in figure.axes[:4]] == ["Benign", "OptBrittle", "OptMargin", "FGSM"]
    assert sum(not ax.get_frame_on() for ax in figure.axes) == 3     # nothing is measured there
    plt.close(figure)


# ---- pictures of boxes -------------------------------------------------------------------------------------
def test_a_box_of_boundary_distances_shows_every_digit_and_the_attack(monkeypatch):
    monkeypatch.setattr(summaries.record, "read", lambda *_: None)
    rows = runs(searched("benign", [0.3, 0.4, 1.0], [1.0] * 3), searched("margin", [0.1, 0.1], [0.4] * 2),
                searched("brittle", [0.02], [0.02])).assign(step=0.02, directions=784, negatives=True)
    facts = summaries.nearest(rows)
    assert (facts["benign"], facts["margin"], facts["n"], facts["attack"]) == (0.4, 0.1, "1 to 3", None)
    assert facts["directions"] == 1568 and facts["touches"] and not facts["missed"] and facts["flat"] is None
    assert not summaries.nearest(rows.assign(step=0.01, negatives=False))["touches"]
    recorded = {"rows": [{"examples": "OptBrittle", "mnist_normal_rms": 0.04}]}
    monkeypatch.setattr(summaries.record, "read", lambda *_: recorded)
    assert summaries.nearest(rows)["attack"] == 0.04 and summaries.nearest(rows)["missed"]
    assert summaries.nearest(rows)["flat"] == pytest.approx(0.04 * facts["factor"])
    figure = summaries.draw_nearest(rows, 0.05)
    assert sum(len(dots.get_offsets()) for dots in figure.axes[0].collections) == 6
    assert figure.axes[0].get_xticklabels()[-1].get_text() == "none"
    plt.close(figure)
    assert summaries.nearest(rows[:2]) == {} == summaries.nearest(runs())


def test_a_box_of_votes_has_bars_with_intervals_and_published_ticks():
    rows = runs(*(a_run("mnist-normal", kind, success=(True, True), rms=rms) for kind, rms in
                  (("benign", (0, 0)), ("brittle", (0.1, 0.2)), ("margin", (0.2, 0.4)))))
    assert summaries.vote(rows)["ratio"] == pytest.approx(2) and summaries.vote(runs()) == {}
    figure = summaries.draw_vote(rows)
    assert [bar.get_height() for bar in figure.axes[0].patches] == [0] * 3 + [50] * 3
    plt.close(figure)
