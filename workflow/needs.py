"""What a notebook's run depends on. Kept out of the Snakefile, so that tests reach it."""
from pathlib import Path

from workflow import catalogue, imports

RUNNER = ["workflow/run.py", "workflow/seal.py", "requirements.lock"]


def inputs(name):
    """Files whose change puts a run of the notebook `name` out of date: code, imports, reference values."""
    own = Path("book/reference") / f"{Path(name).parent}.json"
    printed = [own] if own.is_file() else sorted(Path("book/reference").glob("*.json"))
    code = imports.files(Path(f"notebooks/{name}.py").absolute())
    pages = [str(p) for f in code if (p := Path(f).with_suffix(".html")).is_file()]  # a module's own template
    return [f"notebooks/{name}.ipynb", *code, *pages, *map(str, printed), *RUNNER]


def shares(name, profile):
    """The `i/n` of the jobs that compute a notebook's units side by side; none where one job does it all."""
    n = catalogue.shards(name) if profile == "paper" else 1
    return [f"{i}/{n}" for i in range(1, n + 1)] if n > 1 else []
