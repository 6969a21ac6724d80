"""What a run of a notebook depends on: the code that it imports, published values, the environment."""
import ast
import re
from functools import cache
from pathlib import Path

import grimp

from report.repository import ROOT
from shared import ORIGINS


@cache
def graph():
    """Which module of the packages imports which."""
    return grimp.build_graph("shared", "report", "papers", cache_dir=None)


def files(path):
    """Files of the packages that the Python file `path` imports, also indirectly.

    Named relative to the repository.
    """
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    names = {re.sub(r"^boundary_book\b", "shared", name) for name in names}
    names |= {f"shared.{module}" for name, module in ORIGINS.items() if module and f"shared.{name}" in names}
    own = names & graph().modules
    modules = own.union(*map(graph().find_upstream_modules, own))
    modules |= {name[:n] for name in modules for n, sign in enumerate(name) if sign == "."}     # packages
    places = [name.replace(".", "/") for name in sorted(modules)]
    return [f"{place}/__init__.py" if (ROOT / place).is_dir() else f"{place}.py" for place in places]


def inputs(name):
    """Files whose change puts a run of the notebook `name` out of date: code, imports, reference values."""
    own = Path("book/reference") / f"{Path(name).parent}.json"
    printed = [own] if own.is_file() else sorted(Path("book/reference").glob("[!.]*.json"))
    code = files(Path(f"notebooks/{name}.py").absolute())
    pages = [str(p) for f in code if (p := Path(f).with_suffix(".html")).is_file()]  # a module's own template
    return [f"notebooks/{name}.ipynb", *code, *pages, *map(str, printed), "workflow/run.py",
            "requirements.lock"]
