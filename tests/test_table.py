"""The numbers of run notebooks as data: a sweep as the page on running documents it."""
import json
import re
import subprocess

import pytest

from report.repository import ROOT
from report.tidy import MIME
from workflow import table

PAGE = (ROOT / "book/how-to-run.md").read_text().partition("## Many runs")[2]


def write_run(path, seed):
    """Write a run notebook with one result, which the seed decides, and its table."""
    row = {"item": "table-3", "row": "architecture=A", "column": "ssim", "value": 0.5 + seed, "n": 1,
           "low": None, "high": None, "published": 0.5, "source": "this run"}
    facts = {"profile": "smoke", "seed": seed, "revision": "abc", "when": "today",
             "parameters": {"seed": seed, "images": 100}}
    outputs = [{"kind": "item", "table": [row]}, {"kind": "stamp", "facts": facts}]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [{"outputs": [{"data": {MIME: output}}]} for output in outputs]}))
    table.write(path)


def test_a_sweep_becomes_one_frame_by_the_line_of_the_page(tmp_path, monkeypatch):
    folder, = set(re.findall(r"\.ipynb (\S+)/\{\}\.ipynb", PAGE))
    for seed in range(3):
        write_run(tmp_path / folder / f"{seed}.ipynb", seed)
    monkeypatch.chdir(tmp_path)
    *lines, last = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()
    names = {}
    exec("\n".join(lines), names)
    assert {(s, r, t) for s, r, t in names["sweep"][["source", "revision", "time"]].values} == {
        ("this run", "abc", "today")}
    assert names["sweep"].parameters.map(json.loads).str["images"].tolist() == [100] * 3
    assert names["sweep"].value.tolist() == [0.5, 1.5, 2.5] and names["sweep"].seed.tolist() == [0, 1, 2]
    assert eval(last, names).loc["table-3", "architecture=A", "ssim"].tolist() == [3, 1.5, 1.0]


def test_clean_keeps_a_sweep_and_git_ignores_it(tmp_path):
    for name in ("sweeps/seeds/0.csv", "_runs/runs/ren/searches/a.json", "_runs/logs/a", "_build/a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    subprocess.run(["make", "-f", ROOT / "Makefile", "clean"], cwd=tmp_path, check=True, capture_output=True)
    left = [str(p.relative_to(tmp_path)) for p in sorted(tmp_path.rglob("*")) if p.is_file()]
    assert left == ["_runs/runs/ren/searches/a.json", "sweeps/seeds/0.csv"]
    assert "/sweeps/" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize("text", ["", "{", '{"cells": []}', '{"cells": [{"outputs": []}]}'])
def test_what_is_no_run_notebook_has_no_table(tmp_path, text):
    path = tmp_path / "a.ipynb"
    path.write_text(text)
    table.write(path)
    assert list(tmp_path.iterdir()) == [path]
