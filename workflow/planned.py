"""The units of notebooks without their pages, at full scale.

python -m workflow.planned facts NOTEBOOK ...                            what stands and what is left, as JSON
python -m workflow.planned unit NOTEBOOK SET/UNIT [-p NAME VALUE ...]    compute this unit

The text half runs with a `Run` that draws and publishes nothing, which is most of a page's time, and ends
where its unit is computed. One process tells of several notebooks: to import the packages takes the longest.
"""
import contextlib
import json
import os
import runpy
import sys
from collections import Counter

from shared import runtime
from shared.pages import parameters, start, tidy
from shared.records import record
from shared.units import handed, store


class Planned(start.Run):
    """A run that publishes nothing: cells go on with the last record of an item."""
    at_full_scale = False   # an item that has no record is published in earnest, but not recorded
    wanted = None           # the one unit to compute, as (set, unit)
    handed = []             # the units that were given to `handed.give`

    def __init__(self, *words):
        super().__init__(*words)
        self.rests = {}     # {item: {set: names of those of its units of which nothing is recorded}}
        self.after = {}     # {set: the earlier sets whose units were handed to its own}

    def units(self, name, function, plan, *, parts=(), names="{unit}"):
        chosen, unit = self.wanted or (None, None)
        takes = self.handed if "take" in function.__code__.co_names else []    # handed.take
        self.after[name] = [n for n, s in self.sets.items() if any(s.mine is each for each in takes)]
        if name != chosen:
            self.which = "none"
            return super().units(name, function, plan, parts=parts, names=names)
        self.which = unit   # and its plan is this unit, so that no other one is completed in the cache
        made = super().units(name, function, lambda scale: {unit: tidy.named(names, plan(scale))[0][unit]},
                             parts=parts)
        if unit not in made.recorded:
            raise runtime.UserError(f"{name}/{unit}: not recorded; so it is no published unit")
        raise SystemExit

    def _noted(self, item, sets):
        self.rests[item] = {s.name: s.absent for s in start.several(sets)}

    def _publish(self, item, sets, **judged):
        self._noted(item, sets)
        kept = record.read(self.paper_key, item)
        return super()._publish(item, sets, **judged) if kept is None else start.Shown(kept)

    def extra(self, slug, sets, *words, **named):
        self._noted(f"{record.EXTRA}{slug}", sets)

    def picture(self, *words, **named):
        pass

    tell = minute = stamp = picture


def nearest(units, name):
    """The recorded units most like a missing one: the more arguments are equal, the more alike."""
    wanted = [(k, v) for k, v in units.published[name].items() if k not in units.parts]
    known = {}
    for unit in units.recorded.values():
        alike = sum(k in unit.arguments and store.same(unit.arguments[k], v) for k, v in wanted)
        known.setdefault(alike, []).append(unit)
    return known[max(known)] if known else []


def usual(units, name, declared):
    """`[seconds, {parameter: value}]`: what an absent unit takes in the size its like commonly have.

    A published size may take days, and then smaller parts are recorded. Seconds are None where no unit is.
    """
    like = [(tuple((part, had) for part, (had, of) in u.parts.items() if had < of), u.provenance["seconds"])
            for u in nearest(units, name)]
    if not like:
        return [None, {}]
    sizes = Counter(each for each, _ in like).most_common(1)[0][0]
    seconds = [took for each, took in like if each == sizes]
    return [sum(seconds) / len(seconds), {part: had for part, had in sizes if part in declared}]


def facts(run):
    """What a run found, as plain data: its sets of units, and the absent ones that each item rests on."""
    sets = [{**each.state(), "after": run.after[each.name], "fraction": each.fraction,
             "smaller": len(each.missing) - len(each.absent),
             "absent": {n: usual(each, n, run.declared) for n in each.absent}, "orphans": list(each.orphans),
             "torch": Counter(u.provenance["versions"]["torch"] for u in each.recorded.values())}
            for each in run.sets.values()]
    return {"sets": sets, "rests": run.rests}


def run(name, *words):
    """The `Run` of a notebook's text half, with what it shows thrown away."""
    path = parameters.text_half(name)
    sys.argv = [str(path), "-p", "profile", "paper", "-p", "units", "none", *words]
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        return runpy.run_path(str(path), run_name="__main__")["run"]


def main(what, *words):
    def give(label, units, give=handed.give):
        Planned.handed.append(units)
        give(label, units)

    handed.give, start.Run = give, Planned
    if what == "facts":
        for name in words:
            print(json.dumps(facts(run(name))), flush=True)
    else:
        name, wanted, *parameters_ = words
        Planned.wanted = tuple(wanted.split("/"))
        run(name, *parameters_)
        raise runtime.UserError(f"{name}: no set of units {Planned.wanted[0]!r}")


if __name__ == "__main__":
    runtime.prepare()
    main(*sys.argv[1:])
