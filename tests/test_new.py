"""make paper, make page: what they write is a paper and a page that run."""
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml

from report.repository import ROOT
from shared import runtime
from workflow import new

BEGIN = """import json, runpy, sys
from workflow import new, pair
new.paper("roe")
new.page("roe", "4_More", "table-1")
pair.main()
from report import claims, reference
judge, judged = claims.judge, {}
claims.judge = lambda item, *given, **more: judged.setdefault(item.id, judge(item, *given, **more))
from workflow import catalogue
sys.argv = ["x", "-p", "profile", "smoke"]
for name in catalogue.notebooks():
    runpy.run_path(f"notebooks/{name}.py", run_name="__main__")
print(json.dumps([catalogue.notebooks(), reference.SHORT["roe"], judged["table-1"]]))"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A tree with a new paper of two pages, and what was printed as they were made and run."""
    folder = tmp_path_factory.mktemp("tree")
    hidden = shutil.ignore_patterns("__pycache__", "theory", "card*")
    for part in ("shared", "report", "papers", "workflow", "book/reference"):
        shutil.copytree(ROOT / part, folder / part, ignore=hidden)
    for file in ("_toc.yml", "pyproject.toml", "book/references.bib"):
        shutil.copy(ROOT / file, folder / file)
    env = os.environ | {"PYTHONPATH": str(folder), "BOUNDARY_CACHE": str(folder / "_cache")}
    done = subprocess.run([sys.executable, "-c", BEGIN], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.slow
def test_a_new_paper_runs_and_judges_its_claim(tree):
    _, printed = tree
    names, short, (judged,) = json.loads(printed.splitlines()[-1])
    assert names == ["roe/3_accuracy", "roe/4_More"] and short == "Roe et al."
    assert "A " in judged["evidence"] and "%, B " in judged["evidence"]
    assert printed.count("**Roe et al., Table 1: Accuracy of two classifiers.**") == 2
    assert "this run, smoke" in printed


@pytest.mark.slow
def test_a_new_paper_is_in_the_contents_the_bibliography_and_the_contracts(tree):
    folder, _ = tree
    parts = yaml.safe_load((folder / "_toc.yml").read_text())["parts"]
    part, = [p for p in parts if "Roe" in p["caption"]]
    assert part["chapters"] == [{"file": "book/roe", "sections": [
        {"file": "notebooks/roe/3_accuracy"}, {"file": "notebooks/roe/4_More"}]}]
    contracts = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert [c["modules"][-1] for c in contracts if "modules" in c] == ["papers.roe"]
    assert (folder / "book/references.bib").read_text().count("@misc{roe2026,") == 1
    written = [p for p in folder.rglob("*") if "roe" in str(p.relative_to(folder)) and p.is_file()
               and "__pycache__" not in p.parts]
    assert len(written) == 9 and not [p for p in written if re.search("(?i)doe", p.read_text())]
    pages = "".join(p.read_text() for p in written if p.suffix == ".py")
    labels = re.findall(r"\((roe-[a-z0-9-]+)\)=", pages)
    assert labels == ["roe-3-accuracy", "roe-4-more"]


@pytest.mark.parametrize("command, words", [
    (lambda: new.paper("ren"), "book/reference/ren.json: there already"),
    (lambda: new.paper("Roe 2"), "KEY='Roe 2'; allowed: small letters"),
    (lambda: new.page("ren", "6_more", "table-99"), "ITEM='table-99'; needed: .* table-1,"),
    (lambda: new.page("roe", "6_more", "table-1"), "the paper has none")])
def test_what_cannot_be_begun_is_one_line_and_changes_nothing(monkeypatch, command, words):
    monkeypatch.setattr(runtime, "write_atomically", lambda *_: pytest.fail("it wrote"))
    with pytest.raises(runtime.UserError, match=words):
        command()
