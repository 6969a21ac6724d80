"""A report card of any model: each instrument on the same images, with intervals, in Python, Jupyter or HTML.

    report = card(model, x, y)                      # in Jupyter it is a page; report.save("card.html")
    report = card({"plain": a, "robust": b}, x, y)  # two models, with the differences on the same images

    python -m shared.card package.module:factory --weights net.safetensors --data images.npz --out card.html

`model` is any callable as `shared.inference` says. Where an instrument fails, its section says why.
"""
import sys
import types
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .command import factory as factory
    from .command import images_of as images_of
    from .report import Card as Card
    from .report import card as card


def __getattr__(name: str) -> object:
    if name not in ("card", "Card", "factory", "images_of"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import command, report  # here: it takes seconds
    return getattr(command if name in ("factory", "images_of") else report, name)


class _Callable(types.ModuleType):
    """`from shared import card` gives this package, whatever was imported before: it can be called, too."""

    def __call__(self, *given, **options):
        from .report import card
        return card(*given, **options)


sys.modules[__name__].__class__ = _Callable
