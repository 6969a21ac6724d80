# ---
# jupyter:
#   boundary_book:
#     items:
#     - figure-4
#     - table-3
#     - table-4
#     - procedure-boundary-classifier
#     - procedure-cost-boundary
#     needs:
#     - he/3_optmargin
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
# (he-5)=
# # 5. Telling an attack by its surroundings
#
# *He et al. {cite:p}`he2018`, Section 5 and Appendix C*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the nets, of the attacks' noise, of the directions and of the classifiers
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale only: missing, stale, all, none, names, or 2/8 for the second of eight shares
subject: str = "all"  # whose units are wanted {all, mnist, cifar10}
blocks: int | None = None  # blocks of images of each net and kind; None takes the profile's value [1..]
iterations: int | None = None  # most iterations for each c of OptMargin; None takes the profile's value [1..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import torch

from shared.boundary import classifier, setting
from shared.boundary.survey import survey
from shared.pages import display
from shared.pages.start import start
from shared.units import handed

run = start("he/5_classifier", globals())
KINDS = {"brittle": "OptBrittle", "margin": "OptMargin", "fgsm": "FGSM"}
TRAININGS = {"normal": "normal", "adv": "pgd_adversarial"}
DATASETS = {"mnist": "MNIST", "cifar10": "CIFAR-10"}

# %% [markdown]
# ## The claim, and how it is tested
#
# If the boundary around an adversarial example looks different ({ref}`Section 4 <he-4>`), a small network should tell the
# example by it. It is given the sorted distances to the boundary and the shares of the three commonest classes
# behind it, for images and for examples of one attack, and says which is which. Table 3 asks it about attacks that it was
# trained on and about others.

# %%
scale = run.scale(
    smoke=dict(nets=setting.subjects("smoke"), rate=0.4, sample=6, size=6, cifar_sample=6, cifar_size=6, blocks=1, iterations=4,
               directions=24, cifar_directions=48, steps=10, cifar_steps=10),
    quick=dict(nets=setting.subjects("quick"), rate=0.1, sample=20, size=20, cifar_sample=20, cifar_size=20, blocks=1, iterations=10,
               directions=49, cifar_directions=50, steps=200, cifar_steps=200),
    paper=dict(nets=setting.subjects("paper"), rate=None, sample=10_000, size=100, cifar_sample=450, cifar_size=10, blocks=100,
               iterations=1000, directions=784, cifar_directions=1000, steps=2000, cifar_steps=4000),
)


# %% [markdown]
# A unit is a block of images, one network and one kind of example: the attack, the walks in all directions, and of these what
# the classifier is given.

# %%
def surround(subject, attack, *, first, images, iterations, directions, negatives, step, top, seed):
    """Sorted distances, in steps (255: no other class found), and purities around a block of examples."""
    x, y = subject.images(first, images)
    model = subject.model(seed)
    found = setting.examples(model, x, y, attack, iterations=iterations, seed=seed)
    dirs = setting.directions_for(x, directions, negatives=negatives, seed=seed)
    around = survey(model, found.x[found.counts], dirs, step=step, top=top)
    inputs = classifier.features(around)
    distances, purities = inputs[:, :-classifier.PURITIES], inputs[:, -classifier.PURITIES:]
    steps = torch.where(distances < 1, (distances / step).round(), 255).to(torch.uint8)
    return {"iterations": iterations, "images": images, "correct": found.correct.tolist(),
            "success": found.success.tolist(), "counts": found.counts.tolist(), "steps": steps, "purities": purities,
            "passes": int(found.passes.sum()), "evaluations": around.evaluations}


def plan_surroundings(scale):
    """Blocks of test images for each network and kind; FGSM on normally trained networks only (Appendix C)."""
    planned = {}
    for name, subject in scale.nets.items():
        if scale.subject not in ("all", subject.dataset):
            continue
        mnist = subject.dataset == "mnist"
        size, sample = (scale.size, scale.sample) if mnist else (scale.cifar_size, scale.cifar_sample)
        for kind, attack in setting.attacks(subject.dataset, scale.rate).items():
            if kind == "strong" or (kind == "fgsm" and name.endswith("adv")):
                continue
            for block in range(min(scale.blocks, -(-sample // size))):
                planned[f"{name}-{kind}-b{block}"] = dict(
                    subject=subject, attack=attack, first=(0 if mnist else setting.FIRST["cifar10"]) + block * size,
                    images=size, iterations={"margin": scale.iterations, "brittle": min(1000, 4 * scale.iterations)}.get(kind, 1),
                    directions=scale.directions if mnist else scale.cifar_directions, negatives=mnist,
                    step=0.02 if mnist else 2 / 255, top=0.48 if mnist else 126 / 255, seed=scale.seed)
    return planned


surroundings = run.units("surroundings", surround, plan_surroundings, parts=("iterations",))
handed.give("he/5_classifier", surroundings.mine)


# %% [markdown]
# A unit of the second set trains one classifier on the pairs that are there, an image and its example each, and asks it about the
# last fifth of them, which it has not seen.

# %%
def plan_classifiers(scale):
    """One unit for each network and each attack that a classifier is trained on."""
    planned = {}
    for name, subject in scale.nets.items():
        if scale.subject not in ("all", subject.dataset):
            continue
        mnist = subject.dataset == "mnist"
        asked = [("brittle", ("margin",)), ("margin", ("brittle",))]
        for attack, others in asked + ([] if name.endswith("adv") else [("fgsm", ())]):
            planned[f"{name}-{attack}"] = dict(
                given="he/5_classifier", name=name, attack=attack, others=list(others), sample=scale.sample if mnist else scale.cifar_sample,
                size=scale.size if mnist else scale.cifar_size, step=0.02 if mnist else 2 / 255,
                share=0.8 if mnist else 7 / 9, centre=0.0 if mnist else 16 / 255, unit=1.0 if mnist else 0.5,
                steps=scale.steps if mnist else scale.cifar_steps, batch=128, balanced=False, seed=scale.seed)
    return planned


classifiers = run.units("classifiers", setting.learn, plan_classifiers, parts=("sample",))
