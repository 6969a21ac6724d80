"""What ran: edits in a scratch copy of the project, and which units they make stale."""
import ast
import json
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

from shared import ROOT, runtime
from shared.units import identity

# A paper of our own in the scratch copy: a model, an instrument, a notebook. The others stay as they are.
MODEL = '''
import torch
from torch import nn
from shared.models.registry import architecture


WIDTH = 4


class Net(nn.Module):
    slope = 2.0

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x) * self.slope


@architecture("toy-net")
def toy_net():
    return Net()


@architecture("toy-other")
def toy_other():
    return nn.Linear(4, 3)
'''
INSTRUMENT = '''
from dataclasses import dataclass
from functools import cache, partial

STEP = 0.5
TABLE = {"a": 1.0}
UNUSED = 3


@dataclass(frozen=True)
class Sign:
    size: float = 0.1

    def __call__(self, x):
        return x + self.step(x.sign())

    def step(self, direction):
        return self.size * direction


@cache
def kernel():
    return weight()


def weight():
    return 0.25


def shifted(x, step=STEP):
    return x + step


def scaled(x, factor):
    return x * factor


halved = partial(scaled, factor=0.5)


def tabled(x):
    return x * TABLE["a"]


def never_called(x):
    return x
'''
ROOM = '''
"""A room of instruments."""
from shared.models.toy import WIDTH

VERSION = 1
# 1  as first recorded


def doubled(x):
    return 2 * x + WIDTH
'''
NOTEBOOK = '''
# %% tags=["parameters"]
profile: str = "smoke"
seed: int = 0
device: str = "auto"
units: str = "missing"

# %%
import torch
from shared import gauge, toy
from shared.models import registry

LIMIT = 0.99


class Scale:
    by = 3.0

    def __call__(self, x):
        return x * self.by


def helper(x):
    """A docstring."""
    return x + 1


def plain(x):
    return {"v": helper(x)}


def default(x):
    return {"v": float(toy.shifted(x))}


def partly(x):
    return {"v": float(toy.halved(x))}


def table(x):
    return {"v": float(toy.tabled(x))}


def cached(x):
    return {"v": toy.kernel() * x}


def attack(x, attack):
    return {"v": attack(torch.tensor([1.0, -1.0])).tolist()}


def net(x, name):
    return {"v": registry.build(name)(torch.ones(1, 4)).shape[1]}


def own_class(x):
    return {"v": Scale()(x)}


def threshold(x):
    return {"v": x > LIMIT}


def room(x):
    return {"v": gauge.doubled(x)}
'''
# What is edited -> the units that must be stale then, and no others.
EDITS = [
    ("shared/models/toy.py", '@architecture("toy-other")',
     '@architecture("toy-new")\ndef toy_new():\n    return Net()\n\n\n@architecture("toy-other")', ""),
    ("shared/models/ren.py", "SMOKE = ", "FRESH = Recipe(epochs=2)\nSMOKE = ", ""),
    ("shared/training/fit.py", "def fit(net, x, y, recipe, *,", "def fit(net, x, y, recipe, *, new=None,",
     ""),
    ("shared/models/recipe.py", "    epochs: int ", "    more: int = 0\n    epochs: int ", ""),
    ("shared/runtime.py", "def generator(", "def another():\n    return 1\n\n\ndef generator(", ""),
    ("shared/data/archives.py", "SPECS = ", "ANOTHER_MIRROR = 1\nSPECS = ", ""),
    ("shared/gauge.py", "return 2 * x + WIDTH", "return x + x + WIDTH", ""),
    ("shared/gauge.py", "VERSION = 1", "VERSION = 2", "room"),
    ("shared/models/toy.py", "WIDTH = 4", "WIDTH = 5", "room"),
    ("shared/toy.py", "STEP = 0.5", "STEP = 0.5  # a comment", ""),
    ("shared/toy.py", "UNUSED = 3", "UNUSED = 4", ""),
    ("shared/toy.py", "def never_called(x):\n    return x", "def never_called(x):\n    return -x", ""),
    ("notebooks/toy/page.py", '"""A docstring."""', '"""Another."""', ""),
    ("shared/toy.py", "STEP = 0.5", "STEP = 0.6", "default"),
    ("shared/toy.py", "factor=0.5", "factor=0.6", "partly"),
    ("shared/toy.py", '{"a": 1.0}', '{"a": 1.5}', "table"),
    ("shared/toy.py", "return 0.25", "return 0.75", "cached"),
    ("shared/toy.py", "return self.size * direction", "return 2 * self.size * direction", "attack"),
    ("shared/toy.py", "size: float = 0.1", "size: float = 0.2", "attack"),
    ("shared/models/toy.py", "* self.slope", "+ self.slope", "net"),
    ("shared/models/toy.py", "slope = 2.0", "slope = 2.5", "net"),
    ("shared/models/toy.py", "def toy_net():\n    return Net()", "def toy_net():\n    return Net().eval()",
     "net"),
    ("shared/models/toy.py", "nn.Linear(4, 3)", "nn.Linear(4, 5)", "other"),
    ("notebooks/toy/page.py", "by = 3.0", "by = 4.0", "own_class"),
    ("notebooks/toy/page.py", "LIMIT = 0.99", "LIMIT = 0.9", "threshold"),
    ("notebooks/toy/page.py", "return x + 1", "return x + 2", "plain"),
]
PROGRAM = '''
import importlib.util, json, sys
from pathlib import Path
from shared import ROOT, toy
from shared.units import identity, run

text_half = ROOT / "notebooks/toy/page.py"
spec = importlib.util.spec_from_file_location("page", text_half)
page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page)
made = {}
for name, arguments in {"plain": {}, "default": {}, "partly": {}, "table": {}, "cached": {},
                        "attack": {"attack": toy.Sign()}, "net": {"name": "toy-net"},
                        "other": {"name": "toy-other"}, "own_class": {}, "threshold": {}, "room": {}}.items():
    function = getattr(page, "net" if name == "other" else name)
    plan = {name: {"x": 1.0, **arguments}}
    for again in range(2):  # a cache hit raises no event
        sets = run.gather("toy/page", f"{name}{again}", function, wanted=plan, published=plan, parts=(),
                          which="missing", record=True, text_half=text_half)
    made[name] = sets.recorded[name].code
stale = []
for file, old, new, _ in json.loads(sys.argv[1]):
    path = ROOT / file
    before = path.read_text()
    assert before.count(old) >= 1, (file, old)
    path.write_text(before.replace(old, new, 1))
    stale.append(sorted(n for n, code in made.items() if identity.changed(code)))
    path.write_text(before)
print(json.dumps(stale))
'''


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A copy of the package with one more paper: three new files."""
    home = tmp_path_factory.mktemp("scratch")
    shutil.copytree(ROOT / "shared", home / "shared", ignore=shutil.ignore_patterns("__pycache__"))
    (home / "notebooks/toy").mkdir(parents=True)
    for file, text in {"shared/models/toy.py": MODEL, "shared/toy.py": INSTRUMENT, "shared/gauge.py": ROOM,
                       "notebooks/toy/page.py": NOTEBOOK}.items():
        (home / file).write_text(textwrap.dedent(text))
    return home


def test_edits_make_stale_exactly_the_units_that_ran_them(scratch):
    env = {**os.environ, "PYTHONPATH": str(scratch), "BOUNDARY_RESULTS": str(scratch / "results"),
           "BOUNDARY_CACHE": str(scratch / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    told = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(EDITS)], cwd=scratch, env=env,
                          capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout.splitlines()[-1])
    wrong = [(file, old, new, stale) for (file, old, new, expected), stale in zip(EDITS, found)
             if stale != ([expected] if expected else [])]
    assert not wrong


# ---- the hash ---------------------------------------------------------------------------------------------
# Literal hashes: every Python version must agree on them, or work done on another machine arrives stale.
KNOWN = {
    "def f(a, b=1, *, c: int = 2) -> int:\n    '''Doc.'''\n    return a + b * c\n": "f7946c1c2877",
    "x = f'{a!r:>{w}} and {b:.2f}'\n": "b9c3ff5423b4",
    "@cache\nclass A(B, metaclass=C):\n    y: int = 3\n    def g(self): return [i for i in self if "
    "i]\n": "b774fd4b1530",
    "match v:\n    case {'a': [1, *rest]} if rest: pass\n    case _: x = lambda q, /: "
    "(yield)\n": "a43b0e9713fc",
    "try:\n    with a as b, c: raise D from e\nexcept* E as g:\n    del g\n": "3213be21262c",
}


def test_the_hash_says_what_code_says_and_nothing_else():
    assert identity.digest(ast.parse("x = 1  # why")) == identity.digest(ast.parse("x=1"))
    with_doc, without = "def f():\n    'doc'\n    return 1", "def f():\n    return 1"
    assert identity.digest(ast.parse(with_doc)) == identity.digest(ast.parse(without))
    texts = ["x = 1", "x = 1.0", "x = '1'", "x = True", "y = 1", "x += 1", "x: int = 1", "x = -1"]
    assert len({identity.digest(ast.parse(t)) for t in texts}) == len(texts)


@pytest.mark.parametrize("text", KNOWN)
def test_every_python_version_agrees_on_the_hash(text):
    assert identity.digest(ast.parse(text)) == KNOWN[text]


def test_a_unit_function_that_calls_into_pages_is_refused():
    from shared.pages import display
    recorder = identity.Recorder()
    with recorder:
        display.sentence("One")
    with pytest.raises(runtime.UserError, match="shared/pages/display.py:sentence.*leaves no trace"):
        recorder.ran()


def test_a_file_written_since_the_process_began_is_told_unless_cells_ran(tmp_path, monkeypatch):
    half = runtime.ROOT / "notebooks/sutton/7_2_3_gtsrb.py"
    recorder = identity.Recorder(half)
    recorder.files = {half}
    assert identity.edited(recorder) == []
    monkeypatch.setattr(identity, "STARTED", 0)
    assert identity.edited(recorder) == ["notebooks/sutton/7_2_3_gtsrb.py"]


# ---- what a unit function may read ------------------------------------------------------------------------
@pytest.mark.parametrize("line, said", [("x = 3\ndef f():\n    return x", "reads the variable 'x'"),
                                        ("X = make()\ndef f():\n    return X", "reads the variable 'X'"),
                                        ("def g():\n    return seed\ndef f():\n    return g()", "'seed'")])
def test_a_unit_function_that_reads_a_variable_is_refused(tmp_path, line, said):
    half = tmp_path / "page.py"
    half.write_text(line)
    names = {"make": lambda: 1}
    exec(compile(line, str(half), "exec"), names)
    with pytest.raises(runtime.UserError, match=said):
        identity.check_function(names["f"], half)


def test_literal_constants_imports_and_inner_functions_may_be_read(tmp_path):
    half = tmp_path / "page.py"
    half.write_text("import math\nLIMIT = (1, {'a': 2})\ndef f():\n    from os import path\n    def "
                    "inner(x):\n"
                    "        return x\n    return inner(len(LIMIT) + math.pi), path")
    names = {}
    exec(compile(half.read_text(), str(half), "exec"), names)
    identity.check_function(names["f"], half)
    with pytest.raises(runtime.UserError, match="made by `def`"):
        identity.check_function(lambda: 1, half)
