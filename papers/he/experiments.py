"""The experiments of `he`: attacks (Section 3), line searches (4), boundary classifiers (5), ImageNet (D).

An attack is one of `presets` or of `shared.attacks.gradient`; None leaves the image as it is, the paper's
benign example.
"""
import dataclasses
from dataclasses import dataclass
from itertools import product

import torch

from papers import imagenet_samples
from papers.he import classifier, models, presets
from papers.he.line_searches import random_points, with_tail_bug
from papers.he.models import Subject
from papers.scales import PROFILES, scales
from report import inputs
from report.experiment import Experiment, results_of
from shared import runtime
from shared.attacks import directions
from shared.attacks.gradient import FGSM, PGD, Adversarial
from shared.attacks.optimised import CarliniWagner
from shared.attacks.region import Region
from shared.attacks.threat import Linf, rms
from shared.boundary import purity, survey
from shared.card import card
from shared.inference import Careful, checked_logits, frozen, logits

# ---- networks, images, attacks ---------------------------------------------------------------------------
COLUMNS = ("mnist-normal", "mnist-adv", "cifar10-normal", "cifar10-adv")    # of Tables 1 and 2
SEARCHED = ("brittle", "margin", "strong")                       # attacks by optimisation
FIRST = {"mnist": 3152, "cifar10": 5415, "imagenet1000": 0}      # number of the first image of a sample

# Published are 40 steps of 0.01 on MNIST and 10 of 2/255 on CIFAR-10; these are shorter, for a CPU.
MNIST_TRAINING_SHORT = Adversarial(PGD(Linf(0.3), steps=7, step=0.1))
CIFAR10_TRAINING_SHORT = Adversarial(PGD(Linf(8 / 255), steps=2, step=5 / 255))


def subjects(profile):
    """`{"mnist-normal": Subject, ...}` for the four `COLUMNS`, at a profile's size.

    At `quick` those of MNIST are the kept ones of the `paper` profile: nothing is trained.
    """
    if profile == "smoke":
        mnist = (Subject("mnist", "he-small", models.SMOKE),
                 Subject("mnist", "he-small", models.SMOKE, models.SMOKE_TRAINING))
    else:
        mnist = (Subject("mnist", "he-mnist", models.NATURAL),
                 Subject("mnist", "he-mnist", models.ADVERSARIAL_SHORT, MNIST_TRAINING_SHORT))
    if profile == "paper":
        cifar10 = (Subject("cifar10", "he-resnet", models.RESNET),
                   Subject("cifar10", "he-resnet", models.RESNET_ADVERSARIAL, CIFAR10_TRAINING_SHORT))
    else:
        tiny = models.SMOKE if profile == "smoke" else models.TINY
        cifar10 = (Subject("cifar10", "he-tiny", tiny),
                   Subject("cifar10", "he-tiny", tiny, models.SMOKE_TRAINING))
    return dict(zip(COLUMNS, (*mnist, *cifar10)))


# What the scales of all pages have: the networks, and the rate of the attacks by optimisation.
NETWORKS = dict(nets=[*map(subjects, PROFILES)], rate=[0.4, 0.2, None], subject="all", seed=0)


def attacks_on(dataset, rate=None):
    """`{kind: attack}` of a data set in the order of Table 1, `benign` (None) first.

    rate  of the attacks by optimisation, in place of the authors': a few large steps serve for a quick look
    """
    size, searches = {
        "mnist": (0.3, (presets.MNIST_BRITTLE, presets.MNIST_MARGIN, presets.MNIST_STRONG)),
        "cifar10": (8 / 255, (presets.CIFAR10_BRITTLE, presets.CIFAR10_MARGIN, presets.CIFAR10_STRONG)),
        "imagenet1000": (8 / 255, (presets.IMAGENET_BRITTLE, presets.IMAGENET_MARGIN))}[dataset]
    if rate is not None:
        searches = [dataclasses.replace(attack, rate=rate) for attack in searches]
    return {"benign": None, **dict(zip(SEARCHED, searches)), "fgsm": FGSM(Linf(size))}


@dataclass(frozen=True, eq=False)
class Examples:
    """What an attack makes of n images; of None, the images themselves."""
    x: torch.Tensor         # float32 [n, C, H, W]: what the classifier is given
    counts: torch.Tensor    # bool [n]: the image is classified correctly, and its example is not
    correct: torch.Tensor   # bool [n]: the image is classified correctly
    success: torch.Tensor   # bool [n]: the example has another class than the true one
    passes: torch.Tensor    # int64 [n]: images sent through the model for this one


def examples(model, x, y, attack, *, iterations, seed):
    """`Examples` of images x with labels y.

    iterations  of each search of an attack by optimisation; others take none
    seed        of OptMargin's noise, which is the same for all images of all calls
    FGSM's image is given to the classifier where it fails, too (Table 2); where a search finds nothing there
    is no image of its own, and the clean one stays.
    """
    if attack is None:
        with frozen(model):
            correct = checked_logits(model, x, y).argmax(1) == y
        return Examples(x, correct, correct, ~correct, torch.zeros_like(y))
    if isinstance(attack, CarliniWagner):
        attack = dataclasses.replace(attack, iterations=iterations)
    result = attack(model, x, y, generator=runtime.generator(seed, "he", "noise"))
    given = result.x_adv
    if isinstance(attack, FGSM):
        with frozen(model):
            moved = runtime.chunked(lambda images, labels: attack.propose(model, images, labels, None)[0],
                                    x, y, chunk=64).clamp(0, 1)
        given = torch.where(result.success[:, None, None, None], given, moved)
    return Examples(given, result.was_correct & result.success, result.was_correct, result.success,
                    result.passes)


def attacked(subject, attack, first, images, iterations, seed):
    """Test images of a block, their labels, the network, and the `Examples` of an attack on them."""
    x, y = subject.images(first, images)
    model = subject.model(seed)
    return x, y, model, examples(model, x, y, attack, iterations=iterations, seed=seed)


def classified(subject, attack, first, images, iterations, radius, shown, seed):
    """`attacked`, and what point and region classification make of the examples."""
    x, y, model, batch = attacked(subject, attack, first, images, iterations, seed)
    with frozen(model):
        point = logits(model, batch.x).argmax(1)
    region = Region(radius)(model, batch.x, generator=runtime.generator(seed, "he", "region", first))
    return x, model, batch, {
        "iterations": iterations, "images": images, "correct": batch.correct.tolist(),
        "success": batch.success.tolist(), "rms": rms(x, batch.x).tolist(), "point": (point == y).tolist(),
        "region": (region == y).tolist(), "passes": batch.passes.tolist(), "labels": y.tolist(),
        "classes": point.tolist(), "pictures": (batch.x[:shown] * 255).round().to(torch.uint8)}


def nearest_and_median(around):
    """Lists of a survey, an example each: nearest and median boundary distance, in RMS and the L-inf norm."""
    linf = around.linf
    return {"least": around.distance.amin(1).tolist(), "median": around.distance.median(1).values.tolist(),
            "least_linf": linf.amin(1).tolist(), "median_linf": linf.median(1).values.tolist()}


def inputs_of_classifiers(around, step):
    """Sorted boundary distances of a survey in steps (255: no other class found), and purities."""
    inputs = classifier.features(around)
    lengths = inputs[:, :-classifier.PURITIES]
    return {"steps": torch.where(lengths < 1, (lengths / step).round(), 255).to(torch.uint8),
            "purities": inputs[:, -classifier.PURITIES:]}


def directions_for(x, count, *, negatives, seed):
    """The paper's directions for images like x: one draw for all images and models, float32 [K, d]."""
    drawn = directions.directions(x.shape[1:].numel(), count, negatives=negatives,
                                  generator=runtime.generator(seed, "he", "directions"))
    return drawn.to(x.device)


def wanted(scale):
    """`{network: Subject}` of the data sets that a page wants."""
    return {net: subject for net, subject in scale.nets.items() if scale.subject in ("all", subject.dataset)}


def blocks(scale, size):
    """`((network, kind, block), arguments)` of all blocks of images and the attacks on them.

    size   (data set, kind of example) -> images of a block
    """
    for net, subject in wanted(scale).items():
        for kind, attack in attacks_on(subject.dataset, scale.rate).items():
            images = size(subject.dataset, kind)
            for block in range(min(scale.blocks, -(-scale.sample // images))):
                first = FIRST[subject.dataset] + block * images
                yield (net, kind, block), dict(subject=subject, attack=attack, first=first, images=images,
                                               seed=scale.seed)


# ---- Section 3: OptMargin against region classification --------------------------------------------------
ATTACK_SCALE = scales(
    **NETWORKS, tested=[5, 20, 1000], sample=[2, 6, 100], whole=[2, 6, 100], margin=[2, 3, 25],
    blocks=[1, 1, 20], iterations=[3, 10, 1000], shown=[2, 4, 4], tried=[1, 1, 25], asked=[1, 4, 4],
    trained=[(models.SMOKE, models.SMOKE), (models.SMOKE, models.QUICK),
             (models.NATURAL_SHORT, models.NATURAL_FAST)])


def plan_networks(scale):
    """Accuracies: a run a network."""
    return {net: dict(subject=subject, images=scale.tested, seed=scale.seed)
            for net, subject in wanted(scale).items()}


def measure_network(subject, *, images, seed):
    """Accuracies of a network on its test set, and on `images` of them against PGD of the training's size."""
    trained = subject.trained(seed)
    size = 0.3 if subject.dataset == "mnist" else 8 / 255
    x, y = subject.images(0, images)
    result = PGD(Linf(size), steps=20, step=size / 10)(trained.net, x, y,
                                                      generator=runtime.generator(seed, "he", "pgd"))
    return {"test_accuracy": trained.test_accuracy, "train_accuracy": trained.train_accuracy,
            "images": images, "robust": int((result.was_correct & ~result.success).sum()),
            "passes": int(result.passes.sum()),
            "parameters": sum(p.numel() for p in trained.net.parameters())}


def plan_attacks(scale):
    """Attacks on the images of Tables 1 and 2: a run a block; the slowest attack has the smallest blocks."""
    def size(dataset, kind):
        images = scale.margin if kind == "margin" else scale.whole
        return max(1, images // 5) if kind in SEARCHED and dataset == "cifar10" else images

    return {(net, kind, block): given | dict(
        iterations=scale.iterations if kind in SEARCHED else 1,
        radius=0.3 if net.startswith("mnist") else 0.02,
        shown=min(given["images"], scale.shown) if block == 0 else 0)
        for (net, kind, block), given in blocks(scale, size)}


def attack_images(subject, attack, *, first, images, iterations, radius, shown, seed):
    """An attack on a block of images, and what point and region classification make of the results."""
    return classified(subject, attack, first, images, iterations, radius, shown, seed)[-1]


SCRIPT = presets.MNIST_MARGIN     # OptMargin's settings in the authors' code
# Of OptBrittle and OptStrong on MNIST, whose settings are not published: what others are called and change.
SETTINGS = {
    "ours": ("Table 1", {}),
    "defaults": ("learning rate and c of Carlini and Wagner's code", dict(rate=0.01, c=0.001)),
    "light": ("OptMargin's, with c of Carlini and Wagner's code", dict(c=0.001, scale=SCRIPT.scale)),
    "middle": ("OptMargin's, with ten times that c", dict(c=0.01, scale=SCRIPT.scale)),
    "script": ("OptMargin's", dict(scale=SCRIPT.scale)),
    "slow": ("OptMargin's, with Carlini and Wagner's learning rate", dict(rate=0.01, scale=SCRIPT.scale)),
    "together": ("Table 1, but searches of a batch end together", dict(stop="batch")),
    "short": ("Table 1, network trained for 2 epochs", {}),
    "quick": ("Table 1, network trained in fewer, larger steps", {})}
ASKED = tuple(product(("mnist-normal", "mnist-adv"), ("brittle", "strong")))


def plan_settings(scale):
    """The first digits under each setting; only one of `ASKED` where no weight of an attack is changed."""
    planned_attacks, planned = plan_attacks(scale), {}
    trained = dict(zip(("short", "quick"), scale.trained))
    for name, (_, changes) in SETTINGS.items():
        for net, kind in ASKED[:1 if name in ("together", *trained) else scale.asked]:
            if given := planned_attacks.get((net, kind, 0)):
                recipe = trained.get(name, given["subject"].recipe)
                planned[name, net, kind] = given | dict(
                    subject=dataclasses.replace(given["subject"], recipe=recipe), images=scale.tried, shown=0,
                    attack=dataclasses.replace(given["attack"], **changes))
    return planned


def attack_under(subject, attack, **given):
    """`attack_images`, and the setting: the rate, and the first weight over that of the squared distance."""
    return {"rate": attack.rate, "ratio": attack.c / attack.scale} | attack_images(subject, attack, **given)


networks = Experiment("he/networks", measure_network, plan_networks, names="{network}", scale=ATTACK_SCALE)
attacks = Experiment("he/attacks", attack_images, plan_attacks, sizes=("iterations",),
                     names="{network}-{kind}-b{block}", scale=ATTACK_SCALE)
settings = Experiment("he/settings", attack_under, plan_settings, sizes=("iterations",),
                      names="{setting}-{network}-{kind}", scale=ATTACK_SCALE)


# ---- Section 4: line searches along random directions ----------------------------------------------------
DISTANCE_SCALE = scales(
    **NETWORKS, sample=[4, 6, 100], whole=[4, 6, 100], size=[4, 4, 25], blocks=[1, 1, 20],
    iterations=[3, 10, 1000], directions=[18, 36, 784], cifar_directions=[18, 50, 1000], coarser=[3, 2, 1],
    compared=[2, 2, 10], mnist_step=0.02)


def plan_distances(scale):
    """Blocks of images for each network and kind of example."""
    def size(dataset, kind):
        images = scale.whole if kind == "brittle" else scale.size
        return images if dataset == "mnist" else max(1, images // 5)

    return {(net, kind, block): given | dict(
        iterations=scale.iterations if kind in ("brittle", "margin") else 1,
        directions=scale.directions if mnist else scale.cifar_directions, negatives=mnist,
        step=scale.coarser * (scale.mnist_step if mnist else 2 / 255), top=0.48 if mnist else 126 / 255,
        pictured=int(mnist) if block == 0 else -1)
        for (net, kind, block), given in blocks(scale, size) if kind != "strong"
        for mnist in [net.startswith("mnist")]}


def search_from(subject, attack, *, first, images, iterations, directions, negatives, step, top, pictured,
                seed):
    """Distances and adjacent classes around a block of examples, summed up; the searches of one in full.

    pictured  which image of the block, or -1: its line searches are kept one by one
    """
    x, y, model, batch = attacked(subject, attack, first, images, iterations, seed)
    dirs = directions_for(x, directions, negatives=negatives, seed=seed)
    around, one = survey(model, batch.x[batch.counts], dirs, step=step, top=top), None
    if pictured >= 0 and bool(batch.counts[pictured]):
        row = int(batch.counts[:pictured].sum())
        one = {"distance": around.distance[row], "adjacent": around.adjacent[row].to(torch.int16),
               "linf": around.linf[row], "class": int(around.reference[row]), "label": int(y[pictured])}
    return nearest_and_median(around) | {
        "iterations": iterations, "images": images, "labels": y.tolist(), "counts": batch.counts.tolist(),
        "classes": around.reference.tolist(), "never": (~around.reached).float().mean(1).tolist(),
        "purity": purity(around, 9).tolist(), "evaluations": around.evaluations, "one": one,
        "home": (around.adjacent == y[batch.counts][:, None]).float().mean(1).tolist()}


def plan_line_searches(scale):
    """Benign and OptBrittle examples of the normal MNIST network, with the paper's step and the code's."""
    kinds, steps = attacks_on("mnist", scale.rate), [scale.coarser * step for step in (0.02, 0.01)]
    return {(net, kind): dict(
        subject=subject, attack=kinds[kind], first=FIRST["mnist"], images=scale.compared,
        iterations=scale.iterations if kind == "brittle" else 1, directions=scale.directions, steps=steps,
        top=0.49, seed=scale.seed)
        for net, subject in wanted(scale).items() if net == "mnist-normal"
        for kind in ("benign", "brittle")}


def search_by_steps(subject, attack, *, first, images, iterations, directions, steps, top, seed):
    """Line searches around a few examples by each of some steps, as they are and with the scripts' fault.

    steps  RMS distances between two looks
    Lists of the examples that count, one for each step and, in it, one as they are and one with the fault.
    """
    x, _, model, batch = attacked(subject, attack, first, images, iterations, seed)
    dirs = directions_for(x, directions, negatives=True, seed=seed)
    exact = [survey(model, batch.x[batch.counts], dirs, step=step, top=top) for step in steps]
    around = [[searches, with_tail_bug(searches)] for searches in exact]

    def of_steps(statistic):
        return [[statistic(searches).tolist() for searches in pair] for pair in around]

    return {"iterations": iterations, "examples": int(batch.counts.sum()),
            "least": of_steps(lambda searches: searches.distance.amin(1)),
            "median": of_steps(lambda searches: searches.distance.median(1).values),
            "mean": of_steps(lambda searches: searches.distance.mean(1)),
            "never": of_steps(lambda searches: (~searches.reached).float().mean(1)),
            "purity": of_steps(lambda searches: purity(searches, 1)[:, 0])}


distances = Experiment("he/distances", search_from, plan_distances, sizes=("iterations",),
                       names="{network}-{kind}-b{block}", scale=DISTANCE_SCALE)
line_searches = Experiment("he/line-searches", search_by_steps, plan_line_searches, sizes=("iterations",),
                           names="{network}-{kind}-code", scale=DISTANCE_SCALE)


# ---- Section 5: classifiers of boundary distances --------------------------------------------------------
AUDITED = 500   # points of a block's line searches that are judged twice, but in a small run
CLASSIFIER_SCALE = scales(
    **NETWORKS, blocks=[1, 1, 100], iterations=[3, 5, 1000], coarser=[15, 3, 1], audited=[20, 500, AUDITED],
    mnist=[dict(sample=3, size=3, directions=18, training=5),
           dict(sample=8, size=8, directions=36, training=100),
           dict(sample=10_000, size=100, directions=784, training=2000)],
    cifar10=[dict(sample=3, size=3, directions=36, training=5),
             dict(sample=8, size=8, directions=36, training=100),
             dict(sample=450, size=10, directions=1000, training=4000)])
# Of the data sets: first test image, line searches (RMS), and how classifiers are trained.
FIRST_SURROUNDED = FIRST | {"mnist": 0}
STEP, TOP = {"mnist": 0.02, "cifar10": 2 / 255}, {"mnist": 0.48, "cifar10": 126 / 255}
TRAINED = {"mnist": dict(share=0.8, centre=0.0, spread=1.0),
           "cifar10": dict(share=7 / 9, centre=16 / 255, spread=0.5)}


def plan_surroundings(scale):
    """Blocks of test images for each network and kind; FGSM on normal networks only (Appendix C)."""
    planned = {}
    for net, subject in wanted(scale).items():
        data, sizes = subject.dataset, getattr(scale, subject.dataset)
        iterations = {"margin": scale.iterations, "brittle": min(1000, 4 * scale.iterations)}
        for kind, attack in attacks_on(data, scale.rate).items():
            if kind == "strong" or kind == "fgsm" and net.endswith("adv"):
                continue
            for block in range(min(scale.blocks, -(-sizes["sample"] // sizes["size"]))):
                planned[net, kind, block] = dict(
                    subject=subject, attack=attack, first=FIRST_SURROUNDED[data] + block * sizes["size"],
                    images=sizes["size"], iterations=iterations.get(kind, 1), directions=sizes["directions"],
                    negatives=data == "mnist", step=scale.coarser * STEP[data], top=TOP[data],
                    seed=scale.seed, **({} if scale.audited == AUDITED else {"audited": scale.audited}))
    return planned


def surround(subject, attack, *, first, images, iterations, directions, negatives, step, top, seed,
             audited=AUDITED):
    """Sorted distances, in steps (255: no other class found), and purities around a block of examples."""
    x, y = subject.images(first, images)
    # Images of one channel do not tell their layout, so the network must: this is 1.7 times as fast on a CPU.
    model = subject.model(seed).to(memory_format=torch.channels_last)
    batch = examples(model, x, y, attack, iterations=iterations, seed=seed)
    dirs = directions_for(x, directions, negatives=negatives, seed=seed)
    x = batch.x[batch.counts]
    careful, otherwise = model, 0
    if len(x):
        points = random_points(x, dirs, 2 * audited, top=top,
                               generator=runtime.generator(seed, "strewn", first))
        careful = Careful.measured(model, points[:audited])
        checked = points[audited:]
        otherwise = int((logits(careful, checked).argmax(1) != logits(model, checked).argmax(1)).sum())
    around = survey(careful, x, dirs, step=step, top=top)
    return inputs_of_classifiers(around, step) | {
        "iterations": iterations, "images": images, "correct": batch.correct.tolist(),
        "success": batch.success.tolist(), "counts": batch.counts.tolist(),
        "passes": int(batch.passes.sum()), "evaluations": around.evaluations,
        "again": careful.again / careful.judged if len(x) else None,
        "audited": audited if len(x) else 0, "otherwise": otherwise}


def plan_classifiers(scale):
    """One run for each network and each attack that a classifier is trained on.

    It is trained on the pairs that are there, an image and its example, and tested on the last fifth of them
    (on CIFAR-10 the last two ninths).
    """
    planned = {}
    for net, subject in wanted(scale).items():
        data, sizes = subject.dataset, getattr(scale, subject.dataset)
        for attack, others in (("brittle", ["margin"]), ("margin", ["brittle"]), ("fgsm", [])):
            if attack != "fgsm" or not net.endswith("adv"):
                planned[net, attack] = dict(
                    name=net, attack=attack, others=others, **TRAINED[data], sample=sizes["sample"],
                    size=sizes["size"], step=scale.coarser * STEP[data], steps=sizes["training"], batch=128,
                    balanced=False, seed=scale.seed)
    return planned


def learn(around, name, attack, others, *, sample, size, step, share, centre, spread, steps, batch, balanced,
          seed):
    """Errors of the boundary classifier for one network and one training attack, on this and other attacks.

    around  {name of a block: result}: blocks of `size` images with the steps to the boundary and the
            purities around those that count
    share   of the images that it is trained on, the first ones in the order of the test set
    Where none of them has a successful example there is no classifier, and nothing is counted.
    """
    kinds = ("benign", attack, *others)
    there = [b for b in range(-(-sample // size)) if all(f"{name}-{kind}-b{b}" in around for kind in kinds)]

    def inputs(result):
        """What the classifier is given for the images of a block; zeros where an image does not count."""
        lengths = torch.as_tensor(result["steps"]).float() * step
        lengths[torch.as_tensor(result["steps"]) == 255] = 1.0
        rows = torch.cat([(lengths - centre) / spread, torch.as_tensor(result["purities"])], 1)
        counts = torch.tensor(result["counts"])
        placed = torch.zeros(len(counts), rows.shape[1])
        placed[counts] = rows
        return placed

    def pairs(kind):
        benign, moved = ([around[f"{name}-{which}-b{b}"] for b in there] for which in ("benign", kind))
        return classifier.FeaturePairs(*(torch.cat([inputs(r) for r in runs]) for runs in (benign, moved)),
                                       torch.cat([torch.tensor(r["correct"]) for r in moved]),
                                       torch.cat([torch.tensor(r["success"]) for r in moved]))

    if not there:
        raise runtime.UserError(f"no block of {name} has all of {', '.join(kinds)} recorded: compute some "
                                "surroundings first, or ask for another subject")
    trained_on = pairs(attack)
    count = len(trained_on.correct)
    train = round(share * count)
    facts = {"sample": count, "trained_on": int(trained_on[:train].kept()[1].sum()), "tested": count - train,
            "inputs": trained_on.benign.shape[1] - classifier.PURITIES}
    if not facts["trained_on"]:
        return facts | {"flagged": 0, "benign": 0, "missed": {}, "adversarial": {}}
    net = classifier.train(trained_on[:train], steps=steps, batch=min(batch, train), balanced=balanced,
                           generator=runtime.generator(seed, "he", "classifier", name, attack))
    errors = {kind: classifier.errors(net, pairs(kind)[train:]) for kind in (attack, *others)}
    return facts | {"flagged": errors[attack].flagged, "benign": errors[attack].benign,
                   "missed": {kind: r.missed for kind, r in errors.items()},
                   "adversarial": {kind: r.adversarial for kind, r in errors.items()}}


def learn_surroundings(**arguments):
    """`learn` from the runs of `surroundings`."""
    return learn(results_of("he/surroundings"), **arguments)


surroundings = Experiment("he/surroundings", surround, plan_surroundings, sizes=("iterations",),
                          names="{network}-{kind}-b{block}", scale=CLASSIFIER_SCALE)
classifiers = Experiment("he/classifiers", learn_surroundings, plan_classifiers, sizes=("sample",),
                         names="{network}-{attack}", scale=CLASSIFIER_SCALE, after=(surroundings,))


# ---- Appendix D: images of ImageNet's size ---------------------------------------------------------------
LEAST = 150     # images that a boundary classifier is trained and tested on
IMAGENET_SCALE = scales(
    nets={"imagenet": Subject(imagenet_samples.SPEC.name, "he-squeezenet", None)},
    rate=[0.2, 0.05, None], subject="all", seed=0, sample=[2, 2, 450], size=[2, 2, 5], blocks=[1, 1, 90],
    iterations=[3, 2, 1000],
    directions=[12, 12, 1000], step=[0.12, 0.08, 0.01], least=[2, LEAST, LEAST], steps=[5, 10, 4000],
    noises=[3, 10, 100], shown=1)


def plan_imagenet_examples(scale):
    """Blocks of images for each kind of example."""
    return {(net, kind, block): given | dict(
        iterations=scale.iterations if kind in SEARCHED else 1, directions=scale.directions, step=scale.step,
        top=0.49, radius=0.02, shown=scale.shown if block == 0 else 0)
        for (net, kind, block), given in blocks(scale, lambda *_: scale.size)}


def examine(subject, attack, *, first, images, iterations, directions, step, top, radius, shown, seed):
    """An attack on a block of images, both classifications, line searches from the examples that count."""
    x, model, batch, facts = classified(subject, attack, first, images, iterations, radius, shown, seed)
    dirs = directions_for(x, directions, negatives=False, seed=seed)
    around, one = survey(model, batch.x[batch.counts], dirs, step=step, top=top), None
    if shown and bool(batch.counts[0]):
        one = {"distance": around.distance[0], "adjacent": around.adjacent[0].to(torch.int16),
               "linf": around.linf[0]}
    return facts | nearest_and_median(around) | inputs_of_classifiers(around, step) | {
        "directions": directions, "counts": batch.counts.tolist(), "purity": purity(around, 10).tolist(),
        "passes": int(batch.passes.sum()), "evaluations": around.evaluations, "one": one}


def plan_noise(scale):
    """Noise on OptMargin's examples: a run a block of them."""
    taken = ("subject", "attack", "first", "images", "iterations", "radius", "seed")
    return {key: {k: given[k] for k in taken} | {"noises": scale.noises}
            for key, given in plan_imagenet_examples(scale).items() if "margin" in key}


def under_noise(subject, attack, *, first, images, iterations, noises, radius, seed):
    """How often noisy copies of OptMargin's examples are misclassified: by its own noises, others, a cube's.

    Shares of the copies of each image that have another class than the true one; of an image without an
    example, those of the image itself.

    noises  how many others, of the same size as the attack's and at right angles; as many points of the cube
    radius  of region classification's cube, whose points alone are clipped to [0, 1]
    """
    x, y, model, batch = attacked(subject, attack, first, images, iterations, seed)
    drawn, shape = runtime.generator(seed, "he", "other noises"), x.shape[1:]
    own = attack.noises(shape, runtime.generator(seed, "he", "noise"))
    others = dataclasses.replace(attack, members=noises + 1).noises(shape, drawn)[:-1]
    cube = radius * (2 * torch.rand(noises, *shape, generator=drawn) - 1)

    def misread(images, copies, clipped=False):
        clouds = (images[:, None] + copies.to(x.device)).flatten(0, 1)
        clouds = clouds.clamp(0, 1) if clipped else clouds      # as the attack and as region classification
        return (logits(model, clouds).argmax(1).view(len(x), -1) != y[:, None]).float().mean(1).tolist()

    with frozen(model):
        return {"iterations": iterations, "images": images, "counts": batch.counts.tolist(),
                "own": misread(batch.x, own), "others": misread(batch.x, others),
                "cube": misread(batch.x, cube, clipped=True), "clean": misread(x, others)}


def plan_imagenet_classifiers(scale):
    """One run for each attack, where there are images enough."""
    if min(scale.blocks * scale.size, scale.sample) < scale.least:
        return {}
    return {f"imagenet-{kind}": dict(
        name="imagenet", attack=kind, others=[], sample=scale.sample, size=scale.size, step=scale.step,
        share=7 / 9, centre=0.0, spread=1.0, steps=scale.steps, batch=350, balanced=True, seed=scale.seed)
        for kind in ("brittle", "margin", "fgsm")}


def learn_imagenet(**arguments):
    """`learn` from the runs of `imagenet_examples`."""
    return learn(results_of("he/imagenet-examples"), **arguments)


imagenet_examples = Experiment("he/imagenet-examples", examine, plan_imagenet_examples,
                               sizes=("iterations", "directions"), names="{network}-{kind}-b{block}",
                               scale=IMAGENET_SCALE)
imagenet_classifiers = Experiment("he/imagenet-classifiers", learn_imagenet, plan_imagenet_classifiers,
                                  sizes=("sample",), scale=IMAGENET_SCALE, after=(imagenet_examples,))
imagenet_noise = Experiment("he/imagenet-noise", under_noise, plan_noise, sizes=("iterations",),
                            names="{network}-{kind}-b{block}-noise", scale=IMAGENET_SCALE)


# ---- the report card of the networks ---------------------------------------------------------------------
CARD_SCALE = scales(nets=[*map(subjects, PROFILES)], subject="all", images=[2, 16, 1_000],
                    tested=[20, 200, 1_000], seed=0)


def plan_cards(scale):
    """A card of each network."""
    return {net: dict(subject=subject, images=scale.images, tested=scale.tested, seed=scale.seed)
            for net, subject in wanted(scale).items()}


def card_of(subject, *, images, tested, seed):
    """The settings and the sections of a network's report card, without what it has of single images.

    images  of the first `tested` test images, drawn at random: what the attacks take
    """
    unfinished = inputs.checkpoint("card").path
    whole = card({subject.architecture: subject.model(seed)}, *subject.images(0, tested), images=images,
                 seed=seed, file=unfinished and unfinished.with_suffix(".json")).json()
    sections = whole["sections"][subject.architecture]
    for section in sections:
        section["measures"] = [measure | {"images": [], "draws": []} for measure in section["measures"]]
        section["pictures"] = {"curves": section["pictures"].get("curves", [])}
    return {"images": whole["settings"]["images"], "settings": whole["settings"], "sections": sections}


cards = Experiment("he/cards", card_of, plan_cards, sizes=("images",), names="{network}", scale=CARD_SCALE)
