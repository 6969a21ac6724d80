"""report/results.py and report/display.py: what a page shows of an item."""

import pytest

from report import display, record, reference, results
from report.cell import Cell


def test_a_column_names_the_unit_that_its_cells_do_not_show():
    def header(paper, item):
        return results.comparison(reference.paper(paper)[item], "reproduced", [], {})[0]
    assert header("chen", "table-10")[-2:] == ["ROBY metrics, ms", "PGD Attack, ms"]
    assert header("ren", "table-2")[-3:] == ["Architecture A", "Architecture B", "Architecture C"]
    assert "symbols as extracted" not in header("chen", "table-8")


def test_what_a_result_waits_for_stands_once_above_its_claims():
    item = reference.paper("chen")["table-6"]
    first, second = item.claims

    def shown(reason):
        record = {"cells": [], "rows": [], "verdict": "in part", "reason": reason,
                  "scale": {"fraction": 1, "parts": {}, "proxies": {}},
                  "claims": [{"claim": first, "holds": None, "evidence": "waits for 2 of 9; so far: 97%"},
                             {"claim": second, "holds": None, "evidence": "waits for 2 of 9"}]}
        return results.page(item, {"recorded": record})[0]

    above = shown("2 claims wait; the rest waits for 2 of 9")
    assert "– so far: 97% |" in above and above.count("waits for 2 of 9") == 2
    assert "– waits for 2 of 9; so far: 97% |" in shown("2 claims wait for other tables")


def test_published_rows_without_a_counterpart_are_folded():
    item = reference.paper("chen")["table-1"]
    record = {"cells": [], "verdict": "in part", "reason": "so", "claims": [],
              "scale": {"fraction": 1, "parts": {}, "proxies": {}}}
    ours = {"dataset": "MNIST", "model": "LeNet", "acc": 0.9}
    for row, shown in ((ours, 1), (dict.fromkeys(item.keys), 0)):
        myst, *_ = results.page(item, {"recorded": record | {"rows": [row]}})
        table, _, rest = myst.partition("{dropdown} Claims and details")
        assert [text.count("| LeNet |") for text in (table, rest)] == [shown, 3 - shown]


def a_record(verdict, **more):
    return {"cells": [], "rows": [], "verdict": verdict, "reason": "no published value", "claims": [],
            "scale": {"fraction": 1, "parts": {}, "proxies": {}}, **more}


def test_one_line_says_what_agrees_and_there_is_none_where_nothing_is_compared():
    item = reference.paper("chen")["table-1"]
    held = [{"claim": claim, "holds": holds, "evidence": "so"}
            for claim, holds in zip(item.claims, (True, False))]
    myst = results.page(item, {"recorded": a_record("differs", claims=held)})[0]
    line, _, fold = myst.partition("\n\n::::{dropdown} Claims and details")
    assert line.endswith("{bdg-warning}`differs` claims that hold: 1 of 2.") and held[0]["claim"] in fold
    assert "bdg" not in results.page(item, {"recorded": a_record("nothing to compare")})[0]


def test_what_a_build_computed_stands_under_its_result_in_a_notebook_and_at_the_foot_in_the_book():
    item, ours = reference.paper("chen")["table-1"], {"dataset": "MNIST", "model": "LeNet", "acc": 0.9}
    runs = {"recorded": a_record("in part", rows=[ours]), "this run, quick": a_record("in part", rows=[
        ours | {"acc": 0.4321}])}
    myst, foot, _ = results.page(item, runs)
    assert "0.4321" not in myst and "0.4321" in foot


def test_a_notebook_shows_directives_by_their_titles():
    table = display.own_table(["a"], [[1]], "One number")
    figure = display.myst_figure("x.png", "A curve", "what it shows", "ren-figure-1")
    badge, fold = display.badge('differs'), display.folded('More', table)
    text = display.markdown_of(f"{badge} 1 of 2.\n\n{figure}\n\n{fold}")
    assert text == ("**differs** 1 of 2.\n\n\nA curve.\n\n**More**\n\n**One number**\n\n\n"
                    "| a |\n| --- |\n| 1 |")
    assert display.markdown_of("```python\nx = 1\n```") == "```python\nx = 1\n```"


@pytest.mark.parametrize("paper, name", [("he", "table-1"), ("sutton", "table-4")])
def test_a_column_of_a_reader_is_shown_behind_the_published_ones_and_not_judged(paper, name):
    """Also where the paper prints a class at the head of each column: then it has a line of its own."""
    item = reference.paper(paper)[name]
    claims = dict.fromkeys(item.claims, "not judged here")
    more = [row | {"my_column": Cell(777.5, n=3)} for row in item.rows]
    before, after = (record.build(item, rows=rows, claims=claims) for rows in (item.rows, more))
    assert before.pop("rows") != after.pop("rows") and before == after

    def shown(**how):
        return results.page(item, {"recorded": after | {"rows": more}}, **how)[0]

    words, text = "my column (not printed)", shown()
    header = next(line for line in text.splitlines() if "| source |" in line)
    assert header.endswith(f"| {words} |") == (paper == "he")
    assert text.count(words) == (1 if paper == "he" else 9) and text.count("| 777.5 |") >= 4
    assert words not in shown(behind=("my_column",)) and "777.5" not in shown(behind=("my_column",))
