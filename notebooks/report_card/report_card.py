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
# (report-card)=
# # A report card of one or two models
#
# A report card applies the instruments of this book to one model, on one set of images. It opens with one sentence to quote and four
# pictures: accuracy against the norm of the perturbation, the nearest adversarial images, labels in planes through two of them, and
# the model's place among networks that the book has measured. Each number of a card has its count of images and, where there are
# enough images, its 95% interval. Two models are compared on the same images.

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of everything random
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none, which makes no card
model: str = ""  # package.module:factory of your model; empty: the two networks of this page
weights: str = ""  # a safetensors file for it
data: str = ""  # an .npz with arrays x and y; empty: MNIST
images: int = None  # how many the attacks take for this page's own card; None takes the profile's value [4..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import numpy as np

from papers.he import experiments
from report import display
from report.page import start
from shared.card import Card, card, factory, images_of
from shared.card.page import known
from shared.data import sets
from shared.runtime import UserError

page = start("report_card/report_card", globals())
scale = page.scale(smoke=dict(images=4), quick=dict(images=8), paper=dict(images=200))

# %% [markdown]
# ## Networks of this book
#
# The networks are of {ref}`He et al. <he-3>`, trained on clean images or on adversarial ones. The first line of each recorded card is:

# %%
DATA = {"mnist": "MNIST", "cifar10": "CIFAR-10"}
TRAINING = {"normal": "clean training", "adv": "adversarial training"}
LINES = {"PGD": ("-", "o"), "noise": (":", "s")}
showcase = page.results(experiments.cards, plan=lambda settings: {})    # hours: no page computes them
cards = {}      # {(data set, training): Card}
for run in page.best(showcase).to_dict("records"):
    data_set, _, training = run["network"].partition("-")
    title = f"{DATA[data_set]}, {TRAINING[training]}"
    cards[data_set, training] = Card.of({"sections": {title: run["sections"]}, "settings": run["settings"]})
if cards:
    display.say("\n".join(f"- {line}" for one in cards.values() for line in one.headlines))
else:
    display.say("No card of these networks is recorded yet.")


# %%
def draw_cards():
    """Accuracy against the norm of PGD and of noise: a panel a data set, a colour a network."""
    if not cards:
        return None
    there = list(dict.fromkeys(data_set for data_set, _ in cards))
    figure, axes = plt.subplots(1, len(there), figsize=(3.6 * len(there), 2.9), sharey=True, squeeze=False)
    for ax, data_set in zip(axes[0], there):
        lines = [(color, words, curve) for color, (training, words) in zip(display.PALETTE, TRAINING.items())
                 for one in [cards.get((data_set, training))] if one
                 for curve in one.curves(*one.sections) if curve["norm"] == "Linf"]
        for k, (color, words, curve) in enumerate(lines):
            (line, marker), points = LINES[curve["attack"]], curve["points"]
            value, low, high = (np.array([100 * p[key] for p in points]) for key in ("value", "low", "high"))
            ax.errorbar(np.arange(len(points)) + 0.1 * (k - (len(lines) - 1) / 2), value,
                        [value - low, high - value], ls=line, marker=marker, ms=4, color=color,
                        label=f"{words}, {curve['attack']}")
            ax.set_xticks(range(len(points)), [f"{p['size']:.2g}" for p in points])
        ax.set(title=DATA[data_set], xlabel="L∞ norm of the perturbation", ylim=(-3, 103))
    axes[0, 0].set_ylabel("images that stay correct, %")
    handles = {k: v for ax in axes[0] for v, k in zip(*ax.get_legend_handles_labels())}
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=len(there))
    return figure


def row(one):
    """Of a card: name, images, four numbers with intervals, minutes."""
    name, = one.sections
    there = one.measures(name)
    shown = [there.get(k) for k in ("accuracy", "worst_accuracy", "worst_accuracy_l2", "cw_distance")]
    numbers = [f"{n * m.value:.3g} ({n * m.low:.3g} to {n * m.high:.3g})" if m and m.low is not None else "–"
               for m in shown for n in [100 if m and m.unit == "%" else 1]]
    return [name, one.settings["images"], *numbers, f"{sum(s.seconds for s in one.sections[name]) / 60:.1f}"]


page.picture(showcase, lambda _: draw_cards(), caption=(
    "Share of the images that stay correct under PGD and under noise up to each norm, with 95% intervals"),
    alt="A panel a data set: accuracy of two networks against the norm, under PGD and under noise, with "
        "intervals.")
if cards:
    sizes = {data_set: f"{DATA[data_set]}: L∞ {one.settings['eps']:.3g}, L2 {one.settings['l2']:.3g}"
             for (data_set, _), one in cards.items()}
    display.table(["network", "images attacked", "accuracy, %", "worst case, L∞, %", "worst case, L2, %",
                   "median L2 norm of an attack", "minutes of one core"], [row(c) for c in cards.values()],
                  "Numbers of the cards with 95% intervals, and how long each card took. Largest norms: "
                  f"{'; '.join(sizes.values())}.")

# %% [markdown]
# ## A card of your own model
#
# In Python the card takes three lines. A model is any callable from float32 images `[N, C, H, W]` in [0, 1] to logits; `x` has the
# images, `y` their labels. For one model write `card(model, x, y)`. The HTML file needs no other file; `card.json` has the numbers.
#
# ```python
# from boundary_book import card
#
# report = card({"plain": a, "robust": b}, x, y)
# report.save("card.html")
# ```
#
# The settings of the attacks are arguments: `eps=8/255` and `norm="L2"` for the perturbation's size and norm, `restarts=1` for PGD,
# `ssim_convention="uniform"` for images of at least 7 × 7 pixels. The card ends with all settings, versions, digests of the weights and
# the data, and a line to cite. `about={"licence": "MIT", "training data": "MNIST"}` adds what you say of the model. `card.json` has every
# number and every point of the pictures; `Card.of` makes the card of it again. `about={"data": "MNIST, test"}` names the data in the
# sentence to quote.
#
# On the command line a card comes from a module, its weights and an `.npz` file with the arrays `x` (uint8, or floats from 0 to 1) and `y`. The
# factory takes no arguments and returns the model. The command ends with status 2 if a number misses a bound of `CHECK` or no card could be made:
#
# ```bash
# make card MODEL=package.module:factory WEIGHTS=net.safetensors \
#     DATA=images.npz OUT=card.html CHECK="worst_accuracy>=0.3"
# ```
#
# `MODEL=folder/file.py:factory` names a file instead of a module, `MODEL="a.py:f b.py:g" WEIGHTS="a.pt b.pt"` two models; weights may be a `.pt` file of tensors. If the model expects
# normalised pixels, add `MEAN=0.485,0.456,0.406 STD=0.229,0.224,0.225`. `IMAGES=200` attacks 200 images instead of 100;
# `EPS=8/255`, `NORM=L2`, `RESTARTS=1` and `SSIM=uniform` are the settings above, and `ABOUT="licence=MIT"` is `about`. Beside
# RobustBench's tables of CIFAR-10 (L∞ 8/255, the default for colour images) take `IMAGES=1000`; their AutoAttack is stronger.
# `RETRAINED="a.safetensors b.safetensors"` names weights of the same architecture from other seeds. From another folder, `make -C clone card ...`
# reads and writes the files of the folder where you stand. Started again, a stopped command resumes.
#
# Run with `-p runs missing`, the default, this page shows the card of the two MNIST networks, with fewer images, or of the model that
# you name. The published page makes no card.

# %%
if weights and not model:
    raise UserError("weights without a model; add -p model package.module:function, whose weights they are")
if page.which == "missing":
    about = {}
    if model:
        models = {model: factory(model, weights)}
    else:
        nets = experiments.subjects("smoke" if page.profile == "smoke" else "paper")
        models = {words: nets[f"mnist-{training}"].model(seed) for training, words in TRAINING.items()}
        attack = nets["mnist-adv"].hook.attack
        about["adversarial training"] = f"PGD, {attack.steps} steps, L∞ {attack.threat.size:g}; MNIST"
    if data:
        x, y = images_of(data)
    else:
        mnist = sets.load("mnist")
        x, y = mnist.x_test[:1000], mnist.y_test[:1000]
        about["data"] = "embedded digits" if mnist.stand_in else "MNIST, test"
    result = card(models, x, y, images=scale.images, seed=seed, about=about)
    display.piece(result)

# %%
KNOWN = known((1, 28, 28))      # the numbers of the networks that the book has measured
PLAIN, ROBUST = "He et al., mnist", "He et al., mnist, adversarially trained"
recorded = {network: one.measures(*one.sections) for network, training in ((PLAIN, "normal"), (ROBUST, "adv"))
            for one in [cards.get(("mnist", training))] if one}
for network, measures in recorded.items():      # with more images than the known networks have
    KNOWN[network] |= {name: measure.value for name, measure in measures.items()}
MEASURES = {"pgd_accuracy": "correct under attack", "cw_distance": "norm of the smallest attack",
            "boundary_distance": "distance in random directions", "overlap": "class overlap",
            "accuracy": "correct on clean images"}


def places(name):
    """Where a measure puts each known network: 0 is the worst of them, 1 the best (smallest overlap)."""
    values = {network: row[name] for network, row in KNOWN.items() if name in row}
    worst, best = sorted((min(values.values()), max(values.values())), reverse=name == "overlap")
    return {network: (value - worst) / (best - worst) for network, value in values.items()}


def draw_order():
    """Both networks of each measure among the known ones (pale), from worst to best."""
    figure, ax = plt.subplots(figsize=(6.6, 3))
    for y, name in enumerate(MEASURES):
        at = places(name)
        turned = at[ROBUST] < at[PLAIN]
        ax.plot([*at.values()], [y] * len(at), "|", color=display.PALE, ms=9)
        ax.plot([at[PLAIN], at[ROBUST]], [y, y], color=display.PALETTE[1] if turned else display.GUIDE, lw=2)
        for network, marker, label in ((PLAIN, "o", "clean training"), (ROBUST, "s", "adversarial training")):
            ax.plot(at[network], y, marker, ms=9, color=display.PALETTE[1] if turned else display.PALETTE[0],
                    fillstyle="none" if network == PLAIN else "full", mew=2, label=None if y else label)
    ax.set(yticks=range(len(MEASURES)), yticklabels=MEASURES.values(), xlim=(-0.05, 1.05), xticks=(0, 1),
           xticklabels=("worst", "best"), xlabel=f"place among {len(KNOWN)} networks of this book")
    ax.invert_yaxis()
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def box_facts():
    """Of both recorded cards: accuracy under PGD, the distance in random directions, the overlap."""
    if len(recorded) < 2:
        return {}
    values = {words: {"robust": recorded[ROBUST][name].value, "plain": recorded[PLAIN][name].value}
              for words, name in (("pgd", "pgd_accuracy"), ("near", "boundary_distance"),
                                  ("overlap", "overlap"))}
    label = recorded[ROBUST]["boundary_distance"].label     # "nearest boundary in 50 random directions ..."
    return values | {"n": recorded[ROBUST]["pgd_accuracy"].n,
                     "directions": next(int(word) for word in label.split() if word.isdigit())}


turned = [MEASURES[name] for name in ("boundary_distance", "overlap")
          if places(name)[ROBUST] < places(name)[PLAIN]]
page.box(
    "Which of two networks is more robust, and do all measures agree?",
    "The one trained on attacked images wins under attack, but {turned} rank it lower.",
    "Under PGD alone it classifies {pgd.robust:.0%} of {n:,} digits correctly, the other {pgd.plain:.0%}. "
    "Its median distance to the nearest boundary in {directions} random directions is {near.robust:.2f} root "
    "mean square against {near.plain:.2f}, its class overlap {overlap.robust:.2f} against "
    "{overlap.plain:.2f} (lower: farther apart).",
    "MNIST networks, trained once: others may differ.",
    facts=box_facts() | {"turned": " and ".join(turned) or None}, results=(), picture=draw_order(),
    alt="Five measures, two marks each from worse to better: adversarial training is better in both rows of "
        "attacks, worse in random directions, class overlap and clean accuracy (orange).")

# %% [markdown]
# ## How to read it
#
# This explains the card that this page, `card` or `make card` makes.
#
# - The card's number is the worst case over its attacks, image by image: PGD from several random starts, a black-box search of
#   the same cost (a gradient counts as three forward passes), and noise. AutoAttack and attacks made for one model (adaptive ones) are not
#   among them. Where no attack flips more labels than noise, the card says so: the model withstands both, or the attacks fail on it.
#   Where a search is weaker than a simple step along the gradient, the card names it, and the nearer of both counts.
# - Much other work reports accuracy under PGD alone. It is evidence of robustness only if PGD is stronger than noise
#   and the black-box search, and the gradients are not zero. The card warns by name where this fails, where a search ends without
#   an adversarial image of any norm, and where the model classifies no better than a constant: then no number shows robustness.
# - The norm of the nearest adversarial perturbation needs no limit. Compare its median with the same row of other networks.
# - On most networks that this book has measured, noise as long as the gradient step changes few of the labels that the step changes: noise alone misses most
#   attacks. The rows for 2, 5 and 10 times the norm show how much larger the noise must be.
# - The metrics without an attack (ROBY, overlap, borderline pairs, boundary distances) need not rank two models as an attack
#   does. If the two models differ beyond chance under the attacks, the card names the metrics that rank them the other way.
# - With two models each row rests on the images that have a value of both. The worst case is tested alone at the level of 5%; the other
#   measures have Holm's correction for their number. A row with “is better” and no remark is beyond chance, but for the 10% and 90%
#   quantiles and repeated rows, which are not tested; “too few images”: it could not reach the level.
# - A wide interval means few images: `IMAGES=200` of `make card` makes it half as wide as 50 do. The card says how many images it needs.

# %%
page.finish()
