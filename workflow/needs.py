"""What a notebook's run depends on. Kept out of the Snakefile, so that tests reach it."""
from pathlib import Path

from workflow import catalogue, imports

RUNNER = ["workflow/run.py", "workflow/seal.py", "requirements.lock"]


def notebooks():
    """All notebooks as paths without suffix."""
    return [f"notebooks/{name}" for name in catalogue.notebooks()]


def inputs(notebook):
    """Files whose change puts a run of `notebook` out of date: code, imports, reference values."""
    own = Path("book/reference") / f"{Path(notebook).parent.name}.json"
    printed = [own] if own.is_file() else sorted(Path("book/reference").glob("*.json"))
    code = imports.files(Path(f"{notebook}.py").absolute())
    pages = [str(p) for f in code if (p := Path(f).with_suffix(".html")).is_file()]  # a module's own template
    return [f"{notebook}.ipynb", *code, *pages, *map(str, printed), *RUNNER]


def shares(notebook, profile):
    """The `i/n` of the jobs that compute a notebook's units side by side; none where one job does it all."""
    n = catalogue.shards(notebook.removeprefix("notebooks/")) if profile == "paper" else 1
    return [f"{i}/{n}" for i in range(1, n + 1)] if n > 1 else []


def resources(notebook):
    """Memory in MB and graphics cards of one job of a notebook."""
    return catalogue.resources(notebook.removeprefix("notebooks/"))


def before(notebook):
    """Notebooks whose finished units this one reads: they run first."""
    return [f"notebooks/{name}" for name in catalogue.needs(notebook.removeprefix("notebooks/"))]
