"""What ran: the project's definitions behind a result, each with a hash of what it says.

While a unit computes, a profile hook collects the project's code objects that run. Each counts as its
outermost function or method; a method brings the fields and bases of its class. What the code names without
calling it counts too, by syntax: constants, default values, and cached functions, with what these name in
turn. So a new architecture, a new recipe or another text on a page touches nothing, and a changed constant
touches exactly what ran with it.

A definition is named `notebooks/ren/x.py:measure`, `shared/models/he.py:Block.forward`, `shared/x.py:LIMIT`.

A room of instruments declares `VERSION = 2`, in its file or in the `__init__` of its package. Whatever ran
there counts as one entry, such as `borderline: version 2`. The number rises when *what* the room computes
changes; it stays when code is renamed, moved, split or made faster, held by golden tests (`tests/golden`).
"""
import ast
import builtins
import hashlib
import linecache
import re
import sys
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from shared import ROOT, runtime

CODE = ("shared/", "notebooks/")
# How data are got, how units and nets are kept: what comes out of them is identified by its content.
UNCOUNTED = ("shared/data/", "shared/units/", "shared/training/zoo.py", "shared/pages/", "shared/__init__.py")
PAGES = ROOT / "shared" / "pages"
KEEPS = "once.kept"  # a decorator that changes when a function is called, not what it gives
CACHES = ("lru_cache", "cache", "cached_property")
CELL = re.compile(r"[/\\]ipykernel_\d+[/\\][^/\\]+\.py$")  # the file that a kernel names for a cell
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
STARTED = time.time()  # of this process, nearly: the package is imported first


# ---- what a piece of code says ---------------------------------------------------------------------------
def _without_docstring(node):
    return node.body[ast.get_docstring(node, clean=False) is not None:]


def _tell(node, told):
    """Feed a syntax tree to a hash: names and non-empty fields, so that all Python versions agree on it."""
    if isinstance(node, ast.AST):
        told(f"({type(node).__name__}")
        for name, value in ast.iter_fields(node):
            if name == "body" and isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                value = _without_docstring(node)
            if name == "decorator_list":
                value = [each for each in value if ast.unparse(getattr(each, "func", each)) != KEEPS]
            if value is None or value == [] or isinstance(value, ast.expr_context):
                continue
            told(f" {name}=")
            _tell(value, told)
        told(")")
    elif isinstance(node, list):
        for each in node:
            _tell(each, told)
    else:
        told(f"{type(node).__name__}:{node!r}")


def digest(*nodes):
    """A short hash of what syntax trees say: comments, docstrings and the Python version do not count."""
    hasher = hashlib.sha256()
    for node in nodes:
        _tell(node, lambda text: hasher.update(text.encode()))
    return hasher.hexdigest()[:12]


def _is_cached(node):
    names = [ast.unparse(getattr(each, "func", each)) for each in getattr(node, "decorator_list", ())]
    return any(name.split(".")[-1] in CACHES for name in names)


# ---- one file --------------------------------------------------------------------------------------------
class Source:
    """The definitions of one Python file by name, and where its imported names come from."""

    def __init__(self, text):
        self.nodes, self.imports, self.spans = {}, {}, []
        self.hashes, self.reads = {}, {}  # of what was asked for before
        tree = ast.parse(text)
        for node in ast.walk(tree):  # also those inside functions
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
        for node in tree.body:
            self._enter(node)

    def _import(self, node):
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                self.imports[alias.asname or alias.name] = (node.module, alias.name)
            else:
                name = alias.asname or alias.name.split(".")[0]
                self.imports[name] = (alias.asname and alias.name, None)

    def _enter(self, node):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self.nodes[node.name] = [node]
            self._span(node, node.name)
            for each in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(each, FUNCTIONS):
                    name = f"{node.name}.{each.name}"  # a property and its setter share a name
                    self.nodes.setdefault(name, []).append(each)
                    self._span(each, name)
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For)):
            for each in ast.iter_child_nodes(node):
                if isinstance(each, ast.stmt):
                    self._enter(each)
        elif not isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
            for name in {n.id for n in names if isinstance(n.ctx, ast.Store)}:
                self.nodes.setdefault(name, []).append(node)
                self._span(node, name)

    def _span(self, node, name):
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        self.spans.append((first, node.end_lineno, name))

    def at(self, line):
        """Name of the innermost listed definition (method before class) that holds a line, or None."""
        holds = [(last - first, name) for first, last, name in self.spans if first <= line <= last]
        return min(holds)[1] if holds else None

    def head(self, name):
        """A class without its methods: decorators, bases, fields."""
        node, = self.nodes[name]
        fields = [each for each in _without_docstring(node) if not isinstance(each, FUNCTIONS)]
        return [*node.decorator_list, *node.bases, *node.keywords, *fields]

    @property
    def version(self):
        """The number that the file declares as `VERSION`, or None."""
        return self.nodes["VERSION"][0].value.value if "VERSION" in self.nodes else None

    def hash(self, name):
        """Hash of a definition, None if there is none of that name. A class counts without its methods."""
        if name not in self.nodes:
            return None
        if name not in self.hashes:
            nodes = self.nodes[name]
            self.hashes[name] = digest(*(self.head(name) if isinstance(nodes[0], ast.ClassDef) else nodes))
        return self.hashes[name]

    def named(self, name, whole):
        """Dotted names that a definition reads from outside itself; of a class with or without methods."""
        if (name, whole) not in self.reads:
            self.reads[name, whole] = _named(self.nodes[name] if whole else self.head(name))
        return self.reads[name, whole]


@cache
def _parsed(path, _mtime):
    return Source(path.read_text())


def source(path):
    """The `Source` of a file; read again when it has changed."""
    return _parsed(path, path.stat().st_mtime_ns)


def room_of(path):
    """Name of the room with a version that a file belongs to (`borderline`, `models/inference`), or None."""
    whole = path.with_name("__init__.py"), path.parent
    for file, room in (whole,) if path == whole[0] else ((path, path.with_suffix("")), whole):
        if file.is_file() and source(file).version is not None:
            return str(room.relative_to(ROOT / "shared"))
    return None


def current(entry):
    """What an entry says at present: the hash of a definition such as `shared/models/he.py:mnist`, or the
    version of a room such as `borderline`; None if it is gone.
    """
    file, _, name = entry.partition(":")
    if not name:
        path = module_file(f"shared.{file.replace('/', '.')}")
        number = source(path).version if path else None
        return None if number is None else f"version {number}"
    path = ROOT / file
    return source(path).hash(name) if path.is_file() else None


# ---- what a definition names -----------------------------------------------------------------------------
def _named(nodes):
    """Dotted names that code reads from outside itself: `LIMIT`, `ball.TABLE`."""
    loaded, bound, inner = set(), set(), set()
    for node in (each for top in nodes for each in ast.walk(top)):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            chain, each = [node.attr], node.value
            while isinstance(each, ast.Attribute):
                inner.add(id(each))
                chain.append(each.attr)
                each = each.value
            if isinstance(each, ast.Name):
                loaded.add(".".join([each.id, *reversed(chain)]))
        elif isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node not in nodes:
            bound.add(node.name)  # defined inside
    return {name for name in loaded if name.split(".")[0] not in bound}


def module_file(module):
    base = ROOT.joinpath(*module.split("."))
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


def _resolve(path, dotted):
    """`(file, name)` of the project's definition behind a dotted name used in the file `path`, or None."""
    first, *rest = dotted.split(".")
    here = source(path)
    if first in here.nodes:
        return path, first
    if first not in here.imports:
        return None
    module, name = here.imports[first]
    if module is None or not module.startswith("shared"):  # `import shared.x`: the chain has the rest
        if first != "shared":
            return None
        module, name = "shared", None
    names = ([name] if name else []) + rest
    while names and (deeper := module_file(f"{module}.{names[0]}")):
        module, names = f"{module}.{names[0]}", names[1:]
        if deeper.name != "__init__.py" and not names:
            return None  # a module, not a definition
    file = module_file(module)
    return _resolve(file, names[0]) if file and names else None


def _named_in_turn(path, name, deep, found):
    """Collect what the definition `name` of file `path` names: constants, classes, cached functions.

    deep  plain functions too: what ran when the module was imported or a cache was filled left no event
    """
    here = source(path)
    if name not in here.nodes:
        return
    nodes = here.nodes[name]
    whole = deep or not isinstance(nodes[0], ast.ClassDef)
    for dotted in here.named(name, whole):
        where = _resolve(path, dotted)
        if where is None or not _counts(where[0]) or where in found:
            continue
        node = source(where[0]).nodes[where[1]][0]
        constant = not isinstance(node, (*FUNCTIONS, ast.ClassDef))
        if isinstance(node, FUNCTIONS) and not (deep or _is_cached(node)):
            continue
        found.add(where)
        if deep and isinstance(node, ast.ClassDef):
            methods = [m for m in source(where[0]).nodes if m.startswith(f"{where[1]}.")]
            found.update((where[0], m) for m in methods)
        _named_in_turn(*where, deep or constant or _is_cached(node), found)


def _counts(path):
    """Whether code in a file belongs to what a result is made of."""
    if not path.is_relative_to(ROOT):
        return False
    name = str(path.relative_to(ROOT))
    return name.startswith(CODE) and not name.startswith(UNCOUNTED)


# ---- what ran --------------------------------------------------------------------------------------------
class Recorder:
    """Collects what runs inside `with recorder:`; `ran()` tells each definition with its hash.

    text_half  of the notebook whose cells may run, or None. A function that runs but is not what the text
               half says is told in `departed`: its results are not recorded.
    files      whose text was read when it was imported, and not from a cell
    seconds    that what an earlier unit has kept took there
    """

    def __init__(self, text_half=None):
        self.text_half, self.seen, self.earlier, self.departed = text_half, {}, {}, set()
        self.files, self.in_cells, self.seconds = set(), False, 0.0

    def __enter__(self):
        seen = self.seen

        def hook(frame, event, arg):
            if event == "call":
                code = frame.f_code
                if id(code) not in seen:
                    seen[id(code)] = code

        self.outer = sys.getprofile()
        sys.setprofile(hook)
        return self

    def __exit__(self, *exception):
        sys.setprofile(self.outer)

    def _where(self, code):
        """`(file, name)` of a code object that counts, or None."""
        if not code.co_flags & 1:  # CO_OPTIMIZED: the body of a module or class is no call
            return None
        path = Path(code.co_filename).absolute() if not code.co_filename.startswith("<") else None
        if path and path.is_relative_to(PAGES):
            name = f"{path.relative_to(ROOT)}:{code.co_name}"
            raise runtime.UserError(f"a unit function calls {name}: what shared/pages does leaves no trace "
                                    "in a unit; move what computes into an instrument or the notebook")
        if path and _counts(path) and path.is_file():
            name = source(path).at(code.co_firstlineno)
            return (path, name) if name else None
        if self.text_half is None or not CELL.search(code.co_filename):
            return None
        cell = _of_a_cell("".join(linecache.getlines(code.co_filename)))
        name = cell.at(code.co_firstlineno)
        if name is None:
            return None
        if source(self.text_half).hash(name) != cell.hash(name):
            self.departed.add(name)
            return None
        self.in_cells = True
        return self.text_half, name

    def ran(self):
        """`{definition: hash}` of what has run so far and what that names; of rooms their version.

        Raises UserError where something of `shared/pages` ran.
        """
        found = set()
        for code in list(self.seen.values()):
            if (where := self._where(code)) is not None:
                found.add(where)
                if "." in where[1]:
                    found.add((where[0], where[1].split(".")[0]))
        for where in list(found):
            _named_in_turn(*where, False, found)
        self.files = {path for path, _ in found if not (self.in_cells and path == self.text_half)}
        told = {}
        for path, name in found:
            entry = room_of(path) or f"{path.relative_to(ROOT)}:{name}"
            told[entry] = current(entry)
        return dict(sorted((told | self.earlier).items()))  # what was taken may be by earlier code

    def resume(self, ran):
        """Go on from a checkpoint that knows what ran before it; False if that code has changed since."""
        if changed(ran):
            return False
        self.earlier |= ran
        return True


@cache
def _of_a_cell(text):
    return Source(text)  # what IPython has made of magics and shell lines is Python


def edited(recorder):
    """Files whose code ran, as a `Recorder` tells, that were written since this process began.

    What ran may not be what they say now.
    """
    return sorted(str(f.relative_to(ROOT)) for f in recorder.files
                  if f.is_file() and f.stat().st_mtime > STARTED)


def changed(code):
    """Entries of what ran that say something else now, or are gone."""
    return [name for name, known in code.items() if current(name) != known]


@contextmanager
def unrecorded():
    """What runs inside the block is identified by its content (a net by its weights), not by its code."""
    outer = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(outer)


# ---- what a unit function may read -----------------------------------------------------------------------
def check_function(function, text_half):
    """Refuse a unit function that reads a variable of its notebook other than a literal constant.

    Such a variable could differ from run to run without leaving a trace in the unit.
    """
    name = getattr(function, "__name__", "<lambda>")
    if not hasattr(function, "__code__") or name == "<lambda>":
        raise runtime.UserError(f"unit function {function!r}: a function made by `def` is needed, so that "
                                "the unit can tell what ran")
    here = source(text_half)
    in_shared = Path(function.__code__.co_filename).absolute().is_relative_to(ROOT / "shared")
    if in_shared or name not in here.nodes:
        return
    queue, seen = [name], set()
    while queue:
        each = queue.pop()
        seen.add(each)
        for dotted in _named(here.nodes[each]):
            first = dotted.split(".")[0]
            known = first in here.nodes
            if first in seen or first in here.imports or (not known and hasattr(builtins, first)):
                continue
            node = here.nodes.get(first, [None])[0]
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                queue.append(first)
            elif node is None or not (first.isupper() and _is_literal(node)):
                raise runtime.UserError(f"unit function {name!r} reads the variable {first!r}; pass it as an "
                                        "argument, or make it a constant: a capital name bound to a literal")


def _is_literal(node):
    try:
        ast.literal_eval(node.value)
    except (ValueError, AttributeError):
        return False
    return True
