"""ROBY: both norms, true and predicted classes, kinds of features, printed equations, resamples, limits."""
import torch

from shared import roby, runtime
from shared.inference import frozen
from tests.golden import Cases, refused
from tests.golden.attacks import images, net

case = Cases()
NAMES = {2: "2", float("inf"): "inf"}


def seeded(*labels):
    return runtime.generator(0, "golden", "roby", *labels)


def clouds(count=40, classes=4, width=5):
    """Features [count, width] of classes that differ in spread and place, and their labels."""
    y = torch.arange(count) % classes
    places = 4 * torch.rand(classes, width, generator=seeded("places"))
    return places[y] + (0.3 + y[:, None]) * torch.rand(count, width, generator=seeded("samples")), y


@case
def layouts():
    features, y = clouds()
    found = {NAMES[p]: roby.layout(features, y, p=p) for p in roby.NORMS}
    return {**found, "default": roby.layout(features, y), "few": roby.layout(features[:4], y[:4]),
            "overlap": [each.overlap for each in found.values()]}


@case
def numbers():
    features, y = clouds()
    found = {}
    for p, name in NAMES.items():
        for classes in (3, 4):
            there = roby.layout(features, y % classes, p=p)
            found[f"{name} {classes}"] = {"algorithm": roby.roby(there),
                                          "equations": roby.of_equations(there)}
    return found


@case
def resamples():
    features, y = clouds()
    return {NAMES[p]: roby.bootstrap(features, y, p=p, draws=4, generator=seeded("draws"))
            for p in roby.NORMS}


@case
def measured():
    model, x = net(batch_norm=True, dropout=True), images(30)
    with torch.no_grad(), frozen(model):
        y = (model(x) - model(x).mean(0)).argmax(1)
        model[-1].bias -= model(x).mean(0)      # so that each class is predicted
    other = torch.arange(30) % 3
    look = roby.Penultimate(model)
    found = {f"{NAMES[p]} {group}": roby.measure(model, x, other, p=p, group=group)
             for p in roby.NORMS for group in ("true", "predicted")}
    return {**found, "of its classes": roby.measure(model, x, y),
            "hidden": roby.measure(model, x, other, features=look, chunk=7),
            "embedded": roby.embed(look, x), "logits": look.logits,
            "like": roby.embed(lambda z: z[:, :1, :1], x, like=model),
            "bytes": roby.measure(model, (255 * x).round().byte(), other),
            "modes": [m.training for m in model.modules()]}


@case
def more():
    features, y = clouds()
    model, x = net(), images(30)
    with torch.no_grad():
        model[-1].bias -= model(x).mean(0)
    return {"two classes": roby.layout(features, y % 2),
            "hidden predicted": roby.measure(model, x, torch.arange(30) % 3, features=roby.Penultimate(model),
                                             group="predicted"),
            "default": roby.bootstrap(features[:8], y[:8], generator=seeded("default")).shape}


@case
def bad_input():
    features, y = clouds()
    alike = torch.tensor([[0., 0], [3, 0], [0, 4]])
    model, x = net(), images(12)

    def bad(features=features, y=y, **options):
        return refused(lambda: roby.roby(roby.layout(features, y, **options)))

    return {"fine": bad(), "one class": bad(y=y * 0), "two": bad(y=y % 2), "empty": bad(y=y + (y > 0)),
            "below": bad(y=y - 1), "none": bad(features[:0], y[:0]), "few": bad(features[:2], y[:2] + 1),
            "nan": bad(features / 0), "p": [bad(p=p) for p in (1, 2, 3, float("inf"))],
            "shape": bad(features[:, 0]), "type": bad(y=y.int()), "length": bad(y=y[1:]),
            "centre": bad(torch.tensor([[1., 0], [-1, 0], [3, 3], [3, 4], [0, 2], [0, -2]]),
                          torch.tensor([0, 0, 1, 1, 2, 2])),
            "wide": bad(alike, torch.arange(3)),
            "far": bad(torch.cat([torch.eye(3), torch.eye(3) * torch.tensor([[1.2], [1.4], [1.8]])]),
                       torch.arange(6) % 3),
            "sums": refused(roby.of_equations, roby.layout(alike, torch.arange(3))),
            "draws": [refused(roby.bootstrap, features, y, draws=n, generator=seeded("bad")) for n in (0, 1)],
            "generator": refused(roby.bootstrap, features, y, draws=1, generator=None),
            "group": [refused(roby.measure, model, x, torch.arange(12) % 3, group=g) for g in ("true", "no")],
            "pixels": refused(roby.measure, model, 2 + x, torch.arange(12) % 3),
            "layers": refused(roby.Penultimate, torch.nn.ReLU())}
