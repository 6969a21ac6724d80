"""Where a result was computed: revision, device, versions, threads."""
import os
import platform
import subprocess
import sys
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path

import torch

from shared import ROOT, runtime

PACKAGES = ("torch", "numpy", "scipy")


@cache
def revision():
    """The git revision (`+changes` if the tree differs); else `$BOUNDARY_REVISION`, else unknown.

    A copy of the project inside another repository is not taken for a revision of that one.
    """
    def git(*words):
        told = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return told.stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() == ROOT.resolve():
            changed = git("status", "--porcelain", "--", "shared", "notebooks", "requirements.lock")
            return git("rev-parse", "--short", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        pass
    return os.environ.get("BOUNDARY_REVISION", "unknown")


@cache
def versions():
    """Versions of the packages that decide a number."""
    return {p: version(p) for p in PACKAGES}


@cache
def _cpu():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration, IndexError):
        return platform.processor() or platform.machine()


def device_model(device):
    """The model of the device, such as `AMD EPYC` or `NVIDIA H200`."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else _cpu()


def here(seconds, used):
    """Provenance of a result that took `seconds` on this machine and used `{kind: {name: identity}}`."""
    return {"data": used.get("data", {}), "nets": used.get("nets", {}), "revision": revision(),
            "device": device_model(runtime.device()), "threads": torch.get_num_threads(),
            "versions": versions(), "python": sys.version.split()[0], "seconds": round(seconds, 2),
            "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}
