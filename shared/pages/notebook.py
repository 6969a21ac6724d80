"""What every notebook starts with: its parameters checked, its profile, its data, its provenance."""
import ast
import difflib
import json
import os
import resource
import subprocess
import sys
import time
import types
from functools import cache
from importlib.metadata import version
from pathlib import Path

import yaml

from shared import runtime
from shared.data import sets
from shared.pages import report
from shared.units import sources, units

COMMON = ("profile", "seed", "device")


# ---- parameters ------------------------------------------------------------------------------------------
def text_half(name):
    """The `.py` of notebook `name`, such as `ren/iii_borderline`."""
    return runtime.ROOT / "notebooks" / f"{name}.py"


def parameters(path):
    """`{name: (type, default, help)}` of the cell tagged `parameters` in a notebook's text half.

    A default of None means "the profile's value".
    """
    text = Path(path).read_text()
    cells = [c for c in text.split("\n# %%")[1:] if '"parameters"' in c.split("\n", 1)[0]]
    if len(cells) != 1:
        raise ValueError(f"{path}: expected one cell tagged parameters, found {len(cells)}")
    source = cells[0].split("\n", 1)[1]
    lines, known = source.splitlines(), {}
    for node in ast.parse(source).body:
        if not isinstance(node, ast.AnnAssign):
            raise ValueError(f"{path}: write each parameter as `name: type = default  # help`")
        help_text = lines[node.end_lineno - 1].partition("  # ")[2]
        known[node.target.id] = (node.annotation.id, ast.literal_eval(node.value), help_text)
    return known


def _check(name, value, kind, default):
    if value is None and default is None:
        return None
    types_ = {"int": int, "float": (int, float), "str": str, "bool": bool, "list": list}[kind]
    if not isinstance(value, types_) or (isinstance(value, bool) and kind != "bool"):
        raise ValueError(f"parameter {name!r} takes {kind}, not {value!r}")
    if name == "profile" and value not in runtime.PROFILES:
        raise ValueError(f"unknown profile {value!r}; allowed: {', '.join(runtime.PROFILES)}")
    if name == "seed" and value < 0:
        raise ValueError(f"parameter 'seed' is 0 or more, not {value!r}")
    return value


def unknown_parameter(name, known):
    """The one line that says a parameter does not exist."""
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"unknown parameter {name!r}{hint} This notebook takes: {', '.join(known)}"


def _from_command_line(known, arguments):
    """`-p name value ...` of `python notebooks/x/y.py -p profile paper`, values read as YAML."""
    given = {}
    for i in range(0, len(arguments), 3):
        if arguments[i] != "-p" or len(arguments) < i + 3:
            raise ValueError("usage: python notebooks/<paper>/<notebook>.py [-p NAME VALUE] ...; "
                             f"this notebook takes: {', '.join(known)}")
        given[arguments[i + 1]] = yaml.safe_load(arguments[i + 2])
    return given


def _injected(namespace):
    """Names a kernel holds that no cell of ours has set: papermill's parameters, known or not."""
    ipython = namespace.get("get_ipython")
    if ipython is None or ipython().execution_count > 4:  # a re-run by hand, after other cells
        return {}
    hidden, plain = ipython().user_ns_hidden, (type(None), bool, int, float, str, list, dict)
    return {k: v for k, v in namespace.items() if type(v) in plain and k not in hidden and not k.startswith("_")
            and k not in ("In", "Out")}


# ---- a run -----------------------------------------------------------------------------------------------
def start(name, namespace):
    """Begin notebook `name` with its `globals()`; returns the `Run` that the other cells use.

    Raises ValueError, in one line, for an unknown parameter, a wrong type or a wrong value.
    """
    try:
        return Run(name, namespace)
    except ValueError as error:
        if "__file__" in namespace:  # run as a script: the line, without a traceback
            raise SystemExit(f"{name}: {error}") from None
        raise


class Run:
    """One run of one notebook: `profile`, `seed`, `device`, and what it has used so far."""

    def __init__(self, name, namespace):
        self.name, self.started, self.spent = name, time.perf_counter(), 0.0
        self.paper_key = name.split("/")[0]
        known = parameters(text_half(name))
        as_script = "__file__" in namespace
        given = _from_command_line(known, sys.argv[1:]) if as_script else _injected(namespace)
        for each in given:
            if each not in known:
                raise ValueError(unknown_parameter(each, known))
        if as_script:
            namespace.update(given)
        self.parameters = {k: _check(k, namespace[k], *known[k][:2]) for k in known}
        self.profile, self.seed = self.parameters["profile"], self.parameters["seed"]
        self.device = runtime.pick_device(self.parameters["device"])
        self.datasets, self.settings, self._full = {}, None, {}
        report.style()

    def scale(self, *, smoke, quick, paper):
        """The settings of this run: its profile's dict, overridden by explicit parameters of the same names."""
        chosen = dict(zip(runtime.PROFILES, (smoke, quick, paper)))[self.profile]
        if not smoke.keys() == quick.keys() == paper.keys():
            raise ValueError("the three profiles of a scale name the same settings")
        self._full = paper
        explicit = {k: v for k, v in self.parameters.items() if k in paper and v is not None}
        self.settings = types.SimpleNamespace(**{**chosen, **explicit})
        return self.settings

    def part(self, name, actual):
        """`[actual, full]` of one setting of `scale`, for a record."""
        full = self._full[name]
        return [n if isinstance(n, (int, float)) else len(n) for n in (actual, full)]

    def departures(self):
        """Parameters that make this another experiment than the published one, whatever its size."""
        usual = {k: default for k, (_, default, _) in parameters(text_half(self.name)).items()} | self._full
        return [k for k, v in self.parameters.items() if k not in ("profile", "device") and v not in (usual[k], None)]

    def data(self, name, **options):
        """The data set `name`, as this profile may have it; says where it came from."""
        dataset = sets.load(name, profile=self.profile, **options)
        self.datasets[name] = dataset
        report.say(f"> {'**' * bool(dataset.stand_in)}Data: {dataset.describe()}{'**' * bool(dataset.stand_in)}")
        return dataset

    def units(self, function, arguments, *, label="measurement"):
        """`[function(**a) for a in arguments]`, each computed once and kept; see `shared.units`."""
        results = units.run(function, arguments, label=f"{self.name}-{label}")
        self.spent += sum(r["seconds"] for r in results)
        return results

    def generator(self, *labels):
        """A CPU random generator for one purpose of this notebook."""
        return runtime.generator(self.seed, self.name, *labels)

    @property
    def substitutes(self):
        """What stood in for what: `{"mnist": "digits"}`, empty on real data."""
        return {k: d.stand_in for k, d in self.datasets.items() if d.stand_in}

    def provenance(self):
        """Where a result of this run comes from, as plain data."""
        return {"notebook": self.name, "profile": self.profile,
                "data": {k: f"{d.stand_in or k}:{d.fingerprint}" for k, d in self.datasets.items()},
                "seeds": [self.seed], "versions": {p: version(p) for p in ("torch", "numpy", "scipy")},
                "device": str(self.device), "seconds": round(self.spent, 1), "revision": revision(),
                "code": sources.measurement_code(text_half(self.name))}

    def publish(self, item, **result):
        """Judge a result against the printed item; in the `paper` profile, record it. See `report.publish`."""
        return report.publish(self, item, **result)

    def stamp(self):
        """The provenance line that ends a notebook; the execution page is made from the same facts."""
        facts = self.provenance() | {
            "wall_seconds": round(time.perf_counter() - self.started, 1),
            "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
            "datasets": {k: d.describe() for k, d in self.datasets.items()}, "python": sys.version.split()[0],
            "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "substitutes": self.substitutes}
        report.stamp(facts)


# ---- provenance ------------------------------------------------------------------------------------------
@cache
def revision():
    """The git revision (`+changes` if the tree differs), `$BOUNDARY_REVISION` where there is no git, else unknown."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=runtime.ROOT, capture_output=True, text=True, check=True).stdout

    try:
        changed = git("status", "--porcelain", "--", "shared", "notebooks", "requirements.lock").strip()
        return git("rev-parse", "--short", "HEAD").strip() + ("+changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("BOUNDARY_REVISION", "unknown")


def page_spec(name):
    """Parameters of a notebook as rows for the book: name, type, default, help."""
    return [{"parameter": k, "type": t, "default": json.dumps(d), "meaning": h}
            for k, (t, d, h) in parameters(text_half(name)).items()]
