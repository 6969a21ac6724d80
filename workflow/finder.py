"""Keep the README's finder (paper, printed item, page) in step with what the notebooks declare.

python -m workflow.finder           write the table
python -m workflow.finder --check   exit 1 if it is out of step
"""
import re
import sys
from pathlib import Path

from report import reference
from shared import runtime
from workflow import catalogue

BLOCK = re.compile(r"(?<=<!-- finder -->\n).*?(?=<!-- /finder -->)", re.DOTALL)


def table():
    """The finder as Markdown: a line for each notebook, in the book's order of papers."""
    lines = ["| paper | tables, figures, ... | page |", "| --- | --- | --- |"]
    for key, short in reference.SHORT.items():
        for name in catalogue.notebooks():
            if name.startswith(f"{key}/"):
                labels = [reference.paper(key)[i].label for i in catalogue.items(name)]
                page = f"[{catalogue.title(name)}](notebooks/{name}.ipynb)"
                lines.append(f"| {short} | {', '.join(labels)} | {page} |")
    return "\n".join(lines) + "\n"


def main(readme="README.md", check=False):
    old = Path(readme).read_text()
    new = BLOCK.sub(lambda _: table(), old)
    if check and new != old:
        raise SystemExit(f"{readme}: the finder is out of step with the notebooks; "
                         "run `python -m workflow.finder`")
    if new != old:
        Path(readme).write_text(new)


if __name__ == "__main__":
    runtime.prepare(computes=False)
    main(check="--check" in sys.argv)
