"""What is not at full scale, and what the rest would cost: python -m workflow.missing

First what some hours of `make fill` would complete, then a line for each experiment: which of its runs are
absent, smaller than published, or out of date (with what changed).
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

from report import claims, record, reference
from shared import ROOT, runtime
from workflow import catalogue, imports, records

A_FEW_HOURS, FEW = 24, 4    # steps that cost more, and runs out of date beyond these, are not told singly


# ---- the facts of the notebooks --------------------------------------------------------------------------
def key(name):
    """A hash of everything that the facts of a notebook depend on: its code, the runs of its paper."""
    runs = sorted((runtime.results_folder() / "runs" / name.split("/")[0]).glob("*/[!.]*.json"))
    code = [ROOT / f for f in (f"notebooks/{name}.py", "workflow/planned.py", *imports.inputs(name))]
    stamps = {str(p): [p.stat().st_mtime_ns, p.stat().st_size] for p in (*runs, *code) if p.is_file()}
    return hashlib.sha256(json.dumps(stamps, sort_keys=True).encode()).hexdigest()


def asked(names):
    """The facts of notebooks, asked of them in one process."""
    child = subprocess.run([sys.executable, "-m", "workflow.planned", "facts", *names], cwd=ROOT, text=True,
                           env=os.environ | records.ALONE, capture_output=True)
    answers = [json.loads(line) for line in child.stdout.splitlines()]
    if child.returncode:
        raise SystemExit(f"{names[len(answers)]}: {child.stderr.strip()}")
    return answers


def facts():
    """`{notebook: what `workflow.planned` says}` of all notebooks that show results.

    Only those are asked that may have changed: the cache has facts with the key of what they depend on.
    """
    places = {name: runtime.cache_folder() / "planned" / f"{name.replace('/', '-')}.json"
              for name in catalogue.with_results()}
    now, known = {name: key(name) for name in places}, {}
    for name, path in places.items():
        try:
            before = json.loads(path.read_text())
            known |= {name: before["facts"]} if before["key"] == now[name] else {}
        except (OSError, ValueError, KeyError, TypeError):
            pass    # the first time here, or a damaged file
    many = records.jobs(os.environ.get("JOBS") or str(os.cpu_count()))
    ask = [n for n in places if n not in known]
    groups = [ask[i::many] for i in range(min(many, len(ask)))]
    with ThreadPoolExecutor(many) as pool:
        for group, answers in zip(groups, pool.map(asked, groups)):
            for name, answer in zip(group, answers):
                known[name] = answer
                if key(name) == now[name]:      # else something was written meanwhile
                    text = json.dumps({"key": now[name], "facts": answer})
                    runtime.write_atomically(places[name], lambda part, text=text: part.write_text(text))
    return {name: known[name] for name in places}


# ---- what the absent runs complete -----------------------------------------------------------------------
@dataclass(frozen=True)
class Task:
    """An absent run, or one out of date, in the sizes that the recorded ones like it commonly have."""
    experiment: str
    run: str
    seconds: float | None       # None where no run of its experiment is recorded
    sizes: tuple = ()           # (name, value) pairs


@dataclass(frozen=True)
class Item:
    """A printed item, or a table of our own, that lacks runs."""
    paper: str
    id: str
    tasks: frozenset
    deciding: bool      # whether what it lacks can still decide its verdict or a claim

    @property
    def label(self):
        """What the paper calls it, such as `Table 4`; None for a table of our own."""
        printed = reference.paper(self.paper).items.get(self.id)
        return printed and printed.label


def tasks(facts_of):
    """`{experiment: {run: Task}}` of the facts of all notebooks."""
    return {s["set"]: {n: Task(s["set"], n, seconds, tuple(sizes.items()))
                       for n, (seconds, sizes) in s["absent"].items()}
            for page in facts_of.values() for s in page["sets"]}


def items(facts_of, known):
    """The items that lack runs, their own or of experiments that these come after."""
    before = {s["set"]: s["after"] for page in facts_of.values() for s in page["sets"]}

    def lacked(experiment, run):
        task = known.get(experiment, {}).get(run)
        return set() if task is None else {task, *(
            t for name in before.get(experiment, ()) for t in known.get(name, {}).values())}

    lacking = []
    for notebook, page in facts_of.items():
        paper = notebook.split("/")[0]
        for item, sets in page["rests"].items():
            lacks = set().union(*(lacked(name, run) for name, runs in sets.items() for run in runs))
            if lacks:
                kept = record.read(paper, item)
                deciding = kept is None or kept.get("verdict") == "in part" or any(
                    map(claims.waits, kept["claims"]))
                lacking.append(Item(paper, item, frozenset(lacks), deciding))
    return lacking


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
def in_words(lacking):
    """What items are called: `Sutton et al., Table 1, Figure 8 and 4 tables of our own`."""
    texts = []
    for paper in dict.fromkeys(i.paper for i in lacking):
        labels = [i.label for i in lacking if i.paper == paper and i.label]
        ours = sum(i.paper == paper and not i.label for i in lacking)
        own = [f"{ours} table{'s' * (ours > 1)} of our own"] if ours else []
        texts.append(", ".join([reference.SHORT[paper], *labels, *own]))
    return "; ".join(texts) or "nothing alone"


def where(some):
    """Of which experiments tasks are: `6 runs of sutton/cifar10`."""
    count = Counter(t.experiment for t in some)
    return ", ".join(f"{n} run{'s' * (n > 1)} of {name}" for name, n in sorted(count.items()))


def worth(lacking):
    """Lines on what some hours would complete."""
    longer = 0
    for done, some in steps(lacking):
        if hours(some) > A_FEW_HOURS:
            longer += len(done)
            continue
        homes = {t.experiment for t in some}
        first = f" FIRST={homes.pop()}" if len(homes) == 1 else ""
        yield (f"  {hours(some):5.1f} h  {in_words(done)}: {where(some)}: "
               f"make fill HOURS={math.ceil(hours(some))}{first}")
    if longer:
        yield f"  {longer} more items need above {A_FEW_HOURS} hours, or nobody knows how many"


def standing(s):
    """Lines on one experiment; none where it is complete and up to date."""
    lacks, absent = [], {n: cost for n, (cost, _) in s["absent"].items() if n not in s["outdated"]}
    if absent:
        known = [seconds for seconds in absent.values() if seconds is not None]
        cost = (f"about {sum(known) / 3600:,.1f} h in the sizes of the recorded ones" if known
                else "no run yet to judge the time by")
        lacks.append(f"{len(absent)} absent ({cost})")
    if s["smaller"]:
        lacks.append(f"{s['smaller']} smaller than published")
    if s["outdated"]:
        changed = sorted({name for some in s["outdated"].values() for name in some})
        few = f": {', '.join(s['outdated'])}" if len(s["outdated"]) <= FEW else ""
        lacks.append(f"{len(s['outdated'])} out of date ({', '.join(changed)} changed){few}")
    if lacks:
        yield (f"{s['set']}: {s['recorded']} of {s['published']} runs, {s['fraction']:.1%} of full scale; "
               f"{', '.join(lacks)}: make fill HOURS=n FIRST={s['set']}")


def unplanned():
    """Lines on run files that no plan names."""
    known = catalogue.experiments()
    for folder in sorted((runtime.results_folder() / "runs").glob("*/*")):
        name = "/".join(folder.parts[-2:])
        plan = known[name].planned()[0] if name in known else {}
        for path in sorted(folder.glob("[!.]*.json")):
            if path.stem not in plan:
                yield f"{name}: no plan names {path.stem}: git rm results/runs/{name}/{path.stem}*"


def lines():
    """The report, line by line."""
    facts_of = facts()
    lacking = items(facts_of, tasks(facts_of))
    if lacking:
        yield "What would be complete after so many hours of one core, what can still decide a verdict first:"
        yield from worth(lacking)
    for page in facts_of.values():
        for s in page["sets"]:
            yield from standing(s)
    yield from unplanned()


if __name__ == "__main__":
    runtime.prepare()
    for line in lines():
        print(line, flush=True)
