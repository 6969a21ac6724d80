"""The reference files as rows, and the messages for a damaged one."""
import json
import re
from collections import Counter
from typing import Literal

import msgspec
import pytest

from papers.ren import experiments as ren
from report import reference
from report.repository import ROOT
from shared import runtime

TABLES = [i for p in reference.PAPERS.values() for i in p.items.values() if i.rows]
CELLS = [i for i in TABLES if any("cells" in r for r in i.raw["rows"])]
FIVE = ["ren", "shu", "he", "sutton", "chen"]     # another paper changes no count here


def ids(items):
    return [f"{i.paper}-{i.id}" for i in items]


# ---- what is there -----------------------------------------------------------------------------------------
def test_papers_stand_in_the_books_order_and_hold_every_id_of_their_files():
    assert list(reference.PAPERS) == list(reference.KEYS) and list(reference.KEYS)[:5] == FIVE
    for key, paper in reference.PAPERS.items():
        raw = json.loads((reference.FOLDER / f"{key}.json").read_text())
        assert list(paper.items) == [i["id"] for i in raw["items"]]
    assert {i.kind for p in reference.PAPERS.values() for i in p.items.values()} == set(reference.KINDS)


def test_the_files_have_as_many_items_of_a_kind_as_the_papers_print():
    kinds = [i.kind for key in FIVE for i in reference.paper(key).items.values()]
    assert (kinds.count("table"), kinds.count("figure")) == (54, 55)
    assert sum(kinds.count(k) for k in ("theorem", "corollary", "lemma")) == 20


def test_items_are_measured_derived_or_descriptive_and_views_name_what_they_show():
    items = {(key, i.id): i for key in FIVE for i in reference.paper(key).items.values()}
    counted = Counter(i.sort for i in items.values() if i.kind in reference.RESULT_KINDS)
    assert counted == {"measured": 91, "derived": 24, "descriptive": 16}
    assert items["sutton", "figure-4"].sort == "derived" and items["chen", "equation-1"].sort == "derived"
    assert items["sutton", "figure-15"].view_of == ["table-13", "table-15", "table-17"]
    assert all(items[key, other].sort == "measured" for (key, _), i in items.items() for other in i.view_of)


def test_unknown_papers_and_items_are_named():
    with pytest.raises(runtime.UserError, match="unknown paper 'rem'; allowed: ren, shu"):
        reference.paper("rem")
    with pytest.raises(runtime.UserError, match="paper 'ren' has no item 'table-9'; it has: table-1"):
        reference.paper("ren")["table-9"]


# ---- rows --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("item", TABLES, ids=ids(TABLES))
def test_keys_tell_all_rows_apart_and_values_are_no_keys(item):
    assert len({tuple(r[k] for k in item.keys) for r in item.rows}) == len(item.rows)
    assert item.values and not set(item.keys) & set(item.values)
    assert all(k in r for r in item.rows for k in item.keys)


@pytest.mark.parametrize("item", CELLS, ids=ids(CELLS))
def test_every_printed_cell_is_a_row_with_all_its_fields(item):
    printed = [(r, c) for r in item.raw["rows"] for c in r["cells"]]
    assert len(item.rows) == len(printed) == sum(r["n_cells"] for r in item.raw["rows"])
    for row, (outer, cell) in zip(item.rows, printed):
        assert row == {k: v for k, v in (outer | cell).items() if k not in ("cells", "n_cells")}
    assert set(item.values) <= {"train", "test", "mean", "std", "value"}


def test_nineteen_tables_are_unfolded_by_classes_or_problems():
    assert sum(i.paper in FIVE for i in CELLS) == 19
    sutton = reference.paper("sutton")
    assert sutton["table-4"].keys == ("class_a", "class_b") and len(sutton["table-4"].rows) == 45
    assert sutton["table-6"].keys == ("class_a", "split", "class_b") and len(sutton["table-6"].rows) == 90
    assert sutton["table-13"].keys == ("quantity", "norm", "split", "problem")
    assert sutton["table-20"].keys == ("quantity", "delta_inferred", "problem")
    assert all(r["class_a"] < r["class_b"] for n in range(4, 13) for r in sutton[f"table-{n}"].rows)
    pair, = [r for r in sutton["table-4"].rows if (r["class_a"], r["class_b"]) == (0, 2)]
    assert (pair["train"], pair["test"]) == (99.31, 91.7)


def test_printed_numbers_are_named_by_panel():
    numbers = reference.paper("sutton")["figure-11"].printed_numbers
    assert numbers["b.l1"] == 67.98 and numbers["misclassifying_fraction_pct"] == 4.15 and len(numbers) == 10
    assert reference.paper("he")["procedure-cost-boundary"].printed_numbers["seconds_per_image_slowest"] == 70
    assert reference.paper("ren")["table-1"].printed_numbers == {}


# ---- form --------------------------------------------------------------------------------------------------
class Column(msgspec.Struct):
    key: str
    label: str
    type: str
    decimals: int | None = None


class Form(msgspec.Struct):
    """The fields of an item."""
    id: str
    kind: Literal[reference.KINDS]
    number: str | None
    section: str
    caption: str
    settings: dict
    claims: list[str]
    columns: list[Column] = []
    rows: list[dict] = []
    keys: list[str] = []
    values: list[str] = []
    label: str | None = None
    sort: Literal[reference.SORTS] = "measured"
    view_of: list[str] = []
    must_contain: list[str] = []
    printed_numbers: list[dict] | dict = []


class Table(Form, kw_only=True):
    columns: list[Column]
    rows: list[dict]
    keys: list[str]
    values: list[str]


@pytest.mark.parametrize("key", reference.KEYS)
def test_every_item_has_the_form_and_finite_numbers(key):
    text = (reference.FOLDER / f"{key}.json").read_text()
    raw = json.loads(text, parse_constant=lambda name: pytest.fail(f"{key}.json holds {name}"))
    assert len({i["id"] for i in raw["items"]}) == len(raw["items"])
    for i in raw["items"]:
        msgspec.convert(i, Table if i["kind"] == "table" else Form)
        for row in i.get("rows", []):
            assert row.get("n_cells") is None or row["n_cells"] == len(row["cells"]), i["id"]
        item = reference.paper(key)[i["id"]]
        assert set(item.view_of) <= {other["id"] for other in raw["items"]}
        numbers = i.get("printed_numbers", [])
        count = (len(numbers) if isinstance(numbers, dict)
                 else sum(1 if "name" in n else len(n) - 1 for n in numbers))
        assert count == len(item.printed_numbers), f"{item.id}: a number is named twice"
        assert {*map(type, item.printed_numbers.values())} <= {int, float, type(None)}, item.id


def test_the_example_of_a_paper_is_one_and_its_fields_are_described():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    item = reference.read(ROOT / "workflow/template/reference.json")["table-1"]
    msgspec.convert(item.raw, Table)
    assert (item.keys, item.values, len(item.claims)) == (("classifier",), ("accuracy",), 1)
    described = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^   \| (`.*?) \|", text, re.MULTILINE))))
    assert {*item.raw, "short", "order"} <= described
    assert all(f"`{kind}`" in text for kind in reference.KINDS)


def test_a_lost_field_and_an_unknown_kind_are_named_in_one_line(tmp_path):
    raw = json.loads((reference.FOLDER / "sutton.json").read_text())
    item, *_ = raw["items"]
    for fields, message in ((item | {"kind": "thoerem"}, "kind thoerem"),
                            ({k: v for k, v in item.items() if k != "caption"}, "caption")):
        (tmp_path / "sutton.json").write_text(json.dumps(raw | {"items": [fields]}))
        with pytest.raises(runtime.UserError, match=f"sutton.json.*{item['id']}: .*{message}"):
            reference.read(tmp_path / "sutton.json")


@pytest.mark.parametrize("text", ["", "[]", '{"items": []}', '{"paper": {"title": "t"}}', "\x00",
                                  '{"paper": {"title": "t", "order": 1}, "items": []}'])
def test_what_is_no_reference_file_is_named(tmp_path, text):
    path = tmp_path / "he.json"
    path.write_text(text)
    with pytest.raises(runtime.UserError, match="he.json.*restore"):
        reference.read(path)
    with pytest.raises(runtime.UserError, match="other.json cannot be read"):
        reference.read(tmp_path / "other.json")


def test_pruning_is_measured_at_the_printed_settings():
    printed = reference.paper("ren")["table-4"].settings["pruning_settings"]
    assert [(s["t"], s["T"]) for s in printed] == list(ren.SETTINGS)
