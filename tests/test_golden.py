"""Every version of a room is held by its golden tests, and a number never comes without a line."""
import hashlib
import json
import re
import subprocess

import numpy as np
import pytest

from shared import ROOT
from shared.units import identity
from tests import golden
from tests.golden import units

EVERY = [(room, name) for room in golden.rooms() for name in golden.cases(room)]


@pytest.mark.parametrize("room, name", EVERY)
def test_the_version_computes_what_it_has_computed(room, name):
    function, elsewhere = golden.cases(room)[name]
    known, machines = golden.stored(room)
    assert name in known, f"new case; store it: make golden ROOM={room}"
    exact = machines[name] == golden.machine()
    told = golden.difference(known[name], golden.flat(function()), exact, elsewhere)
    assert told is None, f"{room} computes something else (undo it, or raise VERSION with a line): {told}"


@pytest.mark.parametrize("room", golden.rooms())
def test_every_room_has_cases_and_no_stored_output_lacks_its_case(room):
    known, machines = golden.stored(room)
    assert known and known.keys() == golden.cases(room).keys() == machines.keys()


@pytest.mark.parametrize("room", golden.rooms())
def test_every_number_has_a_line_that_says_what_changed(room):
    path = identity.module_file(f"shared.{room.replace('/', '.')}")
    lines = path.read_text().splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("VERSION = "))
    number = int(lines[first].removeprefix("VERSION = "))
    told = [re.fullmatch(r"# (\d+)  \S.*", line) for line in lines[first + 1:first + 1 + number]]
    assert [int(each[1]) for each in told if each] == list(range(1, number + 1))


# Cases stored again under their number: for a fault that no recorded unit has (the room's file names it),
# or for an order of memory, or of calls, that moves the last bit. What they hold now stays: its digest.
MENDED = {
    "attacks": {
        "threats": "3f18dc08c355",
        "what_the_judge_refuses": "0f2db3cdfce9",
        "readings_of_chen": "c4c94a87c5f1",
        "searches_at_the_limits": "f78052a48831",
        "l1_threats": "df7e78133f86",
        "searches_of_several_settings": "c71308f39608",
        "regions": "0984dad1b193",
    },
    "models/inference": {
        "models_as_functions": "f4c4267d397a",
        "models_that_are_refused": "e027064a0fc6",
    },
}


def digest(stored, case):
    """Of all outputs of a case in an open file of stored outputs, with their types and shapes."""
    made = hashlib.sha256()
    for key in sorted(stored.files):
        name, _, place = key.partition("|")
        if name == case and place:
            made.update(f"{place} {stored[key].dtype} {stored[key].shape}".encode() + stored[key].tobytes())
    return made.hexdigest()[:12]


@pytest.mark.parametrize("room", golden.rooms())
def test_what_is_stored_under_a_number_stays(room, tmp_path):
    """Against the first commit of the file on main: later ones may add cases, and change none.

    A file that is in no commit has no earlier state: the first outputs of a new room, or a tree without git.
    """
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True).stdout

    name = golden.file_of(room).relative_to(ROOT).as_posix()
    if not git("ls-tree", "HEAD", "--", name):
        return
    added = git("log", "--first-parent", "--diff-filter=A", "--format=%H", "--", name).decode().split()
    assert added, "this clone lacks the history of the file; git fetch --unshallow"
    old = tmp_path / "first.npz"
    old.write_bytes(git("show", f"{added[0]}:{name}"))
    mended = MENDED.get(room, {})
    with np.load(old) as before, np.load(golden.file_of(room)) as now:
        assert {case: digest(now, case) for case in mended} == mended
        for key in before.files:
            if key.partition("|")[0] in mended:
                continue
            a = before[key]
            assert key in now.files and np.array_equal(a, now[key], equal_nan=a.dtype.kind == "f"), key


def test_a_small_unit_of_each_recorded_set_finds_what_it_found(smoke):
    """End to end, through the function of the notebook and every room that it runs in."""
    _, folder = smoke
    known = json.loads(units.STORED.read_text())
    wrong = []
    for name in units.recorded_sets():
        if (unit := units.small_unit(f"{folder}/cache", name)) is None:
            continue
        if name not in known or known[name]["code"] != unit.code:
            wrong.append(f"{name}: other code ran; store again: python -m tests.golden.units")
        elif (place := units.difference(known[name], units.told(unit))) is not None:
            wrong.append(f"{name}: {place} differs under the same code")
    assert not wrong, "\n".join(wrong)
