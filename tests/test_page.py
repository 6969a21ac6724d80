"""workflow/page.py: a page from the reference file of a scratch paper, which runs at once."""

import json
import os
import shutil
import subprocess
import sys

import jupytext
import pytest

from report import display, record, reference, results
from report.cell import Cell
from shared import ROOT, runtime
from workflow import page

SCRATCH = {
    "schema_version": 1,
    "paper": {
        "key": "scratch",
        "short": "Scratch et al.",
        "order": 9,
        "title": "A paper",
        "authors": ["A"],
        "sections": [{"number": "2.1", "title": "Results"}],
    },
    "items": [
        {
            "id": "table-1",
            "keys": ["attack"],
            "values": ["rate"],
            "kind": "table",
            "number": "1",
            "section": "2.1",
            "caption": "Rates of two attacks.",
            "settings": {"images": 100, "size": 0.3},
            "columns": [
                {"key": "attack", "label": "Attack", "type": "string"},
                {"key": "rate", "label": "Rate", "type": "number"},
            ],
            "rows": [{"attack": "near", "rate": 0.9}, {"attack": "far", "rate": 0.1}],
            "claims": [
                "The near attack succeeds more often than the far one.",
                "The near attack succeeds always.",
            ],
        },
        {
            "id": "figure-2",
            "kind": "figure",
            "number": "2",
            "section": "2.2",
            "caption": "Two curves.",
            "settings": {"images": 100, "size": None},
            "must_contain": ["x: size", "two curves"],
            "claims": ['The curves cross at a size of “0.5”, which the text calls "half".'],
        },
        {
            "id": "equation-rate",
            "label": "Rate (equation)",
            "kind": "equation",
            "number": None,
            "section": "2.1",
            "caption": "The rate.",
            "settings": {},
            "claims": [],
        },
    ],
}
ITEMS = [item["id"] for item in SCRATCH["items"]]


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the project with a scratch paper and no other page."""
    home = tmp_path_factory.mktemp("house")
    for name in ("shared", "report", "workflow", "book/reference"):
        shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("__pycache__"))
    (home / "papers").mkdir()
    shutil.copy(ROOT / "papers/__init__.py", home / "papers")
    (home / "notebooks").mkdir()
    shutil.copy(ROOT / "_toc.yml", home)
    (home / "book/reference/scratch.json").write_text(json.dumps(SCRATCH))
    (home / "book/references.bib").write_text("@misc{scratch2031,\n}\n")
    return home


def run(house, *words):
    env = {
        **os.environ,
        "PYTHONPATH": str(house),
        "BOUNDARY_CACHE": str(house / "cache"),
        "BOUNDARY_RESULTS": str(house / "results"),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run([sys.executable, *words], cwd=house, env=env, text=True, capture_output=True)


def test_a_page_from_the_reference_file_runs_at_once(house):
    made = run(house, "-m", "workflow.page", "scratch", "2_1_rates", *ITEMS)
    assert made.returncode == 0 and "_toc.yml" in made.stdout, made.stderr
    path = house / "notebooks/scratch/2_1_rates.py"
    assert (
        path.with_suffix(".ipynb").exists()
        and jupytext.read(path).metadata["boundary_book"]["items"] == ITEMS
    )
    text = path.read_text()
    assert "# (scratch-2-1)=" in text and "Scratch et al. {cite:p}`scratch2031`, Sections 2.1, 2.2*" in text
    assert "# The paper's settings: images 100\n# Table 1: size 0.3\n" in text
    assert "Keys: attack; values: rate." in text
    judged = (house / "papers/scratch/claims.py").read_text()
    said = "The near attack succeeds always."
    assert f'# {said}\nclaim("table-1", "{said}")(TO_DO)' in judged
    assert 'lambda c: (c.rate > 0, f"{c.rate}"))' in judged
    assert max(map(len, text.splitlines())) <= 110
    done = run(house, "notebooks/scratch/2_1_rates.py", "-p", "profile", "smoke")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("not judged yet") == 3 and "The rate (equation)" not in done.stdout
    assert "| narrow |" in done.stdout and "| wide |" in done.stdout    # two networks are trained
    style = run(house, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), str(path))
    assert style.returncode == 0, style.stdout
    assert "Scratch et al., Figure 2" in done.stdout and "Rate (equation)" in done.stdout


WRONG = [
    (["scratch", "3_more", "table-1"], "table-1 stands on scratch/2_1_rates; an item has one page"),
    (["scratch", "2_1_rates", "table-9"], "notebooks/scratch/2_1_rates.py is there"),
    (["scratch", "3_more", "table-9"], "paper 'scratch' has no item 'table-9'; it has: table-1"),
    (["scratsh", "3_more", "table-1"], "unknown paper 'scratsh'"),
    (["scratch", "More", "x"], "NAME=More: the section"),
    (["scratch", "3_more"], 'make page KEY=paper NAME=section_slug ITEMS="table-1 figure-2"'),
]
ASK = """
import json, sys
from shared.runtime import UserError
from workflow import page
for words in json.loads(sys.argv[1]):
    try:
        page.main(words)
    except UserError as error:
        print(error)
"""


def test_a_wrong_wish_is_one_line(house):
    """All of them in one process; `test_runtime` holds that a script prints such an error alone."""
    asked = run(house, "-c", ASK, json.dumps([words for words, _ in WRONG]))
    assert asked.returncode == 0, asked.stderr
    for line, (words, said) in zip(asked.stdout.splitlines(), WRONG, strict=True):
        assert said in line, words


def test_a_phrase_occurs_in_one_claim_and_claims_that_begin_alike_are_named():
    claims = ["It is so.", "It is so and so.", "One"]
    assert [page.phrase(claim, claims) for claim in claims] == ["It is so.", "It is so and", "One"]
    with pytest.raises(runtime.UserError, match="begins another claim"):
        page.phrase("It is", ["It is", "It is so."])


@pytest.mark.parametrize("key", ["shu", "chen"])
def test_every_item_of_a_paper_without_pages_has_its_section(key):
    items = list(reference.paper(key).items)
    text = page.text(reference.paper(key), "2_all", items)
    compile(text, "2_all.py", "exec")
    assert max(len(line) for line in text.splitlines() if not line.startswith("# ")) <= 110
    judged = "\n".join(page.claims(reference.paper(key).items.values()))
    compile(judged, "claims.py", "exec")
    assert judged.count("(TO_DO)") == sum(len(reference.paper(key)[each].claims) for each in items)


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
