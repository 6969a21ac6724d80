"""boundary: the survey on models solved by hand, purity, the boundary classifier."""
import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from shared import runtime
from shared.attacks.directions import directions
from shared.boundary import classifier
from shared.boundary.survey import BEYOND, NEVER, purity, refine, strewn, survey
from shared.inference import STEADY, Careful
from shared.runtime import UserError

SIDE, D = 6, 36


class Planes(nn.Module):
    """Logits 0 and w_j.(x - 1/2) - b_j: class 0 in the middle, another behind each plane."""

    def __init__(self, w, b):
        super().__init__()
        self.w, self.b = nn.Parameter(w), nn.Parameter(b)

    def forward(self, x):
        self.seen = getattr(self, "seen", 0) + len(x)
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


def crossings(model, x, dirs):
    """Exact distance [N, K] to the first plane along each direction, inf where none is met; and which."""
    gap = model.b - (x.flatten(1) - 0.5) @ model.w.T
    speed = dirs @ model.w.T
    away = torch.where(speed > 0, gap[:, None] / speed, torch.inf)
    return away.min(2).values.detach(), away.argmin(2) + 1


STEP, TOP = 0.01, 0.13     # so near that no pixel is clipped


@pytest.fixture
def answer(scene):
    """First step across, whether it is on the grid, the exact distance, the class behind it; all [N, K]."""
    model, x, dirs = scene
    exact, behind = crossings(model, x, dirs)
    number = torch.ceil(exact / STEP)
    within = number <= round(TOP / STEP)
    assert 0.05 + TOP * dirs.abs().max() < 0.5 and 0 < within.sum() < within.numel()
    assert ((number * STEP - exact).abs()[within] > 1e-6).all()
    return number, within, exact, behind


def test_the_survey_finds_the_exact_crossing_on_the_grid(scene, answer):
    model, x, dirs = scene
    number, within, exact, behind = answer
    found = survey(model, x, dirs, step=STEP, top=TOP)
    assert found.found.equal(within) and (found.reference == 0).all()
    torch.testing.assert_close(found.distance[within], number[within] * STEP)
    assert (found.distance[~within] == BEYOND).all() and (found.adjacent[~within] == NEVER).all()
    longest = (dirs * 0.37).abs().amax(1) / 0.37
    torch.testing.assert_close(found.linf[within], (found.distance * longest)[within])
    assert (found.linf[~within] == BEYOND).all()


def test_the_adjacent_class_is_the_one_met_on_the_grid(scene):
    model, x, dirs = scene
    found = survey(model, x, dirs, step=STEP, top=TOP)
    for i in range(len(x)):
        for k in range(len(dirs)):
            classes = [int(model((x[i] + m * STEP * dirs[k].view(1, SIDE, SIDE)).clamp(0, 1)[None]).argmax())
                       for m in range(1, 14)]
            expected = next((c for c in classes if c != 0), NEVER)
            assert found.adjacent[i, k] == expected
    assert set(found.adjacent.unique().tolist()) == {NEVER, 1, 2}


def test_queries_are_clipped_and_the_class_at_the_image_is_the_reference():
    # class 0 where the mean is above 0.62; upwards a white image stays as it is
    def model(images):
        assert (images >= 0).all() and (images <= 1).all()
        mean = images.flatten(1).mean(1)
        return torch.stack([mean, torch.full_like(mean, 0.62)], 1) * 10

    up = torch.ones(1, D)
    x = torch.stack([torch.full((1, SIDE, SIDE), v) for v in (1.0, 0.55)])
    found = survey(model, x, torch.cat([up, -up]), step=0.1, top=0.9)
    assert found.reference.tolist() == [0, 1]
    assert found.adjacent.tolist() == [[NEVER, 1], [0, NEVER]]
    torch.testing.assert_close(found.distance, torch.tensor([[BEYOND, 0.4], [0.1, BEYOND]]))


def test_a_top_between_two_steps_is_not_claimed():
    x = torch.full((1, 1, 4, 4), 0.5)
    dirs = directions(16, 2, generator=torch.Generator().manual_seed(0))
    found = survey(lambda a: torch.tensor([[0.0, -1.0]]).expand(len(a), 2), x, dirs, step=0.15, top=0.2)
    assert found.censored.all() and found.top == 0.15 and float(found.nearest[0]) == pytest.approx(0.15)


def test_evaluations_are_what_is_needed_and_one_an_image_more(scene, answer):
    model, x, dirs = scene
    number, within, _, _ = answer
    model.seen = 0
    found = survey(model, x, dirs, step=STEP, top=TOP)
    needed = int(torch.where(within, number, round(TOP / STEP)).sum())
    assert found.evaluations == needed + len(x)
    assert model.seen == found.evaluations + 2 * min(STEADY, len(x))    # asked twice: is it steady?


def test_the_survey_forgets_its_chunks_and_keeps_the_mode(scene):
    model, x, dirs = scene
    model.train()
    whole, parts = (survey(model, x, dirs, step=STEP, top=TOP, chunk=chunk) for chunk in (None, 7))
    alone = survey(model, x[2:3], dirs, step=STEP, top=TOP)
    assert model.training and whole.distance.equal(parts.distance) and whole.adjacent.equal(parts.adjacent)
    assert alone.distance.equal(whole.distance[2:3]) and alone.adjacent.equal(whole.adjacent[2:3])


def test_walks_in_sixteen_bits_find_what_they_find_in_thirty_two(scene, bf16):
    model, x, dirs = scene
    points = strewn(x, dirs, 200, top=0.9, generator=seeded("points"))
    careful = Careful.measured(model, points)
    exact, quick, rough = (survey(each, x, dirs, step=0.01, top=0.9)
                           for each in (model, careful, Careful(model, -1.0)))
    assert (quick.distance == exact.distance).all() and (quick.adjacent == exact.adjacent).all()
    assert not (rough.distance == exact.distance).all()     # so that the doubt is what makes them equal
    assert 0 < careful.again < careful.judged / 2
    assert careful.judged == quick.evaluations


def test_points_of_walks_lie_on_them_and_are_those_of_the_generator(scene):
    _, x, dirs = scene
    points = strewn(x, dirs, 50, top=0.3, generator=seeded("some"))
    assert points.shape == (50, *x.shape[1:]) and 0 <= points.min() and points.max() <= 1
    assert (points == strewn(x, dirs, 50, top=0.3, generator=seeded("some"))).all()
    one = strewn(x[:1], dirs[:1], 50, top=0.3, generator=seeded("one"))
    along = (one - x[:1]).flatten(1) @ dirs[0] / (dirs[0] @ dirs[0])
    inside = ((one > 0) & (one < 1)).flatten(1).all(1)
    assert inside.any() and 0 <= along[inside].min() and along[inside].max() <= 0.3 + 1e-6
    torch.testing.assert_close(one[inside], (x[:1].flatten(1) + along[inside][:, None] * dirs[:1])
                               .view(-1, *x.shape[1:]), atol=1e-5, rtol=0)


def test_the_tail_bug_forgets_the_last_crossings_of_a_complete_image(scene):
    _, x, dirs = scene

    def model(images):      # class 0 within an ellipsoid, which every direction leaves
        score = (images.flatten(1) - 0.5).square() @ torch.linspace(1, 2, D) - 1
        return torch.stack([-score, score], 1)

    whole = survey(model, x, dirs, step=0.001, top=0.4)
    top = whole.distance.amax(1).min().item()                # all directions of one image cross until then
    right, wrong = (survey(model, x, dirs, step=0.001, top=top, legacy_tail_bug=bug) for bug in (False, True))
    complete = right.found.all(1)
    assert complete.any() and not complete.all()
    last = right.distance == right.distance.amax(1, keepdim=True)
    changed = wrong.distance != right.distance
    assert changed.equal(last & complete[:, None]) and (wrong.adjacent[changed] == NEVER).all()
    assert (wrong.distance[changed] == BEYOND).all()
    assert wrong.adjacent[~changed].equal(right.adjacent[~changed])


def test_bisection_closes_in_on_the_exact_crossing(scene, answer):
    model, x, dirs = scene
    _, within, exact, _ = answer
    coarse = survey(model, x, dirs, step=STEP, top=TOP)
    fine = refine(model, x, dirs, coarse, halvings=8)
    assert fine.found.equal(coarse.found) and fine.evaluations == coarse.evaluations + 8 * int(within.sum())
    off = (fine.distance - exact)[within]
    assert (off > -1e-6).all() and (off < STEP / 2**8 + 1e-6).all()


# ---- purity ----------------------------------------------------------------------------------------------
def test_purity_counts_the_commonest_classes_among_found_directions():
    found = SimpleNamespace(adjacent=torch.tensor([[3, 3, 5, 3, NEVER], [NEVER] * 5, [1, 2, 5, 5, 2]]))
    found.found = found.adjacent != NEVER
    found.distance = found.adjacent.float()
    expected = torch.tensor([[0.75, 1.0, 1.0], [0, 0, 0], [0.4, 0.8, 1.0]])
    torch.testing.assert_close(purity(found, 3), expected)
    assert purity(found).shape == (3, 5) and purity(found, 9).shape == (3, 9)


# ---- what is refused -------------------------------------------------------------------------------------
@pytest.mark.parametrize("change, said", [
    (dict(dirs=torch.eye(D)), "RMS 1"), (dict(dirs=torch.ones(2, D)), "orthogonal"),
    (dict(dirs=torch.full((1, D), torch.nan)), "RMS 1"), (dict(dirs=torch.ones(2, 1, D)), "directions are"),
    (dict(dirs=directions(D, 3, generator=seeded())[[0, 1, 2, 1]]), "orthogonal or opposite"),
    (dict(dirs=torch.ones(0, D)), r"\[0, 36\]"),
    (dict(dirs=torch.ones(1, D - 1)), r"float32 \[K, 36\]"),
    (dict(dirs=torch.ones(1, D, dtype=torch.float64)), "directions are torch.float64"),
    (dict(step=0.0), "step=0.0"), (dict(step=-0.1), "step=-0.1"),
    (dict(step=0.5, top=0.3), "step=0.5, top=0.3"), (dict(top=1.5), "top=1.5"),
    (dict(x=torch.full((1, 1, SIDE, SIDE), 2.0)), "pixels lie in"),
    (dict(x=torch.full((1, 1, SIDE, SIDE), -0.1)), "pixels lie in"),
    (dict(x=torch.ones(1, 1, SIDE, SIDE, dtype=torch.uint8)), "images are torch.uint8"),
    (dict(model=lambda x: torch.full((len(x), 2), 0.5)), "probabilities"),
    (dict(model=lambda x: torch.full((len(x), 2), torch.nan)), "nan or infinite"),
    (dict(model=lambda x: torch.ones(len(x), 2) / (len(x) == 5)), "nan or infinite"),  # fine on the images
])
def test_what_cannot_be_surveyed_is_named_in_one_line(change, said, scene):
    model, x, dirs = scene
    given = dict(model=model, x=x, dirs=dirs, step=STEP, top=TOP) | change
    with pytest.raises(UserError, match=said) as error:
        survey(given.pop("model"), given.pop("x"), given.pop("dirs"), **given)
    assert "\n" not in str(error.value)


# ---- the boundary classifier -----------------------------------------------------------------------------
def surveys(number, height, label):
    """Features of made-up surveys of 100 directions whose distances are around `height`."""
    distance = height + 0.02 * torch.rand(number, 100, generator=seeded(label))
    adjacent = torch.randint(3, (number, 100), generator=seeded(label, 1))
    found = SimpleNamespace(distance=distance, adjacent=adjacent)
    found.found = found.adjacent != NEVER
    return classifier.features(found)


def pairs(number, low=0.1, high=0.3):
    correct, successful = torch.rand(2, number, generator=seeded("kept")) < torch.tensor([[0.9], [0.7]])
    return classifier.Pairs(surveys(number, high, "benign"), surveys(number, low, "adversarial"),
                            correct, successful)


def test_features_are_sorted_distances_and_three_purities():
    found = SimpleNamespace(distance=torch.tensor([[1.0, 0.1, 0.4]]), adjacent=torch.tensor([[NEVER, 7, 2]]))
    found.found = found.adjacent != NEVER
    torch.testing.assert_close(classifier.features(found), torch.tensor([[0.1, 0.4, 1.0, 0.5, 1.0, 1.0]]))
    # CIFAR-10: (255 - 16)/127.5 on pixels of 0..255 is 1.875 where nothing was found
    scaled = classifier.features(found, centre=16 / 255, unit=0.5)
    torch.testing.assert_close(scaled[0, 2], torch.tensor((255 - 16) / 127.5))


@pytest.mark.parametrize("directions, flat", [(1568, 1539), (1000, 979)])
def test_the_net_has_the_printed_lengths(directions, flat):
    net = classifier.BoundaryNet(directions)
    assert net.linears[0].in_features == flat and net(torch.zeros(4, directions + 3)).shape == (4, 2)
    assert sum(isinstance(m, nn.Dropout) and m.p == 0.5 for m in net.modules()) == 3
    bound = math.sqrt(6 / (flat + 32))
    assert net.linears[0].weight.abs().max() <= bound and net.linears[0].weight.abs().max() > 0.98 * bound


def test_the_classifier_learns_and_is_seeded_and_leaves_the_global_generator_alone():
    data = pairs(300)
    state = torch.get_rng_state()
    nets = [classifier.train(data[:200], steps=150, batch=64, generator=seeded()) for _ in range(2)]
    assert torch.equal(torch.get_rng_state(), state) and not nets[0].training
    assert all(a.equal(b) for a, b in zip(nets[0].parameters(), nets[1].parameters()))
    rates = classifier.rates(nets[0], data[200:])
    kept = data[200:].correct, data[200:].correct & data[200:].successful
    assert (rates.benign, rates.adversarial) == tuple(int(k.sum()) for k in kept) and rates.accuracy > 0.95
    # examples that look benign are missed by it
    assert classifier.rates(nets[0], pairs(300, low=0.3)[200:]).false_negative > 0.9


def test_rates_count_only_what_is_kept():
    data = classifier.Pairs(torch.zeros(4, 103), torch.zeros(4, 103), torch.tensor([True, True, True, False]),
                            torch.tensor([True, False, True, True]))

    def always_flags(x):
        return torch.tensor([[0.0, 1.0]]).expand(len(x), 2)

    rates = classifier.rates(always_flags, data)
    assert (rates.flagged, rates.benign, rates.missed, rates.adversarial) == (3, 3, 0, 2)
    assert (rates.false_positive, rates.false_negative, rates.accuracy) == (1, 0, 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_threshold_is_the_best_rule_on_one_number(sign):
    adversarial, benign = (sign * torch.tensor(v) for v in ([0.1, 0.2, 0.3, 0.6], [0.4, 0.5, 0.5, 0.7, 0.8]))
    rule = classifier.threshold(adversarial, benign)
    rates = rule.rates(adversarial, benign)
    assert rule.below == (sign > 0) and (rates.missed, rates.flagged) == (1, 0)   # 1 of 4 at best
    assert (rates.adversarial, rates.benign, rates.accuracy) == (4, 5, 0.75)
    every = [classifier.Threshold(float(v), below).rates(adversarial, benign).accuracy
             for v in torch.cat([adversarial, benign]) for below in (True, False)]
    assert max(every) == rates.accuracy
    # the same numbers on both sides: the middle one is the best that is left
    assert classifier.threshold(benign, benign).rates(benign, benign).accuracy >= 0.4


@pytest.mark.parametrize("balanced", [False, True])
def test_images_that_do_not_count_teach_nothing(balanced):
    data = pairs(100)
    other = classifier.Pairs(data.benign.clone(), data.adversarial.clone(), data.correct, data.successful)
    other.benign[~data.kept()[0]] = 7.0
    other.adversarial[~data.kept()[1]] = 7.0
    nets = [classifier.train(given, steps=5, batch=30, balanced=balanced, generator=seeded())
            for given in (data, other)]
    assert all(a.equal(b) for a, b in zip(nets[0].parameters(), nets[1].parameters()))


def test_batches_run_across_epoch_ends():
    rows = torch.cat(classifier._batches(10, 4, 5, seeded()))
    assert len(rows) == 20 and rows[:10].sort().values.equal(torch.arange(10))
    assert rows[10:].sort().values.equal(torch.arange(10)) and not rows[:10].equal(rows[10:])


@pytest.mark.parametrize("make, said", [
    (lambda: classifier.BoundaryNet(35), "35 directions are too few"),
    (lambda: classifier.train(pairs(9), steps=0, generator=seeded()), "steps=0"),
    (lambda: classifier.train(pairs(9), steps=1, batch=0, generator=seeded()), "batch=0"),
    (lambda: classifier.train(pairs(9), steps=1, rate=math.nan, generator=seeded()), "rate=nan"),
    (lambda: classifier.train(pairs(9)[:0], steps=1, generator=seeded()), "nothing to learn"),
    (lambda: classifier.Pairs(*(torch.zeros(n, 9) for n in (2, 3)), *torch.ones(2, 2)), "pairs of shapes"),
    (lambda: classifier.threshold(torch.zeros(0), torch.ones(3)), "no number of one kind"),
    (lambda: refine(None, torch.zeros(1, 1, 1, 1), None, None, halvings=0), "halvings=0"),
    (lambda: refine(None, torch.zeros(1, 1, SIDE, SIDE), torch.ones(2, D), None), "orthogonal"),
])
def test_settings_out_of_range_are_named(make, said):
    with pytest.raises(UserError, match=said):
        make()
