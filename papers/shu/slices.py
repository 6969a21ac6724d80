"""Planes through the 1 of Section 2.1 of Shu et al., as other sections show them: labels, areas."""
import matplotlib.pyplot as plt
import numpy as np

from shared.susceptibility import percentage

DELTA = 6**0.5      # radius of the paper's ball; its 6 is a squared distance, as those of Table 4


def of_runs(runs):
    """`{name: (answers [K, n, n], axis [n], at)}` of the planes through the chosen digit.

    A row of the answers is a place along the second direction; `axis` has the L2 distances from the digit,
    `at` the places of what spans the plane.
    """
    found = {}
    for run in runs.to_dict("records"):
        for name, plane in run["planes"].items():
            axis = np.linspace(-plane["reach"], plane["reach"], plane["answers"].shape[-1])
            found[name] = np.asarray(plane["answers"]).astype(int), axis, plane["at"]
    return found


def disagreement(clean):
    """Facts on the clean digits on which some two networks disagree; {} without runs.

    Shares of all digits, "clean", of those that the attacked network classifies correctly, "false", whose
    alarm is a false positive, and of the others, "true".
    """
    if not len(clean):
        return {}
    counts = np.sum(clean.agreement.tolist(), 0)        # [right or wrong, others that agree with the first]
    right, wrong = ((int(row[:-1].sum()), int(row.sum())) for row in counts)
    return {"networks": counts.shape[1], "false": percentage(*right), "true": percentage(*wrong),
            "clean": percentage(right[0] + wrong[0], right[1] + wrong[1])}


def near(axis, radius=DELTA):
    """Which points of a plane lie in the ball around the digit."""
    return np.hypot(*np.meshgrid(axis, axis)) <= radius


def types(answers, label):
    """Of each point: 0 all right, 1 the attacked network wrong but not all, 2 all wrong, 3 others wrong."""
    wrong = answers != label
    return np.where(wrong.all(0), 2, np.where(wrong[0], 1, np.where(wrong.any(0), 3, 0)))


def ring(ax):
    """The clean digit and the circle of the paper's radius."""
    ax.add_patch(plt.Circle((0, 0), DELTA, fill=False, color="k"))
    ax.plot(0, 0, "o", color="blue", ms=5)
