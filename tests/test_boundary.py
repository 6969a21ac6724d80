"""boundary: the survey on models solved by hand, purity."""
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from papers.he.line_searches import random_points
from shared import runtime
from shared.attacks.directions import directions
from shared.boundary import BEYOND, NEVER, purity, survey
from shared.inference import STEADY, Careful
from shared.runtime import UserError

SIDE, D = 6, 36


class Planes(nn.Module):
    """Logits 0 and w_j.(x - 1/2) - b_j: class 0 in the middle, another behind each plane."""

    def __init__(self, w, b):
        super().__init__()
        self.w, self.b = nn.Parameter(w), nn.Parameter(b)

    def forward(self, x):
        self.count = getattr(self, "count", 0) + len(x)
        scores = (x.flatten(1) - 0.5) @ self.w.T - self.b
        return torch.cat([scores.new_zeros(len(x), 1), scores], 1)


def seeded(*labels):
    return runtime.generator(0, *labels)


@pytest.fixture
def scene():
    """Two planes at different distances from five images near the middle grey, and orthogonal directions."""
    w = torch.randn(2, D, generator=seeded("w"))
    model = Planes(w, torch.tensor([0.8, 1.2]))
    x = 0.5 + 0.05 * (2 * torch.rand(5, 1, SIDE, SIDE, generator=seeded("x")) - 1)
    return model, x, directions(D, 20, negatives=True, generator=seeded("directions"))


STEP, TOP = 0.01, 0.13     # so near that no pixel is clipped


@pytest.fixture
def crossings(scene):
    """First step across, whether it is one of those tried, and the exact distance; all [N, K]."""
    model, x, dirs = scene
    gap = model.b - (x.flatten(1) - 0.5) @ model.w.T
    speed = dirs @ model.w.T
    exact = torch.where(speed > 0, gap[:, None] / speed, torch.inf).amin(2).detach()
    number = torch.ceil(exact / STEP)
    within = number <= round(TOP / STEP)
    assert 0.05 + TOP * dirs.abs().max() < 0.5 and 0 < within.sum() < within.numel()
    assert ((number * STEP - exact).abs()[within] > 1e-6).all()
    return number, within, exact


def test_the_survey_finds_the_exact_crossing_on_the_grid(scene, crossings):
    model, x, dirs = scene
    number, within, _ = crossings
    result = survey(model, x, dirs, step=STEP, top=TOP)
    assert result.reached.equal(within) and (result.reference == 0).all()
    torch.testing.assert_close(result.distance[within], number[within] * STEP)
    assert (result.distance[~within] == BEYOND).all() and (result.adjacent[~within] == NEVER).all()
    torch.testing.assert_close(result.linf[within], (result.distance * dirs.abs().amax(1))[within])
    assert (result.linf[~within] == BEYOND).all()


def test_the_adjacent_class_is_the_one_met_on_the_grid(scene):
    model, x, dirs = scene
    result = survey(model, x, dirs, step=STEP, top=TOP)
    moves = STEP * torch.arange(1, 14).view(-1, 1, 1, 1) * dirs.view(-1, 1, 1, SIDE, SIDE)
    for i, image in enumerate(x):
        for k, points in enumerate(image + moves):
            labels = model(points.clamp(0, 1)).argmax(1).tolist()
            assert result.adjacent[i, k] == next((label for label in labels if label != 0), NEVER)
    assert set(result.adjacent.unique().tolist()) == {NEVER, 1, 2}


def test_points_are_clipped_and_the_class_at_the_image_is_the_reference():
    # class 0 where the mean is above 0.62; upwards a white image stays as it is
    def model(images):
        assert (images >= 0).all() and (images <= 1).all()
        mean = images.flatten(1).mean(1)
        return torch.stack([mean, torch.full_like(mean, 0.62)], 1) * 10

    up = torch.ones(1, D)
    x = torch.stack([torch.full((1, SIDE, SIDE), v) for v in (1.0, 0.55)])
    result = survey(model, x, torch.cat([up, -up]), step=0.1, top=0.9)
    assert result.reference.tolist() == [0, 1]
    assert result.adjacent.tolist() == [[NEVER, 1], [0, NEVER]]
    torch.testing.assert_close(result.distance, torch.tensor([[BEYOND, 0.4], [0.1, BEYOND]]))


def test_evaluations_are_what_is_needed_and_one_an_image_more(scene, crossings):
    model, x, dirs = scene
    number, within, _ = crossings
    model.count = 0
    result = survey(model, x, dirs, step=STEP, top=TOP)
    assert result.evaluations == len(x) + int(torch.where(within, number, round(TOP / STEP)).sum())
    # Some images are evaluated twice more, to see whether the model is steady.
    assert model.count == result.evaluations + 2 * min(STEADY, len(x))


def test_a_survey_in_bfloat16_finds_what_float32_finds(scene, bf16):
    model, x, dirs = scene
    careful = Careful.measured(model, random_points(x, dirs, 200, top=0.9, generator=seeded("points")))
    exact, quick, rough = (survey(m, x, dirs, step=0.01, top=0.9)
                           for m in (model, careful, Careful(model, -1.0)))
    assert quick.distance.equal(exact.distance) and quick.adjacent.equal(exact.adjacent)
    assert not rough.distance.equal(exact.distance)     # so that the doubt is what makes them equal
    assert 0 < careful.again < careful.judged / 2 and careful.judged == quick.evaluations


# ---- purity ----------------------------------------------------------------------------------------------
def result_of(distance, adjacent):
    """As a survey gives it."""
    return SimpleNamespace(distance=distance, adjacent=adjacent, reached=adjacent != NEVER)


def test_purity_counts_the_commonest_of_the_adjacent_classes():
    adjacent = torch.tensor([[3, 3, 5, 3, NEVER], [NEVER] * 5, [1, 2, 5, 5, 2]])
    result = result_of(adjacent.float(), adjacent)
    expected = torch.tensor([[0.75, 1.0, 1.0], [0, 0, 0], [0.4, 0.8, 1.0]])
    torch.testing.assert_close(purity(result, 3), expected)
    assert purity(result).shape == (3, 5) and purity(result, 9).shape == (3, 9)


# ---- what is refused -------------------------------------------------------------------------------------
@pytest.mark.parametrize("change, message", [
    (dict(dirs=torch.eye(D)), "RMS 1"), (dict(dirs=torch.ones(2, D)), "orthogonal"),
    (dict(dirs=torch.full((1, D), torch.nan)), "RMS 1"), (dict(dirs=torch.ones(0, D)), r"\[0, 36\]"),
    (dict(dirs=torch.ones(1, D - 1)), r"float32 \[K, 36\]"),
    (dict(dirs=torch.ones(1, D, dtype=torch.float64)), "directions are torch.float64"),
    (dict(step=0.0), "step=0.0"), (dict(step=0.5, top=0.3), "step=0.5, top=0.3"), (dict(top=1.5), "top=1.5"),
    (dict(model=lambda x: torch.ones(len(x), 2) / (len(x) == 5)), "nan or infinite"),  # fine on the images
])
def test_what_cannot_be_surveyed_is_named_in_one_line(change, message, scene):
    model, x, dirs = scene
    arguments = dict(model=model, x=x, dirs=dirs, step=STEP, top=TOP) | change
    with pytest.raises(UserError, match=message) as error:
        survey(**arguments)
    assert "\n" not in str(error.value)
