"""Runs and results as tidy frames: a row an image, pair or network; a row a number."""
import numpy as np
import pandas as pd

from report import comparison
from report.cell import as_cell
from shared.runtime import UserError

MIME = "application/vnd.boundary-book+json"     # of the output of a cell that holds a result
COLUMNS = ("item", "row", "column", "value", "n", "low", "high", "published", "source")


def unnest(runs, *lists):
    """A row for each image (or pair, network ...) of the runs, from results that are lists.

    runs   a DataFrame with a row a run
    lists   the columns of lists that belong together, of one length in a run; None take all lists. They give
            one value a row, with `place` in the list (from 0); what is no list is repeated
    Raises UserError naming lists of different lengths.
    """
    rows = []
    for run in runs.to_dict("records"):
        listed = {k: v for k, v in run.items() if isinstance(v, list | np.ndarray)}
        laid = {k: run[k] for k in lists} if lists else listed
        if len({len(v) for v in laid.values()}) > 1:
            lengths = ", ".join(f"{k} {len(v)}" for k, v in laid.items())
            raise UserError(f"run {run['run']}: lists of different lengths ({lengths}); "
                            "name those that belong together")
        rest = {k: v for k, v in run.items() if k not in listed}
        rows += [rest | {"place": n} | dict(zip(laid, values))
                 for n, values in enumerate(zip(*laid.values()))]
    return pd.DataFrame(rows, columns=None if rows else [*dict.fromkeys([*runs, "place", *lists])])


def rows(item, record, source=""):
    """`[{column: value}]` of the rows or data of a record of the printed `item`; see COLUMNS.

    row        key columns in words, such as "dataset=MNIST, model=LeNet"; empty for a figure's data
    n          images or networks that the value rests on; low, high: its 95% interval
    published  the printed value; none for a value on embedded sample data
    source     where the values come from, in words
    """
    printed = {} if record["scale"]["proxies"] else _printed(item)

    def values(key, measured):
        words = ", ".join(f"{k}={v}" for k, v in zip(item.keys, key) if v is not None)
        cells = {name: as_cell(value) for name, value in comparison.flat(measured).items()}
        return [{"item": item.id, "row": words, "column": name, "value": cell.value,
                 "n": cell.n if cell.of is None else cell.of, "low": cell.low, "high": cell.high,
                 "published": printed.get((key, name)), "source": source}
                for name, cell in cells.items() if comparison.is_number(cell.value)]

    lines = [line for row in record.get("rows") or [] for line in values(
        tuple(row.get(k) for k in item.keys), {k: v for k, v in row.items() if k not in item.keys})]
    return lines + values((), record.get("data") or {})


def _printed(item):
    """`{(key of the row, column): printed value}` of an item."""
    printed = {(tuple(row.get(k) for k in item.keys), name): value
               for row in item.rows for name, value in comparison.flat(row).items()}
    return printed | {((), name): value for name, value in item.printed_numbers.items()}


def frame(rows_):
    """A DataFrame of such rows."""
    more = [k for k in (rows_[0] if rows_ else ()) if k not in COLUMNS]
    return pd.DataFrame(rows_, columns=[*COLUMNS, *more])
