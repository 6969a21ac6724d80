"""What is counted of the papers' items and numbers: for the cover, the openings, the scoreboard, the gallery.

Every count of the book is made here, so that no two pages can tell different ones.
"""
import io
import math
from collections import Counter
from functools import cache

from places import pages, status

KINDS = {"tables": ("table",), "figures": ("figure",), "algorithms": ("algorithm",),
         "theorems, corollaries, lemmas": ("theorem", "corollary", "lemma")}
SAID = {"measured": "experiments: their tables and figures", "derived": "checked by computation: theorems, "
        "corollaries, lemmas, algorithms, figures of theory", "descriptive": "lists, layer tables, drawings"}
NEAR = {"5%": 0.05, "25%": 0.25, "a factor of 2": None}
UNJUDGED = ("in part", "not run", "planned")


@cache
def everything():
    """Every item with its record, its page and its verdict as a word, in the papers' order."""
    from report import record
    where = pages()
    return [(item, kept, page := where.get((item.paper, item.id)), status(kept, page))
            for item, kept in record.everything()]


def results(**asked):
    """As `everything`, of the tables, figures, algorithms and theorems alone: what the book counts.

    asked  what the items must have, such as `paper="he"` or `sort="measured"`
    """
    from report import reference
    return [each for each in everything() if each[0].kind in reference.RESULT_KINDS
            and all(getattr(each[0], name) == value for name, value in asked.items())]


def words(found):
    """`{verdict: how many}` in the order of the verdicts."""
    from report.display import BADGE
    counted = Counter(word for *_, word in found)
    return {word: counted[word] for word in BADGE if counted[word]}


def sorts(**asked):
    """`{sort: its results}`, those sorts of which there are any."""
    from report import reference
    return {sort: found for sort in reference.SORTS if (found := results(sort=sort, **asked))}


def told(found):
    """The verdicts of some results with their counts: "3 matches, 12 measured in part"."""
    from report.verdict import LABELS
    return ", ".join(f"{n} {LABELS.get(word, word)}" for word, n in words(found).items())


# ---- blocks of the pages ---------------------------------------------------------------------------------
def today(_):
    """What is true today: the items of each sort, and a link to the scoreboard for each word."""
    from report.display import BADGE, markdown_table
    from report.verdict import LABELS
    counted = results()
    views = sum(bool(item.view_of) for item, *_ in counted)

    def links(sort, found):
        return " ".join(
            f'<a class="sd-badge sd-bg-{BADGE[w]} sd-bg-text-{BADGE[w]}" href="reproduction.html?sort={sort}'
            f'&verdict={LABELS.get(w, w).replace(" ", "%20")}">{n} {LABELS.get(w, w)}</a>'
            for w, n in words(found).items())

    rows = [[f"**{sort}**", str(len(found)), str(sum(page is not None for _, _, page, _ in found)),
             str(sum(word not in UNJUDGED for *_, word in found)), links(sort, found)]
            for sort, found in sorts().items()]
    heard = "; ".join(f"*{sort}*: {SAID[sort]}" for sort in sorts())
    return (f"The five papers print **{len(counted)}** tables, figures, algorithms and theorems, of three "
            f"sorts ({heard}). {views} of them show numbers of another item again.\n\n"
            + markdown_table(["sort", "items", "with a page", "judged", "verdicts"], rows))


def standing(paper):
    """The verdicts of a paper's results as badges with their counts, a line a sort."""
    from report.display import BADGE
    from report.verdict import LABELS
    return "\n\n".join(f"{sort}: " + " ".join(
        f"{{bdg-{BADGE[w]}}}`{n} {LABELS.get(w, w)}`" for w, n in words(found).items())
        for sort, found in sorts(paper=paper).items())


def totals(_):
    """How many results of each kind and paper there are, and how they stand."""
    from report import reference, verdict
    from report.display import badge, markdown_table
    header = ["measured", *reference.SHORT.values(), "all"]
    rows = []
    for name, which in KINDS.items():
        mine = [(i, r) for i, r, *_ in results() if i.kind in which]
        per = [[(i, r) for i, r in mine if i.paper == key] for key in reference.KEYS]
        rows.append([name, *(f"{sum(r is not None and r['verdict'] != 'not run' for _, r in p)} of {len(p)}"
                             if p else "" for p in [*per, mine])])
    per = {sort: words(found) for sort, found in sorts().items()}
    verdicts = [[badge(w), *(str(each.get(w, "")) for each in per.values()),
                 verdict.VERDICTS.get(w, "no page yet")] for w in words(results())]
    listed, counted = len(everything()), len(results())
    return (f":::{{div}} counts\n{markdown_table(header, rows)}\n:::\n\n"
            f":::{{div}} verdict-counts\n{markdown_table(['verdict', *per, 'meaning'], verdicts)}\n:::\n\n"
            f"The scoreboard has {listed} rows for these {counted} items: it also lists equations, "
            "definitions, procedures, conjectures, remarks and properties, which no count of the book "
            "includes.")


def verdicts(_):
    """Every verdict as its badge says it, with its meaning."""
    from report.display import BADGE, badge, markdown_table
    from report.verdict import VERDICTS
    return markdown_table(["verdict", "given when"],
                          [[badge(word), VERDICTS.get(word, "there is no page yet")] for word in BADGE])


def figures(_):
    """How many figures of each sort the gallery can show, and how they stand."""
    return "; ".join(f"{len(found)} {sort} figures ({told(found)})"
                     for sort, found in sorts(kind="figure").items()) + "."


# ---- every published number ------------------------------------------------------------------------------
@cache
def all_numbers():
    """The `Number`s of all measured items; those that an item shows again count once, where they stand first.

    What tables of layers and lists of classes say is not measured.
    """
    from report import numbers
    return [n for item, kept, *_ in everything() if item.sort == "measured" and not item.view_of
            for n in numbers.of(item, kept)]


def compared(found):
    """Those that were measured as the paper did."""
    from report import numbers
    return [n for n in found if n.state in numbers.COMPARED]


def near(found):
    """`{how near: share}` of the compared numbers within 5%, 25% and a factor of 2 of the published ones."""
    def within(n, slack):
        if n.published == 0 or n.reproduced == 0:
            return n.published == n.reproduced
        ratio = n.reproduced / n.published
        return 0.5 <= ratio <= 2 if slack is None else math.isclose(ratio, 1, rel_tol=0, abs_tol=slack)

    there = compared(found)
    return {name: sum(within(n, slack) for n in there) / len(there) for name, slack in NEAR.items()
            } if there else {}


def published(paper):
    """What became of every number of the measured items, of one paper or of all ("all")."""
    from report import numbers, reference
    from report.display import markdown_table
    every = [n for n in all_numbers() if paper in ("all", n.paper)]
    groups = {name: mine for key, name in reference.SHORT.items()
              if (mine := [n for n in every if n.paper == key])}
    if paper == "all":
        groups["all"] = every
    rows = []
    for name, mine in groups.items():
        state, shares = Counter(n.state for n in mine), near(mine)
        rows.append([name, f"{len(mine):,}", *(f"{state[each]:,}" for each in numbers.STATES),
                     *(f"{shares[k]:.0%}" if shares else "" for k in NEAR)])
    head = ["paper", "numbers", *numbers.STATES, *(f"within {k}" for k in NEAR)]
    there = len(compared(every))
    return (f"The measured items print **{len(every):,}** numbers; those that another item shows again count "
            f"once. **{there:,}** have a counterpart measured on the paper's kind of network and data, "
            "some with less training or fewer images than published: the scale stands beside each result. "
            "The last columns give the share of these that lies within 5%, 25% and a factor of 2 of the "
            "published value.\n\n"
            f":::{{div}} numbers\n{markdown_table(head, rows)}\n:::")


def scattered(_):
    """The picture of all reproduced numbers: each point leads to its table."""
    import matplotlib.pyplot as plt

    from report import display, reference, scatter
    display.style()
    every = all_numbers()
    where = pages()

    def leads(n):
        name = where.get((n.paper, n.item))
        return f"../notebooks/{name}.html#{n.paper}-{n.item}-head" if name else None

    group = {name: mine for key, name in reference.SHORT.items()
             if (mine := [n for n in every if n.paper == key and n.reproduced is not None])}
    figure = scatter.draw(every, group, urls=leads)
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
