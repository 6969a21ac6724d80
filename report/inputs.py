"""What a run or a page reads while it computes, and where a run keeps its state meanwhile."""
import contextlib

from shared import runtime
from shared.training.checkpoint import Checkpoint

_collections, _states = [], [None]


@contextlib.contextmanager
def collected():
    """Collect what is read inside the block, data sets, runs, networks: `{kind: {name: identity}}`."""
    entries = {}
    _collections.append(entries)
    try:
        yield entries
    finally:
        _collections[:] = [other for other in _collections if other is not entries]


def used(kind, name, identity):
    """Enter what is read, such as `used("data", "mnist", fingerprint)`, in all open collections."""
    for entries in _collections:
        entries.setdefault(kind, {})[name] = identity


runtime.observers.append(used)      # `shared` notifies of data sets, and of samples smaller than requested


@contextlib.contextmanager
def innermost(stack, value):
    """Inside the block a value is the last of a list."""
    stack.append(value)
    try:
        yield
    finally:
        stack.pop()


def kept_in(folder):
    """A block in which `checkpoint` keeps its states in `folder`; None keeps none."""
    return innermost(_states, folder)


def recording():
    """Whether a run is being computed that will be kept as a file."""
    return _states[-1] is not None


def checkpoint(label):
    """The `Checkpoint` of that label of the run that is being computed; it keeps nothing in a small run.

    Each network of a run has its own.
    """
    return Checkpoint(_states[-1] / f"{label}.safetensors" if recording() else None)
