"""Error messages, folders, files, locks, device, random generators, progress bars and chunks.

torch is imported where it is used: commands that compute nothing start two seconds sooner.
"""
from __future__ import annotations

import contextlib
import errno
import hashlib
import numbers
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import filelock
from tqdm import tqdm

if TYPE_CHECKING:
    import torch

PROFILES = ("smoke", "quick", "paper")
DEVICES = ("auto", "cpu", "cuda")
P = TypeVar("P", bound=str | Path)

# ---- errors ----------------------------------------------------------------------------------------------
class UserError(ValueError):
    """An error that the user can correct: one line with the cause, the allowed values and the remedy."""

    def _render_traceback_(self):
        """Called by IPython: a notebook shows the line without a traceback."""
        return [f"{type(self).__name__}: {self}"]


class Unreadable(UserError, OSError):
    """A file that this account has no permission to read, or whose folder it may not enter."""


class Unwritable(UserError, OSError):
    """A file or folder that cannot be written: no space, no permission, not a folder."""


STOPPED = "stopped; the same command goes on where it was"
NO_MEMORY = "not enough memory for this size; ask for less, or run fewer jobs at a time (make JOBS=1)"
_NO_MEMORY_WORDS = ("can't allocate memory", "not enough memory", "out of memory", "Unable to allocate")
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR,
               errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG, errno.EFBIG}


def one_line(kind: str, text: str) -> str | None:
    """A line for an exception (class name, text) that is no fault of the program, else None."""
    if kind in ("MemoryError", "_ArrayMemoryError", "OutOfMemoryError") or (
            kind == "RuntimeError" and any(words in text for words in _NO_MEMORY_WORDS)):
        return NO_MEMORY
    return STOPPED if kind == "KeyboardInterrupt" else None


def _hook(otherwise, kind, error, trace):
    line = str(error) if issubclass(kind, UserError) else one_line(kind.__name__, str(error))
    if line is None:
        return otherwise(kind, error, trace)
    print(f"{Path(sys.argv[0]).name or 'python'}: {line}", file=sys.stderr)


def stop_cleanly() -> None:
    """Let SIGTERM end this script as Ctrl-C does: partial files are removed, and a line is printed."""
    def stop(number, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


def _threads():
    threads = os.environ.get("OMP_NUM_THREADS", "").strip() or "1"
    if not threads.isdecimal() or int(threads) < 1:
        raise UserError(f"OMP_NUM_THREADS={threads!r} in the environment; allowed: a whole number from 1; "
                        "set it to 1, or unset it")
    return int(threads)


def prepare(*, computes: bool = True) -> None:
    """Set up this process, which importing the package does not change.

    Notebooks, commands and tests call this first. Errors that the user can correct are then printed in one
    line, and results do not depend on the number of cores.

    computes   False where another process computes, such as a notebook's kernel: torch is not imported
    """
    if getattr(sys.excepthook, "func", None) is not _hook:
        sys.excepthook = partial(_hook, sys.excepthook)
    for stream in (sys.stdout, sys.stderr):     # no UnicodeEncodeError on a terminal without UTF-8
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    if sys.flags.optimize:
        raise UserError("Python runs with -O or PYTHONOPTIMIZE, which leaves out the checks of results and "
                        "the texts of commands; unset it")
    threads = _threads()
    if not computes:
        return
    import torch
    # A fixed number of threads: two jobs of two threads each on two cores are 6 times slower than of one, and
    # the number of threads changes the last bits of a sum.
    torch.set_num_threads(threads)
    # TF32 would change labels whose logits are close.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


# ---- observers of inputs ---------------------------------------------------------------------------------
observers: list[Callable[[str, str, str | int], object]] = []   # called by `notify`


def notify(kind: str, name: str, identity: str | int) -> None:
    """Notify the observers of an input, as in `notify("data", "mnist", fingerprint)`."""
    for observer in observers:
        observer(kind, name, identity)


def at_most(requested: int, available: int) -> int:
    """The smaller number of images; the observers are notified if fewer are available than requested."""
    if requested > available:
        notify("fewer", f"{requested:,} images asked, {available:,} there", available)
    return min(requested, available)


# ---- folders ---------------------------------------------------------------------------------------------
# By default in the book's repository; for a package installed without it, in `~/.cache/boundary-book`.
ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"BOUNDARY_CACHE": "_cache", "BOUNDARY_DATA": "data"}


def folder(variable: str) -> Path:
    """The folder that an environment variable of `FOLDERS` names, or its default."""
    parent = ROOT if (ROOT / "notebooks").is_dir() else Path("~/.cache/boundary-book")  # not among packages
    return Path(os.environ.get(variable) or parent / FOLDERS[variable]).expanduser().absolute()


def data_folder() -> Path:
    """The folder of data files: `$BOUNDARY_DATA`, default `data/`."""
    return folder("BOUNDARY_DATA")


def cache_folder() -> Path:
    """The folder of intermediate results: `$BOUNDARY_CACHE`, default `_cache/`. Safe to delete."""
    return folder("BOUNDARY_CACHE")


# ---- files -----------------------------------------------------------------------------------------------
_DAY = 24 * 3600


def _remedy(path):
    for variable in FOLDERS:
        if folder(variable) in (path, *path.parents):
            return f"or name another folder in {variable}"
    return "or name another folder (BOUNDARY_CACHE moves the cache)"


def readable(path: P) -> P:
    """The path, of a file that may be read or does not exist. Raises Unreadable, naming the permission.

    Libraries report a file without permission as damaged or missing.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        try:
            open(path, "rb").close()
        except PermissionError as error:
            right = f"to read {path}"
            for folder in reversed(Path(path).absolute().parents):
                try:
                    os.stat(os.path.join(folder, "."))
                except PermissionError:
                    right = f"to enter the folder {folder}, where {Path(path).name} is looked for"
                    break
            raise Unreadable(f"this account lacks the right {right}; have its owner give it (chmod), "
                             f"{_remedy(Path(path).absolute())}") from error
    return path


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Context in which errors of writing `path` are raised as Unwritable, in one line."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        # Libraries in Rust give the number only in their text.
        number = getattr(error, "errno", None) or int(*re.findall(r"os error (\d+)", str(error))[:1] or [0])
        if number not in _UNWRITABLE:
            raise
        raise Unwritable(f"{path}: cannot be written ({os.strerror(number)}); free space there or mend its "
                         f"rights, {_remedy(Path(path).absolute())}") from error


def write_atomically(path: str | Path, writer: Callable[[Path], object]) -> Path:
    """Let `writer(temporary_path)` write a file or folder, then move it to `path` in one step.

    Whatever stops the writer, `path` is either unchanged or complete, and no partial file remains: what a
    killed process left is removed by a later call on the same folder, after a day. Raises Unwritable for a
    full disk, a folder without permission and the like.
    """
    path = Path(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(".part-*"):
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > _DAY:
                    shutil.rmtree(left)
        scratch = Path(tempfile.mkdtemp(prefix=".part-", dir=path.parent))
        try:
            part = scratch / path.name
            writer(part)
            os.replace(part, path)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return path


def write_text(path: str | Path, text: str) -> None:
    """Write a text file by `write_atomically`, in UTF-8 and with the same line ends on every system."""
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


@contextlib.contextmanager
def lock(path: str | Path) -> Iterator[None]:
    """Context that holds the lock of `path`, a file in the cache folder; freed when its process ends."""
    digest = hashlib.sha256(str(Path(path).absolute()).encode()).hexdigest()[:12]
    place = cache_folder() / "locks" / f"{Path(path).name}-{digest}.lock"
    with writing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        held = filelock.FileLock(place)
        held.acquire()
    try:
        yield
    finally:
        held.release()


# ---- device and randomness -------------------------------------------------------------------------------
def pick_device(name: str = "auto") -> torch.device:
    """A device by name; `auto`: CUDA if available, else the CPU. Raises UserError for an unavailable one."""
    if name not in DEVICES:
        raise UserError(f"unknown device {name!r}; allowed: {', '.join(DEVICES)}")
    import torch
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device 'cuda' is not available on this machine; use 'auto' or 'cpu'")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


_device = None


def use_device(name: str) -> torch.device:
    """Set what `device()` returns in this process to `pick_device(name)`; returns it."""
    global _device
    _device = pick_device(name)
    return _device


def device() -> torch.device:
    """The device of this process; `auto` unless `use_device` was called."""
    return _device or use_device("auto")


def clock() -> float:
    """Seconds on the clock that tells what a computation costs; only differences mean something.

    Where one thread of a processor does all the work it is the process's own: a pause of the machine
    and a neighbour on the same core do not count.
    """
    import torch
    alone = device().type == "cpu" and torch.get_num_threads() == 1
    return time.process_time() if alone else time.perf_counter()


def has_bf16(device: torch.device) -> bool:
    """Whether bfloat16 is faster on the device; emulated, it is ten times slower than float32."""
    import torch
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    able = getattr(torch.cpu, "get_capabilities", dict)()     # absent before torch 2.11
    # On a Xeon without AMX a training takes 1.4 times as long in bfloat16, a forward pass 1.25 times.
    wide = able.get("avx512_bf16") and "Intel" not in able.get("cpu_name", "")
    return bool(wide or able.get("amx_bf16") or able.get("bf16"))


def bf16(device: torch.device, wanted: bool = True) -> torch.autocast:
    """Context in which networks compute in bfloat16 if wanted and available, else in float32."""
    import torch
    return torch.autocast(device.type, torch.bfloat16, enabled=wanted and has_bf16(device))


def generator(seed: int, *labels: object) -> torch.Generator:
    """A CPU generator for one purpose, which the seed and labels determine, on every device."""
    import torch
    digest = hashlib.sha256(repr((int(seed), *labels)).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def seeded(generator: torch.Generator | int | None, name: str) -> torch.Generator:
    """A CPU generator: the given one, or a new one with the given seed.

    Raises UserError, with the `name` of the instrument that draws, for None and anything else.
    """
    import torch
    if isinstance(generator, numbers.Integral) and not isinstance(generator, bool):
        return torch.Generator().manual_seed(int(generator))
    if not isinstance(generator, torch.Generator) or generator.device.type != "cpu":
        raise UserError(f"{name} draws at random: pass generator=0, a seed, or a torch.Generator() of the "
                        f"CPU, not {type(generator).__name__}")
    return generator


# ---- progress --------------------------------------------------------------------------------------------
progress_stream = None      # progress_stream() -> stream of progress bars instead of standard output, or None


def progress(total: int, label: str) -> tqdm:
    """A text progress bar in a terminal or a notebook, which is cleared at its end; elsewhere disabled."""
    stream = progress_stream and progress_stream()
    shown = stream is not None or sys.stdout.isatty() or "ipykernel" in sys.modules
    return tqdm(total=total, desc=label, file=stream or sys.stdout, leave=False, miniters=1,
                disable=not shown)


# ---- chunks ----------------------------------------------------------------------------------------------
def chunk_size(item_bytes: int, device: torch.device, limit: int = 65536) -> int:
    """How many items, of `item_bytes` of memory each, to process at once on `device`.

    On the CPU 32 MiB in all, near the size of its caches, is fastest; on CUDA a quarter of free memory.
    """
    import torch
    budget = torch.cuda.mem_get_info(device)[0] // 4 if device.type == "cuda" else 32 * 2**20
    return max(1, min(limit, int(budget // max(1, item_bytes))))


def chunked(function: Callable[..., torch.Tensor], *tensors: torch.Tensor, chunk: int) -> torch.Tensor:
    """`function` over chunks of the tensors' first axis, results concatenated.

    A chunk that does not fit in memory is halved and repeated, down to a single item.
    """
    import torch
    if chunk < 1:
        raise UserError(f"chunk={chunk}; at least 1 image at a time is needed")
    total, start, parts = len(tensors[0]), 0, []
    while start < total or not parts:
        try:
            parts.append(function(*(t[start:start + chunk] for t in tensors)))
            start += chunk
        except RuntimeError as error:
            full = isinstance(error, torch.cuda.OutOfMemoryError) or "can't allocate memory" in str(error)
            if not full or chunk == 1:
                raise
            chunk = max(1, chunk // 2)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
    return torch.cat(parts)
