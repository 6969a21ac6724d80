"""Pages made from the results: a block ```{generated} NAME argument``` becomes what `NAME(argument)` returns.

Each function returns MyST text; the pages around it keep the prose. Text inside a block is the function's
second argument, such as the caption of a picture.
"""
import os
import re
from collections import Counter

from executed import ROOT, pictures, runs, specs

from workflow import catalogue, seal

BLOCK = re.compile(r"```\{generated\} (\w+) ?(.*)\n((?:[^`\n].*\n)*)```")


# ---- where things are ------------------------------------------------------------------------------------
def link(text, name):
    return f"[{text}](/notebooks/{name}.ipynb)"


def shown(name, kind):
    """What the run of a notebook that this book shows left of one kind; empty where it has not been run."""
    run = seal.opened(runs() / "notebooks" / f"{name}.ipynb")
    told = specs(run) if run else []
    return [spec for spec in told if spec.get("kind") == kind]


def stamps():
    """`{notebook: facts}` of the runs that this book shows."""
    return {name: told[-1]["facts"] for name in catalogue.notebooks() if (told := shown(name, "stamp"))}


# ---- pictures --------------------------------------------------------------------------------------------
def picture(argument, caption):
    """The picture of an item such as `ren figure-1`, drawn on its page; nothing where it has not been run."""
    paper, item = argument.split()
    page = catalogue.pages().get((paper, item))
    for spec in shown(page, "item") if page else []:
        if spec["record"]["item"] == item and spec["pictures"]:
            folder = os.path.relpath(pictures(spec, f"notebooks/{page}"), ROOT / "book")
            alt = re.search(r"^:alt: (.+)$", spec["myst"], re.MULTILINE)[1]
            told = "" if spec["recorded"] else " (Here at the small scale of this build.)"
            first = next(iter(spec["pictures"]))  # the recorded one, where there is one
            return f"```{{figure}} {folder}/{first}\n:alt: {alt}\n\n{caption.strip()}{told}\n```"
    return ""


# ---- reproduction ----------------------------------------------------------------------------------------
def status(record, page):
    """Verdict of an item as a word: its record's, else `not run` where it has a page, else `planned`."""
    return record["verdict"] if record else "not run" if page else "planned"


def item_rows(paper):
    """A line for each item of a paper: item, verdict, page, scale, reason."""
    from shared import reference
    from shared.pages import display, results
    from shared.records import record
    where, rows = catalogue.pages(), []
    for item in reference.paper(paper).items.values():
        page, kept = where.get((paper, item.id)), record.read(paper, item.id)
        rows.append([item.label, display.badge(status(kept, page)),
                     link(catalogue.title(page), page) if page else "",
                     results.scale_words(kept) if kept else "", kept["reason"] if kept else item.caption])
    return rows


def items(paper):
    from shared.pages import display
    return display.markdown_table(["item", "verdict", "page", "recorded scale", "why"], item_rows(paper))


KINDS = {"tables": ("table",), "figures": ("figure",), "algorithms": ("algorithm",),
         "theorems, corollaries, lemmas": ("theorem", "corollary", "lemma")}


def totals(_):
    """How many results of each kind and paper there are, and how they stand."""
    from shared import reference
    from shared.pages.display import badge, markdown_table
    from shared.records import record, verdict
    where, header = catalogue.pages(), ["", *reference.SHORT.values(), "all"]
    counted = [(item, kept) for item, kept in record.everything() if item.kind in reference.RESULT_KINDS]
    rows = []
    for name, which in KINDS.items():
        mine = [(i, r) for i, r in counted if i.kind in which]
        per = [[(i, r) for i, r in mine if i.paper == key] for key in reference.KEYS]
        rows.append([name, *(f"{sum(r is not None for _, r in p)} of {len(p)}" if p else ""
                             for p in [*per, mine])])
    words = Counter(status(r, where.get((i.paper, i.id))) for i, r in counted)
    verdicts = [[badge(w), str(n), verdict.VERDICTS.get(w, "no page yet")] for w, n in words.most_common()]
    return f"{markdown_table(header, rows)}\n\n{markdown_table(['verdict', 'items', 'meaning'], verdicts)}"


def reproduction(_):
    from shared import reference
    return "\n\n".join(f"## {name}\n\n{items(key)}" for key, name in reference.SHORT.items())


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
              f"{u['seconds'] / 60:,.0f} min", str(len(u["stale"])), str(len(u["doubtful"]))]
             for n, s in facts.items() for u in s["state"]]
    where = catalogue.pages()
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
        return globals()[name](argument, text) if text else globals()[name](argument)
    text, count = BLOCK.subn(made, source[0])
    if count:
        source[0] = text


def state():
    """When the files behind generated parts and recorded results last changed."""
    files = [*ROOT.glob("results/paper/*/*"), *ROOT.glob("notebooks/*/*.ipynb"), *ROOT.glob("shared/**/*.py"),
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
    return {"parallel_read_safe": True, "parallel_write_safe": True}
