"""Surveys of the decision boundary, and the classifier that tells adversarial images by them."""
import torch

from shared.attacks.directions import directions
from shared.boundary.classifier import BoundaryNet, Pairs, Rates, Threshold, features, rates, threshold, train
from shared.boundary.survey import Survey, purity, strewn, survey
from tests.outputs.examples import ROUNDED, seeded, smooth_network, some_images


def ten_directions():
    """Orthogonal or opposite to each other, in the space of `some_images`."""
    return directions(24, 5, negatives=True, generator=seeded("boundary", "q 20"))


def parts(result):
    """A survey, and what follows from it."""
    return [result, result.reached, result.linf, result.nearest, result.censored]


def test_survey(stored):
    model, x, dirs = smooth_network(dropout=True), some_images(8), ten_directions()
    values = {f"{step} {top}": parts(survey(model, x, dirs, step=step, top=top))
              for step, top in ((0.05, 0.3), (0.07, 1), (0.04, 0.1))}
    stored({**values, "no images": parts(survey(model, x[:0], dirs, step=0.1, top=0.5)),
            "chunks": survey(model, x, dirs, step=0.05, top=0.3, chunk=7)})


def test_survey_of_one_logit(stored):
    model, x, dirs = smooth_network("one logit", outputs=1).eval(), some_images(8), ten_directions()
    values = {}
    for name, function in (("module", model), ("function", lambda z: model(z)[:, 0])):
        coarse = survey(function, x, dirs, step=0.2, top=1)
        values[name] = [coarse, purity(coarse)]
    stored(values)


def test_survey_with_the_legacy_tail_bug(stored):
    def ball(z):
        """Class 0 within a ball around grey, which every direction leaves."""
        outside = (z - 0.5).flatten(1).square().sum(1) - 1
        assert (outside.abs() > ROUNDED).all(), "an image is nearly on the boundary"
        return torch.stack([-outside, outside], 1)

    x, dirs = 0.4 + 0.2 * some_images(8), ten_directions()
    stored([survey(ball, x, dirs, step=0.02, top=0.5, legacy_tail_bug=bug) for bug in (False, True)])


def test_strewn(stored):
    stored([strewn(some_images(8), ten_directions(), 9, top=top, generator=seeded("boundary", "strewn"))
            for top in (0.2, 1.0)])


def test_purity_and_features(stored):
    """Boundaries of several classes, of one, of none, at distances that are in no order."""
    adjacent = torch.tensor([[1, 2, 1, 0, 4, -1], [3, 3, 3, 3, 3, 3], [-1, -1, -1, -1, -1, -1],
                             [0, 1, 2, 3, 4, 4]])
    distance = torch.where(adjacent < 0, 1.0, 0.4 + 0.05 * (torch.arange(6) * 3 % 7))
    result = Survey(distance, adjacent, torch.zeros(4).long(), torch.ones(6), step=0.05, evaluations=1)
    stored({"purity": [purity(result, top) for top in (1, 2, 9)] + [purity(result)],
            "features": [features(result), features(result, centre=0.0625, unit=0.5)]})


def pairs(count=40, distances=40):
    """Sorted distances, smaller around adversarial images; not all of which count."""
    generator = seeded("boundary", "pairs")

    def around(scale):
        sizes = scale * torch.rand(count, distances, generator=generator).sort(1).values
        return torch.cat([sizes, torch.rand(count, 3, generator=generator).sort(1).values], 1)

    return Pairs(around(1.0), around(0.6), torch.rand(count, generator=generator) < 0.8,
                 torch.rand(count, generator=generator) < 0.5)


def test_train(stored):
    data, values = pairs(), {}
    for name, options in (("plain", dict(steps=5, batch=16)), ("default", dict(steps=2)),
                          ("balanced", dict(steps=4, batch=16, balanced=True)),
                          ("small", dict(steps=5, batch=1, balanced=True, rate=0.01))):
        net = train(data[:30], generator=seeded("boundary", name), **options)
        logits = torch.cat([net(data.benign), net(data.adversarial)[30:]])
        assert (logits.diff(dim=1).abs() > ROUNDED).all(), "two classes are nearly equal"
        values[name] = [net(data.benign), rates(net, data[30:])]
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
    rules = {name: (threshold(*sides), threshold(*sides).rates(*sides)) for name, sides in numbers.items()}
    stored({**rules, "flags": [Threshold(0.2, below).flags(torch.tensor([0.1, 0.2, 0.3]))
                               for below in (True, False)]})


def test_rates(stored):
    def network(x):
        """Adversarial where the first number is small."""
        assert ((x[:, 0] - 0.005).abs() > ROUNDED / 10).all(), "two classes are nearly equal"
        return torch.stack([x[:, 0] * 0 + 0.3, 0.35 - x[:, 0] * 10], 1)

    counts = Rates(1, 4, 3, 5), Rates(0, 0, 0, 0), Rates(2, 3, 0, 0), Rates(0, 0, 1, 3)
    stored({"shares": [(r.false_positive, r.false_negative, r.accuracy) for r in counts],
            "counted": rates(network, pairs())})
