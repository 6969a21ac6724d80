"""Every architecture of the papers by name: `build("ren-a")`.

A paper's architectures and recipes are in `papers/<key>/models.py`, which is imported
when one of its names is needed: adding a paper touches its own file and nothing else. Every model takes
float32 images in [0, 1], NCHW, and returns logits.
"""
import functools
import importlib
import pkgutil

import torch

from report import repository
from shared import runtime
from shared.training.recipe import Recipe

_BUILDERS = {}


def architecture(name, **options):
    """Register a builder `(**options) -> nn.Module` under a name such as `ren-a`: the paper's key, its name.

    options  those of this architecture, where a builder has several
    """

    def register(builder):
        _BUILDERS[name] = functools.update_wrapper(functools.partial(builder, **options), builder)
        return builder

    return register


def is_paper(key):
    """Whether an architecture of this key is a paper's, not a reader's own."""
    return key.isidentifier() and repository.has_module(key, "models")


def names():
    """Names of all architectures: whatever `models.py` of the papers register."""
    for module in pkgutil.iter_modules(importlib.import_module("papers").__path__):
        if module.ispkg and repository.has_module(module.name, "models"):
            importlib.import_module(f"papers.{module.name}.models")
    return tuple(_BUILDERS)


def known(name):
    """Whether an architecture of this name is registered."""
    key = name.split("-")[0]
    if is_paper(key):
        importlib.import_module(f"papers.{key}.models")
    return name in _BUILDERS


def place(name):
    """`(module, name there)` of the function that builds an architecture, for a digest of its code."""
    return (_BUILDERS[name].__module__, _BUILDERS[name].__name__) if known(name) else (name, name)


def build(name, *, generator=None, **options):
    """A new, randomly initialised network.

    name       one of `names()`
    generator  CPU generator that draws the initial weights; the global generator is left as it was
    options    passed to the builder
    Raises UserError for an unknown name.
    """
    if not known(name):
        raise runtime.UserError(f"unknown architecture {name!r}; allowed: {', '.join(names())}")
    with torch.random.fork_rng(devices=[]):
        if generator is not None:
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        return _BUILDERS[name](**options)


def recipe(key, name):
    """The recipe that paper `key` calls `name`, such as `paper` for the constant `PAPER` in its file.

    Raises UserError for an unknown name, and for a key that is no paper's.
    """
    if not is_paper(key):
        raise runtime.UserError(f"recipe {name!r} of {key!r}, which is no paper; allowed for an architecture "
                                "of your own: a Recipe(epochs=...)")
    constants = vars(importlib.import_module(f"papers.{key}.models"))
    known = {k.lower(): v for k, v in constants.items() if isinstance(v, Recipe)}
    if name not in known:
        raise runtime.UserError(f"unknown recipe {name!r}; allowed: {', '.join(known)}")
    return known[name]


def training_on_embedded(key, hook):
    """The hook that replaces `hook` on embedded data: SMOKE_TRAINING of paper `key`, where it has one."""
    if hook is None or not is_paper(key):
        return hook
    return getattr(importlib.import_module(f"papers.{key}.models"), "SMOKE_TRAINING", hook)
