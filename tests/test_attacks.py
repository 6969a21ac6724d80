"""attacks: threats, judge, gradient and optimised attacks, region classification."""
import copy
import dataclasses
import warnings

import pytest
import torch
from torch import nn

from report import registry
from shared import runtime
from shared.attacks import judge
from shared.attacks.directions import directions
from shared.attacks.gradient import FGSM, PGD, Adversarial, FGSMSearch
from shared.attacks.iterative import BasicIterative, MomentumIterative
from shared.attacks.line import LineSearch, scalings
from shared.attacks.newton import NewtonFool
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner, OptMargin
from shared.attacks.pointwise import Pointwise
from shared.attacks.region import Region
from shared.attacks.threat import L1, L2, Linf, LinfEuclideanSteps, rms
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
    """A net that computes in float64, so that no decision hangs on the batch's size or on the processor."""

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
    """A small trained net with its test images and labels; some are misclassified."""
    data = sets.load("digits", profile="smoke")
    net = Exact(*registry.build("ren-a", generator=seeded("net"))).double()
    adam, order = torch.optim.Adam(net.parameters(), 2e-3), seeded("order")
    for _ in range(4):
        for rows in torch.randperm(len(data.x_train), generator=order).split(64):
            loss = nn.functional.cross_entropy(net(data.x_train[rows] / 255), data.y_train[rows])
            adam.zero_grad()
            loss.backward()
            adam.step()
    net.eval()
    x, y = data.x_test[:40] / 255, data.y_test[:40].clone()
    y[0] = (y[0] + 1) % 10       # a clean image that counts as misclassified
    return net, x, y


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
    assert (threat.length(threat.steepest(z)) - 1).abs().max() < 1e-5


@pytest.mark.parametrize("threat, expected", [(Linf(0.3), 0.5), (L2(1.5), 2**-0.25), (L1(2.0), 2**-0.25)])
def test_random_starts_fill_the_ball_evenly(threat, expected):
    start = threat.random(torch.zeros(4000, 1, 2, 2), seeded())
    assert (threat.length(start) <= threat.size).all()
    # half of the ball of 4 dimensions lies within 2^(-1/4) of its radius; a pixel's median is half its range
    share = start[:, 0, 0, 0].abs() if threat.norm == "Linf" else threat.length(start)
    assert abs((share <= expected * threat.size).float().mean() - 0.5) < 0.03
    assert start.mean(0).abs().max() < 0.03 * threat.size


@pytest.mark.parametrize("threat", [L2(1.5), LinfEuclideanSteps(0.3)])
@pytest.mark.parametrize("scale", [1.0, 1e-10, 1e-25])      # the square of the last is 0 in float32
def test_steps_along_a_gradient_have_euclidean_length_1(threat, scale):
    gradient = torch.randn(7, 3, 4, 4, generator=seeded()) * scale
    gradient[0] = 0
    step = threat.steepest(gradient)
    assert (L2().length(step)[1:] - 1).abs().max() < 1e-5 and not step[0].any()
    torch.testing.assert_close(step[1:], L2().steepest(gradient / scale)[1:])


def test_pgd_in_the_l1_ball_goes_on_where_a_value_is_at_its_end():
    net = nn.Sequential(nn.Flatten(), nn.Linear(48, 2))
    x = torch.rand(50, 3, 4, 4, generator=seeded())
    y = net(x).argmax(1)
    result = judge.judge(net, x, y, PGD(L1(8.0), 40, 0.8, random_start=False)(net, x, y).x_adv, L1(8.0))
    moved = (result.x_adv - x).flatten(1).abs()
    assert result.success.all() and (moved > 0).sum(1).max() > 1 and (moved.sum(1) <= 8 + 1e-4).all()


def test_a_search_of_carlini_and_wagner_goes_on_where_its_first_loss_is_huge():
    net = nn.Sequential(nn.Flatten(), nn.Linear(48, 2))
    x = torch.rand(5, 3, 4, 4, generator=seeded())
    y = net(x).argmax(1)
    attack = CarliniWagner(rate=0.05, c=1e3, searches=2, iterations=100)
    assert attack(lambda a: 1e5 * net(a), x, y).success.all()


def test_rms_is_the_length_over_the_root_of_the_dimension():
    x, z = torch.zeros(2, 4, 4, 4), torch.full((2, 4, 4, 4), 0.25)
    assert rms(x, z).tolist() == [0.25, 0.25] and L2().distance(x, z).tolist() == [2.0, 2.0]


# ---- the judge -------------------------------------------------------------------------------------------
def test_the_judge_projects_clips_and_keeps_the_clean_image_of_a_failure(plane):
    model, x, y, score, w = plane
    far = x - 9 * (2 * y - 1).view(-1, 1, 1, 1) * w        # far across the plane: comes back into the ball
    result = judge.judge(model, x, y, far, Linf(0.05))
    assert (result.distance[result.success] <= 0.05 + 1e-6).all()
    assert result.success.equal(model(x.lerp(result.x_adv, 1.0)).argmax(1) != y)
    # black images and nan: a proposal is judged, not believed
    black = judge.judge(model, x, y, torch.zeros_like(x), Linf(0.001))
    assert not black.success.any() and black.x_adv.equal(x) and black.distance.isnan().all()
    lost = judge.judge(model, x, y, torch.full_like(x, torch.nan), L2())
    assert not lost.success.any() and lost.x_adv.equal(x) and lost.was_correct.all()


ATTACKS = {"fgsm": FGSM(Linf(0.2)), "pgd": PGD(Linf(0.1), 5, 0.03), "pgd-l2": PGD(L2(1.5), 5, 0.5),
           "cw": CarliniWagner(rate=0.1, c=1.0, searches=2, iterations=30),
           "optmargin": OptMargin(rate=0.1, c=1.0, searches=2, iterations=20, noise=0.1, members=4),
           "line": LineSearch(count=60), "line-margin": LineSearch(count=30, largest=3.0, loss="margin"),
           "random": RandomSearch(Linf(0.6), 50), "random-l2": RandomSearch(L2(9.0), 50),
           "fgsm-search": FGSMSearch(count=100, beyond=(0.0, 0.02, 0.05)),
           "newton": NewtonFool((0.01, 0.1), 30), "bim-l1": BasicIterative("L1", (0.02, 0.3), halvings=4),
           "bim-l2": BasicIterative("L2", halvings=4),
           "bim": BasicIterative(epsilon=(0.05, 0.2), halvings=4), "mi": MomentumIterative(halvings=4),
           "pointwise": Pointwise(levels=10, repetitions=2, halvings=3, rounds=2),
           "cw-sweep": CarliniWagner(rate=0.1, c=(0.5, 2.0), confidence=(0.0, 0.4, 2.0), searches=2,
                                     iterations=30, probability=0.5)}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_every_attack_keeps_inputs_mode_and_seed_and_forgets_the_batch(attack, digits):
    net, x, y = digits
    net = copy.deepcopy(net)
    net[2].train()                                          # a mixture of modes
    before, modes = copy.deepcopy(net.state_dict()), [m.training for m in net.modules()]
    x_before, y_before = x.clone(), y.clone()
    whole = attack(net, x, y, generator=seeded())
    assert x.equal(x_before) and y.equal(y_before) and [m.training for m in net.modules()] == modes
    assert all(value.equal(before[key]) for key, value in net.state_dict().items())
    assert all(p.grad is None for p in net.parameters())
    again = attack(net, x, y, generator=seeded())
    assert again.x_adv.equal(whole.x_adv)
    parts = attack(net, x, y, generator=seeded(), chunk=7)
    assert parts.success.equal(whole.success) and parts.passes.equal(whole.passes)
    torch.testing.assert_close(parts.distance, whole.distance, rtol=0, atol=1e-4, equal_nan=True)
    # what is said of the result is so
    assert whole.success.any() and not whole.was_correct[0] and whole.was_correct[1:].any()
    assert whole.success.equal(net.eval()(whole.x_adv).argmax(1) != y)
    success, measured = whole.success, attack.threat.distance(x, whole.x_adv)
    assert (whole.x_adv >= 0).all() and (whole.x_adv <= 1).all() and whole.x_adv[~success].equal(x[~success])
    assert whole.distance[success].equal(measured[success]) and whole.distance[~success].isnan().all()


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_no_images_give_an_empty_result(attack, digits):
    net, x, y = digits
    assert attack(net, x[:0], y[:0], generator=seeded()).x_adv.shape == (0, 1, 28, 28)


# ---- what is refused -------------------------------------------------------------------------------------
REFUSED = [
    (lambda net, x, y: (net, x * 255, y), r"pixels lie in \[0, 255\]; \[0, 1\] is needed"),
    (lambda net, x, y: (net, x + torch.nan, y), "pixels lie in"),
    (lambda net, x, y: (net, (x * 255).byte(), y), "images are torch.uint8"),
    (lambda net, x, y: (net, x[0], y), r"float32 \[N, C, H, W\]"),
    (lambda net, x, y: (nn.Sequential(net, nn.Softmax(1)), x, y), "returns probabilities"),
    (lambda net, x, y: (lambda z: net(z) / 0, x, y), "nan or infinite logits"),
    (lambda net, x, y: (lambda z: net(z)[:, None], x, y), r"the model returns torch.float32 \[40, 1, 10\]"),
]
REFUSED_LABELS = [
    (lambda net, x, y: (net, x, y + 1), "labels lie in 1..10, but the model has 10 classes: 0..9"),
    (lambda net, x, y: (net, x, y - 1), "labels lie in -1..8, but the model has 10 classes: 0..9"),
    (lambda net, x, y: (net, x, y.float()), "labels are torch.float32"),
    (lambda net, x, y: (net, x, y[:3]), r"int64 \[40\] is needed"),
]


@pytest.mark.parametrize("look", [*ATTACKS.values(), Region(0.3)], ids=[*ATTACKS, "region"])
def test_a_model_that_is_not_finite_off_the_image_is_named(look, digits):
    net, x, y = digits
    seen = []

    def broken(z):
        seen.append(len(z))
        return net(z) if sum(seen) <= len(x) else net(z) / 0

    labels = () if isinstance(look, Region) else (y,)
    with pytest.raises(runtime.UserError, match="nan or infinite logits"):
        look(broken, x, *labels, generator=seeded())


# All attacks check their images in one place: one attack meets every case, the others one.
@pytest.mark.parametrize("attack, change, said", [
    *((next(iter(ATTACKS)), *case) for case in REFUSED + REFUSED_LABELS),
    *((name, *REFUSED[0]) for name in ATTACKS)])
def test_what_cannot_be_attacked_is_named_in_one_line(change, said, attack, digits):
    with pytest.raises(runtime.UserError, match=said) as error:
        ATTACKS[attack](*change(*digits), generator=seeded())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("change, said", REFUSED)
def test_what_no_region_can_be_counted_around_is_named_in_one_line(change, said, digits):
    model, x, _ = change(*digits)
    with pytest.raises(runtime.UserError, match=said) as error:
        Region(0.3)(model, x, generator=seeded())
    assert "\n" not in str(error.value)


def test_the_judge_refuses_proposals_of_another_shape(digits):
    net, x, y = digits
    with pytest.raises(runtime.UserError, match=r"\[39, 1, 28, 28\] on cpu; float32 \[40, 1, 28, 28\]"):
        judge.judge(net, x, y, x[1:], L2())


@pytest.mark.parametrize("make, said", [
    (lambda: Linf(0.0), "size 0.0: a size above 0"), (lambda: FGSM(Linf()), "need a bound"),
    (lambda: PGD(L2(), 5, 0.1), "need a bound"),
    (lambda: PGD(Linf(0.1), 0, 0.1), "steps=0"), (lambda: PGD(Linf(0.1), 5, 0.0), "step=0.0"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, iterations=0), "iterations=0"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, searches=0), "searches=0"),
    (lambda: CarliniWagner(rate=0.0, c=0.1), "rate=0.0"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, reach=0.5), "reach=0.5"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, stop="soon"), "'soon'; allowed: image, batch, never"),
    (lambda: CarliniWagner(rate=0.1, c=0.0), "c=0.0"),
    (lambda: CarliniWagner(rate=0.1, c=1e10), r"c below 1e\+10"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, scale=0.0), "scale=0.0"),
    (lambda: CarliniWagner(rate=0.1, c=0.1, confidence=-1.0), "confidence=-1.0"),
    (lambda: OptMargin(rate=0.1, c=0.1, members=0), "members=0"),
    (lambda: OptMargin(rate=0.1, c=0.1, noise=0.0), "noise=0.0"), (lambda: Region(0.0), "radius=0.0"),
    (lambda: Region(0.3, samples=0), "samples=0"),
    (lambda: LineSearch(count=1), "count=1"), (lambda: LineSearch(largest=0.0), "largest=0.0"),
    (lambda: LineSearch(largest=float("inf")), "largest=inf"),
    (lambda: LineSearch(loss="hinge"), "'hinge'; allowed: squared, margin"),
    (lambda: FGSMSearch(count=0), "count=0"), (lambda: FGSMSearch(beyond=(0.1, 1.0)), "from 0 and below 1"),
    (lambda: NewtonFool(steps=0), "steps=0"), (lambda: NewtonFool((0.1, 0.0)), "eta above 0"),
    (lambda: BasicIterative("L3"), "unknown norm 'L3'; allowed: L1, L2, Linf"),
    (lambda: BasicIterative(epsilon=(0.1, 0.0)), "sizes above 0"),
    (lambda: BasicIterative(halvings=-1), "halvings=-1: 1, 1 and 0 are the least"),
    (lambda: MomentumIterative(probability=1.0), "probability=1.0"),
    (lambda: Pointwise(rounds=0), "rounds=0: 1 is the least"),
    (lambda: Pointwise(probability=-0.1), "probability=-0.1: from 0 and below 1"),
    (lambda: CarliniWagner(rate=0.1, c=(1.0, 0.0)), r"c=\(1.0, 0.0\)"),
    (lambda: CarliniWagner(rate=0.1, c=1.0, probability=1.0), "probability=1.0: from 0 and below 1"),
    (lambda: RandomSearch(Linf(0.1), 0), "draws=0"), (lambda: RandomSearch(L2()), "L2 ball of size inf"),
    (lambda: directions(9, 0, generator=seeded()), "0 orthogonal directions in 9 dimensions: from 1 to 9"),
    (lambda: Adversarial(PGD(Linf(0.1, targeted=True), 5, 0.1)), "untargeted"),
    (lambda: directions(9, 10, generator=seeded()), "10 orthogonal directions in 9 dimensions"),
])
def test_settings_out_of_range_are_named(make, said):
    with pytest.raises(runtime.UserError, match=said):
        make()


def test_chance_and_targets_are_asked_for(digits):
    net, x, y = digits
    with pytest.raises(runtime.UserError, match="pass generator"):
        PGD(Linf(0.1), 5, 0.03)(net, x, y)
    with pytest.raises(runtime.UserError, match="pass generator"):
        OptMargin(rate=0.1, c=1.0)(net, x, y)
    with pytest.raises(runtime.UserError, match="pass generator"):
        RandomSearch(Linf(0.1))(net, x, y)
    with pytest.raises(runtime.UserError, match="pass generator"):
        Pointwise()(net, x, y)
    with pytest.raises(runtime.UserError, match="a targeted threat needs target="):
        FGSM(Linf(0.1, targeted=True))(net, x, y)
    with pytest.raises(runtime.UserError, match="a targeted threat needs target="):
        FGSM(Linf(0.1))(net, x, y, target=y)


@pytest.mark.parametrize("change, said", [
    (lambda y: y + 10, r"lie in 1\d..19, but the model has 10 classes"),
    (lambda y: y[:3], r"targets are .* \[3\]"), (lambda y: y.float(), "targets are torch.float32")])
def test_a_target_that_is_no_class_is_named(change, said, digits):
    net, x, y = digits
    attack = FGSM(Linf(0.1, targeted=True))
    with pytest.raises(runtime.UserError, match=said):
        attack(net, x, y, target=change(y))


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
    net, x, y = digits
    x, y = x[1:], y[1:]
    target = (y + 1) % 10
    reached = PGD(Linf(0.4, targeted=True), 40, 0.05, random_start=False)(net, x, y, target=target)
    assert reached.success.float().mean() > 0.5
    assert net(reached.x_adv).argmax(1)[reached.success].equal(target[reached.success])
    reached = CarliniWagner(rate=0.1, c=1.0, iterations=100, targeted=True)(net, x, y, target=target)
    assert reached.success.all() and net(reached.x_adv).argmax(1).equal(target)


@pytest.mark.parametrize("ours, theirs", [
    (FGSM(Linf(0.1)), foolbox.attacks.LinfFastGradientAttack(random_start=False)),
    (PGD(Linf(0.02), 10, 0.004, random_start=False),
     foolbox.attacks.LinfPGD(abs_stepsize=0.004, steps=10, random_start=False)),
    (PGD(L2(0.4), 10, 0.1, random_start=False),
     foolbox.attacks.L2PGD(abs_stepsize=0.1, steps=10, random_start=False)),
], ids=("fgsm", "pgd-linf", "pgd-l2"))
def test_gradient_attacks_agree_with_foolbox(ours, theirs, digits):
    net, x, y = digits
    result = ours(net, x, y)
    fooled = foolbox.PyTorchModel(net, (0, 1), device="cpu")
    _, adversarial, success = theirs(fooled, x, y, epsilons=ours.threat.size)
    assert 0 < success.sum() < len(x) and (result.success != success).sum() <= 1
    both = result.success & success
    off = result.distance - ours.threat.distance(x, adversarial)
    assert (off[both].abs() > 1e-5).sum() <= 1      # at a kink of the network one path may part from it


def test_more_steps_and_larger_balls_find_more(digits):
    net, x, y = digits
    found = [PGD(Linf(size), steps, size / 4)(net, x, y, generator=seeded()).success.sum()
             for size, steps in ((0.02, 1), (0.02, 10), (0.04, 10))]
    assert found[0] < found[1] < found[2]


# ---- along a line, at random -----------------------------------------------------------------------------
@pytest.mark.parametrize("loss", ["squared", "margin"])
@pytest.mark.parametrize("targeted", [False, True])
def test_a_line_search_ends_at_the_first_step_beyond_the_plane(targeted, loss, plane):
    model, x, y, score, w = plane
    attack = LineSearch(count=201, largest=0.5, loss=loss, targeted=targeted)
    goal = {"target": 1 - y} if targeted else {}
    sizes, result = scalings(201, 0.5), attack(model, x, y, **goal)
    first = torch.searchsorted(sizes, score / w.norm())
    assert (first > 1).all() and result.success.all() and result.passes.equal(1 + first)
    torch.testing.assert_close(result.distance, sizes[first], rtol=0, atol=1e-5)
    # a line too short for all but the nearest tries every step of it
    short = dataclasses.replace(attack, count=11, largest=float(sizes[first.min()]))(model, x, y, **goal)
    assert short.success.equal(first == first.min()) and (short.passes[~short.success] == 11).all()


@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient")
def test_without_a_gradient_there_is_no_line():
    def flat(images):
        return torch.tensor([1.0, 2.0]) + 0 * images.flatten(1).sum(1, keepdim=True)

    result = LineSearch()(flat, torch.rand(3, 1, 4, 4, generator=seeded()), torch.tensor([1, 0, 1]))
    assert result.success.tolist() == [False, True, False] and result.passes.tolist() == [1, 1, 1]


@pytest.mark.parametrize("targeted", [False, True])
@pytest.mark.parametrize("threat", [Linf, L2])
def test_random_points_succeed_only_beyond_the_plane(threat, targeted, plane):
    model, x, y, score, w = plane
    distance = score / (w.abs().sum() if threat is Linf else w.norm())
    goal = {"target": 1 - y} if targeted else {}
    for size, most in ((float(distance.median()), 0.6), (20 * float(distance.max()), 1.1)):
        attack = RandomSearch(threat(size, targeted), 300)
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
def test_the_hook_gives_the_attack_on_the_net_as_it_trains(train_mode, digits):
    net, x, y = digits
    net = copy.deepcopy(net).train()
    hook = Adversarial(PGD(Linf(0.1), 3, 0.05), train_mode=train_mode)
    averages = net[3].running_mean.clone()
    images = hook(net, x, y, seeded())
    assert net.training and all(m.training for m in net.modules())
    assert ((images - x).abs() <= 0.1 + 1e-6).all() and (images >= 0).all() and (images <= 1).all()
    assert not images.requires_grad and all(p.grad is None for p in net.parameters())
    # the original attacks by the batch's own statistics and moves the running averages
    assert net[3].running_mean.equal(averages) != train_mode
    net.eval()
    alone = PGD(Linf(0.1), 3, 0.05).propose(net, x, y, Linf(0.1).random(x, seeded()))[0]
    assert torch.allclose(images, alone, atol=1e-6) != train_mode


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


def test_confidence_is_a_margin_between_the_logits(plane):
    model, x, y, score, w = plane
    result = dataclasses.replace(PATIENT, confidence=0.5)(model, x, y)
    torch.testing.assert_close(result.distance, (score + 0.5) / w.norm(), rtol=0.01, atol=0)
    assert (model(result.x_adv).diff(dim=1).abs() >= 0.5).all()
    # where no image has the margin nothing is returned, although the class was left on the way
    assert not dataclasses.replace(PATIENT, confidence=1e4, searches=2)(model, x, y).success.any()


def test_black_and_white_pixels_move():
    w = torch.ones(1, SIDE, SIDE)
    model, x = Linear(w, w / 4), torch.zeros(1, 1, SIDE, SIDE)
    result = CarliniWagner(rate=0.2, c=0.1, searches=8, iterations=300)(model, x, torch.tensor([0]))
    torch.testing.assert_close(result.distance, torch.tensor([0.25 * SIDE]), rtol=0.01, atol=0)
    model, x = Linear(-w, w * 3 / 4), torch.ones(1, 1, SIDE, SIDE)
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


def test_the_noise_is_one_draw_orthogonal_and_unclipped(plane):
    model, x, y, _, _ = plane
    seen = []

    def watched(images):
        seen.append(images.detach().clone())
        return model(images)

    attack = OptMargin(rate=0.05, c=0.1, searches=1, iterations=2, noise=0.8, members=5)
    attack(watched, x, y, generator=seeded())
    copies = next(images for images in seen if len(images) == 5 * len(x)).view(len(x), 5, -1)
    noise = copies - copies[:, -1:]
    torch.testing.assert_close(noise[0], noise[3], rtol=0, atol=1e-6)
    gram = noise[0] @ noise[0].T / SIDE**2
    torch.testing.assert_close(gram, torch.diag(torch.tensor([0.64] * 4 + [0.0])), rtol=0, atol=1e-5)
    assert copies.min() < 0 and copies.max() > 1


def test_carlini_wagner_is_at_least_as_near_as_foolbox_without_its_black_images(digits):
    net, x, y = digits
    x, y = x[1:], y[1:]
    ours = CarliniWagner(rate=0.1, c=1.0, searches=3, iterations=60, stop="never")(net, x, y)
    theirs = foolbox.attacks.L2CarliniWagnerAttack(binary_search_steps=3, steps=60, stepsize=0.1,
                                                   initial_const=1.0, abort_early=False)
    _, adversarial, success = theirs(foolbox.PyTorchModel(net, (0, 1), device="cpu"), x, y, epsilons=None)
    success &= adversarial.flatten(1).amax(1) > 0
    assert ours.success.sum() >= success.sum()
    both = ours.success & success
    assert ours.distance[both].mean() <= 1.01 * L2().distance(x, adversarial)[both].mean()


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
        left = (images[:, 0, 0, 0] < images[:, 0, 0, 0].median()).float()
        return torch.stack([torch.full_like(left, -1.0), left, 1 - left], 1)

    x = torch.full((1, 1, 4, 4), 0.9)
    votes = Region(0.3, samples=1).votes(model, x, generator=seeded())
    assert votes.tolist() == [[0, 0, 1]]
    tied = Region(0.3, samples=10)

    def in_turn(images):
        return 2 * torch.eye(3)[torch.arange(len(images)) % 2 + 1]

    assert tied.votes(in_turn, x, generator=seeded()).tolist() == [[0, 5, 5]]
    assert tied(in_turn, x, generator=seeded()).tolist() == [1]


# ---- directions ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("negatives", [False, True])
def test_directions_are_orthogonal_of_rms_one_with_their_opposites(negatives):
    rows = directions(50, 30, negatives=negatives, generator=seeded())
    assert rows.shape == (60 if negatives else 30, 50) and (not negatives or rows[30:].equal(-rows[:30]))
    torch.testing.assert_close(rows[:30] @ rows[:30].T / 50, torch.eye(30), rtol=0, atol=1e-5)
