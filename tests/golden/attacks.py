"""Attacks: threats, the judge, gradient and optimised attacks, adversarial training, regions, directions."""
import contextlib
import dataclasses
from unittest import mock

import torch
from torch import nn

from shared import inference, runtime
from shared.attacks import iterative, optimised
from shared.attacks import pointwise as by_pixels
from shared.attacks.directions import directions
from shared.attacks.gradient import (
    FGSM,
    PGD,
    Adversarial,
    FGSMSearch,
    HalfAdversarial,
    PGDBeyondWhite,
    scored,
)
from shared.attacks.iterative import BasicIterative, MomentumIterative
from shared.attacks.judge import _check, fooled, judge
from shared.attacks.line import LineSearch
from shared.attacks.newton import NewtonFool
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner, OptMargin
from shared.attacks.pointwise import Pointwise, uniform
from shared.attacks.region import Region
from shared.attacks.threat import L1, L2, Linf, LinfEuclideanSteps, rms
from shared.inference import checked_logits, device_of, frozen, gradient, logits
from tests.golden import ROUNDED, Cases, refused, watched

case = Cases()
SHAPE = (2, 3, 4)      # channels, height, width


def check_images(x, y=None, threat=None, target=None):
    return inference.check_images(x, y, target) if threat is None else _check(x, y, threat, target)


def seeded(*labels):
    return runtime.generator(0, "golden", "attacks", *labels)


def net(name="net", *, classes=3, batch_norm=False, dropout=False, channels=SHAPE[0]):
    """A small smooth net for images [N, channels, 3, 4], in training mode."""
    size = channels * SHAPE[1] * SHAPE[2]
    layers = [nn.Flatten(), nn.Linear(size, 8), *[nn.BatchNorm1d(8)] * batch_norm, nn.Tanh(),
              *[nn.Dropout(0.5)] * dropout, nn.Linear(8, classes)]
    made, draw = nn.Sequential(*layers), seeded(name)
    with torch.no_grad():
        for p in made.parameters():
            p.copy_(1.6 * torch.rand(p.shape, generator=draw) - 0.8)
    return watched(made)


def images(count=6, name="images"):
    """Images with black and white pixels among them."""
    return (1.6 * torch.rand(count, *SHAPE, generator=seeded(name)) - 0.3).clamp(0, 1)


def of_classes(model, x):
    """Mostly the classes that the model gives, so that there is something to attack; the last is wrong."""
    with torch.no_grad(), frozen(model):
        y = model(x).argmax(1)
    y[-1] = (y[-1] + 1) % 3
    return y


def constant(*scores):
    """A model that says the same of every image, yet has a gradient."""
    def model(x):
        return torch.tensor(scores).expand(len(x), -1) + 0 * x.flatten(1).sum(1, keepdim=True)
    return model


@contextlib.contextmanager
def sure():
    """Context in which no probability of a goal may be nearly what makes an example."""
    def apart(scores, goal, *, targeted, probability=0.5):
        gap = (scores.softmax(1).gather(1, goal[:, None]) - probability).abs()
        assert not targeted or (gap > ROUNDED).all(), (
            f"a probability is {float(gap.min()):.1g} from {probability}")
        return fooled(scores, goal, targeted=targeted, probability=probability)

    with contextlib.ExitStack() as patches:
        for place in (iterative, optimised, by_pixels):
            patches.enter_context(mock.patch.object(place, "fooled", apart))
        yield


def setting(name="net", **options):
    model, x = net(name, **options), images()
    return model, x, of_classes(model, x)


# ---- threats and directions ------------------------------------------------------------------------------
THREATS = {"linf": Linf(0.2), "l2": L2(0.7), "linf free": Linf(), "l2 free": L2(), "large": L2(30.0)}


@case
def threats():
    x, z = images(name="x"), images(name="z")
    z[1], z[2] = x[1], x[2] + 0.01
    slope = torch.randn(6, *SHAPE, generator=seeded("slope"))
    slope[0], slope[1] = 0, slope[1] * 1e-14
    found = {name: {"length": t.length(z - x), "distance": t.distance(x, z), "project": t.project(z, x),
                    "steepest": t.steepest(slope), "norm": t.norm, "size": t.size, "targeted": t.targeted}
             for name, t in THREATS.items()}
    draws = {name: THREATS[name].random(x, seeded("draw")) for name in ("linf", "l2")}
    return {**found, "draws": draws, "rms": rms(x, z), "aimed": Linf(0.1, targeted=True).targeted,
            "bad": [refused(kind, size) for kind in (Linf, L2) for size in (0, -1.0, float("nan"), 0.5)]}


@case
def orthogonal_directions():
    return {"some": directions(10, 4, generator=seeded("q")), "one": directions(7, 1, generator=seeded("q")),
            "all": directions(5, 5, negatives=True, generator=seeded("q")),
            "bad": [refused(directions, 4, k, generator=seeded("q")) for k in (0, 5, 4, 1)]}


# ---- the judge -------------------------------------------------------------------------------------------
@case
def judged():
    model, x, y = setting(dropout=True)
    proposal = images(name="proposal") * 1.4 - 0.2
    proposal[0, 1, 2, 3] = torch.nan
    proposal[1, 0, 0, 0] = torch.inf
    target, passes = (y + 1) % 3, torch.arange(6)
    found = {f"{name} {chunk}": judge(model, x, y, proposal, threat, chunk=chunk)
             for name, threat in THREATS.items() for chunk in (None, 2)}
    aimed = {name: judge(model, x, y, proposal, threat, target=target, passes=passes)
             for name, threat in (("near", L2(0.9, targeted=True)), ("far", Linf(targeted=True)))}
    return {**found, **aimed, "modes": [m.training for m in model.modules()],
            "none": judge(model, x[:0], y[:0], proposal[:0], Linf(0.1)),
            "one": judge(model, x[:1], y[:1], 1 - x[:1], Linf(0.4))}


@case
def the_model_as_it_is_asked():
    model, x, y = setting(dropout=True)
    model[3].training = False
    mixed = [m.training for m in model.modules()]
    with frozen(model) as same:
        inside = [m.training for m in model.modules()]
    values, slope = gradient(lambda z: z.square().flatten(1).sum(1), x)
    with frozen(model):
        scores = logits(model, x), logits(model, x, chunk=4), checked_logits(model, x, y, None, chunk=1)
    try:
        with frozen(model):
            raise KeyError
    except KeyError:
        after = [m.training for m in model.modules()]
    return {"modes": [mixed, inside, after], "same": same is model, "values": values, "slope": slope,
            "scores": scores, "of a function": logits(lambda z: z.flatten(1).half(), x),
            "device": [str(device_of(model, x)), str(device_of(constant(1.0), x))],
            "parameters": [p.grad is None for p in model.parameters()]}


@case
def what_the_judge_refuses():
    model, x, y = setting()
    changed = x.clone()

    def pixel(value):
        changed[0, 0, 0, 0] = value
        return refused(check_images, changed)

    def scores(function):
        return refused(checked_logits, function, x)

    def labels(*values):
        return refused(checked_logits, constant(2.0, 3.0), x[:2], None, torch.tensor(values))

    black = [torch.zeros(n, *SHAPE) for n in (0, 1)]
    return {"pixels": [pixel(value) for value in (0.0, 1.0, -0.01, 1.01)],
            "images": [refused(check_images, each) for each in (x, x.double(), x[0], x[..., None], *black)],
            "labels": [refused(check_images, x, each)
                       for each in (y, y.int(), y[1:], y[:, None], torch.zeros(6))],
            "targets": [refused(check_images, x, y, threat, target)
                        for threat in (None, Linf(0.1), Linf(0.1, targeted=True)) for target in (None, y)],
            "target": refused(check_images, x, y, Linf(0.1, targeted=True), y.float()),
            "logits": [scores(constant(*each)) for each in
                       ((2.0, 3.0), (0.5, 0.5), (0.0, 1.0), (-0.5, 1.5), (0.5, 0.50011),
                        (0.5, 0.50009), (0.5, 0.49989), (torch.nan, 1.0), (torch.inf, 1.0), (2.0, 3.0, 4.0))],
            "shapes": [scores(each) for each in (lambda z: z,
                                                 lambda z: 9 * z.flatten(1).repeat(2, 1),
                                                 lambda z: 9 * z.flatten(1).repeat(1, 2))],
            "some rows": scores(lambda z: torch.eye(6) + torch.arange(6)[:, None]),
            "nothing": [refused(checked_logits, constant(*each), x[:0], y[:0])
                        for each in ((0.5, 0.5), (2.0, 3.0))],
            "classes": [labels(*each) for each in ((0, 1), (1, 1), (0, 2), (-1, 1), (2, 2))],
            "proposal": [refused(judge, model, x, y, each, Linf(0.1)) for each in (x, x[1:], x[:, :1])],
            "judged labels": refused(judge, model, x, y.int(), x, Linf(0.1)),
            "judged classes": [refused(judge, model, x, y + 3, x, Linf(0.1)),
                               refused(judge, model, x, y, x, Linf(0.1, targeted=True), target=y + 3)]}


# ---- gradient attacks ------------------------------------------------------------------------------------
GRADIENT = {"fgsm": FGSM(Linf(0.15)), "fgsm l2": FGSM(L2(0.8)), "pgd": PGD(Linf(0.15), 4, 0.06),
            "pgd l2": PGD(L2(0.8), 3, 0.4), "pgd clean": PGD(Linf(0.15), 3, 0.06, random_start=False),
            "pgd one": PGD(L2(0.5), 1, 0.3)}
AIMED = {"fgsm": FGSM(Linf(0.2, targeted=True)), "pgd": PGD(L2(1.5, targeted=True), 4, 0.5)}


@case
def gradient_attacks():
    model, x, y = setting(dropout=True)
    found = {f"{name} {chunk}": attack(model, x, y, generator=seeded(name), chunk=chunk)
             for name, attack in GRADIENT.items() for chunk in (None, 4)}
    aimed = {f"to {name}": attack(model, x, y, target=(y + 1) % 3, generator=seeded(name))
             for name, attack in AIMED.items()}
    return {**found, **aimed, "one": GRADIENT["pgd"](model, x[:1], y[:1], generator=seeded("one")),
            "none": GRADIENT["pgd"](model, x[:0], y[:0], generator=seeded("none")),
            "modes": [m.training for m in model.modules()]}


@case
def gradient_proposals():
    """What is proposed before the judge looks at it, and what is drawn."""
    model, x, y = setting()
    found = {name: attack.propose(model, x, y, attack.draw(x, seeded(name)))
             for name, attack in GRADIENT.items()}
    return {**found, "draw": GRADIENT["pgd"].draw(x, seeded("draw")),
            "no draw": [GRADIENT[name].draw(x, None) is None for name in ("fgsm", "pgd clean")]}


@case
def bad_gradient_attacks():
    model, x, y = setting()
    return {"size": [refused(FGSM, Linf()), refused(PGD, L2(), 2, 0.1)],
            "steps": [refused(PGD, Linf(0.1), steps, step)
                      for steps, step in ((0, 0.1), (1, 0.0), (1, -0.1), (1, float("nan")), (1, 0.1))],
            "generator": refused(GRADIENT["pgd"], model, x, y),
            "target": [refused(attack, model, x, y, target=target) for attack in (GRADIENT["fgsm"],
                                                                                  AIMED["fgsm"])
                       for target in (None, y, y + 3)],
            "labels": [refused(GRADIENT["fgsm"], model, x, y + 3),
                       refused(GRADIENT["fgsm"], model, x, y - 3)],
            "hook": [refused(Adversarial, AIMED["pgd"]), refused(Adversarial, GRADIENT["pgd"])]}


@case
def adversarial_training():
    found = {}
    for name in ("pgd", "pgd clean", "fgsm", "pgd l2"):
        for train_mode in (True, False):
            model, x = net(batch_norm=True), images()
            y = torch.arange(6) % 3
            hook = Adversarial(GRADIENT[name], train_mode=train_mode)
            found[f"{name} {train_mode}"] = {
                "images": hook(model, x, y, seeded("hook")), "mean": model[2].running_mean,
                "modes": [m.training for m in model.modules()]}
    return {**found, "default": Adversarial(GRADIENT["pgd"]).train_mode}


@case
def readings_of_chen():
    """Steps of Euclidean length in the L-inf ball, pixels beyond white, half of a batch adversarial."""
    model, x, y = setting()
    steps = PGD(LinfEuclideanSteps(0.15), 3, 0.4)
    beyond = {"beyond": PGDBeyondWhite(Linf(0.15), 3, 0.06),
              "beyond far": PGDBeyondWhite(LinfEuclideanSteps(0.15), 2, 2.0)}
    found = {name: attack.propose(model, x, y, attack.draw(x, seeded(name)))
             for name, attack in {"steps": steps, **beyond}.items()}
    hook = HalfAdversarial(GRADIENT["pgd"], train_mode=False)
    half = {count: hook(model, x[:count], y[:count], seeded("half")) for count in (5, 6)}
    return {**found, **half, "judged": steps(model, x, y, generator=seeded("judged")),
            "sizes": [LinfEuclideanSteps(0.1).distance(x[:3], x[3:]), Linf(0.1).distance(x[:3], x[3:])]}


# ---- along a line, at random -----------------------------------------------------------------------------
def one_logit(name="one"):
    """A module that returns [N, 1], the function that returns its [N], and images with their classes."""
    model, x = net(name, classes=1), images(name="one")
    with torch.no_grad(), frozen(model):
        y = (model(x)[:, 0] > 0).long()
    y[-1] = 1 - y[-1]
    return model, lambda z: model(z)[:, 0], x, y


LINES = {"squared": LineSearch(count=40, largest=4.0), "margin": LineSearch(33, 2.0, loss="margin"),
         "default": LineSearch(), "two": LineSearch(count=2, largest=1.5), "short": LineSearch(25, 0.3)}
LINES_TO = {"squared": LineSearch(count=50, largest=6.0, targeted=True),
            "margin": LineSearch(count=50, largest=6.0, loss="margin", targeted=True)}


@case
def line_searches():
    model, x, y = setting(dropout=True)
    found = {name: attack(model, x, y) for name, attack in LINES.items()}
    aimed = {f"to {name} {n}": attack(model, x, y, target=(y + n) % 3)
             for name, attack in LINES_TO.items() for n in (0, 1)}
    single, function, grey, sides = one_logit()
    one = {f"one {name}": [attack(each, grey, sides) for each in (single, function)]
           for name, attack in LINES.items() if name != "default"}
    one["one to"] = [attack(single, grey, sides, target=1 - sides) for attack in LINES_TO.values()]
    return {**found, **aimed, **one, "parts": LINES["squared"](model, x, y, chunk=4),
            "none": LINES["squared"](model, x[:0], y[:0]), "single": LINES["margin"](model, x[:1], y[:1]),
            "flat": LINES["two"](constant(1.0, 2.0), x, y % 2),
            "modes": [m.training for m in model.modules()]}


@case
def what_line_searches_propose():
    """Before the judge looks: NaN where none was found, the passes, the threat."""
    model, x, y = setting()
    found = {name: attack.propose(model, x, y, None) for name, attack in LINES.items() if name != "default"}
    aimed = {f"to {name}": attack.propose(model, x, (y + 1) % 3, None) for name, attack in LINES_TO.items()}
    threats = [[each.threat.norm, str(each.threat.size), str(each.threat.targeted)]
               for each in (LINES["two"], LINES_TO["margin"])]
    return {**found, **aimed, "threats": threats, "draw": LINES["two"].draw(x, None) is None,
            "bad": [refused(LineSearch, *each) for each in
                    ((1,), (2,), (0,), (9, 0.0), (9, -1.0), (9, float("nan")), (9, float("inf")), (9, 1e-9),
                     (9, 1.0, "squared"), (9, 1.0, "margin"), (9, 1.0, "hinge"), (9, 1.0, ""))],
            "target": [refused(LINES["two"], model, x, y, target=y),
                       refused(LINES_TO["margin"], model, x, y)]}


RANDOM = {"linf": RandomSearch(Linf(0.7), 60), "l2": RandomSearch(L2(3.0), 60),
          "few": RandomSearch(L2(2.0), 1), "near": RandomSearch(Linf(0.1), 30)}


@case
def random_searches():
    model, x, y = setting(dropout=True)
    found = {name: attack(model, x, y, generator=seeded(name)) for name, attack in RANDOM.items()}
    aimed = {f"to {n} {norm.norm}": RandomSearch(norm(2.0, targeted=True), 40)(
        model, x, y, target=(y + n) % 3, generator=seeded("to")) for norm in (Linf, L2) for n in (0, 1, 2)}
    single, function, grey, sides = one_logit()
    one = [RANDOM["l2"](each, grey, sides, generator=seeded("one")) for each in (single, function)]
    parts = RANDOM["linf"](model, x, y, generator=seeded("linf"), chunk=4)
    return {**found, **aimed, "one": one, "parts": parts,
            "none": RANDOM["l2"](model, x[:0], y[:0], generator=seeded("none")),
            "single": RANDOM["l2"](model, x[:1], y[:1], generator=seeded("single")),
            "default": RandomSearch(Linf(0.4))(model, x[:2], y[:2], generator=seeded("default")).passes,
            "modes": [m.training for m in model.modules()]}


@case
def what_random_searches_propose():
    model, x, y = setting()
    drawn = {name: attack.draw(x, seeded(name)) for name, attack in RANDOM.items()}
    found = {name: attack.propose(model, x, y, drawn[name]) for name, attack in RANDOM.items()}
    return {"drawn": drawn, "found": found, "generator": refused(RANDOM["l2"], model, x, y),
            "bad": [refused(RandomSearch, *each) for each in
                    ((Linf(0.1), 0), (Linf(0.1), -1), (Linf(0.1), 1), (Linf(0.1),), (Linf(),), (L2(), 9))],
            "nan": refused(RANDOM["l2"], lambda z: torch.where(z.flatten(1)[:, :2] > 0.99, torch.nan, 1.0) *
                           torch.tensor([3.0, 1.0]), 0.3 + 0 * x, 0 * y, generator=seeded("nan"))}


@case
def searches_as_given_and_their_last_try():
    model, x, y = setting()
    line = LineSearch()
    return {"line": f"{line.count} {line.largest}", "words": [line.loss, str(line.targeted)],
            "draws": RandomSearch(L2(1.0)).draws,
            "last": RandomSearch(Linf(0.7), 5)(model, x, y, generator=seeded("linf"))}


@case
def where_the_image_serves_as_it_is():
    """Images on the edge of a plane, beyond it and before it: a tie gives the lower class."""
    x = torch.tensor([0.25, 0.5, 0.75]).view(-1, 1, 1, 1).repeat(1, *SHAPE[:1], 1, 1)

    def model(z):
        rise = z.mean((1, 2, 3)) - 0.5
        return torch.stack([-rise, rise], 1)

    told = {}
    for side in (0, 1):
        y = torch.full((3,), side)
        for loss in ("squared", "margin"):
            attack = LineSearch(count=65, largest=2.0, loss=loss)
            told[f"{side} {loss}"] = attack(model, x, y), attack(lambda z: model(z)[:, 1], x, y)
            aimed = LineSearch(count=65, largest=2.0, loss=loss, targeted=True)
            told[f"{side} {loss} to"] = aimed(model, x, y, target=1 - y), aimed(model, x, y, target=y)
    return told


@case
def attacks_on_one_logit():
    model, function, x, y = one_logit()
    found = {name: [attack(each, x, y, generator=seeded(name)) for each in (model, function)]
             for name, attack in GRADIENT.items()}
    aimed = {f"to {name}": attack(model, x, y, target=1 - y, generator=seeded(name))
             for name, attack in AIMED.items()}
    judged = [judge(each, x, y, 1 - x, Linf(0.4)) for each in (model, function)]
    votes = [Region(0.4, samples=9).votes(each, x, generator=seeded("one")) for each in (model, function)]
    return {**found, **aimed, "judged": judged, "votes": votes}


@case
def searches_on_one_logit():
    model, function, x, y = one_logit()
    x, y = x[:5], y[:5]
    attack = CarliniWagner(rate=0.05, c=0.3, searches=3, iterations=12)
    margin = OptMargin(rate=0.1, c=0.5, searches=2, iterations=8, noise=0.2, members=3)
    aimed = CarliniWagner(rate=0.1, c=1.0, searches=2, iterations=8, targeted=True)
    return {"cw": [attack(each, x, y) for each in (model, function)],
            "to": aimed(model, x, y, target=1 - y),
            "optmargin": margin(model, x, y, generator=seeded("one"))}


# ---- attacks by optimisation -----------------------------------------------------------------------------
def searched(attack, *, count=5, target=None, chunk=None, model=None):
    own, x, y = setting(dropout=model is None)
    model = model or own
    return attack(model, x[:count], y[:count], generator=seeded("noise"), chunk=chunk,
                  target=None if target is None else (y[:count] + target) % 3)


@case
def searches_at_the_limits():
    """Constant scores: the loss is known, so are the steps at which searches end."""
    def run(c, *scores, **options):
        attack = CarliniWagner(**{"rate": 0.01, "c": c, "searches": 2, "iterations": 20} | options)
        grey = torch.full((2, *SHAPE), 0.5)
        return attack(constant(*scores), grey, torch.ones(2, dtype=torch.int64))

    return {"first loss": [run(c, 1.0, 2.0) for c in (0.99e6, 1.1e6)],
            "tie": run(1.0, 2.0, 2.0), "largest c": run(9e9, 2.0, 2.0, searches=3),
            "bounded": run(2e9, 2.0, 1.0, searches=3),
            "lengths": [run(1.0, 1.0, 2.0, iterations=n, searches=4).passes for n in (1, 2, 5, 11, 22, 35)],
            "never": run(1.0, 1.0, 2.0, stop="never", iterations=7).passes}


@case
def carlini_wagner():
    def run(**options):
        return searched(CarliniWagner(**{"rate": 0.05, "c": 0.3, "searches": 3, "iterations": 15} | options))

    return {"plain": run(), "small c": run(c=0.003, searches=4), "large c": run(c=30.0),
            "confidence": run(confidence=0.5), "scale": run(scale=0.1), "reach": run(reach=0.6),
            "reach 1": run(reach=1), "few": run(iterations=5, searches=6, rate=0.3),
            "one": run(iterations=1, searches=1), "once": run(searches=1)}


@case
def searches_of_a_misclassified_image():
    """It is its own example; when a search ends, whose loss is the rounding of this image, is not told."""
    model, x, y = setting()
    found = CarliniWagner(rate=0.05, c=0.3, searches=2, iterations=12)(model, x[5:], y[5:])
    return {"images": found.x_adv, "success": found.success, "was correct": found.was_correct}


@case
def rules_that_end_a_search():
    def run(**options):
        return searched(CarliniWagner(**{"rate": 0.2, "c": 0.3, "searches": 2, "iterations": 30} | options))

    return {stop: run(stop=stop) for stop in optimised.STOPS}


@case
def carlini_wagner_to_a_class_and_in_parts():
    aimed = CarliniWagner(rate=0.1, c=1.0, searches=2, iterations=12, targeted=True)
    batch = CarliniWagner(rate=0.2, c=0.5, searches=2, iterations=20, stop="batch")
    return {"aimed": [searched(aimed, target=n) for n in (1, 2)],
            "parts": [searched(batch, chunk=chunk) for chunk in (1, 4)],
            "one": searched(batch, count=1), "none": searched(batch, count=0), "threat":
            [aimed.threat.norm, str(aimed.threat.size), str(aimed.threat.targeted), str(aimed.copies)]}


@case
def optmargin():
    def run(**options):
        return OptMargin(**{"rate": 0.1, "c": 0.5, "searches": 3, "iterations": 12, "noise": 0.2,
                            "members": 3} | options)

    default = OptMargin(rate=0.1, c=0.5)
    return {"plain": searched(run()), "parts": searched(run(), chunk=2), "one": searched(run(members=1)),
            "strong": searched(run(confidence=0.2, searches=2)), "never": searched(run(stop="never")),
            "batch": searched(run(stop="batch", iterations=20, rate=0.3, searches=2), chunk=4),
            "aimed": searched(run(targeted=True), target=1),
            "noises": default.noises(torch.Size((1, 5, 5)), seeded("noises")),
            "own": run().draw(images(), seeded("own")), "copies": run().copies,
            "no noise": CarliniWagner(rate=1, c=1).draw(images(), None)}


@case
def bad_searches():
    def bad(kind=CarliniWagner, **options):
        return refused(kind, **{"rate": 0.1, "c": 1.0} | options)

    least = dict(searches=1, iterations=1, reach=1, members=1)
    return {"fine": [bad(), bad(OptMargin), bad(OptMargin, **least)],
            "counts": [bad(searches=0), bad(iterations=0)],
            "numbers": [bad(**{name: value}) for name in ("rate", "c", "scale", "confidence")
                        for value in (0.0, -1.0, 1.1e10, 1e10, 9.9e9, float("nan"))],
            "reach": [bad(reach=value) for value in (0.5, 0.51, 0.4, 1.01, 1, 0.6)],
            "stop": [bad(stop=value) for value in (*optimised.STOPS, "always")],
            "margin": [bad(OptMargin, **each) for each in
                       (dict(members=0), dict(noise=0.0), dict(noise=-1.0), dict(searches=0),
                        dict(noise=0.1))],
            "members": refused(searched, OptMargin(rate=0.1, c=1.0, members=25, iterations=1)),
            "generator": refused(OptMargin(rate=0.1, c=1.0).draw, images(), None),
            "target": refused(searched, CarliniWagner(rate=0.1, c=1.0), target=1)}


PUBLISHED = {"mnist margin": optimised.MNIST_MARGIN, "mnist brittle": optimised.MNIST_BRITTLE,
             "mnist strong": optimised.MNIST_STRONG, "cifar10 margin": optimised.CIFAR10_MARGIN,
             "cifar10 brittle": optimised.CIFAR10_BRITTLE, "cifar10 strong": optimised.CIFAR10_STRONG,
             "imagenet margin": optimised.IMAGENET_MARGIN, "imagenet brittle": optimised.IMAGENET_BRITTLE}


def settings(a):
    """An attack by optimisation in words, without the names of its fields."""
    numbers = [a.rate, a.c, a.searches, a.iterations, a.confidence, a.scale, a.reach, a.targeted]
    margin = [a.noise, a.members] if isinstance(a, OptMargin) else []
    return {"numbers": str(numbers + margin), "stop": a.stop}


@case
def published_searches():
    return {name: settings(attack) for name, attack in PUBLISHED.items()}


# ---- the nearest example ---------------------------------------------------------------------------------
@case
def l1_threats():
    x, z = images(name="x"), images(name="z")
    z[1], z[2] = x[1], x[2] + 0.01
    slope = torch.randn(6, *SHAPE, generator=seeded("slope"))
    slope[0], slope[1, 0, 0, :2] = 0, 9.0
    return {"draw": L1(2.0).random(x, seeded("draw")), "steepest": L1().steepest(slope), "norm": L1.norm,
            **{f"{size}": {"length": L1(size).length(z - x), "project": L1(size).project(z, x)}
               for size in (0.05, 1.0, 4.0, float("inf"))},
            "fgsm": FGSM(L1(2.0))(*setting()),
            "pgd": PGD(L1(3.0), 3, 1.0)(*setting(), generator=seeded("l1"))}


@case
def what_counts_as_an_example():
    model, x, y = setting()
    scores, slope, _ = scored(model, x, y)
    return {"scores": scores, "slope": slope, "left": fooled(scores, y, targeted=False),
            "reached": [fooled(scores, y, targeted=True, probability=p) for p in (0.0, 0.3, 0.5, 0.9)],
            "half": [fooled(torch.tensor([[0.0, 0.0]]), torch.tensor([n]), targeted=t) for n in (0, 1)
                     for t in (False, True)]}


BALLS = {"l1": BasicIterative("L1", iterations=5, halvings=4),
         "l2": BasicIterative("L2", (0.02, 0.2, 1.0), halvings=5),
         "linf": BasicIterative(epsilon=(0.05, 0.5), step=0.02, iterations=3, growths=4, halvings=6),
         "one": BasicIterative(epsilon=0.4, growths=1, halvings=0), "mi": MomentumIterative(halvings=5),
         "decay": MomentumIterative("L2", epsilon=0.1, decay=0.5, iterations=4, growths=5, halvings=3),
         "without": MomentumIterative(epsilon=0.1, decay=0.0, iterations=4, growths=5, halvings=3),
         "sure": BasicIterative("L2", epsilon=0.1, growths=9, halvings=5, probability=0.8)}


@case
@sure()
def balls():
    model, x, y = setting(dropout=True)
    found = {name: attack(model, x, y) for name, attack in BALLS.items()}
    aimed = {f"to {name} {n}": dataclasses.replace(attack, targeted=True)(model, x, y, target=(y + n) % 3)
             for name, attack in BALLS.items() for n in (0, 1)}
    return {**found, **aimed, "parts": BALLS["l2"](model, x, y, chunk=4),
            "none": BALLS["l2"](model, x[:0], y[:0]), "proposed": BALLS["one"].propose(net(), x, y, None),
            "flat": BALLS["one"](constant(1.0, 2.0), x, torch.ones_like(y)),
            "default": str(BasicIterative()), "modes": [m.training for m in model.modules()],
            "threats": [[each.threat.norm, str(each.threat.size), str(each.threat.targeted)]
                        for each in BALLS.values()],
            "bad": [refused(BasicIterative, *each) for each in
                    (("L1", 0.1), ("L0", 0.1), ("L2", 0.0), ("L2", (0.1, -1.0)), ("L2", float("inf")),
                     ("L2", 0.1, 0.0), ("L2", 0.1, 0.1, 0), ("L2", 0.1, 0.1, 1, 1, 0), ("L2", 0.1, 0.1, 1, 0),
                     ("L2", 0.1, 0.1, 1, 1, -1), ("L2", 0.1, 0.1, 1, 1, 1, False, 1.0),
                     ("L2", 0.1, 0.1, 1, 1, 1, False, 0.0), ("L2", 0.1, 0.1, 1, 1, 1, False, -0.1))]}


@case
def newton():
    model, x, y = setting(dropout=True)
    found = {f"{eta} {steps}": NewtonFool(eta, steps)(model, x, y)
             for eta, steps in ((0.01, 100), (0.3, 7), ((0.02, 0.1), 30), (5.0, 3), (0.001, 1))}
    own = NewtonFool(0.05, 9)
    return {**found, "proposed": own.propose(net(), x, y, None), "parts": own(model, x, y, chunk=4),
            "flat": own(constant(1.0, 2.0), x, torch.ones_like(y)), "none": own(model, x[:0], y[:0]),
            "threat": [own.threat.norm, str(own.threat.size), str(own.threat.targeted)],
            "default": NewtonFool()(model, x[:1], y[:1]),
            "bad": [refused(NewtonFool, *each) for each in ((0.1, 1), (0.1, 0), (0.0, 5), ((0.1, -0.1), 5),
                                                            (float("inf"), 5))]}


SIGNS = {"coarse": FGSMSearch(count=10, fine=3), "fine": FGSMSearch(count=200), "one": FGSMSearch(1, 1),
         "beyond": FGSMSearch(count=40, fine=5, beyond=(0.0, 0.1, 0.03))}


@case
def fgsm_searches():
    model, x, y = setting(dropout=True)
    found = {name: attack(model, x, y) for name, attack in SIGNS.items()}
    aimed = {f"to {name} {n}": dataclasses.replace(attack, targeted=True)(model, x, y, target=(y + n) % 3)
             for name, attack in SIGNS.items() for n in (0, 1)}
    return {**found, **aimed, "parts": SIGNS["beyond"](model, x, y, chunk=3),
            "proposed": SIGNS["coarse"].propose(net(), x, y, None), "default": FGSMSearch()(model, x, y),
            "none": SIGNS["fine"](model, x[:0], y[:0]),
            "threat": [SIGNS["one"].threat.norm, str(SIGNS["one"].threat.size)],
            "bad": [refused(FGSMSearch, *each) for each in
                    ((1, 1), (0, 1), (1, 0), (1, 1, 1.0), (1, 1, -0.1), (1, 1, (0.0, 0.5)),
                     (1, 1, (0.0, 1.0)))]}


POINTS = {"few": Pointwise(levels=8, repetitions=1, halvings=2, rounds=1),
          "more": Pointwise(levels=20, repetitions=4, halvings=4, rounds=3), "one": Pointwise(1, 1, 1, 1),
          "sure": Pointwise(levels=10, repetitions=2, rounds=2, probability=0.7)}


@case
@sure()
def pointwise():
    model, x, y = setting("pointwise 1", dropout=True)
    found = {name: attack(model, x, y, generator=seeded(name)) for name, attack in POINTS.items()}
    aimed = {f"to {name} {n}": dataclasses.replace(attack, targeted=True)(
        model, x, y, target=(y + n) % 3, generator=seeded(name)) for name, attack in POINTS.items()
        for n in (0, 1)}
    draw = POINTS["few"].draw(x, seeded("draw"))
    return {**found, **aimed, "parts": POINTS["more"](model, x, y, generator=seeded("more"), chunk=4),
            "draw": draw, "proposed": POINTS["more"].propose(net("pointwise 1"), x, y, draw),
            "starts": POINTS["more"]._start(net("pointwise 1"), x, y, draw.double()),
            "uniform": [uniform(draw.double(), n) for n in (0, 1, 20)],
            "none": POINTS["few"](model, x[:0], y[:0], generator=seeded("none")),
            "nowhere": POINTS["few"](constant(1.0, 2.0), x, torch.ones_like(y), generator=seeded("nowhere")),
            "default": str(Pointwise()),
            "threat": [POINTS["one"].threat.norm, str(POINTS["one"].threat.size)],
            "generator": refused(POINTS["few"].draw, x, None),
            "bad": [refused(Pointwise, *each) for each in
                    ((1, 1, 1, 1), (0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0),
                     (1, 1, 1, 1, False, 0.0), (1, 1, 1, 1, False, 1.0), (1, 1, 1, 1, False, -0.1))]}


@case
@sure()
def searches_of_several_settings():
    """Tuples of weights and margins; success by the class or its probability, whatever the margin."""
    several = CarliniWagner(rate=0.2, c=(0.2, 1.0, 5.0), confidence=(0.0, 0.4), searches=4, iterations=25)
    nearest = dataclasses.replace(several, probability=0.5)
    margin = OptMargin(rate=0.1, c=(0.5, 2.0), searches=4, iterations=25, noise=0.1, members=3,
                       probability=0.4)
    return {"several": searched(several), "parts": searched(several, chunk=4), "nearest": searched(nearest),
            "aimed": [searched(dataclasses.replace(each, targeted=True), target=1) for each in
                      (several, nearest, margin, dataclasses.replace(nearest, probability=0.0),
                       dataclasses.replace(nearest, probability=0.8))], "margin": searched(margin),
            "bad": [refused(CarliniWagner, 0.1, **each) for each in
                    (dict(c=(1.0, 0.0)), dict(c=(1.0, 2.0)), dict(c=1.0, confidence=(0.0, -1.0)),
                     dict(c=1.0, probability=0.0), dict(c=1.0, probability=1.0),
                     dict(c=1.0, probability=-0.1))]}


# ---- regions ---------------------------------------------------------------------------------------------
@case
def regions():
    model, x, _ = setting(dropout=True)
    region, wide = Region(0.3, samples=30), Region(0.7, samples=7)
    tie = Region(0.1, samples=4)

    def halves(z):      # the class is the place of an image in its cloud, modulo 2
        return torch.eye(2)[torch.arange(len(z)) % 2] * 5

    return {"votes": region.votes(model, x, generator=seeded("cloud")),
            "parts": region.votes(model, x, generator=seeded("cloud"), chunk=4),
            "classes": region(model, x, generator=seeded("cloud")),
            "wide": wide.votes(model, x, generator=seeded("wide")),
            "default": Region(0.02).votes(model, x[:2], generator=seeded("default")),
            "tie": tie(halves, x[:4], generator=seeded("tie"), chunk=3),
            "one": wide.votes(model, x[:1], generator=seeded("wide")),
            "rms": [region.expected_rms, wide.expected_rms], "modes": [m.training for m in model.modules()],
            "bad": [refused(Region, *each) for each in ((0.0,), (-0.1,), (0.1, 0), (0.1, 1), (0.1,))],
            "images": refused(region, model, x.double(), generator=seeded("bad")),
            "model": refused(region, constant(0.5, 0.5), x, generator=seeded("bad"))}
