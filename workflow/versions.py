"""Show that changed code gives the results it gave: python -m workflow.versions [same [NAME [COMMIT]]]

Each recorded run and kept network holds the digest of its code (`report.code`). Where the code has another
one now, and the version is the same, they are out of date. `same` computes at smoke size, with the code of
the last commit (or of COMMIT) and with that of this tree: of an experiment one run for each attack, network
and the like that its plan names; of an architecture a short training on embedded data. Where all numbers are
the same, `report/same.json` gets both digests. Without NAME it tries all that have changed.
"""
import json
import os
import subprocess
import sys
import tempfile
from numbers import Real
from pathlib import Path
from types import SimpleNamespace

from report import experiment as experiments
from report import git, same, store, zoo
from report.repository import ROOT
from shared import runtime
from shared.data import sets
from workflow import catalogue, records

TIMES = ("seconds", "trained_in")   # parts of names of durations, which differ from run to run


# ---- what has changed ------------------------------------------------------------------------------------
def networks():
    """`{architecture: [facts of each kept net]}`."""
    kept = {}
    for path in sorted(zoo.ZOO.glob("*.safetensors")):
        facts = zoo.facts_of(path)
        kept.setdefault(facts["architecture"], []).append(facts)
    return kept


def digest(name):
    """The digest of the code of an experiment or an architecture."""
    return catalogue.experiments()[name].digest() if "/" in name else zoo.digest(name)


def changed(some=None):
    """Names of experiments and architectures whose results are kept, and whose code is another one now.

    some   of which names; None: of all
    """
    names = []
    known = {n: e for n, e in catalogue.experiments().items() if some is None or n in some}
    for name, recorded in experiments.standings(known).items():
        names += [name] * any("code" in what for what in recorded.outdated.values())
    for architecture, kept in networks().items():
        if some is None or architecture in some:
            now = zoo.digest(architecture)
            names += [architecture] * any(not same.accepted(architecture, f.get("code"), now) for f in kept)
    return names


# ---- the same results ------------------------------------------------------------------------------------
def kinds(planned):
    """Names of the first run of each kind: those whose arguments differ in more than numbers."""
    def form(value):
        if isinstance(value, dict):
            return {k: form(v) for k, v in value.items()}
        if isinstance(value, list):
            return [form(v) for v in value]
        return None if isinstance(value, Real) and not isinstance(value, bool) else value

    firsts = {}
    for name, arguments in planned.items():
        firsts.setdefault(json.dumps(form(store.plain(arguments)), sort_keys=True), name)
    return list(firsts.values())


def small(name):
    """`{run: result}` of an experiment at smoke size, or of an architecture, by the code of this tree."""
    if "/" not in name:
        dataset = networks()[name][0]["dataset"]
        net = zoo.net(name, "smoke", dataset, 0, device=runtime.device())
        images = sets.load(dataset).x_test[:10].float() / 255
        return {net.name: {"weights": net.fingerprint, "logits": net.net(images).tolist()}}
    experiment = catalogue.experiments()[name]
    for first in experiment.before.values():
        experiments.gather(first, SimpleNamespace(**first.scale["smoke"]))
    settings = SimpleNamespace(**experiment.scale["smoke"])
    gathered = experiments.gather(experiment, settings, names=kinds(experiment.planned(settings)[0]))
    return {run.name: run.result for run in gathered.own.values()}


def small_results(names):
    """`{name: {"digest", "runs"}}` by the code of this tree; `compare` starts it in two trees."""
    sets.use_profile("smoke")
    return {name: {"digest": digest(name), "runs": small(name)} for name in names}


def changes(before, after):
    """A line for each number of before that is gone or another, and each run that one side alone has.

    What is measured in addition changes nothing that runs hold: they lack it until they are computed again.
    """
    lines = [f"{run}.{line}" for run in before if run in after
             for line in records.differences(before[run], after[run], additions=False)
             if not any(time in line.partition(": ")[0] for time in TIMES)]
    return lines + [f"{run}: there in one of both alone" for run in sorted(before.keys() ^ after.keys())]


def computed(tree, names):
    """What `small_results` gives in a tree, in a process and a cache of its own."""
    with tempfile.TemporaryDirectory() as cache:
        env = os.environ | {"PYTHONPATH": str(tree), "BOUNDARY_CACHE": cache}
        words = [sys.executable, "-m", "workflow.versions", "results", *names]
        done = subprocess.run(words, cwd=tree, env=env, encoding="utf-8", capture_output=True)
    if done.returncode:
        last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise runtime.UserError(f"the code {'now' if tree == ROOT else 'before'} cannot compute "
                                f"{', '.join(names)}: {last}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(name="", commit="HEAD"):
    """Compare experiments and architectures with a commit, and enter the digests of those that agree."""
    known = [*catalogue.experiments(), *networks()]
    if name and name not in known:
        raise runtime.UserError(f"EXPERIMENT={name!r}; allowed: {', '.join(sorted(known))}")
    git.head()
    names = [name] if name else changed()
    if not names:
        print("no code has changed of what is recorded or kept")
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        added = git.git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        if added.returncode:
            raise runtime.UserError(f"FROM={commit!r}: {added.stderr.strip().splitlines()[-1]}")
        try:
            before = computed(tree, names)
        finally:
            git.git("worktree", "remove", "--force", str(tree))
    after, agreed, failed = computed(ROOT, names), [], []
    for name in names:
        old, new = before[name], after[name]
        off = changes(old["runs"], new["runs"])
        if not new["runs"]:
            failed.append(f"{name}: no run at smoke size, nothing shows that results stay; raise its version")
        elif off:
            failed += [f"{name}: {len(off)} differences, so raise its version, or train it anew; the first:",
                       *off[:5]]
        else:
            if old["digest"] != new["digest"]:
                same.enter({name: (old["digest"], new["digest"])})
            print(f"{name}: {len(new['runs'])} runs at smoke size are as in {commit}")
            agreed.append(name)
    failed += [f"{name}: what is kept is of code before {commit}; name the commit before the change: "
               f"make same EXPERIMENT={name} FROM=commit" for name in changed(agreed)]
    if failed:
        raise SystemExit("\n".join(failed))


def main(*words):
    if words[:1] == ("results",):
        print(json.dumps(small_results(words[1:]), default=lambda array: array.tolist()))
    elif words[:1] == ("same",) and len(words) <= 3:
        compare(*words[1:])
    elif not words:
        if names := changed():
            raise SystemExit("\n".join(f"{name}: its code changed, its version did not; raise it, or: make "
                                       f"same EXPERIMENT={name}" for name in names))
    else:
        raise runtime.UserError("usage: python -m workflow.versions [same [NAME [COMMIT]]]")


if __name__ == "__main__":
    runtime.prepare()
    main(*sys.argv[1:])
