"""What the papers print: tables, figures, claims, theorems, read from `book/reference/<key>.json`."""
import dataclasses
import json
import math
from functools import cache, cached_property

from shared import ROOT, runtime

FOLDER = ROOT / "book" / "reference"
# How each paper is named in captions and tables, in the book's order. Another paper's file says it itself, in
# its `paper` block: `short` and `order` (a number; these five count as 0 to 4).
NAMED = {"ren": "Ren et al.", "shu": "Shu et al.", "he": "He et al.", "sutton": "Sutton et al.",
         "chen": "Chen et al."}
RESULT_KINDS = ("table", "figure", "algorithm", "theorem", "corollary", "lemma")  # what the book counts
KINDS = (*RESULT_KINDS, "procedure", "definition", "conjecture", "remark", "property", "equation")
# What an item is: an experiment's table or figure; what computation checks (a theorem, an algorithm, a figure
# of theory against sampling); a list or a drawing. A file names the sort of a table or figure that is no
# experiment, and as `view_of` the items whose numbers one shows again: these count once.
SORTS = ("measured", "derived", "descriptive")
# How the words of an id are written where it has no number.
SPELT = {"cost boundary": "cost of the boundary", "cost optmargin": "cost of OptMargin",
         "training noise": "training with noise", "cao gong": "Cao and Gong", "optmargin": "OptMargin",
         "imagenet": "ImageNet", "pgd": "PGD", "pearson": "Pearson correlation"}
# Columns of numbers that say which row a row is, or under which setting it was made: never results. Text
# columns need no such list; an item whose rows are told apart otherwise states its own `keys` in its file.
DESCRIBING = ("class_a", "class_b", "source_class", "target_class", "delta", "delta_inferred", "index",
              "layer", "layer_inferred", "layers", "neurons", "printed_row", "t", "T")


@dataclasses.dataclass(frozen=True)
class Item:
    """One table, figure, theorem, ... of a paper, as printed."""
    paper: str
    id: str
    kind: str
    number: str | None
    section: str
    caption: str
    claims: tuple[str, ...]
    raw: dict            # everything the reference file says of it

    @property
    def label(self):
        """As the paper prints it: `Table III`, `Theorem 6`; without a number `Pixel pruning (procedure)`."""
        if self.number:
            return f"{self.kind.capitalize()} {self.number}"
        words = self.id.removeprefix(f"{self.kind}-").replace("-", " ")
        for plain, proper in SPELT.items():
            words = words.replace(plain, proper)
        return f"{words[0].upper()}{words[1:]} ({self.kind})"

    @property
    def title(self):
        """For captions: `Ren et al., Table III`."""
        return f"{SHORT.get(self.paper, self.paper)}, {self.label}"

    @property
    def reconstructed(self):
        """Whether its formula is lost in the text that we have, and ours is derived from the words."""
        lost = str(self.raw.get("transcription_notes") or "").startswith("Formula lost")
        return lost or self.raw.get("formula_printed", "") is None

    @property
    def sort(self):
        """One of `SORTS`."""
        return self.raw.get("sort", "measured" if self.kind in ("table", "figure") else "derived")

    @property
    def view_of(self):
        """Ids of the items whose numbers it shows again; mostly none."""
        return self.raw.get("view_of", [])

    @property
    def settings(self):
        """The experimental parameters the paper states for it; None where it is silent."""
        return self.raw.get("settings", {})

    @property
    def must_contain(self):
        """What a regenerated figure has to show."""
        return self.raw.get("must_contain", [])

    @property
    def columns(self):
        """Columns of a table by key, else an empty dict."""
        return {c["key"]: c for c in self.raw.get("columns", [])}

    @cached_property
    def rows(self):
        """One dict a printed row, or a cell where a class or a problem heads each column; else an empty list.

        Such a row of the file (`class_a` 0 with the `cells` of `class_b` 1 to 9) is unfolded, so that its
        printed numbers (`train`, `test`, `mean`, `std`, `value`) stand in rows that say what they belong to.
        Rows that nothing printed tells apart are numbered (`printed_row`, from 1).
        """
        rows = [{**{k: v for k, v in row.items() if k not in ("cells", "n_cells")}, **cell}
                for row in self.raw.get("rows", []) for cell in row.get("cells", [{}])]
        plain = not any("cells" in row for row in self.raw.get("rows", []))
        if plain and _prefix(rows, self._describing(rows)) is None:
            return [{**row, "printed_row": n} for n, row in enumerate(rows, 1)]
        return rows

    def _describing(self, rows):
        """Columns of the rows that say what a row is, in printed order."""
        if "keys" in self.raw:
            return tuple(self.raw["keys"])

        def describes(name):
            kinds = {type(row[name]) for row in rows if row.get(name) is not None}
            return name in DESCRIBING or str in kinds or self.columns.get(name, {}).get("type") == "string"

        return tuple(name for name in dict.fromkeys(k for row in rows for k in row) if describes(name))

    @cached_property
    def keys(self):
        """Names of the columns that tell the rows apart: the first ones that do, as the table is read."""
        names = self._describing(self.rows)
        prefix = _prefix(self.rows, names)
        return names if prefix is None else prefix

    @cached_property
    def values(self):
        """Names of the columns that hold results: all that neither tell rows apart nor state a setting."""
        names = dict.fromkeys(k for row in self.rows for k in row)
        results = [n for n in names if n not in self._describing(self.rows)]
        # A list of names (the classes of a data set) describes nothing else: there the names are the content.
        return tuple(results or [n for n in names if n not in self.keys and n in self.columns])

    @cached_property
    def printed_numbers(self):
        """Numbers printed beside a figure or method, by name; those of a panel as `<panel>.<name>`."""
        printed = self.raw.get("printed_numbers", {})
        if isinstance(printed, dict):
            return dict(printed)
        pairs = []
        for entry in printed:
            if "name" in entry:
                pairs.append((entry["name"], entry["value"]))
            else:
                pairs += [(f"{entry['panel']}.{k}", v) for k, v in entry.items() if k != "panel"]
        return dict(pairs)


def _prefix(rows, names):
    """The shortest beginning of `names` that tells all rows apart, or None."""
    for n in range(len(names) + 1):
        if len({tuple(row.get(k) for k in names[:n]) for row in rows}) == len(rows):
            return names[:n] or names[:1]
    return None


@dataclasses.dataclass(frozen=True)
class Paper:
    """One paper: its bibliographic data and its items by id, in the paper's order."""
    key: str
    title: str
    about: dict
    items: dict[str, Item]

    def __getitem__(self, item):
        if item not in self.items:
            have = ", ".join(self.items)
            raise runtime.UserError(f"paper {self.key!r} has no item {item!r}; it has: {have}")
        return self.items[item]


# ---- reading ---------------------------------------------------------------------------------------------
def _short_names(folder):
    """`{key: short name}` of the papers in `folder`, in the book's order; `read` names what is damaged."""
    papers = []
    for path in folder.glob("*.json"):
        key, about = path.stem, {}
        try:
            about = json.loads(path.read_text())["paper"]
            order = float(about.get("order", list(NAMED).index(key) if key in NAMED else math.inf))
            short = str(about.get("short", NAMED.get(key, key)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            order, short = (list(NAMED).index(key), NAMED[key]) if key in NAMED else (math.inf, key)
        papers.append((order, key, short))
    return {key: short for _, key, short in sorted(papers)}


SHORT = _short_names(FOLDER)
KEYS = tuple(SHORT)


def papers():
    """All papers by key, in the book's order."""
    return {key: paper(key) for key in KEYS}


@cache
def paper(key):
    """The paper `key`. Raises UserError for an unknown key, or for a damaged file, naming the place."""
    if key not in KEYS:
        runtime.repository("book/reference")
        raise runtime.UserError(f"unknown paper {key!r}; allowed: {', '.join(KEYS)}")
    return read(FOLDER / f"{key}.json")


def read(path):
    """The paper of one reference file. Raises UserError naming file, place and remedy.

    The form of the files and their values is checked by the tests, not in each process.
    """
    place = ""
    try:
        raw = json.loads(path.read_text())
        items = {}
        for i in raw["items"]:
            place = i["id"]
            if i["kind"] not in KINDS:
                raise KeyError(f"kind {i['kind']}")
            items[i["id"]] = Item(path.stem, i["id"], i["kind"], i["number"], i["section"], i["caption"],
                                  tuple(i["claims"]), i)
        place = "paper"
        return Paper(path.stem, raw["paper"]["title"], raw["paper"], items)
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())
        where = f"{place}: " if place else ""
        raise runtime.UserError(f"{path.name} cannot be read ({where}{reason}); restore it from the "
                                "repository or mend this place") from None
