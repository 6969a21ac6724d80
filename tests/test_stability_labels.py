"""Many classes and large images: equal to a loop, whatever blocks and chunks; weights that are missing."""
import pytest
import torch
from torch import nn
from torchvision import models

from papers.sutton import experiments
from papers.sutton import models as sutton
from report import inputs
from shared import runtime
from shared.attacks.line import scalings
from shared.inference import Careful, margins

SHAPE = (3, 4, 4)


@pytest.fixture
def problem():
    """A small network for five classes, images, and their predicted labels; two of these changed."""
    torch.manual_seed(3)
    network = nn.Sequential(nn.Flatten(), nn.Linear(48, 40), nn.Tanh(), nn.Linear(40, 5)).eval()
    images = torch.randn(9, *SHAPE, generator=runtime.generator(4))
    with torch.no_grad():
        labels = network(images).argmax(1)
    labels[::5] = (labels[::5] + 1) % 5
    return network, images, labels


def test_first_draws_equal_the_literal_loop(problem):
    network, images, labels = problem
    images, labels = images[1:5], labels[1:5]
    sizes = torch.linspace(0.2, 0.6, len(images))
    first, cost = experiments.first_draws(Careful(network).flips, images, labels, sizes, deltas=(1, 5),
                                          draws=95, seed=2)
    points = torch.cat([experiments.perturbations(block, SHAPE, 2) for block in range(3)])[:95]
    for row, delta in zip(first, (1, 5)):
        for n, image, label, size in zip(row, images, labels, sizes):
            with torch.no_grad():
                flips = [int(network((image + delta * size * p)[None]).argmax()) != label for p in points]
            assert n == (flips.index(True) if any(flips) else 95)
    assert 0 < (first < 95).sum() < first.numel()
    assert cost["passes"] < 2 * 4 * 95  # an image that flipped is tried no further
    fewer, _ = experiments.first_draws(Careful(network).flips, images, labels, sizes, deltas=(1, 5), draws=50,
                                       seed=2)
    assert torch.equal(fewer, first.clamp(max=50))


def test_a_careful_model_decides_as_float32_whatever_the_chunk(problem, bf16):
    network, images, labels = problem
    careful = Careful.measured(network, images, labels, chunk=7)
    noisy = (images + 0.3 * torch.randn(200, 1, *SHAPE, generator=runtime.generator(5))).flatten(0, 1)
    labels = labels.repeat(200)
    decision = careful.flips(noisy, labels)
    assert torch.equal(decision.flips, margins(network, noisy, labels) <= 0)
    assert 0 < decision.rejudged < len(noisy)
    assert torch.equal(Careful(network, careful.doubt, chunk=100).flips(noisy, labels).flips, decision.flips)


def test_images_of_a_wrong_label_are_not_attacked(problem):
    network, images, labels = problem
    before = images.clone()
    result = experiments.examine(network, images, labels, draws=30, seed=1)
    assert result["correct"] == [i % 5 != 0 for i in range(9)] and result["dimension"] == 48
    assert all(len(result[norm]) == 7 for norm in ("l1", "l2", "linf", "margin_l2"))
    attacked = result["l2"] > 0
    assert attacked.any() and result["first"].shape == (4, attacked.sum())
    assert torch.isin(result["l2"], scalings()).all() and (result["linf"] <= result["l2"]).all()
    assert (result["first"] < 30).any() and result["first"].max() <= 30
    assert result["audit"]["wrong"] == 0 and result["saturated"] == 0
    assert torch.equal(images, before)


def test_weights_that_cannot_be_had_are_named(monkeypatch, home):
    def unreachable(self, **options):
        raise OSError("no route to host")

    monkeypatch.setattr(models.ResNet50_Weights, "get_state_dict", unreachable)
    with pytest.raises(runtime.UserError, match="resnet50 cannot be had .no route.*resnet50-.*squeezenet"):
        sutton.pretrained("resnet50")


def test_published_weights_are_loaded_and_entered(monkeypatch):
    weights = models.get_model("resnet50", weights=None).state_dict()
    monkeypatch.setattr(models.ResNet50_Weights, "get_state_dict", lambda self, **options: weights)
    with inputs.collected() as entries:
        network = sutton.pretrained("resnet50")
    assert list(entries["inputs"]) == ["weights/resnet50"] and not network.training
    with torch.no_grad():
        assert network(torch.rand(1, 3, 64, 64)).shape == (1, 1000)
