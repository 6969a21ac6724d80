"""Borderline pairs: both objectives, all conventions, backgrounds, prunings and places, paths, limits."""
import numpy as np
import torch

from shared import borderline, runtime
from tests.golden import ROUNDED, Cases, refused
from tests.golden.similarity import images

case = Cases()


def classify(x):
    """Three classes by the mean grey of two halves: a boundary that is no plane in grey levels."""
    halves = 255 * x.double().flatten(1).view(len(x), 2, -1).mean(2)
    rises = halves[:, 0] / 96.005 - 1, halves[:, 1] * halves[:, 0] / (150 * 90) - 1
    assert all((rise.abs() > 1e-5).all() for rise in rises), "an image is nearly on the boundary"
    return sum((rise > 0).long() for rise in rises)


def sources(count=24):
    """Grey images of several brightnesses, uint8 [count, 1, 14, 14]."""
    x = images(count, (14, 14), "sources").float()
    return (x * torch.linspace(0.1, 1.0, count).view(-1, 1, 1, 1)).to(torch.uint8)


WHITE, BLACK = (torch.full((1, 1, 14, 14), value, dtype=torch.uint8) for value in (255, 0))


@case
def arithmetic():
    every = torch.arange(256, dtype=torch.uint8)
    a, b = every.repeat(256), every.repeat_interleave(256)
    pruned = {f"{t}-{T}": borderline.prune(every, t, T)
              for t, T in ((0, 256), (0, 255), (100, 150), (128, 128), (256, 256))}
    return {"mix": borderline.mix(a, b), **pruned}


@case
def backgrounds():
    x, labels = sources(), torch.arange(24) % 5
    draws = {name: borderline.backgrounds(name, x, labels, runtime.generator(3))
             for name in ("white", "black", "digit")}
    return draws | {"one": refused(borderline.backgrounds, "digit", x, labels * 0, runtime.generator(3)),
                    "two": borderline.backgrounds("digit", x, (labels > 3).long(), runtime.generator(4)),
                    "labels": refused(borderline.backgrounds, "digit", x, labels[1:], runtime.generator(3)),
                    "name": refused(borderline.backgrounds, "grey", x, labels, runtime.generator(3))}


def searched(x, background, *, threshold=0.99, **options):
    """What a search finds, in which no similarity is nearly the threshold."""
    options["threshold"] = threshold
    path = borderline.search(classify, x, background, **options | {"keep_path": True}).path
    assert not ((path.similarity - threshold).abs() < ROUNDED).any(), "a similarity is nearly the threshold"
    return borderline.search(classify, x, background, **options)


@case
def searches():
    x = sources()
    return {f"{name} {objective}": searched(x, background, objective=objective)
            for name, background in (("white", WHITE), ("black", BLACK))
            for objective in borderline.OBJECTIVES}


@case
def options():
    x, partner = sources(), sources().flip(0)
    path = searched(x, BLACK, keep_path=True).path
    met = float(path.similarity[:, 3].nan_to_num(0).max()) - 2e-4
    return {"convention": searched(x, WHITE, ssim_convention="uniform", threshold=0.98),
            "skimage": searched(x, BLACK, ssim_convention="skimage",
                                         objective="adversarial"),
            "threshold": searched(x, WHITE, threshold=0.9, max_iterations=12),
            "never early": searched(x, BLACK, threshold=1, max_iterations=5),
            "one": searched(x, BLACK, max_iterations=1, objective="adversarial"),
            "met": [searched(x, BLACK, threshold=met + off) for off in (0, 1e-3)],
            "met at last": searched(x, BLACK, threshold=met, max_iterations=4),
            "partners": searched(x, partner, keep_path=True),
            "path": searched(x, BLACK, keep_path=True, objective="adversarial")}


@case
def floats():
    """Images in [0, 1], black and white among their pixels: exact means, grey levels divided by 255."""
    every, x = torch.arange(256) / 255, sources()[::3] / 255
    white = borderline.backgrounds("white", x, None, None)
    return {"mix": borderline.mix(every, x[:, 0, 0, :1]), "white": white,
            "black": borderline.backgrounds("black", x, None, None),
            "prune": [borderline.prune(every, t, T) for t, T in ((100, 150), (128, 128), (0, 255))],
            "search": [searched(x, white, objective=name)
                       for name in borderline.OBJECTIVES],
            "pruned": searched(x, white, prune=borderline.Pruning(64, 192)),
            "bad": [refused(borderline.search, classify, each, white)
                    for each in (x, x - 0.1, x + 0.5, x * 255, x.double(), x * torch.nan)],
            "bad background": [refused(borderline.search, classify, x, each * white)
                               for each in (1, 1.5, -0.5)]}


@case
def pruned():
    x = sources()
    return {f"{where} {t} {T}": searched(x, WHITE, prune=borderline.Pruning(t, T, where),
                                                  keep_path=where == "mixed", max_iterations=9)
            for where in borderline.PRUNING_PLACES for t, T in ((64, 192), (128, 128))}


@case
def summaries():
    """A standard deviation, beside its mean: it is rounded in units of what was summed."""
    found = searched(sources(), BLACK)
    few = {count: searched(sources()[-count:], BLACK) for count in (1, 2)}

    def moments(pairs):
        told = borderline.summary(pairs)
        for name in ("separability", "robustness", "adversarial"):
            told[name] = np.array([told.pop(f"{name}_mean"), told.pop(f"{name}_std")], dtype=float)
        return told

    return {"many": moments(found), "few": {n: moments(few[n]) for n in few}}


@case
def bad_input():
    x = sources()

    def bad(source=x, background=WHITE, classify=classify, **options):
        return refused(borderline.search, classify, source, background, **options)

    return {"fine": bad(), "float": bad(x.float()), "flat": bad(x[:, 0]), "none": bad(x[:0]),
            "colour": bad(x.expand(-1, 3, -1, -1)), "background": bad(background=WHITE[..., 1:]),
            "two": bad(background=x[:2]),
            "background type": bad(background=WHITE.float()), "same class": bad(x[-1:]),
            "threshold": [bad(threshold=value) for value in (0, 1.01, "high", 1e-9, 1)],
            "iterations": [bad(max_iterations=value) for value in (0, 2.5, 1)],
            "prune": bad(prune=(1, 2)), "objective": bad(objective="robust"),
            "where": refused(borderline.Pruning, 1, 2, "everywhere"),
            "limits": [refused(borderline.Pruning, *each)
                       for each in ((-1, 2), (3, 2), (0, 257), (1.5, 2), (0, 0))],
            "classes": bad(classify=lambda images: classify(images).int()),
            "scores": bad(classify=lambda images: images.flatten(1).long())}
