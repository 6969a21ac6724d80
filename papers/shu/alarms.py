"""Kinds of regions and the alarm by disagreement (Section 2.4): facts, rows and pictures."""
import matplotlib.pyplot as plt
import numpy as np

from papers.shu import beyond, figures
from report import display
from report.prose import mean
from shared import regions as boxes

NUMBERS = {"own": 1, "transferable": 2, "foreign": 3, None: None}      # the paper's types, by `boxes.kind`
THRESHOLDS = {1: "1: attacked network wrong on at least half, another on at most 5%",
              2: "2: every network wrong on at least a quarter",
              3: "3: attacked network wrong on at most 5%, another on at least half", None: "none of these"}


def _in_percent(share):
    return None if share is None else 100 * share


def by_type(runs):
    """A row a type: boxes, and the mean share of their samples on which all networks raise the alarm."""
    percents = {kind: [] for kind in THRESHOLDS}
    for box in (box for run in runs.to_dict("records") for box in figures.regions(run).values()):
        alarm = float(boxes.alarm(np.sum(box.at("agreement"), 0))[-1])
        percents[NUMBERS[boxes.kind(box.at("rates"))]].append(100 * alarm)
    return [{"type": THRESHOLDS[kind], "boxes": len(values), "alarm": mean(values)}
            for kind, values in percents.items()]


def by_type_and_digits(sweeps, fifty):
    """The same rows around one digit, with the boxes and their alarms around several digits."""
    of_many = {NUMBERS[kind]: facts for kind, facts in beyond.alarm_by_kind(fifty).items()}
    return [row | {"more_boxes": of_many[kind]["boxes"], "more_alarm": _in_percent(of_many[kind]["alarm"])}
            for kind, row in zip(THRESHOLDS, by_type(sweeps))]


def over_boxes(fifty):
    """Facts (%): alarm over all boxes around several digits; rate of a network in those of no type."""
    by_kind = beyond.boxes_by_kind(fifty)
    shares = [alarm for of in by_kind.values() for alarm, _ in of]
    return {"boxes": len(shares), "alarm": _in_percent(mean(shares)), "none": len(by_kind[None]),
            "wrong": _in_percent(mean([rate for _, rate in by_kind[None]]))} if by_kind[None] else {}


def alarms(clean):
    """Shares (%) of alarms by 2 ... K networks: on all clean digits, and on those classified correctly."""
    agreement = clean.agreement.iloc[0]
    agreed = {"all digits": np.sum(agreement, 0),
              "digits that the attacked network classifies correctly": agreement[0]}
    return {name: (100 * boxes.alarm(counts)).tolist() for name, counts in agreed.items()}


def on_clean(clean):
    """`figures.disagreement`, and the share (%) of clean digits on which `two` networks disagree."""
    shares = boxes.alarm(np.sum(clean.agreement.iloc[0], 0))
    return figures.disagreement(clean) | {"two": 100 * float(shares[0])}


def draw_numbers(clean):
    """Shares of clean digits with an alarm against the number of networks."""
    figure, ax = plt.subplots(figsize=(display.WIDEST, 3))
    for n, (name, values) in enumerate(alarms(clean).items()):
        ax.plot(range(2, 2 + len(values)), values, display.MARKERS[n] + display.LINES[n], label=name)
    ax.set(xlabel="networks", ylabel="digits with disagreement, %", ylim=(0, None))
    ax.legend()
    return figure


def alarm_data(clean, fifty):
    """`figures.disagreement`, and the mean alarm of all networks by type of box around several digits."""
    return figures.disagreement(clean) | {"fifty": {
        f"type_{NUMBERS[kind]}": values for kind, values in beyond.alarm_by_kind(fifty).items() if kind}}


def draw_alarms(facts, fifty):
    """Above, how often all networks disagree; below, how often so many do."""
    figure, (above, below) = plt.subplots(2, 1, figsize=(5.4, 4), height_ratios=(1.1, 1))
    kinds = {"attack": "adversarial images", "noise": "noise as large\nbefore clipping",
             "clean": "clean digits"}
    figures.draw_bars(above, [{"name": name, "colour": display.PALETTE[n], **facts[kind]}
                              for n, (kind, name) in enumerate(kinds.items())], "images with disagreement, %")
    for n, (of, curve) in enumerate(beyond.disagreement(fifty).groupby("networks").mean().items()):
        below.plot(curve.index, curve, display.MARKERS[n] + display.LINES[n], color=display.PALETTE[n],
                   label=kinds[of])
    below.set(xlabel="networks", ylabel="disagreement, %", ylim=(-3, 103))
    below.legend(loc="center right")
    return figure
