# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-2
#     - equation-6
#     - equation-7
#     - equation-8
#     - procedure-adversarial-attack
#     - procedure-random-perturbation
#     - procedure-training-noise
#     - procedure-imagenet
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
# (sutton-7-1)=
# # 7.1 Accuracy and susceptibility: definitions, and a check of their fast implementation
#
# *Sutton et al. {cite:p}`sutton2023`, Section 7.1*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the small nets' weights, of the images and of every draw
device: str = "auto"  # auto, cpu or cuda; this page is too small to gain from a GPU
units: str = "missing"  # nothing here needs units
images: int | None = None  # images of each small problem; None takes the profile's value [10..]
draws: int | None = None  # random perturbations of an image; None takes the profile's value [10..]
trials: int | None = None  # random perturbations against each plane; None takes the profile's value [100..]

# %% tags=["hide-cell"]
import itertools
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy import special, stats
from torch import nn
from torch.nn import functional as F

from shared.attacks.line import gradients, scalings, smallest_steps, squared_error, unit
from shared.attacks.noise import BallNoise, CubeNoise, draw, matching_radius, random_flips
from shared.models import registry, sutton
from shared.models.inference import Careful
from shared.pages import display
from shared.pages.start import start
from shared.stability import labels as many
from shared.stability import susceptibility
from shared.theory.ball import tail
from shared.theory.limits import planar_flip_probability

run = start("sutton/7_1_setup", globals())
DELTAS = (1, 2, 5, 10)  # sizes of random perturbations, in lengths of the attack
SHAPE = (3, 4, 4)  # of the images of the small problems

# %% [markdown]
# ## The claim, and how it is tested
#
# The tables of Section 7.2 contain three percentages. *Accuracy* is the share of correctly classified images. *Adversarial susceptibility* is
# the share of these whose label a step along the gradient of the loss flips. *Random susceptibility* is the share of those attackable images
# whose label at least one of 2,000 random perturbations flips, with a norm of up to several times that of the attack.
#
# This page defines each of them. It writes the paper's steps as plain loops, image by image. The experiments use a faster implementation, and
# both must agree on small problems. As a test of the comparison, each definition is also mutated (another denominator, another sign, the largest
# step instead of the smallest ...), and the comparison must detect the mutants.

# %%
scale = run.scale(
    smoke=dict(images=20, draws=30, trials=2_000),
    quick=dict(images=30, draws=60, trials=6_000),
    paper=dict(images=30, draws=60, trials=6_000),
)


# %% [markdown]
# ## Table 2: the network
#
# The network is a shortened VGG: pairs of convolutions with 3 by 3 weights, each pair followed by a maximum over squares of 2 by 2, the last
# by a maximum over the whole image. The sizes of the layers are lost in our copy of the text. The numbers of parameters are
# not: the listed layers have exactly the weights that 3 by 3 convolutions need. Dropout is used but is not in the table, so batch
# normalisation may be used and missing there, too. The table does not settle the *padding*: whether a convolution keeps the size of
# the image by adding zeros around it, or gives only the values for which all its inputs exist, which is the default of the authors' software.

# %%
def layers(net):
    """The layers of a net in the order and the words of Table 2."""
    told, convolutions = [], itertools.count(1)
    for module in net:
        row = {"layer": None, "size": None, "output_channels": None, "trained_parameters": None}
        match module:
            case nn.Conv2d():
                row |= {"layer": f"Conv-{next(convolutions)}", "output_channels": module.out_channels}
            case nn.Linear():
                row |= {"layer": "Dense", "output_channels": module.out_features}
            case nn.MaxPool2d():
                row["layer"] = "Max pool"
            case nn.AdaptiveMaxPool2d():
                row["layer"] = "Global max pool"
            case _:
                continue
        if own := sum(p.numel() for p in module.parameters()):
            row["trained_parameters"] = own
        told.append(row)
    return [row | {"printed_row": n} for n, row in enumerate(told, 1)]


net_of_table_2 = registry.build("sutton-vgg", generator=run.generator("weights"))
total = sum(p.numel() for p in net_of_table_2.parameters())
run.table("table-2", (), lambda: layers(net_of_table_2))

# %%
short = sum(p.numel() for p in registry.build("sutton-vgg-short").parameters())
recipe = sutton.PAPER
display.say(
    f"The network of Table 2 has {total:,} parameters. For Fashion-MNIST and the traffic signs it lacks the "
    f"third pair of convolutions and has {short:,} parameters. All are trained alike: {recipe.epochs} epochs "
    f"in batches of {recipe.batch}, learning rate {recipe.rate:g}, halved {len(recipe.milestones)} times, "
    f"Nesterov momentum "
    f"{recipe.momentum:g}, on the squared difference between the network's output and the label, 0 or 1. "
    "The networks behind the results of Section 7.2 have batch normalisation, too, which these counts leave "
    "out.")


# %% [markdown]
# **Does a convolution pad?** The paper uses this network for CIFAR-10, whose images have 32 by 32 pixels. It removes Conv-5 and Conv-6 for
# Fashion-MNIST, whose images have 28 by 28 pixels; our copy of the text gives no reason. The table shows the width of each layer of the whole network for
# images of both sizes.

# %%
def across(padding, side):
    """Values across after each layer of Table 2 for a picture of `side` by `side`; 0 where none is left."""
    values, told = torch.zeros(1, 3, side, side), []
    for module in net_of_table_2:
        if isinstance(module, nn.Flatten):
            return told
        try:
            if isinstance(module, nn.Conv2d):
                values = F.conv2d(values, module.weight, padding=padding)
            else:
                values = module(values)
        except RuntimeError:  # the picture has become smaller than the layer's weights
            values = values[..., :0, :0]
        if isinstance(module, (nn.Conv2d, nn.MaxPool2d, nn.AdaptiveMaxPool2d)):
            told.append(values.shape[-1])
    return told


def widths():
    """A row for each layer of Table 2 up to the global pool."""
    columns = {f"{name}_{side}": across(padding, side)
               for name, padding in (("valid", 0), ("padded", 1)) for side in (32, 28)}
    return [{"layer": row["layer"], **{k: column[n] for k, column in columns.items()}}
            for n, row in enumerate(layers(net_of_table_2)) if row["layer"] != "Dense"]


run.extra("sutton-widths", (), widths,
          "Width after each layer of Table 2, for images of 32 and of 28 pixels across.",
          header={"layer": "layer", "valid_32": "no padding, 32", "valid_28": "no padding, 28",
                  "padded_32": "padded, 32", "padded_28": "padded, 28"})

# %%
left = {padding: across(padding, 28)[7] for padding in (0, 1)}  # after Conv-6
display.say(
    f"After Conv-6 an image of 28 by 28 has {left[1]} values across with padding and "
    f"{left[0] or 'none'} without. Without padding the two layers must therefore be removed, and an image of "
    f"CIFAR-10 ends as exactly {across(0, 32)[7]} value a channel; with padding there is no reason to remove "
    "them. The paper removes them for traffic signs as well. The size of these images is lost in our copy of "
    f"the text: an image of 30 by 30 pixels would leave {across(0, 30)[7] or 'nothing'} after "
    "Conv-6; one of 32 by 32 leaves one value a channel, and the argument does not hold for it. No padding "
    "is our reading, for this reason and because it is Tensorflow's default; the page on "
    "{ref}`traffic signs <sutton-7-2-3>` measures what difference it makes.")


# %% [markdown]
# ## Two small problems
#
# *A plane.* The network is linear, so that its nearest boundary, its shortest attack and, by {ref}`Theorem 1 <sutton-4-1>`, the probability of
# every random perturbation have closed forms. *A bent boundary.* The network has forty hidden units. In both problems every fifth image has
# the wrong label, so that some images are misclassified.

# %%
def plane(shape, generator):
    """A net with one logit, the signed distance from a plane through the origin, and the plane's normal."""
    normal = torch.randn(1, int(np.prod(shape)), generator=generator)
    normal /= normal.norm()
    layer = nn.Linear(normal.shape[1], 1)
    nn.init.zeros_(layer.bias)
    with torch.no_grad():
        layer.weight.copy_(normal)
    return nn.Sequential(nn.Flatten(), layer).eval(), normal.view(shape)


def bent(shape, generator, classes=1, gain=1.0):
    """A net with forty hidden units and the weights of a generator."""
    def layer(n, m):
        made = nn.Linear(n, m)
        with torch.no_grad():
            made.weight.copy_(torch.randn(m, n, generator=generator) / n**0.5)
            made.bias.zero_()
        return made

    hidden, last = layer(int(np.prod(shape)), 40), layer(40, classes)
    with torch.no_grad():
        last.weight.mul_(gain)
    return nn.Sequential(nn.Flatten(), hidden, nn.Tanh(), last).eval()


def with_errors(answers, classes=2):
    """Labels of which every fifth is not what the net answers."""
    wrong = torch.arange(len(answers)) % 5 == 0
    return torch.where(wrong, (answers + 1) % classes, answers)


@torch.no_grad()
def answers(net, x):
    """The classes of images [N, C, H, W] as the net has them."""
    scores = net(x)
    return scores.argmax(1) if scores.shape[1] > 1 else (scores[:, 0] > 0).long()


flat, normal = plane(SHAPE, run.generator("plane"))
distances = torch.linspace(0.11, 6.3, scale.images) * (2 * (torch.arange(scale.images) % 2) - 1)
within = torch.randn(scale.images, *SHAPE, generator=run.generator("within"))
within -= (within * normal).sum((1, 2, 3), keepdim=True) * normal
on_both_sides = within + distances.view(-1, 1, 1, 1) * normal
curved = bent(SHAPE, run.generator("bent"), gain=3.0)
around = torch.randn(scale.images, *SHAPE, generator=run.generator("around"))
problems = {"a plane": (flat, on_both_sides, with_errors((distances > 0).long())),
            "a bent boundary": (curved, around, with_errors(answers(curved, around)))}
perturbations = draw(scale.draws, SHAPE, run.generator("draws"))


# %% [markdown]
# The paper's steps define three sets of images: $C$, the correctly classified ones; $A$, those in $C$ with an attack; and $R^\delta$, those in $A$
# whose label at least one random perturbation of $\delta$ times the norm of the attack flips.

# %%
def answer(net, image):
    """The class of one image."""
    return int(answers(net, image[None])[0])


def gradient(net, image, label):
    """Of the squared error, at one image."""
    x = image.clone().requires_grad_()
    ((net(x[None])[0, 0].sigmoid() - label) ** 2).backward()
    return x.grad


def first_scaling(net, image, label, direction, sizes):
    """The smallest of some increasing sizes at which the class is no longer the label; None where none is."""
    for size in sizes:
        if answer(net, image + size * direction) != label:
            return float(size)
    return None


def smallest_attack(net, image, label):
    """Section 7.1.2: along the gradient, scaled to length 1, the smallest of the 256 equal steps."""
    slope = gradient(net, image, label).double()
    if slope.norm() == 0:
        return None, None
    direction = (slope / slope.norm()).float()
    return first_scaling(net, image, label, direction, scalings()[1:]), direction


def experiment(net, images, labels, perturbations, deltas):
    """Sections 7.1.1 to 7.1.3: the sets C, A and R of some images, by their numbers."""
    known = [i for i in range(len(images)) if answer(net, images[i]) == labels[i]]
    attacks = {i: smallest_attack(net, images[i], int(labels[i])) for i in known}
    attacked = [i for i in known if attacks[i][0] is not None]
    turned = {delta: [i for i in attacked if any(
        answer(net, images[i] + delta * attacks[i][0] * s) != labels[i] for s in perturbations)]
        for delta in deltas}
    return SimpleNamespace(known=known, attacks=attacks, attacked=attacked, turned=turned)


literal = {name: experiment(*problem, perturbations.points, DELTAS) for name, problem in problems.items()}
fast = {name: susceptibility.measure(Careful(net), x, y, perturbations, DELTAS, images_attack=None,
                                     images_random=None, generator=run.generator("order"),
                                     device=torch.device("cpu"))[0]
        for name, (net, x, y) in problems.items()}


# %%
def evidence(equal, caught):
    """For the record: whether loop and instrument agree, and how many changed definitions were noticed."""
    return {"kind": "equality", "within_allowed": bool(equal), "mutants_tried": len(caught),
            "mutants_caught": int(sum(caught.values())), "violations": 0, "nearest_witness": None}


def judged(formula, changes, instrument):
    """A definition in both problems: does the instrument give it, and does it refuse each change?

    formula     (problem's name) -> number by the loop;  instrument: the same from the instrument
    changes     {what is changed: formula}
    """
    def same(a, b):
        return a == b or (a is not None and b is not None and abs(a - b) < 1e-9)

    equal = all(same(formula(p), instrument(p)) for p in problems)
    return equal, {change: any(not same(changed(p), instrument(p)) for p in problems)
                   for change, changed in changes.items()}


def tell(equal, caught, shown):
    """The result of a comparison in a sentence, and a table of the sets that it rests on."""
    missed = ", ".join(change for change, seen in caught.items() if not seen) or "none"
    display.say(f"Loop and fast implementation {'agree' if equal else 'disagree'}. Mutants detected: "
                f"{sum(caught.values())} of {len(caught)} ({', '.join(caught)}); not detected: {missed}.")
    display.table(shown[0], shown[1:], "What the loop finds")


def sizes_of(name):
    """Numbers of all images, of the known ones, of those with an attack."""
    found = literal[name]
    return len(problems[name][1]), len(found.known), len(found.attacked)


# %% [markdown]
# ## Equation 6: accuracy
#
# $$\text{accuracy} = 100\,\frac{|C|}{|X|}$$
#
# Accuracy is the share of correctly classified images among the images $X$ of both classes, in percent. [derived; the formula is lost; the
# published values are whole numbers of images under it.]

# %%
equal, caught = judged(
    lambda p: 100 * sizes_of(p)[1] / sizes_of(p)[0],
    instrument=lambda p: fast[p]["accuracy"]["percent"], changes={
        "not in percent": lambda p: sizes_of(p)[1] / sizes_of(p)[0],
        "the share that is wrong": lambda p: 100 - 100 * sizes_of(p)[1] / sizes_of(p)[0],
        "of one class only": lambda p: 100 * np.mean(
            [i in literal[p].known for i in range(len(problems[p][1])) if problems[p][2][i] == 1])})
tell(equal, caught, [["problem", "images", "correct", "accuracy (%)"],
                     *([p, *sizes_of(p)[:2], fast[p]["accuracy"]["percent"]] for p in problems)])
run.statement("equation-6", evidence=evidence(equal, caught), data={
    "images": scale.images, "known_beside_a_plane": sizes_of("a plane")[1]})

# %% [markdown]
# ## Equation 7: adversarial susceptibility
#
# $$\text{adversarial susceptibility} = 100\,\frac{|A|}{|C|}$$
#
# It is the share of images with an attack among the correctly classified ones: at least one of the 256 steps along the gradient changes the
# predicted label. Misclassified images count neither in the numerator nor in the denominator. [derived; the published values confirm
# the denominator.]

# %%
equal, caught = judged(
    lambda p: 100 * sizes_of(p)[2] / sizes_of(p)[1],
    instrument=lambda p: fast[p]["attack"]["susceptibility"]["percent"], changes={
        "of all images": lambda p: 100 * sizes_of(p)[2] / sizes_of(p)[0],
        "misclassified images count as attacked":
            lambda p: 100 * (sizes_of(p)[0] - sizes_of(p)[1] + sizes_of(p)[2]) / sizes_of(p)[0],
        "those without an attack": lambda p: 100 - 100 * sizes_of(p)[2] / sizes_of(p)[1]})
tell(equal, caught, [["problem", "correct", "with an attack", "adversarial susceptibility (%)"],
                     *([p, *sizes_of(p)[1:], fast[p]["attack"]["susceptibility"]["percent"]]
                       for p in problems)])
run.statement("equation-7", evidence=evidence(equal, caught), data={
    "known_beside_a_plane": sizes_of("a plane")[1], "attacked_beside_a_plane": sizes_of("a plane")[2],
    "nearer_than_the_largest_scaling": int((distances.abs()[literal["a plane"].known] < 5).sum())})


# %% [markdown]
# ## Equation 8: random susceptibility
#
# $$\text{random susceptibility at } \delta = 100\,\frac{|R^\delta|}{|A|}$$
#
# It is the share of images whose label at least one random perturbation flips among those with an attack. The perturbations are uniform
# in a ball whose radius is $\delta$ times the norm of the image's own attack (in Section 4, $\delta$ is the radius itself).
# [derived; the published values confirm the denominator.]

# %%
def share(p, of, delta):
    """Images turned at a delta, in percent of some number."""
    return 100 * len(literal[p].turned[delta]) / of


def over_deltas(formula):
    """One number for all deltas: they must all agree."""
    return lambda p: sum(1000**k * formula(p, delta) for k, delta in enumerate(DELTAS))


def share_of_draws(p, delta):
    """Perturbations, not images, that turn the class."""
    net, x, y = problems[p]
    own = torch.tensor(literal[p].attacked)
    length = torch.tensor([literal[p].attacks[i][0] for i in own.tolist()])
    counted = random_flips(Careful(net).flips, x[own], y[own], length, perturbations, delta, exact=True).count
    return 100 * float(counted.double().mean()) / scale.draws


equal, caught = judged(
    over_deltas(lambda p, delta: share(p, sizes_of(p)[2], delta)), instrument=over_deltas(
        lambda p, delta: fast[p]["random"][DELTAS.index(delta)]["susceptibility"]["percent"]), changes={
        "of the correctly classified images": over_deltas(lambda p, delta: share(p, sizes_of(p)[1], delta)),
        "of all images": over_deltas(lambda p, delta: share(p, sizes_of(p)[0], delta)),
        "the share of perturbations": over_deltas(share_of_draws)})
tell(equal, caught, [["problem", "with an attack", *(f"flipped at δ\u00a0=\u00a0{d}" for d in DELTAS)],
                     *([p, sizes_of(p)[2], *(len(literal[p].turned[d]) for d in DELTAS)] for p in problems)])
run.statement("equation-8", evidence=evidence(equal, caught), data={
    "attacked_beside_a_plane": sizes_of("a plane")[2], "draws": scale.draws,
    "turned_beside_a_plane": {f"delta {d}": len(literal["a plane"].turned[d]) for d in DELTAS}})


# %% [markdown]
# ## Adversarial attack (procedure): along the gradient
#
# The direction is the gradient of the squared error at the image, scaled to norm 1. Then 256 equal steps are tried, from 0 to 5 [inferred
# from the norms in Figures 11 and 12]. The smallest step that changes the predicted label is the attack, and its norm is the Euclidean norm in
# the tables. Perturbed pixels are not clipped. Each attack of the fast implementation is compared with that of the loop, and with those
# of mutated loops.

# %%
def otherwise(net, image, label, change):
    """The attack of a changed procedure: its size, or None."""
    slope = gradient(net, image, label)
    if not slope.any():
        return None
    direction, sizes = slope / slope.norm(), scalings()[1:]
    if change == "downhill":
        return first_scaling(net, image, label, -direction, sizes)
    if change == "the sign of the gradient":
        return first_scaling(net, image, label, slope.sign(), sizes)
    if change == "the gradient as long as it is":
        return first_scaling(net, image, label, slope, sizes)
    if change == "the largest step that changes the class":
        return first_scaling(net, image, label, direction, sizes.flip(0))
    if change == "each step added to the last":
        at = first_scaling(net, image, label, direction, sizes.cumsum(0))
        return None if at is None else float(sizes[(sizes.cumsum(0) - at).abs().argmin()])
    return first_scaling(net, image, label, direction, scalings(128)[1:])  # half as many steps


CHANGES = ("downhill", "the sign of the gradient", "the gradient as long as it is",
           "the largest step that changes the class", "each step added to the last", "half as many steps")
attacks_agree, noticed = True, dict.fromkeys(CHANGES, False)
for name, (net, x, y) in problems.items():
    direction, _ = unit(gradients(net, x, y, squared_error)[0])
    known = torch.tensor(literal[name].known)
    by_instrument = smallest_steps(Careful(net).flips, x[known], y[known], direction[known], scalings())
    found = [float(s) if f else None for s, f in zip(by_instrument.size, by_instrument.found)]
    attacks_agree &= found == [literal[name].attacks[i][0] for i in known.tolist()]
    for change in CHANGES:
        noticed[change] |= found != [otherwise(net, x[i], int(y[i]), change) for i in known.tolist()]

# %%
grid = float(scalings()[1])
excess = [literal["a plane"].attacks[i][0] - abs(float(distances[i])) for i in literal["a plane"].attacked]
exact_on_plane = all(-1e-5 < e < grid + 1e-5 for e in excess)
smallest, largest = min(excess) / grid, max(excess) / grid
display.say(
    f"Loop and fast implementation {'agree on every attack' if attacks_agree else 'disagree'}; "
    f"{sum(noticed.values())} of {len(noticed)} mutants are detected ({', '.join(noticed)}). For the "
    "linear network the distance to the boundary is known exactly; the norm of each attack exceeds it by "
    f"{max(0.0, smallest):.2f} to {largest:.2f} steps, as it must (less than one step).")
steps_agree = evidence(attacks_agree and exact_on_plane, noticed)
run.statement("procedure-adversarial-attack", evidence=steps_agree, data={
    "attacks_compared": sum(len(f.attacked) for f in literal.values()) if attacks_agree else 0,
    "step": grid, "scalings": len(scalings()), "changes_noticed": sum(noticed.values())})


# %% [markdown]
# ### Where the gradient vanishes
#
# The network's output is $\sigma(z) = 1/(1 + e^{-z})$, with the logit $z$. In exact arithmetic the squared error always has a gradient. In single
# precision (32 bits) it does not: where $z$ is large, $\sigma(z)$ is exactly 1, the error exactly 0 and the gradient exactly zero. Such an image of
# class 1 cannot be attacked along the gradient of the loss, however near the boundary is. For images of class 0 the gradient vanishes only at a
# much higher confidence. The gradient of $z$ itself does not vanish; the pages of Section 7.2 show attacks along both.

# %%
def slopes(z, label):
    """Size of the squared error's derivative by z, in single precision, by automatic differentiation."""
    z = torch.tensor(z, dtype=torch.float32, requires_grad=True)
    ((z.sigmoid() - label) ** 2).sum().backward()
    return z.grad.abs().double().numpy()


places = np.linspace(0, 60, 2401)
exact = 2 * special.expit(-places) ** 2 * special.expit(places)
sides = {"class 1, z > 0": (places, 1), "class 0, z < 0": (-places, 0)}
single = {name: slopes(z, label) for name, (z, label) in sides.items()}
ends = {name: float(places[size > 0].max()) for name, size in single.items()}
flushed = float(places[single["class 0, z < 0"] >= torch.finfo(torch.float32).tiny].max())


def draw_saturation():
    """Gradient over the distance of z from 0, in both precisions, for both classes."""
    figure, ax = plt.subplots(figsize=(7.5, 3.8))
    ax.plot(places, exact, color="0.8", lw=9, label="exact")
    for (name, size), colour, line, width in zip(single.items(), display.PALETTE, ("-", "--"), (5, 2)):
        seen = np.where(size > 0, size, np.nan)
        ax.plot(places, seen, line, color=colour, lw=width, label=f"32 bits, {name}")
        ax.plot([ends[name]], [seen[size > 0][-1]], "o", color=colour, ms=9)
    ax.axvspan(ends["class 1, z > 0"], places[-1], color=display.PALETTE[0], alpha=0.12)
    ax.text(ends["class 1, z > 0"] + 1, 1e-46, "class 1: no gradient", fontsize=11)
    ax.set(yscale="log", xlabel="absolute value of the logit z", ylabel="gradient of the squared error",
           ylim=(1e-52, 10))
    ax.legend(loc="upper right")
    return figure


display.picture(draw_saturation(),
                "The loss gradient over the confidence of the network. Grey: exact. Colours: in single "
                "precision, up to the dot; beyond it the gradient is exactly 0.",
                "Two falling lines; the one of class 1 stops early, at about a third of the range, the one "
                "of class 0 near its end.")

# %%
sure, _ = plane((3, 4, 4), run.generator("sure"))
with torch.no_grad():
    sure[-1].weight.mul_(20)  # so steep that an image at distance 1 is saturated
lost = sure[-1].weight.detach().view(SHAPE) / 20
zero = gradient(sure, lost, 1)
divided = zero / zero.norm()
trap = first_scaling(sure, lost, 1, divided, scalings())
display.say(
    f"The gradient vanishes at $z$ = {ends['class 1, z > 0']:.1f} for class 1 and at "
    f"−{ends['class 0, z < 0']:.1f} for class 0 (at −{flushed:.1f} in software that takes the smallest, "
    "*subnormal* numbers for 0). The result depends on the program. One that divides such a gradient by its "
    "norm gets 0/0, and the perturbed image is NaN. The output for it compares as class 0, so that an image "
    "of class 1 counts as "
    f"{'attacked, with norm ' + display.number(trap) if trap is not None else 'not attackable'}, and one of "
    "class 0 as not attackable. Ours counts both as not attackable. The page on {ref}`training with noise "
    "<sutton-7-2-1-noise>` gives the consequences.")

# %% [markdown]
# ## Random perturbation (procedure): 2,000 samples of each norm
#
# One set of random points is drawn from the unit ball and used for every $\delta$ and all images. Each point is multiplied by $\delta$ times the
# norm of the image's attack and added to the image. The image counts as soon as one perturbation flips its label. The fast implementation tries
# the points in the order of their norm, so that the first success is also the smallest.

# %%
cube_points = 2 * torch.rand(scale.draws, *SHAPE, generator=run.generator("cube")) - 1


def turned_by(p, delta, change):
    """Which images a changed procedure counts."""
    net, x, y = problems[p]

    def flips(i):
        length = literal[p].attacks[i][0]
        some = perturbations.points
        if change == "not in norms of the attack":
            length = 1.0
        if change == "points of an L∞ ball":
            some = cube_points
        if change == "on one side only":
            some = some.abs()
        times = 1 if change == "the norm of the attack at every δ" else delta
        return answers(net, x[i] + times * length * some) != y[i]

    if change == "all must succeed":
        return [i for i in literal[p].attacked if bool(flips(i).all())]
    return [i for i in literal[p].attacked if bool(flips(i).any())]


CHANGES = ("all must succeed", "not in norms of the attack", "points of an L∞ ball", "on one side only",
           "the norm of the attack at every δ")
randomly = {}
for name, (net, x, y) in problems.items():
    own = torch.tensor(literal[name].attacked)
    length = torch.tensor([literal[name].attacks[i][0] for i in own.tolist()])
    for delta in DELTAS:
        first = random_flips(Careful(net).flips, x[own], y[own], length, perturbations, delta).first
        randomly[name, delta] = own[first < scale.draws].tolist()
flips_agree = all(turned == literal[name].turned[delta] for (name, delta), turned in randomly.items())
noticed = {change: any(turned != turned_by(name, delta, change) for (name, delta), turned in randomly.items())
           for change in CHANGES}
display.say(f"Loop and fast implementation {'flip the same labels' if flips_agree else 'disagree'}; "
            f"{sum(noticed.values())} of {len(noticed)} mutants are detected "
            f"({', '.join(noticed)}).")

# %% [markdown]
# For a plane the probability that one perturbation crosses it is exact: the share $\tau_n$ of the ball that lies beyond the plane
# ({ref}`Section 4.1 <sutton-4-1>`). The fast implementation is compared with this value in several dimensions $n$.

# %%
# Distance of the image from the plane: just inside a size that is tried, which then is the attack's length.
AWAY = 0.9999 * 39 * float(scalings()[1])
against_planes = []
for side in (2, 4, 8, 16, 32):
    shape = (3, side, side)
    n = int(np.prod(shape))
    net, normal_n = plane(shape, run.generator("side", side))
    image = AWAY * normal_n[None]
    own = torch.ones(1, dtype=torch.int64)
    direction, _ = unit(gradients(net, image, own, squared_error)[0])
    length = smallest_steps(Careful(net).flips, image, own, direction, scalings()).size
    hits = dict.fromkeys(DELTAS[1:], 0)
    for part in range(0, scale.trials, 2000):
        few = draw(min(2000, scale.trials - part), shape, run.generator("against", side, part))
        for delta in hits:
            flips = random_flips(Careful(net).flips, image, own, length, few, delta, exact=True)
            hits[delta] += int(flips.count)
    for delta, count in hits.items():
        ratio = AWAY / (delta * float(length))
        low, high = stats.binomtest(count, scale.trials).proportion_ci(0.9999)
        against_planes.append({"n": n, "delta": delta, "exact": float(tail(n, ratio)),
                               "measured": count / scale.trials, "low": float(low), "high": float(high),
                               "image": float(planar_flip_probability(n, ratio))})
inside = sum(r["low"] <= r["exact"] <= r["high"] for r in against_planes)


# %%
def draw_planes():
    """Chance that a perturbation crosses a plane, exact and measured, over the dimension."""
    figure, ax = plt.subplots(figsize=(7.5, 3.8))
    dimensions = np.unique(np.geomspace(8, 20_000, 120).astype(int))
    for colour, line, marker, delta in zip(display.PALETTE, display.LINES, display.MARKERS, DELTAS[1:]):
        mine = [r for r in against_planes if r["delta"] == delta]
        ax.plot(dimensions, tail(dimensions, 1 / delta), line, color=colour, label=f"δ = {delta}")
        seen = [r for r in mine if r["measured"] > 0]
        ax.errorbar([r["n"] for r in seen], [r["measured"] for r in seen],
                    [[r["measured"] - r["low"] for r in seen], [r["high"] - r["measured"] for r in seen]],
                    fmt=marker, color=colour, capsize=3)
    ax.set(xscale="log", yscale="log", ylim=(1e-6, 1), xlabel="dimension n",
           ylabel="share of perturbations")
    ax.legend(loc="lower left")
    return figure


display.picture(draw_planes(),
                "Random perturbations that cross a plane at the distance of the attack. Lines: exact. Dots: "
                "measured, with 99.99% intervals (none where no perturbation crossed).",
                "Three falling curves; the measured dots lie on them.")
largest_n, widest = max(r["n"] for r in against_planes), max(DELTAS)
one = next(r["exact"] for r in against_planes if r["n"] == largest_n and r["delta"] == widest)
image_ten = float(planar_flip_probability(largest_n, 1 / widest))
chance, expected = display.number(one, digits=2), display.number(100 * image_ten, digits=2)
display.say(f"{inside} of {len(against_planes)} exact values lie inside their intervals. With "
            f"{largest_n:,} values, as in a CIFAR-10 image, and δ = {widest}, a perturbation crosses with "
            f"probability {chance}; two thousand of them would flip {expected}% of the labels if boundaries "
            "were planes.")
run.statement("procedure-random-perturbation",
              evidence=evidence(flips_agree and inside == len(against_planes), noticed), data={
                  "intervals": len(against_planes), "intervals_with_the_exact_value": inside,
                  "percent_of_images_beside_planes": {
                      f"n = {r['n']}, delta {r['delta']}": 100 * r["image"] for r in against_planes}})

# %% [markdown]
# ## Training with noise (procedure): uniform noise in L∞ and L2 balls
#
# In training, noise is added to every image, drawn anew each time. It is uniform in an L∞ ball, so that each value changes by at most $a$, or in
# an L2 ball of radius $b$. The choice $b = a\sqrt{n/3}$ gives both kinds about the same mean norm, as the text demands [derived]. The noise is
# checked against its distribution: no value exceeds $a$, the mean norms agree, the $n$-th power of the norm in the L2 ball is uniform, and each
# image has its own sample.

# %%
HALF_WIDTH = 0.5


def refused(cube, ball, n, generator, count=400):
    """What is wrong with two kinds of noise [count, n] for the half-width above; empty where all is well."""
    blank = torch.zeros(count, 3, 1, n // 3)
    a, b = HALF_WIDTH, matching_radius(HALF_WIDTH, n)
    flat_cube, flat_ball = (noise(None, blank, None, generator).flatten(1).double() for noise in (cube, ball))
    lengths, radii = flat_cube.norm(dim=1), flat_ball.norm(dim=1)
    wrong = []
    if float(flat_cube.abs().max()) > a or stats.kstest(
            flat_cube.flatten()[:20_000].numpy(), "uniform", (-a, 2 * a)).pvalue < 1e-6:
        wrong.append("cube: values")
    if float(radii.max()) > b * (1 + 1e-6) or stats.kstest(
            ((radii / b) ** n).numpy(), "uniform").pvalue < 1e-6:
        wrong.append("ball: lengths")
    if abs(float(lengths.mean() / radii.mean()) - 1) > 0.02:
        wrong.append("lengths differ")
    if torch.equal(flat_cube[0], flat_cube[1]) or torch.equal(flat_ball[0], flat_ball[1]):
        wrong.append("the same for all images")
    return wrong


N = 300
width, radius = HALF_WIDTH, matching_radius(HALF_WIDTH, N)
cube, ball = CubeNoise(width), BallNoise(radius)
changed_noise = {
    "the cube half as wide": (CubeNoise(width / 2), ball),
    "radius a √n": (cube, BallNoise(width * N**0.5)),
    "on the sphere": (
        cube, lambda net, x, y, g: radius * F.normalize(ball(net, x, y, g).flatten(1)).view(x.shape)),
    "normal instead of even": (
        lambda net, x, y, g: x + width / 3**0.5 * torch.randn(x.shape, generator=g), ball),
    "one draw for all images": (lambda net, x, y, g: cube(net, x[:1], y, g).expand_as(x), ball)}
found_wrong = refused(cube, ball, N, run.generator("noise"))
noticed = {change: bool(refused(*noises, N, run.generator("noise")))
           for change, noises in changed_noise.items()}
lengths = []
for a in (0.1, 0.5, 1.0):
    blank = torch.zeros(200, 3, 32, 32)
    made = [hook(None, blank, None, run.generator("lengths", a)).flatten(1).norm(dim=1)
            for hook in (CubeNoise(a), BallNoise(matching_radius(a, 3072)))]
    lengths.append([a, matching_radius(a, 3072), *(float(m.mean()) for m in made)])
display.say(f"The noise of the experiments "
            f"{'passes all checks' if not found_wrong else 'fails: ' + ', '.join(found_wrong)}; "
            f"{sum(noticed.values())} "
            f"of {len(noticed)} mutants are detected ({', '.join(noticed)}).")
display.table(["radius a (L∞)", "radius b (L2)", "mean norm, L∞", "mean norm, L2"], lengths,
              "Noise for a CIFAR-10 image of 3,072 values between 0 and 1: both kinds have the same mean "
              "norm.")
run.statement("procedure-training-noise", evidence=evidence(not found_wrong, noticed), data={
    "mean_lengths_agree_within_2_percent": all(abs(row[2] / row[3] - 1) < 0.02 for row in lengths),
    "changes_noticed": sum(noticed.values())})


# %% [markdown]
# ## ImageNet (procedure): a thousand classes
#
# Networks for a thousand classes are not trained but taken as they are published. Any change of the predicted label counts, whatever the new
# label is. The loss is again the squared error, now between the network's probabilities and the label's (1 for its class, 0 for all others). The
# text says "the mean square error loss function" of all experiments. TensorFlow's takes the mean over the classes, which changes the norm of the
# gradient and not its direction. A small network with six classes serves as the test here.

# %%
def gradient_of_many(net, image, label, loss="squared"):
    """Of the loss over all classes, at one image."""
    x = image.clone().requires_grad_()
    scores = net(x[None])[0]
    if loss == "squared":
        ((scores.softmax(0) - F.one_hot(torch.tensor(label), len(scores))) ** 2).mean().backward()
    elif loss == "cross-entropy":
        F.cross_entropy(scores[None], torch.tensor([label])).backward()
    else:  # the class that is second now, and only that
        second = int(scores.detach().topk(2).indices[1])
        (scores[second] - scores[label]).backward()
    return x.grad


def many_classes(net, images, labels, draws, *, loss="squared", counts=None):
    """Sizes of attacks (None where there is none) and first turning draws at each delta, by the loop.

    counts  (scores of one image, label) -> whether it counts as misclassified; None for any other class
    """
    counts = counts or (lambda scores, label: int(scores.argmax()) != label)
    lengths, first = [], []
    with torch.no_grad():
        known = [i for i in range(len(images)) if int(net(images[i:i + 1]).argmax()) == labels[i]]
    for i in known:
        image, label = images[i], int(labels[i])
        slope = gradient_of_many(net, image, label, loss)
        direction, size = slope / slope.norm(), None
        with torch.no_grad():
            for alpha in scalings()[1:]:
                if counts(net((image + alpha * direction)[None])[0], label):
                    size = float(alpha)
                    break
            lengths.append(size)
            if size is not None:
                first.append([next((k for k, s in enumerate(draws) if counts(
                    net((image + delta * size * s)[None])[0], label)), len(draws)) for delta in DELTAS])
    return lengths, first


six = bent(SHAPE, run.generator("six"), classes=6, gain=3.0)
pictures = torch.randn(scale.images, *SHAPE, generator=run.generator("pictures"))
named = with_errors(answers(six, pictures), classes=6)
their_draws = many.points(0, SHAPE, run.seed)[:scale.draws]
mine = many.examine(six, pictures, named, deltas=DELTAS, draws=len(their_draws), seed=run.seed)
by_instrument = ([float(s) or None for s in mine["l2"]], mine["first"].T.tolist())
many_agree = by_instrument == many_classes(six, pictures, named, their_draws)
noticed = {
    "another loss (cross-entropy)": many_classes(six, pictures, named, their_draws, loss="cross-entropy"),
    "towards the second class": many_classes(six, pictures, named, their_draws, loss="second"),
    "only if not among the first two": many_classes(
        six, pictures, named, their_draws, counts=lambda scores, label: label not in scores.topk(2).indices),
    "only if the next class": many_classes(
        six, pictures, named, their_draws,
        counts=lambda scores, label: int(scores.argmax()) == (label + 1) % 6)}
noticed = {change: by_instrument != found for change, found in noticed.items()}
display.say(f"Loop and fast implementation {'agree on every image' if many_agree else 'disagree'}; "
            f"{sum(noticed.values())} of {len(noticed)} mutants are detected "
            f"({', '.join(noticed)}).")
run.statement("procedure-imagenet", evidence=evidence(many_agree, noticed), data={
    "images": scale.images, "classes": 6, "changes_noticed": sum(noticed.values())})

# %% [markdown]
# ## What the paper leaves open
#
# | choice | ours | why |
# |---|---|---|
# | sizes in Table 2 | 3 by 3 convolutions, 2 by 2 pools | of the convolutions the parameter counts allow nothing else; pools have no parameters: these are VGG's, and the sizes that follow fit |
# | batch normalisation | after every rectifier in the networks of the results, running momentum 0.9 | Table 2 has none; {ref}`a rule <which-network>` chose it on traffic signs |
# | padding | none | the default of the authors' software; the sizes above fit it. VGG pads: measured beside it in {ref}`sutton-7-2-3` |
# | where dropout stands | after each pool | the paper has dropout of 0.4 “on the convolutional layers” and does not say after which of them; another is measured beside it in {ref}`sutton-7-2-3` |
# | range of the 256 steps | 0 to 5, images in [0, 1] | inferred from the norms printed with Figures 11 and 12 |
# | $\delta$ | 1, 2, 5, 10 | 5 is printed, and 10 for ImageNet, elsewhere inferred; 1 and 2 are assumed |
# | a gradient of exactly 0 | no attack | it has no direction; the gradient of the logit stands beside it |
# | perturbed pixels outside [0, 1] | kept | the printed norms are those of unclipped perturbations |

# %% [markdown]
# ## Try it
#
# - `images=100`: more images beside both boundaries; loop and fast implementation must still agree on each.
# - `trials=200000`: the dots of the figure of planes move onto the lines, and dots appear further right.
# - `seed=1`: other networks, images and perturbations; every verdict must stay.

# %%
found = literal["a bent boundary"]
agree = "all" if attacks_agree and flips_agree and many_agree else "only some"
run.minute(
    "Does the fast implementation of this book follow the paper's steps for adversarial susceptibility (the "
    "share of correctly classified images whose label a step along the loss gradient flips) and random "
    "susceptibility (the share of those whose label at least one random perturbation flips)? The fast code "
    f"and plain loops written from the paper agree on {agree} images of three small test problems (n = "
    f"{scale.images} images each). For images of class 1 whose logit exceeds about "
    f"{ends['class 1, z > 0']:.0f} the loss gradient is exactly zero in single precision; we count them as "
    "not attackable, and whether the paper does is not known. Where the paper leaves a step open, such as "
    "the padding of convolutions, the check covers only our reading of it.",
    picture=draw_saturation(),
    alt="The loss gradient falls as the network gets more confident, and vanishes for class 1 long before "
        "class 0.")

# %%
run.stamp()
