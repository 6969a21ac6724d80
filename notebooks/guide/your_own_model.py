# ---
# jupyter:
#   boundary_book:
#     needs:
#     - shu/2_4_alarm
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
# # Your own model: a script to copy, then each instrument

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the choice of test images below the script, which has its own seeds
device: str = "auto"  # auto, cpu or cuda; below the script
runs: str = "missing"  # this page has no runs
images: int = None  # test images below the script; None takes the profile's value [8..500]

# %% tags=["hide-cell"]
import os
import tempfile

import matplotlib.pyplot as plt

from papers import guide
from papers.guide import strip
from report import display, record
from report.page import start
from shared.card import page as card_page

page = start("guide/your_own_model", globals())
scale = page.scale(smoke=dict(images=24), quick=dict(images=100), paper=dict(images=100))
os.chdir(tempfile.mkdtemp())  # the script writes its card into the working directory

# %% [markdown]
# ## The idea
#
# The instruments bound the distance of an image to the boundary from above: by an attack, in random directions, and on the way to another image. One measures how much the classes overlap. Most need gradients or logits; the last table says which do not. No single number is *the* robustness.
#
# ## Step by step: one script
#
# `pip install .` in a clone of the repository installs the instruments as the Python package `boundary_book`. The script is complete: copy it into a file in any folder and run it. It trains a small network on the digits that come with scikit-learn, applies three instruments, and writes a {ref}`report card <report-card>` of all but *Regions*, which needs re-trained networks. For your own model, replace its parts 1 and 2.

# %% tags=["show-input"]
import torch
from torch import nn

from boundary_book import PGD, Linf, borderline, card, inference, load, roby

# 1. Your images, [N, C, H, W] from 0 to 1, and their classes, [N] from 0.
digits = load("digits")
x_train, y_train = digits.x_train / 255, digits.y_train
x_test, y_test = digits.x_test / 255, digits.y_test


# 2. Your model, from images to logits [N, classes]: without a softmax.
def trained(seed):
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(),
                            nn.Linear(64, 10))
    optimiser = torch.optim.Adam(network.parameters(), lr=0.005)
    for rows in torch.randint(len(x_train), (300, 50)):
        loss = nn.functional.cross_entropy(network(x_train[rows]), y_train[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network

model = trained(seed=0)

# 3. Accuracy, then three instruments: PGD and borderline on 100 images, ROBY on all.
print("accuracy:", inference.accuracy(model, x_test, y_test))
x, y = x_test[:100], y_test[:100]
attacked = PGD(Linf(0.1), steps=20, step=0.02)(model, x, y, generator=0)
print("accuracy under PGD:", attacked.robust_accuracy)
backgrounds = borderline.backgrounds("digit", x, y, 0)
pairs = borderline.search(model, x, backgrounds, max_iterations=20)
similarity = borderline.summary(pairs)["robustness_mean"]
print("similarity where the label changes:", similarity)
print("overlap of the classes:", roby.measure(model, x_test, y_test).overlap)

# 4. All but regions; searches take 40 images. card.html is for the browser.
report = card(model, x_test, y_test, images=40)
report.save("card.html")
print(report)

# %% tags=["hide-cell"]
known = card_page.known(x[0].shape).values()    # the measures of each network
pgd = report.measure("model", "pgd_accuracy")

page.box(
    "How do I test the robustness of my own classifier?",
    "Copy the script on this page: it attacks a differentiable image classifier and writes a report card.",
    "For its example network, accuracy is {accuracy:.0f}% on clean digits (n = {n}) and {pgd:.1f}% "
    "under a gradient attack (PGD, each pixel changed by at most {size:.2g} of its range; n = {attacked}).",
    "Compare networks on the same images only: other images change every number, so the tables below are a "
    "rough guide.",
    facts={"accuracy": 100 * inference.accuracy(model, x_test, y_test), "n": len(x_test),
           "pgd": 100 * pgd.value, "attacked": pgd.n, "size": (attacked.x_adv - x).abs().max().item()},
    picture=guide.draw_script(model, x, attacked, report),
    alt="Three digits with their labels, the same three with grey spots and other labels, and four numbers "
        "of the report card.")

rows = torch.randperm(len(x_test), generator=page.generator("images"))[:scale.images]
model, x, y = model.to(page.device), x_test[rows].to(page.device), y_test[rows].to(page.device)

# %% [markdown]
# ## What came out
#
# Each instrument by itself on the script's network. Pictures have 100 images drawn anew, tables the report card's. The tables' known networks
# (two of He et al., one of them adversarially trained, three of Ren et al., three of Shu et al.) classify MNIST; 100 images each were attacked. A difference has no single cause. The {doc}`API page </book/api>` lists all attacks.
#
# ### Attacks: the smallest perturbation that changes the label
#
# The Carlini-Wagner attack minimises the L2 norm of the perturbation. A larger norm is better, and so is a larger accuracy under attack, if the attack is stronger than noise of the same size ({ref}`he-3`).

# %% tags=["show-input"]
from boundary_book import CarliniWagner

attack = CarliniWagner(rate=0.2, c=1.0, searches=3, iterations=100)
result = attack(model, x, y, generator=0)
norms = result.distance[result.success & result.was_correct]

# %%
rows = (result.success & result.was_correct).nonzero()[:4, 0]
titles = [f"{a} → {b}" for a, b in zip(y[rows], inference.labels(model, result.x_adv[rows]))]
strip({"clean": x[rows], "attacked": result.x_adv[rows]}, titles, "Clean images and their Carlini-Wagner "
      "examples. Titles: true → predicted class.", "Digits with grey spots below clean ones.")
guide.typical(report, known, "pgd_accuracy", "noise_accuracy", "cw_distance")

# %% [markdown]
# ### Borderline pairs: two similar images with different labels
#
# The search mixes each image with one of another class until two similar images with different labels remain. Similarity is the structural similarity (SSIM); 1 means equal. A large similarity to the source is worse: its label changes while it looks alike ({ref}`ren-iii`).

# %% tags=["show-input"]
partners = borderline.backgrounds("digit", x, y, 0)    # of another class
pairs = borderline.search(model, x, partners, threshold=0.99, max_iterations=20)
similarity = pairs.robustness[~pairs.excluded]    # of the inside image and the source

# %%
rows = (~pairs.excluded).nonzero()[:4, 0]
strip({"source": pairs.original[rows], "inside": pairs.inside[rows], "outside": pairs.outside[rows]},
      [f"{a} | {b}" for a, b in zip(pairs.inside_class[rows], pairs.outside_class[rows])],
      "Sources and both sides of their borderline pairs. Titles: labels inside | outside.",
      "Three rows of digits: a digit, then two nearly equal mixtures of it with another.")
guide.typical(report, known, "borderline_similarity")

# %% [markdown]
# ### Boundary distances: the boundary in many directions
#
# Each image moves in equal steps along random orthogonal directions and their opposites until its label changes, at most to the distance `top`. Distances are root mean squares (RMS) over all pixel values; the L2 norm is RMS times the root of their number. A larger distance is better ({ref}`he-4`). Purity, the share of directions to the most frequent other class, is neither good nor bad.

# %% tags=["show-input"]
from boundary_book import directions, survey

lines = directions(x[0].numel(), 25, negatives=True, generator=0)
crossings = survey(model, x, lines, step=0.02, top=0.5)
nearest, censored = crossings.nearest, crossings.censored

# %%
figure, ax = plt.subplots(figsize=(3.9, 2.6))
ax.hist([nearest[~censored].cpu(), nearest[censored].cpu()], bins=25, range=(0, crossings.top), stacked=True)
ax.set(xlabel="nearest boundary (RMS)", ylabel="images")
display.picture(figure, f"Nearest boundary of {len(x)} images over {len(lines)} directions. Orange: no label "
                "changes; the distance is larger.", "A histogram; part of its last bar is orange.")
guide.typical(report, known, "boundary_distance", "boundary_censored", "purity")
guide.distances_in_l2(report, x[0].numel())

# %% [markdown]
# ### Noise: random perturbations beside an attack
#
# A line search along the gradient gives the norm of an attack on each correctly classified image. Random perturbations are then drawn uniformly
# from L2 balls whose radius is 1, 2, 5 or 10 times this norm. A small share beside a successful attack means that noise of this norm flips few of
# the labels that the attack flips ({ref}`sutton-7-2-1`). The share depends on the ratio of two norms, so it ranks no networks: compare the norms of
# the attacks.

# %% tags=["show-input"]
from boundary_book.attacks.line import lost_margin
from boundary_book.susceptibility import susceptibility

noise = susceptibility(model, x, y, generator=0, draws=100, steps=512, largest=10.0, loss=lost_margin)
flipped = [share["percent"] for share in noise.random_shares]    # None where no image has an attack

# %%
figure, ax = plt.subplots(figsize=(3.9, 2.6))
for network in known:
    ax.plot(noise.deltas, [100 * network[f"noise_{delta}"] for delta in noise.deltas], color="0.75")
ax.plot(noise.deltas, flipped, "o-", color=display.PALETTE[0])
ax.set(xlabel="norm of the noise over that of the attack", ylabel="flipped labels, %", ylim=(-3, 103))
display.picture(figure, f"Images whose label one of {noise.draws} random perturbations flips: the script's "
                "network (dots), known ones (grey).", "Curves that rise with the norm of the noise.")
guide.typical(report, known, "susceptible", "noise_1", "noise_10")

# %% [markdown]
# ### ROBY: how much the classes overlap
#
# ROBY needs no attack, but at least three classes. The width of a class is the mean distance of its logits from their centre. The overlap of two
# classes is the sum of their widths minus the distance of their centres. ROBY is the mean overlap, rescaled so that the model's
# least is 0 and its largest 1. Larger is meant to be worse; an overlap below 0 means apart. On artificial classes ROBY hardly follows the
# distance to the boundary; the overlap divided by the distance of the centres does ({ref}`chen-iii`).

# %% tags=["show-input"]
layout = roby.layout(inference.logits(model, x_test), y_test)
scores = roby.roby(layout)    # .overlap: the mean overlap over the mean distance of the centres

# %%
figure, ax = plt.subplots(figsize=(3.9, 2.6))
ax.hist(layout.overlap, bins=20)
ax.set(xlabel="overlap of two classes", ylabel="pairs of classes")
display.picture(figure, "Overlap of all pairs of classes, in units of the logits (below 0: apart).",
                "A histogram of overlaps.")
guide.typical(report, known, "roby", "overlap")

# %% [markdown]
# ### Regions: boxes of adversarial examples, and re-trainings
#
# An attack from many random starts finds many adversarial examples of one image. The pixel values that they change span a box: each varies between its smallest and its largest value. The attacked network and its re-trainings then classify samples of this box. A larger error rate
# is worse. If only the attacked network errs, the errors are specific to it; if its re-trainings err, too, the region is transferable
# ({ref}`shu-2-4`). `card(model, x, y, retrained=models[1:])` adds such a section to the card.

# %% tags=["show-input"]
from boundary_book import L2, regions

models = [model, trained(seed=1), trained(seed=2)]    # the attacked one first
chosen = (regions.answers(models, x) == y).all(0).nonzero()[:1, 0]    # all are correct
attack = PGD(L2(1.5), steps=20, step=0.4)
examples = regions.sweep(model, x[chosen], y[chosen], attack, generator=0).images if len(chosen) else x[:0]
if len(examples):
    samples = regions.intervals(x[chosen], examples, least=1).sample(200, generator=0)
    errors = regions.error_rates(models, samples, y[chosen])
else:
    print("no example found")

# %%
if len(examples):
    strip({"": torch.cat([x[chosen], examples[:1], samples[:2]])}, ["clean", "example", *["sample"] * 2],
          f"The attacked network misclassifies {errors[0]:.0%} of {len(samples)} samples of the box, its "
          f"re-trainings {' and '.join(f'{e:.0%}' for e in errors[1:])}.", "A digit, then three with spots.")
if kind := (record.read("shu", "procedure-region-types") or {}).get("data"):
    display.say("Of {} boxes around an MNIST digit, {type_1} are of type 1 (the attacked network "
                "misclassifies at least half of the samples, another at most 5%), {type_2} of type 2 (each "
                "network misclassifies at least a quarter), {type_3} of type 3 (the attacked network "
                "misclassifies at most 5%, another at least half), and {type_n} of none."
                .format(sum(kind.values()), **kind))

# %% [markdown]
# ## Three things to remember
#
# 1. Compare networks on the same images only, and give the number of images with each share.
# 2. An attack that is no stronger than noise of the same size shows nothing: check it on a network that you know.
# 3. Measures disagree: a network can be far from its boundary in random directions and near to it in one.
#
# ## Try it
#
# 1. In the script, halve the largest change of a pixel: `PGD(Linf(0.05), ...)`. Does the accuracy under attack rise?
# 2. Use `trained(seed=3)` instead of `trained(seed=0)`. Which of the numbers printed before the card moves most?
# 3. Add noise to the training images, `x_train[rows] + 0.1 * torch.randn(50, 1, 28, 28)`. Does the accuracy under attack rise?

# %%
display.show(display.folded("Answers", (
    "1. Yes, from about a tenth to more than half: the smaller bound allows fewer perturbations.\n"
    "2. The accuracy under PGD, by a few images of 100. The others move by less than two hundredths.\n"
    "3. No, it falls: training with random noise of this size does not protect against perturbations "
    "that an attack chooses.")))

# %% [markdown]
# ## Models and images of your own
#
# ### A pretrained model and your own images
#
# Weights come from a file of PyTorch, images from an `.npz` file with `x` (uint8, `[N, H, W, 3]`) and `y`. If the accuracy is that of chance,
# check the order of the classes and the normalisation. `card(model, x, y).save("card.html")` (with `card` imported) then takes some minutes of a core. `torchvision.datasets.ImageFolder` reads a folder with a subfolder per class; shuffle it.
#
# ```python
# import torch
# import torchvision
#
# from boundary_book import PGD, Linf, accuracy, adapt
# from boundary_book.card import images_of
#
# network = torchvision.models.resnet18(weights=None)
# network.load_state_dict(torch.load("resnet18.pt", weights_only=True))
# model = adapt(network, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
# x, y = images_of("images.npz")
# x = x / 255
# print("accuracy:", accuracy(model, x, y))
# print(PGD(Linf(8 / 255), steps=10, step=2 / 255)(model, x, y, generator=0))
# ```
#
# ### What models may look like
#
# Images in a numpy array become a tensor by `torch.from_numpy(images).float()`, labels by `torch.from_numpy(labels).long()`. An unsuitable model, image or
# label raises an error of one line. A single sigmoid is refused where most of its outputs are near 0 or 1; else it counts as a logit above 0: every image gets class 1.
#
# | Your model | Pass to the instruments |
# | --- | --- |
# | returns logits `[N, K]`, or one logit `[N, 1]` or `[N]` (class 1 above 0) | `model` |
# | returns an object with the attribute `logits`, as Hugging Face models do | `adapt(model)` |
# | returns a dict | `adapt(model, output="logits")` |
# | returns a tuple | `adapt(model, output=0)` |
# | is compiled | `torch.compile(model)` |
# | has float64 or bfloat16 weights | `model` |
# | expects normalised pixels | `adapt(model, mean=(0.13,), std=(0.31,))` |
# | takes and returns numpy arrays, without gradients: `RandomSearch`, `survey`, `borderline` | `lambda images: torch.from_numpy(model(images.numpy()))` |

# %%
page.finish()
