"""Names say what a value is; text is UTF-8 in every locale."""
import ast

import pytest

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


@pytest.fixture(scope="module")
def trees():
    """`{path: syntax}` of all code."""
    folders = ("shared", "report", "papers", "workflow", "notebooks", "book/_ext", "benchmarks", "tests")
    paths = [p for folder in folders for p in sorted((ROOT / folder).rglob("*.py")) if "-Copy" not in p.stem]
    return {str(p.relative_to(ROOT)): ast.parse(p.read_text(encoding="utf-8")) for p in paths}


def test_names_say_the_quantity_or_the_action(trees):
    vague = {path: VAGUE & {*given_names(tree)} for path, tree in trees.items()}
    assert vague and not {path: names for path, names in vague.items() if names}


def in_the_locale_s_letters(tree):
    """Lines where text is read, written or taken from a process without an encoding: that of the locale."""
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        given = {word.arg: getattr(word.value, "value", None) for word in node.keywords}
        mode = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant)]
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        opens = isinstance(node.func, ast.Name) and name == "open" and not any("b" in m for m in mode)
        without = {"read_text": 0, "write_text": 1}.get(name) == len(node.args)
        if (opens or without or given.get("text") is True) and "encoding" not in given:
            yield node.lineno


def test_no_text_is_in_the_letters_of_a_locale(trees):
    lines = {path: [*in_the_locale_s_letters(tree)] for path, tree in trees.items()
             if not path.startswith("tests/")}
    assert lines and not {path: some for path, some in lines.items() if some}


@pytest.mark.parametrize("code, wrong", [
    ("open(a)", True), ("open(a, 'w')", True), ("a.read_text()", True), ("a.write_text(b)", True),
    ("run(a, text=True)", True), ("a.read_text('utf-8')", False),
    ("open(a, 'rb')", False), ("open(a, encoding='utf-8')", False), ("a.open(b)", False)])
def test_text_without_an_encoding_is_noticed(code, wrong):
    assert bool([*in_the_locale_s_letters(ast.parse(code))]) == wrong
