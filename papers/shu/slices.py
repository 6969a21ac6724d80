"""Planes through the 1 of Section 2.1 of Shu et al., as other sections show them: units, labels, areas."""
import matplotlib.pyplot as plt
import numpy as np

from shared.regions import setting
from shared.stability.susceptibility import percentage
from shared.units import handed

DELTA = 6**0.5      # radius of the paper's ball; its 6 is a squared distance, as those of Table 4


def of_section_2_1(run):
    """`(sweeps, planes, clean)`: units of Section 2.1, for a page that only shows them.

    In `smoke` and `quick` small ones of the run's scale stand for them: `family`, `attacks` {name: attack}
    (none at full scale), `count`, `samples`, `size`, `tested`.
    """
    def sweeps(scale):
        return {name: dict(family=scale.family, attack=attack, label=1, split="test", number=None, aims=0,
                           count=scale.count, least=2, sizes=3, also=[], whole=False, samples=scale.samples,
                           seed=scale.seed) for name, attack in scale.attacks.items()}

    def planes(scale):
        unit = dict(given=run.name, family=scale.family, label=1, others=[7, 2], targets={}, reach=6.0,
                    far=14.0, size=scale.size, seed=scale.seed)
        return {"planes": unit} if scale.attacks else {}

    def clean(scale):
        unit = dict(family=scale.family, images=scale.tested, seed=scale.seed)
        return {"seeds": unit} if scale.attacks else {}

    own = run.units("sweeps", setting.measure_image, sweeps)
    handed.give(run.name, own.mine)
    own = {"sweeps": own, "planes": run.units("planes", setting.measure_planes, planes),
           "clean": run.units("clean", setting.measure_clean, clean)}
    names = {"sweeps": list(setting.SWEEPS), "planes": ["planes"], "clean": ["seeds"]}
    return [handed.borrowed("shu/2_1_lenet", name, names[name], own=own[name]) for name in names]


def of_units(units):
    """`{name: (answers [K, n, n], axis [n], at)}` of the planes through the chosen digit.

    A row of the answers is a place along the second direction; `axis` has the L2 distances from the digit,
    `at` the places of what spans the plane.
    """
    found = {}
    for unit in units.to_dict("records"):
        for name, plane in unit["planes"].items():
            axis = np.linspace(-plane["reach"], plane["reach"], plane["answers"].shape[-1])
            found[name] = np.asarray(plane["answers"]).astype(int), axis, plane["at"]
    return found


def disagreement(clean):
    """Facts on the clean digits on which some two networks disagree; {} without units.

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
