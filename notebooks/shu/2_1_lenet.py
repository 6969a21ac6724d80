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
# (shu-2-1)=
# # 2.1 Ten LeNets around one digit
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

from sklearn.manifold import TSNE

from shared import reference
from shared.data import sets
from shared.models import shu
from shared.pages.start import start
from shared.regions import setting
from shared.regions.setting import Family
from shared.units import handed

run = start("shu/2_1_lenet", globals())
SLUGS = {"NF": "nf", "FGSM": "fgsm", "CW2": "cw2", "BIM Linf": "bim-linf", "PW": "pw", "MI": "mi"}
PRINTED = {SLUGS[row["attack"]]: row for row in reference.paper("shu")["table-2"].rows}
RECOVERED = {"zero": (0, "test", 1918), "one": (1, "train", 39533)}   # what the authors' scripts attack

# %% [markdown]
# The ten networks differ by their seed alone. As a variant, ten others are trained with momentum, for 3 to 12 epochs.

# %%
scale = run.scale(
    smoke=dict(family=Family("mnist", "shu-lenet", (shu.LENET,), 3),
               lengths=Family("mnist", "shu-lenet", (shu.LENET,), 2), attacks=setting.SHORT,
               again=("nf",), aims=1, digits=1, images=1, tested=100, projected=100, count=6, starts=3,
               least=2, sizes=3, samples=10, size=5),
    quick=dict(family=Family("mnist", "shu-lenet", (shu.QUICK,), 3),
               lengths=Family("mnist", "shu-lenet", (shu.QUICK,), 2), attacks=setting.SHORT,
               again=("nf",), aims=2, digits=1, images=1, tested=1000, projected=300, count=10, starts=10,
               least=4, sizes=5, samples=50, size=9),
    paper=dict(family=Family("mnist", "shu-lenet", (shu.LENET,), 10),
               lengths=Family("mnist", "shu-lenet", shu.LENGTHS, 10), attacks=setting.SWEEPS,
               again=tuple(setting.SWEEPS), aims=9, digits=10, images=5, tested=10_000, projected=2000,
               count=100, starts=200, least=80, sizes=40, samples=1000, size=121),
)


# %% [markdown]
# Each unit trains one of them, or finds it kept.

# %%
def plan_networks(scale):
    """A unit for each network: those that differ by the seed, those that differ by their epochs."""
    return {f"{name}-m{k + 1}": dict(family=family, number=k, seed=scale.seed)
            for name, family in (("seeds", scale.family), ("epochs", scale.lengths))
            for k in range(family.networks)}


def plan_clean(scale):
    """A unit for each of the two families."""
    return {name: dict(family=family, images=scale.tested, seed=scale.seed)
            for name, family in (("seeds", scale.family), ("epochs", scale.lengths))}


networks = run.units("networks", setting.measure_network, plan_networks)
clean = run.units("clean", setting.measure_clean, plan_clean)


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


# %% [markdown]
# One digit 1 under every attack and every target: the first of the test set that all ten networks classify correctly.

# %%
def of_one_image(scale, name, family=None, image=(1, "test", None), attack=None):
    """Arguments of a unit that attacks one image: with every aim, where the attack has an aim."""
    label, split, number = image
    return dict(family=family or scale.family, attack=attack or scale.attacks[name], label=label, split=split,
                number=number, aims=0 if name in setting.AIMLESS else scale.aims,
                count=scale.starts if name == "pw" else scale.count, least=scale.least, sizes=scale.sizes,
                also=[PRINTED[name]["n_intervals"]] if name in PRINTED else [], whole=name == "pw",
                samples=scale.samples, seed=scale.seed)


def plan_sweeps(scale):
    """A unit for each attack."""
    return {name: of_one_image(scale, name) for name in scale.attacks}


def plan_others(scale):
    """The same with the networks of 3 to 12 epochs, and for the two images of the authors' scripts."""
    planned = {f"epochs-{name}": of_one_image(scale, name, scale.lengths) for name in scale.again}
    for image, which in RECOVERED.items():
        planned |= {f"{image}-{name}": of_one_image(scale, name, image=which) for name in scale.again}
    attack = setting.SCRIPT if scale.aims == 9 else None
    script = of_one_image(scale, "bim-l1", image=RECOVERED["zero"], attack=attack)
    return planned | {"zero-script": script | {"least": min(40, scale.least)}}


sweeps = run.units("sweeps", setting.measure_image, plan_sweeps)
others = run.units("others", setting.measure_image, plan_others)


# %% [markdown]
# Then fifty digits, five of each class, with one wrong class each. Carlini and Wagner's attack has a quarter of its steps here, each four
# times as long.

# %%
def plan_images(scale):
    """A unit for each attack and digit."""
    shorter = dataclasses.replace(scale.attacks["cw2"], rate=4 * scale.attacks["cw2"].rate,
                                  iterations=-(-scale.attacks["cw2"].iterations // 4))
    return {f"{name}-d{digit}": dict(
        family=scale.family, attack=shorter if name == "cw2" else attack, label=digit, images=scale.images,
        aims=0 if name in setting.AIMLESS else 1, count=scale.starts if name == "pw" else scale.count,
        least=scale.least, sizes=-(-scale.sizes // 4), whole=name == "pw", samples=scale.samples,
        seed=scale.seed) for name, attack in scale.attacks.items() for digit in range(scale.digits)}


images_ = run.units("images", setting.measure_images, plan_images)

# %% [markdown]
# And what all networks say in planes through the digit and the boxes of two attacks, and through three clean digits.

# %%
handed.give("shu sweeps", sweeps.mine)


def plan_planes(scale):
    """One unit; it rests on the sweeps."""
    return {"planes": dict(given="shu sweeps", family=scale.family, label=1, others=[7, 2],
                           targets={name: row["target_class"] for name, row in PRINTED.items()}, reach=6.0,
                           far=14.0, size=scale.size, seed=scale.seed)}


planes = run.units("planes", setting.measure_planes, plan_planes)

# %%
run.stamp()
