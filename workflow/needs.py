"""What a notebook's run depends on. Kept out of the Snakefile, so that tests reach it."""
import json
from pathlib import Path

from shared import sources

RUNNER = ["workflow/run.py", "requirements.lock"]


def notebooks(root="notebooks"):
    """All notebooks, as paths without suffix, in the book's order of folders and names."""
    return sorted(str(p.with_suffix("")) for p in Path(root).glob("*/*.ipynb"))


def inputs(notebook):
    """Files whose change makes a run of `notebook` out of date: its code, what it imports, its reference values."""
    own = Path("book/reference") / f"{Path(notebook).parent.name}.json"
    printed = [own] if own.is_file() else sorted(Path("book/reference").glob("*.json"))
    return [f"{notebook}.ipynb", *sources.files(Path(f"{notebook}.py").absolute()), *map(str, printed), *RUNNER]


def before(notebook):
    """Notebooks whose finished units this one reads (its metadata `boundary_book: needs`): they run first."""
    metadata = json.loads(Path(f"{notebook}.ipynb").read_text())["metadata"]
    return [f"notebooks/{n}" for n in metadata.get("boundary_book", {}).get("needs", [])]
