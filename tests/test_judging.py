"""comparison, claims, verdict, forms of records: on hand-made items and on the papers' own numbers."""
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

from report import claims, comparison, display, numbers, record, reference, store
from report.cell import Cell, restored
from report.comparison import INTERVAL, PRECISION, SAMPLING
from report.experiment import Results
from report.repository import ROOT
from report.verdict import VERDICTS, failing, verdict
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


@pytest.mark.parametrize("column, value, agrees", [
    ("value", 1.25, True), ("value", 1.2451, True), ("value", 1.255, True), ("value", 1.2551, False),
    ("value", 1.2449, False), ("rate", 0.9996, True), ("rate", 0.55, False)])
def test_half_a_unit_of_the_last_printed_decimal_agrees(column, value, agrees):
    compared = cell(**{column: value})
    assert (compared["agrees"], compared["how"]) == (agrees, PRECISION if agrees else None)


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_rounded_number_agrees_with_what_it_was_rounded_from(value, places):
    assert comparison.agreement(round(value, places), Cell(value), places)[0] == PRECISION


# ---- interval --------------------------------------------------------------------------------------------
def test_the_interval_is_that_of_a_single_new_network():
    sd, n = 0.03, 5
    low, high = stats.t.interval(0.99, n - 1, loc=0, scale=sd * np.sqrt(1 + 1 / n))
    assert comparison.half_width(sd, n) == pytest.approx(high) == pytest.approx(-low)
    for width, agrees in ((0.99 * high, True), (1.01 * high, False)):
        compared = cell(value=Cell(1.25 + width, sd=sd, n=n))
        assert (compared["agrees"], compared["how"]) == (agrees, INTERVAL if agrees else None)
        assert (compared["sd"], compared["nets"]) == (sd, n)


def test_the_interval_holds_a_new_network_as_often_as_it_says():
    draws = np.random.default_rng(0).normal(size=(5_000, 6))
    width = [comparison.half_width(sd, 5) for sd in draws[:, :5].std(axis=1, ddof=1)]
    share = np.mean(np.abs(draws[:, 5] - draws[:, :5].mean(axis=1)) <= width)
    assert share == pytest.approx(0.99, abs=0.004)


@pytest.mark.parametrize("sd, n", [(None, 5), (0.03, None), (0.03, 4), (float("inf"), 9), (0.0, 5)])
def test_without_five_networks_or_a_spread_there_is_no_interval(sd, n):
    assert cell(value=Cell(1.30, sd=sd, n=n))["agrees"] is False


# ---- where agreement tells nothing -------------------------------------------------------------------------
def scaled(values, **column):
    """A table of one column `x` of these published values, in rows 0, 1, ..."""
    return reference.Item("ren", "table-y", "table", "Y", "I", "A caption.", (), {
        "keys": ["n"], "values": ["x"],
        "columns": [{"key": "n", "label": "n", "type": "string"},
                    {"key": "x", "label": "x", "type": "number"} | column],
        "rows": [{"n": str(n), "x": v} for n, v in enumerate(values)]})


def first_cell(item, value, *, half_width=None, **fields):
    """Whether the first cell agrees, and its status, when it is measured as `value`."""
    if half_width is not None:
        fields |= {"sd": half_width / comparison.half_width(1.0, 5), "n": 5}
    compared, = comparison.compare(item, [{"n": "0", "x": Cell(value, **fields)}])
    return compared["agrees"], compared["status"]


@pytest.mark.parametrize("values, column, value, width, agrees", [
    ([50.0], {"unit": "%"}, 40.0, 12.4, True), ([50.0], {"unit": "%"}, 40.0, 12.5, None),   # 25 of 100
    ([98.0], {"unit": "%"}, 99.9, 20.0, True),     # above 100 there is nothing: it covers 20.1
    ([0.5], {"unit": "fraction"}, 0.4, 0.2, None), ([0.5], {"unit": "fraction"}, 0.45, 0.1, True),
    ([10.0, 20.0, 30.0], {}, 11.0, 2.4, True), ([10.0, 20.0, 30.0], {}, 11.0, 2.5, None),   # 5 of 20
    ([8.25, 8.25], {}, 7.5, 1.03, True), ([8.25, 8.25], {}, 7.5, 1.04, None),   # of two: the value itself
    ([50.0], {"unit": "%"}, 90.0, 30.0, False)])   # outside, however wide
def test_an_interval_of_a_quarter_of_the_scale_cannot_tell(values, column, value, width, agrees):
    assert first_cell(scaled(values, **column), value, half_width=width) == (
        agrees, "cannot tell" if agrees is None else None)


def test_what_is_printed_as_measured_agrees_however_wide_the_interval_and_a_proxy_stays_one():
    item = scaled([50.0], unit="%")
    assert first_cell(item, 50.0, half_width=90.0) == (True, None)
    assert first_cell(item, 40.0, half_width=90.0, status="proxy: other data") == (True, "proxy")


@pytest.mark.parametrize("value, within, agrees, how", [
    (40.0, (39.0, 51.0), True, INTERVAL), (50.0, (47.0, 49.0), False, None),    # equal by chance
    (50.0, (50.0, 50.0), True, INTERVAL), (50.0, (20.0, 80.0), None, INTERVAL),     # 60 of 100
    (90.0, (60.0, 130.0), False, None)])
def test_a_value_of_one_choice_is_compared_with_its_own_interval_alone(value, within, agrees, how):
    compared, = comparison.compare(scaled([50.0], unit="%"), [{"n": "0", "x": Cell(value, within=within)}])
    assert (compared["agrees"], compared["how"]) == (agrees, how)


def test_another_training_holds_a_new_network_as_often_as_it_says():
    draws = np.random.default_rng(0).normal(10, 1, (4_000, 7))
    for share in (True, False):
        cells = [comparison.retrained(row[5], list(row[:5]), share=share) for row in draws]
        inside = np.mean([cell.within[0] <= row[6] <= cell.within[1] for cell, row in zip(cells, draws)])
        assert inside == pytest.approx(0.99, abs=0.005)


def test_a_spread_in_proportion_follows_the_value():
    like = [9.0, 10.0, 11.0, 10.0, 10.0]
    widths = [np.diff(comparison.retrained(value, like, share=share).within)[0]
              for value, share in ((10.0, True), (20.0, True), (10.0, False), (20.0, False))]
    assert widths[0] == pytest.approx(widths[1]) == pytest.approx(widths[2]) == pytest.approx(widths[3] / 2)
    assert widths[0] == pytest.approx(2 * stats.t.ppf(0.995, 4) * np.sqrt(2 * 0.5))


@pytest.mark.parametrize("value, like", [
    (10.0, [9.0, 10.0, 11.0, 10.0]), (10.0, [9.0, 10.0, 11.0, 10.0, None]), (10.0, [9.0] * 5),
    (10.0, [9.0, 10.0, 11.0, 10.0, np.nan]), (10.0, [-1.0, 1.0, 0.0, -1.0, 1.0]),
    (None, [9.0, 10.0, 11.0, 10.0, 9.0]), (np.nan, [9.0, 10.0, 11.0, 10.0, 9.0])])
def test_trainings_that_tell_no_spread_give_no_interval(value, like):
    assert comparison.retrained(value, like, share=False) is value


def test_networks_that_differ_in_their_seed_alone_give_the_interval_of_one_more():
    low, high = comparison.another([0.01, 0.02, 0.03, 0.02, 0.01])
    assert (low, high) == pytest.approx(stats.t.interval(
        0.99, 4, loc=0.018, scale=np.std([0.01, 0.02, 0.03, 0.02, 0.01], ddof=1) * np.sqrt(1.2)))
    assert comparison.another([0.01] * 5) is None and comparison.another([0.01, 0.02, 0.03, 0.02]) is None


def test_values_that_cannot_tell_leave_the_verdict_to_the_claims():
    compared = comparison.compare(scaled([50.0, 60.0]), [
        {"n": "0", "x": 50.0, "status": "cannot tell: another image"}])
    assert (compared[0]["status"], compared[0]["why"]) == ("cannot tell", "another image")
    for judged, word in (([], "in part"), ([True], "claims hold"), ([True, False], "differs")):
        assert verdict([claim(holds) for holds in judged], compared)[0] == word


@pytest.mark.parametrize("printed, share, fields, agrees", [
    (39.3, 34.0, {"of": 50}, None), (39.3, 15.0, {"of": 100}, False), (0.36, 0.0, {"of": 50}, None),
    (11.0, 0.0, {"of": 50}, False),     # the interval ends at 10.1%
    (39.3, 34.0, {"of": 50, "settled": True}, False),       # all images of the set
    (39.3, 34.0, {}, False), (34.0, 34.0, {"of": 50}, True)])
def test_a_share_of_few_images_cannot_tell_what_lies_in_its_interval(printed, share, fields, agrees):
    assert first_cell(scaled([printed], unit="%"), share, **fields) == (
        agrees, "cannot tell" if agrees is None else None)


def test_a_number_of_images_beside_what_is_no_share_is_refused():
    with pytest.raises(runtime.UserError, match="no share"):
        first_cell(scaled([10.0]), 9.0, of=50)


def test_the_interval_of_a_share_is_the_exact_one():
    low, high = comparison.sampled(34.0, 50, 100)
    for end, tail in ((low, stats.binom.sf(16, 50, low / 100)), (high, stats.binom.cdf(17, 50, high / 100))):
        assert tail == pytest.approx(0.005), end
    assert comparison.sampled(0.0, 50, 1)[0] == 0


def test_the_scale_of_a_quantity_is_that_of_its_like_in_the_item():
    sizes = reference.paper("sutton")["table-24"]
    small, large = (comparison.scale_of(sizes, "mean", {"quantity": "adv_attack_norm", "norm": norm})
                    for norm in ("linf", "l1"))
    assert small.length < 1 < 30 < large.length and small.possible[0] == 0
    ssim = reference.paper("ren")["table-3"]
    assert comparison.scale_of(ssim, "robustness_ssim").possible == (0, 1)
    assert comparison.scale_of(ssim, "robustness_std").length < 0.1


# ---- every published number --------------------------------------------------------------------------------
def test_every_published_number_has_one_state():
    item = scaled([50.0, 40.0, 30.0, 20.0, 10.0, 5.0], unit="%")
    rows = [{"n": "0", "x": 50.0}, {"n": "1", "x": 45.0}, {"n": "2", "x": 31.0, "status": "proxy: p"},
            {"n": "3", "x": 21.0, "status": "fitted: f"}, {"n": "4", "status": "not measured: r"}]
    published = numbers.of(item, {"cells": comparison.compare(item, rows)})
    assert [n.state for n in published] == ["agrees", "differs", "proxy", "fitted", *["not measured"] * 2]
    assert [*counts.states(published).values()] == [2, 1, 1, 0, 2, 2]
    wide = numbers.of(item, {"cells": comparison.compare(item, [{"n": "0", "x": Cell(45.0, sd=4.0, n=5)}])})
    assert wide[0].state == "cannot tell" and counts.states(wide)["cannot tell"] == 1
    table = reference.paper("sutton")["table-20"]    # as a record's file has it, where names are sorted
    kept = json.loads(record.dumps({"cells": comparison.compare(table, table.rows)}))
    assert {n.state for n in numbers.of(table, kept)} == {"agrees"}


def test_the_numbers_of_the_book_are_those_of_its_measured_items_once():
    published = [numbers.of(i, None) for p in reference.PAPERS.values() for i in p.items.values()
                 if i.sort == "measured" and not i.view_of]
    assert len(counts.all_numbers()) == sum(map(len, published)) > 3000


# ---- rows --------------------------------------------------------------------------------------------------
def test_parts_of_a_cell_are_compared_nested_or_by_their_full_name():
    nested = comparison.compare(ITEM, [{"name": "a", "nested": {"p": 98.84, "class": 4}}])
    dotted = comparison.compare(ITEM, pd.DataFrame([{"name": "a", "nested.p": 98.84, "nested.class": 4}]))
    assert nested == dotted and [(c["column"], c["agrees"]) for c in nested] == [
        ("nested.p", True), ("nested.class", False)]


def test_what_is_not_printed_or_not_measured_is_not_compared():
    rows = [{"name": "b", "value": 7.0}, {"name": "z", "value": 1.25},
            {"name": "a", "value": None, "more": 3}]
    assert comparison.compare(ITEM, rows) == []
    assert comparison.compare(ITEM, pd.DataFrame(rows)) == []  # None is NaN there


def test_an_infinite_value_was_measured_and_does_not_agree():
    assert (cell(value=float("inf"))["agrees"], cell(value=float("inf"))["measured"]) == (False, None)


def test_texts_and_flags_are_equal_or_not():
    assert cell(works=True)["agrees"] and not cell(works=np.bool_(False))["agrees"]
    with pytest.raises(runtime.UserError, match="Table X, a, value: 'high' was measured where"):
        cell(value="high")


def test_rows_without_keys_or_twice_are_refused():
    with pytest.raises(runtime.UserError, match="a row lacks 'name'"):
        comparison.compare(ITEM, [{"value": 1.25}])
    with pytest.raises(runtime.UserError, match="two rows for name a"):
        comparison.compare(ITEM, [{"name": "a", "value": 1.25}] * 2)


def test_cells_hold_plain_values_and_go_into_json():
    frame = pd.DataFrame({"name": ["a", "b"], "value": [Cell(np.float64(1.25), sd=0.1, n=np.int64(5)), 3.0]})
    compared = comparison.compare(ITEM, frame)
    assert json.loads(json.dumps(compared, allow_nan=False)) == compared and type(compared[0]["nets"]) is int


def test_a_status_belongs_to_a_value_or_to_a_row():
    proxy = cell(value=Cell(1.25, status="proxy: digits in place of MNIST"))
    assert (proxy["status"], proxy["why"]) == ("proxy", "digits in place of MNIST")
    rows = [{"name": "a", "status": "not measured: none", "rate": Cell(1, status="fitted: on the print"),
             "value": 1.25}]    # left over from an earlier run, say
    columns = {c["column"]: c for c in comparison.compare(ITEM, rows)}
    assert columns["rate"]["status"] == "fitted" and columns["value"]["status"] == "not measured"
    assert columns["value"]["measured"] is None and columns["value"]["agrees"] is None and len(columns) == 5


@pytest.mark.parametrize("status", ["replaced: digits", "proxy", "proxy:", "not measured"])
def test_an_unknown_status_or_one_without_a_reason_is_refused(status):
    with pytest.raises(runtime.UserError, match="allowed: proxy: <why>"):
        cell(value=Cell(1.25, status=status))


def test_printed_numbers_of_a_figure():
    compared = comparison.compare_numbers(FIGURE, {"mean": 0.6349, "b": {"l1": 70.0}, "other": 1})
    assert [(c["column"], c["agrees"]) for c in compared] == [("mean", True), ("b.l1", False)]


PRINTED = [i for p in reference.PAPERS.values() for i in p.items.values() if i.rows]


@pytest.mark.parametrize("item", PRINTED, ids=[f"{i.paper}-{i.id}" for i in PRINTED])
def test_every_table_agrees_with_itself_in_the_papers_order(item):
    compared = comparison.compare(item, pd.DataFrame(item.rows[::-1]))
    assert compared == comparison.compare(item, item.rows)
    assert compared and all(c["how"] == PRECISION for c in compared)
    order = [tuple(r[k] for k in item.keys) for r in item.rows]
    places = [(order.index(tuple(c["row"].values())),
               item.values.index(c["column"].split(".")[0])) for c in compared]
    assert places == sorted(places)


@pytest.mark.parametrize("item", PRINTED, ids=[f"{i.paper}-{i.id}" for i in PRINTED])
def test_no_table_agrees_with_its_numbers_moved_by_more_than_the_print(item):
    def moved(value):
        if isinstance(value, dict):
            return {k: moved(v) for k, v in value.items()}
        return 1.2 * value + 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    rows = [{k: moved(v) if k in item.values else v for k, v in row.items()} for row in item.rows]
    compared = [c for c in comparison.compare(item, rows) if type(c["printed"]) in (int, float)]
    assert not any(c["agrees"] for c in compared)


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
                     "evidence": "waits for 1 of 2 pairs; so far: from 1.0 to 1.0"}
    assert second["evidence"] == "waits for 1 of 2 pairs"  # no predicate on b without b
    nothing = claims.judge(ITEM, ROWS[:0], BOTH, lacking=lambda begin: "2 of 2 pairs")
    assert [c["evidence"] for c in nothing] == ["waits for 2 of 2 pairs"] * 2
    assert all(map(claims.waits, nothing))


def test_a_claim_that_some_runs_decide_waits_for_no_others():
    register = claims.Claims()
    register("table-x", "rises", counts=lambda labels: labels.get("name") != "b")(lambda rows: (True, "seen"))
    first = register["table-x"]
    rule = first["rises"]
    judged = claims.judge(ITEM, ROWS, first | rules({"larger": larger}),
                          lacking=lambda decides: None if decides is rule else "1 of 3 runs")
    assert judged[0]["holds"] is True and judged[1]["evidence"].startswith("waits for 1 of 3 runs; so far")
    sets = [Results("s", dict.fromkeys(("a-1", "b-1", "c-1")), sizes=("images",),
                    labels={f"{name}-1": {"name": name} for name in "abc"})]
    runs = {"s": {"a-1": store.Run("a-1", {}, {"images": [5, 9]}, {}, 1, None, {}, {"data": {}})}}
    lacking = record.lacking(sets, runs, " of Table 1")
    assert lacking() == "2 of 3 runs of Table 1" and lacking(rule) == "1 of 2 runs of Table 1"
    assert lacking(claims.Rule(None, counts=lambda labels: labels["name"] == "a")) is None
    beside = Results("more", dict.fromkeys("xy"), sizes=("images",), beside=True)
    assert record.lacking([*sets, beside], runs | {"more": {}})() == "2 of 3 runs"
    assert record.scale([*sets, beside], runs | {"more": {}})["parts"]["runs"] == [1, 3]
    assert record.rests_on([*sets, beside], runs | {"more": {}})["absent"] == ["s/b-1", "s/c-1"]


def test_a_claim_waits_for_networks_that_are_trained_as_long_as_published():
    sets = [Results("s", dict.fromkeys("ab"), sizes=("epochs",))]
    runs = {name: store.Run(name, {}, {"epochs": [n, 91], "images_train": [5, 5]}, {}, 1, None, {}, {})
            for name, n in (("a", 91), ("b", 2))}
    assert record.lacking(sets, {"s": runs})() == "full training (2 of 91 epochs)"
    assert record.lacking(sets, {"s": runs | {"b": runs["a"]}})() is None
    sets[0].sizes = ("images_train",)       # the run is of an earlier version, with another part
    assert record.lacking(sets, {"s": runs})() is None


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
    assert left["evidence"] == "b has 2.0, a has 1.0 (“larger” is left to the eye)"


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
        None, "a: 99% near; b: 64% near (nothing on a contradicts it; the other networks are proxies)")
    assert judge(cases | {"b": LOW | proxy})[0] is None
    assert judge(cases | {"a": LOW}) == (
        False, "a: 1% near; b: 64% near (judged for a alone; the other networks are proxies)")
    assert judge({"b": cases["b"]}) == (None, "b: 64% near (not judged: proxies are among these networks)")


def test_a_claim_may_speak_of_other_items():
    def above(rows, other):
        return rows.value.min() > other.value.max(), f"{rows.value.min():.1f} against {other.value.max():.1f}"

    predicates = {"rises": claims.Rule(above, ("table-y",)), **rules({"larger": larger})}
    other = ROWS.assign(value=ROWS.value - 5)
    judged = claims.judge(ITEM, ROWS, predicates, others={"table-y": (other, None)})
    assert judged[0]["holds"] is True and judged[0]["evidence"] == "1.0 against -3.0"
    late = claims.judge(ITEM, ROWS, predicates, others={"table-y": (other, lambda begin: "3 of 5 runs")})
    assert late[0]["evidence"] == "waits for 3 of 5 runs; so far: 1.0 against -3.0"
    assert late[0]["holds"] is None and late[1]["holds"] is True
    absent = claims.judge(ITEM, ROWS, predicates, lacking=lambda begin: "1 of 2 pairs")
    assert absent[0]["evidence"] == "waits for 1 of 2 pairs, the rows of table-y"


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


WAITING = {"claim": "It rises.", "holds": None, "evidence": "waits for 41 of 45 pairs"}


def cells(agree=0, differ=0, how=PRECISION, status=None, settled=False):
    cell = {"status": status, "why": "a reason" if status else None, "settled": settled}
    return [cell | {"agrees": True, "how": how}] * agree + [cell | {"agrees": False, "how": None}] * differ


UNSURE = [c | {"agrees": None, "how": SAMPLING} for c in cells(1, status="cannot tell")]


@pytest.mark.parametrize("judged, compared, word", [
    ([claim(True)], cells(19, 1), "agrees"),
    ([claim(True)], cells(18, 1), "claims hold"),
    ([claim(None)], cells(19, 1), "agrees"),
    ([], cells(20), "agrees"),
    ([claim(True), claim(False)], cells(20), "differs"),
    ([claim(None)], cells(0, 1), "differs"),
    ([claim(True)], cells(0, 5), "claims hold"),
    ([claim(True)], [], "claims hold"),
    ([claim(False)], [], "differs"),
    ([claim(None)], [], "nothing to compare"),
    ([], [], "nothing to compare"),
    ([WAITING], [], "in part"),
    ([claim(True)], cells(5, status="proxy"), "proxy or fitted"),
    ([claim(False)], cells(5, 5, status="proxy"), "proxy or fitted"),
    ([claim(True)], cells(5, status="fitted"), "proxy or fitted"),
    ([claim(True)], cells(1, status="fitted") + cells(9, status="not measured"), "in part"),
    ([claim(False)], cells(9, status="not measured"), "differs"),
    ([claim(None)], cells(9, status="not measured"), "not measured"),
    ([claim(True)], cells(1, status="fitted") + cells(1, status="not measured"), "proxy or fitted"),
    ([claim(True)], cells(0, 99, status="proxy") + cells(1), "agrees"),
    ([claim(True)], cells(99, status="fitted") + cells(0, 1), "claims hold"),
    ([claim(None)], cells(99, status="fitted") + cells(0, 1), "differs"),
    # Values within sampling error neither agree nor differ, and do not make the rest a match.
    ([claim(True)], cells(19) + UNSURE, "agrees"),
    ([claim(True)], cells(1) + UNSURE, "claims hold"),
    ([claim(True)], cells(1, 1) + UNSURE, "claims hold"),
    ([], cells(1) + UNSURE, "in part"),
    ([], cells(0, 1) + UNSURE, "differs"),
    ([claim(False)], UNSURE, "differs"),
    ([], UNSURE, "in part"),
])
def test_verdicts(judged, compared, word):
    assert verdict(judged, compared)[0] == word and word in VERDICTS


def test_values_wait_for_the_full_scale_and_claims_that_fail_do_not():
    differ, waiting = cells(0, 2), "44 of 45 runs"
    assert verdict([WAITING], differ)[0] == "in part"     # the claim waits for another item
    word, reason = verdict([WAITING], differ, waiting=waiting)
    assert word == "in part"
    assert reason.endswith("0 of 2 published values agree so far; the rest waits for 44 of 45 runs")
    assert verdict([claim(False)], differ, waiting=waiting)[0] == "differs"
    assert verdict([claim(True)], UNSURE, waiting=waiting)[0] == "in part"
    assert verdict([], cells(2), waiting=waiting)[0] == "in part"    # a few may agree by chance
    assert verdict([claim(True)], cells(2), waiting=waiting)[0] == "in part"    # the rest may agree, too
    assert verdict([], cells(2))[0] == "agrees"


def test_what_is_missing_hides_nothing_that_is_decided():
    """Of 60 values 3 may differ: where 4 do that nothing moves any more, no rest makes the item match."""
    def word(differ, judged=()):
        return verdict(judged, cells(0, differ, settled=True), waiting="2 of 5 runs", published=60)[0]

    assert word(3) == "in part" and word(4) == "differs" and word(4, [claim(True)]) == "claims hold"
    assert word(4, [claim(True), WAITING]) == "in part"     # a claim may fail yet
    few = claim(None) | {"evidence": f"{claims.FEW_IMAGES}; 48% to 52%"}      # more images can decide it
    assert word(4, [claim(True), few]) == "in part"
    assert claims.on_a_proxy(few)["evidence"].startswith(claims.FEW_IMAGES)
    assert verdict([], cells(0, 60), waiting="runs of full size", published=60)[0] == "in part"
    proxies = cells(20, status="proxy")   # what has a status can never agree: 1 of 40 may differ then, not 3
    assert verdict([], proxies + cells(0, 3, settled=True), waiting="1 run", published=60)[0] == "differs"


@given(st.integers(0, 400), st.integers(0, 400))
def test_ninety_five_percent_are_enough_and_less_are_not(agree, differ):
    if agree + differ:
        word, _ = verdict([claim(True)], cells(agree, differ))
        assert (word == "agrees") == (20 * agree >= 19 * (agree + differ))


@given(st.permutations(cells(3) + cells(1, how=INTERVAL) + cells(0, 2) + cells(1, status="proxy")))
def test_a_verdict_does_not_depend_on_the_order_of_cells(compared):
    assert verdict([claim(True)], compared) == verdict([claim(True)], sorted(compared, key=str))


def test_the_reason_counts_the_ways_apart_and_the_claims_that_fail_are_quoted():
    compared = cells(5) + cells(1, how=INTERVAL) + cells(0, 4) + cells(2, status="proxy")
    judged = [claim(True), claim(False, "It is robust."), claim(None), WAITING]
    assert verdict(judged, compared)[1] == (
        "1 of 2 judged claims hold, 1 claim waits, 1 claim cannot be judged; 6 of 10 published values agree "
        "(5 to the printed precision, 1 inside the 99% interval of another network); "
        "2 values measured on a proxy (a reason)")
    assert failing(judged) == "fails: “It is robust.”" and failing([claim(True)]) == ""
    assert verdict([], [])[1] == "no claim to judge; no published value to compare"


def test_what_a_proxy_shows_is_evidence_and_judges_no_claim():
    predicates = rules({"rises with the name": lambda rows: (False, "it falls"),
                        "larger than that of a": "by eye"})
    rows = [{"name": "a", "value": 1.5}, {"name": "b", "value": 1.0}]
    own = record.build(ITEM, rows=rows, claims=predicates)
    assert own["verdict"] == "differs" and [c["holds"] for c in own["claims"]] == [False, None]
    rows[0]["status"] = "proxy: another network"
    proxy = record.build(ITEM, rows=rows, claims=predicates)
    assert proxy["verdict"] == "proxy or fitted" and [c["holds"] for c in proxy["claims"]] == [None, None]
    why = "not judged: measured on a proxy"
    assert [c["evidence"] for c in proxy["claims"]] == [f"it falls ({why})", "by eye"]
    predicates["rises with the name"] = claims.Rule(lambda rows: (False, "it falls"), own=True)
    assert record.build(ITEM, rows=rows, claims=predicates)["claims"][0] == own["claims"][0]
    # More runs would not change that: the claim does not wait.
    for so_far, text in ((f"{claims.SO_FAR}it falls", f"it falls ({why})"), ("", why)):
        waiting = {"holds": None, "evidence": f"{claims.WAITS}2 runs{so_far}"}
        assert claims.on_a_proxy(waiting) == {"holds": None, "evidence": text}


def test_a_figure_without_printed_numbers_may_have_a_status_of_its_own():
    figure = reference.Item("ren", "figure-y", "figure", "8", "I", "A caption.", ("It rises.",), {})
    results = dict(data={"mean": 1.0}, claims=rules({"It rises": lambda d: (True, "it does")}))
    assert record.build(figure, **results)["verdict"] == "claims hold"
    proxy = record.build(figure, status="proxy: digits in place of ImageNet", **results)
    assert proxy["verdict"] == "proxy or fitted" and proxy["claims"][0]["holds"] is None
    assert proxy["reason"].endswith("measured on a proxy (digits in place of ImageNet)")


BOUND = {"kind": "bound", "within_allowed": True, "mutants_tried": 4, "mutants_caught": 4, "violations": 0,
         "nearest_witness": "0.998 of the bound"}
EQUALITY = BOUND | {"kind": "equality"}


@pytest.mark.parametrize("evidence, judged, word, reason", [
    (BOUND, [], "exact", "no case tried violates it; 4 of 4 mutants detected; .*comes to 0.998 of the bound"),
    (BOUND | {"mutants_caught": 3}, [], "not violated", "3 of 4 mutants"),
    (BOUND | {"mutants_tried": 0, "mutants_caught": 0, "nearest_witness": None}, [], "not violated",
     "no case tried violates it$"),
    (EQUALITY | {"mutants_tried": 0, "mutants_caught": 0}, [], "exact", "both computations agree"),
    (EQUALITY, [claim(True)], "exact", "1 of 1 judged claim holds"),
    (EQUALITY | {"mutants_caught": 3}, [], "not violated", "both computations agree"),
    (EQUALITY | {"within_allowed": False}, [], "differs", "fails by more than rounding"),
    (BOUND | {"violations": 1}, [], "differs", "fails in 1 case;"),
    (BOUND | {"within_allowed": False}, [], "differs", "fails by more than rounding"),
    (BOUND, [claim(False)], "differs", "0 of 1"),
    (EQUALITY, [claim(False)], "differs", "0 of 1")])
def test_verdicts_on_statements(evidence, judged, word, reason):
    result = verdict(judged, [], evidence)
    assert result[0] == word and re.search(reason, result[1])


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
        assert {c["how"] for c in kept["cells"]} <= {None, PRECISION, INTERVAL, SAMPLING}, path
        if not path.stem.startswith(record.EXTRA):
            assert kept["verdict"] in VERDICTS and len(kept["claims"]) == len(items[key].claims), path
