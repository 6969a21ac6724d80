"""papers.shu: the box behind a printed row, rows of tables, predicates of claims, planes."""
import numpy as np
import pandas as pd
import pytest
import torch

from papers.shu import alarms, beyond, claims, figures, planes, toy

SIDE = 28


def one_class(examples, kept, *, rates, sizes=(10, 60), whole=False):
    """What a run holds of one class: `kept` values that all examples change, wider ones first."""
    values = torch.arange(kept)
    low, high = 0.1 * torch.ones(kept), 0.1 + torch.linspace(0.5, 0.01, kept)
    sizes = sorted({b for b in (*sizes, kept) if b <= kept})
    curve = {"sizes": sizes, "rates": [rates] * len(sizes), "squared": [[1.0, 2.0, 3.0]] * len(sizes),
             "plain": [[1.0, 1.5, 1.8]] * len(sizes), "agreement": [[[0, 5, 0], [0, 5, 0]]] * len(sizes)}
    result = {"examples": examples, "values": values, "low": low, "high": high,
              "changed": torch.full((kept,), examples),
              "changed_values": dict.fromkeys(("all", "most", "any"), kept),
              "nearest": torch.zeros(1, SIDE, SIDE, dtype=torch.uint8), "squared": [2.0, 4.0, 6.0],
              "plain": [1.4, 2.0, 2.4], "attack": {"rates": [1.0, 0.5, 0.0]}, "boxes": {"all": curve}}
    return result | ({"whole": {"any": curve}} if whole else {})


def run(method, classes, label=1):
    return {"method": method, "label": label, "classes": classes,
            "clean": torch.zeros(1, SIDE, SIDE, dtype=torch.uint8)}


@pytest.fixture
def runs():
    nf = {"7": one_class(90, 80, rates=[0.0, 1.0, 0.6]), "3": one_class(85, 90, rates=[1.0, 1.0, 1.0])}
    cw2 = {"6": one_class(80, 40, rates=[0.9, 0.0, 0.2]), "2": one_class(99, 70, rates=[0.0, 0.0, 0.0])}
    pw = {"8": one_class(120, 50, rates=[0.6, 0.5, 0.7], sizes=(35,), whole=True)}
    return pd.DataFrame([run("nf", nf), run("cw2", cw2), run("pw", pw), run("mi", {"0": {"examples": 12}})])


def test_the_printed_class_and_size_are_taken_where_they_are_there(runs):
    boxes = {row["attack"]: box for row, box in figures.of_rows(runs, "table-2")}
    assert list(boxes) == ["NF", "CW2", "PW"]                   # in the paper's order, with a box
    assert (boxes["NF"].target, boxes["NF"].b) == (7, 60)        # class 2 is not there: that of most examples
    assert (boxes["CW2"].target, boxes["CW2"].b) == (6, 40)      # 150 intervals are not there: all
    assert boxes["PW"].whole and boxes["PW"].rule == "any" and boxes["PW"].b == 35
    assert boxes["PW"].box.widths.tolist() == [1.0] * 50 and boxes["CW2"].name == "CW2 1 → 6"
    assert len(boxes["NF"].box.first(60).values) == 60


def test_rows_have_the_columns_of_print_and_say_why_a_value_lacks(runs):
    rows = {row["attack"]: row for row in figures.inside(runs, "table-2")}
    assert rows["NF"]["status"].startswith("unnamed image: ")
    assert rows["NF"]["M2"] == 1.0 and rows["NF"]["n_intervals"].status.startswith("fitted")
    assert rows["CW2"]["n_intervals"].status is None and rows["PW"]["smallest_interval"] == 1.0
    assert rows["MI"]["status"].startswith("not measured") and "M1" not in rows["MI"] and "FGSM" not in rows
    assert rows["NF"]["smallest_interval"] == pytest.approx(0.5 - 59 * 0.49 / 79)
    attacked = {row["attack"]: row for row in figures.attacked(runs, "table-3")}
    assert attacked["NF"]["n_perturbed_pixels"] == 80 and attacked["NF"]["M2"] == 0.5
    far = {row["attack"]: row for row in figures.distances(runs, "table-4")}
    assert [far["CW2"][f"sampled_l2_{end}"] for end in ("min", "mean", "max")] == [1.0, 2.0, 3.0]
    assert far["CW2"]["attack_l2_mean"] == 4.0


def on_five_digits(*rates, kind="own"):
    """Runs of `measure_images`: a digit for each pair of rates, of the attacked and of the other networks."""
    rates_of = {"own": [1.0, 0.0, 0.2], "transferable": [0.5, 0.5, 0.5], None: [0.3, 0.1, 0.2]}
    curve = {"rates": [rates_of[kind]],
             "agreement": [[[0, 0, 5], [0, 5, 0]]]}
    return pd.DataFrame([{"method": "nf", "rows": [
        {"number": n, "attack": {"rates": [own, *others]}, "boxes": {"all": curve}}
        for n, (own, *others) in enumerate(rates)] + [{"number": 99, "examples": 2}]}])


def test_claims_on_attacks_in_general_are_judged_over_digits(runs):
    rule = claims.claim["table-2"]["not universal"]
    for rates, holds in (([(1.0, 0.5, 0.1), (1.0, 1.0, 1.0)], True), ([(1.0, 1.0, 1.0)], False)):
        table = pd.DataFrame(beyond.with_digits(figures.inside(runs, "table-2"), on_five_digits(*rates)))
        assert rule.outcome([table[table.attack == "NF"]])[0] is holds
        assert rule.outcome([table])[0] is (None if holds else False)    # the others have no digit
    words = claims.claim["table-3"]["do not transfer"].outcome([table, table])
    assert words == (None, "over up to five digits of each class, the other networks misclassify on average "
                     "100% of the images of NF")
    own, foreign = (beyond.alarm_by_kind(on_five_digits((1.0, 0.5), kind=kind)) for kind in (
        "own", "transferable"))
    assert own["own"] == {"alarm": pytest.approx(0.5), "boxes": 1} and own["foreign"] == {
        "alarm": None, "boxes": 0} and foreign["transferable"]["boxes"] == 1
    rows = alarms.by_type_and_digits(runs.iloc[:0], on_five_digits((1.0, 0.5)))
    assert [(row["boxes"], row["more_boxes"]) for row in rows] == [(0, 1), (0, 0), (0, 0), (0, 0)]
    assert rows[0]["more_alarm"] == pytest.approx(50) and rows[1]["more_alarm"] is None


def test_alarms_over_all_boxes_and_rates_by_attack():
    none = pd.concat([on_five_digits((1.0, 0.5), kind=kind) for kind in (None, "transferable")])
    assert alarms.over_boxes(none) == pytest.approx({"boxes": 2, "alarm": 50, "none": 1, "wrong": 20})
    assert alarms.over_boxes(none.iloc[1:]) == {}
    nf, mi = on_five_digits((1.0, 0.5), (1.0, 0.25)), on_five_digits((1.0, 0.75)).assign(method="mi")
    runs = pd.concat([nf, mi])
    assert beyond.over_attacks(runs) == {"tried": 5, "used": 3, "least": {"name": "NF", "others": 37.5},
                                         "most": {"name": "MI", "others": 75}}
    assert beyond.over_attacks(runs.iloc[:0]) == []


def test_where_a_box_is_of_the_printed_kind(runs):
    cw2 = runs.classes[1]["6"]     # printed: others' errors; ours: the attacked network's
    cw2["boxes"]["most"] = cw2["boxes"]["all"] | {"rates": [[0.0, 0.9, 0.1]] * 2}
    runs.classes[1]["2"]["boxes"]["all"]["rates"][1] = [0.0, 0.9, 0.1]
    rows = {row["attack"]: row for row in beyond.suspects(runs)}
    assert rows["NF 1 → 7"]["published"] == rows["NF 1 → 7"]["here"] == "other networks' errors"
    assert rows["CW2 1 → 6"]["here"] == "attacked network's boundary"
    reached = [[row[key] for key in ("sizes", "rules", "classes")] for row in rows.values()]
    assert reached[:2] == [["10 to 80", "none", "none"], ["none", "90% of the examples", "2"]]
    assert beyond.of_suspects(runs) == {"n": 3, "same": 2, "other": 1, "left": 0, "reached": 1,
                                          "sizes": 0, "rules": 1, "classes": 1}
    assert beyond.suspects(runs.iloc[3:]) == beyond.of_suspects(runs.iloc[3:]) == []
    rows = [row for row in beyond.by_rule(runs, "table-2") if row["attack"] == "CW2 1 → 6"]
    assert [(row["changed in"], row["b"], row["attacked"], row["most"]) for row in rows[:3]] == [
        ("published", 150, 0, 1), ("all examples", 40, 0.9, 0.2), ("90% of the examples", 40, 0.0, 0.9)]
    assert "b" not in rows[3] and rows[3]["kept"] == 40


def test_transfer_beside_the_print_and_of_other_families(runs):
    rows = {row["attack"]: row for row in beyond.transfers(runs, runs.iloc[1:2].assign(of="epochs"))}
    assert list(rows)[0] == "NF" and rows["NF"]["here"] == 25 and rows["NF"]["epochs"] is None
    assert rows["CW2"]["epochs"] == 25 and rows["CW2"]["published"] == 0 and rows["MI"]["here"] is None
    assert rows["NF"]["published"] == pytest.approx(100 * np.mean([.82, .62, .92, .96, 1, 1, .95, 1, 1]))


def test_errors_stand_beside_the_printed_range():
    rows = pd.DataFrame([{"printed_row": 1, "M1": 0.02, "M2": 0.03}, {"printed_row": 2, "M6": 0.035}])
    assert claims.similar(0.02, 0.03)(rows) == (
        "errors from 0.02 to 0.035, a span of 0.015 (paper: 0.02 to 0.03, a span of 0.01)")


def test_facts_of_the_box(runs):
    facts = beyond.on_images(runs)
    assert facts["n"] == 3 and facts["others"] == 0.25
    assert beyond.on_images(runs.iloc[3:]) == []


def test_figures_are_drawn_of_what_is_there_and_nothing_of_nothing(runs):
    for draw in (figures.draw_pairs, figures.draw_curves):
        assert draw(runs, "table-2") is not None and draw(runs.iloc[3:], "table-2") is None


def test_points_of_a_plane_have_the_types_of_section_2_4():
    labels = np.array([[1, 7, 7, 1], [1, 1, 7, 7], [1, 1, 2, 1]])
    assert figures.types(labels, 1).tolist() == [0, 1, 2, 3]
    inside = figures.near(np.linspace(-3, 3, 7))
    assert inside[3, 3] and inside[3, 5] and not inside[3, 6] and not inside[1, 1]


def test_facts_of_the_boxes_around_two_digits():
    runs = pd.DataFrame([run("cw2", {target: one_class(80, 40, rates=[rate, 0.0, 0.25])}, label=label)
                         for label, target, rate in ((5, "6", 0.125), (7, "2", 0.5))]).assign(samples=1000)
    facts = beyond.squared_distances(runs)
    assert facts["far"] == "5 → 6, 2 (paper: 10.6) and 7 → 2, 2 (paper: 11.3)"
    assert facts["bound"] == "2 (the 5) and 2 (the 7)" and beyond.squared_distances(runs.iloc[:0]) == []
    assert beyond.in_boxes(runs) == {}      # one rule alone
    for classes, rate in zip(runs.classes, (1.0, 0.75)):
        for held in classes.values():
            curve = held["boxes"]["all"]
            held["boxes"] |= {"most": curve, "any": curve | {"rates": [[rate, 0, 0]] * len(curve["sizes"])}}
            held["noise"] = {"rates": [1.0, 0.0, rate - 0.75]}
    facts = beyond.in_boxes(runs)
    assert [[facts[of][name] for name in ("name", "all", "any", "paper")] for of in ("first", "second")] == [
        ["5 → 6", 12.5, 100, 94], ["7 → 2", 50, 75, 82]] and facts["depends"]
    assert beyond.in_boxes(runs.iloc[:1]) == {}
    assert beyond.on_noise(runs, "table-6") == {"of": "$M_3$ on 25% (5 → 6)"}
    assert beyond.on_noise(runs.iloc[1:], "table-6") == []
    assert beyond.at_size(runs.iloc[1:], "table-6", 35)["of"] == (
        "50% (40 values changed in all examples), 50% (40 values changed in 90% of the examples), "
        "75% (40 values changed in at least one example)")


def test_networks_disagree_on_shares_of_a_digits_images_averaged_over_its_attacks():
    """Of four networks: with j of three others that agree, two networks disagree in (3 - j) / 3 of draws."""
    def row(number, *agree):     # images with 0 ... 3 others that agree
        counts = {"rates": [1.0, 0.5, 0.5, 0.5], "agreement": [[0] * 4, list(agree)]}
        return {"number": number, "attack": counts, "noise": counts | {"agreement": [[0, 0, 0, 9], [0] * 4]}}
    runs = pd.DataFrame([{"rows": [row(1, 4, 0, 0, 0), row(2, 0, 0, 3, 1), {"number": 3, "examples": 1}]},
                         {"rows": [row(1, 0, 0, 0, 4)]}])
    shares = beyond.disagreement(runs)
    assert shares.attack.loc[2].tolist() == pytest.approx([50, 25])
    assert shares.attack.loc[4].tolist() == pytest.approx([50, 75]) and not shares.noise.any()
    clean = pd.DataFrame([{"agreement": [[0, 0, 1, 99], [2, 1, 0, 1]]}])
    facts = beyond.of_alarm(runs, clean)
    assert facts["networks"] == "four" and facts["attack"]["percent"] == pytest.approx(62.5)
    assert facts["attack"]["high"] == 100 and facts["clean"]["percent"] == pytest.approx(1)
    assert beyond.of_alarm(runs.iloc[1:], clean) == {}      # one digit has no interval


def test_a_share_in_words():
    assert [beyond.part(percent) for percent in (0.4, 34, 52, 99.9)] == [
        "hardly any", "a third", "half", "nearly all"]


def test_networks_of_two_pixels_fit_their_images_and_differ_by_their_seed():
    models, x, y = toy.two_pixels(networks=2, steps=80)
    first, second = (model(toy.plane()) for model in models)
    assert all((model(x).argmax(1) == y).double().mean() > 0.75 for model in models)
    assert len(first) == toy.SIDE**2 and (first - second).abs().max() > 0.1
    assert toy.plane()[1].flatten().tolist() == pytest.approx([1 / (toy.SIDE - 1), 0])


def test_a_coarser_grid_keeps_the_digit_and_cuts_a_narrow_band_into_pieces():
    """Two networks disagree on two rows, which one odd column connects in the ball and another outside."""
    answers, centre = np.zeros((2, 11, 11), int), 5
    answers[1, [centre - 2, centre + 2]] = 1
    answers[1, centre - 2:centre + 3, centre + 1] = 1
    answers[1, :, 1] = 1
    runs = pd.DataFrame([{"planes": {"nf cw2": {"answers": answers, "reach": 4.0, "at": []}}}])
    assert planes.pieces(runs) == {"nf cw2": (1, 1)}
    assert planes.pieces(runs, stride=2) == {"nf cw2": (2, 1)}
    facts = planes.counts(runs, stride=2)
    assert (facts["planes"], facts["with_several"], facts["most"], facts["joined"]) == (1, 1, 2, 1)
