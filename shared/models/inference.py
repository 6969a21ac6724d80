"""What a network answers: logits and classes of many images, in float32, whatever the batch."""
from contextlib import contextmanager

import torch

from shared import runtime


def pixels(images):
    """float32 images [N, C, H, W] in [0, 1] of uint8 or float ones, in the memory order that is fastest.

    Raises UserError for another type or shape.
    """
    if images.ndim != 4 or not (images.dtype == torch.uint8 or images.is_floating_point()):
        raise runtime.UserError("expected images [N, C, H, W], uint8 or float in [0, 1]; "
                                f"got {images.dtype} {list(images.shape)}")
    scaled = images.to(torch.float32, memory_format=torch.channels_last)
    return scaled / 255 if images.dtype == torch.uint8 else scaled


@contextmanager
def evaluating(net):
    """Inside the block `net` is in evaluation mode; afterwards each module is in the mode it was in."""
    training = [module for module in net.modules() if module.training]
    net.eval()
    try:
        yield net
    finally:
        for module in training:
            module.training = True


def logits(net, images, *, chunk=None):
    """Logits [N, classes] of images [N, C, H, W], uint8 or float in [0, 1]: float32, on the CPU.

    The net stays on its device and in its mode. `chunk` images go through it at once; None picks a size.
    Raises UserError for images of another type or shape.
    """
    some = next(net.parameters(), torch.empty(0))
    # Work memory of a net on a 28x28 image is some tens of feature maps as large as the image.
    chunk = chunk or runtime.chunk_size(max(1, images[:1].numel()) * 4 * 64, some.device)

    def forward(x):
        return net(pixels(x.to(some.device))).float().cpu()

    with torch.no_grad(), evaluating(net):
        return runtime.chunked(forward, images, chunk=chunk)


def classes(scores):
    """Predicted classes, int64 [N], of logits [N, classes]; a single logit says class 1 above 0."""
    return scores.argmax(1) if scores.shape[1] > 1 else (scores[:, 0] > 0).long()


def classifier(net, *, chunk=None):
    """A function from images [N, C, H, W], as `logits` takes them, to predicted classes, int64 [N]."""

    def classify(images):
        return classes(logits(net, images, chunk=chunk))

    return classify


def accuracy(net, images, labels):
    """Share of images [N, C, H, W] whose predicted class is their label, int64 [N]; in [0, 1]."""
    return float((classifier(net)(images) == labels.cpu()).float().mean())
