"""Rows of a printed table from units: means over nets, with what a single new net may differ by."""


def over_nets(units, keys, columns):
    """One row for each combination of `keys`: the mean of each column with its spread and number of nets.

    units    DataFrame, a row a unit
    columns  {name in the printed table: column of the units}
    Beside each `name` stand `name_sd` (sample standard deviation, None for a single net) and `name_n`.
    """
    made = []
    for key, mine in units.groupby(list(keys), sort=False, dropna=False):
        row = dict(zip(keys, key))
        for name, column in columns.items():
            values = mine[column].dropna()
            row |= {name: float(values.mean()) if len(values) else None, f"{name}_n": len(values),
                    f"{name}_sd": float(values.std()) if len(values) > 1 else None}
        made.append(row)
    return made
