"""The state of a computation that is not finished yet: a killed one goes on instead of starting again."""
from pathlib import Path
from typing import Any

import torch

from .. import runtime
from ..data import content


class Checkpoint:
    """One state, the file `path`: tensors by name, and plain facts. With None as path it keeps nothing."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def save(self, tensors: dict[str, torch.Tensor], facts: object) -> None:
        """Keep a state, in place of the last one, atomically. facts: plain JSON values."""
        if self.path is not None:
            content.write(self.path, tensors, {"facts": facts})

    def load(self) -> tuple[dict[str, torch.Tensor], Any] | None:
        """`(tensors, facts)` of the last state, or None if there is none, or a damaged one."""
        if self.path is None or not runtime.readable(self.path).exists():
            return None
        try:
            tensors, about = content.read(self.path)
        except ValueError:
            self.path.unlink(missing_ok=True)
            return None
        return tensors, about["facts"]
