"""The theorems of Sutton et al. 2023 by the ids of the reference file, each as a bound on a rare event.

    STATEMENTS["theorem-6"].log_bound(n=[10, 100, 1000], epsilon=0.1, delta=1)
    verify(STATEMENTS["theorem-6"])               # n, epsilon, delta, log_bound, log_exact

Beside them stands what they are held against: exact values, trials, wrong formulas. Probabilities of
high-dimensional geometry fall below the smallest float, so all is in logarithms, and where a theorem says
that an event is likely, the rare event is that it does not occur.

The formulas are lost in the text at hand; they were derived again from the words of its proofs, and the exact
values are not in the paper. These hold for uniform data, K = 1. Theorems 9, 11, 14 and 16 are checked under a
roof g = -L|p| over the unit ball, and on extremal examples.
"""
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from papers.sutton.theory import examples, formulas, models, surfaces
from papers.sutton.theory.ball import log_tail, sample_coordinates
from papers.sutton.theory.examples import Case, cells
from shared.statistics import share_interval

# In logarithms; far above the error of the exact values (5e-10), far below what a wrong formula would do.
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Statement:
    """One theorem, corollary or lemma.

    formula     parameters -> logarithm of the bound, a function of `formulas`
    needs       conditions on the parameters, as Python writes them: "epsilon <= 1 + delta"
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
            if {*code.co_names} <= values.keys():
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

    def beyond(self, log_bound, log_low, log_high):
        """By how much a truth between two values lies beyond the bound; below 0 where it does not."""
        with np.errstate(invalid="ignore"):  # a truth of 0 under a bound of 0 is no excess
            gap = log_bound - log_high if self.at_least else log_low - log_bound
        return np.where(log_low == log_bound, 0.0, gap)


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
        hits = [np.count_nonzero(statement.trials(**dict(zip(at, cell)), draws=draws, generator=generator))
                for cell in zip(*at.values())]
        low, high = np.transpose([share_interval(int(n), draws) for n in hits])
        table |= {"share": np.array(hits) / draws, "low": low, "high": high}
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


def truths_at(tried):
    """Between what values the logarithm of the truth lies, at all cells of the cases `tried` end to end."""
    return np.hstack([[case.log_low, case.log_high] for case in tried])


def bounds_at(statement, tried):
    """Logarithms of the bound at all cells of the cases `tried` end to end, whatever the conditions."""
    return np.concatenate([np.broadcast_to(statement.formula(**case.given), np.shape(case.log_low))
                           for case in tried])


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


# ---- the statements --------------------------------------------------------------------------------------
_N = examples.DIMENSIONS
_EPSILON = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.9)
_DELTA = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0)
_GAMMA = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 1.5, 1.9)
_R = (0.5, 1.0, 2.0)
_BALLS = {"n": _N, "epsilon": _EPSILON, "delta": _DELTA}
_REACHES = {**_BALLS, "delta": (*_DELTA, 0.7, 0.9, 1.2, 1.5)}
_ROOF = {"n": (2, 3, 20, 300, 5000), "eta": (0.1, 0.5, 0.9), "lipschitz": (0.0, 0.02, 0.1, 0.5)}
_ROOF_NEEDS = ("n >= 2", "eta >= 0", "lipschitz >= 0")
_REACH_NEEDS = ("epsilon >= 0", "epsilon <= delta", "delta <= 1 + epsilon")


def _flipped(model, n, epsilon, delta, draws, generator):
    """Does random noise lead to the wrong class? `model` draws labelled points."""
    x1, label = model(n, epsilon, draws, generator)
    return models.classify(x1 + delta * sample_coordinates(n, draws, generator)) != label


def _misread(n, epsilon, draws, generator):
    x1, label = models.two_balls(n, epsilon, draws, generator)
    return models.classify(x1) != label


def _distance_to_roof(lipschitz, depth, offset):
    roof = surfaces.wedge(lipschitz)
    return np.log(surfaces.distance_to_surface(roof, offset, roof.height(offset) - depth))


def _under_roof(trials):
    return lambda lipschitz, **cell: trials(surfaces.wedge(lipschitz), **cell)


STATEMENTS: dict[str, Statement] = {
    "theorem-1": Statement(
        formulas.theorem_1, ("delta >= epsilon", "epsilon > 0"), _BALLS,
        truth=lambda n, epsilon, delta: log_tail(n, epsilon / delta), examples=(examples.plane_near,),
        trials=lambda n, epsilon, delta, draws, generator:
            delta * sample_coordinates(n, draws, generator) > epsilon),
    "theorem-4": Statement(
        formulas.theorem_4, ("0 <= epsilon", "epsilon <= 1"), {"n": _N, "epsilon": _EPSILON}, complement=True,
        truth=lambda n, epsilon: log_tail(n, epsilon), trials=_misread,
        examples=(partial(examples.full_caps, lambda at: at["epsilon"], n=_N, epsilon=_EPSILON),)),
    "theorem-5": Statement(
        formulas.theorem_5, _REACH_NEEDS, _REACHES, complement=True,
        truth=lambda n, epsilon, delta: log_tail(n, delta - epsilon),
        examples=(partial(examples.full_caps, lambda at: at["delta"] - at["epsilon"],
                          n=_N, epsilon=(0.3, 0.5), delta=(0.5, 0.6, 0.8)),)),
    "theorem-6": Statement(
        formulas.theorem_6, ("delta > 0", "0 <= epsilon", "epsilon <= 1 + delta"), _BALLS,
        truth=models.log_two_balls, trials=partial(_flipped, models.two_balls),
        examples=(partial(examples.facing_half, epsilon=(0.0, 0.01, 0.1)),)),
    "theorem-8": Statement(
        formulas.theorem_8, ("0 <= gamma", "gamma <= 2"), {"n": _N, "gamma": _GAMMA}, complement=True,
        truth=lambda n, gamma: models.log_two_balls(n, gamma, 1.0),
        examples=(examples.two_slices,)),
    "theorem-9": Statement(
        formulas.theorem_9, _ROOF_NEEDS, _ROOF, complement=True, truth=surfaces.log_roof_error,
        examples=(partial(examples.moved_plane, -1), partial(examples.far_surface, -0.5))),
    "corollary-10": Statement(
        formulas.corollary_10, ("0 <= eta", "eta <= r", "r > 0"), {"n": _N, "eta": _EPSILON, "r": _R},
        complement=True, truth=lambda n, eta, r: log_tail(n, eta / r)),
    "theorem-11": Statement(
        formulas.theorem_11, (*_ROOF_NEEDS, "delta > 0"), {**_ROOF, "delta": (0.2, 0.6, 1.0)},
        complement=True, truth=surfaces.log_roof_resistance,
        examples=(partial(examples.moved_plane, 1), partial(examples.far_surface, -0.1, delta=0.6))),
    "corollary-12": Statement(
        formulas.corollary_12, ("eta >= 0", "r > 0", "eta <= delta", "delta <= eta + r"),
        {"n": _N, "eta": _EPSILON, "delta": _DELTA, "r": _R}, complement=True,
        truth=lambda n, eta, delta, r: log_tail(n, (delta - eta) / r)),
    "lemma-13": Statement(
        formulas.lemma_13, ("lipschitz >= 0", "depth > 0"), at_least=True, truth=_distance_to_roof,
        grid={"lipschitz": (0.0, 0.1, 0.5, 1.0, 2.0, 10.0), "depth": (0.01, 0.3, 1.0),
              "offset": (0.0, 0.2, 3.0)}),
    "theorem-14": Statement(
        formulas.theorem_14, (*_ROOF_NEEDS, "delta > 0"),
        {"n": (2, 20, 300), "eta": (0.1, 0.5), "lipschitz": (0.0, 0.02, 0.1), "delta": (0.2, 1.0)},
        trials=_under_roof(surfaces.random_flip_trials), examples=(
            examples.cone, examples.half_misread,
            partial(examples.far_surface, -0.3, lipschitz=0.0, delta=1.0,
                    tau=formulas.splits_of_noise(0.0, 1.0, 33)))),
    "corollary-15": Statement(
        formulas.corollary_15, ("delta > 0", "r > 0", "0 <= eta", "eta <= r + delta"),
        {"n": _N, "eta": _EPSILON, "delta": _DELTA, "r": _R},
        truth=lambda n, eta, delta, r: models.log_two_balls(n, eta / r, delta / r),
        examples=(partial(examples.facing_half, eta=(0.0, 0.01, 0.1), r=(1.0,)),)),
    "theorem-16": Statement(
        formulas.theorem_16, (*_ROOF_NEEDS, "delta > 0", "gamma >= 0"),
        {"n": (2, 20, 300), "eta": (0.1, 0.4), "lipschitz": (0.0, 0.02, 0.1), "gamma": (0.1, 0.5, 1.0),
         "delta": (0.5, 1.0)}, complement=True, trials=_under_roof(surfaces.not_universal_trials),
        examples=(examples.two_heights, examples.steps, examples.zigzag)),
    "corollary-17": Statement(
        formulas.corollary_17, ("r > 0", "0 <= gamma", "gamma <= 2 * r"), {"n": _N, "gamma": _GAMMA, "r": _R},
        complement=True, truth=lambda n, gamma, r: models.log_two_balls(n, gamma / r, 1.0),
        examples=(partial(examples.two_slices, r=(1.0, 2.0)),)),
    "theorem-18": Statement(
        formulas.theorem_18, _REACH_NEEDS, _REACHES, complement=True,
        truth=lambda n, epsilon, delta: np.log(2) + log_tail(n, delta - epsilon)),
    "theorem-19": Statement(
        formulas.theorem_1, ("delta > 0", "0 <= epsilon", "epsilon <= delta"), _BALLS,
        truth=models.log_half_balls, trials=partial(_flipped, models.half_balls),
        examples=(partial(examples.endless_noise, epsilon=(0.0,)),)),
    "theorem-20": Statement(
        formulas.theorem_20, ("delta > 0",), {"n": _N, "delta": _DELTA}, at_least=True,
        truth=lambda n, delta: models.log_half_balls(n, 0.0, delta), examples=(examples.endless_noise,)),
    "lemma-23": Statement(
        formulas.lemma_23, ("r > 0", "0 <= h", "h <= r"),
        grid={"n": _N, "r": _R, "h": (0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0)},
        truth=lambda n, r, h: log_tail(n, 1 - h / r)),
}
