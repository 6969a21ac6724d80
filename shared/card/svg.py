"""The pictures of a card, drawn from its values: SVG and PNG within the page, described in words."""
from __future__ import annotations

import math
import re
from html import escape
from typing import TYPE_CHECKING, Any

from .measures import KNOWN_IMAGES, SYMBOLS, magnitude
from .pictures import ACROSS, UP

if TYPE_CHECKING:
    from .report import Card

COLOURS = "#0f73b2", "#d55e00"      # of the reader's models
DASHES = {"PGD": "", "Carlini-Wagner": "", "gradient step": "7 4", "noise": "2 3"}
# Of labels, light enough for dark text.
CLASSES = ("#9ecae1", "#fdd0a2", "#a1d99b", "#fcbba1", "#dadaeb", "#d9c4a9", "#fbb4d9", "#d9d9d9", "#ece58a",
           "#9fe0dc")
AXES = "worst_accuracy", "cw_distance"      # of the known networks
NOTED = 0.02    # share of a plane from which a class has its name there


def breakable(name: str) -> str:
    """A name in which a line may break at a sign."""
    return re.sub(r"([:_.-])", r"\1<wbr>", escape(name))


def number(value: float) -> str:
    """A value of an axis."""
    return f"{value:.2g}"


def figure(title: str, drawing: str, caption: str) -> str:
    """A picture under its title, or the reason why it is not drawn."""
    return f"<figure><h2>{title}</h2>{drawing}<figcaption>{caption}</figcaption></figure>"


def drawing(width: int, height: int, words: str, parts: list[str]) -> str:
    """An SVG, and what it shows in words."""
    return (f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(words)}">{"".join(parts)}'
            "</svg>")


def text(x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    """A text in an SVG."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def titled(mark: str, words: str) -> str:
    """A mark with words that a pointer shows."""
    return f"<g>{mark}<title>{escape(words)}</title></g>"


def missing(card: Card, titles: tuple[str, ...], needs: str) -> str:
    """Why a picture is not drawn: what stopped the sections that it rests on."""
    errors = [f"{model}: {s.error}" for model, sections in card.sections.items() for s in sections
              if s.title in titles and s.error]
    return f'<p class="warning">Not drawn: {escape("; ".join(errors) or needs)}.</p>'


# ---- accuracy against the size ---------------------------------------------------------------------------
def sizes(card: Card) -> str:
    """Accuracy against the size of the perturbation, a panel for each norm."""
    curves = [(model, colour, curve) for model, colour in zip(card.sections, COLOURS)
              for curve in card.curves(model)]
    panels = [panel(norm, [c for c in curves if c[2]["norm"] == norm])
              for norm in dict.fromkeys(curve["norm"] for *_, curve in curves)]
    stopped = missing(card, ("Perturbations of one size", "Nearest adversarial image"), "no attack was run") \
        if not panels or len({c["attack"] for *_, c in curves}) < 4 else ""
    return figure("Accuracy against the norm of the perturbation",
                  f'<div class="panels">{"".join(panels)}</div>{stopped}',
                  f"The share of the {card.settings['images']:,} attacked images that stay correct up to "
                  "each norm, with 95% intervals; at 0 it is their accuracy, not that of all. An attack that "
                  f"is no better than noise shows no robustness. {keys(card) * (len(card.sections) > 1)}")


def panel(norm: str, curves: list[tuple[str, str, dict[str, Any]]]) -> str:
    """The curves [(model, its colour, curve)] of one norm; at equal distances each norm is twice the last."""
    ticks = max((c["points"] for *_, c in curves), key=len)
    left, right, top, bottom = 40, 312, 10, 190

    def at(i):
        return left + 10 + (right - left - 20) * i / (len(ticks) - 1)

    parts = [f'<path d="M{left} {y}H{right}" class="guide"/>{text(left - 6, y + 5, f"{share}%", "end")}'
             for share, y in ((100, top), (50, (top + bottom) / 2), (0, bottom))]
    parts += [text(at(i), bottom + 18, magnitude(norm, p["size"]), more=' style="font-size:12px"')
              for i, p in enumerate(ticks)]
    parts.append(text((left + right) / 2, bottom + 36, f"{SYMBOLS[norm]} norm"))
    words, models = [], list(dict.fromkeys(model for model, *_ in curves))
    for k, (model, colour, curve) in enumerate(curves):
        places = [(at(i) + 3 * (k - (len(curves) - 1) / 2), bottom - (bottom - top) * p["value"], p)
                  for i, p in enumerate(curve["points"])]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        stroke = f'stroke="{colour}" stroke-dasharray="{DASHES[curve["attack"]]}"'
        parts.append(f'<polyline points="{line}" fill="none" stroke-width="2" {stroke}/>')
        name = f"{curve['attack']}, {model}" if len(models) > 1 else curve["attack"]
        for x, y, p in places:
            ends = [bottom - (bottom - top) * (p["value"] if end is None else end)
                    for end in (p["low"], p["high"])]
            mark = (f'<path d="M{x:.1f} {ends[0]:.1f}V{ends[1]:.1f}" stroke="{colour}"/>'
                    f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
            size = magnitude(norm, p["size"])
            parts.append(titled(mark, f"{name}, {SYMBOLS[norm]} {size}: {p['value']:.1%}, n = {p['n']}"))
        words.append(f"{name}: " + ", ".join(
            f"{p['value']:.0%} at {magnitude(norm, p['size'])}" for *_, p in places))
    attacks = dict.fromkeys(curve["attack"] for *_, curve in curves)
    for y, attack in enumerate(attacks):
        y = bottom + 58 + 18 * y
        parts.append(f'<path d="M{left} {y - 5}h34" class="line" stroke-dasharray="{DASHES[attack]}"/>'
                     + text(left + 42, y, attack, "start"))
    return drawing(320, bottom + 50 + 18 * len(attacks),
                   f"Accuracy, {SYMBOLS[norm]} norm. {'; '.join(words)}", parts)


# ---- images ----------------------------------------------------------------------------------------------
def examples(card: Card) -> dict[str, list[dict[str, Any]]]:
    """`{model: the images shown}`."""
    return {model: s.pictures["examples"] for model, sections in card.sections.items() for s in sections
            if s.pictures.get("examples")}


def nearest(card: Card) -> str:
    """Six images, of each model the nearest adversarial ones and the differences."""
    shown = examples(card)
    if not shown:
        drawn = missing(card, ("Nearest adversarial image",), "no adversarial image was searched")
    else:
        first = next(iter(shown.values()))
        rows = [line("Clean images and their classes", [(
            e["clean"], f"image {e['row']}, class {e['label']}", str(e["label"])) for e in first])]
        for model, entries in shown.items():
            of = f", {keyed(card, model)}" if len(card.sections) > 1 else ""
            rows.append(line(f"Nearest adversarial images and their labels{of}", [(
                e.get("adversarial"), f"classified as {e['predicted']}", adversarial(e)) for e in entries]))
            rows.append(line(f"Differences and their L2 norms{of}", [(
                e.get("difference"), f"difference of L2 norm {number(e['norm'] or 0)}",
                number(e["norm"]) if e["norm"] else "–") for e in entries]))
        drawn = "".join(rows)
    return figure("Nearest adversarial images", drawn,
                  "Each difference is scaled to its own largest value; grey pixels are unchanged.")


def adversarial(entry: dict[str, Any]) -> str:
    """The label of an adversarial image, or why there is none."""
    if entry["norm"] is not None:
        return str(entry["predicted"])
    return "already wrong" if entry["predicted"] != entry["label"] else "none found"


def line(title: str, cells: list[tuple[str | None, str, str]]) -> str:
    """A line of images: [(address or None, words in place of the image, words below)]; the title is HTML."""
    parts = "".join("<div>" + (f'<img src="{address}" alt="{escape(words)}">' if address else "")
                    + f"<small>{escape(below)}</small></div>" for address, words, below in cells)
    return f'<p>{title}</p><div class="images">{parts}</div>'


# ---- planes ----------------------------------------------------------------------------------------------
def planes(card: Card) -> str:
    """Labels in planes through an image and its nearest adversarial one, of each model."""
    shown = [(model, e) for model, entries in examples(card).items() for e in entries if "plane" in e]
    least = min((e["norm"] for _, e in shown), default=0)
    dashed = f"Dashed: L2 norm {number(least)} in every plane. " * bool(shown)
    drawn = "".join(f"<div><small>{keyed(card, model) + ', ' if len(card.sections) > 1 else ''}"
                    f"image {e['row']}; cross at L2 norm {number(e['norm'])}</small>{plane(e, least)}</div>"
                    for model, e in shown)
    drawn = f'<div class="panels planes">{drawn}</div>' if shown else missing(
        card, ("Nearest adversarial image",), "no adversarial image was found")
    return figure(
        "Labels around " + ("an image" if len(shown) == 1 else "images"), drawn,
        "Small circle: clean image. Cross: its nearest adversarial image. The vertical direction is random, "
        f"on the same scale. {dashed}Numbers are labels; pixels are cut to [0, 1].")


def plane(entry: dict[str, Any], norm: float) -> str:
    """The labels of a plane as areas, its two images as marks, and a circle of an L2 norm."""
    grid, counts = entry["plane"], {}
    for y, row in enumerate(grid):
        for x, label in enumerate(row):
            counts.setdefault(label, []).append((x, y))
    side, parts = len(grid), []
    for label, cells in counts.items():
        runs = [(x, y) for x, y in cells if x == 0 or grid[y][x - 1] != label]
        path = "".join(f"M{x} {y}h{length(grid[y], x)}v1h-{length(grid[y], x)}z" for x, y in runs)
        parts.append(titled(f'<path d="{path}" fill="{CLASSES[label % len(CLASSES)]}" '
                            'shape-rendering="crispEdges"/>', f"label {label}"))
    for label, cells in counts.items():
        if len(cells) >= NOTED * side**2:
            x, y = inmost([cell for cell in cells if abs(cell[1] - side / 2) > 6] or cells)    # beside marks
            parts.append(text(x + 0.5, y + 2, str(label), more=' class="name"'))
    across, up = ((side - 1) * (0 - ends[0]) / (ends[1] - ends[0]) + 0.5 for ends in (ACROSS, UP))
    there = across + (side - 1) / (ACROSS[1] - ACROSS[0])
    ring = (there - across) * norm / entry["norm"]
    parts.append(f'<circle cx="{across}" cy="{up}" r="{ring:.1f}" class="mark ring"/>'
                 f'<circle cx="{across}" cy="{up}" r="1.4" class="mark"/>'
                 f'<path d="M{there - 1.4} {up - 1.4}l2.8 2.8m0-2.8l-2.8 2.8" class="mark"/>')
    shares = ", ".join(f"{label} ({len(cells) / side**2:.0%})" for label, cells in sorted(
        counts.items(), key=lambda item: -len(item[1]))[:5])
    return drawing(side, side, f"Labels around image {entry['row']} of class {entry['label']}: {shares}; "
                   f"its adversarial image, at L2 norm {number(entry['norm'])}, has label "
                   f"{entry['predicted']}", parts)


def length(row: list[int], start: int) -> int:
    """How many equal values a row has from a place on."""
    return next((i for i, value in enumerate(row[start:]) if value != row[start]), len(row) - start)


def inmost(cells: list[tuple[int, int]]) -> tuple[int, int]:
    """The cell that lies next to the middle of some cells."""
    centre = [sum(place) / len(cells) for place in zip(*cells)]
    return min(cells, key=lambda cell: math.dist(cell, centre))


# ---- known networks --------------------------------------------------------------------------------------
def place(card: Card, others: dict[str, dict[str, float | None]], without: str) -> str:
    """Where the models lie among known networks: accuracy in the worst case, norm of the nearest example.

    without     why there are no known networks
    """
    title = "Among known networks"
    dots = [(name, x, y) for name, values in others.items() for x, y in [[values.get(axis) for axis in AXES]]
            if x is not None and y is not None]
    own = {model: [m for axis in AXES if (m := card.measures(model).get(axis)) and m.drawn]
           for model in card.sections}
    marks = [(model, *pair) for model, pair in own.items() if len(pair) == 2]
    if not dots or not marks:
        needs = "too few adversarial images for an interval of their median norm" if dots else without
        return figure(title, missing(card, ("Nearest adversarial image",), needs),
                      "Known networks are MNIST and CIFAR-10 networks of the Boundary Book.")
    norms = [max(y, 1e-3) for y in [*(y for *_, y in dots), *(v for *_, y in marks for v in (y.low, y.high))]]
    low, high = math.log(min(norms) / 1.3), math.log(max(norms) * 1.3)

    def at(x, y):
        return 70 + 430 * x, 210 - 195 * (math.log(max(y, 1e-3)) - low) / (high - low)

    ticks = [v for power in range(-3, 3) for v in (10**power, 2 * 10**power, 5 * 10**power)
             if low <= math.log(v) <= high]
    parts = [f'<path d="M60 {y:.1f}H510" class="guide"/>{text(54, y + 5, number(v), "end")}'
             for v in ticks for _, y in [at(0, v)]]
    parts += [text(at(share, 1)[0], 232, f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)]
    size = magnitude(card.settings["norm"], card.settings["eps"])
    parts.append(text(285, 252, f"accuracy in the worst case, {SYMBOLS[card.settings['norm']]} ≤ {size}"))
    parts.append(text(0, 0, "median L2 norm", more=' transform="translate(16 112) rotate(-90)"'))
    for i, (name, x, y) in enumerate(dots, 1):
        cx, cy = at(x, y)
        parts.append(titled(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="9" class="dot"/>'
                            f"{text(cx, cy + 5, str(i))}", f"{name}: {x:.1%}, {number(y)}"))
    colours = dict(zip(card.sections, COLOURS))
    for model, x, y in marks:
        (cx, cy), (left, bottom), (right, top) = (at(*ends) for ends in (
            (x.value, y.value), (x.low, y.low), (x.high, y.high)))
        cross = f"M{left:.1f} {cy:.1f}H{right:.1f}M{cx:.1f} {bottom:.1f}V{top:.1f}"
        parts.append(titled(f'<path d="{cross}" stroke="{colours[model]}" class="own"/><circle cx="{cx:.1f}" '
                            f'cy="{cy:.1f}" r="5" fill="{colours[model]}"/>',
                            f"{model}: {x.value:.1%}, {number(y.value or 0)}"))
    words = "; ".join(f"{name}: {x:.0%}, {number(y)}" for name, x, y in [
        *((model, x.value, y.value) for model, x, y in marks), *dots])
    numbers = ". ".join(f"{i}&nbsp;{escape(name)}" for i, (name, *_) in enumerate(dots, 1))
    return figure(title, drawing(520, 258, f"Worst-case accuracy and median norm. {words}", parts),
                  f"Across: attacks of one {SYMBOLS[card.settings['norm']]} norm. Up: L2 norm of the nearest "
                  f"adversarial image. Crosses: 95% intervals. {keys(card)} Numbers: known networks (paper, "
                  f"network), each on {KNOWN_IMAGES} of its own test images. {numbers}.")


def keyed(card: Card, model: str) -> str:
    """A model after its colour."""
    colour = dict(zip(card.sections, COLOURS))[model]
    return f'<span class="key" style="background:{colour}"></span>{breakable(model)}'


def keys(card: Card) -> str:
    """The models, each after its colour."""
    return " ".join(f"{keyed(card, model)}." for model in card.sections)


def pictures(card: Card, others: dict[str, dict[str, float | None]], without: str) -> str:
    """The four pictures of a card, in two columns."""
    return (f'<div class="pictures"><div>{sizes(card)}{planes(card)}</div>'
            f"<div>{nearest(card)}{place(card, others, without)}</div></div>")
