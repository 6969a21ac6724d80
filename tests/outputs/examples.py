"""Small seeded networks and images, on which no decision is near: processors round differently."""
import contextlib
import copy
from dataclasses import dataclass
from unittest import mock

import torch
from torch import nn

from shared import runtime
from shared.attacks.noise import Draws, draw
from shared.inference import Careful, classes, labels, logits, pixels
from shared.training.fit import fit

ROUNDED = 1e-4   # a thousand roundings of float32: numbers agree within it, decisions are further apart
ROUNDINGS = 1e-5     # relative changes of the weights, which may change no count and no success
SHAPE = (3, 4, 4)


def seeded(*labels):
    """A generator that the labels decide."""
    return runtime.generator(0, "golden", *labels)


def watched(network):
    """The network, of which no evaluation in a test may have two largest logits that are nearly equal.

    Near is what differs by less than `ROUNDED` of the largest weight of its last layer. One logit: from 0.
    """
    def lead(network, images, scores):
        first = scores.abs() if scores.shape[1] == 1 else scores.topk(2).values.diff(dim=1).abs()
        near = ROUNDED * float(network[-1].weight.detach().abs().max())
        assert (first >= near).all(), f"two classes differ by {float(first.detach().min()):.1g}"

    network.register_forward_hook(lead)
    return network


def network(outputs, *labels, gain=1.0, shape=SHAPE, dropout=0.0):
    """A small bent network, whose weights the labels decide; logits of both signs, some `gain` in size."""
    size = torch.Size(shape).numel()
    layers = [nn.Flatten(), nn.Linear(size, 12), nn.Tanh(), nn.Dropout(dropout), nn.Linear(12, outputs)]
    net, generator = nn.Sequential(*layers), seeded("network", *labels)
    with torch.no_grad():
        for layer, scale in ((net[1], 2 / size**0.5), (net[4], gain / 12**0.5)):
            layer.weight.copy_(scale * torch.randn(layer.weight.shape, generator=generator))
            layer.bias.copy_(-layer.weight.sum(1) / 2 if layer is net[1] else torch.zeros(outputs))
    return watched(net)


def drawn(count, *labels, shape=SHAPE):
    """uint8 images [count, *shape]."""
    return torch.randint(0, 256, (count, *shape), dtype=torch.uint8, generator=seeded("drawn", *labels))


def smooth_network(name="net", *, outputs=3, batch_norm=False, dropout=False):
    """A small network for `some_images`, of [N, 2, 3, 4], in training mode."""
    layers = [nn.Flatten(), nn.Linear(24, 8), *[nn.BatchNorm1d(8)] * batch_norm, nn.Tanh(),
              *[nn.Dropout(0.5)] * dropout, nn.Linear(8, outputs)]
    net, generator = nn.Sequential(*layers), seeded("attacks", name)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(1.6 * torch.rand(p.shape, generator=generator) - 0.8)
    return watched(net)


def some_images(count=6, name="images"):
    """Float images with black and white pixels among them."""
    return (1.6 * torch.rand(count, 2, 3, 4, generator=seeded("attacks", name)) - 0.3).clamp(0, 1)


class Coarse(nn.Module):
    """A network that is coarse under bfloat16 autocast: `coarsen(logits, images)`, the same on every machine.

    Real bfloat16 differs from machine to machine. Coarse logits have no steps: they move as little as exact
    ones.
    """

    def __init__(self, net, coarsen=None):
        super().__init__()
        self.net, self.coarsen = net, coarsen or (lambda scores, x: scores + (20 * scores).cos() / 16)

    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            scores = self.net(x)
        coarse = torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.bfloat16
        return self.coarsen(scores, x) if coarse else scores


@contextlib.contextmanager
def bf16(able):
    """Context in which every device has bfloat16, or none: tests compute the same on every machine.

    No margin in bfloat16 may be nearly 0 or nearly the doubt of its `Careful`: what is decided twice counts.
    """
    def margins(careful, images, labels, *, bf16=False):
        values = exact_margins(careful, images, labels, bf16=bf16)
        for gap in (values.abs(), (values.abs() - (careful.doubt or 0)).abs()) if bf16 else ():
            near = (gap > 0) & (gap < ROUNDED * values.abs().clamp(min=1))
            assert not near.any(), f"a margin is {float(gap[near].min()):.1g} from 0 or from the doubt"
        return values

    def forward(careful, images):
        if careful.doubt is not None:
            margins(careful, images, classes(logits(careful.net, images, bf16=True)), bf16=True)
        return decide(careful, images)

    exact_margins, decide = Careful.margins, Careful.forward
    with (mock.patch("shared.runtime.has_bf16", lambda device: able),
          mock.patch.multiple(Careful, margins=margins, forward=forward)):
        yield


def answers(net, x, wrong=0):
    """The predicted labels, every `wrong`-th of them changed."""
    with torch.no_grad():
        scores = net.eval()(x)
    labels = classes(scores)
    if wrong:
        labels[::wrong] = (labels[::wrong] + 1) % max(2, scores.shape[1])
    return labels


def example(outputs, count, *labels, wrong=0, gain=3.0):
    """A network, float images and their labels, every `wrong`-th of which is not the network's."""
    net, x = network(outputs, *labels, gain=gain), pixels(drawn(count, "stability", *labels))
    return net, x, answers(net, x, wrong)


def apart(count, shape, generator, *, device="cpu"):
    """As `draw`, of no nearly equal norms, by which they are ordered; of many, equal ones in a row."""
    copies = -(-count // 50)
    some = draw(-(-count // copies), shape, generator, device=device)
    assert (some.l2.diff() > 1e-5).all(), f"two norms differ by {float(some.l2.diff().min()):.1g}"
    return Draws(*(part.repeat_interleave(copies, 0)[:count] for part in some))


# ---- attacks in milliseconds -----------------------------------------------------------------------------
def subject(name="net", images="images", outputs=3):
    """A network in training mode, images, and the labels it predicts, of which the last is changed."""
    net, x = smooth_network(name, outputs=outputs, dropout=True), some_images(name=images)
    y = labels(net, x)
    y[-1] = (y[-1] + 1) % max(2, outputs)
    return net, x, y


def nudged(net, size):
    """The network with random relative changes of its weights."""
    net, generator = copy.deepcopy(net), seeded("attacks", "changed")
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(1 + size * torch.randn(p.shape, generator=generator))
    return net


def attacked(attack, *seed, on=None, count=6, chunk=None):
    """The result of an attack, in which no decision is near; a target is the class after the label."""
    net, x, y = on or subject()
    x, y = x[:count], y[:count]
    target = (y + 1) % max(2, net[-1].out_features) if attack.threat.targeted else None
    result, *others = (attack(nudged(net, size), x, y, target=target, generator=seeded("attacks", *seed),
                              chunk=chunk) for size in (0, ROUNDINGS, -ROUNDINGS))
    for other in others:
        assert torch.equal(other.passes, result.passes) and torch.equal(other.success, result.success)
        assert (other.x_adv - result.x_adv).abs().max() < 0.01
    return result


# ---- training in milliseconds ----------------------------------------------------------------------------
@dataclass(frozen=True)
class Noise:
    """A hook of training: uniform noise of at most `size` on every pixel."""
    size: float

    def __call__(self, net, images, labels, generator):
        noise = torch.empty_like(images).uniform_(-self.size, self.size, generator=generator)
        return (images + noise).clamp(0, 1)


def untrained(outputs=3, dropout=0.4):
    """A small network with batch normalisation, dropout, weights and biases."""
    # No bias before the normalisation: its gradient is rounding noise, of which Adam would make whole steps.
    net = nn.Sequential(nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(dropout),
                        nn.Flatten(), nn.Linear(144, outputs))
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for p in net.parameters():
            p.uniform_(-0.3, 0.3, generator=generator)
    return net


def training_images(count=20, channels=1, outputs=3):
    """Images of 8 x 8 pixels and their labels."""
    generator = torch.Generator().manual_seed(6)
    return (torch.randint(0, 256, (count, channels, 8, 8), dtype=torch.uint8, generator=generator),
            torch.randint(0, max(2, outputs), (count,), generator=generator))


def weights_after(recipe, hook=None, *, seed=1, outputs=3, net=None, x=None, checkpoint=None):
    """All weights and statistics of the small network, or of `net`, after training."""
    images, y = training_images(outputs=outputs)
    net = fit(net or untrained(outputs), images if x is None else x, y, recipe, hook=hook, generator=seed,
              device=torch.device("cpu"), checkpoint=checkpoint)
    return {name: value.detach().clone() for name, value in net.state_dict().items()}
