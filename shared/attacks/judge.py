"""An attack proposes, the judge decides: one form of attack and of result for every family.

    result = attack(model, x, y, generator=generator)

`model` takes float32 images [N, C, H, W] in [0, 1] and returns logits [N, classes]; y are the true classes.
The proposal is brought into the threat's ball and into [0, 1] and classified again here, whatever the attack
believes of it. Inputs, the model and its train/eval mode stay as they were. Images are taken `chunk` at a
time, which changes no result beyond the rounding of the model itself.
"""
import contextlib
from dataclasses import dataclass

import torch

from shared import runtime
from shared.attacks.threat import Threat
from shared.runtime import UserError

MAPS = 64  # work memory of a forward and backward pass in float32 images, roughly, per image


@dataclass(frozen=True, eq=False)
class Result:
    """What an attack did to N images, on the device of the images."""
    x_adv: torch.Tensor        # float32 [N, C, H, W]: the adversarial image, else the clean one
    success: torch.Tensor      # bool [N]: x_adv is in the ball, and its class is wrong (the target)
    distance: torch.Tensor     # float32 [N]: from the clean image in the threat's norm, nan without success
    was_correct: torch.Tensor  # bool [N]: the model gives the clean image its true class
    passes: torch.Tensor       # int64 [N]: images the attack sent through the model for this one


class Attack:
    """Base of attacks, which are frozen dataclasses with a `threat` and a method

    `propose(model, x, goal, draw) -> images, passes`: adversarial images for float32 images x [n, C, H, W] on
    the model's device, and the number [n] of passes spent on each. `goal` [n] holds the classes to leave, or
    to reach in a targeted threat. `draw` is what `self.draw(x, generator)` drew for these images. An image
    that is not finite (nan) is no proposal.
    """
    threat: Threat
    copies = 1  # images that one image becomes in a forward pass, for the size of chunks

    def draw(self, x, generator):
        """What chance decides: a CPU tensor with one row for each of the images x or for all; or None."""

    def __call__(self, model, x, y, *, target=None, generator=None, chunk=None):
        """Attack images x [N, C, H, W] of true classes y [N]; returns a `Result`.

        target     int64 [N], the classes to reach, where the threat is targeted
        generator  CPU generator; needed where the attack draws anything
        chunk      images at a time, default by memory
        Raises UserError for images, labels or models that are not as this module's first lines say.
        """
        check_images(x, y, self.threat, target)
        device = device_of(model, x)
        goal = target if self.threat.targeted else y
        chance = self.draw(x, generator)
        proposal, passes = torch.empty_like(x), torch.zeros(len(x), dtype=torch.int64, device=x.device)

        def part(rows):
            drawn = chance if chance is None or len(chance) < len(x) else chance[rows.cpu()]
            z, spent = self.propose(model, _layout(x[rows], device), goal[rows].to(device),
                                    None if drawn is None else drawn.to(device))
            proposal[rows], passes[rows] = z.to(x.device), spent.to(x.device)
            return rows

        with frozen(model):
            clean = checked_logits(model, x, y, target, chunk=chunk)
            if len(x):
                size = chunk or runtime.chunk_size(x[0].numel() * 4 * MAPS * self.copies, device)
                runtime.chunked(part, torch.arange(len(x), device=x.device), chunk=size)
            return _decide(model, x, y, proposal, self.threat, target, passes, clean, chunk)


def judge(model, x, y, proposal, threat, *, target=None, passes=None, chunk=None):
    """What the proposed images [N, C, H, W] are worth against `threat`: a `Result`.

    The judge projects and clips them, classifies them again and keeps the clean image where they fail. A
    proposal that is not finite fails. Arguments and errors as in `Attack.__call__`; `passes` [N] is handed on
    (default 0).
    """
    check_images(x, y, threat, target)
    if proposal.shape != x.shape:
        raise UserError(f"proposed images are {list(proposal.shape)}; {list(x.shape)} is needed")
    passes = torch.zeros(len(x), dtype=torch.int64, device=x.device) if passes is None else passes
    with frozen(model):
        clean = checked_logits(model, x, y, target, chunk=chunk)
        return _decide(model, x, y, proposal, threat, target, passes, clean, chunk)


def _decide(model, x, y, proposal, threat, target, passes, clean, chunk):
    finite = proposal.flatten(1).isfinite().all(1)
    z = torch.where(_rows(finite, x), proposal, x)
    z = threat.project(z, x).clamp(0, 1)               # clipping moves towards x: z stays in the ball
    got = logits(model, z, chunk=chunk).argmax(1)
    success = finite & (got == target if threat.targeted else got != y)
    return Result(x_adv=torch.where(_rows(success, x), z, x), success=success,
                  distance=torch.where(success, threat.distance(x, z), torch.nan),
                  was_correct=clean.argmax(1) == y, passes=passes)


# ---- the model -------------------------------------------------------------------------------------------
@contextlib.contextmanager
def frozen(model):
    """The model in eval mode; afterwards every module is in the mode it was in."""
    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    modes = [module.training for module in modules]
    for module in modules:
        module.training = False
    try:
        yield model
    finally:
        for module, mode in zip(modules, modes):
            module.training = mode


def device_of(model, x):
    """Where the model's parameters are; a model without any works where the images are."""
    parameters = model.parameters() if isinstance(model, torch.nn.Module) else ()
    return next((p.device for p in parameters), x.device)


def logits(model, x, *, chunk=None):
    """Logits [N, classes] of float32 images x, on their device, in the model's present mode; no gradients.

    Raises UserError where one is not finite: nan would pass for the class of its place.
    """
    device = device_of(model, x)

    def forward(part):
        with torch.no_grad():
            scores = model(_layout(part, device)).float().to(x.device)
        if not scores.isfinite().all():
            raise UserError("the model returns nan or infinite logits; check its weights and its "
                            "normalisation")
        return scores

    return runtime.chunked(forward, x, chunk=chunk or runtime.chunk_size(x[0].numel() * 4 * MAPS, device)
                           if len(x) else 1)


def gradient(function, x):
    """`function(x)` [n] and its gradient at images x; parameters get none."""
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        values = function(x)
        slope, = torch.autograd.grad(values.sum(), x)
    return values.detach(), slope


def _layout(x, device):
    """Images on the device, channels last: convolutions are 1.4 to 2 times faster so."""
    return x.to(device, memory_format=torch.channels_last)


def _rows(mask, images):
    return mask.view(-1, *[1] * (images.ndim - 1))


# ---- what is refused -------------------------------------------------------------------------------------
def check_images(x, y=None, threat=None, target=None):
    """Raises UserError unless x are images, y classes, and targets there just where they are wanted."""
    if x.dtype != torch.float32 or x.ndim != 4:
        raise UserError(f"images are {x.dtype} {list(x.shape)}; float32 [N, C, H, W] in [0, 1] is needed "
                        "(uint8 images: divide by 255)")
    if not ((x >= 0) & (x <= 1)).all():
        low, high = x.min().item(), x.max().item()
        raise UserError(f"pixels lie in [{low:g}, {high:g}]; [0, 1] is needed (divide 0..255 by 255; "
                        "normalisation belongs into the model)")
    if threat is not None and threat.targeted != (target is not None):
        raise UserError("a targeted threat needs target=, the classes to reach, and no other threat takes it")
    for name, classes in (("labels", y), ("targets", target)):
        if classes is not None and (classes.dtype != torch.int64 or classes.shape != x.shape[:1]):
            raise UserError(f"{name} are {classes.dtype} {list(classes.shape)}; int64 [{len(x)}] is needed, "
                            "one per image")


def checked_logits(model, x, *classes, chunk=None):
    """`logits` of clean images. Raises UserError where they are none, or lack one of the `classes`."""
    scores = logits(model, x, chunk=chunk)
    if scores.ndim != 2 or len(scores) != len(x) or scores.shape[1] < 2:
        raise UserError(f"the model returns {list(scores.shape)} for {len(x)} images; logits [{len(x)}, "
                        "classes] of two classes or more are needed")
    if len(x) and (scores >= 0).all() and ((scores.sum(1) - 1).abs() < 1e-4).all():
        raise UserError("the model returns probabilities (rows are positive and sum to 1); logits are "
                        "needed: leave its softmax out")
    for labels in classes:
        if labels is not None and len(labels) and not 0 <= labels.min() <= labels.max() < scores.shape[1]:
            raise UserError(f"labels lie in {int(labels.min())}..{int(labels.max())}, but the model has "
                            f"{scores.shape[1]} classes: 0..{scores.shape[1] - 1} is allowed")
    return scores
