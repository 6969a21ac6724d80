"""Make gtsrb.npz from the benchmark's own archives: `python -m shared.data.convert gtsrb FOLDER`.

FOLDER holds Final_Training/Images/<class>/<track>_<frame>.ppm, Final_Test/Images/<number>.ppm and, in any of
its folders, GT-final_test.csv.
"""
import csv
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from shared import runtime
from shared.data import content
from shared.data.archives import SPECS, DataError, canonical
from shared.data.content import fingerprint

# The benchmark's class numbers in the order of our labels 0 to 6: the seven signs `sutton` uses.
GTSRB_CLASSES = (0, 42, 38, 33, 25, 18, 6)


def _image(path):
    # The whole image, not the sign's frame; PIL's bilinear filter widens when it shrinks (antialiasing).
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB").resize((32, 32), Image.Resampling.BILINEAR))


def gtsrb(folder):
    """The arrays of gtsrb.npz: training images by label, then file name; test images by file name.

    `track_train` counts the physical signs: frames of one track show the same one.
    Raises DataError for what `folder` lacks.
    """
    folder = Path(folder)
    train = [(path, label) for label, number in enumerate(GTSRB_CLASSES)
             for path in sorted((folder / "Final_Training" / "Images" / f"{number:05d}").glob("*.ppm"))]
    answers = sorted(folder.rglob("GT-final_test.csv"))
    if not train or not answers:
        lacking = "GT-final_test.csv" if train else "Final_Training/Images/*/*.ppm"
        raise DataError(f"{folder} lacks {lacking}; unpack the archives named in book/data.md there")
    with open(answers[0], newline="", encoding="utf-8") as file:
        labels = {row["Filename"]: int(row["ClassId"]) for row in csv.DictReader(file, delimiter=";")}
    test = [(folder / "Final_Test" / "Images" / name, GTSRB_CLASSES.index(number))
            for name, number in sorted(labels.items()) if number in GTSRB_CLASSES]
    if absent := [path for path, _ in test if not path.exists()]:
        raise DataError(f"{folder} lacks {len(absent)} test images, the first {absent[0].name}; "
                        "unpack GTSRB_Final_Test_Images.zip there")
    signs = [(label, path.name.partition("_")[0]) for path, label in train]
    number_of = {sign: number for number, sign in enumerate(dict.fromkeys(signs))}
    return {"x_train": np.stack([_image(path) for path, _ in train]),
            "y_train": np.array([label for _, label in train], dtype=np.uint8),
            "x_test": np.stack([_image(path) for path, _ in test]),
            "y_test": np.array([label for _, label in test], dtype=np.uint8),
            "class_id": np.array(GTSRB_CLASSES, dtype=np.uint8),
            "track_train": np.array([number_of[sign] for sign in signs], dtype=np.uint16)}


def write_gtsrb(folder, path):
    """Write gtsrb.npz to `path`. Contents other than the known ones raise DataError and are not written."""
    arrays, spec = gtsrb(folder), SPECS["gtsrb"]
    if (own := fingerprint(canonical(arrays))) != spec.contents:
        raise DataError(f"{folder} gives contents of fingerprint {own} instead of {spec.contents}; "
                        "take the archives named in book/data.md, unchanged")
    return content.write_npz(path, arrays)


if __name__ == "__main__":
    runtime.prepare(computes=False)
    if len(sys.argv) != 3 or sys.argv[1] != "gtsrb":
        sys.exit("usage: python -m shared.data.convert gtsrb FOLDER (made by hand, see book/data.md)")
    runtime.stop_cleanly()
    print(f"wrote {write_gtsrb(sys.argv[2], runtime.data_folder() / 'gtsrb.npz')}")
