"""Recorded results: comparison with the printed values, claims, verdicts, and the files in `results/paper`."""
import json
import math
import numbers

import pandas as pd

from shared import reference, runtime

VERDICTS = {
    "exact": "a statement or recomputation that holds to its stated deviation",
    "matches": "at least 95% of the comparable cells agree with the printed ones",
    "trend": "every judged claim holds; printed values differ or there are none to compare",
    "differs": "a claim of the paper fails here, or no claim can carry values that differ",
    "shown": "nothing printed or claimed to compare with",
    "not run": "no full-scale record yet",
}
ENOUGH = 0.95  # share of comparable cells that must agree for `matches`
SPREAD = 2.0   # how many standard deviations over seeds a printed single run may lie from the mean


# ---- comparing with the printed values -------------------------------------------------------------------
def decimals(value, column=None):
    """Printed decimals of a number: the column's, else those the number itself shows."""
    if column and column.get("decimals") is not None:
        return column["decimals"]
    text = repr(value)
    return len(text.split(".")[1]) if "." in text and "e" not in text else 0


def _walk(printed, measured, sd, column, path):
    """Comparable numbers and texts at the same place of a printed and a measured cell."""
    if isinstance(printed, dict) and isinstance(measured, dict):
        for k in printed.keys() & measured.keys():
            yield from _walk(printed[k], measured[k], measured.get(f"{k}_sd"), column, (*path, k))
        return
    both = (printed, measured)
    if all(isinstance(v, str) for v in both):
        agrees = printed == measured
    elif all(isinstance(v, numbers.Real) and not isinstance(v, bool) and math.isfinite(v) for v in both):
        half_a_unit = 0.5 * 10.0 ** -decimals(printed, column) * (1 + 1e-9)
        agrees = abs(measured - printed) <= max(half_a_unit, SPREAD * (sd or 0.0))
    else:
        return
    yield {"cell": ".".join(path), "printed": printed, "measured": measured, "sd": sd, "agrees": agrees}


def compare(item, rows, keys):
    """Cells that stand both in the printed table and in `rows`, each with whether they agree.

    rows  one dict a printed row: the key columns, and measured values under the printed columns' names; a
          standard deviation over seeds of column c stands under `c_sd`. Cells may be nested dicts, as printed.
    keys  names of the columns that tell which printed row a row is
    """
    mine = {tuple(r[k] for k in keys): r for r in rows}
    cells = []
    for printed in item.rows:
        key = tuple(printed[k] for k in keys)
        if key not in mine:
            continue
        for name, column in item.columns.items():
            if name in keys or name not in printed or name not in mine[key]:
                continue
            measured = mine[key]
            walk = _walk(printed[name], measured[name], measured.get(f"{name}_sd"), column, (name,))
            cells += [{"row": list(key), **cell} for cell in walk]
    return cells


def compare_numbers(item, data):
    """The figure's printed numbers that `data` holds under the same names (spread under `<name>_sd`)."""
    cells = []
    for n in item.raw.get("printed_numbers", []):
        name = n.get("name")
        if name in data:
            walk = _walk(n["value"], data[name], data.get(f"{name}_sd"), None, (name,))
            cells += [{"row": [], **cell} for cell in walk]
    return cells


# ---- claims and verdict ----------------------------------------------------------------------------------
def judge(item, measured, predicates):
    """Each claim of the item, judged: `[{"claim": "<item>#<n>", "holds": True|False|None, "evidence": text}]`.

    measured    what the predicates look at: a DataFrame of the rows, or a figure's dict of data
    predicates  one a claim, in the reference's order: a function measured -> (holds, evidence), or a text that says
                why the claim cannot be judged
    Raises ValueError if there is not one predicate a claim.
    """
    if len(predicates) != len(item.claims):
        raise ValueError(f"{item.title} makes {len(item.claims)} claims but {len(predicates)} are judged")
    judged = []
    for n, predicate in enumerate(predicates):
        holds, evidence = (None, predicate) if isinstance(predicate, str) else predicate(measured)
        judged.append({"claim": f"{item.id}#{n}", "holds": None if holds is None else bool(holds),
                       "evidence": evidence})
    return judged


def verdict(claims, cells, exact=None):
    """`(verdict, reason)` of an item from its judged claims and compared cells.

    exact  None, or (largest deviation, allowed deviation) of a statement that was recomputed
    """
    judged = [c for c in claims if c["holds"] is not None]
    failed = [c for c in judged if not c["holds"]]
    agree = sum(c["agrees"] for c in cells)
    values = f"{agree} of {len(cells)} printed values agree" if cells else "no printed value to compare"
    held = f"{len(judged) - len(failed)} of {len(judged)} judged claims hold" if judged else "no claim to judge"
    reason = f"{held}; {values}"
    if exact is not None:
        deviation, allowed = exact
        reason = f"largest deviation {deviation:.1e} (allowed {allowed:.0e}); {held}"
        return ("exact" if deviation <= allowed and not failed else "differs"), reason
    if failed:
        return "differs", f"{reason}; fails: {', '.join(c['claim'] for c in failed)}"
    if cells and agree >= ENOUGH * len(cells):
        return "matches", reason
    if judged:
        return "trend", reason
    return ("differs" if cells else "shown"), reason


# ---- files -----------------------------------------------------------------------------------------------
FIELDS = ("item", "scale", "provenance", "claims", "verdict", "reason")


def path(paper, item, suffix=".json"):
    """Where the record of an item is kept."""
    return runtime.results_folder() / paper / f"{item}{suffix}"


def read(paper, item):
    """The record of an item, or None if there is none. Raises ValueError naming a damaged file."""
    file = path(paper, item)
    if not file.exists():
        return None
    try:
        record = json.loads(file.read_text())
        missing = [f for f in FIELDS if f not in record]
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: damaged ({error}); restore it from the repository or delete it") from None
    if missing:
        raise ValueError(f"{file}: lacks {', '.join(missing)}; restore it from the repository or delete it")
    return record


def everything():
    """All items of all papers with their records: yields (Item, record or None)."""
    for key in reference.KEYS:
        for item in reference.paper(key).items.values():
            yield item, read(key, item.id)


def fraction(parts):
    """Product of the parts' shares of full scale, each at most 1."""
    return math.prod(min(1.0, actual / full) for actual, full in parts.values())


def merge(old, new):
    """Units of an earlier record joined to a new one's, or None where the two may not be joined.

    They may if code, data and the scale of each unit are the same; a unit that both hold is taken from the new one.
    """
    if not old or not old.get("units") or not new.get("units"):
        return None

    def identity(r):
        parts = {k: v for k, v in r["scale"]["parts"].items() if k != "units"}
        return r["provenance"]["code"], r["provenance"]["data"], parts, r["scale"]["substitutes"], r["unit_keys"]

    if identity(old) != identity(new):
        return None
    keys = new["unit_keys"]
    joined = {tuple(u[k] for k in keys): u for u in [*old["units"], *new["units"]]}
    return [joined[k] for k in sorted(joined, key=lambda k: tuple(map(str, k)))]


def dumps(record):
    """A record as readable JSON: one line a row or unit, so that a diff shows what changed."""
    def line(value):
        return json.dumps(value, ensure_ascii=False)

    fields = []
    for k, v in record.items():
        if isinstance(v, list) and v and isinstance(v[0], dict):
            body = ",\n".join(f"  {line(each)}" for each in v)
            fields.append(f' {line(k)}: [\n{body}\n ]')
        else:
            fields.append(f" {line(k)}: {line(v)}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def write(paper, record, rebuild=None):
    """Keep a record, joined with the units of an earlier one where there are such, unless a larger one is there.

    rebuild  units -> record: the same record made from the joined units
    Returns what stands in the file afterwards. Several processes may write one item at a time.
    """
    file = path(paper, record["item"])
    with runtime.lock(runtime.cache_folder() / "records" / paper / record["item"]):
        old = read(paper, record["item"])
        joined = merge(old, record)
        if joined and rebuild:
            record = rebuild(joined)
        if old and old["scale"]["fraction"] > record["scale"]["fraction"]:
            return old
        runtime.write_atomically(file, lambda part: part.write_text(dumps(record)))
        return record


def frame(rows):
    """Rows as a DataFrame, nested cells as columns `a.b`."""
    return pd.json_normalize(rows)
