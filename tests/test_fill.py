"""What is missing, in which order to compute it, and computing it in spare hours."""
import json
import signal
import subprocess
import sys
import time

import pytest

from shared import runtime
from shared.pages import parameters, start
from shared.units import handed, provenance, run, store
from workflow import catalogue, fill, imports, missing, needs, planned

TOY = '''
# %% tags=["parameters"]
profile: str = "paper"  # scale
seed: int = 0  # of the draws
device: str = "cpu"  # where
units: str = "missing"  # which units
size: int | None = None  # how many [1..]

# %%
from shared.pages.start import start
from shared.units import handed

run = start("ren/toy", globals())
scale = run.scale(smoke=dict(size=1), quick=dict(size=2), paper=dict(size=100))


def measure(number, size):
    return {"size": size, "value": number}


def rest(number):
    return {"value": len(handed.take("squares"))}


squares = run.units("squares", measure, lambda s: {
    n: dict(number=i, size=s.size) for i, n in enumerate("abc")}, parts=("size",))
handed.give("squares", squares.mine)
later = run.units("later", rest, lambda s: {"all": dict(number=1)})
run.table("table-1", squares, lambda units: 1 / 0)
run.extra("own", later, lambda units: 1 / 0, "Never made.")
run.stamp()
'''


@pytest.fixture
def toy(home, monkeypatch):
    """A notebook of two sets; nothing of it is recorded."""
    path = home / "toy.py"
    path.write_text(TOY)
    monkeypatch.setattr(parameters, "text_half", lambda name: path)
    monkeypatch.setattr(missing.record, "read", lambda paper, item: {"item": item})
    for what, name in ((start, "Run"), (handed, "give"), (sys, "argv"), (planned.Planned, "wanted"),
                       (planned.Planned, "handed")):
        monkeypatch.setattr(what, name, getattr(what, name))
    planned.Planned.handed = []
    return run.folder_of("ren/toy", "squares")


def told(capsys):
    planned.Planned.wanted = None
    planned.main("facts", "ren/toy")
    return json.loads(capsys.readouterr().out)


# ---- a notebook without its page -------------------------------------------------------------------------
def test_a_unit_is_computed_alone_and_without_the_page(toy, capsys):
    with pytest.raises(SystemExit):
        planned.main("unit", "ren/toy", "squares/b", "-p", "size", "10")
    assert [p.stem for p in toy.glob("*.json")] == ["b"] and not list(toy.parent.glob("later/*"))
    unit = store.read(toy / "b.json")
    assert unit.result["value"] == 1 and unit.parts == {"size": [10, 100]}
    first, second = told(capsys)["sets"]
    assert (first["recorded"], first["smaller"], first["stale"]) == (1, 1, {})
    assert first["torch"] == {provenance.versions()["torch"]: 1}
    seconds = unit.provenance["seconds"]
    assert first["absent"] == {n: [seconds, {"size": 10}] for n in "ac"}     # in the size that its like has
    assert second["absent"] == {"all": [None, {}]} and second["after"] == ["squares"]


def test_the_facts_say_on_which_absent_units_an_item_rests(toy, capsys):
    assert told(capsys)["rests"] == {"table-1": {"squares": ["a", "b", "c"]}, "extra-own": {"later": ["all"]}}


@pytest.mark.parametrize("unit, said", [("circles/a", "no set of units 'circles'"),
                                        ("squares/b", "no published unit")])
def test_what_is_no_published_unit_is_refused(toy, unit, said):
    with pytest.raises(runtime.UserError, match=said):
        planned.main("unit", "ren/toy", unit, "-p", "size", "1000")


# ---- only what has changed is asked ----------------------------------------------------------------------
@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Two notebooks, of which `x/b` needs the units of `x/a`, and a package."""
    files = {"shared/used.py": "", "shared/ran.py": "def f(): pass", "shared/other.py": "",
             "workflow/planned.py": "",
             "notebooks/x/a.py": "import shared.used\nrun.units(", "notebooks/x/b.py": "run.units(",
             "results/units/x/a/s/u.json": '{"code": {"shared/ran.py:f": "1"}}',
             "results/units/x/a/s/u-0123456789ab.npz": "1"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace("run.units(", "run.units('s')"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOUNDARY_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("BOUNDARY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(missing, "ROOT", tmp_path)
    monkeypatch.setattr(missing.identity, "ROOT", tmp_path)
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path / "notebooks")
    monkeypatch.setattr(catalogue, "notebooks", lambda: ["x/a", "x/b"])
    monkeypatch.setattr(catalogue, "needs", lambda name: ["x/a"] if name == "x/b" else [])
    monkeypatch.setattr(needs, "inputs", lambda name: imports.files(
        tmp_path / f"notebooks/{name}.py", root=tmp_path))
    asked = []
    monkeypatch.setattr(missing, "asked", lambda names: [asked.append(n) or {"of": n} for n in names])
    assert missing.facts() == {"x/a": {"of": "x/a"}, "x/b": {"of": "x/b"}} and sorted(asked) == ["x/a", "x/b"]
    asked.clear()
    return tmp_path, asked


@pytest.mark.parametrize("file, again", [
    (None, []), ("shared/other.py", []), ("results/paper/x/table-1.json", []),
    ("notebooks/x/a.py", ["x/a"]), ("shared/used.py", ["x/a"]),
    ("shared/ran.py", ["x/a", "x/b"]),      # a unit says that `f` of it ran
    ("results/units/x/a/s/u.json", ["x/a", "x/b"]),
    ("results/units/x/a/s/u-0123456789ab.npz", ["x/a", "x/b"]),
    ("results/units/x/a/s/v.json", ["x/a", "x/b"]), ("results/units/x/b/s/u.json", ["x/b"])])
def test_only_notebooks_that_a_change_reaches_are_asked(tree, file, again):
    folder, asked = tree
    if file:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        with open(folder / file, "a") as each:
            each.write("\ndef f(): return 'changed'")
    found = missing.facts()
    assert sorted(asked) == again and found == {"x/a": {"of": "x/a"}, "x/b": {"of": "x/b"}}
    asked.clear()
    missing.facts()
    assert not asked


def test_a_gone_unit_and_a_damaged_file_of_the_cache_are_seen(tree):
    folder, asked = tree
    (folder / "cache/planned/x-b.json").write_text("{")
    missing.facts()
    assert asked == ["x/b"]
    (folder / "results/units/x/a/s/u.json").unlink()
    missing.facts()
    assert sorted(asked) == ["x/a", "x/b", "x/b"]


# ---- in which order --------------------------------------------------------------------------------------
def task(unit, seconds=3600.0, name="x/a", units="s"):
    return missing.Task(name, units, unit, seconds)


def test_what_can_decide_comes_first_then_what_completes_most_an_hour():
    a, b, c, d, e = (task(n) for n in "abcde")
    lacking = [missing.Item("ren", i, frozenset(some), deciding) for i, some, deciding in [
        ("table-1", {a, b, c}, True), ("table-2", {a, b, c}, True), ("table-3", {d, e}, True),
        ("figure-1", {a, b}, False), ("figure-2", {task("f", 1.0)}, False),
        ("figure-3", {task("g", None)}, False)]]
    found = [([i.id for i in done], {t.unit for t in some}) for done, some in missing.steps(lacking)]
    assert found == [(["table-1", "table-2", "figure-1"], set("abc")), (["table-3"], set("de")),
                     (["figure-2"], {"f"}), (["figure-3"], {"g"})]
    known = {("x/a", "s"): {t.unit: t for t in (a, b, c, d, e, task("z"))}, ("x/b", "s"):
             {"y": task("y", name="x/b")}}
    order = fill.queue(known, lacking, "")
    assert "".join(t.unit for t in order) == "abcdezy"
    assert "".join(t.unit for t in fill.queue(known, lacking, "x/b")) == "yabcdez"


def test_items_lack_their_units_those_given_to_them_and_borrowed_ones(monkeypatch):
    monkeypatch.setattr(catalogue, "needs", lambda name: ["x/a"] if name == "ren/b" else [])
    monkeypatch.setattr(missing.record, "read", lambda paper, item: {"verdict": "in part", "claims": []}
                        if item == "table-1" else {"verdict": "trend", "claims": []})
    sets = [{"set": "s", "after": [], "absent": {"u": [2.0, {"size": 10}], "v": [None, {}]}},
            {"set": "later", "after": ["s"], "absent": {"w": [1.0, {}]}}]
    told_ = {"x/a": {"sets": sets, "rests": {"table-9": {"later": ["w"]}, "table-8": {"s": []}}},
             "ren/b": {"sets": [], "rests": {"table-1": {"lent": ["u", "unknown"]}}}}
    known = missing.tasks(told_)
    found = {i.id: ({t.unit for t in i.tasks}, i.deciding) for i in missing.items(told_, known)}
    assert found == {"table-9": ({"u", "v", "w"}, False), "table-1": ({"u"}, True)}
    assert known["x/a", "s"]["u"].parameters == (("size", 10),)


def test_only_what_fits_is_started_and_the_unknown_last():
    long, short, unknown = task("long", 90.0), task("short", 10.0), task("unknown", None)
    assert fill.next_task([long, unknown, short], 60) is short
    assert fill.next_task([long, unknown], 60) is unknown
    assert fill.next_task([long], 60) is None and fill.next_task([unknown], 0) is None


# ---- knobs and the worktree ------------------------------------------------------------------------------
@pytest.mark.parametrize("words, said", [
    (("", "1"), "HOURS=''; allowed: a number above 0"), (("0", "1"), "HOURS='0'"),
    (("inf", "1"), "HOURS='inf'"), (("nan", "1"), "HOURS='nan'"),
    (("1", "0"), "JOBS='0'; allowed: a whole number from 1"),
    (("1", "1", "ren"), "FIRST='ren'; allowed: .*ren/ii_networks"),
    (("1", "1", "sutton/4_1_one_point"), "FIRST='sutton/4_1_one_point'; allowed")])
def test_a_wrong_knob_is_refused_in_one_line(words, said):
    with pytest.raises(runtime.UserError, match=said) as error:
        fill.knobs(*words)
    assert "\n" not in str(error.value)
    assert fill.knobs("0.5", "2", "ren/ii_networks") == (0.5, 2, "ren/ii_networks")


def git(folder, *words):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.hooksPath=/dev/null")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_the_worktree_is_what_is_committed_at_each_start(tmp_path, monkeypatch):
    monkeypatch.setattr(fill, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(runtime.UserError, match="no git checkout"):
        fill.worktree()
    git(tmp_path, "init", "-q")
    with pytest.raises(runtime.UserError, match="no git checkout with a commit"):
        fill.worktree()
    file = tmp_path / "file"
    for text in ("1", "2"):
        file.write_text(text)
        git(tmp_path, "add", "file")
        git(tmp_path, "commit", "-qm", text)
        file.write_text("edited")
        tree = fill.worktree()
        assert (tree / "file").read_text() == text and file.read_text() == "edited"
        (tree / "file").write_text("left behind")
        (tree / "more").write_text("left behind")
    assert [p.name for p in fill.worktree().iterdir()] in (["file", ".git"], [".git", "file"])
    (tree / ".git").unlink()    # half-made
    assert (fill.worktree() / "file").read_text() == "2"


def test_a_second_one_in_the_same_tree_refuses(tmp_path, monkeypatch):
    monkeypatch.setattr(fill, "ROOT", tmp_path)
    (tmp_path / "_runs").mkdir()
    holder = subprocess.Popen(["flock", str(tmp_path / "_runs/.fill.lock"), "sleep", "60"])
    try:
        while subprocess.run(["flock", "-n", str(tmp_path / "_runs/.fill.lock"), "true"]).returncode == 0:
            time.sleep(0.05)
        with pytest.raises(runtime.UserError, match="another `make fill` is at work"):
            fill.move(())
    finally:
        subprocess.run(["pkill", "-P", str(holder.pid)])
        holder.kill()
        holder.wait()


# ---- computing -------------------------------------------------------------------------------------------
@pytest.fixture
def children(home, monkeypatch):
    """Children that write their unit, fail or sleep, as its name says: those that were started."""
    started = []

    def child(what, name, wanted, *words, **how):
        units, unit = wanted.split("/")
        path = run.folder_of(name, units) / f"{unit}.json"
        code = {"f": "raise SystemExit('it broke')", "s": "import time; time.sleep(60)"}.get(
            unit[0], f"import pathlib; p = pathlib.Path({str(path)!r}); "
                     "p.parent.mkdir(parents=True, exist_ok=True); p.write_text('')")
        started.append((unit, subprocess.Popen([sys.executable, "-c", code], **how)))
        return started[-1][1]

    monkeypatch.setattr(missing, "planned", child)
    monkeypatch.setattr(fill, "LOGS", home / "logs")
    monkeypatch.setattr(fill, "PAUSE", 0.02)
    return started


def test_a_line_a_unit_says_what_it_completes_and_what_is_left(children):
    a, b, bad = task("a", 1.0), task("b", 1.0), task("f", 1.0)
    there = task("there", 1.0)
    there.path.parent.mkdir(parents=True)
    there.path.write_text("")
    lacking = [missing.Item("ren", "table-1", frozenset({a, b}), True)]
    lines = []
    fill.compute([there, a, bad, b, task("long")], lacking, 60, 1, say=lambda line, **_: lines.append(line))
    assert [unit for unit, _ in children] == ["a", "f", "b"]
    assert lines[0].startswith("x/a s/a  0.0 min; completes nothing alone; 3 units left, about 1.0 h")
    assert "x/a s/f  0.0 min; FAILED: it broke; log: " in lines[1]
    assert "completes Ren et al., Table I; 2 units left, about 1.0 h" in lines[2]
    assert lines[3].startswith("nothing fits into what is left of the time: the shortest unit, x/a s/long")


def test_a_unit_over_its_time_is_stopped_and_others_run_beside_it(children):
    lines = []
    fill.compute([task("s1", 0.1), task("s2", None), task("a", 0.1)], [], 3, 3,
                 say=lambda line, **_: lines.append(line))
    assert [unit for unit, _ in children] == ["s1", "a", "s2"]
    assert sum("stopped at the end of the time" in line for line in lines) == 2
    assert [c.returncode for unit, c in children if unit[0] == "s"] == [-signal.SIGTERM] * 2


def test_children_end_with_their_parent_however_it_ends(children, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        fill.compute([task("s1"), task("s2")], [], 1e5, 2)
    assert [c.returncode for _, c in children] == [-signal.SIGTERM] * 2
    monkeypatch.undo()
    code = ("import subprocess, sys, time\nfrom workflow import fill\n"
            "c = subprocess.Popen(['sleep', '60'], preexec_fn=fill.low)\nprint(c.pid, flush=True)\n"
            "time.sleep(60)")
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 20
    while runtime._alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not runtime._alive(pid)
