# ---
# jupyter:
#   boundary_book:
#     items:
#     - figure-1
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
# *Chen et al. {cite:p}`chen2020`, Section IV.D, and Figure 1 of Section I*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks of a small run
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # the networks at full scale are those of Section IV.C

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.chen import experiments, figures
from report import display
from report.cell import Cell, bare
from report.page import start

page = start("chen/iv_d_defence", globals())

# %% [markdown]
# ## What the paper claims, and how it is tested
#
# The paper's second question is whether ROBY is smaller after a defence. *Adversarial training* {cite:p}`madry2018` trains on clean and
# adversarial images alike; the result is a *robust network* (the paper: robust model), and a network trained on clean images is a
# *natural network*. A robust network is claimed to have a smaller ROBY than the natural one on clean images (the paper: original samples).
# On adversarial images the difference is claimed to be larger.
#
# Each pair has one architecture and one data set ({ref}`Section IV.C <chen-iv-c>`). Half of each training batch of a robust network is
# adversarial, as in the text. Adversarial images are those of the text's PGD, made against the network that they are measured on.

# %%
scale = page.scale(**experiments.DEFENCE)
BOTH = natural, robust = [page.results(kind).only(figures.printed)
                          for kind in (experiments.natural, experiments.robust)]
again = page.results(experiments.natural_retrained, plan=lambda scale: {}, beside=True)     # of Section IV.C
SAMPLES = {"original": "clean images", "adversarial": "adversarial images"}
KINDS, PRINTED = ("natural", "robust"), experiments.PAPER["table-5"].rows
# How ROBY is read: features and classes, and the measure; the last one is without ROBY's scaling.
READINGS = {"logits, true classes": (("logits", "true"), "roby_2"),
            "logits, predicted classes": (("logits", "predicted"), "roby_2"),
            "overlap / mean centre distance, logits, true classes": (("logits", "true"), "overlap_2")}
TRUE, PREDICTED, _ = READINGS


def measures(run, reading=TRUE):
    """`{samples: ROBY}` of a network, or another reading; None where it has none."""
    how, name = READINGS[reading]
    places = {"original": run["classes_test"], "adversarial": run["attacks"]["text"]["classes"]}
    return {samples: figures.metrics(classes, *how)[name] for samples, classes in places.items()}


def by_network(*frames):
    """`{(data set, model): {kind: run}}` by printed names, of all networks that are there."""
    networks = {}
    for kind, runs in zip(KINDS, frames):
        for u in runs.to_dict("records"):
            name = experiments.DATASETS[u["dataset"]], experiments.SPELT[u["model"]]
            networks.setdefault(name, {})[kind] = u
    return networks


def table_5(*frames):
    """A row a network of which there is a natural or a robust one, as Table V prints them."""
    columns = [f"roby_{samples}_{kind}" for samples in SAMPLES for kind in KINDS]
    return [dict.fromkeys(columns) | dict(zip(("dataset", "model"), name)) | {
        f"roby_{samples}_{kind}": Cell(value, status=figures.below(u) if value is not None else None)
        for kind, u in sides.items() for samples, value in measures(u).items()}
        for name, sides in by_network(*frames).items()]


def pairs(*frames):
    """`{(data set, model): [natural run, robust run]}` of networks with both, each with a ROBY."""
    return {name: [sides[kind] for kind in KINDS] for name, sides in by_network(*frames).items()
            if len(sides) == 2 and None not in [v for u in sides.values() for v in measures(u).values()]}


def interval(natural, robust, samples):
    """95% interval, over test images, of ROBY of the robust network minus that of the natural one."""
    images = {"original": "test", "adversarial": "text"}[samples]
    return np.quantile(figures.resampled(robust, images) - figures.resampled(natural, images), (0.025, 0.975))


def difference(natural, robust, samples):
    """ROBY of the robust network minus that of the natural one, with its `interval`."""
    low, high = interval(natural, robust, samples)
    return f"{measures(robust)[samples] - measures(natural)[samples]:.3f} ({low:.3f} to {high:.3f})"


def clear(both, samples):
    """Of pairs, how many intervals of the difference lie below 0, and how many above."""
    ends = np.array([interval(*pair, samples) for pair in both.values()])
    return {"below": int((ends[:, 1] < 0).sum()), "above": int((ends[:, 0] > 0).sum())}


def most_robust(both, count=2):
    """Of the pairs whose robust network is attacked least: which, success on it, and how ROBY differs."""
    least = sorted(both, key=lambda name: figures.success(both[name][1], "text"))[:count]
    change = [measures(both[name][1])["original"] - measures(both[name][0])["original"] for name in least]
    return {"names": " and ".join(f"{model} on {data}" for data, model in least), "count": len(least),
            "rates": " and ".join(f"{100 * figures.success(both[name][1], 'text'):.1f}%" for name in least),
            "change": " and ".join(f"{abs(c):.3f} {'larger' if c > 0 else 'smaller'}" for c in change)}


# %% [markdown]
# ## Measured pairs of a natural and a robust network

# %%
def natural_and_robust(*frames):
    """A row a pair: accuracy, success of the text's PGD, and differences of ROBY."""
    return [{"network": f"{model}, {data}"} | {
        f"{name}_{kind}": value for kind, u in zip(KINDS, pair) for name, value in (
            ("acc", 100 * u["test_accuracy"]),
            ("asr", f"{100 * figures.success(u, 'text'):.1f} (n = {np.sum(u['correct'])})"))} | {
        samples: difference(*pair, samples) for samples in SAMPLES}
        for (data, model), pair in pairs(*frames).items()]


def by_reading(*frames):
    """A row a reading of ROBY: means over the pairs, and in how many the robust network has the smaller."""
    rows = []
    for reading in READINGS if pairs(*frames) else ():
        rows.append({"reading": reading})
        for samples in SAMPLES:
            both = pd.DataFrame([[measures(u, reading)[samples] for u in pair]
                                 for pair in pairs(*frames).values()], columns=KINDS).dropna().astype(float)
            rows[-1] |= {f"{samples}_{kind}": both[kind].mean() for kind in KINDS} | {
                samples: f"{(both.robust < both.natural).sum()} of {len(both)}"}
    return rows


def facts_of(*frames):
    """For sentences: the pairs, attack success on them, in how many ROBY or the overlap is smaller."""
    both, readings = pairs(*frames), {row["reading"]: row for row in by_reading(*frames)}
    rows = {"paper": PRINTED, "same": [row for row in PRINTED if (row["dataset"], row["model"]) in both]}
    models = pd.DataFrame(both.keys(), columns=("data", "model")).groupby("data", sort=False).model
    return {} if not both else {
        "all": len(PRINTED), "predicted": readings[PREDICTED], "pairs": len(both), "best": most_robust(both),
        "clear": {samples: clear(both, samples) for samples in SAMPLES},
        "names": " and ".join(f"{len(names)} on {data}" for data, names in models),
        **{f"{kind}_{name}": figures.between((pair[n][name] for pair in both.values()), unit="", digits=9)
           for n, kind in enumerate(KINDS) for name in ("epochs", "images_train")},
        **{kind: figures.between(100 * figures.success(pair[n], "text") for pair in both.values())
           for n, kind in enumerate(KINDS)},
        **{name: {samples: sum(row[f"roby_{samples}_robust"] < row[f"roby_{samples}_natural"] for row in some)
                  for samples in SAMPLES} for name, some in rows.items()}}


page.extra("natural-and-robust", BOTH, natural_and_robust,
          "Natural and robust networks: accuracy on the test images, attack success rate (ASR) of the text's "
          "PGD on the n correctly classified of the attacked images, and ROBY (L2) of the robust minus that "
          "of the natural network (95% interval over test images; one training each)", header={
              "network": "network", "acc_natural": "accuracy, natural, %",
              "acc_robust": "accuracy, robust, %", "asr_natural": "ASR, natural, %",
              "asr_robust": "ASR, robust, %",
              **{samples: f"ROBY, difference, {words}" for samples, words in SAMPLES.items()}})
page.extra("defence-by-features", BOTH, by_reading,
           "ROBY (L2) by classes, and the overlap: mean over the pairs, and in how many pairs the robust "
           "network has the smaller value; a pair does not count where a network never predicts some class",
           header={"reading": "features, classes"} | {
               name: heading for samples, words in SAMPLES.items() for name, heading in (
                   (f"{samples}_natural", f"{words}: natural"), (f"{samples}_robust", f"{words}: robust"),
                   (samples, f"{words}: robust smaller in"))})
page.text(BOTH, facts_of,
        "Pairs measured: {names} (paper: {all} pairs). For the same pairs the paper reports a smaller ROBY "
        "of the robust network in {same.original} on clean and in {same.adversarial} on adversarial images, "
        "by predicted classes, as in the second row of the table above. Our natural networks were trained "
        "for {natural_epochs} epochs on {natural_images_train} images, the robust ones for {robust_epochs} "
        "epochs on {robust_images_train}; where the two of a pair differ in this, the adversarial training "
        "is not the only cause of a difference of their ROBY.")


def natural_facts(runs):
    """For sentences: on how many natural networks ROBY falls under attack, here and in the paper."""
    rows = pd.DataFrame(bare(table_5(runs))).dropna(
        subset=["roby_adversarial_natural", "roby_original_natural"])
    same = pd.DataFrame(PRINTED).merge(rows[["dataset", "model"]])
    ours, paper = (int((some.roby_adversarial_natural < some.roby_original_natural).sum())
                   for some in (rows, same))
    return {} if not len(rows) else {
        "ours": ours, "n": len(rows), "paper": paper, "rate": figures.between(
            100 * figures.success(u, "text") for u in runs.to_dict("records"))}


page.text(natural, natural_facts,
        "With true classes, {ours} of {n} natural networks have a smaller ROBY on adversarial than on clean "
        "images (paper, same networks: {paper}), although PGD flips {rate} of their correctly classified "
        "images. A fall of ROBY from clean to adversarial images is thus no sign of robustness by itself.")

# %% [markdown]
# ## Table V: ROBY of natural and robust networks
#
# Our rows take true classes, as the authors' later code does; the text takes predicted ones.

# %%
page.table("table-5", (*BOTH, again), figures.with_lengths(figures.with_retraining(table_5)),
           behind=figures.LENGTHS)


# %% [markdown]
# ## Figure 5: ROBY on clean images

# %%
def draw(rows, samples="original"):
    """A panel a data set: ROBY of both models of each network, from rows of Table V."""
    series = {f"roby_{samples}_{kind}": f"{kind} network" for kind in KINDS}
    return figures.draw_networks(rows, series, sort=f"roby_{samples}_natural",
                                 axis=f"ROBY, {SAMPLES[samples]}")


def draw_slopes(*frames):
    """ROBY on clean images of each natural network and of its robust one, joined: which way it goes."""
    both = {name: [measures(u)["original"] for u in pair] for name, pair in pairs(*frames).items()}
    figure, ax = plt.subplots(figsize=(4.2, 3.4))
    for change, word in ((-1, "falls"), (1, "rises")):
        some = [ends for ends in both.values() if np.sign(ends[1] - ends[0]) == change]
        for n, ends in enumerate(some):
            ax.plot((0, 1), ends, "o-", color=display.PALETTE[change > 0], ms=4,
                    label=f"ROBY {word}: {len(some)}" if n == 0 else None)
    ax.set(xticks=(0, 1), xticklabels=("natural", "adversarially trained"), xlim=(-0.2, 1.2),
           ylabel="ROBY, clean images")
    ax.legend()
    return figure


def of_samples(samples):
    """What `page.figure` takes for Figure 5 or 6."""
    return {"draw": lambda *frames: draw(pd.DataFrame(bare(table_5(*frames))), samples),
            "data": lambda *frames: {
                "panels": len({row["dataset"] for row in table_5(*frames)}),
                "networks": {f"{row['dataset']} {row['model']}": {
                    kind: row[f"roby_{samples}_{kind}"] for kind in KINDS} for row in table_5(*frames)}},
            "alt": f"For each data set, ROBY of natural and robust networks on {SAMPLES[samples]}."}


page.figure("figure-5", BOTH, **of_samples("original"))

# %% [markdown]
# ## Figure 6: ROBY on adversarial images

# %%
page.figure("figure-6", BOTH, **of_samples("adversarial"))

# %% [markdown]
# ## Figure 1: maps of one natural and one robust network
#
# t-SNE places the logits of the attacked MNIST images in the plane, so that near neighbours stay near. Colours and numbers are true
# classes.

# %%
digits, robust_digits = (results.only(lambda run: run["data"] == "mnist") for results in BOTH)
page.figure("figure-1", [figures.those(results, ["ResNet101"]) for results in (digits, robust_digits)],
            **figures.FIGURE_1)

# %% [markdown]
# ## Figure 7: natural networks, clean images
#
# Beside each network stands the share of images whose nearest neighbour in the map has their class.

# %%
CLEAN, ATTACKED = figures.of_maps("map_clean", "clean"), figures.of_maps("map_text", "adversarial")
page.figure("figure-7", digits, **CLEAN)

# %% [markdown]
# ## Figure 8: natural networks, adversarial images

# %%
page.figure("figure-8", digits, **ATTACKED)
page.text(digits, lambda runs: {
    "n": len(runs), "chance": 100 / int(runs.classes.max()), "images": CLEAN["data"](runs)["images"],
    "clean": figures.between(CLEAN["data"](runs)["neighbours_pct"].values()),
    "attacked": figures.between(ATTACKED["data"](runs)["neighbours_pct"].values())},
        "The nearest neighbour in the map has the class of an image for {clean} of the clean images "
        "(Figure 7) and for {attacked} of the adversarial ones (Figure 8; {n} networks, one map of at "
        "most {images} images each; chance: about {chance:.0f}%). The paper gives no criterion of “poor”.")

# %% [markdown]
# ## Figure 9: robust networks, adversarial images

# %%
page.figure("figure-9", robust_digits, **ATTACKED)


# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | adversarial training | half of each batch; PGD of radius ε with 7 steps of length ε/3 | the text: as many clean as adversarial images; the text's 40 steps would take about six times as long, and the weaker attack in training may be one reason why the text's PGD still flips images of the robust network |
# | classes of adversarial images | true labels; predicted ones stand beside them | the text takes the predicted class, the later code the true one; by predicted labels a successful attack changes what a class is |
# | images of the maps | the attacked images, logits, perplexity 30 | not stated |
# | grouping of classes in a map | the share of images whose nearest neighbour has their class | the text names no measure |
# | claims on robust networks | must hold for as many of them as on the published values | the text names no share of the networks |
#
# ## Exercises
#
# - `seed=1` in a quick run: the maps turn and the classes move; the shares of neighbours change by a few percent.

# %%
def box_facts(*frames):
    """For the box: in how many pairs the robust network has the smaller ROBY, here and in the paper."""
    facts = facts_of(*frames) if all(map(len, frames)) else {}
    if not facts:
        return {}
    counts = {f"{samples}_{part}": int(number) for samples in SAMPLES
              for part, number in zip(("below", "of"), str(facts["predicted"][samples]).split(" of "))}
    return counts | {"paper": facts["same"]}


best = page.best(*BOTH)
facts = box_facts(*best)
mixed = not facts or facts["original_below"] < 0.9 * facts["original_of"]
page.box(
    "Is ROBY, a robustness score, smaller (better) after adversarial training?",
    "Only in {original_below} of {original_of} pairs of networks without and with it." if mixed else
    "Yes, in {original_below} of {original_of} pairs, as in the paper.",
    "ROBY is smaller in {original_below} of {original_of} pairs on clean images (paper, same pairs: "
    "{paper.original}) "
    "and in {adversarial_below} of {adversarial_of} on adversarial ones (paper, all pairs: "
    "{paper.adversarial}).",
    "Our adversarial training was short; most networks can still be attacked.",
    facts=facts, results=BOTH, picture=draw_slopes(*best) if facts else None,
    alt="A line for each pair from the natural to the robust network: ROBY falls or rises.")

# %%
page.finish()
