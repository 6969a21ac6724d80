# ---
# jupyter:
#   boundary_book:
#     items:
#     - figure-1
#     - figure-2
#     - figure-3
#     - figure-6
#     - figure-7
#     - procedure-boundary-distance
#     - procedure-purity
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
# (he-4)=
# # 4. The boundary around an image
#
# *He et al. {cite:p}`he2018`, Section 4 and Appendix B*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the nets, of the attacks' noise and of the directions
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale only: missing, stale, all, none, names, or 2/8 for the second of eight shares
subject: str = "all"  # whose units are wanted {all, mnist, cifar10}
blocks: int | None = None  # blocks of images of each net and kind; None takes the profile's value [1..]
iterations: int | None = None  # most iterations for each c of an attack; None takes the profile's value [1..]
mnist_step: float = 0.02  # RMS distance between two looks along a direction; the authors' code has 0.01 (0..0.1]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import torch

from shared.attacks import judge
from shared.attacks.region import Region
from shared.boundary import setting
from shared.boundary.survey import NEVER, purity, survey
from shared.pages import display
from shared.pages.start import start

run = start("he/4_boundary", globals())
KINDS = {"benign": "benign", "brittle": "OptBrittle", "margin": "OptMargin", "fgsm": "FGSM"}
COLUMNS = ("mnist-normal", "mnist-adv", "cifar10-normal", "cifar10-adv")

# %% [markdown]
# ## The claim, and how it is tested
#
# From an image we walk in about a thousand random directions, at right angles to each other, until the network's answer changes.
# The paper claims that adversarial examples lie differently between the classes than the images they were made from: the
# boundary is nearer, and in most directions it leads to one and the same class.
#
# The networks, images and attacks are those of {ref}`Section 3 <he-3>`. As in the paper only correctly classified
# images and successful examples of theirs count.

# %%
scale = run.scale(
    smoke=dict(nets=setting.subjects("smoke"), rate=0.4, sample=3, whole=3, size=3, blocks=1, iterations=4, directions=18,
               cifar_directions=18, side=9),
    quick=dict(nets=setting.subjects("quick"), rate=0.1, sample=8, whole=8, size=8, blocks=1, iterations=20, directions=98,
               cifar_directions=100, side=31),
    paper=dict(nets=setting.subjects("paper"), rate=None, sample=100, whole=100, size=25, blocks=20, iterations=1000, directions=784,
               cifar_directions=1000, side=121),
)


# %% [markdown]
# A unit is a block of images, one network and one kind of example: the attack, then the walks.

# %%
def explore(subject, attack, *, first, images, iterations, directions, negatives, step, top, pictured, seed):
    """Distances and adjacent classes around a block of examples, summed up for each; the walks of one in full.

    pictured  which image of the block, or -1: its walks are kept one by one
    """
    x, y = subject.images(first, images)
    model = subject.model(seed)
    found = setting.examples(model, x, y, attack, iterations=iterations, seed=seed)
    dirs = setting.directions_for(x, directions, negatives=negatives, seed=seed)
    around = survey(model, found.x[found.counts], dirs, step=step, top=top)
    linf = around.linf
    told = {"iterations": iterations, "images": images, "labels": y.tolist(), "counts": found.counts.tolist(),
            "classes": around.reference.tolist(), "never": (~around.found).float().mean(1).tolist(),
            "least": around.distance.amin(1).tolist(), "median": around.distance.median(1).values.tolist(),
            "least_linf": linf.amin(1).tolist(), "median_linf": linf.median(1).values.tolist(),
            "purity": purity(around, 9).tolist(),
            "home": (around.adjacent == y[found.counts][:, None]).float().mean(1).tolist(),
            "evaluations": around.evaluations, "one": None}
    if pictured >= 0 and bool(found.counts[pictured]):
        row = int(found.counts[:pictured].sum())
        told["one"] = {"distance": around.distance[row], "adjacent": around.adjacent[row].to(torch.int16),
                       "linf": linf[row], "class": int(around.reference[row]), "label": int(y[pictured])}
    return told


def plan_walks(scale):
    """Blocks of images for each network and kind of example."""
    planned = {}
    for name, subject in scale.nets.items():
        if scale.subject not in ("all", subject.dataset):
            continue
        mnist = subject.dataset == "mnist"
        for kind, attack in setting.attacks(subject.dataset, scale.rate).items():
            if kind == "strong":
                continue
            size = scale.whole if kind == "brittle" else scale.size
            size = size if mnist else max(1, size // 5)
            for block in range(min(scale.blocks, -(-scale.sample // size))):
                planned[f"{name}-{kind}-b{block}"] = dict(
                    subject=subject, attack=attack, first=setting.FIRST[subject.dataset] + block * size, images=size,
                    iterations=scale.iterations if kind in ("brittle", "margin") else 1,
                    directions=scale.directions if mnist else scale.cifar_directions, negatives=mnist,
                    step=scale.mnist_step if mnist else 2 / 255, top=0.48 if mnist else 126 / 255,
                    pictured=(1 if mnist else 0) if block == 0 else -1, seed=scale.seed)
    return planned


walks = run.units("walks", explore, plan_walks, parts=("iterations",))


# %% [markdown]
# A picture of our own: the plane through an image, its OptBrittle and its OptMargin example.

# %%
def cut(subject, brittle, margin, *, image, iterations, side, seed):
    """Classes on a square of side x side points of the plane through an image and two of its examples.

    The image lies at (0, 0), its OptBrittle example at (1, 0) times their distance. Points are not clipped to [0, 1].
    """
    x, y = subject.images(image, 1)
    model = subject.model(seed)
    near, far = (setting.examples(model, x, y, attack, iterations=iterations, seed=seed) for attack in (brittle, margin))
    to_near, to_far = (near.x - x).flatten(), (far.x - x).flatten()
    across = to_near / to_near.norm().clamp(min=1e-6)
    along = (to_far @ across).item()
    up = to_far - along * across
    height = up.norm().item()
    up = up / max(height, 1e-6)
    reach = 1.6 * max(to_near.norm().item(), to_far.norm().item(), 1e-3)
    line = torch.linspace(-reach, reach, side, device=x.device)
    points = x.flatten() + line[None, :, None] * across + line[:, None, None] * up
    with judge.frozen(model):
        classes = judge.logits(model, points.view(-1, *x.shape[1:])).argmax(1)
    return {"iterations": iterations, "classes": classes.view(side, side).to(torch.int16), "reach": reach,
            "label": int(y), "brittle": [to_near.norm().item(), 0.0], "margin": [along, height],
            "found": bool(near.success & far.success), "pixels": x[0].numel()}


def plan_cuts(scale):
    """One unit for each MNIST network: test image 3153."""
    return {f"{name}-cut": dict(
        subject=subject, brittle=setting.attacks("mnist", scale.rate)["brittle"], margin=setting.attacks("mnist", scale.rate)["margin"],
        image=setting.FIRST["mnist"] + 1, iterations=scale.iterations, side=scale.side, seed=scale.seed)
        for name, subject in scale.nets.items() if subject.dataset == "mnist" and scale.subject in ("all", "mnist")}


cuts = run.units("cuts", cut, plan_cuts, parts=("iterations",))
