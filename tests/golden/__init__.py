"""Stored outputs of the instruments of `shared`: what they have computed they go on computing.

Each module here has small seeded cases; `outputs/<module>/<case>.npz` holds what a case returns, stored by
pytest-regressions where the file is missing. Floating-point numbers must be equal within a tolerance that
holds on every processor; labels, counts and words exactly. A case whose labels or counts depend on computed
numbers asserts that no decision is near: processors round differently.
"""
import contextlib
import dataclasses
import importlib
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from shared.inference import Careful, classes, logits  # not `inference`: that is a module here
from shared.runtime import UserError  # the name `runtime` is the room's module here

HERE = Path(__file__).parent
OUTPUTS = HERE / "outputs"
ROUNDED = 1e-4   # a thousand roundings of float32: numbers agree within it, decisions are further apart


def rooms():
    """Every set of instruments with stored outputs, such as `borderline` or `inference`."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("__"))


class Cases(dict):
    """The cases of a room, `{name: (function, tolerance)}`; a decorator enters one.

    A case returns what is to be stored: numbers, words, tensors, arrays, and dicts, lists and dataclasses of
    these. Cases take no time (some hundredths of a second) and no data.
    """

    def __call__(self, function=None, *, within=ROUNDED):
        if function is None:
            return lambda each: self(each, within=within)
        self[function.__name__] = function, within
        return function


def refused(function, *args, **options):
    """Whether a call ends in a UserError: what its line says is no part of a version."""
    try:
        function(*args, **options)
    except UserError:
        return True
    return False


def watched(network):
    """The network, of which no evaluation in this case may have two largest logits that are nearly equal.

    Near is what differs by less than `ROUNDED` of the largest weight of its last layer. One logit: from 0.
    """
    def lead(network, images, scores):
        first = scores.abs() if scores.shape[1] == 1 else scores.topk(2).values.diff(dim=1).abs()
        near = ROUNDED * float(network[-1].weight.detach().abs().max())
        assert (first >= near).all(), f"two classes differ by {float(first.detach().min()):.1g}"

    network.register_forward_hook(lead)
    return network


@contextlib.contextmanager
def bf16(able):
    """Context in which every device has bfloat16, or none: cases tell the same on every machine.

    No margin in bfloat16 may be nearly 0 or nearly the doubt of its `Careful`: what is decided twice is told.
    """
    def margins(careful, images, labels, *, bf16=False):
        values = ask(careful, images, labels, bf16=bf16)
        for gap in (values.abs(), (values.abs() - (careful.doubt or 0)).abs()) if bf16 else ():
            near = (gap > 0) & (gap < ROUNDED * values.abs().clamp(min=1))
            assert not near.any(), f"a margin is {float(gap[near].min()):.1g} from 0 or from the doubt"
        return values

    def forward(careful, images):
        if careful.doubt is not None:
            coarse = logits(careful.net, images, bf16=True)
            margins(careful, images, classes(coarse), bf16=True)
        return decide(careful, images)

    ask, decide = Careful.margins, Careful.forward
    with (mock.patch("shared.runtime.has_bf16", lambda device: able),
          mock.patch.multiple(Careful, margins=margins, forward=forward)):
        yield


def cases(room):
    """The `Cases` of a module here."""
    return importlib.import_module(f"tests.golden.{room}").case


def flat(value, place="value"):
    """What a case returned as `{place: array}`."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {k: v for name, each in value.items() for k, v in flat(each, f"{place}.{name}").items()}
    if isinstance(value, (list, tuple)) and any(isinstance(v, (dict, list, tuple, torch.Tensor, np.ndarray))
                                                or dataclasses.is_dataclass(v) for v in value):
        return {k: v for n, each in enumerate(value) for k, v in flat(each, f"{place}.{n}").items()}
    if isinstance(value, torch.Tensor):
        return {place: value.detach().cpu().numpy()}
    return {place: np.array("None" if value is None else value)}
