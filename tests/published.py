"""The published rows of the papers' tables as the rules of claims look at them.

A rule may look at more than its table prints, such as the number of images behind a share: such columns have
no value here, but for what `PREPARED` makes of other printed numbers.
"""
import pandas as pd

from papers.ren.experiments import UNPRUNED
from papers.sutton.claims import AVERAGED
from papers.sutton.experiments import DELTAS
from report import claims, reference
from report.cell import Cell


def with_accuracies(rows):
    """Table I of Ren et al. with the accuracies of its caption, which are those of Table II."""
    train, test = reference.paper("ren")["table-2"].rows[:2]
    caption = {f"architecture_{a}": {"train_pct": train[f"architecture_{a}"]["value_pct"],
                                     "test_pct": test[f"architecture_{a}"]["value_pct"]} for a in "abc"}
    return pd.DataFrame([*rows.to_dict("records"), {"printed_row": "caption", **caption}])


def with_votes(rows):
    """Table II of Ren et al., of one network each."""
    return rows.map(lambda v: v | {"votes": "one network"} if isinstance(v, dict) else v)


def with_unpruned(rows):
    """Table IV of Ren et al. after the rows without pruning, which Table III has."""
    plain = pd.DataFrame(reference.paper("ren")["table-3"].rows).query("architecture == 'A'")
    return pd.concat([plain.assign(t=UNPRUNED[0], T=UNPRUNED[1]), rows])


def with_worst_case(rows):
    """Table 3 of He et al. with the accuracy by the largest error of each row."""
    return rows.assign(worst_case_pct=100 - rows.filter(like="false_").max(axis=1))


def with_rates(rows):
    """Table 2 of Shu et al. with the rates of Table 3, on one image, in the place of those on fifty."""
    rates = pd.DataFrame(reference.paper("shu")["table-3"].rows).filter(regex=r"^M\d+$")
    return rows.assign(digits=1, own_pct=100 * rates.M1,
                       others_pct=100 * rates.drop(columns="M1").mean(axis=1))


def with_levels(*numbers):
    """Tables 13 to 18 of Sutton et al. with the values at all levels of a noise, and those without noise.

    numbers  of the tables of the three levels
    """
    paper = reference.paper("sutton")

    def value(row):
        return row["value"] if row["norm"] is None else row["mean"]

    def key(row):
        return row["quantity"], row["norm"], row["split"], row["problem"]

    def prepared(rows):
        levels = [{key(row): value(row) for row in paper[f"table-{n}"].rows} for n in numbers]
        free = {quantity: {f"{row['class_a']} vs {row['class_b']}": row for row in paper[item].rows}
                for quantity, item in (("accuracy", "table-4"), ("adversarial_susceptibility", "table-5"))}
        readings = [(at, free[row["quantity"]][row["problem"]][row["split"]] if row["norm"] is None else None)
                    for row in paper[f"table-{numbers[0]}"].rows for at in [[of[key(row)] for of in levels]]]
        return rows.assign(failed=False, levels=[dict.fromkeys(AVERAGED, at) for at, _ in readings],
                           without=[dict.fromkeys(AVERAGED, plain) for _, plain in readings])
    return prepared


def with_noise(rows):
    """Table 25 of Sutton et al. with the share that the largest noise flips on its first network."""
    return rows.assign(turned=[{f"delta {d}": rows.resnet50.iloc[-1] if d == max(DELTAS) else None
                                for d in DELTAS}] * len(rows))


PREPARED = {**{("sutton", f"table-{n}"): with_levels(*numbers) for numbers in ((13, 15, 17), (14, 16, 18))
               for n in numbers}, ("sutton", "table-25"): with_noise,
            ("ren", "table-1"): with_accuracies, ("ren", "table-2"): with_votes,
            ("ren", "table-4"): with_unpruned, ("he", "table-3"): with_worst_case,
            ("shu", "table-2"): with_rates}


def rows(item, like=None):
    """The published rows of a table, values as `Cell`s, with the columns of measured rows `like` them."""
    printed = claims.complete(item, pd.DataFrame(item.rows))
    printed = printed.reindex(columns=list(dict.fromkeys([*printed, *(() if like is None else like)])))
    if prepare := PREPARED.get((item.paper, item.id)):
        printed = prepare(printed)
    return printed.assign(**{name: printed[name].map(lambda v: v if isinstance(v, dict) else Cell(v))
                             for name in printed if name not in item.keys})
