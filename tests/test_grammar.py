"""The grammar of a page: tidy frames, claims on every case, sentences from facts."""
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from report import claims, prose, record, store, tidy
from report.every import MANY, every
from report.experiment import labelled
from report.page import Page
from shared import runtime

NETS = {"a": {"near": {"rate": 99.0}, "far": {"rate": 2.0}},
        "b": {"near": {"rate": 64.0}, "far": {"rate": 0.0}}}


# ---- facts with gaps ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("function, comes_to", [
    (lambda c: c.x + c.inner.z, 8), (lambda c: c["y"] < c.x and c.name == "cat", True),
    (lambda c: c.gone > 1, None), (lambda c: c.nan + 1, None), (lambda c: c.lost.deep, None),
    (lambda c: c.x / 0, None), (lambda c: c.x > 0 and c.gone > 1, None), (lambda c: c.x > 0 or c.gone, True),
    (lambda c: c.x < 0 and c.gone > 1, False)])
def test_what_is_missing_leaves_open_what_it_decides(function, comes_to):
    facts = {"x": np.int64(1), "y": 0.5, "inner": {"z": 7}, "name": "cat", "gone": None, "nan": float("nan")}
    assert prose.known(function, facts) is comes_to or prose.known(function, facts) == comes_to


def test_a_name_that_is_not_there_is_told_in_one_line():
    with pytest.raises(runtime.UserError, match="^no 'rat' there; there are: rate, name$"):
        prose.known(lambda c: c.rat > 1, {"rate": 1.0, "name": "cat"})


# ---- sentences ---------------------------------------------------------------------------------------------
def test_a_template_takes_numbers_as_a_person_writes_them():
    facts = {"share": 2 / 3, "net": {"rate": 99.4949}, "count": 12_345, "gone": None, "name": "cat"}
    template = "{net.rate:%} of {count} {name}s, {share:.0%}, {share}, {gone:%}, {{x}}"
    assert prose.fill(template, facts) == "99.5% of 12,345 cats, 67%, 0.667, no value, {x}"


@pytest.mark.parametrize("template, said", [("{", "write a brace as"), ("{}", "'' is no name"),
                                            ("{a b}", "'a b' is no name"), ("{b}", "no 'b' there")])
def test_a_wrong_template_is_told_in_one_line(template, said):
    with pytest.raises(runtime.UserError, match=said) as error:
        prose.fill(template, {"a": 1})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("facts, told", [
    ({"n": 3}, "n is 3"), ({}, "nothing"), (None, "nothing"), ({"n": None}, "nothing")])
def test_a_page_says_a_template_of_facts_or_what_it_says_of_none(facts, told):
    said = []
    run = SimpleNamespace(tell=lambda sets, words: said.append(words("units")))
    Page.say(run, "sets", lambda units: facts, "n is {n}", nothing="nothing")
    assert said == [told]


# ---- claims ------------------------------------------------------------------------------------------------
def FAR(case):
    return case.near.rate > 50 > case.far.rate


SAYS = "{network}: {near.rate:%} near, {far.rate:%} far"


def test_a_claim_holds_if_it_does_in_every_case():
    judge = every("network", FAR, says=SAYS, named={"a": "the first"}, reads="“far” is read as below half")
    assert judge(NETS) == (True, "the first: 99% near, 2% far; b: 64% near, 0% far "
                                 "(“far” is read as below half)")
    assert judge(NETS | {"b": {"near": {"rate": 40.0}, "far": {"rate": 0.0}}})[0] is False


def test_an_exception_may_be_made_of_a_case():
    judge = every("network", lambda c: c.near.rate > 70 or c.network == "b", says="{network}",
                  named={"b": "the second"})
    assert judge(NETS) == (True, "a; the second")
    assert judge(NETS | {"c": NETS["b"]}) == (False, "a; the second; c")


def test_a_case_without_a_value_says_so_and_leaves_the_claim_open():
    some = NETS | {"c": {"near": {"rate": None}, "far": {"rate": 1.0}}}
    judge = every("network", FAR, says=SAYS)
    assert judge(some) == (None, "a: 99% near, 2% far; b: 64% near, 0% far; c: no value")
    assert judge(some | {"b": {"near": {"rate": 10.0}, "far": {"rate": 0.0}}})[0] is False
    assert judge({"c": {"near": {"rate": 60.0}}}) == (None, "c: no value")     # far was not measured there
    assert judge({}) == (None, "no value")


def test_the_rows_of_a_table_are_cases_by_one_column_or_by_several():
    rows = pd.DataFrame([{"data": "m", "model": "x", "kind": "near", "rate": 99.0},
                         {"data": "m", "model": "x", "kind": "far", "rate": 2.0},
                         {"data": "f", "model": "y", "kind": "near", "rate": 70.0}])
    judge = every("data model", FAR, says="{model} on {data}: {far.rate}", by="kind")
    assert judge(rows[:2]) == (True, "x on m: 2") and judge(rows) == (None, "x on m: 2; f, y: no value")

    def high(case):
        return case.rate > 1

    assert every("kind", high, says="{kind} {rate:.1f}")(rows[:2]) == (True, "near 99.0; far 2.0")
    left = every("kind", high, says="{kind}", leaves="“far” names no bound")
    assert left(rows[:2]) == (None, "near; far (“far” names no bound)")
    assert left(rows[:2].assign(rate=0))[0] is False
    with pytest.raises(runtime.UserError, match="data m: 2 rows; say `by` which column"):
        every("data", high, says="")(rows)
    assert every("kind", high, says="{kind}", view=lambda r: r[r.rate > 5])(rows[:2]) == (True, "near")


def test_a_claim_may_compare_with_another_item_case_by_case():
    rows = pd.DataFrame({"attack": ["u", "v"], "n": [60, 375]})
    other = pd.DataFrame({"attack": ["u"], "n": [403]})
    judge = every("attack", lambda c: c.n < c.other.n, says="{attack}: {n} of {other.n}")
    assert judge(rows, other) == (None, "u: 60 of 403; v: no value")
    assert judge(rows[:1], other) == (True, "u: 60 of 403")
    assert judge(rows[:1], other.assign(n=9)) == (False, "u: 60 of 9")
    seen = every("attack", lambda c: c.n < c.most, says="{attack}: {n}", view=lambda rows, other: {
        row.attack: {"n": row.n, "most": other.n.max()} for row in rows.itertuples()})
    assert seen(rows, other) == (True, "u: 60; v: 375") and seen(rows, other.assign(n=99))[0] is False


def test_many_cases_are_counted_and_those_that_fail_are_told():
    many = {f"c{n}": {"x": n} for n in range(MANY + 3)}
    assert every("case", lambda c: c.x >= 0, says="{case}: {x}")(many) == (True, "it holds in 11 of 11 cases")
    fails = every("case", lambda c: c.x > 1, says="{case}: {x}")(many)
    assert fails == (False, "it holds in 9 of 11 cases; c0: 0; c1: 1")
    assert every("case", lambda c: c.x > 99, says="{case}: {x}")(many)[1] == (
        "it holds in 0 of 11 cases; for example c0: 0")
    few = many | {f"c{n}": {"x": None} for n in range(2, 11)}     # nor are these counted
    assert every("case", lambda c: c.x > 0, says="{case}: {x}")(few) == (
        False, "values for 2 of 11 cases, it holds in 1 of these; c0: 0; c1: 1")
    nothing = {case: {"x": None} for case in many}
    assert every("case", lambda c: c.x > 0, says="")(nothing) == (None, "no value")


def test_proxies_are_told_and_decide_nothing():
    one = every("network", FAR, says="{network} {far.rate:%}", proxies=("b",))
    assert one(NETS) == (True, "a 2%; b 0% (judged for a alone; the other networks are proxies)")
    low = NETS | {"b": {"near": {"rate": 1.0}, "far": {"rate": 0.0}}}
    assert one(low)[0] is True and one({"b": NETS["b"]}) == (
        None, "b 0% (not judged: proxies are among these networks)")
    everywhere = every("network", FAR, says="{network} {far.rate:%}", proxies=("b",), of_all=True)
    assert everywhere(NETS) == (
        None, "a 2%; b 0% (nothing on a contradicts it; the other networks are proxies)")
    assert everywhere(NETS | {"a": low["b"]})[0] is False


def test_a_claim_waits_for_the_units_of_the_cases_that_decide():
    sets = [SimpleNamespace(name="s", published=dict.fromkeys(("a-1", "b-1")),
                            labels={"a-1": {"network": "a"}, "b-1": {"network": "b"}})]
    judge = every("network", FAR, says=SAYS, proxies=("b",))
    whole = store.Run("a-1", {}, {"epochs": [91, 91], "images": [5, 9]}, {}, 1, {}, {})
    lacking = record.lacking(sets, {"s": {"a-1": whole}})
    assert lacking(judge) is None and lacking(every("network", FAR, says=SAYS)) == "1 of 2 units"
    assert record.lacking(sets, {"s": {}})(judge) == "1 of 1 units"
    assert record.lacking(sets, {"s": {}})(every("network", FAR, says=SAYS, proxies=("a", "b"))) is None
    item = SimpleNamespace(title="Table 1", claims=("It is near.",))
    waiting, = claims.judge(item, NETS, {"near": judge}, lacking=record.lacking(sets, {"s": {}}))
    assert waiting["evidence"].startswith("waits for 1 of 1 units; so far: a: 99% near")


def test_a_claim_waits_for_networks_that_are_trained_as_long_as_published():
    sets = [SimpleNamespace(name="s", published=dict.fromkeys("ab"), labels={})]
    units = {name: store.Run(name, {}, {"epochs": [n, 91], "images_train": [5, 5]}, {}, 1, {}, {})
             for name, n in (("a", 91), ("b", 2))}
    assert record.lacking(sets, {"s": units})() == "full training (2 of 91 epochs)"
    assert record.lacking(sets, {"s": units | {"b": units["a"]}})() is None


# ---- tidy frames -------------------------------------------------------------------------------------------
def test_the_keys_of_a_plan_name_its_units_and_become_columns():
    plan = {("mnist-normal", "fgsm", n): {"images": 3} for n in (0, 1)}
    units, labels = labelled("{network}-{kind}-b{block}", plan)
    assert list(units) == ["mnist-normal-fgsm-b0", "mnist-normal-fgsm-b1"]
    assert labels["mnist-normal-fgsm-b1"] == {"network": "mnist-normal", "kind": "fgsm", "block": 1}
    assert labelled("{run}", {"a": {}}) == ({"a": {}}, {"a": {"run": "a"}})


@pytest.mark.parametrize("names, plan, said", [
    ("{a}-{b}", {"x": {}}, "give a, b"), ("{a}", {("x", 1): {}}, "give a"),
    ("{a}-{b}", {("x", 1): {"a": "y"}}, "x-1: 'a' is an argument, too"),
    ("{a}{b}", {("x", "yz"): {}, ("xy", "z"): {}}, "several runs of one name")])
def test_keys_that_name_no_unit_are_refused(names, plan, said):
    with pytest.raises(runtime.UserError, match=said):
        labelled(names, plan)


def test_lists_become_rows_and_the_rest_is_repeated():
    units = pd.DataFrame([{"run": "u", "net": "a", "first": 10, "rms": [0.1, 0.2], "ok": [True, False],
                           "one": [7]}, {"run": "v", "net": "b", "first": 12, "rms": np.array([0.3]),
                                         "ok": [True], "one": []}])
    made = Page.each(units, "rms", "ok")
    assert made.to_dict("records") == [
        {"run": "u", "net": "a", "first": 10, "place": 0, "rms": 0.1, "ok": True},
        {"run": "u", "net": "a", "first": 10, "place": 1, "rms": 0.2, "ok": False},
        {"run": "v", "net": "b", "first": 12, "place": 0, "rms": 0.3, "ok": True}]
    assert tidy.each(units[:1].drop(columns=["one"])).rms.tolist() == [0.1, 0.2]
    with pytest.raises(runtime.UserError, match=r"run u: lists of different lengths \(rms 2, ok 2, one 1\)"):
        tidy.each(units)


def test_rows_of_no_unit_and_of_empty_lists_have_their_columns():
    assert list(tidy.each(pd.DataFrame(), "rms").columns) == ["place", "rms"]
    empty = tidy.each(pd.DataFrame([{"run": "u", "net": "a", "rms": []}]), "rms")
    assert len(empty) == 0 and {"run", "net", "place", "rms"} <= set(empty.columns)


@given(st.lists(st.lists(st.integers(), max_size=4), min_size=1, max_size=5))
def test_no_value_is_lost_or_made(lists):
    units = pd.DataFrame([{"run": f"u{n}", "values": values, "n": n} for n, values in enumerate(lists)])
    made = tidy.each(units, "values")
    for n, values in enumerate(lists):
        mine = made[made.n == n]
        assert mine["values"].tolist() == values and mine.place.tolist() == list(range(len(values)))
