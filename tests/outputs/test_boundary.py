"""Surveys of the decision boundary."""
import torch

from shared.attacks.directions import directions
from shared.boundary import Survey, purity, survey
from tests.outputs.examples import seeded, smooth_network, some_images


def ten_directions():
    """Orthogonal or opposite to each other, in the space of `some_images`."""
    return directions(24, 5, negatives=True, generator=seeded("boundary", "q 20"))


def parts(result):
    """A survey, and what follows from it."""
    return [result, result.reached, result.linf, result.nearest, result.censored]


def test_survey(stored):
    model, x, dirs = smooth_network(dropout=True), some_images(8), ten_directions()
    values = {f"{step} {top}": parts(survey(model, x, dirs, step=step, top=top))
              for step, top in ((0.05, 0.3), (0.07, 1), (0.04, 0.1))}
    stored({**values, "no images": parts(survey(model, x[:0], dirs, step=0.1, top=0.5)),
            "chunks": survey(model, x, dirs, step=0.05, top=0.3, chunk=7)})


def test_survey_of_one_logit(stored):
    model, x, dirs = smooth_network("one logit", outputs=1).eval(), some_images(8), ten_directions()
    values = {}
    for name, function in (("module", model), ("function", lambda z: model(z)[:, 0])):
        coarse = survey(function, x, dirs, step=0.2, top=1)
        values[name] = [coarse, purity(coarse)]
    stored(values)

def every_kind():
    """Boundaries of several classes, of one, of none, at distances that are in no order."""
    adjacent = torch.tensor([[1, 2, 1, 0, 4, -1], [3, 3, 3, 3, 3, 3], [-1, -1, -1, -1, -1, -1],
                             [0, 1, 2, 3, 4, 4]])
    distance = torch.where(adjacent < 0, 1.0, 0.4 + 0.05 * (torch.arange(6) * 3 % 7))
    return Survey(distance, adjacent, torch.zeros(4).long(), torch.ones(6), step=0.05, evaluations=1)


def test_purity(stored):
    result = every_kind()
    stored({"purity": [purity(result, top) for top in (1, 2, 9)] + [purity(result)]})
