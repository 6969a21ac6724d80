"""Architectures and recipes by name."""
import importlib

import pytest
import torch
from torch import nn

import papers
from papers.ren import models
from report import registry
from shared.runtime import UserError


@pytest.fixture
def small(monkeypatch):
    """A small architecture, registered for one test."""
    monkeypatch.setitem(registry._BUILDERS, "small-a", lambda outputs=2: nn.Linear(5, outputs))


def test_a_generator_gives_its_weights_and_the_global_random_state_stays(small):
    generator = torch.Generator().manual_seed(7)
    state = torch.get_rng_state()
    first, second = (registry.build("small-a", generator=generator).weight for _ in range(2))
    again = registry.build("small-a", generator=generator.manual_seed(7)).weight
    registry.build("small-a", outputs=3)
    assert first.equal(again) and not first.equal(second)
    assert torch.get_rng_state().equal(state)


def test_only_the_paper_of_a_name_is_imported(monkeypatch, small):
    imported = []
    monkeypatch.setitem(registry._BUILDERS, "ren-a", lambda: None)
    monkeypatch.setattr(importlib, "import_module", lambda name: imported.append(name) or papers)
    registry.build("ren-a")
    registry.build("small-a")
    assert [name for name in imported if name != "papers"] == ["papers.ren.models"]


def test_a_recipe_has_the_name_of_its_constant():
    assert [registry.recipe("ren", name) for name in ("paper", "smoke", "quick")] == [
        models.PAPER, models.SMOKE, models.QUICK]
    for name in ("PAPER", "relu", ""):
        with pytest.raises(UserError, match=f"^unknown recipe '{name}'; allowed: .*paper"):
            registry.recipe("ren", name)
