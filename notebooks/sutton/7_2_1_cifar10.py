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
# (sutton-7-2-1)=
# # 7.2.1 CIFAR-10: attacked with ease, hardly disturbed at random
#
# *Sutton et al. {cite:p}`sutton2023`, Section 7.2.1*

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
sizes: tuple = (0.1, 0.5, 1.0)  # half-widths of the cube from which noise is drawn in training (0..]

# %% tags=["hide-cell"]
from shared.pages.start import start
from shared.stability import pair

run = start("sutton/7_2_1_cifar10", globals())
CLASSES = ("aeroplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SHOWN = ("aeroplane", "cat")  # of Figures 11, 12 and 14

# %% [markdown]
# ## The claim, and how it is tested
#
# For each two of the ten classes a net learns to tell them apart. Nearly every image that it knows has an *adversarial attack*: a
# small step along the gradient of the loss that changes the answer. Of 2,000 *random perturbations* several times as large,
# often not one does. The paper prints both shares, and the sizes of the attacks, for all 45 problems (Tables 4 to 12), and
# for nets that were trained with random noise (Tables 13 to 18).

# %%
scale = run.scale(
    smoke=dict(classes=2, architecture="sutton-vgg-short", epochs=1, images_train=16, images_test=8,
               images_attack=1, images_random=1, draws=4),
    quick=dict(classes=4, architecture="sutton-vgg-short", epochs=2, images_train=128, images_test=100,
               images_attack=4, images_random=2, draws=20),
    paper=dict(classes=10, architecture="sutton-vgg", epochs=100, images_train=10_000,
               images_test=2_000, images_attack=10_000, images_random=10_000, draws=2_000),
)
PARTS = ("epochs", "images_train", "images_test", "images_attack", "images_random", "draws")


# %% [markdown]
# A unit is one problem: a net is trained, every image that it knows is attacked, and every image with an attack is
# perturbed at random. Ten thousand training images (and two thousand test images) are all that a problem has.

# %%
def measure(class_a, class_b, *, noise, noise_size, pictures,
            architecture, epochs, images_train, images_test,
            images_attack, images_random, draws, seed):
    """All that Tables 4 to 18 need of one problem; a size beyond what it has takes all."""
    sizes = dict(epochs=epochs, images_train=images_train, images_test=images_test,
                 images_attack=images_attack, images_random=images_random, draws=draws)
    return pair.measure_pair("cifar10", class_a, class_b, noise=noise, noise_size=noise_size, panels=pictures,
                             architecture=architecture,
                             seed=seed, **sizes) | sizes


def plan(scale):
    """One unit for each two classes, and always the one of Figures 11, 12 and 14."""
    return {f"{CLASSES[a]}-{CLASSES[b]}": dict(
        class_a=a, class_b=b, noise=None, noise_size=0.0, pictures=(CLASSES[a], CLASSES[b]) == SHOWN,
        architecture=scale.architecture, epochs=scale.epochs,
        images_train=scale.images_train, images_test=scale.images_test, images_attack=scale.images_attack,
        images_random=scale.images_random, draws=scale.draws, seed=scale.seed)
        for a in range(len(CLASSES)) for b in range(a + 1, len(CLASSES))
        if b < scale.classes or (CLASSES[a], CLASSES[b]) == SHOWN}


pairs = run.units("pairs", measure, plan, parts=PARTS)

# %% [markdown]
# Training with noise: each class and the next one, noise from a cube of each half-width $a$, and from a ball of radius
# $a\sqrt{n/3}$, which has about the same Euclidean norm on average ($n$ is the number of an image's values, so the root is 32). The
# tables print nothing of random perturbations here, so that one image has to do. The three sizes are lost in our copy of the
# text: they are a choice.

# %%
def plan_noise(scale):
    """One unit for each level of noise, its kind, and each class and the next one."""
    return {f"{CLASSES[a]}-{CLASSES[a + 1]}-{noise}-{level}": dict(
        class_a=a, class_b=a + 1, noise=noise, noise_size=size * widths, pictures=False,
        architecture=scale.architecture, epochs=scale.epochs, images_train=scale.images_train,
        images_test=scale.images_test, images_attack=scale.images_attack, images_random=1, draws=scale.draws,
        seed=scale.seed)
        for level, size in enumerate(scale.sizes, start=1)
        for noise, widths in (("cube", 1.0), ("ball", 32.0))
        for a in range(scale.classes - 1)}


noisy = run.units("noise", measure, plan_noise, parts=PARTS)

# %%
run.stamp()
