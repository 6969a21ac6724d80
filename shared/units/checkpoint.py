"""The state of a unit that is not finished yet, so that a killed run goes on instead of starting again.

A checkpoint lies in the cache folder and holds, beside the state, what project code ran before it was
written: where that code has changed since, the state is dropped. It goes when its unit is written.
"""
import hashlib
import json
from contextlib import contextmanager

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from shared import runtime
from shared.units import identity

_place = None  # (folder, function that returns and checks what ran) of the unit being computed, or None


class Checkpoint:
    """One state: tensors by name, and plain facts. Outside a unit it keeps nothing."""

    def __init__(self, path, ran):
        self.path, self.ran = path, ran

    def save(self, tensors, facts):
        """Keep a state, in place of the last one, atomically. facts: plain JSON values.

        Nothing is kept where a file was written since this process began: what ran is not what it says now.
        """
        ran = None if self.path is None else self.ran.so_far()
        if ran is None or identity.edited(self.ran):
            return
        told = {"facts": json.dumps(facts), "ran": json.dumps(ran)}
        # A file holds no tensor twice: each is copied, since two may be one.
        kept = {k: v.detach().cpu().clone(memory_format=torch.contiguous_format) for k, v in tensors.items()}
        told["sha256"] = content(told, kept)
        runtime.write_atomically(self.path, lambda part: save_file(kept, part, told))

    def load(self):
        """`(tensors, facts)` of the last state, or None if there is none that still counts."""
        if self.path is None or not self.path.exists():
            return None
        try:
            with safe_open(self.path, "pt") as file:
                told = file.metadata()
                ran, facts = json.loads(told["ran"]), json.loads(told["facts"])
                tensors = {k: file.get_tensor(k) for k in file.keys()}
                if told.pop("sha256") != content(told, tensors):
                    raise ValueError("its content is not what was written")
        except (SafetensorError, OSError, KeyError, TypeError, ValueError):
            ran = None
        if ran is None or not self.ran.resume(ran):
            self.path.unlink(missing_ok=True)
            return None
        return tensors, facts


def content(told, tensors):
    """Hash of facts and of contiguous tensors by name."""
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for k in sorted(tensors):
        digest.update(f"{k}:{tensors[k].dtype}{tuple(tensors[k].shape)};".encode())
        digest.update(tensors[k].reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def checkpoint(label):
    """The checkpoint `label` of the unit that is being computed."""
    if _place is None:
        return Checkpoint(None, None)
    folder, ran = _place
    return Checkpoint(folder / f"{label}.safetensors", ran)


@contextmanager
def kept_in(folder, ran):
    """Inside the block `checkpoint` keeps its states in `folder`; `ran` is the `Recorder` of what runs."""
    global _place
    outer, _place = _place, (folder, ran)
    try:
        yield
    finally:
        _place = outer
