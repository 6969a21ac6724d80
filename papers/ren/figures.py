"""What the pages of `ren` draw: the path of one search."""
import textwrap

import matplotlib.pyplot as plt

from report import display


def panels(runs):
    """The images of the path in order, as (image, title, label)."""
    u = runs.iloc[0]
    made = [(u.source, f"Digit: label {u.source_label}", u.source_label),
            (u.flat, f"Background: label {u.background_label}", u.background_label)]
    path = zip(u.mixed, u.mixed_labels, u.replaces_digit, u.likeness)
    for n, (image, label, inside, likeness) in enumerate(path, start=1):
        end = "digit" if inside else "background"
        made.append((image, f"Mix {n}: label {label}\nreplaces {end}; SSIM {likeness:.3f}", label))
    return [*made, (u.inside, f"Inside at the end: {u.inside_label}", u.inside_label),
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
