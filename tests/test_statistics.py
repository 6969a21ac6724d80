"""shared.statistics: against scipy's own, and against the definition of the interval."""
import numpy as np
import pytest
from scipy import stats

from shared.runtime import UserError
from shared.statistics import difference_interval, rank_correlations, rank_interval, share_interval


def test_rank_correlations_are_spearmans_with_ties_and_nan_for_a_constant_row():
    a, b = np.random.default_rng(0).normal(size=(2, 5, 12)).round(1)
    assert np.allclose(rank_correlations(a, b), [stats.spearmanr(x, y).statistic for x, y in zip(a, b)])
    assert np.isnan(rank_correlations(np.ones((1, 4)), np.arange(4.0)[None])).all()


def test_the_interval_of_a_rank_correlation_holds_the_true_one_in_19_of_20_samples():
    rng = np.random.default_rng(0)
    true = 6 / np.pi * np.arcsin(0.6 / 2)       # of a normal distribution with the correlation 0.6
    x = rng.normal(size=(4_000, 10))
    y = 0.6 * x + 0.8 * rng.normal(size=x.shape)
    inside = [low <= true <= high for low, high in (rank_interval(r, 10) for r in rank_correlations(x, y))]
    assert 0.94 < np.mean(inside) < 0.98


def test_the_interval_of_a_rank_correlation_at_its_ends():
    low, high = rank_interval(1.0, 10)
    assert (low, high) == (pytest.approx(0.963, abs=0.001), 1) and rank_interval(-1.0, 10) == (-1, -low)
    assert rank_interval(0.5, 3) == (-1, 1) and rank_interval(1.0, 4)[0] < 0
    low, high = rank_interval(-0.6, 10)
    assert (low, high) == pytest.approx((-0.905, 0.111), abs=0.001)


@pytest.mark.parametrize("hits", [1, 17, 49])
def test_the_interval_of_a_share_leaves_half_of_the_rest_on_either_side(hits):
    low, high = share_interval(hits, 50, confidence=0.9)
    assert stats.binom.sf(hits - 1, 50, low) == pytest.approx(0.05)
    assert stats.binom.cdf(hits, 50, high) == pytest.approx(0.05)


def test_the_interval_reaches_the_end_where_all_or_none_are_hits():
    assert share_interval(0, 9)[0] == 0 and share_interval(9, 9)[1] == 1


@pytest.mark.parametrize("hits, of", [(0, 0), (3, 2), (-1, 4)])
def test_a_share_of_no_cases_is_refused(hits, of):
    with pytest.raises(UserError, match=f"{hits} of {of} cases: a share needs"):
        share_interval(hits, of)


def test_the_interval_of_a_difference_excludes_0_where_the_sign_test_is_significant():
    for ups, downs in np.ndindex(14, 14):
        low, high = difference_interval(ups, downs, 30)
        assert -1 <= low <= (ups - downs) / 30 <= high <= 1
        significant = ups + downs and stats.binomtest(ups, ups + downs).pvalue <= 0.05
        assert (not low <= 0 <= high) == bool(significant)
    assert difference_interval(2, 9, 30) == pytest.approx([-v for v in difference_interval(9, 2, 30)[::-1]])


@pytest.mark.parametrize("moved, up", [(1, 0.5), (1, 0.9), (0.5, 0.5), (0.4, 0.8), (0.05, 0.7)])
def test_the_interval_of_a_difference_covers_it_in_95_of_100_samples(moved, up):
    cases = [(ups, m - ups) for m in range(25) for ups in range(m + 1)]
    covered = sum(stats.binom.pmf(sum(case), 24, moved) * stats.binom.pmf(case[0], sum(case), up)
                  for case in cases for low, high in [difference_interval(*case, 24)]
                  if low <= moved * (2 * up - 1) <= high)
    assert 0.95 <= covered <= 1 + 1e-9
