"""The audit of printed numbers: every numeric finding has its value, and a changed cell flips its verdict."""
import copy

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from shared.audit import chapters
from shared.audit.chen import sorted_uniform_correlations
from shared.audit.finding import Finding, attainable, rounds_to
from shared.audit.shu import expected_range
from shared.audit.sutton_sizes import largest_share

CONTRADICTS, CONFIRMS, NOTE = "contradicts", "confirms", "note"


@pytest.fixture(scope="module")
def found():
    return chapters.findings()


def named(found, name, paper=None):
    return [f for f in found if f.name == name and paper in (None, f.paper)]


def one(found, name):
    finding, = named(found, name)
    return finding


def flat(value):
    """All numbers of a recomputed value, in order."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [n for v in value for n in flat(v)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


# (check, verdict, every number of its recomputed value in order, absolute tolerance)
EXPECTED = [
    # Ren et al.
    ("caption_accuracies", CONFIRMS, [99.417, 99.28, 99.795, 99.41, 99.437, 99.12], 0),
    ("training_set_size", CONFIRMS, [60000], 0),
    ("unpruned_separability", CONTRADICTS, [0.9950], 0),
    ("second_pruning_setting", CONTRADICTS, [255], 0),
    ("previous_setting", CONTRADICTS, [0.5033, 0.5910, 0.3231, 0.5512], 0),
    ("figure_3_similarity", CONTRADICTS, [0.5310], 0),
    ("early_stopping", NOTE, [0.0050, 0.0050, 0.0050, 0.0049, 0.0050, 0.0050, 5], 6e-5),
    ("outside_farther_than_inside", CONFIRMS, [0.0123, 0.8963], 1e-9),
    ("pruning_trade_off", CONFIRMS, [-.3078, -.3659, -.2177, .1802, .2343, .1628,
                                     -.2823, -.1578, -.0759, .0398, .1937, .0406], 1e-9),
    ("black_similarity_change", CONTRADICTS, [0.0492, 0.1260], 1e-9),
    ("order_of_architectures", CONTRADICTS, [-1, 0.5, -0.5], 1e-9),
    ("binary_images_spread", NOTE, [0.1006, 1006], 1e-9),
    ("halving", CONFIRMS, [1, 0], 0),
    # Shu et al.
    ("plain_distance", CONTRADICTS, [5.92, 6.32, 15.2, 21.5, 44.7, 54.9], 0.05),
    ("squared_distance", CONFIRMS, [0.66315], 1e-5),
    ("fgsm_interval", CONFIRMS, [0.01066, 0.0807], 5e-5),
    ("fgsm_attack_range", NOTE, [0.1891, 0.1943, 0.00518, 0.03985], 5e-5),
    ("order_of_columns", CONTRADICTS, [1], 0),
    ("midpoints", CONTRADICTS, [5.305, 14.3345, 7.86, 8.6605, 10.0225, 21.934, 5], 1e-9),
    ("bim_dimensions", CONTRADICTS, [3017, 1, 55], 0),
    ("region_types_in_ball", CONTRADICTS, [0, 2.449], 5e-4),
    ("largest_perturbation", NOTE, [14.784, 2.626], 5e-4),
    ("near_99_percent", CONTRADICTS, [96.5, 98.8, 5], 1e-9),
    ("errors_fall_with_index", CONTRADICTS, [-0.920, 0.00028], 5e-4),
    ("grey_levels", CONFIRMS, [0.032, 8.16], 1e-9),
    ("rectangles_need_less", CONFIRMS, [.779, .970, .809, .583, .578, .563, .942, .967, .257], 5e-4),
    ("ball_volume", CONFIRMS, [-43.07, 225.19], 5e-3),
    # He et al.
    ("optmargin_success", CONTRADICTS, [0, 0, 0, 6], 0),
    ("fgsm_over_all_images", NOTE, [100, 100, 99, 91, 1, 0, 3, 5], 0),
    ("fgsm_over_correct_images", CONFIRMS, [90.91, 6.0, 82.29, 36.05], 5e-3),
    ("optmargin_between", CONFIRMS, [2.2, 1.9, 1.4, 1.07, .74, .43, .40, .109], 0.05),
    ("optmargin_fools_regions", CONFIRMS, [16, 54, 16, 55], 0),
    ("boundary_denominators", CONFIRMS, [95, 83], 0),
    ("boundary_images", NOTE, [95, 83], 0),
    ("transfer_between_attacks", CONFIRMS, [0.0, 7.4, 39.8, 74.1], 0),
    ("epochs", CONFIRMS, [2000, 3997.66], 5e-3),
    ("radii", CONFIRMS, [5.1], 1e-9),
    ("attack_effort", NOTE, [80000, 800], 0),
    # Sutton et al.
    ("summary_is_median", CONFIRMS, [29, 41.19, 41.49], 1e-9),
    ("summary_misprint", CONTRADICTS, [41.49], 1e-9),
    ("summary_is_no_problem", NOTE, [10, 0, 3, 99.40, 95.20, 86.74, 86.08, 0, .06, 3.87, 4.58, 29.34, 32.15],
     0),
    ("accuracy_prose", CONFIRMS, [99.574, .245, 98.74, 94.089, 3.775, 82.60], 5.1e-4),
    ("susceptibility_prose", CONTRADICTS, [90.21, 7.66, 89.75, 7.85], 5e-3),
    ("susceptibility_minimum", CONFIRMS, [70.28, 6, 8, 69.82, 6, 8], 0),
    ("vast_majority", CONFIRMS, [40, 40, 45], 0),
    ("rarely_flipped", CONFIRMS, [70, 90, 5, 18, 4, 10], 0),
    ("impossible_column", CONTRADICTS, [8765, 1649, 5, 5, 10], 0),
    ("whole_numbers_with_noise", CONFIRMS, [108], 0),
    ("gtsrb_sizes", CONFIRMS, [316, 134, 1636, 674, 1923, 836, 1489, 700, 1883, 817,
                               450, 2310, 2759, 2189, 2700], 0),
    ("number_of_signs", CONTRADICTS, [7, 6], 0),
    ("monotone_in_draw", CONFIRMS, [0], 0),
    ("imagenet_counts", CONFIRMS, [14499, 14500, 13623, 13624], 0),
    ("imagenet_summary", CONFIRMS, [70.8, 66.52, 94.2, 97.07, 2.5, 1.4], 0),
    ("small_attacks_on_imagenet", NOTE, [99.04, 97.15], 5e-3),
    ("planar_boundary", NOTE, [2.7e-3, 0.12, 0], 5e-3),
    ("noise_and_norms", CONTRADICTS, [.913, .507, .820, 1.018, .508, .874, .991, 9, 9], 5e-4),
    ("noise_and_susceptibility", NOTE, [90.68, 94.58, 93.72, 90.52, 95.84, 93.66, 90.94], 5e-3),
    ("noise_and_accuracy", CONFIRMS, [99.56, 98.98, 94.23, 87.03, 98.96, 94.02, 87.88], 5e-3),
    ("spread_of_norms", NOTE, [324, 1], 0),
    ("attack_grid", CONFIRMS, [.01960, .01965, .00980, .00982], 6e-6),
    ("half_grid", CONFIRMS, [3.625], 5e-4),
    ("flipping_draws", CONFIRMS, [83, 4], 0),
    ("typical_draws", NOTE, [.0665, .0005, .0073, .0005, .0179], 5e-5),
    ("draws_mean_change", CONFIRMS, [44.22, .212], 5e-3),
    ("fashion_channels", CONFIRMS, [28.36, 28, 48.50], 5e-3),
    ("order_of_norms", CONFIRMS, [.629], 5e-4),
    ("representative_l1", NOTE, [.0326, 11.22, 50.20, .0037, .0163], 5e-5),
    ("localised", NOTE, [9.43, 14.31, .307, .399, .637], 5e-3),
    ("parameters", CONFIRMS, [1792, 36928, 73856, 147584, 295168, 590080, 131584, 513, 1277505], 0),
    ("imagenet_dimensions", CONFIRMS, [256, 224], 0),
    # Chen et al.
    ("precision_of_correlations", CONTRADICTS, [17, 0], 0),
    ("mean_correlations", CONTRADICTS, [.9767, .9706, .9597, .9391], 5e-5),
    ("means_of_rounded", CONFIRMS, [.976, .973, .960, .940], 1e-9),
    ("strict_order", CONFIRMS, [1, 1], 1e-9),
    ("pooled_correlation", NOTE, [.84, .76, .64, .64], 5e-3),
    ("closer_than_sampling_error", NOTE, [.0050, .0027, .0030], 5e-5),
    ("l2_weaker", CONTRADICTS, [28], 0),
    ("ranking_direction", CONTRADICTS, [.3854, .8930], 0),
    ("accuracy_levels", CONFIRMS, [68.09, 70.94, 75.48, 98.02, 98.81, 99.36, 88.69, 90.58, 91.89], 5e-3),
    ("min_max_ranges", CONFIRMS, [.1, .9, 1 / 45, 44 / 45, 1 / 45, 44 / 45], 1e-9),
    ("natural_column", CONFIRMS, [30], 0),
    ("decline", CONTRADICTS, [.0186, .0721, .0427, .1477, .0636, .0448, 8], 5.1e-5),
    ("adversarial_samples_lower_roby", NOTE, [12], 0),
    ("repeated_values", NOTE, [2, 2], 0),
    ("shared_network", CONFIRMS, [.9734, .9734, .8726, .8726, .4722, .4722], 0),
    ("linear_over_model_types", NOTE, [.948, .996, .936, .271], 5.1e-4),
    ("running_time", CONFIRMS, [.64, 1.18, 1.15], 5e-3),
    ("step_and_epsilon", CONTRADICTS, [1 / 30, 1 / 30, 2], 1e-9),
    ("figure_1_accuracy", CONFIRMS, [99.31], 1e-9),
]
# Checks with several rows, or with a value that is not a list of numbers: tested one by one below.
OTHERS = {"pointwise_rectangle", "equal_models", "worst_case_accuracy", "whole_numbers", "correlations",
          "best_metric", "chance_correlation", "success_over_correct_images", "robust_below_natural",
          "network_accuracy", "capacity", "dropout"}


@pytest.mark.parametrize("name, verdict, values, tolerance", EXPECTED, ids=[e[0] for e in EXPECTED])
def test_value(found, name, verdict, values, tolerance):
    finding = one(found, name)
    assert finding.verdict == verdict
    assert flat(finding.recomputed) == pytest.approx(values, rel=0, abs=tolerance or 1e-12)


def test_every_numeric_finding_is_tested(found):
    numeric = {f.name for f in found if f.kind == "numeric"}
    assert numeric == {e[0] for e in EXPECTED} | OTHERS


def test_counts(found):
    assert sum(f.kind == "numeric" for f in found) >= 50
    assert sum(f.kind == "numeric" and f.verdict == CONTRADICTS for f in found) >= 20
    assert {f.paper for f in found} == {"ren", "shu", "he", "sutton", "chen"}
    assert all(f.source and f.consequence and f.place for f in found)


def test_places_exist(found):
    papers = chapters.references()
    places = [(f.paper, item) for f in found for item in f.place.split(", ")]
    assert [(paper, item) for paper, item in places if item not in papers[paper].items] == []


def test_correlations(found):
    rows = named(found, "correlations")
    expected = [-.8422, -.8737, .8911, -.9378, -.9045, .9566, -.9279, -.9085, .9695,
                -.9756, -.9574, .9826, -.9857, -.9228, .9694, -.9081, -.9094, .9781]
    assert [v for f in rows for v in f.recomputed.values()] == pytest.approx(expected, abs=5.1e-5)
    wrong = [c for f in rows for c in f.printed if not rounds_to(f.recomputed[c], f.printed[c], 2)]
    assert wrong == ["fsa_inf"] and [f.verdict for f in rows].count(CONTRADICTS) == 1


def test_best_metric(found):
    finding = one(found, "best_metric")
    assert finding.verdict == CONTRADICTS
    assert [k for k, v in finding.recomputed.items() if v != "roby"] == ["MNIST, norm 2"]


def test_chance_correlation(found):
    r = one(found, "chance_correlation").recomputed
    assert (r["median"], r["5%"], r["95%"]) == pytest.approx((.9452, .8444, .9841), abs=.0015)
    printed = one(found, "chance_correlation").printed
    assert (printed["smallest |r|"], printed["largest |r|"]) == pytest.approx((.8422, .9857), abs=5e-5)


def test_sorted_uniform_correlations_are_pearson():
    r = sorted_uniform_correlations(np.random.default_rng(3), size=6, pairs=4)
    draws = np.random.default_rng(3)
    x, y = np.sort(draws.random((4, 6))), np.sort(draws.random((4, 6)))
    assert r == pytest.approx([stats.pearsonr(a, b)[0] for a, b in zip(x, y)])


def test_success_over_correct_images(found):
    table_1, table_9 = (f.recomputed for f in named(found, "success_over_correct_images"))
    assert flat(table_1) == pytest.approx([11, 14.19, 0], abs=.01)
    assert flat(table_9) == pytest.approx([1, 2.35, 0], abs=.01)


def test_robust_models(found):
    original, adversarial = named(found, "robust_below_natural")
    assert original.recomputed == {"rows that agree": 29, "exceptions": ("CIFAR-10 MobileNetV2",)}
    assert (original.verdict, adversarial.verdict) == (CONTRADICTS, CONFIRMS)


def test_small_networks(found):
    widths, depths = named(found, "network_accuracy")
    assert flat(widths.recomputed) == pytest.approx([97.34, 98.21, 1])
    assert flat(depths.recomputed) == pytest.approx([96.27, 98.00, 1])
    assert {widths.verdict, depths.verdict} == {CONTRADICTS}
    assert one(found, "capacity").verdict == CONFIRMS and len(flat(one(found, "capacity").recomputed)) == 16
    assert one(found, "dropout").verdict == CONTRADICTS
    assert one(found, "dropout").recomputed["CIFAR-10"] == ("CNN-3", "CNN-1", "CNN-2", "CNN-4")


def test_repeated_values(found):
    finding = one(found, "repeated_values")
    assert finding.printed == {"pair 0.6159/0.5577": 2}
    assert finding.recomputed == {"MNIST 0.2937": 2, "MNIST 0.6324": 2}


def test_pointwise_rectangle(found):
    r = one(found, "pointwise_rectangle").recomputed
    assert r["squared"] == pytest.approx((6.4, 11.67, 17.0), abs=1.6)  # extremes of 1000 draws vary
    assert r["squared"][1] == pytest.approx(35 / 3, abs=0.3)


def test_equal_models(found):
    lenet, mlp, mobilenet = named(found, "equal_models")
    assert (lenet.verdict, mlp.verdict, mobilenet.verdict) == (CONTRADICTS, CONFIRMS, CONFIRMS)
    assert lenet.recomputed["chi-squared"] == pytest.approx(364.6, abs=.05)
    assert (mlp.recomputed["p"], mobilenet.recomputed["p"]) == pytest.approx((.9963, .8094), abs=5e-5)


def test_worst_case_accuracy(found):
    mnist, cifar = named(found, "worst_case_accuracy")
    assert mnist.recomputed == pytest.approx((90.4, 10)) and cifar.recomputed == pytest.approx((96.4, 5))
    assert {mnist.verdict, cifar.verdict} == {CONFIRMS}


def test_whole_numbers(found):
    cifar, fashion = (f.recomputed for f in named(found, "whole_numbers"))
    assert cifar == {"columns of whole images": 88, "others": ("1-vs-9 train", "1-vs-9 test")}
    assert fashion == {"columns of whole images": 18, "others": ()}


def test_grid_contains_five_over_255(found):
    grid = one(found, "attack_grid").recomputed
    low, high = grid["99 and 20 steps"]
    assert low <= 5 / 255 <= high and not low <= 5 / 256 <= high


# (paper, item, path to the cell from `rows`, new value, check, its verdict then): each turns a verdict round.
MUTATIONS = [
    ("ren", "table-3", (0, "separability_ssim"), 0.9955, "unpruned_separability", CONFIRMS),
    ("ren", "table-4", (2, "T"), 256, "second_pruning_setting", CONFIRMS),
    ("ren", "table-4", (1, "ae_ssim"), 0.52, "black_similarity_change", CONFIRMS),
    ("ren", "table-4", (3, "robustness_ssim"), 0.5, "pruning_trade_off", CONTRADICTS),
    ("shu", "table-4", (5, "attack_l2_min"), 30.0, "order_of_columns", CONFIRMS),
    ("shu", "table-4", (4, "attack_l2_max"), 41.0, "squared_distance", CONTRADICTS),
    ("shu", "table-9", (0, "n_perturbed_dims"), 3071, "bim_dimensions", CONFIRMS),
    ("shu", "table-2", (0, "M1"), 0.9, "region_types_in_ball", CONFIRMS),
    ("he", "table-2", (3, "cifar10_point_adv_accuracy_pct"), 0, "optmargin_success", CONFIRMS),
    ("he", "table-2", (1, "cifar10_point_adv_accuracy_pct"), 60, "fgsm_over_correct_images", CONTRADICTS),
    ("he", "table-3", (4, "false_pos_benign_pct"), 5.5, "boundary_denominators", CONTRADICTS),
    ("sutton", "table-1", (4, "cifar10", "train"), 41.49, "summary_misprint", CONFIRMS),
    ("sutton", "table-2", (0, "trained_parameters"), 1728, "parameters", CONTRADICTS),
    ("sutton", "table-12", (9, "test"), 0.0, "monotone_in_draw", CONTRADICTS),
    ("sutton", "table-23", (2, "test"), 99.33, "gtsrb_sizes", CONTRADICTS),
    ("chen", "table-1", (3, "roby_2"), 0.99, "strict_order", CONTRADICTS),
    ("chen", "table-5", (2, "roby_original_natural"), 0.34, "natural_column", CONTRADICTS),
    ("chen", "table-10", (0, "roby_ms"), 2020, "running_time", CONTRADICTS),
]


def changed(paper, item, path, value):
    """The reference of one paper with one cell changed."""
    papers = {paper: copy.deepcopy(chapters.references()[paper])}
    cell = papers[paper][item].rows
    for step in path[:-1]:
        cell = cell[step]
    assert cell[path[-1]] != value
    cell[path[-1]] = value
    return papers


@pytest.mark.parametrize("paper, item, path, value, name, verdict", MUTATIONS, ids=[m[4] for m in MUTATIONS])
def test_a_changed_cell_flips_its_finding(found, paper, item, path, value, name, verdict):
    assert one(found, name).verdict in {CONFIRMS, CONTRADICTS} - {verdict}
    assert one(chapters.findings(changed(paper, item, path, value)), name).verdict == verdict


@pytest.mark.parametrize("item, path, value, name", [
    ("table-2", (1, "fsa_inf"), -0.94, "correlations"),
    ("table-5", (2, "roby_original_robust"), 0.34, "robust_below_natural")])
def test_a_changed_cell_removes_the_only_contradiction(found, item, path, value, name):
    assert [f.verdict for f in named(found, name)].count(CONTRADICTS) == 1
    assert {f.verdict for f in named(chapters.findings(changed("chen", item, path, value)), name)} == {CONFIRMS}


def test_a_lost_text_is_an_error():
    papers = {"sutton": copy.deepcopy(chapters.references()["sutton"])}
    papers["sutton"]["table-5"].raw["claims"] = ["Nothing of the kind."]
    with pytest.raises(ValueError, match="table-5.claims has no text like"):
        chapters.findings(papers)


def test_one_paper_alone_gives_the_same(found):
    alone = chapters.findings({"chen": chapters.references()["chen"]}, generator=np.random.default_rng(0))
    assert alone == [f for f in found if f.paper == "chen"]


def test_unknown_paper():
    with pytest.raises(ValueError, match="no checks for paper 'szegedy'; allowed: ren, shu"):
        chapters.findings({"szegedy": None})


def test_finding_refuses_unknown_kind_and_verdict():
    fields = dict(paper="ren", name="", place="table-1", title="", printed=1, recomputed=1, consequence="",
                  source="")
    with pytest.raises(ValueError, match="unknown kind 'guess'; allowed: numeric, text, code"):
        Finding(kind="guess", verdict=NOTE, **fields)
    with pytest.raises(ValueError, match="unknown verdict 'maybe'; allowed: contradicts"):
        Finding(kind="text", verdict="maybe", **fields)


def test_table(found):
    table = chapters.table(found)
    assert isinstance(table, pd.DataFrame) and len(table) == len(found)
    assert table.loc[table.title.str.contains("Mean and STD of susceptibility"), "recomputed"].item() == \
        "training 90.21, 7.663; test 89.75, 7.853"


@pytest.mark.parametrize("value, text", [
    (0.12346, "0.1235"), (3.0, "3"), (1234.56, "1234.6"), (7, "7"), (True, "True"), ((1, 2.5), "1, 2.5"),
    ({"a": 1, "b": (0.5, "x")}, "a 1; b 0.5, x"), ("word", "word")])
def test_show(value, text):
    assert chapters.show(value) == text


@pytest.mark.parametrize("percent, total, decimals, counts", [
    (50, 2, 2, [1]), (33.33, 3, 2, [1]), (33.34, 3, 2, []), (0, 10, 2, [0]), (100, 10, 2, [10]),
    (70.8, 20480, 2, [14499, 14500]), (12.5, 8, 0, [1]), (5.3, 95, 1, [5])])
def test_attainable(percent, total, decimals, counts):
    assert list(attainable(percent, total, decimals)) == counts


def test_attainable_inverts_rounding():
    for total in (7, 83, 1649):
        for k in range(total + 1):
            assert k in attainable(round(100 * k / total, 2), total)


def test_rounds_to():
    assert rounds_to(0.125, 0.12, 2) and rounds_to(0.125, 0.13, 2) and not rounds_to(0.1251, 0.12, 2)


def test_expected_range():
    draws = np.random.default_rng(0).standard_normal((4000, 10))
    assert expected_range(10) == pytest.approx(np.ptp(draws, axis=1).mean(), abs=0.05)
    assert expected_range(2) == pytest.approx(2 / np.sqrt(np.pi), abs=1e-6)


def test_largest_share_of_a_random_direction():
    directions = np.random.default_rng(0).standard_normal((20_000, 200))
    ratio = np.abs(directions).max(axis=1) / np.linalg.norm(directions, axis=1)
    for limit, tolerance in ((0.25, 0.006), (0.28, 0.003)):
        assert largest_share(200, limit) == pytest.approx((ratio > limit).mean(), abs=tolerance)
