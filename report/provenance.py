"""Where a result was computed: revision, device, versions, threads."""
import platform
import sys
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path

import torch

from shared import runtime

PACKAGES = ("torch", "numpy", "scipy")


@cache
def versions():
    """Versions of the packages that decide a number."""
    return {p: version(p) for p in PACKAGES}


@cache
def _cpu():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration, IndexError):
        return platform.processor() or platform.machine()


def device_model(device):
    """The model of the device, such as `AMD EPYC`; with "no bf16" where that is not faster than float32."""
    model = torch.cuda.get_device_name(device) if device.type == "cuda" else _cpu()
    return model if runtime.has_bf16(device) else f"{model}, no bf16"


clock = runtime.clock    # by which the seconds of a run are measured


def here(seconds, used):
    """Provenance of a result that took `seconds` of `clock` here and used `{kind: {name: identity}}`.

    The revision is entered where a run is kept.
    """
    fewer = {"fewer": [*used["fewer"]]} if "fewer" in used else {}
    return {"data": used.get("data", {}), **fewer,
            "device": device_model(runtime.device()), "threads": torch.get_num_threads(),
            "versions": versions(), "python": sys.version.split()[0], "seconds": round(seconds, 2),
            "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}
