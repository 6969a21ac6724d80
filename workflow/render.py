"""Render the book from the notebooks that have run: python -m workflow.render PROFILE"""
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from report.repository import ROOT, results_folder
from shared import runtime

PAGES = ROOT / "_build" / "html"
# book/_ext/whole.py makes it, empty, at the end of a rendering; here it gets the state of sources and pages.
WHOLE = PAGES / ".whole"
SOURCES = ("book", "notebooks", "papers", "report", "shared", "workflow", "_config.yml", "_toc.yml",
           "requirements.lock")


def runs(profile):
    """The folder of a profile's run notebooks, with their pictures."""
    return Path(os.environ.get("BOUNDARY_RUNS", ROOT / "_runs")) / profile


def state(*places):
    """A digest of the names, sizes and times of all files in some places: another one if a file changes."""
    files = (path for place in places for path in (place, *place.rglob("*")) if path.is_file())
    facts = sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files
                   if path != WHOLE and "__pycache__" not in path.parts)
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def main(profile):
    """Render what has changed; exits with jupyter-book's status.

    Sphinx trusts what it finds, also a page that was cut in the middle: what a killed or failed rendering
    left, or somebody changed, goes.
    """
    with runtime.writing(PAGES):
        PAGES.mkdir(parents=True, exist_ok=True)
    sources = state(*(ROOT / name for name in SOURCES), results_folder(), runs(profile) / "notebooks")
    left = WHOLE.read_text(encoding="utf-8") if WHOLE.is_file() else None
    if left is None or left and not left.endswith(state(PAGES)):
        shutil.rmtree(PAGES.parent, ignore_errors=True)
    elif left.startswith(sources):
        print(f"The book is as it was: {(PAGES / 'index.html').as_uri()}")
        return
    build = ["jupyter-book", "build", "-W", "--keep-going", "-n", "-q", "."]
    if status := subprocess.run(build, cwd=ROOT, env={**os.environ, "PROFILE": profile}).returncode:
        WHOLE.unlink(missing_ok=True)   # Sphinx warns only of pages that it reads: the next time reads all
        raise SystemExit(status)
    WHOLE.write_text(f"{sources} {state(PAGES)}", encoding="utf-8")
    print(f"The book: {(PAGES / 'index.html').as_uri()}")


if __name__ == "__main__":
    runtime.prepare(computes=False)
    runtime.stop_cleanly()
    main(*sys.argv[1:])
