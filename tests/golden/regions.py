"""Regions: sweeps, intervals and boxes, what models say in them, and what units of images hold."""
import dataclasses
from types import SimpleNamespace
from unittest import mock

import torch

from papers.shu import experiments as setting
from papers.shu import models as shu
from papers.shu.experiments import Family
from report import zoo
from shared import regions as boxes
from shared import runtime
from shared.attacks.iterative import BasicIterative
from shared.attacks.newton import NewtonFool
from shared.attacks.pointwise import Pointwise
from shared.data import sets
from tests.golden import ROUNDED, Cases, refused
from tests.golden.attacks import SHAPE, images, net, sure

case = Cases()
# Steps leave every ball and no size is another one halved: else two searches would come to one example.
SWEEP = BasicIterative("L2", epsilon=(0.05, 0.11, 0.19, 0.37, 0.83), step=2.0, iterations=5, growths=6,
                       halvings=5)


def seeded(*labels):
    return runtime.generator(0, "golden", "regions", *labels)


def model(number):
    """One of a family: nets that differ a little."""
    made, draw = net("regions"), seeded("model", number)
    with torch.no_grad():
        for p in made.parameters():
            p += 0.4 * torch.rand(p.shape, generator=draw) - 0.2
    return made


def models(count=4):
    return [model(n) for n in range(count)]


def image():
    """An image that all models give one class, and that class."""
    x = images(60, "image")
    said = boxes.answers(models(), x)
    row = (said == said[0]).all(0).nonzero()[0]
    return x[row], said[0, row]


def examples(count=9):
    """An image, and others that differ from it in some values by less, by more and by next to nothing."""
    x, moves = images(1, "clean"), torch.rand(count, *SHAPE, generator=seeded("moves"))
    moves = torch.where(moves < 0.7, 0.3 * (moves - 0.35), 0)
    moves[:, :, 0], moves[:, 0, 2], moves[:, 1, 1, 1] = 0.0003, 0.2, 0.0005
    moves[:2, 1, 2, 3], moves[2:, 1, 2, 3] = 0.0, 0.1
    return x, (x + moves).clamp(0, 1)


def distinct(found):
    """A sweep, of which no two examples are nearly equal: their number would hang on rounding."""
    apart = torch.pdist(found.images.flatten(1))
    assert len(found.images) == found.succeeded and (apart > ROUNDED).all(), "equal examples"
    return found


# ---- sweeps and boxes ------------------------------------------------------------------------------------
@case
@sure()
def sweeps():
    (x, y), one = image(), model(0)
    aimed = dataclasses.replace(SWEEP, targeted=True)
    found = boxes.sweep(one, x, y, SWEEP, count=5)
    more = boxes.sweep(one, x, y, aimed, count=5, target=(y + 1) % 3)
    both = distinct(found.joined(more))
    return {"found": found, "aimed": more, "both": both, "of": [both.of(t) for t in range(3)],
            "again": found.joined(found), "default": boxes.sweep(one, x, y, SWEEP).succeeded,
            "bad": [refused(boxes.sweep, one, x, each, SWEEP, count=5) for each in (y, (y + 1) % 3)],
            "several": refused(boxes.sweep, one, x.repeat(2, 1, 1, 1), y.repeat(2), SWEEP)}


@case
def intervals_and_boxes():
    x, z = examples()
    found = {f"{keep}": boxes.intervals(x, z, keep=keep, least=9) for keep in (0.0, 0.3, 0.8, 1.0)}
    box = found["0.0"]
    return {**found, "equal ones": boxes.intervals(x, torch.cat([z, z]), keep=0.5, least=9),
            "default": boxes.intervals(x, torch.cat([z, 0.9 * z]), least=2), "widths": box.widths,
            "first": box.first(3), "all": box.first(len(box.values)), "whole": box.first(4).whole(),
            "kept": [box.kept(share, 9) for share in (0.0, 0.4, 1.0)],
            "sample": box.first(7).sample(5, generator=seeded("sample")),
            "points": box.first(2).whole().points(3, seeded("points")),
            "bad": [refused(boxes.intervals, x, z, least=least) for least in (8, 9, 10)],
            "few": [refused(boxes.intervals, x, z[:n], least=n, keep=0.0) for n in (0, 1)],
            "least": [refused(boxes.intervals, x, torch.rand(n, *SHAPE, generator=seeded("few")))
                      for n in (79, 80)],
            "nothing": refused(boxes.intervals, x, x, least=1),
            "sizes": [refused(box.first, b) for b in (-1, 0, 1, len(box.values), len(box.values) + 1)],
            "widest": [refused(box.first, 3, widest=width) for width in (0.01, 0.1, 0.2, 1.0)]}


# ---- what models say -------------------------------------------------------------------------------------
@case
def what_models_say():
    every, (x, y), z = models(), image(), images(70, "cloud")
    said, axis = boxes.answers(every, z), torch.eye(24)[:1].view(1, *SHAPE)
    box = boxes.intervals(x, (x + 0.3 * (images(6, "around") - 0.5)).clamp(0, 1), keep=0.0, least=6)
    return {"answers": said, "rates": boxes.rates(every, z, y), "labels": boxes.rates(every, z, said[1]),
            "agreement": [boxes.agreement(said, y), boxes.agreement(said, said[1]),
                          boxes.agreement(said[:2], y), boxes.agreement(said[:, :0], y)],
            "curve": boxes.curve(every, y, box, [2, 3, 9], samples=40, generator=seeded("curve")),
            "whole": boxes.curve(every, y, box.whole(), [4], samples=9, generator=seeded("curve")),
            "too large": refused(boxes.curve, every, y, box, [2, 99], samples=4, generator=seeded("curve")),
            "lengths": boxes.lengths(x, z), "one": refused(boxes.agreement, said[:1], y),
            "noise": boxes.noise(x, torch.tensor([0.1, 2.0, 0.0]), generator=seeded("noise")),
            "plane": boxes.plane(every, x, z[:1] - x, z[1:2] - x, reach=0.7, size=5),
            "flat": [refused(boxes.plane, every, x, axis, each, reach=1, size=2)
                     for each in (axis, -3 * axis, z[1:2])]}


@case
def in_words():
    rates = [[0.5, 0.05, 0.3], [0.49, 0.0, 1.0], [0.5, 0.06, 0.9], [0.05, 0.5], [0.06, 0.5], [0.05, 0.49],
             [0.25, 0.25], [0.24, 0.9], [0.9, 0.24], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    return {"kinds": [str(boxes.kind(each)) for each in rates],
            "others": [str(boxes.kind(each, mostly=0.9, right=0.2, significant=0.6)) for each in rates],
            "alarm": [boxes.alarm(each) for each in
                      ([1, 2], [0, 0, 5], [7, 0, 0], [1, 2, 3, 4], torch.arange(10), [3, 1, 4, 1, 5, 9])],
            "spaced": [boxes.spaced(*each) for each in ((1, 5), (4, 40), (9, 3), (3, 10), (40, 333))],
            "bad": [refused(boxes.kind, [0.5]), refused(boxes.kind, [0.5, 0.5]), refused(boxes.alarm, [4]),
                    refused(boxes.alarm, [4, 1])]}


# ---- what the pages plan and measure ---------------------------------------------------------------------
FAMILY = Family("digits", "shu-lenet", (shu.SMOKE, shu.QUICK), 4)


def drawn_set(*_, **__):
    """Ninety images of three classes, which the first model mostly gives them."""
    x = (255 * images(90, "set 54")).round().to(torch.uint8)
    y = boxes.answers(models(1), x.float() / 255)[0]
    y[::7] = (y[::7] + 1) % 3
    return SimpleNamespace(x_test=x, y_test=y, x_train=255 - x, y_train=(y + 1) % 3, classes=("a", "b", "c"),
                           first=lambda count: (x[:count], y[:count]))


def kept_net(architecture, recipe, dataset, seed, *, device):
    return SimpleNamespace(net=model(seed % 4), train_accuracy=0.875, test_accuracy=0.75,
                           recipe=recipe, seconds=float(seed))


def apart(function):
    """Let data and networks be those above; no value may be nearly unchanged, no intervals nearly equal."""
    sweep, intervals = setting._swept, boxes.intervals

    def swept(*given):
        images, *rest = sweep(*given)
        return distinct(images), *rest

    def checked(x, examples, **options):
        box = intervals(x, examples, **options)
        gaps = box.widths.sort().values.diff()
        assert ((gaps == 0) | (gaps > 2 / boxes.ALIKE)).all(), "two intervals are nearly equal"
        assert ((boxes.CHANGED * (examples - x).abs() - 0.5).abs() > 0.01).all(), "nearly unchanged"
        return box

    def inside():
        with (mock.patch.object(sets, "load", drawn_set), mock.patch.object(zoo, "net", kept_net), sure(),
              mock.patch.object(boxes, "intervals", checked), mock.patch.object(setting, "_swept", swept)):
            return function()
    inside.__name__ = function.__name__
    return inside


@case
@apart
def families():
    every = FAMILY.models(0)
    return {"trained": [[FAMILY.trained(k, seed).seconds, FAMILY.trained(k, seed).recipe.epochs]
                        for k in range(4) for seed in (0, 2)],
            "images": [FAMILY.image(split, n) for split in ("test", "train") for n in (0, 4, 89, 93)],
            "chosen": [FAMILY.chosen(every, label, count) for label in range(3) for count in (1, 2)],
            "too few": [refused(FAMILY.chosen, every, 0, count) for count in (1, 90)],
            "networks": [setting.measure_network(FAMILY, number=k, seed=s) for k, s in ((0, 0), (3, 1))],
            "clean": [setting.measure_clean(FAMILY, images=n, seed=0) for n in (90, 11)]}


UNIT = dict(count=5, least=2, sizes=8, samples=12, seed=0)
FREE = NewtonFool((0.01, 0.02, 0.03, 0.05, 0.08), 100)
NOTHING = BasicIterative(epsilon=1e-4, growths=1)


@case
@apart
def units_of_images():
    label = int(sets.load("digits").y_test[FAMILY.chosen(FAMILY.models(0), 1)[0]])
    one = dict(label=label, split="test", number=None, aims=2, also=[2, 999], whole=False, **UNIT)
    many = dict(label=label, images=2, whole=False, **UNIT)
    train = FAMILY.chosen(FAMILY.models(0), 2)[0]
    return {"all": setting.measure_image(FAMILY, SWEEP, **one),
            "whole": setting.measure_image(FAMILY, FREE, **one | {"aims": 0, "whole": True, "number": train,
                                                                  "label": 2}),
            "few": setting.measure_image(FAMILY, SWEEP, **one | {"least": 6, "aims": 0}),
            "several": setting.measure_images(FAMILY, SWEEP, aims=1, **many),
            "free": setting.measure_images(FAMILY, FREE, aims=0, **many | {"label": 0, "whole": True}),
            "none": [setting.measure_images(FAMILY, NOTHING, aims=aims, **many) for aims in (0, 1)]}


@case
@apart
def planes_of_boxes():
    found = {}
    for name, attack, aims in (("bim", SWEEP, 2), ("nf", FREE, 0)):
        result = setting.measure_image(FAMILY, attack, label=0, split="test", number=None, aims=aims, also=[],
                                       whole=False, **UNIT)
        found[name] = result
    found["without"] = {"classes": {}}
    given = dict(label=0, others=[1, 2], reach=1.5, far=2.5, size=5, seed=0)
    with mock.patch.object(setting, "results_of", lambda name: found):
        return [setting.measure_planes(FAMILY, targets, **given)
                for targets in ({}, {"bim": 1, "nf": 2}, {"bim": 2, "nf": 9})]


# Settings of small runs that stood in this room when its outputs were first stored; now the pages have them.
SHORT = setting.SWEEPS | {
    "nf": NewtonFool(eta=(0.01, 0.02, 0.03, 0.05, 0.08, 0.1), steps=20),
    "fgsm": dataclasses.replace(setting.SWEEPS["fgsm"], count=50),
    "cw2": dataclasses.replace(setting.SWEEPS["cw2"], rate=0.1, searches=2, iterations=25, c=(1.0, 10.0)),
    "pw": Pointwise(levels=20, repetitions=1, halvings=3, rounds=1)} | {
    name: dataclasses.replace(setting.SWEEPS[name], step=0.1, iterations=5, growths=8, halvings=3)
    for name in ("bim-l1", "bim-l2", "bim-linf", "mi")}


@case
def published_sweeps():
    def plain(attack):
        return {f.name: [float(v) if isinstance(v, (int, float)) else str(v) for v in
                         (value if isinstance(value, tuple) else (value,))]
                for f in dataclasses.fields(attack) for value in [getattr(attack, f.name)]}
    sweeps = {"whole": setting.SWEEPS, "short": SHORT, "script": {"bim-l1": setting.SCRIPT}}
    return {name: {each: plain(attack) for each, attack in attacks.items()}
            for name, attacks in sweeps.items()} | {"rules": setting.RULES, "aimless": list(setting.AIMLESS)}
