"""How every item of the papers stands: the scoreboard, the counts of the cover, made from the records."""
from collections import Counter
from functools import cache
from html import escape

import history
from beside import downloads, report
from places import pages, place, status

KINDS = {"tables": ("table",), "figures": ("figure",), "algorithms": ("algorithm",),
         "theorems, corollaries, lemmas": ("theorem", "corollary", "lemma")}
HEADER = ["item", "paper", "kind", "verdict", "scale", "since", "in short", "data"]
OTHERS = "Equations, definitions, procedures"  # what the book does not count as results
SORTED = {"": "of the papers", "paper": "by paper", "kind": "by kind", "verdict": "by verdict",
          "scale": "by scale", "since": "by date"}  # what scoreboard.js sorts by


@cache
def everything():
    """Every item with its record, its page and its verdict as a word, in the papers' order."""
    from shared.records import record
    where = pages()
    return [(item, kept, page := where.get((item.paper, item.id)), status(kept, page))
            for item, kept in record.everything()]


def results():
    """As `everything`, of the tables, figures, algorithms and theorems alone: what the book counts."""
    from shared import reference
    return [each for each in everything() if each[0].kind in reference.RESULT_KINDS]


def words(found):
    """`{verdict: how many}` in the order of the verdicts."""
    from shared.pages.display import BADGE
    counted = Counter(word for *_, word in found)
    return {word: counted[word] for word in BADGE if counted[word]}


# ---- the scoreboard --------------------------------------------------------------------------------------
def scoreboard(_):
    """All items as tables that scoreboard.js sorts and filters; without it they are there to be read."""
    from shared import reference
    from shared.pages.display import folded
    found = everything()
    main = [e for e in found if e[0].kind in reference.RESULT_KINDS]
    groups = {"": [e for e in main if e[-1] != "planned"],
              "Planned": [e for e in main if e[-1] == "planned"],
              OTHERS: [e for e in found if e not in main]}
    parts = [f"```{{raw}} html\n{controls(found)}\n```"]
    for title, mine in groups.items():
        if mine:
            made = f":::{{div}} scoreboard\n{table(mine)}\n:::"
            made = folded(f"{title}: {len(mine)}", made) if title else made
            parts.append(f":::::{{div}} full-width\n{made}\n:::::")
    return "\n\n".join(parts)


def table(found):
    from shared.pages.display import markdown_table
    return markdown_table(HEADER, [row(*each) for each in found])


def row(item, kept, page, word):
    from shared import reference
    from shared.pages.display import badge, sentence, symbols
    from shared.pages.results import scale_words
    since, before = history.of(item, kept)
    why = kept["reason"] if kept else symbols(item.caption)
    return [place(item), reference.SHORT[item.paper], item.kind, badge(word, item),
            scale_words(kept).partition(" (")[0] if kept else "", since,  # its parts stand on its page
            f"{sentence(why)}{f' Earlier: {before}.' if before else ''}",
            "<br>".join(filter(None, [" · ".join(downloads(item, kept, "book/reproduction")), report(item)]))]


def controls(found):
    """The form above the scoreboard, hidden until scoreboard.js has given it work."""
    from shared import reference

    def choice(name, options):
        """A labelled list `{value: how it reads}`."""
        told = "".join(f'<option value="{escape(k)}">{escape(v)}</option>' for k, v in options.items())
        return f'<label>{name} <select name="{name}">{told}</select></label>'

    def counted(counts):
        return {"": "all"} | {k: f"{k} ({n})" for k, n in counts.items()}

    papers = Counter(reference.SHORT[i.paper] for i, *_ in found)
    kinds = Counter(i.kind for i, *_ in found)
    fields = [choice("paper", counted(papers)),
              choice("kind", counted({k: kinds[k] for k in reference.KINDS if kinds[k]})),
              choice("verdict", counted(words(found))),
              choice("order", SORTED)]
    return (f'<form class="scoreboard-filter" aria-label="Which items are shown" hidden>{"".join(fields)}'
            '<button type="reset">Show all</button><output aria-live="polite"></output></form>')


def totals(_):
    """How many results of each kind and paper there are, and how they stand."""
    from shared import reference
    from shared.pages.display import badge, markdown_table
    from shared.records import verdict
    counted, header = results(), ["recorded", *reference.SHORT.values(), "all"]
    rows = []
    for name, which in KINDS.items():
        mine = [(i, r) for i, r, *_ in counted if i.kind in which]
        per = [[(i, r) for i, r in mine if i.paper == key] for key in reference.KEYS]
        rows.append([name, *(f"{sum(r is not None for _, r in p)} of {len(p)}" if p else ""
                             for p in [*per, mine])])
    verdicts = [[badge(w), str(n), verdict.VERDICTS.get(w, "no page yet")] for w, n in words(counted).items()]
    return (f":::{{div}} counts\n{markdown_table(header, rows)}\n:::\n\n"
            f"{markdown_table(['verdict', 'items', 'meaning'], verdicts)}")


# ---- the cover and the openings --------------------------------------------------------------------------
def today(_):
    """What is true today, in a sentence, and a link to the scoreboard for each verdict."""
    from shared.pages.display import BADGE
    counted = results()
    paged = sum(page is not None for _, _, page, _ in counted)
    part = sum(word == "in part" for *_, word in counted)
    judged = sum(word not in ("in part", "not run", "planned") for *_, word in counted)
    links = " ".join(f'<a class="sd-badge sd-bg-{BADGE[w]} sd-bg-text-{BADGE[w]}" '
                     f'href="reproduction.html?verdict={w.replace(" ", "%20")}">{n} {w}</a>'
                     for w, n in words(counted).items())
    return (f"The five papers print **{len(counted)}** tables, figures, algorithms and theorems. "
            f"**{paged}** of them have a page here and **{judged}** a verdict; **{part}** more are "
            f"measured in part.\n\n<p class=\"standing\">{links}</p>")


def standing(paper):
    """The verdicts of a paper's results as badges with their counts."""
    from shared.pages.display import BADGE
    mine = [e for e in results() if e[0].paper == paper]
    return " ".join(f"{{bdg-{BADGE[w]}}}`{n} {w}`" for w, n in words(mine).items())
