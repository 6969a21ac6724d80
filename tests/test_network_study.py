"""papers.sutton.study: which network (Sutton et al.): the score, and the choice by the protocol's rule."""
import numpy as np
import pandas as pd
import pytest

from papers.sutton import experiments, study, tables
from report import reference, store
from shared.susceptibility import percentage

PRINTED = study.published(reference.paper("sutton"))
NOTHING = {"mean": None, "std": None, "count": 0}
NO_ATTACK = {"susceptibility": percentage(0, 0), **dict.fromkeys(("l1", "l2", "linf"), NOTHING)}
NO_NOISE = [{"delta": d, "susceptibility": percentage(0, 0)} for d in experiments.DELTAS]
PLAIN, OTHER = ("plain", 0.4, 0.0), ("bn", 0.2, 0.0)


def as_published(pair, shift=0.0, saturated=0):
    """A made-up run with the published values of a pair; `shift` moves the mean norms."""
    run = {}
    for split in ("train", "test"):
        value = PRINTED.loc[experiments.PAIRS[pair]][split]
        attack = {"susceptibility": percentage(round(100 * value["share"]) - saturated, 10_000),
                  "l2": {"mean": value["mean"] + shift, "std": value["std"]}}
        run[split] = {"accuracy": {"percent": value["accuracy"]}, "tried": 10_000, "saturated": saturated,
                      "attack": attack}
    return run


def test_the_published_network_has_score_0_and_each_deviation_counts_in_units_of_its_column():
    unit, wanted = PRINTED.std(ddof=0), PRINTED.loc[experiments.PAIRS["deer-horse"]]

    def score(run, zero=False):
        return study.score(study.measured(run, zero=zero), wanted, PRINTED)

    assert score(as_published("deer-horse")) < 1e-9
    moved = sum((0.3 / unit[split, "mean"]) ** 2 for split in ("train", "test"))
    assert abs(score(as_published("deer-horse", 0.3)) - moved) < 1e-9
    zero_gradients = as_published("deer-horse", saturated=500)
    assert score(zero_gradients, zero=True) < 1e-9 < score(zero_gradients)
    none = as_published("deer-horse")
    none["test"] |= {"tried": 0, "attack": {"susceptibility": percentage(0, 0),
                                            "l2": {"mean": None, "std": None}}}
    assert np.isnan(score(none))


def test_the_screen_has_twelve_networks_and_begins_with_the_words_of_the_paper():
    networks = experiments.screen()
    assert len(networks) == len(set(networks)) == 12 and networks[0] == PLAIN
    assert {(p, e, s) for p, _, e, s in experiments.study_runs(50)} >= {("deer-horse", 50, 0)}


def some_scores(pairs=tuple(experiments.PAIRS), seeds=(0,), epochs=100, **of):
    """Scores of PLAIN and OTHER, the same for each training; one more where zero gradients are attackable."""
    networks = {"plain": PLAIN, "other": OTHER}
    return pd.DataFrame([
        {"pair": pair, "network": networks[n], "epochs": epochs, "seed": seed, "zero": zero,
         "score": float(value + zero)}
        for pair in pairs for seed in seeds for zero in (False, True) for n, value in of.items()])


WANTED = [(pair, network, 100, 0) for network in (PLAIN, OTHER) for pair in experiments.PAIRS]


def test_the_choice_is_among_readings_on_both_pairs_and_prefers_fewer_departures_within_a_tenth():
    assert study.choice(some_scores(plain=10.9, other=10), WANTED) == (PLAIN, 100, False)
    assert study.choice(some_scores(plain=11.1, other=10), WANTED) == (OTHER, 100, False)
    assert study.choice(some_scores(["deer-horse"], plain=1, other=2), WANTED) is None
    without = some_scores(plain=1, other=2)
    without.loc[(without["pair"] == "aeroplane-cat") & (without["network"] == PLAIN), "score"] = np.nan
    assert study.choice(without, WANTED) == (OTHER, 100, False)
    # A network on one pair alone has no reading on both.
    alone = [(pair, n, 100, 0) for pair, n, *_ in WANTED if (pair, n) != ("aeroplane-cat", PLAIN)]
    assert study.choice(some_scores(plain=1, other=2), alone) == (OTHER, 100, False)


def test_a_missing_training_holds_the_choice_up_only_where_it_may_change_it():
    wanted = WANTED + [(pair, PLAIN, 200, seed) for pair in experiments.PAIRS for seed in (0, 1)]
    done = some_scores(plain=4, other=4)

    def with_longer(score):
        longer = some_scores(["deer-horse"], epochs=200, plain=score)
        return study.choice(pd.concat([done, longer]), wanted)

    assert study.choice(done, wanted) is None
    # Two departures against one, and four trainings: it is out above 4 x 4 x 1.1.
    assert with_longer(17.5) is None
    assert with_longer(17.7) == (PLAIN, 100, False)
    assert with_longer(np.nan) == (PLAIN, 100, False)


def best(scores, pairs, count):
    """The networks with the smallest score, the mean over `pairs`, by the better way of counting."""
    by_pair = scores.groupby(["network", "epochs", "zero", "pair"]).score.mean().unstack()
    means = by_pair[pairs].dropna().mean(axis=1)
    return set(means.groupby("network").min().nsmallest(count).index)


def test_the_second_pair_and_the_longer_trainings_are_those_that_the_recorded_screen_gives():
    recorded = experiments.network_study
    runs, labels = recorded.planned()
    runs = pd.DataFrame([store.read(recorded.path(n)).row | labels[n]
                          for n in runs if recorded.path(n).exists()])
    screen = runs[(runs["pair"] == "deer-horse") & (runs["length"] == 50)]
    assert len(screen) == 12
    assert best(study.scores(screen, PRINTED), ["deer-horse"], 4) == set(experiments.SECOND)
    short = study.scores(runs[runs["length"] == 50], PRINTED)
    assert best(short, list(experiments.PAIRS), 2) == set(experiments.LONGER)
    chosen = study.choice(study.scores(runs, PRINTED), experiments.study_runs(50))
    assert chosen == (experiments.CHOSEN, 50, True)


def test_on_clothes_the_recorded_trainings_give_the_choice_that_the_page_tests():
    recorded, printed = experiments.clothes_study, study.published(reference.paper("sutton"), "fashion_mnist")
    runs = pd.DataFrame([store.read(recorded.path(n)).row for n in recorded.planned()[0]])
    chosen, misfits = study.choice_on_clothes(runs, printed, printed)
    assert chosen[0] == experiments.CHOSEN and {network for network, *_ in misfits} == {*experiments.SECOND}
    # Another choice has no test.
    other = runs[runs["penalty"] > 0]
    assert study.choice_on_clothes(other, printed, printed)[0][0] in experiments.SECOND
    assert study.facts_of_clothes(reference.paper("sutton"), other, runs) == {}


def test_the_choice_is_tested_on_nine_problems_that_had_no_part_in_it():
    paper = reference.paper("sutton")
    for dataset, problems in experiments.TESTED.items():
        names = {experiments.name_of(dataset, *ab) for ab in problems}
        assert names <= set(getattr(experiments, dataset).planned()[0]) and len(names) == len(problems)
        assert study.published(paper, dataset).loc[problems].notna().all(axis=None)
    assert [*map(len, experiments.TESTED.values())] == [5, 2, 2]
    assert not set(experiments.TESTED["cifar10"]) & {(0, 1), *experiments.PAIRS.values()}
    # Tables 23 and 24, s3-s4, and Tables 20 and 21, dress-coat.
    assert study.published(paper, "gtsrb").loc[3, 4]["train", "share"] == 77.53
    assert study.published(paper, "fashion_mnist").loc[3, 4]["test", "mean"] == 1.75


def test_the_networks_of_the_pages_are_the_chosen_one():
    normalisation, dropout, penalty = experiments.CHOSEN
    for experiment in (experiments.cifar10, experiments.gtsrb, experiments.fashion_mnist):
        for run in experiment.planned()[0].values():
            assert (run["dropout"], run["epochs"]) == (dropout, experiments.EPOCHS)
            assert run["architecture"].startswith(experiments.NORMALISED[normalisation])
            assert not run["architecture"].endswith("-bn") and not penalty
    printed = experiments.cifar10_as_printed.planned()[0].values()
    assert {run["epochs"] for run in printed} == {100} and not any("dropout" in run for run in printed)


def test_the_nearer_training_of_two_is_counted_on_the_pairs_that_both_have():
    def frame(**shifts):
        return pd.DataFrame([dict(zip(("class_a", "class_b"), experiments.PAIRS[pair.replace("_", "-")]))
                             | as_published(pair.replace("_", "-"), shift) for pair, shift in shifts.items()])

    both = frame(deer_horse=0.1, aeroplane_cat=0.4), frame(deer_horse=0.3, aeroplane_cat=0.2)
    facts = study.nearer_than_literal(*both, PRINTED)
    assert (facts["nearer"], facts["of"]) == (1, 2)
    assert facts["most"] / facts["least"] == pytest.approx((0.3 / 0.2)**2)      # squared deviations
    assert study.nearer_than_literal(both[0], both[1].iloc[:0], PRINTED) == {}


def test_two_misfits_are_close_where_they_differ_by_less_than_two_equal_trainings():
    def frame(*shifts):
        return pd.DataFrame([dict(zip(("class_a", "class_b"), ab)) | as_published(pair, shift)
                             for (pair, ab), shift in zip(experiments.PAIRS.items(), shifts)])

    pages, literal = frame(0.1, 0.4), frame(0.2, 0.8)
    first = pd.DataFrame([as_published("deer-horse", 0.3) | {
        "pair": "deer-horse", "architecture": "sutton-vgg", "dropout": 0.2, "penalty": 0.0, "length": 50,
        "again": 0}])
    facts = study.close_to_literal(first, pages, literal, PRINTED)
    assert facts == {"pair": "deer-horse", "used": 2, "close": 1}
    assert study.close_to_literal(first, pages, literal.iloc[:0], PRINTED) == {}


def test_the_network_of_more_zero_gradients_hangs_more_on_how_they_count():
    runs = pd.DataFrame([as_published("deer-horse", saturated=saturated) | {
        "pair": "deer-horse", "architecture": "sutton-vgg", "dropout": dropout, "penalty": 0.0, "length": 50,
        "again": 0} for dropout, saturated in ((0.4, 100), (0.2, 500))])
    facts = study.counted_both_ways(runs, PRINTED)
    assert (facts["name"], facts["zero"], facts["other"]) == ("half the dropout", 5, 1)
    assert facts["counted"] < 1e-9 < facts["without"]
    assert study.counted_both_ways(runs[:1], PRINTED) == {}


def test_the_bias_of_a_column_is_the_mean_difference_over_pairs_with_its_t_interval():
    paper = reference.paper("sutton")
    printed = tables.cifar10_shares(paper)["accuracy"]
    nothing = {"saturated": 0, "attack": NO_ATTACK, "random": NO_NOISE}
    runs = pd.DataFrame([
        {"class_a": a, "class_b": b, **{
            split: nothing | {"accuracy": percentage(1, 2) | {"percent": printed[a, b][split] + shift}}
            for split in ("train", "test")}}
        for (a, b), shift in {(0, 1): -3.0, (0, 2): -1.0, (1, 2): 1.0}.items()])
    rows = study.bias_of_tables(paper, runs)
    assert [(row["table"], row["n"]) for row in rows] == 2 * [("Table 4", 3)]   # without an attack no others
    for row in rows:
        half = 4.303 * 2 / 3**0.5       # Student's 97.5% for two degrees of freedom
        assert np.allclose([row["difference"], row["low"], row["high"], row["absolute"]],
                           [-1, -1 - half, -1 + half, 5 / 3], atol=1e-2)
    alone, *_ = study.bias_of_tables(paper, runs[:1])
    assert (alone["low"], alone["words"]) == (None, "-3")


def test_the_columns_with_a_clear_bias_are_those_whose_interval_leaves_out_zero():
    rows = [{"table": "Table 4", "column": name, "low": low, "high": high, "zero": False}
            for name, low, high in (("a", -2, -1), ("b", -1, 1), ("c", 1, 2), ("d", None, None))]
    assert study.bias_in_words(rows) == (
        "The interval leaves out zero in 2 of 3 rows. Ours lie below the published values in these: "
        "a. Ours lie above the published values in these: c.")
    assert study.bias_in_words(rows[1:2]) == "The interval leaves out zero in none of 1 rows."
    assert study.bias_in_words(rows[3:]) == ""
    unflipped = {"table": "Table 9", "column": "d", "low": -2, "high": -1, "zero": True}
    assert study.bias_in_words([*rows[1:2], unflipped]) == (
        "The interval leaves out zero in none of 1 rows. Where no image of ours is flipped, the interval "
        "shows the published values alone and is not judged.")
