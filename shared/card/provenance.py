"""What a report card rests on: versions, device, digests of weights and data, attacks, a line to cite."""
import contextlib
import datetime
import json
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from .. import __version__, inference
from ..attacks.judge import Attack
from ..data import content
from ..inference import Model

DISTRIBUTION = "boundary-book"
PACKAGE = Path(__file__).resolve().parents[1]


def provenance(models: dict[str, Model], x: torch.Tensor, y: torch.Tensor, settings: dict[str, Any],
               attacks: dict[str, Attack]) -> dict[str, Any]:
    """Plain values by which the numbers of a card can be traced; images x [N, C, H, W], classes y [N]."""
    now = datetime.datetime.now(datetime.UTC)
    about = {"date": now.isoformat(timespec="seconds"), "version": __version__, "revision": revision(),
             "torch": torch.__version__, "python": platform.python_version(),
             "device": ", ".join(dict.fromkeys(_device(model, x) for model in models.values())),
             "weights": {name: weights(model) for name, model in models.items()},
             "data": content.fingerprint({"x": x, "y": y}),
             "attacks": {name: repr(attack) for name, attack in attacks.items()}}
    digests = ", ".join(f"{name} ({digest})" for name, digest in about["weights"].items())
    return about | {"cite": (
        f"Report card of {digests}. Boundary Book {about['version']}, revision {about['revision']}, "
        f"{now:%Y-%m-%d}. Data {about['data']}, {settings['images']} of {settings['all']} images, "
        f"seed {settings['seed']}.")}


def revision() -> str:
    """The git revision of the book's clone ("+changes" where files differ), or that pip installed.

    Not that of another repository which the package, or a copy of the book, lies in.
    """
    def git(*words):
        return subprocess.run(["git", *words], cwd=PACKAGE, capture_output=True, encoding="utf-8",
                              check=True).stdout

    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        book = PACKAGE.parent / "workflow/versions.py"
        if book.exists() and os.path.samefile(git("rev-parse", "--show-toplevel").strip(), PACKAGE.parent):
            return git("rev-parse", "--short", "HEAD").strip() + "+changes" * bool(git("status", "-s", "."))
    try:
        url = metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}"
        return json.loads(url).get("vcs_info", {}).get("commit_id", "unknown")
    except metadata.PackageNotFoundError:
        return "unknown"


def weights(model: Model) -> str:
    """16 hexadecimal digits of a module's parameters and buffers; of another callable, that it has none."""
    if not isinstance(model, torch.nn.Module):
        return "a function"
    held = {**model.state_dict(), **dict(model.named_buffers())}    # those of `adapt` are in no state_dict
    arrays = {name: value.float() if value.dtype == torch.bfloat16 else value      # NumPy has no such type
              for name, value in held.items() if isinstance(value, torch.Tensor)}
    try:
        return content.fingerprint(arrays) if arrays else "no weights"
    except (TypeError, RuntimeError):       # quantised and other tensors that NumPy does not know
        return "unknown"


def _device(model, x):
    device = inference.device_of(model, x)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
