"""Similarity: all conventions, flat, equal and nearly equal images, several sizes."""
import torch

from shared import runtime, similarity
from tests.golden import Cases, refused

case = Cases()


def images(count, size, *labels, channels=1):
    """Smooth and noisy uint8 images [count, channels, *size]."""
    draw = runtime.generator(0, "golden", *labels)
    noise = torch.randint(0, 256, (count, channels, *size), dtype=torch.uint8, generator=draw)
    ramp = torch.linspace(0, 255, size[1]).expand(count, channels, *size).to(torch.uint8)
    return torch.where(torch.arange(count).view(-1, 1, 1, 1) % 2 == 0, noise, ramp.contiguous())


def pairs(size=(28, 28)):
    """Pairs of all kinds: unlike, nearly equal, equal, flat, flat but for one pixel."""
    a, b = images(6, size, "a"), images(6, size, "b")
    b[1] = a[1]
    b[2] = a[2] ^ 1
    a[3] = 200
    b[3] = 201
    a[4] = b[4] = 130
    a[4, 0, 3, 4] = 131
    a[5] = 0
    return a, b


@case
def every_convention():
    a, b = pairs()
    return {name: similarity.ssim(a, b, convention=name) for name in similarity.CONVENTIONS}


@case
def other_sizes():
    return {f"{h}x{w}": similarity.ssim(*pairs((h, w))) for h, w in ((11, 11), (12, 31), (33, 20))}


@case
def many_images_in_several_chunks():
    a, b = images(700, (28, 28), "many a"), images(700, (28, 28), "many b")
    return similarity.ssim(a, b)


@case
def colour_floats_and_other_ranges():
    a, b = (images(4, (16, 18), name, channels=3) for name in ("red", "green"))
    x, y = a / 255, b / 255
    half = x * 0.5 + y * 0.5
    return {"bytes": similarity.ssim(a, b), "float32": similarity.ssim(x, half, data_range=1.0),
            "float64": similarity.ssim(x.double(), half.double(), data_range=1.0, convention="skimage"),
            "rows": similarity.ssim(x[:, 0], half[:, 0], data_range=1.0, convention="uniform"),
            "range": similarity.ssim(a, b, data_range=100.0)}


@case
def images_of_which_few_fill_a_chunk():
    return {f"{h}x{w}": similarity.ssim(*(each[:2] for each in pairs((h, w))))
            for h, w in ((99, 100), (363, 362))}


@case
def the_whole_map():
    a, b = pairs((13, 16))
    return {name: similarity.ssim(a, b, convention=name, full=True) for name in similarity.CONVENTIONS}


@case
def bad_input():
    a, b = pairs()

    def bad(x=a, y=b, **options):
        return refused(similarity.ssim, x, y, **options)

    return {"fine": bad(), "shapes": bad(y=b[:, :, 1:]), "planes": bad(a[0, 0], b[0, 0]),
            "none": bad(a[:0], b[:0]), "integers": bad(a.int(), b.int()), "first": bad(a.long()),
            "small": bad(a[..., :10], b[..., :10]), "window": bad(a[..., :11, :11], b[..., :11, :11]),
            "convention": bad(convention="box"), "range": bad(data_range=0.0)}
