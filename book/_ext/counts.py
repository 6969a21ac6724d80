"""What is counted of the papers' items and numbers: for the cover, the openings, the scoreboard, the gallery.

Every count of the book is made here, so that no two pages can tell different ones.
"""
import io
from collections import Counter
from functools import cache

import matplotlib.pyplot as plt
from places import label, pages, place

from report import display, numbers, record, reference, scatter
from report.comparison import MARKS, NEAR, is_number
from report.display import badge, markdown_table
from report.verdict import CONFIRMED, COUNTED, NOT_MEASURED, NOTHING, VERDICTS

OF_NUMBERS = ("measured", *MARKS, "not comparable", "not measured")


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
    """`{badge: how many}` of some results, in the order of the badges, then what has none."""
    words = Counter(word for *_, word in results(**wanted))
    return {word: words[word] for word in (*VERDICTS, NOT_MEASURED, NOTHING) if words[word]}


# ---- blocks of the pages ---------------------------------------------------------------------------------
def standing(paper):
    """The badges of a paper's results with their counts, those that a headline counts first."""
    counted = verdict_counts(paper=paper)
    lines = [[badge(word, f"{n} {word}") for word, n in counted.items() if (word in COUNTED) == first]
             for first in (True, False)]
    return "\n\n".join(" · ".join(line) for line in lines if line)


def figures(_):
    """How many figures the gallery can show, and how they stand."""
    counted = verdict_counts(kind="figure")
    words = ", ".join(f"{n} {word}" for word, n in counted.items())
    return f"{sum(counted.values())} figures ({words})."


def verdicts(_):
    """Every badge with its meaning."""
    return markdown_table(["badge", "meaning"],
                          [[badge(word), meaning] for word, (_, meaning) in VERDICTS.items()])


# ---- numbers ---------------------------------------------------------------------------------------------
@cache
def all_numbers():
    """The `Number`s of all measured items; those that an item shows again count once, where they stand first.

    What tables of layers and lists of classes say is not measured.
    """
    return [n for item, kept, *_ in everything() if item.sort == "measured" and not item.view_of
            for n in numbers.of(item, kept)]


# Columns of Chen et al. that print again what stands in another table: of the natural networks, and of FCN-6.
AGAIN = {("table-5", "roby_original_natural"): ("table-1", "roby_2"),
         **{("table-7", name): ("table-6", name) for name in ("acc", "asr", "roby")}}


def printed_twice():
    """How many numbers of two tables of one paper are the same ones; each of them counts twice."""
    paper = reference.paper("chen")
    there = {(item, name, row["dataset"], row["model"]): row[name]
             for item, name in {*AGAIN, *AGAIN.values()} for row in paper[item].rows}
    return sum(there.get((*AGAIN[place[:2]], *place[2:])) == value
               for place, value in there.items() if place[:2] in AGAIN)


def states(measured):
    """`{what became of them: how many}` of some `Number`s, as the tables name it; see OF_NUMBERS."""
    n = Counter(number.state for number in measured)
    marks = [n[mark] for mark in MARKS]
    apart = n.total() - sum(marks) - n[NOT_MEASURED]
    return dict(zip(OF_NUMBERS, (sum(marks), *marks, apart, n[NOT_MEASURED])))


def without_range(papers):
    """How many near numbers of some papers have no range: one training is one draw, and could not differ."""
    return sum(cell["mark"] == NEAR and cell.get("low") is None and not cell.get("of")
               for item, kept, *_ in everything() if kept and item.sort == "measured" and not item.view_of
               and item.paper in papers for cell in kept["cells"] if is_number(cell["printed"]))


def judged_claims():
    """Every statement of the measured items that measurements tested, not arithmetic alone: (item, claim)."""
    return [(item, claim) for item, kept, *_ in results(sort="measured") if kept
            for claim in kept["claims"] if claim["holds"] is not None and "proof" not in claim]


def tally(papers):
    """The measured numbers of some papers, what became of them, and whether each statement came out."""
    own = [n for n in all_numbers() if n.paper in papers]
    return len(own), states(own), [c["holds"] for item, c in judged_claims() if item.paper in papers]


def headline(_):
    """The counts of the whole book in a few lines."""
    published, counts, tested = tally(reference.SHORT)
    words = verdict_counts()
    confirmed, refuted, undecided = (words.get(word, 0) for word in COUNTED)
    others = sum(words.values()) - confirmed - refuted - undecided
    near, open_, differ = (counts[mark] for mark in MARKS)
    alone = sum(kept["verdict"] == CONFIRMED and not any(c["mark"] for c in kept["cells"])
                for _, kept, *_ in results() if kept)
    return (f"The papers have {sum(words.values())} tables, figures, algorithms and theorems. "
            f"Of these, **{confirmed}** are confirmed ({alone} by statements alone), **{refuted}** not "
            f"confirmed and **{undecided}** undecided. The other {others} have nothing to confirm (theory, "
            "code, drawings, lists) or are not measured on the paper's networks and data. The papers print "
            f"{published:,} measured numbers, and **{counts['measured']:,}** of them are measured here in "
            "the same way: "
            f"**{near:,}** come out near the published one (≈; {without_range(reference.SHORT):,} of these "
            f"have no range and could not have differed), {differ:,} differ (≠), and for {open_:,} our "
            f"trainings or images are too few to tell (?). Of {len(tested):,} tested "
            f"statements on measured tables and figures, **{sum(tested):,}** came out here, too.")


def published(paper):
    """What became of every number and statement of the measured items, of one paper or of all ("all")."""
    papers = {name: [key] for key, name in reference.SHORT.items() if paper in ("all", key)}
    if paper == "all":
        papers["all"] = reference.SHORT
    rows = []
    for name, keys in papers.items():
        count, counts, tested = tally(keys)
        rows.append([name, *(f"{n:,}" for n in (count, *counts.values())), f"{sum(tested)} of {len(tested)}"])
    again = (f"; {printed_twice()} of Chen et al. in two tables (I and V, VI and VII) count twice"
             if paper in ("all", "chen") else "")
    head = ["paper", "printed", *OF_NUMBERS, "statements"]
    bare = without_range([key for keys in papers.values() for key in keys])
    never = (f"{bare:,} of the near numbers come from one training and have no range: none of them could "
             "have differed. " if bare else "")
    return ("≈ near, ? open, ≠ differs ({doc}`protocol </book/protocol>`). "
            f"{never}Tables made from other tables are left out{again}. Statements: of the tested ones on "
            "measured tables and figures, how many came out here, too."
            f"\n\n:::{{div}} numbers\n{markdown_table(head, rows)}\n:::")


def failed(_):
    """The statements of the papers that came out differently, folded."""
    rows = [[place(item, item.title), display.symbols(claim["claim"]), claim["evidence"]]
            for item, claim in judged_claims() if not claim["holds"]]
    table = markdown_table(["item", "statement", "here"], rows)
    return display.folded(f"The {len(rows)} statements that came out differently", table)


def scattered(_):
    """The picture of all reproduced numbers: each point leads to its table."""
    display.style()
    group = {name: [n for n in all_numbers() if n.paper == key] for key, name in reference.SHORT.items()}
    figure = scatter.draw(all_numbers(), group, urls=lambda n: (
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
            "Grey: within a factor of 2. Pale: numbers that cannot be compared. A zero stands at the edge of "
            "the axes. Right: ratios of the numbers measured as in the paper. A point leads to its table."
            "</figcaption></figure>\n```")
