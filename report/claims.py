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

from shared import runtime

SO_FAR = "; so far: "
WAITS = "waits for "  # how the evidence begins where units are missing: the only null for lack of them

# What Python prints rather than a person writes: lists and dicts, objects, its constants, digits without end.
NOT_WORDS = re.compile(r"[\[({]\s*['\"]|['\"]\s*:|\[[^\]]*,[^\]]*,|\[\s*\]|\{\s*\}|"
                       r"\b(?:True|False|nan|NaN|inf)\b|\bNone\b(?! of)|"
                       r"\w\.(?:float|int)\d+\(|\barray\(|dtype|<\w+|\d\.\d{9,}|\n")


class Claims(dict):
    """`{item: {phrase: predicate}}` of a paper, filled by its own calls; see `judge` for a predicate."""

    def __call__(self, item, phrase, *others):
        """Decorator: the function judges the claim of `item` with `phrase`; it takes rows of `others`, too.

        In a function's place may stand a text: why the claim cannot be judged.
        """
        def register(predicate):
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


def judge(item, rows, predicates, *, lacking=None, others=None):
    """Every claim of the item, judged, in the paper's order: `[{"claim": its words, "holds", "evidence"}]`.

    rows        what the predicates look at: the measured rows of the item, or a figure's data
    predicates  {phrase: predicate}: a phrase occurs in exactly one claim; the predicate takes the rows and
                gives (holds, evidence in words). `(predicate, "table-4", ...)` is given these items' rows
                too. A text in a predicate's place says why the claim cannot be judged.
    lacking     what the rows lack, such as "41 of 45 units", or None: a function of the predicate if that
                `counts` only some units by their labels (`every`), else of None. A claim for which
                something is lacking waits, with what the present rows show
    others      {item id: (rows, lacking)} of the other items
    Raises UserError naming the phrase, and the claims it may mean, where a claim is not judged exactly once,
    and where evidence is no person's text.
    """
    found = {}
    for phrase, predicate in predicates.items():
        claim = _find(item, phrase)
        if claim in found:
            raise runtime.UserError(f"{item.title}: {phrase!r} and {found[claim][0]!r} stand in the same "
                                    "claim; judge each claim once")
        found[claim] = phrase, predicate
    if left := [item.claims[n] for n in range(len(item.claims)) if n not in found]:
        raise runtime.UserError(f"{item.title}: {len(left)} of {len(item.claims)} claims are not judged; "
                                f"give each a predicate or the reason why there is none: {_quoted(left)}")
    return [{"claim": claim, **_judged(item, rows, *found[n], lacking or nothing, others or {})}
            for n, claim in enumerate(item.claims)]


def nothing(decides=None):
    """What rows lack of which all units are there: None."""
    return None


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
    theirs = [others.get(name, (None, lambda decides, name=name: f"the rows of {name}")) for name in names]
    decides = predicate if hasattr(predicate, "counts") else None
    given = [each for each, _ in theirs]
    missing = [words for lacks in (lacking, *(lacks for _, lacks in theirs)) if (words := lacks(decides))]
    if not missing:
        holds, evidence = predicate(rows, *given)
        return {"holds": None if holds is None else bool(holds), "evidence": _words(item, phrase, evidence)}
    so_far = _so_far(item, phrase, predicate, [rows, *given])
    return {"holds": None, "evidence": WAITS + " and ".join(missing) + so_far}


def _so_far(item, phrase, predicate, given):
    """What the rows that are there show, or nothing where they are too few to say."""
    if any(rows is None or len(rows) == 0 for rows in given):
        return ""
    try:
        _, evidence = predicate(*given)
    except Exception:  # a predicate is written for all rows, so on some of them anything may be missing
        return ""
    return SO_FAR + _words(item, phrase, evidence)


def on_a_proxy(judged):
    """A judged claim where only a proxy was measured: what it shows is told, and decides nothing."""
    if judged["holds"] is None and not waits(judged):
        return judged
    shown = judged["evidence"].partition(SO_FAR)[2] if waits(judged) else judged["evidence"]
    why = "not judged: measured on a proxy"
    return judged | {"holds": None, "evidence": f"{shown} ({why})" if shown else why}


def waits(judged):
    """Whether a judged claim is open only because units are missing."""
    return judged["holds"] is None and judged["evidence"].startswith(WAITS)


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
