"""What the pages on Shu et al. say beyond the printed rows: tables of our own, and facts in words."""
from collections import Counter

import numpy as np
from scipy import stats

from papers.shu.experiments import METHODS, PAPER, printed
from papers.shu.figures import ERRORS, KINDS, called, errors, of_rows, region, regions
from report import prose
from report.sums import mean
from shared import regions as boxes
from shared.susceptibility import percentage

RULES = {"all": "all examples", "most": "90% of them", "any": "one at least"}
BY_RULE = {"attack": "attack", "changed in": "kept if changed in", "kept": "kept", "b": "b",
           "attacked": "$M_1$", "least": "least of the others", "most": "most of the others",
           "squared": "mean squared L2 distance"}
SUSPECTS = {"attack": "attack", "published": "published kind", "here": "kind here",
            "sizes": "published kind at b", "rules": "with pixels changed in", "classes": "for classes"}
TRANSFERS = {"attack": "attack", "published": "published", "here": "our networks",
             "epochs": "3 to 12 epochs", "zero": "test image 1918", "one": "training image 39533"}
BALLS = {"of": "class and size of the balls", "examples": "examples", "squared": "mean squared L2 distance",
         "own": "on them, least of the others", "own_most": "most", "b": "b",
         "sampled": "samples' mean squared L2 distance", "attacked": "$M_1$",
         "least": "least of the others", "most": "most of the others"}
EVERY_TARGET = {"attack": "attack", "classes": "wrong classes", **{v: v for v in KINDS.values()},
                "others": "attack's images, others' rate, %"}
OVER_IMAGES = {"attack": "attack", "images": "digits", "boxes": "digits with a box",
               **{name: name for kind, name in KINDS.items() if kind}}


# ---- tables of our own ------------------------------------------------------------------------------------
def every_target(runs):
    """A row an attack: kinds of the boxes of all kept values towards each wrong class, and rates."""
    made = []
    for run in runs.to_dict("records"):
        found = list(regions(run).values())
        kinds = [boxes.kind(mine.at("rates")) for mine in found]
        told = {"attack": called(run["method"]), "label": run["label"], "classes": len(found)}
        told |= {name: kinds.count(kind) for kind, name in KINDS.items()}
        own = [mean(mine.held["attack"]["rates"][1:]) for mine in found]
        made.append(told | {"others": 100 * mean(own) if own else None})
    return made


def by_rule(runs, item):
    """For each printed box, the published row and a row a rule of keeping: values kept, rates, distances.

    The boxes are of the printed size, or of all kept values where these are fewer. A published row has rates
    or, in a table of distances, the mean distance.
    """
    made = []
    for row, mine in of_rows(runs, item):
        made.append({"attack": f"{called(mine.run['method'])} {row['source_class']} → {row['target_class']}",
                     "changed in": "published", "b": row["n_intervals"],
                     **(_ends(rates) if (rates := _in_print(row)) else {"squared": row["sampled_l2_mean"]})})
        for rule in RULES:
            made.append({"attack": mine.name, "changed in": RULES[rule],
                         "kept": mine.held["changed_values"][rule]})
            if curve := mine.held["boxes"].get(rule):
                at = _at(curve, row["n_intervals"])
                made[-1] |= {"b": at["sizes"], "squared": at["squared"][1], **_ends(at["rates"])}
    return made


def _ends(rates):
    return {"attacked": rates[0], "least": min(rates[1:]), "most": max(rates[1:])}


def in_balls(runs, sizes):
    """For each run of `experiments.measure_ball`: distances of its examples, and rates on them and in boxes.

    sizes  of the boxes; of all kept values where these are fewer
    """
    made = []
    for run in runs.to_dict("records"):
        told = {"of": run["of"], "examples": f"{run['examples']} of {run['tried']}"}
        if not isinstance(run.get("boxes"), dict) or "all" not in run["boxes"]:    # too few examples
            made.append(told)
            continue
        own = run["attack"]["rates"][1:]
        told |= {"squared": run["squared"][1], "own": min(own), "own_most": max(own)}
        for b in sizes:
            at = _at(run["boxes"]["all"], b)
            made.append(told | {"b": at["sizes"], "sampled": at["squared"][1], **_ends(at["rates"])})
    return made


def suspects(runs):
    """A row a printed box: its kind in print and here, and where ours is of the printed one.

    sizes    of boxes, from and to;  classes   others at some size;  rules   others of keeping, at its size
    """
    made = []
    for row, mine in of_rows(runs, "table-2"):
        theirs = boxes.kind(_in_print(row))
        every = [(each, [boxes.kind(rates) for rates in each.curve["rates"]])
                 for each in regions(mine.run).values()]
        sizes = [b for each, kinds in every for b, kind in zip(each.curve["sizes"], kinds)
                 if each.target == mine.target and kind == theirs]
        rules = [RULES[rule] for rule in RULES
                 if rule in mine.held["boxes"] and rule != mine.rule and not mine.whole
                 and boxes.kind(_at(mine.held["boxes"][rule], row["n_intervals"])["rates"]) == theirs]
        made.append({"attack": mine.name, "published": KINDS[theirs],
                     "here": KINDS[boxes.kind(mine.at("rates"))],
                     "sizes": f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(*sizes) or "none",
                     "rules": ", ".join(rules) or "none",
                     "classes": ", ".join(str(each.reached) for each, kinds in every
                                          if each.target != mine.target and theirs in kinds) or "none"})
    return made


def transfers(sweeps, others):
    """A row a printed attack: mean rate (%) of the networks not attacked on its images, of all families."""
    found = [("here", sweeps), *(others.groupby("of", sort=False) if len(others) else ())]
    made = []
    for row in PAPER["table-3"].rows:
        told = {"attack": row["attack"].replace("Linf", "L∞"), "published": 100 * mean(_in_print(row)[1:])}
        for name, runs in found:
            mine = [region(run, row["target_class"]) for run in runs.to_dict("records")
                    if METHODS.get(run["method"]) == row["attack"]]
            told[name] = mean([100 * mean(each.held["attack"]["rates"][1:]) for each in mine if each])
        made.append(told)
    return made if len(sweeps) else []


def variants(runs):
    """A row an attack and other networks or image: the box of all kept values, of the commonest class."""
    told = {"epochs": "networks of 3 to 12 epochs", "zero": "test image 1918", "one": "training image 39533"}
    made = []
    for run in runs.to_dict("records"):
        if mine := region(run):
            name = "BIM L1, script's sizes" if run["method"] == "script" else called(run["method"])
            rates, own = mine.at("rates"), mine.held["attack"]["rates"]
            made.append({"of": told[run["of"]], "attack": name,
                         "classes": f"{run['label']} → {mine.target}", "intervals": mine.b,
                         "attacked network": rates[0], "others, least": min(rates[1:]),
                         "others, most": max(rates[1:]), "kind": KINDS[boxes.kind(rates)],
                         "attack's images, others, %": 100 * mean(own[1:])})
    return made


def over_images(runs):
    """A row an attack: shares of the images with a box of a kind at some size, with their intervals."""
    made = []
    for method, mine in runs.groupby("method", sort=False) if len(runs) else ():
        rows = [row for each in mine.rows for row in each]
        kinds = [{boxes.kind(rates) for curve in (row.get("whole") or row["boxes"]).values()
                  for rates in curve["rates"]} for row in rows if row.get("whole") or row.get("boxes")]
        made.append({"attack": called(method), "images": len(rows), "boxes": len(kinds)})
        for kind, name in KINDS.items():
            if kind:
                told = percentage(sum(kind in each for each in kinds), len(rows))
                made[-1][name] = prose.fill("{percent:%} ({low:.0f} to {high:.0f})", told)
    return made


# ---- facts in words ---------------------------------------------------------------------------------------
def order(runs):
    """Kendall's tau of the networks' numbers and their errors, in print and here, and the errors' ends."""
    found = {"print": ERRORS, "own": errors(runs), "epochs": errors(runs, "epochs")}
    if {len(each) for each in found.values()} != {len(ERRORS)}:
        return {}
    return {name: stats.kendalltau(range(len(each)), list(each.values())).statistic
            for name, each in found.items()} | {
        f"{which}_{name}": end(each.values()) for name, each in found.items()
        for which, end in (("least", min), ("most", max))} | {
        "networks": len(ERRORS), "chance": _falls(list(ERRORS.values()))}


def _falls(values):
    """Share of all orders of the values in which no more pairs rise than in this one: exact, with ties.

    The orders of n different values by their rising pairs are the coefficients of the product of
    1 + q + ... + q^(k-1) for k up to n; dividing by that of m equal values counts their orders once.
    """
    orders = np.ones(1)
    for k in range(2, len(values) + 1):
        orders = np.convolve(orders, np.ones(k))
    for tied in Counter(values).values():
        for k in range(2, tied + 1):
            orders = np.polydiv(orders, np.ones(k))[0]
    rising = sum(a < b for n, b in enumerate(values) for a in values[:n])
    return orders[:rising + 1].sum() / orders.sum()


OFF_BY_RULE = ("The mean difference between the attacked network's rate and the published one, over the {n} "
               "boxes that each rule gives, depends on how many examples must change a pixel: {told}. So few "
               "boxes do not identify the paper's rule.")


def off_by_rule(runs, item):
    """A fact: how far the attacked network's rate lies from the published one on average, by the rule."""
    whole = [(row, mine) for row, mine in of_rows(runs, item) if RULES.keys() <= mine.held["boxes"].keys()]
    off = {name: [abs(_at(mine.held["boxes"][rule], row["n_intervals"])["rates"][0] - row["M1"])
                  for row, mine in whole] for rule, name in RULES.items()}
    return whole and {"n": len(whole), "told": "; ".join(
        f"{name}, {100 * mean(each):.1f} points" for name, each in off.items())}


def box_by_box(runs):
    """Facts in words, box by box: rates in the box of the loosest rule, distances.

    Also the network that the attack's own images fool most often beside the attacked one.
    """
    def beside(value, theirs, more=""):
        return f"{value:.3g}{more} (paper: {theirs:.3g}{more})"

    told, own = {name: [] for name in ("loose", "another", "far")}, []
    for row, mine in of_rows(runs, "table-6"):
        keys = {"source_class": row["source_class"], "n_intervals": row["n_intervals"]}
        if "any" in mine.held["boxes"]:
            first, *rest = _at(mine.held["boxes"]["any"], row["n_intervals"])["rates"]
            told["loose"].append(f"{100 * first:.3g}% for {mine.classes} (paper: {100 * row['M1']:.3g}%)")
            told["another"].append(beside(100 * max(rest), 100 * max(_in_print(row)[1:]), "%"))
        told["far"].append(f"{mine.classes}, " + beside(
            mine.at("squared")[1], printed("table-10", **keys)["sampled_l2_mean"]))
        own.append((mine.classes, mine.held["attack"]["rates"]))
    if not own:
        return {}
    worst = max(range(1, len(own[0][1])), key=lambda k: sum(rates[k] for _, rates in own))
    return {name: " and ".join(each) for name, each in told.items()} | {
        "worst": f"M{worst + 1} (" + ", ".join(
            f"{100 * rates[worst]:.3g}% for {classes}" for classes, rates in own) + ")"}


def between(runs):
    """Facts on the rules of keeping: for how many attacks the printed number of pixels lies between ours by
    two of them, and for how many the loosest keeps more than the printed box has intervals."""
    counts = [(mine.held["changed_values"], row["n_perturbed_pixels"],
               printed("table-2", attack=row["attack"])["n_intervals"])
              for row, mine in of_rows(runs, "table-3")]
    return counts and {"n": len(counts), "between": sum(
        kept["all"] <= pixels <= kept["any"] for kept, pixels, _ in counts), "enough": sum(
        kept["any"] > b for kept, _, b in counts)}


def scarce(runs):
    """Facts: attacks whose printed class has too few examples here, how many they are, and what is shown."""
    found = [(row["attack"].replace("Linf", "L∞"), row["target_class"], run["classes"].get(
        str(row["target_class"]), {}).get("examples", 0), region(run, row["target_class"]))
             for row in PAPER["table-2"].rows for run in runs.to_dict("records")
             if METHODS[run["method"]] == row["attack"]]
    lacking = [(name, t, count, mine.target if mine else "none") for name, t, count, mine in found
               if not mine or mine.target != t]
    return lacking and {"n": len(lacking), "of": len(found), "told": "; ".join(
        f"{name}: {count} of class {t}, shown is {shown}" for name, t, count, shown in lacking)}


def of_suspects(runs):
    """Facts on `suspects`: boxes, those of the printed kind, and by what the others can be of it."""
    rows = suspects(runs)
    other = [row for row in rows if row["here"] != row["published"]]
    by = {name: sum(row[name] != "none" for row in other) for name in ("sizes", "rules", "classes")}
    left = sum(all(row[name] == "none" for name in by) for row in other)
    return rows and {"n": len(rows), "same": len(rows) - len(other), "other": len(other), "left": left,
                     "reached": len(other) - left, **by}


OVER_DIGITS = ("Over {digits} digits of all classes, with one wrong class each, the other networks "
               "misclassify {percent:%} of an attack's images (95% interval {low:.0f} to {high:.0f}).")


def over_digits(runs):
    """Facts: mean rate of the networks not attacked over digits and attacks, and its 95% interval."""
    rates = {}
    for row in (row for each in runs.rows for row in each) if len(runs) else ():
        if "attack" in row:
            rates.setdefault(row["number"], []).append(100 * mean(row["attack"]["rates"][1:]))
    means = [mean(each) for each in rates.values()]
    if len(means) < 2:
        return {}
    half = stats.t.ppf(0.975, len(means) - 1) * stats.sem(means)
    return {"digits": len(means), "percent": mean(means),
            "low": max(mean(means) - half, 0), "high": min(mean(means) + half, 100)}


def minute(runs, item="table-2"):
    """Facts for the box of a page: counts of kinds, and the mean rate of the networks not attacked."""
    found = [mine for _, mine in of_rows(runs, item)]
    if not found:
        return {}

    def told(in_boxes, of_attacks):
        kinds, others = [boxes.kind(rates) for rates in in_boxes], [mean(rates[1:]) for rates in of_attacks]
        return {"n": len(kinds), **{kind: kinds.count(kind) for kind in KINDS if kind},
                "others": mean(others), "least": min(others), "most": max(others)}

    of_attacks = {"table-2": "table-3", "table-6": "table-7"}[item]
    gaps = []
    for row, each in of_rows(runs, item):
        theirs = printed(of_attacks, attack=row["attack"], source_class=row["source_class"])
        own, paper = mean(each.held["attack"]["rates"][1:]), mean(_in_print(theirs)[1:])
        other = "" if each.reached == (to := theirs["target_class"]) else f", {row['source_class']} → {to}"
        gaps.append((abs(own - paper), f"{each.name}: {100 * own:.0f}% (paper{other}: {100 * paper:.0f}%)"))
    own, counted = ([mine.held[name] for mine in found] for name in ("attack", "examples"))
    rates = [each["rates"] for each in own]
    return told([mine.at("rates") for mine in found], rates) | {
        "examples": sum(counted), "rest": len(rates[0]) - 1,
        "farthest": max(gaps)[1],
        "again": sum(round((1 - each[0]) * n) for each, n in zip(rates, counted)),
        "paper": told(map(_in_print, PAPER[item].rows), map(_in_print, PAPER[of_attacks].rows))}


def _at(curve, b):
    """A row of a curve: at this size, or at the largest where there is none such."""
    at = curve["sizes"].index(b) if b in curve["sizes"] else -1
    return {name: values[at] for name, values in curve.items()}


def _in_print(row):
    """The rates of a printed row, the attacked network's first."""
    return [value for name, value in row.items() if name.startswith("M")]
