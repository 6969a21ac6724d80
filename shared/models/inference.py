"""What a network answers: logits and classes of many images, in float32, whatever the batch."""
from contextlib import contextmanager

import torch
from torch import nn

from shared import runtime

VERSION = 1
# 1  as first recorded


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


# ---- 16-bit where that is sure ---------------------------------------------------------------------------
class Careful(nn.Module):
    """A classifier under bfloat16 autocast that decides its narrow cases again in float32.

    net     takes float32 images [N, C, H, W], returns logits [N, classes] of two classes or more
    doubt   where the largest logit leads by no more, the image is decided again; `measured` finds it

    Only the largest logit of the result is meant to be read: its class is the float32 net's as long as
    bfloat16 moves no difference of two logits by more than `doubt`. On CPUs with bfloat16 arithmetic a net
    of convolutions runs about 2.5 times as fast so; `judged` and `again` count images and those decided
    twice.
    """

    def __init__(self, net, doubt):
        super().__init__()
        self.net, self.doubt = net, doubt
        self.judged = self.again = 0

    @classmethod
    def measured(cls, net, images, *, factor=2.0):
        """With `factor` times the largest difference that bfloat16 makes to the lead of any of the images.

        images  float32 [N, C, H, W] such as those to be classified, at least one
        """
        with torch.no_grad():
            exact = net(images)
            own = exact.argmax(1, keepdim=True)
            leads = [scores.gather(1, own) - scores for scores in (_rough(net, images), exact)]
        return cls(net, factor * float((leads[0] - leads[1]).abs().max()))

    def forward(self, images):
        scores = _rough(self.net, images)
        first, second = scores.topk(2).values.unbind(1)
        unsure = (first - second <= self.doubt).nonzero()[:, 0]
        if len(unsure):
            scores[unsure] = self.net(images[unsure]).to(scores)
        self.judged += len(images)
        self.again += len(unsure)
        return scores


def _rough(net, images):
    with runtime.bf16(images.device):
        return net(images).float()
