"""Every number that the papers measured, and what became of it: for the front page and its picture."""
from typing import NamedTuple

from report.comparison import is_number, printed_values


class Number(NamedTuple):
    """One published number, and the reproduced one."""
    paper: str
    item: str
    row: tuple            # values of the key columns of its row
    column: str
    published: float
    reproduced: float | None
    state: str            # one of MARKS, or of STATUSES, of `report.comparison`


def of(item, kept):
    """The `Number`s of an item; `kept` is its record, or None."""
    def reproduced(cell):
        """(reproduced, state) of a compared cell, or of none."""
        if cell is None or cell["status"] == "not measured" or cell["measured"] is None:
            return None, "not measured"
        return float(cell["measured"]), cell["status"] or cell["mark"]

    cells = {place(item, c): c for c in kept["cells"]} if kept else {}
    return [Number(item.paper, item.id, row, name, float(value), *reproduced(cells.get((row, name))))
            for name, key, value in printed_values(item) if is_number(value)
            for row in [tuple(key.values())]]


def place(item, cell):
    """(values of its row's key columns, column) of a compared cell; a record's file has them in any order."""
    return tuple(cell["row"][k] for k in item.keys if k in cell["row"]), cell["column"]
