"""Render the book from the notebooks that have run: python -m workflow.render PROFILE"""
import os
import shutil
import subprocess
import sys

from report.repository import ROOT
from shared import runtime

PAGES = ROOT / "_build" / "html"
WHOLE = PAGES / ".whole"  # book/_ext/whole.py writes it at the end of a rendering


def main(profile):
    """Render what has changed; exits with jupyter-book's status.

    Sphinx trusts what it finds, also a page that was cut in the middle: what a killed or failed rendering
    left goes.
    """
    with runtime.writing(PAGES):
        PAGES.mkdir(parents=True, exist_ok=True)
    if not WHOLE.is_file():
        shutil.rmtree(PAGES.parent, ignore_errors=True)
    build = ["jupyter-book", "build", "-W", "--keep-going", "-n", "-q", "."]
    if status := subprocess.run(build, cwd=ROOT, env={**os.environ, "PROFILE": profile}).returncode:
        WHOLE.unlink(missing_ok=True)   # Sphinx warns only of pages that it reads: the next time reads all
        raise SystemExit(status)
    print(f"The book: {(PAGES / 'index.html').as_uri()}")


if __name__ == "__main__":
    runtime.prepare(computes=False)
    runtime.stop_cleanly()
    main(*sys.argv[1:])
