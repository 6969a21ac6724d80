"""Runs as tidy frames: a row an image, pair or network."""
import numpy as np
import pandas as pd

from shared.runtime import UserError


def each(units, *lists):
    """A row for each image (or pair, network ...) of the units, from results that are lists.

    units   a DataFrame with a row a unit
    lists   the columns of lists that belong together, of one length in a unit; None take all lists. They give
            one value a row, with `place` in the list (from 0); what is no list is repeated
    Raises UserError naming lists of different lengths.
    """
    made = []
    for unit in units.to_dict("records"):
        found = {k: v for k, v in unit.items() if isinstance(v, list | np.ndarray)}
        laid = {k: unit[k] for k in lists} if lists else found
        if len({len(v) for v in laid.values()}) > 1:
            lengths = ", ".join(f"{k} {len(v)}" for k, v in laid.items())
            raise UserError(f"run {unit['run']}: lists of different lengths ({lengths}); "
                            "name those that belong together")
        rest = {k: v for k, v in unit.items() if k not in found}
        made += [rest | {"place": n} | dict(zip(laid, values))
                 for n, values in enumerate(zip(*laid.values()))]
    columns = [c for c in units if not made or c in made[0]]
    return pd.DataFrame(made, columns=None if made else [*dict.fromkeys([*columns, "place", *lists])])
