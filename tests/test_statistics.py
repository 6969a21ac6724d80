"""shared.statistics: against scipy's own, and against the definition of the interval."""
import numpy as np
import pytest
from scipy import stats

from shared.runtime import UserError
from shared.statistics import rank_correlations, share_interval


def test_rank_correlations_are_spearmans_with_ties_and_nan_for_a_constant_row():
    a, b = np.random.default_rng(0).normal(size=(2, 5, 12)).round(1)
    assert np.allclose(rank_correlations(a, b), [stats.spearmanr(x, y).statistic for x, y in zip(a, b)])
    assert np.isnan(rank_correlations(np.ones((1, 4)), np.arange(4.0)[None])).all()


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
