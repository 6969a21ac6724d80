"""Keep the README's finder (paper, printed item, page) in step with what the notebooks declare.

python -m workflow.finder
"""
import re

from report import reference
from report.repository import ROOT
from shared import runtime
from workflow import catalogue

README = ROOT / "README.md"
BLOCK = re.compile(r"(?<=<!-- finder -->\n).*?(?=<!-- /finder -->)", re.DOTALL)


def renewed(text):
    """The text of the README with its finder: a line for each notebook, in the book's order of papers."""
    lines = ["| paper | tables, figures, ... | page |", "| --- | --- | --- |"]
    for key, short in reference.SHORT.items():
        for name in catalogue.notebooks():
            if name.startswith(f"{key}/"):
                labels = [reference.paper(key)[i].label for i in catalogue.items(name)]
                page = f"[{catalogue.title(name)}](notebooks/{name}.ipynb)"
                lines.append(f"| {short} | {', '.join(labels)} | {page} |")
    return BLOCK.sub(lambda _: "\n".join([*lines, ""]), text)


def main():
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    runtime.prepare(computes=False)
    main()
