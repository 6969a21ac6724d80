"""Which of many perturbed images lose their class: in bfloat16 where that is safe, else in float32."""
from dataclasses import dataclass
from typing import NamedTuple

import torch
from scipy import stats

from shared import runtime
from shared.models.inference import logits


def margins(net, images, labels, *, bf16=False):
    """How far the net is from another answer than `labels` [N], float32 [N]: above 0 where it gives these.

    One logit z, whose sigmoid is the probability of label 1: z for label 1, -z for label 0. Several logits:
    that of the label minus the largest other. `bf16` computes them under bfloat16 autocast.
    """
    device = next(net.parameters()).device
    with runtime.bf16(device, bf16):
        scores = logits(net, images)
    return label_margins(scores, labels.cpu())


def label_margins(scores, labels):
    """`margins` of given logits [N, 1] or [N, classes]."""
    if scores.shape[1] == 1:
        return scores[:, 0] * (2 * labels - 1)
    own = torch.zeros_like(scores, dtype=torch.bool).scatter_(1, labels[:, None], True)
    return scores[own] - scores.masked_fill(own, -torch.inf).amax(1)


class Decision(NamedTuple):
    """What a `Judge` found of N images."""
    flips: torch.Tensor   # bool [N]: the answer is another than the label
    rejudged: int         # images decided in float32 after bfloat16
    overturned: int       # of these, how many answers changed


@dataclass(frozen=True)
class Judge:
    """Tells which images a net answers with another class than their label.

    doubt   margin, from `measured_doubt`, up to which an answer in bfloat16 is not trusted and the image
            judged again in float32; None judges everything in float32
    """
    net: torch.nn.Module
    doubt: float | None = None

    def __call__(self, images, labels):
        """The `Decision` on float32 images [N, C, H, W] with labels int64 [N]."""
        margin = margins(self.net, images, labels, bf16=self.doubt is not None)
        if self.doubt is None:
            return Decision(margin <= 0, 0, 0)
        flips = margin <= 0
        unsure = (margin.abs() <= self.doubt).nonzero()[:, 0]
        if len(unsure):
            again = margins(self.net, images[unsure.to(images.device)], labels[unsure.to(labels.device)]) <= 0
            overturned = int((again != flips[unsure]).sum())
            flips[unsure] = again
            return Decision(flips, len(unsure), overturned)
        return Decision(flips, 0, 0)


def measured_doubt(net, images, labels, *, factor=2.0):
    """`factor` times the largest difference that bfloat16 makes to the margin of any of these images."""
    difference = margins(net, images, labels, bf16=True) - margins(net, images, labels)
    return factor * float(difference.abs().max())


class Flips(NamedTuple):
    """Which perturbation is the first to change each of N images' class, and what it cost to know."""
    first: torch.Tensor    # int64 [N]: its index; the number of perturbations where none does
    count: torch.Tensor    # int64 [N]: how many do, of those tried
    passes: int            # images judged
    needed: int            # forward passes of a loop that stops at each image's first flip
    rejudged: int          # images judged twice, the second time in float32
    overturned: int        # of these, how many answers changed


def first_flips(judge, labels, perturbed, steps, *, exact=False):
    """Try `steps` perturbations of each image in their order; an image that flips is tried no further.

    judge       `judge(images, labels) -> Decision`
    labels      int64 [N]
    perturbed   `perturbed(rows, steps) -> images`: image rows[i] under perturbation steps[i], int64 [P] both
    exact       try all on every image, so that `count` is exact

    An image that was tried k times is next tried up to k / 20 times at once (at least once), all images
    together: at most 1.05 times the passes that a loop over images and perturbations needs, whose result is
    the same.
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
        decisions = [judge(perturbed(r, s), labels[r]) for r, s in zip(rows.split(chunk), tried.split(chunk))]
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
    """Perturbed images made at once: `logits` cuts them further as its net wants."""
    return 8 * runtime.chunk_size(image.numel() * 4 * 64, image.device)


def percentage(hits, of, *, confidence=0.95):
    """`hits` of `of` images in per cent, with the Clopper-Pearson interval; None of no images."""
    if of == 0:
        return {"hits": 0, "of": 0, "percent": None, "low": None, "high": None}
    low, high = stats.binomtest(hits, of).proportion_ci(confidence, method="exact")
    return {"hits": hits, "of": of, "percent": 100 * hits / of,
            "low": 100 * float(low), "high": 100 * float(high)}
