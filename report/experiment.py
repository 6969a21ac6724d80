"""Experiments: a function with a plan. Its runs are published, recorded or missing, and computed here.

    attacks = Experiment("he/attacks", attack_images, plan_attacks, sizes=("iterations",),
                         names="{network}-{kind}-b{block}")

The plan of the unmodified `paper` scale names the published runs. What is wanted with exactly their arguments
(a size may be smaller) is recorded under `results/runs`; what departs from them at full scale goes to
`_runs/runs`; a small run (`smoke`, `quick`) is kept nowhere.
"""
import re
import shutil
import string
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from types import SimpleNamespace

from report import provenance, store
from shared import ROOT, runtime
from shared.data import content, sets
from shared.training import checkpoint

WHICH = "missing, all, none, names separated by commas, or <i>/<n> for one of n shares"


@dataclass(frozen=True)
class Experiment:
    """A function, and the plan of its runs."""
    name: str               # the paper's key and a name, such as "he/attacks"
    function: Callable      # (**arguments) -> dict of numbers, texts, lists, small arrays
    plan: Callable          # settings -> {key: arguments}, from settings alone
    _: KW_ONLY
    version: int = 1        # rises when the function computes something else
    sizes: tuple = ()       # arguments that may be smaller than published; the function returns them as taken
    names: str = "{run}"    # a run's name from its key, such as "{network}-b{block}"; its columns, too
    scale: dict = field(default_factory=dict)   # {profile: settings} of the page that computes its runs
    after: tuple = ()       # experiments whose runs this one's rest on (`results_of`)
    memory: int = 4         # GB that a run takes at most
    gpu: int = 0            # how many a run gains from

    @property
    def versions(self):
        """`{experiment: version}` of those that it comes after, directly and indirectly."""
        return {k: v for each in self.after for k, v in (*each.versions.items(), (each.name, each.version))}

    def planned(self, settings=None):
        """`({run: arguments}, {run: {column: value}})` for some settings; None: the published ones."""
        settings = SimpleNamespace(**self.scale["paper"]) if settings is None else settings
        runs, columns = named(self.names, self.plan(settings))
        for name, arguments in runs.items():
            if not store.NAME.fullmatch(name):
                raise runtime.UserError(f"{self.name}: run name {name!r}: letters, digits, '-', '_' and '.', "
                                        "beginning with a letter, so that a person can type it")
            store.plain(arguments, name)
            for size in self.sizes:
                value = arguments.get(size)
                if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                    raise runtime.UserError(f"{self.name} {name}: {size}={value!r}; a whole number from 1 is "
                                            "needed")
        return runs, columns

    def outdated(self, run, planned):
        """What has changed since a run was computed: "version", "arguments", experiments of `after`."""
        if run.version > self.version:
            raise runtime.UserError(f"{self.name}: version {self.version} is declared, but {run.name} was "
                                    f"computed by version {run.version}; raise it, do not lower it")
        return ["version"] * (run.version != self.version) \
            + ["arguments"] * (planned is not None and not _same(run.arguments, planned, self.sizes)) \
            + [name for name, version in self.versions.items() if run.after.get(name) != version]


def named(names, plan):
    """`({run's name: arguments}, {run's name: {column: value}})` of a plan.

    names   such as "{network}-{kind}-b{block}", for a plan with keys (network, kind, block)
    """
    columns = [field for _, field, _, _ in string.Formatter().parse(names) if field]
    runs, labels = {}, {}
    for key, given in plan.items():
        key = key if isinstance(key, tuple) else (key,)
        if len(key) != len(columns):
            raise runtime.UserError(f"a run's key {key!r} for names {names!r}: give {', '.join(columns)}")
        mine = dict(zip(columns, key))
        if strange := [k for k, v in mine.items() if k in given and given[k] != v]:
            raise runtime.UserError(f"{names.format(**mine)}: {strange[0]!r} is an argument, too; call one "
                                    "otherwise")
        runs[names.format(**mine)], labels[names.format(**mine)] = given, mine
    if len(runs) < len(plan):
        raise runtime.UserError(f"names {names!r}: several runs of one name; a key has something that these "
                                "lack")
    return runs, labels


def folder_of(experiment):
    """Where the recorded runs of an experiment lie, by its name."""
    return runtime.results_folder() / "runs" / experiment


@dataclass
class Results:
    """The runs of an experiment: the `recorded` ones, and `mine`, those of this page."""
    name: str
    published: dict                                  # name -> arguments at full scale, None if unknown
    sizes: tuple = ()
    recorded: dict = field(default_factory=dict)     # name -> Run
    mine: dict = field(default_factory=dict)         # name -> Run
    outdated: dict = field(default_factory=dict)     # name of a recorded run -> what has changed since
    labels: dict = field(default_factory=dict)       # name -> {column: value} from which it is made
    yours: bool = False                              # by a function of the reader's

    @property
    def absent(self):
        """Published runs of which nothing is recorded."""
        return [n for n in self.published if n not in self.recorded]

    @property
    def missing(self):
        """Published runs that are absent, out of date, or smaller than published."""
        return [n for n in self.published if n not in self.recorded or n in self.outdated
                or self.recorded[n].fraction < 1]

    @property
    def fraction(self):
        """Mean over the published runs of their share of the published size; an absent one counts 0."""
        if not self.published:
            return 1.0
        return sum(run.fraction for run in self.recorded.values()) / len(self.published)

    def only(self, keep):
        """The runs that `keep` takes, by their arguments and labels: what a figure or table rests on."""
        names = [n for n, given in self.published.items() if keep((given or {}) | self.labels.get(n, {}))]
        return replace(self, **{part: {n: each[n] for n in names if n in each}
                                for part, each in vars(self).items()
                                if part in ("published", "recorded", "mine", "outdated")})

    def state(self):
        """What stands, as plain data, for `make missing` and the pages."""
        return {"set": self.name, "published": len(self.published), "recorded": len(self.recorded),
                "outdated": self.outdated,
                "seconds": sum(run.provenance["seconds"] for run in self.recorded.values())}


def together(name, *some):
    """One `Results` of several with different runs, so that a page shows what is there of all of them."""
    parts = {what: {n: value for each in some for n, value in getattr(each, what).items()}
             for what in ("published", "recorded", "outdated", "labels", "mine")}
    return Results(name, sizes=tuple(dict.fromkeys(size for each in some for size in each.sizes)), **parts)


# ---- what a run rests on ---------------------------------------------------------------------------------
_in_process = {}    # experiment's name -> {run: result} of the results that a page has asked for


def results_of(name):
    """`{run: result}` of an experiment: those of this page, else the recorded ones."""
    if name in _in_process:
        return _in_process[name]
    return {path.stem: store.read(path).result for path in sorted(folder_of(name).glob("[!.]*.json"))}


# ---- which runs ------------------------------------------------------------------------------------------
def _same(stored, planned, sizes):
    return stored.keys() == planned.keys() and all(
        store.same(stored[k], v) for k, v in planned.items() if k not in sizes)


def choose(which, names, missing):
    """Names of the runs to compute, of all `names` and of those that are `missing`; see WHICH."""
    if which in ("none", "all"):
        return list(names) if which == "all" else []
    if which == "missing":
        return [n for n in names if n in missing]
    if share := re.fullmatch(r"(\d+)/(\d+)", which):
        i, n = map(int, share.groups())
        return [name for k, name in enumerate(names) if k % n == i - 1 and name in missing]
    return [n for n in asked(which) if n in names]


def asked(which):
    """Names of runs that `which` asks for; empty where it is one of the other words."""
    if which in ("missing", "all", "none") or re.fullmatch(r"\d+/\d+", which):
        return []
    return [n.strip() for n in which.split(",")]


def check_asked(which, sets):
    """Refuse names of runs that no experiment of a page has."""
    known = [n for s in sets for n in s.published]
    if unknown := [n for n in asked(which) if n not in known]:
        some = ", ".join(known[:6]) + (", ..." if len(known) > 6 else "") or "none"
        raise runtime.UserError(f"units {unknown[0]!r}: no such run; allowed: {WHICH}. Runs here: {some}")


def recorded(experiment, published, labels=None):
    """The `Results` of what is recorded of an experiment.

    published   {run: arguments at full scale, or None where only another page's settings have them}
    """
    results = Results(experiment.name, published, experiment.sizes, labels=labels or {})
    for name, planned in published.items():
        run = content.sound(folder_of(experiment.name) / f"{name}.json", store.read)
        if run is not None:
            results.recorded[name] = run
            if changed := experiment.outdated(run, planned):
                results.outdated[name] = changed
    return results


# ---- computing -------------------------------------------------------------------------------------------
def compute(experiment, name, arguments, published):
    """One `Run` of an experiment, with a checkpoint that ends with it.

    Raises TypeError where the function does not return a dict with the sizes that it took.
    """
    key = content.of_json([_key(experiment, name, arguments), sets.origin()])[:12]
    place = runtime.cache_folder() / "checkpoints" / key
    start = provenance.clock()
    with runtime.ledger() as used, checkpoint.kept_in(place):
        result = experiment.function(**arguments)
    seconds = provenance.clock() - start
    what = f"{experiment.name}: {experiment.function.__name__}"
    if not isinstance(result, dict):
        raise runtime.UserError(f"{what} returned a {type(result).__name__}; a dict of numbers, texts, lists "
                                "or arrays is needed")
    values, sizes = store.held(result, experiment.function.__name__), {}
    for size in experiment.sizes:
        actual = values.get(size)
        if isinstance(actual, bool) or not isinstance(actual, int) or not 0 < actual <= arguments[size]:
            raise runtime.UserError(f"{what} must return how many {size!r} it took (asked: "
                                    f"{arguments[size]}), not {actual!r}")
        sizes[size] = [actual, published[size]]
    run = store.Run(name=name, arguments=store.plain(arguments), sizes=sizes, result=values,
                    version=experiment.version, after=experiment.versions,
                    provenance=provenance.here(seconds, used))
    return run, place


def _key(experiment, name, arguments):
    return content.of_json([experiment.name, experiment.version, name, store.plain(arguments)])[:12]


def keep(experiment, name, arguments, published, path=None):
    """Compute a run and record it; what another process has written meanwhile is taken instead.

    path   another file than that of the recorded run
    """
    path = path or folder_of(experiment.name) / f"{name}.json"
    before = content.sound(path, store.read)
    with runtime.lock(path):
        now = content.sound(path, store.read)
        if now is not None and (before is None or now.provenance != before.provenance):
            return now
        run, place = compute(experiment, name, arguments, published)
        store.write(path, run)
        shutil.rmtree(place, ignore_errors=True)
        return store.read(path)     # what a second run will see is what this one sees


def gather(experiment, settings, *, which="missing", record=False, function=None, plan=None):
    """The `Results` of an experiment, with what this page wants of it computed.

    settings  the page's, for the plan; None: the page wants no run of its own
    which     which of the published runs to compute, see WHICH
    record    whether this page may record (the `paper` profile)
    function  a reader's own in place of the experiment's: its runs are recorded nowhere
    plan      the page's own in place of the experiment's
    """
    published, labels = experiment.planned()
    own = experiment if plan is None else replace(experiment, plan=plan)
    wanted, mine = ({}, {}) if settings is None else own.planned(settings)
    results = recorded(experiment, published, labels | mine)
    if function is not None:
        experiment, record, results.yours = replace(experiment, function=function), False, True
    kept = [n for n, given in wanted.items() if record and n in published
            and all(given[size] <= published[n][size] for size in experiment.sizes)
            and _same(store.plain(given), published[n], experiment.sizes)]
    small = []
    for name in kept:   # a recorded size is never made smaller
        run, asked_for = results.recorded.get(name), wanted[name]
        had = {size: run.sizes[size][0] for size in experiment.sizes if run and size in run.sizes}
        wanted[name] = asked_for | {size: max(n, asked_for[size]) for size, n in had.items()}
        if run is None or name in results.outdated or any(n < asked_for[size] for size, n in had.items()):
            small.append(name)
    chosen = choose(which, kept, small)
    others = [n for n in wanted if n not in kept] if which != "none" else []
    with runtime.progress(len(chosen) + len(others), experiment.name) as bar:
        for name in chosen:
            run = results.recorded[name] = keep(experiment, name, wanted[name], published[name])
            results.outdated.pop(name, None)
            if changed := experiment.outdated(run, published[name]):
                results.outdated[name] = changed
            bar.update()
        for name in others:
            results.mine[name] = (_apart(experiment, name, wanted[name]) if record else
                                  compute(experiment, name, wanted[name], wanted[name])[0])
            bar.update()
    results.mine |= {n: results.recorded[n] for n in kept if n in results.recorded}
    if settings is not None:
        _in_process[experiment.name] = {n: run.result for n, run in results.mine.items()}
    return results


def _apart(experiment, name, arguments):
    """A run at full scale with other settings than published: kept under `_runs`, and taken from there."""
    folder = ROOT / "_runs" / "runs" / experiment.name
    path = folder / f"{name}-{_key(experiment, name, arguments)}.json"
    found = content.sound(path, store.read)
    return found if found is not None else keep(experiment, name, arguments, arguments, path)
