"""Boundary: surveys along directions, purity, the classifier of Figure 4, thresholds, what pages plan."""
from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import torch

from papers.he import experiments
from papers.he import models as he
from papers.he.experiments import attacks_on, directions_for, examples, learn, subjects, under_noise
from papers.he.models import Subject
from report import zoo
from shared import runtime
from shared.attacks.directions import directions
from shared.attacks.gradient import FGSM, PGD
from shared.attacks.optimised import CarliniWagner, OptMargin
from shared.attacks.threat import L2, Linf
from shared.boundary import classifier
from shared.boundary.classifier import BoundaryNet, Pairs, Rates, Threshold, features, rates, threshold, train
from shared.boundary.survey import Survey, purity, refine, strewn, survey
from shared.data import sets
from tests.golden import Cases, refused
from tests.golden.attacks import constant, images, net, of_classes, settings

case = Cases()
WIDTH = 24          # values of an image


def seeded(*labels):
    return runtime.generator(0, "golden", "boundary", *labels)


def walks(count=5, *, negatives=True):
    """A model with its images, and directions."""
    drawn = directions(WIDTH, count, negatives=negatives, generator=seeded("q 20"))
    return net(dropout=True), images(8), drawn


# ---- surveys ---------------------------------------------------------------------------------------------
def whole(found):
    return {"survey": found, "found": found.found, "linf": found.linf}


@case
def surveys():
    model, x, dirs = walks()
    grids = {"small": (0.05, 0.3), "large": (0.07, 1), "one": (0.3, 0.3), "not whole": (0.04, 0.1)}
    found = {name: whole(survey(model, x, dirs, step=step, top=top)) for name, (step, top) in grids.items()}
    known = {f"legacy {top}": whole(survey(model, x, dirs[:3], step=0.04, top=top, legacy_tail_bug=True))
             for top in (0.4, 1.0)}
    return {**found, **known, "parts": survey(model, x, dirs, step=0.05, top=0.3, chunk=7),
            "one": whole(survey(model, x[:1], dirs[:1], step=0.05, top=1)),
            "nowhere": whole(survey(constant(1.0, 2.0), x, dirs, step=0.1, top=0.5, legacy_tail_bug=True)),
            "none": whole(survey(model, x[:0], dirs, step=0.1, top=0.5)),
            "modes": [m.training for m in model.modules()]}


def ball(z):
    """Class 0 within a ball around grey: every direction leaves it."""
    over = (z - 0.5).flatten(1).square().sum(1) - 1
    return torch.stack([-over, over], 1)


@case
def every_direction_crosses():
    _, x, dirs = walks()
    near = 0.4 + 0.2 * x
    return {f"{legacy}": survey(ball, near, dirs, step=0.02, top=0.5, legacy_tail_bug=legacy)
            for legacy in (False, True)}


@case
def surveys_of_other_models():
    """One logit, as a module and as a function, and a function without parameters."""
    single, (_, x, dirs) = net("one logit", classes=1), walks()
    single.eval()
    models = {"module": single, "row": lambda z: single(z)[:, 0],
              "free": lambda z: 3 * z.flatten(1)[:, :3] - z.flatten(1)[:, 3:6]}
    told = {}
    for name, model in models.items():
        rough = survey(model, x, dirs, step=0.2, top=1)
        told[name] = {"survey": rough, "refined": refine(model, x, dirs, rough, halvings=2),
                      "purity": purity(rough)}
    return told


@case
def refined():
    model, x, dirs = walks()
    rough = survey(model, x, dirs, step=0.2, top=1)
    found = {f"{n}": refine(model, x, dirs, rough, halvings=n) for n in (1, 3)}
    return {**found, "default": refine(model, x, dirs, rough), "bad": refused(refine, model, x, dirs, rough,
                                                                             halvings=0),
            "parts": refine(model, x, dirs, rough, halvings=2, chunk=5),
            "directions": refused(refine, model, x, 2 * dirs, rough),
            "modes": [m.training for m in model.modules()]}


@case
def points_of_the_walks():
    _, x, dirs = walks()
    return {f"{top}": strewn(x, dirs, 9, top=top, generator=seeded("strewn")) for top in (0.2, 1.0)}


def surveyed(adjacent, classes=None):
    """A survey with these adjacent classes, found at distances that are in no order."""
    adjacent = torch.tensor(adjacent)
    distance = torch.where(adjacent < 0, 1.0, 0.4 + 0.05 * (torch.arange(adjacent.shape[1]) * 3 % 7))
    return Survey(distance=distance, adjacent=adjacent, reference=torch.zeros(len(adjacent)).long(),
                  stretch=torch.ones(adjacent.shape[1]), step=0.05, evaluations=1)


MIXED = [[1, 2, 1, 0, 4, -1], [3, 3, 3, 3, 3, 3], [-1, -1, -1, -1, -1, -1], [0, 1, 2, 3, 4, 4]]


@case
def purities():
    found = surveyed(MIXED)
    return {"tops": [purity(found, top) for top in (1, 2, 3, 9)], "all": purity(found),
            "never": purity(surveyed([[-1, -1]])), "class 0": purity(surveyed([[0, -1]])),
            "none": purity(surveyed(torch.zeros(0, 4).long().tolist() or [[]])),
            "features": [features(found), features(found, centre=0.0625, unit=0.5)]}


@case
def nearest_and_censored():
    """An image whose boundary was not met is censored at the largest distance tried."""
    tops = {top: replace(surveyed(MIXED), top=top) for top in (0.3, 1.0)}
    return {f"{top}": [found.nearest, found.censored] for top, found in tops.items()}


@case
def bad_surveys():
    model, x, dirs = walks()

    def bad(step=0.1, top=0.5, dirs=dirs, x=x, model=model):
        return refused(survey, model, x, dirs, step=step, top=top)

    def off(size, n=2, **options):
        near = dirs.clone()
        near[n] = near[n] * (1 + size)
        return bad(dirs=near, **options)

    def leaning(size):
        near = dirs[:2].clone()
        near[1] = near[1] + size * near[0]
        return bad(dirs=near)

    return {"fine": bad(), "grid": [bad(*each) for each in ((0.0, 0.5), (-0.1, 0.5), (0.6, 0.5), (0.5, 0.5),
                                                           (0.5, 1), (0.5, 1.01), (0.1, float("nan")))],
            "directions": [bad(dirs=each) for each in (dirs[0], dirs[:, 1:], dirs[:0], dirs.double(),
                                                       dirs[:1], torch.cat([dirs, dirs[:1]]))],
            "lengths": [off(size) for size in (4e-4, 5.5e-4, 7e-4, -4e-4, -5.5e-4)],
            "angles": [leaning(size) for size in (9e-4, 1.1e-3, 1.4e-3, -9e-4, -1.1e-3)],
            "images": bad(x=x * 2), "model": bad(model=constant(0.5, 0.5))}


# ---- the classifier --------------------------------------------------------------------------------------
def pairs(count=40, distances=40):
    """Sorted distances, smaller around adversarial images; not all of which count."""
    draw = seeded("pairs")

    def kind(scale):
        found = scale * torch.rand(count, distances, generator=draw).sort(1).values
        return torch.cat([found, torch.rand(count, 3, generator=draw).sort(1).values], 1)

    return Pairs(kind(1.0), kind(0.6), torch.rand(count, generator=draw) < 0.8,
                 torch.rand(count, generator=draw) < 0.5)


@case
def classifiers():
    every = pairs()
    learners = {"plain": dict(steps=5, batch=16), "balanced": dict(steps=4, batch=16, balanced=True),
                "default": dict(steps=2), "rate": dict(steps=4, batch=7, rate=0.02),
                "small": dict(steps=5, batch=1, balanced=True, rate=0.01)}
    found, before = {}, torch.get_rng_state()
    for name, options in learners.items():
        learned = train(every[:30], generator=seeded(name), **options)
        found[name] = {"logits": learned(every.benign), "errors": rates(learned, every[30:]),
                       "training": learned.training}
    return {**found, "random": torch.equal(before, torch.get_rng_state()), "slice": every[3:5],
            "kept": every.kept()}


@case
def a_classifier_of_one_example_among_many_images():
    every = pairs(8)
    one = Pairs(every.benign, every.adversarial, torch.arange(8) > 1, torch.arange(8) == 5)
    return train(one, steps=3, batch=8, rate=0.01, balanced=True, generator=seeded("one"))(every.benign)


@case
def a_classifier_of_more_directions():
    every = pairs(distances=48)
    return train(every, steps=1, batch=8, generator=seeded("more"))(every.benign)


@case
def nets_of_the_classifier():
    sizes = {}
    with torch.random.fork_rng(devices=[]):
        for distances in (36, 39, 51, 52, 100):
            torch.manual_seed(1)
            made = BoundaryNet(distances)
            sizes[f"{distances}"] = {"numbers": [p.numel() for p in made.parameters()],
                                     "sums": [float(p.detach().double().abs().sum())
                                              for p in made.parameters()],
                                     "logits": made.eval()(torch.rand(2, distances + 3,
                                                                      generator=seeded("x"))),
                                     "dropped": [m.p for m in made.modules() if hasattr(m, "p")]}
    return sizes


@case
def bad_classifiers():
    every = pairs()
    shapes = [(every.benign, every.adversarial[1:], every.correct, every.successful),
              (every.benign, every.adversarial[:, 1:], every.correct, every.successful),
              (every.benign, every.adversarial, every.correct[1:], every.successful),
              (every.benign, every.adversarial, every.correct, every.successful[:, None]),
              (every.benign, every.adversarial, every.correct, every.successful)]

    def bad(some=every, **options):
        return refused(train, some, generator=seeded("bad"), **{"steps": 1, "batch": 2} | options)

    nothing = Pairs(every.benign, every.adversarial, every.correct, ~every.correct)
    return {"few": [refused(BoundaryNet, n) for n in (35, 36)], "pairs": [refused(Pairs, *s) for s in shapes],
            "train": [bad(), bad(steps=0), bad(batch=0), bad(rate=0.0), bad(rate=float("nan")), bad(nothing),
                      bad(batch=1)]}


@case
def thresholds():
    draw = seeded("numbers")
    some = {"apart": (torch.rand(9, generator=draw), 1.2 + torch.rand(7, generator=draw)),
            "above": (0.4 + torch.rand(9, generator=draw), torch.rand(7, generator=draw)),
            "mixed": [torch.rand(n, generator=draw).mul(9).round() for n in (20, 13)],
            "equal": (torch.ones(3), torch.ones(4)), "tie": (torch.tensor([1.0, 3.0]), torch.tensor([2.0]))}
    found = {name: {"rule": threshold(a, b), "errors": threshold(a, b).rates(a, b)}
             for name, (a, b) in some.items()}
    numbers = torch.tensor([0.1, 0.2, 0.3])
    return {**found, "flags": [Threshold(0.2, below).flags(numbers) for below in (True, False)],
            "bad": [refused(threshold, *each) for each in ((numbers[:0], numbers), (numbers, numbers[:0]))]}


@case
def error_rates():
    some = {"half": Rates(1, 4, 3, 5), "none": Rates(0, 0, 0, 0), "benign": Rates(2, 3, 0, 0),
            "adversarial": Rates(0, 0, 1, 3), "one": Rates(1, 1, 1, 1)}
    shares = {name: [r.false_positive, r.false_negative, r.accuracy] for name, r in some.items()}

    def says(x):        # adversarial where the first number is small
        return torch.stack([x[:, 0] * 0 + 0.3, 0.35 - x[:, 0] * 10], 1)

    return {**shares, "counted": rates(says, pairs()), "some": rates(says, pairs()[:10])}


# ---- what pages plan with --------------------------------------------------------------------------------
ATTACKS = {"benign": None, "fgsm": FGSM(Linf(0.06)), "fgsm l2": FGSM(L2(0.3)),
           "pgd": PGD(Linf(0.06), 2, 0.05), "search": CarliniWagner(rate=0.2, c=1.0, searches=2),
           "margin": OptMargin(rate=0.2, c=1.0, searches=2, noise=0.1, members=3)}


@case
def examples_of_attacks():
    model, x = net(dropout=True), images(6)
    y = of_classes(model, x)
    found = {name: examples(model, x, y, attack, iterations=8, seed=2) for name, attack in ATTACKS.items()}
    return {**found, "iterations": examples(model, x, y, ATTACKS["search"], iterations=2, seed=2),
            "seed": examples(model, x, y, ATTACKS["margin"], iterations=4, seed=3),
            "modes": [m.training for m in model.modules()],
            "many": examples(model, images(70), torch.arange(70) % 3, ATTACKS["fgsm"], iterations=1, seed=0),
            "bad": [refused(examples, model, x, y + 3, attack, iterations=1, seed=0)
                    for attack in (None, ATTACKS["fgsm"])]}


@case
def directions_of_the_pages():
    x = images(2)
    return {"some": directions_for(x, 3, negatives=False, seed=1),
            "both": directions_for(x, 2, negatives=True, seed=4)}


def block(number, kind, size=10, width=40):
    """What a page records around `size` images: steps to the boundary, purities, which of them count."""
    draw = seeded("block", number, kind)
    correct = torch.rand(size, generator=draw) < 0.9
    success = torch.rand(size, generator=draw) < 0.7
    counts = correct if kind == "benign" else correct & success
    few = int(counts.sum())
    top = 30 if kind == "benign" else 15
    steps = torch.randint(1, top, (few, width), generator=draw).sort(1).values
    steps[:, -2:] = 255
    purities = torch.rand(few, 3, generator=draw).sort(1).values
    return {"steps": steps.tolist(), "purities": purities.tolist(), "counts": counts.tolist(),
            "correct": correct.tolist(), "success": success.tolist()}


def surroundings():
    """Blocks of a net named `net`, and one that lacks a kind."""
    given = {f"net-{kind}-b{b}": block(b, kind) for kind in ("benign", "margin", "fgsm") for b in range(4)}
    del given["net-fgsm-b2"]
    return given


@case
def learned():
    plan = dict(sample=40, size=10, step=0.02, share=0.5, centre=0.2, spread=0.05, steps=8, batch=8,
                balanced=False, seed=1)

    def run(name="net", attack="margin", others=("fgsm",), around=None, **options):
        return learn(surroundings() if around is None else around, name, attack, others, **plan | options)

    found = {"plain": run(), "alone": run(others=()), "balanced": run(balanced=True, share=0.8),
             "scaled": run(centre=0.1, spread=0.03), "step": run(step=0.04), "seed": run(seed=2),
             "other": run(attack="fgsm", others=("margin",)), "sample": run(sample=11),
             "less": run(sample=10, batch=100)}
    return {**found, "bad": [refused(run, "other net"), refused(run, attack="pgd"), refused(run, sample=0),
                             refused(run, others=("pgd",)), refused(run, around={})]}


@case
def what_is_learned_from():
    """The inputs of the classifier, where some directions never meet the boundary."""
    seen = []

    def look(some, **options):
        seen.append(some)
        return lambda x: x[:, :2]

    with mock.patch.object(classifier, "train", look):
        learn(surroundings(), "net", "margin", (), sample=11, size=10, step=0.02, share=0.5, centre=0.2,
              spread=0.05, steps=1, batch=8, balanced=False, seed=1)
    return seen


@case
def learned_from_nothing():
    around = {f"net-{kind}-b0": block(0, kind) for kind in ("benign", "margin")}
    around["net-margin-b0"]["success"] = [False] * 10
    return learn(around, "net", "margin", (), sample=10, size=10, step=0.02, share=0.5,
                 centre=0.0, spread=1.0, steps=5, batch=4, balanced=False, seed=1)


class Tiny:
    """A subject whose net and images are small."""

    def model(self, seed):
        return net(f"net {seed}", dropout=True)

    def images(self, first, count):
        x = images(first + count)[first:]
        return x, of_classes(self.model(1), x)


@case
def noisy_copies():
    attack = ATTACKS["margin"]
    plan = dict(first=1, images=6, iterations=12, noises=5, radius=0.3, seed=1)
    return {name: under_noise(Tiny(), attack, **plan | options) for name, options in
            {"plain": {}, "others": dict(noises=2, radius=0.9), "large": dict(noises=9, radius=2.0, first=0),
             "seed": dict(seed=2)}.items()}


def asked(subject, method, **published):
    """What a subject asks of the zoo, and what it gives."""
    calls = []

    def kept(architecture, recipe, dataset, seed, *, device, hook=None):
        calls.append([architecture, dataset.name, seed, str(device), recipe is he.TINY, recipe is he.QUICK,
                      hook is experiments.SMOKE_TRAINING])
        return SimpleNamespace(net="the net")

    with mock.patch.object(zoo, "net", kept), \
            mock.patch("papers.he.models.pretrained_squeezenet", lambda: torch.nn.Identity()):
        given = method(subject)
    return {"given": given if isinstance(given, str) else type(given).__name__,
            "asked": [str(word) for call in calls for word in call]}


@case
def subjects_and_their_nets():
    plain = Subject("digits", "he-mnist", he.QUICK)
    hooked = Subject("digits", "he-mnist", he.QUICK, experiments.SMOKE_TRAINING)
    published = Subject("shapes", "he-squeezenet", None)
    source = sets.load("shapes")
    real = mock.patch.object(sets, "load", lambda name: SimpleNamespace(name=name, source="folder"))
    rows = {}
    for first, count in ((0, 3), (5, 2), (len(source.x_test) - 2, 4)):
        x, y = published.images(first, count)
        rows[f"{first} {count}"] = {"sums": x.double().sum((1, 2, 3)), "labels": y, "type": str(x.dtype),
                                    "shape": x.shape, "top": x.max()}
    found = {"plain": asked(plain, lambda s: s.model(3)), "hooked": asked(hooked, lambda s: s.model(4)),
             "trained": asked(hooked, lambda s: s.trained(5).net),
             "published": asked(published, lambda s: s.model(6))}
    with real:
        found["large"] = asked(published, lambda s: s.model(7))
        found["large and trained"] = asked(plain, lambda s: s.model(8))
    with mock.patch.object(sets, "load", lambda name: SimpleNamespace(name=name, source="stand-in")):
        found["stand-in"] = asked(published, lambda s: s.model(9))
    return {**rows, **found}


RECIPES = {name: value for name, value in vars(he).items() if name.isupper()}


def hook(given):
    """An attack that is trained on, in numbers."""
    if given is None:
        return "None"
    a = given.attack
    return [a.threat.size, float(a.threat.norm == "Linf"), a.steps, a.step, float(a.random_start),
            float(given.train_mode)]


@case(within=0)
def plans():
    hooks = {name: hook(value) for name, value in (
        ("mnist", experiments.MNIST_TRAINING), ("mnist short", experiments.MNIST_TRAINING_SHORT),
        ("cifar10", experiments.CIFAR10_TRAINING), ("cifar10 short", experiments.CIFAR10_TRAINING_SHORT),
        ("smoke", experiments.SMOKE_TRAINING))}
    columns = {profile: {name: {"words": [s.dataset, s.architecture], "hook": hook(s.hook),
                                "recipe": [n for n, value in RECIPES.items() if value is s.recipe]}
                         for name, s in subjects(profile).items()} for profile in ("smoke", "quick", "paper")}
    kinds = {f"{name} {rate}": {kind: "None" if a is None else
                                [str(a.threat.size), a.threat.norm] if kind == "fgsm" else settings(a)
                                for kind, a in attacks_on(name, rate).items()}
             for name in ("mnist", "cifar10", "imagenet1000") for rate in (None, 0.5)}
    order = {name: list(attacks_on(name)) for name in ("mnist", "cifar10", "imagenet1000")}
    return {**hooks, **columns, **kinds, "order": order, "names": list(subjects("smoke")),
            "first": experiments.FIRST}
