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
    bunch = load_digits()
    digits = sets.load("digits")
    assert (len(digits.x_train), len(digits.x_test)) == (1297, 500)
    assert sorted([*digits.y_train.tolist(), *digits.y_test.tolist()]) == sorted(bunch.target.tolist())
    held_out = np.arange(1797) * 500 % 1797 < 500
    ours = torch.empty(1797, 1, 28, 28)
    ours[~held_out], ours[held_out] = digits.x_train.float(), digits.x_test.float()
    eight = torch.from_numpy(bunch.images)[:, None]
    peer = torch.nn.functional.interpolate(eight, size=20, mode="bilinear") * (255 / 16)
    assert (ours - torch.nn.functional.pad(peer, (4, 4, 4, 4))).abs().max() <= 0.5 + 1e-9


@pytest.mark.parametrize("size", [16, 33, 64])
def test_shapes_come_in_any_size_and_every_class(size):
    drawn, again = standins.shapes(size=size), standins.shapes(size=size)
    for part, count in (("train", 2000), ("test", 500)):
        assert drawn[f"x_{part}"].shape == (count, 3, size, size)
        assert np.bincount(drawn[f"y_{part}"]).tolist() == [count // 10] * 10
    assert all((drawn[key] == again[key]).all() for key in drawn)


def test_a_shape_stands_out_and_lies_inside():
    """Ink is at least 145 and ground at most 110 in every channel; noise adds or takes up to 20."""
    images, labels = standins.draw_shapes(200, size=48, generator=np.random.default_rng(5))
    squares = images[labels == standins.SHAPES.index("square")].astype(int)
    ink = squares.min(1) > 124
    assert (squares.max(1)[~ink] <= 130).all()
    height, width = ink.any(2).sum(1), ink.any(1).sum(1)         # what the border cut off would not be square
    assert (abs(height - width) <= 1).all() and (ink.sum((1, 2)) == height * width).all()
    assert (height >= 2 * 0.28 * 48 - 1).all() and (height <= 2 * 0.42 * 48 + 1).all() and np.ptp(height) > 5


def test_a_shape_is_drawn_by_its_formula():
    w = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])                   # worked out by hand at these 25 points
    expected = {
        "disc": "01110 11111 11111 11111 01110", "ring": "01110 10001 10001 10001 01110",
        "square": "11111 11111 11111 11111 11111", "frame": "11111 10001 10001 10001 11111",
        "triangle": "00100 00100 01110 01110 11111", "cross": "00100 00100 11111 00100 00100",
        "rows": "11111 00000 11111 00000 11111", "columns": "10101 10101 10101 10101 10101",
        "checkerboard": "10110 01001 10110 10110 01001", "dots": "10101 00000 10101 00000 10101"}
    assert tuple(expected) == standins.SHAPES
    for shape, rows in expected.items():
        mask = np.broadcast_to(standins._mask(shape, w[None, :], w[:, None]), (5, 5))
        assert [[int(c) for c in row] for row in rows.split()] == mask.astype(int).tolist(), shape
        assert not standins._mask(shape, np.array([1.1, 0.0]), np.array([0.0, -1.1])).any(), shape
