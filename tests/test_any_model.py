"""Any model, as it comes: one that writes into its input, has no usable gradient, other types, own outputs.

Each test goes over every instrument that it can concern.
"""
import pytest
import torch
from torch import nn

from shared import borderline, inference, roby
from shared import regions as boxes
from shared.attacks.directions import directions
from shared.attacks.gradient import FGSM, PGD, Adversarial, FGSMSearch
from shared.attacks.iterative import BasicIterative, MomentumIterative
from shared.attacks.judge import judge
from shared.attacks.line import LineSearch, gradients, squared_error
from shared.attacks.newton import NewtonFool
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner, OptMargin
from shared.attacks.pointwise import Pointwise
from shared.attacks.region import Region
from shared.attacks.threat import L1, L2, Linf
from shared.boundary.survey import refine, strewn, survey
from shared.susceptibility import susceptibility


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def network(outputs=3, seed=0):
    """A small network for images of 3 x 12 x 12."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(),
                             nn.Linear(400, outputs)).eval().to(torch.float32)


NET = network()
X = torch.rand(6, 3, 12, 12, generator=seeded(), dtype=torch.float32)
Y = inference.labels(NET, X)
BALL = Linf(0.05)
FROM_GRADIENTS = {
    "FGSM": FGSM(BALL), "FGSMSearch": FGSMSearch(20, 5), "PGD": PGD(L2(0.5), 3, 0.2),
    "PGD L1": PGD(L1(2.0), 3, 1.0), "BasicIterative": BasicIterative(growths=3, halvings=3, iterations=4),
    "MomentumIterative": MomentumIterative("L2", growths=3, halvings=3, iterations=4),
    "NewtonFool": NewtonFool(0.1, 5), "LineSearch": LineSearch(12, loss="margin"),
    "CarliniWagner": CarliniWagner(rate=0.05, c=1.0, searches=2, iterations=8),
    "OptMargin": OptMargin(rate=0.05, c=1.0, searches=2, iterations=8, members=3)}
ATTACKS = FROM_GRADIENTS | {"RandomSearch": RandomSearch(Linf(0.2), 8),
                            "Pointwise": Pointwise(levels=5, repetitions=1, halvings=2, rounds=1)}


def found_by_survey(model, x):
    dirs = directions(432, 3, generator=seeded())
    first = survey(model, x, dirs, step=0.1, top=0.5)
    return first, refine(model, x, dirs, first, halvings=2).distance, strewn(x, dirs, 3, top=0.5,
                                                                             generator=seeded())


INSTRUMENTS = {     # name: (model, images, classes) -> what it gives
    **{name: lambda m, x, y, a=a: a(m, x, y, generator=seeded()) for name, a in ATTACKS.items()},
    "judge": lambda m, x, y: judge(m, x, y, 1 - x, L2(9.0)),
    "susceptibility": lambda m, x, y: susceptibility(m, x, y, generator=seeded(), draws=4, count=8),
    "Region": lambda m, x, y: Region(0.1, 5).votes(m, x, generator=seeded()),
    "survey": lambda m, x, y: found_by_survey(m, x),
    "search": lambda m, x, y: borderline.search(m, x, 1 - x, max_iterations=3),
    "accuracy": lambda m, x, y: inference.accuracy(m, x, y),
    "logits": lambda m, x, y: inference.logits(m, x),
    "margins": lambda m, x, y: inference.margins(m, x, y),
    "Careful": lambda m, x, y: inference.logits(inference.Careful.measured(m, x, y), x),
    "gradients": lambda m, x, y: gradients(m, x, y, squared_error),
    "sweep": lambda m, x, y: boxes.sweep(m, x[:1], y[:1], PGD(L2(20), 3, 8), count=4, generator=seeded()),
    "plane": lambda m, x, y: boxes.plane([m], x[:1], x[1:2], x[2:3], reach=1.0, size=4),
    "roby": lambda m, x, y: roby.measure(m, x, torch.tensor([0, 1, 2, 0, 1, 2])),
    "embed": lambda m, x, y: roby.embed(m, x),
    "Adversarial": lambda m, x, y: Adversarial(PGD(BALL, 2, 0.03))(m, x, y, seeded())}


def parts(value):
    """The tensors and numbers of a result, in order."""
    if hasattr(value, "__dataclass_fields__"):
        value = list(vars(value).values())
    if isinstance(value, (list, tuple)):
        return [part for each in value for part in parts(each)]
    return [value]


def alike(a, b, within=0.0):
    for one, other in zip(parts(a), parts(b), strict=True):
        if isinstance(one, torch.Tensor):
            torch.testing.assert_close(one, other, rtol=within, atol=within, equal_nan=True)
        else:
            assert one == other or one != one


# ---- the model may write into what it is given -------------------------------------------------------------
def writes(images):
    return NET(images.mul_(7).round_().div_(7))


def writes_not(images):
    return NET((images * 7).round() / 7)


class First(nn.Module):
    """A network whose first layer works in place."""

    def __init__(self, inplace):
        super().__init__()
        self.first, self.net = nn.ReLU(inplace), NET

    def forward(self, images):
        return self.net(self.first(images.sub_(0.2)) if self.first.inplace else self.first(images - 0.2))


@pytest.mark.parametrize("name", INSTRUMENTS)
@pytest.mark.parametrize("inside, outside", [(writes, writes_not), (First(True), First(False))],
                         ids=["rounds", "first layer"])
def test_a_model_may_write_into_its_input(name, inside, outside):
    if name in (*FROM_GRADIENTS, "susceptibility", "gradients", "Adversarial", "sweep") and inside is writes:
        inside = lambda images: NET(images.mul_(7).sub_(1).div_(7))         # noqa: E731
        outside = lambda images: NET((images * 7 - 1) / 7)                  # noqa: E731
    x, y = X.clone(), inference.labels(outside, X)
    kept = y.clone()
    result = INSTRUMENTS[name](inside, x, y)
    assert x.equal(X) and y.equal(kept)
    alike(result, INSTRUMENTS[name](outside, x, y))


# ---- a mode is more than a flag ----------------------------------------------------------------------------
class Merged(nn.Module):
    """Adds its second weights in training mode; `train` merges them into the first, as adapters do."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Flatten(), nn.Linear(432, 3)
        self.weights, self.merged = torch.zeros(432, 3), False
        self.norm = nn.BatchNorm1d(432)

    def train(self, mode=True):
        super().train(mode)
        if self.merged == mode:
            self.weights = self.weights + (-1 if mode else 1) * self.second.weight.detach().T
            self.merged = not mode
        return self

    def forward(self, images):
        hidden = self.norm(self.first(images))
        return hidden @ self.weights + (self.second(hidden) if self.training else 0)


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_a_module_that_acts_when_its_mode_changes_is_told(name):
    torch.manual_seed(0)
    model = Merged()
    model.norm.eval()       # as where its statistics are kept
    y = inference.labels(model.eval(), X)
    right = INSTRUMENTS[name](model, X, y)
    model.train()
    model.norm.eval()
    if name == "Adversarial":
        return alike(Adversarial(PGD(BALL, 2, 0.03), train_mode=False)(model, X, y, seeded()), right, 1e-5)
    alike(INSTRUMENTS[name](model, X, y), right, 1e-5)
    assert model.training and model.second.training and not model.norm.training and not model.merged


# ---- a gradient that is of no use is no robustness -----------------------------------------------------------
def certain(images):
    """Logits so far apart that probabilities are 0 and 1: the loss has no gradient."""
    return 5000 * NET(images)


def rooted(images):
    """A model whose gradient is infinite at black."""
    return NET(images**0.5)


def flat(images):
    """A model without a slope anywhere."""
    return NET(X)[:1].expand(len(images), -1) + 0 * images.flatten(1).sum(1, keepdim=True)


DARK = X.where(X > 0.5, 0.0)


@pytest.mark.parametrize("name", FROM_GRADIENTS)
def test_a_gradient_that_vanishes_is_counted_and_named(name):
    y = inference.labels(flat, X)
    with pytest.warns(inference.NoUsableGradient, match=f"^{type(ATTACKS[name]).__name__}: .* 6 of 6 images"):
        result = INSTRUMENTS[name](flat, X, y)
    assert result.no_gradient.all() and not result.success.any()


@pytest.mark.parametrize("name", ["FGSMSearch", "PGD", "BasicIterative", "MomentumIterative"])
def test_the_margin_s_gradient_takes_the_place_of_one_that_is_zero(name):
    with torch.no_grad():
        margin = inference.margins(certain, X, Y)
    assert (margin > 110).sum() >= 3        # of these the cross-entropy has no gradient
    attack = {"FGSMSearch": FGSMSearch(40), "PGD": PGD(L2(5.0), 10, 1.0),
              "BasicIterative": BasicIterative(halvings=3), "MomentumIterative": MomentumIterative(halvings=3)}[name]
    easy, hard = (attack(m, X, Y, generator=seeded()) for m in (NET, certain))
    assert easy.success.all() and hard.success.all() and not hard.no_gradient.any()


@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient")
@pytest.mark.parametrize("name", [n for n in FROM_GRADIENTS if n != "OptMargin"])     # it leaves [0, 1]
def test_an_infinite_gradient_does_not_end_an_attack(name):
    y = inference.labels(rooted, DARK)
    strong = {"FGSM": FGSM(Linf(0.3)), "PGD": PGD(L2(3.0), 20, 0.3), "PGD L1": PGD(L1(30.0), 20, 3.0),
              "FGSMSearch": FGSMSearch(40), "NewtonFool": NewtonFool(0.5, 60),
              "BasicIterative": BasicIterative(halvings=3), "MomentumIterative": MomentumIterative(halvings=3),
              "LineSearch": LineSearch(100, loss="margin"),
              "CarliniWagner": CarliniWagner(rate=0.1, c=10.0, searches=3, iterations=60)}[name]
    smooth = strong(lambda a: NET((a + 1e-4)**0.5), DARK, y, generator=seeded())
    result = strong(rooted, DARK, y, generator=seeded())
    assert (result.success | result.no_gradient).sum() >= smooth.success.sum() - 1 and result.success.any()


def test_susceptibility_names_a_gradient_that_vanishes():
    with pytest.warns(inference.NoUsableGradient, match="6 of 6 images"):
        assert INSTRUMENTS["susceptibility"](flat, X, inference.labels(flat, X)).vanished.all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ATTACKS)
def test_a_healthy_gradient_is_not_warned_of(name):
    result = INSTRUMENTS[name](NET, X, Y)
    assert result.no_gradient.dtype == torch.bool and not result.no_gradient.any()
