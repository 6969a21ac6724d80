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


# Modules that import one of the papers by its name, which the graph does not show.
BY_NAME = {"report.claims": "claims", "report.registry": "models", "papers.findings": "audit"}


def files(path, keys=()):
    """Files of the packages that the Python file `path` imports, also indirectly.

    Named relative to the repository; `keys` are the papers of which it may import a module by name.
    """
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    names = {re.sub(r"^boundary_book\b", "shared", name) for name in names}
    names |= {f"shared.{module}" for name, module in ORIGINS.items() if module and f"shared.{name}" in names}
    modules = reached(names)
    modules |= reached(f"papers.{key}.{name}" for user, name in BY_NAME.items() if user in modules
                       for key in keys)
    modules |= {name[:n] for name in modules for n, sign in enumerate(name) if sign == "."}     # packages
    places = [name.replace(".", "/") for name in sorted(modules)]
    return [f"{place}/__init__.py" if (ROOT / place).is_dir() else f"{place}.py" for place in places]


def reached(names):
    """The modules among some names, and all that they import."""
    own = {*names} & graph().modules
    return own.union(*map(graph().find_upstream_modules, own))


def inputs(name):
    """Files whose change puts a run of the notebook `name` out of date: code, imports, reference values."""
    key, own = str(Path(name).parent), Path("book/reference") / f"{Path(name).parent}.json"
    all_printed = sorted(p.relative_to(ROOT) for p in (ROOT / "book/reference").glob("[!.]*.json"))
    printed = [own] if (ROOT / own).is_file() else all_printed
    code = files(f"notebooks/{name}.py", [key] if printed == [own] else [p.stem for p in all_printed])
    data = {p.relative_to(ROOT) for folder in {(ROOT / f).parent for f in code} for p in folder.iterdir()
            if p.suffix in (".html", ".json")}      # that modules read
    return [f"notebooks/{name}.ipynb", *code, *map(str, [*sorted(data), *printed]), "workflow/run.py",
            "workflow/table.py", "requirements.lock"]
