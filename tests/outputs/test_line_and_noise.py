"""Attacks along the gradient, random perturbations, and the search for the first of many that flips."""
import torch
from torch import nn

from shared.attacks.line import gradients, lost_margin, scalings, smallest_steps, squared_error, unit
from shared.attacks.noise import draw, random_flips, uniform_ball
from shared.attacks.trials import first_flips
from shared.inference import Careful, Decision
from tests.outputs.examples import SHAPE, Coarse, apart, bf16, example, seeded


def test_losses(stored):
    one = torch.tensor([[-40.0], [-3.0], [0.0], [0.5], [12.0], [20.0]])
    several = torch.tensor([[1.0, 2.0, -1.0], [0.0, 0.0, 0.0], [30.0, 2.0, 1.0]])
    stored([[loss(one, torch.tensor([0, 1, 0, 1, 0, 1])), loss(several, torch.tensor([0, 1, 2]))]
            for loss in (squared_error, lost_margin)])


def test_gradients(stored):
    values = {}
    for outputs in (1, 5):
        net, x, y = example(outputs, 9, "gradients", wrong=4, gain=3.0)
        for loss in (squared_error, lost_margin):
            slopes = gradients(net, x, y, loss)
            values[f"{outputs} {loss.__name__}"] = {"gradients": slopes, "unit": unit(slopes[0])}
    stored(values)


def test_unit_of_extreme_rows(stored):
    stored(unit(torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-25, 0.0], [float("nan"), 1.0], [float("inf"), 1.0],
                              [3e38, 3e38], [-1e-30, 1e-30]])))


def test_smallest_steps(stored):
    values = {"sizes": [scalings(), scalings(5, 0.5)]}
    for outputs in (1, 4):
        net, x, y = example(outputs, 11, "attacks", gain=3.0)
        direction, _ = unit(gradients(net, x, y, squared_error)[0])
        direction[::5] = 0
        for sizes in (scalings(), scalings(10, 0.05)):
            steps = smallest_steps(Careful(net, None).flips, x, y, direction, sizes)
            values[f"{outputs} {len(sizes)}"] = {**steps._asdict(), "norms": steps.norms()}
    stored(values)


def test_smallest_steps_in_bf16(stored):
    net, x, y = example(1, 20, "twice 2", gain=1.0)
    coarse = Coarse(net)
    direction, _ = unit(gradients(net, x, y, lost_margin)[0])
    with bf16(True):
        stored([smallest_steps(Careful(coarse, doubt).flips, x, y, direction, scalings())
                for doubt in (0.02, 0.2)])


def test_the_largest_step_counts(stored):
    """A plane at distances 0.5 to 4, steps up to 3."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(1, 1, bias=False))
    with torch.no_grad():
        net[1].weight.fill_(1.0)
    x = torch.tensor([0.5, 1.0, 2.0, 3.0, 4.0]).view(-1, 1, 1, 1)
    stored(smallest_steps(Careful(net, None).flips, x, torch.ones(5).long(), -torch.ones_like(x),
                          torch.tensor([0.0, 1, 2, 3])))


def test_draws(stored):
    stored({"ball": uniform_ball(5, (3, 2, 2), seeded("few")), "draws": draw(40, SHAPE, seeded("draws"))})


def test_random_flips(stored):
    values = {}
    for outputs in (1, 3):
        net, x, y = example(outputs, 6, "random", gain=3.0)
        some, sizes = apart(90, SHAPE, seeded("some 1")), torch.linspace(0.05, 0.6, 6)
        decide = Careful(net, None).flips
        for delta in (1, 10):
            values[f"{outputs} {delta}"] = random_flips(decide, x, y, sizes, some, delta)
        values[f"{outputs} exact"] = random_flips(decide, x, y, sizes, some, 5, exact=True)
    stored(values)


def test_first_flips(stored):
    """Images of all kinds: one never flips, one at once, one at last, the others ever more rarely."""
    values = {}
    for rows, steps in ((12, 1), (12, 130), (5, 300)):
        chances = torch.logspace(-3, -0.5, rows).view(-1, 1)
        table = torch.rand(rows, steps, generator=seeded("table")) < chances
        table[0], table[1, 0], table[2], table[2, -1] = False, True, False, True

        def decide(pairs, labels, table=table):
            return Decision(table[pairs[:, 0], pairs[:, 1]], 0, 0)

        for exact in (False, True):
            values[f"{rows} {steps} {exact}"] = first_flips(
                decide, torch.arange(rows), lambda rows, steps: torch.stack([rows, steps], 1), steps,
                exact=exact)
    stored(values)
