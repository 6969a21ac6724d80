"""What is not at full scale, and what the rest would cost: python -m workflow.missing

First what some hours of `make fill` would complete, then a line for each experiment: which of its runs are
absent, smaller than published, or out of date (with what changed). Which runs an item lacks its record says;
`make records` renews it.
"""
import math
from collections import Counter
from dataclasses import dataclass

import torch

from report import claims, record, reference, repository, store
from report import experiment as experiments
from shared import runtime
from workflow import catalogue

A_FEW_HOURS, FEW = 24, 4    # steps that cost more, and runs out of date beyond these, are not told singly


# ---- what stands -----------------------------------------------------------------------------------------
def standings():
    """`{experiment: Results}` of all that is recorded."""
    return experiments.standings(catalogue.experiments())


def absent(results):
    """Names of published runs of which nothing is recorded."""
    return [n for n in results.published if n not in results.recorded]


# ---- what the absent runs complete -----------------------------------------------------------------------
@dataclass(frozen=True)
class Task:
    """An absent run, or one out of date, in the sizes that the recorded ones like it commonly have."""
    experiment: str
    run: str
    seconds: float | None       # None where no run of its experiment is recorded
    sizes: tuple = ()           # (name, value) pairs


@dataclass(frozen=True)
class Incomplete:
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


def nearest(results, name, of=None):
    """The recorded runs most like a missing one (of `of`): the more arguments are equal, the more alike."""
    wanted = [(k, v, store.plain(v)) for k, v in (of or results).published[name].items()
              if k not in results.sizes]
    known = {}
    for run in results.recorded.values():
        held = [(run.arguments[k], v, plain) for k, v, plain in wanted if k in run.arguments]
        alike = sum(stored == plain or isinstance(plain, (dict, list)) and store.as_planned(stored, v)
                    for stored, v, plain in held)
        known.setdefault(alike, []).append(run)
    return known[max(known)] if known else []


def task(results, name, others=()):
    """The `Task` of a run, in the sizes that its like commonly have.

    A published size may take days, and then smaller ones are recorded. Seconds are None where no run of the
    same kind of device is: a graphics card tells nothing of a processor.

    others   `Results` of experiments with the same function, for one of which nothing is recorded
    """
    alike = next(filter(None, (nearest(some, name, results) for some in (results, *others))), [])
    like = [(tuple((size, had) for size, (had, of) in run.sizes.items()
                   if had < of and size in results.sizes), run.provenance)
            for run in alike]
    sizes, _ = Counter(these for these, _ in like).most_common(1)[0] if like else ((), 0)
    seconds = [p["seconds"] for these, p in like if these == sizes
               and p["device"].startswith("NVIDIA") == torch.cuda.is_available()]
    return Task(results.name, name, sum(seconds) / len(seconds) if seconds else None, sizes)


def tasks(standing):
    """`{experiment: {run: Task}}` of what `standings` returns."""
    functions = {name: e.function for name, e in catalogue.experiments().items()}
    alike = {name: [standing[n] for n, f in functions.items() if f is functions[name] and n != name]
             for name in standing}
    return {name: {n: task(results, n, alike[name]) for n in [*absent(results), *results.outdated]}
            for name, results in standing.items()}


def inputs(standing, known):
    """`{task: tasks that come before it}`: inputs of it that are out of date or gone.

    Of a run that is not recorded, or whose inputs are unknown, all that are out of date; and where
    nothing that it could read is recorded, all of that.
    """
    needed = {}
    for name, some in known.items():
        for t in some.values():
            run, needed[t] = standing[name].recorded.get(t.run), set()
            for first in catalogue.experiments()[name].after:
                there, lacking = standing[first.name], known[first.name]
                opened = run.inputs if run else None
                needed[t] |= {other for other in lacking.values() if (
                    f"runs/{first.name}/{other.run}" in opened if opened is not None
                    else other.run in there.outdated or not there.recorded)}
    return needed


def items(known):
    """The items that lack runs, their own or of experiments that these come after.

    known   what `tasks` returns
    """
    before = {name: e.before for name, e in catalogue.experiments().items()}
    lacking = []
    for file in sorted((repository.results_folder() / "paper").glob("*/[!.]*.json")):
        paper, item = file.parent.name, file.stem
        kept, lacks = record.read(paper, item), set()
        for name in kept.get("absent", ()):
            experiment, run = name.rsplit("/", 1)
            if run in known.get(experiment, {}):    # else it is recorded, or no plan names it any more
                lacks |= {known[experiment][run],
                          *(t for first in before[experiment] for t in known[first].values())}
        if lacks:
            deciding = kept.get("verdict") == "undecided" or any(map(claims.waits, kept["claims"]))
            lacking.append(Incomplete(paper, item, frozenset(lacks), deciding))
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


def lines_of(results, known, after=()):
    """Lines on one experiment; none where it is complete and up to date.

    known   its tasks by run
    after   names of the experiments that it rests on and that lack runs
    """
    lacks = []
    if new := absent(results):
        seconds = [known[n].seconds for n in new if known[n].seconds is not None]
        cost = (f"about {sum(seconds) / 3600:,.1f} h in the sizes of the recorded ones" if seconds
                else "no run yet to judge the time by")
        rests = f"; they rest on {', '.join(after)}" if after else ""
        lacks.append(f"{len(new)} absent ({cost}{rests})")
    if smaller := sum(run.share(run.sizes) < 1 for run in results.recorded.values()):
        lacks.append(f"{smaller} smaller than published")
    if results.outdated:
        changed = sorted({name for some in results.outdated.values() for name in some})
        changed[FEW:] = [f"{len(changed) - FEW} more"] * (len(changed) > FEW)
        few = f": {', '.join(results.outdated)}" if len(results.outdated) <= FEW else ""
        lacks.append(f"{len(results.outdated)} out of date ({', '.join(changed)} changed){few}")
    if unknown := sum(run.inputs is None for run in results.recorded.values()):
        lacks.append(f"{unknown} whose inputs are unknown")
    if lacks:
        yield (f"{results.name}: {len(results.recorded)} of {len(results.published)} runs; "
               f"{', '.join(lacks)}: make fill HOURS=n FIRST={results.name}")


def unplanned(standing):
    """Lines on run files that no plan names."""
    for folder in sorted((repository.results_folder() / "runs").glob("*/*")):
        name = "/".join(folder.parts[-2:])
        plan = standing[name].published if name in standing else {}
        for path in sorted(folder.glob("[!.]*.json")):
            if path.stem not in plan:
                yield f"{name}: no plan names {path.stem}: git rm results/runs/{name}/{path.stem}*"


def lines():
    """The report, line by line."""
    current = standings()
    known = tasks(current)
    if lacking := items(known):
        yield "What would be complete after so many hours of one core, what can still decide a verdict first:"
        yield from worth(lacking)
    for name, results in current.items():
        rests_on = catalogue.experiments()[name].after if name in catalogue.experiments() else ()
        yield from lines_of(results, known[name], [e.name for e in rests_on if absent(current[e.name])])
    yield from unplanned(current)


if __name__ == "__main__":
    runtime.prepare()
    for line in lines():
        print(line, flush=True)
