"""The instrument of sutton: exact on a plane, equal to a loop, saturation, the data of a pair, one pair."""
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from papers.sutton import class_pairs, experiments
from papers.sutton.noise import BallNoise, CubeNoise, matching_radius
from papers.sutton.theory.ball import tail
from report import registry
from shared import runtime, susceptibility
from shared.attacks.line import gradients, lost_margin, scalings, smallest_steps, squared_error, unit
from shared.attacks.noise import draw, random_flips, uniform_ball
from shared.data import sets
from shared.inference import Careful, margins

SHAPE = (3, 4, 4)
DIMENSION = 48


def plane(gain=1.0):
    """A network of one logit, gain times the signed distance from a plane through the middle of the cube."""
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
    """A small network with a bent boundary, random images and their predicted labels."""
    torch.manual_seed(5)
    network = nn.Sequential(nn.Flatten(), nn.Linear(DIMENSION, 40), nn.Tanh(), nn.Linear(40, 1)).eval()
    images = torch.rand(60, *SHAPE, generator=runtime.generator(9))
    with torch.no_grad():
        network[-1].bias -= network(images).mean()
        labels = (network(images)[:, 0] > 0).long()
    return network, images, labels


def attacked(network, images, labels, objective=squared_error):
    """The smallest steps along the gradient of an objective."""
    direction, _ = unit(gradients(network, images, labels, objective)[0])
    return smallest_steps(Careful(network).flips, images, labels, direction, scalings())


def literal(network, images, labels, sizes, points, delta):
    """Section 7.1.3 image by image: index of the first draw that flips, and forward passes."""
    first, passes = [], 0
    for image, label, size in zip(images, labels, sizes):
        for step, point in enumerate(points):
            passes += 1
            with torch.no_grad():
                if int(network((image + delta * size * point)[None])[0, 0] > 0) != label:
                    first.append(step)
                    break
        else:
            first.append(len(points))
    return torch.tensor(first), passes


def test_the_attack_finds_the_distance_from_a_plane():
    network, normal = plane()
    distances = torch.tensor([0.013, -0.4, 1.7, -3.3, 4.99, 5.3, -9.0])
    images, labels = at_distances(distances, normal)
    before = images.clone()
    steps = attacked(network, images, labels)
    reach = distances.abs() < 5
    assert torch.equal(steps.success, reach) and (steps.size[~reach] == 0).all()
    excess = steps.size[reach] - distances.abs()[reach]
    assert (excess > -1e-5).all() and (excess < 5 / 255 + 1e-5).all()
    direction = (1 - 2 * labels).view(-1, 1, 1, 1) * normal
    torch.testing.assert_close(steps.direction, direction)
    assert torch.equal(images, before) and network.training  # inputs and mode are as they were
    assert steps.needed == sum(min(255, int(torch.ceil(d.abs() * 51))) for d in distances)
    assert steps.needed <= steps.passes <= 1.05 * steps.needed
    norms, flat = steps.norms(), normal.flatten().abs()
    torch.testing.assert_close(norms["l1"], steps.size * flat.sum())
    torch.testing.assert_close(norms["linf"], steps.size * flat.max())


@pytest.mark.parametrize("delta", [1.5, 3, 10])
def test_flips_across_a_plane_are_as_likely_as_the_theory_says(delta):
    network, normal = plane()
    distances = torch.linspace(0.1, 2, 8)
    images, labels = at_distances(distances, normal)
    draws = 20_000
    points = draw(draws, SHAPE, runtime.generator(11))
    flips = random_flips(Careful(network).flips, images, labels, distances, points, delta, exact=True)
    probability = float(tail(DIMENSION, 1 / delta))
    deviation = (probability * (1 - probability) / draws) ** 0.5
    assert (abs(flips.count / draws - probability) < 4.5 * deviation + 1 / draws).all()


@pytest.mark.parametrize("delta", [1, 2, 5, 10])
def test_early_exit_equals_the_literal_loop(delta):
    network, images, labels = (part if n == 0 else part[:25] for n, part in enumerate(curved()))
    sizes = torch.linspace(0.05, 0.8, len(images))
    points = draw(300, SHAPE, runtime.generator(12))
    early = random_flips(Careful(network).flips, images, labels, sizes, points, delta)
    first, passes = literal(network, images, labels, sizes, points.points, delta)
    assert torch.equal(early.first, first)
    assert early.needed == passes <= early.passes <= 1.05 * passes
    exact = random_flips(Careful(network).flips, images, labels, sizes, points, delta, exact=True)
    assert torch.equal(exact.first, first) and exact.passes == len(images) * 300
    assert torch.equal(exact.count > 0, first < 300)


def test_a_saturated_image_has_a_direction_of_the_margin_only():
    network, normal = plane(gain=20)
    images, labels = at_distances(torch.tensor([0.5, 2.0, -2.0]), normal)  # logits 10, 40 and -40
    steps = attacked(network, images, labels)
    assert steps.success.tolist() == [True, False, True] and not steps.direction[1].any()
    steepest = attacked(network, images, labels, lost_margin)
    assert steepest.success.all()
    torch.testing.assert_close(steps.direction[[0, 2]], steepest.direction[[0, 2]])


def test_results_do_not_depend_on_the_batch(monkeypatch):
    network, images, labels = curved()
    sizes = torch.linspace(0.05, 0.8, len(images))
    points = draw(60, SHAPE, runtime.generator(12))

    def results():
        steps = attacked(network, images, labels)
        flips = random_flips(Careful(network).flips, images, labels, sizes, points, 5)
        return [*steps, flips.first, flips.passes]

    expected = results()
    monkeypatch.setattr(runtime, "chunk_size", lambda *_, **__: 7)
    torch.testing.assert_close(results(), expected)


def test_ball_is_uniform():
    points = uniform_ball(20_000, (3,), runtime.generator(16))
    radius = points.norm(dim=1)
    assert radius.max() <= 1
    for k in (0.5, 0.8):
        assert abs(float((radius < k).double().mean()) - k**3) < 0.015
    assert points.mean(0).abs().max() < 0.02


def test_noises_match_in_size():
    images = torch.rand(200, 3, 32, 32, generator=runtime.generator(17))
    ball = BallNoise(matching_radius(0.3, 3072))
    of_cube, of_ball = ((noise(None, images, None, runtime.generator(18)) - images).flatten(1)
                        for noise in (CubeNoise(0.3), ball))
    torch.testing.assert_close(of_cube.norm(dim=1).mean(), of_ball.norm(dim=1).mean(), rtol=2e-3, atol=0)
    assert of_cube.abs().max() <= 0.3 + 1e-6 and of_ball.norm(dim=1).max() <= ball.radius + 1e-4
    assert not torch.equal(of_cube[0], of_cube[1])  # every image has its own


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
        training, test = ({track[image.numpy().tobytes()] for image in x[y == label]}
                          for x, y in ((whole.x_train, whole.y_train), (whole.x_test, whole.y_test)))
        assert test and training.isdisjoint(test)
    assert abs(len(whole.x_test) / 400 - 0.3) < 0.05


def test_grey_images_get_three_channels_and_wrong_classes_are_named():
    grey = experiments.problem("digits", 3, 8)
    assert grey.x_train.shape[1:] == (3, 28, 28) and set(grey.y_test.tolist()) == {0, 1}
    for wrong in ((0, 0), (0, 10), (-1, 2)):
        with pytest.raises(runtime.UserError, match="allowed"):
            experiments.problem("digits", *wrong)
    with pytest.raises(runtime.UserError, match="cube, ball"):
        experiments.measure_pair("digits", 0, 1, noise="sphere")


@pytest.mark.slow
def test_one_pair_in_small(monkeypatch):
    trained, fit = {}, experiments.fit

    def fit_in_small_batches(network, x, y, recipe, *, hook, **options):
        """Four epochs of small batches train the network."""
        trained.update(recipe=recipe, hook=hook)
        return fit(network, x, y, replace(recipe, batch=16), hook=hook, **options)

    monkeypatch.setattr(experiments, "fit", fit_in_small_batches)
    monkeypatch.setitem(registry._BUILDERS, "sutton-tiny", lambda: nn.Sequential(
        nn.Conv2d(3, 8, 5, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(392, 1)))
    small = dict(architecture="sutton-tiny", epochs=4, images_train=160, images_test=20, images_attack=6,
                 images_random=3, draws=20, deltas=(1, 10), noise="cube", noise_size=0.01, panels=True)
    result = experiments.measure_pair("shapes", 0, 8, **small)
    assert trained["hook"] == CubeNoise(0.01) and trained["recipe"].milestones == (0.8, 1.6, 2.4, 3.2)
    assert result["dimension"] == 3072 and result["audit"]["judge"] == 0
    for part, images in (("train", 160), ("test", 20)):
        facts = result[part]
        attack, count = facts["attack"], facts["attack"]["susceptibility"]["hits"]
        assert facts["accuracy"]["of"] == images and attack["susceptibility"]["of"] == facts["tried"] <= 6
        assert facts["logit_attack"]["susceptibility"]["hits"] >= count
        assert attack["passes"] <= 1.05 * attack["needed"]
        assert part == "test" or count
        for norm in ("l1", "l2", "linf"):
            summary = attack[norm]
            assert summary["count"] == count
            if count:
                assert summary["mean_all"] == pytest.approx(summary["mean"] * count / 6)
                assert summary["quantiles"].shape == (101,) and np.all(np.diff(summary["quantiles"]) >= 0)
        assert [random["delta"] for random in facts["random"]] == [1, 10]
        assert all(random["susceptibility"]["of"] == min(3, count) for random in facts["random"])
        assert facts["sampled"]["first"].shape == (2, min(3, count))
    np.testing.assert_equal(experiments.measure_pair("shapes", 0, 8, **small), result)


def test_panels_show_the_image_and_its_perturbations():
    network, images, labels = curved()
    points, steps = draw(80, SHAPE, runtime.generator(19)), attacked(network, images, labels)
    rows = steps.success.nonzero()[:, 0]
    flipped = class_pairs.Attacked(rows, images[rows], labels[rows], steps.direction[rows],
                                   steps.size[rows])
    for label in (0, 1):
        panel = experiments.panel(Careful(network), flipped, label, points, 5)
        wrong = margins(network, torch.from_numpy(panel["images"]).float(), torch.full((4,), label)) <= 0
        assert wrong.tolist() == [False, True, False, True]
        moves = torch.from_numpy(panel["images"][1:] - panel["images"][:1]).float().flatten(1)
        assert panel["norms"]["l2"] == pytest.approx(moves.norm(dim=1).tolist(), rel=5e-3)
        i = slice(panel["row"], panel["row"] + 1)
        alone = random_flips(Careful(network).flips, images[i], labels[i], steps.size[i], points, 5,
                             exact=True)
        assert panel["flips"] == int(alone.count) and 0 < panel["flips"] < panel["draws"] == 80


@pytest.mark.parametrize("options", [{"draws": 0}, {"steps": 1}, {"largest": float("inf")}, {"deltas": ()},
                                     {"deltas": (1, 0)}])
def test_settings_of_susceptibility_are_refused_in_one_line(options):
    network, images, labels = curved()
    with pytest.raises(runtime.UserError, match="draws from 1, steps from 2, sizes above 0 are needed"):
        susceptibility.susceptibility(network, images, labels, generator=0, **options)
