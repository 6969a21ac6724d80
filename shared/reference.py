"""What the papers print: tables, figures, claims, theorems, read from `book/reference/<key>.json`."""
import dataclasses
import json
from functools import cache

from shared import ROOT

FOLDER = ROOT / "book" / "reference"
# How each paper is named in captions and tables; the order is the book's.
SHORT = {"ren": "Ren et al.", "shu": "Shu et al.", "he": "He et al.", "sutton": "Sutton et al.", "chen": "Chen et al."}
KEYS = tuple(SHORT)
RESULT_KINDS = ("table", "figure", "algorithm", "theorem", "corollary", "lemma")  # what the book counts


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
        """As the paper prints it: `Table III`, `Theorem 6`, or the caption's first words where it has no number."""
        return f"{self.kind.capitalize()} {self.number}" if self.number else self.id.replace("-", " ").capitalize()

    @property
    def title(self):
        """For captions: `Ren et al., Table III`."""
        return f"{SHORT[self.paper]}, {self.label}"

    @property
    def rows(self):
        """Printed rows of a table, else an empty list."""
        return self.raw.get("rows", [])

    @property
    def columns(self):
        """Columns of a table by key, else an empty dict."""
        return {c["key"]: c for c in self.raw.get("columns", [])}


@dataclasses.dataclass(frozen=True)
class Paper:
    """One paper: its bibliographic data and its items by id, in the paper's order."""
    key: str
    title: str
    about: dict
    items: dict[str, Item]

    def __getitem__(self, item):
        if item not in self.items:
            raise ValueError(f"paper {self.key!r} has no item {item!r}; it has: {', '.join(self.items)}")
        return self.items[item]


@cache
def paper(key):
    """The paper `key`. Raises ValueError for an unknown key or a reference file that cannot be read."""
    if key not in KEYS:
        raise ValueError(f"unknown paper {key!r}; allowed: {', '.join(KEYS)}")
    path = FOLDER / f"{key}.json"
    try:
        raw = json.loads(path.read_text())
        items = {i["id"]: Item(key, i["id"], i["kind"], i["number"], i["section"], i["caption"],
                               tuple(i["claims"]), i) for i in raw["items"]}
        return Paper(key, raw["paper"]["title"], raw["paper"], items)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path.name} cannot be read ({error!r}); restore it from the repository") from None
