"""An attack proposes, the judge decides: one form of attack and of result for every family.

    result = attack(model, x, y, generator=generator)

`model` is any callable as `shared.inference` says; y are the true classes.
The proposal is brought into the threat's ball and into [0, 1] and classified again here, whatever the attack
believes of it. Inputs, the model and its train/eval mode stay as they were. Images are taken `chunk` at a
time, which changes no result beyond the rounding of the model itself.
"""
import copy
import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, ClassVar

import torch

from .. import inference, runtime
from ..inference import Generator, Model, check_images, checked_logits, frozen, logits
from ..runtime import UserError
from .threat import Threat, checked, per_image


@dataclass(frozen=True, eq=False)
class Result:
    """What an attack did to N images, on the device of the images.

    x_adv        float32 [N, C, H, W]: the adversarial image; the clean one where the attack failed
    success      bool [N]: the proposal is in the ball, and its class is wrong (or the target); also of images
                 that are misclassified without any attack, which `was_correct` tells
    distance     float32 [N]: from the clean image in the threat's norm; nan where the attack failed
    was_correct  bool [N]: the model gives the clean image its true class
    passes       int64 [N]: images the attack sent through the model for this one
    no_gradient  bool [N]: it failed, and a gradient was 0 or not finite, which shows no robustness
    not_found    bool [N]: it failed although the threat allows any distance, so that there is an example: the
                 search was too short or too coarse, which shows no robustness
    """
    x_adv: torch.Tensor
    success: torch.Tensor
    distance: torch.Tensor
    was_correct: torch.Tensor
    passes: torch.Tensor
    no_gradient: torch.Tensor
    if TYPE_CHECKING:   # for those that compare or keep all fields it is none: it follows from others
        not_found: torch.Tensor = field(init=False)
    any_distance: InitVar[bool] = False     # whether a search of any distance proposed the images

    def __post_init__(self, any_distance: bool) -> None:
        object.__setattr__(self, "not_found", ~self.success & any_distance)

    @property
    def robust_accuracy(self) -> float:
        """Share of all N images that are classified correctly, clean and after the attack; in [0, 1].

        Of a targeted threat: that are classified correctly and were not moved into the target.
        """
        return float((self.was_correct & ~self.success).double().mean())

    def __repr__(self) -> str:
        counts = [f"{int(values.sum())} {words}" for values, words in (
            (self.was_correct, "correct before"), (self.was_correct & ~self.success, "after"),
            (self.success, "successes"), (self.no_gradient, "without success or a usable gradient"),
            (self.not_found, "where a search of any distance found nothing"))]
        return f"Result({len(self.success)} images: {', '.join(counts)})"


class Attack(ABC):
    """Base of attacks: frozen dataclasses with a `threat` and one method, `propose`.

    per_image   names of the fields that may be a tuple, which holds values of single images in turn: image k
                of a call gets value k modulo their number, and `propose` a tensor, float32 [n] (`setting_of`)
    """
    threat: Threat
    copies: int = 1  # images that one image becomes in a forward pass, for the size of chunks
    per_image: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def propose(self, model: Model, x: torch.Tensor, goal: torch.Tensor,
                draw: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        """Adversarial images for float32 images x [n, C, H, W], and the passes int64 [n] spent on each.

        A third value, bool [n], may say of which a gradient was 0 or not finite (`inference.unusable`). The
        logits model(x) are [n, K] from K = 2 on, on the model's device. `goal` [n] holds the classes to
        leave, or to reach in a targeted threat. `draw` is what `self.draw(x, generator)` drew for these
        images. An image that is not finite (nan) is no proposal.
        """

    def draw(self, x: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor | None:
        """What chance decides: a CPU tensor with one row for each of the images x or for all; or None."""
        return None

    def __call__(self, model: Model, x: torch.Tensor, y: torch.Tensor, *, target: torch.Tensor | None = None,
                 generator: Generator | None = None, chunk: int | None = None) -> Result:
        """Attack images x [N, C, H, W] of true classes y [N]; returns a `Result`.

        target     int64 [N], the classes to reach, where the threat is targeted
        generator  CPU generator, or an int as its seed; needed where the attack draws anything
        chunk      images at a time, default by memory
        Raises UserError for images, labels or models that are not as this module's first lines say.
        """
        name = type(self).__name__
        if not dataclasses.is_dataclass(self):
            raise UserError(f"{name} is no dataclass; write @dataclass(frozen=True) above its class")
        x = _check(x, y, getattr(self, "threat", None), target).detach()
        generator = None if generator is None else runtime.seeded(generator, name)
        device, order = inference.device_of(model, x), inference.memory_format(model)
        goal = y if target is None else target
        chance, asked = self.draw(x, generator), inference.Classifier(model)
        proposal, passes = torch.empty_like(x), torch.zeros(len(x), dtype=torch.int64, device=x.device)
        lost = torch.zeros(len(x), dtype=torch.bool, device=x.device)

        def part(rows):
            drawn = chance if chance is None or len(chance) < len(x) else chance[rows.cpu()]
            own = self._of(rows.to(device))
            images = x[rows].to(device, memory_format=order)
            proposed = _proposed(name, images, own.propose(asked, images, goal[rows].to(device),
                                                           None if drawn is None else drawn.to(device)))
            proposal[rows], passes[rows], lost[rows] = (part.to(x.device) for part in proposed)
            return rows

        with frozen(model):
            clean = checked_logits(model, x, y, target, chunk=chunk)
            if len(x):
                size = chunk or inference.chunk_for(model, x, self.copies)
                runtime.chunked(part, torch.arange(len(x), device=x.device), chunk=size)
            result = _decide(model, x, y, proposal, self.threat, target, passes, clean, chunk, lost,
                             any_distance=self.threat.size == math.inf)
        inference.warn_of(name, result.no_gradient)
        inference.warn_of_no_example(name, result.not_found & ~result.no_gradient)
        return result

    def _of(self, rows):
        """This attack for the images `rows` of a call: a tuple of `per_image` becomes their values [n]."""
        own = copy.copy(self)       # not checked again
        for name in self.per_image:
            if isinstance(value := getattr(self, name), tuple):
                if not value:
                    raise UserError(f"{type(self).__name__}.{name} is an empty tuple; one value an image, or "
                                    "a few that repeat, are needed")
                own_values = torch.tensor(value, dtype=torch.float32, device=rows.device)
                object.__setattr__(own, name, own_values[rows % len(value)])
        return own


def values(setting: float | tuple[float, ...]) -> tuple[float, ...]:
    """The values of a setting that may be a tuple, to be checked."""
    return setting if isinstance(setting, tuple) else (setting,)


def setting_of(setting: float | tuple[float, ...] | torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    """A setting of the images [n, ...] as float32 [n]: a number for all, or their own as `_of` gives it."""
    return torch.as_tensor(setting, dtype=torch.float32, device=images.device).expand(len(images))


def fooled(scores: torch.Tensor, goal: torch.Tensor, *, targeted: bool,
           probability: float = 0.5) -> torch.Tensor:
    """Which logits [n, K] an attack that looks for the nearest example takes for one, bool [n].

    Another class than `goal` [n]; in a targeted threat the goal, with a probability (softmax) above this.
    """
    if targeted:
        return scores.softmax(1).gather(1, goal[:, None]).squeeze(1) > probability
    return scores.argmax(1) != goal


def judge(model: Model, x: torch.Tensor, y: torch.Tensor, proposal: torch.Tensor, threat: Threat, *,
          target: torch.Tensor | None = None, passes: torch.Tensor | None = None,
          chunk: int | None = None) -> Result:
    """What the proposed images [N, C, H, W] are worth against `threat`: a `Result`.

    The judge projects and clips them, classifies them again and keeps the clean image where they fail; what
    is not finite fails. Arguments and errors as in `Attack.__call__`; `passes` [N] is handed on.
    """
    x = _check(x, y, threat, target).detach()
    inference.check_tensors(proposals=proposal)
    if proposal.shape != x.shape or proposal.dtype != x.dtype or proposal.device != x.device:
        raise UserError(f"proposed images are {proposal.dtype} {list(proposal.shape)} on {proposal.device}; "
                        f"float32 {list(x.shape)} on {x.device} is needed")
    proposal = proposal.detach()
    passes = torch.zeros(len(x), dtype=torch.int64, device=x.device) if passes is None else passes
    with frozen(model):
        clean = checked_logits(model, x, y, target, chunk=chunk)
        return _decide(model, x, y, proposal, threat, target, passes, clean, chunk,
                       torch.zeros_like(y, dtype=torch.bool))


def _proposed(name, x, given):
    """What the `propose` of attack `name` gave for images x: images, passes, which had no usable gradient."""
    form = [(x.dtype, x.shape), (torch.int64, x.shape[:1]), (torch.bool, x.shape[:1])]
    if not isinstance(given, tuple) or [_form(part) for part in given] not in (form[:2], form):
        parts = given if isinstance(given, tuple) else (given,)
        words = ", ".join(f"{part.dtype} {list(part.shape)}" if isinstance(part, torch.Tensor)
                          else type(part).__name__ for part in parts)
        raise UserError(f"{name}.propose returns {words}; images float32 {list(x.shape)} and passes int64 "
                        f"[{len(x)}] are needed")
    return *given, *[torch.zeros(len(x), dtype=torch.bool)] * (3 - len(given))


def _form(part):
    return getattr(part, "dtype", None), getattr(part, "shape", None)


def _decide(model, x, y, proposal, threat, target, passes, clean, chunk, lost, any_distance=False):
    finite = proposal.flatten(1).isfinite().all(1)
    z = torch.where(per_image(finite, x), proposal, x)
    z = threat.project(z, x).clamp(0, 1)               # clipping moves towards x: z stays in the ball
    got = inference.classes(logits(model, z, chunk=chunk))
    success = finite & (got == target if threat.targeted else got != y)
    return Result(x_adv=torch.where(per_image(success, x), z, x), success=success,
                  distance=torch.where(success, threat.distance(x, z), torch.nan),
                  was_correct=clean.argmax(1) == y, passes=passes,
                  no_gradient=lost & ~success, any_distance=any_distance)


def _check(x, y, threat, target):
    targeted = checked(threat, bounded=False).targeted
    x = check_images(x, y, target)
    if targeted != (target is not None):
        raise UserError("a targeted threat needs target=, the classes to reach, and no other threat takes it")
    if targeted and (same := int((target == y).sum())):
        raise UserError(f"{same} targets are the label of their image; another class is needed")
    return x
