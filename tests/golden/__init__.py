"""Golden tests: what every version of a room of instruments has computed, and must go on computing.

Each room has a module here, `tests/golden/<room>.py`, with small seeded cases, and a file of stored outputs,
`outputs/<room>-<version>.npz`. Floating-point numbers must be equal bit for bit on the machine that stored
them, to 1e-6 of the largest value elsewhere; labels, counts and words must be equal everywhere.

    make golden ROOM=borderline     store the outputs of new cases; what is stored stays
    make mutants ROOM=borderline    change the room's code one spot at a time; which changes go unnoticed?
"""
import dataclasses
import importlib
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from shared.runtime import UserError  # the name `runtime` is the room's module here
from shared.units import identity, provenance

HERE = Path(__file__).parent
SAFE = 1e-6   # largest difference on another machine, in units of the array's largest value


def rooms():
    """Every room that declares a version, such as `borderline` or `models/inference`."""
    shared = HERE.parents[1] / "shared"
    return sorted({room for path in shared.rglob("*.py")
                   if path.name != "__init__.py" and (room := identity.room_of(path))})


class Cases(dict):
    """The cases of a room, `{name: (function, tolerance elsewhere)}`; a decorator enters one.

    A case returns what is to be stored: numbers, words, tensors, arrays, and dicts, lists and dataclasses of
    these. Cases take no time (some hundredths of a second) and no data.
    """

    def __call__(self, function=None, *, elsewhere=SAFE):
        if function is None:
            return lambda each: self(each, elsewhere=elsewhere)
        self[function.__name__] = function, elsewhere
        return function


def refused(function, *args, **options):
    """Whether a call ends in a UserError: what its line says is no part of a version."""
    try:
        function(*args, **options)
    except UserError:
        return True
    return False


def bf16(able):
    """Context in which every device has bfloat16, or none: cases tell the same on every machine."""
    return mock.patch("shared.runtime.has_bf16", lambda device: able)


def module(room):
    """The module of a room here; None where there is none."""
    name = room.replace("/", "_")
    return importlib.import_module(f"tests.golden.{name}") if (HERE / f"{name}.py").exists() else None


def cases(room):
    """The `Cases` of a room; empty where it has no module here."""
    return getattr(module(room), "case", Cases())


def computes(room):
    """The definitions that its module names in `COMPUTES`, where only some of a room compute; else None."""
    return getattr(module(room), "COMPUTES", None)


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


def file_of(room):
    """The stored outputs of the room's present version."""
    number = identity.current(room).removeprefix("version ")
    return HERE / "outputs" / f"{room.replace('/', '_')}-{number}.npz"


def stored(room):
    """`{case: {place: array}}`, and where each case was stored."""
    found, machines = {}, {}
    if file_of(room).exists():
        with np.load(file_of(room), allow_pickle=False) as z:
            for key in z.files:
                name, _, place = key.partition("|")
                if place:
                    found.setdefault(name, {})[place] = z[key]
                else:
                    machines[name] = str(z[key])
    return found, machines


def machine():
    """What decides the last bits: processor, instruction set, torch, threads."""
    return " · ".join([provenance.device_model(torch.device("cpu")), torch.backends.cpu.get_cpu_capability(),
                       torch.__version__, f"{torch.get_num_threads()} thread"])


def difference(known, found, exact, elsewhere):
    """The first place where outputs differ, in words; None where they are the same."""
    if not known.keys() <= found.keys():  # more may be told under the same version
        return f"outputs are gone: {sorted(known.keys() - found.keys())}"
    for place, a in known.items():
        b = found[place]
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{place}: {a.dtype} {a.shape} is now {b.dtype} {b.shape}"
        if a.dtype.kind not in "fc":
            same = np.array_equal(a, b)
        else:   # one name stands for several generations of a processor, which differ in the last bits
            elsewhere = min(elsewhere, SAFE) if exact else elsewhere
            size = np.abs(a[np.isfinite(a)]).max(initial=0.0)
            same = np.allclose(a, b, rtol=0, atol=elsewhere * size, equal_nan=True)
        if not same:
            return f"{place}: {a.ravel()[:4]} is now {b.ravel()[:4]}"
    return None


def store(room):
    """Compute the cases of a room that are not stored yet, and store them; returns their names."""
    found, machines = stored(room)
    new = {name: flat(function()) for name, (function, _) in cases(room).items() if name not in found}
    machines |= dict.fromkeys(new, machine())
    arrays = {f"{name}|{place}": array for name, each in {**found, **new}.items()
              for place, array in each.items()}
    np.savez_compressed(file_of(room), **arrays, **{name: np.array(each) for name, each in machines.items()})
    return list(new)
