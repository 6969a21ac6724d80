# ---
# jupyter:
#   boundary_book:
#     items:
#     - algorithm-1
#     - figure-1
#     - equation-2
#     - equation-3
#     - definition-robustness
#     - definition-separability
#     needs:
#     - ren/ii_networks
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
# (ren-iii)=
# # III. Walking to the boundary
#
# Take a digit and a picture of another class, mix them half and half, and ask the network. If the mixture is still the
# digit, the mixture becomes the new starting point; if not, it becomes the new target. After a few halvings the two ends are
# almost the same picture, and the network still gives them different labels. This is Algorithm 1 of
# Ren et al. {cite:p}`ren2025`, and everything they measure is read off the pair it ends with.

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the first net; net n is trained with seed + n
device: str = "auto"  # auto, cpu or cuda
dataset: str = "mnist"  # mnist, fashion_mnist or digits: what is classified
architecture: str = "ren-a"  # ren-a, ren-b or ren-c
nets: int = None  # trained nets; None takes the profile's value
images: int = None  # test images to start from; None takes the profile's value
recipe: str = None  # name of a training recipe; None takes the profile's value
digit: int = 0  # index of the test image whose path Figure 1 shows

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from shared import borderline
from shared.models import models
from shared.pages import notebook, report
from shared.training import training

run = notebook.start("ren/iii_borderline", globals())

# %%
scale = run.scale(
    smoke=dict(nets=1, images=100, recipe="ren-smoke"),
    quick=dict(nets=1, images=1_000, recipe="ren-quick"),
    paper=dict(nets=5, images=10_000, recipe="ren-paper"),
)
THRESHOLD, ITERATIONS = 0.99, 9  # Section IV: stop above this SSIM, or after this many mixtures

# %% [markdown]
# ## The two definitions and the two goals
#
# With $x_o$ the original picture, $x_s$ the last mixture inside its class and $x_b$ the last one outside:
#
# - **Robustness** is the gap between $x_o$ and $x_s$: how far the picture could be distorted and keep its label.
# - **Separability** is the gap between $x_s$ and $x_b$: how different two pictures must be to get different labels.
#
# Both are reported as an SSIM, so **a small number is a large gap**: lower means more robust, and better separated. The
# search has one of two goals:
#
# $$\text{maximise } \mathrm{SSIM}(x_b, x_s) \quad\text{such that}\quad C(x_s) = C(x_o),\; C(x_b) \neq C(x_o)$$ (ren-eq-2)
#
# $$\text{maximise } \mathrm{SSIM}(x_b, x_o) \quad\text{such that}\quad C(x_s) = C(x_o),\; C(x_b) \neq C(x_o)$$ (ren-eq-3)
#
# Goal {eq}`ren-eq-2` closes in on the boundary; goal {eq}`ren-eq-3` looks for the outside picture that is most like the
# original, an adversarial example.
#
# ## Protocol, and what the paper leaves open
#
# | open in the paper | chosen here | why |
# | --- | --- | --- |
# | arithmetic of `uint8(xb/2 + xs/2)` | each half is rounded half up on its own, sums stop at 255 | what the paper's software does with 8-bit operands; white and black mix to 128, two equal odd values $v$ to $v+1$ |
# | where the counter starts | at most nine mixtures | the text says the maximum number of iterations was nine; the pseudo-code never sets the counter |
# | a source that already has the background's class | excluded and counted | no boundary lies between the two |
# | the class to stay in | the network's own answer to the source | so says the pseudo-code |
# | how goal (3) is searched | among all outside pictures visited, the one most similar to the original | the text changes the goal and nothing else |

# %%
test_set = run.data(dataset)
trained = [training.trained(architecture, test_set, scale.recipe, seed=seed + n, device=run.device)
           for n in range(scale.nets)]
report.say("Test accuracy of the nets used here: " + ", ".join(f"{100 * t.test_accuracy:.2f}%" for t in trained) + ".")


# %% [markdown]
# ## Figure 1: the steps of one search
#
# The path below starts from one test digit and a white picture. Each step shows the mixture, the label it gets, and which
# of the two ends it replaces.

# %%
def uniform(like, value):
    """One picture [1, 1, H, W] with every pixel equal to `value`."""
    return torch.full_like(like[:1], value)


def start_and_end(first):
    """The first test image from index `first` on, and a background, that the net gives different labels."""
    for i in range(first, len(test_set.x_test)):
        for name, value in backgrounds.items():
            image = test_set.x_test[i:i + 1]
            if classify(image)[0] != classify(uniform(image, value))[0]:
                return image, name, value
    raise ValueError(f"from test image {first} on, the net gives every image the label of white and black; train it longer")


classify = models.classifier(trained[0].net, device=run.device)
backgrounds = {"white": 255, "black": 0}
source, name, value = start_and_end(digit)
walk = borderline.search(classify, source, uniform(source, value), threshold=THRESHOLD, max_iterations=ITERATIONS,
                         keep_path=True)
steps = int(walk.iterations[0])
path = [{"step": i + 1, "class": int(walk.path.mixed_class[0, i]),
         "replaces": "x_s" if walk.path.moved_inside[0, i] else "x_b",
         "ssim": float(walk.path.similarity[0, i])} for i in range(steps)]


# %% mystnb={"figure": {"caption": "Ren et al., Figure 1: the path from a test digit and a uniform picture to a borderline pair. Above each mixture: its label, the end it replaces, and the SSIM of the two ends after that. Blue frames: pictures with the digit's label; orange: with another.", "name": "ren-fig-1"}, "image": {"alt": "A row of pictures: the digit, the background, each mixture with its label, and the final inside and outside pictures, which look alike."}}
def draw_path(panels):
    """Pictures with titles, framed by whether they keep the digit's label; returns the figure."""
    figure, axes = plt.subplots(2, (len(panels) + 1) // 2, figsize=(10, 5))
    for ax in axes.flat[len(panels):]:
        ax.set_axis_off()
    report.image_grid(axes.flat, [image for image, _, _ in panels], [title for _, title, _ in panels])
    for ax, (_, _, label) in zip(axes.flat, panels):
        ax.spines[:].set(color=report.PALETTE[0 if label == int(walk.inside_class[0]) else 1], linewidth=3)
    return figure


flat = uniform(source, value)
panels = [(source[0], f"$x_o$: {int(walk.inside_class[0])}", int(walk.inside_class[0])),
          (flat[0], f"$x_b$: {int(classify(flat)[0])}", int(classify(flat)[0]))]
panels += [(walk.path.mixed[0, p["step"] - 1],
            f"{p['step']}: {p['class']} → ${p['replaces']}$\nSSIM {p['ssim']:.3f}", p["class"]) for p in path]
panels += [(walk.inside[0], f"inside: {int(walk.inside_class[0])}", int(walk.inside_class[0])),
           (walk.outside[0], f"outside: {int(walk.outside_class[0])}", int(walk.outside_class[0]))]
png = report.picture(draw_path(panels))

# %%
white = torch.full((1, 1, 1, 1), 255, dtype=torch.uint8)
halved = [white]
for _ in range(8):
    halved.append(borderline.mix(halved[-1], torch.zeros_like(white)))
# What the figure must contain is checked on what was drawn: class of every panel, and which end each step moved.
told = [title for _, title, _ in panels]
figure_1 = run.publish(
    "figure-1", figure=png,
    data={"background": name, "steps": path, "halvings_of_255": [int(h) for h in halved],
          "inside_class": int(walk.inside_class[0]), "outside_class": int(walk.outside_class[0])},
    contains=["x_o" in told[0] and "x_b" in told[1],
              all(int(classify(image[None])[0]) == label for image, _, label in panels[2:-2]),
              all(p["replaces"] in title for title, p in zip(told[2:-2], path)),
              int(classify(walk.inside)[0]) != int(classify(walk.outside)[0])],
    claims=[lambda d: (d["halvings_of_255"][8] == 1, f"255 after 0 to 8 halvings: {d['halvings_of_255']}")])


# %% [markdown]
# ## Algorithm 1 on many digits
#
# Whether the algorithm keeps its promises is checked on every source: the final pictures are classified again, and each
# search must have stopped for one of the two reasons it may stop for.

# %%
def check_searches(trained, sources, background, threshold, iterations, device):
    """Run Algorithm 1 on all sources and count what it promises."""
    classify = models.classifier(trained.net, device=torch.device(device))
    flat = torch.full_like(sources[:1], background)
    pairs, nearest = (borderline.search(classify, sources, flat, threshold=threshold, max_iterations=iterations,
                                        objective=objective) for objective in ("separability", "adversarial"))
    searched = ~pairs.excluded
    start, inside, outside = (classify(x)[searched] for x in (sources, pairs.inside, pairs.outside))
    mean = {k: float(getattr(pairs, k)[searched].mean()) for k in ("separability", "robustness", "adversarial")}
    return {"searched": int(searched.sum()), "excluded": int(pairs.excluded.sum()),
            "inside_wrong": int((inside != start).sum()), "outside_wrong": int((outside == start).sum()),
            "by_threshold": int(pairs.converged[searched].sum()),
            "by_limit": int((~pairs.converged[searched] & (pairs.iterations[searched] == iterations)).sum()),
            **mean, "adversarial_3": float(nearest.adversarial[searched].mean())}


arguments = [dict(trained=t, sources=test_set.x_test[:scale.images], background=value, threshold=THRESHOLD,
                  iterations=ITERATIONS, device=str(run.device)) for t in trained for value in backgrounds.values()]
checks = run.units(check_searches, arguments, label="searches")
total = {k: sum(c[k] for c in checks) for k in ("searched", "excluded", "inside_wrong", "outside_wrong", "by_threshold",
                                               "by_limit")}
total["otherwise"] = total["searched"] - total["by_threshold"] - total["by_limit"]
broken = total["inside_wrong"] + total["outside_wrong"] + total["otherwise"]
algorithm_1 = run.publish(
    "algorithm-1", data=total, parts=("images", "nets"), exact=(float(broken), 0.0),
    claims=[lambda d: (d["inside_wrong"] == d["outside_wrong"] == 0,
                       f"{d['searched']:,} searches: {d['inside_wrong']} inside and {d['outside_wrong']} outside pictures on the wrong side"),
            lambda d: (d["otherwise"] == 0 and d["by_threshold"] > 0,
                       f"{d['by_threshold']:,} stopped by the threshold, {d['by_limit']:,} by the limit, {d['otherwise']} otherwise")])

# %%
weights = np.array([c["searched"] for c in checks])
mean = {k: float(np.average([c[k] for c in checks], weights=weights))
        for k in ("separability", "robustness", "adversarial", "adversarial_3")}
for item, data in {
        "equation-2": {"mean_ssim_of_the_pair": mean["separability"], "mean_ssim_of_the_outside_picture_to_the_original": mean["adversarial"]},
        "equation-3": {"mean_ssim_of_the_outside_picture_to_the_original": mean["adversarial_3"]},
        "definition-robustness": {"mean_robustness": mean["robustness"]},
        "definition-separability": {"mean_separability": mean["separability"]}}.items():
    run.publish(item, data=data, parts=("images", "nets"))

# %% [markdown]
# ## Reading

# %%
report.say(
    f"Of {total['searched'] + total['excluded']:,} starts {total['excluded']:,} were excluded because the net gives source and "
    f"background one label. {total['by_threshold'] / total['searched']:.1%} of the searches reached an SSIM above {THRESHOLD} within "
    f"{ITERATIONS} mixtures; the pair they end with has a mean SSIM of **{mean['separability']:.4f}**, while the inside picture has "
    f"only **{mean['robustness']:.4f}** in common with its original. Asking for the outside picture nearest to the original "
    f"(goal 3) instead of the last one (goal 2) changes the mean SSIM to the original from {mean['adversarial']:.4f} to "
    f"{mean['adversarial_3']:.4f}.")

# %% [markdown]
# ## Things to try
#
# `-p digit 7` walks from another digit · `-p architecture ren-c` asks another net · `-p dataset fashion_mnist` walks from
# a shirt to white.

# %%
run.stamp()
