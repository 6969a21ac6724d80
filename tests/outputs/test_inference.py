"""Logits, labels, margins and gradients of models; bfloat16 where the label is certain."""
import pytest
import torch
from torch import nn

from shared import inference
from shared.inference import Careful, accuracy, classes, classifier, labels, logits, margins, pixels
from tests.outputs.examples import Coarse, bf16, drawn, network


def test_pixels(stored):
    x = torch.arange(256, dtype=torch.uint8).view(4, 4, 4, 4)
    stored([pixels(images) for images in (x, x / 255, (x / 255).double(), (x / 255).half(), x[:0])])


def test_frozen(stored):
    """Modes before, inside and after, also after an error."""
    net = network(2, "modes", dropout=0.5)
    net[3].eval()
    modes = [[module.training for module in net.modules()]]
    with pytest.raises(ZeroDivisionError), inference.frozen(net):
        modes.append([module.training for module in net.modules()])
        1 / 0       # noqa: B018
    stored([*modes, [module.training for module in net.modules()]])


def test_scores_of(stored):
    one, several = torch.tensor([-1.0, 0.0, 2.5]), torch.tensor([[1.0, 2.0, 0.5]]).repeat(3, 1)
    forms = one, one[:, None], several, several.half(), several.double()
    scores = [inference.scores_of(form, 3) for form in forms]
    stored([scores, [inference.with_zero(form) for form in scores], inference.scores_of(one[:0], 0)])


def test_logits(stored):
    x, values = drawn(17, "logits"), {}
    for outputs in (1, 2, 5):
        net = network(outputs, "logits", dropout=0.5)
        values[f"{outputs}"] = [logits(net, x), logits(net, x / 255, chunk=5), logits(net, x[:0])]
    stored(values)


def test_classes(stored):
    one = torch.tensor([[-1.0], [0.0], [1e-30], [2.0], [float("nan")]])
    several = torch.tensor([[1.0, 2.0, 0.0], [3.0, 3.0, 1.0], [-1.0, -2.0, -0.5]])
    stored([classes(scores) for scores in (one, several[:, :2], several, one[:0], several[:0])])


def test_labels_and_margins(stored):
    x, values = drawn(40, "classifiers"), {}
    for outputs in (1, 2, 4):
        net = network(outputs, "classifiers")
        y = labels(net, x)
        some_wrong = torch.where(torch.arange(40) < 29, y, (y + 1) % max(2, outputs))
        values[f"{outputs}"] = {"labels": [y, labels(net, x[:0]), classifier(net, chunk=3)(x)],
                                "accuracy": [accuracy(net, x, y), accuracy(net, x / 255, some_wrong)],
                                "margins": margins(net, x, some_wrong)}
    stored(values)


def test_functions_and_one_logit(stored):
    """A module of one logit, and the function of it that returns [N]."""
    x, y = pixels(drawn(9, "functions")), torch.arange(9) % 2
    net = network(1, "functions", dropout=0.5).eval()
    stored([[logits(model, x), labels(model, x), accuracy(model, x, y), margins(model, x, y),
             inference.checked_logits(model, x, y),
             *inference.gradient(lambda z, model=model: inference.AttackedModel(model)(z)[:, 1], x)]
            for model in (net, lambda z: net(z)[:, 0])])


def test_gradients_of_no_use(stored):
    inf, nan = float("inf"), float("nan")
    slopes = torch.tensor([[1.0, -2.0], [0.0, 0.0], [nan, 1.0], [inf, -3.0], [-inf, nan]])
    stored([inference.unusable(slopes), inference.finite_gradients(slopes)])


@pytest.mark.parametrize("able", [True, False])
def test_careful(stored, able):
    x, values = pixels(drawn(60, "careful")), {}
    for outputs in (2, 5):
        net = Coarse(network(outputs, "careful")).eval()
        with bf16(able), torch.no_grad():
            careful = Careful.measured(net, x[:20])
            doubts = [careful.doubt, Careful.measured(net, x[:1], factor=0.5).doubt]
            values[f"{outputs}"] = [doubts, careful(x), careful.judged, careful.again, Careful(net, 1e9)(x),
                                    Careful(net, 0.0)(x[:0])]
    stored(values)


@pytest.mark.parametrize("able", [True, False])
def test_careful_of_one_logit(stored, able):
    x, net = pixels(drawn(30, "careful one")), Coarse(network(1, "careful one")).eval()
    y = labels(net, x)
    y[::4] = 1 - y[::4]
    with bf16(able), torch.no_grad():
        careful = Careful.measured(net, x[:20])
        stored([careful.doubt, Careful.measured(net, x[:20], y[:20]).doubt, careful(x), careful.again,
                [Careful(net, doubt).flips(x, y) for doubt in (careful.doubt, 1e9, None)],
                careful.margins(x, y, bf16=True)])


def test_a_margin_equal_to_the_doubt_is_decided_twice(stored):
    x = torch.tensor([[1.0, 0.5, 0.0], [1.0, 0.25, 0.5], [1.0, 0.375, 0.0], [0.0, 0.0, 0.0]]).view(4, 3, 1, 1)
    net, values = Coarse(nn.Flatten(), lambda scores, x: scores - 8), {}
    with bf16(True):
        for doubt in (0.0, 0.5, 0.625):
            careful = Careful(net, doubt)
            values[f"{doubt}"] = [careful(x), careful.judged, careful.again]
    stored(values)


def test_careful_in_real_bfloat16(stored):
    """Sums of few small numbers are exact and rounded once, on every processor."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(3, 3, bias=False))
    with torch.no_grad():
        net[1].weight.copy_(torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]))
    x = torch.tensor([[256.0, 0.75, 0.5], [3.0, 2.0, 1.0], [0.0, 0.75, 256.0]]).view(3, 3, 1, 1)
    with bf16(True), torch.no_grad():
        stored([Careful.measured(net, x).doubt, Careful(net, 1e9)(x), Careful(net, 0.25)(x)])
