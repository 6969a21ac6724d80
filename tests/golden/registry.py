"""Architectures and recipes by name: which weights a seed gives, what is left as it was, what is refused."""
import contextlib
import importlib
from unittest import mock

import torch
from torch import nn

import papers
from report import registry
from report.registry import architecture, build, names, recipe
from shared import runtime
from tests.golden import Cases, refused

case = Cases()
TODAY = ("ren-a", "ren-b", "ren-c", "he-mnist", "he-w32-10", "he-resnet", "he-tiny", "he-squeezenet",
         "sutton-vgg")


@contextlib.contextmanager
def registered():
    """Inside the block, one small architecture more; all papers are imported before, and stay known."""
    names()
    with mock.patch.dict(registry._BUILDERS):
        @architecture("golden-small")
        def small(outputs=2):
            return nn.Sequential(nn.Flatten(), nn.Linear(5, outputs))
        yield small


def unknown(name):
    try:
        build(name)
    except ValueError:
        return True
    return False


def generator():
    return torch.Generator().manual_seed(7)


@case
def weights():
    state, draw = torch.get_rng_state(), generator()
    with registered() as builder:
        two = [build("golden-small", generator=draw).state_dict() for _ in range(2)]
        other = build("golden-small", generator=generator(), outputs=3).state_dict()
        torch.manual_seed(3)
        free = build("golden-small").state_dict()
        again = build("golden-small").state_dict()
        own = builder().state_dict()
    torch.set_rng_state(state)
    return {"two": two, "options": other, "free": free, "again": again, "own": own,
            "after": torch.rand(1, generator=draw), "builder": builder.__name__}


@case
def random_state():
    state = torch.get_rng_state()
    with registered():
        build("golden-small", generator=generator())
        build("golden-small")
    return torch.equal(torch.get_rng_state(), state)


@case
def known_names():
    """A paper of tomorrow adds names, and changes nothing."""
    with registered():
        known = [unknown(name) for name in ("golden-small", "golden-large", "golden", "ren-z", "nobody-a", "",
                                            "registry-a")]
        return {"unknown": known, "there": [name in names() for name in (*TODAY, "golden-small", "golden")],
                "type": type(names()).__name__, "after": "golden-small" in names()}


@case
def a_paper_is_imported_when_it_is_asked_for():
    names()
    with mock.patch.dict(registry._BUILDERS, clear=True), \
            mock.patch.object(importlib, "import_module", lambda name: imported.append(name) or papers):
        imported = []
        found = [unknown("ren-a"), unknown("nobody-a")]
    asked = [name.split(".")[1] for name in imported if "." in name]
    return {"unknown": found, "imported": [name for name in asked if name in ("he", "ren", "sutton")],
            "tools": [any(n.startswith(f"{tool}-") for n in names())
                      for tool in ("registry", "inference", "recipe")]}


@case
def recipes():
    ren = importlib.import_module("papers.ren.models")
    own = {name: recipe("ren", name.lower()) is getattr(ren, name) for name in ("PAPER", "SMOKE", "QUICK")}
    return own | {"bad": [refused(recipe, "ren", name) for name in ("fast", "PAPER", "matlab", "")],
                  "kind": issubclass(runtime.UserError, ValueError)}
