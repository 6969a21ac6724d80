# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-1
#     - figure-3
#     - figure-5
#     - procedure-hyper-rectangle
#     - table-2
#     - table-3
#     - table-4
#     - figure-4
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
# (shu-2-1)=
# # 2.1 Ten LeNets and boxes of adversarial examples around a digit 1
#
# *Shu et al. {cite:p}`shu2022`, Section 2.1*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks, of starts and of samples
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing, stale, all, none, names, or 2/8, the second of eight shares
images: int | None = None  # of each digit beside the chosen one; None takes the profile's value [1..]
samples: int | None = None  # drawn from each box; None takes the profile's value [1..]

# %% tags=["hide-cell"]
import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.patheffects import withStroke
from sklearn.manifold import TSNE

from shared.data import sets
from shared.models import shu as recipes
from shared.pages import display, shu, shu_own
from shared.pages.start import start
from shared.records import prose
from shared.records.every import every
from shared.records.evidence import equality
from shared.regions import boxes, setting
from shared.regions.setting import Family
from shared.units import handed

run = start("shu/2_1_lenet", globals())
PRINTED = {method: shu.printed("table-2", attack=name) for method, name in shu.METHODS.items()}
RECOVERED = {"zero": (0, "test", 1918), "one": (1, "train", 39533)}   # what the authors' scripts attack


# %% [markdown]
# ## What the paper claims, and how it is tested
#
# Ten LeNets $M_1, \dots, M_{10}$ differ only in the seed of their training. Six attacks on $M_1$ start from one clean digit 1, each about a
# hundred times under different settings: NewtonFool (NF), the fast gradient sign method (FGSM), Carlini and Wagner's L2 attack (CW2), the
# basic iterative method in L∞ (BIM L∞), the pointwise attack (PW) and the momentum iterative method (MI). All examples of one attack that $M_1$ assigns to the same wrong class span a *hyper-rectangle*
# (a box): an interval for each of $b$ pixels. The paper samples 1,000 images from each box and counts how many each network misclassifies.
#
# The paper claims that many errors of $M_1$ are not shared by the other networks, so that transferability of {term}`adversarial examples
# <adversarial example>` is not universal, and that samples of a box need less perturbation than the attack.
#
# Our digit is the first 1 of the test set that all ten networks classify correctly. The paper's digit is not known. The wrong class of a
# box is the published one if $M_1$ assigns at least 80 different examples to it, and otherwise the one with most examples (NF, FGSM and
# PW cannot choose their target, and the others may find too few).
#
# ## Hyper rectangle (procedure)
#
# For the examples $W^a$ of one attack $k$ and one class $t$, each pixel $i$ that all examples change has the interval
# $[\min_a W^a_i,\ \max_a W^a_i]$. (So does one script of the authors; the text takes every pixel that is changed at all, and the section
# on kept pixels compares the rules.) The $b$ widest intervals span $R_k(t)$; every other pixel keeps its clean value. The steps below, in plain
# Python, must give the box that the tables use; three mutants of them must not.

# %% tags=["show-input"]
def by_the_paper(clean, examples, b, *, changed=all, width=lambda low, high: high - low):
    """`{pixel: (low, high)}` of the b widest intervals; clean is a list of pixels."""
    intervals = {}
    for i, value in enumerate(clean):
        seen = [example[i] for example in examples]
        if changed(round(each - value, 3) != 0 for each in seen):
            intervals[i] = min(seen), max(seen)
    widest = sorted(intervals, key=lambda i: width(*intervals[i]), reverse=True)[:b]
    return {i: intervals[i] for i in widest}


def sampled(clean, intervals, draw):
    """One image of the box: chosen pixels take random values, all others stay clean."""
    return [draw.uniform(*intervals[i]) if i in intervals else value
            for i, value in enumerate(clean)]


# %%
draw = np.random.default_rng(5)
clean = draw.random(30).round(2).astype(np.float32)
moved = (clean + draw.uniform(-0.2, 0.2, (90, 30))).clip(0, 1).astype(np.float32)
moved[:60, :10] = clean[:10]        # pixels that not all examples change
box = boxes.intervals(torch.tensor(clean).view(1, 1, 5, 6), torch.tensor(moved).view(-1, 1, 5, 6)).first(12)
fast = dict(zip(box.values.tolist(), zip(box.low.tolist(), box.high.tolist())))
MUTANTS = ({"changed": any}, {"width": lambda low, high: low - high}, {"width": lambda low, high: high})
found = [by_the_paper(clean.tolist(), moved.tolist(), 12, **each) for each in ({}, *MUTANTS)]
inside = box.sample(50, generator=run.generator("box")).flatten(1).numpy()
left = [i for i in range(len(clean)) if i not in fast]
plain = sampled(clean.tolist(), found[0], draw)
kept = bool((inside[:, left] == clean[left]).all() and all(plain[i] == clean[i] for i in left))
run.statement("procedure-hyper-rectangle", data={"intervals": len(fast), "same_box": found[0] == fast,
                                                 "others_clean": kept},
              evidence=equality(found[0] == fast and kept, changed=[each != fast for each in found[1:]]))

# %%
scale = run.scale(
    smoke=dict(family=Family("mnist", "shu-lenet", (recipes.LENET,), 3),
               lengths=Family("mnist", "shu-lenet", (recipes.LENET,), 2), attacks=shu.SHORT,
               again=("nf",), aims=1, digits=1, images=1, tested=100, projected=100, count=6, starts=3,
               least=2, sizes=3, samples=10, size=5),
    quick=dict(family=Family("mnist", "shu-lenet", (recipes.QUICK,), 3),
               lengths=Family("mnist", "shu-lenet", (recipes.QUICK,), 2), attacks=shu.SHORT,
               again=("nf",), aims=2, digits=1, images=1, tested=1000, projected=300, count=10, starts=10,
               least=4, sizes=5, samples=50, size=9),
    paper=dict(family=Family("mnist", "shu-lenet", (recipes.LENET,), 10),
               lengths=Family("mnist", "shu-lenet", recipes.LENGTHS, 10), attacks=setting.SWEEPS,
               again=tuple(setting.SWEEPS), aims=9, digits=10, images=5, tested=10_000, projected=2000,
               count=100, starts=200, least=80, sizes=40, samples=1000, size=121),
)


# %%
# A unit for each network: it is trained, or found kept, and measured.
def plan_networks(scale):
    """Those that differ by the seed, and those that differ by their epochs, too."""
    return {(name, f"m{k + 1}"): dict(family=family, number=k, seed=scale.seed)
            for name, family in (("seeds", scale.family), ("epochs", scale.lengths))
            for k in range(family.networks)}


def plan_clean(scale):
    """A unit for each of the two families."""
    return {name: dict(family=family, images=scale.tested, seed=scale.seed)
            for name, family in (("seeds", scale.family), ("epochs", scale.lengths))}


networks = run.units("networks", setting.measure_network, plan_networks, names="{trained}-{network}")
clean_digits = run.units("clean", setting.measure_clean, plan_clean)


# %%
def project(*, images, perplexity, seed):
    """Places in the plane, by t-SNE, of the first images of the test set."""
    data = sets.load("mnist")
    flat = data.x_test[:images].flatten(1).numpy() / 255
    places = TSNE(perplexity=perplexity, random_state=seed).fit_transform(flat)
    return {"images": len(flat), "places": places, "labels": data.y_test[:images].tolist()}


def plan_projection(scale):
    """One unit; the perplexity is the usual one."""
    return {"tsne": dict(images=scale.projected, perplexity=30.0, seed=scale.seed)}


projection = run.units("projection", project, plan_projection)


# %%
# The chosen digit under every attack, with every target where the attack has one.
def of_one_image(scale, name, family=None, image=(1, "test", None), attack=None):
    """Arguments of a unit that attacks one image."""
    label, split, number = image
    return dict(family=family or scale.family, attack=attack or scale.attacks[name], label=label, split=split,
                number=number, aims=0 if name in setting.AIMLESS else scale.aims,
                count=scale.starts if name == "pw" else scale.count, least=scale.least, sizes=scale.sizes,
                also=[PRINTED[name]["n_intervals"]] if PRINTED[name] else [], whole=name == "pw",
                samples=scale.samples, seed=scale.seed)


def plan_sweeps(scale):
    """A unit for each attack."""
    return {name: of_one_image(scale, name) for name in scale.attacks}


def plan_others(scale):
    """The same with the networks of 3 to 12 epochs, and for the two images of the authors' scripts."""
    planned = {("epochs", name): of_one_image(scale, name, scale.lengths) for name in scale.again}
    for image, which in RECOVERED.items():
        planned |= {(image, name): of_one_image(scale, name, image=which) for name in scale.again}
    attack = setting.SCRIPT if scale.aims == 9 else None
    script = of_one_image(scale, "bim-l1", image=RECOVERED["zero"], attack=attack)
    return planned | {("zero", "script"): script | {"least": min(40, scale.least)}}


sweeps = run.units("sweeps", setting.measure_image, plan_sweeps, names="{method}")
others = run.units("others", setting.measure_image, plan_others, names="{of}-{method}")


# %%
# Fifty digits, five of each class, with one wrong class each. Carlini and Wagner's attack has a quarter of
# its steps here, each four times as long.
def plan_images(scale):
    """A unit for each attack and digit."""
    shorter = dataclasses.replace(scale.attacks["cw2"], rate=4 * scale.attacks["cw2"].rate,
                                  iterations=-(-scale.attacks["cw2"].iterations // 4))
    return {(name, digit): dict(
        family=scale.family, attack=shorter if name == "cw2" else attack, label=digit, images=scale.images,
        aims=0 if name in setting.AIMLESS else 1, count=scale.starts if name == "pw" else scale.count,
        least=scale.least, sizes=-(-scale.sizes // 4), whole=name == "pw", samples=scale.samples,
        seed=scale.seed) for name, attack in scale.attacks.items() for digit in range(scale.digits)}


fifty = run.units("images", setting.measure_images, plan_images, names="{method}-d{digit}")

# %%
# What all networks say in planes through the digit and two boxes, and through three clean digits: for
# Sections 2 and 2.4.
handed.give("shu sweeps", sweeps.mine)


def plan_planes(scale):
    """One unit; it rests on the sweeps."""
    return {"planes": dict(given="shu sweeps", family=scale.family, label=1, others=[7, 2],
                           targets={name: row["target_class"] for name, row in PRINTED.items() if row},
                           reach=6.0, far=14.0, size=scale.size, seed=scale.seed)}


planes = run.units("planes", setting.measure_planes, plan_planes)


# %% [markdown]
# ## Table 1: errors of the ten networks on clean digits
#
# The length of the training is not published. Our networks $M_1$ to $M_{10}$ have one recipe of 10 epochs, and are not the paper's: the
# same number stands for another network there.

# %%
def table_1(units):
    """The printed table has five networks a row."""
    found = shu.errors(units)
    return [{"printed_row": row["printed_row"]} | {k: found[k] for k in row if k in found}
            for row in shu.PAPER["table-1"].rows] if found else []


run.table("table-1", networks.only(lambda unit: unit["trained"] == "seeds"), table_1, claims={
    "perform similarly": shu.similar(0.012, 0.035, "similarly"),
    "close to 99%": "“close” names no bound; the table shows the errors"})
run.extra("lengths", networks, lambda units: [
    {"network": name, "error": error, "published": shu.ERRORS.get(name),
     "epochs of the variant": recipe.epochs, "its error": shu.errors(units, "epochs").get(name)}
    for recipe, (name, error) in zip(recipes.LENGTHS, shu.errors(units).items())],
    "Test errors of our ten networks of 10 epochs, of the paper's in their printed order, and of a variant "
    "with momentum 0.5 and 3 to 12 epochs")
run.say(networks, shu_own.order,
        "The published errors fall with the network's number (Kendall's τ = {print:.2f}, n = {networks}). If "
        "the numbering had nothing to do with the error, so strong a decrease would have probability "
        "{chance:.1e} (exact, one-sided). Our errors do not fall (τ = {own:.2f}, errors {least_own} to "
        "{most_own}). In the variant, where training grows by an epoch a network, they do (τ = {epochs:.2f}, "
        "errors from {least_epochs} to {most_epochs}). Networks numbered by their error would give such an "
        "order, too; the table does not tell which it was.")


# %% [markdown]
# ## Figure 3: two-dimensional projection of the digits

# %%
def draw_digits(units):
    """The digits at their places, coloured by class."""
    figure, ax = plt.subplots(figsize=(display.WIDEST, 4.2))
    for unit in units.itertuples():
        places, labels = np.asarray(unit.places), np.asarray(unit.labels)
        for digit in range(10):
            mine = places[labels == digit]
            ax.scatter(*mine.T, s=6, color=display.PALETTE[digit], label=str(digit))
            if len(mine):
                ax.text(*np.median(mine, 0), str(digit), weight="bold", size=14, path_effects=[
                    withStroke(linewidth=3, foreground="white")])
    ax.set(xticks=[], yticks=[], xlabel="first t-SNE coordinate", ylabel="second t-SNE coordinate")
    return figure if len(units) else None


def neighbours(units):
    """Share of the digits whose nearest neighbour in the plane is of their class."""
    for unit in units.itertuples():
        places, labels = torch.as_tensor(np.asarray(unit.places)), torch.as_tensor(unit.labels)
        apart = torch.cdist(places, places).fill_diagonal_(torch.inf)
        return {"images": unit.images, "digits": len(labels.unique()),
                "same_class_nearest": (labels[apart.argmin(1)] == labels).double().mean().item()}
    return {}


run.figure("figure-3", projection, draw_digits, data=neighbours,
           alt="Points in the plane, one a digit image, coloured and marked by the ten classes.",
           contains={"scatter of 2000": lambda d: d.get("images") == 2000,
                     "ten digit labels": lambda d: d.get("digits") == 10},
           claims={"Ten clusters are visible": "clusters and overlap are judged by eye in the figure"})
run.say(projection, neighbours, "For {same_class_nearest:.1%} of the {images} images the nearest neighbour "
        "in the plane belongs to the same class.")

# %% [markdown]
# ## Figure 5: the clean digit

# %%
run.figure("figure-5", sweeps, lambda units: display.image_table(
    [{"clean": torch.as_tensor(unit.clean).numpy()} for unit in units.itertuples()][:1]),
    data=lambda units: {"number": int(units.number.iloc[0]), "label": int(units.label.iloc[0])}
    if len(units) else {}, alt="The clean digit 1 that all attacks start from.",
    contains={"the clean digit 1": lambda d: d.get("label") == 1})

# %% [markdown]
# ## Table 2: errors in the boxes
#
# Each row is a box of the printed number $b$ of intervals, or of all that the examples share where these are fewer, and 1,000 samples
# of it. A pixel is kept if all examples change it; for the pointwise attack, whose examples change different pixels, one example is
# enough, and each interval is $[0, 1]$ as in the paper. $s_{(i)}$ is the width of the narrowest interval.

# %%
run.table("table-2", sweeps, lambda units: shu.inside(units, "table-2"), claims={
    "far fewer pixels": shu.fewer,
    "fool the attacked M_1 while": shu.some(
        lambda row: row["M1"] > 0.5 and row["least"] == 0, reads="“fool” is read as more than half"),
    "leave M_1 right while": shu.some(
        lambda row: row["M1"] == 0 and row["most"] > 0.5, reads="“most” is read as more than half"),
    "PW rectangle is transferable": every(
        "attack", "least >= 0.48", view=shu.others("PW", every=True), says="from {least} to {most}"),
    "Except for PW": every("attack", "smallest_interval <= 0.032",
                           view=lambda rows: rows[rows.attack != "PW"], says="{attack}: {smallest_interval}"),
    "not universal": shu.some(
        lambda row: row["M1"] > 0.5 > row["least"],
        reads="some network is right on most samples, $M_1$ is wrong on most")})
run.say(sweeps, shu_own.scarce,
        "For {n} of {of} attacks fewer than 80 different examples have the published class ({told}).")

# %% [markdown]
# ## Table 3: errors on the attacks' own images
#
# A pixel counts as perturbed if at least one example changes it, as in the paper's text.

# %%
WIDELY = {"NF": (0.62, 1), "MI": (0.62, 1), "PW": (0.01, 0.55)}     # bounds that the claim itself prints
run.table("table-3", sweeps, lambda units: shu.attacked(units, "table-3"), claims={
    "M_1 is wrong on every": every(
        "attack", "M1 > 0.99", says="{attack}: {M1}", reads="up to 1% of the images may lie on the boundary, "
        "where rounding decides the label in another batch"),
    "do not transfer": every("attack", "most == 0", says="{attack}: at most {most}",
                             view=shu.others("FGSM", "CW2", "BIM Linf")),
    "NF and MI images transfer": every(
        "attack", "least >= low and most <= high", says="{attack}: from {least} to {most}",
        view=lambda rows: shu.others(*WIDELY)(rows).assign(
            low=rows.attack.map(lambda name: WIDELY.get(name, (0, 1))[0]),
            high=rows.attack.map(lambda name: WIDELY.get(name, (0, 1))[1]))),
    "perturbs more pixels": (every("attack", "n_perturbed_pixels > other.n_intervals",
                                   says="{attack}: {n_perturbed_pixels} against {other.n_intervals}"),
                             "table-2")})
run.say(sweeps, shu_own.minute,
        "The networks that were not attacked are wrong on {others:.0%} of an attack's images on average over "
        "the {n} attacks (paper: {paper.others:.0%}). Of the {examples} images, {again} was "
        "misclassified in the attack's batch and is classified correctly in another batch: on the "
        "boundary rounding decides the label.")

# %% [markdown]
# ## Table 4: distances from the clean digit
#
# Several printed values exceed the largest possible L2 distance, but not its square ({ref}`audit`), so squared norms are compared. The
# printed minimum of MI lies above its maximum under either reading. A folded table has plain norms.

# %%
run.table("table-4", sweeps, lambda units: shu.distances(units, "table-4"), claims={
    "mean L2 is lower": every("attack", "sampled_l2_mean < attack_l2_mean",
                              says="{attack}: {sampled_l2_mean} against {attack_l2_mean}"),
    "only minor for FGSM": shu.saving("minor"), "saving for NF": shu.saving("minor")})
run.extra("plain-norms", sweeps, lambda units: [
    {"attack": row["attack"].replace("Linf", "L∞")} | {
        f"{side}, {end}": row[f"{side}_l2_{end}"] for side in ("sampled", "attack") for end in shu.ENDS}
    for row in shu.distances(units, "table-4", "plain") if "sampled_l2_min" in row],
    "Table 4 in plain L2 norms", fold="Plain L2 norms")

# %% [markdown]
# ## Figure 4: images of the attacks and of the boxes
#
# Above, the example of each attack that lies nearest to the clean digit; below, an image sampled from its box.

# %%
run.figure("figure-4", sweeps, lambda units: shu.draw_pairs(units, "table-2"),
           data=lambda units: {"attacks": len(shu.of_rows(units, "table-2"))},
           alt="Two rows of digits, a column an attack: its image above, one sampled from its box below.",
           contains={"one attack image": lambda d: d["attacks"] == 6,
                     "one image sampled": lambda d: d["attacks"] == 6},
           claims={"nearly constant offsets": "“nearly constant” names no bound; column s₍ᵢ₎ of Table 2 "
                                              "has the widths"})

# %% [markdown]
# (shu-2-1-size)=
# ## Where it differs: the number of intervals
#
# The paper chooses $b$ by eye. The curves show the rate of each network as $b$ grows; the dotted line is the box of Table 2.

# %%
run.picture(sweeps, lambda units: shu.draw_curves(units, "table-2"),
            caption="Misclassification rates of the ten networks in boxes of growing size",
            alt="A panel an attack: rates of the attacked network and of the nine others against b.")
run.tell(sweeps, lambda units: shu.MEANT)
run.extra("kinds", sweeps, shu_own.suspects,
          "Boxes of Table 2 by the kind of region, as published and here, and where ours is of the published "
          "kind",
          header=shu_own.SUSPECTS)
run.say(sweeps, shu_own.of_suspects,
        "Boxes of the published kind: {same} of {n}. Of the other {other}, {reached} are of the published "
        "kind under another choice ({sizes} at another size, {rules} with other pixels kept, {classes} for "
        "another wrong class; a box can count more than once), and {left} under none. Another class can be "
        "tried only where a second one has 80 examples.")

# %% [markdown]
# ## Where it differs: which pixels are kept, other networks, other images
#
# One of the two scripts that the authors published keeps pixels that all examples change, the other one those that nearly all examples
# change; the text counts any changed pixel. Here the box of PW has the examples' own intervals, in Table 2 it has $[0, 1]$.
# The second table has the mean rate of the networks that were not attacked, on the images of the attack, for our ten networks, for those
# of 3 to 12 epochs, and for the two digits that the authors' scripts attack.

# %%
run.extra("keep-rules", sweeps, lambda units: shu_own.by_rule(units, "table-2"),
          "Boxes of the printed size, or of all kept pixels where these are fewer: rates of the attacked "
          "network and of the others, mean squared L2 norm",
          header=shu_own.BY_RULE)
run.say(sweeps, lambda units: shu_own.off_by_rule(units, "table-2"), shu_own.OFF_BY_RULE)
run.say(sweeps, shu_own.between,
        "The published number of perturbed pixels of Table 3 lies between our numbers by the strictest and "
        "the loosest of the three rules for {between} of {n} attacks. By the loosest, that of the text, "
        "{enough} "
        "of {n} attacks change more pixels than the published box has intervals.")
run.extra("transfer", (sweeps, others), shu_own.transfers,
          "Mean misclassification rate (%) of the networks that were not attacked, on the images of an "
          "attack of the published wrong class, or, where it has too few, of the most frequent one",
          header=shu_own.TRANSFERS)

# %% [markdown]
# ## Beyond the printed rows: all target classes, and fifty digits

# %%
run.extra("targets", sweeps, shu_own.every_target,
          "All wrong classes with at least 80 examples around the digit: kinds of the boxes of all kept "
          "pixels, and the mean rate of the nine other networks on the attack's own images (%)",
          header=shu_own.EVERY_TARGET)
run.extra("fifty-digits", fifty, shu_own.over_images,
          "Digits of all classes, one wrong class each, for the six attacks and two more, BIM in L1 and L2: "
          "share of digits for which some size of the box is of a kind, and its 95% interval (a digit can "
          "count under several kinds)", header=shu_own.OVER_IMAGES)
run.say(fifty, shu_own.over_digits, shu_own.OVER_DIGITS)
run.extra("other-networks", others, shu_own.variants,
          "The same attacks on networks of 3 to 12 epochs, and on the two images of the authors' scripts: "
          "boxes of all kept pixels for the most frequent wrong class, which can be another than in the "
          "table above", fold="Other networks and images")

# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | training | batches of 64, 10 epochs, no momentum, pixels in [0, 1] | only SGD and its learning rate of 0.01 are printed; the authors' code normalises no pixel |
# | the digit | the first 1 of the test set that all ten networks classify correctly | the paper's index is not known |
# | settings of a sweep | 100 sizes of the first ball from 0.005 to 0.5 for the iterative attacks; 50 weights and 2 margins for CW2; 100 step lengths for NF; 100 sizes from the first successful one on for FGSM; 200 starts for PW | the published script has 100 sizes from 0.01 to 1 for BIM L1, of which the upper half gives one image |
# | semantics of the attacks | those of Foolbox 2: the size of the ball is searched for, and the nearest example met is kept | the published script uses its interface |
# | NewtonFool's gradient | that of the probability, as published | Foolbox 2 divides the gradient of the cross-entropy by the probability where the chain rule multiplies, so that its steps end shorter |
# | thresholds of the kinds | those {ref}`above <shu-2-1-size>` for “most”, “correct” and “significant” | the paper names none |
#
# ## Exercises
#
# - `seed=1`: ten other networks, and perhaps another digit. The rates of single networks change; compare the kinds of the boxes.
# - `samples=100`: the rates of Table 2 move by a few percent, the kinds hardly.

# %%
found = run.best(sweeps)
facts = shu_own.minute(found) if len(found) else {}
if facts:
    wider = shu_own.over_digits(run.best(fifty))
    run.minute(
        "Do networks that differ only in their training seed misclassify adversarial examples "
        "of one of them? "
        + (f"{prose.fill(shu_own.OVER_DIGITS, wider)} " if wider else "") + prose.fill(
            "For one digit 1 the mean over the paper's {n} attacks is {others:.0%} (paper: "
            "{paper.others:.0%}), but single attacks differ, most of all {farthest}. The kind of box that "
            "an attack's examples span (whether the attacked network, others, or all err on its samples) "
            "agrees with the paper for {same} of {n} attacks; digit and training are unpublished, so this "
            "does not refute it.",
            facts | shu_own.of_suspects(found)),
        picture=shu.draw_curves(found, "table-2"), sets=(sweeps,),
        alt="Misclassification rates of ten networks in boxes of growing size, a panel an attack.")

# %%
run.stamp()
