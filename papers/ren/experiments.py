"""The experiments of `ren`: networks (Section II), Algorithm 1 (III, IV) and pixel pruning (V)."""
from dataclasses import replace

import torch
from torch import nn

from papers.ren import models
from papers.scales import scales
from report import parameters, zoo
from report.experiment import Experiment
from shared import borderline, inference, runtime, similarity
from shared.borderline import PRUNING_PLACES, UNIFORM
from shared.data import sets

ARCHITECTURES = {"a": "A", "b": "B", "c": "C"}
BACKGROUNDS = (*UNIFORM, "digit")               # of Section IV; the other sections have the first two
UNPRUNED = (0, 255)                             # no pixel is below 0 or above 255
SETTINGS = ((64, 255), (128, 255), (128, 128))  # t and T of Table IV


# ---- scales ----------------------------------------------------------------------------------------------
# At `quick`, too, the networks are those that are kept: nothing is trained.
_NETS = dict(nets=[1, 1, 5], recipe=[models.SMOKE, models.PAPER, models.PAPER], seed=0, dataset="mnist")
_SEARCH = _NETS | dict(images=[100, 300, 10_000], threshold=0.99, iterations=9)
NETWORKS = scales(**_NETS)
BORDERLINE = scales(**_SEARCH, compared=[5, 20, 50], architecture="a", digit=0)
SIMULATION = scales(
    **_SEARCH, trials=[1, 1, 2], trial_images=[40, 300, 2_000],
    shorter=[dict(epochs=1, images=600), dict(epochs=1, images=6_000), {}])
PRUNING = scales(**_SEARCH, step=[64, 32, 16], architecture="a", place="mixed", digit=0)


def given(scale, **chosen):
    """Arguments of a run: settings of its page, of those named below, and what is `chosen` for the run."""
    names = "architecture", "recipe", "dataset", "threshold", "iterations"
    return {name: getattr(scale, name) for name in names if hasattr(scale, name)} | chosen


def trained(architecture, recipe, digits, net):
    """Network number `net` of an architecture of Table I, from the zoo or trained."""
    return zoo.net(f"ren-{architecture}", recipe, digits, net, device=runtime.device())


# ---- Section II: networks, SSIM --------------------------------------------------------------------------
LAYERS = {nn.Conv2d: "Conv2D {0.out_channels} ({0.kernel_size[0]} × {0.kernel_size[1]})",
          nn.Linear: "Fully Connected {0.out_features}", nn.BatchNorm2d: "Batch Normalization",
          nn.BatchNorm1d: "Flatten Batch Normalization",
          nn.MaxPool2d: "MaxPooling2D ({0.kernel_size} × {0.kernel_size})"}


def layer_list(net, height, width):
    """The layers of a sequential net as Table I names them; a ReLU is joined to the layer before it."""
    layers = [f"Input ({height} × {width})"]
    for module in net:      # the table names flattening with the layer that follows, or not at all
        if isinstance(module, nn.ReLU):
            layers[-1] += " ReLU"
        elif type(module) in LAYERS:
            layers.append(LAYERS[type(module)].format(module))
    return [*layers, "Softmax", "Output"]


def train(architecture, net, *, recipe, dataset):
    """Layers and accuracies of one trained net, and its labels for a white and a black image."""
    digits = sets.load(dataset)
    kept = trained(architecture, recipe, digits, net)
    uniform = torch.stack([torch.full_like(digits.x_test[0], grey) for grey in (255, 0)])
    best = inference.logits(kept.net, uniform).softmax(1).max(1)
    (white, black), (white_class, black_class) = best.values.tolist(), best.indices.tolist()
    return {"layers": layer_list(kept.net, *digits.x_test.shape[2:]),
            "parameters": sum(p.numel() for p in kept.net.parameters()),
            "train_pct": 100 * kept.train_accuracy, "test_pct": 100 * kept.test_accuracy,
            "white_class": white_class, "white_pct": 100 * white, "black_class": black_class,
            "black_pct": 100 * black}


def plan_networks(scale):
    """A run for each network."""
    return {(a, scale.seed + n): given(scale, architecture=a, net=scale.seed + n)
            for a in ARCHITECTURES for n in range(scale.nets)}


# ---- Section III: Algorithm 1 ----------------------------------------------------------------------------
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


def cut_off(a, b):
    """The mean of two uint8 images, each half cut off to a whole number: what other languages make of it."""
    return a // 2 + b // 2


def differing(classify, sources, flat, fast, delta_s, it, mix=half_and_half):
    """In how many of the searches of `fast` (`Pairs`) the paper's steps end with another pair or labels."""
    different = 0
    for n in (~fast.excluded).nonzero().squeeze(1).tolist():
        x_b, c_b, x_s, c_s = algorithm_1(classify, sources[n:n + 1], flat, delta_s, it, mix)
        different += not (torch.equal(x_b[0], fast.outside[n]) and torch.equal(x_s[0], fast.inside[n])
                          and c_b == fast.outside_class[n] and c_s == fast.inside_class[n])
    return different


def compare(architecture, net, background, *, compared, recipe, dataset, threshold, iterations):
    """In how many searches the paper's steps, as printed and changed, differ from the fast search."""
    digits = sets.load(dataset)
    sources = digits.x_test[:compared]
    classify = inference.classifier(trained(architecture, recipe, digits, net).net)
    flat = torch.full_like(sources[:1], UNIFORM[background])
    half = (iterations + 1) // 2  # after all mixtures the images may stand still, and no limit would matter
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
    """A run for each background, on the first network."""
    return {(scale.architecture, scale.seed, b): given(scale, net=scale.seed, background=b,
                                                       compared=scale.compared) for b in UNIFORM}


def check(architecture, net, background, *, images, recipe, dataset, threshold, iterations):
    """Algorithm 1 from all sources: counts of what it guarantees, and mean similarities under both goals."""
    digits = sets.load(dataset)
    sources, _ = digits.first(images)
    classify = inference.classifier(trained(architecture, recipe, digits, net).net)
    flat = torch.full_like(sources[:1], UNIFORM[background])
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


def plan_checked(scale):
    """A run for each network and background."""
    return {(scale.architecture, net, b): given(scale, net=net, background=b, images=scale.images)
            for net in range(scale.seed, scale.seed + scale.nets) for b in UNIFORM}


def follow(architecture, net, *, digit, recipe, dataset, threshold, iterations):
    """One path of Algorithm 1 with all its images, of the first test image from `digit` on with one."""
    digits = sets.load(dataset)
    parameters.index("digit", digit, len(digits.x_test), "test images")
    classify = inference.classifier(trained(architecture, recipe, digits, net).net)
    flat = {name: torch.full_like(digits.x_test[:1], grey) for name, grey in UNIFORM.items()}
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


def plan_path(scale):
    """One run, of one digit and the first network."""
    return {(scale.architecture, scale.digit): given(scale, net=scale.seed, digit=scale.digit)}


# ---- Section IV: robustness and separability -------------------------------------------------------------
def measure(architecture, net, background, *, images, recipe, dataset, threshold, iterations, seed):
    """Means and standard deviations over digits of the three similarities, as in Table III.

    And the means of the same pairs under scikit-image's two conventions of SSIM.
    """
    digits = sets.load(dataset)
    x, y = digits.first(images)
    behind = borderline.backgrounds(background, x, y, runtime.generator(seed, "backgrounds"))
    pairs = borderline.search(inference.classifier(trained(architecture, recipe, digits, net).net), x, behind,
                              threshold=threshold, max_iterations=iterations)
    inside, outside, original = (images_[~pairs.excluded]
                                 for images_ in (pairs.inside, pairs.outside, pairs.original))
    also = {f"{name}_{c}": float(similarity.ssim(a, b, convention=c).mean()) for c in ("skimage", "uniform")
            for name, a, b in (("separability", inside, outside), ("robustness", inside, original),
                               ("adversarial", outside, original))}
    return borderline.summary(pairs) | also


def plan_searches(scale):
    """A run for each network and background."""
    return {(a, scale.seed + n, b): given(scale, architecture=a, net=scale.seed + n, background=b,
                                          images=scale.images, seed=scale.seed)
            for a in ARCHITECTURES for n in range(scale.nets) for b in BACKGROUNDS}


# Other trainings, {name: (architecture, recipe)}: to see whether they explain where Table III differs.
VARIANTS = {"noshift": ("a", models.NO_SHIFT), "long": ("a", models.LONG), "same": ("a-same", models.PAPER),
            "unit": ("a-unit", models.PAPER), "onecycle": ("a", models.ONE_CYCLE),
            "linear": ("c-linear", models.PAPER)}


def plan_variants(scale):
    """A run for each variant, network and uniform background."""
    return {(v, scale.seed + n, b): given(
        scale, architecture=a, net=scale.seed + n, background=b, images=scale.trial_images,
        recipe=replace(recipe, **scale.shorter), seed=scale.seed)
        for v, (a, recipe) in VARIANTS.items() for n in range(scale.trials) for b in UNIFORM}


def show_pairs(background, *, net, recipe, dataset, threshold, iterations, seed):
    """The first test digit of each class and its borderline pair, by architecture A."""
    digits = sets.load(dataset)
    first = [int((digits.y_test == c).nonzero()[0]) for c in range(len(digits.classes))]
    x, y = digits.x_test[first], digits.y_test[first]
    classify = inference.classifier(trained("a", recipe, digits, net).net)
    behind = borderline.backgrounds(background, x, y, runtime.generator(seed, "backgrounds"))
    pairs = borderline.search(classify, x, behind, threshold=threshold, max_iterations=iterations)
    return {"digits": y.tolist(), "excluded": pairs.excluded.tolist(),
            "separability": pairs.separability.tolist(),
            "inside_class": pairs.inside_class.tolist(), "outside_class": pairs.outside_class.tolist(),
            "answers_inside": classify(pairs.inside).tolist(),
            "answers_outside": classify(pairs.outside).tolist(),
            "original": pairs.original, "inside": pairs.inside, "outside": pairs.outside, "source": x}


def plan_pairs(scale):
    """A run for each background, on the first network."""
    return {b: given(scale, background=b, net=scale.seed, seed=scale.seed) for b in BACKGROUNDS}


# ---- Section V: pixel pruning ----------------------------------------------------------------------------
def measure_pruned(architecture, seed, background, t, T, place, *, images, recipe, dataset, threshold,
                   iterations):
    """Means and standard deviations over digits of the three similarities, as in Table IV."""
    digits = sets.load(dataset)
    x, y = digits.first(images)
    pruning = borderline.Pruning(t, T, place)
    pairs = borderline.search(inference.classifier(trained(architecture, recipe, digits, seed).net), x,
                              borderline.backgrounds(background, x, y, None),
                              threshold=threshold, max_iterations=iterations, prune=pruning)
    facts = borderline.summary(pairs)
    return facts | {"reached": facts["converged"] / facts["searched"],
                    "changed": float((pruning(x) != x).double().mean())}


def plan_pruned(scale):
    """A run for each network, background, pruning and place, and two next to t = T = 128."""
    prunings = {"plain": (*UNPRUNED, "mixed")} | {f"t{t}-T{T}-{place}": (t, T, place) for t, T, place in (
        *((*pair, place) for place in PRUNING_PLACES for pair in SETTINGS),
        *((t, t, "mixed") for t in (127, 129)))}
    return {(seed, b, name): given(scale, images=scale.images, seed=seed, background=b, t=t, T=T, place=place)
            for seed in range(scale.seed, scale.seed + scale.nets)
            for name, (t, T, place) in prunings.items() for b in UNIFORM}


def plan_trade_off(scale):
    """A run for each background, threshold and rule for T, on the first network."""
    levels = range(scale.step, 256, scale.step)
    return {(b, t, T): given(scale, images=scale.images, seed=scale.seed, background=b, t=t, T=T,
                             place=scale.place)
            for b in UNIFORM
            for t, T in (UNPRUNED, *((t, 255) for t in levels), *((t, t) for t in levels))}


def stands_apart(classify, image):
    """Whether this digit keeps one label under all prunings, the label of neither white nor black."""
    own = {int(classify(borderline.prune(image, t, T))) for t, T in (UNPRUNED, *SETTINGS)}
    return len(own) == 1 and not own & {int(classify(torch.full_like(image, v))) for v in (0, 255)}


def examples(architecture, background, digit, place, *, seed, recipe, dataset, threshold, iterations):
    """The adversarial examples of one digit towards one background, unpruned and under each pruning."""
    digits = sets.load(dataset)
    net = trained(architecture, recipe, digits, seed).net
    classify, x = inference.classifier(net), digits.x_test
    index = next((i for i in range(digit, len(x)) if stands_apart(classify, x[i:i + 1])), None)
    if index is None:
        raise runtime.UserError(f"digit {digit}: from here on every test image changes its label under some "
                                f"pruning, or has that "
                                "of white or black; take a smaller index or a network trained longer")
    original, shown = x[index:index + 1], []
    for t, T in (UNPRUNED, *SETTINGS):
        pruning = borderline.Pruning(t, T, place)
        pair = borderline.search(classify, original, torch.full_like(original, UNIFORM[background]),
                                 prune=pruning, threshold=threshold, max_iterations=iterations,
                                 objective="adversarial")
        seen = pruning(pair.outside) if place == "input" else pair.outside
        scores = inference.logits(net, seen).softmax(1)[0]
        shown.append({"t": t, "T": T, "class": int(pair.outside_class), "answer": int(scores.argmax()),
                      "inside_class": int(pair.inside_class), "probability": float(scores.max()),
                      "ssim": float(pair.adversarial),
                      "separability": float(pair.separability), "inside": pair.inside,
                      "outside": pair.outside})
    own = inference.logits(net, original).softmax(1)[0]
    return {"index": index, "original": original, "original_class": int(own.argmax()),
            "original_probability": float(own.max()), "inside": torch.cat([e.pop("inside") for e in shown]),
            "outside": torch.cat([e.pop("outside") for e in shown]), "shown": shown}


def plan_examples(scale):
    """A run for each background, of the first network."""
    return {b: given(scale, seed=scale.seed, digit=scale.digit, place=scale.place, background=b)
            for b in UNIFORM}


# ---- the experiments -------------------------------------------------------------------------------------
networks = Experiment("ren/networks", train, plan_networks, scale=NETWORKS, names="{architecture}-s{net}")

_SEARCHES = "{architecture}-s{net}-{background}"
steps = Experiment("ren/algorithm-1", compare, plan_compared, scale=BORDERLINE, names=_SEARCHES)
checked = Experiment("ren/checked-searches", check, plan_checked, scale=BORDERLINE, names=_SEARCHES)
path = Experiment("ren/path", follow, plan_path, scale=BORDERLINE, names="{architecture}-digit-{digit}")

searches = Experiment("ren/searches", measure, plan_searches, scale=SIMULATION, names=_SEARCHES)
variants = Experiment("ren/variants", measure, plan_variants, scale=SIMULATION,
                      names="{variant}-s{net}-{background}")
shown_pairs = Experiment("ren/pairs", show_pairs, plan_pairs, scale=SIMULATION, names="a-{background}")

pruned = Experiment("ren/pruned-searches", measure_pruned, plan_pruned, scale=PRUNING,
                    names="s{seed}-{background}-{pruning}")
trade_off = Experiment("ren/trade-off", measure_pruned, plan_trade_off, scale=PRUNING,
                       names="{background}-t{t}-T{T}")
pruned_digits = Experiment("ren/pruned-digits", examples, plan_examples, scale=PRUNING,
                           names="{background}-examples")
