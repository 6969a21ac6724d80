"""What many tests need: a home for cache, data and results; every notebook run once in `smoke`."""
import contextlib
import functools
import gc
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import filelock
import pytest

from report import reference
from report.repository import ROOT
from shared import runtime
from tests import warm
from workflow import catalogue, imports

NOTEBOOKS = sorted(str(p.relative_to(ROOT / "notebooks").with_suffix(""))
                   for p in ROOT.glob("notebooks/*/[!.]*.py") if "-Copy" not in p.stem)

SESSION = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def in_a_browser(test):
    """Mark a test that needs a browser. A machine without one says so for each; the others hold there."""
    skip = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; .ci/run installs one")
    return pytest.mark.slow(skip(test))


# What a text for a reader should not have.
SHOWN = {"raw list or dict": r"\[['\"]|\{['\"]",
         # A short revision such as 667e086 is none: no sign, more than one digit before the e.
         "e-notation": r"(?<![\w-])(?:\d+(?:\.\d+)?e[-+]\d+|\d(?:\.\d+)?e\d{1,2})\b",
         "array or type": r"\barray\(|\bnp\.|dtype|\btensor\(|<class", "path": r"/(?:work|tmp|home|root)/",
         "nothing": r"\b(?:nan|None)\b(?! of)",
         "internal name": rf"(?<!/)\b(?:{'|'.join(reference.KINDS)})-\d+\b|"
                          rf"\b(?:{'|'.join(reference.KEYS)})-[a-z]\b"}


def oddities(text, *allowed):
    """What a text has of `SHOWN`, each with the words around it."""
    return [(kind, text[max(0, m.start() - 40):m.end() + 40]) for kind, pattern in SHOWN.items()
            if kind not in allowed for m in re.finditer(pattern, text)]


def pytest_configure(config):
    """Fit for a run, with torch, is who runs tests, not the process that hands them out."""
    runtime.prepare(computes=hasattr(config, "workerinput") or not config.getoption("numprocesses", None))


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Mark the tests of the rendered book as slow, and let one worker begin with what takes longest.

    That is the book, or without it the runs of all notebooks. Each worker begins with its part of the list,
    then takes from the end of another's.
    """
    for item in items:
        if {"book", "smoke"} <= {*item.fixturenames}:
            item.add_marker("slow")
    yield
    book = [i for i in items if {"book", "smoke"} <= {*i.fixturenames}]
    runs = [i for i in items if "smoke" in i.fixturenames and i not in book]
    rest = [i for i in items if "smoke" not in i.fixturenames]
    cut = max(0, len(items) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 2)) - len(book))
    items[:] = [*book, *rest[:cut], *runs, *rest[cut:]]


def pytest_collection_finish(session):
    """Read the files of tests that may be skipped; no collection of garbage walks through what is there."""
    for item in session.items:
        if "unless_passed" in item.fixturenames:
            content(str(item.path.relative_to(ROOT)))
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Networks of torch's own layers start from the same weights, whichever tests ran before."""
    import torch  # here: the process that hands tests out does without
    torch.manual_seed(0)


@pytest.fixture
def bf16(monkeypatch):
    """What computes in bfloat16 does so on every machine, emulated (and slow) where need be."""
    monkeypatch.setattr(runtime, "has_bf16", lambda device: True)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Empty folders for cache, data and results."""
    for name in ("CACHE", "DATA", "RESULTS"):
        monkeypatch.setenv(f"BOUNDARY_{name}", str(tmp_path / name.lower()))
    return tmp_path


def environment(folder):
    """Environment of a child process that keeps everything under `folder`."""
    return {**os.environ, "BOUNDARY_CACHE": f"{folder}/cache", "BOUNDARY_DATA": f"{folder}/data",
            "BOUNDARY_RESULTS": f"{folder}/results", "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE",
            "PYTHONPATH": str(ROOT)}


@functools.cache
def content(file):
    """A digest of a file of this tree."""
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()


@functools.cache
def machine():
    """Packages and processor."""
    import torch

    from report import provenance
    packages = sorted(place.name for place in Path(pytest.__file__).parents[1].glob("*.dist-info"))
    return [sys.version, *packages, torch.backends.cpu.get_cpu_capability(), torch.cuda.is_available(),
            provenance.device_model(torch.device("cpu")), os.environ.get("ONEDNN_MAX_CPU_ISA")]


inputs = functools.cache(imports.inputs)


def rests_on(name):
    """A digest of all that a run of a notebook in `smoke` rests on, where nothing is recorded."""
    files = {*inputs(name), f"notebooks/{name}.py", "tests/conftest.py", "tests/flips.py",
             "tests/published.py", "tests/warm.py"}
    return digest(*sorted((file, content(file)) for file in files), *machine())


def digest(*facts):
    return hashlib.sha256(repr(facts).encode()).hexdigest()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if not report.passed:
        item.passed_with = None
    elif call.when == "teardown" and getattr(item, "passed_with", None):
        place, state = item.passed_with
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(state)
    return report


@pytest.fixture
def unless_passed(request):
    """`unless_passed(*facts)` skips a test that takes long, where it passed before with the same facts.

    facts   digests of all that it rests on, but for this file, its own, packages, processor and browser. None
            is skipped by `.ci/run`
    """
    place = ROOT / "_runs" / "tests" / "passed" / digest(request.node.nodeid)

    def unless_passed(*facts):
        test, browser = str(request.path.relative_to(ROOT)), CHROMIUM and os.stat(CHROMIUM).st_mtime
        state = digest(*facts, content("tests/conftest.py"), content(test), *machine(), browser)
        if "BOOK_OF_TESTS" not in os.environ and place.exists() and place.read_text() == state:
            pytest.skip("passed before; nothing that it rests on has changed since")
        request.node.passed_with = place, state

    return unless_passed


@pytest.fixture(scope="session")
def axe():
    """The text of axe's script."""
    return (Path(find_spec("axe_playwright_python").origin).parent / "axe.min.js").read_text()


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """`{notebook: finished process}` of every notebook run by papermill in `smoke`, and their folder.

    The workers of pytest-xdist share the runs: each takes those that no other is at. What succeeded stays in
    `_runs/tests`, and runs again only where something that it rests on has changed. Networks are trained
    anew in each session.
    """
    from tests import flips
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    base = tmp_path_factory.getbasetemp() if alone else tmp_path_factory.getbasetemp().parent
    folder = ROOT / "_runs" / "tests"
    if "BOOK_OF_TESTS" in os.environ:    # `.ci/run`: the runs are those of `make book PROFILE=smoke`
        folder = Path(os.environ["BOOK_OF_TESTS"])
        (ROOT / "_runs").mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (folder / "runs").symlink_to(ROOT / "_runs")
    env = environment(folder) | {"BOUNDARY_CACHE": f"{base}/cache", "BOUNDARY_FLIPS": f"{folder}/flips"}
    states = {name: rests_on(name) for name in NOTEBOOKS}   # before any run imports the code
    there = {}

    def outcome(name):
        return folder / "outcomes" / f"{name.replace('/', '-')}.json"

    def finished(name):
        """The process that ran a notebook, or None: one that failed counts for this session alone."""
        if not outcome(name).exists():
            return None
        session, state, *facts = json.loads(outcome(name).read_text())
        process = subprocess.CompletedProcess(name, *facts)
        kept = (state, process.returncode) == (states[name], 0) and ran(folder, name).exists()
        return process if kept or session == SESSION else None

    def run(name, wait):
        outcome(name).parent.mkdir(parents=True, exist_ok=True)
        with (contextlib.suppress(filelock.Timeout),
              filelock.FileLock(outcome(name).with_suffix(".lock"), blocking=wait)):
            if finished(name) is None:
                # First the outcome: a run that is stopped leaves none. A judgement adds a line to its item's.
                lines = (flips.file_of(folder / "flips", name.split("/")[0], item)
                         for item in catalogue.items(name))
                for path in (outcome(name), ran(folder, name), *lines):
                    path.unlink(missing_ok=True)
                words = [f"notebooks/{name}.ipynb", str(ran(folder, name)), "-p", "profile", "smoke"]
                done = runs().run(words, outcome(name))
                text = json.dumps([SESSION, states[name], done.returncode, done.stdout, done.stderr])
                runtime.write_atomically(outcome(name), lambda part: part.write_text(text))
            there[name] = finished(name)

    with contextlib.ExitStack() as ends, ThreadPoolExecutor(2 if alone else 1) as pool:
        runs = functools.cache(lambda: ends.enter_context(contextlib.closing(warm.Runs(env, base))))
        for wait in (False, True):
            list(pool.map(run, NOTEBOOKS, [wait] * len(NOTEBOOKS)))
    return there, folder


def ran(folder, name):
    """Where a notebook's smoke run is kept, laid out as the workflow does."""
    return Path(folder) / "runs" / "smoke" / "notebooks" / f"{name}.ipynb"


@functools.cache
def outputs(folder, name):
    """What `report.page` left in the outputs of a run notebook."""
    cells = json.loads(ran(folder, name).read_text())["cells"]
    return [o["data"]["application/vnd.boundary-book+json"] for c in cells for o in c.get("outputs", [])
            if "application/vnd.boundary-book+json" in o.get("data", {})]


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with what the wheel of this tree holds."""
    tree, wheels, folder = (tmp_path_factory.mktemp(name) for name in ("tree", "wheels", "installed"))
    shutil.copytree(ROOT / "shared", tree / "shared", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(wheels)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=tree, check=True, capture_output=True)
    wheel, = wheels.iterdir()
    shutil.unpack_archive(wheel, folder, "zip")
    return folder
