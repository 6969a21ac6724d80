"""What a check of printed numbers is made of: the finding, the list of checks, the arithmetic of print."""
import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from shared.reference import Paper

KINDS = ("numeric", "text", "code")
VERDICTS = ("contradicts", "confirms", "note")


@dataclass(frozen=True)
class Finding:
    """One statement of a paper, set against what its own printed numbers give.

    `printed` and `recomputed` are a number, a string, a tuple of them, or a dict from label to them.
    `kind` is `numeric` (computed from printed numbers), `text` (two passages disagree) or `code` (the
    published scripts do otherwise). `verdict` is `contradicts`, `confirms`, or `note` (the paper states
    nothing that could be wrong).
    """
    paper: str
    name: str            # the function that made it
    place: str           # reference items concerned, e.g. "table-4, table-5"
    kind: str
    title: str           # the statement under test
    printed: object
    recomputed: object
    verdict: str
    consequence: str     # what a reader should do with it, one sentence
    source: str          # item and field of the reference the printed values come from

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind {self.kind!r}; allowed: {', '.join(KINDS)}")
        if self.verdict not in VERDICTS:
            raise ValueError(f"unknown verdict {self.verdict!r}; allowed: {', '.join(VERDICTS)}")


@dataclass(frozen=True)
class Printed:
    """A paper's printed values as the checks read them, and the generator for the few that simulate."""
    paper: Paper
    generator: np.random.Generator

    def frame(self, item):
        """The rows of a table as a DataFrame, one line per cell where it prints a matrix (`sutton`)."""
        rows = self.paper[item].rows
        return pd.DataFrame([{**{k: v for k, v in row.items() if k != "cells"}, **cell}
                             for row in rows for cell in row.get("cells", [{}])])

    def decimals(self, item, column):
        """Printed decimals of a table's column."""
        return self.paper[item].columns[column]["decimals"]

    def settings(self, item):
        """The experimental settings printed for an item."""
        return self.paper[item].raw["settings"]

    def numbers(self, figure):
        """Numbers printed in or about a figure: by name, and by panel as {norm: value}."""
        return {n.get("name", n.get("panel")): n.get("value", n)
                for n in self.paper[figure].raw["printed_numbers"]}

    def _entries(self, item, field):
        text = self.paper[item].raw[field]
        return [text] if isinstance(text, str) else text

    def quote(self, item, field, pattern):
        """Numbers of the paper's prose: the groups of `pattern` in a text field of the reference, as floats.

        Raises ValueError where the reference no longer says so.
        """
        for entry in self._entries(item, field):
            if match := re.search(pattern, entry):
                return tuple(map(float, match.groups()))
        raise ValueError(f"{self.paper.key} {item}.{field} has no text like {pattern!r}; restore the file")

    def text(self, item, field, words):
        """The entry of a text field that contains `words`, with its address; ValueError if there is none."""
        for entry in self._entries(item, field):
            if words in entry:
                return f"{item}.{field}: {entry}"
        raise ValueError(f"{self.paper.key} {item}.{field} has no text with {words!r}; restore the file")

    def finding(self, place, title, *, printed, recomputed, holds, consequence, source=None, kind="numeric"):
        """A finding about this paper; `holds` is True (confirms), False (contradicts) or None (note)."""
        verdict = "note" if holds is None else "confirms" if holds else "contradicts"
        source = source or ", ".join(f"{item}.rows" for item in place.split(", "))
        return Finding(self.paper.key, "", place, kind, title, plain(printed), plain(recomputed), verdict,
                       consequence, source)


class Checks:
    """The checks of one paper in reading order; the instance decorates each of them.

    A check takes a `Printed` and returns one finding, or a list where one rule yields several rows.
    """

    def __init__(self, paper):
        self.paper = paper
        self.functions = []

    def __call__(self, function):
        self.functions.append(function)
        return function

    def run(self, paper, generator):
        """Findings of all checks on `paper` (a `shared.reference.Paper`), in order."""
        found = []
        for check in self.functions:
            result = check(Printed(paper, generator))
            found += [replace(f, name=check.__name__)
                      for f in (result if isinstance(result, list) else [result])]
        return found


def plain(value):
    """The same value without numpy types, so that findings print, compare and serialise alike."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return tuple(plain(v) for v in value)
    return value.item() if isinstance(value, np.generic) else value


def rounds_to(value, printed, decimals):
    """Does `value`, rounded to `decimals`, give the printed number? A tie may be rounded either way."""
    return bool(abs(value - printed) <= 0.5 * 10.0**-decimals + 1e-9)


def attainable(percent, total, decimals=2):
    """The whole numbers k in 0..total for which 100 k / total prints as `percent`; empty if there is none."""
    half = 0.5 * 10.0**-decimals + 1e-9
    first = int(np.ceil((percent - half) * total / 100 - 1e-9))
    last = int(np.floor((percent + half) * total / 100 + 1e-9))
    return range(max(first, 0), min(last, total) + 1)
