"""Any model: every instrument works on three kinds of models and refuses in one line what it cannot take."""
import ast
import re

import pytest
import torch
from torch import nn

from report import registry
from shared import ROOT, borderline, inference, roby
from shared import regions as boxes
from shared.attacks.directions import directions
from shared.attacks.gradient import FGSM, PGD
from shared.attacks.judge import judge
from shared.attacks.line import LineSearch
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner, OptMargin
from shared.attacks.region import Region
from shared.attacks.threat import L2, Linf
from shared.boundary.survey import survey
from shared.data import sets
from shared.runtime import UserError
from shared.susceptibility import susceptibility


def seeded():
    return torch.Generator().manual_seed(0)


BALL = Linf(0.1)
ATTACKS = {
    "FGSM": FGSM(BALL), "PGD": PGD(L2(0.5), 3, 0.2), "LineSearch": LineSearch(8),
    "CarliniWagner": CarliniWagner(rate=0.05, c=1.0, searches=2, iterations=5),
    "OptMargin": OptMargin(rate=0.05, c=1.0, searches=2, iterations=5, members=3),
    "RandomSearch": RandomSearch(BALL, 5)}
LABELLED = {  # name: (model, images, true classes) -> result
    **{name: lambda m, x, y, a=a: a(m, x, y, generator=seeded()) for name, a in ATTACKS.items()},
    "judge": lambda m, x, y: judge(m, x, y, x, BALL),
    "susceptibility": lambda m, x, y: susceptibility(m, x, y, generator=seeded(), draws=4, count=8)}
STRICT = LABELLED | {
    "Region": lambda m, x, y: Region(0.1, 5)(m, x, generator=seeded()),
    "survey": lambda m, x, y: survey(m, x, directions(768, 2, generator=seeded()), step=0.1, top=0.5)}
ALL = STRICT | {
    "search": lambda m, x, y: borderline.search(m, x, 1 - x, max_iterations=3),
    "accuracy": lambda m, x, y: inference.accuracy(m, x, y),
    "logits": lambda m, x, y: inference.logits(m, x),
    "labels": lambda m, x, y: inference.labels(m, x),
    "sweep": lambda m, x, y: boxes.sweep(m, x[:1], y[:1], PGD(L2(20), 3, 8), count=4, generator=seeded()),
    "rates": lambda m, x, y: boxes.rates([m, m], x, y),
    "roby": lambda m, x, y: roby.measure(m, x, torch.tensor([0, 1, 2, 0]))}     # three classes at least
GRADIENT = [*(n for n in ATTACKS if n != "RandomSearch"), "susceptibility"]


def function(images):
    """Three classes by the mean of an image; no parameters."""
    mean = images.flatten(1).mean(1)
    return torch.stack([mean - 0.5, 0.5 - mean, 0 * mean - 1], 1)


def single():
    """One logit: whether an image is bright."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(768, 1))
    nn.init.constant_(net[1].weight, 1 / 768)
    nn.init.constant_(net[1].bias, -0.5)
    return net


X = 0.6 * torch.rand(4, 3, 16, 16, generator=seeded()) + torch.tensor([0.0, 0.4, 0.1, 0.3]).view(4, 1, 1, 1)
Y = inference.labels(function, X)


class Mine(Exception):
    pass


def failing(images):
    raise Mine("the model's own words")


def one_line(call, kind, said):
    with pytest.raises(kind, match=said) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("model", [function, single()], ids=["function", "one logit"])
def test_functions_and_single_logits_are_models(name, model):
    ALL[name](model, X, inference.labels(model, X))


@pytest.mark.parametrize("name", ALL)
def test_a_model_s_own_error_comes_through_as_it_is(name):
    one_line(lambda: ALL[name](failing, X, Y), Mine, "^the model's own words$")


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
    model, kind, said = RETURNS[what]
    one_line(lambda: ALL[name](model, X, Y), kind, said)


@pytest.mark.parametrize("name", STRICT)
def test_probabilities_and_changing_answers_are_refused(name):
    one_line(lambda: STRICT[name](lambda a: function(a).softmax(1), X, Y), inference.Probabilities, "softmax")
    one_line(lambda: STRICT[name](lambda a: function(a) + torch.rand(len(a), 3), X, Y), inference.Unsteady,
             "different logits")


@pytest.mark.parametrize("name", GRADIENT)
def test_a_gradient_that_was_cut_off_is_told(name):
    one_line(lambda: ALL[name](lambda a: function(a.detach()), X, Y), inference.NoGradient, "no gradient")


def test_an_attack_without_gradients_takes_a_model_without():
    ATTACKS["RandomSearch"](lambda a: function(a.detach()), X, Y, generator=seeded())


class Flattened(nn.Module):
    """Calls `view`, as many networks do: it fails on images in channels-last order."""
    def __init__(self):
        super().__init__()
        self.filters, self.last = nn.Conv2d(3, 4, 3), nn.Linear(4 * 14 * 14, 3)

    def forward(self, images):
        hidden = self.filters(images).relu()
        return self.last(hidden.view(len(images), -1))


@pytest.mark.parametrize("name", ALL)
def test_a_model_may_call_view_on_colour_images(name):
    torch.manual_seed(0)
    model = Flattened()
    ALL[name](model, X, inference.labels(model, X))


@pytest.mark.parametrize("name", LABELLED)
def test_images_that_require_a_gradient_are_images(name):
    x = X.clone().requires_grad_()
    result, same = LABELLED[name](function, x, Y), LABELLED[name](function, X, Y)
    if name != "susceptibility":
        assert not result.x_adv.requires_grad and result.x_adv.equal(same.x_adv)


def test_a_function_around_a_network_in_training_mode_is_told():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4 * 14 * 14, 3))
    one_line(lambda: ATTACKS["PGD"](lambda a: net(a), X, Y, generator=seeded()), inference.Unsteady,
             r"eval\(\)")


def test_robust_accuracy_counts_images_that_stay_correct():
    y = Y.clone()
    y[0] = (y[0] + 1) % 3        # misclassified from the start: not robust, whatever the attack does
    result = PGD(L2(1e-6), 1, 1e-6)(function, X, y, generator=seeded())
    assert result.robust_accuracy == 0.75
    assert PGD(L2(50), 5, 20)(function, X, y, generator=seeded()).robust_accuracy < 0.75


def test_what_cannot_be_is_told_before_anything_runs():
    one_line(lambda: FGSM(BALL)(function, X, Y, chunk=-1), UserError, "chunk=-1")
    one_line(lambda: judge(function, X, Y, X.double(), BALL), UserError, "torch.float64")
    one_line(lambda: judge(function, X, Y, X, 8 / 255), UserError, "Linf")
    one_line(lambda: inference.accuracy(function, 255 * X, Y), UserError, r"pixels lie in \[")
    one_line(lambda: boxes.rates(nn.Sequential(nn.Flatten(), nn.Linear(768, 3)), X, Y), UserError, "a list")


IMAGES = {"beyond": (2 * X, r"pixels lie in \["), "below": (X - 1, r"pixels lie in \["),
          "nan": (X * torch.nan, r"pixels lie in \[nan"), "whole": ((255 * X).long(), "int64"),
          "flat": (X[0], r"\[3, 16, 16\]"), "no pixels": (X[:, :, :0], r"\[4, 3, 0, 16\]"),
          "array": (X.numpy(), "ndarray; a torch tensor is needed")}


@pytest.mark.parametrize("name", [*STRICT, "search"])
@pytest.mark.parametrize("what", IMAGES)
def test_images_that_are_none_are_refused(name, what):
    x, said = IMAGES[what]
    one_line(lambda: ALL[name](function, x, Y), UserError, said)


@pytest.mark.parametrize("name", ["accuracy", "logits", "labels"])
def test_arrays_are_refused_where_any_images_will_do(name):
    one_line(lambda: ALL[name](function, X.numpy(), Y), UserError, "ndarray; a torch tensor is needed")


LABELS = {"high": (Y + 3, "0..2 is allowed"), "below": (Y - 2, "0..2 is allowed"),
          "broken": (Y.float(), "int64"), "many": (torch.cat([Y, Y]), "one per image"),
          "list": (Y.tolist(), "list; a torch tensor is needed")}


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("what", LABELS)
def test_labels_that_are_no_classes_are_refused(name, what):
    y, said = LABELS[what]
    one_line(lambda: LABELLED[name](function, X, y), UserError, said)


@pytest.mark.parametrize("y", [Y[:, None], torch.cat([Y, Y]), Y.tolist()])
def test_accuracy_takes_one_label_an_image(y):
    one_line(lambda: inference.accuracy(function, X, y), UserError, "one per image|torch tensor")


def test_no_images_get_no_votes_and_no_pairs():
    assert Region(0.1, 5).votes(function, X[:0], generator=seeded()).shape == (0, 3)
    one_line(lambda: borderline.search(function, X[:0], X[:0]), UserError, r"float32 \[0, 3, 16, 16\]")


@pytest.mark.parametrize("name", [n for n in STRICT if n not in ("OptMargin", "survey")])
def test_one_image_of_one_pixel_will_do(name):
    STRICT[name](function, X[:1, :1, :1, :1], inference.labels(function, X[:1, :1, :1, :1]))


@pytest.mark.parametrize("name, said", [("OptMargin", "directions in 1 dim"), ("survey", r"\[K, 1\]"),
                                        ("search", "too small")])
def test_what_one_pixel_is_too_small_for_is_told(name, said):
    one_line(lambda: ALL[name](function, X[:1, :1, :1, :1], Y[:1]), UserError, said)


def test_every_line_of_the_api_page_runs_and_has_a_docstring(home, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    monkeypatch.setattr(sets, "_profile", "smoke")
    monkeypatch.setitem(registry._BUILDERS, "mine-a", None)
    import generated
    text, names, count = (ROOT / "book/api.md").read_text(), {}, 0
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
