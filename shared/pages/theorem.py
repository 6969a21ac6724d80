"""One statement of Sutton et al. on a page: its formula, what speaks for it in numbers, its published result."""
import math
import re

import numpy as np

from shared.pages import report
from shared.theory.statements import STATEMENTS, verify

ALLOWED = 1e-8     # excess over a bound that rounding may cause; a wrong formula exceeds it by far
FAR = 5.0          # standard errors between random trials and the exact value that chance does not explain
ENOUGH_HITS = 30   # fewer expected events than this make no sensible standard error
# Where a long formula goes on in a new line.
_NEW_LINE = (r"+\varphi", r"\ge \sup_t", r",\ \xi", r"\quad n\to", r",\ \beta_p")
_TEX = {">=": r"\ge", "<=": r"\le", "and": r"\text{ and }", "epsilon": r"\epsilon", "delta": r"\delta",
        "eta": r"\eta", "gamma": r"\gamma", "lipschitz": "L", "depth": r"\text{depth}"}


def numpy_generator(run, *labels):
    """A numpy generator for one purpose of a notebook, from the run's seed."""
    return np.random.default_rng(run.generator(*labels).initial_seed())


def formula(statement):
    """A statement's formula as a LaTeX block, a long one in several lines."""
    # \left and \right must stand in one line, \Big need not
    text = statement.formula.replace(r"\left\{", r"\Big\{").replace(r"\right\}", r"\Big\}")
    for place in _NEW_LINE:
        text = text.replace(place, rf"{',' * place.startswith(',')}\\&\quad {place.removeprefix(',')}")
    return rf"$$\begin{{aligned}}&{text}\end{{aligned}}$$" if r"\\" in text else f"$${statement.formula}$$"


def conditions(statement):
    """Where a statement holds, as LaTeX."""
    texts = [re.sub(r">=|<=|[a-z]+", lambda m: _TEX.get(m[0], m[0]), text) for text, _ in statement.conditions]
    return r",\; ".join(texts)


def _excess(statement, rows):
    """How far the truth lies beyond the bound at worst, 0 if nowhere.

    In natural logarithms of the rare event where its exact value is known, else between the bound and the near
    end of the interval of the random trials.
    """
    above = statement.complement or statement.direction == "upper"
    if statement.log_exact is not None:
        # a truth of 0 under a bound of 0 has no logarithm and no excess
        gaps = [(r["log_exact"] - r["log_bound"]) * (1 if above else -1) for r in rows
                if r["log_exact"] != r["log_bound"]]
    else:
        gaps = [r["low"] - r["bound"] if statement.direction == "upper" else r["bound"] - r["high"] for r in rows]
    return max([0.0, *gaps])


def evidence(statement, *, draws, generator, trial_grid=None):
    """Confront a statement with exact values on its grid, and with random trials on `trial_grid`: a dict.

    cases, violations   on the statement's own grid
    median_bound_over_truth  the factor between bound and truth of the rare event
    detail              excess (see `_excess`); largest_n; tightest and loosest, the log10 of that factor at its least
                        and largest (it may exceed all floats); trials, the number of
                        cells of `trial_grid` with enough events, and largest_z, their largest distance from the
                        exact value in standard errors
    Without a known exact value the own grid goes through random trials; detail then has `says_nothing`, the number
    of cells where the bound is trivial (a rare event allowed to have probability 1).
    """
    exact = statement.log_exact is not None
    rows = verify(statement) if exact else verify(statement, draws=draws, generator=generator)
    data = {"cases": len(rows), "violations": sum(bool(r["violated"]) for r in rows)}
    detail = {"excess": _excess(statement, rows)}
    if "n" in statement.parameters:
        detail["largest_n"] = max(r["n"] for r in rows)
    if not exact:
        return data | {"detail": detail | {"says_nothing": sum(r["log_bound"] > -ALLOWED for r in rows)}}
    sign = 1 if statement.complement or statement.direction == "upper" else -1
    ratios = [sign * (r["log_bound"] - r["log_exact"]) / math.log(10) for r in rows if math.isfinite(r["log_exact"])]
    tightest, median, loosest = np.quantile(ratios, (0, 0.5, 1)).tolist()
    data["median_bound_over_truth"] = 10.0**median
    detail |= {"tightest": tightest, "loosest": loosest}
    if statement.trials is not None:
        z = [(r["monte_carlo"] - r["exact"]) / math.sqrt(r["exact"] * (1 - r["exact"]) / draws)
             for r in verify(statement, grid=trial_grid, draws=draws, generator=generator)
             if min(r["exact"], 1 - r["exact"]) * draws >= ENOUGH_HITS]
        detail |= {"trials": len(z), "largest_z": max(map(abs, z), default=0.0)}
    return data | {"detail": detail}


def quadrature_deviation(statement, grid, again):
    """Largest relative difference between the exact values on a grid and another evaluation of them.

    `again` takes the statement's parameters by name, scalars, and returns the probability of the rare event.
    Values below 1e-12 are left out: plain integration has no digits there.
    """
    rows = [(r, math.exp(r["log_exact"])) for r in verify(statement, grid=grid)]
    return max(abs(exact / again(**{name: r[name] for name in grid}) - 1) for r, exact in rows if exact > 1e-12)


def times(log10_ratio):
    """A ratio in words that a reader can compare: `1.2`, `4,700` or `10^118`."""
    ratio = 10.0 ** log10_ratio if log10_ratio < 5 else None
    return f"$10^{{{log10_ratio:.0f}}}$" if ratio is None else f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def words(data, complement=False):
    """The evidence as a sentence; `complement`: the theorem bounds 1 - the rare probability that is compared."""
    detail = data["detail"]
    text = f"{data['cases']:,} cases" + (f" up to $n$ = {detail['largest_n']:,}" if "largest_n" in detail else "")
    text += f"{' by random trials' * ('says_nothing' in detail)}: {data['violations']} violations. "
    if "loosest" in detail:
        text += ("Bound and truth coincide. " if detail["loosest"] < 1e-6 else
                 f"Bound and truth{' (of the rare event)' * complement} differ by a factor of "
                 f"{times(detail['tightest'])} to {times(detail['loosest'])} (median {data['median_bound_over_truth']:.3g}). ")
    if detail.get("says_nothing"):
        text += f"In {detail['says_nothing']} of the cases the bound says nothing. "
    if detail.get("trials"):
        text += (f"In {detail['trials']} cases random trials were made too: they lie at most {detail['largest_z']:.1f} "
                 "standard errors from the exact value.")
    return text


def check(run, item, *, draws, trial_grid=None, claims=(), note=None, extra=None, again=None):
    """Show a statement's formula and evidence and publish it: `exact` if nothing exceeds the bound.

    trial_grid  parameter -> values of the random trials; names that the statement does not have are left out
    extra       more numbers for the record, where a claim needs them
    again       another integration of the exact values, held against them on `trial_grid`: their relative difference
                counts as a deviation, and stands in the record as `quadrature_deviation` (`extra` may bring it too)
    Random trials `FAR` from the exact value count as an infinite deviation, whatever the bound says.
    """
    statement = STATEMENTS[item]
    tried = statement.log_exact is not None and statement.trials is not None
    grid = {name: trial_grid[name] for name in statement.parameters} if tried else None
    generator = numpy_generator(run, item)
    data = evidence(statement, draws=draws, generator=generator, trial_grid=grid) | (extra or {})
    if again is not None:
        data["quadrature_deviation"] = quadrature_deviation(statement, grid, again)
    density = " $K \\ge 1$ is the density constant, 1 for uniform data." if statement.takes_density else ""
    report.say(f"{formula(statement)}\n\nfor ${conditions(statement)}$ [{statement.status}].{density}\n\n"
               f"{words(data, statement.complement)}")
    far = data["detail"].get("largest_z", 0.0) >= FAR
    deviation = math.inf if far else max(data["detail"]["excess"], data.get("quadrature_deviation", 0.0))
    return run.publish(item, data=data, exact=(deviation, ALLOWED), claims=claims, note=note,
                       parts=("draws",) if statement.trials else ())
