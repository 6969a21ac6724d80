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
# # III. Borderline pairs by repeated mixing
#
# *Ren et al. {cite:p}`ren2025`, Section III*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the first net; net n is trained with seed + n
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing, stale, all, none, names, or 2/8, the second of eight shares
dataset: str = "mnist"  # what is classified {mnist, fashion_mnist, digits}
architecture: str = "a"  # of Table I {a, b, c}
nets: int | None = None  # trained nets; None takes the profile's value [1..]
images: int | None = None  # test images to start from; None takes the profile's value [1..]
recipe: str | None = None  # name of a training recipe; None takes the profile's value
digit: int = 0  # index of the test image whose path Figure 1 shows [0..]
threshold: float = 0.99  # stop when the SSIM of the pair is above this (0..1]
iterations: int = 9  # most mixtures per search [1..]

# %% tags=["hide-cell"]
import numpy as np
import torch

from shared import borderline, reference, runtime, similarity
from shared.data import sets as data
from shared.models import inference, ren
from shared.pages import display, mixer
from shared.pages import ren as page
from shared.pages.start import start
from shared.records import prose
from shared.records.summary import over_nets
from shared.training import zoo

run = start("ren/iii_borderline", globals())
BACKGROUNDS = {"white": 255, "black": 0}

# %% [markdown]
# ## What the paper claims, and how it is tested
#
# Algorithm 1 mixes a digit half and half with an image of another class and evaluates the network on the mixture. If the predicted label
# is still that of the digit, the mixture replaces the digit; otherwise it replaces the other image. After a few mixtures the two images
# are almost equal, and their predicted labels still differ. The paper measures the pair at the end of the search: $x_s$, the last image
# inside the class of the original $x_o$, and $x_b$, the last one outside.
#
# Here the algorithm runs in the paper's own steps, one digit at a time, and as a fast search over all digits at once. Both must find the
# same pairs. Then each search is checked for what the paper states of it.

# %%
scale = run.scale(
    smoke=dict(nets=1, images=100, compared=5, recipe=ren.SMOKE),
    quick=dict(nets=1, images=1_000, compared=20, recipe=ren.QUICK),
    paper=dict(nets=5, images=10_000, compared=50, recipe=ren.PAPER),
)


# %% [markdown]
# ## Algorithm 1: mixing towards the boundary
#
# The code follows the paper's steps. `uint8(a/2 + b/2)` is computed as MATLAB, the paper's software, does: each half is rounded, .5 upwards,
# and the sum stops at 255.

# %%
def half_and_half(a, b):
    """The mean of two uint8 images, each half rounded on its own."""
    return (torch.floor(a / 2 + 0.5) + torch.floor(b / 2 + 0.5)).clamp(max=255).byte()


def algorithm_1(classify, x_o, x_b, delta_s, it, mix=half_and_half):
    """Algorithm 1 for one source and one background, each [1, 1, H, W]: x_b, its class, x_s, its class."""
    x_s, i = x_o, 1
    c_b, c_s = classify(x_b), classify(x_s)
    while True:
        x_c = mix(x_b, x_s)
        c_c = classify(x_c)
        if c_c == c_s:
            x_s = x_c
        else:
            x_b, c_b = x_c, c_c
        if similarity.ssim(x_b, x_s) > delta_s or i >= it:
            return x_b, c_b, x_s, c_s
        i = i + 1


# %% [markdown]
# The fast search must find the same two images with the same two labels, pixel for pixel, under two stopping rules: the published
# one, and half of its limit on the mixtures alone. The comparison can fail: with another threshold, another limit, or halves cut off
# instead of rounded, the steps end with other pairs.

# %%
def cut_off(a, b):
    """The mean of two uint8 images, each half cut off to a whole number: what other languages make of it."""
    return a // 2 + b // 2


def differing(classify, sources, flat, fast, delta_s, it, mix=half_and_half):
    """In how many searches that `fast` made the paper's steps end with another pair or other labels."""
    different = 0
    for n in (~fast.excluded).nonzero().squeeze(1).tolist():
        x_b, c_b, x_s, c_s = algorithm_1(classify, sources[n:n + 1], flat, delta_s, it, mix)
        different += not (torch.equal(x_b[0], fast.outside[n]) and torch.equal(x_s[0], fast.inside[n])
                          and c_b == fast.outside_class[n] and c_s == fast.inside_class[n])
    return different


def compare(architecture, net, background, *, compared, recipe, dataset, threshold, iterations):
    """In how many searches the paper's steps, as printed and changed, differ from the fast search."""
    digits = data.load(dataset)
    sources = digits.x_test[:compared]
    classify = inference.classifier(zoo.net(f"ren-{architecture}", recipe, digits,
                                            net, device=runtime.device()).net)
    flat = torch.full_like(sources[:1], BACKGROUNDS[background])
    half = (iterations + 1) // 2  # after all mixtures the pictures may stand still, and no limit would matter
    fast, limited = (borderline.search(classify, sources, flat, threshold=above, max_iterations=limit)
                     for above, limit in ((threshold, iterations), (1.0, half)))
    either, limit_only = (classify, sources, flat, fast), (classify, sources, flat, limited)
    return {"digits": int((~fast.excluded).sum()),
            "as_printed": differing(*either, threshold, iterations) + differing(*limit_only, 1.0, half),
            "threshold_twice_as_near_to_1": differing(*either, (1 + threshold) / 2, iterations),
            "threshold_half_as_near_to_1": differing(*either, 2 * threshold - 1, iterations),
            "one_mixture_less": differing(*limit_only, 1.0, half - 1),
            "one_mixture_more": differing(*limit_only, 1.0, half + 1),
            "halves_cut_off": differing(*either, threshold, iterations, cut_off)}


def plan_compared(scale):
    """One unit for each background, on the first network."""
    return {f"{scale.architecture}-s{scale.seed}-{b}": page.given(
        scale, net=scale.seed, background=b, compared=scale.compared) for b in BACKGROUNDS}


steps = run.units("steps", compare, plan_compared)


# Every search is checked: the final images are classified again, and it stopped for one of two reasons.
def check(architecture, net, background, *, images, recipe, dataset, threshold, iterations):
    """Algorithm 1 from all sources: what it promises, counted, and the mean similarities under both goals."""
    digits = data.load(dataset)
    sources = digits.x_test[:images]
    classify = inference.classifier(zoo.net(f"ren-{architecture}", recipe, digits,
                                            net, device=runtime.device()).net)
    flat = torch.full_like(sources[:1], BACKGROUNDS[background])
    pairs, nearest = (borderline.search(classify, sources, flat, threshold=threshold,
                                        max_iterations=iterations, objective=goal)
                      for goal in ("separability", "adversarial"))
    searched = ~pairs.excluded
    start, inside, outside = (classify(x)[searched] for x in (sources, pairs.inside, pairs.outside))
    converged, mixtures = pairs.converged[searched], pairs.iterations[searched]
    return {"searched": int(searched.sum()), "excluded": int(pairs.excluded.sum()),
            "inside_wrong": int((inside != start).sum()), "outside_wrong": int((outside == start).sum()),
            "by_threshold": int(converged.sum()),
            "by_limit": int((~converged & (mixtures == iterations)).sum()),
            "mixtures": float(mixtures.double().mean()),
            **{name: float(getattr(pairs, name)[searched].double().mean())
               for name in ("separability", "robustness", "adversarial")},
            "nearest_adversarial": float(nearest.adversarial[searched].double().mean()),
            "another_picture": int((nearest.outside != pairs.outside).flatten(1).any(1)[searched].sum())}


def plan(scale):
    """One unit for each network and background."""
    return {f"{scale.architecture}-s{net}-{b}": page.given(scale, net=net, background=b, images=scale.images)
            for net in range(scale.seed, scale.seed + scale.nets) for b in BACKGROUNDS}


searches = run.units("searches", check, plan)

# %%
CHANGED = ("threshold_twice_as_near_to_1", "threshold_half_as_near_to_1", "one_mixture_less",
           "one_mixture_more", "halves_cut_off")
PROMISED = "searched", "excluded", "inside_wrong", "outside_wrong", "by_threshold", "by_limit"


def promises(searches, steps):
    """Sums over all searches of what they promise, and over the compared digits of what differs."""
    total = {k: int(searches[k].sum()) for k in PROMISED}
    return total | {"otherwise": total["searched"] - total["by_threshold"] - total["by_limit"],
                    "compared": {k: int(steps[k].sum()) for k in ("digits", "as_printed", *CHANGED)}}


def evidence(d):
    """An equality: the paper's steps beside the fast search, with the promises that a search may break."""
    return {"kind": "equality", "within_allowed": d["compared"]["as_printed"] == 0,
            "mutants_tried": len(CHANGED),
            "mutants_caught": sum(d["compared"][k] > 0 for k in CHANGED),
            "violations": d["inside_wrong"] + d["outside_wrong"] + d["otherwise"], "nearest_witness": None}


run.statement(
    "algorithm-1", (searches, steps), data=promises, evidence=evidence,
    claims={
        "x_s always keeps the class": lambda d: (
            d["inside_wrong"] == d["outside_wrong"] == 0,
            f"{d['searched']:,} searches: {d['inside_wrong']:,} inside and {d['outside_wrong']:,} outside "
            f"images on the wrong side"),
        "Stops when": lambda d: (
            d["otherwise"] == 0 and d["by_threshold"] > 0,
            f"{d['by_threshold']:,} stopped by the threshold, {d['by_limit']:,} by the limit, "
            f"{d['otherwise']:,} otherwise")})
run.say((searches, steps), promises,
        "In {2 * compared.digits} searches, from {compared.digits} starts under either rule, the paper's "
        "steps and the fast search end with different pairs in {compared.as_printed} cases. For each "
        "*mutant*, a copy of the steps with one error built in, the table counts the searches that end with "
        "another pair. The two mutants of the limit run under a rule that stops by the limit alone, the "
        "others under the published rule.")
run.extra("mutants", steps, lambda units: [
    {"changed": k.replace("_", " "), "searches": int(units.digits.sum()), "others": int(units[k].sum())}
    for k in CHANGED], "How often changed steps end with another pair than the fast search",
          header={"changed": "changed in the paper's steps", "searches": "searches", "others": "other pairs"})


# %% [markdown]
# ## Figure 1: the steps of one search
#
# The path below starts from one test digit and a uniform image to which the network assigns another label. Each mixture replaces one of
# the two ends: that of the digit if it keeps the digit's label, that of the background if it does not.

# %%
def walk(architecture, net, *, digit, recipe, dataset, threshold, iterations):
    """One path of Algorithm 1 with all its images, of the first test image from `digit` on with one."""
    digits = data.load(dataset)
    runtime.index("digit", digit, len(digits.x_test), "test images")
    classify = inference.classifier(zoo.net(f"ren-{architecture}", recipe, digits,
                                            net, device=runtime.device()).net)
    flat = {name: torch.full_like(digits.x_test[:1], grey) for name, grey in BACKGROUNDS.items()}
    labels = {name: int(classify(image)) for name, image in flat.items()}
    starts = ((image[None], name) for image in digits.x_test[digit:] for name in flat
              if int(classify(image[None])) != labels[name])
    source, name = next(starts, (None, None))
    if source is None:
        raise runtime.UserError(f"digit {digit}: the network assigns to every test image from there on the "
                                f"label of white and of black; take a smaller index or train longer")
    pairs = borderline.search(classify, source, flat[name], threshold=threshold,
                              max_iterations=iterations, keep_path=True)
    taken = int(pairs.iterations)
    mixed = pairs.path.mixed[0, :taken]
    return {"background": name, "source_label": int(classify(source)), "background_label": labels[name],
            "mixed_labels": pairs.path.mixed_class[0, :taken].tolist(),
            "asked_again": classify(mixed).tolist(),
            "replaces_digit": pairs.path.moved_inside[0, :taken].tolist(),
            "likeness": pairs.path.similarity[0, :taken].tolist(),
            "inside_label": int(classify(pairs.inside)), "outside_label": int(classify(pairs.outside)),
            "robustness": float(pairs.robustness), "separability": float(pairs.separability),
            "source": source[0], "flat": flat[name][0], "mixed": mixed, "inside": pairs.inside[0],
            "outside": pairs.outside[0]}


def plan_walk(scale):
    """One unit: the path of one digit."""
    return {f"{scale.architecture}-digit-{scale.digit}": page.given(scale, net=scale.seed, digit=scale.digit)}


path = run.units("path", walk, plan_walk)


# %%
def followed(units):
    """The path in words and numbers, and how fast halving makes 255 small."""
    u = units.iloc[0]
    halved = [torch.full((1, 1, 1, 1), 255, dtype=torch.uint8)]
    for _ in range(8):
        halved.append(borderline.mix(halved[-1], torch.zeros_like(halved[-1])))
    return {"background": u.background, "largest_difference": int(
                np.abs(u.inside.astype(int) - u.outside.astype(int)).max()),
            "titles": [title.replace("\n", ", ") for _, title, _ in page.panels(units)],
            "labels": u.mixed_labels, "labels_hold": u.mixed_labels == u.asked_again,
            "inside": u.inside_label,
            "outside": u.outside_label, "robustness": u.robustness, "separability": u.separability,
            "halvings_of_255": [int(h) for h in halved]}


PATH_ALT = ("A row of images: a digit, a uniform background, each mixture of the two with the label that the "
            "network assigns, and the final inside and outside images, which look alike and have different "
            "labels.")
run.figure(
    "figure-1", path, page.draw_path, data=followed, alt=PATH_ALT,
    caption="Figure 1 of Ren et al.: from a digit and a uniform background to a borderline pair. Above each "
            "mixture stand its predicted label, the end that it replaces, and the SSIM of the two ends after "
            "that. A dashed frame: another label than the digit's",
    contains={"source digit x_o": lambda d: d["titles"][0].startswith("Digit")
              and d["titles"][1].startswith("Background"),
              "each iteration": lambda d: d["labels_hold"] and all(
                  f"Mix {n}: label {label}" in d["titles"][n + 1] for n, label in enumerate(d["labels"], 1)),
              "it replaces": lambda d: all("replaces" in title for title in d["titles"][2:-2]),
              "final inside": lambda d: d["inside"] != d["outside"]},
    claims={"Halving converges fast": lambda d: (
        d["halvings_of_255"][8] == 1, "255 halved again and again: "
        + " → ".join(map(str, d["halvings_of_255"])))})


# %% [markdown]
# ## Robustness (definition): how far a digit may change
#
# The gap between $x_o$ and $x_s$: how far the image can be distorted and keep its label. The paper reports the gap as an SSIM, so **a
# small number is a large gap**: lower means more robust.

# %%
def means(units, columns):
    """Means over nets of some columns, for each background."""
    return {row.pop("background"): row for row in over_nets(units, ("background",), columns)}


run.statement("definition-robustness", searches, data=lambda units: means(units, {"ssim": "robustness"}))

# %% [markdown]
# ## Separability (definition): similarity of the two sides of the boundary
#
# The gap between $x_s$ and $x_b$: how different two images must be to get different labels. It is an SSIM, too, and lower is better:
# the two sides are less similar.

# %%
run.statement("definition-separability", searches, data=lambda units: means(units, {"ssim": "separability"}))

# %% [markdown]
# ## Equation 2: closing in on the boundary
#
# $$\text{maximise } \mathrm{SSIM}(x_b, x_s) \quad\text{such that}\quad C(x_s) = C(x_o),\; C(x_b) \neq C(x_o) \tag{2}$$
#
# This is the goal of Algorithm 1 as printed: it keeps the last image outside the class.

# %%
run.statement("equation-2", searches, data=lambda units: means(
    units, {"ssim_of_the_pair": "separability",
            "ssim_of_the_outside_picture_to_the_original": "adversarial"}))

# %% [markdown]
# ## Equation 3: the outside image most similar to the original
#
# $$\text{maximise } \mathrm{SSIM}(x_b, x_o) \quad\text{such that}\quad C(x_s) = C(x_o),\; C(x_b) \neq C(x_o) \tag{3}$$
#
# The same search with another goal, an adversarial example: of all outside images that it visits, it keeps the one most similar to
# the original. The table gives the mean SSIM of both definitions and of both goals.

# %%
run.statement("equation-3", searches, data=lambda units: means(
    units, {"ssim_of_the_outside_picture_to_the_original": "nearest_adversarial"}))

TABLE_3 = {row["background"]: row for row in reference.paper("ren")["table-3"].rows
           if row["architecture"] == architecture.upper()}


def goals(units):
    """A row a background: mean SSIM by both definitions and both goals, and the published means of two."""
    rows = over_nets(units, ("background",), {k: k for k in (
        "robustness", "separability", "adversarial", "nearest_adversarial")})
    return [row | {f"{k}_published": TABLE_3[row["background"]][f"{k}_ssim"]
                   for k in ("robustness", "separability")} for row in rows]


run.extra(
    "goals", searches, goals,
    "Mean SSIM over digits and networks, with the spread over networks. The published values are those of "
    "Table III",
    header={"background": "background", "robustness": "robustness", "robustness_published": "published",
            "separability": "separability", "separability_published": "published",
            "adversarial": "last outside image to original (Equation 2)",
            "nearest_adversarial": "most similar outside image to original (Equation 3)"})


# %%
def facts_of(searches):
    """For sentences: counts of the searches, their means, and the goals beside the published values."""
    total = {k: int(searches[k].sum()) for k in (*PROMISED, "another_picture")}
    rows, networks = goals(searches), searches.net.nunique()
    return total | {
        "starts": total["searched"] + total["excluded"], "networks": networks, "s": "s" * (networks > 1),
        "architecture": searches.architecture.iloc[0].upper(),
        "converged": 100 * total["by_threshold"] / total["searched"],
        "above": searches.threshold.iloc[0], "most": int(searches.iterations.iloc[0]),
        **{k: float(np.average(searches[k], weights=searches.searched))
           for k in ("separability", "mixtures")},
        **{k: " and ".join(f"{row[k]:.3f} towards {row['background']}" for row in rows)
           for k in ("robustness", "robustness_published")},
        "published": " and ".join(dict.fromkeys(f"{row['separability_published']:.3f}" for row in rows))}


run.say(searches, facts_of,
        "Of {starts} starts {excluded:,} are excluded, because the network gives digit and background one "
        "label. Of the others {converged:.1f}% reach an SSIM above {above} within {most} mixtures; the mean "
        "is {mixtures:.1f} mixtures. The outside image most similar to the original is another than the "
        "last one in {another_picture:,} of {searched:,} searches. Where this is rare, the two goals give "
        "the same image.")

# %% [markdown]
# ## Mix it yourself
#
# Move the slider (mouse, or Tab and arrow keys) to mix more and more of another image into the digit, or click into the table with the
# predicted label of every mixture. Images and labels were computed with the page.

# %%
STEPS = 20  # mixtures from the digit to the other picture


def mixtures(architecture, net, *, digit, recipe, dataset):
    """A test digit mixed with white, with black and with the next digit of another label; what a net says."""
    digits = data.load(dataset)
    runtime.index("digit", digit, len(digits.x_test), "test images")
    model = zoo.net(f"ren-{architecture}", recipe, digits, net, device=runtime.device()).net
    classify, source = inference.classifier(model), digits.x_test[digit:digit + 1]
    label = int(classify(source))
    flat = {name: torch.full_like(source, grey) for name, grey in BACKGROUNDS.items()}
    later = (image[None] for image in digits.x_test[digit:].roll(-1, 0)
             if int(classify(image[None])) != label)
    other = next(later, source)
    share = torch.linspace(0, 1, STEPS + 1).view(-1, 1, 1, 1)
    mixed = [((1 - share) * source + share * end).round().byte() for end in (*flat.values(), other)]
    chances = [torch.softmax(inference.logits(model, images), dim=1) for images in mixed]
    return {"source_label": label, "with": [*flat, f"digit {int(classify(other))}"],
            "mixed": torch.stack(mixed), "chances": torch.stack(chances)}


def plan_mixtures(scale):
    """One unit: the mixtures of one digit."""
    names = "architecture", "digit", "recipe", "dataset"
    return {f"{scale.architecture}-mixtures-{scale.digit}": {name: getattr(scale, name) for name in names} | {
        "net": scale.seed}}


mixed_with = run.units("mixtures", mixtures, plan_mixtures)


for one in run.best(mixed_with).to_dict("records"):
    display.piece(mixer.Mixer("digit", "When does a {0} stop being a {0}?".format(one["source_label"]),
                              dict(zip(one["with"], zip(one["mixed"], one["chances"])))))

# %% [markdown]
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# | --- | --- | --- |
# | arithmetic of `uint8(xb/2 + xs/2)` | each half is rounded half up on its own, sums stop at 255 | what the paper's software does with 8-bit operands; white and black mix to 128, two equal odd values $v$ to $v+1$ |
# | where the counter starts | at one, so that the limit is the number of mixtures | the text says the maximum number of iterations was nine; the pseudo-code never sets the counter |
# | a source that already has the background's class | excluded and counted | no boundary lies between the two |
# | the class to stay in | the predicted label of the source | as in the pseudo-code |
# | how goal (3) is searched | among all outside images visited, the one most similar to the original | the text changes the goal and nothing else |
#
# ## Exercises
#
# - `digit=7`: start from another digit, the test image of that index. The path stays as short, though the labels on its way may pass
#   through third classes.
# - `architecture="c"`: another network. Robustness moves; separability stays near one, as it must when the search only stops above the
#   threshold.
# - `threshold=1`: never stop early. The pair becomes as similar as whole grey values allow, and goals 2 and 3 come closer to each other.
# - `dataset="fashion_mnist"`: start from a shirt or a boot. The search again stops at two nearly equal images.

# %%
MINUTE = (
    "How similar can two images be that one network labels differently? Algorithm 1 of Ren et al. mixes a "
    "digit again and again, half and half, with a white or black image, until the two images on either side "
    "of the decision boundary have an SSIM above {above} (1 for equal images). The mean SSIM of "
    "{separability:.3f} (n = {searched} searches, {networks} network{s} of architecture {architecture}; "
    "paper: {published}) reflects this stopping rule: {converged:.1f}% of the searches reach it, after "
    "{mixtures:.1f} mixtures on average. The last image with the digit's label has a mean SSIM to the digit "
    "of {robustness} (paper: {robustness_published}).")
best, shown = run.best(searches), run.best(path)
if len(best) and len(shown) and (facts := facts_of(best)) and prose.complete(MINUTE, facts):
    run.minute(prose.fill(MINUTE, facts), picture=page.draw_path(shown), alt=PATH_ALT)

# %%
run.stamp()
