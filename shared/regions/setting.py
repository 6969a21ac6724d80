"""The families of networks, the images and the sweeps of `shu`, and what its pages measure on an image."""
import dataclasses
from dataclasses import dataclass

import torch
from torch.fx.experimental.optimization import fuse

from shared import runtime
from shared.attacks.gradient import FGSMSearch
from shared.attacks.iterative import BasicIterative, MomentumIterative
from shared.attacks.newton import NewtonFool
from shared.attacks.optimised import CarliniWagner
from shared.attacks.pointwise import Pointwise
from shared.data import sets
from shared.models.inference import logits
from shared.models.recipe import Recipe
from shared.regions import boxes
from shared.runtime import UserError
from shared.training import zoo
from shared.units import handed

RULES = {"all": 1.0, "most": 0.9, "any": 0.0}    # share of the examples that must change a value

# ---- a hundred settings of each attack -------------------------------------------------------------------
# The authors' script for BIM L1 has epsilon = 0.01 ... 1. From 0.5 on, ten steps of 0.05 do not reach the
# ball, and all settings give one example; half the step gives as many different ones as the paper asks for.
# The other grids are ours. For Carlini and Wagner's attack there are two margins alone: since the nearest
# image counts that has the class, whatever its margin, larger ones give again what the second one gives; and
# weights of which none is ten times another, which a search would come to, too.
SIZES = tuple(i / 200 for i in range(1, 101))
WEIGHTS = tuple((4 * (i // 2) + 1) / 200 for i in range(100))
MARGINS = (0.0, 0.5)
SWEEPS = {
    "nf": NewtonFool(eta=tuple(i / 1000 for i in range(1, 101))),
    "fgsm": FGSMSearch(beyond=tuple(i / 2550 for i in range(100))),     # tenths of a grey level
    "cw2": CarliniWagner(rate=5e-3, c=WEIGHTS, searches=5, iterations=1000, confidence=MARGINS,
                         reach=0.5 / 0.999999, probability=0.5),
    "bim-l1": BasicIterative("L1", epsilon=SIZES),
    "bim-l2": BasicIterative("L2", epsilon=SIZES),
    "bim-linf": BasicIterative("Linf", epsilon=SIZES),
    "pw": Pointwise(),
    "mi": MomentumIterative("Linf", epsilon=SIZES)}
SCRIPT = BasicIterative("L1", epsilon=tuple(i / 100 for i in range(1, 101)))    # as in the authors' code
AIMLESS = ("nf", "fgsm", "pw")    # their class is whatever they reach


def in_one_ball(least, most, count):
    """BIM L2 without a search for the nearest example: the first one met in each of `count` balls.

    least, most   sizes of the balls (root mean squares); the first step ends on the surface
    """
    sizes = torch.linspace(least, most, count).tolist()
    return BasicIterative("L2", epsilon=tuple(sizes), step=most, growths=1, halvings=0)


# ---- networks and images ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class Family:
    """Networks that differ by their seed, the first of which is attacked, and their data set.

    recipes  one for all, or one for each network: then they differ by it, too
    """
    dataset: str
    architecture: str
    recipes: tuple[Recipe, ...]
    networks: int

    def data(self):
        """The `sets.Dataset`."""
        return sets.load(self.dataset)

    def trained(self, number, seed):
        """The `zoo.Trained` network of a number from 0 on; other seeds give other families."""
        return zoo.net(self.architecture, self.recipes[number % len(self.recipes)], self.data(),
                       seed * self.networks + number, device=runtime.device())

    def models(self, seed):
        """All networks, in eval mode on the run's device, batch normalisation folded into the convolutions.

        Their logits are the same but for rounding; a MobileNet is 1.6 times as fast so.
        """
        return [fuse(self.trained(number, seed).net) for number in range(self.networks)]

    def image(self, split, number):
        """Image [1, C, H, W] in [0, 1] of the set's split, "train" or "test", and its class [1]."""
        data = self.data()
        images, y = getattr(data, f"x_{split}"), getattr(data, f"y_{split}")
        rows = torch.tensor([number % len(y)])      # a small embedded set begins again
        return images[rows].to(runtime.device()).float() / 255, y[rows].to(runtime.device())

    def chosen(self, models, label, count=1):
        """Numbers of the first `count` test images of a class that all models classify correctly."""
        data, found = self.data(), []
        for rows in (data.y_test == label).nonzero()[:, 0].split(4 * count):
            images = data.x_test[rows].to(runtime.device())
            found += rows[(boxes.answers(models, images) == label).all(0).cpu()].tolist()
            if len(found) >= count:
                return found[:count]
        raise UserError(f"{len(found)} test images of class {label} are classified correctly by all "
                        f"{len(models)} networks; {count} are needed: train longer, or ask for fewer")


# ---- what units hold -------------------------------------------------------------------------------------
def measure_network(family, *, number, seed):
    """Errors of one network; a unit's function."""
    trained = family.trained(number, seed)
    return {"test_error": 1 - trained.test_accuracy, "train_error": 1 - trained.train_accuracy,
            "epochs": trained.recipe.epochs, "tested": len(family.data().y_test),
            "parameters": sum(p.numel() for p in trained.net.parameters()), "trained_in": trained.seconds}


def measure_clean(family, *, images, seed):
    """What the networks say of the first test images: rates of error, and how many agree with the first."""
    models, data = family.models(seed), family.data()
    y = data.y_test[:images]
    answered = boxes.answers(models, data.x_test[:images].to(runtime.device())).cpu()
    return {"images": len(y), "rates": (answered != y).double().mean(1).tolist(),
            "agreement": boxes.agreement(answered, y).tolist()}


def measure_image(family, attack, *, label, split, number, aims, count, least, sizes, also, whole, samples,
                  seed):
    """All that the tables need of one image and one attack; a unit's function.

    label, split, number   the image; number None: the first of the test set that all networks get right
    aims     how many classes are targets beside the untargeted attack: those that the attacked network
             finds likeliest
    least    different examples of a class that are needed to look into their boxes
    sizes    of boxes, equally spaced up to all values; `also` are those, too, that the paper prints
    whole    boxes of [0, 1] for each value, beside those of the intervals
    """
    models = family.models(seed)
    number = family.chosen(models, label)[0] if number is None else number
    x, y = family.image(split, number)
    drawn = runtime.generator(seed, "shu", split, number)
    found, succeeded, _ = _swept(models[0], x, y, attack, aims, count, drawn)
    told = {"number": number, "label": int(y), "clean": (x[0] * 255).round().to(torch.uint8),
            "succeeded": succeeded, "passes": found.passes, "classes": {}}
    for t in found.classes.unique().tolist():
        images = found.of(t)
        told["classes"][t] = {"examples": len(images)}
        if len(images) >= least:
            told["classes"][t] |= _of_class(models, x, y, images, drawn) | _boxes(
                models, x, y, images, drawn, RULES, sizes=sizes, also=also, whole=whole, samples=samples)
    return told


def measure_images(family, attack, *, label, images, aims, count, least, sizes, whole, samples, seed):
    """The same for several images of a class and one wrong class each, without arrays; a unit's function.

    The class is the attacked network's second, and without `aims` (0, else 1) the one that most examples
    reach.
    """
    models, told = family.models(seed), []
    for number in family.chosen(models, label, images):
        x, y = family.image("test", number)
        drawn = runtime.generator(seed, "shu", "test", number)
        found, succeeded, (second, *_) = _swept(models[0], x, y, attack, aims, count, drawn)
        t = second if aims or not len(found.classes) else int(found.classes.mode().values)
        examples = found.of(t)
        row = {"number": number, "second": second, "target": t, "examples": len(examples),
               "succeeded": succeeded}
        if len(examples) >= least:
            row |= _of_class(models, x, y, examples, drawn) | _boxes(
                models, x, y, examples, drawn, {"any": 0.0} if whole else {"all": 1.0}, sizes=sizes, also=(),
                whole=whole, samples=samples)
            row = {k: v for k, v in row.items() if not isinstance(v, torch.Tensor)}
        told.append(row)
    return {"images": len(told), "label": label, "rows": told}


def measure_ball(family, attack, *, label, target, count, least, sizes, also, samples, seed):
    """What `measure_image` tells of one class, without arrays, of one attack alone; a unit's function.

    target   the class that the attack is to reach; None: any, and the class that most examples reach is told
    """
    models = family.models(seed)
    number = family.chosen(models, label)[0]
    x, y = family.image("test", number)
    drawn = runtime.generator(seed, "shu", "ball", number)
    wanted = None if target is None else torch.full_like(y, target)
    attack = dataclasses.replace(attack, targeted=target is not None)
    found = boxes.sweep(models[0], x, y, attack, count=count, target=wanted, generator=drawn)
    if target is None and len(found.classes):
        target = int(found.classes.mode().values)
    examples = found.of(target)
    told = {"number": number, "target": target, "tried": count, "examples": len(examples)}
    if len(examples) >= least:
        told |= _of_class(models, x, y, examples, drawn) | _boxes(
            models, x, y, examples, drawn, RULES, sizes=sizes, also=also, whole=False, samples=samples)
    return {k: v for k, v in told.items() if not isinstance(v, torch.Tensor)}


def _swept(model, x, y, attack, aims, count, drawn):
    """The untargeted sweep and those to `aims` classes in one, their successes, and the order of classes."""
    order = [t for t in logits(model, x)[0].argsort(descending=True).tolist() if t != int(y)]
    found = boxes.sweep(model, x, y, attack, count=count, generator=drawn)
    succeeded = {"untargeted": found.succeeded}
    for t in order[:aims]:
        more = boxes.sweep(model, x, y, dataclasses.replace(attack, targeted=True), count=count,
                           target=torch.full_like(y, t), generator=drawn)
        found, succeeded[str(t)] = found.joined(more), more.succeeded
    return found, succeeded, order


def _of_class(models, x, y, images, drawn):
    """What the models say of examples of one class, and of noise of the same lengths."""
    box = boxes.intervals(x, images, keep=0.0, least=1)
    distances = (images - x).flatten(1).norm(dim=1)
    kept = {rule: len(box.kept(share, len(images)).values) for rule, share in RULES.items()}
    told = {"values": box.values.to(torch.int16), "low": box.low, "high": box.high,
            "changed": box.changed.to(torch.int16), "changed_values": kept, **boxes.lengths(x, images),
            "nearest": (images[distances.argmin()] * 255).round().to(torch.uint8)}
    for name, shown in (("attack", images), ("noise", boxes.noise(x, distances, generator=drawn))):
        answered = boxes.answers(models, shown)
        told[name] = {"rates": (answered != y).double().mean(1).tolist(),
                      "agreement": boxes.agreement(answered, y).tolist()}
    return told


def _boxes(models, x, y, images, drawn, rules, *, sizes, also, whole, samples):
    """`boxes.curve` of each rule, of the measured intervals, and where `whole` of [0, 1] for each value."""
    every, told = boxes.intervals(x, images, keep=0.0, least=1), {}
    for rule, share in rules.items():
        box = every.kept(share, len(images))
        if not (most := len(box.values)):
            continue
        steps = sorted({*boxes.spaced(sizes if share == 1 else -(-sizes // 4), most),
                        *(b for b in also if b <= most)})
        for name, each in [("boxes", box), ("whole", box.whole())][:1 + whole]:
            told.setdefault(name, {})[rule] = boxes.curve(models, y, each, steps, samples=samples,
                                                          generator=drawn)
    return told


def measure_planes(given, family, targets, *, label, others, reach, far, size, seed):
    """What the networks say in planes through the chosen image; a unit's function.

    It rests on the units handed over as `given`, `measure_image` of one attack each. A plane leads to the
    centres of two attacks' boxes; another, of reach `far`, to images of the classes `others`.

    targets   {attack: class} of the box; where it has none, that of the class with most examples
    """
    models, swept = family.models(seed), handed.take(given)
    number = family.chosen(models, label)[0]
    x, y = family.image("test", number)
    centres, told = {}, {"number": number, "targets": {}, "planes": {}}
    for name, unit in swept.items():
        there = {int(t): each for t, each in unit["classes"].items() if "low" in each}
        if there:
            wanted = targets.get(name)
            t = wanted if wanted in there else max(there, key=lambda t: there[t]["examples"])
            centres[name], told["targets"][name] = _centre(x, there[t]) - x, t
    pairs = [(a, b) for a in centres for b in centres if a < b]
    for a, b in pairs:
        told["planes"][f"{a} {b}"] = _plane(models, x, centres[a], centres[b], reach, size)
    there = [family.image("test", family.chosen(models, each)[0])[0] - x for each in others]
    told["planes"]["classes"] = _plane(models, x, *there, far, size)
    return told


def _centre(x, of_class):
    """The centre of the box of those values that all examples change; where none is, that any changes."""
    values, low, high, changed = (torch.as_tensor(of_class[k]) for k in ("values", "low", "high", "changed"))
    rows = changed == of_class["examples"] if of_class["changed_values"]["all"] else changed > 0
    centre = x.clone()
    centre.view(-1)[values[rows].long()] = ((low + high) / 2)[rows].to(x.device)
    return centre


def _plane(models, x, u, v, reach, size):
    answered, axes = boxes.plane(models, x, u, v, reach=reach, size=size)
    at = [[float((each * axis).sum()) for axis in axes] for each in (u, v)]
    return {"answers": answered.to(torch.uint8), "at": at, "reach": reach}
