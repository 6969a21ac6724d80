"""The formulas of the theorems on the pages: the same as those that are computed, whatever the parameters."""
import functools
import inspect
import re
from dataclasses import replace

import jupytext
import numpy as np
import pytest
from scipy.special import ndtr

from papers.sutton.theory import formulas
from papers.sutton.theory.ball import log_tail, tail
from papers.sutton.theory.statements import STATEMENTS, verify
from report import reference
from report.repository import ROOT
from workflow import catalogue

NAMES = {r"\epsilon": "epsilon", r"\delta": "delta", r"\eta": "eta", r"\gamma": "gamma", "L": "lipschitz",
         "D": "depth", r"\alpha": "alpha", r"\tau": "tau", **{name: name for name in "nKrhtp"}}
FUNCTIONS = {r"\tail": lambda x, v: tail(v["n"], np.minimum(x, 1)), r"\Phi": lambda x, v: ndtr(x),
             "G": lambda x, v: 1 - np.exp(v["exceeds"](x, v)), r"\sqrt": lambda x, v: np.sqrt(x),
             r"\ln": lambda x, v: np.log(x)}
# What only places a formula: lines, spaces, sizes of brackets.
PLACING = r"\\(?:begin|end)\{aligned\}|\\(?:left|right|Big|qquad|quad)(?![a-z])|\\[\\, ]|&"
OPEN = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}


class Formula:
    """The right side of a statement's formula as it is printed, with what stands behind commas for its names.

    `Formula(text)(values)` is its value at parameters {name: array}, with laws and levels (see `ROOF`).
    """

    def __init__(self, text):
        plain = re.sub(PLACING, " ", text)
        for printed, token in ((r"|d_S(x)|", "D"), (r"\tau_n", r"\tail"), (r"\beta_p", r"\beta"),
                               (r"\varphi(\tau)", r"\varphi")):
            plain = plain.replace(printed, token)
        main, *others = re.split(r",(?:\\ |\s)*(?=(?:\\[a-z]+|z)\s*=)", plain)    # definitions
        self.main = re.split(r"\\[lg]e ", main, maxsplit=1)[-1]
        self.behind = {name.strip(): value for name, value in (other.split("=", 1) for other in others)}

    def __call__(self, values):
        return self._value(self.main, values)

    def _value(self, text, values):
        self.tokens = re.findall(r"\\[a-zA-Z]+|\\[{}]|\S", text)
        value = self._sum(values)
        assert not self.tokens, f"not understood: {self.tokens}"
        return value

    def _take(self, *allowed):
        if self.tokens and (not allowed or self.tokens[0] in allowed):
            return self.tokens.pop(0)
        return None

    def _group(self, values):
        """What a command takes: a braced part, or one token."""
        if self._take("{"):
            value = self._sum(values)
            assert self._take("}")
            return value
        return self._atom(values)

    def _sum(self, values):
        total = -self._product(values) if self._take("-") else self._product(values)
        while sign := self._take("+", "-"):
            total = total + self._product(values) if sign == "+" else total - self._product(values)
        return total

    def _product(self, values):
        value = self._power(values)
        while self.tokens and self.tokens[0] not in ("+", "-", *OPEN.values()):
            value = value / self._power(values) if self._take("/") else value * self._power(values)
        return value

    def _power(self, values):
        value = self._atom(values)
        while mark := self._take("^", "_"):
            if mark == "^":
                value = value ** self._group(values)
            else:
                assert self._take("+")
                value = np.maximum(value, 0)
        return value

    def _atom(self, values):
        token = self._take()
        if token in OPEN:
            value = self._sum(values)
            assert self._take(OPEN[token])
            return value
        if token.isdigit():
            return float(token)
        if token in (r"\frac", r"\tfrac"):
            return self._group(values) / self._group(values)
        if token in (r"\sup", r"\inf"):
            return self._best(token, values)
        if token == r"\Pr":
            return self._chance(values)
        if token in FUNCTIONS:
            return FUNCTIONS[token](self._group(values), values)
        if token in self.behind:
            rest, value = self.tokens, self._value(self.behind[token], values)
            self.tokens = rest
            return value
        return values[NAMES[token]]

    def _chance(self, values):
        """Pr(x.v >= height) or the like: the law of the height of a point."""
        assert self._take("(") and self._take("x", "z") and self._take(r"\cdot") and self._take("v")
        law = values["below" if self._take("<") else "above"]
        self._take(r"\ge", ">")
        height = self._sum(values)
        assert self._take(")")
        return np.exp(law(height, values))

    def _best(self, which, values):
        """sup or inf over the levels of a variable, of a bracket or of all that follows in the product."""
        assert self._take("_")
        token = self._take()
        if token == "{":
            token = self._take()
            while self._take() != "}":
                pass
        name = NAMES[token]
        inner = {k: v[..., None] if isinstance(v, np.ndarray) else v for k, v in values.items()}
        inner[name] = values["levels"][name](values)
        part = self._power if self.tokens[0] in OPEN else self._product
        return (np.max if which == r"\sup" else np.min)(part(inner), axis=-1)


# Uniform data in the unit ball under a roof of slope L, and the places that the theorems' functions try.
ROOF = {
    "exceeds": lambda a, v: np.where(v["lipschitz"] == 0, -np.inf, np.log(2) + log_tail(v["n"], np.divide(
        a, v["lipschitz"], out=np.full(np.broadcast_shapes(a.shape, v["lipschitz"].shape), np.inf),
        where=v["lipschitz"] > 0))),
    "above": lambda t, v: log_tail(v["n"], t + v["eta"]),
    "below": lambda t, v: log_tail(v["n"], -(t + v["eta"])),
    "levels": {
        "alpha": lambda v: v["lipschitz"][..., None] * np.linspace(0, 1, v["points"]),
        "tau": lambda v: v["delta"][..., None] * (
            1 - np.linspace(0, 1, 25) * (1 - v["lipschitz"][..., None])),
        "t": lambda v: -v["eta"][..., None] + v["gamma"][..., None] * np.linspace(-1, 1, 33),
        "p": lambda v: formulas._MASSES},
}


@functools.cache
def sections():
    """`{heading: Markdown}` of the pages on Sutton et al."""
    pages = [jupytext.read(ROOT / "notebooks" / f"{name}.py").cells for name in catalogue.notebooks()
             if name.startswith("sutton/")]
    texts = ["\n\n".join(c.source for c in cells if c.cell_type == "markdown") for cells in pages]
    return dict(match for text in texts for match in re.findall(r"(?ms)^##+ (.+?)\n(.*?)(?=^##+ |\Z)", text))


def section(item):
    label = reference.paper("sutton")[item].label
    text, = [text for heading, text in sections().items() if re.match(rf"{label}\b", heading)]
    return text


def printed_formula(item):
    """The first displayed formula of the section on a theorem."""
    return re.search(r"\$\$(.*?)\$\$", section(item), re.S)[1].strip()


@pytest.mark.parametrize("item", STATEMENTS)
def test_the_printed_formula_is_the_computed_one(item):
    statement, text = STATEMENTS[item], printed_formula(item)
    density = {"K": (1.0, 2.5)} if "K" in inspect.signature(statement.formula).parameters else {}
    table = verify(replace(statement, truth=None), statement.grid | density)
    points = 49 if item in ("theorem-14", "theorem-16") else 129
    log_bound = table.pop("log_bound")
    printed = Formula(text.split(";")[0])({**ROOF, "points": points, **table})
    computed = -np.expm1(log_bound) if statement.complement else np.exp(log_bound)
    if re.search(r"\\sup|\\inf", text):  # computed as a probability, whatever the sum says
        printed = np.clip(printed, 0, 1)
    assert len(computed) > 20 and np.ptp(computed) > 0.1
    np.testing.assert_allclose(printed, computed, rtol=1e-9, atol=1e-7)  # a root of rounding
    assert (r"\le" if not (statement.complement or statement.at_least) else r"\ge") in text


def test_the_printed_limit_of_theorem_20_is_the_computed_one():
    text = printed_formula("theorem-20").split(r"\infty:")[1]
    delta, p = np.array([0.3, 1.0, 10.0]), -np.expm1(-np.geomspace(1e-3, 12, 20_000))
    limit = Formula(text)({"delta": delta, "levels": {"p": lambda v: p}})
    np.testing.assert_allclose(limit, np.exp(formulas.theorem_20(200_000, delta)), rtol=1e-3)


WORDS = {">=": r"\ge", "<=": r"\le", "*": "", "lipschitz": "L", "depth": "|d_S(x)|",
         **{name: rf"\{name}" for name in ("epsilon", "delta", "eta", "gamma")}}


def bare(latex):
    """LaTeX without what only places it: lines, spaces, sizes of brackets."""
    return re.sub(rf"{PLACING}|\s", "", latex)


@pytest.mark.parametrize("item", STATEMENTS)
def test_the_text_states_the_conditions_of_each_theorem(item):
    text = section(item)
    for condition in STATEMENTS[item].needs:
        latex = re.sub("|".join(map(re.escape, WORDS)), lambda m: WORDS[m[0]], condition)
        assert bare(latex) in bare(text), latex
    assert "[derived]" in text
