"""Marks, claims, verdicts, forms of records: on hand-made items and on the papers' own numbers."""
import json
import re
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from report import claims, comparison, display, numbers, pieces, record, reference, store
from report.cell import Cell, restored
from report.comparison import DIFFERS, NEAR, OPEN
from report.experiment import Results
from report.repository import ROOT
from report.verdict import NOT_MEASURED, NOTHING, VERDICTS, failing, verdict
from shared import runtime

sys.path.insert(0, str(ROOT / "book/_ext"))
import counts  # noqa: E402

ITEM = reference.Item("ren", "table-x", "table", "X", "I", "A caption.",
                      ("The value rises with the name.", "The value of b is larger than that of a."), {
    "keys": ["name"], "values": ["value", "nested", "rate", "works"],
    "columns": [{"key": "name", "label": "Name", "type": "string"},
                {"key": "value", "label": "Value", "type": "number", "decimals": 2},
                {"key": "nested", "label": "Nested", "type": "number"},
                {"key": "rate", "label": "Rate", "type": "number", "least_decimals": 3},
                {"key": "works", "label": "Works", "type": "boolean"}],
    "rows": [{"name": "a", "value": 1.25, "nested": {"p": 98.8, "class": 3}, "rate": 1, "works": True},
             {"name": "b", "value": None, "nested": {"p": 55.0, "class": 8}, "rate": 0.925, "works": False}]})
FIGURE = reference.Item("ren", "figure-x", "figure", "9", "I", "A caption.", (), {
    "printed_numbers": [{"name": "mean", "value": 0.63}, {"panel": "b", "l1": 67.98}]})


def cell(**row):
    """The one compared cell of the row `a`, measured as these values."""
    compared, = comparison.compare(ITEM, [{"name": "a"} | row])
    return compared


# ---- printed precision -------------------------------------------------------------------------------------
@pytest.mark.parametrize("value, column, places", [
    (1e-5, None, 5), (1.5e-7, None, 8), (100, None, 0), (0, None, 0), (-0.84, None, 2), (1e22, None, 0),
    (100.0, {"decimals": 2}, 2), (1, {"least_decimals": 2}, 2), (0.925, {"least_decimals": 2}, 3)])
def test_decimals_are_those_of_the_column_or_those_that_a_number_shows(value, column, places):
    assert comparison.decimals(value, column) == places


@given(st.integers(-10**9, 10**9), st.integers(1, 9))
def test_decimals_of_any_printed_number(digits, places):
    text = f"{digits / 10**places:.{places}f}".rstrip("0")
    assert comparison.decimals(float(text)) == len(text.split(".")[1])


def test_a_whole_number_is_shown_as_finely_as_its_neighbours_and_a_count_stays_whole():
    column = {"type": "number", "decimals": None, "least_decimals": 1}
    assert display.number(31.333, 77.0, column) == "31.3" and display.number(77.0, 77.0, column) == "77.0"
    assert display.number(31.333, 77.53, column) == "31.33" and display.number(6, 6, column) == "6"
    assert display.number(0.4, 0, column) == "0.4" and display.number(0.0, 0, column) == "0"


@pytest.mark.parametrize("column, shown", [
    ([0.0, 12.123, 8.0808], ["0.00", "12.12", "8.08"]), ([0.0, 100.0, 0.50505], ["0.00", "100.00", "0.51"]),
    ([100.0, 0.00123], [100.0, 0.00123]), ([0.5, 12.5, None, "x", 3], [0.5, 12.5, None, "x", 3])])
def test_a_column_has_as_many_decimals_as_its_largest_and_its_smallest_number_need(column, shown):
    assert [row[0] for row in display.level([[value] for value in column])] == shown


# ---- marks -------------------------------------------------------------------------------------------------



def of(paper, item, ours, column, **row):
    """The mark of a value beside the printed one of a table, and the text of its cell."""
    printed = reference.paper(paper)[item]
    compared, = [c for c in comparison.compare(printed, [row | {column: ours}]) if c["column"] == column]
    return compared["mark"], pieces.cell(ours, compared["printed"], printed.columns.get(column), name=column)


def share(hits, of):
    return Cell(100 * hits / of, of=of)


# What the cell shows decides: (paper, table, ours, column, its row, mark, a part of the cell's text).
EXAMPLES = [
    ("he", "table-1", 0.156, "mnist_normal_rms", {"examples": "OptMargin"}, NEAR, "0.156"),
    ("sutton", "table-12", share(8, 50), "train", {"class_a": 3, "class_b": 4}, DIFFERS,
     "(7 to 29; 8 of 50)"),
    ("sutton", "table-12", share(17, 50), "test", {"class_a": 0, "class_b": 3}, NEAR, "(21 to 49; 17 of 50)"),
    ("he", "table-2", share(2, 100), "mnist_region_normal_accuracy_pct", {"examples": "OptMargin"}, NEAR,
     "(0.2 to 7.0; 2 of 100)"),
    ("he", "table-2", share(20, 100), "mnist_region_normal_accuracy_pct", {"examples": "FGSM"}, OPEN,
     "(13 to 29; 20 of 100)"),
    ("he", "table-1", Cell(0.039, low=0.028, high=0.104, over="settings"), "mnist_normal_rms",
     {"examples": "OptBrittle"}, OPEN, "(0.028 to 0.104 over settings)"),
    ("ren", "table-3", 0.9946, "separability_ssim", {"architecture": "B", "background": "black"}, NEAR,
     "0.9946"),
    ("ren", "table-3", Cell(0.752, low=0.723, high=0.768, n=5, over="trainings"), "robustness_ssim",
     {"architecture": "C", "background": "black"}, DIFFERS, "(0.723 to 0.768; 5 trainings)"),
    ("ren", "table-3", Cell(0.266, low=0.164, high=0.390, n=5, over="trainings"), "robustness_ssim",
     {"architecture": "A", "background": "white"}, OPEN, "(0.16 to 0.39; 5 trainings)"),
    ("sutton", "table-4", 99.61, "train", {"class_a": 1, "class_b": 3}, NEAR, "99.61"),
    ("sutton", "table-23", share(9, 50), "test", {"quantity": "random_susceptibility", "delta_inferred": 1,
                                                 "problem": "1 vs 2"}, DIFFERS, "(9 to 31; 9 of 50)"),
    ("shu", "table-1", Cell(0.031, low=0.031, high=0.037, n=10, over="networks"), "M10", {"printed_row": 2},
     DIFFERS, "(0.0310 to 0.0370; 10 networks)"),
    ("chen", "table-1", Cell(0.608, low=0.49, high=0.62, n=6, over="trainings"), "roby_2",
     {"dataset": "MNIST", "model": "LeNet"}, OPEN, "(0.49 to 0.62; 6 trainings)")]


@pytest.mark.parametrize("paper, item, ours, column, row, mark, text", EXAMPLES,
                         ids=[f"{e[0]}-{e[1]}-{n}" for n, e in enumerate(EXAMPLES)])
def test_a_mark_never_contradicts_what_the_cell_shows(paper, item, ours, column, row, mark, text):
    assert of(paper, item, ours, column, **row)[0] == mark
    assert text in of(paper, item, ours, column, **row)[1]


@pytest.mark.parametrize("ours, printed, column, near", [
    (1.1, 1.0, {}, True), (1.11, 1.0, {}, False), (0.0, 0.0, {}, True), (-1.1, -1.0, {}, True),
    (2.0, 1.0, {"unit": "%"}, True), (2.01, 1.0, {"unit": "%"}, False),     # one point
    (99.0, 95.0, {"unit": "%"}, False), (96.0, 95.0, {"unit": "%"}, True), (45.0, 50.0, {"unit": "%"}, True),
    (0.02, 0.01, {"unit": "fraction"}, True), (0.021, 0.01, {"unit": "fraction"}, False),
    (0.03, 0.01, {"unit": "Pearson r"}, True), (0.7, 0.73, {"unit": "Pearson r"}, False)])
def test_near_is_a_tenth_or_a_point_or_two_hundredths(ours, printed, column, near):
    assert comparison.near(ours, printed, "x", column) == near
    assert comparison.near(0.97, 0.99, "mean_ssim") and not comparison.near(0.96, 0.99, "mean_ssim")


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_rounded_number_is_near_what_it_was_rounded_from(value, places):
    assert comparison.near(value, round(value, places), places=places)


@given(st.floats(0.001, 1e4), st.floats(0, 1), st.floats(0, 1), st.floats(0, 2e4))
def test_what_lies_inside_the_range_shown_is_open_and_what_lies_outside_differs(value, below, above, printed):
    cell = Cell(value, low=value * (1 - below), high=value * (1 + above), n=5, over="trainings")
    shown = re.match(r"\((\S+) to (\S+);", pieces.in_range(cell, "x").replace(",", ""))
    low, high = map(float, shown.groups())
    mark = comparison.mark(cell, printed, "x")
    assert mark == (NEAR if comparison.near(value, printed, "x") else
                    OPEN if low <= printed <= high else DIFFERS)


def test_one_training_cannot_differ_and_the_wider_of_two_ranges_counts():
    assert comparison.mark(Cell(9.0), 1.0) == OPEN == comparison.mark(Cell(float("inf")), 1.0)
    few = comparison.over_trainings(9.0, [8.0, 7.0, 6.0])
    five = comparison.over_trainings(9.0, [8.0, 7.0, 6.0, 10.0, None, float("nan")])
    assert few == 9.0 and (five.low, five.high, five.n) == (6.0, 10.0, 5)
    assert comparison.mark(five, 11.0) == DIFFERS and comparison.mark(five, 7.0) == OPEN
    of_images = Cell(50.0, of=20)       # 27 to 73%
    assert comparison.over_trainings(of_images, [48.0, 49.0, 51.0, 52.0], whole=100) is of_images
    assert comparison.over_trainings(of_images, [8.0, 49.0, 51.0, 92.0], whole=100).over == "trainings"


def test_the_interval_of_a_share_is_the_exact_one():
    low, high, _ = comparison.ends(Cell(34.0, of=50), 100)
    assert (low, high) == (21, 49)
    for end, tail in ((21.2, stats.binom.sf(16, 50, 0.212)), (48.8, stats.binom.cdf(17, 50, 0.488))):
        assert tail == pytest.approx(0.025, abs=0.002), end
    with pytest.raises(runtime.UserError, match="no share"):
        comparison.compare(scaled([10.0]), [{"n": "0", "x": Cell(9.0, of=50)}])


def test_the_line_below_a_table_counts_marks_and_what_chance_alone_gives():
    item = scaled([50.0, 50.0, 50.0, 50.0, 50.0], unit="%")
    rows = [{"n": "0", "x": Cell(50.0, of=50)}, {"n": "1", "x": Cell(90.0, of=50)}, {"n": "2", "x": 80.0},
            {"n": "3", "x": Cell(80.0, low=75.0, high=85.0, n=9, over="trainings")},
            {"n": "4", "x": 60.0, "status": "proxy: p"}]
    assert pieces.counted(comparison.compare(item, rows)) == (
        "≈ near: 1 · ? open: 1 · ≠ differs: 2. "
        "2 of 3 published numbers lie outside our range; by chance alone about 0.3 would. "
        "Grey: tuned to the paper's value, or measured on another network or other data.")
    assert pieces.counted([]) == ""


def scaled(values, **column):
    """A table of one column `x` of these published values, in rows 0, 1, ..."""
    return reference.Item("ren", "table-y", "table", "Y", "I", "A caption.", (), {
        "keys": ["n"], "values": ["x"],
        "columns": [{"key": "n", "label": "n", "type": "string"},
                    {"key": "x", "label": "x", "type": "number"} | column],
        "rows": [{"n": str(n), "x": v} for n, v in enumerate(values)]})


# ---- tables as a whole -------------------------------------------------------------------------------------
def biased(ours, printed):
    item = scaled(printed, unit="%")
    return comparison.biases(item, comparison.compare(item, [
        {"n": str(n), "x": v} for n, v in enumerate(ours)]))


def test_eight_like_rows_have_a_bias_with_an_interval_over_rows():
    printed = [40.0, 45.0, 50.0, 55.0, 60.0, 42.0, 52.0, 58.0]
    noise = [1.0, -1.0, 2.0, -2.0, 1.5, -1.5, 0.5, -0.5]
    assert biased(printed[:7], printed[:7]) == []
    bias, = biased([p - 15 + e for p, e in zip(printed, noise)], printed)
    assert (bias["rows"], bias["difference"], bias["absolute"]) == (8, -15, 15) and bias["apart"]
    low, high = stats.t.interval(0.95, 7, loc=-15, scale=np.std(noise, ddof=1) / np.sqrt(8))
    assert (bias["low"], bias["high"]) == pytest.approx((low, high)) and 0.8 < bias["rank"] <= 1
    small, = biased([p - 2 for p in printed], printed)      # excludes 0, but is near
    unsure, = biased([p + 40 * e for p, e in zip(printed, noise)], printed)
    assert not small["apart"] and not unsure["apart"]


def test_a_bias_over_rows_or_one_number_in_five_makes_a_table_not_confirmed():
    printed = [40.0, 45.0, 50.0, 55.0, 60.0, 42.0, 52.0, 58.0]
    item = scaled(printed, unit="%")
    compared = comparison.compare(item, [{"n": str(n), "x": v - 15} for n, v in enumerate(printed)])
    assert {c["mark"] for c in compared} == {OPEN}
    both = [{"n": str(n), "x": Cell(v + 9 * (-1) ** n, of=10_000)} for n, v in enumerate(printed)]
    assert verdict(item, [claim(True)], comparison.compare(item, both))[0] == "confirmed"   # the bias decides
    assert verdict(item, [claim(True)], comparison.compare(item, both[:7]))[0] == "not confirmed"
    word, reason = verdict(item, [claim(True)], compared)
    assert word == "not confirmed" and "over 8 rows ours differ by -15 on average" in reason
    assert verdict(item, [claim(True)], compared, waiting="1 of 9 runs", published=9)[0] == "undecided"


# ---- every published number --------------------------------------------------------------------------------
def test_every_published_number_has_one_state():
    item = scaled([50.0, 40.0, 30.0, 20.0, 10.0, 5.0, 4.0], unit="%")
    rows = [{"n": "0", "x": 50.0}, {"n": "1", "x": Cell(90.0, of=50)},
            {"n": "2", "x": 31.0, "status": "proxy: p"},
            {"n": "3", "x": 21.0, "status": "fitted: f"}, {"n": "4", "status": "not measured: r"},
            {"n": "6", "x": 50.0}]
    published = numbers.of(item, {"cells": comparison.compare(item, rows)})
    assert [n.state for n in published] == [NEAR, DIFFERS, "proxy", "fitted", *["not measured"] * 2, OPEN]
    assert counts.states(published) == {"measured": 3, NEAR: 1, OPEN: 1, DIFFERS: 1, "not comparable": 2,
                                        "not measured": 2}
    table = reference.paper("sutton")["table-20"]    # as a record's file has it, where names are sorted
    kept = json.loads(store.text_of({"cells": comparison.compare(table, table.rows)}))
    assert {n.state for n in numbers.of(table, kept)} == {NEAR}


def test_the_numbers_of_the_book_are_those_of_its_measured_items_once():
    published = [numbers.of(i, None) for p in reference.PAPERS.values() for i in p.items.values()
                 if i.sort == "measured" and not i.view_of]
    assert len(counts.all_numbers()) == sum(map(len, published)) > 3000


# ---- rows --------------------------------------------------------------------------------------------------
def test_parts_of_a_cell_are_compared_nested_or_by_their_full_name():
    nested = comparison.compare(ITEM, [{"name": "a", "nested": {"p": 98.84, "class": 4}}])
    dotted = comparison.compare(ITEM, pd.DataFrame([{"name": "a", "nested.p": 98.84, "nested.class": 4}]))
    assert nested == dotted and [(c["column"], c["mark"]) for c in nested] == [
        ("nested.p", NEAR), ("nested.class", OPEN)]


def test_what_is_not_printed_or_not_measured_is_not_compared():
    rows = [{"name": "b", "value": 7.0}, {"name": "z", "value": 1.25},
            {"name": "a", "value": None, "more": 3}]
    assert comparison.compare(ITEM, rows) == []
    assert comparison.compare(ITEM, pd.DataFrame(rows)) == []  # None is NaN there


def test_texts_and_flags_are_equal_or_not():
    assert cell(works=True)["mark"] == NEAR and cell(works=np.bool_(False))["mark"] == DIFFERS
    with pytest.raises(runtime.UserError, match="Table X, a, value: 'high' was measured where"):
        cell(value="high")
    assert (cell(value=float("inf"))["mark"], cell(value=float("inf"))["measured"]) == (OPEN, None)


def test_rows_without_keys_or_twice_are_refused():
    with pytest.raises(runtime.UserError, match="a row lacks 'name'"):
        comparison.compare(ITEM, [{"value": 1.25}])
    with pytest.raises(runtime.UserError, match="two rows for name a"):
        comparison.compare(ITEM, [{"name": "a", "value": 1.25}] * 2)


def test_cells_hold_plain_values_and_go_into_json():
    frame = pd.DataFrame({"name": ["a", "b"], "value": [Cell(np.float64(1.25), sd=0.1, n=np.int64(5)), 3.0]})
    compared = comparison.compare(ITEM, frame)
    assert json.loads(json.dumps(compared, allow_nan=False)) == compared


def test_a_status_belongs_to_a_value_or_to_a_row():
    proxy = cell(value=Cell(1.25, status="proxy: digits in place of MNIST"))
    assert (proxy["status"], proxy["why"]) == ("proxy", "digits in place of MNIST")
    rows = [{"name": "a", "status": "not measured: none", "rate": Cell(1, status="fitted: on the print"),
             "value": 1.25}]    # left over from an earlier run, say
    columns = {c["column"]: c for c in comparison.compare(ITEM, rows)}
    assert columns["rate"]["status"] == "fitted" and columns["value"]["status"] == "not measured"
    assert columns["value"]["measured"] is None and columns["value"]["mark"] is None and len(columns) == 5


@pytest.mark.parametrize("status", ["replaced: digits", "proxy", "proxy:", "not measured"])
def test_an_unknown_status_or_one_without_a_reason_is_refused(status):
    with pytest.raises(runtime.UserError, match="allowed: proxy: <why>"):
        cell(value=Cell(1.25, status=status))


def test_printed_numbers_of_a_figure():
    compared = comparison.compare_numbers(FIGURE, {"mean": 0.6349, "b": {"l1": 70.0}, "other": 1})
    assert [(c["column"], c["mark"]) for c in compared] == [("mean", NEAR), ("b.l1", NEAR)]


PRINTED = [i for p in reference.PAPERS.values() for i in p.items.values() if i.rows]


@pytest.mark.parametrize("item", PRINTED, ids=[f"{i.paper}-{i.id}" for i in PRINTED])
def test_every_table_is_near_itself_in_the_papers_order(item):
    compared = comparison.compare(item, pd.DataFrame(item.rows[::-1]))
    assert compared == comparison.compare(item, item.rows)
    assert compared and all(c["mark"] == NEAR for c in compared)
    order = [tuple(r[k] for k in item.keys) for r in item.rows]
    places = [(order.index(tuple(c["row"].values())),
               item.values.index(c["column"].split(".")[0])) for c in compared]
    assert places == sorted(places)


@pytest.mark.parametrize("item", PRINTED, ids=[f"{i.paper}-{i.id}" for i in PRINTED])
def test_no_table_is_near_its_numbers_moved_by_more_than_a_tenth(item):
    def moved(value):
        if isinstance(value, dict):
            return {k: moved(v) for k, v in value.items()}
        return 1.2 * value + 2 if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    rows = [{k: moved(v) if k in item.values else v for k, v in row.items()} for row in item.rows]
    compared = [c for c in comparison.compare(item, rows) if type(c["printed"]) in (int, float)]
    assert not any(c["mark"] == NEAR for c in compared)


# ---- claims ------------------------------------------------------------------------------------------------
ROWS = pd.DataFrame({"name": ["a", "b"], "value": [1.0, 2.0]})


def rises(rows):
    return rows.value.is_monotonic_increasing, f"from {rows.value.iloc[0]:.1f} to {rows.value.iloc[-1]:.1f}"


def larger(rows):
    values = dict(zip(rows["name"], rows.value))
    if not {"a", "b"} <= values.keys():
        raise claims.NoValue
    a, b = values["a"], values["b"]
    return b > a, f"b has {b:.1f}, a has {a:.1f}"


def rules(given):
    """`{phrase: Rule}` of functions and texts, as a paper's `claims.py` registers them."""
    register = claims.Claims()
    for phrase, judge in given.items():
        register("table-x", phrase)(judge)
    return register.get("table-x", {})


BOTH = rules({"larger than": larger, "rises with": rises})


def test_claims_are_judged_in_the_papers_order_by_their_words():
    judged = claims.judge(ITEM, ROWS, BOTH)
    assert [j["claim"] for j in judged] == list(ITEM.claims)
    assert judged[0] == {"claim": ITEM.claims[0], "holds": True, "evidence": "from 1.0 to 2.0"}
    assert type(judged[0]["holds"]) is bool


@pytest.mark.parametrize("predicates, message", [
    ({"The value": rises, "larger": larger}, "'The value' occurs in 2 of its claims"),
    ({"falls": rises, "larger": larger}, "'falls' occurs in none of its claims; .* of: “The value rises"),
    ({"rises": rises, "with the name": rises}, "'with the name' and 'rises' stand in the same claim"),
    ({"rises": rises}, "1 of 2 claims are not judged; .*: “The value of b")])
def test_each_claim_is_judged_exactly_once(predicates, message):
    with pytest.raises(runtime.UserError, match=message):
        claims.judge(ITEM, ROWS, rules(predicates))


def test_a_reason_stands_where_a_claim_cannot_be_judged():
    judged = claims.judge(ITEM, ROWS, rules({"rises": "'rises' names no measure", "larger": larger}))
    assert judged[0]["holds"] is None and judged[0]["evidence"] == "'rises' names no measure"
    assert not claims.waits(judged[0])


def test_claims_wait_for_runs_and_say_what_is_seen_so_far():
    first, second = claims.judge(ITEM, ROWS[:1], BOTH, lacking=lambda begin: "1 of 2 pairs")
    assert first == {"claim": ITEM.claims[0], "holds": None,
                     "evidence": "missing: 1 of 2 pairs; so far: from 1.0 to 1.0"}
    assert second["evidence"] == "missing: 1 of 2 pairs"  # no predicate on b without b
    nothing = claims.judge(ITEM, ROWS[:0], BOTH, lacking=lambda begin: "2 of 2 pairs")
    assert [c["evidence"] for c in nothing] == ["missing: 2 of 2 pairs"] * 2
    assert all(map(claims.waits, nothing))


def test_a_claim_that_some_runs_decide_waits_for_no_others():
    register = claims.Claims()
    register("table-x", "rises", counts=lambda labels: labels.get("name") != "b")(lambda rows: (True, "seen"))
    first = register["table-x"]
    rule = first["rises"]
    judged = claims.judge(ITEM, ROWS, first | rules({"larger": larger}),
                          lacking=lambda decides: None if decides is rule else "1 of 3 runs")
    assert judged[0]["holds"] is True and judged[1]["evidence"].startswith("missing: 1 of 3 runs; so far")
    results = [Results("s", dict.fromkeys(("a-1", "b-1", "c-1")), sizes=("images",),
                       labels={f"{name}-1": {"name": name} for name in "abc"})]
    runs = {"s": {"a-1": store.Run("a-1", {}, {"images": [5, 9]}, {}, 1, None, {}, {"data": {}})}}
    lacking = record.lacking(results, runs, " of Table 1")
    assert lacking() == "2 of 3 runs of Table 1" and lacking(rule) == (
        "1 of 2 runs of Table 1 that decide it")
    assert lacking(claims.Rule(None, counts=lambda labels: labels["name"] == "a")) is None
    optional = Results("more", dict.fromkeys("xy"), sizes=("images",), optional=True)
    assert record.lacking([*results, optional], runs | {"more": {}})() == "2 of 3 runs"
    assert record.scale([*results, optional], runs | {"more": {}})["parts"]["runs"] == [1, 3]
    assert record.rests_on([*results, optional], runs | {"more": {}})["absent"] == ["s/b-1", "s/c-1"]


def test_a_claim_waits_for_networks_that_are_trained_as_long_as_published():
    results = [Results("s", dict.fromkeys("ab"), sizes=("epochs",))]
    runs = {name: store.Run(name, {}, {"epochs": [n, 91], "images_train": [5, 5]}, {}, 1, None, {}, {})
            for name, n in (("a", 91), ("b", 2))}
    assert record.lacking(results, {"s": runs})() == "full training (2 of 91 epochs)"
    assert record.lacking(results, {"s": runs | {"b": runs["a"]}})() is None
    results[0].sizes = ("images_train",)       # the run is of an earlier version, with another part
    assert record.lacking(results, {"s": runs})() is None


# ---- claims on every case ----------------------------------------------------------------------------------
CASES = {"a": {"near": {"rate": 99.0}, "far": {"rate": 2.0}},
         "b": {"near": {"rate": 64.0}, "far": {"rate": 0.0}}}
LOW = {"near": {"rate": 1.0}, "far": {"rate": 0.0}}


def near(c):
    return c.near.rate > 50 > c.far.rate, f"{c.near.rate:.0f}% near"


def test_a_claim_holds_if_it_does_in_every_case():
    assert claims.over_cases(CASES, near, reads="“far” is read as below half") == (
        True, "a: 99% near; b: 64% near (“far” is read as below half)")
    assert claims.over_cases(CASES | {"b": LOW}, near)[0] is False
    assert claims.over_cases({"": CASES["a"]}, near) == (True, "99% near")
    assert claims.over_cases(CASES, lambda c: (True, "{near.rate:%}"))[1] == "a: 99%; b: 64%"


@pytest.mark.parametrize("missing", [{"near": {"rate": None}, "far": {"rate": 1.0}},
                                     {"near": {"rate": float("nan")}, "far": None},
                                     {"near": None, "far": None}])
def test_a_case_without_a_value_says_so_and_leaves_the_claim_open(missing):
    cases = CASES | {"c": missing}
    assert claims.over_cases(cases, near) == (None, "a: 99% near; b: 64% near; c: no value")
    assert claims.over_cases(cases | {"b": LOW}, near)[0] is False
    assert claims.over_cases({}, near) == (None, "no value")
    why = {"status": "not measured: too few"}
    assert claims.over_cases({k: v | why for k, v in {**cases, "d": missing}.items()}, near) == (
        None, "a: 99% near; b: 64% near; c, d: too few")


@pytest.mark.parametrize("judge, message", [
    (lambda c: (c.near.point > 1, "seen"), "UserError: no 'point' there; there are: rate"),
    (lambda c: (c.nearr.rate > 1, "seen"), "no 'nearr' there; there are: near, far"),
    (lambda c: (c.near.rate > 1, "{near.point}"), "no 'point' there"),
    (lambda c: (1 / 0, "seen"), "ZeroDivisionError: "), (lambda c: ("nearr" in c, ""), "no 'nearr' there")])
@pytest.mark.parametrize("lacking", [None, lambda begin: None, lambda begin: "1 of 2 pairs"])
def test_an_error_in_a_rule_is_an_error_of_the_build(judge, message, lacking):
    """In a small run, in a whole one, and on a part of the runs."""
    of = rules({"rises": lambda rows: claims.over_cases(CASES, judge), "larger": larger})
    with pytest.raises(runtime.UserError, match=f"Table X: the rule of 'rises' fails: .*{message}"):
        claims.judge(ITEM, ROWS, of, lacking=lacking)


def test_a_rule_is_given_all_printed_columns():
    rows = claims.complete(ITEM, pd.DataFrame([{"name": "a", "more": 1}]))
    assert [*rows] == ["name", "more", "value", "nested", "rate", "works"] and rows.value.isna().all()
    register = claims.Claims()
    register("table-x", "rises")(lambda rows: claims.over_cases(
        {"": rows.to_dict("records")[0]}, lambda c: (c.rate > 0, "seen")))
    of = {**register["table-x"], **rules({"larger": "by eye"})}
    assert record.build(ITEM, rows=[{"name": "a"}], claims=of)["claims"][0]["evidence"] == "no value"


def test_an_open_claim_has_evidence_and_waits_for_nothing():
    register = claims.Claims()
    register("table-x", "rises", open="“rises” names no bound")(lambda rows: f"{len(rows)} rows")
    register("table-x", "larger", leaves="“larger” is left to the eye")(larger)
    judged = claims.judge(ITEM, ROWS, register["table-x"], lacking=lambda begin: "1 of 3 pairs")
    assert judged[0]["evidence"] == "“rises” names no bound; 2 rows" and not claims.waits(judged[0])
    left, fails = (claims.judge(ITEM, rows, register["table-x"])[1]
                   for rows in (ROWS, ROWS.assign(value=[3.0, 1.0])))
    assert left["holds"] is None and fails["holds"] is False
    assert left["evidence"] == "b has 2.0, a has 1.0 (the rest is open: “larger” is left to the eye)"


def test_many_cases_are_counted_and_those_that_fail_are_shown():
    def above(least, count=claims.MANY + 3, valued=99):
        cases = {f"c{n}": {"x": n if n < valued else None} for n in range(count)}
        return claims.over_cases(cases, lambda c: (c.x >= least, str(c.x)))

    assert above(0) == (True, "it holds in 11 of 11 cases")
    assert above(2) == (False, "it holds in 9 of 11 cases; c0: 0; c1: 1")
    assert above(99)[1] == "it holds in 0 of 11 cases; for example c0: 0"
    assert above(1, valued=2) == (
        False, "values for 2 of 11 cases, it holds in 1 of these; c0: 0; c1: 1")
    assert above(0, valued=0) == (None, "no value")


def test_proxies_are_shown_and_a_claim_on_them_may_fail_not_hold():
    judge = partial(claims.over_cases, judge=near, what="networks")
    proxy = {"status": "proxy: a small network"}
    cases = CASES | {"b": CASES["b"] | proxy}
    assert judge(cases) == (
        None, "a: 99% near; b: 64% near (it holds on “a”; the other networks are not like the paper's and "
              "cannot confirm it)")
    assert judge(cases | {"b": LOW | proxy})[0] is None
    assert judge(cases | {"a": LOW}) == (
        False, "a: 1% near; b: 64% near (tested on “a” alone; the other networks are not like the paper's)")
    assert judge({"b": cases["b"]}) == (
        None, "b: 64% near (not tested: these networks are not like the paper's)")
    many = {f"c{n}": CASES["b"] | (proxy if n < 3 else {}) for n in range(9)}
    assert judge(many)[1].startswith(
        "it holds in 9 of 9 cases; 3 of the 9 are networks not like the paper's (it holds on ")
    assert "; all 9 are networks not like" in judge({name: case | proxy for name, case in many.items()})[1]


def test_a_claim_may_speak_of_other_items():
    def above(rows, other):
        return rows.value.min() > other.value.max(), f"{rows.value.min():.1f} against {other.value.max():.1f}"

    predicates = {"rises": claims.Rule(above, ("table-y",)), **rules({"larger": larger})}
    other = ROWS.assign(value=ROWS.value - 5)
    judged = claims.judge(ITEM, ROWS, predicates, others={"table-y": (other, None)})
    assert judged[0]["holds"] is True and judged[0]["evidence"] == "1.0 against -3.0"
    late = claims.judge(ITEM, ROWS, predicates, others={"table-y": (other, lambda begin: "3 of 5 runs")})
    assert late[0]["evidence"] == "missing: 3 of 5 runs; so far: 1.0 against -3.0"
    assert late[0]["holds"] is None and late[1]["holds"] is True
    absent = claims.judge(ITEM, ROWS, predicates, lacking=lambda begin: "1 of 2 pairs")
    assert absent[0]["evidence"] == "missing: 1 of 2 pairs, the rows of table-y"


@pytest.mark.parametrize("evidence", [
    "['a', 'b'] are above", str({"a": 1}), str([0.1, 0.2, 0.3]), "all above: True", "nan against 0.3", "[]",
    str(ROWS), repr([np.float64(0.3)]), f"{0.1 + 0.2}", "found None", "  ", None, str(("a", 1)),
    repr(np.arange(2)), f"{rises}"], ids=lambda value: type(value).__name__)
def test_evidence_that_no_person_would_write_is_refused(evidence):
    with pytest.raises(runtime.UserError, match="the evidence on 'rises'"):
        claims.judge(ITEM, ROWS, rules({"rises": lambda rows: (True, evidence), "larger": larger}))


@pytest.mark.parametrize("evidence", [
    "41 of 45 pairs lie above 0.99", "None of the 45 pairs", "aeroplane against cat: 0.97 (smallest)",
    "the interval [0.31, 0.35] holds 0.32", "networks \"a\" and 'b' differ", "p < 0.01", "1e-05 at most"])
def test_evidence_in_words_and_numbers_is_taken(evidence):
    judged = claims.judge(ITEM, ROWS, rules({"rises": lambda rows: (True, evidence), "larger": larger}))
    assert judged[0]["evidence"] == evidence


# ---- verdicts ----------------------------------------------------------------------------------------------
def claim(holds, words="It rises."):
    return {"claim": words, "holds": holds, "evidence": "seen"}


WAITING = {"claim": "It rises.", "holds": None, "evidence": "missing: 41 of 45 pairs"}


def cells(near=0, differ=0, open_=0, status=None):
    cell = {"status": status, "why": "a reason" if status else None, "row": {}, "column": "value",
            "printed": "x", "measured": "y"}
    marks = [NEAR] * near + [DIFFERS] * differ + [OPEN] * open_
    return [cell | {"mark": None if status else mark} for mark in marks]


@pytest.mark.parametrize("judged, compared, word", [
    ([claim(True)], cells(8, 2), "confirmed"),          # one in five is not more than one in five
    ([claim(True)], cells(7, 2), "not confirmed"), ([claim(True)], cells(3, 1), "confirmed"),
    ([claim(True)], cells(0, 0, 9), "confirmed"), ([claim(True)], [], "confirmed"),
    ([claim(True), claim(False)], cells(20), "not confirmed"), ([claim(False)], [], "not confirmed"),
    ([claim(None)], cells(8, 0, 2), "confirmed"), ([], cells(7, 0, 2), "undecided"),
    ([], cells(3, 1), "undecided"), ([], cells(0, 2), "not confirmed"),
    ([claim(None)], cells(0, 1), "undecided"),
    ([claim(None)], [], NOTHING), ([], [], NOTHING), ([WAITING], [], "undecided"),
    ([WAITING], cells(20), "undecided"), ([WAITING, claim(False)], cells(20), "not confirmed"),
    ([claim(None)], cells(5, status="proxy"), "not comparable"),
    ([claim(None)], cells(5, status="fitted"), "not comparable"),
    ([claim(None)], cells(5, status="unnamed image"), "not comparable"),
    ([claim(True)], cells(5, status="unnamed image"), "confirmed"),
    ([claim(None)], cells(9, status="not measured"), NOT_MEASURED),
    ([claim(None)], cells(9, status="not measured") + cells(1, status="proxy"), NOT_MEASURED),
    ([claim(None)], cells(1, status="not measured") + cells(1, status="proxy"), "not comparable"),
    ([claim(True)], cells(0, 9, status="proxy") + cells(1), "confirmed"),
    ([claim(True) | {"proof": True}], [], "code check"),
    ([claim(True) | {"proof": True}, claim(True)], [], "confirmed"),
    ([claim(False) | {"proof": True}], [], "not confirmed")])
def test_verdicts(judged, compared, word):
    assert verdict(ITEM, judged, compared)[0] == word


def test_what_is_missing_leaves_open_what_it_can_still_change():
    def word(differ, judged=(), published=60):
        return verdict(ITEM, judged, cells(1, differ), waiting="2 of 5 runs", published=published)[0]

    assert word(12) == "undecided" and word(13) == "not confirmed"     # of 60: more than one in five
    assert word(0, [claim(True)]) == "undecided" and word(0, [claim(False)]) == "not confirmed"
    assert verdict(ITEM, [], [], waiting="2 of 5 runs", published=3)[0] == NOT_MEASURED
    reason = verdict(ITEM, [], cells(2), waiting="2 of 5 runs")[1]
    assert reason == "of 2 comparable numbers 2 ≈; missing: 2 of 5 runs"


def test_a_table_whose_values_are_all_there_lacks_nothing():
    """Fewer images than published, or runs that are absent: each value has its range."""
    item = scaled([50.0, 40.0], unit="%")
    results = [Results("s", dict.fromkeys(("a", "b")), sizes=("images",))]
    runs = {"s": {"a": store.Run("a", {}, {"images": [5, 9]}, {}, 1, None, {}, {
        "data": {}, "versions": {}, "device": "cpu", "threads": 1, "revision": "x", "seconds": 1.0})}}
    whole = record.build(item, results, runs, rows=[{"n": "0", "x": Cell(50.0, of=5)}, {"n": "1", "x": 40.0}])
    part = record.build(item, results, runs, rows=[{"n": "0", "x": Cell(50.0, of=5)}])
    assert whole["verdict"] == "confirmed"
    assert part["verdict"] == "undecided" and part["reason"].endswith("missing: 1 of 2 runs")
    assert pieces.measured_so_far(part) == "1 of 2 runs, with 5 of 9 images"


@given(st.permutations(cells(3, 1, 2) + cells(1, status="proxy")))
def test_a_verdict_does_not_depend_on_the_order_of_cells(compared):
    assert verdict(ITEM, [claim(True)], compared) == verdict(ITEM, [claim(True)], sorted(compared, key=str))


def test_the_reason_counts_statements_and_marks_and_those_that_failed_are_quoted():
    judged = [claim(True), claim(False, "It is robust."), claim(None), WAITING]
    assert verdict(ITEM, judged, cells(5, 1, 4) + cells(2, status="proxy"))[1] == (
        "1 of 2 tested statements of the paper came out here, too; 1 statement cannot be tested yet; "
        "1 statement cannot be tested; of 10 comparable numbers 5 ≈, 4 ?, 1 ≠; "
        "2 numbers measured on another network or other data (a reason)")
    assert failing(judged) == "came out differently: “It is robust.”" and failing([claim(True)]) == ""


def test_a_list_from_which_a_network_was_built_is_a_code_check():
    item = reference.paper("chen")["table-8"]
    assert item.sort == "descriptive"
    assert verdict(item, [], comparison.compare(item, item.rows))[0] == "code check"
    moved = [row | {"conv": not row["conv"]} for row in item.rows]
    assert verdict(item, [], comparison.compare(item, moved))[0] == "not confirmed"


def test_what_another_network_shows_is_evidence_and_tests_no_statement():
    predicates = rules({"rises with the name": lambda rows: (False, "it falls"),
                        "larger than that of a": "by eye"})
    rows = [{"name": "a", "value": 1.5}, {"name": "b", "value": 1.0}]
    own = record.build(ITEM, rows=rows, claims=predicates)
    assert own["verdict"] == "not confirmed" and [c["holds"] for c in own["claims"]] == [False, None]
    rows[0]["status"] = "proxy: another network"
    proxy = record.build(ITEM, rows=rows, claims=predicates)
    assert proxy["verdict"] == "not comparable" and [c["holds"] for c in proxy["claims"]] == [None, None]
    predicates["rises with the name"] = claims.Rule(lambda rows: (False, "it falls"), own=True)
    assert record.build(ITEM, rows=rows, claims=predicates)["claims"][0] == own["claims"][0]
    # More runs would not change that: the claim does not wait.
    shown = claims.on_a_proxy({"holds": None, "evidence": f"{claims.WAITS}2 runs{claims.SO_FAR}it falls"})
    assert shown["evidence"].startswith("it falls") and not claims.waits(shown)


def test_a_figure_without_printed_numbers_may_have_a_status_of_its_own():
    figure = reference.Item("ren", "figure-y", "figure", "8", "I", "A caption.", ("It rises.",), {})
    results = dict(data={"mean": 1.0}, claims=rules({"It rises": lambda d: (True, "it does")}))
    assert record.build(figure, **results)["verdict"] == "confirmed"
    proxy = record.build(figure, status="proxy: digits in place of ImageNet", **results)
    assert proxy["verdict"] == "not comparable" and proxy["claims"][0]["holds"] is None
    assert proxy["reason"] == "measured on another network or other data (digits in place of ImageNet)"


BOUND = {"kind": "bound", "within_allowed": True, "mutants_tried": 4, "mutants_caught": 4, "violations": 0,
         "nearest_witness": "0.998 of the bound"}
EQUALITY = BOUND | {"kind": "equality", "nearest_witness": None}
THEOREM, STEPS = (reference.Item("ren", kind, kind, "1", "I", "A caption.", (), {})
                  for kind in ("theorem", "algorithm"))


@pytest.mark.parametrize("item, evidence, judged, word, reason", [
    (THEOREM, BOUND, [], "no counterexample", "the cases that were tried; .* 0.998 .*; .* all 4 errors"),
    (THEOREM, BOUND | {"mutants_caught": 3, "cases": 780}, [], "no counterexample",
     "in 780 cases;.*3 of 4 errors"),
    (THEOREM, EQUALITY, [], "no counterexample", "no counterexample in"),
    (STEPS, EQUALITY | {"mutants_tried": 0, "mutants_caught": 0}, [], "code check", "both comput"),
    (STEPS, EQUALITY, [claim(True)], "code check", "1 tested statement came out here, too"),
    (STEPS, BOUND, [], "no counterexample", "no counterexample in the cases"),
    (STEPS, EQUALITY | {"within_allowed": False}, [], "not confirmed", "fails by more than rounding"),
    (THEOREM, BOUND | {"violations": 1}, [], "not confirmed", "fails in 1 case;"),
    (THEOREM, BOUND, [claim(False)], "not confirmed", "0 of 1")])
def test_verdicts_on_statements(item, evidence, judged, word, reason):
    result = verdict(item, judged, [], evidence)
    assert result[0] == word and re.search(reason, result[1])


def test_a_badge_has_a_colour_of_its_own_and_what_is_not_measured_has_none():
    assert len(VERDICTS) == 6 and display.badge("confirmed") == "{bdg-success}`confirmed`"
    assert display.badge(NOT_MEASURED) == "not measured" and display.badge(NOTHING) == NOTHING


# ---- the form of a record --------------------------------------------------------------------------------
def test_a_record_keeps_the_fields_of_a_value_and_a_row_is_none():
    rows = [{"value": 3.0, "n": 5, "share": Cell(0.5, of=200, low=0.0),
             "part": {"mean": Cell(status="proxy: p")}}]
    kept = record.as_json({"rows": rows})["rows"]
    assert kept == [{"value": 3.0, "n": 5, "share": {"value": 0.5, "of": 200, "low": 0.0},
                     "part": {"mean": {"value": None, "status": "proxy: p"}}}]
    assert restored(kept) == rows and restored({"value": 3.0, "n": 5}) == {"value": 3.0, "n": 5}


def test_a_claim_is_given_values_unless_it_wants_cells():
    rows, given = pd.DataFrame([{"name": "a", "value": Cell(1.5, n=3)}, {"name": "b", "value": 2.0}]), []
    register = claims.Claims()
    for phrase, cells in (("rises", False), ("larger", True)):
        register("x", phrase, cells=cells)(lambda rows: given.append(list(rows.value)) or (True, "so"))
    claims.judge(ITEM, rows, register["x"])
    assert given == [[1.5, 2.0], [Cell(1.5, n=3), 2.0]]


def test_every_committed_record_is_one_of_an_item():
    items = {(item.paper, item.id): item for item, _ in record.everything()}
    for path in (ROOT / "results/paper").glob("*/*.json"):
        key, kept = (path.parent.name, path.stem), record.read(path.parent.name, path.stem)
        assert (kept["paper"], kept["item"]) == key and not kept["scale"]["proxies"]
        assert 0 <= kept["scale"]["fraction"] <= 1, path
        assert all(c["holds"] in (True, False, None) and c["evidence"] for c in kept["claims"]), path
        assert {c["status"] for c in kept["cells"]} <= {None, *comparison.STATUSES}, path
        assert {c["mark"] for c in kept["cells"]} <= {None, *comparison.MARKS}, path
        if not path.stem.startswith(record.EXTRA):
            assert kept["verdict"] in (*VERDICTS, NOT_MEASURED, NOTHING), path
            assert len(kept["claims"]) == len(items[key].claims), path
