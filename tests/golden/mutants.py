"""How strong the golden tests of a room are: python -m tests.golden.mutants ROOM

Every numeric literal, comparison and arithmetic or logical operator of the room's code is changed, one at a
time, and the cases that run the changed definition are computed again. A change that no case notices is a
survivor; each stands in `<room>.survivors` with the reason why it cannot matter, else this program ends with
1.
What is raised is left out, and of a room whose module declares `COMPUTES = ("generator", ...)` all other
definitions: they are listed.
"""
import ast
import copy
import os
import sys
import time
from pathlib import Path

import shared
from shared import ROOT, runtime
from shared.units import identity
from tests import golden

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


def _definition(code):
    return identity.source(Path(code.co_filename)).at(code.co_firstlineno)


def touched(room):
    """`{case: definitions of the room that run}` on the code as it is; the quickest first."""
    found, took = {}, {}
    for name, (function, _) in golden.cases(room).items():
        seen = set()

        def hook(frame, event, arg, seen=seen):
            if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
                seen.add(frame.f_code)

        start = time.time()
        sys.setprofile(hook)
        try:
            function()
        finally:
            sys.setprofile(None)
        took[name] = time.time() - start
        found[name] = {(code.co_filename, _definition(code)) for code in seen}
    return {name: found[name] for name in sorted(found, key=took.get)}


def _purge():
    for name in [n for n in sys.modules if n.split(".")[0] in ("shared", "tests")]:
        del sys.modules[name]


def notices(room, path, tree, names, known, machines):
    """Whether one of the cases notices the changed file; in a child process that imports it anew.

    known, machines   what `golden.stored` gives
    """
    child = os.fork()
    if child:
        start = time.time()
        while time.time() - start < 60:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return status != 0
            time.sleep(0.01)
        os.kill(child, 9)
        os.waitpid(child, 0)
        return True       # a change that never ends is noticed
    try:
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
        for name in names:
            function, elsewhere = fresh.cases(room)[name]
            exact = machines[name] == fresh.machine()
            if fresh.difference(known[name], fresh.flat(function()), exact, elsewhere) is not None:
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
    ran, computes, out, kept = touched(room), golden.computes(room), {}, golden.stored(room)
    for path in files(room):
        tree = ast.parse(path.read_text())
        source, alike = identity.source(path), {}
        if notices(room, path, tree, list(ran), *kept):
            raise runtime.UserError(f"{path.name} as it is fails its cases; mend that first (make test)")
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
            names = [n for n, seen in ran.items() if (str(path), where) in seen]
            if not names or "." not in str(where) and where not in {w for _, w in set().union(*ran.values())}:
                names = list(ran)     # a constant or a class: any case may read it
            tried += 1
            if not notices(room, path, changed, names, *kept):
                left.append(told)
                why = f"  # {known[told]}" if told in known else ""
                print(f"survives, line {line}: {told}{why}", flush=True)
    bare = [each for each in left if each not in known]
    print(f"{room}: {tried} changed, {tried - len(left)} noticed, {len(left)} survive "
          f"({len(left) - len(bare)} with a reason); {time.time() - start:.0f} s")
    if out:
        print(f"left out, {sum(out.values())} in all: " + ", ".join(f"{name} {n}" for name, n in out.items()))
    if not only and (gone := [each for each in known if each not in left]):
        print("survivors listed that do not survive: " + "; ".join(gone))
    return 1 if bare else 0


if __name__ == "__main__":
    runtime.prepare()
    known_rooms = golden.rooms()
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in known_rooms:
        raise runtime.UserError(f"ROOM={' '.join(sys.argv[1:])!r}; allowed: {', '.join(known_rooms)}")
    raise SystemExit(main(*sys.argv[1:]))
