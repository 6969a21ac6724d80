"""The form of a recipe: its defaults, what it refuses, and which of its settings it tells."""
from shared.training.recipe import Recipe
from tests.golden import Cases, refused

case = Cases()


@case
def defaults():
    r = Recipe(epochs=3)
    return {"numbers": [r.epochs, r.batch, r.rate, r.momentum, r.weight_decay, r.factor, r.shift],
            "switches": [r.partial, r.bf16, r.nesterov, r.flip], "all": r.images is None,
            "words": [r.optimiser, r.schedule, r.loss, r.reduction], "milestones": len(r.milestones)}


@case
def settings():
    every = Recipe(epochs=2, images=7, batch=3, partial=True, rate=0.2, momentum=0.0, weight_decay=0.0,
                   bf16=True, optimiser="adam", nesterov=False, schedule="steps", milestones=[1, 2.5],
                   factor=1.0, loss="squared", reduction="sum", shift=1, flip=True)
    return {"one": Recipe(epochs=4).settings(), "every": every.settings(),
            "defaults": Recipe(epochs=4, batch=128, momentum=0.9, images=None).settings()}


def bad(**changes):
    return refused(Recipe, **{"epochs": 3} | changes)


@case
def whole_numbers():
    return {name: [bad(**{name: value}) for value in (-1, 0, 1, 2, 1.0, True, "1", None)]
            for name in ("epochs", "batch", "shift", "images")}


@case
def numbers():
    values = (-0.1, 0, 0.0, 0.5, 1, 1.0, 1.01, 2.0, float("inf"), float("nan"))
    return {name: [bad(**{name: value}) for value in values]
            for name in ("rate", "momentum", "weight_decay", "factor")}


@case
def words():
    every = ("sgd", "adam", "one-cycle", "constant", "steps", "cross-entropy", "squared", "mean", "sum", "",
             None)
    return {name: [bad(**{name: value}) for value in every]
            for name in ("optimiser", "schedule", "loss", "reduction")}


@case
def milestones():
    return [bad(schedule=name, milestones=m) for name in ("one-cycle", "constant", "steps")
            for m in ((), (1,), [1, 2], [])]
