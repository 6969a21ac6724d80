"""What `he` alone uses: settings of its attacks, line searches, and the classifier of boundary distances."""
import torch

from papers.he import presets
from papers.he.classifier import (
    BoundaryNet,
    Errors,
    FeaturePairs,
    Threshold,
    best_threshold,
    errors,
    features,
    train,
)
from papers.he.line_searches import random_points, with_tail_bug
from shared.attacks.optimised import CarliniWagner
from shared.boundary import survey
from tests.outputs.examples import ROUNDED, seeded, some_images
from tests.outputs.test_boundary import every_kind, ten_directions


def test_presets(stored):
    published = [[name, str(value)] for name, value in vars(presets).items()
                 if isinstance(value, CarliniWagner)]
    stored({"published": sum(published, [])})


def test_survey_with_the_tail_bug(stored):
    def ball(z):
        """Class 0 within a ball around grey, which every direction leaves."""
        outside = (z - 0.5).flatten(1).square().sum(1) - 1
        assert (outside.abs() > ROUNDED).all(), "an image is nearly on the boundary"
        return torch.stack([-outside, outside], 1)

    x, dirs = 0.4 + 0.2 * some_images(8), ten_directions()
    exact = survey(ball, x, dirs, step=0.02, top=0.5)
    stored([exact, with_tail_bug(exact)])


def test_random_points(stored):
    x, dirs = some_images(8), ten_directions()
    stored([random_points(x, dirs, 9, top=top, generator=seeded("boundary", "strewn")) for top in (0.2, 1.0)])


def test_features(stored):
    result = every_kind()
    stored({"features": [features(result), features(result, centre=0.0625, unit=0.5)]})


def pairs(count=40, distances=40):
    """Sorted distances, smaller around adversarial images; not all of which count."""
    generator = seeded("boundary", "pairs")

    def around(scale):
        sizes = scale * torch.rand(count, distances, generator=generator).sort(1).values
        return torch.cat([sizes, torch.rand(count, 3, generator=generator).sort(1).values], 1)

    return FeaturePairs(around(1.0), around(0.6), torch.rand(count, generator=generator) < 0.8,
                 torch.rand(count, generator=generator) < 0.5)


def test_train(stored):
    data, values = pairs(), {}
    for name, options in (("plain", dict(steps=5, batch=16)), ("default", dict(steps=2)),
                          ("balanced", dict(steps=4, batch=16, balanced=True)),
                          ("small", dict(steps=5, batch=1, balanced=True, rate=0.01))):
        net = train(data[:30], generator=seeded("boundary", name), **options)
        logits = torch.cat([net(data.benign), net(data.adversarial)[30:]])
        assert (logits.diff(dim=1).abs() > ROUNDED).all(), "two classes are nearly equal"
        values[name] = [net(data.benign), errors(net, data[30:])]
    more = pairs(distances=48)
    net = train(more, steps=1, batch=8, generator=seeded("boundary", "more"))
    stored({**values, "more directions": net(more.benign)})


def test_boundary_net(stored):
    """Initial weights, and logits of them; sizes at which a convolution gains an output."""
    values = {}
    with torch.random.fork_rng(devices=[]):
        for distances in (36, 51, 52):
            torch.manual_seed(1)
            net = BoundaryNet(distances)
            values[f"{distances}"] = {
                "numbers": [p.numel() for p in net.parameters()],
                "sums": [float(p.detach().double().abs().sum()) for p in net.parameters()],
                "logits": net.eval()(torch.rand(2, distances + 3, generator=seeded("boundary", "x")))}
    stored(values)


def test_threshold(stored):
    generator = seeded("boundary", "numbers")
    numbers = {"apart": (torch.rand(9, generator=generator), 1.2 + torch.rand(7, generator=generator)),
               "above": (0.4 + torch.rand(9, generator=generator), torch.rand(7, generator=generator)),
               "mixed": [torch.rand(n, generator=generator).mul(9).round() for n in (20, 13)],
               "equal": (torch.ones(3), torch.ones(4)),
               "tie": (torch.tensor([1.0, 3.0]), torch.tensor([2.0]))}
    rules = {name: best_threshold(*sides) for name, sides in numbers.items()}
    rules = {name: (rule, rule.errors(*numbers[name])) for name, rule in rules.items()}
    stored({**rules, "flags": [Threshold(0.2, below).flags(torch.tensor([0.1, 0.2, 0.3]))
                               for below in (True, False)]})


def test_rates(stored):
    def network(x):
        """Adversarial where the first number is small."""
        assert ((x[:, 0] - 0.005).abs() > ROUNDED / 10).all(), "two classes are nearly equal"
        return torch.stack([x[:, 0] * 0 + 0.3, 0.35 - x[:, 0] * 10], 1)

    counts = Errors(1, 4, 3, 5), Errors(0, 0, 0, 0), Errors(2, 3, 0, 0), Errors(0, 0, 1, 3)
    stored({"shares": [(r.false_positive, r.false_negative, r.accuracy) for r in counts],
            "counted": errors(network, pairs())})
