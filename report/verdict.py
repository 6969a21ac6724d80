"""One word for how an item came out, and the reason in words."""
from report import claims as judging
from report import comparison
from report.comparison import CANNOT_TELL, INTERVAL, PRECISION, SAMPLING, STATUSES

NOTHING, NOT_MEASURED = "nothing to compare", "not measured"

# Each word, the colour of its badge and what it means.
VERDICTS = {
    "exact": ("success", "an equality recomputed in an independent way, or a bound with an extremal example "
                         "so near that changed constants are detected"),
    "not violated": ("success", "a statement that no case tried violates; of a bound the page says how near "
                                "the nearest extremal example comes"),
    "agrees": ("success", "no claim fails, and at least 95% of the values that can be compared agree with "
                          "the published ones"),
    "claims hold": ("info", "every judged claim holds; published values may differ"),
    "differs": ("warning", "a claim of the paper fails here, or values differ and no claim is judged"),
    "in part": ("light", "measured in part, or on too few images to tell: missing runs or images can still "
                         "change the verdict"),
    "proxy or fitted": ("secondary", "measured only on another network or other data than the paper's, or "
                                     "chosen with the published values in sight: agreement shows nothing"),
    NOT_MEASURED: ("light", "no result at full scale yet"),
    NOTHING: ("secondary", "nothing published or claimed to compare with; such an item has no badge"),
}
# The verdict of an item whose values all have one status.
OF_STATUS = {"proxy": "proxy or fitted", "fitted": "proxy or fitted", CANNOT_TELL: "in part",
             NOT_MEASURED: NOT_MEASURED}
ENOUGH = 95  # percent of the comparable values that must agree for `agrees`
WAYS = {PRECISION: "to the printed precision", INTERVAL: "inside the 99% interval of another network"}
SAID = {"proxy": "measured on a proxy", "fitted": "fitted to the published values"}
TOO_WIDE = "the interval is too wide to decide"
TOO_FEW = "the 99% interval of our share of images contains the published value"


def verdict(claims, cells, evidence=None, status=None, waiting=None, published=None):
    """`(word, reason)` of an item from its judged claims and compared cells.

    evidence  of a theorem: `kind` ("equality" recomputed another way, or "bound"), `within_allowed` (whether
              residues are), `mutants_tried` and `mutants_caught` (changed constants, and how many of them the
              check refuses), `violations` (points that break the statement), `nearest_witness` (how near a
              bound was reached, in words, or None)
    status    of the whole item where it has no printed values ("proxy: digits in place of ImageNet")
    waiting   what is missing of the full scale, in words: while it can change the word, this is `in part`
    published how many values the item prints, measured or not; None takes the cells
    """
    failed = [c for c in claims if c["holds"] is False]
    if evidence is not None:
        return _statement(claims, failed, evidence)
    real = [c for c in cells if c["status"] is None and c["agrees"] is not None]
    unsure = [c for c in cells if c["how"] == SAMPLING]   # measured as the paper did, on too few images
    reason = "; ".join([_claims(claims), *_values(real, cells, waiting), *_statuses(cells)])
    if status is not None and not real:
        word, why = comparison.status(status, "verdict")
        return OF_STATUS[word], f"{reason}; {SAID.get(word, word)} ({why})"
    # What was measured on other things says nothing on the paper's own values, nor on its claims about these.
    if cells and not real and not unsure:
        counts = {s: sum(c["status"] == s for c in cells) for s in STATUSES}
        most, judged = max(STATUSES, key=counts.get), any(c["holds"] is not None for c in claims)
        if most == NOT_MEASURED and judged:     # on what was measured
            return "differs" if failed else "in part", reason
        if most != CANNOT_TELL or not judged:
            return OF_STATUS[most], reason
    if failed:
        return "differs", reason
    others = len(cells) - len(real) - len(unsure)
    own = (len(cells) if published is None else published) - others
    if any(map(judging.waits, claims)) or (waiting and _may_match(real, own)):
        return "in part", f"{reason}; the rest waits for {waiting}" if waiting else reason
    if real and _enough(sum(c["agrees"] for c in real), len(real) + len(unsure)):
        return "agrees", reason
    apart = not all(c["agrees"] for c in real)
    if any(c["holds"] is not None for c in claims):
        return "claims hold", reason
    return ("differs" if apart else "in part" if unsure else NOTHING), reason


def equality(within_allowed, *, changed=(), violations=0):
    """The evidence of an equality that was recomputed another way, as `page.statement` takes it.

    within_allowed  whether both ways differ by no more than rounding may cause
    changed         of each changed form of the statement, whether the check refuses it
    violations      points at which the two ways disagree
    """
    return {"kind": "equality", "within_allowed": bool(within_allowed), "violations": int(violations),
            "mutants_tried": len(changed), "mutants_caught": sum(map(bool, changed)), "nearest_witness": None}


def _enough(agree, count):
    return 100 * agree >= ENOUGH * count


def _may_match(real, published):
    """Whether an item can still match once all its values are there: none that is settled changes."""
    against = sum(not c["agrees"] for c in real if c["settled"])
    return published > 0 and _enough(published - against, published)


def _statement(claims, failed, evidence):
    """Verdict of a theorem from the evidence of its check."""
    tried, caught, violations = (evidence[k] for k in ("mutants_tried", "mutants_caught", "violations"))
    equality, within = evidence["kind"] == "equality", evidence["within_allowed"]
    said = [f"the statement fails in {_counted(violations, 'case')}" if violations else
            "the statement fails by more than rounding" if not within else
            "both computations agree in every case tried" if equality else "no case tried violates it"]
    if tried:
        said.append(f"{caught} of {_counted(tried, 'mutant')} detected")
    if evidence["nearest_witness"] is not None:
        said.append(f"the nearest extremal example comes to {evidence['nearest_witness']}")
    if claims:
        said.append(_claims(claims))
    if failed or violations or not within:
        word = "differs"
    elif caught == tried and (equality or tried) and not evidence.get("sampled"):
        word = "exact"
    else:
        word = "not violated"
    return word, "; ".join(said)


# ---- in words --------------------------------------------------------------------------------------------
def _counted(n, word):
    return f"{n} {word}{'' if n == 1 else 's'}"


def _claims(claims):
    judged = [c["holds"] for c in claims if c["holds"] is not None]
    waiting = sum(map(judging.waits, claims))
    said = []
    if judged:
        said.append(f"{sum(judged)} of {_counted(len(judged), 'judged claim')} {_verb(len(judged), 'hold')}")
    if waiting:
        said.append(f"{_counted(waiting, 'claim')} {_verb(waiting, 'wait')}")
    if unjudged := len(claims) - len(judged) - waiting:
        said.append(f"{_counted(unjudged, 'claim')} cannot be judged")
    return ", ".join(said) or "no claim to judge"


def _verb(n, verb):
    return f"{verb}s" if n == 1 else verb


def _values(real, cells, waiting):
    """How many values agree, and in which ways, each counted apart; so far, where something is missing."""
    if not real:
        return ["no published value is compared" if cells else "no published value to compare"]
    agree = sum(c["agrees"] for c in real)
    ways = [f"{n} {words}" for way, words in WAYS.items() if (n := sum(c["how"] == way for c in real))]
    said = f"{agree} of {_counted(len(real), 'published value')} {_verb(len(real), 'agree')}"
    said += " so far" if waiting else ""
    return [f"{said} ({', '.join(ways)})" if ways else said]


def _statuses(cells):
    """Values left out of the verdict, and why."""
    for status in STATUSES:
        if some := [c for c in cells if c["status"] == status]:
            why = dict.fromkeys(_why(c) for c in some)
            yield f"{_counted(len(some), 'value')} {SAID.get(status, status)} ({', '.join(why)})"


def _why(cell):
    """Why a value is left out; the intervals of those that cannot tell are not told one by one."""
    if cell["status"] != CANNOT_TELL:
        return cell["why"]
    return {SAMPLING: TOO_FEW, INTERVAL: TOO_WIDE}.get(cell["how"], cell["why"])


def failing(claims):
    """The claims that fail, quoted; empty where none does."""
    failed = [c["claim"] for c in claims if c["holds"] is False]
    return f"{_verb(len(failed), 'fail')}: {', '.join(f'“{claim}”' for claim in failed)}" if failed else ""
