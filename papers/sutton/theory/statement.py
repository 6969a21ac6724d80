"""A theorem as a bound on a rare event, and what it is held against: exact values, trials, wrong formulas.

Probabilities of high-dimensional geometry fall below the smallest float, so all is in logarithms, and where a
theorem says that an event is likely, the rare event is that it does not occur.
"""
import inspect
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from papers.sutton.theory.ball import estimate

# In logarithms; far above the error of the exact values (5e-10), far below what a wrong formula would do.
TOLERANCE = 1e-8
# Arguments of a formula, `given`, where the logarithm of the truth lies between two values, equal where it is
# known; `at` is what a reader is shown of the place. All are arrays (m,), a law apart.
Case = namedtuple("Case", "name given log_low log_high at")


def cells(**axes):
    """All combinations of some values, as float arrays (m,)."""
    grid = np.meshgrid(*axes.values(), indexing="ij")
    return {name: np.asarray(axis, float).ravel() for name, axis in zip(axes, grid)}


def known(name, at, log_truth, **given):
    """A case whose truth is known; the formula takes `given`, else the place itself."""
    truth = np.broadcast_to(log_truth, len(next(iter(at.values()))))
    return Case(name, given or at, truth, truth, at)


@dataclass(frozen=True)
class Statement:
    """One theorem, corollary or lemma.

    formula     parameters -> logarithm of the bound, a function of `formulas`
    needs       conditions on the parameters, comparisons as texts
    grid        parameter -> values at which the bound is held against the truth
    truth       parameters -> logarithm of the exact value for uniform data, where one is known
    trials      (**parameters, draws, generator) -> the rare event in random trials, boolean (draws,)
    complement  the theorem speaks of the event that is likely
    at_least    the bound is one from below
    examples    functions without arguments that give a further `Case` each
    """

    formula: Callable
    needs: tuple
    grid: dict
    truth: Callable | None = None
    trials: Callable | None = None
    complement: bool = False
    at_least: bool = False
    examples: tuple = ()

    def conditions(self, values):
        """(text, where it holds) of each condition on these parameters."""
        for text in (*self.needs, "n >= 1", "K >= 1"):
            code = compile(text, text, "eval")
            if set(code.co_names) <= set(values):
                yield text, np.asarray(eval(code, {}, values))

    def check(self, values):
        """ValueError where a parameter breaks a condition."""
        values = {name: np.asarray(value) for name, value in values.items() if name != "law"}
        for text, holds in self.conditions(values):
            if not holds.all():
                got = ", ".join(f"{name} = {value}" for name, value in values.items())
                raise ValueError(f"{self.formula.__name__} needs {text}: got {got}")

    def log_bound(self, **parameters):
        """Logarithm of the bound on the rare event."""
        self.check(parameters)
        return self.formula(**parameters)

    def log_exact(self, **parameters):
        """Logarithm of the exact probability of the rare event for uniform data."""
        self.check(parameters)
        return self.truth(**parameters)

    def beyond(self, log_bound, case):
        """By how much the truth lies beyond the bound; below 0 where it does not."""
        with np.errstate(invalid="ignore"):  # a truth of 0 under a bound of 0 is no excess
            gap = log_bound - case.log_high if self.at_least else case.log_low - log_bound
        return np.where(case.log_low == log_bound, 0.0, gap)


def verify(statement, grid=None, *, draws=0, generator=None):
    """Bound and truth at all cells of a grid inside the conditions, as a dict of arrays (m,).

    The parameters, log_bound, log_exact where it is known; with draws > 0 also share, low, high: the share of
    that many trials in which the rare event occurred, with its 95% interval.
    """
    at = cells(**(grid or statement.grid))
    keep = np.logical_and.reduce([holds for _, holds in statement.conditions(at)])
    at = {name: axis[keep] for name, axis in at.items()}
    table = {**at, "log_bound": np.broadcast_to(statement.log_bound(**at), keep.sum())}
    if statement.truth is not None:
        table["log_exact"] = np.broadcast_to(statement.truth(**at), keep.sum())
    if draws:
        trials = [estimate(statement.trials(**dict(zip(at, cell)), draws=draws, generator=generator))
                  for cell in zip(*at.values())]
        table |= dict(zip(("share", "low", "high"), np.array(trials).T))
    return table


def cases(statement, *, draws=0, generator=None):
    """What a formula is held against: its own grid, then its extremal examples; a list of `Case`.

    Where no exact value is known, the own grid is tried at random (95% intervals), with draws > 0.
    """
    own = []
    if statement.truth is not None or draws:
        table = verify(statement, draws=0 if statement.truth else draws, generator=generator)
        with np.errstate(divide="ignore"):
            ends = [table["log_exact"]] * 2 if statement.truth else np.log([table["low"], table["high"]])
        at = {name: table[name] for name in statement.grid}
        own = [Case("own grid", at, *ends, at)]
    return own + [example() for example in statement.examples]


def bounds_at(statement, tried):
    """Logarithms of the bound at the cells of each of the cases `tried`, whatever the conditions."""
    return [np.broadcast_to(statement.formula(**case.given), np.shape(case.log_low)) for case in tried]


def wrong_formulas(statement):
    """(change, statement with it): each constant halved and doubled, each exponent raised and lowered."""
    changes = {"constants": {"halved": lambda v: v / 2, "doubled": lambda v: 2 * v},
               "exponents": {"+ ½": lambda v: v + 0.5, "− ½": lambda v: v - 0.5}}
    for kind, ways in changes.items():
        numbers = inspect.signature(statement.formula).parameters[kind].default
        for name, value in numbers.items():
            for way, change in ways.items():
                formula = partial(statement.formula, **{kind: {**numbers, name: change(value)}})
                yield f"{name} {way}", replace(statement, formula=formula)


def violations(statement, tried, bounds):
    """Number of cells where the truth lies on the wrong side of the bound."""
    return sum(int((statement.beyond(bound, case) > TOLERANCE).sum()) for case, bound in zip(tried, bounds))


def attained(case, bound):
    """Cells where the known truth equals the bound, up to rounding: boolean (m,)."""
    with np.errstate(invalid="ignore"):
        return (case.log_low == case.log_high) & (
            (np.abs(case.log_low - bound) <= TOLERANCE) | (case.log_low == bound))
