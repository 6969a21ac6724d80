"""What a notebook's run depends on. Kept out of the Snakefile, so that tests reach it."""
from pathlib import Path

from workflow import imports

RUNNER = ["workflow/run.py", "requirements.lock"]


def inputs(name):
    """Files whose change puts a run of the notebook `name` out of date: code, imports, reference values."""
    own = Path("book/reference") / f"{Path(name).parent}.json"
    printed = [own] if own.is_file() else sorted(Path("book/reference").glob("*.json"))
    code = imports.files(Path(f"notebooks/{name}.py").absolute())
    pages = [str(p) for f in code if (p := Path(f).with_suffix(".html")).is_file()]  # a module's own template
    return [f"notebooks/{name}.ipynb", *code, *pages, *map(str, printed), *RUNNER]
