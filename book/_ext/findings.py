"""What was measured, in words and pictures: for the home page, the openings of the papers, the gallery."""
import re

from counts import everything
from places import drawn, label, link, pages, place, placed, run, shown

from papers.home import FINDINGS, STATED
from report import display, prose, reference
from shared.runtime import UserError
from workflow import catalogue

PICTURE = re.compile(r"\{(?:figure|image)\} (\S+)\n(?::name: .+\n)?:alt: (.+)")


# ---- the home page ---------------------------------------------------------------------------------------
def finding(argument, text):
    """A finding: its sentences and its picture, for the argument `NAME what the picture shows`."""
    name, alt = argument.split(" ", 1)
    display.style()
    try:
        facts, figure = FINDINGS[name]()
    except UserError as error:
        return f"Not measured yet ({error})."
    path = drawn(figure, f"finding-{name}.png")
    image = f"```{{image}} {path}\n:alt: {alt}\n:class: finding\n```"
    return minus(prose.fill(text.replace("{picture}", "PICTURE"), facts)).replace("PICTURE", image)


def minus(text):
    """Text with the sign of a number below zero as it is printed."""
    return re.sub(r"(?<=[\s(])-(?=\d)", "−", text)


# ---- the opening of a paper ------------------------------------------------------------------------------
def stated(paper, text):
    """The paragraphs of an opening, or on all five papers, with their numbers; others are left out."""
    try:
        facts = STATED[paper]()
    except UserError:
        facts = {}
    return minus("\n\n".join(prose.fill(part, facts) for part in text.strip().split("\n\n")
                             if prose.complete(part, facts)))


def moving(notebooks):
    """The first figure with a slider on some pages, as HTML, or None."""
    cells = (cell for name in notebooks for cell in (run(name) or {"cells": []})["cells"])
    html = ("".join(output.get("data", {}).get("text/html", ""))
            for cell in cells for output in cell.get("outputs", []))
    return next((text for text in html if 'type="range"' in text), None)


def opening(paper, text=""):
    """What the pages of a paper show, led by a figure that moves, under `text`, or else by a picture.

    The picture is that of the paper's first page that says what it measured. Pages of tables have no box.
    """
    notebooks = [name for name in catalogue.notebooks()
                 if name.split("/")[0] == paper and not name.endswith("_tables")]
    said, pictures, not_run, waiting = [], [], [], []
    for name in notebooks:
        title = catalogue.title(name)
        boxes = [box for box in shown(name, "box") if not box["small"]]
        if not boxes:
            (waiting if run(name) else not_run).append(link(title, name))
        for box in boxes:
            said.append(f"**{link(box['question'], name)}** {box['sentences']}")
            pictures += PICTURE.findall(placed(box, f"notebooks/{name}", f"book/{paper}"))
    for words, links in (("Not run in this build", not_run), ("Not measured at full scale yet", waiting)):
        if links:
            said.append(f"{words}: {' · '.join(links)}.")
    if html := moving(notebooks):
        return "\n\n".join([text.strip(), f"```{{raw}} html\n{html}\n```", *said])
    first = [f"```{{image}} {path}\n:alt: {alt}\n:class: finding\n```" for path, alt in pictures[:1]]
    return "\n\n".join([*first, *said])


# ---- pictures --------------------------------------------------------------------------------------------
def pictured(paper, item):
    """(path from the pages of `book`, alt, recorded) of an item's picture, or None where it was not run."""
    page = pages().get((paper, item))
    for spec in shown(page, "item") if page else []:
        if spec["record"]["item"] == item and (image := PICTURE.search(
                placed(spec, f"notebooks/{page}", "book/gallery"))):
            return *image.groups(), spec["recorded"]
    return None


def picture(argument, caption):
    """The picture of an item such as `ren figure-1`, drawn on its page; nothing where it has not been run."""
    if not (image := pictured(*argument.split())):
        return ""
    path, alt, recorded = image
    scale = "" if recorded else " (Here at the small scale of this build.)"
    return f"```{{figure}} {path}\n:alt: {alt}\n\n{caption.strip()}{scale}\n```"


def gallery(_):
    """The recorded figures of the five papers as cards, then the names of the others."""
    parts, missing = [], []
    for key, name in reference.SHORT.items():
        cards, others = [], []
        for item, *_, word in everything():
            if item.paper == key and item.kind == "figure":
                path, alt, recorded = pictured(key, item.id) or (None, None, False)
                if recorded:
                    cards.append(f":::{{grid-item-card}} {item.label}\n:img-top: {path}\n:img-alt: {alt}\n"
                                 f":link: {label(key, item.id)}\n:link-type: ref\n"
                                 f"{display.badge(word)} {display.symbols(item.caption)}\n:::")
                else:
                    others.append(place(item, item.number))
        if cards:
            body = "\n\n".join(cards)
            parts.append(f"## {name}\n\n::::{{grid}} 1 1 2 2\n:gutter: 3\n:class-container: gallery\n\n"
                         f"{body}\n::::")
        if others:
            missing.append(f"- {name}: Figure{'s' * (len(others) > 1)} {', '.join(others)}")
    if missing:
        parts.append("## Not shown in this build\n\n" + "\n".join(missing))
    return "\n\n".join(parts)
