"""What is counted of the papers' items and numbers: for the cover, the openings, the scoreboard, the gallery.

Every count of the book is made here, so that no two pages can tell different ones.
"""
import io
from collections import Counter
from functools import cache

from places import pages, status

OF_NUMBERS = ("measured", "agree", "differ", "cannot tell", "proxy or fitted", "not measured")


@cache
def everything():
    """Every item with its record, its page and its verdict as a word, in the papers' order."""
    from report import record
    where = pages()
    return [(item, kept, where.get((item.paper, item.id)), status(kept))
            for item, kept in record.everything()]


def results(**asked):
    """As `everything`, of the tables, figures, algorithms and theorems alone: what the book counts.

    asked  what the items must have, such as `paper="he"` or `sort="measured"`
    """
    from report import reference
    return [entry for entry in everything() if entry[0].kind in reference.RESULT_KINDS
            and all(getattr(entry[0], name) == value for name, value in asked.items())]


def words(items):
    """`{verdict: how many}` in the order of the verdicts."""
    from report.verdict import VERDICTS
    counted = Counter(word for *_, word in items)
    return {word: counted[word] for word in VERDICTS if counted[word]}


def sorts(**asked):
    """`{sort: its results}`, those sorts of which there are any."""
    from report import reference
    return {sort: items for sort in reference.SORTS if (items := results(sort=sort, **asked))}


def in_words(items):
    """The verdicts of some results with their counts: "3 agrees, 12 in part"."""
    return ", ".join(f"{n} {word}" for word, n in words(items).items())


# ---- blocks of the pages ---------------------------------------------------------------------------------
def standing(paper):
    """The verdicts of a paper's results as badges with their counts, a line a sort."""
    from report.verdict import VERDICTS
    return "\n\n".join(f"{sort}: " + " ".join(
        f"{{bdg-{VERDICTS[word][0]}}}`{n} {word}`" for word, n in words(items).items())
        for sort, items in sorts(paper=paper).items())


def verdicts(_):
    """Every verdict as its badge says it, with its meaning."""
    from report.display import badge, markdown_table
    from report.verdict import VERDICTS
    return markdown_table(["verdict", "given when"],
                          [[badge(word), meaning] for word, (_, meaning) in VERDICTS.items()])


def figures(_):
    """How many figures of each sort the gallery can show, and how they stand."""
    return "; ".join(f"{len(items)} {sort} figures ({in_words(items)})"
                     for sort, items in sorts(kind="figure").items()) + "."


# ---- every published number ------------------------------------------------------------------------------
@cache
def all_numbers():
    """The `Number`s of all measured items; those that an item shows again count once, where they stand first.

    What tables of layers and lists of classes say is not measured.
    """
    from report import numbers
    return [n for item, kept, *_ in everything() if item.sort == "measured" and not item.view_of
            for n in numbers.of(item, kept)]


def states(measured):
    """`{what became of them: how many}` of some `Number`s, as the tables name it; see OF_NUMBERS."""
    from report import numbers
    n = Counter(number.state for number in measured)
    return dict(zip(OF_NUMBERS, (sum(n[state] for state in numbers.COMPARED), n["agrees"], n["differs"],
                                 n["cannot tell"], n["proxy"] + n["fitted"], n["not measured"])))


def claims_of(paper):
    """Every judged claim of the measured items of a paper, or of "all": (item, claim)."""
    return [(item, claim) for item, kept, *_ in results(sort="measured") if paper in ("all", item.paper)
            for claim in (kept["claims"] if kept else ()) if claim["holds"] is not None]


def headline(_):
    """The counts of the whole book in one line."""
    counts = states(all_numbers())
    judged = [claim["holds"] for _, claim in claims_of("all")]
    return (f"The papers publish **{len(all_numbers()):,}** measured numbers. "
            f"**{counts['measured']:,}** are measured here "
            f"on the paper's kind of network and data; of these **{counts['agree']:,}** agree, "
            f"{counts['differ']:,} differ, and {counts['cannot tell']:,} cannot tell. Of {len(judged):,} "
            f"judged claims, **{sum(judged):,}** hold.")


def published(paper):
    """What became of every number and claim of the measured items, of one paper or of all ("all")."""
    from report import reference
    from report.display import markdown_table
    rows = []
    for key, name in {**reference.SHORT, "all": "all"}.items():
        own = [n for n in all_numbers() if key in ("all", n.paper)]
        if own and (paper == "all" or key == paper):
            judged = [claim["holds"] for _, claim in claims_of(key)]
            rows.append([name, f"{len(own):,}", *(f"{count:,}" for count in states(own).values()),
                         f"{sum(judged)} of {len(judged)}"])
    head = ["paper", "numbers", *OF_NUMBERS, "judged claims that hold"]
    return ("*Measured* numbers come from the paper's kind of network and data, "
            "some with less training or fewer images "
            "than published. Numbers that an item shows again count once.\n\n"
            f":::{{div}} numbers\n{markdown_table(head, rows)}\n:::")


def failed(_):
    """The claims of the papers that fail, folded."""
    from places import place

    from report.display import folded, markdown_table, symbols
    rows = [[place(item, item.title), symbols(claim["claim"]), claim["evidence"]]
            for item, claim in claims_of("all") if not claim["holds"]]
    return folded(f"The {len(rows)} claims that fail", markdown_table(["item", "claim", "here"], rows))


def scattered(_):
    """The picture of all reproduced numbers: each point leads to its table."""
    import matplotlib.pyplot as plt

    from report import display, reference, scatter
    display.style()
    whole = all_numbers()
    where = pages()

    def leads(n):
        name = where.get((n.paper, n.item))
        return f"../notebooks/{name}.html#{n.paper}-{n.item}-head" if name else None

    group = {name: of_paper for key, name in reference.SHORT.items()
             if (of_paper := [n for n in whole if n.paper == key and n.reproduced is not None])}
    figure = scatter.draw(whole, group, urls=leads)
    if figure is None:
        return ""
    out = io.StringIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "boundary-book"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    svg = out.getvalue()
    alt = ("Reproduced against published numbers on logarithmic axes, a colour a paper, and the distribution "
           "of their ratios.")
    svg = svg[svg.index("<svg"):].replace("<svg ", f'<svg role="img" aria-label="{alt}" class="numbers" ', 1)
    return (f"```{{raw}} html\n<figure>{svg}<figcaption>Every reproduced number against the published one. "
            "Grey: within a factor of 2. Pale: proxies and fitted values. A zero stands at the edge of the "
            "axes. Right: ratios of the numbers measured as in the paper. A point leads to its table."
            "</figcaption></figure>\n```")
