"""Store the outputs of new golden cases: python -m tests.golden ROOM"""
import sys

from shared import runtime
from tests import golden

if __name__ == "__main__":
    runtime.prepare()
    known = golden.rooms()
    if len(sys.argv) != 2 or sys.argv[1] not in known:
        raise runtime.UserError(f"ROOM={' '.join(sys.argv[1:])!r}; allowed: {', '.join(known)}")
    print(f"stored: {', '.join(golden.store(sys.argv[1])) or 'nothing new'}")
