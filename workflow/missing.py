"""What is not at full scale, and what the rest would cost: python -m workflow.missing

First what some hours of `make fill` would complete, then a line for each set of units: what is absent,
smaller than published, stale (with what changed), doubtful or orphaned.
"""
import hashlib
import json
import math
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from shared import ROOT, reference, runtime
from shared.records import claims, record
from shared.units import identity, provenance, store
from shared.units.run import folder_of
from workflow import catalogue, needs, records

A_FEW_HOURS, FEW = 24, 4    # steps that cost more, and stale units of a set beyond these, are not told singly


# ---- the facts of the notebooks --------------------------------------------------------------------------
def key(name):
    """A hash of everything that the facts of a notebook depend on: its code, its units, those it borrows."""
    units = [p for n in (name, *catalogue.needs(name))
             for p in sorted((runtime.results_folder() / "units" / n).glob("*/[!.]*"))]
    contents = {str(p.relative_to(runtime.results_folder())): p.read_bytes() for p in units}
    ran = {entry for place, each in contents.items() if place.endswith(".json") for entry in _ran(each)}
    code = {f"notebooks/{name}.py", "workflow/planned.py", *needs.inputs(name)}
    contents |= {f: (ROOT / f).read_bytes() for f in code if (ROOT / f).is_file()}
    told = {place: hashlib.sha256(each).hexdigest() for place, each in contents.items()}
    told["ran"] = {entry: identity.current(entry) for entry in ran}     # an import may be hidden
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _ran(text):
    """What ran for the unit of a file; nothing where the file is damaged."""
    try:
        return json.loads(text)["code"]
    except (ValueError, KeyError, TypeError):
        return {}


def planned(*words, **how):
    """The process of `python -m workflow.planned`."""
    return subprocess.Popen([sys.executable, "-m", "workflow.planned", *words], cwd=ROOT,
                            env=os.environ | records.ALONE, text=True, **how)


def asked(names):
    """The facts of notebooks, asked of them in one process."""
    with planned("facts", *names, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        said, error = child.communicate()
    found = [json.loads(line) for line in said.splitlines()]
    if child.returncode:
        raise SystemExit(f"{names[len(found)]}: {error.strip()}")
    return found


def facts():
    """`{notebook: what `workflow.planned` says}` of all notebooks with units.

    Only those are asked that may have changed: the cache has facts with the key of what they depend on.
    """
    places = {name: runtime.cache_folder() / "planned" / f"{name.replace('/', '-')}.json"
              for name in catalogue.with_units()}
    now, told = {name: key(name) for name in places}, {}
    for name, path in places.items():
        try:
            before = json.loads(path.read_text())
            told |= {name: before["facts"]} if before["key"] == now[name] else {}
        except (OSError, ValueError, KeyError, TypeError):
            pass    # the first time here, or a damaged file
    many = records.jobs(os.environ.get("JOBS") or str(os.cpu_count()))
    ask = [n for n in places if n not in told]
    groups = [ask[i::many] for i in range(min(many, len(ask)))]
    with ThreadPoolExecutor(many) as pool:
        for group, found in zip(groups, pool.map(asked, groups)):
            for name, each in zip(group, found):
                told[name] = each
                if key(name) == now[name]:      # else something was written meanwhile
                    text = json.dumps({"key": now[name], "facts": each})
                    runtime.write_atomically(places[name], lambda part, text=text: part.write_text(text))
    return {name: told[name] for name in places}


# ---- what the absent units complete ----------------------------------------------------------------------
@dataclass(frozen=True)
class Task:
    """An absent unit, computed in the size that the recorded ones like it commonly have."""
    notebook: str
    set: str
    unit: str
    seconds: float | None       # None where no unit of its set is recorded
    parameters: tuple = ()      # (name, value) pairs

    @property
    def path(self):
        """Where it will be recorded."""
        return folder_of(self.notebook, self.set) / f"{self.unit}.json"


@dataclass(frozen=True)
class Item:
    """A printed item, or a table of our own, that lacks units."""
    paper: str
    id: str
    tasks: frozenset
    deciding: bool      # whether what it lacks can still decide its verdict or a claim

    @property
    def label(self):
        """What the paper calls it, such as `Table 4`; None for a table of our own."""
        printed = reference.paper(self.paper).items.get(self.id)
        return printed and printed.label


def tasks(told):
    """`{(notebook, set): {unit: Task}}` of the facts of all notebooks."""
    return {(name, s["set"]): {n: Task(name, s["set"], n, seconds, tuple(sizes.items()))
                               for n, (seconds, sizes) in s["absent"].items()}
            for name, each in told.items() for s in each["sets"]}


def items(told, known):
    """The items that lack units. A set that is not the notebook's own is borrowed from one that it needs."""
    before = {(name, s["set"]): s["after"] for name, each in told.items() for s in each["sets"]}

    def lacked(homes, unit):
        """The task of one absent unit, and those of the sets whose units it is given."""
        home = next((h for h in homes if unit in known.get(h, ())), None)
        if home is None:
            return set()
        return {known[home][unit], *(t for each in before[home] for t in known[home[0], each].values())}

    found = []
    for name, each in told.items():
        paper = name.split("/")[0]
        borrowed = [home for n in catalogue.needs(name) for home in known if home[0] == n]
        for item, sets in each["rests"].items():
            lacks = set().union(*(lacked([(name, title), *borrowed], unit)
                                  for title, units in sets.items() for unit in units))
            if lacks:
                made = record.read(paper, item)
                deciding = made is None or made.get("verdict") == "in part" or any(
                    map(claims.waits, made["claims"]))
                found.append(Item(paper, item, frozenset(lacks), deciding))
    return found


def hours(some):
    """Hours that tasks take one after another; infinite where nobody knows."""
    return sum(float("inf") if t.seconds is None else t.seconds for t in some) / 3600


def steps(lacking):
    """In which order to compute: yields (items that become complete, tasks of this step).

    First items whose verdict or claims can still be decided; of these what completes most of them an hour.
    """
    done = frozenset()
    for pool in ([i for i in lacking if i.deciding], lacking):
        while left := [i for i in pool if i.tasks - done]:
            def gained(some):
                return [i for i in left if i.tasks <= done | some]      # noqa: B023

            best = max((i.tasks - done for i in left),
                       key=lambda some: (len(gained(some)) / max(hours(some), 1e-9), -len(some)))
            yield [i for i in lacking if i.tasks - done and i.tasks <= done | best], best
            done |= best


# ---- the report ------------------------------------------------------------------------------------------
def named(some):
    """What items are called: `Sutton et al., Table 1, Figure 8 and 4 tables of our own`."""
    told = []
    for paper in dict.fromkeys(i.paper for i in some):
        labels = [i.label for i in some if i.paper == paper and i.label]
        ours = sum(i.paper == paper and not i.label for i in some)
        own = [f"{ours} table{'s' * (ours > 1)} of our own"] if ours else []
        told.append(", ".join([reference.SHORT[paper], *labels, *own]))
    return "; ".join(told) or "nothing alone"


def where(some):
    """Of which sets tasks are: `6 units of sutton/7_2_1_cifar10 pairs`."""
    count = Counter(f"{t.notebook} {t.set}" for t in some)
    return ", ".join(f"{n} unit{'s' * (n > 1)} of {home}" for home, n in sorted(count.items()))


def worth(lacking):
    """Lines on what some hours would complete."""
    longer = 0
    for done, some in steps(lacking):
        if hours(some) > A_FEW_HOURS:
            longer += len(done)
            continue
        homes = {t.notebook for t in some}
        first = f" FIRST={homes.pop()}" if len(homes) == 1 else ""
        yield (f"  {hours(some):5.1f} h  {named(done)}: {where(some)}: "
               f"make fill HOURS={math.ceil(hours(some))}{first}")
    if longer:
        yield f"  {longer} more items need above {A_FEW_HOURS} hours, or nobody knows how many"


def standing(name, s):
    """Lines on one set of units; none where it is complete and by the present code."""
    command = f"python notebooks/{name}.py -p profile paper -p units"
    lacks = []
    if s["absent"]:
        known = [seconds for seconds, _ in s["absent"].values() if seconds is not None]
        cost = (f"about {sum(known) / 3600:,.1f} h in the size of the recorded ones" if known
                else "no unit yet to judge the time by")
        lacks.append(f"{len(s['absent'])} absent ({cost})")
    if s["smaller"]:
        lacks.append(f"{s['smaller']} smaller than published")
    if lacks:
        yield (f"{name} {s['set']}: {s['recorded']} of {s['published']} units, {s['fraction']:.1%} of full "
               f"scale; {', '.join(lacks)}: {command} missing")
    yield from stale(name, s, command)
    for unit in s["orphans"]:
        path = folder_of(name, s["set"]) / f"{unit}.json"
        files = " ".join(f"results/units/{name}/{s['set']}/{p.name}" for p in store.files(path))
        yield f"{name} {s['set']}: orphaned {unit}: no plan names it any more: git rm {files}"


def stale(name, s, command):
    """Lines on the stale units of a set: one each, or one for many."""
    if len(s["stale"]) <= FEW:
        for unit, changed in s["stale"].items():
            doubt = ", DOUBTFUL" if unit in s["doubtful"] else ""
            yield f"{name} {s['set']}: stale {unit}{doubt}: {', '.join(changed)} changed: {command} {unit}"
        return
    changed = sorted({each for some in s["stale"].values() for each in some})
    doubt = f" ({len(s['doubtful'])} DOUBTFUL)" if s["doubtful"] else ""
    yield f"{name} {s['set']}: {len(s['stale'])} stale{doubt}: {', '.join(changed)} changed: {command} stale"


def versions(told):
    """A line on recorded units by another version of torch than the present one."""
    count = Counter()
    for s in (s for each in told.values() for s in each["sets"]):
        count.update(s["torch"])
    here = provenance.versions()["torch"]
    other = "".join(f"{n} from torch {v}, " for v, n in sorted(count.items()) if v != here)
    return f"recorded units: {other}{count[here]} from torch {here}, which is the present one"


def lines():
    """The report, line by line."""
    told = facts()
    lacking = items(told, tasks(told))
    if lacking:
        yield "What would be complete after so many hours of one core, what can still decide a verdict first:"
        yield from worth(lacking)
    for name, each in told.items():
        for s in each["sets"]:
            yield from standing(name, s)
    yield versions(told)
    homes = catalogue.pages()
    later = [item.title for item, made in record.everything() if made is None
             and (item.paper, item.id) not in homes and item.kind in reference.RESULT_KINDS]
    some = f": {later[0]} to {later[-1]}" if later else ""
    yield f"{len(later)} results have no notebook yet{some}"


if __name__ == "__main__":
    runtime.prepare()
    for line in lines():
        print(line, flush=True)
