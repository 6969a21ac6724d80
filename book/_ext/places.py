"""What every part needs: the runs that the book shows, their pictures as files, pages, links to items."""
import base64
import os
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from report import display, reference  # noqa: E402
from workflow import catalogue, render  # noqa: E402
from workflow.table import specs  # noqa: E402


# ---- runs ------------------------------------------------------------------------------------------------
def runs():
    """The folder of run notebooks of the profile that the book is built from."""
    return render.runs(os.environ.get("PROFILE", "quick"))


@cache
def run(name):
    """The run of a notebook, which does not change while a book is built; None where there is none."""
    return catalogue.opened(runs() / "notebooks" / f"{name}.ipynb")


def shown(name, kind):
    """What the run of a notebook left of one kind; empty where it has not been run."""
    return [spec for spec in specs(run(name)) if spec.get("kind") == kind]


def stamps():
    """`{notebook: facts}` of the runs that this book shows."""
    return {name: stamp[-1]["facts"] for name in catalogue.notebooks() if (stamp := shown(name, "stamp"))}


# ---- pictures --------------------------------------------------------------------------------------------
def written(path, png):
    """Write a picture, unless the file has it already: Sphinx renews the pages whose files are newer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_bytes() != png:
        path.write_bytes(png)


def drawn(figure, name):
    """A figure as a picture for the pages of `book`; returns its path from there."""
    path = runs() / "pictures/book" / name
    written(path, display.png_of(figure))
    return os.path.relpath(path, ROOT / "book")


def placed(spec, name, page):
    """MyST text of an output of the notebook `name`, its pictures written where `page` finds them."""
    folder = runs() / "pictures" / name
    for file, data in spec["pictures"].items():
        written(folder / file, base64.b64decode(data))
    return spec["myst"].replace("{pictures}", os.path.relpath(folder, (ROOT / page).parent))


# ---- pages and items -------------------------------------------------------------------------------------
def link(text, name):
    return f"[{text}](/notebooks/{name}.ipynb)"


def titled(name):
    """A page by its paper and its title: two papers have a Section 3."""
    paper = reference.SHORT.get(name.split("/")[0])
    return f"{paper}, {catalogue.title(name)}" if paper else catalogue.title(name)


@cache
def pages():
    """`{(paper, item): notebook}`; the notebooks do not change while a book is built."""
    return {(name.split("/")[0], item): name
            for name in catalogue.notebooks() for item in catalogue.items(name)}


def label(paper, item):
    """What `{ref}` finds of an item that has a page: its heading."""
    return f"{paper}-{item}-head"


def place(item, text=None):
    """An item's label, as a link to its place on its page where there is one."""
    text = text or item.label
    return f"{{ref}}`{text} <{label(item.paper, item.id)}>`" if (item.paper, item.id) in pages() else text
