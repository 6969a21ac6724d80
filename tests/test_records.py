"""reference, records, report: comparison, claims, verdicts, merging, rendering."""
import json

import pandas as pd
import pytest

from shared import reference
from shared.pages import report
from shared.records import records

ITEM = reference.Item("ren", "table-x", "table", "X", "I", "A caption.", ("up", "down"), {
    "columns": [{"key": "name", "label": "Name", "type": "string"},
                {"key": "value", "label": "Value", "type": "number", "decimals": 2},
                {"key": "nested", "label": "Nested", "type": "number"}],
    "rows": [{"name": "a", "value": 1.25, "nested": {"p": 98.8, "class": 3}},
             {"name": "b", "value": None, "nested": {"p": 55.0, "class": 8}}]})


def cells(*rows):
    return records.compare(ITEM, rows, ("name",))


# ---- comparison ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("value, agrees", [(1.25, True), (1.2549, True), (1.2451, True), (1.2551, False), (1.2449, False)])
def test_half_a_unit_of_the_last_printed_decimal_agrees(value, agrees):
    cell, = cells({"name": "a", "value": value})
    assert cell["agrees"] is agrees


@pytest.mark.parametrize("value, sd, agrees", [(1.30, 0.03, True), (1.30, 0.02, False), (1.30, None, False)])
def test_two_standard_deviations_over_seeds_agree(value, sd, agrees):
    cell, = cells({"name": "a", "value": value, "value_sd": sd})
    assert cell["agrees"] is agrees


def test_nested_cells_are_compared_leaf_by_leaf_with_their_own_decimals():
    found = {c["cell"]: c["agrees"] for c in cells({"name": "a", "nested": {"p": 98.84, "class": 4}})}
    assert found == {"nested.p": True, "nested.class": False}


def test_what_is_not_printed_is_not_compared():
    assert cells({"name": "b", "value": 7.0}) == [] and cells({"name": "z", "value": 1.25}) == []


def test_a_value_that_is_not_finite_is_no_agreement():
    assert not any(c["agrees"] for c in cells({"name": "a", "value": float("nan")}))


# ---- claims and verdicts ---------------------------------------------------------------------------------
def claim(holds, n=0):
    return {"claim": f"table-x#{n}", "holds": holds, "evidence": ""}


def cell(agrees):
    return {"agrees": agrees}


@pytest.mark.parametrize("claims, compared, exact, word", [
    ([claim(True)], [cell(True)] * 19 + [cell(False)], None, "matches"),
    ([claim(True)], [cell(True)] * 18 + [cell(False)] * 2, None, "trend"),
    ([claim(True), claim(False)], [cell(True)] * 20, None, "differs"),
    ([claim(None)], [cell(False)], None, "differs"),
    ([claim(None)], [], None, "shown"),
    ([claim(True)], [], None, "trend"),
    ([], [], (1e-12, 1e-10), "exact"),
    ([], [], (1e-9, 1e-10), "differs"),
    ([claim(False)], [], (0.0, 0.0), "differs"),
])
def test_verdicts(claims, compared, exact, word):
    assert records.verdict(claims, compared, exact)[0] == word


def test_a_failed_claim_is_named_in_the_reason():
    assert "table-x#1" in records.verdict([claim(True), claim(False, 1)], [])[1]


def test_every_claim_needs_one_predicate():
    with pytest.raises(ValueError, match="makes 2 claims but 1 are judged"):
        records.judge(ITEM, pd.DataFrame(), ["no"])
    judged = records.judge(ITEM, pd.DataFrame({"v": [1, 2]}), [lambda r: (r.v.max() > 1, "2"), "by eye"])
    assert [j["holds"] for j in judged] == [True, None] and judged[1]["evidence"] == "by eye"


# ---- files -----------------------------------------------------------------------------------------------
def record(units, of=4, code="c", images=10):
    parts = {"images": [images, 10], "units": [len(units), of]}
    return {"item": "table-3", "paper": "ren", "units": [{"net": u, "v": u} for u in units], "unit_keys": ["net"],
            "scale": {"parts": parts, "fraction": records.fraction(parts), "substitutes": {}},
            "provenance": {"code": code, "data": {"mnist": "f"}}, "claims": [], "verdict": "shown", "reason": ""}


def write(units, **kwargs):
    return records.write("ren", record(units, **kwargs), rebuild=lambda joined: record([u["net"] for u in joined], **kwargs))


def kept():
    return [u["net"] for u in records.read("ren", "table-3")["units"]]


def test_units_of_two_runs_are_joined(home):
    write([0, 1])
    write([1, 3])
    assert kept() == [0, 1, 3] and records.read("ren", "table-3")["scale"]["fraction"] == 0.75


def test_a_smaller_record_never_replaces_a_larger_one(home):
    write([0, 1, 2])
    write([3], code="other")
    assert kept() == [0, 1, 2]
    write([0, 1, 2, 3], images=5)
    assert kept() == [0, 1, 2]
    write([3, 2, 1, 0], code="other")
    assert kept() == [3, 2, 1, 0]


def test_a_damaged_record_is_named(home):
    write([0])
    path = records.path("ren", "table-3")
    path.write_text(path.read_text()[:50])
    with pytest.raises(ValueError, match="table-3.json: damaged"):
        records.read("ren", "table-3")
    path.write_text("{}")
    with pytest.raises(ValueError, match="lacks item, scale"):
        records.read("ren", "table-3")


def test_a_record_reads_back_as_it_was_written(home):
    one = record([0, 1])
    assert json.loads(records.dumps(one)) == one


# ---- the references --------------------------------------------------------------------------------------
def test_the_references_hold_what_the_book_promises():
    counts = {}
    for item, _ in records.everything():
        counts[item.kind] = counts.get(item.kind, 0) + 1
    assert counts["table"] == 54 and counts["figure"] == 55
    assert counts["theorem"] + counts["corollary"] + counts["lemma"] == 20


def test_unknown_papers_and_items_are_named():
    with pytest.raises(ValueError, match="unknown paper 'rem'; allowed: ren, shu"):
        reference.paper("rem")
    with pytest.raises(ValueError, match="paper 'ren' has no item 'table-9'"):
        reference.paper("ren")["table-9"]


# ---- rendering -------------------------------------------------------------------------------------------
def test_a_comparison_stands_line_under_line_and_equal_lines_are_joined():
    header, body = report.comparison(ITEM, ("name",), {
        "recorded": [{"name": "a", "value": 1.25, "nested": {"p": 98.8, "class": 3}}],
        "this run": [{"name": "a", "value": 1.5, "value_sd": 0.1, "nested": {"p": 90.0, "class": 3}}]})
    assert header == ["Name", "", "Value", "Nested"]
    assert body[0] == ["a", "printed, recorded", "1.25", "98.8 · 3"]
    assert body[1] == ["", "this run", "1.50 ± 0.10", "90.0 · 3"]
    assert body[2][:2] == ["b", "printed"]
