"""Digests of code, what they notice, and what shows that changed code gives the same results."""
import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import papers
from report import code, experiment, git, registry, same
from report.experiment import Experiment
from report.repository import ROOT
from shared import runtime
from shared.data import sets
from workflow import catalogue, versions

MODULE = '''"""A paper."""
from report.registry import architecture
from papers.toy_models import helper, settings as chosen
import papers.toy_models as models

LIMIT = 3
UNUSED = 1


def draw():
    """A drawing."""
    return "red"


def inner(x):
    """Inner."""
    return x + LIMIT


def measure(network):
    """What it does."""
    # a comment
    first, second = helper(2), 5
    return {"value": inner(first) + models.RATE + chosen(1), "other": second}


def plan(scale):
    return {"a": {"network": scale.network}}
'''
MODELS = '''from report.registry import architecture

RATE = 0.1


def settings(x):
    return x


def helper(x):
    return 2 * x


@architecture("toy-network")
def network():
    return helper(4)
'''


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """`digest(old, new)`: the digest of the toy experiment with a text of its code replaced."""
    registry.names()    # imports what registers there
    monkeypatch.setattr(registry, "_BUILDERS", dict(registry._BUILDERS))
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def digest_of(old="", new="", network="toy-network"):
        assert old in MODULE + MODELS
        for name, text in (("toy_page", MODULE), ("toy_models", MODELS)):
            text = text.replace(old, new) if old else text
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, f"papers.{name}", raising=False)
        importlib.invalidate_caches()
        code._parsed.cache_clear()
        toy = importlib.import_module("papers.toy_page")
        scale = {"paper": {"network": network}}
        return Experiment("toy/x", toy.measure, toy.plan, scale=scale).digest()

    return digest_of


@pytest.mark.parametrize("old, new", [
    ("LIMIT = 3", "LIMIT = 4"), ("x + LIMIT", "x - LIMIT"), ("helper(2)", "helper(3)"),
    ("inner(first)", "inner(second)"), ("2 * x", "3 * x"), ("RATE = 0.1", "RATE = 0.2"),
    ("helper(4)", "helper(5)"), ("    return x\n", "    return -x\n")])
def test_changed_code_changes_the_digest(digest, old, new):
    assert digest(old, new) != digest()


@pytest.mark.parametrize("old, new", [
    ('"red"', '"blue"'), ("What it does.", "Another text."), ("    # a comment\n", ""),
    ("UNUSED = 1", "UNUSED = 2"), ("LIMIT = 3\nUNUSED = 1\n", "UNUSED = 1\n\n\nLIMIT = 3\n")])
def test_a_drawing_a_text_and_a_place_do_not_change_the_digest(digest, old, new):
    assert digest(old, new) == digest()


def test_another_architecture_changes_the_digest(digest):
    assert digest(network="toy-network") != digest(network="no architecture")


OTHERS = sorted(Path.home().glob(".pyenv/versions/3.1[1-9]*/bin/python"))    # where there are some
BARE = """
import json, sys
sys.path[:0] = [sys.argv[1]]
sys.modules["torch"] = sys.modules["numpy"] = None      # nothing beside Python is needed
from report import code
roots = [("papers.he.experiments", "surround"), ("report.zoo", "_trained"), ("papers.sutton.models", "PAPER")]
print(code.digest(roots))
"""


@pytest.mark.parametrize("python", [sys.executable, *OTHERS], ids=str)
def test_a_digest_is_the_same_on_every_python_and_needs_no_package(python):
    done = subprocess.run([python, "-I", "-S", "-c", BARE, ROOT], capture_output=True, text=True)
    assert not done.stderr and done.stdout.strip() == code.digest([
        ("papers.he.experiments", "surround"), ("report.zoo", "_trained"), ("papers.sutton.models", "PAPER")])


def test_a_form_has_no_docstrings_annotations_and_places():
    same_ = ["def f(x: int, *, y=(None,)) -> float:\n    'doc'\n    return f'{x:>{y}}' 'z' if x else -1.5e3",
             "def f(\n    x, *, y=(None,)):      # comment\n    return f'{x:>{y}}z' if (x) else -1500."]
    first, second = (code.form(ast.parse(text)) for text in same_)
    assert first == second and code.form(ast.parse(same_[0].replace("None", "0"))) != first


def test_imports_are_followed_that_are_relative(tmp_path):
    (tmp_path / "x.py").write_text("from . import zoo\nfrom ..shared.training import fit as f, recipe\n"
                                   "from ..shared.training.fit import rate\n")
    imports = code._parsed("report.x", str(tmp_path / "x.py"), False, None)[1]
    assert imports == {"zoo": ("report.zoo", None), "f": ("shared.training.fit", None),
                       "recipe": ("shared.training.recipe", None), "rate": ("shared.training.fit", "rate")}


# ---- make same -------------------------------------------------------------------------------------------
def test_digests_of_equal_results_count_as_one_another(tmp_path, monkeypatch):
    monkeypatch.setattr(same, "FILE", tmp_path / "same.json")
    assert same.accepted("he/x", "a", "a") and not same.accepted("he/x", "a", "b")
    for pair in (("a", "b"), ("c", "d"), ("e", "e")):
        same.enter({"he/x": pair})
    assert same.accepted("he/x", "b", "a") and not same.accepted("he/x", "a", "c")
    assert not same.accepted("he/y", "a", "b")
    same.enter({"he/x": ("b", "c")})
    assert same.accepted("he/x", "a", "d") and not same.accepted("he/x", None, "d")


def test_one_run_of_each_kind_is_compared():
    planned = {"a": dict(of="fgsm", seed=0), "b": dict(of="fgsm", seed=1), "c": dict(of="pgd", seed=0),
               "d": dict(of="pgd", seed=2.5), "e": dict(of="pgd", seed=[True])}
    assert versions.kinds(planned) == ["a", "c", "e"]


@pytest.fixture
def trees(tmp_path, monkeypatch):
    """`trees(before, now, kept)`: what the last commit, this tree and what is kept have of he/attacks."""
    monkeypatch.setattr(same, "FILE", tmp_path / "same.json")
    monkeypatch.setattr(versions.git, "head", lambda: "commit")
    monkeypatch.setattr(versions.git, "git", lambda *words: SimpleNamespace(returncode=0))

    def of(before, now, kept):
        digests = {"before": before[0], "now": now[0]}
        monkeypatch.setattr(versions, "computed", lambda tree, names: {
            n: dict(zip(("digest", "runs"), now if tree == ROOT else before)) for n in names})
        monkeypatch.setattr(versions, "changed", lambda some=None: [
            "he/attacks"] * (not same.accepted("he/attacks", kept, digests["now"])))

    return of


def test_equal_results_make_what_is_kept_fresh(trees, capsys):
    trees(("a", {"r": {"x": 1.0, "seconds": 2}}), ("b", {"r": {"x": 1.0, "seconds": 9}}), kept="a")
    versions.compare()
    assert "he/attacks: 1 runs at smoke size are as in HEAD" in capsys.readouterr().out
    assert same.accepted("he/attacks", "a", "b") and not versions.changed()
    versions.compare()
    assert "no code has changed" in capsys.readouterr().out


@pytest.mark.parametrize("before, now, kept, message", [
    (("a", {"r": {"x": 1.0}}), ("b", {"r": {"x": 1.1}}), "a", "1 differences.*\nr.x: 1.0 is now 1.1"),
    (("a", {}), ("b", {}), "a", "no run at smoke size"),
    (("b", {"r": {"x": 1.0}}), ("b", {"r": {"x": 1.0}}), "a", "code before HEAD; name the commit before"),
    (("z", {"r": {"x": 1.0}}), ("b", {"r": {"x": 1.0}}), "a", "code before HEAD; name the commit before")])
def test_what_shows_nothing_makes_nothing_fresh(trees, before, now, kept, message):
    """Results that differ, none at all, a last commit with the new code, or with another than the runs'."""
    trees(before, now, kept)
    with pytest.raises(SystemExit, match=message):
        versions.compare()
    assert not same.accepted("he/attacks", "a", "b")


def test_what_an_architecture_computes_is_its_weights_and_outputs(home, monkeypatch):
    monkeypatch.setattr(sets, "_profile", "smoke")
    monkeypatch.setattr(versions, "networks", lambda: {"ren-a": [{"dataset": "mnist"}]})
    (name, result), = versions.small("ren-a").items()
    assert name.startswith("ren-a-digits-s0-") and len(result["weights"]) == 16
    assert len(result["logits"]) == 10 == len(result["logits"][0])


@pytest.mark.parametrize("state, message", [
    ("zip", "no git checkout with a commit of its own"),
    ("inside", "no git checkout with a commit of its own"),
    ("empty", "no git checkout with a commit of its own"),
    ("owner", "git config --global --add safe.directory")])
def test_a_tree_without_its_own_commit_is_refused_in_one_line(tmp_path, monkeypatch, state, message):
    """A ZIP, a copy inside another repository, one without a commit, a clone of another owner."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv("BOUNDARY_REVISION", raising=False)
    tree = tmp_path / "book"
    tree.mkdir()
    monkeypatch.setattr(git, "ROOT", tree)
    if state in ("inside", "owner"):
        place = tmp_path if state == "inside" else tree
        git.git("init", "-q", folder=place)
        git.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "1",
                folder=place)
    if state == "empty":
        git.git("init", "-q")
    if state == "owner":
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(runtime.UserError, match=message) as error:
        versions.compare("he/attacks")
    assert "\n" not in str(error.value) and git.revision() == "unknown"
    monkeypatch.setenv("BOUNDARY_REVISION", "abc")
    assert git.revision() == "abc"


def test_what_is_recorded_and_kept_is_planned_and_up_to_date(monkeypatch):
    standing = experiment.standings(catalogue.experiments())
    monkeypatch.setattr(experiment, "standings", lambda _: standing)
    assert versions.changed() == []
    for name, results in standing.items():
        files = {path.stem for path in experiment.folder_of(name).glob("[!.]*.json")}
        assert files == results.recorded.keys(), name
        # Those of two are computed again, with trainings as long as the other runs'.
        assert name in ("chen/dense", "chen/robust") or results.outdated == {}, name
        assert not name.startswith("shu/") or results.recorded.keys() == results.published.keys(), name


def test_a_further_number_is_no_change_and_a_lost_one_is():
    before = {"u0": {"value": 1.0, "of": [{"rms": float("nan")}], "seconds": 3.0}}

    def after(**changes):
        return {"u0": before["u0"] | changes}

    assert versions.changes(before, after(value=1.0 + 1e-9, more=2.0, seconds=5.0,
                                          of=[{"rms": float("nan"), "hits": 1}])) == []
    assert versions.changes(before, {"u0": {"of": before["u0"]["of"], "seconds": 1.0}}) == [
        "u0.value: '1.0' is now 'None'"]
    assert versions.changes(before, after(value=1.1)) == ["u0.value: 1.0 is now 1.1"]
    assert versions.changes(before, before | {"u1": {}}) == ["u1: there in one of both alone"]


def test_a_name_that_does_not_exist_is_refused_in_one_line():
    with pytest.raises(runtime.UserError, match="EXPERIMENT='he/atacks'; allowed: chen") as error:
        versions.compare("he/atacks")
    assert "\n" not in str(error.value)
