"""One claim of each paper, judged on the networks of the others; the rules are those of the protocol."""
import numpy as np

from papers.synthesis.comparison import shared_images
from papers.synthesis.experiments import BACKGROUNDS, DELTAS, GROUPS
from report import reference
from shared import regions

OF_PRINT = 0.5310       # the largest similarity of an adversarial example that Ren et al. print


def of_others(runs, key):
    """The runs of networks whose architecture is another paper's."""
    return runs[[GROUPS[name].paper != key for name in runs.network]]


def different_examples(runs):
    """Ren et al., Table III: examples by mixing with white or black are quite different from the original."""
    places = shared_images(runs)
    sides = [BACKGROUNDS.index(name) for name in ("white", "black")]
    means = [np.nanmean(np.asarray(row)[side][places]) for row in of_others(runs, "ren").example
             for side in sides if np.isfinite(np.asarray(row)[side][places]).any()]
    if not means:
        return None, ""
    return max(means) <= OF_PRINT, (
        f"the largest mean similarity is {max(means):.3f}; {sum(m <= OF_PRINT for m in means)} of "
        f"{len(means)} means (a network and a background) are at most {OF_PRINT}")


def boxes_of_one_training(runs):
    """Shu et al., Table 2: some boxes fool the attacked network while another is right on all samples."""
    places, counts = shared_images(runs), []
    for _, run in of_others(runs, "shu").iterrows():
        own, least = (np.asarray(run[name])[places] for name in ("own", "least_other"))
        if np.isfinite(least).any():
            counts.append(int(((own >= regions.MOSTLY) & (least == 0)).sum()))
    if not counts:
        return None, ""
    return min(counts) > 0, (f"{sum(n > 0 for n in counts)} of {len(counts)} networks have such a box; the "
                             f"median network has them at {np.median(counts):.0f} of {len(places)} images")


def nearer_after_training(runs):
    """He et al., Figure 2: adversarial training brings boundaries closer to benign MNIST images."""
    places = shared_images(runs)
    near = {(run.network, run.number): np.asarray(run.distance)[places].mean() for _, run in runs.iterrows()}
    pairs = [(near[natural, n], value) for (name, n), value in near.items()
             for natural in ["chen-natural"] if name.startswith("chen-robust") and (natural, n) in near]
    closer = sum(robust < natural for natural, robust in pairs)
    return (None, "") if not pairs else (closer == len(pairs), (
        f"the boundary is nearer in {closer} of {len(pairs)} pairs of an adversarially and a naturally "
        "trained LeNet of one seed"))


def noise_is_harmless(runs):
    """Sutton et al., Figure 1: noise an order of magnitude larger than the attack mostly keeps the label."""
    places, shares = shared_images(runs), []
    for _, run in runs.iterrows():
        stepped = np.asarray(run.stepped)[places]
        flipped = np.asarray(run.noise)[DELTAS.index(10)][places]
        if stepped.any():
            shares.append(flipped[stepped].mean())
    if not shares:
        return None, ""
    return max(shares) < 0.5, (
        f"noise flips {min(shares):.0%} to {max(shares):.0%} of the attacked images at least once; the share "
        f"is below 50% for {sum(s < 0.5 for s in shares)} of {len(shares)} networks")


def robust_is_smaller(runs):
    """Chen et al., Table V: on original samples robust models have a smaller ROBY than natural ones."""
    of = dict(zip(runs.network, runs.roby))
    if not {"he-natural", "he-robust"} <= of.keys():
        return None, ""
    return of["he-robust"] < of["he-natural"], (f"ROBY is {of['he-robust']:.3f} for the robust network of He "
                                                f"et al. and {of['he-natural']:.3f} for the natural one")


CLAIMS = {
    "ren": ("Adversarial examples are quite different from the originals: similarity at most 0.5310.",
            different_examples),
    "shu": ("Some boxes fool the attacked network while a re-training is right on all samples.",
            boxes_of_one_training),
    "he": ("Adversarial training brings boundaries closer to benign MNIST images.", nearer_after_training),
    "sutton": ("Noise ten times as long as the attack mostly does not change the label.", noise_is_harmless),
    "chen": ("On original samples robust models have a smaller ROBY than natural models.", robust_is_smaller)}


HOLDS = {True: "holds", False: "does not hold", None: "open"}     # on these networks


def outcome(rows):
    """One sentence on what `judged` gives; empty of nothing."""
    of = {holds: [short for short, _, held, _ in rows if held is holds] for holds in HOLDS}
    said = {True: ("holds", "hold"), False: ("does not", "do not"), None: ("is open", "are open")}
    parts = [f"{len(some)} {said[holds][len(some) > 1]} ({', '.join(some)})"
             for holds, some in of.items() if some]
    return f"Of the {len(rows)} claims {', '.join(parts)}." if parts else ""


def judged(runs):
    """Rows for a table: paper, claim, whether it holds on networks of others, the numbers."""
    if not len(runs) or not len(shared_images(runs)):
        return []
    outcomes = {key: judge(runs) for key, (_, judge) in CLAIMS.items()}
    return [(reference.SHORT[key], CLAIMS[key][0], None if holds is None else bool(holds), numbers)
            for key, (holds, numbers) in outcomes.items()]
