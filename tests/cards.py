"""The models, the images and the cards that several tests of the report card share."""
from functools import cache
from unittest import mock

import torch
from torch import nn

from shared.card import card
from shared.data.standins import digits


def fitted(noise=0.0):
    """A linear network on 8 by 8 digits, trained for a second."""
    arrays = digits()
    x, y = (torch.as_tensor(arrays[k]) for k in ("x_train", "y_train"))
    network = nn.Sequential(nn.AvgPool2d(3, 3), nn.Flatten(), nn.Linear(81, 10))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network[2].reset_parameters()
        optimiser = torch.optim.Adam(network.parameters(), lr=0.05)
        for _ in range(60):
            loss = nn.functional.cross_entropy(network(x / 255 + noise * torch.randn(x.shape)), y)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return network.eval()


def first_pixels(x):
    """A model of ten classes that takes no time."""
    return x.flatten(1)[:, :10] - 0.5


def all_images():
    """500 digits and their labels."""
    arrays = digits()
    return torch.as_tensor(arrays["x_test"]) / 255, torch.as_tensor(arrays["y_test"])


def images():
    """40 digits of all classes and their labels."""
    return tuple(part[:40] for part in all_images())


@cache
def both():
    """The card of two models, with boxes of two images."""
    with mock.patch("shared.card.instruments.REGIONS", 2):
        return card({"plain": fitted(), "noisy": fitted(0.5)}, *images(), images=16, retrained=[fitted(0.1)])
