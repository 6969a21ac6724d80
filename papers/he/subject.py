"""A network, and the data set it is trained and tested on, as the plan of an experiment names it."""
import dataclasses
from dataclasses import dataclass

import torch

from papers.he import models as he
from report import zoo
from report.pretrained import pretrained_squeezenet
from shared import runtime
from shared.data import sets
from shared.training.recipe import Recipe


@dataclass(frozen=True)
class Subject:
    """A network, and the data set it is trained and tested on.

    recipe  how it is trained; None for SqueezeNet with the weights that it is published with (on embedded
            images a small network trained on these)
    hook    the attack on which it is trained (`attacks.gradient.Adversarial`), or None
    """
    dataset: str
    architecture: str
    recipe: Recipe | None
    hook: object = None

    def trained(self, seed):
        """The `zoo.Trained` network of that seed, on the run's device."""
        return zoo.net(self.architecture, self.recipe, sets.load(self.dataset), seed, device=runtime.device(),
                       hook=self.hook)

    def model(self, seed):
        """The network of that seed, in eval mode, on the run's device."""
        if self.recipe is None and sets.load(self.dataset).source in ("embedded", "stand-in"):
            small = dataclasses.replace(self, architecture="he-tiny", recipe=he.TINY)   # learns in seconds
            return small.trained(seed).net
        if self.recipe is None:
            return pretrained_squeezenet().to(runtime.device(), memory_format=torch.channels_last)
        return self.trained(seed).net

    def images(self, first, count):
        """`count` test images from number `first` on, float32 [count, C, H, W] in [0, 1], and their labels.

        In a small embedded set, counting goes on at its beginning where the set ends.
        """
        data = sets.load(self.dataset)
        rows = (first + torch.arange(count)) % len(data.x_test)
        x, y = data.x_test[rows].float() / 255, data.y_test[rows]
        return x.to(runtime.device()), y.to(runtime.device())
