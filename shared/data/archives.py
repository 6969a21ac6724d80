"""The published data sets: their required contents, and how they are read from folder, cache or download.

A reader's own file is read here, too. The arrays of a published set are verified by a hash, so that folder
and download give the same tensors. Nothing is read through pickle.
"""
import logging
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from .. import runtime
from . import download
from .content import fingerprint

log = logging.getLogger(__name__)
Arrays = dict[str, np.ndarray]
CONNECT_SECONDS = 10            # time limit for all mirrors of a data set together


class DataError(runtime.UserError):
    """A data set is unavailable, or its file has other contents."""


class Missing(DataError):
    """A data set is neither in the data folder nor downloadable; a stand-in may replace it."""


@dataclass(frozen=True)
class Spec:
    """The required contents of a published data set, and its sources."""
    name: str
    title: str
    image: tuple[int, int, int]             # channels, height, width
    counts: tuple[int, int]                 # training and test images
    classes: tuple[str, ...]                # empty: the array `name` of the file
    contents: str                           # `fingerprint` of the arrays that `canonical` and `fetch` return
    stand_in: str                           # the embedded set that may replace it ...
    stand_in_size: int                      # ... and the size of its images
    extra: tuple[str, ...] = ()             # further keys of the file
    mirrors: tuple[str, ...] = ()
    fetch: Callable[..., Arrays] | None = None          # fetch(mirror, seconds=) -> arrays
    slow: bool = False                      # the npz takes seconds to unpack: its tensors are cached
    remedy: str = "put it there, or run `make data` where there is a network"
    packed: str = ""                        # key of the encoded test images, if there is no x_test ...
    unpack: Callable[[Arrays], np.ndarray] | None = None         # ... unpack(arrays) -> uint8 [N, C, H, W]
    stand_in_extra: Callable | None = None  # stand_in_extra(arrays, classes) -> `extra` of the stand-in


FASHION = ("T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag",
           "ankle boot")
CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

SPECS = {spec.name: spec for spec in (
    Spec("mnist", "MNIST", (1, 28, 28), (60000, 10000), tuple("0123456789"), "e306242b6b6b6e83",
         "digits", 28, fetch=download.fetch_idx,
         mirrors=("https://ossci-datasets.s3.amazonaws.com/mnist/",
                  "https://storage.googleapis.com/cvdf-datasets/mnist/")),
    Spec("fashion_mnist", "Fashion-MNIST", (1, 28, 28), (60000, 10000), FASHION, "ae6a77e810121bca",
         "digits", 28, fetch=download.fetch_idx,
         mirrors=("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                  "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/")),
    Spec("cifar10", "CIFAR-10", (3, 32, 32), (50000, 10000), CIFAR10, "54930a74e186215e",
         "shapes", 32, fetch=download.fetch_cifar10, slow=True,
         mirrors=("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",)),
)}


def register(spec: Spec) -> Spec:
    """Add a published data set to those of `sets.load`; returns its `Spec`."""
    SPECS[spec.name] = spec
    return spec


# ---- one file --------------------------------------------------------------------------------------------
def _shapes(spec):
    """Shapes of the arrays in the npz of a data set; None where it is not specified."""
    channels, height, width = spec.image
    image = (height, width) if channels == 1 else (height, width, channels)
    shapes = dict.fromkeys(spec.extra)
    for part, count in zip(("train", "test"), spec.counts):
        if count:
            shapes |= {f"x_{part}": (count, *image), f"y_{part}": (count,)}
    if spec.packed:
        del shapes["x_test"]
    return shapes


def read_npz(path: str | Path, spec: Spec) -> Arrays:
    """The verified arrays of `path`, as `canonical` returns them.

    Raises DataError with the file's name: no npz, damaged, pickled, a missing key, a wrong shape or contents.
    """
    def refuse(why: str) -> NoReturn:
        raise DataError(f"{path}: {why}; delete it, then {spec.remedy}")

    shapes = _shapes(spec)
    arrays = _arrays(path, refuse, shapes)
    for key, shape in shapes.items():
        if shape is not None and arrays[key].shape != shape:
            refuse(f"{key} has shape {arrays[key].shape} instead of {shape}")
    arrays = canonical(arrays, packed=spec.packed)
    if (contents := fingerprint(arrays)) != spec.contents:
        refuse(f"its contents have fingerprint {contents} instead of {spec.contents}")
    return arrays


def _arrays(path, refuse: Callable[[str], NoReturn], wanted: Iterable[str] = ()) -> Arrays:
    """Arrays of an npz, the `wanted` ones or all; calls `refuse` with the reason if that fails."""
    runtime.readable(path)
    try:
        if not zipfile.is_zipfile(path):
            refuse("not an npz file, or cut short")
        # Opened here, since np.load does not close its handle for a damaged archive.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            if missing := sorted(set(wanted) - set(file.files)):
                refuse(f"lacks {', '.join(missing)}")
            return {key: file[key] for key in wanted or file.files}
    except DataError:
        raise
    except Exception as error:
        # A wrong byte can raise almost any error of zipfile, a decompressor, NumPy or its tokenizer.
        reason = str(error).partition("\n")[0]
        refuse(f"damaged or not plain arrays ({reason})")


def read_own(path: str | Path) -> Arrays:
    """The arrays of a reader's own npz, with images x and labels y as x_test and y_test.

    Images are returned as uint8 or float32 [N, C, H, W], from [N, H, W], [N, C, H, W] or [N, H, W, C]; labels
    as int64 [N]; other arrays unchanged. Raises DataError with the reason in one line.
    """
    def refuse(why: str) -> NoReturn:
        raise DataError(f"data {path}: {why}; an .npz with arrays x (images) and y (labels), or x_train, "
                        "y_train, x_test and y_test, is needed")

    if not Path(runtime.readable(path)).exists():
        refuse("no such file")
    arrays = _arrays(path, refuse)
    arrays = {{"x": "x_test", "y": "y_test"}.get(key, key): value for key, value in arrays.items()}
    if "x_test" not in arrays:
        refuse(f"holds {', '.join(arrays) or 'nothing'}")
    for part in ("train", "test") if "x_train" in arrays else ("test",):
        x, y = arrays[f"x_{part}"], arrays.get(f"y_{part}", np.empty(0))
        if x.dtype != np.uint8 and x.dtype.kind != "f" or x.ndim not in (3, 4) or not x.size:
            refuse(f"images {x.dtype} {list(x.shape)} instead of uint8 or float [N, H, W] or [N, C, H, W]")
        if y.dtype.kind not in "iu" or y.shape != x.shape[:1]:
            refuse(f"labels {y.dtype} {list(y.shape)} instead of whole numbers [{len(x)}]")
        last = x.ndim == 4 and x.shape[3] in (1, 3) and x.shape[1] not in (1, 3)
        x = x[:, None] if x.ndim == 3 else x.transpose(0, 3, 1, 2) if last else x
        arrays |= {f"x_{part}": np.ascontiguousarray(x, np.uint8 if x.dtype == np.uint8 else np.float32),
                   f"y_{part}": y.astype(np.int64)}
    return arrays


def canonical(arrays: Arrays, packed: str = "") -> Arrays:
    """The arrays of an npz in the form of the hash: images NCHW, integers int64, others unchanged."""
    def convert(key, value):
        if key.startswith("x_"):
            return np.ascontiguousarray(value[:, None] if value.ndim == 3 else value.transpose(0, 3, 1, 2))
        return value.astype(np.int64) if value.dtype.kind in "iu" and key != packed else value

    return {key: convert(key, value) for key, value in arrays.items()}


# ---- download and cache ----------------------------------------------------------------------------------
def _fetch(spec, folder):
    """Verified arrays from the first mirror that has them. Raises Missing with the reason of each mirror."""
    reasons = []
    for mirror in spec.mirrors:
        log.info("%s: fetching %s", spec.name, mirror)
        try:
            arrays = spec.fetch(mirror, seconds=CONNECT_SECONDS / len(spec.mirrors))
        except download.DownloadError as error:
            reasons.append(str(error))
            continue
        if (contents := fingerprint(arrays)) == spec.contents:
            return arrays
        reasons.append(f"{mirror}: its contents have fingerprint {contents} instead of {spec.contents}")
    tried = "; ".join(reasons)
    raise Missing(f"{spec.name}: no {spec.name}.npz in {folder} and no download ({tried}); {spec.remedy}")


def _recall(path, spec):
    """Tensors cached at `path`, mapped copy-on-write, and notes; (None, {}) if there are none, or others.

    They are verified by the fingerprint of their set, so the file needs no hash of its own (`content.read`).
    """
    if not runtime.readable(path).exists():
        return None, {}
    try:
        with safe_open(path, framework="pt") as file:
            notes, tensors = file.metadata() or {}, {key: file.get_tensor(key) for key in file.keys()}
    except (SafetensorError, OSError) as error:
        log.warning("%s: damaged (%s); made anew", path, error)
        return None, {}
    if fingerprint(tensors) != spec.contents or "source" not in notes:
        log.warning("%s: not the contents of %s; made anew", path, spec.title)
        return None, {}
    return tensors, notes


def _keep(path, tensors, notes):
    """Cache tensors, with notes {text: text}, for `_recall`; a line in the log where that fails."""
    try:
        runtime.write_atomically(path, lambda part: save_file(tensors, part, metadata=notes))
    except (OSError, SafetensorError) as error:  # a runtime.Unwritable is an OSError
        log.warning("%s: not kept (%s)", path, error)       # the next run reads the source again


def read(spec: Spec, *, folder: Path, cache: Path) -> tuple[Arrays | dict[str, torch.Tensor], str]:
    """(arrays, source) of a published data set: from `folder` ("folder"), else cache or network ("download").

    Downloads and slow files are cached as one safetensors file, hashed on every use. One process writes it,
    the others wait. Raises Missing if no source has the set, DataError for a wrong file in `folder`.
    """
    path, kept = folder / f"{spec.name}.npz", cache / "data" / f"{spec.name}.safetensors"
    in_folder = runtime.readable(path).exists()
    if in_folder and not spec.slow:
        return read_npz(path, spec), "folder"
    if not in_folder and not spec.mirrors:
        raise Missing(f"{spec.name}: no {path.name} in {folder}, and nothing to download; {spec.remedy}")
    notes = {"source": "folder", "stamp": _stamp(path)} if in_folder else {"source": "download"}
    with runtime.lock(kept):
        tensors, kept_notes = _recall(kept, spec)
        # A cache of another version of the file is not used: the file has to be verified again.
        if tensors is None or (in_folder and kept_notes != notes):
            arrays = read_npz(path, spec) if in_folder else _fetch(spec, folder)
            tensors, kept_notes = {key: torch.from_numpy(value) for key, value in arrays.items()}, notes
            _keep(kept, tensors, notes)
    return tensors, kept_notes["source"]


def _stamp(path):
    """What tells versions of a file apart without reading it."""
    status = path.stat()
    return f"{status.st_size} bytes, {status.st_mtime_ns} ns"
