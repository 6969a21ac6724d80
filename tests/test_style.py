"""Terms of the field in all visible text, and boxes that can be read in a minute."""
import ast
import re

import jupytext
import pytest
from conftest import NOTEBOOKS, outputs

from report.repository import ROOT

# What stands in for a term of the field, as a pattern of whole words, and the term.
WORDS = {
    r"nets?": "network, classifier",
    r"pictures?": "image (of a plot: figure)",
    r"(?:networks?|classifiers?|models?) (?:knows?|knew|reads|asks|says|sees|thinks)|known images?"
    r"|images? (?:is|are) known|(?:is|are) known correctly|reads? \w+ rightly": "classifies correctly",
    r"ask(?:s|ed|ing)? (?:a|the|its|one) (?:network|classifier)|answers?|answered":
        "evaluates, predicted label",
    r"(?:un)?turned|turns (?:images?|an image|its|more|fewer|less|the label)|misread(?:s|ings?)?"
    r"|moved across":
        "label flipped, misclassified",
    r"chosen (?:change|push)|push(?:es|ed|ing)?": "adversarial perturbation",
    r"random (?:draws?|changes?)|shak(?:e[sn]?|ing)": "random perturbation, noise sample",
    r"(?:long|large) as (?:the|its|their|that|an) (?:attacks?|own attack)"
    r"|lengths? of (?:the|its|their|an) attacks?|attacks? (?:is|was|are|were) long"
    r"|sizes? of (?:the|its|their|an)? ?(?:attacks?|draws?|perturbations?|random \w+)|how long": "norm",
    r"closest (?:adversarial )?(?:examples?|images?|digits?|ones)": "minimum-norm adversarial example",
    r"walk(?:s|ed|ing)?": "line search, bisection, mixing",
    r"surroundings?": "boundary distances",
    r"flagged|missed|worst mixtures?": "true and false positives, worst-case accuracy",
    r"(?:at|the|its|small|halved|printed) rates?(?! of)|(?<!backward )passes over the (?:data|images)"
    r"|first weights":
        "learning rate, epochs, initialisation",
    r"moved images?": "data augmentation",
    r"last values?|sure(?:r|st)?|lost gradients?|gradients? (?:is|are) lost":
        "logit, confident, vanishing gradient",
    r"likeness|rulers?": "similarity, SSIM",
    r"in print|the print|recorded": "published, reproduced",
    r"stand-?ins?|stands? in for|stood in|tak(?:es?|ing) the places? of": "proxy, embedded sample data",
    r"changed (?:statements?|definitions?|procedures?|kinds)|refused|witness(?:es)?":
        "mutants detected, extremal example",
    r"guess(?:es|ed)?|calibrat(?:ed|ion)": "assumed, fitted to the published values",
    r"(?:noise|drawn(?: anew)?|draws?|points) (?:from|in|of) a cube|cubes? (?:and|or) balls?"
    r"|balls? of noise":
        "uniform noise in an L-infinity, L2 ball",
}
FOUND = re.compile("|".join(rf"\b(?:{word})\b" for word in WORDS), re.IGNORECASE)

# What speaks for several pages, function by function: the words of boxes.
SHARED = {"papers/sutton/figures.py": ("box_words", "box", "bars")}
PAGES = NOTEBOOKS + sorted(str(p.relative_to(ROOT).with_suffix("")) for p in ROOT.glob("book/*.md"))


def visible(text):
    """A text without what is not in the book's own words: code, formulas, links' targets, quotations."""
    for hidden in (r"(?s)```.*?```", r"(?s)\$\$.*?\$\$", r"\$[^$]*\$", r"\{\w+\}`[^`]*`", r"`[^`]*`",
                   r"“[^”]*”", r'"[^"]*"', r"\]\([^)]*\)", r"^:\w+:.*$", r"^\([a-z0-9-]+\)=$"):
        text = re.sub(hidden, " ", text, flags=re.MULTILINE)
    return " ".join(text.split())


def offences(texts):
    """The words in texts for which there is a term of the field, each with what stands around it."""
    return [f"{m[0]!r} in “...{t[max(0, m.start() - 40):m.end() + 30]}...”"
            for t in map(visible, texts) for m in FOUND.finditer(t)]


def strings(tree):
    """The texts in a tree of Python: constants, also within f-strings; no docstrings."""
    documented = ast.Module, ast.FunctionDef, ast.ClassDef
    docs = {id(n.body[0].value) for n in ast.walk(tree) if isinstance(n, documented)
            and n.body and isinstance(n.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "0" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def sentences(tree):
    """The texts of several words that are no claim of the paper and no name of a part of its figure."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [k for k in node.keywords if k.arg not in ("claims", "tags")]
    return [s for s in strings(tree) if " " in s]


def texts(name):
    """All visible texts of a page, claims' evidence included."""
    if name.startswith("book/"):
        return [(ROOT / f"{name}.md").read_text()]
    cells = jupytext.read(ROOT / "notebooks" / f"{name}.py").cells
    return ["\n\n".join(c.source for c in cells if c.cell_type == "markdown"),
            *(s for c in cells if c.cell_type == "code" for s in sentences(ast.parse(c.source)))]


@pytest.mark.parametrize("path", SHARED)
def test_boxes_written_for_several_pages_use_terms_of_the_field(path):
    tree = ast.parse((ROOT / path).read_text())
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in SHARED[path]]
    assert {n.name for n in functions} == set(SHARED[path])
    assert offences(s for function in functions for s in strings(function) if " " in s) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_box_as_it_is_shown_uses_terms_of_the_field(smoke, name):
    _, folder = smoke
    boxes = [o["myst"] for o in outputs(folder, name) if o.get("kind") == "box"]
    assert offences(box.split(":class: minute\n")[-1] for box in boxes) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_box_can_be_read_in_a_minute(smoke, name):
    """At most four sentences and some hundred words, without the remark of a small run and the verdicts."""
    _, folder = smoke
    for shown in (o["myst"] for o in outputs(folder, name) if o.get("kind") == "box"):
        text = shown.split("```\n\n")[-1].split(":class: minute\n")[-1].split("\n\n")[0]
        text = re.sub(r"^\*Nothing on this question.*?\* ", "", text)
        assert len(re.split(r"(?<=[.?!])\s+(?=[A-Z\d])", text)) <= 4, text
        assert len(text.split()) <= 130, f"{len(text.split())} words: {text}"


@pytest.mark.parametrize("name", PAGES)
def test_pages_use_terms_of_the_field(name):
    assert offences(texts(name)) == []


# One sentence for each of `WORDS`, in their order.
BEFORE = (
    "a net learns", "mix two pictures", "of the known images", "the answer changes", "images turned by noise",
    "a small push", "two thousand random draws", "ten times as long as the attack", "the closest examples",
    "a walk to the boundary", "the surroundings of an image", "all are flagged", "at the rate printed",
    "moved images help", "its last value", "the likeness falls", "the print says", "a stand-in for ResNet50",
    "changed statements fail", "a guess at round numbers", "noise from a cube")


@pytest.mark.parametrize("word, before", list(zip(WORDS, BEFORE, strict=True)))
def test_each_word_is_found_and_no_term_is(word, before):
    assert re.search(rf"\b(?:{word})\b", before) and len(offences([before])) >= 1
    assert offences([WORDS[word].replace("(of a plot: figure)", "")]) == []


def test_terms_quotations_and_code_are_no_offences():
    assert offences(['A "net" and `net` and {term}`picture` and “the walk”']) == []
    assert offences(["The learning rate and the success rate of networks"]) == []


# Names that do not say what a value is. `found` is a field: whether a search found something.
VAGUE = {"told", "found", "made", "mine", "theirs", "each", "named", "knows", "middle", "every"}


def given_names(tree):
    """Names that code gives to values, arguments and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def test_names_say_the_quantity_or_the_action():
    paths = [p for folder in ("shared", "report", "papers", "workflow", "notebooks", "book/_ext", "tests")
             for p in sorted((ROOT / folder).rglob("*.py")) if "-Copy" not in p.stem]
    assert paths
    vague = {str(p.relative_to(ROOT)): VAGUE & {*given_names(ast.parse(p.read_text()))} for p in paths}
    assert not {path: names for path, names in vague.items() if names}
