"""A `Card` as HTML: one page without scripts or anything from elsewhere, light and dark, wide and narrow."""
from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import svg
from .instruments import STEPS, WINDOWS, usual
from .measures import CHANCE, FEW, LEAST, SYMBOLS, Measure, magnitude
from .svg import COLOURS

if TYPE_CHECKING:
    from .report import Card

KNOWN = Path(__file__).with_name("known.json")    # written by `python -m workflow.known`
Networks = dict[str, dict[str, float | None]]      # {network: {measure: value}}
MEANT = ("roby", "overlap")     # a paper takes them for robustness; the attacks on the card decide
CLASSES = 12    # that a table shows; of more, those with the lowest accuracy
SETTINGS = {"images": "attacked images", "all": "images", "eps": "size", "l2": "size in L2",
            "retrained": "re-trained models", "restarts": "starts of PGD",
            "ssim_convention": "window of SSIM", "usual": "same settings as the known networks"}
STYLE = """
.card{--text:#1c2024;--soft:#667;--line:#ccd;--back:#fff;--shade:#f3f4f7;font:16px/1.5 system-ui,sans-serif;
color:var(--text);background:var(--back);max-width:68rem;margin:0 auto;padding:1rem;text-align:left}
.card h1{font-size:1.6rem}.card h2{font-size:1.15rem;margin:2rem 0 .2rem}
.card p{margin:.3rem 0}.card small{color:var(--soft)}
.card table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums;
color:inherit}
.card table{table-layout:fixed}.card th:first-child{width:36%}
.card th,.card td{text-align:left;padding:.35rem .6rem .35rem 0;border-top:1px solid var(--line);
vertical-align:top;background:none;overflow-wrap:anywhere}
.card .warning{border-left:4px solid #d55e00;background:var(--shade);padding:.4rem .8rem;margin:.5rem 0}
.card svg{display:block;width:100%;height:auto;overflow:visible}.card td svg{max-width:16rem}
.card svg text{fill:var(--soft);font-size:14px}
.card .lead{font-size:1.15rem;font-weight:600;margin:.5rem 0}
.card .key{display:inline-block;width:.7rem;height:.7rem;margin-right:.3rem}
.card .pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));
gap:.5rem 2rem;margin:1rem 0}
.card .pictures>div{min-width:0}.card figure{margin:0 0 1rem}.card figure h2{margin:.5rem 0;font-size:1.05rem}
.card figure p{font-size:.85rem;margin:.4rem 0 .1rem}
.card figcaption{font-size:.85rem;color:var(--soft);margin-top:.3rem}
.card .panels{display:flex;flex-wrap:wrap;align-items:flex-start;
gap:.5rem 1rem}.card .panels>*{flex:1 1 15rem;
min-width:0;max-width:22rem}
.card .images{display:grid;grid-template-columns:repeat(6,minmax(0,1fr));gap:.3rem;text-align:center;
line-height:1.2}
.card img{width:100%;max-width:4rem;image-rendering:pixelated;display:block;margin:0 auto}
.card .guide{stroke:var(--line)}.card .own{stroke-width:2}.card .line{stroke:var(--soft);stroke-width:2}
.card .planes{display:grid;grid-template-columns:repeat(2,1fr)}
.card .planes>*{max-width:12rem}.card .dot{fill:var(--shade);stroke:var(--soft)}
.card svg .name{font-size:4px;fill:#1c2024}
.card .mark{fill:none;stroke:#000;stroke-width:.7}.card .ring{stroke-width:.4;stroke-dasharray:1.5 1}
@media(prefers-color-scheme:dark){.card{--text:#e6e6e6;--soft:#a5abb6;--line:#444b55;--back:#14171b;
--shade:#22272e}}
@media(max-width:40rem){.card thead{display:none}.card tr{display:grid;padding:.4rem 0;border-top:1px solid
var(--line)}.card th,.card td{border:0;padding:.1rem 0}.card td:empty{display:none}
.card th:first-child{width:auto}
.card td[data-head]::before{content:attr(data-head) ": ";
color:var(--soft)}}
"""
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport"
content="width=device-width,initial-scale=1"><title>Report card</title>
<style>body{{margin:0}}@media(prefers-color-scheme:dark){{body{{background:#14171b}}}}</style></head>
<body><main>{}</main></body></html>
"""


def number(value: float | None, unit: str = "") -> str:
    """A value as a person writes it."""
    if value is None:
        return "–"
    return f"{100 * value:.1f}%" if unit == "%" else f"{value:.3g}{f' {unit}' if unit else ''}"


def measured(measure: Measure | None) -> str:
    """A value with its interval and n; of very few images n alone."""
    if measure is None or measure.value is None:
        return "no value"
    if measure.n < LEAST:
        return f"too few images <small>(n&nbsp;=&nbsp;{measure.n})</small>"
    unit = "%" if measure.unit == "%" else ""
    ends = "" if None in (measure.low, measure.high) else \
        f"{number(measure.low, unit)} to {number(measure.high, unit)}; "
    return f"<b>{number(measure.value, measure.unit)}</b> <small>({ends}n&nbsp;=&nbsp;{measure.n:,})</small>"


def changed(card: Card, measure: Measure) -> str:
    """A difference with its interval, in points of a share or in the measure's unit."""
    difference = card.differences.get(measure.name)
    if difference is None:
        return "–"
    scale, unit = (100, " points") if measure.unit == "%" else (1, "")
    if difference.n < LEAST:
        return "too few images"
    ends = "" if difference.low is None or difference.high is None else \
        f"{scale * difference.low:.3g} to {scale * difference.high:.3g}; "
    words = "; ".join(filter(None, (f"n&nbsp;=&nbsp;{difference.n:,}", card.undecided(measure.name))))
    return f"{scale * difference.value:+.3g}{unit} <small>({ends}{words})</small>"


def known(shape: list[int]) -> Networks:
    """`{network: {measure: value}}` of the known networks for images of this shape."""
    return json.loads(KNOWN.read_text(encoding="utf-8")).get("x".join(map(str, shape)), {})


def strip(name: str, unit: str, own: list[tuple[float, str]], others: Networks) -> str:
    """A line with known networks as dots and the reader's models, [(value, colour)], as triangles.

    From 0 to 100% for shares, else from the lowest to the highest of all shown. "" without any dots.
    """
    dots = {network: values[name] for network, values in others.items() if values.get(name) is not None}
    if not dots or not own:
        return ""
    values = [0, 1] if unit == "%" else [*dots.values(), *(value for value, _ in own)]
    low, high = min(values), max(values)
    width = (high - low) or 1

    def at(value):
        return 8 + 224 * (value - low) / width

    marks = [f'<circle cx="{at(v):.1f}" cy="10" r="4" fill="currentColor" fill-opacity=".5"><title>'
             f"{escape(network)}: {number(v, unit)}</title></circle>" for network, v in dots.items()]
    marks += [f'<path d="M{at(v):.1f} 4l6 12h-12z" fill="{colour}"/>' for v, colour in own]
    return (f'<svg viewBox="0 0 240 34" role="img" aria-label="among {len(dots)} known networks, '
            f'{number(low, unit)} to {number(high, unit)}"><line x1="8" x2="232" y1="10" y2="10" '
            f'stroke="currentColor" stroke-opacity=".3"/>{"".join(marks)}<text x="2" y="32">'
            f'{number(low, unit)}</text><text x="238" y="32" text-anchor="end">{number(high, unit)}'
            "</text></svg>")


def section(card: Card, title: str, others: Networks) -> str:
    """A section: what it means, its numbers, its place among known networks; or why there is none."""
    sections = {model: next((s for s in sections if s.title == title), None)
                for model, sections in card.sections.items()}
    meaning = next(s.meaning for s in sections.values() if s)
    seconds = sum(s.seconds for s in sections.values() if s)
    parts = [f"<h2>{title}</h2><p>{meaning} <small>(run time {seconds:.0f} s)</small></p>"]
    parts += [f'<p class="warning"><b>{escape(model)}: {"stopped" if s.measures else "not measured"}.</b> '
              f"{escape(s.error)}</p>"
              for model, s in sections.items() if s and s.error]
    by_name = {model: {m.name: m for m in s.measures} for model, s in sections.items() if s}
    first = max((s.measures for s in sections.values() if s), key=len)
    minus, rows = " − ".join(reversed(by_name)), []
    for m in first:
        own = {model: names.get(m.name) for model, names in by_name.items()}
        cells = [f'<td data-head="{escape(model)}">{measured(one)}'
                 + " <small>no more flips than noise</small>" * (m.name in card.as_noise(model))
                 + "</td>" for model, one in own.items()]
        if len(sections) == 2:
            cells.append(f'<td data-head="{escape(minus)}">{changed(card, m)}</td>')
        claimed = "meant to be " * (m.name in MEANT)
        better = f" <small>({m.better} is {claimed}better)</small>" if m.better else ""
        values = [(one.value, colour) for one, colour in zip(own.values(), COLOURS)
                  if one and one.value is not None and one.drawn]
        if others:
            drawn = strip(m.name, m.unit, values, others) or "–"
            cells.append(f'<td data-head="among known networks">{drawn}</td>')
        rows.append(f"<tr><th>{escape(m.label)}{better}</th>{''.join(cells)}</tr>")
    heads = ["measure", *(svg.keyed(card, model) for model in by_name),
             *[svg.breakable(minus)] * (len(sections) == 2), *["among known networks"] * bool(others)]
    if rows:
        parts.append(f"<table><thead><tr>{''.join(f'<th>{h}</th>' for h in heads)}</tr></thead>"
                     f"<tbody>{''.join(rows)}</tbody></table>")
    return "".join(parts)


def networks(card: Card) -> Networks:
    """The known networks that were measured as this card's models, on images of the same shape."""
    return known(card.settings["shape"]) if card.settings["usual"] else {}


def without_known(settings: dict[str, Any]) -> str:
    """Why there are no known networks."""
    others = ", ".join(f"{SETTINGS.get(name, name)} {setting(settings, name, value)}"
                       for name, value in usual(settings["shape"]).items() if settings[name] != value)
    return f"they were measured with {others}" if known(settings["shape"]) else "none has images of this size"


def body(card: Card) -> str:
    """The card as a part of a page."""
    settings, others = card.settings, networks(card)
    shape = " × ".join(map(str, settings["shape"]))
    place = (f"Dots: known networks, on their own test images. Triangles: {svg.keys(card)}" if others else
             f"No known networks are shown: {without_known(settings)}.")
    warnings = "".join(f'<p class="warning"><b>{escape(name)}</b> ({escape(model)}): {escape(text)}</p>'
                       for (model, name), text in card.warnings.items())
    names = " and ".join(map(escape, card.sections))
    titles = dict.fromkeys(s.title for sections in card.sections.values() for s in sections)
    two = len(card.sections) == 2
    pairs = "; each row rests on the images that have a value of both models" * two
    summary = (f"<p>{escape(card.verdict)}</p><p><small>Beyond chance: at the level of {CHANCE:.0%} in an "
               f"exact sign test over images (McNemar's), of ROBY and overlap by resampled images. The worst "
               f"case in {SYMBOLS[settings['norm']]} is tested alone, the other measures with Holm's "
               "correction for their number; a row that equals an earlier one on all images has no test. "
               "Chance is over images alone: another training of the same recipe may differ, too."
               "</small></p>") if two else ""
    return (f'<div class="card"><style>{STYLE}</style><h1>Report card: {names}</h1>'
            + "".join(f'<p class="lead">{escape(line)}</p>' for line in card.headlines)
            + f"<p><small>Not tried: AutoAttack (APGD-DLR, FAB, a long Square search), PGD with more than "
            f"{STEPS} steps or {settings['restarts']} starts, attacks made for the model (adaptive ones) or "
            "transferred from other models. They can only lower these numbers.</small></p>"
            + warnings + checks(card) + summary + svg.pictures(card, others, without_known(settings))
            + f"<p>{settings['all']:,} images of {shape}, the attacks on {settings['images']:,} of them; "
            f"seed {settings['seed']}. Small numbers are 95% intervals over images, of shares and their "
            f"differences exact ones (Clopper-Pearson); n counts images{pairs}. {place}</p>"
            + "".join(section(card, title, others) for title in titles) + classes(card) + about(card)
            + origin(card) + "</div>")


def checks(card: Card) -> str:
    """Which conditions are met."""
    words = {True: "passed", False: "failed"}
    return "".join('<p class="{}"><b>Check {}</b> ({}): {} = {}, required {} {:g}</p>'.format(
        "" if c["met"] else "warning", words[c["met"]], escape(c["model"]), c["name"], number(c["value"]),
        escape(c["sign"]), c["limit"]) for c in card.checks())


def classes(card: Card) -> str:
    """The accuracy of each class, clean and in the worst case; of many classes, the lowest."""
    columns = {f"{escape(model)}, {words}": {k: m for k, *both in several for m in [both[i]]
                                             if isinstance(m, Measure) and m.n >= FEW}
               for model, several in card.classes.items() for i, words in enumerate(("clean", "worst case"))}
    columns = {head: measures for head, measures in columns.items() if measures}
    if not columns:
        return ""
    first, heads = next(iter(columns.values())), [*columns]
    lowest = sorted(first, key=lambda k: first[k].value or 0)[:CLASSES]
    few = (f"The {CLASSES} of {len(first):,} classes with the lowest “{heads[0]}”. ") * (len(first) > CLASSES)
    lines = [f"<tr><th>class {k}</th>" + "".join(
        f'<td data-head="{head}">{measured(measures[k]) if k in measures else "–"}</td>'
        for head, measures in columns.items()) + "</tr>" for k in sorted(lowest)]
    return (f"<h2>Classes</h2><p>{few}The share of a class's images that is classified correctly, where "
            f"there are {FEW} or more; the JSON file beside this card has all.</p>"
            f"<table><thead><tr>{''.join(f'<th>{h}</th>' for h in ['class', *heads])}</tr></thead>"
            f"<tbody>{''.join(lines)}</tbody></table>")


def about(card: Card) -> str:
    """What the author of the card says of the models."""
    rows = "".join(f"<tr><th>{escape(field)}</th><td>{escape(text)}</td></tr>"
                   for field, text in card.about.items())
    return f"<h2>Statements of the card's author</h2><table><tbody>{rows}</tbody></table>" if rows else ""


def origin(card: Card) -> str:
    """Where the numbers come from, and the line to cite."""
    rows = {**card.settings, **card.provenance}
    cite = rows.pop("cite", "")
    cells = "".join(f"<tr><th>{escape(SETTINGS.get(name, name))}</th><td>{_plain(value)}</td></tr>"
                    for name in rows for value in [setting(card.settings, name, rows[name])])
    return (f"<h2>Settings and versions</h2><p>To cite: {escape(cite)}</p>"
            f"<table><tbody>{cells}</tbody></table>")


def setting(settings: dict[str, Any], name: str, value: Any) -> Any:
    """The value of a setting as a reader knows it."""
    if name in ("eps", "l2"):
        return magnitude(settings["norm"] if name == "eps" else "L2", value)
    words = {"norm": SYMBOLS, "usual": {True: "yes", False: "no"}, "ssim_convention": WINDOWS}
    return words[name][value] if name in words else value


def _plain(value):
    """A setting in HTML; the parts of one with several on lines of their own."""
    if isinstance(value, dict):
        return "<br>".join(f"{escape(str(key))}: {escape(str(part))}" for key, part in value.items())
    return escape(" × ".join(map(str, value)) if isinstance(value, list) else str(value))


def page(card: Card) -> str:
    """The card as a page of its own."""
    return PAGE.format(body(card))
