"""The published data sets: what each must contain, and reading it from data folder, cache or download.

A reader's own file is read here, too. Nothing published is used before the hash of its arrays agrees with
the one written here, so folder and download give the same tensors. Nothing is read through pickle.
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
CONNECT_SECONDS = 10            # for all mirrors of a data set together


class DataError(runtime.UserError):
    """A data set cannot be had, or one of its files is not what it should be."""


class Missing(DataError):
    """Neither the data folder nor the network has it: another source may stand in."""


@dataclass(frozen=True)
class Spec:
    """What a published data set must be, and where it can be had."""
    name: str
    title: str
    image: tuple[int, int, int]             # channels, height, width
    counts: tuple[int, int]                 # training and test images
    classes: tuple[str, ...]                # empty: the array `name` of the file
    contents: str                           # `fingerprint` of what `canonical` and `fetch` return
    stand_in: str                           # the embedded set that may take its place ...
    stand_in_size: int                      # ... and the size of its images
    extra: tuple[str, ...] = ()             # further keys of the file
    mirrors: tuple[str, ...] = ()
    fetch: Callable[..., Arrays] | None = None          # fetch(mirror, seconds=) -> arrays
    slow: bool = False                      # the npz takes seconds to unpack: once is enough
    remedy: str = "put it there, or run `make data` where there is a network"
    packed: str = ""                        # key of the bytes that hold the test images; no x_test then ...
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
    """Let `sets.load` know one more published data set; returns its `Spec`."""
    SPECS[spec.name] = spec
    return spec


# ---- one file --------------------------------------------------------------------------------------------
def _shapes(spec):
    """Shape of every array in the npz of a data set; None where only the hash knows."""
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
    """The checked arrays of `path`, as `canonical` returns them.

    Raises DataError naming the file: no npz, damaged, pickled, a missing key, a wrong shape, other contents.
    """
    def refuse(why: str) -> NoReturn:
        raise DataError(f"{path}: {why}; delete it, then {spec.remedy}")

    shapes = _shapes(spec)
    arrays = _arrays(path, refuse, shapes)
    for key, shape in shapes.items():
        if shape is not None and arrays[key].shape != shape:
            refuse(f"{key} has shape {arrays[key].shape} instead of {shape}")
    arrays = canonical(arrays, packed=spec.packed)
    if (own := fingerprint(arrays)) != spec.contents:
        refuse(f"its contents have fingerprint {own} instead of {spec.contents}")
    return arrays


def _arrays(path, refuse: Callable[[str], NoReturn], wanted: Iterable[str] = ()) -> Arrays:
    """Arrays of an npz, all where none are `wanted`; calls `refuse` with the reason where that fails."""
    runtime.readable(path)
    try:
        if not zipfile.is_zipfile(path):
            refuse("not an npz file, or cut short")
        # Opened here: np.load leaves its own handle open when the archive is bad.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            if missing := sorted(set(wanted) - set(file.files)):
                refuse(f"lacks {', '.join(missing)}")
            return {key: file[key] for key in wanted or file.files}
    except DataError:
        raise
    except Exception as error:
        # One wrong byte surfaces as almost any error of zipfile, a decompressor, NumPy or its tokenizer.
        reason = str(error).partition("\n")[0]
        refuse(f"damaged or not plain arrays ({reason})")


def read_own(path: str | Path) -> Arrays:
    """The arrays of a reader's own npz, with images x and labels y as x_test and y_test.

    Images come as uint8 or float32 [N, C, H, W], from arrays [N, H, W], [N, C, H, W] or [N, H, W, C]; labels
    as int64 [N]; whatever else is in the file as it is. Raises DataError that says in one line why not.
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
    """The arrays of an npz as they are hashed: images NCHW, integers int64, `packed` and text as they are."""
    def convert(key, value):
        if key.startswith("x_"):
            return np.ascontiguousarray(value[:, None] if value.ndim == 3 else value.transpose(0, 3, 1, 2))
        return value.astype(np.int64) if value.dtype.kind in "iu" and key != packed else value

    return {key: convert(key, value) for key, value in arrays.items()}


# ---- download and cache ----------------------------------------------------------------------------------
def _fetch(spec, folder):
    """Checked arrays from the first mirror that has them; raises Missing with every mirror's reason."""
    reasons = []
    for mirror in spec.mirrors:
        log.info("%s: fetching %s", spec.name, mirror)
        try:
            arrays = spec.fetch(mirror, seconds=CONNECT_SECONDS / len(spec.mirrors))
        except download.DownloadError as error:
            reasons.append(str(error))
            continue
        if (own := fingerprint(arrays)) == spec.contents:
            return arrays
        reasons.append(f"{mirror}: its contents have fingerprint {own} instead of {spec.contents}")
    tried = "; ".join(reasons)
    raise Missing(f"{spec.name}: no {spec.name}.npz in {folder} and no download ({tried}); {spec.remedy}")


def _recall(path, spec):
    """Tensors kept at `path` (mapped; changing them changes no file) and notes; (None, {}) if not right.

    They are known by the fingerprint of their set: the file needs no hash of its own, as `content.read` does.
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
    try:
        runtime.write_atomically(path, lambda part: save_file(tensors, part, metadata=notes))
    except (OSError, SafetensorError) as error:  # a runtime.Unwritable is an OSError
        # A full disk costs the next run its time, not this one its data.
        log.warning("%s: not kept (%s)", path, error)


def read(spec: Spec, *, folder: Path, cache: Path) -> tuple[Arrays | dict[str, torch.Tensor], str]:
    """(arrays, source) of a published data set: from `folder` ("folder"), else cache or network ("download").

    What is slow to get is kept in `cache` as one safetensors file, hashed on every use. One process gets it,
    the others wait. Raises Missing if it is neither here nor there, DataError for a wrong file in `folder`.
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
        # Unpacked from another version of the file: that one has to be checked, it may be damaged.
        if tensors is None or (in_folder and kept_notes != notes):
            arrays = read_npz(path, spec) if in_folder else _fetch(spec, folder)
            tensors, kept_notes = {key: torch.from_numpy(value) for key, value in arrays.items()}, notes
            _keep(kept, tensors, notes)
    return tensors, kept_notes["source"]


def _stamp(path):
    status = path.stat()
    return f"{status.st_size} bytes, {status.st_mtime_ns} ns"
