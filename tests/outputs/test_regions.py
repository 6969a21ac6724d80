"""Sweeps of an attack, boxes around their examples, and the predicted labels of several networks in them."""
from dataclasses import replace
from unittest import mock

import torch

from papers.shu.attacks import iterative
from papers.shu.attacks.iterative import BasicIterative
from shared import regions
from shared.attacks.judge import fooled
from tests.outputs.examples import ROUNDED, seeded, smooth_network, some_images


def networks(count=4):
    """Networks that differ a little."""
    nets = [smooth_network("regions") for _ in range(count)]
    for number, net in enumerate(nets):
        generator = seeded("regions", "model", number)
        with torch.no_grad():
            for p in net.parameters():
                p += 0.4 * torch.rand(p.shape, generator=generator) - 0.2
    return nets


def image():
    """An image that all networks give one class, and that class."""
    x = some_images(60, "image")
    labels = regions.answers(networks(), x)
    row = (labels == labels[0]).all(0).nonzero()[0]
    return x[row], labels[0, row]


def box(x, examples, **options):
    """`regions.intervals`, of which no width is nearly rounded up and no value is nearly unchanged."""
    result = regions.intervals(x, examples, **options)
    assert ((regions.ALIKE * result.widths % 1 - 0.5).abs() > 0.01).all(), "a width is nearly rounded up"
    assert ((regions.CHANGED * (examples - x).abs() - 0.5).abs() > 0.01).all(), "a value is nearly unchanged"
    return result


def nine_examples():
    """An image, and others that differ from it in some values by less, by more and by next to nothing."""
    x, moves = some_images(1, "clean"), torch.rand(9, 2, 3, 4, generator=seeded("regions", "moves"))
    moves = torch.where(moves < 0.7, 0.3 * (moves - 0.35), 0)
    moves[:, :, 0], moves[:, 0, 2], moves[:, 1, 1, 1] = 0.0003, 0.2, 0.0004
    moves[:2, 1, 2, 3], moves[2:, 1, 2, 3] = 0.0, 0.1
    return x, (x + moves).clamp(0, 1)


def test_sweep(stored):
    def decide(scores, goal, *, targeted, probability=0.5):
        gap = (scores.softmax(1).gather(1, goal[:, None]) - probability).abs()
        assert not targeted or (gap > ROUNDED).all(), "a probability is nearly 1/2"
        return fooled(scores, goal, targeted=targeted, probability=probability)

    # Steps leave every ball and no size is another one halved: else two searches would come to one example.
    attack = BasicIterative("L2", epsilon=(0.05, 0.11, 0.19, 0.37, 0.83), step=2.0, iterations=5, growths=6,
                            halvings=2)
    net, (x, y) = networks(1)[0], image()
    with mock.patch.object(iterative, "fooled", decide):
        away = regions.sweep(net, x, y, attack, count=5)
        toward = regions.sweep(net, x, y, replace(attack, targeted=True), count=5, target=(y + 1) % 3)
    both = away.joined(toward)
    steps = both.images.flatten(1).diff(dim=0)      # by the first value in which they differ they are ordered
    assert len(both.images) == both.succeeded and all(step[step != 0][0] > ROUNDED for step in steps)
    stored({"away": away, "toward": toward, "joined": both, "of": [both.of(label) for label in range(3)]})


def test_intervals(stored):
    x, examples = nine_examples()
    stored([box(x, torch.cat([examples, examples]), keep=keep, least=9) for keep in (0.0, 0.5, 1.0)])


def test_box(stored):
    some = box(*nine_examples(), keep=0.0, least=9)
    stored({"widths": some.widths, "first": some.first(3), "whole": some.first(4).whole(),
            "kept": some.kept(0.4, 9),
            "sample": some.first(7).sample(5, generator=seeded("regions", "sample")),
            "points": some.first(2).whole().points(3, generator=seeded("regions", "points"))})


def test_labels_of_several_networks(stored):
    nets, (_, y), z = networks(), image(), some_images(70, "cloud")
    labels = regions.answers(nets, z)
    rates = [regions.error_rates(nets, z, y), regions.error_rates(nets, z, labels[1])]
    stored({"answers": labels, "rates": rates,
            "agreement": [regions.agreement(labels, y), regions.agreement(labels, labels[1]),
                          regions.agreement(labels[:, :0], y)]})


def test_curve(stored):
    (x, y), z = image(), some_images(6, "around")
    some = box(x, (x + 0.3 * (z - 0.5)).clamp(0, 1), keep=0.0, least=6)
    stored([regions.curve(networks(), y, boxes, sizes, samples=samples, generator=seeded("regions", "curve"))
            for boxes, sizes, samples in ((some, [2, 3, 9], 40), (some.whole(), [4], 9))])


def test_plane_noise_and_lengths(stored):
    (x, _), z = image(), some_images(70, "cloud")
    stored({"plane": regions.plane(networks(), x, z[:1] - x, z[1:2] - x, reach=0.7, size=5),
            "noise": regions.noise(x, torch.tensor([0.1, 2.0, 0.0]), generator=seeded("regions", "noise")),
            "lengths": regions.lengths(x, z)})


def test_kinds_alarms_and_sizes(stored):
    shares = [[0.5, 0.05, 0.3], [0.49, 0.0, 1.0], [0.5, 0.06, 0.9], [0.05, 0.5], [0.06, 0.5], [0.05, 0.49],
              [0.25, 0.25], [0.24, 0.9], [0.9, 0.24], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    stored({"kinds": [str(regions.kind(row)) for row in shares],
            "others": [str(regions.kind(row, mostly=0.9, right=0.2, significant=0.6)) for row in shares],
            "alarm": [regions.alarm(agreed) for agreed in ([1, 2], [0, 0, 5], [7, 0, 0], [3, 1, 4, 1, 5, 9])],
            "spaced": [regions.spaced(*sizes) for sizes in ((1, 5), (4, 40), (9, 3), (3, 10))]})
