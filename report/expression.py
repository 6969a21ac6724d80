"""Expressions over the names of a result: numbers, names, comparisons, arithmetic, `and`, `or`, `not`.

    value("brittle.region > 50 > margin.region", {"brittle": {"region": 99.0}, "margin": {"region": 2.0}})

Claims (`records.every`) and sentences (`records.prose`) are written in them. Nothing else is executed.
"""
import ast
import math
import operator
from functools import cache

from shared.runtime import UserError

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.USub: operator.neg, ast.Not: operator.not_, ast.Lt: operator.lt, ast.LtE: operator.le,
             ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne}
FUNCTIONS = {"abs": abs, "min": min, "max": max, "round": round}
NODES = (*OPERATORS, ast.Name, ast.Load, ast.Constant, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.Compare,
         ast.BoolOp, ast.And, ast.Or, ast.Call)


@cache
def parse(text):
    """The syntax tree of an expression. Raises UserError for what is none, and for what is not allowed."""
    allowed = f"allowed: names, numbers, + - * /, comparisons, and, or, not, {', '.join(FUNCTIONS)}"
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise UserError(f"expression {text!r}: {getattr(error, 'msg', error)}; {allowed}") from None
    for node in ast.walk(tree):
        strange = not isinstance(node, NODES)
        if isinstance(node, ast.Constant):
            strange = not isinstance(node.value, int | float | str)
        if isinstance(node, ast.Call):
            strange = not (node.args and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS)
        if strange:
            what = ast.unparse(node) or type(node).__name__
            raise UserError(f"expression {text!r}: {what!r} cannot stand there; {allowed}")
    return tree


def value(text, names):
    """What an expression comes to; None where a number that decides it is missing.

    names   {name: number, text, or a dict of names, as in `brittle.region`}. None and NaN are missing, and so
            is a name beside dicts (a group that was not measured) and what is divided by zero
    Raises UserError for a name that is not there beside numbers, saying which are, and text for a number.
    """
    tree = parse(text)
    try:
        return _value(tree, names, text)
    except TypeError as error:
        raise UserError(f"expression {text!r}: {error}") from None


def _value(node, names, text):
    match node:
        case ast.Constant():
            return node.value
        case ast.Name(id=name):
            return _named(names, name, text)
        case ast.Attribute(value=owner, attr=name):
            owner = _value(owner, names, text)
            return None if owner is None else _named(owner, name, text)
        case ast.BoolOp(op=op, values=parts):
            found, decides = [_value(part, names, text) for part in parts], isinstance(op, ast.Or)
            if any(each is not None and bool(each) == decides for each in found):
                return decides
            return None if None in found else not decides
        case ast.UnaryOp(op=op, operand=operand):
            return _applied(OPERATORS[type(op)], _value(operand, names, text))
        case ast.BinOp(left=left, op=op, right=right):
            return _applied(OPERATORS[type(op)], _value(left, names, text), _value(right, names, text))
        case ast.Call(func=function, args=given):
            return _applied(FUNCTIONS[function.id], *(_value(each, names, text) for each in given))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_value(each, names, text) for each in (left, *others)]
            found = [_applied(OPERATORS[type(op)], *pair) for op, pair in zip(ops, zip(values, values[1:]))]
            return False if False in found else None if None in found else True


def _applied(function, *given):
    if None in given:
        return None
    try:
        return function(*given)
    except (ZeroDivisionError, OverflowError):
        return None


def _named(owner, name, text):
    """The value of a name, as Python has it; None where it is missing."""
    if not isinstance(owner, dict):
        raise UserError(f"expression {text!r}: there is no {name!r} in a number")
    if name not in owner:
        if not owner or any(isinstance(each, dict) for each in owner.values()):
            return None
        raise UserError(f"expression {text!r}: no {name!r} there; there are: {', '.join(map(str, owner))}")
    found = owner[name]
    found = found.item() if hasattr(found, "item") else found
    return None if isinstance(found, float) and math.isnan(found) else found
