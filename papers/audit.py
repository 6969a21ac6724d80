"""The papers' printed numbers against each other: all checks, run on the reference files alone."""
import numpy as np

from papers.chen import audit as chen
from papers.findings import Finding, Printed, chances, findings_of
from papers.he import audit as he
from papers.ren import audit as ren
from papers.shu import audit as shu
from papers.sutton import audit as sutton
from report import prose, reference
from shared.runtime import generator

CHECKS = tuple(module.checks for module in (ren, shu, he, sutton, chen))


def findings(papers=None, *, draws=0, seed=0) -> list[Finding]:
    """All findings, papers in the book's order.

    `papers` is {key: Paper} for the papers to check (default: all five as committed). With `draws`, every
    statement that holds is also asked of so many random tables (`Finding.chance`); each check has draws of
    its own, so that checking one paper alone gives the same numbers as checking all.
    """
    papers, results = reference.PAPERS if papers is None else papers, []
    for checks in (c for c in CHECKS if c.paper in papers):
        paper = papers[checks.paper]
        for check, pool in checks.functions.items():
            of_check = findings_of(check, Printed(paper))
            if draws:
                rng = np.random.default_rng(generator(seed, paper.key, check.__name__).initial_seed())
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


HEADER = ("class", "place", "words of the paper", "numbers / our sum", "reading and use",
          "random numbers pass")


def row(f):
    """The finding as the texts of a table's line, one for each of HEADER."""
    held = f" ({f.held[0]} of {f.held[1]} rows)" if f.held else ""
    quotes = "<br>".join(f"“{words}” ({where})" for words, where in f.quotes)
    numbers = show(f.numbers, "; ", 6), show(f.ours)
    sums = " / ".join(text or "–" for text in numbers) if any(numbers) else ""
    reading = " ".join(text for text in (f.reading and f"Innocent reading: {f.reading}", f.use) if text)
    return [f.verdict + held, f"{place(f)}: {f.title}", quotes, sums, reading,
            "" if f.chance is None else f"{f.chance:.1%}"]
