"""papers.synthesis: instruments on networks solved by hand, rank correlations, claims that can flip."""
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from papers.synthesis import claims, comparison, experiments, figures
from shared.data import sets
from shared.statistics import rank_correlations

pytestmark = pytest.mark.filterwarnings("ignore::shared.inference.NoExample")
TIMES = ("mixing", "boxes", "directions", "gradient", "noise", "roby", "margin", "attack", "pgd")
PAPER = SimpleNamespace(**experiments.SCALE["paper"])


# ---- the plan --------------------------------------------------------------------------------------------
def test_the_set_is_that_of_the_protocol():
    names = [name for name, _ in experiments.plan(PAPER)]
    assert len(names) == 24 and len(set(names)) == 10
    papers = [experiments.GROUPS[name].paper for name in names]
    assert {key: papers.count(key) for key in set(papers)} == {"ren": 7, "shu": 6, "he": 2, "chen": 9}


# ---- one network -----------------------------------------------------------------------------------------
def at(level):
    """Two classes by the mean of an image: above `level` is class 1."""
    def model(images):
        logit = 20 * (images.flatten(1).mean(1) - level)
        return torch.stack([-logit, logit], 1)
    return model


GREY = torch.full((3, 1, 4, 4), 0.45)
GREY[2] = 0.9
ZERO = torch.zeros(3, dtype=torch.int64)


def test_a_box_lies_just_beyond_the_boundary_of_the_first_network():
    own, mean, least = experiments.boxed([at(0.5), at(0.46), at(0.9)], GREY, ZERO, 5, 40, seed=0)
    assert own[:2].tolist() == [1, 1] and mean[:2].tolist() == [0.5, 0.5] and least[:2].tolist() == [0, 0]
    assert torch.isnan(torch.stack([own, mean, least])[:, 2]).all()     # it is misclassified


@pytest.fixture
def measure(monkeypatch):
    """`measure(images)`: what the experiment says of a linear network on embedded digits."""
    def trained(architecture, recipe, data, seed, **_):
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
        images, y = data.x_train[:300].flatten(1).float() / 255, data.y_train[:300]
        noisy = images + 0.1 * torch.randn(images.shape)
        with torch.no_grad():
            net[1].weight.copy_(torch.linalg.lstsq(noisy, torch.eye(10)[y]).solution.T)
        return SimpleNamespace(net=net.eval(), test_accuracy=0.5)

    monkeypatch.setattr(sets, "_profile", "smoke")
    monkeypatch.setattr(experiments.zoo, "net", trained)
    arguments = experiments.plan(SimpleNamespace(**experiments.SCALE["smoke"]))["ren-a", 0]
    return lambda images: experiments.measure(**arguments | {"images": images})


def test_a_run_has_a_value_an_image_and_the_sizes_it_took(measure):
    result = measure(6)
    assert (result["images"], result["directions"], result["classes"]) == (6, 8, 100)
    right = np.array(result["correct"])
    assert right.any()
    for name in ("distance", "gradient", "attack", "margin", "transfer"):
        values = np.asarray(result[name], dtype=float)
        assert values.shape == (6,) and np.isfinite(values[right]).all(), name
    # Of a linear network the attack finds little more than the shortest way.
    attack, step = (np.asarray(result[name], dtype=float)[right] for name in ("attack", "gradient"))
    assert (attack <= 1.1 * step + 0.05).all()
    assert set(result["seconds"]) == set(TIMES)


def test_an_image_has_the_same_values_among_fewer(measure):
    many, few = measure(6), measure(3)
    for name in ("distance", "gradient", "attack", "transfer"):
        assert np.allclose(np.asarray(many[name])[:3], few[name], atol=1e-4, equal_nan=True), name


# ---- comparing -------------------------------------------------------------------------------------------
def frame(images=60):
    """Runs of 24 networks: the attack is larger for later networks and images; so are the instruments."""
    rows, rng = [], np.random.default_rng(0)
    for n, (network, number) in enumerate(experiments.NETWORKS):
        attack = 1 + n + np.linspace(0, 1, images)
        rows.append({
            "run": f"{network}-{number}", "network": network, "number": number, "accuracy": 0.99,
            "images": images, "classes": 100, "draws": 100, "correct": [True] * (images - 5) + [n > 0] * 5,
            "robustness": np.stack([1 - attack / 100] * 3), "example": np.full((3, images), 0.4),
            "transfer": attack / 50, "own": np.ones(images), "least_other": np.zeros(images),
            "distance": -attack, "reached": np.ones(images), "top": 0.48,
            "gradient": rng.permutation(attack), "attack": attack,
            "margin": np.zeros(images) + attack, "roby": -float(n), "survives": [True] * images,
            "stepped": [True] * images, "noise": [[False] * images, [k % 4 == 0 for k in range(images)]],
            "seconds": dict.fromkeys(TIMES, 1.0) | {"attack": 100.0}})
    return pd.DataFrame(rows)


def test_correlations_of_orders_that_are_known(monkeypatch):
    monkeypatch.setattr(comparison, "ROUNDS", 50)
    runs = frame()
    assert comparison.shared_images(runs).tolist() == [*range(55)]     # the first network errs on the others
    compared = comparison.compared(runs)
    rows = compared.set_index("instrument")
    assert np.allclose(rows.networks[["mixing", "transfer", "roby", "margin"]], 1)
    assert np.isclose(rows.networks["distance"], -1) and np.isclose(rows.images["distance"], -1)
    assert np.allclose(rows.images[["mixing", "transfer", "margin"]], 1) and np.isnan(rows.images["roby"])
    assert abs(rows.images["gradient"]) < 0.3
    assert rows.networks_predicts["mixing"] and not rows.networks_predicts["distance"]
    assert not rows.networks_better.any()               # than a margin that ranks perfectly
    assert comparison.best(compared, runs)["instrument"] in ("mixing", "transfer", "roby", "gradient")
    facts = figures.facts(compared, runs)
    assert facts["predicts"] and facts["whole"] and (facts["images"], facts["networks"]) == (55, 24)
    assert facts["name"].count("“") == 4 and "tied with" in facts["name"]      # of these means, all but one
    assert facts["better"] == facts["sharper"] == "not reliably better than" and facts["margin"]["is"] == 1
    assert "{predicting} do beyond chance" in figures.answer(facts) and "its rank" in figures.evidence(facts)
    assert "one does beyond chance: the {name}" in figures.answer(facts | {"predicting": 1})
    assert facts["apart"]["is"] == pytest.approx(facts["value"]["is"] - facts["margin"]["is"])
    assert "none does beyond chance" in figures.answer(facts | {"predicts": False})
    assert facts["meaning"] in figures.MEANINGS.values() and facts["alone_networks"] == 17
    assert "Too few" in figures.answer(figures.facts(comparison.compared(runs[:12]), runs[:12]))
    assert "The “mixing" in figures.lessons(compared, runs)


def test_an_instrument_that_costs_as_much_as_the_attack_is_not_cheap(monkeypatch):
    monkeypatch.setattr(comparison, "ROUNDS", 20)
    runs = frame()
    for row in runs.seconds:
        row.update(dict.fromkeys(("mixing", "boxes", "gradient", "roby"), 50.0))
    assert comparison.best(comparison.compared(runs), runs)["instrument"] == "distance"


def test_values_that_are_missing_are_left_out(monkeypatch):
    monkeypatch.setattr(comparison, "ROUNDS", 20)
    runs = frame()
    runs.at[0, "transfer"] = np.full(60, np.nan)         # a network without re-trainings
    runs.at[1, "transfer"][7] = np.nan                   # an image without a box
    data = comparison.measured(runs)
    assert np.isnan(data.networks["transfer"][0]) and np.isfinite(data.networks["transfer"][1:]).all()
    assert comparison.complete(data.values["transfer"]).sum() == 54
    assert np.isclose(comparison.compared(runs).set_index("instrument").networks["transfer"], 1)


def test_no_runs_and_one_run_give_no_sentence():
    for runs in (pd.DataFrame(), frame()[:1]):
        assert figures.facts(comparison.compared(runs), runs) == {}
    assert claims.judged(pd.DataFrame()) == [] and figures.draw_networks(pd.DataFrame()) is None


# ---- claims ----------------------------------------------------------------------------------------------
def holds(runs):
    return dict(zip(claims.CLAIMS, (row[2] == row[3] if row[3] else None
                                     for row in claims.judged(runs))))


def test_claims_hold_and_fail_on_networks_of_others_alone():
    runs = frame()
    roby = dict(zip(runs.run, runs.roby))
    assert roby["he-robust-0"] < roby["he-natural-0"]
    assert holds(runs)["chen"] is None      # by less than trainings of one group differ
    runs.loc[runs.network == "he-robust", "roby"] = -100.0
    assert holds(runs) == dict.fromkeys(claims.CLAIMS, True)     # distances fall with the number of a network
    own = runs.copy()
    own.at[0, "example"] = np.ones((3, 60))             # architecture A of Ren et al. decides nothing
    assert holds(own)["ren"]
    place = {name: n for n, name in enumerate(runs.run)}
    for key, run, column, value in [
            ("ren", "shu-mlp-1", "example", np.stack([np.zeros(60), np.full(60, 0.6), np.zeros(60)])),
            ("shu", "ren-b-2", "least_other", np.full(60, 0.1)),
            ("he", "chen-robust-1-2", "distance", np.zeros(60)),
            ("sutton", "shu-lenet-0", "noise", [[False] * 60, [True] * 60]),
            ("chen", "he-robust-0", "roby", 1.0)]:
        changed = runs.copy()
        changed.at[place[run], column] = value
        assert holds(changed) == {k: k != key for k in claims.CLAIMS}, key


def test_on_how_many_cases_a_claim_holds_in_words():
    assert claims.where(1, 2, "pairs") == "1 of 2 pairs" and claims.where(0, 0, "pairs") == "open"


def test_a_claim_without_its_networks_is_open():
    runs = frame()
    few = runs[[n in ("ren-a", "chen-natural") for n in runs.network]].reset_index(drop=True)
    assert holds(few)["he"] is None and holds(few)["chen"] is None


def test_ranks_by_counts_are_those_of_the_drawn_values():
    rng = np.random.default_rng(0)
    a = rng.normal(size=200).round(1)       # with ties
    b = (a + rng.normal(size=200)).round(1)
    drawn = rng.integers(200, size=(30, 200))
    often = np.stack([np.bincount(places, minlength=200) for places in drawn])
    np.testing.assert_allclose(comparison._resampled(a, b, often), rank_correlations(a[drawn], b[drawn]))
    assert np.isnan(comparison._resampled(np.ones(200), b, often)).all()
