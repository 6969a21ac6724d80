"""Formulas as trees: evaluated in logarithms, and changed on purpose.

Bounds fall below the smallest float, so a tree is evaluated as (logarithm of the size, sign). And a check of
a bound is worth as much as the wrong bounds it refuses: `mutants` makes them from the tree, every constant
halved and doubled, every exponent raised and lowered by 1/2, every term dropped.

    n, x = symbols("n x")
    cap = number(0.5) * (1 - x**2) ** (n / 2)
    cap.log({"n": 3072, "x": 0.1})          # -16.1...
    for description, other in mutants(cap): ...
"""
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp


@dataclass(frozen=True, eq=False)
class Expression:
    """A node over its `parts`, with a name where descriptions or values speak of it.

    One object used in two places is one quantity: it changes in both.
    """

    parts: tuple = ()
    name: str = ""

    def __add__(self, other):
        return Sum((self, number(other)))

    def __radd__(self, other):
        return Sum((number(other), self))

    def __sub__(self, other):
        return Sum((self, Product((Sign(), number(other)))))

    def __rsub__(self, other):
        return Sum((number(other), Product((Sign(), self))))

    def __mul__(self, other):
        return Product((self, number(other)))

    def __rmul__(self, other):
        return Product((number(other), self))

    def __truediv__(self, other):
        return Product((self, Inverse((number(other),))))

    def __rtruediv__(self, other):
        return Product((number(other), Inverse((self,))))

    def __pow__(self, exponent):
        return Power((self, number(exponent)))

    def __neg__(self):
        return Product((number(1.0), Sign(), self))

    def log(self, values):
        """Logarithm of the value where it is positive, else -inf; `values`: name -> number or array."""
        size, sign = self.evaluate(values)
        return np.where(sign > 0, size, -np.inf)

    def plain(self, values):
        """The value itself."""
        size, sign = self.evaluate(values)
        return sign * np.exp(size)


class Constant(Expression):
    """A number that belongs to the formula."""

    def __init__(self, value):
        super().__init__()
        object.__setattr__(self, "value", float(value))

    def evaluate(self, values):
        return _parts_of(self.value)

    def __str__(self):
        return f"{self.value:g}"


class Sign(Expression):
    """The factor -1 of a difference: no constant that a formula could have otherwise."""

    def evaluate(self, values):
        return 0.0, -1.0

    def __str__(self):
        return "-"


class Symbol(Expression):
    """A parameter, or the variable of a `Best`."""

    def evaluate(self, values):
        return _parts_of(values[self.name])

    def __str__(self):
        return self.name


class Sum(Expression):
    """Sum of the parts."""

    def evaluate(self, values):
        sizes, signs = zip(*(part.evaluate(values) for part in self.parts))
        shape = np.broadcast_shapes(*(np.shape(a) for a in (*sizes, *signs)))
        sizes, signs = (np.stack([np.broadcast_to(a, shape) for a in all_]) for all_ in (sizes, signs))
        with np.errstate(divide="ignore", invalid="ignore"):
            return logsumexp(sizes, axis=0, b=signs, return_sign=True)

    def __str__(self):
        return "(" + " + ".join(map(str, self.parts)).replace("+ -", "- ").replace("-·", "") + ")"


class Product(Expression):
    """Product of the parts."""

    def evaluate(self, values):
        size, sign = 0.0, 1.0
        for part in self.parts:
            log, s = part.evaluate(values)
            zero = np.isneginf(size) | np.isneginf(log)  # 0 times anything is 0
            with np.errstate(invalid="ignore"):
                size, sign = np.where(zero, -np.inf, size + log), sign * s
        return size, sign

    def __str__(self):
        return "·".join(map(str, self.parts)).replace("·1/", "/").replace("-·", "-").removeprefix("1·")


class Inverse(Expression):
    """One over the part."""

    def evaluate(self, values):
        size, sign = self.parts[0].evaluate(values)
        return -size, sign

    def __str__(self):
        part, = self.parts
        return f"1/({part})" if isinstance(part, Product) else f"1/{part}"


class Power(Expression):
    """parts[0] to the power parts[1]. A negative base counts as 0, except under an even whole exponent."""

    def evaluate(self, values):
        size, sign = self.parts[0].evaluate(values)
        exponent = self.parts[1].plain(values)
        even = isinstance(self.parts[1], Constant) and self.parts[1].value % 2 == 0
        with np.errstate(invalid="ignore"):
            raised = np.where(exponent == 0, 0.0, exponent * size)
        return np.where((sign < 0) & (not even), -np.inf, raised), np.ones(np.shape(raised))

    def __str__(self):
        compound = (Product, Inverse, Power)
        return "^".join(f"({part})" if isinstance(part, compound) else f"{part}" for part in self.parts)


class Named(Expression):
    """Its one part, under its name."""

    def evaluate(self, values):
        return self.parts[0].evaluate(values)

    def __str__(self):
        return self.name


class Either(Expression):
    """1 - (product of (1 - part)_+)^parts[0], without cancellation: one of several independent events."""

    def evaluate(self, values):
        exponent, *parts = self.parts
        logs = [np.minimum(part.log(values), 0.0) for part in parts]
        with np.errstate(divide="ignore", invalid="ignore"):
            all_hold = exponent.plain(values) * sum(np.log1p(-np.exp(log)) for log in logs)
            small = np.logaddexp.reduce(np.broadcast_arrays(*logs)) + exponent.evaluate(values)[0]
            # below 1e-200 the sum of the chances is the answer to every digit, above the exact form is
            return np.where(small < -460, small, np.log(-np.expm1(all_hold))), 1.0

    def __str__(self):
        exponent, *parts = self.parts
        power = "" if exponent.value == 1 else f"^{exponent}"
        return "1 - " + "·".join(f"(1 - {part})" for part in parts) + power


class Call(Expression):
    """A function of one argument, such as a law: `values[name](argument, values)` returns its logarithm."""

    def evaluate(self, values):
        return values[self.name](self.parts[0].plain(values), values), 1.0

    def __str__(self):
        return f"{self.name}({self.parts[0]})"


@dataclass(frozen=True, eq=False)
class Best(Expression):
    """Smallest or largest value of a probability over a variable, capped at 1.

    `values["levels"][variable](values)`, shape (..., m), lists the places that are tried: a bound holds for
    each of them, so any list gives a valid bound. Where values has "finer", that often more places follow
    between the neighbours of the best one, which is slower and comes nearer to the best bound.
    """

    variable: str = ""
    smallest: bool = True

    def evaluate(self, values):
        levels = values["levels"][self.variable](values)
        inner = {k: v[..., None] if isinstance(v, np.ndarray) else v for k, v in values.items()}
        best, place = (np.min, np.argmin) if self.smallest else (np.max, np.argmax)
        log = self.parts[0].log(inner | {self.variable: levels})
        found = [best(log, axis=-1)]
        for _ in range(values.get("finer", 0)):
            levels = _between(np.broadcast_to(levels, log.shape), place(log, axis=-1))
            log = self.parts[0].log(inner | {self.variable: levels})
            found.append(best(log, axis=-1))
        return np.minimum(best(found, axis=0), 0.0), 1.0

    def __str__(self):
        return f"{'inf' if self.smallest else 'sup'} over {self.variable} of {self.parts[0]}"


def _between(levels, at):
    """Nine places from the left neighbour of the place `at` to the right one, shape (..., 9)."""
    low, high = (np.take_along_axis(levels, np.clip(at + step, 0, levels.shape[-1] - 1)[..., None], -1)
                 for step in (-1, 1))
    return low + (high - low) * np.linspace(0, 1, 9)


def _parts_of(value):
    value = np.asarray(value, dtype=float)
    with np.errstate(divide="ignore"):
        return np.log(np.abs(value)), np.where(value < 0, -1.0, 1.0)


def number(value):
    """A constant, unless it is an expression already."""
    return value if isinstance(value, Expression) else Constant(value)


def named(name, tree):
    """A tree under a name."""
    return Named((tree,), name=name)


def symbols(names):
    """Symbols of several names, separated by blanks."""
    return tuple(Symbol(name=name) for name in names.split())


def nodes(tree):
    """Every object of a tree once, from the root down."""
    seen = {id(tree): tree}
    for part in tree.parts:
        seen.update({id(node): node for node in nodes(part)})
    return list(seen.values())


def names(tree):
    """Names of the symbols of a tree."""
    return {node.name for node in nodes(tree) if isinstance(node, Symbol)}


def _exchange(tree, old, new):
    """The tree with one of its objects replaced wherever it stands."""
    made = {}

    def copy(node):
        if node is old:
            return new
        if id(node) not in made:
            parts = tuple(copy(part) for part in node.parts)
            same = all(a is b for a, b in zip(parts, node.parts))
            made[id(node)] = node if same else replace(node, parts=parts)
        return made[id(node)]

    return copy(tree)


def _shifted(exponent, by):
    return Constant(exponent.value + by) if isinstance(exponent, Constant) else exponent + by


def _holder(tree, node):
    """The node of which another one is a part; the tree itself has none and is its own."""
    return next((n for n in nodes(tree) if any(p is node for p in n.parts)), tree)


def mutants(tree):
    """(description, changed tree) of every single change of a formula, described by the part that is changed.

    Constants that are exponents are shifted, not scaled; the exponent of a power of n is shifted as a whole.
    """
    made = []
    exponents = {id(node.parts[1]) for node in nodes(tree) if isinstance(node, Power)}
    exponents |= {id(node.parts[0]) for node in nodes(tree) if isinstance(node, Either)}
    for node in nodes(tree):
        if isinstance(node, Constant) and id(node) not in exponents:
            where = _holder(tree, node)
            where = _holder(tree, where) if isinstance(where, Inverse) else where  # "n/2" tells, "1/2" not
            made += [(f"{node} {word} in {where}", _exchange(tree, node, Constant(node.value * factor)))
                     for word, factor in (("halved", 0.5), ("doubled", 2.0))]
        elif isinstance(node, Power):
            base, exponent = node.parts
            made += [(f"exponent {exponent} {by:+g} in {node}",
                      _exchange(tree, node, replace(node, parts=(base, _shifted(exponent, by)))))
                     for by in (0.5, -0.5)]
        elif isinstance(node, Sum):
            made += [(f"{part} dropped from {node}", _exchange(tree, node, replace(
                node, parts=node.parts[:i] + node.parts[i + 1:]))) for i, part in enumerate(node.parts)]
        elif isinstance(node, Either):
            power, *parts = node.parts
            if power.value != 1:
                made += [(f"exponent {power} made {value:g} in {node}",
                          _exchange(tree, node, replace(node, parts=(Constant(value), *parts))))
                         for value in sorted({power.value + 0.5, power.value - 0.5, 1.0})]
            if len(parts) > 1:
                made += [(f"{part} dropped from {node}", _exchange(tree, node, replace(
                    node, parts=(power, *parts[:i], *parts[i + 1:])))) for i, part in enumerate(parts)]
    return made
