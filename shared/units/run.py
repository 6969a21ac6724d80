"""Units of a notebook: which are published, recorded, missing, stale; computing what a run wants of them.

A set of units belongs to one function. The plan of the unmodified `paper` scale defines the published units;
a run's own plan says what it wants. What is wanted with exactly the published arguments (a declared part may
be smaller) is kept under `results/units`, all else (`smoke`, `quick`, other parameters) so in the cache.
"""
import hashlib
import re
import shutil
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import torch

from shared import runtime
from shared.data import content
from shared.data import sets as datasets
from shared.units import checkpoint, identity, provenance, store

WHICH = "missing, stale, stale:<n>, all, none, names separated by commas, or <i>/<n> for one of n shares"


@dataclass
class UnitSet:
    """The units of one set: the `recorded` ones, and `mine`, those of this run."""
    name: str
    published: dict                                  # name -> arguments at full scale, None if unknown
    parts: tuple = ()
    recorded: dict = field(default_factory=dict)     # name -> Unit
    mine: dict = field(default_factory=dict)         # name -> Unit
    stale: dict = field(default_factory=dict)        # name of a recorded unit -> what changed since
    orphans: tuple = ()                              # recorded units that no plan names any more
    labels: dict = field(default_factory=dict)       # name -> {column: value} from which it is made

    def enter(self, name, unit):
        """Let a unit be what is recorded under a name, and see what has changed since it was computed."""
        self.recorded[name], planned = unit, self.published[name]
        changed = identity.changed(unit.code)
        if planned is not None and not _same_but_parts(unit.arguments, planned, self.parts):
            changed.append("arguments")
        self.stale.pop(name, None)
        if changed:
            self.stale[name] = changed

    @property
    def missing(self):
        """Published units that are not recorded, or smaller than published."""
        return [n for n in self.published if n not in self.recorded or self.recorded[n].fraction < 1]

    @property
    def absent(self):
        """Published units of which nothing is recorded."""
        return [n for n in self.published if n not in self.recorded]

    @property
    def fraction(self):
        """Mean over the published units of their share of the published size; an absent one counts 0."""
        if not self.published:
            return 1.0
        return sum(u.fraction for u in self.recorded.values()) / len(self.published)

    @property
    def doubtful(self):
        """Units not computed again whose code gave other numbers where a unit of it was."""
        wrong = {pair for u in self.recorded.values() if u.replaced and u.replaced["same"] is False
                 for pair in u.replaced["changed"].items()}
        return [n for n, u in self.recorded.items()
                if (n in self.stale or not u.replaced) and wrong & set(u.code.items())]

    @property
    def confirmed(self):
        """How many units were computed again by the present code with the same result as by earlier code."""
        return sum(bool(u.replaced and u.replaced["same"]) for u in self.recorded.values())

    def only(self, keep):
        """The units that `keep` takes, by their arguments and labels: what a figure or table rests on."""
        names = [n for n, given in self.published.items() if keep((given or {}) | self.labels.get(n, {}))]
        return replace(self, **{field: {n: each[n] for n in names if n in each}
                                for field, each in vars(self).items()
                                if field in ("published", "recorded", "mine", "stale")})

    def state(self):
        """What stands, as plain data, for `make missing` and the pages."""
        return {"set": self.name, "published": len(self.published), "recorded": len(self.recorded),
                "stale": self.stale, "doubtful": self.doubtful,
                "seconds": sum(u.provenance["seconds"] for u in self.recorded.values())}


# ---- planning --------------------------------------------------------------------------------------------
def _check_plan(plan, parts):
    for name, arguments in plan.items():
        if not store.NAME.fullmatch(name):
            raise runtime.UserError(f"unit name {name!r}: letters, digits, '-', '_' and '.', beginning with "
                                    "a letter, so that a person can type it")
        store.plain(arguments, name)
        for part in parts:
            size = arguments.get(part)
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise runtime.UserError(f"unit {name!r}: {part}={size!r}; a whole number from 1 is needed")


def _same_but_parts(stored, planned, parts):
    return stored.keys() == planned.keys() and all(
        store.same(stored[k], v) for k, v in planned.items() if k not in parts)


def choose(which, names, stale, smaller, recorded=()):
    """Names of the units to compute.

    which           see WHICH
    names           all wanted ones
    stale, smaller  those by earlier code; those that are absent or too small
    recorded        those of which there is anything
    """
    if which == "none":
        return []
    if which == "all":
        return list(names)
    if which == "missing":
        return [n for n in names if n in smaller]
    if share := re.fullmatch(r"(\d+)/(\d+)", which):
        i, n = map(int, share.groups())
        return [name for k, name in enumerate(names) if k % n == i - 1 and name in smaller]
    if few := re.fullmatch(r"stale(?::(\d+))?", which):
        chosen = [n for n in names if n in stale]
        if few[1]:  # so many are wanted: where fewer are stale, the versions of others are put to the test
            chosen = [n for n in names if n in recorded]
        # Which few does not follow the order of the plan: neighbours there are much alike.
        chosen.sort(key=lambda n: (n not in stale, hashlib.sha256(n.encode()).hexdigest()))
        return chosen[: int(few[1])] if few[1] else chosen
    return [n for n in named(which) if n in names]


def named(which):
    """Names of units that `which` asks for; empty where it is one of the other words."""
    if which in ("missing", "all", "none") or re.fullmatch(r"stale(:\d+)?|\d+/\d+", which):
        return []
    return [n.strip() for n in which.split(",")]


def check_named(which, sets):
    """Refuse names of units that no set of a notebook has."""
    known = [n for s in sets for n in s.published]
    if unknown := [n for n in named(which) if n not in known]:
        some = ", ".join(known[:6]) + (", ..." if len(known) > 6 else "") or "none"
        raise runtime.UserError(f"units {unknown[0]!r}: no such unit; allowed: {WHICH}. Units here: {some}")


# ---- computing -------------------------------------------------------------------------------------------
def folder_of(notebook, name):
    """Where the recorded units of a set lie."""
    return runtime.results_folder() / "units" / notebook / name


def names_in(folder):
    """Names of the units whose files lie in a folder."""
    return sorted(path.stem for path in folder.glob("[!.]*.json"))


@dataclass(frozen=True)
class _Job:
    """One unit to compute: where it goes, and whether that is the recorded results."""
    name: str
    path: Path
    arguments: dict
    published: dict
    kept: bool


def _compute(function, parts, text_half, job, old):
    """Compute one unit and write it, unless a cell that ran is not what the text half says."""
    recorder = identity.Recorder(text_half)
    place = runtime.cache_folder() / "checkpoints" / _key(function.__name__, job.name, job.arguments)
    start = provenance.clock()
    with runtime.ledger() as used, checkpoint.kept_in(place, recorder), recorder:
        result = function(**job.arguments)
    seconds = provenance.clock() - start + recorder.seconds
    values = store.held(result, function.__name__)
    sizes = {}
    for part in parts:
        actual, asked = values.get(part), job.arguments[part]
        if isinstance(actual, bool) or not isinstance(actual, int) or not 0 < actual <= asked:
            raise TypeError(f"{function.__name__} must return how many {part!r} it took (asked: {asked}), "
                            f"not {actual!r}")
        sizes[part] = [actual, job.published[part]]
    unit = store.Unit(name=job.name, arguments=store.plain(job.arguments), parts=sizes, result=values,
                      code=recorder.ran(), provenance=provenance.here(seconds, used))
    strange = sorted(recorder.departed) or identity.edited(recorder)
    if strange:
        print(f"units: {job.name} is not kept: {', '.join(strange)} ran, but the file says otherwise now; "
              "save the notebook, run `make pair`, start again", file=sys.stderr)
        return unit
    if old is not None:
        unit = replace(unit, replaced=store.comparison(old, unit))
    store.write(job.path, unit)
    shutil.rmtree(place, ignore_errors=True)
    return store.read(job.path)  # what a second run will see is what this one sees


def _holds(unit):
    """Whether a unit from the cache is what would be computed now: by the same code, and on the same sets.

    Only what ran says which sets it opened. One that has come since takes the place of its stand-in.
    """
    stood_in = [name for name, told in unit.provenance["data"].items() if ":" in told]
    return not identity.changed(unit.code) and all(map(datasets.standing_in, stood_in))


def _check_threads(place, recorded):
    """Refuse to record units beside others that were computed on another number of threads.

    Where they stand in one set, a difference between two units may be one of their last bits.
    """
    known = sorted({unit.provenance["threads"] for unit in recorded.values()})
    here = torch.get_num_threads()
    if known and here not in known:
        allowed = " or ".join(map(str, known))
        raise runtime.UserError(f"{here} threads for units of {place}, whose recorded units were computed on "
                                f"{allowed}; allowed: {allowed}; set OMP_NUM_THREADS={known[0]}")


def _key(*identity_):
    return content.of_json(store.plain(list(identity_)))[:12]


def _publishable(units, wanted):
    """Names of those wanted units that belong to what is published: with its arguments, no part larger."""
    return [n for n, mine in wanted.items() if n in units.published
            and all(mine[p] <= units.published[n][p] for p in units.parts)
            and _same_but_parts(store.plain(mine), units.published[n], units.parts)]


def _to_record(units, wanted, which):
    """`{name: arguments}` of those wanted units that `which` chooses, in the size to compute.

    A size is as recorded where code is checked, and never less than that.
    """
    had = {n: {p: units.recorded[n].parts[p][0] for p in units.parts} for n in wanted if n in units.recorded}
    smaller = {n for n in wanted if n not in had or any(had[n][p] < wanted[n][p] for p in units.parts)}
    larger = (lambda had, wanted: had) if which.startswith("stale") else max
    return {n: wanted[n] | {p: larger(size, wanted[n][p]) for p, size in had.get(n, {}).items()}
            for n in choose(which, list(wanted), units.stale, smaller, units.recorded)}


def _finish(work, label, compute):
    """`{name: Unit}` of the jobs: from the cache, from a faster process, or by `compute(job, unit so far)`.

    Where that is None there is only what the cache has.
    """
    done = {}
    with runtime.progress(len(work), label) as bar:
        for wait in (False, True):  # first what nobody else is at, then what another process has finished
            for job in work:
                if job.name in done:
                    continue
                old = content.sound(job.path, store.read)
                if not job.kept and ((old and _holds(old)) or compute is None):
                    if old is not None:
                        done[job.name] = old
                    continue
                with runtime.lock(job.path, wait=wait) as alone:
                    if not alone:
                        continue
                    now = content.sound(job.path, store.read)  # another process may have been faster
                    faster = now and (old is None or now.provenance != old.provenance)
                    done[job.name] = now if faster else compute(job, old)
                    bar.update()
    return done


def recorded(notebook, name, published, parts):
    """The `UnitSet` of what is recorded of a notebook's set.

    published   {unit's name: arguments at full scale, or None where only another notebook's plan has them}
    """
    folder = folder_of(notebook, name)
    units = UnitSet(name, published, tuple(parts))
    for each in published:
        if (unit := content.sound(folder / f"{each}.json", store.read)) is not None:
            units.enter(each, unit)
    units.orphans = tuple(n for n in names_in(folder) if n not in published)
    return units


def gather(notebook, name, function, *, wanted, published, parts, which, record, text_half, state=""):
    """The `UnitSet` of a notebook's set `name`, with what this run wants of it computed.

    notebook   such as `ren/iv_simulation`
    wanted     {unit's name: arguments} of this run;  published: the same at full scale
    parts      names of arguments that are sizes: numbers from 1, and the function returns how many it took
    which      what to compute, see WHICH; the cache is always completed unless it is `none`
    record     whether this run may record (the `paper` profile)
    state      what else decides a unit in the cache, such as the profile
    """
    identity.check_function(function, text_half)
    _check_plan(published, parts)
    _check_plan(wanted, parts)
    units = recorded(notebook, name, published, parts)
    mine = _publishable(units, wanted) if record else []
    todo = _to_record(units, {n: wanted[n] for n in mine}, which)
    if todo:
        _check_threads(f"{notebook} {name}", units.recorded)
    folder, cache = folder_of(notebook, name), runtime.cache_folder() / "units" / notebook / name
    work = [_Job(n, folder / f"{n}.json", arguments, published[n], True) for n, arguments in todo.items()]
    work += [_Job(n, cache / f"{n}-{_key(wanted[n], state)}.json", wanted[n], wanted[n], False)
             for n in wanted if n not in mine]
    done = _finish(work, f"{notebook} {name}",
                   None if which == "none" else partial(_compute, function, parts, text_half))
    for job in work:
        if job.kept and job.name in done and job.path.exists():
            units.enter(job.name, done[job.name])
    units.mine = {n: done.get(n) or units.recorded[n] for n in wanted
                  if n in done or (n in mine and n in units.recorded)}
    return units
