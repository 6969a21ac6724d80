"""The scoreboard: how every item of the papers stands, made from the records."""
from collections import Counter
from html import escape

from beside import downloads, report
from counts import everything, words
from places import place

HEADER = ["item", "paper", "kind", "verdict", "scale", "in short", "data", "sort"]
OTHERS = "Equations, definitions, procedures"  # what the book does not count as results
SORTED = {"": "of the papers", "paper": "by paper", "kind": "by kind", "sort": "by sort",
          "verdict": "by verdict", "scale": "by scale"}  # what scoreboard.js sorts by


# ---- the scoreboard --------------------------------------------------------------------------------------
def scoreboard(_):
    """All items as tables that scoreboard.js sorts and filters; without it they are there to be read."""
    from report import reference
    from report.display import folded
    all_items = everything()
    main = [e for e in all_items if e[0].kind in reference.RESULT_KINDS]
    groups = {"": main,
              OTHERS: [e for e in all_items if e not in main]}
    parts = [f"```{{raw}} html\n{controls(all_items)}\n```"]
    for title, entries in groups.items():
        if entries:
            shown = f":::{{div}} scoreboard\n{table(entries)}\n:::"
            shown = folded(f"{title}: {len(entries)}", shown) if title else shown
            parts.append(f":::::{{div}} full-width\n{shown}\n:::::")
    return "\n\n".join(parts)


def table(items):
    from report.display import markdown_table
    return markdown_table(HEADER, [row(*entry) for entry in items])


def row(item, kept, page, word):
    from report import reference
    from report.display import badge, sentence, symbols
    from report.results import scale_words
    why = kept["reason"] if kept else symbols(item.caption)
    return [place(item), reference.SHORT[item.paper], item.kind, badge(word, item),
            scale_words(kept).partition(" (")[0] if kept else "",  # its parts stand on its page
            sentence(why),
            "<br>".join(filter(None, (" · ".join(downloads(item, kept, "book/reproduction")),
                                      report(item)))),
            item.sort]


def controls(items):
    """The form above the scoreboard, hidden until scoreboard.js has given it work."""
    from report import reference

    def choice(name, options):
        """A labelled list `{value: how it reads}`."""
        choices = "".join(f'<option value="{escape(k)}">{escape(v)}</option>' for k, v in options.items())
        return f'<label>{name} <select name="{name}">{choices}</select></label>'

    def counted(counts):
        return {"": "all"} | {k: f"{k} ({n})" for k, n in counts.items()}

    papers = Counter(reference.SHORT[i.paper] for i, *_ in items)
    kinds = Counter(i.kind for i, *_ in items)
    sorts = Counter(i.sort for i, *_ in items)
    fields = [choice("paper", counted(papers)),
              choice("kind", counted({k: kinds[k] for k in reference.KINDS if kinds[k]})),
              choice("sort", counted({k: sorts[k] for k in reference.SORTS})),
              choice("verdict", counted(words(items))),
              choice("order", SORTED)]
    return (f'<form class="scoreboard-filter" aria-label="Which items are shown" hidden>{"".join(fields)}'
            '<button type="reset">Show all</button><output aria-live="polite"></output></form>')
