"""The experiments of `shu`: families of networks, attacks under many settings, boxes, planes (Section 2)."""
import dataclasses
from dataclasses import dataclass

import torch
from torch.fx.experimental.optimization import fuse

from papers.scales import scales
from papers.shu import models as recipes
from papers.shu.attacks.fgsm_search import FGSMSearch
from papers.shu.attacks.iterative import BasicIterative, MomentumIterative
from papers.shu.attacks.newton import NewtonFool
from papers.shu.attacks.pointwise import Pointwise
from report import reference, zoo
from report.experiment import Experiment, results_of
from shared import regions as boxes
from shared import runtime
from shared.attacks.optimised import CarliniWagner
from shared.data import sets
from shared.data.archives import SPECS
from shared.inference import logits
from shared.runtime import UserError
from shared.training.recipe import Recipe

PAPER = reference.paper("shu")
METHODS = {"nf": "NF", "fgsm": "FGSM", "cw2": "CW2", "bim-linf": "BIM Linf", "pw": "PW", "mi": "MI",
           "bim-l2": "BIM L2", "bim-l1": "BIM L1", "mlp": "CW2 MLP"}     # as the tables call the attacks
CIFAR10 = SPECS["cifar10"].classes
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

# Those of `smoke` and `quick`.
_FEWER = dict(step=0.1, iterations=5, growths=8, halvings=3)
SHORT = {name: dataclasses.replace(SWEEPS[name], **fewer) for name, fewer in {
    "nf": dict(eta=(0.01, 0.02, 0.03, 0.05, 0.08, 0.1), steps=20),
    "fgsm": dict(count=50),
    "cw2": dict(rate=0.3, searches=2, iterations=50, c=(0.5, 3.0, 20.0, 100.0, 700.0)),
    "bim-l1": _FEWER, "bim-l2": _FEWER, "bim-linf": _FEWER, "mi": _FEWER,
    "pw": dict(levels=20, repetitions=1, halvings=3, rounds=1)}.items()}


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
        data, numbers = self.data(), []
        for rows in (data.y_test == label).nonzero()[:, 0].split(4 * count):
            images = data.x_test[rows].to(runtime.device())
            numbers += rows[(boxes.answers(models, images) == label).all(0).cpu()].tolist()
            if len(numbers) >= count:
                return numbers[:count]
        raise UserError(f"{len(numbers)} test images of class {label} are classified correctly by all "
                        f"{len(models)} networks; {count} are needed: train longer, or ask for fewer")


# ---- what a run measures ---------------------------------------------------------------------------------
def measure_network(family: Family, *, number, seed):
    """Errors of one network."""
    trained = family.trained(number, seed)
    return {"test_error": 1 - trained.test_accuracy, "train_error": 1 - trained.train_accuracy,
            "epochs": trained.recipe.epochs, "tested": len(family.data().y_test),
            "parameters": sum(p.numel() for p in trained.net.parameters()), "trained_in": trained.seconds}


def measure_clean(family: Family, *, images, seed):
    """Of the first test images: error rates, and how many networks agree with the first."""
    models, data = family.models(seed), family.data()
    x, y = data.first(images)
    answered = boxes.answers(models, x.to(runtime.device())).cpu()
    return {"images": len(y), "rates": (answered != y).double().mean(1).tolist(),
            "agreement": boxes.agreement(answered, y).tolist()}


def project(*, images, perplexity, seed):
    """Places in the plane, by t-SNE, of the first images of the test set."""
    from sklearn.manifold import TSNE  # here: it takes seconds to import

    x, y = sets.load("mnist").first(images)
    flat = x.flatten(1).numpy() / 255
    places = TSNE(perplexity=perplexity, random_state=seed).fit_transform(flat)
    return {"images": len(flat), "places": places, "labels": y.tolist()}


def measure_image(family: Family, attack, *, label, split, number, aims, count, least, sizes, also, whole,
                  samples, seed):
    """All that the tables need of one image and one attack.

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
    examples, succeeded, _ = _swept(models[0], x, y, attack, aims, count, drawn)
    result = {"number": number, "label": int(y), "clean": (x[0] * 255).round().to(torch.uint8),
            "succeeded": succeeded, "passes": examples.passes, "classes": {}}
    for t in examples.classes.unique().tolist():
        images = examples.of(t)
        result["classes"][t] = {"examples": len(images)}
        if len(images) >= least:
            result["classes"][t] |= _of_class(models, x, y, images, drawn) | _boxes(
                models, x, y, images, drawn, RULES, sizes=sizes, also=also, whole=whole, samples=samples)
    return result


def measure_images(family: Family, attack, *, label, images, aims, count, least, sizes, whole, samples, seed):
    """The same for several images of a class and one wrong class each, without arrays.

    The class is the attacked network's second, and without `aims` (0, else 1) the one that most examples
    reach.
    """
    models, rows = family.models(seed), []
    for number in family.chosen(models, label, images):
        x, y = family.image("test", number)
        drawn = runtime.generator(seed, "shu", "test", number)
        swept, succeeded, (second, *_) = _swept(models[0], x, y, attack, aims, count, drawn)
        t = second if aims or not len(swept.classes) else int(swept.classes.mode().values)
        examples = swept.of(t)
        row = {"number": number, "second": second, "target": t, "examples": len(examples),
               "succeeded": succeeded}
        if len(examples) >= least:
            row |= _of_class(models, x, y, examples, drawn) | _boxes(
                models, x, y, examples, drawn, {"any": 0.0} if whole else {"all": 1.0}, sizes=sizes, also=(),
                whole=whole, samples=samples)
            row = {k: v for k, v in row.items() if not isinstance(v, torch.Tensor)}
        rows.append(row)
    return {"images": len(rows), "label": label, "rows": rows}


def measure_ball(family: Family, attack, *, label, target, count, least, sizes, also, samples, seed):
    """What `measure_image` tells of one class, without arrays, of one attack alone.

    target   the class that the attack is to reach; None: any, and the class that most examples reach is told
    """
    models = family.models(seed)
    number = family.chosen(models, label)[0]
    x, y = family.image("test", number)
    drawn = runtime.generator(seed, "shu", "ball", number)
    wanted = None if target is None else torch.full_like(y, target)
    attack = dataclasses.replace(attack, targeted=target is not None)
    swept = boxes.sweep(models[0], x, y, attack, count=count, target=wanted, generator=drawn)
    if target is None and len(swept.classes):
        target = int(swept.classes.mode().values)
    examples = swept.of(target)
    result = {"number": number, "target": target, "tried": count, "examples": len(examples)}
    if len(examples) >= least:
        result |= _of_class(models, x, y, examples, drawn) | _boxes(
            models, x, y, examples, drawn, RULES, sizes=sizes, also=also, whole=False, samples=samples)
    return {k: v for k, v in result.items() if not isinstance(v, torch.Tensor)}


def _swept(model, x, y, attack, aims, count, drawn):
    """The untargeted sweep and those to `aims` classes in one, their successes, and the order of classes."""
    order = [t for t in logits(model, x)[0].argsort(descending=True).tolist() if t != int(y)]
    examples = boxes.sweep(model, x, y, attack, count=count, generator=drawn)
    succeeded = {"untargeted": examples.succeeded}
    for t in order[:aims]:
        more = boxes.sweep(model, x, y, dataclasses.replace(attack, targeted=True), count=count,
                           target=torch.full_like(y, t), generator=drawn)
        examples, succeeded[str(t)] = examples.joined(more), more.succeeded
    return examples, succeeded, order


def _of_class(models, x, y, images, drawn):
    """Changed values, distances, rates, agreement: of examples of one class, of noise of the same norms."""
    box = boxes.intervals(x, images, keep=0.0, least=1)
    distances = (images - x).flatten(1).norm(dim=1)
    kept = {rule: len(box.kept(share, len(images)).values) for rule, share in RULES.items()}
    result = {"values": box.values.to(torch.int16), "low": box.low, "high": box.high,
            "changed": box.changed.to(torch.int16), "changed_values": kept, **boxes.lengths(x, images),
            "nearest": (images[distances.argmin()] * 255).round().to(torch.uint8)}
    for name, shown in (("attack", images), ("noise", boxes.noise(x, distances, generator=drawn))):
        answered = boxes.answers(models, shown)
        result[name] = {"rates": (answered != y).double().mean(1).tolist(),
                      "agreement": boxes.agreement(answered, y).tolist()}
    return result


def _boxes(models, x, y, images, drawn, rules, *, sizes, also, whole, samples):
    """`boxes.curve` of each rule, of the measured intervals, and where `whole` of [0, 1] for each value."""
    widest, curves = boxes.intervals(x, images, keep=0.0, least=1), {}
    for rule, share in rules.items():
        box = widest.kept(share, len(images))
        if not (most := len(box.values)):
            continue
        steps = sorted({*boxes.spaced(sizes if share == 1 else -(-sizes // 4), most),
                        *(b for b in also if b <= most)})
        for name, intervals in [("boxes", box), ("whole", box.whole())][:1 + whole]:
            curves.setdefault(name, {})[rule] = boxes.curve(models, y, intervals, steps, samples=samples,
                                                          generator=drawn)
    return curves


def measure_planes(family: Family, targets, *, label, others, reach, far, size, seed):
    """The classes that the networks assign in planes through the chosen image.

    It rests on the runs of `shu/lenet-sweeps`, one attack each. A plane leads to the centres of two attacks'
    boxes; another, of reach `far`, to images of the classes `others`.

    targets   {attack: class} of the box; where it has none, that of the class with most examples
    """
    models, swept = family.models(seed), results_of("shu/lenet-sweeps")
    number = family.chosen(models, label)[0]
    x, y = family.image("test", number)
    centres, result = {}, {"number": number, "targets": {}, "planes": {}}
    for name, sweep in swept.items():
        boxed = {int(t): of_class for t, of_class in sweep["classes"].items() if "low" in of_class}
        if boxed:
            wanted = targets.get(name)
            t = wanted if wanted in boxed else max(boxed, key=lambda t: boxed[t]["examples"])
            centres[name], result["targets"][name] = _centre(x, boxed[t]) - x, t
    pairs = [(a, b) for a in centres for b in centres if a < b]
    for a, b in pairs:
        result["planes"][f"{a} {b}"] = _plane(models, x, centres[a], centres[b], reach, size)
    differences = [family.image("test", family.chosen(models, t)[0])[0] - x for t in others]
    result["planes"]["classes"] = _plane(models, x, *differences, far, size)
    return result


def _centre(x, of_class):
    """The centre of the box of those values that all examples change; where none is, that any changes."""
    values, low, high, changed = (torch.as_tensor(of_class[k]) for k in ("values", "low", "high", "changed"))
    rows = changed == of_class["examples"] if of_class["changed_values"]["all"] else changed > 0
    centre = x.clone()
    centre.view(-1)[values[rows].long()] = ((low + high) / 2)[rows].to(x.device)
    return centre


def _plane(models, x, u, v, reach, size):
    answered, axes = boxes.plane(models, x, u, v, reach=reach, size=size)
    at = [[float((place * axis).sum()) for axis in axes] for place in (u, v)]
    return {"answers": answered.to(torch.uint8), "at": at, "reach": reach}


# ---- scales ----------------------------------------------------------------------------------------------
_IMAGE = dict(aims=[1, 2, 9], images=[1, 1, 5], count=[4, 10, 100], least=[2, 4, 80], sizes=[3, 5, 40],
              samples=[10, 50, 1000], seed=0)
# Of Section 2.1; `lengths` are networks of 3 to 12 epochs, which the attacks `again` attack, too.
_LENET = _IMAGE | dict(
    family=[Family("mnist", "shu-lenet", (recipes.LENET,), 3),
            Family("mnist", "shu-lenet", (recipes.LENET,), 3),
            Family("mnist", "shu-lenet", (recipes.LENET,), 10)],
    lengths=[Family("mnist", "shu-lenet", (recipes.LENET,), 2),
             Family("mnist", "shu-lenet", recipes.LENGTHS[:2], 2),
             Family("mnist", "shu-lenet", recipes.LENGTHS, 10)],
    attacks=[SHORT, SHORT, SWEEPS], script=[SHORT["bim-l1"], SHORT["bim-l1"], SCRIPT],
    again=[("nf",), ("nf",), tuple(SWEEPS)], digits=[1, 1, 10], tested=[100, 1000, 10_000],
    projected=[100, 300, 2000], starts=[2, 10, 200], size=[5, 9, 121])
LENET = scales(**_LENET)
# Of the pages that show planes and boxes around the digit of Section 2.1: in small runs three attacks alone.
_THREE = {name: SHORT[name] for name in ("nf", "cw2", "fgsm")}
ONE_DIGIT = scales(**_LENET | dict(attacks=[_THREE, _THREE, {}], aims=[0, 0, 9], least=[2, 2, 80],
                                   sizes=[3, 3, 40], size=[9, 41, 121]))
# Of the page of tables, which at full scale shows what the page before has computed.
TABLES = LENET | dict.fromkeys(("smoke", "quick"), LENET["smoke"] | {"attacks": _THREE})
# Of Section 2.2.
MLP = scales(
    **_IMAGE, attack=[SHORT["cw2"], SHORT["cw2"], SWEEPS["cw2"]], digits=[1, 1, 10],
    family=[Family("mnist", "shu-mlp", (recipes.MLP,), 3), Family("mnist", "shu-mlp", (recipes.MLP,), 3),
            Family("mnist", "shu-mlp", (recipes.MLP,), 5)])
# Of Section 2.3, whose small runs have `perceptrons` in the place of Section 2.2's. A MobileNet takes two
# hours on one core; a training that is stopped goes on from its last epoch.
MOBILENET = scales(
    **_IMAGE | dict(aims=[1, 1, 9], count=[4, 10, 100], sizes=[3, 5, 30]),
    family=[Family("cifar10", "shu-mobilenet-tiny", (recipes.MOBILENET,), 2),
            Family("cifar10", "shu-mobilenet-tiny", (recipes.QUICK_MOBILENET,), 3),
            Family("cifar10", "shu-mobilenet", (recipes.MOBILENET,), 5)],
    attack=[SHORT["bim-l2"], SHORT["bim-l2"], SWEEPS["bim-l2"]], classes=[1, 1, 10],
    perceptrons=[MLP["smoke"]["family"], MLP["quick"]["family"], None])


# ---- plans -----------------------------------------------------------------------------------------------
def _given(scale, attack, label, **chosen):
    """Arguments of an attack's run: settings of a page, and what is `chosen` for the run."""
    return dict(family=scale.family, attack=attack, label=label, count=scale.count, least=scale.least,
                samples=scale.samples, seed=scale.seed) | chosen


def _of_one(scale, attack, label, **chosen):
    """Arguments of `measure_image`."""
    return _given(scale, attack, label, split="test", number=None, aims=scale.aims, sizes=scale.sizes,
                  also=[], whole=False) | chosen


def _of_several(scale, attack, label, *, part=4, **chosen):
    """Arguments of `measure_images`; boxes have so small a `part` of the scale's number of sizes."""
    return _given(scale, attack, label, images=scale.images, aims=1, sizes=-(-scale.sizes // part),
                  whole=False) | chosen


def _quarter(attack):
    """Carlini and Wagner's attack with a quarter of its steps, each four times as long."""
    return dataclasses.replace(attack, rate=4 * attack.rate, iterations=-(-attack.iterations // 4))


def plan_networks(scale):
    """A run for each network: it is trained, or found kept, and measured."""
    return {k + 1: dict(family=scale.family, number=k, seed=scale.seed) for k in range(scale.family.networks)}


def plan_lengths(scale):
    """A run for each network of another length of training."""
    return {k + 1: dict(family=scale.lengths, number=k, seed=scale.seed)
            for k in range(scale.lengths.networks)}


def plan_clean(scale):
    """One run."""
    return {"seeds": dict(family=scale.family, images=scale.tested, seed=scale.seed)}


def plan_projection(scale):
    """One run; the perplexity is the usual one."""
    return {"tsne": dict(images=scale.projected, perplexity=30.0, seed=scale.seed)}


def _own(scale, name):
    """What only some attacks of Section 2.1 have: no target; starts, and boxes of [0, 1]."""
    return ({"aims": 0} if name in AIMLESS else {}) | (
        {"whole": True, "count": scale.starts} if name == "pw" else {})


def _of_digit(scale, name, attack=None, label=1, **image):
    """Arguments of `measure_image` for an attack of Section 2.1, with every target that it can have."""
    row = PAPER["table-2"].row(attack=METHODS[name])
    return _of_one(scale, attack or scale.attacks[name], label, also=[row["n_intervals"]] if row else [],
                   **image, **_own(scale, name))


def plan_lenet_sweeps(scale):
    """A run for each attack on the chosen digit 1."""
    return {name: _of_digit(scale, name) for name in scale.attacks}


# The images that the authors' scripts attack.
RECOVERED = {"zero": dict(label=0, split="test", number=1918),
             "one": dict(label=1, split="train", number=39533)}


def plan_other_lenets(scale):
    """The same with the networks of 3 to 12 epochs, and for the two images of the authors' scripts."""
    planned = {("epochs", name): _of_digit(scale, name, family=scale.lengths) for name in scale.again}
    for image, which in RECOVERED.items():
        planned |= {(image, name): _of_digit(scale, name, **which) for name in scale.again}
    script = _of_digit(scale, "bim-l1", scale.script, **RECOVERED["zero"])
    return planned | {("zero", "script"): script | {"least": min(40, scale.least)}}


def plan_lenet_fifty(scale):
    """A run for each attack and digit: five images, one wrong class each."""
    return {(name, digit): _of_several(
        scale, _quarter(attack) if name == "cw2" else attack, digit, **_own(scale, name))
        for name, attack in scale.attacks.items() for digit in range(scale.digits)}


def plan_planes(scale):
    """One run; it rests on the sweeps."""
    targets = {name: row["target_class"] for name, method in METHODS.items()
               if (row := PAPER["table-2"].row(attack=method))}
    return {"planes": dict(family=scale.family, label=1, others=[7, 2], targets=targets, reach=6.0, far=14.0,
                           size=scale.size, seed=scale.seed)}


def plan_mlp_sweeps(scale):
    """A run for each of the two digits, with every target."""
    return {row["source_class"]: _of_one(scale, scale.attack, row["source_class"], also=[row["n_intervals"]])
            for row in PAPER["table-6"].rows}


def plan_mlp_fifty(scale):
    """A run for each digit: five images, one wrong class each."""
    return {digit: _of_several(scale, _quarter(scale.attack), digit) for digit in range(scale.digits)}


# Of Section 2.3: the aeroplane and its printed box, and the number of values from which on the paper's
# attacked network errs on all samples.
AEROPLANE, AIMED_AT = CIFAR10.index("airplane"), PAPER["table-10"].row(attack="BIM L2")
INTERVALS, FEW = AIMED_AT["n_intervals"], 200
# Share of the published length of the attack's images, and whether towards its class.
BALLS = {"fifth": (0.2, True), "published": (1.0, True), "any": (1.0, False)}
VALUES = 3 * 32 * 32    # of an image


def plan_mobilenet_sweeps(scale):
    """A run for the aeroplane, with every target."""
    return {"aeroplane": _of_one(scale, scale.attack, AEROPLANE, also=[INTERVALS])}


def plan_perceptrons(scale):
    """The digits of Section 2.2 in the small runs of Section 2.3; none at full scale."""
    return {digit: given | {"family": scale.perceptrons, "attack": SHORT["cw2"]}
            for digit, given in plan_mlp_sweeps(scale).items() if scale.perceptrons}


def plan_mobilenet_fifty(scale):
    """A run for each class: five images, one wrong class each."""
    return {CIFAR10[label]: _of_several(scale, scale.attack, label, part=3) for label in range(scale.classes)}


def plan_balls(scale):
    """Examples of the aeroplane in balls as large as the attack's published lengths, and in smaller ones."""
    least, most = ((AIMED_AT[f"attack_l2_{end}"] / VALUES) ** 0.5 for end in ("min", "max"))
    return {name: _given(
        scale, in_one_ball(share * least, share * most, scale.count), AEROPLANE,
        target=CIFAR10.index(AIMED_AT["target_class"]) if aimed else None, sizes=-(-scale.sizes // 3),
        also=[FEW, INTERVALS]) for name, (share, aimed) in BALLS.items()}


# ---- the experiments -------------------------------------------------------------------------------------
lenet_networks = Experiment("shu/lenet-networks", measure_network, plan_networks, scale=LENET,
                            names="seeds-m{network}")
lenet_lengths = Experiment("shu/lenet-lengths", measure_network, plan_lengths, scale=LENET,
                           names="lengths-m{network}")
lenet_clean = Experiment("shu/lenet-clean", measure_clean, plan_clean, scale=LENET)
projection = Experiment("shu/projection", project, plan_projection, scale=LENET)
lenet_sweeps = Experiment("shu/lenet-sweeps", measure_image, plan_lenet_sweeps, scale=LENET, names="{method}")
other_lenets = Experiment("shu/other-lenets", measure_image, plan_other_lenets, scale=LENET,
                          names="{of}-{method}")
lenet_fifty = Experiment("shu/lenet-fifty", measure_images, plan_lenet_fifty, scale=LENET,
                         names="{method}-d{digit}")
planes = Experiment("shu/planes", measure_planes, plan_planes, scale=LENET, after=(lenet_sweeps,))

mlp_networks = Experiment("shu/mlp-networks", measure_network, plan_networks, scale=MLP, names="m{network}")
mlp_sweeps = Experiment("shu/mlp-sweeps", measure_image, plan_mlp_sweeps, scale=MLP, names="d{digit}")
mlp_fifty = Experiment("shu/mlp-fifty", measure_images, plan_mlp_fifty, scale=MLP, names="d{digit}")

mobilenet_networks = Experiment("shu/mobilenet-networks", measure_network, plan_networks, scale=MOBILENET,
                                names="m{network}")
mobilenet_sweeps = Experiment("shu/mobilenet-sweeps", measure_image, plan_mobilenet_sweeps, scale=MOBILENET)
mobilenet_fifty = Experiment("shu/mobilenet-fifty", measure_images, plan_mobilenet_fifty, scale=MOBILENET,
                             names="{of}")
mobilenet_balls = Experiment("shu/mobilenet-balls", measure_ball, plan_balls, scale=MOBILENET, names="{of}")
