"""Compute missing runs until the time is up: python -m workflow.fill HOURS JOBS [EXPERIMENT [OPTION ...]]

They are computed at low priority in a worktree of HEAD, so that the tree may be edited meanwhile, and are
written into the results of the tree, each the moment it is finished. First come those of EXPERIMENT, then
what `workflow.missing` tells first, each after those of its inputs that are out of date or gone; where these
do not fit into the time, it is not started. Snakemake starts them (fill.smk), here or, by its OPTIONs, on a
cluster.
"""
import fcntl
import itertools
import json
import math
import os
import shutil
import signal
import sys
from pathlib import Path

from report import experiment as experiments
from report import git, repository
from report.repository import ROOT
from shared import runtime
from shared.data import sets
from shared.runtime import UserError
from workflow import catalogue, jobs, missing

TREE = Path("_runs/fill")           # the worktree, in the tree
LIST = Path("_runs/fill/jobs.json")     # in the worktree, with logs and stamps of the jobs
SHORT = 600                         # seconds: runs that take less share a job
HERE = "BOUNDARY_FILL"              # set where this runs in the worktree: the file of its lock


# ---- knobs -----------------------------------------------------------------------------------------------
def knobs(hours, cores, first="", *options):
    """The checked words of the command line: hours, cores, the first experiment, options of Snakemake."""
    try:
        time_ = float(hours)
    except ValueError:
        time_ = 0
    if not 0 < time_ < math.inf:
        raise UserError(f"HOURS={hours!r}; allowed: a number above 0, such as: make fill HOURS=8")
    known = catalogue.experiments()
    if first and first not in known:
        raise UserError(f"FIRST={first!r}; allowed: {', '.join(known)}")
    return time_, jobs.count(cores), first, options


# ---- the worktree ----------------------------------------------------------------------------------------
def worktree():
    """The worktree, made or brought to HEAD."""
    commit, tree = git.head(), ROOT / TREE      # runs are computed from what is committed
    if (tree / ".git").exists() and git.git("reset", "--hard", commit, folder=tree).returncode == 0:
        git.git("clean", "-fd", folder=tree)
        return tree
    shutil.rmtree(tree, ignore_errors=True)     # half-made, or of a tree that was moved
    git.git("worktree", "prune")
    added = git.git("worktree", "add", "--detach", "--force", str(tree), commit)
    if added.returncode:
        raise UserError(f"{tree}: git cannot make a worktree there: {added.stderr.strip().splitlines()[-1]}")
    return tree


def move(words):
    """Go on in the worktree, as the same process, with the folders and the lock of this tree."""
    place = ROOT / TREE.with_name(".fill.lock")
    place.parent.mkdir(exist_ok=True)
    lock = open(place, "a+", encoding="utf-8")    # held by the process, whatever it runs
    lock.seek(0)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        other = lock.read().strip() or "unknown"
        lock.close()
        raise UserError(f"another `make fill` is at work in this tree, process {other}; stop it first "
                        f"(kill {other}), or let it end") from None
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    os.set_inheritable(lock.fileno(), True)
    tree = worktree()
    env = os.environ | {HERE: str(lock.fileno()), "PYTHONPATH": str(tree),
                        "BOUNDARY_DATA": str(runtime.data_folder()),
                        "BOUNDARY_CACHE": str(runtime.cache_folder()),
                        "BOUNDARY_RESULTS": str(repository.results_folder())}
    os.chdir(tree)
    os.execve(sys.executable, [sys.executable, "-m", "workflow.fill", *words], env)


# ---- what to compute -------------------------------------------------------------------------------------
def queue(known, lacking, first, inputs=None):
    """All tasks in the order in which to start them, each after its inputs.

    inputs   what `missing.inputs` returns
    """
    whole = [t for runs in known.values() for t in runs.values()]
    ranked = [t for _, some in missing.steps(lacking) for t in whole if t in some]
    order = {}

    def place(task):
        if task not in order:
            for other in [t for t in whole if t in inputs[task]] if inputs and inputs[task] else ():
                place(other)
            order[task] = None

    for task in sorted(dict.fromkeys(ranked + whole), key=lambda t: t.experiment != first):
        place(task)
    return list(order)


def in_jobs(tasks):
    """Lists of tasks in their order: short ones of an experiment, in the same sizes, share a start."""
    several = []
    for _, alike in itertools.groupby(tasks, lambda t: (t.experiment, t.sizes, t.seconds is None)):
        job = []
        for task in alike:
            if job and missing.hours([*job, task]) * 3600 > SHORT:
                several.append(job)
                job = []
            job.append(task)
        several.append(job)
    return several


def fitting(several, seconds, cores, inputs):
    """`(jobs that end in time, jobs of unknown length)`; of both, those whose inputs are fresh or among them.

    A job takes the core that is free first.

    inputs   what `missing.inputs` returns
    """
    free, fit, unknown = [seconds] * cores, [], []
    for job in several:
        core, needed = free.index(max(free)), sum(task.seconds or 0 for task in job)
        if job[0].seconds is None:
            unknown.append(job)
        elif needed <= free[core]:
            free[core] -= needed
            fit.append(job)
    while True:
        there = {task for job in [*fit, *unknown] for task in job}
        ready = {task for task in there if inputs.get(task, set()) <= there}
        if ready == there:
            return fit, unknown
        fit, unknown = ([some for job in jobs_ if (some := [t for t in job if t in ready])]
                        for jobs_ in (fit, unknown))


def ask_for_data(tasks, standing):
    """Open the data sets that tasks name, or else that runs of their experiments have read.

    Raises UserError for one that cannot be had.
    """
    needed = set()
    for name in dict.fromkeys(t.experiment for t in tasks):
        texts, results = set(), standing[name]
        experiments.texts_of([results.published[t.run] for t in tasks if t.experiment == name], texts)
        needed |= texts & {*sets.names()} or {
            data for run in results.recorded.values() for data in run.provenance["data"]}
    for name in sorted(needed & {*sets.names()}):
        sets.load(name, profile="paper")


def listed(several, seconds):
    """What fill.smk is told of jobs: {name: what each takes, which of them come before it}.

    seconds   how long this computes at most
    """
    known, entries = catalogue.experiments(), {}
    names = [f"{job[0].experiment}/{job[0].run}" + (f"+{len(job) - 1}" if len(job) > 1 else "")
             for job in several]
    for place, (name, job) in enumerate(zip(names, several)):
        experiment, hours = known[job[0].experiment], min(missing.hours(job), seconds / 3600)
        sizes = [word for size, value in job[0].sizes for word in ("-p", size, str(value))]
        entries[name] = {
            "words": [experiment.name, *(task.run for task in job), *sizes],
            "after": [other for other, some in zip(names, several)
                      if some[0].experiment in experiment.before],
            "priority": len(several) - place, "mem_mb": 1000 * experiment.memory, "gpu": experiment.gpu,
            "minutes": math.ceil(60 + 120 * hours)}     # after which a cluster may kill it
    return entries


def ahead(tasks, inside, unknown, lacking, hours, cores):
    """Lines on what is ahead."""
    known = [t for t in tasks if t.seconds is not None]
    others = f" and {len(tasks) - len(known)} of unknown length" if len(known) < len(tasks) else ""
    yield f"{len(tasks)} runs are missing, about {missing.hours(known):,.1f} h on one core{others}"
    yield (f"{len(inside)} of them fit into {hours:g} h with {cores} job{'s' * (cores > 1)}: "
           f"{missing.where(inside) or 'none'}")
    yield f"they complete {missing.in_words([i for i in lacking if i.tasks <= inside])}"
    if unknown:
        yield f"then, of unknown length, as far as time is left: {missing.where(unknown)}"


# ---- computing -------------------------------------------------------------------------------------------
def compute(several, seconds, cores, *options):
    """Compute jobs until the time is up: one line a job."""
    shutil.rmtree(LIST.parent, ignore_errors=True)      # stamps of the last time
    LIST.parent.mkdir(parents=True)
    LIST.write_text(json.dumps(listed(several, seconds), indent=1), encoding="utf-8")
    lock = [int(os.environ[HERE])] if HERE in os.environ else []    # held as long as a job may run
    status = jobs.run("fill.smk", cores, *options, timeout=seconds, low=True, pass_fds=lock)
    if status is None:
        print("the time is up: what was running goes on from its checkpoint next time, if it keeps one")
    return status or 0


def main(*words):
    hours, cores, first, options = knobs(*words)
    if HERE not in os.environ:
        move(words)
    standing = missing.standings()
    known = missing.tasks(standing)
    lacking, inputs = missing.items(known), missing.inputs(standing, known)
    tasks = queue(known, lacking, first, inputs)
    if not tasks:
        print("no run is missing: there is nothing to compute")
        return
    several = fitting(in_jobs(tasks), hours * 3600, cores, inputs)
    inside, unknown = ({task for job in some for task in job} for some in several)
    for line in ahead(tasks, inside, unknown, lacking, hours, cores):
        print(line, flush=True)
    several = [job for some in several for job in some]
    if not several:
        raise SystemExit("nothing fits into this time; take more HOURS")
    ask_for_data([task for job in several for task in job], standing)
    raise SystemExit(compute(several, hours * 3600, cores, *options))


if __name__ == "__main__":
    runtime.prepare()
    runtime.stop_cleanly()
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:     # not under nohup
        signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))      # it ends with its terminal
    main(*sys.argv[1:])
