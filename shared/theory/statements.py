"""The theorems of Sutton et al. 2023 as data, by the ids of the reference file.

    from shared.theory import STATEMENTS, verify
    verify(STATEMENTS["theorem-6"])               # rows: n, epsilon, delta, bound, exact, violated, ...
    STATEMENTS["theorem-6"].bound(n=[10, 100, 1000], epsilon=0.1, delta=1)

The formulas are lost in the text at hand; they were re-derived from the words of its proofs (status
"derived"; the exact values are not in the paper). K >= 1 is the constant of Definition 3, the density over
that of the uniform law; it is 1 for uniform data, for which the exact values hold. Theorems 9, 11, 14 and 16
hold for any surface and law (`surfaces`); here they are checked under a roof g = -L|p| over uniform
data in the unit ball.
"""
import numpy as np

from shared.theory import surface_trials as roof
from shared.theory.ball import log_cap_bound, log_tail, sample_coordinates
from shared.theory.limits import no_hiding_place
from shared.theory.models import (
    classify,
    half_balls,
    log_half_balls,
    log_two_balls,
    strongest_attack,
    two_balls,
)
from shared.theory.statement import Statement, verify
from shared.theory.surfaces import (
    kappa,
    log_error_bound,
    log_not_universal_bound,
    log_random_flip_bound,
    log_resistance_bound,
    uniform_law,
    wedge,
)

__all__ = ["STATEMENTS", "Statement", "verify", "verify_all"]

_N = (1, 2, 3, 5, 10, 20, 50, 100, 300, 1000, 3072, 10_000, 50_000, 150_528, 200_000)
_EPSILON = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.9)
_DELTA = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0)
_GAMMA = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 1.5, 1.9)
_R = (0.5, 1.0, 2.0)
_ROOF = {"n": (2, 3, 20, 300, 5000), "eta": (0.1, 0.5, 0.9), "lipschitz": (0.0, 0.02, 0.1, 0.5)}
_SLOPE = ("lipschitz >= 0", lambda lipschitz: lipschitz >= 0)
_ROOF_RANGE = (("n >= 2", lambda n: n >= 2), ("eta >= 0", lambda eta: eta >= 0), _SLOPE)
_NOISE = ("delta > 0", lambda delta: delta > 0)


def _log_mass(n, x, K):
    """log of K times Lemma 23's bound: the most that a law of density constant K has beyond distance x."""
    return np.log(K) + log_cap_bound(n, x)


def _log_either(log_p):
    """log(1 - (1 - p)^2), the chance that one of two independent points fails; p is capped at 1."""
    p = np.exp(np.minimum(log_p, 0.0))
    return np.minimum(log_p, 0.0) + np.log(2 - p)


def _noise(n, delta, draws, generator):
    return delta * sample_coordinates(n, draws, generator)


def _flipped(model, n, epsilon, delta, draws, generator):
    """Does random noise lead to the wrong class? `model` draws labelled points."""
    x1, label = model(n, epsilon, draws, generator)
    return classify(x1 + _noise(n, delta, draws, generator)) != label


def _attacked(model, n, epsilon, delta, draws, generator):
    """Does the strongest attack of length delta lead to the wrong class?"""
    x1, label = model(n, epsilon, draws, generator)
    return classify(strongest_attack(x1, label, delta)) != label


def _correct(n, epsilon, draws, generator):
    x1, label = two_balls(n, epsilon, draws, generator)
    return classify(x1) == label


def _universal(n, gamma, r, draws, generator):
    """Two points of class 0: does the shortest push of z to gamma beyond the plane move x across?"""
    x1, z1 = (r * sample_coordinates(n, draws, generator) for _ in range(2))
    return x1 + (gamma - z1) >= 0


def _roof_law(n, eta, lipschitz, reach=0.0):
    return uniform_law(wedge(lipschitz[..., None]), n, eta, reach=reach)


def _log_distance_to_roof(lipschitz, depth, offset):
    return np.log(roof.distance_to_surface(wedge(lipschitz), offset, -lipschitz * np.abs(offset) - depth))


_ACCURACY_RANGE = ("0 <= eta <= r and r > 0", lambda eta, r: (0 <= eta) & (eta <= r) & (r > 0))

STATEMENTS: dict[str, Statement] = {
    "theorem-1": Statement(
        name="Theorem 1: noise at one point rarely crosses a plane",
        formula=r"\Pr(s \text{ crosses}) \le \tfrac12\left(1-\frac{\epsilon^2}{\delta^2}\right)^{n/2}",
        status="derived", direction="upper",
        conditions=(("delta >= epsilon > 0", lambda epsilon, delta: (0 < epsilon) & (epsilon <= delta)),),
        grid={"n": _N, "epsilon": _EPSILON, "delta": _DELTA},
        log_bound=lambda n, epsilon, delta: log_cap_bound(n, epsilon / delta),
        log_exact=lambda n, epsilon, delta: log_tail(n, epsilon / delta),
        trials=lambda n, epsilon, delta, draws, generator: _noise(n, delta, draws, generator) > epsilon,
    ),
    "theorem-4": Statement(
        name="Theorem 4: the linear classifier is accurate",
        formula=r"\Pr(f(x)=\ell) \ge 1-\tfrac12K(1-\epsilon^2)^{n/2}",
        status="derived", direction="lower", complement=True,
        conditions=(("0 <= epsilon <= 1", lambda epsilon: (0 <= epsilon) & (epsilon <= 1)),),
        grid={"n": _N, "epsilon": _EPSILON},
        log_bound=lambda n, epsilon, K=1.0: _log_mass(n, epsilon, K),
        log_exact=lambda n, epsilon: log_tail(n, epsilon),
        trials=_correct,
    ),
    "theorem-5": Statement(
        name="Theorem 5: susceptible points are typical",
        formula=r"\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge"
                r" 1-\tfrac12K(1-(\delta-\epsilon)^2)^{n/2}",
        status="derived", direction="lower", complement=True,
        conditions=(("epsilon >= 0 and epsilon <= delta <= 1 + epsilon",
                     lambda epsilon, delta: (0 <= epsilon) & (epsilon <= delta) & (delta <= 1 + epsilon)),),
        grid={"n": _N, "epsilon": _EPSILON, "delta": (*_DELTA, 0.7, 0.9, 1.2, 1.5)},
        log_bound=lambda n, epsilon, delta, K=1.0: _log_mass(n, delta - epsilon, K),
        log_exact=lambda n, epsilon, delta: log_tail(n, delta - epsilon),
        trials=lambda **given: _attacked(two_balls, **given),
    ),
    "theorem-6": Statement(
        name="Theorem 6: destabilising random perturbations are rare",
        formula=r"\Pr(f(x+s)\ne\ell) \le K\left(1-\left(\frac{\epsilon}{1+\delta}\right)^2\right)^{n/2}",
        status="derived", direction="upper",
        conditions=(_NOISE, ("0 <= epsilon <= 1 + delta",
                             lambda epsilon, delta: (0 <= epsilon) & (epsilon <= 1 + delta))),
        grid={"n": _N, "epsilon": _EPSILON, "delta": _DELTA},
        log_bound=lambda n, epsilon, delta, K=1.0: np.log(2) + _log_mass(n, epsilon / (1 + delta), K),
        log_exact=log_two_balls,
        trials=lambda **given: _flipped(two_balls, **given),
    ),
    "theorem-8": Statement(
        name="Theorem 8: attacks are universal",
        formula=r"\Pr(f(x+s)\ne\ell\ \forall s\in S_\gamma(z)) \ge"
                r" \left(1-\tfrac12K\left(1-\tfrac{\gamma^2}{4}\right)^{n/2}\right)_+^2",
        status="derived", direction="lower", complement=True,
        conditions=(("0 <= gamma <= 2", lambda gamma: (0 <= gamma) & (gamma <= 2)),),
        grid={"n": _N, "gamma": _GAMMA},
        log_bound=lambda n, gamma, K=1.0: _log_either(_log_mass(n, gamma / 2, K)),
        log_exact=lambda n, gamma: log_two_balls(n, gamma, 1.0),
        trials=lambda n, gamma, draws, generator: _universal(n, gamma, 1.0, draws, generator),
    ),
    "theorem-9": Statement(
        name="Theorem 9: accuracy with a curved surface",
        formula=r"\Pr(f(x)=0) \ge \sup_{\alpha\ge0}\{G(\alpha)-\Pr(x\cdot v\ge-\alpha)\}",
        status="derived", direction="lower", complement=True, conditions=_ROOF_RANGE, grid=_ROOF,
        log_bound=lambda n, eta, lipschitz: log_error_bound(_roof_law(n, eta, lipschitz)),
        log_exact=roof.log_roof_error,
        trials=lambda lipschitz, **given: roof.correct_trials(wedge(lipschitz), **given),
    ),
    "corollary-10": Statement(
        name="Corollary 10: accuracy, plane and ball of radius r",
        formula=r"\Pr(f(x)=0) \ge 1-\tfrac12K\left(1-(\eta/r)^2\right)^{n/2}",
        status="derived", direction="lower", complement=True, conditions=(_ACCURACY_RANGE,),
        grid={"n": _N, "eta": _EPSILON, "r": _R},
        log_bound=lambda n, eta, r, K=1.0: _log_mass(n, eta / r, K),
        log_exact=lambda n, eta, r: log_tail(n, eta / r),
        trials=lambda n, eta, r, draws, generator: r * sample_coordinates(n, draws, generator) < eta,
    ),
    "theorem-11": Statement(
        name="Theorem 11: susceptibility with a curved surface",
        formula=r"\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)=1) \ge"
                r" \sup_{\alpha\ge0}\{G(\alpha)-\Pr(x\cdot v<\alpha-\delta)\}",
        status="derived", direction="lower", complement=True, conditions=(*_ROOF_RANGE, _NOISE),
        grid={**_ROOF, "delta": (0.2, 0.6, 1.0)},
        log_bound=lambda n, eta, lipschitz, delta: log_resistance_bound(
            _roof_law(n, eta, lipschitz, delta), delta),
        log_exact=lambda n, eta, lipschitz, delta: roof.log_roof_resistance(n, eta, delta, lipschitz),
        trials=lambda lipschitz, **given: roof.susceptible_trials(wedge(lipschitz), **given),
    ),
    "corollary-12": Statement(
        name="Corollary 12: susceptibility, plane and ball of radius r",
        formula=r"\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)=1) \ge"
                r" 1-\tfrac12K\left(1-\left(\frac{\delta-\eta}{r}\right)^2\right)^{n/2}",
        status="derived", direction="lower", complement=True,
        conditions=(("eta >= 0, r > 0 and eta <= delta <= eta + r",
                     lambda eta, delta, r: (0 <= eta) & (eta <= delta) & (delta <= eta + r) & (r > 0)),),
        grid={"n": _N, "eta": _EPSILON, "delta": _DELTA, "r": _R},
        log_bound=lambda n, eta, delta, r, K=1.0: _log_mass(n, (delta - eta) / r, K),
        log_exact=lambda n, eta, delta, r: log_tail(n, (delta - eta) / r),
        trials=lambda n, eta, delta, r, draws, generator:
            classify(strongest_attack(r * sample_coordinates(n, draws, generator) - eta, 0, delta)) == 1,
    ),
    "lemma-13": Statement(
        name="Lemma 13: a Lipschitz surface controls the distance to it",
        formula=r"\mathrm{dist}(x,S) \ge (1+L^2)^{-1/2}\,|d_S(x)|",
        status="derived", direction="lower",
        conditions=(_SLOPE, ("depth > 0", lambda depth: depth > 0)),
        grid={"lipschitz": (0.0, 0.1, 0.5, 1.0, 2.0, 10.0), "depth": (0.01, 0.3, 1.0),
              "offset": (0.0, 0.2, 3.0)},
        log_bound=lambda lipschitz, depth, offset: np.log(kappa(lipschitz) * depth),
        log_exact=_log_distance_to_roof,
    ),
    "theorem-14": Statement(
        name="Theorem 14: random perturbations with a curved surface",
        formula=r"\Pr(f(x+s)=1) \le \inf_{\tau\in\mathcal T}\left\{"
                r"\inf_{\alpha\ge0}[1-G(\alpha)+\Pr(x\cdot v\ge-(\alpha+\tfrac\tau\kappa))]"
                r"+\varphi(\tau)\inf_{\alpha\ge0}[1-G(\alpha)+\Pr(x\cdot v<\alpha-\tau)]\right\}",
        status="derived", direction="upper", conditions=(*_ROOF_RANGE, _NOISE),
        grid={"n": (2, 20, 300), "eta": (0.1, 0.5), "lipschitz": (0.0, 0.02, 0.1), "delta": (0.2, 1.0)},
        log_bound=lambda n, eta, lipschitz, delta: log_random_flip_bound(
            _roof_law(n, eta, lipschitz), n, delta, lipschitz),
        trials=lambda lipschitz, **given: roof.random_flip_trials(wedge(lipschitz), **given),
    ),
    "corollary-15": Statement(
        name="Corollary 15: random perturbations, plane and ball of radius r",
        formula=r"\Pr(f(x+s)=1) \le \tfrac12(1+K)\left(1-\left(\frac{\eta}{r+\delta}\right)^2\right)^{n/2}",
        status="derived", direction="upper",
        conditions=(_NOISE, ("r > 0 and 0 <= eta <= r + delta",
                             lambda eta, delta, r: (0 <= eta) & (eta <= r + delta) & (r > 0))),
        grid={"n": _N, "eta": _EPSILON, "delta": _DELTA, "r": _R},
        log_bound=lambda n, eta, delta, r, K=1.0: np.log1p(K) + log_cap_bound(n, eta / (r + delta)),
        log_exact=lambda n, eta, delta, r: log_two_balls(n, eta / r, delta / r),
        trials=lambda n, eta, delta, r, draws, generator:
            r * sample_coordinates(n, draws, generator) + _noise(n, delta, draws, generator) >= eta,
    ),
    "theorem-16": Statement(
        name="Theorem 16: universality with a curved surface",
        formula=r"\Pr(f(x+s)=1\ \forall s\in S_{\gamma,\delta}(z)) \ge \sup_t"
                r"\sup_{\alpha\ge0}\{G(\alpha)-\Pr(z\cdot v>t-\alpha)\}_+"
                r"\sup_{\alpha\ge0}\{G(\alpha)-\Pr(x\cdot v<t-\xi+\alpha)\}_+,\ \xi=\gamma-2L\delta",
        status="derived", direction="lower", complement=True,
        conditions=(*_ROOF_RANGE, _NOISE, ("gamma >= 0", lambda gamma: gamma >= 0)),
        grid={"n": (2, 20, 300), "eta": (0.1,), "lipschitz": (0.0, 0.02, 0.1), "gamma": (0.1, 0.5, 1.0),
              "delta": (0.5, 1.0)},
        log_bound=lambda n, eta, lipschitz, gamma, delta: log_not_universal_bound(
            _roof_law(n, eta, lipschitz, gamma), gamma, delta, lipschitz),
        trials=lambda lipschitz, **given: roof.universal_trials(wedge(lipschitz), **given),
    ),
    "corollary-17": Statement(
        name="Corollary 17: universality, plane and ball of radius r",
        formula=r"\Pr(f(x+s)=1\ \forall s\in S_{\gamma,\delta}(z)) \ge"
                r" \left(1-\tfrac12K\left(1-\left(\tfrac{\gamma}{2r}\right)^2\right)^{n/2}\right)_+^2",
        status="derived", direction="lower", complement=True,
        conditions=(("r > 0 and 0 <= gamma <= 2 r",
                     lambda gamma, r: (0 <= gamma) & (gamma <= 2 * r) & (r > 0)),),
        grid={"n": _N, "gamma": _GAMMA, "r": _R},
        log_bound=lambda n, gamma, r, K=1.0: _log_either(_log_mass(n, gamma / (2 * r), K)),
        log_exact=lambda n, gamma, r: log_two_balls(n, gamma / r, 1.0),
        trials=_universal,
    ),
    "theorem-18": Statement(
        name="Theorem 18: susceptible points are typical in the half-balls",
        formula=r"\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge 1-(1-(\delta-\epsilon)^2)^{n/2}",
        status="derived", direction="lower", complement=True,
        conditions=(("epsilon >= 0 and epsilon <= delta <= 1 + epsilon",
                     lambda epsilon, delta: (0 <= epsilon) & (epsilon <= delta) & (delta <= 1 + epsilon)),),
        grid={"n": _N, "epsilon": _EPSILON, "delta": (*_DELTA, 0.7, 0.9, 1.2, 1.5)},
        log_bound=lambda n, epsilon, delta: np.log(2) + log_cap_bound(n, delta - epsilon),
        log_exact=lambda n, epsilon, delta: np.log(2) + log_tail(n, delta - epsilon),
        trials=lambda **given: _attacked(half_balls, **given),
    ),
    "theorem-19": Statement(
        name="Theorem 19: random perturbations of the half-balls",
        formula=r"\Pr(f(x+s)\ne\ell) \le \tfrac12\left(1-\frac{\epsilon^2}{\delta^2}\right)^{n/2}",
        status="derived", direction="upper",
        conditions=(_NOISE, ("0 <= epsilon <= delta",
                             lambda epsilon, delta: (0 <= epsilon) & (epsilon <= delta))),
        grid={"n": _N, "epsilon": _EPSILON, "delta": _DELTA},
        log_bound=lambda n, epsilon, delta: log_cap_bound(n, epsilon / delta),
        log_exact=log_half_balls,
        trials=lambda **given: _flipped(half_balls, **given),
    ),
    "theorem-20": Statement(
        name="Theorem 20: without a margin there is no hiding place",
        formula=r"\Pr(f(x+s)\ne\ell) \ge \sup_{p\in(0,1)} p\,\tau_n(\beta_p/\delta),"
                r"\ \beta_p^2=1-(1-p)^{2/n};"
                r"\quad n\to\infty: \sup_p p\left(1-\Phi\left(\tfrac1\delta\sqrt{-2\ln(1-p)}\right)\right)",
        status="derived", direction="lower", conditions=(_NOISE,),
        grid={"n": _N, "delta": _DELTA},
        log_bound=lambda n, delta: np.log(no_hiding_place(delta, n=n)[0]),
        log_exact=lambda n, delta: log_half_balls(n, 0.0, delta),
        trials=lambda n, delta, draws, generator: _flipped(half_balls, n, 0.0, delta, draws, generator),
    ),
    "lemma-23": Statement(
        name="Lemma 23: volume of a spherical cap, as a share of the ball",
        formula=r"\frac{V^n_{\rm cap}(r,h)}{r^nV^n} \le \tfrac12\left(\frac{h(2r-h)}{r^2}\right)^{n/2}",
        status="derived", direction="upper",
        conditions=(("r > 0 and 0 <= h <= r", lambda r, h: (0 <= h) & (h <= r) & (r > 0)),),
        grid={"n": _N, "r": _R, "h": (0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0)},
        log_bound=lambda n, r, h: log_cap_bound(n, 1 - h / r),
        log_exact=lambda n, r, h: log_tail(n, 1 - h / r),
        trials=lambda n, r, h, draws, generator: r * sample_coordinates(n, draws, generator) >= r - h,
    ),
}


def verify_all(statements=STATEMENTS, *, draws=0, generator=None):
    """Check every statement on its own grid: the rows of `verify` with the column "item" in front."""
    return [{"item": item, **row} for item, statement in statements.items()
            for row in verify(statement, draws=draws, generator=generator)]
