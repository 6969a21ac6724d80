"""The data sets as uint8 tensors, whose contents are verified by a hash.

    dataset = load("mnist", profile="quick")
    print(dataset.describe())

A published set is read from the folder `$BOUNDARY_DATA`, else downloaded, else replaced by an embedded set
with a warning (never in the `paper` profile). A reader's own file is a data set, too: `load("leaves.npz")`.
"""
import logging
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .. import runtime
from ..runtime import UserError
from . import archives, standins
from .archives import SPECS, DataError, Missing
from .content import fingerprint

log = logging.getLogger(__name__)

EMBEDDED = ("digits", "shapes")
SOURCES = {"folder": "read from the data folder", "download": "downloaded", "embedded": "embedded",
           "file": "a file of your own"}


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images and labels with their source. Without training images x_train is empty."""
    name: str                   # the argument of `load`
    x_train: torch.Tensor       # uint8 [N, C, H, W]
    y_train: torch.Tensor       # int64 [N]
    x_test: torch.Tensor
    y_test: torch.Tensor
    classes: tuple[str, ...]    # names; a label is an index into it
    source: str                 # "folder", "download", "embedded", "stand-in" or "file"
    stand_in: str | None        # the embedded set that replaces the published one, else None
    fingerprint: str            # `fingerprint` of the tensors
    # further values of the file, by `Spec.extra`: tensors, or tuples of texts
    extra: dict[str, Any] = field(default_factory=dict)

    def describe(self) -> str:
        """One sentence for pages and provenance, which begins with a stand-in if there is one."""
        size = "x".join(map(str, self.x_test.shape[1:]))
        facts = (f"{len(self.x_train):,} training and {len(self.x_test):,} test images of {size}, "
                 f"{len(self.classes):,} classes, fingerprint {self.fingerprint}")
        title = SPECS[self.name].title if self.name in SPECS else Path(self.name).name
        if self.stand_in:
            return (f"EMBEDDED SAMPLE DATA, NOT {title}: the embedded {self.stand_in} ({facts}) replace it; "
                    f"no number from them says anything about {title}.")
        return f"{title}, {SOURCES[self.source]}: {facts}."

    def first(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The first `count` test images and their labels, or all if there are fewer (`runtime.at_most`)."""
        count = runtime.at_most(count, len(self.x_test))
        return self.x_test[:count], self.y_test[:count]


# ---- loading ---------------------------------------------------------------------------------------------
_profile = "quick"


def use_profile(profile: str) -> None:
    """Set the default profile of `load`, for the whole process."""
    global _profile
    _profile = _known_profile(profile)


def origin() -> str:
    """The profile and the data folder, which decide between real data and stand-ins, as text."""
    return f"{_profile}: {runtime.data_folder()}"


def names() -> tuple[str, ...]:
    """Names of the data sets: published ones, to which `archives.register` adds, and embedded ones."""
    return (*SPECS, *EMBEDDED)


def _known_profile(profile):
    if profile not in runtime.PROFILES:
        raise UserError(f"unknown profile {profile!r}; allowed: {', '.join(runtime.PROFILES)}")
    return profile


def _known_set(name):
    if name not in names() and not _own(name):
        raise UserError(f"unknown data set {name!r}; allowed: {', '.join(names())}, or a file NAME.npz")
    return SPECS.get(name)


def _own(name):
    return name.endswith(".npz")


def _place(name, folder):
    """The file of a data set in `folder`; a reader's own is at the path `name`, or in `folder`."""
    if not _own(name):
        return folder / f"{name}.npz"
    path, inside = Path(name).expanduser(), folder / name
    return inside if not runtime.readable(path).exists() and inside.exists() else path


def load(name: str | Path, *, profile: str | None = None, folder: str | Path | None = None,
         cache: str | Path | None = None) -> Dataset:
    """The data set of this name, or of a file; an embedded stand-in where it is missing.

    `runtime.observers` receive its fingerprint (`digits:...` of a stand-in).

    name      one of `names()`; or a reader's own file, NAME.npz, a path or in `folder`: uint8 test images x
              and labels y, or x_train, y_train, x_test and y_test; optionally the names of `classes`
    profile   "smoke": embedded only; "paper": data folder, else download; "quick": as `paper`, else the
              embedded stand-in, with a warning in the log; default: that of `use_profile`, else "quick"
    folder    default `$BOUNDARY_DATA`, else `data/`
    cache     default `$BOUNDARY_CACHE`, else `_cache/`

    Later calls in a process return the same tensors, unless these or the file have changed. Raises UserError
    for a wrong argument; DataError, a UserError, for a wrong file in the data folder, and for a published set
    that is unavailable in the profile `paper`.
    """
    name = str(name)
    spec, profile = _known_set(name), _known_profile(profile or _profile)
    folder, cache = Path(folder or runtime.data_folder()), Path(cache or runtime.cache_folder())
    path = _place(name, folder)
    key = (name, profile, folder, cache, path, str(spec), _state(path))
    dataset, versions = _open(*key)
    if versions != _versions(dataset):  # the caller modified the tensors
        _open.cache_clear()
        dataset, _ = _open(*key)
    identity = f"{dataset.stand_in}:{dataset.fingerprint}" if dataset.stand_in else dataset.fingerprint
    runtime.notify("data", name, identity)
    return dataset


@lru_cache(maxsize=4)
def _open(name, profile, folder, cache, path, *_):
    """(data set, versions of its tensors). Arguments after `path` are only part of the cache's key."""
    spec = SPECS.get(name)
    dataset = _of_reader(name, path) if _own(name) else None
    if spec and profile != "smoke":
        try:
            dataset = _published(spec, *archives.read(spec, folder=folder, cache=cache))
        except Missing as error:
            if profile == "paper":
                raise
            log.warning("%s. The embedded %s stand in.", error, spec.stand_in)
    dataset = dataset or _embedded(name, spec.stand_in if spec else name)
    return dataset, _versions(dataset)


def _versions(dataset):
    held = (dataset.x_train, dataset.y_train, dataset.x_test, dataset.y_test, *dataset.extra.values())
    return [value._version for value in held if isinstance(value, torch.Tensor)]    # counts writes in place


def _state(path):
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _published(spec, arrays, source):
    """The `Dataset` of the arrays of a published set."""
    extra = {}
    if spec.unpack:
        extra = {key: tuple(map(str, value)) for key, value in arrays.items() if value.dtype.kind == "U"}
        arrays = {"x_train": np.empty((0, *spec.image), np.uint8), "y_train": np.empty(0, np.int64),
                  "x_test": spec.unpack(arrays), "y_test": arrays["y_test"]}
    return _dataset(spec.name, arrays, spec.classes or extra["name"], source=source, extra=extra)


def _of_reader(name, path):
    """The `Dataset` of a reader's file. Raises DataError for images that are not uint8, or wrong labels."""
    arrays = archives.read_own(path)
    test = arrays["x_test"]
    arrays = {"x_train": test[:0], "y_train": arrays["y_test"][:0]} | arrays
    for part in ("x_train", "x_test"):
        if arrays[part].dtype != np.uint8 or arrays[part].shape[1:] != test.shape[1:]:
            raise DataError(f"data {path}: {part} is {arrays[part].dtype} {list(arrays[part].shape)}; a data "
                            "set has uint8 images of one size (of floats in [0, 1]: (255 * x).round())")
    labels = np.concatenate([arrays["y_train"], arrays["y_test"]])
    classes = tuple(map(str, arrays.get("classes", range(labels.max() + 1))))
    if not 0 <= labels.min() <= labels.max() < len(classes) or "classes" not in arrays and labels.min():
        raise DataError(f"data {path}: labels lie in {labels.min()}..{labels.max()}; classes begin at 0 "
                        "(take y - 1), and `classes` names each of them")
    kept = {key: arrays[key] for key in ("x_train", "y_train", "x_test", "y_test")}
    return _dataset(name, kept, classes, source="file", extra={})


def _embedded(name, kind):
    """The embedded `Dataset` `kind`, itself or in place of the published set `name`."""
    spec = SPECS.get(name)
    if kind == "digits":
        arrays, classes = standins.digits(), standins.DIGITS
    else:
        arrays, classes = standins.shapes(size=spec.stand_in_size if spec else 32), standins.SHAPES
    extra = spec.stand_in_extra(arrays, classes) if spec and spec.stand_in_extra else {}
    return _dataset(name, arrays, classes, extra=extra, source="stand-in" if spec else "embedded",
                    stand_in=kind if spec else None)


def _dataset(name, arrays, classes, *, source, extra, stand_in=None):
    text = {key: value for key, value in extra.items() if isinstance(value, tuple)}
    tensors = {key: torch.as_tensor(value) for key, value in (arrays | extra).items() if key not in text}
    core = {key: tensors.pop(key) for key in ("x_train", "y_train", "x_test", "y_test")}
    return Dataset(name=name, **core, classes=classes, source=source, stand_in=stand_in,
                   fingerprint=fingerprint({**core, **tensors}), extra={**text, **tensors})
