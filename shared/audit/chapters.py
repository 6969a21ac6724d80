"""The papers' printed numbers against each other: all checks, run on the reference files alone."""
import numpy as np
import pandas as pd

from shared import reference
from shared.audit import chen, chen_models, he, ren, shu, sutton, sutton_counts, sutton_sizes
from shared.audit.finding import Finding

CHECKS = tuple(module.checks for module in (
    ren, shu, he, sutton, sutton_counts, sutton_sizes, chen,
    chen_models))


def references():
    """The five papers as printed, {key: Paper}, from `book/reference`."""
    return {key: reference.paper(key) for key in reference.KEYS}


def findings(papers=None, *, generator=None) -> list[Finding]:
    """All findings, papers in the book's order.

    `papers` is {key: Paper} for the papers to check (default: all five as committed). `generator`, a numpy
    Generator, serves the two checks that simulate; each module draws from its own child of it, so that
    checking one paper alone gives the same numbers as checking all. Raises ValueError for an unknown key.
    """
    papers = references() if papers is None else papers
    if unknown := sorted(set(papers) - set(reference.KEYS)):
        raise ValueError(f"no checks for paper {unknown[0]!r}; allowed: {', '.join(reference.KEYS)}")
    children = (generator or np.random.default_rng(0)).spawn(len(CHECKS))
    return [f for checks, child in zip(CHECKS, children) if checks.paper in papers
            for f in checks.run(papers[checks.paper], child)]


def table(found) -> pd.DataFrame:
    """Findings as a table, one row each; printed and recomputed values as text."""
    return pd.DataFrame([{"paper": f.paper, "place": f.place, "kind": f.kind, "verdict": f.verdict,
                          "title": f.title, "printed": show(f.printed), "recomputed": show(f.recomputed),
                          "consequence": f.consequence} for f in found])


def show(value):
    """A printed or recomputed value as text: dicts as `label value; ...`, numbers to four significant digits
    or, from 1000 up, as integers where they are whole."""
    if isinstance(value, dict):
        return "; ".join(f"{label} {show(v)}" for label, v in value.items())
    if isinstance(value, (tuple, list)):
        return ", ".join(map(show, value))
    if isinstance(value, (float, np.floating)) and not float(value).is_integer():
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"
    return f"{value:.0f}" if isinstance(value, (float, np.floating)) else str(value)
