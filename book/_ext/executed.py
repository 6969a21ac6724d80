"""Show each notebook as papermill last ran it; the sources stay without outputs.

What `report.page` left in an output is put on the page: its MyST text, its pictures, the finding of the page
at the top, the verdict of each item in its heading.
"""
import base64
import json
import os
import re
import sys
from pathlib import Path

from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from workflow import catalogue  # noqa: E402

LOG = logging.getLogger(__name__)
MIME = "application/vnd.boundary-book+json"  # what report.page leaves in an output
HEADING = re.compile(r"^(#{2,3}) (.+)$", re.MULTILINE)


# ---- run notebooks ---------------------------------------------------------------------------------------
def runs():
    """The folder of run notebooks of the profile that the book is built from."""
    return Path(os.environ.get("BOUNDARY_RUNS", ROOT / "_runs")) / os.environ.get("PROFILE", "quick")


def specs(notebook):
    """What `report.page` left in the outputs of a run notebook, in order."""
    return [output["data"][MIME] for cell in notebook["cells"] for output in cell.get("outputs", [])
            if MIME in output.get("data", {})]


def cells(notebook):
    return [(c["cell_type"], "".join(c["source"])) for c in notebook["cells"]
            if "injected-parameters" not in c["metadata"].get("tags", [])]


# ---- a page ----------------------------------------------------------------------------------------------
def pictures(spec, docname):
    """The folder of a page's pictures, those of one of its outputs written there."""
    folder = runs() / "pictures" / docname
    for name, data in spec["pictures"].items():
        folder.mkdir(parents=True, exist_ok=True)
        png = base64.b64decode(data)
        if not (folder / name).is_file() or (folder / name).read_bytes() != png:
            (folder / name).write_bytes(png)
    return folder


def placed(spec, docname):
    """MyST text of an output, its pictures written where the page finds them."""
    folder = os.path.relpath(pictures(spec, docname), (ROOT / docname).parent)
    return spec["myst"].replace("{pictures}", folder)


def with_badges(text, items):
    """Headings that begin with the label of an item, with its verdict and a place to link to."""
    from report import display, reference
    from report.verdict import NOT_MEASURED, NOTHING

    def marked(match):
        for spec in items:
            item = reference.paper(spec["record"]["paper"])[spec["record"]["item"]]
            if re.match(rf"{re.escape(item.label)}(?!\w)", match[2]):
                word, part = ((spec["record"]["verdict"], spec["record"]["scale"]["fraction"])
                              if spec["recorded"] else (NOT_MEASURED, 1))
                shown = word not in (NOTHING, NOT_MEASURED)
                badge = f" {display.badge(word, item, part)}" if shown else ""
                return f"({item.paper}-{item.id}-head)=\n{match[1]} {match[2]}{badge}"
        return match[0]

    return HEADING.sub(marked, text)


def parameter_table(facts):
    """The parameters of the run that is shown, as a folded table."""
    from report import display, parameters
    rows = [[f"`{p['parameter']}`", "the profile's" if (v := facts["parameters"].get(p["parameter"])) is None
             else f"`{v}`", p["meaning"], p["allowed"]]
            for p in parameters.rows(parameters.text_half(facts["notebook"]))]
    return display.folded("Parameters of this run", display.markdown_table(
        ["parameter", "this run", "meaning", "allowed"], rows))


def is_prose(spec):
    """Whether an output is sentences alone: no table, no picture, nothing that was judged."""
    block = re.search(r"^(```|:::|\|)", spec["myst"], re.MULTILINE)
    return "kind" not in spec and not spec["pictures"] and not block


def markdown_cell(name, text):
    return {"id": name, "cell_type": "markdown", "metadata": {}, "source": text}


def read(app, docname, source):
    if Path(app.env.doc2path(docname)).suffix != ".ipynb":
        return
    run = runs() / f"{docname}.ipynb"
    app.env.note_dependency(str(run))
    if not run.is_file():
        LOG.warning("not run yet: `make run` gives it outputs", location=docname)
        return
    notebook = catalogue.opened(run)
    if notebook is None:
        LOG.warning("%s is cut or damaged: `make run` makes it again", run,
                    location=docname)
        return
    if cells(notebook) != cells(json.loads(source[0])):
        LOG.warning("changed since it was last run: `make run` renews its outputs", location=docname)
    notebook["metadata"].pop("papermill", None)
    outputs = specs(notebook)
    items = [s for s in outputs if s.get("kind") == "item"]
    facts = next((s["facts"] for s in outputs if s.get("kind") == "stamp"), None)
    page, minute, waiting = [], None, []
    for n, cell in enumerate(notebook["cells"]):
        tags = cell["metadata"].setdefault("tags", [])
        if cell["cell_type"] == "markdown":
            cell["source"] = with_badges("".join(cell["source"]), items)
            page.append(cell)
            continue
        if cell["cell_type"] != "code" or {"injected-parameters", "hide-cell"} & set(tags):
            continue  # set-up, the same everywhere: in the notebook, not on the page
        if "parameters" in tags:
            page.append(markdown_cell("parameters", parameter_table(facts)) if facts else cell)
            continue
        # What a progress bar leaves, and warnings for whoever runs it (paths of that machine).
        # A figure that a cell left open has no description and stands where it is published.
        cell["outputs"] = [o for o in cell["outputs"] if o.get("name") != "stderr"
                           and o.get("data") != {}
                           and ("image/png" not in o.get("data", {}) or MIME in o["data"])]
        prose = []
        for output in list(cell["outputs"]):
            spec = output.get("data", {}).pop(MIME, None)
            if spec is None:
                continue
            text = placed(spec, docname)
            output["data"] = {"text/markdown": text}
            if spec.get("kind") == "box":
                minute = text
                cell["outputs"].remove(output)
            elif is_prose(spec):
                prose.append(text)
        if "show-input" in tags:  # code that the page is about stands open
            code = "".join(cell["source"])
            page.append(markdown_cell(f"code-{n}", f"```python\n{code}\n```"))
            if not cell["outputs"]:
                continue
            tags.append("remove-input")
            page.append(cell)
            continue
        # One fold of code a result: what only prepares one, or says a sentence, waits for the next.
        waiting.append("".join(cell["source"]))
        if len(prose) == len(cell["outputs"]) and n + 1 < len(notebook["cells"]):
            if prose:
                page.append(markdown_cell(f"said-{n}", "\n\n".join(prose)))
            continue
        cell["source"], waiting = "\n\n\n".join(waiting), []
        if "hide-input" not in tags:
            tags.append("hide-input")
        cell["metadata"]["mystnb"] = {"code_prompt_show": "Show code", "code_prompt_hide": "Hide code",
                                      **cell["metadata"].get("mystnb", {})}
        page.append(cell)
    if minute:
        page.insert(1, markdown_cell("box", minute))
    notebook["cells"] = page
    source[0] = json.dumps(notebook)


def setup(app):
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
