"""One claim of each paper, judged on the networks of the others; the rules are those of the protocol.

A judge returns on how many cases the claim holds, of how many, what a case is, and the numbers behind it.
"""
import numpy as np

from papers.synthesis.comparison import shared_images
from papers.synthesis.experiments import BACKGROUNDS, DELTAS, GROUPS, HE_TRAINING
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
    return sum(m <= OF_PRINT for m in means), len(means), "means", (
        f"the largest mean similarity is {max(means):.3f}; each mean is of one network, with white or black"
        if means else "")


def boxes_of_one_training(runs):
    """Shu et al., Table 2: some boxes fool the attacked network while another is right on all samples."""
    places, counts = shared_images(runs), []
    for _, run in of_others(runs, "shu").iterrows():
        own, least = (np.asarray(run[name])[places] for name in ("own", "least_other"))
        if np.isfinite(least).any():
            counts.append(int(((own >= regions.MOSTLY) & (least == 0)).sum()))
    return sum(n > 0 for n in counts), len(counts), "networks", (
        f"the median network has such boxes at {np.median(counts):.0f} of {len(places)} images"
        if counts else "")


def nearer_after_training(runs):
    """He et al., Figure 2: adversarial training brings boundaries closer to benign MNIST images."""
    places = shared_images(runs)
    near = {(run.network, run.number): np.asarray(run.distance)[places].mean() for _, run in runs.iterrows()}
    pairs = [(near[natural, n], value) for (name, n), value in near.items()
             for natural in ["chen-natural"] if name.startswith("chen-robust") and (natural, n) in near]
    return sum(robust < natural for natural, robust in pairs), len(pairs), "pairs", (
        _of_pairs(runs[[name.startswith("chen-") for name in runs.network]], places, near) if pairs else "")


def _of_pairs(runs, places, near):
    """How the LeNets were trained, and how many of their directions reach no boundary."""
    hooks = [GROUPS[name].hook for name in runs.network]
    sizes = sorted({f"{hook.attack.threat.size:g}" for hook in hooks if hook})
    censored = [1 - np.asarray(reached)[places].mean() for reached in runs.reached]
    means = [near[pair] for pair in zip(runs.network, runs.number)]
    return (f"a pair is an adversarially (L∞ {' or '.join(sizes)}; the paper's: "
            f"{HE_TRAINING.attack.threat.size:g}) and a naturally trained LeNet of one seed; "
            f"{min(censored):.0%} to {max(censored):.0%} of the directions reach no boundary and count as "
            f"{runs.top.max():g}, and the mean distances are {min(means):.3f} to {max(means):.3f}")


def flipped_shares(runs):
    """For each network: of the images that the step flips, the share that noise ten times as long does."""
    places, shares = shared_images(runs), []
    for _, run in runs.iterrows():
        stepped = np.asarray(run.stepped)[places]
        flipped = np.asarray(run.noise)[DELTAS.index(10)][places]
        if stepped.any():
            shares.append(flipped[stepped].mean())
    return shares


def noise_is_harmless(runs):
    """Sutton et al., Figure 1: noise an order of magnitude larger than the attack mostly keeps the label."""
    shares = flipped_shares(runs)
    return sum(s < 0.5 for s in shares), len(shares), "networks", (
        f"at least one of {runs.draws.max()} samples flips {min(shares):.0%} to {max(shares):.0%} of the "
        "images that the step flips" if shares else "")


def robust_is_smaller(runs):
    """Chen et al., Table V: on original samples robust models have a smaller ROBY than natural ones.

    Open if both differ by no more than trainings of one group of the other networks do.
    """
    of, groups = dict(zip(runs.network, runs.roby)), runs.groupby("network").roby
    if not {"he-natural", "he-robust"} <= of.keys():
        return 0, 0, "pairs", ""
    robust, natural, spread = of["he-robust"], of["he-natural"], (groups.max() - groups.min()).max()
    words = f"ROBY is {robust:.3f} for the robust network of He et al., {natural:.3f} for the natural one"
    if abs(robust - natural) <= spread:
        return 0, 0, "pairs", f"{words}; trainings of one network differ by up to {spread:.3f}"
    return int(robust < natural), 1, "pairs", words


CLAIMS = {
    "ren": ("Adversarial examples are quite different from the originals (read as: at most 0.5310, the "
            "largest mean in Table III).",
            different_examples),
    "shu": ("Some boxes fool the attacked network while a re-training is right on all samples.",
            boxes_of_one_training),
    "he": ("Adversarial training brings boundaries closer to benign MNIST images.", nearer_after_training),
    "sutton": ("Most images keep their label under every noise sample ten times as long as the step along "
               "the gradient.", noise_is_harmless),
    "chen": ("On original samples robust models have a smaller ROBY than natural models.", robust_is_smaller)}


def where(hits, of, unit):
    """On how many cases a claim holds, for a table."""
    return f"{hits} of {of} {unit}" if of else "open"


def judged(runs):
    """Rows: paper, claim, on how many cases of networks of others it holds, of how many, of what; numbers."""
    if not len(runs) or not len(shared_images(runs)):
        return []
    return [(reference.SHORT[key], words, *judge(runs)) for key, (words, judge) in CLAIMS.items()]
