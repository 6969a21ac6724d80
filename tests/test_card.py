"""The report card: what it measures, warns of, refuses, keeps and writes."""
import json
import re
from functools import partial

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import shared
from shared.attacks.square import SquareSearch
from shared.attacks.threat import L2, Linf
from shared.card import Card, card
from shared.card.command import main
from shared.card.instruments import SECTIONS
from shared.card.measures import Difference, Measure, difference, holm, quantile, share
from shared.card.page import strip
from shared.data.standins import digits
from shared.inference import label_margins
from shared.runtime import UserError


def fitted(noise=0.0):
    """A linear network on 8 by 8 digits, trained for a second."""
    arrays = digits()
    x, y = (torch.as_tensor(arrays[k]) for k in ("x_train", "y_train"))
    network = nn.Sequential(nn.AvgPool2d(3, 3), nn.Flatten(), nn.Linear(81, 10))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network[2].reset_parameters()
        optimiser = torch.optim.Adam(network.parameters(), lr=0.05)
        for _ in range(60):
            loss = nn.functional.cross_entropy(network(x / 255 + noise * torch.randn(x.shape)), y)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return network.eval()


@pytest.fixture(scope="module")
def network():
    return fitted()


@pytest.fixture(scope="module")
def all_images():
    """500 digits and their labels."""
    arrays = digits()
    return torch.as_tensor(arrays["x_test"]) / 255, torch.as_tensor(arrays["y_test"])


@pytest.fixture(scope="module")
def images(all_images):
    """40 digits of all classes and their labels."""
    return tuple(part[:40] for part in all_images)


@pytest.fixture(scope="module")
def both(network, images):
    return card({"plain": network, "noisy": fitted(0.5)}, *images, images=16, retrained=[fitted(0.1)])


def first_pixels(x):
    """A model of ten classes that takes no time."""
    return x.flatten(1)[:, :10]


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
    assert difference(first, second, draws) == (2.0, 2.0, 2.0, 3, 0.25)     # a sign test of three images
    assert difference(first, Measure("a", "", 1.0, None, None, 1, images=[1.0]), draws) is None
    resampled = [Measure("r", "", value, None, None, 9, draws=[value - 0.1, value + 0.1])
                 for value in (1.0, 2.0)]
    assert difference(*resampled, draws)[:3] == pytest.approx((1.0, 1.0, 1.0))


@pytest.mark.parametrize("both, one, other, neither, low, high", [
    (36, 12, 2, 0, 0.0569, 0.3404), (36, 14, 0, 0, 0.1528, 0.4167),     # Newcombe 1998, method 10
    (93, 4, 0, 3, -0.0069, 0.0995)])    # four images that differ: an exact sign test gives 0.125
def test_a_difference_of_paired_shares_has_newcombes_interval(both, one, other, neither, low, high):
    counts = torch.tensor([both, one, other, neither])
    hits = [share("a", "", torch.tensor(right).repeat_interleave(counts))
            for right in ([True, False, True, False], [True, True, False, False])]
    assert difference(*hits, None)[1:4] == pytest.approx((low, high, int(counts.sum())), abs=1e-4)


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


def test_re_trainings_share_mistakes_or_do_not(network, images):
    x, y = images

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


def test_the_nearest_adversarial_images_of_a_linear_model_are_as_near_as_in_closed_form():
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


def test_sizes_of_perturbations_grow_with_the_image():
    report = card(first_pixels, torch.rand(4, 1, 7, 7), torch.arange(4))
    # Of a 16th of the pixels of a digit, for which the size is 1.5.
    assert "(L2 ≤ 0.375)" in report.measure("model", "cw_accuracy").label


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
def test_what_a_model_does_wrong_is_warned_of_by_name(network, images, monkeypatch, wrapped, name):
    monkeypatch.setattr("shared.card.report.SECTIONS", SECTIONS[:2] + SECTIONS[4:])  # the others take long
    report = card(wrapped(network), *images, images=8)
    assert name in warned(report) and f"warning {name}, model: " in repr(report)
    assert not any("\n" in text for text in report.warnings.values())


def test_an_attack_weaker_than_noise_is_warned_of(network, all_images):
    x, y = all_images
    margin = label_margins(network(x).detach(), y)
    near = margin.masked_fill(margin <= 0, torch.inf).argsort()[:16]    # those that noise can flip

    def climbing(a):    # its gradient points away from where labels change
        scores = network(a)
        return 2 * scores.detach() - scores
    assert "attack-weaker-than-noise" in warned(card(climbing, x[near], y[near]))


def test_few_images_are_warned_of(network, images):
    assert "few-images" in warned(card(network, *images, images=8))


def test_a_metric_that_disagrees_with_the_attack_is_warned_of(network, images):
    def masked(x):      # its logits change with noise in the corner, black in every digit; no gradient
        return network(x).round() + (10 * x[:, 0, 0, :10]).round() + 0 * x.sum()
    report = card({"plain": network, "masked": masked}, *images, images=40)
    assert report.differences["worst_accuracy"].low > 0
    assert "nearest boundary" in report.warnings["both", "rank-disagrees"]


def test_only_a_difference_beyond_chance_disagrees(both):
    report = Card(both.sections, both.settings)
    report.differences = {
        "worst_accuracy": Difference(0.2, 0.1, 0.3, 9, 0.001),
        "boundary_distance": Difference(-0.1, -0.2, -0.05, 9, 0.001),
        "borderline_similarity": Difference(-0.1, -0.2, -0.05, 9, 0.001),
        "cw_distance": Difference(-0.1, -0.2, 0.1, 9, 0.5),
        "accuracy": Difference(-0.1, -0.2, -0.05, 9, 0.03)}     # Holm: 2 x 0.03
    warning = report.warnings["both", "rank-disagrees"]
    assert "nearest boundary" in warning and "similarity" not in warning and "norm" not in warning
    assert "classified correctly" not in warning and report.more_robust == "noisy"
    assert "Holm's correction for 5 measures" in report.html() and "over images alone" in report.html()


def test_a_section_that_fails_says_why_and_the_others_go_on(network, images):
    def failing(x):
        if x.requires_grad:
            raise RuntimeError("no backward pass here")
        return network(x)
    report = card(failing, *images, images=8)
    sections = {s.title: s for s in report.sections["model"]}
    assert "model: not measured, Perturbations of one size: RuntimeError: no backward" in repr(report)
    assert "no backward pass here" in sections["Perturbations of one size"].error
    assert sections["Boundary distances"].measures and not sections["Boundary distances"].error


# ---- files and command -----------------------------------------------------------------------------------
def test_a_card_goes_on_where_it_was_stopped(network, images, tmp_path):
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
    assert [line.split(",")[0] for line in lines] == [f"model: {s[0]}" for s in SECTIONS[:len(lines)]]
    assert repr(card(counted, *images, images=8, file=file)) == repr(whole)
    assert 1 < len(calls) < spent / 4
    file.write_text("{")
    with pytest.raises(UserError, match="no card to go on with"):
        card(network, *images, file=file)


def test_the_page_needs_nothing_from_elsewhere(both, images, tmp_path):
    both.save(tmp_path / "card.html")
    text = (tmp_path / "card.html").read_text()
    assert len(text) < 3e6 and not re.search(r"(src|href)=|https?:|url\(|@import|<(script|link)", text)
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
def folder(network, images, tmp_path, monkeypatch):
    """A reader's folder: a module, weights, data."""
    (tmp_path / "mymodel.py").write_text(
        "from torch import nn\n\n\ndef make():\n"
        "    return nn.Sequential(nn.AvgPool2d(3, 3), nn.Flatten(), nn.Linear(81, 10))\n\n\n"
        "def wide():\n    return nn.Conv2d(3, 4, 3)\n\n\n"
        "def few():\n    return nn.Sequential(nn.Flatten(), nn.Linear(784, 3))\n")
    save_file(network.state_dict(), tmp_path / "net.safetensors")
    save_file({"0.weight": torch.zeros(3)}, tmp_path / "other.safetensors")
    np.savez(tmp_path / "images.npz", x=(255 * images[0][:, 0]).byte().numpy(), y=images[1].numpy())
    monkeypatch.chdir(tmp_path)
    return tmp_path


RIGHT = ("mymodel:make", "--weights", "net.safetensors", "--data", "images.npz", "--images", "8")


def test_the_command_writes_a_card_and_checks_conditions(folder, capsys):
    assert main([*RIGHT, "--check", "accuracy>=0.5"]) == 0
    assert {"card.html", "card.json"} <= {p.name for p in folder.iterdir()}
    assert not list(folder.glob("*.part.json"))
    assert main([*RIGHT, "--check", "accuracy>=0.5, pgd_accuracy>0.999"]) == 2
    output = capsys.readouterr().out
    assert "check failed, net: pgd_accuracy" in output and "net: Nearest adversarial image, " in output
    assert main([*RIGHT, "--retrained", "net.safetensors", "--check", "transfer>=1, alarm_clean<=0"]) == 0


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
    (lambda x, y: card(nn.Identity(), x, y, retrained=nn.Sequential(nn.ReLU())), "a list of models")])
def test_bad_images_are_one_line(images, call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call(*images)
