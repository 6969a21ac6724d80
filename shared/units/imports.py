"""Which files of the project a module or notebook imports, and a hash of what that code says."""
import ast
import hashlib
from functools import cache
from pathlib import Path

from shared import ROOT

PACKAGES = ("shared",)
# These files decide how a result is run and shown, not what it is: they do not make a record out of date.
DISPLAY = ("shared/__init__.py", "shared/explore.py", "shared/notebook.py", "shared/records.py", "shared/reference.py",
           "shared/report.py", "shared/sources.py")


def _imported(tree, package):
    """Dotted names a syntax tree imports; `package` (a tuple) holds the file, for relative imports."""
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


def files(path, *, root=None):
    """Files of the project's package that the Python file `path` imports, also indirectly; relative to `root`
    (the repository)."""
    root = root or ROOT
    seen, queue = set(), [Path(path)]
    while queue:
        current = queue.pop()
        package = current.relative_to(root).parent.parts if current.is_relative_to(root) else ()
        for name in _imported(tree(current), package):
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


def _without_docstrings(node):
    for child in ast.walk(node):
        body = getattr(child, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) \
                and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
            child.body = body[1:] or [ast.Pass()]
    return node


def hash_of(paths, snippets=()):
    """Hash of what the code in files `paths` and source `snippets` says: comments and docstrings do not count."""
    digest = hashlib.sha256()
    for text in [*(p.read_text() for p in sorted(set(paths))), *snippets]:
        # unparse, not dump: the text of one program is the same under every Python version
        digest.update(ast.unparse(_without_docstrings(ast.parse(text))).encode())
    return digest.hexdigest()[:16]


def code_hash(*paths, snippets=(), root=None):
    """`hash_of` the files `paths` with all project files that they import."""
    every = {Path(p) for p in paths}
    for p in list(every):
        every |= {(root or ROOT) / f for f in files(p, root=root)}
    return hash_of(every, snippets)


def measurement_code(text_half):
    """Hash of the code that makes a notebook's results: its functions, except `draw_...`, and the modules it reaches,
    except `DISPLAY`. A page uses it to say whether the code has changed since a record was made."""
    text = text_half.read_text()
    snippets = [ast.get_source_segment(text, node) for node in tree(text_half).body
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("draw_")]
    return hash_of([ROOT / f for f in files(text_half) if f not in DISPLAY], snippets)
