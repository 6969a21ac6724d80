"""The theorems of Sutton et al. 2023 as data, by the ids of the reference file.

    from papers.sutton.theory import STATEMENTS, verify
    verify(STATEMENTS["theorem-6"])               # rows: n, epsilon, delta, bound, exact, violated, ...
    STATEMENTS["theorem-6"].bound(n=[10, 100, 1000], epsilon=0.1, delta=1)

The formulas are lost in the text at hand; they were re-derived from the words of its proofs (status
"derived"; the exact values are not in the paper). K >= 1 is the constant of Definition 3, the density over
that of the uniform law; it is 1 for uniform data, for which the exact values hold. Theorems 9, 11, 14 and 16
hold for any surface and law (`surfaces`); here they are checked under a roof g = -L|p| over the unit ball.
"""
import numpy as np

from papers.sutton.theory import models, witnesses
from papers.sutton.theory import surface_trials as roof
from papers.sutton.theory.ball import log_tail, sample_coordinates
from papers.sutton.theory.expression import Best, Call, Constant, Either, named, number, symbols
from papers.sutton.theory.limits import half_balls_expansion
from papers.sutton.theory.statement import Statement, Witness, verify
from papers.sutton.theory.surfaces import cone_cap, uniform_law, wedge

__all__ = ["STATEMENTS", "Statement", "verify"]

_N = (1, 2, 3, 5, 10, 20, 50, 100, 300, 1000, 3072, 10_000, 50_000, 150_528, 200_000)
_EPSILON = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.9)
_DELTA = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0)
_GAMMA = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 1.5, 1.9)
_R = (0.5, 1.0, 2.0)
_ROOF = {"n": (2, 3, 20, 300, 5000), "eta": (0.1, 0.5, 0.9), "lipschitz": (0.0, 0.02, 0.1, 0.5)}
_SLOPE = ("lipschitz >= 0", lambda lipschitz: lipschitz >= 0)
_ROOF_RANGE = (("n >= 2", lambda n: n >= 2), ("eta >= 0", lambda eta: eta >= 0), _SLOPE)
_NOISE = ("delta > 0", lambda delta: delta > 0)

_n, _K, _epsilon, _delta, _eta, _r, _gamma, _L, _depth, _h, _alpha, _tau, _t, _p = symbols(
    "n K epsilon delta eta r gamma lipschitz depth h alpha tau t p")


def _cap(x):
    """Lemma 23's bound on the share of a ball beyond relative distance x of its centre."""
    return number(0.5) * (1 - x**2) ** (_n / 2)


def _law(name, argument):
    return Call((argument,), name=name)


def _over_alpha(other):
    """inf over alpha of Pr(|g| > alpha) plus the chance `other` that a point then is at a wrong height."""
    return Best((_law("exceeds", _alpha) + other,), variable="alpha")


def _theorem_14():
    k = named("kappa", (1 + _L**2) ** -0.5)
    near = _over_alpha(_law("above", -(_alpha + _tau / k)))
    leaves = _cap(named("z", cone_cap(_tau, _delta, k)) / _delta) * _law("gentle", _L)
    return Best((near + leaves * _over_alpha(_law("below", _alpha - _tau)),), variable="tau")


def _theorem_16():
    xi = named("xi", _gamma - 2 * _L * _delta)
    z_fails = named("Pr(z fails)", _over_alpha(_law("above", _t - _alpha)))
    x_fails = named("Pr(x fails)", _over_alpha(_law("below", _t - xi + _alpha)))
    return Best((Either((Constant(1), z_fails, x_fails)),), variable="t")


def _theorem_20():
    beta = named("beta", (1 - (1 - _p) ** (2 / _n)) ** 0.5)
    return Best((_p * _law("tail", beta / _delta),), variable="p", smallest=False)


_SLABS = {"tail": lambda x, v: log_tail(v["n"], np.minimum(x, 1.0)),
          "levels": {"p": lambda v: -np.expm1(-np.geomspace(0.01, 12, 240)**2 / 2)}}


def _noise(n, delta, draws, generator):
    return delta * sample_coordinates(n, draws, generator)


def _flipped(model, n, epsilon, delta, draws, generator):
    """Does random noise lead to the wrong class? `model` draws labelled points."""
    x1, label = model(n, epsilon, draws, generator)
    return models.classify(x1 + _noise(n, delta, draws, generator)) != label


def _attacked(model, n, epsilon, delta, draws, generator):
    """Does the strongest attack of length delta lead to the wrong class?"""
    x1, label = model(n, epsilon, draws, generator)
    return models.classify(models.strongest_attack(x1, label, delta)) != label


def _correct(n, epsilon, draws, generator):
    x1, label = models.two_balls(n, epsilon, draws, generator)
    return models.classify(x1) == label


def _universal(n, gamma, r, draws, generator):
    """Two points of class 0: does the shortest push of z to gamma beyond the plane move x across?"""
    x1, z1 = (r * sample_coordinates(n, draws, generator) for _ in range(2))
    return x1 + (gamma - z1) >= 0


def _log_distance_to_roof(lipschitz, depth, offset):
    return np.log(roof.distance_to_surface(wedge(lipschitz), offset, -lipschitz * np.abs(offset) - depth))


_EXPONENT = (r"The exponent $(n+1)/2$ in place of $n/2$ also gives a valid bound, so that the check cannot "
             r"detect it: $\tau_n(x)(1-x^2)^{-(n+1)/2}$ falls from $\tfrac12$ as $x$ grows from 0.")
_HALF_IS_ENOUGH = (
    r"The factor $K/2$ also gives a valid bound, so that the check cannot detect it. The sum of two uniform "
    r"points has a density that falls away from its centre, so it lies no farther out than a uniform point "
    r"of the ball of radius $1+\delta$, and Lemma 23 applies to that one; other data have at most $K$ times "
    r"the uniform density. For uniform data ($K = 1$) no case comes nearer to the bound than one half.")
_ONE_CAP_IS_ENOUGH = (
    r"For uniform data $p$ itself, in place of $1-(1-p)^2$, is a valid bound, so that the check cannot "
    r"detect it: the remark on Theorem 6 applies with $\delta = 1$. No law with $K > 1$ that would refute it "
    r"was found.")
_IN_REACH = ("epsilon >= 0 and epsilon <= delta <= 1 + epsilon",
             lambda epsilon, delta: (0 <= epsilon) & (epsilon <= delta) & (delta <= 1 + epsilon))
_REACHES = {"n": _N, "epsilon": _EPSILON, "delta": (*_DELTA, 0.7, 0.9, 1.2, 1.5)}
_ACCURACY_RANGE = ("0 <= eta <= r and r > 0", lambda eta, r: (0 <= eta) & (eta <= r) & (r > 0))

STATEMENTS: dict[str, Statement] = {
    "theorem-1": Statement(
        name="Theorem 1: noise at one point rarely crosses a plane",
        formula=r"\Pr(s \text{ crosses}) \le \tfrac12\left(1-\frac{\epsilon^2}{\delta^2}\right)^{n/2}",
        conditions=(("delta >= epsilon > 0", lambda epsilon, delta: (0 < epsilon) & (epsilon <= delta)),),
        direction="upper", grid={"n": _N, "epsilon": _EPSILON, "delta": _DELTA}, rare=_cap(_epsilon / _delta),
        log_exact=lambda n, epsilon, delta: log_tail(n, epsilon / delta),
        trials=lambda n, epsilon, delta, draws, generator: _noise(n, delta, draws, generator) > epsilon,
        witnesses=(Witness("plane near the point", {"n": _N, "epsilon": (1e-9, 1e-4), "delta": (1.0,)},
                           lambda n, epsilon, delta: log_tail(n, epsilon / delta)),), remark=_EXPONENT,
    ),
    "theorem-4": Statement(
        name="Theorem 4: the linear classifier is accurate",
        formula=r"\Pr(f(x)=\ell) \ge 1-\tfrac12K(1-\epsilon^2)^{n/2}",
        conditions=(("0 <= epsilon <= 1", lambda epsilon: (0 <= epsilon) & (epsilon <= 1)),),
        direction="lower", complement=True, grid={"n": _N, "epsilon": _EPSILON}, rare=_K * _cap(_epsilon),
        log_exact=lambda n, epsilon: log_tail(n, epsilon), trials=_correct,
        witnesses=(witnesses.full_caps({"n": _N, "epsilon": _EPSILON}, lambda epsilon: epsilon),),
        remark=_EXPONENT,
    ),
    "theorem-5": Statement(
        name="Theorem 5: susceptible points are typical",
        formula=r"\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge"
                r" 1-\tfrac12K(1-(\delta-\epsilon)^2)^{n/2}",
        direction="lower", complement=True, conditions=(_IN_REACH,), grid=_REACHES,
        rare=_K * _cap(_delta - _epsilon),
        log_exact=lambda n, epsilon, delta: log_tail(n, delta - epsilon),
        trials=lambda **given: _attacked(models.two_balls, **given),
        witnesses=(witnesses.full_caps({"n": _N, "epsilon": (0.3, 0.5), "delta": (0.5, 0.6, 0.8)},
                                       lambda epsilon, delta: delta - epsilon),), remark=_EXPONENT,
    ),
    "theorem-6": Statement(
        name="Theorem 6: destabilising random perturbations are rare",
        formula=r"\Pr(f(x+s)\ne\ell) \le K\left(1-\left(\frac{\epsilon}{1+\delta}\right)^2\right)^{n/2}",
        conditions=(_NOISE, ("0 <= epsilon <= 1 + delta",
                             lambda epsilon, delta: (0 <= epsilon) & (epsilon <= 1 + delta))),
        direction="upper", grid={"n": _N, "epsilon": _EPSILON, "delta": _DELTA},
        rare=number(1) * _K * (1 - (_epsilon / (1 + _delta)) ** 2) ** (_n / 2),
        log_exact=models.log_two_balls,
        trials=lambda **given: _flipped(models.two_balls, **given),
        witnesses=(witnesses.facing_half(epsilon=(0.0, 0.01, 0.1)),), remark=_HALF_IS_ENOUGH,
    ),
    "theorem-8": Statement(
        name="Theorem 8: attacks are universal",
        formula=r"\Pr(f(x+s)\ne\ell\ \forall s\in S_\gamma(z)) \ge"
                r" \left(1-\tfrac12K\left(1-\tfrac{\gamma^2}{4}\right)^{n/2}\right)_+^2",
        conditions=(("0 <= gamma <= 2", lambda gamma: (0 <= gamma) & (gamma <= 2)),),
        direction="lower", complement=True, grid={"n": _N, "gamma": _GAMMA},
        rare=Either((Constant(2), named("p", _K * (number(0.5) * (1 - _gamma**2 / 4) ** (_n / 2))))),
        log_exact=lambda n, gamma: models.log_two_balls(n, gamma, 1.0),
        trials=lambda n, gamma, draws, generator: _universal(n, gamma, 1.0, draws, generator),
        witnesses=(witnesses.half_ball(), witnesses.two_slices()), remark=_ONE_CAP_IS_ENOUGH,
    ),
    "theorem-9": Statement(
        name="Theorem 9: accuracy with a curved surface",
        formula=r"\Pr(f(x)=0) \ge \sup_{\alpha\ge0}\{G(\alpha)-\Pr(x\cdot v\ge-\alpha)\}",
        direction="lower", complement=True, conditions=_ROOF_RANGE, grid=_ROOF,
        rare=_over_alpha(_law("above", -_alpha)),
        log_exact=roof.log_roof_error,
        trials=lambda lipschitz, **given: roof.correct_trials(wedge(lipschitz), **given),
        given=uniform_law(), witnesses=(witnesses.moved_plane(-1),),
    ),
    "corollary-10": Statement(
        name="Corollary 10: accuracy, plane and ball of radius r",
        formula=r"\Pr(f(x)=0) \ge 1-\tfrac12K\left(1-(\eta/r)^2\right)^{n/2}",
        direction="lower", complement=True, conditions=(_ACCURACY_RANGE,),
        grid={"n": _N, "eta": _EPSILON, "r": _R},
        rare=_K * _cap(_eta / _r),
        log_exact=lambda n, eta, r: log_tail(n, eta / r),
        trials=lambda n, eta, r, draws, generator: r * sample_coordinates(n, draws, generator) < eta,
        witnesses=(witnesses.full_caps({"n": _N, "eta": _EPSILON, "r": (1.0, 2.0)}, lambda eta, r: eta / r),),
        remark=_EXPONENT,
    ),
    "theorem-11": Statement(
        name="Theorem 11: susceptibility with a curved surface",
        formula=r"\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)=1) \ge"
                r" \sup_{\alpha\ge0}\{G(\alpha)-\Pr(x\cdot v<\alpha-\delta)\}",
        direction="lower", complement=True, conditions=(*_ROOF_RANGE, _NOISE),
        grid={**_ROOF, "delta": (0.2, 0.6, 1.0)},
        rare=_over_alpha(_law("below", _alpha - _delta)),
        log_exact=lambda n, eta, lipschitz, delta: roof.log_roof_resistance(n, eta, delta, lipschitz),
        trials=lambda lipschitz, **given: roof.susceptible_trials(wedge(lipschitz), **given),
        given=uniform_law(), witnesses=(witnesses.moved_plane(1), witnesses.valley()),
    ),
    "corollary-12": Statement(
        name="Corollary 12: susceptibility, plane and ball of radius r",
        formula=r"\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)=1) \ge"
                r" 1-\tfrac12K\left(1-\left(\frac{\delta-\eta}{r}\right)^2\right)^{n/2}",
        conditions=(("eta >= 0, r > 0 and eta <= delta <= eta + r",
                     lambda eta, delta, r: (0 <= eta) & (eta <= delta) & (delta <= eta + r) & (r > 0)),),
        direction="lower", complement=True, grid={"n": _N, "eta": _EPSILON, "delta": _DELTA, "r": _R},
        rare=_K * _cap((_delta - _eta) / _r),
        log_exact=lambda n, eta, delta, r: log_tail(n, (delta - eta) / r),
        trials=lambda n, eta, delta, r, draws, generator:
            models.strongest_attack(r * sample_coordinates(n, draws, generator) - eta, 0, delta) >= 0,
        witnesses=(witnesses.full_caps(
            {"n": _N, "eta": (0.3, 0.5), "delta": (0.5, 0.6, 0.8), "r": (1.0, 2.0)},
            lambda eta, delta, r: (delta - eta) / r),), remark=_EXPONENT,
    ),
    "lemma-13": Statement(
        name="Lemma 13: a Lipschitz surface controls the distance to it",
        formula=r"\mathrm{dist}(x,S) \ge \kappa\,|d_S(x)|,\ \kappa=(1+L^2)^{-1/2}",
        direction="lower", conditions=(_SLOPE, ("depth > 0", lambda depth: depth > 0)),
        grid={"lipschitz": (0.0, 0.1, 0.5, 1.0, 2.0, 10.0), "depth": (0.01, 0.3, 1.0),
              "offset": (0.0, 0.2, 3.0)},
        rare=number(1) * (1 + _L**2) ** -0.5 * _depth,
        log_exact=_log_distance_to_roof,
    ),
    "theorem-14": Statement(
        name="Theorem 14: random perturbations with a curved surface",
        formula=r"\Pr(f(x+s)=1) \le \inf_{\tau\in\mathcal T}\left\{"
                r"\inf_{\alpha\ge0}[1-G(\alpha)+\Pr(x\cdot v\ge-(\alpha+\tfrac\tau\kappa))]"
                r"+\varphi(\tau)\inf_{\alpha\ge0}[1-G(\alpha)+\Pr(x\cdot v<\alpha-\tau)]\right\}"
                r",\ \varphi(\tau)=\tfrac12\left(1-\frac{z^2}{\delta^2}\right)^{n/2}"
                r",\ z=\kappa^2\tau-\sqrt{1-\kappa^2}\sqrt{\delta^2-\kappa^2\tau^2},\ \kappa=(1+L^2)^{-1/2}",
        direction="upper", conditions=(*_ROOF_RANGE, _NOISE),
        grid={"n": (2, 20, 300), "eta": (0.1, 0.5), "lipschitz": (0.0, 0.02, 0.1), "delta": (0.2, 1.0)},
        rare=_theorem_14(),
        trials=lambda lipschitz, **given: roof.random_flip_trials(wedge(lipschitz), **given),
        given=uniform_law(points=49, splits=25), witnesses=(
            witnesses.cone("point under a plane", (0.0,)), witnesses.cone("point under a cone", (0.1, 0.4)),
            witnesses.half_misread()),
    ),
    "corollary-15": Statement(
        name="Corollary 15: random perturbations, plane and ball of radius r",
        formula=r"\Pr(f(x+s)=1) \le \tfrac12(1+K)\left(1-\left(\frac{\eta}{r+\delta}\right)^2\right)^{n/2}",
        conditions=(_NOISE, ("r > 0 and 0 <= eta <= r + delta",
                             lambda eta, delta, r: (0 <= eta) & (eta <= r + delta) & (r > 0))),
        direction="upper", grid={"n": _N, "eta": _EPSILON, "delta": _DELTA, "r": _R},
        rare=number(0.5) * (1 + _K) * (1 - (_eta / (_r + _delta)) ** 2) ** (_n / 2),
        log_exact=lambda n, eta, delta, r: models.log_two_balls(n, eta / r, delta / r),
        trials=lambda n, eta, delta, r, draws, generator:
            r * sample_coordinates(n, draws, generator) + _noise(n, delta, draws, generator) >= eta,
        witnesses=(witnesses.facing_half(eta=(0.0, 0.01, 0.1), r=(1.0,)),), remark=_HALF_IS_ENOUGH,
    ),
    "theorem-16": Statement(
        name="Theorem 16: universality with a curved surface",
        formula=r"\Pr(f(x+s)=1\ \forall s\in S_{\gamma,\delta}(z)) \ge \sup_t"
                r"\sup_{\alpha\ge0}\{G(\alpha)-\Pr(z\cdot v>t-\alpha)\}_+"
                r"\sup_{\alpha\ge0}\{G(\alpha)-\Pr(x\cdot v<t-\xi+\alpha)\}_+,\ \xi=\gamma-2L\delta",
        direction="lower", complement=True,
        conditions=(*_ROOF_RANGE, _NOISE, ("gamma >= 0", lambda gamma: gamma >= 0)),
        grid={"n": (2, 20, 300), "eta": (0.1, 0.4), "lipschitz": (0.0, 0.02, 0.1), "gamma": (0.1, 0.5, 1.0),
              "delta": (0.5, 1.0)},
        rare=_theorem_16(),
        trials=lambda lipschitz, **given: roof.universal_trials(wedge(lipschitz), **given),
        given=uniform_law(points=49, splits=33),
        witnesses=(witnesses.two_heights(), witnesses.steps(), witnesses.zigzag()),
    ),
    "corollary-17": Statement(
        name="Corollary 17: universality, plane and ball of radius r",
        formula=r"\Pr(f(x+s)=1\ \forall s\in S_{\gamma,\delta}(z)) \ge"
                r" \left(1-\tfrac12K\left(1-\left(\tfrac{\gamma}{2r}\right)^2\right)^{n/2}\right)_+^2",
        conditions=(("r > 0 and 0 <= gamma <= 2 r",
                     lambda gamma, r: (0 <= gamma) & (gamma <= 2 * r) & (r > 0)),),
        direction="lower", complement=True, grid={"n": _N, "gamma": _GAMMA, "r": _R},
        rare=Either((Constant(2), named("p", _K * _cap(_gamma / (2 * _r))))),
        log_exact=lambda n, gamma, r: models.log_two_balls(n, gamma / r, 1.0), trials=_universal,
        witnesses=(witnesses.half_ball(r=(1.0, 2.0)), witnesses.two_slices(r=(1.0, 2.0))),
        remark=_ONE_CAP_IS_ENOUGH,
    ),
    "theorem-18": Statement(
        name="Theorem 18: susceptible points are typical in the half-balls",
        formula=r"\Pr(\exists s\in\mathbb B^n_\delta: f(x+s)\ne\ell) \ge 1-(1-(\delta-\epsilon)^2)^{n/2}",
        direction="lower", complement=True, conditions=(_IN_REACH,), grid=_REACHES,
        rare=number(1) * (1 - (_delta - _epsilon) ** 2) ** (_n / 2),
        log_exact=lambda n, epsilon, delta: np.log(2) + log_tail(n, delta - epsilon),
        trials=lambda **given: _attacked(models.half_balls, **given), remark=_EXPONENT,
    ),
    "theorem-19": Statement(
        name="Theorem 19: random perturbations of the half-balls",
        formula=r"\Pr(f(x+s)\ne\ell) \le \tfrac12\left(1-\frac{\epsilon^2}{\delta^2}\right)^{n/2}",
        conditions=(_NOISE, ("0 <= epsilon <= delta",
                             lambda epsilon, delta: (0 <= epsilon) & (epsilon <= delta))),
        direction="upper", grid={"n": _N, "epsilon": _EPSILON, "delta": _DELTA}, rare=_cap(_epsilon / _delta),
        log_exact=models.log_half_balls,
        trials=lambda **given: _flipped(models.half_balls, **given),
        witnesses=(Witness("noise without end", {"n": _N, "epsilon": (0.0,), "delta": (1e9,)},
                           lambda n, epsilon, delta: np.log(half_balls_expansion(n, delta))),),
        remark=_EXPONENT,
    ),
    "theorem-20": Statement(
        name="Theorem 20: without a margin there is no hiding place",
        formula=r"\Pr(f(x+s)\ne\ell) \ge \sup_{p\in(0,1)} p\,\tau_n(\beta_p/\delta),"
                r"\ \beta_p=\sqrt{1-(1-p)^{2/n}};"
                r"\quad n\to\infty: \sup_p p\left(1-\Phi\left(\tfrac1\delta\sqrt{-2\ln(1-p)}\right)\right)",
        direction="lower", conditions=(_NOISE,), grid={"n": _N, "delta": _DELTA}, rare=_theorem_20(),
        log_exact=lambda n, delta: models.log_half_balls(n, 0.0, delta),
        trials=lambda n, delta, **drawn: _flipped(models.half_balls, n, 0.0, delta, **drawn),
        given=_SLABS,
        witnesses=(Witness("noise without end", {"n": _N, "delta": (1e9,)},
                           lambda n, delta: np.log(half_balls_expansion(n, delta))),),
    ),
    "lemma-23": Statement(
        name="Lemma 23: volume of a spherical cap, as a share of the ball",
        formula=r"\frac{V^n_{\rm cap}(r,h)}{r^nV^n} \le \tfrac12\left(\frac{h(2r-h)}{r^2}\right)^{n/2}",
        conditions=(("r > 0 and 0 <= h <= r", lambda r, h: (0 <= h) & (h <= r) & (r > 0)),),
        direction="upper", grid={"n": _N, "r": _R, "h": (0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0)},
        rare=number(0.5) * (_h * (2 * _r - _h) / _r**2) ** (_n / 2),
        log_exact=lambda n, r, h: log_tail(n, 1 - h / r),
        trials=lambda n, r, h, draws, generator: r * sample_coordinates(n, draws, generator) >= r - h,
        remark=_EXPONENT,
    ),
}
