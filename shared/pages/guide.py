"""What the page on a reader's own model draws and measures beside the instruments themselves."""
import time

import matplotlib.pyplot as plt
import torch

from shared.pages import display
from shared.runtime import UserError


class Meter:
    """Images that went through a model, and processor seconds, from `start` to `stop`, by name in `rows`."""

    def __init__(self):
        self.rows = {}
        self.start()

    def watch(self, model):
        """Count the images of every forward pass of a module from now on."""
        def count(module, given, _):
            self.passes += len(given[0])

        model.register_forward_hook(count)

    def start(self):
        self.passes, self.began = 0, time.process_time()

    def stop(self, name):
        """Keep what passed since `start`, and start again."""
        self.rows[name] = self.passes, time.process_time() - self.began
        self.start()

    def table(self, count):
        """Show passes per image, of `count` images, and seconds, but for training."""
        display.table(["instrument", "passes per image", "processor seconds"],
                      [[name, f"{passes / count:,.0f}", f"{seconds:.2f}"]
                       for name, (passes, seconds) in self.rows.items() if name != "training"],
                      f"Cost on {count} images, measured while this page was made; a pass is one image "
                      "through the model.")


def refusals(attack, cases, generator):
    """Rows of a table: each case `{words: (model, images, labels)}` and what `attack` says of it."""
    rows = []
    for words, (model, x, y) in cases.items():
        try:
            attack(model, x, y, generator=generator)
            rows.append([words, "accepted"])
        except UserError as error:
            rows.append([words, f"`{type(error).__name__}: {error}`"])
    return rows


def strip(rows, titles):
    """A figure of images: a row of tensors [n, C, H, W] for each name; titles above the first row."""
    count = len(next(iter(rows.values())))
    figure, axes = plt.subplots(len(rows), count, figsize=(7.2, 1.25 * len(rows) + 0.4), squeeze=False)
    for n, (line, (name, images)) in enumerate(zip(axes, rows.items())):
        display.image_grid(line, images.cpu(), titles if n == 0 else None)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    return figure


def draw_nearest(found):
    """The nearest boundary of each image of a `Survey`, in order; censored ones as triangles."""
    order = found.nearest.cpu().argsort()
    near, far = found.nearest.cpu()[order], found.censored.cpu()[order]
    rank, (figure, ax) = torch.arange(len(near)), plt.subplots(figsize=(7.2, 3))
    ax.plot(rank[~far], near[~far], "o", ms=4, color=display.PALETTE[0], label="another label was found")
    if far.any():
        ax.plot(rank[far], near[far], "^", ms=6, mfc="none", color=display.PALETTE[3],
                label="none was found: the distance is larger")
    ax.set(xlabel="test images, in order of distance", ylabel="nearest boundary (RMS)",
           ylim=(0, 1.08 * found.top))
    ax.legend()
    return figure


def percent(share):
    """A share as a person writes it; nothing of nothing."""
    return f"{100 * float(share):.0f}%" if float(share) == float(share) else ""


def middle(values):
    """Median of the numbers that are there, or None."""
    there = values[values.isfinite()]
    return float(there.median()) if len(there) else None
