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
# (sutton-7-2-3)=
# # 7.2.3 GTSRB: traffic signs
#
# *Sutton et al. {cite:p}`sutton2023`, Section 7.2.3*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the nets' first weights, of their training and of every draw
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale only: missing, stale, all, none, names, or 2/8 for the second of eight shares
classes: int | None = None  # problems are made of the first so many classes; None takes the profile's value [2..6]
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

run = start("sutton/7_2_3_gtsrb", globals())
# Images of the six classes in the benchmark's training folder, and how many the printed shares allow as test images.
PRINTED = (210, 240, 2070, 689, 1500, 1200)
HELD_OUT = (65, 69, 605, 231, 469, 348)

# %% [markdown]
# ## The claim, and how it is tested
#
# Six traffic signs were chosen because they look unlike each other. The same shorter net learns each sign and the next one in Table
# 22; the paper prints accuracy and susceptibility (Table 23) and the sizes of attacks (Table 24).
#
# Which images were test images is not said. The printed percentages are whole numbers of images only if about 30% of the benchmark's
# *training* images were held out. These come in tracks of 30 photographs of one physical sign, so that a test image has near
# twins among the training images; the same problems with whole tracks held out stand beside them.

# %%
scale = run.scale(
    smoke=dict(classes=3, architecture="sutton-vgg-short", epochs=1, images_train=16, images_test=8,
               images_attack=1, images_random=1, draws=4),
    quick=dict(classes=6, architecture="sutton-vgg-short", epochs=2, images_train=128, images_test=100,
               images_attack=4, images_random=2, draws=20),
    paper=dict(classes=6, architecture="sutton-vgg-short", epochs=100, images_train=2_000,
               images_test=2_000, images_attack=2_000, images_random=2_000, draws=2_000),
)
PARTS = ("epochs", "images_train", "images_test", "images_attack", "images_random", "draws")


# %% [markdown]
# A unit is one problem: a net is trained, every image that it knows is attacked, and every image with an attack is
# perturbed at random.

# %%
def measure(class_a, class_b, *, held_out, by_track, architecture, epochs, images_train, images_test,
            images_attack, images_random, draws, seed):
    """All that Tables 23 and 24 need of one problem; a size beyond what it has takes all."""
    sizes = dict(epochs=epochs, images_train=images_train, images_test=images_test,
                 images_attack=images_attack, images_random=images_random, draws=draws)
    return pair.measure_pair("gtsrb", class_a, class_b, held_out=held_out, by_track=by_track,
                             architecture=architecture,
                             seed=seed, **sizes) | sizes


def problems(scale, by_track):
    """Arguments of the units of each sign and the next one; the sizes are those of the problem."""
    size = [printed - out for printed, out in zip(PRINTED, HELD_OUT)]
    return [dict(
        class_a=a, class_b=a + 1, held_out=[HELD_OUT[k] / PRINTED[k] for k in (a, a + 1)], by_track=by_track,
        architecture=scale.architecture, epochs=scale.epochs, draws=scale.draws, seed=scale.seed,
        **{name: min(getattr(scale, name), size[a] + size[a + 1])
           for name in ("images_train", "images_test", "images_attack", "images_random")})
        for a in range(scale.classes - 1)]


def plan(scale):
    """One unit for each sign and the next one."""
    return {f"s{each['class_a']}-s{each['class_b']}": each for each in problems(scale, False)}


def plan_tracks(scale):
    """The same with whole tracks held out."""
    return {f"s{each['class_a']}-s{each['class_b']}-tracks": each for each in problems(scale, True)}


pairs = run.units("pairs", measure, plan, parts=PARTS)
tracks = run.units("tracks", measure, plan_tracks, parts=PARTS)

# %%
run.stamp()
