"""What all pages share beyond their text: numbers of equations, words of the glossary, metadata, files.

An equation labelled `sutton-eq-3` is the paper's number 3; any other carries none. Pages work without a
network: MathJax comes from the installed package, Thebe not at all, and a script has the glossary.
"""
import html
import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import beside
from docutils import nodes
from places import ROOT
from sphinx import addnodes
from sphinx.util.fileutil import copy_asset

PRINTED = re.compile(r"-eq-(\w+)$")
GLOSSARY = "book/glossary"
TERM = re.compile(r"^(?![:` ])(.+)\n  ", re.MULTILINE)  # in the glossary's source: a line before its text
SIGNS = {"L∞": "Linf", "ℓ∞": "Linf", "ℓ₁": "L1", "ℓ₂": "L2"}  # as pages write these words
OWN = re.compile(r"[A-Z -]")  # in a word that means nothing else: "FGSM", "cap volume", not "record"
NOT_PROSE = (nodes.title, nodes.rubric, nodes.literal, nodes.FixedTextElement, nodes.reference, nodes.term,
             nodes.raw, nodes.math, nodes.comment, addnodes.pending_xref, addnodes.desc)
MATHJAX = "tex-chtml-full.js", "output/chtml/fonts/woff-v2"  # "full": no TeX extension is fetched later
WHOLE = ".whole"    # a file of pages that were written to the last; see workflow/render.py
VIEWPORT = re.compile(r'<meta [^>]*name="viewport"[^>]*>')
SENTENCES = 60  # characters that a paragraph needs to stand for its page


# ---- numbers ---------------------------------------------------------------------------------------------
def no_numbers(app, config):
    """Captions of tables and figures carry no numbers of the book's own, whatever extensions ask for."""
    config.numfig = False


def printed_numbers(app, doctree):
    """Equations carry the number that the paper prints, or none; references to them follow."""
    equations = app.env.get_domain("math").data["objects"]
    for node in doctree.findall(nodes.math_block):
        if label := node.get("label"):
            number = PRINTED.search(label)
            node["number"] = number[1] if number else None
            if label in equations:
                equations[label] = (equations[label][0], node["number"])


# ---- glossary --------------------------------------------------------------------------------------------
@cache
def own_words():
    """`(pattern, {as it is found: word})` of the glossary's words that mean nothing else in a sentence."""
    words = [w for w in TERM.findall((ROOT / f"{GLOSSARY}.md").read_text(encoding="utf-8")) if OWN.search(w)]
    word_of = {f"{start}{w[1:]}{end}": w
               for w in words for start in (w[0], w[0].upper()) for end in ("", "s")}
    word_of |= {sign: word for sign, word in SIGNS.items() if word in words}
    longest = sorted(word_of, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])"), word_of


def linked_words(app, doctree):
    """The first mention of such a word on a page leads to the glossary."""
    name = app.env.docname
    pattern, word_of = own_words()
    seen = {x["reftarget"] for x in doctree.findall(addnodes.pending_xref) if x.get("reftype") == "term"}
    for text in list(doctree.findall(nodes.Text)) if name != GLOSSARY else []:
        above = text.parent
        while above is not None and not isinstance(above, NOT_PROSE):
            above = above.parent
        parts, at = [], 0
        for match in pattern.finditer(text) if above is None else []:
            word = word_of[match[0]]
            if word not in seen:
                seen.add(word)
                parts += [nodes.Text(text[at:match.start()]), addnodes.pending_xref(
                    "", nodes.inline(match[0], match[0]), refdomain="std", reftype="term", reftarget=word,
                    refexplicit=True, refwarn=True, refdoc=name)]
                at = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[at:])])


def definitions(app):
    """`{id of a word: its definition}`."""
    texts = {}
    if GLOSSARY in app.env.all_docs:
        doctree = app.env.get_and_resolve_doctree(GLOSSARY, app.builder)
        for item in doctree.findall(nodes.definition_list_item):
            text = " ".join(item[-1].astext().split())
            texts |= {i: text for term in item.findall(nodes.term) for i in term["ids"]}
    return texts


# ---- metadata --------------------------------------------------------------------------------------------
def describe(app, pagename, templatename, context, doctree):
    """One viewport, a title and a description: the page's first sentences."""
    tags = VIEWPORT.sub("", context.get("metatags", ""))
    if doctree is not None:
        texts = (" ".join(p.astext().split()) for p in doctree.findall(nodes.paragraph))
        words = next((t for t in texts if len(t) >= SENTENCES), context["title"])
        properties = {"description": words, "og:description": words, "og:type": "article",
                "og:title": html.unescape(re.sub("<[^>]+>", "", context["title"]))}
        tags += "".join(f'<meta {"property" if k.startswith("og:") else "name"}="{k}" '
                        f'content="{html.escape(v[:300])}" />' for k, v in properties.items())
    context["metatags"] = tags


# ---- files -----------------------------------------------------------------------------------------------
def without_thebe(app, pagename, templatename, context, doctree):
    """The theme adds Thebe's scripts although it is off, one of them twice: an error in the browser."""
    context["script_files"] = [s for s in context.get("script_files", []) if "thebe" not in str(s).lower()]


def finish(app, exception):
    """What pages load and link to, beside them; then they are whole."""
    if exception is not None or app.builder.format != "html":
        return
    pages = Path(app.outdir)
    for name in MATHJAX:
        source = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static/mathjax" / name
        target = pages / "_static/mathjax" / name
        copy_asset(source, target if source.is_dir() else target.parent)
    (pages / "_static/glossary.js").write_text(
        f"const GLOSSARY = {json.dumps(definitions(app))};\n", encoding="utf-8")
    beside.copy(pages / "data")
    (pages / WHOLE).touch()


def setup(app):
    (Path(app.outdir) / WHOLE).unlink(missing_ok=True)
    app.connect("config-inited", no_numbers, priority=999)
    app.connect("doctree-read", printed_numbers, priority=900)
    app.connect("doctree-read", linked_words, priority=900)
    app.connect("html-page-context", describe, priority=900)
    app.connect("html-page-context", without_thebe, priority=900)  # after those who add them
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
