"""quadrature, sketches: hand-made values, agreement with the closed forms, curves over n."""
import matplotlib.pyplot as plt
import numpy as np
import pytest

from papers.sutton import sketches
from papers.sutton.sketches import inside, small
from papers.sutton.theory.ball import tail
from papers.sutton.theory.models import log_half_balls, log_two_balls
from papers.sutton.theory.quadrature import beyond_graph, cap_share, crossing


@pytest.mark.parametrize("n, x", [(1, 0.3), (2, 0.9), (3, 0.0), (100, 0.5), (3072, 0.1), (3072, 0.5),
                                  (200_000, 0.01), (200_000, 0.05)])
def test_integrated_caps_agree_with_the_law_of_scipy(n, x):
    assert cap_share(n, x) == pytest.approx(float(tail(n, x)), rel=1e-9)


def test_crossing_on_a_line_and_against_the_first_integrator():
    assert crossing(1, 0.5, 1.0) == pytest.approx(1.5**2 / 8, rel=1e-9)  # a triangle of the square of T and S
    for n, epsilon, delta in [(1, 0.1, 0.05), (2, 0.4, 1.0), (50, 0.1, 3.0), (3072, 0.05, 0.5)]:
        whole, half = log_two_balls(n, epsilon, delta), log_half_balls(n, epsilon, delta)
        assert crossing(n, epsilon, delta) == pytest.approx(np.exp(float(whole)), rel=1e-8)
        assert crossing(n, epsilon, delta, 0.0) == pytest.approx(np.exp(float(half)), rel=1e-8)


def test_the_share_beyond_a_graph_over_a_ball():
    assert beyond_graph(20, 0.3, lambda p: 0.0) == pytest.approx(float(tail(20, 0.3)), rel=1e-10)
    assert beyond_graph(2, 0.0, lambda p: p) == pytest.approx(0.25, rel=1e-8)  # a quarter of the disc


@pytest.fixture(scope="module")
def curve():
    return sketches.curve("theorem-4", dimensions=(1, 10, 100), trial_dimensions=(3, 30, 3000),
                          draws=4000, generator=np.random.default_rng(1), epsilon=0.3)


def test_a_curve_is_the_small_probability_even_where_the_statement_says_at_least(curve):
    np.testing.assert_allclose(curve["exact"], tail([1, 10, 100], 0.3), rtol=1e-12)
    np.testing.assert_allclose(curve["true"], tail([3, 30, 3000], 0.3), rtol=1e-9)
    assert (curve["bound"] >= curve["exact"]).all() and inside(curve) == 1
    assert inside({**curve, "true": curve["true"] + [0.2, 0, 0]}) == pytest.approx(2 / 3)


def test_trials_without_a_hit_get_no_mark(curve):
    figure = small({"a": curve}, "probability")
    ax, = figure.axes
    bars, = ax.collections
    assert [segment[0, 0] for segment in bars.get_segments()] == [3, 30]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    plt.close(figure)
