"""Write a new page from the reference file: python -m workflow.page KEY NAME ITEM ...

    make page KEY=shu NAME=2_1_lenets ITEMS="table-1 table-2 figure-7"

Both halves of notebooks/<KEY>/<NAME> get the front matter, the parameters, set-up, scale, an experiment, a
section for each item with its caption, and what every page ends with; papers/<KEY>/claims.py gets the claims
of the items. It runs as it is; what is to be written says so.
"""
import json
import re
import sys
import textwrap

from report import reference
from shared import ROOT, runtime
from workflow import catalogue, pair

FRONT = """\
# ---
# jupyter:
#   boundary_book:
#     items:
{items}
# ---

# %% [markdown]
# ({label})=
# # {number}. TO DO: a title that says what was measured
#
# *{short} {{cite:p}}`{cited}`, {sections}*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the networks
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # at full scale: missing or none
images: int = None  # test images; None takes the profile's value [1..]

# %% tags=["hide-cell"]
from torch import nn

from report import zoo
from report.experiment import Experiment
from report.page import start
from report.registry import architecture
from shared import runtime
from shared.data import sets
from shared.inference import accuracy
from shared.training.recipe import Recipe

page = start("{name}", globals())

# %% [markdown]
# ## What the paper claims, and how it is tested
#
# TO DO: the claim in two or three sentences; what is measured, on which networks; what is a proxy.

# %%
{settings}
SCALE = {{"smoke": dict(images=50, recipe=Recipe(epochs=20), seed=0),
         "quick": dict(images=1000, recipe=Recipe(epochs=1), seed=0),
         "paper": dict(images=10_000, recipe=Recipe(epochs=1), seed=0)}}
scale = page.scale(**SCALE)


# %%
# TO DO: the paper's networks. Move them to papers/{key}/models.py, and the experiment with its
# function, plan and SCALE to papers/{key}/experiments.py, where `make missing` and `make fill` find it.
@architecture("{key}-narrow")
def narrow():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 16), nn.ReLU(), nn.Linear(16, 10))


@architecture("{key}-wide")
def wide():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))


def measure(*, architecture, recipe, images, seed):
    \"\"\"TO DO: all that the tables and figures need of one network, trained or taken from the zoo.\"\"\"
    data = sets.load("mnist")
    trained = zoo.net(architecture, recipe, data, seed, device=runtime.device())
    x, y = data.x_test[:images], data.y_test[:images]
    return {{"images": len(x), "accuracy": 100 * accuracy(trained.net, x, y)}}


def plan(scale):
    \"\"\"A run a network; its key becomes the columns of `names`.\"\"\"
    return {{network: dict(architecture=f"{key}-{{network}}", recipe=scale.recipe, images=scale.images,
                          seed=scale.seed) for network in ("narrow", "wide")}}


measured = page.results(Experiment("{key}/measured", measure, plan, scale=SCALE, sizes=("images",),
                                  names="{{network}}"))
page.extra("networks", measured, lambda runs: runs[["network", "accuracy"]], "Accuracy of the networks.")

"""
SECTION = """\
# %% [markdown]
# ## {label}
#
{caption}

# %%
{code}

"""
END = """\
# %% [markdown]
# ## Where it differs
#
# TO DO: the suspects, measured; the cause, or which were excluded.
#
# ## Choices that the paper leaves open
#
# | choice | ours | reason |
# |---|---|---|
# | TO DO | | |
#
# ## Exercises
#
# - `seed=1`: TO DO, with what one should see.

# %%
# TO DO: page.box(prose.fill("question; result with n, interval and published value; limits", facts), ...)

# %%
page.finish()
"""


CLAIMS = """\
\"\"\"How each printed claim of {short} is judged; see `report.claims`.\"\"\"
from report.claims import Claims

claim = Claims()
TO_DO = "not judged yet"
"""


def claims(items):
    """Lines of a paper's `claims.py`: the claims of items, none judged yet."""
    for item in items:
        for words in item.claims:
            yield "\n".join([*_lines(words, "# "),
                             f"claim({_quoted(item.id)}, {_quoted(phrase(words, item.claims))})(TO_DO)"])
        if item.rows and item.keys and item.claims:
            key, first = item.keys[0], item.values[0]
            yield (f"# On every row: claims.over_cases({{row[{_quoted(key)}]: row for row in "
                   f"rows.to_dict('records')}},\n#     lambda c: (c.{first} > 0, f\"{{c.{first}}}\"))")


def text(paper, name, items):
    """The text half of a page that holds these items of a `reference.Paper`."""
    items = [paper[i] for i in items]
    number = re.match(r"[0-9a-z]+(?:_[0-9]+)*", name)[0]
    sections = list(dict.fromkeys(i.section for i in items))
    front = FRONT.format(
        name=f"{paper.key}/{name}", key=paper.key, label=f"{paper.key}-{number}".replace("_", "-"),
        number=number.replace("_", ".").upper(), items="\n".join(f"#     - {i.id}" for i in items),
        short=paper.short, cited=_cited(paper.key),
        sections=f"Section{'s' if len(sections) > 1 else ''} {', '.join(sections)}",
        settings="\n".join(_settings(items)))
    return front + "".join(SECTION.format(
        label=i.label, caption="\n".join(_lines(i.caption, "# ", 130)), code=_code(i))
        for i in items) + END


def phrase(text, texts):
    """The first words of a text that occur in no other of `texts`, three at least."""
    words, texts = text.split(), [" ".join(other.split()) for other in texts]
    for n in range(min(3, len(words)), len(words) + 1):
        if sum(" ".join(words[:n]) in other for other in texts) == 1:
            return " ".join(words[:n])
    raise runtime.UserError(f"“{text}” begins another claim of its item, too; mend the reference file")


def _code(item):
    """The cell that publishes an item."""
    name, function = _quoted(item.id), re.sub(r"\W", "_", item.id)
    if item.kind == "figure":
        ticks = "".join(f"    {_quoted(phrase(what, item.must_contain))}: False,\n"
                        for what in item.must_contain)
        return (f"page.figure({name}, measured, lambda runs: None, data=lambda runs: {{}},\n"
                f"           alt=\"TO DO: what the figure shows\", contains={{\n{ticks}}})")
    if not item.rows:
        return f"page.statement({name}, measured, data=lambda runs: {{}})"
    keys = item.keys or ("the only row",)
    doc = "\n".join(_lines(f"Keys: {', '.join(keys)}; values: {', '.join(item.values)}.", "    "))
    return (f"def {function}(runs):\n    \"\"\"TO DO: a row a printed row.\n\n{doc}\n    \"\"\"\n"
            f"    return []\n\n\npage.table({name}, measured, {function})")


def _settings(items):
    """Comments with what the paper states of its settings: of all items that have any, then of each."""
    own = {item.label: {k: v for k, v in (item.settings or {}).items() if v is not None} for item in items}
    some = [given for given in own.values() if given] or [{}]
    common = {k: v for k, v in some[0].items() if all(k in given and given[k] == v for given in some)}
    own = {label: {k: v for k, v in given.items() if k not in common} for label, given in own.items()}
    for label, given in ({"The paper's settings": common} | own).items():
        if given:
            yield from _lines(f"{label}: {', '.join(f'{k} {v}' for k, v in given.items())}", "# ")


def _lines(words, begin, width=106):
    """A text in lines that begin alike."""
    return textwrap.wrap(" ".join(words.split()), width, initial_indent=begin, subsequent_indent=begin)


def _quoted(words):
    return json.dumps(words, ensure_ascii=False)


def _cited(key):
    """The key of a paper in the bibliography."""
    entries = (ROOT / "book/references.bib").read_text()
    entry = re.search(rf"^@\w+\{{({key}\d{{4}}\w?),", entries, re.MULTILINE)
    if not entry:
        raise runtime.UserError(f"book/references.bib has no entry {key}<year>; add it first")
    return entry[1]


def main(words):
    if len(words) < 3:
        raise runtime.UserError('make page KEY=paper NAME=section_slug ITEMS="table-1 figure-2"')
    key, name, *items = words
    paper, homes = reference.paper(key), catalogue.pages()
    path = ROOT / "notebooks" / key / f"{name}.py"
    if not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+", name):
        raise runtime.UserError(f"NAME={name}: the section first, small letters and digits, _ between: "
                                "2_1_lenets")
    if path.exists():
        raise runtime.UserError(f"{path.relative_to(ROOT)} is there; take another NAME")
    if taken := [i for i in items if (key, i) in homes]:
        raise runtime.UserError(f"{taken[0]} stands on {homes[key, taken[0]]}; an item has one page")
    source = text(paper, name, items)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    folder = ROOT / "papers" / key
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").touch()
    judged = folder / "claims.py"
    before = judged.read_text() if judged.exists() else CLAIMS.format(short=reference.SHORT.get(key, key))
    judged.write_text("\n".join([before, *claims(paper[item] for item in items)]) + "\n")
    pair.main(str(path.parent))
    print(f"{path.relative_to(ROOT)} and its other half are written, claims in "
          f"{judged.relative_to(ROOT)}; add the page to _toc.yml and run "
          "`python -m workflow.finder`. CONTRIBUTING.md, “Add a notebook”, says what comes next.")


if __name__ == "__main__":
    runtime.prepare(computes=False)
    main(sys.argv[1:])
