"""ROBY in both norms: of features, of a model's true and predicted classes, as printed, of resamples."""
import torch

from shared import roby
from shared.inference import frozen, labels
from tests.outputs.examples import seeded, smooth_network, some_images


def clouds(count=40, classes=4, width=5):
    """Features [count, width] of classes that differ in spread and place, and their labels."""
    y = torch.arange(count) % classes
    places = 4 * torch.rand(classes, width, generator=seeded("roby", "places"))
    return places[y] + (0.3 + y[:, None]) * torch.rand(count, width, generator=seeded("roby", "samples")), y


def balanced():
    """A network that predicts every class of 30 images at least once."""
    net, x = smooth_network(batch_norm=True, dropout=True), some_images(30)
    with torch.no_grad(), frozen(net):
        net[-1].bias -= net(x).mean(0)
    return net, x


def test_layout(stored):
    features, y = clouds()
    layouts = [roby.layout(features, y, p=p) for p in roby.NORMS]
    stored([*layouts, [layout.overlap for layout in layouts], roby.layout(features[:4], y[:4]),
            roby.layout(features, y % 2)])


def test_roby(stored):
    features, y = clouds()
    layouts = [roby.layout(features, y % classes, p=p) for p in roby.NORMS for classes in (3, 4)]
    stored([[roby.roby(layout), roby.of_equations(layout)] for layout in layouts])


def test_bootstrap(stored):
    stored([roby.bootstrap(*clouds(), p=p, draws=4, generator=seeded("roby", "draws")) for p in roby.NORMS])


def test_measure(stored):
    (net, x), y = balanced(), torch.arange(30) % 3
    groups = y, labels(net, x)
    stored([*(roby.measure(net, x, group, p=p) for p in roby.NORMS for group in groups),
            roby.measure(net, (255 * x).round().byte(), y),
            *(roby.measure(net, x, group, features=roby.Penultimate(net), chunk=7) for group in groups)])


def test_embed(stored):
    net, x = balanced()
    penultimate = roby.Penultimate(net)
    stored([roby.embed(penultimate, x), penultimate.logits, roby.embed(lambda z: z[:, :1, :1], x, like=net)])
