"""The report card: what it measures, warns of, refuses, keeps and writes."""
import json
import re
from functools import partial

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from shared.card import SECTIONS, Card, Measure, card, difference, main, quantile, share
from shared.card_html import strip
from shared.data.standins import digits
from shared.inference import label_margins
from shared.runtime import UserError


def fitted(noise=0.0):
    """A linear network on 8 by 8 digits, trained for a second."""
    arrays = digits()
    x, y = (torch.as_tensor(arrays[k]) for k in ("x_train", "y_train"))
    net = nn.Sequential(nn.AvgPool2d(3, 3), nn.Flatten(), nn.Linear(81, 10))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net[2].reset_parameters()
        optimiser = torch.optim.Adam(net.parameters(), lr=0.05)
        for _ in range(60):
            loss = nn.functional.cross_entropy(net(x / 255 + noise * torch.randn(x.shape)), y)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return net.eval()


@pytest.fixture(scope="module")
def net():
    return fitted()


@pytest.fixture(scope="module")
def images():
    """40 digits of all classes and their labels."""
    arrays = digits()
    return torch.as_tensor(arrays["x_test"][:40]) / 255, torch.as_tensor(arrays["y_test"][:40])


@pytest.fixture(scope="module")
def both(net, images):
    return card({"plain": net, "noisy": fitted(0.5)}, *images, images=16, retrained=[fitted(0.1)])


# ---- numbers ---------------------------------------------------------------------------------------------
def test_a_share_and_a_median_have_the_intervals_of_binomial_counts():
    made = share("a", "", torch.arange(10) < 3, torch.arange(10) < 8)
    assert made.n == 8 and made.value == 3 / 8 and made.images[8:] == [None, None]
    assert made.low == pytest.approx(0.0852, abs=1e-3) and made.high == pytest.approx(0.7551, abs=1e-3)
    half = quantile("b", "", torch.tensor([*range(1, 26), torch.nan]), "L2")
    assert (half.value, half.low, half.high, half.n) == (13, 8, 18, 25)     # ranks 8 and 18 of 25
    assert quantile("c", "", torch.tensor([1.0, 2.0]), "L2").low is None    # two values have no interval


def test_a_difference_is_taken_on_the_same_images():
    draws = torch.Generator().manual_seed(0)
    first = Measure("a", "", 1.0, None, None, 3, "L2", images=[1.0, 1.0, 1.0, None])
    second = Measure("a", "", 3.0, None, None, 3, "L2", images=[3.0, 3.0, 3.0, 9.0])
    assert difference(first, second, draws) == (2.0, 2.0, 2.0, 3)
    assert difference(first, Measure("a", "", 1.0, None, None, 1, images=[1.0]), draws) is None
    drawn = Measure("r", "", 1.0, None, None, 9, draws=[0.9, 1.1]), Measure("r", "", 2.0, None, None, 9,
                                                                            draws=[1.9, 2.1])
    assert difference(*drawn, draws)[:3] == pytest.approx((1.0, 1.0, 1.0))


@pytest.mark.parametrize("both, one, other, neither, low, high", [
    (36, 12, 2, 0, 0.0569, 0.3404), (36, 14, 0, 0, 0.1528, 0.4167),     # Newcombe 1998, method 10
    (93, 4, 0, 3, -0.0069, 0.0995)])    # four images that differ: an exact sign test gives 0.125
def test_a_difference_of_paired_shares_has_newcombes_interval(both, one, other, neither, low, high):
    counts = torch.tensor([both, one, other, neither])
    hits = [share("a", "", torch.tensor(right).repeat_interleave(counts))
            for right in ([True, False, True, False], [True, True, False, False])]
    found = difference(*hits, None)
    assert found[1:3] == pytest.approx((low, high), abs=1e-4) and found[3] == both + one + other + neither


def test_each_section_measures_both_models_with_intervals(both):
    for sections in both.sections.values():
        assert [s.title for s in sections] == [title for title, *_ in SECTIONS]
        assert not [s.error for s in sections if s.error]
        for measure in (m for s in sections for m in s.measures if None not in (m.low, m.high)):
            assert measure.low <= measure.value <= measure.high, measure.name
    assert both.measure("plain", "accuracy").value > 0.8
    assert both.measure("plain", "pgd_accuracy").value <= both.measure("plain", "noise_accuracy").value
    grown = [both.measure("plain", f"noise_{delta}").value for delta in (1, 2, 5, 10)]
    assert grown == sorted(grown)


def test_re_trainings_share_mistakes_or_do_not(net, images):
    x, y = images

    def nearest(given):     # its class is that of the clean image next to it: no small perturbation moves it
        away = torch.cdist(given.flatten(1), x.flatten(1))
        return -torch.stack([away[:, y == k].amin(1) for k in range(10)], 1)

    def values(other):
        made = card(net, x, y, images=10, retrained=[other])
        return [made.measure("model", name).value for name in (
            "transfer", "alarm_adversarial", "region", "region_transfer")]
    transfer, alarm, region, same = values(net)
    assert (transfer, alarm) == (1, 0) and region == same > 0.5
    assert values(nearest) == [0, 1, region, 0]


def test_the_nearest_adversarial_images_of_a_linear_model_are_as_near_as_they_are():
    draws = torch.Generator().manual_seed(0)
    w, x = torch.randn(10, 192, generator=draws), 0.5 + 0.1 * torch.randn(20, 3, 8, 8, generator=draws)

    def linear(images):
        return images.flatten(1) @ w.T
    x = x.clamp(0, 1)
    scores = linear(x)
    y = scores.argmax(1)
    gaps = (scores.amax(1, keepdim=True) - scores) / (w[y][:, None] - w).norm(dim=2)
    exact = gaps.scatter(1, y[:, None], torch.inf).amin(1).quantile(0.5)
    assert card(linear, x, y).measure("model", "cw_distance").value == pytest.approx(float(exact), rel=0.1)


def test_sizes_of_perturbations_grow_with_the_image(net, images):
    made = card(lambda x: x.flatten(1)[:, :10], torch.rand(4, 1, 7, 7), torch.arange(4))
    # Of a 16th of the pixels of a digit, for which the size is 1.5.
    assert "(L2 ≤ 0.38)" in made.measure("model", "cw_accuracy").label


def test_a_seed_gives_the_same_card_again(net, images, both):
    again = card({"plain": net}, *images, images=16, retrained=[fitted(0.1)])
    first, second = ({m.name: m.value for s in made.sections["plain"] for m in s.measures}
                     for made in (both, again))
    assert first.keys() == second.keys()
    assert all(first[k] == pytest.approx(second[k], rel=1e-3) for k in first)


# ---- warnings --------------------------------------------------------------------------------------------
def named(made):
    return {name.partition(":")[0] for _, name in made.warnings}


@pytest.mark.parametrize("wrapped, name", [
    (lambda net: lambda x: net(x).softmax(1), "probabilities"),
    (lambda net: lambda x: net(x) + torch.randn(len(x), 10), "unsteady"),
    (lambda net: lambda x: net(x).round() + 0 * x.sum(), "no-gradient"),
    (lambda net: lambda x: net(x).detach(), "no-gradient"),
    (lambda net: lambda x: net(x + 0 * (x - x).sqrt()), "no-gradient"),     # not a number
    (lambda net: lambda x: torch.cat([net(x), net(x)[:, :2] - 100], 1), "missing-classes"),
    (lambda net: lambda x: 1e-3 * net(x) + torch.eye(10)[3], "no-better-than-chance"),
])
def test_what_a_model_does_wrong_is_warned_of_by_name(net, images, monkeypatch, wrapped, name):
    monkeypatch.setattr("shared.card.SECTIONS", SECTIONS[:2] + SECTIONS[4:])  # the others take long
    made = card(wrapped(net), *images, images=8)
    assert name in named(made) and f"warning {name}, model: " in repr(made)
    assert all(text.count("\n") == 0 for text in made.warnings.values())


def test_an_attack_weaker_than_noise_is_warned_of(net):
    arrays = digits()
    x, y = torch.as_tensor(arrays["x_test"]) / 255, torch.as_tensor(arrays["y_test"])
    margin = label_margins(net(x).detach(), y)
    near = margin.masked_fill(margin <= 0, torch.inf).argsort()[:16]    # those that noise can flip

    def climbing(a):    # its gradient points away from where labels change
        scores = net(a)
        return 2 * scores.detach() - scores
    assert "attack-weaker-than-noise" in named(card(climbing, x[near], y[near]))


def test_few_images_and_pixels_outside_are_warned_of(net, images):
    x, y = images
    assert "few-images" in named(card(net, x, y, images=8))
    made = card(net, 2 * x, y, images=8)
    assert "pixels-outside" in named(made)
    assert not [s for s in made.sections["model"] if s.title == "Nearest adversarial image"][0].measures


def test_a_metric_that_disagrees_with_the_attack_is_warned_of(net, images):
    def masked(x):      # noise in the corner, black in every digit, moves its logits; a gradient has nothing
        return net(x).round() + (10 * x[:, 0, 0, :10]).round() + 0 * x.sum()
    made = card({"plain": net, "masked": masked}, *images, images=40)
    assert made.differences["pgd_accuracy"][1] > 0
    assert "nearest boundary" in made.warnings["both", "rank-disagrees"]


def test_only_a_difference_beyond_chance_disagrees(both):
    made = Card(both.sections, both.settings)
    made.differences = {"pgd_accuracy": (0.2, 0.1, 0.3, 9), "boundary_distance": (-0.1, -0.2, -0.05, 9),
                        "borderline_similarity": (-0.1, -0.2, -0.05, 9), "cw_distance": (-0.1, -0.2, 0.1, 9)}
    told = made.warnings["both", "rank-disagrees"]
    assert "nearest boundary" in told and "similarity" not in told and "norm" not in told


def test_a_section_that_fails_says_why_and_the_others_go_on(net, images):
    calls = []

    def failing(x):
        calls.append(len(x))
        if x.requires_grad:
            raise RuntimeError("no backward pass here")
        return net(x)
    sections = {s.title: s for s in card(failing, *images, images=8).sections["model"]}
    assert "no backward pass here" in sections["Perturbations of one size"].error
    assert sections["Boundary distances"].measures and not sections["Boundary distances"].error


# ---- files and command -----------------------------------------------------------------------------------
def test_a_card_goes_on_where_it_was_stopped(net, images, tmp_path):
    file, calls, last = tmp_path / "part.json", [], torch.inf

    def counted(x):
        calls.append(len(x))
        if len(calls) == last:
            raise KeyboardInterrupt
        return net(x)
    whole = card(counted, *images, images=8)
    spent, lines = len(calls), []
    last = 2 * spent - 3
    with pytest.raises(KeyboardInterrupt):
        card(counted, *images, images=8, file=file, say=lines.append)
    last, calls[:] = torch.inf, []
    assert [line.split(",")[0] for line in lines] == [f"model: {s[0]}" for s in SECTIONS[:len(lines)]]
    assert repr(card(counted, *images, images=8, file=file)) == repr(whole)
    assert 1 < len(calls) < spent / 4
    file.write_text("{")
    with pytest.raises(UserError, match="no card to go on with"):
        card(net, *images, file=file)


def test_the_page_needs_nothing_from_elsewhere(both, tmp_path):
    both.save(tmp_path / "card.html")
    text = (tmp_path / "card.html").read_text()
    assert len(text) < 3e6 and not re.search(r"(src|href)=|https?:|url\(|@import|<(script|link)", text)
    assert "prefers-color-scheme:dark" in text and "plain" in text
    kept = json.loads((tmp_path / "card.json").read_text())
    numbers = {m["name"]: m["value"] for s in kept["sections"]["plain"] for m in s["measures"]}
    assert numbers == {m.name: m.value for s in both.sections["plain"] for m in s.measures}
    assert "<script>" not in card_named("<script>")


def card_named(name):
    arrays = digits()
    x, y = torch.as_tensor(arrays["x_test"][:4]) / 255, torch.as_tensor(arrays["y_test"][:4])
    return card({name: lambda x: x.flatten(1)[:, :10]}, x, y, images=4).html()


def test_known_networks_are_dots_beside_the_model():
    drawn = strip("accuracy", "%", [(0.5, "red")], {"a": {"accuracy": 0.2}, "b": {"accuracy": 0.8}, "c": {}})
    assert drawn.count("<circle") == 2 and drawn.count("<path") == 1 and "20.0%" in drawn
    assert strip("accuracy", "%", [(0.5, "red")], {}) == ""


@pytest.fixture
def folder(net, images, tmp_path, monkeypatch):
    """A folder of a stranger's: a module, weights, data."""
    (tmp_path / "mymodel.py").write_text(
        "from torch import nn\n\n\ndef make():\n"
        "    return nn.Sequential(nn.AvgPool2d(3, 3), nn.Flatten(), nn.Linear(81, 10))\n\n\n"
        "def wide():\n    return nn.Conv2d(3, 4, 3)\n\n\n"
        "def few():\n    return nn.Sequential(nn.Flatten(), nn.Linear(784, 3))\n")
    save_file(net.state_dict(), tmp_path / "net.safetensors")
    save_file({"0.weight": torch.zeros(3)}, tmp_path / "other.safetensors")
    np.savez(tmp_path / "words.npz", x=np.zeros((2, 8, 8)), y=np.array(["a", "b"]))
    np.savez(tmp_path / "images.npz", x=(255 * images[0][:, 0]).byte().numpy(), y=images[1].numpy())
    monkeypatch.chdir(tmp_path)
    return tmp_path


RIGHT = ("mymodel:make", "--weights", "net.safetensors", "--data", "images.npz", "--images", "8")


def test_the_command_writes_a_card_and_checks_conditions(folder, capsys):
    assert main([*RIGHT, "--check", "accuracy>=0.5"]) == 0
    assert {"card.html", "card.json"} <= {p.name for p in folder.iterdir()}
    assert not list(folder.glob("*.part.json"))
    assert main([*RIGHT, "--check", "accuracy>=0.5, pgd_accuracy>0.999"]) == 1
    said = capsys.readouterr().out
    assert "check failed, net: pgd_accuracy" in said and "net: Nearest adversarial image, " in said
    assert main([*RIGHT, "--retrained", "net.safetensors", "--check", "transfer>=1, alarm_clean<=0"]) == 0


@pytest.mark.parametrize("words, says", [
    (["nothing:make", *RIGHT[1:]], "model 'nothing:make'"),
    (["mymodel", *RIGHT[1:]], "model 'mymodel'"),
    (["mymodel:wide", "--data", "images.npz"], "mymodel:wide gives no number for these images: RuntimeError"),
    (["mymodel:few", "--data", "images.npz"], "labels lie in 0..9, but the model has 3 classes"),
    ([RIGHT[0], "--weights", "other.safetensors", *RIGHT[3:]], "weights other.safetensors: RuntimeError"),
    ([*RIGHT, "--retrained", "absent.safetensors"], "weights absent.safetensors"),
    ([*RIGHT[:4], "words.npz"], "data words.npz: labels <U1"),
    (["mymodel:other", *RIGHT[1:]], "model 'mymodel:other'"),
    ([RIGHT[0], "--weights", "images.npz", *RIGHT[3:]], "weights images.npz"),
    ([RIGHT[0], "--weights", "absent.safetensors", *RIGHT[3:]], "weights absent.safetensors"),
    ([*RIGHT[:4], "net.safetensors"], "data net.safetensors"),
    ([*RIGHT[:4], "absent.npz"], "data absent.npz"),
    ([*RIGHT, "--check", "beauty>=1"], "no measure 'beauty' of net; there are: accuracy"),
    ([*RIGHT, "--check", "accuracy=1"], "write name>=number"),
    (["mymodel:make", "mymodel:make", "mymodel:make", *RIGHT[1:]], "one or two are allowed"),
    ([*RIGHT[:5], "--images", "0"], "images=0"),
    ([*RIGHT[:2], "net.safetensors", "net.safetensors", *RIGHT[3:]], "2 files of weights for 1 models"),
])
def test_bad_input_is_one_line(folder, words, says):
    with pytest.raises(UserError, match=re.escape(says)) as refusal:
        main(words)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("call, says", [
    (partial(card, {}), "one or two"), (lambda x, y: card(nn.Identity(), x[0], y), "images [N, C, H, W]"),
    (lambda x, y: card(nn.Identity(), x, y[:3]), "[3]"),
    (lambda x, y: card(nn.Identity(), x, y.float()), "float32"),
    (lambda x, y: card(nn.Identity(), x, y, retrained=nn.Sequential(nn.ReLU())), "a list of models")])
def test_bad_images_are_one_line(images, call, says):
    with pytest.raises(UserError, match=re.escape(says)):
        call(*images)
