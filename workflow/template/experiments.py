"""The experiments of `doe`: the nearest mean image as a classifier of coarse and of full images."""
import torch
from torch.nn import functional

from papers.scales import scales
from report.experiment import Experiment
from shared.data import sets

SCALE = scales(dataset="mnist", images=[100, 1_000, 10_000], squares={"A": 7, "B": 1})


def accuracy(dataset, square, images):
    """Test images that are nearest to the mean image of their class.

    square  pixels a side of the squares whose means are compared
    """
    data = sets.load(dataset)
    x, x_test = (functional.avg_pool2d(part.float(), square).flatten(1)
                 for part in (data.x_train, data.x_test[:images]))
    means = torch.stack([x[data.y_train == label].mean(0) for label in range(len(data.classes))])
    correct = torch.cdist(x_test, means).argmin(1) == data.y_test[:images]
    return {"images": len(correct), "correct": int(correct.sum())}


def plan(scale):
    """A run a classifier."""
    return {classifier: {"dataset": scale.dataset, "square": square, "images": scale.images}
            for classifier, square in scale.squares.items()}


accuracies = Experiment("doe/accuracies", accuracy, plan, scale=SCALE, sizes=("images",),
                        names="{classifier}")
