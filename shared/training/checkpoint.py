"""The state of a run that is not finished yet, so that a killed run goes on instead of starting again.

A checkpoint lies in the cache folder, under the experiment, its version, the run, its arguments and where its
data come from. It goes when the run is written.
"""
from contextlib import contextmanager

from .. import runtime
from ..data import content

_folder = None      # of the run being computed, or None


class Checkpoint:
    """One state: tensors by name, and plain facts. Outside a run it keeps nothing."""

    def __init__(self, path):
        self.path = path

    def save(self, tensors, facts):
        """Keep a state, in place of the last one, atomically. facts: plain JSON values."""
        if self.path is not None:
            content.write(self.path, tensors, {"facts": facts})

    def load(self):
        """`(tensors, facts)` of the last state, or None if there is none, or a damaged one."""
        if self.path is None or not runtime.readable(self.path).exists():
            return None
        try:
            tensors, about = content.read(self.path)
        except ValueError:
            self.path.unlink(missing_ok=True)
            return None
        return tensors, about["facts"]


def checkpoint(label):
    """The checkpoint `label` of the run that is being computed."""
    return Checkpoint(None if _folder is None else _folder / f"{label}.safetensors")


@contextmanager
def kept_in(folder):
    """Inside the block `checkpoint` keeps its states in `folder`."""
    global _folder
    outer, _folder = _folder, folder
    try:
        yield
    finally:
        _folder = outer
