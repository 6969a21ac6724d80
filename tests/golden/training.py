"""Training: the loop with every option of a recipe and its hooks, states taken up again, schedules, loss."""
import contextlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import torch
from torch import nn
from torch.nn import functional as F

from shared import runtime
from shared.training.checkpoint import kept_in
from shared.training.fit import augmented, fit, loss, rate, share
from shared.training.recipe import Recipe
from tests.golden import Cases, refused

case = Cases()
# Another machine takes sums in another order (2e-7 was seen), or bfloat16 products in another way (7e-3).
TRAINED, BF16 = 5e-6, 2 ** -6
CPU = torch.device("cpu")


@contextlib.contextmanager
def bfloat16():
    """Computing in bfloat16 where a recipe asks for it, emulated if need be."""
    with mock.patch.object(runtime, "has_bf16", lambda device: True):
        yield


@dataclass(frozen=True)
class Noise:
    """A hook: uniform noise of at most `size` on every pixel."""
    size: float

    def __call__(self, net, images, labels, generator):
        noise = torch.empty_like(images).uniform_(-self.size, self.size, generator=generator)
        return (images + noise).clamp(0, 1)


@dataclass(frozen=True)
class Ascent:
    """A hook: one step along the sign of the loss's gradient, looked at without gradient before."""
    size: float

    def __call__(self, net, images, labels, generator):
        with torch.no_grad():
            net(images)
        moved = images.clone().requires_grad_()
        slope, = torch.autograd.grad(F.cross_entropy(net(moved).float(), labels), moved)
        return (images + self.size * slope.sign()).clamp(0, 1)


def tiny(outputs=3, dropout=0.4, channels=1):
    """A small net with all that training treats apart: normalisation, dropout, weights and biases."""
    draws = torch.Generator().manual_seed(5)
    # No bias before the normalisation: its gradient is rounding noise, of which Adam would make whole steps.
    net = nn.Sequential(nn.Conv2d(channels, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(),
                        nn.Dropout(dropout), nn.Flatten(), nn.Linear(144, outputs))
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.empty_like(p).uniform_(-0.3, 0.3, generator=draws))
    return net


def images(count=20, channels=1, outputs=3):
    """Images of 8 x 8 pixels and their labels."""
    draws = torch.Generator().manual_seed(6)
    return (torch.randint(0, 256, (count, channels, 8, 8), dtype=torch.uint8, generator=draws),
            torch.randint(0, max(2, outputs), (count,), generator=draws))


def weights_after(recipe, hook=None, *, seed=1, outputs=3, net=None, label="training", x=None):
    """All weights and statistics of the small net, trained."""
    own, y = images(outputs=outputs)
    trained = fit(net or tiny(outputs), own if x is None else x, y, recipe, device=CPU, hook=hook,
                  generator=torch.Generator().manual_seed(seed), label=label)
    return {k: v.detach().clone() for k, v in trained.state_dict().items()}


# ---- the loop: three steps, each of an epoch of its own --------------------------------------------------
BASE = Recipe(epochs=3, batch=16, weight_decay=0.01)
CONSTANT = replace(BASE, schedule="constant")
STEPS = replace(BASE, schedule="steps", milestones=(1, 2), factor=0.5)
ADAM = replace(CONSTANT, optimiser="adam", rate=0.01)


@case
def schedules():
    return {"one-cycle": weights_after(BASE), "constant": weights_after(CONSTANT),
            "steps": weights_after(STEPS)}


@case
def optimisers():
    return {"heavy-ball": weights_after(replace(CONSTANT, nesterov=False)), "adam": weights_after(ADAM),
            "none": weights_after(replace(CONSTANT, momentum=0.0)),
            "decay": weights_after(replace(CONSTANT, weight_decay=0.2))}


@case
def losses():
    return {"sum": weights_after(replace(CONSTANT, rate=0.002, reduction="sum")),
            "squared": weights_after(replace(CONSTANT, loss="squared"), outputs=1)}


@case
def batches():
    return {"shift": weights_after(replace(CONSTANT, shift=2)),
            "flip": weights_after(replace(CONSTANT, flip=True)),
            "partial": weights_after(replace(CONSTANT, partial=True)),
            "whole": weights_after(replace(CONSTANT, partial=True, batch=10)),
            "images": weights_after(replace(CONSTANT, images=17, batch=5, epochs=2)),
            "larger": weights_after(replace(BASE, batch=30)),
            "several": weights_after(replace(STEPS, batch=6, epochs=2, milestones=(0.5, 1.2))),
            "floats": weights_after(CONSTANT, x=images()[0] / 255)}


@case
def rates_of_batches_left_over():
    return weights_after(replace(BASE, partial=True))


@case
def hooks():
    return {"hook": weights_after(CONSTANT, Noise(0.1)), "ascent": weights_after(CONSTANT, Ascent(0.1)),
            "moved": weights_after(replace(CONSTANT, shift=1, flip=True, batch=8), Noise(0.2), seed=2)}


@case(within=0.1)     # signs of slopes turn where bfloat16 products are rounded in another way
def in_bfloat16():
    with bfloat16():
        return {"bf16": weights_after(replace(CONSTANT, bf16=True)),
                "ascent": weights_after(replace(CONSTANT, bf16=True), Ascent(0.1))}


@case(within=BF16)
def in_bfloat16_and_its_hook():
    seen = []

    def look(net, batch, labels, generator):
        seen.extend([batch.dtype, net(batch).dtype])
        return Noise(0.1)(net, batch, labels, generator)

    recipe = replace(CONSTANT, bf16=True)
    with bfloat16():
        return {"bf16": weights_after(recipe), "hook": weights_after(recipe, look),
                "seen": [str(word) for word in seen]}


class Shown(nn.Module):
    """A layer that keeps what it is shown first and last."""

    def __init__(self):
        super().__init__()
        for name in ("first", "last"):
            self.register_buffer(name, torch.zeros(17, 1, 8, 8))
        self.modes = []

    def adapt(self, x):
        self.first.copy_(x)
        self.modes.append(self.training)

    def settle(self, x):
        self.last.copy_(x)
        self.modes.append(self.training)

    def forward(self, x):
        return x


@case
def what_nets_are_shown_and_left_as():
    shown = Shown()
    seen = []

    def look(net, batch, labels, generator):
        seen.extend([net.training, str(batch.dtype), float(batch.min()), float(batch.max())])
        return batch.requires_grad_()

    net = nn.Sequential(shown, tiny())
    state = torch.get_rng_state()
    weights = weights_after(replace(BASE, images=17, shift=1, flip=True), look, net=net)
    return {"weights": weights, "modes": [*shown.modes, net.training], "seen": [str(s) for s in seen],
            "random": torch.equal(torch.get_rng_state(), state)}


# ---- a killed training goes on ---------------------------------------------------------------------------
class Killed(Exception):
    pass


class Dies:
    """A hook that ends the training at its n-th batch, and adds noise until then."""

    def __init__(self, at):
        self.left = at

    def __call__(self, net, batch, labels, generator):
        if self.left == 0:
            raise Killed
        self.left -= 1
        return Noise(0.1)(net, batch, labels, generator)


RESUMED = {"sgd": Recipe(epochs=3, batch=8, shift=1, flip=True),
           "adam": replace(ADAM, batch=8, images=17), "plain": Recipe(epochs=3, batch=8, momentum=0.0)}


@case
def states_that_are_taken_up():
    """Two batches an epoch: how many more the second attempt takes tells what was kept."""
    found = {}
    for name, recipe in RESUMED.items():
        others = ((1, {}), (6, {}), (5, {"rate": 0.04}), (5, {"seed": 2})) if name == "sgd" else ()
        for at, change in ((5, {}), *others):
            seed = change.get("seed", 1)
            again = replace(recipe, **{k: v for k, v in change.items() if k != "seed"})
            with tempfile.TemporaryDirectory() as folder, kept_in(Path(folder)):
                with contextlib.suppress(Killed):
                    weights_after(recipe, Dies(at), label="golden")
                files = sorted(p.name for p in Path(folder).iterdir())
                resumed = Dies(20)
                weights = weights_after(again, resumed, seed=seed, label="golden")
            found[f"{name} {at} {change}"] = {"weights": weights, "batches": 20 - resumed.left,
                                              "files": len(files)}
    return found


# ---- parts -----------------------------------------------------------------------------------------------
@case
def rates():
    recipes = {"cycle": Recipe(epochs=10, rate=0.5), "constant": replace(CONSTANT, rate=0.3),
               "steps": Recipe(epochs=9, schedule="steps", milestones=(2, 4.5), factor=0.5, rate=0.1)}
    return {name: [rate(recipe, epoch / 8) for epoch in range(81)] for name, recipe in recipes.items()}


@case
def the_last_rate():
    return rate(Recipe(epochs=10, rate=0.5), 10)


@case
def augmentation():
    x = images(30, channels=2)[0][..., :6]
    draw = torch.Generator().manual_seed(3)
    changed = {f"{n} {flip}": augmented(x, Recipe(epochs=1, shift=n, flip=flip), draw)
               for n in (0, 1, 3) for flip in (False, True)}
    return {**changed, "floats": augmented(x / 255, Recipe(epochs=1, shift=2, flip=True), draw),
            "after": torch.rand(2, generator=draw)}


@case
def shares():
    some = {"blocks": torch.tensor([0] * 60 + [1] * 30 + [2] * 10), "mixed": images(50)[1],
            "one": torch.zeros(7).long()}
    return {f"{name} {count}": share(y, count) for name, y in some.items() for count in (1, 7, 20, 1000)}


@case
def shares_of_few():
    return {f"{count}": share(torch.tensor([0] * 2 + [1] * 9), count) for count in range(1, 12)}


@case
def losses_of_scores():
    draw = torch.Generator().manual_seed(4)
    scores, labels = 4 * torch.randn(9, 3, generator=draw), torch.randint(2, (9,), generator=draw)
    found = {}
    for reduction in ("mean", "sum"):
        found[f"entropy {reduction}"] = loss(scores, labels, Recipe(epochs=1, reduction=reduction))
        squared = Recipe(epochs=1, loss="squared", reduction=reduction)
        found[f"squared {reduction}"] = loss(scores[:, :1], labels, squared)
    return {**found, "bad": [refused(loss, each, labels, squared)
                             for each in (scores, scores[:, :1], scores[:, 0], scores[1:, :1])],
            "training": refused(weights_after, replace(BASE, loss="squared"))}
