"""Every data set: found, downloaded, embedded, or what to do: `python -m shared.data`."""
import logging
import sys

from shared import runtime
from shared.data.sets import report

if __name__ == "__main__":
    runtime.prepare()
    runtime.stop_cleanly()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    lines, sound = report()
    print("\n".join(lines))
    sys.exit(not sound)
