"""Measured values beside printed ones: which agree, and in which of the ways that count.

A value agrees by *printed precision* (half a unit of the last printed decimal), within a *tolerance* fixed
with its reason before the run, or because the paper's single run lies in the *interval* in which a single new
net would fall, estimated from several of ours. The three are told apart wherever they are counted.
"""
import math
import numbers
from decimal import Decimal

from shared import runtime

PRECISION, TOLERANCE, INTERVAL = "printed precision", "tolerance", "interval"
STATUSES = ("substitute", "calibrated", "not run")
CONFIDENCE = 0.99  # of the interval for a single new net
NETS = 5           # fewer nets than this give no interval


# ---- single values ---------------------------------------------------------------------------------------
def decimals(value, column=None, peers=()):
    """Printed decimals of a number: those its column states, else those the number itself shows.

    peers  other numbers of its column: where printed decimals vary, a whole number beside broken ones (a rate
           of 1 beside 0.925) is taken to be printed as finely as the coarsest of these, not to the unit
    """
    if column and column.get("decimals") is not None:
        return column["decimals"]
    own = _shown(value)
    if not own and (column or {}).get("type") != "integer":
        own = min((d for d in map(_shown, peers) if d), default=0)
    return own


def _shown(value):
    if not _number(value):
        return 0
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -exponent)


def half_width(sd, nets):
    """Half the width of the 99% prediction interval for one new net, from the SD over `nets` nets, or None.

    None below five nets: t quantile times SD times sqrt(1 + 1/n) is too wide then to tell anything apart.
    """
    if sd is None or nets is None or nets < NETS or not math.isfinite(sd):
        return None
    from scipy.stats import t
    return float(t.ppf((1 + CONFIDENCE) / 2, nets - 1) * sd * math.sqrt(1 + 1 / nets))


def agreement(printed, measured, places, *, tolerance=None, sd=None, nets=None):
    """How a measured number agrees with the printed one: the first way that holds, or None."""
    distance, slack = abs(measured - printed), 1 + 1e-9  # a sum in floats may end just outside
    if distance <= 0.5 * 10.0 ** -places * slack:
        return PRECISION
    if tolerance is not None and distance <= tolerance * slack:
        return TOLERANCE
    width = half_width(sd, nets)
    return INTERVAL if width is not None and distance <= width else None


# ---- tables and figures ----------------------------------------------------------------------------------
def compare(item, rows, tolerances=None):
    """Cells of a table with a printed value, beside what was measured, in the paper's order.

    rows        a DataFrame or dicts, one a printed row: the item's key columns, and measured values under the
                printed names (a part of a printed cell under `column.part`, or nested as printed). Beside a
                value `c` may stand `c_sd` (standard deviation over nets), `c_n` (number of nets), `c_status`
                ("substitute: why", "calibrated: why" or "not run: why"); `status` holds for all values of
                its row. None and NaN are values that are not there.
    tolerances  {column: (largest difference, why that much is allowed)}
    Returns dicts: `row` {key: value}, `column`, `printed`, `measured`, `sd`, `nets`, `agrees` (None where
    nothing was measured), `how` (the way of agreement or None), `status` (or None), `why` (of a status or
    tolerance). Raises UserError for rows without keys, rows that stand twice, an unknown status or
    tolerance, and a text where a number is printed.
    """
    mine = {}
    for row in _dicts(rows):
        if missing := [k for k in item.keys if k not in row]:
            raise runtime.UserError(f"{item.title}: a row lacks {missing[0]!r}; its rows are told apart by "
                                    f"{', '.join(item.keys)}")
        key = tuple(_plain(row[k]) for k in item.keys)
        if key in mine:
            raise runtime.UserError(f"{item.title}: two rows for {_named(item.keys, key)}; "
                                    "give one a printed row")
        mine[key] = _flat(row)
    _known(item, tolerances, [c for row in item.rows for c in _flat({v: row.get(v) for v in item.values})])
    alike = peers(item)
    cells = []
    for row in item.rows:
        key = tuple(row[k] for k in item.keys)
        if key in mine:
            for name, printed in _flat({v: row.get(v) for v in item.values}).items():
                column = item.columns.get(name.split(".")[0])
                places = decimals(printed, column, alike[unit(name, column)]) if _number(printed) else 0
                cells += _cell(item, dict(zip(item.keys, key)), name, printed, places, mine[key], tolerances)
    return cells


def compare_numbers(item, data, tolerances=None):
    """Cells of a figure's or method's printed numbers that `data` holds under the same names."""
    data = _flat(dict(data))
    _known(item, tolerances, item.printed_numbers)
    return [cell for name, printed in item.printed_numbers.items()
            for cell in _cell(item, {}, name, printed, _shown(printed), data, tolerances)]


def _cell(item, key, name, printed, places, mine, tolerances):
    """The one cell of a printed value, or none where there is nothing to set side by side."""
    where = ", ".join([item.title, *(str(v) for v in key.values() if v is not None), name])
    measured = mine.get(name)
    word, why = status(mine.get(f"{name}_status") or mine.get("status"), where)
    if printed is None or isinstance(printed, list) or (measured is None and word is None):
        return []
    sd, nets = mine.get(f"{name}_sd"), mine.get(f"{name}_n")
    nets = nets if nets is None else int(nets)  # a DataFrame with gaps counts in floats
    allowed, reason = (tolerances or {}).get(name, (None, None))
    how = None
    if word == "not run":
        measured = None
    if measured is None:
        agrees = None
    elif _number(printed) and _number(measured):
        if math.isfinite(measured):
            how = agreement(printed, measured, places, tolerance=allowed, sd=sd, nets=nets)
        agrees = how is not None
        measured = measured if math.isfinite(measured) else None  # a record holds no infinity
    elif type(printed) is type(measured):
        agrees = printed == measured
        how = PRECISION if agrees else None
    else:
        raise runtime.UserError(f"{where}: {measured!r} was measured where the paper prints {printed!r}; "
                                "give a value of the same kind")
    why = why or (reason if how == TOLERANCE else None)
    return [{"row": key, "column": name, "printed": printed, "measured": measured, "sd": sd, "nets": nets,
             "agrees": agrees, "how": how, "status": word, "why": why}]


def status(text, where):
    """(word, why) of a status such as "substitute: digits in place of MNIST"; (None, None) of none."""
    if text is None:
        return None, None
    word, _, why = (part.strip() for part in str(text).partition(":"))
    if word not in STATUSES or not why:
        raise runtime.UserError(f"{where}: status {text!r} is unknown; allowed: "
                                f"{', '.join(f'{s}: <why>' for s in STATUSES)}")
    return word, why


def _known(item, tolerances, names):
    for column, (allowed, reason) in (tolerances or {}).items():
        if column not in names:
            raise runtime.UserError(f"{item.title}: a tolerance for {column!r}, which is not printed there; "
                                    f"printed: {', '.join(dict.fromkeys(names))}")
        if not (_number(allowed) and allowed >= 0 and isinstance(reason, str) and reason.strip()):
            raise runtime.UserError(f"{item.title}: the tolerance for {column!r} needs a size of at least 0 "
                                    "and its reason in words")


def unit(name, column):
    """What makes numbers comparable in precision: their column, or the unit that several columns share."""
    return (column or {}).get("unit") or name.split(".")[0]


def peers(item):
    """`{unit or column: its printed numbers}`: by these the decimals of a whole number are told."""
    alike = {}
    for row in item.rows:
        for name, value in _flat({v: row.get(v) for v in item.values}).items():
            numbers_there = alike.setdefault(unit(name, item.columns.get(name.split(".")[0])), [])
            if _number(value):
                numbers_there.append(value)
    return alike


# ---- plain values ----------------------------------------------------------------------------------------
def _dicts(rows):
    return rows.to_dict("records") if hasattr(rows, "to_dict") else list(rows)


def _plain(value):
    """A value as Python has it, not NumPy; what a DataFrame turned into NaN is None again."""
    value = value.item() if hasattr(value, "item") else value
    return _present(value)


def _present(value):
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _flat(row, prefix=""):
    """Nested dicts as `{"outer.inner": value}`."""
    flat = {}
    for k, v in row.items():
        if isinstance(v, dict):
            flat |= _flat(v, f"{prefix}{k}.")
        else:
            flat[f"{prefix}{k}"] = _plain(v)
    return flat


def _number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _named(keys, values):
    return ", ".join(f"{k} {v}" for k, v in zip(keys, values))
