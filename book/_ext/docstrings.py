"""Show plain-text docstrings as they were written.

The docstrings of `shared` are for reading in an editor: `names` in single backticks, arguments in aligned
columns. Read as reStructuredText the columns would be errors. So paragraphs become paragraphs, and aligned or
indented ones become literal blocks.
"""
import re

ALIGNED = re.compile(r"\S {2,}\S")
CODE = re.compile(r"(`[^`]+`)")


def prose(line):
    """A line of running text: code stays code, and nothing else is markup."""
    parts = CODE.split(line)
    return "".join(f"`{p}`" if n % 2 else re.sub(r"([\\*|_`])", r"\\\1", p) for n, p in enumerate(parts))


def paragraph(lines):
    if any(line.startswith(" ") or ALIGNED.search(line) for line in lines):
        return ["::", "", *(f"   {line}" for line in lines)]
    return [prose(line) for line in lines]


def process(app, what, name, obj, options, lines):
    shown, block = [], []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line.rstrip())
        elif block:
            shown += [*paragraph(block), ""]
            block = []
    lines[:] = shown


def setup(app):
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
