"""The settings of a training; the papers' recipes are with their architectures."""
import dataclasses
from dataclasses import dataclass
from typing import Any

from .. import runtime

CHOICES = {"optimiser": ("sgd", "adam"), "schedule": ("one-cycle", "constant", "steps"),
           "loss": ("cross-entropy", "squared"), "reduction": ("mean", "sum")}


@dataclass(frozen=True)
class Recipe:
    """Settings of a training; the defaults are SGD with Nesterov momentum and a one-cycle learning rate.

    Raises UserError for a setting out of range.
    """
    epochs: int                   # passes over the training images
    images: int | None = None     # number of training images, classes in proportion; None: all
    batch: int = 128              # images a step
    partial: bool = False         # the remainder of an epoch is a smaller batch, instead of omitted
    rate: float = 0.05            # largest learning rate; "one-cycle" reaches it after a fifth of the steps
    momentum: float = 0.9         # of SGD; Adam has its usual 0.9 and 0.999
    weight_decay: float = 1e-4    # L2 penalty, on weights of convolutions and linear layers only
    bf16: bool = False            # bfloat16 in forward passes if the device has it; weights are float32
    optimiser: str = "sgd"        # "sgd" or "adam"
    nesterov: bool = True         # the form of SGD's momentum
    schedule: str = "one-cycle"   # "one-cycle", "constant", or "steps": times `factor` at each milestone
    milestones: tuple[float, ...] = ()        # epochs, possibly fractions, after which the rate falls
    factor: float = 0.1
    loss: str = "cross-entropy"   # or "squared": (sigmoid of the one logit - label 0 or 1)^2
    reduction: str = "mean"       # the loss of a batch is the "mean" or the "sum" over its images
    shift: int = 0                # largest random shift in pixels along either axis, padded with 0
    flip: bool = False            # mirror each image left to right with probability 1/2

    def __post_init__(self) -> None:
        def refuse(name, allowed):
            raise runtime.UserError(f"recipe: {name} = {getattr(self, name)!r}; allowed: {allowed}")

        object.__setattr__(self, "milestones", tuple(self.milestones))
        for name, least in (("epochs", 1), ("batch", 1), ("shift", 0), ("images", 1)):
            value, all_of_them = getattr(self, name), ", or None for all" if name == "images" else ""
            if not (type(value) is int and value >= least or value is None and all_of_them):
                refuse(name, f"a whole number from {least}{all_of_them}")
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                refuse(name, ", ".join(allowed))
        if not 0 < self.rate < float("inf"):
            refuse("rate", "a number above 0")
        if not 0 <= self.momentum < 1:
            refuse("momentum", "a number from 0 and below 1")
        if not 0 <= self.weight_decay < float("inf"):
            refuse("weight_decay", "a number from 0")
        if not 0 < self.factor <= 1:
            refuse("factor", "a number above 0 and at most 1")
        if (self.schedule == "steps") != bool(self.milestones):
            refuse("milestones", "epochs such as (20, 40) with schedule 'steps', and none with another")

    def settings(self) -> dict[str, Any]:
        """`{name: value}` of fields that differ from their default, so that a new field changes nothing."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)
                if getattr(self, f.name) != f.default}
