"""The papers' printed numbers against each other: all checks, run on the reference files alone."""
import numpy as np

from papers.chen import audit as chen
from papers.chen import audit_networks as chen_models
from papers.he import audit as he
from papers.ren import audit as ren
from papers.shu import audit as shu
from papers.sutton import audit as sutton
from report import reference
from report.chance import chances
from report.finding import Finding, Printed, findings_of
from shared.runtime import UserError

CHECKS = tuple(module.checks for module in (ren, shu, he, sutton, chen, chen_models))


def findings(papers=None, *, draws=0, generator=None) -> list[Finding]:
    """All findings, papers in the book's order.

    `papers` is {key: Paper} for the papers to check (default: all five as committed). With `draws`, every
    statement that holds is also asked of so many permuted and so many redrawn tables (`Finding.chance`).
    `generator` is a numpy Generator; each check draws from its own child of it, so that checking one paper
    alone gives the same numbers as checking all. Raises UserError for an unknown key.
    """
    papers = reference.papers() if papers is None else papers
    if unknown := sorted(set(papers) - set(reference.KEYS)):
        raise UserError(f"no checks for paper {unknown[0]!r}; allowed: {', '.join(reference.KEYS)}")
    children = iter((generator or np.random.default_rng(0)).spawn(2 * sum(len(c.functions) for c in CHECKS)))
    every = []
    for checks in CHECKS:
        for check, pool in checks.functions.items():
            own, random = next(children), next(children)
            if checks.paper in papers:
                paper = papers[checks.paper]
                found = findings_of(check, Printed(paper, own))
                every += chances(check, paper, found, pool=pool, draws=draws,
                                 generator=random) if draws else found
    return every


def place(finding):
    """Where the finding is, in the paper's names: `Tables III, IV; Figure 3`."""
    numbers = {}
    for item in finding.place.split(", "):
        kind, _, number = reference.paper(finding.paper)[item].label.partition(" ")
        numbers.setdefault(kind, []).append(number)
    return "; ".join(f"{kind}{'s' * (len(n) > 1)} {', '.join(n)}" for kind, n in numbers.items())


SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def show(value, between="; ", digits=4):
    """A value as text: dicts as `label value; ...`, numbers to so many significant digits."""
    if isinstance(value, dict):
        return between.join(f"{label.replace('_', ' ')} {show(v, ', ', digits)}"
                            for label, v in value.items())
    if isinstance(value, (tuple, list)):
        return ", ".join(show(v, ", ", digits) for v in value)
    if isinstance(value, float):
        if value.is_integer() or abs(value) >= 10**digits:
            return f"{value:.0f}"
        mantissa, _, power = f"{value:.{digits}g}".partition("e")
        return f"{mantissa} × 10{str(int(power)).translate(SUPERSCRIPT)}" if power else mantissa
    return str(value)


def odds(chance):
    """The chance of a finding as text: `permuted 2%, redrawn 0%`."""
    if chance is None:
        return ""
    return ", ".join(f"{name} {value:.1%}" for name, value in chance._asdict().items() if value is not None)


HEADER = ("class", "place", "words of the paper", "numbers / our sum", "reading and use",
          "random numbers pass")


def row(f):
    """The finding as the texts of a table's line, one for each of HEADER."""
    held = f" ({f.held[0]} of {f.held[1]} rows)" if f.held else ""
    said = "<br>".join(f"“{q.words}” ({q.where})" for q in f.quotes)
    numbers = show(f.numbers, "; ", 6), show(f.ours)
    sums = " / ".join(text or "–" for text in numbers) if any(numbers) else ""
    reading = " ".join(text for text in (f.reading and f"Innocent reading: {f.reading}", f.use) if text)
    return [f.verdict + held, f"{place(f)}: {f.title}", said, sums, reading, odds(f.chance)]
