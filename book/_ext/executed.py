"""Show each notebook as papermill last ran it; the sources stay without outputs.

What `report.page` left in an output is put on the page: its MyST text, its pictures, the finding of the page
at the top, under the heading of each item its data, and in it the verdict.
"""
import json
import os
import re
from pathlib import Path

from beside import notes
from nbformat.v4 import new_markdown_cell
from places import label, placed, runs
from sphinx.util import logging

from report import display, parameters, reference
from report.tidy import MIME
from report.verdict import NOT_MEASURED, NOTHING
from workflow import catalogue
from workflow.table import specs

LOG = logging.getLogger(__name__)
HEADING = re.compile(r"^(#{2,3}) (.+)$", re.MULTILINE)
DIRECTIVE = re.compile(r"^(```|:::|\|)", re.MULTILINE)


def marked(text, items, docname):
    """Headings that begin with the label of an item: a place to link to, its verdict, its data."""
    def head(match):
        for spec in items:
            item = reference.paper(spec["record"]["paper"])[spec["record"]["item"]]
            if re.match(rf"{re.escape(item.label)}(?!\w)", match[2]):
                word = spec["record"]["verdict"]
                judged = spec["recorded"] and word not in (NOTHING, NOT_MEASURED)
                badge = f" {display.badge(word)}" if judged else ""
                return f"({label(item.paper, item.id)})=\n{match[0]}{badge}\n\n{notes(item, docname)}\n"
        return match[0]

    return HEADING.sub(head, text)


def parameter_table(facts, small):
    """The parameters of the run that built a page, as a folded table; whether that is a small one.

    At full scale these are the published settings, and recorded runs may have smaller sizes.
    """
    rows = [[f"`{p['parameter']}`", "the profile's" if (v := facts["parameters"].get(p["parameter"])) is None
             else f"`{v}`" if v != "" else "empty", p["meaning"], p["allowed"]]
            for p in parameters.rows(parameters.script_of(facts["notebook"]))]
    title = "Parameters of this page's own small run (its results stand at the end)"
    whole = facts.get("profile") == "paper" and not small
    return display.folded(title if small else "Parameters of this page", display.markdown_table(
        ["parameter", "published scale" if whole else "this run", "meaning", "allowed"], rows))


def wanted(output):
    """Whether an output is for the page: no warnings for whoever runs it, no empty one, not the box."""
    data = output.get("data", {"text/plain": ""})   # a stream has none
    return output.get("name") != "stderr" and data and data.get(MIME, {}).get("kind") != "box"


def is_prose(spec):
    """Whether what an output left is sentences alone: no table, no picture, nothing that was judged."""
    return bool(spec) and "kind" not in spec and not spec["pictures"] and not DIRECTIVE.search(spec["myst"])


def read(app, docname, source):
    """Put the run of a notebook in the place of its source."""
    if Path(app.env.doc2path(docname)).suffix != ".ipynb":
        return
    path = runs() / f"{docname}.ipynb"
    app.env.note_dependency(str(path))
    notebook = catalogue.opened(path)
    if notebook is None:
        LOG.warning("not run yet, or its run is damaged: rm -f %s; make run", path, location=docname)
        return
    notebook["metadata"].pop("papermill", None)
    outputs = specs(notebook)
    items, boxes, stamp = ([s for s in outputs if s.get("kind") == kind] for kind in ("item", "box", "stamp"))
    page, waiting = [], []
    for cell in notebook["cells"]:
        tags, text = cell["metadata"].setdefault("tags", []), "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            page.append(new_markdown_cell(marked(text, items, docname)))
            continue
        if cell["cell_type"] != "code" or {"injected-parameters", "hide-cell"} & set(tags):
            continue  # set-up, the same everywhere: in the notebook, not on the page
        if "parameters" in tags:
            small = any(spec.get("kind") == "own" for spec in outputs)
            page.append(new_markdown_cell(parameter_table(stamp[0]["facts"], small)))
            continue
        cell["outputs"] = [output for output in cell["outputs"] if wanted(output)]
        left = [output.get("data", {}).get(MIME) for output in cell["outputs"]]
        for output, spec in zip(cell["outputs"], left):
            if spec:
                output["data"] = {"text/markdown": placed(spec, docname, docname)}
        if "show-input" in tags:  # code that the page is about stands open
            page.append(new_markdown_cell(f"```python\n{text}\n```"))
            if cell["outputs"]:
                tags.append("remove-input")
                page.append(cell)
            continue
        # One fold of code a result: what only prepares one, or says a sentence, waits for the next.
        waiting.append(text)
        if all(map(is_prose, left)):
            page += [new_markdown_cell(output["data"]["text/markdown"]) for output in cell["outputs"]]
            continue
        cell["source"], waiting = "\n\n\n".join(waiting), []
        tags.append("hide-input")
        page.append(cell)
    page[1:1] = [new_markdown_cell(placed(spec, docname, docname)) for spec in boxes]
    source[0] = json.dumps(notebook | {"cells": page})


def setup(app):
    # Sphinx reads all pages again when it changes: a page depends on the notebooks of its profile.
    app.add_config_value("profile", os.environ.get("PROFILE", "quick"), "env")
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
