"""Section V of Ren et al.: rows of Table IV and suspected causes: where pruning acts, pixels of 128."""
import numpy as np
import pandas as pd

from papers.ren import claims
from papers.ren.experiments import SETTINGS, UNIFORM, UNPRUNED
from papers.ren.figures import COLUMNS, PAPER, over_nets
from report.cell import bare

SSIM = [name for name in COLUMNS if name.endswith("ssim")]
ALIKE = 0.01    # in SSIM: a smaller difference decides nothing


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
    back       with 128 pruned, the least mean similarity of the digit and the last image with its label
    elsewhere  claims that hold with pruning elsewhere than on all images, at the mean distances `apart`
    std        of robustness towards white at t = T = 128: published, ours, and the largest with 128 pruned
    {} of too few runs.
    """
    rows = suspects(runs)
    off = {row["reading"]: (row["distance"], sum(row[words] is True for words in claims.PRUNING))
           for row in rows}
    pruned, places = ([values for reading, values in off.items() if reading.startswith(word)]
                      for word in ("128 ", "pruning "))
    if "as in Table IV" not in off or not pruned or not places:
        return {}
    (here, held), (distances, held_too) = off["as in Table IV"], zip(*pruned)
    exact, beside = (of(runs, "mixed", [(level, level) for level in levels])
                     for levels in ([128], [127, 129]))
    stds = [some.robustness_std[some.background == "white"] for some in (exact, beside)]
    printed = PAPER["table-4"].row(t=128, T=128, background="white")["robustness_std"]
    apart = abs(here - min(distances)) > ALIKE
    blank = sum(row[words] not in (True, False) for row in rows if row["reading"] == "as in Table IV"
                for words in claims.PRUNING)
    return {"claims": len(claims.PRUNING), "here": here, "held": held, "least": min(distances),
            "unjudged": f", {blank} cannot be judged" if blank else "",
            "fewest": min(held_too), "favour": f"favour {'one' if apart else 'neither'} of the two rules",
            "back": beside.robustness_mean.min(),
            "elsewhere": f"at most {most}" if (most := max(hold for _, hold in places)) else "none",
            "apart": " and ".join(f"{distance:.3f}" for distance, _ in places),
            "std": {"paper": printed, "here": stds[0].mean(), "back": stds[1].max()}}


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
    """Facts: for how many networks alone robustness rises at each step at which separability falls.

    ties  of the others, those whose robustness falls by less than `margin` at each such step
    {} of one network, and where a network lacks a setting.
    """
    settings, fall = (UNPRUNED, *SETTINGS), {}
    for seed, own in of(runs, "mixed", settings).groupby("seed"):
        at = own.set_index(["background", "t", "T"]).sort_index()
        if len(at) < len(UNIFORM) * len(settings):
            return {}
        steps = [(at.loc[b, *before], at.loc[b, *after]) for b in UNIFORM
                 for before, after in zip(settings, SETTINGS)]
        fall[seed] = max((before.robustness_mean - after.robustness_mean for before, after in steps
                          if after.separability_mean < before.separability_mean), default=-1)
    return {"n": len(fall), "hold": sum(f < 0 for f in fall.values()), "margin": ALIKE,
            "ties": sum(0 <= f < ALIKE for f in fall.values())} if len(fall) > 1 else {}


def changed(runs):
    """Percent of the pixels of the test digits that each setting changes, before any search."""
    share = runs.groupby(["t", "T"]).changed.mean()
    return {f"t = {t}, T = {T}": 100 * float(share[t, T]) for t, T in SETTINGS if (t, T) in share.index}
