"""Where things are: the page of an item, the heading to link to, what its run left, its file to download."""
import re
from functools import cache

from executed import runs, specs, with_badges

from workflow import catalogue

HEAD = re.compile(r"^\((\w+)-(\S+)-head\)=$", re.MULTILINE)  # what executed.py puts over an item's heading


@cache
def pages():
    """`{(paper, item): notebook}`; the notebooks do not change while a book is built."""
    return catalogue.pages()


# ---- pages -----------------------------------------------------------------------------------------------
def link(text, name):
    return f"[{text}](/notebooks/{name}.ipynb)"


def paged(name):
    """A page by its paper and its title, as a link: two papers have a Section 3."""
    from report import reference
    paper = reference.SHORT.get(name.split("/")[0])
    return f"{paper}, " * bool(paper) + link(catalogue.title(name), name)


@cache
def _opened(path, changed):
    return catalogue.opened(path)


def run(name):
    """The run of a notebook that this book shows, or None where it has not been run."""
    path = runs() / "notebooks" / f"{name}.ipynb"
    return _opened(path, path.stat().st_mtime_ns) if path.is_file() else None


def shown(name, kind):
    """What the run of a notebook that this book shows left of one kind; empty where it has not been run."""
    notebook = run(name)
    everything = specs(notebook) if notebook else []
    return [spec for spec in everything if spec.get("kind") == kind]


def stamps():
    """`{notebook: facts}` of the runs that this book shows."""
    return {name: stamp[-1]["facts"] for name in catalogue.notebooks() if (stamp := shown(name, "stamp"))}


# ---- items -----------------------------------------------------------------------------------------------
def status(record):
    """Verdict of an item as a word."""
    from report.verdict import NOT_MEASURED
    return record["verdict"] if record else NOT_MEASURED


def labels(name):
    """`{item: label}`: what `{ref}` finds of the items on a page, a heading or a numbered figure."""
    items = shown(name, "item")
    label_of = {spec["record"]["item"]: f"{name.split('/')[0]}-{spec['record']['item']}" for spec in items
             if f":name: {name.split('/')[0]}-{spec['record']['item']}\n" in spec["myst"]}
    for cell in (run(name) or {"cells": []})["cells"]:
        if cell["cell_type"] == "markdown":
            for key, item in HEAD.findall(with_badges("".join(cell["source"]), items)):
                label_of[item] = f"{key}-{item}-head"
    return label_of


def label(item):
    """What `{ref}` finds of an item in the runs that this book shows, or None."""
    page = pages().get((item.paper, item.id))
    return labels(page).get(item.id) if page else None


def place(item, text=None):
    """An item's label, as a link to its place on its page where there is one."""
    text, name = text or item.label, label(item)
    page = pages().get((item.paper, item.id))
    return f"{{ref}}`{text} <{name}>`" if name else link(text, page) if page else text
