"""What the pages on Shu et al. say beyond the printed rows: tables of our own, and facts in words."""
from operator import itemgetter

import numpy as np
import pandas as pd

from papers.shu import figures
from papers.shu.experiments import INTERVALS, METHODS, PAPER
from papers.shu.figures import KINDS, called, of_rows, region, regions
from report import display, prose
from report.cell import Cell
from report.comparison import mean_and_half
from report.prose import mean
from shared import regions as boxes
from shared.susceptibility import percentage

RULES = {"all": "all examples", "most": "90% of the examples", "any": "at least one example"}
VERSIONS = {"all": "all versions change", "most": "most versions change", "any": "any version changes"}
BY_RULE = {"attack": "attack", "changed in": "kept if changed in", "kept": "kept", "b": "b",
           "attacked": "$M_1$", "least": "least of the others", "most": "most of the others",
           "squared": "mean squared L2 distance"}
KEPT = ("Boxes of the printed size, or of all kept values where these are fewer: rates of the attacked "
        "network and of the others, mean squared L2 norm")
IN_BALLS = {"of": "class, and radius (L2) of the balls", "examples": "examples",
            "squared": "their mean squared L2 distance", "own": "examples, least of the others",
            "own_most": "examples, most of the others", "b": "b",
            "sampled": "samples' mean squared L2 distance", "attacked": "samples, $M_1$",
            "least": "samples, least of the others", "most": "samples, most of the others"}
NARROW = 0.01   # of an interval; pixels lie in [0, 1]
SUSPECTS = {"attack": "attack", "published": "published kind", "here": "kind here",
            "most": "$b$ of most errors of $M_1$", "narrow": "intervals from this $b$ on below 0.01",
            "sizes": "published kind at some $b$ within", "rules": "if the box keeps pixels changed in",
            "classes": "for the wrong class"}
TRANSFERS = {"attack": "attack", "published": "published", "here": "our networks",
             "epochs": "momentum, 3 to 12 epochs", "zero": "a 0 (test image 1918)",
             "one": "a 1 (training image 39533)"}


# ---- tables of our own ------------------------------------------------------------------------------------
def by_rule(runs, item):
    """For each printed box, the published row and a row a rule of keeping: values kept, rates, distances.

    The boxes are of the printed size, or of all kept values where these are fewer. A published row has rates
    or, in a table of distances, the mean distance.
    """
    rows = []
    for row, box in of_rows(runs, item):
        rows.append({"attack": f"{called(box.run['method'])} {row['source_class']} → {row['target_class']}",
                     "changed in": "published", "b": row["n_intervals"],
                     **(_ends(rates) if (rates := _in_print(row)) else {"squared": row["sampled_l2_mean"]})})
        for rule in RULES:
            rows.append({"attack": box.name, "changed in": RULES[rule],
                         "kept": box.held["changed_values"][rule]})
            if curve := box.held["boxes"].get(rule):
                at = _at(curve, row["n_intervals"])
                rows[-1] |= {"b": at["sizes"], "squared": at["squared"][1], **_ends(at["rates"])}
    return rows


def _ends(rates):
    return {"attacked": rates[0], "least": min(rates[1:]), "most": max(rates[1:])}


def in_balls(runs, sizes):
    """For each run of `experiments.measure_ball`: distances of its examples, and rates on them and in boxes.

    sizes  of the boxes; of all kept values where these are fewer
    """
    rows = []
    for run in runs.to_dict("records"):
        row = {"of": run["of"], "examples": f"{run['examples']} of {run['tried']}"}
        if not isinstance(run.get("boxes"), dict) or "all" not in run["boxes"]:    # too few examples
            rows.append(row)
            continue
        own = run["attack"]["rates"][1:]
        row |= {"squared": run["squared"][1], "own": min(own), "own_most": max(own)}
        for b in sizes:
            at = _at(run["boxes"]["all"], b)
            rows.append(row | {"b": at["sizes"], "sampled": at["squared"][1], **_ends(at["rates"])})
    return rows


def suspects(runs):
    """A row a printed box: its kind in print and here, and where ours is of the printed one.

    sizes    of boxes, from and to;  classes   others at some size;  rules   others of keeping, at its size
    most     the smallest of the measured sizes with the highest rate of the attacked network
    narrow   the first size, of all, whose narrowest interval is below `NARROW`
    """
    rows = []
    for row, box in of_rows(runs, "table-2"):
        printed_kind = boxes.kind(_in_print(row))
        targets = [(other, [boxes.kind(rates) for rates in other.curve["rates"]])
                   for other in regions(box.run).values()]
        sizes = [b for other, kinds in targets for b, kind in zip(other.curve["sizes"], kinds)
                 if other.target == box.target and kind == printed_kind]
        rules = [RULES[rule] for rule in RULES
                 if rule in box.held["boxes"] and rule != box.rule and not box.whole
                 and boxes.kind(_at(box.held["boxes"][rule], row["n_intervals"])["rates"]) == printed_kind]
        own, widths = [rates[0] for rates in box.curve["rates"]], box.box.widths
        rows.append({"attack": box.name, "published": KINDS[printed_kind],
                     "here": KINDS[boxes.kind(box.at("rates"))],
                     "most": int(box.curve["sizes"][own.index(max(own))]),
                     "narrow": int((widths >= NARROW).sum()) + 1 if widths[-1] < NARROW else "none",
                     "sizes": f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(*sizes) or "none",
                     "rules": " or ".join(rules) or "none",
                     "classes": ", ".join(str(other.reached) for other, kinds in targets
                                          if other.target != box.target and printed_kind in kinds) or "none"})
    return rows


def transfers(sweeps, others):
    """A row a printed attack: mean rate (%) of the networks not attacked on its images, of all families."""
    families = [("here", sweeps), *others.groupby("of", sort=False)]
    rows = []
    for row in PAPER["table-3"].rows:
        cells = {"attack": row["attack"].replace("Linf", "L∞"), "published": 100 * mean(_in_print(row)[1:])}
        for name, runs in families:
            held = [region(run, row["target_class"]) for run in runs.to_dict("records")
                    if METHODS.get(run["method"]) == row["attack"]]
            cells[name] = mean([100 * mean(box.held["attack"]["rates"][1:]) for box in held if box])
        rows.append(cells)
    return rows


def by_digit(sweeps, others):
    """For a sentence: means over the attacks of `transfers`, by digit from `lowest` to `highest`.

    by_training, by_attack  how far another training changes the mean, and at most an attack's rate
    elsewhere               highest mean rate on the 0, image 1918, of any wrong class of these attacks
    far                     the attack whose rate here is farthest from the published one
    """
    table = pd.DataFrame(transfers(sweeps, others))
    means = table.drop(columns="attack").astype(float).mean()
    if not {*TRANSFERS} - {"attack"} <= {*means.dropna().index}:
        return {}
    far = table.loc[(table.here - table.published).astype(float).abs().idxmax()]
    digits, apart = means[["here", "zero", "one"]], (table.epochs - table.here).astype(float).abs()
    attacks = [row["attack"] for row in PAPER["table-3"].rows]
    zero = others[(others.of == "zero") & others.method.map(METHODS.get).isin(attacks)]
    rates = [100 * mean(held["attack"]["rates"][1:]) for classes in zero.classes
             for held in classes.values() if "attack" in held]
    return {**means, "far": far[["attack", "here", "published"]].to_dict(), "lowest": digits.min(),
            "highest": digits.max(), "by_training": abs(means.epochs - means.here), "by_attack": apart.max(),
            "elsewhere": max(rates)}


def over_images(runs):
    """Of the images of one attack, shares with a box of a kind at some size, with intervals."""
    rows = [row for rows in runs.rows for row in rows]
    kinds = [{boxes.kind(rates) for curve in row["boxes"].values() for rates in curve["rates"]}
             for row in rows if row.get("boxes")]
    table = {"attack": called(runs.method.iloc[0]), "images": len(rows), "boxes": len(kinds)}
    for kind, name in KINDS.items():
        if kind:
            share = percentage(sum(kind in occurring for occurring in kinds), len(rows))
            table[name] = prose.fill("{percent:%} ({low:.0f} to {high:.0f})", share)
    return table


# ---- facts in words ---------------------------------------------------------------------------------------
def squared_distances(runs):
    """Facts: how `far` the samples of each box of Table 6 lie, beside the paper's, and the `bound` on the
    distance of the attacked network's boundary: the nearest adversarial image of any class.
    """
    far, bound = [], []
    for _, box in of_rows(runs, "table-6"):
        label = box.run["label"]
        paper = PAPER["table-10"].row(source_class=label)["sampled_l2_mean"]
        far.append(f"{box.classes}, {box.at('squared')[1]:.3g} (paper: {paper:.3g})")
        nearest = min(held["squared"][0] for held in box.run["classes"].values() if "squared" in held)
        bound.append(f"{nearest:.2g} (the {label})")
    return far and {"far": " and ".join(far), "bound": " and ".join(bound)}


ON_NOISE = ("Networks that were not attacked also misclassify random noise with the norms of the attack's "
            "images: {of}. The clean image lies near the decision boundary of such a network.")


def on_noise(runs, item):
    """Facts: networks not attacked that err on noise of the examples' norms, too, by box of a table.

    Of those that err on more than `boxes.RIGHT` of it; empty where there are none.
    """
    of = []
    for _, box in of_rows(runs, item):
        others = enumerate(box.held["noise"]["rates"][1:], start=2)
        if often := [f"$M_{k}$ on {rate:.0%}" for k, rate in others if rate > boxes.RIGHT]:
            of.append(f"{' and '.join(often)} ({box.classes})")
    return of and {"of": ", ".join(of)}


def at_size(runs, item, size):
    """Facts: the rate of the attacked network at the measured `size` of boxes nearest to this, by rule."""
    of = []
    for _, box in of_rows(runs, item):
        for rule in filter(box.held["boxes"].get, RULES):
            curve = box.held["boxes"][rule]
            b, rates = min(zip(curve["sizes"], curve["rates"]), key=lambda at: abs(at[0] - size))
            of.append(f"{rates[0]:.0%} ({b} values changed in {RULES[rule]})")
    return of and {"size": size, "of": ", ".join(of)}


def of_suspects(runs):
    """Facts on `suspects`: boxes, those of the printed kind, and by what the others can be of it."""
    rows = suspects(runs)
    other = [row for row in rows if row["here"] != row["published"]]
    by = {name: sum(row[name] != "none" for row in other) for name in ("sizes", "rules", "classes")}
    left = sum(all(row[name] == "none" for name in by) for row in other)
    return rows and {"n": len(rows), "same": len(rows) - len(other), "other": len(other), "left": left,
                     "reached": len(other) - left, **by}


OVER_DIGITS = ("On average over {digits} digits of all classes, the other networks misclassify {percent:%} "
               "of the adversarial images that an attack on one network finds (95% interval over digits "
               "{low:.0f} to {high:.0f}%).")


def on_digits(runs):
    """A row an attack and digit with examples: rates (%) on them, of the attacked network, `own`, and of the
    `others`, their mean.
    """
    rows = [{"method": run.get("method"), "number": row["number"],
             "own": 100 * row["attack"]["rates"][0], "others": 100 * mean(row["attack"]["rates"][1:])}
            for run in runs.to_dict("records") for row in run["rows"] if "attack" in row]
    return pd.DataFrame(rows, columns=["method", "number", "own", "others"])


def interval(means):
    """Facts: the mean of shares (%), one a digit, and its 95% interval (Student's t); {} of fewer than 2."""
    if len(means) < 2:
        return {}
    mean, half = mean_and_half(means)
    return {"digits": len(means), "percent": mean, "low": max(mean - half, 0), "high": min(mean + half, 100)}


def over_digits(runs):
    """`interval` of the rate of the networks not attacked on the images of a digit's attacks."""
    return interval(on_digits(runs).groupby("number").others.mean())


def over_attacks(runs):
    """Facts: attacks tried on the digits, and used; those of the `least` and `most` mean rate of others."""
    rows = on_digits(runs)
    means = [{"name": called(method), "others": of.others.mean()} for method, of in rows.groupby("method")]
    rate = itemgetter("others")
    return means and {"tried": sum(map(len, runs.rows)), "used": len(rows), "least": min(means, key=rate),
                      "most": max(means, key=rate)}


def disagreement(runs):
    """Share (%) of images on which some two of so many networks disagree, means over the attacks of a digit.

    A frame with a row for each number of networks and digit (levels "networks", "digit"): `attack` on
    adversarial images, `noise` on random noise of the same norms around the same digit.
    """
    rows = []
    for row in (row for rows in runs.rows for row in rows if "attack" in row):
        shares = {of: 100 * boxes.alarm(np.sum(row[of]["agreement"], 0)) for of in ("attack", "noise")}
        rows += [{"networks": k, "digit": row["number"], "attack": attack, "noise": noise}
                 for k, (attack, noise) in enumerate(zip(*(of.tolist() for of in shares.values())), start=2)]
    frame = pd.DataFrame(rows, columns=["networks", "digit", "attack", "noise"])
    return frame.groupby(["networks", "digit"]).mean()


def with_digits(rows, runs):
    """Rows of Table 2 with the means of `on_digits` over the digits; None where there is no digit."""
    means = {METHODS[method]: {"digits": len(of), "own_pct": of.own.mean(), "others_pct": of.others.mean()}
             for method, of in on_digits(runs).groupby("method")}
    none = dict.fromkeys(("digits", "own_pct", "others_pct"))
    return [row | means.get(row["attack"], none) for row in rows]


def boxes_by_kind(runs):
    """`{kind: [(share of samples with an alarm by all networks, mean rate of the networks)]}` of the boxes
    around several digits, of all values that their examples change.
    """
    of_kind = {kind: [] for kind in KINDS}
    for curve in (curve for run in runs.to_dict("records") for row in run["rows"]
                  for curve in row.get("boxes", {}).values()):
        counts = np.sum(curve["agreement"][-1], 0)      # right and wrong images together
        rates = curve["rates"][-1]
        of_kind[boxes.kind(rates)].append((float(boxes.alarm(counts)[-1]), mean(rates)))
    return of_kind


def alarm_by_kind(runs):
    """Of `boxes_by_kind`: `{kind: {"alarm": mean share of samples with an alarm, "boxes": how many}}`."""
    return {kind: {"alarm": mean([alarm for alarm, _ in of]), "boxes": len(of)}
            for kind, of in boxes_by_kind(runs).items()}


def on_images(runs, item="table-2"):
    """Facts: mean rate of the networks not attacked on the attacks' own images, over the boxes of a table."""
    ours = [box.held for _, box in of_rows(runs, item)]
    printed_rows = PAPER[{"table-2": "table-3", "table-6": "table-7"}[item]].rows
    return ours and {"n": len(ours), "examples": sum(held["examples"] for held in ours),
                     "others": mean([mean(held["attack"]["rates"][1:]) for held in ours]),
                     "paper": {"others": mean([mean(_in_print(row)[1:]) for row in printed_rows])}}


# ---- facts of the boxes of the pages ---------------------------------------------------------------------
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
           "twelve")
PARTS = {0: "hardly any", 25: "a quarter", 100 / 3: "a third", 50: "half", 200 / 3: "two thirds",
         75: "three quarters", 100: "nearly all"}


def part(percent):
    """A share in words, the nearest of `PARTS`."""
    return PARTS[min(PARTS, key=lambda known: abs(known - percent))]


CLEAN = ("Our {n} networks misclassify {low:.2f}% to {high:.2f}% of the clean test images (paper: "
         "{paper.low}% to {paper.high}%).")


def clean_errors(runs, item):
    """Facts: how many networks there are, and their errors (%) on clean test images beside a table's.

    paper.below   how many published errors lie below all of ours
    """
    published = [100 * error for row in PAPER[item].rows for error in _in_print(row)]
    low = 100 * runs.test_error.min()
    return {"n": len(runs), "low": low, "high": 100 * runs.test_error.max(), "paper": {
        "low": min(published), "high": max(published), "below": sum(error < low for error in published)}}


def errors_by_length(runs):
    """Facts: errors (%) of networks trained for other numbers of epochs, and in how many steps they fall."""
    runs = runs.sort_values("epochs", kind="stable")
    errors, epochs = 100 * runs.test_error, runs.epochs.tolist()
    return {"n": len(runs), "first": epochs[0], "last": epochs[-1], "short": errors.iloc[0],
            "long": errors.iloc[-1], "falls": int((errors.diff() < 0).sum()), "steps": len(runs) - 1}


def transfer(sweeps, others, fifty):
    """Facts of Section 2.1: networks not attacked on the images of one digit's attacks, and over digits."""
    over, rows = over_digits(fifty), transfers(sweeps, others)
    both = [(row["here"], row["published"]) for row in rows if row["here"] is not None]
    if not (over and both):
        return {}
    here, published = zip(*both)
    rare = 0 < over["percent"] < 50     # else the answer is another one
    return {"over": over, "nth": NUMBERS[min(round(100 / over["percent"]), 12)] if rare else None,
            "least": min(here), "most": max(here),
            "others": NUMBERS[max(len(row["attack"]["rates"]) for rows in fifty.rows for row in rows
                                  if "attack" in row) - 1],
            "paper": {"least": min(published), "most": max(published)}}


def draw_transfer(sweeps, others, fifty):
    """Bars: rates of the networks not attacked, over digits and by attack for one digit."""
    over, label = over_digits(fifty), sweeps.label.iloc[0]
    by_attack = [{"name": row["attack"], "percent": row["here"], "paper": row["published"]}
                 for row in transfers(sweeps, others) if row["here"] is not None]
    return figures.bars([{"name": f"{over['digits']} digits", "colour": display.PALETTE[2], **over},
                         {"name": f"one image of a {label}, by attack"}, *by_attack],
                        "adversarial images that the other networks misclassify, %")


def in_boxes(runs):
    """Facts: of the `first` and `second` box of Table 6 the shares (%) of samples that the attacked network
    misclassifies, by rule of keeping, and the paper's. `depends`: they differ by 25 points.

    {} unless both digits have boxes by all rules.
    """
    rates = [{"name": box.classes, "digit": box.run["label"], "samples": box.run["samples"],
              "paper": 100 * row["M1"],
              **{rule: 100 * _at(curve, row["n_intervals"])["rates"][0]
                 for rule, curve in box.held["boxes"].items()}} for row, box in of_rows(runs, "table-6")]
    if len(rates) < 2 or not all(RULES.keys() <= of.keys() for of in rates):
        return {}
    return dict(zip(("first", "second"), rates)) | {
        "depends": max(abs(of["any"] - of["all"]) for of in rates) >= 25}


def draw_boxes(facts):
    """Bars: the rates of `in_boxes`, in two groups by the pixels that may vary."""
    bars = []
    for rule in ("all", "any"):
        bars += [{"name": f"pixels are random that {VERSIONS[rule]}"},
                 *({"name": of["name"], "percent": of[rule], "paper": of["paper"]}
                   for of in (facts["first"], facts["second"]))]
    return figures.bars(bars, "random images that the attacked perceptron misclassifies, %")


def of_aeroplane(runs, networks):
    """Facts of Section 2.3: rates (%) in the boxes of all rules, how often the networks err on clean images.

    rates      {rule: rates of all networks, the attacked one's first}
    own        {rule: rate of the attacked network}
    versions   how many adversarial images span the boxes
    times      how many times the paper's clean errors ours are
    """
    rates, versions = {}, None
    for row, box in of_rows(runs, "table-10"):
        versions = box.held["examples"]
        rates = {rule: [100 * rate for rate in _at(box.held["boxes"][rule], row["n_intervals"])["rates"]]
                 for rule in RULES if rule in box.held["boxes"]}
    if len(rates) < len(RULES) or not len(networks):
        return {}
    own = {rule: of[0] for rule, of in rates.items()}
    others = [rate for of in rates.values() for rate in of[1:]]
    times = round(networks.test_error.mean() / mean(_in_print(PAPER["table-8"].rows[0])))
    return {"rates": rates, "versions": versions, "own": own, "parts": {
        "least": part(min(own.values())), "most": part(max(own.values()))},
        "others": NUMBERS[len(rates["all"]) - 1].capitalize(), "least": min(others), "most": max(others),
        "paper": 100.0,     # claim of Figure 7: every sample, from about 200 values on
        "times": {1: "as often", 2: "twice as often"}.get(times, f"{NUMBERS[min(times, 12)]} times as often")}


def aeroplane_curves(runs):
    """Of the box of Table 10: its intervals, and from which size on the attacked network is always wrong."""
    for _, box in of_rows(runs, "table-10"):
        widths, own = box.box.widths, [rates[0] for rates in box.curve["rates"]]
        sure = [b for n, b in enumerate(box.curve["sizes"]) if min(own[n:]) == 1]
        printed = {"largest_interval": float(widths[0]), "m1_saturation_dims": min(sure, default=None),
                   "interval_2000th": float(widths[INTERVALS - 1]) if len(widths) >= INTERVALS else None}
        return {name: Cell(value, status=figures.UNKNOWN) for name, value in printed.items()}
    return {}


def draw_networks(facts):
    """Bars: rates in the box, of the attacked network by each rule of keeping, of the others by the last."""
    return figures.bars([
        {"name": "attacked network; random values are those that"},
        *({"name": VERSIONS[rule], "percent": rate, "colour": display.PALETTE[3], "paper": facts["paper"]}
          for rule, rate in facts["own"].items()),
        {"name": "other networks, by the last of these rules"},
        *({"name": "another network", "percent": rate} for rate in facts["rates"]["any"][1:])],
        "samples misclassified, %")


def alarm_by_number(fifty):
    """Facts: `interval` of the adversarial images on which some two of all networks, and of two, disagree.

    noise  the same of all networks on noise of the same norms
    """
    shares = disagreement(fifty)
    if not len(shares):
        return {}
    networks = int(shares.index.get_level_values("networks").max())
    return {"networks": networks, "attack": interval(shares.attack.loc[networks]),
            "pair": interval(shares.attack.loc[2]), "noise": interval(shares.noise.loc[networks])}


def of_alarm(fifty, clean):
    """`alarm_by_number` with the networks in words, and the same of correctly classified `clean` digits."""
    facts = alarm_by_number(fifty)
    return facts and facts["attack"] and facts | {
        "networks": NUMBERS[facts["networks"]], "clean": figures.disagreement(clean)["false"]}


def _at(curve, b):
    """A row of a curve: at this size, or at the largest where there is none such."""
    at = curve["sizes"].index(b) if b in curve["sizes"] else -1
    return {name: values[at] for name, values in curve.items()}


def _in_print(row):
    """The rates of a printed row, the attacked network's first."""
    return [value for name, value in row.items() if name.startswith("M")]
