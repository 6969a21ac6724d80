"""Results of an item as one tidy table: a row a number."""
import pandas as pd

from report import comparison

# What stands beside a value, as `<column>_n`.
BESIDE = ("sd", "n", "of", "low", "high", "status", "settled", "hits")
COLUMNS = ("item", "row", "column", "value", "n", "low", "high", "published")


def rows(item, record):
    """`[{column: value}]` of the rows or data of a record of the printed `item`; see COLUMNS.

    row   key columns in words, such as "dataset=MNIST, model=LeNet"; empty for a figure's data
    n     images or networks that the value rests on; low, high: its 95% interval
    """
    printed = {(tuple(row.get(k) for k in item.keys), name): value
               for row in item.rows for name, value in comparison.flat(row).items()}
    printed |= {((), name): value for name, value in item.printed_numbers.items()}
    found = []
    for row in record.get("rows") or []:
        key = tuple(row.get(k) for k in item.keys)
        words = ", ".join(f"{k}={v}" for k, v in zip(item.keys, key) if v is not None)
        found += _values(item, words, key, {k: v for k, v in row.items() if k not in item.keys}, printed)
    return found + _values(item, "", (), record.get("data") or {}, printed)


def _values(item, words, key, mine, printed):
    mine = comparison.flat(mine)
    names = [n for n in mine if not (n.rpartition("_")[2] in BESIDE and n.rpartition("_")[0] in mine)]
    return [{"item": item.id, "row": words, "column": name, "value": mine[name],
             "n": mine.get(f"{name}_of", mine.get(f"{name}_n")), "low": mine.get(f"{name}_low"),
             "high": mine.get(f"{name}_high"), "published": printed.get((key, name))}
            for name in names if comparison.is_number(mine[name])]


def frame(rows_):
    """A DataFrame of such rows."""
    more = [k for k in (rows_[0] if rows_ else ()) if k not in COLUMNS]
    return pd.DataFrame(rows_, columns=[*COLUMNS, *more])
