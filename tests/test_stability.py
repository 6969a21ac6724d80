"""The instrument of sutton: exact on a plane, equal to a loop, saturation, the data of a pair, one pair."""
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from papers.sutton import experiments
from papers.sutton.theory.ball import tail
from shared import runtime, susceptibility
from shared.attacks.line import gradients, lost_margin, scalings, smallest_steps, squared_error, unit
from shared.attacks.noise import BallNoise, CubeNoise, draw, matching_radius, random_flips, uniform_ball
from shared.data import sets
from shared.inference import Careful, margins

SHAPE = (3, 4, 4)
DIMENSION = 48


def plane(gain=1.0):
    """A net with one logit, gain times the signed distance from a plane through the middle of the cube."""
    normal = torch.randn(1, DIMENSION, generator=runtime.generator(7))
    normal /= normal.norm()
    layer = nn.Linear(DIMENSION, 1)
    with torch.no_grad():
        layer.weight.copy_(gain * normal)
        layer.bias.copy_(-gain * 0.5 * normal.sum())
    return nn.Sequential(nn.Flatten(), layer), normal.view(SHAPE)


def at_distances(distances, normal):
    """Images at these signed distances from the plane, and the label of their side."""
    within = torch.randn(len(distances), DIMENSION, generator=runtime.generator(8)) * 0.1
    flat = normal.flatten()
    within -= (within @ flat)[:, None] * flat
    images = 0.5 + within + distances[:, None] * flat
    return images.view(-1, *SHAPE), (distances > 0).long()


def curved():
    """A small net with a bent boundary, random images and the net's own classes as labels."""
    torch.manual_seed(5)
    net = nn.Sequential(nn.Flatten(), nn.Linear(DIMENSION, 40), nn.Tanh(), nn.Linear(40, 1)).eval()
    images = torch.rand(60, *SHAPE, generator=runtime.generator(9))
    with torch.no_grad():
        net[-1].bias -= net(images).mean()
        labels = (net(images)[:, 0] > 0).long()
    return net, images, labels


def literal(net, images, labels, sizes, points, delta):
    """Section 7.1.3 image by image: index of the first draw that flips, and forward passes."""
    first, passes = [], 0
    for image, label, size in zip(images, labels, sizes):
        for step, point in enumerate(points):
            passes += 1
            with torch.no_grad():
                if int(net((image + delta * size * point)[None])[0, 0] > 0) != label:
                    first.append(step)
                    break
        else:
            first.append(len(points))
    return torch.tensor(first), passes


def test_attack_finds_the_distance_from_a_plane():
    net, normal = plane()
    distances = torch.tensor([0.013, -0.4, 1.7, -3.3, 4.99, 5.3, -9.0])
    images, labels = at_distances(distances, normal)
    before = images.clone()
    direction, _ = unit(gradients(net, images, labels, squared_error)[0])
    found = smallest_steps(Careful(net).flips, images, labels, direction, scalings())
    reach = distances.abs() < 5
    assert torch.equal(found.found, reach)
    excess = found.size[reach] - distances.abs()[reach]
    assert (excess > -1e-5).all() and (excess < 5 / 255 + 1e-5).all()
    assert (found.size[~reach] == 0).all()
    torch.testing.assert_close(direction, (1 - 2 * labels).view(-1, 1, 1, 1) * normal.expand_as(direction))
    assert torch.equal(images, before) and net.training  # inputs and mode are as they were
    assert found.needed == sum(min(255, int(torch.ceil(d.abs() * 51))) for d in distances)
    assert found.needed <= found.passes <= 1.05 * found.needed
    norms, flat = found.norms(), normal.flatten().abs()
    torch.testing.assert_close(norms["l1"], found.size * flat.sum())
    torch.testing.assert_close(norms["linf"], found.size * flat.max())


@pytest.mark.parametrize("delta", [1.5, 3, 10])
def test_flips_across_a_plane_are_as_likely_as_the_theory_says(delta):
    net, normal = plane()
    distances = torch.linspace(0.1, 2, 8)
    images, labels = at_distances(distances, normal)
    draws = 20_000
    points = draw(draws, SHAPE, runtime.generator(11))
    flips = random_flips(Careful(net).flips, images, labels, distances, points, delta, exact=True)
    probability = float(tail(DIMENSION, 1 / delta))
    deviation = (probability * (1 - probability) / draws) ** 0.5
    assert (abs(flips.count / draws - probability) < 4.5 * deviation + 1 / draws).all()


@pytest.mark.parametrize("delta", [1, 2, 5, 10])
def test_early_exit_equals_the_literal_loop(delta):
    net, images, labels = curved()
    sizes = torch.linspace(0.05, 0.8, len(images))
    points = draw(300, SHAPE, runtime.generator(12))
    early = random_flips(Careful(net).flips, images, labels, sizes, points, delta)
    first, passes = literal(net, images, labels, sizes, points.points, delta)
    assert torch.equal(early.first, first)
    assert early.needed == passes <= early.passes <= 1.05 * passes
    exact = random_flips(Careful(net).flips, images, labels, sizes, points, delta, exact=True)
    assert torch.equal(exact.first, first) and exact.passes == len(images) * 300
    assert torch.equal(exact.count > 0, first < 300)


def test_first_flip_has_the_smallest_norm():
    points = draw(500, SHAPE, runtime.generator(13))
    assert (points.l2.diff() >= 0).all() and points.l2[-1] <= 1
    torch.testing.assert_close(points.l1, points.points.flatten(1).abs().sum(1))


def test_saturated_images_have_no_direction_but_that_of_the_logit():
    net, normal = plane(gain=20)
    images, labels = at_distances(torch.tensor([0.5, 2.0, -2.0]), normal)  # logits 10, 40 and -40
    direction, norms = unit(gradients(net, images, labels, squared_error)[0])
    assert (norms == 0).tolist() == [False, True, False]
    found = smallest_steps(Careful(net).flips, images, labels, direction, scalings()).found
    assert found.tolist() == [True, False, True]
    steepest, _ = unit(gradients(net, images, labels, lost_margin)[0])
    assert smallest_steps(Careful(net).flips, images, labels, steepest, scalings()).found.all()
    torch.testing.assert_close(direction[[0, 2]], steepest[[0, 2]])


def test_gradient_of_many_classes_leads_to_another():
    torch.manual_seed(6)
    net = nn.Sequential(nn.Flatten(), nn.Linear(DIMENSION, 5))
    images = torch.rand(20, *SHAPE, generator=runtime.generator(14))
    with torch.no_grad():
        labels = net(images).argmax(1)
    assert (margins(net, images, labels) > 0).all()
    for objective in (squared_error, lost_margin):
        direction, _ = unit(gradients(net, images, labels, objective)[0])
        found = smallest_steps(Careful(net).flips, images, labels, direction, scalings())
        with torch.no_grad():
            answers = net(images + found.size.view(-1, 1, 1, 1) * found.direction).argmax(1)
        assert found.found.all() and (answers != labels).all()


def test_judge_decides_as_float32(bf16):
    net, images, labels = curved()
    doubt = Careful.measured(net, images, labels).doubt
    near = images + 0.02 * uniform_ball(len(images), SHAPE, runtime.generator(15))
    exact = Careful(net).flips(near, labels).flips
    bf16 = margins(net, near, labels, bf16=True)
    assert not torch.equal(bf16, margins(net, near, labels)) and doubt > 0
    assert torch.equal(Careful(net, doubt).flips(near, labels).flips, exact)
    boundary = torch.full_like(near, 0.5)  # one image, labelled both ways: one of the two answers must flip
    both = Careful(net, 1e9).flips(boundary[:2], torch.tensor([0, 1]))
    assert both.flips.sum() == 1 and both.rejudged == 2

    class Wrong(nn.Module):  # answers wrongly under autocast only
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            return -self.net(x) if torch.is_autocast_enabled("cpu") else self.net(x)

    overruled = Careful(Wrong(), 1e9).flips(images, labels)
    assert not overruled.flips.any() and overruled.overturned == overruled.rejudged == len(images)


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_results_do_not_depend_on_the_batch(chunk, monkeypatch):
    net, images, labels = curved()
    sizes = torch.linspace(0.05, 0.8, len(images))
    points = draw(60, SHAPE, runtime.generator(12))

    def run():
        direction, _ = unit(gradients(net, images, labels, squared_error)[0])
        found = smallest_steps(Careful(net).flips, images, labels, direction, scalings())
        flips = random_flips(Careful(net).flips, images, labels, sizes, points, 5)
        return found.size, flips.first, torch.tensor([found.passes, flips.passes])

    expected = run()
    monkeypatch.setattr(runtime, "chunk_size", lambda *_, **__: chunk)
    assert all(torch.equal(a, b) for a, b in zip(run(), expected))


def test_ball_is_uniform():
    points = uniform_ball(20_000, (3,), runtime.generator(16))
    radius = points.norm(dim=1)
    assert radius.max() <= 1
    for k in (0.5, 0.8):
        assert abs(float((radius < k).double().mean()) - k**3) < 0.015
    assert points.mean(0).abs().max() < 0.02


def test_noises_match_in_size_and_come_from_the_generator():
    images = torch.rand(200, 3, 32, 32, generator=runtime.generator(17))
    cube, ball = CubeNoise(0.3), BallNoise(matching_radius(0.3, 3072))
    moved = [hook(None, images, None, runtime.generator(18)) - images for hook in (cube, ball)]
    sizes = [float(noise.flatten(1).norm(dim=1).mean()) for noise in moved]
    assert sizes[0] == pytest.approx(sizes[1], rel=2e-3)
    assert moved[0].abs().max() <= 0.3 + 1e-6 and moved[1].flatten(1).norm(dim=1).max() <= ball.radius + 1e-4
    assert torch.equal(cube(None, images, None, runtime.generator(18)) - images, moved[0])
    assert not torch.equal(moved[0][0], moved[0][1])  # every image its own


def test_held_out_images_are_shared_by_problems_and_tracks_stay_whole(monkeypatch):
    shapes = sets.load("shapes")
    tracked = replace(shapes, extra={"track_train": torch.arange(len(shapes.y_train)) // 30})
    monkeypatch.setattr(sets, "load", lambda name: tracked)
    one = experiments.problem("shapes", 0, 1, held_out=(0.3, 0.25), seed=4)
    sizes = [(int((one.y_train == k).sum()), int((one.y_test == k).sum())) for k in (0, 1)]
    assert sizes == [(140, 60), (150, 50)]
    two = experiments.problem("shapes", 1, 2, held_out=(0.25, 0.3), seed=4)
    assert torch.equal(one.x_test[one.y_test == 1], two.x_test[two.y_test == 0])
    held = {image.numpy().tobytes() for image in one.x_test}
    assert held.isdisjoint(image.numpy().tobytes() for image in one.x_train)

    whole = experiments.problem("shapes", 0, 1, held_out=(0.3, 0.3), by_track=True, seed=4)
    tracks = zip(tracked.x_train, tracked.extra["track_train"])
    track = {image.numpy().tobytes(): int(name) for image, name in tracks}
    for label in (0, 1):
        trained, tested = ({track[image.numpy().tobytes()] for image in x[y == label]}
                           for x, y in ((whole.x_train, whole.y_train), (whole.x_test, whole.y_test)))
        assert tested and trained.isdisjoint(tested)
    assert abs(len(whole.x_test) / 400 - 0.3) < 0.05


def test_grey_images_get_three_channels_and_wrong_classes_are_named():
    grey = experiments.problem("digits", 3, 8)
    assert grey.x_train.shape[1:] == (3, 28, 28) and set(grey.y_test.tolist()) == {0, 1}
    for wrong in ((0, 0), (0, 10), (-1, 2)):
        with pytest.raises(runtime.UserError, match="allowed"):
            experiments.problem("digits", *wrong)
    with pytest.raises(runtime.UserError, match="cube, ball"):
        experiments.measure_pair("digits", 0, 1, noise="sphere")


@pytest.fixture(scope="module")
def small():
    return dict(architecture="sutton-vgg-short", epochs=4, images_train=160, images_test=20, images_attack=6,
                images_random=3, draws=20, deltas=(1, 10))


def test_one_pair_in_small(small, monkeypatch):
    learned = {}

    def fit(net, x, y, recipe, *, generator, device, hook):
        """Small batches, so that four epochs train the net."""
        learned.update(recipe=recipe, hook=hook)
        recipe = replace(recipe, batch=16)
        return trained(net, x, y, recipe, generator=generator, device=device, hook=hook)

    trained = experiments.fit
    monkeypatch.setattr(experiments, "fit", fit)
    result = experiments.measure_pair("shapes", 0, 8, noise="cube", noise_size=0.01, panels=True, **small)
    assert learned["hook"] == CubeNoise(0.01) and learned["recipe"].milestones == (0.8, 1.6, 2.4, 3.2)
    assert result["dimension"] == 3072 and result["audit"]["judge"] == 0
    for part, images in (("train", 160), ("test", 20)):
        facts = result[part]
        assert facts["accuracy"]["of"] == images
        assert facts["attack"]["susceptibility"]["of"] == facts["tried"] <= 6
        assert facts["logit_attack"]["susceptibility"]["hits"] >= facts["attack"]["susceptibility"]["hits"]
        assert facts["attack"]["passes"] <= 1.05 * facts["attack"]["needed"]
        found = facts["attack"]["susceptibility"]["hits"]
        assert part == "test" or found
        for norm in ("l1", "l2", "linf"):
            summary = facts["attack"][norm]
            assert summary["count"] == found
            if found:
                assert summary["mean_all"] == pytest.approx(summary["mean"] * found / 6)
                assert summary["quantiles"].shape == (101,) and np.all(np.diff(summary["quantiles"]) >= 0)
        assert [each["delta"] for each in facts["random"]] == [1, 10]
        assert all(each["susceptibility"]["of"] == min(3, found) for each in facts["random"])
        assert facts["sampled"]["first"].shape == (2, min(3, found))
    again = experiments.measure_pair("shapes", 0, 8, noise="cube", noise_size=0.01, panels=True, **small)
    np.testing.assert_equal(again, result)


def test_panels_show_what_they_say():
    net, images, labels = curved()
    points = draw(80, SHAPE, runtime.generator(19))
    direction, _ = unit(gradients(net, images, labels, squared_error)[0])
    found = smallest_steps(Careful(net).flips, images, labels, direction, scalings())
    hit = found.found
    attacked = susceptibility.Attacked(hit.nonzero()[:, 0], images[hit], labels[hit], direction[hit],
                                       found.size[hit])
    for label in (0, 1):
        shown = experiments.panel(Careful(net), attacked, label, points, 5)
        wrong = margins(net, torch.from_numpy(shown["images"]).float(), torch.full((4,), label)) <= 0
        assert wrong.tolist() == [False, True, False, True]
        moves = torch.from_numpy(shown["images"][1:] - shown["images"][:1]).float().flatten(1)
        assert shown["norms"]["l2"] == pytest.approx(moves.norm(dim=1).tolist(), rel=5e-3)
        i = slice(shown["row"], shown["row"] + 1)
        alone = random_flips(Careful(net).flips, images[i], labels[i], found.size[i], points, 5, exact=True)
        assert shown["flips"] == int(alone.count) and 0 < shown["flips"] < shown["draws"] == 80
