"""Render the book unless nothing that it is made of has changed: python -m workflow.render PROFILE

Sphinx takes some seconds to find that nothing has changed; sizes and times of the files tell it at once.
"""

import hashlib
import os
import shutil
import subprocess
import sys

from shared import ROOT, runtime
from workflow import catalogue

SOURCES = ("_config.yml", "_toc.yml", "CITATION.cff", "requirements.lock",
           "book", "notebooks", "papers", "report", "shared", "workflow", "results")
PAGES = ROOT / "_build" / "html"
STAMP = PAGES / ".stamp"  # goes with the pages
WHOLE = PAGES / ".whole"  # book/_ext/whole.py writes it at the end of a rendering


def files(place):
    """Every file at or under `place`, in order, but what Python and a dying process leave."""
    paths = sorted(path for path in (place, *place.rglob("*")) if path.is_file())
    return [path for path in paths
            if not any(part.startswith((".", "__pycache__")) for part in path.relative_to(place).parts)]


def fingerprint(profile):
    """A hash of names, sizes and times of all that the pages are made of, and of the revision.

    Of `profile`'s runs the notebooks count; logs are not shown, and pictures come from the notebooks.
    """
    runs = [f"_runs/{profile}/notebooks/{name}.ipynb" for name in catalogue.notebooks()]
    seen = hashlib.sha256(f"{profile} {sys.prefix} {runtime.revision()}".encode())
    for place in (*(ROOT / name for name in (*SOURCES, *runs)), runtime.results_folder()):
        for path in files(place):
            status = path.stat()
            seen.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return seen.hexdigest()


def main(profile):
    """Render where the pages' stamp is not the present fingerprint; exits with jupyter-book's status.

    Sphinx trusts what it finds, also a page that was cut in the middle: what a killed rendering left goes.
    """
    now = fingerprint(profile)
    if not (PAGES / "index.html").is_file() or not STAMP.is_file() or STAMP.read_text() != now:
        if not WHOLE.is_file():
            shutil.rmtree(PAGES.parent, ignore_errors=True)
        STAMP.unlink(missing_ok=True)  # a rendering that fails leaves none
        build = ["jupyter-book", "build", "-W", "--keep-going", "-n", "-q", "."]
        if status := subprocess.run(build, cwd=ROOT, env={**os.environ, "PROFILE": profile}).returncode:
            raise SystemExit(status)
        runtime.write_atomically(STAMP, lambda part: part.write_text(now))
    print(f"The book: {(PAGES / 'index.html').as_uri()}")


if __name__ == "__main__":
    runtime.prepare(computes=False)
    runtime.stop_cleanly()
    main(*sys.argv[1:])
