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
# The instruments of this book work on image classifiers that return logits. SSIM alone needs no model, ROBY needs at least three classes, and
# the boxes need re-trained copies of the model. This page trains a small network in a few seconds and applies each instrument to it. Each
# section shows the code, what each number means, and which direction is better. A table at the end lists the costs. To use your own model,
# replace `data`, `x_test`, `trained`, `model`, `x` and `y` of the first section; the later code stays the same.

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of training and of every random draw
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # this page has no runs
images: int = None  # test images that the instruments work on; None takes the profile's value [8..500]
epochs: int = 4  # of training [1..]

# %% tags=["hide-cell"]
import time

import matplotlib.pyplot as plt
import torch
from torch import nn

from report import display, prose
from report.page import start
from shared import borderline, inference, roby
from shared import regions as boxes
from shared.attacks.directions import directions
from shared.attacks.gradient import FGSM, PGD
from shared.attacks.line import LineSearch, lost_margin
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner
from shared.attacks.region import Region
from shared.attacks.threat import L2, Linf
from shared.boundary.survey import purity, survey
from shared.data import sets
from shared.runtime import UserError
from shared.similarity import ssim
from shared.susceptibility import percentage, susceptibility

page = start("guide/your_own_model", globals())
scale = page.scale(smoke=dict(images=24), quick=dict(images=100), paper=dict(images=100))
_ = torch.manual_seed(seed)


# %% tags=["hide-cell"]
# What this page draws and measures beside the instruments themselves.
class Meter:
    """Forward passes an image and processor seconds, from `start` to `stop`, by name in `rows`."""

    def __init__(self):
        self.rows = {}

    def count(self, module, given, _):
        """A hook of modules: so many images went forward."""
        self.passes += len(given[0])

    def start(self):
        self.passes, self.began = 0, time.process_time()

    def stop(self, name, images=None):
        """Keep what passed since `start`, for so many images (None: those of this page), and start again."""
        self.rows[name] = self.passes / (images or scale.images), time.process_time() - self.began
        self.start()


def strip(rows, titles):
    """A figure of images: a row of tensors [n, C, H, W] for each name; titles above the first row."""
    figure, axes = plt.subplots(len(rows), len(titles), figsize=(7.2, 1.25 * len(rows) + 0.4), squeeze=False)
    for n, (line, (name, images)) in enumerate(zip(axes, rows.items())):
        display.image_grid(line, images.cpu(), titles if n == 0 else None)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    return figure


def percent(share):
    """A share as a person writes it: 99.8% is not 100%."""
    return display.percent(float(share)).replace(".0%", "%")


def shown(share):
    """A `percentage` and its interval, for two cells of a table."""
    hits, of, _, low, high = share.values()
    return (percent(hits / of), f"{low:.0f}% to {high:.0f}%") if of else ("", "")


draws, meter = page.generator("draws"), Meter()
meter.start()


# %% [markdown]
# ## Your model: a callable from images to logits
#
# A model is any callable, a module or a plain function. It takes float32 images `[N, C, H, W]` in [0, 1], grey or colour, of any size, and
# returns logits `[N, K]`. The model includes its normalisation but no softmax. The network below is ordinary PyTorch code that uses nothing of
# this book; its data are the embedded colour images `shapes`. The instruments switch a module to evaluation mode during a call; a network
# inside a function needs its own `eval()`.

# %% tags=["show-input"]
def block(inputs, outputs):
    convolution = nn.Conv2d(inputs, outputs, 3, stride=2, padding=1)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


data = sets.load("shapes").to(page.device)
x_train, x_test = data.x_train / 255, data.x_test / 255


def trained():
    net = nn.Sequential(block(3, 16), block(16, 32), block(32, 64), nn.AdaptiveAvgPool2d(1),
                        nn.Flatten(), nn.Linear(64, len(data.classes))).to(page.device)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.005)
    for _ in range(epochs):
        for rows in torch.randperm(len(x_train)).split(50):
            loss = nn.functional.cross_entropy(net(x_train[rows]), data.y_train[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return net.eval()


model = trained()
accuracy = inference.accuracy(model, x_test, data.y_test)
x, y = x_test[:scale.images], data.y_test[:scale.images]

# %%
meter.stop("training")
model.register_forward_hook(meter.count)
display.say(
    f"The network classifies {percent(accuracy)} of the {len(x_test)} test images correctly. Training took "
    f"{meter.rows['training'][1]:.0f} s of processor time. The instruments below work on the first "
    f"{len(x)} test images of {x.shape[2]} × {x.shape[3]} pixels. Distances refer to pixels in [0, 1].")

# %% [markdown]
# ## Attacks: how small a perturbation changes the label
#
# A *threat* (threat model) sets the allowed perturbations: norm, limit and, if wanted, a target class. The library clips the images of each
# attack to this set, classifies them again and counts only successes. All attacks share one call. FGSM takes one gradient step as large as the
# limit, PGD several smaller ones. Carlini-Wagner minimises the norm of the perturbation. LineSearch takes the first of `count` equal steps
# along the gradient that changes the label, up to the norm `largest`. RandomSearch tries `draws` random perturbations within the limit and uses
# no gradient.

# %% tags=["show-input"]
small = Linf(8 / 255)    # no pixel value changes by more than 8 grey levels of 255
attacks = {"FGSM": FGSM(small), "PGD": PGD(small, steps=10, step=2 / 255),
           "Carlini-Wagner": CarliniWagner(rate=0.01, c=1.0, iterations=60),
           "LineSearch": LineSearch(count=128, largest=5.0, loss="margin"),
           "RandomSearch": RandomSearch(small, draws=100)}
result = attacks["PGD"](model, x, y, generator=draws)

# %%
results, rates, rows, limit = {}, {}, [], f"{255 * small.size:.0f}/255"
for name, attack in attacks.items():  # the same call for each, measured
    meter.start()
    results[name] = r = attack(model, x, y, generator=draws)
    meter.stop(name)
    rates[name] = percentage(int((r.success & r.was_correct).sum()), int(r.was_correct.sum()))
    within = limit if attack.threat == small else getattr(attack, "largest", "none")
    distance = "–" if within == limit else float(r.distance.nanmedian())
    rows.append([name, attack.threat.norm.replace("Linf", "L∞"), within, *shown(rates[name]), distance])
display.table(["attack", "norm", "limit", "success", "95% interval", "median distance"], rows,
              f"Attacks on {len(x)} test images, limit and distance on pixels in [0, 1].")
first = results["Carlini-Wagner"].success.nonzero()[:6, 0]
got = inference.labels(model, results["Carlini-Wagner"].x_adv[first])
seen = {"clean": x[first], "attacked": results["Carlini-Wagner"].x_adv[first]}
picture = strip(seen, [f"{data.classes[a]}\n→ {data.classes[b]}" for a, b in zip(y[first], got)])
display.picture(picture, "Clean images and their Carlini-Wagner examples. Titles: true → predicted class.",
                "Two rows of small coloured shapes; those of the second row look like those of the first.")
meter.start()

# %% [markdown]
# *Success* is the fraction of correctly classified images whose label the attack changes: lower is better for the model. *Median distance* is
# the median norm over the images on which the attack succeeds: larger is better if the success rates are equal. For attacks with a fixed limit
# it would only reflect this limit. The fields of `result` hold one row per image; where the attack fails, `x_adv` is the clean image. The
# papers' pages are {ref}`he-3` (Carlini-Wagner), {ref}`he-5` (FGSM) and {ref}`sutton-7-1` (line search). An attack with a target class succeeds
# only if this class is predicted. Here the target is the class after the true one.

# %% tags=["show-input"]
target = (y + 1) % len(data.classes)
attack = PGD(Linf(8 / 255, targeted=True), steps=10, step=2 / 255)
targeted = attack(model, x, y, target=target, generator=draws)

# %%
meter.stop("PGD, targeted")
display.say(f"Targeted PGD reaches the target class for {percent(targeted.success.float().mean())} "
            f"of {len(x)} images. Untargeted, PGD changes {shown(rates['PGD'])[0]} of labels at this limit.")
meter.start()

# %% [markdown]
# ## Region classification: a majority vote over noisy copies
#
# Region classification assigns the most frequent label among `samples` noisy copies of an image, with uniform noise of at most `radius` per
# pixel value.

# %% tags=["show-input"]
region = Region(radius=0.05, samples=50)
attacked = results["Carlini-Wagner"].x_adv
votes = {"clean": region(model, x, generator=draws),
         "attacked": region(model, attacked, generator=draws)}

# %%
meter.stop("region classification", 2 * len(x))
found = {"clean": (inference.labels(model, x), votes["clean"]),
         "attacked": (inference.labels(model, attacked), votes["attacked"])}
display.table(["images", "point classification", "region classification"],
              [[what, *(percent((labels == y).float().mean()) for labels in both)]
               for what, both in found.items()],
              f"Fraction of {len(x)} images that get their true label, with {region.samples} copies and "
              f"radius {region.radius:g}; attacked: Carlini-Wagner.")
meter.start()

# %% [markdown]
# Larger is better in both columns. {ref}`he-3` shows an attack against which region classification fails.
#
# ## Boundary distances: the boundary in many directions
#
# A survey moves each image in equal steps along random orthogonal directions and their opposites until its label changes, at most to the
# distance `top`. Distances are root mean squares (RMS) over all pixel values.

# %% tags=["show-input"]
dirs = directions(x[0].numel(), 20, negatives=True, generator=draws)
found = survey(model, x, dirs, step=0.02, top=0.5)
nearest, censored = found.nearest, found.censored

# %%
meter.stop("boundary distances")
near, order = nearest.cpu().sort()
far, rank, (figure, ax) = censored.cpu()[order], torch.arange(len(near)), plt.subplots(figsize=(7.2, 3))
ax.plot(rank[~far], near[~far], "o", ms=4, color=display.PALETTE[0], label="another label was found")
if far.any():
    ax.plot(rank[far], near[far], "^", ms=6, mfc="none", color=display.PALETTE[3],
            label="none was found: the distance is larger")
ax.set(xlabel="test images, in order of distance", ylabel="nearest boundary (RMS)", ylim=(0, 1.1 * found.top))
ax.legend()
display.picture(figure, f"Smallest boundary distance of {len(x)} images over {len(dirs)} "
                f"directions, in steps of {found.step:g}. Triangles are censored: no label changed up to "
                f"{found.top:g}.", "A rising curve of dots from small distances up; triangles at its end.")
root, wagner = x[0].numel() ** 0.5, float(results["Carlini-Wagner"].distance.nanmedian())
near_l2 = root * float(near.median())
display.say(prose.fill(
    "The median of each image's smallest RMS distance along a direction is {near:.2f} (n = {images}; L2 = "
    "{near_l2}, since L2 = {root} × RMS for {values} pixel values), {times:.0f} times the "
    "median norm of the Carlini-Wagner examples (L2 = {wagner}, RMS = {wagner_rms:.3f}). For {censored} "
    "images the distance is censored: no direction reached another label up to {top}. Over the other {rest} "
    "images the mean top-1 purity is {pure:.2f}: of the directions that reach another label, this share "
    "leads to the most frequent one.", dict(
        near=float(near.median()), near_l2=near_l2, root=root, values=x[0].numel(), images=len(x),
        wagner=wagner, wagner_rms=wagner / root, times=near_l2 / wagner, censored=int(far.sum()),
        top=found.top,
        rest=int((~far).sum()), pure=float(purity(found, 1)[~censored].mean()))))
meter.start()

# %% [markdown]
# A larger distance is better; for purity neither direction is. Distances are multiples of `step`. `found.distance` and `found.adjacent` hold
# the distance and the neighbouring class of each image and direction. The paper's page is {ref}`he-4`.
#
# ## Borderline pairs: two similar images with different labels
#
# The search bisects between an image (source) and an image of another class. The mean of both replaces the end with the source's label if it
# has this label too, else the other end. The search stops when the structural similarity (SSIM) of the two ends exceeds `threshold`. The end
# with the source's label is called *inside*, the other one *outside*.

# %% tags=["show-input"]
partners = borderline.backgrounds("digit", x, y, draws)   # of another class
pairs = borderline.search(model, x, partners, threshold=0.99, max_iterations=20)
facts = borderline.summary(pairs)

# %%
meter.stop("borderline pairs")
rows = (~pairs.excluded).nonzero()[:6, 0]
sides = {"source": pairs.original, "inside": pairs.inside, "outside": pairs.outside}
picture = strip({name: images[rows] for name, images in sides.items()},
                [f"{data.classes[a]}\n| {data.classes[b]}"
                 for a, b in zip(pairs.inside_class[rows], pairs.outside_class[rows])])
display.picture(picture, "Sources and both sides of their borderline pairs, with the labels of both.",
                "Three rows of coloured shapes: a shape, then two nearly equal blends of it with another.")
display.table(["measure", "SSIM of", "mean", "better"],
              [["separability", "outside, inside", f"{facts['separability_mean']:.3f}", "–"],
               ["robustness", "inside, source", f"{facts['robustness_mean']:.3f}", "lower"],
               ["adversarial", "outside, source", f"{facts['adversarial_mean']:.3f}", "lower"]],
              f"Mean SSIM of {facts['searched']} borderline pairs; {facts['converged']} of the searches "
              "exceeded the threshold.")
meter.start()

# %% [markdown]
# Separability reflects the threshold, so neither direction is better. The other two measures are lower if the source must change more before
# its label does. The paper's page is {ref}`ren-iii`.
#
# ## Susceptibility: attacks against random perturbations
#
# The attack moves each correctly classified image along its gradient until the label changes, up to the L2 norm `largest`. It takes the
# direction of LineSearch but, as in the paper, does not clip the image to [0, 1]. Random perturbations are then drawn uniformly from L2 balls
# around the image, whose radius is a multiple (`deltas`) of the norm of its attack.

# %% tags=["show-input"]
told = susceptibility(model, x, y, generator=draws, draws=100, deltas=(1, 2, 5),
                      count=64, largest=5.0, loss=lost_margin)

# %%
meter.stop("susceptibility")
shares = [("attack along the gradient", told.adversarial_share),
          *((f"random, up to {d} × the attack's norm", share)
            for d, share in zip(told.deltas, told.random_shares))]
display.table(["perturbation", "images", "label changed", "95% interval"],
              [[what, s["of"], *shown(s)] for what, s in shares],
              "Susceptibility. Attack: correctly classified images; median L2 norm of the successful attacks "
              f"{display.number(told.attack.nanmedian(), digits=3)}. Random: images with an attack; at least "
              f"one of {told.draws} random perturbations changes the label.")
meter.start()

# %% [markdown]
# Lower is better in every row. A low random share beside a high attack share means that random perturbations of such norms miss the
# attacks. `told.attack` holds the norm of each attack, nan where none was found. The paper's page is {ref}`sutton-7-2-1`.
#
# ## ROBY: how much the classes overlap
#
# ROBY needs no attack. The width of a class is the mean distance of its logits from their centre. The overlap of two classes is the sum of
# their widths minus the distance of their centres. At least three classes are needed.

# %% tags=["show-input"]
layout = roby.measure(model, x_test, data.y_test)    # p=2; p=float("inf") is the other norm

# %%
meter.stop("ROBY", len(x_test))
display.table(["measure", "value", "more robust if"],
              [["FSA, feature subspace aggregation", display.number(layout.fsa), "larger (Chen et al.)"],
               ["FSD, feature subspace distance", display.number(layout.fsd), "larger (Chen et al.)"],
               ["ROBY, overlap of the classes", display.number(layout.roby), "smaller (Chen et al.)"],
               ["mean overlap over mean distance", display.number(layout.overlap), "smaller (ours)"]],
              f"Layout of the {len(data.classes)} classes of {len(x_test)} test images. The first three "
              "values are scaled, the last is not.")
display.say("If all classes were equally wide, ROBY would be 1 - FSD by definition. Here the two differ by "
            f"{display.number(abs(layout.roby + layout.fsd - 1), digits=2)}. On artificial classes the first "
            "three values hardly follow the distance to the boundary ({ref}`chen-iii`); the last one does.")
meter.start()

# %% [markdown]
# FSA averages the widths, FSD the distances and ROBY the overlaps, each after they are scaled from 0 (the smallest of this model) to 1 (the
# largest). So these three do not show how far apart the classes lie; the last row does. It is negative if the mean distance of two centres
# exceeds the mean sum of two widths. Whether ROBY ranks models as an attack does is the question of {ref}`chen-iv-c`.
#
# ## Boxes of adversarial examples: error rates of re-trained models
#
# An attack from many random starts finds many adversarial examples of one image. The values that all examples with the same wrong label change
# span a box: each varies between its smallest and its largest value in the examples. The curves show the share of samples from the box of the
# `b` widest intervals that each model misclassifies.

# %% tags=["show-input"]
models = [model, *(trained() for _ in range(2))]    # the first is the attacked one

# %%
meter.stop("re-training")
for each in models[1:]:
    each.register_forward_hook(meter.count)

# %% tags=["show-input"]
chosen = (boxes.answers(models, x) == y).all(0).nonzero()[:1, 0]   # all models are right there
found = boxes.sweep(model, x[chosen], y[chosen], PGD(L2(1.5), 10, 0.4), generator=draws)
box = boxes.intervals(x[chosen], found.of(found.classes.mode().values), least=20)
sizes, samples = boxes.spaced(20, len(box.values)), 100
curve = boxes.curve(models, y[chosen], box, sizes, samples=samples, generator=draws)

# %%
meter.stop("boxes around one image, three models", 1)
figure, ax = plt.subplots(figsize=(7.2, 3))
for n, error in enumerate(zip(*curve["rates"])):
    ax.plot(sizes, error, display.LINES[n], marker=display.MARKERS[n], ms=6, color=display.PALETTE[n],
            label=f"re-training {n}" if n else "attacked model")
ax.set(xlabel="varied values b of the image", ylabel="errors in the box", ylim=(-0.03, 1.05))
ax.legend()
display.picture(figure, f"Error rates on {samples} samples of boxes of growing size, around one image of the "
                f"class “{data.classes[int(y[chosen])]}”.", "Error rates of three models over the size.")
wrong = int(found.classes.mode().values)
attacked_error, *others = map(percent, curve["rates"][-1])
display.say(f"{found.succeeded} random starts gave {len(found.images)} different adversarial examples of "
            f"this image, {len(found.of(wrong))} of them with the label “{data.classes[wrong]}”. Each of the "
            f"latter changes the same {len(box.values):,} of {x[0].numel():,} values. Of {samples} samples "
            f"from the box of all these values, the attacked model misclassifies {attacked_error}, its "
            f"re-trained copies {' and '.join(others)} (one image; no general result).")
meter.start()

# %% [markdown]
# A lower error rate is better for each model. If only the attacked model misclassifies the samples, the errors are specific to it. `boxes.kind`
# names the kind of region, and `boxes.alarm` gives the share of images on which the models disagree. The paper's pages are {ref}`shu-2-1` and
# {ref}`shu-2-4`.
#
# ## SSIM: how similar two images are
#
# SSIM compares two images window by window and needs no model. Ren et al. describe borderline pairs by it ({ref}`ren-iii`).

# %% tags=["show-input"]
alike = ssim(x, results["PGD"].x_adv, data_range=1.0)   # from 11 x 11 pixels on

# %%
meter.stop("SSIM")
alike = alike[results["PGD"].success]
display.say(f"Over the {len(alike)} images on which PGD succeeds, the mean SSIM of the clean and the "
            f"adversarial image is {display.number(alike.mean(), digits=3)}. The value 1 means equal images; "
            "lower means less similar.")
meter.start()


# %% [markdown]
# ## Other kinds of models
#
# A function without parameters and a network with a single logit work in the same way. One logit above 0 means class 1. The function below
# compares the mean pixel value with a constant; the network is linear with random weights. Their own predicted labels serve as `y`. A short
# script in {ref}`how to run the book <any-folder>` applies the instruments in any other folder; {doc}`/book/api` lists the functions by task.

# %% tags=["show-input"]
def bright(images):
    mean = images.mean((1, 2, 3))
    return torch.stack([0.5 - mean, mean - 0.5], 1)


one_logit = nn.Sequential(nn.Flatten(), nn.Linear(x[0].numel(), 1)).to(page.device)
two = {name: attacks["PGD"](each, x, inference.labels(each, x), generator=draws)
       for name, each in {"function": bright, "one-logit network": one_logit}.items()}

# %%
display.say(f"PGD with limit {limit} changes " + " and ".join(
    f"{int(r.success.sum())} of {len(x)} predicted labels of the {name}" for name, r in two.items()) + ".")

# %% [markdown]
# (your-own-model-refused)=
# ## Models and images that raise an error
#
# An unsuitable model, image or label raises an error of one line that names what was found and what is needed. An error raised inside your
# model reaches you unchanged. Two limits apply. A single probability (a sigmoid) cannot be distinguished from a logit: it is above 0, so
# that every image counts as class 1 and no error is raised; remove the sigmoid. The borderline search evaluates labels alone, so it accepts
# probabilities and labels that change between calls.

# %%
few, true = x[:8], y[:8]
cases = {
    "probabilities": (lambda a: model(a).softmax(1), few, true),
    "NaN": (lambda a: model(a) * torch.nan, few, true),
    "wrong shape": (lambda a: model(a)[:1], few, true),
    "changing logits": (lambda a: model(a) + torch.randn_like(model(a)), few, true),
    "no gradient": (lambda a: model(a).detach(), few, true),
    "labels out of range": (model, few, true + 10),
    "pixels beyond 1": (model, 255 * few, true),
    "integer images": (model, (255 * few).byte(), true),
}
messages = []
for what, given in cases.items():
    try:
        attacks["PGD"](*given, generator=draws)
        messages.append([what, "accepted"])
    except UserError as error:
        messages.append([what, f"`{type(error).__name__}: {error}`"])
display.table(["given", "message"], messages,
              f"Messages of PGD on {len(few)} images. The other attacks share them, but RandomSearch needs "
              "no gradient.", sentences=True)

# %% [markdown]
# ## What it costs
#
# A pass is one forward pass of one image. Backward passes are not counted; attacks by gradients need them, too. The count of an attack
# includes the classification before and after it. Each call also {ref}`checks <your-own-model-refused>` the model by two forward passes of
# a few images. The boxes do not include the re-training.

# %%
display.table(["instrument", "passes per image", "processor seconds"],
              [[name, f"{passes:,.0f}" if passes > 100 else f"{passes:.1f}", f"{seconds:.2f}"]
               for name, (passes, seconds) in meter.rows.items() if "training" not in name],
              f"Cost on {len(x)} images (region classification: {2 * len(x)}, ROBY: {len(x_test)}, boxes: 1 "
              "image), measured while this page was made.")

# %%
flipped, random = (" (95% interval ".join(shown(rates[n])) for n in ("PGD", "RandomSearch"))
page.box(
    "How does one apply the methods of this book to one's own classifier? This page shows it with a few "
    f"lines of code each, on a small network that is trained here (accuracy {percent(accuracy)}, n = "
    f"{len(x_test)} test images). PGD with limit {limit} (L∞) flips the label of {flipped}; n = {len(x)}); "
    f"{attacks['RandomSearch'].draws} random perturbations of each image within the same limit flip "
    f"{random}). These numbers describe this network only, not the papers.",
    picture=strip(seen, [data.classes[a] for a in y[first]]),
    alt="Small coloured shapes above their adversarial versions, which look the same.")

# %%
page.finish()
