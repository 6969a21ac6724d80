"""A page shows what other notebooks recorded: what is there, what is missing, what is by earlier code."""
import pytest

from shared.records import record
from shared.units import handed, run, store


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


def test_own_units_stand_in_where_nothing_is_recorded(kept):
    own = run.UnitSet("own", {}, mine={"small": "a unit"})
    units = handed.borrowed("x/second", "pairs", ["a"], own=own)
    assert not units.recorded and units.mine == {"small": "a unit"} and units.absent == ["a"]


def test_sets_of_several_notebooks_are_one(kept):
    both = handed.together("all", handed.borrowed("x/first", "pairs", ["a", "b"], parts=("draws",)),
                           handed.borrowed("x/second", "tested", ["c", "d"], parts=("draws", "images")))
    assert list(both.published) == ["a", "b", "c", "d"] and both.parts == ("draws", "images")
    assert list(both.recorded) == ["a", "b"] and list(both.stale) == ["b"]
    assert both.fraction == pytest.approx(1 / 4)
