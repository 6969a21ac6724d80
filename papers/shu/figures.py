"""What the pages on Shu et al. share: the box behind each printed row, rows of tables, figures."""
from dataclasses import dataclass, replace

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from papers.shu.experiments import CIFAR10, METHODS, PAPER, RULES
from report import display
from report.cell import Cell
from report.comparison import over_trainings
from shared import regions as boxes
from shared import runtime
from shared.regions import Box
from shared.susceptibility import percentage

SIZES = {"table-3": "table-2", "table-4": "table-2", "table-7": "table-6", "table-9": "table-10"}
KINDS = {"own": "attacked network's boundary", "foreign": "other networks' errors",
         "transferable": "transferable", None: "none of these"}
MEANT = (     # by `boxes.kind`
    "The kind of a box is *attacked network's boundary* (type 1 of Section 2.4) if this network "
    f"misclassifies at least {boxes.MOSTLY:.0%} of its samples and another network at most "
    f"{boxes.RIGHT:.0%}, *transferable* (type 2) if every network misclassifies at least "
    f"{boxes.SIGNIFICANT:.0%}, and *other networks' errors* (type 3) if the attacked network misclassifies "
    f"at most {boxes.RIGHT:.0%} and another at least {boxes.MOSTLY:.0%}.")
UNKNOWN = "unnamed image: the paper prints it without its index"
DELTA = 6**0.5      # radius of the paper's ball; its 6 is a squared distance, as those of Table 4
# Columns that claims read and tables do not show.
HIDDEN = ("examples", "perturbed", "n_intervals", "digits", "own_pct", "others_pct")


def errors(runs):
    """The test errors `{M1: ...}` of networks; the same number stands for another network in the paper."""
    return {f"M{number}": over_trainings(error, runs.test_error.drop(at), over="networks")
            for number, (at, error) in zip(runs.network, runs.test_error.items())}


def of_networks(runs):
    """Rows of Table 1: the printed table has five networks a row."""
    by_name = errors(runs)
    return [{"printed_row": row["printed_row"]} | {k: by_name[k] for k in row if k in by_name}
            for row in PAPER["table-1"].rows]


def called(method):
    """An attack's name in text."""
    return METHODS[method].replace("Linf", "L∞")


# ---- the box of a printed row ----------------------------------------------------------------------------
@dataclass(frozen=True)
class Region:
    """The box of one attack on one image towards one class, as a run of `measure_image` has it."""
    run: dict           # a row of the frame of runs
    target: int         # the class of the examples
    held: dict          # what the run holds of that class
    whole: bool         # intervals [0, 1], as the paper takes for the pointwise attack
    rule: str           # which values are kept, of `experiments.RULES`
    b: int              # intervals

    @property
    def curve(self):
        """`boxes.curve` of this rule: lists over the sizes of boxes."""
        return self.held["whole" if self.whole else "boxes"][self.rule]

    def at(self, name):
        """A value of the curve at the size of this box."""
        return self.curve[name][self.curve["sizes"].index(self.b)]

    @property
    def kept(self):
        """How many values the rule keeps."""
        return self.held["changed_values"][self.rule]

    @property
    def perturbed(self):
        """How many values at least one example changes, as the paper's text counts perturbed pixels."""
        return self.held["changed_values"]["any"]

    @property
    def box(self):
        """The `Box` of all values that the rule keeps."""
        clean = torch.as_tensor(self.run["clean"])[None].float() / 255
        values, low, high, changed = (torch.as_tensor(self.held[k])
                                      for k in ("values", "low", "high", "changed"))
        box = Box(clean, values.long(), low, high, changed.long())
        box = box.kept(RULES[self.rule], self.held["examples"])
        return box.whole() if self.whole else box

    @property
    def name(self):
        """The attack and the two classes: "CW2 1 → 6"."""
        return f"{called(self.run['method'])} {self.classes}"

    @property
    def classes(self):
        """From the true class to the examples' class: "1 → 6"."""
        return f"{self.run['label']} → {self.reached}"

    @property
    def reached(self):
        """The examples' class, by its name where the true one has a name."""
        return CIFAR10[self.target] if self.run["label"] in CIFAR10 else self.target


def regions(run):
    """The `Region` of each class that a run (a row of the frame) has boxes of, with all values kept."""
    by_class = {}
    for t, held in run["classes"].items():
        if curves := held.get("whole") or held.get("boxes"):
            whole = "whole" in held
            rule = "any" if whole or "all" not in curves else "all"
            by_class[int(t)] = Region(run, int(t), held, whole, rule, held["changed_values"][rule])
    return by_class


def region(run, target=None, b=None):
    """The `Region` of a run that stands for a printed row; None where it has none.

    Where the printed class has too few examples, that of most; where fewer values are kept than `b`, all.
    """
    by_class = regions(run)
    if not by_class:
        return None
    target = target if target in by_class else max(by_class, key=lambda t: by_class[t].held["examples"])
    chosen = by_class[target]
    return replace(chosen, b=b if b in chosen.curve["sizes"] else chosen.kept)


def of_rows(runs, item):
    """`[(printed row, Region)]` of the rows of a table whose runs are there and have a box.

    The boxes are those of Table 2, in Section 2.2 those of Table 6, in Section 2.3 those of Table 10.
    """
    return [(row, box) for row, box in _with_runs(runs, item) if box]


def _with_runs(runs, item):
    pairs = []
    for row in PAPER[item].rows:
        attack, source, target = row["attack"], row["source_class"], row["target_class"]
        for run in runs.to_dict("records"):
            if (METHODS[run["method"]], run["label"]) == (attack, source):
                b = PAPER[SIZES.get(item, item)].row(attack=attack, source_class=source)["n_intervals"]
                pairs.append((row, region(run, CIFAR10.index(target) if target in CIFAR10 else target, b)))
    return pairs


# ---- rows of tables --------------------------------------------------------------------------------------
def _rates(rates):
    """Columns M1 ... of misclassification rates."""
    return {f"M{k}": rate for k, rate in enumerate(rates, start=1)}


def _rows(runs, item, of):
    """A row for each printed one whose run is there: what `of` makes of its `Region`, or why it has none."""
    none = {"status": "not measured: too few different examples of any one class"}
    return [{"attack": row["attack"], "source_class": row["source_class"]} | (
        none if box is None else
        {"status": UNKNOWN, "target_class": box.reached, "examples": box.held["examples"]} | of(box))
        for row, box in _with_runs(runs, item)]


def _size(box):
    """The number of intervals: where as many values are kept, that of the print."""
    return {"perturbed": box.perturbed, "n_intervals": Cell(
        box.b, status=None if box.b == box.kept else "fitted: the printed number is taken")}


def inside(runs, item):
    """Rows of Table 2 or 6: rates in the boxes."""
    return _rows(runs, item, lambda box: _rates(box.at("rates")) | {
        **_size(box), "smallest_interval": float(box.box.widths[box.b - 1])})


def attacked(runs, item, counted="n_perturbed_pixels"):
    """Rows of Table 3, 7 or 9: rates on the examples themselves, and how many values any of them changes."""
    return _rows(runs, item, lambda box: _rates(box.held["attack"]["rates"]) | {counted: box.perturbed})


def distances(runs, item):
    """Rows of Table 4 or 10: distances from the clean image, of samples of the box and of the examples."""
    def of(box):
        sides = {"sampled": box.at("squared"), "attack": box.held["squared"]}
        return _size(box) | {f"{side}_l2_{end}": value for side, values in sides.items()
                             for end, value in zip(("min", "mean", "max"), values)}
    return _rows(runs, item, of)


# ---- figures ---------------------------------------------------------------------------------------------
def shown(box):
    """An example of the attack, the nearest to the clean image, and an image sampled from the box."""
    drawn = runtime.generator(0, "shu", "shown", box.name)
    sample = box.box.first(box.b).sample(1, generator=drawn)[0]
    return torch.as_tensor(box.held["nearest"]).numpy(), sample.numpy()


def draw_pairs(runs, item):
    """Columns of printed rows: the attack's image above one from its box; None without any."""
    pairs = {f"{called(box.run['method'])}\n{box.classes}": shown(box)
             for _, box in of_rows(runs, item)}
    return display.image_table([{name: pair[n] for name, pair in pairs.items()} for n in (0, 1)]
                               if pairs else [])


def draw_digits(runs):
    """The projected digits at their places, coloured by class."""
    figure, ax = plt.subplots(figsize=(display.WIDEST, 4.2))
    places, labels = np.asarray(runs.places[0]), np.asarray(runs.labels[0])
    for digit in range(10):
        points = places[labels == digit]
        ax.scatter(*points.T, s=6, color=display.PALETTE[digit])
        if len(points):
            ax.text(*np.median(points, 0), str(digit), weight="bold", size=14, path_effects=[
                withStroke(linewidth=3, foreground="white")])
    ax.set(xticks=[], yticks=[], xlabel="first t-SNE coordinate", ylabel="second t-SNE coordinate")
    return figure


def neighbours(runs):
    """Share of the projected digits whose nearest neighbour in the plane is of their class."""
    places, labels = torch.as_tensor(np.asarray(runs.places[0])), torch.as_tensor(runs.labels[0])
    apart = torch.cdist(places, places).fill_diagonal_(torch.inf)
    return {"images": int(runs.images[0]), "digits": len(labels.unique()),
            "same_class_nearest": (labels[apart.argmin(1)] == labels).double().mean().item()}


def draw_curves(runs, item):
    """A panel a printed row: the rate of each network against the number of intervals; None without any."""
    panels = of_rows(runs, item)
    if not panels:
        return None
    columns = min(3, len(panels))
    figure, axes = plt.subplots(-(-len(panels) // columns), columns, sharey=True, squeeze=False,
                                figsize=(display.WIDEST, 0.6 + 1.9 * -(-len(panels) // columns)))
    for ax in axes.flat[len(panels):]:
        ax.set_axis_off()
    for ax, (_, box) in zip(axes.flat, panels):
        rates = list(zip(*box.curve["rates"]))
        few = len(rates) <= 1 + len(display.LINES)
        for k, rate in reversed(list(enumerate(rates))):
            other = dict(color=display.PALETTE[(0, 1, 2, 4)[(k - 1) % 4]], ls=display.LINES[k - 1],
                         label=f"$M_{k + 1}$") if few and k else dict(
                color=display.PALE, label="the other networks" if k == 1 else None)
            ax.plot(box.curve["sizes"], rate, lw=1.4 if k else 2.2, **other if k else dict(
                color=display.PALETTE[3], label="$M_1$, attacked"))
        ax.axvline(box.b, color=display.GUIDE, ls=":", lw=1)
        ax.set(title=box.name, ylim=(-0.04, 1.04))
    figure.supxlabel("intervals b")
    figure.supylabel("misclassification rate")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=len(labels))
    return figure


# ---- pictures of the boxes ---------------------------------------------------------------------------------
def draw_bars(ax, bars, label):
    """Bars of shares in percent from above; a bar without a share is a heading.

    bars   dicts: name, percent; low and high of a 95% interval, the published value `paper`, colour
    """
    for place, bar in enumerate(bars):
        if "percent" not in bar:
            ax.text(0, place + 0.1, bar["name"], va="center")
            continue
        ax.barh(place, bar["percent"], 0.7, color=bar.get("colour", display.PALETTE[0]))
        if "low" in bar:
            ax.errorbar(bar["percent"], place, capsize=3, color="k", lw=1.2, xerr=[
                [bar["percent"] - bar["low"]], [bar["high"] - bar["percent"]]])
        if "paper" in bar:
            ax.plot([bar["paper"]] * 2, [place - 0.42, place + 0.42], color=display.PRINTED, lw=3)
    drawn = {place: bar["name"] for place, bar in enumerate(bars) if "percent" in bar}
    ax.set(xlim=(-1, 102), xlabel=label, ylim=(len(bars) - 0.4, -0.6), yticks=[*drawn],
           yticklabels=drawn.values())
    handles = [Line2D([], [], color=colour, lw=width, label=name)
               for key, colour, width, name in (("paper", display.PRINTED, 3, "paper"),
                                                ("low", "k", 1.2, "95% interval"))
               if any(key in bar for bar in bars)]
    ax.figure.legend(handles=handles, loc="outside upper right", ncols=len(handles))


def bars(rows, label):
    """A figure of `draw_bars`."""
    figure, ax = plt.subplots(figsize=(5.4, 0.9 + 0.33 * len(rows)))
    draw_bars(ax, rows, label)
    return figure


def draw_sheets(disagree, wrong, sheets, error):
    """Left the errors of two classifiers by the first pixel; right the probability that networks disagree.

    wrong, sheets, error   the interval where both err, places where the second errs, too, and their error
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.7), width_ratios=(3, 1))
    low, high = map(float, wrong)
    for height in (1, 0):
        left.barh(height, 1, 0.5, color=display.PALE)
        left.barh(height, high - low, 0.5, low, color=display.PALETTE[3])
        left.text(1.03, height, f"error {error:g}", va="center")
    left.vlines(sheets, -0.25, 0.25, color=display.PALETTE[3], lw=1)
    left.set(xlim=(0, 1.3), yticks=[1, 0], yticklabels=["one classifier", "and with errors\non sheets"],
             xticks=[0, 0.5, 1], xlabel="first pixel")
    right.bar(["sheets\n(exact)", "LeNets\n(test\ndigits)"], [0, disagree["percent"]],
              color=display.PALETTE[0])
    right.errorbar(1, disagree["percent"], [[disagree["percent"] - disagree["low"]],
                                            [disagree["high"] - disagree["percent"]]], color="k", capsize=3)
    right.set(ylabel="probability of\ndisagreement, %")
    return figure


# ---- planes through the digit of Section 2.1 ---------------------------------------------------------------
def of_runs(runs):
    """`{name: (answers [K, n, n], axis [n], at)}` of the planes through the chosen digit.

    A row of the answers is a place along the second direction; `axis` has the L2 distances from the digit,
    `at` the places of what spans the plane.
    """
    planes = {}
    for run in runs.to_dict("records"):
        for name, plane in run["planes"].items():
            axis = np.linspace(-plane["reach"], plane["reach"], plane["answers"].shape[-1])
            planes[name] = np.asarray(plane["answers"]).astype(int), axis, plane["at"]
    return planes


def disagreement(clean):
    """Facts on the clean digits on which some two networks disagree.

    Shares of all digits, "clean", of those that the attacked network classifies correctly, "false", whose
    alarm is a false positive, and of the others, "true".
    """
    counts = np.sum(clean.agreement.tolist(), 0)        # [right or wrong, others that agree with the first]
    right, wrong = ((int(row[:-1].sum()), int(row.sum())) for row in counts)
    return {"networks": counts.shape[1], "false": percentage(*right), "true": percentage(*wrong),
            "clean": percentage(right[0] + wrong[0], right[1] + wrong[1])}


def near(axis):
    """Which points of a plane lie in the ball around the digit."""
    return np.hypot(*np.meshgrid(axis, axis)) <= DELTA


def types(answers, label):
    """Of each point: 0 all right, 1 the attacked network wrong but not all, 2 all wrong, 3 others wrong."""
    wrong = answers != label
    return np.where(wrong.all(0), 2, np.where(wrong[0], 1, np.where(wrong.any(0), 3, 0)))
