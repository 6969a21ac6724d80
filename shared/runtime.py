"""The machine under a run: folders, atomic files, locks, device, random generators, chunks of a batch."""
import contextlib
import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import torch
from tqdm import tqdm

from shared import ROOT

PROFILES = ("smoke", "quick", "paper")
DEVICES = ("auto", "cpu", "cuda")

# One fixed number of threads: two jobs of two threads each on two cores spin against each other (6 times
# slower), and the number of threads changes the last bits of a sum.
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
# A label is decided by comparing logits: TF32 would move some of them.
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


# ---- what the user can mend, what the project declares -----------------------------------------------------
class UserError(ValueError):
    """What the user can mend: the text is one line that names it, the allowed values and the remedy."""


def version(number):
    """Mark a function or class whose results are known by a declared number instead of by its text.

    For code that may grow without changing what it did before (`fit`): units that ran it stay current until the
    number changes, and a golden test fails when its behaviour changes under the old number.
    """

    def mark(definition):
        definition.declared_version = number
        return definition

    return mark


_ledgers = []


@contextlib.contextmanager
def ledger():
    """Collect what is used inside the block: `{kind: {name: identity}}`, such as data sets and kept nets."""
    book = {}
    _ledgers.append(book)
    try:
        yield book
    finally:
        _ledgers.remove(book)


def used(kind, name, identity):
    """Enter one thing that a result rests on, such as `used("data", "mnist", fingerprint)`, in all open ledgers."""
    for book in _ledgers:
        book.setdefault(kind, {})[name] = identity


# ---- folders ---------------------------------------------------------------------------------------------
def _folder(variable, default):
    return Path(os.environ.get(variable) or ROOT / default).expanduser().absolute()


def data_folder():
    """Where data files are looked for: `$BOUNDARY_DATA`, default `data/`."""
    return _folder("BOUNDARY_DATA", "data")


def cache_folder():
    """Where finished work is kept: `$BOUNDARY_CACHE`, default `_cache/`. Safe to delete."""
    return _folder("BOUNDARY_CACHE", "_cache")


def results_folder():
    """Where units, records and kept nets are: `$BOUNDARY_RESULTS`, default `results/`."""
    return _folder("BOUNDARY_RESULTS", "results")


# ---- files -----------------------------------------------------------------------------------------------
def write_atomically(path, writer):
    """Let `writer(temporary_path)` write a file or folder, then move it to `path` in one step.

    Whatever stops the writer, `path` is either what it was or complete, and nothing half-written stays.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".part-", dir=path.parent))
    try:
        part = scratch / path.name
        writer(part)
        os.replace(part, path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return path


@contextlib.contextmanager
def lock(path, *, wait=True):
    """Hold the lock of `path` (a neighbour `.<name>.lock`); yields False if `wait` is off and it is taken.

    The kernel drops the lock when its holder dies, so no lock is ever stale.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(f".{path.name}.lock"), "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


# ---- device and randomness -------------------------------------------------------------------------------
def pick_device(name="auto"):
    """`auto` takes CUDA where there is one, else the CPU. Raises ValueError for anything that cannot be had."""
    if name not in DEVICES:
        raise ValueError(f"unknown device {name!r}; allowed: {', '.join(DEVICES)}")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device 'cuda' asked for but this machine has none; use 'auto' or 'cpu'")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


_device = None


def use_device(name):
    """Let `device()` be what `pick_device(name)` picks, for this process; returns it."""
    global _device
    _device = pick_device(name)
    return _device


def device():
    """The device that this process works on; `auto` unless `use_device` was called."""
    return _device or use_device("auto")


def generator(seed, *labels):
    """A CPU generator for one purpose: the same seed and labels give the same numbers on every device."""
    digest = hashlib.sha256(repr((int(seed), *labels)).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


# ---- progress --------------------------------------------------------------------------------------------
def progress(total, label):
    """A text progress bar where somebody may be looking: a terminal or a notebook. It leaves nothing behind."""
    watched = sys.stdout.isatty() or "ipykernel" in sys.modules
    return tqdm(total=total, desc=label, file=sys.stdout, leave=False, disable=not watched)


# ---- chunks ----------------------------------------------------------------------------------------------
def chunk_size(item_bytes, device, limit=65536):
    """How many items of `item_bytes` of work memory to take at once on `device`.

    On the CPU a chunk that stays near the caches (32 MiB) is the fastest; on CUDA a quarter of free memory.
    """
    budget = torch.cuda.mem_get_info(device)[0] // 4 if device.type == "cuda" else 32 * 2**20
    return max(1, min(limit, int(budget // max(1, item_bytes))))


def chunked(function, *tensors, chunk):
    """`function` over chunks of the tensors' first axis, results concatenated.

    A chunk that does not fit in memory is halved and tried again; only a single item that does not fit fails.
    """
    total, start, parts = len(tensors[0]), 0, []
    while start < total or not parts:
        try:
            parts.append(function(*(t[start:start + chunk] for t in tensors)))
            start += chunk
        except (torch.OutOfMemoryError, RuntimeError) as error:
            out_of_memory = isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
            if not out_of_memory or chunk == 1:
                raise
            chunk = max(1, chunk // 2)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
    return torch.cat(parts)
