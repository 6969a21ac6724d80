"""roby: Algorithm 1 sample by sample, clusters solved by hand, invariances, bad input."""
import math
import pickle
import threading

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from shared import roby, runtime
from shared.runtime import UserError

INF = float("inf")


def clouds(count=60, classes=4, width=5):
    """Features [count, width] of classes that differ in spread and place, and their labels."""
    draw = torch.Generator().manual_seed(0)
    y = torch.arange(count) % classes
    centre = 4 * torch.rand(classes, width, generator=draw)
    return centre[y] + (0.3 + y[:, None]) * torch.randn(count, width, generator=draw), y


def by_the_paper(features, labels, p):
    """Algorithm 1 line by line; norm of line 23 over the list of distances."""
    classes = int(labels.max()) + 1

    def dist(a, b):
        steps = [abs(s - t) for s, t in zip(a, b)]
        return max(steps) if p == INF else sum(step**p for step in steps) ** (1 / p)

    def norm(values):
        return [(v - min(values)) / (max(values) - min(values)) for v in values]

    def avg(values):
        return sum(values) / len(values)

    samples = [[f for f, y in zip(features.double().tolist(), labels.tolist()) if y == k]
               for k in range(classes)]
    centres = [[avg(column) for column in zip(*rows)] for rows in samples]
    fsa_list = [avg([dist(f, centre) for f in rows]) for rows, centre in zip(samples, centres)]
    distances, overlaps = [], []
    for i in range(classes - 1):
        for j in range(i + 1, classes):
            distances.append(dist(centres[i], centres[j]))
            overlaps.append(fsa_list[i] + fsa_list[j] - distances[-1])
    return 1 - avg(norm(fsa_list)), avg(norm(distances)), avg(norm(overlaps))


@pytest.mark.parametrize("p", roby.NORMS)
@pytest.mark.parametrize("classes", [3, 4, 7])
def test_it_is_algorithm_1(p, classes):
    features, y = clouds(83, classes)
    result = roby.roby(roby.layout(features, y, p=p))
    assert (result.fsa, result.fsd, result.roby) == pytest.approx(by_the_paper(features, y, p), abs=1e-12)


def test_clusters_solved_by_hand():
    """Three classes around (0, 0), (10, 0), (0, 24); their samples lie 1, 2 and 4 from the centre."""
    places, spread = torch.tensor([[0., 0.], [10, 0], [0, 24]]).double(), torch.tensor([1., 2, 4]).double()
    y = torch.arange(3).repeat(2)
    features = places[y] + torch.cat([spread, -spread])[:, None] * torch.tensor([0.6, 0.8]).double()
    layout = roby.layout(features, y)
    assert layout.count.tolist() == [2, 2, 2]
    torch.testing.assert_close(layout.width, spread)
    torch.testing.assert_close(layout.distance, torch.tensor([10., 24, 26]).double())
    torch.testing.assert_close(layout.overlap, torch.tensor([-7., -19, -20]).double())
    scaled = roby.roby(layout)
    assert scaled.fsa == pytest.approx(1 - (0 + 1 / 3 + 1) / 3)
    assert scaled.fsd == pytest.approx((0 + 14 / 16 + 1) / 3)
    assert scaled.roby == pytest.approx((1 + 1 / 13 + 0) / 3)
    assert scaled.width == pytest.approx(7 / 60) and scaled.overlap == pytest.approx(-46 / 60)
    largest = roby.layout(features, y, p=INF)
    torch.testing.assert_close(largest.width, 0.8 * spread)
    torch.testing.assert_close(largest.distance, torch.tensor([10., 24, 24]).double())
    equations = roby.of_equations(layout)      # norm of the sums 2, 4, 8, each over two samples
    assert equations["fsa"] == pytest.approx((3 - 4 / 3 / 2) / 3)
    assert equations["fsd"] == pytest.approx(20)
    assert equations["roby"] == pytest.approx(2 * (3 - 4 / 3 / 2) / 3 - 20)


def model(scale=1.0):
    """Two layers, so that the penultimate features are known; each class is predicted."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(12, 6), nn.Tanh(), nn.Linear(6, 4))
    draw = runtime.generator(5)
    with torch.no_grad():
        for p in network.parameters():
            p.copy_(torch.rand(p.shape, generator=draw) - 0.5)
        network[3].bias -= network(images()[0]).mean(0)
        for p in network[3].parameters():
            p *= scale
    return network


def images(count=90):
    x = torch.rand(count, 3, 2, 2, generator=torch.Generator().manual_seed(2))
    return x, torch.arange(count) % 4


def same(a, b):
    return all(math.isclose(v, vars(b)[k], rel_tol=1e-5, abs_tol=1e-6) for k, v in vars(a).items())


@pytest.mark.parametrize("p", roby.NORMS)
def test_scale_order_and_batches_change_nothing(p):
    x, y = images()
    once = roby.measure(model(), x, y, p=p)
    assert same(roby.measure(model(1000.0), x, y, p=p), once)         # logits 1,000 times as large
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    assert same(roby.measure(model(), x[order], y[order], p=p), once)
    assert all(same(roby.measure(model(), x, y, p=p, chunk=n), once) for n in (1, 7, 90))


def test_features_may_be_penultimate_or_any_callable():
    (x, y), network = images(), model()
    hidden, penultimate = network[:3](x).detach(), roby.Penultimate(network)
    torch.testing.assert_close(roby.embed(penultimate, x, chunk=13), hidden)
    expected = roby.roby(roby.layout(hidden, y))
    assert same(roby.measure(network, x, y, features=penultimate), expected)
    assert same(roby.measure(network, x, y, features=network[:3]), expected)
    assert not same(roby.measure(network, x, y), expected)


def test_features_of_a_network_in_training_mode_are_those_of_evaluation():
    (x, y), network = images(), nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(12, 6)).train()
    first, second = (roby.measure(network, x, y, features=lambda z: network(z)) for _ in range(2))
    assert same(first, second) and network[1].training


def test_the_last_layer_is_the_one_that_runs_last():
    class Reversed(nn.Module):
        def __init__(self):
            super().__init__()
            self.head, self.body = nn.Linear(8, 3), nn.Linear(images()[0][0].numel(), 8)

        def forward(self, x):
            return self.head(self.body(x.flatten(1)))

    assert roby.Penultimate(Reversed())(images()[0]).shape == (len(images()[0]), 8)


def pickled(network):
    return len(pickle.dumps(network))


def test_nothing_stays_on_a_model_whose_features_are_taken():
    (x, _), network = images(), model()
    size = pickled(network)
    for _ in range(20):
        penultimate = roby.Penultimate(network)
        penultimate(x)
        with pytest.raises(RuntimeError):
            penultimate(x[:, :1])
    assert not any(m._forward_pre_hooks for m in network.modules()) and pickled(network) == size


def test_threads_take_features_of_one_model():
    (x, _), network = images(), model()
    expected, wrong = network[:3](x).detach(), []

    def look(rows):
        for _ in range(100):
            if not torch.allclose(roby.Penultimate(network)(x[rows]), expected[rows], atol=1e-5):
                wrong.append(rows)
    threads = [threading.Thread(target=look, args=[slice(k, k + 20)]) for k in (0, 30, 60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and not any(m._forward_pre_hooks for m in network.modules())


@pytest.mark.parametrize("whole", [True, False], ids=["compiled", "with a compiled part"])
def test_features_of_a_compiled_model_are_those_of_the_model(whole):
    (x, _), network = images(), model()
    hidden = network[:3](x).detach()
    if whole:
        network = torch.compile(network, backend="eager")
    else:
        network[0:4].compile(backend="eager")
        network[3].compile(backend="eager")
    with torch.no_grad():
        network(x)
    for _ in range(2):
        torch.testing.assert_close(roby.embed(roby.Penultimate(network), x), hidden)
        with torch.no_grad():
            network(x)


# ---- resampling ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("p", roby.NORMS)
def test_a_resample_is_the_metric_of_the_images_drawn(p):
    features, y = clouds(57)
    generator = runtime.generator(3)
    rows = [(y == k).nonzero()[:, 0] for k in range(4)]
    draws = [torch.randint(len(r), (6, len(r)), generator=generator) for r in rows]
    values = roby.bootstrap(features, y, p=p, draws=6, generator=runtime.generator(3))
    for n, row in enumerate(values):
        drawn = torch.cat([r[d[n]] for r, d in zip(rows, draws)])
        again = roby.roby(roby.layout(features[drawn], y[drawn], p=p))
        torch.testing.assert_close(row, torch.tensor(list(vars(again).values())).double())


class Largest(TorchDispatchMode):
    """Notes how many values the largest tensor has that torch makes inside it."""
    values = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **kwargs or {})
        for part in result if isinstance(result, (list, tuple)) else [result]:
            self.values = max(self.values, part.numel() if isinstance(part, torch.Tensor) else 0)
        return result


@pytest.mark.parametrize("p", roby.NORMS)
def test_many_classes_and_features_take_the_memory_of_the_features(p, monkeypatch):
    """Pairs times features are 60 times as many values, and those of all draws 20 times that."""
    monkeypatch.setattr(roby, "AT_ONCE", 40_000)
    features, y = torch.randn(400, 100, generator=runtime.generator(1)), torch.arange(400) % 200
    with Largest() as largest:
        layout = roby.layout(features, y, p=p)
        roby.bootstrap(features, y, p=p, draws=20, generator=0)
    assert features.numel() <= largest.values <= 2 * features.numel()
    centres = features.double().view(2, 200, 100).mean(0)
    for pair, (i, j) in ((0, (0, 1)), (-1, (198, 199))):
        assert float(layout.distance[pair]) == pytest.approx(float(torch.dist(centres[i], centres[j], p)))


def test_models_are_resampled_alike():
    narrow, y = clouds()
    first, second = (roby.bootstrap(features, y, draws=5, generator=runtime.generator(0))
                     for features in (narrow, torch.cat([narrow, 0 * narrow], 1)))
    torch.testing.assert_close(first, second)


def test_a_draw_without_scale_is_nan():
    features, y = clouds()
    values = roby.bootstrap(features, (y > 1).long(), draws=3, generator=runtime.generator(0))
    assert values[:, 0].isfinite().all() and values[:, 1:3].isnan().all()   # one distance, one overlap


# ---- what is refused -------------------------------------------------------------------------------------
def refusals():
    features, y = clouds()
    wrong = features.clone()
    wrong[3, 2] = math.nan
    alike = torch.tensor([[0., 0], [1, 0], [0.5, 1], [0.5, -1]]).repeat(4, 1)
    return {
        "class 1 has no samples": lambda: roby.layout(features, torch.where(y == 1, 0, y)),
        "all samples are of one class": lambda: roby.layout(features, y * 0),
        "classes 0 and 2 have the same centre": lambda: roby.roby(roby.layout(torch.tensor(
            [[1., 0], [-1, 0], [3, 3], [3, 4], [0, 2], [0, -2]]), torch.arange(3).repeat_interleave(2))),
        "1 of 60 features are nan or infinite": lambda: roby.layout(wrong, y),
        "2 images of 9 classes": lambda: roby.layout(features[:2], torch.tensor([1, 8])),
        "0 images": lambda: roby.layout(features[:0], y[:0]),
        "labels begin at -1": lambda: roby.layout(features, y - 1),
        "the distances of the classes are all": lambda: roby.roby(roby.layout(features, (y > 1).long())),
        "the widths of the classes are all": lambda: roby.roby(roby.layout(alike[:3], torch.arange(3))),
        "the summed widths": lambda: roby.of_equations(roby.layout(alike[:3], torch.arange(3))),
        "p=3; allowed: 2, infinity": lambda: roby.layout(features, y, p=3),
        "features are [60], labels": lambda: roby.layout(features[:, 0], y),
        "features are a ndarray, labels a Tensor": lambda: roby.layout(features.numpy(), y),
        "features returns a list": lambda: roby.measure(model(), *images(), features=lambda x: x.tolist()),
        "labels torch.int32": lambda: roby.layout(features, y.int()),
        "pixels lie in": lambda: roby.measure(model(), 300 * images()[0], images()[1]),
        "no linear or convolutional layer": lambda: roby.Penultimate(nn.ReLU()),
        "draws=0": lambda: roby.bootstrap(features, y, draws=0, generator=runtime.generator(0)),
        "bootstrap draws at random": lambda: roby.bootstrap(features, y, draws=1, generator=None)}


@pytest.mark.parametrize("message", refusals())
def test_bad_input_ends_in_one_clear_line(message):
    with pytest.raises(UserError) as error:
        refusals()[message]()
    assert message in str(error.value) and "\n" not in str(error.value) and len(str(error.value)) < 180
