"""The plot of published against reproduced numbers: the place of each point, and what stays out."""
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest

from report import scatter
from report.numbers import Number

NUMBERS = [Number("ren", "table-3", (), "x", *values) for values in [
    (1, 2, "≠"), (10, 9, "≈"), (100, 0, "?"), (0, 5, "≠"), (50, 49, "proxy"),
    (7, None, "not measured")]]


@pytest.fixture
def figure():
    figure = scatter.draw(NUMBERS, {"Ren": NUMBERS}, urls=lambda n: f"page-{n.published}.html")
    yield figure
    plt.close(figure)


def test_each_measured_number_is_a_point_and_a_zero_stands_at_the_edge(figure):
    left, right = figure.axes
    low, _ = left.get_xlim()
    points = np.concatenate([c.get_offsets() for c in left.collections if len(c.get_offsets()) > 1
                             or c.get_offsets().any()])
    expected = [(1, 2), (10, 9), (100, low), (low, 5), (50, 49)]
    assert all(np.isclose(points, point).all(axis=1).any() for point in expected)
    assert left.get_xlim() == left.get_ylim() and low < 1 and left.get_xlim()[1] > 100
    # Ratios: of what the paper measured, with a number other than zero: 2, 0.9 and 0.
    assert sum(bar.get_height() for bar in right.patches) == 3


def test_few_numbers_are_not_plotted():
    assert scatter.draw(NUMBERS[:scatter.FEWEST - 1] + NUMBERS[-1:], {"Ren": NUMBERS}) is None


def test_each_point_links_to_its_page(figure):
    figure.savefig(svg := io.StringIO(), format="svg")
    assert all(f'xlink:href="page-{n.published}.html"' in svg.getvalue() for n in NUMBERS[:-1])
