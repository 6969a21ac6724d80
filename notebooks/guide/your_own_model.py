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
# (your-own-model)=
# # Your own model: every instrument in a few lines
#
# The instruments of this book work on any image classifier. This page trains a small network in a few seconds and applies each
# instrument to it. Every section states the code, what each number means, and which direction is better. A table at the
# end lists what each instrument costs. Replace `model`, `x` and `y` by your own; the rest of the code stays as it is.

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of training and of every random draw
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # nothing here needs units
images: int | None = None  # test images that the instruments work on; None takes the profile's value [8..500]
epochs: int = 4  # of training [1..]

# %% tags=["hide-cell"]
import time

import matplotlib.pyplot as plt
import torch
from torch import nn

from shared import borderline, roby
from shared.attacks.directions import directions
from shared.attacks.gradient import FGSM, PGD
from shared.attacks.line import LineSearch, lost_margin
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner
from shared.attacks.region import Region
from shared.attacks.threat import L2, Linf
from shared.boundary.survey import purity, survey
from shared.data import sets
from shared.models import inference
from shared.pages import display
from shared.pages.start import start
from shared.regions import boxes
from shared.runtime import UserError
from shared.similarity import ssim
from shared.stability.susceptibility import susceptibility

run = start("guide/your_own_model", globals())
scale = run.scale(smoke=dict(images=24), quick=dict(images=100), paper=dict(images=100))
_ = torch.manual_seed(seed)


# %% tags=["hide-cell"]
# What this page draws and measures beside the instruments themselves.
class Meter:
    """Passes of the model an image, and processor seconds, from `start` to `stop`, by name in `rows`."""

    def __init__(self):
        self.rows = {}
        self.start()

    def watch(self, model):
        """Count the images of every forward pass of a module from now on."""
        def count(module, given, _):
            self.passes += len(given[0])

        model.register_forward_hook(count)

    def start(self):
        self.passes, self.began = 0, time.process_time()

    def stop(self, name, images=None):
        """Keep what passed since `start`, for so many images (None: those of this page), and start again."""
        self.rows[name] = self.passes / (images or scale.images), time.process_time() - self.began
        self.start()


def strip(rows, titles):
    """A figure of images: a row of tensors [n, C, H, W] for each name; titles above the first row."""
    count = len(next(iter(rows.values())))
    figure, axes = plt.subplots(len(rows), count, figsize=(7.2, 1.25 * len(rows) + 0.4), squeeze=False)
    for n, (line, (name, images)) in enumerate(zip(axes, rows.items())):
        display.image_grid(line, images.cpu(), titles if n == 0 else None)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    return figure


def percent(share):
    """A share as a person writes it; nothing of nothing."""
    return f"{100 * float(share):.0f}%" if float(share) == float(share) else ""


def middle(values):
    """Median of the numbers that are there, or None."""
    there = values[values.isfinite()]
    return float(there.median()) if len(there) else None


draws, meter = run.generator("draws"), Meter()


# %% [markdown]
# ## Your model: a callable from images to logits
#
# A model is any callable, a module or a plain function. It takes float32 images `[N, C, H, W]` in [0, 1], grey or colour, of any size,
# and returns logits `[N, K]`. Normalisation belongs into the model, and a softmax does not. The network below is
# ordinary PyTorch code that uses nothing of this book. Its data are the embedded colour images `shapes`.

# %% tags=["show-input"]
def block(inputs, outputs):
    convolution = nn.Conv2d(inputs, outputs, 3, stride=2, padding=1)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


data = sets.load("shapes").to(run.device)
x_train, x_test = data.x_train / 255, data.x_test / 255


def trained():
    net = nn.Sequential(block(3, 16), block(16, 32), block(32, 64), nn.AdaptiveAvgPool2d(1),
                        nn.Flatten(), nn.Linear(64, len(data.classes))).to(run.device)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.005)
    for _ in range(epochs):
        for rows in torch.randperm(len(x_train)).split(50):
            loss = nn.functional.cross_entropy(net(x_train[rows]), data.y_train[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return net


model = trained()
accuracy = inference.accuracy(model, x_test, data.y_test)
x, y = x_test[:scale.images], data.y_test[:scale.images]

# %%
meter.stop("training")
meter.watch(model)
display.say(
    f"The network classifies {percent(accuracy)} of the {len(x_test)} test images correctly. Training took "
    f"{meter.rows['training'][1]:.0f} s of processor time. The instruments below work on the first "
    f"{len(x)} test images of {x.shape[2]} × {x.shape[3]} pixels. Distances refer to pixels in [0, 1].")

# %% [markdown]
# ## Attacks: how small a perturbation changes the label
#
# A *threat* states what an attacker may do. An attack proposes images; the library projects them into the threat, classifies
# them again and counts only those that succeed. All attacks share one call.
# FGSM and PGD follow the gradient inside a ball of fixed size. Carlini-Wagner and the line search look for the smallest
# perturbation. The random search uses no gradient.

# %% tags=["show-input"]
small = Linf(8 / 255)    # no pixel moves by more than 8 grey levels of 255
attacks = {"FGSM": FGSM(small), "PGD": PGD(small, steps=10, step=2 / 255),
           "Carlini-Wagner": CarliniWagner(rate=0.01, c=1.0, iterations=60),
           "LineSearch": LineSearch(count=128, largest=5.0, loss="margin"),
           "RandomSearch": RandomSearch(small, draws=100)}
result = attacks["PGD"](model, x, y, generator=draws)

# %%
results = {}
for name, attack in attacks.items():  # the same call for each, measured
    meter.start()
    results[name] = attack(model, x, y, generator=draws)
    meter.stop(name)
rates = {n: float(r.success[r.was_correct].float().mean()) for n, r in results.items()}
norms = {n: attack.threat.norm.replace("Linf", "L∞") for n, attack in attacks.items()}
display.table(["attack", "limit", "success", "norm", "median distance"],
              [[n, "8/255" if attacks[n].threat.size < 1 else "none", percent(rates[n]), norms[n],
                middle(r.distance)] for n, r in results.items()],
              f"Attacks on {len(x)} test images, limit and distance on pixels in [0, 1].")
shown = results["Carlini-Wagner"].success.nonzero()[:6, 0]
got = inference.labels(model, results["Carlini-Wagner"].x_adv[shown])
seen = {"clean": x[shown], "attacked": results["Carlini-Wagner"].x_adv[shown]}
picture = strip(seen, [f"{data.classes[a]}\n→ {data.classes[b]}" for a, b in zip(y[shown], got)])
display.picture(picture, "Clean images and their Carlini-Wagner examples. Titles: true → predicted class.",
                "Two rows of small coloured shapes; those of the second row look like those of the first.")
meter.start()

# %% [markdown]
# *Success* is the fraction of correctly classified images whose label the attack changes: larger is worse for the model.
# *Median distance* is the median norm of the successful perturbations: larger is better for the model.
# `result.x_adv`, `success`, `distance`, `was_correct` and `passes` hold one row an image.
# Where the papers use them: {ref}`he-3` (Carlini-Wagner), {ref}`he-5` (FGSM), {ref}`sutton-7-1` (line search).
#
# A targeted threat asks for a given class instead of any other one. The next lines ask for the class after the true one.

# %% tags=["show-input"]
target = (y + 1) % len(data.classes)
attack = PGD(Linf(8 / 255, targeted=True), steps=10, step=2 / 255)
targeted = attack(model, x, y, target=target, generator=draws)

# %%
meter.stop("PGD, targeted")
display.say(f"Targeted PGD reaches the requested class for {percent(targeted.success.float().mean())} of "
            f"{len(x)} images. Untargeted PGD with the same limit changes {percent(rates['PGD'])} of labels.")
meter.start()

# %% [markdown]
# ## Region classification: a majority vote over noisy copies
#
# Region classification assigns the most frequent label among noisy copies of an image. `radius` is the largest change of a pixel.

# %% tags=["show-input"]
region = Region(radius=0.05, samples=50)
attacked = results["Carlini-Wagner"].x_adv
votes = {"clean": region(model, x, generator=draws),
         "attacked": region(model, attacked, generator=draws)}

# %%
meter.stop("region classification, clean and attacked")
plain = {"clean": inference.labels(model, x), "attacked": inference.labels(model, attacked)}
right = {(how, what): float((found[what] == y).float().mean())
         for how, found in (("point", plain), ("region", votes)) for what in found}
display.table(["images", "point classification", "region classification"],
              [[what, *(percent(right[how, what]) for how in ("point", "region"))] for what in plain],
              f"Fraction of {len(x)} images that get their true label; attacked: Carlini-Wagner.")
meter.start()

# %% [markdown]
# Larger is better in both columns. Region classification restores labels of examples that lie barely beyond the boundary;
# {ref}`he-3` shows an attack against which it fails.
#
# ## Boundary distances: the boundary in many directions
#
# A survey moves each image in steps along random orthogonal directions until its label changes.

# %% tags=["show-input"]
dirs = directions(x[0].numel(), 20, negatives=True, generator=draws)
found = survey(model, x, dirs, step=0.02, top=0.5)
nearest, censored = found.nearest, found.censored

# %%
meter.stop("boundary distances")
order = nearest.cpu().argsort()
near, far = nearest.cpu()[order], censored.cpu()[order]
rank, (figure, ax) = torch.arange(len(near)), plt.subplots(figsize=(7.2, 3))
ax.plot(rank[~far], near[~far], "o", ms=4, color=display.PALETTE[0], label="another label was found")
if far.any():
    ax.plot(rank[far], near[far], "^", ms=6, mfc="none", color=display.PALETTE[3],
            label="none was found: the distance is larger")
ax.set(xlabel="test images, in order of distance", ylabel="nearest boundary (RMS)",
       ylim=(0, 1.08 * found.top))
ax.legend()
display.picture(figure, f"Smallest boundary distance of {len(x)} images over {len(dirs)} "
                "directions, in steps of 0.02. Triangles are censored: no label changed up to 0.5.",
                "A rising curve of dots from small distances upwards; triangles at 0.5.")
pure = purity(found, 3)[found.found.any(1)].mean(0)
display.say(
    f"The median distance to the nearest boundary is {nearest.median():.2f} (RMS over all pixels). For "
    f"{int(censored.sum())} of {len(x)} images the distance is censored: no direction led to another label "
    f"up to 0.5. The mean top-1 purity is {pure[0]:.2f}: this share of an image's directions leads to its "
    "most frequent neighbouring class.")
meter.start()

# %% [markdown]
# A larger distance is better: the label is stable in that direction. The distance is a multiple of `step`, so its resolution is `step`.
# `found.distance` and `found.adjacent` hold distance and neighbouring class for each image and direction; purity has no
# better direction. The paper's page is {ref}`he-4`.
#
# ## Borderline pairs: two similar images with different labels
#
# The search takes the mean of two images of different classes and repeats this with the mean until two neighbours across the boundary remain.

# %% tags=["show-input"]
partners = borderline.backgrounds("digit", x, y, draws)   # of another class
pairs = borderline.search(model, x, partners, max_iterations=20)
facts = borderline.summary(pairs)

# %%
meter.stop("borderline pairs")
rows = (~pairs.excluded).nonzero()[:6, 0]
pair_picture = strip({side: getattr(pairs, name)[rows] for side, name in
                      {"source": "original", "inside": "inside", "outside": "outside"}.items()},
                     [f"{data.classes[a]}\n| {data.classes[b]}"
                      for a, b in zip(pairs.inside_class[rows], pairs.outside_class[rows])])
display.picture(pair_picture, "Sources and both sides of their borderline pairs, with the labels of both.",
                "Three rows of coloured shapes: a shape, then two nearly equal blends of it with another.")
display.table(["similarity (SSIM)", "between", "mean", "better"],
              [["separability", "outside, inside", f"{facts['separability_mean']:.3f}", "lower"],
               ["robustness", "inside, source", f"{facts['robustness_mean']:.3f}", "lower"],
               ["adversarial", "outside, source", f"{facts['adversarial_mean']:.3f}", "lower"]],
              f"Borderline pairs of {facts['searched']} images; the search of {facts['converged']} reached "
              f"SSIM above 0.99.")
meter.start()

# %% [markdown]
# The search stops at an SSIM above 0.99, so separability reflects this rule. A low robustness value means that the
# source changes much before its label does. The search accepts grey and colour images, float32 or uint8. The paper's page is {ref}`ren-iii`.
#
# ## Susceptibility: attacks against random perturbations of the same norm
#
# Each correctly classified image is attacked along its gradient. Random perturbations of the attack's norm, and of multiples of it, follow.

# %% tags=["show-input"]
told = susceptibility(model, x, y, generator=draws, draws=100, deltas=(1, 2, 5),
                      count=64, largest=5.0, loss=lost_margin)

# %%
meter.stop("susceptibility")
shares = [("attack along the gradient", told.adversarial_share),
          *((f"random, {d} × the attack's norm", share)
            for d, share in zip(told.deltas, told.random_shares))]
display.table(["perturbation", "images", "label changed", "95% interval"],
              [[what, s["of"], percent(s["hits"] / max(1, s["of"])),
                f"{s['low']:.0f}% to {s['high']:.0f}%" if s["of"] else ""] for what, s in shares],
              f"Susceptibility to attacks (of the correctly classified images) and to {told.draws} random "
              "perturbations (of the images with an attack).")
meter.start()

# %% [markdown]
# Larger is worse in every row. A low random share beside a high attack share means that noise of this norm misses the attacks.
# `told.attack` holds the norm of each attack, nan where none was found. The paper's page is {ref}`sutton-7-2-1`.
#
# ## ROBY: how much the classes overlap
#
# ROBY needs no attack. It compares the width of each class among the logits with the distances between the centres of the classes.

# %% tags=["show-input"]
layout = roby.measure(model, x_test, data.y_test)    # p=2; p=float("inf") is the other norm

# %%
meter.stop("ROBY", len(x_test))
display.table(["measure", "value", "claimed to be more robust"],
              [["FSA, tightness of the classes", display.number(layout.fsa), "larger"],
               ["FSD, distance of the classes", display.number(layout.fsd), "larger"],
               ["ROBY, overlap of the classes", display.number(layout.roby), "smaller"],
               ["mean overlap over mean distance", display.number(layout.overlap), "smaller"]],
              f"Layout of the {len(data.classes)} classes of {len(x_test)} test images. The first three are "
              "scaled from 0 to 1 inside the model.")
meter.start()

# %% [markdown]
# The scaling inside the model hides how far apart the classes lie, so compare models by the last row as well. At least three classes
# are needed. Whether ROBY ranks models as an attack does is the question of {ref}`chen-iv-c`.
#
# ## Boxes of adversarial examples: do re-trained models share the errors?
#
# An attack from many random starts finds many adversarial examples around one image. The box that they span holds many more: `b` values of
# the image vary, each in its own interval. Re-trainings of the model tell whether the errors in the box are shared.

# %% tags=["show-input"]
models = [model, *(trained() for _ in range(2))]    # the first is the attacked one

# %%
meter.stop("re-training")

# %% tags=["show-input"]
chosen = (boxes.answers(models, x) == y).all(0).nonzero()[:1, 0]   # all models are right there
found = boxes.sweep(model, x[chosen], y[chosen], PGD(L2(1.5), 10, 0.4), generator=draws)
box = boxes.intervals(x[chosen], found.of(found.classes.mode().values), least=20)
sizes = boxes.spaced(20, len(box.values))
curve = boxes.curve(models, y[chosen], box, sizes, samples=100, generator=draws)

# %%
meter.stop("boxes around one image, three models", 1)
figure, ax = plt.subplots(figsize=(7.2, 3))
for n, error in enumerate(zip(*curve["rates"])):
    ax.plot(sizes, error, display.LINES[n], marker=display.MARKERS[n], ms=6, color=display.PALETTE[n],
            label=f"re-training {n}" if n else "attacked model")
ax.set(xlabel="varied values b of the image", ylabel="errors in the box", ylim=(-0.03, 1.05))
ax.legend()
display.picture(figure, f"Error rates on 100 samples of boxes of growing size, around one image of the class "
                f"“{data.classes[int(y[chosen])]}”.", "Error rates of three models over the size of the box.")
display.say(f"The attack found {len(found.images)} different adversarial examples from 100 starts. All of "
            f"one class change {len(box.values)} of {x[0].numel()} values. In the box of all these values "
            f"the attacked model misclassifies {percent(curve['rates'][-1][0])} of the samples, the "
            "re-trainings " + " and ".join(map(percent, curve["rates"][-1][1:])) + ".")
meter.start()

# %% [markdown]
# Errors that the re-trainings do not share do not transfer; `boxes.kind` names the kind of region, and `boxes.alarm` gives the share of
# images on which the models disagree. The paper's pages are {ref}`shu-2-1` and {ref}`shu-2-4`.
#
# ## SSIM: how similar two images are
#
# SSIM compares two images window by window; Ren et al. describe borderline pairs by it ({ref}`ren-iii`).

# %% tags=["show-input"]
alike = ssim(x, results["PGD"].x_adv, data_range=1.0)   # from 11 x 11 pixels on

# %%
meter.stop("SSIM")
hit = results["PGD"].success
display.say(f"The mean SSIM of clean and PGD images is {display.number(alike.mean())} (n = {len(x)}; PGD "
            f"succeeds on {int(hit.sum())}). The value 1 means equal images; lower means less similar. SSIM "
            f"needs no model.")
meter.start()


# %% [markdown]
# ## Other kinds of models
#
# A function without parameters and a network with a single logit work in the same way. One logit above 0 means class 1.

# %% tags=["show-input"]
def bright(images):
    mean = images.mean((1, 2, 3))
    return torch.stack([0.5 - mean, mean - 0.5], 1)


one_logit = nn.Sequential(nn.Flatten(), nn.Linear(x[0].numel(), 1)).to(run.device)
two = {name: attacks["PGD"](each, x, inference.labels(each, x), generator=draws)
       for name, each in {"function": bright, "one-logit network": one_logit}.items()}

# %%
display.say("PGD changes " + " and ".join(
    f"{int(r.success.sum())} of {len(x)} predicted labels of the {name}" for name, r in two.items()) + ".")

# %% [markdown]
# (your-own-model-refused)=
# ## Models and images that raise an error
#
# Unsuitable models, images and labels end in one line that says what was found and what is needed.
# An error raised inside your model reaches you unchanged. Two limits apply. A single probability (a sigmoid) cannot be told from a logit.
# The borderline search uses labels alone, so it accepts probabilities and does not notice labels that change between calls.

# %%
cases = {
    "probabilities": (lambda a: model(a).softmax(1), x, y),
    "NaN": (lambda a: model(a) * torch.nan, x, y),
    "wrong shape": (lambda a: model(a)[:1], x, y),
    "changing logits": (lambda a: model(a) + torch.randn_like(model(a)), x, y),
    "no gradient": (lambda a: model(a).detach(), x, y),
    "labels out of range": (model, x, y + 10),
    "pixels beyond 1": (model, 255 * x, y),
    "integer images": (model, (255 * x).byte(), y),
}
messages = []
for what, given in cases.items():
    try:
        attacks["PGD"](*given, generator=draws)
        messages.append([what, "accepted"])
    except UserError as error:
        messages.append([what, f"`{type(error).__name__}: {error}`"])
display.table(["given", "message"], messages,
              "Messages of PGD; the other attacks share them.", sentences=True)

# %% [markdown]
# ## What it costs
#
# Costs scale with the number of images that pass through the model. Each count includes the classification before and after an
# attack and the {ref}`checks <your-own-model-refused>` of the model.

# %%
display.table(["instrument", "passes per image", "processor seconds"],
              [[name, f"{passes:,.0f}", f"{seconds:.2f}"]
               for name, (passes, seconds) in meter.rows.items() if "training" not in name],
              f"Cost on {len(x)} images (ROBY: {len(x_test)}, boxes: 1), measured while this page was "
              "made; a pass is one image through the model.")

# %% [markdown]
# ## Outside the repository
#
# A script of 30 lines in {ref}`how to run the book <any-folder>` applies each instrument to three other models without training: a
# torchvision network with random weights, a function without parameters, and a network with one logit.
# {doc}`/book/api` lists the functions by task.

# %%
run.minute(
    "How does one apply the methods of this book (attacks, random perturbations, searches for the decision "
    "boundary, layout of the classes) to one's own classifier? Each takes a callable, images and labels, in "
    "three to five lines of code. The example is a small network, trained here, with accuracy "
    f"{percent(accuracy)} on "
    f"{len(x_test)} test images. The PGD attack, with changes of at most 8/255 a pixel value, flips the "
    f"label of {percent(rates['PGD'])} of {len(x)} images; the best of 100 random perturbations within the "
    f"same limit flips {percent(rates['RandomSearch'])}. These numbers describe this "
    "network only, not the papers.",
    picture=strip(seen, [data.classes[a] for a in y[shown]]),
    alt="Small coloured shapes above their adversarial versions, which look the same.")

# %%
run.stamp()
