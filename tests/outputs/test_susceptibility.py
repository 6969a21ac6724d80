"""Susceptibility of a model to attacks and to random perturbations; the same as numbers for tables."""
from unittest import mock

import torch
from torch import nn

from shared import susceptibility
from shared.attacks.line import lost_margin
from shared.inference import Careful, margins, pixels
from shared.susceptibility import audit, measure, percentage, summary
from tests.outputs.examples import SHAPE, Coarse, answers, apart, bf16, drawn, example, network, seeded


def susceptible(model, x, y, **options):
    """`susceptibility.susceptibility` with few draws, of no nearly equal norms."""
    options = {"generator": seeded("susceptible 1"), "draws": 40, "count": 30, "largest": 3.0} | options
    with mock.patch.object(susceptibility, "draw", apart):
        result = susceptibility.susceptibility(model, x, y, **options)
    return [result, result.adversarial_share, result.random_shares]


def test_susceptibility(stored):
    values = {}
    for outputs in (1, 4):
        net, x, y = example(outputs, 9, "susceptible", wrong=4, gain=3.0)
        net[3] = nn.Dropout(0.5)
        values[f"{outputs}"] = susceptible(net, x, y)
        values[f"{outputs} margin"] = susceptible(net, x, y, loss=lost_margin, deltas=(0.5, 3.0))
        values[f"{outputs} clip"] = susceptible(net, x, y, clip=True, deltas=[2], largest=9.0)
        values[f"{outputs} function"] = susceptible(lambda z, net=net: net.eval()(z).squeeze(1), x, y)
        values[f"{outputs} no images"] = susceptible(net, x[:0], y[:0])
    stored(values)


def test_susceptibility_in_bf16(stored):
    values = {}
    for outputs in (1, 3):
        net, x, y = example(outputs, 8, "susceptible", "twice 2", wrong=5, gain=1.0)
        with bf16(True):
            values[f"{outputs}"] = susceptible(Coarse(net), x, y, bf16=True)
            values[f"{outputs} exact"] = susceptible(Coarse(net), x, y)
    stored(values)


def test_susceptibility_by_default(stored):
    net, x, y = example(2, 3, "susceptible", "default", gain=3.0)
    with mock.patch.object(susceptibility, "draw", apart):
        stored(susceptibility.susceptibility(net, x, y, generator=seeded("default 1")))


def subjects(count, *labels, gain=3.0, wrong=0):
    """A coarse network of one logit, uint8 images, labels."""
    net, x = Coarse(network(1, *labels, gain=gain)).eval(), drawn(count, "stability", *labels)
    return net, x, answers(net, pixels(x), wrong)


def measured(net, x, y, *, doubt=None, draws=30, images_attack=None, images_random=None):
    return measure(Careful(net, doubt), x, y, apart(draws, SHAPE, seeded("points 2")), (1, 5),
                   images_attack=images_attack, images_random=images_random, generator=seeded("rows"),
                   device=torch.device("cpu"))


def test_measure(stored):
    values = {}
    for able, doubt in ((False, None), (True, 0.1)):
        net, x, y = subjects(16, "measured 3", wrong=6)
        assert (margins(net, pixels(x), y).abs() > 0.05).all()      # what lengths are divided by
        with bf16(able):
            values[f"{doubt}"] = measured(net, x, y, doubt=doubt, images_attack=9, images_random=4)
    stored(values)


def test_measure_where_gradients_vanish(stored):
    """Squared error has gradients of exactly 0 on confident images: the logit's direction is tried."""
    net, x, y = subjects(14, "saturated 3", gain=80.0, wrong=9)
    margin = margins(net, pixels(x), y)
    assert not ((margin > 14) & (margin < 20) & (y == 1) | (margin > 43) & (margin < 56) & (y == 0)).any()
    stored(measured(net, x, y))


def test_audit(stored):
    net, x, y = subjects(12, "audits 1")
    _, attacked = measured(net, x, y, draws=2)
    points = apart(50, SHAPE, seeded("audits 4"))
    with bf16(True):
        stored([audit(Careful(net, doubt), attacked, points, (1, 4), generator=seeded("audit"))
                for doubt in (None, 0.03, 1.0)])


def test_summaries(stored):
    values = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0])
    counts = ((0, 10), (3, 12), (12, 12), (499, 500), (0, 0))
    stored({"summary": [summary(values), summary(values, 8), summary(values[:1], 1), summary(values[:0])],
            "percentage": [percentage(*pair) for pair in counts],
            "half": percentage(3, 12, confidence=0.5)})
