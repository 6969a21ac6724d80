"""Any model, as it comes: one that writes into its input, has no usable gradient, other types, own outputs.

Each test goes over every instrument that it can concern.
"""
import os
import pickle
import re
import shutil
import sys
import tempfile
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
import torch
from torch import nn

from papers.he.classifier import FeaturePairs, train
from papers.he.line_searches import random_points
from papers.shu.attacks.fgsm_search import FGSMSearch
from papers.shu.attacks.iterative import BasicIterative, MomentumIterative
from papers.shu.attacks.newton import NewtonFool
from papers.shu.attacks.pointwise import Pointwise
from shared import borderline, inference, roby, runtime
from shared import regions as boxes
from shared.attacks.directions import directions
from shared.attacks.gradient import FGSM, PGD, Adversarial
from shared.attacks.judge import Attack, judge
from shared.attacks.line import LineSearch, gradients, lost_margin, squared_error
from shared.attacks.noise import RandomSearch, draw
from shared.attacks.optimised import CarliniWagner, OptMargin
from shared.attacks.region import Region
from shared.attacks.square import SquareSearch
from shared.attacks.threat import L1, L2, Linf
from shared.boundary import survey
from shared.data import archives, content, sets
from shared.runtime import UserError
from shared.similarity import ssim
from shared.susceptibility import susceptibility
from shared.training.checkpoint import Checkpoint
from shared.training.fit import fit
from shared.training.recipe import Recipe

CPU = torch.device("cpu")


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def network(outputs=3, seed=0):
    """A small network for images of 3 x 12 x 12."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(),
                             nn.Linear(400, outputs)).eval().to(torch.float32)


NETWORK = network()
EXACT = network().double()      # labels and steps do not depend on the batch
X = torch.rand(6, 3, 12, 12, generator=seeded(), dtype=torch.float32)
Y = inference.labels(NETWORK, X)
BALL = Linf(0.05)
FROM_GRADIENTS = {
    "FGSM": FGSM(BALL), "FGSMSearch": FGSMSearch(20, 5), "PGD": PGD(L2(0.5), 3, 0.2),
    "PGD L1": PGD(L1(2.0), 3, 1.0), "BasicIterative": BasicIterative(growths=3, halvings=3, iterations=4),
    "MomentumIterative": MomentumIterative("L2", growths=3, halvings=3, iterations=4),
    "NewtonFool": NewtonFool(0.1, 5), "LineSearch": LineSearch(12, loss="margin"),
    "CarliniWagner": CarliniWagner(rate=0.05, c=1.0, searches=2, iterations=8),
    "OptMargin": OptMargin(rate=0.05, c=1.0, searches=2, iterations=8, members=3)}
ATTACKS = FROM_GRADIENTS | {"RandomSearch": RandomSearch(Linf(0.2), 8),
                            "SquareSearch": SquareSearch(Linf(0.2), 8),
                            "Pointwise": Pointwise(levels=20, repetitions=1, halvings=1, rounds=1)}


def surveyed(model, x):
    dirs = directions(432, 3, generator=seeded())
    coarse = survey(model, x, dirs, step=0.1, top=0.5)
    return [coarse, random_points(x, dirs, 3, top=0.5, generator=seeded())]


INSTRUMENTS = {     # name: (model, images, labels) -> result
    **{name: lambda m, x, y, a=a: a(m, x, y, generator=seeded()) for name, a in ATTACKS.items()},
    "judge": lambda m, x, y: judge(m, x, y, 1 - x, L2(9.0)),
    "susceptibility": lambda m, x, y: susceptibility(m, x, y, generator=seeded(), draws=4, steps=8),
    "Region": lambda m, x, y: Region(1.0, 9).votes(m, x, generator=seeded()),
    "survey": lambda m, x, y: surveyed(m, x),
    "search": lambda m, x, y: borderline.search(m, x, 1 - x, max_iterations=3),
    "accuracy": lambda m, x, y: inference.accuracy(m, x, y),
    "logits": lambda m, x, y: inference.logits(m, x),
    "labels": lambda m, x, y: inference.labels(m, x),
    "margins": lambda m, x, y: inference.margins(m, x, y),
    "Careful": lambda m, x, y: inference.logits(inference.Careful.measured(m, x, y), x),
    "gradients": lambda m, x, y: gradients(m, x, y, squared_error),
    "sweep": lambda m, x, y: boxes.sweep(m, x[:1], y[:1], PGD(L2(20), 3, 8), count=4, generator=seeded()),
    "rates": lambda m, x, y: boxes.error_rates([m, m], x, y),
    "plane": lambda m, x, y: boxes.plane([m], x[:1], x[1:2], x[2:3], reach=1.0, size=4),
    "roby": lambda m, x, y: roby.measure(m, x, torch.arange(len(x)) % 3),
    "embed": lambda m, x, y: roby.embed(m, x),
    "Adversarial": lambda m, x, y: Adversarial(PGD(BALL, 2, 0.03))(m, x, y, seeded())}


def parts(value):
    """The tensors and numbers of a result, in order."""
    if hasattr(value, "__dataclass_fields__"):
        value = list(vars(value).values())
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in parts(item)]
    return [value]


def alike(a, b, within=0.0):
    for one, other in zip(parts(a), parts(b), strict=True):
        if isinstance(one, torch.Tensor):
            torch.testing.assert_close(one, other, rtol=within, atol=within, equal_nan=True)
        else:
            number = isinstance(one, float)
            assert one == (pytest.approx(other, abs=within, nan_ok=True) if number else other)


def one_line(call, kind, message):
    """The text of the error that the call raises: of this kind, with this message, in one line."""
    with pytest.raises(kind, match=message) as error:
        call()
    assert "\n" not in str(error.value)
    return str(error.value)


# ---- the model may write into what it is given -------------------------------------------------------------
class First(nn.Module):
    """A network whose first layer works in place."""

    def __init__(self, inplace):
        super().__init__()
        self.first = nn.ReLU(inplace)

    def forward(self, images):
        return NETWORK(self.first(images.sub_(0.2) if self.first.inplace else images - 0.2))


@pytest.mark.parametrize("name", INSTRUMENTS)
@pytest.mark.parametrize("inside, outside", [
    (lambda a: NETWORK(a.mul_(7).sub_(1).div_(7)), lambda a: NETWORK((a * 7 - 1) / 7)),
    (First(True), First(False))], ids=["function", "first layer"])
def test_a_model_may_write_into_its_input(name, inside, outside):
    x, y = X.clone(), inference.labels(outside, X)
    before = y.clone()
    result = INSTRUMENTS[name](inside, x, y)
    assert x.equal(X) and y.equal(before)
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


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
@pytest.mark.parametrize("name", INSTRUMENTS)
def test_a_mode_is_changed_by_the_module_s_own_train(name):
    model = Merged()
    model.norm.eval()       # as where its statistics are kept
    y = inference.labels(model.eval(), X)
    expected = INSTRUMENTS[name](model, X, y)
    model.train()
    model.norm.eval()
    if name == "Adversarial":
        return alike(Adversarial(PGD(BALL, 2, 0.03), train_mode=False)(model, X, y, seeded()), expected, 1e-5)
    alike(INSTRUMENTS[name](model, X, y), expected, 1e-5)
    assert model.training and model.second.training and not model.norm.training and not model.merged


# ---- probabilities are no logits ---------------------------------------------------------------------------
MANY = torch.rand(24, 3, 12, 12, generator=seeded(1), dtype=torch.float32)
CENTRE = NETWORK(MANY).mean(0).detach()
SQUASHED = {"sigmoid": lambda s: s.sigmoid(), "100 softmax": lambda s: 100 * s.softmax(1),
            "float16": lambda s: s.softmax(1).half(), "bfloat16": lambda s: s.softmax(1).bfloat16(),
            "in bfloat16": lambda s: s.bfloat16().softmax(1).float(), "of 255": lambda s: 255 * s.softmax(1),
            "clamped": lambda s: s.softmax(1).clamp(1e-3, 0.999), "float64": lambda s: s.double().softmax(1)}
# The others ask for labels alone, which a softmax does not change, or give what the model gives.
OF_LOGITS = [n for n in INSTRUMENTS if n not in ("search", "accuracy", "logits", "labels", "rates", "plane",
                                                 "embed", "Adversarial", "sweep")]


def sharp(images):
    """Logits as far apart as those of a trained network, each class above 0 on about half of the images."""
    return 150 * (NETWORK(images) - CENTRE)


@pytest.mark.parametrize("name, squash", [*((n, s) for n in OF_LOGITS for s in ("sigmoid", "bfloat16")),
                                          *((n, s) for n in ("PGD", "roby") for s in SQUASHED)])
def test_squashed_outputs_are_refused(name, squash):
    one_line(lambda: INSTRUMENTS[name](lambda a: SQUASHED[squash](sharp(a)), MANY, torch.arange(24) % 3),
             inference.Probabilities, "leave its softmax or sigmoid out")


@pytest.mark.parametrize("name", [n for n in INSTRUMENTS if n not in (
    "logits", "embed", "Adversarial", "sweep", "roby", "plane")])
def test_one_sigmoid_is_refused(name):
    def sigmoid(images):        # class 1 everywhere, read as a logit
        return sharp(images)[:, :1].sigmoid()

    y = torch.arange(24) % 2
    one_line(lambda: INSTRUMENTS[name](sigmoid, MANY, y), inference.Probabilities, "sigmoid")


@pytest.mark.parametrize("squash", [
    lambda s: s.relu(), lambda s: 100 * s.sigmoid(), lambda s: (s / 99).sigmoid()],
    ids=["relu", "100 sigmoid", "flat sigmoid"])
def test_what_may_be_logits_is_warned_of(squash):
    for name in ("judge", "roby"):
        with pytest.warns(inference.PerhapsProbabilities, match="no output is negative, as"):
            INSTRUMENTS[name](lambda a: squash(sharp(a)), MANY, torch.arange(24) % 3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("model", [
    sharp, NETWORK, lambda a: 1e-4 * NETWORK(a), lambda a: sharp(a).log_softmax(1),
    lambda a: sharp(a).tanh()],
    ids=["sharp", "plain", "small", "log", "tanh"])
def test_logits_are_taken_for_logits(model):
    assert inference.checked_logits(model, MANY).shape == (24, 3)
    inference.checked_logits(lambda a: NETWORK(a) + 9, MANY[:1].expand(24, -1, -1, -1))     # of one image


# ---- two threads, memory that ends, settings of single images ----------------------------------------------
@pytest.fixture
def turns():
    """Whether threads take turns after each few operations."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("inner", [lambda m: m, lambda m: nn.Sequential(nn.Identity(), m), lambda m: m[2]],
                         ids=["one model", "inside another", "a part of it"])
def test_threads_share_a_model_that_is_in_training_mode(inner, turns):
    model = nn.Sequential(nn.Flatten(), nn.Dropout(), nn.Sequential(nn.Dropout(), nn.BatchNorm1d(432)))
    model[2][1].eval()
    other, trained = inner(model), []

    def evaluate(own):
        for _ in range(150):
            with inference.frozen(own):
                trained.extend(m.training for m in own.modules())
    threads = [threading.Thread(target=evaluate, args=[own]) for own in (model, other, model, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(trained) > 1000 and not any(trained)
    assert [m.training for m in model.modules()] == [True, True, True, True, True, False]
    assert not inference._frozen


def test_threads_run_every_instrument_on_a_model_in_training_mode():
    """One that met its dropout would give something else; adversarial training is meant to."""
    model = nn.Sequential(nn.Dropout(0.2), *network()).train()
    names = [name for name in INSTRUMENTS if name != "Adversarial"]
    with ThreadPoolExecutor(4) as pool:
        results = dict(zip(names, pool.map(lambda name: INSTRUMENTS[name](model, X, Y), names)))
    for name, result in results.items():
        alike(result, INSTRUMENTS[name](NETWORK, X, Y), 1e-5)
    assert all(m.training for m in (model, model[0]))


class Half(nn.Module):
    """Keeps a scale in float64 and a first layer in bfloat16, and takes float32 images."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.full((1,), 0.5, dtype=torch.float64))
        self.first, self.rest = nn.Conv2d(3, 4, 3).bfloat16(), network()[1:]

    def forward(self, images):
        assert images.dtype == torch.float32
        return self.rest(self.first((self.scale.float() * images).bfloat16()).float())


def exported(*parts):
    model = nn.Sequential(NETWORK, *parts).eval()
    batch = {0: torch.export.Dim("batch", min=2)}
    return torch.export.export(model, (X[:4],), dynamic_shapes=[batch]).module()


SCRIPTED = {"scripted": lambda: torch.jit.script(network()),
            "frozen": lambda: torch.jit.freeze(torch.jit.script(network())),
            "optimised": lambda: torch.jit.optimize_for_inference(torch.jit.script(network())),
            "traced": lambda: torch.jit.trace(network(), X), "exported": exported,
            "exported, inside": lambda: nn.Sequential(exported(), nn.Dropout())}    # in training mode


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning", "ignore:.*torch.jit:FutureWarning")
@pytest.mark.parametrize("kind", SCRIPTED)
def test_what_has_no_mode_is_left_alone(kind):
    model = SCRIPTED[kind]()
    modes = [getattr(m, "training", None) for m in model.modules()]
    for name in ("labels", "PGD", "roby", "search"):
        if kind == "optimised" and name == "PGD":
            one_line(lambda: INSTRUMENTS["PGD"](model, X, Y), inference.NoGradient, "no gradient")
            continue
        alike(INSTRUMENTS[name](model, X, Y), INSTRUMENTS[name](NETWORK, X, Y), 1e-4)
    assert [getattr(m, "training", None) for m in model.modules()] == modes


def test_weights_of_several_types_are_asked_as_directly():
    model = Half().eval()
    torch.testing.assert_close(inference.logits(model, X), model(X).detach())
    PGD(BALL, 2, 0.03)(model, X, model(X).argmax(1), generator=0)
    # as mixed precision often is: batch normalisation alone in float32
    half = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(400, 3)).bfloat16()
    half[1].float()
    assert inference.logits(half.eval(), X).equal(half(X.bfloat16()).float())
    for kind in (torch.float64, torch.bfloat16):
        mixed = nn.Sequential(nn.Conv2d(3, 4, 3).to(kind), nn.Flatten(), nn.Linear(400, 3)).eval()
        one_line(lambda m=mixed: inference.logits(m, X), inference.WrongType, r"adapt\(model, dtype=...\)")


@pytest.mark.parametrize("name", ["logits", "labels", "margins", "judge", "roby", "embed", "FGSM", "PGD",
                                  "PGD L1"])
def test_a_model_may_take_batches_of_one_size(name):
    def fixed(images):
        assert len(images) == 3, "three images at a time"
        return NETWORK(images)

    calls = {"logits": lambda m: inference.logits(m, X, chunk=3),
             "labels": lambda m: inference.labels(m, X, chunk=3),
             "margins": lambda m: inference.margins(m, X, Y, chunk=3),
             "judge": lambda m: judge(m, X, Y, 1 - X, L2(9.0), chunk=3),
             "roby": lambda m: roby.measure(m, X, torch.arange(6) % 3, chunk=3),
             "embed": lambda m: roby.embed(m, X, chunk=3)}
    call = calls.get(name) or (lambda m: ATTACKS[name](m, X, Y, generator=seeded(), chunk=3))
    alike(call(fixed), call(NETWORK), 1e-5)


def test_a_model_that_depends_on_the_batch_is_found_whatever_the_chunk():
    model = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(432), nn.Linear(432, 3)).train()
    for chunk in (None, 2, 3, 6):
        one_line(lambda chunk=chunk: inference.checked_logits(lambda a: model(a), X, chunk=chunk),
                 inference.Unsteady, "in other batches")


def test_a_block_that_ends_inside_another_leaves_its_mode():
    model = nn.Sequential(nn.Dropout(), nn.Flatten()).train()
    with inference.frozen(model[0]):
        with inference.frozen(model):
            assert not model.training
        assert not model[0].training        # held by the outer block
    assert all(m.training for m in model.modules())


@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient", "ignore::shared.inference.NoExample")
@pytest.mark.parametrize("name", [n for n in INSTRUMENTS if n != "Adversarial"])    # a batch is what it is
@pytest.mark.parametrize("where", ["in the model", "after a chunk"])
def test_memory_that_ends_changes_no_result(name, where, monkeypatch):
    """The model has memory for three images from its third call on; or what a chunk has drawn is lost."""
    calls, whole = 0, runtime.chunked

    def exact(images):
        return EXACT(images.double()).float()

    def model(images):
        nonlocal calls
        calls += 1
        if where == "in the model" and len(images) > 3 and calls > 2:
            raise torch.OutOfMemoryError("simulated")
        return exact(images)

    def chunked(function, *tensors, chunk):
        def once(*parts):
            result = function(*parts)
            if len(parts[0]) > 1:
                raise torch.OutOfMemoryError("simulated")
            return result
        return whole(once, *tensors, chunk=chunk)

    y = inference.labels(EXACT, X)
    expected = INSTRUMENTS[name](exact, X, y)
    if where == "after a chunk":
        monkeypatch.setattr(runtime, "chunked", chunked)
    alike(INSTRUMENTS[name](model, X, y), expected, 1e-4)


@dataclass(frozen=True)
class Shifted(Attack):
    """Has tuples of both sorts."""
    threat: Linf = BALL
    mean: tuple = (0.5, 0.4, 0.3)
    sizes: tuple = (0.1, 0.2)
    per_image = ("sizes",)

    def propose(self, model, x, goal, draw):
        assert self.mean == (0.5, 0.4, 0.3) and self.sizes.tolist() == pytest.approx([0.1, 0.2] * 3)
        return x, torch.ones_like(goal)


def test_only_declared_fields_hold_values_of_single_images():
    Shifted()(NETWORK, X, Y)
    one_line(lambda: Shifted(sizes=())(NETWORK, X, Y), UserError, "Shifted.sizes is an empty tuple")
    for attack in ATTACKS.values():
        assert {f.name for f in fields(attack)} >= set(attack.per_image)


# ---- a gradient of no use shows no robustness -------------------------------------------------------------
def certain(images):
    """Logits so far apart that probabilities are 0 and 1: the loss has no gradient."""
    return 5000 * NETWORK(images)


def rooted(images):
    """A model whose gradient is infinite at black."""
    return NETWORK(images**0.5)


def flat(images):
    """A model without a slope anywhere."""
    return NETWORK(X)[:1].expand(len(images), -1) + 0 * images.flatten(1).sum(1, keepdim=True)


DARK = X.where(X > 0.5, 0.0)


@pytest.mark.parametrize("name", FROM_GRADIENTS)
def test_a_gradient_that_vanishes_is_counted_and_named(name):
    y = inference.labels(flat, X)
    with pytest.warns(inference.NoUsableGradient, match=f"^{type(ATTACKS[name]).__name__}: .* 6 of 6 images"):
        result = INSTRUMENTS[name](flat, X, y)
    assert result.no_gradient.all() and not result.success.any()


@pytest.mark.parametrize("attack", [
    FGSMSearch(40), PGD(L2(5.0), 10, 1.0), BasicIterative(halvings=3), MomentumIterative(halvings=3)],
    ids=lambda a: type(a).__name__)
def test_the_margin_s_gradient_replaces_one_that_is_zero(attack):
    with torch.no_grad():
        margin = inference.margins(certain, X, Y)
    assert (margin > 110).sum() >= 3        # of these the cross-entropy has no gradient
    easy, hard = (attack(m, X, Y, generator=seeded()) for m in (NETWORK, certain))
    assert easy.success.all() and hard.success.all() and not hard.no_gradient.any()


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient")
@pytest.mark.parametrize("attack", [       # without OptMargin, which leaves [0, 1]
    FGSM(Linf(0.3)), PGD(L2(3.0), 20, 0.3), PGD(L1(30.0), 20, 3.0), FGSMSearch(40), NewtonFool(0.5, 60),
    BasicIterative(halvings=3), MomentumIterative(halvings=3), LineSearch(100, loss="margin"),
    CarliniWagner(rate=0.1, c=10.0, searches=3, iterations=60)], ids=lambda a: type(a).__name__)
def test_an_infinite_gradient_does_not_end_an_attack(attack):
    y = inference.labels(rooted, DARK)
    smooth = attack(lambda a: NETWORK((a + 1e-4)**0.5), DARK, y, generator=seeded())
    result = attack(rooted, DARK, y, generator=seeded())
    assert (result.success | result.no_gradient).sum() >= smooth.success.sum() - 1 and result.success.any()


def test_susceptibility_names_a_gradient_that_vanishes():
    with pytest.warns(inference.NoUsableGradient, match="6 of 6 images"):
        assert INSTRUMENTS["susceptibility"](flat, X, inference.labels(flat, X)).vanished.all()


@pytest.mark.filterwarnings("error")
def test_noise_that_leaves_0_and_1_is_named_and_may_be_cut():
    def rooted(images):         # nan below 0
        return NETWORK((images + 1e-4) ** 0.5)

    y = inference.labels(rooted, X)
    for loss in (squared_error, lost_margin):
        one_line(lambda loss=loss: susceptibility(rooted, X, y, generator=0, draws=4, steps=8, loss=loss),
                 inference.NotFinite, r"moved out of \[0, 1\], as in the paper; clip=True")
    with pytest.warns(inference.NoUsableGradient, match="6 of 6 images .* 0 or not finite"):
        noisy = OptMargin(rate=0.05, c=1.0, searches=1, iterations=5)(rooted, X, y, generator=0)
    assert noisy.no_gradient.all()
    result = susceptibility(rooted, X, y, generator=0, draws=40, deltas=(300.0,), clip=True)
    norms = result.random[0][result.random[0].isfinite()]
    assert result.attack.isfinite().all() and len(norms) and (norms <= 432**0.5).all()


def far(images):
    """A model whose first class no image in [0, 1] leaves, with gradients."""
    return NETWORK(images) + torch.tensor([30.0, 0.0, 0.0])


@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient")
@pytest.mark.parametrize("name", ATTACKS)
def test_a_search_that_ends_without_an_example_is_counted_and_named(name):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = INSTRUMENTS[name](far, X, torch.zeros_like(Y))
    missed = [str(w.message) for w in heard if w.category is inference.NoExample]
    if ATTACKS[name].threat.size < torch.inf:       # which may well hold no example
        assert not missed and not result.not_found.any()
    else:
        assert result.not_found.all() and "6 without an example at any distance" in repr(result)
        kind = type(ATTACKS[name]).__name__
        assert result.no_gradient.all() or re.match(f"{kind}: .* [1-6] of 6 images", *missed)


@pytest.mark.parametrize("attack, model", [
    (CarliniWagner(rate=0.001, c=1.0, searches=2, iterations=20), NETWORK),     # steps too small
    (CarliniWagner(rate=0.05, c=1e-3, searches=2, iterations=20), lambda a: 1e-4 * NETWORK(a)),     # so is c
    (LineSearch(20, largest=1e-3, loss="margin"), NETWORK),
    (BasicIterative(epsilon=1e-4, growths=2), NETWORK)],
    ids=["rate", "c", "line", "balls"])
def test_a_search_that_is_too_short_is_named(attack, model):
    with pytest.warns(inference.NoExample, match="6 of 6 images, although any distance was allowed"):
        assert attack(model, X, Y).not_found.all()
    assert LineSearch(100, 20.0, "margin")(model, X, Y).success.all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ATTACKS)
def test_a_healthy_gradient_is_not_warned_of(name):
    result = INSTRUMENTS[name](NETWORK, X, Y)
    assert result.no_gradient.dtype == torch.bool and not result.no_gradient.any()


@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient", "ignore::shared.inference.NoExample")
def test_the_squared_loss_of_one_logit_is_the_sigmoid_s():
    """Beyond a logit of 17, the sigmoid in float32 is 1: no gradient, for it and `susceptibility` alike."""
    def one(images):        # images differ in how far their first pixel is from 0
        return (100 * images[:, 0, 0, 0] - 2)[:, None]

    x = X.clone()
    x[:, 0, 0, 0] = torch.tensor([0.06, 0.1, 0.3, 0.5, 0.0, 0.01])      # logits 4, 8, 28, 48, -2, -1
    y = inference.labels(one, x)
    result = LineSearch(loss="squared")(one, x, y)
    to_other = LineSearch(loss="squared", targeted=True)(one, x, y, target=1 - y)   # of two classes, the same
    assert to_other.no_gradient.equal(result.no_gradient) and to_other.success.equal(result.success)
    assert result.no_gradient.tolist() == [False, False, True, True, False, False]
    assert result.success.equal(~result.no_gradient)
    whole = susceptibility(one, x, y, generator=0, draws=2, clip=True)
    assert whole.vanished.equal(result.no_gradient) and whole.attack.isnan().equal(result.distance.isnan())


# ---- types -------------------------------------------------------------------------------------------------
@pytest.fixture
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_the_default_type_changes_no_result(name, double):
    result = INSTRUMENTS[name](NETWORK, X, Y)
    torch.set_default_dtype(torch.float32)
    alike(result, INSTRUMENTS[name](NETWORK, X, Y))


@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient")
@pytest.mark.parametrize("name", INSTRUMENTS)
@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16], ids=str)
def test_a_model_of_another_type_is_a_model(name, kind):
    model = network().to(kind)
    before = pickle.dumps(model)
    result = INSTRUMENTS[name](model, X, inference.labels(model, X))
    # Nothing stays on it: no hook, no gradient, no other weights or modes.
    assert pickle.dumps(model) == before and all(p.grad is None for p in model.parameters())
    if kind == torch.float64 and name not in ("Careful", "OptMargin", "CarliniWagner"):    # Adam's signs
        alike(result, INSTRUMENTS[name](NETWORK, X, Y), 1e-4)


def test_what_else_draws_does_so_in_the_default_type_too(double):
    for draw_some in OTHERS.values():
        draw_some(0)


# ---- models that return something else ---------------------------------------------------------------------
class Holder:
    def __init__(self, logits):
        self.logits = logits


HELD = {"object": (Holder, "logits"), "dict": (lambda s: {"loss": 0, "scores": s}, "scores"),
        "tuple": (lambda s: (0, s), 1), "tensor": (lambda s: s, "logits")}


# The adapted model gives the same tensor however its logits were held.
@pytest.mark.parametrize("name, held", [*((n, "object") for n in INSTRUMENTS),
                                        *((next(iter(INSTRUMENTS)), held) for held in HELD)])
def test_adapt_takes_out_the_logits(name, held):
    wrap, place = HELD[held]
    model = inference.adapt(lambda images: wrap(NETWORK(images)), place)
    alike(INSTRUMENTS[name](model, X, Y), INSTRUMENTS[name](NETWORK, X, Y))
    if held != "tensor" and name != "embed":
        one_line(lambda: INSTRUMENTS[name](lambda images: wrap(NETWORK(images)), X, Y), inference.WrongShape,
                 r"adapt\(model")


@pytest.mark.parametrize("kind", [None, torch.float64, torch.bfloat16])
def test_adapt_normalises_and_changes_types(kind):
    inside = network().to(kind or torch.float32)
    model = inference.adapt(inside if kind is None else lambda a: inside(a), dtype=kind, mean=(0.1, 0.2, 0.3),
                            std=[0.5, 0.4, 0.3])
    mean, std = torch.tensor([[0.1, 0.2, 0.3], [0.5, 0.4, 0.3]])[:, :, None, None]
    by_hand = (X - mean) / std
    logits = inference.logits(model, X)
    assert logits.dtype == torch.float32
    near = 0.03 if kind == torch.bfloat16 else 1e-5
    torch.testing.assert_close(logits, NETWORK(by_hand).detach(), rtol=0, atol=near)
    PGD(BALL, 2, 0.03)(model, X, logits.argmax(1), generator=0)


def test_adapt_keeps_the_network_s_modes():
    inside = network().train()
    inference.logits(inference.adapt(inside, mean=0.5, std=0.5), X)
    assert all(module.training for module in inside.modules())


@pytest.mark.parametrize("call, message", [
    (lambda: inference.adapt(3), "int, which cannot be called"),
    (lambda: inference.adapt(NETWORK, dtype=torch.int64), "torch.float64"),
    (lambda: inference.adapt(NETWORK, mean=0.5, std=0), "std above 0"),
    (lambda: inference.adapt(NETWORK, mean="grey"), "one number a channel"),
    (lambda: inference.logits(inference.adapt(NETWORK, mean=(0.5, 0.5)), X), "mean and std are of 2"),
    (lambda: inference.logits(inference.adapt(lambda a: {"y": NETWORK(a)}), X), "dict of y, without"),
    (lambda: inference.logits(inference.adapt(lambda a: (NETWORK(a),), 2), X), "a tuple of 1, without 2")])
def test_adapt_refuses_in_one_line(call, message):
    one_line(call, UserError, message)


# ---- small things ------------------------------------------------------------------------------------------
RANDOM = {name: lambda seed, a=ATTACKS[name]: a(NETWORK, X, Y, generator=seed)
          for name in ("PGD", "OptMargin", "RandomSearch", "Pointwise")} | {
    "susceptibility": lambda seed: susceptibility(NETWORK, X, Y, generator=seed, draws=4, steps=8),
    "sweep": lambda seed: boxes.sweep(NETWORK, X[:1], Y[:1], PGD(L2(20), 3, 8), count=4, generator=seed)}
DISTANCES = torch.rand(8, 40, generator=seeded(), dtype=torch.float32)
OTHERS = {      # they need a generator
    "Region": lambda seed: Region(1.0, 9).votes(NETWORK, X, generator=seed),
    "directions": lambda seed: directions(40, 3, generator=seed),
    "random points": lambda seed: random_points(X, directions(432, 3, generator=0), 3, top=0.5,
                                                generator=seed),
    "noise": lambda seed: boxes.noise(X, DISTANCES[:6, 0], generator=seed),
    "sample": lambda seed: boxes.intervals(X[:1], X, keep=0, least=2).sample(3, generator=seed),
    "bootstrap": lambda seed: roby.bootstrap(DISTANCES, torch.arange(8) % 4, draws=3, generator=seed),
    "backgrounds": lambda seed: borderline.backgrounds("digit", X, torch.arange(6) % 3, seed),
    "train": lambda seed: parts(list(train(
        FeaturePairs(DISTANCES, 1 - DISTANCES, *torch.ones(2, 8).bool()), steps=2,
        generator=seed).parameters())),
    "draw": lambda seed: draw(3, (2, 2), seed),
    "fit": lambda seed: list(fit(network(), X, Y, Recipe(epochs=1, batch=3, flip=True), generator=seed,
                                 device=CPU).parameters())}


@pytest.mark.parametrize("name", RANDOM | OTHERS)
def test_an_int_seeds(name):
    function = (RANDOM | OTHERS)[name]
    alike(function(3), function(seeded(3)))
    with pytest.raises(AssertionError):     # what is drawn decides
        alike(function(3), function(4))
    for wrong in ("0", 1.0) if name in RANDOM else ("0", 1.0, None):
        one_line(lambda wrong=wrong: function(wrong), UserError, "a seed, or a torch.Generator.. of the CPU")


@dataclass(frozen=True)
class Own(Attack):
    """An attack whose `propose` returns what the test says."""
    threat: Linf
    give: object = None

    def propose(self, model, x, goal, draw):
        return self.give(x, goal)


class Plain(Attack):
    threat = BALL

    def propose(self, model, x, goal, draw):
        return x, goal


@pytest.mark.parametrize("attack, message", [
    (Plain(), "Plain is no dataclass"), (Own(None), "threat=None; one such as"),
    (Own(BALL, lambda x, goal: None), "NoneType"),
    (Own(BALL, lambda x, goal: (x, 3)), "32 .6, 3, 12, 12., int;"),
    (Own(BALL, lambda x, goal: (x[:1], goal)), r"float32 \[1, 3, 12, 12\], torch.int64"),
    (Own(BALL, lambda x, goal: (x.double(), goal)), "float64"),
    (Own(BALL, lambda x, goal: (x, goal, goal)), "int64"),
    (Own(BALL, lambda x, goal: (x, goal, goal > 9, 0)), "torch.bool .6., int;")])
def test_a_wrong_attack_of_one_s_own_is_refused(attack, message):
    one_line(lambda: attack(NETWORK, X, Y), UserError, message)


def test_an_attack_of_one_s_own_may_count_gradients():
    with pytest.warns(inference.NoUsableGradient, match="Own"):
        result = Own(BALL, lambda x, goal: (x, torch.ones_like(goal), goal >= 0))(NETWORK, X, Y)
    assert result.no_gradient.all()


def test_a_result_is_printed_short():
    assert repr(judge(NETWORK, X, Y, X, BALL)).startswith("Result(6 images: 6 correct before, 6 after, ")


@pytest.mark.parametrize("name", [n for n in INSTRUMENTS if n not in (
    "logits", "labels", "margins", "rates", "Careful", "gradients", "plane", "embed", "Adversarial")])
def test_a_pixel_within_rounding_is_clipped(name):
    x = X.clone()
    x[0, 0, 0, 0], x[0, 0, 0, 1] = 1.0000001, -1e-7
    alike(INSTRUMENTS[name](NETWORK, x, Y), INSTRUMENTS[name](NETWORK, x.clamp(0, 1), Y))
    x[0, 0, 0, 0] = 1.00002
    one_line(lambda: INSTRUMENTS[name](NETWORK, x, Y), UserError, r"pixels lie in \[-1e-07, 1.00002\]")


@pytest.mark.parametrize("name", [*FROM_GRADIENTS, "susceptibility", "gradients", "sweep"])
def test_no_attack_by_gradients_runs_in_inference_mode(name):
    with torch.inference_mode():
        one_line(lambda: INSTRUMENTS[name](NETWORK, X, Y), inference.NoGradient,
                 "torch.inference_mode|no gradient")


LABELLED = {name: lambda y, f=INSTRUMENTS[name]: f(NETWORK, X, y) for name in (
    *ATTACKS, "judge", "susceptibility", "accuracy", "sweep", "rates", "margins", "gradients")} | {
    "curve": lambda y: boxes.curve([NETWORK, NETWORK], y[:1], boxes.intervals(X[:1], X, keep=0, least=2), [2],
                                   samples=3, generator=0)}
GROUPED = {"backgrounds": lambda y: borderline.backgrounds("digit", X, y, 0),
           "layout": lambda y: roby.layout(DISTANCES[:6], y),
           "bootstrap": lambda y: roby.bootstrap(DISTANCES[:6], y, draws=3, generator=0)}


@pytest.mark.parametrize("name", LABELLED)
def test_labels_that_start_at_one_are_refused(name):
    y = torch.tensor([3, 1, 2, 3, 1, 2])
    one_line(lambda: LABELLED[name](y), inference.LabelOutOfRange, "start at 1 are y - 1")


@pytest.mark.parametrize("name", LABELLED | GROUPED)
def test_labels_of_numpy_are_refused(name):
    one_line(lambda: (LABELLED | GROUPED)[name](Y.numpy()), UserError, "labels (are )?a ndarray")


PLAIN = {"mix": lambda x: borderline.mix(x, x), "prune": lambda x: borderline.prune(x, 9, 99),
         "black": lambda x: borderline.backgrounds("black", x, Y, 0), "ssim": lambda x: ssim(x, x),
         "noise": lambda x: boxes.noise(x, DISTANCES[:6, 0], generator=0),
         "intervals": lambda x: boxes.intervals(x[:1], x)}


@pytest.mark.parametrize("name", [n for n in INSTRUMENTS | PLAIN if n != "Adversarial"])    # `fit` checks
def test_images_of_numpy_are_refused(name):
    call = PLAIN.get(name) or (lambda x: INSTRUMENTS[name](NETWORK, x, Y))
    one_line(lambda: call(X.numpy()), UserError, "(are|is) an? ndarray|not a ndarray")


# ---- training ----------------------------------------------------------------------------------------------
class Viewing(nn.Module):
    """A network that calls `view`, which fails on images in channels-last order."""

    def __init__(self):
        super().__init__()
        self.filters, self.last = nn.Conv2d(3, 4, 3), nn.Linear(400, 3)

    def forward(self, images):
        return self.last(self.filters(images).relu().view(len(images), -1))


def trained(model, x, y, **options):
    return fit(model, x, y, Recipe(**{"epochs": 1, "batch": 3} | options), generator=0, device=CPU)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_a_network_that_calls_view_is_trained(kind):
    model = Viewing().to(kind)
    before = [p.detach().clone() for p in model.parameters()]
    assert not trained(model, X, Y, epochs=2).training
    assert all(not p.equal(q) for p, q in zip(model.parameters(), before))


@pytest.mark.parametrize("x, y, message", [
    (X, Y.int(), r"torch.int32 \[6\]; int64 \[6\] is needed"), (X, Y[:5], r"int64 \[5\]; int64 \[6\]"),
    (X, Y.numpy(), "labels are a ndarray"), (X, torch.tensor([1, 2, 3] * 2), "start at 1"),
    (X, Y - 3, "0..2 is allowed"), (255 * X, Y, r"pixels lie in \["), (X[:0], Y[:0], "no images"),
    (X[0], Y[:3], "uint8 or float"), (X.numpy(), Y, "images are a ndarray")])
def test_training_refuses_its_data_and_leaves_the_network_as_it_was(x, y, message):
    model = network().train()
    model[1].eval()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    one_line(lambda: trained(model, x, y), UserError, message)
    assert all(v.equal(before[k]) and v.is_contiguous() for k, v in model.state_dict().items())
    assert [m.training for m in model.modules()] == [True, True, False, True, True]


def test_training_refuses_a_loss_that_does_not_suit():
    one_line(lambda: trained(network(1), X, Y % 2), UserError, "one logit an image")
    one_line(lambda: trained(network(1), X, Y.clone().fill_(2), loss="squared"), UserError, "0..1 is allowed")
    one_line(lambda: trained(network(2), X, Y % 2, loss="squared"), UserError, "one logit an image")


def test_pixels_within_rounding_are_trained_on():
    trained(network(), X.clone().index_fill_(3, torch.tensor([0]), 1.0000001), Y)


GREY = torch.full((2, 2, 16, 16), 99, dtype=torch.uint8)


@pytest.mark.parametrize("x, y, message", [(GREY, GREY.float(), "torch.uint8 and torch.float32"),
                                           (GREY.float(), GREY.float(), "state data_range"),
                                           (GREY / 255 - 0.5, GREY / 255, "state data_range")])
def test_ssim_assumes_no_range_of_pixels(x, y, message):
    one_line(lambda: ssim(x, y), UserError, message)


# ---- files that may not be read ----------------------------------------------------------------------------
@pytest.fixture
def closed():
    """`closed(path)`: closes a file or folder below an open one; root may read all, so it becomes nobody."""
    root = os.name == "posix" and os.geteuid() == 0
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)

    def close(path):
        path.chmod(0)
        if root:
            os.seteuid(65534)

    yield folder, close
    if root:
        os.seteuid(0)
    for path in folder.iterdir():
        path.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name != "posix", reason="rights are POSIX")
@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("kind", ["data", "own data", "cached data", "content", "checkpoint", "sound"])
def test_what_may_not_be_read_is_neither_damaged_nor_deleted(closed, kind, what, monkeypatch, capsys):
    folder, close = closed
    inside = folder / "inside"
    (inside / "data").mkdir(parents=True)
    monkeypatch.setenv("BOUNDARY_CACHE", str(folder / "cache"))
    names = {"data": "mnist.npz", "own data": "leaves.npz", "cached data": "data/cifar10.safetensors"}
    path = inside / names.get(kind, "x.safetensors")
    content.write(path, {"a": torch.zeros(2)}, {"facts": 1})
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o777)
    call = {"data": lambda: archives.read(archives.SPECS["mnist"], folder=inside, cache=folder),
            "own data": lambda: sets.load(path),
            "cached data": lambda: archives.read(archives.SPECS["cifar10"], folder=folder, cache=inside),
            "content": lambda: content.read(path), "checkpoint": Checkpoint(path).load,
            "sound": lambda: content.sound(path, content.read)}[kind]
    close(path if what == "file" else inside)
    message = f"right to read {path}" if what == "file" else f"right to enter the folder {inside}"
    if kind == "sound":
        assert call() is None and message in capsys.readouterr().err
    else:
        assert "delete" not in one_line(call, runtime.Unreadable, message)
    os.seteuid(os.getuid())
    inside.chmod(0o700)
    assert path.exists()
