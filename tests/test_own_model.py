"""Any model: every instrument works on all kinds of models and refuses in one line what it cannot take."""
import ast
import re

import pytest
import torch
from torch import nn

from report import registry
from report.repository import ROOT
from shared import inference
from shared import regions as boxes
from shared.attacks.gradient import FGSM
from shared.attacks.judge import judge
from shared.attacks.region import Region
from shared.data import sets
from shared.runtime import UserError
from tests.test_any_model import ATTACKS, BALL, INSTRUMENTS, Viewing, X, one_line, seeded

LABELLED = [*ATTACKS, "judge", "susceptibility"]
STRICT = [*LABELLED, "Region", "survey"]
ALL = [*STRICT, "search", "accuracy", "logits", "labels", "sweep", "rates", "roby"]
GRADIENT = [*(n for n in ATTACKS if n not in ("RandomSearch", "SquareSearch", "Pointwise")), "susceptibility"]


def function(images):
    """Three classes by the mean of an image; no parameters."""
    mean = images.flatten(1).mean(1)
    return torch.stack([mean - 0.5, 0.5 - mean, 0 * mean - 1], 1)


def single():
    """One logit: whether an image is bright."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(432, 1))
    nn.init.constant_(network[1].weight, 1 / 432)
    nn.init.constant_(network[1].bias, -0.5)
    return network


Y = inference.labels(function, X)


class OwnError(Exception):
    pass


def failing(images):
    raise OwnError("the model's own words")


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("make", [lambda: function, single, Viewing], ids=["function", "one logit", "view"])
def test_functions_single_logits_and_networks_that_call_view_are_models(name, make):
    model = make()
    INSTRUMENTS[name](model, X, inference.labels(model, X))


@pytest.mark.parametrize("name", ALL)
def test_a_model_s_own_error_comes_through_as_it_is(name):
    one_line(lambda: INSTRUMENTS[name](failing, X, Y), OwnError, "^the model's own words$")


RETURNS = {
    "rows": (lambda a: function(a)[:1], inference.WrongShape, r"float32 \[1, 3\] for \d images"),
    "axes": (lambda a: function(a)[:, :, None], inference.WrongShape, r"\[\d, 3, 1\] for \d images"),
    "tuple": (lambda a: (function(a),), inference.WrongShape, r"returns tuple for \d images"),
    "whole": (lambda a: function(a).int(), inference.WrongShape, "torch.int32"),
    "nan": (lambda a: function(a) * torch.nan, inference.NotFinite, "nan or infinite"),
    "infinite": (lambda a: function(a) * torch.inf, inference.NotFinite, "nan or infinite")}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("what", RETURNS)
def test_what_is_no_logits_is_refused(name, what):
    model, kind, message = RETURNS[what]
    one_line(lambda: INSTRUMENTS[name](model, X, Y), kind, message)


@pytest.mark.parametrize("name", STRICT)
def test_probabilities_and_changing_logits_are_refused(name):
    batch_norm = nn.BatchNorm2d(3)
    for model, kind, message in (
            (lambda a: function(a).softmax(1), inference.Probabilities, "softmax"),
            (lambda a: function(a) + torch.rand(len(a), 3), inference.Unsteady, "different logits"),
            (lambda a: function(batch_norm(a)**2), inference.Unsteady, r"eval\(\)")):     # in training mode
        one_line(lambda model=model: INSTRUMENTS[name](model, X, Y), kind, message)


@pytest.mark.parametrize("name", GRADIENT)
def test_a_gradient_that_was_cut_off_is_named(name):
    one_line(lambda: INSTRUMENTS[name](lambda a: function(a.detach()), X, Y), inference.NoGradient,
             "no gradient")


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
@pytest.mark.parametrize("name", ["RandomSearch", "SquareSearch", "Pointwise"])
def test_an_attack_without_gradients_takes_a_model_without(name):
    INSTRUMENTS[name](lambda a: function(a.detach()), X, Y)


@pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
@pytest.mark.filterwarnings("ignore::shared.inference.NoUsableGradient")
@pytest.mark.parametrize("name", ATTACKS)
def test_images_that_require_a_gradient_are_images(name):
    result, plain = (INSTRUMENTS[name](function, x, Y) for x in (X.clone().requires_grad_(), X))
    assert not result.x_adv.requires_grad and result.x_adv.equal(plain.x_adv)


def test_what_cannot_be_is_refused_before_anything_runs():
    one_line(lambda: FGSM(BALL)(function, X, Y, chunk=-1), UserError, "chunk=-1")
    one_line(lambda: judge(function, X, Y, X.double(), BALL), UserError, "torch.float64")
    one_line(lambda: judge(function, X, Y, X[1:], BALL), UserError, r"\[5, 3, 12, 12\] on cpu; float")
    one_line(lambda: inference.accuracy(function, 255 * X, Y), UserError, r"pixels lie in \[")
    one_line(lambda: inference.accuracy(function, X, Y[:5]), UserError, "one per image")
    one_line(lambda: boxes.error_rates(single(), X, Y), UserError, "a list")


IMAGES = {"beyond": (2 * X, r"pixels lie in \["), "below": (X - 1, r"pixels lie in \["),
          "nan": (X * torch.nan, "pixels are nan or infinite in"), "whole": ((255 * X).long(), "int64"),
          "flat": (X[0], r"\[3, 12, 12\]"), "no pixels": (X[:, :, :0], r"\[6, 3, 0, 12\]")}


@pytest.mark.parametrize("name", [*STRICT, "search"])
@pytest.mark.parametrize("what", IMAGES)
def test_images_that_are_none_are_refused(name, what):
    x, message = IMAGES[what]
    one_line(lambda: INSTRUMENTS[name](function, x, Y), UserError, message)


LABELS = {"high": (Y + 3, "0..2 is allowed"), "below": (Y - 2, "0..2 is allowed"),
          "broken": (Y.float(), "int64"), "many": (torch.cat([Y, Y]), "one per image")}


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("what", LABELS)
def test_labels_that_are_no_classes_are_refused(name, what):
    y, message = LABELS[what]
    one_line(lambda: INSTRUMENTS[name](function, X, y), UserError, message)


def test_no_images_get_no_votes():
    assert Region(0.1, 5).votes(function, X[:0], generator=seeded()).shape == (0, 3)


ONE_PIXEL = X[:1, :1, :1, :1]


@pytest.mark.parametrize("name", [n for n in STRICT if n not in ("OptMargin", "survey")])
def test_an_image_of_one_pixel_is_an_image(name):
    INSTRUMENTS[name](function, ONE_PIXEL, inference.labels(function, ONE_PIXEL))


@pytest.mark.parametrize("name, message", [("OptMargin", "directions in 1 dim"), ("survey", r"\[K, 1\]"),
                                           ("search", "too small")])
def test_what_one_pixel_is_too_small_for_is_named(name, message):
    one_line(lambda: INSTRUMENTS[name](function, ONE_PIXEL, Y[:1]), UserError, message)


@pytest.mark.slow
def test_every_line_of_the_api_page_runs_and_has_a_docstring(home, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    monkeypatch.setattr(sets, "_profile", "smoke")
    monkeypatch.setitem(registry._BUILDERS, "mine-a", None)
    import generated
    text, names, count = (ROOT / "book/api.md").read_text(), {"__name__": "reader"}, 0
    for base, code in re.findall(r"```(?:python|\{generated\} names (\S+))\n(.*?)```", text, re.DOTALL):
        if not base:
            exec(code, names)
        for line in code.splitlines() if base else ():
            thing = generated.resolved(f"{base}.{generated.NAME.match(line)[1]}")
            assert thing.__module__.startswith(base) and len(generated.first_sentence(thing)) > 15, line
            used = {node.id for node in ast.walk(ast.parse(line))
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
            imported = {}
            for name in used - names.keys():
                exec(f"from {base} import {name}", imported)
            exec(line, imported, names)
            count += 1
    assert 60 <= count <= 90
    assert names["other"](names["x"]).shape == (100, 10)    # an architecture of one's own, on embedded data
