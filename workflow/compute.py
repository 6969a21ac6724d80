"""Compute published runs: python -m workflow.compute EXPERIMENT RUN ... [-p SIZE VALUE ...]"""
import sys

from report import experiment as experiments
from shared import runtime
from shared.data import sets
from workflow import catalogue

FEW = 12     # names of runs that a message tells
USAGE = "python -m workflow.compute EXPERIMENT RUN ... [-p SIZE NUMBER ...]"


def main(name="", *words):
    """Compute and record runs of an experiment that are missing, out of date or smaller.

    words   their names, then `-p SIZE VALUE` of sizes smaller than published
    """
    known = catalogue.experiments()
    if name not in known:
        raise runtime.UserError(f"experiment {name!r}; allowed: {', '.join(known)}")
    experiment = known[name]
    published, _ = experiment.planned()
    end = words.index("-p") if "-p" in words else len(words)
    runs, words = words[:end], words[end:]
    in_threes = len(words) % 3 == 0 and set(words[::3]) <= {"-p"} and all(map(str.isdecimal, words[2::3]))
    if not in_threes:
        raise runtime.UserError(USAGE)
    recorded = experiments.recorded(experiment, published)
    missing = [n for n in published if n not in recorded.recorded or n in recorded.outdated]
    some = f", such as {', '.join(missing[:FEW])}" if missing else ""
    wanted = f"{len(missing)} of {len(published)} are missing or out of date{some}"
    if not runs:
        raise runtime.UserError(f"{name}: no run is named; {wanted}")
    sizes = {size: int(value) for size, value in zip(words[1::3], words[2::3])}
    for run in runs:
        if run not in published:
            raise runtime.UserError(f"{name}: no run {run!r} in its plan; {wanted}")
        if wrong := [s for s in sizes
                     if s not in experiment.sizes or not 0 < sizes[s] <= published[run][s]]:
            allowed = ", ".join(f"{s} from 1 to {published[run][s]:,}" for s in experiment.sizes) or "none"
            raise runtime.UserError(f"{name} {run}: size {wrong[0]} = {sizes[wrong[0]]}; allowed: {allowed}")
    sets.use_profile("paper")   # never a stand-in
    failed = []
    for run in runs:            # one that fails leaves the others to be computed
        results = experiments.recorded(experiment, {run: published[run]})   # another machine may have had it
        try:
            experiments.renew(results, experiment, run, published[run] | sizes)
        except Exception as error:
            sys.excepthook(*sys.exc_info())
            failed.append(f"{run}: {runtime.one_line(type(error).__name__, str(error)) or repr(error)}")
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    runtime.prepare()
    runtime.stop_cleanly()
    main(*sys.argv[1:])
