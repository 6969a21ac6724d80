"""Results of one set of units, handed to the units of another set that rests on them.

    surroundings = run.units("surroundings", explore, plan)
    handed.give("surroundings", surroundings.mine)
    classifiers = run.units("classifiers", learn, plan_classifiers)     # `learn` calls handed.take(...)

Or to a page that only shows what another notebook has recorded:

    pairs = handed.borrowed("sutton/7_2_1_cifar10", "pairs", names, own=own, title="cifar10")
"""
import ast
from dataclasses import replace
from types import SimpleNamespace

from shared import ROOT
from shared.units import checkpoint
from shared.units.run import UnitSet, folder_of, names_in, recorded

_given = {}


def give(name, units):
    """Let the units {name: Unit} be what `take(name)` gives, in this process."""
    _given[name] = dict(units)


def take(name):
    """`{unit's name: its result}` of the set that was given under `name`; empty where none was.

    What ran for them counts as having run for the unit that takes them, too: it is stale when they are, also
    where they were already when they were taken.
    """
    ran = checkpoint.checkpoint(name).ran
    for unit in _given.get(name, {}).values():
        if ran is not None:
            ran.earlier |= unit.code
    return {each: unit.result for each, unit in _given.get(name, {}).items()}


def borrowed(notebook, name, names, *, own=None, title=None, parts=()):
    """The units that another notebook has recorded, as a `UnitSet` for the tables and figures of this one.

    notebook, name   such as "sutton/7_2_1_cifar10" and its set "pairs"
    names            of its units that this page rests on, recorded or not; None takes those that are
    own              a `UnitSet` of this run's small units of the same form, which stand for them in `smoke`
                     and `quick`, or None; its plan is empty at full scale: nothing is computed twice
    title            what the set is called in this page's records; None takes `name`
    parts            its sizes that may be smaller than published
    Say `needs: [notebook]` in the metadata, so that the other one runs first.
    """
    names = names_in(folder_of(notebook, name)) if names is None else names
    units = recorded(notebook, name, dict.fromkeys(names), parts)
    return replace(units, name=title or name, mine=own.mine if own else {}, orphans=())


def definitions(notebook):
    """The functions of another notebook, with its imports: one may compute this page's small units.

    No other line of its text half is executed.
    """
    path = ROOT / "notebooks" / f"{notebook}.py"
    tree, names = ast.parse(path.read_text()), {}
    kinds = ast.Import | ast.ImportFrom | ast.FunctionDef
    tree.body = [node for node in tree.body if isinstance(node, kinds)]
    exec(compile(tree, str(path), "exec"), names)
    return SimpleNamespace(**names)


def together(title, *sets, own):
    """One `UnitSet` of several with different units, so that a page shows what is there of all of them.

    own   a `UnitSet` of this run's small units, which stand for all of them in `smoke` and `quick`
    """
    every = {what: {name: value for each in sets for name, value in getattr(each, what).items()}
             for what in ("published", "recorded", "stale", "labels")}
    parts = tuple(dict.fromkeys(part for each in sets for part in each.parts))
    return UnitSet(title, parts=parts, mine=own.mine, **every)
