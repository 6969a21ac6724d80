"""What the papers print: tables, figures, claims, theorems, read from `book/reference/<key>.json`."""
import dataclasses
import json
from functools import cached_property

from report.repository import ROOT
from shared import runtime

FOLDER = ROOT / "book" / "reference"
RESULT_KINDS = ("table", "figure", "algorithm", "theorem", "corollary", "lemma")  # what the book counts
KINDS = (*RESULT_KINDS, "procedure", "definition", "conjecture", "remark", "property", "equation")
# What an item is: an experiment's table or figure; what computation checks (a theorem, an algorithm, a figure
# of theory against sampling); a list or a drawing. A file names the sort of a table or figure that is no
# experiment, and as `view_of` the items whose numbers one shows again: these count once.
SORTS = ("measured", "derived", "descriptive")


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
    raw: dict            # its entry in the reference file

    @property
    def label(self):
        """As the paper prints it: `Table III`, `Theorem 6`; without a number what its file calls it."""
        return f"{self.kind.capitalize()} {self.number}" if self.number else self.raw["label"]

    @property
    def title(self):
        """For captions: `Ren et al., Table III`."""
        return f"{SHORT.get(self.paper, self.paper)}, {self.label}"

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
    def columns(self):
        """Columns of a table by key, else an empty dict."""
        return {c["key"]: c for c in self.raw.get("columns", [])}

    @cached_property
    def rows(self):
        """One dict a printed row, or a cell where a class or a problem heads each column; else an empty list.

        Such a row of the file (`class_a` 0 with the `cells` of `class_b` 1 to 9) is unfolded, so that its
        printed numbers (`train`, `test`, `mean`, `std`, `value`) are in rows that name what they belong to.
        """
        return [{**{k: v for k, v in row.items() if k not in ("cells", "n_cells")}, **cell}
                for row in self.raw.get("rows", []) for cell in row.get("cells", [{}])]

    def row(self, **wanted):
        """The printed row with these values; {} where there is none."""
        return next((row for row in self.rows if wanted.items() <= row.items()), {})

    @property
    def keys(self):
        """Names of the columns that tell the rows apart, as the table is read."""
        return tuple(self.raw.get("keys", ()))

    @property
    def values(self):
        """Names of the columns that hold results: those that neither tell rows apart nor state a setting."""
        return tuple(self.raw.get("values", ()))

    @cached_property
    def printed_numbers(self):
        """Numbers printed with a figure or method, by name; those of a panel as `<panel>.<name>`."""
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


@dataclasses.dataclass(frozen=True)
class Paper:
    """One paper: its bibliographic data and its items by id, in the paper's order."""
    key: str
    short: str           # how captions and tables name it, such as "Ren et al."
    order: float         # its place among the papers
    items: dict[str, Item]

    def __getitem__(self, item):
        if item not in self.items:
            have = ", ".join(self.items)
            raise runtime.UserError(f"paper {self.key!r} has no item {item!r}; it has: {have}")
        return self.items[item]


# ---- reading ---------------------------------------------------------------------------------------------
def read(path):
    """The paper of one reference file. Raises UserError naming file, place and remedy.

    The form of the files and their values is checked by the tests, not in each process.
    """
    place = ""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        items = {}
        for i in raw["items"]:
            place = i["id"]
            if i["kind"] not in KINDS:
                raise KeyError(f"kind {i['kind']}")
            if i.get("rows") and not i.keys() >= {"keys", "values"} or not (i["number"] or i.get("label")):
                raise KeyError("keys, values" if i["number"] else "label")
            items[i["id"]] = Item(path.stem, i["id"], i["kind"], i["number"], i["section"], i["caption"],
                                  tuple(i["claims"]), i)
        place, about = "paper", raw["paper"]
        return Paper(path.stem, about["short"], about["order"], items)
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())
        where = f"{place}: " if place else ""
        raise runtime.UserError(f"{path.name} cannot be read ({where}{reason}); restore it from the "
                                "repository or mend this place") from None


PAPERS = {paper.key: paper for paper in sorted(map(read, FOLDER.glob("[!.]*.json")), key=lambda p: p.order)}
KEYS = tuple(PAPERS)
SHORT = {key: paper.short for key, paper in PAPERS.items()}


def paper(key):
    """What the paper `key` prints, item by item. Raises UserError for an unknown key."""
    if key not in PAPERS:
        raise runtime.UserError(f"unknown paper {key!r}; allowed: {', '.join(KEYS)}")
    return PAPERS[key]
