"""A page shows what other notebooks recorded: what is there, what is missing, what is by earlier code."""
import pytest

from shared.records import record
from shared.units import checkpoint, handed, identity, run, store


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """Two recorded units of a notebook, one by code that is gone."""
    monkeypatch.setenv("BOUNDARY_RESULTS", str(tmp_path))
    facts = {"data": {}, "device": "cpu", "versions": {}, "threads": 1, "revision": "r", "seconds": 2.0}
    for name, code in (("a", {}), ("b", {"shared/gone.py:gone": "0"})):
        unit = store.Unit(name, {"seed": 3}, {"draws": [5, 10]}, {"value": 1.5}, code, facts)
        store.write(run.folder_of("x/first", "pairs") / f"{name}.json", unit)


def test_borrowed_units_are_those_recorded(kept):
    units = handed.borrowed("x/first", "pairs", ["a", "b", "c"], title="lent", parts=("draws",))
    assert units.name == "lent" and list(units.recorded) == ["a", "b"] and units.absent == ["c"]
    assert list(units.stale) == ["b"] and not units.mine
    assert units.recorded["a"].row == {"unit": "a", "seed": 3, "value": 1.5, "seconds": 2.0}
    assert units.fraction == pytest.approx(1 / 3)  # two halves of three
    told = record.scale([units], {"lent": units.recorded})
    assert told["parts"] == {"units": [2, 3], "draws": [10, 20]}


def test_without_names_all_that_is_recorded_is_borrowed(kept):
    units = handed.borrowed("x/first", "pairs", None)
    assert list(units.published) == list(units.recorded) == ["a", "b"] and not units.absent
    assert not handed.borrowed("x/second", "pairs", None).published


def test_a_unit_that_takes_a_stale_one_is_stale(kept, tmp_path):
    lent = handed.borrowed("x/first", "pairs", None).recorded
    handed.give("lent", lent)
    ran = identity.Recorder()
    with checkpoint.kept_in(tmp_path / "place", ran):
        assert handed.take("lent") == {"a": {"value": 1.5}, "b": {"value": 1.5}}
    assert identity.changed(ran.ran()) == ["shared/gone.py:gone"]


def test_an_item_waits_only_for_the_parts_that_it_rests_on(kept):
    units = handed.borrowed("x/first", "pairs", None, parts=("draws",))
    there = {"pairs": units.recorded}
    assert record.scale([units], there)["fraction"] == 0.5
    assert record.scale([units], there, ("epochs",)) == {"parts": {"units": [2, 2]}, "fraction": 1.0,
                                                         "proxies": {}}


def test_own_units_stand_in_where_nothing_is_recorded(kept):
    own = run.UnitSet("own", {}, mine={"small": "a unit"})
    units = handed.borrowed("x/second", "pairs", ["a"], own=own)
    assert not units.recorded and units.mine == {"small": "a unit"} and units.absent == ["a"]


def test_functions_of_another_notebook_run_no_other_line_of_it(monkeypatch, tmp_path):
    half = tmp_path / "notebooks/x/first.py"
    half.parent.mkdir(parents=True)
    half.write_text("import math\n1 / 0\n\ndef measure(n):\n    return twice(math.sqrt(n))\n\n"
                    "def twice(n):\n    return 2 * n\n")
    monkeypatch.setattr(handed, "ROOT", tmp_path)
    measure = handed.definitions("x/first").measure
    code = measure.__code__
    assert measure(9) == 6 and (code.co_filename, code.co_firstlineno) == (str(half), 4)


def test_a_result_s_own_seconds_are_not_those_of_its_provenance():
    unit = store.Unit("a", {}, {}, {"seconds": {"attack": 1.0}}, {}, {"seconds": 2.0})
    assert unit.row["seconds"] == {"attack": 1.0}


def test_sets_of_several_notebooks_are_one(kept):
    both = handed.together("all", handed.borrowed("x/first", "pairs", ["a", "b"], parts=("draws",)),
                           handed.borrowed("x/second", "tested", ["c", "d"], parts=("draws", "images")),
                           own=run.UnitSet("own", {}, mine={"e": "mine"}))
    assert both.mine == {"e": "mine"}
    assert list(both.published) == ["a", "b", "c", "d"] and both.parts == ("draws", "images")
    assert list(both.recorded) == ["a", "b"] and list(both.stale) == ["b"]
    assert both.fraction == pytest.approx(1 / 4)
