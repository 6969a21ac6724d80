"""roby: Algorithm 1 sample by sample, clusters solved by hand, invariances, bad input."""
import math

import pytest
import torch
from torch import nn

from shared import roby, runtime
from shared.runtime import UserError

INF = float("inf")


def clouds(count=60, classes=4, width=5, seed=0):
    """Features [count, width] of classes that differ in spread and place, and their labels."""
    draw = torch.Generator().manual_seed(seed)
    y = torch.arange(count) % classes
    centre = 4 * torch.rand(classes, width, generator=draw)
    return centre[y] + (0.3 + y[:, None]) * torch.randn(count, width, generator=draw), y


def by_the_paper(features, labels, p):
    """Algorithm 1 line by line; norm of line 23 over the list of distances."""
    classes = int(labels.max()) + 1

    def dist(a, b):
        moves = [abs(s - t) for s, t in zip(a, b)]
        return max(moves) if p == INF else sum(m**p for m in moves) ** (1 / p)

    def norm(values):
        return [(v - min(values)) / (max(values) - min(values)) for v in values]

    def avg(values):
        return sum(values) / len(values)

    samples = [[f for f, y in zip(features.double().tolist(), labels.tolist()) if y == k]
               for k in range(classes)]
    centres = []
    for k in range(classes):
        total = [0.0] * features.shape[1]
        for f in samples[k]:
            total = [s + t for s, t in zip(total, f)]
        centres.append([s / len(samples[k]) for s in total])
    fsa_list = []
    for k in range(classes):
        d = 0.0
        for f in samples[k]:
            d += dist(f, centres[k])
        fsa_list.append(d / len(samples[k]))
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
    found = roby.roby(roby.layout(features, y, p=p))
    assert (found.fsa, found.fsd, found.roby) == pytest.approx(by_the_paper(features, y, p), abs=1e-12)


def test_clusters_solved_by_hand():
    """Three classes around (0, 0), (10, 0), (0, 24); their samples lie 1, 2 and 4 from the centre."""
    places, spread = torch.tensor([[0., 0.], [10, 0], [0, 24]]).double(), torch.tensor([1., 2, 4]).double()
    y = torch.arange(3).repeat(2)
    features = places[y] + torch.cat([spread, -spread])[:, None] * torch.tensor([0.6, 0.8]).double()
    found = roby.layout(features, y)
    assert found.count.tolist() == [2, 2, 2]
    torch.testing.assert_close(found.width, spread)
    torch.testing.assert_close(found.distance, torch.tensor([10., 24, 26]).double())
    torch.testing.assert_close(found.overlap, torch.tensor([-7., -19, -20]).double())
    scaled = roby.roby(found)
    assert scaled.fsa == pytest.approx(1 - (0 + 1 / 3 + 1) / 3)
    assert scaled.fsd == pytest.approx((0 + 14 / 16 + 1) / 3)
    assert scaled.roby == pytest.approx((1 + 1 / 13 + 0) / 3)
    assert scaled.width == pytest.approx(7 / 60) and scaled.overlap == pytest.approx(-46 / 60)
    top = roby.layout(features, y, p=INF)
    torch.testing.assert_close(top.width, 0.8 * spread)
    torch.testing.assert_close(top.distance, torch.tensor([10., 24, 24]).double())
    printed = roby.of_equations(found)      # norm of the sums 2, 4, 8, each over two samples
    assert printed["fsa"] == pytest.approx((3 - 4 / 3 / 2) / 3)
    assert printed["fsd"] == pytest.approx(20)
    assert printed["roby"] == pytest.approx(2 * (3 - 4 / 3 / 2) / 3 - 20)


class Linear(nn.Module):
    """Two layers, so that the penultimate features are known."""

    def __init__(self, scale=1.0):
        super().__init__()
        self.first, self.last, self.scale = nn.Linear(12, 6), nn.Linear(6, 4), scale

    def forward(self, x):
        return self.scale * self.last(self.first(x.flatten(1)).tanh())


def model(scale=1.0):
    net, draw = Linear(scale), torch.Generator().manual_seed(5)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.rand(p.shape, generator=draw) - 0.5)
        net.last.bias -= (net(images()[0]) / scale).mean(0)     # so that each class is predicted
    return net


def images(count=90):
    x = torch.rand(count, 3, 2, 2, generator=torch.Generator().manual_seed(2))
    return x, torch.arange(count) % 4


def same(a, b):
    return all(math.isclose(v, vars(b)[k], rel_tol=1e-5, abs_tol=1e-6) for k, v in vars(a).items())


@pytest.mark.parametrize("p", roby.NORMS)
@pytest.mark.parametrize("group", ["true", "predicted"])
def test_scale_order_and_batches_change_nothing(p, group):
    x, y = images()
    how = dict(p=p, group=group)
    once = roby.measure(model(), x, y, **how)
    assert same(roby.measure(model(1000.0), x, y, **how), once)         # logits 1,000 times as large
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    assert same(roby.measure(model(), x[order], y[order], **how), once)
    assert all(same(roby.measure(model(), x, y, chunk=n, **how), once) for n in (1, 7, 90))


def test_the_order_changes_the_last_bits_of_sums_only():
    features, y = clouds(5000)
    order = torch.randperm(5000, generator=torch.Generator().manual_seed(0))
    once, again = (roby.roby(roby.layout(f, g)) for f, g in ((features, y), (features[order], y[order])))
    assert vars(once) == pytest.approx(vars(again), rel=1e-12)


def test_features_may_be_penultimate_or_any_callable():
    x, y = images()
    net = model()
    hidden = net.first(x.flatten(1)).tanh().detach()
    look = roby.Penultimate(net)
    torch.testing.assert_close(roby.embed(look, x, chunk=13), hidden)
    want = roby.roby(roby.layout(hidden, y))
    assert same(roby.measure(net, x, y, features=look), want)
    assert same(roby.measure(net, x, y, features=lambda z: net.first(z.flatten(1)).tanh()), want)
    assert not same(roby.measure(net, x, y), want)
    predicted = roby.roby(roby.layout(hidden, net(x).argmax(1)))
    assert same(roby.measure(net, x, y, features=look, group="predicted"), predicted)


def test_features_of_a_network_in_training_mode_are_those_of_evaluation():
    x, y = images()
    net = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), model().first).train()
    first, second = (roby.measure(net, x, y, features=lambda z: net[:3](z)) for _ in range(2))
    assert same(first, second) and net[1].training


def test_the_last_layer_is_the_one_that_runs_last():
    class Reversed(nn.Module):
        def __init__(self):
            super().__init__()
            self.head, self.body = nn.Linear(8, 3), nn.Linear(images()[0][0].numel(), 8)

        def forward(self, x):
            return self.head(self.body(x.flatten(1)))

    assert roby.Penultimate(Reversed())(images()[0]).shape == (len(images()[0]), 8)


# ---- resampling ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("p", roby.NORMS)
def test_a_resample_is_the_metric_of_the_images_drawn(p):
    features, y = clouds(57)
    drawn = runtime.generator(3)
    rows = [(y == k).nonzero()[:, 0] for k in range(4)]
    draws = [torch.randint(len(r), (6, len(r)), generator=drawn) for r in rows]
    made = roby.bootstrap(features, y, p=p, draws=6, generator=runtime.generator(3))
    for n, values in enumerate(made):
        picked = torch.cat([r[d[n]] for r, d in zip(rows, draws)])
        again = roby.roby(roby.layout(features[picked], y[picked], p=p))
        torch.testing.assert_close(values, torch.tensor(list(vars(again).values())).double())


def test_models_are_resampled_alike():
    (a, y), (b, _) = clouds(seed=0), clouds(seed=1)
    both = roby.bootstrap(torch.cat([a, 0 * b], 1), y, draws=5, generator=runtime.generator(0))
    torch.testing.assert_close(roby.bootstrap(a, y, draws=5, generator=runtime.generator(0)), both)


def test_a_draw_without_scale_is_nan():
    features, y = clouds()
    two = roby.bootstrap(features, (y > 1).long(), draws=3, generator=runtime.generator(0))
    assert two[:, 0].isfinite().all() and two[:, 1:3].isnan().all()     # one distance, one overlap


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
        "features are": lambda: roby.layout(features[:, 0], y),
        "features are a ndarray, labels a Tensor": lambda: roby.layout(features.numpy(), y),
        "features gives a list": lambda: roby.measure(model(), *images(), features=lambda x: x.tolist()),
        "labels torch.int32": lambda: roby.layout(features, y.int()),
        "group 'given'; allowed: true, predicted": lambda: roby.measure(model(), *images(), group="given"),
        "pixels lie in": lambda: roby.measure(model(), 300 * images()[0], images()[1]),
        "class 4 is never predicted": lambda: roby.measure(
            lambda z: nn.functional.pad(model()(z), (0, 1), value=-99.0), *images(), group="predicted"),
        "no linear or convolutional layer": lambda: roby.Penultimate(nn.ReLU()),
        "draws=0": lambda: roby.bootstrap(features, y, draws=0, generator=runtime.generator(0)),
        "bootstrap draws at random": lambda: roby.bootstrap(features, y, draws=1, generator=None)}


@pytest.mark.parametrize("told", refusals())
def test_bad_input_ends_in_one_clear_line(told):
    with pytest.raises(UserError) as error:
        refusals()[told]()
    assert told in str(error.value) and "\n" not in str(error.value) and len(str(error.value)) < 180
