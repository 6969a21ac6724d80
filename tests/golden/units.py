"""One small unit of each recorded set, end to end: python -m tests.golden.units

The `smoke` run of a notebook computes small units by the functions behind the recorded ones. What the first
of each set found is stored as hashes, with the code that ran, and must come out the same as long as that code
says the same; bit for bit on the machine that stored it. Elsewhere only the names of its parts must be the
same: what is found, such as the classes that an attack reaches, can differ with the last bits.
"""
import hashlib
import json
import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shared import ROOT, runtime
from shared.units import store
from tests import golden
from workflow import catalogue, records

STORED = golden.HERE / "outputs" / "units.json"
TIMES = {"seconds", "trained_in"}  # parts of what a unit found that say how long something took


def recorded_sets():
    """Every set of units in the repository, such as `ren/iv_simulation/searches`."""
    folder = ROOT / "results" / "units"
    return sorted(str(path.relative_to(folder)) for path in folder.glob("*/*/*") if any(path.glob("*.json")))


def small_unit(cache, name):
    """The first small unit of a set in a cache that smoke runs have filled, or None."""
    files = sorted((Path(cache) / "units" / name).glob("[!.]*.json"))
    return store.read(files[0]) if files else None


def told(unit):
    """What is stored of a unit: where and by what code it was computed, a hash of each part but times."""
    def content(array):  # a list with None among its numbers is an array of objects, whose bytes say nothing
        return repr(array.tolist()).encode() if array.dtype == object else array.tobytes()

    parts = {place: f"{array.dtype} {hashlib.sha256(content(array)).hexdigest()[:12]}"
             for place, array in golden.flat(unit.result).items() if not TIMES & set(place.split("."))}
    return {"unit": unit.name, "code": unit.code, "machine": golden.machine(), "found": parts}


def difference(known, found):
    """The first part of a unit that differs from what is stored, in words; None where nothing does."""
    here = known["machine"] == found["machine"]
    mine, theirs = ({place if here else re.split(r"\.\d", place)[0] for place in told["found"]}
                    for told in (found, known))
    if mine != theirs:
        return f"other parts: {sorted(mine ^ theirs)[:4]}"
    if not here:
        return None
    return next((place for place, text in known["found"].items() if found["found"][place] != text), None)


def main():
    """Run every notebook with units in `smoke`, and store what the first unit of each set found."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {f"BOUNDARY_{name}": f"{folder}/{name.lower()}" for name in ("CACHE", "DATA")}
        with ThreadPoolExecutor(records.jobs(os.environ.get("JOBS") or str(os.cpu_count()))) as pool:
            for name, (seconds, error) in zip(catalogue.with_units(), pool.map(
                    lambda n: records.text_half(n, "-p", "profile", "smoke", results=f"{folder}/results"),
                    catalogue.with_units())):
                print(f"{name:32}{seconds:6.1f} s", flush=True)
                if error:
                    raise SystemExit(f"{name}: {error}")
        units = {name: small_unit(f"{folder}/cache", name) for name in recorded_sets()}
        made = {name: told(unit) for name, unit in units.items() if unit is not None}
    text = json.dumps(made, indent=1, sort_keys=True) + "\n"
    runtime.write_atomically(STORED, lambda part: part.write_text(text))
    print(f"{len(made)} of {len(units)} recorded sets have a small unit")


if __name__ == "__main__":
    runtime.prepare()
    main()
