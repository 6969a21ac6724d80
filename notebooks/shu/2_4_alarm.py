# ---
# jupyter:
#   boundary_book:
#     items:
#     - figure-10
#     - procedure-region-types
#     - procedure-robust-classification
#     needs:
#     - shu/2_1_lenet
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
# (shu-2-4)=
# # 2.4 Disagreement of re-trained networks as an alarm
#
# *Shu et al. {cite:p}`shu2022`, Section 2.4*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks and of samples of small runs
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # nothing here needs runs of its own: those of Section 2.1 are shown

# %% tags=["hide-cell"]
import numpy as np

from papers.shu import alarms, beyond, experiments, planes
from report import display, prose
from report.page import start
from report.verdict import equality

page = start("shu/2_4_alarm", globals())

# %% [markdown]
# ## The idea
#
# Networks that differ in their seed alone disagree on some images. The paper distinguishes three types of regions around a clean image, by
# who errs there: the attacked network, but not all (type 1); all networks (type 2); another network, but not the attacked one (type 3). We measure
# them in *boxes*: a box varies the pixels that all images of one attack and wrong class change, each between its smallest and largest value. The other pixels
# keep their clean values. The type of a box depends on the shares of random images in it that the networks misclassify. The paper names no
# thresholds; ours leave some boxes without a type. As a defence the paper proposes an *alarm*: if two networks disagree, a person or another
# classifier checks the image. It says that this won't solve type 2, and that an ensemble “can be attacked too”.
#
# ## Step by step: an alarm by disagreement
#
# Images of two pixels fill a plane, and five small networks, trained from different seeds, classify each point. Each image of one class is
# attacked by way of the first network alone. These images show the method, not the size of the effect. Edit a step and run both cells again.

# %% tags=["show-input"]
import torch

from papers.shu import toy
from shared import regions as boxes

models, x, y = toy.two_pixels(networks=5)       # they differ in their seed alone
x, y = x[y == 0], y[y == 0]

# 1. The attack: the shortest of 200 steps towards the other class that the first network misclassifies.
start = x.clone().requires_grad_()
scores = models[0](start)
uphill = torch.autograd.grad((scores[:, 1] - scores[:, 0]).sum(), start)[0].flatten(1)
uphill = uphill / uphill.norm(dim=1, keepdim=True)
pairs = []
for image, way in zip(x, uphill):
    steps = image + torch.linspace(0, 0.4, 200).view(-1, 1, 1, 1) * way.view(1, 1, 2)
    wrong = (models[0](steps.clamp(0, 1)).argmax(1) != 0).nonzero()
    if len(wrong):
        pairs.append((image, steps[wrong[0, 0]].clamp(0, 1)))
clean_images, adversarial = (torch.stack(images) for images in zip(*pairs))
# 2. Noise of the same norms, then clipped to [0, 1].
norms = (adversarial - clean_images).flatten(1).norm(dim=1)
noisy = boxes.noise(clean_images, norms, generator=torch.Generator().manual_seed(0))


# 3. The alarm: at least two networks assign different classes.
def alarm(images):
    """Whether at least two networks disagree on each image, [N]."""
    answers = [model(images).argmax(1) for model in models]
    return torch.stack([a != b for a in answers for b in answers]).any(0)


shares = {"adversarial": alarm(adversarial), "noise": alarm(noisy), "clean": alarm(clean_images)}

# %%
ax = toy.draw_plane(alarm(toy.plane()).int(), ["white", display.PALE])
images_of = {"adversarial": adversarial, "noise": noisy, "clean": clean_images}
for n, (name, images) in enumerate(images_of.items()):
    ax.plot(*images.flatten(1).T, display.MARKERS[n], color=display.PALETTE[(3, 1, 0)[n]], ms=5, label=name)
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
display.picture(ax.figure, f"Images of two pixels (grey: at least two of {len(models)} networks disagree)",
                "A plane with grey bands where networks disagree; adversarial images lie there.")
display.say(prose.fill("At least two networks disagree on {adversarial:.0%} of the adversarial images, "
                       "{noise:.0%} of the noisy and {clean:.0%} of the clean ones.",
                       {name: float(of.double().mean()) for name, of in shares.items()}))
fast = {name: boxes.alarm(boxes.agreement(boxes.answers(models, images), y[:1]).sum(0))[-1]
        for name, images in images_of.items()}
toy.compare(all(abs(float(fast[name] - of.double().mean())) < 1e-9 for name, of in shares.items()),
            "shares of images with an alarm")

# %% [markdown]
# The networks of all results below are the ten LeNets of {ref}`Section 2.1 <shu-2-1>`.

# %%
scale = page.scale(**experiments.ONE_DIGIT)
sweeps, slices = map(page.results, (experiments.lenet_sweeps, experiments.planes))
clean = page.results(experiments.lenet_clean, names=["seeds"], plan=experiments.plan_clean)
fifty = page.results(experiments.lenet_fifty)    # five digits of each class

# %% [markdown]
# ## What came out
#
# ### Networks disagree on nearly all adversarial images, seldom on others
#
# The attacks start from fifty digits, five of each class, which all networks classify correctly: without a perturbation none of them raises an
# alarm. A digit has one share, the mean over the attacks on it. The noise has the L2 norms of the adversarial perturbations before clipping to
# $[0, 1]$, which shortens it, since most pixels of a digit are 0. The attacked network errs by construction, so that the alarm is silent only if all
# others follow it into the same class.

# %%
page.text(fifty, beyond.alarm_by_number,
          "At least two of the {networks} networks disagree on {attack.percent:.1f}% of the adversarial "
          "images (95% interval over digits {attack.low:.1f} to {attack.high:.1f}%), and on "
          "{noise.percent:.1f}% of the noisy images of the same digits ({noise.low:.1f} to "
          "{noise.high:.1f}%). The attacked network and one other, averaged over the choice of the other, "
          "disagree on {pair.percent:.0f}% of the adversarial images ({pair.low:.0f} to {pair.high:.0f}%).")

# %% [markdown]
# ### Each further network raises the share on clean digits, too

# %%
page.picture(clean, alarms.draw_numbers,
             caption="Share of clean digits on which at least two networks disagree, the attacked one among "
                     "them, by the number of networks",
             alt="Two rising curves against the number of networks: all clean digits, and, below, those that "
                 "the attacked network classifies correctly.")
page.text(clean, alarms.on_clean,
        "The attacked network and one other disagree on {two:.1f}% of {clean.of} clean digits, at least two "
        "of {networks} on {clean.percent:.1f}% (95% interval {clean.low:.1f} to {clean.high:.1f}%). At least "
        "two disagree on {false.percent:.1f}% of the {false.of} digits that the attacked network classifies "
        "correctly (false positives), and on {true.percent:.1f}% of the {true.of} that it misclassifies.")

# %% [markdown]
# ### In boxes of types 1 and 3 the alarm is frequent, in the others rarer
#
# Random images are drawn in the box of each attack. In a box of type 2 every network errs often. The table has the boxes
# around the one digit of Section 2.1, of all its attacks and wrong classes, and those around the fifty digits, one wrong class per attack. A box of
# the pointwise attack keeps the pixels that any of its examples changes: around the one digit with intervals $[0, 1]$, as in the paper, around the
# fifty with the measured intervals.

# %%
page.extra("types", (sweeps, fifty), alarms.by_type_and_digits,
           "Boxes by who errs in them, and the mean share of their random images on which at least two "
           "networks disagree",
           header={"type": "who errs", "boxes": "boxes, one digit", "alarm": "disagreement, %",
                   "more_boxes": "boxes, fifty digits", "more_alarm": "disagreement, %"})
page.text(fifty, alarms.over_boxes,
          "Over all {boxes} boxes around the fifty digits, the networks disagree on {alarm:.0f}% of the "
          "random images. In the {none} boxes of no type, a network on average misclassifies "
          "{wrong:.0f}% of the images.")

# %% [markdown]
# ## Where it differs, and why
#
# The paper prints no rates. That the alarm is frequent at types 1 and 3 follows largely from
# the definition of the types, one network wrong where another one is right; how rare it is at type 2 is measured. All attacks use one network alone,
# which favours the alarm. The paper warns that an ensemble can be attacked; that was not tested.
#
# ## Three things to remember
#
# - Adversarial images of one network lie where re-trained networks disagree.
# - Noise of the same norm before clipping rarely makes networks disagree.
# - In boxes where every network often errs the alarm is rarer than at types 1 and 3, but not absent.
#
# ## Try it
#
# 1. Use `networks=2`, then `networks=9`. For which of the three kinds of images does the share of alarms rise most?
# 2. Attack all networks: under “Step by step”, let `scores` be `sum(model(start) for model in models)` and `wrong` be `torch.stack([model(steps.clamp(0, 1)).argmax(1) != 0 for model in models]).all(0).nonzero()`. On what share of the adversarial images is there an alarm?
# 3. Take the longest misclassified step instead of the shortest, `steps[wrong[-1, 0]]`. Is the alarm rarer on the adversarial images?

# %%
display.show(display.folded("Answers", (
    "1. For adversarial images. For noise it rises by an image or so; the clean images are those that "
    "the networks learned, and raise no alarm.\n"
    "2. On none: where all networks err, two classes leave them one label. With ten classes they may "
    "still err in different ways.\n"
    "3. Yes: far beyond the boundary of the first network most others err, too, and then all agree.")))


# %% [markdown]
# ## Item by item
#
# ### Region types (procedure)
#
# A box is of type 1 if the attacked network misclassifies at least half of its samples and another one at
# most 5%. It is of type 2 if every network misclassifies at least a quarter. It is of type 3 if the attacked network misclassifies at most 5%
# and another one at least half. With these, each of the paper's six boxes (Table 2) has a type. The function
# below must agree with the fast code; two versions with an error built in must not. {ref}`Section 2.1 <shu-2-1>` calls the types *attacked
# network's boundary*, *transferable* and *other networks' errors*.

# %% tags=["show-input"]
def kind_by_the_paper(attacked, others, *, most=0.5, right=0.05, significant=0.25):
    """The type of a region by the misclassification rates in it: 1, 2, 3, or None."""
    if attacked >= significant and all(rate >= significant for rate in others):
        return 2
    if attacked >= most and any(rate <= right for rate in others):
        return 1
    if attacked <= right and any(rate >= most for rate in others):
        return 3
    return None


# %%
drawn = np.random.default_rng(1).choice([0, 0.03, 0.05, 0.1, 0.25, 0.4, 0.5, 0.9, 1], (400, 3)).tolist()
fast = [alarms.NUMBERS[boxes.kind(rates)] for rates in drawn]
by_hand, *wrong = ([kind_by_the_paper(rates[0], rates[1:], **ends) for rates in drawn]
                     for ends in ({}, {"most": 0.95}, {"right": 0.2}))
page.statement("procedure-region-types", sweeps, data=lambda runs: {
    f"type_{row['type'][0]}": row["boxes"] for row in alarms.by_type(runs)},
    evidence=equality(by_hand == fast, changed=[kinds != fast for kinds in wrong]))

# %% [markdown]
# ### Figure 10: types of points around the digit
#
# Of all planes through the digit and the centres of two attacks' boxes the figure has the two with most points of types 1 to 3 in the ball. The circle is the
# paper's ball; its $\delta$ of 6 is read as a squared norm, because some of its distances are possible only as squares ({ref}`audit`). The paper's drawing is conceptual; here the ten
# networks classify each point. NF is NewtonFool, FGSM the fast gradient sign method, CW2 Carlini and Wagner's L2 attack, BIM the basic iterative
# method, PW the pointwise attack and MI the momentum iterative method.

# %%
page.figure("figure-10", slices, planes.draw_types, data=planes.shares,
    alt="Two planes around the digit: areas of three colours for the types of points, a circle, a black dot.")
page.text(slices, planes.shares,
        "Of {points} grid points inside the ball, in {planes} planes, {type_1:.1%} are of type 1, "
        "{type_2:.1%} of type 2 and {type_3:.1%} of type 3; all networks classify the others correctly.")

# %% [markdown]
# ### Robust classification (procedure)
#
# An image raises an alarm if at least two of $k$ networks assign different classes; shares are means over all choices of the $k - 1$ networks
# other than the attacked one. The paper's statement is tested on the boxes around fifty digits, the right half of the table above.

# %%
page.statement("procedure-robust-classification", (clean, fifty), data=alarms.alarm_data)

# %% [markdown]
# ### Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | thresholds of the types | a half, 5% and a quarter | the paper says “most”, “correctly” and “significant”; they were chosen with the paper's Table 2 in sight |
# | boxes | all pixels that every example changes; around one digit, a box for each wrong class that at least 80 examples of an attack reach | the paper shows one wrong class per attack |
# | the alarm's networks | the attacked one and each choice of others | the paper leaves open how many others (“at least one”) |

# %%
best, digits = page.best(clean, fifty)
facts = beyond.of_alarm(digits, best) if len(best) and len(digits) else {}
page.box(
    "Can disagreement between re-trained networks expose an adversarial image?",
    "Yes, if one network was attacked: at least two of {networks} then nearly always disagree, seldom on "
    "clean images.",
    "They disagree on {attack.percent:.0f}% of adversarial images of {attack.digits} digits that "
    "all {networks} classify correctly (95%: {attack.low:.1f} to {attack.high:.1f}%; the attacked one always "
    "errs), on {noise.percent:.1f}% of these digits with noise as large before clipping. On {clean.of:,} "
    "clean digits that the attacked network gets right, they disagree on {clean.percent:.1f}%.",
    "No attack aimed at all {networks} networks.",
    facts=facts, picture=alarms.draw_alarms(facts, digits) if facts else None, results=(clean, fifty),
    alt="Three bars with intervals: nearly all adversarial images, hardly any others; below, curves "
        "over the number of networks.")

# %%
page.finish()
