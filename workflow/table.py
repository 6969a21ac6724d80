"""The numbers of a run notebook as a table; `workflow.run` writes it beside each notebook that it runs."""
import json

from report import tidy
from report.tidy import MIME
from shared import runtime
from workflow import catalogue


def specs(notebook):
    """What `report.page` left in the outputs of a run notebook, in order; nothing of None."""
    return [output["data"][MIME] for cell in (notebook or {"cells": []})["cells"]
            for output in cell.get("outputs", []) if MIME in output.get("data", {})]


def write(path):
    """Write the results in a run notebook, with its profile, seed and parameters, as a CSV file beside it.

    A notebook of another form has no results to tell.
    """
    outputs = specs(catalogue.opened(path))
    facts = next((spec["facts"] for spec in outputs if spec.get("kind") == "stamp"), None)
    if facts is None:
        return
    about = {"run": path.name, "profile": facts["profile"], "seed": facts["seed"],
             "parameters": json.dumps({k: v for k, v in facts["parameters"].items()
                                       if k not in ("profile", "seed", "device", "units")})}
    rows = [row | about for spec in outputs if spec.get("kind") == "item" for row in spec.get("table", ())]
    text = tidy.frame(rows).to_csv(index=False)
    runtime.write_atomically(path.with_suffix(".csv"), lambda part: part.write_text(text))
