"""Tidy frames of runs, and sentences from facts."""
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from report import display, prose, reference, tidy
from report.experiment import labelled
from report.page import Page
from shared import runtime


# ---- sentences ---------------------------------------------------------------------------------------------
def test_a_template_takes_numbers_as_a_person_writes_them():
    facts = {"share": 2 / 3, "network": {"rate": 99.4949}, "count": 12_345, "gone": None, "name": "cat"}
    template = "{network.rate:%} of {count} {name}s, {share:.0%}, {share}, {gone:%}, {{x}}"
    assert prose.fill(template, facts) == "99.5% of 12,345 cats, 67%, 0.667, no value, {x}"


def test_a_name_that_is_no_fact_is_refused_in_one_line():
    with pytest.raises(runtime.UserError, match="^no 'b' there; there are: a$"):
        prose.fill("{b}", {"a": 1})
    assert not prose.complete("{b}", {"a": 1})


@pytest.mark.parametrize("facts, text", [
    ({"n": 3}, "n is 3"), ({}, "nothing"), (None, "nothing"), ({"n": None}, "nothing")])
def test_a_page_fills_a_template_or_shows_another_text_where_there_are_no_facts(monkeypatch, facts, text):
    shown = []
    page = SimpleNamespace(_best=lambda sets: ("recorded", ["runs"]))
    monkeypatch.setattr(display, "say", shown.append)
    Page.text(page, (), lambda runs: facts, "n is {n}", nothing="nothing")
    assert shown == [text]


# ---- tidy frames -------------------------------------------------------------------------------------------
def test_the_keys_of_a_plan_name_its_runs_and_become_columns():
    plan = {("mnist-normal", "fgsm", n): {"images": 3} for n in (0, 1)}
    runs, labels = labelled("{network}-{kind}-b{block}", plan)
    assert list(runs) == ["mnist-normal-fgsm-b0", "mnist-normal-fgsm-b1"]
    assert labels["mnist-normal-fgsm-b1"] == {"network": "mnist-normal", "kind": "fgsm", "block": 1}
    assert labelled("{run}", {"a": {}}) == ({"a": {}}, {"a": {"run": "a"}})


@pytest.mark.parametrize("names, plan, message", [
    ("{a}-{b}", {"x": {}}, "give a, b"), ("{a}", {("x", 1): {}}, "give a"),
    ("{a}-{b}", {("x", 1): {"a": "y"}}, "x-1: 'a' is an argument, too"),
    ("{a}{b}", {("x", "yz"): {}, ("xy", "z"): {}}, "several runs of one name")])
def test_keys_that_name_no_run_are_refused(names, plan, message):
    with pytest.raises(runtime.UserError, match=message):
        labelled(names, plan)


def test_lists_become_rows_and_the_rest_is_repeated():
    runs = pd.DataFrame([{"run": "u", "first": 10, "rms": [0.1, 0.2], "ok": [True, False], "one": [7]},
                         {"run": "v", "first": 12, "rms": np.array([0.3]), "ok": [True], "one": []}])
    assert Page.unnest(runs, "rms", "ok").to_dict("records") == [
        {"run": "u", "first": 10, "place": 0, "rms": 0.1, "ok": True},
        {"run": "u", "first": 10, "place": 1, "rms": 0.2, "ok": False},
        {"run": "v", "first": 12, "place": 0, "rms": 0.3, "ok": True}]
    assert tidy.unnest(runs[:1].drop(columns=["one"])).rms.tolist() == [0.1, 0.2]
    with pytest.raises(runtime.UserError, match=r"run u: lists of different lengths \(rms 2, ok 2, one 1\)"):
        tidy.unnest(runs)


def test_rows_of_no_run_and_of_empty_lists_have_their_columns():
    assert list(tidy.unnest(pd.DataFrame(), "rms").columns) == ["place", "rms"]
    empty = tidy.unnest(pd.DataFrame([{"run": "u", "first": 10, "rms": []}]), "rms")
    assert len(empty) == 0 and {"run", "first", "place", "rms"} <= set(empty.columns)


@pytest.mark.parametrize("proxies, printed", [({}, 0.5), ({"mnist": "digits"}, None)])
def test_a_published_value_stands_beside_real_data_alone(proxies, printed):
    item = reference.paper("ren")["table-3"]
    row = dict(zip(item.keys, [item.rows[0][k] for k in item.keys]))
    value = next(v for v in item.values if isinstance(item.rows[0].get(v), float))
    kept = {"rows": [row | {value: 0.25}], "scale": {"proxies": proxies}}
    there, = tidy.rows(item, kept, "this run")
    assert list(there) == list(tidy.COLUMNS) and there["value"] == 0.25 and there["source"] == "this run"
    assert (there["published"] is None) == (printed is None)


@given(st.lists(st.lists(st.integers(), max_size=4), min_size=1, max_size=5))
def test_no_value_is_lost_or_added(lists):
    runs = pd.DataFrame([{"run": f"u{n}", "values": values, "n": n} for n, values in enumerate(lists)])
    rows = tidy.unnest(runs, "values")
    assert rows[["n", "place", "values"]].values.tolist() == [
        [n, place, value] for n, values in enumerate(lists) for place, value in enumerate(values)]
