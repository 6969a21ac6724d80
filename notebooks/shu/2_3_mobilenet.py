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
# (shu-2-3)=
# # 2.3 Five MobileNets around an aeroplane
#
# *Shu et al. {cite:p}`shu2022`, Section 2.3*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks and of samples
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing, stale, all, none, names, or 2/8, the second of eight shares
images: int | None = None  # of each class beside the chosen one; None takes the profile's value [1..]
samples: int | None = None  # drawn from each box; None takes the profile's value [1..]

# %% tags=["hide-cell"]
from shared import reference
from shared.data.archives import SPECS
from shared.models import shu
from shared.pages.start import start
from shared.regions import setting
from shared.regions.setting import Family

run = start("shu/2_3_mobilenet", globals())
CLASSES = SPECS["cifar10"].classes
INTERVALS = [reference.paper("shu")["table-10"].rows[2]["n_intervals"]]

# %% [markdown]
# The networks take two hours each on one core; a training that is stopped goes on from its last epoch.

# %%
scale = run.scale(
    smoke=dict(family=Family("cifar10", "shu-mobilenet-tiny", (shu.MOBILENET,), 2),
               attack=setting.SHORT["bim-l2"], aims=1, classes=1, images=1, tested=100, count=4, least=2,
               sizes=3, samples=10),
    quick=dict(family=Family("cifar10", "shu-mobilenet-tiny", (shu.QUICK_MOBILENET,), 3),
               attack=setting.SHORT["bim-l2"], aims=1, classes=1, images=1, tested=500, count=10, least=4,
               sizes=5, samples=50),
    paper=dict(family=Family("cifar10", "shu-mobilenet", (shu.MOBILENET,), 5),
               attack=setting.SWEEPS["bim-l2"], aims=9, classes=10, images=5, tested=10_000, count=100,
               least=80, sizes=30, samples=1000),
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
# The basic iterative method in L2 on an aeroplane, the first of the test set that all networks classify correctly, with every target.

# %%
def plan_sweeps(scale):
    """A unit for the aeroplane."""
    return {"aeroplane": dict(
        family=scale.family, attack=scale.attack, label=CLASSES.index("airplane"), split="test", number=None,
        aims=scale.aims, count=scale.count, least=scale.least, sizes=scale.sizes, also=INTERVALS, whole=False,
        samples=scale.samples, seed=scale.seed)}


sweeps = run.units("sweeps", setting.measure_image, plan_sweeps)


# %% [markdown]
# Then fifty images, five of each class, with one wrong class each.

# %%
def plan_images(scale):
    """A unit for each class."""
    return {CLASSES[label]: dict(
        family=scale.family, attack=scale.attack, label=label, images=scale.images, aims=1, count=scale.count,
        least=scale.least, sizes=-(-scale.sizes // 3), whole=False, samples=scale.samples, seed=scale.seed)
        for label in range(scale.classes)}


images_ = run.units("images", setting.measure_images, plan_images)

# %%
run.stamp()
