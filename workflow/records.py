"""Rebuild every record from the committed runs: python -m workflow.records [--check] [NOTEBOOK ...]

Each notebook's script runs at full scale without computing a run, and so without data, training or GPU.
With `--check` the records go to a scratch folder, and any changed word, or number changed by more than 1e-5,
is told.
"""
import argparse
import contextlib
import graphlib
import json
import math
import multiprocessing
import os
import runpy
import sys
import tempfile
import time
import traceback
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path

from report import parameters, reference, repository
from report.repository import ROOT
from shared import runtime
from workflow import catalogue, jobs

# The environment of the processes that run scripts: one thread, no display.
ALONE = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "MPLBACKEND": "agg"}
CLOSE, NOTHING = 1e-5, 1e-12  # of two numbers: their relative difference; what is smaller is a rounding of 0


def run_script(name):
    """Run the script of a notebook at full scale, here; returns (seconds, None or what went wrong)."""
    start, error = time.perf_counter(), None
    sys.argv = [f"notebooks/{name}.py", "-p", "profile", "paper", "-p", "runs", "none"]
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            runpy.run_path(str(parameters.script_of(name)), run_name="__main__")
    except runtime.UserError as mistake:
        error = str(mistake)
    except (Exception, SystemExit):     # a page ends where its file ends; Ctrl-C ends them all
        error = traceback.format_exc()
    return time.perf_counter() - start, error


def _begin(env):
    os.environ.update(env)


def rebuild(names, folder):
    """Records of the notebooks into a results folder, each after those it needs: (name, seconds, error).

    As many at once as the variable JOBS says, else one a core. A process runs several: to import the packages
    takes longer than most pages.
    """
    count = jobs.count(os.environ.get("JOBS") or str(os.cpu_count()))
    order = graphlib.TopologicalSorter({n: set(catalogue.needs(n)) & set(names) for n in names})
    order.prepare()
    env = ALONE | {"BOUNDARY_RESULTS": str(folder)}
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin, (env,)) as pool:
        running = {}
        while order.is_active():
            running |= {pool.submit(run_script, name): name for name in order.get_ready()}
            for ended in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(ended)
                yield name, *ended.result()
                order.done(name)


# ---- comparing -------------------------------------------------------------------------------------------
def differences(old, new, place="", *, additions=True):
    """Where two records differ: places of changed words and of numbers further apart than CLOSE.

    additions   whether entries that `new` alone has count
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for k in sorted(old.keys() | new.keys() if additions else old):
            yield from differences(old.get(k), new.get(k), f"{place}.{k}".strip("."), additions=additions)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for n, (a, b) in enumerate(zip(old, new)):
            yield from differences(a, b, f"{place}[{n}]", additions=additions)
    elif isinstance(old, int | float) and isinstance(new, int | float) and not isinstance(old, bool):
        if not math.isclose(old, new, rel_tol=CLOSE, abs_tol=NOTHING) and not (old != old and new != new):
            yield f"{place}: {old} is now {new}"
    elif old != new:
        yield f"{place}: {str(old)[:80]!r} is now {str(new)[:80]!r}"


def compare(old, new, names=None):
    """What differs between two folders of records: one line each.

    names   of the notebooks whose records `new` has; None: of all
    """
    own = names and {f"{n.split('/')[0]}/{item}.json" for n in names for item in catalogue.items(n)}
    files = {p.relative_to(folder) for folder in (old, new) for p in folder.glob("*/[!.]*.json")}
    for file in sorted(files):
        a, b = old / file, new / file
        if names and not b.exists() and str(file) not in own:
            continue    # of another notebook
        if not a.exists() or not b.exists():
            gone = a.exists()
            yield f"{file}: {'is not made any more; delete it' if gone else 'is new; run `make records`'}"
            continue
        pair = [{k: v for k, v in json.loads(file_.read_text(encoding="utf-8")).items() if k != "check"}
                for file_ in (a, b)]
        for line in differences(*pair):
            yield f"{file}: {line}"


def scratch(folder):
    """A results folder of its own that shares the committed runs and nets."""
    for part in ("runs", "zoo"):
        source = repository.results_folder() / part
        if source.is_dir():
            (Path(folder) / part).symlink_to(source)
    return Path(folder)


def main(words):
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("--check", action="store_true", help="change nothing; exit 1 if a record would change")
    cli.add_argument("notebooks", nargs="*", default=[], help="such as ren/iv_simulation; all by default")
    given = cli.parse_args(words)
    # A page outside the papers, such as the guide, records nothing, and may need data.
    names = given.notebooks or [n for n in catalogue.notebooks() if n.split("/")[0] in reference.KEYS]
    if unknown := [n for n in names if n not in catalogue.notebooks()]:
        raise runtime.UserError(f"unknown notebook {unknown[0]!r}; "
                                f"allowed: {', '.join(catalogue.notebooks())}")
    start, bad, kept = time.perf_counter(), [], repository.results_folder()
    with tempfile.TemporaryDirectory() as folder:
        into = scratch(folder) if given.check else kept
        for name, seconds, error in rebuild(names, into):
            print(f"{name:32}{seconds:6.1f} s{'   FAILED' if error else ''}", flush=True)
            bad += [f"{name}: {error}"] if error else []
        if given.check:
            bad += compare(kept / "paper", into / "paper", given.notebooks)
    print(f"{len(names)} notebooks in {time.perf_counter() - start:.0f} s")
    if bad:
        raise SystemExit("\n".join(bad))


if __name__ == "__main__":
    runtime.prepare()
    main(sys.argv[1:])
