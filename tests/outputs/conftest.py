"""The fixture that compares a value with its stored output."""
import dataclasses

import numpy as np
import pytest
import torch

from tests.outputs.examples import ROUNDED


@pytest.fixture
def stored(ndarrays_regression):
    """`stored(value)`: numbers within `within` of the largest of their array; labels and words exactly."""
    def check(value, within=ROUNDED):
        arrays, tolerances = {}, {}
        for place, array in flat(value):
            # A type is part of the name, so that it is compared as well.
            key = f"{place} {'str' if array.dtype.kind == 'U' else array.dtype}"
            arrays[key] = array
            if array.dtype.kind in "fc":
                largest = np.abs(array[np.isfinite(array)]).max(initial=0.0)
                tolerances[key] = {"rtol": 0, "atol": within * float(largest)}
        ndarrays_regression.check(arrays, tolerances=tolerances)

    return check


def compound(value):
    """Whether a value is more than one number or word."""
    return isinstance(value, (dict, list, tuple, torch.Tensor, np.ndarray)) or dataclasses.is_dataclass(value)


def flat(value, place="value"):
    """Pairs (place, array) of a number, a word, a tensor, or of dicts, lists and dataclasses of these."""
    if dataclasses.is_dataclass(value):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif isinstance(value, (list, tuple)) and any(map(compound, value)):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for name, part in value.items():
            yield from flat(part, f"{place}.{name}")
    elif isinstance(value, torch.Tensor):
        yield place, value.detach().cpu().numpy()
    else:
        yield place, np.array("None" if value is None else value)
