"""The book's repository: its folders, wherever a command is started."""
from pathlib import Path

from shared import runtime

ROOT = Path(__file__).resolve().parents[1]
runtime.FOLDERS["BOUNDARY_RESULTS"] = "results"    # so that messages name this variable, too


def folder(name):
    """A folder of the repository. Raises UserError where this package is installed without it."""
    if not (ROOT / name).is_dir():
        raise runtime.UserError(f"no {name} in {ROOT}: the book's pages and printed values need a clone of "
                                "its repository; run this there (the instruments work without)")
    return ROOT / name


def results_folder():
    """Where runs, records and kept nets are: `$BOUNDARY_RESULTS`, default `results/`."""
    return runtime.folder("BOUNDARY_RESULTS")
