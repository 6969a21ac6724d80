"""The base class of attacks, their result, and the judge, which decides whether a proposal is a success.

    result = attack(model, x, y, generator=generator)

`model` is any callable as described in `shared.inference`; y are the true classes.
An attack proposes images. The judge projects them onto the threat's ball, clips them to [0, 1] and classifies
them again, independently of the attack. Inputs, the model and its train/eval mode are left unchanged. Images
are processed `chunk` at a time, which changes no result beyond the model's own rounding.
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
    """The outcome of an attack on N images, on the device of the images.

    x_adv        float32 [N, C, H, W]: the adversarial image; the clean one where the attack failed
    success      bool [N]: the image in the ball has a wrong class (or the target); True also for images that
                 are misclassified without an attack, see `was_correct`
    distance     float32 [N]: from the clean image in the threat's norm; nan where the attack failed
    was_correct  bool [N]: the clean image is classified correctly
    passes       int64 [N]: forward passes that the attack spent on the image
    no_gradient  bool [N]: the attack failed and a gradient was 0 or not finite: no evidence of robustness
    not_found    bool [N]: the attack failed although its threat allows any distance: the search was too short
                 or too coarse, no evidence of robustness
    """
    x_adv: torch.Tensor
    success: torch.Tensor
    distance: torch.Tensor
    was_correct: torch.Tensor
    passes: torch.Tensor
    no_gradient: torch.Tensor
    if TYPE_CHECKING:   # at run time no field: it follows from the others
        not_found: torch.Tensor = field(init=False)
    any_distance: InitVar[bool] = False     # whether a search of any distance proposed the images

    def __post_init__(self, any_distance: bool) -> None:
        object.__setattr__(self, "not_found", ~self.success & any_distance)

    @property
    def robust_accuracy(self) -> float:
        """Share of all N images that are classified correctly before and after the attack; in [0, 1].

        Of a targeted threat: share classified correctly before, and not as the target after.
        """
        return float((self.was_correct & ~self.success).double().mean())

    def __repr__(self) -> str:
        counts = [f"{int(values.sum())} {words}" for values, words in (
            (self.was_correct, "correct before"), (self.was_correct & ~self.success, "after"),
            (self.success, "successes"), (self.no_gradient, "without success or a usable gradient"),
            (self.not_found, "without an example at any distance"))]
        return f"Result({len(self.success)} images: {', '.join(counts)})"


class Attack(ABC):
    """Base of attacks: frozen dataclasses with a `threat` and one method, `propose`.

    per_image   names of the fields that may hold a tuple of values, one an image: image k of a call has value
                k modulo their number, and `propose` receives them as a tensor, float32 [n] (`setting_of`)
    """
    threat: Threat
    copies: int = 1  # copies of an image in one forward pass, for the size of chunks
    per_image: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def propose(self, model: Model, x: torch.Tensor, goal: torch.Tensor,
                draw: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        """Adversarial images for float32 images x [n, C, H, W], and the passes int64 [n] spent on each.

        An optional third value, bool [n], marks images of which a gradient was 0 or not finite
        (`inference.unusable`). model(x) returns logits [n, K], K at least 2, on the model's device. `goal`
        [n] holds the true classes, or the targets of a targeted threat. `draw` holds the rows of
        `self.draw(x, generator)` for these images. An image that is not finite (nan) is no proposal.
        """

    def draw(self, x: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor | None:
        """The random numbers of a call: a CPU tensor of one row an image, or one row for all; or None."""
        return None

    def __call__(self, model: Model, x: torch.Tensor, y: torch.Tensor, *, target: torch.Tensor | None = None,
                 generator: Generator | None = None, chunk: int | None = None) -> Result:
        """Attack images x [N, C, H, W] of true classes y [N]; returns a `Result`.

        target     int64 [N], the target classes, where the threat is targeted
        generator  CPU generator, or an int as its seed; needed by attacks that draw random numbers
        chunk      images at a time, default by memory
        Raises UserError for invalid images or labels, and `inference.ModelError` for an invalid model.
        """
        name = type(self).__name__
        if not dataclasses.is_dataclass(self):
            raise UserError(f"{name} is no dataclass; write @dataclass(frozen=True) above its class")
        x = _check(x, y, getattr(self, "threat", None), target).detach()
        generator = None if generator is None else runtime.seeded(generator, name)
        device, order = inference.device_of(model, x), inference.memory_format(model)
        goal = y if target is None else target
        draws, attacked = self.draw(x, generator), inference.AttackedModel(model)
        proposal, passes = torch.empty_like(x), torch.zeros(len(x), dtype=torch.int64, device=x.device)
        no_gradient = torch.zeros(len(x), dtype=torch.bool, device=x.device)

        def part(rows):
            draw = draws if draws is None or len(draws) < len(x) else draws[rows.cpu()]
            attack = self._of_images(rows.to(device))
            images = x[rows].to(device, memory_format=order)
            proposed = _proposed(name, images, attack.propose(attacked, images, goal[rows].to(device),
                                                              None if draw is None else draw.to(device)))
            proposal[rows], passes[rows], no_gradient[rows] = (part.to(x.device) for part in proposed)
            return rows

        with frozen(model):
            clean = checked_logits(model, x, y, target, chunk=chunk)
            if len(x):
                size = chunk or inference.chunk_for(model, x, self.copies)
                runtime.chunked(part, torch.arange(len(x), device=x.device), chunk=size)
            result = _decide(model, x, y, proposal, self.threat, target, passes, clean, chunk, no_gradient,
                             any_distance=self.threat.size == math.inf)
        inference.warn_of(inference.NoUsableGradient, name, result.no_gradient)
        inference.warn_of(inference.NoExample, name, result.not_found & ~result.no_gradient)
        return result

    def _of_images(self, rows):
        """This attack for the images `rows` of a call: a tuple of `per_image` becomes their values [n]."""
        attack = copy.copy(self)    # not checked again
        for name in self.per_image:
            if isinstance(value := getattr(self, name), tuple):
                if not value:
                    raise UserError(f"{type(self).__name__}.{name} is an empty tuple; one value an image, or "
                                    "a few that repeat, are needed")
                settings = torch.tensor(value, dtype=torch.float32, device=rows.device)
                object.__setattr__(attack, name, settings[rows % len(value)])
        return attack


def values(setting: float | tuple[float, ...]) -> tuple[float, ...]:
    """The values of a setting in `Attack.per_image`, one or several, as a tuple: for `__post_init__`."""
    return setting if isinstance(setting, tuple) else (setting,)


def setting_of(setting: float | tuple[float, ...] | torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    """A setting as float32 [n] for images [n, ...]: one number for all, or one an image, see `Attack`."""
    return torch.as_tensor(setting, dtype=torch.float32, device=images.device).expand(len(images))


def fooled(scores: torch.Tensor, goal: torch.Tensor, *, targeted: bool,
           probability: float = 0.5) -> torch.Tensor:
    """Which logits [n, K] an attack for the nearest example counts as adversarial, bool [n].

    Another class than `goal` [n]; if targeted, a softmax probability of the goal above `probability`.
    """
    if targeted:
        return scores.softmax(1).gather(1, goal[:, None]).squeeze(1) > probability
    return scores.argmax(1) != goal


def judge(model: Model, x: torch.Tensor, y: torch.Tensor, proposal: torch.Tensor, threat: Threat, *,
          target: torch.Tensor | None = None, passes: torch.Tensor | None = None,
          chunk: int | None = None) -> Result:
    """The `Result` of proposed images [N, C, H, W] under `threat`.

    They are projected onto the ball, clipped to [0, 1] and classified; where one fails or is not finite, the
    clean image is returned. Arguments and errors as in `Attack.__call__`; `passes` [N] enters the result.
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


def _proposed(name, x, returned):
    """What `propose` of the attack `name` returned for images x, checked: images, passes, no gradient."""
    form = [(x.dtype, x.shape), (torch.int64, x.shape[:1]), (torch.bool, x.shape[:1])]
    parts = returned if isinstance(returned, tuple) else (returned,)
    forms = [(getattr(part, "dtype", None), getattr(part, "shape", None)) for part in parts]
    if parts is not returned or forms not in (form[:2], form):
        words = ", ".join(f"{part.dtype} {list(part.shape)}" if isinstance(part, torch.Tensor)
                          else type(part).__name__ for part in parts)
        raise UserError(f"{name}.propose returns {words}; images float32 {list(x.shape)} and passes int64 "
                        f"[{len(x)}] are needed")
    return *returned, *[torch.zeros(len(x), dtype=torch.bool)] * (3 - len(returned))


def _decide(model, x, y, proposal, threat, target, passes, clean, chunk, no_gradient, any_distance=False):
    """The `Result` of proposals [N, C, H, W], whose clean images have the logits `clean` [N, K]."""
    finite = proposal.flatten(1).isfinite().all(1)
    z = torch.where(per_image(finite, x), proposal, x)
    z = threat.project(z, x).clamp(0, 1)               # clipping moves towards x: z stays in the ball
    predicted = inference.classes(logits(model, z, chunk=chunk))
    success = finite & (predicted == target if threat.targeted else predicted != y)
    return Result(x_adv=torch.where(per_image(success, x), z, x), success=success,
                  distance=torch.where(success, threat.distance(x, z), torch.nan),
                  was_correct=clean.argmax(1) == y, passes=passes,
                  no_gradient=no_gradient & ~success, any_distance=any_distance)


def _check(x, y, threat, target):
    """The images, `clipped`. Raises UserError unless images, classes, threat and targets fit together."""
    targeted = checked(threat, bounded=False).targeted
    x = check_images(x, y, target)
    if targeted != (target is not None):
        raise UserError("a targeted threat needs target=, the target classes, and no other threat takes it")
    if targeted and (same := int((target == y).sum())):
        raise UserError(f"{same} targets are the label of their image; another class is needed")
    return x
