"""A statement on a page: the evidence sees wrong formulas, trials that disagree, and cells without an exact value."""
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from shared import runtime
from shared.pages import theorem
from shared.theory.quadrature import cap_share
from shared.theory.statements import STATEMENTS

GRID = {"n": (3, 30), "epsilon": (0.1,), "eta": (0.1,), "lipschitz": (0.1,), "delta": (0.5,), "gamma": (0.3,)}


def grid(item):
    return {name: GRID[name] for name in STATEMENTS[item].parameters}


def evidence(item, **changes):
    return theorem.evidence(replace(STATEMENTS[item], **changes), draws=2000, generator=np.random.default_rng(0),
                                trial_grid=grid(item))


@pytest.mark.parametrize("item", ["theorem-6", "theorem-18", "theorem-20"])
def test_true_statement_has_no_excess(item):
    data = evidence(item)
    detail = data["detail"]
    assert data["violations"] == 0 and detail["excess"] <= theorem.ALLOWED and detail["largest_n"] == 200_000
    assert 0 <= detail["tightest"] <= np.log10(data["median_bound_over_truth"]) <= detail["loosest"]
    assert detail["trials"] == 2 and detail["largest_z"] < theorem.FAR


@pytest.mark.parametrize("item, sign", [("theorem-6", -1), ("theorem-18", -1), ("theorem-20", 1)])
def test_wrong_bound_shows_as_excess(item, sign):
    right = STATEMENTS[item].log_bound
    data = evidence(item, log_bound=lambda **given: right(**given) + sign * 3.0)
    assert data["violations"] > 0 and data["detail"]["excess"] > 1


def test_without_an_exact_value_the_trials_judge():
    data = evidence("theorem-14")
    assert data["violations"] == 0 and data["detail"]["excess"] == 0 and "median_bound_over_truth" not in data
    wrong = evidence("theorem-14", log_bound=lambda n, **given: np.full(np.shape(n), -20.0))
    assert wrong["violations"] > 0 and wrong["detail"]["excess"] > 0.01


class FakeRun:
    """Keeps what is published."""
    settings = SimpleNamespace(draws=2000)

    def generator(self, *labels):
        return runtime.generator(0, *labels)

    def publish(self, item, **result):
        return {"item": item, **result}


def test_check_publishes_the_excess_and_trusts_no_exact_value_that_trials_deny(monkeypatch, capsys):
    published = theorem.check(FakeRun(), "theorem-19", draws=2000, trial_grid=GRID, extra={"more": 1})
    assert published["exact"] == (0.0, theorem.ALLOWED) and published["data"]["more"] == 1
    assert STATEMENTS["theorem-19"].formula in capsys.readouterr().out
    exact = STATEMENTS["theorem-19"].log_exact
    halved = replace(STATEMENTS["theorem-19"], log_exact=lambda **given: exact(**given) - math.log(2))
    monkeypatch.setitem(theorem.STATEMENTS, "theorem-19", halved)
    assert theorem.check(FakeRun(), "theorem-19", draws=2000, trial_grid=GRID)["exact"][0] == math.inf


def test_a_second_integration_counts_as_a_deviation():
    def deviation(again):
        return theorem.check(FakeRun(), "theorem-1", draws=2000, trial_grid=GRID, again=again)["exact"][0]

    assert deviation(lambda n, epsilon, delta: cap_share(n, epsilon / delta)) < 1e-10
    assert deviation(lambda n, epsilon, delta: 1.001 * cap_share(n, epsilon / delta)) > 9e-4


def test_words_formulas_and_conditions():
    assert theorem.formula(STATEMENTS["theorem-1"]) == f"$${STATEMENTS['theorem-1'].formula}$$"
    for item in ("theorem-14", "theorem-16", "theorem-20"):
        text = theorem.formula(STATEMENTS[item])
        assert text.count(r"\\") in (1, 2) and text.count(r"\left") == text.count(r"\right")
    assert theorem.conditions(STATEMENTS["theorem-4"]) == r"0 \le \epsilon \le 1"
    assert "coincide" in theorem.words(theorem.evidence(STATEMENTS["lemma-13"], draws=1, generator=None))
    text = theorem.words(evidence("theorem-6"))
    assert "1,200 cases up to $n$ = 200,000: 0 violations" in text and "factor of 2" in text
