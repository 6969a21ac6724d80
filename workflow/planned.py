"""What notebooks rest on at full scale, and single runs without their pages.

python -m workflow.planned facts NOTEBOOK ...                           what stands and what is left, as JSON
python -m workflow.planned run EXPERIMENT RUN ... [-p SIZE VALUE ...]   compute these runs

Facts are told by the text half with a `Page` that draws and publishes nothing, which is most of a page's
time. One process tells of several notebooks: to import the packages takes the longest.
"""
import contextlib
import json
import os
import runpy
import sys
from collections import Counter

import torch

from report import experiment as experiments
from report import page, parameters, record, store
from shared import runtime
from shared.data import sets
from workflow import catalogue


class Planned(page.Page):
    """A page that publishes nothing: cells go on with the last record of an item."""
    at_full_scale = False   # an item that has no record is published in earnest, but not recorded

    def __init__(self, *words):
        super().__init__(*words)
        self.rests = {}     # {item: {experiment: names of those of its runs of which nothing is recorded}}
        self.asked = {}     # {experiment's name: Experiment}

    def results(self, experiment, **how):
        self.which = "none"
        self.asked[experiment.name] = experiment
        return super().results(experiment, **how)

    def _noted(self, item, sets):
        self.rests[item] = {s.name: absent(s) for s in page.several(sets)}

    def _publish(self, item, sets, **judged):
        self._noted(item, sets)
        kept = record.read(self.paper_key, item)
        return super()._publish(item, sets, **judged) if kept is None else page.Shown(kept)

    def extra(self, slug, sets, *words, **options):
        self._noted(f"{record.EXTRA}{slug}", sets)

    def picture(self, *words, **options):
        pass

    text = box = finish = picture


def absent(results):
    """Published runs of which nothing is recorded."""
    return [n for n in results.published if n not in results.recorded]


def fraction(results):
    """Mean over the published runs of their share of the published size; an absent one counts 0."""
    shares = [run.fraction for run in results.recorded.values()]
    return sum(shares) / len(results.published) if results.published else 1.0


def nearest(results, name):
    """The recorded runs most like a missing one: the more arguments are equal, the more alike."""
    wanted = [(k, v) for k, v in results.published[name].items() if k not in results.sizes]
    known = {}
    for run in results.recorded.values():
        alike = sum(k in run.arguments and store.same(run.arguments[k], v) for k, v in wanted)
        known.setdefault(alike, []).append(run)
    return known[max(known)] if known else []


def usual(results, name):
    """`[seconds, {size: value}]`: what an absent run takes in the sizes its like commonly have.

    A published size may take days, and then smaller ones are recorded. Seconds are None where no run of the
    same kind of device is: a graphics card tells nothing of a processor.
    """
    like = [(tuple((size, had) for size, (had, of) in run.sizes.items()
                   if had < of and size in results.sizes), run.provenance)
            for run in nearest(results, name)]
    if not like:
        return [None, {}]
    sizes = Counter(these for these, _ in like).most_common(1)[0][0]
    seconds = [p["seconds"] for these, p in like if these == sizes
               and p["device"].startswith("NVIDIA") == torch.cuda.is_available()]
    return [sum(seconds) / len(seconds) if seconds else None, dict(sizes)]


def facts(run):
    """What a page found, as plain data: its own experiments, and the absent runs that each item rests on."""
    own = [(experiment, experiments.recorded(experiment, *experiment.planned()))
           for experiment in run.asked.values() if experiment.scale == run.scales]
    states = [{"set": experiment.name, "published": len(results.published), "recorded": len(results.recorded),
               "outdated": results.outdated, "after": [first.name for first in experiment.after],
               "fraction": fraction(results),
               "smaller": sum(run.fraction < 1 for run in results.recorded.values()),
               "absent": {n: usual(results, n) for n in [*absent(results), *results.outdated]}}
              for experiment, results in own]
    return {"sets": states, "rests": run.rests}


def page_of(name, *words):
    """The `Page` of a notebook's text half, with what it shows thrown away."""
    path = parameters.text_half(name)
    sys.argv = [str(path), "-p", "profile", "paper", "-p", "units", "none", *words]
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        return runpy.run_path(str(path), run_name="__main__")["page"]


def compute(name, *words):
    """Compute and record published runs that are missing, out of date or smaller.

    words   their names, then `-p SIZE VALUE` of sizes smaller than published
    """
    known = catalogue.experiments()
    if name not in known:
        raise runtime.UserError(f"experiment {name!r}; allowed: {', '.join(known)}")
    experiment = known[name]
    published, _ = experiment.planned()
    end = words.index("-p") if "-p" in words else len(words)
    runs, words = words[:end], words[end:]
    sizes = {size: int(value) for size, value in zip(words[1::3], words[2::3])}
    for run in runs:
        if run not in published:
            some = ", ".join(list(published)[:6])
            raise runtime.UserError(f"{name}: no run {run!r}; its plan has {len(published)}, such as {some}")
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


def main(what, *words):
    if what == "run":
        compute(*words)
        return
    page.Page = Planned
    for name in words:
        print(json.dumps(facts(page_of(name))), flush=True)


if __name__ == "__main__":
    runtime.prepare()
    main(*sys.argv[1:])
