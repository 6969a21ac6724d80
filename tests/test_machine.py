"""units: code hashes, and the cache of finished work."""
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from shared.units import sources, units


# ---- sources ---------------------------------------------------------------------------------------------
@pytest.fixture
def tree(tmp_path):
    package = tmp_path / "shared"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "low.py").write_text('"""Doc."""\nX = 1\n')
    (package / "high.py").write_text("from shared import low\ndef f():\n    return low.X\n")
    (package / "other.py").write_text("import numpy\n")
    (tmp_path / "page.py").write_text("import numpy\nfrom shared.high import f\n")
    return tmp_path


def test_files_follow_imports_and_nothing_else(tree):
    assert sources.files(tree / "page.py", root=tree) == ["shared/__init__.py", "shared/high.py", "shared/low.py"]


def test_the_code_hash_sees_code_and_not_comments(tree):
    def now():
        return sources.code_hash(tree / "page.py", root=tree)
    before = now()
    (tree / "shared/low.py").write_text('"""Other words."""\n# a comment\nX = 1\n')
    assert now() == before
    (tree / "shared/other.py").write_text("Y = 2\n")
    assert now() == before
    (tree / "shared/low.py").write_text("X = 2\n")
    assert now() != before


# ---- units -----------------------------------------------------------------------------------------------
CALLS = []


def double(x, log):
    with open(log, "a") as handle:
        handle.write("called\n")
    return {"twice": [2 * v for v in x], "array": np.arange(3) * len(x)}


def impure(x):
    return {"x": x, "n": CALLS}


def test_a_unit_is_computed_once_and_comes_back_equal(home):
    log = str(home / "log")
    arguments = [dict(x=[1, 2], log=log), dict(x=[3], log=log)]
    first = units.run(double, arguments, label="t")
    again = units.run(double, arguments, label="t")
    assert Path(log).read_text().count("called") == 2
    assert [r["twice"] for r in again] == [[2, 4], [6]] and again[0]["array"].tolist() == [0, 2, 4]
    assert first[0]["seconds"] == again[0]["seconds"] >= 0


def test_a_damaged_unit_is_named_and_made_again(home, capsys):
    log = str(home / "log")
    units.run(double, [dict(x=[1], log=log)], label="t")
    entry, = (home / "cache/units/t").glob("*.npz")
    for damage in (entry.read_bytes()[:40], b"", b"not a zip"):
        entry.write_bytes(damage)
        assert units.run(double, [dict(x=[1], log=log)], label="t")[0]["twice"] == [2]
        assert entry.name in capsys.readouterr().err
    assert Path(log).read_text().count("called") == 4


def _worker(log):
    units.run(slow, [dict(n=n, log=log) for n in range(6)], label="t")


def slow(n, log):
    time.sleep(0.1)
    with open(log, "a") as handle:
        handle.write(f"{n}\n")
    return {"n": n}


def test_two_processes_share_a_list_and_do_nothing_twice(home):
    log = str(home / "log")
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_worker, args=(log,)) for _ in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert [w.exitcode for w in workers] == [0, 0]
    assert sorted(Path(log).read_text().split()) == list("012345")


def test_a_killed_run_keeps_its_finished_units(home):
    log = str(home / "log")
    worker = multiprocessing.get_context("fork").Process(target=_worker, args=(log,))
    worker.start()
    deadline = time.monotonic() + 20
    while not (os.path.exists(log) and Path(log).read_text().count("\n") >= 2) and time.monotonic() < deadline:
        time.sleep(0.02)
    worker.kill()
    worker.join()
    done = Path(log).read_text().split()
    assert 2 <= len(done) < 6
    _worker(log)
    repeated = len(Path(log).read_text().split()) - 6
    assert repeated <= 1  # at most the unit that was under way


def test_a_unit_function_may_not_read_variables(home):
    with pytest.raises(TypeError, match="reads the variable 'CALLS'; pass it as an argument"):
        units.run(impure, [dict(x=1)], label="t")


def test_fingerprints_tell_contents_apart():
    net = torch.nn.Linear(2, 2)
    before = units.fingerprint(net)
    assert before == units.fingerprint(net)
    with torch.no_grad():
        net.weight[0, 0] += 1
    values = [1, 1.0, "1", None, True, [1], {"a": 1}, np.ones(2), np.ones((2, 1)), torch.ones(2, dtype=torch.uint8), net]
    prints = [units.fingerprint(v) for v in values]
    assert len(set(prints)) == len(values) and before not in prints
    with pytest.raises(TypeError, match="has no fingerprint"):
        units.fingerprint(object())


def test_a_changed_function_is_a_new_unit():
    def f(x):
        return {"y": x + 1}

    def g(x):
        return {"y": x + 2}
    assert units.code_of(f) != units.code_of(g)
