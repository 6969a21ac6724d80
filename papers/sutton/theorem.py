"""One statement of Sutton et al. on a page: what speaks for it in numbers, and its result."""
import math

import numpy as np

from papers.sutton.theory import statements as theory
from papers.sutton.theory.statements import TOLERANCE
from report import display
from report.page import numpy_generator
from report.verdict import equality

RARE = "the probability that the event does not occur"   # where the theorem's own is near 1
ATTAINED = 0.9995  # of a bound, and more: what the page shows as all of it
_MOVED = 1e-9   # logarithms that differ by less are the same bound
TENTH = 0.1     # distance of a plane over the radius of the noise, where Theorem 1 is shown in numbers
PICTURE = 3072  # numbers in a colour picture of 32 by 32 pixels
# Where exact values are computed twice; a statement takes the parameters that it has.
AGAIN = {"n": (1, 10, 100_000), "epsilon": (0.01, 0.1), "delta": (0.1, 1.0, 5.0),
         "eta": (0.1, 0.5), "r": (0.5, 2.0), "h": (0.1, 0.4), "gamma": (0.1, 0.5), "lipschitz": (0.0, 0.5)}
SYMBOLS = {"epsilon": "ε", "delta": "δ", "eta": "η", "gamma": "γ", "lipschitz": "L"}


def _nearest(statement, tried, bounds):
    """For each example the cell whose known truth is nearest to a bound that says something, nearest first.

    Rows with witness, truth_over_bound, at (the parameters).
    """
    rows, ends = [], np.cumsum([len(case.log_low) for case in tried])
    for case, bound in zip(tried, np.split(bounds, ends[:-1])):
        known = case.log_low
        says = (known == case.log_high) & np.isfinite(known) & np.isfinite(bound)
        says &= (bound < 0) | ("n" not in statement.grid)  # a distance, unlike a probability, may exceed 1
        gap = np.where(says, -statement.beyond(bound, known, known), np.inf)
        i = int(gap.argmin())
        if np.isfinite(gap[i]):
            at = {name: float(values[i]) for name, values in case.at.items()}
            rows.append((gap[i], {"witness": case.name, "at": at,
                                  "truth_over_bound": math.exp(known[i] - bound[i])}))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def mutants(statement, tried):
    """Every wrong formula: rows with change, claims ("more" or "less" than the right one), caught.

    It is caught if the truth violates it, or if it is not attained where the right bound is.
    """
    (low, high), bound = theory.truths_at(tried), theory.bounds_at(statement, tried)
    sign, rows = -1 if statement.at_least else 1, []

    def attained(log_bound):
        return (low == high) & np.isclose(low, log_bound, rtol=0, atol=TOLERANCE)

    for change, other in theory.wrong_formulas(statement):
        new = theory.bounds_at(other, tried)
        violated = (other.beyond(new, low, high) > TOLERANCE).any()
        with np.errstate(invalid="ignore"):
            moved = np.where(bound == new, 0.0, sign * (new - bound))
        claims = "more" if (moved < -_MOVED).any() else "less" if (moved > _MOVED).any() else "the same"
        rows.append({"change": change, "claims": claims,
                     "caught": bool(violated or (attained(bound) & ~attained(new)).any())})
    return [row for row in rows if row["claims"] != "the same"]  # no other formula on any cell: no mutant


def evidence(statement, *, draws=0, generator=None, again=None):
    """What speaks for a bound, as plain data; a record and a verdict are made from it.

    kind                "bound"
    sampled             the own grid has no known truth and was tried at random (`draws`, `generator`)
    cases, violations   cells of the own grid and of all examples, and how many are beyond the bound
    within_allowed      no excess and no difference of two integrations above `TOLERANCE`
    beyond_allowed      the power of ten by which the worst is above it, else None
    nearest_witness     witness, truth_over_bound, at: where a known truth is nearest to a bound below 1; the
                        same of every example in `witnesses`
    mutants_tried, mutants_caught, missed
                        wrong formulas, those refused, the others (change, claims)
    median_bound_over_truth, tightest, loosest (log10)  over the own grid, if its truth is known
    again               another integration of the own exact values, held against them on `AGAIN`
    """
    sampled = statement.truth is None
    tried = theory.cases(statement, draws=draws, generator=generator)
    (low, high), bound = theory.truths_at(tried), theory.bounds_at(statement, tried)
    excess = statement.beyond(bound, low, high)
    worst = float(excess.max(where=low == high, initial=0.0))
    data = {"kind": "bound", "sampled": sampled, "cases": len(bound),
            "violations": int((excess > TOLERANCE).sum())}
    if "n" in statement.grid:
        data["largest_n"] = int(max(case.at["n"].max() for case in tried if "n" in case.at))
    if again is not None:
        worst = max(worst, quadrature_deviation(statement, again))
    near, wrong = _nearest(statement, tried, bound), mutants(statement, tried)
    data |= {"nearest_witness": near[0] if near else None, "witnesses": near,
             "within_allowed": worst <= TOLERANCE,
             "beyond_allowed": None if worst <= TOLERANCE else math.ceil(math.log10(worst / TOLERANCE)),
             "mutants_tried": len(wrong), "mutants_caught": sum(m["caught"] for m in wrong),
             "missed": [{k: m[k] for k in ("change", "claims")} for m in wrong if not m["caught"]]}
    grid = slice(len(tried[0].log_low))
    if sampled:
        return data | {"says_nothing": int((bound[grid] > -TOLERANCE).sum())}
    ratios = -excess[grid][np.isfinite(low[grid])] / math.log(10)
    tightest, median, loosest = np.quantile(ratios, (0, 0.5, 1)).tolist()
    return data | {"median_bound_over_truth": 10.0**median, "tightest": tightest, "loosest": loosest}


def quadrature_deviation(statement, again):
    """Largest relative difference between the exact values on a grid and another evaluation of them.

    `again` takes the statement's parameters by name, scalars, and returns the probability of the rare event.
    Values below 1e-12 are left out: plain integration has no digits there.
    """
    table = theory.verify(statement, {name: AGAIN[name] for name in statement.grid})
    exact = np.exp(table["log_exact"])
    cells = zip(*(table[name] for name in statement.grid))
    return max(abs(value / again(**dict(zip(statement.grid, cell))) - 1)
               for cell, value in zip(cells, exact) if value > 1e-12)


def times(log10_ratio):
    """A ratio in words that a reader can compare: `1.2`, `4,700` or `10^118`."""
    if log10_ratio >= 5:
        return f"$10^{{{log10_ratio:.0f}}}$"
    ratio = 10.0 ** log10_ratio
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def power(exponent):
    """10^exponent as a text, as a plain number while it is short."""
    return f"{10**exponent:,.0f}" if exponent < 6 else f"$10^{{{exponent:.1f}}}$"


def one_in(share):
    """A probability or share in words: "29%"; below one in a thousand "1 in 23,000", "2 in a billion"."""
    if share == 0 or share >= 1e-3:
        return f"{100 * share:.2g}%"
    if 1e-9 <= share < 1e-8:
        return f"{1e9 * share:.0f} in a billion"
    return f"1 in {count_in_words(1 / share)}" if share > 1e-18 else "practically none"


def count_in_words(count):
    """A large number as a reader remembers it: "6", "23,000", "73 million", "1.2 billion"."""
    for unit, name in ((1e9, " billion"), (1e6, " million"), (1e3, ",000"), (1, "")):
        if (units := count / unit) >= 1:
            return f"{units:,.1f}{name}" if units < 2 and unit > 1e3 else f"{units:,.0f}{name}"
    return "1"


def by_chance(counted, exact, samples):
    """Whether a share counted in so many samples differs from its exact value by chance alone.

    That is by at most five standard errors, and five samples; numbers or arrays.
    """
    exact = np.asarray(exact)
    allowed = 5 * np.sqrt(exact * (1 - exact) / samples) + 5 / samples
    return bool(np.all(np.abs(counted - exact) <= allowed))


def in_words(change):
    """A change of `wrong_formulas` as a reader finds it: "exponent `n/2`, raised by ½"."""
    for way, words in (("+ ½", "raised by ½"), ("− ½", "lowered by ½")):
        if change.endswith(way):
            return f"exponent `{change.removesuffix(way).strip()}`, {words}"
    name, way = change.rsplit(" ", 1)
    return f"`{name}`, {way}"


def passed(data):
    """`[error built in, its bound, why the check does not notice it]`."""
    ratio = data["nearest_witness"]["truth_over_bound"] if data["nearest_witness"] else 0
    near = min(ratio, 1 / ratio) if ratio else 0    # the other way round for a bound from below
    why = {"more": ("stronger", "no case that was tried violates it"),
           "less": ("weaker", "wherever a case attains the bound, both formulas have the same value"
                    if near >= ATTAINED else
                    f"where the bound is below 1, no case comes nearer to it than {100 * near:.3g}%, so "
                    "a weaker formula passes")}
    return [[in_words(m["change"]), *why[m["claims"]]] for m in data["missed"]]


def _example(near):
    """An extremal example as the page calls it."""
    return "a case of the grid" if near["witness"] == "own grid" else near["witness"]


def in_sentences(data, statement):
    """What the evidence comes to, as sentences."""
    whose = f" of {RARE}" * statement.complement
    hit = data["violations"]
    text = f"{hit or 'No'} counterexample{'s' * (hit > 1)} in {data['cases']:,} cases"
    text += f" up to $n$ = {data['largest_n']:,}" if "largest_n" in data else ""
    text += ", in part by random trials. " if data["sampled"] else ". "
    if "loosest" in data:
        text += ("Bound and exact value coincide. " if data["loosest"] < 1e-6 else
                 f"On the grid, bound and exact value{whose} differ by a factor of "
                 f"{times(data['tightest'])} to {times(data['loosest'])} "
                 f"(median {data['median_bound_over_truth']:.3g}). ")
    if data.get("says_nothing"):
        text += f"In {data['says_nothing']} of the cases the bound says nothing."
    return text.rstrip()


def details(data, statement):
    """How near the nearest cases come, and which changed formulas pass, as Markdown."""
    rows = [[_example(near), f"{near['truth_over_bound']:.4g}", ", ".join(
        f"{SYMBOLS.get(name, name)} = {display.number(value)}" for name, value in near["at"].items())]
        for near in data["witnesses"]]
    whose = f" (of {RARE})" * statement.complement
    header = ["extremal example", f"exact value / bound{whose}, nearest to 1", "where"]
    parts = [display.markdown_table(header, rows)]
    parts.append(f"The check notices {data['mutants_caught']} of {data['mutants_tried']} errors that we "
                 "built into the formula (constants halved and doubled, exponents raised and lowered by ½).")
    if rows := passed(data):
        parts.append(display.markdown_table(["error built in", "its bound", "not noticed because"], rows))
    return "\n\n".join(parts)


def for_record(data):
    """The part of the evidence from which a record makes its verdict."""
    near = data["nearest_witness"]
    nearest = near and f"{100 * near['truth_over_bound']:.4g}% of the bound ({_example(near)})"
    names = ("kind", "within_allowed", "mutants_tried", "mutants_caught", "violations", "sampled", "cases")
    return {name: data[name] for name in names} | {"nearest_witness": nearest}


def sampled_bound(*, within_allowed, nearest):
    """The same for a bound tried at random points only; `nearest` is the largest truth / bound met there."""
    words = f"{100 * nearest:.4g}% of the bound (a random point)"
    return equality(within_allowed) | {"kind": "bound", "nearest_witness": words}


def check(page, item, *, draws=0, note=None, extra=None, again=None):
    """Show what speaks for a statement, and publish it; its formula stands in the page's text.

    draws  random trials for each cell of a statement whose own grid has no known truth
    extra  more numbers for the record, where a claim needs them
    again  another integration of the exact values, held against them on `AGAIN`
    """
    statement, generator = theory.STATEMENTS[item], numpy_generator(page, item)
    data = evidence(statement, draws=draws, generator=generator, again=again) | (extra or {})
    result, more = in_sentences(data, statement), details(data, statement)
    display.show(display.folded("How it was tried", f"{result}\n\n{more}"))
    return page.statement(item, data=data, evidence=for_record(data), note=note)
