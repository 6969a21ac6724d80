"""Carry units over to rooms with versions, once: python -m workflow.carry REVISION [REVISION ...]

In each unit, the hashes of definitions that belong to a room with a version become one entry, the room at its
version, where all of them equal those of one of the revisions named. Where they do not, they stay, and the
unit is told.
"""
import json
import subprocess
import sys

from shared import ROOT, runtime
from shared.units import identity, store

MOVED = {"shared/models/careful.py": "shared/models/inference.py"}
GONE = "shared/__init__.py:ROOT"  # every file's folder: no part of what a room computes


def text(revision, file):
    done = subprocess.run(["git", "show", f"{revision}:{file}"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def carried(code, sources, room_of):
    """The code of a unit with rooms in place of definitions; and the entries that no revision has."""
    new, rooms, strange = {}, {}, []
    for entry, known in code.items():
        file, _, name = entry.partition(":")
        if not name or entry == GONE:
            new |= {} if name else {entry: known}
            continue
        room = room_of(file)
        if room is None:
            new[entry] = known
        else:
            rooms.setdefault(room, []).append((entry, file, name, known))
    for room, entries in rooms.items():
        # a declared version is one of fit or Recipe: they had it before
        bad = [e for e, file, name, known in entries
               if known != "version 1" and all(known != s(file).hash(name) for s in sources)]
        if bad:
            strange += bad
            new |= {e: known for e, _, _, known in entries}
        else:
            new[room] = "version 1"
    return dict(sorted(new.items())), strange


def main(revisions):
    if not revisions:
        raise runtime.UserError("name the revisions whose code counts as version 1")
    known = {}

    def of(revision):
        def source(file):
            if (revision, file) not in known:
                known[revision, file] = identity.Source(text(revision, file))
            return known[revision, file]
        return source

    sources = [of(revision) for revision in revisions]
    room = {}

    def room_of(file):
        if file not in room:
            room[file] = identity.room_of(ROOT / MOVED.get(file, file))
        return room[file]

    done = left = 0
    for path in sorted((runtime.results_folder() / "units").glob("*/*/*/[!.]*.json")):
        unit = store.read(path)
        code, strange = carried(unit.code, sources, room_of)
        if strange:
            left += 1
            print(f"{path.relative_to(runtime.results_folder())}: stays: {', '.join(strange)}")
        if code != unit.code:
            done += 1
            raw = json.loads(path.read_text())
            raw["code"] = code
            raw.pop("check")
            check = store._content(raw)
            body = {k: json.dumps(raw[k], sort_keys=True, ensure_ascii=False) for k in sorted(raw)}
            lines = ",\n".join(f" {json.dumps(k)}: {v}" for k, v in {**body, "check": f'"{check}"'}.items())
            path.write_text(f"{{\n{lines}\n}}\n")
            store.read(path)
    print(f"{done} units carried over, {left} not")


if __name__ == "__main__":
    runtime.prepare()
    main(sys.argv[1:])
