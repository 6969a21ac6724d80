"""Begin a paper or a page with a small one that runs, the example in `workflow/template`.

python -m workflow.new KEY              a paper, such as doe: printed values, package, opening and first page
python -m workflow.new KEY NAME ITEM    a further page, such as doe 4_more table-2
"""
import json
import re
import sys

from report.repository import ROOT
from shared import runtime
from shared.runtime import UserError

TEMPLATE = ROOT / "workflow/template"
FIRST = "3_accuracy", "table-1"     # name and item of the example's page
BIBLIOGRAPHY = "@misc{%s2026,\n  author = {Doe, Jane},\n  title = {A paper},\n  year = {2026}\n}\n"


def copy(source, target, words):
    """Write a file of the example with other `words`. Raises UserError where the file is there already."""
    if target.exists():
        raise UserError(f"{target.relative_to(ROOT)}: there already; nothing was changed")
    text = (TEMPLATE / source).read_text(encoding="utf-8")
    for word, other in words.items():
        text = text.replace(word, other)
    runtime.write_text(target, text)


def edit(path, pattern, replacement):
    """Replace the last place of `pattern` in a file of the repository."""
    text = (ROOT / path).read_text(encoding="utf-8")
    *_, place = re.finditer(pattern, text, re.MULTILINE)
    text = text[:place.start()] + place.expand(replacement) + text[place.end():]
    runtime.write_text(ROOT / path, text)


def paper(key):
    """Write the files of a paper, and its first page."""
    if not re.fullmatch("[a-z]+", key):
        raise UserError(f"KEY={key!r}; allowed: small letters, such as doe")
    words = {"doe": key, "Doe": key.capitalize()}
    for source, target in {"reference.json": f"book/reference/{key}.json", "paper.md": f"book/{key}.md",
                           **{name: f"papers/{key}/{name}"
                              for name in ("__init__.py", "experiments.py", "claims.py")}}.items():
        copy(source, ROOT / target, words)
    edit("book/references.bib", r"\Z", BIBLIOGRAPHY % key)
    edit("pyproject.toml", r'^modules = \["papers.*(?=\])', rf'\g<0>, "papers.{key}"')
    edit("_toc.yml", "^  - caption: Audit$", f"  - caption: {key.capitalize()} et al.\n    chapters:\n"
         f"      - file: book/{key}\n        sections:\n          - file: notebooks/{key}/{FIRST[0]}\n\\g<0>")
    copy("page.py", ROOT / f"notebooks/{key}/{FIRST[0]}.py", words)


def page(key, name, item):
    """Write a page for an item of a paper that is there."""
    printed = ROOT / f"book/reference/{key}.json"
    items = printed.exists() and json.loads(printed.read_text(encoding="utf-8"))["items"]
    labels = {i["id"]: f"{i['kind'].capitalize()} {i['number']}" if i["number"] else i["label"]
              for i in items or ()}
    if item not in labels or not re.fullmatch(r"\w+", name):
        raise UserError(f"KEY={key!r} NAME={name!r} ITEM={item!r}; needed: a paper of book/reference, a name "
                        f"such as 4_more, one of its items: {', '.join(labels) or 'the paper has none'}")
    old, table = FIRST
    copy("page.py", ROOT / f"notebooks/{key}/{name}.py", {
        old: name, old.replace("_", "-"): name.replace("_", "-").lower(), f"# - {table}": f"# - {item}",
        f'"{table}"': f'"{item}"', "## Table 1:": f"## {labels[item]}:", "doe": key, "Doe": key.capitalize()})
    line = f"          - file: notebooks/{key}/"
    edit("_toc.yml", f"^{line}.*$", rf"\g<0>\n{line}{name}")


if __name__ == "__main__":
    runtime.prepare(computes=False)
    if len(sys.argv) not in (2, 4):
        raise UserError("usage: make paper KEY=doe, or make page KEY=doe NAME=4_more ITEM=table-2")
    (paper if len(sys.argv) == 2 else page)(*sys.argv[1:])
