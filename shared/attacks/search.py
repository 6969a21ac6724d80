"""Trying many perturbations of many images in order: an image that changes its class is tried no further."""
from typing import NamedTuple

import torch

from .. import runtime
from ..inference import Decision, logits


class State:
    """What is known of each image that is still at work: tensors of one row an image."""

    def __init__(self, **tensors):
        vars(self).update(tensors)

    def keep(self, rows):
        """Go on with the images `rows` alone."""
        vars(self).update({name: tensor[rows] for name, tensor in vars(self).items()})


def reaches(model, targeted):
    """A test for `first_flips`: does a model assign images to the class `labels`; untargeted: to another."""
    def decide(images, labels):
        there = logits(model, images).argmax(1) == labels.to(images.device)
        return Decision((there == targeted).cpu(), 0, 0)
    return decide


class Flips(NamedTuple):
    """Which perturbation is the first to change each of N images' class, and what it cost to know."""
    first: torch.Tensor    # int64 [N]: its index; the number of perturbations where none does
    count: torch.Tensor    # int64 [N]: how many do, of those tried
    passes: int            # images classified
    needed: int            # forward passes of a loop that stops at each image's first flip
    rejudged: int          # images classified twice, the second time in float32
    overturned: int        # of these, how many labels changed


def first_flips(decide, labels, perturbed, steps, *, exact=False):
    """Try `steps` perturbations of each image in their order; an image that flips is tried no further.

    decide      `decide(images, labels) -> Decision`, such as `Careful.flips`
    labels      int64 [N]
    perturbed   `perturbed(rows, steps) -> images`: image rows[i] under perturbation steps[i], int64 [P] both
    exact       try all on every image, so that `count` is exact

    An image that was tried k times is next tried up to k / 20 times at once (at least once), all images
    together: the result of a loop over images and perturbations, for at most 1.05 times its passes.
    """
    first = torch.full((len(labels),), steps)
    count = torch.zeros(len(labels), dtype=torch.int64)
    active, done, passes, rejudged, overturned = torch.arange(len(labels)), 0, 0, 0, 0
    chunk = None
    while done < steps and len(active):
        block = min(max(1, done // 20), steps - done)
        rows = active.repeat_interleave(block)
        tried = torch.arange(done, done + block).repeat(len(active))
        chunk = chunk or _chunk(perturbed(rows[:1], tried[:1]))
        decisions = [decide(perturbed(r, s), labels[r])
                     for r, s in zip(rows.split(chunk), tried.split(chunk))]
        flips = torch.cat([d.flips for d in decisions]).view(len(active), block)
        passes += len(rows)
        rejudged += sum(d.rejudged for d in decisions)
        overturned += sum(d.overturned for d in decisions)
        count[active] += flips.sum(1)
        new = flips.any(1) & (first[active] == steps)
        first[active[new]] = done + flips[new].int().argmax(1)
        if not exact:
            active = active[~new]
        done += block
    return Flips(first, count, passes, int((first + 1).clamp(max=steps).sum()), rejudged, overturned)


def _chunk(image):
    """Perturbed images made at once: `logits` cuts them further as its model wants."""
    return 8 * runtime.chunk_size(image.numel() * 4 * 64, image.device)
