"""attacks that look for the nearest example: against loops over single images, and by hand on a plane."""
import dataclasses
import math
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from papers.shu.attacks.fgsm_search import FGSMSearch
from papers.shu.attacks.iterative import BasicIterative, MomentumIterative
from papers.shu.attacks.newton import NewtonFool
from papers.shu.attacks.pointwise import Pointwise, uniform
from shared import runtime
from shared.attacks import judge
from shared.attacks.optimised import CarliniWagner

with warnings.catch_warnings():      # Foolbox takes a filter from where SciPy no longer wants it taken
    warnings.simplefilter("ignore", DeprecationWarning)
    import foolbox

SIDE = 5


def seeded(*labels):
    return runtime.generator(0, "nearest", *labels)


@pytest.fixture(scope="module")
def network():
    """A small smooth network of four classes in double precision, images, and their predicted labels."""
    layers = nn.Sequential(nn.Flatten(), nn.Linear(SIDE**2, 12), nn.Tanh(), nn.Linear(12, 4)).double()
    with torch.no_grad():
        for p in layers.parameters():
            p.copy_(2.4 * torch.rand(p.shape, generator=seeded("net")) - 1.2)

    def model(x):
        return layers(x.double())

    x = torch.rand(12, 1, SIDE, SIDE, generator=seeded("x"))
    x[:, :, 0], x[:, :, -1] = 0, 1                         # black and white values among them
    with torch.no_grad():
        return model, x, model(x).argmax(1)


@pytest.fixture(scope="module")
def plane():
    """Logits 0 and w.(x - 1/2), images near the plane, so that none is clipped, their labels and scores."""
    w = torch.randn(SIDE**2, generator=seeded("w"))

    def model(x):
        score = (x.flatten(1) - 0.5) @ w
        return torch.stack([torch.zeros_like(score), score], 1)

    x = 0.5 + 0.1 * (2 * torch.rand(9, 1, SIDE, SIDE, generator=seeded("plane")) - 1)
    score = model(x)[:, 1]
    return model, x, (score > 0).long(), score.abs(), w


# ---- loops over single images, as Foolbox 2.4 runs them --------------------------------------------------
def slope_of(model, x, goal):
    x = x.clone().requires_grad_()
    F.cross_entropy(model(x), goal).backward()
    return x.grad


def adversarial(model, z, goal, targeted):
    with torch.no_grad():
        scores = model(z)[0]
    return bool(scores.softmax(0)[goal] > 0.5) if targeted else int(scores.argmax()) != int(goal)


def size(move, norm):
    flat = move.flatten().abs()
    return {"L1": flat.mean(), "L2": flat.square().mean().sqrt(), "Linf": flat.max()}[norm]


def iterative(model, x, goal, *, norm, epsilon, step, iterations, growths, halvings, targeted, decay=None):
    """The nearest adversarial image met, or None."""
    best, ratio = [math.inf, None], step / epsilon

    def succeeds(epsilon):
        z, history = x, 0
        for _ in range(iterations):
            g = slope_of(model, z, goal)
            if decay is not None:
                g = history = decay * history + g / g.abs().mean()
            g = g.sign() if norm == "Linf" else g / size(g, norm)
            delta = z + (-1 if targeted else 1) * ratio * epsilon * g - x
            delta = delta.clamp(-epsilon, epsilon) if norm == "Linf" else (
                delta * min(1, epsilon / size(delta, norm)))
            z = (x + delta).clamp(0, 1)
            if adversarial(model, z, goal, targeted):
                if size(z - x, norm) < best[0]:
                    best[:] = size(z - x, norm), z
                return True
        return False

    for _ in range(growths):
        if succeeds(epsilon):
            break
        epsilon *= 1.5
    else:
        return None
    bad, good = 0, epsilon
    for _ in range(halvings):
        between = (good + bad) / 2
        good, bad = (between, bad) if succeeds(between) else (good, between)
    return best[1]


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
@pytest.mark.parametrize("targeted", [False, True])
@pytest.mark.parametrize("kind, norm", [(BasicIterative, "L1"), (BasicIterative, "L2"),
                                        (BasicIterative, "Linf"), (MomentumIterative, "Linf")])
def test_iterative_attacks_are_loops_over_images_and_balls(kind, norm, targeted, network):
    model, x, y = network
    attack = kind(norm=norm, epsilon=(0.02, 0.1, 0.7), iterations=6, growths=7, halvings=9, targeted=targeted)
    goal = (y + 1) % 4 if targeted else y
    result = attack(model, x, y, target=goal if targeted else None)
    assert 6 < result.success.sum() and (result.success.all() or targeted)
    for n in range(len(x)):
        near = iterative(model, x[n:n + 1], goal[n:n + 1], norm=norm, epsilon=attack.epsilon[n % 3],
                         step=attack.step, iterations=6, growths=7, halvings=9, targeted=targeted,
                         decay=attack.decay or None)
        assert (near is not None) == bool(result.success[n])
        if near is not None:
            torch.testing.assert_close(result.x_adv[n:n + 1], near, rtol=0, atol=2e-5)


def test_one_ball_without_search_is_foolbox_3_up_to_the_first_example(network):
    model, x, y = network

    class Module(nn.Module):
        """Foolbox takes no function."""

        def forward(self, x):
            return model(x)

    # The kind of Foolbox, and the plain norm of an image whose mean norm is 1.
    peers = {"L1": (foolbox.attacks.L1BasicIterativeAttack, SIDE**2),
             "L2": (foolbox.attacks.L2BasicIterativeAttack, SIDE),
             "Linf": (foolbox.attacks.LinfBasicIterativeAttack, 1)}
    for norm, (peer, plain) in peers.items():
        attack = BasicIterative(norm, epsilon=0.2, step=0.05, iterations=8, growths=1, halvings=0)
        result, left = attack(model, x, y), torch.ones(len(x), dtype=torch.bool)
        for steps in range(1, 9):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _, expected, _ = peer(rel_stepsize=0.25, steps=steps)(
                    foolbox.PyTorchModel(Module().eval(), (0, 1), device="cpu"), x, y, epsilons=0.2 * plain)
            first = left & (model(expected).argmax(1) != y)
            torch.testing.assert_close(result.x_adv[first], expected[first], rtol=0, atol=1e-5)
            left &= ~first
        assert result.success.equal(~left) and 0 < result.success.sum()


def newton(model, x, label, eta, steps):
    z = x.double()
    for _ in range(steps):
        if adversarial(model, z, label, False):
            break
        z = z.clone().requires_grad_()
        p = model(z).softmax(1)[0, label]
        p.sum().backward()
        g, p = z.grad, p.detach()
        move = min(eta * float(x.norm()) * g.norm(), p - 1 / 4) / g.norm()**2 * g
        z = (z.detach() - move).clamp(0, 1)
    return z.float()


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
def test_newtonfool_goes_as_published(network):
    model, x, y = network
    attack = NewtonFool(eta=(0.003, 0.02, 0.5), steps=25)
    z, passes, _ = zip(*[attack._of_images(torch.tensor([n])).propose(model, x[n:n + 1], y[n:n + 1], None)
                      for n in range(len(x))])
    for n in range(len(x)):
        expected = newton(model, x[n:n + 1], y[n:n + 1], attack.eta[n % 3], 25)
        torch.testing.assert_close(z[n], expected, rtol=0, atol=1e-5)
    assert 25 in {int(p) for p in passes} and attack(model, x, y).success.any()


def pointwise(model, x, start, goal, draw, turn, *, halvings, rounds, targeted):
    """From a start back to the clean image; orders as the attack draws them."""
    z, clean = start.flatten().clone(), x.flatten()

    def fools(value, to):
        trial = z.clone()
        trial[value] = to
        return adversarial(model, trial.view(x.shape), goal, targeted)

    def order():
        nonlocal turn
        keys = uniform(draw.double().flatten(2), turn)[0]
        turn += 1
        return [v for v in keys.argsort().tolist() if z[v] != clean[v]]

    again = True
    while again:
        again = False
        for value in order():
            if fools(value, clean[value]):
                z[value], again = clean[value], True
                break
    for _ in range(rounds):
        moved = False
        for value in order():
            if fools(value, clean[value]):
                z[value], moved = clean[value], True
                continue
            without = clean[value].clone()
            for _ in range(halvings):
                between = (z[value] + without) / 2
                if fools(value, between):
                    moved |= bool(z[value] != between)
                    z[value] = between
                else:
                    without = between
        if not moved:
            break
    return z.view(x.shape)


@pytest.mark.parametrize("targeted", [False, True])
def test_pointwise_takes_back_what_a_loop_over_pixels_takes_back(targeted, network):
    model, x, y = network
    attack = Pointwise(levels=20, repetitions=3, halvings=4, rounds=4, targeted=targeted)
    goal = (y + 2) % 4 if targeted else y
    draw = attack.draw(x, seeded("pointwise"))
    starts, _ = attack._start(model, x, goal, draw.double())
    z, _ = attack.propose(model, x, goal, draw)
    there = starts.flatten(1).isfinite().all(1)
    assert 3 < there.sum() and z.flatten(1).isfinite().all(1).equal(there)
    for n in there.nonzero()[:, 0].tolist():
        assert ((starts[n] == x[n]) | (starts[n] == 0) | (starts[n] == 1)).all()
        near = pointwise(model, x[n], starts[n], goal[n], draw[n:n + 1], 60, halvings=4, rounds=4,
                         targeted=targeted)
        assert z[n].equal(near)
        # No single value can be given back.
        trial = z[n].flatten().repeat(SIDE**2, 1)
        trial.fill_diagonal_(0).add_(torch.diag(x[n].flatten()))
        moved = z[n].flatten() != x[n].flatten()
        assert not judge.fooled(model(trial.view(-1, 1, SIDE, SIDE)), goal[n].expand(SIDE**2),
                                targeted=targeted)[moved].any()


def test_orders_are_uniform_and_differ():
    draw = torch.rand(3, 2, 4000, generator=seeded("uniform")).double()
    one, two = uniform(draw, 7), uniform(draw, torch.tensor([[900], [901], [902]]))
    for numbers in (one, two, (one - two) % 1):
        assert abs(numbers.mean() - 0.5) < 0.02 and abs(numbers.std() - 12**-0.5) < 0.01


# ---- by hand ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("targeted", [False, True])
def test_on_a_plane_the_distances_are_known(targeted, plane):
    model, x, y, score, w = plane
    target = 1 - y if targeted else None
    exact = {"L1": score * w.abs().sum() / w.square().sum(), "L2": score / w.norm(),
             "Linf": score / w.abs().sum()}
    for norm, distance in exact.items():
        for kind in (BasicIterative, MomentumIterative):
            result = kind(norm, targeted=targeted)(model, x, y, target=target)
            torch.testing.assert_close(result.distance, distance, rtol=1e-4, atol=1e-6)
    result = FGSMSearch(targeted=targeted)(model, x, y, target=target)
    steps = torch.ceil(exact["Linf"] * 1000)
    fine = torch.ceil(exact["Linf"] / steps * 20_000)       # twentieths of a step, up to the twentieth step
    torch.testing.assert_close(result.distance, torch.where(steps <= 20, fine * steps / 20_000, steps / 1000),
                               rtol=1e-4, atol=1e-6)
    assert (steps <= 20).any() and result.passes.equal((1 + steps + (steps <= 20) * fine).long())
    farther = FGSMSearch(targeted=targeted, beyond=(0.0, 0.013))(model, x, y, target=target)
    torch.testing.assert_close(farther.distance - result.distance, 0.013 * (torch.arange(9) % 2),
                               rtol=0, atol=1e-6)


def test_where_one_pixel_decides_the_pointwise_attack_moves_it_alone():
    def model(x):
        score = x[:, 0, 2, 3] - 0.4
        return torch.stack([-score, score], 1)

    x = torch.full((6, 1, SIDE, SIDE), 0.1)
    result = Pointwise()(model, x, torch.zeros(6, dtype=torch.int64), generator=seeded("one"))
    moved = result.x_adv - x
    assert result.success.all() and (moved.flatten(1) != 0).sum(1).tolist() == [1] * 6
    assert (moved[:, 0, 2, 3] >= 0.3).all() and (moved[:, 0, 2, 3] < 0.3 + 0.9 * 2**-9).all()


@pytest.mark.parametrize("attack, names", [
    (BasicIterative(epsilon=(0.05, 0.3), iterations=4, halvings=3), ["epsilon"]),
    (NewtonFool((0.01, 0.2)), ["eta"]), (FGSMSearch(beyond=(0.0, 0.1)), ["beyond"]),
    (CarliniWagner(rate=0.1, c=(0.3, 3.0), confidence=(0.0, 1.0), searches=2, iterations=40,
                   probability=0.5), ["c", "confidence"])], ids=lambda a: type(a).__name__)
def test_a_tuple_holds_the_setting_of_each_image(attack, names, network):
    model, x, y = network
    whole = attack(model, x, y, chunk=5)
    for k in (0, 1):
        one = dataclasses.replace(attack, **{name: getattr(attack, name)[k] for name in names})
        torch.testing.assert_close(whole.x_adv[k::2], one(model, x[k::2], y[k::2]).x_adv, rtol=0, atol=1e-5)
    assert not whole.x_adv[::2].equal(one(model, x[::2], y[::2]).x_adv)
