"""Measured values beside printed ones: which agree, and in which of the ways that count.

A value agrees by *printed precision* (half a unit of the last printed decimal), or because the paper's single
run lies in the *interval* in which a single new net would fall, estimated from several of ours. The two are
told apart wherever they are counted. A value of one net that has such an interval of its own
(`Cell.within`) agrees by this alone.

A share of some of the images has a sampling error of its own: where the printed value lies inside it, the two
neither agree nor differ.
"""
import math
import numbers
import statistics
from dataclasses import dataclass, replace
from decimal import Decimal

from report.cell import Cell, as_cell, values
from shared import runtime
from shared.statistics import share_interval

PRECISION, INTERVAL = "printed precision", "interval"
SAMPLING = "sampling error"
CANNOT_TELL = "cannot tell"
STATUSES = ("proxy", "fitted", CANNOT_TELL, "not measured")
WIDE = 0.25        # share of its scale that an interval covers inside which agreement tells nothing
CONFIDENCE = 0.99  # of the interval for a single new net, and of that of a share of images
LEAST = 5          # fewer nets than this give no interval


# ---- single values ---------------------------------------------------------------------------------------
def decimals(value, column=None):
    """Printed decimals of a number: those its column states, else those the number itself shows.

    Where the decimals of a column vary, a whole number beside broken ones (a rate of 1 beside 0.925) is taken
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


def half_width(sd, n, *, single=False):
    """Half the width of the 99% prediction interval for one new net, from the SD over n, or None.

    None below five: t quantile times SD times sqrt(1 + 1/n) is too wide then to tell anything apart.

    single   around the value of one of them, instead of their mean: sqrt(2) in place of sqrt(1 + 1/n)
    """
    if sd is None or n is None or n < LEAST or not math.isfinite(sd):
        return None
    from scipy.stats import t
    return float(t.ppf((1 + CONFIDENCE) / 2, n - 1) * sd * math.sqrt(2 if single else 1 + 1 / n))


def another(like):
    """The 99% prediction interval `(low, high)` for one more value like these; None where they tell of none.

    That is of fewer than five, or where all are equal.
    """
    width = _spread(like)
    return width and (statistics.fmean(like) - width, statistics.fmean(like) + width)


def retrained(value, others, *, share):
    """A value of one network with the 99% interval for another training; itself where `others` tell none.

    others  the same of several trainings of one network like it
    share   whether trainings differ by points, whatever the value, or else in proportion to it
    """
    cell, others = as_cell(value), [v for v in values(others) if v is not None and math.isfinite(v)]
    width = _spread(others, single=True)
    if cell.value is None or not math.isfinite(cell.value) or not width or not (
            mean := 1 if share else abs(statistics.fmean(others))):
        return value
    width *= 1 if share else abs(cell.value) / mean
    return replace(cell, within=(cell.value - width, cell.value + width))


def _spread(like, **which):
    """`half_width` of several values; None where they have none, or none but 0."""
    return (half_width(statistics.stdev(like), len(like), **which) or None) if len(like) >= LEAST else None


def agreement(printed, cell, places):
    """The `(way, ends)` of the first interval in which a measured number agrees with the printed one.

    `(None, None)` where none does.
    """
    half, width = 0.5 * 10.0 ** -places, half_width(cell.sd, cell.n)
    ways = [(PRECISION, cell.value - half, cell.value + half)]
    if cell.within is not None:     # a value of one net may be the printed one by chance
        ways = [(INTERVAL, cell.within[0] - half, cell.within[1] + half)]
    elif width is not None:
        ways += [(INTERVAL, cell.value - width, cell.value + width)]
    for way, low, high in ways:
        slack = 1e-9 * (high - low)     # a sum in floats may end just outside
        if low - slack <= printed <= high + slack:
            return way, (low, high)
    return None, None


def sampled(measured, of, whole):
    """The exact 99% interval (Clopper and Pearson) of a share of `of` images, scale 0 to `whole`."""
    low, high = share_interval(round(of * measured / whole), of, confidence=CONFIDENCE)
    return whole * low, whole * high


@dataclass(frozen=True)
class Scale:
    """How long the range of a quantity is: of what it can be, else of what an item publishes of it."""
    length: float
    possible: tuple = (-math.inf, math.inf)

    def covered(self, low, high):
        """The share of the scale that the possible part of an interval covers."""
        low, high = max(low, self.possible[0]), min(high, self.possible[1])
        return max(0.0, high - low) / self.length if self.length else math.inf


# Quantities with ends of their own, by what the reference says of a column's unit or by a part of its name.
ENDS = {"%": (0, 100), "_pct": (0, 100), "fraction": (0, 1), "misclassification rate (0-1)": (0, 1),
        "_ssim": (0, 1), "Pearson r": (-1, 1)}
QUANTITIES = ("quantity", "norm")  # columns that say what is measured in a row


def scale_of(item, name, row=()):
    """The `Scale` of a printed number of an item: column or name, and the row that says what it measures."""
    column, row = item.columns.get(name.split(".")[0]), dict(row)
    asked = (column or {}).get("unit") or ""
    if not name.endswith("std"):    # a standard deviation has the scale of what is published of it
        for part, ends in ENDS.items():
            if part == asked or part in f"_{name}":
                return Scale(ends[1] - ends[0], ends)
    same = [value for other, key, value in printed_values(item)
            if is_number(value) and unit(other, item.columns.get(other.split(".")[0])) == unit(name, column)
            and all(key.get(k) == row.get(k) for k in QUANTITIES)]
    possible = (0 if min(same, default=0) >= 0 else -math.inf, math.inf)
    if len(set(same)) < 3:
        return Scale(max(map(abs, same), default=0.0), possible)
    return Scale(max(same) - min(same), possible)


def printed_values(item):
    """Every value a table or figure prints: yields (name, {key: value} of its row, value), in their order."""
    for row in item.rows:
        key = {k: row[k] for k in item.keys}
        for name, value in flat({v: row.get(v) for v in item.values}).items():
            yield name, key, value
    for name, value in item.printed_numbers.items():
        yield name, {}, value


def comparable(printed):
    """Whether a printed value is one that a measured one can be set beside."""
    return printed is not None and not isinstance(printed, list)


# ---- tables and figures ----------------------------------------------------------------------------------
def compare(item, rows):
    """Cells of a table with a printed value, beside what was measured, in the paper's order.

    rows        a DataFrame or dicts, one a printed row: the item's key columns, and measured values under the
                printed names (a part of a printed cell under `column.part`, or nested as printed), bare or
                as `Cell`s; `status` and `settled` hold for all values of their row. A share with an `of`
                differs only if the printed one lies outside its 99% interval. None, NaN: no value
    Returns dicts: `row` {key: value}, `column`, `printed`, `measured`, `sd`, `nets`, `agrees` (None where
    nothing was measured, and where agreement tells nothing), `how` (the way of agreement or None), `status`
    (or None), `why` (of a status), `settled`.
    Raises UserError for rows without keys or twice there, a strange status, text for a number.
    """
    measured = {}
    for row in rows.to_dict("records") if hasattr(rows, "to_dict") else rows:
        if missing := [k for k in item.keys if k not in row]:
            raise runtime.UserError(f"{item.title}: a row lacks {missing[0]!r}; its rows are told apart by "
                                    f"{', '.join(item.keys)}")
        key = tuple(_plain(row[k]) for k in item.keys)
        if key in measured:
            raise runtime.UserError(f"{item.title}: two rows for {_named(item.keys, key)}; "
                                    "give one a printed row")
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
    """The one cell of a printed value, or none where there is nothing to set side by side."""
    where = ", ".join([item.title, *(str(v) for v in key.values() if v is not None), name])
    cell = as_cell(row.get(name))
    measured, sd, nets, of = cell.value, cell.sd, cell.n, cell.of
    word, why = status(cell.status or row.get("status"), where)
    if not comparable(printed) or (measured is None and word != "not measured"):
        return []
    settled = bool(cell.settled or row.get("settled"))
    how = ends = None
    if word == "not measured":
        measured = None
    if measured is None:
        agrees = None
    elif is_number(printed) and is_number(measured):
        if math.isfinite(measured):
            how, ends = agreement(printed, cell, places)
        agrees = how is not None
        measured = measured if math.isfinite(measured) else None  # a record holds no infinity
        if how == INTERVAL and word is None:
            covered = scale_of(item, name, row).covered(*ends)
            if covered >= WIDE:
                agrees, word = None, CANNOT_TELL
                why = f"the {how} covers {'all' if covered >= 1 else f'{covered:.0%}'} of the scale"
        elif how is None and word is None and cell.within is None and not settled and of:
            low, high = sampled(measured, of, _whole(item, name, row, where))
            if low <= printed <= high:
                agrees, word, how = None, CANNOT_TELL, SAMPLING
                why = f"inside the 99% interval of a share of {of} images"
    elif type(printed) is type(measured):
        agrees = printed == measured
        how = PRECISION if agrees else None
    else:
        raise runtime.UserError(f"{where}: {measured!r} was measured where the paper prints {printed!r}; "
                                "give a value of the same kind")
    return [{"row": key, "column": name, "printed": printed, "measured": measured, "sd": sd, "nets": nets,
             "agrees": agrees, "how": how, "status": word, "why": why, "settled": settled}]


def _whole(item, name, row, where):
    """What a share of a column is at most: 1 or 100."""
    most = scale_of(item, name, row).possible[1]
    if not math.isfinite(most):
        raise runtime.UserError(f"{where}: a number of images (`of`) stands beside what is no share; "
                                "leave it out, or state the column's unit in the reference")
    return most


def status(text, where):
    """(word, why) of a status such as "proxy: digits in place of MNIST"; (None, None) of none."""
    if text is None:
        return None, None
    word, _, why = (part.strip() for part in str(text).partition(":"))
    if word not in STATUSES or not why:
        raise runtime.UserError(f"{where}: status {text!r} is unknown; allowed: "
                                f"{', '.join(f'{s}: <why>' for s in STATUSES)}")
    return word, why


def unit(name, column):
    """What makes numbers comparable in precision: their column, or the unit that several columns share."""
    return (column or {}).get("unit") or name.split(".")[0]


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


def _named(keys, values):
    return ", ".join(f"{k} {v}" for k, v in zip(keys, values))
