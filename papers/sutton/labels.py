"""The experiment on nets for many classes and large images (Section 7.1.5): any other answer is a success.

Attack and perturbations are those of `attacks.line` and `attacks.noise`. What differs is size: 2,000
perturbations of 224 x 224 pixels take 1.2 GB, so they are drawn anew, block by block, where they are needed.
"""
import torch

from shared import runtime
from shared.attacks.line import gradients, lost_margin, scalings, smallest_steps, squared_error, unit
from shared.attacks.noise import uniform_ball
from shared.inference import Careful

BLOCK = 40  # perturbations drawn, and judged, at once
CHUNK = 8   # images at once: eight of 224 x 224 take three fifths of the time of eight alone (one core)


def points(block, shape, seed):
    """`BLOCK` perturbations of a seed, from number `BLOCK * block` on: float32 [BLOCK, *shape], unit ball.

    The same for all images, as in Section 7.1.3, and the first 100 of 2,000 are the first 100 of any number.
    """
    return uniform_ball(BLOCK, shape, runtime.generator(seed, "draws", block))


def first_draws(decide, images, labels, sizes, *, deltas, draws, seed):
    """Which of `draws` perturbations is the first to change each image's answer, and what it cost to know.

    decide   `decide(images, labels) -> Decision`, such as `Careful.flips`
    images   float32 [N, C, H, W] that the net knows as labels int64 [N]
    sizes    float32 [N]: Euclidean norm of each image's smallest attack
    Returns (first int64 [deltas, N], `draws` where none does; {"passes", "rejudged", "overturned"}).
    """
    first = torch.full((len(deltas), len(images)), draws)
    cost = {"passes": 0, "rejudged": 0, "overturned": 0}
    for start in range(0, draws, BLOCK):
        some = points(start // BLOCK, images.shape[1:], seed)[:draws - start].to(images.device)
        for row, delta in zip(first, deltas):
            for i in (row == draws).nonzero()[:, 0].tolist():
                found = decide(images[i] + delta * sizes[i] * some, labels[i].expand(len(some)))
                if found.flips.any():
                    row[i] = start + int(found.flips.int().argmax())
                cost["passes"] += len(some)
                cost["rejudged"] += found.rejudged
                cost["overturned"] += found.overturned
    return first, cost


def examine(net, images, labels, *, deltas=(1, 2, 5, 10), draws=2000, largest=5.0, seed=0):
    """All that Section 7.2.4 needs of some images: answers, attacks, random perturbations.

    net      in eval mode, on the device of the images
    images   float32 [N, C, H, W] in [0, 1], labels int64 [N]
    deltas   sizes of the perturbations in units of each image's attack;  draws: how many of each
    largest  of the 256 scalings of an attack

    Returns a dict of plain numbers and small arrays: "dimension"; "correct" (list [N]); of the images that
    are correct, in their order, "saturated" (how many have a gradient of exactly 0), "l1", "l2", "linf"
    (float32, norms of each one's smallest attack, 0 where there is none), "margin_l2" (the same along the
    gradient of the margin to the runner-up, which does not saturate); of those with an attack "first" (int16
    [deltas, m], see `first_draws`); "doubt", "passes", "rejudged", "overturned", and "audit": of `of` random
    decisions, how many (`wrong`) float32 decides otherwise.
    """
    generator = runtime.generator(seed, "labels", "doubt")
    noise = points(0, images.shape[1:], seed)[:min(BLOCK, len(images))].to(images.device)
    noise = noise[torch.arange(len(images)) % len(noise)]
    seen = torch.cat([images + size * noise for size in (0.0, largest / 10, 2 * largest)])
    careful = Careful(net, Careful.measured(net, seen, labels.repeat(3)).doubt, CHUNK)
    correct = careful.margins(images, labels) > 0
    mine = correct.to(images.device)
    x, y = images[mine], labels[mine]
    told = {"dimension": images[0].numel(), "correct": correct.tolist(), "doubt": careful.doubt}
    if not len(x):
        none = torch.zeros(0)
        return told | dict.fromkeys(("saturated", "passes", "rejudged", "overturned"), 0) | {
            "l1": none, "l2": none, "linf": none, "margin_l2": none, "audit": {"of": 0, "wrong": 0},
            "first": torch.zeros(len(deltas), 0, dtype=torch.int16)}

    slopes, _ = gradients(net, x, y, squared_error)
    direction, norms = unit(slopes)
    found = smallest_steps(careful.flips, x, y, direction, scalings(largest=largest))
    told |= {"saturated": int((norms == 0).sum()), **{k: v.cpu() for k, v in found.norms().items()}}
    steepest, _ = unit(gradients(net, x, y, lost_margin)[0])
    again = smallest_steps(careful.flips, x, y, steepest, scalings(largest=largest))
    told["margin_l2"] = again.size.cpu()

    hit = found.found
    first, cost = first_draws(careful.flips, x[hit], y[hit], found.size[hit], deltas=deltas, draws=draws,
                              seed=seed)
    for part in (found, again):
        cost = {key: cost[key] + getattr(part, key) for key in cost}
    return told | cost | {"first": first.to(torch.int16),
                          "audit": _audit(careful, x[hit], y[hit], found.size[hit], deltas, seed, generator)}


def _audit(careful, images, labels, sizes, deltas, seed, generator, *, tries=32):
    """How many random perturbations the judge decides otherwise than float32 alone: {"of", "wrong"}."""
    if not len(images):
        return {"of": 0, "wrong": 0}
    rows = torch.randint(len(images), (tries,), generator=generator).to(images.device)
    kinds = torch.randint(len(deltas), (tries,), generator=generator)
    delta = torch.tensor(deltas, dtype=torch.float32)[kinds]
    moves = points(0, images.shape[1:], seed)[:tries].to(images.device)
    noisy = images[rows] + (delta.to(images.device) * sizes[rows]).view(-1, 1, 1, 1) * moves
    exact = careful.margins(noisy, labels[rows]) <= 0
    return {"of": tries, "wrong": int((careful.flips(noisy, labels[rows]).flips != exact).sum())}
