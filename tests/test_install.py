"""The package for others: what `pip install .` brings along, and what works where the repository is not."""
import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata

from setuptools import find_packages

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


def test_the_installed_package_is_whole():
    setuptools = PROJECT["tool"]["setuptools"]
    packages = find_packages(ROOT, include=setuptools["packages"]["find"]["include"])
    folders = {str(p.parent.relative_to(ROOT)).replace("/", ".") for p in (ROOT / "shared").rglob("*.py")}
    assert set(packages) == folders
    others = {p.name for p in (ROOT / "shared").rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")}
    assert others == {name for names in setuptools["package-data"].values() for name in names}


ELSEWHERE = """
import torch
from torch import nn
from report.repository import ROOT
from shared import borderline, inference, regions, roby, runtime, similarity, susceptibility
from shared.attacks import gradient
from shared import boundary
from shared.data import sets
from shared.training import fit

data, draws = sets.load("mnist", profile="smoke"), runtime.generator(0)
torch.manual_seed(0)    # with other weights all three images may have the class of the background
network = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).eval()
x = data.x_test[:3]
black = borderline.backgrounds("black", x, data.y_test[:3], draws)
pairs = borderline.search(inference.classifier(network), x, black, max_iterations=2)
assert len(pairs.inside) == 3 and similarity.ssim(x.float(), x.float(), data_range=255).min() > 0.999
print(runtime.cache_folder())
"""


def test_the_instruments_work_where_the_repository_is_not(tmp_path):
    packages = tmp_path / "packages"
    shutil.copytree(ROOT / "shared", packages / "shared", ignore=shutil.ignore_patterns("__pycache__"))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BOUNDARY_", "PYTHON"))}
    away = tmp_path / "away"
    away.mkdir()
    process = subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=away, capture_output=True, text=True,
                          env={**env, "PYTHONPATH": str(packages), "HOME": str(tmp_path / "home")})
    assert process.returncode == 0, process.stderr
    assert process.stdout.strip() == str(tmp_path / "home/.cache/boundary-book/_cache")
    assert os.listdir(away) == [] and os.listdir(packages) == ["shared"]
