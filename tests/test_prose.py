"""pages.sums: of nothing there is no value, and a sentence says so."""
import numpy as np
import pytest

from report import sums


def test_sums_of_results():
    assert sums.mean([1, 2, 6]) == 3 and sums.middle([5, 1, 2, 8]) == 3.5 and sums.share([True, False]) == 50
    assert sums.percent(1, 8) == 12.5 and sums.mean(np.array([1.0, 2.0])) == 1.5


@pytest.mark.parametrize("value", [sums.mean([]), sums.middle([]), sums.share([]), sums.percent(0, 0),
                                   sums.mean(np.array([])), float("nan")])
def test_of_nothing_there_is_no_value(value):
    assert sums.words(value) == "no value"


@pytest.mark.parametrize("value, unit, said", [(12.345, "%", "12.3%"), (0.16194, "", "0.162"), (3, "", "3"),
                                               (0.0, "%", "0%"), (100.0, "%", "100%")])
def test_words_have_three_digits(value, unit, said):
    assert sums.words(value, unit) == said
