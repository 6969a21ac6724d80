"""The git repository of the book: its last commit, and whether the tree differs from it."""
import contextlib
import os
import shutil
import subprocess
from pathlib import Path

from report.repository import ROOT
from shared.runtime import UserError

CODE = ("shared", "report", "papers", "notebooks", "requirements.lock")     # what decides a result


def git(*words, folder=None):
    """The finished `git -C folder WORDS`, output and errors as text; a person's hooks stay out."""
    words = ("-c", "core.hooksPath=/dev/null", *words)
    return subprocess.run(["git", "-C", str(folder or ROOT), *words], capture_output=True, encoding="utf-8")


def head():
    """The last commit of this tree. Raises UserError where there is none.

    A copy of the book inside another repository has none: the commits there are of something else.
    """
    if shutil.which("git") is None:
        raise UserError("no git on this machine, which this command needs for the last commit; install it")
    top, commit = git("rev-parse", "--show-toplevel"), git("rev-parse", "--verify", "HEAD")
    if "dubious ownership" in top.stderr:
        raise UserError(f"{ROOT} belongs to another user, and git does not read it; allow it by: "
                        f"git config --global --add safe.directory {ROOT}")
    if top.returncode or commit.returncode or not os.path.samefile(top.stdout.strip(), ROOT):
        raise UserError(f"{ROOT}: no git checkout with a commit of its own, which this command needs; run it "
                        "in a clone of the book")
    return commit.stdout.strip()


def revision():
    """The revision of the tree as it is now, `+changes` where code differs from it.

    `$BOUNDARY_REVISION` where there is none, else "unknown".
    """
    try:
        head()
    except UserError:
        return os.environ.get("BOUNDARY_REVISION", "unknown")
    changed = git("status", "--porcelain", "--", *CODE).stdout
    return git("rev-parse", "--short", "HEAD").stdout.strip() + ("+changes" if changed else "")


def committed(path):
    """The text of a file of the repository at its last commit; None where git or the file is not there."""
    with contextlib.suppress(OSError, ValueError):
        done = git("show", f"HEAD:./{Path(path).resolve().relative_to(ROOT.resolve()).as_posix()}")
        return done.stdout if done.returncode == 0 else None
