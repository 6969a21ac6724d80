"""Every notebook: its form, its smoke run, what it publishes and says, claims that a change would flip."""
import json
import re
import runpy
import shutil
import sys
from collections import Counter

import jupytext
import numpy as np
import pandas as pd
import pytest
from conftest import NOTEBOOKS, SHOWN, environment, outputs, ran

from report import claims, display, record, reference, store
from report.verdict import VERDICTS
from shared import ROOT, runtime
from shared.data import sets
from tests import flips
from workflow import catalogue, run


def cells(name):
    return jupytext.read(ROOT / "notebooks" / f"{name}.py").cells


def code(name):
    """Source of the code cells."""
    return [c.source for c in cells(name) if c.cell_type == "code"]


# ---- form ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_form(name):
    every, sources = cells(name), code(name)
    first = every[0].source.splitlines()
    assert re.fullmatch(r"\([a-z0-9-]+\)=", first[0]) and first[1].startswith("# ")
    assert sum("parameters" in c.metadata.get("tags", []) for c in every) == 1
    assert f'start("{name}", globals())' in sources[1] and sources[-1].strip() == "page.finish()"
    assert sum("page.box(" in s for s in sources) <= 1
    headings = [line for c in every if c.cell_type == "markdown" for line in c.source.splitlines()
                if line.startswith("## ")]
    for item in catalogue.items(name):
        label = reference.paper(name.split("/")[0])[item].label
        assert any(re.match(rf"#+ {re.escape(label)}(?!\w)", h) for h in headings), f"no section for {label}"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_lines_of_code_end_at_110(name):
    assert [line for s in code(name) for line in s.splitlines() if len(line) > 110] == []


def test_every_item_has_one_page_or_is_planned():
    homes = Counter((name.split("/")[0], item) for name in NOTEBOOKS for item in catalogue.items(name))
    assert all(n == 1 for n in homes.values()), homes
    assert all(item in reference.paper(paper).items for paper, item in homes)


def test_every_record_belongs_to_an_item_and_says_what_it_rests_on():
    ids = {(item.paper, item.id): item for item, _ in record.everything()}
    for path in (ROOT / "results/paper").glob("*/*.json"):
        key, kept = (path.parent.name, path.stem), record.read(path.parent.name, path.stem)
        assert (kept["paper"], kept["item"]) == key and not kept["scale"]["proxies"]
        if not path.stem.startswith(record.EXTRA):
            assert kept["verdict"] in VERDICTS and len(kept["claims"]) == len(ids[key].claims)


# ---- runs ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_smoke_runs_and_publishes_what_the_notebook_declares(smoke, name):
    done, folder = smoke
    assert done[name].returncode == 0, done[name].stdout[-3000:] + done[name].stderr[-3000:]
    found = outputs(folder, name)
    published = [o["record"] for o in found if o.get("kind") == "item"]
    assert sorted(r["item"] for r in published) == sorted(catalogue.items(name))
    stamp, = [o for o in found if o.get("kind") == "stamp"]
    assert stamp["facts"]["profile"] == "smoke"
    for made in published:
        asked = reference.paper(made["paper"])[made["item"]].must_contain
        assert len(made.get("contains", [])) == len(asked), made["item"]
    assert not list(folder.glob("results/**/*"))  # only the paper profile records


def test_a_script_from_an_empty_cache_tells_what_papermill_told(smoke, tmp_path, monkeypatch, capsys):
    name = "ren/iii_borderline"
    _, folder = smoke
    for key, value in environment(tmp_path).items():
        monkeypatch.setenv(key, value)
    script(name, monkeypatch, "-p", "profile", "smoke")
    printed = capsys.readouterr().out
    judged = [c for o in outputs(folder, name) if o.get("kind") == "item" for c in o["record"]["claims"]]
    assert judged and all(c["evidence"] in printed for c in judged)


# ---- words -----------------------------------------------------------------------------------------------
def reader_s(myst):
    """What a reader sees of an output: no code, no directive, no target of a link, no formula."""
    text = re.sub(r"(?ms)^```(?!\{).*?^```$", " ", myst)
    directive = r"^[:`]{3,}(?:\{(?:figure|image|generated)\}.*|\{\w+\})?"
    text = re.sub(rf"(?m){directive}|^:\w[\w-]*:.*$|^\([\w-]+\)=$", " ", text)
    text = re.sub(r"`[^`\n]*`|\]\([^)\n]*\)|\$\$.*?\$\$|\$[^$\n]*\$|<[^>\n]*>", " ", text, flags=re.DOTALL)
    return text


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_what_a_page_says_is_written_for_a_person(smoke, name):
    _, folder = smoke
    odd = []
    for told in outputs(folder, name):
        if told.get("kind") == "stamp" or "<script" in told["myst"]:
            continue
        text = reader_s(told["myst"])
        for what, pattern in SHOWN.items():
            odd += [(what, text[max(0, m.start() - 40):m.end() + 40]) for m in re.finditer(pattern, text)]
    assert odd == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_cell_shows_a_bare_value(smoke, name):
    """What a cell shows is made for a reader: Markdown, HTML, a picture, printed words; not `repr`."""
    _, folder = smoke
    cells = json.loads(ran(folder, name).read_text())["cells"]
    bare = [o["data"]["text/plain"][:80] for c in cells for o in c.get("outputs", [])
            if set(o.get("data", {})) == {"text/plain"}]
    assert bare == []


PROSE = {**{f"notebooks/{n}": "\n\n".join(c.source for c in cells(n) if c.cell_type == "markdown")
            for n in NOTEBOOKS}, **{f"book/{p.stem}": p.read_text() for p in (ROOT / "book").glob("*.md")}}


@pytest.mark.parametrize("name", PROSE)
def test_prose_is_written_for_a_person(name):
    text = reader_s(PROSE[name])
    odd = [(what, text[max(0, m.start() - 40):m.end() + 40]) for what, pattern in SHOWN.items()
           if what != "nothing" for m in re.finditer(pattern, text)]
    assert odd == []


def numbers(value):
    """All numbers inside a value; those of its texts too."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [n for v in value for n in numbers(v)]
    if isinstance(value, str):
        return [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", value)]
    return [float(value)] if isinstance(value, int | float) else []


def measured(folder):
    """What runs are given and say: numbers, sums, means, and means weighted by one of their counts."""
    runs = [store.read(p) for p in folder.glob("[!.]*.json")]
    rows = [{k: v for k, v in (run.arguments | run.result).items() if isinstance(v, int | float)}
            for run in runs]
    columns = {k: np.array([r[k] for r in rows], float) for k in rows[0]
               if all(k in r for r in rows)} if rows else {}
    counts = [np.ones(len(rows)), *(v for v in columns.values() if (v == v.round()).all() and v.sum() > 0)]
    return {float(n) for v in columns.values()
            for n in (*v, v.sum(), *((v * w).sum() / w.sum() for w in counts))}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_numbers_in_one_minute_stand_in_the_results(smoke, name):
    """Each as it is, as a share in percent, or as what remains of one."""
    _, folder = smoke
    told = outputs(folder, name)
    known = {n for o in told if o.get("kind") != "box" for n in numbers(o.get("record") or o["myst"])}
    known = known.union(*map(measured, (folder / "flips/runs" / name.split("/")[0]).glob("*")))
    known |= {m for n in known for m in (100 * n, 1 - n, 100 * (1 - n), 100 - n)}
    for minute in (o for o in told if o.get("kind") == "box"):
        for text in minute["numbers"]:
            text = text.rstrip(".,").replace(",", "")
            half = 0.501 * 10.0 ** -len(text.partition(".")[2])
            assert any(abs(abs(n) - float(text)) <= half for n in known), f"{text} stands in no result"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_where_nothing_is_recorded_nothing_is_called_so(smoke, name):
    """Neither a small run nor what is computed at each build."""
    _, folder = smoke
    for myst in (told.get("myst", "") for told in outputs(folder, name)):
        assert not re.search(r"\| reproduced|reproduced \||\((recorded|reproduced)\)", myst), myst[:300]


# ---- claims ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("holds, stuck", [
    (lambda c: c.value > 2, False), (lambda c: 1 < c.value < 3, False), (lambda c: 3 > 2, True),
    (lambda c: c.value > 2 or abs(c.value) >= 0, True), (lambda c: c.other_value > 2, False)])
def test_a_claim_that_cannot_come_out_otherwise_is_found(holds, stuck):
    rows = pd.DataFrame({"name": ["a", "b"], "value": [2.5, 2.7], "other_value": [None, None]})
    def claim(rows):
        cases = {row["name"]: row for row in rows.to_dict("records")}
        return claims.over_cases(cases, lambda c: (holds(c), "seen"), proxies=("a",))

    assert flips.unflippable(claim, [rows], ["name"]) is stuck


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_judged_claim_can_flip(smoke, name):
    """As the process that ran the notebook found it (`flips.leave_in`), for each item that it published."""
    _, folder = smoke
    papers = {(each.split("/")[0], one): each for each in NOTEBOOKS for one in catalogue.items(each)}
    first = {name, *catalogue.needs(name)}      # what a claim looks at is made before it
    for told in (o["record"] for o in outputs(folder, name) if o.get("kind") == "item"):
        paper, item = told["paper"], told["item"]
        lines = flips.file_of(folder / "flips", paper, item).read_text().splitlines()
        for found in map(json.loads, lines):
            assert not found["error"], f"{paper} {item}: {found['error']}"
            assert {papers[paper, other] for other in found["others"]} <= first, f"{paper} {item}: needs"
            assert not found["stuck"], "; ".join(found["stuck"])
        # A record keeps no judgement that rests on stand-ins alone.
        judged = [json.loads(line)["judged"] for line in lines]
        assert any(told["claims"] in (each, [claims.on_a_proxy(j) for j in each]) for each in judged)


@pytest.mark.parametrize("name", ["chen/iv_f_cost", "shu/2_4_alarm", "sutton/7_2_2_fashion_mnist"])
def test_a_script_judges_as_papermill_did(smoke, name, monkeypatch):
    """The text half in this process, after the other half: pages of three papers, and see the one above."""
    _, folder = smoke
    for key, value in environment(folder).items():
        monkeypatch.setenv(key, value)
    seen, judge = {}, claims.judge

    def spy(item, rows, predicates, **more):
        seen[item.id] = judge(item, rows, predicates, **more)
        return seen[item.id]

    monkeypatch.setattr(claims, "judge", spy)
    script(name, monkeypatch, "-p", "profile", "smoke")
    told = {o["record"]["item"]: o["record"]["claims"] for o in outputs(folder, name)
            if o.get("kind") == "item"}
    assert told.keys() == seen.keys()
    for item, judged in seen.items():
        assert told[item] in (judged, [claims.on_a_proxy(j) for j in judged])


# ---- faults ----------------------------------------------------------------------------------------------
def script(name, monkeypatch, *words):
    """Run a text half in this process, as `python notebooks/<name>.py <words>` would."""
    monkeypatch.setattr(sets, "_profile", sets._profile)  # what a run sets for its process is put back
    monkeypatch.setattr(runtime, "_device", runtime._device)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *words])
    runpy.run_path(str(ROOT / "notebooks" / f"{name}.py"), run_name="__main__")


FAULTS = [  # the rules themselves are in test_parameters
    ("ren/iii_borderline", "nets", "0", "parameter 'nets' cannot be 0; allowed: a whole number from 1"),
    ("ren/iii_borderline", "dataset", "cifar10", "parameter 'dataset' cannot be 'cifar10'; allowed: mnist, "
                                                 "fashion"),
    ("ren/iii_borderline", "net", "3", "unknown parameter 'net'; did you mean 'nets'?"),
    ("audit/printed_numbers", "draws", "0", "parameter 'draws' cannot be 0; allowed: a whole number from 1"),
    ("guide/your_own_model", "images", "7", "parameter 'images' cannot be 7; allowed: a whole number from 8"),
]
LATE = [  # what only the data and the architectures know
    ("ren/iii_borderline", ["digit", "99999"], "parameter 'digit' cannot be 99999; allowed: 0 to "),
    ("ren/iii_borderline", ["recipe", "nosuch"], "recipe"),
]


def one_line(error, said):
    assert said in str(error.value) and "\n" not in str(error.value).strip(), error.value


@pytest.mark.parametrize("name, parameter, value, said", FAULTS)
def test_a_wrong_value_is_one_line_for_script_and_papermill(home, monkeypatch, name, parameter, value, said):
    with pytest.raises(runtime.UserError) as error:
        script(name, monkeypatch, "-p", parameter, value)
    one_line(error, said)
    monkeypatch.setattr(run, "_execute", lambda *_: pytest.fail("it ran"))
    with pytest.raises(runtime.UserError) as error:
        run.run(ROOT / "notebooks" / f"{name}.ipynb", home / "out.ipynb", ["-p", parameter, value])
    one_line(error, said)


@pytest.mark.parametrize("name, words, said", LATE)
def test_what_shows_later_is_one_line_too(smoke, tmp_path, monkeypatch, name, words, said):
    _, folder = smoke
    for key, value in environment(tmp_path).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("BOUNDARY_CACHE", f"{folder}/cache")
    profile = [] if words[0] == "profile" else ["-p", "profile", "smoke"]
    with pytest.raises(runtime.UserError) as error:
        script(name, monkeypatch, *profile, "-p", *words)
    one_line(error, said)


WITH_RUNS = [name for name in NOTEBOOKS if re.search(r"^from papers\.\w+ import .*experiments", (
    ROOT / f"notebooks/{name}.py").read_text(), re.MULTILINE)]


@pytest.mark.parametrize("some", [False, True], ids=["no runs", "some runs"])
@pytest.mark.parametrize("name", WITH_RUNS)
def test_records_are_rebuilt_without_data_from_any_part_of_the_runs(home, monkeypatch, name, some):
    """None of the runs, or the first of each experiment; then figures are drawn, too."""
    if some:
        monkeypatch.setenv(display.PICTURES, str(home / "pictures"))
    key = name.split("/")[0]
    for kept in sorted((ROOT / "results/runs" / key).glob("*")) if some else []:
        run = sorted(kept.glob("[!.]*.json"))[0]
        folder = runtime.results_folder() / "runs" / key / kept.name
        folder.mkdir(parents=True)
        for file in store.files(run):
            shutil.copy(file, folder)

    def opened(*_, **__):
        pytest.fail("it opened data")

    monkeypatch.setattr(sets, "load", opened)
    script(name, monkeypatch, "-p", "profile", "paper", "-p", "units", "none")
