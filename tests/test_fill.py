"""What is missing, in which order to compute it, and computing it in spare hours."""
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from report import record, store
from report.experiment import Experiment, folder_of, results_of
from report.repository import ROOT
from shared import runtime
from shared.data import sets
from workflow import catalogue, compute, fill, jobs, missing


def measure(number, size):
    return {"size": size, "value": number}


def rest(number):
    return {"value": sum(r["value"] for r in results_of("ren/squares").values())}


SCALE = {"smoke": dict(size=1), "quick": dict(size=2), "paper": dict(size=100)}
squares = Experiment("ren/squares", measure, lambda s: {
    n: dict(number=i, size=s.size) for i, n in enumerate("abc")}, scale=SCALE, sizes=("size",))
later = Experiment("ren/later", rest, lambda s: {"all": dict(number=1)}, scale=SCALE, after=(squares,))


@pytest.fixture
def toy(home, monkeypatch):
    """Two experiments; nothing of them is recorded."""
    monkeypatch.setattr(catalogue, "experiments", lambda: {e.name: e for e in (squares, later)})
    monkeypatch.setattr(sets, "_profile", sets._profile)
    return folder_of("ren/squares")


# ---- single runs -----------------------------------------------------------------------------------------
def test_a_run_is_computed_alone(toy, monkeypatch):
    compute.main("ren/squares", "b", "-p", "size", "10")
    assert [p.stem for p in toy.glob("*.json")] == ["b"] and not list(toy.parent.glob("later/*"))
    assert sets._profile == "paper"     # a published run takes no sample data
    run = store.read(toy / "b.json")
    assert run.result["value"] == 1 and run.sizes == {"size": [10, 100]}
    known = missing.tasks(missing.standings())
    seconds, size = run.provenance["seconds"], (("size", 10),)      # in the size that its like has
    assert known["ren/squares"] == {n: missing.Task("ren/squares", n, seconds, size) for n in "ac"}
    assert known["ren/later"] == {"all": missing.Task("ren/later", "all", None)}
    # A graphics card says nothing of how long a processor takes.
    store.write(toy / "b.json", replace(run, provenance=run.provenance | {"device": "NVIDIA H200"}))
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    known = missing.tasks(missing.standings())
    assert known["ren/squares"] == {n: missing.Task("ren/squares", n, None, size) for n in "ac"}


def test_of_several_runs_one_that_fails_leaves_the_others(toy, monkeypatch):
    def no_b(number, size):
        if number == 1:
            raise ValueError("it broke")
        return measure(number, size)

    broken = Experiment("ren/squares", no_b, squares.plan, scale=SCALE, sizes=("size",))
    monkeypatch.setattr(catalogue, "experiments", lambda: {"ren/squares": broken})
    with pytest.raises(SystemExit, match="b: ValueError"):
        compute.main("ren/squares", "a", "b", "c", "-p", "size", "10")
    assert sorted(p.stem for p in toy.glob("*.json")) == ["a", "c"]
    kept = (toy / "a.json").read_text()
    compute.main("ren/squares", "a", "-p", "size", "5")      # a larger one stays
    assert (toy / "a.json").read_text() == kept


@pytest.mark.parametrize("words, message", [
    (("ren/circles", "a"), "experiment 'ren/circles'; allowed: ren/squares"),
    (("ren/squares", "z"), "no run 'z' in its plan; 3 of 3 are missing or out of date, such as a, b, c"),
    (("ren/squares", "b", "-p", "size"), "RUN ..."),
    (("ren/squares", "-p", "size", "1"), "no run is named; 3 of 3 are missing"),
    (("ren/squares", "b", "-p", "size", "x"), "RUN ..."),
    (("ren/squares", "b", "-p", "size", "1000"), "size size = 1000; allowed: size from 1 to 100"),
    (("ren/squares", "b", "-p", "number", "1"), "size number = 1; allowed")])
def test_what_is_no_published_run_is_refused(toy, words, message):
    with pytest.raises(runtime.UserError, match=message):
        compute.main(*words)


# ---- in which order --------------------------------------------------------------------------------------
def task(run, seconds=3600.0, experiment="x/a"):
    return missing.Task(experiment, run, seconds)


def test_what_can_decide_comes_first_then_what_completes_most_an_hour():
    a, b, c, d, e = (task(n) for n in "abcde")
    lacking = [missing.Incomplete("ren", i, frozenset(some), deciding) for i, some, deciding in [
        ("table-1", {a, b, c}, True), ("table-2", {a, b, c}, True), ("table-3", {d, e}, True),
        ("figure-1", {a, b}, False), ("figure-2", {task("f", 1.0)}, False),
        ("figure-3", {task("g", None)}, False)]]
    steps = [([i.id for i in done], {t.run for t in some}) for done, some in missing.steps(lacking)]
    assert steps == [(["table-1", "table-2", "figure-1"], set("abc")), (["table-3"], set("de")),
                     (["figure-2"], {"f"}), (["figure-3"], {"g"})]
    known = {"x/a": {t.run: t for t in (a, b, c, d, e, task("z"))},
             "x/b": {"y": task("y", experiment="x/b")}}
    order = fill.queue(known, lacking, "")
    assert "".join(t.run for t in order) == "abcdezy"
    assert "".join(t.run for t in fill.queue(known, lacking, "x/b")) == "yabcdez"


def test_items_lack_their_runs_and_those_that_these_come_after(toy):
    compute.main("ren/squares", "b", "-p", "size", "10")
    own = missing.standings()["ren/squares"]
    names = record.rests_on([own], {own.name: own.recorded})
    assert names == {"runs": ["ren/squares/b"], "absent": ["ren/squares/a", "ren/squares/c"]}
    for name, verdict, absent in [
            ("table-1", "undecided", [*names["absent"], *names["runs"], "ren/gone/x", "ren/squares/gone"]),
            ("table-2", "confirmed", ["ren/later/all"]), ("table-3", "undecided", names["runs"])]:
        record.write({"paper": "ren", "item": name, "verdict": verdict, "claims": [], "absent": absent})
    lacking = {i.id: ({t.run for t in i.tasks}, i.deciding)
               for i in missing.items(missing.tasks(missing.standings()))}
    assert lacking == {"table-1": ({"a", "c"}, True), "table-2": ({"all", "a", "c"}, False)}


def test_short_runs_of_an_experiment_share_a_start():
    tasks = [task("a", 300.0), task("b", 200.0), task("c", 200.0), task("long", 9e3), task("d", 1.0),
             task("e", 1.0, "x/b"), task("f", None, "x/b"), task("g", None, "x/b")]
    several = ["".join(t.run for t in job) for job in fill.in_jobs(tasks)]
    assert several == ["ab", "c", "long", "d", "e", "f", "g"]


@pytest.fixture
def chain(toy, monkeypatch):
    """`later`, whose run rests on all of `squares`: `chain(squares=version)`, the tasks and their inputs."""
    def of(**versions):
        first = replace(squares, version=versions.get("squares", 1))
        known = {e.name: e for e in (first, replace(later, after=(first,), version=versions.get("later", 1)))}
        monkeypatch.setattr(catalogue, "experiments", lambda: known)
        standing = missing.standings()
        tasks = missing.tasks(standing)
        return tasks, missing.inputs(standing, tasks)

    return of


def names(several):
    return [f"{t.experiment}/{t.run}" for job in several for t in job]


def test_a_run_is_not_started_before_its_inputs_nor_without_them(chain, capsys):
    tasks, inputs = chain()     # of what it could read nothing is recorded
    assert inputs[tasks["ren/later"]["all"]] == set(tasks["ren/squares"].values())
    for run in "abc":
        compute.main("ren/squares", run)
    compute.main("ren/later", "all")
    tasks, inputs = chain()
    assert not any(tasks.values()) and not inputs
    tasks, inputs = chain(squares=2)    # raised, and not computed again
    order = fill.queue(tasks, [], "ren/later", inputs)
    assert names([order]) == ["ren/squares/a", "ren/squares/b", "ren/squares/c", "ren/later/all"]
    several = [[replace(t, seconds=10.0)] for t in order]
    inputs = {replace(t, seconds=10.0): {replace(o, seconds=10.0) for o in some}
              for t, some in inputs.items()}
    assert names(fill.fitting(several, 60, 1, inputs)[0]) == names(several)
    late = [[replace(several[0][0], seconds=99.0)], *several[1:]]
    inputs[several[3][0]] = {job[0] for job in late[:3]}
    assert names(fill.fitting(late, 60, 1, inputs)[0]) == ["ren/squares/b", "ren/squares/c"]
    with pytest.raises(SystemExit, match="all: "):
        compute.main("ren/later", "all")
    assert "its input ren/squares/a is out of date (version changed)" in capsys.readouterr().err


def test_a_run_on_which_only_another_experiment_of_the_same_function_has_times_takes_these(toy, monkeypatch):
    again = replace(squares, name="ren/again")
    monkeypatch.setattr(catalogue, "experiments", lambda: {e.name: e for e in (squares, again)})
    compute.main("ren/squares", "b", "-p", "size", "10")
    tasks = missing.tasks(missing.standings())
    known = tasks["ren/squares"]["a"]
    assert tasks["ren/again"]["c"] == missing.Task("ren/again", "c", known.seconds, known.sizes)


def test_data_are_asked_for_before_anything_is_computed(home, monkeypatch):
    monkeypatch.setattr(sets.archives, "read", lambda spec, **_: (_ for _ in ()).throw(
        sets.Missing(f"{spec.name} is not here; put it there")))
    standing = {"chen/natural": missing.experiments.recorded(chen := catalogue.experiments()["chen/natural"],
                                                             chen.planned()[0])}
    run = next(n for n, a in standing["chen/natural"].published.items() if a["dataset"] == "mnist")
    with pytest.raises(runtime.UserError, match="mnist is not here") as error:
        fill.ask_for_data([missing.Task("chen/natural", run, 1.0)], standing)
    assert "\n" not in str(error.value)


def test_only_what_fits_is_started_and_the_unknown_last():
    long, short, other, unknown = (task(run, seconds) for run, seconds in (
        ("long", 90.0), ("short", 10.0), ("other", 55.0), ("unknown", None)))

    def fit(*tasks, seconds=60, cores=1):
        return ["".join(t.run for job in some for t in job)
                for some in fill.fitting([[t] for t in tasks], seconds, cores, {})]

    assert fit(long, unknown, short) == ["short", "unknown"]
    assert fit(short, other) == ["short", ""] and fit(short, other, cores=2) == ["shortother", ""]
    assert fit(long) == ["", ""] and fit(unknown) == ["", "unknown"]
    lines = list(fill.ahead([short, unknown], {short}, {unknown}, [], 1, 1))
    assert lines[0] == "2 runs are missing, about 0.0 h on one core and 1 of unknown length"
    assert lines[1].startswith("1 of them fit") and lines[3] == (
        "then, of unknown length, as far as time is left: 1 run of x/a")


# ---- knobs and the worktree ------------------------------------------------------------------------------
@pytest.mark.parametrize("words, message", [
    (("", "1"), "HOURS=''; allowed: a number above 0"), (("0", "1"), "HOURS='0'"),
    (("inf", "1"), "HOURS='inf'"), (("nan", "1"), "HOURS='nan'"),
    (("1", "0"), "JOBS='0'; allowed: a whole number from 1"),
    (("1", "1", "ren"), "FIRST='ren'; allowed: .*chen/natural")])
def test_a_wrong_knob_is_refused_in_one_line(words, message):
    with pytest.raises(runtime.UserError, match=message) as error:
        fill.knobs(*words)
    assert "\n" not in str(error.value)
    assert fill.knobs("0.5", "2", "chen/natural", "-n") == (0.5, 2, "chen/natural", ("-n",))


def git(folder, *words):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.hooksPath=/dev/null")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_the_worktree_is_what_is_committed_at_each_start(tmp_path, monkeypatch):
    for module in (fill, fill.git):
        monkeypatch.setattr(module, "ROOT", tmp_path)
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
    with open(tmp_path / "_runs/.fill.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("123\n")
        lock.flush()
        with pytest.raises(runtime.UserError, match="another `make fill` is at work .*process 123;"):
            fill.move(())


# ---- computing -------------------------------------------------------------------------------------------
RUNS = """
import pathlib, sys, time
run = sys.argv[2]
if run[0] == "f":
    raise SystemExit("it broke\\nThe notebook as far as it got: x")
if run[0] == "s":
    try:
        pathlib.Path("begun").touch()
        time.sleep(600)
    except KeyboardInterrupt:
        pathlib.Path("ended").touch()
        raise SystemExit("compute.py: stopped; the same command goes on where it was")
pathlib.Path("order").open("a").write(" ".join(sys.argv[2:]) + "\\n")
"""


@pytest.fixture
def place(toy, tmp_path, monkeypatch):
    """A folder with this project's workflow, but runs that note their names, fail or sleep, as these say."""
    shutil.copytree(ROOT / "workflow", tmp_path / "workflow")
    (tmp_path / "workflow/compute.py").write_text(RUNS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    monkeypatch.setattr(jobs, "give_way", lambda: None)
    return tmp_path


def test_the_list_says_what_jobs_take_and_which_come_first(toy):
    several = [[missing.Task("ren/squares", n, 3600.0, (("size", 10),)) for n in "ab"],
               [task("all", None, "ren/later")]]
    assert fill.listed(several, 36_000) == {
        "ren/squares/a+1": {"words": ["ren/squares", "a", "b", "-p", "size", "10"], "after": [],
                            "priority": 2, "mem_mb": 4000, "gpu": 0, "minutes": 300},
        "ren/later/all": {"words": ["ren/later", "all"], "after": ["ren/squares/a+1"], "priority": 1,
                          "mem_mb": 4000, "gpu": 0, "minutes": 1260}}


@pytest.mark.slow
def test_jobs_are_computed_and_a_line_says_how_each_ended(place, capfd):
    tasks = [task("c", 1.0, "ren/squares"), task("a", 2.0, "ren/squares"), task("all", 9.0, "ren/later"),
             missing.Task("ren/squares", "b", 3.0, (("size", 10),)), task("f", None, "ren/squares")]
    assert fill.compute(fill.in_jobs(tasks), 600, 1)
    assert (place / "order").read_text().splitlines() == ["c a", "b -p size 10"]
    lines = [" ".join(line.split()) for line in capfd.readouterr().out.splitlines()]
    # The run that fails may end before the last one; what rests on it is not computed.
    failed = next(i for i, line in enumerate(lines) if line.startswith("ren/squares/f "))
    assert "FAILED" in lines[failed] and lines[failed + 1] == "it broke"
    assert lines[failed + 2] == f"log: {place / '_runs/fill/ren/squares/f.log'}"
    assert [re.sub(r"\d\.\d", "n", line) for line in lines[:2]] == [
        "4 to run", "ren/squares/c+1 n min; 3 left"] and len(lines) == 6


@pytest.mark.slow
@pytest.mark.parametrize("end", ["time", "Ctrl-C"])
def test_jobs_end_when_the_time_is_up_or_at_ctrl_c(place, monkeypatch, capfd, end):
    ends = subprocess.TimeoutExpired("snakemake", 600) if end == "time" else KeyboardInterrupt()
    waits = subprocess.Popen.wait

    def until_a_run_is_there(child, timeout=None):
        while timeout == 600 and not Path("begun").exists() and child.poll() is None:
            time.sleep(0.05)
        if timeout == 600:
            raise ends
        return waits(child, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", until_a_run_is_there)
    with pytest.raises(KeyboardInterrupt) if end == "Ctrl-C" else contextlib.nullcontext():
        assert fill.compute([[task("s", None, "ren/squares")]], 600, 1) == 0
    output = capfd.readouterr().out
    assert ("the time is up" in output) == (end == "time")
    assert re.search(r"ren/squares/s +\d\.\d min, stopped; nothing left", output) and "FAILED" not in output
    assert (place / "ended").exists()


@pytest.mark.slow
def test_jobs_end_when_what_started_them_is_killed(place):
    """Nobody is there to stop them then."""
    code = ("from workflow import fill, jobs, missing\n"
            "jobs.give_way = lambda: None\n"
            "fill.listed = lambda *_: {'ren/squares/s': {'words': ['ren/squares', 's'], 'after': [], "
            "'priority': 1, 'mem_mb': 1, 'gpu': 0, 'minutes': 60}}\n"
            "fill.compute([], 600, 1)")
    started = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)

    def comes(name):
        end = time.monotonic() + 60
        while not Path(name).exists() and time.monotonic() < end:
            time.sleep(0.05)
        return Path(name).exists()

    assert comes("begun")
    started.kill()
    started.wait()
    assert comes("ended")


def test_a_workflow_gives_way_to_other_sessions_too():
    code = "from workflow import jobs; jobs.give_way(); print(open('/proc/self/autogroup').read())"
    done = subprocess.run([sys.executable, "-c", f"import os; os.setsid(); {code}"], capture_output=True,
                          text=True, cwd=ROOT)
    assert done.returncode == 0 and done.stdout.strip().endswith("nice 10") or "No such file" in done.stderr
