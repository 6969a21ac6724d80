# ---
# jupyter:
#   boundary_book:
#     items: []
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: boundary_book
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (chen-iv-c)=
# # IV.C Networks attacked, and measured without an attack
#
# *Chen et al. {cite:p}`chen2020`, Section IV*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks' first weights, of their training and of every draw
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing, stale, all, none, names, or 2/8, the second of eight shares
dataset: str = "all"  # whose networks are wanted {all, mnist, fashion_mnist, cifar10}
images_train: int | None = None  # training images of a network; None takes the profile's value [10..]
epochs: int | None = None  # of training; None takes the profile's value [1..]
images_attack: int | None = None  # test images that are attacked; None takes the profile's value [10..]

# %% tags=["hide-cell"]
import contextlib
import dataclasses

import numpy as np
import torch

from shared import roby, runtime
from shared.attacks import line
from shared.attacks.directions import directions
from shared.attacks.gradient import PGD, HalfAdversarial, PGDBeyondWhite
from shared.attacks.threat import L2, Linf, LinfL2Steps
from shared.boundary.survey import survey
from shared.data import sets
from shared.models import chen, registry
from shared.models.inference import Careful, accuracy, chunk_for, frozen, label_margins, pixels
from shared.pages.start import start
from shared.training.fit import fit, share
from shared.units import provenance
from shared.units.checkpoint import checkpoint

run = start("chen/iv_c_benchmark", globals())

# %% [markdown]
# ## The three scales

# %%
DATASETS = ("mnist", "fashion_mnist", "cifar10")
scale = run.scale(
    smoke=dict(datasets=("mnist",), models=("lenet", "fcn-1", "cnn-1"), recipe=chen.SMOKE, robust_epochs=1,
               images_train=200, epochs=1, images_attack=20, draws=20, near=2, directions=2),
    quick=dict(datasets=("mnist",), models=("lenet", "fcn-1", "cnn-1"), recipe=chen.NATURAL, robust_epochs=1,
               images_train=2_000, epochs=1, images_attack=60, draws=50, near=5, directions=5),
    paper=dict(datasets=DATASETS, models=None, recipe=chen.NATURAL, robust_epochs=73, images_train=60_000,
               epochs=91, images_attack=10_000, draws=1_000, near=50, directions=20),
)
PARTS = ("images_train", "epochs", "images_attack")


# %% [markdown]
# A unit is one network: it is trained, measured and attacked, and gone.

# %%
def attacked(net, x, y, attack, generator):
    """The last iterates of an attack on float32 images x, computed in bfloat16 where the device has it."""
    def part(images, labels, moves):
        with runtime.bf16(images.device):
            images = images.contiguous(memory_format=torch.channels_last)
            return attack.propose(net, images, labels, moves)[0]

    with frozen(net):
        return runtime.chunked(part, x, y, attack.draw(x, generator).to(x.device), chunk=chunk_for(net, x))


def layout(features, groups, p):
    """`roby.layout` as arrays, or None where the model never predicts a class, or predicts one alone."""
    try:
        found = roby.layout(features, groups, p=p)
    except runtime.UserError:
        return None
    return {"count": found.count, "width": found.width.float(), "distance": found.distance.float()}


def layouts(scores, hidden, y):
    """Where classes lie: by logits, softmax and last hidden features, true and predicted classes, norms."""
    every = {"logits": scores, "softmax": scores.softmax(1), "hidden": hidden}
    return {name: {by: {p: layout(features, groups, float(p)) for p in ("2", "inf")}
                   for by, groups in (("true", y), ("predicted", scores.argmax(1)))}
            for name, features in every.items()}


def resampled(scores, y, draws, seed):
    """`roby.bootstrap` of logits in both norms; every network is resampled alike."""
    return {p: roby.bootstrap(scores, y, p=float(p), draws=draws,
                              generator=runtime.generator(seed, "chen", "bootstrap")).float()
            for p in ("2", "inf")}


def flat_map(scores, seed):
    """t-SNE coordinates [n, 2] of logits [n, K]."""
    from sklearn.manifold import TSNE  # here: it takes seconds to import

    made = TSNE(2, perplexity=min(30, (len(scores) - 1) / 3), init="pca", random_state=seed)
    return made.fit_transform(scores.numpy()).astype(np.float16)


def measure(dataset, architecture, options, recipe, hook, attacks, *, images_train, epochs, images_attack,
            draws, near, directions, seed):
    """Train one network; its accuracy, classes, attacks, distances and seconds.

    near, directions   images around which the boundary is looked for, and in how many directions
    """
    data, device = sets.load(dataset), runtime.device()
    channels, size = data.x_train.shape[1:3]
    x_test, y_test = data.x_test.to(device), data.y_test
    recipe = dataclasses.replace(recipe, images=min(images_train, len(data.x_train)), epochs=epochs)
    net = registry.build(architecture, generator=runtime.generator(seed, "chen", architecture, dataset),
                         channels=channels, size=size, **options)
    fit(net, data.x_train, data.y_train, recipe, device=device, hook=hook,
        generator=runtime.generator(seed, "chen", architecture, dataset, "order"))

    look, classes, seconds, clock = roby.Penultimate(net), len(data.classes), {}, provenance.clock

    def both(images):
        hidden = look(images)
        return torch.cat([look.logits, hidden], 1)

    def seen(images, chunk=None):
        made = roby.embed(both, images, like=net, chunk=chunk)
        return made[:, :classes], made[:, classes:]

    start = clock()
    scores, hidden = seen(x_test)
    seconds["forward"] = clock() - start
    start = clock()
    for p in roby.NORMS:
        with contextlib.suppress(runtime.UserError):    # of a network that has learned nothing
            roby.roby(roby.layout(scores, y_test, p=p))
    seconds["roby"] = clock() - start
    result = {"images_train": recipe.images, "epochs": epochs, "classes": classes,
              "parameters": sum(each.numel() for each in net.parameters()),
              "test_accuracy": float((scores.argmax(1) == y_test).double().mean()),
              "train_accuracy": accuracy(net, data.x_train[:1000], data.y_train[:1000]),
              "margins": label_margins(scores, y_test),
              "sure": float(label_margins(scores.softmax(1), y_test).mean()),
              "classes_test": layouts(scores, hidden, y_test),
              "resampled_test": resampled(scores, y_test, draws, seed)}

    order = torch.randperm(len(x_test), generator=runtime.generator(seed, "chen", "attacked"))
    rows = order[share(y_test[order], min(images_attack, len(x_test)))].sort().values
    x, y = pixels(x_test[rows.to(device)]), y_test[rows]
    start = clock()
    with torch.no_grad(), runtime.bf16(device):
        runtime.chunked(net, x, chunk=chunk_for(net, x))
    seconds["forward_attacked_bf16"] = clock() - start
    clean, hidden = scores[rows], hidden[rows]
    result |= {"images_attack": len(rows), "rows": rows.short(), "labels": y.byte(),
               "correct": clean.argmax(1) == y,
               "map_clean": flat_map(clean, seed), "attacks": {}, "seconds": seconds,
               "classes_clean": layouts(clean, hidden, y),
               "resampled_clean": resampled(clean, y, draws, seed)}
    for name, attack in attacks.items():
        kept = checkpoint(f"attack-{name}")
        if (state := kept.load()) is None:
            start = clock()
            z = attacked(net, x, y.to(device), attack, runtime.generator(seed, "chen", "attack", name))
            state = {"z": z.cpu()}, {"seconds": clock() - start}
            kept.save(*state)
        scores, hidden = seen(state[0]["z"].to(device))
        seconds[name] = state[1]["seconds"]
        result["attacks"][name] = {"predicted": scores.argmax(1).byte(),
                                   "classes": layouts(scores, hidden, y)}
        if name == "text":
            result |= {"map_text": flat_map(scores, seed),
                       "resampled_text": resampled(scores, y, draws, seed)}
    return result | distances(net, x[:near], directions, seed) | {
        "batch_statistics": by_batches(net, x, y, seen)}


def distances(net, x, count, seed):
    """RMS distance of the nearest boundary in random directions, and the L2 one along the margin's gradient.

    From the model's class at images x to another; nan where there is none up to 0.5, or to a length of 10.
    """
    careful = Careful.measured(net, x)
    draw = runtime.generator(seed, "chen", "near")
    random = directions(x[0].numel(), count, negatives=True, generator=draw).to(x.device)
    found = survey(careful, x, random, step=0.02, top=0.5)
    own = careful(x).argmax(1)
    direction, _ = line.unit(line.gradients(net, x, own, line.lost_margin)[0])
    steps = line.smallest_steps(careful.flips, x, own, direction, line.scalings(256, 10.0))
    return {"near_random": torch.where(found.censored, torch.nan, found.nearest),
            "near_gradient": torch.where(steps.found, steps.size, torch.nan)}


def by_batches(net, x, y, seen):
    """`layouts` and accuracy where batch normalisation works by the batch of 50; None where there is none."""
    norms = [m for m in net.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    if not norms:
        return None
    for norm in norms:
        norm.track_running_stats, norm.running_mean, norm.running_var = False, None, None
    parts = [seen(part, len(part)) for part in x.tensor_split(-(-len(x) // 50))]
    scores, hidden = (torch.cat(each) for each in zip(*parts))
    return {"accuracy": float((scores.argmax(1) == y).double().mean()), "classes": layouts(scores, hidden, y)}


# %%
def attacks_on(dataset):
    """The readings of the paper's PGD: its text, the journal version's code; L2 as a ball or as steps.

    text   40 steps of 0.01 in 0.3; on CIFAR-10, where the print has no such numbers, 10 of 0.25/255 in 1/255
    code   10 steps of 2 on the data's own scale, which cuts digits at 255
    steps  of Euclidean length in the L-inf ball;  ball: the L2 ball of the printed size;  wide: a usual one
    third  the text's in a third of the size, where fewer networks lose every image
    """
    colour = dataset == "cifar10"
    size, steps, step, code = (1 / 255, 10, 0.25 / 255, PGD) if colour else (0.3, 40, 0.01, PGDBeyondWhite)
    long, wide = (2 / 255, 0.5) if colour else (2.0, 2.0)
    return {"text": PGD(Linf(size), steps, step), "code": code(Linf(size), 10, long),
            "third": PGD(Linf(size / 3), steps // 2, step),
            "ball": PGD(L2(size), 10, size / 4), "steps": PGD(LinfL2Steps(size), steps, step),
            "code_steps": code(LinfL2Steps(size), 10, long), "wide": PGD(L2(wide), 20, wide / 8)}


def hook_on(dataset):
    """Half of each batch adversarial, by the ball of the paper's text in seven larger steps."""
    size = 1 / 255 if dataset == "cifar10" else 0.3
    return HalfAdversarial(PGD(Linf(size), steps=7, step=size / 3), train_mode=False)


def named(scale, models, datasets=DATASETS, robust=False):
    """`{name of a unit: its arguments}` of models {name: (architecture, its options)}."""
    return {f"{data.replace('_', '-')}-{name}{'-robust' if robust else ''}": dict(
        dataset=data, architecture=architecture, options=options,
        recipe=dataclasses.replace(scale.recipe, rate=chen.RATES.get(architecture, scale.recipe.rate)),
        hook=hook_on(data) if robust else None, attacks=attacks_on(data),
        images_train=min(scale.images_train, 50_000 if data == "cifar10" else 60_000),
        epochs=min(scale.epochs, scale.robust_epochs) if robust else scale.epochs,
        images_attack=scale.images_attack, draws=scale.draws, near=scale.near, directions=scale.directions,
        seed=scale.seed)
        for data in datasets for name, (architecture, options) in models.items()
        if data in scale.datasets and scale.dataset in ("all", data)
        and (scale.models is None or name in scale.models)}


def ten(scale, robust):
    """The ten architectures of Table I."""
    return named(scale, {name.lower().replace(" ", ""): (architecture, {}) for name, architecture
                         in chen.MODELS.items()}, robust=robust)


def plan_natural(scale):
    """A unit for each data set and architecture, trained on clean images."""
    return ten(scale, False)


def plan_robust(scale):
    """The same, trained on clean and adversarial images."""
    return ten(scale, True)


def plan_dense(scale):
    """A unit for each fully connected network of Tables VI and VII."""
    return named(scale, {name.lower(): ("chen-fcn", options) for name, options in chen.FCNS.items()},
                 DATASETS[:1])


def plan_convolutional(scale):
    """A unit for each data set and network of Table VIII."""
    return named(scale, {name.lower(): ("chen-cnn", options) for name, options in chen.CNNS.items()})


dense = run.units("dense", measure, plan_dense, parts=PARTS)
convolutional = run.units("convolutional", measure, plan_convolutional, parts=PARTS)
natural = run.units("natural", measure, plan_natural, parts=PARTS)
robust = run.units("robust", measure, plan_robust, parts=PARTS)


# %% [markdown]
# ## What each network came to

# %%
def came_to(*sets_):
    """A row for each network: accuracy, success of the text's attack, what Algorithm 1 gives."""
    made = []
    for u in (u for units_ in sets_ for u in units_.to_dict("records")):
        correct = np.array(u["correct"], dtype=bool)
        wrong = np.array(u["attacks"]["text"]["predicted"]) != np.array(u["labels"])
        there = {k: torch.as_tensor(v).double() for k, v in u["classes_test"]["logits"]["true"]["2"].items()}
        found = roby.roby(roby.Layout(**there, p=2))
        made.append({"network": u["unit"], "accuracy_pct": 100 * u["test_accuracy"],
                     "success_pct": 100 * float(wrong[correct].mean()) if correct.any() else None,
                     "fsa": found.fsa, "fsd": found.fsd, "roby": found.roby, "overlap": found.overlap})
    return made


for some in (natural, robust, dense, convolutional):
    run.extra(f"{some.name}-networks", some, came_to,
              "Accuracy, success of PGD as in the text, and ROBY in the L2 form.",
              header={"network": "network", "accuracy_pct": "accuracy, %",
                      "success_pct": "attacks succeed, %", "fsa": "FSA", "fsd": "FSD", "roby": "ROBY",
                      "overlap": "overlap, not scaled"})

# %%
run.stamp()
