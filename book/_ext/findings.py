"""What pages found, in their own words and pictures: for the cover, the openings, the gallery."""
import os
import re
from collections import Counter

import yaml
from executed import ROOT, pictures
from places import label, link, pages, run, shown
from scoreboard import everything

from workflow import catalogue


# ---- sentences -------------------------------------------------------------------------------------------
def minute(name):
    """What a page found, in its own words: (sentences, picture, alt, at full scale), or None."""
    for spec in shown(name, "minute"):
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


def finding(names):
    """The minute of the first of some pages that has one: its picture, its sentences, a link to it."""
    for name in names.split():
        if told := minute(name):
            said, path, alt, _ = told
            shot = f"```{{image}} {path}\n:alt: {alt}\n:class: finding\n```\n\n" if path else ""
            return f"{shot}{said} {link('How this was found', name)}."
    return ""


def moving(paper):
    """The first figure with a slider on the pages of a paper, as HTML, or None."""
    for name in catalogue.notebooks():
        for cell in (run(name) or {"cells": []})["cells"] if name.split("/")[0] == paper else []:
            for output in cell.get("outputs", []):
                html = "".join(output.get("data", {}).get("text/html", ""))
                if 'type="range"' in html:
                    return html
    return None


def found(argument, text=""):
    """What the pages of a paper found, led by a figure that moves, under `text`, or else by a picture.

    The picture is that of the paper's first page that says what it found, else of an item.
    """
    from shared.pages.display import sentence
    paper, *item = argument.split()
    told = {n: m for n in catalogue.notebooks() if n.split("/")[0] == paper and (m := minute(n))}
    first = next(((path, alt) for _, path, alt, whole in told.values() if path and whole), None)
    shot = f"```{{image}} {first[0]}\n:alt: {first[1]}\n:class: finding\n```" if first else \
        picture(f"{paper} {item[0]}", "") if item else ""
    said = [f"**{link(sentence(catalogue.title(n)), n)}** {words}"
            for n, (words, _, _, whole) in told.items() if whole]
    if waiting := [link(catalogue.title(n), n) for n, (*_, whole) in told.items() if not whole]:
        said.append(f"Nothing is recorded at full scale yet on {'; '.join(waiting)}.")
    html = moving(paper)
    parts = [text.strip(), f"```{{raw}} html\n{html}\n```", *said, shot] if html else [shot, *said]
    return "\n\n".join(filter(None, parts))


def cite(_):
    """How to cite the book, from CITATION.cff."""
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    year = yaml.safe_load((ROOT / "_config.yml").read_text())["copyright"]
    who = " and ".join(f"{{{a['name']}}}" if "name" in a else f"{a['family-names']}, {a['given-names']}"
                       for a in told["authors"])
    fields = {"author": who, "title": f"{{{told['title']}}}", "year": year, "version": told["version"],
              "url": told["repository-code"], "note": f"{told['license']} licence"}
    entry = ",\n".join(f"  {k:<7} = {{{v}}}" for k, v in fields.items())
    return f"::::{{admonition}} Cite this\n:class: cite\n{told['message']}\n\n" \
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
    if made := _pictured(*argument.split()):
        path, alt, recorded = made
        told = "" if recorded else " (Here at the small scale of this build.)"
        return f"```{{figure}} {path}\n:alt: {alt}\n\n{caption.strip()}{told}\n```"
    return ""


def gallery(_):
    """All figures of the five papers as cards; those that no run has drawn yet are counted."""
    from shared import reference
    from shared.pages.display import badge
    parts, missing = [], Counter()
    for key, name in reference.SHORT.items():
        cards = []
        for item, _, page, word in everything():
            if item.paper == key and item.kind == "figure":
                if made := _pictured(key, item.id):
                    at = label(item)
                    where = f":link: {at}\n:link-type: ref" if at else \
                        f":link: /notebooks/{page}\n:link-type: doc"
                    cards.append(f":::{{grid-item-card}} {item.label}\n:img-top: {made[0]}\n"
                                 f":img-alt: {made[1]}\n{where}\n{badge(word, item)} {item.caption}\n:::")
                else:
                    missing[name] += 1
        if cards:
            body = "\n\n".join(cards)
            parts.append(f"## {name}\n\n::::{{grid}} 1 1 2 2\n:gutter: 3\n:class-container: gallery\n\n"
                         f"{body}\n::::")
    if missing:
        told = ", ".join(f"{name} ({n})" for name, n in missing.items())
        parts.append(f"Figures that no run of this book has drawn yet: {told}.")
    return "\n\n".join(parts)


