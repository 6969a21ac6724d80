"""gtsrb.npz from the benchmark's archives, here in miniature."""
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from papers.sutton import traffic_signs
from shared.data import archives, sets


def test_gtsrb_is_made_from_the_benchmarks_archives(tmp_path, monkeypatch):
    train, test = tmp_path / "Final_Training" / "Images", tmp_path / "Final_Test" / "Images"
    rng, written = np.random.default_rng(3), {}
    for number in (0, 6, 18, 25, 33, 38, 42, 7):                # class 7 is left out
        (train / f"{number:05d}").mkdir(parents=True)
        for name in ("00000_00000", "00000_00001", "00001_00000"):
            written[number, name] = rng.integers(0, 256, (rng.integers(40, 60), 45, 3), dtype=np.uint8)
            Image.fromarray(written[number, name]).save(train / f"{number:05d}" / f"{name}.ppm")
    test.mkdir(parents=True)
    for i in range(4):
        Image.fromarray(rng.integers(0, 256, (40, 40, 3), dtype=np.uint8)).save(test / f"{i:05d}.ppm")
    rows = [f"{i:05d}.ppm;40;40;5;5;35;35;{number}" for i, number in ((3, 6), (0, 42), (1, 7), (2, 0))]
    with pytest.raises(sets.DataError, match="lacks GT-final_test.csv"):
        traffic_signs.arrays_of(tmp_path)
    head = "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId"
    (tmp_path / "GT-final_test.csv").write_text("\n".join([head, *rows]))
    arrays = traffic_signs.arrays_of(tmp_path)
    assert arrays["class_id"].tolist() == [0, 42, 38, 33, 25, 18, 6]
    assert arrays["y_train"].tolist() == [label for label in range(7) for _ in range(3)]
    assert arrays["track_train"].tolist() == [sign for k in range(7) for sign in (2 * k, 2 * k, 2 * k + 1)]
    assert arrays["y_test"].tolist() == [1, 0, 6] and arrays["x_test"].shape == (3, 32, 32, 3)
    resized = Image.fromarray(written[42, "00000_00001"]).resize((32, 32), Image.Resampling.BILINEAR)
    assert np.array_equal(arrays["x_train"][4], np.asarray(resized))
    path = tmp_path / "out" / "gtsrb.npz"
    with pytest.raises(sets.DataError, match="instead of"):
        traffic_signs.write(tmp_path, path)
    assert not path.exists()
    contents = archives.fingerprint(archives.canonical(arrays))
    spec = replace(archives.SPECS["gtsrb"], counts=(21, 3), contents=contents)
    monkeypatch.setitem(archives.SPECS, "gtsrb", spec)
    monkeypatch.setattr(traffic_signs, "SPEC", spec)
    traffic_signs.write(tmp_path, path)
    assert len(sets.load("gtsrb", profile="paper", folder=path.parent).x_train) == 21
    (test / "00002.ppm").unlink()
    with pytest.raises(sets.DataError, match="lacks 1 test images, the first 00002.ppm"):
        traffic_signs.arrays_of(tmp_path)
