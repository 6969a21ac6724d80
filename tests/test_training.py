"""training: the loop, its hooks, options and states; the zoo."""
import contextlib
import dataclasses
import importlib.util
import math
import multiprocessing
import os
import shutil
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from papers.he.experiments import subjects
from papers.ren import models
from report import code, inputs, registry, same, zoo
from report.repository import ROOT
from shared import inference, runtime
from shared.data import sets
from shared.training.checkpoint import Checkpoint
from shared.training.fit import augmented, fit, loss, rate
from shared.training.recipe import Recipe
from tests.outputs.examples import Noise, training_images, untrained, weights_after

CPU = torch.device("cpu")
FAST, SMOKE = Recipe(epochs=2, images=400, batch=40), replace(models.SMOKE, images=None)    # None: all


@pytest.fixture(scope="module")
def digits():
    return sets.load("digits", profile="smoke")


@pytest.fixture(autouse=True, scope="module")
def fast():
    """On embedded data the zoo trains a paper's architecture by its SMOKE."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "SMOKE", FAST)
        yield


# ---- draws -----------------------------------------------------------------------------------------------
BASE = Recipe(epochs=3, batch=16, weight_decay=0.01)  # three steps, one an epoch
EVERY = Recipe(epochs=2, batch=5, shift=2, flip=True)


def furthest(a, b):
    """The largest difference of two sets of weights."""
    return max(float((a[k].double() - b[k].double()).abs().max()) for k in a)


def test_the_generator_alone_decides_the_bits_with_dropout_hook_and_augmentation():
    weights = []
    for seed, global_seed in ((1, 7), (1, 8), (2, 7)):
        network = untrained()
        torch.manual_seed(global_seed)
        state = torch.get_rng_state()
        weights.append(weights_after(EVERY, Noise(0.1), seed=seed, net=network))
        assert torch.equal(torch.get_rng_state(), state)
    assert furthest(weights[0], weights[1]) == 0 and furthest(weights[0], weights[2]) > 1e-3


def test_training_ends_where_after_epoch_says_so_with_the_weights_of_that_epoch():
    states = {}

    def after_epoch(epochs, network):
        assert network.training
        states[epochs] = {k: v.clone() for k, v in network.state_dict().items()}
        return epochs == 2

    recipe = replace(EVERY, epochs=4, schedule="constant")
    weights = fit(untrained(), *training_images(), recipe, device=CPU, after_epoch=after_epoch,
                  generator=1).state_dict()
    assert [*states] == [1, 2] and furthest(states[2], weights) == 0 < furthest(states[1], weights)


def test_shifts_move_whole_images_by_every_offset_and_fill_with_zeros():
    x = torch.zeros(3000, 2, 7, 9, dtype=torch.uint8)
    x[:, 0, 3, 4], x[:, 1, 2, 5] = 200, 100
    moved = augmented(x, Recipe(epochs=1, shift=2), torch.Generator().manual_seed(0))
    assert moved.dtype == torch.uint8 and moved.shape == x.shape
    first, second = (moved == 200).nonzero(), (moved == 100).nonzero()
    assert len(first) == len(second) == 3000 and moved.sum() == 300 * 3000
    offsets = first[:, 2:] - torch.tensor([3, 4])
    assert torch.equal(offsets, second[:, 2:] - torch.tensor([2, 5]))  # channels move together
    counts = Counter(map(tuple, offsets.tolist()))
    assert set(counts) == {(i, j) for i in range(-2, 3) for j in range(-2, 3)} and min(counts.values()) > 80
    edge = augmented(torch.full((500, 1, 7, 9), 255, dtype=torch.uint8), Recipe(epochs=1, shift=2),
                     torch.Generator().manual_seed(0))
    assert (edge[:, 0, 2:-2, 2:-2] == 255).all() and (edge == 0).any()


def test_flips_mirror_about_half_of_the_images():
    x = training_images(400)[0]
    moved = augmented(x, Recipe(epochs=1, flip=True), torch.Generator().manual_seed(0))
    same, mirrored = (moved == x).flatten(1).all(1), (moved == x.flip(3)).flatten(1).all(1)
    assert (same ^ mirrored).all() and 160 < int(mirrored.sum()) < 240


@pytest.mark.parametrize("settings", [{"batch": 3, "partial": True}, {"batch": 1}, {"batch": 8, "images": 1}])
def test_a_batch_of_one_image_is_refused_where_batch_normalisation_needs_two(settings):
    x, y = torch.rand(7, 1, 4, 4, generator=runtime.generator(0)), torch.arange(7) % 2
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 5), nn.BatchNorm1d(5), nn.Linear(5, 2))
    before = {k: v.clone() for k, v in network.state_dict().items()}
    with pytest.raises(runtime.UserError, match="a batch of one image .*another batch, or partial=False"):
        fit(network, x, y, Recipe(epochs=1, **settings), generator=0, device=CPU)
    assert all(v.equal(before[k]) for k, v in network.state_dict().items()) and network.training
    # an image has statistics of its own where it has several values a channel
    fit(nn.Sequential(nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(27, 2)), x, y,
        Recipe(epochs=1, **settings), generator=0, device=CPU)


# ---- schedule and loss -----------------------------------------------------------------------------------
def test_rates_of_the_schedules():
    assert rate(Recipe(epochs=9, schedule="constant", rate=0.3), 5.5) == 0.3
    halved = Recipe(epochs=100, schedule="steps", milestones=(20, 40.5), factor=0.5, rate=0.1)
    assert [rate(halved, e) for e in (0.1, 19.99, 20.01, 40.4, 40.6)] == [0.1, 0.1, 0.05, 0.05, 0.025]
    cycle = Recipe(epochs=10, rate=0.5)
    assert rate(cycle, 0) == pytest.approx(0.02) and rate(cycle, 2) == pytest.approx(0.5)
    assert rate(cycle, 1) == pytest.approx(0.26) and rate(cycle, 10) == pytest.approx(2e-6)
    assert rate(cycle, 6) == pytest.approx(0.25, rel=1e-4)


def test_the_squared_loss_is_that_of_the_sigmoid_and_saturates_in_float32():
    scores, labels = torch.tensor([[0.0], [20.0], [-2.0]], requires_grad=True), torch.tensor([1, 1, 0])
    value = loss(scores, labels, Recipe(epochs=1, loss="squared", reduction="sum"))
    assert float(value.detach()) == pytest.approx(0.5**2 + (1 + math.exp(2)) ** -2)
    mean = loss(scores.detach(), labels, Recipe(epochs=1, loss="squared"))
    assert float(mean) == pytest.approx(float(value.detach()) / 3)
    value.backward()
    assert scores.grad[1] == 0 and scores.grad[0] != 0


# ---- hooks -----------------------------------------------------------------------------------------------
def test_a_hook_gets_the_batch_as_fractions_with_its_labels_and_the_network_in_training():
    x, y = training_images()
    batches = []

    def hook(network, batch, labels, generator):
        assert network.training and batch.dtype == torch.float32 and 0 <= batch.min() and batch.max() <= 1
        batches.append((batch, labels))
        return batch

    network = fit(untrained(), x, y, Recipe(epochs=1, batch=20), hook=hook, device=CPU, generator=1)
    (batch, labels), = batches
    rows = torch.stack([(x.float() / 255 - b).abs().flatten(1).amax(1).argmin() for b in batch])
    assert sorted(rows.tolist()) == list(range(20)) and torch.equal(y[rows], labels)
    assert not network.training


def test_in_bfloat16_a_forward_pass_of_a_hook_without_gradient_does_not_stop_learning():
    def ascent(network, images, labels, generator):
        with torch.no_grad():
            network(images)
        x = images.clone().requires_grad_()
        gradient, = torch.autograd.grad(nn.functional.cross_entropy(network(x).float(), labels), x)
        return (images + 0.1 * gradient.sign()).clamp(0, 1)

    trained = weights_after(replace(BASE, bf16=True), ascent)
    assert not any(torch.equal(trained[name], p) for name, p in untrained().named_parameters())


# ---- a killed training goes on ---------------------------------------------------------------------------
class Killed(Exception):
    pass


class Dies:
    """A hook that adds noise to so many batches, and ends the training at the next one."""

    def __init__(self, batches):
        self.left = batches

    def __call__(self, network, images, labels, generator):
        if self.left == 0:
            raise Killed
        self.left -= 1
        return Noise(0.1)(network, images, labels, generator)


@pytest.mark.parametrize("recipe", [
    Recipe(epochs=4, batch=8, shift=1, flip=True),
    Recipe(epochs=4, batch=8, optimiser="adam", rate=0.01, schedule="steps", milestones=(1.5, 3), images=17),
    Recipe(epochs=4, batch=8, bf16=True, schedule="constant", nesterov=False)])
@pytest.mark.parametrize("at", [0, 3, 7, 8])
def test_a_training_killed_anywhere_ends_with_the_bits_of_one_that_ran_through(tmp_path, recipe, at):
    whole = weights_after(recipe, Noise(0.1))
    state = Checkpoint(tmp_path / "state")
    with pytest.raises(Killed) if at < 8 else contextlib.nullcontext():
        weights_after(recipe, Dies(at), checkpoint=state)   # after the last epoch nothing is trained again
    resumed = Dies(8 - at // 2 * 2)
    assert furthest(whole, weights_after(recipe, resumed, checkpoint=state)) == 0 and resumed.left == 0
    assert not list(tmp_path.glob(".part-*"))


@pytest.mark.parametrize("changes, seed", [({"rate": 0.04}, 1), ({}, 2)])
def test_the_state_of_another_training_is_not_used(tmp_path, changes, seed):
    state = Checkpoint(tmp_path / "state")
    with pytest.raises(Killed):
        weights_after(BASE, Dies(2), checkpoint=state)
    hook = Dies(3)
    weights_after(replace(BASE, **changes), hook, seed=seed, checkpoint=state)
    assert hook.left == 0       # three epochs of one batch, none left out


# ---- the zoo ---------------------------------------------------------------------------------------------
def kept(home):
    return list((home / "cache/zoo").glob("*.safetensors"))


@pytest.fixture(autouse=True)
def no_committed_networks(tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "ZOO", tmp_path / "committed")


def test_a_network_learns_and_comes_back_from_the_cache_bit_for_bit(home, digits, monkeypatch):
    monkeypatch.setattr(models, "SMOKE", SMOKE)
    with inputs.collected() as book:
        first = zoo.net("ren-a", "smoke", digits, 0, device=CPU)
        again = zoo.net("ren-a", "smoke", digits, 0, device=CPU)
    assert first.test_accuracy > 0.9 and first.fingerprint == again.fingerprint and len(kept(home)) == 1
    assert (again.name, again.seconds, again.recipe) == (first.name, first.seconds, first.recipe)
    # The accuracies are those of the rounded weights, which are kept.
    assert inference.accuracy(again.net, digits.x_test, digits.y_test) == again.test_accuracy
    assert inference.accuracy(again.net, digits.x_train, digits.y_train) == again.train_accuracy
    assert first.name.startswith("ren-a-digits-s0-") and book["inputs"] == {f"cache/{first.name}": {
        "architecture": "ren-a", "code": zoo.digest("ren-a"), "weights": first.fingerprint}}


@pytest.fixture(scope="module")
def once(tmp_path_factory, digits):
    """A network that is trained once for several tests, and its file."""
    folder = tmp_path_factory.mktemp("once")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOUNDARY_CACHE", str(folder / "cache"))
        patch.setattr(zoo, "ZOO", folder / "committed")
        trained = zoo.net("ren-a", FAST, digits, 0, device=CPU)
    path, = kept(folder)
    return trained, path


@pytest.fixture
def first(once, home):
    """That network, kept in the cache of the test."""
    trained, path = once
    (home / "cache/zoo").mkdir(parents=True)
    shutil.copy(path, home / "cache/zoo")
    return trained


def test_a_committed_network_comes_first(home, digits, first):
    path, = kept(home)
    zoo.ZOO.mkdir()
    os.replace(path, zoo.ZOO / path.name)
    assert zoo.net("ren-a", FAST, digits, 0, device=CPU).fingerprint == first.fingerprint and not kept(home)


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """`edited(module, old, new)`: digests are of a module with a text of its code replaced."""
    spec_of = code._found

    def edit(module, old, new):
        text, file = Path(spec_of(module).origin).read_text(), tmp_path / "edited.py"
        assert old in text
        file.write_text(text.replace(old, new))
        spec = importlib.util.spec_from_file_location(module, file)
        monkeypatch.setattr(code, "_found", lambda name: spec if name == module else spec_of(name))

    monkeypatch.setattr(same, "FILE", tmp_path / "same.json")
    return edit


@pytest.mark.parametrize("module, old, new", [
    ("papers.ren.models", "class Net(nn.Sequential):", "class Net(nn.Sequential):\n    more = 1"),
    ("shared.training.fit", "recipe.rate / 25,", "recipe.rate / 24,"),
    ("shared.training.recipe", "momentum: float = 0.9 ", "momentum: float = 0.8 "),
    ("report.zoo", "half = weights.half()", "half = weights.bfloat16()"),
    ("report.zoo", "load_state_dict(weights)", "load_state_dict(weights, strict=False)")])
def test_code_that_decides_a_network_moves_its_digest(edited, module, old, new):
    before = zoo.digest("ren-a")
    edited(module, old, new)
    assert zoo.digest("ren-a") != before


@pytest.mark.parametrize("module, old, new", [
    ("report.zoo", "it is trained anew", "it is not used"),
    ("papers.ren.models", "def ren_b(", "def ren_bb("),
    ("shared.training.fit", "The training loop", "A loop")])
def test_other_code_does_not(edited, module, old, new):
    before = zoo.digest("ren-a")
    edited(module, old, new)
    assert zoo.digest("ren-a") == before


def test_a_network_that_a_cell_defines_is_trained_each_time(home, digits, monkeypatch):
    """Its edited `forward` has the same layers and so the same name."""
    def of_a_cell(scale):
        @registry.architecture("cell-a")
        def network():
            return nn.Sequential(nn.Flatten(), Scaled(scale), nn.Linear(784, 10))

        network.__module__ = "__main__"     # as in a notebook
        registry._BUILDERS["cell-a"].__module__ = "__main__"
        return zoo.net("cell-a", FAST, digits, 0, device=CPU)

    class Scaled(nn.Module):
        def __init__(self, scale):
            super().__init__()
            self.factor = scale

        def forward(self, x):
            return x * self.factor

    monkeypatch.setattr(registry, "_BUILDERS", dict(registry._BUILDERS))
    first, edited = of_a_cell(1.0), of_a_cell(0.5)
    assert first.name == edited.name and first.fingerprint != edited.fingerprint
    assert not list((home / "cache").rglob("cell-a*"))


def test_a_network_trained_on_an_attack_is_kept_by_the_code_of_the_attacks(home, monkeypatch):
    folder = home / "tree/shared/attacks"
    folder.mkdir(parents=True)
    (folder / "gradient.py").write_text("RATE = 1")
    monkeypatch.setattr(zoo, "ROOT", home / "tree")
    before = zoo._cached("a", "an attack")
    (folder / "gradient.py").write_text("RATE = 2")
    assert zoo._cached("a", "an attack") != before
    assert zoo._cached("a", None) == home / "cache/zoo/a.safetensors"


def test_a_kept_network_of_other_code_is_not_loaded(home, digits, first, edited, capsys, monkeypatch):
    """It is trained anew and a line says so; at full scale that is for recorded runs alone."""
    def of_code():
        return zoo.net("ren-a", FAST, digits, 0, device=CPU)

    path, = kept(home)
    zoo.ZOO.mkdir()
    os.replace(path, zoo.ZOO / path.name)
    place, identity = f"zoo/{first.name}", {
        "architecture": "ren-a", "code": first.code, "weights": first.fingerprint}
    assert not zoo.changed(place, identity) and zoo.changed(place, identity | {"weights": "others"})
    assert zoo.changed("zoo/gone", identity) and not zoo.changed("cache/gone", identity)
    edited("shared.training.fit", "recipe.rate / 25,", "recipe.rate / 24,")
    assert zoo.changed(place, identity) and zoo.changed("cache/gone", identity)
    with monkeypatch.context() as full:
        full.setattr(sets, "_profile", "paper")
        with pytest.raises(runtime.UserError, match="by other code than today's; `make fill`") as error:
            of_code()
        assert "\n" not in str(error.value) and not capsys.readouterr().err and not kept(home)
        with inputs.kept_in(home / "states"), inputs.collected() as book:
            again = of_code()
        assert list(book["inputs"]) == [place] and again.code != first.code
        renewed, = (home / "results/zoo").glob("*")     # beside the runs, to be committed with them
        assert of_code().code == again.code
        renewed.unlink()
    capsys.readouterr()
    assert of_code().code == again.code and len(kept(home)) == 1
    message = capsys.readouterr().err
    assert message == f"not used: {path.name}: trained by other code than today's; it is trained anew\n"
    assert of_code().code == again.code and not capsys.readouterr().err
    same.enter({"ren-a": (first.code, again.code)})     # as `make same` does
    assert of_code().code == first.code and not zoo.changed(place, identity)
    same.FILE.write_text(same.FILE.read_text()[:9])
    edited("shared.training.fit", "recipe.rate / 25,", "recipe.rate / 23,")
    with pytest.raises(runtime.UserError, match="same.json: damaged; restore it"):
        of_code()


def test_embedded_data_are_not_left_half_trained_by_a_recipe_for_full_data(home, digits):
    trained = [zoo.net("ren-a", name, digits, 0, device=CPU) for name in ("smoke", "quick", "paper")]
    assert len({t.name for t in trained}) == 1 and trained[2].recipe == registry.recipe("ren", "smoke")


@pytest.mark.slow
def test_adversarial_training_of_full_scale_leaves_chance_on_embedded_data_too(home):
    """`make book` trains He et al.'s robust network on them where it has neither data nor a network."""
    subject = subjects("quick")["mnist-adv"]
    dataset = sets.load(subject.dataset, profile="smoke")
    trained = zoo.net(subject.architecture, subject.recipe, dataset, 0, device=CPU, hook=subject.hook)
    assert trained.test_accuracy > .5


def test_a_network_is_trained_on_a_file_of_the_reader_s(home, digits, monkeypatch):
    monkeypatch.chdir(home)
    monkeypatch.setattr(models, "SMOKE", SMOKE)
    arrays = {f"{kind}_{part}": getattr(digits, f"{kind}_{part}").numpy()
              for kind in "xy" for part in ("train", "test")}
    np.savez("leaves.npz", **arrays)
    trained = zoo.net("ren-a", "smoke", "leaves.npz", 0, device=CPU)
    assert trained.test_accuracy > 0.9 and trained.name.startswith("ren-a-leaves-s0-")
    np.savez("leaves.npz", **arrays | {k: arrays[k][:, :, 4:24, 4:24] for k in ("x_train", "x_test")})
    with pytest.raises(runtime.UserError, match=r"^ren-a cannot take images \[1, 20, 20\] of leaves.npz; "):
        zoo.net("ren-a", "smoke", "leaves.npz", 0, device=CPU)


def test_an_architecture_of_one_s_own_learns_embedded_data_by_its_own_recipe(home, digits, monkeypatch):
    monkeypatch.setitem(registry._BUILDERS, "own-a", lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 10)))
    recipe = replace(FAST, images=None)
    trained = zoo.net("own-a", recipe, digits, 0, device=CPU)
    assert trained.test_accuracy > 0.8 and trained.recipe == recipe
    with pytest.raises(runtime.UserError, match="recipe 'smoke' of 'own', which is no paper; .*Recipe"):
        zoo.net("own-a", "paper", digits, 0, device=CPU)


def test_architecture_seed_recipe_data_and_version_make_another_network(digits, monkeypatch):
    def name(architecture="ren-a", recipe=FAST, data=digits, seed=0):
        return zoo.name_of(registry.build(architecture), architecture, recipe, data, seed)

    others = replace(digits, fingerprint="of other images")
    names = {name(), name(seed=1), name(recipe=replace(FAST, images=999)), name("ren-b"), name(data=others)}
    assert len(names) == 5

    @dataclass(frozen=True)
    class Longer(Recipe):
        warmth: float = 0.5  # a field of tomorrow

    assert name(recipe=Longer(**dataclasses.asdict(FAST))) == name()
    monkeypatch.setattr(zoo, "LOOP", 2)
    assert name() not in names


@pytest.mark.parametrize("change", ["cut", "other weights", "no metadata"])
def test_a_changed_network_is_refused_by_name_and_trained_again(home, digits, first, capsys, change):
    path, = kept(home)
    if change == "cut":
        os.truncate(path, 500)
    else:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() if change == "other weights" else None
            weights = {k: torch.zeros_like(file.get_tensor(k)) for k in file.keys()}
        save_file(weights, path, metadata)
    with pytest.raises(runtime.UserError, match=f"{path.name} cannot be used .*; restore it from git"):
        zoo.read(path, CPU)
    again = zoo.net("ren-a", FAST, digits, 0, device=CPU)
    message = capsys.readouterr().err
    assert path.name in message and message.count("\n") == 1 and again.fingerprint == first.fingerprint


def test_a_renamed_network_is_refused(home, first):
    path, = kept(home)
    other = path.rename(path.with_name("ren-a-digits-s1-0123456789.safetensors"))
    with pytest.raises(runtime.UserError, match=f"{other.name} cannot be used .it holds {path.stem}"):
        zoo.about(other)


def test_a_network_that_never_leaves_chance_is_refused(home, digits):
    labels = torch.randint(10, digits.y_train.shape, generator=torch.Generator().manual_seed(0))
    noise = replace(digits, y_train=labels, fingerprint="noise")
    with pytest.raises(runtime.UserError, match="never left chance"):
        zoo.net("ren-a", FAST, noise, 0, device=CPU)
    assert not kept(home)


@pytest.mark.parametrize("test, kept_one", [(1.0, True), (0.99, True), (0.97, False), (0.9, False)])
def test_chance_leaves_room_above_it_where_one_class_is_frequent(home, digits, monkeypatch, test, kept_one):
    y = (torch.arange(len(digits.y_test)) % 27 == 0).long()
    few = replace(digits, y_test=y, fingerprint="unbalanced")
    monkeypatch.setattr(zoo, "fit", lambda network, *args, **options: network.eval())
    monkeypatch.setattr(zoo, "accuracy", lambda *args: test)
    with contextlib.nullcontext() if kept_one else pytest.raises(runtime.UserError, match=r"chance .0.96"):
        zoo.net("ren-a", FAST, few, 0, device=CPU)
    assert bool(kept(home)) == kept_one


@pytest.mark.parametrize("value, message", [(7e4, "holds 70000, float16 ends at 65504"),
                                            (float("nan"), "holds nan")])
def test_weights_that_float16_cannot_hold_are_refused_and_not_kept(home, digits, monkeypatch, value, message):
    def overflowing(network, *args, **options):
        network[1].weight.data[0, 0, 0, 0] = value
        return network.eval()

    monkeypatch.setattr(zoo, "fit", overflowing)
    with pytest.raises(runtime.UserError, match=f"1.weight {message}"):
        zoo.net("ren-a", FAST, digits, 0, device=CPU)
    assert not kept(home)


def test_running_statistics_are_kept_whole(home, digits, monkeypatch):
    def wide(network, *args, **options):
        fit(network, *args, **options)
        network[3].running_var[0] = 123456.789  # variances of unscaled grey values exceed float16
        return network

    monkeypatch.setattr(zoo, "fit", wide)
    trained = zoo.net("ren-a", FAST, digits, 0, device=CPU)
    assert float(trained.net[3].running_var[0]) == pytest.approx(123456.789, rel=1e-6)


def test_two_processes_train_one_network_once(home, digits, monkeypatch):
    log = home / "log"

    def slow(network, *args, **options):
        with open(log, "a") as file:
            file.write("trained\n")
        time.sleep(0.5)
        return network.eval()

    monkeypatch.setattr(zoo, "fit", slow)   # a fork on a machine with a GPU has no gradients
    monkeypatch.setattr(zoo, "accuracy", lambda *args: 0.99)

    def train():
        zoo.net("ren-a", FAST, digits, 0, device=CPU)

    others = [multiprocessing.get_context("fork").Process(target=train) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert [other.exitcode for other in others] == [0, 0] and log.read_text() == "trained\n"


def test_every_committed_network_is_sound_small_and_of_today_s_code():
    for path in (ROOT / "results/zoo").glob("*.safetensors"):
        facts, _ = zoo.about(path)
        architecture, recipe = facts["architecture"], Recipe(**facts["recipe"])
        data = SimpleNamespace(fingerprint=facts["data_fingerprint"], stand_in=None,
                               name=path.stem.removeprefix(f"{architecture}-").split("-s")[0])
        today = zoo.name_of(registry.build(architecture), architecture, recipe, data, facts["seed"],
                            facts.get("hook"))
        assert path.stem == today, f"{path.name}: the training loop or the architecture has changed since"
        assert path.stat().st_size < 8e6
