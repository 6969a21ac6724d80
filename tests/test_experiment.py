"""Experiments and their runs: plans, sizes, what is kept and replaced, what is out of date, damage."""
import errno
import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from papers.scales import scales
from report import code, git, inputs, same, store, zoo
from report import experiment as experiments
from report import record as records
from report.experiment import Experiment, Results
from report.page import Page
from shared import runtime
from shared.data import sets
from shared.training import fit
from workflow import missing

COUNT = []


def test_a_setting_has_a_value_for_each_scale_or_one_for_all():
    assert scales(images=[1, 2, None], kinds=("a", "b")) == {
        "smoke": {"images": 1, "kinds": ("a", "b")}, "quick": {"images": 2, "kinds": ("a", "b")},
        "paper": {"images": None, "kinds": ("a", "b")}}


def measure(x, *, images=10, scale=1.0):
    """A toy: its result follows from its arguments."""
    COUNT.append(x)
    return {"value": scale * x / 3, "images": min(images, 8), "nan": float("nan"),
            "curves": {"all": [{"points": torch.arange(3) * x}]}}


def plan(settings):
    return {f"u{x}": dict(x=x, images=settings.images, scale=settings.scale) for x in range(settings.count)}


FULL = dict(count=4, images=8, scale=1.0)
TOY = Experiment("toy/runs", measure, plan, scale={"paper": FULL}, sizes=("images",))


REVISION = git.revision


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDARY_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("BOUNDARY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(experiments, "ROOT", tmp_path)
    monkeypatch.setattr(git, "revision", lambda: "a revision")      # asked for each run that is kept
    COUNT.clear()
    return tmp_path


@pytest.fixture
def interrupted(home):
    """The toy with a single run, which saves a checkpoint a step and is killed in its second one.

    Its result is the list of the steps that it took, from the first run's on.
    """
    steps = []

    def slow(x, images, scale):
        state = inputs.checkpoint("state")
        tensors, facts = state.load() or ({"sum": torch.zeros(())}, {"done": 0})
        for step in range(facts["done"], 3):
            steps.append(step)
            tensors = {"sum": tensors["sum"] + step}
            state.save(tensors, {"done": step + 1})
            if steps == [0, 1]:
                raise KeyboardInterrupt
        return {"images": images, "value": float(tensors["sum"]), "steps": list(steps)}

    single = replace(TOY, function=slow, scale={"paper": FULL | {"count": 1}})
    with pytest.raises(KeyboardInterrupt):
        gather(experiment=single, count=1)
    return single


def gather(which="missing", record=True, experiment=TOY, *, function=None, **settings):
    """The results of the toy, for the published settings but for those that are given."""
    return experiments.gather(experiment, SimpleNamespace(**FULL | settings), which=which, record=record,
                              function=function)


def compute(run, experiment=TOY):
    """Compute and record one published run."""
    arguments = experiment.planned()[0][run]
    return experiments.keep(experiment, run, arguments, arguments)


def fraction(results):
    return records.scale([results], {results.name: results.recorded})["fraction"]


def path(home, name="u1"):
    return home / f"results/runs/toy/runs/{name}.json"


# ---- kept, read, planned ----------------------------------------------------------------------------------
def test_a_run_is_kept_with_arguments_sizes_arrays_version_and_provenance(home):
    run = gather().recorded["u2"]
    again = store.read(path(home, "u2"))
    assert again.result["value"] == 2 / 3 and again.result["nan"] is None
    assert again.sizes == {"images": [8, 8]} and again.arguments == {"x": 2, "images": 8, "scale": 1.0}
    assert again.result["curves"]["all"][0]["points"].tolist() == [0, 2, 4]
    assert again.provenance == run.provenance and (again.version, again.inputs) == (1, {})
    assert {"device", "threads", "versions", "revision", "seconds"} <= set(again.provenance)
    gather()
    assert COUNT == [0, 1, 2, 3]  # nothing is computed twice


def test_sizes_are_recorded_as_they_were_not_as_they_were_asked(home):
    larger = replace(TOY, scale={"paper": FULL | {"images": 20}})
    results = gather(experiment=larger, images=20)
    assert results.recorded["u0"].sizes == {"images": [8, 20]}
    assert fraction(results) == pytest.approx(8 / 20)


@pytest.mark.parametrize("run, arguments, message", [
    ("1a", {}, "begin"), ("a b", {}, "letters"), ("a", {"images": 0}, "from 1"),
    ("a", {"images": True}, "from 1"),
    ("a", {"x": torch.ones(2)}, "a.x is a Tensor of torch.float32; numbers, text")])
def test_a_plan_out_of_form_is_refused_before_anything_is_computed(home, run, arguments, message):
    with pytest.raises(runtime.UserError, match=message):
        gather(experiment=replace(TOY, plan=lambda _: {run: {"x": 1, "images": 3} | arguments}))
    assert COUNT == []


# ---- what is recorded, what is not ------------------------------------------------------------------------
def test_only_the_published_arguments_are_recorded_and_small_runs_are_kept_nowhere(home):
    results = gather(scale=2.0)
    assert not results.recorded and len(results.own) == 4 and not (home / "results").exists()
    gather(scale=2.0)
    assert len(COUNT) == 4 and len(list((home / "_runs").rglob("u*.json"))) == 4    # kept apart
    for _ in range(2):
        assert len(gather(record=False).own) == 4
    assert len(COUNT) == 12 and not (home / "results").exists()


def test_a_run_on_a_file_of_the_user_is_computed_again_when_the_file_is_another(home):
    def mean(x, images, scale):
        COUNT.append(x)
        return {"images": images, "mean": float(sets.load(home / "leaves.npz").x_test.float().mean())}

    for grey in (0, 90, 90):
        np.savez(home / "leaves.npz", x=np.full((2, 4, 4), grey, np.uint8), y=[0, 1])
        results = gather(experiment=replace(TOY, function=mean), scale=2.0)
        assert {run.result["mean"] for run in results.own.values()} == {grey}
    assert len(COUNT) == 8      # the second time with 90 they are taken from `_runs`


def test_a_larger_size_up_to_the_published_one_replaces_a_smaller_one_and_never_the_reverse(home):
    assert fraction(gather(images=2)) == 0.25
    assert fraction(gather()) == 1 and len(COUNT) == 8
    before = path(home).read_text()
    assert fraction(gather(images=2)) == 1
    assert gather(images=9).own["u1"].arguments["images"] == 9 and path(home).read_text() == before


def test_a_run_out_of_date_is_computed_no_larger_than_is_published_now(home):
    gather()
    smaller = replace(TOY, version=2, scale={"paper": FULL | {"images": 4}})
    assert fraction(gather(experiment=smaller, images=2)) == 1
    assert store.read(path(home)).sizes == {"images": [4, 4]}


def test_an_own_function_is_shown_beside_what_is_recorded_and_changes_nothing(home):
    gather()
    before = path(home).read_text()
    results = gather(function=lambda x, images, scale: {"value": -1.0, "images": 1})
    assert results.yours and results.own["u1"].result["value"] == -1
    assert results.recorded["u1"].result["value"] == 1 / 3 and path(home).read_text() == before


@pytest.mark.parametrize("result, message", [
    (3.0, "returned a float; a dict"), ({"value": 1}, "must return how many 'images' it took"),
    ({"images": 99}, "not 99"), ({"images": 1, "model": {"a": print}}, "model.a is a builtin_function"),
    ({"images": 1, "names": np.array(["a"])}, "names is a ndarray of <U1; .* arrays of numbers"),
    ({"images": 1, "x": torch.ones(1).bfloat16()}, "x is a Tensor of torch.bfloat16; ")])
def test_a_function_that_returns_something_else_is_refused_by_its_name(home, result, message):
    def another(x, images, scale):
        return result

    for function, experiment in ((another, TOY), (None, replace(TOY, function=another))):
        with pytest.raises(runtime.UserError, match=f"toy/runs: another.*{message}") as error:
            gather(function=function, experiment=experiment)
        assert "\n" not in str(error.value) and not list(home.rglob("*.json"))


def test_what_rests_on_an_own_function_is_recorded_nowhere(home):
    rests = Experiment("toy/after", lambda images: {"sum": len(experiments.results_of("toy/runs"))},
                       lambda s: {"all": {"images": 3}}, scale={"paper": FULL}, after=(TOY,))
    gather(function=lambda x, images, scale: {"images": 1})
    results = gather(experiment=rests)
    assert results.yours and results.own["all"].result == {"sum": 4} and not list(home.rglob("*.json"))
    gather()
    assert gather(experiment=rests).recorded["all"].result == {"sum": 4}


def test_small_runs_and_own_functions_keep_no_state(home):
    """So that an edit counts the next time."""
    def save(x, images, scale):
        state = inputs.checkpoint("state")
        assert state.load() is None
        state.save({"x": torch.ones(1)}, {})
        return {"images": images}

    for _ in range(2):
        gather(record=False, experiment=replace(TOY, function=save))
        gather(function=save)
    assert not list(home.rglob("*.safetensors"))


def test_recorded_runs_most_like_a_missing_one_have_most_arguments_in_common(home):
    """A size is no likeness."""
    def run(x, scale, seconds, images):
        return store.Run(name="", arguments={"x": x, "images": images, "scale": scale}, version=1, code=None,
                         inputs={},
                         sizes={"images": [images, 8]}, result={}, provenance={"seconds": seconds})

    published = plan(SimpleNamespace(**FULL | {"scale": 2.0}))
    results = experiments.Results("toy/runs", published, ("images",), recorded={
        "a": run(0, 1.0, 100, 8), "b": run(9, 2.0, 10, 8), "c": run(8, 2.0, 5, 2)})
    a, b, c = results.recorded.values()
    assert missing.nearest(results, "u3") == [b, c] and missing.nearest(results, "u0") == [a, b, c]
    assert missing.nearest(experiments.Results("toy/runs", published), "u0") == []


@pytest.mark.parametrize("take", [lambda digits, n: digits.first(n)[1],
                                  lambda digits, n: digits.y_test[fit.share(digits.y_test, n)]])
def test_the_label_of_a_page_says_that_there_are_fewer_images_than_asked(home, take):
    """Also of a run that is taken from `_runs`."""
    def count(x, images, scale):
        return {"images": images, "taken": len(take(sets.load("digits"), images))}

    def label(results, used=()):
        page = SimpleNamespace(profile="smoke", parameters={"profile": "smoke", "images": 20_000, "seed": 0},
                               defaults={"images": None, "seed": 0},
                               gathered={"toy": results}, used=dict.fromkeys(["fewer"] * bool(used), used))
        return Page.scale_words.fget(page)

    toy = replace(TOY, function=count)
    for record in (False, True, True):
        results = gather(experiment=toy, images=20_000, record=record)
        assert results.own["u0"].result["taken"] == 500
        assert label(results) == "smoke, images = 20000; 20,000 images asked, 500 there"
    assert label(gather(experiment=toy, images=500, record=False)) == "smoke, images = 20000"
    with inputs.collected() as used:      # by a cell of the page itself
        take(sets.load("digits"), 501)
    assert label(Results("toy", {}), used["fewer"]).endswith("; 501 images asked, 500 there")


# ---- out of date -------------------------------------------------------------------------------------------
def test_a_raised_version_makes_runs_out_of_date_and_they_stay_until_computed_again(home):
    assert len(missing.absent(gather("none"))) == 4 and COUNT == []
    gather()
    raised = replace(TOY, version=2)
    results = gather("none", experiment=raised)
    assert results.outdated == {f"u{x}": ["version"] for x in range(4)} and len(results.recorded) == 4
    assert len(COUNT) == 4
    assert not gather(experiment=raised).outdated and COUNT[4:] == [0, 1, 2, 3]


def learn(images, of):
    """A toy that opens some runs of another experiment."""
    around = experiments.results_of("toy/runs")
    return {"images": images, "sum": sum(around[n]["value"] for n in of or around)}


def after(*firsts, of=(), name="toy/after", function=learn):
    return Experiment(name, function, lambda s: {"all": {"images": 3, "of": list(of)}},
                      scale={"paper": FULL}, after=firsts)


def outdated(experiment):
    """As another process sees it: from what is recorded."""
    experiments._on_this_page.clear()
    return gather("none", experiment=experiment).outdated


def test_a_run_keeps_what_it_opened_with_version_and_content_of_the_files(home):
    gather()
    run = gather(experiment=after(TOY, of=["u1", "u3"])).recorded["all"]
    assert run.result["sum"] == pytest.approx(4 / 3)
    assert run.inputs == {f"runs/toy/runs/{n}": store.read(path(home, n)).identity for n in ("u1", "u3")}
    assert run.inputs["runs/toy/runs/u1"]["version"] == 1 and run.code == after(TOY).digest()
    experiments._on_this_page.clear()
    assert learn(3, [])["sum"] == pytest.approx(2)      # called by a person
    with pytest.raises(runtime.UserError, match="toy/after reads runs of toy/runs, which its `after` lacks"):
        compute("all", after())


def test_a_run_on_an_out_of_date_input_is_refused_and_stays_out_of_date_until_computed_from_a_new_one(home):
    gather()
    compute("all", after(TOY))
    last = after(after(TOY), name="toy/last", function=lambda images, of: {
        "images": images, "sum": experiments.results_of("toy/after")["all"]["sum"]})
    compute("all", last)
    raised = replace(TOY, version=2)
    places = [f"runs/toy/runs/u{x}" for x in range(4)]
    assert outdated(after(TOY)) == {} == outdated(last) and outdated(after(raised)) == {"all": places}
    # So is what rests on it.
    assert outdated(replace(last, after=(after(raised),))) == {"all": ["runs/toy/after/all"]}
    with pytest.raises(runtime.UserError) as error:
        compute("all", after(raised))
    assert str(error.value) == ("its input toy/runs/u0 is out of date (version changed); compute that first: "
                                "make fill HOURS=n FIRST=toy/runs")
    gather(experiment=raised)
    assert outdated(after(raised)) == {"all": places}       # its file has version 1 of each
    compute("all", after(raised))
    assert outdated(after(raised)) == {}


def test_a_run_is_out_of_date_when_what_it_opened_is_another_one_or_gone_and_nothing_else(home):
    gather()
    rests = after(TOY, of=["u1"])
    compute("all", rests)
    for name, run in (("u3", store.read(path(home, "u3"))), ("u1", store.read(path(home, "u1")))):
        assert outdated(rests) == {}
        store.write(path(home, name), replace(run, result=run.result | {"value": 9.0}))
    assert outdated(rests) == {"all": ["runs/toy/runs/u1"]}
    store.write(path(home, "u1"), run)      # the same content, whoever computed it and when
    assert outdated(rests) == {}
    path(home, "u1").unlink()
    assert outdated(rests) == {"all": ["runs/toy/runs/u1"]}


def test_a_run_rests_on_its_network_and_on_the_code(home, monkeypatch):
    net = {"architecture": "ren-a", "code": "c", "weights": "w"}

    def use(x, images, scale):
        inputs.used("inputs", "zoo/ren-a-s0", net)
        return {"images": images}

    toy, seen = replace(TOY, function=use), []
    monkeypatch.setattr(zoo, "changed", lambda *of: seen.append(of[:2]) or len(seen) > 4)
    monkeypatch.setattr(same, "FILE", home / "same.json")
    assert gather(experiment=toy).recorded["u1"].inputs == {"zoo/ren-a-s0": net}
    seen.clear()
    assert outdated(toy) == {} and seen == [("zoo/ren-a-s0", net)] * 4
    assert outdated(toy) == dict.fromkeys(plan(SimpleNamespace(**FULL)), ["zoo/ren-a-s0"])
    seen.clear()
    old = toy.digest()
    monkeypatch.setattr(code, "digest", lambda roots: "another")
    assert outdated(toy) == dict.fromkeys(plan(SimpleNamespace(**FULL)), ["code"])
    seen.clear()
    same.enter({"toy/runs": (old, "another")})
    assert outdated(toy) == {}


def test_what_rests_on_runs_with_other_settings_is_not_recorded(home):
    gather()
    gather(scale=2.0)
    results = gather(experiment=after(TOY))
    assert results.own["all"].result["sum"] == pytest.approx(4) and not results.recorded
    gather(scale=3.0)       # and what is kept apart rests on those of this page
    assert gather(experiment=after(TOY)).own["all"].result["sum"] == pytest.approx(6)


def test_an_edit_in_the_process_of_a_run_is_in_the_provenance_of_the_next(home, monkeypatch):
    monkeypatch.setattr(git, "revision", REVISION)
    tree = home / "tree"
    (tree / "shared").mkdir(parents=True)
    (tree / "shared/x.py").write_text("1")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "1")):
        done = git.git("-c", "user.name=a", "-c", "user.email=a@b.c", *words, folder=tree)
        assert done.returncode == 0, done.stderr
    monkeypatch.setattr(git, "ROOT", tree)
    compute("u0")
    (tree / "shared/x.py").write_text("2")
    compute("u1")
    first, second = (store.read(path(home, name)).provenance["revision"] for name in ("u0", "u1"))
    assert second == f"{first}+changes" and first == git.git("rev-parse", "--short", "HEAD").stdout.strip()


def test_a_changed_argument_makes_a_run_out_of_date_and_a_new_default_field_does_not(home):
    @dataclass(frozen=True)
    class Recipe:
        epochs: int
        rate: float = 0.1

    old, gone = {"Recipe": {"epochs": 3}}, {"Recipe": {"epochs": 3, "rate": 0.2}}
    assert store.as_planned(old, Recipe(3)) and not store.as_planned(old, Recipe(3, 0.2))
    assert not store.as_planned(gone, Recipe(3))
    assert store.as_planned([1, "a", None], (1, "a", None)) and not store.as_planned([1], (1, 2))
    gather()
    other = replace(TOY, scale={"paper": FULL | {"scale": 1.5}})
    assert gather("none", experiment=other).outdated["u0"] == ["arguments"]


# ---- a killed run ------------------------------------------------------------------------------------------
def test_a_killed_run_goes_on_from_its_checkpoint_which_ends_with_it(home, interrupted):
    result = gather(experiment=interrupted, count=1).recorded["u0"].result
    assert result["steps"] == [0, 1, 2] and result["value"] == 3
    assert not list((home / "cache").rglob("*.safetensors"))


def test_a_checkpoint_on_other_data_is_not_taken_up(home, interrupted, monkeypatch):
    monkeypatch.setenv("BOUNDARY_DATA", str(home / "other"))
    assert gather(experiment=interrupted, count=1).recorded["u0"].result["steps"] == [0, 1, 0, 1, 2]


# ---- files ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("damage", [lambda text: text[:len(text) // 2],
                                    lambda text: text.replace('"version": 1', '"version": 3')])
def test_a_run_cut_in_half_or_edited_by_hand_is_named_and_computed_again(home, capsys, damage):
    gather()
    text = path(home).read_text()
    path(home).write_text(damage(text))
    assert path(home).read_text() != text
    assert fraction(gather()) == 1 and COUNT[4:] == [1]
    assert "u1.json: damaged" in capsys.readouterr().err


@pytest.mark.parametrize("full", [0, 1])
def test_a_full_disk_leaves_the_run_that_was_there(home, monkeypatch, full):
    """The disk is full when the arrays are written, or when the run is."""
    gather()
    before, space = store.read(path(home)), iter([None] * full)

    def replaced(part, target, move=os.replace):
        if next(space, "none left"):
            raise OSError(errno.ENOSPC, "No space left on device")
        move(part, target)

    with monkeypatch.context() as disk, pytest.raises(runtime.UserError, match="No space left") as error:
        disk.setattr(os, "replace", replaced)
        compute("u1", replace(TOY, function=lambda **given: measure(**given) | {"more": torch.ones(9)}))
    assert "\n" not in str(error.value) and str(store.read(path(home))) == str(before)
    assert not list(path(home).parent.glob(".*"))
    # The next result leaves no arrays of the failed write, nor of the result before.
    store.write(path(home), replace(before, result={"curve": np.arange(9)}))
    assert len(list(path(home).parent.glob("u1*"))) == 2
    assert store.read(path(home)).result["curve"].tolist() == list(range(9))


def test_a_file_of_before_is_named_with_the_fields_that_differ(home, capsys):
    gather()
    raw = json.loads(path(home).read_text())
    for name in ("check", "code", "inputs"):
        del raw[name]
    path(home).write_text(store.text_of(raw | {"after": {}}))
    assert len(gather("none").recorded) == 3
    assert "u1.json: damaged (another form, by after, code, inputs); restore it" in capsys.readouterr().err


def test_two_writers_of_one_run_compute_it_once(home):
    """Both find it absent; the second waits, and takes what the first has written."""
    def slow(**given):
        time.sleep(0.3)
        return measure(**given)

    arguments = TOY.planned()[0]["u0"]
    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(experiments.keep, replace(TOY, function=slow), "u0", arguments, arguments)
                   for _ in range(2)]
    assert COUNT == [0] and len({str(w.result()) for w in writers}) == 1


def test_two_clones_joined_by_their_files_are_one(home, monkeypatch):
    """Runs computed in two clones, copied together as git would."""
    places = []
    for clone, runs in (("a", ("u0", "u2")), ("b", ("u1", "u3"))):
        monkeypatch.setenv("BOUNDARY_RESULTS", str(home / clone))
        monkeypatch.setenv("BOUNDARY_CACHE", str(home / f"cache-{clone}"))
        for run in runs:
            compute(run)
        places.append(home / clone)
    shutil.copytree(places[1], places[0], dirs_exist_ok=True)
    monkeypatch.setenv("BOUNDARY_RESULTS", str(places[0]))
    assert fraction(gather("none")) == 1 and len(COUNT) == 4


def test_a_run_file_is_sorted_plain_json_without_nan(home):
    compute("u1")
    raw = json.loads(path(home).read_text(), parse_constant=pytest.fail)
    assert list(raw) == sorted(raw)
