"""The training loop of all networks: a recipe, an optional hook on each batch, a checkpoint an epoch."""
import copy
import json
import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from .. import inference, runtime
from ..data.content import fingerprint
from ..inference import Generator, evaluate, pixels
from .checkpoint import Checkpoint
from .recipe import Recipe


def fit(net: nn.Module, x: torch.Tensor, y: torch.Tensor, recipe: Recipe, *, generator: Generator,
        device: torch.device,
        hook: Callable[[nn.Module, torch.Tensor, torch.Tensor, torch.Generator], torch.Tensor] | None = None,
        after_epoch: Callable[[int, nn.Module], bool] | None = None, label: str = "training",
        checkpoint: Checkpoint | None = None) -> nn.Module:
    """Train `net` in place and return it, on `device` and in evaluation mode.

    x          training images [N, C, H, W], uint8 or float in [0, 1]
    y          their labels, int64 [N]
    recipe     a `Recipe`
    generator  CPU generator, or an int as its seed, of all random numbers: the order of images, augmentation,
               the hook, dropout. The same seed gives the same weights on one machine with the same number of
               threads; elsewhere two trainings start with differences by rounding, which grow. The global
               generators are not changed.
    hook       `hook(net, images, labels, generator) -> images`, float32 [B, C, H, W] in [0, 1] both: replaces
               an (augmented) batch, as in training with noise or on adversarial examples. The net is in
               training mode before and after it; with bf16 it is called under autocast.
    after_epoch  `after_epoch(epochs, net) -> bool`, called after each epoch with their number so far: whether
               training ends. The net is in training mode before and after it. With a checkpoint, a training
               that it ended goes on when called again.
    label      of the progress bar
    checkpoint  a `Checkpoint` that stores the state after every epoch, from which a killed training continues
               with the same result; None: none is stored

    A method `adapt(x)` of a module of the net, such as one that subtracts the mean image, is called first,
    with the training images; a method `settle(x)`, such as that of a net whose batch normalisation uses
    statistics of all images, is called last, with augmented images. Raises UserError for images or labels of
    another form, and if net, labels and loss do not fit together; the net is then unchanged.
    """
    generator = runtime.seeded(generator, "training")
    x = _checked(net, x, y, recipe)
    if recipe.images is not None:
        rows = share(y, recipe.images)
        x, y = x[rows], y[rows]
    x, y = x.to(device), y.to(device)
    order = _laid_out(net, x, device)
    net.train()
    for module in net.modules():
        if hasattr(module, "adapt"):
            module.adapt(x)     # pyright: ignore[reportCallIssue]: torch declares unknown attributes as tensors
    optimiser = _optimiser(net, recipe)
    progress = _Progress(checkpoint or Checkpoint(None), net, optimiser, generator, x, y, recipe)
    gradients = _Gradients(net, recipe, device)
    per_epoch = -(-len(x) // recipe.batch) if recipe.partial else max(1, len(x) // recipe.batch)

    done = progress.load()
    with (torch.random.fork_rng(devices=[device] if device.type == "cuda" else []),
          runtime.progress(recipe.epochs * per_epoch, label) as bar):
        bar.update(done * per_epoch)
        for epoch in range(done, recipe.epochs):
            rows = torch.randperm(len(x), generator=generator)[:per_epoch * recipe.batch].to(device)
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))  # of dropout
            for step, batch in enumerate(rows.split(recipe.batch)):
                for group in optimiser.param_groups:
                    group["lr"] = rate(recipe, epoch + (step + 0.5) / per_epoch)
                images, labels = pixels(augmented(x[batch], recipe, generator), order), y[batch]
                if hook is not None:
                    with runtime.bf16(device, recipe.bf16):
                        images = hook(net, images, labels, generator).detach()
                gradients(images, labels)
                optimiser.step()
                bar.update()
            ends = after_epoch is not None and after_epoch(epoch + 1, net)
            progress.save(epoch + 1)
            if ends:
                break
    for module in net.modules():
        if hasattr(module, "settle"):
            module.settle(augmented(x, recipe, generator))      # pyright: ignore[reportCallIssue]: as above
    return net.eval()


def _checked(net, x, y, recipe):
    """The images, `clipped`. Raises UserError as `fit` documents."""
    inference.check_tensors(images=x, labels=y)
    if not len(x):
        raise runtime.UserError("no images: training needs one at least")
    if y.dtype != torch.int64 or y.shape != x.shape[:1]:
        raise runtime.UserError(f"labels are {y.dtype} {list(y.shape)}; int64 [{len(x)}] is needed, one per "
                                "image")
    x = inference.clipped(x) if x.is_floating_point() else x
    scores = _trial(net, pixels(x[:2], torch.contiguous_format))
    if scores.shape[1] == 1 and recipe.loss == "cross-entropy":
        raise runtime.UserError("the net has one logit an image, whose cross-entropy is 0; take the loss "
                                "'squared', or a net with a logit for each class")
    loss(scores, torch.zeros_like(y[:2], device=scores.device), recipe)
    _check_one_image(net, x, recipe)
    inference.check_classes(y, max(2, scores.shape[1]))
    return x


def _trial(net, images):
    """Logits of some images, in evaluation mode; net and random generators are unchanged."""
    images = images.to(inference.device_of(net, images))
    devices = [images.device] if images.device.type == "cuda" else []
    with torch.no_grad(), inference.frozen(net), torch.random.fork_rng(devices=devices):
        return inference.scores_of(evaluate(net, images), len(images))


def _check_one_image(net, x, recipe):
    """Raises UserError if a batch has one image, of which batch normalisation has no statistics."""
    count = min(recipe.images or len(x), len(x))
    left = count % recipe.batch if recipe.partial or count < recipe.batch else 0
    if 1 not in (recipe.batch, left) or not any(isinstance(m, _BatchNorm) for m in net.modules()):
        return
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            copy.deepcopy(net).cpu().train()(pixels(x[:1].cpu()))
    except ValueError as error:     # not raised if an image has several values a channel
        raise runtime.UserError(f"a batch of one image ({count} images, batch={recipe.batch}): batch "
                                "normalisation needs two; take another batch, or partial=False") from error


def _laid_out(net, x, device):
    """Moves the net to the device; returns the memory format for it and its images.

    Channels last is faster, but fails for a net that calls `view` on the output of convolutions.
    """
    net.to(device, memory_format=torch.channels_last)
    try:
        _trial(net, pixels(x[:2]))
    except RuntimeError as error:
        if "view" not in str(error):
            raise
        net.to(memory_format=torch.contiguous_format)
        return torch.contiguous_format
    return torch.channels_last


class _Gradients:
    """Forward and backward pass of a batch, which set the gradients of the net's parameters.

    On CUDA the passes are recorded once for each batch size and replayed as a graph: with small batches the
    GPU would otherwise wait for the CPU to launch each of their many small kernels.
    """

    def __init__(self, net, recipe, device):
        self.net, self.recipe, self.device = net, recipe, device
        self.recorded = {}      # batch size -> (graph, its images, its labels, its gradients)

    def __call__(self, images, labels):
        if self.device.type != "cuda":
            self._passes(images, labels)
            return
        if len(images) not in self.recorded:
            self.recorded[len(images)] = self._record(images.clone(), labels.clone())
        graph, own_images, own_labels, gradients = self.recorded[len(images)]
        own_images.copy_(images)
        own_labels.copy_(labels)
        graph.replay()
        for parameter, gradient in zip(self.net.parameters(), gradients):
            parameter.grad = gradient

    def _passes(self, images, labels):
        self.net.zero_grad()
        with runtime.bf16(self.device, self.recipe.bf16):
            scores = evaluate(self.net, images)
        loss(scores.float(), labels, self.recipe).backward()

    def _record(self, images, labels):
        # Kernels are selected in passes before the recording, whose changes are undone.
        before = [(buffer, buffer.clone()) for buffer in self.net.buffers()]
        draws = torch.cuda.get_rng_state(self.device)
        aside = torch.cuda.Stream(self.device)
        aside.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(aside):
            for _ in range(3):
                self._passes(images, labels)
        torch.cuda.current_stream(self.device).wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        self.net.zero_grad()
        with torch.cuda.graph(graph):
            self._passes(images, labels)
        for buffer, value in before:
            buffer.copy_(value)
        torch.cuda.set_rng_state(draws, self.device)
        return graph, images, labels, [p.grad for p in self.net.parameters()]


def share(y: torch.Tensor, count: int | None) -> torch.Tensor:
    """Indices int64 [count] into y [N]: the first images of each class, in proportion; nothing is random.

    (GTSRB's training images are ordered by class: the first thousand have three classes only.)
    """
    if count is not None:
        runtime.at_most(count, len(y))
    labels, place = y.cpu(), torch.empty(len(y), dtype=torch.float64)
    for label in labels.unique():
        own = (labels == label).nonzero()[:, 0]
        place[own] = (torch.arange(len(own), dtype=torch.float64) + 0.5) / len(own)
    return place.argsort(stable=True)[:count].sort().values.to(y.device)


def rate(recipe: Recipe, epoch: float) -> float:
    """Learning rate after `epoch` epochs, which may be a fraction."""
    if recipe.schedule == "constant":
        return recipe.rate
    if recipe.schedule == "steps":
        return recipe.rate * recipe.factor ** sum(epoch > milestone for milestone in recipe.milestones)
    part = epoch / recipe.epochs  # cosines from rate / 25 up to the rate, and down to rate / 25e4
    low, up = (recipe.rate / 25, part / 0.2) if part < 0.2 else (recipe.rate / 25e4, (1 - part) / 0.8)
    return low + (recipe.rate - low) * (1 - math.cos(math.pi * up)) / 2


def augmented(images: torch.Tensor, recipe: Recipe, generator: torch.Generator) -> torch.Tensor:
    """Images [B, C, H, W] of any type, shifted and mirrored at random as the recipe specifies."""
    count, channels, height, width = images.shape
    if recipe.shift:
        n = recipe.shift
        down, right = torch.randint(2 * n + 1, (2, count), generator=generator).to(images.device)
        rows = down[:, None] + torch.arange(height, device=images.device)
        columns = right[:, None] + torch.arange(width, device=images.device)
        item = torch.arange(count, device=images.device)[:, None, None, None]
        channel = torch.arange(channels, device=images.device)[:, None, None]
        images = F.pad(images, (n, n, n, n))[item, channel, rows[:, None, :, None], columns[:, None, None, :]]
    if recipe.flip:
        mirrored = (torch.rand(count, generator=generator, dtype=torch.float32) < 0.5).to(images.device)
        images = torch.where(mirrored[:, None, None, None], images.flip(3), images)
    return images


def loss(scores: torch.Tensor, labels: torch.Tensor, recipe: Recipe) -> torch.Tensor:
    """The recipe's loss of logits [B, classes], or [B, 1] for the squared one, with labels [B]."""
    if recipe.loss == "cross-entropy":
        return F.cross_entropy(scores, labels, reduction=recipe.reduction)
    if scores.shape != (len(labels), 1):
        raise runtime.UserError(f"loss 'squared' needs a net with one logit an image, this one has shape "
                                f"{list(scores.shape)}; take such a net, or the loss 'cross-entropy'")
    return F.mse_loss(scores[:, 0].sigmoid(), labels.float(), reduction=recipe.reduction)


def _optimiser(net, recipe):
    decayed = [p for p in net.parameters() if p.ndim > 1]
    others = [p for p in net.parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": recipe.weight_decay}, {"params": others}]
    if recipe.optimiser == "adam":
        return torch.optim.Adam(groups, lr=recipe.rate)
    return torch.optim.SGD(groups, lr=recipe.rate, momentum=recipe.momentum,
                           nesterov=recipe.nesterov and recipe.momentum > 0)


class _Progress:
    """Weights, optimiser and generator after an epoch, stored in a checkpoint."""

    def __init__(self, checkpoint, net, optimiser, generator, x, y, recipe):
        self.kept, self.net, self.optimiser, self.generator = checkpoint, net, optimiser, generator
        # A state is valid only for the training that stored it.
        start = {**net.state_dict(), "x": x, "y": y, "generator": generator.get_state()}
        self.training = f"{fingerprint(start)} {json.dumps(recipe.settings())}"

    def save(self, epoch):
        self.kept.save({**{f"net/{k}": v for k, v in self.net.state_dict().items()},
                        **{f"optimiser/{k}/{n}": v for k, n, v in self._optimiser_state()},
                        "generator": self.generator.get_state()}, {"epoch": epoch, "training": self.training})

    def load(self):
        """Restores the stored state; returns the number of completed epochs."""
        state = self.kept.load()
        if state is None or state[1]["training"] != self.training:
            return 0
        tensors, facts = state
        self.net.load_state_dict({k[4:]: v for k, v in tensors.items() if k.startswith("net/")})
        parameters = self._parameters()
        for key, value in tensors.items():
            if key.startswith("optimiser/"):
                _, k, name = key.split("/")
                p = parameters[int(k)]
                self.optimiser.state[p][name] = torch.empty_like(p).copy_(value) if value.ndim else value
        self.generator.set_state(tensors["generator"])
        return facts["epoch"]

    def _parameters(self):
        return [p for group in self.optimiser.param_groups for p in group["params"]]

    def _optimiser_state(self):
        for k, parameter in enumerate(self._parameters()):
            for name, value in self.optimiser.state[parameter].items():
                if value is not None:
                    yield k, name, value
