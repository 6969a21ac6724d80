"""The networks of sutton: Table 2's parameters, shapes, places of dropout, learning rates."""
import pytest
import torch
from torch import nn

from papers.sutton.models import PAPER, TrainingScale
from report import reference, registry
from shared import runtime
from shared.training.fit import rate

# Trained parameters of Table 2's layers, in its order.
PUBLISHED = [row["trained_parameters"] for row in reference.paper("sutton")["table-2"].rows
             if row["trained_parameters"]]


def build(name, seed=2):
    return registry.build(f"sutton-vgg{name}", generator=runtime.generator(seed))


def kinds(network):
    return [type(layer).__name__ for layer in network]


def parameters(network):
    """Numbers of parameters of the layers that have any."""
    return [count for layer in network if (count := sum(p.numel() for p in layer.parameters()))]


def test_parameters_are_those_of_table_2_and_the_short_network_lacks_its_last_convolutions():
    assert parameters(build("")) == PUBLISHED
    assert parameters(build("-short"))[:4] == PUBLISHED[:4]
    assert parameters(build("-short"))[5:] == PUBLISHED[7:]


@pytest.mark.parametrize("name, size", [("", 32), ("-short", 28)])
def test_one_logit_whatever_the_batch(name, size):
    network = build(name).eval()
    images = torch.rand(5, 3, size, size, generator=runtime.generator(1))
    with torch.no_grad():
        together, alone = network(images), torch.cat([network(image) for image in images.split(1)])
    assert together.shape == (5, 1)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)


def test_images_of_cifar_end_as_one_value_a_channel_and_those_of_fashion_mnist_are_too_small():
    network = build("")
    before_the_last_pool = network[:kinds(network).index("AdaptiveMaxPool2d")]
    assert before_the_last_pool(torch.zeros(1, 3, 32, 32)).shape == (1, 256, 1, 1)
    with pytest.raises(RuntimeError, match="Kernel size"):
        network(torch.zeros(1, 3, 28, 28))


def test_rate_is_halved_every_twenty_epochs():
    rates = [rate(PAPER, epoch + 0.5) for epoch in range(PAPER.epochs)]
    assert [rates.index(value) for value in sorted(set(rates), reverse=True)] == [0, 20, 40, 60, 80]
    assert rates[0] == 0.1 and rates[99] == 0.1 / 16


def test_dropout_follows_each_pool():
    layers = kinds(build(""))
    pools = [i for i, kind in enumerate(layers) if kind.endswith("MaxPool2d")]
    assert len(pools) == layers.count("Dropout") == 3
    assert all(layers[i + 1] == "Dropout" for i in pools)


def test_readings_differ_from_the_network_only_in_what_their_names_say():
    networks = {name: build(f"-short{name}")
                for name in ("", "-padded", "-decayed", "-within", "-standard", "-together", "-alike")}
    plain, within = kinds(networks[""]), kinds(networks["-within"])
    assert [kind for kind in plain if kind != "Dropout"] == [kind for kind in within if kind != "Dropout"]
    assert [i for i, kind in enumerate(within) if kind == "Dropout"] == [2, 8]
    assert within[:7] == ["Conv2d", "ReLU", "Dropout", "Conv2d", "ReLU", "MaxPool2d", "Conv2d"]
    assert {name: kinds(network) for name, network in networks.items()} == {
        "": plain, "-padded": plain, "-decayed": plain, "-within": within,
        "-standard": ["TrainingScale", *plain], **dict.fromkeys(("-together", "-alike"),
                                                                ["TrainingScale", *within])}
    for name, network in networks.items():
        side = int(name in ("-padded", "-together", "-alike"))
        assert {m.padding for m in network if isinstance(m, nn.Conv2d)} == {(side, side)}
        assert parameters(network) == parameters(networks[""])


@pytest.mark.parametrize("plain, decayed", [("", "-decayed"), ("-together", "-alike")])
def test_decay_adds_the_penalty_s_gradient_and_nothing_to_an_attack_s(plain, decayed):
    images = torch.rand(3, 3, 28, 28, generator=runtime.generator(1)).requires_grad_()
    gradients, weights = [], []
    for name in (plain, decayed):
        network = build(f"-short{name}").eval()
        gradients.append(torch.autograd.grad(network(images).sum(), images)[0])
        network(images).sum().backward()
        weights.append([*network.parameters()])
    assert torch.equal(*gradients)
    for free, penalised in zip(*weights):
        expected = 1e-3 * free.detach() if free.ndim > 1 else torch.zeros_like(free)
        torch.testing.assert_close(penalised.grad - free.grad, expected, atol=1e-6, rtol=1e-3)


def test_pixels_are_standardised_over_all_values_of_the_training_images():
    layer = TrainingScale()
    images = torch.randint(0, 256, (50, 3, 8, 8), dtype=torch.uint8, generator=runtime.generator(3))
    for training in (images, images / 255):
        layer.adapt(training)
        values = layer(images / 255)
        assert values.mean().item() == pytest.approx(0, abs=1e-5)
        assert values.std(correction=0).item() == pytest.approx(1, abs=1e-5)
    layer.adapt(torch.full((2, 3, 4, 4), 0.5))
    assert layer(torch.full((2, 3, 4, 4), 0.75)).unique().tolist() == [0.25]


def test_batch_normalisation_follows_every_rectifier_and_changes_nothing_else():
    momenta = {"-short-bn": 0.1, "-short-bn-slow": 0.01, "-short-public": 0.01, "-bn": 0.1}
    for name, momentum in momenta.items():
        layers = list(build(name))
        norms = [i for i, kind in enumerate(kinds(layers)) if kind.startswith("BatchNorm")]
        assert [i - 1 for i in norms] == [i for i, kind in enumerate(kinds(layers)) if kind == "ReLU"]
        assert {(layers[i].eps, round(layers[i].momentum, 9)) for i in norms} == {(1e-3, momentum)}
    plain = build("-short")
    without = nn.Sequential(*(layer for layer in build("-short-bn")
                              if not isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d))))
    assert repr(without) == repr(plain)
    assert all(map(torch.equal, without.parameters(), plain.parameters()))
    assert kinds(build("-short-public"))[:9] == [
        "TrainingScale", "Conv2d", "ReLU", "BatchNorm2d", "Dropout", "Conv2d", "ReLU", "BatchNorm2d",
        "MaxPool2d"]
