"""The numbers of run notebooks as one table: python -m workflow.table OUT.csv RUN.ipynb ...

`workflow.run` writes such a table beside each notebook that it runs. In Python, of any number of them:

    from workflow import table
    results = table.of("out/seed-0.ipynb", "out/seed-1.ipynb", "out/seed-2.ipynb")
"""
import json
import sys
from pathlib import Path

from report import tidy
from report.tidy import MIME
from shared import runtime
from workflow import catalogue


def specs(notebook):
    """What `report.page` left in the outputs of a run notebook, in order; nothing of None."""
    return [output["data"][MIME] for cell in (notebook or {"cells": []})["cells"]
            for output in cell.get("outputs", []) if MIME in output.get("data", {})]


def of(*paths):
    """A DataFrame of all results in run notebooks, with the run's file, profile, seed and parameters.

    Raises UserError naming a file that is no run notebook.
    """
    rows = []
    for path in map(Path, paths):
        outputs = specs(catalogue.opened(path))
        facts = next((spec["facts"] for spec in outputs if spec.get("kind") == "stamp"), None)
        if facts is None:
            raise runtime.UserError(f"{path}: no notebook that ran to its end; run it first: python -m "
                                    f"workflow.run notebooks/<paper>/<section>.ipynb {path}")
        about = {"run": path.name, "profile": facts["profile"], "seed": facts["seed"],
                 "parameters": json.dumps({k: v for k, v in facts["parameters"].items()
                                           if k not in ("profile", "seed", "device", "units")})}
        rows += [row | about for spec in outputs if spec.get("kind") == "item"
                 for row in spec.get("table", ())]
    return tidy.frame(rows)


def write(target, *paths):
    """The same as a CSV file."""
    text = of(*paths).to_csv(index=False)
    runtime.write_atomically(Path(target), lambda part: part.write_text(text))


if __name__ == "__main__":
    runtime.prepare(computes=False)
    if len(sys.argv) < 3:
        raise runtime.UserError("usage: python -m workflow.table OUT.csv RUN.ipynb ...")
    write(*sys.argv[1:])
