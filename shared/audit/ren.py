"""Ren et al.: the printed numbers against each other."""
import numpy as np
from scipy import stats

from shared.audit.finding import Checks, attainable, rounds_to

checks = Checks("ren")
NETS = ("architecture_a", "architecture_b", "architecture_c")
MNIST_TRAINING_SIZES = (48000, 50000, 54000, 55000, 60000)  # the splits of MNIST's 60,000 in common use


def ssim_by_pruning(p, column, background):
    """A column of Table III for architecture A, unpruned, followed by Table IV, pruned ever harder."""
    unpruned, pruned = p.frame("table-3"), p.frame("table-4")
    start = unpruned[(unpruned.architecture == "A") & (unpruned.background == background)][column]
    return np.concatenate([start, pruned[pruned.background == background][column]])


@checks
def caption_accuracies(p):
    caption = p.settings("table-1")["caption_accuracy_pct"]
    train, test = p.frame("table-2").iloc[0], p.frame("table-2").iloc[1]
    pairs = [(caption[n][s], row[n]["value_pct"]) for n in NETS
             for s, row in (("train", train), ("test", test))]
    return p.finding("table-1, table-2", "The accuracies in Table I's caption are Table II's, rounded",
                     printed=tuple(c for c, _ in pairs), recomputed=tuple(v for _, v in pairs),
                     holds=all(rounds_to(v, c, 2) for c, v in pairs),
                     consequence="Either table may be used as the target accuracy of a retrained network.",
                     source="table-1.settings.caption_accuracy_pct, table-2.rows")


@checks
def training_set_size(p):
    printed = tuple(p.frame("table-2").iloc[0][n]["value_pct"] for n in NETS)
    sizes = tuple(n for n in MNIST_TRAINING_SIZES if all(len(attainable(v, n, 3)) for v in printed))
    return p.finding("table-2", "Training accuracies are whole numbers of images of one training set",
                     printed=printed, recomputed=sizes, holds=bool(sizes),
                     consequence="The printed digits tell the training set: no image was held out for "
                                 "validation.")


@checks
def unpruned_separability(p):
    quoted, = p.quote("table-3", "inconsistencies", r"separability as (0\.\d+)")
    value = ssim_by_pruning(p, "separability_ssim", "white")[0]
    return p.finding("table-3, table-4", "Section V quotes the unpruned white separability from Table III",
                     printed=quoted, recomputed=value, holds=bool(quoted == value),
                     consequence="A reproduction compares with the table; the quoted value is a slip.",
                     source="table-3.inconsistencies, table-3.rows")


@checks
def second_pruning_setting(p):
    quoted, = p.quote("table-4", "inconsistencies", r"T=(\d+) for the second setting")
    value = int(p.frame("table-4")["T"][2])
    return p.finding("table-4", "Section V and Table IV agree on T of the second pruning setting",
                     printed=quoted, recomputed=value, holds=quoted == value,
                     consequence="On 8-bit pixels both leave bright pixels alone, so no result depends on "
                                 "it.",
                     source="table-4.inconsistencies, table-4.rows")


@checks
def previous_setting(p):
    quoted = p.quote("table-4", "inconsistencies", r"unpruned values (0\.\d+)/(0\.\d+)")
    series = [ssim_by_pruning(p, "robustness_ssim", b) for b in ("white", "black")]
    return p.finding("table-3, table-4",
                     "What Section V calls the previous setting's robustness is that of t = 64",
                     printed=quoted, recomputed={"t = 64": tuple(s[1] for s in series),
                                                 "no pruning": tuple(s[0] for s in series)},
                     holds=quoted == tuple(s[1] for s in series),
                     consequence="The step from t = 64 to t = 128 is smaller than the sentence suggests.",
                     source="table-4.inconsistencies, table-3.rows, table-4.rows")


@checks
def figure_3_similarity(p):
    printed = tuple(p.numbers("figure-3").values())
    means = np.concatenate([p.frame("table-3").ae_ssim, p.frame("table-4").ae_ssim])
    return p.finding("figure-3, table-3, table-4",
                     "The mean SSIMs of Figure 3's adversarial examples are in a table",
                     printed=printed, recomputed={"largest mean in the tables": means.max()},
                     holds=all(np.isclose(means, v).any() for v in printed),
                     consequence="The figure belongs to runs that are not tabulated; its values cannot be a "
                                 "target.",
                     source="figure-3.printed_numbers, table-3.rows, table-4.rows")


@checks
def early_stopping(p):
    t, stop = p.frame("table-3"), p.settings("table-3")["ssim_threshold_delta_s"]
    # A quantity confined to [stop, 1] with this mean has at most this STD (Bhatia and Davis, 2000).
    largest = np.sqrt((1 - t.separability_ssim) * (t.separability_ssim - stop))
    return p.finding("table-3, algorithm-1",
                     "STD of separability if every pair had ended above the threshold",
                     printed=tuple(t.separability_std),
                     recomputed={"largest possible": tuple(largest),
                                 "rows above it": int((t.separability_std > largest).sum())}, holds=None,
                     consequence="In those rows some searches ended by the iteration limit, below the "
                                 "threshold.",
                     source="table-3.rows, table-3.settings.ssim_threshold_delta_s")


@checks
def outside_farther_than_inside(p):
    rows = [r for item in ("table-3", "table-4") for r in p.paper[item].rows]
    gaps = [r["robustness_ssim"] - r["ae_ssim"] for r in rows]
    return p.finding("table-3, table-4",
                     "The outside sample is less similar to the original than the inside one",
                     printed=f"{len(rows)} rows",
                     recomputed={"smallest gap": min(gaps), "largest gap": max(gaps)},
                     holds=min(gaps) > 0, consequence="The order is a safe test for a reproduction.")


@checks
def pruning_trade_off(p):
    steps = {f"{b} {c}": tuple(np.diff(ssim_by_pruning(p, f"{c}_ssim", b)))
             for b in ("white", "black") for c in ("separability", "robustness")}
    return p.finding("table-3, table-4",
                     "Each stronger pruning lowers separability SSIM and raises robustness SSIM",
                     printed=p.text("table-4", "claims", "trade-off"), recomputed=steps,
                     holds=all(np.all(np.array(s) * (-1 if name.endswith("separability") else 1) > 0)
                               for name, s in steps.items()),
                     consequence="The trade-off holds at every printed step, for both backgrounds.")


@checks
def black_similarity_change(p):
    white, black = (-np.diff(ssim_by_pruning(p, "ae_ssim", b))[0] for b in ("white", "black"))
    return p.finding("table-3, table-4",
                     "Pruning lowers the similarity of adversarial examples mainly for white",
                     printed=p.text("table-4", "claims", "changes little for the black"),
                     recomputed={"first drop, white": white, "first drop, black": black},
                     holds=bool(white > black),
                     consequence="At t = 64 the black background loses more similarity than the white one; "
                                 "the statement is right only for the harder settings.")


@checks
def order_of_architectures(p):
    t = p.frame("table-3")
    white, black = (t[t.background == b].robustness_ssim.to_numpy() for b in ("white", "black"))
    accuracy = [p.frame("table-2").iloc[1][n]["value_pct"] for n in NETS]
    rank = {"white with black": stats.spearmanr(white, black)[0],
            "white with accuracy": stats.spearmanr(white, accuracy)[0],
            "black with accuracy": stats.spearmanr(black, accuracy)[0]}
    return p.finding("table-2, table-3", "Architectures differ in robustness as they differ in accuracy",
                     printed=p.text("table-3", "claims", "accuracy differences"), recomputed=rank,
                     holds=all(v > 0 for v in rank.values()),
                     consequence="The ranking by white mixing is the reverse of the ranking by black "
                                 "mixing, so the measure depends on the background more than on the "
                                 "network.")


@checks
def binary_images_spread(p):
    t = p.frame("table-4")
    binary = t[(t.t == t["T"]) & (t.background == "white")].robustness_std.item()
    others = t.robustness_std[t.robustness_std != binary]
    return p.finding("table-4", "STD over digits of robustness with t = T = 128 on white",
                     printed=binary, recomputed={"smallest other STD": others.min(),
                                                 "times larger": others.min() / binary}, holds=None,
                     consequence="Digits differ in shape, so a spread this small means that the pruned pair "
                                 "no longer depends on the digit.")


@checks
def halving(p):
    start, end, steps = p.quote("figure-1", "claims", r"value of (\d+) becomes (\d+) after (\d+)")
    rounded = truncated = int(start)
    for _ in range(int(steps)):
        rounded, truncated = (rounded + 1) // 2, truncated // 2
    return p.finding("figure-1", "Halving an 8-bit white pixel leads to 1 after eight steps",
                     printed=end, recomputed={"halves rounded up": rounded, "truncated": truncated},
                     holds=rounded == end,
                     consequence="The count fits arithmetic that rounds halves up; truncation is already at "
                                 "zero.",
                     source="figure-1.claims")


@checks
def words(p):
    passages = [
        ("algorithm-1", "Algorithm 1 can be run as printed", "transcription_notes", "Neither i nor",
         "Whether nine or ten mixes are made is open; the book keeps it a parameter."),
        ("table-1", "All three networks end in a plain output layer", "transcription_notes",
         "printed with ReLU",
         "A ReLU on the ten outputs makes equal zeros possible; the book leaves it a parameter."),
        ("table-4", "A robustness that decreases has a lower number", "inconsistencies", "sign convention",
         "Read the number as similarity: lower SSIM is called more robust."),
        ("procedure-pixel-pruning", "The pruning rule covers every pixel value", "transcription_notes",
         "exactly",
         "With t = T a pixel equal to the threshold keeps its value."),
    ]
    return [p.finding(item, title, kind="text", printed=p.text(item, field, needle), recomputed="",
                      holds=False,
                      consequence=consequence, source=f"{item}.{field}")
            for item, title, field, needle, consequence in passages]
