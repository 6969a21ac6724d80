"""attacks that look for the nearest example: against loops over single images, and by hand on a plane."""
import dataclasses
import math
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from shared import runtime
from shared.attacks import judge
from shared.attacks.gradient import FGSMSearch
from shared.attacks.iterative import BasicIterative, MomentumIterative
from shared.attacks.newton import NewtonFool
from shared.attacks.optimised import CarliniWagner
from shared.attacks.pointwise import Pointwise, uniform
from shared.attacks.threat import L2

with warnings.catch_warnings():      # Foolbox takes a filter from where SciPy no longer wants it taken
    warnings.simplefilter("ignore", DeprecationWarning)
    import foolbox

SIDE = 5


def seeded(*labels):
    return runtime.generator(0, "nearest", *labels)


@pytest.fixture(scope="module")
def net():
    """A small smooth net of four classes in double precision, images, and the classes it gives them."""
    made = nn.Sequential(nn.Flatten(), nn.Linear(SIDE**2, 12), nn.Tanh(), nn.Linear(12, 4)).double()
    with torch.no_grad():
        for p in made.parameters():
            p.copy_(2.4 * torch.rand(p.shape, generator=seeded("net")) - 1.2)

    def model(x):
        return made(x.double())

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
        middle = (good + bad) / 2
        good, bad = (middle, bad) if succeeds(middle) else (good, middle)
    return best[1]


@pytest.mark.parametrize("targeted", [False, True])
@pytest.mark.parametrize("kind, norm", [(BasicIterative, "L1"), (BasicIterative, "L2"),
                                        (BasicIterative, "Linf"), (MomentumIterative, "Linf")])
def test_iterative_attacks_meet_what_loops_over_images_and_balls_meet(kind, norm, targeted, net):
    model, x, y = net
    attack = kind(norm=norm, epsilon=(0.02, 0.1, 0.7), iterations=6, growths=7, halvings=9, targeted=targeted)
    goal = (y + 1) % 4 if targeted else y
    found = attack(model, x, y, target=goal if targeted else None)
    assert 6 < found.success.sum() and (found.success.all() or targeted)
    for n in range(len(x)):
        near = iterative(model, x[n:n + 1], goal[n:n + 1], norm=norm, epsilon=attack.epsilon[n % 3],
                         step=attack.step, iterations=6, growths=7, halvings=9, targeted=targeted,
                         decay=attack.decay or None)
        assert (near is not None) == bool(found.success[n])
        if near is not None:
            torch.testing.assert_close(found.x_adv[n:n + 1], near, rtol=0, atol=2e-5)


def test_one_ball_without_search_is_foolbox_3_up_to_the_first_example(net):
    model, x, y = net
    peers = {"L1": foolbox.attacks.L1BasicIterativeAttack, "L2": foolbox.attacks.L2BasicIterativeAttack,
             "Linf": foolbox.attacks.LinfBasicIterativeAttack}
    whole = {"L1": SIDE**2, "L2": SIDE, "Linf": 1}           # a mean norm of 1 in the plain norm
    for norm, peer in peers.items():
        ours = BasicIterative(norm, epsilon=0.2, step=0.05, iterations=8, growths=1, halvings=0)(model, x, y)
        left = torch.ones(len(x), dtype=torch.bool)
        for steps in range(1, 9):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                attack = peer(rel_stepsize=0.25, steps=steps)
                theirs = attack(foolbox.PyTorchModel(nn_of(model), (0, 1), device="cpu"), x, y,
                                epsilons=0.2 * whole[norm])[1]
            first = left & (model(theirs).argmax(1) != y)
            torch.testing.assert_close(ours.x_adv[first], theirs[first], rtol=0, atol=1e-5)
            left &= ~first
        assert ours.success.equal(~left) and 0 < ours.success.sum()


def nn_of(model):
    """A module of a function: Foolbox takes nothing else."""
    class Module(nn.Module):
        def forward(self, x):
            return model(x)
    return Module().eval()


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


def test_newtonfool_goes_as_published(net):
    model, x, y = net
    attack = NewtonFool(eta=(0.003, 0.02, 0.5), steps=25)
    z, passes, _ = zip(*[attack._of(torch.tensor([n])).propose(model, x[n:n + 1], y[n:n + 1], None)
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
                middle = (z[value] + without) / 2
                if fools(value, middle):
                    moved |= bool(z[value] != middle)
                    z[value] = middle
                else:
                    without = middle
        if not moved:
            break
    return z.view(x.shape)


@pytest.mark.parametrize("targeted", [False, True])
def test_pointwise_takes_back_what_a_loop_over_pixels_takes_back(targeted, net):
    model, x, y = net
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
    # no single value can go back
    for n in there.nonzero()[:, 0].tolist():
        trial = z[n].flatten().repeat(SIDE**2, 1)
        trial.fill_diagonal_(0).add_(torch.diag(x[n].flatten()))
        moved = z[n].flatten() != x[n].flatten()
        assert not judge.fooled(model(trial.view(-1, 1, SIDE, SIDE)), goal[n].expand(SIDE**2),
                                targeted=targeted)[moved].any()


def test_a_start_has_the_least_noise_of_its_repetitions(net):
    model, x, y = net
    draw = Pointwise().draw(x, seeded("starts"))
    lengths = []
    for repetitions in (1, 4):
        start, _ = Pointwise(levels=30, repetitions=repetitions)._start(model, x, y, draw.double())
        lengths.append(L2().distance(x, start))
    assert (lengths[1] <= lengths[0]).all() and (lengths[1] < lengths[0]).any()


def test_orders_are_uniform_and_differ():
    draw = torch.rand(3, 2, 4000, generator=seeded("uniform")).double()
    one, two = uniform(draw, 7), uniform(draw, torch.tensor([[900], [901], [902]]))
    for each in (one, two, (one - two) % 1):
        assert abs(each.mean() - 0.5) < 0.02 and abs(each.std() - 12**-0.5) < 0.01


# ---- by hand ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("targeted", [False, True])
def test_on_a_plane_the_distances_are_known(targeted, plane):
    model, x, y, score, w = plane
    target = 1 - y if targeted else None
    known = {"L1": score * w.abs().sum() / w.square().sum(), "L2": score / w.norm(),
             "Linf": score / w.abs().sum()}
    for norm, distance in known.items():
        for kind in (BasicIterative, MomentumIterative):
            found = kind(norm, targeted=targeted)(model, x, y, target=target)
            torch.testing.assert_close(found.distance, distance, rtol=1e-4, atol=1e-6)
    found = FGSMSearch(targeted=targeted)(model, x, y, target=target)
    steps = torch.ceil(known["Linf"] * 1000)
    fine = torch.ceil(known["Linf"] / steps * 20_000) * steps / 20_000       # of steps up to the twentieth
    torch.testing.assert_close(found.distance, torch.where(steps <= 20, fine, steps / 1000), rtol=1e-4,
                               atol=1e-6)
    assert (steps <= 20).any() and found.passes.equal(
        (1 + steps + (steps <= 20) * torch.ceil(known["Linf"] / steps * 20_000)).long())
    farther = FGSMSearch(targeted=targeted, beyond=(0.0, 0.013))(model, x, y, target=target)
    torch.testing.assert_close(farther.distance - found.distance, 0.013 * (torch.arange(9) % 2),
                               rtol=0, atol=1e-6)


def test_a_model_of_one_pixel_has_that_pixel_moved_alone():
    def model(x):
        score = x[:, 0, 2, 3] - 0.4
        return torch.stack([-score, score], 1)

    x = torch.full((6, 1, SIDE, SIDE), 0.1)
    y = torch.zeros(6, dtype=torch.int64)
    found = Pointwise()(model, x, y, generator=seeded("one"))
    moved = found.x_adv - x
    assert found.success.all() and (moved.flatten(1) != 0).sum(1).tolist() == [1] * 6
    assert (moved[:, 0, 2, 3] >= 0.3).all() and (moved[:, 0, 2, 3] < 0.3 + 0.9 * 2**-9).all()


def test_a_tuple_gives_each_image_its_own_setting(net):
    model, x, y = net
    several = {BasicIterative(epsilon=(0.05, 0.3), iterations=4, halvings=3): ("epsilon",),
               NewtonFool((0.01, 0.2)): ("eta",), FGSMSearch(beyond=(0.0, 0.1)): ("beyond",),
               CarliniWagner(rate=0.1, c=(0.3, 3.0), confidence=(0.0, 1.0), searches=2, iterations=40,
                             probability=0.5): ("c", "confidence")}
    for attack, names in several.items():
        whole = attack(model, x, y, chunk=5)
        for k in (0, 1):
            one = dataclasses.replace(attack, **{name: getattr(attack, name)[k] for name in names})
            alone = one(model, x[k::2], y[k::2])
            torch.testing.assert_close(whole.x_adv[k::2], alone.x_adv, rtol=0, atol=1e-5)
        assert not whole.x_adv[1::2].equal(one(model, x[::2], y[::2]).x_adv)


@pytest.mark.parametrize("targeted", [False, True])
def test_a_probability_in_place_of_the_margin(targeted, net):
    """Success without the confidence: examples are nearer, and the target's probability is above it."""
    model, x, y = net
    target = model(x).topk(2).indices[:, 1] if targeted else None
    strict = CarliniWagner(rate=0.1, c=1.0, searches=6, confidence=1.0, iterations=100, targeted=targeted)
    found = [dataclasses.replace(strict, probability=p)(model, x, y, target=target) for p in (None, 0.5, 0.9)]
    both = found[0].success & found[1].success & found[2].success
    assert both.sum() > 2 and (found[1].distance < found[0].distance)[both].all()
    if targeted:
        p = [model(each.x_adv).softmax(1).gather(1, target[:, None])[both] for each in found]
        assert (p[1] > 0.5).all() and (p[1] < 0.6).any() and (p[2] > 0.9).all()
    else:
        assert found[1].x_adv.equal(found[2].x_adv)
