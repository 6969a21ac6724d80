"""The report card: what it measures, warns of, refuses, keeps and writes."""
import io
import json
import re
import sys
from functools import partial

import jupytext
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import shared
from report import git
from report.repository import ROOT
from shared.attacks.square import SquareSearch
from shared.attacks.threat import L2, Linf
from shared.card import Card, card, factory, images_of
from shared.card.command import main, run
from shared.card.instruments import SECTIONS, Section
from shared.card.measures import Difference, Measure, difference, holm, quantile, share
from shared.card.page import changed, classes, measured, strip
from shared.card.provenance import provenance, revision, weights
from shared.card.report import misleading
from shared.inference import adapt, label_margins
from shared.runtime import UserError
from shared.statistics import difference_interval, share_interval
from tests import cards
from tests.cards import first_pixels, fitted


@pytest.fixture(scope="module")
def network():
    return fitted()


@pytest.fixture(scope="module")
def all_images():
    return cards.all_images()


@pytest.fixture(scope="module")
def images():
    return cards.images()


@pytest.fixture(scope="module")
def both():
    return cards.both()


@pytest.fixture
def sections(monkeypatch):
    """`sections(0, 2)`: cards of the test have these sections alone; the others take long."""
    return lambda *places: monkeypatch.setattr("shared.card.report.SECTIONS", [SECTIONS[i] for i in places])


# ---- numbers ---------------------------------------------------------------------------------------------
def test_a_share_and_a_median_have_the_intervals_of_binomial_counts():
    part = share("a", "", torch.arange(10) < 3, torch.arange(10) < 8)
    assert part.n == 8 and part.value == 3 / 8 and part.images[8:] == [None, None]
    assert (part.low, part.high) == pytest.approx((0.0852, 0.7551), abs=1e-3)
    half = quantile("b", "", torch.tensor([*range(1, 26), torch.nan]), "L2")
    assert (half.value, half.low, half.high, half.n) == (13, 8, 18, 25)     # ranks 8 and 18 of 25
    assert quantile("c", "", torch.tensor([1.0, 2.0]), "L2").low is None    # two values have no interval


def test_a_difference_is_taken_on_the_same_images():
    draws = torch.Generator().manual_seed(0)
    first = Measure("a", "", 1.0, None, None, 3, "L2", images=[1.0, 1.0, 1.0, None])
    second = Measure("a", "", 3.0, None, None, 3, "L2", images=[3.0, 3.0, 3.0, 9.0])
    # A sign test of three images; without an interval of both medians there is none of their difference.
    assert difference(first, second, draws) == (2.0, None, None, 3, 0.25, 0.25)
    many = [quantile("a", "", torch.arange(8.0) + shift, "L2") for shift in (0, 2)]
    assert difference(*many, draws) == pytest.approx((2.0, 2.0, 2.0, 8, 2 / 256, 2 / 256))
    assert difference(first, Measure("a", "", 1.0, None, None, 1, images=[1.0]), draws) is None
    resampled = [Measure("r", "", value, None, None, 9, draws=[value - 0.1, value + 0.1])
                 for value in (1.0, 2.0)]
    assert difference(*resampled, draws)[:3] == pytest.approx((1.0, 1.0, 1.0))


def test_a_difference_of_shares_is_of_the_images_that_differ():
    counts = torch.tensor([36, 12, 2, 5])       # both, one, the other, neither
    hits = [share("a", "", torch.tensor(right).repeat_interleave(counts))
            for right in ([True, False, True, False], [True, True, False, False])]
    change = difference(*hits, None)
    assert change[:4] == (10 / 55, *difference_interval(12, 2, 55), 55) and 0.01 < change.p < 0.02


def test_holm_multiplies_the_smallest_probability_by_the_number_of_tests():
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx({"b": 0.03, "c": 0.06, "a": 0.06})
    assert holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0} and holm({}) == {}


@pytest.mark.parametrize("threat, near", [(Linf(0.2), 0.5), (L2(0.2 * 192**0.5), 0.4)])
def test_the_black_box_search_flips_what_a_linear_model_lets_it(threat, near):
    w, x = torch.randn(192, generator=torch.Generator().manual_seed(0)), torch.full((1, 3, 8, 8), 0.5)
    reach = threat.size * (w.abs().sum() if threat.norm == "Linf" else w.norm())    # most the logit can fall

    def success(part):
        result = SquareSearch(threat, queries=600)(lambda z: (z - 0.5).flatten(1) @ w + part * reach, x,
                                                   torch.ones(1, dtype=torch.int64), generator=0)
        assert result.passes == 600 or result.success and result.distance <= threat.size * (1 + 1e-5)
        return bool(result.success)
    assert success(near) and not success(1.01)


def test_a_comparison_has_one_set_of_images_a_row(both):
    assert all(a.n == both.measure("noisy", name).n for name, a in both.measures("plain").items())
    values = [np.array(both.measure(model, "cw_distance").images, float) for model in both.sections]
    assert (np.isnan(values[0]) == np.isnan(values[1])).all() and np.isnan(values[0]).any()
    for name in ("cw_distance", "transfer", "susceptible"):
        first, second = (both.measure(model, name) for model in both.sections)
        assert both.differences[name].value == pytest.approx(second.value - first.value)


def test_each_section_measures_both_models_with_intervals(both):
    for sections in both.sections.values():
        assert [s.title for s in sections[1:]] == [s.title for s in SECTIONS]
        assert [[m.name for m in s.measures] for s in sections[1:]] == [s.names.split() for s in SECTIONS]
        assert not [s.error for s in sections if s.error]
        for measure in (m for s in sections for m in s.measures if None not in (m.low, m.high)):
            assert measure.low <= measure.value <= measure.high, measure.name
    assert both.measure("plain", "accuracy").value > 0.8
    assert both.measure("plain", "pgd_accuracy").value <= both.measure("plain", "noise_accuracy").value
    flipped = [both.measure("plain", f"noise_{delta}").value for delta in (1, 2, 5, 10)]
    assert flipped == sorted(flipped)


def test_re_trainings_share_mistakes_or_do_not(network, images, sections):
    x, y = images
    sections(7)

    def nearest(z):     # its class is that of the clean image next to it: no small perturbation changes it
        distances = torch.cdist(z.flatten(1), x.flatten(1))
        return -torch.stack([distances[:, y == k].amin(1) for k in range(10)], 1)

    def values(other):
        report = card(network, x, y, images=10, retrained=[other])
        return [report.measure("model", name).value for name in (
            "transfer", "alarm_adversarial", "region", "region_transfer")]
    transfer, alarm, region, region_transfer = values(network)
    assert (transfer, alarm) == (1, 0) and region == region_transfer > 0.5
    assert values(nearest) == [0, 1, region, 0]


def test_the_nearest_adversarial_images_of_a_linear_model_are_as_near_as_in_closed_form(sections):
    sections(2)
    draws = torch.Generator().manual_seed(0)
    w, x = torch.randn(10, 192, generator=draws), 0.5 + 0.1 * torch.randn(20, 3, 8, 8, generator=draws)

    def linear(images):
        return images.flatten(1) @ w.T
    x = x.clamp(0, 1)
    scores = linear(x)
    y = scores.argmax(1)
    distances = (scores.amax(1, keepdim=True) - scores) / (w[y][:, None] - w).norm(dim=2)
    exact = distances.scatter(1, y[:, None], torch.inf).amin(1).quantile(0.5)
    assert card(linear, x, y).measure("model", "cw_distance").value == pytest.approx(float(exact), rel=0.1)


def test_sizes_of_perturbations_grow_with_the_image(sections):
    sections(2, 5)
    report = card(first_pixels, torch.rand(4, 1, 7, 7), torch.arange(4))
    assert "uniform windows" in report.measure("model", "borderline_similarity").label
    # Of a 16th of the pixels of a digit, for which the size is 1.5.
    assert "(L2 ≤ 0.375)" in report.measure("model", "cw_accuracy").label


def test_size_norm_restarts_and_window_are_settings(network, images, sections):
    sections(1, 2, 5)
    report = card(network, *images, images=np.int64(4), eps=8 / 255, norm="L2", restarts=2,
                  ssim_convention="skimage")
    there = report.measures("model")
    assert "(L2 ≤ 0.0314, 20 steps, 2 starts)" in there["pgd_accuracy"].label
    assert "(L2 ≤ 0.0314, 120 forward passes)" in there["black_box_accuracy"].label
    assert "Carlini-Wagner" in there["worst_accuracy"].label and "worst_accuracy_l2" not in there
    assert "scikit-image" in there["borderline_similarity"].label
    assert "shown: they were measured with norm L∞, size 0.1, starts of PGD 5, window of" in report.html()
    assert "<th>size</th><td>0.0314</td>" in report.html()     # in L2 no 255th
    report = card(first_pixels, *images, images=4, eps=8 / 255)
    assert "L∞ ≤ 8/255" in repr(report) and "<td>8/255</td>" in report.html()
    small = card(first_pixels, torch.rand(4, 1, 7, 7), torch.arange(4), images=4, restarts=1)
    assert "No known networks are shown: none has images of this size." in small.html()


def test_what_a_card_rests_on_stands_in_it(both, network, images):
    origin = both.provenance
    assert {"date", "version", "revision", "torch", "device", "data", "weights", "attacks"} <= origin.keys()
    assert len(set(origin["weights"].values())) == 2
    assert "PGD(threat=Linf(size=0.1" in origin["attacks"]["pgd"]
    assert origin["version"] in origin["cite"] and origin["weights"]["plain"] in origin["cite"]
    assert all(value in both.html() for value in (origin["date"], origin["data"], origin["revision"]))
    assert origin["version"] == shared.__version__
    other = provenance({"plain": network, "f": first_pixels}, 1 - images[0], images[1], both.settings, {})
    assert other["weights"] == {"plain": origin["weights"]["plain"], "f": "a function"}
    assert other["data"] != origin["data"]
    assert weights(adapt(network)) != weights(adapt(network, mean=(0.5,), std=(0.5,)))


@pytest.mark.parametrize("inside, book, expected", [
    (False, True, "[0-9a-f]{7,}"), (True, True, "unknown"), (False, False, "unknown")])
def test_the_revision_is_the_book_s_and_not_that_of_a_repository_around_it(tmp_path, monkeypatch, inside,
                                                                           book, expected):
    """Of a copy of the book, or of the package alone, that is committed with a reader's own work."""
    tree = tmp_path / "theirs/book" if inside else tmp_path / "theirs"
    for name in ("shared/__init__.py", *["workflow/versions.py"] * book):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "theirs"]):
        git.git("-c", "user.name=a", "-c", "user.email=a@b.c", *words, folder=tmp_path / "theirs")
    monkeypatch.setattr("shared.card.provenance.PACKAGE", tree / "shared")
    assert re.fullmatch(expected, revision())
    (tree / "shared/__init__.py").write_text("1")
    assert re.fullmatch(expected if expected == "unknown" else rf"{expected}\+changes", revision())


def test_the_card_has_a_short_name(sections):
    sections(0)
    assert shared.card(first_pixels, torch.rand(4, 1, 7, 7), torch.arange(4), images=2).measures("model")


# ---- warnings --------------------------------------------------------------------------------------------
def warned(report):
    """The names of a card's warnings."""
    return {name.partition(":")[0] for _, name in report.warnings}


@pytest.mark.parametrize("wrapped, name", [
    (lambda model: lambda x: model(x).round() + 0 * x.sum(), "no-gradient"),
    (lambda model: lambda x: model(x).detach(), "no-gradient"),
    (lambda model: lambda x: model(x + 0 * (x - x).sqrt()), "no-gradient"),     # not a number
    (lambda model: lambda x: torch.cat([model(x), model(x)[:, :2] - 100], 1), "missing-classes"),
    (lambda model: lambda x: 1e-3 * model(x) + torch.eye(10)[3], "no-better-than-chance"),
])
def test_what_a_model_does_wrong_is_warned_of_by_name(network, images, sections, wrapped, name):
    sections(0, 1)
    report = card(wrapped(network), *images, images=8)
    assert name in warned(report) and f"warning {name}, model: " in repr(report)
    assert not any("\n" in text for text in report.warnings.values())


def test_an_attack_weaker_than_noise_is_warned_of(network, all_images, sections):
    sections(1, 2)
    x, y = all_images
    margin = label_margins(network(x).detach(), y)
    near = margin.masked_fill(margin <= 0, torch.inf).argsort()[:16]    # those that noise can flip

    def climbing(a):    # its gradient points away from where labels change
        scores = network(a)
        return 2 * scores.detach() - scores
    assert "attack-weaker-than-noise" in warned(card(climbing, x[near], y[near]))


def test_masked_gradients_are_warned_of_and_the_worst_case_counts(network, images, sections):
    sections(1)

    def masked(z):
        return network(z + 0.03 * torch.sin(700 * z))
    report = card({"plain": network, "masked": masked}, *images, images=40)
    values = {name: m.value for name, m in report.measures("masked").items()}
    assert values["worst_accuracy"] <= values["black_box_accuracy"] < values["pgd_accuracy"] - 0.2
    assert ("masked", "attack-weaker-than-black-box") in report.warnings and report.misled == ["masked"]
    assert "Its gradients mislead" in report.headlines[1] and "mislead" not in report.headlines[0]
    assert report.beyond_chance("pgd_accuracy") and report.more_robust is None      # which proves nothing
    assert "pgd_accuracy" not in [name for name, *_ in report.preferences]
    assert report.verdict.startswith("Worst case: ")


def part(name, hits, label=""):
    return share(name, label, torch.arange(100) < hits)


@pytest.mark.parametrize("first, second, name", [
    (part("noise_accuracy", 90), part("pgd_accuracy", 91), "attack-weaker-than-noise"),
    (part("noise_accuracy_l2", 94), part("cw_accuracy", 97), "attack-weaker-than-noise"),
    (part("black_box_accuracy", 50), part("pgd_accuracy", 51), "attack-weaker-than-black-box"),
    (part("noise_1", 80), part("noise_2", 90), "noise-as-good-as-gradient")])
def test_all_sections_together_show_that_gradients_mislead(first, second, name):
    assert list(misleading({m.name: m for m in (first, second)})) == [name]
    rightly = {first.name: part(first.name, 40), second.name: part(second.name, 40)}
    assert misleading(rightly) == {}


def test_a_search_without_an_example_is_warned_of(network, images, sections):
    sections(2)

    def flat(z):        # beyond a short way from the image nothing falls any more
        return 1e-6 * network(z)
    report = card(flat, *images, images=16)
    assert "no-example" in warned(report)
    assert "Carlini-Wagner search ended without" in report.warnings["model", "no-example"]




def card_of(settings=None, images=None, **models):
    """A card of these measures of each model, or of `(measures, curves, warnings)`."""
    settings = {"images": 30, "all": 300, "norm": "Linf", "eps": 0.1} | (settings or {})
    parts = {name: given if isinstance(given, tuple) else (given, [], {}) for name, given in models.items()}
    return Card({name: [Section("a", "", measures, warnings=warnings, pictures={"curves": curves})]
                 for name, (measures, curves, warnings) in parts.items()}, settings, images=images or {})


def curve(attack, *points, n=30):
    return {"attack": attack, "norm": "Linf", "points": [
        {"size": size, "value": count / n, "low": 0, "high": 1, "n": n} for size, count in points]}


def test_a_search_without_an_example_is_told_what_pgd_finds():
    report = card_of(m=([], [curve("PGD", (0, 30), (0.4, 3))], {"no-example": "Ended."}))
    assert report.warnings["m", "no-example"].startswith("Ended. PGD with L∞ ≤ 0.4 flips 27 of 30 labels")


def test_the_sentence_to_quote_names_the_search_that_found_no_example():
    part_of = [part("accuracy", 90), part("worst_accuracy", 50)]
    of_line = card_of(m=(part_of, [], {"no-example": "LineSearch: the search ended without an example."}))
    of_search = card_of(m=(part_of, [], {"no-example": "The Carlini-Wagner search ended without one."}))
    assert "Carlini-Wagner" not in of_line.headlines[0] and "Carlini-Wagner" in of_search.headlines[0]


def test_few_images_are_warned_of_with_their_cause():
    noise = curve("noise", (0, 5), (0.1, 4))
    few = card_of(m=([part("accuracy", 46)], [noise], {})).warnings["m", "few-images"]
    assert few == (
        "Attacked images that are correct without perturbation: 5 of 30 (m); 67 would give intervals of at "
        "most 25 points. Take images=200 (IMAGES=200 of make card), of which about 92 are correct, in about "
        "0 min.")
    noise = curve("noise", (0, 67), (0.1, 27), n=90)
    assert "few-images" not in warned(card_of(m=([part("accuracy", 95)], [noise], {})))
    widest = [max(np.subtract(*share_interval(k, n)[::-1]) for k in range(n)) for n in (67, 66)]
    assert widest[0] <= 0.25 < widest[1]


@pytest.mark.parametrize("n, words", [(4, "too few images <small>(n&nbsp;=&nbsp;4)"), (5, "<b>100.0%</b>")])
def test_a_number_of_very_few_images_is_not_shown(n, words):
    assert words in measured(share("x", "", torch.ones(n) == 1))
    one = quantile("y", "", torch.arange(float(n)), "L2", 0.1)      # too few for an interval
    assert not one.drawn and quantile("y", "", torch.arange(6.0), "L2").drawn


def test_low_accuracy_and_classes_without_a_correct_image_are_warned_of():
    labels = [0] * 50 + [1] * 30 + [2] * 20
    images = {"labels": labels, "attacked": [*range(0, 100, 10)]}
    report = card_of(images=images, m=[part("accuracy", 46)])
    assert report.warnings["m", "low-accuracy"].startswith(
        "Without perturbation 46.0% of 100 images and none of 30 images of class 1 and none of 20 images of")
    assert "low-accuracy" not in warned(card_of(images=images, m=[part("accuracy", 90)]))
    attacked = share("worst_accuracy", "", torch.ones(10) == 1)     # too few of each class
    many = classes(card_of(images=images, m=[part("accuracy", 90), attacked]))
    assert many.count("<th>class ") == 3 and "worst case" not in many


@pytest.mark.parametrize("worst, noise, weak", [(90, 90, True), (89, 90, False), (0, 0, False)])
def test_an_attack_as_weak_as_noise_is_no_evidence(worst, noise, weak):
    report = card_of(m=[part("worst_accuracy", worst, "correct under PGD"), part("noise_accuracy", noise)])
    assert ("or the attacks fail on it" in report.headlines[0]) == weak
    assert report.as_noise("m") == ["worst_accuracy"] * weak


def two(n, ups):
    """A card of two models that differ in the worst case and PGD on all of n images, in two rows on `ups`."""
    none, some = torch.zeros(n) == 1, torch.arange(n) < ups
    rows = (("worst_accuracy", ~none), ("pgd_accuracy", ~none), ("cw_accuracy", some),
            ("boundary_censored", none))
    return card_of(a=[share(name, name, none, better="higher") for name, _ in rows],
                b=[share(name, name, hits, better="higher") for name, hits in rows])


def test_the_worst_case_is_tested_alone_and_too_few_images_decide_nothing():
    report = two(6, 5)
    assert report.compared == {"worst_accuracy": 1 / 32, "cw_accuracy": 1 / 16}     # PGD: the same images
    assert report.more_robust == "b" and report.undecided("worst_accuracy") == ""
    assert report.undecided("cw_accuracy") == "within chance" and report.undecided("pgd_accuracy") == ""
    assert report.undecided("boundary_censored") == "within chance"
    assert "Worst case: too few images to decide." in two(5, 5).verdict
    assert two(7, 6).verdict == (
        "b is more robust in the worst case, beyond chance. Other measures under attack beyond chance: b, "
        "cw_accuracy.")
    rows = card_of(a=[part(name, 0) for name in "xyz"], b=[part("x", 5), part("y", 6), part("z", 7)])
    for m in rows.sections["a"][0].measures:
        m.better = "higher"
    assert rows.undecided("y") == "within chance among 3 tests" and "; within chance" in changed(
        rows, rows.measure("a", "y"))


def test_only_a_difference_beyond_chance_disagrees(both):
    report = Card(both.sections, both.settings)
    report.differences = {
        "worst_accuracy": Difference(0.2, 0.1, 0.3, 9, 0.001),
        "boundary_distance": Difference(-0.1, -0.2, -0.05, 9, 0.001),
        "borderline_similarity": Difference(-0.1, -0.2, -0.05, 9, 0.001),
        "cw_distance": Difference(-0.1, -0.2, 0.1, 9, 0.5),
        "accuracy": Difference(-0.1, -0.2, -0.05, 9, 0.03)}     # Holm: 2 x 0.03, beside three others
    warning = report.warnings["both", "rank-disagrees"]
    assert "nearest boundary" in warning and "similarity" not in warning and "perturbation" not in warning
    assert "classified correctly" not in warning and report.more_robust == "noisy"
    assert "with Holm's correction" in report.html() and "over images alone" in report.html()
    alone = Card(both.sections, both.settings)      # what no attack agrees with makes no model better
    alone.differences = {"overlap": Difference(-0.1, -0.2, -0.05, 9, 0.001)}
    assert "Other measures under attack beyond chance: none." in alone.html()


def test_attacks_that_disagree_are_both_told():
    def model(worst, search):
        return [part(name, n, name) for name, n in (("worst_accuracy", worst), ("cw_accuracy", search))]

    report = card_of(a=model(90, 10), b=model(50, 90))
    for m in (m for sections in report.sections.values() for m in sections[0].measures):
        m.better = "higher"
    assert report.verdict == (
        "a is more robust in the worst case, beyond chance. Other measures under attack beyond chance: b, "
        "cw_accuracy.")
    assert ("both", "rank-disagrees") not in report.warnings


def test_a_section_that_fails_says_why_and_the_others_go_on(network, images, sections):
    sections(0, 1, 4)

    def failing(x):
        if x.requires_grad or len(x) == 40:     # in Accuracy alone all images are there
            raise RuntimeError("no backward pass here")
        return network(x)
    report = card(failing, *images, images=8)
    there = {s.title: s for s in report.sections["model"]}
    assert "model: not measured, Perturbations of one size: RuntimeError: no backward" in repr(report)
    assert "no backward pass here" in there["Perturbations of one size"].error
    assert there["Boundary distances"].measures and not there["Boundary distances"].error
    # What was measured before the error stays, and is in the worst case.
    assert [m.name for m in there["Perturbations of one size"].measures] == [
        "black_box_accuracy", "noise_accuracy"]
    assert report.measure("model", "worst_accuracy").label.startswith(
        "correct under each of a black-box search (300 forward passes) and 100 draws of noise (")
    assert not there["Accuracy"].measures and "<h2>Classes" not in report.html()


@pytest.mark.parametrize("wrapped, message", [
    (lambda model: lambda x: model(x).softmax(1), "b: the model returns probabilities"),
    (lambda model: lambda x: model(x) + torch.randn(len(x), 10), "b: the model gives different logits"),
    (lambda model: lambda x: model(x) / 0, "b: the model returns nan"),
    (lambda model: lambda x: model(x)[:, :3], "b: labels lie in 0..9, but the model has 3 classes"),
    (lambda model: lambda x: model(x[:, :, 3:]), "b gives no logits of these images: RuntimeError")])
def test_a_model_that_cannot_be_measured_is_refused_before_anything_is(network, images, wrapped, message):
    lines = []
    with pytest.raises(UserError, match=re.escape(message)) as error:
        card({"a": network, "b": wrapped(network)}, *images, images=8, log=lines.append)
    assert not lines and "\n" not in str(error.value)


# ---- files and command -----------------------------------------------------------------------------------
def test_a_card_goes_on_where_it_was_stopped(network, images, tmp_path, sections):
    sections(*(kept := [0, 2, 4]))
    file, calls, last = tmp_path / "part.json", [], torch.inf

    def counted(x):
        calls.append(len(x))
        if len(calls) == last:
            raise KeyboardInterrupt
        return network(x)
    whole = card(counted, *images, images=8)
    spent, lines = len(calls), []
    last = 2 * spent - 3
    with pytest.raises(KeyboardInterrupt):
        card(counted, *images, images=8, file=file, log=lines.append)
    last, calls[:] = torch.inf, []
    assert [line.split(",")[0] for line in lines] == [
        f"model: {SECTIONS[i].title}" for i in kept[:len(lines)]]
    assert repr(card(counted, *images, images=8, file=file)) == repr(whole)
    assert 1 < len(calls) < spent / 4
    for text in ("{", "[1, 2]", '{"lr": {"warm": 0.1}}', '{"lr": 0.1}'):     # no such file, or a reader's own
        file.write_text(text)
        with pytest.raises(UserError, match="no card to go on with"):
            card(network, *images, file=file)
        assert file.read_text() == text


def test_the_page_needs_nothing_from_elsewhere(both, images, tmp_path, sections):
    sections(0)
    both.save(tmp_path / "card.html")
    text = (tmp_path / "card.html").read_text()
    elsewhere = r'src="(?!data:image/png)|href=|https?:|url\(|@import|<(script|link)'
    assert len(text) < 3e6 and not re.search(elsewhere, text)
    assert "prefers-color-scheme:dark" in text and "plain" in text
    saved = json.loads((tmp_path / "card.json").read_text())
    numbers = {m["name"]: m["value"] for s in saved["sections"]["plain"] for m in s["measures"]}
    assert numbers == {m.name: m.value for s in both.sections["plain"] for m in s.measures}
    x, y = images
    assert "<script>" not in card({"<script>": first_pixels}, x[:4], y[:4], images=4).html()


def test_known_networks_are_dots_beside_the_model():
    html = strip("accuracy", "%", [(0.5, "red")], {"a": {"accuracy": 0.2}, "b": {"accuracy": 0.8}, "c": {}})
    assert html.count("<circle") == 2 and html.count("<path") == 1 and "20.0%" in html
    assert strip("accuracy", "%", [(0.5, "red")], {}) == ""


@pytest.fixture
def folder(network, images, tmp_path, monkeypatch, sections):
    """A reader's folder: a module, weights, data."""
    sections(0, 1, 7)
    (tmp_path / "mymodel.py").write_text(
        "from torch import nn\n\n\ndef make():\n"
        "    return nn.Sequential(nn.AvgPool2d(3, 3), nn.Flatten(), nn.Linear(81, 10))\n\n\n"
        "def wide():\n    return nn.Conv2d(3, 4, 3)\n\n\n"
        "def few():\n    return nn.Sequential(nn.Flatten(), nn.Linear(784, 3))\n")
    save_file(network.state_dict(), tmp_path / "net.safetensors")
    save_file({"0.weight": torch.zeros(3)}, tmp_path / "other.safetensors")
    np.savez(tmp_path / "images.npz", x=(255 * images[0][:, 0]).byte().numpy(), y=images[1].numpy())
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


RIGHT = ("mymodel:make", "--weights", "net.safetensors", "--data", "images.npz", "--images", "8")


def test_the_command_writes_a_card_and_checks_conditions(folder, capsys):
    assert main([*RIGHT, "--check", "accuracy>=0.5"]) == 0
    assert {"card.html", "card.json"} <= {p.name for p in folder.iterdir()}
    assert not list(folder.glob("*.part.json"))
    assert main([*RIGHT, "--check", "accuracy>=0.5, pgd_accuracy>0.999"]) == 2
    output = capsys.readouterr().out
    assert "check failed, net: pgd_accuracy" in output and "net: Perturbations of one size, " in output
    text = (folder / "card.html").read_text()
    assert "<b>Check passed</b> (net): accuracy" in text and "<b>Check failed</b> (net): pgd_accuracy" in text
    assert [c["met"] for c in json.loads((folder / "card.json").read_text())["checks"]] == [True, False]
    assert main([*RIGHT, "--about", "licence=MIT", "training data=digits = 8 x 8"]) == 0
    assert "<th>training data</th><td>digits = 8 x 8</td>" in (folder / "card.html").read_text()
    assert main([*RIGHT, "--retrained", "net.safetensors", "--check", "transfer>=1, alarm_clean<=0"]) == 0


@pytest.mark.parametrize("words", [
    ["mymodel:make", "--weights", "net.pt"], ["mymodel:make", "--weights", "whole.pt"],
    ["elsewhere/theirs.py:halved", "--weights", "net.pt"],
    ["elsewhere/theirs.py:halved", "--weights", "adapted.safetensors"],
    ["elsewhere/theirs.py:plain", "--weights", "net.pt", "--mean", "0.5", "--std", "1/2"]])
def test_weights_come_from_pytorch_too_and_go_into_adapted_models(folder, network, words):
    """All of these are one model: 2 z - 1 shifts and scales the logits of `network` alone."""
    for path, state in (("net.pt", network.state_dict()), ("whole.pt", {"epoch": 3, "state_dict": {
            f"module.{name}": value for name, value in network.state_dict().items()}})):
        torch.save(state, folder / path)
    save_file({f"model.{k}": v for k, v in network.state_dict().items()}, folder / "adapted.safetensors")
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/theirs.py").write_text(
        "from mymodel import make as plain\nfrom shared.inference import adapt\n\n\n"
        "def halved():\n    return adapt(plain(), mean=(0.5,), std=(0.5,))\n")
    name, _, weights, *more = words
    mean, std = ([0.5], [0.5]) if more else (None, None)
    model, x = factory(name, weights, mean, std), images_of("images.npz")[0] / 255
    expected = network(2 * x - 1) if "theirs" in name else network(x)
    assert torch.allclose(model(x), expected, atol=1e-4)


def test_files_of_one_name_in_two_folders_are_two_models(folder):
    for name, few in (("one", 2), ("two", 3)):
        (folder / name).mkdir()
        (folder / name / "net.py").write_text(f"def make():\n    return lambda x: x.flatten(1)[:, :{few}]")
    models = [factory(f"{name}/net.py:make") for name in ("one", "two")]
    assert [len(model(torch.rand(1, 1, 5, 5))[0]) for model in models] == [2, 3]


def test_what_is_wrong_is_told_before_the_first_instrument(folder, monkeypatch):
    monkeypatch.setattr("shared.card.command.card", None)
    for words, message in (
            ([*RIGHT, "--check", "pgd_acuracy>=0.3"], "no measure 'pgd_acuracy'; there are: accuracy, cal"),
            ([*RIGHT, "--check", "transfer<=1"], "no measure 'transfer'"),      # there are no re-trainings
            ([*RIGHT, "--about", "MIT"], "about 'MIT': write field=text"),
            ([*RIGHT, "--out", "card.pdf"], "a name that ends in .html"), (["mymodel:make"], "no data"),
            ([], "no model: MODEL="), ([*RIGHT, "--eps", "x"], "argument --eps: invalid"),
            ([*RIGHT, "--norm", "L3"], "argument --norm: invalid choice")):
        with pytest.raises(UserError, match=re.escape(message)) as error:
            main(words)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b'{"rate": 0.1}', b"[1]", b"3", b"\xff", b""])
def test_a_file_of_a_reader_s_beside_the_card_is_left_as_it_is(folder, monkeypatch, both, content):
    """Nobody has named the JSON file that a card writes beside its page."""
    (folder / "net.json").write_bytes(content)
    monkeypatch.setattr("shared.card.command.card", None)
    for save in (lambda: main([*RIGHT, "--out", "net.html"]), lambda: both.save("net.html")):
        with pytest.raises(UserError, match="net.json: .*; move it, or take another name") as error:
            save()
        assert "\n" not in str(error.value) and (folder / "net.json").read_bytes() == content
    assert not (folder / "net.html").exists()


def test_the_page_refuses_weights_without_a_model_in_one_line():
    page = jupytext.read(ROOT / "notebooks/report_card/report_card.py")
    code, = (cell.source for cell in page.cells if "factory(" in cell.source)
    with pytest.raises(UserError, match="weights without a model; add -p model"):
        exec(code, {"weights": "net.safetensors", "model": "", "UserError": UserError})


def test_an_error_at_the_end_keeps_what_was_measured(folder, monkeypatch, capsys):
    (folder / "card.html").mkdir()      # so that the card cannot be written
    with pytest.raises(UserError, match="cannot be written"):
        main(list(RIGHT))
    (folder / "card.html").rmdir()
    monkeypatch.setattr("shared.card.report.section", None)     # nothing is measured again
    assert main(list(RIGHT)) == 0 and not (folder / "card.part.json").exists()


def test_a_terminal_without_these_letters_shows_others(folder, monkeypatch):
    shown = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    monkeypatch.setattr(sys, "argv", ["card", *RIGHT])
    with pytest.raises(SystemExit, match="^0$"):
        run()
    shown.flush()
    assert b"(L? ? 0.1" in shown.buffer.getvalue()


@pytest.mark.parametrize("words, message", [
    (["nothing:make", *RIGHT[1:]], "model 'nothing:make'"),
    (["mymodel", *RIGHT[1:]], "model 'mymodel'"),
    (["mymodel:wide", "--data", "images.npz"], "mymodel:wide gives no logits of these images: RuntimeError"),
    (["mymodel:few", "--data", "images.npz"], "labels lie in 0..9, but the model has 3 classes"),
    ([RIGHT[0], "--weights", "other.safetensors", *RIGHT[3:]], "weights other.safetensors: RuntimeError"),
    ([*RIGHT, "--retrained", "absent.safetensors"], "weights absent.safetensors"),
    (["mymodel:other", *RIGHT[1:]], "model 'mymodel:other'"),
    ([RIGHT[0], "--weights", "images.npz", *RIGHT[3:]], "weights images.npz"),
    ([*RIGHT[:4], "absent.npz"], "data absent.npz"),
    ([*RIGHT, "--check", "beauty>=1"], "no measure 'beauty'; there are: accuracy"),
    ([*RIGHT, "--check", "accuracy=1"], "write name>=number"),
    (["mymodel:make", "mymodel:make", "mymodel:make", *RIGHT[1:]], "one model, or two"),
    ([*RIGHT[:5], "--images", "0"], "images=0"),
    ([*RIGHT[:2], "net.safetensors", "net.safetensors", *RIGHT[3:]], "2 files of weights for 1 models"),
])
def test_bad_input_is_one_line(folder, words, message):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        main(words)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("call, message", [
    (partial(card, {}), "one model, or two"),
    (lambda x, y: card(nn.Identity(), x[0], y), "images [N, C, H, W]"),
    (lambda x, y: card(nn.Identity(), x, y[:3]), "[3]"),
    (lambda x, y: card(nn.Identity(), x, y.float()), "float32"),
    (lambda x, y: card(nn.Identity(), 255 * x, y), "divide 0..255 by 255"),
    (lambda x, y: card(nn.Identity(), x / 0, y), "nan or infinite in"),
    (partial(card, first_pixels, seed=None), "seed=None; a whole number is needed"),
    (partial(card, first_pixels, images=5.0), "images=5.0; a whole number from 1 is needed"),
    (partial(card, first_pixels, restarts=0), "restarts=0; a whole number from 1"),
    (partial(card, first_pixels, eps=0), "eps=0; a number above 0"),
    (partial(card, first_pixels, norm="l2"), "norm='l2'; allowed: Linf, L2"),
    (partial(card, first_pixels, ssim_convention="box"), "ssim_convention='box'; allowed: matlab"),
    (partial(card, first_pixels, retrained={"b": [first_pixels]}), "retrained has b; the names are: model"),
    (lambda x, y: card(nn.Identity(), x, y, retrained=nn.Sequential(nn.ReLU())), "a list of models")])
def test_bad_images_are_one_line(images, call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call(*images)
