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
units: str = "missing"  # the networks at full scale are those of Section IV.C

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
from torch import nn

from shared.models import chen as recipes
from shared.models import registry
from shared.pages import chen, display, ranking
from shared.pages.start import start
from shared.records import prose

run = start("chen/iv_e_capacity", globals())

# %% [markdown]
# ## What the paper claims, and how it is tested
#
# The paper's third question is whether ROBY follows robustness when the *capacity* of a network changes. It trains fully connected
# networks (FCN) of growing width and depth on MNIST, and four small convolutional networks (CNN), with and without pooling and dropout,
# on three data sets. More capacity is claimed to give a smaller attack success rate (ASR) and a smaller ROBY.
#
# The networks, the attack and the measures are those of {ref}`Section IV.C <chen-iv-c>`: ASR is the success of the text's PGD (L∞) on
# correctly classified images, ROBY has the L2 form. Our networks are trained for fewer epochs on fewer images; the tables state how many.

# %%
scale = run.scale(**chen.small("fcn-1", "fcn-2", "cnn-2"))
dense = chen.lent(run, "dense")
convolutional = chen.lent(run, "convolutional")
WIDER, DEEPER = ([row["model"] for row in chen.PAPER[item].rows] for item in ("table-6", "table-7"))


# %%
def printed(asked):
    """Units -> rows of Tables VI, VII and IX: the networks `asked`."""
    def rows(units):
        found = chen.networks(units).rename(columns={"asr_text": "asr", "roby_2": "roby"})
        mine = found[found.model.isin(asked)] if len(found) else found
        return mine[["dataset", "model", "acc", "asr", "roby"]] if len(mine) else mine
    return rows


def falls(asked, words):
    """The claim that attack success and ROBY fall from each of the networks `asked` to the next."""
    def steps(rows):
        there = rows.set_index("model")[["asr", "roby"]].astype(float) if len(rows) else rows
        if len(there) == len(asked):
            return {words: dict(there.reindex(asked).diff().max())}
        told = "; ".join(f"{name}: attack success {100 * asr:.4g}%, ROBY {value:.3f}"
                         for name, asr, value in there.itertuples())
        return {words: {"status": told or ranking.FEWER.format(asked=len(asked)), "asr": None, "roby": None}}

    return ranking.with_status("networks", "asr < 0 and roby < 0", view=steps,
                               says="{networks}: from one to the next, attack success changes by at most "
                                    "{asr} and ROBY by at most {roby}; the claim needs both below 0")


# %% [markdown]
# ## Table VI: number of neurons
#
# Two hidden layers of 100 to 4,000 neurons each.

# %%
run.table("table-6", chen.only(dense, WIDER), printed(WIDER), claims={
    "about 97%": chen.accuracies, "More neurons": falls(WIDER, "wider networks")})

# %% [markdown]
# ## Table VII: number of layers
#
# Two to five hidden layers of 4,000 neurons each.

# %%
run.table("table-7", chen.only(dense, DEEPER), printed(DEEPER), claims={
    "about 96%": chen.accuracies, "More layers": falls(DEEPER, "deeper networks")})

# %% [markdown]
# ## Figure 10: attack success and ROBY over width and depth

# %%
LINES = {"asr_text": "ASR, PGD as in the text", "asr_third": "ASR at a third of ε", "roby_2": "ROBY, L2"}
SIDES = {"neurons": (WIDER, "neurons in each of two layers", range(0, 4001, 1000)),
         "layers": (DEEPER, "layers of 4,000 neurons", range(2, 6))}


def capacity(units, side):
    """Networks of one panel of Figure 10, with their number of neurons or layers; None without any."""
    rows = chen.networks(units)
    mine = rows[rows.model.isin(SIDES[side][0])] if len(rows) else rows
    return mine.assign(size=[recipes.FCNS[model][side] for model in mine.model]).sort_values("size") \
        if len(mine) else None


def draw_capacity(units):
    """Attack success and ROBY over the number of neurons and of layers."""
    figure, axes = plt.subplots(1, 2, figsize=(display.WIDEST, 3.2), sharey=True)
    for ax, (side, (_, label, _)) in zip(axes, SIDES.items()):
        mine = capacity(units, side)
        for n, (name, words) in enumerate(LINES.items() if mine is not None else ()):
            ax.plot(mine["size"], mine[name], display.LINES[n], marker=display.MARKERS[n], label=words,
                    color=display.PALETTE[n])
        if mine is None:
            ax.text(0.5, 0.5, "not measured yet", ha="center", transform=ax.transAxes)
        ax.set(xlabel=label, ylim=(-0.03, 1.05), xticks=[] if mine is None else SIDES[side][2])
    axes[0].set_ylabel("rate or ROBY")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def figure_10(units):
    """Networks in each panel, and rank correlations of the size with attack success and ROBY."""
    found = {}
    for side, (asked, *_) in SIDES.items():
        mine = capacity(units, side)
        whole = mine is not None and len(mine) == len(asked)
        found[side] = {"networks": 0 if mine is None else len(mine), **{
            name: ranking.agreement(mine["size"], mine[name])["spearman"] if whole else None
            for name in ("asr_text", "asr_third", "roby_2", "overlap_2", "near_random")}}
    return found


def both(data):
    """Rank correlations of each panel, that with attack success in words where it has none."""
    def named(found, asked):
        whole, rate = found["networks"] == len(asked), found["asr_text"]
        return found | {"told": "undefined (the same on all networks)" if rate is None else rate,
                        "status": None if whole else ranking.FEWER.format(asked=len(asked))}

    return {side: named(found, SIDES[side][0]) for side, found in data.items()}


SHRINK = ranking.with_status(
    "panel", "asr_text < 0 and roby_2 < 0", view=both, says="{panel}: rank correlations with the size are "
    "{told} for attack success and {roby_2} for ROBY")
run.figure("figure-10", dense, draw_capacity, data=figure_10,
           alt="Attack success of two attacks and ROBY over the number of neurons and of layers.",
           contains={"FCN-1": lambda d: d["neurons"]["networks"] == len(WIDER),
                     "FCN-9": lambda d: d["layers"]["networks"] == len(DEEPER)},
           claims={"both fall": lambda data: SHRINK(data)})    # a small run has too few networks
run.extra("capacity", dense, lambda units: [{"over": side, **row} for side, row in figure_10(units).items()],
          "Spearman's rank correlation with the number of neurons or layers; a value is given once all "
          "networks of the published table are there", header={
              "over": "over the number of", "networks": "networks", "asr_text": "ASR, text",
              "asr_third": "ASR at ε/3", "roby_2": "ROBY, L2", "overlap_2": "overlap, not scaled",
              "near_random": "boundary distance"})

# %% [markdown]
# ## Table VIII: layers of the four CNNs
#
# The networks are built and their layers are counted.

# %%
KINDS = {"conv": nn.Conv2d, "pool": nn.MaxPool2d, "dropout": nn.Dropout, "fc": nn.Linear}


def table_8():
    """A row a CNN: which kinds of layers it has."""
    built = {name: list(registry.build("chen-cnn", channels=1, size=28, **options).modules())
             for name, options in recipes.CNNS.items()}
    return [{"model": name, **{kind: any(isinstance(m, of) for m in modules) for kind, of in KINDS.items()}}
            for name, modules in built.items()]


def only_pooling_and_dropout(rows):
    """Whether all have convolutions and dense layers, and no two the same pooling and dropout."""
    holds = bool(rows.conv.all() and rows.fc.all() and not rows[["pool", "dropout"]].duplicated().any())
    return holds, f"{len(rows)} networks, with each combination of pooling and dropout" if holds else "not so"


run.table("table-8", (), table_8, claims={"pooling and dropout only": only_pooling_and_dropout})

# %% [markdown]
# ## Table IX: attack success and ROBY of the four CNNs

# %%
CNNS = sorted({row["model"] for row in chen.PAPER["table-9"].rows})


def of_cnns(rows):
    """Data sets with their four networks: attack success by network, and coefficients; None of fewer."""
    made, there = {}, chen.complete(rows, len(CNNS))
    ranks = ranking.coefficients(rows, {"spearman": ("asr", "roby")}, asked=len(CNNS), kind="spearman")
    pearson = ranking.coefficients(rows, {"pearson": ("asr", "roby")}, asked=len(CNNS))
    for data in chen.DATASETS.values():
        mine = there[data].set_index("model") if data in there else None
        made[data] = ranks[data] | pearson[data] | {
            name.replace("-", "").lower(): None if mine is None else 100 * float(mine.asr[name])
            for name in CNNS}
    return made


def similar(rows):
    """Rank correlations of the attack success between data sets."""
    there = [(data, mine.set_index("model").asr[CNNS])
             for data, mine in chen.complete(rows, len(CNNS)).items()]
    found = {f"{a} and {b}": ranking.agreement(one, other)
             for n, (a, one) in enumerate(there) for b, other in there[n + 1:]}
    told = "; ".join(f"{names}: Spearman {value['spearman']:.2f}" for names, value in found.items()
                     if value["spearman"] is not None)
    without = ("of any two data sets one has the same attack success on all networks" if found
               else "too few data sets")
    return None, f"{told or without} (“similar” names no bound)"


run.table("table-9", convolutional, printed(CNNS), claims={
    "Accuracies of the four CNNs": chen.accuracies,
    "The lower the attack success": ranking.with_status(
        "dataset", "round(spearman, 6) == 1", view=of_cnns,
        says="{dataset}: Spearman's rank correlation is {spearman}"),
    "similar order": similar,
    "without dropout": ranking.with_status(
        "dataset", "cnn3 < cnn1 and cnn4 < cnn2", view=of_cnns, reads="“more robust” is read as a smaller "
        "attack success", says="{dataset}: attack success {cnn3:%} without and {cnn1:%} with dropout if "
                               "there is pooling, {cnn4:%} and {cnn2:%} if not")})

# %% [markdown]
# ## Figure 11: attack success and ROBY of the four CNNs

# %%
SHOWN = ("status", "pearson", "pearson_status")


def figure_11(units):
    """Panels, networks, and Pearson's correlation of attack success and ROBY in each data set."""
    rows = printed(CNNS)(units)
    return {"panels": len({*rows.get("dataset", ())}), "networks": len(rows),
            "pearson": {data: {key: value for key, value in found.items() if key in SHOWN}
                        for data, found in of_cnns(rows).items()}}


def linear(data):
    """The claim that ROBY is linear in attack success; “linear” names no bound."""
    _, told = ranking.with_status("dataset", "pearson < 2", view=lambda d: d["pearson"],
                                  says="{dataset}: Pearson's correlation is {pearson:.2f}")(data)
    return None, f"{told} (“linear” names no bound)"


run.figure("figure-11", convolutional,
           lambda units: chen.draw_networks(chen.networks(units), LINES, sort="asr_third"), data=figure_11,
           alt="For each data set, attack success of two attacks and ROBY of the four networks.",
           contains={"ASR and ROBY": lambda d: d["networks"] >= len(CNNS),
                     "panels per dataset": lambda d: d["panels"] == 3}, claims={"relate linearly": linear})

# %% [markdown]
# ## Where it differs: an attack that does not succeed everywhere
#
# If the attack flips every image of every network, its success ranks nothing. The tables add the success at a third of ε, the median
# distance to the boundary in random directions (RMS; larger for a more robust network), the ends of ROBY's 95% interval over resampled
# test images, and the overlap without the scaling inside each network, which may be negative.

# %%
COLUMNS = {"asr_text": "ASR, text, %", "asr_third": "ASR at ε/3, %", "near_random": "boundary distance",
           "roby_2": "ROBY", "roby_low": "2.5%", "roby_high": "97.5%", "overlap_2": "overlap, not scaled"}
for kind, words in ((dense, "fully connected"), (convolutional, "convolutional")):
    run.extra(f"{kind.name}-networks", kind,
              lambda units: chen.named(units, COLUMNS, percent=("asr_text", "asr_third")),
              f"Attack success and measures of the {words} networks", header=chen.NAMED | COLUMNS)


def of_four(units):
    """A fact: the rank correlation of ROBY with the weaker attack's success over the CNNs, by data set."""
    rows = chen.networks(units)
    there = chen.complete(rows, len(CNNS)) if len(rows) else {}
    found = {data: ranking.agreement(mine.asr_third, mine.roby_2)["spearman"] for data, mine in there.items()}
    told = ", ".join(f"{rank:.2f} on {data}" for data, rank in found.items() if rank is not None)
    return told and {"told": told}


FOUR = ("Over the four CNNs the rank correlation of ROBY with attack success at a third of ε, which should "
        "be 1, is {told}.")
run.say(convolutional, of_four, FOUR)

PUBLISHED = {row["model"]: row for item in ("table-6", "table-7") for row in chen.PAPER[item].rows}
PERCENT = {"text": "asr_text", "third": "asr_third", "accuracy": "acc"}


def ends(units, side):
    """For sentences: the first and the last of the networks of a panel; {} of fewer than two."""
    mine = capacity(units, side)
    if mine is None or len(mine) < 2:
        return {}
    rows = {end: row | {name: 100 * row[column] for name, column in PERCENT.items()}
            for end, row in zip(("first", "last"), mine.iloc[[0, -1]].to_dict("records"))}
    return rows | {"networks": len(mine), "all": len(SIDES[side][0]), "paper": {
        end: {"asr": 100 * PUBLISHED[row["model"]]["asr"], "roby": PUBLISHED[row["model"]]["roby"]}
        for end, row in rows.items()}}


SENTENCE = (" (n = {networks} of {all} networks), the text's PGD flips {first.text:%} and {last.text:%} of "
            "the correctly classified digits (paper, same networks: {paper.first.asr:%} and "
            "{paper.last.asr:%}). PGD at a third of ε flips {first.third:%} and {last.third:%}. ROBY is "
            "{first.roby_2} (95% interval over test images {first.roby_low} to {first.roby_high}) and "
            "{last.roby_2} ({last.roby_low} to {last.roby_high}; paper: {paper.first.roby} and "
            "{paper.last.roby}).")
OVER = {"neurons": "With {first.size} and {last.size} neurons in each of two layers",
        "layers": "With {first.size} and {last.size} layers of 4,000 neurons"}
for side, begin in OVER.items():
    run.say(dense, lambda units, side=side: ends(units, side), begin + SENTENCE)


# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | neurons | of each hidden layer | the text says that each layer has a number of neurons |
# | layers | hidden layers, without the output | not stated |
# | sizes of the CNNs | two 5×5 convolutions of 32 and 64 channels, 1,024 dense neurons | unpublished; those of a common MNIST network |
# | without pooling | convolutions of stride 2 | the dense layer keeps its size |
# | training | Adam, batches of 50, the same parts for all | {ref}`Section IV.C <chen-iv-c>` |
#
# ## Exercises
#
# - `seed=1` in a quick run: another network; compare the change of ROBY with its interval over images.
# - `seed=2` as well: which of the differences between the networks is larger than that between two seeds?

# %%
def summary(units, cnns):
    """Facts for the box: the text's PGD over all networks, ends and rank correlations of both panels."""
    panels, rows = figure_10(units), chen.networks(units)
    if any(panels[side]["networks"] < len(asked) for side, (asked, *_) in SIDES.items()):
        return {}
    mine = {side: ends(units, side) | {"rank": panels[side]} for side in SIDES}
    return mine | {
        "networks": len(rows), "text": chen.between(100 * rows.asr_text),
        "paper": chen.between(100 * row["asr"] for row in PUBLISHED.values()),
        "four": prose.fill(" " + FOUR, found) if (found := of_four(cnns)) else "",
        **{part: dict(zip(("run", "published"), sizes))
           for part, sizes in next(iter(dense.recorded.values())).parts.items()}}


best = run.best(dense)
if len(best) and dense.recorded and (facts := summary(best, run.best(convolutional))):
    run.minute(prose.fill(
        "Do wider and deeper fully connected networks have a smaller ROBY (the overlap of the classes among"
        " the logits) and a smaller attack success, as the paper claims? PGD as in the text flips {text} of"
        " the correctly classified digits on each of our {networks} networks (paper: {paper}). From "
        "{neurons.first.size} to {neurons.last.size} neurons, its success at a third of its ε goes "
        "from {neurons.first.third:%} to {neurons.last.third:%} (rank correlation with the width "
        "{neurons.rank.asr_third:.2f}, n = {neurons.networks}) and ROBY from {neurons.first.roby_2} "
        "to {neurons.last.roby_2} ({neurons.rank.roby_2:.2f}; paper: {neurons.paper.first.roby} to "
        "{neurons.paper.last.roby}); of the overlap before ROBY scales it inside each network the "
        "correlation is {neurons.rank.overlap_2:.2f}. With the number of layers (n = {layers.networks}), "
        "the correlations are {layers.rank.asr_third:.2f} for attack success and {layers.rank.roby_2:.2f} "
        "for ROBY.{four} Each network was trained once, for {epochs.run} of {epochs.published} epochs on "
        "{images_train.run} of {images_train.published} images.", facts),
        picture=draw_capacity(best), sets=[dense, convolutional],
        alt="Attack success of two attacks and ROBY over the number of neurons and of layers.")

# %%
run.stamp()
