"""SSIM in all conventions, of flat, equal and nearly equal images of several sizes."""
import torch

from shared.similarity import CONVENTIONS, ssim
from tests.outputs.examples import seeded


def images(count, size, *labels, channels=1):
    """Noise and ramps in turn, uint8 [count, channels, *size]."""
    noise = torch.randint(0, 256, (count, channels, *size), dtype=torch.uint8, generator=seeded(*labels))
    ramp = torch.linspace(0, 255, size[1]).expand_as(noise).to(torch.uint8)
    return torch.where(torch.arange(count).view(-1, 1, 1, 1) % 2 == 0, noise, ramp)


def pairs(*size):
    """Pairs of all kinds: unlike, equal, nearly equal, flat, flat but for one pixel."""
    a, b = images(6, size, "a"), images(6, size, "b")
    b[1], b[2], a[3], b[3], a[5] = a[1], a[2] ^ 1, 200, 201, 0
    a[4] = b[4] = 130
    a[4, 0, 3, 4] = 131
    return a, b


def test_conventions(stored):
    stored([[ssim(*pairs(28, 28), convention=name), [ssim(*pairs(13, 16), convention=name)]]
            for name in CONVENTIONS])


def test_sizes(stored):
    """The last two sizes exceed what one chunk holds of 16 images."""
    stored([*(ssim(*pairs(*size)) for size in ((11, 11), (12, 31), (33, 20))),
            *(ssim(*(part[:2] for part in pairs(*size))) for size in ((99, 100), (363, 362)))])


def test_many_images(stored):
    stored(ssim(images(700, (28, 28), "many a"), images(700, (28, 28), "many b")))


def test_colour_types_and_ranges(stored):
    a, b = (images(4, (16, 18), name, channels=3) for name in ("red", "green"))
    x, y = a / 255, a / 255 * 0.5 + b / 255 * 0.5
    stored([ssim(a, b), ssim(x, y), ssim(x.double(), y.double(), data_range=1.0, convention="skimage"),
            ssim(x[:, 0], y[:, 0], convention="uniform"), ssim(a, b, data_range=100.0)])
