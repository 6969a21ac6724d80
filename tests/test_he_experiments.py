"""papers.he.experiments: what is recorded, subjects, examples, classifiers; zoo networks with a hook."""
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from test_training import CPU, FAST

from papers.he import experiments, figures
from report import registry, zoo
from report.experiment import Experiment, folder_of
from shared.attacks import optimised
from shared.attacks.gradient import FGSM, PGD, Adversarial
from shared.attacks.threat import Linf
from shared.card import Card, card
from shared.card.instruments import SECTIONS
from shared.data import sets
from shared.runtime import UserError

EXPERIMENTS = [value for value in vars(experiments).values() if isinstance(value, Experiment)]


def test_every_folder_of_runs_has_its_experiment():
    folders = {path.name for path in folder_of("he").iterdir()}
    assert folders <= {experiment.name.partition("/")[2] for experiment in EXPERIMENTS}


def name_with(hook):
    data = SimpleNamespace(fingerprint="f", stand_in=None, name="digits")
    return zoo.name_of(registry.build("ren-a"), "ren-a", FAST, data, 0, hook)


def test_a_hooks_class_and_each_of_its_settings_decide_a_networks_name():
    hooks = [None, *(Adversarial(attack, train_mode=mode) for mode in (True, False) for attack in (
        FGSM(Linf(0.1)), PGD(Linf(0.1), 1, 0.1), PGD(Linf(0.2), 1, 0.1), PGD(Linf(0.1), 2, 0.1)))]
    assert len({name_with(hook) for hook in hooks}) == len(hooks)


@pytest.mark.slow
def test_the_zoo_trains_on_what_the_hook_gives(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDARY_CACHE", str(tmp_path))
    digits = sets.load("digits", profile="smoke")
    hooks = None, Adversarial(FGSM(Linf(0.1)))
    plain, hooked = (zoo.net("ren-a", FAST, digits, 0, device=CPU, hook=hook) for hook in hooks)
    assert plain.fingerprint != hooked.fingerprint and plain.name != hooked.name
    path, = (tmp_path / "zoo").glob(f"*/{hooked.name}.safetensors")     # a folder for the code of the attacks
    facts, _ = zoo.about(path)
    assert facts["hook"]["Adversarial"]["attack"]["FGSM"]["threat"]["Linf"]["size"] == 0.1


def linear(images):
    """Two classes by the mean of an image: above one half is class 1."""
    logit = 20 * (images.flatten(1).mean(1) - 0.5)
    return torch.stack([-logit, logit], 1)


def test_fgsm_gives_its_image_where_it_fails_and_a_benign_example_is_the_image():
    x = torch.full((2, 1, 4, 4), 0.45)
    x[1] = 0.1
    y = torch.zeros(2, dtype=torch.int64)
    attacked = experiments.examples(linear, x, y, FGSM(Linf(0.2)), iterations=1, seed=0)
    assert attacked.success.tolist() == [True, False] == attacked.counts.tolist()
    assert torch.allclose(attacked.x, x + 0.2)
    clean = experiments.examples(linear, x, y, None, iterations=1, seed=0)
    assert torch.equal(clean.x, x) and clean.counts.all() and not clean.success.any()


def block(near, count=40):
    """A block of images around which the boundary is `near` steps away in all directions."""
    return {"steps": torch.full((count, 48), near, dtype=torch.uint8).numpy(), "correct": [True] * count,
            "success": [True] * count, "counts": [True] * count, "purities": torch.ones(count, 3).numpy()}


SETTINGS = dict(sample=80, size=40, step=0.02, share=0.5, centre=0.0, spread=1.0, steps=60, batch=16,
                balanced=False, seed=0)


def test_the_classifier_learns_from_the_blocks_that_are_complete():
    around = {"n-benign-b0": block(40), "n-benign-b1": block(40), "n-brittle-b0": block(2),
              "n-brittle-b1": block(2), "n-margin-b0": block(40)}
    alone = experiments.learn(around, "n", "brittle", [], **SETTINGS)
    assert (alone["sample"], alone["tested"]) == (80, 40)
    assert (alone["missed"], alone["flagged"]) == ({"brittle": 0}, 0)
    crossed = experiments.learn(around, "n", "brittle", ["margin"], **SETTINGS)   # only block 0 has all three
    assert (crossed["sample"], crossed["adversarial"]) == (40, {"brittle": 20, "margin": 20})
    assert crossed["missed"]["margin"] == 20     # their distances are those of benign images
    with pytest.raises(UserError, match="no block"):
        experiments.learn(around, "n", "fgsm", [], **SETTINGS)


def test_classifiers_rest_on_the_blocks_of_their_own_page(monkeypatch):
    arguments = SETTINGS | dict(sample=40, name="n", attack="brittle", others=[])
    around = {"n-benign-b0": block(40), "n-brittle-b0": block(2)}
    for name, learn in (("he/surroundings", experiments.learn_surroundings),
                        ("he/imagenet-examples", experiments.learn_imagenet)):
        monkeypatch.setattr(experiments, "results_of", {name: around}.get)
        assert learn(**arguments) == experiments.learn(around, **arguments)


# ---- cards -----------------------------------------------------------------------------------------------
def test_a_run_has_the_sentence_and_the_curves_of_its_card_and_nothing_of_single_images(monkeypatch):
    monkeypatch.setattr("shared.card.report.SECTIONS", SECTIONS[:2])    # the others take long
    x = torch.linspace(0.1, 0.9, 12).view(-1, 1, 1, 1).expand(-1, 1, 8, 8)
    y, cards = linear(x).argmax(1), []
    monkeypatch.setattr(experiments, "card", lambda *a, **k: cards.append(card(*a, **k)) or cards[-1])
    subject = SimpleNamespace(architecture="n", model=lambda seed: linear, images=lambda first, count: (
        x[first:count], y[first:count]))
    run = experiments.card_of(subject, images=5, tested=10, seed=0)
    again = Card.of({"sections": {"n": run["sections"]}, "settings": run["settings"]})
    assert again.headlines == cards[0].headlines != [] and again.curves("n") == cards[0].curves("n") != []
    assert run["images"] == 5 and cards[0].settings["all"] == 10
    assert not any(m["images"] or m["draws"] for section in run["sections"] for m in section["measures"])


# ---- judging --------------------------------------------------------------------------------------------
def test_cells_of_proxies_have_their_status():
    assert figures.status("mnist-normal", 1.0) is None
    assert figures.status("cifar10-adv", 0.0) == figures.SMALL
    assert figures.status("mnist-normal", None) == figures.NOT_MEASURED


def test_misclassified_noisy_copies_are_counted():
    grey = torch.full((2, 1, 4, 4), 0.45), torch.zeros(2, dtype=torch.int64)
    subject = SimpleNamespace(images=lambda first, count: grey, model=lambda seed: linear)
    attack = optimised.OptMargin(rate=0.05, c=1.0, searches=2, noise=0.02, members=4)
    result = experiments.under_noise(subject, attack, first=0, images=2, iterations=80, noises=7, radius=0.3,
                                     seed=0)
    assert result["counts"] == [True, True] and result["own"] == [1.0, 1.0]     # as OptMargin claims
    assert all(abs(7 * share - round(7 * share)) < 1e-5 for k in ("others", "cube") for share in result[k])
    assert result["clean"] == [0.0, 0.0]      # these noises move a mean of 0.45 by at most 0.02
    shares = {"own": [1.0, 0.0], "others": [0.5, 0.0], "cube": [0.25, 0.0], "clean": [0.0, 1.0]}
    runs = pd.DataFrame([{"run": f"b{n}", "network": "mnist-normal", "counts": [True, False], **shares}
                         for n in (0, 1)])
    row = figures.misclassified_under_noise(runs)     # without an example there is nothing to count
    assert row == {"network": "SqueezeNet 1.1", "images": 2, "own": 100, "others": 50, "cube": 25, "clean": 0}
