# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-5
#     - figure-5
#     - figure-6
#     - figure-7
#     - figure-8
#     - figure-9
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
# (chen-iv-d)=
# # IV.D ROBY of natural and adversarially trained networks
#
# *Chen et al. {cite:p}`chen2020`, Section IV.D*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks of a small run
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # the networks at full scale are those of Section IV.C

# %% tags=["hide-cell"]
import pandas as pd

from shared.pages import chen
from shared.pages.start import start
from shared.records import prose
from shared.records.every import every

run = start("chen/iv_d_defence", globals())

# %% [markdown]
# ## What the paper claims, and how it is tested
#
# The paper's second question is whether ROBY notices a defence. *Adversarial training* {cite:p}`madry2018` trains on clean and
# adversarial images alike; the paper calls the result a *robust model*, and a network trained on clean images a *natural
# model*. A robust model is claimed to have a smaller ROBY than the natural one, on clean images, and still more so on adversarial images.
#
# Each pair has one architecture and one data set ({ref}`Section IV.C <chen-iv-c>`). Half of each training batch of a robust model is
# adversarial, as in the text. Adversarial images are those of the text's PGD, made against the network that they are measured on.

# %%
scale = run.scale(**chen.small("lenet"))
natural = chen.lent(run, "natural")
robust = chen.lent(run, "robust")
BOTH = natural, robust
SAMPLES = {"original": "clean images", "adversarial": "adversarial images"}


# %%
def pairs(*frames):
    """A row a network of which there is a natural or a robust model, as Table V prints them."""
    rows = {}
    for kind, units in zip(("natural", "robust"), frames):
        for u in units.to_dict("records"):
            where = {"original": u["classes_test"], "adversarial": u["attacks"]["text"]["classes"]}
            row = rows.setdefault((u["dataset"], u["model"]), {
                "dataset": chen.DATASETS[u["dataset"]], "model": chen.SPELT[u["model"]]})
            for samples, classes in where.items():
                found = chen.metrics(classes)
                row |= {f"{name}_{samples}_{kind}": found[f"{name}_2"] for name in ("roby", "overlap")}
            row |= {f"asr_{kind}": chen.success(u, "text"), f"acc_{kind}": u["test_accuracy"]}
    columns = [f"roby_{samples}_{kind}" for samples in SAMPLES for kind in ("natural", "robust")]
    return [dict.fromkeys(columns) | row for row in rows.values()]


def smaller(samples):
    """The claim that robust models have a smaller ROBY."""
    return every("dataset model", f"roby_{samples}_robust < roby_{samples}_natural",
                 says=f"{{dataset}} {{model}}: natural {{roby_{samples}_natural}}, "
                      f"robust {{roby_{samples}_robust}}", reads="it is read of each network")


# %% [markdown]
# ## Table V: ROBY of natural and robust models

# %%
run.table("table-5", BOTH, lambda *units: [
    {name: value for name, value in row.items() if not name.startswith(("asr", "acc", "overlap"))}
    for row in pairs(*units)], claims={
        "On original samples": smaller("original"),
        "On adversarial samples robust": smaller("adversarial"),
        "decline is larger": every(
            "dataset model", "roby_adversarial_natural - roby_adversarial_robust > "
                             "roby_original_natural - roby_original_robust",
            says="{dataset} {model}: natural minus robust is "
                 "{roby_adversarial_natural - roby_adversarial_robust} on adversarial and "
                 "{roby_original_natural - roby_original_robust} on clean images",
            reads="it is read of each network")})


def whole(*units):
    """Networks with both models."""
    return [row for row in pairs(*units)
            if "asr_natural" in row and "asr_robust" in row and None not in row.values()]


def smaller_ones(rows, samples):
    """In how many of some rows the robust model has the smaller ROBY."""
    return sum(row[f"roby_{samples}_robust"] < row[f"roby_{samples}_natural"] for row in rows)


PRINTED = chen.PAPER["table-5"].rows


def facts_of(*units):
    """For sentences: pairs of a natural and a robust model, for how many ROBY is smaller, attack success."""
    rows = whole(*units)
    measured = {(row["dataset"], row["model"]) for row in rows}
    sides = {"ours": rows, "same": [row for row in PRINTED if (row["dataset"], row["model"]) in measured],
             "paper": PRINTED}
    return {"networks": len(rows), "all": len(PRINTED), "sets": ", ".join(
                f"{data}: {sum(name == data for name, _ in measured)}" for data in chen.DATASETS.values()),
            **{side: {samples: smaller_ones(those, samples) for samples in SAMPLES}
               for side, those in sides.items()},
            **{kind: chen.between(100 * row[f"asr_{kind}"] for row in rows)
               for kind in ("natural", "robust")},
            "limits": "Fewer than all pairs give no verdict." if len(rows) < len(PRINTED) else
                      "Each network was trained once."} if rows else {}


run.say(BOTH, facts_of,
        "Pairs of a natural and a robust model measured: {networks} of {all} ({sets}). PGD as in the text "
        "flips {natural} of the correctly classified images of the natural models and {robust} of the robust "
        "ones. On clean images the robust model has the smaller ROBY in {ours.original} of {networks} "
        "(paper, same networks: {same.original}), on adversarial images in {ours.adversarial} (paper: "
        "{same.adversarial}).",
        nothing="No network has both models yet.")
COLUMNS = {"acc_natural": "accuracy, natural, %", "acc_robust": "robust, %", "asr_natural": "ASR, natural, %",
           "asr_robust": "robust, %", "roby_original_natural": "ROBY, natural",
           "roby_original_robust": "robust", "overlap_original_natural": "overlap, natural",
           "overlap_original_robust": "robust"}
run.extra("natural-and-robust", BOTH, lambda *units: [
    {"data set": row["dataset"], "network": row["model"], **{
        name: row[name] * (100 if name[:3] in ("asr", "acc") else 1) for name in COLUMNS}}
    for row in whole(*units)],
    "Natural and robust models: accuracy, success of the text's PGD, ROBY, and the overlap that is not "
    "scaled inside the network, on clean images", header=chen.NAMED | COLUMNS)


# %% [markdown]
# ## Figure 5: ROBY on clean images

# %%
def drawn(samples):
    """Units -> a panel a data set: ROBY of natural and robust models."""
    series = {f"roby_{samples}_{kind}": f"ROBY, {kind}" for kind in ("natural", "robust")}
    first = f"roby_{samples}_natural"
    return lambda *units: chen.draw_networks(pd.DataFrame(pairs(*units)), series, sort=first)


def data(samples):
    """Units -> panels, and ROBY of both models of each network."""
    return lambda *units: {
        "panels": len({row["dataset"] for row in pairs(*units)}),
        "networks": {f"{row['dataset']} {row['model']}": {
            kind: row[f"roby_{samples}_{kind}"] for kind in ("natural", "robust")} for row in pairs(*units)}}


CONTAINS = {"panels per dataset": lambda d: d["panels"] == 3, "natural and robust ROBY": lambda d: any(
    None not in each.values() for each in d["networks"].values())}
SMALLER = every("network", "robust < natural", view=lambda d: d["networks"],
                says="{network}: natural {natural}, robust {robust}")
run.figure("figure-5", BOTH, drawn("original"), data=data("original"), contains=CONTAINS,
           alt="For each data set, ROBY of natural and robust models on clean images over the networks.",
           claims={"smaller ROBY": SMALLER})

# %% [markdown]
# ## Figure 6: ROBY on adversarial images

# %%
run.figure("figure-6", BOTH, drawn("adversarial"), data=data("adversarial"), contains=CONTAINS,
           alt="For each data set, ROBY of natural and robust models on adversarial images, by network.",
           claims={"smaller ROBY": SMALLER})


# %% [markdown]
# ## Figure 7: natural models, clean images
#
# t-SNE places the logits of the attacked MNIST images in the plane. Colours and numbers are true classes. Beside each network stands the
# share of images whose nearest neighbour in the map has their class.

# %%
def maps(key):
    """Units -> {network: (coordinates, classes)} on MNIST."""
    return lambda units: {chen.SPELT[u["model"]]: (u[key], u["labels"]) for u in units.to_dict("records")
                          if u["dataset"] == "mnist"}


def drawn_maps(key):
    """Units -> maps with their shares of neighbours of one class."""
    return lambda units: chen.draw_maps({f"{name} ({chen.grouped(*panel):.0f}%)": panel
                                         for name, panel in maps(key)(units).items()})


def neighbours(key):
    """Units -> shares of neighbours of one class, in percent."""
    return lambda units: {"neighbours_pct": {name: chen.grouped(*panel)
                                             for name, panel in maps(key)(units).items()}}


def by_eye(data):
    """A claim of looks, with the shares of neighbours."""
    told = chen.between(data["neighbours_pct"].values()) if data["neighbours_pct"] else "none"
    return None, f"judged by eye; shares of neighbours of the same class: {told}"


SCATTER = {"one scatter per model": lambda d: len(d["neighbours_pct"]) > 0}
digits, robust_digits = (chen.only(each, data="mnist") for each in BOTH)
run.figure("figure-7", digits, drawn_maps("map_clean"), data=neighbours("map_clean"), contains=SCATTER,
           alt="Maps of clean digits, a panel a natural network, coloured by class.",
           claims={"show different": by_eye})

# %% [markdown]
# ## Figure 8: natural models, adversarial images

# %%
run.figure("figure-8", digits, drawn_maps("map_text"), data=neighbours("map_text"), contains=SCATTER,
           alt="Maps of adversarial digits, a panel a natural network, coloured by class.",
           claims={"Grouping of classes is poor": by_eye})


# %% [markdown]
# ## Figure 9: robust models, adversarial images

# %%
def more_compact(robust, natural):
    """The claim of Figure 9, by neighbours, of networks in both figures: it may fail, not hold."""
    mine, theirs = dict(robust["neighbours_pct"]), dict(natural["neighbours_pct"]) if len(natural) else {}
    both = [name for name in mine if name in theirs]
    told = "; ".join(f"{name}: {mine[name]:.0f}% robust, {theirs[name]:.0f}% natural" for name in both)
    compact = both and all(mine[name] > theirs[name] for name in both)
    return (None if compact or not both else False,
            f"{told or 'no network in both figures'} ({'it holds for' if compact else 'judged by'} “more "
            "compact and distinct”, measured by the share of neighbours of the same class; “clearer and more "
            "complex” is left to the eye)")


run.figure("figure-9", robust_digits, drawn_maps("map_text"), data=neighbours("map_text"), contains=SCATTER,
           alt="Maps of adversarial digits, a panel a robust network, coloured by class.",
           claims={"clearer and more complex": (more_compact, "figure-8")})

# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | adversarial training | half of each batch, PGD of 7 steps of a third of ε | the text: as many clean as adversarial images; its 40 steps take six times as long |
# | classes of adversarial images | true labels | the text does not say; by predicted labels a successful attack changes what a class is |
# | images of the maps | the attacked images, logits, perplexity 30 | not stated |
#
# ## Exercises
#
# - `seed=1` in a quick run: the maps turn and the classes move; the shares of neighbours change by a few percent.

# %%
best = run.best(*BOTH)
if all(map(len, best)) and (facts := facts_of(*best)):
    run.minute(prose.fill(
        "Is ROBY, the overlap of the classes among the logits, smaller for adversarially trained networks "
        "than for natural ones? The paper reports so for "
        "{paper.original} of {all} networks on clean images and for {paper.adversarial} on adversarial "
        "images. Of the n = {networks} of {all} pairs that we measured, the robust network has the smaller "
        "ROBY in {ours.original} on clean and in {ours.adversarial} on adversarial images (paper, same "
        "networks: {same.original} and {same.adversarial}). PGD flips {natural} of the correctly classified "
        "images of the natural and {robust} of the robust networks. {limits}", facts),
        picture=drawn("original")(*best), sets=BOTH,
        alt="ROBY of natural and robust models on clean images over the networks.")

# %%
run.stamp()
