"""Instruments for any image classifier; a module imports only from those below it.

    from boundary_book import PGD, Linf, card

In the book's own notebooks the package is called `shared`.

card                        a report card of a model: all of these on the same images
borderline, boundary, regions, roby, susceptibility     measurements of a decision boundary
attacks                     threats, judge and Result; one file a family of attacks
training                    training loop, recipes, checkpoints
inference                   evaluation of a model: logits, labels, margins, gradients
data, similarity            data sets as tensors, content hashes; SSIM of batches
statistics                  intervals of shares, rank correlations
runtime                     errors, folders, files, locks, device, random generators, chunks

The short names, such as `PGD`, are listed in `__init__.pyi` and imported when they are first used.
"""
import ast
import importlib
import sys
from pathlib import Path

__version__ = "0.1.0"

_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
ORIGINS = {alias.name: node.module for node in _STUB.body if isinstance(node, ast.ImportFrom)
           for alias in node.names}     # {short name: its module; None where it is a module itself}
__all__ = [*ORIGINS]    # pyright: ignore[reportUnsupportedDunderAll]: it reads the stub, as these lines do

_twin = sys.modules.get({"shared": "boundary_book", "boundary_book": "shared"}[__name__])
if _twin is not None and hasattr(_twin, "ORIGINS"):
    raise ImportError(f"{__file__} and {_twin.__file__} are two copies of one package in one process: import "
                      "one of them, or uninstall boundary-book where you work in a clone of the book")


def __getattr__(name: str) -> object:
    if name not in ORIGINS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = ORIGINS[name]
    if module is None:
        return importlib.import_module(f".{name}", __name__)
    return getattr(importlib.import_module(f".{module}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
