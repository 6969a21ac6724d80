"""attacks: threats, judge, gradient and optimised attacks, region classification."""
import copy
import dataclasses
import warnings

import pytest
import torch
from torch import nn

from papers.shu.attacks.fgsm_search import FGSMSearch
from papers.shu.attacks.iterative import BasicIterative, MomentumIterative
from papers.shu.attacks.newton import NewtonFool
from papers.shu.attacks.pointwise import Pointwise
from report import registry
from shared import runtime
from shared.attacks import judge
from shared.attacks.directions import directions
from shared.attacks.gradient import FGSM, PGD, Adversarial
from shared.attacks.line import LineSearch, scalings
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner, OptMargin
from shared.attacks.region import Region
from shared.attacks.threat import L1, L2, Linf, rms
from shared.data import sets

with warnings.catch_warnings():      # Foolbox takes a filter from where SciPy no longer wants it taken
    warnings.simplefilter("ignore", DeprecationWarning)
    import foolbox

SIDE = 6          # images of 6 x 6 pixels for models solved by hand
PATIENT = CarliniWagner(rate=0.01, c=0.1, searches=7, iterations=200, stop="never")


class Linear(nn.Module):
    """Logits 0 and w.(x - b): class 1 on one side of a plane."""

    def __init__(self, w, b):
        super().__init__()
        self.w, self.b = nn.Parameter(w.flatten()), nn.Parameter(b.flatten())

    def forward(self, x):
        score = (x.flatten(1) - self.b) @ self.w
        return torch.stack([torch.zeros_like(score), score], 1)


class Sphere(nn.Module):
    """Logits 0 and |x - centre|^2 - radius^2: class 0 inside."""

    def __init__(self, centre, radius):
        super().__init__()
        self.centre, self.radius = centre, radius

    def forward(self, x):
        score = (x - self.centre).flatten(1).square().sum(1) - self.radius**2
        return torch.stack([torch.zeros_like(score), score], 1)


class Exact(nn.Sequential):
    """A network in float64, so that no label depends on the size of the batch or on the processor."""

    def forward(self, x):
        return super().forward(x.double()).float()


def seeded(*labels):
    return runtime.generator(0, *labels)


@pytest.fixture(scope="module")
def plane():
    """A plane through middle grey, images near it (so that none is clipped), their labels and scores."""
    w = torch.randn(1, SIDE, SIDE, generator=seeded("w"))
    model = Linear(w, torch.full_like(w, 0.5))
    x = 0.5 + 0.2 * (2 * torch.rand(7, 1, SIDE, SIDE, generator=seeded("x")) - 1)
    score = model(x)[:, 1].detach()
    return model, x, (score > 0).long(), score.abs(), w


@pytest.fixture(scope="module")
def digits():
    """A small trained network with its test images and labels; some are misclassified."""
    data = sets.load("digits", profile="smoke")
    network = Exact(*registry.build("ren-a", generator=seeded("net"))).double()
    adam, order = torch.optim.Adam(network.parameters(), 2e-3), seeded("order")
    for _ in range(4):
        for rows in torch.randperm(len(data.x_train), generator=order).split(64):
            loss = nn.functional.cross_entropy(network(data.x_train[rows] / 255), data.y_train[rows])
            adam.zero_grad()
            loss.backward()
            adam.step()
    x, y = data.x_test[:16] / 255, data.y_test[:16].clone()
    y[0] = (y[0] + 1) % 10       # a clean image that counts as misclassified
    return network.eval(), x, y


# ---- threats ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("threat", [Linf(0.3), L2(1.5), L1(2.0)])
def test_a_threat_holds_its_ball(threat):
    x = torch.rand(500, 3, 4, 4, generator=seeded())
    z = x + torch.randn(x.shape, generator=seeded("z"))
    inside = threat.project(z, x)
    assert (threat.distance(x, inside) <= threat.size + 1e-6).all()
    torch.testing.assert_close(threat.project(inside, x), inside, rtol=0, atol=1e-6)
    # the nearest point: no mixture with a random point of the ball comes nearer
    other = 0.9 * inside + 0.1 * (x + threat.random(x, seeded("other")))
    assert (L2().distance(z, inside) <= L2().distance(z, other)).all()
    for scale in (1.0, 1e-25):      # the square of the latter is 0 in float32
        assert (threat.length(threat.steepest(scale * z)) - 1).abs().max() < 1e-5


@pytest.mark.parametrize("threat, expected", [(Linf(0.3), 0.5), (L2(1.5), 2**-0.25), (L1(2.0), 2**-0.25)])
def test_random_starts_fill_the_ball_evenly(threat, expected):
    start = threat.random(torch.zeros(4000, 1, 2, 2), seeded())
    assert (threat.length(start) <= threat.size).all()
    # half of the ball of 4 dimensions lies within 2^(-1/4) of its radius; a pixel's median is half its range
    share = start[:, 0, 0, 0].abs() if threat.norm == "Linf" else threat.length(start)
    assert abs((share <= expected * threat.size).float().mean() - 0.5) < 0.03
    assert start.mean(0).abs().max() < 0.03 * threat.size


@pytest.fixture
def two_classes():
    """An untrained network of two classes, random images and their predicted labels."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(48, 2))
    x = torch.rand(50, 3, 4, 4, generator=seeded())
    return network, x, network(x).argmax(1)


def test_pgd_in_the_l1_ball_goes_on_where_a_value_is_at_its_end(two_classes):
    network, x, y = two_classes
    result = PGD(L1(8.0), 40, 0.8, random_start=False)(network, x, y)
    moved = (result.x_adv - x).flatten(1).abs()
    assert result.success.all() and (moved > 0).sum(1).max() > 1 and (moved.sum(1) <= 8 + 1e-4).all()


def test_a_search_of_carlini_and_wagner_goes_on_where_its_first_loss_is_huge(two_classes):
    network, x, y = two_classes
    attack = CarliniWagner(rate=0.05, c=1e3, searches=2, iterations=100)
    assert attack(lambda a: 1e5 * network(a), x[:5], y[:5]).success.all()


# ---- the judge -------------------------------------------------------------------------------------------
def test_the_judge_projects_clips_and_keeps_the_clean_image_of_a_failure(plane):
    model, x, y, score, w = plane
    far = x - 9 * (2 * y - 1).view(-1, 1, 1, 1) * w        # across the plane, outside of the ball
    result = judge.judge(model, x, y, far, Linf(0.05))
    assert (result.distance[result.success] <= 0.05 + 1e-6).all()
    assert result.success.equal(model(result.x_adv).argmax(1) != y)
    # An image that was misclassified is not robust, even where the attack corrects it.
    corrected = judge.judge(model, x, 1 - y, far, L2())
    assert not corrected.success.all() and corrected.robust_accuracy == 0
    black = judge.judge(model, x, y, torch.zeros_like(x), Linf(0.001))
    assert not black.success.any() and black.x_adv.equal(x) and black.distance.isnan().all()
    lost = judge.judge(model, x, y, torch.full_like(x, torch.nan), L2())
    assert not lost.success.any() and lost.x_adv.equal(x) and lost.was_correct.all()


ATTACKS = {"fgsm": FGSM(Linf(0.2)), "pgd": PGD(Linf(0.1), 5, 0.03), "pgd-l2": PGD(L2(1.5), 5, 0.5),
           "pgd-l1": PGD(L1(30.0), 20, 5.0),
           "cw": CarliniWagner(rate=0.1, c=1.0, searches=2, iterations=30),
           "optmargin": OptMargin(rate=0.1, c=1.0, searches=2, iterations=20, noise=0.1, members=4),
           "line": LineSearch(steps=60), "line-margin": LineSearch(steps=30, largest=3.0, loss="margin"),
           "random": RandomSearch(Linf(0.6), 50), "random-l2": RandomSearch(L2(9.0), 50),
           "fgsm-search": FGSMSearch(count=100, beyond=(0.0, 0.02, 0.05)),
           "newton": NewtonFool((0.01, 0.1), 30), "bim-l1": BasicIterative("L1", (0.02, 0.3), halvings=4),
           "bim-l2": BasicIterative("L2", halvings=4),
           "bim": BasicIterative(epsilon=(0.05, 0.2), halvings=4), "mi": MomentumIterative(halvings=4),
           "pointwise": Pointwise(levels=10, repetitions=2, halvings=3, rounds=2),
           "cw-sweep": CarliniWagner(rate=0.1, c=(0.5, 2.0), confidence=(0.0, 0.4, 2.0), searches=2,
                                     iterations=30, probability=0.5)}


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_keeps_inputs_and_mode_and_depends_on_the_seed_alone_not_on_the_batch(attack, digits):
    network, x, y = digits
    network = copy.deepcopy(network)
    network[2].train()                                      # a mixture of modes
    before, modes = copy.deepcopy(network.state_dict()), [m.training for m in network.modules()]
    x_before, y_before = x.clone(), y.clone()
    whole = attack(network, x, y, generator=seeded())
    assert x.equal(x_before) and y.equal(y_before) and [m.training for m in network.modules()] == modes
    assert all(value.equal(before[key]) for key, value in network.state_dict().items())
    assert all(p.grad is None for p in network.parameters())
    parts = attack(network, x, y, generator=seeded(), chunk=7)
    assert parts.success.equal(whole.success) and parts.passes.equal(whole.passes)
    torch.testing.assert_close(parts.distance, whole.distance, rtol=0, atol=1e-4, equal_nan=True)
    # The result describes its own images.
    success, distance = whole.success, attack.threat.distance(x, whole.x_adv)
    assert success.any() and not whole.was_correct[0] and whole.was_correct[1:].any()
    assert success.equal(network.eval()(whole.x_adv).argmax(1) != y)
    assert (whole.x_adv >= 0).all() and (whole.x_adv <= 1).all() and whole.x_adv[~success].equal(x[~success])
    assert whole.distance[success].equal(distance[success]) and whole.distance[~success].isnan().all()


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_no_images_give_an_empty_result(attack, digits):
    network, x, y = digits
    assert attack(network, x[:0], y[:0], generator=seeded()).x_adv.shape == (0, 1, 28, 28)


# ---- what is refused -------------------------------------------------------------------------------------
@pytest.mark.parametrize("instrument", [*ATTACKS.values(), Region(0.3)], ids=[*ATTACKS, "region"])
def test_a_model_whose_logits_are_not_finite_near_the_images_is_refused(instrument, digits):
    network, x, y = digits
    count = 0

    def broken(z):
        nonlocal count
        count += len(z)
        return network(z) if count <= len(x) else network(z) / 0

    labels = () if isinstance(instrument, Region) else (y,)
    with pytest.raises(runtime.UserError, match="nan or infinite logits"):
        instrument(broken, x, *labels, generator=seeded())


@pytest.mark.parametrize("make, message", [
    (lambda: Linf(8), r"at most 1 is needed.* write Linf\(8 / 255\)"), (lambda: FGSM(Linf(1.5)), "size 1.5"),
    (lambda: Linf(0.0), "size 0.0"), (lambda: Linf([0.1]), r"size \[0.1\]"),
    (lambda: FGSM(0.1), "threat=0.1; one such as Linf"), (lambda: FGSM(Linf()), "a bound is needed"),
    (lambda: PGD(Linf(0.1), 2.5, 0.1), "steps=2.5"),
    (lambda: PGD(L2(), 5, 0.1), "a bound is needed"),
    (lambda: PGD(Linf(0.1), 0, 0.1), "steps=0"), (lambda: PGD(Linf(0.1), 5, 0.0), "step=0.0"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, iterations=0), "iterations=0"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, searches=0), "searches=0"),
    (lambda: CarliniWagner(rate=0.0, c=0.1), "rate=0.0"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, reach=0.5), "reach=0.5"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, stop="soon"), "image, batch, never"),
    (lambda: CarliniWagner(rate=0.1, c=(1.0, 0.0)), r"c=\(1.0, 0.0\)"),
    (lambda: CarliniWagner(rate=0.1, c=1e10), r"c below 1e\+10"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, scale=0.0), "scale=0.0"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, confidence=-1.0), "confidence=-1.0"),
    (lambda: CarliniWagner(rate=0.1, c=1.0, probability=1.0), "probability=1.0"),
    (lambda: OptMargin(rate=0.1, c=0.1, members=0), "members=0"),
    (lambda: OptMargin(rate=0.1, c=0.1, noise=0.0), "noise=0.0"), (lambda: Region(0.0), "radius=0.0"),
    (lambda: Region(0.3, samples=0), "samples=0"), (lambda: LineSearch(steps=1), "steps=1"),
    (lambda: LineSearch(largest=float("inf")), "largest=inf"),
    (lambda: LineSearch(loss="hinge"), "squared, margin"),
    (lambda: FGSMSearch(count=0), "count=0"), (lambda: FGSMSearch(beyond=(0.1, 1.0)), "below 1 beyond"),
    (lambda: NewtonFool(steps=0), "steps=0"), (lambda: NewtonFool((0.1, 0.0)), "eta above 0"),
    (lambda: BasicIterative("L3"), "L1, L2, Linf"),
    (lambda: BasicIterative(epsilon=(0.1, 0.0)), "sizes above 0"),
    (lambda: BasicIterative(halvings=-1), "halvings=-1"),
    (lambda: MomentumIterative(probability=1.0), "probability=1.0"),
    (lambda: Pointwise(rounds=0), "rounds=0"), (lambda: Pointwise(probability=-0.1), "probability=-0.1"),
    (lambda: RandomSearch(Linf(0.1), 0), "draws=0"), (lambda: RandomSearch(L2()), "a bound is needed"),
    (lambda: directions(9, 0, generator=seeded()), "from 1 to 9"),
    (lambda: directions(9, 10, generator=seeded()), "10 orthogonal directions in 9 dimensions"),
    (lambda: Adversarial(PGD(Linf(0.1, targeted=True), 5, 0.1)), "untargeted")])
def test_settings_out_of_range_are_named(make, message):
    with pytest.raises(runtime.UserError, match=message):
        make()


@pytest.mark.parametrize("attack", [PGD(Linf(0.1), 5, 0.03), OptMargin(rate=0.1, c=1.0),
                                    RandomSearch(Linf(0.1)), Pointwise()], ids=lambda a: type(a).__name__)
def test_an_attack_that_draws_needs_a_generator(attack, digits):
    with pytest.raises(runtime.UserError, match="pass generator"):
        attack(*digits)


@pytest.mark.parametrize("targeted, change, message", [
    (True, lambda y: None, "needs target="), (False, lambda y: y, "needs target="),
    (True, lambda y: y + 10, "targets lie in"), (True, lambda y: y.float(), "targets are"),
    (True, lambda y: y, "targets are the label of their image")])
def test_a_targeted_threat_needs_classes_as_its_target(targeted, change, message, digits):
    network, x, y = digits
    with pytest.raises(runtime.UserError, match=message):
        FGSM(Linf(0.1, targeted))(network, x, y, target=change(y))


# ---- FGSM and PGD ----------------------------------------------------------------------------------------
def test_gradient_attacks_are_exact_on_a_plane(plane):
    model, x, y, score, w = plane
    to_plane = {Linf: score / w.abs().sum(), L2: score / w.norm()}
    for threat, distance in to_plane.items():
        for size in distance.sort().values[::2].tolist():
            # just beyond an image's distance it falls, just below it stands; so do all others
            for factor in (0.999, 1.001):
                small = threat(size * factor)
                falls = distance < small.size
                for attack in (FGSM(small), PGD(small, 4, small.size / 2, random_start=False)):
                    result = attack(model, x, y)
                    assert result.success.equal(falls)
                    assert ((result.distance[falls] / small.size - 1).abs() < 1e-4).all()


def test_targeted_attacks_reach_the_target(digits):
    network, x, y = digits
    x, y = x[1:], y[1:]
    target = (y + 1) % 10
    reached = PGD(Linf(0.4, targeted=True), 40, 0.05, random_start=False)(network, x, y, target=target)
    assert reached.success.float().mean() > 0.5
    assert network(reached.x_adv).argmax(1)[reached.success].equal(target[reached.success])
    reached = CarliniWagner(rate=0.1, c=1.0, iterations=100, targeted=True)(network, x, y, target=target)
    assert reached.success.all() and network(reached.x_adv).argmax(1).equal(target)


@pytest.mark.parametrize("attack, peer", [
    (FGSM(Linf(0.1)), foolbox.attacks.LinfFastGradientAttack(random_start=False)),
    (PGD(Linf(0.02), 10, 0.004, random_start=False),
     foolbox.attacks.LinfPGD(abs_stepsize=0.004, steps=10, random_start=False)),
    (PGD(L2(0.4), 10, 0.1, random_start=False),
     foolbox.attacks.L2PGD(abs_stepsize=0.1, steps=10, random_start=False)),
], ids=("fgsm", "pgd-linf", "pgd-l2"))
def test_gradient_attacks_agree_with_foolbox(attack, peer, digits):
    network, x, y = digits
    result = attack(network, x, y)
    fooled = foolbox.PyTorchModel(network, (0, 1), device="cpu")
    _, adversarial, success = peer(fooled, x, y, epsilons=attack.threat.size)
    assert 0 < success.sum() < len(x) and (result.success != success).sum() <= 1
    both = result.success & success
    off = result.distance - attack.threat.distance(x, adversarial)
    assert (off[both].abs() > 1e-5).sum() <= 1      # at a kink of the network one path may part from it


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
# ---- along a line, at random -----------------------------------------------------------------------------
@pytest.mark.parametrize("loss", ["squared", "margin"])
@pytest.mark.parametrize("targeted", [False, True])
def test_a_line_search_ends_at_the_first_step_beyond_the_plane(targeted, loss, plane):
    model, x, y, score, w = plane
    attack = LineSearch(steps=201, largest=0.5, loss=loss, targeted=targeted)
    goal = {"target": 1 - y} if targeted else {}
    sizes, result = scalings(201, 0.5), attack(model, x, y, **goal)
    first = torch.searchsorted(sizes, score / w.norm())
    assert (first > 1).all() and result.success.all() and result.passes.equal(1 + first)
    torch.testing.assert_close(result.distance, sizes[first], rtol=0, atol=1e-5)
    # a line too short for all but the nearest tries every step of it
    short = dataclasses.replace(attack, steps=11, largest=float(sizes[first.min()]))(model, x, y, **goal)
    assert short.success.equal(first == first.min()) and (short.passes[~short.success] == 11).all()


@pytest.mark.parametrize("targeted", [False, True])
@pytest.mark.parametrize("threat", [Linf, L2])
def test_random_points_succeed_only_beyond_the_plane(threat, targeted, plane):
    model, x, y, score, w = plane
    distance = score / (w.abs().sum() if threat is Linf else w.norm())
    goal = {"target": 1 - y} if targeted else {}
    for size, most in ((float(distance.median()), 0.6), (20 * float(distance.max()), 1.1)):
        attack = RandomSearch(threat(min(size, 1.0) if threat is Linf else size, targeted), 300)
        result = attack(model, x, y, generator=seeded(), **goal)
        assert not result.success[distance > size].any() and result.success.float().mean() <= most
        assert (result.distance[result.success] >= distance[result.success]).all()
        # the first of the points, the same for all images, that lies beyond
        moved = (x[:, None] + attack.draw(x, seeded())).clamp(0, 1)
        beyond = (model(moved.flatten(0, 1)).argmax(1).view(len(x), -1) != y[:, None]).int()
        assert result.success.equal(beyond.any(1))
        first = torch.where(beyond.any(1), beyond.argmax(1) + 1, 300)
        assert result.passes.equal(first)
    assert result.success.any()


# ---- adversarial training --------------------------------------------------------------------------------
@pytest.mark.parametrize("train_mode", [True, False])
def test_the_hook_attacks_the_network_as_it_trains(train_mode, digits):
    network, x, y = digits
    network = copy.deepcopy(network).train()
    hook = Adversarial(PGD(Linf(0.1), 3, 0.05), train_mode=train_mode)
    averages = network[3].running_mean.clone()
    images = hook(network, x, y, seeded())
    assert all(m.training for m in network.modules()) and all(p.grad is None for p in network.parameters())
    assert ((images - x).abs() <= 0.1 + 1e-6).all() and not images.requires_grad
    # The published code attacks by the batch's own statistics and moves the running averages.
    assert network[3].running_mean.equal(averages) != train_mode
    network.eval()
    frozen = PGD(Linf(0.1), 3, 0.05).propose(network, x, y, Linf(0.1).random(x, seeded()))[0]
    assert torch.allclose(images, frozen, atol=1e-6) != train_mode


# ---- Carlini & Wagner, OptMargin -------------------------------------------------------------------------
def test_carlini_wagner_finds_the_distance_to_a_plane(plane):
    model, x, y, score, w = plane
    result = PATIENT(model, x, y)
    assert result.success.all()
    torch.testing.assert_close(result.distance, score / w.norm(), rtol=0.01, atol=0)


def test_carlini_wagner_finds_the_distance_to_a_sphere():
    centre = torch.full((1, SIDE, SIDE), 0.5)
    model, direction = Sphere(centre, 0.6), torch.randn(5, 1, SIDE, SIDE, generator=seeded())
    radii = torch.tensor([0.1, 0.3, 0.5, 0.7, 0.9])
    x = centre + L2().steepest(direction) * radii.view(-1, 1, 1, 1)
    result = PATIENT(model, x, (radii > 0.6).long())
    torch.testing.assert_close(result.distance, (radii - 0.6).abs(), rtol=0.01, atol=0)


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
def test_confidence_is_a_margin_between_the_logits(plane):
    model, x, y, score, w = plane
    result = dataclasses.replace(PATIENT, confidence=0.5)(model, x, y)
    torch.testing.assert_close(result.distance, (score + 0.5) / w.norm(), rtol=0.01, atol=0)
    assert (model(result.x_adv).diff(dim=1).abs() >= 0.5).all()
    # where no image has the margin nothing is returned, although the class was left on the way
    assert not dataclasses.replace(PATIENT, confidence=1e4, searches=2)(model, x, y).success.any()


@pytest.mark.parametrize("pixel, side", [(0.0, 1), (1.0, -1)])
def test_black_and_white_pixels_move(pixel, side):
    w = torch.ones(1, SIDE, SIDE)
    model, x = Linear(side * w, abs(pixel - 0.25) * w), torch.full((1, 1, SIDE, SIDE), pixel)
    result = CarliniWagner(rate=0.2, c=0.1, searches=8, iterations=300)(model, x, torch.tensor([0]))
    torch.testing.assert_close(result.distance, torch.tensor([0.25 * SIDE]), rtol=0.01, atol=0)


def test_optmargin_goes_as_far_beyond_the_plane_as_its_noise_reaches_back(plane):
    model, x, y, score, w = plane
    attack = OptMargin(rate=0.05, c=0.1, searches=8, iterations=300, noise=0.02, members=20)
    result = attack(model, x, y, generator=seeded())
    noise = attack.noises(x.shape[1:], seeded()).flatten(1)
    back = (noise @ w.flatten())[:, None] * (2 * y - 1)      # how far each member's noise moves it back
    assert result.success.all() and (noise[-1] == 0).all()
    assert (rms(noise[:-1], 0 * noise[:-1]) - 0.02).abs().max() < 1e-6
    torch.testing.assert_close(result.distance, (score + back.amax(0)) / w.norm(), rtol=0.01, atol=0)


@pytest.mark.slow
def test_carlini_wagner_is_at_least_as_near_as_foolbox_without_its_black_images(digits):
    network, x, y = digits
    x, y = x[1:], y[1:]
    result = CarliniWagner(rate=0.1, c=1.0, searches=3, iterations=60, stop="never")(network, x, y)
    peer = foolbox.attacks.L2CarliniWagnerAttack(binary_search_steps=3, steps=60, stepsize=0.1,
                                                 initial_const=1.0, abort_early=False)
    _, adversarial, success = peer(foolbox.PyTorchModel(network, (0, 1), device="cpu"), x, y, epsilons=None)
    success &= adversarial.flatten(1).amax(1) > 0
    assert result.success.sum() >= success.sum()
    both = result.success & success
    assert result.distance[both].mean() <= 1.01 * L2().distance(x, adversarial)[both].mean()


# ---- region classification -------------------------------------------------------------------------------
def test_a_region_votes_for_the_side_most_of_it_lies_on(plane):
    model, x, y, score, w = plane
    region = Region(0.3, samples=400)
    votes = region.votes(model, x, generator=seeded())
    assert (votes.sum(1) == 400).all() and votes.argmax(1).equal(region(model, x, generator=seeded()))
    # w.u of a uniform u in the cube is nearly Gaussian with variance |w|^2 r^2 / 3
    expected = torch.special.ndtr(score / (w.norm() * region.expected_rms))
    torch.testing.assert_close(votes.gather(1, y[:, None]).squeeze(1) / 400, expected, rtol=0, atol=0.1)
    assert region.votes(model, x, generator=seeded(), chunk=3).equal(votes)


def test_samples_stay_in_the_cube_and_a_tie_goes_to_the_lowest_class():
    def model(images):
        assert (images >= 0).all() and (images <= 1).all() and ((images - 0.9).abs() <= 0.3 + 1e-6).all()
        return 2 * torch.eye(3)[torch.arange(len(images)) % 2 + 1]

    region, x = Region(0.3, samples=10), torch.full((1, 1, 4, 4), 0.9)
    assert region.votes(model, x, generator=seeded()).tolist() == [[0, 5, 5]]
    assert region(model, x, generator=seeded()).tolist() == [1]


# ---- directions ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("negatives", [False, True])
def test_directions_are_orthogonal_of_rms_one_with_their_opposites(negatives):
    rows = directions(50, 30, negatives=negatives, generator=seeded())
    assert rows.shape == (60 if negatives else 30, 50) and (not negatives or rows[30:].equal(-rows[:30]))
    torch.testing.assert_close(rows[:30] @ rows[:30].T / 50, torch.eye(30), rtol=0, atol=1e-5)
