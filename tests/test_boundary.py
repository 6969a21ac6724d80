"""boundary: the survey on models solved by hand, purity, the boundary classifier."""
import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from shared import runtime
from shared.attacks.directions import directions
from shared.boundary import classifier
from shared.boundary.survey import BEYOND, NEVER, purity, strewn, survey
from shared.inference import STEADY, Careful
from shared.runtime import UserError

SIDE, D = 6, 36


class Planes(nn.Module):
    """Logits 0 and w_j.(x - 1/2) - b_j: class 0 in the middle, another behind each plane."""

    def __init__(self, w, b):
        super().__init__()
        self.w, self.b = nn.Parameter(w), nn.Parameter(b)

    def forward(self, x):
        self.count = getattr(self, "count", 0) + len(x)
        scores = (x.flatten(1) - 0.5) @ self.w.T - self.b
        return torch.cat([scores.new_zeros(len(x), 1), scores], 1)


def seeded(*labels):
    return runtime.generator(0, *labels)


@pytest.fixture
def scene():
    """Two planes at different distances from five images near the middle grey, and orthogonal directions."""
    w = torch.randn(2, D, generator=seeded("w"))
    model = Planes(w, torch.tensor([0.8, 1.2]))
    x = 0.5 + 0.05 * (2 * torch.rand(5, 1, SIDE, SIDE, generator=seeded("x")) - 1)
    return model, x, directions(D, 20, negatives=True, generator=seeded("directions"))


STEP, TOP = 0.01, 0.13     # so near that no pixel is clipped


@pytest.fixture
def crossings(scene):
    """First step across, whether it is one of those tried, and the exact distance; all [N, K]."""
    model, x, dirs = scene
    gap = model.b - (x.flatten(1) - 0.5) @ model.w.T
    speed = dirs @ model.w.T
    exact = torch.where(speed > 0, gap[:, None] / speed, torch.inf).amin(2).detach()
    number = torch.ceil(exact / STEP)
    within = number <= round(TOP / STEP)
    assert 0.05 + TOP * dirs.abs().max() < 0.5 and 0 < within.sum() < within.numel()
    assert ((number * STEP - exact).abs()[within] > 1e-6).all()
    return number, within, exact


def test_the_survey_finds_the_exact_crossing_on_the_grid(scene, crossings):
    model, x, dirs = scene
    number, within, _ = crossings
    result = survey(model, x, dirs, step=STEP, top=TOP)
    assert result.reached.equal(within) and (result.reference == 0).all()
    torch.testing.assert_close(result.distance[within], number[within] * STEP)
    assert (result.distance[~within] == BEYOND).all() and (result.adjacent[~within] == NEVER).all()
    torch.testing.assert_close(result.linf[within], (result.distance * dirs.abs().amax(1))[within])
    assert (result.linf[~within] == BEYOND).all()


def test_the_adjacent_class_is_the_one_met_on_the_grid(scene):
    model, x, dirs = scene
    result = survey(model, x, dirs, step=STEP, top=TOP)
    moves = STEP * torch.arange(1, 14).view(-1, 1, 1, 1) * dirs.view(-1, 1, 1, SIDE, SIDE)
    for i, image in enumerate(x):
        for k, points in enumerate(image + moves):
            labels = model(points.clamp(0, 1)).argmax(1).tolist()
            assert result.adjacent[i, k] == next((label for label in labels if label != 0), NEVER)
    assert set(result.adjacent.unique().tolist()) == {NEVER, 1, 2}


def test_points_are_clipped_and_the_class_at_the_image_is_the_reference():
    # class 0 where the mean is above 0.62; upwards a white image stays as it is
    def model(images):
        assert (images >= 0).all() and (images <= 1).all()
        mean = images.flatten(1).mean(1)
        return torch.stack([mean, torch.full_like(mean, 0.62)], 1) * 10

    up = torch.ones(1, D)
    x = torch.stack([torch.full((1, SIDE, SIDE), v) for v in (1.0, 0.55)])
    result = survey(model, x, torch.cat([up, -up]), step=0.1, top=0.9)
    assert result.reference.tolist() == [0, 1]
    assert result.adjacent.tolist() == [[NEVER, 1], [0, NEVER]]
    torch.testing.assert_close(result.distance, torch.tensor([[BEYOND, 0.4], [0.1, BEYOND]]))


def test_evaluations_are_what_is_needed_and_one_an_image_more(scene, crossings):
    model, x, dirs = scene
    number, within, _ = crossings
    model.count = 0
    result = survey(model, x, dirs, step=STEP, top=TOP)
    assert result.evaluations == len(x) + int(torch.where(within, number, round(TOP / STEP)).sum())
    # Some images are evaluated twice more, to see whether the model is steady.
    assert model.count == result.evaluations + 2 * min(STEADY, len(x))


def test_a_survey_in_bfloat16_finds_what_float32_finds(scene, bf16):
    model, x, dirs = scene
    careful = Careful.measured(model, strewn(x, dirs, 200, top=0.9, generator=seeded("points")))
    exact, quick, rough = (survey(m, x, dirs, step=0.01, top=0.9)
                           for m in (model, careful, Careful(model, -1.0)))
    assert quick.distance.equal(exact.distance) and quick.adjacent.equal(exact.adjacent)
    assert not rough.distance.equal(exact.distance)     # so that the doubt is what makes them equal
    assert 0 < careful.again < careful.judged / 2 and careful.judged == quick.evaluations


def test_strewn_points_lie_on_the_lines_of_the_survey(scene):
    _, x, dirs = scene
    points = strewn(x[:1], dirs[:1], 50, top=0.3, generator=seeded("one"))
    assert points.shape == (50, *x.shape[1:]) and 0 <= points.min() and points.max() <= 1
    along = (points - x[:1]).flatten(1) @ dirs[0] / (dirs[0] @ dirs[0])
    inside = ((points > 0) & (points < 1)).flatten(1).all(1)
    assert inside.any() and 0 <= along[inside].min() and along[inside].max() <= 0.3 + 1e-6
    expected = x[:1] + along[inside].view(-1, 1, 1, 1) * dirs[0].view(SIDE, SIDE)
    torch.testing.assert_close(points[inside], expected, atol=1e-5, rtol=0)


def test_the_tail_bug_forgets_the_last_crossings_of_a_complete_image(scene):
    _, x, dirs = scene

    def model(images):      # class 0 within an ellipsoid, which every direction leaves
        score = (images.flatten(1) - 0.5).square() @ torch.linspace(1, 2, D) - 1
        return torch.stack([-score, score], 1)

    whole = survey(model, x, dirs, step=0.001, top=0.4)
    top = whole.distance.amax(1).min().item()                # all directions of one image cross until then
    right, wrong = (survey(model, x, dirs, step=0.001, top=top, legacy_tail_bug=bug) for bug in (False, True))
    complete = right.reached.all(1, keepdim=True)
    assert complete.any() and not complete.all()
    forgotten = complete & (right.distance == right.distance.amax(1, keepdim=True))
    assert wrong.distance.equal(right.distance.masked_fill(forgotten, BEYOND))
    assert wrong.adjacent.equal(right.adjacent.masked_fill(forgotten, NEVER))


# ---- purity ----------------------------------------------------------------------------------------------
def result_of(distance, adjacent):
    """As a survey gives it."""
    return SimpleNamespace(distance=distance, adjacent=adjacent, reached=adjacent != NEVER)


def test_purity_counts_the_commonest_of_the_adjacent_classes():
    adjacent = torch.tensor([[3, 3, 5, 3, NEVER], [NEVER] * 5, [1, 2, 5, 5, 2]])
    result = result_of(adjacent.float(), adjacent)
    expected = torch.tensor([[0.75, 1.0, 1.0], [0, 0, 0], [0.4, 0.8, 1.0]])
    torch.testing.assert_close(purity(result, 3), expected)
    assert purity(result).shape == (3, 5) and purity(result, 9).shape == (3, 9)


# ---- what is refused -------------------------------------------------------------------------------------
@pytest.mark.parametrize("change, message", [
    (dict(dirs=torch.eye(D)), "RMS 1"), (dict(dirs=torch.ones(2, D)), "orthogonal"),
    (dict(dirs=torch.full((1, D), torch.nan)), "RMS 1"), (dict(dirs=torch.ones(0, D)), r"\[0, 36\]"),
    (dict(dirs=torch.ones(1, D - 1)), r"float32 \[K, 36\]"),
    (dict(dirs=torch.ones(1, D, dtype=torch.float64)), "directions are torch.float64"),
    (dict(step=0.0), "step=0.0"), (dict(step=0.5, top=0.3), "step=0.5, top=0.3"), (dict(top=1.5), "top=1.5"),
    (dict(model=lambda x: torch.ones(len(x), 2) / (len(x) == 5)), "nan or infinite"),  # fine on the images
])
def test_what_cannot_be_surveyed_is_named_in_one_line(change, message, scene):
    model, x, dirs = scene
    arguments = dict(model=model, x=x, dirs=dirs, step=STEP, top=TOP) | change
    with pytest.raises(UserError, match=message) as error:
        survey(**arguments)
    assert "\n" not in str(error.value)


# ---- the boundary classifier -----------------------------------------------------------------------------
def pairs(number, low=0.1, high=0.3):
    """Features of 100 directions, with distances around `low` of adversarial images, `high` of benign."""
    def around(height, label):
        distance = height + 0.02 * torch.rand(number, 100, generator=seeded(label))
        adjacent = torch.randint(3, (number, 100), generator=seeded(label, 1))
        return classifier.features(result_of(distance, adjacent))

    correct, successful = torch.rand(2, number, generator=seeded("kept")) < torch.tensor([[0.9], [0.7]])
    return classifier.Pairs(around(high, "benign"), around(low, "adversarial"), correct, successful)


def test_features_are_sorted_distances_and_three_purities():
    result = result_of(torch.tensor([[1.0, 0.1, 0.4]]), torch.tensor([[NEVER, 7, 2]]))
    torch.testing.assert_close(classifier.features(result), torch.tensor([[0.1, 0.4, 1.0, 0.5, 1.0, 1.0]]))
    # CIFAR-10: (255 - 16)/127.5 on pixels of 0..255 is 1.875 where nothing was found
    scaled = classifier.features(result, centre=16 / 255, unit=0.5)
    torch.testing.assert_close(scaled[0, 2], torch.tensor((255 - 16) / 127.5))


@pytest.mark.parametrize("directions, flat", [(1568, 1539), (1000, 979)])
def test_the_network_has_the_published_lengths(directions, flat):
    network = classifier.BoundaryNet(directions)
    assert network.linears[0].in_features == flat and network(torch.zeros(4, directions + 3)).shape == (4, 2)
    assert sum(isinstance(m, nn.Dropout) and m.p == 0.5 for m in network.modules()) == 3
    bound, largest = math.sqrt(6 / (flat + 32)), network.linears[0].weight.abs().max()
    assert 0.98 * bound < largest <= bound


def test_the_classifier_learns_by_its_generator_alone():
    data, state = pairs(300), torch.get_rng_state()
    one, two = (classifier.train(data[:200], steps=150, batch=64, generator=seeded()) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state) and not one.training
    assert all(a.equal(b) for a, b in zip(one.parameters(), two.parameters()))
    assert classifier.rates(one, data[200:]).accuracy > 0.95
    # Adversarial images at the distances of benign ones are missed.
    assert classifier.rates(one, pairs(300, low=0.3)[200:]).false_negative > 0.9


def test_rates_count_correct_images_and_their_successful_examples():
    data = classifier.Pairs(torch.zeros(4, 103), torch.zeros(4, 103), torch.tensor([True, True, True, False]),
                            torch.tensor([True, False, True, True]))
    rates = classifier.rates(lambda x: torch.tensor([[0.0, 1.0]]).expand(len(x), 2), data)
    assert (rates.flagged, rates.benign, rates.missed, rates.adversarial) == (3, 3, 0, 2)
    assert (rates.false_positive, rates.false_negative, rates.accuracy) == (1, 0, 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_threshold_is_the_best_rule_on_one_number(sign):
    adversarial, benign = (sign * torch.tensor(v) for v in ([0.1, 0.2, 0.3, 0.6], [0.4, 0.5, 0.5, 0.7, 0.8]))
    rule = classifier.threshold(adversarial, benign)
    rates = rule.rates(adversarial, benign)
    assert rule.below == (sign > 0) and (rates.missed, rates.flagged) == (1, 0)   # 1 of 4 at best
    assert (rates.adversarial, rates.benign, rates.accuracy) == (4, 5, 0.75)
    assert rates.accuracy == max(classifier.Threshold(float(v), below).rates(adversarial, benign).accuracy
                                 for v in torch.cat([adversarial, benign]) for below in (True, False))
    # The same numbers on both sides: the median is the best that is left.
    assert classifier.threshold(benign, benign).rates(benign, benign).accuracy >= 0.4


@pytest.mark.parametrize("balanced", [False, True])
def test_images_that_do_not_count_teach_nothing(balanced):
    data = pairs(100)
    other = classifier.Pairs(data.benign.clone(), data.adversarial.clone(), data.correct, data.successful)
    other.benign[~data.kept()[0]] = 7.0
    other.adversarial[~data.kept()[1]] = 7.0
    one, two = (classifier.train(some, steps=5, batch=30, balanced=balanced, generator=seeded())
                for some in (data, other))
    assert all(a.equal(b) for a, b in zip(one.parameters(), two.parameters()))


@pytest.mark.parametrize("make, message", [
    (lambda: classifier.BoundaryNet(35), "35 directions are too few"),
    (lambda: classifier.train(pairs(9), steps=0, generator=seeded()), "steps=0"),
    (lambda: classifier.train(pairs(9), steps=1, rate=math.nan, generator=seeded()), "rate=nan"),
    (lambda: classifier.train(pairs(9)[:0], steps=1, generator=seeded()), "nothing to learn"),
    (lambda: classifier.Pairs(*(torch.zeros(n, 9) for n in (2, 3)), *torch.ones(2, 2)), "pairs of shapes"),
    (lambda: classifier.threshold(torch.zeros(0), torch.ones(3)), "no number of one kind"),
])
def test_settings_out_of_range_are_named(make, message):
    with pytest.raises(UserError, match=message):
        make()
