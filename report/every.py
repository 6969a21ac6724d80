"""Claims on every case of a result: what is to hold in each, and the words on each.

    every("network", lambda c: c.brittle.region > 50 > c.margin.region,
          says="{network}: {brittle.region:%} of OptBrittle, {margin.region:%} of OptMargin")
"""
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

from report import prose
from shared.runtime import UserError

MANY = 8  # more cases are counted, and few of them are told one by one


@dataclass(frozen=True)
class every:  # a word of the pages, like `functools.partial`
    """A predicate for `claims.judge`: whether something holds in every case of the rows it is given.

    case        what a case is: a column of the rows, or several with blanks between ("dataset model"); of a
                result that is a dict {case: names}, what its keys are
    holds       `prose.Case` -> whether it holds: the columns of a case are its attributes. With `by` the case
                has several rows, and `c.brittle.region` is the column region of the row whose `by` is
                brittle; of dicts likewise. The rows of another item, given beside the claim, are `c.other`
    says        a template (`prose.fill`) of what each case shows; `{network}` is the case itself, by its name
    by          the column that tells the rows of a case apart
    view        rows -> a table or dict of such a form, where the printed rows are none. It takes the rows of
                another item, too, where they are given
    named       {case: how it is called}
    reads       how a word of the claim is read that names no bound: "“restores” is read as more than half"
    leaves      what of the claim `holds` leaves open, and why: then it may fail, not hold
    proxies     cases measured on something else than the paper's: they are told and decide nothing, and the
                claim waits for no unit whose label `case` is one of them
    of_all      the claim speaks of cases that are proxies here: on the others it may fail, not hold

    It fails where one case fails, and holds where all hold; where a value is missing, the case says so, and
    the claim is open unless another case fails it.
    """
    case: str
    holds: Callable
    _: KW_ONLY
    says: str
    by: str | None = None
    view: Callable | None = None
    named: dict = field(default_factory=dict)
    reads: str = ""
    leaves: str = ""
    proxies: tuple = ()
    of_all: bool = False

    def __post_init__(self):
        prose.fields(self.says)

    def counts(self, labels):
        """Whether a unit with these labels decides."""
        return labels.get(self.case) not in self.proxies

    def cases(self, rows, other=None):
        """`{case: its columns}`."""
        if self.view:
            return self._grouped(self.view(rows) if other is None else self.view(rows, other))
        found = self._grouped(rows)
        if other is not None:
            beside = self._grouped(other)
            found = {case: names | {"other": beside.get(case)} for case, names in found.items()}
        return found

    def _grouped(self, rows):
        if isinstance(rows, dict):
            return {case: names | {self.case: case} for case, names in rows.items()}
        found = {}
        for key, mine in rows.groupby(self.case.split(), sort=False, dropna=False):
            case, (first, *more) = key if len(key) > 1 else key[0], mine.to_dict("records")
            if more and self.by is None:
                raise UserError(f"{self.case} {case}: {len(mine)} rows; "
                                "say `by` which column they are told apart")
            found[case] = {row[self.by]: row for row in (first, *more)} if self.by else first
        return found

    def __call__(self, rows, *others):
        """`(holds, evidence)`."""
        found = self.cases(rows, *others)
        judged = {case: prose.known(self.holds, names) for case, names in found.items()}
        mine = [holds for case, holds in judged.items() if case not in self.proxies]
        holds = False if False in mine else None if None in mine or not mine else True
        evidence = self._told(judged, found)
        if evidence:
            evidence += "".join(f" ({words})" for words in (self.reads, self.leaves) if words)
        holds = None if holds and self.leaves else holds
        own = " and ".join(self.name(case) for case in judged if case not in self.proxies)
        return beside_proxies(holds, evidence, own, any(case in self.proxies for case in judged),
                              of_all=self.of_all, what=f"{self.case}s")

    def name(self, case):
        """What a case is called."""
        return str(self.named.get(case, ", ".join(map(str, case)) if isinstance(case, tuple) else case))

    def _told(self, judged, found):
        """What the cases show. Where they are many, how many of those with a value hold, and what few show.

        Told one by one are cases with a value, if these are few, else those that fail, or one of these.
        """
        if len(judged) <= MANY:
            return "; ".join(self._tell(case, holds, found[case]) for case, holds in judged.items())
        valued = {case: holds for case, holds in judged.items() if holds is not None}
        told = [case for case, holds in valued.items() if not holds or len(valued) <= MANY]
        words = [self._tell(case, valued[case], found[case]) for case in told[:MANY]]
        if len(told) > MANY:
            words = [f"for example {words[0]}"]
        held = f"it holds in {sum(map(bool, valued.values()))} of"
        count = (f"{held} {len(judged)} cases" if len(valued) == len(judged) else
                 f"values for {len(valued)} of {len(judged)} cases, {held} these" if valued else "no value")
        return "; ".join([count, *words])

    def _tell(self, case, holds, names):
        """What one case shows."""
        if holds is None:
            return f"{self.name(case)}: no value"
        keys = self.case.split()
        return prose.fill(self.says, names | (dict(zip(keys, case)) if len(keys) > 1 else
                                              {self.case: self.name(case)}))


def beside_proxies(holds, told, own, there, *, of_all=False, what="others"):
    """`(holds, evidence)` of a claim where some of what it speaks of was measured on proxies.

    holds   what all the rest comes to, which is called `own`
    there   whether proxies are among what is told
    """
    if holds and of_all:
        return None, f"{told} (nothing on {own} contradicts it; the other {what} are proxies)"
    if not there:
        return holds, told or "no value"
    if holds is None:
        return None, f"{told} ({'' if own else 'not judged: '}proxies are among these {what})"
    return holds, f"{told} (judged for {own} alone; the other {what} are proxies)"
