"""Pages made from the results: a fenced block ```{generated} NAME argument``` becomes the Markdown of `NAME(argument)`.

Each function returns MyST text; the pages around it keep the prose.
"""
import json
import re
from collections import Counter

from executed import MIME, ROOT, runs

from workflow import catalogue

BLOCK = re.compile(r"```\{generated\} (\w+) ?(\S*)\n```")


# ---- where things are ------------------------------------------------------------------------------------
def link(text, name):
    return f"[{text}](/notebooks/{name}.ipynb)"


def stamps():
    """`{notebook: facts}` of the runs that this book shows."""
    found = {}
    for name in catalogue.notebooks():
        run = runs() / "notebooks" / f"{name}.ipynb"
        if run.is_file():
            for cell in json.loads(run.read_text())["cells"]:
                for output in cell.get("outputs", []):
                    spec = output.get("data", {}).get(MIME, {})
                    if spec.get("kind") == "stamp":
                        found[name] = spec
    return found


# ---- reproduction ----------------------------------------------------------------------------------------
def status(record, page):
    """Verdict of an item as a word: its record's, else `not run` where it has a page, else `planned`."""
    return record["verdict"] if record else "not run" if page else "planned"


def item_rows(paper):
    """A line for each item of a paper: item, verdict, page, scale, reason."""
    from shared import reference
    from shared.pages import report
    from shared.records import records
    where = catalogue.pages()
    rows = []
    for item in reference.paper(paper).items.values():
        page, record = where.get((paper, item.id)), records.read(paper, item.id)
        rows.append([item.label, f"{{bdg-{COLOURS[status(record, page)]}}}`{status(record, page)}`",
                     link(catalogue.title(page), page) if page else "", report.scale_text(record) if record else "",
                     record["reason"] if record else item.caption])
    return rows


COLOURS = {"exact": "success", "matches": "success", "trend": "info", "shown": "muted", "differs": "warning",
           "not run": "light", "planned": "light"}


def items(paper):
    from shared.pages import report
    return report.markdown_table(["item", "verdict", "page", "recorded scale", "why"], item_rows(paper))


def totals(_):
    """How many results of each kind and paper there are, and how they stand."""
    from shared import reference
    from shared.pages import report
    from shared.records import records
    where, header = catalogue.pages(), ["", *reference.SHORT.values(), "all"]
    kinds = {"tables": ("table",), "figures": ("figure",), "theorems, corollaries, lemmas": ("theorem", "corollary", "lemma"),
             "algorithms": ("algorithm",)}
    counted = [(item, records.read(item.paper, item.id)) for item, _ in records.everything()]
    rows = []
    for name, which in kinds.items():
        mine = [(i, r) for i, r in counted if i.kind in which]
        per = [[(i, r) for i, r in mine if i.paper == key] for key in reference.KEYS]
        rows.append([name, *(f"{sum(r is not None for _, r in p)} of {len(p)}" if p else "" for p in [*per, mine])])
    results = [(i, r) for i, r in counted if i.kind in reference.RESULT_KINDS]
    words = Counter(status(r, where.get((i.paper, i.id))) for i, r in results)
    verdicts = [[f"{{bdg-{COLOURS[w]}}}`{w}`", str(words[w]), records.VERDICTS.get(w, "no page yet")]
                for w in COLOURS if words[w]]
    return (report.markdown_table(header, rows) + "\n\n" + report.markdown_table(["verdict", "items", "meaning"], verdicts))


def reproduction(_):
    from shared import reference
    return "\n\n".join(f"## {name}\n\n{items(key)}" for key, name in reference.SHORT.items())


def claims(paper):
    """Every claim of a paper's items, with its recorded judgement."""
    from shared import reference
    from shared.pages import report
    from shared.records import records
    rows = []
    for item in reference.paper(paper).items.values():
        record = records.read(paper, item.id)
        for n, claim in enumerate(item.claims):
            judged = record["claims"][n] if record else None
            rows.append([item.label, claim, report.MARK[judged["holds"]] if judged else "", judged["evidence"] if judged else ""])
    return report.markdown_table(["item", "claim", "holds", "evidence"], rows)


# ---- execution and parameters ----------------------------------------------------------------------------
def execution(_):
    from shared.pages import report
    from shared.records import records
    from shared.units import sources
    rows = [[link(catalogue.title(n), n), s["profile"], s["when"], s["device"], f"{s['wall_seconds']:.0f} s", f"{s['peak_gb']:.1f} GB",
             ", ".join(f"{k} → {v}" for k, v in s["substitutes"].items()) or "none", s["revision"]]
            for n, s in stamps().items()]
    text = report.markdown_table(["notebook", "profile", "when", "device", "time", "peak memory", "stand-ins", "revision"], rows)
    versions = next((", ".join(f"{k} {v}" for k, v in {"Python": s["python"], **s["versions"]}.items()) for s in stamps().values()), "")
    fresh = []
    for item, record in records.everything():
        if record:
            p = record["provenance"]
            now = sources.measurement_code(ROOT / "notebooks" / f"{p['notebook']}.py")
            fresh.append([item.title, link(catalogue.title(p["notebook"]), p["notebook"]), report.scale_text(record), p["device"],
                          f"{p['seconds']:,.0f} s", p["revision"], "current" if now == p["code"] else "code has changed since"])
    return (f"{text}\n\nVersions: {versions}.\n\n## Records at full scale\n\n"
            + report.markdown_table(["item", "notebook", "scale", "device", "seconds of its notebook's units", "revision", "freshness"], fresh))


def parameters(_):
    """Every notebook's parameters, with the measured cost of the run shown and of the recorded one."""
    from shared.pages import notebook, report
    from shared.records import records
    parts, seen = [], stamps()
    recorded = {r["provenance"]["notebook"]: r["provenance"]["seconds"] for _, r in records.everything() if r}
    for name in catalogue.notebooks():
        rows = [[f"`{p['parameter']}`", p["type"], f"`{p['default']}`", p["meaning"]] for p in notebook.page_spec(name)]
        cost = [f"{seen[name]['profile']}: {seen[name]['wall_seconds']:.0f} s, {seen[name]['peak_gb']:.1f} GB"] if name in seen else []
        cost += [f"full scale: {recorded[name] / 60:.0f} min of units"] if name in recorded else []
        parts.append(f"### {link(catalogue.title(name), name)}\n\n`notebooks/{name}.ipynb` · measured {'; '.join(cost) or 'nothing yet'}\n\n"
                     + report.markdown_table(["parameter", "type", "default", "meaning"], rows))
    return "\n\n".join(parts)


# ---- API -------------------------------------------------------------------------------------------------
def api(pattern):
    """Documentation of the modules of `shared` whose names match a glob pattern such as `theory*`."""
    names = sorted(p.stem for p in (ROOT / "shared").glob(f"{pattern}.py"))
    return "\n\n".join(f"### `shared.{n}`\n\n```{{eval-rst}}\n.. automodule:: shared.{n}\n   :members:\n```" for n in names)


# ---- Sphinx ----------------------------------------------------------------------------------------------
def replace(app, docname, source):
    def made(match):
        return globals()[match[1]](match[2])
    text, count = BLOCK.subn(made, source[0])
    if count:
        source[0] = text


def state():
    """When the files behind generated parts and recorded results last changed."""
    files = [*ROOT.glob("results/paper/*/*"), *ROOT.glob("notebooks/*/*.ipynb"), *ROOT.glob("shared/*.py"),
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
    return [*(d for d, blocks in made.items() if any(name != "api" for name, _ in blocks)),
            *(d for d in env.found_docs if d.startswith("notebooks/"))]


def setup(app):
    app.connect("source-read", replace)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
