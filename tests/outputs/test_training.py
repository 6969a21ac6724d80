"""Training with every option of a recipe, each for three steps; learning rates, augmentation, losses."""
from dataclasses import replace

import torch
from torch import nn

from shared.training.fit import augmented, loss, rate, share
from shared.training.recipe import Recipe
from tests.outputs.examples import Noise, bf16, training_images, untrained, weights_after

CONSTANT = Recipe(epochs=3, batch=16, weight_decay=0.01, schedule="constant")
CYCLE = replace(CONSTANT, schedule="one-cycle")
STEPS = replace(CONSTANT, schedule="steps", milestones=(1, 2), factor=0.5)


def test_recipe(stored):
    """The default settings."""
    stored(Recipe(epochs=3))


def test_schedules(stored):
    several = replace(STEPS, batch=6, epochs=2, milestones=(0.5, 1.2))
    stored([weights_after(recipe) for recipe in (CYCLE, CONSTANT, STEPS, several)])


def test_optimisers(stored):
    stored([weights_after(replace(CONSTANT, **options)) for options in (
        dict(nesterov=False), dict(optimiser="adam", rate=0.01), dict(momentum=0.0), dict(weight_decay=0.2))])


def test_losses(stored):
    stored([weights_after(replace(CONSTANT, rate=0.002, reduction="sum")),
            weights_after(replace(CONSTANT, loss="squared"), outputs=1)])


def test_batches(stored):
    stored([*(weights_after(replace(CONSTANT, **options)) for options in (
        dict(partial=True), dict(partial=True, batch=10), dict(images=17, batch=5, epochs=2))),
            weights_after(replace(CYCLE, batch=30)), weights_after(replace(CYCLE, partial=True)),
            weights_after(CONSTANT, x=training_images()[0] / 255)])


def test_augmentation_and_hooks(stored):
    stored([weights_after(replace(CONSTANT, shift=2)), weights_after(replace(CONSTANT, flip=True)),
            weights_after(CONSTANT, Noise(0.1)),
            weights_after(replace(CONSTANT, shift=1, flip=True, batch=8), Noise(0.2), seed=2)])


def test_training_in_bf16(stored):
    """Processors round products of bfloat16 in different ways: by 0.007 at most."""
    types = []

    def hook(net, images, labels, generator):
        types.extend([str(images.dtype), str(net(images).dtype)])
        return Noise(0.1)(net, images, labels, generator)

    with bf16(True):
        recipe = replace(CONSTANT, bf16=True)
        stored([weights_after(recipe), weights_after(recipe, hook), types], within=2 ** -6)


class Shown(nn.Module):
    """A layer that keeps the training images it is shown first and last."""

    def __init__(self):
        super().__init__()
        for name in ("first", "last"):
            self.register_buffer(name, torch.zeros(17, 1, 8, 8))

    def adapt(self, x):
        assert self.training
        self.first.copy_(x)

    def settle(self, x):
        assert self.training
        self.last.copy_(x)

    def forward(self, x):
        return x


def test_adapt_and_settle(stored):
    recipe = replace(CYCLE, images=17, shift=1, flip=True)
    stored(weights_after(recipe, net=nn.Sequential(Shown(), untrained())))


def test_rate(stored):
    stored([[rate(recipe, epoch / 8) for epoch in range(81)] for recipe in (
        Recipe(epochs=10, rate=0.5), replace(CONSTANT, rate=0.3),
        Recipe(epochs=9, schedule="steps", milestones=(2, 4.5), factor=0.5, rate=0.1))])


def test_augmented(stored):
    x, generator = training_images(30, channels=2)[0][..., :6], torch.Generator().manual_seed(3)
    values = [augmented(x, Recipe(epochs=1, shift=shift, flip=flip), generator)
              for shift in (0, 1, 3) for flip in (False, True)]
    stored([*values, augmented(x / 255, Recipe(epochs=1, shift=2, flip=True), generator)])


def test_share(stored):
    blocks, mixed = torch.tensor([0] * 60 + [1] * 30 + [2] * 10), training_images(50)[1]
    stored([*(share(y, count) for y in (blocks, mixed, torch.zeros(7).long()) for count in (1, 7, 20, 1000)),
            *(share(torch.tensor([0] * 2 + [1] * 9), count) for count in range(1, 12))])


def test_loss(stored):
    generator = torch.Generator().manual_seed(4)
    scores, labels = 4 * torch.randn(9, 3, generator=generator), torch.randint(2, (9,), generator=generator)
    stored([[loss(scores, labels, Recipe(epochs=1, reduction=reduction)),
             loss(scores[:, :1], labels, Recipe(epochs=1, loss="squared", reduction=reduction))]
            for reduction in ("mean", "sum")])
