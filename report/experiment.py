"""Experiments: a function with a plan. Its runs are published, recorded or missing, and computed here.

    attacks = Experiment("he/attacks", attack_images, plan_attacks, sizes=("iterations",),
                         names="{network}-{kind}-b{block}")

The plan of the unmodified `paper` scale names the published runs. What is wanted with exactly their arguments
(a size may be smaller) is recorded under `results/runs`; what departs from them at full scale goes to
`_runs/runs`; a small run (`smoke`, `quick`) is kept nowhere.
"""
import shutil
import string
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from types import SimpleNamespace

from report import provenance, repository, store
from report.repository import ROOT
from shared import runtime
from shared.data import content, sets
from shared.training import checkpoint


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
        return {k: v for e in self.after for k, v in (*e.versions.items(), (e.name, e.version))}

    def planned(self, settings=None):
        """`({run: arguments}, {run: {column: value}})` for some settings; None: the published ones."""
        settings = SimpleNamespace(**self.scale["paper"]) if settings is None else settings
        runs, labels = labelled(self.names, self.plan(settings))
        for run, arguments in runs.items():
            if not store.NAME.fullmatch(run):
                raise runtime.UserError(f"{self.name}: run name {run!r}: letters, digits, '-', '_' and '.', "
                                        "beginning with a letter, so that a person can type it")
            store.plain(arguments, run)
            for size in self.sizes:
                if type(arguments.get(size)) is not int or arguments[size] < 1:
                    raise runtime.UserError(f"{self.name} {run}: {size}={arguments.get(size)!r}; a whole "
                                            "number from 1 is needed")
        return runs, labels

    def path(self, run):
        """The file of a recorded run."""
        return folder_of(self.name) / f"{run}.json"

    def asks(self, stored, arguments):
        """Whether stored arguments are those of a plan; sizes may differ."""
        return stored.keys() == arguments.keys() and all(
            store.same(stored[k], v) for k, v in arguments.items() if k not in self.sizes)

    def within(self, arguments, published):
        """Whether arguments are the published ones, their sizes at most as large."""
        return all(arguments[size] <= published[size] for size in self.sizes) \
            and self.asks(store.plain(arguments), published)

    def outdated(self, run, arguments):
        """What has changed since a run was computed: "version", "arguments", experiments of `after`."""
        return ["version"] * (run.version != self.version) \
            + ["arguments"] * (arguments is not None and not self.asks(run.arguments, arguments)) \
            + [name for name, version in self.versions.items() if run.after.get(name) != version]


def labelled(names, plan):
    """`({run's name: arguments}, {run's name: {column: value}})` of a plan.

    names   such as "{network}-{kind}-b{block}", for a plan with keys (network, kind, block)
    """
    columns = [column for _, column, _, _ in string.Formatter().parse(names) if column]
    runs, labels = {}, {}
    for key, arguments in plan.items():
        key = key if isinstance(key, tuple) else (key,)
        if len(key) != len(columns):
            raise runtime.UserError(f"a run's key {key!r} for names {names!r}: give {', '.join(columns)}")
        label = dict(zip(columns, key))
        run = names.format(**label)
        if twice := [k for k, v in label.items() if arguments.get(k, v) != v]:
            raise runtime.UserError(f"{run}: {twice[0]!r} is an argument, too; call one otherwise")
        if run in runs:
            raise runtime.UserError(f"names {names!r}: several runs of one name, {run}; a key has something "
                                    "that these lack")
        runs[run], labels[run] = arguments, label
    return runs, labels


def folder_of(experiment):
    """Where the recorded runs of an experiment lie, by its name."""
    return repository.results_folder() / "runs" / experiment


@dataclass
class Results:
    """The runs of an experiment: the `recorded` ones, and `own`, those of this page."""
    name: str
    published: dict                                  # name -> arguments at full scale, None if unknown
    sizes: tuple = ()
    recorded: dict = field(default_factory=dict)     # name -> Run
    own: dict = field(default_factory=dict)          # name -> Run
    outdated: dict = field(default_factory=dict)     # name of a recorded run -> what has changed since
    labels: dict = field(default_factory=dict)       # name -> {column: value} from which it is made
    yours: bool = False                              # by a function of the reader's, or from its results
    beside: bool = False                             # gives intervals alone: nothing waits for its runs

    def only(self, keep):
        """The runs that `keep` takes, by their arguments and labels: what a figure or table rests on."""
        names = [n for n, arguments in self.published.items()
                 if keep((arguments or {}) | self.labels.get(n, {}))]
        parts = {part: getattr(self, part) for part in ("published", "recorded", "own", "outdated")}
        return replace(self, **{part: {n: runs[n] for n in names if n in runs}
                                for part, runs in parts.items()})


# ---- what a run rests on ---------------------------------------------------------------------------------
_on_this_page = {}      # experiment's name -> its `Results`, of those that have runs of the page


def results_of(name):
    """`{run: result}` of an experiment: those of this page, else the recorded ones."""
    if name in _on_this_page:
        return {n: run.result for n, run in _on_this_page[name].own.items()}
    return {path.stem: store.read(path).result for path in sorted(folder_of(name).glob("[!.]*.json"))}


# ---- recorded runs ---------------------------------------------------------------------------------------
def recorded(experiment, published, labels=None):
    """The `Results` of what is recorded of an experiment.

    published   {run: arguments at full scale, or None where only another page's settings have them}
    """
    results = Results(experiment.name, published, experiment.sizes, labels=labels or {})
    for name in published:
        if (run := content.sound(experiment.path(name), store.read)) is not None:
            _enter(results, experiment, run)
    return results


def _enter(results, experiment, run):
    """Put a recorded run among the results, with what has changed since."""
    results.recorded[run.name] = run
    results.outdated.pop(run.name, None)
    if changed := experiment.outdated(run, results.published[run.name]):
        results.outdated[run.name] = changed


# ---- computing -------------------------------------------------------------------------------------------
def compute(experiment, name, arguments, published, states=None):
    """One `Run` of an experiment.

    states  the folder of its checkpoints; None keeps none

    Raises UserError where the function does not return a dict with the sizes that it took.
    """
    start = provenance.clock()
    with runtime.ledger() as used, checkpoint.kept_in(states):
        result = experiment.function(**arguments)
    seconds = provenance.clock() - start
    what = f"{experiment.name}: {experiment.function.__name__}"
    if not isinstance(result, dict):
        raise runtime.UserError(f"{what} returned a {type(result).__name__}; a dict of numbers, texts, lists "
                                "or arrays is needed")
    result = store.held(result, what)
    for size in experiment.sizes:
        if type(result.get(size)) is not int or not 0 < result[size] <= arguments[size]:
            raise runtime.UserError(f"{what} must return how many {size!r} it took (asked: "
                                    f"{arguments[size]}), not {result.get(size)!r}")
    return store.Run(name=name, arguments=store.plain(arguments), result=result, version=experiment.version,
                     sizes={size: [result[size], published[size]] for size in experiment.sizes},
                     after=experiment.versions, provenance=provenance.here(seconds, used))


def _key(experiment, name, arguments):
    return content.of_json([experiment.name, experiment.version, name, store.plain(arguments)])[:12]


def keep(experiment, name, arguments, published, path=None):
    """Compute a run and record it; what another process has written meanwhile is taken instead.

    path   another file than that of the recorded run
    """
    path = path or experiment.path(name)
    key = content.of_json([_key(experiment, name, arguments), sets.origin()])[:12]
    states = runtime.cache_folder() / "checkpoints" / key
    before = content.sound(path, store.read)
    with runtime.lock(path):
        now = content.sound(path, store.read)
        if now is not None and (before is None or now.provenance != before.provenance):
            return now
        store.write(path, compute(experiment, name, arguments, published, states))
        shutil.rmtree(states, ignore_errors=True)
        return store.read(path)     # what a second run will see is what this one sees


def gather(experiment, settings, *, which="missing", record=False, function=None, names=None, plan=None):
    """The `Results` of an experiment, with what this page wants of it computed.

    settings  the page's, for the plan; None: the page wants no run of its own
    which     "missing": compute what is not recorded, or out of date, or smaller; "none": nothing
    record    whether this page may record (the `paper` profile)
    function  a reader's own in place of the experiment's: its runs are recorded nowhere, nor are runs that
              rest on them
    names     of the runs that the page wants; None takes all
    plan      the page's own in place of the experiment's
    """
    published, labels = experiment.planned()
    planned = experiment if plan is None else replace(experiment, plan=plan)
    wanted, own_labels = ({}, {}) if settings is None else planned.planned(settings)
    wanted = {n: arguments for n, arguments in wanted.items() if names is None or n in names}
    results = recorded(experiment, published, labels | own_labels)
    results.yours = function is not None or any(
        first.name in _on_this_page and _on_this_page[first.name].yours for first in experiment.after)
    runner = experiment if function is None else replace(experiment, function=function)
    record = record and not results.yours
    with runtime.progress(len(wanted), experiment.name) as bar:
        for name, arguments in wanted.items():
            if record and name in published and experiment.within(arguments, published[name]):
                if which == "missing":
                    renew(results, experiment, name, arguments)
                if name in results.recorded:
                    results.own[name] = results.recorded[name]
            elif which == "missing":
                run = _apart if record else compute
                results.own[name] = run(runner, name, arguments, arguments)
            bar.update()
    if settings is not None:
        _on_this_page[experiment.name] = results
    return results


def renew(results, experiment, name, arguments):
    """Compute and record a run that is missing, out of date or smaller; its sizes are never made smaller."""
    run = results.recorded.get(name)
    had = {size: run.sizes[size][0] for size in experiment.sizes if run and size in run.sizes}
    if run is None or name in results.outdated or any(n < arguments[size] for size, n in had.items()):
        larger = {size: max(n, arguments[size]) for size, n in had.items()}
        published = results.published[name]
        _enter(results, experiment, keep(experiment, name, arguments | larger, published))


def _apart(experiment, name, arguments, published):
    """A run at full scale with other settings than published: kept under `_runs`, and taken from there."""
    folder = ROOT / "_runs" / "runs" / experiment.name
    path = folder / f"{name}-{_key(experiment, name, arguments)}.json"
    run = content.sound(path, store.read)
    if run is None or _of_another_file(run):
        return keep(experiment, name, arguments, published, path)
    return run


def _of_another_file(run):
    """Whether a data file of the reader's own is no longer that of the run."""
    return any(name.endswith(".npz") and sets.load(name).fingerprint != held
               for name, held in run.provenance["data"].items())
