"""comparison, claims, verdict, forms of records: on hand-made items and on the papers' own numbers."""
import json
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from report import claims, comparison, display, numbers, record, reference, store
from report.cell import Cell, restored
from report.comparison import INTERVAL, PRECISION, SAMPLING
from report.verdict import VERDICTS, verdict
from shared import ROOT, runtime

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
    found, = comparison.compare(ITEM, [{"name": "a"} | row])
    return found


# ---- printed precision -------------------------------------------------------------------------------------
@pytest.mark.parametrize("value, places", [(1e-5, 5), (1.5e-7, 8), (0.000526, 6), (1, 0), (100, 0), (0, 0),
                                           (91.7, 1), (-0.84, 2), (1e22, 0), (202, 0), (0.5, 1)])
def test_decimals_are_those_that_a_number_shows(value, places):
    assert comparison.decimals(value) == places


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


def test_decimals_of_a_column_come_first_and_a_whole_number_is_printed_like_its_neighbours():
    assert comparison.decimals(100.0, {"decimals": 2}) == 2
    assert comparison.decimals(1, {"type": "number", "least_decimals": 2}) == 2
    assert comparison.decimals(0.925, {"type": "number", "least_decimals": 2}) == 3
    assert comparison.decimals(1, {"type": "number"}) == 0


@pytest.mark.parametrize("value, agrees", [(1.25, True), (1.2549, True), (1.2451, True), (1.255, True),
                                           (1.2551, False), (1.2449, False)])
def test_half_a_unit_of_the_last_printed_decimal_agrees(value, agrees):
    assert (cell(value=value)["agrees"], cell(value=value)["how"]) == (agrees, PRECISION if agrees else None)


def test_a_rate_of_one_is_not_met_by_a_rate_of_a_half():
    assert cell(rate=0.9996)["agrees"] and not cell(rate=0.55)["agrees"]


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_rounded_number_agrees_with_what_it_was_rounded_from(value, places):
    assert comparison.agreement(round(value, places), value, places)[0] == PRECISION


# ---- interval --------------------------------------------------------------------------------------------
def test_the_interval_is_that_of_a_single_new_net():
    sd, n = 0.03, 5
    low, high = stats.t.interval(0.99, n - 1, loc=0, scale=sd * np.sqrt(1 + 1 / n))
    assert comparison.half_width(sd, n) == pytest.approx(high) == pytest.approx(-low)
    inside = cell(value=Cell(1.25 + 0.99 * high, sd=sd, n=n))
    outside = cell(value=Cell(1.25 + 1.01 * high, sd=sd, n=n))
    assert (inside["agrees"], inside["how"]) == (True, INTERVAL)
    assert (outside["agrees"], outside["how"]) == (False, None)
    assert (inside["sd"], inside["nets"]) == (sd, n)


def test_the_interval_holds_a_new_net_as_often_as_it_says():
    draws = np.random.default_rng(0).normal(size=(5_000, 6))
    width = [comparison.half_width(sd, 5) for sd in draws[:, :5].std(axis=1, ddof=1)]
    share = np.mean(np.abs(draws[:, 5] - draws[:, :5].mean(axis=1)) <= width)
    assert share == pytest.approx(0.99, abs=0.004)


@pytest.mark.parametrize("sd, nets", [(None, 5), (0.03, None), (0.03, 4), (float("inf"), 9), (0.0, 5)])
def test_without_five_nets_or_a_spread_there_is_no_interval(sd, nets):
    assert cell(value=Cell(1.30, sd=sd, n=nets))["agrees"] is False


# ---- where agreement tells nothing -------------------------------------------------------------------------
def scaled(values, **column):
    """A table of one column `x` of these published values, in rows 0, 1, ..."""
    return reference.Item("ren", "table-y", "table", "Y", "I", "A caption.", (), {
        "keys": ["n"], "values": ["x"],
        "columns": [{"key": "n", "label": "n", "type": "string"},
                    {"key": "x", "label": "x", "type": "number"} | column],
        "rows": [{"n": str(n), "x": v} for n, v in enumerate(values)]})


def judged(item, value, width, **more):
    """The first cell of an item, measured as `value` with an interval of half the width `width`."""
    sd = width / comparison.half_width(1.0, 5)
    found, = comparison.compare(item, [{"n": "0", "x": Cell(value, sd=sd, n=5)} | more])
    return found["agrees"], found["status"]


@pytest.mark.parametrize("values, column, value, width, agrees", [
    ([50.0], {"unit": "%"}, 40.0, 12.4, True), ([50.0], {"unit": "%"}, 40.0, 12.5, None),   # 25 of 100
    ([98.0], {"unit": "%"}, 99.9, 20.0, True),     # above 100 there is nothing: it covers 20.1
    ([0.5], {"unit": "fraction"}, 0.4, 0.2, None), ([0.5], {"unit": "fraction"}, 0.45, 0.1, True),
    ([10.0, 20.0, 30.0], {}, 11.0, 2.4, True), ([10.0, 20.0, 30.0], {}, 11.0, 2.5, None),   # 5 of 20
    ([8.25, 8.25], {}, 7.5, 1.03, True), ([8.25, 8.25], {}, 7.5, 1.04, None),   # of two: the value itself
    ([50.0], {"unit": "%"}, 90.0, 30.0, False)])   # outside, however wide
def test_an_interval_of_a_quarter_of_the_scale_cannot_tell(values, column, value, width, agrees):
    told = judged(scaled(values, **column), value, width)
    assert told == (agrees, "cannot tell" if agrees is None else None)


def test_what_is_printed_as_measured_agrees_however_wide_the_interval_and_a_proxy_stays_one():
    assert judged(scaled([50.0], unit="%"), 50.0, 90.0) == (True, None)
    assert judged(scaled([50.0], unit="%"), 40.0, 90.0, status="proxy: other data") == (True, "proxy")


@pytest.mark.parametrize("printed, share, more, told", [
    (39.3, 34.0, {"of": 50}, (None, "cannot tell")), (39.3, 15.0, {"of": 100}, (False, None)),
    (0.36, 0.0, {"of": 50}, (None, "cannot tell")), (11.0, 0.0, {"of": 50}, (False, None)),   # up to 10.1%
    (39.3, 34.0, {"of": 50, "settled": True}, (False, None)),        # all images of the set
    (39.3, 34.0, {}, (False, None)), (34.0, 34.0, {"of": 50}, (True, None))])
def test_a_share_of_few_images_cannot_tell_what_lies_in_its_interval(printed, share, more, told):
    found, = comparison.compare(scaled([printed], unit="%"), [{"n": "0", "x": Cell(share, **more)}])
    assert (found["agrees"], found["status"]) == told
    assert (found["how"] == SAMPLING) is (told[1] is not None)


def test_a_number_of_images_beside_what_is_no_share_is_refused():
    with pytest.raises(runtime.UserError, match="no share"):
        comparison.compare(scaled([10.0]), [{"n": "0", "x": Cell(9.0, of=50)}])


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
def counted(item, compared):
    return numbers.of(item, {"cells": compared})


def test_every_published_number_has_one_state():
    item = scaled([50.0, 40.0, 30.0, 20.0, 10.0, 5.0], unit="%")
    rows = [{"n": "0", "x": 50.0}, {"n": "1", "x": 45.0}, {"n": "2", "x": 31.0, "status": "proxy: p"},
            {"n": "3", "x": 21.0, "status": "fitted: f"}, {"n": "4", "status": "not measured: r"}]
    found = counted(item, comparison.compare(item, rows))
    assert [n.state for n in found] == ["agrees", "differs", "proxy", "fitted", *["not measured"] * 2]
    assert {n.state for n in found} <= set(numbers.STATES)
    assert [*counts.states(found).values()] == [2, 1, 1, 0, 2, 2]
    table = reference.paper("sutton")["table-20"]    # as a record's file has it, where names are sorted
    kept = json.loads(record.dumps({"cells": comparison.compare(table, table.rows)}))
    assert {n.state for n in numbers.of(table, kept)} == {"agrees"}
    wide = counted(item, comparison.compare(item, [{"n": "0", "x": Cell(45.0, sd=4.0, n=5)}]))
    assert wide[0].state == "cannot tell" and counts.states(wide)["cannot tell"] == 1


def test_the_numbers_of_the_book_are_those_of_its_measured_items_once():
    there = [numbers.of(i, None) for p in reference.PAPERS.values() for i in p.items.values()
             if i.sort == "measured" and not i.view_of]
    assert len(counts.all_numbers()) == sum(map(len, there)) > 3000


# ---- rows --------------------------------------------------------------------------------------------------
def test_parts_of_a_cell_are_compared_nested_or_by_their_full_name():
    nested = comparison.compare(ITEM, [{"name": "a", "nested": {"p": 98.84, "class": 4}}])
    named = comparison.compare(ITEM, pd.DataFrame([{"name": "a", "nested.p": 98.84, "nested.class": 4}]))
    assert nested == named and [(c["column"], c["agrees"]) for c in nested] == [
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
    found = comparison.compare(ITEM, frame)
    assert json.loads(json.dumps(found, allow_nan=False)) == found and type(found[0]["nets"]) is int


def test_a_status_belongs_to_a_value_or_to_a_row():
    one = cell(value=Cell(1.25, status="proxy: digits in place of MNIST"))
    assert (one["status"], one["why"]) == ("proxy", "digits in place of MNIST")
    rows = [{"name": "a", "status": "not measured: none", "rate": Cell(1, status="fitted: on the print"),
             "value": 1.25}]    # left over from an earlier run, say
    found = {c["column"]: c for c in comparison.compare(ITEM, rows)}
    assert found["rate"]["status"] == "fitted" and found["value"]["status"] == "not measured"
    assert found["value"]["measured"] is None and found["value"]["agrees"] is None and len(found) == 5


@pytest.mark.parametrize("status", ["stand-in: digits", "proxy", "proxy:", "not measured"])
def test_an_unknown_status_or_one_without_a_reason_is_refused(status):
    with pytest.raises(runtime.UserError, match="allowed: proxy: <why>"):
        cell(value=Cell(1.25, status=status))


def test_printed_numbers_of_a_figure():
    found = comparison.compare_numbers(FIGURE, {"mean": 0.6349, "b": {"l1": 70.0}, "other": 1})
    assert [(c["column"], c["agrees"]) for c in found] == [("mean", True), ("b.l1", False)]
    assert comparison.compare_numbers(FIGURE, {"other": 1}) == []


PRINTED = [i for p in reference.PAPERS.values() for i in p.items.values() if i.rows]


@pytest.mark.parametrize("item", PRINTED, ids=[f"{i.paper}-{i.id}" for i in PRINTED])
def test_every_table_agrees_with_itself_in_the_papers_order(item):
    found = comparison.compare(item, pd.DataFrame(item.rows[::-1]))
    assert found == comparison.compare(item, item.rows)
    assert found and all(c["how"] == PRECISION for c in found)
    order = [tuple(r[k] for k in item.keys) for r in item.rows]
    places = [(order.index(tuple(c["row"].values())),
               item.values.index(c["column"].split(".")[0])) for c in found]
    assert places == sorted(places)


@pytest.mark.parametrize("item", PRINTED, ids=[f"{i.paper}-{i.id}" for i in PRINTED])
def test_no_table_agrees_with_its_numbers_moved_by_more_than_the_print(item):
    def moved(value):
        if isinstance(value, dict):
            return {k: moved(v) for k, v in value.items()}
        return 1.2 * value + 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    rows = [{k: moved(v) if k in item.values else v for k, v in row.items()} for row in item.rows]
    found = [c for c in comparison.compare(item, rows) if type(c["printed"]) in (int, float)]
    assert not any(c["agrees"] for c in found)


# ---- claims ------------------------------------------------------------------------------------------------
ROWS = pd.DataFrame({"name": ["a", "b"], "value": [1.0, 2.0]})


def rises(rows):
    return rows.value.is_monotonic_increasing, f"from {rows.value.iloc[0]:.1f} to {rows.value.iloc[-1]:.1f}"


def larger(rows):
    a, b = (rows.value[rows["name"] == n].item() for n in "ab")
    return b > a, f"b has {b:.1f}, a has {a:.1f}"


BOTH = {"larger than": larger, "rises with": rises}


def test_claims_are_judged_in_the_papers_order_by_their_words():
    judged = claims.judge(ITEM, ROWS, BOTH)
    assert [j["claim"] for j in judged] == list(ITEM.claims)
    assert judged[0] == {"claim": ITEM.claims[0], "holds": True, "evidence": "from 1.0 to 2.0"}
    assert all(type(j["holds"]) is bool for j in judged)


@pytest.mark.parametrize("predicates, said", [
    ({"The value": rises, "larger": larger}, "'The value' occurs in 2 of its claims"),
    ({"falls": rises, "larger": larger}, "'falls' occurs in none of its claims; .* of: “The value rises"),
    ({"": rises, "larger": larger}, "'' occurs in none"),
    ({"rises": rises, "with the name": rises}, "'with the name' and 'rises' stand in the same claim"),
    ({"rises": rises}, "1 of 2 claims are not judged; .*: “The value of b"),
    ({}, "2 of 2 claims are not judged")])
def test_each_claim_is_judged_exactly_once(predicates, said):
    with pytest.raises(runtime.UserError, match=said):
        claims.judge(ITEM, ROWS, predicates)


def test_a_reason_stands_where_a_claim_cannot_be_judged():
    judged = claims.judge(ITEM, ROWS, {"rises": "'rises' names no measure", "larger": larger})
    assert judged[0]["holds"] is None and judged[0]["evidence"] == "'rises' names no measure"
    assert not claims.waits(judged[0])


def test_claims_wait_for_units_and_say_what_is_seen_so_far():
    first, second = claims.judge(ITEM, ROWS[:1], BOTH, lacking=lambda begin: "1 of 2 pairs")
    assert first == {"claim": ITEM.claims[0], "holds": None,
                     "evidence": "waits for 1 of 2 pairs; so far: from 1.0 to 1.0"}
    assert second["evidence"] == "waits for 1 of 2 pairs"  # no predicate on b without b
    nothing = claims.judge(ITEM, ROWS[:0], BOTH, lacking=lambda begin: "2 of 2 pairs")
    assert [c["evidence"] for c in nothing] == ["waits for 2 of 2 pairs"] * 2
    assert all(map(claims.waits, nothing))
    counted = {"rises": lambda rows: (True, f"{len(rows)} rows rise"), "larger": larger}
    none, _ = claims.judge(ITEM, ROWS[:0], counted, lacking=lambda begin: "2 of 2 pairs")
    assert none["evidence"] == "waits for 2 of 2 pairs"


def test_a_claim_that_some_units_decide_waits_for_no_others():
    register = claims.Claims()

    @register("table-x", "rises", counts=lambda labels: labels.get("name") != "b")
    def first(rows):
        return True, "seen"

    decided = claims.judge(ITEM, ROWS, {"rises": first, "larger": larger},
                           lacking=lambda decides: None if decides is first else "1 of 3 nets")
    assert decided[0]["holds"] is True and decided[1]["evidence"].startswith("waits for 1 of 3 nets; so far")
    sets = [SimpleNamespace(name="s", published=dict.fromkeys(("a-1", "b-1", "c-1")), sizes=("images",),
                            labels={f"{name}-1": {"name": name} for name in "abc"})]
    runs = {"s": {"a-1": store.Run("a-1", {}, {"images": [5, 9]}, {}, 1, {}, {})}}
    lacking = record.lacking(sets, runs, " of Table 1")
    assert lacking() == "2 of 3 runs of Table 1" and lacking(first) == "1 of 2 runs of Table 1"
    first.counts = lambda labels: labels["name"] == "a"
    assert lacking(first) is None


def test_a_claim_waits_for_networks_that_are_trained_as_long_as_published():
    sets = [SimpleNamespace(name="s", published=dict.fromkeys("ab"), labels={}, sizes=("epochs",))]
    runs = {name: store.Run(name, {}, {"epochs": [n, 91], "images_train": [5, 5]}, {}, 1, {}, {})
             for name, n in (("a", 91), ("b", 2))}
    assert record.lacking(sets, {"s": runs})() == "full training (2 of 91 epochs)"
    assert record.lacking(sets, {"s": runs | {"b": runs["a"]}})() is None
    sets[0].sizes = ("images_train",)       # the run is of an earlier version, with another part
    assert record.lacking(sets, {"s": runs})() is None


# ---- claims on every case ----------------------------------------------------------------------------------
NETS = {"a": {"near": {"rate": 99.0}, "far": {"rate": 2.0}},
        "b": {"near": {"rate": 64.0}, "far": {"rate": 0.0}}}
LOW = {"near": {"rate": 1.0}, "far": {"rate": 0.0}}


def near(c):
    return c.near.rate > 50 > c.far.rate, f"{c.near.rate:.0f}% near"


def test_a_claim_holds_if_it_does_in_every_case():
    assert claims.over_cases(NETS, near, reads="“far” is read as below half") == (
        True, "a: 99% near; b: 64% near (“far” is read as below half)")
    assert claims.over_cases(NETS | {"b": LOW}, near)[0] is False
    assert claims.over_cases({"": NETS["a"]}, near) == (True, "99% near")
    left = partial(claims.over_cases, judge=near, leaves="“far” names no bound")
    assert left({"b": NETS["b"]}) == (None, "b: 64% near (“far” names no bound)")
    assert left({"b": LOW})[0] is False


@pytest.mark.parametrize("missing", [{"near": {"rate": None}, "far": {"rate": 1.0}}, {"near": {"rate": 60.0}},
                                     {"near": {"rate": float("nan")}, "far": None}])
def test_a_case_without_a_value_says_so_and_leaves_the_claim_open(missing):
    some = NETS | {"c": missing}
    assert claims.over_cases(some, near) == (None, "a: 99% near; b: 64% near; c: no value")
    assert claims.over_cases(some | {"b": LOW}, near)[0] is False
    assert claims.over_cases({}, near) == (None, "no value")
    assert claims.over_cases(some, near, reasons=dict.fromkeys("ac", "too few")) == (
        None, "a: 99% near; b: 64% near; c: too few")


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


def test_proxies_are_shown_and_decide_nothing():
    one = partial(claims.over_cases, judge=near, proxies=("b",), what="networks")
    assert one(NETS) == (
        True, "a: 99% near; b: 64% near (judged for a alone; the other networks are proxies)")
    assert one(NETS | {"b": LOW})[0] is True and one({"b": NETS["b"]}) == (
        None, "b: 64% near (not judged: proxies are among these networks)")
    assert one(NETS, of_all=True) == (
        None, "a: 99% near; b: 64% near (nothing on a contradicts it; the other networks are proxies)")
    assert one(NETS | {"a": LOW}, of_all=True)[0] is False


def test_a_predicate_that_breaks_is_hidden_in_a_small_run_alone():
    with pytest.raises(ValueError):
        claims.judge(ITEM, ROWS[:1], BOTH, lacking=lambda begin: None)
    judged = claims.judge(ITEM, ROWS[:1], BOTH)
    assert {(j["holds"], j["evidence"]) for j in judged} >= {(None, claims.TOO_SMALL)}


def test_a_claim_may_speak_of_other_items():
    def above(rows, other):
        return rows.value.min() > other.value.max(), f"{rows.value.min():.1f} against {other.value.max():.1f}"

    predicates = {"rises": (above, "table-y"), "larger": larger}
    other = ROWS.assign(value=ROWS.value - 5)
    judged = claims.judge(ITEM, ROWS, predicates, others={"table-y": (other, None)})
    assert judged[0]["holds"] is True and judged[0]["evidence"] == "1.0 against -3.0"
    late = claims.judge(ITEM, ROWS, predicates, others={"table-y": (other, lambda begin: "3 of 5 nets")})
    assert late[0]["evidence"] == "waits for 3 of 5 nets; so far: 1.0 against -3.0"
    assert late[0]["holds"] is None and late[1]["holds"] is True
    absent = claims.judge(ITEM, ROWS, predicates, lacking=lambda begin: "1 of 2 pairs")
    assert absent[0]["evidence"] == "waits for 1 of 2 pairs, the rows of table-y"


@pytest.mark.parametrize("evidence", [
    "['a', 'b'] are above", str({"a": 1}), str([0.1, 0.2, 0.3]), "all above: True", "nan against 0.3", "[]",
    str(ROWS), repr([np.float64(0.3)]), f"{0.1 + 0.2}", "found None", "", "  ", 0.3, None, ["b"],
    str(("a", 1)),
    repr(np.arange(2)), f"{rises}"], ids=lambda value: type(value).__name__)
def test_evidence_that_no_person_would_write_is_refused(evidence):
    with pytest.raises(runtime.UserError, match="the evidence on 'rises'"):
        claims.judge(ITEM, ROWS, {"rises": lambda rows: (True, evidence), "larger": larger})


@pytest.mark.parametrize("evidence", [
    "41 of 45 pairs lie above 0.99", "None of the 45 pairs", "aeroplane against cat: 0.97 (smallest)",
    "the interval [0.31, 0.35] holds 0.32", "nets \"a\" and 'b' differ", "p < 0.01", "1e-05 at most"])
def test_a_persons_words_are_taken(evidence):
    judged = claims.judge(ITEM, ROWS, {"rises": lambda rows: (True, evidence), "larger": larger})
    assert judged[0]["evidence"] == evidence


# ---- verdicts ----------------------------------------------------------------------------------------------
def claim(holds, words="It rises."):
    return {"claim": words, "holds": holds, "evidence": "seen"}


WAITING = {"claim": "It rises.", "holds": None, "evidence": "waits for 41 of 45 pairs"}


def cells(agree=0, differ=0, how=PRECISION, status=None, settled=False):
    why = "a reason" if status else None
    base = {"row": {}, "column": "value", "printed": 1.0, "measured": 1.0, "sd": None, "nets": None,
            "status": status, "why": why, "settled": settled}
    return [base | {"agrees": True, "how": how}] * agree + [base | {"agrees": False, "how": None}] * differ


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
])
def test_verdicts(judged, compared, word):
    assert verdict(judged, compared)[0] == word and word in VERDICTS


UNSURE = [c | {"agrees": None, "how": SAMPLING} for c in cells(1, status="cannot tell")]


@pytest.mark.parametrize("judged, compared, word", [
    ([claim(True)], cells(19), "agrees"), ([claim(True)], cells(19) + UNSURE, "agrees"),
    ([claim(True)], cells(1) + UNSURE, "claims hold"),      # what cannot tell does not make the rest a match
    ([claim(True)], cells(1, 1) + UNSURE, "claims hold"), ([], cells(1) + UNSURE, "in part"),
    ([], cells(0, 1) + UNSURE, "differs"), ([claim(False)], UNSURE, "differs"), ([], UNSURE, "in part")])
def test_values_within_sampling_error_neither_agree_nor_differ(judged, compared, word):
    assert verdict(judged, compared)[0] == word
    part = "differs" if claim(False) in judged else "in part"
    assert verdict(judged, UNSURE, waiting="1 unit")[0] == part


def test_values_wait_for_the_full_scale_and_claims_that_fail_do_not():
    some, waiting = cells(0, 2), "44 of 45 runs"
    assert verdict([WAITING], some)[0] == "in part"     # the claim waits for another item
    word, reason = verdict([WAITING], some, waiting=waiting)
    assert word == "in part"
    assert reason.endswith("0 of 2 published values agree so far; the rest waits for 44 of 45 runs")
    assert verdict([claim(False)], some, waiting=waiting)[0] == "differs"
    assert verdict([], cells(2), waiting=waiting)[0] == "in part"    # a few agree: so may luck
    assert verdict([claim(True)], cells(2), waiting=waiting)[0] == "in part"    # the rest may agree, too
    assert verdict([], cells(2))[0] == "agrees"


def test_what_is_missing_hides_nothing_that_is_decided():
    """Of 60 values 3 may differ: where 4 do that nothing moves any more, no rest makes the item match."""
    def word(differ, claims=(), **more):
        some = cells(0, differ, settled=True)
        return verdict(claims, some, waiting="2 of 5 runs", published=60, **more)[0]

    assert word(3) == "in part" and word(4) == "differs" and word(4, [claim(True)]) == "claims hold"
    assert word(4, [claim(True), WAITING]) == "in part"     # a claim may fail yet
    more = claim(None) | {"evidence": f"{claims.FEW_IMAGES}; 48% to 52%"}      # more images can decide it
    assert word(4, [claim(True), more]) == "in part"
    assert claims.on_a_proxy(more)["evidence"].startswith(claims.FEW_IMAGES)
    assert verdict([], cells(0, 60), waiting="runs of full size", published=60)[0] == "in part"
    proxies = cells(20, status="proxy")   # what has a status can never agree: 1 of 40 may differ then, not 3
    assert verdict([], proxies + cells(0, 3, settled=True), waiting="1 unit", published=60)[0] == "differs"


@given(st.integers(0, 400), st.integers(0, 400))
def test_ninety_five_percent_are_enough_and_less_are_not(agree, differ):
    if agree + differ:
        word, _ = verdict([claim(True)], cells(agree, differ))
        assert (word == "agrees") == (20 * agree >= 19 * (agree + differ))


@given(st.permutations(cells(3) + cells(1, how=INTERVAL) + cells(0, 2) + cells(1, status="proxy")))
def test_a_verdict_does_not_depend_on_the_order_of_cells(compared):
    assert verdict([claim(True)], compared) == verdict([claim(True)], sorted(compared, key=str))


def test_the_reason_counts_the_ways_apart_and_names_what_fails():
    compared = (cells(5) + cells(1, how=INTERVAL) + cells(0, 4)
                + cells(2, status="proxy"))
    _, reason = verdict([claim(True), claim(False, "It is robust."), claim(None), WAITING], compared)
    assert reason == (
        "1 of 2 judged claims hold, 1 claim waits, 1 claim cannot be judged; 6 of 10 published values agree "
        "(5 to the printed precision, 1 inside the 99% interval of a single new network); "
        "2 values measured on a proxy (a reason); fails: “It is robust.”")
    assert verdict([], [])[1] == "no claim to judge; no published value to compare"


def test_what_a_stand_in_shows_is_told_and_judges_no_claim():
    rises = {"rises with the name": lambda d: (False, "it falls"), "larger than that of a": "by eye"}
    rows = [{"name": "a", "value": 1.5, "status": "proxy: another net"}, {"name": "b", "value": 1.0}]
    real, stood_in = (record.build(ITEM, rows=[{k: v for k, v in r.items() if k in keep} for r in rows],
                                   claims=rises) for keep in (("name", "value"), ("name", "value", "status")))
    assert (real["verdict"], stood_in["verdict"]) == ("differs", "proxy or fitted")
    assert [c["holds"] for c in real["claims"]] == [False, None]
    assert [c["holds"] for c in stood_in["claims"]] == [None, None]
    assert stood_in["claims"][0]["evidence"] == "it falls (not judged: measured on a proxy)"
    assert stood_in["claims"][1]["evidence"] == "by eye"
    why = "not judged: measured on a proxy"  # and no more runs would change that: it does not wait
    for so_far, told in ((f"{claims.SO_FAR}it falls", f"it falls ({why})"), ("", why)):
        waiting = {"holds": None, "evidence": f"{claims.WAITS}2 runs{so_far}"}
        assert claims.on_a_proxy(waiting) == {"holds": None, "evidence": told}
    drawn = reference.Item("ren", "figure-y", "figure", "8", "I", "A caption.", ("It rises.",), {})
    facts = dict(data={"mean": 1.0}, claims={"It rises": lambda d: (True, "it does")})
    assert record.build(drawn, **facts)["verdict"] == "claims hold"
    stood_in = record.build(drawn, status="proxy: another net", **facts)
    assert stood_in["verdict"] == "proxy or fitted" and stood_in["claims"][0]["holds"] is None


def test_an_item_without_printed_values_may_have_a_status_of_its_own():
    word, reason = verdict([claim(True)], [], status="proxy: digits in place of ImageNet")
    assert word == "proxy or fitted" and reason.endswith("measured on a proxy (digits in place of ImageNet)")
    with pytest.raises(runtime.UserError, match="status 'stand-in' is unknown"):
        verdict([], [], status="stand-in")


def evidence(**changes):
    return {"kind": "bound", "within_allowed": True, "mutants_tried": 4, "mutants_caught": 4, "violations": 0,
            "nearest_witness": "0.998 of the bound"} | changes


@pytest.mark.parametrize("changes, judged, word", [
    ({}, [], "exact"),
    ({"mutants_caught": 3}, [], "not violated"),
    ({"mutants_tried": 0, "mutants_caught": 0, "nearest_witness": None}, [], "not violated"),
    ({"kind": "equality", "mutants_tried": 0, "mutants_caught": 0}, [], "exact"),
    ({"kind": "equality"}, [claim(True)], "exact"),
    ({"kind": "equality", "mutants_caught": 3}, [], "not violated"),
    ({"kind": "equality", "within_allowed": False}, [], "differs"),
    ({"violations": 1}, [], "differs"),
    ({"within_allowed": False}, [], "differs"),
    ({}, [claim(False)], "differs"),
    ({"kind": "equality"}, [claim(False)], "differs"),
])
def test_verdicts_on_statements(changes, judged, word):
    assert verdict(judged, [], evidence(**changes))[0] == word


def test_the_reason_of_a_statement_is_in_words():
    assert verdict([], [], evidence(mutants_caught=3))[1] == (
        "no case tried violates it; 3 of 4 mutants detected; "
        "the nearest extremal example comes to 0.998 of the bound")
    for kind, told in (("equality", "both computations agree in every case"), ("bound", "no case tried")):
        assert verdict([], [], evidence(kind=kind))[1].startswith(told)
        assert "the statement fails in 2 cases" in verdict([], [], evidence(kind=kind, violations=2))[1]
        assert "by more than rounding" in verdict([], [], evidence(kind=kind, within_allowed=False))[1]


# ---- the form of a record --------------------------------------------------------------------------------
FIELDS = {"item": str, "paper": str, "scale": dict, "claims": list, "cells": list}
FURTHER = {"runs": list, "absent": list, "rows": list, "data": (dict, list), "contains": list,
           "evidence": dict, "provenance": dict, "verdict": str, "reason": str, "note": str}


def test_a_record_keeps_the_fields_of_a_value_and_a_row_is_none():
    rows = [{"value": 3.0, "n": 5, "share": Cell(0.5, of=200, low=0.0),
             "part": {"mean": Cell(status="proxy: p")}}]
    kept = record.as_json({"rows": rows})["rows"]
    assert kept == [{"value": 3.0, "n": 5, "share": {"value": 0.5, "of": 200, "low": 0.0},
                     "part": {"mean": {"value": None, "status": "proxy: p"}}}]
    assert restored(kept) == rows and restored({"value": 3.0, "n": 5}) == {"value": 3.0, "n": 5}


def test_a_claim_is_given_values_unless_it_wants_cells():
    rows, given = pd.DataFrame([{"name": "a", "value": Cell(1.5, n=3)}, {"name": "b", "value": 2.0}]), []
    claim = claims.Claims()
    for cells in (False, True):
        claim("x", f"{cells}", cells=cells)(lambda rows: given.append(list(rows.value)) or (True, "so"))
    for predicate in claim["x"].values():
        claims._judged(ITEM, rows, "so", predicate, lambda decides: None, {})
    assert given == [[1.5, 2.0], [Cell(1.5, n=3), 2.0]]


def test_every_committed_record_has_the_form_of_one():
    places = sorted((ROOT / "results/paper").glob("*/*.json"))
    assert places
    for place in places:
        made, extra = record.read(place.parent.name, place.stem), place.stem.startswith(record.EXTRA)
        assert FIELDS.keys() <= made.keys() <= FIELDS.keys() | FURTHER.keys(), place
        assert all(isinstance(made[name], kind) for name, kind in FIELDS.items()), place
        assert all(made[name] is None or isinstance(made[name], kind) for name, kind in FURTHER.items()
                   if name in made), place
        assert made["scale"].keys() == {"parts", "fraction", "proxies"}
        assert 0 <= made["scale"]["fraction"] <= 1, place
        assert all(c.keys() == {"claim", "holds", "evidence"} and c["holds"] in (True, False, None)
                   for c in made["claims"]), place
        assert {c["status"] for c in made["cells"]} <= {None, *comparison.STATUSES}, place
        assert {c["how"] for c in made["cells"]} <= {None, PRECISION, INTERVAL, SAMPLING}, place
        assert made.get("verdict") is None if extra else (
            made["verdict"] in VERDICTS and isinstance(made["reason"], str)), place
