"""Compute units again; say whether the rest may stand: python -m workflow.recheck [N] [NOTEBOOK ...]

N units of each set, stale ones first (without N: all stale ones), are computed by the present code and
compared with what was there.
"""
import json
import sys

from shared import runtime
from shared.pages.start import STATE
from shared.units import store
from workflow import catalogue, records


def recorded(name):
    """`{(set, unit): Unit}` of what is recorded of a notebook."""
    folder = runtime.results_folder() / "units" / name
    units = ((path.parent.name, store.read(path)) for path in sorted(folder.glob("*/[!.]*.json")))
    return {(each, unit.name): unit for each, unit in units}


def told(name, state, before, after):
    """One line on a set of units after some were computed again; None where none was."""
    words = {True: "the same", False: "different", None: "not comparable"}
    again = [f"{unit.name} {words[unit.replaced['same']]}" for key, unit in after.items()
             if key[0] == state["set"] and key in before and unit.provenance != before[key].provenance]
    doubt = f"; doubtful now: {', '.join(state['doubtful'])}" if state["doubtful"] else ""
    left = f"; {len(state['stale'])} by earlier code left{doubt}"
    return f"{name} {state['set']}: {', '.join(again)}{left}" if again else None


def main(words):
    count = int(words.pop(0)) if words and words[0].isdecimal() else None
    if count == 0:
        raise runtime.UserError("0 units; allowed: a whole number from 1, or none for all stale ones")
    known = catalogue.with_units()
    names = words or known
    if unknown := [n for n in names if n not in known]:
        raise runtime.UserError(f"unknown notebook {unknown[0]!r}; allowed: {', '.join(known)}")
    which = f"stale:{count}" if count else "stale"
    for name in names:
        before = recorded(name)
        _, error = records.text_half(name, "-p", "units", which, results=runtime.results_folder())
        if error:
            raise SystemExit(f"{name}: {error}")
        after = recorded(name)
        state = json.loads((runtime.ROOT / STATE / f"{name.replace('/', '-')}.json").read_text())["state"]
        lines = [told(name, s, before, after) for s in state]
        print("\n".join(filter(None, lines)) or f"{name}: no stale unit", flush=True)


if __name__ == "__main__":
    runtime.prepare()
    main(sys.argv[1:])
