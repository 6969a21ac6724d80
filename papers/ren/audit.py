"""Ren et al.: the printed numbers against each other."""
import numpy as np
import pandas as pd

from papers.findings import Checks, rounds_to, stated

checks = Checks()


def ssim_by_pruning(p, column, background):
    """A column of Table III for architecture A, unpruned, followed by Table IV, pruned ever harder."""
    rows = pd.concat([p.frame("table-3").query("architecture == 'A'"), p.frame("table-4")])
    return rows[column][rows.background == background].to_numpy()


@checks
def caption_accuracies(p):
    words = "99.42%/99.28%, 99.80%/99.41%, and 99.44%/99.12%"
    pairs = list(zip(stated(words), [row[f"architecture_{a}"]["value_pct"] for a in "abc"
                                     for row in p.rows("table-2")[:2]]))
    return p.finding("table-1, table-2", "The accuracies in Table I's caption are Table II's, rounded",
                     quotes=[(words, "caption of Table I")], numbers=tuple(v for _, v in pairs),
                     ours=tuple(c for c, _ in pairs), holds=all(rounds_to(v, c, 2) for c, v in pairs),
                     use="Either table may be the target accuracy of a retrained network.")


@checks
def unpruned_separability(p):
    words = "the values decrease from 0.9955 (white) and 0.9951 (black)"
    value = tuple(ssim_by_pruning(p, "separability_ssim", b)[0] for b in ("white", "black"))
    return p.finding("table-3, table-4", "Section V quotes the unpruned separability from Table III",
                     quotes=[(words, "Section V")], numbers=stated(words), ours=value,
                     holds=stated(words) == value, reading="one last digit is misprinted.",
                     use="Compare with the table.")


@checks
def second_pruning_setting(p):
    words = "We further set t = 128 and T = 256"
    row = p.rows("table-4")[2]
    return p.finding("table-4", "Section V and Table IV agree on the second pruning setting",
                     quotes=[(words, "Section V")], numbers=stated(words), ours=(row["t"], row["T"]),
                     holds=stated(words) == (row["t"], row["T"]),
                     reading="both are meant as no upper threshold: no 8-bit pixel lies above either.",
                     use="No result depends on it.")


@checks
def previous_setting(p):
    words = "0.3231 (white) and 0.5512 (black) in the previous setting"
    series = [ssim_by_pruning(p, "robustness_ssim", b) for b in ("white", "black")]
    return p.finding("table-3, table-4", "Whose robustness Section V compares the second setting with",
                     quotes=[(words, "Section V")], numbers=stated(words),
                     ours={"no pruning": tuple(s[0] for s in series), "t = 64": tuple(s[1] for s in series)},
                     reading="the previous setting is the one of the previous table, without pruning.",
                     use="The step from t = 64 to t = 128 is the difference of Table IV's rows.")


@checks
def early_stopping(p):
    t, stop = p.frame("table-3"), p.settings("table-3")["ssim_threshold_delta_s"]
    # A quantity confined to [stop, 1] with this mean has at most this STD (Bhatia and Davis, 2000).
    largest = np.sqrt((1 - t.separability_ssim) * (t.separability_ssim - stop))
    return p.finding("table-3, algorithm-1",
                     "STD of separability if every pair had ended above the threshold",
                     quotes=[("the SSIM threshold was set to 0.99", "Section IV")],
                     numbers=tuple(t.separability_std),
                     ours={"largest possible": tuple(largest),
                           "rows above it": int((t.separability_std > largest).sum())},
                     use="In those rows some searches ended by the iteration limit, below the threshold.")


@checks
def outside_farther_than_inside(p):
    rows = [r for item in ("table-3", "table-4") for r in p.rows(item)]
    gaps = [r["robustness_ssim"] - r["ae_ssim"] for r in rows]
    return p.finding("table-3, table-4",
                     "The outside sample is less similar to the original than the inside one",
                     numbers=f"{len(rows)} rows", ours={"smallest gap": min(gaps), "largest gap": max(gaps)},
                     holds=min(gaps) > 0, use="The order is a safe test for a reproduction.")


@checks
def pruning_trade_off(p):
    steps = {f"{b} {c}": tuple(np.diff(ssim_by_pruning(p, f"{c}_ssim", b)))
             for b in ("white", "black") for c in ("separability", "robustness")}
    return p.finding("table-3, table-4",
                     "Each stronger pruning lowers separability SSIM and raises robustness SSIM",
                     quotes=[("as one improves, the other deteriorates", "Section V")], ours=steps,
                     numbers="four settings, two backgrounds",
                     holds=all(np.all(np.array(s) * (-1 if name.endswith("separability") else 1) > 0)
                               for name, s in steps.items()),
                     use="The trade-off holds at every printed step.")


@checks
def black_similarity_change(p):
    series = {b: ssim_by_pruning(p, "ae_ssim", b) for b in ("white", "black")}
    drops = {b: s[0] - s[1:] for b, s in series.items()}
    return p.finding("table-3, table-4",
                     "Pruning lowers the similarity of adversarial examples more for white",
                     quotes=[("the impact is relatively small when luminosity decreases", "Section V")],
                     numbers=series,
                     ours={f"drop, {b}": tuple(d) for b, d in drops.items()},
                     holds=(int((drops["white"] > drops["black"]).sum()), len(drops["white"])),
                     reading="the sentence speaks of the hardest pruning, where the two differ most.")


@checks
def halving(p):
    words = "After only 8 repetitions, the maximum value becomes 1"
    steps, end = (p.single(int(n)) for n in stated(words))
    value, first = p.settings("table-3")["pixel_range"][1], 0
    while value > end:
        value, first = (value + 1) // 2, first + 1
    return p.finding("figure-1",
                     "Halving an 8-bit white pixel, halves rounded up, first reaches 1 after eight steps",
                     quotes=[(words, "Section III")], numbers=steps, ours=first, holds=first == steps,
                     use="The count fits arithmetic that rounds halves up, as MATLAB does; truncation "
                         "reaches zero.")


@checks
def words(p):
    return [
        p.finding("algorithm-1", "What Algorithm 1 starts from", kind="words",
                  quotes=[("a source image x_o to be classified", "Algorithm 1, Data")],
                  reading="x_o and x_s are the same image at the start and the counter i starts at 0 or 1.",
                  use="Whether nine or ten mixes are made is a parameter of the book."),
        p.finding("table-1", "The last layer of architecture C", kind="words",
                  quotes=[("Fully Connected 10 ReLU", "Table I")],
                  reading="the word slipped into the cell, in print or in extraction.",
                  use="A ReLU on the ten outputs makes equal zeros possible; it is a parameter of the book."),
        p.finding("table-4", "The direction of robustness", kind="words",
                  quotes=[("the robustness decreases from 0.3231 and 0.5512 to 0.5033 and 0.591",
                           "Section V")],
                  reading="robustness is the gap and SSIM its opposite, as Section III says.",
                  use="Read the number as similarity: lower SSIM is called more robust."),
        p.finding("procedure-pixel-pruning", "A pixel equal to a threshold", kind="words",
                  quotes=[("below t with 0 and those above T with 255", "Section V")],
                  reading="the rule is taken literally: with t = T a pixel equal to it keeps its value."),
    ]
