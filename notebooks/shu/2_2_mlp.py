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
# (shu-2-2)=
# # 2.2 Five perceptrons around a 5 and a 7
#
# *Shu et al. {cite:p}`shu2022`, Section 2.2*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks and of samples
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing, stale, all, none, names, or 2/8, the second of eight shares
images: int | None = None  # of each digit beside the chosen ones; None takes the profile's value [1..]
samples: int | None = None  # drawn from each box; None takes the profile's value [1..]

# %% tags=["hide-cell"]
import dataclasses

from shared import reference
from shared.models import shu
from shared.pages.start import start
from shared.regions import setting
from shared.regions.setting import Family

run = start("shu/2_2_mlp", globals())
PRINTED = {row["source_class"]: row for row in reference.paper("shu")["table-6"].rows}

# %%
scale = run.scale(
    smoke=dict(family=Family("mnist", "shu-mlp", (shu.MLP,), 3), attack=setting.SHORT["cw2"], aims=1,
               digits=1, images=1, tested=100, count=6, least=2, sizes=3, samples=10),
    quick=dict(family=Family("mnist", "shu-mlp", (shu.QUICK,), 3), attack=setting.SHORT["cw2"], aims=2,
               digits=1, images=1, tested=1000, count=10, least=4, sizes=5, samples=50),
    paper=dict(family=Family("mnist", "shu-mlp", (shu.MLP,), 5), attack=setting.SWEEPS["cw2"], aims=9,
               digits=10, images=5, tested=10_000, count=100, least=80, sizes=40, samples=1000),
)


# %%
def plan_networks(scale):
    """A unit for each network."""
    return {f"m{k + 1}": dict(family=scale.family, number=k, seed=scale.seed)
            for k in range(scale.family.networks)}


def plan_clean(scale):
    """One unit."""
    return {"seeds": dict(family=scale.family, images=scale.tested, seed=scale.seed)}


networks = run.units("networks", setting.measure_network, plan_networks)
clean = run.units("clean", setting.measure_clean, plan_clean)


# %% [markdown]
# The attack of Carlini and Wagner on a 5 and a 7, the first of the test set that all networks classify correctly, with every target.

# %%
def plan_sweeps(scale):
    """A unit for each of the two digits."""
    return {f"d{label}": dict(
        family=scale.family, attack=scale.attack, label=label, split="test", number=None, aims=scale.aims,
        count=scale.count, least=scale.least, sizes=scale.sizes, also=[row["n_intervals"]], whole=False,
        samples=scale.samples, seed=scale.seed) for label, row in PRINTED.items()}


sweeps = run.units("sweeps", setting.measure_image, plan_sweeps)


# %% [markdown]
# Then fifty digits, five of each class, with one wrong class each, by a quarter of the steps, each four times as long.

# %%
def plan_images(scale):
    """A unit for each digit."""
    shorter = dataclasses.replace(scale.attack, rate=4 * scale.attack.rate,
                                  iterations=-(-scale.attack.iterations // 4))
    return {f"d{digit}": dict(
        family=scale.family, attack=shorter, label=digit, images=scale.images, aims=1, count=scale.count,
        least=scale.least, sizes=-(-scale.sizes // 4), whole=False, samples=scale.samples, seed=scale.seed)
        for digit in range(scale.digits)}


images_ = run.units("images", setting.measure_images, plan_images)

# %%
run.stamp()
