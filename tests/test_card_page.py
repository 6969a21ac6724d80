"""The report card to look at: its sentence, its pictures and their points, a browser, odd inputs."""
import base64
import copy
import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms.functional import pil_to_tensor

from shared.attacks.line import LineSearch
from shared.attacks.optimised import CarliniWagner
from shared.attacks.square import SquareSearch
from shared.card import Card, card
from shared.card.instruments import FACTORS, SECTIONS, Task
from shared.card.measures import calibration
from shared.card.pictures import ACROSS, CELLS, UP, chosen, plane, png
from shared.card.svg import length, place
from tests import cards
from tests.cards import first_pixels, fitted
from tests.conftest import CHROMIUM, in_a_browser


def linear(seed=0, shape=(3, 4, 4), spread=0.05):
    """A linear model of two classes, 30 images amid the pixels' range with its labels, and its weights."""
    draws = torch.Generator().manual_seed(seed)
    w = torch.randn(np.prod(shape), generator=draws)
    x = 0.5 + spread * torch.randn(30, *shape, generator=draws)

    def model(z):
        return torch.stack([torch.zeros(len(z)), (z - 0.5).flatten(1) @ w], 1)
    return model, x, model(x).argmax(1), w


@pytest.fixture(scope="module")
def images():
    return cards.images()


@pytest.fixture(scope="module")
def both():
    return cards.both()


@pytest.fixture(scope="module")
def straight():
    """The card of a linear model, on which all can be computed, and the logits of its images."""
    model, x, y, w = linear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shared.card.report.SECTIONS", SECTIONS[:3])
        return card(model, x, y, images=30, eps=0.02, restarts=1), model(x)[:, 1], w


def points(report, model, attack):
    """The points of an attack's first curve."""
    return next(curve["points"] for curve in report.curves(model) if curve["attack"] == attack)


# ---- numbers of the first screen -------------------------------------------------------------------------
def test_the_sentence_has_the_numbers_of_the_card(both):
    for model, sentence in zip(both.sections, both.headlines):
        worst, noise = (both.measure(model, name) for name in ("worst_accuracy", "noise_accuracy"))
        clean = points(both, model, "noise")[0]["value"]
        right, left = round(16 * clean), round(16 * noise.value)
        accuracy = both.measure(model, "accuracy")
        assert sentence.startswith(
            f"{model}: {accuracy.value:.1%} of 40 images are correct without perturbation. The attacks "
            f"take 16 of them, drawn at random; the number of correct ones is {right} without perturbation, "
            f"{left} under noise alone and {round(16 * worst.value)} under the worst of PGD (20 steps, 5 "
            "starts), a black-box search (300 forward passes) and 100 draws of noise (L∞ ≤ 0.1): "
            f"{worst.value:.1%}, 95% interval {worst.low:.1%} to {worst.high:.1%}.")
        assert sentence in both.html()
    both = Card(both.sections, both.settings, both.provenance, both.images, {"data": "digits.npz"})
    assert "of 40 images (digits.npz) are" in both.headlines[0]
    assert "Not tried: AutoAttack (APGD-DLR, FAB, a long Square search), PGD with more than 20" in both.html()


def test_curves_fall_and_go_through_the_numbers_of_the_card(both):
    for model in both.sections:
        there = both.measures(model)
        assert [c["attack"] for c in both.curves(model)] == ["noise", "PGD", "noise", "Carlini-Wagner",
                                                             "gradient step"]
        for curve in both.curves(model):
            values = [p["value"] for p in curve["points"]]
            assert values == sorted(values, reverse=True) and len(values) == 1 + len(FACTORS)
        for attack, name in (("PGD", "pgd_accuracy"), ("noise", "noise_accuracy")):
            point = points(both, model, attack)[3]
            measure = there[name]
            assert point == {"size": both.settings["eps"], "value": measure.value, "low": measure.low,
                             "high": measure.high, "n": measure.n}
        nearest = [points(both, model, attack)[3]["value"] for attack in ("Carlini-Wagner", "gradient step")]
        assert there["cw_accuracy"].value <= min(nearest)


def test_the_curve_of_a_linear_model_is_that_in_closed_form(straight):
    report, logits, w = straight
    reach = logits.abs() / w.abs().sum()        # L∞ norm that flips an image, where no pixel is cut
    curve = points(report, "model", "PGD")
    exact = [float((reach > p["size"]).double().mean()) for p in curve]
    assert [p["value"] for p in curve] == pytest.approx(exact) and len(set(exact)) > 3


def test_no_size_is_larger_than_the_range_of_pixels(images, monkeypatch):
    monkeypatch.setattr("shared.card.report.SECTIONS", SECTIONS[:2])
    report = card(first_pixels, *(part[:8] for part in images), images=8, eps=0.6)
    assert [p["size"] for p in points(report, "model", "PGD")] == pytest.approx([0, 0.15, 0.3, 0.6])


def test_expected_calibration_error():
    hits, draws = torch.arange(100) < 80, torch.Generator().manual_seed(0)
    nine = torch.tensor([[np.log(9.0), 0.0]]).expand(100, 2)       # confidence 0.9
    value, resamples = calibration(nine, hits, draws)
    assert value == pytest.approx(0.1) and 0.01 < resamples.std() < 0.08
    half = torch.cat([nine[:50], torch.zeros(50, 2)])              # 0.9 and 0.5: a bin each
    assert calibration(half, torch.arange(100) % 2 == 0, draws)[0] == pytest.approx(0.4 / 2)


def test_classes_add_up_to_all_images(both):
    for model in both.sections:
        rows = both.json()["classes"][model]
        accuracy, worst = (both.measure(model, name) for name in ("accuracy", "worst_accuracy"))
        assert sum(r["accuracy"] * r["n"] for r in rows) == pytest.approx(accuracy.value * accuracy.n)
        assert sum((r["worst_accuracy"] or 0) * r["attacked"] for r in rows) == pytest.approx(
            worst.value * worst.n)
        assert sum(r["attacked"] for r in rows) == 16


# ---- pictures --------------------------------------------------------------------------------------------
def test_all_that_a_page_shows_is_in_the_json(both):
    values = json.loads(json.dumps(both.json()))
    assert Card.of(values).html() == both.html()
    changed = copy.deepcopy(values)
    changed["sections"]["plain"][3]["pictures"]["curves"][1]["points"][2]["value"] /= 2
    changed["about"] = {"licence": "<MIT>"}
    assert Card.of(changed).html() != both.html() and "&lt;MIT&gt;" in Card.of(changed).html()


def pixels(address):
    """The pixels of an image in a page, uint8 [C, H, W]."""
    image = Image.open(io.BytesIO(base64.b64decode(address.removeprefix("data:image/png;base64,"))))
    return pil_to_tensor(image)


def test_images_of_the_page_are_the_card_s(straight):
    report, logits, _ = straight
    _, x, y, _ = linear()
    entries = [s.pictures["examples"] for s in report.sections["model"] if "examples" in s.pictures][0]
    norms = report.measure("model", "cw_distance").images
    assert len(entries) == 6 and {e["label"] for e in entries} == {0, 1}
    assert ["plane" in e for e in entries] == [True, True, False, False, False, False]
    for entry in entries[:2]:       # the clean image, and the adversarial one a unit to its right
        across = entry["plane"][CELLS // 2]
        assert (across[CELLS // 3], across[2 * (CELLS // 3)]) == (entry["label"], entry["predicted"])
    for entry in entries:
        row = entry["row"]
        place = report.images["attacked"].index(row)
        assert entry["label"] == y[row] != entry["predicted"] and entry["norm"] == pytest.approx(norms[place])
        assert (pixels(entry["clean"]) - 255 * x[row]).abs().max() <= 0.51
        change = (pixels(entry["adversarial"]).float() - pixels(entry["clean"])) / 255
        drawn = (pixels(entry["difference"]) / 255 - 0.5) * 2 * entry["largest"]
        assert (change - drawn).abs().max() < 0.01 and change.abs().max() == pytest.approx(
            entry["largest"], abs=0.01)


def test_the_plane_of_a_linear_model_is_cut_where_its_label_changes():
    model, x, y, w = linear()
    across, logit = torch.linspace(*ACROSS, CELLS), model(x)[0, 1]
    change = -logit / w.square().sum() * w.view(x[0].shape) * 1.26     # reaches the boundary at 1 / 1.26
    task = SimpleNamespace(model=model, generator=lambda name: torch.Generator().manual_seed(1))
    expected = torch.where(across < 1 / 1.26, y[0], 1 - y[0]).expand(CELLS, CELLS)
    assert torch.equal(torch.tensor(plane(task, x[0], change)), expected) and UP[0] == -UP[1]


def test_large_images_are_drawn_smaller_and_other_channels_as_colour_or_grey():
    assert pixels(png(torch.rand(3, 224, 112))).shape == (3, 96, 48)
    assert pixels(png(torch.rand(4, 8, 8))).shape == (3, 8, 8)
    assert pixels(png(torch.rand(2, 8, 8))).shape == (1, 8, 8)


def test_images_to_show_are_correct_and_of_all_classes():
    correct, y = torch.tensor([0, 1, 1, 1, 1, 1, 1]).bool(), torch.tensor([5, 3, 3, 3, 4, 5, 3])
    assert chosen(correct, y) == [1, 4, 5, 2, 3, 6]
    assert chosen(correct[:2], y[:2]) == [1, 0] and length([1, 1, 2], 0) == 2 and length([1, 1], 1) == 1


def test_known_networks_are_numbered_dots_and_own_models_are_marks(both):
    others = {"a": {"worst_accuracy": 0.2, "cw_distance": 1.0}, "b": {"worst_accuracy": 0.5}}
    html = place(both, others, "")
    assert html.count('class="dot"') == 1 and html.count('class="own"') == 2 and "1&nbsp;a." in html
    assert "Not drawn: no network." in place(both, {}, "no network")


def test_alternative_texts_are_there(both):
    html = both.html()
    assert html.count("<figure>") == 4 and len(re.findall(r"<img ", html)) == 6 * 5
    assert not re.search(r'<img (?![^>]*alt="[^"]{8,}")|<svg (?![^>]*aria-label="[^"]{20,}")', html)
    assert "PGD, plain: " in html and "Not drawn" not in html.replace("Not drawn: none has", "")


# ---- warnings that say what to do ------------------------------------------------------------------------
def test_the_warning_of_few_images_says_how_many_and_how_long(both):
    several = Card.of(both.json())
    several.settings["all"] = 5000
    for sections in several.sections.values():
        for s in sections:
            s.seconds = 40.0
    text = several.warnings["both", "few-images"]
    assert "Take images=100 (IMAGES=100 of make card), of which about " in text
    # Of nine sections a model, two take all images in any case.
    assert f"in about {np.ceil(2 * 40 * (2 + 7 * 100 / 16) / 60):.0f} min" in text
    assert "Take images=40 " in both.warnings["both", "few-images"]
    several = Card(both.sections, both.settings | {"all": 16})
    assert "The data has only 16 images; give about 100." in several.warnings["both", "few-images"]


def test_a_search_weaker_than_a_step_is_named_and_the_nearer_counts(monkeypatch):
    monkeypatch.setattr("shared.card.report.SECTIONS", SECTIONS[2:3])
    whole = Task.attacks
    monkeypatch.setattr(Task, "attacks", lambda task, factor=1.0: whole(task, factor) | {
        "cw": CarliniWagner(rate=1e-4, c=1.0, searches=1, iterations=1)})   # goes nowhere
    report = card(*linear()[:3])
    searched, stepped = (points(report, "model", attack)[3]["value"]
                      for attack in ("Carlini-Wagner", "gradient step"))
    assert report.measure("model", "cw_accuracy").value == stepped < searched == 1
    assert f"leaves 100.0% of the images correct (L2 ≤ 0.0625), a step along the gradient {stepped:.1%}" in \
        report.warnings["model", "weak-search"]


# ---- odd inputs ------------------------------------------------------------------------------------------
def test_a_model_without_gradients_says_which_pictures_it_cannot_have(images, monkeypatch):
    monkeypatch.setattr("shared.card.report.SECTIONS", SECTIONS[:3])
    network = fitted()
    report = card(lambda z: network(z).detach(), *images, images=8)
    html = report.html()
    assert html.count("<figure>") == 4 and html.count("Not drawn: ") == 4
    assert not any(curve["attack"] == "PGD" for curve in report.curves("model"))
    assert "under the worst of a black-box search (300 forward passes) and 100 draws" in report.headlines[0]
    assert Card.of(report.json()).html() == html


@pytest.mark.parametrize("shape, classes, labels", [
    ((1, 8, 8), 10, 1), ((1, 8, 8), 10, 10), ((3, 224, 224), 5, 5), ((1, 12, 12), 1000, 1000)])
def test_cards_of_odd_inputs(monkeypatch, shape, classes, labels):
    """Images of one class, small and large ones, a thousand classes: no error that is not one line."""
    side = 8 if shape[1] > 12 else shape[1]
    draws = torch.Generator().manual_seed(0)
    w = torch.randn(side**2, classes, generator=draws)
    # Fewer steps, and without the sections that take long and have no picture.
    monkeypatch.setattr("shared.card.report.SECTIONS", SECTIONS[:3] + SECTIONS[6:] * (labels < 100))
    whole = Task.attacks
    monkeypatch.setattr(Task, "attacks", lambda task, factor=1.0: whole(task, factor) | {
        "cw": CarliniWagner(rate=0.01, c=1.0, searches=1, iterations=5),
        "line": LineSearch(16, largest=10.0, loss="margin"), "black_box": SquareSearch(task.threat, 5)})
    for name, few in (("instruments.STEPS", 2), ("instruments.DRAWS", 3), ("pictures.CELLS", 4)):
        monkeypatch.setattr(f"shared.card.{name}", few)

    def model(z):
        return torch.nn.functional.adaptive_avg_pool2d(z - 0.5, side).mean(1).flatten(1) @ w
    count = 4 if shape[1] > 12 else 24
    x = torch.rand(max(count, labels), *shape, generator=draws)
    y = model(x).argmax(1)
    x, y = (x[y == y[0]], y[y == y[0]]) if labels == 1 else (x, y)
    report = card(model, x, y, images=4, restarts=1)
    html = report.html()
    assert report.headlines and len(html) < 1e6 and not re.search(r">\s*(nan|inf|None)\b", html)
    assert all("\n" not in s.error for s in report.sections["model"])
    shown = int((y.unique(return_counts=True)[1] >= 20).sum())
    assert html.count("<th>class ") == min(12, shown)
    assert (f"of {shown:,} classes with" in html) == (shown > 12)
    assert json.loads(json.dumps(report.json(), allow_nan=False))


# ---- in a browser ----------------------------------------------------------------------------------------
@in_a_browser
def test_a_browser_shows_the_page_without_a_complaint(both, axe, tmp_path):
    """No request, no error, no scrolling sideways, nothing serious for axe, in both schemes."""
    from playwright.sync_api import sync_playwright
    report = copy.copy(both)
    report.about, report.conditions = {"licence": "MIT"}, [("accuracy", ">=", 0.99), ("accuracy", ">", 0.0)]
    report.save(tmp_path / "card.html")
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page, wrong = chromium.new_page(), []
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith(
            ("file:", "data:")) else None)
        page.goto((tmp_path / "card.html").as_uri())
        for width in (420, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            # Letters of every picture are large enough to be read.
            assert page.evaluate("""Math.min(...[...document.querySelectorAll("figure svg text")].map(
                text => text.getBoundingClientRect().height))""") > 8
        tops = [page.locator("figure").nth(i).bounding_box()["y"] for i in range(4)]
        assert tops[0] == tops[2] < tops[1] < 1200    # two columns, below four warnings of this card
        page.evaluate(axe)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            violations = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
            wrong += [(scheme, v["id"], v["nodes"][0]["html"][:120]) for v in violations["violations"]]
        chromium.close()
    assert wrong == []
