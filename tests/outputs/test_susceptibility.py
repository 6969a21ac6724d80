"""Susceptibility of a model to attacks and to random perturbations."""
from unittest import mock

from torch import nn

from shared import susceptibility
from shared.attacks.line import lost_margin
from shared.susceptibility import percentage
from tests.outputs.examples import Coarse, apart, bf16, example, seeded


def susceptible(model, x, y, **options):
    """`susceptibility.susceptibility` with few draws, of no nearly equal norms."""
    options = {"generator": seeded("susceptible 1"), "draws": 40, "steps": 30, "largest": 3.0} | options
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


def test_percentages(stored):
    counts = ((0, 10), (3, 12), (12, 12), (499, 500), (0, 0))
    stored({"percentage": [percentage(*pair) for pair in counts],
            "half": percentage(3, 12, confidence=0.5)})
