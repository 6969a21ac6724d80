"""Which files of the project a module or notebook imports, and what else its run depends on."""
import ast
import re
from functools import cache
from pathlib import Path

from report.repository import ROOT
from shared import ORIGINS

PACKAGES = ("shared", "report", "papers")


@cache
def _direct(path, root, _mtime):
    """Files of the packages that a Python file itself imports."""
    names, files_ = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = path.relative_to(root).parent.parts[:1 - node.level or None] if node.level else ()
            module = ".".join([*above, *filter(None, [node.module])])
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    names = {re.sub(r"^boundary_book\b", "shared", name) for name in names}
    names |= {f"shared.{origin}" for name, origin in ORIGINS.items() if f"shared.{name}" in names and origin}
    for parts in (name.split(".") for name in names):
        for n in range(1, len(parts) + 1) if parts[0] in PACKAGES else ():
            base = root.joinpath(*parts[:n])
            files_ |= {file for file in (base / "__init__.py", base.with_suffix(".py")) if file.is_file()}
    return files_


def files(path):
    """Files of the packages that the Python file `path` imports, also indirectly.

    Named relative to the repository.
    """
    seen, queue = set(), [Path(path)]
    while queue:
        current = queue.pop()
        new = _direct(current, ROOT, current.stat().st_mtime_ns) - seen
        seen |= new
        queue += new
    return sorted(str(file.relative_to(ROOT)) for file in seen)


def inputs(name):
    """Files whose change puts a run of the notebook `name` out of date: code, imports, reference values."""
    own = Path("book/reference") / f"{Path(name).parent}.json"
    printed = [own] if own.is_file() else sorted(Path("book/reference").glob("[!.]*.json"))
    code = files(Path(f"notebooks/{name}.py").absolute())
    pages = [str(p) for f in code if (p := Path(f).with_suffix(".html")).is_file()]  # a module's own template
    return [f"notebooks/{name}.ipynb", *code, *pages, *map(str, printed), "workflow/run.py",
            "requirements.lock"]
