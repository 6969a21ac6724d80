"""Beside each item: its data to download, and a way to report an error."""
import csv
import json
import re
import shutil
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import quote

import yaml
from executed import ROOT
from places import HEAD, run


# ---- links -----------------------------------------------------------------------------------------------
@cache
def repository():
    """Address of the repository, from the book's configuration."""
    return yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"].rstrip("/")


def report(item):
    """A link that opens an issue of the repository, its title filled in."""
    address = f"{repository()}/issues/new?title={quote(f'{item.title}: ')}"
    return (f'<a href="{escape(address)}" aria-label="report an error in {escape(item.title)}">'
            "report an error</a>")


def downloads(item, record, docname):
    """Links from a page to the files of an item's record: JSON, and CSV where it has rows."""
    base = f"{'../' * docname.count('/')}data/{item.paper}/{item.id}"
    kinds = ["JSON", *(["CSV"] if record and record.get("rows") else [])] if record else []
    return [f'<a href="{base}.{k.lower()}" download aria-label="{k} of {escape(item.title)}">{k}</a>'
            for k in kinds]


# ---- the line under a heading ----------------------------------------------------------------------------
def beside(item, docname):
    """The line under an item's heading: its data, and where to report an error."""
    from report import record
    kept = record.read(item.paper, item.id)
    notes = [f"data: {' '.join(downloads(item, kept, docname))}"] if kept else []
    return f":::{{div}} item-notes\n{' · '.join([*notes, report(item)])}\n:::"


def notes(app, docname, source):
    """Put that line under the headings of items, after executed.py has marked them."""
    from report import reference
    if not docname.startswith("notebooks/") or run(docname.removeprefix("notebooks/")) is None:
        return
    notebook = json.loads(source[0])

    def noted(match):
        key, name = HEAD.match(match[0]).groups()
        return f"{match[0]}\n\n{beside(reference.paper(key)[name], docname)}\n"

    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = re.sub(rf"(?m){HEAD.pattern}\n#.*$", noted, "".join(cell["source"]))
    source[0] = json.dumps(notebook)


# ---- files -----------------------------------------------------------------------------------------------
def rows_as_csv(rows, path):
    """Rows of a record as a CSV file; a part of a cell, such as its `value`, stands under `column.part`."""
    def flat(value, prefix=""):
        for k, v in value.items():
            yield from flat(v, f"{prefix}{k}.") if isinstance(v, dict) else [(f"{prefix}{k}", v)]

    lines = [dict(flat(r)) for r in rows]
    header = list(dict.fromkeys(k for line in lines for k in line))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        writer.writerows(lines)


def copy(app, exception):
    """The records as files of the built site: `data/<paper>/<item>.json`, and `.csv` where they have rows."""
    from shared import runtime
    if exception is not None or app.builder.format != "html":
        return
    for file in sorted((runtime.results_folder() / "paper").glob("*/*.json")):
        target = Path(app.outdir) / "data" / file.parent.name / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        if rows := json.loads(file.read_text()).get("rows"):
            rows_as_csv(rows, target.with_suffix(".csv"))


# ---- Sphinx ----------------------------------------------------------------------------------------------
def setup(app):
    app.add_css_file("scoreboard.css")
    app.add_js_file("scoreboard.js", loading_method="defer")
    app.connect("source-read", notes, priority=600)  # after executed.py
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
