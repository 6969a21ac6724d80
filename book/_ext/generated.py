"""Pages made from the results: a block ```{generated} NAME argument``` becomes what `NAME(argument)` returns.

Each function returns MyST text; the pages around it keep the prose. Text inside a block is the function's
second argument, such as the caption of a picture.
"""
import hashlib
import importlib
import inspect
import re
import sys
from functools import cache
from pathlib import Path

import counts
import findings
import scoreboard
import speed
from places import link, place, stamps, titled

from report import parameters as declared
from report import pieces
from report.display import folded, markdown_table
from workflow import catalogue

# Where the functions of blocks are looked for.
MODULES = counts, scoreboard, findings, speed, sys.modules[__name__]
NAME = re.compile(r"(?:[\w]+ = )?([\w.]+)")   # of what an example calls
BLOCK = re.compile(r"```\{generated\} (\w+) ?(.*)\n((?:(?!```).*\n)*)```")


# ---- execution and parameters ----------------------------------------------------------------------------
def execution(_):
    """What ran for these pages, the recorded runs of each notebook, and what the records rest on."""
    facts = stamps()
    ran = [[link(titled(n), n), s["profile"], s["when"], device(s["device"]), f"{s['wall_seconds']:.0f} s",
            f"{s['peak_gb']:.1f} GB", ", ".join(f"{k} → {v}" for k, v in s["substitutes"].items()) or "none",
            s["revision"]] for n, s in facts.items()]
    versions = next(({"Python": s["python"], **s["versions"]} for s in facts.values()), {})
    computed = [[link(titled(n), n), e["set"], f"{e['recorded']:,} of {e['published']:,}",
                 duration(e["seconds"]) if e["recorded"] else "", str(len(e["outdated"]))]
                for n, s in facts.items() for e in s["state"] if e["published"]]
    kept = []
    for item, record, *_ in counts.everything():
        if record:
            source = record.get("provenance", {})
            kept.append([place(item, item.title), pieces.measured_so_far(record) or "all",
                         ", ".join(map(device, source.get("devices", []))) or "computed at each build",
                         ", ".join(source.get("revisions", []))])
    header = ["notebook", "profile", "when", "device", "time", "peak memory", "embedded data", "revision"]
    return "\n\n".join([
        wide(header, ran),
        f"Versions: {', '.join(f'{k} {v}' for k, v in versions.items())}.",
        "## Runs at full scale",
        markdown_table(["notebook", "experiment", "recorded", "computed in", "out of date"], computed),
        "## Records",
        wide(["item", "measured so far", "device", "revisions of its runs"], kept)])


def wide(header, rows):
    """A table whose columns keep their room on a phone."""
    return f":::{{div}} runs\n{markdown_table(header, rows)}\n:::"


def parameters(_):
    """The parameters of every notebook, a fold each."""
    parts = []
    for name in catalogue.notebooks():
        rows = [[f"`{p['parameter']}`", p["type"], p["default"], p["meaning"], p["allowed"]]
                for p in declared.rows(declared.script_of(name))]
        table = markdown_table(["parameter", "type", "default", "meaning", "allowed"], rows)
        parts.append(folded(titled(name), f"{link(f'notebooks/{name}.ipynb', name)}\n\n{table}"))
    return "\n\n".join(parts)


def device(name):
    """A device as a person writes it."""
    return "CPU" if name == "cpu" else name


def duration(seconds):
    """Seconds as a person says them."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:,.0f} min"


# ---- API -------------------------------------------------------------------------------------------------
def names(base, text):
    """Public names of `shared`: each line of `text` is an example, whose name is looked up in `base`."""
    parts = []
    for example in text.splitlines():
        name = f"{base}.{NAME.match(example)[1]}"
        parts.append(f"`{example}`\n: {first_sentence(resolved(name))} In `{name.rpartition('.')[0]}`.")
    return "\n\n".join(parts)


def resolved(name):
    """What a dotted name of the package stands for."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def first_sentence(thing):
    """The first sentence of a docstring, on one line, with a full stop."""
    paragraph = " ".join(inspect.getdoc(thing).split("\n\n")[0].split())
    sentence = re.split(r"(?<=[.?])\s+(?=[A-Z`])", paragraph)[0]
    return sentence if sentence.endswith(".") else f"{sentence}."


# ---- Sphinx ----------------------------------------------------------------------------------------------
@cache
def block(name, argument, text):
    """What stands in the place of a block; the same all through a build."""
    function = next(vars(m)[name] for m in MODULES if name in vars(m))
    return function(argument, text) if text else function(argument)


def filled(text):
    """A page's source with the results in the place of its blocks."""
    return BLOCK.sub(lambda match: block(*match.groups()), text)


def digests(env):
    """`{page: digest of its filled source}` of the pages with blocks as they were read, kept by Sphinx."""
    return vars(env).setdefault("boundary_blocks", {})


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def replace(app, docname, source):
    """Put the results in the place of the blocks."""
    if BLOCK.search(source[0]):
        source[0] = filled(source[0])
        digests(app.env)[docname] = digest(source[0])


def outdated(app, env, added, changed, removed):
    """The pages whose blocks come out otherwise: records, runs and docstrings may have changed."""
    def now(name):
        return digest(filled(Path(env.doc2path(name)).read_text(encoding="utf-8")))

    return [name for name, before in digests(env).items() if name in env.found_docs and now(name) != before]


def setup(app):
    app.connect("source-read", replace)
    app.connect("env-get-outdated", outdated)
    return {"env_version": 1, "parallel_read_safe": False, "parallel_write_safe": True}
