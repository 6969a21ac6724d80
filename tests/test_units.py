"""Unit files: plans, shares, what is kept and replaced, damage, two clones joined by their files."""
import json
import shutil
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from shared import runtime
from shared.data import sets
from shared.units import identity, run, store
from workflow import planned

COUNT = []


def measure(x, *, images=10, scale=1.0):
    """A toy unit: its result follows from its arguments."""
    COUNT.append(x)
    return {"value": scale * x / 3, "images": min(images, 8), "nan": float("nan"),
            "curves": {"all": [{"points": torch.arange(3) * x}]}}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDARY_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("BOUNDARY_CACHE", str(tmp_path / "cache"))
    COUNT.clear()
    return tmp_path


def plan(n=4, images=8, **more):
    return {f"u{x}": dict(x=x, images=images, **more) for x in range(n)}


def gather(wanted=None, published=None, which="missing", record=True, **more):
    published = plan() if published is None else published
    return run.gather("toy/page", "sets", measure, wanted=published if wanted is None else wanted,
                      published=published, parts=("images",), which=which, record=record,
                      text_half=__file__, **more)


@pytest.fixture(autouse=True)
def half(monkeypatch):
    from pathlib import Path
    monkeypatch.setattr(identity, "check_function", lambda function, half: None)
    return Path(__file__)


# ---- kept, read, planned ----------------------------------------------------------------------------------
def test_a_unit_is_kept_with_arguments_sizes_arrays_and_provenance(home):
    unit = gather().recorded["u2"]
    again = store.read(home / "results/units/toy/page/sets/u2.json")
    assert again.result["value"] == 2 / 3 and again.result["nan"] is None
    assert again.parts == {"images": [8, 8]} and again.arguments == {"x": 2, "images": 8}
    assert again.result["curves"]["all"][0]["points"].tolist() == [0, 2, 4]
    assert again.provenance == unit.provenance
    assert {"device", "threads", "versions", "revision", "seconds"} <= set(again.provenance)
    assert gather().missing == [] and COUNT == [0, 1, 2, 3]  # nothing is computed twice


def test_sizes_are_recorded_as_they_were_not_as_they_were_asked(home):
    units = gather(published=plan(images=20))
    assert units.recorded["u0"].parts == {"images": [8, 20]}
    assert units.fraction == pytest.approx(8 / 20) and units.missing == list(plan())


@pytest.mark.parametrize("bad, said", [({"1a": {}}, "begin"), ({"a b": {}}, "letters"),
                                       ({"a": {"images": 0}}, "from 1"),
                                       ({"a": {"images": -9980}}, "from 1"),
                                       ({"a": {"images": True}}, "from 1")])
def test_a_plan_out_of_form_is_refused_before_anything_is_computed(home, bad, said):
    with pytest.raises(runtime.UserError, match=said):
        gather(published={k: {"x": 1, "images": 3} | v for k, v in bad.items()})
    assert COUNT == []


def test_arguments_are_plain_or_refused(home):
    with pytest.raises(TypeError, match="Tensor"):
        gather(published={"a": {"x": torch.ones(2), "images": 1}})


# ---- what is recorded, what is not ------------------------------------------------------------------------
def test_only_the_published_arguments_are_recorded(home):
    units = gather(wanted=plan(scale=2.0), published=plan(scale=1.0))
    assert not units.recorded and len(units.mine) == 4
    assert not (home / "results").exists()
    gather(record=False)
    assert not (home / "results").exists() and len(COUNT) == 8


def on_digits(x, *, images=10):
    """A unit that opens a set of its own choice."""
    COUNT.append(x)
    return {"images": images, "source": sets.load("mnist", profile="quick").source}


def test_a_unit_on_a_stand_in_is_made_anew_once_the_set_has_come(home, monkeypatch):
    monkeypatch.setenv("BOUNDARY_DATA", str(home / "data"))
    monkeypatch.setattr(sets, "_profile", "quick")  # in `smoke` a set never comes
    monkeypatch.setattr(sets, "load", lambda name, profile: runtime.used("data", name, "digits:1") or
                        sets._embedded(name, "digits"))
    place = dict(wanted=plan(1), published=plan(1), parts=(), which="missing", record=False,
                 text_half=__file__)
    for _ in range(2):
        run.gather("toy/page", "sets", on_digits, **place)
    assert COUNT == [0]
    (home / "data").mkdir()
    (home / "data" / "mnist.npz").touch()
    run.gather("toy/page", "sets", on_digits, **place)
    assert COUNT == [0, 0]


def test_a_larger_part_replaces_a_smaller_one_and_never_the_reverse(home):
    full = plan(images=8)
    small = {k: v | {"images": 2} for k, v in full.items()}
    assert gather(wanted=small, published=full).fraction == 0.25
    assert gather(published=full).fraction == 1 and len(COUNT) == 8
    for which in ("missing", "all", "u1"):
        assert gather(wanted=small, published=full, which=which).fraction == 1
    too_large = {k: v | {"images": 9} for k, v in full.items()}
    before = (home / "results/units/toy/page/sets/u0.json").read_text()
    gather(wanted=too_large, published=full)
    assert (home / "results/units/toy/page/sets/u0.json").read_text() == before


def test_recorded_units_most_like_a_missing_one_have_most_arguments_in_common(home):
    """The size of a part is no likeness."""
    def unit(x, scale, seconds, had):
        return store.Unit(name="", arguments={"x": x, "images": had, "scale": scale},
                          parts={"images": [had, 8]}, result={}, code={}, provenance={"seconds": seconds})

    units = run.UnitSet("sets", plan(scale=2.0), ("images",), recorded={
        "a": unit(0, 1.0, 100, 8), "b": unit(9, 2.0, 10, 8), "c": unit(8, 2.0, 5, 2)})
    a, b, c = units.recorded.values()
    assert planned.nearest(units, "u3") == [b, c] and planned.nearest(units, "u0") == [a, b, c]
    assert planned.nearest(run.UnitSet("sets", plan()), "u0") == []


def test_units_that_no_plan_names_are_orphans(home):
    gather()
    units = gather(published=plan(2))
    assert units.orphans == ("u2", "u3") and set(units.recorded) == {"u0", "u1"}


# ---- which are computed -----------------------------------------------------------------------------------
def test_names_shares_and_none(home):
    assert gather(which="none").absent == list(plan())
    gather(which="u3, u1")
    assert COUNT == [3, 1]
    gather(which="1/2")
    assert COUNT == [3, 1, 0, 2]
    sets = [gather(which="u9, u1")]  # another set of the notebook may have it
    assert COUNT[4:] == [1]
    run.check_named("u2, u1", sets)
    run.check_named("stale:3", sets)
    for wrong in ("u9, u1", "mising"):
        with pytest.raises(runtime.UserError, match="no such unit; allowed: missing.* Units here: u0, u1"):
            run.check_named(wrong, sets)


def test_shares_are_a_partition():
    names = [f"n{i}" for i in range(11)]
    parts = [run.choose(f"{i}/3", names, {}, set(names)) for i in (1, 2, 3)]
    assert sorted(sum(parts, [])) == sorted(names) and {len(p) for p in parts} == {3, 4}


# ---- stale, replaced, doubtful ----------------------------------------------------------------------------
def by_earlier_code(home, name, **changes):
    """Make a kept unit one by other code, with other results."""
    path = home / f"results/units/toy/page/sets/{name}.json"
    unit = store.read(path)
    store.write(path, store.Unit(**{**vars(unit), "code": {"tests/gone.py:measure": "1"}} | changes))


def test_a_stale_unit_stays_and_is_told_and_recomputed_only_when_asked(home):
    gather()
    by_earlier_code(home, "u1")
    units = gather()
    assert list(units.stale) == ["u1"] and units.stale["u1"] == ["tests/gone.py:measure"] and len(COUNT) == 4
    units = gather(which="stale")
    assert not units.stale and COUNT[4:] == [1]
    assert units.recorded["u1"].replaced["same"] is True and units.confirmed == 1


def test_one_disagreement_makes_all_units_of_that_code_doubtful(home):
    gather()
    for name in ("u1", "u2", "u3"):
        by_earlier_code(home, name,
                        result={**store.read(home / f"results/units/toy/page/sets/{name}.json").result,
                                "value": 0.5})
    units = gather(which="stale:1")
    assert len(units.stale) == 2 and set(units.doubtful) == set(units.stale)
    again = next(u for u in units.recorded.values() if u.replaced)
    assert again.replaced["same"] is False and again.replaced["difference"] > 0.01
    assert run.gather.__doc__ and units.state()["doubtful"] == units.doubtful


def test_a_version_that_is_not_held_makes_the_other_units_under_it_doubtful(home):
    gather()
    for name in ("u0", "u1", "u2", "u3"):
        unit = store.read(home / f"results/units/toy/page/sets/{name}.json")
        by_earlier_code(home, name, code={"similarity": "version 1"}, result={**unit.result, "value": 0.5})
    assert not gather().stale
    units = gather(which="stale:1")
    again, = (n for n, u in units.recorded.items() if u.replaced)
    assert units.recorded[again].replaced["same"] is False
    assert units.recorded[again].replaced["changed"] == {"similarity": "version 1"}
    assert sorted(units.doubtful) == sorted({"u0", "u1", "u2", "u3"} - {again})


def test_a_result_that_says_more_is_no_contradiction(home):
    gather()
    old = store.read(home / "results/units/toy/page/sets/u1.json")
    more = store.Unit(**{**vars(old), "result": {**old.result, "added": 3}})
    assert store.comparison(old, more)["same"] is True and store.comparison(more, old)["same"] is False


def test_elsewhere_nothing_follows(home):
    gather()
    old = store.read(home / "results/units/toy/page/sets/u1.json")
    by_earlier_code(home, "u1", provenance=old.provenance | {"device": "another"})
    assert gather(which="stale").recorded["u1"].replaced["same"] is None


def test_a_unit_on_another_number_of_threads_than_its_set_is_refused(home, monkeypatch):
    gather(plan(1))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    with pytest.raises(runtime.UserError, match="^2 threads for units of toy/page sets, .* on 1; allowed: 1; "
                                                "set OMP_NUM_THREADS=1$"):
        gather()
    assert COUNT == [0]
    assert list(gather(which="none").recorded) == ["u0"]  # to read them is no matter
    gather(record=False)                                  # nor is what goes to the cache
    assert len(COUNT) == 5


def test_a_changed_argument_makes_a_unit_stale_and_a_new_default_field_does_not(home):
    @dataclass(frozen=True)
    class Recipe:
        epochs: int
        rate: float = 0.1

    old, gone = {"Recipe": {"epochs": 3}}, {"Recipe": {"epochs": 3, "rate": 0.2}}
    assert store.same(old, Recipe(3)) and not store.same(old, Recipe(3, 0.2))
    assert not store.same(gone, Recipe(3))
    assert store.same([1, "a", None], (1, "a", None)) and not store.same([1], (1, 2))
    gather()
    assert gather(published=plan(scale=1.5), which="none").stale["u0"] == ["arguments"]


# ---- files ------------------------------------------------------------------------------------------------
def test_every_changed_byte_is_noticed_and_named(home):
    """A byte flipped anywhere in a unit's files gives the same values or a refusal, never other values."""
    gather(published=plan(1))
    folder = home / "results/units/toy/page/sets"
    whole = store.read(folder / "u0.json")
    generator = np.random.default_rng(0)
    files = [p for p in folder.iterdir() if p.suffix in (".json", ".npz")]
    refused = 0
    for _ in range(150):
        path = files[generator.integers(len(files))]
        good = path.read_bytes()
        bad = bytearray(good)
        bad[generator.integers(len(bad))] ^= 1 << generator.integers(8)
        path.write_bytes(bad)
        try:
            read = store.read(folder / "u0.json")
            assert str(read) == str(whole)
        except runtime.UserError as error:
            refused += 1
            assert "u0" in str(error) and "\n" not in str(error)
        path.write_bytes(good)
    assert refused > 100


def test_a_damaged_unit_is_named_and_computed_again(home, capsys):
    gather()
    (home / "results/units/toy/page/sets/u1.json").write_text('{"name": "u1"')
    assert not gather().missing and COUNT[4:] == [1]
    assert "u1.json: damaged" in capsys.readouterr().err


def test_a_new_result_leaves_no_arrays_of_the_old_one(home):
    gather()
    folder = home / "results/units/toy/page/sets"
    before = {p.name for p in folder.glob("u1-*.npz")}
    unit = store.read(folder / "u1.json")
    store.write(folder / "u1.json", store.Unit(**{**vars(unit), "result": {"curve": np.arange(9)}}))
    after = {p.name for p in folder.glob("u1-*.npz")}
    assert len(after) == 1 and not before & after
    assert store.read(folder / "u1.json").result["curve"].tolist() == list(range(9))


def test_two_clones_joined_by_their_files_are_one_run(home, monkeypatch):
    """Units 0-1 computed in one clone and 2-3 in another, copied together as git would."""
    places = []
    for share in ("1/2", "2/2"):
        monkeypatch.setenv("BOUNDARY_RESULTS", str(home / share[0]))
        monkeypatch.setenv("BOUNDARY_CACHE", str(home / f"cache{share[0]}"))
        gather(which=share)
        places.append(home / share[0])
    shutil.copytree(places[1], places[0], dirs_exist_ok=True)
    monkeypatch.setenv("BOUNDARY_RESULTS", str(places[0]))
    joined = gather(which="none")
    assert joined.missing == [] and len(COUNT) == 4
    monkeypatch.setenv("BOUNDARY_RESULTS", str(home / "single"))
    single = gather()
    assert str([u.result for u in joined.recorded.values()]) == str([u.result
                                                                     for u in single.recorded.values()])


def test_a_unit_file_is_sorted_plain_json_without_nan(home):
    gather()
    text = (home / "results/units/toy/page/sets/u1.json").read_text()
    raw = json.loads(text, parse_constant=pytest.fail)
    assert list(raw) == [*sorted(k for k in raw if k != "check"), "check"]
