"""Compute stale units again; say whether the rest may stand: python -m workflow.recheck [N] [NOTEBOOK ...]

N stale units of each set (all by default) are computed by the present code and compared with what was there.
"""
import json
import sys

from shared import runtime
from shared.pages.start import STATE
from shared.units import store
from workflow import catalogue, records


def told(name, state, before):
    """One line on a set of units after some were computed again."""
    folder = runtime.results_folder() / "units" / name / state["set"]
    units = [u for u in (store.read(p) for p in sorted(folder.glob("[!.]*.json"))) if u.name in before]
    again = [u for u in units if u.replaced and u.name not in state["stale"]]
    if not again:
        return None
    words = {True: "the same", False: "different", None: "not comparable"}
    each = ", ".join(f"{u.name} {words[u.replaced['same']]}" for u in again)
    doubt = f"; doubtful now: {', '.join(state['doubtful'])}" if state["doubtful"] else ""
    return f"{name} {state['set']}: {each}; {len(state['stale'])} by earlier code left{doubt}"


def main(words):
    count = int(words.pop(0)) if words and words[0].isdecimal() else None
    if count == 0:
        raise runtime.UserError("0 stale units; allowed: a whole number from 1, or none for all")
    known = catalogue.with_units()
    names = words or known
    if unknown := [n for n in names if n not in known]:
        raise runtime.UserError(f"unknown notebook {unknown[0]!r}; allowed: {', '.join(known)}")
    which = f"stale:{count}" if count else "stale"
    for name in names:
        path = runtime.ROOT / STATE / f"{name.replace('/', '-')}.json"
        _, error = records.text_half(name, "-p", "units", "none", results=runtime.results_folder())
        before = {} if error else {s["set"]: set(s["stale"]) for s in json.loads(path.read_text())["state"]}
        if not error and any(before.values()):
            _, error = records.text_half(name, "-p", "units", which, results=runtime.results_folder())
        if error:
            raise SystemExit(f"{name}: {error}")
        lines = [told(name, s, before[s["set"]]) for s in json.loads(path.read_text())["state"]]
        print("\n".join(filter(None, lines)) or f"{name}: no stale unit", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
