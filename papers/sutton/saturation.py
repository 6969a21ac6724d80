"""Where the gradient of the squared error vanishes in single precision, by the logit of the image."""
import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy import special

from report import display

LOGITS = np.linspace(0, 60, 2401)  # absolute values: of class 1 above 0, of class 0 below
TINY = torch.finfo(torch.float32).tiny  # smaller numbers are subnormal


def sizes(label):
    """Absolute derivative by the logit of an image that is classified correctly as 0 or 1, at `LOGITS`."""
    z = torch.tensor(LOGITS if label else -LOGITS, dtype=torch.float32, requires_grad=True)
    slope, = torch.autograd.grad(((z.sigmoid() - label) ** 2).sum(), z)
    return slope.abs().double().numpy()


def end(label, least=0.0):
    """The largest of `LOGITS` at which the derivative is above 0, or as large as `least`."""
    return float(LOGITS[(sizes(label) > 0) & (sizes(label) >= least)].max())


def draw():
    """The derivative over the absolute logit, exact and in single precision, for both classes."""
    figure, ax = plt.subplots(figsize=(7.5, 3.8))
    exact = 2 * special.expit(-LOGITS) ** 2 * special.expit(LOGITS)
    ax.plot(LOGITS, exact, color="0.8", lw=9, label="exact")
    for label, sign, colour, line, width in zip((1, 0), "><", display.PALETTE, display.LINES, (5, 2)):
        size = np.where(sizes(label) > 0, sizes(label), np.nan)
        ax.plot(LOGITS, size, line, color=colour, lw=width, label=f"32 bits, class {label}, z {sign} 0")
        ax.plot(end(label), size[LOGITS == end(label)], "o", color=colour, ms=9)
    ax.axvspan(end(1), LOGITS[-1], color=display.PALETTE[0], alpha=0.12)
    ax.text(end(1) + 1, 1e-46, "class 1: no gradient", fontsize=11)
    ax.set(yscale="log", xlabel="absolute value of the logit z", ylabel="gradient of the squared error",
           ylim=(1e-52, 10))
    ax.legend(loc="upper right")
    return figure
