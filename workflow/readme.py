"""Renew the README's picture, drawn from the recorded runs, and its finder: python -m workflow.readme"""
import os
import shutil
import tempfile
from pathlib import Path

from report.repository import ROOT
from shared import runtime
from workflow import finder, records

PICTURE = ROOT / "book/_static/walk.png"
FROM = ("ren/iii_borderline", "ren-figure-1-recorded.png")


def main():
    notebook, name = FROM
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"BOUNDARY_PICTURES": folder, "BOUNDARY_RESULTS": str(records.scratch(folder))}
        _, error = records.run_script(notebook)
        drawn = Path(folder) / name
        if error or not drawn.exists():
            raise SystemExit(error or f"{notebook} has no recorded {name}; compute its runs first")
        shutil.copy(drawn, PICTURE)
    finder.main()


if __name__ == "__main__":
    runtime.prepare()
    main()
