"""The networks of `chen`: how they are trained, measured and attacked (Sections III and IV)."""
import contextlib
import copy
import dataclasses
import math
from functools import partial

import numpy as np
import torch

from papers.chen import models
from papers.chen.attacks import HalfAdversarial, LinfEuclideanSteps, PGDBeyondWhite
from papers.scales import scales
from report import provenance, reference, registry
from report.experiment import Experiment
from report.inputs import checkpoint
from shared import roby, runtime
from shared.attacks import line
from shared.attacks.directions import directions
from shared.attacks.gradient import PGD
from shared.attacks.threat import L2, Linf
from shared.boundary import survey
from shared.data import sets
from shared.inference import Careful, accuracy, chunk_for, frozen, label_margins, pixels
from shared.training.fit import fit, share

PAPER = reference.paper("chen")
DATASETS = {"cifar10": "CIFAR-10", "mnist": "MNIST", "fashion_mnist": "Fashion-MNIST"}
# Networks of the paper's tables. Others that `models.chen` names are trained and shown beside them.
PRINTED = {row["model"] for item in ("table-1", "table-6", "table-7", "table-9") for row in PAPER[item].rows}


# ---- plans -----------------------------------------------------------------------------------------------
# Networks by their printed names: architecture, options.
NETWORKS = {name: (architecture, {}) for name, architecture in models.MODELS.items()}
NETWORKS |= {name: ("chen-fcn", options) for name, options in models.FCNS.items()}
NETWORKS |= {name: ("chen-cnn", options) for name, options in models.CNNS.items()}
SPELT = {name.lower().replace(" ", ""): name for name in NETWORKS}      # {as runs name them: as printed}
_ORDER = ("mnist", "fashion_mnist", "cifar10")          # in which runs are computed
NAMES = "{data}-{model}"
# Of each set of runs: its networks, its data sets, how runs are named.
SETS = {"natural": (models.MODELS, _ORDER, NAMES), "robust": (models.MODELS, _ORDER, f"{NAMES}-robust"),
        "dense": (models.FCNS, _ORDER[:1], NAMES), "convolutional": (models.CNNS, _ORDER, NAMES),
        "suspects": (("MobileNetV2", "SqueezeNet", "LeNet"), _ORDER[:1], f"{NAMES}-suspects")}
# The cheapest networks of each table: their states of half and of double the length are measured, too.
CHEAP = ("lenet", "mobilenetv1", "mobilenetv2", "fcn-1", "fcn-2", "fcn-3", "cnn-2", "cnn-4")

# A cheap network of each table, trained with further seeds: how far another training moves its values.
AGAIN = {"natural": ("lenet",), "dense": ("fcn-1", "fcn-2"), "convolutional": ("cnn-4",)}


# ---- scales ----------------------------------------------------------------------------------------------
# `steps` is the share of an attack's steps that is made.
SCALE = scales(
    datasets=[("mnist",), ("mnist",), tuple(DATASETS)], dataset="all",
    models=[("lenet",), ("lenet", "squeezenet"), None], recipe=[models.SMOKE, models.NATURAL, models.NATURAL],
    robust=[False, False, True], images_train=[100, 500, 55_000], held_out=[100, 300, 5_000],
    longest=[1, 1, 16], images_attack=[12, 24, 10_000], steps=[0.25, 1, 1], draws=[20, 50, 1_000],
    near=[2, 5, 50], directions=[2, 5, 20], again=[1, 0, 5], seed=0)


def small(*names):
    """The scales of a page that trains the networks `names` in `smoke` and `quick`, and all at full scale."""
    return {profile: settings if profile == "paper" else settings | {"robust": True, "models": names}
            for profile, settings in SCALE.items()}


DEFENCE, CAPACITY = small("lenet"), small("fcn-1", "fcn-2", "cnn-2")     # of the pages on IV.D and IV.E
SCALES = {"robust": DEFENCE, "dense": CAPACITY, "convolutional": CAPACITY}


def attacks_on(dataset):
    """The readings of the paper's PGD: its text, the journal version's code; L2 as a ball or as steps.

    text   40 steps of 0.01 in 0.3; on CIFAR-10, where the print has no such numbers, 10 of 0.25/255 in 1/255
    signed the text's for pixels in [-1, 1]: half of its size and step
    code   10 steps of 2 on the data's own scale, which cuts digits at 255
    steps  of Euclidean length in the L-inf ball;  ball: the L2 ball of the printed size;  wide: a usual one
    third  the text's in a third of the size, where fewer networks lose every image
    """
    colour = dataset == "cifar10"
    size, steps, step, code = (1 / 255, 10, 0.25 / 255, PGD) if colour else (0.3, 40, 0.01, PGDBeyondWhite)
    long, wide = (2 / 255, 0.5) if colour else (2.0, 2.0)
    return {"text": PGD(Linf(size), steps, step), "signed": PGD(Linf(size / 2), steps, step / 2),
            "code": code(Linf(size), 10, long),
            "third": PGD(Linf(size / 3), steps // 2, step),
            "ball": PGD(L2(size), 10, size / 4), "steps": PGD(LinfEuclideanSteps(size), steps, step),
            "code_steps": code(LinfEuclideanSteps(size), 10, long), "wide": PGD(L2(wide), 20, wide / 8)}


SUSPECTS = {"text": "PGD as in the text", "signed": "pixels in [−1, 1]: half of its ε and step",
            "standard": "standardised pixels: 0.308 of its ε and step", "ten": "10 of its 40 steps",
            "clean": "no random start", "targeted": "targeted at a random class: label flips"}
DEVIATION = 0.308   # of the pixels of MNIST's training images


def suspects_on(dataset):
    """Readings of the text's PGD that may explain its success on MNIST: `SUSPECTS`."""
    attacks = attacks_on(dataset)
    text, size = attacks["text"], attacks["text"].threat.size
    return {"text": text, "signed": attacks["signed"],
            "standard": dataclasses.replace(text, threat=Linf(DEVIATION * size), step=DEVIATION * text.step),
            "ten": dataclasses.replace(text, steps=10),
            "clean": dataclasses.replace(text, random_start=False),
            "targeted": dataclasses.replace(text, threat=Linf(size, targeted=True))}


# Published accuracies, by set of runs: networks are trained until they reach them.
def _asked(kind, data, name):
    """The published accuracy of a network, as a share; a robust one's is that of its natural network.

    That of a further network is the median of its table's on the data set.
    """
    items = {"dense": ("table-6", "table-7"), "convolutional": ("table-9",)}.get(kind, ("table-1",))
    printed = {row["model"]: row["acc"] for item in items for row in PAPER[item].rows
               if row["dataset"] == DATASETS[data]}
    return printed.get(name) or float(np.median(list(printed.values())))


def hook_on(dataset):
    """Half of each batch adversarial, by the ball of the paper's text in seven larger steps."""
    size = 1 / 255 if dataset == "cifar10" else 0.3
    return HalfAdversarial(PGD(Linf(size), steps=7, step=size / 3), train_mode=False)


def plan(kind):
    """The plan of a set of `SETS`: a run for each data set and network that a scale wants."""
    chosen, order, _ = SETS[kind]
    networks = {name: NETWORKS[printed] for name, printed in SPELT.items() if printed in chosen}
    robust = kind == "robust"

    def planned(scale):
        if robust and not scale.robust:
            return {}
        return {(data.replace("_", "-"), name): dict(
            dataset=data, architecture=architecture, options=options,
            recipe=dataclasses.replace(scale.recipe, **models.OWN.get(architecture, {})),
            hook=hook_on(data) if robust else None,
            attacks={name: dataclasses.replace(attack, steps=math.ceil(scale.steps * attack.steps))
                     for name, attack in (suspects_on if kind == "suspects" else attacks_on)(data).items()},
            asked=_asked(kind, data, SPELT[name]), other_lengths=kind != "suspects" and name in CHEAP,
            images_train=min(scale.images_train, 45_000 if data == "cifar10" else 55_000),
            held_out=scale.held_out, longest=scale.longest, images_attack=scale.images_attack,
            draws=scale.draws, near=scale.near, directions=scale.directions, seed=scale.seed)
            for data in order for name, (architecture, options) in networks.items()
            if data in scale.datasets and scale.dataset in ("all", data)
            and (scale.models is None or name in scale.models)}
    return planned


def plan_again(kind):
    """The plan of further trainings of a set's networks in `AGAIN`, on each data set."""
    def planned(scale):
        return {(data, name, seed): arguments | {"other_lengths": False, "seed": seed}
                for (data, name), arguments in plan(kind)(scale).items() if name in AGAIN[kind]
                for seed in range(1, scale.again + 1)}
    return planned


COST = scales(datasets=[_ORDER[:1], _ORDER[:1], _ORDER], models=[("lenet",), ("lenet", "squeezenet"), None],
              images=[2, 4, 16], passes=[2, 3, 10], rounds=[2, 2, 3], seed=0)


def plan_cost(scale):
    """The plan of `time_cost`: a run for each data set and network of Table I that a scale wants."""
    networks = {name: NETWORKS[printed] for name, printed in SPELT.items() if printed in models.MODELS}
    return {(data.replace("_", "-"), name): dict(
        dataset=data, architecture=architecture, options=options, attack=attacks_on(data)["text"],
        images=scale.images, passes=scale.passes, rounds=scale.rounds, seed=scale.seed)
        for data in scale.datasets for name, (architecture, options) in networks.items()
        if scale.models is None or name in scale.models}


# ---- one network ------------------------------------------------------------------------------------------
def attacked(net, x, y, attack, generator, bf16):
    """The last iterates of an attack on float32 images x; `bf16` as in a recipe."""
    moves = attack.draw(x, generator)
    moves = torch.zeros_like(x) if moves is None else moves.to(x.device)

    def part(images, labels, moves):
        with runtime.bf16(images.device, bf16):
            images = images.contiguous(memory_format=torch.channels_last)
            return attack.propose(net, images, labels, moves)[0]

    with frozen(net):
        return runtime.chunked(part, x, y, moves, chunk=chunk_for(net, x))


def layout(features, groups, p):
    """`roby.layout` as arrays, or None where the model never predicts a class, or predicts one alone."""
    try:
        there = roby.layout(features, groups, p=p)
    except runtime.UserError:
        return None
    return {"count": there.count, "width": there.width.float(), "distance": there.distance.float()}


def layouts(scores, hidden, y):
    """Where classes lie: by logits, softmax and last hidden features, true and predicted classes, norms."""
    embeddings = {"logits": scores, "softmax": scores.softmax(1), "hidden": hidden}
    return {name: {by: {p: layout(features, groups, float(p)) for p in ("2", "inf")}
                   for by, groups in (("true", y), ("predicted", scores.argmax(1)))}
            for name, features in embeddings.items()}


def resampled(scores, y, draws, seed):
    """`roby.bootstrap` of logits in both norms; every network is resampled alike."""
    return {p: roby.bootstrap(scores, y, p=float(p), draws=draws,
                              generator=runtime.generator(seed, "chen", "bootstrap")).float()
            for p in ("2", "inf")}


def flat_map(scores, seed):
    """t-SNE coordinates [n, 2] of logits [n, K]."""
    from sklearn.manifold import TSNE  # here: it takes seconds to import

    tsne = TSNE(2, perplexity=min(30, (len(scores) - 1) / 3), init="pca", random_state=seed)
    return tsne.fit_transform(scores.numpy()).astype(np.float16)


def trained(net, data, recipe, hook, asked, states_of, *, images_train, held_out, longest, seed, label):
    """Train a network to an accuracy: `({epochs: weights}, {epochs: accuracy}, its length, whether reached)`.

    asked      share of the held-out training images; the length is the first of 1, 2, 4, 8, 16 epochs (up to
               `longest`) at which it is reached, the last where it never is
    states_of  length -> lengths whose weights are wanted beside those of the length itself
    """
    order = torch.randperm(len(data.x_train), generator=runtime.generator(seed, "chen", "held out"))
    out, rest = order[:held_out], order[held_out:]
    rows = rest[share(data.y_train[rest], images_train)].sort().values
    lengths = [n for n in models.LENGTHS if n <= longest]
    file = checkpoint("looks")
    weights, reached = file.load() or ({}, {})
    reached = {int(n): value for n, value in reached.items()}     # accuracy by epochs

    def length():
        return next((n for n in lengths if reached.get(n, 0) >= asked), None)

    def enough():
        n = length()
        return lengths[-1] in reached if n is None else max(reached) >= max([n, *states_of(n)])

    def look(epochs, net):
        if epochs not in models.LENGTHS:
            return False
        with frozen(net):
            reached[epochs] = accuracy(net, data.x_train[out], data.y_train[out])
        weights.update({f"{epochs}/{k}": v.cpu().clone() for k, v in net.state_dict().items()})
        file.save(weights, reached)
        return enough()

    if not reached or not enough():
        recipe = dataclasses.replace(recipe, epochs=max([lengths[-1], *states_of(lengths[-1])]))
        fit(net, data.x_train[rows], data.y_train[rows], recipe, device=runtime.device(), hook=hook,
            after_epoch=look, generator=runtime.generator(seed, "chen", *label, "order"),
            checkpoint=checkpoint("training"))
    n = length()
    return weights, reached, n or lengths[-1], n is not None


def measure(dataset, architecture, options, recipe, hook, attacks, *, asked, other_lengths, images_train,
            held_out, longest, images_attack, draws, near, directions, seed):
    """Train one network to the published accuracy; its accuracy, classes, attacks, distances and seconds.

    asked           the published accuracy: training ends where the held-out images reach it
    other_lengths   whether states of half and of double the length are measured, too, where the accuracy is
                    reached: "half" and "double"
    near, directions   images around which the boundary is looked for, and in how many directions
    """
    data, label = sets.load(dataset), (architecture, dataset)
    channels, size = data.x_train.shape[1:3]
    net = registry.build(architecture, generator=runtime.generator(seed, "chen", *label), channels=channels,
                         size=size, **options)
    others = {"half": lambda n: n // 2, "double": lambda n: 2 * n} if other_lengths else {}
    weights, accuracies, length, reached = trained(
        net, data, recipe, hook, asked, lambda n: [other(n) for other in others.values()], seed=seed,
        label=label, images_train=images_train, held_out=held_out, longest=longest)

    def state(epochs):
        own = copy.deepcopy(net)    # what measures it leaves its hooks behind
        own.load_state_dict({k.partition("/")[2]: v for k, v in weights.items()
                             if k.startswith(f"{epochs}/")})
        return {"epochs": epochs} | measured(
            own.eval(), data, recipe, attacks, images_attack=images_attack, draws=draws, near=near,
            directions=directions, seed=seed, label=f"{epochs}-")

    return {"images_train": min(images_train, len(data.x_train) - held_out), "reached": reached,
            "held_out_accuracy": {str(n): value for n, value in accuracies.items()},
            **{name: state(other(length)) for name, other in others.items() if reached and other(length)},
            **state(length)}


def measured(net, data, recipe, attacks, *, images_attack, draws, near, directions, seed, label):
    """What `measure` returns of one state of a network; `label` begins the names of its checkpoints."""
    device = runtime.device()
    net = net.to(device, memory_format=torch.channels_last)
    x_test, y_test = data.x_test.to(device), data.y_test
    look, classes, seconds, clock = roby.Penultimate(net), len(data.classes), {}, provenance.clock

    def both(images):
        hidden = look(images)
        return torch.cat([look.logits, hidden], 1)

    def seen(images, chunk=None):
        return roby.embed(both, images, like=net, chunk=chunk).tensor_split([classes], 1)

    start = clock()
    scores, hidden = seen(x_test)
    seconds["forward"] = clock() - start
    start = clock()
    for p in roby.NORMS:
        with contextlib.suppress(runtime.UserError):    # of a network that has learned nothing
            roby.roby(roby.layout(scores, y_test, p=p))
    seconds["roby"] = clock() - start
    result = {"classes": classes, "margins": label_margins(scores, y_test),
              "test_accuracy": float((scores.argmax(1) == y_test).double().mean()),
              "classes_test": layouts(scores, hidden, y_test),
              "resampled_test": resampled(scores, y_test, draws, seed)}

    order = torch.randperm(len(x_test), generator=runtime.generator(seed, "chen", "attacked"))
    rows = order[share(y_test[order], images_attack)].sort().values
    x, y = pixels(x_test[rows.to(device)]), y_test[rows]
    start = clock()
    with torch.no_grad(), runtime.bf16(device, recipe.bf16):
        runtime.chunked(net, x, chunk=chunk_for(net, x))
    seconds["forward_attacked"] = clock() - start
    clean = scores[rows]
    result |= {"images_attack": len(rows), "labels": y.byte(), "correct": clean.argmax(1) == y,
               "map_clean": flat_map(clean, seed), "attacks": {}, "seconds": seconds}
    # A targeted attack aims at another class, drawn at random.
    other = torch.randint(1, classes, y.shape, generator=runtime.generator(seed, "chen", "target"))
    goals = {True: (y + other) % classes, False: y}
    for name, attack in attacks.items():
        file = checkpoint(f"{label}attack-{name}")
        if (state := file.load()) is None:
            start = clock()
            z = attacked(net, x, goals[attack.threat.targeted].to(device), attack,
                         runtime.generator(seed, "chen", "attack", name), recipe.bf16)
            state = {"z": z.cpu()}, {"seconds": clock() - start}
            file.save(*state)
        scores, hidden = seen(state[0]["z"].to(device))
        seconds[name] = state[1]["seconds"]
        result["attacks"][name] = {"predicted": scores.argmax(1).byte(),
                                   "classes": layouts(scores, hidden, y)}
        if name == "text":
            result |= {"map_text": flat_map(scores, seed),
                       "resampled_text": resampled(scores, y, draws, seed)}
    result |= distances(net, x[:near], directions, seed)
    return result | {"batch_statistics": by_batches(net, x, y, seen, attacks.get("text"), seed)}


def distances(net, x, count, seed):
    """RMS distance of the nearest boundary in random directions, and the L2 one along the margin's gradient.

    From the model's class at images x to another; nan where there is none up to 0.5, or to a length of 10.
    """
    careful = Careful.measured(net, x)
    draw = runtime.generator(seed, "chen", "near")
    random = directions(x[0].numel(), count, negatives=True, generator=draw).to(x.device)
    nearest = survey(careful, x, random, step=0.02, top=0.5)
    own = careful(x).argmax(1)
    direction, _ = line.unit(line.gradients(net, x, own, line.lost_margin)[0])
    steps = line.smallest_steps(careful.flips, x, own, direction, line.scalings(256, 10.0))
    return {"near_random": torch.where(nearest.censored, torch.nan, nearest.nearest),
            "near_gradient": torch.where(steps.success, steps.size, torch.nan)}


def by_batches(net, x, y, seen, attack, seed):
    """Success of an attack where batch normalisation works by the batch of 200; None where there is none.

    "flipped": how many of the images that are "correct" in these batches the attack on them flips.
    """
    norms = [m for m in net.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    if not norms:
        return None
    for norm in norms:
        norm.track_running_stats, norm.running_mean, norm.running_var = False, None, None
    moves = attack.draw(x, runtime.generator(seed, "chen", "attack", "batches")).to(x.device)
    correct = flipped = 0
    with frozen(net):
        for images, labels, start in zip(x.split(200), y.to(x.device).split(200), moves.split(200)):
            right = seen(images, len(images))[0].argmax(1) == labels.cpu()
            z = attack.propose(net, images, labels, start)[0]
            correct += int(right.sum())
            flipped += int((right & (seen(z, len(images))[0].argmax(1) != labels.cpu())).sum())
    return {"correct": correct, "flipped": flipped}


def time_cost(dataset, architecture, options, attack, *, images, passes, rounds, seed):
    """Seconds of ROBY and of an attack on a network with random weights, both in float32 on the CPU.

    images   test images of the attack and of the forward pass, one batch
    rounds   in each `passes` forward passes and one attack are timed, so that a slower clock slows both
    Returns lists of times, "forward", "roby" and "pgd". ROBY's is that of both norms on random logits of all
    test images, "of_roby" in number.
    """
    data, clock = sets.load(dataset), provenance.clock
    channels, size = data.x_test.shape[1:3]
    net = registry.build(architecture, generator=runtime.generator(seed, "chen", architecture, dataset),
                         channels=channels, size=size, **options)
    net = net.to(memory_format=torch.channels_last).eval()
    x, y = data.x_test[:images], data.y_test
    scores = torch.randn(len(y), len(data.classes), generator=runtime.generator(seed, "chen", "logits"))

    def from_logits():
        for p in roby.NORMS:
            roby.roby(roby.layout(scores, y, p=p))

    def pgd():
        attacked(net, pixels(x), y[:images], attack, runtime.generator(seed, "chen", "attack"), False)

    work = {"forward": partial(roby.embed, net, x, chunk=len(x)), "roby": from_logits, "pgd": pgd}
    seconds = {name: [] for name in work}
    work["forward"]()       # the first pass takes longer
    for _ in range(rounds):
        for name in (*["forward"] * passes, "roby", "pgd"):
            start = clock()
            work[name]()
            seconds[name].append(clock() - start)
    return {"images": len(x), "of_roby": len(y)} | seconds


# ---- the experiments -------------------------------------------------------------------------------------
natural, robust, dense, convolutional, suspects = (
    Experiment(f"chen/{kind}", measure, plan(kind), scale=SCALES.get(kind, SCALE),
               sizes=("images_train", "images_attack"), names=names, memory=8)
    for kind, (_, _, names) in SETS.items())
natural_retrained, dense_retrained, convolutional_retrained = (
    Experiment(f"chen/{kind}-retrained", measure, plan_again(kind), scale=SCALES.get(kind, SCALE),
               sizes=("images_train", "images_attack"), names=f"{NAMES}-seed-{{again}}", memory=8)
    for kind in AGAIN)
cost = Experiment("chen/cost", time_cost, plan_cost, scale=COST, names=NAMES, memory=4)
