"""Every data set: found, downloaded, embedded, or what to do: `python -m workflow.data`."""
import logging
import sys

# The data sets of single papers are known once their modules are imported.
import papers.imagenet_samples
import papers.sutton.traffic_signs  # noqa: F401
from shared import runtime
from shared.data.sets import report

if __name__ == "__main__":
    runtime.prepare()
    runtime.stop_cleanly()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    lines, sound = report()
    print("\n".join(lines))
    sys.exit(not sound)
