"""Readings of the network of Table 2 (`sutton`), and the rule of book/protocol.md that chooses the main one.

`units` is a DataFrame with a row a network (`tables`), with its `architecture` and `seed`; a
problem is its pair of classes.
"""
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from papers.sutton import figures, tables
from papers.sutton.experiments import READINGS, reading
from report import display

MOMENTUMS = ("bn", "bn-slow")
NORMALISED = (*MOMENTUMS, "public")
SEEDED, SEEDS = (0, 1), (0, 1, 2)  # the problem that the rule measures with several seeds, and these
BEHIND = 5  # points of test accuracy below the published one, beyond which a training failed
FITTED = "fitted: the network was chosen by its attackable shares"
NEAR = 3    # points of mean deviation within which the reading with fewer changes wins


class Choice(NamedTuple):
    """What the rule says of the networks that are there."""
    shares: dict      # {reading: {problem: test share of attackable images, percent}}, of complete problems
    deviation: dict   # {reading: mean absolute deviation from the published share, over these problems}
    momentum: str | None  # that of `MOMENTUMS` which goes on
    compared: list    # readings that take part: those of the other momentum, or of fewer problems, do not
    winner: str | None
    missing: list     # (reading, problem, seed) of networks without which there is no winner

    def near(self, reading, printed):
        """On how many problems a reading's share is within ten points of the published: "2 of 5 problems"."""
        mine = self.shares[reading]
        near = sum(abs(v - printed[p]["test"]) <= 10 for p, v in mine.items())
        return f"{near} of {figures.counted(len(mine), 'problem')}" if mine else None

    def state(self, reading):
        """What the rule says of a reading."""
        if reading == self.winner:
            return "chosen"
        if reading in MOMENTUMS and self.momentum not in (None, reading):
            return "other momentum"
        if reading in self.compared or any(reading == each for each, *_ in self.missing):
            return "waits" if self.missing else "not chosen"
        return "not on all problems"

    def waits_for(self, names):
        """The networks that are missing, a line a reading."""
        asked = {}
        for r, p, n in self.missing:
            asked.setdefault(r, {}).setdefault(p, []).append(str(n))
        return "\n".join(f"- *{READINGS[r].name}*: " + "; ".join(
            f"{figures.name(p, names)}, seed {' and '.join(seeds)}" for p, seeds in each.items()) + "."
            for r, each in asked.items())


def networks(*frames):
    """`{(problem, reading): {seed: unit}}` in the order of the problems, of `READINGS` and of the seeds."""
    every = [u for frame in frames for u in frame.to_dict("records")]
    found = {}
    for u in sorted(every, key=lambda u: (u["class_a"], u["class_b"],
                                          list(READINGS).index(reading(u["architecture"])), u["seed"])):
        found.setdefault(((u["class_a"], u["class_b"]), reading(u["architecture"])), {})[u["seed"]] = u
    return found


def failed(unit, right):
    """Whether test accuracy is more than `BEHIND` points below the published, `right[problem]["test"]`."""
    return tables.accuracy(unit["test"])["percent"] < right[unit["class_a"], unit["class_b"]]["test"] - BEHIND


def used(there, problem, right):
    """The networks of a problem and reading `{seed: unit}` that the rule uses, and the seeds that it lacks.

    In place of a network whose training failed it uses that of the next seed.
    """
    found, lacking = {}, set()
    for seed in SEEDS if problem == SEEDED else SEEDS[:1]:
        while seed in there and failed(there[seed], right):
            seed += 1
        if seed in there:
            found[seed] = there[seed]
        else:
            lacking.add(seed)
    return list(found.values()), sorted(lacking)


def _share(nets):
    return float(np.mean([tables.attacked(u["test"])["percent"] for u in nets]))


def _momentum(nets, right, printed):
    """Rule 1; None until both readings have all their seeds."""
    there = {r: nets.get((SEEDED, r), {}) for r in MOMENTUMS}
    if any(n not in there[r] for r in MOMENTUMS for n in SEEDS):
        return None
    good = {r: [there[r][n] for n in SEEDS if not failed(there[r][n], right)] for r in MOMENTUMS}
    return min(MOMENTUMS, key=lambda r: (
        -len(good[r]), abs(_share(good[r]) - printed[SEEDED]["test"]) if good[r] else np.inf))


def chosen(units, others, right, printed):
    """The `Choice` among the networks of two frames.

    right, printed   {problem: row} with the published test accuracy and share of attackable images, "test"
    """
    nets = networks(units, others)
    found = {r: {p: used(nets.get((p, r), {}), p, right) for p in printed} for r in READINGS}
    shares = {r: {p: _share(mine) for p, (mine, lacking) in each.items() if not lacking}
              for r, each in found.items()}
    deviation = {r: float(np.mean([abs(v - printed[p]["test"]) for p, v in each.items()]))
                 for r, each in shares.items() if each}
    momentum = _momentum(nets, right, printed)
    compared = [r for r in READINGS if len(shares[r]) == len(printed) and r in (
        *READINGS.keys() - set(MOMENTUMS), momentum)]
    asked = [(r, p) for r in ("", momentum, "public") if r is not None for p in printed]
    missing = [(r, SEEDED, n) for r in MOMENTUMS if momentum is None
               for n in SEEDS if n not in nets.get((SEEDED, r), {})]
    missing += [(r, p, n) for r, p in asked for n in found[r][p][1]]
    winner = None
    if not missing:
        least = min(deviation[r] for r in compared)
        winner = min((r for r in compared if deviation[r] <= least + NEAR),
                     key=lambda r: (READINGS[r].changes, deviation[r]))
    return Choice(shares, deviation, momentum, compared, winner, missing)


# ---- what tables and the picture say of a network --------------------------------------------------------
def facts(part):
    """Of a set, or of its images of one class: shares in percent, images attacked; a set's norm and ratio."""
    l1, l2 = (part["attack"].get(norm, {}).get("mean") for norm in ("l1", "l2"))
    return {"test": tables.accuracy(part)["percent"],
            "tried": part["tried"],
            "attack": part["attack"].get("susceptibility", part["attack"])["percent"],
            "size": l2, "ratio": l1 / l2 if l2 else None,
            "lost": 100 * part["saturated"] / part["tried"] if part["tried"] else None}


HEADER = {"problem": "problem", "reading": "reading", "seed": "seed", "train": "training accuracy",
          "test": "test accuracy", "tried": "images attacked", "attack": "attackable",
          "lost": "zero gradient"}


def rows(units, others, published, names):
    """A row for each network of a problem, the published one first.

    published   problem -> the `facts` of the paper's network
    """
    made, nets = [], networks(units, others)
    for (p, r), there in nets.items():
        about = {"problem": figures.name(p, names)}
        if not any(row["problem"] == about["problem"] for row in made):
            made.append({**about, "reading": "published", **published(p)})
        made += [{**about, "reading": READINGS[r].name, "seed": str(n), **facts(u["test"]),
                  "train": tables.accuracy(u["train"])["percent"]} for n, u in there.items()]
    return made


def class_rows(units, others, names):
    """A row for each class of the networks that were measured by class."""
    return [{"problem": figures.name(p, names), "reading": READINGS[r].name, "seed": str(n),
             "sign": names[p[label]], "label": label,
             "train": tables.accuracy(u["train"]["by_class"][label])["percent"], **facts(part)}
            for (p, r), there in networks(units, others).items() for n, u in there.items()
            for label, part in enumerate(u["test"].get("by_class", ()))]


def draw(units, others, published, right, names):
    """A panel a problem, a marker a network: norm over share; None without networks of a second reading."""
    nets = networks(units, others)
    shown = list(dict.fromkeys(p for p, _ in nets))
    drawn = [r for r in READINGS if any(r == own for _, own in nets)]
    if len(drawn) < 2:
        return None
    style = {r: dict(ls="", ms=6, marker="osD^vPX"[n], color="0.6" if r else "0")
             for n, r in enumerate(r for r in READINGS if r not in NORMALISED)}
    style |= {r: dict(ls="", ms=7, marker="osD"[n], color=display.PALETTE[(1, 2, 0)[n]])
              for n, r in enumerate(NORMALISED)}
    figure, axes = plt.subplots(-(-len(shown) // 2), 2, figsize=(7.2, 1 + 2.3 * -(-len(shown) // 2)),
                                squeeze=False)
    for p, ax in zip(shown, axes.flat):
        there = published(p)
        ax.axvline(there["attack"], color=figures.PRINTED, lw=1, zorder=0)
        ax.axhline(there["size"], color=figures.PRINTED, lw=1, zorder=0)
        for r, u in ((r, u) for (q, r), mine in nets.items() if q == p for u in mine.values()):
            told = facts(u["test"])
            if told["size"] is not None:
                ax.plot(told["attack"], told["size"], **style[r],
                        fillstyle="none" if failed(u, right) else "full")
        ax.set(xlim=(-4, 104), ylim=(0, 1.1 * max(ax.get_ylim()[1], there["size"])))
        ax.set_title(figures.name(p, names), loc="left")
    figure.supxlabel("attackable test images, %")
    figure.supylabel("mean ℓ₂ norm")
    told = [plt.Line2D([], [], **style[r], label=READINGS[r].name) for r in drawn]
    told += [plt.Line2D([], [], ls="", marker="o", color="0.6", fillstyle="none", label="failed training"),
             plt.Line2D([], [], color=figures.PRINTED, lw=1, label="published")]
    rest = axes.flat[len(shown):]
    for ax in rest:
        ax.axis("off")
    if len(rest):
        rest[0].legend(handles=told, loc="center left")
    else:
        figure.legend(handles=told, loc="outside upper center", ncols=2)
    return figure


# ---- results of the networks in words --------------------------------------------------------------------
def noisiest(units):
    """`(problem, share), shares` of test labels that noise of the attack's own norm flips: the most, all."""
    found = {p: share for p, u in figures.measured(units).items()
             if (share := tables.disturbed(1)(u["test"]))["of"]}
    return max(found.items(), key=lambda each: each[1]["percent"], default=(None, None)), found


def printed_in_words(units, printed, names):
    """What Table 2 as printed gives: the range of the attackable share, and where noise flips most labels.

    units     those networks whose training did not fail
    printed   {problem: row} with the published share that noise of the attack's norm flips, "test"
    """
    (problem, noise), found = noisiest(units)
    if noise is None:
        return "No image was perturbed at random under Table 2 as printed."
    ends = figures.ends_in_words([tables.attacked(u["test"])["percent"] for u in units.to_dict("records")])
    rest = [each["percent"] for p, each in found.items() if p != problem]
    others = f", and of at most {figures.in_percent(max(rest))} on the other problems" if rest else ""
    return (f"With Table 2 as printed, {ends} of the test images are attackable "
            f"({figures.counted(len(units), 'problem')} whose training did not fail). Noise of the attack's "
            f"own norm flips the label of {figures.in_percent(noise['percent'])} of the attackable test "
            f"images of *{figures.name(problem, names)}* (n = {noise['of']}; paper: "
            f"{figures.in_percent(printed[problem]['test'])}){others}.")


def classes_in_words(units, others):
    """Vanished gradients by label, with and without batch normalisation."""
    told = []
    for words, there in (("with batch normalisation", True), ("without it", False)):
        nets = [u["test"]["by_class"] for (_, r), mine in networks(units, others).items()
                if (r in NORMALISED) == there for u in mine.values() if "by_class" in u["test"]]
        lost, tried = ([sum(each[label][key] for each in nets) for label in (0, 1)]
                       for key in ("saturated", "tried"))
        if all(tried):
            told.append(f"{words} ({figures.counted(len(nets), 'network')}), " + " and ".join(
                f"{figures.in_percent(100 * lost[n] / tried[n])} of {tried[n]:,} images of label {n}"
                for n in (0, 1)))
    return ("The loss gradient of correctly classified test images is exactly zero for these shares: "
            f"{'; '.join(told)}." if told else "No network was measured by class.")


def vanished_in_words(units, shares, right, names):
    """How far the shares lie from the published ones if an undefined step counts as an attack."""
    (without, where), (counting, _) = (deviation(units, shares, right, zero=zero) for zero in (False, True))
    if without is None:
        return "No network has learned its problem in this run."
    each = {p: [deviation(units, shares, right, {p}, zero=zero)[0] for zero in (False, True)] for p in where}
    change = {p: after - before for p, (before, after) in each.items()}
    moved = [f"{verb} most on *{figures.name(p, names)}* ({each[p][0]:.1f} to {each[p][1]:.1f} points)"
             for verb, p in (("falls", min(change, key=change.get)), ("rises", max(change, key=change.get)))
             if (change[p] > 0) == (verb == "rises") and change[p] != 0]
    ends = f" The deviation {' and '.join(moved)}." if moved else ""
    return ("Divided by its norm, such a gradient has no value, and a program may count the image as "
            "attacked ({ref}`sutton-7-1`); ours does not. If these images count as attacked, the networks of "
            f"Table 23 deviate from the published test shares by {counting:.1f} points on average instead of "
            f"{without:.1f} (n = {figures.counted(len(where), 'problem')}).{ends} The paper does not state "
            "what its software does.")


def seeds_in_words(units, others, printed, names):
    """How mean norms of another training differ, and on which problem ours differ most from the published."""
    size = {p: facts(u["test"])["size"] for p, u in figures.measured(units).items()}
    size = {p: mean for p, mean in size.items() if mean is not None}
    seeds = [mean for (p, r), nets in networks(others).items() if (p, r) == (SEEDED, "bn")
             for u in nets.values() if (mean := facts(u["test"])["size"]) is not None]
    if not size or not seeds:
        return ""
    worst = max(size, key=lambda p: abs(size[p] - printed[p]["mean"]))
    return (f"Another training changes these values: on *{figures.name(SEEDED, names)}* the mean ℓ₂ norm on "
            f"test images is {min(seeds):.2f} to {max(seeds):.2f} over "
            f"{figures.counted(len(seeds), 'further network')} (paper: {printed[SEEDED]['mean']:.2f}). The "
            f"difference is largest on *{figures.name(worst, names)}*: {size[worst]:.2f} (paper: "
            f"{printed[worst]['mean']:.2f}).")


# ---- on data sets that have no part in the choice ---------------------------------------------------------
def compare(run, name, units, plain, shares, right, norms, names):
    """Show networks with batch normalisation beside Table 2 as printed, and how far both are off.

    units, plain           the `Results` of both
    shares, right, norms   {problem: row} with the published share of attackable images and the accuracy,
                           "test", and the mean norm of the attacks on test images, "mean"
    """
    bn, plainly = READINGS["bn"].name, READINGS[""].name
    display.say(f"The paper's Table 2 lists the layers of its network. *{plainly}* follows that list. *{bn}* "
                "adds batch normalisation after every rectifier, with a running momentum of 0.9. "
                "{ref}`A rule <which-network>` chose the second on the traffic signs of {ref}`Section 7.2.3 "
                "<sutton-7-2-3>`; the problems of this page have no part in it. The other sections of this "
                "page show the second.")
    run.extra(name, (units, plain), lambda u, p: test_rows(u, p, shares, right, norms, names),
              "Both networks, test images. Shares are percentages.",
              header={"problem": "problem", "reading": "network", "test": "test accuracy",
                      "tried": "images attacked", "attack": "attackable", "lost": "zero gradient",
                      "size": "mean ℓ₂ norm"})
    run.tell((units, plain), lambda u, p: deviation_in_words(u, p, shares, right, names))


def test_rows(units, plain, shares, right, norms, names):
    """A row for each network of a problem, the published one first."""
    nets, made = networks(units, plain), []
    for problem in dict.fromkeys(p for p, _ in nets):
        made.append({"problem": figures.name(problem, names), "reading": "published",
                     "test": right[problem]["test"], "attack": shares[problem]["test"],
                     "size": norms[problem]["mean"]})
        made += [{"problem": figures.name(problem, names), "reading": READINGS[r].name, **facts(u["test"])}
                 for (p, r), there in nets.items() if p == problem for u in there.values()]
    return made


def deviation(frame, shares, right, problems=None, *, zero=False):
    """Mean absolute deviation from the published share over the networks that learned, and their problems.

    zero    whether an image whose gradient is exactly zero counts as attackable
    """
    off = {}
    for u in frame.to_dict("records"):
        problem, part = (u["class_a"], u["class_b"]), u["test"]
        if part["tried"] and not failed(u, right) and (problems is None or problem in problems):
            share = figures.with_zero(part) if zero else tables.attacked(part)["percent"]
            off[problem] = abs(share - shares[problem]["test"])
    return float(np.mean(list(off.values()))) if off else None, set(off)


def of_both(units, plain, right):
    """The problems that a network of either reading has learned, in their order."""
    learned = [{(u["class_a"], u["class_b"]) for u in frame.to_dict("records")
                if u["test"]["tried"] and not failed(u, right)} for frame in (units, plain)]
    return sorted(set.intersection(*learned))


def deviation_in_words(units, plain, shares, right, names):
    """How far both readings are from the published attackable shares, on the problems of both."""
    both = of_both(units, plain, right)
    if not both:
        return "No problem has a network of either kind that has learned it."

    def points(frame, zero=False):
        return f"{deviation(frame, shares, right, both, zero=zero)[0]:.1f}"

    bn, plainly, many = READINGS["bn"].name, READINGS[""].name, len(both) > 1
    where = " and ".join(figures.name(p, names) for p in both)
    others = ("" if len(units) == len(plain) == len(both) else
              " Rows of other problems compare with the published row of their own problem alone.")
    return (f"Both networks have learned {figures.counted(len(both), 'problem')} ({where}). There the "
            f"attackable share deviates from the published one by {points(units)} points with *{bn}* and by "
            f"{points(plain)} points with *{plainly}*{', on average' if many else ''}. If every image with a "
            f"zero gradient counts as attackable, the deviations are {points(units, True)} and "
            f"{points(plain, True)} points.{others}")


def both_in_words(units, plain, shares, right):
    """For the box: the attackable share under both readings and the published one, on problems of both."""
    both = of_both(units, plain, right) if len(plain) else []
    if not both:
        return None
    ours = [figures.in_percent(_share([u for u in frame.to_dict("records")
                                     if (u["class_a"], u["class_b"]) in both])) for frame in (units, plain)]
    theirs = figures.in_percent(float(np.mean([shares[p]["test"] for p in both])))
    return ("Our networks have batch normalisation, unlike the paper's Table 2; on "
            f"{figures.counted(len(both), 'pair')} the step misclassifies {ours[0]} with it and {ours[1]} "
            f"without (paper: {theirs}).")
