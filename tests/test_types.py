"""What `shared` offers says which types it takes and gives; `make test` compares the code with them."""
import ast

from report.repository import ROOT


def offered(tree):
    """Public functions and methods of a module, with their names; what is inside a function is its own."""
    for node in tree.body:
        name = getattr(node, "name", "_")
        if name.startswith("_") and not name.startswith("__"):
            continue
        if isinstance(node, ast.FunctionDef):
            yield name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{name}.{inner}", function) for inner, function in offered(node))


def untyped(function):
    """Names of a function's arguments without a type, and "return"."""
    arguments = ast.walk(function.args)
    lacking = [a.arg for a in arguments if isinstance(a, ast.arg) and a.annotation is None]
    return sorted({*lacking} - {"self", "cls"}) + ["return"] * (function.returns is None)


def test_every_public_function_has_types():
    lacking, count = {}, 0
    for path in sorted((ROOT / "shared").rglob("*.py")):
        for name, function in offered(ast.parse(path.read_text(encoding="utf-8"))):
            count += 1
            if names := untyped(function):
                lacking[f"{path.relative_to(ROOT)}: {name}"] = names
    assert count and not lacking


def test_a_type_that_is_left_out_is_noticed():
    code = "class A:\n    def f(self, x: int, *y, z=1): ...\ndef _g(x): ...\ndef g(x: int) -> int: ..."
    functions = dict(offered(ast.parse(code)))
    assert {name: untyped(f) for name, f in functions.items()} == {"A.f": ["y", "z", "return"], "g": []}
