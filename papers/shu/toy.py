"""Images of two pixels, and networks that differ in their seed alone: all regions of a plane at once."""
import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.colors import ListedColormap
from torch import nn

from report import display

SIDE = 121      # points along each side of the plane


def two_pixels(networks, *, steps=150):
    """Small networks trained on the same images of two pixels in [0, 1]; about a second for ten.

    Returns the networks, the images [N, 1, 1, 2] and their classes [N], 0 or 1.
    """
    x = torch.rand(40, 1, 1, 2, generator=torch.Generator().manual_seed(0))
    y = (torch.sin(6 * x[..., 0]) * torch.cos(6 * x[..., 1]) > 0).long().flatten()     # a chessboard of waves
    return [_trained(seed, x, y, steps) for seed in range(networks)], x, y


def _trained(seed, x, y, steps):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = nn.Sequential(nn.Flatten(), nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
    adam = torch.optim.Adam(network.parameters(), 0.03)
    for _ in range(steps):
        adam.zero_grad()
        nn.functional.cross_entropy(network(8 * x - 4), y).backward()
        adam.step()
    return nn.Sequential(_Centred(), network).eval()


class _Centred(nn.Module):
    """Pixels in [0, 1] to [-4, 4]."""
    def forward(self, x):
        return 8 * x - 4


def plane():
    """All images [N, 1, 1, 2] of a grid, row by row from below."""
    steps = torch.linspace(0, 1, SIDE)
    return torch.stack(torch.meshgrid(steps, steps, indexing="xy"), -1).view(-1, 1, 1, 2)


def draw_plane(values, colours, *, x=None, y=None):
    """An axis with a value 0, 1 ... for each point of `plane`, in colours, and images of two classes."""
    figure, ax = plt.subplots(figsize=(4.6, 4.2))
    ax.imshow(np.asarray(values).reshape(SIDE, SIDE), origin="lower", extent=(0, 1, 0, 1), vmin=0,
              vmax=len(colours) - 1, cmap=ListedColormap(colours), interpolation="nearest")
    for label in () if x is None else (0, 1):
        ax.plot(*x[y == label].flatten(1).T, display.MARKERS[label], color=display.GUIDE, mfc="white", ms=5)
    ax.set(xlabel="first pixel", ylabel="second pixel")
    return ax


def compare(same, what):
    """Show whether a page's own steps give `what` the fast code gives; an edited step may not."""
    display.say(f"The fast code gives the same {what}." if same else
                f"These steps and the fast code do not give the same {what}: one of them was edited.")
