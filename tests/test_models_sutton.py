"""The nets of sutton: Table 2's parameters, shapes, where dropout stands, and the rate."""
import pytest
import torch

from papers.sutton.models import PAPER, TrainingScale
from report import reference, registry
from shared import runtime
from shared.training.fit import rate


def printed():
    """Trained parameters of Table 2's layers, in its order."""
    return [row["trained_parameters"] for row in reference.paper("sutton")["table-2"].rows
            if row["trained_parameters"]]


def counted(net):
    """Parameters of a net's layers that have any."""
    layers = (sum(p.numel() for p in layer.parameters()) for layer in net)
    return [count for count in layers if count]


def test_parameters_are_those_of_table_2():
    assert counted(registry.build("sutton-vgg")) == printed()


def test_short_net_is_table_2_without_its_last_convolutions():
    whole, short = printed(), counted(registry.build("sutton-vgg-short"))
    assert short[:4] == whole[:4] and short[-1] == whole[-1] and len(short) == len(whole) - 2


@pytest.mark.parametrize("name, size", [("sutton-vgg", 32), ("sutton-vgg-short", 28)])
def test_one_logit_whatever_the_batch(name, size):
    net = registry.build(name, generator=runtime.generator(0, name)).eval()
    images = torch.rand(5, 3, size, size, generator=runtime.generator(1))
    with torch.no_grad():
        together, alone = net(images), torch.cat([net(image) for image in images.split(1)])
    assert together.shape == (5, 1)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)


def test_images_of_cifar_end_as_one_value_a_channel_and_those_of_fashion_mnist_are_too_small():
    whole = registry.build("sutton-vgg")
    before_the_last_pool = whole[:[type(layer).__name__ for layer in whole].index("AdaptiveMaxPool2d")]
    assert before_the_last_pool(torch.zeros(1, 3, 32, 32)).shape == (1, 256, 1, 1)
    with pytest.raises(RuntimeError, match="Kernel size"):
        whole(torch.zeros(1, 3, 28, 28))


def test_rate_is_halved_every_twenty_epochs():
    rates = [rate(PAPER, epoch + 0.5) for epoch in range(PAPER.epochs)]
    assert [rates.index(value) for value in sorted(set(rates), reverse=True)] == [0, 20, 40, 60, 80]
    assert rates[0] == 0.1 and rates[99] == 0.1 / 16


def test_dropout_follows_each_pool():
    kinds = [type(layer).__name__ for layer in registry.build("sutton-vgg")]
    pools = [i for i, kind in enumerate(kinds) if kind.endswith("MaxPool2d")]
    assert len(pools) == kinds.count("Dropout") == 3
    assert all(kinds[i + 1] == "Dropout" for i in pools)


def test_readings_differ_from_the_net_in_what_they_say_alone():
    nets = {name: registry.build(f"sutton-vgg-short{name}")
            for name in ("", "-padded", "-within", "-standard", "-together", "-decayed", "-alike")}
    kinds = {name: [type(layer).__name__ for layer in net] for name, net in nets.items()}
    padding = {name: {m.padding for m in net.modules() if hasattr(m, "padding") and hasattr(m, "weight")}
               for name, net in nets.items()}
    plain, within = kinds[""], kinds["-within"]
    assert kinds["-padded"] == plain
    assert {name: sides for name, (sides,) in padding.items()} == {
        "": (0, 0), "-padded": (1, 1), "-within": (0, 0), "-standard": (0, 0), "-together": (1, 1),
        "-decayed": (0, 0), "-alike": (1, 1)}
    assert [k for k in plain if k != "Dropout"] == [k for k in within if k != "Dropout"]
    assert [i for i, k in enumerate(within) if k == "Dropout"] == [2, 8]
    assert within[:7] == ["Conv2d", "ReLU", "Dropout", "Conv2d", "ReLU", "MaxPool2d", "Conv2d"]
    assert kinds["-standard"] == ["TrainingScale", *plain]
    assert kinds["-alike"] == kinds["-together"] == ["TrainingScale", *within] and kinds["-decayed"] == plain
    assert all(counted(net) == counted(nets[""]) for net in nets.values())


@pytest.mark.parametrize("plain, decayed", [("", "-decayed"), ("-together", "-alike")])
def test_decay_adds_the_penalty_s_gradient_and_nothing_to_an_attack_s(plain, decayed):
    slopes, images = {}, torch.rand(3, 3, 28, 28, generator=runtime.generator(1)).requires_grad_()
    for name in (plain, decayed):
        net = registry.build(f"sutton-vgg-short{name}", generator=runtime.generator(2)).eval()
        towards, = torch.autograd.grad(net(images).sum(), images)
        net(images).sum().backward()
        slopes[name] = towards, net, [p.grad for p in net.parameters()]
    (towards, net, free), (other, _, held) = slopes.values()
    assert torch.equal(towards, other)
    for weight, a, b in zip(net.parameters(), free, held):
        expected = 1e-3 * weight.detach() if weight.ndim > 1 else torch.zeros_like(weight)
        torch.testing.assert_close(b - a, expected, atol=1e-6, rtol=1e-3)


def test_pixels_are_standardised_over_all_values_of_the_training_images():
    layer = TrainingScale()
    images = torch.randint(0, 256, (50, 3, 8, 8), dtype=torch.uint8, generator=runtime.generator(3))
    for given in (images, images / 255):
        layer.adapt(given)
        values = layer(images / 255)
        assert values.mean().item() == pytest.approx(0, abs=1e-5)
        assert values.std(correction=0).item() == pytest.approx(1, abs=1e-5)
    layer.adapt(torch.full((2, 3, 4, 4), 0.5))
    assert layer(torch.full((2, 3, 4, 4), 0.75)).unique().tolist() == [0.25]


def test_batch_normalisation_follows_every_rectifier_and_changes_nothing_else():
    plain = registry.build("sutton-vgg-short", generator=runtime.generator(2))
    nets = {name: registry.build(f"sutton-vgg-{name}", generator=runtime.generator(2))
            for name in ("short-bn", "short-bn-slow", "short-public", "bn")}
    for name, momentum in (("short-bn", 0.1), ("short-bn-slow", 0.01), ("short-public", 0.01), ("bn", 0.1)):
        layers = list(nets[name])
        added = [i for i, layer in enumerate(layers) if "BatchNorm" in type(layer).__name__]
        assert all(isinstance(layers[i - 1], torch.nn.ReLU) for i in added)
        assert len(added) == sum(isinstance(layer, torch.nn.ReLU) for layer in layers)
        assert {(layers[i].eps, round(layers[i].momentum, 9)) for i in added} == {(1e-3, momentum)}
    without = [layer for layer in nets["short-bn"] if "BatchNorm" not in type(layer).__name__]
    assert [repr(layer) for layer in without] == [repr(layer) for layer in plain]
    for ours, theirs in zip(torch.nn.Sequential(*without).parameters(), plain.parameters()):
        assert torch.equal(ours, theirs)
    kinds = [type(layer).__name__ for layer in nets["short-public"]]
    assert kinds[:9] == ["TrainingScale", "Conv2d", "ReLU", "BatchNorm2d", "Dropout", "Conv2d", "ReLU",
                         "BatchNorm2d", "MaxPool2d"]
