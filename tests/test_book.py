"""The built book: warnings are errors, pages stand alone, links lead somewhere, no complaint of a browser."""
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote, unquote, urlparse

import filelock
import pytest
import yaml
from conftest import (
    CHROMIUM,
    NOTEBOOKS,
    SESSION,
    digest,
    environment,
    in_a_browser,
    oddities,
    outputs,
    ran,
    rests_on,
)

from report import prose, reference
from report.repository import ROOT
from workflow import finder, render


@pytest.fixture(scope="module")
def book(smoke):
    """The book of the smoke runs, with warnings as errors; returns the folder of its pages.

    The workers of pytest-xdist share it: the first one here builds it, the others wait. It stays where its
    runs stay, and is built again where they or its sources have changed.
    """
    finished, folder = smoke
    assert all(process.returncode == 0 for process in finished.values())
    ours = "BOOK_OF_TESTS" in os.environ    # `.ci/run`: the book is that of `make book PROFILE=smoke`
    target, tools = ROOT if ours else folder / "book", Path(sys.executable).parent
    words = [sys.executable, "-m", "workflow.render", "smoke"] if ours else [
        tools / "jupyter-book", "build", "-W", "--keep-going", "-n", "-q", "--path-output", target, "."]
    sources = [Path(__file__), *(ROOT / name for name in (*render.SOURCES, "results"))]
    built, state = folder / "built", " ".join([render.state(*sources), *map(rests_on, NOTEBOOKS)])
    with filelock.FileLock(folder / "built.lock"):
        session, _, of = built.read_text().partition(" ") if built.exists() else ("", "", "")
        if session != SESSION and of != state:
            built.unlink(missing_ok=True)       # a book that fails leaves none
            if not ours:
                for place in (target, folder / "runs" / "smoke" / "pictures"):
                    shutil.rmtree(place, ignore_errors=True)
            now = time.time()
            for name in NOTEBOOKS:      # one time for all: a page may have run before those that it reads
                os.utime(ran(folder, name), (now, now))
            build = subprocess.run(
                words, cwd=ROOT, capture_output=True, text=True,
                env={**environment(folder), "BOUNDARY_RESULTS": str(ROOT / "results"), "PROFILE": "smoke",
                     "BOUNDARY_RUNS": str((folder / "runs").resolve()),
                     "PATH": f"{tools}:{os.environ['PATH']}"})
            assert build.returncode == 0, build.stdout[-5000:] + build.stderr[-5000:]
            built.write_text(f"{SESSION} {state}")
    return target / "_build" / "html"


class Page(HTMLParser):
    """Links, anchors, images and loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded, self.images = set(), [], [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.ids |= {a[k] for k in ("id", "name") if a.get(k)}
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        if tag in ("script", "img", "iframe", "source") and a.get("src"):
            self.loaded.append(a["src"])
        if tag == "link" and a.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(a["href"])
        if tag == "img":
            self.images.append(a)


@pytest.fixture(scope="module")
def pages(book):
    """`{path: Page}` of all content pages."""
    return {p: Page(p) for p in book.rglob("*.html")
            if not {"_static", "_sources"} & set(p.relative_to(book).parts)}


def test_pages_load_nothing_from_elsewhere(pages):
    remote = {(p.name, u) for p, page in pages.items() for u in page.loaded
              if urlparse(u).scheme not in ("", "data") or u.startswith("//")}
    assert not remote


def test_links_within_the_book_lead_somewhere(book, pages):
    broken = []
    for path, page in pages.items():
        for href in page.links:
            url = urlparse(href)
            if url.scheme or href.startswith("#") and not url.fragment:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            target = target / "index.html" if target.is_dir() else target
            lost = not target.exists() or (url.fragment and target in pages
                                           and unquote(url.fragment) not in pages[target].ids)
            if lost and path.name not in ("search.html", "genindex.html"):
                broken.append((str(path.relative_to(book)), href))
    assert not broken, broken[:20]


def test_every_image_has_an_alternative_text(pages):
    poor = [(p.name, i.get("src")) for p, page in pages.items() for i in page.images
            if len(i.get("alt") or "") < 15 and "_static" not in i.get("src", "")]
    assert not poor


def rows_of_the_scoreboard(html):
    """`(whether it is hidden, its cells as text)` of each row of the scoreboard."""
    body = html[html.index('<div class="scoreboard'):]
    rows = [("hidden" in attributes, [re.sub(r"<.*?>", "", c).strip()
                                      for c in re.findall(r"<td.*?</td>", row, re.S)])
            for attributes, row in re.findall(r"<tr([^>]*)>((?:(?!</tr>).)*<td.*?)</tr>", body, re.S)]
    return [(hidden, cells) for hidden, cells in rows if len(cells) == 8]


def test_the_scoreboard_is_whole_without_scripts(book):
    html = (book / "book/reproduction.html").read_text()
    rows = [cells for hidden, cells in rows_of_the_scoreboard(html) if not hidden]
    items = [i for key in reference.KEYS for i in reference.paper(key).items.values()]
    assert sorted(r[:3] for r in rows) == sorted([i.label, reference.SHORT[i.paper], i.kind] for i in items)
    for item in items:
        assert f"issues/new?title={quote(item.title)}%3A" in html
    assert re.search(r"<form[^>]* hidden>", html)  # its filters need scripts


def text_of(html):
    """A page's text, one space between words."""
    html = re.sub(r"(?s)<(script|style|svg).*?</\1>", "", html)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_counts_are_the_same_on_the_scoreboard_the_openings_and_the_gallery(book):
    """Each page's own numbers, against those of the scoreboard's rows."""
    rows = [cells for _, cells in rows_of_the_scoreboard((book / "book/reproduction.html").read_text())
            if cells[2] in reference.RESULT_KINDS]
    gallery = text_of((book / "book/gallery.html").read_text())
    assert f"{sum(r[2] == 'figure' for r in rows)} figures" in gallery
    for key, name in reference.SHORT.items():
        opening = text_of((book / f"book/{key}.html").read_text())
        for word, n in Counter(r[3] for r in rows if r[1] == name).items():
            assert re.search(rf"\b{n} {word}\b", opening), (key, word, n)


def test_the_home_page_shows_seven_findings_with_their_figures(book, pages):
    page = book / "book/index.html"
    assert [int(n) for n in re.findall(r"(\d)\. [^<]*</div>", page.read_text())] == [*range(1, 8)]
    assert sum("finding-" in image["src"] for image in pages[page].images) == 7


def test_numbers_of_the_headline_are_those_of_the_table(book):
    text = text_of((book / "book/reproduction.html").read_text())
    headline = r"print ([\d,]+) measured numbers, and ([\d,]+) of them .*?: ([\d,]+) come out near"
    total, measured, near = (int(n.replace(",", "")) for n in re.search(headline, text).groups())
    papers = re.findall(r"et al\. ([\d,]+) ([\d,]+) ([\d,]+) [\d,]+ [\d,]+ [\d,]+ [\d,]+ \d+ of \d+", text)
    assert len(papers) == len(reference.KEYS)
    assert [sum(int(row[k].replace(",", "")) for row in papers) for k in range(3)] == [total, measured, near]


def test_every_point_of_the_plot_of_all_numbers_links_to_its_table(book, pages):
    html = (book / "book/reproduction.html").read_text()
    svg = html[(start := html.index('<svg role="img"')):html.index("</svg>", start)]
    links = re.findall(r'<a xlink:href="([^"]+)"', svg)
    assert len(links) > 300
    for path, _, place in (url.partition("#") for url in set(links)):
        assert place in pages[(book / "book" / path).resolve()].ids, (path, place)


def test_the_page_on_speed_shows_every_table_that_was_kept(book):
    text = (book / "book/speed.html").read_text()
    parts = json.loads((ROOT / "results/benchmarks.json").read_text())["parts"]
    assert all(parts.values())
    shown = [table.count("<tr") for table in re.findall(r"(?s)<table.*?</table>", text)]
    kept = {part: [1 + len(t["rows"]) for t in tables] for part, tables in parts.items()}
    assert sorted(shown) == sorted(sum(kept.values(), []))
    assert "ours, 4 × 100" in text and "network A" in text  # as a page writes it


def test_rows_of_a_record_become_a_csv_file(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    import beside
    rows = [{"network": "A", "white": {"class": 8, "p": 0.5}}, {"network": "B, C", "n": None}]
    beside.rows_as_csv(rows, tmp_path / "x.csv")
    with open(tmp_path / "x.csv", newline="") as file:
        assert list(csv.DictReader(file)) == [{"network": "A", "white.class": "8", "white.p": "0.5", "n": ""},
                                              {"network": "B, C", "white.class": "", "white.p": "", "n": ""}]


def test_a_page_made_from_results_is_read_again_only_where_they_changed(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    import generated
    results = {"rows": "0.5", "claims": "holds"}
    monkeypatch.setattr(generated, "block", lambda name, argument, text: results[name])
    pages = {name: tmp_path / f"{name}.md" for name in ("table", "list", "prose")}
    for page, block in (("table", "rows"), ("list", "claims"), ("prose", None)):
        pages[page].write_text(f"# Page\n```{{generated}} {block}\n```\n" if block else "# Page\n")
    env = SimpleNamespace(found_docs=pages.keys(), doc2path=pages.get)

    def read_again():
        names = generated.outdated(None, env, set(), set(), set())
        for name in names or pages:
            generated.replace(SimpleNamespace(env=env), name, [pages[name].read_text()])
        return names

    assert read_again() == read_again() == []    # the first build reads all pages
    results["rows"] = "0.6"
    assert read_again() == ["table"] and read_again() == []
    results |= {"rows": "0.7", "claims": "fails"}
    assert read_again() == ["table", "list"]
    env.found_docs = {"list"}
    results |= {"rows": "0.8", "claims": "open"}
    assert read_again() == ["list"]    # the other was removed


def test_pages_name_the_sample_data_that_they_use_in_place_of_others(book, smoke):
    _, folder = smoke
    for name in NOTEBOOKS:
        stamp, = [o for o in outputs(folder, name) if o.get("kind") == "stamp"]
        page = (book / "notebooks" / f"{name}.html").read_text()
        assert all(f"in place of {prose.in_words(k)}" in page for k in stamp["facts"]["substitutes"])


def test_no_path_of_this_machine_and_no_bare_directive_is_shown(pages):
    for path in pages:
        text = re.sub(r"<(script|style).*?</\1>", "", path.read_text(), flags=re.S)
        assert str(ROOT) not in text and str(Path.home()) + "/" not in text, path
        assert "{generated}" not in text and ":name:" not in text, path


def test_the_only_numbers_are_the_papers_own(pages):
    for path in pages:
        text = path.read_text()
        assert "caption-number" not in text, path  # no "Table 9" of the book before the paper's Table III
        numbered = r'id="equation-([\w-]+)">\s*<span class="eqno">\((\w+)\)'
        for label, number in re.findall(numbered, text):
            assert label.endswith(f"-eq-{number}"), (path, label, number)


def test_code_is_folded_once_a_result(book):
    for name in NOTEBOOKS:
        text = (book / "notebooks" / f"{name}.html").read_text()
        cells = re.split(r'<div class="cell[ "]', text)[1:]
        assert all("cell_output" in cell for cell in cells), name  # no fold stands alone


def test_each_page_says_once_how_it_is_shown_and_what_it_is(pages):
    for path in pages:
        text = path.read_text()
        if 'http-equiv="Refresh"' in text:  # the book's first address leads on to its cover
            continue
        assert text.count('name="viewport"') == 1, path
        if "notebooks" in path.parts:
            assert len(re.search(r'<meta name="description" content="([^"]*)"', text)[1]) >= 60, path


def test_every_word_of_the_glossary_is_linked_where_it_is_used_and_explained_there(book, pages):
    terms = json.loads((book / "_static" / "glossary.js").read_text().split("=", 1)[1].rstrip(";\n"))
    links = [href for path, page in pages.items() if path.stem != "glossary" for href in page.links]
    used = {urlparse(href).fragment for href in links if "#term-" in href}
    assert used == terms.keys(), ("words that book/glossary.md alone or pages alone have: "
                                  f"{', '.join(sorted(used ^ terms.keys()))}")
    assert all(terms.values())


def test_a_word_is_linked_once_a_page_and_not_in_code(pages):
    for path, page in pages.items():
        words = Counter(href for href in page.links if "glossary.html#term-" in href)
        if path.parent.name == "book" and path.stem in reference.KEYS:
            assert words and max(words.values()) == 1, path
        assert not re.search(r"<(code|h[1-6])\b(?:(?!</\1>).)*#term-", path.read_text(), re.S), path


def prose_of(html):
    """The prose of a page: no script, style, code, formula, address; words apart."""
    article = re.search(r"(?s)<article.*?</article>", html)[0]
    hidden = r"script|style|code|pre|mjx-container"
    formula = r"<(?:span|div) class=\"math.*?</(?:span|div)>"
    text = re.sub(rf"(?s)<({hidden})\b.*?</\1>|{formula}", " ", article)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.mark.parametrize("text, is_e_notation", [
    ("0.0e+00", True), ("at most 1e-06 off", True), ("1.5e10 times", True),
    ("revision 667e086 of", False), ("revision 1e08642 of", False), ("667e086-dirty", False)])
def test_a_revision_is_no_number(text, is_e_notation):
    assert bool(oddities(text)) == is_e_notation


def test_what_pages_show_is_written_for_a_person(pages):
    """The whole of each page: prose of the sources, tables made from records, the scoreboard, the claims."""
    for path in pages:
        if "<article" in path.read_text() and path.stem not in ("api", "search", "genindex", "glossary"):
            # None is a parameter's value.
            assert oddities(prose_of(path.read_text()), "nothing") == [], path.stem


def test_names_of_the_reference_files_are_words_on_the_page():
    for key in reference.KEYS:
        for item in reference.paper(key).items.values():
            names = [*item.printed_numbers, *(c["label"] or k for k, c in item.columns.items())]
            assert not [n for n in map(prose.in_words, names) if "_" in n or not n], item.title
    assert prose.in_words("mean_ssim_row_1") == "mean SSIM row 1"
    assert prose.in_words("class given by M_1") == "class given by M₁"
    assert prose.in_words("b.linf") == "panel b: ℓ∞"
    assert prose.in_words("adv_attack_norm") == "adversarial attack norm"
    assert prose.in_words("mnist_adv") == "MNIST adversarial training"


# ---- a real browser --------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def browser(book):
    """`visit(page)` opens a page of the book in Chromium: (page, errors of its console, its requests)."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM,
                                        args=["--no-sandbox", "--allow-file-access-from-files"])
        page, errors, requests = chromium.new_page(), [], []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))

        def visit(name, query=""):
            errors.clear()
            requests.clear()
            page.goto(f"{(book / f'{name}.html').as_uri()}{query}")
            return page, errors, requests

        yield visit
        chromium.close()


# What a scheme changes is colours; everything else that axe looks at is the same in both.
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
EVERYTHING = {"rules": {"region": {"enabled": False}}}      # its lack is never serious
# Colours that fade from one scheme to the other have no contrast on their way.
STILL = "*, ::before, ::after { transition: none !important }"
# A page of each form (cards, filters, an item's table and figure, an explorer): axe takes seconds a page.
# Of many alike (1,700 points of a plot, 200 rows) axe looks at the first ones.
FEW = """for (const all of ["svg[role=img] a", ".scoreboard tbody tr"])
  document.querySelectorAll(all).forEach((one, n) => n < 40 || one.remove())"""
FOR_AXE = ["book/index", "book/reproduction", "notebooks/ren/iii_borderline",
           "notebooks/sutton/4_1_one_point"]


def serious(page, scheme, options):
    """What axe finds on a page in a colour scheme: `[(scheme, rule, the first element)]`."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_selector(f'html[data-theme="{scheme}"]', state="attached")  # the theme follows
    violations = page.evaluate("options => axe.run(document, {resultTypes: ['violations'], preload: false, "
                               "...options})", options)["violations"]
    return [(scheme, v["id"], v["nodes"][0]["html"][:120]) for v in violations
            if v["impact"] in ("serious", "critical")]


@pytest.fixture(scope="module")
def static(book):
    """A digest of what all pages load."""
    return digest(*((str(path.relative_to(book)), hashlib.sha256(path.read_bytes()).hexdigest())
                    for path in sorted((book / "_static").rglob("*")) if path.is_file()))


@in_a_browser
@pytest.mark.parametrize("name", ["book/index", "book/reproduction", "book/execution",
                                  *(f"notebooks/{n}" for n in NOTEBOOKS)])
def test_a_browser_shows_a_page_without_a_complaint_or_a_request(book, static, unless_passed, request, axe,
                                                                 name):
    """No error in the console, nothing asked of the network, formulas drawn, as wide as the window, nothing
    serious for axe.
    """
    path = book / f"{name}.html"
    html = path.read_text()
    pictures = [(path.parent / url).read_bytes() for url in re.findall(r'src="([^"]*_images/[^"]*)"', html)]
    unless_passed(static, html, *(hashlib.sha256(picture).hexdigest() for picture in pictures))
    page, errors, requests = request.getfixturevalue("browser")(name)
    if 'class="math' in html:
        page.wait_for_selector("mjx-container", state="attached")
    wrong = [("console", text) for text in errors]
    wrong += [("request", url) for url in requests if urlparse(url).scheme not in ("file", "data", "blob")]
    size = page.viewport_size
    for width in (400, 1100):
        page.set_viewport_size({"width": width, "height": 800})
        shown = page.evaluate("document.documentElement.scrollWidth")
        wrong += [("scrolls sideways", width, shown)] * (shown > width + 1)
    page.set_viewport_size(size)
    if name in FOR_AXE:
        page.add_style_tag(content=STILL)
        page.evaluate(FEW)
        page.evaluate(axe)
        wrong += serious(page, "light", EVERYTHING) + serious(page, "dark", COLOURS)
    assert wrong == []


@in_a_browser
def test_a_text_without_contrast_is_found_in_either_scheme(browser, axe):
    for scheme, rule in (("light", "article p { color: #ddd !important }"),
                         ("dark", "html[data-theme='dark'] article p { color: #333 !important }")):
        page, _, _ = browser("book/bibliography")
        page.add_style_tag(content=f"{rule} {STILL}")
        page.evaluate(axe)
        assert {(where, what) for where, what, _ in serious(page, "light", COLOURS)
                + serious(page, "dark", COLOURS)} == {(scheme, "color-contrast")}


@in_a_browser
def test_the_scoreboard_filters(browser):
    page, _, _ = browser("book/reproduction", "?paper=Chen%20et%20al.")
    rows = rows_of_the_scoreboard(page.content())
    assert {hidden for hidden, _ in rows} == {True, False}
    assert all(hidden == (cells[1] != "Chen et al.") for hidden, cells in rows)
    assert f">{len(reference.paper('chen').items)} of {len(rows)} items<" in page.content()


@in_a_browser
def test_search_finds_a_page(browser):
    def results(word):
        page, _, _ = browser("search", f"?q={word}")
        page.wait_for_function(
            "/[Ff]ound|did not match/.test(document.querySelector('#search-results').innerText)")
        return {link.split("#")[0].split("?")[0] for link in page.eval_on_selector_all(
            "#search-results li a", "links => links.map(a => a.getAttribute('href'))")}

    assert "notebooks/ren/iv_simulation.html" in results("separability")
    assert not results("zzzqqqxyz")


@in_a_browser
def test_words_and_wide_tables_are_reached_by_keyboard(browser):
    page, _, _ = browser("book/how-to-read")
    page.evaluate("scrollTo({top: 1e6, behavior: 'instant'})")
    page.locator("article a.word").first.focus()    # scrolls to it, for some frames
    page.wait_for_function("document.activeElement.getBoundingClientRect().top > 0")
    page.wait_for_timeout(300)
    assert page.locator("#word").is_visible() and len(page.locator("#word").inner_text()) > 20
    page.keyboard.press("Escape")
    assert not page.locator("#word").is_visible()
    before = page.viewport_size
    page.set_viewport_size({"width": 420, "height": 800})
    page, _, _ = browser("notebooks/ren/iv_simulation")
    page.wait_for_selector("article .scrolls[tabindex='0'][role=region][aria-label]")
    # What scrolls is reached by keyboard, so a picture as wide as the text must not scroll by a pixel.
    over = "[...document.querySelectorAll('div.picture')].map(box => box.scrollWidth - box.clientWidth)"
    assert 1 not in page.evaluate(over)
    page.set_viewport_size(before)


def test_the_finder_of_the_readme_is_in_step():
    text = finder.README.read_text()
    assert finder.renewed(text) == text


def test_the_home_page_cites_the_book_as_its_citation_file_does():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    author, = citation["authors"]
    home = (ROOT / "book/index.md").read_text()
    assert citation["message"] in home
    for value in (author["name"], citation["title"], citation["repository-code"]):
        assert f"{{{value}}}" in home, value
