"""The package for others: what `pip install .` brings along, and what works where the repository is not."""
import ast
import email
import inspect
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata

import pytest

import shared
from report.repository import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def names(requirements):
    return {re.match(r"[\w-]+", line)[0].lower() for line in requirements}


OWNERS = cache(metadata.packages_distributions)


def distributions(path):
    """Names of the other distributions that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        outer = isinstance(node, ast.ImportFrom) and not node.level
        for module in modules + ([node.module] if outer else []):
            first = module.partition(".")[0]
            if first != "shared" and first not in sys.stdlib_module_names:
                yield OWNERS()[first][0].lower()


def test_the_dependencies_are_what_the_package_imports():
    needed, imported = names(PROJECT["project"]["dependencies"]), set()
    locked = set(re.findall(r"^([\w-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    for path in sorted((ROOT / "shared").rglob("*.py")):
        own = set(distributions(path))
        assert own <= needed, path
        imported |= own
    assert imported == needed <= locked


def test_the_wheel_is_whole_and_says_what_it_is(installed):
    def files(folder):
        return {p.relative_to(folder) for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"}

    about, = installed.glob("boundary_book-*.dist-info")
    assert files(installed / "boundary_book") == files(ROOT / "shared")
    assert {path.name for path in installed.iterdir()} == {"boundary_book", about.name}
    facts = email.message_from_string((about / "METADATA").read_text())
    assert facts["Version"] == shared.__version__ and facts["Author"] and facts["License-Expression"] == "MIT"
    assert facts["Keywords"] and facts.get_all("Classifier") and len(facts.get_all("Project-URL")) == 2
    assert facts.get_payload().strip() == (ROOT / "README.md").read_text().strip()


ELSEWHERE = """
import torch
from torch import nn
from boundary_book import borderline, inference, load, runtime
from boundary_book.similarity import ssim

data, draws = load("mnist", profile="smoke"), runtime.generator(0)
torch.manual_seed(0)    # with other weights all three images may have the class of the background
network = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).eval()
x = data.x_test[:3]
black = borderline.backgrounds("black", x, data.y_test[:3], draws)
pairs = borderline.search(inference.classifier(network), x, black, max_iterations=2)
assert len(pairs.inside) == 3 and ssim(x.float(), x.float(), data_range=255).min() > 0.999
print(runtime.cache_folder())
"""


def run(code, folder, *paths):
    """The finished process of a script in a folder, which finds packages at `paths` alone."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BOUNDARY_", "PYTHON"))}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
                          env={**env, "PYTHONPATH": os.pathsep.join(map(str, paths)), "HOME": str(folder)})


@pytest.mark.slow
def test_the_instruments_work_where_the_repository_is_not(tmp_path, installed):
    process = run(ELSEWHERE, tmp_path, installed)
    assert process.returncode == 0, process.stderr
    assert process.stdout.strip() == str(tmp_path / ".cache/boundary-book/_cache")
    assert os.listdir(tmp_path) == []


def test_every_short_name_is_there_and_no_other():
    assert len(shared.__all__) == len(set(shared.__all__))
    for name in shared.__all__:
        assert callable(getattr(shared, name)) or inspect.ismodule(getattr(shared, name))
    assert shared.card is shared.card and "PGD" in dir(shared)
    with pytest.raises(AttributeError, match="module 'shared' has no attribute 'PDG'"):
        _ = shared.PDG


def test_in_the_repository_both_names_are_the_same_modules():
    import boundary_book.attacks.gradient
    from boundary_book import PGD
    module = sys.modules["shared.attacks.gradient"]
    assert boundary_book is shared and PGD is module.PGD
    assert sys.modules["boundary_book.attacks.gradient"] is module
    assert module.__spec__.name == "shared.attacks.gradient"


@pytest.mark.parametrize("names", [("shared", "boundary_book"), ("boundary_book", "shared")])
def test_two_copies_in_one_process_are_refused_in_one_line(tmp_path, installed, names):
    """The wheel is installed where a clone of the book is at work."""
    process = run(f"import {', '.join(names)}", tmp_path, installed, ROOT)
    line = process.stderr.splitlines()[-1]
    assert line.startswith("ImportError: ") and "are two copies of one package" in line
    assert str(installed) in line and str(ROOT / "shared") in line
