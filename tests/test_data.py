"""The data sets: order of sources, contents, and the ways in which a file or the network can be wrong."""
import contextlib
import gzip
import http.server
import io
import json
import os
import socket
import struct
import subprocess
import sys
import tarfile
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

import papers.imagenet_samples
import papers.sutton.traffic_signs  # noqa: F401
from report import inputs
from report.repository import ROOT
from shared import runtime
from shared.card import images_of
from shared.data import archives, download, sets
from workflow import data

# Small sets in the published formats: 5 training images a CIFAR-10 batch file, 24 and 8 images of MNIST.
COUNTS = {"mnist": (24, 8), "cifar10": (25, 6), "gtsrb": (9, 4), "imagenet1000": (0, 3)}
DEAD = "http://127.0.0.1:9/"    # nobody listens there


# ---- small files in the published formats ----------------------------------------------------------------
def draw(name):
    """Arrays of an npz as the data folder holds them."""
    rng, (train, test) = np.random.default_rng(7), COUNTS[name]
    if name == "imagenet1000":
        jpegs = []
        for _ in range(test):
            file = io.BytesIO()
            Image.fromarray(rng.integers(0, 256, (224, 224, 3), dtype=np.uint8)).save(file, "JPEG")
            jpegs.append(file.getvalue())
        return {"jpeg": np.frombuffer(b"".join(jpegs), np.uint8), "y_test": np.arange(test),
                "offset": np.cumsum([0] + [len(j) for j in jpegs]),
                "wnid": np.array(["n01", "n02", "n03"]), "name": np.array(["tench", "goldfish", "shark"])}
    image = (28, 28) if name == "mnist" else (32, 32, 3)
    arrays = {f"{kind}_{part}": rng.integers(0, highest, (count, *shape), dtype=np.uint8)
              for part, count in (("train", train), ("test", test))
              for kind, highest, shape in (("x", 256, image), ("y", 7, ()))}
    if name == "gtsrb":
        arrays |= {"class_id": np.arange(7, dtype=np.uint8), "track_train": np.arange(train) // 3}
    return arrays


def npz(arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def idx(array):
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return gzip.compress(head + array.tobytes())


def tar(members):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def published(name, arrays):
    """`{path: bytes}` of a server that has MNIST or CIFAR-10, and the path of its mirror."""
    if name == "mnist":
        return {f"/{file}": idx(arrays[key]) for key, file in download.IDX_FILES.items()}, ""

    def records(part, rows):
        images = arrays[f"x_{part}"][rows].transpose(0, 3, 1, 2).reshape(-1, 3072)
        return np.concatenate([arrays[f"y_{part}"][rows, None], images], axis=1).tobytes()

    batches = {f"data_batch_{i + 1}.bin": records("train", slice(5 * i, 5 * i + 5)) for i in range(5)}
    batches |= {"test_batch.bin": records("test", slice(None)), "batches.meta.txt": b"airplane\n"}
    return {"/c.tar.gz": tar(dict(sorted(batches.items(), reverse=True)))}, "c.tar.gz"  # any order will do


@pytest.fixture
def small(monkeypatch):
    """small(name) makes `name` small and without mirrors, and returns the arrays of its npz."""
    def shrink(name, mirrors=()):
        arrays = draw(name)
        contents = archives.fingerprint(archives.canonical(arrays, archives.SPECS[name].packed))
        spec = replace(archives.SPECS[name], counts=COUNTS[name], contents=contents, mirrors=mirrors)
        monkeypatch.setitem(archives.SPECS, name, spec)
        return arrays

    return shrink


@pytest.fixture(autouse=True)
def unopened():
    """Every test opens its data sets itself."""
    sets._open.cache_clear()


@pytest.fixture
def folder(home):
    """The data folder, empty."""
    (home / "data").mkdir()
    return home / "data"


@pytest.fixture
def serve():
    """serve(files) serves path -> bytes on the loopback; returns its address and the paths of its requests.

    cut   bytes of each file that are not sent
    """
    servers = []

    def start(files, cut=0):
        requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                requests.append(self.path)
                content = files.get(self.path)
                if content is None:
                    return self.send_error(404)
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                with contextlib.suppress(OSError):      # the client has given up
                    self.wfile.write(content[:len(content) - cut])

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/", requests

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def same(a, b):
    return all(torch.equal(getattr(a, k), getattr(b, k)) for k in ("x_train", "y_train", "x_test", "y_test"))


# ---- stand-ins -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", archives.SPECS)
def test_smoke_touches_neither_folder_nor_network(monkeypatch, name):
    monkeypatch.setattr(archives, "read", lambda *a, **k: pytest.fail("smoke opened a published set"))
    dataset, spec = sets.load(name, profile="smoke"), archives.SPECS[name]
    assert (dataset.name, dataset.source, dataset.stand_in) == (name, "stand-in", spec.stand_in)
    assert dataset.x_test.shape[1:] == (spec.image[0], spec.stand_in_size, spec.stand_in_size)
    assert dataset.x_test.dtype == torch.uint8 and dataset.y_train.dtype == torch.int64
    assert dataset.y_train.max() < len(dataset.classes)
    assert dataset.describe().startswith(f"EMBEDDED SAMPLE DATA, NOT {spec.title}")
    assert set(dataset.extra) == set(spec.extra) - {"jpeg", "offset"}


# ---- the data folder -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("profile", ["quick", "paper"])
def test_folder(small, folder, name, profile):
    arrays = small(name)
    np.savez_compressed(folder / f"{name}.npz", **arrays)
    dataset = sets.load(name, profile=profile)
    assert (dataset.source, dataset.stand_in) == ("folder", None)
    assert dataset.y_test.tolist() == arrays["y_test"].tolist() and dataset.y_test.dtype == torch.int64
    if name == "imagenet1000":
        first = np.asarray(Image.open(io.BytesIO(arrays["jpeg"][:arrays["offset"][1]].tobytes())))
        assert dataset.classes == dataset.extra["name"] == ("tench", "goldfish", "shark")
        assert dataset.extra["wnid"] == ("n01", "n02", "n03")
        assert dataset.x_train.shape == (0, 3, 224, 224)
    else:
        first = arrays["x_test"][0].reshape(*arrays["x_test"].shape[1:3], -1)
        assert len(dataset.x_train) == COUNTS[name][0]
    assert np.array_equal(dataset.x_test[0].numpy(), first.transpose(2, 0, 1))
    if name == "gtsrb":
        assert dataset.extra["track_train"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert "read from the data folder" in dataset.describe() and dataset.fingerprint in dataset.describe()
    assert str(folder) not in dataset.describe()


@pytest.mark.parametrize("damage, message", [
    (lambda arrays: b"not an archive", "not an npz file"), (lambda arrays: npz(arrays)[:-100], "cut short"),
    (lambda arrays: npz(arrays | {"y_train": np.array([{}] * len(arrays["y_train"]))}), "Object arrays"),
    (lambda arrays: npz({key: arrays[key] for key in arrays if key != "x_test"}), "lacks x_test"),
    (lambda arrays: npz(arrays | {"x_test": arrays["x_test"][:, :-1]}), "x_test has shape"),
    (lambda arrays: npz(arrays | {"y_test": arrays["y_test"][::-1]}), "fingerprint")])
@pytest.mark.parametrize("name", ["mnist", "cifar10"])      # the second is unpacked once and kept
def test_a_damaged_file_is_named_and_never_used(small, folder, name, damage, message):
    path = folder / f"{name}.npz"
    path.write_bytes(damage(small(name)))
    for profile in ("quick", "paper"):
        with pytest.raises(sets.DataError, match=rf"^{path}: .*{message}.*delete it.*\Z"):   # one line
            sets.load(name, profile=profile)


def test_wherever_a_byte_is_wrong_the_file_is_refused_or_unharmed(small, tmp_path):
    arrays, rng, path = small("gtsrb"), np.random.default_rng(0), tmp_path / "gtsrb.npz"
    np.savez_compressed(path, **arrays)
    sound, refused = path.read_bytes(), 0
    headers = [i for mark in (b"PK\1\2", b"PK\3\4") for i in range(len(sound)) if sound.startswith(mark, i)]
    for number in range(400):
        content = bytearray(sound)
        place = rng.choice(headers) + rng.integers(50) if number % 4 else rng.integers(len(sound))
        content[place] = rng.integers(256)
        path.write_bytes(content)
        try:
            read = archives.read_npz(path, archives.SPECS["gtsrb"])
            assert archives.fingerprint(read) == archives.SPECS["gtsrb"].contents
        except sets.DataError as error:
            refused += 1
            assert str(path) in str(error) and "\n" not in str(error)
    assert refused > 100


def test_a_slow_file_is_unpacked_once_and_again_when_it_changes(small, folder, monkeypatch, caplog):
    path, kept = folder / "cifar10.npz", runtime.cache_folder() / "data" / "cifar10.safetensors"
    np.savez(path, **small("cifar10"))
    first = sets.load("cifar10", profile="paper")

    def opened_again():
        sets._open.cache_clear()
        return sets.load("cifar10", profile="paper")

    with monkeypatch.context() as patch:
        patch.setattr(archives, "read_npz", lambda *_: pytest.fail("unpacked twice"))
        again = opened_again()
        assert same(first, again) and again.source == "folder" and again.fingerprint == first.fingerprint
        again.x_train[0] = 0                                    # the kept file stays as it is
        assert same(first, sets.load("cifar10", profile="paper"))
    content = kept.read_bytes()
    for damaged in (content[:-1] + bytes([content[-1] ^ 1]), b"\0" * 50):
        kept.write_bytes(damaged)
        assert same(first, opened_again()) and "made anew" in caplog.text
        caplog.clear()
    os.truncate(path, path.stat().st_size - 10)
    with pytest.raises(sets.DataError, match="cut short"):
        sets.load("cifar10", profile="paper")


def test_a_full_disk_costs_the_cache_but_not_the_data(small, folder, monkeypatch, caplog):
    np.savez(folder / "cifar10.npz", **small("cifar10"))

    def full(_, path, **__):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archives, "save_file", full)
    assert len(sets.load("cifar10", profile="paper").x_train) == 25
    assert "No space left" in caplog.text
    assert not list((runtime.cache_folder() / "data").iterdir())


# ---- downloads -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["mnist", "cifar10"])
@pytest.mark.parametrize("profile", ["quick", "paper"])
def test_a_download_gives_the_tensors_of_the_folder_once(small, folder, serve, name, profile):
    arrays = small(name)
    files, mirror = published(name, arrays)
    address, requests = serve(files)
    small(name, mirrors=(DEAD, address + mirror))
    fetched = sets.load(name, profile=profile)
    assert fetched.source == "download" and "downloaded" in fetched.describe() and len(requests) == len(files)
    sets._open.cache_clear()
    again = sets.load(name, profile=profile)
    assert again.source == "download" and same(fetched, again) and len(requests) == len(files)
    np.savez(folder / f"{name}.npz", **arrays)
    local = sets.load(name, profile=profile)
    assert local.source == "folder" and same(fetched, local) and local.fingerprint == fetched.fingerprint


def swap(content, name="train-images-idx3-ubyte.gz"):
    return lambda files: files | {f"/{name}": content}


@pytest.mark.parametrize("spoil, cut, message", [
    (lambda files: {}, 0, "Not Found"), (lambda files: files, 1, "Connection broken"),
    (swap(idx(np.zeros(24, np.uint8)), "train-labels-idx1-ubyte.gz"), 0, "contents have fingerprint"),
    (swap(b"no gzip"), 0, "not the published file"),
    (swap(gzip.compress(b"\0\0\x08\x03\0\0")), 0, "not the published file"),
    (swap(idx(np.zeros((2, 2), np.uint8))[:-9]), 0, "not the published file"),
    (swap(gzip.compress(struct.pack(">BBBBI", 0, 0, 8, 1, 2**31))), 0, "not the published file"),
    (swap(gzip.compress(b"\0\0\x0d\x01\0\0\0\0")), 0, "not an idx file")])
def test_a_bad_download_is_refused_or_replaced(small, folder, serve, caplog, spoil, cut, message):
    address, _ = serve(spoil(published("mnist", small("mnist"))[0]), cut)
    small("mnist", mirrors=(address,))
    with pytest.raises(sets.Missing, match=rf"^.*{address}.*{message}.*make data.*\Z"):  # one line
        sets.load("mnist", profile="paper")
    dataset = sets.load("mnist", profile="quick")
    assert dataset.stand_in == "digits" and message in caplog.text
    assert "EMBEDDED SAMPLE DATA" in dataset.describe()
    assert not (runtime.cache_folder() / "data" / "mnist.safetensors").exists()


@pytest.mark.parametrize("members, message", [
    ({}, "lacks data_batch_1.bin"),
    (dict.fromkeys([*download.CIFAR10_TRAIN, download.CIFAR10_TEST], b"123"), "cannot reshape")])
def test_a_wrong_cifar_archive_is_refused(members, message):
    with pytest.raises(ValueError, match=message):
        download.parse_cifar10(tar(members))


def test_no_network_is_found_out_quickly(small, folder, monkeypatch):
    monkeypatch.setattr(archives, "CONNECT_SECONDS", 0.4)
    with socket.socket() as silent:                             # takes the connection and sends nothing
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        small("mnist", mirrors=(f"http://127.0.0.1:{silent.getsockname()[1]}/", DEAD))
        start = time.perf_counter()
        assert sets.load("mnist", profile="quick").stand_in == "digits"
        with pytest.raises(sets.Missing, match="no download"):
            sets.load("mnist", profile="paper")
        assert time.perf_counter() - start < 8      # a busy machine may take some


@pytest.mark.parametrize("name", ["gtsrb", "imagenet1000"])
def test_a_set_that_cannot_be_downloaded_says_what_to_do(small, folder, name):
    small(name)
    with pytest.raises(sets.Missing, match=f"no {name}.npz in .*book/data.md"):
        sets.load(name, profile="paper")
    assert sets.load(name, profile="quick").stand_in == "shapes"


@pytest.mark.slow
def test_two_processes_download_once(small, folder, serve, monkeypatch):
    files, _ = published("mnist", small("mnist"))
    address, requests = serve(files)
    here = archives.SPECS["mnist"]
    monkeypatch.setitem(archives.SPECS, "mnist", replace(here, mirrors=[address]))
    program = """
import json, sys
from dataclasses import replace
from shared.data import archives, sets
counts, contents, mirror = json.loads(sys.argv[1])
archives.SPECS["mnist"] = replace(archives.SPECS["mnist"], counts=counts, contents=contents, mirrors=[mirror])
print("begun", flush=True)
dataset = sets.load("mnist", profile="paper")
assert dataset.source == "download" and dataset.fingerprint == contents
"""
    given = json.dumps([COUNTS["mnist"], here.contents, address])
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, given]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"begun\n"
        assert sets.load("mnist", profile="paper").source == "download"
        assert other.wait(60) == 0
    assert sorted(requests) == sorted(files)


# ---- arguments and views ---------------------------------------------------------------------------------
@pytest.mark.parametrize("arguments, message", [
    ({"name": "minst"}, "unknown data set 'minst'; allowed: mnist, fashion_mnist, cifar10, "),
    ({"name": "mnist", "profile": "full"}, "unknown profile 'full'; allowed: smoke, quick, paper")])
def test_a_wrong_argument_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        sets.load(**arguments)


def test_a_process_opens_a_set_once_and_enters_every_use(small, folder, monkeypatch):
    path = folder / "mnist.npz"
    np.savez(path, **small("mnist"))
    first = sets.load("mnist", profile="paper")
    with inputs.collected() as book, monkeypatch.context() as patch:
        patch.setattr(archives, "read_npz", lambda *_: pytest.fail("opened twice"))
        assert sets.load("mnist", profile="paper").x_test is first.x_test
    assert book == {"data": {"mnist": first.fingerprint}}
    kept = first.x_train[0].clone()
    first.x_train[0] = 255 - first.x_train[0]                   # a user's change stays the user's
    again = sets.load("mnist", profile="paper")
    assert torch.equal(again.x_train[0], kept) and again.fingerprint == first.fingerprint
    os.truncate(path, path.stat().st_size - 10)                 # a changed file is opened again
    with pytest.raises(sets.DataError, match="cut short"):
        sets.load("mnist", profile="paper")


def test_the_profile_of_the_process_is_the_default(monkeypatch):
    monkeypatch.setattr(sets, "_profile", "quick")
    sets.use_profile("smoke")
    assert sets.load("mnist").stand_in == "digits"
    with pytest.raises(runtime.UserError, match="unknown profile 'fast'; allowed: smoke"):
        sets.use_profile("fast")


def test_report_says_what_is_there_and_what_to_do(small, folder, monkeypatch):
    monkeypatch.setitem(archives.SPECS, "fashion_mnist", replace(archives.SPECS["fashion_mnist"], mirrors=()))
    for name in ("cifar10", "gtsrb", "imagenet1000"):
        small(name)
    np.savez(folder / "mnist.npz", **small("mnist"))
    lines, sound = data.report()
    states = {line.split()[0]: line.split()[1] for line in lines}
    assert sound and states == {
        "mnist": "found", "fashion_mnist": "missing", "cifar10": "missing", "gtsrb": "missing",
        "imagenet1000": "missing", "digits": "embedded", "shapes": "embedded"}
    (folder / "gtsrb.npz").write_bytes(b"")
    lines, sound = data.report()
    assert not sound and any(line.startswith("gtsrb") and "DAMAGED" in line for line in lines)


def test_the_page_states_what_each_set_must_contain():
    rows = [line.split(" | ") for line in (ROOT / "book" / "data.md").read_text().splitlines()]
    stated = {cells[0].strip("| `"): cells for cells in rows if len(cells) == 7}
    for name, spec in archives.SPECS.items():
        size, train, test, classes, contents, stand_in = stated[name][1:]
        assert size == "x".join(map(str, spec.image)) and contents.strip("`") == spec.contents
        assert (train, test) == tuple(f"{count:,}" for count in spec.counts)
        assert spec.stand_in in stand_in and (not spec.classes or classes == str(len(spec.classes)))


# ---- a file of the reader's own --------------------------------------------------------------------------
X = np.random.default_rng(0).integers(0, 256, (6, 8, 9), dtype=np.uint8)
Y = np.array([2, 0, 1, 2, 0, 1])


@pytest.mark.parametrize("x", [X, X[:, None], X[..., None]], ids=lambda x: str(x.shape))
@pytest.mark.parametrize("kind", [np.uint8, np.int32])
def test_a_file_of_the_reader_is_a_data_set_and_is_the_same_for_the_card(home, monkeypatch, x, kind):
    monkeypatch.chdir(home)
    np.savez("leaves.npz", x=x, y=Y.astype(kind))
    with inputs.collected() as book:
        data = sets.load("leaves.npz", profile="smoke")
    assert data.x_test.equal(torch.from_numpy(X[:, None])) and data.y_test.equal(torch.from_numpy(Y))
    assert data.x_train.shape == (0, 1, 8, 9) and data.classes == ("0", "1", "2")
    assert data.describe().startswith("leaves.npz, a file of your own: 0 training and 6 test images of 1x8x9")
    assert book == {"data": {"leaves.npz": data.fingerprint}}
    images, labels = images_of("leaves.npz")
    assert images.equal(data.x_test) and labels.equal(data.y_test)


def test_a_file_in_the_data_folder_is_found_and_opened_again_when_it_changes(folder):
    path = folder / "leaves.npz"
    for x in (X, 255 - X):
        np.savez(path, x_train=X, y_train=Y, x_test=x[:2], y_test=Y[:2], classes=["oak", "ash", "elm"])
        data = sets.load("leaves.npz", profile="paper")
        assert data.x_test.equal(torch.from_numpy(x[:2, None])) and data.classes == ("oak", "ash", "elm")
        assert len(data.x_train) == 6 and data.fingerprint == sets.load(path).fingerprint


@pytest.mark.parametrize("arrays, message", [
    ({"x": X}, r"labels float64 \[0\] instead of whole numbers \[6\]"), ({"y": Y}, "holds y_test"),
    ({"pictures": X}, "holds pictures; an .npz with arrays x .images. and y .labels."), ({}, "holds nothing"),
    ({"x": X, "y": Y[:5]}, r"\[5\] instead of whole numbers \[6\]"),
    ({"x": X[0], "y": Y}, r"images uint8 \[8, 9\]"), ({"x": X.astype(int), "y": Y}, r"images int64"),
    ({"x": X[:0], "y": Y[:0]}, r"images uint8 \[0, 8, 9\]"), ({"x": X / 255, "y": Y}, "has uint8 images"),
    ({"x": X, "y": Y + 1}, r"labels lie in 1..3; .*take y - 1"), ({"x": X, "y": Y - 1}, "-1..1"),
    ({"x": X, "y": Y, "classes": ["oak", "ash"]}, "0..2"), ({"x": X, "y": Y.astype(object)}, "plain arrays"),
    ({"x_train": X[:, 1:], "y_train": Y, "x": X, "y": Y}, "images of one size")])
def test_a_file_that_is_no_data_set_is_refused_in_one_line(home, monkeypatch, arrays, message):
    monkeypatch.chdir(home)
    np.savez("leaves.npz", **arrays)
    with pytest.raises(sets.DataError, match=rf"^data leaves.npz: .*{message}.*\Z"):     # one line
        sets.load("leaves.npz")


def test_a_file_that_is_absent_or_no_npz_is_named(home, monkeypatch):
    monkeypatch.chdir(home)
    (home / "bad.npz").write_text("<html>")
    for name, message in (("absent.npz", "no such file"), ("bad.npz", "not an npz file, or cut short")):
        with pytest.raises(sets.DataError, match=f"{name}: {message}"):
            sets.load(name)


# ---- the real files --------------------------------------------------------------------------------------
@pytest.mark.slow
def test_files_of_the_data_folder_are_the_published_ones(tmp_path):
    """Whatever of these is in the data folder; CIFAR-10 is left out, its file takes ten seconds to unpack."""
    counts = {"mnist": [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
              "fashion_mnist": [6000] * 10, "imagenet1000": [],
              "gtsrb": [210, 240, 2070, 689, 1500, 1200, 420]}
    for name, expected in counts.items():
        if (runtime.data_folder() / f"{name}.npz").exists():
            dataset = sets.load(name, profile="paper", cache=tmp_path)
            assert dataset.source == "folder" and dataset.y_train.bincount().tolist() == expected
            assert dataset.y_test.max() == len(dataset.classes) - 1
