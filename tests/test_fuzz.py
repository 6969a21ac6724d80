"""A file with one changed bit gives what was written, or an error of one line that names the file.

`pytest tests/test_fuzz.py --flips 1000` changes more bits; a seed decides which ones.
"""
import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from report import record, reference, store, zoo
from shared import runtime
from shared.data import archives
from shared.training import checkpoint


def plain(value):
    """A read value as comparable text."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return archives.fingerprint({"": value})
    return value


# ---- files of each kind, and how they are read -------------------------------------------------------------
def a_run(folder):
    result = {"mean": 0.4712, "labels": [3, 5], "image": np.arange(48, dtype=np.uint8).reshape(6, 8)}
    path = folder / "u1.json"
    store.write(path, store.Run("u1", {"x": 3}, {"images": [8, 10]}, result, 1, "c", {}, {"seconds": 1.5}))
    return [path, *folder.glob("u1-*.npz")], lambda: vars(store.read(path))


def a_record(folder):
    item = reference.paper("ren")["figure-2"]
    rows = {"robustness": 0.5312, "pairs": [["white", 0.99], ["black", 0.98]]}
    record.write({"item": item.id, "paper": "ren", "data": rows, "cells": [],
                  "verdict": "nothing to compare", "reason": "none",
                  "claims": [{"claim": c, "holds": True, "evidence": "0.53 of 10"} for c in item.claims],
                  "scale": {"parts": {"runs": [3, 5]}, "fraction": 0.6, "proxies": {}}})
    path = record.path("ren", item.id)
    return [path], lambda: record.read("ren", item.id)


def a_network(folder):
    small = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.BatchNorm1d(4))
    path = folder / "ren-a-digits-s0-0123456789.safetensors"
    zoo.keep(path, small, {"name": path.stem, "test_accuracy": 0.9912, "seconds": 3.5})
    return [path], lambda: zoo.about(path)


def unpacked_data(folder):
    """A damaged one is made anew from the file it came from; for that one see `test_data.py`."""
    rng = np.random.default_rng(0)
    arrays = {"x_train": rng.integers(0, 256, (4, 28, 28), dtype=np.uint8), "y_train": np.arange(4),
              "x_test": rng.integers(0, 256, (2, 28, 28), dtype=np.uint8), "y_test": np.arange(2)}
    contents = archives.fingerprint(archives.canonical(arrays))
    spec = replace(archives.SPECS["mnist"], counts=(4, 2), contents=contents, mirrors=(), slow=True)
    np.savez_compressed(folder / "mnist.npz", **arrays)

    def read():
        return archives.read(spec, folder=folder, cache=folder / "cache")

    read()
    return [folder / "cache/data/mnist.safetensors"], read


def state(folder):
    """Of an unfinished run: a damaged one is dropped, and the run begins again."""
    point = checkpoint.Checkpoint(folder / "c.safetensors")
    point.save({"weights": torch.arange(6.0)}, {"epoch": 3, "loss": 0.25})
    return [point.path], lambda: point.load() or "dropped"


KINDS = [a_run, a_record, a_network, unpacked_data, state]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_changed_bit_shows_a_wrong_number(home, monkeypatch, pytestconfig, kind):
    monkeypatch.setenv("BOUNDARY_RUNS", str(home))
    monkeypatch.delenv("PROFILE", raising=False)
    paths, read = kind(home)
    sound = plain(read())
    choose, noticed = random.Random(f"{kind.__name__} 9"), 0
    for _ in range(pytestconfig.getoption("flips") // len(KINDS)):
        path = choose.choice(paths)
        content = path.read_bytes()
        damaged = bytearray(content)
        damaged[choose.randrange(len(content))] ^= 1 << choose.randrange(8)
        path.write_bytes(damaged)
        try:
            value = plain(read())
        except runtime.UserError as error:
            assert path.name in str(error) and "\n" not in str(error)
            noticed += 1
        else:
            assert value == sound or value == "dropped", path
            noticed += value == "dropped"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert plain(read()) == sound
    assert noticed or kind is unpacked_data  # made anew without a message to the reader
