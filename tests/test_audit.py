"""The audit of printed numbers: findings have their numbers and words; a changed cell changes its class."""
import copy
import re
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from papers import findings as audit
from papers.chen.audit import sorted_uniform_correlations
from papers.findings import Checks, Printed, attainable, chances, columns, findings_of, rounds_to, stated
from papers.shu.audit import expected_range, middle_is_mean
from papers.sutton.audit import smallest_total
from report import reference
from report.repository import ROOT

PAPERS = ROOT.parent / "shared" / "papers"  # the papers' texts, where somebody has them
WORDS = 12  # of a quotation, at most
CONTRADICTS, EXCEPTIONS, CONFIRMS, NOTE = "contradicts", "holds with exceptions", "confirms", "note"


@pytest.fixture(scope="module")
def findings():
    return audit.findings()


@pytest.fixture(scope="module")
def drawn():
    """The findings with their chances: half a minute with more draws."""
    return audit.findings(draws=20)


def of_check(findings, name):
    return [f for f in findings if f.name == name]


def one(findings, name):
    finding, = of_check(findings, name)
    return finding


def flat(value):
    """All numbers of a sum, in order."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [n for v in value for n in flat(v)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


# (check, class, every number of our sum in order, absolute tolerance)
EXPECTED = [
    # Ren et al.
    ("caption_accuracies", CONFIRMS, [99.42, 99.28, 99.80, 99.41, 99.44, 99.12], 0),
    ("unpruned_separability", CONTRADICTS, [0.9950, 0.9951], 0),
    ("second_pruning_setting", CONTRADICTS, [128, 255], 0),
    ("previous_setting", NOTE, [0.3231, 0.5512, 0.5033, 0.5910], 0),
    ("early_stopping", NOTE, [0.0050, 0.0050, 0.0050, 0.0049, 0.0050, 0.0050, 5], 6e-5),
    ("outside_farther_than_inside", CONFIRMS, [0.0123, 0.8963], 1e-9),
    ("pruning_trade_off", CONFIRMS, [-.3078, -.3659, -.2177, .1802, .2343, .1628,
                                     -.2823, -.1578, -.0759, .0398, .1937, .0406], 1e-9),
    ("black_similarity_change", EXCEPTIONS, [.0492, .1089, .3035, .1260, .1050, .1076], 1e-9),
    ("halving", CONFIRMS, [8], 0),
    # Shu et al.
    ("plain_distance", CONTRADICTS, [5.92, 6.32, 15.2, 21.5, 44.7, 54.9, .663], 0.05),
    ("order_of_columns", CONTRADICTS, [1], 0),
    ("midpoints", CONTRADICTS, [5.305, 14.3345, 7.86, 8.6605, 10.0225, 21.934, 0], 1e-7),
    ("bim_dimensions", CONTRADICTS, [3017, 55], 0),
    ("spread_of_errors", NOTE, [.012, .035, 364.6, 0, -.920, .00028], 5e-2),
    ("grey_levels", CONFIRMS, [0.032, 8.16], 1e-9),
    ("inside_the_ball", NOTE, [], 0),
    ("large_perturbations", NOTE, [1, 2.17, 1.43, 2.18, 2.55, 5.70], 5e-3),
    ("rectangles_need_less", CONFIRMS, [.779, .970, .809, .583, .578, .563, .942, .967, .257], 5e-4),
    # He et al.
    ("fgsm_over_correct_images", CONFIRMS, [90.91, 6.0, 82.29, 36.05], 5e-3),
    ("optmargin_between", CONFIRMS, [2.2, 1.9, 1.4, 1.07, .74, .43, .40, .109], 0.05),
    ("optmargin_fools_regions", CONFIRMS, [16, 54, 16, 55], 0),
    ("success_and_accuracy", NOTE, [0], 0),
    ("boundary_denominators", CONFIRMS, [95, 83], 0),
    ("epochs", CONFIRMS, [2000, 3997.66], 5e-3),
    ("radii", CONFIRMS, [5.1], 1e-9),
    # Sutton et al.
    ("summary_is_median", EXCEPTIONS, [41.19, 41.49], 1e-9),
    ("summary_is_no_problem", NOTE, [0, 3], 0),
    ("accuracy_prose", CONFIRMS, [99.574, .245, 98.74, 94.089, 3.775, 82.60], 5.1e-4),
    ("susceptibility_prose", CONTRADICTS, [90.21, 7.66, 89.75, 7.85], 5e-3),
    ("susceptibility_minimum", CONFIRMS, [70.28, 6, 8, 69.82, 6, 8], 0),
    ("smallest_attacks", CONFIRMS, [.455, .675, .375], 1e-9),
    ("monotone_in_draw", CONFIRMS, [0], 0),
    ("most_above_eighty", NOTE, [40, 45], 0),
    ("imagenet_summary", CONFIRMS, [70.8, 66.52, 94.2, 97.07, 2.5, 1.4], 0),
    ("whole_numbers_with_noise", CONFIRMS, [], 0),
    ("gtsrb_sizes", CONFIRMS, [316, 134, 1636, 674, 1923, 836, 1489, 700, 1883, 817,
                               450, 2310, 2759, 2189, 2700], 0),
    ("number_of_signs", CONTRADICTS, [7, 6], 0),
    ("averaged_otherwise", NOTE, [324, 1, .913, 1.018, 1.491, 1.788, 1.026, 1.539, 1.766], 5e-4),
    ("largest_attack", NOTE, [3.625], 5e-4),
    ("draws_mean_change", CONFIRMS, [44.22, .212], 5e-3),
    ("draws_largest_change", NOTE, [.0666, .0005, .0075, .0005, .0184], 6e-5),
    ("fashion_channels", NOTE, [28.36, 28, 48.50], 5e-3),
    ("order_of_norms", CONFIRMS, [.629], 5e-4),
    ("parameters", CONFIRMS, [1792, 36928, 73856, 147584, 295168, 590080, 131584, 513, 1277505], 0),
    ("imagenet_dimensions", CONFIRMS, [256, 224], 0),
    # Chen et al.
    ("correlations", EXCEPTIONS, [-.93, -.9378], 5e-5),
    ("pooled_correlations", NOTE, [-.4927, -.4927, .6390, -.8754, -.8441, .8439], 5.1e-5),
    ("limits_of_the_metrics", NOTE, [.1, .9, 1 / 45, 44 / 45, 180], 1e-9),
    ("means_of_rounded", CONFIRMS, [.976, .9767, .973, .9706, .960, .9597, .940, .9391], 5e-5),
    ("best_metric", EXCEPTIONS, [], 0),
    ("strict_order", CONFIRMS, [1], 1e-9),
    ("closer_than_sampling_error", NOTE, [.0050, .0027, .0030], 5e-5),
    ("l2_weaker", EXCEPTIONS, [], 0),
    ("ranking_direction", NOTE, [], 0),
    ("success_over_correct_images", NOTE, [20, 11, 14.19, 4, 1, 2.35], .01),
    ("natural_column", CONFIRMS, [30], 0),
    ("decline", EXCEPTIONS, [.08818, .04166, .07207, .01862, .14766, .04274, .04482, .06362], 5.1e-6),
    ("repeated_values", NOTE, [2, 2, .508], 5e-4),
    ("capacity", CONFIRMS, [-.0019, -.0007, -.0148, -.0766, -.0332, -.0006, -.0035, -.0034, -.0017, -.0689,
                            -.0550, -.0354, -.0333, -.0310, -.0701, -.0362], 1e-9),
    ("shared_network", CONFIRMS, [.9734, .9734, .8726, .8726, .4722, .4722], 0),
    ("dropout", EXCEPTIONS, [.9432, .9398, .9437, .9602, .9250, .7832, .9693, .9670, .9670, .9388,
                             .9934, .9810], 0),
    ("linear_over_model_types", NOTE, [.948, .996, .936, .271], 5.1e-4),
]
HELD = {"black_similarity_change": (2, 3), "rectangles_need_less": (9, 9), "summary_is_median": (29, 30),
        "whole_numbers_with_noise": (54, 54), "correlations": (17, 18), "best_metric": (5, 6),
        "l2_weaker": (28, 30), "decline": (22, 30), "natural_column": (30, 30), "dropout": (5, 6)}
SEVERAL = {"worst_case_accuracy", "whole_numbers", "robust_below_natural"}


@pytest.mark.parametrize("name, verdict, values, tolerance", EXPECTED, ids=[e[0] for e in EXPECTED])
def test_value(findings, name, verdict, values, tolerance):
    finding = one(findings, name)
    assert finding.verdict == verdict
    assert flat(finding.ours) == pytest.approx(values, rel=0, abs=tolerance or 1e-12)
    assert finding.held == HELD.get(name)


def test_every_finding_of_numbers_is_tested(findings):
    assert {f.name for f in findings if f.kind == "numbers"} == {e[0] for e in EXPECTED} | SEVERAL


def test_findings_of_several_rows(findings):
    mnist, cifar = of_check(findings, "worst_case_accuracy")
    assert (mnist.ours, cifar.ours) == (pytest.approx((90.4, 10)), pytest.approx((96.4, 5)))
    cifar10, fashion = of_check(findings, "whole_numbers")
    assert (cifar10.held, cifar10.ours["others"], fashion.held) == ((44, 45), ("1-vs-9",), (9, 9))
    original, adversarial = of_check(findings, "robust_below_natural")
    assert (original.held, adversarial.held) == ((29, 30), (30, 30))
    assert list(original.ours["others"]) == ["CIFAR-10 MobileNetV2 (natural, robust)"]


# ---- fairness --------------------------------------------------------------------------------------------
def test_what_contradicts_is_quoted_and_has_a_reading(findings):
    strict = [f for f in findings if f.verdict == CONTRADICTS]
    assert strict and all(f.quotes and f.reading for f in strict)
    assert all(f.verdict == NOTE for f in findings if f.kind == "scripts")


def test_findings_are_complete(findings):
    papers = reference.PAPERS
    assert {f.paper for f in findings} == {"ren", "shu", "he", "sutton", "chen"}    # optional for others
    assert all(item in papers[f.paper].items for f in findings for item in f.place.split(", "))
    assert len({(f.paper, f.title) for f in findings}) == len(findings)
    assert all(f.reading or f.use for f in findings)
    assert all(f.quotes or f.numbers or f.ours for f in findings)
    assert all(f.ours for f in findings if f.kind == "numbers")


def bare(text):
    """Text without what extraction and line breaks change: spaces, hyphens, ligatures, quotes, TeX marks."""
    text = unicodedata.normalize("NFKC", text)
    return re.sub(r"[\s\-\u2010\u00ad$\\{}_^*\"'\u2018\u2019\u201c\u201d]+", "", text)


def test_quoted_words_stand_in_the_papers(findings):
    quotes = [(f.paper, words) for f in findings for words, _ in f.quotes]
    assert len(quotes) > 60 and all(len(words.split()) <= WORDS for _, words in quotes)
    if not PAPERS.is_dir():
        return
    texts = {key: bare("".join(p.read_text() for p in PAPERS.glob(f"{key}*.txt"))) for key in reference.KEYS}
    assert [(paper, words) for paper, words in quotes if bare(words) not in texts[paper]] == []


# ---- random numbers --------------------------------------------------------------------------------------
def test_what_holds_can_fail(drawn):
    due = [f for f in drawn if f.verdict in (CONFIRMS, EXCEPTIONS)]
    assert all((f.chance is not None) == (f in due) for f in drawn)
    assert [f.name for f in due if f.verdict == CONFIRMS and f.chance > 0.3] == []


def test_random_tables_leave_the_reference_as_it_is(drawn):
    for key, paper in reference.PAPERS.items():
        assert paper == reference.read(reference.FOLDER / f"{key}.json")


def test_one_paper_alone_gives_the_same(drawn):
    alone = audit.findings({"he": reference.PAPERS["he"]}, draws=20)
    assert alone == [f for f in drawn if f.paper == "he"]


def test_chance_of_a_check_that_can_be_solved_by_hand():
    ren = reference.PAPERS["ren"]

    def least_first(p):
        similarities = [row["ae_ssim"] for row in p.rows("table-3")]
        return p.finding("table-3", "The first row is least", holds=similarities[0] == min(similarities))

    def in_range(p):
        similarities = [row["ae_ssim"] for row in p.rows("table-3")]
        return p.finding("table-3", "In the range", holds=0.3 < min(similarities) < max(similarities) < 0.6)

    def chance(check):
        finding, = chances(check, ren, findings_of(check, Printed(ren)), pool=False, draws=3000,
                           generator=np.random.default_rng(0))
        return finding.chance

    assert chance(least_first) == pytest.approx(1 / 6, abs=0.025) and chance(in_range) == 1


def test_columns_of_tables_with_rows_and_with_lines():
    papers = reference.PAPERS
    assert [len(cells) for cells in columns(papers["chen"], ["table-1"], False)][:2] == [30, 30]
    apart, together = (columns(papers["sutton"], ["table-13", "table-15"], pool) for pool in (False, True))
    assert len(apart) == 2 * len(together)
    assert ({len(c) for c in apart}, {len(c) for c in together}) == ({9}, {18})
    assert all(key not in ("class_a", "class_b", "n_cells") for cells in apart for _, key in cells)


def test_checks_remember_what_is_pooled():
    checks = Checks()
    alone, pooled = checks(lambda p: p), checks(pool=True)(lambda p: [p])
    assert checks.functions == {alone: False, pooled: True}


# ---- changed cells ---------------------------------------------------------------------------------------
# (paper, item, path to the cell from `rows`, new value, check, its class then): what does not confirm could.
# That what confirms could fail is tested by random numbers, above.
MUTATIONS = [
    ("ren", "table-3", (0, "separability_ssim"), 0.9955, "unpruned_separability", CONFIRMS),
    ("ren", "table-4", (2, "T"), 256, "second_pruning_setting", CONFIRMS),
    ("ren", "table-4", (1, "ae_ssim"), 0.52, "black_similarity_change", CONFIRMS),
    ("shu", "table-4", (5, "attack_l2_min"), 30.0, "order_of_columns", CONFIRMS),
    ("shu", "table-4", (0, "sampled_l2_mean"), 6.9, "rectangles_need_less", EXCEPTIONS),
    ("shu", "table-9", (0, "n_perturbed_dims"), 3071, "bim_dimensions", CONFIRMS),
    ("sutton", "table-1", (4, "cifar10", "train"), 41.49, "summary_is_median", CONFIRMS),
    ("sutton", "table-13", (3, "cells", 0, "value"), 85.60, "whole_numbers_with_noise", EXCEPTIONS),
    ("chen", "table-2", (1, "fsa_inf"), -0.94, "correlations", CONFIRMS),
    ("chen", "table-5", (2, "roby_original_natural"), 0.34, "natural_column", EXCEPTIONS),
    ("chen", "table-5", (2, "roby_original_robust"), 0.34, "robust_below_natural", CONFIRMS),
    ("chen", "table-9", (3, "asr"), 0.94, "dropout", CONFIRMS),
]


def changed(paper, item, path, value):
    """The reference of one paper with one cell changed."""
    papers = {paper: copy.deepcopy(reference.PAPERS[paper])}
    cell = papers[paper][item].raw["rows"]
    for step in path[:-1]:
        cell = cell[step]
    cell[path[-1]] = value
    return papers


@pytest.mark.parametrize("paper, item, path, value, name, verdict", MUTATIONS, ids=[m[4] for m in MUTATIONS])
def test_a_changed_cell_changes_the_class(findings, paper, item, path, value, name, verdict):
    assert {f.verdict for f in of_check(findings, name)} != {verdict}
    assert {f.verdict for f in of_check(audit.findings(changed(paper, item, path, value)), name)} == {verdict}


def test_averages_away_from_the_middle_are_averages():
    papers = changed("shu", "table-4", (0, "sampled_l2_mean"), 5.4)
    papers["shu"]["table-4"].raw["rows"][1]["sampled_l2_mean"] = 14.3
    finding = one(audit.findings(papers), "midpoints")
    assert (finding.verdict, finding.ours["rows equal to it"]) == (CONFIRMS, "3 of 6")


def test_possible_norms_contradict_nothing():
    papers = {"shu": copy.deepcopy(reference.PAPERS["shu"])}
    sizes = {"min": 0.9, "mean": 1.0, "max": 1.1}
    for item in ("table-4", "table-10"):
        for row in papers["shu"][item].raw["rows"]:
            row.update({k: sizes[k.rsplit("_", 1)[1]] for k in row if "_l2_" in k})
    findings = audit.findings(papers)
    assert one(findings, "plain_distance").verdict == one(findings, "order_of_columns").verdict == CONFIRMS


# ---- text and arithmetic ---------------------------------------------------------------------------------
def test_row(findings):
    row = dict(zip(audit.HEADER, audit.row(replace(one(findings, "dropout"), chance=0.05))))
    assert row["class"] == "holds with exceptions (5 of 6 rows)"
    assert row["statement checked"].startswith("Tables IX, VIII: ")
    assert row["words of the paper"].endswith("has better robustness\u201d (Section IV.E)")
    assert row["how the authors may be right; use"].startswith("The authors are right if ")
    assert row["random numbers pass"].endswith("%")


def test_values_are_shown_with_their_labels():
    assert audit.show({"a_b": 1, "c": (0.12346, "x")}) == "a b 1; c 0.1235, x"


@pytest.mark.parametrize("words, numbers", [
    ("99.57% (standard deviation 0.24)", (99.57, .24)), ("196,608 attributes", (196608,)),
    ("99.42%/99.28%, 99.80% of T", (99.42, 99.28, 99.8))])
def test_stated(words, numbers):
    assert stated(words) == numbers


def whole(shares, total):
    """Whether all shares are whole numbers of so many images in turn, by trying each number."""
    return any(all(attainable(shares[d], susceptible) for d in (1, 2, 5, 10))
               for correct in attainable(shares["accuracy"], total)
               for susceptible in attainable(shares["adversarial_susceptibility"], correct))


def test_smallest_total_agrees_with_trying_every_total():
    column = {"accuracy": 98.32, "adversarial_susceptibility": 77.53, 1: 0.0, 2: 0.36, 5: 5.76, 10: 39.26}
    assert smallest_total(column) == next((n for n in range(1, 2500) if whole(column, n)), None)
    assert smallest_total({k: 50.0 for k in column}) == 8  # half are correct, half of those, half of those
    assert smallest_total({k: 33.33 for k in column}, limit=20) is None


def test_middle_is_mean():
    draws = np.random.default_rng(0).standard_normal((4000, 1000))
    near = np.abs((draws.min(axis=1) + draws.max(axis=1)) / 2 - draws.mean(axis=1)) < 0.1
    assert middle_is_mean(1000, np.ptp(draws, axis=1).mean(), 0.1) == pytest.approx(near.mean(), abs=0.03)


def test_sorted_uniform_correlations_are_pearson():
    r = sorted_uniform_correlations(np.random.default_rng(3), size=6, pairs=4)
    draws = np.random.default_rng(3)
    x, y = np.sort(draws.random((4, 6))), np.sort(draws.random((4, 6)))
    assert r == pytest.approx([stats.pearsonr(a, b)[0] for a, b in zip(x, y)])


@pytest.mark.parametrize("percent, total, places, counts", [
    (33.33, 3, 2, [1]), (33.34, 3, 2, []), (100, 10, 2, [10]), (70.8, 20480, 2, [14499, 14500]),
    (12.5, 8, 0, [1])])
def test_attainable(percent, total, places, counts):
    assert list(attainable(percent, total, places)) == counts


def test_attainable_inverts_rounding():
    assert all(k in attainable(round(100 * k / n, 2), n) for n in (7, 83, 1649) for k in range(n + 1))


def test_rounds_to():
    assert rounds_to(0.125, 0.12, 2) and rounds_to(0.125, 0.13, 2) and not rounds_to(0.1251, 0.12, 2)


def test_expected_range():
    draws = np.random.default_rng(0).standard_normal((4000, 10))
    assert expected_range(10) == pytest.approx(np.ptp(draws, axis=1).mean(), abs=0.05)
    assert expected_range(2) == pytest.approx(2 / np.sqrt(np.pi), abs=1e-6)
