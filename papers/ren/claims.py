"""How each printed claim of Ren et al. is judged; see `report.claims`."""
import pandas as pd

from papers.ren.experiments import ARCHITECTURES, SETTINGS, UNIFORM, UNPRUNED
from report.claims import Claims, NoValue, over_cases

claim = Claims()
STOPS = ("the search aims at this: it stops as soon as the SSIM of its pair exceeds 0.99, or after nine "
         "mixtures")
LABELS = "true by construction: Algorithm 1 keeps a pair of images with two labels, that of the digit inside"


# ---- Section II: networks --------------------------------------------------------------------------------
claim("table-1", "exceed 99.4% training accuracy")(
    "the training recipe was chosen for accuracies near the published ones, so agreement is no evidence")


def of_architectures(rows, column, name):
    """`{architecture: its cell}` of the row that has this name in a column; NoValue where one is missing."""
    cells = {words: row[f"architecture_{a}"] for row in rows.to_dict("records") if row[column] == name
             for a, words in ARCHITECTURES.items()}
    if not cells or not all(isinstance(cell, dict) for cell in cells.values()):     # None, NaN: not measured
        raise NoValue
    return cells


@claim("table-1", "Architecture B is the most accurate")
def most_accurate(rows):
    """Whether B has the highest mean accuracy on both parts of the data, and who has it."""
    caption = {row["printed_row"]: row for row in rows.to_dict("records")}.get("caption")
    if caption is None or not all(isinstance(caption[f"architecture_{a}"], dict) for a in ARCHITECTURES):
        raise NoValue
    means = {part: {name: caption[f"architecture_{a}"][f"{part}_pct"] for a, name in ARCHITECTURES.items()}
             for part in ("train", "test")}
    best = {part: max(of, key=of.get) for part, of in means.items()}
    return set(best.values()) == {"B"}, (
        f"best on training images: {best['train']}, on test images: {best['test']}; test accuracies "
        + ", ".join(f"{name} {value:.2f}%" for name, value in means["test"].items())
        + " (one recipe for all three, so it did not decide their order)")


claim("table-2", "cannot tell out-of-scope inputs")(
    "a network with ten outputs has no other label, so no measurement could contradict it")


def predictions(rows, image):
    """The most frequent label of an image by each architecture (class None: a tie), and all in words."""
    cells = of_architectures(rows, "row", image)
    return [*cells.values()], "; ".join(
        f"{name} most often predicts "
        f"{'two classes' if c['predicted_class'] is None else c['predicted_class']} "
        f"({c['votes']}; mean probability {c['probability_pct']:.1f}%)" for name, c in cells.items())


@claim("table-2", "Pure black is labelled 1")
def black_is_one(rows):
    cells, words = predictions(rows, "pure_black")
    return all(c["predicted_class"] == 1 for c in cells), words


@claim("table-2", "Pure white gets a different label")
def white_differs(rows):
    cells, words = predictions(rows, "pure_white")
    confident = all(c["probability_pct"] > 55 for c in cells)
    predicted = {c["predicted_class"] for c in cells}
    if confident and None in predicted:
        return None, f"{words} (not judged: the most frequent label is a tie)"
    return confident and len(predicted) == len(ARCHITECTURES), words


# ---- Section III: Algorithm 1 ----------------------------------------------------------------------------
@claim("algorithm-1", "x_s always keeps the class")
def sides_are_kept(data):
    return data["inside_wrong"] == data["outside_wrong"] == 0, (
        f"{data['searched']:,} searches: {data['inside_wrong']:,} inside and {data['outside_wrong']:,} "
        "outside images on the wrong side")


@claim("algorithm-1", "Stops when")
def stops(data):
    return data["otherwise"] == 0 and data["by_threshold"] > 0, (
        f"{data['by_threshold']:,} stopped by the threshold, {data['by_limit']:,} by the limit, "
        f"{data['otherwise']:,} otherwise")


@claim("figure-1", "Halving converges fast", proof=True)
def halving_is_fast(data):
    return data["halvings_of_255"][8] == 1, (
        f"255 halved again and again: {' → '.join(map(str, data['halvings_of_255']))}")


# ---- Section IV: robustness and separability -------------------------------------------------------------
def listed(rows, column):
    """A column of Table III as text."""
    return ", ".join(f"{r.architecture} towards {r.background} {getattr(r, column):.4f}"
                     for r in rows.itertuples())


@claim("table-3", "Separability SSIM is above 0.99", open=STOPS)
def separability(rows):
    return listed(rows, "separability_ssim")


# The paper says "strong robustness" and "generally quite different"; the numbers of both claims are the ends
# of its own table, and a network outside of them can be more robust.
@claim("table-3", "strongly robust",
       open="“strong” names no bound; 0.32 and 0.56 are the ends of the printed table")
def robustness(rows):
    ssim = rows.robustness_ssim
    return f"{ssim.min():.4f} to {ssim.max():.4f} ({listed(rows, 'robustness_ssim')})"


@claim("table-3", "quite different from the originals",
       open="“quite different” names no bound; 0.5310 is the largest printed value")
def examples(rows):
    return f"largest {rows.ae_ssim.max():.4f}, where 1 means equal ({listed(rows, 'ae_ssim')})"


claim("table-3", "described as stable")("“stable” and “in line with” name no measure")


@claim("table-3", "common to all architectures", open=STOPS)
def least_separability(rows):
    return f"smallest of the {len(rows)} mean separabilities {rows.separability_ssim.min():.4f}"


def pairs_of(data):
    """All pairs of Figure 2 in one list."""
    return [pair for block in data.values() for pair in block]


@claim("figure-2", "look the same but are classified differently", open=LABELS)
def two_labels(data):
    """Two labels alone: whether the images of a pair look the same, no rule decides."""
    pairs = pairs_of(data)
    return (f"{sum(pair['inside'] != pair['outside'] for pair in pairs)} of {len(pairs)} pairs have two "
            f"labels, at an SSIM of {min(pair['ssim'] for pair in pairs):.3f} or more")


@claim("figure-2", "adversarial examples of the source digits", open=LABELS)
def outside_labels(data):
    pairs = pairs_of(data)
    return (f"{sum(pair['outside'] != pair['digit'] for pair in pairs)} of {len(pairs)} outside images have "
            "another label than the digit")


# ---- Section V: pruning ----------------------------------------------------------------------------------
def by_key(rows):
    """`{(background, t, T): row}` of Table IV."""
    return {(row["background"], row["t"], row["T"]): row for row in pd.DataFrame(rows).to_dict("records")}


def by_step(judge, *measures):
    """A predicate: `over_cases` of the steps from a pruning to the next stronger one, measures in words."""
    def predicate(rows):
        at = by_key(rows)
        cases = {f"{b}, t = {t}, T = {T}": {"before": at.get((b, *weaker)), "after": at.get((b, t, T))}
                 for b in UNIFORM for weaker, (t, T) in zip((UNPRUNED, *SETTINGS), SETTINGS)}
        return over_cases(cases, lambda c: (judge(c.before, c.after), ", ".join(
            f"{name} from {getattr(c.before, f'{name}_ssim'):.4f} to {getattr(c.after, f'{name}_ssim'):.4f}"
            for name in measures)))
    return predicate


separability_falls = claim("table-4", "Stronger pruning improves separability")(by_step(
    lambda before, after: after.separability_ssim < before.separability_ssim, "separability"))
robustness_rises = claim("table-4", "Stronger pruning costs robustness")(by_step(
    lambda before, after: after.robustness_ssim > before.robustness_ssim, "robustness"))
traded = claim("table-4", "There is a trade-off")(by_step(
    lambda before, after: (after.robustness_ssim > before.robustness_ssim or
                           after.separability_ssim >= before.separability_ssim),
    "separability", "robustness"))


@claim("table-4", "Compared with Table III")
def white_suffers(rows):
    """Whether the largest fall towards white is larger than the largest change towards black.

    "clearly" and "little" name no bound. The changes are compared as they are and as shares of the unpruned
    value; where the two disagree, the claim is open.
    """
    at = by_key(rows)
    values = {b: [at[b, *setting]["ae_ssim"] for setting in (UNPRUNED, *SETTINGS) if (b, *setting) in at]
              for b in UNIFORM}
    if any(len(of) <= len(SETTINGS) or pd.isna(of).any() for of in values.values()):
        raise NoValue
    white, black = values.values()
    drop, move = white[0] - min(white[1:]), max(abs(v - black[0]) for v in black[1:])
    orders = {drop > move, drop / white[0] > move / black[0]}
    falls = max(white[1:]) < white[0]
    text = (f"unpruned, then the three settings: white {in_a_row(white)}; black {in_a_row(black)}; the "
            f"largest change is a fall of {drop:.4f} ({drop / white[0]:.1%} of the unpruned value) towards "
            f"white and {move:.4f} ({move / black[0]:.1%}) towards black")
    if falls and len(orders) > 1:
        return None, f"{text}: which is larger depends on the unit, so this is not judged"
    return falls and orders == {True}, text


def in_a_row(values):
    return " → ".join(f"{value:.4f}" for value in values)


# The claims by which readings of Table IV are compared.
PRUNING = {"separability falls at each step": separability_falls,
           "robustness rises at each step": robustness_rises, "each fall is paid": traded,
           "white changes adversarial examples most": white_suffers}

claim("figure-3", "Visually the first-row")("judged by eye in the paper; no measure is named")
claim("figure-3", "prediction probabilities")(
    "the paper does not name the background of a row; ours is chosen by this property")

# Said of all digits, so judged on Table IV, by the same rule.
claim("figure-3", "raising luminosity", "table-4")(lambda data, rows: white_suffers(rows))
