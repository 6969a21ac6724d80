"""Intervals of shares, differences and rank correlations."""
import torch

from shared import statistics
from tests.outputs.examples import seeded


def test_intervals(stored):
    counts = ((0, 10), (3, 12), (12, 12), (499, 500))
    moved = ((0, 0, 7), (5, 0, 20), (3, 9, 40), (1, 1, 2))
    ranks = ((-1.0, 10), (-0.13, 10), (0.5, 30), (1.0, 6), (0.9, 3))
    stored({"share": [statistics.share_interval(*case) for case in counts],
            "half": statistics.share_interval(3, 12, confidence=0.5),
            "difference": [statistics.difference_interval(*case) for case in moved],
            "rank": [statistics.rank_interval(*case) for case in ranks]})


def test_rank_correlations(stored):
    a, b = (torch.rand(6, 9, generator=seeded(name)).numpy() for name in ("first ranks", "second ranks"))
    b[0], a[1] = -a[0], 1.0     # opposite orders; a constant row
    b[2, :4] = b[2, 0]          # ties
    stored(statistics.rank_correlations(a, b))
