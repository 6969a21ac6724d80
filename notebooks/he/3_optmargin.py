# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-1
#     - table-2
#     - figure-5
#     - equation-optmargin-loss
#     - equation-optmargin-objective
#     - procedure-region-classification
#     - procedure-optmargin
#     - remark-cao-gong-amplified
#     - procedure-cost-optmargin
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
# (he-3)=
# # 3. An attack that survives a hundred noisy looks
#
# *He et al. {cite:p}`he2018`, Section 3 and Appendix A*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the nets, of the attacks' noise and of region classification
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale only: missing, stale, all, none, names, or 2/8 for the second of eight shares
subject: str = "all"  # whose units are wanted {all, mnist, cifar10}
blocks: int | None = None  # blocks of images of each net and attack; None takes the profile's value [1..]
iterations: int | None = None  # most iterations for each c of an attack; None takes the profile's value [1..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import torch

from shared import runtime
from shared.attacks import judge, optimised
from shared.attacks.directions import directions
from shared.attacks.gradient import PGD
from shared.attacks.region import Region
from shared.attacks.threat import Linf, rms
from shared.boundary import setting
from shared.data import sets as data
from shared.pages import display
from shared.pages.start import start

run = start("he/3_optmargin", globals())
NAMES = {"benign": "Benign", "brittle": "OptBrittle", "margin": "OptMargin", "strong": "OptStrong", "fgsm": "FGSM"}
COLUMNS = ("mnist-normal", "mnist-adv", "cifar10-normal", "cifar10-adv")

# %% [markdown]
# ## The claim, and how it is tested
#
# Region classification does not ask a network about an image but about a hundred points of a cube around it, and takes the
# majority. The paper claims that this stops the closest adversarial examples (*OptBrittle*) and not those of its own attack,
# *OptMargin*, which looks for an image whose noisy copies are misread, too.
#
# Four networks are attacked: one for MNIST and one for CIFAR-10, each trained on clean images ("normal") and on adversarial ones
# ("adv"). Table 1 says how often each attack succeeds and how far it moves an image; Table 2 how many of the images so made are
# still classified correctly, by the network itself ("point") and by region classification.

# %%
scale = run.scale(
    smoke=dict(nets=setting.subjects("smoke"), rate=0.4, tested=20, sample=3, whole=3, margin=3, blocks=1, iterations=4, shown=3),
    quick=dict(nets=setting.subjects("quick"), rate=0.1, tested=100, sample=10, whole=10, margin=5, blocks=1, iterations=20, shown=4),
    paper=dict(nets=setting.subjects("paper"), rate=None, tested=1000, sample=100, whole=100, margin=25, blocks=20, iterations=1000, shown=4),
)


# %% [markdown]
# First the networks: each unit trains one, or finds it kept, and measures it.

# %%
def measure_net(subject, *, images, seed):
    """Accuracies of a net on its test set, and on `images` of them against PGD of the training's size."""
    trained = subject.trained(seed)
    size = 0.3 if subject.dataset == "mnist" else 8 / 255
    x, y = subject.images(0, images)
    found = PGD(Linf(size), steps=20, step=size / 10)(trained.net, x, y, generator=runtime.generator(seed, "he", "pgd"))
    return {"test_accuracy": trained.test_accuracy, "train_accuracy": trained.train_accuracy, "images": images,
            "robust": int((found.was_correct & ~found.success).sum()), "passes": int(found.passes.sum()),
            "parameters": sum(p.numel() for p in trained.net.parameters())}


def plan_nets(scale):
    """One unit for each network."""
    return {name: dict(subject=subject, images=scale.tested, seed=scale.seed) for name, subject in scale.nets.items()
            if scale.subject in ("all", subject.dataset)}


nets = run.units("nets", measure_net, plan_nets)


# %% [markdown]
# Then the attacks: a unit is a block of the hundred images, one network and one attack.

# %%
def attack_images(subject, attack, *, first, images, iterations, radius, shown, seed):
    """An attack on a block of images, and what point and region classification make of the results."""
    x, y = subject.images(first, images)
    model = subject.model(seed)
    found = setting.examples(model, x, y, attack, iterations=iterations, seed=seed)
    with judge.frozen(model):
        point = judge.logits(model, found.x).argmax(1)
    region = Region(radius)(model, found.x, generator=runtime.generator(seed, "he", "region", first))
    return {"iterations": iterations, "images": images, "correct": found.correct.tolist(),
            "success": found.success.tolist(), "rms": rms(x, found.x).tolist(), "point": (point == y).tolist(),
            "region": (region == y).tolist(), "passes": found.passes.tolist(), "labels": y.tolist(),
            "classes": point.tolist(), "pictures": (found.x[:shown] * 255).round().to(torch.uint8)}


def plan_attacks(scale):
    """Blocks of images for each network and attack; the slowest attack has the smallest blocks."""
    planned = {}
    for name, subject in scale.nets.items():
        if scale.subject not in ("all", subject.dataset):
            continue
        mnist = subject.dataset == "mnist"
        for kind, attack in setting.attacks(subject.dataset, scale.rate).items():
            searched = kind in ("brittle", "margin", "strong")
            size = scale.margin if kind == "margin" else scale.whole
            if searched and not mnist:
                size = max(1, size // 5)
            count = min(scale.blocks, -(-scale.sample // size))
            for block in range(count):
                planned[f"{name}-{kind}-b{block}"] = dict(
                    subject=subject, attack=attack, first=setting.FIRST[subject.dataset] + block * size, images=size,
                    iterations=scale.iterations if searched else 1, radius=0.3 if mnist else 0.02,
                    shown=min(size, scale.shown) if block == 0 else 0, seed=scale.seed)
    return planned


attacked = run.units("attacks", attack_images, plan_attacks, parts=("iterations",))
