"""What `shared` offers says which types it takes and gives; `make test` compares the code with them."""
import ast

import pytest

from report.repository import ROOT


def offered(tree):
    """Public functions and methods of a module, with their names; what is inside a function is its own."""
    for node in tree.body:
        private = node.name.startswith("_") and not node.name.endswith("__") if hasattr(node, "name") else True
        if isinstance(node, ast.FunctionDef) and not private:
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and not private:
            yield from ((f"{node.name}.{name}", function) for name, function in offered(node))


def untyped(function):
    """Names of a function's arguments without a type, and "return"."""
    arguments = ast.walk(function.args)
    lacking = [a.arg for a in arguments if isinstance(a, ast.arg) and a.annotation is None]
    return [name for name in lacking if name not in ("self", "cls")] + ["return"] * (function.returns is None)


@pytest.mark.parametrize("path", sorted((ROOT / "shared").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_every_public_function_has_types(path):
    functions = dict(offered(ast.parse(path.read_text(encoding="utf-8"))))
    assert not {name: untyped(f) for name, f in functions.items() if untyped(f)}


def test_a_type_that_is_left_out_is_noticed():
    code = "class A:\n    def f(self, x: int, *y, z=1): ...\ndef _g(x): ...\ndef g(x: int) -> int: ..."
    functions = dict(offered(ast.parse(code)))
    assert {name: untyped(f) for name, f in functions.items()} == {"A.f": ["z", "y", "return"], "g": []}
