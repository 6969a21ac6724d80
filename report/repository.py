"""The book's repository: its folders, wherever a command is started."""
import importlib.util
from pathlib import Path

from shared import runtime

ROOT = Path(__file__).resolve().parents[1]
runtime.FOLDERS["BOUNDARY_RESULTS"] = "results"    # so that messages name this variable, too


def has_module(key, name):
    """Whether paper `key` has a module of this name, such as `models`; no where no paper has this key."""
    try:
        return importlib.util.find_spec(f"papers.{key}.{name}") is not None
    except ModuleNotFoundError:
        return False


def results_folder():
    """Where runs, records and kept nets are: `$BOUNDARY_RESULTS`, default `results/`."""
    return runtime.folder("BOUNDARY_RESULTS")
