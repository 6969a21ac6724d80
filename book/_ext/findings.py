"""What pages found, in their own words and pictures: for the cover, the openings, the gallery."""
import os
import re

import yaml
from counts import everything
from executed import ROOT, pictures
from places import label, link, pages, place, run, shown

from workflow import catalogue


# ---- sentences -------------------------------------------------------------------------------------------
def box(name):
    """What a page found, in its own words: (sentences, picture, alt, at full scale), or None."""
    for spec in shown(name, "box"):
        text = re.sub(r"(?s)```.*?```", "", spec["myst"])
        text = "\n".join(line for line in text.splitlines() if not line.startswith(":"))
        said = [p for p in re.split(r"\n\s*\n", text.strip()) if "{bdg-" not in p]
        alt = re.search(r"^:alt: (.+)$", spec["myst"], re.MULTILINE)
        path = None
        if spec["pictures"] and alt:
            folder = os.path.relpath(pictures(spec, f"notebooks/{name}"), ROOT / "book")
            path = f"{folder}/{next(iter(spec['pictures']))}"
        return "\n\n".join(said), path, alt and alt[1], not spec["small"]
    return None


def moving(paper):
    """The first figure with a slider on the pages of a paper, as HTML, or None."""
    for name in catalogue.notebooks():
        for cell in (run(name) or {"cells": []})["cells"] if name.split("/")[0] == paper else []:
            for output in cell.get("outputs", []):
                html = "".join(output.get("data", {}).get("text/html", ""))
                if 'type="range"' in html:
                    return html
    return None


def found(paper, text=""):
    """What the pages of a paper found, led by a figure that moves, under `text`, or else by a picture.

    The picture is that of the paper's first page that says what it found.
    """
    boxes = {n: box(n) for n in catalogue.notebooks() if n.split("/")[0] == paper}
    if not boxes:
        return "No page of this book measures this paper yet. What it asks, measures and claims is told " \
               "below; {ref}`the audit <audit>` checks its printed numbers."
    whole = {n: m for n, m in boxes.items() if m and m[-1]}
    said = [f"**{link(name, n)}{'' if name.endswith('?') else '.'}** {words}"
            for n, (words, *_) in whole.items() for name in [catalogue.title(n)]]
    if waiting := [link(catalogue.title(n), n) for n in boxes if n not in whole]:
        said.append(f"Nothing is recorded at full scale yet of: {' · '.join(waiting)}.")
    if html := moving(paper):
        return "\n\n".join([text.strip(), f"```{{raw}} html\n{html}\n```", *said])
    shots = [f"```{{image}} {path}\n:alt: {alt}\n:class: finding\n```"
             for _, path, alt, _ in whole.values() if path]
    return "\n\n".join([*shots[:1], *said])


def cite(_):
    """How to cite the book, from CITATION.cff."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    year = yaml.safe_load((ROOT / "_config.yml").read_text())["copyright"]
    who = " and ".join(f"{{{a['name']}}}" if "name" in a else f"{a['family-names']}, {a['given-names']}"
                       for a in citation["authors"])
    fields = {"author": who, "title": f"{{{citation['title']}}}", "year": year,
              "version": citation["version"],
              "url": citation["repository-code"], "note": f"{citation['license']} licence"}
    entry = ",\n".join(f"  {k:<7} = {{{v}}}" for k, v in fields.items())
    return f"::::{{admonition}} Cite this\n:class: cite\n{citation['message']}\n\n" \
           f"```bibtex\n@software{{boundarybook,\n{entry}\n}}\n```\n::::"


# ---- pictures --------------------------------------------------------------------------------------------
def _pictured(paper, item):
    """(path from the pages of `book`, alt, recorded) of an item's picture, or None where it was not run."""
    page = pages().get((paper, item))
    for spec in shown(page, "item") if page else []:
        if spec["record"]["item"] == item and spec["pictures"]:
            folder = os.path.relpath(pictures(spec, f"notebooks/{page}"), ROOT / "book")
            alt = re.search(r"^:alt: (.+)$", spec["myst"], re.MULTILINE)[1]
            first = next(iter(spec["pictures"]))  # the recorded one, where there is one
            return f"{folder}/{first}", alt, spec["recorded"]
    return None


def picture(argument, caption):
    """The picture of an item such as `ren figure-1`, drawn on its page; nothing where it has not been run."""
    if shown := _pictured(*argument.split()):
        path, alt, recorded = shown
        scale = "" if recorded else " (Here at the small scale of this build.)"
        return f"```{{figure}} {path}\n:alt: {alt}\n\n{caption.strip()}{scale}\n```"
    return ""


def gallery(_):
    """The recorded figures of the five papers as cards, then the names of the others."""
    from report import reference
    from report.display import badge, symbols
    parts, missing = [], []
    for key, name in reference.SHORT.items():
        cards, others = [], []
        for item, _, page, word in everything():
            if item.paper == key and item.kind == "figure":
                pictured = _pictured(key, item.id)
                if pictured and pictured[2]:
                    at = label(item)
                    where = f":link: {at}\n:link-type: ref" if at else \
                        f":link: /notebooks/{page}\n:link-type: doc"
                    words = f"{badge(word, item)} {symbols(item.caption)}"
                    cards.append(f":::{{grid-item-card}} {item.label}\n:img-top: {pictured[0]}\n"
                                 f":img-alt: {pictured[1]}\n{where}\n{words}\n:::")
                else:
                    others.append(place(item, item.number))
        if cards:
            body = "\n\n".join(cards)
            parts.append(f"## {name}\n\n::::{{grid}} 1 1 2 2\n:gutter: 3\n:class-container: gallery\n\n"
                         f"{body}\n::::")
        if others:
            missing.append(f"- {name}: Figure{'s' * (len(others) > 1)} {', '.join(others)}")
    if missing:
        parts.append("## Not recorded yet\n\n" + "\n".join(missing))
    return "\n\n".join(parts)


