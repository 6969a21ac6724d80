"""An experiment's code does not change without its version: digests, and what they notice."""
import importlib
import json
import sys

import pytest

import papers
from report import registry
from report.experiment import Experiment
from shared import runtime
from workflow import versions

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
        versions._module.cache_clear()
        toy = importlib.import_module("papers.toy_page")
        scale = {"paper": {"network": network}}
        return versions.digest(Experiment("toy/x", toy.measure, toy.plan, scale=scale))

    yield digest_of
    versions._module.cache_clear()


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


def test_no_experiment_has_changed_without_its_version():
    assert list(versions.changed()) == []


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


@pytest.mark.parametrize("name", ["", "he/atacks"])
def test_an_experiment_that_does_not_exist_is_refused_in_one_line(name):
    with pytest.raises(runtime.UserError, match=f"EXPERIMENT='{name}'; allowed: chen/convolutional") as error:
        versions.same(name)
    assert "\n" not in str(error.value)


def test_every_experiment_has_its_digest_stored():
    """A new one, or a raised version: `python -m workflow.versions` enters it."""
    stored = json.loads(versions.STORED.read_text())
    assert {name: entry["version"] for name, entry in stored.items()} == {
        name: experiment.version for name, experiment in versions.catalogue.experiments().items()}
