# ---
# jupyter:
#   boundary_book:
#     items: []
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: boundary_book
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (audit)=
# # Published numbers checked against each other
#
# *The published numbers of all five papers {cite:p}`ren2025,shu2022,he2018,sutton2023,chen2020`*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the simulated draws
device: str = "auto"  # auto, cpu or cuda; nothing here needs a GPU
runs: str = "missing"  # this page has no runs
draws: int = None  # random tables for every statement that holds; None takes the profile's value [1..]
pairs: int = None  # simulated pairs of sorted lists; None takes the profile's value [1..]
models: int = 10  # length of each of those lists: the models that Chen et al. rank on a data set [3..]

# %% tags=["hide-cell"]
from collections import Counter

import matplotlib.pyplot as plt
import pandas as pd

from papers import findings as audit
from papers.chen import audit as chen
from papers.findings import VERDICTS, Printed
from papers.shu import audit as shu
from report import display, reference
from report.page import start

page = start("audit/printed_numbers", globals())

# %%
scale = page.scale(
    smoke=dict(draws=5, pairs=10_000),
    quick=dict(draws=40, pairs=50_000),
    paper=dict(draws=200, pairs=200_000),
)

# %% [markdown]
# ## The idea
#
# Many published numbers follow from others: a mean follows from its table, a percentage of 2,000 images is a whole number of images, a distance has a
# largest possible value. This page recomputes such numbers. A number that its own paper contradicts is no target for a reproduction.
#
# A finding **contradicts** the paper if one passage is against another or a number is arithmetically impossible. The statement **holds with
# exceptions** if most rows agree, and the finding **confirms** it if all do. A **note** is a difference without effect on a number, or a hint. A missing
# statement cannot be contradicted. Each check of numbers is repeated on random tables, whose cells are drawn uniformly between the smallest and the
# largest of their column: a check that random numbers pass, too, is weak evidence, and one that nearly always holds for random numbers is left out.
#
# ## Step by step: two sorted lists correlate
#
# Chen et al. rank ten networks by robustness scores (FSA, FSD, ROBY) and by an attack on three data sets, and support the scores by correlations of
# the values. Scores and attack give the same order of the networks, or exactly its reverse. How large is the correlation of two lists that have
# nothing in common but their order? Change the length of the lists or the law of the numbers, and run this cell and the next; drop its assertion for
# another law.

# %% tags=["show-input"]
import numpy as np

LENGTH, PAIRS = models, 2_000
rng = np.random.default_rng(seed)
correlations = {"as drawn": [], "both sorted": []}
for _ in range(PAIRS):
    a, b = rng.random((2, LENGTH))      # two unrelated lists
    correlations["as drawn"].append(np.corrcoef(a, b)[0, 1])
    correlations["both sorted"].append(np.corrcoef(np.sort(a), np.sort(b))[0, 1])

# %%
coefficients = chen.coefficients(Printed(reference.paper("chen")))
by_chance = chen.sorted_uniform_correlations(np.random.default_rng(seed), size=models, pairs=scale.pairs)
low, median, high = np.quantile(by_chance, (.05, .5, .95))
assert LENGTH != models or abs(np.median(correlations["both sorted"]) - median) < 0.01, "another median"
figure, ax = plt.subplots(figsize=(7, 3.4))
for (name, values), colour in zip(correlations.items(), (display.PALE, display.PALETTE[0])):
    ax.hist(values, bins=np.linspace(-1, 1, 81), density=True, color=colour, alpha=0.8, label=name)
for n, metric in enumerate(chen.METRICS):
    values = [abs(printed) for (_, m, _), (printed, _) in coefficients.items() if m == metric]
    ax.plot(values, [-0.8 - 0.8 * n] * len(values), "|", ms=11, mew=2, color=display.PALETTE[n + 1],
            label=f"published, {metric.upper()}")
ax.axhline(0, color=display.GUIDE, lw=0.8)
ax.set(xlabel="correlation (published: its size)", xlim=(-1, 1), ylim=(-3.4, None), yticks=[])
ax.spines["left"].set_visible(False)
ax.legend(loc="upper left")
display.picture(
    figure, "Correlations of two lists of random numbers, as drawn and with both sorted; below them the 18 "
    "correlations of Tables II and III of Chen et al.",
    "Two histograms, one around zero, one heaped up near one; the published marks lie below the second.")

# %% [markdown]
# ## What came out

# %%
findings = audit.findings(draws=scale.draws, seed=seed)
counts = Counter((f.paper, f.verdict) for f in findings)
totals = Counter(f.verdict for f in findings)
seldom = sum(f.chance <= 0.05 for f in findings if f.verdict == "confirms")
checked = len(findings) - totals["note"]
display.say(
    f"There are {len(findings)} findings: {checked} checked statements and {totals['note']} notes. Of the "
    f"{totals['confirms']} statements confirmed, random numbers pass {seldom} in at most one case of twenty.")
ONE = {f.name: f for f in findings}     # of the checks that make one

# %% [markdown]
# ### The correlations of Chen et al. are those of sorted lists

# %%
order, follows = ONE["strict_order"], ONE["correlations"].held
ranks = ("In every column of Table I except accuracy the models of a data set stand in exactly the order of "
         "attack success, or exactly in its reverse: every rank correlation is 1 or −1."
         if order.verdict == "confirms" else "Rank correlations with attack success in Table I have a size "
         f"of at least {order.ours['smallest |Spearman|']:.2f}.")
inside = sum(low <= abs(recomputed) <= high for _, recomputed in coefficients.values())
display.say(
    f"{follows[0]} of {follows[1]} coefficients follow from Table I to two decimals. {ranks} This order "
    "supports the paper's claim; Pearson's coefficient adds little to it. Two sorted lists of "
    f"{models} random numbers have a median correlation of {median:.3f}, and one between {low:.3f} and "
    f"{high:.3f} in nine cases of ten; {inside} of the {len(coefficients)} coefficients lie in that range.")

# %% [markdown]
# ### Table 1 of Sutton et al. is a table of medians

# %%
medians, problem = ONE["summary_is_median"], ONE["summary_is_no_problem"]
cat, most = problem.ours.values()
others = "".join(f" The entry for {where} is {entry:g}, the median {value:g}: perhaps a misprint."
                 for where, (entry, value) in medians.ours["others (printed, median)"].items())
display.say(
    f"{medians.held[0]} of {medians.held[1]} entries of three data sets are medians over the problems class "
    f"k against class k + 1, row by row.{others} The entries are not those of one problem: of the "
    f"{problem.numbers} in the CIFAR-10 column, aeroplane against cat shares {cat}, and no problem more than "
    f"{most}.")

# %% [markdown]
# ### Some distances of Shu et al. are possible only as squares
#
# Shu et al. print how far adversarial images lie from the clean one, as an $L_2$ distance: in each row a minimum, a mean and a maximum for the
# attack and for samples. If $k$ pixel values change and each stays between 0 and 1, the distance is at most $\sqrt{k}$, and its square at most $k$.

# %%
distances = pd.DataFrame(shu.maxima(Printed(reference.paper("shu"))), columns=["place", "largest", "pixels"])
distances["as_norm"] = distances.largest / np.sqrt(distances.pixels)
distances["as_square"] = distances.largest / distances.pixels
worst, limit = distances.loc[distances.as_norm.idxmax()], ONE["plain_distance"].ours
display.picture(
    shu.draw_distances(distances),
    "Shu et al., Tables 4 and 10: the largest of each three published distances (minimum, mean, maximum), as "
    "a share of the largest possible one for the number k of changed pixel values, taken as a norm and as a "
    "squared norm. Beyond the line is impossible.",
    "Eighteen rows of two dots; taken as norms, several lie right of the line at one, taken as "
    "squares none does.")
display.say(
    f"Taken as norms, a distance in {limit['impossible as norms']} is impossible; the farthest, "
    f"{worst.place}, is {worst.largest:g} with {worst.pixels:,} changed pixel values. Taken as *squared* "
    f"norms all are possible, the largest at {distances.as_square.max():.0%} of the limit. This book "
    "compares squared norms.")

# %% [markdown]
# ## Three things to remember
#
# 1. Check a number against its own paper before you try to reproduce it.
# 2. Two lists in the same order correlate strongly unless a few values dominate: the shared order is the evidence, not Pearson's coefficient.
# 3. A number with a largest possible value tells its unit.
#
# ## Try it
#
# 1. Let `LENGTH` be 30 in the cell above. Is the correlation of longer sorted lists larger, and does it vary more?
# 2. In the same cell, draw the numbers by `rng.standard_normal((2, LENGTH))`, then by `rng.standard_cauchy((2, LENGTH))` (without the assertion of the next cell). For which law does the correlation of sorted lists change more?
# 3. Sort the second list downwards, `np.sort(b)[::-1]` (again without the assertion). What changes?

# %%
display.show(display.folded("Answers", (
    "1. It is larger and varies less: both sorted lists come nearer to evenly spaced numbers.\n"
    "2. For the Cauchy law: the correlation falls and varies more, since one number far from the others "
    "can dominate Pearson's coefficient. For the normal law the correlation hardly changes.\n"
    "3. The sign: the correlation becomes negative, and its size is about as large as before.")))

# %% [markdown]
# ## Item by item

# %%
display.table(["paper", *VERDICTS, "findings"],
             [*([short, *(str(counts[key, v]) for v in VERDICTS), str(sum(f.paper == key for f in findings))]
                for key, short in reference.SHORT.items()),
              ["all", *(str(totals[v]) for v in VERDICTS), str(len(findings))]],
             "Findings of each paper by class.")


# %% [markdown]
# ### What is contradicted
#
# The words in quotation marks and the numbers are the paper's; after the slash stands our value. The *statement checked* is the one that is
# contradicted. Most differences are small, and beside each stands what must be true for the authors to be right.

# %%
def show_findings(what, keep):
    """A table for each paper of the findings for which `keep` holds."""
    for key, short in reference.SHORT.items():
        rows = [audit.row(f) for f in findings if f.paper == key and keep(f)]
        if rows:
            display.table(audit.HEADER, rows, f"{short}: {what}.", sentences=True)


show_findings("what is contradicted", lambda f: f.verdict == "contradicts")

# %% [markdown]
# ### What holds with exceptions
#
# The last column is the share of random tables in which at least as many rows agree.

# %% mystnb={"code_prompt_hide": "Hide the exceptions: {type}", "code_prompt_show": "Show the exceptions: {type}"} tags=["hide-output"]
show_findings("what holds with exceptions", lambda f: f.verdict == "holds with exceptions")

# %% [markdown]
# ### What the numbers confirm
#
# Several of these statements settle what a text leaves open, such as denominators, data splits and dimensions.

# %% mystnb={"code_prompt_hide": "Hide the confirmed statements: {type}", "code_prompt_show": "Show the confirmed statements: {type}"} tags=["hide-output"]
show_findings("statements that the published numbers confirm", lambda f: f.verdict == "confirms")

# %% [markdown]
# ### Notes
#
# Differences without effect on a number, and hints for reading or reproducing the tables.

# %% mystnb={"code_prompt_hide": "Hide the notes: {type}", "code_prompt_show": "Show the notes: {type}"} tags=["hide-output"]
show_findings("notes on the published numbers", lambda f: f.verdict == "note" and f.kind != "scripts")

# %% [markdown]
# ### The authors' scripts beside the papers
#
# Published scripts sometimes do something else than the paper says; they may have changed after it. The number
# before the slash is the paper's, the one after it the script's.

# %% mystnb={"code_prompt_hide": "Hide the scripts: {type}", "code_prompt_show": "Show the scripts: {type}"} tags=["hide-output"]
show_findings("the published scripts", lambda f: f.kind == "scripts")

# %%
facts = {"checked": checked, "confirms": totals["confirms"], "exceptions": totals["holds with exceptions"],
         "contradicts": totals["contradicts"], "impossible": int((distances.as_norm > 1).sum()),
         "rows": len(distances), "fit": "all fit" if distances.as_square.max() <= 1 else "do not fit, either",
         "how": "Not always" if totals["confirms"] < checked else "Yes"}
page.box(
    "Do the numbers that these papers print agree with each other?",
    "{how}: {confirms} of {checked} statements that this page checks without an experiment hold.",
    "Another {exceptions} hold with exceptions, and {contradicts} are contradicted by the same paper or "
    "arithmetic. In {impossible} of {rows} triples of distances (minimum, mean, maximum) of Shu et al. one "
    "exceeds its largest possible value; read as squared distances, they {fit}.",
    "A number that passes can still be wrong, since this page measures nothing.",
    facts=facts, picture=audit.draw_counts(findings),
    alt="A bar for all papers and one for each, divided into statements that hold, that hold with "
        "exceptions, and that are contradicted.")

# %%
page.finish()
