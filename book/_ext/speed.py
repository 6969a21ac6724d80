"""What `make bench KEEP=results/benchmarks.json` measured, as tables and a picture of the page on speed."""
import json
import re

import matplotlib.pyplot as plt
from places import ROOT, drawn

from report import display

PASSES, SUCCESS, DISTANCE = "passes an image", "success", "mean L2"


def kept():
    """The kept results, their texts as a page writes them: names, powers of ten, signs of multiplication."""
    text = (ROOT / "results" / "benchmarks.json").read_text()
    text = re.sub(r"\bren-([a-c])\b", lambda m: f"network {m[1].upper()}", text)
    text = re.sub(r"\b\d\.\d+e[-+]\d+\b", lambda m: display.number(float(m[0])), text)
    text = re.sub(r"(?<=\d) ?x (?=\d)|(?<=\d)x(?=\d)", " × ", text).replace("x faster", "times faster")
    return json.loads(text)


def rows(table):
    """The rows of a kept table as `{column: text}`, with the first column as `""`."""
    return [dict(zip(["", *table["header"][1:]], row)) for row in table["rows"]]


def speed(part):
    """The tables of a part, such as `attacks`, with their notes."""
    return "\n\n".join(text for table in kept()["parts"][part] for text in (
        display.myst_table(table["header"], table["rows"], table["title"]), *table["notes"]))


def measured(_):
    """Where and when all of it was measured."""
    facts = kept()
    versions = ", ".join(f"{k} {v}" for k, v in {**facts["versions"], **facts["peers"]}.items())
    return f"{facts['device']}, {facts['cores']}; {facts['when']}, revision {facts['revision']}; " \
           f"{facts['seconds'] / 60:.0f} minutes in all, at most {facts['peak_gib']} GiB of memory, " \
           f"the other libraries included. {facts['images']} Versions: {versions}."


def beside_foolbox(_):
    """How many times our time Foolbox takes at equal settings, on each net."""
    ratios = [(table["title"].split(" on ")[1].split(",")[0], row["times ours"])
            for table in kept()["parts"]["attacks"] for row in rows(table)
            if "times ours" in row and row[""].startswith("Foolbox")]
    return "At equal searches and iterations Foolbox takes " + \
           " and ".join(f"{times} times our time on {net}" for net, times in ratios) + \
           " (median of the ratios over rounds)."


def passes(_):
    """Passes against mean distance, ours beside Foolbox's."""
    display.style()
    table = next(t for t in kept()["parts"]["attacks"] if PASSES in t["header"] and len(t["header"]) == 5)
    figure, ax = plt.subplots(figsize=(7, 3.6))
    for color, marker, who in zip(display.PALETTE, "os", ("ours", "Foolbox")):
        points = [(float(r[PASSES]), float(r[DISTANCE]), r[SUCCESS] == "100%") for r in rows(table)
                  if r[""].startswith(who) and "stopped" not in r[""]]
        ax.plot(*zip(*((x, y) for x, y, _ in points)), marker, color=color, mfc="white")
        if whole := [(x, y) for x, y, all_of in points if all_of]:
            ax.plot(*zip(*whole), marker, color=color, label=who)
    ax.set(xlabel="passes an image", ylabel="mean Euclidean distance")
    ax.legend()
    return f"```{{figure}} {drawn(figure, 'passes.png')}\n:alt: Mean distance of the examples " \
           "over the passes an image, falling for both, ours and Foolbox's\n\nPasses against distance; " \
           "filled where an example was found for every image. The settings stand in the table below.\n```"
