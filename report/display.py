"""What a cell shows: prose with computed numbers, tables, pictures, in one style; the book's form of each.

An output carries plain text (scripts), Markdown (JupyterLab) and, under `MIME`, the MyST text and the
pictures that book/_ext/executed.py puts on the page.
"""
import base64
import hashlib
import io
import json
import math
import os
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from report.comparison import decimals
from report.prose import in_words, number
from report.tidy import MIME
from report.verdict import VERDICTS

PICTURES = "BOUNDARY_PICTURES"               # names a folder for the figures of a page that runs as a script
# Of measured values and classes, safe for colour-blind readers: seaborn's palette "colorblind".
PALETTE = ("#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#fbafe4", "#949494", "#ece133",
           "#56b4e9")
PRINTED = "0.25"                             # published values
GUIDE = "0.4"                                # limits, outlines, arrows
PALE = "0.8"                                 # the background of measured values
MARKERS = ("o", "s", "^", "D", "v", "P")     # curves differ by more than hue
LINES = ("-", "--", "-.", ":")
SMALLEST = 10                                # points of text in figures by default
WIDEST = 7.2                                 # inches of the book's column, where figures are shown as drawn
MARK = {True: "✓", False: "✗", None: "–"}    # of a statement


# ---- showing ---------------------------------------------------------------------------------------------
def in_jupyter():
    """Whether a notebook's kernel runs this, not a script."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def piece(thing):
    """Show an interactive piece, whose `_repr_html_` a notebook takes; a script prints its `repr`."""
    if not in_jupyter():
        print(repr(thing))
        return
    from IPython.display import display
    display(thing)


DIRECTIVE = re.compile(r"^(?:`{3}|:{3,})\{(\w+)\} ?(.*)\n(?::[\w-]+:.*\n)*", re.MULTILINE)
FENCE = re.compile(r"^(?:`{3}|:{3,})$\n?", re.MULTILINE)
BADGE = re.compile(r"\{bdg-[a-z]+\}`([^`]*)`")


def markdown_of(myst):
    """MyST as the Markdown of a notebook: no directive but its title, a badge in bold; no pictures."""
    def titled(opening):
        return "" if opening[1] in ("figure", "image") else f"**{opening[2]}**\n\n"

    if DIRECTIVE.search(myst):      # else its fences are those of code
        myst = FENCE.sub("", DIRECTIVE.sub(titled, myst))
    return BADGE.sub(r"**\1**", myst).strip()


def show(myst, *, book=None, pictures=None, **spec):
    """Show MyST with `pictures` {name: PNG}: as Markdown in a notebook, as text in a script.

    book   what the book takes in its place; `{pictures}` stands for the folder of the pictures. Further
           keywords travel with it.
    """
    markdown = markdown_of(myst)
    if not in_jupyter():
        print(markdown)
        if folder := os.environ.get(PICTURES):  # whoever runs a page as a script may want to see them
            for name, png in (pictures or {}).items():
                Path(folder).mkdir(parents=True, exist_ok=True)
                (Path(folder) / name).write_bytes(png)
        return
    from IPython.display import display
    content = {"myst": myst if book is None else book, **spec,
               "pictures": {k: base64.b64encode(v).decode() for k, v in (pictures or {}).items()}}
    text = markdown
    for png in (pictures or {}).values():
        markdown += f"\n\n![](data:image/png;base64,{base64.b64encode(png).decode()})"
    display({"text/plain": text, "text/markdown": markdown, MIME: json.loads(json.dumps(content))}, raw=True)


def say(myst):
    """Prose with computed numbers."""
    show(myst)


def table(header, rows, caption, *, sentences=False, fold=None):
    """Show a table of our own: `header` texts, `rows` of texts or numbers.

    sentences  cells hold sentences, whose lines may break; numbers stay on one line
    fold       under what title the table is folded; None leaves it open
    """
    myst = own_table(header, rows, caption, "sentences" if sentences else "results")
    show(folded(fold, myst) if fold else myst)


def own_table(header, rows, caption, style="results"):
    """A table of our own; the numbers of a column have as many decimals as it needs."""
    return myst_table(header, [[number(c) for c in r] for r in level(rows)], caption, style)


def picture(figure, caption, alt):
    """Show a figure of our own under a caption; `alt` describes it to who cannot see it."""
    png = png_for_page(figure)
    name = f"{hashlib.sha256(caption.encode()).hexdigest()[:10]}.png"
    show(myst_figure(name, caption, alt), pictures={name: png})


# ---- pictures --------------------------------------------------------------------------------------------
def style():
    """One look for all figures: opaque white (dark mode too), colour-blind-safe, as wide as the book."""
    plt.rcdefaults()    # whatever a person's matplotlibrc has
    plt.style.use("seaborn-v0_8-ticks")
    plt.rcParams.update({
        "axes.prop_cycle": plt.cycler(color=PALETTE), "font.sans-serif": ["Arial", "DejaVu Sans"],
        "patch.edgecolor": "white", "patch.force_edgecolor": True,
        "figure.facecolor": "white", "savefig.facecolor": "white", "figure.dpi": 110, "savefig.dpi": 144,
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
        **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize",
                         "ytick.labelsize", "legend.fontsize", "figure.titlesize"), SMALLEST),
        "figure.constrained_layout.use": True, "image.cmap": "gray"})


def png_of(figure):
    """PNG bytes of a matplotlib figure, which is closed.

    A figure wider than the book's column is drawn as wide as that, a little lower, with its text as large.
    """
    buffer, (width, height) = io.BytesIO(), figure.get_size_inches()
    if width > WIDEST:
        figure.set_size_inches(WIDEST, height * (WIDEST / width) ** 0.5)  # titles and labels keep their room
    figure.set_dpi(plt.rcParams["savefig.dpi"])
    FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": None})     # `savefig` would draw twice
    plt.close(figure)
    return buffer.getvalue()


def png_for_page(figure):
    """`png_of`, but where nobody sees a figure, which is closed, it is not drawn: that takes the longest."""
    if in_jupyter() or os.environ.get(PICTURES):
        return png_of(figure)
    plt.close(figure)
    return b"not drawn"


def dots(panels, names=None, *, tick="paper"):
    """A row a name, a panel a quantity: dots with their ranges, and a tick at the published value.

    panels  {label of the axis: {"series": {label: {name: value, or (value, low, high)}},
            "published": {name: value}, "limits": ends of the axis, "guide": where a line stands}}; the
            last three may be missing
    names   the rows in their order; None takes those of the series
    tick    what the legend calls the published values
    """
    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel["series"]))
    names = names or list(dict.fromkeys(name for panel in panels.values()
                                        for series in panel["series"].values() for name in series))
    if not names:
        return None
    figure, axes = plt.subplots(1, len(panels), sharey=True, squeeze=False, figsize=(
        min(WIDEST, 3.4 + 2.2 * len(panels)), 1.3 + 0.25 * len(names)))
    for ax, (axis, panel) in zip(axes[0], panels.items()):
        if "guide" in panel:
            ax.axvline(panel["guide"], color=PALE, lw=1.5, zorder=0)
        for k, (label, series) in enumerate(panel["series"].items()):
            n, shift = labels.index(label), 0.24 * (k - (len(panel["series"]) - 1) / 2)
            for place, name in enumerate(names):
                if name in series:
                    value, *ends = np.atleast_1d(series[name])
                    ax.plot(ends, [place + shift] * len(ends), color=PALETTE[n], lw=2, alpha=0.6)
                    ax.plot(value, place + shift, MARKERS[n], color=PALETTE[n], ms=5)
        for place, name in enumerate(names):
            if name in panel.get("published", {}):
                ax.plot([panel["published"][name]] * 2, [place - 0.36, place + 0.36], color=PRINTED,
                        lw=2.5)
        ax.set(xlabel=axis, ylim=(len(names) - 0.4, -0.6), xlim=panel.get("limits"))
    axes[0, 0].set_yticks(range(len(names)), names)
    handles = [plt.Line2D([], [], color=PALETTE[n], marker=MARKERS[n], ms=5, label=label)
               for n, label in enumerate(labels)]
    if any(panel.get("published") for panel in panels.values()):
        handles.append(plt.Line2D([], [], color=PRINTED, marker="|", ms=12, mew=2.5, ls="",
                                  label=tick))
    if len(handles) > 1:
        figure.legend(handles=handles, loc="outside lower center", ncols=3 if len(panels) > 1 else 2)
    return figure


def image_grid(axes, images, titles=None):
    """Draw images [N, 1 or 3, H, W] (uint8, or float in [0, 1]) into an iterable of axes, without ticks."""
    for n, (ax, image) in enumerate(zip(axes, images)):
        array = np.asarray(image)
        if array.ndim == 3 and array.shape[0] in (1, 3):
            array = array.transpose(1, 2, 0).squeeze()
        white = 255 if array.dtype.kind == "u" else 1
        ax.imshow(array, vmin=0, vmax=white, interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
        if titles:
            ax.set_title(titles[n], fontsize=10)


def image_table(rows):
    """A figure of rows {column: image}, with titles, and gaps where an image is missing; None of no rows."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if not columns:
        return None
    side = min(1.1, WIDEST / len(columns))
    figure, axes = plt.subplots(len(rows), len(columns), squeeze=False,
                                figsize=(side * len(columns), side * len(rows) + 0.5))
    for line, row in zip(axes, rows):
        for ax, column in zip(line, columns):
            if row is rows[0]:
                ax.set_title(column)
            if column in row:
                image_grid([ax], [row[column]])
            else:
                ax.set_axis_off()
    return figure


# ---- text ------------------------------------------------------------------------------------------------
def level(rows, digits=4):
    """Rows whose broken numbers have as many decimals as their column needs: `digits` of the largest.

    One more where its smallest number would have less than two digits; where it still would, it stays as is.
    """
    columns = list(zip(*rows))
    for n, column in enumerate(columns):
        sizes = [abs(float(v)) for v in column if isinstance(v, float) and math.isfinite(v) and v]
        if not sizes or max(sizes) >= 10**digits:
            continue
        places = max(digits - 1 - math.floor(math.log10(max(sizes))), 0)
        places += min(sizes) * 10**places < 10
        places = min(places, max(map(decimals, sizes)))  # no zeros that nobody wrote
        if min(sizes) * 10**places >= 10:
            columns[n] = [number(v, column={"decimals": places}) if isinstance(v, float) else v
                          for v in column]
    return [list(row) for row in zip(*columns)]


def stand_ins(substitutes):
    """What was measured on which sample data, in words, of `{data set: what stood in for it}`."""
    return [f"embedded {there} in place of {in_words(name)}" for name, there in substitutes.items()]


SIGNS = {"l-infinity": "ℓ∞", "Linf": "L∞", "L_inf": "L∞", "l1": "ℓ₁", "l2": "ℓ₂", "delta": "δ"}


def symbols(text):
    """A caption or claim of the reference, or words that quote it, with its signs: `x_s`, `L_inf`, `->`."""
    for plain, sign in SIGNS.items():
        text = re.sub(rf"\b{plain}\b", sign, text)
    return re.sub(r"\b([A-Za-z])_(\d+|[a-z])(?![A-Za-z_])", r"$\1_{\2}$", text).replace("->", "→")


def sentence(text):
    """Text with one full stop or question mark at its end; a closing quotation mark or bracket may follow."""
    return text if text.endswith((".", ".”", ".)", "?")) else f"{text}."


def markdown_table(header, rows):
    """A pipe table; every cell is text."""
    body = [[str(c).replace("|", "\\|") for c in row] for row in rows]
    rule = "|" + " --- |" * len(header)
    first, *others = ["| " + " | ".join(cells) + " |" for cells in [header, *body]]
    return "\n".join([first, rule, *others])


def myst_table(header, rows, caption, style="results", name=None):
    """A table of the book, with its caption."""
    label = f":name: {name}\n" if name else ""
    return f"```{{table}} {caption}\n{label}:class: {style}\n\n{markdown_table(header, rows)}\n```"


def myst_figure(picture, caption, alt, name=None):
    """A figure of the book: a picture's name, its caption, its description."""
    label = f":name: {name}\n" if name else ""
    body = f"{label}:alt: {' '.join(alt.split())}\n\n{sentence(caption)}"
    return f"```{{figure}} {{pictures}}/{picture}\n{body}\n```"


def folded(title, myst):
    """A part of the page that opens with a click."""
    return f"::::{{dropdown}} {title}\n{myst}\n::::"


def badge(verdict, words=None):
    """A verdict, or `words` with it, as a badge in its colour; plain where nothing is measured."""
    words = words or verdict
    return f"{{bdg-{VERDICTS[verdict][0]}}}`{words}`" if verdict in VERDICTS else words
