"""papers.sutton.study: which network (Sutton et al.): the score, and the choice by the protocol's rule."""
import numpy as np
import pandas as pd

from papers.sutton import experiments, study
from report import reference, store

PRINTED = study.published(reference.paper("sutton"))
PLAIN, OTHER = ("plain", 0.4, 0.0), ("bn", 0.2, 0.0)


def as_published(pair, shift=0.0, saturated=0):
    """A made-up run with the published values of a pair; `shift` moves the mean norms."""
    def part(split):
        value = PRINTED.loc[experiments.PAIRS[pair]][split]
        attack = {"susceptibility": {"hits": round(100 * value["share"]) - saturated, "of": 10_000},
                  "l2": {"mean": value["mean"] + shift, "std": value["std"]}}
        return {"accuracy": {"percent": value["accuracy"]}, "tried": 10_000, "saturated": saturated,
                "attack": attack}
    return {split: part(split) for split in ("train", "test")}


def test_the_published_network_has_score_0_and_each_deviation_counts_in_units_of_its_column():
    pair, unit = "deer-horse", PRINTED.std(ddof=0)
    assert study.score(study.measured(as_published(pair), zero=False), pair, PRINTED) < 1e-9
    moved = study.score(study.measured(as_published(pair, 0.3), zero=False), pair, PRINTED)
    assert abs(moved - sum((0.3 / unit[s, "mean"]) ** 2 for s in ("train", "test"))) < 1e-9
    lost = as_published(pair, saturated=500)
    assert study.score(study.measured(lost, zero=True), pair, PRINTED) < 1e-9 \
        < study.score(study.measured(lost, zero=False), pair, PRINTED)
    none = as_published(pair) | {"test": as_published(pair)["test"] | {"tried": 0}}
    assert study.measured(none, zero=False).isna().all()


def best(scores, pairs, count):
    """The networks with the smallest score, the mean over `pairs`, by the better way of counting."""
    means = study.mean_scores(scores)[pairs].dropna().mean(axis=1)
    return means.groupby("network").min().nsmallest(count).index.tolist()


def test_the_screen_has_twelve_networks_and_begins_with_the_words_of_the_paper():
    networks = experiments.screen()
    assert len(networks) == len(set(networks)) == 12 and networks[0] == PLAIN
    assert {(p, e, s) for p, _, e, s in experiments.study_runs(50)} >= {("deer-horse", 50, 0)}


def test_the_choice_is_among_readings_on_both_pairs_and_prefers_fewer_departures_within_a_tenth():
    def scores(plain, other, pairs=tuple(experiments.PAIRS)):
        return pd.DataFrame([
            {"pair": pair, "network": n, "epochs": 100, "seed": 0, "zero": zero, "score": float(value + zero)}
            for pair in pairs for zero in (False, True) for n, value in ((PLAIN, plain), (OTHER, other))])

    assert study.choice(scores(10.9, 10)) == (PLAIN, 100, False)
    assert study.choice(scores(11.1, 10)) == (OTHER, 100, False)
    assert study.choice(scores(1, 2, ["deer-horse"])) is None
    assert best(scores(2, 1), ["deer-horse"], 1) == [OTHER]
    without = scores(1, 2)
    without.loc[(without["pair"] == "aeroplane-cat") & (without["network"] == PLAIN), "score"] = np.nan
    assert study.choice(without) == (OTHER, 100, False)


def test_the_second_pair_and_the_longer_trainings_are_those_that_the_recorded_screen_gives():
    recorded = experiments.network_study
    runs, labels = recorded.planned()
    runs = pd.DataFrame([store.read(recorded.path(n)).row | labels[n]
                          for n in runs if recorded.path(n).exists()])
    screen = runs[(runs["pair"] == "deer-horse") & (runs["length"] == 50)]
    assert len(screen) == 12
    told = study.scores(screen, PRINTED)
    assert set(best(told, ["deer-horse"], 4)) == set(experiments.SECOND)
    told = study.scores(runs[runs["length"] == 50], PRINTED)
    assert set(best(told, list(experiments.PAIRS), 2)) == set(experiments.LONGER)
