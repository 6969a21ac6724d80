"""Show plain-text docstrings as they were written.

The docstrings of `shared` are for reading in an editor: `names` in single backticks, arguments in aligned
columns. Read as reStructuredText the columns would be errors. So paragraphs become paragraphs, names with an
aligned text beside them become definitions, lists stay lists, and other aligned or indented paragraphs become
literal blocks.
"""
import re

ALIGNED = re.compile(r"\S {2,}\S")
NAMED = re.compile(r"(\S+(?: \S+)*) {2,}(\S.*)")  # a name, its text in the next column
CODE = re.compile(r"(`[^`]+`)")


def prose(line):
    """A line of running text: code stays code, and nothing else is markup."""
    parts = [f"`{p}`" if n % 2 else re.sub(r"([\\*|_`])", r"\\\1", p) for n, p in enumerate(CODE.split(line))]
    for n in range(2, len(parts), 2):
        if parts[n][:1].isalnum():  # as in `Unit`s
            parts[n] = rf"\ {parts[n]}"
    return "".join(parts)


def entries(lines):
    """`[(name, lines of its text)]` of aligned columns, with name None of a list; else None."""
    made = []
    for line in lines:
        if match := NAMED.fullmatch(line):
            made.append((match[1].replace("`", ""), [match[2]]))
        elif line.startswith("- "):
            made.append((None, [line[2:]]))
        elif line.startswith(" ") and made and not ALIGNED.search(line.strip()):
            made[-1][1].append(line.strip())
        else:
            return None
    return made if len({name is None for name, _ in made}) == 1 else None


def paragraph(lines):
    if made := entries(lines):
        shown = []
        for name, text in made:
            told = prose(" ".join(text))  # code may go over the end of a line
            shown += [f"- {told}"] if name is None else [f"``{name}``", f"  {told}"]
        return shown
    if any(line.startswith(" ") or ALIGNED.search(line) for line in lines):
        return [".. code-block:: text", "", *(f"   {line}" for line in lines)]
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
