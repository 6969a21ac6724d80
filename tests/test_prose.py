"""report.prose: of nothing there is no value, and a sentence says so."""
import numpy as np
import pytest

from report import prose
from report.cell import Cell
from shared.runtime import UserError


def test_sums_of_results():
    assert prose.mean([1, 2, 6]) == 3 and prose.median([5, 1, 2, 8]) == 3.5
    assert prose.share([True, False]) == 50 and prose.percent(1, 8) == 12.5
    assert prose.mean(np.array([1.0, 2.0])) == 1.5


@pytest.mark.parametrize("value", [prose.mean([]), prose.median([]), prose.share([]), prose.percent(0, 0),
                                   prose.mean(np.array([])), float("nan")])
def test_of_nothing_there_is_no_value(value):
    assert prose.words(value) == "no value"


@pytest.mark.parametrize("value, unit, text", [(12.345, "%", "12.3%"), (0.16194, "", "0.162"), (3, "", "3"),
                                               (0.0, "%", "0%"), (100.0, "%", "100%")])
def test_words_have_three_digits(value, unit, text):
    assert prose.words(value, unit) == text


def test_a_fact_that_is_missing_is_told_apart_from_a_name_that_is_none():
    c = prose.Facts({"near": {"rate": Cell(0.5, of=8), "sd": float("nan")}, "far": None})
    assert c.near.rate.value == 0.5 and c.near.rate.of == 8 and "near" in c and "far" not in c
    for read in (lambda: c.far, lambda: c.far.rate, lambda: c.near.sd, lambda: c.near.rate.low):
        with pytest.raises(prose.NoValue, match="no value"):
            read()
    for read in (lambda: c.fra, lambda: c.near.rat, lambda: "fra" in c, lambda: prose.fill("{near.rat}", {
            "near": {"rate": 1}})):
        with pytest.raises(UserError, match="no '.*' there; there are: "):
            read()
    assert prose.fill("{near.rate.value:%} of {far.rate}", {"near": {"rate": Cell(50.0)}, "far": None}) == (
        "50% of no value")
