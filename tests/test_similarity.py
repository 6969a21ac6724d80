"""SSIM against scikit-image and against a direct float64 evaluation of MATLAB's definition."""
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import correlate
from skimage.metrics import structural_similarity

from shared import similarity
from shared.runtime import UserError
from shared.similarity import ssim

TOLERANCE = 1e-5


def matlab_ssim(x, y, data_range=255.0):
    """MATLAB's ssim: 2-D Gaussian 11 x 11, replicated border, biased moments, mean of the whole map."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    grid = np.arange(-5, 6)
    window = np.exp(-(grid[:, None] ** 2 + grid[None] ** 2) / (2 * 1.5**2))
    window /= window.sum()
    c1, c2 = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    mu_x, mu_y, xx, yy, xy = (correlate(v, window, mode="nearest") for v in (x, y, x * x, y * y, x * y))
    return np.mean((2 * mu_x * mu_y + c1) * (2 * (xy - mu_x * mu_y) + c2)
                   / ((mu_x**2 + mu_y**2 + c1) * (xx - mu_x**2 + yy - mu_y**2 + c2)))


def scikit_ssim(x, y):
    return structural_similarity(x, y, data_range=255, gaussian_weights=True, sigma=1.5,
                                 use_sample_covariance=False)


REFERENCES = {"matlab": matlab_ssim, "skimage": scikit_ssim,
              "uniform": lambda x, y: structural_similarity(x, y, data_range=255)}


def image_pairs(height=28, width=28):
    """Pairs that strain the arithmetic: noise, one grey level apart, flat, steps, faint noise on white."""
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (6, height, width))
    near = np.clip(noise + rng.integers(-1, 2, noise.shape), 0, 255)
    flat = np.ones((height, width), int)
    step = np.where(np.arange(width) < width // 2, 250, 150) * flat
    bright = 245 + rng.integers(0, 8, (height, width))
    stroke = np.where((np.arange(height)[:, None] - np.arange(width)) ** 2 < 9, 200, 0)
    pairs = [(noise[0], noise[1]), (noise[2], near[2]), (near[3], noise[3]), (noise[4], noise[4]),
             (255 * flat, 0 * flat), (0 * flat, 0 * flat), (255 * flat, 255 * flat), (255 * flat, 254 * flat),
             (250 * flat, 150 * flat), (step, step[:, ::-1]), (step, 400 - step), (bright, bright - 100),
             (bright, np.clip(bright + 3, 0, 255)), (stroke, 255 * flat), (stroke, 0 * flat),
             (stroke, np.minimum(255, 128 + stroke // 2)), (stroke, stroke[::-1])]
    return tuple(np.stack(images).astype(np.uint8) for images in zip(*pairs))


@pytest.mark.parametrize("convention", REFERENCES)
def test_equals_reference_on_every_kind_of_pair(convention):
    x, y = image_pairs()
    expected = [REFERENCES[convention](a, b) for a, b in zip(x, y)]
    value = ssim(torch.from_numpy(x), torch.from_numpy(y), convention=convention)
    np.testing.assert_allclose(value, expected, rtol=0, atol=TOLERANCE)


def test_float32_alone_would_miss_the_tolerance(monkeypatch):
    """The pairs above need the float64 pass: without it at least one is off by more than the tolerance."""
    monkeypatch.setattr(similarity, "DOUBTFUL", torch.inf)
    x, y = image_pairs()
    value = ssim(torch.from_numpy(x), torch.from_numpy(y))
    assert np.abs(value.numpy() - [matlab_ssim(a, b) for a, b in zip(x, y)]).max() > TOLERANCE


@pytest.mark.parametrize("height, width", [(20, 28), (13, 28), (28, 19), (11, 11), (12, 45)])
def test_rectangular_images(height, width):
    x, y = image_pairs(height, width)
    value = ssim(torch.from_numpy(x), torch.from_numpy(y), convention="skimage")
    expected = [structural_similarity(a, b, data_range=255, gaussian_weights=True, sigma=1.5,
                                      use_sample_covariance=False) for a, b in zip(x, y)]
    np.testing.assert_allclose(value, expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("convention", REFERENCES)
def test_doubtful_pairs_are_computed_again_wherever_they_stand(convention, monkeypatch):
    """Every pair, or every other one, by float64: the values are those of float64 images."""
    x, y = map(torch.from_numpy, image_pairs(20, 28))
    expected = ssim(x.double(), y.double(), convention=convention, data_range=255)
    for limit in (-1.0, 1e-8):
        monkeypatch.setattr(similarity, "DOUBTFUL", limit)
        monkeypatch.setitem(similarity.CHUNK_PIXELS, "cpu", 3 * 20 * 28)
        tolerance = 1e-7 if limit < 0 else TOLERANCE
        value = ssim(x, y, convention=convention)
        torch.testing.assert_close(value.double(), expected, rtol=0, atol=tolerance)


def test_scale_types_and_channels():
    x, y = map(torch.from_numpy, image_pairs())
    value = ssim(x, y)
    assert value.dtype == torch.float32
    for scaled in (ssim(x / 255, y / 255), ssim(x / 255, y / 255, data_range=1.0)):
        torch.testing.assert_close(scaled, value, rtol=0, atol=TOLERANCE)
    double = ssim(x.double(), y.double(), data_range=255)
    assert double.dtype == torch.float64
    np.testing.assert_allclose(double, [matlab_ssim(a, b) for a, b in zip(x, y)], rtol=0, atol=1e-11)
    colour = ssim(torch.stack([x, y, x], 1), torch.stack([y, y, x], 1))
    torch.testing.assert_close(colour, (value + 2) / 3, rtol=0, atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), low=st.integers(0, 254), chunk=st.integers(1, 5000))
def test_properties(seed, low, chunk):
    """Symmetric, 1 for equal images, at most 1, inputs unmodified, and the same in batches of any size."""
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.randint(low, 256, (2, 7, 1, 16, 13), generator=generator, dtype=torch.uint8)
    before = x.clone(), y.clone()
    value = ssim(x, y)
    assert torch.equal(x, before[0]) and torch.equal(y, before[1])
    torch.testing.assert_close(ssim(y, x), value, rtol=0, atol=1e-6)
    assert (value <= 1 + 1e-6).all() and torch.equal(ssim(x, x), torch.ones(7))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(similarity.CHUNK_PIXELS, "cpu", chunk)
        torch.testing.assert_close(ssim(x, y), value, rtol=0, atol=1e-6)
    alone = torch.cat([ssim(a[None], b[None]) for a, b in zip(x, y)])
    torch.testing.assert_close(alone, value, rtol=0, atol=1e-6)


def images(*shape, dtype=torch.uint8):
    return torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize("arguments, options, message", [
    ((images(2, 28, 28), images(2, 28, 27)), {}, "one shape"),
    ((images(28, 28), images(28, 28)), {}, "one shape"),
    ((images(0, 28, 28), images(0, 28, 28)), {}, "one shape"),
    ((images(2, 28, 28, dtype=torch.int64),) * 2, {}, "uint8 or floating"),
    ((images(2, 10, 28),) * 2, {}, "window is 11 x 11"),
    ((images(2, 28, 28),) * 2, {"convention": "octave"}, "matlab, skimage, uniform"),
    ((images(2, 28, 28),) * 2, {"data_range": 0}, "positive"),
])
def test_bad_input_is_named_in_one_line(arguments, options, message):
    with pytest.raises(UserError, match=message) as error:
        ssim(*arguments, **options)
    assert "\n" not in str(error.value)
