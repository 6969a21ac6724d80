"""Experiments: a function with a plan. Its runs are published, recorded or missing, and computed here.

    attacks = Experiment("he/attacks", attack_images, plan_attacks, sizes=("iterations",),
                         names="{network}-{kind}-b{block}")

The plan of the unmodified `paper` scale names the published runs. What is wanted with exactly their arguments
(a size may be smaller) is recorded under `results/runs`; what departs from them at full scale goes to
`_runs/runs`; a small run (`smoke`, `quick`) is kept nowhere.

A run is out of date when the experiment's version, an argument that is no size, the experiment's code
(`report.code`, `report.same`) or an input differs from its file. Inputs are the runs and kept
networks that its function opened. An input that is itself out of date counts as one that differs.
"""
import dataclasses
import functools
import shutil
import string
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from types import SimpleNamespace

from report import code, git, inputs, provenance, registry, repository, same, store, zoo
from report.repository import ROOT
from shared import runtime
from shared.data import content, sets


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
    after: tuple = ()       # experiments whose runs its function reads (`results_of`)
    memory: int = 4         # GB that a run takes at most
    gpu: int = 0            # how many a run gains from

    @property
    def before(self):
        """`{name: experiment}` of those that it comes after, directly and indirectly."""
        return {k: v for first in self.after for k, v in (*first.before.items(), (first.name, first))}

    def digest(self):
        """The digest of the code of its function, and of the classes and architectures in its plan."""
        names, classes = set(), set()
        plan = self.plan(SimpleNamespace(**self.scale["paper"]))
        values = {id(value): value for arguments in plan.values() for value in arguments.values()}
        texts_of([*values.values()], names, classes)    # most runs of a plan share theirs
        return code.digest([(self.function.__module__, self.function.__name__),
                            *((c.__module__, c.__name__) for c in classes if code.ours(c.__module__)),
                            *(registry.place(n) for n in names if "-" in n and registry.known(n))])

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

    def matches(self, stored, arguments):
        """Whether stored arguments are those of a plan; sizes may differ."""
        return stored.keys() == arguments.keys() and all(
            store.as_planned(stored[k], v) for k, v in arguments.items() if k not in self.sizes)

    def fits(self, arguments, published):
        """Whether arguments are the published ones, their sizes at most as large."""
        return all(arguments[size] <= published[size] for size in self.sizes) \
            and self.matches(store.plain(arguments), published)

    def outdated(self, run, arguments, digest, firsts, digest_of=zoo.digest):
        """What has changed since a run was computed: "version", "arguments", "code", places of inputs.

        digest   of the experiment's code, see `digest`
        firsts   `{experiment: Results}` of those in `after`
        digest_of   gives the digest of an architecture's code
        """
        return ["version"] * (run.version != self.version) \
            + ["arguments"] * (arguments is not None and not self.matches(run.arguments, arguments)) \
            + ["code"] * (run.version == self.version and not same.accepted(self.name, run.code, digest)) \
            + [place for place, identity in (run.inputs or {}).items()
               if _differs(place, identity, firsts, digest_of)]


def texts_of(value, texts, classes=None):
    """Enter the texts, and the classes of dataclasses, that arguments hold at any depth, into two sets."""
    if isinstance(value, str):
        texts.add(value)
    elif isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            texts_of(part, texts, classes)
    elif dataclasses.is_dataclass(value):
        if classes is not None:
            classes.add(type(value))
        texts_of(vars(value), texts, classes)


def _differs(place, identity, firsts, digest_of):
    """Whether an input, as a run keeps it, is another one now, is out of date, or is gone."""
    kind, _, rest = place.partition("/")
    if kind != "runs":      # published weights have their own check
        return kind != "weights" and zoo.changed(place, identity, digest_of)
    experiment, _, name = rest.rpartition("/")
    if experiment not in firsts:
        return True
    first = firsts[experiment]
    run = first.own.get(name, first.recorded.get(name))
    old = name in first.outdated and run is first.recorded[name]
    return run is None or run.identity != identity or old


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
    """The folder of the recorded runs of an experiment, by its name."""
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
    optional: bool = False                           # gives intervals alone: nothing waits for its runs

    def with_names(self, names, parts=("published", "recorded", "own", "outdated")):
        """The runs of these names; in parts that are not named all stay."""
        chosen = {part: getattr(self, part) for part in parts}
        return replace(self, **{part: {n: runs[n] for n in names if n in runs}
                                for part, runs in chosen.items()})

    def only(self, keep):
        """The runs that `keep` takes, by their arguments and labels: what a figure or table rests on."""
        return self.with_names([n for n, arguments in self.published.items()
                           if keep((arguments or {}) | self.labels.get(n, {}))])


# ---- what a run rests on ---------------------------------------------------------------------------------
_on_this_page = {}      # experiment's name -> its `Results`, of those that have runs of the page
_computing = []         # the experiments of which a run is being computed, the innermost last


class Opened(Mapping):
    """`{run: result}` of an experiment; a run that is read becomes an input of the run that reads it."""

    def __init__(self, results, runs):
        self.results, self.runs = results, runs

    def __getitem__(self, name):
        run, results = self.runs[name], self.results
        if inputs.recording() and run is results.recorded.get(name) and name in results.outdated:
            raise runtime.UserError(
                f"its input {results.name}/{name} is out of date ({', '.join(results.outdated[name])} "
                f"changed); compute that first: make fill HOURS=n FIRST={results.name}")
        inputs.used("inputs", f"runs/{results.name}/{name}", run.identity)
        return run.result

    def __iter__(self):
        return iter(self.runs)

    def __len__(self):
        return len(self.runs)


def results_of(name):
    """The results `Opened` by a function: `{run: result}` of an experiment in its `after`.

    They are those of this page, else the recorded ones. Raises UserError for a recorded run that is out of
    date where the run that is being computed will be recorded.
    """
    if name in _on_this_page:
        return Opened(_on_this_page[name], _on_this_page[name].own)
    if not _computing:      # a person calls the function
        return {path.stem: store.read(path).result for path in sorted(folder_of(name).glob("[!.]*.json"))}
    first = next((first for first in _computing[-1].after if first.name == name), None)
    if first is None:
        raise runtime.UserError(f"{_computing[-1].name} reads runs of {name}, which its `after` lacks")
    results = recorded(first, first.planned()[0])
    return Opened(results, results.recorded)


# ---- recorded runs ---------------------------------------------------------------------------------------
def recorded(experiment, published, labels=None, known=None):
    """The `Results` of what is recorded of an experiment.

    published   {run: arguments at full scale, or None where only another page's settings have them}
    known       {experiment: Results} of some in `after`, which are not read again then
    """
    results = Results(experiment.name, published, experiment.sizes, labels=labels or {})
    for name in published:
        if (run := content.sound(experiment.path(name), store.read)) is not None:
            results.recorded[name] = run
    _mark_outdated(results, experiment, known=known)
    return results


def standings(experiments):
    """`{experiment: Results}` of all that is recorded of `{name: Experiment}`."""
    there = {}
    for name, experiment in experiments.items():
        there[name] = recorded(experiment, *experiment.planned(), there)
    return there


def _mark_outdated(results, experiment, names=None, known=None):
    """Enter what has changed since recorded runs were computed, all or those of some names."""
    some = {n: run for n, run in results.recorded.items() if names is None or n in names}
    digest = experiment.digest() if some else None
    reads = any(place.startswith("runs/") for run in some.values() for place in run.inputs or ())
    firsts = {first.name: (known or {}).get(first.name) or recorded(first, first.planned()[0], known=known)
              for first in experiment.after if reads}
    digest_of = functools.cache(zoo.digest)
    for name, run in some.items():
        results.outdated.pop(name, None)
        if changed := experiment.outdated(run, results.published[name], digest, firsts, digest_of):
            results.outdated[name] = changed


# ---- computing -------------------------------------------------------------------------------------------
def compute(experiment, name, arguments, published, states=None):
    """One `Run` of an experiment.

    states  the folder of its checkpoints; None keeps none

    Raises UserError where the function does not return a dict with the sizes that it took.
    """
    digest, start = states and experiment.digest(), provenance.clock()      # nobody reads that of a small run
    with inputs.collected() as used, inputs.kept_in(states), inputs.innermost(_computing, experiment):
        result = experiment.function(**arguments)
    seconds = provenance.clock() - start
    what = f"{experiment.name}: {experiment.function.__name__}"
    if not isinstance(result, dict):
        raise runtime.UserError(f"{what} returned a {type(result).__name__}; a dict of numbers, texts, lists "
                                "or arrays is needed")
    result = store.held(result, what)
    for size in experiment.sizes:
        if type(result.get(size)) is not int or not 0 < result[size] <= arguments[size]:
            raise runtime.UserError(f"{what} must return how many {size!r} it took (requested: "
                                    f"{arguments[size]}), not {result.get(size)!r}")
    return store.Run(name=name, arguments=store.plain(arguments), result=result, version=experiment.version,
                     sizes={size: [result[size], published[size]] for size in experiment.sizes},
                     code=digest, inputs=used.get("inputs", {}), provenance=provenance.here(seconds, used))


def _key(experiment, name, arguments):
    return content.of_json([experiment.name, experiment.version, name, store.plain(arguments)])[:12]


def keep(experiment, name, arguments, published, path=None):
    """Compute a run and record it; what another process has written meanwhile is taken instead.

    path   another file than that of the recorded run
    """
    path = path or experiment.path(name)
    key = content.of_json([_key(experiment, name, arguments), experiment.digest(), sets.origin()])[:12]
    states = runtime.cache_folder() / "checkpoints" / key
    before = content.sound(path, store.read)
    with runtime.lock(path):
        now = content.sound(path, store.read)
        if now is not None and (before is None or now.provenance != before.provenance):
            return now
        run = compute(experiment, name, arguments, published, states)
        run.provenance["revision"] = git.revision()     # now: code may have changed since this process began
        store.write(path, run)
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
    firsts = [_on_this_page[first.name] for first in experiment.after if first.name in _on_this_page]
    results.yours = function is not None or any(first.yours for first in firsts)
    apart = any(run is not first.recorded.get(n) for first in firsts for n, run in first.own.items())
    runner = experiment if function is None else replace(experiment, function=function)
    record = record and not results.yours
    with runtime.progress(len(wanted), experiment.name) as bar:
        for name, arguments in wanted.items():
            if record and not apart and name in published and experiment.fits(arguments, published[name]):
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
    """Compute and record a run that is missing, out of date or smaller.

    A size that it had is not made smaller, but for one that is larger than published now.
    """
    run, published = results.recorded.get(name), results.published[name]
    had = {size: min(run.sizes[size][0], published[size])
           for size in experiment.sizes if run and size in run.sizes}
    if run is None or name in results.outdated or any(n < arguments[size] for size, n in had.items()):
        larger = {size: max(n, arguments[size]) for size, n in had.items()}
        results.recorded[name] = keep(experiment, name, arguments | larger, published)
        _mark_outdated(results, experiment, [name])


def _apart(experiment, name, arguments, published):
    """A run at full scale with other settings than published: kept under `_runs`, and taken from there."""
    folder = ROOT / "_runs" / "runs" / experiment.name
    path = folder / f"{name}-{_key(experiment, name, arguments)}.json"
    run = content.sound(path, store.read)
    firsts = {first.name: _on_this_page.get(first.name) or recorded(first, first.planned()[0])
              for first in experiment.after}
    if run is None or _of_another_file(run) or experiment.outdated(run, None, experiment.digest(), firsts):
        return keep(experiment, name, arguments, published, path)
    return run


def _of_another_file(run):
    """Whether a data file of the reader's own is no longer that of the run."""
    return any(name.endswith(".npz") and sets.load(name).fingerprint != held
               for name, held in run.provenance["data"].items())
