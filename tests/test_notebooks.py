"""Every notebook: its form, its smoke run, its results and words, claims that other results would flip."""
import ast
import builtins
import json
import re
import runpy
import shutil
import sys
from collections import Counter
from functools import cache

import pandas as pd
import pytest
from conftest import NOTEBOOKS, environment, oddities, outputs, ran

from report import claims, display, parameters, reference, repository, store
from report.repository import ROOT
from shared import runtime
from shared.data import sets
from tests import flips
from workflow import catalogue, run

pytestmark = pytest.mark.filterwarnings("ignore::shared.inference.NoExample")   # small runs search briefly


@cache
def cells(name, kind):
    """Sources of the cells of a kind, code or markdown."""
    notebook = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text())
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == kind]


# ---- form ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_form(name):
    markdown, code = cells(name, "markdown"), cells(name, "code")
    first = markdown[0].splitlines()
    assert re.fullmatch(r"\([a-z0-9-]+\)=", first[0]) and first[1].startswith("# ")
    text = (ROOT / "notebooks" / f"{name}.py").read_text()
    assert text.count('tags=["parameters"]') == 1 and len(text.splitlines()) <= 320
    assert f'start("{name}", globals())' in code[1] and code[-1].strip() == "page.finish()"
    assert sum("page.box(" in source for source in code) <= 1
    assert [line for source in code for line in source.splitlines() if len(line) > 110] == []
    headings = [line for source in markdown for line in source.splitlines() if re.match("###? ", line)]
    for item in catalogue.items(name):
        label = reference.paper(name.split("/")[0])[item].label
        assert any(re.match(rf"#+ {re.escape(label)}(?!\w)", h) for h in headings), f"no section for {label}"


def names(tree, context):
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_code_that_is_shown_imports_what_it_uses(name):
    """But for the page's parameters, and what results of the paper are asked of: `page`, its experiments."""
    notebook = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text())
    known = {*dir(builtins), "page", "experiments", "figures",
             *parameters.declared(parameters.script_of(name))}
    for cell in notebook["cells"]:
        if "show-input" in cell["metadata"].get("tags", ()):
            tree = ast.parse("".join(cell["source"]))
            known |= names(tree, ast.Store)
            for node in ast.walk(tree):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    known |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    known.add(node.name)
                elif isinstance(node, ast.arg):
                    known.add(node.arg)
            assert names(tree, ast.Load) <= known


def test_every_item_has_one_page_or_is_planned():
    homes = Counter((name.split("/")[0], item) for name in NOTEBOOKS for item in catalogue.items(name))
    assert all(n == 1 for n in homes.values()), homes
    assert all(item in reference.paper(paper).items for paper, item in homes)


# ---- runs ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_smoke_runs_and_publishes_what_the_notebook_declares(smoke, name):
    finished, folder = smoke
    process = finished[name]
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    published = [o["record"] for o in outputs(folder, name) if o.get("kind") == "item"]
    assert sorted(r["item"] for r in published) == sorted(catalogue.items(name))
    stamp, = [o for o in outputs(folder, name) if o.get("kind") == "stamp"]
    assert stamp["facts"]["profile"] == "smoke"
    assert not list(folder.glob("results/**/*"))  # only the paper profile records


def test_a_script_from_an_empty_cache_judges_as_papermill_did(smoke, tmp_path, monkeypatch, capsys):
    name, (_, folder) = "ren/iii_borderline", smoke
    for key, value in environment(tmp_path).items():
        monkeypatch.setenv(key, value)
    seen, judge = {}, claims.judge

    def spy(item, rows, predicates, **more):
        seen[item.id] = judge(item, rows, predicates, **more)
        return seen[item.id]

    monkeypatch.setattr(claims, "judge", spy)
    script(name, monkeypatch, "-p", "profile", "smoke")
    printed = capsys.readouterr().out
    published = {o["record"]["item"]: o["record"]["claims"] for o in outputs(folder, name)
                 if o.get("kind") == "item"}
    assert published.keys() == seen.keys()
    for item, judged in seen.items():
        assert published[item] in (judged, [claims.on_a_proxy(claim) for claim in judged])
    evidence = [claim["evidence"] for judged in seen.values() for claim in judged]
    assert evidence and all(words in printed for words in evidence)


# ---- words -----------------------------------------------------------------------------------------------
def text_of(myst):
    """The text of an output: no code, no directive, no target of a link, no formula."""
    text = re.sub(r"(?ms)^```(?!\{).*?^```$", " ", myst)
    directive = r"^[:`]{3,}(?:\{(?:figure|image|generated)\}.*|\{\w+\})?"
    text = re.sub(rf"(?m){directive}|^:\w[\w-]*:.*$|^\([\w-]+\)=$", " ", text)
    return re.sub(r"`[^`\n]*`|\]\([^)\n]*\)|\$\$.*?\$\$|\$[^$\n]*\$|<[^>\n]*>", " ", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_what_a_page_shows_is_written_for_a_person(smoke, name):
    _, folder = smoke
    for output in outputs(folder, name):
        if output.get("kind") != "stamp" and "<script" not in output["myst"]:
            assert oddities(text_of(output["myst"])) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_cell_shows_a_bare_value(smoke, name):
    """A cell shows Markdown, HTML, an image or printed words; not `repr`."""
    _, folder = smoke
    run = json.loads(ran(folder, name).read_text())
    bare = [o["data"]["text/plain"][:80] for c in run["cells"] for o in c.get("outputs", [])
            if set(o.get("data", {})) == {"text/plain"}]
    assert bare == []


PROSE = {**{f"notebooks/{n}": "\n\n".join(cells(n, "markdown")) for n in NOTEBOOKS},
         **{f"book/{p.stem}": p.read_text() for p in (ROOT / "book").glob("*.md")}}


@pytest.mark.parametrize("name", PROSE)
def test_prose_is_written_for_a_person(name):
    assert oddities(text_of(PROSE[name]), "nothing") == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_box_is_short_and_its_numbers_are_computed(smoke, name):
    """Seventy words, and a few more where values are longer; digits stand in names, units, scales alone."""
    tree = ast.parse("\n".join(cells(name, "code")))
    called = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "page.box"]
    for part in (part.value for call in called for part in call.args if isinstance(part, ast.Constant)):
        words = re.sub(r"\{[^}]*\}|CIFAR-10|L2|95%|0 to 1|[01]: (?=[a-z])|−1|32-bit", "", part)
        assert not re.search(r"\d", words), f"a typed number: {part}"
    _, folder = smoke
    for box in (o for o in outputs(folder, name) if o.get("kind") == "box"):
        assert len(f"{box['question']} {box['sentences']}".split()) <= 80, box["sentences"]
        assert len(re.split(r"(?<=[.?!])\s+(?=[A-Z\d])", box["sentences"])) <= 5, box["sentences"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_where_nothing_is_recorded_nothing_is_called_so(smoke, name):
    """Neither a small run nor what is computed at each build."""
    _, folder = smoke
    for myst in (output.get("myst", "") for output in outputs(folder, name)):
        assert not re.search(r"\| reproduced|reproduced \||\((recorded|reproduced)\)", myst), myst[:300]


# ---- claims ----------------------------------------------------------------------------------------------
ROWS = pd.DataFrame({"name": ["a", "b"], "value": [2.5, 2.7], "other": [None, None],
                     "status": ["proxy: small", None]})


@pytest.mark.parametrize("holds, why", [
    (lambda c: c.value > 2, ""), (lambda c: 1 < c.value < 3, ""),
    (lambda c: c.value > 2 or abs(c.value) >= 0, "it always holds"), (lambda c: c.other > 2, ""),
    (lambda c: abs(c.value) < 0, "it never holds"), (lambda c: c.none > 2, "it is never judged")])
def test_a_claim_that_no_results_would_flip_is_found(holds, why):
    """A missing value is drawn, too; a status is not, and what is on proxies alone has to flip as well."""
    rule = claims.Rule(lambda rows: claims.over_cases(
        {row["name"]: row | {"none": None} for row in rows.to_dict("records")}, lambda c: (holds(c), "seen")))
    assert flips.one_sided(rule, [[ROWS]], [["name"]]) == why


def test_a_misspelt_name_in_a_claim_is_found():
    misspelt = claims.Rule(lambda rows: claims.over_cases(
        {"a": dict(rows.iloc[0])}, lambda c: (c.value > 100 and c.vallue > 1, "seen")))
    with pytest.raises(runtime.UserError, match="no 'vallue' there"):
        flips.one_sided(misspelt, [[ROWS]], [["name"]])


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_judged_claim_can_flip(smoke, name):
    """As the process that ran the notebook found it (`flips.leave_in`), for each item that it published."""
    _, folder = smoke
    pages = {(page.split("/")[0], item): page for page in NOTEBOOKS for item in catalogue.items(page)}
    first = {name, *catalogue.needs(name)}      # a claim is judged on results of earlier pages
    for record in (o["record"] for o in outputs(folder, name) if o.get("kind") == "item"):
        paper, item = record["paper"], record["item"]
        lines = flips.file_of(folder / "flips", paper, item).read_text().splitlines()
        entries = [json.loads(line) for line in lines]
        for entry in entries:
            assert not entry["error"], f"{paper} {item}: {entry['error']}"
            assert {pages[paper, other] for other in entry["others"]} <= first, f"{paper} {item}: needs"
            assert not entry["stuck"], "; ".join(entry["stuck"])
        # A record keeps no judgement that rests on proxies alone.
        assert any(record["claims"] in (judged, [claims.on_a_proxy(claim) for claim in judged])
                   for judged in (entry["judged"] for entry in entries))


# ---- faults ----------------------------------------------------------------------------------------------
def script(name, monkeypatch, *words):
    """Run a script in this process, as `python notebooks/<name>.py <words>` would."""
    monkeypatch.setattr(sets, "_profile", sets._profile)  # what a run sets for its process is put back
    monkeypatch.setattr(runtime, "_device", runtime._device)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *words])
    runpy.run_path(str(ROOT / "notebooks" / f"{name}.py"), run_name="__main__")


def refused(message, run, *arguments):
    """Assert that a run is refused with one line."""
    with pytest.raises(runtime.UserError) as error:
        run(*arguments)
    assert message in str(error.value) and "\n" not in str(error.value).strip(), error.value


@pytest.mark.parametrize("name, words, message", [   # the rules themselves are in test_parameters
    ("ren/iii_borderline", ["-p", "nets", "0"], "parameter 'nets' cannot be 0; allowed: a whole"),
    ("ren/iii_borderline", ["-p", "net", "3"], "unknown parameter 'net'; did you mean 'nets'?"),
    ("audit/printed_numbers", ["-p", "draws", "0"], "parameter 'draws' cannot be 0; allowed: a whole"),
    ("guide/your_own_model", ["-p", "images", "7"], "parameter 'images' cannot be 7; allowed: a whole")])
def test_a_wrong_value_is_one_line_for_script_and_papermill(home, monkeypatch, name, words, message):
    refused(message, script, name, monkeypatch, *words)
    monkeypatch.setattr(run, "_execute", lambda *_: pytest.fail("it ran"))
    refused(message, run.run, ROOT / "notebooks" / f"{name}.ipynb", home / "out.ipynb", words)


@pytest.mark.parametrize("parameter, value, message", [
    ("digit", "99999", "parameter 'digit' cannot be 99999; allowed: 0 to "), ("recipe", "nosuch", "recipe")])
def test_a_value_that_only_the_data_or_an_architecture_refuses_is_one_line_too(
        tmp_path, monkeypatch, parameter, value, message):
    for key, path in environment(tmp_path).items():
        monkeypatch.setenv(key, path)
    words = ["-p", "profile", "smoke", "-p", parameter, value]
    refused(message, script, "ren/iii_borderline", monkeypatch, *words)


# A page of many experiments and figures of each paper; `.ci/run` builds all pages from all runs.
PARTLY = ("ren/iii_borderline", "shu/2_3_mobilenet", "he/4_boundary", "sutton/7_2_3_gtsrb",
          "chen/iv_c_benchmark", "synthesis/five_instruments")


@pytest.mark.slow
@pytest.mark.parametrize("name, some", [*((name, True) for name in PARTLY), ("shu/2_3_mobilenet", False)])
def test_records_are_rebuilt_without_data_from_any_part_of_the_runs(home, monkeypatch, name, some):
    """None of the runs, or the first of each experiment; then figures are drawn, too."""
    if some:
        monkeypatch.setenv(display.PICTURES, str(home / "pictures"))
    key = name.split("/")[0]
    for recorded in sorted((ROOT / "results/runs" / key).glob("*")) if some else []:
        folder = repository.results_folder() / "runs" / key / recorded.name
        folder.mkdir(parents=True)
        for file in store.files(sorted(recorded.glob("[!.]*.json"))[0]):
            shutil.copy(file, folder)
    monkeypatch.setattr(sets, "load", lambda *_, **__: pytest.fail("it opened data"))
    script(name, monkeypatch, "-p", "profile", "paper", "-p", "runs", "none")
