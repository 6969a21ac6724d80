"""A measured value with its range, its sample size and its status: in a table's row or a figure's data."""
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Cell:
    """A value of a row, or of a figure's data; a bare value stands for `Cell(value)`.

    value      what was measured; None where there is no value
    sd, n      standard deviation over networks, and the number of networks, where it is their mean
    of, hits   the number of images that a share is one of, and how many of them count
    low, high  its range: the 95% interval over images, or lowest and highest over what `over` names
    over       "trainings" or "networks" (`n` of them), or "settings"; None: images
    status     "proxy: why", "fitted: why", "unnamed image: why" or "not measured: why"
    """
    value: object = None
    sd: float | None = None
    n: int | None = None
    of: int | None = None
    low: float | None = None
    high: float | None = None
    hits: int | None = None
    over: str | None = None
    status: str | None = None

    def as_json(self):
        """The value and the other fields that are set, as a record's file has them."""
        return {"value": self.value} | {
            k: v for k, v in vars(self).items() if v is not None}


def as_cell(value):
    """A value of a row as a `Cell`."""
    return value if isinstance(value, Cell) else Cell(value)


def bare(measured):
    """Rows, data or a part of them with the value of each `Cell` in its place."""
    if isinstance(measured, Cell):
        return measured.value
    if isinstance(measured, pd.DataFrame):
        return measured.map(bare)
    if isinstance(measured, dict):
        return {k: bare(v) for k, v in measured.items()}
    return [bare(v) for v in measured] if isinstance(measured, list) else measured


def restored(measured):
    """Rows or data of a record's file with `Cell`s in place of the dicts that `as_json` gave.

    A row is never a `Cell`, though it may have a column `value`: only what it holds can be one.
    """
    if isinstance(measured, list):
        return [restored(row) for row in measured]
    return {k: _restored(v) for k, v in measured.items()} if isinstance(measured, dict) else measured


def _restored(value):
    if isinstance(value, dict) and "value" in value and value.keys() <= vars(Cell()).keys():
        return Cell(**value)
    return restored(value)
