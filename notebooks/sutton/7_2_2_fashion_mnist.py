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
# (sutton-7-2-2)=
# # 7.2.2 Fashion-MNIST: clothes told apart
#
# *Sutton et al. {cite:p}`sutton2023`, Section 7.2.2*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the nets' first weights, of their training and of every draw
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale only: missing, stale, all, none, names, or 2/8 for the second of eight shares
classes: int | None = None  # problems are made of the first so many classes; None takes the profile's value [2..10]
architecture: str | None = None  # of the nets {sutton-vgg, sutton-vgg-short}
epochs: int | None = None  # of training; the rate is halved after every fifth of them; None takes the profile's value [1..]
images_train: int | None = None  # training images of a problem; None takes the profile's value [2..]
images_test: int | None = None  # test images of a problem; None takes the profile's value [2..]
images_attack: int | None = None  # images of each set that are attacked; None takes the profile's value [1..]
images_random: int | None = None  # attackable images of each set that are perturbed; None takes the profile's value [1..]
draws: int | None = None  # random perturbations of an image; None takes the profile's value [1..30000]

# %% tags=["hide-cell"]
from shared.pages.start import start
from shared.stability import pair

run = start("sutton/7_2_2_fashion_mnist", globals())
CLASSES = ("tshirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")

# %% [markdown]
# ## The claim, and how it is tested
#
# A shorter net learns to tell each kind of clothes from the next one in the list. Fewer images than in CIFAR-10 have an attack, and
# attacks are larger; random perturbations of the same size still change next to nothing (Tables 20 and 21).

# %%
scale = run.scale(
    smoke=dict(classes=4, architecture="sutton-vgg-short", epochs=1, images_train=16, images_test=8,
               images_attack=1, images_random=1, draws=4),
    quick=dict(classes=10, architecture="sutton-vgg-short", epochs=2, images_train=128, images_test=100,
               images_attack=4, images_random=2, draws=20),
    paper=dict(classes=10, architecture="sutton-vgg-short", epochs=100, images_train=12_000,
               images_test=2_000, images_attack=12_000, images_random=12_000, draws=2_000),
)
PARTS = ("epochs", "images_train", "images_test", "images_attack", "images_random", "draws")


# %% [markdown]
# A unit is one problem: a net is trained, every image that it knows is attacked, and every image with an attack is
# perturbed at random. Twelve thousand training images (and two thousand test images) are all that a problem has; the three
# channels of an image are equal, as in the paper, and an attack may part them.

# %%
def measure(class_a, class_b, *, architecture, epochs, images_train, images_test,
            images_attack, images_random, draws, seed):
    """All that Tables 20 and 21 need of one problem; a size beyond what it has takes all."""
    sizes = dict(epochs=epochs, images_train=images_train, images_test=images_test,
                 images_attack=images_attack, images_random=images_random, draws=draws)
    return pair.measure_pair("fashion_mnist", class_a, class_b, architecture=architecture,
                             seed=seed, **sizes) | sizes


def plan(scale):
    """One unit for each class and the next one."""
    return {f"{CLASSES[a]}-{CLASSES[a + 1]}": dict(
        class_a=a, class_b=a + 1, architecture=scale.architecture, epochs=scale.epochs,
        images_train=scale.images_train, images_test=scale.images_test, images_attack=scale.images_attack,
        images_random=scale.images_random, draws=scale.draws, seed=scale.seed)
        for a in range(scale.classes - 1)}


pairs = run.units("pairs", measure, plan, parts=PARTS)

# %%
run.stamp()
