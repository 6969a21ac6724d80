"""Show each notebook as papermill last ran it, with the recorded results beside; the sources stay without outputs."""
import json
import os
import re
import sys
from pathlib import Path

from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
LOG = logging.getLogger(__name__)
PROGRESS = re.compile(r"(?s).*\r.*|(\s|\x1b\[A)*")  # what a progress bar prints
PROMPTS = {"parameters": "Show the parameters", "injected-parameters": "Show the parameters of this run"}
MIME = "application/vnd.boundary-book+json"  # what shared.pages leaves in an output


def runs():
    """The folder of run notebooks of the profile that the book is built from."""
    return Path(os.environ.get("BOUNDARY_RUNS", ROOT / "_runs")) / os.environ.get("PROFILE", "quick")


def cells(notebook):
    return [(c["cell_type"], "".join(c["source"])) for c in notebook["cells"]
            if "injected-parameters" not in c["metadata"].get("tags", [])]


def markdown(spec, docname):
    """MyST text of one output that `shared.pages` left in a run notebook, or None to leave it as it is."""
    from shared.pages import report
    from shared.records import records
    from shared.units import sources
    if spec.get("kind") == "table":
        return report.captioned(spec, directive=True)
    if spec.get("kind") == "stamp":
        return None
    recorded = records.read(spec["paper"], spec["item"])
    fresh = recorded and recorded["provenance"]["code"] == sources.measurement_code(ROOT / f"{docname}.py")
    text = report.page(spec, recorded, directive=True, fresh=fresh)
    image = records.path(spec["paper"], spec["item"], ".png")
    if recorded and image.exists():
        text += "\n\n" + report.recorded_figure(recorded, os.path.relpath(image, (ROOT / docname).parent))
    return text


def read(app, docname, source):
    if Path(app.env.doc2path(docname)).suffix != ".ipynb":
        return
    run = runs() / f"{docname}.ipynb"
    app.env.note_dependency(str(run))
    if not run.is_file():
        LOG.warning("not run yet: `make run` gives it outputs", location=docname)
        return
    notebook = json.loads(run.read_text())
    if cells(notebook) != cells(json.loads(source[0])):
        LOG.warning("changed since it was last run: `make run` renews its outputs", location=docname)
    notebook["metadata"].pop("papermill", None)
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tags = cell["metadata"].setdefault("tags", [])
        if "hide-input" not in tags:  # folded, one click away
            tags.append("hide-input")
        prompt = next((text for tag, text in PROMPTS.items() if tag in tags), "Show code")
        cell["metadata"].setdefault("mystnb", {}).setdefault("code_prompt_show", prompt)
        # Progress bars, and warnings for whoever runs it (paths of that machine): the log keeps them.
        cell["outputs"] = [o for o in cell["outputs"]
                           if o.get("name") != "stderr" and not PROGRESS.fullmatch("".join(o.get("text", "x")))]
        for output in cell["outputs"]:
            spec = output.get("data", {}).pop(MIME, None)
            text = spec and markdown(spec, docname)
            if text:
                output["data"] = {"text/markdown": text}
    source[0] = json.dumps(notebook)


def setup(app):
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
