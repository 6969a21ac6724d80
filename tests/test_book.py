"""The built book: warnings are errors, pages stand alone, links lead somewhere, a real browser has no complaint."""
import csv
import os
import re
import shutil
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlparse

import pytest
from conftest import NOTEBOOKS, environment

from shared import ROOT, reference

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def book(smoke, tmp_path_factory):
    """The book of the smoke runs, with warnings as errors; returns the folder of its pages."""
    done, folder = smoke
    assert all(d.returncode == 0 for d in done.values())
    target = tmp_path_factory.mktemp("book")
    told = subprocess.run([f"{Path(sys.executable).parent}/jupyter-book", "build", "-W", "--keep-going", "-n", "-q",
                           "--path-output", str(target), "."], cwd=ROOT, capture_output=True, text=True,
                          env={**environment(folder), "BOUNDARY_RESULTS": str(ROOT / "results/paper"), "PROFILE": "smoke",
                               "BOUNDARY_RUNS": f"{folder}/runs"})
    assert told.returncode == 0, told.stdout[-5000:] + told.stderr[-5000:]
    return target / "_build" / "html"


class Page(HTMLParser):
    """Links, anchors, pictures and loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded, self.images = set(), [], [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.ids |= {a[k] for k in ("id", "name") if a.get(k)}
        if tag == "a" and a.get("href"):
            self.links.append((a["href"], a.get("class") or ""))
        if tag in ("script", "img", "iframe", "source") and a.get("src"):
            self.loaded.append(a["src"])
        if tag == "link" and a.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(a["href"])
        if tag == "img":
            self.images.append(a)


@pytest.fixture(scope="module")
def pages(book):
    """`{path: Page}` of all content pages."""
    found = [p for p in book.rglob("*.html") if not {"_static", "_sources"} & set(p.relative_to(book).parts)]
    return {p: Page(p) for p in found}


def test_every_notebook_and_paper_has_a_page(book):
    assert all((book / "notebooks" / f"{n}.html").is_file() for n in NOTEBOOKS)
    assert all((book / "book" / f"{k}.html").is_file() for k in reference.KEYS)


def test_pages_load_nothing_from_elsewhere(pages):
    remote = {(p.name, u) for p, page in pages.items() for u in page.loaded if urlparse(u).scheme or u.startswith("//")}
    assert not remote


def test_links_within_the_book_lead_somewhere(book, pages):
    broken = []
    for path, page in pages.items():
        for href, css in page.links:
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


def test_every_picture_has_an_alternative_text(pages):
    poor = [(p.name, i.get("src")) for p, page in pages.items() for i in page.images
            if len(i.get("alt") or "") < 15 and "_static" not in i.get("src", "")]
    assert not poor


def test_the_reproduction_page_lists_every_item(book):
    text = (book / "book" / "reproduction.html").read_text()
    for key in reference.KEYS:
        for item in reference.paper(key).items.values():
            if item.number and item.kind in reference.RESULT_KINDS:
                assert item.label in text, item.title


def rows_of_the_scoreboard(html):
    """`(whether it is hidden, its cells as text)` of each row of the scoreboard."""
    body = html[html.index('<div class="scoreboard'):]
    found = re.findall(r"<tr([^>]*)>((?:(?!</tr>).)*<td.*?)</tr>", body, re.S)
    rows = [("hidden" in a, [re.sub(r"<.*?>", "", c).strip() for c in re.findall(r"<td.*?</td>", row, re.S)])
            for a, row in found]
    return [(hidden, cells) for hidden, cells in rows if len(cells) == 8]


def test_the_scoreboard_is_whole_without_scripts(book):
    html = (book / "book/reproduction.html").read_text()
    rows = [cells for hidden, cells in rows_of_the_scoreboard(html) if not hidden]
    items = [i for key in reference.KEYS for i in reference.paper(key).items.values()]
    assert sorted(r[:3] for r in rows) == sorted([i.label, reference.SHORT[i.paper], i.kind] for i in items)
    for item in items:
        assert f"issues/new?title={quote(item.title)}%3A" in html
    assert "<form" in html and re.search(r"<form[^>]* hidden>", html)  # nothing to press that would not answer


def test_the_history_of_a_verdict_is_read_from_git(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    import history
    log = """commit 2026-01-01

diff --git a/results/paper/ren/table-3.json b/results/paper/ren/table-3.json
+ "verdict": "trend"
diff --git a/results/paper/ren/table-4.json b/results/paper/ren/table-4.json
+ "verdict": "exact"
commit 2026-01-02
diff --git a/results/paper/ren/table-3.json b/results/paper/ren/table-3.json
- "verdict": "trend"
+ "verdict": "matches"
diff --git a/results/paper/ren/table-4.json b/results/paper/ren/table-4.json
deleted file mode 100644
- "verdict": "exact"
"""
    assert history.read(log) == {
        "ren/table-3": [("2026-01-01", "trend"), ("2026-01-02", "matches")],
        "ren/table-4": [("2026-01-01", "exact"), ("2026-01-02", "withdrawn")]}


def test_rows_of_a_record_become_a_csv_file(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    import beside
    rows = [{"net": "A", "white": {"class": 8, "p": 0.5}}, {"net": "B, C", "n": None}]
    beside.rows_as_csv(rows, tmp_path / "x.csv")
    with open(tmp_path / "x.csv", newline="") as file:
        assert list(csv.DictReader(file)) == [{"net": "A", "white.class": "8", "white.p": "0.5", "n": ""},
                                              {"net": "B, C", "white.class": "", "white.p": "", "n": ""}]


def test_stand_ins_are_said_on_their_pages(book, smoke):
    _, folder = smoke
    for name in NOTEBOOKS:
        run = (folder / "runs/smoke/notebooks" / f"{name}.ipynb").read_text()
        page = (book / "notebooks" / f"{name}.html").read_text()
        assert ("STAND-IN, NOT" in run) == ("STAND-IN, NOT" in page)


def test_no_path_of_this_machine_and_no_bare_directive_is_shown(pages, tmp_path):
    for path in pages:
        text = re.sub(r"<(script|style).*?</\1>", "", path.read_text(), flags=re.S)
        assert str(ROOT) not in text and str(Path.home()) + "/" not in text, path
        assert "{generated}" not in text and ":name:" not in text, path


# ---- a real browser --------------------------------------------------------------------------------------
def visit(url, folder, *options):
    """Load a page in Chromium; returns (DOM, log)."""
    told = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                           "--disable-background-networking", "--disable-component-update", "--disable-sync",
                           "--allow-file-access-from-files", f"--user-data-dir={folder}", "--enable-logging=stderr",
                           "--virtual-time-budget=8000", "--dump-dom", *options, url],
                          capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": str(folder)})
    return told.stdout, told.stderr


@pytest.fixture(scope="module")
def browser(book, tmp_path_factory):
    """Says plainly where there is no browser; the tests below then pass without having looked."""
    if not CHROMIUM:
        warnings.warn("no Chromium on the PATH: the browser tests were not run", stacklevel=1)
    return tmp_path_factory.mktemp("browser") if CHROMIUM else None


@pytest.mark.filterwarnings("default:no Chromium")
@pytest.mark.parametrize("name", ["book/index", "book/reproduction", *(f"notebooks/{n}" for n in NOTEBOOKS)])
def test_a_browser_shows_the_page_without_errors_or_requests(book, browser, name):
    if browser is None:
        return
    net = browser / "net.json"
    dom, log = visit((book / f"{name}.html").as_uri(), browser, f"--log-net-log={net}")
    errors = [line for line in log.splitlines() if ":CONSOLE" in line and re.search(r"error|uncaught|failed", line, re.I)]
    assert not errors, errors
    assert "<h1" in dom
    formulas = 'class="math' in (book / f"{name}.html").read_text()
    assert formulas == ("<mjx-container" in dom)  # the browser has drawn them
    asked = set(re.findall(r'"url":"(https?://[^"]+)"', net.read_text()))
    own = {u for u in asked if "google" not in u and "gstatic" not in u}  # Chromium's own calls at start-up
    assert not own, own


@pytest.mark.filterwarnings("default:no Chromium")
def test_the_scoreboard_filters(book, browser):
    if browser is None:
        return
    dom, _ = visit(f"{(book / 'book/reproduction.html').as_uri()}?paper=Chen%20et%20al.", browser)
    rows = rows_of_the_scoreboard(dom)
    assert {hidden for hidden, _ in rows} == {True, False}
    assert all(hidden == (cells[1] != "Chen et al.") for hidden, cells in rows)
    assert f">{len(reference.paper('chen').items)} of {len(rows)} items<" in dom


@pytest.mark.filterwarnings("default:no Chromium")
def test_search_finds_a_page(book, browser):
    if browser is None:
        return

    def found(word):
        dom, _ = visit(f"{(book / 'search.html').as_uri()}?q={word}", browser)
        results = dom[dom.index('id="search-results"'):]  # what is before is the list of all pages
        return set(re.findall(r'<li[^>]*>\s*<a href="([^"?#]+)', results))

    assert "notebooks/ren/iv_simulation.html" in found("separability")
    assert not found("zzzqqqxyz")


def test_the_finder_of_the_readme_is_in_step():
    told = subprocess.run([sys.executable, "-m", "workflow.finder", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
