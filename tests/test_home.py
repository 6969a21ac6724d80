"""Home page and openings of the papers: every number of their sentences comes from a record or a run."""
import re
import sys

import matplotlib.pyplot as plt
import pytest

from papers import home
from report import prose
from report.repository import ROOT

sys.path.insert(0, str(ROOT / "book/_ext"))
import findings  # noqa: E402
from generated import BLOCK  # noqa: E402


def blocks(page, name):
    """`(argument, text)` of the blocks of a name on a page of the book."""
    hit = BLOCK.findall((ROOT / f"book/{page}.md").read_text(encoding="utf-8"))
    return [(argument, text) for block, argument, text in hit if block == name]


@pytest.mark.slow
def test_every_finding_has_its_numbers_and_a_picture():
    cards = blocks("index", "finding")
    assert [argument.split()[0] for argument, _ in cards] == list(home.FINDINGS) and len(cards) == 7
    for argument, text in cards:
        facts, figure = home.FINDINGS[argument.split()[0]]()
        assert figure.axes and prose.complete(text.replace("{picture}", ""), facts), argument
        plt.close(figure)


@pytest.mark.slow
def test_what_the_instruments_say_together_has_its_numbers():
    (argument, text), = blocks("index", "stated")
    assert prose.complete(text, home.STATED[argument]())


@pytest.mark.parametrize("paper", home.OPENINGS)
def test_an_opening_says_what_held_up_what_did_not_what_is_unknown_and_what_for(paper):
    (argument, text), = blocks(paper, "stated")
    assert argument == paper and prose.complete(text, home.OPENINGS[paper]())
    parts = ["What held up.", "What did not.", "What is still unknown.", "Use it when"]
    assert re.findall(r"\*\*(.+?)\*\*", text) == parts
    page = (ROOT / f"book/{paper}.md").read_text(encoding="utf-8")
    lead = page[page.index("{cite:p}"):page.index("```{generated} stated")].partition("\n\n")[2]
    assert 30 <= len(lead.split()) <= 60


def test_an_opening_tells_pages_that_were_not_run_from_those_without_a_result_of_full_scale(monkeypatch):
    box = {"question": "Why?", "sentences": "So.", "pictures": {}, "myst": ""}
    boxes = {"ren/a": [box | {"small": False}], "ren/b": [box | {"small": True}], "ren/c": []}
    for name, value in {"run": lambda name: name != "ren/c", "shown": lambda name, kind: boxes[name],
                        "moving": lambda names: None}.items():
        monkeypatch.setattr(findings, name, value)
    monkeypatch.setattr(findings.catalogue, "notebooks", lambda: [*boxes, "he/d"])
    monkeypatch.setattr(findings.catalogue, "title", lambda name: name[-1].upper())
    assert findings.opening("ren").split("\n\n") == [
        "**[Why?](/notebooks/ren/a.ipynb)** So.", "Not run in this build: [C](/notebooks/ren/c.ipynb).",
        "Not measured at full scale yet: [B](/notebooks/ren/b.ipynb)."]


def test_what_noise_and_attack_do_is_told_over_pairs_that_did_not_choose_the_network():
    facts, figure = home.noise_and_attack()
    plt.close(figure)
    assert not set(facts["of"]) & set(home.PAIRS.values()) and facts["pairs"] == len(facts["of"])
    assert facts["noise"]["of"] == facts["perturbed"] and 0 <= facts["step"] <= 100
