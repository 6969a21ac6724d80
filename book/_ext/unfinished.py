"""A build that was killed is not taken for a finished one: the next starts over where a marker still stands.

Sphinx trusts what it finds: a page cut in the middle, a search index without its last pages. The marker
stands in the folder of the pages from the first step of a build to its last.
"""
import shutil
from pathlib import Path

from sphinx.util import logging

LOG = logging.getLogger(__name__)
NAME = ".unfinished"


def begin(outdir, doctreedir):
    """Drop what a killed build left, pages and parsed documents; then mark this one as unfinished."""
    marker = Path(outdir) / NAME
    if marker.exists():
        LOG.info("the last build was stopped half way: starting over")
        for folder in (Path(outdir), Path(doctreedir)):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
    marker.parent.mkdir(parents=True, exist_ok=True)  # extensions are set up before Sphinx makes it
    marker.touch()


def end(app, exception):
    """Every page is written; a build that failed keeps its marker."""
    if exception is None:
        (Path(app.outdir) / NAME).unlink(missing_ok=True)


def setup(app):
    begin(app.outdir, app.doctreedir)  # before Sphinx reads the parsed documents
    app.connect("build-finished", end, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
