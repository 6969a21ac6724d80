"""What `he` alone adds to surveys of the boundary: a fault of its authors' scripts, and points on the way."""
import dataclasses

import torch

from shared.boundary import BEYOND, NEVER
from shared.runtime import seeded


def with_tail_bug(surveyed):
    """A `Survey` as the authors' scripts for MNIST and CIFAR-10 leave it.

    Where every direction of an image has crossed, those that crossed last count as never found.
    """
    complete = surveyed.reached.all(1, keepdim=True)
    forgotten = complete & (surveyed.distance == surveyed.distance.amax(1, keepdim=True))
    return dataclasses.replace(surveyed, distance=surveyed.distance.masked_fill(forgotten, BEYOND),
                               adjacent=surveyed.adjacent.masked_fill(forgotten, NEVER))


def random_points(x, dirs, count, *, top, generator):
    """`count` random points of the line searches of `survey`: images float32 [count, C, H, W] in [0, 1].

    From a random image along a random direction, to a random distance up to `top`.
    """
    generator = seeded(generator, "random_points")
    image, direction = (torch.randint(len(options), (count,), generator=generator).to(x.device)
                        for options in (x, dirs))
    distance = top * torch.rand(count, 1, generator=generator, dtype=torch.float32).to(x.device)
    return (x[image] + (distance * dirs.to(x.device)[direction]).view(-1, *x.shape[1:])).clamp_(0, 1)
