"""The picture of published against reproduced numbers: each point where it belongs, and what stays out."""
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest

from report import scatter
from report.numbers import Number


def number(published, ours, state="differs"):
    return Number("ren", "table-3", (), "x", published, ours, state)


SOME = [number(1, 2), number(10, 9, "agrees"), number(100, 0), number(0, 5), number(50, 49, "proxy"),
        number(7, None, "not measured")]


@pytest.fixture
def drawn():
    made = []
    yield lambda *args, **options: made.append(scatter.draw(*args, **options)) or made[-1]
    for figure in made:
        plt.close(figure)


def test_each_measured_number_is_a_point_and_a_zero_stands_at_the_edge(drawn):
    left, right = drawn(SOME, {"Ren": SOME}).axes
    low, _ = left.get_xlim()
    points = np.concatenate([c.get_offsets() for c in left.collections if len(c.get_offsets()) > 1
                             or c.get_offsets().any()])
    wanted = {(1, 2), (10, 9), (100, low), (low, 5), (50, 49)}
    assert {tuple(p) for p in points.round(9).tolist()} >= {tuple(np.round(w, 9).tolist()) for w in wanted}
    assert left.get_xlim() == left.get_ylim() and low < 1 and left.get_xlim()[1] > 100
    # Ratios: of what the paper measured, with a number other than zero: 2, 0.9 and 0.
    assert sum(bar.get_height() for bar in right.patches) == 3


def test_few_numbers_are_no_picture():
    assert scatter.draw(SOME[:scatter.FEWEST - 1] + SOME[-1:], {"Ren": SOME}) is None


def test_points_lead_where_they_are_told(drawn):
    figure, out = drawn(SOME, {"Ren": SOME}, urls=lambda n: f"page-{n.published}.html"), io.StringIO()
    figure.savefig(out, format="svg")
    assert all(f'xlink:href="page-{n.published}.html"' in out.getvalue() for n in SOME[:-1])
