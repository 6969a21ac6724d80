"""Rows, violins, bars and words of Section 7.2, on small made-up runs; the plans."""
import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch

from papers.sutton import (
    claims,
    definitions,
    experiments,
    figures,
    photographs,
    sketches,
    study,
    tables,
    training_noise,
)
from papers.sutton.class_pairs import summary
from papers.sutton.definitions import Checks
from papers.sutton.experiments import DELTAS
from papers.sutton.theory.models import planar_flip_probability
from report import pieces, prose, reference
from report.comparison import compare
from report.experiment import Results
from shared.susceptibility import percentage
from tests import flips

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def part(seed, images=200, attackable=100):
    """What `measure_pair` returns of one set; norms and hits follow from the seed."""
    draws = torch.Generator().manual_seed(seed)
    size = torch.rand(attackable, generator=draws) * (1 + seed % 3)
    stretch = 1 + torch.rand(attackable, generator=draws)
    scales = {"l1": 30, "l2": 1, "linf": 0.1}
    norms = {k: summary(s * size, images) for k, s in scales.items()}
    shared = {"passes": 1, "needed": 1, "rejudged": 0, "overturned": 0, **norms}
    some = min(50, len(size))
    return {"accuracy": percentage(images - seed % 7, images), "tried": images - seed % 7, "saturated": 3,
            "attack": {"susceptibility": percentage(len(size), images - seed % 7), **shared},
            "logit_attack": {"susceptibility": percentage(len(size) + 3, images - seed % 7), **shared},
            "margin": summary(size), "linear": summary(size / stretch), "stretch": summary(stretch),
            "random": [{"delta": d, "susceptibility": percentage(min(some, d), some), **shared,
                        **{k: summary(d * s * size[:d]) for k, s in scales.items()}}
                       for d in DELTAS],
            "sampled": {"attack_l2": size[:some].numpy(), "first": np.zeros((4, some), np.int16)}}


def made_up(problems, **sizes):
    """A DataFrame as `Run.frames` makes it."""
    return pd.DataFrame([{"run": f"u{a}-{b}", "class_a": a, "class_b": b, "dimension": 3072, "draws": 2000,
                          "train": part(10 * a + b, **sizes), "test": part(10 * a + b + 100, **sizes)}
                         for a, b in problems])


ALL = [(a, b) for a in range(10) for b in range(a + 1, 10)]
NEXT = [(a, a + 1) for a in range(9)]
UNITS = made_up(ALL)
PAPER = reference.paper("sutton")
SHARES = {key: tables.printed(PAPER[f"table-{number}"])
          for key, number in zip(("attack", *DELTAS), (5, 9, 10, 11, 12))}


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


# ---- rows ------------------------------------------------------------------------------------------------
ROWS = {"table-4": lambda u: tables.shares(u, "accuracy"), "table-5": lambda u: tables.shares(u, "attack"),
        "table-6": lambda u: tables.sizes(u, "l2"), "table-7": lambda u: tables.sizes(u, "l1"),
        "table-8": lambda u: tables.sizes(u, "linf", limit=0.2),
        "table-11": lambda u: tables.shares(u, 5),
        "table-20": lambda u: tables.summary_shares(u[u.class_b == u.class_a + 1]),
        "table-21": lambda u: tables.summary_sizes(u[u.class_b == u.class_a + 1])}


@pytest.mark.parametrize("item", ROWS)
def test_every_printed_cell_is_compared(item):
    printed = PAPER[item]
    cells = compare(printed, ROWS[item](UNITS))
    assert len(cells) == 2 * len(printed.rows) and all(c["measured"] is not None for c in cells)
    few = UNITS[UNITS.class_a == 2]
    assert 0 < len(compare(printed, ROWS[item](few))) < len(cells)


def test_rows_hold_the_right_numbers():
    row = UNITS.to_dict("records")[3]
    share, = (r for r in tables.shares(UNITS, 5) if (r["class_a"], r["class_b"]) == (0, 4))
    assert share["test"].value == row["test"]["random"][2]["susceptibility"]["percent"] == 10
    assert share["train"].of == 50 and share["train"].low < share["train"].value < share["train"].high
    size, = (r for r in tables.sizes(UNITS, "linf", limit=0.05)
             if (r["class_a"], r["class_b"], r["split"]) == (0, 4, "train"))
    facts = row["train"]["attack"]["linf"]
    assert (size["mean"], size["std"], size["count"]) == (facts["mean"], facts["std"], 100)
    assert size["below"] == pytest.approx(100 * np.mean(np.interp(np.linspace(0, 100, 2001), np.arange(101),
                                                                  facts["quantiles"]) < 0.05), abs=1)


def test_values_of_a_problem_have_the_range_of_its_further_trainings_without_those_that_failed():
    runs, again = made_up([(0, 1), (1, 2)]), pd.concat([made_up([(0, 1)])] * 6, ignore_index=True)
    shares = [10.0, 90.0, 92.0, 93.0, 94.0]
    for part, percents in (("test", [*shares, 50.0]), ("train", [99.0] * 5 + [51.0])):   # the last failed
        again[part] = [kept | {"accuracy": kept["accuracy"] | {"percent": p}}
                       for kept, p in zip(again[part], percents)]
    own, other = figures.with_retraining(lambda u: tables.shares(u, "accuracy"))(runs, again)
    assert (own["test"].low, own["test"].n, own["test"].over) == (10, 6, "trainings")
    assert other["test"].over is None       # another problem: no training but its own
    plain = figures.with_retraining(lambda u: tables.shares(u, "accuracy"))(runs, pd.DataFrame())
    assert all(row["test"].over is None for row in plain)


def test_a_failed_training_is_shown_by_the_first_further_one_that_succeeded():
    runs = with_accuracy(with_accuracy(made_up([(0, 1), (1, 2), (2, 3)]), 0, 50.0), 1, 50.0)
    again = pd.concat([made_up([(0, 1)])] * 7, ignore_index=True)
    again["run"], again["draws"] = [f"seed-{n}" for n in range(7)], range(7)
    again["test"] = [kept | {"accuracy": kept["accuracy"] | {"percent": 10.0 * n}}
                     for n, kept in enumerate(again.test)]
    again = with_accuracy(again, 0, 50.0)
    assert [*figures.with_second(runs, again).draws] == [1, *runs.draws[1:]]
    words = figures.failed_in_words(runs, "abcd", again)
    assert "a – b and b – c: " in words and "training of a – b that" in words and "of b – c is shown" in words
    none = pd.DataFrame()
    assert figures.with_second(runs, none) is runs
    assert "of a – b and b – c is shown and not" in figures.failed_in_words(runs, "abcd", none)
    rows = figures.with_retraining(figures.compared_where_learned(tables.summary_shares))
    shown, plain = rows(runs, again), rows(runs, none)
    assert [("status" in row, row["test"].n) for row in shown if row["quantity"] == "accuracy"] == [
        (False, 6), (True, None), (False, None)]        # the one shown and five others
    assert sum("status" in row for row in plain) == 2 * sum("status" in row for row in shown)


def test_printed_rows_are_selected_by_their_labels():
    item = PAPER["table-20"]
    rows = tables.printed(item, quantity="random_susceptibility", delta_inferred=10)
    assert list(rows) == NEXT and rows[0, 1]["test"] == 52.92
    assert len(tables.printed(PAPER["table-4"])) == 45
    shares = tables.printed_shares(item)
    assert shares[10] == rows and list(shares) == ["accuracy", "attack", *DELTAS]


def test_quantiles_give_back_what_they_came_from():
    values = torch.rand(5000, generator=torch.Generator().manual_seed(0)) ** 2
    facts = summary(values)
    assert tables.points(facts).mean() == pytest.approx(float(values.mean()), abs=2e-3)
    assert tables.quantile(facts, 0.5) == pytest.approx(float(values.median()), abs=1e-3)
    assert tables.below(facts, 0.25) == pytest.approx(50, abs=2)
    none = summary(values[:0])
    assert len(tables.points(none)) == 0 and tables.quantile(none, 0.5) is tables.below(none, 1) is None


def test_further_trainings_are_compared_with_the_published_share():
    runs = pd.concat([made_up(NEXT[:1]), made_up(NEXT[:1], attackable=20)])
    first, second = (tables.percent(part, "attack") for part in runs.test)

    def words(paper):
        return figures.retrained_in_words(runs, {"attack": {NEXT[0]: {"test": paper}}}, NAMES)

    assert "explains little of the difference" in words(max(first, second) + 1)
    assert "may explain the difference" in words((first + second) / 2)
    assert figures.retrained_in_words(runs[:1], SHARES, NAMES) == ""


def test_pairs_below_the_published_shares_are_counted_without_and_with_zero_gradients():
    runs = made_up(NEXT[:1])
    step, counted = (tables.flipped_by_step(runs.test[0])["percent"], tables.percent(runs.test[0], "attack"))
    between = {"attack": {NEXT[0]: {"test": (step + counted) / 2}}}
    assert figures.below_published(runs, between) == {"n": 1, "below": 1, "counted": 0}
    assert figures.below_published(runs[:0], between) == {}


def test_images_are_counted():
    counts = re.findall(r"\d+", figures.scale_words(made_up([(0, 1), (1, 2)]), 45))
    # problems measured and of how many; images, classified correctly, attacked, flipped, saturated, perturbed
    assert list(map(int, counts)) == [2, 45, 800, 791, 791, 400, 12, 200]


# ---- trainings that failed -------------------------------------------------------------------------------
def with_accuracy(runs, place, percent):
    runs.at[place, "train"] = runs.at[place, "train"] | {"accuracy": percentage(2 * percent, 200)}
    return runs


def test_a_network_that_always_predicts_the_larger_class_is_named_and_left_out():
    runs = with_accuracy(made_up(NEXT[:3]), 1, 75)
    signs = runs.assign(held_out=[(0.3, 0.3)] * 3)      # 89.6% of the images of signs 1 and 2 show the latter
    assert list(figures.learned(signs).run) == ["u0-1", "u2-3"]
    assert figures.failed_in_words(signs, NAMES).startswith("Training failed on one – two:")
    assert not figures.has_learned(with_accuracy(signs.copy(), 1, 91.5).iloc[1])
    assert figures.has_learned(with_accuracy(signs.copy(), 1, 92).iloc[1])
    assert list(figures.learned(runs).run) == list(runs.run)      # 75% are more than half
    assert figures.failed_in_words(runs, NAMES) == ""
    runs = with_accuracy(runs, 1, 50)
    assert list(figures.learned(runs).run) == ["u0-1", "u2-3"]
    assert list(figures.learned(runs[1:2]).run) == ["u1-2"]         # where all failed, all are shown


def test_the_box_and_the_table_have_the_means_over_pairs_and_leave_failed_trainings_out():
    shares = {"attack": {p: {"train": 90.0, "test": 80.0} for p in NEXT},
              **{d: {p: {"train": 1.0, "test": 2.0} for p in NEXT} for d in DELTAS}}
    two = made_up(NEXT[:2])
    facts = figures.box_facts(two, shares, 9)
    assert [facts[key] for key in ("pairs", "of", "failed", "one", "perturbed")] == [2, 9, 0, 2, 100]
    assert facts["paper"] == {"step": 80, "one": 2, "ten": 2} and facts["ten"] == 20 and facts["low"] < 2
    assert facts["most"] and facts["some"] and not facts["alike"] and facts["odd"] == NEXT[:2]
    assert facts["words"] == {"one": "practically none", "step": "most", "ten": "fewer than half"}
    one_failed = figures.box_facts(with_accuracy(two, 1, 50), shares, 9)
    assert (one_failed["pairs"], one_failed["failed"], one_failed["odd"]) == (1, 1, NEXT[:1])
    rows = figures.mean_rows(made_up(NEXT[:2]), shares)
    assert [row["of"] for row in rows] == 3 * [sum(u["tried"] for u in two.test)] + 4 * [100]
    assert [row["published"] for row in rows] == ["80.0%", "80.0%", None, *4 * ["2.0%"]]
    unlike = pd.concat([made_up(NEXT[:1]), made_up(NEXT[1:2], attackable=20)])
    assert figures.box_facts(unlike, shares, 9)["ten"] == 35
    never = {"susceptibility": percentage(0, 50)}
    unmoved = two.assign(test=[test | {"random": [v | (never if v["delta"] == 1 else {}) for v in test[
        "random"]]} for test in two.test])
    facts = figures.box_facts(unmoved, shares, 9)
    assert facts["alike"] and facts["words"]["one"] == "none"


def test_planes_at_the_measured_distances_predict_what_noise_flips():
    runs = made_up([(0, 1)])
    assert figures.distance_facts(runs, 2000) == {}
    runs.at[0, "test"] = runs.test[0] | {"nearest": {
        "step": np.full(4, 2.0), "carlini_wagner": np.array([1.0, 1.0, np.nan, 3.0])}}
    facts = figures.distance_facts(runs, 2000)
    half, whole = (100 * planar_flip_probability(3072, far, 2000) for far in (0.05, 0.1))
    assert facts["lengths"][10]["near"] == pytest.approx((half + whole) / 2)
    assert facts["lengths"][10]["at_step"] == pytest.approx(whole)
    assert (facts["images"], facts["ratio"], facts["lengths"][10]["flipped"]["percent"]) == (4, 0.75, 20)
    assert facts["lengths"][1]["near"] < 1e-9 and facts["inside"] == 0
    assert facts["longest"] == facts["lengths"][10]
    assert figures.distance_rows(facts)[-1] == [
        "10 ×", "less than 0.01%", "49.8% (outside)", "20.0% (10.0% to 33.7%)"]


def test_the_first_template_whose_fact_is_true_is_taken():
    assert prose.first({"a": False, "b": True}, ("a", "A"), ("b", "B"), "C") == "B"
    assert prose.first({"a": False}, ("a", "A"), "C") == "C"
    assert not prose.complete(prose.first({}, ("a", "A"), "C"), {})


def test_the_box_on_traffic_signs_names_the_odd_pair_of_lowest_accuracy():
    shares = {"accuracy": {p: {"test": 98.0} for p in NEXT}, "attack": {}, **{d: {} for d in DELTAS}}
    runs = made_up(NEXT[:3])
    for place in (0, 2):
        still = [entry | {"susceptibility": percentage(0, 50)} for entry in runs.test[place]["random"]]
        runs.at[place, "test"] = runs.test[place] | {"random": still}
    facts = study.facts_of_signs(runs, shares, 5)
    assert facts["odd"] == [NEXT[1]] and "least accurate" not in study.limit_of_signs(facts)
    runs.at[1, "test"] = runs.test[1] | {"accuracy": percentage(94, 100)}
    facts = study.facts_of_signs(runs, shares, 5)
    assert prose.fill(study.limit_of_signs(facts), facts).endswith("the least accurate (94%; paper: 98%).")
    facts = study.facts_of_signs(with_accuracy(runs, 0, 30), shares, 5)
    assert prose.fill(study.limit_of_signs(facts), facts) == (
        "All 1 belong to *end of no passing – keep right*, whose network is the least accurate (94%; paper: "
        "98%); 1 training failed.")
    alike = shares | {DELTAS[0]: {NEXT[0]: {"test": 0}, NEXT[1]: {"test": 1.8}}}
    facts = study.facts_of_signs(runs, alike, 5)
    assert "right* (paper: likewise), whose" in prose.fill(study.limit_of_signs(facts), facts)
    assert study.limit_of_signs(study.facts_of_signs(runs[:0], shares, 5)) == "One network a pair."


# ---- tables and figures ----------------------------------------------------------------------------------
def test_the_first_dimension_of_a_property_is_told_also_where_none_or_all_have_it():
    n = sketches.DIMENSIONS
    assert [sketches.around(n > limit) for limit in (n[-1], 0, n[1])] == [
        f"above {n[-1]:,}", f"of at most {n[0]:,}", f"between {n[1]:,} and {n[2]:,}"]


def test_a_triangle_is_laid_out_as_printed():
    item = PAPER["table-6"]
    few = made_up([(2, 3)])
    header, body, rest = pieces.compared_table(item, "reproduced", tables.sizes(few, "l2"), {}, tables.HIDDEN)
    assert header[-9:] == [str(k) for k in range(1, 10)] and {*map(len, body + rest)} == {len(header)}
    assert len(body) == 4   # a line of ours under each printed one that has any: training and test images
    assert len(rest) == len(item.raw["rows"]) - 2 and not any("reproduced" in row for row in rest)
    printed, ours = next((p, o) for p, o in zip(body, body[1:]) if o[2] == "reproduced")
    assert printed[0] == "2" and printed[5] == "0.40 (0.31)"
    facts = few.train[0]["attack"]["l2"]
    assert ours[5] == f"{facts['mean']:.2f} ({facts['std']:.2f})" and sum(map(bool, ours[3:])) == 1


def test_a_problem_without_any_attack_is_shown_too():
    none = made_up([(1, 2)], attackable=0)
    assert figures.draw_violins(none, NEXT, NAMES, "attack") is None
    assert figures.draw_means(none, SHARES, NAMES) is not None
    assert figures.means(none, SHARES)[5]["mean"] is None and figures.box_facts(none, SHARES, 9) == {}
    assert [row["ours"] for row in figures.mean_rows(none, SHARES)] == ["0%", "1.5%", "1.5%"]


def test_small_shares_have_more_digits():
    texts = [figures.in_percent(v) for v in (0, 0.001, 0.26, 41.49, 100)]
    assert texts == ["0%", "less than 0.01%", "0.26%", "41.5%", "100.0%"]


def test_numbers_of_a_claim():
    assert claims.stated(PAPER["table-4"], "Mean test accuracy") == [94.09, 3.78, 82.6]


# ---- claims ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("item", ["figure-8", "figure-9", "figure-10", "figure-13", "figure-14"])
def test_claims_on_norms_hold_on_some_results_and_fail_on_others(item):
    """A smoke run has too few problems and flipped labels for any of them."""
    near = UNITS[UNITS.class_b == UNITS.class_a + 1]
    norm = {"figure-8": "l1", "figure-10": "linf"}.get(item, "l2")
    attacks = figures.medians(near, experiments.CLASSES["cifar10"], "attack", norm)
    group = {"count": 50, "median": 1.0, "reach": 2.0, "low": 1.9, "high": 2.1}
    data = {"figure-13": {"attack": attacks, "random": attacks, "twice": {"a": {"test": 1.0}}},
            "figure-14": {"attacks": group, "draws": group}}.get(item, attacks)
    with np.errstate(all="ignore"):     # a changed median may be 0
        for rule in claims.claim[item].values():
            assert rule.open or flips.one_sided(rule, [[data]], [[]]) == ""


def test_a_quoted_mean_is_compared_with_the_interval_of_ours():
    rule, rows = claims.claim["table-4"]["Mean test accuracy"], pd.DataFrame(PAPER["table-4"].rows)
    moved = rows.assign(test=rows.test + np.where(rows.index % 2, 1, -1))      # by problem, not in the mean
    assert rule.judge(moved)[0]
    assert rule.judge(moved.assign(test=moved.test - 0.7))[0]       # outside the interval, but near
    # Within the deviation over problems (3.78), outside the interval of the mean.
    holds, evidence = rule.judge(moved.assign(test=moved.test - 2))
    assert not holds and "95% interval -2.2" in evidence
    assert rule.outcome([rows[:4]])[0] is None
    unlike = claims.claim["table-5"]["Mean training susceptibility"]
    assert unlike.open == "the mean of the published cells is 90.21%, not 85%"


def test_problems_that_are_not_measured_are_named():
    rule = claims.claim["figure-9"]["bird vs cat"]
    parts = {"train": {"median": 1.0}, "test": {"median": None}}
    assert rule.outcome([{"bird – cat": parts}]) == (None, "cat – deer: no attack is measured")
    both = {"bird – cat": parts, "cat – deer": parts}
    assert rule.outcome([both]) == (None, "no other problem than bird – cat and cat – deer is measured")


def test_what_a_margin_hides_is_judged_in_the_dimension_of_an_image():
    rule, all_ = claims.claim["theorem-20"]["what hides"], {"1": 0.3, "5": 0.4, "10": 0.5}
    less = {"1": 0.0, "5": 0.1, "10": 0.2}
    data = {"n": 200_000, "epsilon": 0.1, "flipped_without_margin": all_, "flipped_with_margin": less,
            "attackable_with_margin": 1.0, "flipped_at_picture_without_margin": all_,
            "flipped_at_picture": less, "attackable_at_picture": 1.0}
    assert rule.judge(data)[0]
    for changed in ({"flipped_at_picture": less | {"10": 0.6}}, {"attackable_at_picture": 0.1}):
        assert not rule.judge(data | changed)[0]


@pytest.mark.parametrize("values", [[0.4], [0.4, 0.4, 0.5], np.linspace(0, 3, 500)])
def test_violins_stay_on_their_side_and_between_their_values(values):
    runs = made_up(NEXT[:1])
    runs.at[0, "train"] = runs.at[0, "train"] | {"attack": {"l2": summary(torch.tensor(values))}}
    ax, = figures.draw_violins(runs, NEXT, NAMES, "attack", norms=("l2",)).axes
    left, right = (body for body in ax.collections if body.get_alpha())
    for body, low, high in ((left, -0.5, 0), (right, 0, 0.5)):
        x, y = body.get_paths()[0].vertices.T
        assert low <= x.min() and x.max() <= high
    y = left.get_paths()[0].vertices[:, 1]
    assert min(values) - 1e-6 <= y.min() and y.max() <= max(values) + 1e-6


def test_means_are_over_the_same_problems():
    means = figures.means(made_up([(0, 1), (4, 5)]), SHARES)
    assert means["step"]["published"] == pytest.approx((86.88 + 98.34) / 2) and means[5]["mean"] == 10
    assert means["logit"]["published"] is None and list(means["step"]["percents"]) == [(0, 1), (4, 5)]


def test_pairs_are_drawn_with_the_published_shares_and_ranked():
    runs = made_up(NEXT[:4])
    figure = figures.draw_pairs(runs, SHARES, NAMES)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "zero – one", "one – two", "two – three", "three – four"]
    assert figures.draw_pairs(runs[:0], SHARES, NAMES) is None
    for place, share in enumerate((10, 20, 30, 40)):
        step = runs.test[place]["attack"] | {"susceptibility": percentage(share, 100)}
        runs.at[place, "test"] = runs.test[place] | {"attack": step}
    published = {"attack": {p: {"test": 50 - n} for n, p in enumerate(NEXT)},
                 10: {p: {"test": 50 - n} for n, p in enumerate(NEXT)}}
    assert study.rank_facts(runs, published)["attack"] == pytest.approx(-1)
    assert study.rank_facts(runs[:2], published) == {}


def test_class_names_are_compared_by_their_letters():
    item = PAPER["table-3"]
    own = ["airplane", *(r["name"].lower() for r in item.rows[1:9]), "lorry"]
    names = [r["name"] for r in tables.class_rows(item, own, {"airplane": "aeroplane"})]
    assert names == [*(r["name"] for r in item.rows[:9]), "lorry"]
    assert [c["mark"] for c in compare(item, tables.class_rows(item, own))] == ["≠", *8 * ["≈"], "≠"]


def test_a_figure_rests_on_its_own_problems_only():
    arguments = {f"u{a}-{b}": {"class_a": a, "class_b": b} for a, b in ALL}
    runs = Results("pairs", arguments, ("draws",), recorded=dict.fromkeys(["u0-1", "u0-3"], "run"),
                    own={"u1-2": "own"}, outdated={"u0-3": ["why"]})
    near = runs.only(lambda given: given["class_b"] == given["class_a"] + 1)
    assert list(near.published) == [f"u{a}-{b}" for a, b in NEXT] and near.sizes == ("draws",)
    assert list(near.recorded) == ["u0-1"] and list(near.own) == ["u1-2"] and not near.outdated


# ---- which network ---------------------------------------------------------------------------------------
PRINTED = {"accuracy": {p: {"test": 98.0} for p in NEXT[:5]}, "attack": {p: {"test": 70.0} for p in NEXT[:5]}}


def trained(reading, shares, *, problem=None, right=98, saturated=5):
    """Networks of a reading: one a problem with these shares, or one a seed of `problem`."""
    where = [(p, 0) for p in NEXT] if problem is None else [(problem, n) for n in range(9)]
    return pd.DataFrame([{
        "class_a": p[0], "class_b": p[1], "seed": n,
        "architecture": "-".join(filter(None, ("sutton-vgg-short", reading))),
        "train": {"accuracy": percentage(right, 100)},
        "test": {"accuracy": percentage(right, 100), "tried": 100, "saturated": saturated,
                 "attack": {"susceptibility": percentage(hits, 100)}}}
        for (p, n), hits in zip(where, shares)])


def test_an_image_of_zero_gradient_is_attackable_and_no_step_flips_it():
    part = UNITS.train[0]
    attackable, flipped = tables.share(part, "attack"), tables.flipped_by_step(part)
    assert attackable["hits"] == flipped["hits"] + part["saturated"] == 103
    assert attackable["of"] == flipped["of"] == part["tried"]


def test_the_shares_are_compared_with_networks_as_printed_on_the_problems_of_both():
    runs, plain = trained("", [60] * 3), trained("", [50] * 2)
    text = study.as_printed_in_words(runs, plain, PRINTED)
    assert text.startswith("On 2 pairs ") and re.findall(r"\d+", text) == ["2", "15", "5"]
    assert study.as_printed_in_words(runs, plain[:0], PRINTED) == ""
    one_failed = pd.concat([plain[:1], trained("", [9, 9], right=50)[1:]])
    assert "On 1 pair " in study.as_printed_in_words(runs, one_failed, PRINTED)
    assert study.as_printed_in_words(runs, trained("", [9, 9], right=50), PRINTED) == ""


def test_further_trainings_that_succeeded_are_set_beside_the_published_share():
    good, failed = trained("", [60, 62, 64], problem=(0, 1), saturated=0), trained("", [9], right=50)
    facts = study.good_trainings(pd.concat([good, failed]), PRINTED)
    assert facts == {"n": 3, "of": 4, "low": 60, "high": 64, "paper": 70}
    assert study.good_trainings(good[:1], PRINTED) == study.good_trainings(pd.DataFrame(), PRINTED) == {}


def test_readings_are_means_over_problems_of_means_over_seeds_without_failed_trainings():
    plain, norm = trained("", [40, 60]), trained("bn", [68, 71])
    more = pd.concat([norm, trained("bn", [72], problem=(0, 1)), trained("bn", [9], right=50)])
    chosen, first, second = study.reading_rows(PRINTED, trained("", [50])[:1], plain, more)
    assert chosen["reading"].startswith("ours") and (chosen["found"], chosen["zero"]) == (20, 15)
    assert (first["reading"], first["networks"], first["problems"]) == ("Table 2 as printed", 2, 2)
    assert (first["found"], first["zero"], first["near"]) == (20, 15, 1)
    assert (second["networks"], second["failed"], second["problems"]) == (4, 1, 2)
    assert (second["found"], second["zero"]) == (pytest.approx(0.5), pytest.approx(5.5))
    assert "2 pairs, *batch normalisation, 0.9* is nearest: the mean deviation is 5.5 " in (
        study.nearest_in_words([chosen, first, second]))
    assert study.nearest_in_words([chosen]) == ""
    none, = study.reading_rows(PRINTED, trained("", []), trained("", [9], right=50))
    assert none["found"] is None and (none["failed"], none["near"]) == (1, 0)


def test_cells_of_the_pairs_that_the_choice_rests_on_are_fitted():
    two = made_up([(4, 7), (1, 3)])
    for rows in (tables.shares(two, "attack"), tables.sizes(two, "l2")):
        marked = [row.get("status") or row.get("test") and row["test"].status for row in study.fitted(rows)]
        assert marked == [study.FITTED if row["class_a"] == 4 else None for row in rows]


# ---- definitions and their mutants -----------------------------------------------------------------------
def test_a_check_counts_the_mutants_that_it_detects():
    published = {}
    page = SimpleNamespace(paper_key="sutton", statement=lambda item, **facts: published.update(facts))
    checks = Checks(page)
    checks.check("equation-6", lambda form: form(2) == 4, lambda x: x * x,
                 {"a sum that is equal at 2": lambda x: x + x, "a third power": lambda x: x**3},
                 noticed=True, at=2)
    assert published["data"] == {"at": 2, "changes_noticed": 1}
    assert published["evidence"]["within_allowed"] and published["evidence"]["mutants_caught"] == 1
    assert checks.show() == {"caught": 1, "mutants": 2}
    assert "sides" not in published["evidence"]
    checks.check("equation-8", lambda form: True, None, {}, sides="samples and laws")
    assert published["evidence"]["sides"] == "samples and laws"
    checks.check("equation-7", lambda form: True, None, {}, exact=False)
    assert published["evidence"]["within_allowed"] is False and published["data"] == {}


def test_the_gradient_of_class_1_vanishes_first_where_its_output_rounds_to_1():
    assert definitions.last_logit(1) == pytest.approx(25 * np.log(2), abs=1)
    assert definitions.last_logit(1) < definitions.last_logit(0, definitions.TINY) < definitions.last_logit(0)
    assert len(definitions.draw_slopes().axes[0].lines) == 5


# ---- the experiments -------------------------------------------------------------------------------------
@pytest.mark.parametrize("profile", ["smoke", "quick"])
def test_small_runs_of_a_page_have_the_arguments_of_the_experiment_and_the_names_of_its_runs(profile):
    pages = (experiments.cifar10, experiments.fashion_mnist, experiments.gtsrb, experiments.imagenet)
    for plan, experiment, scale in (
            *((page.plan, page, experiments.PARADOX) for page in pages),
            (experiments.plan_without_noise, experiments.cifar10, experiments.NOISE)):
        published = experiment.planned()[0]
        for name, arguments in plan(SimpleNamespace(**scale[profile])).items():
            assert arguments.keys() - {"search"} == published[name].keys()      # as `experiments.short` says


# ---- boxes of training with noise, and of photographs ----------------------------------------------------
def levels(*shares, problems=1):
    """What `training_noise.curves` gives of these attackable shares."""
    return {f"level {n}": {"size": n, "problems": training_noise.PROBLEMS[:problems],
                           **{panel: {"train": value} for panel, value in (
                               ("accuracy", 99.0 - n), ("susceptibility", share))},
                           "readings": {"found": {"susceptibility": share, "l2": 1.0 + n},
                                        "lost": {"susceptibility": share and share + 1}}}
            for n, share in enumerate(shares)}


def test_the_box_on_training_with_noise_follows_the_pairs_and_the_fall():
    facts = training_noise.box_facts(levels(68.0, 69.0, 70.0, 51.0))
    assert facts["alone"] and facts["few"] and facts["where"] == "one of nine class pairs"
    assert facts["fall"] == {"flipped": 17, "counted": 17} and facts["zero"] == {"none": 1, "most": 1}
    assert (facts["none"], facts["most"], facts["accuracy"]["most"]) == (68, 51, 96)
    assert facts["counted"] == {"none": 69, "most": 52} and facts["rows"]["found"] == "68, 69, 70, 51"
    assert facts["mixed"] and not training_noise.box_facts(levels(68.0, 60.0, 51.0))["mixed"]
    assert facts["paper"]["none"] == pytest.approx(88.33) and facts["paper"]["most"] == pytest.approx(75.66)
    assert not training_noise.box_facts(levels(68.0, 69.0, 70.0, 69.0, problems=5))["fewer"]
    fewer = training_noise.box_facts(levels(68.0, 69.0, 70.0, 51.0, problems=9))
    assert fewer["fewer"] and not fewer["few"] and fewer["where"] == "all nine class pairs"
    assert training_noise.box_facts(levels(68.0, None, 70.0, 61.0)) == {}
    assert training_noise.box_facts(levels(68.0)) == {}
    assert len(training_noise.draw_box(levels(68.0, 69.0, 70.0, 51.0)).axes) == 2


def test_the_pictures_of_noise_name_their_pairs_and_grey_lines_only_where_there_are_other_pairs():
    alone, whole = levels(68.0, 51.0), levels(68.0, 51.0, problems=9)
    words = training_noise.pictures_in_words(whole, alone)
    assert "(all nine class pairs)" in words and "(one of nine class pairs)" in words
    assert "88.3% without" in words and "Grey lines" in words
    assert "Grey" not in training_noise.pictures_in_words(whole, whole)
    assert training_noise.pictures_in_words(whole, {}) == ""
    labels = [[text.get_text() for text in training_noise.draw_box(of).legends[0].get_texts()]
              for of in (alone, whole)]
    assert [len(some) for some in labels] == [4, 3]


def test_a_page_says_how_it_averages_and_over_which_pairs(monkeypatch):
    off = {"cube": {"lost": 0.1, "found": 0.2, "all": 0.3}, "ball": {"lost": 0.2, "found": 0.1, "all": 0.3}}
    monkeypatch.setattr(training_noise, "misfit", lambda of, reading: (
        off[of.noise.iloc[0]][reading] if len(of) else float("inf")))
    runs = pd.DataFrame({"noise": ["cube", "ball"]})
    cube, ball = training_noise.averaging_in_words(runs).split(". With")
    assert cube.startswith("With L∞ noise the norms are means over attacked and zero-gradient images")
    assert "counts as attackable, as in Table 5" in cube and " L2 noise " in ball
    assert "means over attacked images" in ball and "does not count as attackable" in ball
    off["ball"] = off["cube"]
    assert training_noise.averaging_in_words(runs).startswith("With L∞ and L2 noise ")
    off["cube"] = dict.fromkeys(off["cube"], float("inf"))
    assert training_noise.averaging_in_words(runs[:1]) == ""
    monkeypatch.setattr(training_noise, "curves", lambda kind, runs, without: levels(*without, problems=2))
    assert training_noise.pairs_of_curves("cube", runs, (68.0, 51.0)) == {
        "pairs": "2 of nine class pairs"}
    assert training_noise.pairs_of_curves("cube", runs, ()) == {}


def test_the_box_on_photographs_counts_small_attacks_and_noise():
    block = {"correct": [True, True, False], "l1": [1.0, 1.0], "l2": [0.5, 2.0], "linf": [0.05, 0.2],
             "margin_l2": [0.5, 2.0], "first": [[9, 9], [9, 9], [9, 9], [9, 3]], "draws": 9, "largest": 5.0,
             "dimension": 12, "saturated": 0, "network": "squeezenet"}
    facts = photographs.facts(pd.DataFrame([block]))
    assert (facts["images"], facts["correct"], facts["attacked"], facts["ten"]) == (3, 2, 2, 1)
    assert facts["small"]["hits"] == 1 and not facts["every"] and not facts["missed"] and not facts["papers"]
    assert facts["paper"] == {"small": 93.3, "ten": 2.5} and facts["change"] == pytest.approx(12.5)
    none = block | {"l1": [0.0, 0.0], "l2": [0.0, 0.0], "linf": [0.0, 0.0], "first": [[], [], [], []]}
    assert photographs.facts(pd.DataFrame([none])) == photographs.facts(pd.DataFrame()) == {}
    assert photographs.draw_box({}, None) is None and len(photographs.draw_box(facts, None).axes) == 1
