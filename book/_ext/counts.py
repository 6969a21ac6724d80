"""What is counted of the papers' items and numbers: for the cover, the openings, the scoreboard, the gallery.

Every count of the book is made here, so that no two pages can tell different ones.
"""
import io
from collections import Counter
from functools import cache

import matplotlib.pyplot as plt
from places import label, pages, place

from report import display, numbers, record, reference, scatter
from report.display import badge, markdown_table
from report.verdict import NOT_MEASURED, VERDICTS

OF_NUMBERS = ("measured", "agree", "differ", "cannot tell", "proxy or fitted", "not measured")


@cache
def everything():
    """Every item with its record, its page and its verdict as a word, in the papers' order."""
    return [(item, kept, pages().get((item.paper, item.id)), kept["verdict"] if kept else NOT_MEASURED)
            for item, kept in record.everything()]


def results(**wanted):
    """As `everything`, of the tables, figures, algorithms and theorems alone: what the book counts.

    wanted  what the items must have, such as `paper="he"` or `sort="measured"`
    """
    return [entry for entry in everything() if entry[0].kind in reference.RESULT_KINDS
            and all(getattr(entry[0], name) == value for name, value in wanted.items())]


def verdict_counts(**wanted):
    """`{sort: {verdict as its badge says it: how many}}` of some results, in the order of the verdicts."""
    words = {sort: Counter(word for *_, word in results(sort=sort, **wanted)) for sort in reference.SORTS}
    return {sort: {word: counted[word] for word in VERDICTS if counted[word]}
            for sort, counted in words.items() if counted}


# ---- blocks of the pages ---------------------------------------------------------------------------------
def standing(paper):
    """The verdicts of a paper's results as badges with their counts, a line a sort."""
    return "\n\n".join(f"{sort}: " + " ".join(
        f"{{bdg-{VERDICTS[word][0]}}}`{n} {word}`" for word, n in counted.items())
        for sort, counted in verdict_counts(paper=paper).items())


def figures(_):
    """How many figures of each sort the gallery can show, and how they stand."""
    parts = []
    for sort, counted in verdict_counts(kind="figure").items():
        words = ", ".join(f"{n} {word}" for word, n in counted.items())
        parts.append(f"{sum(counted.values())} {sort} figures ({words})")
    return "; ".join(parts) + "."


def verdicts(_):
    """Every verdict as its badge says it, with its meaning."""
    return markdown_table(["verdict", "given when"],
                          [[badge(word), meaning] for word, (_, meaning) in VERDICTS.items()])


# ---- numbers ---------------------------------------------------------------------------------------------
@cache
def all_numbers():
    """The `Number`s of all measured items; those that an item shows again count once, where they stand first.

    What tables of layers and lists of classes say is not measured.
    """
    return [n for item, kept, *_ in everything() if item.sort == "measured" and not item.view_of
            for n in numbers.of(item, kept)]


def states(measured):
    """`{what became of them: how many}` of some `Number`s, as the tables name it; see OF_NUMBERS."""
    n = Counter(number.state for number in measured)
    return dict(zip(OF_NUMBERS, (sum(n[state] for state in numbers.COMPARED), n["agrees"], n["differs"],
                                 n["cannot tell"], n["proxy"] + n["fitted"], n["not measured"])))


def judged_claims():
    """Every judged claim of the measured items: (item, claim)."""
    return [(item, claim) for item, kept, *_ in results(sort="measured") if kept
            for claim in kept["claims"] if claim["holds"] is not None]


def tally(papers):
    """The measured numbers of some papers, what became of them, and whether each judged claim holds."""
    own = [n for n in all_numbers() if n.paper in papers]
    return len(own), states(own), [c["holds"] for item, c in judged_claims() if item.paper in papers]


def headline(_):
    """The counts of the whole book in one line."""
    published, counts, judged = tally(reference.SHORT)
    return (f"The papers publish **{published:,}** measured numbers. **{counts['measured']:,}** are measured "
            "here on the paper's kind of network and data, some with less training or fewer images; of these "
            f"**{counts['agree']:,}** agree, {counts['differ']:,} differ, and {counts['cannot tell']:,} "
            f"cannot tell. {counts['proxy or fitted']:,} are measured on a proxy or fitted, "
            f"{counts['not measured']:,} not at all. Of {len(judged):,} judged claims, **{sum(judged):,}** "
            "hold.")


def published(paper):
    """What became of every number and claim of the measured items, of one paper or of all ("all")."""
    papers = {name: [key] for key, name in reference.SHORT.items() if paper in ("all", key)}
    if paper == "all":
        papers["all"] = reference.SHORT
    rows = []
    for name, keys in papers.items():
        count, counts, judged = tally(keys)
        rows.append([name, *(f"{n:,}" for n in (count, *counts.values())), f"{sum(judged)} of {len(judged)}"])
    head = ["paper", "numbers", *OF_NUMBERS, "judged claims that hold"]
    meant = "" if paper == "all" else (     # the page of all papers has the headline, which says so
        "*Measured* numbers come from the paper's kind of network and data, some with less training or fewer "
        "images than published. ")
    return (f"{meant}Numbers that an item shows again count once.\n\n"
            f":::{{div}} numbers\n{markdown_table(head, rows)}\n:::")


def failed(_):
    """The claims of the papers that fail, folded."""
    rows = [[place(item, item.title), display.symbols(claim["claim"]), claim["evidence"]]
            for item, claim in judged_claims() if not claim["holds"]]
    table = markdown_table(["item", "claim", "here"], rows)
    return display.folded(f"The {len(rows)} claims that fail", table)


def scattered(_):
    """The picture of all reproduced numbers: each point leads to its table."""
    display.style()
    whole = [n for n in all_numbers() if n.reproduced is not None]
    group = {name: [n for n in whole if n.paper == key] for key, name in reference.SHORT.items()}
    figure = scatter.draw(whole, group, urls=lambda n: (
        f"../notebooks/{pages()[n.paper, n.item]}.html#{label(n.paper, n.item)}"))
    if figure is None:
        return ""
    out = io.StringIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "boundary-book"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    svg = out.getvalue().partition("<svg ")[2]
    alt = ("Reproduced against published numbers on logarithmic axes, a colour a paper, and the distribution "
           "of their ratios.")
    return (f'```{{raw}} html\n<figure><svg role="img" aria-label="{alt}" class="numbers" {svg}<figcaption>'
            "Every reproduced number against the published one. "
            "Grey: within a factor of 2. Pale: proxies and fitted values. A zero stands at the edge of the "
            "axes. Right: ratios of the numbers measured as in the paper. A point leads to its table."
            "</figcaption></figure>\n```")
