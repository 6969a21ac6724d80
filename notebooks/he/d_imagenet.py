# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-5
#     - figure-8
#     - figure-9
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
# (he-d)=
# # D. ImageNet-size images: attacks and boundary distances on a proxy network
#
# *He et al. {cite:p}`he2018`, Appendix D*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the attacks' noise, of region classification, of the directions and of the classifiers
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none
blocks: int = None  # blocks of images of each kind; None takes the profile's value [1..]
iterations: int = None  # most iterations for each c of an attack; None takes the profile's value [1..]
directions: int = None  # random directions around each image; None takes the profile's value [36..]

# %% tags=["hide-cell"]
from collections import Counter

import matplotlib.pyplot as plt

from papers.he import boundary, experiments, figures, summaries
from report import display
from report.cell import Cell
from report.page import start
from report.prose import mean, share
from shared.attacks.region import Region
from shared.susceptibility import percentage

NAMES = {kind: figures.KINDS[kind] for kind in figures.COLOURS}
page = start("he/d_imagenet", globals())

# %%
scale = page.scale(**experiments.IMAGENET_SCALE)
examples, classifiers, noises = map(page.results, (
    experiments.imagenet_examples, experiments.imagenet_classifiers, experiments.imagenet_noise))

# %% [markdown]
# ## The idea
#
# Appendix D repeats the attacks of {ref}`Section 3 <he-3>` on photographs of 224 by 224 pixels and a thousand classes. The paper reports that
# OptMargin defeats the vote over noisy copies there, too (accuracy 16%), and that the classifier of {ref}`Section 5 <he-5>` still detects it.
#
# OptMargin looks for an image that is misclassified together with 19 noisy copies. The vote draws other noise. In a space of many dimensions,
# an image can fit the 19 vectors of the attack without withstanding others: the attack *overfits* its noise. This page measures how far it does.
#
# The paper's network is Inception-ResNet; ours is SqueezeNet 1.1, a far smaller one, with its published weights. The images are the first of a set
# with one image a class (the paper's are a private subset). Whether the network was trained on them is not known.
#
# ## Step by step: noise that the attack used, and new noise
#
# Change the norm or the numbers of noise vectors, and run the cell again.

# %% tags=["show-input"]
import torch

from papers.small_network import small_network
from shared.attacks.optimised import OptMargin

NORM, MODELS, FRESH = 0.2, (2, 3, 5, 10, 20), 500
network, image = small_network(seed=4, hidden=12, classes=5, spread=1 / 3)     # random weights, 6 x 6 pixels
label = network(image).argmax(1)
fresh = torch.randn(FRESH, *image.shape[1:], generator=torch.Generator().manual_seed(3))
fresh *= NORM / fresh.square().mean((1, 2, 3), keepdim=True).sqrt()

shares = {}
for models in MODELS:
    # 1. The nearest image that is misclassified with each of the attack's own noise vectors.
    attack = OptMargin(rate=0.05, c=1.0, searches=1, iterations=100, noise=NORM, members=models, stop="never")
    example = attack(network, image, label, generator=torch.Generator().manual_seed(2)).x_adv
    own = attack.noises(image.shape[1:], torch.Generator().manual_seed(2))
    # 2. How many noisy copies are misclassified: with these vectors, and with new ones of the same norm.
    shares[models] = [(network(example + noise).argmax(1) != label).float().mean().item()
                      for noise in (own, fresh)]

# %%
figure, ax = plt.subplots(figsize=(5.6, 2.6))
for name, values, marker in zip(("the attack's noise", "new noise"), zip(*shares.values()), display.MARKERS):
    ax.plot(range(len(MODELS)), [100 * value for value in values], marker, label=name)
ax.set_xticks(range(len(MODELS)), MODELS)
ax.set(xlabel="copies that the attack must fool (the image itself among them)",
       ylabel="copies misclassified, %", ylim=(0, 105))
ax.legend(loc="lower right")
display.picture(figure, "Attacks on one image of a random network, under their own and under new noise.",
                "Dots: all copies with the attack's noise are misclassified, fewer with new noise.")
assert all(used == 1 for used, _ in shares.values()), "an attack found no example with these settings"

# %% [markdown]
# ## What came out
#
# ### The vote is right on most OptMargin images, unlike in the paper
#
# Published values stand beside ours in the box at the top, but are not compared: ours come from another network. *Region classification* takes a
# majority vote over noisy copies of the image; accuracies are of all images.

# %%
PRINTED = {row["attack"]: row["region_accuracy_pct"] for row in figures.PAPER["table-5"].rows}
VOTE = ("the vote is correct on {benign.hits} of {benign.of} benign images ({benign.percent:%}; 95% interval "
        "{benign.low} to {benign.high:%}; paper: {benign.paper:%}) and on {margin.hits} of the same "
        "{margin.of} after OptMargin ({margin.percent:%}; 95% interval {margin.low} to {margin.high:%}; "
        "paper: "
        "{margin.paper:%}).")


def votes(runs):
    """Facts: accuracy of region classification by kind, and which attack lowers it most; {} of fewer."""
    rows = figures.examples(runs, "region")
    if not set(NAMES) <= {*rows.kind}:
        return {}
    facts = {kind: percentage(int(of_kind.region.sum()), len(of_kind)) | {"paper": PRINTED[NAMES[kind]]}
             for kind in NAMES for of_kind in [rows[rows.kind == kind]]}
    lowest = min(facts, key=lambda kind: facts[kind]["percent"])
    return facts | {"attacked": int(rows.correct[rows.kind == "benign"].sum()), "lowest": NAMES[lowest],
                    "least": facts[lowest], "theirs": min(PRINTED, key=PRINTED.get)}

page.text(examples, votes,
        f"Here {VOTE} OptMargin attacked the {{attacked}} images that the network classifies correctly. The "
        "attack that lowers the accuracy of the vote most is {lowest} here, from {benign.percent:%} to "
        "{least.percent:%} (paper: {benign.paper:%} to {least.paper:%}), and {theirs} in the paper.",
        nothing="Not all kinds of example are measured yet.")


# %% [markdown]
# ### New noise undoes much of what the attack's own noise achieves
#
# The table gives the mean share of misclassified copies of OptMargin's examples.

# %%
def fitted(noises, examples):
    """Facts: how far the examples' success under their own noise carries over to other noise; {} of none."""
    misread = figures.misread_under_noise(noises)
    if misread["own"] is None:
        return {}
    rows = page.unnest(noises, "counts", "others")
    shares = 100 * rows.others[rows.counts]
    return misread | {"noises": noises.noises.max(), "low": shares.min(), "high": shares.max(),
                    "blocks": len(noises), "attacked": (examples.kind == "margin").sum(),
                    "fits": "overfits" if 2 * misread["others"] < misread["own"] else "does not overfit"}

page.extra("other-noises-imagenet", noises, lambda runs: [figures.misread_under_noise(runs)],
           "Misclassified noisy copies of OptMargin's examples, mean over images",
           header={"network": "network", "images": "images"} | figures.NOISES)
page.text((noises, examples), fitted,
        "Of the copies {own:%} are misclassified with the attack's own noise vectors and {others:%} with "
        "{noises} new vectors of the same norm for each image (from {low} to {high:%} over the n = {images} "
        "images, which are those of {blocks} of the {attacked} blocks that OptMargin attacked).",
        nothing="No OptMargin example has been measured under other noise.")

# %% [markdown]
# ## Where it differs, and why
#
# The examples overfit the noise vectors of the attack. Whether this explains the difference from the paper's 16% is not shown, since network,
# images and number of iterations differ as well.
#
# ## Three things to remember
#
# 1. An attack that must withstand some noise vectors need not withstand others.
# 2. A defence that draws new noise each time tests exactly this.
# 3. With another network, other images and a shorter attack, a difference from the paper says nothing about the paper.
#
# ## Try it
#
# 1. In the cell above, from how many copies on are nine of ten new ones misclassified, too?
# 2. `iterations=1000`, the paper's number: is the share of misclassified copies under new noise still far below that under the attack's own?

# %%
enough = next((models for models, (_, new) in shares.items() if new >= 0.9), None)
display.show(display.folded("Answers", (
    f"1. From {enough or 'more than these'} on with the settings above.\n"
    "2. Not known yet: nobody has run it for this book.")))

# %% [markdown]
# ## Item by item
#
# All settings stand in {download}`experiments.py <../../papers/he/experiments.py>`.
#
# ### Table 5: distortion, accuracy, and the boundary classifier
#
# *Point cls.* is the accuracy of the network and *region cls.* that of the vote, on all images. The distortion is the mean RMS norm of
# successful perturbations, for pixels from 0 to 1. The last two columns are the error rates of the boundary classifier.

# %%
PROXY = "proxy: SqueezeNet 1.1 in place of Inception-ResNet"
TOO_FEW = f"not measured: the classifier needs at least {experiments.LEAST} images"


def table_5(examples, classifiers=None):
    """A row a kind of example; distances over successful examples, accuracies over all images."""
    rows, table = figures.examples(examples, "point", "region"), []
    trained = {} if classifiers is None else {u.attack: u for u in classifiers.itertuples()}
    for kind, name in NAMES.items():
        of_kind, errors = rows[rows.kind == kind], boundary.errors(trained.get(kind))
        cells = {"distortion_rms": mean(of_kind.rms[of_kind.counts]),     # of benign images none counts
                 "point_accuracy_pct": share(of_kind.point), "region_accuracy_pct": share(of_kind.region),
                 "false_pos_pct": errors.get("benign", {}).get("percent"),
                 "false_neg_pct": errors.get(kind, {}).get("percent") if kind != "benign" else None}
        table.append({"attack": name})
        for column, value in cells.items():
            none = TOO_FEW if column.startswith("false") and kind not in trained else figures.NOT_MEASURED
            table[-1][column] = Cell(value, status=none if value is None else PROXY)
    return table


both = (examples,)
if classifiers.recorded or classifiers.own and not examples.recorded:
    both = (examples, classifiers)
page.table("table-5", both, table_5)

# %% [markdown]
# ### Figure 8: boundary distances around one image
#
# Each dot below an image is one direction. Its height is the distance to the boundary and its colour the class beyond. The upper panels
# show the root mean square, the lower ones the largest change of a value (pixels from 0 to 1). The black line marks the noise of region
# classification: in the upper panels its expected root mean square before clipping, in the lower ones its largest change. A row of dots at
# the bottom means that the boundary lies within the first step of the line search.

# %%
RADIUS = 0.02
BLACK = Region(RADIUS).expected_rms, RADIUS     # the black lines, RMS and L∞


def firsts(runs):
    """`{kind: run}` of the first images, the run of a block as a dict."""
    return {u["kind"]: u for u in runs[runs.block == 0].to_dict("records")}


def draw_one(runs):
    """The image and its examples; below them the line searches in both norms, a colour an adjacent class."""
    first = firsts(runs)
    searches = {kind: u["one"] for kind, u in first.items() if u["one"]}
    figure, axes = plt.subplots(3 if searches else 1, 4, figsize=(10, 7 if searches else 2.8), squeeze=False)
    classes = Counter(c for one in searches.values() for c in one["adjacent"].tolist())
    colours = {c: display.PALETTE[n % 10] for n, (c, _) in enumerate(classes.most_common())}
    for column, (kind, name) in zip(axes.T, NAMES.items()):
        if kind in first:
            display.image_grid(column[:1], first[kind]["pictures"][:1])
        column[0].set_title(name)
        for ax, key, norm, line in zip(column[1:], ("distance", "linf"), ("RMS", "L∞"), BLACK):
            ax.set(xticks=[], ylabel=f"{norm} distance" if kind == "benign" else "")
            if one := searches.get(kind):
                boundary.draw_directions(ax, one[key], one["adjacent"], line, colours)
            else:
                ax.text(0.5, 0.5, "no example", transform=ax.transAxes, ha="center")
    for row in axes[1:]:
        top = max(ax.get_ylim()[1] for ax in row if ax.collections)
        for ax in row:
            ax.set_ylim(0, top)
    return figure


def one_data(runs):
    """Of each kind: whether its picture and searches are there, and the share that regions restore."""
    first, rows = firsts(runs), figures.examples(runs, "region")
    return {kind: {"picture": kind in first and len(first[kind]["pictures"]) > 0,
                   "walks": kind in first and bool(first[kind]["one"]), "restored": share(of_kind.region)}
            for kind, of_kind in rows.groupby("kind", observed=True)}

page.figure("figure-8", examples, draw_one, data=one_data,
            alt="Four columns: an image and three attacks; below each its boundary distances in two norms.",
            status=PROXY)


# %% [markdown]
# ### Figure 9: boundary distances and purity of all images
#
# The figure shows, for each image, the nearest boundary distance and the median over directions, sorted by size. The *top-k purity* is the
# fraction of directions whose first new class is among the $k$ most frequent ones.

# %%
def surveys(runs):
    """`{kind: a row an image that counts}`: boundary distances in both norms, and purities."""
    rows = page.unnest(runs, "least", "median", "least_linf", "median_linf", "purity")
    return dict(tuple(rows.groupby("kind", sort=False)))


def draw_all(runs):
    """Nearest and median distances in both norms, and the mean purity; None where no image counts."""
    together = surveys(runs)
    if not together:
        return None
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.4))
    for row, tail, line, norm in zip(axes, ("", "_linf"), BLACK, ("RMS", "L∞")):
        for ax, (statistic, name) in zip(row, boundary.STATISTICS.items()):
            boundary.draw_sorted(ax, {kind: f[statistic + tail] for kind, f in together.items()}, line)
            ax.set(title=name, xlabel="images, sorted", ylabel=f"{norm} distance")
    for kind, f in together.items():
        values = figures.mean_purity(f)
        boundary.curve(axes[0, 2], kind, range(1, len(values) + 1), values, ".")
    axes[0, 2].set(title="purity", xlabel="k", ylabel="purity of the top k", xticks=range(1, 11, 3))
    axes[1, 2].set_axis_off()
    axes[1, 2].legend(*axes[0, 2].get_legend_handles_labels(), loc="center")
    return figure


def all_data(runs):
    """Medians over images, and the mean purity of the commonest class, of each kind."""
    none = dict.fromkeys(("median", "least", "images", "purity", "step"))
    return dict.fromkeys(NAMES, none) | {
        kind: {"median": images["median"].median(), "least": images.least.median(), "images": len(images),
               "purity": next(iter(figures.mean_purity(images)), None), "step": float(runs.step.max())}
        for kind, images in surveys(runs).items()}

page.figure("figure-9", examples, draw_all, data=all_data,
            alt="Nearest and median distances of sorted images in two norms, a curve a kind; purity over k.",
            status=PROXY)

# %% [markdown]
# ### Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | network | SqueezeNet 1.1 | the paper's Inception-ResNet is far larger, and its weights were published for Tensorflow |
# | images | the first of a thousand, one of each class | the paper's are a private subset |
# | boundary classifier | batches of 350; the two classes are weighted by their share of the images used | the authors' code |
# | learning rate of the boundary classifier | 0.001 for every attack | the authors' code notes 0.0001 for the two attacks by optimisation |
# | images that the boundary classifier needs | at least 150 (our choice) | with fewer it is not trained, and its columns of Table 5 stay empty |
# | step of the line search | 0.01 up to 0.49 | the authors' code |
# | settings of OptBrittle | the same as OptMargin's | as in the authors' code |
# | directions and iterations | fewer than published | an image costs minutes on a processor |

# %%
best, under_noise = page.best(examples), page.best(noises)
facts = votes(best) | fitted(under_noise, best) if len(best) and len(under_noise) else {}
shorter = len(best) and best.iterations[best.kind == "margin"].max() < page.full.iterations
overfits = facts.get("own") == 100 and facts["fits"] == "overfits"
page.box(
    "On photographs, does an attack built to withstand noise defeat a vote over noisy copies?",
    "We could not test this: our network is far smaller than the paper's"
    + (", our attack shorter." if shorter else "."),
    ("All noisy copies that our attack used are misclassified, but only {others:.0f}% of new ones ({images} "
     "images tested). " if overfits else "Of the noisy copies that our attack used, {own:.0f}% are "
     "misclassified, of new ones {others:.0f}% ({images} images tested). ")
    + "The vote is right on {margin.hits} of {margin.of} attacked images (paper: {margin.paper}%) and on "
      "{benign.hits} of {benign.of} clean ones.",
    facts=facts,
    picture=summaries.draw_copies(best, under_noise) if {"own", "margin"} <= facts.keys() else None,
    alt="Left, the share of noisy copies that are misclassified, with the noise of the attack and with new "
        "noise; right, accuracy of the vote on clean and on attacked images, with the published values.")

# %%
page.finish()
