"""models: architectures, inference, recipes."""
import pytest
import torch
from torch import nn

import papers
from papers.ren import models as ren
from report import registry
from shared import inference, runtime
from shared.data import sets
from shared.training.fit import fit
from shared.training.recipe import Recipe


def random_images(count=50):
    draws = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (count, 1, 28, 28), dtype=torch.uint8, generator=draws)


# ---- architectures ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name, parameters", [("ren-a", 60_118), ("ren-b", 677_824), ("ren-c", 1_218_314),
                                              ("ren-a-same", 60_118 + 16 * 24 * 120), ("ren-a-unit", 60_118)])
def test_architectures_have_the_sizes_of_their_printed_layers(name, parameters):
    network = registry.build(name)
    assert sum(p.numel() for p in network.parameters()) == parameters
    assert network.eval()(torch.zeros(3, 1, 28, 28)).shape == (3, 10)


def test_the_printed_last_relu_is_there_and_can_be_left_out():
    images = torch.rand(5, 1, 28, 28)
    assert (registry.build("ren-c").eval()(images) >= 0).all()
    assert (registry.build("ren-c-linear").eval()(images) < 0).any()


def test_the_input_layer_takes_one_mean_and_scales_nothing():
    layer, images = ren.ZeroCentre(), random_images()
    layer.adapt(images)
    torch.testing.assert_close(layer(images / 255), images - images.float().mean(), rtol=0, atol=1e-3)
    mean = layer.mean.clone()
    layer.adapt(images / 255)
    torch.testing.assert_close(layer.mean, mean, rtol=1e-5, atol=0)
    assert [type(registry.build(name)[0]) for name in ("ren-a", "ren-a-unit")] == [ren.ZeroCentre, nn.Conv2d]


def test_initial_weights_are_glorots_and_biases_zero():
    layers = [layer for layer in registry.build("ren-b") if isinstance(layer, (nn.Conv2d, nn.Linear))]
    assert not any(layer.bias.any() for layer in layers)
    for layer, fans in zip(layers, (9 + 180, 180 + 450, 1250 + 500, 500 + 84, 84 + 10), strict=True):
        assert 0.9 < layer.weight.abs().max() / (6 / fans)**0.5 <= 1


def test_batch_normalisation_ends_with_the_statistics_of_all_images():
    network = registry.build("ren-c", generator=torch.Generator().manual_seed(0)).eval()
    images = random_images(1001)  # 3 batches, of 334, 334 and 333 images
    with torch.no_grad():
        flat = network[:7](inference.pixels(images))
    network.settle(images)
    torch.testing.assert_close(network[7].running_mean, flat.mean(0), rtol=1e-2, atol=1e-2)
    torch.testing.assert_close(network[7].running_var, flat.var(0), rtol=4e-2, atol=1e-2)  # a mean of 3
    assert not network.training and network[7].momentum == 0.1


@pytest.mark.slow
def test_the_smoke_recipe_teaches_the_network_that_stays_at_chance_without_settle():
    """The pages train A and B at smoke size and refuse a network at chance accuracy."""
    data, draws = sets.load("digits", profile="smoke"), torch.Generator().manual_seed(0)
    network = registry.build("ren-c", generator=draws)
    fit(network, data.x_train, data.y_train, ren.SMOKE, generator=draws, device=torch.device("cpu"))
    assert all(torch.equal(p, p.half()) for p in network.parameters())
    assert inference.accuracy(network, data.x_test, data.y_test) > 0.5


def test_a_paper_is_found_by_what_it_registers_and_an_unknown_architecture_is_named(tmp_path, monkeypatch):
    (tmp_path / "zeta").mkdir()
    (tmp_path / "zeta" / "__init__.py").touch()
    (tmp_path / "zeta" / "models.py").write_text(
        "from torch import nn\nfrom report.registry import architecture\n"
        "architecture('zeta-a')(lambda: nn.Linear(4, 3))\n")
    (tmp_path / "gauge.py").write_text("LIMIT = 1\n")
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    registry.names()    # else what is imported from here on would be forgotten with the copy
    monkeypatch.setattr(registry, "_BUILDERS", dict(registry._BUILDERS))
    assert registry.build("zeta-a").out_features == 3
    for name in ("gauge", "gauge-a", "inference"):
        with pytest.raises(ValueError, match=f"unknown architecture '{name}'; allowed: .*zeta-a"):
            registry.build(name)


# ---- inference -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("images", [torch.zeros(2, 1, 28, 28, dtype=torch.int64),
                                    torch.zeros(2, 28, 28, dtype=torch.uint8)])
def test_images_of_another_type_or_shape_are_refused(images):
    with pytest.raises(runtime.UserError, match="expected images .N, C, H, W., uint8 or float .*; got torch"):
        inference.logits(registry.build("ren-a"), images)


def test_a_network_keeps_mode_and_memory_order_of_each_module_and_images_stay():
    network, images = registry.build("ren-a").train(), random_images()
    network[3].eval()  # one frozen normalisation among modules in training
    before, statistics, strides = images.clone(), network[7].running_mean.clone(), network[5].weight.stride()
    inference.logits(network, images)
    assert network.training and network[0].training and not network[3].training
    assert torch.equal(images, before) and torch.equal(network[7].running_mean, statistics)
    assert network[5].weight.stride() == strides and all(p.grad is None for p in network.parameters())


# ---- recipes ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("settings, message", [
    (dict(epochs=0), "epochs = 0; allowed: a whole number from 1"),
    (dict(epochs=1.5), "epochs = 1.5"), (dict(epochs=True), "epochs = True"),
    (dict(epochs=None), "epochs = None"),
    (dict(images=0), "images = 0; allowed: a whole number from 1, or None for all"),
    (dict(batch=0), "batch = 0"),
    (dict(rate=0.0), "rate = 0.0; allowed: a number above 0"), (dict(rate=float("nan")), "rate = nan"),
    (dict(momentum=1.0), "momentum = 1.0"), (dict(weight_decay=-1e-4), "weight_decay = -0.0001"),
    (dict(optimiser="adamw"), "optimiser = 'adamw'; allowed: sgd, adam"),
    (dict(schedule="cosine"), "schedule = 'cosine'; allowed: one-cycle, constant, steps"),
    (dict(loss="hinge"), "loss = 'hinge'; allowed: cross-entropy, squared"),
    (dict(reduction="max"), "reduction = 'max'; allowed: mean, sum"), (dict(shift=-1), "shift = -1"),
    (dict(schedule="steps"), "milestones = .."), (dict(milestones=(2,)), r"milestones = \(2,\)"),
    (dict(schedule="steps", milestones=(2,), factor=0), "factor = 0; allowed: a number above 0"),
])
def test_a_recipe_out_of_range_is_refused_in_one_line(settings, message):
    with pytest.raises(runtime.UserError, match=message) as error:
        Recipe(**{"epochs": 1, **settings})
    assert "\n" not in str(error.value)


def test_the_settings_of_a_recipe_are_those_that_differ_from_the_defaults():
    assert Recipe(epochs=3).settings() == {"epochs": 3}
    assert Recipe(epochs=3, rate=0.05, shift=2).settings() == {"epochs": 3, "shift": 2}
    steps = Recipe(epochs=3, schedule="steps", milestones=[1, 2])
    assert Recipe(**steps.settings()) == steps and hash(steps) == hash(Recipe(**steps.settings()))
