"""What a check of printed numbers is made of: the finding, the list of checks, the arithmetic of print."""
import math
import re
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from report.reference import Paper
from shared.runtime import UserError

KINDS = ("numbers", "words", "scripts")
VERDICTS = ("contradicts", "holds with exceptions", "confirms", "note")
WORDS = 12  # of a quotation, at most


class Quote(NamedTuple):
    """Decisive words of a paper, verbatim, and where they stand."""
    words: str
    where: str


class Chance(NamedTuple):
    """How often random numbers pass a check, as shares of the draws.

    permuted  the printed cells in another order within their columns; None where no column has two cells
    redrawn   every cell drawn uniformly between the smallest and the largest of its column
    """
    permuted: float | None
    redrawn: float


@dataclass(frozen=True)
class Finding:
    """One statement, set against what the paper's own printed numbers give.

    `verdict` is `contradicts` (passage against passage, or arithmetically impossible), `holds with
    exceptions` (`held` = n of m rows), `confirms`, or `note` (nothing the paper says could be wrong). `kind`
    is `numbers` (computed from printed numbers), `words` (passages set side by side) or `scripts` (what the
    published code does). `numbers` are the paper's, `ours` our sum: a number, text, tuple, or dict of them.
    """
    paper: str
    name: str                     # the function that made it
    place: str                    # reference items concerned, e.g. "table-4, table-5"
    kind: str
    title: str                    # what is tested, in our words
    quotes: tuple[Quote, ...]     # what the paper says of it, in its own
    numbers: object
    ours: object
    verdict: str
    held: tuple[int, int] | None  # rows that hold, of how many
    reading: str                  # the reading under which the authors are right
    use: str                      # what a reader or a reproduction gains
    chance: Chance | None = None

    def __post_init__(self):
        for what, value, allowed in (("kind", self.kind, KINDS), ("verdict", self.verdict, VERDICTS)):
            if value not in allowed:
                raise UserError(f"unknown {what} {value!r}; allowed: {', '.join(allowed)}")
        for quote in self.quotes:
            if (n := len(quote.words.split())) > WORDS:
                raise UserError(f"{self.paper} quotes {n} words, {quote.words!r}; allowed: {WORDS}; cut it")


@dataclass(frozen=True)
class Printed:
    """A paper's printed values as the checks read them.

    `generator` serves the checks that simulate. `redraw`, if given, replaces the numbers that stand in no
    table (`single`): so the same check can be asked what it says of random ones.
    """
    paper: Paper
    generator: np.random.Generator
    redraw: np.random.Generator | None = None

    def rows(self, item):
        """The rows of a table, as printed."""
        return self.paper[item].raw["rows"]

    def frame(self, item):
        """The rows of a table as a DataFrame, one line per cell where it prints a matrix (`sutton`)."""
        return pd.DataFrame([{**{k: v for k, v in row.items() if k != "cells"}, **cell}
                             for row in self.rows(item) for cell in row.get("cells", [{}])])

    def settings(self, item):
        """The experimental settings printed for an item."""
        return self.paper[item].raw["settings"]

    def figure(self, figure):
        """Numbers printed in or about a figure: by name, and by panel as {norm: value}."""
        return {n.get("name", n.get("panel")): n.get("value", n)
                for n in self.paper[figure].raw["printed_numbers"]}

    def single(self, value):
        """A printed number without a column; random ones lie between its half and its double."""
        if self.redraw is None:
            return value
        return to_print(self.redraw.uniform(value / 2, value * 2), decimals(value))

    def finding(self, place, title, *, numbers="", ours="", holds=None, quotes=(), reading="", use="",
                kind="numbers"):
        """A finding about this paper; `holds` is True, False, None (a note) or (rows that hold, rows)."""
        held = plain(holds) if isinstance(holds, tuple) else None
        if held:
            verdict = "confirms" if held[0] == held[1] else "holds with exceptions"
        else:
            verdict = {True: "confirms", False: "contradicts", None: "note"}[holds]
        return Finding(self.paper.key, "", place, kind, title, tuple(Quote(*q) for q in quotes),
                       plain(numbers), plain(ours), verdict, held, reading, use)


class Checks:
    """The checks of one paper in reading order; the instance decorates each of them.

    A check takes a `Printed` and returns one finding, or yields several where one rule has several rows.
    `pool`: it compares tables of one layout, whose columns of one name count as one for random numbers.
    """

    def __init__(self, paper):
        self.paper, self.functions = paper, {}    # {check: whether it pools}

    def __call__(self, function=None, *, pool=False):
        if function is None:
            return lambda f: self(f, pool=pool)
        self.functions[function] = pool
        return function


def findings_of(check, printed):
    """The findings of one check as a list, each with the check's name."""
    found = check(printed)
    return [replace(f, name=check.__name__) for f in ([found] if isinstance(found, Finding) else found)]


def stated(words):
    """The numbers in quoted words, as floats: `stated("99.57% (std 0.24)")` is (99.57, 0.24)."""
    return tuple(float(n.replace(",", "")) for n in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", words))


def plain(value):
    """The same value without numpy types, so that findings print, compare and serialise alike."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return tuple(plain(v) for v in value)
    return value.item() if isinstance(value, np.generic) else value


def decimals(value):
    """Decimals of a number as written: 2 for 0.25, 0 for 3 and 3.0."""
    _, _, fraction = f"{value:.10g}".partition(".")
    return len(fraction)


def to_print(number, places):
    """A number as a paper would print it, with so many decimals; an integer where there are none."""
    return round(float(number), places) if places else round(float(number))


def rounds_to(value, printed, places):
    """Does `value`, rounded to `places` decimals, give the printed number? A tie may go either way."""
    return bool(abs(value - printed) <= 0.5 * 10.0**-places + 1e-9)


def attainable(percent, total, places=2):
    """The whole numbers k in 0..total for which 100 k / total prints as `percent`; empty if there is none."""
    half = 0.5 * 10.0**-places + 1e-9
    first = math.ceil((percent - half) * total / 100 - 1e-9)
    last = math.floor((percent + half) * total / 100 + 1e-9)
    return range(max(first, 0), min(last, total) + 1)
