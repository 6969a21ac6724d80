"""The explorer of the home page: its files, a browser's numbers beside PyTorch's, and where it cannot run."""
import json
import math
import re
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlparse

import pytest
import torch
from conftest import CHROMIUM, content, digest, in_a_browser

from report import registry
from report.repository import ROOT
from shared import borderline, regions, runtime, similarity
from shared.data import sets
from workflow import explorer, imports

FIRST = "explorer.js", "core.js", "explorer.css", "digits.js", "weights-0.js"    # as it comes into sight
NEAR = 1e-4
SAMPLES, DIRECTIONS, SIZE = 20, 10, 31      # in the copy for the tests: a fraction of a reader's
PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>Explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{styles}<main><article class="bd-article">
<h1>A page</h1><div class="explorer">
<figure><img src="../_static/walk.png" alt="A seven, mixed with white"></figure>
<p class="instead">With JavaScript, more.</p></div></article></main>
<script defer src="../_static/explorer/explorer.js"></script>"""


def styles():
    """The style sheets of the book, so that colours and widths are a reader's."""
    folders = [(Path(find_spec(theme).origin).parent / "theme" / theme / "static/styles")
               for theme in ("pydata_sphinx_theme", "sphinx_book_theme")]
    sheets = [sheet for folder in folders for sheet in sorted(folder.glob("*.css"))]
    sheets.append(ROOT / "book/_static/book.css")
    return "".join(f'<link rel="stylesheet" href="{sheet.as_uri()}">' for sheet in sheets)


def laid_out(folder):
    """A folder with a copy of what the explorer loads, of fewer samples, and a page with it."""
    shutil.copytree(explorer.FOLDER, folder / "_static/explorer")
    script = folder / "_static/explorer/explorer.js"
    text = script.read_text()
    for name, size in {"SAMPLES": SAMPLES, "DIRECTIONS": DIRECTIONS, "SIZE": SIZE}.items():
        text, n = re.subn(rf"\b{name} = \d+", f"{name} = {size}", text)
        assert n == 1, name
    script.write_text(text)
    shutil.copy(ROOT / "book/_static/walk.png", folder / "_static")
    (folder / "book").mkdir()
    (folder / "book/page.html").write_text(PAGE.format(styles=styles()))
    return folder


@cache
def state():
    """A digest of the code, the explorer's files and its networks."""
    files = [*explorer.FOLDER.iterdir(), *(ROOT / "results/zoo").glob("ren-a-mnist-*"),
             *(ROOT / "book/_static").glob("*.*")]
    code = {"workflow/explorer.py", *imports.files("workflow/explorer.py", ["ren"]),
            *imports.files("tests/test_explorer.py")}
    pages = sorted(path.name for path in (ROOT / "notebooks").glob("*/*.ipynb"))    # which it links to
    return digest(*map(content, sorted([*code, *(str(path.relative_to(ROOT)) for path in files)])), *pages)


@pytest.fixture(autouse=True)
def unless_unchanged(request, unless_passed):
    """A browser need not compute and show the same twice; how long it takes is measured each time."""
    if request.node.get_closest_marker("skipif") and "two_seconds" not in request.node.name:
        unless_passed(state())


@pytest.fixture
def folder(tmp_path):
    return laid_out(tmp_path)


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, folder):
    """`visit(script, **settings)` opens the page after a script: (page, its errors, its requests)."""
    contexts = []

    def visit(script="", **settings):
        contexts.append(chromium.new_context(**settings))
        page, errors, requests = contexts[-1].new_page(), [], []
        page.set_default_timeout(90_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: (
            errors.append(request.url) if str(folder) in request.url else None))
        page.on("request", lambda request: requests.append(request.url))
        page.add_init_script(script)
        page.goto((folder / "book/page.html").as_uri())
        return page, errors, requests

    yield visit
    for context in contexts:
        context.close()


def tab(page, name):
    page.get_by_role("tab", name=name).click()


def seen(page, pattern):
    """The sentence of the open panel, once it has a pattern."""
    page.wait_for_function("pattern => new RegExp(pattern).test([...document.querySelectorAll('.seen')]"
                           ".find(p => p.offsetParent).innerText)", arg=pattern)
    return page.locator(".seen:visible").inner_text()


# ---- files -----------------------------------------------------------------------------------------------
def test_the_files_are_small():
    sizes = {path.name: path.stat().st_size for path in explorer.FOLDER.iterdir()}
    assert sum(sizes[name] for name in FIRST) <= 300_000 and sum(sizes.values()) <= 1_000_000
    assert {*sizes} == {*FIRST, *(f"weights-{n}.js" for n in range(1, 5))}


def test_the_files_hold_the_kept_networks_of_today():
    nets = explorer.kept()
    assert len(nets) == 5
    for n, trained in enumerate(nets):
        text = (explorer.FOLDER / f"weights-{n}.js").read_text()
        assert text == explorer.script(f"weights-{n}", explorer.network(trained)), "`make explorer` renews it"


def test_the_digits_are_those_of_the_test_set():
    try:
        dataset = sets.load("mnist", profile="paper")
    except runtime.UserError:
        pytest.skip("the digits are compared where MNIST lies in BOUNDARY_DATA, or can be downloaded")
    text = (explorer.FOLDER / "digits.js").read_text()
    assert text == explorer.script("digits", explorer.digits(dataset))


def test_both_pages_have_the_same_picture_line_and_script():
    block = r"(?s)::::\{div\} explorer\n```\{figure\} _static/walk.*(<p class=.instead.*?\n::::\n.*?```\n)"
    lines = [re.search(block, (ROOT / f"book/{name}.md").read_text())[1] for name in ("index", "explorer")]
    assert lines[0] == lines[1] and 'src="../_static/explorer/explorer.js"' in lines[0]


# ---- numbers ---------------------------------------------------------------------------------------------
START = """const core = EXPLORER.core(), greys = core.digits(EXPLORER.digits);
  const images = greys.map(core.scaled), net = core.network(EXPLORER['weights-0']);
  const plain = x => Array.from(x), all = job => [...job].filter(part => part);
"""


@pytest.fixture(scope="module")
def compute(chromium, tmp_path_factory):
    """`compute(text)`: the value of some lines of JavaScript after START."""
    page = chromium.new_page()
    page.set_default_timeout(90_000)
    page.goto((laid_out(tmp_path_factory.mktemp("compute")) / "book/page.html").as_uri())
    page.wait_for_selector(".explorer.ready")
    for n in range(1, 5):
        page.add_script_tag(path=explorer.FOLDER / f"weights-{n}.js")
    return lambda text: page.evaluate(f"() => {{ {START} {text} }}")


@pytest.fixture(scope="module")
def nets():
    return [trained.net for trained in explorer.kept()]


def in_double(net):
    """A copy that computes in float64."""
    copy = registry.build(explorer.ARCHITECTURE).double().eval()
    copy.load_state_dict(net.state_dict())
    return copy


def largest_are(net, images, labels):
    """Assert that the logits of labels are the largest ones, but for `NEAR`."""
    with torch.no_grad():
        logits = in_double(net)(images)
    assert (logits.amax(1) - logits.gather(1, labels.view(-1, 1))[:, 0]).max() <= NEAR
    return logits.argmax(1)


def images_of(greys):
    return torch.tensor(greys, dtype=torch.float64).view(-1, 1, 28, 28)


@in_a_browser
def test_logits_and_gradients_are_those_of_pytorch(compute, nets):
    given = compute("""return {
      greys: greys.map(plain), directions: images.map(x => plain(net.direction(x))),
      logits: [0, 1, 2, 3, 4].map(n => core.network(EXPLORER[`weights-${n}`]))
        .map(net => images.map(x => plain(net.logits(x))))};""")
    greys = images_of(given["greys"])
    for net, logits in zip(nets, given["logits"]):
        with torch.no_grad():
            assert (net(greys.float() / 255) - torch.tensor(logits)).abs().max() <= NEAR
    x = (greys / 255).requires_grad_()
    logits = in_double(nets[0])(x)
    torch.nn.functional.cross_entropy(logits, logits.argmax(1), reduction="sum").backward()
    unit = x.grad / x.grad.flatten(1).norm(dim=1).view(-1, 1, 1, 1)
    assert (unit - images_of(given["directions"])).abs().max() <= NEAR


@in_a_browser
@pytest.mark.parametrize("background", borderline.UNIFORM)
def test_a_search_and_its_similarities_are_those_of_the_instrument(compute, nets, background):
    grey = borderline.UNIFORM[background]
    given = compute(f"""const {{threshold, most}} = EXPLORER.digits;
        return {{threshold, most, greys: greys.map(plain),
                 pairs: greys.map((x, k) => core.ssim(x, greys[(k + 1) % greys.length])),
                 searches: greys.map(x => {{
                   const s = core.search(net, x, {grey}, threshold, most), end = s.steps.at(-1);
                   return {{...s, steps: s.steps.map(step => step.similarity), last: plain(end?.last ?? []),
                            first: plain(end?.first ?? []), other: end?.other}}; }})}};""")
    source = images_of(given["greys"]).byte()
    alike = similarity.ssim(source, source.roll(-1, 0))
    assert (alike - torch.tensor(given["pairs"])).abs().max() <= NEAR and alike.std() > 0.01
    pairs = borderline.search(
        nets[0], source, torch.full_like(source[:1], grey), threshold=given["threshold"],
        max_iterations=given["most"], keep_path=True)
    assert 0 < pairs.excluded.sum() < len(source)
    with torch.no_grad():
        label = nets[0](torch.full((1, 1, 28, 28), grey / 255)).argmax(1).item()
    assert {ours["background"] for ours in given["searches"]} == {label}
    for n, ours in enumerate(given["searches"]):
        assert (ours["steps"] == []) == pairs.excluded[n] and len(ours["steps"]) == pairs.iterations[n]
        if ours["steps"]:
            assert torch.equal(images_of(ours["last"])[0].byte(), pairs.inside[n])
            assert torch.equal(images_of(ours["first"])[0].byte(), pairs.outside[n])
            assert (ours["label"], ours["other"]) == (pairs.inside_class[n], pairs.outside_class[n])
            by_step = pairs.path.similarity[n, :len(ours["steps"])]
            assert (torch.tensor(ours["steps"]) - by_step).abs().max() <= NEAR
            assert abs(ours["reach"] - pairs.robustness[n]) <= NEAR


@in_a_browser
def test_labels_of_planes_are_those_of_pytorch_on_all_digits(compute, nets):
    """Small planes of all digits; by five networks of one, beside what the instrument gives."""
    size, reach = 13, 12.0
    given = compute(f"""const five = [0, 1, 2, 3, 4].map(n => core.network(EXPLORER[`weights-${{n}}`]));
        return images.map((image, k) => {{
          const u = net.direction(image), v = core.across(u, 3, 0.7), of = k ? [0] : [0, 1, 2, 3, 4];
          const parts = all(core.JOBS.plane(five, {{image, u, v, of, size: {size}, reach: {reach}}}));
          return {{grey: plain(greys[k]), u: plain(u), v: plain(v), strides: parts.map(part => part.stride),
                   labels: parts.at(-1).labels.map(plain)}}; }});""")
    steps = torch.linspace(-reach, reach, size, dtype=torch.float64)
    for k, plane in enumerate(given):
        x, u, v = (images_of(plane[name]) for name in ("grey", "u", "v"))
        assert abs((u * v).sum()) < 1e-9 and abs(v.norm() - 1) < 1e-9 and plane["strides"] == [6, 3, 1]
        points = x / 255 + steps.view(-1, 1, 1, 1, 1) * v + steps.view(-1, 1, 1, 1) * u
        labels = torch.tensor(plane["labels"]).view(-1, size, size).flip(1)    # from the top
        for net, own in zip(nets, labels):
            assert len(own.unique()) > 1
            largest_are(net, points.clamp(0, 1).view(-1, 1, 28, 28), own.reshape(-1))
        if k == 0:
            answers, axes = regions.plane(
                nets, (x / 255).float(), u.float(), v.float(), reach=reach, size=size)
            assert (answers == labels).double().mean() > 0.999 and len(labels) == 5
            assert (axes - torch.cat([u, v])).abs().max() <= 1e-6


@in_a_browser
def test_shares_and_distances_are_those_of_pytorch_on_all_digits(compute, nets):
    count, steps = 50, [11, 27]
    given = compute(f"""return {{
        STEP: core.STEP, TOP: core.TOP, noise: core.directions({count}, 1).map(plain),
        directions: core.directions(20, 2).map(plain), digits: images.map((image, k) => ({{
          grey: plain(greys[k]), attack: core.attack(net, image).norm, u: plain(net.direction(image)),
          flips: all(core.JOBS.flips([net], {{image, steps: {steps}, count: {count}, seed: 1}}))
            .map(part => part.flips),
          norms: k < 2 && all(core.JOBS.distances([net], {{image, count: 20, seed: 2}})).at(-1).norms
        }}))}};""")
    noise, step, net = images_of(given["noise"]), given["STEP"], in_double(nets[0])
    assert (noise.flatten(1).norm(dim=1) - 1).abs().max() < 1e-9 and noise.mean().abs() < 1e-3
    shares = []
    for digit in given["digits"]:
        x, u = images_of(digit["grey"]) / 255, images_of(digit["u"])
        with torch.no_grad():
            label = net(x).argmax(1)
            flips = [int((net((x + n * step * noise).clamp(0, 1)).argmax(1) != label).sum()) for n in steps]
            line = torch.arange(step / 4, given["TOP"] + 1e-6, step / 4, dtype=torch.float64)
            changed = net((x + line.view(-1, 1, 1, 1) * u).clamp(0, 1)).argmax(1) != label
        assert digit["flips"] == flips
        assert abs(digit["attack"] - line[changed.int().argmax()]) <= NEAR
        shares += [n / count for n in flips]
        if digit["norms"]:
            line = torch.arange(step, given["TOP"] + 1e-6, step, dtype=torch.float64)
            points = (x + line.view(-1, 1, 1, 1, 1) * images_of(given["directions"])).clamp(0, 1)
            with torch.no_grad():
                changed = net(points.view(-1, 1, 28, 28)).argmax(1).view(len(line), -1) != label
            norms = torch.where(changed.any(0), line[changed.int().argmax(0)], torch.inf)
            assert torch.allclose(torch.tensor(digit["norms"], dtype=torch.float64), norms, atol=NEAR, rtol=0)
    assert min(shares) == 0 and 0 < max(shares)


@in_a_browser
def test_a_plane_takes_at_most_two_seconds_of_a_core(compute):
    """Beside a loop of as many products as a laptop's core does in a second: a busy machine slows both."""
    ratio = min(compute("""
        const a = new Float64Array(1000).fill(0.5), time = work => {
          const start = performance.now(); work(); return performance.now() - start; };
        const loop = () => {
          let sum = 0;
          for (let n = 0; n < 200_000; n++) for (let k = 0; k < 1000; k++) sum += a[k] * a[k];
          return sum; };
        const u = net.direction(images[7]), v = core.across(u, 3, 0);
        const job = () => all(core.JOBS.plane([net], {image: images[7], u, v, of: [0], size: 61, reach: 12}));
        return time(job) / (5 * time(loop));""") for _ in range(2))
    assert ratio <= 2


# ---- the page --------------------------------------------------------------------------------------------
@in_a_browser
@pytest.mark.parametrize("theme, width", [("light", 420), ("dark", 1280)])
def test_four_panels_without_network_complaint_or_scrolling(visit, axe, folder, theme, width):
    page, errors, requests = visit(viewport={"width": width, "height": 800})
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.wait_for_selector(".explorer.ready")
    assert not page.locator("figure img").is_visible() and not page.locator(".instead").is_visible()
    assert not [url for url in requests if "weights-1" in url]
    page.evaluate(axe)
    for name, pattern in {
            "Mix": "stops above", "Noise and attack": rf"\d of {SAMPLES}.*half of the",
            "Look around": f"Of {DIRECTIONS} other random", "Compare trainings": r"disagree on \d"}.items():
        tab(page, name)
        seen(page, pattern)
        report = page.evaluate("() => axe.run('.explorer', {resultTypes: ['violations'], preload: false})")
        assert [(v["id"], v["nodes"][0]["html"]) for v in report["violations"]] == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        for link in page.locator(".pages a:visible").all():
            target = Path(urlparse(link.get_attribute("href")).path).relative_to(folder).with_suffix(".ipynb")
            assert (ROOT / target).exists(), target
    assert errors == [] and {urlparse(url).scheme for url in requests} <= {"file", "blob", "data"}


@in_a_browser
def test_sentences_have_the_numbers_of_their_images(visit, nets):
    page, _, _ = visit()
    page.wait_for_selector(".explorer.ready")
    data = json.loads((explorer.FOLDER / "digits.js").read_text().partition("] = ")[2].rstrip(";\n"))
    seven = images_of(page.evaluate("Array.from(EXPLORER.core().digits(EXPLORER.digits)[7])"))
    white = torch.full((1, 1, 28, 28), 255, dtype=torch.uint8)
    pair = borderline.search(
        nets[0], seven.byte(), white, threshold=data["threshold"], max_iterations=data["most"])
    text = seen(page, "stops above")
    assert f"of {pair.separability.item():.4f}" in text and f"alike: {pair.robustness.item():.2f}." in text
    assert f"After {pair.iterations.item()} mixtures" in text
    with torch.no_grad():
        label = nets[0](white / 255).argmax(1).item()
    assert page.locator(".images figcaption:visible").nth(3).inner_text() == f"white {label}"
    assert label != pair.outside_class.item()
    ratings = page.locator(".rating")
    page.wait_for_function("document.querySelectorAll('.rating')[11].textContent")
    assert ratings.nth(data["labels"].index(7)).inner_text() == f"{pair.robustness.item():.2f}"
    page.locator("input[type=range]:visible").fill("0")
    assert "is 1.00, where 1 means identical." in seen(page, "At 0% white")
    page.get_by_role("radio", name="black").check()
    assert "Mix with" not in seen(page, "stops above")
    page.get_by_role("radio", name="digit 1, test image 2").check()     # black is labelled 1, too
    assert "the search needs two labels" in seen(page, "too")
    assert page.get_by_role("button", name="Run the search").is_disabled()


@in_a_browser
def test_sentences_on_noise_and_on_directions_have_the_numbers_of_pytorch(visit, nets):
    page, _, _ = visit()
    page.wait_for_selector(".explorer.ready")
    source = (explorer.FOLDER / "explorer.js").read_text()
    *seeds, plane = [int(re.search(rf"\b{name} = (\d+)", source)[1])
                     for name in ("NOISE_SEED", "DIRECTIONS_SEED", "PLANE_SEED")]
    given = page.evaluate("""([noise, others, samples, directions]) => {
      const core = EXPLORER.core(), grey = core.digits(EXPLORER.digits)[7], plain = x => Array.from(x);
      const u = core.network(EXPLORER['weights-0']).direction(core.scaled(grey));
      return {STEP: core.STEP, TOP: core.TOP, grey: plain(grey), u: plain(u),
              noise: core.directions(samples, noise).map(plain),
              others: core.directions(directions, others).map(plain)};
      }""", [*seeds, SAMPLES, DIRECTIONS])
    step, net, x = given["STEP"], in_double(nets[0]), images_of(given["grey"]) / 255

    @torch.no_grad()
    def changed(directions, norms):
        """[norm, direction] whether an image of this norm in this direction has another label."""
        moves = norms.view(-1, 1, 1, 1, 1) * images_of(given[directions])
        labels = net((x + moves).clamp(0, 1).view(-1, 1, 28, 28)).argmax(1)
        return (labels != net(x).argmax(1)).view(len(norms), -1)

    def norms(first, last=given["TOP"], width=step):
        return torch.arange(first, last + width / 2, width, dtype=torch.float64)

    along = changed("u", norms(step / 4, width=step / 4))[:, 0]
    attack = step / 4 * (1 + along.int().argmax().item())
    flips = changed("noise", norms(step)).sum(1)
    at = math.ceil(attack / step - 1e-9)
    half = step * (1 + (flips >= SAMPLES / 2).int().argmax().item())
    tab(page, "Noise and attack")
    text = seen(page, "half of the noise samples")
    assert f"At norm {at * step:.2f}, {flips[at - 1]} of {SAMPLES} noise samples" in text
    assert f"smallest step that does has norm {attack:.2f}; half of the noise samples change it by norm " \
           f"{half:.2f}, {half / attack:.1f} times as far." in text
    reached = changed("others", norms(step))
    first = torch.where(reached.any(0), step * (1 + reached.int().argmax(0)), torch.inf).sort().values
    tab(page, "Look around")
    text = seen(page, f"Of {DIRECTIONS} other random directions, ")
    upwards, = re.findall(r"upwards in the plane at norm ([.\d]+)\. Of", text)
    assert f"changes along the gradient at norm {attack:.2f}, and it changes upwards" in text
    v = page.evaluate("([u, seed]) => Array.from(EXPLORER.core().across(Float64Array.from(u), seed, 0))",
                      [given["u"], plane])
    given["v"] = [v]
    assert float(upwards) == pytest.approx(step * (1 + changed("v", norms(step))[:, 0].int().argmax().item()))
    page.get_by_role("button", name="Another random direction").click()
    seen(page, rf"upwards in the plane (?!at norm {upwards}\.)")
    assert f"{reached.any(0).sum()} change it up to norm {given['TOP']}" in text
    assert f"nearest at {first[0]:.2f}: {first[0] / attack:.1f} times as far as" in text


@in_a_browser
@pytest.mark.parametrize("width", [420, 1280])
def test_the_final_pair_stands_side_by_side_with_the_labels_of_pytorch(visit, nets, width):
    page, _, _ = visit(viewport={"width": width, "height": 800})
    page.wait_for_selector(".explorer.ready")
    inside, outside = images_of(page.evaluate("""() => {
      const core = EXPLORER.core(), grey = core.digits(EXPLORER.digits)[7];
      const {threshold, most} = EXPLORER.digits, net = core.network(EXPLORER['weights-0']);
      const {last, first} = core.search(net, grey, 255, threshold, most).steps.at(-1);
      return [Array.from(last), Array.from(first)]; }"""))
    seen(page, "stops above")
    drawn = images_of(page.evaluate("""() => [...document.querySelectorAll('.pair canvas')].map(canvas =>
      Array.from(canvas.getContext('2d').getImageData(0, 0, 28, 28).data).filter((_, p) => p % 4 === 0))"""))
    assert torch.equal(drawn, torch.stack([inside, outside]))
    with torch.no_grad():
        labels = nets[0](drawn.float() / 255).argmax(1).tolist()
    assert labels[0] == 7 != labels[1]
    assert page.locator(".pair figcaption").all_inner_texts() == [f"side {labels[0]}", f"side {labels[1]}"]
    digit, left, right = (page.locator(".mixing canvas").nth(n).bounding_box() for n in range(3))
    assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
    assert left["width"] == right["width"] > digit["width"]


@in_a_browser
def test_bar_and_mixtures_are_tapped_and_the_picture_is_one_of_the_search(visit):
    page, _, _ = visit(reduced_motion="reduce")
    page.wait_for_selector(".explorer.ready")
    first = page.locator(".path button").first
    first.click()
    seen(page, "After 1 mixture,")
    assert first.get_attribute("aria-pressed") == "true"
    assert page.locator("input[type=range]:visible").input_value() == "100"       # half white
    strip = page.locator(".strip").bounding_box()
    page.mouse.click(strip["x"] + strip["width"] * 0.75, strip["y"] + 5)
    assert "as to the digit" not in seen(page, "At 75% white")
    assert page.locator(".pair canvas:visible").count() == 1


@in_a_browser
def test_all_is_reached_by_keyboard_and_nothing_moves_by_itself(visit):
    page, _, _ = visit(reduced_motion="reduce")
    page.wait_for_selector(".explorer.ready")
    page.get_by_role("button", name="Run the search").press("Enter")
    assert page.locator(".path li:not(.empty)").count() == 1
    page.wait_for_timeout(1500)
    assert page.locator(".path li:not(.empty)").count() == 1
    page.get_by_role("tab", name="Mix").focus()
    page.keyboard.press("ArrowRight")
    first = seen(page, rf"\d of {SAMPLES}")
    page.locator("input[type=range]:visible").press("ArrowRight")
    assert seen(page, rf"\d of {SAMPLES}") != first
    page.get_by_role("tab", name="Noise and attack").press("ArrowRight")
    seen(page, f"Of {DIRECTIONS} other random")
    board = page.locator(".map:visible")
    before = board.locator(".ring").get_attribute("cx")
    board.press("ArrowLeft")
    assert float(board.locator(".ring").get_attribute("cx")) == pytest.approx(float(before) - 24 / (SIZE - 1))
    board.press("PageUp")
    assert page.locator("input[type=range]:visible").input_value() == "10"


@in_a_browser
def test_a_drag_turns_the_plane_and_a_tap_shows_an_image(visit):
    page, _, _ = visit(has_touch=True)
    page.wait_for_selector(".explorer.ready")
    tab(page, "Look around")
    box = page.locator(".map:visible").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 4
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y, steps=4)
    page.mouse.up()
    assert page.locator("input[type=range]:visible").input_value() == "80"
    ring = page.locator(".map:visible .ring")
    assert ring.get_attribute("cy") == "0"        # a drag leaves the ring where it was
    page.touchscreen.tap(x, y)
    assert float(ring.get_attribute("cx")) == pytest.approx(0, abs=0.2)
    assert float(ring.get_attribute("cy")) == pytest.approx(-6.1, abs=0.4)     # half a point of the plane


def rings(page):
    return {tuple(map(ring.get_attribute, ("cx", "cy"))) for ring in page.locator(".maps .ring").all()}


@in_a_browser
def test_all_six_maps_react(visit):
    page, _, _ = visit(has_touch=True, viewport={"width": 1280, "height": 1200})
    page.wait_for_selector(".explorer.ready")
    tab(page, "Compare trainings")
    seen(page, r"disagree on about \d")
    boards = page.locator(".maps .map")
    assert boards.count() == page.locator(".maps .ring").count() == 6
    for n, board in enumerate(boards.all()):
        box = board.bounding_box()
        x, y = box["x"] + box["width"] * (0.2 + 0.1 * n), box["y"] + box["height"] / 4
        before = rings(page)
        page.touchscreen.tap(x, y)
        assert len(after := rings(page)) == 1 and after != before
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 20, y, steps=2)
        page.mouse.up()
        assert page.locator("input[type=range]:visible").input_value() == f"{20 * (n + 1)}"
        assert rings(page) == after
    assert page.evaluate("getSelection().toString()") == ""


@in_a_browser
def test_the_sentence_follows_the_ring_and_has_the_labels_of_pytorch(visit, nets):
    page, _, _ = visit(viewport={"width": 1280, "height": 1200})
    page.wait_for_selector(".explorer.ready")
    start = ", where the label of training 1 changes along its gradient,"

    def labels():
        """What the networks assign at the ring, and to the digit."""
        place, = rings(page)
        images = images_of(page.evaluate("""([x, y]) => {
          const core = EXPLORER.core(), image = core.scaled(core.digits(EXPLORER.digits)[7]);
          const {u} = core.attack(core.network(EXPLORER['weights-0']), image), v = core.across(u, 3, 0);
          return [core.moved(image, x, u, -y, v), image].map(x => Array.from(x)); }""", [*map(float, place)]))
        with torch.no_grad():
            return torch.stack([in_double(net)(images).argmax(1) for net in nets], 1).tolist()

    def expected():
        ring, digit = labels()
        changed = sum(a != b for a, b in zip(ring, digit))
        return f"assign {' '.join(map(str, ring))}: {changed} of 5 give{'s' if changed == 1 else ''} it"

    tab(page, "Look around")
    page.locator(".map:visible").press("ArrowUp")
    tab(page, "Compare trainings")
    text = seen(page, r"disagree on about \d")
    assert start in text and expected() in text and "0 of 5" not in text
    third = page.locator(".maps .map").nth(3)
    third.click()
    text = seen(page, "At the ring they")
    assert expected() in text and "0 of 5" in text
    third.click(position={"x": 5, "y": 5})
    text = seen(page, "[1-5] of 5 give")
    assert start not in text and expected() in text
    tab(page, "Mix")
    tab(page, "Compare trainings")
    assert start in seen(page, r"disagree on \d")


@in_a_browser
def test_a_job_ends_where_an_empty_one_follows(compute):
    replies = compute("""const serve = sent => { const serve = core.serve(reply => sent.push(reply));
        serve({kind: "network", place: 0, file: EXPLORER["weights-0"]}); return serve; };
      const job = {kind: "flips", id: 1, image: images[7], steps: [1, 2, 3, 4], count: 200, seed: 1};
      const whole = [], ended = [], last = serve(ended), first = serve(whole)(job);
      const other = last(job);
      last({kind: "flips", id: 2});
      return Promise.all([first, other]).then(() => [whole.length, ended.length]);""")
    assert replies[0] == 5 and replies[1] < 5


@in_a_browser
def test_without_a_worker_the_page_computes_by_itself(visit):
    """There is one, there is none, it is refused, it fails later."""
    sentences = []
    for script in ("", "delete window.Worker", "Worker = class { constructor() { throw Error() } }",
                   "Worker = class { postMessage() { setTimeout(() => this.onerror?.()) } }"):
        page, _, _ = visit(script)
        page.wait_for_selector(".explorer.ready")
        tab(page, "Noise and attack")
        sentences.append(seen(page, "half of the noise samples"))
    assert len({*sentences}) == 1


# ---- where it cannot run ---------------------------------------------------------------------------------
def cut(text):
    return text[:len(text) // 2]


def bit(text):
    """One character of the weights is another one."""
    at = text.index('"weights": "') + 5_000
    return f"{text[:at]}{'A' if text[at] != 'A' else 'B'}{text[at + 1:]}"


@in_a_browser
@pytest.mark.parametrize("name, damage, line", [
    ("weights-0", cut, "weights-0.js is incomplete"), ("weights-0", bit, "weights-0.js is damaged"),
    ("digits", cut, "digits.js is incomplete"), ("core", cut, "core.js is incomplete"),
    ("weights-0", None, "weights-0.js is missing")])
def test_with_a_damaged_file_the_picture_stays_and_a_line_says_why(visit, folder, name, damage, line):
    path = folder / f"_static/explorer/{name}.js"
    text = path.read_text()
    path.unlink()
    if damage:
        path.write_text(damage(text))
    page, _, _ = visit()
    page.wait_for_function("document.querySelector('.instead').innerText.includes('cannot start')")
    assert line in page.locator(".instead").inner_text()
    assert page.locator("figure img").is_visible() and page.locator(".widget").count() == 0


@in_a_browser
def test_with_one_training_damaged_the_others_panels_work(visit, folder):
    path = folder / "_static/explorer/weights-3.js"
    path.write_text(cut(path.read_text()))
    page, _, _ = visit()
    page.wait_for_selector(".explorer.ready")
    tab(page, "Compare trainings")
    assert "weights-3.js is incomplete" in seen(page, "cannot be compared")
    tab(page, "Look around")
    seen(page, f"Of {DIRECTIONS} other random")


@in_a_browser
def test_without_scripts_and_in_a_print_the_picture_stands(visit):
    page, _, _ = visit(java_script_enabled=False)
    assert page.locator("figure img").is_visible() and page.locator(".instead").is_visible()
    page, _, _ = visit()
    page.wait_for_selector(".explorer.ready")
    page.emulate_media(media="print")
    assert page.locator("figure img").is_visible() and not page.locator(".widget").is_visible()


@in_a_browser
def test_what_is_not_in_sight_is_not_loaded(visit):
    tall = "document.querySelector('h1').style.height = '9000px'"
    page, _, requests = visit(f"addEventListener('DOMContentLoaded', () => {{ {tall} }})")
    page.wait_for_timeout(500)
    assert not [url for url in requests if "weights" in url or "core" in url]
    page.locator(".instead").scroll_into_view_if_needed()
    page.wait_for_selector(".explorer.ready")
