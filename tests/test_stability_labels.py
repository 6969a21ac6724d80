"""Many classes, large images: equal to a loop, blind to blocks and batches, clear about missing weights."""
import pytest
import torch
from torch import nn

from papers.sutton import experiments
from papers.sutton import models as sutton
from shared import runtime
from shared.attacks.line import scalings
from shared.inference import Careful, margins

SHAPE = (3, 4, 4)


@pytest.fixture
def problem():
    """A small net for five classes, images, and its own answers as labels; two of them changed."""
    torch.manual_seed(3)
    net = nn.Sequential(nn.Flatten(), nn.Linear(48, 40), nn.Tanh(), nn.Linear(40, 5)).eval()
    images = torch.randn(9, *SHAPE, generator=runtime.generator(4))
    with torch.no_grad():
        answers = net(images).argmax(1)
    answers[::5] = (answers[::5] + 1) % 5
    return net, images, answers


def test_first_draws_equal_the_literal_loop(problem):
    net, images, answers = problem
    images, answers = images[1:5], answers[1:5]
    sizes = torch.linspace(0.2, 0.6, len(images))
    first, cost = experiments.first_draws(Careful(net).flips, images, answers, sizes, deltas=(1, 5), draws=95,
                                     seed=2)
    some = torch.cat([experiments.perturbations(block, SHAPE, 2) for block in range(3)])[:95]
    for row, delta in zip(first, (1, 5)):
        for found, image, answer, size in zip(row, images, answers, sizes):
            with torch.no_grad():
                flips = [int(net((image + delta * size * s)[None]).argmax()) != answer for s in some]
            assert found == (flips.index(True) if any(flips) else 95)
    assert 0 < (first < 95).sum() < first.numel()
    assert cost["passes"] < 2 * 4 * 95  # an image that turned is tried no further
    fewer, _ = experiments.first_draws(Careful(net).flips, images, answers, sizes, deltas=(1, 5), draws=50,
                                       seed=2)
    assert torch.equal(fewer, first.clamp(max=50))


def test_a_careful_model_decides_as_float32_whatever_the_chunk(problem, bf16):
    net, images, answers = problem
    noisy = images + 0.3 * torch.randn(200, 1, *SHAPE, generator=runtime.generator(5))
    noisy, answers = noisy.flatten(0, 1), answers.repeat(200)
    careful = Careful.measured(net, images, answers[:9], chunk=7)
    found = careful.flips(noisy, answers)
    assert torch.equal(found.flips, margins(net, noisy, answers) <= 0)
    assert 0 < found.rejudged < len(noisy)
    assert torch.equal(Careful(net, careful.doubt, chunk=100).flips(noisy, answers).flips, found.flips)


def test_examine_tells_of_the_known_images_only(problem):
    net, images, answers = problem
    before = images.clone()
    told = experiments.examine(net, images, answers, draws=30, seed=1)
    assert told["correct"] == [i % 5 != 0 for i in range(9)] and told["dimension"] == 48
    assert all(len(told[norm]) == 7 for norm in ("l1", "l2", "linf", "margin_l2"))
    attacked = told["l2"] > 0
    assert attacked.any() and told["first"].shape == (4, attacked.sum())
    assert torch.isin(told["l2"], scalings()).all() and (told["linf"] <= told["l2"]).all()
    assert (told["first"] < 30).any() and told["first"].max() <= 30
    assert told["audit"]["wrong"] == 0 and told["saturated"] == 0
    assert torch.equal(images, before)


def test_weights_that_cannot_be_had_are_named(monkeypatch, tmp_path):
    from torchvision import models

    def unreachable(self, **options):
        raise OSError("no route to host")

    monkeypatch.setenv("BOUNDARY_CACHE", str(tmp_path))
    monkeypatch.setattr(models.ResNet50_Weights, "get_state_dict", unreachable)
    with pytest.raises(runtime.UserError, match="resnet50 cannot be had .no route.*resnet50-.*squeezenet"):
        sutton.pretrained("resnet50")


def test_published_weights_are_loaded_and_entered(monkeypatch):
    from torchvision import models

    torch.manual_seed(0)
    weights = models.get_model("resnet50", weights=None).state_dict()
    monkeypatch.setattr(models.ResNet50_Weights, "get_state_dict", lambda self, **options: weights)
    with runtime.ledger() as book:
        net = sutton.pretrained("resnet50")
    assert list(book["net"]) == ["resnet50"] and not net.training
    with torch.no_grad():
        assert net(torch.rand(1, 3, 64, 64)).shape == (1, 1000)
