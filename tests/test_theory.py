"""The theorems of sutton: known digits, independent integration, random trials, wrong formulas caught."""
import functools
import inspect
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from papers.sutton.theorem import mutants
from papers.sutton.theory import surfaces as trials
from papers.sutton.theory.ball import (
    density,
    log_density,
    log_tail,
    sample_coordinates,
    sample_points,
    tail,
)
from papers.sutton.theory.examples import log_cone_flip
from papers.sutton.theory.formulas import (
    Law,
    _either,
    log_share,
    roof_law,
    theorem_1,
    theorem_6,
    theorem_11,
    theorem_14,
)
from papers.sutton.theory.models import (
    classify,
    half_balls_limit,
    log_half_balls,
    log_two_balls,
    planar_flip_probability,
    strongest_attack,
)
from papers.sutton.theory.statements import (
    STATEMENTS,
    TOLERANCE,
    bounds_at,
    cases,
    truths_at,
    verify,
    wrong_formulas,
)
from papers.sutton.theory.surfaces import flat, kappa, sine, wedge
from report import record, reference
from shared.statistics import share_interval

DIMENSIONS = np.array([1, 2, 3, 5, 10, 20, 50, 100, 300, 1000, 3072, 10_000, 50_000, 150_528, 200_000])
quick = settings(max_examples=25, deadline=None, derandomize=True)


def rng(seed=0):
    return np.random.default_rng(seed)


def sample_law(heights, surface_heights, points=257):
    """The law of samples: `heights` x.v and `surface_heights` g of the same points, shape (m,).

    The theorems hold for every law, so they hold without sampling error for the law of the sample itself.
    """
    heights, bends = np.sort(heights), np.sort(np.abs(surface_heights))
    size = len(heights)
    return Law(lambda a: log_share(True, (size - np.searchsorted(bends, a, side="right")) / size),
               lambda t: log_share(True, (size - np.searchsorted(heights, t, side="left")) / size),
               lambda t: log_share(True, np.searchsorted(heights, t, side="left") / size),
               np.unique(np.quantile(np.append(bends, 0.0), np.linspace(0, 1, points)))[None])


# --- the law of one coordinate ----------

def test_tail_and_density_in_dimensions_with_elementary_formulas():
    x = np.linspace(-1, 1, 41)
    np.testing.assert_allclose(tail(1, x), (1 - x) / 2, atol=1e-15)
    np.testing.assert_allclose(tail(2, x), (np.arccos(x) - x * np.sqrt(1 - x**2)) / np.pi, atol=1e-14)
    np.testing.assert_allclose(tail(3, x), (1 - x) ** 2 * (2 + x) / 4, atol=1e-15)
    np.testing.assert_allclose(density(3, x), 0.75 * (1 - x**2), atol=1e-14)
    np.testing.assert_allclose(density(1, [-2, -1, 0, 1, 2]), [0, 0.5, 0.5, 0.5, 0])


def test_tail_of_a_plane_next_to_the_centre():
    """1/2 less f_n(0) x: the next term is smaller by (n - 1) x^2 / 6."""
    n, x = np.array([1, 2, 3, 3072, 200_000])[:, None], np.array([1e-12, 1e-9, 1e-8, 1e-7])
    short = density(n, 0.0) * x
    np.testing.assert_allclose(0.5 - tail(n, x), short, rtol=1e-3, atol=2e-16)
    np.testing.assert_allclose(tail(n, -x) - 0.5, short, rtol=1e-3, atol=2e-16)
    np.testing.assert_allclose(np.log(2) + log_tail(n, x), np.log1p(-2 * short), rtol=1e-3, atol=2e-16)
    # no step where the form changes, n x^2 = 0.1
    edge = np.sqrt(0.1 / n) * (1 + np.array([-1e-13, 1e-13]))
    np.testing.assert_allclose(np.diff(tail(n, edge)), 0, atol=2e-11)


@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_density_integrates_to_the_tail(n):
    for x in (-0.3, 0.0, 0.1, 0.4):
        area = integrate.quad(lambda t: density(n, t), x, 1, points=[max(x, 0.2)])[0]
        assert area == pytest.approx(float(tail(n, x)), rel=1e-8)


def test_log_tail_where_the_tail_underflows():
    n, x = np.array([3072, 10_000, 150_528, 200_000]), np.array([0.9, 0.5, 0.2, 0.99])
    assert (tail(n, x) == 0).all()
    # between the integrals of f_n and of t f_n over [x, 1], the second divided by its largest and smallest t
    low = log_density(n, 0.0) + (n + 1) / 2 * np.log1p(-(x**2)) - np.log(n + 1)
    assert (log_tail(n, x) > low).all() and (log_tail(n, x) < low - np.log(x)).all()
    # no step where the formula changes (tail = 1e-280), and the values of high-precision arithmetic
    x = np.linspace(0.07, 0.09, 2001)
    jump = np.diff(log_tail(200_000, x), 2)
    assert np.abs(jump - np.median(jump)).max() < 1e-5
    assert log_tail(200_000, 0.1) == pytest.approx(-1009.758498412563, rel=1e-12)
    assert log_tail(3072, 0.99) == pytest.approx(-6023.4492992871965, rel=1e-12)
    assert log_tail(200_000, 1.0) == -np.inf and log_tail(5, -1.0) == 0


@quick
@given(st.integers(1, 200_000), st.floats(-1, 1), st.floats(-1, 1))
def test_tail_is_a_decreasing_probability_with_the_right_symmetry(n, x, y):
    low, high = min(x, y), max(x, y)
    assert 0 <= tail(n, high) <= tail(n, low) <= 1
    assert tail(n, x) + tail(n, -x) == pytest.approx(1, abs=1e-15)
    if x >= 0:
        assert log_tail(n, x) <= theorem_1(n, x, 1.0) + 1e-9


@pytest.mark.parametrize("n", [1, 2, 30, 200_000])
def test_sampled_coordinates_have_the_moments_of_the_law(n):
    draws = 40_000
    t = sample_coordinates(n, draws, rng())
    second, fourth = 1 / (n + 2), 3 / ((n + 2) * (n + 4))
    assert abs(t.mean()) < 4 * np.sqrt(second / draws)
    assert abs((t**2).mean() - second) < 4 * np.sqrt((fourth - second**2) / draws)
    assert np.array_equal(t, sample_coordinates(n, draws, rng()))


def test_whole_vectors_fill_the_ball_uniformly():
    radius = np.linalg.norm(sample_points(5, 20_000, rng(), radius=2.0), axis=1)
    assert radius.max() <= 2
    assert stats.kstest((radius / 2) ** 5, "uniform").pvalue > 1e-4
    assert sample_points(1, 7, rng()).shape == (7, 1)


# --- exact values of the two models ----------

def bound(item, **parameters):
    return np.exp(STATEMENTS[item].log_bound(**parameters))


def exact(item, **parameters):
    return np.exp(STATEMENTS[item].log_exact(**parameters))


def plain_tail(n, x):
    return 0.5 * stats.beta.sf(x * x, 0.5, (n + 1) / 2) if x >= 0 else 1 - plain_tail(n, -x)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 40])
@pytest.mark.parametrize("epsilon, delta", [(0.0, 0.3), (0.2, 0.1), (0.3, 1.0), (0.9, 5.0), (1.2, 0.5)])
def test_exact_values_against_adaptive_quadrature(n, epsilon, delta):
    law = stats.beta(0.5, (n + 1) / 2)

    def integrand(t):
        return abs(t) * law.pdf(t * t) * plain_tail(n, (epsilon + t) / delta)

    kinks = [p for p in (0.0, -epsilon, delta - epsilon, -delta - epsilon) if -1 < p < 1]
    edges = sorted({-1.0, 1.0, *kinks})
    pieces = [(a, integrate.quad(integrand, a, b, epsabs=1e-14, epsrel=1e-11)[0])
              for a, b in zip(edges[:-1], edges[1:])]
    whole = sum(v for _, v in pieces)
    assert np.exp(log_two_balls(n, epsilon, delta)) == pytest.approx(whole, rel=1e-7, abs=1e-13)
    half = 2 * sum(v for a, v in pieces if a >= 0)
    assert np.exp(log_half_balls(n, epsilon, delta)) == pytest.approx(half, rel=1e-7, abs=1e-13)


def test_closed_forms_of_the_half_balls_without_margin():
    delta = np.array([0.01, 0.1, 0.5, 1, 2, 5, 10, 50])
    line = np.where(delta <= 1, delta / 4, 0.5 - 0.25 / delta)
    np.testing.assert_allclose(np.exp(log_half_balls(1, 0, delta)), line, rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_half_balls(DIMENSIONS, 0, 1)), 0.25, rtol=1e-9)
    far = np.exp(log_half_balls(200_000, 0, delta))
    np.testing.assert_allclose(far, half_balls_limit(delta), atol=2e-6)
    # the next term of the limit, up to O(1/n^2)
    error = [np.abs(np.exp(log_half_balls(n, 0, delta)) - half_balls_limit(delta) + delta * (1 - delta**2) / (
        2 * np.pi * n * (1 + delta**2) ** 2)).max() for n in (100, 1000)]
    assert error[1] < error[0] / 80 and error[1] < 1e-6
    p = np.exp(log_half_balls(DIMENSIONS[:, None], 0, np.array([0.1, 0.5, 2, 10])))
    assert (np.diff(p[:, :2], axis=0) > -1e-10).all() and (np.diff(p[:, 2:], axis=0) < 1e-10).all()


def test_limits_when_the_margin_shrinks_like_one_over_root_n():
    n, c, delta = 200_000, np.array([0.0, 0.3, 1, 2]), np.array([[0.5], [1], [10]])
    epsilon = c / np.sqrt(n)
    limit = special.ndtr(-c / np.sqrt(1 + delta**2))
    np.testing.assert_allclose(np.exp(log_two_balls(n, epsilon, delta)), limit, atol=2e-6)


def test_one_of_many_samples_of_noise():
    n, epsilon, delta = 50, 0.1, 0.5
    width = integrate.quad(lambda t: (1 - t * t) ** ((n - 1) / 2), -1, 1)[0]
    for log_exact, low, sides in ((log_two_balls, -1, 1), (log_half_balls, 0, 2)):
        for samples in (1, 2, 2000):
            literal = integrate.quad(lambda t, m=samples: (1 - t * t) ** ((n - 1) / 2) * (
                1 - (1 - tail(n, (epsilon + t) / delta)) ** m), low, delta - epsilon, limit=500)[0]
            assert np.exp(log_exact(n, epsilon, delta, samples)) == pytest.approx(
                sides * literal / width, rel=1e-6)
    far = log_half_balls(200_000, 0.1, 1.0)         # so rare that events exclude each other
    assert log_half_balls(200_000, 0.1, 1.0, 7) == pytest.approx(far + np.log(7), abs=1e-9)


def test_exponential_rate_of_the_exact_value():
    delta, n = np.array([0.3, 0.5, 1, 2]), np.array([[10**6], [2 * 10**6]])
    values = log_two_balls(n, 0.03, delta)
    np.testing.assert_allclose(np.diff(values, axis=0)[0] / -10**6, 0.03**2 / (2 * (1 + delta**2)), rtol=0.05)


def test_a_finer_search_comes_nearer_to_the_best_bound_and_stays_one():
    cells = {"n": np.array([20.0, 5000.0]), "eta": 0.3, "lipschitz": 0.05, "delta": 0.8}
    coarse, fine = (theorem_11(cells["delta"], law=roof_law(cells["n"], 0.3, 0.05, points))
                    for points in (9, 1025))
    alpha = np.linspace(0, 1.1, 200_001)   # an even grid, finer than both and far beyond the roof
    law = roof_law(cells["n"], 0.3, 0.05)
    dense = np.logaddexp(law.exceeds(alpha), law.below(alpha - 0.8)).min((-1, -2))
    assert (fine < coarse).all() and (fine > STATEMENTS["theorem-11"].log_exact(**cells)).all()
    np.testing.assert_allclose(fine, dense, rtol=1e-3)
    assert (fine >= dense).all()


def test_prediction_of_a_planar_boundary():
    cifar, fashion, imagenet = planar_flip_probability([3072, 2352, 150_528])
    assert cifar == pytest.approx(2.7e-5, abs=5e-7) and fashion == pytest.approx(1.2e-3, abs=5e-5)
    assert imagenet < 1e-300
    assert planar_flip_probability(1, 0.5, 3) == pytest.approx(1 - 0.75**3)


def test_a_grid_costs_far_less_than_its_cells_one_by_one():
    n, delta = np.array([3, 100, 3072, 100_000])[:, None], np.geomspace(0.05, 20, 100)
    start = time.perf_counter()
    log_two_balls(n, 0.1, delta)
    switch = time.perf_counter()
    for d in delta[::10]:
        log_two_balls(3072, 0.1, d)
    assert (time.perf_counter() - switch) / 10 > 3 * (switch - start) / 400


# --- every statement: no violation, trials agree, mutants are caught ----------

def test_every_theorem_of_the_reference_has_an_entry():
    """Theorem 7 is about a direction and has no bound."""
    items = reference.paper("sutton").items.values()
    bounds = {item.id for item in items if item.kind in ("theorem", "corollary", "lemma")}
    assert bounds - {"theorem-7"} == set(STATEMENTS)


@pytest.mark.parametrize("item", STATEMENTS)
def test_conditions_are_on_the_parameters_of_the_formula(item):
    known = {*inspect.signature(STATEMENTS[item].formula).parameters, *STATEMENTS[item].grid}
    assert all({*compile(text, text, "eval").co_names} <= known for text in STATEMENTS[item].needs)


@functools.cache
def cases_of(item):
    return cases(STATEMENTS[item])


@pytest.mark.parametrize("item", STATEMENTS)
def test_no_truth_violates_its_statement(item):
    """On the grid, up to n = 200,000, and on all extremal examples; the truths are probabilities."""
    statement = STATEMENTS[item]
    tried = cases_of(item)
    low, high = truths_at(tried)
    assert not np.isnan([low, high]).any() and (low.max() <= 1e-9 or item == "lemma-13")
    assert statement.beyond(bounds_at(statement, tried), low, high).max() <= TOLERANCE


def test_where_the_bounds_are_attained():
    def exact_over_bound(item, **parameters):
        return exact(item, **parameters) / bound(item, **parameters)

    assert exact_over_bound("lemma-23", n=7, r=2, h=2) == pytest.approx(1)
    assert exact_over_bound("theorem-4", n=[1, 50, 200_000], epsilon=0) == pytest.approx(1)
    assert exact_over_bound("theorem-5", n=9, epsilon=0.3, delta=0.3) == pytest.approx(1)
    assert exact_over_bound("theorem-6", n=9, epsilon=0, delta=3) == pytest.approx(0.5)
    # the end of the range is allowed although 1 + epsilon - epsilon may exceed 1 by rounding
    epsilon = np.linspace(0, 5, 101)
    assert (1 + epsilon - epsilon > 1).any()
    assert (bound("theorem-5", n=9, epsilon=epsilon, delta=1 + epsilon) < 1e-9).all()
    # the half ball that faces the plane has K = 2 and attains the factor K of Theorem 4
    n, epsilon = 40, 0.05
    assert bound("theorem-4", n=n, epsilon=epsilon, K=1) < 2 * tail(n, epsilon) <= bound(
        "theorem-4", n=n, epsilon=epsilon, K=2)


def test_corollaries_are_theorems_in_units_of_the_radius():
    for corollary, theorem, cell, scaled in (
            ("corollary-10", "theorem-4", dict(eta=0.5), dict(epsilon=0.25)),
            ("corollary-12", "theorem-5", dict(eta=0.5, delta=0.9), dict(epsilon=0.25, delta=0.45)),
            ("corollary-15", "theorem-6", dict(eta=0.3, delta=1.0), dict(epsilon=0.15, delta=0.5)),
            ("corollary-17", "theorem-8", dict(gamma=0.3), dict(gamma=0.15))):
        assert exact(corollary, n=10, r=2.0, **cell) == pytest.approx(exact(theorem, n=10, **scaled))
    assert exact("lemma-23", n=6, r=2.0, h=1.5) == pytest.approx(exact("theorem-4", n=6, epsilon=0.25))
    assert exact("theorem-18", n=30, epsilon=0.2, delta=0.3) == pytest.approx(2 * tail(30, 0.1))
    assert exact("theorem-20", n=7, delta=0.5) == pytest.approx(
        exact("theorem-19", n=7, epsilon=0, delta=0.5))


@pytest.mark.parametrize("item, cell", [
    ("theorem-1", dict(n=10, epsilon=0.1, delta=0.5)), ("theorem-4", dict(n=3, epsilon=0.2)),
    ("theorem-6", dict(n=3072, epsilon=0.02, delta=2.0)), ("theorem-19", dict(n=5, epsilon=0.1, delta=0.5))])
def test_random_trials_agree_with_the_exact_value(item, cell):
    truth = float(exact(item, **cell))
    share = STATEMENTS[item].trials(draws=30_000, generator=rng(5), **cell).mean()
    assert abs(share - truth) < 4 * np.sqrt(truth * (1 - truth) / 30_000)


@pytest.mark.parametrize("n", [3, 30, 120])
def test_one_coordinate_stands_for_whole_vectors(n):
    draws, epsilon, delta, generator = 20_000, 0.1, 0.8, rng(n)
    label = generator.integers(0, 2, draws)
    x = sample_points(n, draws, generator)
    x[:, 0] += (2 * label - 1) * epsilon
    noisy = (x + sample_points(n, draws, generator, radius=delta))[:, 0]
    other = sample_coordinates(n, draws, generator)
    for events, truth in ((classify(x[:, 0]) != label, tail(n, epsilon)),
                          (classify(noisy) != label, np.exp(log_two_balls(n, epsilon, delta))),
                          (classify(strongest_attack(x[:, 0], label, 0.2)) == label, tail(n, 0.1)),
                          (other - sample_coordinates(n, draws, generator) > 0.1,
                           exact("theorem-8", n=n, gamma=0.1))):
        assert abs(events.mean() - truth) < 4 * np.sqrt(truth * (1 - truth) / draws)


def test_a_table_with_random_trials_and_a_chosen_grid():
    grid = {"n": (3, 30), "epsilon": (0.1,), "delta": (0.05, 1.0)}
    table = verify(STATEMENTS["theorem-1"], grid, draws=2000, generator=rng())
    assert table["n"].tolist() == [3, 30] and table["delta"].tolist() == [1.0, 1.0]
    truth = np.exp(table["log_exact"])
    assert ((table["low"] <= truth) & (truth <= table["high"])).all()


@pytest.mark.parametrize("item", STATEMENTS)
def test_the_wrong_formulas_that_pass_are_those_of_the_record(item):
    """Theorems 14 and 16 were recorded with random trials as well, on which more formulas differ."""
    tried = mutants(STATEMENTS[item], cases_of(item))
    caught = {mutant["change"]: mutant["caught"] for mutant in tried}
    recorded = {mutant["change"] for mutant in record.read("sutton", item)["data"]["missed"]}
    assert len(caught) >= 6 and {change for change in caught if not caught[change]} == recorded & set(caught)


def test_changes_that_cannot_be_refused_are_true():
    """Half of Theorem 6's factor; the exponent (n + 1) / 2 in Lemma 23; one cap in Theorem 8."""
    n, x = DIMENSIONS[:, None], np.linspace(0, 0.999, 300)
    assert (log_tail(n, x) <= np.log(0.5) + (n + 1) / 2 * np.log1p(-(x**2)) + 1e-8).all()
    epsilon, delta = np.linspace(0, 1, 21)[:, None], np.array([0.01, 0.3, 1.0, 5.0, 50.0])
    for d in (1, 3, 50, 3072):
        assert (log_two_balls(d, epsilon, delta) <= log_tail(d, epsilon / (1 + delta)) + 1e-8).all()


def test_points_in_two_opposite_slices_fail_once_in_four_times():
    n, gamma = 3, 0.3
    t = sample_coordinates(n, 400_000, np.random.default_rng(0))
    inside = np.abs(np.abs(t) - gamma) < gamma / 2
    x, z = np.resize(t[inside], (2, 100_000))
    assert np.mean(z - x > gamma) == pytest.approx(0.25, abs=0.01)
    case, = (c for c in cases(STATEMENTS["theorem-8"]) if c.name == "two opposite slices")
    there = (case.at["n"] == n) & (case.at["gamma"] == gamma)
    assert case.at["K"][there] == pytest.approx(1 / np.mean(inside), rel=0.01)


def test_wrong_formulas_are_the_function_with_one_number_changed():
    cell = dict(n=4.0, epsilon=0.6, delta=0.5)
    wrong = {words: np.exp(other.formula(**cell)) for words, other in wrong_formulas(STATEMENTS["theorem-6"])}
    x = 0.4
    expected = {"factor K halved": 0.5 * (1 - x**2) ** 2, "δ halved": (1 - (0.6 / 1.25) ** 2) ** 2,
                "1 before the square halved": (0.5 - x**2) ** 2, "2 of the square + ½": (1 - x**2.5) ** 2,
                "n/2 − ½": (1 - x**2) ** 1.5}
    assert len(wrong) == 14 and np.exp(theorem_6(**cell)) == pytest.approx((1 - x**2) ** 2)
    assert {words: wrong[words] for words in expected} == pytest.approx(expected, rel=1e-12)


def test_one_of_several_failures_without_cancellation():
    assert np.exp(_either(1, np.log(0.3), np.log(0.5))) == pytest.approx(0.65)
    np.testing.assert_allclose(_either(2, np.log([1e-150, 1e-250, 1e-3, 1.5])),
                               np.log([2e-150, 2e-250, 2e-3 - 1e-6, 1.0]), atol=1e-12)


# --- extremal examples: their truth, by trials and by hand ----------

def test_noise_under_a_cone():
    for n, depth, slope in ((20, 0.12, 0.4), (3072, 0.12, 0.1), (2, 0.3, 0.0)):
        u, rest = rng(n).standard_normal(40_000), rng(n + 1).chisquare(n - 1, 40_000)
        length = rng(n + 2).random(40_000) ** (1 / n) / np.sqrt(u**2 + rest)
        share = (u * length >= depth - slope * np.sqrt(rest) * length).mean()
        exact = np.exp(log_cone_flip(n, depth, slope))
        assert abs(share - exact) < 4 * np.sqrt(exact * (1 - exact) / 40_000)
    np.testing.assert_allclose(np.exp(log_cone_flip(20, 0.3, 0.0)), tail(20, 0.3), rtol=1e-10)


def test_facing_half_by_trials():
    facing = np.abs(sample_coordinates(10, 40_000, rng(2))) + sample_coordinates(10, 40_000, rng(3)) > 0.1
    case = next(c for c in cases(STATEMENTS["theorem-6"]) if c.name == "half ball facing the plane")
    at = (case.at["n"] == 10) & (case.at["epsilon"] == 0.1) & (case.at["delta"] == 1)
    exact = np.exp(case.log_low[at][0])
    assert abs(facing.mean() - exact) < 4 * np.sqrt(exact * (1 - exact) / len(facing))


@quick
@given(st.sampled_from(DIMENSIONS.tolist()), st.floats(0, 1), st.floats(0.01, 50), st.floats(0, 2),
       st.floats(1, 1e6))
def test_bounds_hold_are_monotone_and_grow_with_the_density(n, epsilon, delta, gamma, K):
    for item, values in (("theorem-4", dict(epsilon=epsilon)), ("theorem-8", dict(gamma=gamma)),
                         ("theorem-6", dict(epsilon=epsilon, delta=delta))):
        assert 0 <= exact(item, n=n, **values) <= bound(item, n=n, **values) + 1e-9 <= bound(
            item, n=n, K=K, **values) + 2e-9
    assert log_two_balls(n, epsilon, delta) >= log_two_balls(n, epsilon * 1.01 + 1e-6, delta) - 1e-8
    assert log_two_balls(n, epsilon, delta) <= log_two_balls(n, epsilon, delta * 1.01) + 1e-8


# --- curved surfaces ----------

SURFACES = [flat(), wedge(0.1), wedge(0.5), sine(0.05, 4.0), sine(0.2, 10.0)]


on_surfaces = pytest.mark.parametrize("surface", SURFACES, ids=lambda s: f"{s.name}-{s.lipschitz:g}")


@on_surfaces
def test_lemma_13_at_random_points(surface):
    ratio = trials.lipschitz_ratios(surface, 4000, rng())
    assert kappa(surface.lipschitz) - 1e-9 <= ratio.min() and ratio.max() <= 1 + 1e-12
    assert ratio.min() < kappa(surface.lipschitz) + 2e-3


@pytest.mark.parametrize("slope", [0.0, 0.1, 0.5])
def test_the_law_of_the_roof_is_that_of_its_points(slope):
    p, height = trials.sample_class0(4, 0.3, 20_000, rng(1))
    exact_law, sample = roof_law(4, 0.3, slope), sample_law(height, wedge(slope).height(p))
    for name, at in (("exceeds", 0.03), ("exceeds", 0.1), ("above", -0.2), ("below", -0.4)):
        truth, share = (float(np.exp(getattr(law, name)(np.array(at))).item()) for law in (exact_law, sample))
        assert abs(share - truth) <= 4 * np.sqrt(truth * (1 - truth) / len(p))


def test_distance_to_surfaces_solved_by_hand():
    assert trials.distance_to_surface(flat(), 3.0, -0.7) == pytest.approx(0.7)
    assert trials.distance_to_surface(wedge(1.0), 0.0, -2.0) == pytest.approx(np.sqrt(2))
    assert trials.distance_to_surface(wedge(2.0), 0.0, 1.5) == pytest.approx(1.5)  # from above: the ridge
    assert trials.distance_to_surface(sine(0.1, 5.0), 0.0, 0.0) == 0


@pytest.mark.parametrize("c, slope", [(0.3, -0.5), (0.3, 0.5), (-0.4, 0.7), (1.1, -1.0), (0, 0), (1.2, 0.1)])
def test_exact_roof_probability_in_the_plane(c, slope):
    def chord(b):
        edge = np.sqrt(1 - b * b)
        return max(0.0, edge - max(c + slope * b, -edge))

    area = 2 * integrate.quad(chord, 0, 1, limit=400, epsabs=1e-12)[0] / np.pi
    given = dict(n=2, eta=c, lipschitz=-slope) if slope <= 0 else dict(n=2, eta=0.5, lipschitz=slope)
    ours = (trials.log_roof_error(**given) if slope <= 0
            else trials.log_roof_resistance(**given, delta=(c + 0.5) * kappa(slope)))
    assert np.exp(ours) == pytest.approx(area, abs=1e-8)


@on_surfaces
def test_theorems_9_and_11_hold_exactly_for_the_law_of_a_sample(surface):
    for n, eta, delta in ((3, 0.3, 0.5), (100, 0.2, 0.4)):
        p, height = trials.sample_class0(n, eta, 3000, rng(n))
        law = sample_law(height, surface.height(p))
        wrong = trials.signed_height(surface, p, height) >= 0
        resists = ~wrong & (trials.distance_to_surface(surface, p, height) > delta)
        assert wrong.mean() <= bound("theorem-9", law=law) + 1e-12
        assert resists.mean() <= bound("theorem-11", law=law, delta=delta) + 1e-12
        if surface.name != "sine":      # the exact values under a roof are those of its points
            for events, item, norm in ((wrong, "theorem-9", {}), (resists, "theorem-11", {"delta": delta})):
                truth = exact(item, n=n, eta=eta, lipschitz=surface.lipschitz, **norm)
                assert abs(events.mean() - truth) < 4 * np.sqrt(truth * (1 - truth) / 3000) + 1e-9


@on_surfaces
def test_theorems_14_and_16_hold_in_random_trials(surface):
    n, eta, delta, gamma, slope = 100, 0.4, 0.5, 0.6, surface.lipschitz
    flips = trials.random_flip_trials(surface, n, eta, delta, 5000, rng(1)).sum()
    p, height = trials.sample_class0(n, eta, 20_000, rng(3))
    cell = dict(law=sample_law(height, surface.height(p)), lipschitz=slope, delta=delta)
    assert share_interval(int(flips), 5000)[0] <= bound("theorem-14", n=n, **cell)
    fails = trials.not_universal_trials(surface, n, eta, gamma, delta, 5000, rng(2), directions=51).sum()
    assert share_interval(int(fails), 5000)[0] <= bound("theorem-16", eta=eta, gamma=gamma, **cell)


def test_cap_of_theorem_14():
    """For one deep point and one tau, the bound is that of the cap at the lowest place outside the cone."""
    slope, tau, n = 0.5, 0.75, 3
    angle = np.linspace(0, np.pi, 200_001)      # noise of length 1, the apex of the cone at the height tau
    side, up = np.sin(angle), np.cos(angle)
    lowest = up[up >= tau - slope * side].min()
    deep = sample_law(np.array([-2.0]), np.zeros(1))
    assert theorem_14(n, slope, 1.0, law=deep, tau=np.array([[tau]])) == pytest.approx(
        theorem_1(n, lowest, 1.0), abs=1e-4)
    assert theorem_14(n, slope, 1.0, law=deep, tau=np.array([[slope]])) == pytest.approx(np.log(0.5))


# --- bad input ----------

@pytest.mark.parametrize("call, message", [
    (lambda: STATEMENTS["theorem-6"].log_bound(n=3, epsilon=2.1, delta=1), "_6 needs epsilon <= 1 . delta"),
    (lambda: STATEMENTS["theorem-8"].log_exact(n=3, gamma=2.1), "gamma <= 2"),
    (lambda: STATEMENTS["theorem-4"].log_bound(n=3, epsilon=0.1, K=0.5), "K >= 1"),
    (lambda: STATEMENTS["theorem-9"].log_bound(n=1, eta=0.1, lipschitz=0.1), "n >= 2")])
def test_bad_input_is_refused_in_one_clear_line(call, message):
    with pytest.raises(ValueError, match=message) as refusal:
        call()
    assert "\n" not in str(refusal.value)
