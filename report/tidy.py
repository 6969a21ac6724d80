"""Runs as tidy frames: a row an image, pair or network."""
import numpy as np
import pandas as pd

from shared.runtime import UserError


def unnest(units, *lists):
    """A row for each image (or pair, network ...) of the units, from results that are lists.

    units   a DataFrame with a row a unit
    lists   the columns of lists that belong together, of one length in a unit; None take all lists. They give
            one value a row, with `place` in the list (from 0); what is no list is repeated
    Raises UserError naming lists of different lengths.
    """
    rows = []
    for unit in units.to_dict("records"):
        listed = {k: v for k, v in unit.items() if isinstance(v, list | np.ndarray)}
        laid = {k: unit[k] for k in lists} if lists else listed
        if len({len(v) for v in laid.values()}) > 1:
            lengths = ", ".join(f"{k} {len(v)}" for k, v in laid.items())
            raise UserError(f"run {unit['run']}: lists of different lengths ({lengths}); "
                            "name those that belong together")
        rest = {k: v for k, v in unit.items() if k not in listed}
        rows += [rest | {"place": n} | dict(zip(laid, values))
                 for n, values in enumerate(zip(*laid.values()))]
    columns = [c for c in units if not rows or c in rows[0]]
    return pd.DataFrame(rows, columns=None if rows else [*dict.fromkeys([*columns, "place", *lists])])
