"""The instrument of `sutton` against its floor: forward passes needed, their cost in float32 and bfloat16."""
import time
from dataclasses import replace
from functools import partial

import torch

from benchmarks import median, rounds, sized, table
from papers.sutton import models as sutton
from papers.sutton.experiments import problem
from report import registry
from shared import runtime
from shared.attacks.line import gradients, scalings, smallest_steps, squared_error, unit
from shared.attacks.noise import draw, random_flips
from shared.inference import Careful, logits, margins, pixels
from shared.training.fit import fit

IMAGES, SUBJECTS, DRAWS = sized((40, 4, 200), (4, 1, 5))
DELTAS = 2, 10
TIMED = sized(None, 16)     # images of the training and of a pass; None: all


def literal(net, images, labels, sizes, points, delta):
    """Section 7.1.3 image by image and draw by draw, in float32: each image's first flipping draw."""
    first = []
    for image, label, size in zip(images, labels, sizes):
        flips = (margins(net, image[None] + delta * size * point[None], label[None]) <= 0 for point in points)
        first.append(next((step for step, flipped in enumerate(flips) if flipped), len(points)))
    return torch.tensor(first)


def training(name, data, recipe):
    """Images that a net is trained on a second."""
    net = registry.build(name, generator=runtime.generator(0, name))
    start = time.perf_counter()
    fit(net, data.x_train, data.y_train, recipe, generator=runtime.generator(0), device=torch.device("cpu"))
    return recipe.epochs * len(data.x_train) / (time.perf_counter() - start)  # the last batch is kept


def run():
    """Print two tables, on discs against checkerboards: the cost of a pass; passes of both searches."""
    data = problem("shapes", 0, 8)
    recipe = replace(sutton.PAPER, epochs=1, milestones=(1,), images=TIMED)
    costs = []
    for name in ("sutton-vgg", "sutton-vgg-short"):
        speeds = [training(name, data, replace(recipe, bf16=bf16)) for bf16 in (False, True)]
        net, images = registry.build(name).eval(), pixels(data.x_test[:TIMED])
        labels = data.y_test[:TIMED]
        passes = rounds(partial(margins, net, images, labels),
                        partial(margins, net, images, labels, bf16=True))
        inference = [len(images) / median(times) for times in zip(*passes)]
        costs += [(f"{name}, {what}", f"{a:,.0f}", f"{b:,.0f}", f"{b / a:.2f}")
                  for what, (a, b) in (("training", speeds), ("inference", inference))]
    table(f"Images a second of 32 x 32, {torch.get_num_threads()} thread(s)",
          ("net", "float32", "bfloat16", "times"), costs)

    searches(pixels(data.x_test[:IMAGES]))


def searches(images):
    """Print passes and time of both searches, and of a loop over images and draws; the net is untrained.

    Half of the images lie on either side of its boundary, and its own answers are their labels.
    """
    net = registry.build("sutton-vgg-short", generator=runtime.generator(0)).eval()
    with torch.no_grad():
        scores = logits(net, images)[:, 0]
        net[-1].bias -= scores.mean()
    labels = (scores > scores.mean()).long()
    direction, _ = unit(gradients(net, images, labels, squared_error)[0])
    careful, rows = Careful.measured(net, images, labels), []

    def timed(label, search, careful):
        start = time.perf_counter()
        result = search(careful.flips)
        seconds = time.perf_counter() - start
        rows.append((label, f"{result.needed:,}", f"{result.passes / result.needed:.3f}", f"{seconds:.1f}",
                     f"{result.needed / seconds:,.0f}", f"{result.rejudged:,}", f"{result.overturned:,}"))
        return result

    def both(label, search):
        timed(f"{label}, float32", search, Careful(net))
        return timed(f"{label}, bfloat16", search, careful)

    steps = both("line search", lambda decide: smallest_steps(decide, images, labels, direction, scalings()))
    some = steps.success.nonzero()[:SUBJECTS, 0]
    images, labels, sizes = images[some], labels[some], steps.size[some]
    points, differ = draw(DRAWS, images.shape[1:], runtime.generator(0)), 0
    for delta in DELTAS:
        flips = both(f"random, delta {delta}",
                     lambda decide, delta=delta: random_flips(decide, images, labels, sizes, points, delta))
        start = time.perf_counter()
        loop = literal(net, images, labels, sizes, points.points, delta)
        seconds, needed = time.perf_counter() - start, int((loop + 1).clamp(max=DRAWS).sum())
        rows.append((f"random, delta {delta}, loop", f"{needed:,}", "1.000", f"{seconds:.1f}",
                     f"{needed / seconds:,.0f}", "-", "-"))
        differ += int((loop != flips.first).sum())
    table(f"Searches on discs against checkerboards, {SUBJECTS} images perturbed with up to {DRAWS} draws",
          ("search", "passes needed", "made / needed", "s", "needed passes a s", "repeated in float32",
           "label changed"), rows,
          f"First flipping draws that differ from the loop's: {differ}.")
