"""Embedded images, which need neither folder nor network: scikit-learn's digits, and shapes by formula.

All arithmetic is in integers or by comparisons, so that the bytes are the same on every machine.
"""
from typing import Any

import numpy as np

DIGITS = tuple("0123456789")
SHAPES = ("disc", "ring", "square", "frame", "triangle", "cross", "rows", "columns", "checkerboard", "dots")


# ---- digits ----------------------------------------------------------------------------------------------
def _enlarge(images):
    """uint8 [N, 8, 8] in 0..16 -> uint8 [N, 20, 20] in 0..255, bilinear (pixel centres, edges repeated).

    From 8 to 20 pixels the bilinear weights are multiples of 1/10, so that integers represent them exactly.
    """
    tenths = 4 * np.arange(20) - 3                          # 10 times the place of each new pixel's centre
    low, weight = tenths // 10, tenths % 10
    matrix = np.zeros((20, 8), dtype=np.int64)
    np.add.at(matrix, (np.arange(20), low.clip(0, 7)), 10 - weight)
    np.add.at(matrix, (np.arange(20), (low + 1).clip(0, 7)), weight)
    hundredths = matrix @ images.astype(np.int64) @ matrix.T
    return ((hundredths * 255 + 800) // 1600).astype(np.uint8)


def digits(*, test: int = 500) -> dict[str, np.ndarray]:
    """scikit-learn's 1,797 handwritten digits in MNIST's format: 20x20 in the middle of a black 28x28 square.

    The test set is spread evenly over scikit-learn's order, which is by writer, so that both parts contain
    all writers: a small network then learns the digits in seconds.
    Returns x_train, x_test uint8 [N, 1, 28, 28] and y_train, y_test int64 [N].
    Source: Alpaydin and Kaynak 1998, Optical Recognition of Handwritten Digits (its test half).
    """
    from sklearn.datasets import load_digits  # here: the import takes two seconds

    bunch: Any = load_digits()      # it states no type
    images = np.zeros((len(bunch.images), 1, 28, 28), dtype=np.uint8)
    images[:, 0, 4:24, 4:24] = _enlarge(bunch.images)
    labels = bunch.target.astype(np.int64)
    held_out = np.arange(len(labels)) * test % len(labels) < test
    return {"x_train": images[~held_out], "y_train": labels[~held_out],
            "x_test": images[held_out], "y_test": labels[held_out]}


# ---- shapes ----------------------------------------------------------------------------------------------
def _mask(shape, u, v) -> np.ndarray:
    """Whether points are inside `shape`; u (to the right) and v (down) are -1 to 1 over its bounding box."""
    box = (abs(u) <= 1) & (abs(v) <= 1)
    square_radius = u * u + v * v

    def cell(w, n):
        """Index of the strip, of n equal ones, from 0."""
        return np.floor((w + 1) * (n / 2)).astype(np.int64)

    def in_cell(w, n):
        """Coordinate in that strip, -1 to 1."""
        return (w + 1) * n - 2 * cell(w, n) - 1

    match shape:
        case "disc":
            return square_radius <= 1
        case "ring":
            return (square_radius <= 1) & (square_radius >= 0.36)
        case "square":
            return box
        case "frame":
            return box & ((abs(u) >= 0.6) | (abs(v) >= 0.6))
        case "triangle":
            return box & (2 * abs(u) <= v + 1)
        case "cross":
            return box & ((abs(u) <= 0.3) | (abs(v) <= 0.3))
        case "rows":
            return box & (cell(v, 5) % 2 == 0)
        case "columns":
            return box & (cell(u, 5) % 2 == 0)
        case "checkerboard":
            return box & ((cell(u, 4) + cell(v, 4)) % 2 == 0)
        case "dots":
            return box & (in_cell(u, 3) ** 2 + in_cell(v, 3) ** 2 <= 0.49)
    raise ValueError(f"no shape {shape!r}")


def draw_shapes(count: int, *, size: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """`count` images of one coloured shape each, as many of every class, in random order.

    The shape is entirely inside; its half-width is 28 to 42 % of the image. Its colour is drawn from 145..255
    in every channel, the background's from 0..110; then uniform noise of -20 to 20 grey levels is added to
    every value. `generator` is a numpy Generator.
    Returns uint8 [count, 3, size, size] and int64 [count] (index in SHAPES).
    """
    labels = generator.permutation(np.arange(count) % len(SHAPES))
    half = generator.uniform(0.28, 0.42, count) * size
    centre_x, centre_y = half + generator.random((2, count)) * (size - 2 * half)
    ground = generator.integers(0, 111, (count, 3), dtype=np.int16)
    ink = generator.integers(145, 256, (count, 3), dtype=np.int16)
    images = np.empty((count, 3, size, size), dtype=np.uint8)
    pixels = np.arange(size) + 0.5
    for label, shape in enumerate(SHAPES):
        rows = np.flatnonzero(labels == label)
        u = (pixels - centre_x[rows, None]) / half[rows, None]
        v = (pixels - centre_y[rows, None]) / half[rows, None]
        covered = _mask(shape, u[:, None, :], v[:, :, None])[:, None]
        noise = generator.integers(-20, 21, (len(rows), 3, size, size), dtype=np.int16)
        plain = np.where(covered, ink[rows, :, None, None], ground[rows, :, None, None])
        images[rows] = (plain + noise).clip(0, 255)
    return images, labels


def shapes(*, size: int = 32, train: int = 2000, test: int = 500) -> dict[str, np.ndarray]:
    """The procedural data set: `train` and `test` images of `draw_shapes` from a fixed seed.

    Returns x_train, x_test uint8 [N, 3, size, size] and y_train, y_test int64 [N].
    """
    generator = np.random.default_rng(0)
    x_train, y_train = draw_shapes(train, size=size, generator=generator)
    x_test, y_test = draw_shapes(test, size=size, generator=generator)
    return {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test}
