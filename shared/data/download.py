"""Download of the published archives of MNIST, Fashion-MNIST and CIFAR-10, read in memory, without pickle.

Their contents are not verified here: `archives` compares them with a known hash.
"""
import gzip
import io
import struct
import tarfile
import tempfile
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np

IDX_FILES = {"x_train": "train-images-idx3-ubyte.gz", "y_train": "train-labels-idx1-ubyte.gz",
             "x_test": "t10k-images-idx3-ubyte.gz", "y_test": "t10k-labels-idx1-ubyte.gz"}
CIFAR10_TRAIN = tuple(f"data_batch_{i}.bin" for i in range(1, 6))
CIFAR10_TEST = "test_batch.bin"
CIFAR10_RECORD = 1 + 3 * 32 * 32    # bytes: a label and an image


class DownloadError(OSError):
    """A file cannot be fetched, or is not in its published format."""


# ---- fetching --------------------------------------------------------------------------------------------
def fetch(url: str, *, seconds: float) -> bytes:
    """The bytes at `url`, with a time limit of `seconds` for the connection and between two packets.

    Raises DownloadError: no connection, an error status, an incomplete transfer.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")     # of tqdm in JupyterLab, about widgets, which are not used
        import pooch  # here: only needed without the data

    pooch.get_logger().setLevel("WARNING")      # else it logs advice on hashes
    with tempfile.TemporaryDirectory() as folder:
        try:
            downloader: Any = pooch.HTTPDownloader(timeout=seconds)     # pooch declares another type
            # No hash of the archive: that of its contents is known.
            path = pooch.retrieve(url, None, "packed", folder, downloader=downloader)
            return Path(path).read_bytes()
        except (OSError, ValueError) as error:
            raise DownloadError(f"{url}: {error}") from error


# ---- formats ---------------------------------------------------------------------------------------------
def parse_idx(packed: bytes) -> np.ndarray:
    """The uint8 array in a gzipped idx file (MNIST's format): bytes 0 0 8 n, then n sizes, then the values.

    Raises ValueError or struct.error for another format, and what gzip raises for a damaged stream.
    """
    raw = gzip.decompress(packed)
    if raw[:3] != b"\0\0\x08":
        raise ValueError("not an idx file of bytes")
    start = 4 + 4 * raw[3]
    shape = struct.unpack(f">{raw[3]}I", raw[4:start])
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape).copy()     # bytes are read-only


def parse_cifar10(packed: bytes) -> dict[str, np.ndarray]:
    """The arrays in cifar-10-binary.tar.gz: batches of records of 1 label byte and 3 x 32 x 32 pixel bytes.

    Returns x_train, x_test uint8 [N, 3, 32, 32] and y_train, y_test int64 [N].
    Raises ValueError for another format, and what tarfile raises for a damaged archive.
    """
    files = {}
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        for member in archive:
            if file := archive.extractfile(member):     # None of a folder
                files[member.name.rpartition("/")[2]] = file.read()
    if missing := [name for name in (*CIFAR10_TRAIN, CIFAR10_TEST) if name not in files]:
        raise ValueError(f"the archive lacks {', '.join(missing)}")
    arrays = {}
    for part, names in (("train", CIFAR10_TRAIN), ("test", (CIFAR10_TEST,))):
        records = np.frombuffer(b"".join(files[name] for name in names), np.uint8).reshape(-1, CIFAR10_RECORD)
        arrays[f"x_{part}"] = np.ascontiguousarray(records[:, 1:]).reshape(-1, 3, 32, 32)
        arrays[f"y_{part}"] = records[:, 0].astype(np.int64)
    return arrays


# ---- data sets -------------------------------------------------------------------------------------------
def _fetch_and(parse, url, *, seconds):
    content = fetch(url, seconds=seconds)
    try:
        return parse(content)
    except (ValueError, OSError, EOFError, struct.error, zlib.error, tarfile.TarError) as error:
        raise DownloadError(f"{url} is not the published file: {error}") from error


def fetch_idx(mirror: str, *, seconds: float) -> dict[str, np.ndarray]:
    """MNIST or Fashion-MNIST from the folder `mirror`: x uint8 [N, 1, 28, 28], y int64 [N].

    Raises DownloadError.
    """
    arrays = {key: _fetch_and(parse_idx, mirror + name, seconds=seconds) for key, name in IDX_FILES.items()}
    return {key: value[:, None] if key.startswith("x_") else value.astype(np.int64)
            for key, value in arrays.items()}


def fetch_cifar10(url: str, *, seconds: float) -> dict[str, np.ndarray]:
    """CIFAR-10 from its binary archive at `url`, as `parse_cifar10` returns it. Raises DownloadError."""
    return _fetch_and(parse_cifar10, url, seconds=seconds)
