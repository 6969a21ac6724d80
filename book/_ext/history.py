"""The dated history of every verdict, from the repository's own: each change of a word in `results/paper`."""
import re
import subprocess
from functools import cache
from pathlib import Path

from executed import ROOT

LOG = ["log", "--first-parent", "-m", "--reverse", "--no-renames", "--no-color", "--no-ext-diff", "-p", "-U0",
       "--format=commit %cs", '-G"verdict":', "--", "results/paper"]
LINE = re.compile(r"commit (?P<date>\d{4}-\d\d-\d\d)$|diff --git a/results/paper/(?P<file>\S+)\.json |"
                  r"deleted (?P<gone>file)|\+ *\"verdict\": \"(?P<word>[^\"]+)\"")
GONE = "withdrawn"  # the record was taken back
EARLIER = {"calibrated": "fitted", "substitute": "proxy", GONE: "record withdrawn"}  # words of older records


def _git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def read(log):
    """`{"paper/item": [(date, word), ...]}` of a git log, oldest first; a word that stays counts once."""
    found, date, file = {}, None, None
    for match in filter(None, map(LINE.match, log.splitlines())):
        if match["date"]:
            date = match["date"]
        elif match["file"]:
            file = match["file"]
        else:
            past, word = found.setdefault(file, []), match["word"] or GONE
            if past and past[-1] == (date, GONE):  # taken back and made anew within a day
                past.pop()
            if not past or past[-1][1] != word:
                past.append((date, word))
    return found


@cache
def changes():
    """As `read`, of this repository; empty where there is none, or only a part of its history."""
    try:
        top, shallow = _git("rev-parse", "--show-toplevel", "--is-shallow-repository").split("\n")[:2]
        if Path(top).resolve() != ROOT.resolve() or shallow == "true":
            return {}
        return read(_git(*LOG))
    except (OSError, subprocess.CalledProcessError):
        return {}


def of(item, record):
    """`(since, before)`: the date of the present verdict, empty if unknown, and the earlier ones in words."""
    past = changes().get(f"{item.paper}/{item.id}", [])
    known = bool(past) and record is not None and past[-1][1] == record["verdict"]
    since = past[-1][0] if known else ""
    before = past[:-1] if known else [step for step in past if step[1] not in (GONE, "not run")]
    return since, ", ".join(f"{said(word)} ({date})" for date, word in reversed(before))


def said(word):
    """A verdict as badges say it, or one of the words that earlier records had."""
    from report.verdict import LABELS
    return (LABELS | EARLIER).get(word, word)
