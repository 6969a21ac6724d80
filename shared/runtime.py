"""The machine under a run: what its user is told, folders, files, locks, device, generators, chunks.

torch is imported where it is used: commands that compute nothing start two seconds sooner.
"""
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
from functools import partial
from pathlib import Path

import filelock
from tqdm import tqdm

PROFILES = ("smoke", "quick", "paper")
DEVICES = ("auto", "cpu", "cuda")

# ---- what the user can mend --------------------------------------------------------------------------------
class UserError(ValueError):
    """What the user can mend: the text is one line that names it, the allowed values and the remedy."""

    def _render_traceback_(self):
        """IPython asks for this: a notebook shows the line alone, too."""
        return [f"{type(self).__name__}: {self}"]


class Unreadable(UserError, OSError):
    """A file that this account has no right to read, or whose folder it has none to enter."""


class Unwritable(UserError, OSError):
    """A file or folder that cannot be written: no space, no right, not a folder."""


STOPPED = "stopped; the same command goes on where it was"
NO_MEMORY = "not enough memory for this size; ask for less, or run fewer jobs at a time (make JOBS=1)"
_NO_MEMORY_WORDS = ("can't allocate memory", "not enough memory", "out of memory", "Unable to allocate")
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR,
               errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG, errno.EFBIG}


def one_line(kind, text):
    """The one line for an exception (its class name, its text) that is no fault of the program; else None."""
    if kind in ("MemoryError", "_ArrayMemoryError", "OutOfMemoryError") or (
            kind == "RuntimeError" and any(words in text for words in _NO_MEMORY_WORDS)):
        return NO_MEMORY
    return STOPPED if kind == "KeyboardInterrupt" else None


def _hook(otherwise, kind, error, trace):
    line = str(error) if issubclass(kind, UserError) else one_line(kind.__name__, str(error))
    if line is None:
        return otherwise(kind, error, trace)
    print(f"{Path(sys.argv[0]).name or 'python'}: {line}", file=sys.stderr)


def stop_cleanly():
    """Let SIGTERM end this script as Ctrl-C does: what is half-written goes, and a line says so."""
    def stop(number, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


def _threads():
    threads = os.environ.get("OMP_NUM_THREADS", "").strip() or "1"
    if not threads.isdecimal() or int(threads) < 1:
        raise UserError(f"OMP_NUM_THREADS={threads!r} in the environment; allowed: a whole number from 1; "
                        "set it to 1, or unset it")
    return int(threads)


def prepare(*, computes=True):
    """Make this process fit for a run; to import this package changes nothing in a process.

    Whatever a person starts calls this first: a notebook, a command, the tests. A mistake that the user can
    mend is then told in one line, and results do not depend on how many cores there are.

    computes   False where others compute, such as the kernel of a notebook: torch is then not imported
    """
    if getattr(sys.excepthook, "func", None) is not _hook:
        sys.excepthook = partial(_hook, sys.excepthook)
    for stream in (sys.stdout, sys.stderr):     # a terminal of another alphabet than UTF-8 stops nothing
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if sys.flags.optimize:
        raise UserError("Python runs with -O or PYTHONOPTIMIZE, which leaves out the checks of results and "
                        "the texts of commands; unset it")
    threads = _threads()
    if not computes:
        return
    import torch
    # One fixed number of threads: two jobs of two threads each on two cores spin against each other (6 times
    # slower), and the number of threads changes the last bits of a sum.
    torch.set_num_threads(threads)
    # A label is decided by comparing logits: TF32 would move some of them.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


# ---- what is read ----------------------------------------------------------------------------------------
observers = []      # each is called as (kind, name, identity) by `tell`


def tell(kind, name, identity):
    """Tell the observers what is read here, such as `tell("data", "mnist", fingerprint)`."""
    for observer in observers:
        observer(kind, name, identity)


def at_most(asked, there):
    """`asked` images, or all that are `there` where these are fewer, which the observers are told."""
    if asked > there:
        tell("fewer", f"{asked:,} images asked, {there:,} there", there)
    return min(asked, there)


# ---- folders ---------------------------------------------------------------------------------------------
# Their defaults lie in the book's repository; of a package installed without it, in `~/.cache/boundary-book`.
ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"BOUNDARY_CACHE": "_cache", "BOUNDARY_DATA": "data"}


def folder(variable):
    """The folder that an environment variable of `FOLDERS` names, or its default."""
    parent = ROOT if (ROOT / "notebooks").is_dir() else Path("~/.cache/boundary-book")  # not among packages
    return Path(os.environ.get(variable) or parent / FOLDERS[variable]).expanduser().absolute()


def data_folder():
    """Where data files are looked for: `$BOUNDARY_DATA`, default `data/`."""
    return folder("BOUNDARY_DATA")


def cache_folder():
    """Where finished work is kept: `$BOUNDARY_CACHE`, default `_cache/`. Safe to delete."""
    return folder("BOUNDARY_CACHE")


def home_writable():
    """Whether libraries can keep their caches in the home of this account."""
    return os.access(os.path.expanduser("~"), os.W_OK)


# ---- files -----------------------------------------------------------------------------------------------
_DAY = 24 * 3600


def _remedy(path):
    for variable in FOLDERS:
        if folder(variable) in (path, *path.parents):
            return f"or name another folder in {variable}"
    return "or name another folder (BOUNDARY_CACHE moves the cache)"


def readable(path):
    """The path of a file that may be read, or is not there. Raises Unreadable, which names the missing right.

    Libraries take a file that they may not read for a damaged or a missing one.
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
def writing(path):
    """Inside the block, what keeps `path` from being written is raised as Unwritable, in one line."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        # Libraries in Rust tell the number in their text only.
        number = getattr(error, "errno", None) or int(*re.findall(r"os error (\d+)", str(error))[:1] or [0])
        if number not in _UNWRITABLE:
            raise
        raise Unwritable(f"{path}: cannot be written ({os.strerror(number)}); free space there or mend its "
                         f"rights, {_remedy(Path(path).absolute())}") from error


def write_atomically(path, writer):
    """Let `writer(temporary_path)` write a file or folder, then move it to `path` in one step.

    Whatever stops the writer, `path` is either what it was or complete, and nothing half-written stays: what
    a killed process could not remove goes with a file that is written into that folder a day later.
    Raises Unwritable for a full disk, a folder without rights and the like.
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


@contextlib.contextmanager
def lock(path):
    """Hold the lock of `path`, a file in the cache folder, in the block; it falls when its holder dies."""
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
def pick_device(name="auto"):
    """`auto` takes CUDA where there is one, else the CPU. Raises UserError for what cannot be had."""
    if name not in DEVICES:
        raise UserError(f"unknown device {name!r}; allowed: {', '.join(DEVICES)}")
    import torch
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device 'cuda' asked for but this machine has none; use 'auto' or 'cpu'")
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


def has_bf16(device):
    """Whether the device has bfloat16; emulated it is ten times slower than float32."""
    import torch
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    able = getattr(torch.cpu, "get_capabilities", dict)()     # from torch 2.11 on; before, none is told of
    return bool(able.get("avx512_bf16") or able.get("amx_bf16") or able.get("bf16"))


def bf16(device, wanted=True):
    """Context in which networks compute in bfloat16 if wanted and if the device has it, else in float32."""
    import torch
    return torch.autocast(device.type, torch.bfloat16, enabled=wanted and has_bf16(device))


def generator(seed, *labels):
    """A CPU generator for one purpose: the same seed and labels give the same numbers on every device."""
    import torch
    digest = hashlib.sha256(repr((int(seed), *labels)).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def seeded(generator, name):
    """The CPU generator that draws for the instrument `name`: itself, or one of an int, its seed.

    Raises UserError for anything else.
    """
    import torch
    if isinstance(generator, numbers.Integral) and not isinstance(generator, bool):
        return torch.Generator().manual_seed(int(generator))
    if not isinstance(generator, torch.Generator) or generator.device.type != "cpu":
        raise UserError(f"{name} draws at random: pass generator=0, a seed, or a torch.Generator() of the "
                        f"CPU, not {type(generator).__name__}")
    return generator


# ---- progress --------------------------------------------------------------------------------------------
progress_stream = None      # progress_stream() -> where bars go instead of standard output, or None


def progress(total, label):
    """A text progress bar where somebody may see it: a terminal or a notebook. It leaves nothing behind."""
    stream = progress_stream and progress_stream()
    seen = stream is not None or sys.stdout.isatty() or "ipykernel" in sys.modules
    return tqdm(total=total, desc=label, file=stream or sys.stdout, leave=False, miniters=1, disable=not seen)


# ---- chunks ----------------------------------------------------------------------------------------------
def chunk_size(item_bytes, device, limit=65536):
    """How many items of `item_bytes` of work memory to take at once on `device`.

    On the CPU a chunk that stays near the caches (32 MiB) is the fastest; on CUDA a quarter of free memory.
    """
    import torch
    budget = torch.cuda.mem_get_info(device)[0] // 4 if device.type == "cuda" else 32 * 2**20
    return max(1, min(limit, int(budget // max(1, item_bytes))))


def chunked(function, *tensors, chunk):
    """`function` over chunks of the tensors' first axis, results concatenated.

    A chunk that does not fit in memory is halved and tried again; only a single item that does not fit fails.
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
