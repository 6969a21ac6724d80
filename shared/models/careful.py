"""The answers of a classifier, from 16-bit numbers where these are sure and from 32-bit ones elsewhere."""
import torch
from torch import nn


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
    with torch.autocast(images.device.type, torch.bfloat16):
        return net(images).float()
