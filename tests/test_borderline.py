"""Algorithm 1 against a literal loop over images, with classifiers simple enough to check by hand."""
import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shared import borderline, runtime
from shared.borderline import Pruning, backgrounds, mix, prune, search
from shared.runtime import UserError
from shared.similarity import ssim
from tests.test_similarity import matlab_ssim, scikit_ssim

WHITE = torch.full((1, 1, 12, 12), 255, dtype=torch.uint8)
BLACK = torch.zeros_like(WHITE)


def levels(images):
    """Grey levels 0 to 255 of uint8 images, or of floats that stand for such."""
    return images if images.dtype == torch.uint8 else (255 * images).round()


def by_brightness(images):
    """Five classes by mean brightness, so that mixing with white or black crosses several boundaries."""
    mean = levels(images).double().mean((1, 2, 3))
    return torch.bucketize(mean, torch.tensor([30.0, 80.0, 130.0, 200.0], dtype=torch.float64))


def by_contrast(images):
    """Three classes by the largest pixel, and a fourth for images brighter on the left than on the right."""
    images = levels(images)
    top = images.amax((1, 2, 3))
    left = images[..., :6].double().mean((1, 2, 3)) > images[..., 6:].double().mean((1, 2, 3)) + 20
    return torch.where(left, 3, (top > 60).long() + (top > 180).long())


def sources(seed=0, number=12):
    """Images of uneven brightness [number, 1, 12, 12] with dark and saturated pixels."""
    generator = torch.Generator().manual_seed(seed)
    scale = torch.rand(number, 1, 1, 1, generator=generator) * 2
    return (torch.rand(number, 1, 12, 12, generator=generator) * 255 * scale).clamp(0, 255).to(torch.uint8)


def matlab_mix(a, b):
    """uint8(a/2 + b/2) in exact rational steps: halves rounded half up, sum saturated."""
    half = [np.floor(np.asarray(v, np.float64) / 2 + 0.5) for v in (a, b)]
    return np.minimum(255, half[0] + half[1]).astype(np.uint8)


def literal(classify, source, background, *, threshold=0.99, max_iterations=9, pruning=None,
            similarity=matlab_ssim, adversarial=False):
    """Algorithm 1 for one image, line by line. Returns a dict, or None where both classes agree."""
    def pruned(x, places):
        if pruning is None or pruning.where not in places:
            return x
        x = x.copy()
        x[x < pruning.t], x[x > pruning.T] = 0, 255
        return x

    def one(x):
        return int(classify(torch.from_numpy(pruned(x, ("input",)))[None, None])[0])

    x_s, x_b = pruned(source, ("mixed", "source")), pruned(background, ("mixed",))
    x_o, c_s, c_b, i = x_s, one(x_s), one(x_b), 0
    if c_s == c_b:
        return None
    steps, visited = [], [(similarity(x_b, x_o), x_b, c_b)]
    while True:
        x_c = pruned(matlab_mix(x_b, x_s), ("mixed",))
        c_c = one(x_c)
        if c_c == c_s:
            x_s = x_c
        else:
            x_b, c_b = x_c, c_c
            visited.append((similarity(x_b, x_o), x_b, c_b))
        s = similarity(x_b, x_s)
        steps.append((x_c, c_c, c_c == c_s, s))
        i += 1
        if s > threshold or i >= max_iterations:
            break
    if adversarial:
        _, x_b, c_b = max(visited, key=lambda v: v[0])
    return {"inside": x_s, "outside": x_b, "inside_class": c_s, "outside_class": c_b, "iterations": i,
            "converged": s > threshold, "separability": similarity(x_b, x_s),
            "robustness": similarity(x_s, x_o), "adversarial": similarity(x_b, x_o), "steps": steps}


def agree(pairs, classify, source, background, **options):
    """Does every field of `pairs` equal the literal loop's?"""
    background = background.expand_as(source)
    for n in range(len(source)):
        expected = literal(classify, source[n, 0].numpy(), background[n, 0].numpy(), **options)
        if expected is None:
            if not pairs.excluded[n] or pairs.iterations[n] != 0 or not pairs.separability[n].isnan():
                return False
            continue
        steps = expected.pop("steps")
        for name, value in expected.items():
            result = getattr(pairs, name)[n].numpy()
            if not np.allclose(result, value, rtol=0, atol=1e-5 if result.dtype == np.float32 else 0):
                return False
        for i, (x_c, c_c, inside, s) in enumerate(steps):
            path = pairs.path
            if not (np.array_equal(path.mixed[n, i, 0], x_c) and path.mixed_class[n, i] == c_c
                    and path.moved_inside[n, i] == inside and abs(path.similarity[n, i] - s) < 1e-5):
                return False
        if (pairs.path.mixed_class[n, len(steps):] != -1).any():
            return False
    return True


@pytest.mark.parametrize("classify", [by_brightness, by_contrast])
@pytest.mark.parametrize("background", ["white", "black", "other"])
@pytest.mark.parametrize("pruning", [
    None, Pruning(64, 255), Pruning(128, 128), Pruning(100, 200, where="input"),
    Pruning(64, 192, where="source"),
], ids=str)
def test_the_search_is_the_literal_loop(classify, background, pruning):
    source = sources()
    background = {"white": WHITE, "black": BLACK, "other": source.roll(3, 0)}[background]
    pairs = search(classify, source, background, prune=pruning, keep_path=True)
    assert agree(pairs, classify, source, background, pruning=pruning)
    assert not pairs.excluded.all()


def test_cropped_similarity_is_that_of_the_literal_loop():
    pairs = search(by_brightness, sources(), WHITE, keep_path=True, ssim_convention="skimage")
    assert agree(pairs, by_brightness, sources(), WHITE, similarity=scikit_ssim)


class RandomNetwork:
    """One hidden layer with random whole weights: float64 sums of whole numbers are exact in any batch."""

    def __init__(self, seed, classes):
        draw = torch.Generator().manual_seed(seed)
        self.first = torch.randint(-9, 10, (144, 16), generator=draw).double()
        self.last = torch.randint(-9, 10, (16, classes), generator=draw).double()

    def __call__(self, images):
        return (levels(images).flatten(1).double() @ self.first).relu().matmul(self.last).argmax(1)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(2, 6), number=st.integers(2, 9),
       threshold=st.sampled_from([0.5, 0.9, 0.99, 1]), most=st.integers(1, 10),
       behind=st.sampled_from(["white", "black", "digit"]),
       where=st.sampled_from([None, *borderline.PRUNING_PLACES]))
def test_the_search_of_any_network_is_the_literal_loop(seed, classes, number, threshold, most, behind, where):
    """The loop takes one image at a time: an image fares alike in any batch.

    Both have one SSIM, which may lie near the threshold.
    """
    def similarity(a, b):
        return ssim(torch.from_numpy(a)[None, None], torch.from_numpy(b)[None, None]).item()

    classify, source = RandomNetwork(seed, classes), sources(seed, number)
    background = backgrounds(behind, source, torch.arange(number), seed)
    pruning, before = where and Pruning(70, 190, where), (source.clone(), background.clone())
    first = [prune(x, 70, 190) if where and (where != "source" or x is source) else x
             for x in (source, background)]
    assume((classify(first[0]) != classify(first[1])).any())
    pairs = search(classify, source, background, threshold=threshold, max_iterations=most, prune=pruning,
                   keep_path=True)
    assert agree(pairs, classify, source, background, threshold=threshold, max_iterations=most,
                 pruning=pruning, similarity=similarity)
    assert torch.equal(source, before[0]) and torch.equal(background, before[1])


@pytest.mark.parametrize("background", [WHITE, BLACK], ids=["white", "black"])
def test_adversarial_objective_keeps_the_outside_image_nearest_to_the_original(background):
    options = {"threshold": 1, "max_iterations": 6}
    pairs = search(by_contrast, sources(), background, objective="adversarial", keep_path=True, **options)
    assert agree(pairs, by_contrast, sources(), background, adversarial=True, **options)


def test_adversarial_objective_may_keep_an_earlier_image(monkeypatch):
    """Where the similarity falls on the way, the background is kept and not the last outside image."""
    labels = iter([0, 1, 1, 1])                              # source, background, two mixes

    def classify(images):
        return torch.full((len(images),), next(labels))

    def distance(x, y, **options):                          # it falls as images near the source
        return (x.double() - y.double()).abs().mean((1, 2, 3)).float() / 255

    monkeypatch.setattr(borderline, "ssim", distance)
    pairs = search(classify, torch.full_like(WHITE, 200), WHITE, objective="adversarial", max_iterations=2)
    assert pairs.outside.unique().tolist() == [255]         # the background itself


def test_mix_is_matlab_integer_arithmetic():
    a, b = torch.cartesian_prod(torch.arange(256), torch.arange(256)).to(torch.uint8).unbind(1)
    mixed = mix(a, b)
    assert mixed.dtype == torch.uint8
    np.testing.assert_array_equal(mixed, matlab_mix(a, b))
    assert mix(BLACK, WHITE).unique().tolist() == [128] and mix(WHITE, WHITE).unique().tolist() == [255]


def test_finished_images_are_not_classified_again():
    counts = []

    def counting(images):
        counts.append(len(images))
        return by_brightness(images)

    pairs = search(counting, sources(), WHITE)
    assert counts[:2] == [12, 1] and len(counts) == 2 + pairs.iterations.max()
    assert sum(counts[2:]) == pairs.iterations.sum()


@pytest.mark.parametrize("source, background, options, message", [
    (sources().float(), WHITE, {}, "source: pixels lie in .0, 255.; .0, 1. is needed"),
    (sources() / 255, WHITE * 1.5 / 255, {}, "background: pixels lie in .1.5, 1.5.; .0, 1. is needed"),
    (sources().double(), WHITE, {}, "source must be images .N, C, H, W., uint8 or float32"),
    (sources()[:0], WHITE, {}, "source must be images .N, C, H, W., uint8 or float32"),
    (sources().expand(-1, 3, -1, -1), WHITE, {}, "one image or one per source"),
    (sources(), WHITE / 255, {}, "one image or one per source, torch.uint8"),
    (sources(), WHITE.expand(5, -1, -1, -1), {}, "one image or one per source"),
    (WHITE.repeat(3, 1, 1, 1), WHITE, {}, r"all 3 sources have their background's class \(of classes \[4\]"),
    (sources(), WHITE, {"threshold": 1.5}, "threshold"),
    (sources(), WHITE, {"threshold": float("nan")}, "threshold"),
    (sources(), WHITE, {"threshold": "high"}, "threshold='high'"),
    (sources(), WHITE, {"max_iterations": 2.5}, "max_iterations=2.5: a whole number"),
    (sources(), WHITE, {"max_iterations": 0}, "max_iterations"),
    (sources(), WHITE, {"objective": "robustness"}, "separability, adversarial"),
    (sources(), WHITE, {"prune": (64, 255)}, r"Pruning\(t, T"),
    (sources(), WHITE, {"ssim_convention": "octave"}, "matlab, skimage, uniform"),
])
def test_bad_input_is_named_in_one_line(source, background, options, message):
    with pytest.raises(UserError, match=message) as error:
        search(by_brightness, source, background, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("t, T", [(-1, 5), (200, 100), (0, 257), (64.5, 255), (64, None)])
def test_bad_pruning_thresholds(t, T):
    for make in (lambda: Pruning(t, T), lambda: prune(BLACK, t, T)):
        with pytest.raises(UserError, match="0 <= t <= T <= 256"):
            make()


def test_bad_pruning_place():
    with pytest.raises(UserError, match="mixed, input, source"):
        Pruning(64, 255, where="output")


# ---- backgrounds and summaries -----------------------------------------------------------------------------
def test_partners_are_uniform_over_all_images_of_other_classes():
    labels = torch.tensor([2, 0, 1, 0, 2, 2])
    images = torch.arange(6, dtype=torch.uint8).view(-1, 1, 1, 1)
    draw = torch.Generator().manual_seed(0)
    partners = torch.stack([backgrounds("digit", images, labels, draw).flatten().long() for _ in range(6000)])
    assert (labels[partners] != labels).all()
    for n in range(6):
        share = torch.bincount(partners[:, n], minlength=6) / len(partners)
        others = labels != labels[n]
        torch.testing.assert_close(share, others / others.sum(), rtol=0, atol=0.03)  # 4.5 deviations


@pytest.mark.parametrize("name, labels, message", [
    ("grey", torch.zeros(12), "white, black, digit"), ("digit", torch.zeros(12), "all 12 are of one"),
    ("digit", torch.zeros(5), "12 images need as many labels")])
def test_backgrounds_that_cannot_be_are_named_in_one_line(name, labels, message):
    with pytest.raises(UserError, match=message) as error:
        backgrounds(name, sources(), labels.long(), 0)
    assert "\n" not in str(error.value)


def test_a_summary_of_one_searched_source_has_no_spread():
    summary = borderline.summary(search(by_brightness, sources()[:1], WHITE))
    assert [summary[f"{name}_std"] for name in ("separability", "robustness", "adversarial")] == [None] * 3


# ---- floats and colours ------------------------------------------------------------------------------------
def bright(x):
    """One logit: the mean of all values less 0.45."""
    return x.flatten(1).mean(1) - 0.45


def test_float_images_are_mixed_exactly_and_coloured_ones_too():
    draw = runtime.generator(0, "floats")
    for channels in (1, 3):
        x = 0.3 * torch.rand(5, channels, 16, 16, generator=draw)
        white = backgrounds("white", x, None, None)
        pairs = search(bright, x, white, threshold=1, max_iterations=12)
        for image, inside, outside in zip(x, pairs.inside, pairs.outside):
            low, high = 0.0, 1.0    # bisection by hand: the share of white
            for _ in range(12):
                share = (low + high) / 2
                dark = float(((1 - share) * image + share).mean()) < 0.45
                low, high = (share, high) if dark else (low, share)
            torch.testing.assert_close(inside, (1 - low) * image + low, atol=1e-5, rtol=0)
            torch.testing.assert_close(outside, (1 - high) * image + high, atol=1e-5, rtol=0)
        assert white.shape == (1, channels, 16, 16) and (white == 1).all() and not pairs.excluded.any()


def test_grey_levels_and_the_same_in_colour_take_the_same_path():
    x = (255 * 0.3 * torch.rand(6, 1, 14, 14, generator=runtime.generator(1))).to(torch.uint8)
    grey = search(bright, x, backgrounds("white", x, None, None))
    coloured = x.expand(-1, 3, -1, -1)
    colour = search(bright, coloured, backgrounds("white", coloured, None, None))
    assert torch.equal(grey.inside.expand(-1, 3, -1, -1), colour.inside)
    assert torch.equal(grey.iterations, colour.iterations)
    torch.testing.assert_close(grey.separability, colour.separability)
