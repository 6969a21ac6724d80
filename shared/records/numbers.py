"""Every number that the papers measured, and what became of it: for the front page and pictures of tables."""
import math
from collections import Counter
from typing import NamedTuple

from shared.records import record
from shared.records.comparison import CANNOT_TELL, is_number, printed_values

# What becomes of a published number. Of these the first three were measured as the paper did.
STATES = {"agrees": "agree", "differs": "differ", CANNOT_TELL: "are undecided: our interval is too wide",
          "proxy": "rest on a proxy", "fitted": "are fitted", "not measured": "are not measured yet"}
COMPARED = ("agrees", "differs", CANNOT_TELL)
NEAR = {"5%": 0.05, "25%": 0.25, "a factor of 2": None}


class Number(NamedTuple):
    """One published number, and the one of ours beside it."""
    paper: str
    item: str
    row: tuple            # values of the key columns of its row
    column: str
    published: float
    reproduced: float | None
    state: str            # one of `STATES`


def of(item, kept):
    """The `Number`s of an item; `kept` is its record, or None."""
    def found(cell):
        """(reproduced, state) of a compared cell, or of none."""
        if cell is None or cell["status"] == "not run" or cell["measured"] is None:
            return None, "not measured"
        return float(cell["measured"]), cell["status"] or ("agrees" if cell["agrees"] else "differs")

    cells = {place(item, c): c for c in kept["cells"]} if kept else {}
    return [Number(item.paper, item.id, row, name, float(value), *found(cells.get((row, name))))
            for name, key, value in printed_values(item) if is_number(value)
            for row in [tuple(key.values())]]


def place(item, cell):
    """(values of its row's key columns, column) of a compared cell; a record's file has them in any order."""
    return tuple(cell["row"][k] for k in item.keys if k in cell["row"]), cell["column"]


def every():
    """The `Number`s of all measured items; those that an item shows again count once, where they stand first.

    What tables of layers and lists of classes say is not measured.
    """
    return [n for item, kept in record.everything() if item.sort == "measured" and not item.view_of
            for n in of(item, kept)]


def states(numbers):
    """`{state: how many}`, in the order of `STATES`."""
    counted = Counter(n.state for n in numbers)
    return {state: counted[state] for state in STATES}


def compared(numbers):
    """Those that were measured as the paper did."""
    return [n for n in numbers if n.state in COMPARED]


def near(numbers):
    """`{how near: share}` of the compared numbers within 5%, 25% and a factor of 2 of the published ones."""
    found = compared(numbers)

    def within(n, slack):
        if n.published == 0 or n.reproduced == 0:
            return n.published == n.reproduced
        ratio = n.reproduced / n.published
        return 0.5 <= ratio <= 2 if slack is None else math.isclose(ratio, 1, rel_tol=0, abs_tol=slack)

    return {name: sum(within(n, slack) for n in found) / len(found) for name, slack in NEAR.items()
            } if found else {}
