"""Records: what an item's runs add up to, with the printed values. A record is rebuilt, never edited."""
import json
import math

import numpy as np
import pandas as pd

from report import claims as judging
from report import comparison, reference, repository, store, verdict
from report.cell import Cell, restored
from shared import runtime

REMEDY = "delete it and run `make records`, which makes it again from the recorded runs"
EXTRA = "extra-"  # how the name of a record begins that the paper does not have
# Parts of a run that train its networks, in words. On networks that are trained less than published no claim
# is judged: longer training may turn it.
TRAINING = {"epochs": "epochs", "images_train": "training images",
            "sample": "images from which the classifiers learn"}


# ---- making ----------------------------------------------------------------------------------------------
def rounded(value):
    """A value as a record holds it: plain or a `Cell`, six significant digits, None if it is not finite."""
    if isinstance(value, pd.DataFrame):
        return rounded(value.to_dict("records"))
    if isinstance(value, Cell):
        return Cell(**rounded(vars(value)))
    if isinstance(value, dict):
        return {str(k): rounded(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray, pd.Series)):
        return [rounded(v) for v in value]
    value = store.plain(value, "what a record is to hold")
    return float(f"{value:.6g}") if isinstance(value, float) else value


def scale(results, runs, rests=None):
    """How much of the published size the runs of `{experiment: {name: Run}}` make up.

    rests  the parts that count, such as ("epochs", "images"); None takes all that the results have
    """
    results = [s for s in results if not s.optional]
    published = sum(len(s.published) for s in results)
    present = [run for s in results for run in runs[s.name].values()]
    parts = {"runs": [len(present), published]} if results else {}
    rests = dict.fromkeys(p for s in results for p in s.sizes if rests is None or p in rests)
    for part in rests:
        sizes = [run.sizes[part] for run in present if part in run.sizes]
        parts[part] = [sum(a for a, _ in sizes), sum(f for _, f in sizes)]
    fraction = math.fsum(run.share(rests) for run in present) / published if published else 1.0
    return {"parts": parts, "fraction": fraction, "proxies": proxies(present)}


def lacking(results, runs, of=""):
    """`judging.judge`'s `lacking` for the runs of `{experiment: {name: Run}}`.

    of  what they belong to, in words
    """
    results = [s for s in results if not s.optional]
    # A run that is out of date may have parts that its experiment no longer has.
    parts = {part for s in results for part in s.sizes if part in TRAINING}

    def lacks(decides=None):
        wanted = [(s.name, n) for s in results for n in s.published
                 if decides is None or decides.counts({"run": n, **s.labels.get(n, {})})]
        if away := sum(n not in runs[s] for s, n in wanted):
            some = len(wanted) < sum(len(s.published) for s in results)
            return f"{away} of {len(wanted)} runs{of}{' that decide it' * some}"
        short = shortest([runs[s][n] for s, n in wanted], parts)
        return f"full training{of} ({short})" if short else None
    return lacks


def shortest(runs, parts=TRAINING):
    """How much shorter than published the shortest training of some runs is, in words; None where none is."""
    less = min(runs, key=lambda run: run.share(parts), default=None)
    return ", ".join(f"{actual:,} of {published:,} {TRAINING[part]}" for part, (actual, published) in (
        less.sizes if less else {}).items() if part in parts and actual < published) or None


def proxies(runs):
    """`{data set: what stood in for it}` of some runs."""
    replaced = {}
    for run in runs:
        for name, identity in run.provenance["data"].items():
            if ":" in identity:
                replaced[name] = identity.split(":")[0]
    return replaced


def provenance(results, runs):
    """Where the runs of a record come from: distinct values of what differs, seconds in all."""
    present = [run for s in results for run in runs[s.name].values()]

    def distinct(key):
        values = {json.dumps(run.provenance[key], sort_keys=True) for run in present if key in run.provenance}
        return [json.loads(value) for value in sorted(values)]

    data = {k: v for run in present for k, v in run.provenance["data"].items()}
    seeds = {run.arguments["seed"] for run in present if "seed" in run.arguments}
    return {"data": data, "seeds": sorted(seeds),
            "versions": distinct("versions"), "devices": distinct("device"), "threads": distinct("threads"),
            "revisions": distinct("revision"),
            "seconds": math.fsum(run.provenance["seconds"] for run in present)}


def build(item, results=(), runs=None, *, rows=None, data=None, claims=None, evidence=None, note=None,
          others=None, whole=True, status=None, rests=None):
    """The record of an item.

    results      the `Results` it rests on; none: computed each time
    runs         {experiment: {name: Run}} of those that are there
    rows, data   what the runs add up to: rows named as the printed ones, or a figure's numbers
    claims       {phrase: Rule}, see `claims.judge`
    whole        whether claims wait for published runs that are not there; else what is there is judged
    status       of an item without printed values, such as "proxy: SqueezeNet in place of another net"
    rests        the parts of a run that the item rests on: it waits for no others; None takes all

    With embedded data, or on a proxy throughout, what was measured is shown with the claims and judges none.
    """
    runs = runs or {}
    lacks = lacking(results, runs)
    rows_or_data = judging.complete(item, pd.DataFrame(rows)) if rows is not None else data
    cells = comparison.compare(item, rows) if rows is not None and item.rows else []
    if data is not None and item.printed_numbers:
        cells += comparison.compare_numbers(item, data)
    statuses = {c["status"] for c in cells} | ({comparison.status(status, item.title)[0]} - {None})
    on_proxies = "proxy" in statuses and statuses <= {"proxy", "not measured"}
    judged = judging.judge(item, rows_or_data, claims or {}, lacking=lacks if whole else None, others=others,
                           proxies=on_proxies)
    how_much = scale(results, runs, rests)
    if how_much["proxies"]:
        judged = [judging.on_a_proxy(c) for c in judged]
    printed = sum(comparison.comparable(value) for *_, value in comparison.printed_values(item))
    # A table with a value of ours for each printed one lacks nothing: a share has its interval.
    present = sum(c["status"] != verdict.NOT_MEASURED for c in cells)
    short = shortest([run for s in results if not s.optional for run in runs[s.name].values()])
    waiting = lacks() if whole and (short or not printed or present < printed) else None
    word, reason = verdict.verdict(item, judged, cells, evidence, status, waiting=waiting,
                                   published=math.inf if short and printed else printed)
    record = {"item": item.id, "paper": item.paper, "rows": rows, "data": data,
              "scale": how_much,
              **rests_on(results, runs), "claims": judged, "cells": cells,
              "bias": comparison.biases(item, cells), "evidence": evidence,
              "verdict": word, "reason": reason, "note": note}
    if results:
        record["provenance"] = provenance(results, runs)
    kept = ("claims", "cells", "scale")
    return {k: v for k, v in rounded(record).items() if k in kept or v not in (None, [], {})}


def rests_on(results, runs):
    """Names of the runs of `{experiment: {name: Run}}`, and of the published ones that are absent."""
    names = {"runs": [(s.name, n) for s in results for n in runs[s.name]],
             "absent": [(s.name, n) for s in results if not s.optional
                        for n in s.published if n not in runs[s.name]]}
    return {part: sorted(map("/".join, some)) for part, some in names.items() if some}


# ---- files -----------------------------------------------------------------------------------------------
def path(paper, item):
    """Where the record of an item is kept."""
    return repository.results_folder() / "paper" / paper / f"{item}.json"


def as_json(record):
    """A record as its file has it: a `Cell` is a dict of its fields."""
    return json.loads(json.dumps(record, default=Cell.as_json, allow_nan=False))


def write(record):
    """Keep a record, in place of the last one."""
    runtime.write_text(path(record["paper"], record["item"]), store.text_of(as_json(record)))


def read(paper, item):
    """The record of an item, or None if there is none. Raises UserError naming a damaged file."""
    file = path(paper, item)
    if not file.exists():
        return None
    try:
        raw = store.fields_of(file)
    except (OSError, ValueError, RecursionError) as error:
        raise runtime.UserError(f"{file}: damaged ({' '.join(str(error).split())}); {REMEDY}") from None
    return raw | {part: restored(raw[part]) for part in ("rows", "data") if part in raw}


def everything():
    """All items of all papers with their records: yields (Item, record or None)."""
    for key in reference.KEYS:
        for item in reference.paper(key).items.values():
            yield item, read(key, item.id)
