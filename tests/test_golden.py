"""Instruments compute what they have computed, on every processor: see tests/golden."""
import numpy as np
import pytest

from tests import golden

EVERY = [(room, name) for room in golden.rooms() for name in golden.cases(room)]


@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient")
@pytest.mark.parametrize("room, name", EVERY)
def test_an_instrument_computes_what_it_has_computed(room, name, ndarrays_regression):
    """Else undo the change, or delete the case's file and name the experiments whose versions rise."""
    function, within = golden.cases(room)[name]
    arrays, tolerances = {}, {}
    for place, array in golden.flat(function()).items():
        key = f"{place} {'str' if array.dtype.kind == 'U' else array.dtype}"   # types are compared as words
        arrays[key] = array
        if array.dtype.kind in "fc":
            largest = np.abs(array[np.isfinite(array)]).max(initial=0.0)
            tolerances[key] = {"rtol": 0, "atol": within * float(largest)}
    ndarrays_regression.check(arrays, fullpath=golden.OUTPUTS / room / f"{name}.npz", tolerances=tolerances)


def test_no_stored_output_lacks_its_case():
    assert {(path.parent.name, path.stem) for path in golden.OUTPUTS.glob("*/*")} == set(EVERY)
