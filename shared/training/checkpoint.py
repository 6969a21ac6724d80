"""Checkpoints: the state of an unfinished computation, from which a killed process continues."""
from pathlib import Path
from typing import Any

import torch

from .. import runtime
from ..data import content


class Checkpoint:
    """One state in the file `path`: tensors by name, and JSON values. Without a path nothing is stored."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def save(self, tensors: dict[str, torch.Tensor], facts: object) -> None:
        """Replace the stored state, atomically. facts: JSON values."""
        if self.path is not None:
            content.write(self.path, tensors, {"facts": facts})

    def load(self) -> tuple[dict[str, torch.Tensor], Any] | None:
        """`(tensors, facts)` of the stored state, or None if there is none or it is damaged."""
        if self.path is None or not runtime.readable(self.path).exists():
            return None
        try:
            tensors, about = content.read(self.path)
        except ValueError:
            self.path.unlink(missing_ok=True)
            return None
        return tensors, about["facts"]
