"""What things hold, as a hash; and files of tensors that are believed only where it agrees.

The arrays of a run are kept in an .npz next to its JSON: compressed, under names that are hashes.
"""
import json
import sys
from hashlib import sha256

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from .. import runtime

# What is hashed before an array's bytes. The second form names the arrays of all recorded runs.
HEAD, UNIT_HEAD = "{name}:{array.dtype.str}{array.shape};", "{name}{array.dtype}{array.shape};"


def of_json(value):
    """Hash of a plain value."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def of_arrays(arrays, about="", *, head=HEAD):
    """Hash of a text and of names, types, shapes and bytes of `arrays`: {name: tensor or NumPy array}."""
    digest = sha256(about.encode())
    for name in sorted(arrays):
        array = arrays[name]
        array = array.detach().cpu().numpy() if isinstance(array, torch.Tensor) else array
        digest.update(head.format(name=name, array=array).encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
    return digest.hexdigest()


def fingerprint(arrays):
    """16 hexadecimal digits that identify data sets and networks; a single number counts as one of a row."""
    return of_arrays({name: array.reshape(array.shape or (1,)) for name, array in arrays.items()})[:16]


def write(path, tensors, about):
    """Keep {name: tensor}, with plain facts about them, as the file `path`, in one step."""
    # A file holds no tensor twice: each is copied, since two may be one.
    tensors = {name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
               for name, tensor in tensors.items()}
    about = json.dumps(about, sort_keys=True)
    metadata = {"about": about, "sha256": of_arrays(tensors, about)}
    runtime.write_atomically(path, lambda part: save_file(tensors, part, metadata))


def write_npz(path, arrays):
    """Keep {name: array} as a compressed .npz, in one step."""
    def save(part):
        with open(part, "wb") as handle:
            np.savez_compressed(handle, **arrays)

    return runtime.write_atomically(path, save)


def sound(path, read, *given):
    """What `read(path, ...)` gives; None where there is no file, or one that it refuses, which is named."""
    try:
        return read(path, *given) if runtime.readable(path).exists() else None
    except runtime.UserError as error:
        print(f"not used: {error}", file=sys.stderr)
        return None


def read(path):
    """`(tensors, about)` of a file that `write` wrote. Raises ValueError that says in one line why not.

    One that may not be read is a `runtime.Unreadable`: nothing is wrong with it.
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
