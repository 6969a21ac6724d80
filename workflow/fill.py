"""Compute missing runs until the time is up: python -m workflow.fill HOURS JOBS [EXPERIMENT]

They are computed at low priority in a worktree of HEAD, so that the tree may be edited meanwhile, and are
written into the results of the tree, each the moment it is finished. First come those of EXPERIMENT, then
what `workflow.missing` tells first. Stopped or killed, the same command goes on where it was.
"""
import contextlib
import ctypes
import fcntl
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from shared import ROOT, runtime
from shared.runtime import UserError
from workflow import book, catalogue, missing, records

TREE = Path("_runs/fill")           # the worktree, in the tree
LOGS = Path("_runs/logs/fill")      # of each run, in the worktree
ALLOWANCE = 1.5                     # a run that takes so much longer than expected goes on at the end
PAUSE = 0.5                         # seconds between two looks at what is running
HERE = "BOUNDARY_FILL"              # set where this runs in the worktree


# ---- knobs -----------------------------------------------------------------------------------------------
def knobs(hours, jobs, first=""):
    """The checked words of the command line."""
    try:
        time_ = float(hours)
    except ValueError:
        time_ = 0
    if not 0 < time_ < math.inf:
        raise UserError(f"HOURS={hours!r}; allowed: a number above 0, such as: make fill HOURS=8")
    known = catalogue.experiments()
    if first and first not in known:
        raise UserError(f"FIRST={first!r}; allowed: {', '.join(known)}")
    return time_, records.jobs(jobs), first


# ---- the worktree ----------------------------------------------------------------------------------------
def git(*words, folder=None):
    return subprocess.run(["git", "-C", str(folder or ROOT), *words], capture_output=True, text=True)


def worktree():
    """The worktree, made or brought to HEAD."""
    runtime.git_needed()
    top = git("rev-parse", "--show-toplevel")
    head = git("rev-parse", "--verify", "HEAD")
    if top.returncode or head.returncode or not os.path.samefile(top.stdout.strip(), ROOT):
        raise UserError(f"{ROOT}: no git checkout with a commit; runs are computed from what is committed")
    tree, commit = ROOT / TREE, head.stdout.strip()
    if (tree / ".git").exists() and git("reset", "--hard", commit, folder=tree).returncode == 0:
        git("clean", "-fd", folder=tree)
        return tree
    shutil.rmtree(tree, ignore_errors=True)     # half-made, or of a tree that was moved
    git("worktree", "prune")
    added = git("worktree", "add", "--detach", "--force", str(tree), commit)
    if added.returncode:
        raise UserError(f"{tree}: git cannot make a worktree there: {added.stderr.strip().splitlines()[-1]}")
    return tree


def move(words):
    """Go on in the worktree, as the same process, with the folders and the lock of this tree."""
    place = ROOT / TREE.with_name(".fill.lock")
    place.parent.mkdir(exist_ok=True)
    lock = open(place, "w")     # held by the process, whatever it runs
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise UserError("another `make fill` is at work in this tree; stop it first, or let it end") from None
    os.set_inheritable(lock.fileno(), True)
    tree = worktree()
    env = os.environ | {HERE: "yes", "PYTHONPATH": str(tree), "BOUNDARY_DATA": str(runtime.data_folder()),
                        "BOUNDARY_CACHE": str(runtime.cache_folder()),
                        "BOUNDARY_RESULTS": str(runtime.results_folder())}
    os.chdir(tree)
    os.execve(sys.executable, [sys.executable, "-m", "workflow.fill", *words], env)


# ---- what to compute -------------------------------------------------------------------------------------
def queue(known, lacking, first):
    """All tasks in the order in which to start them."""
    whole = [t for runs in known.values() for t in runs.values()]
    ranked = [t for _, some in missing.steps(lacking) for t in whole if t in some]
    return sorted(dict.fromkeys(ranked + whole), key=lambda t: t.experiment != first)   # else in their order


def next_task(waiting, left):
    """The task to start with so many seconds left: one that fits, else one of which nobody knows, or None."""
    fits = [t for t in waiting if t.seconds is not None and t.seconds <= left]
    unknown = [t for t in waiting if t.seconds is None]
    return next(iter(fits or unknown), None) if left > 0 else None


def plan(tasks, lacking, seconds, jobs):
    """Lines on what is ahead."""
    known = [t for t in tasks if t.seconds is not None]
    yield f"{len(tasks)} runs are missing, about {missing.hours(known):,.1f} h on one core"
    budget, inside = seconds * jobs, set()
    for t in known:
        if t.seconds <= min(seconds, budget):
            budget -= t.seconds
            inside.add(t)
    yield (f"{len(inside)} of them fit into {seconds / 3600:g} h with {jobs} job{'s' * (jobs > 1)}: "
           f"{missing.where(inside) or 'none'}")
    yield f"they complete {missing.in_words([i for i in lacking if i.tasks <= inside])}"


# ---- computing -------------------------------------------------------------------------------------------
def low():
    """In the child: give way to everything else, and end with the parent, even where that is killed."""
    os.setsid()
    os.nice(10)
    with contextlib.suppress(OSError):      # sessions have a priority of their own on Linux
        Path("/proc/self/autogroup").write_text("10")
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)     # PR_SET_PDEATHSIG


class Running:
    """One run that is being computed."""

    def __init__(self, task, end):
        self.task, self.started, self.stopped = task, time.monotonic(), False
        self.end = end if task.seconds is None else max(end, self.started + ALLOWANCE * task.seconds)
        self.log = LOGS / task.experiment / f"{task.run}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        words = [word for name, value in task.sizes for word in ("-p", name, str(value))]
        with open(self.log, "w") as log:
            self.child = missing.planned("run", task.experiment, task.run, *words, stdout=log, stderr=log,
                                         preexec_fn=low)

    def finished(self):
        """Whether it has ended; one that is over its time is stopped, and its checkpoint stays."""
        if time.monotonic() > self.end and not self.stopped:
            self.stopped = True
            self.child.terminate()
        return self.child.poll() is not None

    @property
    def minutes(self):
        return (time.monotonic() - self.started) / 60


def compute(tasks, lacking, seconds, jobs, say=print):
    """Compute tasks in their order, several at once, until the time is up: one line a run."""
    end, waiting, left, running = time.monotonic() + seconds, list(tasks), dict.fromkeys(tasks), []
    try:
        while True:
            while len(running) < jobs and (task := next_task(waiting, end - time.monotonic())):
                waiting.remove(task)
                if ready(task):     # somebody else was faster
                    left.pop(task)
                else:
                    running.append(Running(task, end))
            if not running:
                break
            time.sleep(PAUSE)
            for ended in [r for r in running if r.finished()]:
                running.remove(ended)
                lacking = report(ended, lacking, left, say)
    finally:
        for ended in running:
            ended.child.terminate()
        for ended in running:
            ended.child.wait()
    if waiting and end > time.monotonic():
        shortest = min(waiting, key=lambda t: t.seconds)
        say(f"nothing fits into what is left of the time: the shortest run, {shortest.experiment} "
            f"{shortest.run}, takes about {shortest.seconds / 3600:.2f} h")


def ready(task):
    """Whether the run of a task is recorded since this began: one out of date stands there before."""
    return task.path.exists() and task.path.stat().st_mtime > STARTED


STARTED = time.time()


def report(ended, lacking, left, say):
    """Say how a run ended, and take a finished one from `left`; returns the items that still lack runs."""
    task, done = ended.task, []
    if ready(task):
        left.pop(task)
        done = [i for i in lacking if all(map(ready, i.tasks))]
        how = f"completes {missing.in_words(done)}" if done else "completes nothing alone"
    elif ended.stopped:
        how = "stopped at the end of the time; next time it goes on from its checkpoint, if it keeps one"
    else:
        how = f"FAILED: {book.reason(ended.log)}; log: {ended.log.absolute()}"
    hours = missing.hours(t for t in left if t.seconds is not None)
    say(f"{task.experiment} {task.run}  {ended.minutes:.1f} min; {how}; "
        f"{len(left)} run{'s' * (len(left) != 1)} left, about {hours:,.1f} h", flush=True)
    return [i for i in lacking if i not in done]


def main(*words):
    hours, jobs, first = knobs(*words)
    if HERE not in os.environ:
        move(words)
    os.environ["JOBS"] = str(jobs)
    facts = missing.facts()
    known = missing.tasks(facts)
    lacking = missing.items(facts, known)
    tasks = queue(known, lacking, first)
    if not tasks:
        print("no run is missing: there is nothing to compute")
        return
    for line in plan(tasks, lacking, hours * 3600, jobs):
        print(line, flush=True)
    compute(tasks, lacking, hours * 3600, jobs)


if __name__ == "__main__":
    runtime.prepare()
    runtime.stop_cleanly()
    main(*sys.argv[1:])
