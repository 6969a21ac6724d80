"""Independent units of work: each is computed once, kept in the cache when done, and never half-kept.

A unit is a call `function(**arguments)`. Its place in the cache is a hash of the function's code, of all project
code that function reaches, and of the arguments' content (tensors, nets and data sets by their bytes), so nothing
stale is ever found. Several processes, on one machine or on forty over one folder, can work on one list.
"""
import dataclasses
import dis
import inspect
import io
import json
import sys
import time
import types
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch

from shared import runtime
from shared.units import sources


# ---- identity --------------------------------------------------------------------------------------------
def fingerprint(value):
    """A short hash of a value's content.

    Takes None, bool, int, float, str, tensors, arrays, `nn.Module`s, containers of these, and objects with a
    `fingerprint` of their own. Raises TypeError for anything else: an identity must not be guessed.
    """
    digest = sha256()

    def feed(v):
        if v is None or isinstance(v, (bool, int, float, str, np.number)):
            digest.update(f"{type(v).__name__}:{v!r};".encode())
        elif isinstance(getattr(v, "fingerprint", None), str):
            digest.update(f"{type(v).__name__}:{v.fingerprint};".encode())
        elif isinstance(v, (torch.Tensor, np.ndarray)):
            array = v.detach().cpu().contiguous().numpy() if isinstance(v, torch.Tensor) else np.ascontiguousarray(v)
            digest.update(f"{array.dtype}{array.shape};".encode())
            digest.update(array.data if array.size else b"")
        elif isinstance(v, torch.nn.Module):
            feed(repr(v))
            feed(dict(v.state_dict()))
        elif dataclasses.is_dataclass(v):
            feed([type(v).__name__, *(getattr(v, f.name) for f in dataclasses.fields(v))])
        elif isinstance(v, dict):
            digest.update(b"{")
            for k in v:
                feed(k)
                feed(v[k])
            digest.update(b"}")
        elif isinstance(v, (list, tuple, range)):
            digest.update(b"[")
            for each in v:
                feed(each)
            digest.update(b"]")
        else:
            raise TypeError(f"a unit's argument of type {type(v).__name__} has no fingerprint; pass numbers, text, "
                            "tensors, modules, or objects with a `fingerprint` attribute")

    feed(value)
    return digest.hexdigest()[:20]


def _globals(function):
    """Global variables that a function reads, also in functions within it (attribute names do not count)."""
    names, queue = set(), [function.__code__]
    while queue:
        code = queue.pop()
        names |= {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
        queue += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return {n: function.__globals__[n] for n in names if n in function.__globals__}


def _reach(function):
    """Files and notebook functions whose code `function` depends on."""
    file = Path(inspect.getsourcefile(function) or "")
    if file.is_relative_to(runtime.ROOT / "shared"):
        return {file}, []
    files, snippets, seen, queue = set(), [], set(), [function]
    while queue:
        f = queue.pop()
        if f in seen:
            continue
        seen.add(f)
        snippets.append(inspect.cleandoc("\n" + inspect.getsource(f)))
        for name, value in {**_globals(f), **inspect.getclosurevars(f).nonlocals}.items():
            module = value if inspect.ismodule(value) else sys.modules.get(getattr(value, "__module__", None))
            where = getattr(module, "__file__", None)
            if where and Path(where).is_relative_to(runtime.ROOT / "shared"):
                files.add(Path(where))
            elif isinstance(value, types.FunctionType):
                queue.append(value)
            elif not (inspect.ismodule(value) or inspect.isclass(value) or callable(value)):
                raise TypeError(f"unit function {f.__name__!r} reads the variable {name!r}; pass it as an argument, "
                                "so that the cache knows of it")
    return files, sorted(snippets)


def code_of(function):
    """Hash of a unit function's code and of all project code it reaches."""
    files, snippets = _reach(function)
    return sources.code_hash(*files, snippets=snippets)


# ---- storage ---------------------------------------------------------------------------------------------
def save(path, result):
    """Write a dict of JSON values, arrays and tensors as one `.npz`, without pickle, atomically."""
    arrays = {k: v.detach().cpu().numpy() if isinstance(v, torch.Tensor) else v
              for k, v in result.items() if isinstance(v, (torch.Tensor, np.ndarray))}
    plain = {k: v for k, v in result.items() if k not in arrays}
    text = np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)

    def writer(part):
        with open(part, "wb") as handle:
            np.savez_compressed(handle, __json__=text, **arrays)

    runtime.write_atomically(path, writer)


def load(path):
    """Read what `save` wrote. Raises ValueError naming the file if it is damaged."""
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as z:
            result = json.loads(z["__json__"].tobytes())
            return result | {k: z[k] for k in z.files if k != "__json__"}
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: damaged ({error}); delete it to have it made again") from None


# ---- the list --------------------------------------------------------------------------------------------
def run(function, units, *, label):
    """`[function(**unit) for unit in units]`, each from the cache if it is there.

    Each result is a dict of JSON values, arrays and tensors; it comes back with the key `seconds` added, the time
    its computation took when it was made. A damaged entry is named and made again. A unit that another process is
    working on is left to it and collected at the end.
    """
    folder = runtime.cache_folder() / "units" / label
    code = code_of(function)
    paths = [folder / f"{fingerprint([code, unit])}.npz" for unit in units]
    results = {}
    with runtime.progress(len(units), label) as bar:
        for wait in (False, True):
            for i, (unit, path) in enumerate(zip(units, paths)):
                if i in results:
                    continue
                with runtime.lock(path, wait=wait) as mine:
                    if mine:
                        results[i] = _one(function, unit, path)
                        bar.update()
    return [results[i] for i in range(len(units))]


def _one(function, unit, path):
    if path.exists():
        try:
            return load(path)
        except ValueError as error:
            print(f"cache: {error}: making it again", file=sys.stderr)
    start = time.perf_counter()
    result = function(**unit)
    result["seconds"] = round(time.perf_counter() - start, 3)
    save(path, result)
    return load(path)  # what a second run will see is what the first one sees
