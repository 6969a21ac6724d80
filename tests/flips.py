"""Whether other results would flip a claim: results changed at random and by rule, the claim judged on each.

The process that runs a notebook for the tests tries this while it has the results (`leave_in`), so that
no test has to run the notebook again.
"""
import copy
import itertools
import json
import traceback
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from report import claims, reference
from report.cell import Cell
from shared import runtime
from tests import published

CHANGES = {"negate": lambda v: -v, "zero": lambda v: 0 * v, "ten": lambda v: 10 * v,
           "one": lambda v: 0 * v + 1, "more": lambda v: v + 1, "thousand": lambda v: 1000 * v,
           "reverse": lambda v: -v}


def changed(value, change):
    """`value` with `change` applied to every number, truth value and list within."""
    if isinstance(value, dict):
        return {k: changed(v, change) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        inner = [changed(v, change) for v in value]
        return inner[::-1] if change == "reverse" else inner
    if isinstance(value, Cell):
        return Cell(**changed(vars(value), change))
    if isinstance(value, (bool, np.bool_)):
        return not value
    return CHANGES[change](value) if isinstance(value, (int, float, np.number)) else value


def nested(value, change):
    """`value` changed as a whole, and with only one of its parts changed, at any depth of dicts."""
    yield changed(copy.deepcopy(value), change)
    if isinstance(value, dict):
        for key in value:
            for part in nested(value[key], change):
                yield {**value, key: part}


def numbers(column):
    """The numbers of a column, also those of its `Cell`s."""
    return pd.to_numeric(column.map(lambda v: v.value if isinstance(v, Cell) else v), errors="coerce")


def mutations(result, keys):
    """Changed copies of a result: every number at once, and one column or key at a time."""
    if not isinstance(result, pd.DataFrame):
        for change in CHANGES:
            yield from nested(result, change)
        return
    # Where some rows hold a number and others a dict, each keeps its own.
    alike = [c for c in result if result[c].map(lambda v: isinstance(v, dict)).nunique() == 1]
    measured = [c for c in alike if c not in keys and numbers(result[c]).notna().any()]
    for columns in (result[measured].select_dtypes("number"), measured):
        for ascending in (True, False):     # every column rises, or falls, from row to row
            yield result.assign(**{c: result[c].sort_values(key=numbers, ascending=ascending).to_numpy()
                                   for c in columns})
    for column in measured:
        yield result.assign(**{column: result[column].to_numpy()[::-1]})
    for column in result.columns.difference(keys):
        for change in CHANGES:
            yield result.assign(**{column: [changed(v, change) for v in result[column]]})


def redrawn(value, generator, keys=(), fill=False):
    """`value` with every number and truth value within drawn anew around its old value.

    fill  whether a value that is missing is drawn, too
    """
    if isinstance(value, pd.DataFrame):
        free = [c for c in value if c not in (*keys, "status")]
        return value.assign(**{c: [redrawn(v, generator, fill=fill) for v in value[c]] for c in free})
    if isinstance(value, dict):
        return {k: v if k == "status" else redrawn(v, generator, fill=fill) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [redrawn(v, generator, fill=fill) for v in value]
    if isinstance(value, Cell):
        return Cell(**vars(value) | {"value": redrawn(value.value, generator, fill=fill)})
    if value is None or value != value:
        return generator.choice([0.0, 1.0, 60.0]) if fill else value
    if isinstance(value, (bool, np.bool_)):
        return bool(generator.random() < 0.5)
    if isinstance(value, (int, float, np.number)):
        new = value * generator.choice([0, 0.01, 0.5, 1, 2, 10]) + generator.choice([0, 0.1, 1, 60, 100])
        return round(new) if isinstance(value, (int, np.integer)) else new      # a count stays whole
    return value


def single(results, keys):
    """The results with one of them changed by a rule; `keys` has the key columns of each."""
    for n, result in enumerate(results):
        for mutation in mutations(result, keys[n]):
            yield [*results[:n], mutation, *results[n + 1:]]


def draws(results, keys):
    """The results with many numbers drawn anew at once, in one of them and in all."""
    places = [*range(len(results))]
    for some in [*([n] for n in places), places]:
        generator = np.random.default_rng(0)
        for n in range(400):
            yield [redrawn(result, generator, keys[m], n % 2) if m in some else result
                   for m, result in enumerate(results)]


# Figures for whose claims a smoke run has too few results: the tests of the paper's pages change results of
# full size.
ELSEWHERE = {"sutton": {f"figure-{n}" for n in (8, 9, 10, 13, 14)},
             "chen": {f"figure-{n}" for n in (2, 3, 4, 10)}}


def of_values(judged, proxies=(), what="", needed=None):
    """`claims.conclude` of all cases that have a value, proxies, too: the small run may lack some."""
    own = [holds for holds in judged.values() if holds is not None]
    return sum(own) >= (len(own) if needed is None else min(needed, len(own))) if own else None, ""


def outcome(rule, results):
    """What a rule makes of changed results; None of numbers that cannot be, such as a negative count."""
    try:
        return rule.outcome(results)[0]
    except runtime.UserError as error:      # a name that no row has, but not a share of -5 images
        if "a share needs at least one case" not in str(error):
            raise
        return None
    except (ArithmeticError, ValueError):
        return None


def one_sided(rule, results, keys):
    """What a rule makes of all changed copies of some results, unless it holds on some and fails on others.

    results  lists of what the rule takes: those of the small run, the published ones
    keys     the key columns of each of these
    """
    seen = set()
    tried = itertools.chain(results, *(change(some, keys) for change in (single, draws) for some in results))
    with mock.patch.object(claims, "conclude", of_values):
        for changed in tried:       # each made when it is tried
            seen |= {outcome(rule, changed)} - {None}
            if len(seen) == 2:
                return ""
    return "it always holds" if seen == {True} else "it never holds" if seen else "it is never judged"


# ---- in the process that runs a notebook -----------------------------------------------------------------
def leave_in(folder):
    """Let `claims.judge` leave in a folder the claims of each item that are one-sided, and the items used."""
    judge = claims.judge

    def judge_and_change(item, rows, rules, **options):
        judged = judge(item, rows, rules, **options)
        others = options.get("others") or {}
        entry = {"others": list(others), "judged": judged, "stuck": [], "error": ""}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")     # a predicate may divide by a zero of a changed result
                entry["stuck"] = stuck(item, rows, rules, others)
        except Exception:
            entry["error"] = traceback.format_exc()
        Path(folder).mkdir(parents=True, exist_ok=True)
        with open(file_of(folder, item.paper, item.id), "a") as file:
            print(json.dumps(entry), file=file)
        return judged

    claims.judge = judge_and_change


def file_of(folder, paper, item):
    """The file of an item in the folder of `leave_in`: a line each time that it was judged."""
    return Path(folder) / f"{paper}-{item}.jsonl"


def stuck(item, rows, rules, others):
    """The claims of an item that changed results do not both hold and fail, in words; none that is open."""
    lines = []
    for phrase, rule in rules.items():
        if rule.open or item.id in ELSEWHERE.get(item.paper, ()):
            continue
        own, used = [rows, *(others[n][0] for n in rule.others)], [item.id, *rule.others]
        printed = [reference.paper(item.paper)[name] for name in used]
        # The published ones first: a small run lacks much of what claims are judged on.
        tried = [[published.rows(*of) for of in zip(printed, own)]] * all(i.rows for i in printed)
        tried += [own] * all(result is not None for result in own)    # else of a page that records nothing
        if why := one_sided(rule, tried, [i.keys for i in printed]):
            lines.append(f"{item.title}, “{phrase}”: {why}")
    return lines
