"""Measured values compared with printed ones: near, different or open (book/protocol.md).

A mark is decided by what the cell shows: the value and its range.
"""
import math
import numbers
import statistics
from dataclasses import replace
from decimal import Decimal

from report.cell import Cell, as_cell, bare
from shared import runtime
from shared.statistics import share_interval

NEAR, OPEN, DIFFERS = MARKS = "≈", "?", "≠"
STATUSES = ("proxy", "fitted", "unnamed image", "not measured")
TENTH = 0.1         # of the published number: so far ours may lie from it and be near
POINT = 0.01        # of a share's whole, which may lie between near shares, too
ALIKE = 0.02        # may lie between near similarities and correlations
CONFIDENCE = 0.95   # of the interval of a share of images, and of that of a bias over rows
LEAST = 5           # fewer trainings than this give no range
ROWS = 8            # fewer like rows than this give no bias
WHOLE = {"%": 100, "fraction": 1, "misclassification rate (0-1)": 1}    # of a share, by its column's unit
# Key columns that name what is measured in a row: rows that differ in these are not alike.
QUANTITIES = ("quantity", "delta_inferred", "norm", "split", "dataset")


# ---- single values ---------------------------------------------------------------------------------------
def decimals(value, column=None):
    """Printed decimals of a number: those its column states, else those the number itself shows.

    Where the decimals of a column vary, a whole number among broken ones (a rate of 1 next to 0.925) is taken
    to be printed as finely as the coarsest of these, not to the unit: the column's `least_decimals`.
    """
    column = column or {}
    if column.get("decimals") is not None:
        return column["decimals"]
    return max(_shown(value), column.get("least_decimals", 0))


def _shown(value):
    if not is_number(value):
        return 0
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -exponent)


def over_trainings(value, others, *, over="trainings", whole=1):
    """A value of one network with its range over trainings; itself where there are fewer than five.

    others  the same of further trainings of this network on these data
    whole   see `ends`; where the value has an interval over images, too, the wider one counts
    """
    cell = as_cell(value)
    alike = [v for v in bare([cell, *others]) if v is not None and math.isfinite(v)]
    if len(alike) < LEAST or cell.value is None or not math.isfinite(cell.value):
        return value
    return wider(cell, min(alike), max(alike), over, len(alike), whole=whole)


def over_alike(rows, trained, keys, columns, *, whole=1):
    """Rows whose values in some columns have the range over those of further trainings with the same keys.

    trained  rows of further trainings, each with these keys and columns;  whole: see `ends`
    """
    by_key = {}
    for row in trained:
        by_key.setdefault(tuple(row.get(k) for k in keys), []).append(row)
    return [row | {name: over_trainings(
        row[name], [other[name] for other in by_key.get(tuple(row.get(k) for k in keys), ())], whole=whole)
                   for name in columns if name in row} for row in rows]


def wider(cell, low, high, over, n=None, *, whole=1):
    """A `Cell` with the range `low` to `high` over `n` of something, if it is wider than the one it has."""
    has = _ends(cell, whole)
    if has and has[1] - has[0] >= high - low:
        return cell
    return replace(cell, low=low, high=high, over=over, n=n)


def _ends(cell, whole):
    if cell.low is None and cell.of and whole:
        low, high = share_interval(round(cell.of * cell.value / whole), cell.of, confidence=CONFIDENCE)
        return whole * low, whole * high
    return None if cell.low is None else (cell.low, cell.high)


def ends(cell, whole=None):
    """`(low, high, decimals)` of a value's range, rounded to two digits of its width; or None.

    whole  what a share is of, 1 or 100, whose images `of` give its 95% interval; None: the value is no share
    """
    if cell.value is None or (range_ := _ends(cell, whole)) is None:
        return None
    low, high = range_
    width = high - low if high > low else abs(high) or 1
    places = max(0, 1 - math.floor(math.log10(width) + 1e-9))
    return round(low, places), round(high, places), places


def whole_of(name, column=None):
    """What a share of a column is of: 1 or 100; None of what is no share."""
    return WHOLE.get((column or {}).get("unit")) or (100 if name.endswith("_pct") else None)


def near(ours, printed, name="", column=None, *, places=None):
    """Whether two numbers are near each other, of the column `name`; see step 1 of the protocol.

    places  decimals of the printed number: what rounds to it is near; None leaves this out
    """
    if whole := whole_of(name, column):
        limit = max(POINT * whole, TENTH * min(printed, whole - printed))
    elif "ssim" in name or (column or {}).get("unit") == "Pearson r":
        limit = ALIKE
    else:
        limit = TENTH * abs(printed)
    rounding = 0 if places is None else 0.5 * 10.0 ** -places
    return abs(ours - printed) <= max(limit, rounding) * (1 + 1e-9)


def mark(cell, printed, name="", column=None, *, places=None):
    """One of `MARKS`: of a `Cell` compared with the printed number."""
    if not math.isfinite(cell.value):
        return OPEN
    if near(cell.value, printed, name, column, places=places):
        return NEAR
    shown = ends(cell, whole_of(name, column))
    return OPEN if shown is None or shown[0] <= printed <= shown[1] else DIFFERS


def chance(cell, whole=None):
    """The probability that one more value lies outside a value's range; None where it is unknown."""
    if ends(cell, whole) is None or cell.over == "settings":
        return None
    return 2 / (cell.n + 1) if cell.over else 1 - CONFIDENCE


def mean_and_half(numbers):
    """The mean of two numbers or more, and half the width of its interval (Student's t)."""
    from scipy.stats import sem, t
    numbers = list(map(float, numbers))
    return statistics.fmean(numbers), float(t.ppf((1 + CONFIDENCE) / 2, len(numbers) - 1) * sem(numbers))


# ---- tables as a whole -----------------------------------------------------------------------------------
def alike(cell):
    """What a compared cell has in common with like rows: its column, and values of QUANTITIES."""
    return cell["column"], *(str(cell["row"][k]) for k in QUANTITIES if cell["row"].get(k) is not None)


def biases(item, cells):
    """The bias of each column with eight or more like rows that have a mark: a list of dicts.

    `of` (column, and values of QUANTITIES), `rows`, `difference` (mean of ours minus published) with its 95%
    interval over rows `low`, `high`, `absolute` (mean absolute difference), `rank` (rank correlation, None
    where a column is constant), `apart`: whether the interval excludes 0 and the means are not near.
    """
    from scipy.stats import spearmanr
    columns = {}
    for c in cells:
        if c["mark"] and is_number(c["printed"]) and is_number(c["measured"]):
            columns.setdefault(alike(c), []).append((c["measured"], c["printed"]))
    hit = []
    for (name, *what), pairs in columns.items():
        if len(pairs) < ROWS:
            continue
        ours, printed = zip(*pairs)
        gaps = [a - b for a, b in pairs]
        mean, half = mean_and_half(gaps)
        constant = len(set(ours)) == 1 or len(set(printed)) == 1
        means = statistics.fmean(ours), statistics.fmean(printed)
        hit.append({"of": [name, *what], "rows": len(pairs), "difference": mean, "low": mean - half,
                    "high": mean + half, "absolute": statistics.fmean(map(abs, gaps)),
                    "rank": None if constant else float(spearmanr(ours, printed).statistic),
                    "apart": abs(mean) > half and not near(*means, name, item.columns.get(name))})
    return hit


def printed_values(item):
    """Every value a table or figure prints: yields (name, {key: value} of its row, value), in their order."""
    for row in item.rows:
        key = {k: row[k] for k in item.keys}
        for name, value in flat({v: row.get(v) for v in item.values}).items():
            yield name, key, value
    for name, value in item.printed_numbers.items():
        yield name, {}, value


def comparable(printed):
    """Whether a printed value can be compared with a measured one."""
    return printed is not None and not isinstance(printed, list)


# ---- tables and figures ----------------------------------------------------------------------------------
def compare(item, rows):
    """Printed values of a table compared with the measured ones, in the paper's order.

    rows        a DataFrame or dicts, one a printed row: the item's key columns, and measured values under the
                printed names (a part of a printed cell under `column.part`, or nested as printed), bare or
                as `Cell`s; a `status` holds for all values of its row. None, NaN: no value
    Returns dicts: `row` {key: value}, `column`, `printed`, `measured`, `low` and `high` (its range,
    or None), `chance` (see `chance`), `mark` (one of MARKS, None where there is a status), `status`
    (or None), `why` (of a status).
    Raises UserError for rows without keys or twice there, a strange status, text for a number.
    """
    measured = {}
    for row in rows.to_dict("records") if hasattr(rows, "to_dict") else rows:
        if missing := [k for k in item.keys if k not in row]:
            raise runtime.UserError(f"{item.title}: a row lacks {missing[0]!r}; its rows are told apart by "
                                    f"{', '.join(item.keys)}")
        key = tuple(_plain(row[k]) for k in item.keys)
        if key in measured:
            words = ", ".join(f"{k} {v}" for k, v in zip(item.keys, key))
            raise runtime.UserError(f"{item.title}: two rows for {words}; give one a printed row")
        measured[key] = flat(row)
    cells = []
    for row in item.rows:
        key = tuple(row[k] for k in item.keys)
        if key in measured:
            for name, printed in flat({v: row.get(v) for v in item.values}).items():
                column = item.columns.get(name.split(".")[0])
                places = decimals(printed, column) if is_number(printed) else 0
                cells += _cell(item, dict(zip(item.keys, key)), name, printed, places, measured[key])
    return cells


def compare_numbers(item, data):
    """Cells of a figure's or method's printed numbers that `data` holds under the same names."""
    data = flat(dict(data))
    return [cell for name, printed in item.printed_numbers.items()
            for cell in _cell(item, {}, name, printed, _shown(printed), data)]


def _cell(item, key, name, printed, places, row):
    """The one cell of a printed value, or none where there is nothing to compare."""
    where = ", ".join([item.title, *(str(v) for v in key.values() if v is not None), name])
    cell = as_cell(row.get(name))
    word, why = status(cell.status or row.get("status"), where)
    if not comparable(printed) or (cell.value is None and word != "not measured"):
        return []
    column = item.columns.get(name.split(".")[0])
    whole = whole_of(name, column)
    compared = {"row": key, "column": name, "printed": printed, "measured": cell.value, "low": None,
                "high": None, "chance": None, "mark": None, "status": word, "why": why}
    if cell.of and not whole:
        raise runtime.UserError(f"{where}: a number of images (`of`) is given for what is no share; "
                                "leave it out, or state the column's unit in the reference")
    if word == "not measured":
        return [compared | {"measured": None}]
    if not (is_number(printed) and is_number(cell.value)):
        if type(printed) is not type(cell.value):
            raise runtime.UserError(f"{where}: {cell.value!r} was measured where the paper prints "
                                    f"{printed!r}; give a value of the same kind")
        return [compared | {"mark": None if word else NEAR if printed == cell.value else DIFFERS}]
    if item.sort == "descriptive":      # what a network was built from is the same or not
        sign = NEAR if round(cell.value, places) == round(printed, places) else DIFFERS
    else:
        sign = mark(cell, printed, name, column, places=places)
    compared["mark"] = None if word else sign
    if not math.isfinite(cell.value):   # a record holds no infinity
        return [compared | {"measured": None}]
    low, high, _ = ends(cell, whole) or (None,) * 3
    return [compared | {"low": low, "high": high, "chance": chance(cell, whole)}]


def status(text, where):
    """(word, why) of a status such as "proxy: digits in place of MNIST"; (None, None) of none."""
    if text is None:
        return None, None
    word, _, why = (part.strip() for part in str(text).partition(":"))
    if word not in STATUSES or not why:
        raise runtime.UserError(f"{where}: status {text!r} is unknown; allowed: "
                                f"{', '.join(f'{s}: <why>' for s in STATUSES)}")
    return word, why


# ---- plain values ----------------------------------------------------------------------------------------
def _plain(value):
    """A value as Python has it, not NumPy; what a DataFrame turned into NaN is None again."""
    if isinstance(value, Cell):
        return Cell(**{k: _plain(v) for k, v in vars(value).items()})
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value


def flat(row, prefix=""):
    """Nested dicts as `{"outer.inner": value}`."""
    parts = {}
    for k, v in row.items():
        if isinstance(v, dict):
            parts |= flat(v, f"{prefix}{k}.")
        else:
            parts[f"{prefix}{k}"] = _plain(v)
    return parts


def is_number(value):
    """Whether a value is a number; True and False are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
