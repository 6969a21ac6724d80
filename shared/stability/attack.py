"""The attack of Section 7.1.2: a step along the gradient of the loss, the smallest that changes the class."""
from typing import NamedTuple

import torch
from torch.nn import functional as F

from shared import runtime
from shared.models.inference import evaluating
from shared.stability.judge import first_flips, label_margins


def squared_error(scores, labels):
    """Loss of each image, float32 [N]: squared distance of the net's probabilities from the label's.

    One logit: (sigmoid - label)^2, in float32 as Tensorflow computes it by default: the sigmoid of a logit
    above about 17 is exactly 1, and the gradient of such an image exactly 0. Several logits: softmax, one-hot
    label.
    """
    if scores.shape[1] == 1:
        return (scores[:, 0].sigmoid() - labels) ** 2
    return ((scores.softmax(1) - F.one_hot(labels, scores.shape[1])) ** 2).sum(1)


def lost_margin(scores, labels):
    """Minus the margin, float32 [N]. Of one logit, its gradient has the squared error's direction, without
    saturation; of several, it points to the runner-up.
    """
    return -label_margins(scores, labels)


def gradients(net, images, labels, objective):
    """Gradient [N, C, H, W] of `objective(logits, labels)` at each image, and the logits [N, classes].

    The net's mode and weights' gradients stay as they were.
    """
    device = next(net.parameters()).device

    def gradient(x, y):
        x = x.to(device, memory_format=torch.channels_last).requires_grad_()
        scores = net(x).float()
        slope, = torch.autograd.grad(objective(scores, y.to(device)).sum(), x)
        return torch.cat([slope.flatten(1), scores.detach()], 1)

    with torch.enable_grad(), evaluating(net):
        both = runtime.chunked(gradient, images, labels,
                               chunk=runtime.chunk_size(max(1, images[:1].numel()) * 4 * 128, device))
    size = images.shape[1:].numel()
    return both[:, :size].view(images.shape), both[:, size:]


def unit(slopes):
    """Gradients [N, ...] scaled to Euclidean norm 1 and their norms float64 [N]; 0 where 0 or not finite.

    Norms are taken in float64: in float32 the square of a small number, 1e-25, is 0.
    """
    norms = slopes.flatten(1).double().norm(dim=1)
    usable = norms.isfinite() & (norms > 0)
    scale = torch.where(usable, 1 / norms, 0.0).view(-1, *[1] * (slopes.ndim - 1))
    return torch.nan_to_num(slopes.double() * scale, 0.0, 0.0, 0.0).float(), torch.where(usable, norms, 0.0)


class Attack(NamedTuple):
    """The smallest attack found on each of N images."""
    size: torch.Tensor        # float32 [N]: its Euclidean norm; 0 where none was found or none tried
    found: torch.Tensor       # bool [N]
    direction: torch.Tensor   # float32 [N, C, H, W]: its unit vector; 0 where the gradient is
    passes: int               # images judged, and of them ...
    needed: int               # ... the passes of a loop that stops at the smallest scaling
    rejudged: int
    overturned: int

    def norms(self):
        """`{"l1", "l2", "linf"}`: each float32 [N], 0 where no attack was found."""
        flat = self.direction.flatten(1).abs()
        return {"l1": self.size * flat.sum(1), "l2": self.size, "linf": self.size * flat.amax(1)}


def scalings(count=256, largest=5.0):
    """`count` equally spaced sizes from 0 to `largest`, float32 (both inferred from Figures 11 and 12)."""
    return torch.linspace(0, largest, count)


def attack(judge, images, labels, direction, sizes):
    """The smallest of `sizes` at which image + size * direction gets another class than its label.

    judge      a `Judge` or alike
    images     float32 [N, C, H, W], whose labels int64 [N] the net knows; nothing is clipped
    direction  [N, C, H, W], from `unit`; where it is 0 no attack is tried
    sizes      float32 [S], increasing, beginning with 0, which is not tried: the image itself
    """
    tried = direction.flatten(1).abs().amax(1).nonzero()[:, 0]

    def perturbed(rows, steps):
        rows = tried[rows.to(tried.device)]
        size = sizes[1 + steps].to(images.device).view(-1, *[1] * (images.ndim - 1))
        return images[rows] + size * direction[rows]

    flips = first_flips(judge, labels[tried], perturbed, len(sizes) - 1)
    found = torch.zeros(len(images), dtype=torch.bool, device=images.device)
    size = torch.zeros(len(images), device=images.device)
    done = (flips.first < len(sizes) - 1).to(images.device)
    found[tried] = done
    size[tried[done]] = sizes[1 + flips.first[done.cpu()]].to(images.device)
    return Attack(size, found, direction, flips.passes, flips.needed, flips.rejudged, flips.overturned)
