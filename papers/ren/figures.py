"""What the pages of `ren` share: rows over networks, the path of one search, the trade-off of pruning."""
import textwrap
from dataclasses import replace

import matplotlib.pyplot as plt

from report import display, reference
from report.cell import Cell
from report.comparison import LEAST
from shared.borderline import UNIFORM


def over_nets(runs, keys, columns):
    """One row for each combination of `keys`: a `Cell` of each column, its mean over the nets.

    runs     DataFrame, a row a run
    columns  {name in the printed table: column of the runs}
    The standard deviation is that of a sample, None for a single net; five or more nets have a range.
    """
    rows = []
    for key, nets in runs.groupby(list(keys), sort=False, dropna=False):
        row = dict(zip(keys, key))
        for name, column in columns.items():
            values = nets[column].dropna()
            row[name] = Cell(float(values.mean()) if len(values) else None, n=len(values),
                             sd=float(values.std()) if len(values) > 1 else None)
            if len(values) >= LEAST:
                row[name] = replace(row[name], low=values.min(), high=values.max(), over="trainings")
        rows.append(row)
    return rows


def panels(runs):
    """The images of the path in order, as (image, title, label)."""
    u = runs.iloc[0]
    shown = [(u.source, f"Digit: label {u.source_label}", u.source_label),
            (u.flat, f"Background: label {u.background_label}", u.background_label)]
    path = zip(u.mixed, u.mixed_labels, u.replaces_digit, u.likeness)
    for n, (image, label, inside, likeness) in enumerate(path, start=1):
        end = "digit" if inside else "background"
        shown.append((image, f"Mix {n}: label {label}\nreplaces {end}; SSIM {likeness:.3f}", label))
    return [*shown, (u.inside, f"Inside at the end: {u.inside_label}", u.inside_label),
            (u.outside, f"Outside at the end: {u.outside_label}", u.outside_label)]


def draw_path(runs):
    """The images of the path in rows of four, the final pair side by side; dashed: another label."""
    shown = panels(runs)
    before = len(shown) - 2
    last = before + (before % 4 == 3)
    height = -(-(last + 2) // 4)
    figure, axes = plt.subplots(height, 4, figsize=(10.4, 3.1 * height), squeeze=False)
    used = [*axes.flat[:before], *axes.flat[last:last + 2]]
    titles = ["\n".join(textwrap.wrap(title.replace("\n", ", "), 22)) for _, title, _ in shown]
    display.image_grid(used, [image for image, _, _ in shown], titles)
    for ax in set(axes.flat) - set(used):
        ax.set_axis_off()
    for ax, (_, _, label) in zip(used, shown):
        kept = label == shown[0][2]
        ax.spines[:].set(color=display.PALETTE[0 if kept else 1], linewidth=3,
                         linestyle="-" if kept else "--")
    return figure


def draw_trade_off(runs):
    """Robustness over separability: a panel for each background, marks for each rule for T."""
    rules = {"T = 255": runs["T"] == 255, "T = t": runs["T"] == runs["t"]}
    quantities = "separability_ssim", "robustness_ssim"
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharex=True, sharey=True)
    for ax, b in zip(axes, UNIFORM):
        for color, marker, rule in zip(display.PALETTE, display.MARKERS, rules):
            points = runs[(runs.background == b) & rules[rule]].sort_values("t")
            x, y = (points[name.replace("ssim", "mean")] for name in quantities)
            if rule == "T = 255":  # with T = t most mixtures are pruned back: a line would show nothing
                ax.plot(x, y, color=color, lw=1.2)
                ax.scatter(x[points["t"] == 0], y[points["t"] == 0], s=140, facecolor="none", edgecolor="k",
                           label="unpruned")
            ax.scatter(x, y, s=12 + points["t"] / 3, marker=marker, color=color, label=f"measured, {rule}")
        printed = [p for p in reference.paper("ren")["table-4"].rows if p["background"] == b]
        ax.scatter(*zip(*([p[name] for name in quantities] for p in printed)), marker="x", color="k", s=60,
                   label="published: t, T")
        places = [("left", (5, 5))] * 3 if b == "white" else [  # where the curve is not
            ("right", (-7, -9)), ("left", (6, 3)), ("right", (-7, 2))]
        for p, (side, offset) in zip(printed, places):
            ax.annotate(f"{p['t']}, {p['T']}", [p[name] for name in quantities], fontsize=10, ha=side,
                        xytext=offset, textcoords="offset points")
        ax.set(xlabel="separability (SSIM of the pair)", title=f"towards {b}")
    axes[0].set_ylabel("robustness (SSIM of inside and digit)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=10)
    return figure
