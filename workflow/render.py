"""Render the book unless nothing that it is made of has changed: python -m workflow.render PROFILE

Sphinx takes some four seconds to find that nothing has changed; sizes and times of the files tell it at once.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from shared import ROOT, runtime
from workflow import catalogue

SOURCES = ("_config.yml", "_toc.yml", "CITATION.cff", "requirements.lock",
           "book", "notebooks", "papers", "report", "shared", "workflow", "results")
PAGES = ROOT / "_build" / "html"
STAMP = PAGES / ".stamp"  # goes with the pages


def files(place):
    """Every file at or under `place`, in order, but what Python and a dying process leave."""
    if place.is_file():
        return [place]
    paths = []
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(n for n in inner if n != "__pycache__" and not n.startswith("."))
        paths += [Path(folder, n) for n in sorted(names) if not n.startswith(".")]
    return paths


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
    """Render where the pages' stamp is not the present fingerprint; exits with jupyter-book's status."""
    now = fingerprint(profile)
    if not (PAGES / "index.html").is_file() or not STAMP.is_file() or STAMP.read_text() != now:
        STAMP.unlink(missing_ok=True)  # a rendering that fails leaves none
        build = ["jupyter-book", "build", "-W", "--keep-going", "-n", "-q", "."]
        if status := subprocess.run(build, cwd=ROOT).returncode:
            raise SystemExit(status)
        runtime.write_atomically(STAMP, lambda part: part.write_text(now))
    print(f"The book: {(PAGES / 'index.html').as_uri()}")


if __name__ == "__main__":
    runtime.prepare(computes=False)
    runtime.stop_cleanly()
    main(*sys.argv[1:])
