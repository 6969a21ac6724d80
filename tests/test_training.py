"""models, training: architectures, the loop, the zoo."""
import multiprocessing
from types import SimpleNamespace

import pytest
import torch

from shared.data import sets
from shared.models import models
from shared.training import training

CPU = torch.device("cpu")
FAST = training.Recipe(epochs=2, images=1000)


@pytest.fixture(scope="module")
def digits():
    return sets.load("digits", profile="smoke")


@pytest.mark.parametrize("name, parameters", [("ren-a", 60_118), ("ren-b", 677_824), ("ren-c", 1_218_314)])
def test_architectures_have_the_sizes_of_their_printed_layers(name, parameters):
    net = models.build(name)
    assert sum(p.numel() for p in net.parameters()) == parameters
    assert net.eval()(torch.zeros(3, 1, 28, 28)).shape == (3, 10)


def test_the_printed_last_relu_can_be_asked_for():
    assert (models.build("ren-c", last_relu=True).eval()(torch.rand(5, 1, 28, 28)) >= 0).all()


def test_building_is_seeded_and_leaves_the_global_generator_alone():
    torch.manual_seed(3)
    state = torch.get_rng_state()
    first, second = (models.build("ren-a", generator=torch.Generator().manual_seed(1)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters()))


def test_an_unknown_architecture_is_named():
    with pytest.raises(ValueError, match="unknown architecture 'ren-d'; allowed: ren-a, ren-b, ren-c"):
        models.build("ren-d")


@pytest.mark.parametrize("images", [torch.zeros(2, 1, 28, 28), torch.zeros(2, 28, 28, dtype=torch.uint8)])
def test_images_of_another_type_or_shape_are_refused(images):
    with pytest.raises(ValueError, match="expected uint8 images"):
        models.logits(models.build("ren-a"), images)


def test_logits_do_not_depend_on_the_chunk():
    net, images = models.build("ren-a"), torch.randint(0, 256, (50, 1, 28, 28), dtype=torch.uint8)
    torch.testing.assert_close(models.logits(net, images, chunk=7), models.logits(net, images, chunk=50),
                               rtol=0, atol=1e-5)
    assert models.classifier(net)(images).dtype == torch.int64


def test_a_net_learns_and_comes_back_from_the_cache_bit_for_bit(home, digits):
    first = training.trained("ren-a", digits, "ren-smoke", seed=0, device=CPU)
    again = training.trained("ren-a", digits, "ren-smoke", seed=0, device=CPU)
    assert first.test_accuracy > 0.9 and first.fingerprint == again.fingerprint
    assert len(list((home / "cache/zoo").glob("*.safetensors"))) == 1
    # what is measured is what is kept: the stored accuracy is the stored net's own
    assert training.accuracy(again.net, digits.x_test, digits.y_test) == again.test_accuracy


def test_embedded_data_are_not_left_half_trained_by_a_recipe_for_full_data(home, digits):
    names = {training.trained("ren-a", digits, r, seed=0, device=CPU).name for r in ("ren-smoke", "ren-quick", "ren-paper")}
    assert len(names) == 1


def test_seed_and_recipe_make_another_net(home, digits):
    nets = {training.trained("ren-a", digits, r, seed=s, device=CPU).fingerprint
            for r, s in ((FAST, 0), (FAST, 1), (training.Recipe(epochs=2, images=999), 0))}
    assert len(nets) == 3


def test_a_damaged_net_is_named_and_trained_again(home, digits, capsys):
    first = training.trained("ren-a", digits, FAST, seed=0, device=CPU)
    path, = (home / "cache/zoo").glob("*.safetensors")
    path.write_bytes(path.read_bytes()[:500])
    again = training.trained("ren-a", digits, FAST, seed=0, device=CPU)
    assert path.name in capsys.readouterr().err and again.fingerprint == first.fingerprint


def test_a_net_that_never_leaves_chance_is_refused(home, digits):
    generator = torch.Generator().manual_seed(0)
    noise = SimpleNamespace(**{**vars(digits), "y_train": torch.randint(10, digits.y_train.shape, generator=generator),
                               "fingerprint": "noise", "describe": digits.describe})
    with pytest.raises(ValueError, match="never left chance"):
        training.trained("ren-a", noise, FAST, seed=0, device=CPU)
    assert not list((home / "cache/zoo").glob("*.safetensors"))


@pytest.mark.parametrize("recipe, said", [("ren-fast", "allowed: ren-smoke, ren-quick, ren-paper, ren-gentle")])
def test_an_unknown_recipe_is_named(home, digits, recipe, said):
    with pytest.raises(ValueError, match=said):
        training.trained("ren-a", digits, recipe, seed=0, device=CPU)


def test_a_recipe_out_of_range_is_refused():
    with pytest.raises(ValueError, match="recipe out of range"):
        training.Recipe(epochs=0)


def _train(log):
    digits = sets.load("digits", profile="smoke")
    net = training.trained("ren-a", digits, FAST, seed=0, device=CPU)
    with open(log, "a") as handle:
        handle.write(f"{net.fingerprint} {net.seconds}\n")


def test_two_processes_train_one_net_once(home):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_train, args=(str(home / "log"),)) for _ in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    first, second = (home / "log").read_text().splitlines()
    assert first == second  # also the seconds: one of them was read, not trained


def test_every_net_of_the_repository_is_one_that_today_s_code_would_look_for():
    names = {p.stem for p in training.ZOO.glob("*.safetensors")}
    sizes = [p.stat().st_size for p in training.ZOO.glob("*.safetensors")]
    assert all(s < 2_000_000 for s in sizes)
    for name in names:
        about = training.about(training.ZOO / f"{name}.safetensors")
        key = training.zoo_key(about["architecture"], about["fingerprint"], training.Recipe(**about["recipe"]), about["seed"])
        assert name.endswith(key), f"{name}: the training loop or architecture has changed since"
