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
            found = getattr(pairs, name)[n].numpy()
            if not np.allclose(found, value, rtol=0, atol=1e-5 if found.dtype == np.float32 else 0):
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
def test_equals_the_literal_loop(classify, background, pruning):
    source = sources()
    background = {"white": WHITE, "black": BLACK, "other": source.roll(3, 0)}[background]
    pairs = search(classify, source, background, prune=pruning, keep_path=True)
    assert agree(pairs, classify, source, background, pruning=pruning)
    assert not pairs.excluded.all()


@pytest.mark.parametrize("options", [
    {"threshold": 0.7}, {"threshold": 1}, {"max_iterations": 1}, {"max_iterations": 4},
])
def test_stopping_rules_equal_the_literal_loop(options):
    pairs = search(by_brightness, sources(), WHITE, keep_path=True, **options)
    assert agree(pairs, by_brightness, sources(), WHITE, **options)


def test_cropped_similarity_equals_the_literal_loop():
    pairs = search(by_brightness, sources(), WHITE, keep_path=True, ssim_convention="skimage")
    assert agree(pairs, by_brightness, sources(), WHITE, similarity=scikit_ssim)


@pytest.mark.parametrize("background", [WHITE, BLACK], ids=["white", "black"])
def test_adversarial_objective_keeps_the_outside_image_nearest_to_the_original(background):
    options = {"threshold": 1, "max_iterations": 6}
    pairs = search(by_contrast, sources(), background, objective="adversarial", keep_path=True, **options)
    assert agree(pairs, by_contrast, sources(), background, adversarial=True, **options)
    plain = search(by_contrast, sources(), background, **options)
    searched = ~pairs.excluded
    assert (pairs.adversarial[searched] >= plain.adversarial[searched] - 1e-6).all()
    assert torch.equal(pairs.inside, plain.inside)


def test_adversarial_objective_may_keep_an_earlier_image():
    """Where the similarity falls on the way, the background is kept and not the last outside image."""
    source = torch.full((1, 1, 12, 12), 200, dtype=torch.uint8)
    seen = iter([0, 1, 1, 1])                              # source, background, two mixes

    def scripted(images):
        return torch.full((len(images),), next(seen))

    def fake_ssim(x, y, **options):                         # similarity to the source falls as images near it
        return (x.double() - y.double()).abs().mean((1, 2, 3)).float() / 255

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(borderline, "ssim", fake_ssim)
        pairs = search(scripted, source, WHITE, objective="adversarial", max_iterations=2)
    assert pairs.outside.unique().tolist() == [255]         # the background itself


@pytest.mark.parametrize("wrong", [
    lambda a, b: a // 2 + b // 2,                                       # truncates each half
    lambda a, b: ((a.int() + b.int() + 1) // 2).to(torch.uint8),        # rounds the sum once
    lambda a, b: (a + 1) // 2 + (b + 1) // 2,                           # wraps instead of saturating
])
def test_another_rounding_is_noticed(monkeypatch, wrong):
    monkeypatch.setattr(borderline, "mix", wrong)
    pairs = search(by_brightness, sources(), WHITE, keep_path=True)
    assert not agree(pairs, by_brightness, sources(), WHITE)


def test_mix_is_matlab_integer_arithmetic():
    a, b = torch.cartesian_prod(torch.arange(256), torch.arange(256)).to(torch.uint8).unbind(1)
    mixed = mix(a, b)
    assert mixed.dtype == torch.uint8
    np.testing.assert_array_equal(mixed, matlab_mix(a, b))
    assert mix(BLACK, WHITE).unique().tolist() == [128]
    odd = torch.arange(1, 255, 2, dtype=torch.uint8)
    assert torch.equal(mix(odd, odd), odd + 1) and mix(WHITE, WHITE).unique().tolist() == [255]


def test_pruning_that_freezes_the_mix_ends_at_the_limit():
    """Binary images: the mean of 0 and 128 is 64, pruned back to 0, so x_s never moves again."""
    source = torch.zeros(1, 1, 12, 12, dtype=torch.uint8)
    source[..., :3] = 255
    pairs = search(by_brightness, source, WHITE, prune=Pruning(128, 128), keep_path=True)
    assert pairs.iterations.tolist() == [9] and not pairs.converged.any()
    assert torch.equal(pairs.path.mixed[0, 3], pairs.path.mixed[0, 8])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), number=st.integers(1, 8), bright=st.booleans(), cut=st.integers(0, 8),
       where=st.sampled_from([None, "mixed", "input", "source"]))
def test_properties(seed, number, bright, cut, where):
    """Inside keeps the class, outside has another, inputs stay, and an image fares alike in any batch."""
    source, background = sources(seed, number), WHITE if bright else BLACK
    before, pruning = source.clone(), None if where is None else Pruning(70, 190, where)
    classes = by_brightness(source if where is None else prune(source, 70, 190))
    assume((classes != by_brightness(background)).any())
    pairs = search(by_brightness, source, background, prune=pruning)
    assert torch.equal(source, before) and background.unique().tolist() == [255 if bright else 0]

    def see(images):
        return by_brightness(prune(images, 70, 190) if where == "input" else images)

    assert torch.equal(see(pairs.inside), pairs.inside_class) and torch.equal(pairs.inside_class, classes)
    assert torch.equal(see(pairs.outside), pairs.outside_class)
    assert torch.equal(pairs.inside_class == pairs.outside_class, pairs.excluded)
    assert torch.equal(pairs.converged, pairs.separability > 0.99) and pairs.iterations.max() <= 9
    assert torch.equal(pairs.converged | (pairs.iterations == 9) | pairs.excluded, torch.ones(number).bool())
    for part in (slice(0, cut), slice(cut, None), slice(number - 1, number)):
        if pairs.excluded[part].all():
            continue
        again = search(by_brightness, source[part], background, prune=pruning)
        for name in ("inside", "outside", "inside_class", "outside_class", "iterations", "converged"):
            assert torch.equal(getattr(again, name), getattr(pairs, name)[part]), name
        torch.testing.assert_close(
            again.separability, pairs.separability[part], rtol=0, atol=1e-6, equal_nan=True)


def test_finished_images_are_not_classified_again():
    counts = []

    def counting(images):
        counts.append(len(images))
        return by_brightness(images)

    pairs = search(counting, sources(), WHITE)
    assert counts[:2] == [12, 1] and len(counts) == 2 + pairs.iterations.max()
    assert sum(counts[2:]) == pairs.iterations.sum()


def test_similarities_are_those_of_the_images_returned():
    pairs = search(by_brightness, sources(), WHITE, prune=Pruning(64, 255))
    keep = ~pairs.excluded
    assert torch.equal(pairs.original, prune(sources(), 64, 255))
    for name, a, b in (("separability", pairs.outside, pairs.inside),
                       ("robustness", pairs.inside, pairs.original),
                       ("adversarial", pairs.outside, pairs.original)):
        torch.testing.assert_close(getattr(pairs, name)[keep], ssim(a, b)[keep], rtol=0, atol=1e-6)


@pytest.mark.parametrize("source, background, options, message", [
    (sources().float(), WHITE, {}, "source: pixels lie in .0, 255.; .0, 1. is needed"),
    (sources() / 255, WHITE * 1.5 / 255, {}, "background: pixels lie in .1.5, 1.5.; .0, 1. is needed"),
    (sources()[:, 0], WHITE, {}, "source must be images .N, C, H, W., uint8 or float32"),
    (sources().double(), WHITE, {}, "source must be images .N, C, H, W., uint8 or float32"),
    (sources().expand(-1, 3, -1, -1), WHITE, {}, "one image or one per source"),
    (sources()[:0], WHITE, {}, "source must be images .N, C, H, W., uint8 or float32"),
    (sources(), WHITE / 255, {}, "one image or one per source, torch.uint8"),
    (sources(), WHITE[..., 1:], {}, "one image or one per source"),
    (sources(), WHITE.expand(5, -1, -1, -1), {}, "one image or one per source"),
    (WHITE.repeat(3, 1, 1, 1), WHITE, {}, r"all 3 sources have their background's class \(of classes \[4\]"),
    (sources(), WHITE, {"threshold": 0}, "threshold"),
    (sources(), WHITE, {"threshold": 1.5}, "threshold"),
    (sources(), WHITE, {"threshold": float("nan")}, "threshold"),
    (sources(), WHITE, {"threshold": "high"}, "threshold='high'"),
    (sources(), WHITE, {"max_iterations": 2.5}, "max_iterations=2.5: a whole number"),
    (sources(), WHITE, {"max_iterations": None}, "max_iterations=None: a whole number"),
    (sources(), WHITE, {"max_iterations": 0}, "max_iterations"),
    (sources(), WHITE, {"objective": "robustness"}, "separability, adversarial"),
    (sources(), WHITE, {"prune": (64, 255)}, r"Pruning\(t, T"),
    (sources(), WHITE, {"ssim_convention": "octave"}, "matlab, skimage, uniform"),
])
def test_bad_input_is_named_in_one_line(source, background, options, message):
    with pytest.raises(UserError, match=message) as error:
        search(by_brightness, source, background, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("t, T", [(-1, 5), (200, 100), (0, 257), (64.5, 255), (64, None), ("64", 255)])
def test_bad_pruning_thresholds(t, T):
    for make in (lambda: Pruning(t, T), lambda: prune(BLACK, t, T)):
        with pytest.raises(UserError, match="0 <= t <= T <= 256"):
            make()


def test_bad_pruning_place_and_classifier():
    with pytest.raises(UserError, match="mixed, input, source"):
        Pruning(64, 255, where="output")
    with pytest.raises(UserError, match="the model returns torch.int32 .12. for 12 images; logits"):
        search(lambda images: by_brightness(images).int(), sources(), WHITE)


# ---- Algorithm 1 in ten lines ------------------------------------------------------------------------------
def algorithm_1(classify, x_o, x_b, threshold=0.99, most=9):
    """Algorithm 1 of `ren` as printed, for one image [1, 1, H, W]: inside and outside image, images mixed."""
    x_s, i = x_o, 0
    while True:
        x_c = mix(x_b, x_s)
        if classify(x_c) == classify(x_o):
            x_s = x_c
        else:
            x_b = x_c
        i += 1
        if ssim(x_b, x_s) > threshold or i == most:
            return x_s, x_b, i


class RandomNet:
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
       behind=st.sampled_from(["white", "black", "digit"]))
def test_fast_search_equals_algorithm_1_line_by_line(seed, classes, number, threshold, most, behind):
    classify, source = RandomNet(seed, classes), sources(seed, number)
    draw = torch.Generator().manual_seed(seed)
    background = backgrounds(behind, source, torch.arange(number), draw)
    assume((classify(source) != classify(background)).any())
    pairs = search(classify, source, background, threshold=threshold, max_iterations=most)
    for n, (x_o, x_b) in enumerate(zip(source.split(1), background.expand_as(source).split(1))):
        assert pairs.excluded[n] == (classify(x_o) == classify(x_b))
        if not pairs.excluded[n]:
            x_s, x_b, i = algorithm_1(classify, x_o, x_b, threshold, most)
            assert torch.equal(pairs.inside[n], x_s[0]) and torch.equal(pairs.outside[n], x_b[0])
            assert pairs.iterations[n] == i and pairs.outside_class[n] == classify(x_b)
            assert pairs.converged[n] == (ssim(x_b, x_s) > threshold)


# ---- backgrounds and summaries -----------------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), labels=st.lists(st.integers(0, 3), min_size=2, max_size=30))
def test_partners_are_images_of_another_class_and_follow_the_generator(seed, labels):
    labels = torch.tensor(labels)
    assume(len(labels.unique()) > 1)
    images = torch.arange(len(labels), dtype=torch.uint8).view(-1, 1, 1, 1)
    partner, again = (backgrounds("digit", images, labels, torch.Generator().manual_seed(seed))
                      for _ in range(2))
    assert (labels[partner.flatten().long()] != labels).all() and torch.equal(partner, again)


def test_partners_are_uniform_over_all_images_of_other_classes():
    labels = torch.tensor([2, 0, 1, 0, 2, 2])
    images = torch.arange(6, dtype=torch.uint8).view(-1, 1, 1, 1)
    draw = torch.Generator().manual_seed(0)
    drawn = torch.stack([backgrounds("digit", images, labels, draw).flatten().long() for _ in range(6000)])
    for n in range(6):
        share = torch.bincount(drawn[:, n], minlength=6) / len(drawn)
        others = labels != labels[n]
        torch.testing.assert_close(share, others / others.sum(), rtol=0, atol=0.03)  # 4.5 deviations


def test_uniform_backgrounds_and_wrong_ones():
    draw, labels = torch.Generator().manual_seed(0), torch.zeros(12, dtype=torch.int64)
    assert torch.equal(backgrounds("white", sources(), labels, draw), WHITE)
    assert torch.equal(backgrounds("black", sources(), labels, draw), BLACK)
    for name, given_labels, message in (("grey", labels, "white, black, digit"),
                                        ("digit", labels, "all 12 are of one"),
                                        ("digit", labels[:5], "12 images need as many labels")):
        with pytest.raises(UserError, match=message) as error:
            backgrounds(name, sources(), given_labels, draw)
        assert "\n" not in str(error.value)


def test_summary_of_one_searched_source_has_no_spread():
    told = borderline.summary(search(by_brightness, sources()[:1], WHITE))
    assert told["searched"] == 1 and 0 < told["robustness_mean"] < 1
    assert [told[f"{name}_std"] for name in ("separability", "robustness", "adversarial")] == [None] * 3


# ---- floats and colours ------------------------------------------------------------------------------------
def bright(x):
    """One logit: the mean of all values less 0.45."""
    return x.flatten(1).mean(1) - 0.45


def test_float_images_are_mixed_exactly_and_coloured_ones_too():
    draw = runtime.generator(0, "floats")
    for channels in (1, 3):
        x = 0.3 * torch.rand(5, channels, 16, 16, generator=draw)
        white = backgrounds("white", x, None, None)
        found = search(bright, x, white, threshold=1, max_iterations=12)
        for image, inside, outside in zip(x, found.inside, found.outside):
            low, high = 0.0, 1.0    # bisection by hand: how much white
            for _ in range(12):
                middle = (low + high) / 2
                dark = float(((1 - middle) * image + middle).mean()) < 0.45
                low, high = (middle, high) if dark else (low, middle)
            torch.testing.assert_close(inside, (1 - low) * image + low, atol=1e-5, rtol=0)
            torch.testing.assert_close(outside, (1 - high) * image + high, atol=1e-5, rtol=0)
        assert white.shape == (1, channels, 16, 16) and (white == 1).all() and not found.excluded.any()


def test_grey_levels_and_the_same_in_colour_take_the_same_path():
    x = (255 * 0.3 * torch.rand(6, 1, 14, 14, generator=runtime.generator(1))).to(torch.uint8)
    grey = search(bright, x, backgrounds("white", x, None, None))
    coloured = x.expand(-1, 3, -1, -1)
    colour = search(bright, coloured, backgrounds("white", coloured, None, None))
    assert torch.equal(grey.inside.expand(-1, 3, -1, -1), colour.inside)
    assert torch.equal(grey.iterations, colour.iterations)
    torch.testing.assert_close(grey.separability, colour.separability)


@pytest.mark.parametrize("x, said", [(2 * torch.rand(2, 3, 14, 14), ".0, 1. is needed"),
                                     (torch.rand(2, 3, 14, 14).double(), "uint8 or float32"),
                                     (torch.zeros(2, 1, 1, 1), "too small")])
def test_images_of_another_scale_type_or_size_are_refused(x, said):
    with pytest.raises(UserError, match=said):
        search(bright, x, torch.ones_like(x[:1]))
