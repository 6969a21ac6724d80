"""What every notebook starts with, and what it publishes by: `page = start("ren/iv_simulation", globals())`.

    scale = page.scale(smoke=..., quick=..., paper=...)
    searches = page.results(experiments.searches)
    page.table("table-3", searches, rows)
    page.figure("figure-2", searches, draw)
    page.statement("theorem-6", data=..., evidence=...)
    page.finish()

The text of a page at full scale comes from the recorded runs; what this page measured follows it, folded.
"""
import math
import os
import re
import resource
import sys
import time
import types
from pathlib import Path

import numpy as np
import pandas as pd

from report import claims as judging
from report import display, parameters, pieces, prose, provenance, record, reference, registry, tidy
from report import experiment as experiments
from report.cell import as_cell, bare
from report.git import revision
from report.inputs import collected
from report.notebook import prepare_kernel
from report.verdict import NOT_MEASURED, NOTHING
from shared import runtime
from shared.data import sets
from shared.training.recipe import Recipe


def start(name, namespace):
    """Begin notebook `name` with its `globals()`; returns the `Page` that the other cells use.

    Raises UserError, in one line, for an unknown parameter, a wrong type or a wrong value.
    """
    runtime.prepare()
    prepare_kernel()
    if "__file__" in namespace:  # a script: SIGTERM ends it as Ctrl-C does
        runtime.stop_cleanly()
    return Page(name, namespace)


def numpy_generator(page, *labels):
    """A numpy generator for one purpose of a page, from the page's seed."""
    return np.random.default_rng(page.generator(*labels).initial_seed())


class Shown(dict):
    """A record whose page has shown it: a cell that ends with it adds nothing."""

    def _ipython_display_(self):
        pass


class Page:
    """One execution of one notebook: its parameters, its scale, its runs, and what it publishes."""

    def __init__(self, name, namespace):
        self.name, self.started, self.paper_key = name, time.perf_counter(), name.split("/")[0]
        script = parameters.script_of(name)
        # In JupyterLab the session has the notebook's name.
        here = namespace.get("__file__") or os.environ.get("JPY_SESSION_NAME") or script
        self.scratch = Path(here).with_suffix("").resolve() != script.with_suffix("").resolve()
        declared = parameters.declared(script)
        self.parameters = parameters.checked(declared, namespace, sys.argv[1:])
        self.defaults = {k: p.default for k, p in declared.items()} | parameters.defaults(script)
        self.profile, self.seed = self.parameters["profile"], self.parameters["seed"]
        self.which = self.parameters.get("runs", "missing")
        self.device = runtime.use_device(self.parameters["device"])
        sets.use_profile(self.profile)
        self.gathered, self.measured, self.verdicts = {}, {}, {}
        self.tables = {}     # {item: its tidy rows as this page has them}
        self.names = {}      # {key column: {printed key: words}}: what tables show in place of numbers
        self.own_parts = []  # MyST of this build's own run, which stands folded at the end of the page
        self._reading = collected()
        self.used = self._reading.__enter__()
        display.style()
        if self.scratch:
            display.say(f"This is a scratch copy of `{name}`: its tables and figures are not recorded.")

    # ---- settings ----------------------------------------------------------------------------------------
    def scale(self, *, smoke, quick, paper):
        """The settings of this run: its profile's dict, overridden by explicit parameters of the same names.

        They include the notebook's other parameters: a plan finds all it needs in one place.
        `page.full` has the same for the unmodified `paper` profile.
        """
        if not smoke.keys() == quick.keys() == paper.keys():
            raise ValueError("the three profiles of a scale name the same settings")
        self.scales = dict(zip(runtime.PROFILES, (smoke, quick, paper)))
        chosen = self.scales[self.profile]
        # A recipe is named by a parameter: it is the constant of that name in the paper's models.py.
        explicit = {k: registry.recipe(self.paper_key, v) if isinstance(paper[k], Recipe) else v
                    for k, v in self.parameters.items() if k in paper and v is not None}
        fixed = {k: v for k, v in self.parameters.items() if k not in (*paper, "profile", "device", "runs")}
        self.full = types.SimpleNamespace(**{k: self.defaults[k] for k in fixed}, **paper)
        self.settings = types.SimpleNamespace(**fixed, **{**chosen, **explicit})
        return self.settings

    def generator(self, *labels):
        """A CPU random generator for one purpose of this notebook, the same on its page of tables."""
        return runtime.generator(self.seed, self.name.removesuffix("_tables"), *labels)

    # ---- runs --------------------------------------------------------------------------------------------
    def results(self, experiment, *, function=None, names=None, plan=None, optional=False):
        """The `Results` of an experiment: its recorded runs and, of what this page wants, its own.

        function  a reader's own in place of the experiment's: shown after the recorded results as "yours"
        names     of the published runs that the page rests on; None takes all. With a function, of the runs
                  that it computes, too
        plan      settings -> {key: arguments} of this page's own small runs, where its scale is not the
                  experiment's; None takes the experiment's plan
        optional  its runs give intervals to the values of others: no table waits for them

        A page whose scale is the experiment's computes its runs. At full scale another page shows what is
        recorded, in `smoke` and `quick` it computes the runs that its own scale wants.
        """
        computes = experiment.scale == self.scales
        wants = computes or self.profile != "paper" or function is not None
        chosen = experiments.gather(experiment, self.settings if wants else None, which=self.which, plan=plan,
                                    record=self.profile == "paper", function=function,
                                    names=None if function is None else names)
        if names is not None:   # runs of the page's own plan stay
            chosen = chosen.with_names([n for n in chosen.published if n in names],
                                  ("published", "recorded", "outdated"))
        chosen.optional = optional
        if function is None:
            self.gathered[experiment.name] = chosen
        return chosen

    unnest = staticmethod(tidy.unnest)

    @property
    def at_full_scale(self):
        """Whether this run is the published one: then what it measured is what is recorded."""
        return self.profile == "paper"

    @property
    def records(self):
        """Whether this run writes the records of its items."""
        return self.at_full_scale and not self.scratch

    def _runs(self, results):
        """`{label: {experiment: {name: Run}}}`: what is recorded, and what this page has of its own."""
        runs, needed = {}, [s for s in results if not s.optional]
        if results and all(s.recorded for s in needed):
            runs["recorded"] = {s.name: {n: s.recorded[n] for n in s.published if n in s.recorded}
                                for s in results}
        own = {s.name: s.own for s in results}
        if not results:
            runs["recorded"] = own
        elif all(s.own for s in needed) and any(
                s.own[n] is not s.recorded.get(n) for s in results for n in s.own):
            whose = "yours" if any(s.yours for s in results) else "this run"
            runs[f"{whose}, {self.scale_words}"] = own
        return runs

    @property
    def scale_words(self):
        """The profile, and what departs from it: "quick, threshold = 0.9; 600 images asked, 500 there"."""
        departs = [f"{k} = {v}" for k, v in self.parameters.items()
                   if k not in ("profile", "device", "runs") and v != self.defaults[k]]
        runs = [run for s in self.gathered.values() for run in s.own.values()]
        fewer = [*self.used.get("fewer", ()),
                 *(words for run in runs for words in run.provenance.get("fewer", ()))]
        return "; ".join([", ".join([self.profile, *departs]), *dict.fromkeys(fewer)])

    def _built(self, item, results, shown):
        """What to call a result without runs that is not the recorded one: a small run has computed it."""
        if results or self.at_full_scale:
            return None
        kept = record.read(self.paper_key, item) or {}
        same = all(kept.get(k) == shown.get(k) for k in ("rows", "data", "claims"))
        return None if same else f"this build, {self.scale_words}"

    def frames(self, results, runs):
        """A DataFrame of each experiment: a row a run, its labels, arguments and results."""
        return [pd.DataFrame([s.labels.get(u.name, {}) | u.row for u in runs[s.name].values()])
                for s in results]

    # ---- publishing --------------------------------------------------------------------------------------
    def table(self, item, results, rows, *, hidden=(), **judged):
        """Show a table with the printed one and judge it.

        rows    runs (one DataFrame a set) -> rows named as the printed ones, of values or `Cell`s; a column
                that the paper does not print is shown after its own, and not judged
        hidden  columns of the rows that claims read and the table does not show
        judged  `note`, `caption`: see `record.build`
        """
        return self._publish(item, results, rows=rows, hidden=hidden, **judged)

    def figure(self, item, results, draw, *, data=None, alt=None, **judged):
        """Show a figure as recorded, fold this run's, and judge it.

        draw    runs (one DataFrame a set) -> matplotlib figure, or None where there is nothing to draw
        data    runs -> its numbers, compared with printed ones by name, and judged by claims
        """
        return self._publish(item, results, draw=draw, data=data, alt=alt, **judged)

    def statement(self, item, results=(), *, data, **judged):
        """Show an algorithm, equation, theorem ... and what its check found.

        data    as in `figure`, or a dict
        judged  also `evidence`: of the check (see `verdict.verdict`), or data -> evidence if it rests on runs
        """
        return self._publish(item, results, data=data if callable(data) else lambda *_: data, **judged)

    def _publish(self, item, results, *, rows=None, data=None, draw=None, caption=None, alt=None, hidden=(),
                 **judged):
        """Build, keep and show the record of an item for each label of `_runs`; returns the first one."""
        results, printed = several(results), reference.paper(self.paper_key)[item]
        records, pictures = {}, {}
        for label, runs in self._runs(results).items():
            frames = self.frames(results, runs)
            measured = {"rows": rows(*frames) if rows else None, "data": data(*frames) if data else None}
            records[label] = self._record(printed, results, runs, label, measured, **judged)
            if draw:
                figure = draw(*frames)
                pictures[label] = None if figure is None else display.png_for_page(figure)
        if not records:
            self.verdicts[item] = NOT_MEASURED, ""
            display.show(f"{printed.title}: not measured yet.")
            return None
        if self.records and "recorded" in records:
            record.write(records["recorded"])
        first = next(iter(records.values()))
        shown, others, drawn = pieces.shown(
            printed, records, results=results, pictures=pictures, caption=caption, alt=alt,
            built=self._built(item, results, first), hidden=hidden, names=self.names)
        self.own_parts += [others] * bool(others)
        label, last = [*records.items()][-1]    # this page's own where it has any
        self.tables[item] = tidy.rows(printed, last, self._source(label, results, last))
        title = "" if display.in_jupyter() else printed.title     # a notebook has its heading
        # In a notebook a reader's own numbers come first; the book has them at the page's end.
        display.show("\n\n".join(filter(None, [title, others, shown])), book=shown, kind="item",
                     pictures=dict(reversed(drawn.items())),
                     record=record.as_json(first), recorded="recorded" in records, table=self.tables[item])
        scale = first["scale"]
        judged = "recorded" in records and scale["fraction"] > 0 and not scale["proxies"]
        why = "; ".join(dict.fromkeys(c["why"] for c in first["cells"] if c["status"] == "not measured"))
        self.verdicts[item] = (first["verdict"], why) if judged else (NOT_MEASURED, "")
        return Shown(first)

    def _source(self, label, results, kept):
        """Where a record's values come from: "recorded", "this run, embedded digits in place of MNIST"."""
        whose = "this run" if not (results or self.at_full_scale) else label.partition(",")[0]
        stood_in = kept["scale"]["proxies"] if results else self.substitutes
        return ", ".join([whose, *display.stand_ins(stood_in)])

    def _record(self, printed, results, runs, label, measured, *, evidence=None, **judged):
        """The record of what was `measured` in some runs; claims of other items may take its rows."""
        claims = judging.of(printed.paper, printed.id)
        rows_or_data = measured["rows"] if measured["data"] is None else measured["data"]
        whole = label == "recorded"
        others = dict.fromkeys(i for rule in claims.values() for i in rule.others)
        built = record.build(printed, results, runs, **measured, claims=claims, whole=whole,
                             evidence=evidence(bare(rows_or_data)) if callable(evidence) else evidence,
                             others={i: self._rows_of(i, whole) for i in others}, **judged)
        lacks = record.lacking(results, runs, f" of {printed.label}") if whole else None
        self.measured.setdefault(whole, {})[printed.id] = rows_or_data, lacks
        return built

    def _rows_of(self, item, whole):
        """`(rows, what they lack)` of another item: of this page, else of a record, as a whole."""
        printed = reference.paper(self.paper_key)[item]
        if item in self.measured.get(whole, {}):
            rows_or_data, lacks = self.measured[whole][item]
            return judging.complete(printed, pd.DataFrame(rows_or_data)), lacks
        kept = record.read(self.paper_key, item)
        if kept is None:
            return None, lambda _: f"the record of {printed.label}"
        rows = judging.complete(printed, pd.DataFrame(kept["rows"])) if "rows" in kept else kept.get("data")
        have, of = kept["scale"]["parts"].get("runs", (1, 1))
        return rows, lambda _: f"{of - have} of {of} runs of {printed.label}" if have < of else None

    def rows(self, item=None):
        """The tidy table of an item, or of all so far, in the columns `tidy.COLUMNS`.

        Values are this page's own where it computed any, else the recorded ones.
        """
        if item is not None and not (isinstance(item, str) and item in self.tables):
            raise runtime.UserError(f"{item!r}: no such result on this page so far; there are: "
                                    f"{', '.join(self.tables) or 'none'}")
        wanted = self.tables if item is None else {item: self.tables[item]}
        return tidy.frame([row for rows in wanted.values() for row in rows])

    def extra(self, slug, results, rows, caption, *, header=None, fold=None):
        """Show and record a table that the paper lacks: the same form, no verdict.

        header  {column: its heading}, in order; None takes the columns as they are
        fold    under what title the table is folded; None leaves it open
        """
        results = several(results)
        own_first = reversed([*enumerate(self._runs(results).items())])      # as `_publish` does
        for n, (label, runs) in own_first:
            table = record.rounded(pd.DataFrame(rows(*self.frames(results, runs))))
            own = any(s.yours for s in results)
            if label == "recorded" and self.records and not own:
                record.write({"item": f"{record.EXTRA}{slug}", "paper": self.paper_key, "rows": table,
                              "claims": [], "cells": [], "scale": record.scale(results, runs),
                              **record.rests_on(results, runs),
                              **({"provenance": record.provenance(results, runs)} if results else {})})
            if not table:
                if n == 0:
                    words = pieces.captioned(display.sentence(caption), label)
                    display.show(f"*{words} There is nothing to show.*")
                continue
            heads = header or {k: k.replace("_", " ") for k in table[0]}
            body = [[cell.value if isinstance(cell.value, float) and cell.sd is None else pieces.cell(cell)
                     for cell in (as_cell(r.get(k)) for k in heads)] for r in table]
            built = self._built(f"{record.EXTRA}{slug}", results, {"rows": table, "claims": []})
            words = pieces.captioned(caption, built or label)
            if n and not own:   # in the book at the page's end
                self.own_parts.append(display.own_table(list(heads.values()), body, words))
                display.show(self.own_parts[-1], book="")
            else:
                display.table(list(heads.values()), body, words, fold=fold)

    def picture(self, results, draw, *, caption, alt):
        """Show a figure of our own, drawn from the recorded runs, else from this run's; nothing of None."""
        label, frames = self._best(several(results))
        if label and (drawn := draw(*frames)) is not None:
            display.picture(drawn, pieces.captioned(caption, label), alt)

    def best(self, *results):
        """DataFrames of the recorded runs where there are any, else of this run's, one a set: for prose."""
        _, frames = self._best(results)
        return frames[0] if len(frames) == 1 else frames

    def _best(self, results):
        """(label, DataFrames) of the runs that `best` takes; of none, label None and empty ones."""
        for label, runs in self._runs(results).items():
            return label, self.frames(results, runs)
        return None, [pd.DataFrame() for _ in results]

    def text(self, results, words, template=None, *, nothing=""):
        """Show a sentence with computed numbers, of the recorded runs, else of this page's; or nothing.

        words     runs (one DataFrame a set) -> the sentence; with a template, the facts that it names
        template  see `prose.fill`. Where a fact has no value, or there are none, `nothing` is shown
        """
        label, frames = self._best(several(results))
        text = words(*frames) if label else None
        if template is not None and label:
            text = prose.fill(template, text) if text and prose.complete(template, text) else nothing
        if text:
            display.say(text if label == "recorded" else f"{text} ({label[0].upper()}{label[1:]}.)")

    def box(self, question, answer, evidence="", limit="", *, facts=None, picture=None, alt="", results=None):
        """The answer of the page, at its top: question, answer, evidence, limit, and a picture of it.

        Each part is a template over `facts` (`prose.fill`), so that no number is typed. Where a fact has no
        value, question and answer are shown alone, or nothing where the answer needs it. The results of the
        page stand folded below.

        facts    a dict, or None where the box names no number
        picture  PNG, figure or None
        results  what the box rests on; None takes all runs of the page
        """
        results, facts = self.gathered.values() if results is None else results, facts or {}
        small = bool(results) and not any(s.recorded for s in results)
        parts = [prose.fill(part, facts) for part in (answer, evidence, limit)
                 if part and prose.complete(part, facts)]
        whole = len(parts) == sum(map(bool, (answer, evidence, limit)))
        if not whole:
            parts = [prose.fill(answer, facts)] if prose.complete(answer, facts) else []
        parts = [re.sub(r"(?<![\w.])-(?=\d)", "−", part) for part in parts]
        words = "\n\n".join(parts)
        data = " on embedded sample data" if self.substitutes else ""
        remark = ("*Nothing on this question is measured at full scale yet. These are the numbers of a small "
                  f"run{data}, which say nothing about the paper.*\n\n") if small and parts else ""
        png = None if picture is None else display.png_for_page(picture)
        name = f"{self.name.replace('/', '-')}-box.png"
        png = png if whole else None
        image = f"```{{image}} {{pictures}}/{name}\n:alt: {alt}\n:class: box\n```\n\n" if png else ""
        box = f":::{{admonition}} {question}\n:class: box\n{remark}{words}\n\n{image}:::\n\n" if parts else ""
        verdicts = self._verdicts()
        display.show(box + (display.folded("Results on this page", verdicts) if verdicts else ""), kind="box",
                     small=small, pictures={name: png} if png else {}, question=question,
                     sentences=" ".join(parts))

    def _verdicts(self):
        """The verdicts of all results, as badges; what is not measured comes last, in plain words."""
        badges, unmeasured = [], {}
        for name, (word, why) in self.verdicts.items():
            item = reference.paper(self.paper_key)[name]
            link = f"[{item.label}](#{item.paper}-{item.id}-head)"
            if word == NOT_MEASURED:
                unmeasured.setdefault(why, []).append(link)
            elif word != NOTHING:
                badges.append(f"{link} {display.badge(word)}")
        lines = [" · ".join(badges), *(f"{', '.join(links)}: not measured{f' ({why})' if why else ''}."
                                       for why, links in unmeasured.items())]
        return "\n\n".join(filter(None, lines))

    def _taken(self, name, value):
        """What a parameter that was left to its profile became; None where that is no plain value."""
        taken = getattr(getattr(self, "settings", None), name, None) if value is None else value
        return taken if isinstance(taken, str | int | float | list | tuple) else None

    # ---- the end -----------------------------------------------------------------------------------------
    @property
    def substitutes(self):
        """What stood in for what in this run: `{"mnist": "digits"}`, empty on real data."""
        own = [run for s in self.gathered.values() for run in s.own.values()]
        here = {k: v.split(":")[0] for k, v in self.used.get("data", {}).items() if ":" in v}
        return record.proxies(own) | here

    def finish(self):
        """The line that ends a notebook: data, scale, seed, versions, seconds, revision."""
        self._reading.__exit__(None, None, None)
        state = [{"set": s.name, "published": len(s.published), "recorded": len(s.recorded),
                  "outdated": s.outdated, "seconds": math.fsum(
                      run.provenance["seconds"] for run in s.recorded.values())}
                 for s in self.gathered.values()]
        facts = {"notebook": self.name, "profile": self.profile, "seed": self.seed,
                 "device": str(self.device), "versions": provenance.versions(),
                 "python": sys.version.split()[0], "revision": revision(),
                 "wall_seconds": round(time.perf_counter() - self.started, 1),
                 "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                                  / (2**30 if sys.platform == "darwin" else 2**20), 2),     # bytes; kilobytes
                 "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "substitutes": self.substitutes,
                 "parameters": {k: self._taken(k, v) for k, v in self.parameters.items()}, "state": state}
        if self.own_parts:
            display.show("", book=display.folded(f"What this build computed ({self.scale_words})",
                                                 "\n\n".join(self.own_parts)), kind="own")
        words = ", ".join(f"{k} {v}" for k, v in facts["versions"].items())
        stood_in = "; ".join(f"**{words}**" for words in display.stand_ins(facts["substitutes"]))
        text = (f"`{self.name}` · profile {self.scale_words} · seed {self.seed} · {facts['device']} · Python "
                f"{facts['python']}, {words} · revision {facts['revision']} · {facts['when']} · "
                f"{facts['wall_seconds']} s, {facts['peak_gb']} GB{f' · {stood_in}' if stood_in else ''}")
        display.show(text, kind="stamp", facts=facts)


def several(results):
    return (results,) if isinstance(results, experiments.Results) else tuple(results)
