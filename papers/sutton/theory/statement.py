"""A theorem as a bound, an exact value and random trials, with one routine that confronts them.

Probabilities of high-dimensional geometry fall below the smallest float, so a `Statement` speaks of the event
that its theorem calls rare, in logarithms; `bound` and `exact` give the printed form.
"""
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from papers.sutton.theory import expression
from papers.sutton.theory.ball import check_dimension, check_draws, estimate

# In logarithms; far above the error of the exact values (5e-10), far below what a wrong formula would do.
_TOLERANCE = 1e-8
_DENSITY = ("K >= 1", lambda K: K >= 1)


@dataclass(frozen=True)
class Witness:
    """Data and a surface for which the truth is known and comes near to a bound.

    grid: name -> values, all combinations of which are cells. log_truth(**cell arrays): logarithm of the rare
    event. given: laws and levels for the statement's tree, where they differ from the statement's own.
    follows: name -> what it is at the other parameters of a cell, of such as the grid leaves out.
    """

    name: str
    grid: dict
    log_truth: Callable
    given: Mapping = field(default_factory=dict)
    follows: Mapping = field(default_factory=dict)


@dataclass(frozen=True)
class Statement:
    """One theorem, corollary or lemma.

    formula: LaTeX. direction: what the bound is for the printed quantity, "lower" or "upper". complement: the
    printed quantity is 1 - the rare one. rare: the bound on the rare quantity as an `Expression` of the
    parameters; given: the laws and levels that it calls. log_exact: logarithm of the rare quantity, called
    with the parameters by name, broadcasting. trials(**parameters, draws, generator): the printed event in
    random trials, boolean (draws,); scalars only. conditions: (text, predicate) pairs on the parameters.
    grid: parameter values for `verify`. witnesses: further cases with a known truth. remark: why a sharper
    formula cannot be caught. status: how the formula was recovered, "derived", "inferred" or "found".
    """

    name: str
    formula: str
    direction: str
    conditions: tuple
    grid: dict
    rare: expression.Expression
    log_exact: Callable | None = None
    trials: Callable | None = None
    complement: bool = False
    given: Mapping = field(default_factory=dict)
    witnesses: tuple = ()
    remark: str = ""
    status: str = "derived"

    def log_bound(self, given=None, **parameters):
        """Logarithm of the bound on the rare quantity; `given` replaces the laws and levels of the tree."""
        names = [*parameters, "K"] if self.takes_density and "K" not in parameters else list(parameters)
        arrays = np.broadcast_arrays(*(np.asarray(parameters.get(name, 1.0), float) for name in names))
        return self.rare.log({**(self.given if given is None else given), **dict(zip(names, arrays))})

    def finer(self, times=4):
        """The same with the best places of its bound sought more finely, `times` over: slower, sharper."""
        return replace(self, given={**self.given, "finer": times})

    @property
    def parameters(self):
        """Names of the parameters, those of the grid."""
        return tuple(self.grid)

    @property
    def takes_density(self):
        """Does the bound take the density constant K?"""
        return "K" in expression.names(self.rare)

    def check_names(self, names):
        """ValueError unless `names` are the parameters, with or without K where the bound takes it."""
        allowed = set(self.parameters) | ({"K"} if self.takes_density else set())
        missing, unknown = set(self.parameters) - set(names), set(names) - allowed
        if missing or unknown:
            raise ValueError(f"{self.name} takes {', '.join(sorted(allowed))}: missing {sorted(missing)}, "
                             f"unknown {sorted(unknown)}")

    def check(self, parameters):
        """Arrays of one shape from a dict of parameters. ValueError: wrong name or broken condition."""
        self.check_names(parameters)
        arrays = np.broadcast_arrays(*(np.asarray(value, float) for value in parameters.values()))
        values = dict(zip(parameters, arrays))
        if "n" in values:
            check_dimension(values["n"])
        for text, holds in (*self.conditions, *((_DENSITY,) if "K" in values else ())):
            failed = ~_applies(holds, values)
            if failed.any():
                got = ", ".join(f"{name} = {value[failed].flat[0]:g}" for name, value in values.items())
                raise ValueError(f"{self.name} needs {text}: got {got}")
        return values

    def printed(self, log_rare):
        """Turn logarithms of the rare quantity into the printed one."""
        return -np.expm1(log_rare) if self.complement else np.exp(log_rare)

    def bound(self, **parameters):
        """The bound as the theorem states it (a probability, a volume or a distance)."""
        return self.printed(self.log_bound(**self.check(parameters)))

    def exact(self, **parameters):
        """The exact value of what is bounded, for uniform data (whatever K); None where none is known."""
        if self.log_exact is None:
            return None
        return self.printed(self.log_exact(**_without_density(self.check(parameters))))

    def simulate(self, *, draws, generator, **parameters):
        """Estimate (with a 95% Clopper-Pearson interval) of what is bounded; None where there are no trials.

        One parameter set, scalars. `generator` is a numpy Generator.
        """
        if self.trials is None:
            return None
        if not isinstance(generator, np.random.Generator):
            raise ValueError(f"trials need generator=numpy.random.default_rng(seed): got {generator!r}")
        values = {name: value.item() for name, value in _without_density(self.check(parameters)).items()}
        return estimate(self.trials(**values, draws=check_draws(draws), generator=generator))

    def beyond(self, log_bound, log_low, log_high):
        """By how much the truth, between two logarithms, lies beyond the bound; below 0 where it does not."""
        above = self.complement or self.direction == "upper"
        with np.errstate(invalid="ignore"):  # a truth of 0 under a bound of 0 is no excess
            gap = log_low - log_bound if above else log_bound - log_high
        return np.where(log_low == log_bound, 0.0, gap)


def _without_density(values):
    """Exact values and trials are for uniform data: the constant K belongs to the bound alone."""
    return {name: value for name, value in values.items() if name != "K"}


def _applies(holds, values):
    """Evaluate a condition on those of `values` that it names."""
    return np.asarray(holds(**{name: values[name] for name in inspect.signature(holds).parameters}))


def verify(statement, *, grid=None, draws=0, generator=None):
    """Check one statement on a grid of parameters: a list of dicts, one per cell inside its conditions.

    Columns: the parameters, bound, exact, log_bound and log_exact (of the rare quantity), violated;
    with draws > 0 also monte_carlo, low, high. Where no exact value is known, violated says that the interval
    lies on the wrong side of the bound, and is None without draws. `grid` (name -> values) replaces its own.
    """
    grid = statement.grid if grid is None else grid
    statement.check_names(grid)
    cells = dict(zip(grid, (axis.ravel() for axis in np.meshgrid(*grid.values(), indexing="ij"))))
    keep = np.logical_and.reduce([_applies(holds, cells) for _, holds in statement.conditions])
    size = int(keep.sum())
    if not size:
        needs = "; ".join(text for text, _ in statement.conditions)
        raise ValueError(f"{statement.name}: no cell of the grid meets {needs}")
    cells = statement.check({name: axis[keep] for name, axis in cells.items()})
    log_bound = np.broadcast_to(statement.log_bound(**cells), size)
    columns = {**cells, "bound": statement.printed(log_bound), "log_bound": log_bound}
    if statement.log_exact is not None:
        log_exact = np.broadcast_to(statement.log_exact(**_without_density(cells)), size)
        columns |= {"exact": statement.printed(log_exact), "log_exact": log_exact,
                    "violated": statement.beyond(log_bound, log_exact, log_exact) > _TOLERANCE}
    if "n" in columns:
        columns["n"] = columns["n"].astype(int)
    names = (*cells, "bound", "exact", "log_bound", "log_exact", "violated")
    lists = [columns[name].tolist() if name in columns else [None] * size for name in names]
    rows = [dict(zip(names, row)) for row in zip(*lists)]
    if draws and statement.trials is not None:
        for row in rows:
            given = {name: row[name] for name in cells}
            found = statement.simulate(draws=draws, generator=generator, **given)
            row |= {"monte_carlo": found.value, "low": found.low, "high": found.high}
            if statement.log_exact is None:
                above, below = found.low > row["bound"], found.high < row["bound"]
                row["violated"] = above if statement.direction == "upper" else below
    return rows


def mutants(statement):
    """(description, statement with a changed formula), one for each change of `expression.mutants`."""
    return [(words, replace(statement, rare=tree)) for words, tree in expression.mutants(statement.rare)]


@dataclass(frozen=True)
class Case:
    """Cells of one witness or of a statement's own grid, `cells`: name -> (m,) array.

    The truth, as logarithm of the rare event, lies between `log_low` and `log_high`, equal where it is known.
    """

    name: str
    cells: dict
    given: Mapping | None
    log_low: np.ndarray
    log_high: np.ndarray


def cases(statement, *, draws=0, generator=None):
    """What a formula is held against: the statement's own grid, then its witnesses; a list of `Case`.

    Without a known exact value the own grid is tried at random (95% intervals), with draws > 0.
    """
    made = []
    if statement.log_exact is not None or draws:
        rows = verify(statement, draws=0 if statement.log_exact is not None else draws, generator=generator)
        cells = {name: np.array([r[name] for r in rows], float) for name in statement.parameters}
        if statement.log_exact is not None:
            low = high = np.array([r["log_exact"] for r in rows])
        else:
            ends = np.array([(r["low"], r["high"]) for r in rows])
            low, high = (1 - ends[:, ::-1] if statement.complement else ends).T
            with np.errstate(divide="ignore"):
                low, high = np.log(low), np.log(high)
        made.append(Case("own grid", cells, None, low, high))
    for witness in statement.witnesses:
        axes = np.meshgrid(*witness.grid.values(), indexing="ij")
        cells = dict(zip(witness.grid, (np.asarray(axis, float).ravel() for axis in axes)))
        cells |= {name: of(**cells) for name, of in witness.follows.items()}
        truth = np.broadcast_to(witness.log_truth(**cells), axes[0].size)
        made.append(Case(witness.name, cells, {**statement.given, **witness.given}, truth, truth))
    return made


def bounds_at(statement, found):
    """Logarithms of the bound at the cells of each of the cases `found`."""
    return [np.broadcast_to(statement.log_bound(case.given, **case.cells), case.log_low.shape)
            for case in found]


def violations(statement, found, bounds):
    """Number of cells where the truth lies on the wrong side of the bound."""
    return sum(int((statement.beyond(bound, case.log_low, case.log_high) > _TOLERANCE).sum())
               for case, bound in zip(found, bounds))


def attained(case, bound):
    """Cells where the known truth equals the bound, up to rounding: boolean (m,)."""
    known = case.log_low == case.log_high
    with np.errstate(invalid="ignore"):
        return known & ((np.abs(case.log_low - bound) <= _TOLERANCE) | (case.log_low == bound))
