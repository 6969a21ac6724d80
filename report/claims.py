"""The claims of a paper about its results, judged on our rows: each claim once, by one predicate.

The predicates of a paper are in `papers/<key>/claims.py`:

    claim = Claims()

    @claim("table-1", "restores OptBrittle")
    def restores(rows):
        return rows.restored.min() > 50, f"{rows.restored.min():.0f}% or more"
"""
import dataclasses
import importlib
import re
from collections.abc import Callable

from report import prose, repository
from report.cell import bare
from report.prose import NoValue
from shared import runtime

MANY = 8  # more cases are counted, and few of them are shown one by one
SO_FAR = "; so far: "
NOT_TESTED = "not tested: "
FEW_IMAGES = "too few images to tell"  # begins the evidence of a claim that more images can decide
WAITS = "missing: "  # begins the evidence where runs are missing

# What Python prints rather than a person writes: lists and dicts, objects, its constants, digits without end.
NOT_WORDS = re.compile(r"[\[({]\s*['\"]|['\"]\s*:|\[[^\]]*,[^\]]*,|\[\s*\]|\{\s*\}|"
                       r"\b(?:True|False|nan|NaN|inf)\b|\bNone\b(?! of)|"
                       r"\w\.(?:float|int)\d+\(|\barray\(|dtype|<\w+|\d\.\d{9,}|\n")


@dataclasses.dataclass(frozen=True)
class Rule:
    """How one claim is judged.

    judge   rows or data -> (whether the claim holds, evidence in words); it may raise NoValue. If the claim
            is `open`, the evidence alone, or None
    others  items whose rows it takes, too
    counts  a run's labels -> whether it decides the claim, which waits for no other; None: all decide
    cells   whether the rows hold `Cell`s, for evidence that names n or a status; else their values alone
    own     whether the claim speaks of none of the proxies on which the rest of the item is measured
    open    why no result can decide the claim
    leaves  what of the claim `judge` leaves open, and why: then it may fail, not hold
    proof   whether arithmetic alone decides it, no network: then it confirms nothing that was measured
    """
    judge: Callable | None
    others: tuple = ()
    counts: Callable | None = None
    cells: bool = False
    own: bool = False
    open: str = ""
    leaves: str = ""
    proof: bool = False

    def outcome(self, measured):
        """`(holds, evidence)` of its own rows or data and of the `others`'; open where a value is missing."""
        if self.judge is None or any(part is None or len(part) == 0 for part in measured):
            return None, prose.NO_VALUE
        try:
            judged = self.judge(*(measured if self.cells else map(bare, measured)))
        except NoValue as why:
            return None, str(why)
        holds, evidence = (None, judged) if self.open else judged
        return None if holds is None else bool(holds), evidence


class Claims(dict):
    """`{item: {phrase: Rule}}` of a paper, filled by its own calls."""

    def __call__(self, item, phrase, *others, **more):
        """Decorator: the function is the `judge` of a `Rule` of the claim of `item` with `phrase`.

        A text in a function's place is the reason why the claim is open.
        """
        def register(judge):
            given = self.setdefault(item, {})
            if phrase in given:
                raise runtime.UserError(f"{item}: {phrase!r} is judged twice")
            given[phrase] = Rule(None, open=judge) if isinstance(judge, str) else Rule(judge, others, **more)
            return judge
        return register


def of(paper, item):
    """`{phrase: Rule}` of an item, from its paper's `claims.py`."""
    if not repository.has_module(paper, "claims"):
        return {}
    return importlib.import_module(f"papers.{paper}.claims").claim.get(item, {})


def complete(item, rows):
    """The rows of a table with all its printed columns: one that was not measured has no values."""
    return rows.reindex(columns=[*rows, *(name for name in (*item.keys, *item.values) if name not in rows)])


def judge(item, rows, rules, *, lacking=None, others=None, proxies=False):
    """Every claim of the item, judged, in the paper's order: `[{"claim": its words, "holds", "evidence"}]`.

    rows     the measured rows of the item, or a figure's data
    rules    {phrase: Rule}: a phrase occurs in exactly one claim
    lacking  what the rows lack, such as "41 of 45 runs", or None: a function of the rule if that
             `counts` only some runs by their labels, else of None. A claim for which something is lacking
             waits, with what the present rows show. None: the rows are those of a small run
    others   {item id: (rows, lacking)} of the other items
    proxies  whether what is measured of the item is a proxy: then only a rule's `own` claim is judged
    Raises UserError naming the phrase, and the claims it may mean, where a claim is not judged exactly once,
    where its rule fails, and where evidence is no person's text.
    """
    judged_by = {}
    for phrase, rule in rules.items():
        claim = _find(item, phrase)
        if claim in judged_by:
            raise runtime.UserError(f"{item.title}: {phrase!r} and {judged_by[claim][0]!r} stand in the same "
                                    "claim; judge each claim once")
        judged_by[claim] = phrase, rule
    if left := [item.claims[n] for n in range(len(item.claims)) if n not in judged_by]:
        raise runtime.UserError(f"{item.title}: {len(left)} of {len(item.claims)} claims are not judged; "
                                f"give each a rule or the reason why there is none: {_quoted(left)}")
    judged = [{"claim": claim, **_judged(item, rows, *judged_by[n], lacking, others or {})}
              for n, claim in enumerate(item.claims)]
    return [on_a_proxy(c) if proxies and not judged_by[n][1].own else c for n, c in enumerate(judged)]


# ---- claims on every case --------------------------------------------------------------------------------
def over_cases(cases, judge, *, what="cases", reads="", printed=None):
    """`(holds, evidence)` of a claim on every case: it fails where one fails, and holds where all hold.

    cases  {what a case is called, or "" of an only one: its values, a dict that may hold dicts}. Its `status`
           may say that it is a proxy, which is shown and decides nothing, or why it lacks a value
    judge  the case, its values as attributes (`prose.Facts`) -> (whether the claim holds there, what it
           shows, a template of `prose.fill`)
    what   what the cases are, in words
    reads  how a word of the claim is read: "“grouping” is measured by ..."
    printed    {case: whether the claim holds on the published values}, where it does not on all: then as many
               of the cases have to hold as do on these
    """
    needed = None
    if printed is not None:
        needed = sum(printed[case] for case in cases if case in printed)
        strength = (f"on the paper's own numbers it holds in {sum(printed.values())} of {len(printed)} "
                    f"{what}, so that it need not hold in all here")
        reads = "; ".join(filter(None, (reads, strength)))
    judged = {case: _case(judge, facts) for case, facts in cases.items()}
    proxies = [case for case, facts in cases.items() if _is_proxy(facts)]
    evidence = _in_words(judged, proxies, what)
    evidence += f" ({reads})" if reads and evidence else ""
    holds, remark = conclude({case: held for case, (held, _) in judged.items()}, proxies, what, needed)
    return holds, f"{evidence} ({remark})" if remark else evidence or prose.NO_VALUE


def conclude(judged, proxies=(), what="cases", needed=None):
    """What `{case: whether a claim holds there}` comes to, and a remark on the proxies among the cases.

    needed  in how many cases it has to hold; None: in all. Cases without a value, and proxies, leave it open
            as long as they could still decide it
    """
    own = {case: holds for case, holds in judged.items() if case not in proxies}
    held, failed = (sum(holds is truth for holds in own.values()) for truth in (True, False))
    needed = len(judged) if needed is None else needed
    holds = True if held >= needed > 0 else False if len(judged) - failed < needed else None
    if len(own) == len(judged):
        return holds, ""
    names, against = (" and ".join(f"“{case}”" for case in some) if len(some) <= MANY else
                      f"{len(some)} {what}" for some in (own, [p for p in proxies if judged[p] is False]))
    others = f"the other {what} are not like the paper's"
    if holds is None and own and held == len(own):
        return holds, (f"it holds on {names}, not on {against}; {others} and decide nothing" if against else
                       f"it holds on {names}; {others} and cannot confirm it")
    if holds is None and own and len(judged) > MANY:
        return holds, ""    # how many are not like the paper's is counted
    return holds, (f"tested on {names} alone; {others}" if holds is not None else
                   f"{'some of ' if own else NOT_TESTED}these {what} are not like the paper's")


def _is_proxy(facts):
    return str(facts.get("status")).startswith("proxy")


def _case(judge, facts):
    """`(holds, words)` of a case; holds is None where a value is missing, and the words say why."""
    try:
        holds, words = judge(prose.Facts(facts))
    except NoValue:
        why = prose.NO_VALUE if _is_proxy(facts) else facts.get("status")
        return None, why.removeprefix("not measured: ") if isinstance(why, str) else prose.NO_VALUE
    return bool(holds), prose.fill(words, facts)


def _in_words(judged, proxies, what):
    """What the cases show. Where they are many, how many of those with a value hold, and what few show.

    Proxies among the many are counted, too, and how many they are is said.

    Shown one by one are cases with a value, if these are few, else those that fail, or one of these.
    """
    valued = {case: holds for case, (holds, _) in judged.items() if holds is not None}
    missing, chosen, count = {}, [*valued], []
    for case, (holds, why) in judged.items():
        if holds is None:
            missing.setdefault(why, []).append(case)
    if len(judged) > MANY:
        missing.pop(prose.NO_VALUE, None)       # they are counted
        held = f"it holds in {sum(valued.values())} of"
        count = [f"{held} {len(judged)} cases" if len(valued) == len(judged) else
                 f"values for {len(valued)} of {len(judged)} cases, {held} these" if valued else
                 prose.NO_VALUE]
        if unlike := sum(case in valued for case in proxies):
            which = "all" if unlike == len(valued) else f"{unlike} of the"
            count.append(f"{which} {len(valued)} are {what} not like the paper's")
        chosen = [case for case, holds in valued.items() if not holds or len(valued) <= MANY]
    words = [f"{case}: {judged[case][1]}" if case else judged[case][1] for case in chosen[:MANY]]
    if len(chosen) > MANY:
        words = [f"for example {words[0]}"]
    return "; ".join([*count, *words, *(f"{', '.join(cases)}: {why}" if cases != [""] else why
                                        for why, cases in missing.items())])


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


def _judged(item, rows, phrase, rule, lacking, others):
    """`holds` and `evidence` of one claim."""
    given = [(rows, lacking), *(others.get(name, (None, lambda decides, name=name: f"the rows of {name}"))
                                for name in rule.others)]
    missing = [words for _, lack in given if lack and (words := lack(rule if rule.counts else None))]
    try:
        holds, evidence = rule.outcome([measured for measured, _ in given])
    except Exception as error:
        raise runtime.UserError(f"{item.title}: the rule of {phrase!r} fails: {type(error).__name__}: "
                                f"{error}") from error
    if rule.open:
        evidence = rule.open if evidence == prose.NO_VALUE else f"{rule.open}; {evidence}"
    elif missing:
        so_far = "" if evidence == prose.NO_VALUE else f"{SO_FAR}{evidence}"
        holds, evidence = None, f"{WAITS}{', '.join(missing)}{so_far}"
    elif rule.leaves and holds is not False:
        holds, evidence = None, f"{evidence} (the rest is open: {rule.leaves})"
    judged = {"holds": holds, "evidence": _words(item, phrase, evidence)}
    return judged | {"proof": True} if rule.proof else judged


def on_a_proxy(judged):
    """A judged claim where only a proxy was measured: its evidence is shown, and decides nothing."""
    if judged["holds"] is None and not waits(judged):
        return judged
    shown = judged["evidence"]
    shown = shown.partition(SO_FAR)[2] if shown.startswith(WAITS) else shown
    why = f"{NOT_TESTED}measured on another network or other data"
    return judged | {"holds": None, "evidence": shown if NOT_TESTED in shown else
                     f"{shown} ({why})" if shown else why}


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
