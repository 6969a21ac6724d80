"""The numbers of a run notebook as a table; `workflow.run` writes one for each notebook that it runs."""
import contextlib
import json

from report import tidy
from report.tidy import MIME
from shared import runtime
from shared.runtime import UserError
from workflow import catalogue


def specs(notebook):
    """What `report.page` left in the outputs of a run notebook, in order; nothing of None."""
    return [output["data"][MIME] for cell in (notebook or {"cells": []})["cells"]
            for output in cell.get("outputs", []) if MIME in output.get("data", {})]


HEADER = ",".join(tidy.COLUMNS[:4])     # how each of our tables begins


def place(path):
    """Where the table of the run notebook `path` goes. Raises UserError where a file of another kind is."""
    table = path.with_suffix(".csv")
    if table.exists():
        with contextlib.suppress(OSError, UnicodeDecodeError), open(table, encoding="utf-8") as file:
            if file.readline().startswith(HEADER):
                return table
        raise UserError(f"{table}: the results of {path.name} go there, and a file of another kind is there; "
                        "move it, or name another file for the run notebook")
    return table


def write(path):
    """Write the results in a run notebook, with what tells the run, as a CSV file in its folder.

    A notebook without results has none, and that of an earlier run goes.
    """
    outputs, table = specs(catalogue.opened(path)), place(path)
    facts = next((spec["facts"] for spec in outputs if spec.get("kind") == "stamp"), None)
    rows = [row for spec in outputs if spec.get("kind") == "item" for row in spec.get("table", ())]
    if facts is None or not rows:
        table.unlink(missing_ok=True)
        return
    about = {"run": path.name, "revision": facts["revision"], "time": facts["when"],
             "profile": facts["profile"], "seed": facts["seed"],
             "parameters": json.dumps({k: v for k, v in facts["parameters"].items()
                                       if k not in ("profile", "seed", "device", "runs")})}
    text = tidy.frame([row | about for row in rows]).to_csv(index=False)
    runtime.write_text(table, text)
