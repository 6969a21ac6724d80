"""How often random numbers pass a check: the printed table is perturbed, the check is asked again."""
import copy
from dataclasses import replace

import numpy as np

from report.finding import Chance, Printed, decimals, findings_of, to_print

# Columns that say what a row is about, not what was measured; random numbers leave them as they are.
LABELS = frozenset({"class_a", "class_b", "t", "T", "printed_row", "rank_in_dataset", "n_cells", "index",
                    "source_class", "target_class", "delta", "delta_inferred", "layers", "neurons"})
LINE = ("quantity", "norm", "split", "delta_inferred")  # what names a line that stands for a column


def leaves(node, path=()):
    """(container, key, path) of every measured number below a table's row."""
    pairs = enumerate(node) if isinstance(node, list) else node.items()
    for key, value in pairs:
        if isinstance(value, (dict, list)):
            yield from leaves(value, path if isinstance(node, list) else (*path, key))
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and key not in LABELS:
            yield node, key, path if isinstance(node, list) else (*path, key)


def columns(paper, items, pool):
    """The printed columns of the items: lists of cells (container, key).

    Where a table prints one line per quantity and one column per problem, a line is what counts as a column.
    """
    found = {}
    for item in items:
        raw = paper[item].raw
        for row in [*raw.get("rows", []), *raw.get("printed_numbers", [])]:
            line = tuple(row.get(k) for k in LINE) if "cells" in row else ()
            for container, key, path in leaves(row):
                found.setdefault(("" if pool else item, path, line), []).append((container, key))
    return list(found.values())


def chances(check, paper, found, *, pool, draws, generator):
    """The findings `found` of `check` with their `chance`, where they confirm or hold with exceptions.

    A random table passes if the check confirms it, or holds in no smaller share of its rows. Columns of one
    value are redrawn between its half and its double. `draws` tables are made in each of the two ways.
    """
    due = {f.title: f for f in found if f.verdict in ("confirms", "holds with exceptions")}
    if not due:
        return found
    items = list(dict.fromkeys(item for f in due.values() for item in f.place.split(", ")))
    shaken = replace(paper, items={**paper.items, **copy.deepcopy({i: paper[i] for i in items})})
    table = []
    for cells in columns(shaken, items, pool):
        values = [container[key] for container, key in cells]
        low, high = (min(values), max(values)) if len(set(values)) > 1 else (values[0] / 2, values[0] * 2)
        table.append((cells, values, low, high, max(map(decimals, values))))

    def share(permute):
        passed = dict.fromkeys(due, 0)
        for _ in range(draws):
            for cells, values, low, high, places in table:
                if permute:
                    new = [values[k] for k in generator.permutation(len(values))]
                else:
                    new = [to_print(v, places) for v in generator.uniform(low, high, len(values)).tolist()]
                for (container, key), value in zip(cells, new):
                    container[key] = value
            for f in findings_of(check, Printed(shaken, generator, None if permute else generator)):
                if f.title in due:
                    passed[f.title] += passes(f, due[f.title])
        return {title: n / draws for title, n in passed.items()}

    movable = any(len(set(values)) > 1 for _, values, *_ in table)
    permuted = share(True) if movable else dict.fromkeys(due)
    redrawn = share(False)
    return [replace(f, chance=Chance(permuted[f.title], redrawn[f.title])) if f.title in due else f
            for f in found]


def passes(random, printed):
    """Does the check say of the random table what it says of the printed one?"""
    if random.verdict == "confirms":
        return True
    if printed.verdict == "confirms" or random.held is None:
        return False
    return bool(np.divide(*random.held) >= np.divide(*printed.held))
