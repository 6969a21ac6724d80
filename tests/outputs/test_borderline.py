"""Borderline pairs: the search under its options, backgrounds, pruning, the mean of two images."""
import numpy as np
import torch

from shared import borderline, runtime
from shared.borderline import OBJECTIVES, PRUNING_PLACES, Pruning, backgrounds, mix, prune
from tests.outputs.examples import ROUNDED, seeded

WHITE, BLACK = (torch.full((1, 1, 14, 14), value, dtype=torch.uint8) for value in (255, 0))


def classify(x):
    """Three classes by the mean grey of two halves: a boundary that is no plane in grey levels."""
    halves = 255 * x.double().flatten(1).view(len(x), 2, -1).mean(2)
    rises = halves[:, 0] / 96.005 - 1, halves[:, 1] * halves[:, 0] / (150 * 90) - 1
    assert all((rise.abs() > 1e-5).all() for rise in rises), "an image is nearly on the boundary"
    return sum((rise > 0).long() for rise in rises)


def sources():
    """Grey images of several brightnesses, noise and ramps by turns, uint8 [24, 1, 14, 14]."""
    x = torch.randint(0, 256, (24, 1, 14, 14), dtype=torch.uint8, generator=seeded("sources"))
    x[1::2] = torch.linspace(0, 255, 14).to(torch.uint8)
    return (x.float() * torch.linspace(0.1, 1.0, 24).view(-1, 1, 1, 1)).to(torch.uint8)


def search(x, background, *, threshold=0.99, **options):
    """`borderline.search` in which no similarity is nearly the threshold."""
    options["threshold"] = threshold
    path = borderline.search(classify, x, background, **options | {"keep_path": True}).path
    assert not ((path.similarity - threshold).abs() < ROUNDED).any(), "a similarity is nearly the threshold"
    return borderline.search(classify, x, background, **options)


def test_mix_and_prune(stored):
    levels = torch.arange(256, dtype=torch.uint8)
    limits = (0, 255), (100, 150), (128, 128)
    stored({"mix": mix(levels.repeat(256), levels.repeat_interleave(256)),
            "prune": [prune(levels, t, T) for t, T in limits],
            "floats": [mix(levels / 255, sources()[::3, 0, 0, :1] / 255)]
            + [prune(levels / 255, t, T) for t, T in limits]})


def test_backgrounds(stored):
    x, labels = sources(), torch.arange(24) % 5
    stored({"uint8": [backgrounds(name, x, labels, runtime.generator(3))
                      for name in ("white", "black", "digit")],
            "two classes": backgrounds("digit", x, (labels > 3).long(), runtime.generator(4)),
            "floats": [backgrounds(name, x / 255, None, None) for name in ("white", "black")]})


def test_search(stored):
    stored({f"{name} {objective}": search(sources(), background, objective=objective)
            for name, background in (("white", WHITE), ("black", BLACK)) for objective in OBJECTIVES})


def test_search_with_options(stored):
    x = sources()
    stored({"uniform": search(x, WHITE, ssim_convention="uniform", threshold=0.98),
            "skimage": search(x, BLACK, ssim_convention="skimage", objective="adversarial"),
            "threshold": search(x, WHITE, threshold=0.9, max_iterations=12),
            "never early": search(x, BLACK, threshold=1, max_iterations=5)})


def test_search_with_partners_and_path(stored):
    stored(search(sources(), sources().flip(0), keep_path=True))


def test_search_of_floats(stored):
    """Images in [0, 1]: exact means, grey levels divided by 255."""
    x, white = sources()[::3] / 255, WHITE / 255
    stored({**{name: search(x, white, objective=name) for name in OBJECTIVES},
            "pruned": search(x, white, prune=Pruning(64, 192))})


def test_search_with_pruning(stored):
    stored({where: search(sources(), WHITE, prune=Pruning(64, 192, where)) for where in PRUNING_PLACES})


def test_summary(stored):
    """A standard deviation is stored beside its mean: it is rounded in units of what was summed."""
    values = {}
    for count in (24, 2, 1):
        facts = borderline.summary(search(sources()[-count:], BLACK))
        for name in ("separability", "robustness", "adversarial"):
            facts[name] = np.array([facts.pop(f"{name}_mean"), facts.pop(f"{name}_std")], dtype=float)
        values[f"{count}"] = facts
    stored(values)
