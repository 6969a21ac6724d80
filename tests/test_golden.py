"""Instruments compute what they have computed, on every processor: see tests/golden."""
import pytest

from tests import golden

EVERY = [(room, name) for room in golden.rooms() for name in golden.cases(room)]


@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient")
@pytest.mark.parametrize("room, name", EVERY)
def test_an_instrument_computes_what_it_has_computed(room, name):
    function, within = golden.cases(room)[name]
    known = golden.stored(room)
    assert name in known, f"new case; store it: make golden ROOM={room}"
    off = golden.difference(known[name], golden.flat(function()), within)
    assert off is None, (f"{room} computes something else: undo it, or delete the stored case and name the "
                         f"experiments whose versions rise: {off}")


@pytest.mark.parametrize("room", golden.rooms())
def test_no_stored_output_lacks_its_case(room):
    assert golden.stored(room).keys() == golden.cases(room).keys()
