"""models/he.py: sizes, TensorFlow's padding and shortcuts, the weights of SqueezeNet."""
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

from papers.he import models as he
from report import inputs, pretrained, registry
from shared import runtime
from shared.data.archives import fingerprint


def build(name, seed=0):
    return registry.build(name, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name, size, parameters", [
    ("he-mnist", (1, 28, 28), 3_274_634), ("he-w32-10", (3, 32, 32), 45_901_914),
    ("he-resnet", (3, 32, 32), 1_525_722)])
def test_the_networks_have_the_sizes_of_the_originals(name, size, parameters):
    network = build(name).eval()
    assert sum(p.numel() for p in network.parameters()) == parameters
    logits = network(torch.rand(2, *size, generator=torch.Generator().manual_seed(1)))
    assert logits.shape == (2, 10) and logits.isfinite().all() and logits[0].ne(logits[1]).all()


def test_the_mnist_network_starts_from_a_cut_normal_distribution():
    network = build("he-mnist")
    weights = torch.cat([p.flatten() for p in network.parameters() if p.ndim > 1])
    # a normal distribution cut at two deviations keeps 0.88 of its deviation
    assert weights.abs().max() <= 0.2 and abs(weights.std() - 0.088) < 0.0005
    assert all((p == 0.1).all() for p in network.parameters() if p.ndim == 1)


def test_the_wide_resnet_starts_as_the_original():
    network = build("he-w32-10")
    convolutions = [m for m in network.modules() if isinstance(m, nn.Conv2d)]
    assert len(convolutions) == 31 and all(c.bias is None for c in convolutions)
    for conv in convolutions[1:]:
        assert abs(conv.weight.std() / (2 / (9 * conv.out_channels))**0.5 - 1) < 0.02
    assert network[-1].weight.abs().max() <= (3 / 640)**0.5 and (network[-1].bias == 0).all()
    norms = [m for m in network.modules() if isinstance(m, nn.BatchNorm2d)]
    assert len(norms) == 31 and all((n.eps, n.momentum) == (1e-3, 0.1) for n in norms)


def test_a_stride_of_two_has_the_windows_of_tensorflow():
    conv = he._conv(1, 1, stride=2)
    nn.init.ones_(conv[1].weight)
    image = torch.arange(16.0).view(1, 1, 4, 4)
    # windows begin at rows and columns 0 and 2; what lies beyond the fourth is zero
    expected = [[image[0, 0, r:r + 3, c:c + 3].sum().item() for c in (0, 2)] for r in (0, 2)]
    assert conv(image)[0, 0].tolist() == expected


@pytest.mark.parametrize("first", [True, False])
def test_a_unit_adds_its_shortcut_as_the_original(first):
    unit = he.Unit(4, 10, 2, activate_first=first).eval()
    nn.init.zeros_(unit.conv2.weight)                                  # only the shortcut is left
    x = torch.randn(2, 4, 8, 8, generator=torch.Generator().manual_seed(0))
    shortcut, output = F.leaky_relu(x / (1 + 1e-3)**0.5, 0.1) if first else x, unit(x)
    torch.testing.assert_close(output[:, 3:7], F.avg_pool2d(shortcut, 2))
    assert (output[:, :3] == 0).all() and (output[:, 7:] == 0).all()


def test_only_the_very_first_unit_shortcuts_behind_its_activation():
    units = [m for m in build("he-w32-10") if isinstance(m, he.Unit)]
    assert [u.activate_first for u in units] == [True] + [False] * 14
    assert [u.stride for u in units] == [1] * 5 + [2] + [1] * 4 + [2] + [1] * 4


def test_standardising_is_per_image_and_has_a_gradient_everywhere():
    x = torch.rand(3, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    x[2] = 0.5
    x.requires_grad_()
    z = he.Standardise()(x)
    assert z.mean((1, 2, 3)).abs().max() < 1e-4
    assert (z[:2].std((1, 2, 3), correction=0) - 1).abs().max() < 1e-4
    z[0, 0, 0, 0].backward()
    # one value up, all others down a little
    assert x.grad[0, 0, 0, 0] > 0 and x.grad[0].sum().abs() < 1e-3 and x.grad.isfinite().all()
    # a nearly flat image is not blown up: the deviation is at least 1/sqrt(3072) on 0..255
    flat = torch.full((1, 3, 32, 32), 0.5)
    flat[0, 0, 0, 0] += 1e-6
    assert he.Standardise()(flat).abs().max() < 0.03


# ---- SqueezeNet ------------------------------------------------------------------------------------------
@pytest.fixture
def squeezenet(home, monkeypatch):
    """Random weights whose fingerprint is the one wanted, and their file's place in the data folder."""
    network = build("he-squeezenet")
    weights = {key: value.half() for key, value in network[1].state_dict().items()}
    monkeypatch.setattr(pretrained, "SQUEEZENET_WEIGHTS", fingerprint(weights))
    monkeypatch.setattr(pretrained, "_from_torchvision", lambda: network[1].state_dict())
    (home / "data").mkdir()
    return weights, home / "data" / pretrained.SQUEEZENET


@pytest.mark.parametrize("source", ["file", "download"])
def test_squeezenet_is_the_same_from_file_and_download(source, squeezenet):
    weights, path = squeezenet
    if source == "file":
        save_file(weights, path)
    with inputs.collected() as book:
        network = pretrained.pretrained_squeezenet()
    assert book == {"inputs": {"weights/squeezenet1_1": {"weights": pretrained.SQUEEZENET_WEIGHTS}}}
    assert not network.training
    assert all(value.equal(weights[key].float()) for key, value in network[1].state_dict().items())


def test_squeezenet_normalises_inside(squeezenet):
    network = pretrained.pretrained_squeezenet()
    x = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    mean, deviation = (torch.tensor(v).view(3, 1, 1) for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    torch.testing.assert_close(network(x), network[1]((x - mean) / deviation))


def test_other_or_damaged_weights_are_named(squeezenet):
    weights, path = squeezenet
    save_file({**weights, "classifier.1.bias": weights["classifier.1.bias"] + 1}, path)
    with pytest.raises(runtime.UserError, match="fingerprint"):
        pretrained.pretrained_squeezenet()
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(runtime.UserError, match="squeezenet1_1_imagenet.safetensors cannot be read"):
        pretrained.pretrained_squeezenet()
