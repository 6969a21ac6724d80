"""A figure that moves without a kernel: sliders over a table of exact values, as one piece of HTML.

Everything is inside the piece (values, script, style): it works offline, in JupyterLab and in the book, in
light and dark mode, by mouse and keyboard. Nothing is computed in the browser but the place in the table.
"""
import json
from pathlib import Path
from string import Template

import numpy as np

_PAGE = Template((Path(__file__).with_suffix(".html")).read_text())


class Explorer:
    """Curves over the first axis of a table, and sliders for all axes.

    name    a word, unique on its page
    title   what the figure shows
    axes    {label: values}; values are numbers (a slider) or texts (a list to choose from); the first is the
            horizontal axis, logarithmic, and needs positive numbers
    curves  {label: log10 of a probability}, up to three arrays of the axes' shape; nan: no value; -inf: never
    Raises ValueError for an array of another shape.
    """

    def __init__(self, name, title, axes, curves):
        shape = tuple(len(values) for values in axes.values())
        if not 1 <= len(curves) <= 3:
            raise ValueError(f"{len(curves)} curves: an explorer shows one to three")
        for label, values in curves.items():
            if np.shape(values) != shape:
                raise ValueError(f"curve {label!r} has shape {np.shape(values)}; the axes make {shape}")
        self.name, self.title, self.axes, self.curves = name, title, axes, curves

    def _table(self):
        """The values as JSON: three decimals of the logarithm; None: no value; "never": probability 0."""
        def entry(value):
            return None if np.isnan(value) else "never" if np.isneginf(value) else round(float(value), 3)

        axes = [{"label": label, "values": list(values)} for label, values in self.axes.items()]
        curves = [{"label": label, "values": [entry(v) for v in np.ravel(values)]}
                  for label, values in self.curves.items()]
        return json.dumps({"axes": axes, "curves": curves}, separators=(",", ":"))

    def _repr_html_(self):
        return _PAGE.substitute(name=self.name, title=self.title, table=self._table())

    def __repr__(self):
        over = ", ".join(self.axes)
        return f"{self.title}: an interactive figure over {over}, shown in JupyterLab and in the book"
