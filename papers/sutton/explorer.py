"""A figure that moves without a kernel: sliders over a table of exact values, as one piece of HTML.

Everything is inside the piece (values, script, style): it works offline, in JupyterLab and in the book, in
light and dark mode, by mouse and keyboard. Nothing is computed in the browser but the place in the table.
"""
import json
from dataclasses import dataclass
from pathlib import Path
from string import Template

import numpy as np

from papers.sutton.theory import models
from papers.sutton.theory.statements import STATEMENTS

_PAGE = Template((Path(__file__).with_suffix(".html")).read_text(encoding="utf-8"))


@dataclass(repr=False)
class Explorer:
    """Curves over the first axis of a table, and sliders for all axes.

    name    a word, unique on its page
    title   what the figure shows
    axes    {label: values}; values are numbers (a slider) or texts (a list to choose from); the first is the
            horizontal axis, logarithmic, and needs positive numbers
    curves  {label: log10 of a probability}, up to three arrays of the axes' shape; nan: no value; -inf: never
    """
    name: str
    title: str
    axes: dict
    curves: dict

    def _repr_html_(self):
        axes = [{"label": label, "values": list(values)} for label, values in self.axes.items()]
        curves = [{"label": label, "values": np.round(values, 3).ravel().tolist()}
                  for label, values in self.curves.items()]      # as JavaScript reads them: NaN, -Infinity
        table = json.dumps({"axes": axes, "curves": curves}, separators=(",", ":"))
        return _PAGE.substitute(name=self.name, title=self.title, table=table)

    def __repr__(self):
        over = ", ".join(self.axes)
        return f"{self.title}: an interactive figure over {over}, shown in JupyterLab and in the book"


def noise():
    """Exact values and bounds of Theorems 6, 19 and 20 on a grid, as a figure with sliders."""
    ns = sorted({*np.geomspace(1, 200_000, 34).round().astype(int).tolist(), 784, 3072, 150_528})
    epsilons = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    deltas = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    n, e, d = np.meshgrid(np.array(ns, float), epsilons, deltas, indexing="ij")
    touch = np.where(e == 0, STATEMENTS["theorem-20"].log_bound(n=n, delta=d), np.nan)
    balls = STATEMENTS["theorem-6"].log_bound(n=n, epsilon=e, delta=d)
    halves = STATEMENTS["theorem-19"].log_bound(n=n, epsilon=np.minimum(e, d), delta=d)
    curves = {"exact probability": (models.log_two_balls(n, e, d), models.log_half_balls(n, e, d)),
              "upper bound (Theorem 6 or 19)": (balls, np.where(e <= d, halves, -np.inf)),
              "lower bound (Theorem 20, ε = 0)": (np.full(n.shape, np.nan), touch)}
    return Explorer(
        "noise", "Does noise change the label?",
        {"dimension n": ns, "distance ε": epsilons, "noise δ": deltas, "model": ["two balls", "half-balls"]},
        {label: np.stack(values, axis=-1) / np.log(10) for label, values in curves.items()})
