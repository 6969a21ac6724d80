"""Has the code of an experiment changed without its version? python -m workflow.versions [same EXPERIMENT]

`tests/versions.json` holds a digest for each experiment: of its function, of the builders of the networks
that its paper plan names, and of what these name in turn within the papers' code; syntax without docstrings
and comments. A changed digest asks: raise the version, or show by
`make same EXPERIMENT=he/attacks` that the results stay.
"""
import ast
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from report import experiment as experiments
from report import registry, store
from shared import ROOT, runtime
from shared.data import content, sets
from workflow import catalogue, records

STORED = ROOT / "tests" / "versions.json"
TIMES = ("seconds", "trained_in")   # parts of names of durations, which differ from run to run


# ---- digests ---------------------------------------------------------------------------------------------
def _ours(module):
    """Whether a module is a paper's: it counts, while `shared` is held by stored outputs."""
    return module.startswith("papers.")


@cache
def _module(name):
    """`({name: [its top-level statements]}, {name: (module, name there or None)})` of a module."""
    source = Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8")
    tree, nodes, imports = ast.parse(source), {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.asname: (alias.name, None) for alias in node.names if alias.asname}
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                is_module = (ROOT / whole.replace(".", "/")).with_suffix(".py").is_file()
                there = (whole, None) if is_module else (node.module, alias.name)
                imports[alias.asname or alias.name] = there
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            nodes.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for part in (n for target in targets for n in ast.walk(target)):
                if isinstance(part, ast.Name):
                    nodes.setdefault(part.id, []).append(node)
    return nodes, imports


def _text(node):
    """A statement without docstrings, comments and layout."""
    node = ast.parse(ast.unparse(node))
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(part) is not None:
            part.body = part.body[1:] or [ast.Pass()]
    return ast.unparse(node)


def reached(module, name, seen):
    """Enter into `seen` {"module.name": text} what a definition is, and what it names within the papers."""
    nodes, imports = _module(module)
    place = f"{module}.{name}"
    if place in seen:
        return
    if name not in nodes:
        if name in imports and imports[name][1] and _ours(imports[name][0]):
            reached(*imports[name], seen)
        return
    seen[place] = "\n".join(map(_text, nodes[name]))
    for node in (n for statement in nodes[name] for n in ast.walk(statement)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reached(module, node.id, seen)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            target = imports.get(node.value.id)
            if target and target[1] is None and _ours(target[0]):
                reached(target[0], node.attr, seen)


def digest(experiment):
    """Twelve hexadecimal digits of an experiment's code; see the head of this file."""
    seen = {}
    reached(experiment.function.__module__, experiment.function.__name__, seen)
    runs = json.dumps([store.plain(arguments, run) for run, arguments in experiment.planned()[0].items()])
    for name in registry.names():
        if f'"{name}"' in runs:
            builder = registry.builder(name)
            reached(builder.__module__, builder.__name__, seen)
    return content.of_json(sorted(seen.values()))[:12]


def now():
    """`{experiment: {"version", "digest"}}` of the code as it is."""
    return {name: {"version": experiment.version, "digest": digest(experiment)}
            for name, experiment in sorted(catalogue.experiments().items())}


def changed():
    """One line for each experiment whose code changed without its version."""
    known = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    for name, new in now().items():
        old = known.get(name)
        if old is None or old["version"] != new["version"]:
            continue    # new, or raised: `write` enters it
        if old["digest"] != new["digest"]:
            yield f"{name}: its code changed, its version did not; raise it, or: make same EXPERIMENT={name}"


def write(names):
    """Enter what is now for some experiments, and for those that are new or have another version."""
    known = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    new = now()
    kept = {name: new[name] if name in names or name not in known
            or known[name]["version"] != new[name]["version"] else known[name] for name in new}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in kept.items())
    runtime.write_atomically(STORED, lambda part: part.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8"))


# ---- the same results ------------------------------------------------------------------------------------
def small(name):
    """`{run: result}` of an experiment at smoke size, by the code in the working folder."""
    experiment = catalogue.experiments()[name]
    sets.use_profile("smoke")
    for earlier in experiment.after:
        experiments.gather(earlier, SimpleNamespace(**earlier.scale["smoke"]))
    results = experiments.gather(experiment, SimpleNamespace(**experiment.scale["smoke"]))
    return {name: run.result for name, run in results.own.items()}


def changes(before, after):
    """A line for each number of before that is gone or another, and each run that one side alone has.

    What is measured in addition changes nothing that runs hold: they lack it until they are computed again.
    """
    lines = [f"{run}.{line}" for run in before if run in after
             for line in records.differences(before[run], after[run], additions=False)
             if not any(time in line.partition(": ")[0] for time in TIMES)]
    return lines + [f"{run}: there in one of both alone" for run in sorted(before.keys() ^ after.keys())]


def git(*words):
    words = ("-c", "core.hooksPath=/dev/null", *words)      # a person's hooks stay out
    subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True)


def same(name):
    """Compare an experiment at smoke size with the last commit, and renew its digest where they agree."""
    known = catalogue.experiments()
    if name not in known:
        raise runtime.UserError(f"EXPERIMENT={name!r}; allowed: {', '.join(sorted(known))}")
    runtime.git_needed()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        git("worktree", "add", "--quiet", "--detach", str(tree), "HEAD")
        try:
            for place in (tree, ROOT):
                done = subprocess.run([sys.executable, "-m", "workflow.versions", "small", name], text=True,
                                      cwd=place, env=os.environ | {"PYTHONPATH": str(place)},
                                      capture_output=True)
                if done.returncode:
                    raise SystemExit(f"{name} {'before' if place == tree else 'now'}: {done.stderr.strip()}")
                results.append(json.loads(done.stdout.splitlines()[-1]))
        finally:
            git("worktree", "remove", "--force", str(tree))
    before, after = results
    if not after:
        raise SystemExit(f"{name}: no run at smoke size, nothing shows that results stay; raise its version")
    off = changes(before, after)
    if off:
        raise SystemExit("\n".join([f"{name}: {len(off)} differences, so raise its version; the first:",
                                    *off[:5]]))
    write([name])
    print(f"{name}: {len(after)} runs at smoke size are as in the last commit; its digest is renewed")


def main(*words):
    if words[:1] == ("small",):
        print(json.dumps(small(words[1]), default=lambda array: array.tolist()))
    elif words[:1] == ("same",) and len(words) == 2:
        same(words[1])
    elif not words:
        write([])
        if lines := list(changed()):
            raise SystemExit("\n".join(lines))
    else:
        raise runtime.UserError("usage: python -m workflow.versions [same EXPERIMENT]")


if __name__ == "__main__":
    runtime.prepare()
    main(*sys.argv[1:])
