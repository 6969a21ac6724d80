"""Evaluation of a model: logits, labels, margins and gradients, in one place for every instrument.

A model is any callable, module or function, with or without parameters, on any device and in any mode. It
takes float32 images [N, C, H, W] in [0, 1], grey or colour, of any size, and returns logits: [N, K]; or, for
two classes, one logit an image, [N, 1] or [N], which is above 0 for class 1. For a model that does otherwise
a subclass of `ModelError` is raised.

In names, `scores` are logits, `slopes` gradients with respect to the images, `order` is a memory format and
`chunk` the number of images evaluated at once. `labels` as an argument are the true classes; the function
`labels` gives predicted ones. A label flips where the two differ.
"""
import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import nn

from . import runtime
from .runtime import UserError

Model = Callable[[torch.Tensor], torch.Tensor]
Generator = torch.Generator | int       # of the CPU, or its seed

ROUNDING = 1e-5         # by which pixels may leave [0, 1]
MAPS = 64               # rough memory of a forward and backward pass of an image, in float32 images
STEADY = 8              # images that `checked_logits` evaluates twice
NOTICED = 16            # least number of outputs whose range is informative
WHOLE = (1, 100)        # sums of probabilities, as shares or per cent
SUM_ROUNDED = 0.01      # relative error of such a sum by 16-bit rounding


# ---- what is refused -------------------------------------------------------------------------------------
class ModelError(UserError):
    """The model is not as this module's docstring requires."""


class WrongShape(ModelError):
    """The model does not return one row of logits for each image."""


class NotFinite(ModelError):
    """A logit is nan or infinite."""


class Probabilities(ModelError):
    """The outputs are probabilities, of a softmax or a sigmoid, or a multiple of them."""


class WrongType(ModelError):
    """The weights have several types, and the model accepts images of none of these."""


class LabelOutOfRange(ModelError):
    """A label or target is no class of the model."""


class Unsteady(ModelError):
    """Two evaluations of equal images give different logits: the model is not deterministic."""


class NoGradient(ModelError):
    """The logits cannot be differentiated with respect to the images."""


class NoUsableGradient(UserWarning):
    """An attack failed on images whose gradient is 0 or not finite: no evidence of robustness."""


class NoExample(UserWarning):
    """An attack of unlimited distance failed: no evidence of robustness."""


class PerhapsProbabilities(UserWarning):
    """No output is negative: they may be those of a softmax or a sigmoid, or logits."""


def check_tensors(**given: torch.Tensor | None) -> None:
    """Raises UserError unless each is a tensor, such as `images=x`; None passes."""
    for name, value in given.items():
        if value is not None and not isinstance(value, torch.Tensor):
            raise UserError(f"{name} are a {type(value).__name__}; a torch tensor is needed "
                            "(torch.as_tensor)")


def clipped(x: torch.Tensor, pixels: str = "pixels") -> torch.Tensor:
    """Float images x, values beyond [0, 1] by rounding alone clipped. Raises UserError for others."""
    if ((x >= 0) & (x <= 1)).all():
        return x
    if not x.isfinite().all():
        raise UserError(f"{pixels} are nan or infinite in {int((~x.isfinite()).flatten(1).any(1).sum())} of "
                        f"{len(x)} images; leave these images out")
    low, high = x.min().item(), x.max().item()
    if low >= -ROUNDING and high <= 1 + ROUNDING:
        return x.clamp(0, 1)
    raise UserError(f"{pixels} lie in [{low:g}, {high:g}]; [0, 1] is needed (divide 0..255 by 255; "
                    "normalisation belongs into the model: inference.adapt)")


def check_images(x: torch.Tensor, y: torch.Tensor | None = None,
                 target: torch.Tensor | None = None) -> torch.Tensor:
    """The images x, `clipped`. Raises UserError unless they are float32 images in [0, 1], y and target are
    int64 with one value an image, and all are on one device.
    """
    check_tensors(images=x, labels=y, targets=target)
    if x.dtype != torch.float32 or x.ndim != 4 or not x.shape[1:].numel():
        how = {torch.uint8: " (images / 255)", torch.float32: ""}.get(x.dtype, " (images.float())")
        raise UserError(f"images are {x.dtype} {list(x.shape)}; float32 [N, C, H, W] in [0, 1] is "
                        f"needed{how}")
    x = clipped(x)
    for name, classes in (("labels", y), ("targets", target)):
        if classes is not None and (classes.dtype != torch.int64 or classes.shape != x.shape[:1]):
            raise UserError(f"{name} are {classes.dtype} {list(classes.shape)}; int64 [{len(x)}] is needed, "
                            f"one per image{'' if classes.dtype == torch.int64 else f' ({name}.long())'}")
        if classes is not None and classes.device != x.device:
            raise UserError(f"images are on {x.device}, {name} on {classes.device}; one device is needed")
    return x


# ---- evaluation -------------------------------------------------------------------------------------------
_frozen, _frozen_lock = {}, threading.Lock()      # module -> [open blocks of `frozen`, mode before]


@contextlib.contextmanager
def frozen(model: Model | None) -> Iterator[Model | None]:
    """Context in which the model is in evaluation mode; afterwards each module is in its previous mode.

    It is no freezing of weights: `requires_grad` does not change. Modes are set by the modules' own `train`,
    since some do more in it, such as merging weights. Modules without a mode (`torch.jit.freeze`) or without
    `train` (`torch.export`) are left unchanged. If several threads evaluate one model, the last block to end
    restores the modes.
    """
    modules = [m for m in model.modules() if hasattr(m, "training")] if isinstance(model, nn.Module) else []
    with _frozen_lock:
        for module in modules:
            _frozen.setdefault(module, [0, module.training])[0] += 1
        if any(module.training for module in modules):
            _set_mode(model, False)
    try:
        yield model
    finally:
        with _frozen_lock:
            for module in modules:
                _frozen[module][0] -= 1
            _thaw()


def _thaw():
    """Restore the modes of modules of which no part is in use any more, containers before their parts."""
    unused = {module: mode for module, (blocks, mode) in _frozen.items() if not blocks}
    if any(module.training != mode for module, mode in unused.items()):
        parts = {module: [m for m in module.modules() if m in _frozen] for module in unused}
        waiting = [module for module in unused if not unused.keys() >= set(parts[module])]
        for module in {part for outer in waiting for part in parts[outer]}:
            unused.pop(module, None)
        for module in sorted(unused, key=lambda m: -len(parts[m])):
            if module.training != unused[module]:
                _set_mode(module, unused[module])
    for module in unused:
        del _frozen[module]


def _set_mode(module, mode):
    try:
        module.train(mode)
    except NotImplementedError:     # torch raises it: an exported module, or one that holds it, has no mode
        for child in module.children():
            _set_mode(child, mode)


def device_of(model: Model, x: torch.Tensor) -> torch.device:
    """The device of the model's parameters; of a model without any, that of the images."""
    parameters = model.parameters() if isinstance(model, nn.Module) else ()
    return next((p.device for p in parameters), x.device)


def evaluate(model: Callable[[torch.Tensor], Any], images: torch.Tensor) -> Any:
    """What the model returns for a copy of the images, which it may modify, in the type of its weights.

    Every forward pass of the instruments is made here. The copy costs 1% of the time of a small network.
    """
    if isinstance(model, (Careful, Adapted)):       # both call `evaluate` themselves
        return model(images.clone())
    types, refusal = types_of(model), None
    if len(types) < 2:
        return model(images.to(*types, copy=True))
    for kind in (torch.float32, *types):            # as given, else in the type of one of the layers
        try:
            return model(images.to(kind, copy=True))
        except RuntimeError as error:
            if "type" not in str(error):
                raise
            refusal = error
    raise WrongType(f"the model's weights are of several types ({', '.join(map(str, types))}), and it takes "
                    "images of none; inference.adapt(model, dtype=...) says which it takes") from refusal


def types_of(model: Callable[[torch.Tensor], Any]) -> list[torch.dtype]:
    """The floating types of a model's weights, without repetition; float32 if it has none."""
    modules = model.modules() if isinstance(model, nn.Module) else ()     # twice as fast as `parameters`
    types = dict.fromkeys(p.dtype for m in modules for p in m._parameters.values() if p is not None)
    return [kind for kind in types if kind.is_floating_point] or [torch.float32]


def precision(model: Model) -> float:
    """The relative rounding error of a model: that of the least precise type of its weights."""
    types = types_of(model)
    if isinstance(model, Adapted):
        types = [model.dtype] if model.dtype else types_of(model.model)
    return max(torch.finfo(kind).eps for kind in types)


def memory_format(model: Model) -> torch.memory_format:
    """The memory format of images for a model: channels last if that is the format of its filters.

    Convolutions are 1.4 to 2 times as fast in it, but a model that calls `view` fails.
    """
    model = model.model if isinstance(model, AttackedModel) else model
    filters = [p for p in model.parameters() if p.ndim == 4] if isinstance(model, nn.Module) else []
    last = any(p.is_contiguous(memory_format=torch.channels_last) and not p.is_contiguous() for p in filters)
    return torch.channels_last if last else torch.contiguous_format


def pixels(images: torch.Tensor, order: torch.memory_format = torch.channels_last) -> torch.Tensor:
    """Images [N, C, H, W], uint8 or float in [0, 1], as float32 in [0, 1], in this memory format.

    Raises UserError for another type or shape.
    """
    if images.ndim != 4 or not (images.dtype == torch.uint8 or images.is_floating_point()):
        raise UserError("expected images [N, C, H, W], uint8 or float in [0, 1]; "
                        f"got {images.dtype} {list(images.shape)}")
    scaled = images.to(torch.float32, memory_format=order)
    return scaled / 255 if images.dtype == torch.uint8 else scaled


def chunk_for(model: Model, images: torch.Tensor, copies: int = 1) -> int:
    """How many images to evaluate at once, `copies` of each."""
    return runtime.chunk_size(max(1, images[:1].numel()) * 4 * MAPS * copies, device_of(model, images))


def scores_of(returned: object, count: int) -> torch.Tensor:
    """The output of a model for `count` images as float32 [count, K]; one logit as [count, 1].

    Raises WrongShape for anything else.
    """
    given = returned
    if isinstance(returned, torch.Tensor) and returned.shape == (count,):
        returned = returned[:, None]
    if not (isinstance(returned, torch.Tensor) and returned.ndim == 2 and len(returned) == count
            and returned.shape[1] and returned.is_floating_point()):
        tensor = isinstance(given, torch.Tensor)
        what = f"{given.dtype} {list(given.shape)}" if tensor else type(given).__name__
        remedy = "" if tensor else "; inference.adapt(model, output=...) takes them out"
        raise WrongShape(f"the model returns {what} for {count} images; logits [{count}, classes] are "
                         f"needed, or one logit an image, [{count}, 1] or [{count}]{remedy}")
    return returned.float()


def finite(scores: torch.Tensor) -> torch.Tensor:
    """The logits. Raises NotFinite if one is nan or infinite: argmax of nan would be a class."""
    if not scores.isfinite().all():
        raise NotFinite("the model returns nan or infinite logits; check its weights and its normalisation")
    return scores


def logits(model: Model, images: torch.Tensor, *, chunk: int | None = None,
           bf16: bool = False) -> torch.Tensor:
    """Logits float32 [N, K] of images, uint8 or float in [0, 1], on their device; one logit as [N, 1].

    The model stays on its device and in its mode; there are no gradients. `chunk` images are evaluated at
    once, default by memory; `bf16` computes in bfloat16 where that is faster. Raises UserError for images
    of another type or shape, WrongShape and NotFinite.
    """
    check_tensors(images=images)
    device, order = device_of(model, images), memory_format(model)

    def forward(part):
        with runtime.bf16(device, bf16):
            scores = scores_of(evaluate(model, pixels(part.to(device), order)), len(part))
            return finite(scores).to(images.device)

    with torch.no_grad(), frozen(model):
        return runtime.chunked(forward, images, chunk=chunk or chunk_for(model, images))


def with_zero(scores: torch.Tensor) -> torch.Tensor:
    """Logits [N, K] of two classes or more; one logit z [N, 1] becomes the equivalent [0, z]."""
    return scores if scores.shape[1] > 1 else torch.cat([torch.zeros_like(scores), scores], 1)


def differentiable(model: Model, images: torch.Tensor) -> torch.Tensor:
    """`scores_of` images with gradients. Raises NoGradient if images require one and logits have none."""
    scores = scores_of(evaluate(model, images), len(images))
    if images.requires_grad and not scores.requires_grad:
        raise NoGradient("the logits have no gradient with respect to the images; take out what cuts it "
                         "(no_grad, detach, numpy), or use an attack without gradients: RandomSearch")
    return scores


class AttackedModel:
    """A model as attacks call it, `classifier(images)`: logits [n, K], K at least 2, with gradients."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        return with_zero(differentiable(self.model, images))


def perhaps_probabilities(scores: torch.Tensor) -> tuple[str, bool] | None:
    """`(reason, certain)` if outputs [N, K] may be those of a softmax or a sigmoid, else None."""
    if not scores.numel() or scores.min() < 0:
        return None
    low, high, sums = float(scores.min()), float(scores.max()), scores.double().sum(1)
    total, move = float(sums.mean()), float((scores - scores.mean(0)).abs().max())
    off, many = float((sums - total).abs().max()), scores.numel() >= NOTICED
    several = many and move > 0.01 * high       # the images differ
    if scores.shape[1] > 1 and total and off < SUM_ROUNDED * total:
        text, far = f"rows are positive and sum to {total:.3g}", min(abs(total / of - 1) for of in WHOLE)
        exact = far < 1e-4 and off < 1e-4 * total
        stays = several and move > max(10 * off, 0.1 * total)       # a constant sum of varying outputs
        if exact or stays or far < SUM_ROUNDED:
            return text, exact or stays or many
    ends = ((scores - 0.5).abs() > 0.4) & (scores > 0)      # 0 itself rather comes from a ReLU
    if several and high <= 1 and high - low > 0.8 and ends.double().mean() > 0.5:
        return f"outputs lie in [{low:.3g}, {high:.3g}]", True
    return ("no output is negative", False) if several else None


def refuse_probabilities(scores: torch.Tensor, warn: bool = False) -> None:
    """Raises Probabilities if outputs [N, K] are certainly no logits; may `warn` if they perhaps are none."""
    text, certain = perhaps_probabilities(scores) or ("", False)
    if certain:
        raise Probabilities(f"the model returns probabilities, or a multiple of them ({text}); logits are "
                            "needed: leave its softmax or sigmoid out, or take the logarithm (torch.log; of "
                            "sigmoids torch.logit)")
    if text and warn:
        warnings.warn(f"{text}, as after a softmax or a sigmoid: leave that out; if they are logits, "
                      "subtracting a constant from them avoids this warning",
                      PerhapsProbabilities, stacklevel=4)


def checked_logits(model: Model, x: torch.Tensor, *classes: torch.Tensor | None,
                   chunk: int | None = None) -> torch.Tensor:
    """`logits` of float32 images x [N, C, H, W], after checks of the model and of labels and targets [N].

    Raises a ModelError where a check fails, and warns where logits may be probabilities.

    A few images are evaluated twice, the second time in halves: logits must change neither between equal
    calls nor with the batch. With `chunk` these are `chunk` images, and the second batch repeats their first
    half, since a model may accept batches of one size only. Of a `Careful` the model inside is checked: in
    bfloat16, logits do change with the batch.
    """
    scores = logits(model, x, chunk=chunk)
    refuse_probabilities(scores, warn=True)
    scores = with_zero(scores)
    for name, labels in zip(("labels", "targets"), classes):
        check_classes(labels, scores.shape[1], name)
    if len(x):
        exact, few = model.net if isinstance(model, Careful) else model, x[:chunk or STEADY]
        half = few[:max(1, len(few) // 2)]
        first = logits(exact, few, chunk=len(few))
        if chunk:
            second = logits(exact, half.repeat(3, 1, 1, 1)[:len(few)], chunk=len(few))[:len(half)]
        else:
            second = logits(exact, few, chunk=len(half))
        near = max(1e-3, 8 * precision(exact))
        if not torch.allclose(first[:len(second)], second, rtol=near, atol=near * float(first.abs().max())):
            raise Unsteady("the model gives different logits for equal images (in a second call or in "
                           "other batches); call eval() on the network (dropout, batch normalisation), "
                           "inside a function too, and switch off what is drawn at random")
    return scores


def check_classes(labels: torch.Tensor | None, count: int, name: str = "labels") -> None:
    """Raises LabelOutOfRange if labels [N] are not among the `count` classes of a model; None passes."""
    if labels is None or not len(labels) or 0 <= labels.min() <= labels.max() < count:
        return
    first = "; labels that start at 1 are y - 1 here" if labels.min() > 0 and labels.max() == count else ""
    raise LabelOutOfRange(f"{name} lie in {int(labels.min())}..{int(labels.max())}, but the model has "
                          f"{count} classes: 0..{count - 1} is allowed{first}")


@contextlib.contextmanager
def gradients_enabled() -> Iterator[None]:
    """Context that enables gradients. Raises NoGradient inside `torch.inference_mode`."""
    if torch.is_inference_mode_enabled():
        raise NoGradient("inside torch.inference_mode nothing has a gradient; call the attack outside of it "
                         "(torch.no_grad may stay)")
    with torch.enable_grad():
        yield


def gradient(function: Callable[[torch.Tensor], torch.Tensor],
             x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`function(x)` [n] and its gradient at images x; parameters receive none."""
    with gradients_enabled():
        x = x.detach().requires_grad_()
        values = function(x)
        slope, = torch.autograd.grad(values.sum(), x)
    return values.detach(), slope


def unusable(slopes: torch.Tensor) -> torch.Tensor:
    """Which gradients [N, ...] are 0 or not finite, bool [N]."""
    largest = slopes.flatten(1).abs().amax(1)
    return ~((largest > 0) & largest.isfinite())


WARNINGS = {
    NoUsableGradient: "the gradient of {} of {} images that it did not move was 0 or not finite, which shows "
                      "no robustness; scale logits down, take out what has no finite slope (rounding, sqrt "
                      "at 0), or use RandomSearch",
    NoExample: "the search ended without an example for {} of {} images, although any distance was allowed, "
               "which shows no robustness; take more or larger steps, more searches, or another attack"}


def warn_of(kind: type[UserWarning], name: str, images: torch.Tensor) -> None:
    """Warns by one of `WARNINGS`, with the name of an instrument; bool [N]: the images that it concerns."""
    if images.any():
        text = WARNINGS[kind].format(int(images.sum()), len(images))
        warnings.warn(f"{name}: {text}", kind, stacklevel=3)


def finite_gradients(slopes: torch.Tensor) -> torch.Tensor:
    """Gradients [N, ...] with finite values: 0 for nan, an image's largest finite value for inf."""
    size = slopes.abs()
    largest = size.masked_fill(~size.isfinite(), 0).flatten(1).amax(1).view(-1, *[1] * (slopes.ndim - 1))
    largest = torch.where(largest > 0, largest, 1)
    return torch.where(slopes.isinf(), slopes.sign() * largest, slopes.nan_to_num(0.0))


# ---- labels and margins ----------------------------------------------------------------------------------
def classes(scores: torch.Tensor) -> torch.Tensor:
    """Predicted classes, int64 [N], of logits [N, K]; of one logit, class 1 above 0."""
    return scores.argmax(1) if scores.shape[1] > 1 else (scores[:, 0] > 0).long()


def labels(model: Model, images: torch.Tensor, *, true: torch.Tensor | None = None,
           chunk: int | None = None) -> torch.Tensor:
    """Predicted classes, int64 [N], of images [N, C, H, W], uint8 or float in [0, 1], on their device.

    The model may also return classes, int64 [N], itself, as instruments that need labels alone allow. Raises
    LabelOutOfRange if `true` labels are given and are no classes of the model.
    """
    check_tensors(images=images, labels=true)
    device, order = device_of(model, images), memory_format(model)
    if not len(images):
        return torch.zeros(0, dtype=torch.int64, device=images.device)

    def forward(part):
        returned = evaluate(model, pixels(part.to(device), order))
        if isinstance(returned, torch.Tensor) and returned.dtype == torch.int64 \
                and returned.shape == (len(part),):
            return returned.to(images.device)
        scores = finite(scores_of(returned, len(part)))
        if scores.shape[1] == 1:        # of several, the largest is the class in either case
            refuse_probabilities(scores)
        check_classes(true, max(2, scores.shape[1]))
        return classes(scores).to(images.device)

    with torch.no_grad(), frozen(model):
        return runtime.chunked(forward, images, chunk=chunk or chunk_for(model, images))


_labels = labels     # for functions with an argument of that name


def classifier(model: Model, *, chunk: int | None = None) -> Callable[[torch.Tensor], torch.Tensor]:
    """`labels` of this model as a function of images alone."""
    return partial(labels, model, chunk=chunk)


def accuracy(model: Model, images: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of images [N, C, H, W] whose predicted class is their label, int64 [N]; in [0, 1]."""
    check_tensors(images=images, labels=labels)
    if labels.shape != images.shape[:1] or labels.is_floating_point():
        raise UserError(f"labels are {labels.dtype} {list(labels.shape)}; whole numbers [{len(images)}] are "
                        "needed, one per image")
    images = images if images.dtype == torch.uint8 else check_images(images)
    correct = _labels(model, images, true=labels) == labels.to(images.device)
    return float(correct.to("cpu", torch.float64).mean())


def label_margins(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Margin [N] of logits [N, K] with labels [N]: the label's logit minus the largest other one.

    It is above 0 where the label is the predicted class. One logit z: z for label 1, -z for label 0.
    """
    if scores.shape[1] == 1:
        return scores[:, 0] * (2 * labels - 1)
    at_label = torch.zeros_like(scores, dtype=torch.bool).scatter_(1, labels[:, None], True)
    return scores[at_label] - scores.masked_fill(at_label, -torch.inf).amax(1)


def margins(model: Model, images: torch.Tensor, labels: torch.Tensor, *, bf16: bool = False,
            chunk: int | None = None) -> torch.Tensor:
    """The label's logit minus the largest other one, [N], of images [N, C, H, W]; `bf16` as in `logits`.

    On the device of the images; see `label_margins`.
    """
    check_tensors(labels=labels)
    scores = logits(model, images, chunk=chunk, bf16=bf16)
    refuse_probabilities(scores)
    check_classes(labels, max(2, scores.shape[1]))
    return label_margins(scores, labels.to(images.device))


# ---- labels in bfloat16 ----------------------------------------------------------------------------------
class Decision(NamedTuple):
    """Which of N images are not classified as their label, and the cost of deciding it."""
    flips: torch.Tensor   # bool [N], on the CPU
    rejudged: int         # images classified again in float32 after bfloat16
    overturned: int       # of these, labels that differ in float32


class Careful(nn.Module):
    """A model evaluated in bfloat16, and again in float32 where rounding could change the label.

    doubt   margin up to which the label in bfloat16 is not trusted (`measured`); None: float32 only
    chunk   images at once, default by memory

    Of the logits `careful(images)` only the argmax is meaningful. On processors with bfloat16 a convolutional
    network is about 2.5 times as fast. `judged` counts images, `again` those evaluated twice.
    """

    def __init__(self, model: Model, doubt: float | None = None, chunk: int | None = None) -> None:
        super().__init__()
        self.net, self.doubt, self.chunk = model, doubt, chunk
        self.training = getattr(model, "training", False)
        self.judged = self.again = 0

    @classmethod
    def measured(cls, model: Model, images: torch.Tensor, labels: torch.Tensor | None = None, *,
                 factor: float = 2.0, chunk: int | None = None) -> "Careful":
        """A `Careful` whose doubt is `factor` times the largest change of a margin by bfloat16.

        images  float32 [N, C, H, W], at least one, similar to those to be classified
        labels  int64 [N], whose margins are compared; None: those of the predicted class over each other one
        """
        rough, exact = (logits(model, images, chunk=chunk, bf16=bf16) for bf16 in (True, False))
        refuse_probabilities(exact)
        if labels is None:
            predicted = exact.argmax(1, keepdim=True)
            moved = [scores.gather(1, predicted) - scores for scores in map(with_zero, (rough, exact))]
        else:
            moved = [label_margins(scores, labels.to(images.device)) for scores in (rough, exact)]
        return cls(model, factor * float((moved[0] - moved[1]).abs().max()), chunk)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits float32 [n, K], K at least 2, of float32 images [n, C, H, W] on the model's device."""
        with runtime.bf16(images.device, self.doubt is not None):
            scores = with_zero(scores_of(evaluate(self.net, images), len(images)))
        self.judged += len(images)
        if self.doubt is not None:
            first, second = scores.topk(2).values.unbind(1)
            unsure = (first - second <= self.doubt).nonzero()[:, 0]
            if len(unsure):
                scores[unsure] = with_zero(scores_of(evaluate(self.net, images[unsure]), len(unsure)))
            self.again += len(unsure)
        return scores

    def margins(self, images: torch.Tensor, labels: torch.Tensor, *, bf16: bool = False) -> torch.Tensor:
        """Margins of labels [N], float32 [N] on the CPU, of images [N, C, H, W], evaluated once."""
        return margins(self.net, images, labels, bf16=bf16, chunk=self.chunk).cpu()

    def flips(self, images: torch.Tensor, labels: torch.Tensor) -> Decision:
        """The `Decision` of float32 images [N, C, H, W] with labels int64 [N]."""
        margin = self.margins(images, labels, bf16=self.doubt is not None)
        flips, doubt = margin <= 0, -1 if self.doubt is None else self.doubt
        unsure = (margin.abs() <= doubt).nonzero()[:, 0]
        if not len(unsure):
            return Decision(flips, 0, 0)
        again = self.margins(images[unsure.to(images.device)], labels[unsure.to(labels.device)]) <= 0
        overturned = int((again != flips[unsure]).sum())
        flips[unsure] = again
        return Decision(flips, len(unsure), overturned)


class Normalise(nn.Module):
    """Subtracts a mean per channel and divides by a standard deviation per channel."""

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self, mean: float | Sequence[float], deviation: float | Sequence[float]) -> None:
        super().__init__()
        for name, values in (("mean", mean), ("deviation", deviation)):
            values = torch.as_tensor(values, dtype=torch.float32).view(-1, 1, 1)
            self.register_buffer(name, values, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        channels = max(len(self.mean), len(self.deviation))
        if channels not in (1, x.shape[1]):
            raise UserError(f"images have {x.shape[1]} channels, mean and std are of {channels}; one number "
                            "a channel is needed, images [N, C, H, W]")
        return (x - self.mean) / self.deviation


# ---- models of another form ------------------------------------------------------------------------------
def adapt(model: Callable[[torch.Tensor], Any], output: str | int = "logits", *,
          dtype: torch.dtype | None = None, mean: float | Sequence[float] | None = None,
          std: float | Sequence[float] | None = None) -> "Adapted":
    """Wraps a model of another form as this module requires: `adapt(net, mean=(0.5,), std=(0.5,))`.

    output     where the logits are in the model's output: name of an attribute, key of a dict or index of an
               item; unused if the output is a tensor
    dtype      type of the images that the model accepts; None: that of its weights
    mean, std  per channel, of the normalisation that the model expects
    Raises UserError for other arguments.
    """
    if not callable(model):
        raise UserError(f"the model is a {type(model).__name__}, which cannot be called; pass a network")
    if not (dtype is None or isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise UserError(f"dtype={dtype!r}: a type such as torch.float64, or None, is needed")
    try:
        scale = Normalise(0.0 if mean is None else mean, 1.0 if std is None else std)
    except (TypeError, ValueError, RuntimeError):
        scale = None
    if scale is None or not (scale.deviation > 0).all():
        raise UserError(f"mean={mean!r}, std={std!r}: one number a channel is needed, std above 0")
    return Adapted(model, output, dtype, scale)


class Adapted(nn.Module):
    """The model that `adapt` returns."""

    def __init__(self, model: Callable[[torch.Tensor], Any], output: str | int, dtype: torch.dtype | None,
                 scale: Normalise) -> None:
        super().__init__()
        self.model, self.output, self.dtype, self.scale = model, output, dtype, scale
        self.training = getattr(model, "training", False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits of float32 images [n, C, H, W] in [0, 1]."""
        scaled = self.scale.to(images.device)(images)
        returned = self.model(scaled.to(self.dtype)) if self.dtype else evaluate(self.model, scaled)
        if isinstance(returned, torch.Tensor):
            return returned
        if isinstance(self.output, str) and hasattr(returned, self.output):
            return getattr(returned, self.output)
        try:
            return returned[self.output]
        except (KeyError, IndexError, TypeError):
            size = len(returned) if hasattr(returned, "__len__") else "no items"
            held = ", ".join(map(str, returned)) if isinstance(returned, dict) else size
            raise WrongShape(f"the model returns a {type(returned).__name__} of {held}, without "
                             f"{self.output!r}; adapt(model, output=...) takes the name or number of its "
                             "logits") from None
