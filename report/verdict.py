"""One word for how an item came out, and the reason in words; the rules are in book/protocol.md."""
from report import claims as judging
from report import comparison
from report.comparison import DIFFERS, MARKS, NEAR, STATUSES
from report.prose import in_words

CONFIRMED, NOT_CONFIRMED, UNDECIDED = "confirmed", "not confirmed", "undecided"
NOT_COMPARABLE, NO_COUNTEREXAMPLE, CODE_CHECK = "not comparable", "no counterexample", "code check"
NOTHING, NOT_MEASURED = "nothing to compare", "not measured"

# Each badge, its colour and what it means. What is not measured, or compared with nothing, has none.
VERDICTS = {
    CONFIRMED: ("success", "statements of the paper, or else most values, came out here, too, on its kind of "
                           "network and data"),
    NOT_CONFIRMED: ("warning",
                    "measured as in the paper: a statement, many values or a column's mean came out "
                    "differently"),
    UNDECIDED: ("light", "runs or training are missing, or no statement could be tested and too few values "
                         "are near: more runs or images can change the answer"),
    NOT_COMPARABLE: ("secondary",
                     "measured on another network or other data, on an image that the paper does not name, "
                     "or tuned to the paper's own numbers: neither agreement nor difference says anything"),
    NO_COUNTEREXAMPLE: ("secondary", "a theorem or bound was tried in many cases, and none contradicts it"),
    CODE_CHECK: ("secondary", "two ways to compute the same thing agree: this says that the code is right, "
                              "not that the paper is"),
}
COUNTED = CONFIRMED, NOT_CONFIRMED, UNDECIDED      # in a headline; the others are listed apart
THEOREMS = "theorem", "corollary", "lemma"
# The rule for marks alone (fixed before the records were judged by it): `NOT_CONFIRMED` where more than one
# comparable number in `ONE_IN`, and at least `LEAST`, differs.
ONE_IN, LEAST = 5, 2
REASONS = {"proxy": "measured on another network or other data", "fitted": "tuned to the paper's value",
           "unnamed image": "of an image that the paper does not name"}


def verdict(item, claims, cells, evidence=None, status=None, waiting=None, published=0):
    """`(word, reason)` of an item from its judged claims and compared cells.

    evidence  of a check by computation: `kind` ("equality" recomputed another way, or "bound"),
              `within_allowed` (whether residues are), `mutants_tried` and `mutants_caught` (errors that we
              built in, and how many of them the check notices), `violations` (points that break the
              statement), `nearest_witness` (how near a bound was reached, in words, or None), `cases` (how
              many were tried, where that is counted), `sides` (what agrees, where these are no two
              computations)
    status    of the whole item where it has no printed values ("proxy: digits in place of ImageNet")
    waiting   what is missing, in words: while it can change the word, this is `UNDECIDED`
    published how many values the item prints, measured or not; infinite where all of them can still change
    """
    failed = [c for c in claims if c["holds"] is False]
    if evidence is not None:
        return _statement(item, claims, failed, evidence)
    real = [c for c in cells if c["mark"]]
    whole = comparison.biases(item, cells)      # columns that are judged as a whole
    biased = [b for b in whole if b["apart"] and not waiting]
    reason = "; ".join([*_claims(claims), *_values(real, biased), *_statuses(cells)])
    if waiting:
        reason = "; ".join(filter(None, [reason, f"missing: {waiting}"]))
    if failed:
        return NOT_CONFIRMED, reason
    judged = any(c["holds"] and "proof" not in c for c in claims)
    if status is not None and not real:
        kind, why = comparison.status(status, "verdict")
        word = NOT_MEASURED if kind == NOT_MEASURED else NOT_COMPARABLE
        return word, f"{REASONS.get(kind, kind)} ({why})"
    if cells and not real and not judged:
        absent = sum(c["status"] == NOT_MEASURED for c in cells)
        return (NOT_MEASURED if 2 * absent > len(cells) else NOT_COMPARABLE), reason
    if item.sort == "descriptive" and real:
        return (NOT_CONFIRMED if _count(real, DIFFERS) else CODE_CHECK), reason
    alone = [c for c in real if comparison.alike(c) not in [tuple(b["of"]) for b in whole]]
    differ, of = _count(alone, DIFFERS), max(len(alone), published if waiting else 0)
    if biased or (differ >= LEAST and ONE_IN * differ > of):
        return NOT_CONFIRMED, reason
    if any(map(judging.waits, claims)) or (waiting and (real or judged)):
        return UNDECIDED, reason
    if judged:
        return CONFIRMED, reason
    if real:
        most = ONE_IN * (len(real) - _count(real, NEAR)) <= len(real)
        return (CONFIRMED if most else UNDECIDED), reason
    if any(c["holds"] for c in claims):
        return CODE_CHECK, reason
    return (NOT_MEASURED if waiting and published else NOTHING), reason


def equality(within_allowed, *, changed=(), violations=0):
    """The evidence of an equality that was recomputed another way, as `page.statement` takes it.

    within_allowed  whether both ways differ by no more than rounding may cause
    changed         of each changed form of the statement, whether the check refuses it
    violations      points at which the two ways disagree
    """
    return {"kind": "equality", "within_allowed": bool(within_allowed), "violations": int(violations),
            "mutants_tried": len(changed), "mutants_caught": sum(map(bool, changed)), "nearest_witness": None}


def _count(cells, mark):
    return sum(c["mark"] == mark for c in cells)


def _statement(item, claims, failed, evidence):
    """Verdict of a check by computation from its evidence."""
    tried, caught, violations = (evidence[k] for k in ("mutants_tried", "mutants_caught", "violations"))
    equal, theorem = evidence["within_allowed"], item.kind in THEOREMS or evidence["kind"] == "bound"
    cases = f"{evidence['cases']:,} cases" if evidence.get("cases") else "the cases that were tried"
    texts = [f"the statement fails in {_counted(violations, 'case')}" if violations else
             "the statement fails by more than rounding" if not equal else
             f"no counterexample in {cases}" if theorem else
             f"{evidence.get('sides', 'both computations')} agree in every case that was tried"]
    if evidence["nearest_witness"] is not None:
        texts.append(f"the nearest case comes to {evidence['nearest_witness']}")
    if tried:
        texts.append(f"the check notices {caught} of {_counted(tried, 'error')} that we built in"
                     if caught < tried else "the check notices the error that we built in" if tried == 1 else
                     f"the check notices all {tried} errors that we built in")
    texts += _claims(claims)
    if failed or violations or not equal:
        return NOT_CONFIRMED, "; ".join(texts)
    return (NO_COUNTEREXAMPLE if theorem else CODE_CHECK), "; ".join(texts)


# ---- in words --------------------------------------------------------------------------------------------
def _counted(n, word):
    return f"{n} {word}{'' if n == 1 else 's'}"


def _claims(claims):
    """What became of the paper's statements; nothing where it makes none."""
    tested = [c["holds"] for c in claims if c["holds"] is not None]
    if tested and all(tested):
        yield f"the paper's {_counted(len(tested), 'tested statement')} came out here, too"
    elif tested:
        yield f"{sum(tested)} of {_counted(len(tested), 'tested statement')} of the paper came out here, too"
    waiting = sum(map(judging.waits, claims))
    if waiting:
        yield f"{_counted(waiting, 'statement')} cannot be tested yet"
    if rest := len(claims) - len(tested) - waiting:
        yield f"{_counted(rest, 'statement')} cannot be tested"


def _values(real, biased):
    """How many values have which mark, and which columns lie apart as a whole."""
    if real:
        counts = [f"{n} {sign}" for sign in MARKS if (n := _count(real, sign))]
        yield f"of {_counted(len(real), 'comparable number')} {', '.join(counts)}"
    for bias in biased:
        yield (f"{', '.join(map(in_words, bias['of']))}: over {bias['rows']} rows ours differ by "
               f"{bias['difference']:.3g} on average (95% interval {bias['low']:.3g} to {bias['high']:.3g})")


def _statuses(cells):
    """Values left out of the verdict, and why."""
    for status in STATUSES:
        if some := [c for c in cells if c["status"] == status]:
            why = ", ".join(dict.fromkeys(c["why"] for c in some))
            yield f"{_counted(len(some), 'number')} {REASONS.get(status, status)} ({why})"


def failing(claims):
    """The statements that came out differently, quoted; empty where none did."""
    failed = [c["claim"] for c in claims if c["holds"] is False]
    return f"came out differently: {', '.join(f'“{claim}”' for claim in failed)}" if failed else ""
