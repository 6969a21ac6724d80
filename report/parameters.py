"""What a notebook may be given: declared in its cell tagged `parameters`, read and checked by one rule.

    images: int = None  # test images to start from; None takes the profile's value [1..]
    threshold: float = 0.99  # stop when the SSIM of the pair is above this (0..1]
    dataset: str = "mnist"  # what the nets learn {mnist, fashion_mnist, digits, *.npz}

What ends the help is what is allowed: an interval, each end closed `[ ]`, open `( )` or absent, or a set of
values, in which * is any text. In a list it holds for every element. A parameter whose default is
None is optional: it takes None (also empty text), the profile's value. papermill reads the same lines, by a
pattern that knows no `int | None`. The four parameters that every notebook has are ruled here.
"""
import ast
import contextlib
import difflib
import fnmatch
import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, FiniteFloat, TypeAdapter, ValidationError

from report import git
from report.repository import ROOT
from shared import runtime
from shared.runtime import UserError

TYPES = {"int": "a whole number", "float": "a number", "str": "text", "list": "a list of numbers or names"}
NUMBER = r"-?[\d.]+(?:e-?\d+)?"
INTERVAL = re.compile(rf"\s*([\[(])({NUMBER})?\.\.({NUMBER})?([\])])\s*$")
CHOICES = re.compile(r"\s*\{([^{}]+)\}\s*$")
BOUNDS = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}    # pydantic's, and in words


def _number(value):
    """The number that papermill takes a text for, 10 for 010; a text that is none as it is."""
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers")
    for kind in (int, float):
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                value = kind(value)
    return value


KINDS = {"int": Annotated[int, Field(gt=-2**63, lt=2**63), BeforeValidator(_number)],
         "float": Annotated[FiniteFloat, BeforeValidator(_number)], "str": str}


# ---- one parameter ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Parameter:
    """Name, type, default and meaning of one parameter, and what it may be."""
    name: str
    type: str                               # one of TYPES
    default: object
    help: str = ""
    optional: bool = False                  # None is allowed: the profile's value
    interval: dict = field(default_factory=dict)    # {one of BOUNDS: number}
    choices: tuple = ()

    @property
    def allowed(self):
        """What it may be, in words."""
        ends = "".join(f" {BOUNDS[end]} {value:g}" for end, value in self.interval.items())
        words = TYPES[self.type] + (", each" if ends and self.type == "list" else "") + ends
        words = ", ".join(map(str, self.choices)) or words
        return words + ("; or null for the profile's value" if self.optional else "")

    @property
    def element(self):
        """The type of its value, or of the elements of its list: that of the default's."""
        if self.type != "list":
            return self.type
        held = {type(value) for value in self.default or ()}
        return held.pop().__name__ if held in ({str}, {int}) else "float"

    @cached_property
    def _adapter(self):
        kind = Annotated[KINDS[self.element], Field(**self.interval), AfterValidator(self._chosen)]
        return TypeAdapter(list[kind] if self.type == "list" else kind)

    def _chosen(self, value):
        if self.choices and not any(fnmatch.fnmatchcase(str(value), str(c)) for c in self.choices):
            raise ValueError("no choice")
        return value

    def check(self, value):
        """`value` in the parameter's type; raises UserError in one line."""
        if self.optional and value in (None, ""):
            return None
        try:
            return self._adapter.validate_python(value)
        except ValidationError:
            number = self.type in ("int", "float") and isinstance(value, str)
            value = _number(value) if number else value
            near = difflib.get_close_matches(str(value), map(str, self.choices), 1)
            shown = " ".join(repr(value).split())
            shown = shown if len(shown) <= 80 else shown[:77] + "..."
            raise UserError(f"parameter {self.name!r} cannot be {shown}; allowed: {self.allowed}"
                            f"{f'; did you mean {near[0]!r}?' if near else ''}") from None

    def read(self, text):
        """The value that `text` of a command line stands for.

        A list is YAML, but for its numbers: to YAML 1.1, 010 is 8 and 12:30 is 750.
        """
        if self.optional and text in ("null", "None", "~"):
            return None
        if self.type == "list":
            with contextlib.suppress(yaml.YAMLError):
                return self.check(yaml.load(text, yaml.BaseLoader))
        return self.check(text)


RULES = {"profile": {"choices": runtime.PROFILES}, "device": {"choices": runtime.DEVICES},
         "runs": {"choices": ("missing", "none")}, "seed": {"interval": {"ge": 0}}}


# ---- declared --------------------------------------------------------------------------------------------
def script_of(name):
    """The `.py` of notebook `name`, such as `ren/iii_borderline`."""
    return ROOT / "notebooks" / f"{name}.py"


def _cell(path, text=None):
    """The source of the cell tagged `parameters` of a script or an `.ipynb`, or of its `text`."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8") if text is None else text
        if path.suffix == ".ipynb":
            cells = ["".join(c["source"]) for c in json.loads(text)["cells"]
                     if "parameters" in c.get("metadata", {}).get("tags", ())]
        else:
            cells = [cell for head, _, cell in (c.partition("\n") for c in text.split("\n# %%")[1:])
                     if '"parameters"' in head]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: no notebook that can be read ({error}); name one of notebooks/") from None
    if len(cells) != 1:
        raise UserError(f"{path}: {len(cells)} cells tagged parameters; a notebook has exactly one")
    return cells[0]


def defaults(path):
    """`{name: default}` of a script as committed; one that a reader edits is saved in the file itself."""
    known = declared(path, git.committed(path))
    return {name: parameter.default for name, parameter in known.items()}


def declared(path, text=None):
    """`{name: Parameter}` of a notebook, in the order of its cell; `path` is its script or its `.ipynb`.

    text   what the file is taken to hold; None reads it
    Raises UserError naming the file and the line that does not follow the form.
    """
    source, known = _cell(path, text), {}
    lines = source.splitlines()
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise UserError(f"{path}: the parameters cell is not Python ({error})") from None
    for node in body:
        line = lines[node.end_lineno - 1]
        try:
            known[node.target.id] = _declaration(node, line.encode()[node.end_col_offset:].decode())
        except (AttributeError, ValueError, KeyError):
            raise UserError(f"{path}: write each parameter as `name: type = default  # help [low..high]`, "
                            f"not `{line.strip()}`; types: {', '.join(TYPES)}") from None
    for parameter in known.values():
        parameter.check(parameter.default)
    return known


def _declaration(node, comment):
    kind = ast.unparse(node.annotation)
    default, text = ast.literal_eval(node.value), comment.strip().removeprefix("#").strip()
    rules = RULES.get(node.target.id, {})
    if kind not in TYPES:
        raise KeyError(kind)
    if interval := INTERVAL.search(text):
        text = text[:interval.start()]
        ends = {"gt" if interval[1] == "(" else "ge": interval[2],
                "lt" if interval[4] == ")" else "le": interval[3]}
        rules = {"interval": {end: float(value) for end, value in ends.items() if value is not None}}
    elif choices := CHOICES.search(text):
        text = text[:choices.start()]
        values = [c.strip() for c in choices[1].split(",")]
        rules = {"choices": tuple(values)}
    return Parameter(node.target.id, kind, default, text, default is None, **rules)


def rows(path):
    """The parameters of a notebook for a page: dicts of parameter, type, default, meaning, allowed."""
    return [{"parameter": p.name, "type": p.type, "meaning": p.help, "allowed": p.allowed,
             "default": "the profile's" if p.default is None else json.dumps(p.default)}
            for p in declared(path).values()]


# ---- given -----------------------------------------------------------------------------------------------
def unknown(name, known):
    """The UserError for a name that is not declared."""
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return UserError(f"unknown parameter {name!r}{hint} This notebook takes: {', '.join(known)}")


def from_command_line(known, words):
    """Checked values of `-p NAME VALUE ...`, as papermill takes them."""
    given = {}
    for i in range(0, len(words), 3):
        if words[i] != "-p" or len(words) < i + 3:
            raise UserError("usage: python notebooks/<paper>/<notebook>.py [-p NAME VALUE] ...; "
                            f"this notebook takes: {', '.join(known)}")
        name, text = words[i + 1:i + 3]
        if name not in known:
            raise unknown(name, known)
        given[name] = known[name].read(text)
    return given


def injected(cells):
    """Names that papermill set: those of the last cell of its form, among the texts a kernel has run.

    Its form is the comment `# Parameters`, then assignments of plain values to names and nothing else.
    """
    for text in reversed(cells):
        if text.lstrip().startswith("# Parameters"):
            try:
                body = ast.parse(text).body
            except SyntaxError:
                continue
            if all(isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) for n in body):
                return [n.targets[0].id for n in body]
    return []


def checked(known, namespace, words):
    """The checked parameters of a run, `{name: value}`, from a notebook's `globals()`, brought in step.

    As a script (`__file__` is there) they come from the command line's `words`, in a kernel from its
    cells; a name that papermill passed and nobody declared is found in the cell it injected.
    """
    if "__file__" in namespace:
        namespace.update(from_command_line(known, words))
    else:
        for name in injected(namespace.get("In", ())):
            if name not in known:
                raise unknown(name, known)
    if absent := [name for name in known if name not in namespace]:
        raise UserError(f"parameter {absent[0]!r} has no value; run the cell of parameters first")
    values = {name: parameter.check(namespace[name]) for name, parameter in known.items()}
    namespace.update(values)
    return values


def index(name, value, count, of):
    """`value` if it is one of `count` things, from 0; else UserError: ("digit", 99999, 500, "images")."""
    if not 0 <= value < count:
        raise UserError(f"parameter {name!r} cannot be {value}; allowed: 0 to {count - 1}, "
                        f"since there are {count:,} {of}")
    return value
