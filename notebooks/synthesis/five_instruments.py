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
# (five-instruments)=
# # Five notions of distance on one set of networks
#
# *The instruments of all five papers {cite:p}`ren2025,shu2022,he2018,sutton2023,chen2020`*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks' trainings and of all draws; training n of a group has seed + n
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none
images: int = None  # test images that are measured; None takes the profile's value [2..]
directions: int = None  # directions around each image; None takes the profile's value [2..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt

from papers.sutton.experiments import CIFAR10
from papers.sutton.theory.models import planar_flip_probability
from papers.synthesis import claims, comparison, experiments, figures
from report import display
from report.page import start

page = start("synthesis/five_instruments", globals())

scale = page.scale(**experiments.SCALE)
instruments = page.results(experiments.instruments)

# %% [markdown]
# ## The idea
#
# Each paper of this book has its own measure of robustness. Ren et al. mix the image with another one until
# the label changes. Shu et al. draw a box around adversarial examples and count how many of its points other trainings misclassify. He et al.
# follow random directions. Sutton et al. compare a step along the gradient with random noise. Chen et al. need no search at all: ROBY compares the
# widths of the classes with the distances between them.
#
# Does each of them order images and networks as a strong attack does? Here all of them measure the same networks on the same images. A strong attack
# is the yardstick: the norm of the smallest perturbation that Carlini and Wagner's attack finds. A sixth measure, the margin of the logits, is the
# baseline: it needs one forward pass. The networks, the settings, the questions and the rules of judging were {ref}`fixed before the runs
# <protocol-five-instruments>`; the number of images was raised from 200 to 1,000 after a first round.
#
# ## Step by step: the five notions on one image
#
# The network has random weights and the image 6 x 6 pixels. Change the seed, the number of halvings or the width of the box, and run the cell again.

# %% tags=["show-input"]
import torch

from papers.small_network import small_network

network, image = small_network(seed=4, hidden=12, classes=5)
second, _ = small_network(seed=35, hidden=12, classes=5)
draws = torch.Generator().manual_seed(0)
many = torch.rand(300, 1, 6, 6, generator=draws)
called, label = network(many).argmax(1), network(image).argmax().item()

# 1. Mixing (Ren et al.): the mean of two images replaces the one whose label it has.
inside, outside = image, many[called != label][:1]
for _ in range(9):
    mixture = (inside + outside) / 2
    if network(mixture).argmax() == label:
        inside = mixture
    else:
        outside = mixture

# 2. A step along the gradient (Sutton et al.), here that of the margin, in the runs that of the squared
#    error: the shortest of many that changes the label.
start_image = image.clone().requires_grad_()
logits = network(start_image)[0]
margin = logits[label] - logits[torch.arange(5) != label].max()
gradient, = torch.autograd.grad(margin, start_image)
steps = [(image - size * gradient / gradient.norm()).clamp(0, 1) for size in torch.linspace(0, 5, 256)]
step = next(moved for moved in steps if network(moved).argmax() != label)

# 3. A box of adversarial examples (Shu et al.): what does another training say of its points?
signs = [(image - size * gradient.sign()).clamp(0, 1) for size in torch.linspace(0, 1, 256)]
first = next(n for n, moved in enumerate(signs) if network(moved).argmax() != label)
low, high = torch.stack(signs[first:first + 10]).aminmax(dim=0)
points = low + torch.rand(200, 1, 6, 6, generator=draws) * (high - low)
another = (network(points) + 0.3 * second(points)).argmax(1)     # stands for a re-training
transfer = (another != label).float().mean().item()

# 4. Random directions (He et al.): where the label changes first along each.
noise = torch.linalg.qr(torch.randn(36, 36, generator=draws)).Q.T * 36**0.5
lines = torch.cat([noise, -noise])
crossings = []
for line in lines:
    along = (image + torch.arange(1, 25).view(-1, 1, 1, 1) * 0.02 * line.view_as(image)).clamp(0, 1)
    flipped = (network(along).argmax(1) != label).nonzero()
    crossings.append(0.02 * (1 + flipped[0].item()) if len(flipped) else 0.48)

# 5. ROBY (Chen et al.): widths of two classes less the distance of their centres, scaled to 0 ... 1.
classes = [network(many)[called == k] for k in called.unique()]
centres = [of.mean(0) for of in classes]
widths = [(of - centre).norm(dim=1).mean() for of, centre in zip(classes, centres)]
overlaps = torch.stack([widths[i] + widths[j] - (centres[i] - centres[j]).norm()
                        for i in range(len(classes)) for j in range(i)])
roby = ((overlaps - overlaps.min()) / (overlaps.max() - overlaps.min())).mean().item()

# %%
nearest = lines[crossings.index(min(crossings))].view_as(image)
moved = {"mixing": inside, "gradient": step, "box": points[:1],
         "direction": (image + min(crossings) * nearest).clamp(0, 1)}
lengths = {name: (other - image).norm().item() for name, other in moved.items()}
figure, axes = plt.subplots(1, 5, figsize=(7.2, 1.8))
display.image_grid(axes, torch.cat([image, *moved.values()]),
                   ["image", *(f"{name}: {length:.2f}" for name, length in lengths.items())])
display.picture(figure, "The image, and where four instruments lead, with the L2 distance. The other "
                f"training misclassifies {transfer:.0%} of the box; ROBY of the network is {roby:.2f}.",
                "Five images of 6 x 6 grey pixels, the first unchanged.")

# The same by the instruments of the book:
from shared.attacks.line import LineSearch
from shared.boundary import survey
from shared.roby import measure

y = torch.tensor([label])
fast = survey(network, image, lines, step=0.02, top=0.48)
distances = torch.where(fast.reached, fast.distance, fast.top)[0]
assert torch.allclose(distances, torch.tensor(crossings), atol=1e-5)
assert torch.allclose(LineSearch(loss="margin")(network, image, y).x_adv, step, atol=1e-5)
numbers = {int(k): n for n, k in enumerate(called.unique())}
assert abs(measure(network, many, torch.tensor([numbers[int(k)] for k in called])).roby - roby) < 1e-4

# %% [markdown]
# ## What came out
#
# ### No cheap instrument is shown to follow the order of networks; the step along the gradient comes closest
#
# The *rank correlation* with the attack's norm is 1 if an instrument puts networks (or images) in the attack's order, 0 if the two orders have
# nothing in common, and −1 if the instrument reverses the order. All instruments are turned so that larger means farther from the boundary.
#
# The left panel ranks networks by the mean over their images. The right panel ranks the images of one network, on average over
# the networks; ROBY has no value of an image. An instrument *predicts* the order if its interval lies above 0, and is *better* than the margin if
# that of their difference does. *Cheap* is what costs at most a tenth of the attack's time.

# %%
best = page.best(instruments)
rows = comparison.compared(best)
facts = figures.facts(rows, best)
page.picture(instruments, lambda runs: figures.draw_correlations(rows, runs), caption=(
    "Rank correlation of five instruments and the baseline (grey) with the norm of Carlini and Wagner's "
    "attack (1: the same order); lines: 99% intervals, over groups of networks (left) and images (right)"),
    alt="Two panels with a row for each of five instruments and a baseline, a dot and a line on an axis "
        "from -1 to 1.")
page.text(instruments, lambda _: facts,
          "**Over networks**, the attack's order is predicted by {predicting} of {cheap} cheap instruments "
          "({cheap_names}). The {name} has the largest correlation, {value.is:.2f} ({level} interval "
          "{value.low:.2f} to {value.high:.2f}; {networks} networks of {groups} kinds), at {cost:.0f}% of "
          "the attack's time. The margin of the logits has {margin.is:.2f} ({margin.low:.2f} to "
          "{margin.high:.2f}). The difference, {apart.is:.2f}, has the interval {apart.low:.2f} to "
          "{apart.high:.2f}, so that the {name} is {better} the margin over these few kinds of network.")
page.text(instruments, lambda _: facts,
          "**Over naturally trained networks alone**, the interval lies above zero for {alone} of {cheap} "
          "cheap instruments. The {name} has {natural.is:.2f} ({natural.low:.2f} to {natural.high:.2f}), the "
          "margin {margin_natural.is:.2f} ({margin_natural.low:.2f} to {margin_natural.high:.2f}).")
page.text(instruments, lambda _: facts,
          "**Over the images of one network**, the {top} has the largest correlation of the cheap ones: "
          "{within.is:.2f} ({within.low:.2f} to {within.high:.2f}; {images} images that all {networks} "
          "networks classify correctly), {sharper} the margin ({margin_within.is:.2f}; "
          "{margin_within.low:.2f} to {margin_within.high:.2f}).")

# %% [markdown]
# ### In this sample, networks with larger margins have nearer attacks
#
# Each dot is a network, hollow where it was trained adversarially. If an instrument ranked all networks as the attack does, its dots would rise
# from left to right. Those of the margin fall; the cause was not measured.

# %%
page.picture(instruments, figures.draw_networks, caption=(
    "Mean norm of Carlini and Wagner's attack over the mean of each instrument, a dot a network; the "
    "instruments are turned so that larger means farther from the boundary"),
    alt="Six panels of dots in four colours, one for each paper with networks, hollow where robust: five "
        "instruments and the baseline.")

# %% [markdown]
# ### One claim of each paper on networks of the others
#
# Claims and rules were {ref}`chosen before the runs <protocol-five-instruments>`; by them a claim must hold in all cases. Added later: the number
# of cases, and that a difference in ROBY no larger than between trainings of one network leaves the claim open.

# %%
judged = claims.judged(best)
display.table(["claim of", "claim", "holds on", "numbers"],
              [[short, words, claims.where(*cases), numbers] for short, words, *cases, numbers in judged],
              "Claims judged on networks of other papers.", sentences=True)
draws = int(best.draws.max()) if len(best) else scale.draws     # of the runs that are shown
printed = CIFAR10["paper"]["draws"]
flat = {"mnist": planar_flip_probability(28 * 28, 1 / 10, draws),
        "more": planar_flip_probability(28 * 28, 1 / 10, printed),
        "cifar10": planar_flip_probability(3 * 32 * 32, 1 / 10, printed)}


def flat_facts(runs):
    """Percentages of images with a flipped label: if boundaries were flat, and the least of the table."""
    least = min(claims.flipped_shares(runs), default=0)
    shares = {name: 100 * share for name, share in (flat | {"least": least}).items()}
    return shares | {"draws": draws, "printed": printed,
                     "explains": "does not explain" if least > flat["mnist"] else "may explain"}


page.text(instruments, flat_facts,
          "Noise crosses a boundary more easily in fewer dimensions. If boundaries were flat and as far away "
          "as the step, {mnist:.0f}% of these images would be flipped by at least one of {draws} samples. "
          "The table has {least:.0f}% or more: flatness {explains} it. With the {printed:,} samples of "
          "Sutton et al., flat boundaries would give {more:.0f}% on MNIST, but {cifar10:.1g}% on CIFAR-10. "
          "Measured there ({{ref}}`sutton-7-2-1`), far more are: boundaries are not flat there, either.")

# %% [markdown]
# ## Where it differs, and why
#
# The comparison is not the papers' own. All instruments here measure small networks for MNIST; all papers but Ren et al. measure others,
# too. As an instrument, mixing leads towards one digit of another class; its claim is judged with a plain white or black image. The boxes are those of one
# attack, along the sign of the gradient, and two further trainings judge them instead of nine; networks without such trainings have none. The step
# of the line searches is three times that of He et al. A step along the gradient is itself a weak attack, so it may well agree with a strong one.
#
# ## Three things to remember

# %%
page.text(instruments, lambda _: figures.lessons(rows, best))

# %% [markdown]
# ## Try it
#
# 1. Set `range(9)` to `range(30)` in the cell above. Which of the two images still moves?
# 2. In the same cell, give the second network the weight 3 instead of 0.3. What happens to the share of the box?

# %%
alone, other, heavy = ((scores.argmax(1) != label).float().mean().item() for scores in (
    network(points), second(points), network(points) + 3 * second(points)))
display.show(display.folded("Answers", (
    "1. Neither by much: after nine halvings the two are 1/512 of their first distance apart.\n"
    f"2. With the weight 3 the share is {heavy:.0%}. Alone, the first network misclassifies {alone:.0%} of "
    f"these points, the second {other:.0%}.")))

# %% [markdown]
# ## Item by item
#
# ### Rank correlations and costs
#
# Seconds were measured on one core. The intervals are at 99%, so that those of the five instruments hold jointly at 95%.

# %%
display.table(["instrument", "ms an image", "over networks", "naturally trained alone", "over images"],
              figures.correlation_rows(rows),
              "Rank correlation with the attack, and the cost of an instrument.")

# %% [markdown]
# ### The networks, their accuracy, and the means of the instruments

# %%
classes_taken = int(best.classes.max()) if len(best) else scale.classes
display.table(["network", "accuracy, %", "attack, L2 norm", "survives PGD (L∞, 0.1), %",
               *figures.AXES.values()],
              figures.network_rows(best), "Accuracy is of all test images, ROBY of the first "
              f"{classes_taken:,}; the rest are means over the images that all networks classify correctly.")

# %% [markdown]
# ### Choices
#
# | choice | ours | reason |
# |---|---|---|
# | yardstick | Carlini and Wagner's L2 attack, five searches of 100 steps | within 5% of a search five times as long, on a network outside of the set |
# | images | first test images; those that all networks classify correctly count | every network is measured on the same images |
# | intervals | bootstrap over groups of networks, and over images | trainings of one group are alike |
# | no step along the gradient up to norm 10 | counts as 10 | no step along this direction changes the label; other directions may |
# | no label change in a random direction up to a distance of 0.48 | counts as 0.48 | the line search ends there; means near it differ little |
# | vanishing gradient | the image has no step and is left out of that row | a gradient of zero is not robustness |

# %%
page.text(instruments, lambda runs: {k: int(runs[k].max()) for k in ("images", "directions", "classes")},
          "The runs take the first {images:,} test images and {directions:,} directions around each; ROBY "
          "takes the first {classes:,} images. The parameters at the top of the page are the most that a run "
          "may take.")

# %%
page.box(
    "Which cheap measure ranks networks as a strong attack does?", figures.answer(facts),
    figures.evidence(facts), figures.LIMIT,
    facts=facts, picture=figures.draw_correlations(rows, best),
    alt="Rank correlations of five instruments and a baseline with an attack, over networks and over images, "
        "with intervals.")

# %%
page.finish()
