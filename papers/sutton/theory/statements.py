"""The theorems of Sutton et al. 2023 by the ids of the reference file.

    STATEMENTS["theorem-6"].log_bound(n=[10, 100, 1000], epsilon=0.1, delta=1)
    verify(STATEMENTS["theorem-6"])               # n, epsilon, delta, log_bound, log_exact

The formulas are lost in the text at hand; they were derived again from the words of its proofs, and the exact
values are not in the paper. These hold for uniform data, K = 1. Theorems 9, 11, 14 and 16 are checked under a
roof g = -L|p| over the unit ball, and on extremal examples.
"""
from functools import partial

import numpy as np

from papers.sutton.theory import examples, formulas, models, surfaces
from papers.sutton.theory.ball import log_tail, sample_coordinates
from papers.sutton.theory.laws import splits_of_noise
from papers.sutton.theory.statement import Statement

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
                    tau=splits_of_noise(0.0, 1.0, 33)))),
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
