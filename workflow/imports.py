"""Which files of the project a module or notebook imports."""
import ast
from functools import cache
from pathlib import Path

from shared import ROOT

PACKAGES = ("shared", "report", "papers")


@cache
def _imported(path, _mtime):
    """Dotted names that a Python file imports; the project has no relative imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def files(path, *, root=None):
    """Files of the packages that the Python file `path` imports, also indirectly.

    Named relative to `root`, by default the repository.
    """
    root = root or ROOT
    seen, queue = set(), [Path(path)]
    while queue:
        current = queue.pop()
        for name in _imported(current, current.stat().st_mtime_ns):
            parts = name.split(".")
            for n in range(1, len(parts) + 1) if parts[0] in PACKAGES else ():
                base = root.joinpath(*parts[:n])
                for f in (base / "__init__.py", base.with_suffix(".py")):
                    if f.is_file() and f not in seen:
                        seen.add(f)
                        queue.append(f)
    return sorted(str(f.relative_to(root)) for f in seen)
