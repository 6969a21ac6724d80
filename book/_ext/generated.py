"""Pages made from the results: a block ```{generated} NAME argument``` becomes what `NAME(argument)` returns.

Each function returns MyST text; the pages around it keep the prose. Text inside a block is the function's
second argument, such as the caption of a picture.
"""
import importlib
import inspect
import re
import sys
from collections import Counter

import beside
import counts
import findings
import home
import scoreboard
import speed
from executed import ROOT, runs
from places import link, paged, place, stamps, status

from workflow import catalogue

# Where the functions of blocks are looked for.
MODULES = home, counts, scoreboard, findings, speed, sys.modules[__name__]
HEADER = ["item", "verdict", "recorded scale", "in short"]
NAME = re.compile(r"(?:[\w]+ = )?([\w.]+)")   # of what an example calls
BLOCK = re.compile(r"```\{generated\} (\w+) ?(.*)\n((?:[^`\n].*\n)*)```")


# ---- the items of a paper ---------------------------------------------------------------------------------
def item_row(item):
    """A line for an item of a paper: item, verdict, scale, reason."""
    from report import display, record, results
    kept = record.read(item.paper, item.id)
    return [place(item), display.badge(status(kept), item), results.scale_words(kept) if kept else "",
            kept["reason"] if kept else display.symbols(item.caption)]


def items(paper):
    """The items of a paper, those that the book does not count as results folded."""
    from report import display, reference
    groups = {True: [], False: []}
    for item in reference.paper(paper).items.values():
        groups[item.kind in reference.RESULT_KINDS].append(item_row(item))
    results, others = (f":::{{div}} item-list\n{table_of(HEADER, rows)}\n:::" for rows in groups.values())
    folded = display.folded(f"{scoreboard.OTHERS}: {len(groups[False])}", others)
    return f":::::{{div}} full-width\n{results}\n\n{folded}\n:::::"


def table_of(header, rows):
    """A table without the columns that are empty in every row."""
    from report.display import markdown_table
    kept = [n for n in range(len(header)) if any(row[n] for row in rows)]
    return markdown_table([header[n] for n in kept], [[row[n] for n in kept] for row in rows])


def claims(paper):
    """Every claim of a paper's items, with its recorded judgement."""
    from report import record, reference
    from report.display import MARK, symbols
    rows = []
    for item in reference.paper(paper).items.values():
        kept = record.read(paper, item.id)
        for n, claim in enumerate(item.claims):
            judged = kept["claims"][n] if kept else {"holds": "", "evidence": ""}
            rows.append([item.label, symbols(claim), MARK.get(judged["holds"], ""), judged["evidence"]])
    return table_of(["item", "claim", "holds", "evidence"], rows)


# ---- execution and parameters ----------------------------------------------------------------------------
def execution(_):
    from report import display, record, results
    facts = stamps()
    rows = [[paged(n), s["profile"], s["when"], device(s["device"]), f"{s['wall_seconds']:.0f} s",
             f"{s['peak_gb']:.1f} GB", ", ".join(f"{k} → {v}" for k, v in s["substitutes"].items()) or "none",
             s["revision"]] for n, s in facts.items()]
    header = ["notebook", "profile", "when", "device", "time", "peak memory", "embedded data", "revision"]
    versions = next((", ".join(f"{k} {v}" for k, v in {"Python": s["python"], **s["versions"]}.items())
                     for s in facts.values()), "")
    computed = [[paged(n), e["set"], f"{e['recorded']:,} of {e['published']:,}",
                 duration(e["seconds"]) if e["recorded"] else "", str(len(e["outdated"]))]
                for n, s in facts.items() for e in s["state"] if e["published"]]
    kept = []
    for item, item_record in record.everything():
        if item_record:
            source = item_record.get("provenance", {})
            kept.append([place(item, item.title), results.scale_words(item_record),
                         ", ".join(map(device, source.get("devices", []))) or "computed at each build",
                         ", ".join(source.get("revisions", []))])
    return "\n\n".join([
        wide(header, rows), f"Versions: {versions}.",
        "## Runs at full scale",
        display.markdown_table(["notebook", "experiment", "recorded", "computed in", "out of date"],
                               computed),
        "## Records",
        wide(["item", "scale", "device", "revisions of its runs"], kept)])


def wide(header, rows):
    """A table whose columns keep their room on a phone."""
    from report.display import markdown_table
    return f":::{{div}} runs\n{markdown_table(header, rows)}\n:::"


def parameters(_):
    """Every notebook's parameters, with the measured cost of the run shown and of the recorded runs."""
    from report import parameters as declared
    from report import reference
    from report.display import folded, markdown_table
    parts, seen = [], stamps()
    for name in catalogue.notebooks():
        rows = [[f"`{p['parameter']}`", p["type"], p["default"], p["meaning"], p["allowed"]]
                for p in declared.rows(declared.text_half(name))]
        cost = []
        if name in seen:
            s = seen[name]
            full = sum(u["seconds"] for u in s["state"])
            cost = [f"`{s['profile']}`: {s['wall_seconds']:.0f} s, {s['peak_gb']:.1f} GB"]
            cost += [f"committed runs: {duration(full)}"] if full else []
        paper = reference.SHORT.get(name.split("/")[0])
        parts.append(folded(f"{paper}, " * bool(paper) + catalogue.title(name), "\n\n".join([
            f"{link(f'notebooks/{name}.ipynb', name)} · {'; '.join(cost) or 'not measured yet'}",
            markdown_table(["parameter", "type", "default", "meaning", "allowed"], rows)])))
    return "\n\n".join(parts)


def costs(_):
    """Computing time of the recorded runs of each notebook, and of the kept networks."""
    from report.display import markdown_table
    rows = []
    for name, facts in stamps().items():
        of = [e for e in facts["state"] if e["published"]]
        if of:
            recorded, published, seconds = (
                sum(e[k] for e in of) for k in ("recorded", "published", "seconds"))
            rows.append([paged(name), f"{recorded:,} of {published:,}", duration(seconds),
                         f"{catalogue.resources(name)['mem_mb'] / 1000:g} GB"])
    return "\n\n".join([
        markdown_table(["notebook", "runs", "computing time", "memory a job asks for"], rows),
        "The networks that they measure are kept with the book. Training them took:",
        markdown_table(["network", "kept networks", "training time"], training())])


def training():
    """A row for each architecture of the kept networks: their number, and the time their training took."""
    from report import reference, zoo
    kept = {}
    for path in sorted(zoo.ZOO.glob("*.safetensors")):
        facts, _ = zoo.about(path)
        kept.setdefault((facts["architecture"], facts["data"].partition(",")[0]), []).append(facts)
    rows = []
    for (architecture, data), nets in kept.items():
        seconds = Counter()
        for net in nets:
            seconds[net["device"]] += net["seconds"]
        paper, _, name = architecture.partition("-")
        rows.append([f"{reference.SHORT[paper]}, `{name}` on {data}", str(len(nets)), spent(seconds)])
    return rows


def spent(seconds):
    """`{device: seconds}` in words, the longest first."""
    return "<br>".join(f"{duration(s)} on {device(name)}" for name, s in Counter(seconds).most_common())


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
def replace(app, docname, source):
    def block(match):
        name, argument, text = match.groups()
        function = next(vars(m)[name] for m in MODULES if name in vars(m))
        return function(argument, text) if text else function(argument)
    text, count = BLOCK.subn(block, source[0])
    if count:
        source[0] = text


def state():
    """When the files behind generated parts and recorded results last changed."""
    files = [*ROOT.glob("results/*.json"), *ROOT.glob("results/paper/*/*"),
             *ROOT.glob("results/runs/*/*/*.json"), *ROOT.glob("notebooks/*/*.ipynb"),
             *ROOT.glob("shared/**/*.py"), *ROOT.glob("report/*.py"), *runs().glob("notebooks/*/*.ipynb")]
    return sorted((str(f), f.stat().st_mtime_ns) for f in files)


def outdated(app, env, added, changed, removed):
    """Pages that show records or runs, and docstrings, are read again when any of those has changed."""
    now = state()
    if now == getattr(env, "boundary_state", None):
        return []
    env.boundary_state = now
    blocks_of = {d: BLOCK.findall((ROOT / f"{d}.md").read_text())
                for d in env.found_docs if d.startswith("book/")}
    return [*(d for d, blocks in blocks_of.items() if blocks),
            *(d for d in env.found_docs if d.startswith("notebooks/"))]


def setup(app):
    app.connect("source-read", replace)
    app.connect("env-get-outdated", outdated)
    beside.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
