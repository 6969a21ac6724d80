"""The pages of `chen`: plans, rows a network, rank agreement, claims, hand-made classes."""
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from papers.chen import (
    capacity,
    claims,
    cost,
    defence,
    experiments,
    figures,
    handmade,
    models,
    ranking,
)
from report import display, reference
from report.cell import Cell
from report.comparison import compare
from report.experiment import Results, labelled
from shared import roby
from tests import flips

SCALE = SimpleNamespace(datasets=("mnist", "cifar10"), models=None, seed=0,
                        recipe=models.NATURAL, dataset="all", robust=True,
                        images_train=55_000, held_out=500, longest=8,
                        images_attack=100, steps=1, draws=5, near=2, directions=2)
IMAGES = 40


def unit(model, n, data="mnist", **more):
    """A made-up run: the larger n, the more images an attack flips and the wider the first class."""
    draw = torch.Generator().manual_seed(n)
    y = torch.arange(200) % 10
    features = 3 * torch.eye(10)[y] + (1 + 0.2 * n * (y == 0))[:, None] * torch.randn(200, 10, generator=draw)

    def classes(p):
        return {k: v for k, v in vars(roby.layout(features, y, p=float(p))).items() if k != "p"}

    labels = np.arange(IMAGES) % 10
    flipped = np.where(np.arange(IMAGES) < 3 * n, (labels + 1) % 10, labels)
    resampled = {p: roby.bootstrap(features, y, p=float(p), draws=20,
                                   generator=torch.Generator().manual_seed(1)).numpy() for p in figures.NORMS}
    there = {p: classes(p) for p in figures.NORMS}
    layouts = {features: {"true": there, "predicted": there} for features in figures.FEATURES}
    return {"run": f"{data}-{model}", "data": data, "model": model, "dataset": data, "test_accuracy": 0.9,
            "correct": np.ones(IMAGES, bool), "labels": labels, "margins": np.full(10, 5.0 - n / 10),
            "near_random": np.array([0.1, np.nan, np.nan]), "near_gradient": np.array([1.0, 2.0, 3.0]),
            "attacks": {name: {"predicted": flipped, "classes": layouts} for name in figures.ATTACKS},
            "classes_test": layouts, "resampled_test": resampled, "batch_statistics": None,
            "epochs": 2, "images_train": 55_000, "asked": 0.9, "reached": True} | more


TEN = pd.DataFrame([unit(name.lower().replace(" ", ""), n) for n, name in enumerate(models.MODELS, 1)])


# ---- plans -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind, count, one", [
    ("natural", 20, "mnist-inceptionv1"), ("robust", 20, "cifar10-lenet-robust"), ("dense", 9, "mnist-fcn-9"),
    ("convolutional", 8, "cifar10-cnn-4")])
def test_units_are_named_as_they_are_recorded(kind, count, one):
    planned, labels = labelled(experiments.SETS[kind][2], experiments.plan(kind)(SCALE))
    assert len(planned) == count and one in planned and set(labels[one]) == {"data", "model"}
    given = planned[one]
    assert given["images_train"] == (45_000 if one.startswith("cifar10") else 55_000)
    assert given["longest"] == 8 and 0.5 < given["asked"] < 1
    assert (given["hook"] is not None) == (kind == "robust")


def test_a_scale_may_want_few_networks_or_none():
    few = SimpleNamespace(**vars(SCALE) | {"models": ("lenet",), "dataset": "mnist"})
    assert list(experiments.plan("natural")(few)) == [("mnist", "lenet")]
    assert experiments.plan("robust")(SimpleNamespace(**vars(SCALE) | {"robust": False})) == {}


def test_a_new_network_changes_no_run_of_the_others_and_is_none_of_the_paper(monkeypatch):
    before = experiments.plan("natural")(SCALE)
    networks, order, names = experiments.SETS["natural"]
    monkeypatch.setitem(experiments.SETS, "natural", ((*networks, "New"), order, names))
    monkeypatch.setitem(experiments.NETWORKS, "New", ("chen-lenet", {}))
    monkeypatch.setitem(experiments.SPELT, "new", "New")
    after = experiments.plan("natural")(SCALE)
    assert {key: after[key] for key in before} == before
    assert set(after) - set(before) == {("mnist", "new"), ("cifar10", "new")}
    labels = {f"mnist-{name}": {"data": "mnist", "model": name} for name in ("lenet", "new")}
    runs = dict.fromkeys(labels)
    runs = Results("natural", runs, recorded=runs, labels=labels, own=runs).only(figures.printed)
    assert list(runs.published) == list(runs.recorded) == list(runs.own) == ["mnist-lenet"]


# ---- rows a network --------------------------------------------------------------------------------------
def test_rows_have_printed_names_and_what_a_unit_holds():
    row = figures.networks(TEN).iloc[2]
    assert (row["dataset"], row["model"], row.n) == ("MNIST", "MobileNetV2", IMAGES)
    assert row.asr_text == pytest.approx(9 / IMAGES) and row.margin == pytest.approx(4.7)
    assert row.near_random == 0.5 and row.near_gradient == 2.0     # two of three searches ended without one
    assert row.roby_low < row.roby_high
    assert figures.networks(pd.DataFrame()).empty and figures.table_1(pd.DataFrame()).empty


def test_only_correctly_classified_images_count():
    few = unit("lenet", 5) | {"correct": np.arange(IMAGES) < 10}
    assert figures.success(few, "text") == 1.0
    assert np.isnan(figures.success(few | {"correct": np.zeros(IMAGES, bool)}, "text"))


def test_a_network_without_classes_has_no_metrics():
    empty = {"logits": {"true": {"2": None, "inf": {"count": torch.ones(3), "width": torch.ones(3),
                                                    "distance": torch.ones(3)}}}}
    assert set(figures.metrics(empty).values()) == {None}


# ---- agreement -------------------------------------------------------------------------------------------
def test_the_published_correlations_follow_from_the_published_table():
    rows = pd.DataFrame(experiments.PAPER["table-1"].rows).assign(status=None)
    for item in ("table-2", "table-3"):
        for printed in reference.paper("chen")[item].rows:
            coefficients = ranking.coefficients(rows, figures.PAIRS)[printed["dataset"]]
            for name in reference.paper("chen")[item].values:
                assert coefficients[name] == pytest.approx(printed[name], abs=0.0085)
    ranks = ranking.coefficients(rows, figures.PAIRS, measure=stats.spearmanr)
    assert all(of_data.pop("status") is None for of_data in ranks.values())
    assert all(abs(abs(v) - 1) < 1e-9 for of_data in ranks.values() for v in of_data.values())


def test_fewer_networks_than_published_have_no_coefficient():
    rows = figures.table_1(TEN)
    assert ranking.coefficients(rows, figures.PAIRS)["MNIST"]["roby_2"] is not None
    few = ranking.coefficients(rows[:9], figures.PAIRS)["MNIST"]
    assert few.pop("status") == "not measured: fewer than 10 networks are measured"
    assert set(few.values()) == {None}
    assert ranking.coefficients(rows, figures.PAIRS)["CIFAR-10"]["roby_2"] is None
    assert ranking.correlations("2")(TEN)[1]["roby_2"] is not None
    assert all(row["roby_2"].value is None for row in ranking.table_4(TEN))    # one of three data sets
    assert ranking.rank_agreement(TEN[:9]) == []


@pytest.mark.parametrize("x, y", [([1, 1, 1], [1, 2, 3]), ([1, None, 2], [1, 2, 3]), ([1], [2])])
def test_columns_that_cannot_agree_have_no_coefficient(x, y):
    assert ranking.agreement(x, y) is None


def test_rank_agreement_with_intervals():
    rows = {row["quantity"]: row for row in ranking.rank_agreement(TEN)}
    assert list(rows) == [words for words, _ in ranking.QUANTITIES.values()]
    margin = rows["mean margin of the logits"]
    assert [margin[key] for key in ("low", "spearman", "high")] == pytest.approx([-1, -1, -0.963], abs=1e-3)
    assert margin["networks"] == "-1.00 (-1.00 to -0.96)"
    accuracy = rows["accuracy"]     # all have the same
    assert accuracy["spearman"] is accuracy["low"] is None and accuracy["networks"] == ""


def test_networks_are_ranked_by_features_and_classes():
    assert ranking.by_features(TEN[:9]) == []
    rows = ranking.by_features(TEN)
    assert [row["reading"] for row in rows] == list(figures.VARIANTS) and set(ranking.READINGS) < set(rows[0])
    whole = ranking.rank_agreement(TEN)[0]     # ROBY, L2, of the logits and true classes
    assert rows[0]["third_2"] == whole["networks"] and rows[0]["third_2_rank"]["low"] == whole["low"]


def test_attacks_stand_beside_the_published_ones():
    rows = {row["attack"]: row for row in ranking.attacks(TEN)}
    text = rows[figures.ATTACKS["text"]]
    assert (text["n"], text["ours"], text["paper"]) == (10, "7.5% to 75%", "65.6% to 98.6%")
    assert text["by_third"] == "1.00 (0.96 to 1.00)" and rows[figures.ATTACKS["third"]]["by_third"] == ""
    assert set(rows) == set(figures.ATTACKS.values()) and ranking.attacks(TEN[:9]) == []
    row = figures.network_rows(TEN, ["asr_text"], sort="asr_text")[-1]
    assert row == {"data set": "MNIST", "network": "LeNet", "asr_text": 75}


def test_sentences_wait_for_ten_networks():
    assert ranking.answer(TEN[:9]) == {}
    facts = ranking.answer(TEN)
    assert (facts["tried"], facts["apart"]) == (24, "1.00 (0.96 to 1.00)")
    assert 0 <= facts["above_0"] + facts["below_0"] <= 24
    assert "margin" in facts["clear"]     # its coefficient is -1


# ---- claims and figures ----------------------------------------------------------------------------------
def test_claims_of_the_figures():
    def judged(claim, **ranks):
        return claim({"ranks": {data: ranks for data in experiments.DATASETS.values()}})[0]

    negative = {"asr_2_roby_2": 0.9, "asr_2_fsa_2": -0.8, "asr_2_fsd_2": -0.7}
    cases = negative, negative | {"asr_2_fsd_2": 0.1}, dict.fromkeys(negative)
    assert [judged(claims.followed("2"), **ranks) for ranks in cases] == [True, False, None]
    assert [judged(claims.positive, asr_a=0.5, asr_b=b) for b in (0.1, -0.1, None)] == [True, False, None]


def test_a_claim_without_a_coefficient_says_why():
    few = "fewer than 10 networks are measured"
    signs, highest = (claims.claim["table-3"][words].judge for words in (
        "correlate negatively", "said to have the highest"))
    _, evidence = signs(pd.DataFrame(ranking.correlations("2")(TEN)))
    assert evidence.startswith("MNIST: FSA ") and evidence.endswith(f"CIFAR-10, Fashion-MNIST: {few}")
    assert signs(pd.DataFrame(ranking.correlations("2")(TEN[:9])))[0] is None
    flat = TEN.assign(attacks=[TEN.attacks[0]] * len(TEN))
    assert "MNIST: attack success is the same on all" in signs(
        pd.DataFrame(ranking.correlations("2")(flat)))[1]
    printed = pd.DataFrame(reference.paper("chen")["table-3"].rows)     # on Fashion-MNIST alone
    assert highest(printed)[0] is True and signs(printed)[0] is True
    assert "on the paper's own numbers it holds in 1 of 3 data sets" in highest(printed)[1]
    assert highest(printed.assign(roby_2=0.5))[0] is False


# What the paper's words claim of all, on how many its numbers show it, and published rows on which it fails.
STRENGTH = {
    ("table-1", "weaker than to the Linf"): (28, lambda rows: rows.assign(asr_2=0.0)),
    ("table-5", "On original samples"): (29, lambda rows: rows.assign(roby_original_natural=0.0)),
    ("table-5", "decline is larger"): (22, lambda rows: rows.assign(roby_adversarial_natural=0.0)),
    ("table-9", "without dropout"): (5, lambda rows: rows.assign(
        asr=1.0 * rows.model.isin(["CNN-3", "CNN-4"])))}


@pytest.mark.parametrize("item, phrase", STRENGTH)
def test_a_claim_is_judged_in_the_strength_of_the_papers_own_numbers(item, phrase):
    rule, (count, opposite) = claims.claim[item][phrase], STRENGTH[item, phrase]
    rows = pd.DataFrame(experiments.PAPER[item].rows).assign(status=None)
    holds, evidence = rule.judge(rows)
    assert holds is True and f"own numbers it holds in {count} of " in evidence
    assert rule.judge(opposite(rows))[0] is False
    some = rows.assign(status=np.where(rows.dataset == "MNIST", "proxy: small", None))
    assert rule.judge(some)[0] is None and rule.judge(opposite(some))[0] is False


def test_networks_that_the_images_do_not_tell_apart_have_no_order():
    rows = pd.DataFrame({"dataset": "CIFAR-10", "model": [f"CNN-{n}" for n in range(1, 5)],
                         "roby": [0.5, 0.6, 0.7, 0.8], "status": None})
    rule = claims.claim["table-9"]["The lower the attack success"]

    def judged(success):
        return rule.judge(rows.assign(asr=[Cell(share, of=600) for share in success]))

    holds, evidence = judged([0.2, 0.19, 0.21, 0.2])
    assert holds is None and "CIFAR-10: attack success is the same on all networks" in evidence
    assert judged([0.8, 0.4, 0.6, 0.2])[0] is False


def test_figure_5_is_judged_as_the_table_that_it_draws():
    rule, data = claims.claim["figure-5"]["smaller ROBY"], claims.as_data(claims.TABLE_5)
    assert rule.judge(data)[0] is True
    swapped = {name: {"natural": 0.1, "robust": 0.2} for name in data["networks"]}
    assert rule.judge({"networks": swapped})[0] is False


def as_published(item):
    """The data of a figure from the published tables."""
    if item == "figure-10":
        sizes = {"neurons": ("table-6", figures.WIDER), "layers": ("table-7", figures.DEEPER)}
        return {side: {"networks": len(asked), "status": None} | {
            name: ranking.agreement(range(len(asked)), [row[column] for row in experiments.PAPER[table].rows])
            for name, column in (("asr_text", "asr"), ("roby_2", "roby"))}
            for side, (table, asked) in sizes.items()}
    columns = {"figure-2": figures.SERIES["inf"], "figure-3": figures.SERIES["2"]}.get(
        item, ("asr_inf", "asr_2", "roby_inf", "roby_2"))
    rows = pd.DataFrame(experiments.PAPER["table-1"].rows).assign(status=None)
    pairs = {f"{a}_{b}": (a, b) for a in columns for b in columns if a < b}
    return {"ranks": ranking.coefficients(rows, pairs, measure=stats.spearmanr)}


@pytest.mark.parametrize("item", ["figure-2", "figure-3", "figure-4", "figure-10"])
def test_claims_on_coefficients_hold_on_the_published_ones_and_fail_on_others(item):
    """A smoke run has too few networks for any coefficient."""
    data = as_published(item)
    for rule in claims.claim[item].values():
        assert rule.outcome([data])[0] is True and flips.one_sided(rule, [[data]], [[]]) == ""


def test_coefficients_of_networks_that_were_not_trained_to_an_accuracy_decide_nothing():
    few = TEN.assign(asked=None)
    status = "proxy: trained for 2 epochs on 55,000 images, whatever its accuracy"
    assert {*figures.table_1(few).status} == {status}
    mnist, = (row for row in ranking.correlations("2")(few) if row["dataset"] == "MNIST")
    assert mnist["status"] == status and mnist["roby_2"] is not None
    assert all(cell["status"] == "proxy" for cell in compare(experiments.PAPER["table-3"], [mnist]))
    rows = pd.DataFrame(figures.as_cells(figures.table_1(few), ("asr_inf", "asr_2")))
    rule = claims.claim["table-1"]["weaker than to the Linf"]
    assert rule.outcome([rows])[0] is None and "not tested: these networks" in rule.outcome([rows])[1]
    # One that the rule leaves below its accuracy is a proxy itself; a coefficient over the ten is none.
    below = figures.table_1(TEN.assign(reached=False))
    assert below.status.str.startswith("proxy: even after").all() and figures.shortest(below.status) is None


def test_grouping_of_a_proxy_is_not_judged():
    shares = {"natural_clean": 99.0, "natural_adversarial": 50.0, "robust_adversarial": 60.0}
    for rule in claims.claim["figure-1"].values():
        assert rule.outcome([{"neighbours_pct": shares, "status": None}])[0] is True
        assert rule.outcome([{"neighbours_pct": dict.fromkeys(shares, 50.0), "status": None}])[0] is False
        assert rule.outcome([{"neighbours_pct": shares, "status": "proxy: small"}])[0] is None


def test_what_protects_best_is_told_apart(monkeypatch):
    """Four pairs; the natural network of each has a ROBY of 0.5 on clean and on adversarial images."""
    robust = {"A": (0.1, 0.6, 0.4), "B": (0.2, 0.7, 0.3), "C": (0.9, 0.4, 0.6), "D": (0.8, 0.3, 0.7)}
    both = {("MNIST", name): [{"success": 1.0, "original": 0.5, "adversarial": 0.5},
                              dict(zip(("success", "original", "adversarial"), values))]
            for name, values in robust.items()}
    both = {name: [run | {"epochs": 2, "images_train": images} for run, images in zip(pair, (60, 20))]
            for name, pair in both.items()}
    monkeypatch.setattr(defence, "pairs", lambda *frames: both)
    monkeypatch.setattr(figures, "success", lambda run, attack: run["success"])
    monkeypatch.setattr(defence, "change", lambda a, b, samples: (b[samples] - a[samples], None, None))
    monkeypatch.setattr(defence, "counts", lambda *_: {})
    facts = defence.shorter(TEN, TEN)
    assert facts["upper"] == {"of": 2, "rise": 2, "fall": 2}
    assert facts["unprotected"] == 2
    for pair in both.values():
        pair[1]["images_train"] = 60
    assert defence.shorter(TEN, TEN) == {}
    del both["MNIST", "C"]      # too few are left
    assert defence.facts(TEN, TEN)["upper"] is None


def test_figure_1_has_the_smaller_accuracy_and_says_why_its_networks_are_proxies():
    natural, robust = TEN[:1].assign(test_accuracy=0.99), TEN[:1].assign(test_accuracy=0.96, asked=None)
    assert figures.accuracies(natural, robust) == pytest.approx({"natural": 99, "robust": 96})
    assert figures.proxy(natural, natural) is None
    assert figures.proxy(natural.assign(reached=False), robust) == (
        "proxy: natural network: even after 2 epochs the network is below the published accuracy on images "
        "held out of training; robust network: trained for 2 epochs on 55,000 images, whatever its accuracy")


def test_figures_show_what_is_there():
    figure = figures.draw_networks(figures.table_1(TEN), figures.SERIES["2"], sort="asr_2")
    (ax,) = figure.axes
    assert len(ax.lines) == 4 and np.all(np.diff(ax.lines[0].get_ydata()) >= 0)
    data = ranking.of_series(figures.SERIES["2"], "")["data"](TEN)
    assert (data["panels"], data["series"]) == (1, 4) and data["ranks"]["CIFAR-10"]["asr_2_roby_2"] is None


def test_neighbours_of_one_class():
    points = np.array([[0, 0], [0, 1], [5, 5], [5, 6]])
    assert figures.grouped(points, [0, 0, 1, 1]) == 100 and figures.grouped(points, [0, 1, 0, 1]) == 0


# ---- hand-made classes -----------------------------------------------------------------------------------
def test_hand_made_classes_have_the_widths_that_are_asked_for():
    widths = torch.arange(1.0, 11, dtype=torch.float64)
    offsets, centres, y = handmade.arranged(np.random.default_rng(1), widths=widths)
    layout = roby.layout(centres[y] + offsets, y)
    assert torch.allclose(layout.width, widths) and torch.allclose(layout.distance, torch.pdist(centres))


def test_a_step_to_the_boundary_of_the_nearest_centre_changes_the_class():
    centres = torch.tensor([[0.0, 0], [4, 0], [0, 10]])
    points = torch.tensor([[1.0, 0], [0, 3], [3, 0]])
    gap, behind = handmade.boundary(points, centres, torch.tensor([0, 0, 0]))
    assert gap.tolist() == [1, 2, -1] and behind.tolist() == [1, 1, 1]


def test_equally_wide_classes_have_one_roby_at_any_separation():
    widths = 2 + 1e-6 * torch.arange(10, dtype=torch.float64)
    offsets, centres, y = handmade.arranged(np.random.default_rng(2), widths=widths)
    rows = pd.DataFrame([handmade.described("", offsets, s * centres, y) for s in (0.5, 1.0, 4.0)])
    assert np.ptp(rows.roby) < 1e-3 and np.all(np.diff(rows.overlap) < 0)
    assert rows.error[0] > rows.error[2]


def test_scores_are_ranked_beside_the_distance_to_the_boundary():
    draw = np.random.default_rng(3)
    ranks = handmade.property_1(handmade.arrangements(draw, 30, 2.0))
    assert ranks["roby"].low <= ranks["roby"].value <= ranks["roby"].high and ranks["overlap"].value < -0.8


# ---- matched on accuracy ---------------------------------------------------------------------------------
def test_a_claim_that_half_the_epochs_would_change_is_open():
    judge = claims.with_status(lambda c: c.asr_inf > 0.5, case="model", says="{model}: {asr_inf}")
    at_all = figures.with_lengths(lambda runs: figures.as_cells(figures.table_1(runs), ("asr_inf",)))
    last = TEN.iloc[[9]]
    short, long = (pd.DataFrame(at_all(last.assign(half=[unit("lenet", n)], asked=0.9, reached=True)))
                   for n in (1, 9))
    holds, evidence = judge(short)     # 7.5% instead of 75%
    assert holds is None and "with half the epochs" in evidence and short.acc[0].status.startswith("fitted")
    assert judge(pd.DataFrame(at_all(last)))[0] is judge(long)[0] is True


def test_a_network_below_its_published_accuracy_is_a_proxy():
    row, = figures.table_1(TEN.iloc[[9]].assign(asked=0.95, reached=False)).to_dict("records")
    assert row["status"].startswith("proxy: even after 2 epochs the network is below the published accuracy")


def test_suspects_are_compared_with_the_published_success():
    attacks = dict.fromkeys(experiments.SUSPECTS, TEN.attacks[9]["text"])
    three = pd.DataFrame([u | {"attacks": attacks} for u in TEN.to_dict("records")
                          if u["model"] in ("lenet", "mobilenetv2", "squeezenet")])
    published, *rows = ranking.suspected(three)
    assert published["LeNet"] == pytest.approx(85.4) and {row["reading"] for row in rows} == {
        *experiments.SUSPECTS.values(), "share of all images"}
    assert ranking.of_suspects(three)["networks"] == 3 and ranking.of_suspects(three[:2]) == {}


def test_a_lesson_says_what_follows_the_attack_over_sizes(monkeypatch):
    nets = pd.DataFrame({"model": [*models.FCNS], "asr_third": np.linspace(0.9, 0.5, 9),
                         "overlap_2": np.linspace(0.0, -0.4, 9), "roby_2": [0.5, 0.6, 0.4] * 3,
                         "status": None, "asked": 0.98})
    monkeypatch.setattr(figures, "networks", lambda runs: runs)
    assert capacity.ends(nets)["follows"] == {"roby_2": False, "overlap_2": True}
    words = capacity.lessons(nets)
    assert "overlap of classes follows the attack (rank correlation 1.00)" in words
    assert "does not reliably follow it" in words
    turned = capacity.lessons(nets.assign(overlap_2=-nets.overlap_2, roby_2=nets.asr_third))
    assert "does not reliably follow the attack" in turned and "follows it (1.00)" in turned
    assert "leaves open" in capacity.lessons(nets[:2])


def test_trainings_of_one_network_spread_beside_networks(monkeypatch):
    monkeypatch.setattr(figures, "networks", lambda runs: runs)
    natural = pd.DataFrame({"dataset": ["MNIST"] * 3 + ["CIFAR-10"], "model": ["A", "B", "C", "A"],
                            "roby_2": [0.5, 0.9, 0.55, 0.1], "asr_third": [0.7, 0.1, 0.1, 0.1],
                            "asked": 0.9})
    again = pd.DataFrame({"dataset": "MNIST", "model": "A", "roby_2": [0.45, 0.55], "asr_third": [0.8, 0.6]})
    facts = ranking.spread(natural, again)
    assert (facts["model"], facts["seeds"]["n"], facts["all"]["n"], facts["pairs"]) == ("A", 3, 3, 3)
    assert facts["seeds"]["sd"] == pytest.approx(0.05)
    # Student's t of two degrees of freedom exceeds 4.303 with probability 2.5%.
    assert facts["limit"] == pytest.approx(4.303 * np.sqrt(2) * 0.05, abs=1e-4)
    assert (facts["rank"], facts["flipped"]) == (-1, "60% to 80%")
    assert facts["apart"] == 2
    # Of three values, from the chi-squared distribution with two degrees of freedom, which is exponential.
    assert facts["seeds"]["low"] == pytest.approx(0.05 / np.sqrt(-np.log(0.025)))
    assert facts["seeds"]["high"] == pytest.approx(0.05 / np.sqrt(-np.log(0.975)))
    assert capacity.retrained(natural, again)["compared"].startswith("The intervals overlap")
    assert capacity.retrained(natural, pd.DataFrame()) == {}
    assert ranking.spread(natural, pd.DataFrame()) == ranking.spread(natural[1:], again[:1]) == {}
    monkeypatch.setattr(figures, "networks", lambda runs: runs.assign(roby_low=0.3, roby_high=0.7))
    (ax,) = ranking.draw_spread(natural, again).axes
    assert [len(line.get_xdata()) for line in ax.lines] == [3, 3, 10]      # the last are the paper's


def test_each_network_trained_again_has_the_spread_of_its_own_trainings(monkeypatch):
    monkeypatch.setattr(figures, "networks", lambda runs: runs)
    once = pd.DataFrame({"dataset": "MNIST", "model": ["A", "B", "C"], "roby_2": [0.5, 0.9, 0.7]})
    again = pd.DataFrame({"dataset": "MNIST", "model": ["A", "A", "B", "B"],
                          "roby_2": [0.45, 0.55, 0.9, 0.9]})
    first, second = ranking.retrained(once, again, pd.DataFrame(), again)
    assert (first["network"], first["trainings"], first["span"], first["sd"]) == (
        "A", 3, "0.450 to 0.550", "0.050")
    assert (second["network"], second["interval"]) == ("B", "0.000 to 0.000")
    assert {*ranking.trainings(once, again, "MNIST")[1].model} == {"A"}     # the first of both


def test_differences_of_pairs_stand_beside_those_of_retraining(monkeypatch):
    values = pd.DataFrame({"natural": [0.5, 0.5, 0.5], "robust": [0.45, 0.7, 0.59]},
                          index=pd.Index([("MNIST", name) for name in "ABC"], tupleize_cols=False))
    monkeypatch.setattr(defence, "pairs", lambda *_: {"a pair": ()})
    monkeypatch.setattr(defence, "with_values", lambda *_: values)
    monkeypatch.setattr(defence, "in_print", lambda *_: {"roby_original_natural": 0.5,
                                                         "roby_original_robust": 0.3})
    monkeypatch.setattr(ranking, "limits", lambda *_: ({"MNIST": 0.1}, "LeNet"))
    facts = defence.within_chance(TEN, TEN, TEN)
    assert (facts["within"], facts["pairs"], facts["paper"]) == (2, 3, 0)
    assert (facts["limits"], facts["model"]) == ("0.10 on MNIST", "LeNet")
    monkeypatch.setattr(ranking, "limits", lambda *_: ({}, ""))
    assert not defence.within_chance(TEN, TEN, TEN)


def test_dots_stand_beside_published_values():
    figure = display.dots({"share, %": {"series": {"ours": {"a": (50, 40, 60), "b": 20}},
                                         "published": {"a": 70}, "limits": (0, 100)}})
    (ax,) = figure.axes
    assert [list(line.get_xdata()) for line in ax.lines] == [[40, 60], [50], [], [20], [70, 70]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert display.dots({"x": {"series": {}}}) is None


def test_the_published_share_fed_back_implies_the_stated_steps():
    """Of a pass of 1 s and an attack of 100 / share s, each in 40 steps, 40 steps are implied."""
    share = {name: cost.PUBLISHED[experiments.DATASETS[name]] for name in ("mnist", "fashion_mnist",
                                                                           "cifar10")}
    runs = pd.DataFrame([
        {"dataset": name, "model": "lenet", "images": 10, "of_roby": 10_000, "forward": [0.9, 1, 7],
         "roby": [0], "pgd": [100 / share[name]]} for name in share])
    rows = cost.costs(runs)
    assert [row["share"] for row in rows] == pytest.approx([*share.values()])
    assert rows[0]["forward"] == 1e6 and rows[0]["steps"] == 40     # ms for 10,000 images
    assert cost.implied(rows)["MNIST"] == pytest.approx((40, 40, 40))
    facts = cost.shares(rows)
    assert facts["ratio"] == pytest.approx(2 / (1 / share["mnist"] + 1 / share["fashion_mnist"]))
    assert facts["paper"] == pytest.approx(100 * (189 + 195) / (16_001 + 16_968))
    assert facts["colour"]["share"] == pytest.approx(share["cifar10"]) and facts["networks"] == 2
    assert facts["worst"] == pytest.approx(100 * (share["mnist"] / share["fashion_mnist"] - 1))
    assert cost.shares(rows[2:]) == {}
