"""The embedded sets: real digits and drawn shapes, the same on every machine and learnable in seconds."""
import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from shared.data import sets, standins


def test_embedded_sets_are_the_same_bytes_everywhere():
    assert sets.load("digits").fingerprint == "756b11039203882b"
    assert sets.load("shapes").fingerprint == "4a106511562cda10"


def test_digits_are_scikit_learns_enlarged_bilinearly():
    source, digits = load_digits(), sets.load("digits")
    assert (len(digits.x_train), len(digits.x_test)) == (1297, 500)
    assert sorted([*digits.y_train.tolist(), *digits.y_test.tolist()]) == sorted(source.target.tolist())
    held_out = np.arange(1797) * 500 % 1797 < 500
    images = torch.empty(1797, 1, 28, 28)
    images[~held_out], images[held_out] = digits.x_train.float(), digits.x_test.float()
    eight = torch.from_numpy(source.images)[:, None]
    enlarged = torch.nn.functional.interpolate(eight, size=20, mode="bilinear") * (255 / 16)
    assert (images - torch.nn.functional.pad(enlarged, (4, 4, 4, 4))).abs().max() <= 0.5 + 1e-9


@pytest.mark.parametrize("size", [16, 33, 64])
def test_shapes_come_in_any_size_and_every_class(size):
    arrays = standins.shapes(size=size)
    for part, count in (("train", 2000), ("test", 500)):
        assert arrays[f"x_{part}"].shape == (count, 3, size, size)
        assert np.bincount(arrays[f"y_{part}"]).tolist() == [count // 10] * 10


def test_a_shape_stands_out_and_lies_inside():
    """Ink is at least 145 and ground at most 110 in every channel; noise adds or takes up to 20."""
    images, labels = standins.draw_shapes(200, size=48, generator=np.random.default_rng(5))
    squares = images[labels == standins.SHAPES.index("square")].astype(int)
    ink = squares.min(1) > 124
    assert (squares.max(1)[~ink] <= 130).all()
    height, width = ink.any(2).sum(1), ink.any(1).sum(1)         # what the border cut off would not be square
    assert (abs(height - width) <= 1).all() and (ink.sum((1, 2)) == height * width).all()
    assert (height >= 2 * 0.28 * 48 - 1).all() and (height <= 2 * 0.42 * 48 + 1).all() and np.ptp(height) > 5
