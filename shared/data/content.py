"""Content hashes, and files of tensors or arrays with such a hash."""
import json
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from .. import runtime

T = TypeVar("T")

# What is hashed before an array's bytes. The files of recorded runs are named by the second form.
HEAD, RUN_HEAD = "{name}:{array.dtype.str}{array.shape};", "{name}{array.dtype}{array.shape};"


def of_json(value: object) -> str:
    """Hash of a JSON value."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def of_arrays(arrays: Mapping[str, torch.Tensor | np.ndarray], about: str = "", *, head: str = HEAD) -> str:
    """Hash of the text `about` and of names, types, shapes and bytes of {name: tensor or NumPy array}."""
    digest = sha256(about.encode())
    for name in sorted(arrays):
        array = arrays[name]
        array = array.detach().cpu().numpy() if isinstance(array, torch.Tensor) else array
        digest.update(head.format(name=name, array=array).encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def fingerprint(arrays: Mapping[str, torch.Tensor | np.ndarray]) -> str:
    """16 hexadecimal digits that identify data sets and networks; a scalar has the shape [1]."""
    return of_arrays({name: array.reshape(array.shape or (1,)) for name, array in arrays.items()})[:16]


def write(path: str | Path, tensors: Mapping[str, torch.Tensor], about: object) -> None:
    """Write {name: tensor} and the JSON value `about` to the file `path`, atomically."""
    # Copies, since safetensors refuses tensors that share memory.
    tensors = {name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
               for name, tensor in tensors.items()}
    about = json.dumps(about, sort_keys=True)
    metadata = {"about": about, "sha256": of_arrays(tensors, about)}
    runtime.write_atomically(path, lambda part: save_file(tensors, part, metadata))


def sound(path: Path, read: Callable[..., T], *arguments: object) -> T | None:
    """`read(path, *arguments)`; None if there is no file, or `read` raises UserError, which is printed."""
    try:
        return read(path, *arguments) if runtime.readable(path).exists() else None
    except runtime.UserError as error:
        print(f"not used: {error}", file=sys.stderr)
        return None


def read(path: str | Path) -> tuple[dict[str, torch.Tensor], Any]:
    """`(tensors, about)` of a file of `write`. Raises ValueError with one line for a damaged one.

    Raises `runtime.Unreadable` for a file without permission.
    """
    runtime.readable(path)
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}
        if metadata.get("sha256") != of_arrays(tensors, metadata.get("about", "")):
            raise ValueError("its content is not what was written")
        return tensors, json.loads(metadata["about"])
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(str(error).partition("\n")[0]) from None
