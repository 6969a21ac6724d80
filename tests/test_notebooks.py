"""Every notebook: its form, its smoke run, the items it publishes, and claims that a changed result would flip."""
import copy
import re
import runpy
import subprocess
import sys
from collections import Counter

import jupytext
import numpy as np
import pandas as pd
import pytest
from conftest import NOTEBOOKS, environment, outputs, ran

from shared import ROOT, reference
from shared.records import records


def cells(name):
    return jupytext.read(ROOT / "notebooks" / f"{name}.py").cells


def declared(name):
    return jupytext.read(ROOT / "notebooks" / f"{name}.py").metadata.get("boundary_book", {}).get("items", [])


# ---- form ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_form(name):
    every = cells(name)
    code = [c for c in every if c.cell_type == "code"]
    first = every[0].source.splitlines()
    assert re.fullmatch(r"\([a-z0-9-]+\)=", first[0]) and first[1].startswith("# ")
    assert sum("parameters" in c.metadata.get("tags", []) for c in every) == 1
    assert f'notebook.start("{name}", globals())' in code[1].source
    assert code[-1].source.strip() == "run.stamp()"
    assert all(f"{p}=dict(" in "".join(c.source for c in code) for p in ("smoke", "quick", "paper"))
    for c in code:
        if "report.picture(" in c.source and "def picture" not in c.source:
            about = c.metadata.get("mystnb", {})
            assert about.get("figure", {}).get("caption") and about["figure"].get("name"), c.source
            assert len(about.get("image", {}).get("alt", "")) > 20, c.source


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_result_is_typed_into_the_reading(name):
    reading = False
    for c in cells(name):
        if c.cell_type == "markdown":
            reading = c.source.startswith("## Reading") or (reading and not c.source.startswith("## "))
            if reading:
                assert not re.search(r"\d\.\d", c.source), c.source


def test_every_item_has_one_page_or_is_planned():
    homes = Counter((name.split("/")[0], item) for name in NOTEBOOKS for item in declared(name))
    assert all(n == 1 for n in homes.values()), homes
    assert all(item in reference.paper(paper).items for paper, item in homes)
    ren = {item for paper, item in homes if paper == "ren"}
    assert ren == set(reference.paper("ren").items)


# ---- runs ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_smoke_runs_and_publishes_what_the_notebook_declares(smoke, name):
    done, folder = smoke
    assert done[name].returncode == 0, done[name].stdout[-3000:] + done[name].stderr[-3000:]
    found = outputs(folder, name)
    published = [o for o in found if "verdict" in o]
    assert sorted(o["item"] for o in published) == sorted(declared(name))
    stamp, = [o for o in found if o.get("kind") == "stamp"]
    for o in published:
        assert o["scale"]["substitutes"] == stamp["substitutes"]
        assert len(o["contains"] if "contains" in o else []) == len(
            reference.paper(o["paper"])[o["item"]].raw.get("must_contain", []))
    assert not list(folder.glob("results/**/*"))  # only the paper profile records


def test_stand_ins_are_named_on_every_page_that_uses_them(smoke):
    _, folder = smoke
    for name in NOTEBOOKS:
        stamp, = [o for o in outputs(folder, name) if o.get("kind") == "stamp"]
        text = ran(folder, name).read_text()
        assert ("STAND-IN, NOT" in text) == bool(stamp["substitutes"])


def test_a_script_gives_the_same_table_as_papermill_from_an_empty_cache(smoke, tmp_path):
    name = "ren/iii_borderline"
    _, folder = smoke
    told = subprocess.run([sys.executable, f"notebooks/{name}.py", "-p", "profile", "smoke"], cwd=ROOT, text=True,
                          capture_output=True, env=environment(tmp_path))
    assert told.returncode == 0, told.stderr
    row = next(o for o in outputs(folder, name) if o.get("item") == "algorithm-1")["claims"][0]["evidence"]
    assert row in told.stdout


def test_two_smoke_runs_from_empty_caches_are_equal_to_the_bit(smoke, tmp_path):
    name = "ren/iii_borderline"
    _, folder = smoke
    again = subprocess.run([sys.executable, "-m", "workflow.run", f"notebooks/{name}.ipynb", str(ran(tmp_path, name)),
                            "-p", "profile", "smoke"], cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    first, second = ([(o["item"], o.get("rows"), o.get("data")) for o in outputs(f, name) if "verdict" in o]
                     for f in (folder, tmp_path))
    assert first == second


# ---- claims ----------------------------------------------------------------------------------------------
def _changed(value, change):
    """`value` with `change` applied to every number, truth value and list within."""
    if isinstance(value, dict):
        return {k: _changed(v, change) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        inner = [_changed(v, change) for v in value]
        return inner[::-1] if change == "reverse" else inner
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, (int, float, np.number)):
        return {"negate": -value, "zero": 0 * value, "ten": 10 * value, "one": value * 0 + 1, "more": value + 1,
                "reverse": -value}[change]
    return value


def _nested(value, change):
    """`value` changed as a whole, and with only one of its parts changed, at any depth of dicts."""
    yield _changed(copy.deepcopy(value), change)
    if isinstance(value, dict):
        for key in value:
            for part in _nested(value[key], change):
                yield {**value, key: part}


CHANGES = ("negate", "zero", "ten", "one", "more", "reverse")


def mutations(measured):
    """Changed copies of a result: every number at once, and one column or key at a time."""
    if isinstance(measured, pd.DataFrame):
        for change in CHANGES:
            for column in measured.columns:
                frame = measured.copy()
                frame[column] = [_changed(v, change) for v in frame[column]]
                yield frame
                frame = measured.copy()
                frame[column] = frame[column].to_numpy()[::-1]
                yield frame
    else:
        for change in CHANGES:
            yield from _nested(measured, change)


def flips(predicate, measured, holds, printed):
    """Whether some changed result, or the paper's own table, gets the other judgement."""
    for changed in [*mutations(measured), *([records.frame(printed)] if printed else [])]:
        try:
            if bool(predicate(changed)[0]) != holds:
                return True
        except Exception:  # a mutation may make no sense; it then proves nothing
            continue
    return False


@pytest.mark.filterwarnings("ignore")  # mutated results may divide by zero; that is their business
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_judged_claim_can_flip(smoke, name, monkeypatch):
    _, folder = smoke
    for key, value in environment(folder).items():
        monkeypatch.setenv(key, value)
    seen = []

    def spy(item, measured, predicates, judge=records.judge):
        judged = judge(item, measured, predicates)
        seen.append((item, measured, predicates, judged))
        return judged

    monkeypatch.setattr(records, "judge", spy)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "-p", "profile", "smoke"])
    runpy.run_path(str(ROOT / "notebooks" / f"{name}.py"), run_name="__main__")
    for item, measured, predicates, judged in seen:
        measured = measured if measured is not None else {}
        for predicate, verdict in zip(predicates, judged):
            if verdict["holds"] is not None:
                assert flips(predicate, measured, verdict["holds"], item.rows), f"{verdict['claim']} cannot change"


def test_every_record_is_in_form():
    for item, record in records.everything():
        if record:
            assert record["paper"] == item.paper and record["item"] == item.id and record["verdict"] in records.VERDICTS
            assert record["provenance"]["profile"] == "paper" and not record["scale"]["substitutes"]
            assert "+changes" not in record["provenance"]["revision"], f"{item.title} was recorded from a dirty tree"
            assert records.fraction(record["scale"]["parts"]) == record["scale"]["fraction"]
            assert len(record["claims"]) == len(item.claims)


@pytest.mark.parametrize("extra, kept", [([], True), (["-p", "epsilon", "0.2"], False)])
def test_only_the_published_experiment_is_recorded(tmp_path, extra, kept):
    name = "sutton/4_1_one_point"
    told = subprocess.run([sys.executable, f"notebooks/{name}.py", "-p", "profile", "paper", *extra], cwd=ROOT, text=True,
                          capture_output=True, env=environment(tmp_path))
    assert told.returncode == 0, told.stderr
    assert (tmp_path / "results/sutton/theorem-1.json").exists() == kept
    assert ("is not recorded: " in told.stdout) != kept
