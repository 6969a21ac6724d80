"""A claim must hold on the paper's own numbers: each rule on the published rows of its tables."""
from unittest import mock

import pytest

from report import claims, record, reference
from tests import flips, published

UNPRINTED = {("sutton", "table-8", "below 0.2")}   # on a share that is measured and not printed
RULES = [(paper, item.id, phrase)
         for paper in reference.KEYS for item in reference.paper(paper).items.values()
         for phrase, rule in claims.of(paper, item.id).items()
         if rule.judge and all(reference.paper(paper)[name].rows for name in (item.id, *rule.others))]


@pytest.mark.parametrize("paper, name, phrase", RULES, ids=map("-".join, RULES))
def test_a_claim_holds_on_the_papers_own_numbers(paper, name, phrase):
    """All cases count here, also those on which only a proxy was measured; one that is open says so."""
    rule, results = claims.of(paper, name)[phrase], []
    for item in (reference.paper(paper)[n] for n in (name, *rule.others)):
        recorded = (record.read(paper, item.id) or {}).get("rows") or [{}]
        results.append(published.rows(item, recorded[0]))
    with mock.patch.object(claims, "conclude", flips.of_values):
        holds, evidence = rule.outcome(results)
    assert holds is (None if rule.open or (paper, name, phrase) in UNPRINTED else True), evidence
