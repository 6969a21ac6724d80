"""In this repository, `boundary_book` is the folder `shared`: the same modules under the name of the wheel.

So the code that a page shows for use elsewhere runs in the book, too.
"""
import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

import shared


class _Alias(MetaPathFinder, Loader):
    """`boundary_book.attacks` is the module `shared.attacks` itself, not a second copy."""

    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name.startswith("boundary_book.") else None

    def create_module(self, spec):
        module = importlib.import_module(f"shared.{spec.name.removeprefix('boundary_book.')}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = module.__spec__.loader_state      # its own again


sys.meta_path.insert(0, _Alias())
sys.modules[__name__] = shared
