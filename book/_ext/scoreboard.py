"""How the items of the papers stand, made from the records: of all papers as the scoreboard, and of one."""
from beside import downloads, issue
from counts import everything
from places import place

from report import reference
from report.display import MARK, badge, folded, markdown_table, sentence, symbols
from report.pieces import measured_so_far
from report.verdict import failing

HEADER = ["item", "paper", "kind", "verdict", "measured so far", "in short", "data", "sort"]
OTHERS = "Equations, definitions, procedures"  # what the book does not count as results


def row(item, kept, word):
    """What every list says of an item: label, verdict, how much is measured, why."""
    why = "; ".join(filter(None, [kept["reason"], failing(kept["claims"])])) if kept else item.caption
    return [place(item), badge(word), measured_so_far(kept) if kept else "", symbols(why)]


def table(header, rows):
    """A table without the columns that are empty in every row."""
    kept = [n for n in range(len(header)) if any(row[n] for row in rows)]
    return markdown_table([header[n] for n in kept], [[row[n] for n in kept] for row in rows])


# ---- all papers ------------------------------------------------------------------------------------------
def scoreboard(_):
    """All items as tables that scoreboard.js sorts and filters; without it they are there to be read."""
    groups = {"": [], OTHERS: []}
    for item, kept, _, word in everything():
        title, verdict, scale, why = row(item, kept, word)
        links = [" · ".join(downloads(item, kept, "book/reproduction")), issue(item)]
        cells = [title, reference.SHORT[item.paper], item.kind, verdict,
                 scale.partition(", ")[0],  # the rest stands on its page
                 sentence(why) if why else "", "<br>".join(filter(None, links)), item.sort]
        groups["" if item.kind in reference.RESULT_KINDS else OTHERS].append(cells)
    parts = []
    for title, rows in groups.items():
        if rows:
            shown = f":::{{div}} scoreboard\n{markdown_table(HEADER, rows)}\n:::"
            shown = folded(f"{title}: {len(rows)}", shown) if title else shown
            parts.append(f":::::{{div}} full-width\n{shown}\n:::::")
    return "\n\n".join(parts)


# ---- one paper -------------------------------------------------------------------------------------------
def items(paper):
    """The items of a paper, those that the book does not count as results folded."""
    groups = {True: [], False: []}
    for item, kept, _, word in everything():
        if item.paper == paper:
            groups[item.kind in reference.RESULT_KINDS].append(row(item, kept, word))
    header = ["item", "verdict", "measured so far", "in short"]
    results, others = (f":::{{div}} item-list\n{table(header, rows)}\n:::" for rows in groups.values())
    rest = folded(f"{OTHERS}: {len(groups[False])}", others)
    return f":::::{{div}} full-width\n{results}\n\n{rest}\n:::::"


def claims(paper):
    """Every statement of a paper's items, and whether it came out here, too."""
    rows = []
    for item, kept, *_ in everything():
        for n, claim in enumerate(item.claims if item.paper == paper else ()):
            judged = kept["claims"][n] if kept else {"holds": "", "evidence": ""}
            rows.append([item.label, symbols(claim), MARK.get(judged["holds"], ""), judged["evidence"]])
    return table(["item", "statement", "here, too", "what we measured"], rows)
