"""Every data set: found, downloaded, embedded, or what to do: `python -m workflow.data`."""
import logging
import sys

# The data sets of single papers are known once their modules are imported.
import papers.imagenet_samples
import papers.sutton.traffic_signs  # noqa: F401
from shared import runtime
from shared.data import sets

STATES = sets.SOURCES | {"folder": "found"}


def report():
    """(lines, sound): each data set found, downloaded, embedded, or missing or damaged and what to do."""
    lines, sound = [], True
    for name in sets.names():
        try:
            dataset = sets.load(name, profile="paper")
            state, text = STATES[dataset.source], dataset.describe()
        except sets.Missing as error:
            state, text = "missing", str(error)
        except sets.DataError as error:
            state, text, sound = "DAMAGED", str(error), False
        lines.append(f"{name:14s}{state:12s}{text}")
    return lines, sound


if __name__ == "__main__":
    runtime.prepare()
    runtime.stop_cleanly()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    lines, sound = report()
    print("\n".join(lines))
    sys.exit(not sound)
