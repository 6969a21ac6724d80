"""models/chen.py: sizes beside the standard definitions, shapes, gradients, Tables VI to VIII."""
import pytest
import torch
from torch import nn

from papers.chen import models as chen
from report import reference, registry

# Parameters for ten classes and one channel. Those of the standard definition for 1000 classes follow: the
# stem and the last layer are all that differs.
SIZES = {"densenet": (6_955_274, 7_978_856), "mobilenetv1": (3_216_650, 4_231_976),
         "mobilenetv2": (2_236_106, 3_504_872), "resnet50": (23_519_690, 25_557_032),
         "resnet101": (42_511_818, 44_549_160), "inceptionv1": (5_601_322, 6_624_904),
         "alexnet": (57_022_154, 61_100_840), "squeezenet": (727_306, 1_248_424), "lenet": (61_706, None)}
STEMS = {"densenet": (576, 9408), "mobilenetv1": (288, 864), "mobilenetv2": (288, 864),
         "resnet50": (576, 9408), "resnet101": (576, 9408), "inceptionv1": (576, 9408),
         "alexnet": (640, 23_296), "squeezenet": (960, 14_208)}


def build(name, **options):
    return registry.build(f"chen-{name}", generator=torch.Generator().manual_seed(0), **options)


def shapes(name, **options):
    """A network without numbers: sizes follow from its layers alone."""
    with torch.device("meta"):
        return registry.build(f"chen-{name}", **options)


def parameters(network):
    return sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize("name", SIZES)
def test_only_stem_and_last_layer_differ_from_the_standard_definition(name):
    own_count, standard_count = SIZES[name]
    network = shapes(name)
    assert parameters(network) == own_count
    if standard_count:
        last = [m for m in network.modules() if isinstance(m, (nn.Linear, nn.Conv2d))][-1]
        own_stem, standard_stem = STEMS[name]
        assert (own_count - own_stem - parameters(last)
                == standard_count - standard_stem - 100 * parameters(last))


def test_inception_v2_has_the_weights_of_slim():
    """TensorFlow's own test counts 10,173,112 variables without logits.

    They are weights, and one shift and two running statistics of each normalised channel; its stem is a
    separable 7x7 convolution with a bias.
    """
    network = shapes("inceptionv2")
    assert parameters(network) == 10_171_402
    weights = sum(p.numel() for p in network.parameters() if p.ndim == 4)
    normalised = sum(m.num_features for m in network.modules() if isinstance(m, nn.BatchNorm2d))
    assert weights - 576 + 3 * (normalised - 64) + 7 * 7 * 24 + 24 * 64 + 64 == 10_173_112


@pytest.mark.parametrize("name", [a.removeprefix("chen-") for a in chen.MODELS.values()])
def test_ten_logits_with_gradients_everywhere(name):
    colour = torch.empty(4, 3, 32, 32, device="meta")
    assert shapes(name, channels=3, size=32)(colour).shape == (4, 10)
    network = build(name, channels=1, size=28)
    x = torch.rand(4, 1, 28, 28, generator=torch.Generator().manual_seed(1)).requires_grad_()
    scores = network(x)
    assert scores.shape == (4, 10) and scores.isfinite().all()
    scores.square().sum().backward()
    assert x.grad.flatten(1).abs().sum(1).gt(0).all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in network.parameters())


@pytest.mark.parametrize("name", SIZES)
def test_images_of_28_pixels_are_14_behind_the_stem(name):
    network, sizes = shapes(name).eval(), []
    convolutions = [m for m in network.modules() if isinstance(m, nn.Conv2d)]
    for module in convolutions[:2]:
        module.register_forward_hook(lambda m, x, output: sizes.append((x[0].shape[2], output.shape[2])))
    network(torch.empty(1, 1, 28, 28, device="meta"))
    assert sizes == ([(28, 28), (14, 10)] if name == "lenet" else [(28, 14), (14, 14)])


def test_the_published_mobilenet_ends_in_one_pixel():
    network = build("mobilenetv1").eval()
    assert network[:-3](torch.rand(1, 1, 28, 28)).shape == (1, 1024, 1, 1)
    weights = torch.cat([p.flatten() for p in network.parameters() if p.ndim > 1])
    assert weights.abs().max() <= 0.02 and abs(weights.std() - 0.0088) < 1e-4


def test_networks_of_tables_6_and_7_have_the_printed_sizes():
    printed = {r["model"]: r for t in ("table-6", "table-7") for r in reference.paper("chen")[t].rows}
    assert printed.keys() == chen.FCNS.keys()
    for name, options in chen.FCNS.items():
        row = printed[name]
        assert (options["layers"], options["neurons"]) == (row["layers"], row["neurons"])
        network = shapes("fcn", **options)
        hidden = [m.out_features for m in network if isinstance(m, nn.Linear)]
        assert hidden == [options["neurons"]] * options["layers"] + [10]
        assert network(torch.empty(2, 1, 28, 28, device="meta")).shape == (2, 10)


@pytest.mark.parametrize("channels, size", [(1, 28), (3, 32)])
def test_networks_of_table_8_have_the_printed_layers(channels, size):
    printed = {r["model"]: r for r in reference.paper("chen")["table-8"].rows}
    assert printed.keys() == chen.CNNS.keys()
    counts = set()
    for name, options in chen.CNNS.items():
        network = shapes("cnn", channels=channels, size=size, **options).eval()
        assert any(isinstance(m, nn.MaxPool2d) for m in network) == printed[name]["pool"]
        assert any(isinstance(m, nn.Dropout) for m in network) == printed[name]["dropout"]
        assert network(torch.empty(2, channels, size, size, device="meta")).shape == (2, 10)
        counts.add(parameters(network))
    assert len(counts) == 1     # pools or strides: the weights are the same
