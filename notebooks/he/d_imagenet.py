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
# # D. Larger images, a thousand classes
#
# *He et al. {cite:p}`he2018`, Appendix D*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the attacks' noise, of region classification, of the directions and of the classifiers
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale only: missing, stale, all, none, names, or 2/8 for the second of eight shares
blocks: int | None = None  # blocks of images of each kind; None takes the profile's value [1..]
iterations: int | None = None  # most iterations for each c of an attack; None takes the profile's value [1..]
directions: int | None = None  # random directions around each image; None takes the profile's value [36..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import torch

from shared import runtime
from shared.attacks import judge
from shared.attacks.region import Region
from shared.attacks.threat import rms
from shared.boundary import classifier, setting
from shared.boundary.survey import purity, survey
from shared.pages import display
from shared.pages.start import start
from shared.units import handed

run = start("he/d_imagenet", globals())
NAMES = {"benign": "Benign", "brittle": "OptBrittle", "margin": "OptMargin", "fgsm": "FGSM"}

# %% [markdown]
# ## The claim, and how it is tested
#
# The same attacks, walks and classifier on images of 224 by 224 pixels and a thousand classes. The paper's network is
# Inception-ResNet, whose weights cannot be had any more in the form it used; SqueezeNet 1.1 with its published weights
# stands in, on the first of a thousand ImageNet images (the paper's are a private subset). So nothing here is compared with
# the printed values: all cells are a substitute's.

# %%
scale = run.scale(
    smoke=dict(net=setting.Subject("imagenet1000", "he-squeezenet", None), rate=0.2, sample=8, size=8, blocks=1, iterations=3,
               directions=36, step=0.1, least=8, shown=1, steps=10),
    quick=dict(net=setting.Subject("imagenet1000", "he-squeezenet", None), rate=0.05, sample=2, size=2, blocks=1, iterations=2,
               directions=36, step=0.08, least=150, shown=1, steps=10),
    paper=dict(net=setting.Subject("imagenet1000", "he-squeezenet", None), rate=None, sample=450, size=5, blocks=90,
               iterations=1000, directions=1000, step=0.01, least=150, shown=1, steps=4000),
)


# %% [markdown]
# A unit is a block of images and one kind of example: the attack, what point and region classification make of it, and the
# walks to the boundary.

# %%
def examine(subject, attack, *, first, images, iterations, directions, step, top, radius, shown, seed):
    """An attack on a block of images, both classifications, and the walks around the examples that count."""
    x, y = subject.images(first, images)
    model = subject.model(seed)
    found = setting.examples(model, x, y, attack, iterations=iterations, seed=seed)
    with judge.frozen(model):
        point = judge.logits(model, found.x).argmax(1)
    region = Region(radius)(model, found.x, generator=runtime.generator(seed, "he", "region", first))
    dirs = setting.directions_for(x, directions, negatives=False, seed=seed)
    around = survey(model, found.x[found.counts], dirs, step=step, top=top)
    inputs, linf = classifier.features(around), around.linf
    distances = inputs[:, :-classifier.PURITIES]
    told = {"iterations": iterations, "directions": directions, "images": images, "labels": y.tolist(),
            "correct": found.correct.tolist(), "success": found.success.tolist(), "counts": found.counts.tolist(),
            "rms": rms(x, found.x).tolist(), "point": (point == y).tolist(), "region": (region == y).tolist(),
            "least": around.distance.amin(1).tolist(), "median": around.distance.median(1).values.tolist(),
            "least_linf": linf.amin(1).tolist(), "median_linf": linf.median(1).values.tolist(),
            "purity": purity(around, 10).tolist(), "passes": int(found.passes.sum()), "evaluations": around.evaluations,
            "steps": torch.where(distances < 1, (distances / step).round(), 255).to(torch.uint8),
            "purities": inputs[:, -classifier.PURITIES:], "classes": point.tolist(),
            "pictures": (found.x[:shown] * 255).round().to(torch.uint8), "one": None}
    if shown and bool(found.counts[0]):
        told["one"] = {"distance": around.distance[0], "adjacent": around.adjacent[0].to(torch.int16), "linf": linf[0]}
    return told


def plan(scale):
    """Blocks of images for each kind of example."""
    return {f"imagenet-{kind}-b{block}": dict(
        subject=scale.net, attack=attack, first=block * scale.size, images=scale.size,
        iterations=scale.iterations if kind in ("brittle", "margin") else 1, directions=scale.directions, step=scale.step,
        top=0.49, radius=0.02, shown=scale.shown if block == 0 else 0, seed=scale.seed)
        for kind, attack in setting.attacks("imagenet1000", scale.rate).items()
        for block in range(min(scale.blocks, -(-scale.sample // scale.size)))}


examples = run.units("examples", examine, plan, parts=("iterations", "directions"))
handed.give("he/d_imagenet", examples.mine)


# %% [markdown]
# The classifier, once there are enough images to train it: one unit for each attack.

# %%
def plan_classifiers(scale):
    """One unit for each attack, where there are images enough."""
    if min(scale.blocks * scale.size, scale.sample) < scale.least:
        return {}
    return {f"imagenet-{kind}": dict(
        given="he/d_imagenet", name="imagenet", attack=kind, others=[], sample=scale.sample, size=scale.size, step=scale.step,
        share=7 / 9, centre=0.0, unit=1.0, steps=scale.steps, batch=350, balanced=True, seed=scale.seed)
        for kind in ("brittle", "margin", "fgsm")}


classifiers = run.units("classifiers", setting.learn, plan_classifiers, parts=("sample",))
