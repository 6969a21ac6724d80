"""What a paper says of a result, judged on our rows: each claim once, by one predicate.

The predicates of a paper stand in `papers/<key>/claims.py`:

    claim = Claims()

    @claim("table-1", "restores OptBrittle")
    def restores(rows):
        return rows.restored.min() > 50, f"{rows.restored.min():.0f}% or more"
"""
import importlib
import importlib.util
import re

from report import prose
from report.cell import values
from shared import runtime

MANY = 8  # more cases are counted, and few of them are shown one by one
SO_FAR = "; so far: "
TOO_SMALL = "this run is too small to judge it"
FEW_IMAGES = "too few images to tell"  # begins the evidence of a claim that more images can decide
WAITS = "waits for "  # begins the evidence where runs are missing

# What Python prints rather than a person writes: lists and dicts, objects, its constants, digits without end.
NOT_WORDS = re.compile(r"[\[({]\s*['\"]|['\"]\s*:|\[[^\]]*,[^\]]*,|\[\s*\]|\{\s*\}|"
                       r"\b(?:True|False|nan|NaN|inf)\b|\bNone\b(?! of)|"
                       r"\w\.(?:float|int)\d+\(|\barray\(|dtype|<\w+|\d\.\d{9,}|\n")


class NoValue(Exception):
    """Raised by a predicate that lacks a value: its claim is open, and the text is its evidence."""


class Claims(dict):
    """`{item: {phrase: predicate}}` of a paper, filled by its own calls; see `judge` for a predicate."""

    def __call__(self, item, phrase, *others, counts=None, cells=False, own=False):
        """Decorator: the function judges the claim of `item` with `phrase`; it takes rows of `others`, too.

        In a function's place may stand a text: why the claim cannot be judged.

        counts  a run's labels -> whether it decides the claim, which waits for no other; None: all decide
        cells   whether the rows hold `Cell`s, for a claim that tells n or a status; else their values alone
        own     whether the claim speaks of none of the proxies on which the rest of the item is measured
        """
        def register(predicate):
            if counts:
                predicate.counts = counts
            if cells:
                predicate.cells = True
            if own:
                predicate.own = True
            given = self.setdefault(item, {})
            if phrase in given:
                raise runtime.UserError(f"{item}: {phrase!r} is judged twice")
            given[phrase] = (predicate, *others) if others else predicate
            return predicate
        return register


def of(paper, item):
    """`{phrase: predicate}` of an item, from its paper's `claims.py`."""
    name = f"papers.{paper}.claims"
    if importlib.util.find_spec(f"papers.{paper}") is None or importlib.util.find_spec(name) is None:
        return {}
    return importlib.import_module(name).claim.get(item, {})


def judge(item, rows, predicates, *, lacking=None, others=None, proxies=False):
    """Every claim of the item, judged, in the paper's order: `[{"claim": its words, "holds", "evidence"}]`.

    rows        what the predicates look at: the measured rows of the item, or a figure's data
    predicates  {phrase: predicate}: a phrase occurs in exactly one claim; the predicate takes the rows, with
                values in place of `Cell`s unless it wants `cells`, and gives (holds, evidence in words).
                `(predicate, "table-4", ...)` is given these items' rows, too. A text in a predicate's place
                says why the claim cannot be judged.
    lacking     what the rows lack, such as "41 of 45 runs", or None: a function of the predicate if that
                `counts` only some runs by their labels, else of None. A claim for which
                something is lacking waits, with what the present rows show. None: the rows are those of a
                small run, and a claim that they are too few to judge is open
    others      {item id: (rows, lacking)} of the other items
    proxies     whether what is measured of the item is a proxy: then only a predicate's `own` claim is judged
    Raises UserError naming the phrase, and the claims it may mean, where a claim is not judged exactly once,
    and where evidence is no person's text.
    """
    judged_by = {}
    for phrase, predicate in predicates.items():
        claim = _find(item, phrase)
        if claim in judged_by:
            raise runtime.UserError(f"{item.title}: {phrase!r} and {judged_by[claim][0]!r} stand in the same "
                                    "claim; judge each claim once")
        judged_by[claim] = phrase, predicate
    if left := [item.claims[n] for n in range(len(item.claims)) if n not in judged_by]:
        raise runtime.UserError(f"{item.title}: {len(left)} of {len(item.claims)} claims are not judged; "
                                f"give each a predicate or the reason why there is none: {_quoted(left)}")
    judged = [{"claim": claim, **_judged(item, rows, *judged_by[n], lacking, others or {})}
              for n, claim in enumerate(item.claims)]
    return [on_a_proxy(c) if proxies and not getattr(judged_by[n][1], "own", False) else c
            for n, c in enumerate(judged)]


# ---- claims on every case --------------------------------------------------------------------------------
def over_cases(cases, judge, *, what="cases", reads="", leaves="", proxies=(), of_all=False, reasons=None):
    """`(holds, evidence)` of a claim on every case: it fails where one fails, and holds where all hold.

    cases    {what a case is called, or "" of an only one: its values, a dict that may hold dicts}
    judge    the case, its values as attributes (`prose.attributes`) -> (whether the claim holds there, what
             it shows in words). A case that lacks a value that `judge` needs says so, and the claim is open
             unless another case fails
    what     what the cases are, in words
    reads    how a word of the claim is read that names no bound: "“restores” is read as more than half"
    leaves   what of the claim `judge` leaves open, and why: then it may fail, not hold
    proxies  cases measured on something else than the paper's: they are shown and decide nothing
    of_all   the claim speaks of cases that are proxies here: on the others it may fail, not hold
    reasons  {case: why it lacks a value}
    """
    judged = {case: _case(judge, values) for case, values in cases.items()}
    lacking = {}
    for case, why in (reasons or {}).items():
        if judged[case][0] is None:
            lacking.setdefault(why, []).append(case)
    shown = {case: judged[case] for case in judged if case not in sum(lacking.values(), [])}
    words = [*([_in_words(shown)] if shown else []),
             *(f"{', '.join(names)}: {why}" for why, names in lacking.items())]
    evidence = "; ".join(words) + "".join(f" ({more})" for more in (reads, leaves) if words and more)
    holds, remark = conclude({case: held for case, (held, _) in judged.items()}, what, leaves, proxies,
                             of_all)
    return holds, f"{evidence} ({remark})" if remark else evidence or "no value"


def conclude(judged, what="cases", leaves="", proxies=(), of_all=False):
    """What `{case: whether a claim holds there}` comes to, and a remark on the proxies among the cases."""
    own = [case for case in judged if case not in proxies]
    names, values = " and ".join(own), [judged[case] for case in own]
    holds = False if False in values else None if None in values or leaves or not values else True
    if holds and of_all:
        return None, f"nothing on {names} contradicts it; the other {what} are proxies"
    if len(own) == len(judged):
        return holds, ""
    if holds is None:
        return None, f"{'' if own else 'not judged: '}proxies are among these {what}"
    return holds, f"judged for {names} alone; the other {what} are proxies"


def _case(judge, values):
    """`(holds, words)` of a case, with None where a value is missing."""
    try:
        holds, words = judge(prose.attributes(values))
        return bool(holds), words
    except (AttributeError, ZeroDivisionError):     # no such attribute, or a share of nothing
        return None, "no value"


def _in_words(judged):
    """What the cases show. Where they are many, how many of those with a value hold, and what few show.

    Shown one by one are cases with a value, if these are few, else those that fail, or one of these.
    """
    lines = {case: f"{case}: {words}" if case else words for case, (_, words) in judged.items()}
    if len(judged) <= MANY:
        return "; ".join(lines.values())
    valued = {case: holds for case, (holds, _) in judged.items() if holds is not None}
    chosen = [case for case, holds in valued.items() if not holds or len(valued) <= MANY]
    words = [lines[case] for case in chosen[:MANY]]
    if len(chosen) > MANY:
        words = [f"for example {words[0]}"]
    held = f"it holds in {sum(valued.values())} of"
    count = (f"{held} {len(judged)} cases" if len(valued) == len(judged) else
             f"values for {len(valued)} of {len(judged)} cases, {held} these" if valued else "no value")
    return "; ".join([count, *words])


# ---- judging ---------------------------------------------------------------------------------------------
def _find(item, phrase):
    """Which claim of the item a phrase means."""
    words = " ".join(phrase.split())
    at = [n for n, claim in enumerate(item.claims) if words and words in " ".join(claim.split())]
    if len(at) != 1:
        where = f"{len(at)} of its claims" if at else "none of its claims"
        candidates = _quoted([item.claims[n] for n in at] or item.claims) or "no claim, so judge none"
        raise runtime.UserError(f"{item.title}: {phrase!r} occurs in {where}; take words that occur in "
                                f"exactly one of: {candidates}")
    return at[0]


def _judged(item, rows, phrase, predicate, lacking, others):
    """`holds` and `evidence` of one claim."""
    if isinstance(predicate, str):
        return {"holds": None, "evidence": _words(item, phrase, predicate)}
    predicate, *names = predicate if isinstance(predicate, tuple) else (predicate,)
    rows_of = [others.get(name, (None, lambda decides, name=name: f"the rows of {name}")) for name in names]
    decides = predicate if hasattr(predicate, "counts") else None
    rows, *given = seen_by(predicate, [rows, *(other for other, _ in rows_of)])
    lacks = [lacks for lacks in (lacking, *(lacks for _, lacks in rows_of)) if lacks]
    missing = [words for lack in lacks if (words := lack(decides))]
    if not missing:
        try:
            holds, evidence = outcome(predicate, [rows, *given])
        except Exception:       # a predicate is written for all rows: of a small run any value may be missing
            if lacking is not None:
                raise
            holds, evidence = None, TOO_SMALL
        return {"holds": None if holds is None else bool(holds), "evidence": _words(item, phrase, evidence)}
    so_far = _so_far(item, phrase, predicate, [rows, *given])
    return {"holds": None, "evidence": WAITS + ", ".join(missing) + so_far}


def outcome(predicate, given):
    """What a predicate says of the rows; its claim is open where it finds no value."""
    try:
        return predicate(*given)
    except NoValue as why:
        return None, str(why)


def seen_by(predicate, results):
    """Rows or data as a predicate looks at them."""
    return results if getattr(predicate, "cells", False) else [values(rows) for rows in results]


def _so_far(item, phrase, predicate, given):
    """What the rows that are there show, or nothing where they are too few to say."""
    if any(rows is None or len(rows) == 0 for rows in given):
        return ""
    try:
        _, evidence = outcome(predicate, given)
    except Exception:  # a predicate is written for all rows, so on some of them anything may be missing
        return ""
    return SO_FAR + _words(item, phrase, evidence)


def on_a_proxy(judged):
    """A judged claim where only a proxy was measured: what it shows is told, and decides nothing."""
    if judged["holds"] is None and not waits(judged):
        return judged
    shown = judged["evidence"]
    shown = shown.partition(SO_FAR)[2] if shown.startswith(WAITS) else shown
    why = "not judged: measured on a proxy"
    return judged | {"holds": None, "evidence": f"{shown} ({why})" if shown else why}


def waits(judged):
    """Whether a judged claim is open only because runs or images are missing."""
    return judged["holds"] is None and judged["evidence"].startswith((WAITS, FEW_IMAGES))


def _words(item, phrase, evidence):
    if not isinstance(evidence, str) or not evidence.strip():
        raise runtime.UserError(f"{item.title}: the evidence on {phrase!r} is no text; say in words what "
                                "the rows show")
    if strange := NOT_WORDS.search(evidence):
        raise runtime.UserError(f"{item.title}: the evidence on {phrase!r} holds {strange.group()!r}, which "
                                "Python prints and no person writes; put numbers and names into words")
    return evidence


def _quoted(claims):
    return "; ".join(f"“{c}”" for c in claims)
