"""What the notebooks declare of themselves: titles, the printed items they hold, what they need to run."""
import importlib
import json
import re

from report.repository import ROOT

FOLDER = ROOT / "notebooks"


def notebooks():
    """Names of all notebooks, such as `ren/ii_networks`, in the order of the table of contents.

    One without a script is a reader's own, and so is JupyterLab's copy; a hidden file is macOS's.
    """
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    names = (str(p.relative_to(FOLDER).with_suffix("")) for p in FOLDER.glob("*/[!.]*.ipynb")
             if "-Copy" not in p.stem and p.with_suffix(".py").exists())
    return sorted(names, key=lambda name: (name.split("/")[0], contents.find(f"notebooks/{name}\n"), name))


def experiments():
    """`{name: Experiment}` of all papers."""
    from report.experiment import Experiment  # imports torch, which a list of pages does without
    papers = sorted(path.parent.name for path in (ROOT / "papers").glob("*/experiments.py"))
    modules = [importlib.import_module(f"papers.{key}.experiments") for key in papers]
    values = [value for module in modules for value in vars(module).values()]
    return {value.name: value for value in values if isinstance(value, Experiment)}


def _read(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def opened(path):
    """The run notebook `path`, or None where it is cut or damaged."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return notebook if isinstance(notebook["cells"], list) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def title(name):
    """A notebook's first heading."""
    return re.search(r"^# (.+)$", "".join(_read(name)["cells"][0]["source"]), re.MULTILINE)[1]


def _declared(name):
    return _read(name)["metadata"].get("boundary_book", {})


def items(name):
    """Ids of the printed items that a notebook regenerates, such as `table-3`."""
    return _declared(name).get("items", [])


def needs(name):
    """Names of the notebooks whose finished runs this one reads."""
    return _declared(name).get("needs", [])
