"""Run files: the result of one run of an experiment, with arguments, sizes, version, inputs and provenance.

`results/runs/<key>/<experiment>/<name>.json` holds plain values; its arrays are in
`<name>-<hash of their content>.safetensors.xz`, hundreds of small ones compressed as one. A file is written
in one step, and read without pickle.
"""
import dataclasses
import json
import lzma
import math
import numbers
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from safetensors import numpy as tensors

from shared import runtime
from shared.data import content

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")  # a name that a person can type, and that no number can be
REMEDY = "restore it from the repository, or delete it to have it computed again"


# ---- plain values ----------------------------------------------------------------------------------------
def plain(value, what="value", arrays=None):
    """A value as JSON holds it: numbers, text, lists, dicts; a frozen dataclass as `{"<class>": {fields}}`.

    Tuples become lists, numbers that are not finite become None. Raises UserError for anything else: what is
    stored must hold everything that decides a result.

    arrays  takes tensors and arrays by their places, each of which is left as `{"array": place}`
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): plain(v, f"{what}.{k}".strip("."), arrays) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, f"{what}.{n}", arrays) for n, v in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {type(value).__name__: plain(fields, what, arrays)}
    if arrays is not None and (array := _array(value)) is not None:
        arrays[what] = array
        return {"array": what}
    kept = "numbers, text, lists, dicts, dataclasses" + ", arrays of numbers, tensors" * (arrays is not None)
    kind = type(value).__name__ + (f" of {value.dtype}" if hasattr(value, "dtype") else "")
    raise runtime.UserError(f"{what} is a {kind}; {kept} are kept")


def _array(value):
    """A tensor or array of real numbers or truth values as it is kept; None of anything else."""
    if isinstance(value, torch.Tensor) and value.dtype != torch.bfloat16:   # numpy has no bfloat16
        value = value.detach().cpu().numpy()
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
        return None
    return value.astype(value.dtype.newbyteorder("="), copy=False)


def with_arrays(value, arrays):
    """A plain value with its arrays in their places again."""
    if isinstance(value, dict):
        if value.keys() == {"array"} and value["array"] in arrays:
            return arrays[value["array"]]
        return {k: with_arrays(v, arrays) for k, v in value.items()}
    return [with_arrays(v, arrays) for v in value] if isinstance(value, list) else value


def held(result, what):
    """A result as a `Run` holds it: plain values, tensors as arrays."""
    arrays = {}
    return with_arrays(plain(result, what, arrays), arrays)


def as_planned(stored, planned):
    """Whether a stored argument is the planned one; a field a dataclass got since counts as its default."""
    if dataclasses.is_dataclass(planned):
        fields = stored.get(type(planned).__name__) if isinstance(stored, dict) else None
        return isinstance(fields, dict) and all(
            as_planned(fields[f.name], value) if f.name in fields else value == f.default
            for f in dataclasses.fields(planned) for value in [getattr(planned, f.name)])
    if isinstance(planned, dict):
        return isinstance(stored, dict) and stored.keys() == planned.keys() and all(
            as_planned(stored[k], v) for k, v in planned.items())
    if isinstance(planned, (list, tuple)):
        alike = isinstance(stored, list) and len(stored) == len(planned)
        return alike and all(map(as_planned, stored, planned))
    if isinstance(planned, (bool, int, str)):
        return stored == planned    # as below, and much faster
    return stored == plain(planned)


# ---- a run -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Run:
    """One execution of an experiment, as its file holds it."""
    name: str
    arguments: dict     # of the experiment's function, as `plain` writes them
    sizes: dict         # {name: [actual, published]}: how much of the published size it has
    result: dict        # what the function returned: plain values, and arrays at any depth
    version: int        # of the experiment
    code: str | None    # digest of the experiment's code; None of runs of an old version, and of small ones
    inputs: dict | None     # {place: identity} of the runs and kept networks that were opened; None: unknown
    provenance: dict    # data, revision, device, versions, python, threads, seconds, when

    def share(self, rests):
        """Share of the published size in the sizes named by `rests`, at most 1."""
        sizes = (size for name, size in self.sizes.items() if name in rests)
        return math.prod(min(1.0, actual / published) for actual, published in sizes)

    @cached_property
    def identity(self):
        """What runs that read it keep of it: the version, and a hash of version, arguments and result."""
        arrays = {}
        result = plain(self.result, "", arrays)
        return {"version": self.version, "content": content.of_json(
            [self.version, self.arguments, result, _hash(arrays)])[:12]}

    @property
    def row(self):
        """Arguments and results side by side, as one row of a table."""
        arguments = {k: v for k, v in self.arguments.items() if not isinstance(v, dict)}
        return {"run": self.name, **arguments, "seconds": self.provenance["seconds"], **self.result}


def _hash(arrays):
    return content.of_arrays(arrays, head=content.RUN_HEAD)[:12]


def write(path, run):
    """Keep a run as the file `path`, in place of an earlier one and of arrays that are no longer its own."""
    path, arrays = Path(path), {}
    fields = {f.name: getattr(run, f.name) for f in dataclasses.fields(run)}
    raw = fields | {"result": plain(run.result, "", arrays), "arrays": None}
    if arrays:
        raw["arrays"] = f"{path.stem}-{_hash(arrays)}.safetensors.xz"
        packed = lzma.compress(tensors.save({k: np.array(v, order="C") for k, v in arrays.items()}))
        runtime.write_atomically(path.with_name(raw["arrays"]), lambda part: part.write_bytes(packed))
    text = text_of(raw)
    runtime.write_text(path, text)
    for old in files(path):
        if old.name not in (path.name, raw["arrays"]):
            old.unlink()


def text_of(raw):
    """The text of a file of results, with a hash: a line a field, and a row, so that a diff shows changes."""
    def line(value):
        return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)

    fields = []
    for k, v in sorted((raw | {"check": content.of_json(raw)[:12]}).items()):
        rows = isinstance(v, list) and v and isinstance(v[0], dict)
        text = "[\n" + ",\n".join(f"  {line(part)}" for part in v) + "\n ]" if rows else line(v)
        fields.append(f" {line(k)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def fields_of(path):
    """The fields of a file that `text_of` made. Raises ValueError where it was edited or damaged since."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(raw, dict) or raw.pop("check", None) != content.of_json(raw)[:12]:
        raise ValueError("its content is not what was written")
    return raw


def files(path):
    """Those files that are the run of `path`, and no other one's: itself and its arrays, also of before."""
    path = Path(path)
    return [path] * path.exists() + sorted(path.parent.glob(f"{path.stem}-{'[0-9a-f]' * 12}.safetensors.xz"))


def read(path):
    """The run of a file. Raises UserError that names a damaged file and what to do."""
    path = file = Path(path)
    try:
        raw = fields_of(path)
        if odd := sorted({f.name for f in dataclasses.fields(Run)} ^ raw.keys() - {"arrays"}):
            raise ValueError(f"another form, by {', '.join(odd)}")
        arrays = {}
        if name := raw.pop("arrays"):
            file = path.with_name(name)
            arrays = tensors.load(lzma.decompress(file.read_bytes()))
            if _hash(arrays) not in name:
                raise ValueError("its arrays are not what was written")
        return Run(**raw | {"result": with_arrays(raw["result"], arrays)})
    except Exception as error:  # a flipped bit makes xz, safetensors and json fail in many ways
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise runtime.UserError(f"{file}: damaged ({reason}); {REMEDY}") from None
