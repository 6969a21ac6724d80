# ---
# jupyter:
#   boundary_book:
#     items:
#     - table-25
#     - figure-21
#     - figure-22
#     needs:
#     - sutton/7_2_1_cifar10_tables
#     - sutton/7_2_2_fashion_mnist_tables
#     - sutton/7_2_3_gtsrb_tables
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
# (sutton-7-2-4)=
# # 7.2.4 ImageNet: adversarial against random perturbations on a smaller network
#
# *Sutton et al. {cite:p}`sutton2023`, Section 7.2.4*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the random perturbations
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # at full scale: missing or none
network: str = "squeezenet"  # which network is tested; two are downloaded {squeezenet, resnet50, vgg19}
blocks: int = None  # blocks of twenty images; None takes the profile's value [1..50]
draws: int = None  # random perturbations of an image; None takes the profile's value [1..2000]
largest: float = 5.0  # largest of the 256 scalings of an attack (0..]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt

from papers.sutton import experiments, photographs
from report import display, prose
from report.page import start
from shared.attacks.line import scalings

page = start("sutton/7_2_4_imagenet", globals())

# %% [markdown]
# ## The idea
#
# A colour image of 224 by 224 pixels has 150,528 values, about fifty times as many as a CIFAR-10 image. According to the theory
# ({ref}`Section 4 <sutton-4-1>`), random noise should flip still fewer of the labels that an attack flips: the more dimensions, the rarer a
# random direction that runs towards the boundary.
#
# The paper tests two published networks, ResNet50 and VGG19, on 20,480 images. An *attack* is a step along the gradient of the loss that
# changes the predicted label, whatever the new label is. Then 2,000 *random perturbations* are added to each attackable image, uniform in a
# ball whose radius is up to ten times the norm of the image's own attack.
#
# ## Step by step: one photograph
#
# The loss is the squared error between the predicted probabilities and the label, as in all experiments of the paper.

# %% tags=["show-input"]
import torch
from torch.nn import functional


def attack(net, image, label, sizes):
    """The smallest step along the gradient that changes the predicted label: (norm, direction), or None."""
    x = image.clone().requires_grad_()
    probabilities = net(x[None]).softmax(1)[0]
    target = functional.one_hot(label, len(probabilities))
    (probabilities - target).square().sum().backward()
    direction = x.grad / x.grad.norm()
    for size in sizes:
        if net((image + size * direction)[None]).argmax() != label:
            return size, direction
    return None


def noise_in_ball(image, radius, generator):
    """The image with noise, uniform in a ball: a random direction, and nearly always nearly the radius."""
    direction = torch.randn(image.shape, generator=generator).to(image.device)
    share = torch.rand((), generator=generator).item() ** (1 / image.numel())
    return image + radius * share * direction / direction.norm()


# %%
scale = page.scale(**experiments.IMAGENET)
example = None
if runs != "none":     # that reads what is recorded, and opens no data
    net = experiments.model_of(scale.network, scale.seed)
    for image, label in zip(*experiments.photographs(0, scale.size)):
        hit = attack(net, image, label, scalings(largest=largest)[1:])
        if net(image[None]).argmax() == label and hit:
            size, direction = hit
            fast = experiments.examine(net, image[None], label[None], draws=1, largest=largest, seed=seed)
            assert abs(float(fast["l2"][0]) - float(size)) <= 1.5 * largest / 255     # at most one step apart
            noisy = [noise_in_ball(image, 10 * size, page.generator("noise", n)) for n in range(20)]
            flipped = sum(int(net(some[None]).argmax() != label) for some in noisy)
            example = [image, image + size * direction, noisy[0]]
            break
if example is not None:
    figure, axes = plt.subplots(1, 3, figsize=(6, 2.4))
    display.image_grid(axes, [image.cpu().clamp(0, 1) for image in example], photographs.TITLES)
    display.picture(figure, f"One image: clean; attacked, with a step of norm {size:.2f}; with noise of ten "
                            f"times that "
                    f"norm, of which {flipped} of {len(noisy)} samples flip the label", "An image three "
                                                                                        "times.")

# %% [markdown]
# The norm of this attack equals that of the fast code to within a step ({download}`experiments.py <../../papers/sutton/experiments.py>`, `examine`).
#
# ## What came out
#
# The weights of the paper's networks are not part of this book's data. SqueezeNet 1.1 is a small network for the same thousand classes; the hash
# of its weights is checked. All numbers below are its own: neither agreement with the paper nor a difference from it says anything about the paper's
# networks. Images are taken in the order of ImageNet's classes, one of each; fish, birds and reptiles come first. The 95% intervals treat the images
# as a random sample, so they do not hold for later classes.

# %%
tested = page.results(experiments.imagenet)

# %% [markdown]
# ### Ten times longer noise misses what a small step finds

# %%
page.text(tested, photographs.facts,
          "Of the {images} images measured so far, the network classifies {correct} correctly. A gradient "
          "step of norm at most {largest} flips {attacked} of these, and {draws} noise samples of ten times "
          "its norm flip {ten} of the {attacked}.")
page.picture(tested, photographs.draw_shares,
             caption="Share of the attackable images that noise flips, by its norm; line: the paper's "
                     "ResNet50",
             alt="Four bars for noise of one to ten times the norm of the attack.")

# %% [markdown]
# ### The attack changes each value by little

# %%
page.text(tested, photographs.norms,
          "The median attack has a Euclidean norm of {l2}; half of the attacks change each value by at most "
          "{linf}. The loss gradient vanishes for {saturated} of {correct} images; a second attack, along "
          "the gradient of the margin between the correct class and the runner-up, succeeds on {by_margin}, "
          "with a median norm of {margin_l2}. Norms are multiples of {step:.3f}, so that medians may agree "
          "exactly.")

# %% [markdown]
# ## Where it differs, and why
#
# The networks differ, and so do the images, so that a difference has no single cause. What the theory predicts can still be compared with this
# network. If the boundary near each image were a plane at the norm of its attack, nearly no noise of ten times that norm would cross it.

# %%
page.text(tested, photographs.beside_plane,
          "One sample in $10^{{{power:.0f}}}$ of ten times the norm crosses such a plane (exact value of "
          "{{ref}}`Section 4.1 <sutton-4-1>`). An image that noise flips therefore has a boundary that is "
          "nearer than the attack finds, or curved in many directions. Noise flips {ten} of {attacked} "
          "images here, so these runs {outcome}.")

# %% [markdown]
# ## Three things to remember
#
# 1. By {ref}`Theorem 1 <sutton-4-1>`, noise of a fixed multiple of the distance crosses a flat boundary the more rarely, the more values an image
#    has.
# 2. An attack here changes many values by very little: compare its largest change with its Euclidean norm.
# 3. Another network than the paper's tests the code and the method, not the paper's numbers.
#
# ## Try it
#
# 1. In `attack`, print `size * direction.abs().max()` before `return size, direction`; then let `direction` be `x.grad.sign() / x.grad.sign().norm()` and drop the assertion of the folded cell (a quick run shows the picture). Do the norm of the attack and its largest change grow?
# 2. Append `print(noise_in_ball(torch.zeros(3, 2, 2), 1.0, torch.Generator().manual_seed(0)).norm())` to the cell above and try a few seeds, then 224 for 2. How far below the surface of the ball do the samples lie?
# 3. Print `.std()` in place of `.norm()`, for 224: the part of the noise along one direction. How many times as long as the attack must noise be until its part along the attack is typically as long as the attack?

# %%
display.show(display.folded("Answers", (
    "1. The norm does; the largest change becomes several times smaller, since all values change by the same "
    "size.\n"
    "2. In 12 dimensions mostly by some hundredths of the radius, in 150,528 by less than 1/10,000: nearly "
    "all of the volume of this ball lies at its surface.\n"
    "3. Some 388 times, the root of 150,528; ten times the norm are far too short for that.")))

# %% [markdown]
# ## Item by item
#
# The published values stand beside those of SqueezeNet for orientation only.
#
# ### Table 25: accuracy and flipped labels
#
# *Accuracy* is the share of correctly classified images, *adversarial susceptibility* the share of these that a step along the gradient
# misclassifies (256 equally spaced norms up to 5), *random susceptibility* the share of the attackable images that random perturbations
# flip. All are percentages.

# %%
page.table("table-25", tested, photographs.table_25, hidden=("low", "high", "turned"))

# %% [markdown]
# ### Figure 21: norms of the attacks
#
# A *violin* shows a distribution: it is wide where many images have an attack of that norm. Dots are single attacks; the lines across
# mark the smallest, the median and the largest. Pixels lie between 0 and 1.

# %%
page.figure("figure-21", tested, photographs.draw_sizes if scale.network != "vgg19" else None,
            data=photographs.sizes("resnet50"), alt=photographs.VIOLINS,
            note="The share is of the correctly classified images; the paper does not say of which. It does "
                 "not name the network of this figure; we infer ResNet50.")

# %% [markdown]
# ### Figure 22: the same for VGG19
#
# With `network="vgg19"` and the photographs this run downloads the weights that torchvision publishes and shows their attacks here.

# %%
page.figure("figure-22", tested, photographs.draw_sizes if scale.network == "vgg19" else None,
            data=photographs.sizes("vgg19"), alt=photographs.VIOLINS)

# %% [markdown]
# ### Choices that the paper leaves open
#
# | choice | ours | why |
# |---|---|---|
# | network | SqueezeNet 1.1 for ResNet50 | published weights, checked by a known hash; small enough for a processor; VGG19 is not run |
# | images | at most a thousand, one of each class, in the order of the classes | what the data folder has; the paper has 20,480 of all classes |
# | preparation of images | middle square of 224 by 224 pixels, mean and deviation of the network's own training | the paper's is not described, and its accuracies are below those of the published networks |
# | loss | squared difference between the predicted probabilities and the one-hot label, averaged over classes (TensorFlow's default) | "the mean square error loss function" of all experiments |
# | largest step | 5, as for the small images | the number is lost in our copy; for the small images 5 is inferred. A limit that grows with the square root of the dimension would make one step as large as a typical attack |
# | norms of the noise | 10 times that of the attack, as printed; also 1, 2 and 5 times | the text reports "virtually zero" for the smaller ones |
# | order of perturbations | as drawn | in so many dimensions nearly all points of a ball lie close to its surface, so their norms hardly differ |

# %%
facts = photographs.facts(page.best(tested))
page.box(
    "Does random noise find what attacks find on large photographs?",
    prose.first(
        facts, ("papers", "Rarely: most images can be attacked, and noise ten times as long flips "
                          "{ten_percent:.0f}% of them."),
        ("missed", "We could not test the paper's two networks; on a much smaller one, noise found none."),
        "We could not test the paper's two networks; on a much smaller one, noise found {ten} of "
        "{attacked}."),
    prose.first(
        facts, ("every", "An attack that changes every value by less than a tenth of its range "
                         "(median of the largest change: {change:.1f}%) flips all {correct} correctly "
                         "classified images ({confidence}% interval {small.low:.0f} to {small.high:.0f}%; "
                         "paper: {paper.small:.0f}%)."),
        "An attack that changes every value by less than a tenth of its range (in half the images by at "
        "most {change:.0f}%) flips {small.hits} of {correct} correctly classified images ({confidence}% "
        "interval {small.low:.0f} to {small.high:.0f}%; paper: {paper.small:.0f}%).")
    + " Noise ten times as long (Euclidean norm) flips {ten} of {attacked} ({low:.0f} to {high:.0f}%; paper: "
      "{paper.ten:.1f}%).",
    facts=facts, picture=photographs.draw_box(facts, example),
    alt="An image clean, attacked and with noise; bars: flipped by the attack, by ten times longer noise."
    if example else "Two bars with intervals and the paper's values: flipped by the attack, by ten times "
                    "longer noise.")

# %%
page.finish()
