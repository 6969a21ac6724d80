"""A digest of the code that decides a result.

It is taken over the syntax of some definitions and of what these name in turn in their own module, in the
papers' code and in `shared.training`, without docstrings, comments and annotations. It needs only Python,
and is the same on every version of it.
"""
import ast
import importlib.util
import json
import os
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path

OURS = ("papers.", "shared.training.")
NO_CODE = {"ctx", "kind", "type_comment", "type_params", "annotation", "returns"}


def form(node):
    """A syntax tree as nested lists that every Python gives: no places, docstrings and empty fields."""
    if isinstance(node, list):
        return [form(part) for part in node]
    if not isinstance(node, ast.AST):
        return ascii(node)
    fields = {k: v for k, v in ast.iter_fields(node) if k not in NO_CODE and v is not None and v != []}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node):
        fields["body"] = node.body[1:]
    return [type(node).__name__, *([k, form(v)] for k, v in sorted(fields.items()))]


def _hash(value):
    return sha256(json.dumps(value).encode()).hexdigest()


def _names(node):
    """Names that a statement reads: `x` as (x, None), `module.x` as (module, x)."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part.id, None
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            yield part.value.id, part.attr


def _found(module):
    """The spec of a module, found without importing it; None of one without a file, as in a notebook."""
    try:
        spec = importlib.util.find_spec(module)
        return spec if spec is not None and spec.has_location else None
    except (ImportError, ValueError):
        return None


def _holds(package, name):
    """Whether a package, by its name, has a module of that name."""
    spec = _found(package)
    places = (spec and spec.submodule_search_locations) or ()
    return any((Path(place) / f"{name}.py").is_file() or (Path(place) / name).is_dir() for place in places)


@lru_cache(maxsize=256)
def _parsed(name, path, package, _state):
    """`({name: (hash, names)}, {name: (module, name there or None)})`: a module's definitions and imports."""
    tree, statements, imports = ast.parse(Path(path).read_text(encoding="utf-8")), {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.asname: (alias.name, None) for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = name.split(".")[:len(name.split(".")) - node.level + package]
                base = ".".join([*above, *filter(None, [base])])
            for alias in node.names if base.startswith(("papers", "report", "shared")) else ():
                there = (f"{base}.{alias.name}", None) if _holds(base, alias.name) else (base, alias.name)
                imports[alias.asname or alias.name] = there
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            statements.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for part in (n for target in targets for n in ast.walk(target)):
                if isinstance(part, ast.Name):
                    statements.setdefault(part.id, []).append(node)
    return {k: (_hash(form(nodes)), list(dict.fromkeys(n for node in nodes for n in _names(node))))
            for k, nodes in statements.items()}, imports


def _module(name):
    """What `_parsed` gives of a module as its file is now."""
    if (spec := _found(name)) is None:
        return {}, {}
    state = os.stat(spec.origin)
    return _parsed(name, spec.origin, spec.submodule_search_locations is not None,
                   (state.st_mtime_ns, state.st_size))


def in_a_file(module):
    """Whether a module has a file whose code can be digested: the cells of a notebook have none."""
    return module != "__main__" and _found(module) is not None


def ours(module):
    """Whether a module's code counts; the instruments in `shared` are held by their stored outputs."""
    return module.startswith(OURS)


def reached(module, name, seen, look=_module):
    """Enter into `seen` {"module.name": hash} what a definition is, and what it names in our code."""
    place = f"{module}.{name}"
    if place in seen:
        return
    definitions, imports = look(module)
    if name not in definitions:
        if name in imports and imports[name][1] and ours(imports[name][0]):
            reached(*imports[name], seen, look)
        return
    seen[place], names = definitions[name]
    for first, attribute in names:
        if attribute is None:
            reached(module, first, seen, look)
        elif first in imports and imports[first][1] is None and ours(imports[first][0]):
            reached(imports[first][0], attribute, seen, look)


def digest(roots):
    """Twelve hexadecimal digits of the code that `(module, name)` pairs reach."""
    seen, look = {}, cache(_module)     # a file is looked at once for a digest
    for root in roots:
        reached(*root, seen, look)
    return _hash(sorted(seen.values()))[:12]
