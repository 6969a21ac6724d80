"""Names say what a value is."""
import ast

from report.repository import ROOT

# Names that do not say what a value is. `found` is a field: whether a search found something.
VAGUE = {"told", "found", "made", "mine", "theirs", "each", "named", "knows", "middle", "every"}


def given_names(tree):
    """Names that code gives to values, arguments and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def test_names_say_the_quantity_or_the_action():
    paths = [p for folder in ("shared", "report", "papers", "workflow", "notebooks", "book/_ext", "tests")
             for p in sorted((ROOT / folder).rglob("*.py")) if "-Copy" not in p.stem]
    assert paths
    vague = {str(p.relative_to(ROOT)): VAGUE & {*given_names(ast.parse(p.read_text()))} for p in paths}
    assert not {path: names for path, names in vague.items() if names}
