"""papers.he: line searches as in the authors' scripts, points of the searches, the boundary classifier."""
import math

import pytest
import torch
from torch import nn

from papers.he import classifier
from papers.he.line_searches import random_points, with_tail_bug
from shared.attacks.directions import directions
from shared.boundary import BEYOND, NEVER, survey
from shared.runtime import UserError
from tests.test_boundary import SIDE, D, result_of, seeded


@pytest.fixture
def searched():
    """Five images near the middle grey, and orthogonal directions."""
    x = 0.5 + 0.05 * (2 * torch.rand(5, 1, SIDE, SIDE, generator=seeded("x")) - 1)
    return x, directions(D, 20, negatives=True, generator=seeded("directions"))


def test_random_points_lie_on_the_lines_of_the_survey(searched):
    x, dirs = searched
    points = random_points(x[:1], dirs[:1], 50, top=0.3, generator=seeded("one"))
    assert points.shape == (50, *x.shape[1:]) and 0 <= points.min() and points.max() <= 1
    along = (points - x[:1]).flatten(1) @ dirs[0] / (dirs[0] @ dirs[0])
    inside = ((points > 0) & (points < 1)).flatten(1).all(1)
    assert inside.any() and 0 <= along[inside].min() and along[inside].max() <= 0.3 + 1e-6
    expected = x[:1] + along[inside].view(-1, 1, 1, 1) * dirs[0].view(SIDE, SIDE)
    torch.testing.assert_close(points[inside], expected, atol=1e-5, rtol=0)


def test_the_tail_bug_forgets_the_last_crossings_of_a_complete_image(searched):
    x, dirs = searched

    def model(images):      # class 0 within an ellipsoid, which every direction leaves
        score = (images.flatten(1) - 0.5).square() @ torch.linspace(1, 2, D) - 1
        return torch.stack([-score, score], 1)

    whole = survey(model, x, dirs, step=0.001, top=0.4)
    top = whole.distance.amax(1).min().item()                # all directions of one image cross until then
    right = survey(model, x, dirs, step=0.001, top=top)
    wrong = with_tail_bug(right)
    complete = right.reached.all(1, keepdim=True)
    assert complete.any() and not complete.all()
    forgotten = complete & (right.distance == right.distance.amax(1, keepdim=True))
    assert wrong.distance.equal(right.distance.masked_fill(forgotten, BEYOND))
    assert wrong.adjacent.equal(right.adjacent.masked_fill(forgotten, NEVER))


def pairs(number, low=0.1, high=0.3):
    """Features of 100 directions, with distances around `low` of adversarial images, `high` of benign."""
    def around(height, label):
        distance = height + 0.02 * torch.rand(number, 100, generator=seeded(label))
        adjacent = torch.randint(3, (number, 100), generator=seeded(label, 1))
        return classifier.features(result_of(distance, adjacent))

    correct, successful = torch.rand(2, number, generator=seeded("kept")) < torch.tensor([[0.9], [0.7]])
    return classifier.FeaturePairs(around(high, "benign"), around(low, "adversarial"), correct, successful)


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
    assert classifier.errors(one, data[200:]).accuracy > 0.95
    # Adversarial images at the distances of benign ones are missed.
    assert classifier.errors(one, pairs(300, low=0.3)[200:]).false_negative > 0.9


def test_rates_count_correct_images_and_their_successful_examples():
    correct, successful = torch.tensor([[True, True, True, False], [True, False, True, True]])
    data = classifier.FeaturePairs(torch.zeros(4, 103), torch.zeros(4, 103), correct, successful)
    rates = classifier.errors(lambda x: torch.tensor([[0.0, 1.0]]).expand(len(x), 2), data)
    assert (rates.flagged, rates.benign, rates.missed, rates.adversarial) == (3, 3, 0, 2)
    assert (rates.false_positive, rates.false_negative, rates.accuracy) == (1, 0, 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_threshold_is_the_best_rule_on_one_number(sign):
    adversarial, benign = (sign * torch.tensor(v) for v in ([0.1, 0.2, 0.3, 0.6], [0.4, 0.5, 0.5, 0.7, 0.8]))
    rule = classifier.best_threshold(adversarial, benign)
    rates = rule.errors(adversarial, benign)
    assert rule.below == (sign > 0) and (rates.missed, rates.flagged) == (1, 0)   # 1 of 4 at best
    assert (rates.adversarial, rates.benign, rates.accuracy) == (4, 5, 0.75)
    assert rates.accuracy == max(classifier.Threshold(float(v), below).errors(adversarial, benign).accuracy
                                 for v in torch.cat([adversarial, benign]) for below in (True, False))
    # The same numbers on both sides: the median is the best that is left.
    assert classifier.best_threshold(benign, benign).errors(benign, benign).accuracy >= 0.4


@pytest.mark.parametrize("balanced", [False, True])
def test_images_that_do_not_count_teach_nothing(balanced):
    data = pairs(100)
    other = classifier.FeaturePairs(data.benign.clone(), data.adversarial.clone(), data.correct,
                                    data.successful)
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
    (lambda: classifier.FeaturePairs(*(torch.zeros(n, 9) for n in (2, 3)), *torch.ones(2, 2)),
     "pairs of shapes"),
    (lambda: classifier.best_threshold(torch.zeros(0), torch.ones(3)), "no number of one kind"),
])
def test_settings_out_of_range_are_named(make, message):
    with pytest.raises(UserError, match=message):
        make()
