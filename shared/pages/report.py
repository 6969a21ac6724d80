"""What a page shows: a result beside the printed one, its claims, its scale; figures in one style; text with numbers."""
import io
import json
import math
import sys

import matplotlib.pyplot as plt
import seaborn as sns

from shared import reference, runtime
from shared.records import records

MIME = "application/vnd.boundary-book+json"  # a Result's data in a run notebook; book/_ext/executed.py renders it
PALETTE = sns.color_palette("colorblind")    # safe for colour-blind readers, used everywhere
MARK = {True: "✓", False: "✗", None: "–"}


# ---- text and pictures -----------------------------------------------------------------------------------
def _in_jupyter():
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def _show(bundle):
    """A MIME bundle in a notebook; its plain text in a script."""
    if _in_jupyter():
        from IPython.display import display
        display(bundle, raw=True)
    else:
        print(bundle["text/plain"])


def say(markdown):
    """Prose with computed numbers: Markdown in a notebook, plain text in a script."""
    _show({"text/plain": markdown, "text/markdown": markdown})


def style():
    """One look for all figures: opaque white (dark mode too), colour-blind-safe, readable at the book's width."""
    sns.set_theme(context="notebook", style="ticks", palette="colorblind", rc={
        "figure.facecolor": "white", "savefig.facecolor": "white", "figure.dpi": 110, "savefig.dpi": 144,
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": "medium", "legend.frameon": False,
        "figure.constrained_layout.use": True, "image.cmap": "gray", "font.size": 11})
    if _in_jupyter():
        from matplotlib_inline.backend_inline import set_matplotlib_formats
        set_matplotlib_formats("png")


def picture(figure):
    """Show a matplotlib figure once and close it; returns its PNG bytes for a record."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    if _in_jupyter():
        from IPython.display import display
        display(figure)
    plt.close(figure)
    return buffer.getvalue()


def image_grid(axes, images, titles=None):
    """Draw images [N, 1 or 3, H, W] (uint8) into an iterable of axes, without ticks."""
    for n, (ax, image) in enumerate(zip(axes, images)):
        array = image.permute(1, 2, 0).squeeze().numpy()
        ax.imshow(array, vmin=0, vmax=255, interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        for side in ax.spines.values():
            side.set_visible(True)
        if titles:
            ax.set_title(titles[n], fontsize=9)


# ---- publishing a result ---------------------------------------------------------------------------------
def publish(run, item, *, rows=None, keys=(), units=None, unit_keys=(), of=None, summarise=None, data=None,
            figure=None, contains=(), claims=(), parts=(), exact=None, note=None):
    """Judge a result of this run against the printed item, show it, and in the `paper` profile record it.

    item        reference id, such as `table-3`
    rows, keys  rows named as the printed ones, and the columns that tell them apart; or
    units, unit_keys, of, summarise
                rows of independent units, the columns that tell units apart, how many units full scale has, and the
                function units -> rows
    data        a figure's or algorithm's numbers (plain data), compared with its printed numbers by name
    figure      PNG bytes of a figure, kept beside its record
    contains    one truth value for each entry of the reference's `must_contain`, computed from what was drawn
    claims      one predicate a claim: data, else DataFrame of rows -> (holds, evidence); or why it cannot be judged
    parts       names of settings of `run.scale` that make up the scale
    exact       (largest deviation, allowed deviation) of a statement that was recomputed
    note        a sentence for the reader: the likely cause of a difference, a choice that matters
    """
    printed = reference.paper(run.paper_key)[item]
    must = printed.raw.get("must_contain", [])
    if len(contains) != len(must):
        raise ValueError(f"{printed.title} must contain {len(must)} things but {len(contains)} were checked")
    ticks = [{"what": w, "there": bool(t)} for w, t in zip(must, contains)]

    def build(units):
        made = summarise(units) if summarise else rows
        cells = records.compare(printed, made, keys) if made else []
        cells += records.compare_numbers(printed, data or {})
        judged = records.judge(printed, records.frame(made) if data is None else data, claims)
        word, reason = records.verdict(judged, cells, exact)
        scale = {p: run.part(p, getattr(run.settings, p)) for p in parts}
        if of is not None:
            scale["units"] = [len(units), of]
        record = {"item": item, "paper": run.paper_key, "keys": list(keys), "rows": made, "data": data,
                  "units": units, "unit_keys": list(unit_keys), "contains": ticks,
                  "scale": {"parts": scale, "fraction": records.fraction(scale), "substitutes": run.substitutes},
                  "provenance": provenance, "claims": judged, "cells": cells,
                  "verdict": word, "reason": reason, "note": note}
        return {k: v for k, v in record.items() if k in records.FIELDS or v not in (None, [], ())}

    provenance = run.provenance()
    record = build(units)
    if run.profile == "paper" and not record["scale"]["substitutes"]:
        # A smaller scale makes a smaller record and other seeds more units; anything else is another experiment.
        sizes = {*parts, "seed", *(k for k, v in vars(run.settings).items() if not isinstance(v, str))} if units else parts
        others = [p for p in run.departures() if p not in sizes]
        if others:
            say(f"{printed.title} is not recorded: {', '.join(others)} differ from the published setting.")
        else:
            kept = records.write(run.paper_key, record, rebuild=build)
            if figure is not None and kept["provenance"] == record["provenance"]:
                image = records.path(run.paper_key, item, ".png")
                runtime.write_atomically(image, lambda part: part.write_bytes(figure))
    _show({"text/plain": f"{printed.title}\n{page(record, None)}", "text/markdown": page(record, None),
           MIME: json.loads(json.dumps(record))})
    return record


def table(header, rows, caption, name, *, sentences=False):
    """Show a table of our own, numbered in the book: `header` texts, `rows` of texts or numbers.

    sentences  cells hold sentences, whose lines may break; numbers stay on one line
    """
    body = [[number(c) for c in r] for r in rows]
    spec = {"kind": "table", "header": list(header), "rows": body, "caption": caption, "name": name,
            "style": "sentences" if sentences else "results"}
    _show({"text/plain": f"{caption}\n{markdown_table(header, body)}", "text/markdown": captioned(spec), MIME: spec})


def stamp(facts):
    """The provenance line that ends a notebook, from `Run.stamp`'s facts."""
    versions = ", ".join(f"{k} {v}" for k, v in facts["versions"].items())
    where = "; ".join(facts["datasets"].values()) or "no data set"
    text = (f"`{facts['notebook']}` · profile **{facts['profile']}** · seed {facts['seeds'][0]} · {facts['device']} · "
            f"Python {facts['python']}, {versions} · revision {facts['revision']} · code {facts['code']} · "
            f"{facts['when']} · {facts['wall_seconds']} s, {facts['peak_gb']} GB · {where}")
    _show({"text/plain": text, "text/markdown": text, MIME: {"kind": "stamp", **facts}})


# ---- rendering -------------------------------------------------------------------------------------------
def number(value, printed=None, column=None):
    """A number with as many decimals as the printed one has; four significant digits where nothing is printed."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not math.isfinite(value):
        return "–"
    if isinstance(printed, (int, float)) or (column and column.get("decimals") is not None):
        return f"{value:.{records.decimals(printed if printed is not None else value, column)}f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cell(value, printed=None, column=None, sd=None):
    """Text of a table's cell: nested cells are joined, a spread follows its mean."""
    if isinstance(value, dict):
        if "text" in value:
            return value["text"]
        inner = printed if isinstance(printed, dict) else {}
        return " · ".join(_cell(v, inner.get(k), column, value.get(f"{k}_sd")) for k, v in value.items()
                          if not k.endswith("_sd"))
    text = number(value, printed, column)
    return f"{text} ± {number(sd, printed, column)}" if sd is not None else text


def run_label(record):
    """What a run is called in a table: never just `this run` where something stood in for the data."""
    return "stand-in" if record["scale"]["substitutes"] else "this run"


def run_text(record):
    """What this run was, for a caption."""
    stand_in = ", ".join(f"embedded {s} in place of {d}" for d, s in record["scale"]["substitutes"].items())
    what = f"the {record['provenance']['profile']} profile" + (f" on stand-in data: {stand_in}" if stand_in else "")
    return f"{run_label(record)}: {what}"


def markdown_table(header, rows):
    """A pipe table; every cell is text."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(str(c).replace("|", "\\|") for c in r) + " |" for r in rows)])


def comparison(item, keys, sources):
    """The printed table with, under each printed row, the same row of every source: `{label: rows}`."""
    columns = {k: c for k, c in item.columns.items() if k not in keys}
    label = {k: c["label"] or k for k, c in item.columns.items()}
    names = [k for k in keys if k in label] or [k for k in ("label",) if k in label]
    header = [label.get(k, "") for k in names] + ["", *(label[k] for k in columns if k not in names)]
    by_key = {s: {tuple(r[k] for k in keys): r for r in rows} for s, rows in sources.items()}
    shown = {c: columns[c] for c in columns if c not in names}
    body = []
    for printed in item.rows:
        lines = {"printed": [_cell(printed.get(c), printed.get(c), column) for c, column in shown.items()]}
        for source, rows in by_key.items():
            row = rows.get(tuple(printed[k] for k in keys))
            if row:
                lines[source] = [_cell(row.get(c), printed.get(c), column, row.get(f"{c}_sd"))
                                 for c, column in shown.items()]
        together = {}  # sources that say the same share a line
        for source, cells in lines.items():
            together.setdefault(tuple(cells), []).append(source)
        if len(shown) > 4:  # a wide table: a spread goes under its mean
            together = {tuple(c.replace(" ± ", "<br>± ") for c in cells): who for cells, who in together.items()}
        first = [_cell(printed.get(k)) for k in names]
        for cells, who in together.items():
            body.append([*first, ", ".join(who), *cells])
            first = [""] * len(names)
    return header, body


def captioned(spec, directive=False):
    """A table with its caption: a numbered MyST directive for the book, plain Markdown elsewhere."""
    text = markdown_table(spec["header"], spec["rows"])
    if directive:
        return f"```{{table}} {spec['caption']}\n:name: {spec['name']}\n:class: {spec.get('style', 'results')}\n\n{text}\n```"
    return f"**{spec['caption']}**\n\n{text}"


def scale_text(record):
    """How much of the published scale a record has, in words."""
    parts = ", ".join(f"{k} {a:,} of {f:,}" for k, (a, f) in record["scale"]["parts"].items())
    share = record["scale"]["fraction"]
    return f"{'full scale' if share == 1 else f'{share:.1%} of full scale'}{f' ({parts})' if parts else ''}"


def _claims_text(item, runs):
    header = ["claim of the paper", *(f"{label}" for label in runs)]
    body = []
    for n, claim in enumerate(item.claims):
        row = [claim]
        for record in runs.values():
            judged = next((c for c in record["claims"] if c["claim"] == f"{item.id}#{n}"), None)
            row.append(f"{MARK[judged['holds']]} {judged['evidence']}" if judged else "")
        body.append(row)
    return markdown_table(header, body)


def recorded_figure(recorded, image):
    """MyST text that shows the picture of a full-scale record, from the path of its PNG."""
    item = reference.paper(recorded["paper"])[recorded["item"]]
    return (f"```{{figure}} {image}\n:name: {recorded['paper']}-{item.id}-recorded\n"
            f":alt: {item.title} as recorded at full scale: {item.caption}\n\n"
            f"{item.title}, recorded at {scale_text(recorded)}.\n```")


def page(record, recorded, *, directive=False, fresh=None):
    """Markdown of a result: the table beside the printed one, what a figure must contain, claims, verdict.

    record     of this run
    recorded   the full-scale record, or None
    directive  write numbered MyST tables (for the book) instead of plain ones (for JupyterLab)
    fresh      whether the code is still the one that made the recorded result; None if there is no record
    """
    item = reference.paper(record["paper"])[record["item"]]
    runs = {"recorded": recorded} if recorded else {}
    runs[run_label(record)] = record
    parts = []

    def table(header, rows, caption, name):
        spec = {"header": header, "rows": rows, "caption": caption, "name": name}
        parts.append(captioned(spec, directive))

    keys = record.get("keys", [])
    if item.rows and record.get("rows"):
        sources = {label: r["rows"] for label, r in runs.items() if r.get("rows")}
        header, body = comparison(item, keys, sources)
        table(header, body, f"{item.title}: {item.caption} ({run_text(record)}.)", f"{record['paper']}-{item.id}")
    if item.raw.get("printed_numbers"):
        body = [[n["name"].replace("_", " "), number(n["value"]),
                 *(number(r.get("data", {}).get(n["name"]), n["value"]) for r in runs.values())]
                for n in item.raw["printed_numbers"]]
        table(["number", "printed", *runs], body, f"{item.title}: printed numbers",
              f"{record['paper']}-{item.id}-numbers")
    if item.kind not in ("table", "figure") and record.get("data"):
        names = [k for k, v in record["data"].items() if isinstance(v, (bool, int, float, str))]
        body = [[k.replace("_", " "), *(number(r.get("data", {}).get(k)) for r in runs.values())] for k in names]
        table(["measured", *runs], body, f"{item.title}: what was measured ({run_text(record)}.)",
              f"{record['paper']}-{item.id}-measured")
    if record.get("contains"):
        parts.append("The figure must contain: " + "; ".join(f"{MARK[c['there']]} {c['what']}"
                                                              for c in record["contains"]) + ".")
    if item.claims:
        parts.append(_claims_text(item, runs))
    full = record["provenance"]["profile"] == "paper" and not record["scale"]["substitutes"]
    told = recorded or (record if full else None)
    if told:
        changed = "" if told is record or fresh else " The code has changed since this was recorded."
        parts.append(f"**Verdict: {told['verdict']}** – {told['reason']}. Recorded at {scale_text(told)}, revision "
                     f"{told['provenance']['revision']}.{changed} {told.get('note', '')}".rstrip())
    elif record["scale"]["substitutes"]:
        parts.append("**No verdict**: stand-in data earn none, and there is no full-scale record.")
    else:
        parts.append(f"**Verdict: not run** – there is no full-scale record; this run has {scale_text(record)}.")
    return "\n\n".join(parts)
