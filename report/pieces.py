"""A result on its page: published and reproduced values, a line of verdict, a fold of claims and details."""
import math

from report import claims as judging
from report import display, numbers, prose
from report.cell import as_cell, bare
from report.comparison import DIFFERS, MARKS, NEAR, OPEN, ends, flat, whole_of
from report.display import MARK, markdown_table
from report.prose import number
from report.verdict import CONFIRMED, NOT_CONFIRMED, NOT_MEASURED, NOTHING

PUBLISHED, REPRODUCED = "published", "reproduced"   # how tables call the paper's values and the recorded ones
EXTRACTED = "string list"   # type of a column of signs as extracted; others have them as yes and no
UNITS = "ms", "RMS", "%"    # of columns whose cells are bare numbers
GREY, DASH = "grey", "–"    # what stands for a mark at a value that has none
# What stands for the mark of a statement where a small run is shown, which decides nothing.
HERE = {True: "so in this run: ", False: "not so in this run: ", None: ""}
SIGNS = {"proxy": GREY, "fitted": GREY, "unnamed image": DASH}
MEANING = {NEAR: "near", OPEN: "open", DIFFERS: "differs"}      # of a mark, where a table counts them
LEGEND = f"{MARK[True]} came out here, too; {MARK[False]} came out differently; {MARK[None]} open"


def cell(value, printed=None, column=None, signs=None, name=""):
    """Text of a table's cell: nested cells are joined, a range follows its value, the sign of `name` all."""
    whole, signs = as_cell(value), signs or {}
    value = whole.value
    if isinstance(value, dict):
        if "text" in value:
            return _signed(value["text"], signs.get(f"{name}.text"))
        inner = printed if isinstance(printed, dict) else {}
        own = column and {**column, "decimals": None}   # of a part, such as the probability of a class
        parts = [_signed(_part(k, cell(v, inner.get(k), own)), signs.get(f"{name}.{k}"))
                 for k, v in value.items()]
        return " · ".join(filter(None, parts))
    range_ = in_range(whole, name, column)
    text = _plain(value, printed, column, None if range_ else whole.sd)
    return _signed(f"{text} {range_}".strip(), signs.get(name))


def in_range(cell, name, column=None):
    """The range of a value in words, such as "(7 to 29; 8 of 50)"; empty where there is none."""
    whole = whole_of(name, column)
    if (shown := ends(cell, whole)) is None:
        return ""
    low, high, places = shown
    if cell.over:
        over = f"; {cell.n} {cell.over}" if cell.n else f" over {cell.over}"
    else:
        over = f"; {round(cell.of * cell.value / whole):,} of {cell.of:,}" if whole and cell.of else ""
    return f"({low:,.{places}f} to {high:,.{places}f}{over})"


def _signed(text, sign):
    """A value with its mark; in grey where it can have none."""
    if not text or not sign:
        return text
    return f'<span class="{GREY}">{text}</span>' if sign == GREY else f"{text} {sign}"


def _plain(value, printed, column, sd):
    """Text of a value that is no dict."""
    if isinstance(value, list | tuple):
        return ", ".join(number(v) for v in value)
    if sd and math.isfinite(sd) and printed is None and (column or {}).get("decimals") is None:
        column = {"decimals": min(max(1 - math.floor(math.log10(sd)), 0), 4)}  # two digits of the spread
    text = number(value, printed, column)
    return f"{text} ± {number(sd, printed, column, digits=2)}" if sd is not None and text else text


def _part(name, text):
    """A part of a cell with what it is: a percentage or a class."""
    if not text:
        return ""
    return f"class {text}" if name.endswith("_class") else f"{text}%" if name.endswith("_pct") else text


def marks(item, cells):
    """`{(key of the row, column): sign}` of compared cells: what follows a value in the table."""
    return {numbers.place(item, c): SIGNS.get(c["status"], c["mark"])
            for c in cells if c["status"] in SIGNS or c["mark"]}


def counted(cells):
    """The line below a table: how many numbers have which mark, and how many differ by chance; or empty."""
    there = [c["mark"] for c in cells if c["mark"]]
    counts = {mark: there.count(mark) for mark in MARKS}
    texts = [" · ".join(f"{mark} {MEANING[mark]}: {n}" for mark, n in counts.items() if n)] * bool(there)
    if ranged := [c for c in cells if c["mark"] and c["chance"]]:
        outside = sum(not c["low"] <= c["printed"] <= c["high"] for c in ranged)
        texts.append(f"{outside} of {len(ranged)} published numbers lie outside our range; by chance alone "
                     f"about {sum(c['chance'] for c in ranged):.2g} would")
    there = {SIGNS.get(c["status"]) for c in cells}
    if GREY in there:
        texts.append("Grey: tuned to the paper's value, or measured on another network or other data")
    if DASH in there:
        texts.append(f"{DASH}: the paper does not name the image")
    return " ".join(f"{words}." for words in texts)


def bias_table(item, biases):
    """A table of the bias over rows of each column that has one; see `comparison.biases`."""
    rows = [[", ".join(map(prose.in_words, b["of"])), b["rows"],
             f"{number(b['difference'], digits=2)} ({number(b['low'], digits=2)} to "
             f"{number(b['high'], digits=2)})", number(b["absolute"], digits=2),
             "" if b["rank"] is None else f"{b['rank']:.2f}"] for b in biases]
    head = ["column", "rows", "mean difference (95% interval over rows)", "mean absolute difference",
            "rank correlation"]
    return display.myst_table(head, rows, f"{item.title}: all rows together, reproduced minus published")


def added(item, rows, hidden=()):
    """Columns that a reader added to the rows: not printed, not `hidden`."""
    heads = {*item.keys, *item.columns, *(name.partition(".")[0] for name in item.values), *hidden, "status"}
    return list(dict.fromkeys(k for row in rows for k in row if k.partition(".")[0] not in heads))


def compared_table(item, source, rows, signs, hidden=(), *, printed_too=True, names=None):
    """Header, body and rest of the printed table: under each printed row that one of `rows`, called `source`.

    The rest are the printed rows without one of `rows`.
    signs   `marks` of their cells
    hidden  columns of `rows` that are not shown
    printed_too     False leaves the printed rows out: they are not comparable with embedded sample data
    names   {key column: {printed key: words in its place}} of a table with numbers printed side by side
    """
    more = added(item, rows, hidden)
    if any("cells" in row for row in item.raw["rows"]):
        return _across(item, source, rows, signs, more, printed_too, names or {})
    labelled = "label" in item.columns and item.keys == ("row",)   # a row is named by its label as printed
    columns = {k: c for k, c in item.columns.items()
               if k not in item.keys and c.get("type") != EXTRACTED and not (labelled and k == "label")}
    there = bare([*(item.rows if printed_too else ()), *rows])
    shown = {k: c for k, c in columns.items() if any(row.get(k) is not None for row in there)}
    header = [*(_label(item, k) for k in item.keys), "source", *(_label(item, k) for k in shown),
              *map(_not_printed, more)]
    shown |= {k: {} for k in more}
    by_key = {tuple(r.get(k) for k in item.keys): r for r in rows}
    body, rest = [], []
    for printed in item.rows:
        key = tuple(printed.get(k) for k in item.keys)
        lines = [[PUBLISHED, *(cell(printed.get(c), printed.get(c), column) for c, column in shown.items())]]
        if row := by_key.pop(key, None):
            own = {c: sign for (at, c), sign in signs.items() if at == key}
            nets = {one.n for one in map(as_cell, map(row.get, shown)) if not one.over} - {None}
            who = f"{source}, n = {nets.pop():g}" if len(nets) == 1 else source
            lines.append([who, *(cell(row.get(c), printed.get(c), column, own, c)
                                 for c, column in shown.items())])
        lines = lines if printed_too else lines[1:]
        if len(lines) == 2 and lines[0][1:] == lines[1][1:]:  # equal texts share a line
            lines = [[f"{PUBLISHED}, {lines[1][0]}", *lines[0][1:]]]
        first = [cell(printed["label"])] if labelled else [
            prose.in_words(cell(printed.get(k))) for k in item.keys]
        if len(shown) > 4:  # a wide table: a spread or a range goes under its value
            lines = [[c.replace(" ± ", "<br>± ").replace(" (", "<br>(") for c in line] for line in lines]
        _add(body, rest, first, lines)
    for key, row in by_key.items():     # the reader's own: no row was printed for it
        if any(k is not None for k in key):
            _add(body, rest, [prose.in_words(cell(part)) for part in key], [
                [source, *(cell(row.get(c), None, column) for c, column in shown.items())]])
    return header, body, rest


def _not_printed(column):
    return f"{prose.in_words(column)} (not printed)"


def _across(item, source, rows, signs, more, printed_too, names):
    """`compared_table` of a table that the paper prints with a class or a problem at the head of each column.

    A cell holds its numbers side by side, as printed: "99.88, 96.45", or a mean followed by "(0.92)", below
    them the range of the mean. Each of the columns `more` has a line of its own.
    """
    def name_of(column, key):
        return names.get(column, {}).get(key, key)

    *outer, head = item.keys
    heads = list(dict.fromkeys(c[head] for row in item.raw["rows"] for c in row["cells"]))
    given = [(who, {tuple(r.get(k) for k in item.keys): r for r in by_key}, marked)
             for who, by_key, marked in ((PUBLISHED, item.rows, {}), (source, rows, signs))
             if printed_too or by_key is not item.rows]
    body, rest = [], []
    for row in item.raw["rows"]:
        key = tuple(row.get(k) for k in outer)
        lines = [[who, *(_side_by_side(item, by_key.get((*key, h), {}), marked, (*key, h)) for h in heads)]
                 for who, by_key, marked in given]
        lines += [[_not_printed(k), *(cell(given[-1][1].get((*key, h), {}).get(k)) for h in heads)]
                  for k in more]
        if printed_too or any(any(line[1:]) for line in lines):
            _add(body, rest, [prose.in_words(cell(name_of(*pair))) for pair in zip(outer, key)], lines)
    return [*(_label(item, k) for k in outer), "source", *(str(name_of(head, h)) for h in heads)], body, rest


def _add(body, rest, first, lines):
    """Add the lines of a printed row that have values, after its name: to the rest without one of ours."""
    valued = [line for n, line in enumerate(lines) if n == 0 or any(line[1:])]
    (rest if [who for who, *_ in valued] == [PUBLISHED] else body).extend(
        [*(first if n == 0 else [""] * len(first)), *line] for n, line in enumerate(valued))


def _side_by_side(item, row, signs, key):
    """The results of one cell as the paper prints them, each with its sign; empty where there are none."""
    ranges = {c: in_range(as_cell(row.get(c)), c, item.columns.get(c)) for c in item.values}
    row = bare(row)
    there = {c: number(row[c], row[c], item.columns.get(c)) for c in item.values if row.get(c) is not None}
    if "std" in row and len(there) == 2:
        mean, std = (_signed(text, signs.get((key, c))) for c, text in there.items())
        return "<br>".join(filter(None, [f"{mean} ({std})", *ranges.values()]))
    texts = [_signed(f"{text} {ranges[c]}".strip(), signs.get((key, c))) for c, text in there.items()]
    return ("<br>" if any(ranges.values()) else ", ").join(texts)


def _label(item, key):
    """The heading of a column, as printed where it is printed, with the unit that its cells do not show."""
    column = item.columns.get(key) or {}
    words = prose.in_words(column.get("label") or key.removeprefix("printed_"))
    in_cells = any("%" in cell(row.get(key)) for row in item.rows)
    return f"{words}, {column['unit']}" if column.get("unit") in UNITS and not in_cells else words


def published_numbers(item, source, data, signs, *, printed_too=True):
    """Header and body of a figure's or method's printed numbers, with those of `data`, called `source`."""
    body, measured = [], flat(bare(data))
    for name, printed in item.printed_numbers.items():
        if text := " ".join(filter(None, [number(measured.get(name), printed), signs.get(((), name))])):
            body.append([prose.in_words(name), *[number(printed)] * printed_too, text])
    return ["number", *[PUBLISHED] * printed_too, source], body


def measured_so_far(record):
    """What is measured of an item as things that one can count: "12 of 45 runs, with 90 of 120 images".

    Empty where nothing is missing.
    """
    parts = dict(record["scale"]["parts"])
    runs, of = parts.pop("runs", (0, 0))
    texts = [f"{runs:,} of {of:,} runs"] * (runs < of)
    where = "with " if texts else "in all " if runs > 1 else ""
    for part, (actual, published) in parts.items():
        if actual < published:
            texts.append(f"{where}{actual:,} of {published:,} {prose.in_words(part)}")
            where = ""
    return ", ".join(texts)


def freshness(results):
    """What a reader should know of runs that are out of date; empty where there is none."""
    old, of = ({(s.name, n) for s in results for n in getattr(s, which)}
               for which in ("outdated", "published"))
    verb = "are" if len(old) > 1 else "is"
    return f"{len(old)} of {len(of)} runs {verb} out of date (measured by an older version)" if old else ""


def captioned(words, label):
    """A caption; that of a small run names it, since a page is about the recorded runs."""
    whole = label in ("recorded", REPRODUCED)
    return words if whole else f"{display.sentence(words)} ({label[0].upper()}{label[1:]}.)"


class _Pieces:
    """What a page shows of an item, piece by piece, as MyST."""

    def __init__(self, item, runs, pictures, caption, alt, built, hidden, names):
        self.item, self.runs, self.pictures, self.alt = item, runs, pictures or {}, alt or item.caption
        self.hidden, self.names = hidden, names
        self.rest = []    # published rows that are not reproduced yet
        self.main, *self.others = runs
        self.key, self.record = f"{item.paper}-{item.id}", runs[self.main]
        self.title = caption or f"{item.title}: {display.symbols(item.caption)}"
        self.headings = {label: REPRODUCED if label == "recorded" else label for label in runs}
        self.headings |= {self.main: built} if built else {}

    def judges(self, label):
        """Whether the numbers and statements of a run get marks: a small run of this page decides nothing."""
        scale = self.runs[label]["scale"]
        return label == "recorded" or (scale["fraction"] >= 1 and not scale["proxies"])

    def file(self, label):
        """Name of the picture of a run, in the folder of the page's pictures."""
        return f"{self.key}-{'recorded' if label == 'recorded' else 'run'}.png"

    def _tables(self, label):
        """Tables of the results of a run, as (header, body, rest, caption)."""
        item, run, source = self.item, self.runs[label], self.headings[label]
        real = not run["scale"]["proxies"]      # embedded sample data are compared with no printed value
        signs = marks(item, run["cells"]) if self.judges(label) else {}
        if item.rows and run.get("rows"):
            caption = f"{item.title}: {display.symbols(item.caption)}"
            yield *compared_table(item, source, run["rows"], signs, self.hidden, printed_too=real,
                                  names=self.names), caption
        data = run.get("data") if item.printed_numbers else None
        if data and (table := published_numbers(item, source, data, signs, printed_too=real))[1]:
            yield *table, [], f"{item.title}: {'published numbers' if real else 'numbers'}"

    def results(self):
        """The picture and the tables of the first run."""
        title = captioned(self.title, self.headings[self.main])
        if self.pictures and self.pictures[self.main] is None:
            lacks = "" if self.record["verdict"] == NOT_MEASURED else " There is nothing to draw."
            yield f"*{display.sentence(title)}{lacks}*"
        elif self.pictures:
            yield display.myst_figure(self.file(self.main), title, self.alt, self.key)
        for n, (header, body, rest, words) in enumerate(self._tables(self.main)):
            name = self.key if not self.pictures and n == 0 else None
            if body:
                yield display.myst_table(header, body, words, name=name)
            if rest:
                words = f"{self.item.title}: published rows that are not reproduced yet"
                self.rest.append(display.myst_table(header, rest, words, name=None if body else name))

    def line(self):
        """Under the result: what its marks come to, its badge, what came out. Nothing to compare: nothing."""
        record, word = self.record, self.record["verdict"]
        if self.main != "recorded" and (record["scale"]["proxies"] or record["scale"]["parts"]):
            yield f"Not measured: no run at full scale yet; what is shown is {self.main}."
            return
        if words := counted(record["cells"]):
            yield words
        if record.get("bias"):
            yield bias_table(self.item, record["bias"])
        tested = [c["holds"] for c in record["claims"] if c["holds"] is not None]
        noun = "tested statement" if len(tested) == 1 else "tested statements"
        words = [f"{sum(tested)} of {len(tested)} {noun} came out here, too"] * bool(tested)
        if tested and word == NOT_CONFIRMED and all(tested):
            words[0] = f"numbers differ; {words[0]}"
        elif tested and word == CONFIRMED and record["cells"] and not any(c["mark"] for c in record["cells"]):
            words.append("no number is compared")
        if record.get("evidence") or word == NOT_MEASURED:
            words = [record["reason"]]
        elif missing := measured_so_far(record):
            words.append(f"measured so far: {missing}")
        if word != NOTHING or tested:
            text = display.sentence("; ".join(words)) if words else ""
            alone = not (self.pictures or self.item.rows)       # no title above it
            name = f"{self.item.label}: " if alone else ""
            yield (f"{name}not measured: {text}" if word == NOT_MEASURED else
                   f"{display.badge(word)} {name}{text}" if word != NOTHING else f"{name}{text}")

    def details(self, results):
        """What the line summarises, in one fold: the reason, the claims, the values one by one.

        No fold where the line has it all.
        """
        record = self.record
        compared = record["verdict"] != NOTHING or record["claims"]     # else there is nothing to reason on
        texts = [display.sentence(display.symbols(record["reason"]))] * bool(
            compared and not record.get("evidence"))    # that of a theorem is its line
        if missing := measured_so_far(record):
            texts.append(f"Measured so far: {missing}.")
        if fresh := freshness(results):
            texts.append(f"{fresh}.")
        if record.get("note"):
            texts.append(record["note"])
        first = [" ".join(texts)] if texts and self.main == "recorded" else []
        if pieces := [*first, *self.claims(self.main), *self.rest]:
            yield display.folded("Statements and details", "\n\n".join(pieces))

    def claims(self, label):
        """The claims of the paper, judged by a run."""
        if judged := self.runs[label]["claims"]:
            legend = f" ({LEGEND})" if self.judges(label) else ""
            head = ["statement of the paper, or what its table shows", f"{self.headings[label]}{legend}"]
            body = [[display.symbols(claim["claim"]), self._judged(claim, label)] for claim in judged]
            title = f"{self.item.title}: statements"
            yield markdown_table(head, body) if label == self.main else display.myst_table(head, body, title)

    def _judged(self, claim, label):
        """Mark and evidence of a claim, without what it waits for where the verdict above says the same."""
        waits, so_far, shown = claim["evidence"].partition(judging.SO_FAR)
        once = so_far and waits in self.record["reason"]
        evidence = f"so far: {shown}" if once else claim["evidence"]
        return f"{MARK[claim['holds']]} {evidence}" if self.judges(label) else HERE[claim["holds"]] + evidence

    def of_other(self, label):
        """The picture, the tables and the claims of another run."""
        if self.pictures.get(label) is not None:
            yield display.myst_figure(self.file(label), captioned(self.title, label), self.alt)
        for header, body, _, words in self._tables(label):
            if body:
                yield display.myst_table(header, body, captioned(words, label))
        yield from self.claims(label)


def shown(item, runs, *, results=(), pictures=None, caption=None, alt=None, built=None, hidden=(),
          names=None):
    """`(MyST, MyST of other runs, pictures)` of an item.

    The notebook shows other runs under the item, the book at the end of the page.
    runs      {label: record}: the recorded one first where there is one, then this run's
    pictures  {label: PNG, or None where there is nothing to draw} of a figure
    built     what to call, in place of recorded, what has no runs and this build has computed at its size
    hidden    columns of a table's rows that are not shown
    names     see `compared_table`
    """
    of = _Pieces(item, runs, pictures, caption, alt, built, hidden, names)
    first = [*of.results(), *of.line(), *of.details(results)]
    others = [piece for label in of.others for piece in of.of_other(label)]
    drawn = {of.file(label): png for label, png in of.pictures.items() if png is not None}
    return "\n\n".join(first), "\n\n".join(others), drawn
