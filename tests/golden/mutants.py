"""How strong the golden tests of a room are: python -m tests.golden.mutants ROOM

Every numeric literal, comparison and arithmetic or logical operator of the room's code is changed, one at a
time, and the cases that run the changed definition, of whichever room, are computed again: the quickest
first, until one notices, or those of `PATIENCE` seconds have not. A change that no case notices survives;
each stands in `<room>.survivors` with the reason why it cannot matter, else this program ends with 1.
What is raised is left out, and of a room whose module declares `COMPUTES = ("generator", ...)` all other
definitions: they are listed.
"""
import ast
import copy
import itertools
import os
import resource
import signal
import sys
import time
from pathlib import Path

import shared
from shared import runtime
from shared.units import identity
from tests import golden

PATIENCE = 3   # seconds of the processor
SWAPS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
         ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
         ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
         ast.Pow: ast.Mult, ast.Mod: ast.Mult, ast.MatMult: ast.Add, ast.BitAnd: ast.BitOr,
         ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or,
         ast.Or: ast.And,
         ast.USub: ast.UAdd, ast.Not: None, ast.Invert: None}


def files(room):
    """The Python files of a room whose code counts."""
    path = identity.module_file(f"shared.{room.replace('/', '.')}")
    inside = sorted(path.parent.glob("*.py")) if path.name == "__init__.py" else [path]
    return [each for each in inside if each.name != "__init__.py" and identity.room_of(each) == room
            and identity._counts(each)]


def spots(tree):
    """Every place that is changed: (node, kind of change), outside of what is raised."""
    def walk(node):
        if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr)):
            return
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, "constant"
        elif isinstance(node, ast.Compare):
            yield from ((node, n) for n in range(len(node.ops)))
        elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp, ast.UnaryOp)) and type(node.op) in SWAPS:
            if not (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)):
                yield node, "operator"
        for child in ast.iter_child_nodes(node):
            yield from walk(child)

    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "VERSION":
            continue
        yield from walk(node)


def mutate(tree, number):
    """The tree with its spot `number` changed, and what was changed in words; the given tree stays."""
    tree = copy.deepcopy(tree)
    node, kind = list(spots(tree))[number]
    shown = _around(tree, node) if kind == "constant" else node
    before = ast.unparse(shown)
    if kind == "constant":
        node.value = node.value + 1 if isinstance(node.value, int) else node.value * 1.25 or 0.25
    elif kind != "operator":
        node.ops[kind] = SWAPS[type(node.ops[kind])]()
    elif isinstance(node, ast.UnaryOp) and SWAPS[type(node.op)] is None:
        node.op = ast.UAdd() if isinstance(node.op, ast.Invert) else ast.Not()
        if isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
    else:
        node.op = SWAPS[type(node.op)]()
    return ast.fix_missing_locations(tree), node.lineno, f"{before} -> {ast.unparse(shown)}"


def _around(tree, node):
    """What holds a constant, if that is one line: `0 -> 1` alone could be any of a definition's zeros."""
    holder = next(each for each in ast.walk(tree) if node in ast.iter_child_nodes(each))
    if isinstance(holder, (ast.UnaryOp, ast.Slice, ast.Tuple)):
        return _around(tree, holder)
    return node if "\n" in ast.unparse(holder) else holder


def _reached(path, seen):
    """Collect the project's files that a file imports, and these in turn."""
    if path and path not in seen:
        seen.add(path)
        for module, name in identity.source(path).imports.values():
            for each in (module, f"{module}.{name}") if module else ():
                _reached(identity.module_file(each), seen)
    return seen


def neighbours(room):
    """The rooms whose cases can touch the room's code: its own, and those that import a file of it."""
    own = set(files(room))
    return [each for each in golden.rooms()
            if each == room or own & _reached(Path(golden.module(each).__file__), set())]


def touched(room):
    """What each case runs of a room, `{(room, case): {(file, definition)}}`, and the seconds it takes; the
    quickest first. Raises UserError where a case fails on the code as it is.
    """
    own, found, took = {str(path) for path in files(room)}, {}, {}
    for each in neighbours(room):
        known, machines = golden.stored(each)
        for name, (function, elsewhere) in golden.cases(each).items():
            seen = set()

            def hook(frame, event, arg, seen=seen):
                if event == "call" and frame.f_code.co_filename in own:
                    seen.add(frame.f_code)

            start = time.process_time()
            sys.setprofile(hook)
            try:
                returned = function()
            finally:
                sys.setprofile(None)
            took[each, name] = time.process_time() - start
            exact = machines.get(name) == golden.machine()
            if golden.difference(known.get(name, {"": None}), golden.flat(returned), exact, elsewhere):
                raise runtime.UserError(f"{each}: case {name} fails on the code as it is; mend that first")
            found[each, name] = {(code.co_filename, identity.source(Path(code.co_filename)).at(
                code.co_firstlineno)) for code in seen}
    return {key: found[key] for key in sorted(found, key=took.get) if found[key]}, took


def judges(ran, took, path, where):
    """The cases that a change in a definition of a file is shown, the quickest first."""
    names = [key for key, seen in ran.items() if (str(path), where) in seen]
    if not names:     # a constant or a class: any case that runs something of the file may read it
        names = [key for key, seen in ran.items() if any(file == str(path) for file, _ in seen)] or list(ran)
    spent = itertools.accumulate((took[key] for key in names), initial=0.0)
    return [key for key, before in zip(names, spent) if before < PATIENCE]


def _purge():
    for name in [n for n in sys.modules if n.split(".")[0] in ("shared", "tests")]:
        del sys.modules[name]


def notices(path, tree, cases, stored):
    """Whether one of the cases notices the changed file; in a child process that imports it anew.

    stored  `{(room, case): (outputs, whether they were stored on this machine)}`
    """
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))   # a change that never ends is noticed: by seconds
        signal.alarm(600)                                   # of the processor, as others may be at work here
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        import importlib.machinery as machinery
        code = compile(tree, str(path), "exec")
        given = machinery.SourceFileLoader.get_code

        def get_code(self, fullname):
            return code if self.path == str(path) else given(self, fullname)

        machinery.SourceFileLoader.get_code = get_code
        _purge()
        from tests import golden as fresh
        for room, name in cases:
            (function, elsewhere), (known, exact) = fresh.cases(room)[name], stored[room, name]
            if fresh.difference(known, fresh.flat(function()), exact, elsewhere) is not None:
                os._exit(1)
        os._exit(0)
    except BaseException:
        os._exit(1)


def reasons(room):
    """`{change: why it cannot matter}` of the survivors that are known."""
    path = golden.HERE / f"{room.replace('/', '_')}.survivors"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split("  # ", 1) for line in lines if "  # " in line)


def main(room, only=""):
    start, tried, known, left = time.time(), 0, reasons(room), []
    (ran, took), computes, out, stored = touched(room), golden.computes(room), {}, {}
    for each in {each for each, _ in ran}:
        outputs, machines = golden.stored(each)
        stored |= {(each, name): (outputs[name], machines[name] == golden.machine()) for name in outputs}
    for path in files(room):
        tree = ast.parse(path.read_text())
        source, alike = identity.source(path), {}
        if notices(path, tree, list(ran), stored):
            raise runtime.UserError(f"{path.name}: cases fail where the code as it is is imported anew")
        for number in range(len(list(spots(tree)))):
            changed, line, words = mutate(tree, number)
            where = source.at(line)
            told = f"{path.relative_to(Path(shared.__file__).parent)}:{where}: {words}"
            alike[told] = alike.get(told, 0) + 1
            if alike[told] > 1:
                told += f" ({alike[told]})"      # the same change once more in one definition
            if only and only not in f"{path.name}:{where}":
                continue
            if computes and str(where).split(".")[0] not in computes:
                out[f"{where}"] = out.get(f"{where}", 0) + 1
                continue
            tried += 1
            if not notices(path, changed, judges(ran, took, path, where), stored):
                left.append(told)
                why = f"  # {known[told]}" if told in known else ""
                print(f"survives, line {line}: {told}{why}", flush=True)
    bare = [each for each in left if each not in known]
    print(f"{room}: {tried} changed, {tried - len(left)} noticed, {len(left)} survive "
          f"({len(left) - len(bare)} with a reason); {time.time() - start:.0f} s")
    if out:
        print(f"left out, {sum(out.values())} in all: " + ", ".join(f"{name} {n}" for name, n in out.items()))
    if not only and (gone := [each for each in known if each not in left]):
        print("listed, but noticed here (by last bits, where a case was stored here): " + "; ".join(gone))
    return 1 if bare else 0


if __name__ == "__main__":
    runtime.prepare()
    known_rooms = golden.rooms()
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in known_rooms:
        raise runtime.UserError(f"ROOM={' '.join(sys.argv[1:])!r}; allowed: {', '.join(known_rooms)}")
    raise SystemExit(main(*sys.argv[1:]))
