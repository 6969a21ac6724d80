"""The state of a unit that is not finished yet, so that a killed run goes on instead of starting again.

A checkpoint lies in the cache folder and holds, beside the state, what project code ran before it was
written: where that code has changed since, the state is dropped. It goes when its unit is written.
"""
from contextlib import contextmanager

from shared.data import content
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
        ran = None if self.path is None else self.ran.ran()
        if ran is None or identity.edited(self.ran):
            return
        content.write(self.path, tensors, {"facts": facts, "ran": ran})

    def load(self):
        """`(tensors, facts)` of the last state, or None if there is none that still counts."""
        if self.path is None or not self.path.exists():
            return None
        try:
            tensors, about = content.read(self.path)
        except ValueError:
            about = None
        if about is None or not self.ran.resume(about["ran"]):
            self.path.unlink(missing_ok=True)
            return None
        return tensors, about["facts"]


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
