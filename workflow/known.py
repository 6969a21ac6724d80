"""Measure kept networks for the report card's dots: python -m workflow.known; writes shared/card/known.json

One seed of each architecture, recipe and data set. A network that is there already is not measured again:
where an instrument of the card has changed, delete the file first.
"""
import json

from report import reference, zoo
from shared import runtime
from shared.card import card
from shared.card.measures import KNOWN_IMAGES
from shared.card.page import KNOWN
from shared.data import sets

IMAGES = 1000   # of the test set, for accuracy and ROBY


def networks():
    """`{label: (facts, path)}` of the kept networks, the first seed of each kind."""
    kept = {}
    for path in sorted(zoo.ZOO.glob("*-s0-*.safetensors")):
        facts, _ = zoo.about(path)
        paper, _, name = facts["architecture"].partition("-")
        trained = ", adversarially trained" if "hook" in facts else ""
        label = f"{reference.SHORT[paper]}, {name}{trained}"
        kept[f"{label} (another recipe)" if label in kept else label] = facts, path
    return kept


def main():
    known = json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else {}
    for label, (facts, path) in networks().items():
        data = sets.load(facts["dataset"], profile="paper")
        there = known.setdefault("x".join(map(str, data.x_test.shape[1:])), {})
        if label in there:
            continue
        net = zoo.read(path, "cpu").net
        sections = card({label: net}, data.x_test[:IMAGES], data.y_test[:IMAGES],
                        images=KNOWN_IMAGES).sections[label]
        there[label] = {m.name: float(f"{m.value:.4g}") for s in sections for m in s.measures
                        if m.value is not None}
        runtime.write_text(KNOWN, json.dumps(known, indent=1, sort_keys=True) + "\n")
        errors = "".join(f"; {s.title}: {s.error}" for s in sections if s.error)
        print(f"{label}: {sum(s.seconds for s in sections):.0f} s{errors}", flush=True)


if __name__ == "__main__":
    runtime.prepare()
    main()
