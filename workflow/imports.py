"""Which files of the project a module or notebook imports."""
import ast
from functools import cache
from pathlib import Path

from shared import ROOT

PACKAGES = ("shared",)


def _imported(tree, package):
    """Dotted names that a syntax tree imports; `package` (a tuple) holds the file, for relative imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *filter(None, [node.module])])
            yield module
            for alias in node.names:
                yield f"{module}.{alias.name}"


@cache
def _tree(path, _mtime):
    return ast.parse(path.read_text())


def tree(path):
    """Syntax tree of a Python file (the text half of a notebook is one)."""
    return _tree(path, path.stat().st_mtime_ns)


@cache
def _imports(path, package, _mtime):
    return tuple(_imported(tree(path), package))


def files(path, *, root=None):
    """Files of the project's package that the Python file `path` imports, also indirectly.

    Named relative to `root`, by default the repository.
    """
    root = root or ROOT
    seen, queue = set(), [Path(path)]
    while queue:
        current = queue.pop()
        package = current.relative_to(root).parent.parts if current.is_relative_to(root) else ()
        for name in _imports(current, package, current.stat().st_mtime_ns):
            parts = name.split(".")
            if parts[0] not in PACKAGES:
                continue
            for n in range(1, len(parts) + 1):
                base = root.joinpath(*parts[:n])
                for f in (base / "__init__.py", base.with_suffix(".py")):
                    if f.is_file() and f not in seen:
                        seen.add(f)
                        queue.append(f)
    return sorted(str(f.relative_to(root)) for f in seen)
