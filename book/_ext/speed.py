"""What `make bench KEEP=results/benchmarks.json` measured, as tables of the page on speed."""
import json
import re

from places import ROOT

from report import display

# What pages call the networks and attacks that the benchmarks name as the code does.
NAMES = {"sutton-vgg-short": "network for Fashion-MNIST and GTSRB", "sutton-vgg": "network for CIFAR-10",
         "chen-lenet": "LeNet", "chen-fcn": "fully connected network", "bim-linf": "BIM L∞",
         "bim-l2": "BIM L2", "bim-l1": "BIM L1", "cw2": "Carlini & Wagner L2"}


def kept():
    """The kept results, their texts as a page writes them: names, powers of ten, signs of multiplication."""
    text = (ROOT / "results" / "benchmarks.json").read_text(encoding="utf-8")
    text = re.sub(r"\bren-([a-c])\b", lambda m: f"network {m[1].upper()}", text)
    for name, words in NAMES.items():
        text = text.replace(name, words)
    text = re.sub(r"\b\d\.\d+e[-+]\d+\b", lambda m: display.number(float(m[0])), text)
    text = re.sub(r"(?<=\d) ?x (?=\d)|(?<=\d)x(?=\d)", " × ", text).replace("x faster", "times faster")
    return json.loads(text)


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
           f"the other libraries included, the large line search below not. {facts['images']} Versions: " \
           f"{versions}."
