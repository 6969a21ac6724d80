"""Evaluation of many perturbations of many images in order, up to each image's first change of class."""
from collections.abc import Callable
from types import SimpleNamespace
from typing import NamedTuple

import torch

from .. import runtime
from ..inference import Decision, Model, logits

Decide = Callable[[torch.Tensor, torch.Tensor], Decision]           # of images and their labels
Perturb = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]      # indices of images and perturbations


class State(SimpleNamespace):
    """The state of an iterative attack: tensors of one row for each image that is not finished."""

    def keep(self, rows: torch.Tensor) -> None:
        """Keep the images `rows` only."""
        vars(self).update({name: tensor[rows] for name, tensor in vars(self).items()})


def reaches(model: Model, targeted: bool) -> Decide:
    """The `decide` of `first_flips`: whether the predicted class is `labels` (targeted) or another one."""
    def decide(images, labels):
        equal = logits(model, images).argmax(1) == labels.to(images.device)
        return Decision((equal == targeted).cpu(), 0, 0)
    return decide


class Flips(NamedTuple):
    """The first perturbation that changes the class of each of N images, and its cost."""
    first: torch.Tensor    # int64 [N]: its index; the number of perturbations where none does
    count: torch.Tensor    # int64 [N]: how many of the evaluated ones change the class
    passes: int            # images classified
    needed: int            # passes of a plain loop that stops at each image's first flip
    rejudged: int          # images classified again in float32 after bfloat16
    overturned: int        # of these, labels that differ in float32


def first_flips(decide: Decide, labels: torch.Tensor, perturbed: Perturb, steps: int, *,
                exact: bool = False) -> Flips:
    """Evaluate `steps` perturbations of each image in order, up to the first that flips its label.

    decide      `decide(images, labels) -> Decision`, such as `Careful.flips`
    labels      int64 [N]
    perturbed   `perturbed(rows, steps) -> images`: image rows[i] under perturbation steps[i], int64 [P] both
    exact       evaluate all on every image, so that `count` is exact

    After k evaluations of an image the next k / 20 (at least one) are made in one batch, over all images
    together: the result of a loop over images and perturbations, in at most 1.05 times its passes.
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
    """How many perturbed images to compute at once; `logits` splits them further to suit its model."""
    return 8 * runtime.chunk_size(image.numel() * 4 * 64, image.device)
