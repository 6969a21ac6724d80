"""Beside each item: its data to download, and a way to report an error."""
import json
from functools import cache
from html import escape
from urllib.parse import quote

import pandas as pd
import yaml
from places import ROOT
from sphinx.util.fileutil import copy_asset

from report import comparison, record
from report.repository import results_folder


# ---- links -----------------------------------------------------------------------------------------------
@cache
def repository():
    """Address of the repository, from the book's configuration."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"].rstrip("/")


def issue(item):
    """A link that opens an issue of the repository, its title filled in."""
    address = f"{repository()}/issues/new?title={quote(f'{item.title}: ')}"
    return (f'<a href="{escape(address)}" aria-label="report an error in {escape(item.title)}">'
            "report an error</a>")


def downloads(item, kept, docname):
    """Links from a page to the files of an item's record: JSON, and CSV where it has rows."""
    base = f"{'../' * docname.count('/')}data/{item.paper}/{item.id}"
    kinds = ["JSON"] * bool(kept) + ["CSV"] * bool(kept and kept.get("rows"))
    return [f'<a href="{base}.{k.lower()}" download aria-label="{k} of {escape(item.title)}">{k}</a>'
            for k in kinds]


def notes(item, docname):
    """The line under an item's heading: its data, and where to report an error."""
    files = " ".join(downloads(item, record.read(item.paper, item.id), docname))
    return f":::{{div}} item-notes\n{f'data: {files} · ' if files else ''}{issue(item)}\n:::"


# ---- files -----------------------------------------------------------------------------------------------
def rows_as_csv(rows, path):
    """Rows of a record as a CSV file; a part of a cell, such as its `value`, stands under `column.part`."""
    pd.DataFrame(map(comparison.flat, rows), dtype=object).to_csv(path, index=False)


def copy(folder):
    """The records as files of the built site: `<paper>/<item>.json`, and `.csv` where they have rows."""
    copy_asset(results_folder() / "paper", folder)
    for file in folder.glob("*/[!.]*.json"):
        if rows := json.loads(file.read_text(encoding="utf-8")).get("rows"):
            rows_as_csv(rows, file.with_suffix(".csv"))
