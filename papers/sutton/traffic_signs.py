"""GTSRB, the traffic signs of `sutton` (Section 7.2.3), and their file from the benchmark's own archives.

`python -m papers.sutton.traffic_signs FOLDER` makes gtsrb.npz.
FOLDER holds Final_Training/Images/<class>/<track>_<frame>.ppm, Final_Test/Images/<number>.ppm and, in any of
its folders, GT-final_test.csv.
"""
import csv
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from shared import runtime
from shared.data.archives import DataError, Spec, canonical, register
from shared.data.content import fingerprint

# The benchmark's class numbers in the order of our labels 0 to 6: the seven signs `sutton` uses.
BENCHMARK = (0, 42, 38, 33, 25, 18, 6)


def _stand_in_extra(arrays, classes):
    """Every drawn image is a sign of its own."""
    return {"class_id": np.arange(len(classes)), "track_train": np.arange(len(arrays["y_train"]))}


# class_id holds the benchmark's own ids [7], track_train a number per physical sign [N].
SPEC = register(Spec(
    "gtsrb", "GTSRB", (3, 32, 32), (6329, 2070),
    ("speed limit 20 km/h", "end of no passing, over 3.5 t", "keep right", "turn right ahead", "road work",
     "general caution", "end of speed limit 80 km/h"), "d2adbee3c9a58511", "shapes", 32,
    extra=("class_id", "track_train"), stand_in_extra=_stand_in_extra,
    remedy="make it with `python -m papers.sutton.traffic_signs FOLDER`, see book/data.md"))


def _image(path):
    # The whole image, not the sign's frame; PIL's bilinear filter widens when it shrinks (antialiasing).
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB").resize((32, 32), Image.Resampling.BILINEAR))


def arrays_of(folder):
    """The arrays of gtsrb.npz: training images by label, then file name; test images by file name.

    `track_train` counts the physical signs: frames of one track show the same one.
    Raises DataError for what `folder` lacks.
    """
    folder = Path(folder)
    train = [(path, label) for label, number in enumerate(BENCHMARK)
             for path in sorted((folder / "Final_Training" / "Images" / f"{number:05d}").glob("*.ppm"))]
    answers = sorted(folder.rglob("GT-final_test.csv"))
    if not train or not answers:
        lacking = "GT-final_test.csv" if train else "Final_Training/Images/*/*.ppm"
        raise DataError(f"{folder} lacks {lacking}; unpack the archives named in book/data.md there")
    with open(answers[0], newline="", encoding="utf-8") as file:
        labels = {row["Filename"]: int(row["ClassId"]) for row in csv.DictReader(file, delimiter=";")}
    test = [(folder / "Final_Test" / "Images" / name, BENCHMARK.index(number))
            for name, number in sorted(labels.items()) if number in BENCHMARK]
    if absent := [path for path, _ in test if not path.exists()]:
        raise DataError(f"{folder} lacks {len(absent)} test images, the first {absent[0].name}; "
                        "unpack GTSRB_Final_Test_Images.zip there")
    signs = [(label, path.name.partition("_")[0]) for path, label in train]
    number_of = {sign: number for number, sign in enumerate(dict.fromkeys(signs))}
    return {"x_train": np.stack([_image(path) for path, _ in train]),
            "y_train": np.array([label for _, label in train], dtype=np.uint8),
            "x_test": np.stack([_image(path) for path, _ in test]),
            "y_test": np.array([label for _, label in test], dtype=np.uint8),
            "class_id": np.array(BENCHMARK, dtype=np.uint8),
            "track_train": np.array([number_of[sign] for sign in signs], dtype=np.uint16)}


def write(folder, path):
    """Write gtsrb.npz to `path`. Contents other than the known ones raise DataError and are not written."""
    arrays = arrays_of(folder)
    if (own := fingerprint(canonical(arrays))) != SPEC.contents:
        raise DataError(f"{folder} gives contents of fingerprint {own} instead of {SPEC.contents}; "
                        "take the archives named in book/data.md, unchanged")

    def save(part):
        with open(part, "wb") as file:
            np.savez_compressed(file, **arrays)

    return runtime.write_atomically(path, save)


if __name__ == "__main__":
    runtime.prepare(computes=False)
    if len(sys.argv) != 2:
        sys.exit("usage: python -m papers.sutton.traffic_signs FOLDER (made by hand, see book/data.md)")
    runtime.stop_cleanly()
    print(f"wrote {write(sys.argv[1], runtime.data_folder() / 'gtsrb.npz')}")
