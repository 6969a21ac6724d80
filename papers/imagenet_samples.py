"""The ImageNet samples of `he` (Appendix D) and `sutton` (Section 7.2.4): one test image of each class."""
import io

import numpy as np
from PIL import Image

from shared.data.archives import Spec, register


def decode_jpegs(arrays):
    """The test images, uint8 [N, 3, H, W], from the JPEG bytes and offsets of the file."""
    jpeg, offset = arrays["jpeg"], arrays["offset"]
    images = [np.asarray(Image.open(io.BytesIO(jpeg[a:b]))) for a, b in zip(offset[:-1], offset[1:])]
    return np.ascontiguousarray(np.stack(images).transpose(0, 3, 1, 2))


def _stand_in_extra(arrays, classes):
    return {"wnid": ("",) * len(classes), "name": classes}


# The file names the classes: wnid and name, one for each.
SPEC = register(Spec(
    "imagenet1000", "ImageNet samples", (3, 224, 224), (0, 1000), (), "fef1dfaec963b191", "shapes", 64,
    extra=("jpeg", "offset", "wnid", "name"), packed="jpeg", unpack=decode_jpegs,
    stand_in_extra=_stand_in_extra, remedy="put it there; book/data.md says how it was made"))
