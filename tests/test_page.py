"""report/pieces.py and report/display.py: what a page shows of an item."""
import re
from types import SimpleNamespace

import pytest

from report import display, page, pieces, record, reference
from report.cell import Cell
from report.claims import Rule


def record_of(verdict, **fields):
    return {"cells": [], "rows": [], "verdict": verdict, "reason": "no published value", "claims": [],
            "scale": {"fraction": 1, "parts": {}, "proxies": {}}, **fields}


def shown(item, recorded, **options):
    """The text that a page shows of an item with this record."""
    return pieces.shown(item, {"recorded": recorded}, **options)[0]


def test_a_column_names_the_unit_that_its_cells_do_not_show():
    def header(paper, item):
        return pieces.compared_table(reference.paper(paper)[item], "reproduced", [], {})[0]

    assert header("chen", "table-10")[-2:] == ["ROBY metrics, ms", "PGD Attack, ms"]
    assert header("ren", "table-2")[-3:] == ["Architecture A", "Architecture B", "Architecture C"]
    assert "symbols as extracted" not in header("chen", "table-8")


def test_what_a_result_waits_for_stands_once_above_its_claims():
    item = reference.paper("chen")["table-6"]
    claims = [{"claim": claim, "holds": None, "evidence": f"missing: 2 of 9{so_far}"}
              for claim, so_far in zip(item.claims, ("; so far: 97%", ""))]
    text = shown(item, record_of("undecided", claims=claims, reason="missing: 2 of 9"))
    assert "– so far: 97% |" in text and text.count("missing: 2 of 9") == 2
    text = shown(item, record_of("undecided", claims=claims, reason="2 statements cannot be tested yet"))
    assert "– missing: 2 of 9; so far: 97% |" in text


def test_published_rows_without_a_counterpart_are_folded():
    item = reference.paper("chen")["table-1"]
    row = {"dataset": "MNIST", "model": "LeNet", "acc": 0.9}
    for measured, count in ((row, 1), (dict.fromkeys(item.keys), 0)):
        table, _, fold = shown(item, record_of("undecided", rows=[measured])).partition(
            "{dropdown} Statements and details")
        assert [text.count("| LeNet |") for text in (table, fold)] == [count, 3 - count]


def test_one_line_says_what_agrees_and_there_is_none_where_nothing_is_compared():
    item = reference.paper("chen")["table-1"]
    judged = [{"claim": claim, "holds": holds, "evidence": "so"}
              for claim, holds in zip(item.claims, (True, False))]
    line, _, fold = shown(item, record_of("not confirmed", claims=judged)).partition(
        "\n\n::::{dropdown} Statements and details")
    assert line.endswith("{bdg-warning}`not confirmed` 1 of 2 tested statements came out here, too.")
    assert judged[0]["claim"] in fold
    assert "bdg" not in shown(item, record_of("nothing to compare"))


def test_what_a_build_computed_stands_under_its_result_in_a_notebook_and_at_the_foot_in_the_book():
    item, row = reference.paper("chen")["table-1"], {"dataset": "MNIST", "model": "LeNet", "acc": 0.9}
    text, foot, _ = pieces.shown(item, {
        "recorded": record_of("undecided", rows=[row]),
        "this run, quick": record_of("undecided", rows=[row | {"acc": 0.4321}])})
    assert "0.4321" not in text and "0.4321" in foot


@pytest.mark.parametrize("paper, name", [("chen", "table-1"), ("sutton", "table-4"), ("chen", "table-10")])
def test_embedded_data_are_compared_with_no_published_value(paper, name):
    """Neither in rows, nor with a class at the head of each column: no printed line, no mark.

    A small run on real data stands under the printed line, and has no mark either.
    """
    item = reference.paper(paper)[name]
    texts = []
    for fraction, proxies in ((1, {}), (1, {"mnist": "digits"}), (0.1, {})):
        built = record.build(item, rows=item.rows[:1],
                             claims=dict.fromkeys(item.claims, Rule(None, open="not judged here")))
        built |= {"rows": item.rows[:1],
                  "scale": {"fraction": fraction, "parts": {"runs": [1, 1]}, "proxies": proxies}}
        texts.append(pieces.shown(item, {"recorded": record_of("undecided"), "this run, quick": built})[1])
    whole, embedded, small = texts
    assert "published" in whole and "≈" in whole
    assert not re.search(r"published|≈|≠", embedded) and "this run, quick" in embedded
    assert "published" in small and not re.search(r"≈|≠", small)


def test_a_small_run_has_no_marks():
    """Neither at numbers nor at statements: what it shows is said in words."""
    item = reference.paper("chen")["table-1"]
    built = record.build(item, rows=item.rows, claims=dict.fromkeys(item.claims, Rule(None, open="open")))
    built["rows"] = item.rows
    built["claims"] = [claim | {"holds": True, "evidence": "seen"} for claim in built["claims"]]
    small = built | {"scale": {"fraction": 0.1, "parts": {"runs": [1, 10]}, "proxies": {}}}
    whole, foot, _ = pieces.shown(item, {"recorded": built, "this run, quick": small})
    assert "≈" in whole and "✓ seen" in whole and not re.search("[≈≠✓✗]", foot)
    assert "| so in this run: seen" in foot


def test_a_readers_own_numbers_come_first_in_a_notebook(monkeypatch):
    """Of a printed table and of one of ours; the book has the recorded ones on the page."""
    shown = []
    monkeypatch.setattr(display, "show", lambda myst, **more: shown.append((myst, more)))
    item = reference.paper("ren")["table-3"]
    value = next(v for v in item.values if isinstance(item.rows[0].get(v), float))
    row = {k: item.rows[0][k] for k in item.keys}
    p = page.Page.__new__(page.Page)
    vars(p).update(paper_key="ren", name="ren/x", profile="quick", parameters={"profile": "quick"},
                   defaults={}, scratch=False, used={}, gathered={}, measured={}, verdicts={}, tables={},
                   own_parts=[], names={})
    p._runs = lambda results: {"recorded": {}, "yours, quick": {}}
    p.frames = lambda results, runs: []
    values = iter([0.1111, 0.2222, 0.3333, 0.4444])
    results = [SimpleNamespace(name="a", yours=True, published={}, recorded={}, own={}, outdated={}, sizes=(),
                               labels={}, optional=False)]
    p._record = lambda *_, **__: record_of("undecided", rows=[row | {value: next(values)}])
    p._publish("table-3", results, rows=lambda *_: None)
    (text, more), = shown
    assert text.index("0.2222") < text.index("0.1111") and "0.2222" not in more["book"]
    shown.clear()
    p.extra("ours", results, lambda *_: [{"a": next(values)}], "Ours")
    assert ["0.3333" in text for text, _ in shown] == [True, False]
    assert "(Yours, quick.)" in shown[0][0]


def test_a_notebook_shows_directives_by_their_titles():
    table = display.own_table(["a"], [[1]], "One number")
    figure = display.myst_figure("x.png", "A curve", "what it shows", "ren-figure-1")
    badge, fold = display.badge('not confirmed'), display.folded('More', table)
    text = display.markdown_of(f"{badge} 1 of 2.\n\n{figure}\n\n{fold}")
    assert text == ("**not confirmed** 1 of 2.\n\n\nA curve.\n\n**More**\n\n**One number**\n\n\n"
                    "| a |\n| --- |\n| 1 |")
    assert display.markdown_of("```python\nx = 1\n```") == "```python\nx = 1\n```"


@pytest.mark.parametrize("paper, name", [("he", "table-1"), ("sutton", "table-4")])
def test_a_column_of_the_user_is_shown_behind_the_published_ones_and_not_judged(paper, name):
    """Also where the paper prints a class at the head of each column: then it has a line of its own."""
    item = reference.paper(paper)[name]
    claims = dict.fromkeys(item.claims, Rule(None, open="not judged here"))
    rows = [row | {"my_column": Cell(777.5, n=3)} for row in item.rows]
    before, after = (record.build(item, rows=values, claims=claims) for values in (item.rows, rows))
    assert before.pop("rows") != after.pop("rows") and before == after
    words, text = "my column (not printed)", shown(item, after | {"rows": rows})
    header = next(line for line in text.splitlines() if "| source |" in line)
    assert header.endswith(f"| {words} |") == (paper == "he")
    assert text.count(words) == (1 if paper == "he" else 9) and text.count("| 777.5 |") >= 4
    text = shown(item, after | {"rows": rows}, hidden=("my_column",))
    assert words not in text and "777.5" not in text
