"""Section V of Ren et al.: rows of Table IV and suspected causes: where pruning acts, pixels of 128."""
import numpy as np
import pandas as pd

from papers.ren import claims
from papers.ren.experiments import SETTINGS, UNIFORM, UNPRUNED
from papers.ren.figures import COLUMNS, PAPER, over_nets
from report.cell import bare

SSIM = [name for name in COLUMNS if name.endswith("ssim")]
ALIKE = 0.01    # difference of two mean distances, in SSIM, that decides for neither


def of(runs, place, settings):
    """The runs of some settings with pruning in one place."""
    return runs[[p == place and (t, T) in settings for p, t, T in zip(runs.place, runs["t"], runs["T"])]]


def rows(runs, place="mixed", last=SETTINGS[-1]):
    """Table IV, after the unpruned rows; `place` is where pruning acts, `last` stands for t = T = 128."""
    strongest = of(runs, place, [last]).assign(t=SETTINGS[-1][0], T=SETTINGS[-1][1])
    chosen = pd.concat([of(runs, "mixed", [UNPRUNED]), of(runs, place, SETTINGS[:-1]), strongest])
    return over_nets(chosen, ("t", "T", "background"), COLUMNS)


def suspects(runs):
    """The claims of Table IV under each suspected cause, and its mean distance from the printed SSIM."""
    tried = {"as in Table IV": rows(runs), "pruning only the input of the network": rows(runs, "input"),
             "pruning the digit only": rows(runs, "source"),
             "128 becomes 255": rows(runs, last=(127, 127)), "128 becomes 0": rows(runs, last=(129, 129))}
    if runs.seed.nunique() > 1:
        tried |= {f"network {seed} alone": rows(runs[runs.seed == seed]) for seed in runs.seed.unique()}
    return [{"reading": name, **{
        words: judge(pd.DataFrame(means))[0] for words, judge in claims.PRUNING.items()},
             "distance": float(np.mean([abs(claims.by_key(means)[p["background"], p["t"], p["T"]][k] - p[k])
                                        for p in PAPER["table-4"].rows for k in SSIM]))}
            for name, means in bare(tried).items()
            if len(means) == len(UNIFORM) * len((UNPRUNED, *SETTINGS))]


def how_far(runs):
    """Facts: claims that hold and mean distances from the published SSIM, in Table IV and with 128 pruned.

    unjudged   words on the claims that cannot be judged in Table IV
    {} of too few runs.
    """
    rows = suspects(runs)
    off = {row["reading"]: (row["distance"], sum(row[words] is True for words in claims.PRUNING))
           for row in rows}
    pruned = [values for reading, values in off.items() if reading.startswith("128 ")]
    if "as in Table IV" not in off or not pruned:
        return {}
    (here, held), (distances, held_too) = off["as in Table IV"], zip(*pruned)
    apart = abs(here - min(distances)) > ALIKE
    blank = sum(row[words] not in (True, False) for row in rows if row["reading"] == "as in Table IV"
                for words in claims.PRUNING)
    return {"claims": len(claims.PRUNING), "here": here, "held": held, "least": min(distances),
            "unjudged": f", {blank} cannot be judged" if blank else "",
            "fewest": min(held_too), "favour": f"favour {'one' if apart else 'neither'} of the two rules"}


def reached(runs):
    """Facts: percent of the searches that reach the threshold, unpruned and with the strongest pruning.

    last, first  similarity of the digit to the last image with its label, to the first without it
    """
    at = {name: of(runs, "mixed", [pruning]) for name, pruning in (("plain", UNPRUNED),
                                                                   ("pruned", SETTINGS[-1]))}
    white = {name: searches[searches.background == "white"] for name, searches in at.items()}
    return {name: 100 * float(searches.reached.mean()) for name, searches in at.items()} | {
        "threshold": runs.threshold.max(), "background": "white",
        **{name: {pruning: searches[column].mean() for pruning, searches in white.items()}
           for name, column in (("last", "robustness_mean"), ("first", "adversarial_mean"))}}


def single(runs):
    """Facts: for how many networks alone robustness rises at each step at which separability falls."""
    alone = [row for row in suspects(runs) if row["reading"].startswith("network ")]
    return {"hold": sum(row["each fall is paid"] is True for row in alone),
            "n": len(alone)} if alone else {}


def changed(runs):
    """Percent of the pixels of the test digits that each setting changes, before any search."""
    share = runs.groupby(["t", "T"]).changed.mean()
    return {f"t = {t}, T = {T}": 100 * float(share[t, T]) for t, T in SETTINGS if (t, T) in share.index}
