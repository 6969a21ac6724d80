"""Pictures that the pages of `chen` share: classes in a plane."""
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from report import display


# ---- classes in a plane ----------------------------------------------------------------------------------
def rings():
    """Points [n, 2] of two classes in [0, 1], an arc inside another, and their labels [n]."""
    draw = np.random.default_rng(0)
    y = np.arange(60) % 2
    angle, radius = draw.uniform(0, np.pi, 60), np.where(y, 0.46, 0.24) + draw.normal(0, 0.02, 60)
    points = np.stack([0.5 + radius * np.cos(angle), 0.3 + radius * np.sin(angle)], 1)
    return torch.tensor(points, dtype=torch.float32), torch.tensor(y)


def fitted(points, labels, *, hidden, radius=0.0):
    """A network with two hidden layers that has learned points of a plane.

    radius  of the square around each point in which an attack may move it before each step of the training
    """
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                            nn.Linear(hidden, 2))
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(400):
        moved = points
        for _ in range(3 if radius else 0):
            moved = moved.detach().requires_grad_()
            slope, = torch.autograd.grad(nn.functional.cross_entropy(net(moved), labels), moved)
            moved = points + (moved.detach() + radius / 2 * slope.sign() - points).clamp(-radius, radius)
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(moved), labels).backward()
        optimiser.step()
    return net


def draw_planes(networks, points, labels, *, radius=None):
    """A panel a network `{title: network}`: the class of each place, points, and squares around them."""
    axis = torch.linspace(0, 1, 150)
    grid = torch.cartesian_prod(axis, axis)
    figure, axes = plt.subplots(1, len(networks), figsize=(5.6, 2.6), squeeze=False)
    for ax, (title, net) in zip(axes[0], networks.items()):
        with torch.no_grad():
            classes = net(grid).argmax(1).view(150, 150).T
        ax.contourf(axis, axis, classes, levels=(-0.5, 0.5, 1.5), colors=display.PALETTE[:2], alpha=0.25)
        for (x, y), k in zip(points.tolist(), labels.tolist()):
            ax.plot(x, y, display.MARKERS[k], color=display.PALETTE[k], ms=3)
            if radius:
                ax.add_patch(plt.Rectangle((x - radius, y - radius), 2 * radius, 2 * radius, fill=False,
                                           ec=display.PALETTE[k], lw=0.5))
        ax.set(xticks=[], yticks=[], title=title, xlim=(0, 1), ylim=(0.1, 1), aspect="equal")
    return figure
