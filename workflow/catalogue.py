"""What the notebooks declare of themselves: their titles, the printed items they hold, the notebooks they need."""
import json
import re

from shared import ROOT

FOLDER = ROOT / "notebooks"


def notebooks():
    """Names of all notebooks, such as `ren/ii_networks`, by folder and name."""
    return sorted(str(p.relative_to(FOLDER).with_suffix("")) for p in FOLDER.glob("*/*.ipynb"))


def _read(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text())


def title(name):
    """A notebook's first heading."""
    return re.search(r"^# (.+)$", "".join(_read(name)["cells"][0]["source"]), re.MULTILINE)[1]


def items(name):
    """Ids of the printed items that a notebook regenerates, such as `table-3`."""
    return _read(name)["metadata"].get("boundary_book", {}).get("items", [])


def needs(name):
    """Names of the notebooks whose finished units this one reads."""
    return _read(name)["metadata"].get("boundary_book", {}).get("needs", [])


def pages():
    """`{(paper, item): notebook}` for all items that have a page."""
    return {(name.split("/")[0], item): name for name in notebooks() for item in items(name)}
