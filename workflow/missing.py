"""What is not at full scale, and what the rest would cost: python -m workflow.missing

Units that are missing, stale (with what changed) or orphaned, each with its expected seconds and the command.
"""
import json
import tempfile

from shared import reference, runtime
from shared.pages.start import STATE
from shared.records import record
from shared.units import store
from workflow import catalogue, records


def states():
    """What each notebook with units says of them, asked now: yields (notebook, facts of a set)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, _, error in records.rebuild(catalogue.with_units(), records.scratch(folder)):
            if error:
                raise SystemExit(f"{name}: {error}")
            facts = json.loads((runtime.ROOT / STATE / f"{name.replace('/', '-')}.json").read_text())
            yield from ((name, state) for state in facts["state"])


def lines():
    """The report, line by line."""
    for name, state in states():
        command = f"python notebooks/{name}.py -p profile paper -p units"
        known = [s for s in state["missing"].values() if s is not None]
        cost = (f"about {sum(known):,.0f} s by the recorded ones most like them" if known
                else "no unit yet to judge the time by")
        yield (f"{name} {state['set']}: {state['recorded']} of {state['published']} units, "
               f"{state['fraction']:.1%} of full scale")
        if state["missing"]:
            some = ", ".join(list(state["missing"])[:8]) + (", ..." if len(state["missing"]) > 8 else "")
            yield f"  missing {len(state['missing'])}: {some} ({cost}): {command} missing"
        for unit, changed in state["stale"].items():
            doubt = ", DOUBTFUL" if unit in state["doubtful"] else ""
            yield f"  stale {unit}{doubt}: {', '.join(changed)} changed: {command} {unit}"
        for unit in state["orphans"]:
            kept = runtime.results_folder() / "units" / name / state["set"] / f"{unit}.json"
            files = " ".join(f"results/units/{name}/{state['set']}/{p.name}" for p in store.files(kept))
            yield f"  orphaned {unit}: no plan names it any more: git rm {files}"
    homes = catalogue.pages()
    planned = [item.title for item, kept in record.everything()
               if kept is None and (item.paper, item.id) not in homes and item.kind in reference.RESULT_KINDS]
    told = f": {planned[0]} to {planned[-1]}" if planned else ""
    yield f"{len(planned)} results have no notebook yet{told}"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
