"""Pictures and tables of the page *Your own model*."""
import textwrap
from functools import partial

import matplotlib.pyplot as plt

from report import display, prose
from shared import inference
from shared.card import page as card_page


def strip(rows, titles, caption, alt):
    """Show rows of images, {label: [n, C, H, W]}, with n titles above the first row."""
    if not titles:
        return display.say("No example found.")
    figure, axes = plt.subplots(len(rows), len(titles), figsize=(3.9, len(rows) + 0.4), squeeze=False)
    for n, (line, (label, shown)) in enumerate(zip(axes, rows.items())):
        display.image_grid(line, shown.cpu(), None if n else titles)
        line[0].set_ylabel(label, rotation=0, ha="right", va="center")
    display.picture(figure, caption, alt)


def typical(report, known, *names):
    """Show a table of measures: the network of a report card beside the known ones."""
    rows = []
    for m in (report.measure("model", name) for name in names):
        values = [network[m.name] for network in known if m.name in network] or [None]
        own, low, high, *others = (card_page.number(v, "%" if m.unit == "%" else "") for v in (
            m.value, m.low, m.high, min(values), prose.median(values), max(values)))
        rows.append([f"{m.label}, {m.unit}".strip(", %"), f"{own} ({low} to {high}; n = {m.n})", *others])
    heads = ["measure", "script (95% interval)", f"lowest of {len(known)} known", "their median",
             "their highest"]
    display.table(heads, rows, f"The script's network beside {len(known)} known ones.", sentences=True)


def distances_in_l2(report, dimension):
    """Show the L2 distances that random directions and the Carlini-Wagner attack find, medians."""
    random, attack = (report.measure("model", name).value for name in ("boundary_distance", "cw_distance"))
    if random and attack:
        display.say(f"In L2 the nearest boundary in random directions lies {random * dimension**0.5:.1f} "
                    f"away (median), the Carlini-Wagner example {attack:.1f}.")


def draw_script(model, x, attacked, report):
    """Three clean digits above the same attacked, and the first numbers of the report card."""
    chosen = (attacked.success & attacked.was_correct).nonzero()[:3, 0]
    figure, axes = plt.subplots(2, 4, figsize=(7.2, 3.1), width_ratios=(1, 1, 1, 2.2))
    for line, images, name in zip(axes, (x, attacked.x_adv), ("clean", "attacked")):
        display.image_grid(line, images[chosen], inference.labels(model, images[chosen]).tolist())
        line[0].set_ylabel(name)
    for ax in [*axes[:, 3], *axes[:, len(chosen):3].flat]:
        ax.set_axis_off()
    lines = [f"{m.label}: {card_page.number(m.value, m.unit)} (n = {m.n})" for m in map(
        partial(report.measure, "model"), ("accuracy", "pgd_accuracy", "cw_distance", "boundary_distance"))]
    figure.text(0.62, 0.5, "\n\n".join(textwrap.fill(words, 36) for words in ["Report card", *lines]),
                va="center")
    return figure
