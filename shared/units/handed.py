"""Results of one set of units, handed to the units of another set that rests on them.

    surroundings = run.units("surroundings", explore, plan)
    handed.give("surroundings", surroundings.mine)
    classifiers = run.units("classifiers", learn, plan_classifiers)     # `learn` calls handed.take(...)
"""
from shared.units import checkpoint

_given = {}


def give(name, units):
    """Let the units {name: Unit} be what `take(name)` gives, in this process."""
    _given[name] = dict(units)


def take(name):
    """`{unit's name: its result}` of the set that was given under `name`; empty where none was.

    What ran for them counts as having run for the unit that takes them, too: it is stale when they are.
    """
    ran = checkpoint.checkpoint(name).ran
    for unit in _given.get(name, {}).values():
        if ran is not None:
            ran.resume(unit.code)
    return {each: unit.result for each, unit in _given.get(name, {}).items()}
