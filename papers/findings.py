"""The papers' printed numbers against each other, on the reference files alone.

What a check is made of (the finding, the list of checks, the arithmetic of print), the test of a check (how
often random numbers in the place of the printed ones pass it), all findings, and their texts. The checks of a
paper stand in `papers/<key>/audit.py`.
"""
import copy
import importlib
import math
import re
from collections import Counter
from dataclasses import dataclass, replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from report import display, prose, reference, repository
from report.comparison import decimals
from report.reference import Paper
from shared import runtime

VERDICTS = ("contradicts", "holds with exceptions", "confirms", "note")


@dataclass(frozen=True)
class Finding:
    """One statement, set against what the paper's own printed numbers give.

    `verdict` is `contradicts` (passage against passage, or arithmetically impossible), `holds with
    exceptions` (`held` = n of m rows), `confirms`, or `note` (no contradiction). `kind`
    is `numbers` (computed from printed numbers), `words` (passages set side by side) or `scripts` (what the
    published code does). `numbers` are the paper's, `ours` our value: a number, text, tuple, or dict of them.
    """
    paper: str
    name: str                     # of the check
    place: str                    # reference items concerned, e.g. "table-4, table-5"
    kind: str
    title: str                    # what is tested, in our words
    quotes: tuple                 # (decisive words of the paper, verbatim, and where they stand)
    numbers: object
    ours: object
    verdict: str
    held: tuple[int, int] | None  # rows that hold, of how many
    reading: str                  # what must be true for the authors to be right
    use: str                      # what a reader or a reproduction gains
    chance: float | None = None   # share of random tables that pass, see `chances`


@dataclass(frozen=True)
class Printed:
    """A paper's printed values as the checks read them.

    `redraw`, if given, replaces the numbers that stand in no table (`single`): so the same check can be asked
    what it says of random ones.
    """
    paper: Paper
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
        return Finding(self.paper.key, "", place, kind, title, tuple(quotes), plain(numbers), plain(ours),
                       verdict, held, reading, use)


class Checks:
    """The checks of one paper in reading order; the instance decorates each of them.

    A check takes a `Printed` and returns one finding, or several where one rule has several rows.
    `pool`: it compares tables of one layout, whose columns of one name count as one for random numbers.
    """

    def __init__(self):
        self.functions = {}    # {check: whether it pools}

    def __call__(self, function=None, *, pool=False):
        if function is None:
            return lambda f: self(f, pool=pool)
        self.functions[function] = pool
        return function


def findings_of(check, printed):
    """The findings of one check as a list, each with the check's name."""
    result = check(printed)
    return [replace(f, name=check.__name__) for f in ([result] if isinstance(result, Finding) else result)]


# ---- the arithmetic of print -----------------------------------------------------------------------------
def stated(words):
    """The numbers in quoted words, as floats: `stated("99.57% (std 0.24)")` is (99.57, 0.24)."""
    return tuple(float(n.replace(",", "")) for n in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", words))


def plain(value):
    """The same value without numpy types, so that findings print and compare alike."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return tuple(plain(v) for v in value)
    return value.item() if isinstance(value, np.generic) else value


def to_print(number, places):
    """A number as a paper would print it, with so many decimals; an integer where there are none."""
    return round(float(number), places or None)


def rounds_to(value, printed, places):
    """Does `value`, rounded to `places` decimals, give the printed number? A tie may go either way."""
    return bool(abs(value - printed) <= 0.5 * 10.0**-places + 1e-9)


def attainable(percent, total, places=2):
    """The whole numbers k in 0..total for which 100 k / total prints as `percent`; empty if there is none."""
    half = 0.5 * 10.0**-places + 1e-9
    first = math.ceil((percent - half) * total / 100 - 1e-9)
    last = math.floor((percent + half) * total / 100 + 1e-9)
    return range(max(first, 0), min(last, total) + 1)


# ---- random numbers --------------------------------------------------------------------------------------
# Columns that say what a row is about, not what was measured; random numbers leave them as they are.
LABELS = {"class_a", "class_b", "source_class", "target_class", "delta", "delta_inferred", "index", "layer",
          "layer_inferred", "layers", "neurons", "printed_row", "t", "T", "rank_in_dataset", "n_cells"}
LINE = ("quantity", "norm", "split", "delta_inferred")  # what names a line that stands for a column


def leaves(node, path=()):
    """(container, key, path) of every measured number below a table's row."""
    pairs = enumerate(node) if isinstance(node, list) else node.items()
    for key, value in pairs:
        below = path if isinstance(node, list) else (*path, key)
        if isinstance(value, (dict, list)):
            yield from leaves(value, below)
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and key not in LABELS:
            yield node, key, below


def columns(paper, items, pool):
    """The printed columns of the items: lists of cells (container, key).

    Where a table prints one line per quantity and one column per problem, a line is what counts as a column.
    """
    cells = {}
    for item in items:
        raw = paper[item].raw
        for row in [*raw.get("rows", []), *raw.get("printed_numbers", [])]:
            line = tuple(row.get(k) for k in LINE) if "cells" in row else ()
            for container, key, path in leaves(row):
                cells.setdefault(("" if pool else item, path, line), []).append((container, key))
    return list(cells.values())


def chances(check, paper, findings, *, pool, draws, generator):
    """The `findings` of `check` with their `chance`, where they confirm or hold with exceptions.

    The check is asked of `draws` tables whose cells are drawn evenly between the smallest and the largest of
    their column (half and double where these are equal). A table passes if the check confirms it, or holds in
    no smaller share of its rows.
    """
    due = {f.title: f for f in findings if f.verdict in ("confirms", "holds with exceptions")}
    if not due:
        return findings
    items = list(dict.fromkeys(item for f in due.values() for item in f.place.split(", ")))
    shaken = replace(paper, items={**paper.items, **copy.deepcopy({i: paper[i] for i in items})})
    ranges = []
    for cells in columns(shaken, items, pool):
        values = [container[key] for container, key in cells]
        low, high = (min(values), max(values)) if len(set(values)) > 1 else (values[0] / 2, values[0] * 2)
        ranges.append((cells, low, high, max(map(decimals, values))))
    passed = Counter()
    for _ in range(draws):
        for cells, low, high, places in ranges:
            for (container, key), value in zip(cells, generator.uniform(low, high, len(cells))):
                container[key] = to_print(value, places)
        passed.update(f.title for f in findings_of(check, Printed(shaken, generator))
                      if f.title in due and passes(f, due[f.title]))
    return [replace(f, chance=passed[f.title] / draws) if f.title in due else f for f in findings]


def passes(random, printed):
    """Whether a check has the same outcome on the random table as on the printed one."""
    if random.verdict == "confirms":
        return True
    if printed.verdict == "confirms" or random.held is None:
        return False
    return bool(np.divide(*random.held) >= np.divide(*printed.held))


# ---- all findings ----------------------------------------------------------------------------------------
def findings(papers=None, *, draws=0, seed=0):
    """All findings, papers in the book's order; a paper without an `audit.py` has none.

    `papers` is {key: Paper} for the papers to check (default: all as committed). With `draws`, every
    statement that holds is also asked of so many random tables (`Finding.chance`); each check has draws of
    its own, so that checking one paper alone gives the same numbers as checking all.
    """
    papers, results = reference.PAPERS if papers is None else papers, []
    for key, paper in papers.items():
        if not repository.has_module(key, "audit"):
            continue
        for check, pool in importlib.import_module(f"papers.{key}.audit").checks.functions.items():
            of_check = findings_of(check, Printed(paper))
            if draws:
                rng = np.random.default_rng(runtime.generator(seed, key, check.__name__).initial_seed())
                of_check = chances(check, paper, of_check, pool=pool, draws=draws, generator=rng)
            results += of_check
    return results


def place(finding):
    """Where the finding is, in the paper's names: `Tables III, IV; Figure 3`."""
    numbers = {}
    for item in finding.place.split(", "):
        kind, _, number = reference.paper(finding.paper)[item].label.partition(" ")
        numbers.setdefault(kind, []).append(number)
    return "; ".join(f"{kind}{'s' * (len(n) > 1)} {', '.join(n)}" for kind, n in numbers.items())


def show(value, between="; ", digits=4):
    """A value as text: dicts as `label value; ...`, numbers to so many significant digits."""
    if isinstance(value, dict):
        return between.join(f"{label.replace('_', ' ')} {show(v, ', ', digits)}"
                            for label, v in value.items())
    if isinstance(value, tuple):
        return ", ".join(show(v, ", ", digits) for v in value)
    return prose.number(value, digits=digits)


HEADER = ("class", "statement checked", "words of the paper", "numbers / ours",
          "how the authors may be right; use", "random numbers pass")


def row(f):
    """The finding as the texts of a table's line, one for each of HEADER."""
    held = f" ({f.held[0]} of {f.held[1]} rows)" if f.held else ""
    quotes = "<br>".join(f"“{words}” ({where})" for words, where in f.quotes)
    numbers = show(f.numbers, "; ", 6), show(f.ours)
    sums = " / ".join(text or "–" for text in numbers) if any(numbers) else ""
    right = f.reading and f"The authors are right if {f.reading}"
    return [f.verdict + held, f"{place(f)}: {f.title}", quotes, sums, " ".join(filter(None, (right, f.use))),
            "" if f.chance is None else f"{f.chance:.1%}"]


# ---- picture of the box ----------------------------------------------------------------------------------
SHADES = dict(zip(("confirms", "holds with exceptions", "contradicts"),
                  (display.PALETTE[2], display.PALETTE[1], display.PALETTE[3])))


def draw_counts(findings):
    """How the checked statements came out: a bar for all papers, then one a paper."""
    figure, ax = plt.subplots(figsize=(7.2, 3))
    rows = {"all five papers": Counter(f.verdict for f in findings)} | {
        short: Counter(f.verdict for f in findings if f.paper == key)
        for key, short in reference.SHORT.items()}
    counts = np.array([[of[verdict] for verdict in SHADES] for of in rows.values()])
    for n, (verdict, shade) in enumerate(SHADES.items()):
        drawn = ax.barh([*rows], counts[:, n], left=counts[:, :n].sum(1), color=shade, edgecolor="white",
                        label=verdict)
        ax.bar_label(drawn, [str(count or "") for count in counts[:, n]], label_type="center")
    ax.set(xlabel="statements checked without an experiment")
    ax.invert_yaxis()
    ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncols=len(SHADES), columnspacing=1.2)
    return figure
