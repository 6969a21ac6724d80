"""Pages made from the results: a block ```{generated} NAME argument``` becomes what `NAME(argument)` returns.

Each function returns MyST text; the pages around it keep the prose. Text inside a block is the function's
second argument, such as the caption of a picture.
"""
import json
import re
import sys
from collections import Counter

import beside
import findings
import scoreboard
from executed import ROOT, runs
from places import link, pages, place, stamps, status

from workflow import catalogue

MODULES = scoreboard, findings, sys.modules[__name__]  # where the functions of blocks are looked for
BLOCK = re.compile(r"```\{generated\} (\w+) ?(.*)\n((?:[^`\n].*\n)*)```")


# ---- the items of a paper ---------------------------------------------------------------------------------
def item_rows(paper):
    """A line for each item of a paper: item, verdict, page, scale, reason."""
    from shared import reference
    from shared.pages import display, results
    from shared.records import record
    where, rows = catalogue.pages(), []
    for item in reference.paper(paper).items.values():
        page, kept = where.get((paper, item.id)), record.read(paper, item.id)
        rows.append([place(item), display.badge(status(kept, page)),
                     link(catalogue.title(page), page) if page else "",
                     results.scale_words(kept) if kept else "", kept["reason"] if kept else item.caption])
    return rows


def items(paper):
    from shared.pages import display
    made = display.markdown_table(["item", "verdict", "page", "recorded scale", "why"], item_rows(paper))
    return f":::{{div}} item-list full-width\n{made}\n:::"


def claims(paper):
    """Every claim of a paper's items, with its recorded judgement."""
    from shared import reference
    from shared.pages.display import MARK, markdown_table
    from shared.records import record
    rows = []
    for item in reference.paper(paper).items.values():
        kept = record.read(paper, item.id)
        for n, claim in enumerate(item.claims):
            judged = kept["claims"][n] if kept else {"holds": "", "evidence": ""}
            rows.append([item.label, claim, MARK.get(judged["holds"], ""), judged["evidence"]])
    return markdown_table(["item", "claim", "holds", "evidence"], rows)


# ---- execution and parameters ----------------------------------------------------------------------------
def execution(_):
    from shared.pages import display, results
    from shared.records import record
    facts = stamps()
    rows = [[link(catalogue.title(n), n), s["profile"], s["when"], s["device"], f"{s['wall_seconds']:.0f} s",
             f"{s['peak_gb']:.1f} GB", ", ".join(f"{k} → {v}" for k, v in s["substitutes"].items()) or "none",
             s["revision"]] for n, s in facts.items()]
    header = ["notebook", "profile", "when", "device", "time", "peak memory", "stand-ins", "revision"]
    versions = next((", ".join(f"{k} {v}" for k, v in {"Python": s["python"], **s["versions"]}.items())
                     for s in facts.values()), "")
    units = [[link(catalogue.title(n), n), u["set"], f"{u['recorded']} of {u['published']}",
              duration(u["seconds"]) if u["recorded"] else "", str(len(u["stale"])), str(len(u["doubtful"]))]
             for n, s in facts.items() for u in s["state"]]
    where = pages()
    kept = []
    for item, made in record.everything():
        if made and (page := where.get((item.paper, item.id))):
            told = made.get("provenance", {})
            kept.append([item.title, link(catalogue.title(page), page), results.scale_words(made),
                         ", ".join(told.get("devices", [])) or "computed at each build",
                         ", ".join(told.get("revisions", []))])
    return "\n\n".join([
        display.markdown_table(header, rows), f"Versions: {versions}.", "## Units at full scale",
        display.markdown_table(
            ["notebook", "units", "recorded", "computed in", "by earlier code", "doubtful"], units),
        "## Records at full scale",
        display.markdown_table(["item", "notebook", "scale", "device", "revisions of its units"], kept)])


def parameters(_):
    """Every notebook's parameters, with the measured cost of the run shown and of the recorded units."""
    from shared.pages import parameters as declared
    from shared.pages.display import markdown_table
    parts, seen = [], stamps()
    for name in catalogue.notebooks():
        rows = [[f"`{p['parameter']}`", p["type"], p["default"], p["meaning"], p["allowed"]]
                for p in declared.rows(declared.text_half(name))]
        cost = []
        if name in seen:
            s = seen[name]
            full = sum(u["seconds"] for u in s["state"])
            cost = [f"{s['profile']}: {s['wall_seconds']:.0f} s, {s['peak_gb']:.1f} GB"]
            cost += [f"full scale: {full / 60:.0f} min of units"] if full else []
        parts.append(f"### {link(catalogue.title(name), name)}\n\n`notebooks/{name}.ipynb` · measured "
                     f"{'; '.join(cost) or 'nothing yet'}\n\n"
                     + markdown_table(["parameter", "type", "default", "meaning", "allowed"], rows))
    return "\n\n".join(parts)


def costs(_):
    """Time, device and memory of each notebook at full scale, from its recorded units."""
    from shared import runtime
    from shared.pages.display import markdown_table
    rows = []
    for name in catalogue.notebooks():
        told = [json.loads(p.read_text())["provenance"]
                for p in sorted((runtime.results_folder() / "units" / name).glob("*/*.json"))]
        seconds = Counter()
        for each in told:
            seconds[each["device"]] += each["seconds"]
        if told:
            memory = f"{catalogue.resources(name)['mem_mb'] / 1000:g} GB"
            spent = "<br>".join(f"{duration(s)} on {device}" for device, s in seconds.most_common())
            rows.append([link(catalogue.title(name), name), str(len(told)), spent, memory])
        elif name not in catalogue.with_units():
            rows.append([link(catalogue.title(name), name), "none", "under a minute, at each build", ""])
        else:
            rows.append([link(catalogue.title(name), name), "0", "not computed yet", ""])
    return "\n\n".join([
        markdown_table(["notebook", "recorded units", "computing time", "memory a job asks for"], rows),
        "The networks that they measure are kept with the book. Training them took:",
        markdown_table(["network", "kept nets", "training time"], training())])


def training():
    """A row for each architecture of the kept nets: how many there are, and the time their training took."""
    from shared import reference
    from shared.training import zoo
    kept = {}
    for path in sorted(zoo.ZOO.glob("*.safetensors")):
        facts, _ = zoo.about(path)
        kept.setdefault((facts["architecture"], facts["data"].partition(",")[0]), []).append(facts)
    rows = []
    for (architecture, data), nets in kept.items():
        seconds = Counter()
        for each in nets:
            seconds[each["device"]] += each["seconds"]
        spent = "<br>".join(f"{duration(s)} on {device}" for device, s in seconds.most_common())
        paper, _, name = architecture.partition("-")
        rows.append([f"{reference.SHORT[paper]}, network {name.upper()} on {data}", str(len(nets)), spent])
    return rows


def duration(seconds):
    """Seconds as a person says them."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:,.0f} min"


# ---- API -------------------------------------------------------------------------------------------------
def api(pattern):
    """Documentation of the modules of `shared` whose names match a glob pattern such as `theory/*`."""
    files = sorted((ROOT / "shared").glob(f"{pattern}.py"))
    files = [p.relative_to(ROOT).with_suffix("") for p in files if not p.stem.startswith("__")]
    names = [".".join(p.parts) for p in files]
    return "\n\n".join(f"### `{n}`\n\n```{{eval-rst}}\n.. automodule:: {n}\n   :members:\n```" for n in names)


# ---- Sphinx ----------------------------------------------------------------------------------------------
def replace(app, docname, source):
    def made(match):
        name, argument, text = match.groups()
        function = next(vars(m)[name] for m in MODULES if name in vars(m))
        return function(argument, text) if text else function(argument)
    text, count = BLOCK.subn(made, source[0])
    if count:
        source[0] = text


def state():
    """When the files behind generated parts and recorded results last changed."""
    files = [*ROOT.glob("results/paper/*/*"), *ROOT.glob("results/units/*/*/*/*.json"),
             *ROOT.glob("notebooks/*/*.ipynb"), *ROOT.glob("shared/**/*.py"),
             *runs().glob("notebooks/*/*.ipynb")]
    return sorted((str(f), f.stat().st_mtime_ns) for f in files)


def outdated(app, env, added, changed, removed):
    """Pages that show records or runs are read again when any of those has changed.

    Not the API page: autodoc watches the modules itself, and reading it takes seconds.
    """
    now = state()
    if now == getattr(env, "boundary_state", None):
        return []
    env.boundary_state = now
    made = {d: BLOCK.findall((ROOT / f"{d}.md").read_text()) for d in env.found_docs if d.startswith("book/")}
    return [*(d for d, blocks in made.items() if any(name != "api" for name, *_ in blocks)),
            *(d for d in env.found_docs if d.startswith("notebooks/"))]


def setup(app):
    app.connect("source-read", replace)
    app.connect("env-get-outdated", outdated)
    beside.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
