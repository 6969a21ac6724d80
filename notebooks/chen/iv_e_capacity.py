# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-6
#     - table-7
#     - figure-10
#     - table-8
#     - table-9
#     - figure-11
#     needs:
#     - chen/iv_c_benchmark
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
# (chen-iv-e)=
# # IV.E Width, depth, pooling and dropout: attack success beside ROBY
#
# *Chen et al. {cite:p}`chen2020`, Section IV.E*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks of a small run
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale the page on Section IV.C computes the networks

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt

from papers.chen import capacity, experiments, figures, pictures, ranking
from report import display, prose, registry
from report.page import start

page = start("chen/iv_e_capacity", globals())
PUBLISHED = {row["model"]: row for item in ("table-6", "table-7") for row in experiments.PAPER[item].rows}
CNNS = experiments.PAPER["table-9"].rows      # of the four CNNs

# %% [markdown]
# ## The idea
#
# A network's *capacity* grows with its width (neurons a layer) and its depth (layers). A network with little capacity can only draw a simple
# boundary, which passes close to some points; a larger one has room for a boundary that keeps away from all.
#
# The paper's third question is whether {ref}`ROBY <chen-iii>` follows robustness as capacity changes. It trains nine fully connected networks
# (FCN) on MNIST, and four small convolutional networks (CNN), with and without pooling and dropout, on three data sets. More capacity is claimed
# to give a smaller attack success and a smaller ROBY.

# %%
points, labels = pictures.rings()
networks = {f"{hidden} neurons a layer": pictures.fitted(points, labels, hidden=hidden) for hidden in (4, 30)}
display.picture(pictures.draw_planes(networks, points, labels), "Two networks that have learned the same "
                "points of a plane. Colours behind the points: the predicted class",
                "Two panels; left a simple boundary, right one that fits.")

# %% [markdown]
# ## Step by step: three widths, three trainings each
#
# Small networks learn digits of 64 pixels. Change the widths, the depth or the seeds.

# %% tags=["show-input"]
import torch
from sklearn.datasets import load_digits
from torch import nn

from shared import roby
from shared.attacks.gradient import PGD
from shared.attacks.threat import Linf

WIDTHS, LAYERS, SEEDS = (8, 32, 128), 2, (0, 1, 2)
digits = load_digits()
x, y = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None], torch.tensor(digits.target)
x_test, y_test = x[1000:], y[1000:]
attack = PGD(Linf(0.1), steps=10, step=0.02)


def fully_connected(neurons):
    """Equally wide hidden layers."""
    layers, last = [nn.Flatten()], 64
    for _ in range(LAYERS):
        layers += [nn.Linear(last, neurons), nn.ReLU()]
        last = neurons
    return nn.Sequential(*layers, nn.Linear(last, 10))


def train(neurons, seed):
    torch.manual_seed(seed)
    network = fully_connected(neurons)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(100):
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(x[:1000]), y[:1000]).backward()
        optimiser.step()
    return network


trained = {(neurons, seed): train(neurons, seed) for neurons in WIDTHS for seed in SEEDS}
success, scores = {}, {}
for key, network in trained.items():
    result = attack(network, x_test, y_test, generator=0)
    success[key] = 100 * result.success[result.was_correct].float().mean().item()
    scores[key] = roby.measure(network, x_test, y_test).roby

# %%
for neurons in WIDTHS:      # the experiment's networks, with fewer neurons and smaller images
    built = registry.build("chen-fcn", generator=torch.Generator().manual_seed(0), channels=1, size=8,
                           layers=LAYERS, neurons=neurons)
    shapes = [[p.shape for p in net.parameters()] for net in (built, trained[neurons, SEEDS[0]])]
    assert shapes[0] == shapes[1], "another network than the experiment's"
figure, axes = plt.subplots(1, 2, figsize=(6.2, 2.4))
for ax, values, words in ((axes[0], success, "label flipped, %"), (axes[1], scores, "ROBY")):
    ax.plot([WIDTHS.index(neurons) for neurons, _ in values], values.values(), "o", color=display.PALETTE[0])
    ax.set(xticks=range(len(WIDTHS)), xticklabels=WIDTHS, xlabel="neurons a layer", ylabel=words)
display.picture(figure, f"Attack success (ε = 0.1) and ROBY of {len(trained)} networks, a dot a training",
                "Left, dots fall with the width; right, the dots of one width spread as far as all.")

# %% [markdown]
# The layers are those of the experiment's networks ({download}`models.py <../../papers/chen/models.py>`), with fewer neurons and smaller images.
#
# ## What came out

# %%
scale = page.scale(**experiments.CAPACITY)
dense = page.results(experiments.dense).only(figures.printed)
convolutional = page.results(experiments.convolutional).only(figures.printed)
dense_again, convolutional_again = (page.results(kind, optional=True) for kind in (
    experiments.dense_retrained, experiments.convolutional_retrained))
page.text(dense, capacity.lengths,
          "{networks} of {all} fully connected networks are compared, one training each: {lengths}. Their "
          "test accuracy is {accuracy}.")

# %% [markdown]
# ### At every width the paper's attack flips nearly all labels
#
# FCN-1 to FCN-6 have two layers of 100 to 4,000 neurons, FCN-7 to FCN-9 three to five layers of 4,000. The weaker attack has a third of ε and half of
# the steps.

# %%
page.picture(dense, lambda runs: ranking.draw_success(
    capacity.compared(runs), {"text": "the paper's attack", "third": "a third of its strength"},
    paper={model: 100 * row["asr"] for model, row in PUBLISHED.items()}),
    caption="MNIST: images whose label the attack flips, with 95% intervals over images",
    alt="A row a network: success of the paper's attack and of a weaker one, beside the published success.")
page.text(dense, capacity.lengths, "The paper's attack flips {text} of the labels of these networks, "
          "the weaker one {third}, most on {most} and fewest on {fewest}.")

# %% [markdown]
# ### Do ROBY and the unscaled overlap follow the success of the weaker attack?
#
# Each number is an FCN. *Unscaled overlap* is the mean overlap of two classes divided by
# the mean distance of their centres. ROBY rescales the overlaps inside each network from 0 to 1 instead.

# %%
page.picture(dense, capacity.draw_scores, caption=(
    "Attack success over ROBY and over the unscaled overlap of the fully connected networks"),
    alt="A numbered dot a network: attack success over ROBY and over the unscaled overlap.")
page.text(dense, capacity.ends,
          "From one width to the next the weaker attack flips fewer labels in {fewer} of {steps} steps, and "
          "ROBY is smaller in {falls}. Over {n} networks the attack's success has rank correlation "
          "{roby_2:.2f} with ROBY and {overlap_2:.2f} with the unscaled overlap. From {first.size} "
          "to {last.size} neurons the overlap goes from {first.overlap_2:.2f} to {last.overlap_2:.2f}, "
          "the median distance to the boundary from {first.near_random} to {last.near_random}.")

# %% [markdown]
# ### ROBY differs between trainings of one network, not only between sizes

# %%
page.picture((dense, dense_again), lambda runs, again: ranking.draw_spread(
    capacity.compared(runs), again, "sizes", {"MNIST": [row["roby"] for row in PUBLISHED.values()]}),
    caption="ROBY of one network trained several times, and of all sizes trained once (lines: 95% "
            "intervals over test images)",
    alt="Rows of dots: trainings of one network, all sizes trained once, the paper's sizes.")
page.text((dense, dense_again), capacity.retrained,
          "The standard deviation of ROBY is {seeds.sd:.3f} over {seeds.n} trainings of {model} (95% "
          "interval {seeds.low:.3f} to {seeds.high:.3f}) and {all.sd:.3f} over {all.n} sizes ({all.low:.3f} "
          "to {all.high:.3f}). {compared}.")

# %% [markdown]
# ### Four CNNs a data set are too few to show whether ROBY follows the attack

# %%
page.picture(convolutional, lambda runs: capacity.draw_cnns(runs, CNNS), caption=(
    "The four CNNs on three data sets: the paper's attack and ROBY, with 95% intervals over images"),
    alt="A row a network and data set: attack success and ROBY, ours beside the paper's.")
page.text(convolutional, capacity.of_four,
          "Rank correlation with the success of the weaker attack: ROBY {roby_2}; unscaled overlap "
          "{overlap_2}. Over {n} networks −1 or 1 occurs by chance with probability {chance:.2f}.")

# %% [markdown]
# ## Where it differs, and why
#
# - *The attack on CIFAR-10.* The paper gives ε = 1 and steps of 2, without pixel scale and number of steps. We take ε = 1/255 and 10 steps of ε/4.

# %%
page.text(dense, capacity.lengths,
          "- *Length of training.* The paper prints accuracies, not lengths. Ours are trained until held-out "
          "images reach the printed accuracy, for at most {longest} epochs (still below it: {unreached}). So "
          "lengths differ, and size need not be the cause of a difference.")
page.text(dense, capacity.lengths,
          "- *Not compared yet.* {short}: trained for less, whatever their accuracy (grey in the tables).")
page.text(convolutional, lambda runs: capacity.on_colour(runs, CNNS),
          "On CIFAR-10 our attack flips {text} of the correctly classified images (paper: {paper}). Steps of "
          "2/255 (the printed 2, with pixels up to 255) flip {code} within the same ε; an L2 ball of "
          "radius 0.5 gives {wide}. Whether the paper's ε is larger cannot be told: this says little of it.")

# %% [markdown]
# ## Three things to remember

# %%
page.text(dense, capacity.lessons)

# %% [markdown]
# ## Try it
#
# 1. In the cell above, `SEEDS = range(8)`: does the mean ROBY of a width differ from that of another?
# 2. `LAYERS = 4`: does attack success fall, as the paper claims for depth?
# 3. Let `scores[key]` be `roby.measure(network, x_test, y_test).overlap`. Does it fall with the width?

# %%
display.show(display.folded("Answers", (
    "1. Not clearly: the means rise with the width, by less than trainings of the smallest width differ.\n"
    "2. No: on these small networks it rises, most of all for the middle width.\n"
    "3. Not steadily: the overlap is largest at the middle width and smallest at the largest.")))

# %% [markdown]
# ## Item by item
#
# ### Figure 10: attack success and ROBY over width and depth

# %%
page.figure("figure-10", dense, capacity.draw_sides, data=figures.with_lengths(capacity.figure_10),
            alt="Attack success of two attacks and ROBY over the number of neurons and of layers.")
COLUMNS = {"asr_text": "flipped, %", "asr_third": "flipped at a third of the strength, %",
           "near_random": "boundary distance (root mean square a pixel)", "roby_2": "ROBY",
           "roby_low": "ROBY, 2.5%", "roby_high": "ROBY, 97.5%", "overlap_2": "unscaled overlap"}
page.extra("dense-networks", dense, lambda runs: figures.network_rows(runs, COLUMNS),
           "Attack success and measures of the fully connected networks; ROBY with its 95% interval over "
           "resampled test images, boundary distances as medians in random directions",
           header=figures.NETWORK | COLUMNS, fold="All measures of each network")

# %% [markdown]
# ### Table VI: number of neurons
# ### Table VII: number of layers

# %% mystnb={"code_prompt_hide": "Hide Tables VI and VII: {type}", "code_prompt_show": "Show Tables VI and VII: {type}"} tags=["hide-output"]
for item, asked in (("table-6", figures.WIDER), ("table-7", figures.DEEPER)):
    page.table(item, (figures.those(dense, asked), dense_again), figures.with_lengths(
        figures.with_retraining(capacity.table_rows)), hidden=figures.LENGTHS)

# %% [markdown]
# ### Table IX: attack success and ROBY of the four CNNs
# Rows stand in the paper's order, by published attack success.

# %% mystnb={"code_prompt_hide": "Hide Table IX: {type}", "code_prompt_show": "Show Table IX: {type}"} tags=["hide-output"]
page.table("table-9", (convolutional, convolutional_again), figures.with_lengths(
    figures.with_retraining(capacity.table_rows)), hidden=figures.LENGTHS)

# %% [markdown]
# ### Figure 11: attack success and ROBY of the four CNNs

# %%
page.figure("figure-11", convolutional,
            lambda runs: figures.draw_networks(figures.networks(runs), capacity.LINES, sort="asr_third"),
            data=capacity.figure_11,
            alt="For each measured data set, attack success of two attacks and ROBY of the four networks.")

# %% [markdown]
# ### Table VIII: layers of the four CNNs
# We built the four networks from this table, so their layers agree by construction.

# %%
page.table("table-8", (), capacity.table_8)

# %% [markdown]
# ### Choices that the paper leaves open
#
# :::{dropdown} Choices of this page
#
# | choice | ours | reason |
# |---|---|---|
# | neurons | of each hidden layer | the text says that each layer has a number of neurons |
# | layers | hidden layers, without the output | not stated |
# | sizes of the CNNs | two 5×5 convolutions of 32 and 64 channels, 1,024 dense neurons | unpublished; those of a common MNIST network |
# | “more robust” | a smaller attack success | the text names no measure |
# | without pooling | convolutions of stride 2 | the dense layer keeps its size |
# | training | Adam, batches of 50, the same images for all networks of a data set | {ref}`Section IV.C <chen-iv-c-tables>` |
# | length of training | the first of 1, 2, 4, 8, 16 epochs that reaches the published accuracy on held-out images | the paper prints accuracies, and no length |
#
# :::

# %%
best = page.best(dense, dense_again)
facts = capacity.box_facts(*best, PUBLISHED)
page.box(
    "Do wider networks resist attacks better, and does the ROBY score show it?",
    prose.first(facts, ("unclear", "Not shown: the widest resists a weaker attack best, but is clearly apart "
                                   "from only {apart} of {steps} narrower ones; ROBY {falling}."),
                ("resists", "Against a weaker attack the widest resists best; ROBY {falling}."),
                "Not clearly in our networks: the weaker attack flips fewer labels of a narrower one.")
    if facts else "We cannot tell yet: the widest network is not trained like the others.",
    "At a third of the paper's strength the attack flips {flipped.first:.0f}% of labels at {first.size} "
    "neurons a layer, {flipped.last:.0f}% at {last.size}; at full strength {text} (paper: {printed}).",
    "ROBY goes from {first.roby_2:.2f} to {last.roby_2:.2f} (paper: {paper.first.roby:.2f} to "
    "{paper.last.roby:.2f}); {seeds} trainings of the narrowest have {seeds_low:.2f} to {seeds_high:.2f}.",
    facts=facts, results=[dense], picture=capacity.draw_sizes(*best, PUBLISHED) if facts else None,
    alt="ROBY of each network beside the published values; small dots for trainings of the narrowest.")

# %%
page.finish()
